/* test_plot_dots.c: values as dots on rows: results at one length, and categories. */
#include "../../src/pages/plot/forms.h"
#include "plot_svg.h"

#include <math.h>

static rs_plot_point point(double x, double y, double band) {
  return (rs_plot_point){.x = x, .y = y, .low = y - band, .high = y + band};
}

static rs_plot_picture picture_of(const rs_plot_series *series, size_t count, const char *const *categories,
                                  size_t category_count) {
  rs_plot_picture picture = {0};
  rs_err err = {0};
  rs_plot_chart chart = {.head = {"T", "", "", ""},
                         .x_name = "x",
                         .x_unit = "1",
                         .y_name = "value",
                         .y_unit = "nats",
                         .categories = categories,
                         .category_count = category_count,
                         .series = series,
                         .count = count};
  cr_assert_eq(rs_plot_dots_draw(&chart, &picture, &err), RS_OK, "%s", err.message);
  return picture;
}

/* The first marker of this colour after `skip` of them. */
static rs_plot_xy dot_of(const rs_plot_picture *picture, uint32_t colour, size_t skip) {
  for (size_t i = 0; i < picture->count; i++) {
    const rs_plot_shape *shape = &picture->shapes[i];
    if (shape->kind == RS_PLOT_MARKERS && shape->colour == colour && skip-- == 0) return picture->points[shape->begin];
  }
  cr_assert_fail("no marker %06x", (unsigned)colour);
  return (rs_plot_xy){0, 0};
}

static size_t count_kind(const rs_plot_picture *picture, rs_plot_kind kind, uint32_t colour) {
  size_t count = 0;
  for (size_t i = 0; i < picture->count; i++)
    count += picture->shapes[i].kind == kind && picture->shapes[i].colour == colour;
  return count;
}

static rs_plot_xy text_place(const rs_plot_picture *picture, const char *text) {
  for (size_t i = 0; i < picture->count; i++) {
    const rs_plot_shape *shape = &picture->shapes[i];
    if (shape->kind == RS_PLOT_TEXT && strcmp(shape->text, text) == 0) return picture->points[shape->begin];
  }
  cr_assert_fail("no text %s", text);
  return (rs_plot_xy){0, 0};
}

/* One row a series, in their order, at the height of its name; the value to the right, its band as a bar. */
Test(plot_dots, series__of_one_length__are_rows) {
  rs_plot_point points[] = {point(4096, 2, 0), point(4096, 10, 1), point(4096, 6, 0)};
  static const char *const names[] = {"a", "b", "c", "d"};
  rs_plot_series series[4] = {{0}};
  for (size_t i = 0; i < 4; i++)
    series[i] =
        (rs_plot_series){.label = names[i], .style = rs_plot_style_of(i + 1), .points = &points[i], .count = i < 3};
  rs_plot_picture picture = picture_of(series, 4, NULL, 0);
  rs_plot_xy dots[3];
  for (size_t i = 0; i < 3; i++) {
    dots[i] = dot_of(&picture, series[i].style.colour, 0);
    cr_assert_float_eq(dots[i].y, text_place(&picture, names[i]).y - 0.36 * 14, 1e-9, "%s", names[i]);
    cr_assert_gt(dots[i].x, text_place(&picture, names[i]).x);
    cr_assert_eq(count_kind(&picture, RS_PLOT_MARKERS, series[i].style.colour), 1u, "no legend");
    cr_assert_eq(count_kind(&picture, RS_PLOT_LINE, series[i].style.colour), i == 1 ? 3u : 0u, "a bar with caps");
  }
  cr_assert(dots[0].y < dots[1].y && dots[1].y < dots[2].y);
  cr_assert_float_eq((dots[2].x - dots[0].x) / (dots[1].x - dots[0].x), 0.5, 1e-9, "6 is between 2 and 10");
  for (size_t i = 0; i < picture.count; i++)
    if (picture.shapes[i].kind == RS_PLOT_TEXT)
      cr_assert_str_neq(picture.shapes[i].text, "0", "an axis from left to right need not begin there");
  cr_assert_float_eq(text_place(&picture, "no data").y, text_place(&picture, "d").y, 1, "d has none");
  text_place(&picture, "value (nats)");
  rs_plot_picture_clear(&picture);
}

