/* test_plot.c: whole folders of results by the files and messages they give. */
#include "plot_svg.h"

#include <locale.h>

Test(plot, results__a_summary__becomes_a_whole_svg, .init = make_folder, .fini = remove_folder) {
  put_summary(ENTROPY "," STATUS, "entropy_nats,status,message", ROWS);
  cr_assert_eq(draw_all(NULL, RS_OK, NULL), 1u);
  char *svg = picture_text("plots/entropy_nats--gaussian.svg");
  static const char *const parts[] = {"<svg ",          "viewBox=\"0 0 ",  "<title>Entropy</title>",
                                      "sans-serif",     "a&lt;b&gt;&amp;", "mean &lt;entropy&gt;",
                                      "entropy (nats)", "</svg>\n",        "length (tokens, 1k = 1024)"};
  for (size_t i = 0; i < RS_COUNT(parts); i++) cr_assert_not_null(strstr(svg, parts[i]), "no %s", parts[i]);
  cr_assert_null(strstr(svg, "nan"));
  cr_assert_null(strstr(svg, "inf"));
  cr_assert_eq(occurrences(svg, "<text"), occurrences(svg, "</text>"));
  free(svg);
}

Test(plot, results__seeds_and_errors__become_a_band, .init = make_folder, .fini = remove_folder) {
  const char *se = ENTROPY ",{\"name\":\"entropy_nats_se\",\"role\":\"error\",\"unit\":\"nats\"}," STATUS;
  static const char *const rows[] = {
      "0,m,rope,1024,1,g,1,8,5,1,ok,\n1,m,rope,4096,1,g,1,8,6,1,ok,\n",
      "0,m,rope,1024,1,g,1,8,5,,ok,\n1,m,rope,1024,1,g,2,8,6,,ok,\n2,m,rope,4096,1,g,1,8,6,,ok,\n",
      "0,m,rope,1024,1,g,1,8,5,,ok,\n1,m,rope,4096,1,g,1,8,6,,ok,\n"};
  static const char *const words[] = {"\u00b1 1 standard error", "mean, min\u2013max of 2 seeds", NULL};
  for (size_t i = 0; i < RS_COUNT(rows); i++) {
    put_summary(se, "entropy_nats,entropy_nats_se,status,message", rows[i]);
    cr_assert_eq(draw_all(NULL, RS_OK, NULL), 1u);
    char *svg = picture_text("plots/entropy_nats--g.svg");
    cr_assert_eq(occurrences(svg, "fill-opacity"), words[i] != NULL ? 1u : 0u);
    if (words[i] != NULL) cr_assert_not_null(strstr(svg, words[i]), "no %s", words[i]);
    free(svg);
  }
}

/* The band is as wide above the line as below it, and a line of its own stands at the tick of zero. */
Test(plot, results__of_both_signs__a_band_about_its_line_and_a_line_at_zero, .init = make_folder,
     .fini = remove_folder) {
  const char *se = ENTROPY ",{\"name\":\"entropy_nats_se\",\"role\":\"error\",\"unit\":\"nats\"}," STATUS;
  put_summary(se, "entropy_nats,entropy_nats_se,status,message",
              "0,m,rope,1024,1,g,1,8,-5,1,ok,\n1,m,rope,4096,1,g,1,8,6,1,ok,\n");
  cr_assert_eq(draw_all(NULL, RS_OK, NULL), 1u);
  char *svg = picture_text("plots/entropy_nats--g.svg");
  double line[2], high[2], low[2], zero;
  const char *band = strstr(svg, "fill-opacity"), *drawn = strstr(band, "stroke-width=\"1.8\"");
  cr_assert_eq(
      sscanf(strstr(band, "d=\""), "d=\"M%*f %lfL%*f %lfL%*f %lfL%*f %lfZ", &high[0], &high[1], &low[1], &low[0]), 4);
  cr_assert_eq(sscanf(strstr(drawn, "d=\""), "d=\"M%*f %lfL%*f %lf", &line[0], &line[1]), 2);
  for (int i = 0; i < 2; i++) {
    cr_expect_lt(high[i] + 10, line[i], "end %d", i);
    cr_expect_float_eq(line[i] - high[i], low[i] - line[i], 0.02, "end %d", i);
  }
  cr_assert_eq(sscanf(strstr(svg, "#b3b3b3"), "#b3b3b3\" stroke-width=\"1\" d=\"M%*f %lf", &zero), 1);
  cr_expect_float_eq(zero, find_text(svg, "0", 0).y - 5, 1);
  free(svg);
}

