/* test_plot_views.c: pictures as numbers for pages: which of them differ in the length alone, and what is left out. */
#include "plot_fixture.h"

#define VALUE(name) ",{\"name\":\"" name "\",\"role\":\"value\"}"
#define PANEL ",{\"name\":\"at\",\"role\":\"index\",\"map\":\"panel\"}"
#define INDEX ",{\"name\":\"distance_tokens\",\"role\":\"index\",\"unit\":\"tokens\"}"
#define FILE_OF(name, columns) "{\"file\":\"" name "\",\"columns\":[" KEYS columns "]}"

/* The text behind `key` of a view's numbers, up to the next quote. */
static const char *text_behind(const char *numbers, const char *key) {
  static char texts[2][256];
  static size_t turn;
  char *text = texts[turn++ % 2], words[64];
  snprintf(words, sizeof words, "\"%s\": \"", key);
  const char *found = strstr(numbers, words);
  cr_assert_not_null(found, "no %s: %.200s", key, numbers);
  found += strlen(words);
  snprintf(text, sizeof texts[0], "%.*s", (int)strcspn(found, "\""), found);
  return text;
}

/* "name<group " of each view; one that begins its group is "name ". */
static void expect_views(const char *wanted) {
  rs_plot_views views = {0}, still = {0};
  rs_plot_report report = {0};
  rs_err err = {0};
  rs_text groups = {0};
  cr_assert_eq(rs_plot_views_read(folder, false, &views, &report, &err), RS_OK, "%s", err.message);
  for (size_t i = 0; i < views.count; i++) {
    const char *name = text_behind(views.items[i].numbers, "name"),
               *group = text_behind(views.items[i].numbers, "group");
    cr_assert_str_eq(name, views.items[i].name);
    rs_text_puts(&groups, name);
    if (strcmp(name, group) != 0) rs_text_printf(&groups, "<%s", group);
    rs_text_puts(&groups, " ");
  }
  cr_expect_str_eq(rs_text_string(&groups), wanted, "%s", rs_text_string(&groups));
  cr_assert_eq(rs_plot_views_read(folder, true, &still, &report, &err), RS_OK, "%s", err.message);
  for (size_t i = 0; i < still.count; i++)
    cr_expect(still.items[i].numbers == NULL && strncmp(still.items[i].svg, "<svg", 4) == 0);
  rs_text_clear(&groups);
  rs_plot_views_clear(&views);
  rs_plot_views_clear(&still);
  rs_plot_report_clear(&report);
}

/* Curves of two columns, models and sources at two lengths, whose values are all others. */
Test(plot_views, curves__are_grouped_by_column_model_and_source, .init = make_folder, .fini = remove_folder) {
  rs_text rows = {0};
  size_t cell = 0;
  put_file("manifest.json", "{\"files\":[" FILE_OF("a.csv", INDEX VALUE("u") VALUE("v")) "]}");
  rs_text_puts(&rows, HEADER ",distance_tokens,u,v\n");
  for (size_t m = 0; m < 2; m++)
    for (size_t l = 0; l < 2; l++)
      for (size_t s = 0; s < 2; s++, cell++)
        for (size_t d = 0; d < 3; d++)
          rs_text_printf(&rows, "%zu,m%zu,rope,%d,1,s%zu,1,8,%zu,%zu,%zu\n", cell, m, 1024 << l, s, d,
                         1 + d * (2 + m + 2 * l + 4 * s), 100 + d * (20 + m + 2 * l + 4 * s));
  put_file("a.csv", rs_text_string(&rows));
  rs_text_clear(&rows);
  expect_views(
      "a--u--m0--s0--1k a--u--m0--s0--2k<a--u--m0--s0--1k a--u--m0--s1--1k a--u--m0--s1--2k<a--u--m0--s1--1k "
      "a--u--m1--s0--1k a--u--m1--s0--2k<a--u--m1--s0--1k a--u--m1--s1--1k a--u--m1--s1--2k<a--u--m1--s1--1k "
      "a--v--m0--s0--1k a--v--m0--s0--2k<a--v--m0--s0--1k a--v--m0--s1--1k a--v--m0--s1--2k<a--v--m0--s1--1k "
      "a--v--m1--s0--1k a--v--m1--s0--2k<a--v--m1--s0--1k a--v--m1--s1--1k a--v--m1--s1--2k<a--v--m1--s1--1k ");
}

