/* Tiny worlds: every method in contexts of 1 to 8 tokens with heads of 2, 4 and 6 dims, every query and key, against
 * the formula of encoding.h written out here from the papers: frequencies, positions, 2 x 2 rotations, temperature,
 * bias. Nothing but the recipe's name and the worlds' few numbers is shared with the library; drawn numbers of
 * learned biases
 * and vectors of distance alone are read from its tables. A method is one line of `oracles`, and a function where its
 * formula is new. */
#include "../biases.h"
#include "../golden.h"
#include "../vectors.h"
#include "attention/attention.h"
#include "tiny.h"
#include "tiny_factors.h"
#include "tiny_frequencies.h"
#include "tiny_positions.h"

/* ---- the methods ------------------------------------------------------------------------------------------------- */

#define LISTS(a, b) "short_factor=" a " long_factor=" b

static const oracle oracles[] = {
    {.method = "nope"},
    {.method = "nope", .settings = "logit_scale=log_n", .factor = log_n},
    {.method = "nope", .settings = "logit_scale=entropy_invariant", .factor = entropy_invariant},
    {.method = "nope", .settings = "logit_scale=ssmax", .factor = ssmax},
    {.method = "nope", .settings = "logit_scale=llama4 logit_scale_factor=0.5 logit_scale_length=3", .factor = llama4},
    {.method = "nope",
     .settings = "logit_scale=ministral logit_scale_factor=0.5 logit_scale_length=3",
     .factor = ministral},
    {.method = "rope", .omega = plain},
    {.method = "rope", .settings = "cached_keys=3", .omega = plain},
    {.method = "abf", .omega = abf},
    {.method = "p_rope", .settings = "rotary_fraction=0.5", .omega = half_of_head},
    {.method = "resonance", .omega = resonance},
    {.method = "xpos", .omega = plain, .gain = xpos},
    {.method = "pi", .settings = "scale=2.5", .omega = divided},
    {.method = "pi", .settings = "factor=2.5 interpolate=positions", .omega = plain, .place = divided_places},
    {.method = "pi", .settings = "scale=dynamic", .omega = divided_dynamically},
    {.method = "ntk", .settings = "factor=2.5", .omega = ntk},
    {.method = "dynamic_ntk", .settings = "factor=2.5", .omega = dynamic_ntk},
    {.method = "dynamic_ntk", .settings = "factor=2.5 cached_keys=1", .omega = dynamic_ntk, .place = as_cached},
    {.method = "ntk_fixed", .settings = "factor=2.5", .omega = ntk_fixed},
    {.method = "ntk_mixed", .settings = "factor=2.5", .omega = ntk_mixed},
    {.method = "critical_base", .settings = "factor=2.5", .omega = critical_base},
    {.method = "riflex", .settings = "factor=2.5", .omega = riflex},
    {.method = "riflex", .settings = "factor=2.5 intrinsic_pair=0 margin=0.5", .omega = riflex_first},
    {.method = "dprope", .settings = "factor=2.5 angle_bins=5", .omega = nearer_in_angles},
    {.method = "ntk_by_parts", .settings = "factor=2.5 beta_fast=0.8 beta_slow=0.05 truncate=false", .omega = by_parts},
    {.method = "ntk_by_parts", .settings = "factor=2.5 beta_fast=0.8 beta_slow=0.05 ramp=paper", .omega = by_rotations},
    {.method = "ntk_by_parts_v1", .settings = "factor=2.5", .omega = by_parts_v1},
    {.method = "yarn",
     .settings = "factor=2.5 beta_fast=0.8 beta_slow=0.05 truncate=false",
     .omega = by_parts,
     .gain = yarn_squared},
    {.method = "yarn",
     .settings = "scale=dynamic beta_fast=0.8 beta_slow=0.05 truncate=false",
     .omega = by_parts_dynamic,
     .gain = yarn_squared_dynamically},
    {.method = "yarn",
     .settings = "factor=2.5 beta_fast=0.8 beta_slow=0.05 truncate=false mscale=1 mscale_all_dim=1 mscale_softmax=true",
     .omega = by_parts,
     .factor = on_softmax},
    {.method = "yarn",
     .settings = "wavelengths=whole factor=2.5 beta_fast=0.8 beta_slow=0.05 truncate=false",
     .omega = by_parts_whole,
     .gain = yarn_squared},
    {.method = "llama3", .settings = "factor=2.5", .omega = llama3},
    {.method = "longrope", .settings = LISTS("1", "2"), .omega = longrope, .gain = longrope_squared, .rotary = 2},
    {.method = "longrope",
     .settings = LISTS("1,1.25", "2,4"),
     .omega = longrope,
     .gain = longrope_squared,
     .rotary = 4},
    {.method = "longrope",
     .settings = LISTS("1,1.25,1.5", "2,4,8"),
     .omega = longrope,
     .gain = longrope_squared,
     .rotary = 6},
    {.method = "proportional", .settings = "rotary_fraction=0.5 factor=3", .omega = half_of_head_divided},
    {.method = "explicit", .settings = "inv_freq=0.3", .omega = listed, .rotary = 2},
    {.method = "explicit",
     .settings = "inv_freq=0.3,1.6 attention_factor=1.5",
     .omega = listed,
     .gain = one_and_a_half_squared,
     .rotary = 4},
    {.method = "explicit", .settings = "inv_freq=0.3,1.6,0", .omega = listed, .rotary = 6},
    {.method = "mrope", .omega = plain, .place = thirds},
    {.method = "mrope_i", .omega = plain, .place = reset_thirds},
    {.method = "videorope", .omega = plain, .place = spatial_first},
    {.method = "v2pe", .omega = plain, .place = quarters},
    {.method = "axial", .omega = one, .place = column_and_row, .rotary = 4},
    {.method = "axial",
     .settings = "kept_pairs=0 trained_side=2 side=3",
     .omega = half,
     .place = column_and_row,
     .rotary = 4},
    {.method = "rope_mixed", .settings = "freq_x=1 freq_y=0.2", .omega = one, .place = mixed, .rotary = 2},
    {.method = "rope_mixed", .settings = "freq_x=1,-0.5 freq_y=0.2,0.5", .omega = one, .place = mixed, .rotary = 4},
    {.method = "rope_mixed",
     .settings = "freq_x=1,-0.5,0.25 freq_y=0.2,0.5,-2",
     .omega = one,
     .place = mixed,
     .rotary = 6},
    {.method = "self_extend", .settings = "window=2 group=3", .omega = plain, .place = grouped},
    {.method = "rerope", .settings = "window=2", .omega = plain, .place = clamped},
    {.method = "leaky_rerope", .settings = "window=2 leak=0.25", .omega = plain, .place = leaking},
    {.method = "lm_infinite", .omega = plain, .place = ceiling},
    {.method = "dual_chunk", .settings = "chunk_size=4 local_size=1", .omega = plain, .place = chunked},
    {.method = "string", .settings = "shift=3 local=1", .omega = plain, .place = shifted},
    {.method = "random_rope", .settings = "position_range=8", .omega = plain}, /* L = 8: all of them, in order */
    {.method = "alibi", .bias = alibi},
    {.method = "t5", .settings = "num_buckets=4 max_distance=6", .table = true},
    {.method = "t5", .settings = "num_buckets=8 max_distance=6 bidirectional=true", .table = true},
    {.method = "relative", .settings = "clip=2", .table = true},
    {.method = "swin", .table = true, .picture = true},
    {.method = "kerple_log", .table = true},
    {.method = "kerple_log", .settings = "kernel=power", .table = true},
    {.method = "fire", .settings = "threshold=3", .table = true},
    {.method = "sandwich", .table = true},
    {.method = "shaw", .settings = "clip=2 init_sd=1", .vectors = true},
    {.method = "shaw", .settings = "clip=9 init_sd=1 read_by=both on_values=false", .vectors = true},
    {.method = "transformer_xl", .settings = "init_sd=1", .vectors = true},
    {.method = "transformer_xl", .settings = "init_sd=1 clip=3", .vectors = true},
    {.method = "sinusoidal", .embed = sinusoid},
    {.method = "learned"},
    {.method = "sinusoidal_2d", .embed = patch_concat, .picture = true},
    {.method = "sinusoidal_2d", .settings = "combine=sum", .embed = patch_sum, .picture = true},
    {.method = "learned_2d", .picture = true},
};

