/* test_plot_intervals.c: paired differences with their intervals as pictures: where bars begin and end, and of which
 * method. */
#include "../../src/pages/plot/choice.h"
#include "interval_fixture.h"
#include "plot_svg.h"

#include "metrics/metrics.h"

TestSuite(plot_intervals, .init = make_folder, .fini = remove_folder);

static const trial one_seed[] = {
    {"window", 512, 1, 0, 0, {0, 0, 0, 0}},    {"window", 1024, 1, 0, 0, {0, 0, 0, 0}},
    {"unchanged", 512, 1, 0, 0, {0, 0, 0, 0}}, {"unchanged", 1024, 1, 1.5, 1.75, {1, 2, 1.5, 1.9}},
    {"yarn", 512, 1, -.1, .2, {.1, 0, .1, 0}}, {"yarn", 1024, 1, .25, .5, {.2, .5, .3, .4}},
    {"pi", 512, 1, .55, .8, {.6, .7, .6, .6}}, {"pi", 1024, 1, .9, 1.2, {1, 1.1, 1, 1}},
};

/* Without an option the picture of that name in the folder, as text. */
static char *draw_picture(const char *name) {
  char file[200];
  (void)draw_all(NULL, RS_OK, NULL);
  snprintf(file, sizeof file, "plots/%s.svg", name);
  return picture_text(file);
}

static uint32_t colour_of(const char *method) {
  char *items[] = {(char *)method};
  const rs_plot_names names = {items, 1, 1};
  rs_plot_style style;
  rs_plot_methods_style(&names, &style);
  return style.colour;
}

typedef struct bar {
  double x, low, high; /* pixels: low is further down */
} bar;

/* The upright segments of this colour, or those that lie (x and y change places). */
static size_t find_bars(const char *svg, uint32_t colour, bool lying, bar *bars, size_t room) {
  char start[80];
  size_t count = 0;
  snprintf(start, sizeof start, "stroke=\"#%06x\" stroke-width=\"1\" d=\"M", (unsigned)colour);
  for (const char *found = svg; (found = strstr(found, start)) != NULL; found++) {
    double x1, y1, x2, y2;
    cr_assert_eq(sscanf(found + strlen(start), "%lf %lfL%lf %lf", &x1, &y1, &x2, &y2), 4);
    bool cap = lying ? y1 != y2 : x1 != x2;
    if (cap) continue;
    cr_assert_lt(count, room);
    bars[count++] = lying ? (bar){y1, x1, x2} : (bar){x1, y1, y2};
  }
  return count;
}

/* Where the dashed line of no difference is. */
static double zero_line(const char *svg, bool lying) {
  double x1, y1, x2, y2;
  const char *found = strstr(svg, "stroke-dasharray=\"3 3\" d=\"M");
  cr_assert_not_null(found, "no line at 0");
  cr_assert_eq(sscanf(strchr(found, 'M'), "M%lf %lfL%lf %lf", &x1, &y1, &x2, &y2), 4);
  return lying ? x1 : y1;
}

/* Bars of a method by rising length: each as far from 0 as its interval, to half a pixel. */
static void bars_are(const char *svg, const char *method, double pixels, const double (*ends)[2], size_t count) {
  bar bars[8];
  double zero = zero_line(svg, false);
  cr_assert_eq(find_bars(svg, colour_of(method), false, bars, 8), count, "bars of %s", method);
  for (size_t i = 0; i < count; i++) {
    cr_expect_float_eq(bars[i].low, zero - pixels * ends[i][0], .6, "%s begins at %g, %g", method, bars[i].low,
                       ends[i][0]);
    cr_expect_float_eq(bars[i].high, zero - pixels * ends[i][1], .6, "%s ends at %g", method, bars[i].high);
    if (i > 0) cr_expect_gt(bars[i].x, bars[i - 1].x + 100, "a length apart");
  }
}