Test(plot, results__same_for_all_sources__is_one_chart, .init = make_folder, .fini = remove_folder) {
  const char *columns =
      ENTROPY ",{\"name\":\"pairs\",\"role\":\"value\"},{\"name\":\"none\",\"role\":\"value\"}," STATUS;
  put_summary(columns, "entropy_nats,pairs,none,status,message",
              "0,m,rope,1024,1,a,1,8,5,7,,ok,\n1,m,rope,1024,1,b,1,8,6,7,,ok,\n2,m,rope,2048,1,a,1,8,5,8,,ok,\n"
              "3,m,rope,2048,1,b,1,8,,,,domain,\n");
  cr_assert_eq(draw_all(&(rs_plot_options){.all = true}, RS_OK, NULL), 3u);
  cr_assert(exists("plots/entropy_nats--a.svg") && exists("plots/entropy_nats--b.svg") && exists("plots/pairs.svg"));
  cr_assert_not(exists("plots/none.svg"), "an empty column is left out");
}

/* rope's cell, which is next, has the scale of the one before it: that says nothing of yarn's. */
Test(plot, results__cells_alike_but_for_scale_or_heads__keep_apart, .init = make_folder, .fini = remove_folder) {
  put_summary(ENTROPY "," STATUS, "entropy_nats,status,message",
              "0,m,yarn,1024,2,g,1,8,5,ok,\n1,m,yarn,1024,4,g,1,8,6,ok,\n2,m,rope,1024,4,g,1,8,4,ok,\n"
              "3,m,alibi,1024,1,g,1,0,4,ok,\n4,m,alibi,1024,1,g,1,1,5,ok,\n");
  cr_assert_eq(draw_all(NULL, RS_OK, NULL), 1u);
  char *svg = picture_text("plots/entropy_nats--g.svg");
  static const char *const parts[] = {">yarn scale=2<", ">yarn scale=4<", ">rope<", ">alibi heads=0<",
                                      ">alibi heads=1<"};
  for (size_t i = 0; i < RS_COUNT(parts); i++) cr_assert_not_null(strstr(svg, parts[i]), "no %s", parts[i]);
  free(svg);
  rs_plot_report report;
  put_summary(ENTROPY "," STATUS, "entropy_nats,status,message",
              "0,m,yarn,1024,2,g,1,8,5,ok,\n1,m,yarn,1024,2,g,1,8,6,ok,\n");
  draw(NULL, &report, RS_OK, NULL);
  cr_assert_eq(report.note_count, 1u);
  cr_assert_not_null(strstr(report.notes[0], "summary.csv:3: has the keys of line 2"), "%s", report.notes[0]);
  rs_plot_report_clear(&report);
}

/* Of cells with the same keys one has no scale to be told by. */
Test(plot, results__twins_without_a_value__keep_their_name, .init = make_folder, .fini = remove_folder) {
  put_summary(ENTROPY "," STATUS, "entropy_nats,status,message",
              "0,m,yarn,1024,,g,1,8,5,ok,\n1,m,yarn,1024,4,g,1,8,6,ok,\n");
  cr_assert_eq(draw_all(NULL, RS_OK, NULL), 1u);
  char *svg = picture_text("plots/entropy_nats--g.svg");
  cr_expect(strstr(svg, ">yarn<") != NULL && strstr(svg, ">yarn scale=4<") != NULL);
  free(svg);
}

