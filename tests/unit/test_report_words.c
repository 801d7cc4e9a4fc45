/* test_report_words.c: what the page of a folder says where there is much, little, or nothing to say. */
#include "report_fixture.h"

TestSuite(report_words, .init = make_folder, .fini = remove_folder);

#define LOSS                                                                                                           \
  "{\"name\":\"loss\",\"role\":\"value\",\"unit\":\"1\",\"axis\":\"linear\",\"better\":\"lower\",\"summary\":\"what "  \
  "it is\"%s}"

#define READS ",\"reads\":\"source\""

/* A folder whose only metric reads `reads` ("": tables alone), with more members of its manifest. */
static void put_results(const char *members, const char *reads, const char *rows) {
  char columns[1000], text[9000];
  snprintf(columns, sizeof columns, LOSS "," STATUS, reads);
  put_summary(columns, "loss,status,message", rows);
  snprintf(text, sizeof text,
           "{%s\"files\":[{\"file\":\"other.csv\",\"columns\":[]},{\"file\":\"summary.csv\",\"columns\":[%s,%s]}]}",
           members, KEYS, columns);
  put_file("manifest.json", text);
}

/* What the page says of one folder, and what not. */
static void expect_page(const char *const *words, const char *silent) {
  char *text = page_of((const char *const[]){folder}, 1);
  for (; *words != NULL; words++) cr_expect_not_null(strstr(text, *words), "the page does not say: %s", *words);
  if (silent != NULL) cr_expect_null(strstr(text, silent), "the page says: %s", silent);
  free(text);
}

#define SOURCES "\"sources\":[{\"name\":\"g\",\"kind\":\"gaussian\",\"caption\":[]}],"

Test(report_words, lengths__in_the_largest_unit_that_is_whole) {
  static const struct {
    const char *least, *most, *words;
  } cases[] = {{"1024", "1048576", " from 1k to 1M tokens"},      {"1000", "1572864", " from 1000 to 1.5M tokens"},
               {"1025", "3145728", " from 1025 to 3M tokens"},    {"1", "1023", " from 1 to 1023 tokens"},
               {"512", "1048577", " from 512 to 1048577 tokens"}, {"2048", "2048", "</b> at 2k tokens"}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char rows[200];
    snprintf(rows, sizeof rows, "0,m,rope,%s,1,g,1,8,1,ok,\n1,m,rope,%s,1,g,2,8,2,ok,\n", cases[i].least,
             cases[i].most);
    put_results(SOURCES, READS, rows);
    expect_page((const char *const[]){cases[i].words, NULL}, NULL);
  }
}

/* Eight names and how many more; three messages and how many more. */
Test(report_words, long_lists__are_cut) {
  rs_text rows = {0};
  for (int i = 0; i < 10; i++) rs_text_printf(&rows, "%d,m,method_%d,64,1,g,1,8,%d,ok,\n", i, i, i);
  put_results(SOURCES, READS, rows.data);
  expect_page((const char *const[]){"these methods do: <b>method_0</b>, ", "<b>method_7</b> and 2 more at 64 tokens",
                                    "best <b>method_0</b> (0), worst <b>method_9</b> (9)", NULL},
              "<b>method_7</b>, <b>method_8</b>");
  rs_text_clear(&rows);
}

/* A sweep of which no cell is there yet. */
Test(report_words, no_rows__no_words) {
  put_results(SOURCES, READS, "");
  expect_page((const char *const[]){"<p>There is no summary of this folder.</p>", NULL}, "Asked:");
}

/* Of several models the best is named with its model; of tables alone one source stands for all. */
Test(report_words, several_models__are_named) {
  put_results(SOURCES, READS,
              "0,m,rope,64,1,g,1,8,1,ok,\n1,m,pi,64,1,g,1,8,2,ok,\n"
              "2,n,rope,64,1,g,1,8,5,ok,\n3,n,pi,64,1,g,1,8,4,ok,\n");
  expect_page((const char *const[]){"on the geometry of <b>m</b>, <b>n</b>",
                                    "<b>loss</b>, m, g (lower is better): best <b>rope</b> (1), worst <b>pi</b> (2).",
                                    "<b>loss</b>, n, g (lower is better): best <b>pi</b> (4), worst <b>rope</b> (5).",
                                    NULL},
              NULL);
  put_results(SOURCES, "",
              "0,m,rope,64,1,g,1,8,1,ok,\n1,m,pi,64,1,g,1,8,2,ok,\n"
              "2,m,rope,64,1,h,1,8,1,ok,\n3,m,pi,64,1,h,1,8,2,ok,\n");
  char *text = page_of((const char *const[]){folder}, 1);
  cr_expect_eq(occurrences(text, "<b>loss</b> (lower is better): best <b>rope</b> (1), worst <b>pi</b> (2)."), 1u);
  free(text);
}

#define ONE "0,m,rope,64,1,g,1,8,1,ok,\n1,m,pi,64,1,g,1,8,2,ok,\n"

