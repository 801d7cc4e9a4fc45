/* Retrieval heads: how often the largest attention of a head, where something is asked for, is on the token that holds
 * it. Wu et al. count this while a model says the needle token by token, and call the share a head's retrieval score
 * (section 2, g_h and k); here queries are those of a text that is given, whatever the model would say. */
#include "metric_list.h"

#include <math.h>

typedef struct params {
  double threshold;
} params;

/* Of one head. */
typedef struct tally {
  double asked, found;
} tally;

typedef struct state {
  const size_t *heads; /* (count,) */
  size_t count;
  tally of_head[]; /* (count,) */
} state;

static rs_status prepare(const rs_metric_in *in, void **memory, rs_err *err) {
  RS_TRY(rs_state_make(sizeof(state) + in->head_count * sizeof(tally), memory, err));
  state *s = *memory;
  s->heads = in->heads;
  s->count = in->head_count;
  return RS_OK;
}

/* A needle that the mask hides is asked for in vain. */
static void row(void *memory, const rs_row *observed) {
  state *s = memory;
  size_t place = 0;
  if (!observed->needle_planted) return;
  while (s->heads[place] != observed->head) place++;
  s->of_head[place].asked++;
  s->of_head[place].found += observed->has_needle && observed->needle_rank == 0;
}

static rs_status finish(const rs_metric_in *in, const void *memory, rs_result *result, rs_err *err) {
  const state *s = memory;
  double threshold = ((const params *)in->params)->threshold, best = NAN;
  rs_moments scores = {0}, above = {0};
  for (size_t h = 0; h < s->count; h++) {
    double asked = s->of_head[h].asked, score = s->of_head[h].found / asked;
    double line[] = {(double)s->heads[h], asked, score, asked > 1 ? sqrt(score * (1 - score) / (asked - 1)) : NAN};
    if (asked == 0) continue;
    rs_moments_add(&scores, score);
    rs_moments_add(&above, score >= threshold);
    best = fmax(best, score);
    RS_TRY(rs_curve_add(&result->curve, line, err));
  }
  result->value[0] = rs_moments_mean(&scores);
  result->value[1] = best;
  result->value[2] = rs_moments_mean(&above);
  return RS_OK;
}

static size_t curve_rows(const void *given, const rs_curve_in *in) {
  (void)given;
  return in->heads;
}

static const rs_param specs[] = {
    {RS_FIELD(params, threshold), .unit = "1", .min = 0, .max = 1, .fallback = "0.1",
     .summary = "a head of this score or more is a retrieval head (0.1: the paper)"},
};

static const rs_column scalars[] = {
    RS_COLUMN("retrieval_score", "1", "mean score of the heads", .better = RS_HIGHER),
    RS_COLUMN("best_retrieval_score", "1", "the largest score of a head", .better = RS_HIGHER),
    RS_COLUMN("retrieval_heads", "1", "share of heads whose score reaches the threshold"),
};

static const rs_column curve[] = {
    RS_COLUMN("head", "", "number of the head", .integer = true, .map = RS_MAP_CATEGORY),
    RS_COLUMN("needles", "", "how many needles were asked for", .integer = true, .map = RS_MAP_SAMPLES),
    RS_COLUMN("score", "1",
              "share of queries that ask for a needle whose largest attention is on the token that holds it",
              .sampled = true, .better = RS_HIGHER),
};

const rs_metric_kind rs_metric_retrieval = {
    .kind = {.name = "retrieval",
             .summary = "retrieval score: how often a head's largest attention is on what is asked for",
             .reference = "Wu et al., arXiv:2404.15574, section 2 (retrieval score)",
             RS_KIND(specs, params)},
    .needs_needle = true,
    RS_SCALARS(scalars),
    RS_CURVE(curve, 2),
    .curve_rows = curve_rows,
    .prepare = prepare,
    .row = row,
    .finish = finish,
};