#define CURVES                                                                                                         \
  "{\"files\":[{\"file\":\"decay.csv\",\"columns\":[" KEYS                                                             \
  ",{\"name\":\"distance_tokens\",\"role\":\"index\",\"unit\":\"tokens\",\"axis\":\"log\"},"                           \
  "{\"name\":\"score\",\"role\":\"value\"}]}]}"

Test(plot, results__curves__are_drawn_at_one_length, .init = make_folder, .fini = remove_folder) {
  put_file("manifest.json", CURVES);
  put_file("decay.csv", HEADER ",distance_tokens,score\n0,m,rope,1024,1,,,8,0,1\n0,m,rope,1024,1,,,8,1,0.5\n"
                               "1,m,rope,4096,1,,,8,0,1\n1,m,rope,4096,1,,,8,8,0.25\n1,m,rope,4096,1,,,8,9,\n");
  cr_assert_eq(draw_all(NULL, RS_OK, NULL), 1u);
  cr_assert(exists("plots/decay--score--4k.svg"), "the longest");
  cr_assert_eq(draw_all(&(rs_plot_options){.length = 1024}, RS_OK, NULL), 1u);
  cr_assert(exists("plots/decay--score--1k.svg"));
  cr_assert_eq(draw_all(&(rs_plot_options){.length = 7}, RS_INPUT, "no curve at 7 tokens (there are at 1024, 4096)"),
               0u);
}

/* A source without values says nothing against the others, however many rows it has. */
Test(plot, results__a_curve_without_values__is_none_of_its_own, .init = make_folder, .fini = remove_folder) {
  put_file("manifest.json", CURVES);
  put_file("decay.csv", HEADER ",distance_tokens,score\n0,m,pi,4096,1,a,,8,0,1\n0,m,pi,4096,1,a,,8,1,0.5\n"
                               "1,m,pi,4096,1,b,,8,0,1\n1,m,pi,4096,1,b,,8,1,0.5\n2,m,rope,4096,1,a,,8,0,1\n"
                               "2,m,rope,4096,1,a,,8,1,0.25\n3,m,rope,4096,1,b,,8,0,\n");
  cr_assert_eq(draw_all(NULL, RS_OK, NULL), 1u);
  cr_assert(exists("plots/decay--score--4k.svg"));
}

/* The line on which a row begins, whatever line ends its fields hold. */
Test(plot, results__faults_of_a_row__name_its_first_line, .init = make_folder, .fini = remove_folder) {
  put_summary(ENTROPY "," STATUS, "entropy_nats,status,message", ROWS);
  put_file("summary.csv", "message," HEADER ",entropy_nats,status\n\"a\nb\",0,m,rope,1024,1,g,1,8,5,ok\n"
                          "\"c\nd\",1,m,rope,4096,1,g,1,8,five,ok\n");
  draw_all(NULL, RS_INPUT, "summary.csv:4: entropy_nats = \"five\"");
}

/* Lengths of the first file of curves, each once, as many as a line holds; another file's are no others. */
Test(plot, results__a_length_that_no_curve_has__is_refused_with_those_there_are, .init = make_folder,
     .fini = remove_folder) {
  enum { CELLS = 200 };
#define CURVE(file)                                                                                                    \
  "{\"file\":\"" file "\",\"columns\":[" KEYS                                                                          \
  ",{\"name\":\"distance_tokens\",\"role\":\"index\"},{\"name\":\"score\",\"role\":\"value\"}]}"
  rs_text rows = {0};
  rs_err err = {0};
  rs_plot_report report = {0};
  put_file("manifest.json", "{\"files\":[" CURVE("a.csv") "," CURVE("b.csv") "]}");
  rs_text_puts(&rows, HEADER ",distance_tokens,score\n");
  for (int i = 0; i < CELLS; i++) rs_text_printf(&rows, "%d,m,m%d,%d,1,,,8,0,1\n", i, i % 2, 1000 + i / 2);
  put_file("a.csv", rs_text_string(&rows));
  put_file("b.csv", HEADER ",distance_tokens,score\n0,m,rope,5,1,,,8,0,1\n");
  cr_assert_eq(rs_plot_results(folder, &(rs_plot_options){.length = 7}, &report, &err), RS_INPUT);
  cr_expect_not_null(strstr(err.message, "(there are at 1000, 1001, 1002, "), "%s", err.message);
  cr_expect(strstr(err.message, "1049, 1050") != NULL && strstr(err.message, "1051") == NULL, "%s", err.message);
  cr_expect_null(strstr(err.message, " 5"));
  cr_expect_str_eq(err.subject, "length");
  rs_plot_report_clear(&report);
  cr_assert_eq(draw_all(&(rs_plot_options){.length = 5, .all = true}, RS_OK, NULL), 1u);
  rs_text_clear(&rows);
}

