/* DPRoPE: each pair is divided by s, or left alone, whichever spreads its angles in the longer context more like those
 * of training: KL(P_L0 || P_sL0) between shares of the circle. Wu et al., arXiv:2410.01490, section 3.3. The divergence
 * is taken in the direction of the authors' code and of their tables; their equation 8 prints the other. */
#include "encoding/kinds.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_POSITIONS = 1 << 27 }; /* half a second of counting a pair */

typedef struct params {
  size_t angle_bins;
} params;

/* Three spreads of one pair's angles, (parts,) each. */
typedef struct spreads {
  rs_angle_count how;
  double *trained, *kept, *divided;
} spreads;

static bool is_nearer_divided(const spreads *work, const rs_freq_in *in, double omega, size_t positions) {
  rs_angle_shares(&work->how, omega, NULL, (size_t)in->train_length, work->trained);
  rs_angle_shares(&work->how, omega, NULL, positions, work->kept);
  rs_angle_shares(&work->how, omega / in->scale, NULL, positions, work->divided);
  return rs_relative_entropy(work->trained, work->divided, work->how.parts) <
         rs_relative_entropy(work->trained, work->kept, work->how.parts);
}

static rs_status fill(const rs_freq_in *in, rs_freq_out *out, rs_err *err) {
  double positions = fmax(1, rint(in->scale * in->train_length));
  size_t parts = ((const params *)in->params)->angle_bins;
  if (!(positions <= MOST_POSITIONS))
    return rs_fail(err, RS_DOMAIN, "dprope counts the angles of %g positions; the most is %d", positions,
                   (int)MOST_POSITIONS);
  double *shares = rs_alloc(3 * parts, sizeof *shares, err);
  if (shares == NULL) return RS_MEMORY;
  spreads work = {{parts, RS_ANGLE_START, false}, shares, shares + parts, shares + 2 * parts};
  rs_status status = rs_freq_default.fill(in, out, err);
  for (size_t j = 0; j < in->rotary_dim / 2 && status == RS_OK; j++)
    if (is_nearer_divided(&work, in, out->omega[j], (size_t)positions)) out->omega[j] /= in->scale;
  free(shares);
  return status;
}

/* Angles are counted anew at each length, and cached keys would have one for each token. */
static rs_status check(const rs_binding *binding, const rs_model *model, rs_err *err) {
  (void)model;
  rs_rotary_params rotary;
  rs_binding stage = rs_rotary_bind(binding->settings, &rotary);
  if (rotary.cached_keys.number == RS_NO_COUNT) return RS_OK;
  return rs_binding_fail(&stage, offsetof(rs_rotary_params, cached_keys), err,
                         "dprope has frequencies for whole contexts only");
}

static const rs_param specs[] = {
    {RS_FIELD(params, angle_bins), .unit = "1", .min = 2, .max = 65536, .fallback = "360",
     .summary = "equal parts of the circle in which angles are counted"},
};

const rs_freq_kind rs_freq_dprope = {
    .kind = {.name = "dprope",
             .summary = "each pair divided by s or kept, whichever spreads its angles more as in training",
             .reference = "arXiv:2410.01490, section 3.3; github.com/1180301012/DPRoPE",
             .version = 1,
             RS_KIND(specs, params)},
    .scaled = true,
    .trained = true,
    .check = check,
    .fill = fill,
};
