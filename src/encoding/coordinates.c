/* What the tables of one position per axis cannot say: gains that grow with the position (xPos), and keys that were
 * rotated under the frequencies of an earlier length. The latter gives each pair a coordinate of its own, as pairs that
 * mix axes have (mixed.c), so that everything after reads one plain form. */
#include "kinds.h"

#include <math.h>
#include <stdlib.h>

static const double LARGEST_EXPONENT = 700; /* exp() of it, and of its negative, is a normal double */

/* Room for the gains of all tokens in every view. */
static rs_status allocate_gains(rs_encoding *encoding, rs_err *err) {
  size_t count = encoding->length * (encoding->rotary_dim / 2);
  for (size_t v = 0; v < encoding->views; v++) {
    encoding->gain_q[v] = rs_alloc(count, sizeof(double), err);
    encoding->gain_k[v] = rs_alloc(count, sizeof(double), err);
    if (encoding->gain_q[v] == NULL || encoding->gain_k[v] == NULL) return RS_MEMORY;
  }
  return RS_OK;
}

/* Gains of 1, where there are none yet. */
static rs_status make_gains(rs_encoding *encoding, rs_err *err) {
  size_t count = encoding->length * (encoding->rotary_dim / 2);
  if (encoding->gain_q[0] != NULL) return RS_OK;
  RS_TRY(allocate_gains(encoding, err));
  for (size_t v = 0; v < encoding->views; v++)
    for (size_t i = 0; i < count; i++) encoding->gain_q[v][i] = encoding->gain_k[v][i] = 1;
  return RS_OK;
}

/* The rate of each pair (pairs,), nats a token; RS_DOMAIN where exp() cannot say what `reach` tokens make of it. */
static rs_status fill_rates(const rs_encoding *encoding, double reach, double *rates, rs_err *err) {
  const rs_freq_kind *kind = encoding->method->freq;
  size_t pairs = encoding->rotary_dim / 2;
  for (size_t j = 0; j < pairs; j++) {
    rates[j] = kind->log_gain(encoding->params->freq.fields, j, pairs);
    if (fabs(rates[j]) * reach > LARGEST_EXPONENT)
      return rs_fail(err, RS_DOMAIN, "%s: gains at length %zu leave the range of doubles", kind->kind.name,
                     encoding->length);
  }
  return RS_OK;
}

/* Each token that is read by itself, so that the bits are those of any number of threads. A key as far behind the
 * middle as a query is before it has the same gain: one exp() makes both. */
static void fill_gains(rs_encoding *encoding, size_t view, const rs_stage_in *in, const double *rates, double middle) {
  enum { WORTH_THREADS = 4096 }; /* tokens */
  size_t pairs = encoding->rotary_dim / 2, count = in->read != NULL ? in->read_count : encoding->length;
  const double *pos_q = encoding->pos_q[view], *pos_k = encoding->pos_k[view];
#pragma omp parallel for schedule(static) if (count >= WORTH_THREADS)
  for (size_t i = 0; i < count; i++) {
    size_t n = in->read != NULL ? in->read[i] : i, key = in->read != NULL ? n : count - 1 - i;
    double query_at = pos_q[n] - middle, key_at = pos_k[key] - middle;
    double *gain_q = encoding->gain_q[view] + n * pairs, *gain_k = encoding->gain_k[view] + key * pairs;
    for (size_t j = 0; j < pairs; j++) {
      gain_q[j] = exp(rates[j] * query_at);
      gain_k[j] = key_at == -query_at ? gain_q[j] : exp(-rates[j] * key_at);
    }
  }
}

/* exp(+-log_gain * (position - middle)): only the difference of two positions matters, and from the middle of the
 * context the exponents stay smallest. */
static rs_status decay_gains(rs_encoding *encoding, const rs_stage_in *in, rs_err *err) {
  double least = INFINITY, most = -INFINITY;
  RS_TRY(rs_text_only(encoding, err));
  for (size_t i = 0; i < encoding->length * encoding->views; i++) {
    size_t v = i / encoding->length, n = i % encoding->length;
    least = fmin(least, fmin(encoding->pos_q[v][n], encoding->pos_k[v][n]));
    most = fmax(most, fmax(encoding->pos_q[v][n], encoding->pos_k[v][n]));
  }
  RS_FREED double *rates = rs_alloc(encoding->rotary_dim / 2, sizeof *rates, err);
  if (rates == NULL) return RS_MEMORY;
  RS_TRY(fill_rates(encoding, most - (least + most) / 2, rates, err));
  RS_TRY(allocate_gains(encoding, err));
  for (size_t v = 0; v < encoding->views; v++) fill_gains(encoding, v, in, rates, (least + most) / 2);
  return RS_OK;
}