/* Lines in panels are pictures apiece; of each panel those at all lengths are one group. */
Test(plot_views, panels__are_groups_of_their_own, .init = make_folder, .fini = remove_folder) {
  rs_text rows = {0};
  put_file("manifest.json", "{\"files\":[" FILE_OF("a.csv", PANEL INDEX VALUE("u")) "]}");
  rs_text_puts(&rows, HEADER ",at,distance_tokens,u\n");
  for (size_t l = 0; l < 2; l++)
    for (size_t p = 0; p < 2; p++)
      for (size_t d = 0; d < 3; d++)
        rs_text_printf(&rows, "%zu,m,rope,%d,1,,,8,%zu,%zu,%zu\n", l, 1024 << l, p, d, 1 + d * (2 + l + 2 * p));
  put_file("a.csv", rs_text_string(&rows));
  rs_text_clear(&rows);
  expect_views("a--u--1k--at=0 a--u--1k--at=1 a--u--2k--at=0<a--u--1k--at=0 a--u--2k--at=1<a--u--1k--at=1 ");
}

/* Of a group that says something nothing is left out, though one of it say nothing; of another that says nothing all.
 */
Test(plot_views, groups_that_say_nothing__are_left_out_whole, .init = make_folder, .fini = remove_folder) {
  put_file("manifest.json", "{\"files\":[" FILE_OF("a.csv", INDEX VALUE("u") VALUE("v")) "]}");
  put_file("a.csv", HEADER ",distance_tokens,u,v\n"
                           "0,m,rope,1024,1,,,8,0,1,1\n0,m,rope,1024,1,,,8,1,1,1\n0,m,rope,1024,1,,,8,2,1,1\n"
                           "1,m,rope,2048,1,,,8,0,1,1\n1,m,rope,2048,1,,,8,1,2,1\n1,m,rope,2048,1,,,8,2,5,1\n");
  expect_views("a--u--1k a--u--2k<a--u--1k ");
}

/* Over what checkpoints differ in, at each length; and over the length. */
Test(plot_views, sweeps__are_groups_beside_the_lengths, .init = make_folder, .fini = remove_folder) {
  rs_text rows = {0};
  put_file("manifest.json",
           "{\"checkpoints\":[{\"name\":\"a\",\"caption\":[]},{\"name\":\"b\",\"caption\":[]}],\"files\":[" FILE_OF(
               "summary.csv", ",{\"name\":\"checkpoint.steps\",\"role\":\"key\"}" VALUE("u")) "]}");
  rs_text_puts(&rows, HEADER ",checkpoint.steps,u\n");
  for (size_t c = 0; c < 3; c++)
    for (size_t l = 0; l < 2; l++)
      rs_text_printf(&rows, "%zu,t steps=%zu,trained,%d,1,,1,0,%zu,%zu\n", 2 * c + l, c + 1, 64 << l, c + 1,
                     1 + c * c + 3 * l);
  put_file("summary.csv", rs_text_string(&rows));
  rs_text_clear(&rows);
  expect_views("u--steps--64 u--steps--128<u--steps--64 u ");
}

/* ---- forms ------------------------------------------------------------------------------------------------------- */

