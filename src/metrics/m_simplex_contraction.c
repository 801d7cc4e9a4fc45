/* What one layer of attention makes of n tokens that all resemble each other alike: whether they run together. Chen,
 * Lin, Polyanskiy and Rigollet, "Critical attention scaling in long-context transformers", arXiv:2510.05554: unit
 * vectors of overlap rho, K = Q = V = I, logits beta <x_i, x_j> with beta = gamma ln n. Below gamma = 1 / (1 - rho) all
 * tokens become one, above it attention leaves them alone; the change is as sharp as n is large.
 *
 * With self weight a and b = (1 - a) / (n - 1) for each other token, y_i = (a - b) x_i + b S, S the sum of all. From
 * <x_i, S> = t = 1 + (n - 1) rho and <S, S> = n t:
 *   <y_i, y_k> = (a - b)^2 <x_i, x_k> + 2 (a - b) b t + b^2 n t.
 * At gamma = 1 / (1 - rho) and n without end a is 1/2, and the cosine 4 rho / (1 + 3 rho). */
#include "metric_list.h"

#include <math.h>

typedef struct params {
  rs_real_list overlaps, gammas;
  rs_real_or_word self_logit; /* nats; rs_logit_word */
} params;

/* The overlaps where none are given. */
static const double usual[] = {0.2, 0.5, 0.8};

typedef struct outcome {
  double self_weight, cosine;
} outcome;

/* Of two tokens or more. */
static outcome contract(double tokens, double overlap, double beta) {
  double self = 1 / (1 + (tokens - 1) * exp(-beta * (1 - overlap)));
  double other = (1 - self) / (tokens - 1), apart = self - other, t = 1 + (tokens - 1) * overlap;
  double shared = 2 * apart * other * t + other * other * tokens * t;
  return (outcome){self, (apart * apart * overlap + shared) / (apart * apart + shared)};
}

static rs_status add_row(double tokens, double overlap, double gamma, rs_curve *curve, rs_err *err) {
  outcome after = contract(tokens, overlap, gamma * log(tokens));
  double row[] = {overlap, gamma, after.self_weight, after.cosine, 1 / (1 - overlap), 4 * overlap / (1 + 3 * overlap)};
  return rs_curve_add(curve, row, err);
}

static rs_status finish(const rs_metric_in *in, const void *state, rs_result *result, rs_err *err) {
  (void)state;
  const params *p = in->params;
  const double *overlap = p->overlaps.list != NULL ? p->overlaps.list : usual;
  size_t count = p->overlaps.list != NULL ? p->overlaps.count : RS_COUNT(usual);
  double tokens = (double)in->encoding->length, factor = rs_logit_factor(in->encoding, in->encoding->length - 1);
  double gamma = rs_given_logit(&p->self_logit, in->encoding) * factor / log(tokens);
  result->value[0] = result->value[1] = NAN;
  if (tokens < 2) return RS_OK;
  result->value[0] = gamma;
  result->value[1] = gamma > 1 ? 1 - 1 / gamma : NAN;
  for (size_t i = 0; i < count; i++) {
    if (p->gammas.list == NULL) RS_TRY(add_row(tokens, overlap[i], gamma, &result->curve, err));
    for (size_t g = 0; g < p->gammas.count; g++)
      RS_TRY(add_row(tokens, overlap[i], p->gammas.list[g], &result->curve, err));
  }
  return RS_OK;
}

static size_t curve_rows(const void *given, const rs_curve_in *in) {
  (void)in;
  const params *p = given;
  size_t overlaps = p->overlaps.list != NULL ? p->overlaps.count : RS_COUNT(usual);
  return overlaps * (p->gammas.list != NULL ? p->gammas.count : 1);
}

static const rs_param specs[] = {
    {RS_FIELD(params, overlaps), .unit = "1", .min = 0, .max = 0.999999,
     .summary = "cosines between two tokens before attention; 0.2, 0.5 and 0.8 where not given"},
    {RS_FIELD(params, gammas), .unit = "1", .min = 0, .max = 1000,
     .summary = "logits are gamma ln n times the cosine; where not given, what the encoding makes of self_logit"},
    {RS_FIELD(params, self_logit), .unit = "nats", RS_WORDS(rs_logit_words), .min = 0, .max = 1e6,
     .fallback = "sqrt_dim",
     .summary = "logit of a token with itself before the encoding's factor; sqrt_dim: sqrt(D), for tokens of length "
                "sqrt(D)"},
};

static const rs_column scalars[] = {
    RS_COLUMN("contraction_gamma", "1",
              "logit of a token with itself at the last query, over ln(length); empty where amp multiplies a part of "
              "the head alone"),
    RS_COLUMN("critical_overlap", "1",
              "1 - 1 / gamma: tokens that resemble each other more become one in long contexts; empty where all do",
              .better = RS_HIGHER),
};

static const rs_column curve[] = {
    RS_COLUMN("overlap", "1", "cosine between two tokens before attention", .map = RS_MAP_Y),
    RS_COLUMN("gamma", "1", "logit of a token with itself, over ln n", .map = RS_MAP_X),
    RS_COLUMN("self_weight", "1", "weight that a token gives to itself"),
    RS_COLUMN("cosine_after", "1", "cosine between two tokens after attention"),
    RS_COLUMN("critical_gamma", "1", "1 / (1 - overlap)"),
    RS_COLUMN("critical_cosine", "1", "4 overlap / (1 + 3 overlap): at critical gamma in the limit"),
};

const rs_metric_kind rs_metric_simplex_contraction = {
    .kind = {.name = "simplex_contraction",
             .summary =
                 "whether attention makes equally similar tokens one, leaves them alone, or is critical; turns and "
                 "biases left out",
             .reference = "Chen et al., arXiv:2510.05554",
             .version = 1,
             RS_KIND(specs, params)},
    RS_SCALARS(scalars),
    RS_CURVE(curve, 2),
    .curve_rows = curve_rows,
    .finish = finish,
};
