/* test_task_tokens.c: texts of ids, and windows that slide over them. */
#include <criterion/criterion.h>
#include <string.h>

#include "../fixtures/npy.h"
#include "../fixtures/scratch.h"
#include "../fixtures/task_desk.h"
#include "io/io.h"

enum { HEADER = 1024 };

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* Four ids of 16 bits behind a header of llm.c with these three numbers. */
static void write_llmc(const char *path, int32_t magic, int32_t version, int32_t count, size_t length) {
  char bytes[HEADER + 8] = {0};
  const int32_t header[] = {magic, version, count};
  const uint16_t ids[] = {7, 65535, 0, 3};
  memcpy(bytes, header, sizeof header);
  memcpy(bytes + HEADER, ids, sizeof ids);
  cr_assert_eq(rs_file_write(path, bytes, length, NULL), RS_OK);
}

static void holds_ids(const char *path, rs_id_format format, const uint32_t *ids, size_t count) {
  rs_token_file file;
  rs_err err = {0};
  cr_assert_eq(rs_token_file_read(path, format, &file, &err), RS_OK, "%s", err.message);
  cr_assert_eq(file.count, count, "%s: %zu", path, file.count);
  for (size_t i = 0; i < count; i++) cr_expect_eq(rs_token_id(&file, i), ids[i], "%s: %zu", path, i);
  rs_token_file_clear(&file);
  cr_expect(file.ids == NULL && file.count == 0);
}

Test(token_files, every_format__the_ids_that_were_written) {
  static const uint32_t wide[] = {1, 70000}, narrow[] = {1, 0, 4464, 1}, small[] = {1, 0, 0, 0, 112, 17, 1, 0};
  static const uint32_t marked[] = {7, 65535, 0, 3}, four[] = {7 | 65535u << 16, 3u << 16};
  enter_scratch();
  cr_assert_eq(rs_file_write("raw", (const char *)wide, sizeof wide, NULL), RS_OK);
  holds_ids("raw", RS_ID_U32, wide, 2);
  holds_ids("raw", RS_ID_U16, narrow, 4);
  holds_ids("raw", RS_ID_AUTO, narrow, 4);
  holds_ids("raw", RS_ID_U8, small, 8);
  write_llmc("llmc", 20240520, 1, 4, HEADER + 8);
  holds_ids("llmc", RS_ID_AUTO, marked, 4);
  holds_ids("llmc", RS_ID_U16, marked, 4);
  write_llmc("llmc", 20240801, 7, 2, HEADER + 8);
  holds_ids("llmc", RS_ID_AUTO, four, 2);
  make_npy("ids.npy", 1, NPY("<i8", "False", "(1, 2)"), "\1\0\0\0\0\0\0\0\x70\x11\1\0\0\0\0\0", 16);
  holds_ids("ids.npy", RS_ID_AUTO, wide, 2);
  leaves((const char *[]){"raw", "llmc", "ids.npy"}, 3);
}

static void refuses(const char *path, rs_id_format format, const char *message) {
  rs_token_file file;
  rs_err err = {0};
  cr_expect_eq(rs_token_file_read(path, format, &file, &err), RS_INPUT, "%s", message);
  cr_expect_str_eq(err.message, message);
  cr_expect(file.ids == NULL && file.owned == NULL && file.mapping.bytes == NULL);
}

Test(token_files, wrong_files__are_told) {
  enter_scratch();
  cr_assert_eq(rs_file_write("odd", "abc", 3, NULL), RS_OK);
  refuses("odd", RS_ID_AUTO, "odd: 3 bytes are no whole number of ids of 16 bits");
  refuses("odd", RS_ID_U32, "odd: 3 bytes are no whole number of ids of 32 bits");
  write_llmc("a", 20240520, 2, 4, HEADER + 8);
  refuses("a", RS_ID_AUTO, "a: a header of llm.c of version 2, known is 1");
  write_llmc("a", 20240520, 1, 4, HEADER + 8);
  refuses("a", RS_ID_U32, "a: its header says numbers of 16 bits, not uint32");
  write_llmc("a", 20240520, 1, 5, HEADER + 8);
  refuses("a", RS_ID_AUTO, "a: has 1032 bytes, 1034 by its header (was a download broken off?)");
  write_llmc("a", (int32_t)__builtin_bswap32(20240520), 1, 4, HEADER + 8);
  refuses("a", RS_ID_AUTO, "a: a header of llm.c with its bytes the other way round (big-endian)");
  make_npy("b.npy", 1, NPY("<f4", "False", "(2,)"), "\0\0\x80\x3f\0\0\xc0\x3f", 8);
  refuses("b.npy", RS_ID_AUTO, "b.npy: number 1 (from 0) is 1.5, which is no id of a token");
  make_npy("b.npy", 1, NPY("|i1", "False", "(2,)"), "\1\xff", 2);
  refuses("b.npy", RS_ID_AUTO, "b.npy: number 1 (from 0) is -1, which is no id of a token");
  make_npy("b.npy", 1, NPY("|i1", "False", "(2, 2)"), "\1\2\3\4", 4);
  refuses("b.npy", RS_ID_AUTO, "b.npy: must be one row of ids, of shape (tokens,)");
  make_npy("b.npy", 1, NPY("|i1", "False", "()"), "\1", 1);
  refuses("b.npy", RS_ID_AUTO, "b.npy: must be one row of ids, of shape (tokens,)");
  make_npy("b.npy", 1, NPY("<u4", "False", "(2,)"), "\xff\xff\xff\x7f\0\0\0\x80", 8);
  refuses("b.npy", RS_ID_AUTO, "b.npy: number 1 (from 0) is 2147483648, which is no id of a token");
  leaves((const char *[]){"odd", "a", "b.npy"}, 3);
}

