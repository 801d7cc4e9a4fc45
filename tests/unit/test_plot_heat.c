/* test_plot_heat.c: values over two numbers: where they stand, and how a heat map shows them. */
#include "../../src/pages/plot/data.h"
#include "../../src/pages/plot/forms.h"
#include "../../src/pages/plot/paper.h"
#include "plot_fixture.h"

#include <math.h>

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
  rs_status status = rs_plot_map_read(&measure, &(rs_plot_choice){.source = RS_PLOT_ANY, .length = 64}, map, &err);
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

Test(plot_heat, map__rows_in_any_order__find_their_places, .init = make_folder, .fini = remove_folder) {
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

#define SHARE_MAP                                                                                                      \
  "{\"files\":[{\"file\":\"map.csv\",\"columns\":[" KEYS ",{\"name\":\"component\",\"role\":\"index\",\"map\":"        \
  "\"panel\"},{\"name\":\"row\",\"role\":\"index\",\"map\":\"y\"},{\"name\":\"column\",\"role\":\"index\","            \
  "\"map\":\"x\"},{\"name\":\"explained\",\"role\":\"value\",\"map\":\"share\"},{\"name\":\"score\",\"role\":"         \
  "\"value\"}]}]}"

/* A share is said over each panel of each method, and is no picture of its own. */
Test(plot_heat, shares__stand_in_the_titles_of_panels, .init = make_folder, .fini = remove_folder) {
  static const char *const titles[] = {"component 1: 62.5", "component 2: 4", "component 1: 99.9"};
  rs_plot_report report = {0};
  rs_plot_views views = {0};
  put_file("manifest.json", SHARE_MAP);
  put_file("map.csv",
           HEADER ",component,row,column,explained,score\n0,m,a,64,1,,,8,1,0,0,0.625,3\n"
                  "0,m,a,64,1,,,8,1,0,1,0.625,-3\n0,m,a,64,1,,,8,2,0,0,0.04,1\n1,m,b,64,1,,,8,1,0,0,0.99912,2\n");
  cr_assert_eq(rs_plot_views_read(folder, true, &views, &report, NULL), RS_OK);
  cr_assert_eq(views.count, 1, "%zu pictures", views.count);
  cr_expect_not_null(strstr(views.items[0].svg, "%: explained"), "the caption says of what");
  for (size_t i = 0; i < RS_COUNT(titles); i++)
    cr_expect_not_null(strstr(views.items[0].svg, titles[i]), "%s", titles[i]);
  rs_plot_views_clear(&views);
  rs_plot_report_clear(&report);
}

Test(plot_heat, map__many_panels__are_thinned_to_six, .init = make_folder, .fini = remove_folder) {
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

Test(plot_heat, map__many_panels_of_offsets__keep_that_of_zero, .init = make_folder, .fini = remove_folder) {
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
                     0,
                     {0},
                     NULL};
  rs_plot_heat heat = {.head = {"T", "", "", ""},
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
    cr_assert(shape->size == floor(shape->size) && shape->tall == floor(shape->tall) && shape->size >= 1);
    for (size_t k = 0; k < shape->count; k++, found++) {
      const rs_plot_xy *place = &picture->points[shape->begin + k];
      cr_assert(place->x == floor(place->x) && place->y == floor(place->y), "%g %g", place->x, place->y);
      cr_assert(place->x > 0 && place->y > 0 && place->x + shape->size < picture->width &&
                place->y + shape->tall < picture->height);
    }
  }
  cr_assert_eq(found, cells, "%zu of %zu cells", found, cells);
}

/* Inside of its cell, whichever side is short, as far as it can be seen then. */
static void check_marks(const rs_plot_picture *picture, size_t marks, const char *what) {
  double side = INFINITY;
  size_t found = 0;
  for (size_t i = 0; i < picture->count; i++)
    if (picture->shapes[i].kind == RS_PLOT_CELLS && picture->shapes[i].tall != 1)
      side = fmin(picture->shapes[i].size, picture->shapes[i].tall);
  for (size_t i = 0; i < picture->count; i++) {
    if (picture->shapes[i].kind != RS_PLOT_MARKERS) continue;
    cr_assert_leq(picture->shapes[i].size, fmax(0.3 * side, 1.8), "%s: %g", what, side);
    found++;
  }
  cr_assert_eq(found, marks, "%s", what);
}

static bool has_text(const rs_plot_picture *picture, const char *text) {
  for (size_t i = 0; i < picture->count; i++)
    if (picture->shapes[i].kind == RS_PLOT_TEXT && strcmp(picture->shapes[i].text, text) == 0) return true;
  return false;
}

static bool has_power(const rs_plot_picture *picture, const char *text, const char *power) {
  for (size_t i = 0; i < picture->count; i++) {
    const rs_plot_shape *shape = &picture->shapes[i];
    if (shape->kind == RS_PLOT_TEXT && strcmp(shape->text, text) == 0 && shape->power != NULL &&
        strcmp(shape->power, power) == 0)
      return true;
  }
  return false;
}

/* The box around a text, as far as it is known. */
static void text_box(const rs_plot_picture *picture, const rs_plot_shape *shape, double box[4]) {
  const char *text = shape->text;
  const rs_plot_xy *place = &picture->points[shape->begin];
  double width = rs_plot_text_width(text, strlen(text), shape->size, shape->bold), up = 0.75 * shape->size;
  double left = shape->anchor == RS_PLOT_START ? 0 : shape->anchor == RS_PLOT_MIDDLE ? width / 2 : width;
  box[0] = shape->upright ? place->x - up : place->x - left;
  box[1] = shape->upright ? place->x : place->x - left + width;
  box[2] = shape->upright ? place->y - width + left : place->y - up;
  box[3] = shape->upright ? place->y + left : place->y;
}

static void check_texts(const rs_plot_picture *picture, const char *what) {
  for (size_t i = 0; i < picture->count; i++) {
    double a[4], b[4];
    if (picture->shapes[i].kind != RS_PLOT_TEXT) continue;
    text_box(picture, &picture->shapes[i], a);
    cr_assert(a[0] >= 0 && a[1] <= picture->width && a[2] >= 0 && a[3] <= picture->height, "%s: %s is outside", what,
              picture->shapes[i].text);
    for (size_t k = i + 1; k < picture->count; k++) {
      if (picture->shapes[k].kind != RS_PLOT_TEXT) continue;
      text_box(picture, &picture->shapes[k], b);
      cr_assert(a[1] <= b[0] || b[1] <= a[0] || a[3] <= b[2] || b[3] <= a[2], "%s: %s and %s overlap", what,
                picture->shapes[i].text, picture->shapes[k].text);
    }
  }
}

/* Six weights in a row, drawn as such or as any other number. */
static rs_plot_picture weights_of(bool seen) {
  static const char *const names[] = {"rope"};
  double places[] = {0, 1, 2, 3, 4, 5}, values[] = {1, 1e-3, 1e-8, 1e-12, 0, NAN};
  size_t methods[] = {0}, mark = SIZE_MAX;
  rs_plot_map map = {.x = {places, 6},
                     .y = {places, 1},
                     .panel = {places, 1},
                     .panels = 1,
                     .methods = methods,
                     .count = 1,
                     .values = values,
                     .marks = &mark,
                     .high = 1,
                     .folded = 1,
                     .any = true};
  rs_plot_heat heat = {.head = {"T", "", "", ""},
                       .x_name = "key",
                       .y_name = "query",
                       .panel_name = "",
                       .name = "weight",
                       .unit = "1",
                       .log = true,
                       .seen = seen,
                       .methods = names,
                       .map = &map};
  rs_plot_picture picture = {0};
  cr_assert_eq(rs_plot_heat_draw(&heat, &picture, NULL), RS_OK);
  return picture;
}

/* The colours of cells, and strokes across those without a value. */
static void count_colours(const rs_plot_picture *picture, size_t *colours, size_t *cells, size_t *strokes) {
  *colours = *cells = *strokes = 0;
  for (size_t i = 0; i < picture->count; i++) {
    const rs_plot_shape *shape = &picture->shapes[i];
    bool of_cells = shape->kind == RS_PLOT_CELLS && shape->tall != 1;
    *colours += of_cells;
    *cells += of_cells ? shape->count : 0;
    *strokes += shape->kind == RS_PLOT_LINE && shape->colour == 0xB3B3B3;
  }
}

/* A key that is not seen is no gap; what has less than 1e-6 of the largest weight has one colour. */
Test(plot_heat, weights__six_powers_of_ten__others_stay_blank) {
  size_t colours, cells, strokes;
  rs_plot_picture seen = weights_of(true), plain = weights_of(false);
  count_colours(&seen, &colours, &cells, &strokes);
  cr_expect(colours == 3 && cells == 5 && strokes == 0, "%zu colours, %zu cells, %zu strokes", colours, cells, strokes);
  cr_expect(has_power(&seen, "<10", "\u22126"));
  count_colours(&plain, &colours, &cells, &strokes);
  cr_expect(colours == 5 && cells == 5 && strokes == 1, "%zu colours, %zu cells, %zu strokes", colours, cells, strokes);
  cr_expect(!has_power(&plain, "<10", "\u22126"));
  rs_plot_picture_clear(&seen);
  rs_plot_picture_clear(&plain);
}

Test(plot_heat, heat__any_size__has_every_cell_and_no_overlap) {
  static const size_t sizes[][3] = {{14, 14, 5}, {32, 24, 2},  {1, 1, 6}, {40, 3, 1},
                                    {3, 40, 6},  {100, 10, 2}, {2, 2, 1}, {512, 4, 1}};
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
      check_marks(&picture, marked ? 2 * sizes[i][2] : 0, what);
      check_texts(&picture, what);
      cr_assert(has_text(&picture, "one") && has_text(&picture, "value"));
      cr_assert_eq(has_text(&picture, "step in time 1"), !marked && sizes[i][2] > 1, "%s", what);
      cr_assert_eq(has_text(&picture, "y 0, x 0"), marked && sizes[i][2] > 1, "%s", what);
      rs_plot_picture_clear(&picture);
    }
}