/* Curves of two sources are one where they agree at each place that both have: by value, by place, and by number. */
Test(plot, results__curves_of_sources_that_agree__are_one, .init = make_folder, .fini = remove_folder) {
#define FIRST "0,m,rope,64,1,a,1,8,0,1\n0,m,rope,64,1,a,1,8,1,0.5\n0,m,rope,64,1,a,1,8,2,0.25\n"
  static const struct {
    const char *second;
    bool one;
  } cases[] = {
      {"1,m,rope,64,1,b,1,8,0,1\n1,m,rope,64,1,b,1,8,1,0.5\n1,m,rope,64,1,b,1,8,2,0.25\n", true},
      {"1,m,rope,64,1,b,1,8,0,1\n1,m,rope,64,1,b,1,8,1,\n1,m,rope,64,1,b,1,8,2,0.25\n", true},
      {"1,m,rope,64,1,b,1,8,0,1\n1,m,rope,64,1,b,1,8,1,0.5\n1,m,rope,64,1,b,1,8,2,0.125\n", false},
      {"1,m,rope,64,1,b,1,8,0,1\n1,m,rope,64,1,b,1,8,1,0.5\n1,m,rope,64,1,b,1,8,3,0.25\n", false},
      {"1,m,rope,64,1,b,1,8,0,1\n1,m,rope,64,1,b,1,8,1,0.5\n", false},
      {"1,m,rope,64,1,b,1,8,0,\n1,m,rope,64,1,b,1,8,1,\n", false}}; /* nothing speaks for it, and b has no picture */
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char rows[600];
    nftw(path_in("plots"), remove_one, 16, FTW_DEPTH | FTW_PHYS);
    put_file("manifest.json", CURVES);
    snprintf(rows, sizeof rows, HEADER ",distance_tokens,score\n" FIRST "%s", cases[i].second);
    put_file("decay.csv", rows);
    size_t wanted = cases[i].one || i + 1 == RS_COUNT(cases) ? 1 : 2;
    cr_assert_eq(draw_all(&(rs_plot_options){.all = true}, RS_OK, NULL), wanted, "case %zu", i);
    cr_expect_eq(exists("plots/decay--score--64.svg"), cases[i].one, "case %zu", i);
    cr_expect_eq(exists("plots/decay--score--a--64.svg"), !cases[i].one, "case %zu", i);
  }
}

