/* test_safetensors_write.c: files of safetensors written, byte by byte, and read back. */
#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../fixtures/dice.h"
#include "../fixtures/scratch.h"
#include "../fixtures/tensor_files.h"

static void holds_bytes(const char *path, const char *wanted, size_t size) {
  char *data;
  size_t length;
  cr_assert_eq(rs_file_read(path, 1 << 20, &data, &length, NULL), RS_OK);
  cr_assert_eq(length, size);
  cr_assert_arr_eq(data, wanted, size, "%s", data + 8);
  free(data);
}

/* The header is what the reference writer makes: by type, then by name, whatever the order they are given in. */
Test(safetensors_write, bytes__are_those_of_the_reference) {
  static const size_t two[] = {2, 1}, one[] = {1}, none[] = {0, 3};
  static const float floats[] = {1, -2};
  static const double doubles[] = {1.5, 0.1};
  const rs_tensor_numbers tensors[] = {
      {"b", RS_DTYPE_F16, 2, two, floats, NULL},     {"a", RS_DTYPE_F16, 1, one, NULL, doubles},
      {"z", RS_DTYPE_F64, 1, one, floats + 1, NULL}, {"B", RS_DTYPE_F32, 2, two, NULL, doubles},
      {"m", RS_DTYPE_BF16, 0, NULL, floats, NULL},   {"e\"", RS_DTYPE_F32, 2, none, floats, NULL},
  };
  static const char wanted[] = "\x70\1\0\0\0\0\0\0{\"__metadata__\":{\"format\":\"pt\"},"
                               "\"z\":{\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[0,8]},"
                               "\"B\":{\"dtype\":\"F32\",\"shape\":[2,1],\"data_offsets\":[8,16]},"
                               "\"e\\\"\":{\"dtype\":\"F32\",\"shape\":[0,3],\"data_offsets\":[16,16]},"
                               "\"m\":{\"dtype\":\"BF16\",\"shape\":[],\"data_offsets\":[16,18]},"
                               "\"a\":{\"dtype\":\"F16\",\"shape\":[1],\"data_offsets\":[18,20]},"
                               "\"b\":{\"dtype\":\"F16\",\"shape\":[2,1],\"data_offsets\":[20,24]}} "
                               "\0\0\0\0\0\0\0\xc0\0\0\xc0\x3f\xcd\xcc\xcc\x3d\x80\x3f\0\x3e\0\x3c\0\xc0";
  enter_scratch();
  cr_assert_eq(rs_safetensors_write("m", tensors, RS_COUNT(tensors), NULL), RS_OK);
  holds_bytes("m", wanted, sizeof wanted - 1);
  rs_safetensors_free(map_tensors("m"));
  cr_assert_eq(rs_safetensors_write("m", NULL, 0, NULL), RS_OK);
  holds_bytes("m", "\x20\0\0\0\0\0\0\0{\"__metadata__\":{\"format\":\"pt\"}}", 8 + 32);
  leaves((const char *[]){"m"}, 1);
}

/* What is written of doubles (count,) and read back. */
static void write_and_read(rs_dtype dtype, const double *numbers, size_t count, double *back) {
  const rs_tensor_numbers tensor = {"a", dtype, 1, &count, NULL, numbers};
  rs_err err = {0};
  cr_assert_eq(rs_safetensors_write("m", &tensor, 1, &err), RS_OK, "%s", err.message);
  rs_safetensors *checkpoint = map_tensors("m");
  cr_assert_eq(checkpoint->tensors[0].dtype, dtype);
  cr_assert_eq(rs_stored_doubles(checkpoint->tensors, 0, count, back, &err), RS_OK, "%s", err.message);
  rs_safetensors_free(checkpoint);
}

static const struct {
  rs_dtype dtype;
  rs_format format;
  int bits, least; /* of the mantissa; exponent of the smallest step */
} types[] = {{RS_DTYPE_F64, RS_F64, 53, -1074},
             {RS_DTYPE_F32, RS_F32, 24, -149},
             {RS_DTYPE_BF16, RS_BF16, 8, -133},
             {RS_DTYPE_F16, RS_F16, 11, -24}};

