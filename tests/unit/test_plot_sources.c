/* test_plot_sources.c: what pictures say of their queries and keys: the manifest's phrases, for what is shown alone. */
#include "plot_depths.h"

/* The texts of a picture, one after another: a caption is broken into lines. The caller frees. */
static char *words_of(const char *name) {
  static shown texts[TEXTS];
  char *svg = picture_text(name);
  size_t count = read_texts(svg, texts, TEXTS);
  rs_text words = {0};
  for (size_t i = 0; i < count; i++) rs_text_printf(&words, "%s ", texts[i].words);
  free(svg);
  return words.data;
}

static void expect_caption(const char *name, const char *caption) {
  char *words = words_of(name);
  cr_expect_not_null(strstr(words, caption), "\"%s\" is not in \"%s\"", caption, words);
  free(words);
}

#define VALUE(reads) "{\"name\":\"share\",\"role\":\"value\",\"reads\":\"" reads "\"}"
#define READ VALUE("source")
#define SOURCE(name, kind, phrases) "{\"name\":\"" name "\",\"kind\":\"" kind "\",\"caption\":[" phrases "]}"
#define FILES(keys) "\"files\":[{\"file\":\"summary.csv\",\"columns\":[" keys "," READ "]}]}"

/* Two lengths, so that the column is a line chart. */
static void put_sources(const char *manifest, const char *const *names, size_t count) {
  rs_text rows = {0};
  rs_text_puts(&rows, HEADER ",share\n");
  for (size_t i = 0; i < count; i++)
    for (int l = 0; l < 2; l++)
      rs_text_printf(&rows, "%zu,m,rope,%d,1,\"%s\",1,8,0.%zu\n", 2 * i + (size_t)l, 1024 << l, names[i],
                     i + 1 + (size_t)l);
  put_file("manifest.json", manifest);
  put_file("summary.csv", rs_text_string(&rows));
  rs_text_clear(&rows);
}

/* clang-format off */
#define COPY "\"a copy of the query\",\"depth 0.5\""
#define ALL_SOURCES \
  SOURCE("needle", "needle", COPY) "," \
  SOURCE("gaussian", "gaussian", "") "," \
  SOURCE("needle depth=0.5", "needle", COPY) "," \
  SOURCE("needle depth=0.55", "needle", COPY) "," \
  SOURCE("a rare needle, a copy of the query", "needle", COPY) "," \
  SOURCE("mindepth=0.5", "needle", COPY) "," \
  SOURCE("far", "needle", "\"correlation 0.8 with the query\"")
/* clang-format on */

/* A phrase that the name says is not said twice: "depth=0.5" is "depth 0.5", and "depth=0.55" is not. */
Test(plot_sources, phrases__of_each_source__follow_its_name, .init = make_folder, .fini = remove_folder) {
  static const char *const cases[][3] = {
      {"needle", "needle", "needle: a copy of the query, depth 0.5 1k"},
      {"gaussian", "gaussian", "gaussian 1k"},
      {"needle depth=0.5", "needle-depth=0.5", "needle depth=0.5: a copy of the query 1k"},
      {"needle depth=0.55", "needle-depth=0.55", "needle depth=0.55: a copy of the query, depth 0.5 1k"},
      {"mindepth=0.5", "mindepth=0.5", "mindepth=0.5 (needle): a copy of the query, depth 0.5 1k"},
      {"a rare needle, a copy of the query", "a-rare-needle-a-copy-of-the-query",
       "a rare needle, a copy of the query: depth 0.5 1k"},
      {"far", "far", "far (needle): correlation 0.8 with the query 1k"},
      {"quiet", "quiet", "quiet 1k"}};
  const char *names[RS_COUNT(cases)];
  for (size_t i = 0; i < RS_COUNT(cases); i++) names[i] = cases[i][0];
  static const char manifest[] = "{\"name\":\"demo\",\"sources\":[" ALL_SOURCES "]," FILES(KEYS);
  put_sources(manifest, names, RS_COUNT(names));
  cr_assert_eq(draw_all(&(rs_plot_options){.all = true}, RS_OK, NULL), RS_COUNT(names));
  for (size_t i = 0; i < RS_COUNT(names); i++) {
    char file[100], caption[200];
    snprintf(file, sizeof file, "plots/share--%s.svg", cases[i][1]);
    snprintf(caption, sizeof caption, "demo · m · %s", cases[i][2]);
    expect_caption(file, caption);
  }
}