/* ---- the comparison ---------------------------------------------------------------------------------------------- */

/* <R_q q, R_k k>: each pair a matrix [[cos, -sin], [sin, cos]], the angle turning its first dim towards its second. */
static double turned_product(const oracle *o, const tiny *t, size_t m, size_t n, const double *q, const double *k) {
  size_t pairs = o->omega != NULL ? t->rotary / 2 : 0;
  bool interleaved = t->layout == RS_INTERLEAVED;
  double sum = 0;
  for (size_t d = 2 * pairs; d < t->dims; d++) sum += q[d] * k[d];
  for (size_t j = 0; j < pairs; j++) {
    size_t first = interleaved ? 2 * j : j, second = interleaved ? 2 * j + 1 : j + pairs;
    double query = (double)m, other = (double)n, gain = o->gain != NULL ? o->gain(t, m, n, j) : 1;
    if (o->place != NULL) o->place(t, m, n, j, &query, &other);
    double a = query * o->omega(t, j), b = other * o->omega(t, j);
    double left[2] = {cos(a) * q[first] - sin(a) * q[second], sin(a) * q[first] + cos(a) * q[second]};
    double right[2] = {cos(b) * k[first] - sin(b) * k[second], sin(b) * k[first] + cos(b) * k[second]};
    sum += gain * (left[0] * right[0] + left[1] * right[1]);
  }
  return sum;
}

