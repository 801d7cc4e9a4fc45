/* test_plot_readings.c: pictures of what checkpoints say: maps over lengths, names of a task's parts, captions, and
 * lines that are checkpoints. */
#include "plot_depths.h"

#define CHECKPOINT(name, phrases) "{\"name\":\"" name "\",\"caption\":[" phrases "]}"
#define TRAINED "\"trained here, 20 steps at 64 tokens\""
#define INDEX(name, map) "{\"name\":\"" name "\",\"role\":\"index\",\"unit\":\"1\",\"map\":\"" map "\"}"
#define ACCURACY "{\"name\":\"accuracy\",\"role\":\"value\",\"unit\":\"1\",\"summary\":\"share\"}"
#define MANIFEST(checkpoints, more, file, columns)                                                                     \
  "{\"name\":\"demo\",\"checkpoints\":[" checkpoints "]," more "\"files\":[{\"file\":\"" file "\",\"columns\":[" KEYS  \
  "," columns "]}]}"
#define DEPTH_FILE MANIFEST(CHECKPOINT("m", TRAINED), "", "needles.csv", INDEX("depth", "y") "," ACCURACY)

enum { SEEDS = 2, DEPTHS_READ = 3 };

static double accuracy_of(size_t method, size_t length, size_t depth) {
  return (double)(method * 11 + length * 3 + depth) / 40;
}

/* Two methods at so many lengths, a curve over depths in each cell; seeds lie .01 to each side. */
static void put_needles(size_t lengths) {
  rs_text rows = {0};
  size_t cell = 0;
  rs_text_puts(&rows, HEADER ",depth,accuracy\n");
  for (size_t m = 0; m < 2; m++)
    for (size_t l = 0; l < lengths; l++)
      for (size_t s = 0; s < SEEDS; s++, cell++)
        for (size_t d = 0; d < DEPTHS_READ; d++)
          rs_text_printf(&rows, "%zu,m,%s,%d,1,task,%zu,0,0.%zu,%.3f\n", cell, m == 0 ? "rope" : "yarn", 1024 << l, s,
                         2 * d, accuracy_of(m, l, d) + (s == 0 ? -0.01 : 0.01));
  put_file("manifest.json", DEPTH_FILE);
  put_file("needles.csv", rs_text_string(&rows));
  rs_text_clear(&rows);
}

/* Lengths to the right, depths downwards, the mean of the seeds in each cell. */
Test(plot_readings, depths_of_a_curve__at_several_lengths__are_one_map, .init = make_folder, .fini = remove_folder) {
  enum { LENGTHS = 3 };
  static const char *const lengths[] = {"1k", "2k", "4k"}, *const depths[] = {"0", "0.2", "0.4"};
  put_needles(LENGTHS);
  cr_assert_eq(draw_all(NULL, RS_OK, NULL), 1u);
  char *svg = picture_text("plots/needles--accuracy--task.svg");
  check_texts(svg);
  double low = accuracy_of(0, 0, 0), high = accuracy_of(1, LENGTHS - 1, DEPTHS_READ - 1);
  for (size_t m = 0; m < 2; m++)
    for (size_t l = 0; l < LENGTHS; l++)
      for (size_t d = 0; d < DEPTHS_READ; d++) {
        double x = find_text(svg, lengths[l], m).x, y = find_text(svg, depths[d], 0).y - 0.36 * 13;
        cr_expect_eq(colour_at(svg, x, y), colour_of(accuracy_of(m, l, d), low, high), "%zu %zu %zu", m, l, d);
      }
  static const char *const words[] = {">depth<", ">length (tokens, 1k = 1024)<", "mean of 2 seeds",
                                      "m: trained here, 20 steps at 64 tokens"};
  for (size_t i = 0; i < RS_COUNT(words); i++) cr_expect_not_null(strstr(svg, words[i]), "%s", words[i]);
  free(svg);
}

/* At one length there is nothing to lay out: lines over the depth. */
Test(plot_readings, depths_of_a_curve__at_one_length__are_lines, .init = make_folder, .fini = remove_folder) {
  put_needles(1);
  cr_assert_eq(draw_all(NULL, RS_OK, NULL), 1u);
  char *svg = picture_text("plots/needles--accuracy--task--1k.svg");
  cr_expect_not_null(strstr(svg, "Needles: accuracy by depth"), "no title of lines");
  cr_expect_not_null(strstr(svg, "length 1024 tokens"));
  free(svg);
}

