/* Pairs that turn to angles that training at L0 tokens cannot have shown. By plain RoPE pair j turns through [0, L0
 * omega_j] there, or full circle, which is every angle. Out of range is what reaches past that in the context at hand;
 * a reach of L0 itself, that of a context one token longer, does not. It is geometry: no head is trained here. */
#include "metric_list.h"

#include <math.h>

static rs_status finish(const rs_metric_in *in, const void *state, rs_result *result, rs_err *err) {
  (void)state;
  const rs_encoding *encoding = in->encoding;
  double pairs = 0, largest = 0, reach = 0;
  result->value[0] = result->value[1] = NAN;
  if (encoding->rotary_dim == 0) return RS_OK;
  /* Trained on patches, whose rows and columns train_length does not count. */
  if (encoding->method->freq != NULL && (encoding->method->freq->axis != NULL || encoding->method->freq->mix != NULL))
    return RS_OK;
  for (size_t j = 0; j < encoding->rotary_dim / 2; j++) {
    double trained = encoding->train_length * encoding->omega_trained[j];
    if (j == 0 || encoding->axis[j] != encoding->axis[j - 1]) reach = rs_encoding_reach(encoding, encoding->axis[j]);
    double reached = reach * encoding->omega[j];
    bool outside = reached > rs_angle_range(trained);
    double overshoot = outside ? reached - trained : 0;
    pairs += outside;
    largest = fmax(largest, overshoot);
    double row[] = {(double)j, trained, reached, overshoot};
    RS_TRY(rs_curve_add(&result->curve, row, err));
  }
  result->value[0] = pairs;
  result->value[1] = largest;
  return RS_OK;
}

static const rs_column scalars[] = {
    RS_COLUMN("ood_pairs", "",
              "pairs whose largest angle, to any earlier key, passes that of plain RoPE at train_length, where they "
              "did not go full circle; empty where no pair turns",
              .integer = true, .better = RS_LOWER),
    RS_COLUMN("ood_overshoot_rad", "rad", "how far the worst of them goes past it; empty where no pair turns",
              .better = RS_LOWER),
};

static const rs_column curve[] = {
    RS_COLUMN("pair", "", "pair index j, fastest first", .integer = true),
    RS_COLUMN("trained_rad", "rad", "train_length * omega_j of plain RoPE", .log_axis = true),
    RS_COLUMN("reached_rad", "rad", "largest relative position * omega_j", .log_axis = true),
    RS_COLUMN("overshoot_rad", "rad", "reached - trained where out of range, else 0"),
};

const rs_metric_kind rs_metric_ood_angles = {
    .kind = {.name = "ood_angles",
             .summary = "pairs that turn past the angles of plain RoPE at train_length: geometry, no head is trained",
             .reference = "Liu et al., arXiv:2310.05209 (critical dimension); YaRN, arXiv:2309.00071, section 3.2",
             .version = 2},
    RS_SCALARS(scalars),
    RS_CURVE(curve, 1),
    .curve_rows = rs_rows_of_pairs,
    .finish = finish,
};
