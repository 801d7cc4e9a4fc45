/* test_report.c: pages of results: sentences that are true, text that stays text. */
#include "pages/pages.h"
#include "report_fixture.h"

#include <zlib.h>

TestSuite(report, .init = make_folder, .fini = remove_folder);

static char *page(void) {
  return page_of((const char *const[]){folder}, 1);
}

static void expect_words(const char *text, const char *words) {
  cr_expect_not_null(strstr(text, words), "the page does not say: %s", words);
}

static void expect_no_words(const char *text, const char *words) {
  cr_expect_null(strstr(text, words), "the page says: %s", words);
}

#define METRIC(name, better)                                                                                           \
  "{\"name\":\"" name "\",\"role\":\"value\",\"unit\":\"nats\",\"axis\":\"linear\",\"better\":\"" better               \
  "\",\"summary\":\"what it is\",\"reads\":\"source\"}"

#define TWO "low_nats,high_nats,status,message"
#define TWO_COLUMNS METRIC("low_nats", "lower") "," METRIC("high_nats", "higher") "," STATUS

/* Two seeds, two lengths: at the longer one the means are rope 3 and 10, yarn 5 and 20. */
static const char rows[] = "0,m,rope,1024,1,gaussian,1,8,0.1,99,ok,\n1,m,rope,1024,1,gaussian,2,8,0.1,99,ok,\n"
                           "2,m,rope,4096,1,gaussian,1,8,2,10,ok,\n3,m,rope,4096,1,gaussian,2,8,4,10,ok,\n"
                           "4,m,yarn,4096,1,gaussian,1,8,5,20,ok,\n5,m,yarn,4096,1,gaussian,2,8,5,20,ok,\n";

Test(report, sentences__best_and_worst__by_the_side_that_is_better_at_the_longest_length) {
  put_summary(TWO_COLUMNS, TWO, rows);
  char *text = page();
  expect_words(text, "<b>rope</b>, <b>yarn</b> at 2 lengths from 1k to 4k tokens");
  expect_words(text, "values are means over up to 2 seeds");
  expect_words(text,
               "<b>low_nats</b>, gaussian (lower is better): best <b>rope</b> (3 nats), worst <b>yarn</b> (5 nats).");
  expect_words(
      text, "<b>high_nats</b>, gaussian (higher is better): best <b>yarn</b> (20 nats), worst <b>rope</b> (10 nats).");
  expect_words(text, "All 6 cells of the sweep came out.");
  expect_words(text, "<tr data-length=\"1024\" hidden>");
  expect_words(text, "<tr data-length=\"4096\">");
  expect_no_words(text, "<td>m</td>");
  free(text);
}

Test(report, sentences__no_direction__no_best) {
  put_summary(METRIC("low_nats", "") "," STATUS, "low_nats,status,message",
              "0,m,rope,4096,1,g,1,8,2,ok,\n"
              "1,m,yarn,4096,1,g,1,8,3,ok,\n");
  char *text = page();
  expect_no_words(text, "is better");
  expect_words(text, ">2</td>");
  free(text);
}

Test(report, sentences__equal_and_missing_values__are_called_so) {
  put_summary(TWO_COLUMNS, TWO,
              "0,m,rope,4096,1,g,1,8,2,1,ok,\n1,m,pi,4096,1,g,1,8,2,,ok,\n2,m,nope,4096,1,g,1,8,,,ok,\n");
  char *text = page();
  expect_words(
      text, "<b>low_nats</b>, g (lower is better): equal for all that have a value (2 nats); no value: <b>nope</b>.");
  expect_words(text,
               "<b>high_nats</b>, g (higher is better): only <b>rope</b> (1 nats); no value: <b>pi</b>, <b>nope</b>.");
  expect_words(text, "; one seed.");
  free(text);
}

Test(report, sentences__failed_cells__count_and_say_why_and_have_no_mean) {
  put_summary(TWO_COLUMNS, TWO,
              "0,m,rope,4096,1,g,1,8,2,1,ok,\n1,m,rope,4096,1,g,2,8,7,7,domain,too <long>\n"
              "2,m,yarn,4096,1,g,1,8,3,0.5,ok,\n3,m,yarn,4096,1,g,2,8,,,domain,too <long>\n");
  char *text = page();
  expect_words(text, "2 of 4 cells failed and have no value");
  expect_words(text, "<b>rope</b> at 4096 tokens (domain): too &lt;long&gt;");
  cr_expect_eq(occurrences(text, "too &lt;long&gt;"), 1u, "each message once");
  expect_words(text, "best <b>rope</b> (2 nats)");
  expect_words(text, "<b class=\"bad\">(1 failed)</b>");
  expect_no_words(text, "cells of the sweep came out");
  free(text);
}

