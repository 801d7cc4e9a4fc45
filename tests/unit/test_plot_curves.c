/* test_plot_curves.c: what curves of bins show: densities, envelopes with their events, and means of few samples; and
 * axes for values of which some are hundreds of times as large as the others. */
#include "../../src/pages/plot/forms.h"
#include "../../src/pages/plot/paper.h"
#include "plot_svg.h"

#include <math.h>

/* ---- symlog ------------------------------------------------------------------------------------------------------ */

static rs_plot_axis symlog(double low, double high, double bend) {
  rs_plot_axis axis;
  rs_plot_extent extent = {0};
  rs_plot_extent_add(&extent, low);
  rs_plot_extent_add(&extent, high);
  rs_plot_axis_fit_symlog(&axis, &extent, bend, false, true);
  rs_plot_axis_place(&axis, 300, 0);
  return axis;
}

Test(plot_curves, symlog__numbers__keep_their_order_and_bend_smoothly) {
  static const double values[] = {-1000, -999, -20, -10, -1e-3, 0, 5, 10, 19.9, 20, 21, 5e4};
  rs_plot_axis axis = symlog(-1000, 5e4, 20);
  for (size_t i = 1; i < RS_COUNT(values); i++)
    cr_assert_lt(rs_plot_axis_pixel(&axis, values[i]), rs_plot_axis_pixel(&axis, values[i - 1]), "%g", values[i]);
  double zero = rs_plot_axis_pixel(&axis, 0), ten = rs_plot_axis_pixel(&axis, 10),
         twenty = rs_plot_axis_pixel(&axis, 20);
  cr_assert_float_eq(zero - ten, ten - twenty, 1e-9, "linear up to the bend");
  cr_assert_float_eq(rs_plot_axis_pixel(&axis, 200) - rs_plot_axis_pixel(&axis, 2000),
                     rs_plot_axis_pixel(&axis, 2000) - rs_plot_axis_pixel(&axis, 20000), 1e-9, "decades beyond");
  cr_assert_float_eq(zero - twenty, twenty - rs_plot_axis_pixel(&axis, 200), 1e-9,
                     "a decade as long as the linear part");
  cr_assert(rs_plot_axis_pixel(&axis, -1000) < 300 && rs_plot_axis_pixel(&axis, 5e4) > 0, "with some room");
}

static bool has_label(const rs_plot_axis *axis, const char *label) {
  for (size_t i = 0; i < axis->count; i++)
    if (strcmp(axis->ticks[i].label, label) == 0) return true;
  return false;
}

Test(plot_curves, symlog__ticks__stand_at_zero_the_bends_and_powers) {
  rs_plot_axis axis = symlog(-9000, 15, 20);
  static const char *const labels[] = {"−1000", "−100", "−20", "0", "20"};
  for (size_t i = 0; i < RS_COUNT(labels); i++) cr_assert(has_label(&axis, labels[i]), "no %s", labels[i]);
  for (size_t i = 0; i < axis.count; i++)
    for (size_t k = 0; k < i; k++)
      cr_assert(axis.ticks[i].label[0] == '\0' || axis.ticks[k].label[0] == '\0' ||
                fabs(axis.ticks[i].pixel - axis.ticks[k].pixel) >= 14);
  rs_plot_axis five = symlog(-1428, 0.0012, 0.005);
  static const char *const decades[] = {"−1000", "−100", "−10", "−1", "−0.1", "−0.005", "0"};
  for (size_t i = 0; i < RS_COUNT(decades); i++) cr_assert(has_label(&five, decades[i]), "no %s", decades[i]);
  rs_text name = {0};
  rs_plot_axis_name(&axis, "logit", "nats", &name);
  cr_assert_str_eq(rs_text_string(&name), "logit (nats), log beyond ±20");
  rs_text_clear(&name);
}

/* What is as far on both sides of zero has its ticks there alike; where the bends are near the ends there is one at
 * half of them. */
Test(plot_curves, symlog__of_both_sides__has_ticks_on_both) {
  static const double bends[] = {1, 2, 5, 20, 0.05}, reach[] = {1.5, 40};
  for (size_t i = 0; i < 2 * RS_COUNT(bends); i++) {
    double bend = bends[i / 2], end = reach[i % 2] * bend;
    rs_plot_axis axis = symlog(-end, end, bend);
    double middle = rs_plot_axis_pixel(&axis, 0), half = 0;
    for (size_t k = 0; k < axis.count; k++) {
      const rs_plot_tick *low = &axis.ticks[k], *high = &axis.ticks[axis.count - 1 - k];
      cr_expect_float_eq(low->pixel - middle, middle - high->pixel, 1e-9, "+-%g, bend %g: tick %zu", end, bend, k);
      half += fabs(low->pixel - rs_plot_axis_pixel(&axis, bend / 2)) < 1e-9;
    }
    if (i % 2 == 0) cr_expect_eq(half, 1, "bend %g", bend);
  }
}