/* math's rounding is by another formula. Numbers of all sizes, those halfway between two, and their neighbours. */
Test(safetensors_write, numbers__are_rounded_to_nearest_even) {
  enum { COUNT = 30000 };
  double *numbers = malloc(COUNT * sizeof *numbers), *back = malloc(COUNT * sizeof *back);
  cr_assert(numbers != NULL && back != NULL);
  enter_scratch();
  for (size_t t = 0; t < RS_COUNT(types); t++) {
    dice d = {.seed = test_seed(), .job = (uint32_t)t};
    int most = types[t].dtype == RS_DTYPE_F16 ? 15 : types[t].dtype == RS_DTYPE_F64 ? 1022 : 126;
    for (size_t i = 0; i < COUNT; i += 3) {
      int exponent = (int)pick(&d, 0, (size_t)(most - types[t].least + 2)) + types[t].least - 2;
      double steps = floor(ldexp(1 + unit(&d), types[t].bits - 1)) + 0.5, sign = once_in(&d, 2) ? 1 : -1;
      double half = ldexp(sign * steps, exponent - types[t].bits + 1);
      numbers[i] = once_in(&d, 50) ? 0 * sign : half;
      numbers[i + 1] = nextafter(half, 0);
      numbers[i + 2] = once_in(&d, 2) ? nextafter(half, 2 * half) : sign * ldexp(unit(&d), exponent);
    }
    write_and_read(types[t].dtype, numbers, COUNT, back);
    for (size_t i = 0; i < COUNT; i++) {
      double wanted = rs_round(types[t].format, numbers[i]);
      cr_assert(back[i] == wanted && !signbit(back[i]) == !signbit(wanted), "%s: %a became %a, not %a (seed %llu)",
                rs_dtype_words[types[t].dtype], numbers[i], back[i], wanted, (unsigned long long)test_seed());
    }
  }
  free(numbers);
  free(back);
  leaves((const char *[]){"m"}, 1);
}

/* Floats and doubles of the same values give the same bytes; each type reads back what it can hold. */
Test(safetensors_write, floats_and_doubles__agree) {
  enum { COUNT = 20000 };
  float *floats = malloc(COUNT * sizeof *floats);
  double *doubles = malloc(COUNT * sizeof *doubles), *back = malloc(COUNT * sizeof *back);
  cr_assert(floats != NULL && doubles != NULL && back != NULL);
  dice d = {.seed = test_seed()};
  gaussian(&d, COUNT, doubles);
  for (size_t i = 0; i < COUNT; i++) doubles[i] = (double)(floats[i] = (float)doubles[i]);
  enter_scratch();
  for (size_t t = 0; t < RS_COUNT(types); t++) {
    static const size_t shape[] = {2, COUNT / 2};
    const rs_tensor_numbers tensor = {"a", types[t].dtype, 2, shape, floats, NULL};
    cr_assert_eq(rs_safetensors_write("f", &tensor, 1, NULL), RS_OK);
    write_and_read(types[t].dtype, doubles, COUNT, back);
    rs_safetensors *checkpoint = map_tensors("f"), *other = map_tensors("m");
    cr_assert_eq(checkpoint->tensors->bytes, other->tensors->bytes);
    cr_assert_arr_eq(checkpoint->tensors->data, other->tensors->data, other->tensors->bytes);
    for (size_t i = 0; i < COUNT && t < 2; i++) cr_assert_eq(back[i], doubles[i]);
    rs_safetensors_free(checkpoint);
    rs_safetensors_free(other);
  }
  free(floats);
  free(doubles);
  free(back);
  leaves((const char *[]){"m", "f"}, 2);
}

/* What would not be read again is not written, and the old file stays. */
Test(safetensors_write, numbers_that_no_type_holds__are_refused) {
  static const struct {
    rs_dtype dtype;
    double number;
    const char *message; /* NULL: it fits */
  } cases[] = {
      {RS_DTYPE_F64, NAN, "m: tensor \"a\": number 1 is nan, which F64 cannot hold"},
      {RS_DTYPE_F32, -INFINITY, "m: tensor \"a\": number 1 is -inf, which F32 cannot hold"},
      {RS_DTYPE_F32, 1e39, "m: tensor \"a\": number 1 is 1e+39, which F32 cannot hold"},
      {RS_DTYPE_BF16, NAN, "m: tensor \"a\": number 1 is nan, which BF16 cannot hold"},
      {RS_DTYPE_BF16, 0x1.ffp127, "m: tensor \"a\": number 1 is 3.39618e+38, which BF16 cannot hold"},
      {RS_DTYPE_BF16, 0x1.fefffffp127, NULL},
      {RS_DTYPE_F16, -65520, "m: tensor \"a\": number 1 is -65520, which F16 cannot hold"},
      {RS_DTYPE_F16, 65519.99, NULL},
      {RS_DTYPE_F16, DBL_MAX, "m: tensor \"a\": number 1 is 1.79769e+308, which F16 cannot hold"},
  };
  enter_scratch();
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    const double numbers[] = {0, cases[i].number};
    const rs_tensor_numbers tensor = {"a", cases[i].dtype, 1, &(size_t){2}, NULL, numbers};
    rs_err err = {0};
    put_bytes("m", "old", 3);
    cr_expect_eq(rs_safetensors_write("m", &tensor, 1, &err), cases[i].message != NULL ? RS_DOMAIN : RS_OK);
    cr_expect_str_eq(err.message, cases[i].message != NULL ? cases[i].message : "");
    if (cases[i].message != NULL) holds("m", "old");
  }
  leaves((const char *[]){"m"}, 1);
}