Test(plot_intervals, bars__of_one_seed__are_the_columns_of_their_methods) {
  bar pi[8], yarn[8];
  put_trials(one_seed, RS_COUNT(one_seed), NULL);
  char *svg = draw_picture("loss_difference_nats--text");
  double nat = find_text(svg, "0.5", 0).y - find_text(svg, "1.5", 0).y;
  static const double of_yarn[][2] = {{-.1, .2}, {.25, .5}}, of_pi[][2] = {{.55, .8}, {.9, 1.2}};
  bars_are(svg, "yarn", nat, of_yarn, 2);
  bars_are(svg, "pi", nat, of_pi, 2);
  find_bars(svg, colour_of("pi"), false, pi, 8);
  find_bars(svg, colour_of("yarn"), false, yarn, 8);
  cr_expect_float_eq((pi[0].x + yarn[0].x) / 2 - 6, find_text(svg, "512", 0).x, .1, "of four around their length");
  cr_expect_float_eq((pi[1].x + yarn[1].x) / 2 - 6, find_text(svg, "1k", 0).x, .1);
  for (size_t i = 0; i < 2; i++) cr_expect_float_eq(yarn[i].x - pi[i].x, 6, .1, "side by side, as in the legend");
  check_texts(svg);
  free(svg);
}

Test(plot_intervals, words__of_a_difference__say_to_what_and_how_sure) {
  static const char *const said[] = {
      "Paired loss difference to the window", "(nats, 95\u00a0%)", "no difference",
      "demo \u00b7 m \u00b7 text \u00b7 bars: 95\u00a0% intervals, bootstrap over blocks"};
  put_trials(one_seed, RS_COUNT(one_seed), NULL);
  char *svg = draw_picture("loss_difference_nats--text");
  for (size_t i = 0; i < RS_COUNT(said); i++) cr_expect(has_text(svg, said[i]), "%s", said[i]);
  free(svg);
  trial other[RS_COUNT(one_seed)];
  memcpy(other, one_seed, sizeof other);
  for (size_t i = 0; i < 2; i++) memcpy(other[i].blocks, (double[]){-.5, -.4, -.5, -.4}, sizeof other[i].blocks);
  memset(other[3].blocks, 0, sizeof other[3].blocks);
  put_trials(other, RS_COUNT(other), NULL);
  svg = draw_picture("loss_difference_nats--text");
  cr_expect(has_text(svg, "Paired loss difference to the unchanged model"), "the one that is 0 is the baseline");
  free(svg);
}

Test(plot_intervals, baselines__are_grey_and_first) {
  put_trials(one_seed, RS_COUNT(one_seed), NULL);
  char *svg = draw_picture("loss_difference_nats--text");
  const char *const order[] = {"window", "unchanged", "pi", "yarn"};
  for (size_t i = 1; i < RS_COUNT(order); i++)
    cr_expect_gt(find_text(svg, order[i], 0).y, find_text(svg, order[i - 1], 0).y, "%s", order[i]);
  for (size_t i = 0; i < 2; i++) {
    uint32_t c = colour_of(order[i]);
    cr_expect(c >> 16 == (c >> 8 & 0xFF) && (c >> 8 & 0xFF) == (c & 0xFF) && c != 0, "%s is %06x", order[i],
              (unsigned)c);
  }
  free(svg);
}

/* Twelve methods stand side by side at the first length and at the last, and none leaves the plot: its grid of lines
 * begins at the axis and ends before the legend. */
Test(plot_intervals, bars__of_many_methods__stay_in_the_plot) {
  enum { METHODS = 12 };
  trial rows[2 * METHODS];
  char names[METHODS][16];
  double left, right, y;
  for (size_t i = 0; i < 2 * METHODS; i++) {
    snprintf(names[i % METHODS], sizeof names[0], "way %zu", i % METHODS);
    rows[i] = (trial){names[i % METHODS], i < METHODS ? 512 : 1024, 1, .1, 2, {1, 1.5, 1, .05 * (double)i}};
  }
  put_trials(rows, RS_COUNT(rows), NULL);
  char *svg = draw_picture("loss_difference_nats--text");
  cr_assert_eq(sscanf(strstr(svg, "stroke-dasharray=\"3 3\" d=\"M"), "stroke-dasharray=\"3 3\" d=\"M%lf %lfL%lf", &left,
                      &y, &right),
               3);
  size_t bars = 0;
  double least = INFINITY, most = -INFINITY;
  for (const char *found = svg; (found = strstr(found, "stroke-width=\"1\" d=\"M")) != NULL; found++) {
    double x1, y1, x2, y2;
    cr_assert_eq(sscanf(strchr(found, 'M'), "M%lf %lfL%lf %lf", &x1, &y1, &x2, &y2), 4);
    if (y1 != y2 || fabs(x2 - x1 - 6) > .01) continue; /* no cap */
    least = fmin(least, x1);
    most = fmax(most, x2);
    bars++;
  }
  cr_expect_eq(bars, 4 * METHODS, "%zu caps", bars);
  cr_expect(least > left && most < right, "%g .. %g in %g .. %g", least, most, left, right);
  free(svg);
}

