/* test_safetensors.c: files of safetensors read. Bytes are worked out by hand; messages are compared whole, since they
 * are what a user sees. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../fixtures/scratch.h"
#include "../fixtures/tensor_files.h"
#include "../fixtures/trees.h"

/* ---- what is there ----------------------------------------------------------------------------------------------- */

Test(safetensors, tensors__stand_in_the_order_of_their_data) {
  enter_scratch();
  make_tensors("m",
               "{" ENTRY("b", "U8", "[2,1]", "[8,10]") ",\"__metadata__\":{\"format\":\"pt\"}," ENTRY(
                   "a", "F32", "[]", "[4,8]") "," ENTRY("z", "F32", "[1]", "[0,4]") "," ENTRY("e", "I64", "[0,7]",
                                                                                              "[8,8]") "}  ",
               "\0\0\x80\x3f\0\0\0\xc0\1\2", 10);
  static const struct {
    const char *name;
    rs_dtype dtype;
    size_t rank, shape[2], count, bytes;
  } wanted[] = {{"z", RS_DTYPE_F32, 1, {1}, 1, 4},
                {"a", RS_DTYPE_F32, 0, {0}, 1, 4},
                {"e", RS_DTYPE_I64, 2, {0, 7}, 0, 0},
                {"b", RS_DTYPE_U8, 2, {2, 1}, 2, 2}};
  rs_safetensors *checkpoint = map_tensors("m");
  cr_assert_eq(checkpoint->count, RS_COUNT(wanted));
  for (size_t i = 0; i < RS_COUNT(wanted); i++) {
    const rs_stored_tensor *tensor = &checkpoint->tensors[i];
    cr_expect_str_eq(tensor->name, wanted[i].name);
    cr_expect_str_eq(tensor->file, "m");
    cr_expect(tensor->dtype == wanted[i].dtype && tensor->rank == wanted[i].rank, "%s", tensor->name);
    cr_expect_arr_eq(tensor->shape, wanted[i].shape, wanted[i].rank * sizeof(size_t));
    cr_expect(tensor->count == wanted[i].count && tensor->bytes == wanted[i].bytes, "%s", tensor->name);
    cr_expect_eq(rs_safetensors_find(checkpoint, wanted[i].name), tensor);
  }
  cr_expect_eq(checkpoint->tensors[3].data[1], 2);
  cr_expect_null(rs_safetensors_find(checkpoint, "c"));
  cr_expect_null(rs_safetensors_find(checkpoint, "__metadata__"));
  rs_safetensors_free(checkpoint);
  rs_safetensors_free(NULL);
  leaves((const char *[]){"m"}, 1);
}

Test(safetensors, files_without_tensors__hold_none) {
  enter_scratch();
  make_tensors("m", "{}", "", 0);
  rs_safetensors *checkpoint = map_tensors("m");
  cr_expect_eq(checkpoint->count, 0);
  cr_expect_null(rs_safetensors_find(checkpoint, "a"));
  rs_safetensors_free(checkpoint);
  leaves((const char *[]){"m"}, 1);
}

/* Types and what one number takes, from the reference's list (bitsize in safetensors/src/tensor.rs). */
Test(safetensors, every_type__takes_its_bytes) {
  static const struct {
    const char *dtype;
    size_t four; /* bytes of four numbers */
  } cases[] = {{"BOOL", 4},    {"F4", 2},      {"F6_E2M3", 3}, {"F6_E3M2", 3},     {"U8", 4},          {"I8", 4},
               {"F8_E5M2", 4}, {"F8_E4M3", 4}, {"F8_E8M0", 4}, {"F8_E4M3FNUZ", 4}, {"F8_E5M2FNUZ", 4}, {"I16", 8},
               {"U16", 8},     {"F16", 8},     {"BF16", 8},    {"I32", 16},        {"U32", 16},        {"F32", 16},
               {"C64", 32},    {"F64", 32},    {"I64", 32},    {"U64", 32}};
  static const char zeros[32];
  enter_scratch();
  cr_assert_eq(RS_COUNT(cases), RS_DTYPES_OF_SAFETENSORS);
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char header[128];
    snprintf(header, sizeof header, "{\"a\":{\"dtype\":\"%s\",\"shape\":[2,2],\"data_offsets\":[0,%zu]}}",
             cases[i].dtype, cases[i].four);
    make_tensors("m", header, zeros, cases[i].four);
    rs_safetensors *checkpoint = map_tensors("m");
    cr_expect_str_eq(rs_dtype_words[checkpoint->tensors[0].dtype], cases[i].dtype);
    cr_expect_eq(checkpoint->tensors[0].dtype, i);
    rs_safetensors_free(checkpoint);
  }
  leaves((const char *[]){"m"}, 1);
}