Test(safetensors_write, mistakes_of_the_program__are_refused) {
  static const float number[] = {1};
  static const size_t large[] = {SIZE_MAX, 2}, one[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
  const rs_tensor_numbers twice[] = {{"a", RS_DTYPE_F32, 0, NULL, number, NULL},
                                     {"b", RS_DTYPE_F32, 0, NULL, number, NULL},
                                     {"a", RS_DTYPE_F16, 0, NULL, number, NULL}},
                          whole = {"a", RS_DTYPE_I32, 0, NULL, number, NULL},
                          huge = {"a", RS_DTYPE_F32, 2, large, number, NULL},
                          deep = {"a", RS_DTYPE_F32, 9, one, number, NULL};
  const struct {
    const rs_tensor_numbers *tensors;
    size_t count;
    const char *message;
  } cases[] = {{twice, 3, "m: tensor \"a\": is there twice"},
               {&whole, 1, "m: tensor \"a\": is not of a type that is written"},
               {&huge, 1, "m: tensor \"a\": is too large"},
               {&deep, 1, "m: tensor \"a\": is too large"}};
  enter_scratch();
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_err err = {0};
    cr_expect_eq(rs_safetensors_write("m", cases[i].tensors, cases[i].count, &err), RS_INTERNAL);
    cr_expect_str_eq(err.message, cases[i].message);
  }
  leaves(NULL, 0);
}

/* The disk is full behind the header, within the numbers. */
Test(safetensors_write, full_disk__leaves_the_old_file) {
  enum { COUNT = 100000 };
  enter_scratch();
  put_bytes("m", "old", 3);
  float *floats = calloc(COUNT, sizeof *floats);
  cr_assert_not_null(floats);
  const rs_tensor_numbers tensor = {"a", RS_DTYPE_F32, 1, &(size_t){COUNT}, floats, NULL};
  struct rlimit limit;
  rs_err err = {0};
  signal(SIGXFSZ, SIG_IGN);
  getrlimit(RLIMIT_FSIZE, &limit);
  rlim_t before = limit.rlim_cur;
  limit.rlim_cur = 4 * COUNT;
  setrlimit(RLIMIT_FSIZE, &limit);
  rs_status status = rs_safetensors_write("m", &tensor, 1, &err);
  limit.rlim_cur = before;
  setrlimit(RLIMIT_FSIZE, &limit);
  fails_io(status, &err, "m: cannot write: File too large");
  holds("m", "old");
  err = (rs_err){0};
  fails_io(rs_safetensors_write("n/m", &tensor, 1, &err), &err, "n/m: cannot write: No such file or directory");
  free(floats);
  leaves((const char *[]){"m"}, 1);
}

/* A file that is written anew while it is mapped stays what it was for those who read it. */
Test(safetensors_write, mapped_file__may_be_replaced) {
  static const float old[] = {1, 2}, new[] = {3};
  const rs_tensor_numbers first = {"a", RS_DTYPE_F32, 1, &(size_t){2}, old, NULL},
                          second = {"a", RS_DTYPE_F32, 0, NULL, new, NULL};
  float numbers[2];
  enter_scratch();
  cr_assert_eq(rs_safetensors_write("m", &first, 1, NULL), RS_OK);
  rs_safetensors *checkpoint = map_tensors("m");
  cr_assert_eq(rs_safetensors_write("m", &second, 1, NULL), RS_OK);
  cr_assert_eq(rs_stored_floats(checkpoint->tensors, 0, 2, numbers, NULL), RS_OK);
  cr_expect_arr_eq(numbers, old, sizeof old);
  rs_safetensors_free(checkpoint);
  leaves((const char *[]){"m"}, 1);
}