/* A log axis is for any positive numbers, zeros beside them, and no negative ones. */
Test(plot_curves, span__log__of_which_numbers) {
  static const struct {
    double low, high;
    bool log;
  } cases[] = {{1e-3, 0.5, true}, {0, 0.5, true}, {0, 0, false}, {-1e-3, 0.5, false}, {10, 1e4, true}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_plot_point points[2] = {{.x = 1, .y = cases[i].low, .low = NAN, .high = NAN},
                               {.x = 2, .y = cases[i].high, .low = NAN, .high = NAN}};
    const rs_plot_series series = {.label = "a", .points = points, .count = 2};
    rs_plot_extent x = {0}, y = {0};
    bool log = true;
    rs_plot_series_span(&series, 1, &x, &y, &log);
    cr_assert_eq(log, cases[i].log, "%g to %g", cases[i].low, cases[i].high);
  }
}

/* Fewer series than the others, a hundred times as large as all of those, and more than shares. */
Test(plot_curves, bend__follows_the_largest_of_the_small_series) {
  static const struct {
    double sizes[4]; /* ends at the first 0 */
    double bend;
  } cases[] = {
      {{400, 4}, 5},    {{399, 4}, 0},        {{-400, 4}, 5},          {{400, 400, 4}, 0},
      {{10, 0.1}, 0},   {{11, 0.1}, 0.1},     {{5000, 40, 0.3}, 50},   {{5000, 4000, 2, 1}, 0},
      {{3000, 200}, 0}, {{3000, 31, 0.2}, 0}, {{3000, 18, 18, 3}, 20}, {{7}, 0},
      {{800, 7}, 10},   {{300, 1.5}, 2},
  };
  for (size_t c = 0; c < RS_COUNT(cases); c++) {
    rs_plot_point points[4][3];
    rs_plot_series series[4] = {{0}};
    size_t count = 0;
    for (; count < 4 && cases[c].sizes[count] != 0; count++) {
      points[count][0] = (rs_plot_point){.y = cases[c].sizes[count] / 2};
      points[count][1] = (rs_plot_point){.y = NAN};
      points[count][2] = (rs_plot_point){.y = cases[c].sizes[count]};
      series[count] = (rs_plot_series){.points = points[count], .count = 3};
    }
    cr_expect_eq(rs_plot_series_bend(series, count), cases[c].bend, "case %zu: %g", c,
                 rs_plot_series_bend(series, count));
  }
}

/* Three methods; the scale of the first is `size`. */
static bool is_symlog(double size, double others) {
  rs_text rows = {0};
  static const char *const names[] = {"alibi", "rope", "pi"};
  for (size_t i = 0; i < 3; i++)
    for (int l = 0; l < 2; l++)
      rs_text_printf(&rows, "%zu,m,%s,%d,1,g,1,8,%g,ok,\n", 2 * i + l, names[i], 1024 << l,
                     (l == 0 ? -1 : -0.5) * (i == 0 ? size : others));
  put_summary(ENTROPY "," STATUS, "entropy_nats,status,message", rs_text_string(&rows));
  rs_text_clear(&rows);
  cr_assert_eq(draw_all(NULL, RS_OK, NULL), 1u);
  char *svg = picture_text("plots/entropy_nats--g.svg");
  check_texts(svg);
  bool found = has_text(svg, "entropy (nats), log beyond ±5");
  cr_assert_eq(found, strstr(svg, "log beyond") != NULL);
  free(svg);
  return found;
}

Test(plot_curves, results__with_one_huge_series__bend_the_axis, .init = make_folder, .fini = remove_folder) {
  cr_assert(is_symlog(4096, 4));
  cr_assert_not(is_symlog(300, 4), "75 times");
  cr_assert_not(is_symlog(1, 0.004), "shares near zero are to look so");
  cr_assert_not(is_symlog(4096, 0), "nothing else to be seen");
}

/* ---- bins -------------------------------------------------------------------------------------------------------- */