Test(plot_readings, parts_of_a_task__have_their_names, .init = make_folder, .fini = remove_folder) {
  put_file("manifest.json", MANIFEST(CHECKPOINT("m", ""), "\"task\":{\"parts\":[\"filler\",\"first_value\"]},",
                                     "accuracy.csv", INDEX("part", "category") "," ACCURACY));
  put_file("accuracy.csv", HEADER ",part,accuracy\n0,m,rope,64,1,t,1,0,0,0.5\n0,m,rope,64,1,t,1,0,1,0.25\n"
                                  "1,m,yarn,64,1,t,1,0,0,0.75\n1,m,yarn,64,1,t,1,0,1,0.5\n");
  cr_assert_eq(draw_all(NULL, RS_OK, NULL), 1u);
  char *svg = picture_text("plots/accuracy--accuracy--t--64.svg");
  cr_expect_lt(find_text(svg, "filler", 0).y, find_text(svg, "first value", 0).y);
  free(svg);
}

/* A manifest that names fewer parts than there are, or something else: the others are nameless. */
Test(plot_readings, parts_that_nobody_names__are_nameless, .init = make_folder, .fini = remove_folder) {
  put_file("manifest.json", MANIFEST(CHECKPOINT("m", ""), "\"task\":{\"parts\":[\"filler\",[\"first\"]]},",
                                     "accuracy.csv", INDEX("part", "category") "," ACCURACY));
  put_file("accuracy.csv", HEADER ",part,accuracy\n0,m,rope,64,1,t,1,0,0,0.5\n0,m,rope,64,1,t,1,0,1,0.25\n"
                                  "0,m,rope,64,1,t,1,0,2,0.75\n1,m,yarn,64,1,t,1,0,0,0.75\n");
  cr_assert_eq(draw_all(NULL, RS_OK, NULL), 1u);
  char *svg = picture_text("plots/accuracy--accuracy--t--64.svg");
  cr_expect_eq(occurrences(svg, ">filler<"), 1u);
  cr_expect_eq(occurrences(svg, ">?<"), 2u, "%zu", occurrences(svg, ">?<"));
  free(svg);
}

#define TWO(a, b) CHECKPOINT("rope", a) "," CHECKPOINT("alibi", b)
#define SUMMARY(checkpoints) MANIFEST(checkpoints, "", "summary.csv", ACCURACY)
#define OWN_METHOD                                                                                                     \
  HEADER ",accuracy\n0,rope,trained,64,1,t,1,0,0.5\n1,rope,trained,128,1,t,1,0,0.4\n"                                  \
         "2,alibi,trained,64,1,t,1,0,0.6\n3,alibi,trained,128,1,t,1,0,0.3\n"

/* One chart with a line for each checkpoint, and not a chart for each; it says what holds for both. */
Test(plot_readings, checkpoints_that_one_method_reads__are_lines, .init = make_folder, .fini = remove_folder) {
  put_file("manifest.json", SUMMARY(TWO(TRAINED ",\"100 parameters\"", TRAINED ",\"90 parameters\"")));
  put_file("summary.csv", OWN_METHOD);
  cr_assert_eq(draw_all(NULL, RS_OK, NULL), 1u);
  char *svg = picture_text("plots/accuracy--t.svg");
  cr_expect(has_text(svg, "rope") && has_text(svg, "alibi") && !has_text(svg, "trained"));
  cr_expect_not_null(strstr(svg, "demo · trained here, 20 steps at 64 tokens"), "no caption");
  cr_expect_null(strstr(svg, "parameters"), "which differ");
  free(svg);
}

/* Several methods: a chart for each checkpoint, with its own caption. */
Test(plot_readings, checkpoints_that_several_methods_read__are_pictures, .init = make_folder, .fini = remove_folder) {
  put_file("manifest.json", SUMMARY(TWO(TRAINED, TRAINED ",\"90 parameters\"")));
  put_file("summary.csv", OWN_METHOD "4,rope,yarn,64,1,t,1,0,0.1\n5,rope,yarn,128,1,t,1,0,0.2\n"
                                     "6,alibi,yarn,64,1,t,1,0,0.7\n7,alibi,yarn,128,1,t,1,0,0.8\n");
  cr_assert_eq(draw_all(NULL, RS_OK, NULL), 2u);
  char *rope = picture_text("plots/accuracy--rope--t.svg"), *alibi = picture_text("plots/accuracy--alibi--t.svg");
  cr_expect(has_text(rope, "trained") && has_text(rope, "yarn"));
  cr_expect_not_null(strstr(rope, "rope: trained here"));
  cr_expect_not_null(strstr(alibi, "90 parameters"));
  free(rope);
  free(alibi);
}