Test(report, page__elements__are_closed) {
  static const char *const elements[] = {"table", "tbody", "tr", "td", "div", "ul", "section"};
  put_summary(TWO_COLUMNS, TWO, "0,m,rope,4096,1,g,1,8,2,1,ok,\n1,m,yarn,4096,1,g,1,8,,,domain,none\n");
  char *text = page();
  for (size_t i = 0; i < RS_COUNT(elements); i++) {
    char begin[2][16], end[16];
    snprintf(begin[0], sizeof begin[0], "<%s>", elements[i]);
    snprintf(begin[1], sizeof begin[1], "<%s ", elements[i]);
    snprintf(end, sizeof end, "</%s>", elements[i]);
    cr_expect_eq(occurrences(text, begin[0]) + occurrences(text, begin[1]), occurrences(text, end), "%s", elements[i]);
  }
  free(text);
}

Test(report, sentences__many_failures__show_three_messages) {
  put_summary(TWO_COLUMNS, TWO,
              "0,m,a,64,1,g,1,8,,,domain,first\n1,m,b,64,1,g,1,8,,,domain,second\n"
              "2,m,c,64,1,g,1,8,,,domain,third\n3,m,d,64,1,g,1,8,,,domain,fourth\n");
  char *text = page();
  expect_words(text, "4 of 4 cells failed");
  expect_words(text, "(domain): third</li>\n</ul>");
  free(text);
}

/* Where the manifest lists a file's columns in another order, none is missed. */
Test(report, sentences__failed_cells__count_where_status_is_listed_first) {
  put_summary(TWO_COLUMNS, TWO, "0,m,rope,4096,1,g,1,8,,,domain,too long\n1,m,yarn,4096,1,g,1,8,2,1,ok,\n");
  put_file("manifest.json", "{\"files\":[{\"file\":\"summary.csv\",\"columns\":[" STATUS "," KEYS
                            "," METRIC("low_nats", "lower") "]}]}");
  char *text = page();
  expect_words(text, "1 of 2 cells failed and has no value");
  free(text);
}

Test(report, sentences__all_cells_failed__no_best) {
  put_summary(TWO_COLUMNS, TWO, "0,m,rope,4096,1,g,1,8,,,memory,none left\n1,m,yarn,4096,1,g,1,8,,,ok,\n");
  char *text = page();
  expect_words(text, "1 of 2 cells failed and has no value");
  expect_no_words(text, "best ");
  free(text);
}

/* A manifest of one summary, with more members before the files. */
static void put_manifest(const char *members) {
  char text[8000];
  snprintf(text, sizeof text, "{%s,\"files\":[{\"file\":\"summary.csv\",\"columns\":[%s,%s]}]}", members, KEYS,
           TWO_COLUMNS);
  put_file("manifest.json", text);
}

Test(report, sentences__simulated_and_trained__are_told_apart) {
  put_summary(TWO_COLUMNS, TWO, rows);
  put_manifest(
      "\"name\":\"x\",\"sources\":[{\"name\":\"gaussian\",\"kind\":\"gaussian\",\"caption\":[\"depth 0.5\"]}]");
  char *text = page();
  expect_words(text, "The heads are <em>simulated</em>");
  expect_words(text, "not read from a trained model: <b>gaussian</b> (depth 0.5).");
  expect_no_words(text, "<em>trained models</em>");
  free(text);
  put_manifest("\"name\":\"x\",\"sources\":[{\"name\":\"text\",\"kind\":\"model\",\"caption\":[]}]");
  text = page();
  expect_words(text, "Queries and keys are read from a trained model: <b>text</b>.");
  expect_no_words(text, "simulated");
  free(text);
  put_manifest("\"name\":\"x\",\"task\":{\"name\":\"recall\"},\"checkpoints\":[{\"name\":\"m\",\"caption\":[]}],"
               "\"sources\":[]");
  text = page();
  expect_words(text, "What reads the text here are <em>trained models</em> (checkpoints), on the task <b>recall</b>.");
  expect_words(text, "on the checkpoints <b>m</b>");
  expect_no_words(text, "simulated");
  free(text);
}

