/* test_gguf_tensors.c: tensors of GGUF that do not fit their file, and what it is told; and the limits of what is read.
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../fixtures/gguf_files.h"
#include "../fixtures/scratch.h"

#define A "m: tensor \"a\": "

typedef struct tensor_case {
  const char *name;
  uint64_t extents[4]; /* as the file has them, up to a 0 */
  uint32_t type;
  uint64_t offset;
  size_t data; /* bytes */
  rs_status status;
  const char *message;
} tensor_case;

Test(gguf, tensors__must_fit) {
  static const tensor_case cases[] = {
      {"", {4}, T_F32, 0, 16, RS_INPUT, "m: tensor 1 of 1: has no name"},
      {"a\xff", {4}, T_F32, 0, 16, RS_INPUT, "m: tensor 1 of 1: its name is no UTF-8 at its byte 1"},
      {"a", {4}, 4, 0, 16, RS_UNSUPPORTED, A "is of type 4, which is not known here (nor its size)"},
      {"a", {4}, 9, 0, 16, RS_UNSUPPORTED, A "is of type 9, which is not known here (nor its size)"},
      {"a", {4}, 43, 0, 16, RS_UNSUPPORTED, A "is of type 43, which is not known here (nor its size)"},
      {"a", {4}, UINT32_MAX, 0, 16, RS_UNSUPPORTED, A "is of type 4294967295, which is not known here (nor its size)"},
      {"a",
       {33},
       T_Q8_0,
       0,
       68,
       RS_INPUT,
       A "has rows of 33 numbers, which are no whole blocks of Q8_0 (32 numbers each)"},
      {"a",
       {16, 2},
       T_Q8_0,
       0,
       34,
       RS_INPUT,
       A "has rows of 16 numbers, which are no whole blocks of Q8_0 (32 numbers each)"},
      {"a",
       {0},
       T_Q8_0,
       0,
       34,
       RS_INPUT,
       A "has rows of 1 numbers, which are no whole blocks of Q8_0 (32 numbers each)"},
      {"a",
       {128},
       T_Q4_K,
       0,
       144,
       RS_INPUT,
       A "has rows of 128 numbers, which are no whole blocks of Q4_K (256 numbers each)"},
      {"a",
       {1ULL << 32, 1ULL << 32},
       T_F32,
       0,
       16,
       RS_INPUT,
       A "F32 (4294967296, 4294967296) takes more bytes than can be counted"},
      {"a", {1ULL << 62}, T_F32, 0, 16, RS_INPUT, A "F32 (4611686018427387904,) takes more bytes than can be counted"},
      {"a",
       {1ULL << 32, 1, 1ULL << 31, 2},
       T_Q8_0,
       0,
       16,
       RS_INPUT,
       A "Q8_0 (2, 2147483648, 1, 4294967296) takes more bytes than can be counted"},
      {"a",
       {1ULL << 61},
       T_F32,
       0,
       16,
       RS_INPUT,
       A "takes 9223372036854775808 bytes at byte 0 of the data, which has 16 (was a download broken off?)"},
      {"a",
       {UINT64_MAX},
       T_I8,
       0,
       16,
       RS_INPUT,
       A "takes 18446744073709551615 bytes at byte 0 of the data, which has 16 (was a download broken off?)"},
      {"a",
       {4},
       T_F32,
       0,
       15,
       RS_INPUT,
       A "takes 16 bytes at byte 0 of the data, which has 15 (was a download broken off?)"},
      {"a",
       {64},
       T_Q8_0,
       0,
       67,
       RS_INPUT,
       A "takes 68 bytes at byte 0 of the data, which has 67 (was a download broken off?)"},
      {"a",
       {4},
       T_F32,
       32,
       32,
       RS_INPUT,
       A "takes 16 bytes at byte 32 of the data, which has 32 (was a download broken off?)"},
      {"a",
       {4},
       T_F32,
       UINT64_MAX - 31,
       16,
       RS_INPUT,
       A "takes 16 bytes at byte 18446744073709551584 of the data, which has 16 (was a download broken off?)"},
      {"a", {4}, T_F32, 1, 64, RS_INPUT, A "begins at byte 1 of the data, which is no multiple of the alignment, 32"},
      {"a", {4}, T_F32, 16, 64, RS_INPUT, A "begins at byte 16 of the data, which is no multiple of the alignment, 32"},
      {"a",
       {4},
       T_F32,
       32,
       64,
       RS_INPUT,
       A "begins at byte 32 of the data, but what is before ends at 0: nobody's bytes"},
      {"a", {4}, T_F32, 0, 33, RS_INPUT, "m: has 33 bytes of data, its tensors end at 16: nobody's bytes"},
  };
  enter_scratch();
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    const tensor_case *c = &cases[i];
    rs_text file = {0};
    g_header(&file, 3, 1, 0);
    g_tensor(&file, c->name, c->extents, c->type, c->offset);
    g_data(&file, 32, c->data);
    g_write("m", &file);
    refuses_gguf("m", c->status, c->message);
  }
  leaves((const char *[]){"m"}, 1);
}