/* A row a category; dots of equal value stand below each other in the order of the legend. */
Test(plot_dots, categories__are_rows_of_dots) {
  rs_plot_point one[] = {point(0, 1, 0), point(2, 9, 0)}, two[] = {point(0, 1, 0), point(1, 5, 0)};
  static const char *const names[] = {"text", "image 2 × 2", "video"};
  rs_plot_series series[] = {{.label = "a", .style = rs_plot_style_of(1), .points = one, .count = 2},
                             {.label = "b", .style = rs_plot_style_of(2), .points = two, .count = 2}};
  rs_plot_picture picture = picture_of(series, 2, names, 3);
  rs_plot_xy a = dot_of(&picture, series[0].style.colour, 0), b = dot_of(&picture, series[1].style.colour, 0);
  rs_plot_xy image = dot_of(&picture, series[1].style.colour, 1), video = dot_of(&picture, series[0].style.colour, 1);
  cr_assert(a.x == b.x && b.y - a.y >= 8, "%g", b.y - a.y);
  cr_assert(a.y < image.y && image.y < video.y && a.x < image.x && image.x < video.x);
  double rows[3];
  for (size_t i = 0; i < 3; i++) rows[i] = text_place(&picture, names[i]).y - 0.36 * 14;
  cr_assert_float_eq((a.y + b.y) / 2, rows[0], 1e-9);
  cr_assert(fabs(image.y - rows[1]) < (rows[1] - rows[0]) / 2 && fabs(video.y - rows[2]) < (rows[2] - rows[1]) / 2);
  cr_assert_gt(text_place(&picture, "b").y, text_place(&picture, "a").y, "a legend");
  cr_assert_eq(count_kind(&picture, RS_PLOT_LINE, series[0].style.colour), 1u, "of the legend: none joins dots");
  rs_plot_picture_clear(&picture);
}

/* Nothing is asked of it, or all that is has no value. */
Test(plot_dots, category_without_a_value__has_no_row) {
  rs_plot_point points[] = {point(0, 1, 0), point(1, NAN, 0), point(3, 2, 0)};
  static const char *const names[] = {"filler", "key", "first value", "repeat"};
  rs_plot_series series = {.label = "a", .style = rs_plot_style_of(1), .points = points, .count = 3};
  rs_plot_picture picture = picture_of(&series, 1, names, 4);
  size_t texts = 0;
  for (size_t i = 0; i < picture.count; i++) {
    bool written = picture.shapes[i].kind == RS_PLOT_TEXT;
    const char *text = written ? picture.shapes[i].text : "";
    texts += strcmp(text, names[1]) == 0 || strcmp(text, names[2]) == 0;
  }
  cr_assert_eq(texts, 0u);
  cr_assert_float_eq(dot_of(&picture, series.style.colour, 0).y, text_place(&picture, "filler").y - 0.36 * 14, 1e-9);
  cr_assert_float_eq(dot_of(&picture, series.style.colour, 1).y, text_place(&picture, "repeat").y - 0.36 * 14, 1e-9);
  rs_plot_picture_clear(&picture);
}

/* ---- folders ----------------------------------------------------------------------------------------------------- */