Test(report, page__hostile_text__stays_text) {
  static const char name[] = "</script><script>alert('1')</script>";
  char members[300];
  put_summary(TWO_COLUMNS, TWO,
              "0,m,\"</td><b>\"\"&é\",4096,1,g,1,8,2,1,ok,\n1,m,\xff\x01,4096,1,g,1,8,3,2,domain,</p><img src=x>\n");
  snprintf(members, sizeof members, "\"name\":\"%s\",\"config\":\"name: <b>&\"", name);
  put_manifest(members);
  char *text = page();
  expect_no_words(text, "<script>alert");
  expect_no_words(text, "</td><b>");
  expect_no_words(text, "<img");
  expect_words(text, "&lt;/td&gt;&lt;b&gt;&quot;&amp;é");
  expect_words(text, "<title>&lt;/script&gt;&lt;script&gt;alert(&#39;1&#39;)");
  expect_words(text, "name: &lt;b&gt;&amp;");
  cr_expect_eq(occurrences(text, "<script"), occurrences(text, "</script>"));
  free(text);
}

/* ---- what is packed ---------------------------------------------------------------------------------------------- */

static size_t decode(const char *text, size_t length, unsigned char *out) {
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  size_t count = 0;
  unsigned bits = 0, held = 0;
  cr_assert_eq(length % 4, 0u);
  for (size_t i = 0; i < length && text[i] != '='; i++) {
    const char *found = strchr(letters, text[i]);
    cr_assert_not_null(found, "%c", text[i]);
    bits = bits << 6 | (unsigned)(found - letters);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    out[count++] = (unsigned char)(bits >> held);
  }
  return count;
}

/* What the script of this id unpacks to, with a NUL behind it; the caller frees. */
static char *unpacked(const char *text, const char *id) {
  char begin[64];
  snprintf(begin, sizeof begin, "id=\"%s\">", id);
  const char *start = strstr(text, begin);
  cr_assert_not_null(start, "no %s", id);
  start += strlen(begin);
  size_t length = (size_t)(strstr(start, "</script>") - start), room = 1 << 20;
  unsigned char *packed = malloc(length);
  char *out = calloc(room, 1);
  z_stream stream = {.next_in = packed, .next_out = (unsigned char *)out, .avail_out = (unsigned)room - 1};
  stream.avail_in = (unsigned)decode(start, length, packed);
  cr_assert_eq(inflateInit2(&stream, 16 + MAX_WBITS), Z_OK);
  cr_assert_eq(inflate(&stream, Z_FINISH), Z_STREAM_END);
  inflateEnd(&stream);
  free(packed);
  return out;
}

Test(report, page__csv_of_any_length__unpacks_to_its_bytes) {
  char message[8] = "";
  for (size_t i = 0; i < 6; i++) { /* all the ends that base64 has */
    char line[400];
    memset(message, 'x', i);
    snprintf(line, sizeof line, "0,m,rope,4096,1,g,1,8,2,1,ok,%s\n", message);
    put_summary(TWO_COLUMNS, TWO, line);
    char *text = page(), *summary = picture_text("summary.csv"), *found = unpacked(text, "csv-0-0");
    cr_expect_str_eq(found, summary);
    free(text), free(summary), free(found);
  }
}

Test(report, page__charts__hold_what_the_pictures_show) {
  rs_text text = {0};
  rs_plot_report notes = {0};
  put_summary(ENTROPY "," STATUS, "entropy_nats,status,message", ROWS);
  cr_assert_eq(rs_report_write((const char *const[]){folder}, 1, false, &text, &notes, NULL), RS_OK);
  cr_expect_eq(strstr(text.data, "\"charts\": true") != NULL, rs_page_has_charts());
  cr_expect_eq(strstr(text.data, "<svg") == NULL, rs_page_has_charts());
  if (rs_page_has_charts()) {
    rs_tree *tree = NULL;
    char *views = unpacked(text.data, "views-0-0");
    cr_assert_eq(rs_json_read(views, strlen(views), "views", &tree, NULL), RS_OK, "%s", views);
    cr_assert_eq(tree->root.count, 1u);
    cr_expect_str_eq(rs_node_get(&tree->root.items[0], "column")->text, "entropy_nats");
    expect_words(text.data, "Permission is hereby granted"); /* the terms of the library */
    rs_tree_free(tree);
    free(views);
  }
  rs_text_clear(&text);
  rs_plot_report_clear(&notes);
}

Test(report, page__several_folders__have_names_that_differ) {
  char *a = rs_path_join(folder, "a", NULL), *b = rs_path_join(folder, "b/a", NULL);
  put_summary(TWO_COLUMNS, TWO, rows);
  char *manifest = picture_text("manifest.json"), *summary = picture_text("summary.csv");
  cr_assert(rs_make_directories(a, NULL) == RS_OK && rs_make_directories(b, NULL) == RS_OK);
  put_file("a/manifest.json", manifest);
  put_file("a/summary.csv", summary);
  put_file("b/a/manifest.json", manifest);
  put_file("b/a/summary.csv", summary);
  char *text = page_of((const char *const[]){a, b}, 2), line[5000];
  snprintf(line, sizeof line, "<h3>%s</h3>", b);
  expect_words(text, line);
  snprintf(line, sizeof line, "<td>%s</td>", a);
  expect_words(text, line);
  expect_words(text, "<td>m</td>"); /* the model, in which folders may differ */
  snprintf(line, sizeof line, "<li>%s/summary.csv <span", b);
  expect_words(text, line);
  free(text), free(manifest), free(summary), free(a), free(b);
}

