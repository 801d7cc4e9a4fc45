/* test_plot_methods.c: colour, marker and order belong to a method's name, in every picture of every folder. */
#include "../../src/pages/plot/choice.h"
#include "plot_svg.h"

static const char *const table_order[] = {"rope", "nope", "pi", "ntk", "dynamic_ntk", "yarn", "llama3", "alibi"};

/* ---- looks ------------------------------------------------------------------------------------------------------- */

static void style_names(const char *const *names, size_t count, rs_plot_style *styles) {
  rs_plot_names list = {0};
  for (size_t i = 0; i < count; i++) {
    size_t index;
    cr_assert_eq(rs_plot_names_add(&list, names[i], &index, NULL), RS_OK);
  }
  rs_plot_methods_style(&list, styles);
  rs_plot_names_clear(&list);
}

static bool same_look(const rs_plot_style *a, const rs_plot_style *b) {
  return a->colour == b->colour && a->marker == b->marker && a->hollow == b->hollow && a->dashes == b->dashes &&
         memcmp(a->dash, b->dash, sizeof a->dash) == 0;
}

/* Whatever else is there, and wherever it stands. */
Test(plot_methods, style__a_method_in_any_company__looks_the_same) {
  rs_plot_style alone, styles[8], turned[8];
  const char *reversed[8];
  for (size_t i = 0; i < 8; i++) reversed[7 - i] = table_order[i];
  style_names(table_order, 8, styles);
  style_names(reversed, 8, turned);
  for (size_t i = 0; i < 8; i++) {
    style_names(&table_order[i], 1, &alone);
    cr_assert(same_look(&alone, &styles[i]) && same_look(&alone, &turned[7 - i]), "%s", table_order[i]);
    for (size_t k = 0; k < i; k++) cr_assert_neq(styles[i].colour, styles[k].colour, "%zu and %zu", i, k);
  }
}

/* A label has a look of its own, which no known method there has, and keeps it in another order. */
Test(plot_methods, style__labels__take_free_colours) {
  static const char *const names[] = {"base 1e4", "rope", "my own", "yarn", "yarn factor=8", "pi", "x", "y", "z"};
  static const char *const others[] = {"yarn", "pi", "base 1e4", "rope", "my own", "yarn factor=8", "x", "y", "z"};
  rs_plot_style styles[9], again[9], one;
  style_names(names, 9, styles);
  for (size_t i = 0; i < 9; i++)
    for (size_t k = 0; k < i; k++) cr_assert_neq(styles[i].colour, styles[k].colour, "%s and %s", names[i], names[k]);
  style_names(others, 9, again);
  cr_assert(same_look(&styles[0], &again[2]) && same_look(&styles[3], &again[0]));
  style_names(&names[2], 1, &one);
  style_names(&names[2], 1, again);
  cr_assert(same_look(&one, &again[0]));
}

Test(plot_methods, style__more_labels_than_colours__all_have_one) {
  const char *names[40];
  char texts[40][8];
  rs_plot_style styles[40];
  for (size_t i = 0; i < 40; i++) snprintf(texts[i], sizeof texts[i], "m%zu", i), names[i] = texts[i];
  style_names(names, 40, styles);
  for (size_t i = 0; i < 16; i++)
    for (size_t k = 0; k < i; k++) cr_assert_neq(styles[i].colour, styles[k].colour, "the first sixteen differ");
  for (size_t i = 16; i < 40; i++) cr_assert_neq(styles[i].colour, 0xFFFFFFu);
}

/* ---- order ------------------------------------------------------------------------------------------------------- */

Test(plot_methods, order__is_that_of_the_table_and_of_numbers) {
  static const char *const given[] = {"base 1e4", "yarn factor=16", "zeta",       "rope",          "alibi",
                                      "yarn",     "base 500",       "yarn_like",  "yarn factor=2", "pi",
                                      "nope",     "trained",        "trainedness"};
  static const char *const wanted[] = {"trained",       "rope",           "nope",  "pi",       "yarn",
                                       "yarn factor=2", "yarn factor=16", "alibi", "base 500", "base 1e4",
                                       "trainedness",   "yarn_like",      "zeta"};
  rs_plot_cell cells[13] = {0};
  rs_plot_file file = {.cells = cells, .cell_count = 13};
  rs_plot_data data = {.files = &file, .count = 1};
  for (size_t i = 0; i < 13; i++)
    cr_assert_eq(rs_plot_names_add(&data.methods, given[i], &cells[i].method, NULL), RS_OK);
  cr_assert_eq(rs_plot_methods_sort(&data, NULL), RS_OK);
  for (size_t i = 0; i < 13; i++) {
    cr_assert_str_eq(data.methods.items[i], wanted[i], "%zu: %s", i, data.methods.items[i]);
    cr_assert_str_eq(data.methods.items[cells[i].method], given[i], "a cell keeps its method");
  }
  rs_plot_names_clear(&data.methods);
}

