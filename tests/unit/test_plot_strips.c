/* test_plot_strips.c: values over one index as strips of colours. */
#include "plot_depths.h"

#define STRIP                                                                                                          \
  "{\"files\":[{\"file\":\"bands.csv\",\"columns\":[" DEPTH_KEYS                                                       \
  ",{\"name\":\"pair\",\"role\":\"index\",\"unit\":\"\"},{\"name\":\"divided\",\"role\":\"value\",\"unit\":\"1\","     \
  "\"map\":\"strip\"},{\"name\":\"omega\",\"role\":\"value\",\"axis\":\"log\"}]}]}"
#define STRIP_HEADER "cell,model,method,length_tokens,scale,source,seed,heads,depth,pair,divided,omega\n"

/* Of `pairs` a third kept, a third blended, a third divided by `all`, by method 3 half of that; method 1 has no value.
 */
static void put_strip(size_t pairs, double all) {
  rs_text rows = {0};
  rs_text_puts(&rows, STRIP_HEADER);
  for (size_t m = 0; m < 4; m++)
    for (size_t i = pairs; i-- > 0;) {
      double share = fmin(fmax((double)i - (double)pairs / 3, 0) / ((double)pairs / 3), 1) * (m == 3 ? all / 2 : all);
      rs_text_printf(&rows, "%zu,m,%s,4096,1,,,8,,%zu,", m, methods[m], i);
      if (m != 1) rs_text_number(&rows, share);
      rs_text_printf(&rows, ",%g\n", exp(-(double)i));
    }
  put_file("manifest.json", STRIP);
  put_file("bands.csv", rs_text_string(&rows));
  rs_text_clear(&rows);
}

/* Lines of axes' colour that have five points. */
static size_t boxes(const char *svg) {
  size_t count = 0, corners = 0;
  for (const char *found = svg; (found = strstr(found, "stroke=\"#4d4d4d\"")) != NULL; found++)
    for (const char *c = strstr(found, " d=\"") + 4; *c != '"'; c++) {
      if (*c == 'M') corners = 0;
      if (*c == 'L') corners++;
      count += corners == 4 && *c == 'L';
    }
  return count;
}

Test(plot_strips, strip__a_value_over_an_index__is_a_row_for_each_method, .init = make_folder, .fini = remove_folder) {
  put_strip(48, 1);
  cr_assert_eq(draw_all(&(rs_plot_options){.all = true}, RS_OK, NULL), 2u, "omega stays lines");
  char *svg = picture_text("plots/bands--divided--4k.svg");
  check_texts(svg);
  double y[] = {find_text(svg, "rope", 0).y - 5, find_text(svg, "rerope", 0).y - 5};
  cr_assert(y[1] > y[0] + 20, "below each other, in their order");
  for (size_t m = 0; m < 2; m++)
    for (size_t i = 0; i < 48; i += 10) { /* at their ticks */
      char pair[8];
      snprintf(pair, sizeof pair, "%zu", i);
      double x = find_text(svg, pair, 0).x, share = fmin(fmax((double)i - 16, 0) / 16, 1) * (m == 0 ? 1 : 0.5);
      if (i == 0) x = find_text(svg, "10", 0).x - 2 * (find_text(svg, "10", 0).x - find_text(svg, "5", 0).x);
      cr_assert_eq(colour_at(svg, x, y[m]), colour_of(share, 0, 1), "pair %zu", i);
    }
  /* On each row "0" in the middle of the kept pairs and "1" in that of the divided, on their colours. */
  for (size_t k = 0; k < 2; k++) {
    shown value = find_text(svg, k == 0 ? "0" : "1", 0);
    cr_assert_eq(colour_at(svg, value.x, value.y), rs_plot_level_colour(k == 0 ? 0 : RS_PLOT_LEVELS - 1));
    cr_assert_eq(value.colour, k == 0 ? 0xFFFFFFu : 0x1A1A1Au, "it stands out");
    cr_assert_float_eq(value.y - 0.36 * 12, find_text(svg, "rope", 0).y - 0.36 * 14, 0.02, "on a level with its name");
  }
  /* The bar is light at 1; the middle of its first row of pixels is half a pixel off. */
  shown tick = find_text(svg, "1.0", 0);
  cr_assert_eq(colour_at(svg, tick.x - 12, tick.y - 0.36 * 13 + 0.5), rs_plot_level_colour(RS_PLOT_LEVELS - 2));
  cr_assert((colour_at(svg, tick.x - 12, tick.y + 50) >> 8 & 0xFF) < 0xC0, "darker below");
  cr_assert(has_text(svg, "pair") && has_text(svg, "divided") && !has_text(svg, "yarn"));
  cr_assert_not_null(strstr(svg, "no data: yarn"));
  cr_assert_leq(attribute(svg, "width", 0), 740);
  cr_expect_eq(boxes(svg), 4u, "about three rows and the bar");
  free(svg);
}

