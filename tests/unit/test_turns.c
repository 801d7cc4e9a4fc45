/* Tables of turns, and heads rotated by them, against the plain rotation of one token at a time: every method,
 * precision and instruction set. */
#include "../golden.h"
#include "ropescope/kernel.h"

enum { LENGTH = 150, DIMS = 24, PAIRS = 10, ROWS = 4, COLUMNS = 5, TEXT = 37 };

/* What the methods cannot do without, for PAIRS pairs. */
static const struct {
  const char *name, *value;
} needs[] = {
    {"factor", "2.5"},
    {"short_factor", "1,1,1,1.1,1.2,1.3,1.4,1.5,1.6,1.7"},
    {"long_factor", "1,1,1,1.5,2,2,3,4,8,16"},
    {"inv_freq", "1,.5,.3,.2,.1,.05,.01,.001,.0001,0"},
    {"freq_x", "1,.5,-.3,.2,.1,.05,.01,.001,.0001,0"},
    {"freq_y", "1,-.25,0,0,.7,.3,.2,.1,.05,.01"},
    {"position_range", "400"},
    {"local", "16"},
};

static rs_recipe recipe_of(const rs_method *method, const char *settings, rs_pair_layout layout) {
  rs_recipe recipe = make_recipe(method->name, settings);
  for (size_t i = 0; i < RS_COUNT(needs); i++)
    if (rs_settings_find(&recipe.settings, needs[i].name) >= 0 &&
        !(method->freq != NULL && strstr(method->name, "dynamic_") == method->name))
      recipe_set_word(&recipe, needs[i].name, needs[i].value);
  recipe_set_word(&recipe, "pair_layout", layout == RS_INTERLEAVED ? "interleaved" : "half_split");
  return recipe;
}

/* An encoding of a method with a picture after some text, or NULL where it is not defined for these. */
static rs_encoding *encoding_of(const rs_method *method, const char *settings, rs_pair_layout layout, bool picture,
                                const rs_precision *precision) {
  rs_token_run runs[] = {{.modality = RS_TEXT, .tokens = TEXT}, {RS_IMAGE, ROWS * COLUMNS, 1, ROWS, COLUMNS, 1, 1}};
  rs_token_layout tokens = {runs, picture ? RS_COUNT(runs) : 0};
  rs_model model = plain_model(DIMS, 100, 96);
  rs_err err = {0};
  rs_encoding *encoding = NULL;
  model.rotary_dim = 2 * PAIRS;
  model.max_length = 256;
  rs_recipe recipe = recipe_of(method, settings, layout);
  rs_status status = rs_recipe_check(&recipe, &model, &err);
  if (status == RS_OK) status = rs_encoding_create(&recipe, &model, LENGTH, &tokens, precision, &encoding, &err);
  cr_assert(status == RS_OK || picture, "%s %s: %s", method->name, settings, err.message);
  rs_recipe_clear(&recipe);
  return encoding;
}

/* The rows of a table turn a vector as rs_encoding_rotate_token does. */
static void check_row(const rs_encoding *encoding, rs_side side, size_t view, size_t token, const double *c,
                      const double *s) {
  double x[DIMS], got[DIMS], expected[DIMS];
  for (size_t d = 0; d < DIMS; d++) x[d] = got[d] = 1 + (double)(d * 7 % 5);
  rs_turn_shape shape = {1, 1, DIMS, encoding->rotary_dim / 2, encoding->pair_layout == RS_INTERLEAVED};
  const double *gains = side == RS_QUERY_SIDE ? encoding->gain_q[view] : encoding->gain_k[view];
  rs_kernels_get()->rotate->turn_f64(&shape, c, s, got);
  rs_encoding_rotate_token(encoding, side, view, token, x, expected);
  for (size_t d = 0; d < DIMS; d++) {
    size_t pair = shape.interleaved ? d / 2 : d % PAIRS;
    double size = 10 * encoding->amp * (gains != NULL && d < 2 * PAIRS ? gains[token * PAIRS + pair] : 1);
    cr_assert(close_to(got[d], expected[d], 0, 1e-15 * size),
              "%s view %zu side %d token %zu dim %zu: got %.17g, expected %.17g", encoding->method->name, view,
              (int)side, token, d, got[d], expected[d]);
  }
}

/* All of a side's table at once, and again in runs: the same bits. */
static void check_side(const rs_encoding *encoding, rs_side side, size_t view) {
  static double c[LENGTH * PAIRS], s[LENGTH * PAIRS], part_c[LENGTH * PAIRS], part_s[LENGTH * PAIRS];
  size_t pairs = encoding->rotary_dim / 2;
  cr_assert_eq(pairs, PAIRS);
  rs_encoding_turns(encoding, side, view, 0, LENGTH, c, s);
  for (size_t n = 0; n < LENGTH; n++) check_row(encoding, side, view, n, c + n * pairs, s + n * pairs);
  for (size_t begin = 0; begin < LENGTH; begin += 1 + begin % 30) {
    size_t end = begin + 1 + begin % 30 < LENGTH ? begin + 1 + begin % 30 : LENGTH, count = (end - begin) * pairs;
    rs_encoding_turns(encoding, side, view, begin, end, part_c, part_s);
    cr_assert(memcmp(part_c, c + begin * pairs, count * sizeof *c) == 0, "tokens %zu to %zu", begin, end);
    cr_assert(memcmp(part_s, s + begin * pairs, count * sizeof *s) == 0, "tokens %zu to %zu", begin, end);
  }
}

static void check_encoding(const rs_encoding *encoding) {
  for (size_t v = 0; v < encoding->views; v++) {
    check_side(encoding, RS_QUERY_SIDE, v);
    check_side(encoding, RS_KEY_SIDE, v);
  }
}

/* Runs a check with the kernels of each set in use. */
static void with_every_isa(void (*check)(void)) {
  for (size_t i = 0; rs_isa_name(i) != NULL; i++) {
    cr_assert_eq(rs_kernels_use(rs_isa_name(i), NULL), RS_OK);
    check();
  }
  cr_assert_eq(rs_kernels_use("auto", NULL), RS_OK);
}

static void check_methods(void) {
  size_t count, pictured = 0, checked = 0;
  const rs_method *methods = rs_methods(&count);
  for (size_t i = 0; i < 4 * count; i++) {
    const rs_method *method = &methods[i / 4];
    if (method->freq == NULL) continue;
    rs_encoding *encoding = encoding_of(method, "", i % 2 ? RS_INTERLEAVED : RS_HALF_SPLIT, i % 4 > 1, NULL);
    if (encoding == NULL) continue;
    check_encoding(encoding);
    checked++;
    pictured += i % 4 > 1;
    rs_encoding_free(encoding);
  }
  cr_assert(checked > 80 && pictured > 30, "%zu, %zu with pictures", checked, pictured);
}

Test(turns, methods__every_side_view_and_layout__are_the_rotation_of_a_token) {
  with_every_isa(check_methods);
}