/* From (L, A) to (L, R/2) coordinates, each pair reading what it read before. */
static rs_status spread(const rs_encoding *encoding, double **positions, rs_err *err) {
  size_t pairs = encoding->rotary_dim / 2;
  double *wide = rs_alloc(encoding->length, pairs * sizeof *wide, err);
  if (wide == NULL) return RS_MEMORY;
  for (size_t n = 0; n < encoding->length; n++)
    for (size_t j = 0; j < pairs; j++) wide[n * pairs + j] = (*positions)[n * encoding->axes + encoding->axis[j]];
  free(*positions);
  *positions = wide;
  return RS_OK;
}

/* Pairs that mix axes have theirs. */
static rs_status spread_all(rs_encoding *encoding, rs_err *err) {
  size_t pairs = encoding->rotary_dim / 2;
  bool mixed = encoding->mixed != NULL;
  if (mixed) RS_TRY(rs_mixed_place(encoding, err));
  for (size_t v = 0; v < encoding->views && !mixed; v++) {
    RS_TRY(spread(encoding, &encoding->pos_q[v], err));
    RS_TRY(spread(encoding, &encoding->pos_k[v], err));
  }
  encoding->axes = pairs;
  encoding->own_places = true;
  for (size_t j = 0; j < pairs; j++) encoding->axis[j] = (uint16_t)j;
  return RS_OK;
}

/* Token n was rotated when the context had `length` tokens: its coordinates in units of today's frequencies. */
static void age_token(rs_encoding *encoding, size_t n, const rs_freq_out *then) {
  size_t pairs = encoding->rotary_dim / 2;
  double amp = then->factor / encoding->amp;
  for (size_t v = 0; v < encoding->views; v++)
    for (size_t j = 0; j < pairs; j++) {
      double ratio = encoding->omega[j] > 0 ? then->omega[j] / encoding->omega[j] : 1;
      encoding->pos_q[v][n * pairs + j] *= ratio;
      encoding->pos_k[v][n * pairs + j] *= ratio;
      encoding->gain_q[v][n * pairs + j] *= amp;
      encoding->gain_k[v][n * pairs + j] *= amp;
    }
  encoding->logit_scale[n] = then->logit_factor;
}

/* A key is rotated once, when it enters the cache: the prompt's at the prompt's length, a later one at its own. So is
 * its query. */
static rs_status age_tokens(rs_encoding *encoding, const rs_model *model, size_t prompt, rs_err *err) {
  rs_freq_out then = {.omega = rs_alloc(encoding->rotary_dim / 2, sizeof(double), err)};
  rs_status status = then.omega != NULL ? RS_OK : RS_MEMORY;
  for (size_t n = 0, last = 0; n < encoding->length && status == RS_OK; n++) {
    size_t length = n + 1 > prompt ? n + 1 : prompt;
    if (length > encoding->length) length = encoding->length;
    if (length != last) status = rs_frequencies_at(encoding, model, length, &then, err);
    if (status == RS_OK) age_token(encoding, n, &then);
    last = length;
  }
  free(then.omega);
  return status;
}

rs_status rs_coordinates_fill(rs_encoding *encoding, const rs_model *model, const rs_stage_in *in, rs_err *err) {
  const rs_freq_kind *kind = encoding->method->freq;
  size_t prompt = encoding->params->rotary.cached_keys.number;
  bool aged = prompt != RS_NO_COUNT;
  if (kind == NULL) return RS_OK;
  if (aged && encoding->views > 1)
    return rs_fail(err, RS_UNSUPPORTED, "cached_keys is defined for one view of the positions, %s has %zu",
                   encoding->method->name, encoding->views);
  if (kind->log_gain != NULL) RS_TRY(decay_gains(encoding, in, err));
  if (kind->mix != NULL || aged) RS_TRY(spread_all(encoding, err));
  if (!aged || encoding->mixed != NULL) return RS_OK; /* which are the same at every length */
  RS_TRY(make_gains(encoding, err));
  return age_tokens(encoding, model, prompt, err);
}