/* Of sources that share a picture only what holds for all of them. */
Test(plot_sources, phrases__of_a_family__are_those_of_all_its_sources, .init = make_folder, .fini = remove_folder) {
  static const char *const last[][2] = {
      {"\"in the slow half\"", "needle: a copy of the query, in the slow half · depth"},
      {"\"in all pairs\"", "needle: a copy of the query · depth"}};
  for (size_t i = 0; i < RS_COUNT(last); i++) {
    char manifest[4000];
    snprintf(manifest, sizeof manifest, "{\"name\":\"demo\",\"sources\":[%s,%s%s]}]," FILES(DEPTH_KEYS),
             SOURCE("needle depth=0.1", "needle", "\"a copy of the query\",\"in the slow half\",\"depth 0.1\""),
             "{\"name\":\"needle depth=0.9\",\"kind\":\"needle\",\"caption\":[\"depth 0.9\",\"a copy of the query\",",
             last[i][0]);
    put_file("manifest.json", manifest);
    put_file("summary.csv", DEPTHS_HEADER "0,m,rope,1024,1,needle depth=0.1,1,8,0.1,0.2\n"
                                          "1,m,rope,2048,1,needle depth=0.1,1,8,0.1,0.3\n"
                                          "2,m,rope,1024,1,needle depth=0.9,1,8,0.9,0.4\n"
                                          "3,m,rope,2048,1,needle depth=0.9,1,8,0.9,0.5\n");
    cr_assert_eq(draw_all(NULL, RS_OK, NULL), 1u);
    expect_caption("plots/share--needle--depth.svg", last[i][1]);
  }
}

/* What follows from tables alone is true of any queries and keys. */
Test(plot_sources, phrases__of_a_value_of_tables__are_left_out, .init = make_folder, .fini = remove_folder) {
  static const char *const names[] = {"needle"};
  put_sources("{\"name\":\"demo\",\"sources\":[" SOURCE("needle", "needle", COPY) "],\"files\":[{\"file\":"
                                                                                  "\"summary.csv\",\"columns\":[" KEYS
                                                                                  "," VALUE("") "]}]}",
              names, 1);
  cr_assert_eq(draw_all(&(rs_plot_options){.all = true}, RS_OK, NULL), 1u);
  expect_caption("plots/share--needle.svg", "demo · m · needle 1k");
  put_sources("{\"files\":[{\"file\":\"summary.csv\",\"columns\":[" KEYS "," VALUE("rows") "]}]}", names, 1);
  cr_assert_eq(draw_all(NULL, RS_INPUT, "reads \"rows\" is not one of source, task"), 0u);
}

/* What is read from a task is so whatever the source: the task's phrases stand there, not the source's. */
Test(plot_sources, phrases__of_a_reading_beside_sources__are_the_tasks, .init = make_folder, .fini = remove_folder) {
  static const char *const names[] = {"needle"};
  put_sources(
      "{\"name\":\"demo\",\"task\":{\"name\":\"copy\"},\"sources\":[" SOURCE("needle", "needle", COPY) "," SOURCE(
          "copy", "copy", "\"5 sequences a cell\"") "],\"files\":[{\"file\":\"summary.csv\",\"columns\":[" KEYS
                                                    "," VALUE("task") "]}]}",
      names, 1);
  cr_assert_eq(draw_all(&(rs_plot_options){.all = true}, RS_OK, NULL), 1u);
  expect_caption("plots/share--needle.svg", "demo · m · copy: 5 sequences a cell · needle 1k");
}

Test(plot_sources, faults__of_the_list__are_named, .init = make_folder, .fini = remove_folder) {
  static const char *const lists[][2] = {
      {"7", "\"sources\" must be a list"},
      {"[{}]", "sources[0]: \"name\" is missing"},
      {"[{\"name\":\"needle\"}]", "sources[0]: \"kind\" is missing"},
      {"[{\"name\":\"needle\",\"kind\":\"needle\"}]", "sources[0]: \"caption\" is missing"},
      {"[{\"name\":\"needle\",\"kind\":\"needle\",\"caption\":[\"a copy\",7]}]", "sources[0]: \"caption\" must be"}};
  static const char *const names[] = {"needle"};
  for (size_t i = 0; i < RS_COUNT(lists); i++) {
    char manifest[4000];
    snprintf(manifest, sizeof manifest, "{\"sources\":%s," FILES(KEYS), lists[i][0]);
    put_sources(manifest, names, 1);
    cr_assert_eq(draw_all(NULL, RS_INPUT, lists[i][1]), 0u);
  }
}

/* The lines are the checkpoints; what is said of one alone is not said of all, and "trained" says nothing. */
Test(plot_sources, checkpoints__read_by_one_method__are_told_together, .init = make_folder, .fini = remove_folder) {
  static const char *const readings[][2] = {{"trained", "demo · trained here, 9 steps · s"},
                                            {"pi", "demo · pi: trained here, 9 steps · s"}};
  for (size_t i = 0; i < RS_COUNT(readings); i++) {
    char rows[400];
    snprintf(rows, sizeof rows, HEADER ",share\n0,a,%s,64,,s,1,0,.1\n1,a,%s,128,,s,1,0,.2\n2,b,%s,64,,s,1,0,.3\n",
             readings[i][0], readings[i][0], readings[i][0]);
    put_file(
        "manifest.json",
        "{\"name\":\"demo\",\"sources\":[" SOURCE(
            "s", "s", "") "],\"checkpoints\":["
                          "{\"name\":\"a\",\"caption\":[\"trained here, 9 steps\",\"7 parameters\"]},"
                          "{\"name\":\"b\",\"caption\":[\"trained here, 9 steps\",\"8 parameters\"]}]," FILES(KEYS));
    put_file("summary.csv", rows);
    cr_assert_eq(draw_all(&(rs_plot_options){.all = true}, RS_OK, NULL), 1);
    expect_caption("plots/share--s.svg", readings[i][1]);
  }
}