/* Numbers as numbers, as far as they are any; names that are alike but for how a number is written, by their letters.
 */
Test(plot_methods, order__numbers_of_every_form) {
  static const char *const pairs[][2] = {{"x=0.25", "x=0.5"},
                                         {"x=0.5", "x=1"},
                                         {"x=1.", "x=2"},
                                         {"x=500", "x=1e4"},
                                         {"x=2e", "x=3"},
                                         {"x=3", "x=2e1"},
                                         {"x=1", "x=1.0"},
                                         {"x=1.0", "x=1.00"},
                                         {"x=2", "x=1e99999"},
                                         {"x=1", "x=a"},
                                         {"x=00000000000000000000000000000000000001", "x=1"},
                                         {"x", "x=1"},
                                         {"rope", "x"}};
  for (size_t i = 0; i < RS_COUNT(pairs); i++) {
    cr_expect_lt(rs_plot_methods_order(&pairs[i][0], &pairs[i][1]), 0, "%s, %s", pairs[i][0], pairs[i][1]);
    cr_expect_gt(rs_plot_methods_order(&pairs[i][1], &pairs[i][0]), 0, "%s, %s", pairs[i][1], pairs[i][0]);
    cr_expect_eq(rs_plot_methods_order(&pairs[i][0], &pairs[i][0]), 0, "%s", pairs[i][0]);
  }
}

/* ---- pictures ---------------------------------------------------------------------------------------------------- */

/* The colour of the legend's sample before this label. */
static uint32_t legend_colour(const char *svg, const char *label) {
  char words[80];
  snprintf(words, sizeof words, ">%s<", label);
  const char *end = strstr(svg, words), *sample = NULL;
  cr_assert_not_null(end, "no %s", label);
  for (const char *line = svg; (line = strstr(line, "<path fill=\"none\" stroke=\"#")) != NULL && line < end; line++)
    sample = line;
  return (uint32_t)strtoul(strchr(sample, '#') + 1, NULL, 16);
}

static void put_methods(const char *const *names, size_t count) {
  rs_text rows = {0};
  for (size_t i = 0; i < count; i++)
    for (size_t l = 0; l < 2; l++)
      rs_text_printf(&rows, "%zu,m,%s,%d,1,g,1,8,%zu,ok,\n", 2 * i + l, names[i], 1024 << l, 3 * i + l);
  put_summary(ENTROPY "," STATUS, "entropy_nats,status,message", rs_text_string(&rows));
  rs_text_clear(&rows);
}

/* Two configs: other methods, another order, other values; the same looks, and the same order from above. */
Test(plot_methods, results__of_two_configs__share_colours_and_order, .init = make_folder, .fini = remove_folder) {
  static const char *const first[] = {"alibi", "yarn", "rope", "pi"};
  static const char *const second[] = {"mine", "pi", "ntk", "rope", "yarn", "nope"};
  put_methods(first, 4);
  cr_assert_eq(draw_all(NULL, RS_OK, NULL), 1u);
  char *a = picture_text("plots/entropy_nats--g.svg");
  put_methods(second, 6);
  cr_assert_eq(draw_all(NULL, RS_OK, NULL), 1u);
  char *b = picture_text("plots/entropy_nats--g.svg");
  static const char *const shared[] = {"rope", "pi", "yarn"};
  for (size_t i = 0; i < 3; i++) {
    cr_assert_eq(legend_colour(a, shared[i]), legend_colour(b, shared[i]), "%s", shared[i]);
    if (i == 0) continue;
    cr_assert(find_text(a, shared[i - 1], 0).y < find_text(a, shared[i], 0).y);
    cr_assert(find_text(b, shared[i - 1], 0).y < find_text(b, shared[i], 0).y);
  }
  cr_assert_eq(legend_colour(a, "rope"), 0x000000u);
  cr_assert_neq(legend_colour(a, "pi"), legend_colour(a, "yarn"));
  cr_assert(find_text(b, "yarn", 0).y < find_text(b, "mine", 0).y, "other names last");
  free(a);
  free(b);
}

/* More lines than a column of the legend holds, and than take turns where they meet. */
Test(plot_methods, results__of_seventy_methods__have_a_legend_of_columns, .init = make_folder, .fini = remove_folder) {
  enum { MANY = 70 };
  static char texts[MANY][8];
  const char *names[MANY];
  for (size_t i = 0; i < MANY; i++) {
    snprintf(texts[i], sizeof texts[i], "m%02zu", i);
    names[i] = texts[i];
  }
  put_methods(names, MANY);
  cr_assert_eq(draw_all(NULL, RS_OK, NULL), 1u);
  char *svg = picture_text("plots/entropy_nats--g.svg");
  shown first = find_text(svg, "m00", 0), second = find_text(svg, "m01", 0), last = find_text(svg, "m69", 0);
  cr_expect(second.x == first.x && second.y > first.y);
  cr_expect_gt(last.x, first.x + 20, "another column");
  cr_expect_lt(last.y, first.y + 600);
  free(svg);
}
