/* test_plot_depths.c: sources that differ in one number, as files: where the texts of an SVG stand, what they say and
 * that none touches another, and the colours of cells at places. */
#include "plot_depths.h"

static double share_of(size_t method, size_t length, size_t depth) {
  return (double)(method * 7 + length * 3 + depth) / 200;
}

/* Every method at each length and depth, the depths in a mixed order; method 1 (of several) has no value. */
static void put_depths(size_t count, size_t lengths, size_t depths, const char *stem) {
  rs_text rows = {0};
  size_t cell = 0;
  rs_text_puts(&rows, DEPTHS_HEADER);
  for (size_t m = 0; m < count; m++)
    for (size_t l = 0; l < lengths; l++)
      for (size_t i = 0; i < depths; i++) {
        size_t d = (i * 7 + 1) % depths; /* depths that are no multiple of 7 */
        rs_text_printf(&rows, "%zu,m,%s,%d,1,%s depth=0.%zu,1,8,0.%zu,", cell++, methods[m], 1024 << l, stem, d, d);
        if (m != 1) rs_text_number(&rows, share_of(m, l, d));
        rs_text_puts(&rows, "\n");
      }
  put_file("manifest.json", DEPTHS);
  put_file("summary.csv", rs_text_string(&rows));
  rs_text_clear(&rows);
}

/* Lengths to the right, depths downwards, both at their labels; one scale of colours for all methods. */
Test(plot_depths, depths__each_cell__has_the_colour_of_its_share, .init = make_folder, .fini = remove_folder) {
  enum { METHODS = 5, LENGTHS = 4, DEPTHS_USED = 5 };
  static const char *const lengths[] = {"1k", "2k", "4k", "8k"};
  put_depths(METHODS, LENGTHS, DEPTHS_USED, "needle");
  cr_assert_eq(draw_all(NULL, RS_OK, NULL), 1u, "no chart for each depth");
  char *svg = picture_text("plots/share--needle--depth.svg");
  check_texts(svg);
  double low = share_of(0, 0, 0), high = share_of(METHODS - 1, LENGTHS - 1, DEPTHS_USED - 1);
  static const size_t shown_methods[] = {0, 2, 3, 4}; /* that without a value has no panel */
  for (size_t p = 0; p < RS_COUNT(shown_methods); p++)
    for (size_t l = 0; l < LENGTHS; l++)
      for (size_t d = 0; d < DEPTHS_USED; d++) {
        char depth[8];
        snprintf(depth, sizeof depth, d == 0 ? "0" : "0.%zu", d);
        double x = find_text(svg, lengths[l], p).x, y = find_text(svg, depth, 0).y - 0.36 * 13;
        cr_assert_eq(colour_at(svg, x, y), colour_of(share_of(shown_methods[p], l, d), low, high), "%zu %zu %zu", p, l,
                     d);
      }
  cr_assert(find_text(svg, "rope", 0).x < find_text(svg, "rerope", 0).x, "side by side");
  cr_assert_not(has_text(svg, "yarn"));
  free(svg);
}

Test(plot_depths, depths__the_words__name_axes_parameter_and_what_is_missing, .init = make_folder,
     .fini = remove_folder) {
  put_depths(5, 8, 4, "needle overlap=0.5");
  cr_assert_eq(draw_all(NULL, RS_OK, NULL), 1u);
  char *svg = picture_text("plots/share--needle-overlap=0.5--depth.svg");
  static const char *const parts[] = {"<title>Share</title>",
                                      "how &lt;often&gt;",
                                      "demo · m · needle overlap=0.5 · no data: yarn · depth: where",
                                      ">length (tokens, 1k = 1024)<",
                                      ">depth<",
                                      ">share<"};
  for (size_t i = 0; i < RS_COUNT(parts); i++) cr_assert_not_null(strstr(svg, parts[i]), "no %s", parts[i]);
  char *again = NULL;
  cr_assert_eq(draw_all(NULL, RS_OK, NULL), 1u);
  again = picture_text("plots/share--needle-overlap=0.5--depth.svg");
  cr_assert_str_eq(again, svg, "the same bytes");
  free(again);
  free(svg);
}

