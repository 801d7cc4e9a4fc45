/* test_doc.c: what commands say as one tree, and its writers. */
#include "app/app.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

static const rs_doc_column columns[] = {{.key = "name", .title = "name", .code = true},
                                        {.key = "heads", .title = "heads"},
                                        {.key = "cost", .title = "cost", .none = "-", .digits = 3},
                                        {.key = "time", .title = "time", .right = true},
                                        {.key = "what", .title = "what", .wrapped = true}};

static rs_doc *rows_in(rs_arena *arena) {
  rs_doc *rows = rs_doc_new(arena, RS_DOC_ARRAY);
  rs_doc_put(rs_doc_add(rows, NULL, RS_DOC_OBJECT), DOC_WORDS("name", "caf\xc3\xa9"), DOC_NUMBER("heads", 32),
             DOC_NUMBER("cost", 1.23456), DOC_WORDS("time", "9 ms"), DOC_WORDS("what", "a|b, x < 1, <b>"));
  rs_doc_put(rs_doc_add(rows, NULL, RS_DOC_OBJECT), DOC_WORDS("name", "rotary"), DOC_NUMBER("heads", 8),
             DOC_NUMBER("cost", NAN), DOC_WORDS("time", "1200 ms"), DOC_WORDS("what", NULL), DOC_FLAG("open", true));
  return rows;
}

static void expect(rs_text *text, const char *want) {
  cr_expect_str_eq(rs_text_string(text), want, "%s", rs_text_string(text));
  cr_expect(!text->failed);
  rs_text_clear(text);
}

/* Widths are of characters, numbers and what is asked for stand flush right, and no line ends in blanks. */
Test(doc, rows__in_every_form) {
  rs_arena arena = {0};
  rs_text text = {0};
  const rs_doc *rows = rows_in(&arena);
  rs_doc_table(rows, columns, RS_COUNT(columns), 1, &text);
  expect(&text, " name    heads  cost     time  what\n"
                " caf\xc3\xa9       32  1.23     9 ms  a|b, x < 1, <b>\n"
                " rotary      8     -  1200 ms\n");
  rs_doc_markdown(rows, columns, RS_COUNT(columns), &text);
  expect(&text, "| name | heads | cost | time | what |\n|---|---|---|---|---|\n"
                "| `caf\xc3\xa9` | 32 | 1.23 | 9 ms | a\\|b, x < 1, &lt;b> |\n"
                "| `rotary` | 8 | - | 1200 ms |  |\n");
  rs_doc_csv(rows, columns, RS_COUNT(columns), &text);
  expect(&text, "name,heads,cost,time,what\ncaf\xc3\xa9,32,1.23456,9 ms,\"a|b, x < 1, <b>\"\nrotary,8,,1200 ms,\n");
  rs_doc_json(rows->last, &text);
  expect(&text, "{\n  \"name\": \"rotary\",\n  \"heads\": 8,\n  \"cost\": null,\n  \"time\": \"1200 ms\",\n"
                "  \"what\": null,\n  \"open\": true\n}\n");
  rs_arena_clear(&arena);
}

/* Columns of one name are told apart by their place; others are found wherever they stand. */
Test(doc, cells__by_place_and_by_key) {
  static const rs_doc_column twice[] = {
      {.key = "x", .title = "x"}, {.key = "x", .title = "x"}, {.key = "last", .title = "last"}};
  rs_arena arena = {0};
  rs_text text = {0};
  rs_doc *rows = rs_doc_new(&arena, RS_DOC_ARRAY), *row = rs_doc_add(rows, NULL, RS_DOC_OBJECT);
  rs_doc_put(row, DOC_NUMBER("x", 1), DOC_NUMBER("x", 2), DOC_WORDS("more", "unseen"), DOC_NUMBER("last", 3));
  rs_doc_csv(rows, twice, RS_COUNT(twice), &text);
  expect(&text, "x,x,last\n1,2,3\n");
  cr_expect_str_eq(rs_doc_text(row, "more"), "unseen");
  cr_expect_null(rs_doc_text(row, "last"));
  cr_expect_null(rs_doc_find(row, "none"));
  rs_arena_clear(&arena);
}

/* A line of a table goes on below its last column. */
Test(doc, long_words__are_wrapped_beneath_their_column) {
  static const rs_doc_column pair[] = {{.key = "a", .title = "a"}, {.key = "b", .title = "b", .wrapped = true}};
  rs_arena arena = {0};
  rs_text text = {0}, words = {0};
  rs_doc *rows = rs_doc_new(&arena, RS_DOC_ARRAY);
  for (size_t i = 0; i < 14; i++) rs_text_puts(&words, "eight888 ");
  rs_doc_put(rs_doc_add(rows, NULL, RS_DOC_OBJECT), DOC_WORDS("a", "wide"), DOC_WORDS("b", rs_doc_keep(rows, &words)));
  cr_expect_null(words.data);
  rs_doc_table(rows, pair, RS_COUNT(pair), 0, &text);
  cr_expect_not_null(strstr(rs_text_string(&text), "\nwide  eight888 eight888"), "%s", rs_text_string(&text));
  cr_expect_not_null(strstr(rs_text_string(&text), "eight888\n      eight888"), "%s", rs_text_string(&text));
  rs_text_clear(&text);
  rs_arena_clear(&arena);
}

/* What could not be built for want of memory is no output. */
Test(doc, failed_arena__fails_the_text) {
  rs_arena arena = {.failed = true};
  rs_text text = {0};
  rs_doc *doc = rs_doc_new(&arena, RS_DOC_OBJECT);
  rs_doc_put(doc, DOC_NUMBER("x", 1));
  cr_expect_null(rs_doc_add(doc, "more", RS_DOC_LIST));
  rs_doc_json(doc, &text);
  cr_expect(text.failed);
  text.failed = false;
  rs_doc_table(doc, columns, RS_COUNT(columns), 0, &text);
  cr_expect(text.failed);
  rs_text_clear(&text);
}