#define BIN                                                                                                            \
  ",{\"name\":\"distance_tokens\",\"role\":\"index\",\"unit\":\"tokens\",\"axis\":\"log\"},"                           \
  "{\"name\":\"distance_end_tokens\",\"role\":\"index\",\"unit\":\"tokens\",\"map\":\"bin_end\"},"
#define MASS                                                                                                           \
  "{\"files\":[{\"file\":\"mass.csv\",\"columns\":[" KEYS BIN                                                          \
  "{\"name\":\"weight\",\"role\":\"value\",\"unit\":\"1\",\"map\":\"mass\"}]}]}"

/* Points of the only line, from "M x yL x y...". */
static size_t read_line(const char *svg, uint32_t colour, double (*points)[2], size_t room) {
  char key[80];
  size_t count = 0;
  snprintf(key, sizeof key, "<path fill=\"none\" stroke=\"#%06x\"", (unsigned)colour);
  const char *line = strstr(svg, key);
  cr_assert_not_null(line, "no line");
  const char *end = strstr(line, "/>");
  for (const char *at_point = strstr(line, " d=\"") + 4; at_point < end && count < room; count++) {
    cr_assert_eq(sscanf(at_point + 1, "%lf %lf", &points[count][0], &points[count][1]), 2);
    at_point += 1 + strcspn(at_point + 1, "L\"");
    if (*at_point == '"') at_point = end;
  }
  return count;
}

/* The same weight for each token, in bins of 1, 2, 4 and 8: a level line. */
Test(plot_curves, mass__in_bins_of_any_width__is_drawn_per_token, .init = make_folder, .fini = remove_folder) {
  double points[8][2];
  put_file("manifest.json", MASS);
  put_file("mass.csv", HEADER ",distance_tokens,distance_end_tokens,weight\n0,m,rope,64,1,,,8,1,2,0.01\n"
                              "0,m,rope,64,1,,,8,2,4,0.02\n0,m,rope,64,1,,,8,4,8,0.04\n0,m,rope,64,1,,,8,8,16,0.8\n");
  cr_assert_eq(draw_all(NULL, RS_OK, NULL), 1u);
  char *svg = picture_text("plots/mass--weight--64.svg");
  cr_assert_eq(read_line(svg, 0x000000, points, 8), 4u);
  cr_assert(points[0][1] == points[1][1] && points[1][1] == points[2][1], "0.01 a token");
  cr_assert_lt(points[3][1], points[2][1] - 50, "ten times as much");
  cr_assert(has_text(svg, "weight per token (1/token)") && has_text(svg, "Mass: weight per token against distance"));
  cr_assert_not_null(strstr(svg, "divided by the width of each bin"));
  free(svg);
}

#define NEEDLE                                                                                                         \
  "{\"files\":[{\"file\":\"needle.csv\",\"columns\":[" KEYS BIN                                                        \
  "{\"name\":\"needles\",\"role\":\"index\",\"unit\":\"\",\"map\":\"samples\"},"                                       \
  "{\"name\":\"rate\",\"role\":\"value\",\"unit\":\"1\"}]}]}"
#define NEEDLE_HEADER HEADER ",distance_tokens,distance_end_tokens,needles,rate\n"

/* A needle at one depth of one length falls into two bins by chance: no curve over distance. */
Test(plot_curves, needle__in_two_bins__is_no_curve, .init = make_folder, .fini = remove_folder) {
  put_file("manifest.json", NEEDLE);
  put_file("needle.csv", NEEDLE_HEADER "0,m,rope,64,1,,,8,430,512,252,0.9\n0,m,rope,64,1,,,8,512,608,4,0.5\n");
  rs_plot_report report;
  draw(NULL, &report, RS_OK, NULL);
  cr_assert(report.count == 0 && report.plain == 1);
  rs_plot_report_clear(&report);
  cr_assert_eq(draw_all(&(rs_plot_options){.all = true}, RS_OK, NULL), 1u);
  char *svg = picture_text("plots/needle--rate--64.svg");
  check_texts(svg);
  cr_assert(has_text(svg, "n = 4") && !has_text(svg, "n = 252"));
  cr_assert_not_null(strstr(svg, "not joined: fewer than 16 samples, n"));
  double legend[4][2];
  cr_assert_eq(read_line(svg, 0x000000, legend, 4), 2u);
  cr_assert_gt(legend[0][0], 480, "the only line is the legend's sample");
  free(svg);
}