static void expect_form(const char *manifest, const char *file, const char *rows, const char *form, const char *marks) {
  rs_plot_views views = {0};
  rs_plot_report report = {0};
  rs_err err = {0};
  put_file("manifest.json", manifest);
  put_file(file, rows);
  cr_assert_eq(rs_plot_views_read(folder, false, &views, &report, &err), RS_OK, "%s", err.message);
  cr_assert_eq(views.count, 1u, "%s: %zu views", form, views.count);
  cr_expect_str_eq(text_behind(views.items[0].numbers, "form"), form);
  cr_expect_not_null(strstr(views.items[0].numbers, marks), "no %s: %s", marks, views.items[0].numbers);
  rs_plot_views_clear(&views);
  rs_plot_report_clear(&report);
}

/* Results at one length, parts of a task, a value over one index, and one over two. */
Test(plot_views, forms__have_their_names, .init = make_folder, .fini = remove_folder) {
  expect_form("{\"files\":[" FILE_OF("summary.csv", VALUE("u")) "]}", "summary.csv",
              HEADER ",u\n0,m,rope,64,1,,,8,1\n1,m,pi,64,1,,,8,2\n", "dots", "\"marks\": []");
  expect_form("{\"task\":{\"parts\":[\"one_part\",\"other\"]},\"files\":[" FILE_OF(
                  "a.csv", ",{\"name\":\"part\",\"role\":\"index\",\"map\":\"category\"}" VALUE("u")) "]}",
              "a.csv", HEADER ",part,u\n0,m,rope,64,1,,,8,0,1\n0,m,rope,64,1,,,8,1,2\n", "dots",
              "\"marks\": [\n      [0, \"one part\"],\n      [1, \"other\"]\n    ]");
  expect_form("{\"files\":[" FILE_OF("a.csv", ",{\"name\":\"pair\",\"role\":\"index\"},{\"name\":\"u\",\"role\":"
                                              "\"value\",\"map\":\"strip\"}") "]}",
              "a.csv", HEADER ",pair,u\n0,m,rope,64,1,,,8,0,1\n0,m,rope,64,1,,,8,1,2\n", "strips",
              "\"values\": [0, 1]");
  expect_form("{\"files\":[" FILE_OF("a.csv", PANEL ",{\"name\":\"x\",\"role\":\"index\",\"map\":\"x\"},{\"name\":"
                                                    "\"y\",\"role\":\"index\",\"map\":\"y\"}" VALUE("u")) "]}",
              "a.csv",
              HEADER ",at,x,y,u\n0,m,rope,64,1,,,8,3,0,5,1\n0,m,rope,64,1,,,8,3,1,5,2\n0,m,rope,64,1,,,8,9,0,7,2\n"
                     "0,m,rope,64,1,,,8,9,1,7,2\n",
              "heat", "\"panel\": {\n    \"name\": \"at\",\n    \"values\": [3, 9]\n  }");
}

/* What has no value at all is named. */
Test(plot_views, methods_without_values__are_named, .init = make_folder, .fini = remove_folder) {
  expect_form("{\"files\":[" FILE_OF("a.csv", ",{\"name\":\"x\",\"role\":\"index\",\"map\":\"x\"},{\"name\":\"y\","
                                              "\"role\":\"index\",\"map\":\"y\"}" VALUE("u")) "]}",
              "a.csv",
              HEADER ",x,y,u\n0,m,rope,64,1,,,8,0,5,1\n0,m,rope,64,1,,,8,1,5,2\n0,m,rope,64,1,,,8,0,7,2\n"
                     "0,m,rope,64,1,,,8,1,7,2\n1,m,pi,64,1,,,8,0,5,\n2,m,ntk,64,1,,,8,0,5,\n",
              "heat", "\"absent\": [\"pi\", \"ntk\"]");
  cr_assert_eq(draw_all(NULL, RS_OK, NULL), 1u);
  char *svg = picture_text("plots/a--u--64.svg");
  cr_expect_not_null(strstr(svg, "no data: pi, ntk"), "%s", svg);
  free(svg);
}

/* ---- seeds ------------------------------------------------------------------------------------------------------- */