Test(report_words, config__is_quoted_where_it_says_something) {
  static const struct {
    const char *config, *words, *silent;
  } cases[] = {
      {"description: what <pi> does\\nmodel:\\n  - {name: m, train_length: 4096}\\n",
       "<p>what &lt;pi&gt; does Asked: what these methods do:", NULL},
      {"model:\\n  - {name: m, train_length: 4096}\\n", "<b>m</b>, whose trained length is 4k tokens", NULL},
      {"model:\\n  - {name: m, train_length: unknown}\\n", "on the geometry of <b>m</b>; one seed", "whose trained"},
      {"model:\\n  - {name: m}\\n  - {name: n, train_length: 4096}\\n", "on the geometry of <b>m</b>; one seed",
       "whose trained"},
      {"model: m\\n", "on the geometry of <b>m</b>; one seed", "whose trained"},
      {"[m]\\n", "on the geometry of <b>m</b>; one seed", "whose trained"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char members[300];
    snprintf(members, sizeof members, "\"config\":\"%s\"," SOURCES, cases[i].config);
    put_results(members, READS, ONE);
    expect_page((const char *const[]){cases[i].words, NULL}, cases[i].silent);
  }
}

Test(report_words, checkpoints_and_captions) {
  put_results("\"checkpoints\":[{\"name\":\"m\",\"caption\":[]}],", READS, ONE);
  expect_page((const char *const[]){"<em>trained models</em> (checkpoints). </p>", "on the checkpoints <b>m</b>", NULL},
              "on the task");
  put_results("\"sources\":[{\"name\":\"g\",\"kind\":\"gaussian\",\"caption\":[\"a\",\"<b>\"]}],", READS, ONE);
  expect_page((const char *const[]){"<b>g</b> (a, &lt;b&gt;)", NULL}, NULL);
}

/* The page is refused; its words are written before that is found. */
Test(report_words, captions_that_are_no_strings__are_refused) {
  static const char *const wrong[] = {"{}", "[1]", "null", "3"};
  for (size_t i = 0; i < RS_COUNT(wrong); i++) {
    char members[200];
    rs_text page = {0};
    rs_plot_report notes = {0};
    rs_err err = {0};
    snprintf(members, sizeof members, "\"sources\":[{\"name\":\"g\",\"kind\":\"gaussian\",\"caption\":[%s]}],",
             wrong[i]);
    put_results(members, READS, ONE);
    cr_expect_eq(rs_report_write((const char *const[]){folder}, 1, true, &page, &notes, &err), RS_INPUT, "%s",
                 wrong[i]);
    cr_expect_not_null(strstr(err.message, "\"caption\" must be a list of strings"), "%s: %s", wrong[i], err.message);
    rs_plot_report_clear(&notes);
    rs_text_clear(&page);
  }
}

Test(report_words, one_cell_and_failed_ones) {
  put_results(SOURCES, READS, "0,m,rope,64,1,g,1,8,1,ok,\n");
  expect_page((const char *const[]){"<p>The 1 cell of the sweep came out.</p>", "what this method does:", NULL}, NULL);
  put_results(SOURCES, READS,
              "0,m,rope,64,1,g,1,8,,domain,a\n1,m,pi,64,1,g,1,8,,domain,b\n"
              "2,m,nope,64,1,g,1,8,,domain,c\n3,m,yarn,64,1,g,1,8,,domain,d\n"
              "4,m,abf,64,1,g,1,8,2,ok,d\n");
  expect_page(
      (const char *const[]){"4 of 5 cells failed and have no value", "<b>rope</b> at 64 tokens (domain): a", NULL},
      "<b>yarn</b> at 64 tokens (domain): d");
}

/* Three folders are in the title, and how many more. */
Test(report_words, many_folders__three_are_in_the_title) {
  char *folders[5];
  put_results("\"name\":\"first\",", READS, ONE);
  char *manifest = picture_text("manifest.json"), *summary = picture_text("summary.csv");
  for (size_t i = 0; i < 5; i++) {
    char name[32];
    snprintf(name, sizeof name, "f%zu", i);
    folders[i] = rs_path_join(folder, name, NULL);
    cr_assert_eq(rs_make_directories(folders[i], NULL), RS_OK);
    snprintf(name, sizeof name, "f%zu/manifest.json", i);
    put_file(name, manifest);
    snprintf(name, sizeof name, "f%zu/summary.csv", i);
    put_file(name, summary);
  }
  for (size_t count = 2; count <= 5; count++) {
    char *text = page_of((const char *const *)folders, count);
    static const char *const titles[] = {"<h1>first, first</h1>", "<h1>first, first, first</h1>",
                                         "<h1>first, first, first and 1 more</h1>",
                                         "<h1>first, first, first and 2 more</h1>"};
    cr_expect_not_null(strstr(text, titles[count - 2]), "no %s", titles[count - 2]);
    free(text);
  }
  for (size_t i = 0; i < 5; i++) free(folders[i]);
  free(manifest), free(summary);
}