/* Headings may be wider than their panels: the last one ends before the bar of colours. */
Test(plot_heat, heat__headings_wider_than_panels__stay_left_of_the_bar) {
  size_t none[6];
  double bar = INFINITY, right = 0, last = 0;
  for (size_t k = 0; k < 6; k++) none[k] = SIZE_MAX;
  rs_plot_picture picture = heat_of(1, 1, 6, "a long name of a step in time", none);
  for (size_t i = 0; i < picture.count; i++) {
    const rs_plot_shape *shape = &picture.shapes[i];
    double box[4];
    if (shape->kind == RS_PLOT_CELLS && shape->tall == 1) bar = fmin(bar, picture.points[shape->begin].x);
    if (shape->kind == RS_PLOT_CELLS && shape->tall != 1)
      last = fmax(last, picture.points[shape->begin].x + shape->size);
    if (shape->kind != RS_PLOT_TEXT || strcmp(shape->text, "a long name of a step in time 5") != 0) continue;
    text_box(&picture, shape, box);
    right = box[1];
  }
  cr_expect_gt(right, last + 20, "wider than its panel");
  cr_expect_lt(right, bar, "it ends at %g, and the bar begins at %g", right, bar);
  rs_plot_picture_clear(&picture);
}

/* The first cell is the darkest and at the upper left, the last the lightest and at the lower right; x to the right. */
Test(plot_heat, heat__cells__lie_where_their_numbers_say) {
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
  size_t rows = 0;
  for (size_t i = 0; i < picture.count; i++) {
    const rs_plot_shape *shape = &picture.shapes[i];
    rows += shape->kind == RS_PLOT_TEXT && shape->anchor == RS_PLOT_END && !shape->upright &&
            picture.points[shape->begin].x < corner[0].x;
  }
  cr_assert_eq(rows, 2u, "%zu labels of rows, of two", rows);
  rs_plot_picture_clear(&picture);
}