static double vectors_of(const rs_encoding *encoding, size_t m, size_t n, const double *q, const double *k) {
  long double query[6], key[6];
  for (size_t d = 0; d < encoding->head_dim; d++) query[d] = q[d], key[d] = k[d];
  return (double)expected_vectors(encoding, HEAD, m, n, query, key);
}

static double expected_logit(const oracle *o, const tiny *t, const rs_encoding *encoding, size_t m, size_t n,
                             const double *q, const double *k) {
  double factor = o->factor != NULL ? o->factor(t, m) : 1, bias = o->bias != NULL ? o->bias(t, m, n) : 0;
  if (o->table) bias = (double)expected_bias(encoding, HEAD, m, n);
  double product = turned_product(o, t, m, n, q, k);
  if (o->vectors) product += vectors_of(encoding, m, n, q, k);
  return factor * product / sqrt((double)t->dims) + bias;
}

/* Every query against every key it sees, through the reference row. */
static void check_rows(const oracle *o, const tiny *t, const rs_encoding *encoding, bool future, uint64_t *state) {
  double q[MOST * 6], k[MOST * 6], logits[MOST], needle;
  size_t queries[MOST];
  for (size_t i = 0; i < t->length * t->dims; i++) {
    q[i] = draw_real(state, -1, 1);
    k[i] = draw_real(state, -1, 1);
  }
  for (size_t m = 0; m < t->length; m++) queries[m] = m;
  rs_attention_job job = {.encoding = encoding,
                          .head = HEAD,
                          .mask = {.kind = future ? RS_BIDIRECTIONAL : RS_CAUSAL},
                          .queries = queries,
                          .query_count = t->length,
                          .q = q,
                          .k = k};
  for (size_t m = 0; m < t->length; m++) {
    cr_assert_eq(rs_reference_row(&job, m, logits, &needle, NULL), RS_OK);
    for (size_t n = 0; n < (future ? t->length : m + 1); n++) {
      double expected = expected_logit(o, t, encoding, m, n, q + m * t->dims, k + n * t->dims);
      cr_assert(close_to(logits[n], expected, 1e-12, 1e-13),
                "%s %s D %zu R %zu L %zu layout %d (%zu, %zu): got %.17g, expected %.17g", o->method,
                o->settings != NULL ? o->settings : "", t->dims, t->rotary, t->length, (int)t->layout, m, n, logits[n],
                expected);
    }
  }
}