/* Shares have the colours of 0 and 1 whatever occurs; other values those of what occurs. Any number of pairs fits. */
Test(plot_strips, strip__the_scale__is_that_of_shares_or_of_the_values, .init = make_folder, .fini = remove_folder) {
  static const size_t pairs[] = {1, 3, 30, 64, 500};
  for (size_t i = 0; i < RS_COUNT(pairs); i++) {
    put_strip(pairs[i], pairs[i] == 30 ? 0.5 : 8);
    draw_all(&(rs_plot_options){.all = true}, RS_OK, NULL);
    char *svg = picture_text("plots/bands--divided--4k.svg"), *again = NULL;
    check_texts(svg);
    double y = find_text(svg, "rope", 0).y - 5, x = 0;
    if (pairs[i] == 30) x = find_text(svg, "28", 0).x;
    if (pairs[i] == 64) x = find_text(svg, "60", 0).x;
    if (pairs[i] == 30) cr_assert_eq(colour_at(svg, x, y), colour_of(0.5, 0, 1));
    if (pairs[i] == 64) cr_assert_eq(colour_at(svg, x, y), rs_plot_level_colour(RS_PLOT_LEVELS - 1));
    draw_all(&(rs_plot_options){.all = true}, RS_OK, NULL);
    again = picture_text("plots/bands--divided--4k.svg");
    cr_assert_str_eq(again, svg);
    free(again);
    free(svg);
  }
}

/* Of two values each is at an end of the scale, or, of shares, where it is between 0 and 1. */
Test(plot_strips, strip__two_values__have_their_colours, .init = make_folder, .fini = remove_folder) {
  static const double values[][2] = {{3, 5}, {0.5, 1}, {-0.5, 0.5}};
  for (size_t i = 0; i < RS_COUNT(values); i++) {
    char rows[1000];
    snprintf(rows, sizeof rows, STRIP_HEADER "0,m,rope,4096,1,,,8,,0,%g,1\n0,m,rope,4096,1,,,8,,1,%g,1\n", values[i][0],
             values[i][1]);
    put_file("manifest.json", STRIP);
    put_file("bands.csv", rows);
    draw_all(NULL, RS_OK, NULL);
    char *svg = picture_text("plots/bands--divided--4k.svg");
    shown row = find_text(svg, "rope", 0);
    double low = i == 1 ? 0 : values[i][0], high = i == 1 ? 1 : values[i][1];
    for (size_t k = 0; k < 2; k++)
      cr_assert_eq(colour_at(svg, row.x + 10 + 40 * (double)k, row.y - 5), colour_of(values[i][k], low, high), "%zu",
                   i);
    for (size_t k = 0; k < 2; k++) { /* wide cells say their value, on its colour; the bar says others at its side */
      static const char *const words[][2] = {{"3", "5"}, {"0.5", "1"}, {"-0.5", "0.5"}};
      shown value = find_text(svg, words[i][k], 0);
      cr_assert_eq(colour_at(svg, value.x, value.y), colour_of(values[i][k], low, high), "%zu", i);
    }
    free(svg);
  }
}

/* What counts in a unit says so under its axis. */
Test(plot_strips, strip__an_index_with_a_unit__names_it, .init = make_folder, .fini = remove_folder) {
  char manifest[sizeof STRIP + 16];
  const char *strip = STRIP, *unit = strstr(strip, "\"unit\":\"\""), *rest = unit + strlen("\"unit\":\"\"");
  put_strip(8, 1);
  snprintf(manifest, sizeof manifest, "%.*s\"unit\":\"tokens\"%s", (int)(unit - strip), strip, rest);
  put_file("manifest.json", manifest);
  draw_all(&(rs_plot_options){.all = true}, RS_OK, NULL);
  char *svg = picture_text("plots/bands--divided--4k.svg");
  cr_expect(has_text(svg, "pair (tokens)"), "%s", svg);
  free(svg);
}