/* At the width of a column (84 mm) the smallest letters are as high as those of the line charts. */
Test(plot_depths, depths__of_many_methods__are_no_wider_than_a_column_reads, .init = make_folder,
     .fini = remove_folder) {
  static const size_t across[] = {1, 1, 2, 3, 4, 3, 3, 4, 4, 3, 4, 4}; /* by methods with a value */
  for (size_t count = 2; count <= RS_COUNT(methods); count++) {
    put_depths(count, 8, 11 - count % 2, "needle");
    cr_assert_eq(draw_all(NULL, RS_OK, NULL), 1u);
    char *svg = picture_text("plots/share--needle--depth.svg");
    check_texts(svg);
    cr_assert_leq(attribute(svg, "width", 0), 740, "%zu methods: %g", count, attribute(svg, "width", 0));
    if (across[count - 1] == 4) /* cells of 16 pixels: a label at every third, not fifth */
      cr_assert(has_text(svg, "1k") && has_text(svg, "8k") && has_text(svg, "64k") && !has_text(svg, "2k"));
    size_t beside = 0;
    for (size_t m = 0; m < count; m++)
      beside += m != 1 && m != 2 && find_text(svg, methods[m], 0).y == find_text(svg, "rope", 0).y;
    cr_assert_eq(beside + (count > 2), across[count - 1], "%zu methods: %zu beside", count, beside);
    free(svg);
  }
}

Test(plot_depths, depths__of_narrow_panels__do_not_cut_names, .init = make_folder, .fini = remove_folder) {
  put_depths(RS_COUNT(methods), 2, 4, "needle");
  draw_all(NULL, RS_OK, NULL);
  char *svg = picture_text("plots/share--needle--depth.svg");
  check_texts(svg);
  for (size_t m = 0; m < RS_COUNT(methods); m++)
    cr_assert(m == 1 || m == 2 || has_text(svg, methods[m]), "%s", methods[m]);
  free(svg);
}

Test(plot_depths, depths__with_room__say_their_numbers, .init = make_folder, .fini = remove_folder) {
  put_depths(1, 4, 5, "needle");
  draw_all(NULL, RS_OK, NULL);
  char *svg = picture_text("plots/share--needle--depth.svg");
  check_texts(svg);
  shown cell = find_text(svg, "0.045", 0); /* (3 * 3 + 0) / 200; two digits of 0.065 */
  cr_assert_float_eq(cell.x, find_text(svg, "8k", 0).x, 1e-9);
  cr_assert_float_eq(cell.y, find_text(svg, "0", 0).y, 1, "in the first row");
  free(svg);
  put_depths(8, 8, 10, "needle");
  draw_all(NULL, RS_OK, NULL);
  svg = picture_text("plots/share--needle--depth.svg");
  cr_assert_not(has_text(svg, "0.045"), "no room");
  free(svg);
}

/* From two depths on they share a picture: at several lengths a map, at one a strip for each method. */
Test(plot_depths, depths__from_two_on__share_a_picture, .init = make_folder, .fini = remove_folder) {
  put_depths(1, 2, 2, "needle");
  cr_assert_eq(draw_all(NULL, RS_OK, NULL), 1u);
  char *svg = picture_text("plots/share--needle--depth.svg");
  cr_assert_eq(colour_at(svg, find_text(svg, "2k", 0).x, find_text(svg, "0.1", 0).y - 5), colour_of(0.02, 0, 0.02));
  free(svg);
  put_depths(4, 1, 3, "needle");
  cr_assert_eq(draw_all(NULL, RS_OK, NULL), 1u);
  svg = picture_text("plots/share--needle--depth.svg");
  check_texts(svg);
  double x[] = {find_text(svg, "0", 0).x, find_text(svg, "0.1", 0).x, find_text(svg, "0.2", 0).x};
  for (size_t d = 0; d < 3; d++) {
    cr_assert_eq(colour_at(svg, x[d], find_text(svg, "rope", 0).y - 5), colour_of(share_of(0, 0, d), 0, 1), "%zu", d);
    cr_assert_eq(colour_at(svg, x[d], find_text(svg, "rerope", 0).y - 5), colour_of(share_of(3, 0, d), 0, 1), "%zu", d);
  }
  cr_assert(has_text(svg, "depth") && !has_text(svg, "length (tokens, 1k = 1024)"));
  free(svg);
}

