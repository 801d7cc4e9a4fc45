/* Laws that hold for every recipe, on random ones with a printed seed (ROPESCOPE_SEED=n tries another), and explicit
 * 2 x 2 rotations of tiny worlds. */
#include "../fixtures/seed.h"
#include "../golden.h"

static double dot(const double *a, const double *b, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; i++) sum += a[i] * b[i];
  return sum;
}

static void draw_vector(uint64_t *state, size_t count, double *out) {
  for (size_t i = 0; i < count; i++) out[i] = draw_real(state, -1, 1);
}

/* ---- random recipes ---------------------------------------------------------------------------------------------- */

enum { MOST_DIMS = 64 };

/* A random text model of at most MOST_DIMS dims, some of which may not turn. */
static rs_model draw_model(uint64_t *state) {
  rs_model model = plain_model(2 * draw_size(state, 2, MOST_DIMS / 2), pow(10, draw_real(state, 0.5, 7)),
                               draw_size(state, 16, 8192));
  if (draw_size(state, 0, 1)) model.rotary_dim = 2 * draw_size(state, 2, model.head_dim / 2);
  model.pair_layout = (rs_pair_layout)draw_size(state, 0, 1);
  model.heads = draw_size(state, 1, 5);
  model.max_length = model.train_length * draw_size(state, 1, 32);
  return model;
}

/* " name=v,v,..." of `count` divisors. */
static void add_divisors(uint64_t *state, const char *name, size_t count, double most, rs_text *words) {
  rs_text_printf(words, " %s=", name);
  for (size_t i = 0; i < count; i++) rs_text_printf(words, "%s%.17g", i > 0 ? "," : "", draw_real(state, 1, most));
}

/* The model's ladder, or another one near it. */
static void add_ladder(uint64_t *state, const rs_model *model, bool plain, rs_text *words) {
  for (size_t j = 0; j < model->rotary_dim / 2; j++) {
    double omega = pow(model->rope_theta, -2.0 * (double)j / (double)model->rotary_dim);
    rs_text_printf(words, "%s%.17g", j > 0 ? "," : " inv_freq=", plain ? omega : omega * draw_real(state, 0.5, 2));
  }
}

/* Random settings of a method, in words: its scale (`factor` where given, else drawn) and what it cannot do without. */
static void draw_settings(uint64_t *state, const rs_method *method, const rs_model *model, double factor,
                          rs_text *words) {
  bool scaled = method->freq != NULL && method->freq->scaled;
  if (isnan(factor)) factor = exp(draw_real(state, 0, 4));
  if (scaled) rs_text_printf(words, " factor=%.17g", factor);
  if (strstr(method->name, "ntk_by_parts") == method->name || strcmp(method->name, "yarn") == 0) {
    bool first = strcmp(method->name, "ntk_by_parts_v1") == 0;
    if (!first && draw_size(state, 0, 1)) rs_text_puts(words, " truncate=false");
    if (!first && draw_size(state, 0, 1)) rs_text_puts(words, " ramp=paper");
    if (!first) rs_text_printf(words, " beta_fast=%.17g beta_slow=0.5", draw_real(state, 0.6, 60));
  }
  if (strcmp(method->name, "rope_mixed") == 0) {
    add_divisors(state, "freq_x", model->rotary_dim / 2, 8, words);
    add_divisors(state, "freq_y", model->rotary_dim / 2, 8, words);
  }
  if (strcmp(method->name, "llama3") == 0) rs_text_printf(words, " high_freq_factor=%.17g", draw_real(state, 1, 9));
  if (strcmp(method->name, "longrope") == 0) {
    double most = factor == 1 ? 1 : 8; /* factor 1: all divisors 1 */
    if (factor == 1) rs_text_puts(words, " factor=1");
    add_divisors(state, "short_factor", model->rotary_dim / 2, most, words);
    add_divisors(state, "long_factor", model->rotary_dim / 2, most, words);
  }
  if (strcmp(method->name, "explicit") == 0) add_ladder(state, model, factor == 1, words);
}

