/* How differently the angles of each pair spread over the circle in this context and in training. Wu et al.,
 * arXiv:2410.01490, section 3.2 and table 3: the Kullback-Leibler divergence between the shares of 360 equal parts,
 * summed over the parts, mean over the pairs. A fast pair fills the circle in either context; a slow one that is left
 * alone turns to where it never was, and one that is divided by s fills the old arc more densely.
 *
 * In this context the angles are those between the last query and every key, which for plain positions are omega times
 * 0 .. L - 1, as in the paper; bent positions are thereby seen as well. In training they are plain RoPE's of 0 .. L0
 * - 1. Angle formats under study (`precision`) do not count; `arithmetic` is what the divergence itself is computed
 * with.
 *
 * The shares are (epsilon + angles) / tokens, as the authors' code has them, and sum to 1 + epsilon bins / tokens: at a
 * few tokens the sum can fall below 0 by about as much, where a divergence of shares in proportion never does. */
#include "metric_list.h"

#include <math.h>
#include <stdlib.h>

typedef enum direction { TRAIN_TO_LONG, LONG_TO_TRAIN, DIRECTIONS } direction;
typedef enum arithmetic { IN_DOUBLES, IN_FLOATS, ARITHMETICS } arithmetic;

static const char *const direction_words[DIRECTIONS + 1] = {
    [TRAIN_TO_LONG] = "train_to_long", [LONG_TO_TRAIN] = "long_to_train"};
static const char *const arithmetic_words[ARITHMETICS + 1] = {[IN_DOUBLES] = "f64", [IN_FLOATS] = "f32"};

typedef struct params {
  direction direction;
  size_t bins;
  double epsilon;
  arithmetic arithmetic;
} params;

/* Shares of the circle in training and here, and the places they come from. */
typedef struct spread {
  rs_angle_count how;
  bool from_long;
  double *trained, *here; /* (parts,) */
  double *distances;      /* (L,) */
} spread;

static double shift_of(const rs_encoding *encoding, size_t pair, const spread *work) {
  rs_angle_shares(&work->how, encoding->omega_trained[pair], NULL, (size_t)encoding->train_length, work->trained);
  rs_angle_shares(&work->how, encoding->omega[pair], work->distances, encoding->length, work->here);
  return work->from_long ? rs_relative_entropy(work->here, work->trained, work->how.parts)
                         : rs_relative_entropy(work->trained, work->here, work->how.parts);
}

static rs_status add_pairs(const rs_encoding *encoding, const spread *work, rs_result *result, rs_err *err) {
  rs_moments all = {0};
  double most = 0;
  for (size_t j = 0; j < encoding->rotary_dim / 2; j++) {
    if (j == 0 || encoding->axis[j] != encoding->axis[j - 1])
      rs_last_distances(encoding, encoding->axis[j], work->distances);
    double shift = shift_of(encoding, j, work);
    double row[] = {(double)j, shift};
    rs_moments_add(&all, shift);
    most = fmax(most, shift);
    RS_TRY(rs_curve_add(&result->curve, row, err));
  }
  result->value[0] = rs_moments_mean(&all);
  result->value[1] = most;
  return RS_OK;
}

static rs_status finish(const rs_metric_in *in, const void *state, rs_result *result, rs_err *err) {
  (void)state;
  const params *p = in->params;
  const rs_encoding *encoding = in->encoding;
  result->value[0] = result->value[1] = NAN;
  if (!rs_trained_on_tokens(encoding)) return RS_OK;
  double *shares = rs_alloc(2 * p->bins + encoding->length, sizeof *shares, err);
  if (shares == NULL) return RS_MEMORY;
  spread work = {.how = {.parts = p->bins, .start = p->epsilon, .single = p->arithmetic == IN_FLOATS},
                 .from_long = p->direction == LONG_TO_TRAIN,
                 .trained = shares,
                 .here = shares + p->bins,
                 .distances = shares + 2 * p->bins};
  rs_status status = add_pairs(encoding, &work, result, err);
  free(shares);
  return status;
}

static const rs_param specs[] = {
    {RS_FIELD(params, direction), .unit = "", RS_WORDS(direction_words), .fallback = "train_to_long",
     .summary = "KL(training || here), as the authors' code and tables have it, or KL(here || training)"},
    {RS_FIELD(params, bins), .unit = "1", .min = 2, .max = 65536, .fallback = "360",
     .summary = "equal parts of the circle"},
    {RS_FIELD(params, epsilon), .unit = "1", .min = 1e-300, .max = 1, .fallback = "6.103515625e-5",
     .summary =
         "counts in each part before the first, so that none is empty (the authors': float16's smallest, 2^-14); "
         "of a few tokens the divergence can fall a little below 0"},
    {RS_FIELD(params, arithmetic), .unit = "", RS_WORDS(arithmetic_words), .fallback = "f64",
     .summary = "f32: angles, whole turns and parts all in float32, as the authors' code"},
};

static const rs_column scalars[] = {
    RS_COLUMN("angle_shift_nats", "nats",
              "KL divergence between a pair's angles (mod 2 pi) in training and here, mean over pairs",
              .better = RS_LOWER),
    RS_COLUMN("angle_shift_largest_nats", "nats", "the largest of any pair", .better = RS_LOWER),
};

static const rs_column curve[] = {
    RS_COLUMN("pair", "", "pair index j, fastest first", .integer = true),
    RS_COLUMN("angle_shift_nats", "nats", "KL divergence between the shares of the circle"),
};

const rs_metric_kind rs_metric_angle_shift = {
    .kind = {.name = "angle_shift",
             .summary = "how differently the angles of each pair are distributed here and in training",
             .reference = "DPRoPE, Wu et al., arXiv:2410.01490, sections 3.1 and 3.2",
             .version = 1,
             RS_KIND(specs, params)},
    RS_SCALARS(scalars),
    RS_CURVE(curve, 1),
    .curve_rows = rs_rows_of_pairs,
    .finish = finish,
};
