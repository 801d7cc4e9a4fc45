/* test_reference.c: the reference row against rotation matrices written out here. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "../biases.h"
#include "../fixtures/oracle.h"
#include "../fixtures/world.h"
#include "../fixtures/world_job.h"
#include "../vectors.h"
#include "attention/attention.h"

enum { TINY = 8 }; /* tokens, dims at most */

typedef long double matrix[TINY][TINY];

static void identity(matrix out) {
  memset(out, 0, sizeof(matrix));
  for (size_t d = 0; d < TINY; d++) out[d][d] = 1;
}

/* The rotation of one token: 2x2 blocks [c -s; s c] on each pair's dims, the identity elsewhere. */
static void rotation(const rs_encoding *e, rs_side side, size_t view, size_t token, matrix out) {
  const double *position = (side == RS_QUERY_SIDE ? e->pos_q : e->pos_k)[view] + token * e->axes;
  const double *gains = (side == RS_QUERY_SIDE ? e->gain_q : e->gain_k)[view];
  identity(out);
  for (size_t j = 0; j < e->rotary_dim / 2; j++) {
    size_t a = e->pair_layout == RS_INTERLEAVED ? 2 * j : j;
    size_t b = e->pair_layout == RS_INTERLEAVED ? 2 * j + 1 : j + e->rotary_dim / 2;
    long double angle = (long double)position[e->axis[j]] * e->omega[j], factor = e->amp;
    if (gains != NULL) factor *= gains[token * (e->rotary_dim / 2) + j];
    out[a][a] = factor * cosl(angle);
    out[a][b] = -factor * sinl(angle);
    out[b][a] = factor * sinl(angle);
    out[b][b] = factor * cosl(angle);
  }
}

static void turn(matrix rotor, const double *x, const double *embedded, size_t dims, long double *out) {
  for (size_t i = 0; i < dims; i++) {
    out[i] = 0;
    for (size_t j = 0; j < dims; j++) out[i] += rotor[i][j] * ((long double)x[j] + (embedded ? embedded[j] : 0));
  }
}

/* A number of the recipe, or what `auto` stands for. */
static double setting_or(const world *w, const char *name, double automatic) {
  const rs_value *value = rs_setting(&w->recipe.settings, name);
  return value->choice >= 0 ? floor(automatic) : value->number;
}

/* Where far keys begin: the distance of the nearest, under a map of two views. */
static double far_from(const world *w) {
  double train = w->encoding->train_length, length = (double)w->encoding->length;
  bool capped = strcmp(w->recipe.method->name, "lm_infinite") == 0;
  if (!has(w, "local")) return setting_or(w, "window", capped ? train : train / 4);
  double needed = fmin(length, length - train + rs_setting(&w->recipe.settings, "local")->number);
  return setting_or(w, "shift", fmax(floor(0.33 * train), needed));
}

/* The view through which query m reads key n. */
static size_t view_of(const world *w, size_t m, size_t n) {
  double train = w->encoding->train_length;
  if (w->encoding->views == 1 || n > m) return 0;
  if (w->encoding->views == 2) return (double)(m - n) >= far_from(w);
  double stride = setting_or(w, "chunk_size", 0.75 * train) - setting_or(w, "local_size", train / 8);
  double chunks = floor((double)m / stride) - floor((double)n / stride);
  return (size_t)fmin(chunks, 2);
}

/* The formula of encoding.h, with matrices. `key` stands at position n. */
static long double explicit_logit(const world *w, size_t index, const double *key, size_t n) {
  const rs_encoding *e = w->encoding, head = rs_encoding_of_head(e, w->job.head);
  size_t dims = e->head_dim, m = w->queries[index], view = view_of(w, m, n);
  long double q[TINY], k[TINY], sum = 0;
  bool across = w->job.mask.kind == RS_CROSS; /* neither rotation nor bias */
  matrix rotor;
  rotation(&head, RS_QUERY_SIDE, view, m, rotor);
  if (across) identity(rotor);
  turn(rotor, w->q + index * dims, w->projection ? w->projection->q + index * dims : NULL, dims, q);
  rotation(&head, RS_KEY_SIDE, view, n, rotor);
  if (across) identity(rotor);
  turn(rotor, key, w->projection ? w->projection->k + n * dims : NULL, dims, k);
  for (size_t d = 0; d < dims; d++) sum += q[d] * k[d];
  if (!across) sum += expected_vectors(e, w->job.head, m, n, q, k);
  long double head_scale = e->head_scale != NULL ? e->head_scale[w->job.head] : 1;
  long double product = e->logit_scale[m] * head_scale * sum / sqrtl(dims), cap = w->job.soft_cap;
  if (cap != 0) product = cap * tanhl(product / cap);
  return product + (across ? 0 : expected_bias(e, w->job.head, m, n));
}