/* ---- over what checkpoints differ in ----------------------------------------------------------------------------- */

#define SWEPT(name) ",{\"name\":\"" name "\",\"role\":\"key\",\"unit\":\"\",\"summary\":\"swept\"}"
#define TWO_MORE CHECKPOINT("a", "") "," CHECKPOINT("b", "")
#define SWEEP(keys)                                                                                                    \
  "{\"name\":\"demo\",\"checkpoints\":[" TWO_MORE "],\"files\":[{\"file\":\"summary.csv\",\"columns\":[" KEYS keys     \
  "," ACCURACY "]}]}"

/* Two methods tuned for 0, 20 and 80 steps, read at two lengths, of two seeds: at 128 tokens YaRN comes to .1, .3, .9
 * and RoPE to .2, .4, .5. */
static void put_tuned(const char *const steps[3]) {
  static const double values[2][3] = {{0.2, 0.4, 0.5}, {0.1, 0.3, 0.9}};
  rs_text rows = {0};
  size_t cell = 0;
  rs_text_puts(&rows, HEADER ",checkpoint.tune.steps,checkpoint.tune.method,accuracy\n");
  for (size_t i = 0; i < 3; i++)
    for (size_t m = 0; m < 2; m++)
      for (size_t l = 0; l < 2; l++)
        for (size_t s = 0; s < 2; s++, cell++) {
          const char *method = m == 0 ? "rope" : "yarn 8";
          rs_text_printf(&rows, "%zu,t tune.steps=%s tune.method=%s,trained,%d,1,t,%zu,0,%s,%s,%g\n", cell, steps[i],
                         method, 64 << l, s, steps[i], method, values[m][i] / (l == 0 ? 10 : 1) + (s ? 0.01 : -0.01));
        }
  put_file("manifest.json", SWEEP(SWEPT("checkpoint.tune.steps") SWEPT("checkpoint.tune.method")));
  put_file("summary.csv", rs_text_string(&rows));
  rs_text_clear(&rows);
}

/* One line for each method, over the steps, at the longest length; and one for each checkpoint over the length. */
Test(plot_readings, checkpoints_that_differ_in_a_number__are_points_of_lines, .init = make_folder,
     .fini = remove_folder) {
  static const char *const steps[] = {"0", "20", "80"};
  put_tuned(steps);
  cr_assert_eq(draw_all(NULL, RS_OK, NULL), 2u);
  char *svg = picture_text("plots/accuracy--t--tune.steps--128.svg");
  cr_expect(has_text(svg, "rope") && has_text(svg, "yarn 8") && has_text(svg, "tune.steps"));
  cr_expect_lt(find_text(svg, "rope", 0).y, find_text(svg, "yarn 8", 0).y, "in the order of methods");
  cr_expect(has_text(svg, "80") && has_text(svg, "0.8") && !has_text(svg, "128"), "over the steps, not the length");
  cr_expect_not_null(strstr(svg, "mean, min\u2013max of 2 seeds"));
  cr_expect_not_null(strstr(svg, "length 128 tokens"));
  free(svg);
  cr_expect(exists("plots/accuracy--t.svg"));
  const rs_plot_options options = {.length = 64};
  cr_assert_eq(draw_all(&options, RS_OK, NULL), 2u);
  svg = picture_text("plots/accuracy--t--tune.steps--64.svg");
  cr_expect(!has_text(svg, "0.8") && has_text(svg, "0.08"));
  free(svg);
}