/* At one length methods are rows, and bars lie. */
Test(plot_intervals, bars__at_one_length__lie_on_their_rows) {
  static const double ends[][2] = {{.25, .5}, {.9, 1.2}};
  static const char *const methods[] = {"yarn", "pi"};
  trial rows[] = {one_seed[1], one_seed[5], one_seed[7]};
  put_trials(rows, RS_COUNT(rows), NULL);
  char *svg = draw_picture("loss_difference_nats--text");
  double zero = zero_line(svg, true), nat = find_text(svg, "1.0", 0).x - find_text(svg, "0", 0).x;
  for (size_t i = 0; i < 2; i++) {
    bar bars[4];
    cr_assert_eq(find_bars(svg, colour_of(methods[i]), true, bars, 4), 1, "%s", methods[i]);
    cr_expect_float_eq(bars[0].low, zero + nat * ends[i][0], .6);
    cr_expect_float_eq(bars[0].high, zero + nat * ends[i][1], .6);
    cr_expect_float_eq(bars[0].x, find_text(svg, methods[i], 0).y, 8, "on the row of its name");
  }
  cr_expect(has_text(svg, "no difference"));
  check_texts(svg);
  free(svg);
}

/* ---- several seeds ----------------------------------------------------------------------------------------------- */

static const trial seeds[] = {
    {"window", 512, 1, 0, 0, {0, 0, 0, 0}},       {"window", 512, 2, 0, 0, {0, 0, 0, 0}},
    {"window", 1024, 1, 0, 0, {0, 0, 0, 0}},      {"window", 1024, 2, 0, 0, {0, 0, 0, 0}},
    {"yarn", 512, 1, .05, .06, {.1, 0, .1, 0}},   {"yarn", 512, 2, .05, .06, {.2, .1, .1, .3}},
    {"yarn", 1024, 1, .3, .31, {.2, .5, .3, .4}}, {"yarn", 1024, 2, .6, .61, {.5, .9, .7, .6}},
    {"pi", 512, 1, .05, .06, {.1, 0, .1, .2}},    {"pi", 512, 2, .05, .06, {.3, .1, .2, .3}},
    {"pi", 1024, 1, .9, 1.2, {1, 1.1, 1, 1}},     {"pi", 1024, 2, .9, 1.2, {1.4, 1.1, 1.3, 1.2}},
};

/* The number at place i of `member` of the line of this name in the picture of the differences. */
static double drawn(const char *name, const char *member, size_t i) {
  rs_plot_views views = {0};
  rs_plot_report report = {0};
  rs_err err = {0};
  double number = NAN;
  cr_assert_eq(rs_plot_views_read(folder, false, &views, &report, &err), RS_OK, "%s", err.message);
  for (size_t v = 0; v < views.count; v++) {
    rs_tree *tree = NULL;
    if (strcmp(views.items[v].name, "loss_difference_nats--text") != 0) continue;
    cr_assert_eq(rs_json_read(views.items[v].numbers, strlen(views.items[v].numbers), "view", &tree, &err), RS_OK);
    const rs_node *lines = rs_node_get(&tree->root, "lines");
    cr_expect_str_eq(rs_node_get(&tree->root, "bars")->text, "true");
    for (size_t s = 0; s < lines->count; s++) {
      const rs_node *list = rs_node_get(&lines->items[s], member);
      if (strcmp(rs_node_get(&lines->items[s], "name")->text, name) != 0 || list == NULL) continue;
      cr_assert_lt(i, list->count);
      if (!rs_number_read(list->items[i].text, &number)) number = NAN;
    }
    rs_tree_free(tree);
  }
  rs_plot_views_clear(&views);
  rs_plot_report_clear(&report);
  return number;
}