/* With enough of enough samples it is a curve, without the bin of few, whose count stands above it. */
Test(plot_curves, needle__in_many_bins__joins_those_of_enough_samples, .init = make_folder, .fini = remove_folder) {
  double points[8][2];
  put_file("manifest.json", NEEDLE);
  put_file("needle.csv", NEEDLE_HEADER "0,m,rope,64,1,,,8,1,2,16,0.9\n0,m,rope,64,1,,,8,2,4,90,0.7\n"
                                       "0,m,rope,64,1,,,8,4,8,90,0.5\n0,m,rope,64,1,,,8,8,16,15,0.1\n");
  cr_assert_eq(draw_all(NULL, RS_OK, NULL), 1u);
  char *svg = picture_text("plots/needle--rate--64.svg");
  check_texts(svg);
  cr_assert_eq(read_line(svg, 0x000000, points, 8), 3u, "16 are enough, 15 are not");
  shown count = find_text(svg, "n = 15", 0);
  cr_assert_float_eq(count.x - points[2][0], points[2][0] - points[1][0], 0.1, "an octave further");
  cr_assert_lt(count.y, points[0][1], "above the plot");
  free(svg);
}

/* ---- envelopes --------------------------------------------------------------------------------------------------- */

#define DECAY                                                                                                          \
  "{\"files\":[{\"file\":\"summary.csv\",\"columns\":[" KEYS                                                           \
  ",{\"name\":\"first_violation_tokens\",\"role\":\"value\",\"axis\":\"log\"}]},{\"file\":\"decay.csv\",\"columns\":"  \
  "[" KEYS ",{\"name\":\"distance_tokens\",\"role\":\"index\",\"unit\":\"tokens\",\"axis\":\"log\"},"                  \
  "{\"name\":\"mean_cosine\",\"role\":\"value\"},{\"name\":\"mean_cosine_low\",\"role\":\"value\",\"map\":\"low\"},"   \
  "{\"name\":\"mean_cosine_high\",\"role\":\"value\",\"map\":\"high\"}]}]}"

/* The rows alone stay above zero; the envelope crosses it where the summary says, and a ring stands there. */
Test(plot_curves, decay__with_an_envelope__marks_its_first_violation, .init = make_folder, .fini = remove_folder) {
  put_file("manifest.json", DECAY);
  put_file("summary.csv", HEADER ",first_violation_tokens\n0,m,rope,64,1,g,1,8,16\n1,m,pi,64,1,g,1,8,\n");
  put_file("decay.csv",
           HEADER ",distance_tokens,mean_cosine,mean_cosine_low,mean_cosine_high\n"
                  "0,m,rope,64,1,,,8,4,0.8,0.4,0.8\n0,m,rope,64,1,,,8,16,0.4,-0.4,0.4\n"
                  "0,m,rope,64,1,,,8,64,0.2,0.2,0.2\n1,m,pi,64,1,,,8,4,1,1,1\n1,m,pi,64,1,,,8,64,0.9,0.9,1\n");
  cr_assert_eq(draw_all(NULL, RS_OK, NULL), 1u, "no picture of the envelope alone");
  char *svg = picture_text("plots/decay--mean_cosine--64.svg");
  check_texts(svg);
  cr_assert_not_null(strstr(svg, "shade: least and largest"));
  cr_assert_not_null(strstr(svg, "ring: "));
  double zero = find_text(svg, "0", 0).y - 0.36 * 13, unit = zero - (find_text(svg, "1.0", 0).y - 0.36 * 13);
  double x16 = find_text(svg, "16", 0).x, x4 = find_text(svg, "4", 0).x;
  /* The band: its upper edge to the right as steps, its lower edge back. */
  const char *band = strstr(svg, "fill-opacity");
  double corners[12][2];
  size_t count = 0;
  for (const char *corner = strstr(band, " d=\"") + 4; *corner != 'Z' && count < 12; count++) {
    cr_assert_eq(sscanf(corner + (*corner == '\n') + 1, "%lf %lf", &corners[count][0], &corners[count][1]), 2);
    corner += 1 + strcspn(corner + 1, "LZ");
  }
  cr_assert_eq(count, 10u, "%zu corners", count);
  cr_assert_float_eq(corners[0][0], x4, 0.1);
  cr_assert_float_eq(corners[1][0], x16, 0.1, "the bin goes on to the next");
  cr_assert_eq(corners[0][1], corners[1][1]);
  double least = -INFINITY;
  for (size_t i = 0; i < count; i++) least = fmax(least, corners[i][1]);
  cr_assert_float_eq(least, zero + 0.4 * unit, 0.5, "-0.4: %g", (least - zero) / unit);
  /* The ring: a path of 25 corners around (16, 0). */
  const char *ring = NULL;
  for (const char *line = svg; (line = strstr(line, "<path fill=\"none\" stroke=\"#000000\"")) != NULL; line++) {
    double x, y;
    cr_assert_eq(sscanf(strstr(line, " d=\"M") + 5, "%lf %lf", &x, &y), 2);
    if (fabs(x - 5.5 - x16) < 0.2 && fabs(y - zero) < 0.5) ring = line;
  }
  cr_assert_not_null(ring, "around the first violation of rope, and none of pi");
  free(svg);
}

