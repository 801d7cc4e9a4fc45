/* What a longer row does to entropy, and what temperature undoes it. For n logits iid N(0, v), v < 2 ln n, the entropy
 * is ln n - v/2 as n grows (the random energy model above its freezing point: Derrida, Phys. Rev. B 24, 1981). A factor
 * f on the logits makes it ln n - f^2 v/2, so that s times the length keeps its entropy at f = sqrt(1 + 2 ln s / v);
 * a method's own factor is right for one v alone. v is that of the content: the measured variance of each row over its
 * query's f^2, as some scales grow with the query. */
#include "metric_list.h"

#include <math.h>

typedef struct state {
  const rs_encoding *encoding;
  size_t bins;
  rs_moments variance, content, deficit, log_keys; /* content: without the factor of the row's query */
} state;

static rs_status prepare(const rs_metric_in *in, void **memory, rs_err *err) {
  RS_TRY(rs_state_make(sizeof(state), memory, err));
  *(state *)*memory = (state){.encoding = in->encoding, .bins = in->bins};
  return RS_OK;
}

static void row(void *memory, const rs_row *observed) {
  state *s = memory;
  rs_moments all = {0};
  for (size_t b = 0; b < s->bins; b++)
    rs_moments_join(&all, observed->bin_keys[b], observed->bin_mean[b], observed->bin_squares[b]);
  double variance = all.squares / (all.count - 1), factor = rs_logit_factor(s->encoding, observed->query);
  if (all.count >= 2) rs_moments_add(&s->variance, variance);
  if (all.count >= 2 && factor != 0) rs_moments_add(&s->content, variance / (factor * factor));
  rs_moments_add(&s->deficit, observed->entropy - log((double)rs_row_outcomes(observed)));
  rs_moments_add(&s->log_keys, log((double)observed->keys));
}

static rs_status finish(const rs_metric_in *in, const void *memory, rs_result *result, rs_err *err) {
  (void)err;
  const state *s = memory;
  double variance = rs_moments_mean(&s->variance), log_keys = rs_moments_mean(&s->log_keys);
  double factor = rs_logit_factor(in->encoding, in->encoding->length - 1), content = rs_moments_mean(&s->content);
  double log_s = log((double)in->encoding->length / in->encoding->train_length);
  bool spread = variance < 2 * log_keys;
  bool sharper = log_s * (factor - 1) > 0;
  result->value[0] = sqrt(variance);
  rs_result_mean(result, 1, &s->deficit);
  result->value[2] = spread ? -variance / 2 : NAN;
  result->value[3] = spread ? log_keys - variance / 2 : NAN;
  result->value[4] = factor;
  result->value[5] = content > 0 ? sqrt(1 + 2 * log_s / content) : NAN; /* NaN, too, where no factor would do */
  result->value[6] = sharper ? sqrt(2 * log_s / (factor * factor - 1)) : NAN;
  return RS_OK;
}

static const rs_column scalars[] = {
    RS_COLUMN("row_logit_sd_nats", "nats",
              "standard deviation of the logits within a row (root of the mean variance; needles left out)"),
    RS_COLUMN("entropy_deficit_nats", "nats",
              "entropy less ln(n), its largest value, n: the row's keys, and 1 for a learned sink; mean over queries "
              "and heads",
              .sampled = true),
    RS_COLUMN("gaussian_deficit_nats", "nats",
              "-v/2: that of many Gaussian logits of the same variance v; empty from v = 2 ln(keys) on"),
    RS_COLUMN("gaussian_entropy_nats", "nats", "ln(keys) - v/2 likewise: without the weight of a learned sink"),
    RS_COLUMN("logit_factor", "1",
              "what multiplies the last query's logits: amp^2 times the logit scale; empty, as what follows from it, "
              "where amp multiplies a part of the head alone"),
    RS_COLUMN("keeping_factor", "1",
              "factor that keeps the entropy of train_length, sqrt(1 + 2 ln(length / train_length) / v), v without the "
              "method's own factor at each query; empty where no factor does that"),
    RS_COLUMN("matching_sd_nats", "nats",
              "standard deviation of logits for which the method's factor is that one; empty where there is none"),
};

const rs_metric_kind rs_metric_entropy_scaling = {
    .kind = {.name = "entropy_scaling",
             .summary = "entropy against that of Gaussian logits, and the temperature that keeps it at length",
             .reference = "Derrida, Phys. Rev. B 24, 1981; Su, kexue.fm/archives/8823; YaRN, arXiv:2309.00071, eq. 22",
             .version = 2},
    .needs_moments = true,
    RS_SCALARS(scalars),
    .prepare = prepare,
    .row = row,
    .finish = finish,
};