/* Of a method's trials at a length, in their order. */
static rs_interval interval_of(const char *method, int length) {
  double values[4 * BLOCKS];
  size_t count = 0;
  rs_interval interval;
  for (size_t i = 0; i < RS_COUNT(seeds); i++)
    if (strcmp(seeds[i].method, method) == 0 && seeds[i].length == length)
      copy_blocks(&seeds[i], &values[BLOCKS * count++]);
  cr_assert_eq(rs_bootstrap_mean(values, count, BLOCKS, &interval, NULL), RS_OK);
  return interval;
}

Test(plot_intervals, bars__of_several_seeds__are_made_of_all_their_blocks) {
  static const char *const methods[] = {"yarn", "pi"};
  put_trials(seeds, RS_COUNT(seeds), NULL);
  for (size_t m = 0; m < 2; m++)
    for (size_t l = 0; l < 2; l++) {
      rs_interval want = interval_of(methods[m], l == 0 ? 512 : 1024);
      cr_expect_float_eq(drawn(methods[m], "y", l), want.mean, 1e-12);
      cr_expect_float_eq(drawn(methods[m], "low", l), want.low, 1e-12, "%s", methods[m]);
      cr_expect_float_eq(drawn(methods[m], "high", l), want.high, 1e-12, "%s", methods[m]);
    }
  char *svg = draw_picture("loss_difference_nats--text");
  cr_expect(
      has_text(svg, "demo \u00b7 m \u00b7 text \u00b7 bars: 95\u00a0% intervals, bootstrap over blocks and 2 seeds"));
  free(svg);
}

/* Where seeds have no blocks, or others, the picture shows means, and no spread of seeds in an interval's place. */
Test(plot_intervals, bars__of_seeds_without_the_same_blocks__are_none) {
  static const oddity cut = {.cut = "yarn"}, blockless = {.blockless = true};
  trial rows[RS_COUNT(seeds)];
  bar bars[8];
  memcpy(rows, seeds, sizeof rows);
  put_trials(rows, RS_COUNT(rows), &blockless);
  char *svg = draw_picture("loss_difference_nats--text");
  cr_expect_eq(find_bars(svg, colour_of("yarn"), false, bars, 8), 0);
  cr_expect_eq(find_bars(svg, colour_of("pi"), false, bars, 8), 0);
  free(svg);
  rows[6].method = "yarn";
  put_trials(rows, RS_COUNT(rows), &cut); /* of all seeds of yarn: three blocks each, which are alike */
  svg = draw_picture("loss_difference_nats--text");
  cr_expect_eq(find_bars(svg, colour_of("yarn"), false, bars, 8), 2);
  cr_expect_eq(find_bars(svg, colour_of("pi"), false, bars, 8), 2);
  free(svg);
}

/* A manifest that does not call the ends so has them by their names, and draws no pictures of them. */
Test(plot_intervals, ends__by_their_names_alone__are_ends) {
  static const oddity unmapped = {.unmapped = true};
  bar bars[8];
  put_trials(one_seed, RS_COUNT(one_seed), &unmapped);
  char *svg = draw_picture("loss_difference_nats--text");
  cr_expect_eq(find_bars(svg, colour_of("yarn"), false, bars, 8), 2);
  cr_expect_not(exists("plots/loss_difference_nats_low--text.svg"));
  free(svg);
}

/* A single block has no interval: an empty end is no end at 0. */
Test(plot_intervals, bars__without_ends__are_none) {
  trial rows[RS_COUNT(one_seed)];
  bar bars[8];
  memcpy(rows, one_seed, sizeof rows);
  rows[5].low = rows[5].high = NAN;
  put_trials(rows, RS_COUNT(rows), NULL);
  char *svg = draw_picture("loss_difference_nats--text");
  cr_expect_eq(find_bars(svg, colour_of("yarn"), false, bars, 8), 1, "that of 512 tokens");
  free(svg);
}