static void expect_failure(rs_status wanted, const char *words) {
  rs_text text = {0};
  rs_plot_report notes = {0};
  rs_err err = {0};
  rs_status status = rs_report_write((const char *const[]){folder}, 1, true, &text, &notes, &err);
  cr_expect_eq(status, wanted, "%s: %s", rs_status_name(status), err.message);
  cr_expect_not_null(strstr(err.message, words), "\"%s\" is not in \"%s\"", words, err.message);
  rs_text_clear(&text);
  rs_plot_report_clear(&notes);
}

Test(report, page__folder_without_what_it_promises__names_it) {
  expect_failure(RS_IO, "manifest.json");
  put_summary(TWO_COLUMNS, TWO, rows);
  put_file("summary.csv", HEADER ",low_nats,status,message\n0,m,rope,4096,1,g,1,8,2,ok,\n");
  expect_failure(RS_INPUT, "high_nats");
  put_file("summary.csv", HEADER "," TWO "\n0,m,rope,4096,1,g,1,8,two,1,ok,\n");
  expect_failure(RS_INPUT, "two");
  put_file("manifest.json", "{\"files\": [");
  expect_failure(RS_INPUT, "manifest.json");
}

Test(report, page__no_summary__says_so) {
  put_file("manifest.json", "{\"name\":\"x\",\"files\":[]}");
  char *text = page();
  expect_words(text, "There is no summary of this folder.");
  free(text);
}

Test(report, views__every_length_and_their_numbers) {
  rs_plot_views views = {0};
  rs_plot_report notes = {0};
  put_summary(ENTROPY "," STATUS, "entropy_nats,status,message", ROWS);
  cr_assert_eq(rs_plot_views_read(folder, false, &views, &notes, NULL), RS_OK);
  cr_assert_eq(views.count, 1u);
  rs_tree *tree = NULL;
  const char *json = views.items[0].numbers;
  cr_assert_eq(rs_json_read(json, strlen(json), "view", &tree, NULL), RS_OK, "%s", json);
  const rs_node *lines = rs_node_get(&tree->root, "lines"), *rope = &lines->items[0];
  cr_expect_str_eq(rs_node_get(rope, "name")->text, "rope");
  cr_expect_str_eq(rs_node_get(rope, "x")->items[1].text, "4096");
  cr_expect_str_eq(rs_node_get(rope, "y")->items[1].text, "6.5");
  cr_expect_str_eq(rs_node_get(&lines->items[1], "name")->text, "a<b>&");
  rs_tree_free(tree);
  rs_plot_views_clear(&views);
  rs_plot_report_clear(&notes);
}

/* Those of one length say which, whatever it is. */
Test(report, views__of_one_length__name_it) {
  static const char *const lengths[] = {"1", "64"};
  rs_plot_views views = {0};
  rs_plot_report notes = {0};
  put_file("manifest.json", "{\"files\":[{\"file\":\"decay.csv\",\"columns\":[" KEYS
                            ",{\"name\":\"distance_tokens\",\"role\":\"index\",\"unit\":\"tokens\"},"
                            "{\"name\":\"score\",\"role\":\"value\"}]}]}");
  put_file("decay.csv", HEADER ",distance_tokens,score\n0,m,rope,1,1,,,8,0,1\n1,m,rope,64,1,,,8,0,1\n"
                               "1,m,rope,64,1,,,8,1,0.5\n");
  cr_assert_eq(rs_plot_views_read(folder, false, &views, &notes, NULL), RS_OK);
  cr_assert_eq(views.count, RS_COUNT(lengths));
  for (size_t i = 0; i < views.count; i++) {
    rs_tree *tree = NULL;
    const char *json = views.items[i].numbers;
    cr_assert_eq(rs_json_read(json, strlen(json), "view", &tree, NULL), RS_OK, "%s", json);
    cr_expect_str_eq(rs_node_get(&tree->root, "length")->text, lengths[i]);
    rs_tree_free(tree);
  }
  rs_plot_views_clear(&views);
  rs_plot_report_clear(&notes);
}
