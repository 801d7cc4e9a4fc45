/* test_plot.c: ticks, words and shapes of charts by what they must hold, and whole folders of results by the files and
 * messages they give. Folders are made under TMPDIR and removed again. */
#include "../../src/plot/plot_internal.h"

#include "plot_fixture.h"

#include <locale.h>
#include <math.h>

/* ---- helpers: axes and charts ------------------------------------------------------------------------------------ */

static rs_plot_axis axis_of(double low, double high, bool log, bool tokens, bool vertical) {
  rs_plot_extent extent = {0};
  rs_plot_axis axis;
  rs_plot_extent_add(&extent, low);
  rs_plot_extent_add(&extent, high);
  rs_plot_axis_fit(&axis, &extent, log, tokens, vertical);
  rs_plot_axis_place(&axis, vertical ? 300 : 0, vertical ? 0 : 400);
  return axis;
}

/* The labels of an axis in one line: "0 0.2 0.4", "10^-2 10^0". */
static const char *labels_of(const rs_plot_axis *axis) {
  static char line[2048];
  line[0] = '\0';
  for (size_t i = 0; i < axis->count; i++) {
    const rs_plot_tick *tick = &axis->ticks[i];
    if (tick->label[0] == '\0') continue;
    snprintf(line + strlen(line), sizeof line - strlen(line), "%s%s%s%s", line[0] != '\0' ? " " : "", tick->label,
             tick->power[0] != '\0' ? "^" : "", tick->power);
  }
  return line;
}

static const rs_plot_chart plain_chart = {.title = "T",
                                          .definition = "",
                                          .subtitle = "",
                                          .description = "",
                                          .x_name = "x",
                                          .x_unit = "1",
                                          .y_name = "y",
                                          .y_unit = "1"};

static rs_plot_picture picture_of(const rs_plot_series *series, size_t count, bool x_log) {
  rs_plot_picture picture = {0};
  rs_plot_chart chart = plain_chart;
  rs_err err = {0};
  chart.series = series;
  chart.count = count;
  chart.x_log = x_log;
  cr_assert_eq(rs_plot_chart_draw(&chart, &picture, &err), RS_OK, "%s", err.message);
  return picture;
}

/* The `index`th shape of this kind and colour, or NULL. The last one of lines and markers is the legend's. */
static const rs_plot_shape *find_shape(const rs_plot_picture *picture, rs_plot_kind kind, uint32_t colour,
                                       size_t index) {
  for (size_t i = 0; i < picture->count; i++) {
    const rs_plot_shape *shape = &picture->shapes[i];
    if (shape->kind == kind && shape->colour == colour && index-- == 0) return shape;
  }
  return NULL;
}

static size_t count_shapes(const rs_plot_picture *picture, rs_plot_kind kind, uint32_t colour) {
  size_t count = 0;
  while (find_shape(picture, kind, colour, count) != NULL) count++;
  return count;
}

