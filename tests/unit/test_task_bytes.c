/* test_task_bytes.c: windows of a text. */
#include <criterion/criterion.h>
#include <string.h>

#include "../fixtures/scratch.h"
#include "../fixtures/task_desk.h"
#include "io/io.h"

/* Byte i is i modulo 251, so that a byte says where it stands; below 1000 bytes. */
static void write_text(const char *path, size_t length) {
  char text[1000];
  for (size_t i = 0; i < length; i++) text[i] = (char)(i % 251);
  cr_assert_eq(rs_file_write(path, text, length, NULL), RS_OK);
}

static void open_text(task_desk *desk, const char *path, const char *settings, uint64_t seed) {
  desk_make(desk, "bytes");
  bound_set(&desk->parameters, "file", path);
  desk_set(desk, settings);
  desk_prepare(desk, seed);
}

/* Tokens and targets run on from the first; targets begin at `scored`. */
static void runs_on(const task_desk *desk, size_t scored) {
  int32_t first = desk->example.tokens[0];
  for (size_t t = 0; t < desk->shape.length; t++) {
    cr_assert_eq(desk->example.tokens[t], (first + (int32_t)t) % 251);
    cr_assert_eq(desk->example.targets[t], t < scored ? RS_NO_TARGET : (first + (int32_t)t + 1) % 251);
  }
}

/* 240 bytes: 180 to train on, 60 held out. Windows of training start at all of 0 .. 169, those of evaluation at 180,
 * 190, .. 220: the last has the byte behind it. */
Test(bytes, windows__cover_each_part_and_never_meet) {
  task_desk desk, other;
  bool started[251] = {false};
  enter_scratch();
  write_text("text", 240);
  open_text(&desk, "text", "share=0.25 unscored=0.5", 1);
  open_text(&other, "text", "share=0.25", 2);
  for (uint64_t k = 0; k < 3000; k++) {
    desk_draw(&desk, RS_SPLIT_TRAINING, k, 10);
    runs_on(&desk, 0);
    started[desk.example.tokens[0]] = true;
  }
  for (size_t i = 0; i < 251; i++) cr_expect_eq(started[i], i < 170, "%zu", i);
  for (uint64_t k = 0; k < 20; k++) {
    desk_draw(&desk, RS_SPLIT_EVALUATION, k, 10);
    runs_on(&desk, 5);
    cr_assert_eq(desk.example.tokens[0], 180 + (int32_t)(k % 5) * 10);
    desk_draw(&other, RS_SPLIT_EVALUATION, k, 10);
    runs_on(&other, 0);
    cr_assert_eq(other.example.tokens[0], desk.example.tokens[0]);
  }
  cr_expect_eq(desk.shape.evaluations, 5);
  desk_clear(&other);
  desk_clear(&desk);
  leaves((const char *[]){"text"}, 1);
}

/* The longest sequences that either part holds with the byte behind them. */
Test(bytes, lengths__up_to_the_smaller_part) {
  static const struct {
    const char *settings;
    size_t longest;
  } cases[] = {{"share=0.25", 59}, {"share=0.75", 59}, {"share=0.5", 119}};
  enter_scratch();
  write_text("text", 240);
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    task_desk desk;
    rs_example_shape shape;
    rs_err err = {0};
    open_text(&desk, "text", cases[i].settings, 1);
    for (uint64_t k = 0; k < 20; k++) {
      desk_draw(&desk, (rs_split)(k % 2), k, cases[i].longest);
      runs_on(&desk, 0);
    }
    cr_expect_eq(desk.kind->shape(desk.task.state, cases[i].longest + 1, &shape, &err), RS_DOMAIN);
    if (i == 0)
      cr_expect_str_eq(err.message,
                       "60 tokens and the one behind them: the text has 180 to train on and 60 held out, 61 would do");
    cr_expect_eq(desk.kind->shape(desk.task.state, 0, &shape, NULL), RS_DOMAIN);
    desk_clear(&desk);
  }
  leaves((const char *[]){"text"}, 1);
}

/* "b" is the commonest of the first half, and one of four bytes of the second. Bytes above 127 stay positive. */
Test(bytes, chance__is_the_share_of_the_commonest_byte) {
  static const char text[] = "abbb\xff\xff\xff\x62";
  task_desk desk;
  enter_scratch();
  cr_assert_eq(rs_file_write("text", text, 8, NULL), RS_OK);
  open_text(&desk, "text", "share=0.5", 1);
  cr_expect_eq(desk.kind->chance(desk.task.state, 0), 0.25);
  cr_expect_null(desk.kind->best_loss);
  desk_draw(&desk, RS_SPLIT_EVALUATION, 0, 3);
  cr_expect(desk.example.tokens[0] == 255 && desk.example.targets[2] == 'b');
  desk_clear(&desk);
  leaves((const char *[]){"text"}, 1);
}

Test(bytes, wrong_files__are_told) {
  static const struct {
    const char *file, *subject, *message;
    rs_status status;
  } cases[] = {
      {"none", "", "none: cannot read: No such file or directory", RS_IO},
      {"empty", "", "empty: is empty (was a download broken off?)", RS_INPUT},
      {"short", "file", "short: 9 tokens to train on and 1 held out: each must be 2 or more", RS_INPUT},
      {NULL, "file", "must be given: the text to read", RS_INPUT},
  };
  enter_scratch();
  write_text("empty", 0);
  write_text("short", 10);
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    task_desk desk;
    rs_err err = {0};
    desk_make(&desk, "bytes");
    if (cases[i].file != NULL) bound_set(&desk.parameters, "file", cases[i].file);
    rs_task_in in = {desk.parameters.binding.fields, 0};
    cr_expect_eq(rs_task_prepare(desk.kind, &in, &desk.task, &err), cases[i].status, "%zu", i);
    cr_expect_null(desk.task.state);
    cr_expect_str_eq(err.message, cases[i].message);
    cr_expect_str_eq(err.subject, cases[i].subject);
    err = (rs_err){0};
    cr_expect_eq(desk.kind->check(&desk.parameters.binding, &err), cases[i].file == NULL ? RS_INPUT : RS_OK);
    desk_clear(&desk);
  }
  leaves((const char *[]){"empty", "short"}, 2);
}