/* The last tensor need not be padded. */
Test(gguf, padding_at_the_end__may_lack) {
  enter_scratch();
  for (size_t bytes = 16; bytes <= 32; bytes++) {
    rs_text file = {0};
    g_header(&file, 3, 1, 0);
    g_tensor(&file, "a", (const uint64_t[4]){4}, T_F32, 0);
    g_data(&file, 32, bytes);
    g_write("m", &file);
    rs_gguf_close(open_gguf("m"));
  }
  leaves((const char *[]){"m"}, 1);
}

Test(gguf, extents__are_checked) {
  static const struct {
    uint32_t rank;
    uint64_t extents[5];
    const char *message;
  } cases[] = {
      {5, {1, 1, 1, 1, 1}, A "has 5 extents, at most 4 are read"},
      {UINT32_MAX, {1, 1, 1, 1, 1}, A "has 4294967295 extents, at most 4 are read"},
      {1, {0}, A "has an extent of 0"},
      {3, {2, 0, 2}, A "has an extent of 0"},
  };
  enter_scratch();
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_text file = {0};
    g_header(&file, 3, 1, 0);
    g_text(&file, "a");
    g_number(&file, 4, cases[i].rank);
    for (size_t k = 0; k < 5; k++) g_number(&file, 8, cases[i].extents[k]);
    g_data(&file, 32, 32);
    g_write("m", &file);
    refuses_gguf("m", RS_INPUT, cases[i].message);
  }
  leaves((const char *[]){"m"}, 1);
}

Test(gguf, tensors_must_leave_each_other_room) {
  static const struct {
    const char *name;
    uint64_t count, offset;
    size_t data;
    const char *message; /* NULL: they fit */
  } cases[] = {
      {"b", 8, 64, 96, NULL},
      {"a", 8, 64, 96, A "is there twice"},
      {"b", 8, 0, 64, "m: tensor \"a\": begins at byte 0 of the data, within tensor \"b\", which ends at 32"},
      {"b", 8, 32, 64, "m: tensor \"b\": begins at byte 32 of the data, within tensor \"a\", which ends at 40"},
      {"b", 8, 96, 128,
       "m: tensor \"b\": begins at byte 96 of the data, but what is before ends at 40: nobody's bytes"},
  };
  enter_scratch();
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_text file = {0};
    g_header(&file, 3, 2, 0);
    g_tensor(&file, cases[i].name, (const uint64_t[4]){cases[i].count}, T_F32, cases[i].offset);
    g_tensor(&file, "a", (const uint64_t[4]){10}, T_F32, 0);
    g_data(&file, 32, cases[i].data);
    g_write("m", &file);
    if (cases[i].message != NULL) {
      refuses_gguf("m", RS_INPUT, cases[i].message);
    } else {
      rs_gguf *gguf = open_gguf("m");
      cr_expect_str_eq(rs_gguf_checkpoint(gguf)->tensors[0].name, "a"); /* by place, not as the header has them */
      rs_gguf_close(gguf);
    }
  }
  leaves((const char *[]){"m"}, 1);
}