static rs_encoding *draw_encoding(uint64_t *state, const rs_method *method, const rs_model *model, double factor,
                                  size_t length) {
  rs_text words = {0};
  draw_settings(state, method, model, factor, &words);
  rs_encoding *encoding = encode(method->name, rs_text_string(&words), model, length);
  rs_text_clear(&words);
  return encoding;
}

/* <rot(q, position), rot(k, other)>, with all axes at the same coordinate. */
static double product(const rs_encoding *encoding, const double *q, double position, const double *k, double other) {
  double turned_q[MOST_DIMS], turned_k[MOST_DIMS], all_at[MOST_DIMS], all_other[MOST_DIMS];
  for (size_t a = 0; a < encoding->axes; a++) {
    all_at[a] = position;
    all_other[a] = other;
  }
  rs_encoding_rotate(encoding, all_at, q, turned_q);
  rs_encoding_rotate(encoding, all_other, k, turned_k);
  return dot(turned_q, turned_k, encoding->head_dim);
}

/* ---- laws -------------------------------------------------------------------------------------------------------- */

Test(laws, shift__both_positions__leaves_every_rotary_product) {
  uint64_t seed = seed_of_run(), state = seed;
  size_t count, tried = 0;
  const rs_method *methods = rs_methods(&count);
  for (size_t turn = 0; turn < 40 * count; turn++) {
    const rs_method *method = &methods[turn % count];
    rs_model model = draw_model(&state);
    if (method->freq == NULL) continue;
    if (strncmp(method->name, "axial", strlen("axial")) == 0)
      model.rotary_dim = model.head_dim = 4 * (model.head_dim / 4);
    rs_encoding *encoding = draw_encoding(&state, method, &model, NAN, 1);
    double q[MOST_DIMS], k[MOST_DIMS];
    draw_vector(&state, model.head_dim, q);
    draw_vector(&state, model.head_dim, k);
    double m = (double)draw_size(&state, 0, 100000), n = (double)draw_size(&state, 0, 100000);
    double shift = (double)draw_size(&state, 0, 1000000);
    double here = product(encoding, q, m, k, n), there = product(encoding, q, m + shift, k, n + shift);
    cr_assert(close_to(there, here, 0, 1e-11 * encoding->amp * encoding->amp * (double)model.head_dim),
              "seed %lu turn %zu %s: %.17g at (%g, %g), %.17g shifted by %g", (unsigned long)seed, turn, method->name,
              here, m, n, there, shift);
    double nothing = product(encoding, q, m, q, m), length = dot(q, q, encoding->head_dim);
    double turned = dot(q, q, 0);
    for (size_t d = 0; d < encoding->head_dim; d++) turned += d < encoding->rotary_dim ? q[d] * q[d] : 0;
    double expected = length + (encoding->amp * encoding->amp - 1) * turned;
    cr_assert(close_to(nothing, expected, 1e-12, 1e-12),
              "seed %lu turn %zu %s: rotation changes a length from %g to %g", (unsigned long)seed, turn, method->name,
              expected, nothing);
    tried++;
    rs_encoding_free(encoding);
  }
  cr_assert_gt(tried, 400u);
}

/* Methods that change plain RoPE by something else than a scale. */
static bool is_plain_at_1(const char *method) {
  static const char *const others[] = {"abf", "p_rope", "resonance", "axial", "rope_mixed"};
  for (size_t i = 0; i < RS_COUNT(others); i++)
    if (strcmp(others[i], method) == 0) return false;
  return true;
}