/* Numbers over more than a power of ten are drawn by their logarithm; with words there is nothing to draw over. */
Test(plot_readings, wide_numbers__have_powers_on_their_axis__words_have_none, .init = make_folder,
     .fini = remove_folder) {
  static const char *const bases[] = {"10", "100", "10000"}, *const words[] = {"few", "some", "many"};
  put_tuned(bases);
  cr_assert_eq(draw_all(NULL, RS_OK, NULL), 2u);
  char *svg = picture_text("plots/accuracy--t--tune.steps--128.svg");
  double first = find_text(svg, "10", 0).x, second = find_text(svg, "100", 0).x, third = find_text(svg, "1000", 0).x;
  cr_expect_float_eq(third - second, second - first, 1, "%g %g %g", first, second, third);
  free(svg);
  put_tuned(words);
  cr_assert_eq(draw_all(NULL, RS_OK, NULL), 1u);
  static const char *const mixed[] = {"10", "20", "many"}, *const near[] = {"10", "50", "100"};
  put_tuned(mixed); /* two numbers are no line */
  cr_assert_eq(draw_all(NULL, RS_OK, NULL), 1u);
  put_tuned(near);
  cr_assert_eq(draw_all(NULL, RS_OK, NULL), 2u);
  svg = picture_text("plots/accuracy--t--tune.steps--128.svg");
  double low = find_text(svg, "20", 0).x, middle = find_text(svg, "40", 0).x, high = find_text(svg, "60", 0).x;
  cr_expect_float_eq(high - middle, middle - low, 0.5, "%g %g %g: in a line", low, middle, high);
  free(svg);
}

/* ---- images, films and chance ------------------------------------------------------------------------------------ */

#define CHANCE ACCURACY ",{\"name\":\"chance_accuracy\",\"role\":\"value\",\"unit\":\"1\",\"summary\":\"of a guess\"}"
#define GRIDS(a, b) "\"task\":{\"grids\":[" a "," b "]},"
#define GRID(length, frames, side)                                                                                     \
  "{\"length_tokens\":" length ",\"frames\":" frames ",\"rows\":" side ",\"columns\":" side "}"

/* So many checkpoints at 36 and 144 patches, from .9 down to .2, and a guess's .25, or another one at 144. */
static void put_pictures(size_t count, const char *grids, double other_chance) {
  rs_text manifest = {0}, rows = {0};
  rs_text_puts(&manifest, "{\"name\":\"demo\",\"checkpoints\":[" CHECKPOINT("m0", ""));
  for (size_t i = 1; i < count; i++) rs_text_printf(&manifest, "," CHECKPOINT("m%zu", ""), i);
  rs_text_printf(&manifest, "],%s\"files\":[{\"file\":\"summary.csv\",\"columns\":[" KEYS "," CHANCE "]}]}", grids);
  rs_text_puts(&rows, HEADER ",accuracy,chance_accuracy\n");
  for (size_t i = 0; i < count; i++)
    rs_text_printf(&rows, "%zu,m%zu,trained,36,1,t,1,0,0.9,0.25\n%zu,m%zu,trained,144,1,t,1,0,0.%zu,%g\n", 2 * i, i,
                   2 * i + 1, i, 20 + i, other_chance);
  put_file("manifest.json", rs_text_string(&manifest));
  put_file("summary.csv", rs_text_string(&rows));
  rs_text_clear(&manifest);
  rs_text_clear(&rows);
}

static char *draw_pictures(size_t count, const char *grids, double other_chance) {
  put_pictures(count, grids, other_chance);
  draw_all(NULL, RS_OK, NULL);
  char *svg = picture_text("plots/accuracy--t.svg");
  check_texts(svg);
  return svg;
}