/* Cells of 5 x 3 at (10, 20) and (15, 20): exact. */
Test(plot_heat, cells__in_a_file__are_rectangles_from_their_upper_left) {
  rs_plot_picture picture = {.width = 40, .height = 40, .title = "", .description = ""};
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
  for (const char *place = svg; (place = strstr(place, attribute)) != NULL && place < end; place++)
    found = place + strlen(attribute);
  cr_assert_not_null(found);
  return atof(found);
}

Test(plot_heat, results__a_curve_over_two_indices__is_a_heat_map, .init = make_folder, .fini = remove_folder) {
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
                                      ">\u22121<",
                                      "crispEdges",
                                      "</svg>\n"};
  for (size_t i = 0; i < RS_COUNT(parts); i++) cr_assert_not_null(strstr(svg, parts[i]), "no %s", parts[i]);
  cr_assert_null(strstr(svg, "nan"));
  free(svg);
}

/* Each model at the longest length that has values of its own: n's 256 has none, and m was not run at 128. */
Test(plot_heat, results__without_a_length__have_the_longest_of_each_model, .init = make_folder, .fini = remove_folder) {
  put_file("manifest.json", MAP);
  put_file("map.csv", MAP_HEADER "0,m,a,32,1,,,8,7,3,0,0,1\n0,m,a,32,1,,,8,7,3,0,1,2\n"
                                 "1,m,a,64,1,,,8,7,3,0,0,2\n1,m,a,64,1,,,8,7,3,0,1,3\n"
                                 "2,n,a,128,1,,,8,7,3,0,0,3\n2,n,a,128,1,,,8,7,3,0,1,4\n"
                                 "3,n,a,256,1,,,8,7,3,0,0,\n3,n,a,256,1,,,8,7,3,0,1,\n");
  size_t drawn = draw_all(&(rs_plot_options){0}, RS_OK, NULL);
  cr_assert_eq(drawn, 2u, "%zu", drawn);
  free(picture_text("plots/map--likeness--m--64.svg"));
  free(picture_text("plots/map--likeness--n--128.svg"));
}