Test(laws, factor_one__every_scaled_method__is_plain_rope) {
  uint64_t seed = seed_of_run(), state = seed;
  size_t count;
  const rs_method *methods = rs_methods(&count);
  for (size_t turn = 0; turn < 30 * count; turn++) {
    const rs_method *method = &methods[turn % count];
    rs_model model = draw_model(&state);
    if (method->freq == NULL || !is_plain_at_1(method->name)) continue;
    if (strcmp(method->name, "proportional") == 0) model.rotary_dim = model.head_dim; /* its exponent runs over D */
    rs_encoding *encoding = draw_encoding(&state, method, &model, 1, 8);
    for (size_t j = 0; j < model.rotary_dim / 2; j++) {
      double expected = pow(model.rope_theta, -2.0 * (double)j / (double)model.rotary_dim);
      cr_assert(close_to(encoding->omega[j], expected, 1e-14, 0), "seed %lu turn %zu %s pair %zu: %.17g, plain %.17g",
                (unsigned long)seed, turn, method->name, j, encoding->omega[j], expected);
    }
    cr_assert(encoding->amp == 1 && encoding->logit_scale[7] == 1, "seed %lu turn %zu %s: amp %g", (unsigned long)seed,
              turn, method->name, encoding->amp);
    rs_encoding_free(encoding);
  }
}

/* What each scaling does to the fastest and the slowest pair, by its paper. */
Test(laws, scaling__first_and_last_pair__are_divided_as_published) {
  static const struct {
    const char *method;
    bool keeps_first, divides_last;
  } cases[] = {{"pi", false, true},        {"ntk", true, true},          {"ntk_fixed", false, true},
               {"ntk_mixed", false, true}, {"ntk_by_parts", true, true}, {"ntk_by_parts_v1", true, true},
               {"yarn", true, true},       {"llama3", true, true}};
  uint64_t seed = seed_of_run(), state = seed;
  for (size_t turn = 0; turn < 200; turn++)
    for (size_t i = 0; i < RS_COUNT(cases); i++) {
      double s = exp(draw_real(&state, 0.1, 4));
      rs_model model = plain_model(128, 1e4, 4096);
      char settings[64];
      snprintf(settings, sizeof settings, "scale=%.17g", s);
      rs_encoding *encoding = encode(cases[i].method, settings, &model, 1);
      double first = 1 / encoding->omega[0], last = encoding->omega_trained[63] / encoding->omega[63];
      double expected = strcmp(cases[i].method, "pi") == 0          ? s
                        : strcmp(cases[i].method, "ntk_fixed") == 0 ? pow(s, 2.0 / 128)
                        : strcmp(cases[i].method, "ntk_mixed") == 0 ? exp(log(s) * pow(1.0 / 64, 0.625))
                                                                    : 1;
      cr_assert(close_to(first, expected, 1e-13, 0), "seed %lu %s s = %g: pair 0 divided by %.17g, not %.17g",
                (unsigned long)seed, cases[i].method, s, first, expected);
      cr_assert(close_to(last, s, 1e-12, 0), "seed %lu %s s = %g: pair 63 divided by %.17g", (unsigned long)seed,
                cases[i].method, s, last);
      rs_encoding_free(encoding);
    }
}

Test(laws, pi__positions_or_frequencies__give_the_same_products) {
  uint64_t seed = seed_of_run(), state = seed;
  for (size_t turn = 0; turn < 200; turn++) {
    enum { LENGTH = 40 };
    rs_model model = draw_model(&state);
    double q[MOST_DIMS], k[MOST_DIMS], factor = exp(draw_real(&state, 0, 4));
    char settings[2][96];
    snprintf(settings[0], sizeof settings[0], "factor=%.17g interpolate=frequencies", factor);
    snprintf(settings[1], sizeof settings[1], "factor=%.17g interpolate=positions", factor);
    rs_encoding *divided = encode("pi", settings[0], &model, LENGTH),
                *moved = encode("pi", settings[1], &model, LENGTH);
    draw_vector(&state, model.head_dim, q);
    draw_vector(&state, model.head_dim, k);
    cr_assert_eq(divided->pos_q[0][LENGTH - 1], LENGTH - 1);
    cr_assert(close_to(moved->pos_q[0][LENGTH - 1], (LENGTH - 1) / factor, 1e-15, 0));
    for (size_t m = 0; m < LENGTH; m++)
      for (size_t n = 0; n <= m; n++) {
        double one = product(divided, q, divided->pos_q[0][m], k, divided->pos_k[0][n]);
        double other = product(moved, q, moved->pos_q[0][m], k, moved->pos_k[0][n]);
        cr_assert(close_to(one, other, 0, 1e-12), "seed %lu turn %zu (%zu, %zu): %.17g and %.17g", (unsigned long)seed,
                  turn, m, n, one, other);
      }
    rs_encoding_free(moved);
    rs_encoding_free(divided);
  }
}