/* More values than a config may have. */
Test(safetensors, many_tensors__are_all_found) {
  enum { TENSORS = 20000 };
  enter_scratch();
  rs_text header = {0};
  for (size_t i = 0; i < TENSORS; i++)
    rs_text_printf(&header, "%c\"t%zu\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[%zu,%zu]}", i > 0 ? ',' : '{',
                   i, i, i + 1);
  rs_text_puts(&header, "}");
  char *data = repeat("", "x", TENSORS, "");
  make_tensors("m", rs_text_string(&header), data, TENSORS);
  rs_safetensors *checkpoint = map_tensors("m");
  for (size_t i = 0; i < TENSORS; i++) {
    char name[16];
    snprintf(name, sizeof name, "t%zu", i);
    cr_assert_eq(rs_safetensors_find(checkpoint, name), &checkpoint->tensors[i], "%s", name);
  }
  rs_safetensors_free(checkpoint);
  rs_text_clear(&header);
  free(data);
  leaves((const char *[]){"m"}, 1);
}

Test(safetensors, get__names_what_does_not_fit) {
  static const struct {
    const char *name, *message;
    size_t rank, shape[3];
  } cases[] = {
      {"wide.weight", "m: tensor \"wide.weight\": has shape (2, 1), wanted is (1, 2)", 2, {1, 2}},
      {"wide.weight", "m: tensor \"wide.weight\": has shape (2, 1), wanted is (2,)", 1, {2}},
      {"wide.weight", "m: tensor \"wide.weight\": has shape (2, 1), wanted is (2, 1, 1)", 3, {2, 1, 1}},
      {"one", "m: tensor \"one\": has shape (), wanted is (1,)", 1, {1}},
      {"weight", "m: holds no tensor \"weight\" (but \"wide.weight\")", 2, {2, 1}},
      {"model.one", "m: holds no tensor \"model.one\" (but \"one\")", 0, {0}},
      {"eight", "m: holds no tensor \"eight\"", 0, {0}},
      {"anyone", "m: holds no tensor \"anyone\"", 0, {0}},
  };
  enter_scratch();
  make_tensors("m", "{" ENTRY("wide.weight", "U8", "[2,1]", "[0,2]") "," ENTRY("one", "U8", "[]", "[2,3]") "}", "abc",
               3);
  rs_safetensors *checkpoint = map_tensors("m");
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_err err = {0};
    const rs_stored_tensor *tensor = checkpoint->tensors;
    cr_expect_eq(rs_safetensors_get(checkpoint, cases[i].name, cases[i].shape, cases[i].rank, &tensor, &err), RS_INPUT);
    cr_expect_str_eq(err.message, cases[i].message, "%s", err.message);
    cr_expect_null(tensor);
  }
  const rs_stored_tensor *tensor = NULL;
  cr_expect_eq(rs_safetensors_get(checkpoint, "wide.weight", (size_t[]){2, 1}, 2, &tensor, NULL), RS_OK);
  cr_expect_eq(tensor, checkpoint->tensors);
  cr_expect_eq(rs_safetensors_get(checkpoint, "one", NULL, 0, &tensor, NULL), RS_OK);
  cr_expect_eq(tensor, checkpoint->tensors + 1);
  rs_safetensors_free(checkpoint);
  leaves((const char *[]){"m"}, 1);
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