/* ---- the task ---------------------------------------------------------------------------------------------------- */

/* Ids 0 .. count - 1 of 16 bits: an id says where it stands. */
static void write_ids(const char *path, size_t count) {
  uint16_t ids[500];
  for (size_t i = 0; i < count; i++) ids[i] = (uint16_t)i;
  cr_assert_eq(rs_file_write(path, (const char *)ids, count * sizeof *ids, NULL), RS_OK);
}

static void open_ids(task_desk *desk, const char *settings) {
  desk_make(desk, "tokens");
  bound_set(&desk->parameters, "file", "ids");
  desk_set(desk, settings);
  desk_prepare(desk, 1);
}

/* 100 ids, all held out, windows of 20 every 8: every id behind the first is asked for once, but the last few, for
 * which there is no window. The tenth window is the last; the eleventh is the first again. */
Test(tokens, sliding_windows__ask_for_every_token_once) {
  task_desk desk;
  size_t asked[100] = {0};
  enter_scratch();
  write_ids("ids", 100);
  open_ids(&desk, "stride=8");
  for (uint64_t k = 0; k < 10; k++) {
    desk_draw(&desk, RS_SPLIT_EVALUATION, k, 20);
    cr_expect_eq(desk.example.tokens[0], 8 * (int32_t)k);
    cr_expect_eq(desk_targets(&desk), k == 0 ? 20 : 8);
    for (size_t t = 0; t < 20; t++)
      if (desk.example.targets[t] != RS_NO_TARGET) {
        cr_assert_eq(desk.example.targets[t], desk.example.tokens[t] + 1);
        asked[desk.example.targets[t]]++;
      }
  }
  for (size_t i = 0; i < 100; i++) cr_expect_eq(asked[i], i > 0 && i <= 72 + 20, "%zu", i);
  desk_draw(&desk, RS_SPLIT_EVALUATION, 10, 20);
  cr_expect(desk.example.tokens[0] == 0 && desk_targets(&desk) == 20);
  cr_expect_eq(desk.shape.evaluations, 10);
  desk_draw(&desk, RS_SPLIT_EVALUATION, 3, 5); /* shorter than the stride: side by side */
  cr_expect(desk.example.tokens[0] == 15 && desk_targets(&desk) == 5);
  desk_clear(&desk);
  leaves((const char *[]){"ids"}, 1);
}

/* A text that is all held out can be read, and not be trained on. */
Test(tokens, share__says_what_is_held_out) {
  task_desk desk;
  enter_scratch();
  write_ids("ids", 100);
  open_ids(&desk, "");
  desk_draw(&desk, RS_SPLIT_EVALUATION, 0, 99);
  cr_expect(desk.shape.untrainable && desk.shape.vocabulary == 100 && desk.shape.classes == 100);
  cr_expect_eq(desk.kind->chance(desk.task.state, 0), 0.01);
  desk_clear(&desk);
  open_ids(&desk, "share=0.25 vocabulary=128");
  desk_draw(&desk, RS_SPLIT_EVALUATION, 0, 10);
  cr_expect(!desk.shape.untrainable && desk.shape.vocabulary == 128 && desk.example.tokens[0] == 75);
  desk_clear(&desk);
  open_ids(&desk, "share=0.98"); /* two are enough */
  desk_clear(&desk);
  leaves((const char *[]){"ids"}, 1);
}

Test(tokens, contradictions__are_told) {
  static const struct {
    const char *settings, *subject, *message;
  } cases[] = {
      {"vocabulary=50", "file", "ids: token 299 (from 0) is 299, the vocabulary has 50"},
      {"numbers=uint32", "file", "ids: token 149 (from 0) is 19595562; ids end at 16777215 (is `numbers` right?)"},
      {"share=0.995", "file", "ids: 1 tokens to train on and 299 held out: each must be 2 or more"},
      {"share=0.003", "file", "ids: 299 tokens to train on and 1 held out: each must be 2 or more"},
  };
  enter_scratch();
  write_ids("ids", 300);
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    task_desk desk;
    rs_err err = {0};
    desk_make(&desk, "tokens");
    bound_set(&desk.parameters, "file", "ids");
    desk_set(&desk, cases[i].settings);
    rs_task_in in = {desk.parameters.binding.fields, 0};
    cr_expect_eq(rs_task_prepare(desk.kind, &in, &desk.task, &err), RS_INPUT);
    cr_expect_str_eq(err.message, cases[i].message);
    cr_expect_str_eq(err.subject, cases[i].subject);
    desk_clear(&desk);
  }
  leaves((const char *[]){"ids"}, 1);
}

Test(tokens, stride_and_unscored__contradict) {
  task_desk desk;
  rs_err err = {0};
  desk_make(&desk, "tokens");
  bound_set(&desk.parameters, "file", "ids");
  desk_set(&desk, "stride=8 unscored=0.5");
  cr_expect_eq(desk.kind->check(&desk.parameters.binding, &err), RS_INPUT);
  cr_expect_str_eq(err.subject, "unscored");
  cr_expect_str_eq(err.message, "and stride both say what is scored: leave one out");
  desk_clear(&desk);
}