/* One panel has no row of its own: methods stand side by side, and the subtitle names it. */
Test(plot_heat, results__a_map_of_one_panel__has_methods_side_by_side, .init = make_folder, .fini = remove_folder) {
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
  double height = number_before(svg, "role", " height=\"");
  free(svg);
  /* A name that takes two rows makes room for one more. */
  put_file("map.csv", MAP_HEADER "0,m,a,64,1,,,8,7,3,0,0,1\n0,m,a,64,1,,,8,7,3,0,1,2\n"
                                 "1,m,b of a long name,64,1,,,8,7,3,0,0,3\n1,m,b of a long name,64,1,,,8,7,3,0,1,4\n");
  cr_assert_eq(draw_all(&(rs_plot_options){.length = 64}, RS_OK, NULL), 1u);
  svg = picture_text("plots/map--likeness--64.svg");
  cr_expect_eq(number_before(svg, "role", " height=\""), height + 20);
  free(svg);
}

/* Without row and column it is lines: one chart for each panel, over the first index that is none. */
Test(plot_heat, results__a_map_without_places__is_lines_for_each_panel, .init = make_folder, .fini = remove_folder) {
  put_file("manifest.json", MAP);
  put_file("map.csv", MAP_HEADER "0,m,a,64,1,,,8,7,7,,,1\n0,m,a,64,1,,,8,7,8,,,0.5\n0,m,a,64,1,,,8,9,7,,,0.25\n");
  cr_assert_eq(draw_all(&(rs_plot_options){.all = true}, RS_OK, NULL), 2u);
  char *svg = picture_text("plots/map--likeness--64--from=7.svg");
  cr_assert_null(strstr(svg, "min"), "of one row a point, not a mean");
  static const char *const parts[] = {"length 64 tokens \u00b7 from 7", ">to<", ">likeness (nats)<"};
  for (size_t i = 0; i < RS_COUNT(parts); i++) cr_assert_not_null(strstr(svg, parts[i]), "no %s", parts[i]);
  free(svg);
  cr_assert(exists("plots/map--likeness--64--from=9.svg"));
}

Test(plot_heat, results__maps_that_cannot_be__are_named, .init = make_folder, .fini = remove_folder) {
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
  draw_all(NULL, RS_INPUT, "map \"z\" is not one of x, y, panel, mark, bin_end,");
}