Test(safetensors, numbers__are_widened_exactly) {
  static const struct {
    const char *dtype, *data;
    size_t size, count;
    double numbers[6];
  } cases[] = {
      {"F64", "\0\0\0\0\0\0\xf8\x3f\x9a\x99\x99\x99\x99\x99\xb9\xbf", 16, 2, {1.5, -0.1}},
      {"F32",
       "\0\0\x80\x3e\xcd\xcc\xcc\x3d\xff\xff\x7f\xff\1\0\0\0",
       16,
       4,
       {0.25, 0x1.99999ap-4, -0x1.fffffep127, 0x1p-149}},
      {"BF16", "\x80\x3f\x49\x40\0\x80\1\0\x7f\xff", 10, 5, {1, 3.140625, -0.0, 0x1p-133, -0x1.fep127}},
      {"F16",
       "\0\x3e\1\0\0\x84\xff\x7b\xff\x83\1\x3c",
       12,
       6,
       {1.5, 0x1p-24, -0x1p-14, 65504, -0x1.ff8p-15, 0x1.004p0}},
  };
  enter_scratch();
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char header[128];
    double doubles[6];
    float floats[6];
    snprintf(header, sizeof header, "{\"a\":{\"dtype\":\"%s\",\"shape\":[%zu],\"data_offsets\":[0,%zu]}} ",
             cases[i].dtype, cases[i].count, cases[i].size);
    make_tensors("m", header, cases[i].data, cases[i].size);
    rs_safetensors *checkpoint = map_tensors("m");
    for (size_t first = 0; first <= cases[i].count; first++) {
      size_t count = cases[i].count - first;
      cr_assert_eq(rs_stored_doubles(checkpoint->tensors, first, count, doubles, NULL), RS_OK);
      cr_assert_eq(rs_stored_floats(checkpoint->tensors, first, count, floats, NULL), RS_OK);
      for (size_t k = 0; k < count; k++) {
        double wanted = cases[i].numbers[first + k];
        cr_expect(doubles[k] == wanted && !signbit(doubles[k]) == !signbit(wanted), "%s: %a", cases[i].dtype,
                  doubles[k]);
        cr_expect(floats[k] == (float)wanted && !signbit(floats[k]) == !signbit(wanted), "%s: %a", cases[i].dtype,
                  (double)floats[k]);
      }
    }
    rs_safetensors_free(checkpoint);
  }
  leaves((const char *[]){"m"}, 1);
}

/* Each pattern of 16 bits against what IEEE 754 says of it; also over the edge of a block of the reader's. */
Test(safetensors, numbers_of_16_bits__all_are_right) {
  enum { ALL = 0x7C00, BF_ALL = 0x7F80 };
  char *data = malloc(2 * BF_ALL);
  double *numbers = malloc(BF_ALL * sizeof *numbers);
  cr_assert(data != NULL && numbers != NULL);
  for (size_t i = 0; i < BF_ALL; i++) {
    data[2 * i] = (char)i;
    data[2 * i + 1] = (char)(i >> 8);
  }
  enter_scratch();
  make_tensors("m", "{" ENTRY("a", "F16", "[31744]", "[0,63488]") "}", data, (size_t)2 * ALL);
  make_tensors("b", "{" ENTRY("a", "BF16", "[32640]", "[0,65280]") "}", data, (size_t)2 * BF_ALL);
  rs_safetensors *half = map_tensors("m"), *brain = map_tensors("b");
  cr_assert_eq(rs_stored_doubles(half->tensors, 0, ALL, numbers, NULL), RS_OK);
  for (int i = 0; i < ALL; i++)
    cr_assert_eq(numbers[i], i < 1024 ? ldexp(i, -24) : ldexp(1024 + i % 1024, i / 1024 - 25), "%04x", i);
  cr_assert_eq(rs_stored_doubles(brain->tensors, 0, BF_ALL, numbers, NULL), RS_OK);
  for (int i = 0; i < BF_ALL; i++)
    cr_assert_eq(numbers[i], i < 128 ? ldexp(i, -133) : ldexp(128 + i % 128, i / 128 - 134), "%04x", i);
  rs_safetensors_free(half);
  rs_safetensors_free(brain);
  free(numbers);
  free(data);
  leaves((const char *[]){"m", "b"}, 2);
}