static void check_embedding(const oracle *o, const tiny *t, const rs_encoding *encoding) {
  double rows[MOST * HEADS * 6];
  if (o->embed == NULL) return;
  cr_assert_eq(rs_encoding_embed(encoding, 0, t->length, rows, NULL), RS_OK);
  for (size_t n = 0; n < t->length; n++)
    for (size_t d = 0; d < encoding->width; d++) {
      double expected = o->embed(t, n, d), got = rows[n * encoding->width + d];
      cr_assert(close_to(got, expected, 0, 1e-15), "%s token %zu channel %zu: got %.17g, expected %.17g", o->method, n,
                d, got, expected);
    }
}

static void check_world(const oracle *o, const tiny *t, uint64_t *state) {
  rs_model model = plain_model(t->dims, THETA, o->embed != NULL || strcmp(o->method, "learned") == 0 ? MOST : L0);
  rs_token_run runs[] = {{.modality = RS_TEXT, .tokens = 1}, {RS_IMAGE, ROWS * COLUMNS, 1, ROWS, COLUMNS, 1, 1}};
  rs_token_layout tokens = {.runs = runs, .count = t->picture ? RS_COUNT(runs) : 0};
  model.heads = HEADS;
  model.rotary_dim = t->rotary;
  model.max_length = 4 * L0;
  rs_recipe recipe = make_recipe(o->method, o->settings != NULL ? o->settings : "");
  if (o->omega != NULL)
    recipe_set_word(&recipe, "pair_layout", t->layout == RS_INTERLEAVED ? "interleaved" : "half_split");
  rs_encoding *encoding = encode_recipe(&recipe, &model, t->length, &tokens);
  check_rows(o, t, encoding, false, state);
  if (encoding->views == 1) check_rows(o, t, encoding, true, state);
  check_embedding(o, t, encoding);
  rs_encoding_free(encoding);
  rs_recipe_clear(&recipe);
}

/* Whether the method is defined there: NTK's exponent R / (R - 2) is not for one pair. */
static bool defined(const oracle *o, size_t rotary, size_t length, bool picture) {
  bool ntk_based = o->omega == ntk || o->omega == dynamic_ntk || o->omega == by_parts_v1;
  bool random = strcmp(o->method, "random_rope") == 0; /* where its places come from is the unit tests' matter */
  return (o->rotary == 0 || o->rotary == rotary) && !(ntk_based && rotary == 2) && !(random && length < MOST) &&
         (picture || !o->picture);
}

Test(tiny, worlds__every_method_query_and_key__is_the_formula) {
  uint64_t state = 20240613;
  size_t worlds = 0;
  for (size_t i = 0; i < RS_COUNT(oracles); i++)
    for (size_t dims = 2; dims <= 6; dims += 2)
      for (size_t rotary = 2; rotary <= dims; rotary += 2)
        for (size_t length = 1; length <= MOST; length++)
          for (int variant = 0; variant < 4; variant++) {
            bool picture = variant > 1 && length >= PICTURE;
            if (!defined(&oracles[i], rotary, length, picture)) continue;
            tiny t = {.length = length,
                      .dims = dims,
                      .rotary = rotary,
                      .layout = variant % 2 ? RS_INTERLEAVED : RS_HALF_SPLIT,
                      .picture = picture};
            check_world(&oracles[i], &t, &state);
            worlds++;
          }
  cr_assert_gt(worlds, 3000u, "%zu", worlds);
}

/* A method that nobody described here would go unseen. */
Test(tiny, oracles__every_method__has_one) {
  size_t count;
  const rs_method *methods = rs_methods(&count);
  for (size_t m = 0; m < count; m++) {
    bool found = false;
    for (size_t i = 0; i < RS_COUNT(oracles); i++) found |= strcmp(oracles[i].method, methods[m].name) == 0;
    cr_assert(found, "%s has no tiny world", methods[m].name);
  }
}