#define AT(name, part) ",{\"name\":\"" name "\",\"role\":\"index\",\"map\":\"" part "\"}"
#define SCORES(indices, part)                                                                                          \
  "{\"files\":[" FILE_OF("a.csv", indices ",{\"name\":\"u\",\"role\":\"value\",\"map\":\"" part "\"}") "]}"

/* Methods a and b of seeds 5, 7 and 9 at two places, where b has no value of seed 5; at the longer length, since the
 * shorter has seed 5 alone. */
#define SEEDS                                                                                                          \
  HEADER ",x,y,u\n0,m,a,32,1,,5,8,0,0,60\n1,m,a,64,1,,5,8,0,0,40\n1,m,a,64,1,,5,8,1,0,41\n2,m,a,64,1,,7,8,0,0,2\n"     \
         "2,m,a,64,1,,7,8,1,0,-1\n3,m,a,64,1,,9,8,0,0,-12\n3,m,a,64,1,,9,8,1,0,11\n4,m,b,64,1,,5,8,0,0,\n"             \
         "5,m,b,64,1,,7,8,0,0,4\n5,m,b,64,1,,7,8,1,0,3\n6,m,b,64,1,,9,8,0,0,-4\n6,m,b,64,1,,9,8,1,0,-3\n"

/* Of the one picture: its numbers have `values`, and its subtitle ends in `words`. */
static void expect_seeds(const char *manifest, const char *rows, const char *values, const char *words) {
  rs_plot_views views = {0};
  rs_plot_report report = {0};
  rs_err err = {0};
  put_file("manifest.json", manifest);
  put_file("a.csv", rows);
  cr_assert_eq(rs_plot_views_read(folder, false, &views, &report, &err), RS_OK, "%s", err.message);
  const char *numbers = views.items[views.count - 1].numbers, *subtitle = text_behind(numbers, "subtitle");
  cr_expect_not_null(strstr(numbers, values), "no %s: %s", values, numbers);
  cr_expect_str_eq(subtitle, words, "%s", subtitle);
  rs_plot_views_clear(&views);
  rs_plot_report_clear(&report);
}

/* What belongs to one model, or is attention of one sequence, is drawn of one seed: the first that all methods have. */
Test(plot_views, values_of_one_model__are_of_one_seed, .init = make_folder, .fini = remove_folder) {
  static const char *const parts[] = {SCORES(AT("x", "x") AT("y", "y"), "one"),
                                      SCORES(AT("x", "x") AT("y", "y"), "seen")};
  for (size_t i = 0; i < 2; i++)
    expect_seeds(parts[i], SEEDS, "\"values\": [2, -1, 4, 3]", "m · length 64 tokens · seed 7, one of 3");
  expect_seeds(SCORES(AT("x", "x") AT("y", "y"), "mass"), SEEDS, "\"values\": [10, 17, 0, 0]",
               "m · length 64 tokens · means of up to 3 rows");
}

/* Those that stand in a sequence are lines, without a band of seeds. */
Test(plot_views, lines_of_one_model__are_of_one_seed, .init = make_folder, .fini = remove_folder) {
  expect_seeds(SCORES(",{\"name\":\"x\",\"role\":\"index\"},{\"name\":\"y\",\"role\":\"index\"}", "one"), SEEDS,
               "\"y\": [4, 3]", "m · length 64 tokens · seed 7, one of 3");
}

/* A single seed goes without saying. */
Test(plot_views, values_of_one_model__of_a_single_seed__say_nothing_of_it, .init = make_folder, .fini = remove_folder) {
  expect_seeds(SCORES(AT("x", "x") AT("y", "y"), "one"),
               HEADER ",x,y,u\n0,m,a,64,1,,5,8,0,0,1\n0,m,a,64,1,,5,8,1,0,2\n", "\"values\": [1, 2]",
               "m · length 64 tokens");
}