/* Lengths are named in patches or frames, and nothing else is at the axis. */
Test(plot_readings, images_and_films__lengths_are_their_sides, .init = make_folder, .fini = remove_folder) {
  static const struct {
    const char *grids, *name, *first, *second;
  } cases[] = {
      {GRIDS(GRID("36", "1", "6"), GRID("144", "1", "12")), "image (patches)", "6 \u00d7 6", "12 \u00d7 12"},
      {GRIDS(GRID("36", "4", "3"), GRID("144", "16", "3")), "film (frames of 3 \u00d7 3 patches)", "4", "16"},
      {GRIDS(GRID("36", "1", "-3"), GRID("144", "1", "12")), "image (patches)", "0 \u00d7 0", "12 \u00d7 12"},
      {GRIDS(GRID("36", "1", "6"), GRID("144", "1", "1000000")), "image (patches)", "6 \u00d7 6", "0 \u00d7 0"},
      {GRIDS(GRID("36", "1", "6"), GRID("144", "1", "999999")), "image (patches)", "6 \u00d7 6",
       "999999 \u00d7 999999"},
      {"", "length (tokens)", "64", "128"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char *svg = draw_pictures(2, cases[i].grids, 0.25);
    cr_expect(has_text(svg, cases[i].name), "no %s", cases[i].name);
    shown first = find_text(svg, cases[i].first, 0), second = find_text(svg, cases[i].second, 0);
    cr_expect_eq(first.y, second.y);
    cr_expect_lt(first.x, second.x);
    if (*cases[i].grids != '\0') cr_expect_not(has_text(svg, "64"), "%s", cases[i].name);
    free(svg);
  }
}

/* A line at .25 of the axis, named behind it, or on it where the legend is. */
Test(plot_readings, chance__is_a_line_where_it_is_one_number, .init = make_folder, .fini = remove_folder) {
  char *few = draw_pictures(2, "", 0.25), *many = draw_pictures(20, "", 0.25), *two = draw_pictures(2, "", 0.5);
  shown beside = find_text(few, "chance", 0), inside = find_text(many, "chance", 0);
  double low = find_text(few, "0.2", 0).y, high = find_text(few, "0.4", 0).y;
  cr_expect_float_eq(beside.y, 0.75 * low + 0.25 * high, 1.5, "%g between %g and %g", beside.y, low, high);
  cr_expect_gt(beside.x, find_text(few, "128", 0).x);
  cr_expect_lt(inside.box[1], find_text(many, "m0", 0).x, "beside the legend");
  cr_expect_not(has_text(two, "chance"), "two numbers");
  free(few);
  free(many);
  free(two);
}

/* The same as numbers, for charts: sides of images at the axis, and the level of a guess. */
Test(plot_readings, numbers__have_marks_and_the_level, .init = make_folder, .fini = remove_folder) {
  rs_plot_views views = {0};
  rs_plot_report notes = {0};
  rs_tree *tree = NULL;
  put_pictures(2, GRIDS(GRID("36", "1", "6"), GRID("144", "1", "12")), 0.25);
  cr_assert_eq(rs_plot_views_read(folder, false, &views, &notes, NULL), RS_OK);
  const char *json = NULL;
  for (size_t i = 0; i < views.count; i++)
    if (strstr(views.items[i].numbers, "\"chance\"") != NULL) json = views.items[i].numbers;
  cr_assert_not_null(json, "%zu views, none with a level", views.count);
  cr_assert_eq(rs_json_read(json, strlen(json), "view", &tree, NULL), RS_OK, "%s", json);
  const rs_node *level = rs_node_get(&tree->root, "level"), *x = rs_node_get(&tree->root, "x");
  cr_assert(level != NULL && level->kind == RS_MAPPING && x != NULL, "%s", json);
  cr_expect_str_eq(rs_node_get(level, "name")->text, "chance");
  cr_expect_str_eq(rs_node_get(level, "value")->text, "0.25");
  const rs_node *marks = rs_node_get(x, "marks");
  cr_assert(marks != NULL && marks->count == 2, "%s", json);
  cr_expect_str_eq(marks->items[0].items[0].text, "36");
  cr_expect_str_eq(marks->items[1].items[1].text, "12 × 12");
  cr_assert_not_null(rs_node_get(&tree->root, "lines"), "%s", json);
  rs_tree_free(tree);
  rs_plot_views_clear(&views);
  rs_plot_report_clear(&notes);
}

Test(plot_readings, faults_of_checkpoints__are_named, .init = make_folder, .fini = remove_folder) {
  put_file("summary.csv", OWN_METHOD);
  put_file("manifest.json", SUMMARY("{\"caption\":[]}"));
  draw_all(NULL, RS_INPUT, "checkpoints[0]: \"name\" is missing");
  put_file("manifest.json", SUMMARY(CHECKPOINT("a", "") ",{\"name\":\"b\"}"));
  draw_all(NULL, RS_INPUT, "checkpoints[1]: \"caption\" is missing");
  put_file("manifest.json", SUMMARY(CHECKPOINT("a", "3")));
  draw_all(NULL, RS_INPUT, "checkpoints[0]: \"caption\" must be a list of strings");
}