/* ---- means ------------------------------------------------------------------------------------------------------- */

#define MEANS(more)                                                                                                    \
  "{\"checkpoints\":[{\"name\":\"a\",\"caption\":[]},{\"name\":\"b\",\"caption\":[]}],\"files\":[{\"file\":"           \
  "\"summary.csv\",\"columns\":[" KEYS ",{\"name\":\"checkpoint.steps\",\"role\":\"key\"}" more                        \
  ",{\"name\":\"u\",\"role\":\"value\"}]}]}"

static void expect_means(const char *name, const char *caption) {
  cr_assert_geq(draw_all(&(rs_plot_options){.all = true}, RS_OK, NULL), 1u);
  char *svg = picture_text(name);
  cr_expect_not_null(strstr(svg, caption), "%s is not in %s", caption, name);
  free(svg);
}

/* What a band is of: seeds, more heads than a legend names, or both; numbers of a second column; or rows that nothing
 * tells apart. */
Test(plot_curves, bands__say_what_they_are_of, .init = make_folder, .fini = remove_folder) {
  static const char *const captions[] = {"mean, min\u2013max of 40 heads", "mean, min\u2013max of 2 seeds",
                                         "mean, min\u2013max of 2 seeds and 40 heads"};
  static const size_t seeds[] = {1, 2, 2}, heads[] = {40, 1, 40};
  put_file("manifest.json", MEANS(""));
  for (size_t i = 0; i < RS_COUNT(captions); i++) {
    rs_text rows = {0};
    size_t cell = 0;
    rs_text_puts(&rows, HEADER ",checkpoint.steps,u\n");
    for (size_t c = 0; c < 3; c++)
      for (size_t s = 0; s < seeds[i]; s++)
        for (size_t h = 0; h < heads[i]; h++, cell++)
          rs_text_printf(&rows, "%zu,t steps=%zu,trained,64,1,,%zu,%zu,%zu,%zu\n", cell, c + 1, s, h, c + 1,
                         1 + c * c + s + 2 * h);
    put_file("summary.csv", rs_text_string(&rows));
    rs_text_clear(&rows);
    expect_means("plots/u--steps--64.svg", captions[i]);
  }
  put_file("manifest.json", "{\"files\":[{\"file\":\"a.csv\",\"columns\":[" KEYS
                            ",{\"name\":\"distance_tokens\",\"role\":\"index\",\"unit\":\"tokens\"},{\"name\":\"at\","
                            "\"role\":\"index\"},{\"name\":\"u\",\"role\":\"value\"}]}]}");
  put_file("a.csv", HEADER ",distance_tokens,at,u\n0,m,rope,64,1,,,8,1,0,1\n0,m,rope,64,1,,,8,1,1,2\n"
                           "0,m,rope,64,1,,,8,2,0,3\n0,m,rope,64,1,,,8,2,1,5\n");
  expect_means("plots/a--u--64.svg", "mean, min\u2013max of at");
  put_file("manifest.json", "{\"files\":[{\"file\":\"a.csv\",\"columns\":[" KEYS
                            ",{\"name\":\"distance_tokens\",\"role\":\"index\",\"unit\":\"tokens\"},"
                            "{\"name\":\"u\",\"role\":\"value\"}]}]}");
  put_file("a.csv", HEADER ",distance_tokens,u\n0,m,rope,64,1,,,8,1,1\n0,m,rope,64,1,,,8,1,2\n"
                           "0,m,rope,64,1,,,8,2,3\n0,m,rope,64,1,,,8,2,5\n");
  expect_means("plots/a--u--64.svg", "mean, min\u2013max of cells of equal keys");
}

/* ---- pictures that say nothing ----------------------------------------------------------------------------------- */

