/* Which frequencies a head uses: how long the two numbers of each rotary pair are in its queries and in its keys. By
 * Cauchy and Schwarz pair j adds at most |q_j| |k_j| / sqrt(D) to a logit, whatever it is turned by: a pair of short
 * vectors says nothing of distance, nor of anything else. Rotation leaves the norms as they are. */
#include "metric_list.h"

#include <math.h>

/* Of one pair. */
typedef struct sample {
  rs_moments q, k; /* over tokens and heads */
  rs_sum product;  /* over heads and sequences, of mean |q_j| times mean |k_j| */
} sample;

typedef struct state {
  size_t dims, count, step, apart; /* pair j is dims j * step and j * step + apart */
  double contents;                 /* heads times sequences */
  sample pairs[];                  /* (count,) */
} state;

static rs_status prepare(const rs_metric_in *in, void **memory, rs_err *err) {
  size_t pairs = in->encoding->rotary_dim / 2;
  bool interleaved = in->encoding->pair_layout == RS_INTERLEAVED;
  RS_TRY(rs_state_make(sizeof(state) + pairs * sizeof(sample), memory, err));
  state *s = *memory;
  s->dims = in->encoding->head_dim;
  s->count = pairs;
  s->step = interleaved ? 2 : 1;
  s->apart = interleaved ? 1 : pairs;
  return RS_OK;
}

/* Adds the norms of pair `j` of (tokens, D) numbers; returns their mean. */
static double add_norms(const state *s, size_t j, const double *x, size_t tokens, rs_moments *moments) {
  rs_sum sum = {0};
  for (size_t n = 0; n < tokens; n++) {
    const double *pair = x + n * s->dims + j * s->step;
    double norm = hypot(pair[0], pair[s->apart]);
    rs_moments_add(moments, norm);
    rs_sum_add(&sum, norm);
  }
  return rs_sum_total(&sum) / (double)tokens;
}

static void content(void *memory, const rs_head_content *shown) {
  state *s = memory;
  for (size_t j = 0; j < s->count; j++) {
    sample *pair = &s->pairs[j];
    double q = add_norms(s, j, shown->q, shown->queries, &pair->q);
    double k = add_norms(s, j, shown->k, shown->keys, &pair->k);
    rs_sum_add(&pair->product, q * k);
  }
  s->contents++;
}

/* Whether at least half of the pairs, that in the middle left out, turn faster; of equals the first do. */
static bool is_slow(const rs_encoding *encoding, size_t pair) {
  size_t pairs = encoding->rotary_dim / 2, faster = 0;
  for (size_t j = 0; j < pairs; j++) {
    double difference = encoding->omega[j] - encoding->omega[pair];
    faster += difference > 0 || (difference == 0 && j < pair);
  }
  return faster >= pairs / 2;
}

static bool turns_in_part(const rs_encoding *encoding, size_t pair) {
  return encoding->train_length * encoding->omega_trained[pair] < 2 * M_PI;
}

enum { SLOW_SHARE, PARTIAL_SHARE, STRONGEST };

/* `all`: the sum of the products of all pairs. */
static void find_shares(const rs_encoding *encoding, const state *s, double all, double *value) {
  double slow = 0, partial = 0;
  size_t strongest = 0;
  for (size_t j = 0; j < s->count; j++) {
    double product = rs_sum_total(&s->pairs[j].product);
    if (is_slow(encoding, j)) slow += product;
    if (turns_in_part(encoding, j)) partial += product;
    if (product > rs_sum_total(&s->pairs[strongest].product)) strongest = j;
  }
  value[SLOW_SHARE] = slow / all;
  value[PARTIAL_SHARE] = rs_trained_on_tokens(encoding) ? partial / all : NAN;
  value[STRONGEST] = (double)strongest;
}

static rs_status finish(const rs_metric_in *in, const void *memory, rs_result *result, rs_err *err) {
  const state *s = memory;
  double all = 0;
  for (size_t j = 0; j < s->count; j++) all += rs_sum_total(&s->pairs[j].product);
  for (size_t i = SLOW_SHARE; i <= STRONGEST; i++) result->value[i] = NAN;
  if (all > 0) find_shares(in->encoding, s, all, result->value);
  for (size_t j = 0; j < s->count && s->contents > 0; j++) {
    const sample *pair = &s->pairs[j];
    double omega = in->encoding->omega[j], product = rs_sum_total(&pair->product);
    double line[] = {(double)j,
                     omega > 0 ? 2 * M_PI / omega : NAN,
                     rs_moments_mean(&pair->q),
                     rs_moments_se(&pair->q),
                     rs_moments_mean(&pair->k),
                     rs_moments_se(&pair->k),
                     product / s->contents,
                     all > 0 ? product / all : NAN};
    RS_TRY(rs_curve_add(&result->curve, line, err));
  }
  return RS_OK;
}

static const rs_column scalars[] = {
    [SLOW_SHARE] = RS_COLUMN("slow_pair_share", "1",
                             "share of the norm products of all pairs that the slower half of the pairs has (the one "
                             "in the middle included)"),
    [PARTIAL_SHARE] = RS_COLUMN("partial_turn_share", "1",
                                "share of the norm products that pairs have which do not go full circle within "
                                "train_length under plain RoPE; empty where pairs turn by patches"),
    [STRONGEST] = RS_COLUMN("strongest_pair", "", "the pair with the largest norm product", .integer = true),
};

static const rs_column curve[] = {
    RS_COLUMN("pair", "", "pair index j, fastest first", .integer = true),
    RS_COLUMN("pair_wavelength_tokens", "tokens", "2 pi / omega_j; empty where it does not turn", .log_axis = true),
    RS_COLUMN("q_norm", "1", "2-norm of the pair's two numbers in queries, mean over the observed queries and heads",
              .sampled = true),
    RS_COLUMN("k_norm", "1", "2-norm of the pair's two numbers in keys, mean over tokens and heads", .sampled = true),
    RS_COLUMN(
        "norm_product", "1",
        "mean norm in queries times that in keys, mean over heads: by sqrt(D) what the pair adds to a logit at most"),
    RS_COLUMN("norm_share", "1", "share of the sum of all pairs' norm products"),
};

const rs_metric_kind rs_metric_pair_norms = {
    .kind = {.name = "pair_norms",
             .summary =
                 "which frequencies heads use: the norms of each rotary pair in queries and keys, before rotation",
             .reference = "Barbero et al., arXiv:2410.06205, section 4 (usage of frequencies)"},
    RS_SCALARS(scalars),
    RS_CURVE(curve, 1),
    .curve_rows = rs_rows_of_pairs,
    .prepare = prepare,
    .content = content,
    .finish = finish,
};