/* Metadata and shapes of a model in a type that is not read serve even so. */
Test(gguf, types_that_are_not_read__are_named) {
  static const uint16_t halves[] = {0x7C00, 0xFC00, 0x7E00}; /* infinities, NaN */
  float numbers[256];
  rs_err err = {0};
  rs_text file = {0};
  enter_scratch();
  g_header(&file, 3, 1, 0);
  g_tensor(&file, "a", (const uint64_t[4]){256}, T_IQ4_XS, 0);
  g_data(&file, 32, 136);
  g_write("m", &file);
  rs_gguf *gguf = open_gguf("m");
  const rs_stored_tensor *tensor = rs_gguf_checkpoint(gguf)->tensors;
  cr_expect_not(rs_dtype_is_read(tensor->dtype));
  cr_expect_eq(rs_stored_floats(tensor, 0, 1, numbers, &err), RS_UNSUPPORTED);
  cr_expect_str_eq(err.message,
                   A "is IQ4_XS, which is not read here (F64, F32, BF16, F16, Q8_0, Q5_0, Q5_1, Q4_0, Q4_1 "
                     "and Q2_K to Q6_K are)");
  rs_gguf_close(gguf);
  for (size_t i = 0; i < RS_COUNT(halves); i++) {
    err = (rs_err){0};
    g_header(&file, 3, 1, 0);
    g_tensor(&file, "a", (const uint64_t[4]){64}, T_Q8_0, 0);
    g_data(&file, 32, 34);
    g_number(&file, 2, halves[i]);
    for (int k = 0; k < 32; k++) g_number(&file, 1, 1);
    g_write("m", &file);
    gguf = open_gguf("m");
    tensor = rs_gguf_checkpoint(gguf)->tensors;
    cr_expect_eq(rs_stored_floats(tensor, 0, 32, numbers, &err), RS_OK);
    cr_expect_eq(rs_stored_floats(tensor, 0, 64, numbers, &err), RS_INPUT);
    cr_expect_str_eq(err.message, A "number 32 is not finite");
    rs_gguf_close(gguf);
  }
  leaves((const char *[]){"m"}, 1);
}

/* What reads configs reads metadata, and names the file and the key. */
Test(gguf, metadata__is_read_as_configs_are) {
  rs_problems problems = {0};
  rs_err err = {0};
  rs_text file = {0};
  enter_scratch();
  g_header(&file, 3, 0, 3);
  g_key(&file, "llama.rope.freq_base", G_F32);
  g_number(&file, 4, 0x461c4000);
  g_string(&file, "llama.block_count", "thirty");
  g_array(&file, "llama.window", G_I8, 2);
  g_number(&file, 2, 0xff01);
  g_write("m", &file);
  rs_gguf *gguf = open_gguf("m");
  const rs_node *metadata = rs_gguf_metadata(gguf), *window = rs_node_get(metadata, "llama.window");
  cr_expect_eq(rs_read_real(&problems, rs_node_get(metadata, "llama.rope.freq_base"), 1, 1e9, 0), 10000);
  cr_expect_eq(rs_read_count(&problems, &window->items[0], 0, 9, 5), 1);
  cr_expect_eq(problems.count, 0);
  cr_expect_eq(rs_read_count(&problems, rs_node_get(metadata, "llama.block_count"), 1, 9, 5), 5);
  cr_expect_eq(rs_read_count(&problems, &window->items[1], 0, 9, 5), 5);
  cr_expect_eq(rs_problems_end(&problems, "m", &err), RS_INPUT);
  cr_expect_str_eq(err.message,
                   "m: llama.block_count = \"thirty\": must be a number, not text (take the quotes away)\n"
                   "m: llama.window[1] = -1: must be from 0 to 9",
                   "%s", err.message);
  rs_gguf_close(gguf);
  leaves((const char *[]){"m"}, 1);
}

/* ---- cuts -------------------------------------------------------------------------------------------------------- */

