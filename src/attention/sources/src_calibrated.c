/* Calibrated heads: one query and one key for all tokens, such that under plain RoPE of the model the logit at distance
 * x is the nearest that rotary pairs come to a wanted curve within the trained length (attention/sources.c). With pair
 * j's query and key as complex numbers q and k, the logit is Re sum_j q_j conj(k_j) e^(i x omega_j) / sqrt(D), so that
 * q_j conj(k_j) = sqrt(D) (a_j - i b_j) gives a_j cos + b_j sin; the size is shared out equally. What other methods and
 * lengths make of such a head is the question. Dims that do not turn are 0. */
#include "attention/sources.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct params {
  rs_calibrated head;
} params;

typedef struct state {
  double *query, *key; /* (D,) each, one allocation */
} state;

static void place(const rs_source_in *in, size_t pair, double complex value, double *out) {
  bool interleaved = in->pair_layout == RS_INTERLEAVED;
  size_t pairs = in->rotary_dim / 2;
  out[interleaved ? 2 * pair : pair] = creal(value);
  out[interleaved ? 2 * pair + 1 : pair + pairs] = cimag(value);
}

static void place_head(const rs_source_in *in, const rs_wave_fit *fit, double *query, double *key) {
  for (size_t j = 0; j < fit->waves; j++) {
    double complex product = sqrt((double)in->head_dim) * (fit->cosine[j] - I * fit->sine[j]);
    double size = hypot(creal(product), cimag(product));
    place(in, j, size > 0 ? product / sqrt(size) : 0, query);
    place(in, j, sqrt(size), key);
  }
}

static rs_status fit_head(const rs_source_in *in, double *omega, double *wanted, rs_wave_fit *fit, rs_err *err) {
  const params *p = in->params;
  size_t pairs = in->rotary_dim / 2;
  rs_ladder(in->rope_theta, (double)in->rotary_dim, pairs, omega);
  rs_wanted_fill(&p->head.wanted, (rs_stream){in->seed, RS_PURPOSE_CURVE, (uint32_t)in->head}, in->train_length,
                 wanted);
  rs_wave_fit_in given = {
      .omega = omega, .waves = pairs, .wanted = wanted, .count = in->train_length, .ridge = p->head.ridge};
  given.solver = rs_wave_fit_solver(given.count, given.waves, given.ridge);
  return rs_wave_fit_create(&given, fit, err);
}

static rs_status prepare(const rs_source_in *in, void *memory, rs_err *err) {
  state *s = memory;
  size_t pairs = in->rotary_dim / 2, dims = in->head_dim;
  rs_wave_fit fit;
  if (pairs == 0) return rs_fail(err, RS_DOMAIN, "source calibrated: the model has no rotary pairs");
  double *omega = rs_alloc(pairs + in->train_length, sizeof *omega, err), *head = rs_alloc(2 * dims, sizeof *head, err);
  rs_status status = omega != NULL && head != NULL ? RS_OK : RS_MEMORY;
  rs_err why = {0};
  if (status == RS_OK && fit_head(in, omega, omega + pairs, &fit, &why) != RS_OK)
    status = rs_fail(err, why.status, "source calibrated: %s", why.message);
  if (status == RS_OK) {
    place_head(in, &fit, head, head + dims);
    rs_wave_fit_clear(&fit);
    *s = (state){head, head + dims};
  } else {
    free(head);
  }
  free(omega);
  return status;
}

static void release(void *memory) {
  free(((state *)memory)->query);
}

static void query(const rs_source_in *in, size_t position, double *out) {
  (void)position;
  memcpy(out, ((const state *)in->state)->query, in->head_dim * sizeof *out);
}

static void keys(const rs_source_in *in, size_t begin, size_t end, double *out) {
  const double *key = ((const state *)in->state)->key;
  for (size_t n = begin; n < end; n++) memcpy(out + (n - begin) * in->head_dim, key, in->head_dim * sizeof *out);
}

static const rs_param specs[] = {RS_CALIBRATED_SPECS(params, head)};

const rs_source_kind rs_source_calibrated = {
    .kind = {.name = "calibrated",
             .summary = "one query and one key whose logits follow a wanted curve of distance under plain RoPE of the "
                        "model, fitted within train_length",
             .reference = "fitted as in Position Interpolation, arXiv:2306.15595, appendix C",
             RS_KIND(specs, params)},
    .state_size = sizeof(state),
    .prepare = prepare,
    .release = release,
    .keys = keys,
    .query = query,
};
