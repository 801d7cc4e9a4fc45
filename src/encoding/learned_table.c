/* Learned position tables as they are before training, or as they were trained and given. Shared by the kinds of
 * learned embeddings.
 *
 * truncated_normal cuts at 2 standard deviations, as JAX's truncated_normal and timm's trunc_normal_tf_ do, and does
 * not stretch the rest back to init_sd (its own deviation is 0.88 init_sd). torch's and timm's trunc_normal_(std =
 * 0.02) cuts at -2 and 2 themselves, 100 standard deviations away: no different from normal. xavier: Glorot and Bengio,
 * AISTATS 2010, eq. 16, for a table (rows, width) as torch reads its fans. */
#include "kinds.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

enum { NORMAL, TRUNCATED_NORMAL, ZEROS, XAVIER };

#define CUT 2.0 /* standard deviations */

rs_status rs_learned_check(const rs_settings *settings, const rs_model *model, rs_err *err) {
  const rs_value *table = rs_setting(settings, "table");
  size_t width = model->heads * model->head_dim;
  int init = rs_setting_choice(settings, "init");
  if (table->set) {
    RS_TRY(rs_unused_check(settings, "init", "a table", err));
    RS_TRY(rs_unused_check(settings, "init_sd", "a table", err));
    RS_TRY(rs_unused_check(settings, "table_seed", "a table", err));
    if (table->count % width == 0) return RS_OK;
    return rs_fail_on(err, RS_INPUT, "table", "has %zu numbers: not whole rows of heads * head_dim = %zu", table->count,
                      width);
  }
  if (init == ZEROS) RS_TRY(rs_unused_check(settings, "table_seed", "init: zeros", err));
  if (init == ZEROS || init == XAVIER)
    RS_TRY(rs_unused_check(settings, "init_sd", init == ZEROS ? "init: zeros" : "init: xavier", err));
  return RS_OK;
}

/* A normal number within the cut, from a uniform one in [0, 1): the inverse of its distribution. */
static double truncated(double share) {
  double below = gsl_cdf_ugaussian_P(-CUT);
  return gsl_cdf_ugaussian_Pinv(below + share * (1 - 2 * below));
}

void rs_learned_draw(const rs_settings *settings, rs_purpose purpose, size_t above, size_t rows, size_t width,
                     size_t first, size_t count, double *out) {
  rs_stream stream = {.seed = (uint64_t)rs_setting_number(settings, "table_seed"), .purpose = purpose};
  int init = rs_setting_choice(settings, "init");
  double sd = rs_setting_number(settings, "init_sd"), bound = sqrt(6 / (double)(rows + width));
  uint64_t start = (uint64_t)(above + first) * width;
  if (init == NORMAL) rs_gaussian_fill(stream, start, count * width, out);
  for (size_t i = 0; i < count * width; i++) {
    if (init == ZEROS)
      out[i] = 0;
    else if (init == XAVIER)
      out[i] = bound * (2 * rs_uniform(stream, start + i) - 1);
    else
      out[i] = sd * (init == NORMAL ? out[i] : truncated(rs_uniform(stream, start + i)));
  }
}