Test(safetensors, numbers__what_no_weight_can_be__is_refused) {
  static const struct {
    const char *dtype, *data;
    size_t size;
    bool as_float; /* refused as float alone */
    rs_status status;
    const char *message;
  } cases[] = {
      {"F32", "\0\0\0\0\0\0\x80\x7f", 8, false, RS_INPUT, "m: tensor \"a\": number 1 is not finite"},
      {"F32", "\0\0\0\0\1\0\x80\xff", 8, false, RS_INPUT, "m: tensor \"a\": number 1 is not finite"},
      {"BF16", "\0\0\x80\xff", 4, false, RS_INPUT, "m: tensor \"a\": number 1 is not finite"},
      {"BF16", "\0\0\xc0\x7f", 4, false, RS_INPUT, "m: tensor \"a\": number 1 is not finite"},
      {"F16", "\0\0\0\x7c", 4, false, RS_INPUT, "m: tensor \"a\": number 1 is not finite"},
      {"F16", "\0\0\1\xfc", 4, false, RS_INPUT, "m: tensor \"a\": number 1 is not finite"},
      {"F64", "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xf0\x7f", 16, false, RS_INPUT, "m: tensor \"a\": number 1 is not finite"},
      {"F64", "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xe0\x7f", 16, true, RS_INPUT,
       "m: tensor \"a\": number 1 is not finite in float"},
      {"I32", "\0\0\0\0\0\0\0\0", 8, false, RS_UNSUPPORTED,
       "m: tensor \"a\": is I32, which is not read here (F64, F32, BF16, F16, Q8_0, Q5_0, Q5_1, Q4_0, Q4_1 and Q2_K to "
       "Q6_K are)"},
  };
  enter_scratch();
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char header[128];
    double doubles[2];
    float floats[2];
    rs_err err = {0}, err_float = {0};
    snprintf(header, sizeof header, "{\"a\":{\"dtype\":\"%s\",\"shape\":[2],\"data_offsets\":[0,%zu]}}", cases[i].dtype,
             cases[i].size);
    make_tensors("m", header, cases[i].data, cases[i].size);
    rs_safetensors *checkpoint = map_tensors("m");
    cr_expect_eq(rs_stored_floats(checkpoint->tensors, 0, 2, floats, &err_float), cases[i].status);
    cr_expect_eq(strncmp(err_float.message, cases[i].message, strlen(cases[i].message)), 0, "%s", err_float.message);
    cr_expect_eq(rs_stored_doubles(checkpoint->tensors, 1, 1, doubles, &err),
                 cases[i].as_float ? RS_OK : cases[i].status);
    cr_expect_str_eq(err.message, cases[i].as_float ? "" : cases[i].message);
    cr_expect_eq(rs_stored_check(checkpoint->tensors, false, NULL), cases[i].status, "case %zu", i);
    cr_expect_eq(rs_stored_check(checkpoint->tensors, true, NULL), cases[i].as_float ? RS_OK : cases[i].status,
                 "case %zu", i);
    rs_safetensors_free(checkpoint);
  }
  leaves((const char *[]){"m"}, 1);
}

Test(safetensors, numbers__beyond_the_end__are_refused) {
  static const size_t cases[][2] = {{0, 3}, {2, 1}, {3, 0}, {1, SIZE_MAX}, {SIZE_MAX, 1}};
  enter_scratch();
  make_tensors("m", "{" ENTRY("a", "F16", "[2]", "[0,4]") "}", "abcd", 4);
  rs_safetensors *checkpoint = map_tensors("m");
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    double doubles[3];
    float floats[3];
    cr_expect_eq(rs_stored_floats(checkpoint->tensors, cases[i][0], cases[i][1], floats, NULL), RS_INTERNAL);
    cr_expect_eq(rs_stored_doubles(checkpoint->tensors, cases[i][0], cases[i][1], doubles, NULL), RS_INTERNAL);
  }
  rs_safetensors_free(checkpoint);
  leaves((const char *[]){"m"}, 1);
}