/* A source whose name does not say its value stands for itself, and so does one alone. */
Test(plot_depths, depths__that_names_do_not_say__stay_lines, .init = make_folder, .fini = remove_folder) {
  put_file("manifest.json", DEPTHS);
  rs_text rows = {0};
  rs_text_puts(&rows, DEPTHS_HEADER);
  static const char *const sources[] = {"a depth=1",    "a depth=2",  "a depth=3",     "a depth=4", "b depth=5",
                                        "a depth=four", "a depth=61", "gaussian of 7", "c depth=8x"};
  static const char *const values[] = {"1", "2", "3", "4", "5", "four", "6", "7", "8"};
  for (size_t s = 0; s < RS_COUNT(sources); s++)
    for (size_t l = 0; l < 2; l++)
      rs_text_printf(&rows, "%zu,m,rope,%d,1,%s,1,8,%s,%zu\n", 2 * s + l, 1024 << l, sources[s], values[s], s + l);
  put_file("summary.csv", rs_text_string(&rows));
  cr_assert_eq(draw_all(NULL, RS_OK, NULL), 6u, "one map of four sources, and five charts of lines");
  char *svg = picture_text("plots/share--a--depth.svg");
  cr_assert(has_text(svg, "1") && has_text(svg, "4") && !has_text(svg, "5"));
  cr_assert(exists("plots/share--b-depth=5.svg") && exists("plots/share--a-depth=61.svg"));
  free(svg);
  rs_text_clear(&rows);
}

/* Of two swept numbers the first makes the map, one for each of the second's. */
Test(plot_depths, depths__and_widths__make_a_map_of_each_source_once, .init = make_folder, .fini = remove_folder) {
  rs_text rows = {0};
  rs_text_puts(&rows, "cell,model,method,length_tokens,scale,source,seed,heads,depth,width,share\n");
  for (int i = 0; i < 32; i++)
    rs_text_printf(&rows, "%d,m,rope,%d,1,n depth=%d width=%d,1,8,%d,%d,%d\n", i, 1024 << i % 2, i / 8, i / 2 % 4,
                   i / 8, i / 2 % 4, i);
  put_file("manifest.json",
           "{\"files\":[{\"file\":\"summary.csv\",\"columns\":[" DEPTH_KEYS "," KEY("width") SHARE "]}]}");
  put_file("summary.csv", rs_text_string(&rows));
  cr_assert_eq(draw_all(NULL, RS_OK, NULL), 4u);
  cr_assert(exists("plots/share--n-width=0--depth.svg") && exists("plots/share--n-width=3--depth.svg"));
  /* A value that goes on is another: four sources "x depth=1b" are no depths 1 to 4. */
  rs_text_clear(&rows);
  rs_text_puts(&rows, DEPTHS_HEADER);
  for (int i = 0; i < 8; i++)
    rs_text_printf(&rows, "%d,m,rope,%d,1,x depth=%db,1,8,%d,%d\n", i, 1024 << i % 2, i / 2, i / 2, i);
  put_file("manifest.json", DEPTHS);
  put_file("summary.csv", rs_text_string(&rows));
  cr_assert_eq(draw_all(NULL, RS_OK, NULL), 4u);
  cr_assert(exists("plots/share--x-depth=0b.svg") && !exists("plots/share--xb--depth.svg"));
  rs_text_clear(&rows);
}

/* Zeros among numbers of a log scale do not hide how small the others are. */
Test(plot_depths, depths__on_a_log_scale__span_the_positive_numbers, .init = make_folder, .fini = remove_folder) {
  rs_text rows = {0};
  rs_text_puts(&rows, DEPTHS_HEADER);
  static const double values[] = {0, 0.1, 10, 1000};
  for (size_t d = 0; d < 4; d++)
    for (size_t l = 0; l < 2; l++)
      rs_text_printf(&rows, "%zu,m,rope,%d,1,n depth=%zu,1,8,%zu,%g\n", 2 * d + l, 1024 << l, d, d, values[d]);
  put_file("manifest.json", "{\"files\":[{\"file\":\"summary.csv\",\"columns\":[" DEPTH_KEYS
                            ",{\"name\":\"share\",\"role\":\"value\",\"axis\":\"log\"}]}]}");
  put_file("summary.csv", rs_text_string(&rows));
  cr_assert_eq(draw_all(NULL, RS_OK, NULL), 1u);
  char *svg = picture_text("plots/share--n--depth.svg");
  uint32_t colours[4];
  for (size_t d = 0; d < 4; d++) {
    char depth[2] = {(char)('0' + d), '\0'};
    colours[d] = colour_at(svg, find_text(svg, "1k", 0).x, find_text(svg, depth, 0).y - 0.36 * 13);
    for (size_t k = 0; k < d; k++) cr_assert_neq(colours[d], colours[k], "%zu and %zu", d, k);
  }
  cr_assert_eq(colours[0] == UINT32_MAX, false);
  free(svg);
  rs_text_clear(&rows);
}