static size_t count_plain(const char *rows, size_t wanted) {
  rs_plot_report report;
  put_summary(ENTROPY "," STATUS, "entropy_nats,status,message", rows);
  draw(NULL, &report, RS_OK, NULL);
  cr_assert_eq(report.count, wanted, "%s", rows);
  size_t plain = report.plain;
  rs_plot_report_clear(&report);
  cr_assert_eq(draw_all(&(rs_plot_options){.all = true}, RS_OK, NULL), 1u);
  static const char *const only[] = {"entropy_nats"};
  cr_assert_eq(draw_all(&(rs_plot_options){.only = only, .only_count = 1}, RS_OK, NULL), 1u, "it is asked for");
  return plain;
}

Test(plot_curves, results__that_say_nothing__are_counted_and_left_out, .init = make_folder, .fini = remove_folder) {
  cr_assert_eq(count_plain("0,m,rope,1024,1,g,1,8,5,ok,\n", 0), 1u, "one number");
  cr_assert_eq(count_plain("0,m,rope,1024,1,g,1,8,5,ok,\n1,m,rope,2048,1,g,1,8,5,ok,\n", 0), 1u, "a level line");
  cr_assert_eq(count_plain("0,m,rope,1024,1,g,1,8,5,ok,\n1,m,pi,1024,1,g,1,8,5,ok,\n", 0), 1u, "equal dots");
  cr_assert_eq(count_plain("0,m,rope,1024,1,g,1,8,5,ok,\n1,m,rope,2048,1,g,1,8,6,ok,\n2,m,pi,1024,1,g,1,8,5,ok,\n"
                           "3,m,pi,2048,1,g,1,8,6,ok,\n",
                           0),
               1u, "equal lines");
  cr_assert_eq(count_plain("0,m,rope,1024,1,g,1,8,5,ok,\n1,m,rope,2048,1,g,1,8,1e-16,ok,\n2,m,pi,1024,1,g,1,8,5,ok,\n"
                           "3,m,pi,2048,1,g,1,8,3e-16,ok,\n",
                           0),
               1u, "a difference of rounding");
  cr_assert_eq(count_plain("0,m,rope,1024,1,g,1,8,5,ok,\n1,m,rope,2048,1,g,1,8,1e-13,ok,\n2,m,pi,1024,1,g,1,8,5,ok,\n"
                           "3,m,pi,2048,1,g,1,8,3e-13,ok,\n",
                           1),
               0u, "small numbers that differ");
  cr_assert_eq(count_plain("0,m,rope,1024,1,g,1,8,5,ok,\n1,m,rope,2048,1,g,1,8,6,ok,\n", 1), 0u, "one line that rises");
  cr_assert_eq(count_plain("0,m,rope,1024,1,g,1,8,5,ok,\n1,m,rope,2048,1,g,1,8,6,ok,\n2,m,pi,1024,1,g,1,8,5,ok,\n"
                           "3,m,pi,2048,1,g,1,8,6.001,ok,\n",
                           1),
               0u, "a difference");
  cr_assert_eq(count_plain("0,m,rope,1024,1,g,1,8,5,ok,\n1,m,rope,2048,1,g,1,8,6,ok,\n2,m,pi,1024,1,g,1,8,5,ok,\n"
                           "3,m,pi,4096,1,g,1,8,6,ok,\n",
                           1),
               0u, "other lengths");
  cr_assert_eq(count_plain("0,m,rope,1024,1,g,1,8,4,ok,\n1,m,rope,1024,1,g,2,8,6,ok,\n2,m,rope,2048,1,g,1,8,6,ok,\n"
                           "3,m,pi,1024,1,g,1,8,5,ok,\n4,m,pi,1024,1,g,2,8,5,ok,\n5,m,pi,2048,1,g,1,8,6,ok,\n",
                           1),
               0u, "equal means of other least values");
  cr_assert_eq(count_plain("0,m,rope,1024,1,g,1,8,4,ok,\n1,m,rope,1024,1,g,2,8,4,ok,\n2,m,rope,1024,1,g,3,8,7,ok,\n"
                           "3,m,rope,2048,1,g,1,8,6,ok,\n4,m,pi,1024,1,g,1,8,4,ok,\n5,m,pi,1024,1,g,2,8,5,ok,\n"
                           "6,m,pi,1024,1,g,3,8,6,ok,\n7,m,pi,2048,1,g,1,8,6,ok,\n",
                           1),
               0u, "equal means of other largest values");
  cr_assert_eq(count_plain("0,m,rope,1024,1,g,1,8,5,ok,\n1,m,rope,1024,1,g,2,8,6,ok,\n", 1), 0u, "seeds that differ");
}