Test(laws, mrope__text_only__is_rope) {
  uint64_t seed = seed_of_run(), state = seed;
  for (size_t turn = 0; turn < 100; turn++) {
    enum { LENGTH = 30 };
    rs_model model = draw_model(&state);
    rs_encoding *plain = encode("rope", "", &model, LENGTH);
    rs_encoding *axes = encode("mrope", turn % 2 ? "mrope_layout=interleaved" : "", &model, LENGTH);
    double x[MOST_DIMS], one[MOST_DIMS], other[MOST_DIMS];
    draw_vector(&state, model.head_dim, x);
    cr_assert(plain->axes == 1 && axes->axes == RS_AXES);
    for (size_t m = 0; m < LENGTH; m++) {
      rs_encoding_rotate(plain, plain->pos_q[0] + m, x, one);
      rs_encoding_rotate(axes, axes->pos_q[0] + m * RS_AXES, x, other);
      cr_assert_arr_eq(one, other, model.head_dim * sizeof *one, "seed %lu turn %zu token %zu", (unsigned long)seed,
                       turn, m);
    }
    rs_encoding_free(axes);
    rs_encoding_free(plain);
  }
}

/* With three different coordinates each pair turns by its own axis's: a rotation of pair j alone is told apart. */
Test(laws, mrope__three_coordinates__each_pair_reads_its_axis) {
  uint64_t seed = seed_of_run(), state = seed;
  rs_token_run runs[] = {{.modality = RS_TEXT, .tokens = 3},
                         {.modality = RS_VIDEO,
                          .tokens = 24,
                          .frames = 2,
                          .rows = 3,
                          .columns = 4,
                          .seconds_per_frame = 5,
                          .ids_per_second = 1}};
  rs_token_layout layout = {.runs = runs, .count = RS_COUNT(runs)};
  for (size_t turn = 0; turn < 40; turn++) {
    enum { LENGTH = 30 };
    rs_model model = draw_model(&state);
    rs_recipe recipe = make_recipe("mrope", turn % 2 ? "mrope_layout=interleaved" : "");
    rs_encoding *encoding = encode_recipe(&recipe, &model, LENGTH, &layout);
    size_t m = draw_size(&state, 3, LENGTH - 1), n = draw_size(&state, 0, m), pairs = model.rotary_dim / 2;
    const double *q = encoding->pos_q[0] + m * RS_AXES, *k = encoding->pos_k[0] + n * RS_AXES;
    double x[MOST_DIMS], got[MOST_DIMS], mean = (double)(model.head_dim / 2 - pairs);
    draw_vector(&state, model.head_dim, x);
    rs_encoding_rotate(encoding, q, x, got);
    for (size_t j = 0; j < pairs; j++) {
      size_t axis = encoding->axis[j], first = model.pair_layout == RS_INTERLEAVED ? 2 * j : j;
      size_t second = model.pair_layout == RS_INTERLEAVED ? 2 * j + 1 : j + pairs;
      double angle = q[axis] * encoding->omega[j];
      mean += cos((q[axis] - k[axis]) * encoding->omega[j]);
      cr_assert(close_to(got[first], cos(angle) * x[first] - sin(angle) * x[second], 0, 1e-13) &&
                    close_to(got[second], sin(angle) * x[first] + cos(angle) * x[second], 0, 1e-13),
                "seed %lu turn %zu token %zu pair %zu axis %zu", (unsigned long)seed, turn, m, j, axis);
    }
    mean /= (double)(model.head_dim / 2);
    cr_assert(close_to(rs_encoding_mean_cosine(encoding, m, n), mean, 0, 1e-13), "seed %lu turn %zu (%zu, %zu)",
              (unsigned long)seed, turn, m, n);
    rs_encoding_free(encoding);
    rs_recipe_clear(&recipe);
  }
}