/* A line at zero where the axis has both sides of it; on a log axis what is 0 stands apart, behind a break. */
Test(plot_dots, zero__has_a_line_between_signs__and_a_rail_beside_logs) {
  enum { ZERO = 0xB3B3B3 };
  static const struct {
    double low, high;
    bool log;
    size_t lines;
  } cases[] = {{-1, 2, false, 1}, {1, 2, false, 0},   {-2, -1, false, 0},
               {0, 2, false, 1},  {1, 1000, true, 0}, {0, 1000, true, 0}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_plot_point points[] = {point(64, cases[i].low, 0), point(64, cases[i].high, 0)};
    const rs_plot_series series[] = {{.label = "a", .points = points, .count = 1, .style = {.colour = 0x111111}},
                                     {.label = "b", .points = points + 1, .count = 1, .style = {.colour = 0x222222}}};
    const rs_plot_chart chart = {.head = {"T", "", "", ""},
                                 .x_name = "x",
                                 .x_unit = "1",
                                 .y_name = "value",
                                 .y_unit = "nats",
                                 .y_log = cases[i].log,
                                 .series = series,
                                 .count = 2};
    rs_plot_picture picture = {0};
    cr_assert_eq(rs_plot_dots_draw(&chart, &picture, NULL), RS_OK);
    cr_expect_eq(count_kind(&picture, RS_PLOT_LINE, ZERO), cases[i].lines, "case %zu", i);
    double left = dot_of(&picture, 0x111111, 0).x, right = dot_of(&picture, 0x222222, 0).x;
    cr_expect_lt(left, right, "case %zu", i);
    if (i == 5) cr_expect_float_eq(text_place(&picture, "0").x, left, 1, "at the rail");
    rs_plot_picture_clear(&picture);
  }
}

Test(plot_dots, results__at_one_length__are_dots_in_any_number, .init = make_folder, .fini = remove_folder) {
  for (size_t count = 2; count <= 30; count += 7) {
    rs_text rows = {0};
    for (size_t i = 0; i < count; i++)
      rs_text_printf(&rows, "%zu,m,method number %zu%s,4096,1,g,1,8,%g,ok,\n", i, i,
                     i == 1 ? " of a name that is far too long for the space at the left of the plot" : "",
                     i % 3 == 0 ? 1e-3 : (double)i);
    put_summary(ENTROPY "," STATUS, "entropy_nats,status,message", rs_text_string(&rows));
    cr_assert_eq(draw_all(NULL, RS_OK, NULL), 1u);
    char *svg = picture_text("plots/entropy_nats--g.svg");
    check_texts(svg);
    cr_assert(has_text(svg, "entropy (nats)") && has_text(svg, "Entropy") && has_text(svg, "method number 0"));
    free(svg);
    rs_text_clear(&rows);
  }
}

#define SEGMENTS                                                                                                       \
  "{\"config\":\"tokens:\\n  - {text: 16}\\n  - {image: [24, 32]}\\n\",\"files\":[{\"file\":\"id_growth.csv\","        \
  "\"columns\":[" KEYS ",{\"name\":\"segment\",\"role\":\"index\",\"unit\":\"\",\"map\":\"category\"},"                \
  "{\"name\":\"growth\",\"role\":\"value\",\"unit\":\"\"}]}]}"

/* Named as in the config; what stands after its list is text. */
Test(plot_dots, results__over_segments__have_their_names, .init = make_folder, .fini = remove_folder) {
  put_file("manifest.json", SEGMENTS);
  put_file("id_growth.csv", HEADER ",segment,growth\n0,m,rope,64,1,,,8,0,16\n0,m,rope,64,1,,,8,1,768\n"
                                   "0,m,rope,64,1,,,8,2,4\n1,m,mrope,64,1,,,8,0,16\n1,m,mrope,64,1,,,8,1,32\n"
                                   "1,m,mrope,64,1,,,8,2,4\n");
  cr_assert_eq(draw_all(NULL, RS_OK, NULL), 1u);
  char *svg = picture_text("plots/id_growth--growth--64.svg");
  check_texts(svg);
  cr_assert(has_text(svg, "Id growth by segment"));
  double first = find_text(svg, "text", 0).y, image = find_text(svg, "image 24 \u00d7 32", 0).y;
  cr_assert(first < image && image < find_text(svg, "text", 1).y);
  free(svg);
  put_file("manifest.json", "{\"config\":\"tokens: [\","
                            "\"files\""
                            ":[]}");
  draw_all(NULL, RS_INPUT, "nothing to draw");
}
