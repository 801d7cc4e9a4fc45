/* test_plot_maps.c: pictures over two numbers, as files: where the texts of an SVG stand, what they say and that none
 * touches another, and the colours of cells at places. Folders are made under TMPDIR and removed again. */
#include "../../src/plot/plot_internal.h"

#include <criterion/criterion.h>
#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- helpers: folders -------------------------------------------------------------------------------------------- */

static char folder[4096];

static void make_folder(void) {
  const char *base = getenv("TMPDIR");
  snprintf(folder, sizeof folder, "%s/ropescope-maps-XXXXXX", base != NULL ? base : "/tmp");
  cr_assert_not_null(mkdtemp(folder));
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *walk) {
  (void)info, (void)kind, (void)walk;
  return remove(path);
}

static void remove_folder(void) {
  nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static const char *path_in(const char *name) {
  static char path[5000];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static void put_file(const char *name, const char *text) {
  cr_assert_eq(rs_file_write(path_in(name), text, strlen(text), NULL), RS_OK);
}

static bool exists(const char *name) {
  return access(path_in(name), F_OK) == 0;
}

static char *picture_text(const char *name) {
  char *text = NULL;
  size_t length;
  cr_assert_eq(rs_file_read(path_in(name), 1 << 24, &text, &length, NULL), RS_OK, "no %s", name);
  return text;
}

/* Draws the folder; `words` must be part of the error message, NULL: there must be none. Returns the pictures. */
static size_t draw(const rs_plot_options *options, rs_status wanted, const char *words) {
  rs_err err = {0};
  rs_plot_report report = {0};
  rs_status status = rs_plot_results(folder, options, &report, &err);
  cr_assert_eq(status, wanted, "%s: %s", rs_status_name(status), err.message);
  if (words != NULL) cr_assert_not_null(strstr(err.message, words), "\"%s\" is not in \"%s\"", words, err.message);
  size_t count = report.count;
  rs_plot_report_clear(&report);
  return count;
}

/* ---- helpers: what an SVG shows ---------------------------------------------------------------------------------- */

typedef struct shown {
  char words[400];
  double x, y, box[4]; /* left, right, top, bottom */
  uint32_t colour;
} shown;

static double attribute(const char *tag, const char *name, double fallback) {
  char key[40];
  snprintf(key, sizeof key, " %s=\"", name);
  const char *at = strstr(tag, key), *end = strchr(tag, '>');
  return at != NULL && at < end ? strtod(at + strlen(key), NULL) : fallback;
}

static bool says(const char *tag, const char *words) {
  const char *at = strstr(tag, words);
  return at != NULL && at < strchr(tag, '>');
}

static shown read_text(const char *tag) {
  shown text = {.x = attribute(tag, "x", 0), .y = attribute(tag, "y", 0)};
  const char *begin = strchr(tag, '>') + 1;
  text.colour = (uint32_t)strtoul(strstr(tag, "fill=\"#") + 7, NULL, 16);
  size_t length = strcspn(begin, "<");
  cr_assert_lt(length, sizeof text.words);
  memcpy(text.words, begin, length);
  bool upright = says(tag, "rotate");
  double size = attribute(tag, "font-size", 0), width = rs_plot_text_width(begin, length, size, says(tag, "bold"));
  double left = says(tag, "\"middle\"") ? width / 2 : says(tag, "\"end\"") ? width : 0, up = 0.75 * size;
  const double flat[] = {text.x - left, text.x - left + width, text.y - up, text.y};
  const double stood[] = {text.x - up, text.x, text.y - width + left, text.y + left};
  memcpy(text.box, upright ? stood : flat, sizeof text.box);
  return text;
}

/* The texts of an SVG, at most `room`. */
static size_t read_texts(const char *svg, shown *texts, size_t room) {
  size_t count = 0;
  for (const char *at = svg; (at = strstr(at, "<text")) != NULL; at++) {
    cr_assert_lt(count, room);
    texts[count++] = read_text(at);
  }
  return count;
}

enum { TEXTS = 2000 };

/* No text touches another or leaves the picture. */
static void check_texts(const char *svg) {
  static shown texts[TEXTS];
  size_t count = read_texts(svg, texts, TEXTS);
  double width = attribute(svg, "width", 0), height = attribute(svg, "height", 0);
  for (size_t i = 0; i < count; i++) {
    const double *a = texts[i].box;
    cr_assert(a[0] >= 0 && a[1] <= width && a[2] >= 0 && a[3] <= height, "%s is outside", texts[i].words);
    for (size_t k = i + 1; k < count; k++) {
      const double *b = texts[k].box;
      cr_assert(a[1] <= b[0] || b[1] <= a[0] || a[3] <= b[2] || b[3] <= a[2], "%s and %s overlap", texts[i].words,
                texts[k].words);
    }
  }
}

/* The first text of these words after the first `skip` of them. */
static shown find_text(const char *svg, const char *words, size_t skip) {
  static shown texts[TEXTS];
  size_t count = read_texts(svg, texts, TEXTS);
  for (size_t i = 0; i < count; i++) {
    if (strcmp(texts[i].words, words) == 0 && skip-- == 0) return texts[i];
  }
  cr_assert_fail("no text %s", words);
  return (shown){0};
}

static bool has_text(const char *svg, const char *words) {
  static shown texts[TEXTS];
  size_t count = read_texts(svg, texts, TEXTS);
  for (size_t i = 0; i < count; i++) {
    if (strcmp(texts[i].words, words) == 0) return true;
  }
  return false;
}

/* The colour of the cell at a point; UINT32_MAX: there is none. */
static uint32_t colour_at(const char *svg, double x, double y) {
  for (const char *at = svg; (at = strstr(at, "crispEdges\" fill=\"#")) != NULL; at++) {
    uint32_t colour = (uint32_t)strtoul(strchr(at, '#') + 1, NULL, 16);
    const char *end = strstr(at, "/>");
    for (const char *cell = strchr(at, 'M'); cell != NULL && cell < end; cell = strchr(cell + 1, 'M')) {
      double left, top, width, height;
      cr_assert_eq(sscanf(cell, "M%lf %lfh%lfv%lf", &left, &top, &width, &height), 4);
      if (x >= left && x < left + width && y >= top && y < top + height) return colour;
    }
  }
  return UINT32_MAX;
}

/* ---- a needle at several depths ---------------------------------------------------------------------------------- */

#define KEY(name) "{\"name\":\"" name "\",\"role\":\"key\"}"
#define KEYS                                                                                                           \
  KEY("cell")                                                                                                          \
  "," KEY("model") "," KEY("method") "," KEY("length_tokens") "," KEY("scale") "," KEY("source") "," KEY(              \
      "seed") "," KEY("heads") ",{\"name\":\"depth\",\"role\":\"key\",\"unit\":\"1\",\"summary\":\"where\"}"
#define SHARE ",{\"name\":\"share\",\"role\":\"value\",\"unit\":\"1\",\"summary\":\"how <often>\"}"
#define DEPTHS "{\"name\":\"demo\",\"files\":[{\"file\":\"summary.csv\",\"columns\":[" KEYS SHARE "]}]}"
#define DEPTHS_HEADER "cell,model,method,length_tokens,scale,source,seed,heads,depth,share\n"

static const char *const methods[] = {"rope",   "yarn", "a method of a name that is too long for its panel",
                                      "nope",   "pi",   "ntk",
                                      "rerope", "cape", "xpos",
                                      "alibi",  "t5",   "self_extend"};

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

/* The colour of a share where those from `low` to `high` are shown. */
static uint32_t colour_of(double share, double low, double high) {
  return rs_plot_level_colour((size_t)lround((share - low) / (high - low) * (RS_PLOT_LEVELS - 1)));
}

/* Lengths to the right, depths downwards, both at their labels; one scale of colours for all methods. */
Test(plot_maps, depths__each_cell__has_the_colour_of_its_share, .init = make_folder, .fini = remove_folder) {
  enum { METHODS = 5, LENGTHS = 4, DEPTHS_USED = 5 };
  static const char *const lengths[] = {"1k", "2k", "4k", "8k"};
  put_depths(METHODS, LENGTHS, DEPTHS_USED, "needle");
  cr_assert_eq(draw(NULL, RS_OK, NULL), 1u, "no chart for each depth");
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
  cr_assert(find_text(svg, "rope", 0).x < find_text(svg, "nope", 0).x, "side by side");
  cr_assert_not(has_text(svg, "yarn"));
  free(svg);
}

Test(plot_maps, depths__the_words__name_axes_parameter_and_what_is_missing, .init = make_folder,
     .fini = remove_folder) {
  put_depths(5, 8, 4, "needle overlap=0.5");
  cr_assert_eq(draw(NULL, RS_OK, NULL), 1u);
  char *svg = picture_text("plots/share--needle-overlap=0.5--depth.svg");
  static const char *const parts[] = {"<title>Share</title>",
                                      "how &lt;often&gt;",
                                      "demo · m · needle overlap=0.5 · no data: yarn · depth: where",
                                      ">length (tokens, 1k = 1024)<",
                                      ">depth<",
                                      ">share<"};
  for (size_t i = 0; i < RS_COUNT(parts); i++) cr_assert_not_null(strstr(svg, parts[i]), "no %s", parts[i]);
  char *again = NULL;
  cr_assert_eq(draw(NULL, RS_OK, NULL), 1u);
  again = picture_text("plots/share--needle-overlap=0.5--depth.svg");
  cr_assert_str_eq(again, svg, "the same bytes");
  free(again);
  free(svg);
}

/* At the width of a column (84 mm) the smallest letters are as high as those of the line charts. */
Test(plot_maps, depths__of_many_methods__are_no_wider_than_a_column_reads, .init = make_folder, .fini = remove_folder) {
  static const size_t across[] = {1, 1, 2, 3, 4, 3, 3, 4, 4, 3, 4, 4}; /* by methods with a value */
  for (size_t count = 2; count <= RS_COUNT(methods); count++) {
    put_depths(count, 8, 11 - count % 2, "needle");
    cr_assert_eq(draw(NULL, RS_OK, NULL), 1u);
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

Test(plot_maps, depths__of_narrow_panels__do_not_cut_names, .init = make_folder, .fini = remove_folder) {
  put_depths(RS_COUNT(methods), 2, 4, "needle");
  draw(NULL, RS_OK, NULL);
  char *svg = picture_text("plots/share--needle--depth.svg");
  check_texts(svg);
  for (size_t m = 0; m < RS_COUNT(methods); m++)
    cr_assert(m == 1 || m == 2 || has_text(svg, methods[m]), "%s", methods[m]);
  free(svg);
}

Test(plot_maps, depths__with_room__say_their_numbers, .init = make_folder, .fini = remove_folder) {
  put_depths(1, 4, 5, "needle");
  draw(NULL, RS_OK, NULL);
  char *svg = picture_text("plots/share--needle--depth.svg");
  check_texts(svg);
  shown cell = find_text(svg, "0.045", 0); /* (3 * 3 + 0) / 200; two digits of 0.065 */
  cr_assert_float_eq(cell.x, find_text(svg, "8k", 0).x, 1e-9);
  cr_assert_float_eq(cell.y, find_text(svg, "0", 0).y, 1, "in the first row");
  free(svg);
  put_depths(8, 8, 10, "needle");
  draw(NULL, RS_OK, NULL);
  svg = picture_text("plots/share--needle--depth.svg");
  cr_assert_not(has_text(svg, "0.045"), "no room");
  free(svg);
}

/* Few depths, or one length, are lines for each source; so is a source of another name. */
Test(plot_maps, depths__that_are_few_or_of_one_length__stay_lines, .init = make_folder, .fini = remove_folder) {
  put_depths(1, 2, 2, "needle");
  cr_assert_eq(draw(NULL, RS_OK, NULL), 2u);
  cr_assert(exists("plots/share--needle-depth=0.0.svg") && exists("plots/share--needle-depth=0.1.svg"));
  put_depths(1, 2, 3, "needle");
  cr_assert_eq(draw(NULL, RS_OK, NULL), 3u);
  put_depths(1, 1, 4, "needle");
  cr_assert_eq(draw(NULL, RS_OK, NULL), 4u);
  rs_text rows = {0};
  rs_text_puts(&rows, DEPTHS_HEADER);
  static const char *const sources[] = {"a depth=1",    "a depth=2",  "a depth=3",     "a depth=4", "b depth=5",
                                        "a depth=four", "a depth=61", "gaussian of 7", "c depth=8x"};
  static const char *const values[] = {"1", "2", "3", "4", "5", "four", "6", "7", "8"};
  for (size_t s = 0; s < RS_COUNT(sources); s++)
    for (size_t l = 0; l < 2; l++)
      rs_text_printf(&rows, "%zu,m,rope,%d,1,%s,1,8,%s,%zu\n", 2 * s + l, 1024 << l, sources[s], values[s], s + l);
  put_file("summary.csv", rs_text_string(&rows));
  cr_assert_eq(draw(NULL, RS_OK, NULL), 6u, "one map of four sources, and five charts of lines");
  char *svg = picture_text("plots/share--a--depth.svg");
  cr_assert(has_text(svg, "1") && has_text(svg, "4") && !has_text(svg, "5"));
  cr_assert(exists("plots/share--b-depth=5.svg") && exists("plots/share--a-depth=61.svg"));
  free(svg);
  rs_text_clear(&rows);
}

/* Of two swept numbers the first makes the map, one for each of the second's. */
Test(plot_maps, depths__and_widths__make_a_map_of_each_source_once, .init = make_folder, .fini = remove_folder) {
  rs_text rows = {0};
  rs_text_puts(&rows, "cell,model,method,length_tokens,scale,source,seed,heads,depth,width,share\n");
  for (int i = 0; i < 32; i++)
    rs_text_printf(&rows, "%d,m,rope,%d,1,n depth=%d width=%d,1,8,%d,%d,%d\n", i, 1024 << i % 2, i / 8, i / 2 % 4,
                   i / 8, i / 2 % 4, i);
  put_file("manifest.json", "{\"files\":[{\"file\":\"summary.csv\",\"columns\":[" KEYS "," KEY("width") SHARE "]}]}");
  put_file("summary.csv", rs_text_string(&rows));
  cr_assert_eq(draw(NULL, RS_OK, NULL), 4u);
  cr_assert(exists("plots/share--n-width=0--depth.svg") && exists("plots/share--n-width=3--depth.svg"));
  /* A value that goes on is another: four sources "x depth=1b" are no depths 1 to 4. */
  rs_text_clear(&rows);
  rs_text_puts(&rows, DEPTHS_HEADER);
  for (int i = 0; i < 8; i++)
    rs_text_printf(&rows, "%d,m,rope,%d,1,x depth=%db,1,8,%d,%d\n", i, 1024 << i % 2, i / 2, i / 2, i);
  put_file("manifest.json", DEPTHS);
  put_file("summary.csv", rs_text_string(&rows));
  cr_assert_eq(draw(NULL, RS_OK, NULL), 4u);
  cr_assert(exists("plots/share--x-depth=0b.svg") && !exists("plots/share--xb--depth.svg"));
  rs_text_clear(&rows);
}

/* Zeros among numbers of a log scale do not hide how small the others are. */
Test(plot_maps, depths__on_a_log_scale__span_the_positive_numbers, .init = make_folder, .fini = remove_folder) {
  rs_text rows = {0};
  rs_text_puts(&rows, DEPTHS_HEADER);
  static const double values[] = {0, 0.1, 10, 1000};
  for (size_t d = 0; d < 4; d++)
    for (size_t l = 0; l < 2; l++)
      rs_text_printf(&rows, "%zu,m,rope,%d,1,n depth=%zu,1,8,%zu,%g\n", 2 * d + l, 1024 << l, d, d, values[d]);
  put_file("manifest.json", "{\"files\":[{\"file\":\"summary.csv\",\"columns\":[" KEYS
                            ",{\"name\":\"share\",\"role\":\"value\",\"axis\":\"log\"}]}]}");
  put_file("summary.csv", rs_text_string(&rows));
  cr_assert_eq(draw(NULL, RS_OK, NULL), 1u);
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

/* ---- strips ------------------------------------------------------------------------------------------------------ */

#define STRIP                                                                                                          \
  "{\"files\":[{\"file\":\"bands.csv\",\"columns\":[" KEYS                                                             \
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

Test(plot_maps, strip__a_value_over_an_index__is_a_row_for_each_method, .init = make_folder, .fini = remove_folder) {
  put_strip(48, 1);
  cr_assert_eq(draw(NULL, RS_OK, NULL), 2u, "omega stays lines");
  char *svg = picture_text("plots/bands--divided--4k.svg");
  check_texts(svg);
  double y[] = {find_text(svg, "rope", 0).y - 5, find_text(svg, "nope", 0).y - 5};
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
  }
  /* The bar is light at 1; the middle of its first row of pixels is half a pixel off. */
  shown tick = find_text(svg, "1.0", 0);
  cr_assert_eq(colour_at(svg, tick.x - 12, tick.y - 0.36 * 13 + 0.5), rs_plot_level_colour(RS_PLOT_LEVELS - 2));
  cr_assert((colour_at(svg, tick.x - 12, tick.y + 50) >> 8 & 0xFF) < 0xC0, "darker below");
  cr_assert(has_text(svg, "pair") && has_text(svg, "divided") && !has_text(svg, "yarn"));
  cr_assert_not_null(strstr(svg, "no data: yarn"));
  cr_assert_leq(attribute(svg, "width", 0), 720);
  free(svg);
}

/* Shares have the colours of 0 and 1 whatever occurs; other values those of what occurs. Any number of pairs fits. */
Test(plot_maps, strip__the_scale__is_that_of_shares_or_of_the_values, .init = make_folder, .fini = remove_folder) {
  static const size_t pairs[] = {1, 3, 30, 64, 500};
  for (size_t i = 0; i < RS_COUNT(pairs); i++) {
    put_strip(pairs[i], pairs[i] == 30 ? 0.5 : 8);
    draw(NULL, RS_OK, NULL);
    char *svg = picture_text("plots/bands--divided--4k.svg"), *again = NULL;
    check_texts(svg);
    double y = find_text(svg, "rope", 0).y - 5, x = 0;
    if (pairs[i] == 30) x = find_text(svg, "28", 0).x;
    if (pairs[i] == 64) x = find_text(svg, "60", 0).x;
    if (pairs[i] == 30) cr_assert_eq(colour_at(svg, x, y), colour_of(0.5, 0, 1));
    if (pairs[i] == 64) cr_assert_eq(colour_at(svg, x, y), rs_plot_level_colour(RS_PLOT_LEVELS - 1));
    draw(NULL, RS_OK, NULL);
    again = picture_text("plots/bands--divided--4k.svg");
    cr_assert_str_eq(again, svg);
    free(again);
    free(svg);
  }
}

/* Of two values each is at an end of the scale, or, of shares, where it is between 0 and 1. */
Test(plot_maps, strip__two_values__have_their_colours, .init = make_folder, .fini = remove_folder) {
  static const double values[][2] = {{3, 5}, {0.5, 1}, {-0.5, 0.5}};
  for (size_t i = 0; i < RS_COUNT(values); i++) {
    char rows[1000];
    snprintf(rows, sizeof rows, STRIP_HEADER "0,m,rope,4096,1,,,8,,0,%g,1\n0,m,rope,4096,1,,,8,,1,%g,1\n", values[i][0],
             values[i][1]);
    put_file("manifest.json", STRIP);
    put_file("bands.csv", rows);
    draw(NULL, RS_OK, NULL);
    char *svg = picture_text("plots/bands--divided--4k.svg");
    shown row = find_text(svg, "rope", 0);
    double low = i == 1 ? 0 : values[i][0], high = i == 1 ? 1 : values[i][1];
    for (size_t k = 0; k < 2; k++)
      cr_assert_eq(colour_at(svg, row.x + 10 + 40 * (double)k, row.y - 5), colour_of(values[i][k], low, high), "%zu",
                   i);
    shown value = find_text(svg, i == 0 ? "3" : "0.5", 0);
    cr_assert_eq(colour_at(svg, value.x, value.y), UINT32_MAX, "of single cells no values");
    free(svg);
  }
}

/* ---- chosen pictures --------------------------------------------------------------------------------------------- */

#define TWO_COLUMNS                                                                                                    \
  "{\"files\":[{\"file\":\"summary.csv\",\"columns\":[" KEYS SHARE                                                     \
  ",{\"name\":\"rank\",\"role\":\"value\"}]},{\"file\":\"decay.csv\",\"columns\":[" KEYS                               \
  ",{\"name\":\"at\",\"role\":\"index\"},{\"name\":\"rank\",\"role\":\"value\"}]}]}"

/* Pictures share--a, share--b, rank--a, rank--b, decay--rank--a--1k, decay--rank--b--1k. */
static void put_two(void) {
  put_file("manifest.json", TWO_COLUMNS);
  put_file("summary.csv", "cell,model,method,length_tokens,scale,source,seed,heads,depth,share,rank\n"
                          "0,m,rope,1024,1,a,1,8,,1,2\n1,m,rope,1024,1,b,1,8,,2,3\n");
  put_file("decay.csv", "cell,model,method,length_tokens,scale,source,seed,heads,depth,at,rank\n"
                        "0,m,rope,1024,1,a,1,8,,0,2\n1,m,rope,1024,1,b,1,8,,0,3\n");
}

Test(plot_maps, only__a_name_of_any_kind__draws_what_it_means, .init = make_folder, .fini = remove_folder) {
  static const struct {
    const char *names[2];
    size_t pictures;
    const char *one; /* of them */
  } cases[] = {{{NULL}, 6, "plots/share--a.svg"},
               {{"share--a"}, 1, "plots/share--a.svg"},
               {{"share--b.svg"}, 1, "plots/share--b.svg"},
               {{"results/x/plots/rank--b.png"}, 1, "plots/rank--b.svg"},
               {{"share"}, 2, "plots/share--b.svg"},
               {{"rank"}, 4, "plots/decay--rank--a--1k.svg"},
               {{"decay"}, 2, "plots/decay--rank--b--1k.svg"},
               {{"decay--rank--a"}, 1, "plots/decay--rank--a--1k.svg"},
               {{"decay", "share--a"}, 3, "plots/share--a.svg"},
               {{"share", "share--a"}, 2, "plots/share--a.svg"}};
  put_two();
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    size_t count = (cases[i].names[0] != NULL) + (cases[i].names[1] != NULL);
    nftw(path_in("plots"), remove_one, 16, FTW_DEPTH | FTW_PHYS);
    cr_assert_eq(draw(&(rs_plot_options){.only = cases[i].names, .only_count = count}, RS_OK, NULL), cases[i].pictures,
                 "case %zu", i);
    cr_assert(exists(cases[i].one), "case %zu", i);
  }
}

/* Before anything is drawn, also what another name means. */
Test(plot_maps, only__an_unknown_name__is_an_error_with_a_hint, .init = make_folder, .fini = remove_folder) {
  static const char *const cases[][2] = {{"shard--a", "\"shard--a\" (did you mean \"share--a\"?)"},
                                         {"rnak", "did you mean \"rank\"?"},
                                         {"share-", "no picture or column is \"share-\""},
                                         {"share.svg", "no picture or column"},
                                         {"", "no picture or column is \"\""},
                                         {"entirely else", "(there are 6 pictures, as \"share--a\")"}};
  put_two();
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    const char *names[] = {"share--b", cases[i][0]};
    cr_assert_eq(draw(&(rs_plot_options){.only = names, .only_count = 2}, RS_INPUT, cases[i][1]), 0u);
  }
  cr_assert_not(exists("plots"), "nothing was written");
}

/* ---- stale pictures ---------------------------------------------------------------------------------------------- */

/* One summary of a column, as of a config. */
static void put_config(const char *config, const char *column) {
  char text[4000];
  snprintf(text, sizeof text,
           "{\"config_sha256\":\"%s\",\"files\":[{\"file\":\"summary.csv\",\"columns\":[" KEYS
           ",{\"name\":\"%s\",\"role\":\"value\"}]}]}",
           config, column);
  put_file("manifest.json", text);
  snprintf(text, sizeof text,
           "cell,model,method,length_tokens,scale,source,seed,heads,depth,%s\n0,m,rope,1024,1,,1,8,,1\n", column);
  put_file("summary.csv", text);
}

Test(plot_maps, drawn__of_another_config__is_removed_and_nothing_else, .init = make_folder, .fini = remove_folder) {
  put_config("aa", "one");
  draw(NULL, RS_OK, NULL);
  put_file("plots/mine.svg", "not of ropescope");
  put_config("aa", "two"); /* the same config, as with another length */
  draw(NULL, RS_OK, NULL);
  cr_assert(exists("plots/one.svg") && exists("plots/two.svg"));
  put_config("aab", "two");
  draw(&(rs_plot_options){.only = (const char *[]){"two"}, .only_count = 1}, RS_OK, NULL);
  cr_assert(exists("plots/one.svg"), "a choice removes nothing");
  put_config("aab", "three");
  draw(NULL, RS_OK, NULL);
  cr_assert(!exists("plots/one.svg") && exists("plots/two.svg") && exists("plots/three.svg"));
  put_config("a", "three");
  draw(NULL, RS_OK, NULL);
  cr_assert(!exists("plots/two.svg") && exists("plots/three.svg") && exists("plots/mine.svg"));
  char *list = picture_text("plots/.drawn");
  cr_assert_str_eq(list, "a three.svg\n");
  free(list);
}

/* A list that someone else wrote cannot point elsewhere. */
Test(plot_maps, drawn__names_that_are_no_pictures__stay, .init = make_folder, .fini = remove_folder) {
  put_config("new", "one");
  draw(NULL, RS_OK, NULL);
  put_file("summary.svg", "above");
  cr_assert_eq(mkdir(path_in("plots/folder.svg"), 0755), 0);
  put_file("plots/notes.txt", "text");
  put_file("plots/real.svg", "svg");
  put_file("plots/.a.svg", "hidden");
  put_file("plots/folder.svg/kept", "inside");
  cr_assert_eq(symlink("real.svg", path_in("plots/link.svg")), 0);
  put_file("plots/.drawn",
           "old ../summary.svg\nold notes.txt\nold .a.svg\nold folder.svg\nold link.svg\nold\n\n old\n");
  draw(NULL, RS_OK, NULL);
  static const char *const kept[] = {"summary.svg",  "plots/notes.txt",       "plots/real.svg",
                                     "plots/.a.svg", "plots/folder.svg/kept", "plots/link.svg"};
  for (size_t i = 0; i < RS_COUNT(kept); i++) cr_assert(exists(kept[i]), "%s", kept[i]);
}