/* A temperature on cos and sin is the same on the logits, its square, when every dim turns; and differs when not. */
Test(laws, temperature__on_cos_sin_or_logits__is_the_same_if_all_dims_turn) {
  uint64_t seed = seed_of_run(), state = seed;
  static const char *const names[] = {"yarn", "longrope"};
  for (size_t turn = 0; turn < 200; turn++) {
    rs_model model = draw_model(&state);
    bool whole = turn % 4 < 2;
    model.rotary_dim = whole ? model.head_dim : model.head_dim - 2;
    rs_text words = {0};
    const rs_method *method = rs_method_find(names[turn % 2]);
    draw_settings(&state, method, &model, NAN, &words);
    if (turn % 2) rs_text_puts(&words, " factor=7");
    rs_encoding *on_table = encode(method->name, rs_text_string(&words), &model, 4);
    rs_text_puts(&words, " temperature=logits");
    rs_encoding *on_logits = encode(method->name, rs_text_string(&words), &model, 4);
    double q[MOST_DIMS], k[MOST_DIMS];
    draw_vector(&state, model.head_dim, q);
    draw_vector(&state, model.head_dim, k);
    double one = on_table->logit_scale[3] * product(on_table, q, 3, k, 1);
    double other = on_logits->logit_scale[3] * product(on_logits, q, 3, k, 1);
    cr_assert(on_table->amp > 1 && on_table->logit_scale[3] == 1 && on_logits->amp == 1);
    cr_assert(close_to(on_logits->logit_scale[3], on_table->amp * on_table->amp, 1e-15, 0));
    cr_assert_eq(close_to(one, other, 1e-12, 1e-12), whole, "seed %lu turn %zu %s R = %zu D = %zu: %.17g and %.17g",
                 (unsigned long)seed, turn, method->name, model.rotary_dim, model.head_dim, one, other);
    rs_encoding_free(on_logits);
    rs_encoding_free(on_table);
    rs_text_clear(&words);
  }
}

Test(laws, self_extend__window_beyond_length_or_group_one__is_rope) {
  uint64_t seed = seed_of_run(), state = seed;
  for (size_t turn = 0; turn < 100; turn++) {
    size_t length = draw_size(&state, 1, 40);
    rs_model model = plain_model(8, 1e4, 16);
    char settings[64];
    snprintf(settings, sizeof settings, turn % 2 ? "window=%zu group=1" : "window=%zu group=5",
             turn % 2 ? draw_size(&state, 0, length) : length + draw_size(&state, 0, 5));
    rs_encoding *encoding = encode("self_extend", settings, &model, length);
    for (size_t m = 0; m < length; m++)
      for (size_t n = 0; n <= m; n++) {
        size_t view = rs_encoding_view(encoding, m, n);
        cr_assert_eq(encoding->pos_q[view][m] - encoding->pos_k[view][n], (double)(m - n),
                     "seed %lu %s query %zu key %zu", (unsigned long)seed, settings, m, n);
      }
    rs_encoding_free(encoding);
  }
}

/* The sign of the sine, which every law above leaves open: a quarter turn takes the first dim of a pair to the second,
 * and a later query sees its partner of the right hand ahead. */
Test(laws, rotation__quarter_turn__takes_first_to_second) {
  static const double first[4] = {1, 0, 0, 0}, second[2][4] = {{0, 0, 1, 0}, {0, 1, 0, 0}};
  for (int layout = 0; layout < 2; layout++) {
    rs_model model = plain_model(4, 1e4, 16);
    model.pair_layout = (rs_pair_layout)layout;
    rs_encoding *encoding = encode("rope", "", &model, 4);
    double quarter = 2 * atan(1), out[4], c, s;
    rs_encoding_rotate(encoding, &quarter, first, out);
    for (size_t d = 0; d < 4; d++)
      cr_assert(close_to(out[d], second[layout][d], 0, 1e-15), "layout %d dim %zu: got %g", layout, d, out[d]);
    rs_encoding_cos_sin(encoding, 0, quarter, &c, &s);
    cr_assert(close_to(s, 1, 1e-15, 0) && close_to(c, 0, 0, 1e-15));
    rs_encoding_free(encoding);
  }
}
