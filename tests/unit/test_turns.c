/* Tables of turns against the plain rotation of one token at a time: every method,
 * precision and instruction set. */
#include "../exact.h"
#include "../golden.h"
#include "kernel/kernel.h"

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
    if (rs_settings_find(&recipe.settings, needs[i].name) >= 0 && strncmp(method->name, "dynamic_", 8) != 0 &&
        strstr(settings, "scale=dynamic") == NULL)
      recipe_set_word(&recipe, needs[i].name, needs[i].value);
  recipe_set_word(&recipe, "pair_layout", layout == RS_INTERLEAVED ? "interleaved" : "half_split");
  return recipe;
}

/* An encoding of a method with a picture after some text, or NULL where it is not defined for these. */
static rs_encoding *encoding_of(const rs_method *method, const char *settings, rs_pair_layout layout, bool picture,
                                const rs_precision *precision) {
  rs_token_run runs[] = {{.modality = RS_TEXT, .tokens = TEXT}, {RS_IMAGE, ROWS * COLUMNS, 1, ROWS, COLUMNS, 1, 1}};
  rs_token_layout tokens = {.runs = runs, .count = picture ? RS_COUNT(runs) : 0};
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
  rs_row_turn turn = {.rows = 1,
                      .width = DIMS,
                      .pairs = encoding->rotary_dim / 2,
                      .interleaved = encoding->pair_layout == RS_INTERLEAVED,
                      .cosine = c,
                      .sine = s};
  const double *gains = side == RS_QUERY_SIDE ? encoding->gain_q[view] : encoding->gain_k[view];
  rs_kernels_get()->net_f64->turn_rows(&turn, got, DIMS, got, DIMS);
  rs_encoding_rotate_token(encoding, side, view, token, x, expected);
  for (size_t d = 0; d < DIMS; d++) {
    size_t pair = turn.interleaved ? d / 2 : d % PAIRS;
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

/* Gains that differ from pair to pair, places that are each pair's own, a temperature on cos and sin. */
static void check_settings(void) {
  static const char *const cases[][2] = {
      {"dynamic_ntk", "factor=2 cached_keys=33"},
      {"yarn", "scale=dynamic cached_keys=100"},
      {"xpos", "xpos_scale_base=16"},
      {"rope_mixed", "cached_keys=10"},
      {"explicit", "attention_factor=1.5"},
      {"pi", "interpolate=positions"},
      {"rope", "mrope_section=4,3,3"},
  };
  for (size_t i = 0; i < 2 * RS_COUNT(cases); i++) {
    const char *const *words = cases[i / 2];
    rs_encoding *encoding =
        encoding_of(rs_method_find(words[0]), words[1], i % 2 ? RS_INTERLEAVED : RS_HALF_SPLIT, false, NULL);
    check_encoding(encoding);
    rs_encoding_free(encoding);
  }
}

Test(turns, gains_own_places_and_amp__are_the_rotation_of_a_token) {
  with_every_isa(check_settings);
}

static const rs_precision precisions[] = {
    {.angle = RS_F32}, {.table = RS_BF16},    {.positions = RS_BF16, .angle = RS_BF16, .table = RS_F16},
    {.running = true}, {.positions = RS_F16}, {.inv_freq = RS_F32},
};

/* Where angles or tables are rounded the table has the scalar's very numbers: another last bit before the rounding
 * would be another number after it. */
static void check_precisions(void) {
  static double c[LENGTH * PAIRS], s[LENGTH * PAIRS];
  for (size_t i = 0; i < RS_COUNT(precisions); i++) {
    bool rounded = precisions[i].running || precisions[i].angle != RS_F64 || precisions[i].table != RS_F64;
    rs_encoding *encoding = encoding_of(rs_method_find("yarn"), "", RS_HALF_SPLIT, false, &precisions[i]);
    check_side(encoding, RS_QUERY_SIDE, 0);
    rs_encoding_turns(encoding, RS_KEY_SIDE, 0, 0, LENGTH, c, s);
    for (size_t n = 0; n < LENGTH * PAIRS && rounded; n++) {
      double cosine, sine;
      rs_encoding_cos_sin(encoding, n % PAIRS, encoding->pos_k[0][n / PAIRS], &cosine, &sine);
      cr_assert(c[n] == cosine * encoding->amp && s[n] == sine * encoding->amp, "setting %zu number %zu", i, n);
    }
    rs_encoding_free(encoding);
  }
}

Test(turns, precisions__each__are_what_the_scalar_rounds_to) {
  with_every_isa(check_precisions);
}

/* A million tokens on. */
static void check_far(void) {
  enum { FAR = 1 << 20, TAIL = 333 };
  static double c[TAIL * 64], s[TAIL * 64];
  rs_model model = plain_model(128, 1e4, FAR);
  rs_encoding *encoding = encode("rope", "", &model, FAR);
  rs_encoding_turns(encoding, RS_KEY_SIDE, 0, FAR - TAIL, FAR, c, s);
  for (size_t i = 0; i < TAIL * 64; i++) {
    long double cosine, sine;
    exact_cos_sin((double)(FAR - TAIL + i / 64), encoding->omega[i % 64], &cosine, &sine);
    cr_assert(fabsl(c[i] - cosine) <= 1e-15L && fabsl(s[i] - sine) <= 1e-15L, "number %zu: %.17g %.17g", i, c[i], s[i]);
  }
  rs_encoding_free(encoding);
}

Test(turns, rope__a_million_tokens_on__good_to_1e_15) {
  with_every_isa(check_far);
}

/* From a fraction, whole steps may not be exact: such tokens have angles of their own, as good as the kernel's. */
static void check_fractions(void) {
  double c[RS_STEPS * PAIRS], s[RS_STEPS * PAIRS];
  uint64_t state = 12;
  rs_encoding *encoding = encoding_of(rs_method_find("rope"), "", RS_HALF_SPLIT, false, NULL);
  for (size_t draw = 0; draw < 200; draw++) {
    double fraction = draw_real(&state, 0, 1);
    for (size_t n = 0; n < RS_STEPS; n++) encoding->pos_k[0][n] = fraction + (double)n;
    rs_encoding_turns(encoding, RS_KEY_SIDE, 0, 0, RS_STEPS, c, s);
    for (size_t i = 0; i < RS_STEPS * PAIRS; i++) {
      long double cosine, sine;
      exact_cos_sin(encoding->pos_k[0][i / PAIRS], encoding->omega[i % PAIRS], &cosine, &sine);
      cr_assert(fabsl(c[i] - cosine) <= 3e-16L && fabsl(s[i] - sine) <= 3e-16L, "%.17g number %zu", fraction, i);
    }
  }
  rs_encoding_free(encoding);
}

Test(turns, rope__fractions_of_a_position__share_nothing) {
  with_every_isa(check_fractions);
}