static rs_plot_point point(double x, double y) {
  return (rs_plot_point){x, y, y, y};
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

Test(plot, decimal__integers_and_powers__carry_no_noise) {
  static const struct {
    long long n;
    int exponent;
    const char *text;
  } cases[] = {{0, -3, "0"},        {1, -1, "0.1"},          {3, -1, "0.3"},         {15, -1, "1.5"},
               {-25, -2, "−0.25"},  {7, 3, "7000"},          {-5, 0, "−5"},          {100, -2, "1.00"},
               {12, -5, "0.00012"}, {123456, -3, "123.456"}, {1000000, 0, "1000000"}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_text text = {0};
    rs_plot_decimal(cases[i].n, cases[i].exponent, &text);
    cr_assert_str_eq(rs_text_string(&text), cases[i].text);
    rs_text_clear(&text);
  }
}

Test(plot, tokens__multiples_of_1024__are_short) {
  static const struct {
    double tokens;
    const char *text;
  } cases[] = {{1, "1"},         {512, "512"},   {1000, "1000"},     {1024, "1k"},    {4096, "4k"},
               {131072, "128k"}, {98304, "96k"}, {100000, "100000"}, {1048576, "1M"}, {1572864, "1.5M"}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_text text = {0};
    rs_plot_tokens(cases[i].tokens, &text);
    cr_assert_str_eq(rs_text_string(&text), cases[i].text);
    rs_text_clear(&text);
  }
}

Test(plot, words__name_with_its_unit__loses_it) {
  static const char *const cases[][3] = {{"entropy_nats", "nats", "entropy"},
                                         {"length_tokens", "tokens", "length"},
                                         {"omega_rad_per_token", "rad/token", "omega"},
                                         {"needle_weight", "1", "needle weight"},
                                         {"nats", "nats", "nats"},
                                         {"xnats", "nats", "xnats"},
                                         {"_nats", "nats", " nats"},
                                         {"entropy", "", "entropy"}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_text text = {0};
    rs_plot_words(cases[i][0], cases[i][1], &text);
    cr_assert_str_eq(rs_text_string(&text), cases[i][2]);
    rs_text_clear(&text);
  }
}

Test(plot, slug__any_text__is_a_plain_file_name) {
  static const char *const cases[][2] = {{"gaussian", "gaussian"},
                                         {"needle depth=0.5", "needle-depth=0.5"},
                                         {"Qwen2.5-VL (7B)", "qwen2.5-vl-7b"},
                                         {"../../etc/passwd", "etc-passwd"},
                                         {"", "plot"},
                                         {"///", "plot"},
                                         {".hidden", "hidden"},
                                         {"-- a   b --", "a-b"},
                                         {"mémoire", "m-moire"},
                                         {"a\nb\x01", "a-b"}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_text text = {0};
    rs_plot_slug(cases[i][0], &text);
    cr_assert_str_eq(rs_text_string(&text), cases[i][1]);
    rs_text_clear(&text);
  }
  char name[1000];
  rs_text text = {0};
  memset(name, 'x', sizeof name - 1);
  name[sizeof name - 1] = '\0';
  rs_plot_slug(name, &text);
  cr_assert_leq(text.length, 80u);
  rs_text_clear(&text);
}

Test(plot, xml_escape__markup_and_broken_bytes__stay_text) {
  static const char *const cases[][2] = {
      {"a<b>&\"c'", "a&lt;b&gt;&amp;&quot;c&#39;"}, {"ω 方", "ω 方"},
      {"tab\tnew\nline", "tab\tnew\nline"},         {"\x01\x1b", "\uFFFD\uFFFD"},
      {"\xff\xc0\xaf", "\uFFFD\uFFFD\uFFFD"},       {"\xed\xa0\x80", "\uFFFD\uFFFD\uFFFD"},
      {"cut \xe2\x88", "cut \uFFFD\uFFFD"},         {"\xef\xbf\xbf", "\uFFFD"}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_text text = {0};
    rs_plot_xml_escape(cases[i][0], &text);
    cr_assert_str_eq(rs_text_string(&text), cases[i][1], "case %zu", i);
    rs_text_clear(&text);
  }
}

Test(plot, wrap__any_width__keeps_all_words_and_fits) {
  const char *text =
      "largest phase error of float32 angles against double, averageextraordinarilylongword ω β 方法 end";
  for (double width = 20; width < 900; width += 13) {
    size_t letters = 0, spaces = 0;
    for (const char *rest = text, *next; *rest != '\0'; rest = next) {
      size_t length = rs_plot_wrap(rest, 14, false, width, &next);
      cr_assert_gt(length, 0u);
      cr_assert(rs_plot_text_width(rest, length, 14, false) <= width, "%.*s at %g", (int)length, rest, width);
      letters += length;
      spaces += (size_t)(next - rest) - length;
    }
    cr_assert_eq(letters + spaces, strlen(text));
  }
}

/* ---- axes -------------------------------------------------------------------------------------------------------- */

Test(plot, ticks__ranges_of_every_size__are_few_distinct_and_apart) {
  srand(20240607);
  for (int run = 0; run < 4000; run++) {
    double size = pow(10, rand() % 24 - 12), low = (rand() % 2001 - 1000) / 1000.0 * size;
    double high = low + pow(10, rand() % 9 - 7) * size * (1 + rand() % 10);
    bool vertical = run % 2 == 0, log = run % 3 == 0, tokens = run % 5 == 0;
    rs_plot_axis axis = axis_of(low, high, log, tokens, vertical);
    const rs_plot_tick *before = NULL;
    size_t labels = 0;
    for (size_t i = 0; i < axis.count; i++) {
      const rs_plot_tick *tick = &axis.ticks[i];
      double end = vertical ? 300 : 400;
      cr_assert(tick->pixel >= -1e-6 && tick->pixel <= end + 1e-6, "[%.17g, %.17g]: at %g", low, high, tick->pixel);
      if (tick->label[0] == '\0' || (axis.rail && i + 1 == axis.count)) continue;
      labels++;
      cr_assert_leq(strlen(tick->label), 22u, "[%.17g, %.17g]: %s", low, high, tick->label);
      if (before != NULL) {
        double room = vertical ? 14 : (rs_plot_tick_width(before) + rs_plot_tick_width(tick)) / 2;
        cr_assert(fabs(tick->pixel - before->pixel) > room, "[%.17g, %.17g]: %s", low, high, labels_of(&axis));
        cr_assert(strcmp(tick->label, before->label) != 0 || strcmp(tick->power, before->power) != 0,
                  "[%.17g, %.17g]: %s twice", low, high, tick->label);
      }
      before = tick;
    }
    cr_assert(labels >= (axis.single ? 1 : 2) && labels <= 13, "[%.17g, %.17g]: %s", low, high, labels_of(&axis));
  }
}

Test(plot, ticks__known_ranges__are_the_expected_ones) {
  static const struct {
    double low, high;
    bool log, tokens, vertical;
    const char *labels;
  } cases[] = {
      {1024, 131072, true, true, false, "1k 2k 4k 8k 16k 32k 64k 128k"},
      {1, 1048576, true, true, false, "1 4 16 64 256 1k 4k 16k 64k 256k 1M"},
      {0, 131072, false, true, false, "0 16k 32k 48k 64k 80k 96k 112k 128k"},
      {0, 0.99, false, false, false, "0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1.0"},
      {0, 1, false, false, false, "0 1"},
      {0, 1, false, false, true, "0 0.2 0.4 0.6 0.8 1.0"},
      {0, 4, false, false, false, "0 1 2 3 4"},
      {-1, 2, false, false, true, "−1 0 1 2"},
      {20, 20, false, false, true, "19 20 21"},
      {0, 0, false, false, true, "−1 0 1"},
      {3, 3, false, false, true, "2.85 2.90 2.95 3.00 3.05 3.10 3.15"},
      {0, 40, false, false, false, "0 5 10 15 20 25 30 35 40"},
      {3.9, 11.1, false, false, true, "4 5 6 7 8 9 10 11"},
      {-1.4, 1.4, false, false, true, "−1.5 −1.0 −0.5 0 0.5 1.0 1.5"},
      {0.0001, 0.5, true, false, true, "10^−4 10^−3 10^−2 10^−1"},
      {0.002, 0.5, true, false, true, "0.002 0.005 0.01 0.02 0.05 0.1 0.2 0.5"},
      {0, 6e-6, false, false, true, "0 1×10^−6 2×10^−6 3×10^−6 4×10^−6 5×10^−6 6×10^−6"},
      {0.97, 0.99, true, false, true, "0.970 0.975 0.980 0.985 0.990"},
      {4096, 4096, true, true, false, "4k"},
      {0.1 + 0.2, 0.1 + 0.2, false, false, false, "0.3"},
      {-6.000000000000001e-9, -6.000000000000001e-9, false, false, false, "−6×10^−9"},
      {3000, 3000, true, true, false, "3000"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_plot_axis axis = axis_of(cases[i].low, cases[i].high, cases[i].log, cases[i].tokens, cases[i].vertical);
    cr_assert_str_eq(labels_of(&axis), cases[i].labels, "case %zu: %s", i, labels_of(&axis));
  }
}

Test(plot, axis__constant_or_nonnegative_data__is_padded_with_sense) {
  static const double values[] = {0, 1, -3.5, 1e-12, 1e300, -1e-200, 0.1};
  for (size_t i = 0; i < RS_COUNT(values); i++) {
    rs_plot_axis axis = axis_of(values[i], values[i] * (1 + 1e-15), false, false, true);
    cr_assert(axis.low < values[i] && axis.high > values[i], "%g", values[i]);
    cr_assert_float_eq(rs_plot_axis_pixel(&axis, values[i]), 150, 1e-6, "in the middle");
    cr_assert_gt(axis.count, 1u);
  }
  rs_plot_axis from_zero = axis_of(0.001, 10, false, false, true), far = axis_of(8, 10, false, false, true);
  cr_assert(from_zero.low <= 0 && from_zero.low > -0.3, "%g", from_zero.low);
  cr_assert_gt(far.low, 7.5);
}

Test(plot, axis__log_with_zeros__sets_them_apart) {
  for (int vertical = 0; vertical < 2; vertical++) {
    rs_plot_axis axis;
    rs_plot_extent extent = {0};
    static const double values[] = {0, 0.5, 8, NAN, 1024};
    for (size_t i = 0; i < RS_COUNT(values); i++) rs_plot_extent_add(&extent, values[i]);
    rs_plot_axis_fit(&axis, &extent, true, false, vertical);
    rs_plot_axis_place(&axis, vertical ? 300 : 0, vertical ? 0 : 400);
    cr_assert(axis.rail && axis.scale == RS_PLOT_LOG10);
    cr_assert_str_eq(axis.ticks[axis.count - 1].label, "0");
    double zero = rs_plot_axis_pixel(&axis, 0), half = rs_plot_axis_pixel(&axis, 0.5);
    cr_assert(fabs(zero - axis.start) < fabs(axis.base - axis.start), "zero stands before the range");
    cr_assert(fabs(half - axis.start) >= fabs(axis.base - axis.start), "what is positive stands in it");
  }
}

Test(plot, axis__log_with_negatives_or_nothing_positive__is_linear) {
  cr_assert_eq(axis_of(-1, 100, true, false, true).scale, RS_PLOT_LINEAR);
  cr_assert_eq(axis_of(0, 0, true, false, true).scale, RS_PLOT_LINEAR);
  cr_assert_eq(axis_of(1, 100, true, true, true).scale, RS_PLOT_LOG2);
}

Test(plot, axis__log_over_hundreds_of_decades__has_a_floor) {
  rs_plot_axis axis = axis_of(1e-280, 1, true, false, true);
  cr_assert(axis.rail && axis.floor);
  cr_assert_str_eq(axis.ticks[axis.count - 1].label, "<10");
  cr_assert_str_eq(axis.ticks[axis.count - 1].power, "−16");
  cr_assert(axis.low > 1e-17 && axis.low < 1e-15);
}

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

Test(plot, style__first_sixteen__differ_in_colour_and_marker) {
  for (size_t a = 0; a < 32; a++) {
    for (size_t b = 0; b < a; b++) {
      rs_plot_style x = rs_plot_style_of(a), y = rs_plot_style_of(b);
      bool marker = x.marker != y.marker || x.hollow != y.hollow;
      bool dash = x.dashes != y.dashes || memcmp(x.dash, y.dash, sizeof x.dash) != 0;
      cr_assert(marker || dash, "%zu and %zu look the same in grey", a, b);
      if (a < RS_PLOT_LEGEND) cr_assert(marker && x.colour != y.colour, "%zu and %zu", a, b);
    }
  }
}

Test(plot, lines__a_gap__breaks_the_line_and_marks_single_points) {
  rs_plot_point points[] = {point(1, 1),   point(2, 2), point(3, NAN), point(4, 4),
                            point(5, NAN), point(6, 5), point(7, 7)};
  rs_plot_series series = {.label = "a", .points = points, .count = RS_COUNT(points)};
  rs_plot_picture picture = picture_of(&series, 1, false);
  uint32_t colour = rs_plot_style_of(0).colour;
  cr_assert_eq(count_shapes(&picture, RS_PLOT_LINE, colour), 2u + 1u, "two stretches and the legend's sample");
  cr_assert_eq(find_shape(&picture, RS_PLOT_LINE, colour, 0)->count, 2u);
  cr_assert_eq(find_shape(&picture, RS_PLOT_MARKERS, colour, 0)->count, 5u, "the point at 4 too");
  rs_plot_picture_clear(&picture);
}

Test(plot, lines__zero_on_a_log_axis__is_not_joined) {
  rs_plot_point points[] = {point(0, 1), point(1, 2), point(10, 3), point(100, 4)};
  rs_plot_series series = {.label = "a", .points = points, .count = RS_COUNT(points)};
  rs_plot_picture picture = picture_of(&series, 1, true);
  const rs_plot_shape *line = find_shape(&picture, RS_PLOT_LINE, rs_plot_style_of(0).colour, 0);
  cr_assert_eq(line->count, 3u);
  cr_assert_eq(find_shape(&picture, RS_PLOT_MARKERS, rs_plot_style_of(0).colour, 0)->count, 4u);
  rs_plot_picture_clear(&picture);
}

Test(plot, lines__coinciding__take_turns_where_they_do) {
  rs_plot_point one[] = {point(1, 1), point(2, 2), point(3, 3), point(4, 9)};
  rs_plot_point two[] = {point(1, 1), point(2, 2), point(3, 3), point(4, 1)};
  rs_plot_series series[] = {{.label = "a", .style = 0, .points = one, .count = 4},
                             {.label = "b", .style = 1, .points = two, .count = 4}};
  rs_plot_picture picture = picture_of(series, 2, false);
  const rs_plot_shape *a = find_shape(&picture, RS_PLOT_LINE, rs_plot_style_of(0).colour, 0);
  const rs_plot_shape *b = find_shape(&picture, RS_PLOT_LINE, rs_plot_style_of(1).colour, 0);
  cr_assert(a->count == 3 && b->count == 3, "the shared stretch is a path of its own");
  cr_assert(a->dashes == 2 && b->dashes == 2 && a->dash[0] == a->dash[1], "half of it each");
  cr_assert(a->lead == 0 && b->lead == a->dash[0], "one starts where the other stops");
  const rs_plot_shape *marks = find_shape(&picture, RS_PLOT_MARKERS, rs_plot_style_of(0).colour, 0);
  const rs_plot_shape *others = find_shape(&picture, RS_PLOT_MARKERS, rs_plot_style_of(1).colour, 0);
  cr_assert_eq(marks->count + others->count, 3u + 2u, "shared points have one marker");
  cr_assert(marks->count > 1 && others->count > 1, "both are seen on the shared stretch");
  rs_plot_picture_clear(&picture);
}

Test(plot, lines__one_x__stand_side_by_side) {
  rs_plot_point at[] = {point(4096, 1), point(4096, 1), point(4096, 1)};
  rs_plot_series series[3];
  double x[3];
  for (size_t i = 0; i < 3; i++) series[i] = (rs_plot_series){.label = "m", .style = i, .points = &at[i], .count = 1};
  rs_plot_picture picture = picture_of(series, 3, true);
  for (size_t i = 0; i < 3; i++) {
    const rs_plot_shape *marks = find_shape(&picture, RS_PLOT_MARKERS, rs_plot_style_of(i).colour, 0);
    cr_assert_eq(marks->count, 1u);
    x[i] = picture.points[marks->begin].x;
  }
  cr_assert(x[1] - x[0] > 8 && x[2] - x[1] > 8);
  rs_plot_picture_clear(&picture);
}

Test(plot, lines__many_points__are_thinned_but_keep_their_extremes) {
  enum { MANY = 100000, SPIKE = 12345 };
  rs_plot_point *points = calloc(MANY, sizeof *points);
  cr_assert_not_null(points);
  for (size_t i = 0; i < MANY; i++) points[i] = point((double)i, i == SPIKE ? 100 : sin((double)i / 500));
  rs_plot_series series = {.label = "a", .points = points, .count = MANY};
  rs_plot_picture picture = picture_of(&series, 1, false);
  const rs_plot_shape *line = find_shape(&picture, RS_PLOT_LINE, rs_plot_style_of(0).colour, 0);
  double top = INFINITY, before = -INFINITY;
  cr_assert(line->count > 500 && line->count <= RS_PLOT_MAX_POINTS, "%zu", line->count);
  for (size_t i = 0; i < line->count; i++) {
    const rs_plot_xy *at = &picture.points[line->begin + i];
    cr_assert_geq(at->x, before, "from left to right");
    before = at->x;
    top = fmin(top, at->y);
  }
  size_t high = 0;
  for (size_t i = 0; i < line->count; i++) high += picture.points[line->begin + i].y < top + 100;
  cr_assert_eq(high, 1u, "the spike is there, and alone");
  free(points);
  rs_plot_picture_clear(&picture);
}

/* ---- folders ----------------------------------------------------------------------------------------------------- */

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

Test(plot, results__same_for_all_sources__is_one_chart, .init = make_folder, .fini = remove_folder) {
  const char *columns =
      ENTROPY ",{\"name\":\"pairs\",\"role\":\"value\"},{\"name\":\"none\",\"role\":\"value\"}," STATUS;
  put_summary(columns, "entropy_nats,pairs,none,status,message",
              "0,m,rope,1024,1,a,1,8,5,7,,ok,\n1,m,rope,1024,1,b,1,8,6,7,,ok,\n2,m,rope,2048,1,a,1,8,5,8,,ok,\n"
              "3,m,rope,2048,1,b,1,8,,,,domain,\n");
  cr_assert_eq(draw_all(NULL, RS_OK, NULL), 3u);
  cr_assert(exists("plots/entropy_nats--a.svg") && exists("plots/entropy_nats--b.svg") && exists("plots/pairs.svg"));
  cr_assert_not(exists("plots/none.svg"), "an empty column is left out");
}

Test(plot, results__cells_alike_but_for_scale_or_heads__keep_apart, .init = make_folder, .fini = remove_folder) {
  put_summary(ENTROPY "," STATUS, "entropy_nats,status,message",
              "0,m,yarn,1024,2,g,1,8,5,ok,\n1,m,yarn,1024,4,g,1,8,6,ok,\n2,m,rope,1024,1,g,1,8,4,ok,\n"
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

/* CIE L* of a colour, and a*, b*, from sRGB by the standard's own direction. */
static void lab_of(uint32_t colour, double lab[3]) {
  static const double matrix[3][3] = {
      {0.4124, 0.3576, 0.1805}, {0.2126, 0.7152, 0.0722}, {0.0193, 0.1192, 0.9505}}; /* IEC 61966-2-1 */
  static const double white[] = {0.95047, 1, 1.08883};
  double f[3];
  for (size_t i = 0; i < 3; i++) {
    double sum = 0;
    for (size_t k = 0; k < 3; k++) {
      double byte = (double)(colour >> (16 - 8 * k) & 0xFF) / 255;
      sum += matrix[i][k] * (byte <= 0.04045 ? byte / 12.92 : pow((byte + 0.055) / 1.055, 2.4));
    }
    double share = sum / white[i];
    f[i] = share > 216.0 / 24389 ? cbrt(share) : (24389.0 / 27 * share + 16) / 116;
  }
  lab[0] = 116 * f[1] - 16;
  lab[1] = 500 * (f[0] - f[1]);
  lab[2] = 200 * (f[1] - f[2]);
}

/* Readable in grey: lightness grows evenly. Readable by eye: colours a quarter apart differ about evenly (bytes are too
 * coarse for less). */
Test(plot, colours__of_levels__grow_evenly_in_lightness_and_difference) {
  double least = INFINITY, most = 0;
  for (size_t level = 0; level < RS_PLOT_LEVELS; level++) {
    double here[3], there[3];
    lab_of(rs_plot_level_colour(level), here);
    cr_assert_float_eq(here[0], 16 + 76.0 * (double)level / 255, 0.4, "level %zu: %g", level, here[0]);
    if (level + 64 >= RS_PLOT_LEVELS) continue;
    lab_of(rs_plot_level_colour(level + 64), there);
    double step = sqrt(pow(there[0] - here[0], 2) + pow(there[1] - here[1], 2) + pow(there[2] - here[2], 2));
    least = fmin(least, step);
    most = fmax(most, step);
  }
  cr_assert(least > 28 && most < 1.25 * least, "%g to %g", least, most);
}

#define MAP_COLUMNS                                                                                                    \
  KEYS ",{\"name\":\"from\",\"role\":\"index\",\"map\":\"panel\"},{\"name\":\"to\",\"role\":\"index\",\"map\":"        \
       "\"mark\"},{\"name\":\"dh\",\"role\":\"index\",\"map\":\"y\"},{\"name\":\"dw\",\"role\":\"index\",\"map\":"     \
       "\"x\"},{\"name\":\"likeness\",\"role\":\"value\",\"unit\":\"nats\",\"summary\":\"how <alike>\"}"
#define MAP "{\"files\":[{\"file\":\"map.csv\",\"columns\":[" MAP_COLUMNS "]}]}"
#define MAP_HEADER HEADER ",from,to,dh,dw,likeness\n"

static rs_status read_map(const char *rows, rs_plot_map *map) {
  char text[20000];
  rs_plot_data data = {0};
  rs_plot_report report = {0};
  rs_plot_measure measure = {0};
  rs_err err = {0};
  put_file("manifest.json", MAP);
  snprintf(text, sizeof text, MAP_HEADER "%s", rows);
  put_file("map.csv", text);
  cr_assert_eq(rs_plot_manifest_read(folder, &data, &err), RS_OK, "%s", err.message);
  cr_assert_eq(rs_plot_cells_read(&data, data.files, &report, &err), RS_OK, "%s", err.message);
  const rs_plot_column *column = rs_plot_column_of(data.files, RS_PLOT_VALUE, 0);
  cr_assert_eq(rs_plot_measure_read(&data, data.files, column, &measure, &err), RS_OK, "%s", err.message);
  rs_status status = rs_plot_map_read(&measure, &(rs_plot_choice){0, RS_PLOT_ANY, 64, NULL, NULL}, map, &err);
  rs_plot_measure_clear(&measure);
  rs_plot_data_clear(&data);
  rs_plot_report_clear(&report);
  return status;
}

/* Two methods, panels 7 and 9, 2 x 3 places, in any order; one value twice, one missing, one empty. */
#define MAP_ROWS                                                                                                       \
  "0,m,a,64,1,,,8,9,9,1,30,6\n0,m,a,64,1,,,8,7,7,-1,10,1\n0,m,a,64,1,,,8,7,8,-1,20,2\n"                                \
  "0,m,a,64,1,,,8,7,9,1,10,4\n0,m,a,64,1,,,8,7,9,1,10,8\n0,m,a,64,1,,,8,7,6,1,20,\n"                                   \
  "1,m,b,64,1,,,8,7,7,-1,10,-3\n1,m,b,64,1,,,8,9,3,-1,30,0.5\n2,m,b,128,1,,,8,9,3,-1,30,99\n"

Test(plot, map__rows_in_any_order__find_their_places, .init = make_folder, .fini = remove_folder) {
  static const double expected[2][2][6] = {{{1, 2, NAN, 6, NAN, NAN}, {NAN, NAN, NAN, NAN, NAN, 6}},
                                           {{-3, NAN, NAN, NAN, NAN, NAN}, {NAN, NAN, 0.5, NAN, NAN, NAN}}};
  rs_plot_map map;
  cr_assert_eq(read_map(MAP_ROWS, &map), RS_OK);
  cr_assert(map.x.count == 3 && map.x.items[0] == 10 && map.x.items[2] == 30);
  cr_assert(map.y.count == 2 && map.y.items[0] == -1 && map.y.items[1] == 1);
  cr_assert(map.panel.count == 2 && map.panels == 2 && map.panel.items[0] == 7 && map.panel.items[1] == 9);
  cr_assert_eq(map.count, 2u);
  for (size_t i = 0; i < 24; i++) {
    double want = expected[i / 12][i / 6 % 2][i % 6], got = map.values[i];
    cr_assert(isnan(want) ? isnan(got) : got == want, "%zu: %g, not %g", i, got, want);
  }
  cr_assert(map.marks[0] == 0 && map.marks[1] == 5, "%zu %zu", map.marks[0], map.marks[1]);
  cr_assert(map.any && map.low == -3 && map.high == 6 && map.folded == 2);
  rs_plot_map_clear(&map);
}

Test(plot, map__many_panels__are_thinned_to_six, .init = make_folder, .fini = remove_folder) {
  rs_text rows = {0};
  rs_plot_map map;
  for (int i = 0; i < 16; i++) rs_text_printf(&rows, "0,m,a,64,1,,,8,%d,-1,0,0,%d\n", i, i);
  rs_text_puts(&rows, "1,m,b,64,1,,,8,1,-1,0,0,99\n");
  cr_assert_eq(read_map(rs_text_string(&rows), &map), RS_OK);
  cr_assert(map.count == 1 && map.absent == 1 && map.methods[1] == 1, "b has no value in what is shown");
  static const double kept[] = {0, 3, 6, 9, 12, 15};
  cr_assert(map.panel.count == 6 && map.panels == 16 && map.folded == 1 && map.low == 0 && map.high == 15);
  for (size_t i = 0; i < 6; i++)
    cr_assert(map.panel.items[i] == kept[i] && map.values[i] == kept[i] && map.marks[i] == SIZE_MAX, "%zu", i);
  rs_plot_map_clear(&map);
  rs_text_clear(&rows);
}

Test(plot, map__many_panels_of_offsets__keep_that_of_zero, .init = make_folder, .fini = remove_folder) {
  rs_text rows = {0};
  rs_plot_map map;
  for (int i = -16; i < 16; i++) rs_text_printf(&rows, "0,m,a,64,1,,,8,%d,-1,0,0,%d\n", i, i);
  cr_assert_eq(read_map(rs_text_string(&rows), &map), RS_OK);
  static const double kept[] = {-16, -10, -4, 0, 8, 15};
  for (size_t i = 0; i < 6; i++) cr_assert(map.panel.items[i] == kept[i] && map.values[i] == kept[i], "%zu", i);
  rs_plot_map_clear(&map);
  rs_text_clear(&rows);
}

/* A picture of `across` x `down` cells that count up, in `panels` panels of two methods. */
static rs_plot_picture heat_of(size_t across, size_t down, size_t panels, const char *panel_name, size_t *marks) {
  static const char *const names[] = {
      "one", "a method of a name that is too long for a panel, whatever its size, and has to be wrapped there"};
  size_t methods[] = {0, 1}, cells = across * down * panels * 2;
  double numbers[512], values[4096];
  cr_assert(across <= 512 && cells <= RS_COUNT(values));
  for (size_t i = 0; i < RS_COUNT(numbers); i++) numbers[i] = (double)i;
  for (size_t i = 0; i < cells; i++) values[i] = (double)i;
  rs_plot_map map = {{numbers, across},
                     {numbers, down},
                     {numbers, panels},
                     panels,
                     methods,
                     2,
                     values,
                     marks,
                     0,
                     (double)cells - 1,
                     1,
                     true,
                     0};
  rs_plot_heat heat = {.title = "T",
                       .definition = "",
                       .subtitle = "",
                       .description = "",
                       .x_name = "x",
                       .y_name = "y",
                       .panel_name = panel_name,
                       .name = "value",
                       .unit = "1",
                       .methods = names,
                       .map = &map};
  rs_plot_picture picture = {0};
  rs_err err = {0};
  cr_assert_eq(rs_plot_heat_draw(&heat, &picture, &err), RS_OK, "%s", err.message);
  return picture;
}

/* Every cell once, its own size from the next, on whole pixels and within the picture; all panels alike. */
static void check_cells(const rs_plot_picture *picture, size_t cells) {
  size_t found = 0;
  for (size_t i = 0; i < picture->count; i++) {
    const rs_plot_shape *shape = &picture->shapes[i];
    if (shape->kind != RS_PLOT_CELLS || shape->tall == 1) continue; /* 1: of the colour bar */
    cr_assert(shape->size == floor(shape->size) && shape->tall == floor(shape->tall) && shape->size >= 2);
    for (size_t k = 0; k < shape->count; k++, found++) {
      const rs_plot_xy *at = &picture->points[shape->begin + k];
      cr_assert(at->x == floor(at->x) && at->y == floor(at->y), "%g %g", at->x, at->y);
      cr_assert(at->x > 0 && at->y > 0 && at->x + shape->size < picture->width &&
                at->y + shape->tall < picture->height);
    }
  }
  cr_assert_eq(found, cells, "%zu of %zu cells", found, cells);
}

static bool has_text(const rs_plot_picture *picture, const char *text) {
  for (size_t i = 0; i < picture->count; i++)
    if (picture->shapes[i].kind == RS_PLOT_TEXT && strcmp(picture->text.data + picture->shapes[i].text, text) == 0)
      return true;
  return false;
}

/* The box around a text, as far as it is known. */
static void text_box(const rs_plot_picture *picture, const rs_plot_shape *shape, double box[4]) {
  const char *text = picture->text.data + shape->text;
  const rs_plot_xy *at = &picture->points[shape->begin];
  double width = rs_plot_text_width(text, strlen(text), shape->size, shape->bold), up = 0.75 * shape->size;
  double left = shape->anchor == RS_PLOT_START ? 0 : shape->anchor == RS_PLOT_MIDDLE ? width / 2 : width;
  box[0] = shape->upright ? at->x - up : at->x - left;
  box[1] = shape->upright ? at->x : at->x - left + width;
  box[2] = shape->upright ? at->y - width + left : at->y - up;
  box[3] = shape->upright ? at->y + left : at->y;
}

static void check_texts(const rs_plot_picture *picture, const char *what) {
  for (size_t i = 0; i < picture->count; i++) {
    double a[4], b[4];
    if (picture->shapes[i].kind != RS_PLOT_TEXT) continue;
    text_box(picture, &picture->shapes[i], a);
    cr_assert(a[0] >= 0 && a[1] <= picture->width && a[2] >= 0 && a[3] <= picture->height, "%s: %s is outside", what,
              picture->text.data + picture->shapes[i].text);
    for (size_t k = i + 1; k < picture->count; k++) {
      if (picture->shapes[k].kind != RS_PLOT_TEXT) continue;
      text_box(picture, &picture->shapes[k], b);
      cr_assert(a[1] <= b[0] || b[1] <= a[0] || a[3] <= b[2] || b[3] <= a[2], "%s: %s and %s overlap", what,
                picture->text.data + picture->shapes[i].text, picture->text.data + picture->shapes[k].text);
    }
  }
}

Test(plot, heat__any_size__has_every_cell_and_no_overlap) {
  static const size_t sizes[][3] = {{14, 14, 5}, {32, 24, 2},  {1, 1, 6}, {40, 3, 1},
                                    {3, 40, 6},  {100, 10, 2}, {2, 2, 1}};
  size_t none[6], some[6];
  for (size_t i = 0; i < RS_COUNT(sizes); i++)
    for (int marked = 0; marked < 2; marked++) {
      size_t cells = sizes[i][0] * sizes[i][1];
      char what[64];
      snprintf(what, sizeof what, "%zu x %zu x %zu %d", sizes[i][0], sizes[i][1], sizes[i][2], marked);
      for (size_t k = 0; k < 6; k++) none[k] = SIZE_MAX, some[k] = (k * 7) % cells;
      rs_plot_picture picture =
          heat_of(sizes[i][0], sizes[i][1], sizes[i][2], sizes[i][2] > 1 ? "step in time" : "", marked ? some : none);
      check_cells(&picture, 2 * sizes[i][2] * cells);
      check_texts(&picture, what);
      cr_assert(has_text(&picture, "one") && has_text(&picture, "value"));
      cr_assert_eq(has_text(&picture, "step in time 1"), !marked && sizes[i][2] > 1, "%s", what);
      cr_assert_eq(has_text(&picture, "y 0, x 0"), marked && sizes[i][2] > 1, "%s", what);
      rs_plot_picture_clear(&picture);
    }
}

/* The first cell is the darkest and at the upper left, the last the lightest and at the lower right; x to the right. */
Test(plot, heat__cells__lie_where_their_numbers_say) {
  size_t none[2] = {SIZE_MAX, SIZE_MAX};
  rs_plot_picture picture = heat_of(3, 2, 1, "", none);
  rs_plot_xy corner[12];
  for (size_t i = 0, k = 0; i < picture.count; i++) {
    const rs_plot_shape *shape = &picture.shapes[i];
    if (shape->kind != RS_PLOT_CELLS || shape->tall == 1) continue;
    cr_assert_eq(shape->colour, rs_plot_level_colour((size_t)lround(255.0 * (double)k / 11)), "cell %zu", k);
    cr_assert_eq(shape->count, 1u);
    corner[k++] = picture.points[shape->begin];
  }
  for (size_t k = 0; k < 12; k++) {
    cr_assert_eq(corner[k].x, corner[k / 6 * 6].x + (double)(k % 3) * (corner[1].x - corner[0].x));
    cr_assert_eq(corner[k].y, corner[0].y + (double)(k % 6 / 3) * (corner[3].y - corner[0].y));
  }
  cr_assert(corner[1].x > corner[0].x && corner[3].y > corner[0].y && corner[6].x > corner[2].x, "side by side");
  rs_plot_picture_clear(&picture);
}

/* Cells of 5 x 3 at (10, 20) and (15, 20): exact. */
Test(plot, cells__in_a_file__are_rectangles_from_their_upper_left) {
  rs_plot_picture picture = {.width = 40, .height = 40};
  rs_text svg = {0};
  rs_plot_shape_add(&picture, RS_PLOT_CELLS, 0x123456, 5)->tall = 3;
  rs_plot_point_add(&picture, 10, 20);
  rs_plot_point_add(&picture, 15, 20);
  rs_plot_svg_write(&picture, &svg);
  cr_assert_not_null(strstr(rs_text_string(&svg), "fill=\"#123456\" d=\"M10 20h5v3h-5zM15 20h5v3h-5z\"/>"), "%s",
                     svg.data);
  rs_text_clear(&svg);
  rs_plot_picture_clear(&picture);
}

/* The number after the last `attribute` before `word`. */
static double number_before(const char *svg, const char *word, const char *attribute) {
  const char *end = strstr(svg, word), *found = NULL;
  cr_assert_not_null(end, "no %s", word);
  for (const char *at = svg; (at = strstr(at, attribute)) != NULL && at < end; at++) found = at + strlen(attribute);
  cr_assert_not_null(found);
  return atof(found);
}

Test(plot, results__a_curve_over_two_indices__is_a_heat_map, .init = make_folder, .fini = remove_folder) {
  put_file("manifest.json", MAP);
  put_file("map.csv", MAP_HEADER MAP_ROWS);
  cr_assert_eq(draw_all(&(rs_plot_options){.length = 64}, RS_OK, NULL), 1u);
  char *svg = picture_text("plots/map--likeness--64.svg");
  static const char *const parts[] = {"<title>Map: likeness</title>",
                                      "how &lt;alike&gt;",
                                      "length 64 tokens",
                                      "dot: from",
                                      "means of",
                                      ">likeness (nats)<",
                                      ">dh -1, dw 10<",
                                      ">dh 1, dw 30<",
                                      ">a<",
                                      ">b<",
                                      ">dh<",
                                      ">dw<",
                                      "crispEdges",
                                      "</svg>\n"};
  for (size_t i = 0; i < RS_COUNT(parts); i++) cr_assert_not_null(strstr(svg, parts[i]), "no %s", parts[i]);
  cr_assert_null(strstr(svg, "nan"));
  free(svg);
}

/* One panel has no row of its own: methods stand side by side, and the subtitle names it. */
Test(plot, results__a_map_of_one_panel__has_methods_side_by_side, .init = make_folder, .fini = remove_folder) {
  double first, second;
  put_file("manifest.json", MAP);
  put_file("map.csv", MAP_HEADER "0,m,a,64,1,,,8,7,3,0,0,1\n0,m,a,64,1,,,8,7,3,0,1,2\n1,m,b,64,1,,,8,7,3,0,0,3\n"
                                 "1,m,b,64,1,,,8,7,3,0,1,4\n");
  cr_assert_eq(draw_all(&(rs_plot_options){.length = 64}, RS_OK, NULL), 1u);
  char *svg = picture_text("plots/map--likeness--64.svg");
  cr_assert_not_null(strstr(svg, "from 7<"), "the subtitle: %s", svg);
  first = number_before(svg, ">a<", " y=\"");
  second = number_before(svg, ">b<", " y=\"");
  cr_assert_eq(first, second, "%g and %g", first, second);
  cr_assert_lt(number_before(svg, ">a<", " x=\""), number_before(svg, ">b<", " x=\""));
  free(svg);
}

/* Without row and column it is lines: one chart for each panel, over the first index that is none. */
Test(plot, results__a_map_without_places__is_lines_for_each_panel, .init = make_folder, .fini = remove_folder) {
  put_file("manifest.json", MAP);
  put_file("map.csv", MAP_HEADER "0,m,a,64,1,,,8,7,7,,,1\n0,m,a,64,1,,,8,7,8,,,0.5\n0,m,a,64,1,,,8,9,7,,,0.25\n");
  cr_assert_eq(draw_all(NULL, RS_OK, NULL), 2u);
  char *svg = picture_text("plots/map--likeness--64--from=7.svg");
  cr_assert_null(strstr(svg, "min"), "of one row a point, not a mean");
  static const char *const parts[] = {"length 64 tokens \u00b7 from 7", ">to<", ">likeness (nats)<"};
  for (size_t i = 0; i < RS_COUNT(parts); i++) cr_assert_not_null(strstr(svg, parts[i]), "no %s", parts[i]);
  free(svg);
  cr_assert(exists("plots/map--likeness--64--from=9.svg"));
}

Test(plot, results__maps_that_cannot_be__are_named, .init = make_folder, .fini = remove_folder) {
  rs_text rows = {0};
  rs_plot_report report;
  rs_text_puts(&rows, MAP_HEADER);
  for (int i = 0; i < 513; i++) rs_text_printf(&rows, "0,m,a,64,1,,,8,7,7,0,%d,1\n", i);
  put_file("manifest.json", MAP);
  put_file("map.csv", rs_text_string(&rows));
  draw(NULL, &report, RS_INPUT, "nothing to draw");
  cr_assert_not_null(strstr(report.notes[0], "no map of likeness: 1 x 513 cells are more than 512 along a side"), "%s",
                     report.notes[0]);
  rs_plot_report_clear(&report);
  rs_text_clear(&rows);
  put_file("manifest.json",
           "{\"files\":[{\"file\":\"map.csv\",\"columns\":[{\"name\":\"a\",\"role\":\"index\",\"map\":\"z\"}]}]}");
  draw_all(NULL, RS_INPUT, "map \"z\" is not one of x, y, panel, mark, strip");
}