Test(plot, results__faults_of_the_folder__are_named, .init = make_folder, .fini = remove_folder) {
  static const char *const manifests[][2] = {
      {"{", "manifest.json"},
      {"{}", "manifest.json: \"files\" is missing"},
      {"{\"files\":7}", "manifest.json: \"files\" must be a list"},
      {"{\"files\":[{}]}", "files[0]: \"file\" is missing"},
      {"{\"files\":[{\"file\":\"summary.csv\"}]}", "files[0]: \"columns\" is missing"},
      {"{\"files\":[{\"file\":\"summary.csv\",\"columns\":[{}]}]}",
       "files[0].columns[0] (of summary.csv): \"name\" is"},
      {"{\"files\":[{\"file\":\"summary.csv\",\"columns\":[{\"name\":\"a\",\"role\":\"valu\"}]}]}", "role \"valu\""},
      {"{\"files\":[{\"file\":\"summary.csv\",\"columns\":[{\"name\":\"a\",\"role\":\"value\",\"axis\":\"x\"}]}]}",
       "axis"},
      {"{\"files\":[{\"file\":\"summary.csv\",\"columns\":[{\"name\":\"b\",\"role\":\"value\"}]}]}",
       "summary.csv:1: there is no column \"b\""},
      {"{\"files\":[{\"file\":\"summary.csv\",\"columns\":[{\"name\":\"a\",\"role\":\"value\"}]}]}",
       "summary.csv: manifest.json lists no key column \"cell\""},
      {"{\"files\":[{\"file\":7}]}", "files[0]: \"file\" must be a string"},
      {"{\"files\":[{\"file\":[\"summary.csv\"]}]}", "files[0]: \"file\" must be a string"},
      {"{\"sources\":[{\"name\":\"g\",\"kind\":\"g\",\"caption\":[7]}],\"files\":[]}",
       "sources[0]: \"caption\" must be a list of strings"},
      {"{\"sources\":[{\"name\":\"g\",\"kind\":\"g\",\"caption\":[[\"x\"]]}],\"files\":[]}",
       "sources[0]: \"caption\" must be a list of strings"},
      {"{\"files\":[]}", "nothing to draw"}};
  put_file("summary.csv", "a\n1\n");
  for (size_t i = 0; i < RS_COUNT(manifests); i++) {
    put_file("manifest.json", manifests[i][0]);
    cr_assert_eq(draw_all(NULL, RS_INPUT, manifests[i][1]), 0u);
  }
  put_file("manifest.json", CURVES);
  draw_all(NULL, RS_IO, "decay.csv");
  static const char *const rows[][2] = {
      {"0,m,rope,1024,1,g,1,8,5.5.5,ok,\n", "summary.csv:2: entropy_nats = \"5.5.5\""},
      {"0,m,\"x\ny\",1,1,g,1,8,1,ok,\n1,m,r,zero,1,g,1,8,1,ok,\n", "summary.csv:4: length"},
      {"0,m,rope,1024\n", "summary.csv:2"},
      {"0,m,rope,1024,1,g,1,8,1e301,ok,\n1,m,rope,2048,1,g,1,8,-1e301,ok,\n", "nothing to draw"},
      {"0,m,rope,1024,1,g,1,8,,domain,x\n", "nothing to draw"}};
  for (size_t i = 0; i < RS_COUNT(rows); i++) {
    put_summary(ENTROPY "," STATUS, "entropy_nats,status,message", rows[i][0]);
    cr_assert_eq(draw_all(NULL, RS_INPUT, rows[i][1]), 0u);
  }
  cr_assert_not(exists("plots"), "nothing was written");
}

Test(plot, results__plots_cannot_be_made__is_an_io_error, .init = make_folder, .fini = remove_folder) {
  put_summary(ENTROPY "," STATUS, "entropy_nats,status,message", ROWS);
  put_file("plots", "in the way");
  cr_assert_eq(draw_all(NULL, RS_IO, "plots"), 0u);
}

Test(plot, results__in_a_locale_with_a_comma__are_the_same_bytes, .init = make_folder, .fini = remove_folder) {
  put_summary(ENTROPY "," STATUS, "entropy_nats,status,message", ROWS);
  draw_all(NULL, RS_OK, NULL);
  char *before = picture_text("plots/entropy_nats--gaussian.svg");
  bool entered = setlocale(LC_ALL, "de_DE.UTF-8") != NULL || setlocale(LC_ALL, "de_DE.utf8") != NULL;
  draw_all(NULL, RS_OK, NULL);
  char *after = picture_text("plots/entropy_nats--gaussian.svg");
  cr_assert_str_eq(after, before);
  free(before);
  free(after);
  if (!entered) cr_skip("no locale with a decimal comma here");
}

/* ---- maps -------------------------------------------------------------------------------------------------------- */