static void check_explicit(const world *w, size_t index) {
  double logits[TINY], needle, slack = w->encoding->precision.angle == RS_F64 ? 1e-12 : 1e-4;
  size_t dims = w->model.head_dim, m = w->queries[index];
  cr_assert_eq(rs_reference_row(&w->job, index, logits, &needle, NULL), RS_OK);
  for (size_t n = 0; n < w->encoding->length; n++) {
    long double want = explicit_logit(w, index, w->k + n * dims, n);
    bool seen = visible(&w->job.mask, m, n);
    demand(w, seen ? fabsl(logits[n] - want) <= slack * (1 + fabsl(want)) : logits[n] == -INFINITY,
           "query %zu, key %zu: %.17g, should be %.17Lg", m, n, logits[n], want);
  }
  size_t place = w->job.needle_at != NULL ? w->job.needle_at[index] : RS_NO_NEEDLE;
  bool planted = place != RS_NO_NEEDLE && visible(&w->job.mask, m, place);
  const double *needle_key = w->job.needle_key != NULL ? w->job.needle_key + index * dims
                             : planted                 ? w->k + place * dims
                                                       : NULL;
  long double want = planted ? explicit_logit(w, index, needle_key, place) : 0;
  demand(w, planted ? fabsl(needle - want) <= slack * (1 + fabsl(want)) : isnan(needle), "query %zu: needle", m);
}

Test(reference, tiny_worlds__logits__are_those_of_explicit_rotation_matrices) {
  size_t checked = 0;
  for (uint32_t job = 40000; job < 44000; job++) {
    world w;
    bool fits = world_draw(&w, job, TINY) && w.model.head_dim <= TINY;
    for (size_t i = 0; fits && i < w.job.query_count; i++) check_explicit(&w, i);
    checked += fits;
    world_clear(&w);
  }
  cr_assert_geq(checked, 1000, "%zu", checked);
}

/* A query along x and keys along y, 1 rad a token: <(cos m, sin m), (-sin n, cos n)> = sin(m - n). The sign of the sine
 * shows which way things turn. */
Test(reference, one_pair__orthogonal_content__gives_the_sine_of_the_distance) {
  world w;
  double logits[TINY], needle;
  world_make(&w, "rope", 2, TINY);
  world_fill(&w, TINY);
  for (size_t i = 0; i < TINY; i++) w.q[2 * i + 1] = w.k[2 * i] = 0;
  for (size_t m = 0; m < TINY; m++) {
    cr_assert_eq(rs_reference_row(&w.job, m, logits, &needle, NULL), RS_OK);
    cr_assert(isnan(needle));
    for (size_t n = 0; n <= m; n++) cr_assert_float_eq(logits[n], sin((double)(m - n)) / sqrt(2), 1e-15);
    for (size_t n = m + 1; n < TINY; n++) cr_assert_eq(logits[n], -INFINITY);
  }
  world_clear(&w);
}

/* Self-Extend with every window and group: near keys keep their distance, far ones are floor(m/G) - floor(n/G) plus
 * what joins the two at the window (arXiv:2401.01325, section 3.2), and read by sin as above. */
Test(reference, self_extend__every_window_and_group__reads_grouped_distances) {
  double logits[2 * TINY], needle;
  for (size_t window = 0; window <= TINY + 1; window++)
    for (size_t group = 1; group <= 5; group++) {
      world w;
      world_make(&w, "self_extend", 2, TINY);
      set(&w, "window", "%zu", window);
      set(&w, "group", "%zu", group);
      world_fill(&w, 2 * TINY);
      for (size_t i = 0; i < 2 * TINY; i++) w.q[2 * i + 1] = w.k[2 * i] = 0;
      for (size_t m = 0; m < 2 * TINY; m++) {
        cr_assert_eq(rs_reference_row(&w.job, m, logits, &needle, NULL), RS_OK);
        for (size_t n = 0; n <= m; n++) {
          size_t far = m / group + window - window / group - n / group, distance = m - n < window ? m - n : far;
          demand(&w, fabs(logits[n] - sin((double)distance) / sqrt(2)) < 1e-14, "window %zu, group %zu: %zu %zu",
                 window, group, m, n);
        }
      }
      world_clear(&w);
    }
}
