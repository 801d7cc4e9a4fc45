/* test_plot_lines.c: the shapes of charts by where they are and how they look. */
#include "../../src/pages/plot/forms.h"
#include "../../src/pages/plot/paper.h"
#include "plot_fixture.h"

#include <math.h>

static const rs_plot_chart plain_chart = {
    .head = {"T", "", "", ""}, .x_name = "x", .x_unit = "1", .y_name = "y", .y_unit = "1"};

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
  return (rs_plot_point){.x = x, .y = y, .low = y, .high = y};
}

Test(plot_lines, style__looks__differ_in_colour_or_else_in_marker_and_dash) {
  for (size_t a = 0; a < RS_PLOT_COLOURS * RS_PLOT_ROUNDS; a++) {
    for (size_t b = 0; b < a; b++) {
      rs_plot_style x = rs_plot_style_of(a), y = rs_plot_style_of(b);
      bool marker = x.marker != y.marker || x.hollow != y.hollow;
      bool dash = x.dashes != y.dashes || memcmp(x.dash, y.dash, sizeof x.dash) != 0;
      if (a % RS_PLOT_COLOURS == b % RS_PLOT_COLOURS) cr_assert(marker && dash, "%zu and %zu", a, b);
      if (a < RS_PLOT_COLOURS) cr_assert(marker && x.colour != y.colour, "%zu and %zu", a, b);
    }
  }
}

/* A circle has no corners. The others have about its area, by their corners around the middle, and stay near. */
Test(plot_lines, style__markers__look_equally_large) {
  enum { MARKERS = 8 };
  const double radius = 4, circle = M_PI * radius * radius;
  rs_plot_xy at[RS_PLOT_CORNERS];
  for (size_t marker = 0; marker < MARKERS; marker++) {
    size_t count = rs_plot_marker_corners(marker, radius, at);
    double area = 0, farthest = 0;
    for (size_t i = 0; i < count; i++) {
      const rs_plot_xy *a = &at[i], *b = &at[(i + 1) % count];
      area += fabs(a->x * b->y - a->y * b->x) / 2;
      farthest = fmax(farthest, hypot(a->x, a->y));
    }
    cr_assert_eq(count == 0, marker == 0);
    cr_assert(count == 0 || (area > 0.7 * circle && area < 1.4 * circle), "%zu: %g", marker, area / circle);
    cr_assert(farthest <= 1.5 * radius + 1e-9, "%zu: %g", marker, farthest);
  }
}

/* A square, two triangles, a diamond, a plus and a cross of twelve corners, and a star of five points. */
Test(plot_lines, style__markers__have_the_corners_of_their_shapes) {
  static const size_t corners[] = {0, 4, 3, 4, 3, 12, 12, 10};
  rs_plot_xy at[RS_PLOT_CORNERS];
  for (size_t marker = 0; marker < RS_COUNT(corners); marker++)
    cr_expect_eq(rs_plot_marker_corners(marker, 1, at), corners[marker], "marker %zu", marker);
}

/* How far the corners reach in a direction. */
static double extent(size_t marker, double x, double y) {
  rs_plot_xy at[RS_PLOT_CORNERS];
  double most = 0;
  for (size_t i = rs_plot_marker_corners(marker, 1, at); i-- > 0;) most = fmax(most, at[i].x * x + at[i].y * y);
  return most;
}

/* A plus reaches up and aside, a cross into the corners; a square lies flat, and a diamond stands. */
Test(plot_lines, style__markers__stand_as_they_are_called) {
  enum { SQUARE = 1, DIAMOND = 3, PLUS = 5, CROSS = 6 };
  cr_expect(extent(PLUS, 1, 0) > extent(PLUS, M_SQRT1_2, M_SQRT1_2));
  cr_expect(extent(CROSS, 1, 0) < extent(CROSS, M_SQRT1_2, M_SQRT1_2));
  cr_expect(extent(SQUARE, 1, 0) < extent(SQUARE, M_SQRT1_2, M_SQRT1_2));
  cr_expect(extent(DIAMOND, 1, 0) > extent(DIAMOND, M_SQRT1_2, M_SQRT1_2));
}

Test(plot_lines, lines__a_gap__breaks_the_line_and_marks_single_points) {
  rs_plot_point points[] = {point(1, 1),   point(2, 2), point(3, NAN), point(4, 4),
                            point(5, NAN), point(6, 5), point(7, 7)};
  rs_plot_series series = {.label = "a", .style = rs_plot_style_of(0), .points = points, .count = RS_COUNT(points)};
  rs_plot_picture picture = picture_of(&series, 1, false);
  uint32_t colour = rs_plot_style_of(0).colour;
  cr_assert_eq(count_shapes(&picture, RS_PLOT_LINE, colour), 2u + 1u, "two stretches and the legend's sample");
  cr_assert_eq(find_shape(&picture, RS_PLOT_LINE, colour, 0)->count, 2u);
  cr_assert_eq(find_shape(&picture, RS_PLOT_MARKERS, colour, 0)->count, 5u, "the point at 4 too");
  rs_plot_picture_clear(&picture);
}

Test(plot_lines, lines__zero_on_a_log_axis__is_not_joined) {
  rs_plot_point points[] = {point(0, 1), point(1, 2), point(10, 3), point(100, 4)};
  rs_plot_series series = {.label = "a", .style = rs_plot_style_of(0), .points = points, .count = RS_COUNT(points)};
  rs_plot_picture picture = picture_of(&series, 1, true);
  const rs_plot_shape *line = find_shape(&picture, RS_PLOT_LINE, rs_plot_style_of(0).colour, 0);
  cr_assert_eq(line->count, 3u);
  cr_assert_eq(find_shape(&picture, RS_PLOT_MARKERS, rs_plot_style_of(0).colour, 0)->count, 4u);
  rs_plot_picture_clear(&picture);
}