/* Every beginning of a golden file is refused by its name, but for those that lack padding alone. */
static void expect_cuts(const char *name, size_t padding) {
  char path[4096], *bytes;
  size_t length, refused = 0;
  rs_err err = {0};
  snprintf(path, sizeof path, "%s/golden/gguf/%s", getenv("ROPESCOPE_TESTS"), name);
  cr_assert_eq(rs_file_read(path, SIZE_MAX, &bytes, &length, &err), RS_OK, "%s", err.message);
  for (size_t size = 1; size <= length + 1; size++) {
    rs_gguf *gguf = NULL;
    err = (rs_err){0};
    put_bytes("m", bytes, size); /* one more is the text's NUL: a byte of nobody's */
    rs_status status = rs_gguf_open("m", &gguf, &err);
    bool fits = size >= length - padding && size <= length;
    cr_assert_eq(status, fits ? RS_OK : RS_INPUT, "%s, %zu of %zu bytes: %s", name, size, length, err.message);
    cr_assert(status == RS_OK || strncmp(err.message, "m: ", 3) == 0, "%s", err.message);
    cr_assert_eq(gguf != NULL, status == RS_OK);
    rs_gguf_close(gguf);
    refused += status != RS_OK;
  }
  cr_expect_eq(refused, length - padding);
  free(bytes);
}

Test(gguf, cut_files__are_refused) {
  enter_scratch();
  expect_cuts("aligned.gguf", 48);
  expect_cuts("version2.gguf", 48);
  expect_cuts("metadata.gguf", 11);
  leaves((const char *[]){"m"}, 1);
}

/* ---- limits ------------------------------------------------------------------------------------------------------ */

Test(gguf, values_are_counted) {
  enter_scratch();
  for (size_t more = 0; more < 2; more++) {
    rs_text file = {0};
    g_header(&file, 3, 0, 2);
    g_u32(&file, "first", 1);
    g_array(&file, "all", G_U8, 99998 + more);
    g_data(&file, 1, 99998 + more);
    g_write("m", &file);
    if (more == 1) {
      refuses_gguf("m", RS_INPUT, "m: all: is more than the 100000 values that are read, beside the tokenizer's");
      continue;
    }
    rs_gguf *gguf = open_gguf("m");
    cr_expect_eq(rs_gguf_array_count(gguf, "all"), 99998);
    rs_gguf_close(gguf);
  }
  leaves((const char *[]){"m"}, 1);
}

/* A vocabulary of a million takes no memory, nor do tensors of 6 GiB, of which the last numbers are read. */
Test(gguf, large_files__are_not_read) {
  const size_t words = 1000000, rows = (size_t)3 << 19, gigabytes6 = rows * 4096;
  struct rusage before, after;
  float numbers[2] = {1, 1};
  rs_err err = {0};
  rs_text file = {0};
  enter_scratch();
  g_header(&file, 3, 1, 3);
  g_array(&file, "tokenizer.ggml.tokens", G_STRING, words);
  for (size_t i = 0; i < words; i++) g_bytes(&file, "\xff", i % 2); /* tokens may be any bytes */
  g_array(&file, "tokenizer.ggml.scores", G_F32, words);
  g_data(&file, 1, 4 * words);
  g_array(&file, "tokenizer.ggml.token_type", G_BOOL, words);
  g_data(&file, 1, words);
  g_tensor(&file, "a", (const uint64_t[4]){1024, rows}, T_F32, 0);
  g_data(&file, 32, 0);
  size_t length = file.length;
  g_write("m", &file);
  cr_assert_eq(truncate("m", (off_t)(length + gigabytes6)), 0);
  cr_assert_eq(getrusage(RUSAGE_SELF, &before), 0);
  rs_gguf *gguf = open_gguf("m");
  const rs_stored_tensor *tensor = rs_gguf_checkpoint(gguf)->tensors;
  cr_expect(tensor->shape[0] == rows && tensor->shape[1] == 1024 && tensor->bytes == gigabytes6);
  cr_expect_eq(rs_stored_floats(tensor, tensor->count - 2, 2, numbers, &err), RS_OK, "%s", err.message);
  cr_expect(numbers[0] == 0 && numbers[1] == 0);
  cr_expect_eq(rs_gguf_array_count(gguf, "tokenizer.ggml.tokens"), words);
  cr_expect_eq(rs_gguf_array_count(gguf, "tokenizer.ggml.token_type"), words);
  cr_expect_eq(rs_gguf_metadata(gguf)->count, 0);
  rs_gguf_close(gguf);
  cr_assert_eq(getrusage(RUSAGE_SELF, &after), 0);
  cr_expect_leq(after.ru_maxrss - before.ru_maxrss, 64 << 10, "%ld KiB were taken", after.ru_maxrss - before.ru_maxrss);
  leaves((const char *[]){"m"}, 1);
}