/* A band is there where one of its points has a width, be it the first or the last. */
Test(plot_lines, band__wide_at_one_point__is_drawn) {
  for (size_t wide = 0; wide <= 3; wide++) {
    rs_plot_point points[] = {point(1, 1), point(2, 2), point(3, 3)};
    if (wide < 3) points[wide].low -= 0.5, points[wide].high += 0.5;
    rs_plot_series series = {.label = "a", .style = rs_plot_style_of(0), .points = points, .count = 3};
    rs_plot_picture picture = picture_of(&series, 1, false);
    size_t areas = count_shapes(&picture, RS_PLOT_AREA, rs_plot_style_of(0).colour);
    cr_expect_eq(areas, wide < 3 ? 1u : 0u, "point %zu: %zu bands", wide, areas);
    rs_plot_picture_clear(&picture);
  }
}

Test(plot_lines, lines__coinciding__take_turns_where_they_do) {
  rs_plot_point one[] = {point(1, 1), point(2, 2), point(3, 3), point(4, 9)};
  rs_plot_point two[] = {point(1, 1), point(2, 2), point(3, 3), point(4, 1)};
  rs_plot_series series[] = {{.label = "a", .style = rs_plot_style_of(0), .points = one, .count = 4},
                             {.label = "b", .style = rs_plot_style_of(1), .points = two, .count = 4}};
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

Test(plot_lines, lines__one_x__stand_side_by_side) {
  rs_plot_point place[] = {point(4096, 1), point(4096, 1), point(4096, 1)};
  rs_plot_series series[3];
  double x[3];
  for (size_t i = 0; i < 3; i++)
    series[i] = (rs_plot_series){.label = "m", .style = rs_plot_style_of(i), .points = &place[i], .count = 1};
  rs_plot_picture picture = picture_of(series, 3, true);
  for (size_t i = 0; i < 3; i++) {
    const rs_plot_shape *marks = find_shape(&picture, RS_PLOT_MARKERS, rs_plot_style_of(i).colour, 0);
    cr_assert_eq(marks->count, 1u);
    x[i] = picture.points[marks->begin].x;
  }
  cr_assert(x[1] - x[0] > 8 && x[2] - x[1] > 8);
  rs_plot_picture_clear(&picture);
}

/* Where they are too many for that, they share the room between the axes. */
Test(plot_lines, lines__many_at_one_x__stay_in_the_chart) {
  enum { SERIES = 24 };
  rs_plot_point place = point(4096, 1);
  rs_plot_series series[SERIES];
  for (size_t i = 0; i < SERIES; i++)
    series[i] = (rs_plot_series){.label = "m", .style = rs_plot_style_of(i), .points = &place, .count = 1};
  rs_plot_picture picture = picture_of(series, SERIES, true);
  const rs_plot_shape *axis = find_shape(&picture, RS_PLOT_LINE, RS_PLOT_AXIS, 0);
  double left = picture.points[axis->begin].x, least = INFINITY;
  for (size_t i = 0; i < picture.count; i++)
    if (picture.shapes[i].kind == RS_PLOT_MARKERS) least = fmin(least, picture.points[picture.shapes[i].begin].x);
  cr_expect(least > left + 5 && least < left + 100, "%g beside %g", least, left);
  rs_plot_picture_clear(&picture);
}

Test(plot_lines, lines__many_points__are_thinned_but_keep_their_extremes) {
  enum { MANY = 100000, SPIKE = 12345 };
  rs_plot_point *points = calloc(MANY, sizeof *points);
  cr_assert_not_null(points);
  for (size_t i = 0; i < MANY; i++) points[i] = point((double)i, i == SPIKE ? 100 : sin((double)i / 500));
  rs_plot_series series = {.label = "a", .style = rs_plot_style_of(0), .points = points, .count = MANY};
  rs_plot_picture picture = picture_of(&series, 1, false);
  const rs_plot_shape *line = find_shape(&picture, RS_PLOT_LINE, rs_plot_style_of(0).colour, 0);
  double top = INFINITY, before = -INFINITY;
  cr_assert(line->count > 500 && line->count <= RS_PLOT_MAX_POINTS, "%zu", line->count);
  for (size_t i = 0; i < line->count; i++) {
    const rs_plot_xy *place = &picture.points[line->begin + i];
    cr_assert_geq(place->x, before, "from left to right");
    before = place->x;
    top = fmin(top, place->y);
  }
  size_t high = 0;
  for (size_t i = 0; i < line->count; i++) high += picture.points[line->begin + i].y < top + 100;
  cr_assert_eq(high, 1u, "the spike is there, and alone");
  free(points);
  rs_plot_picture_clear(&picture);
}

/* ---- folders ----------------------------------------------------------------------------------------------------- */

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
Test(plot_lines, colours__of_levels__grow_evenly_in_lightness_and_difference) {
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

/* Any two colours of lines are far enough apart to be told by their names; the CIE calls 2 a visible difference. */
Test(plot_lines, colours__of_lines__are_far_apart) {
  for (size_t a = 0; a < RS_PLOT_COLOURS; a++) {
    for (size_t b = 0; b < a; b++) {
      double x[3], y[3];
      lab_of(rs_plot_style_of(a).colour, x);
      lab_of(rs_plot_style_of(b).colour, y);
      double apart = sqrt(pow(x[0] - y[0], 2) + pow(x[1] - y[1], 2) + pow(x[2] - y[2], 2));
      cr_assert_gt(apart, 26, "%zu and %zu: %g", a, b, apart);
    }
  }
}
