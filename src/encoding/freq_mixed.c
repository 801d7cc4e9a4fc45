/* RoPE-Mixed: pair j of a patch in column x and row y turns by x fx_j + y fy_j, with learned frequencies. Heo et al.,
 * arXiv:2403.13298, section 3.2. omega_j is the length of (fx_j, fy_j), and the pair's coordinate the patch's along
 * it. */
#include "kinds.h"

#include <math.h>

static double frequency(const rs_settings *settings, const char *list, size_t pair) {
  return rs_setting(settings, list)->list[pair];
}

static rs_status fill(const rs_freq_in *in, rs_freq_out *out, rs_err *err) {
  size_t pairs = in->rotary_dim / 2;
  if (rs_setting(in->settings, "freq_x")->count != pairs || rs_setting(in->settings, "freq_y")->count != pairs)
    return rs_fail(err, RS_DOMAIN, "freq_x and freq_y must have one frequency for each of %zu pairs", pairs);
  for (size_t j = 0; j < pairs; j++)
    out->omega[j] = hypot(frequency(in->settings, "freq_x", j), frequency(in->settings, "freq_y", j));
  return RS_OK;
}

static void mix(const rs_settings *settings, size_t pair, double weight[RS_AXES]) {
  enum { T, H, W };
  double x = frequency(settings, "freq_x", pair), y = frequency(settings, "freq_y", pair), length = hypot(x, y);
  weight[T] = 0;
  weight[H] = length > 0 ? y / length : 0;
  weight[W] = length > 0 ? x / length : 0;
}

static rs_status check(const rs_settings *settings, const rs_model *model, rs_err *err) {
  RS_TRY(rs_check_pair_list(settings, model, "freq_x", "frequency", err));
  return rs_check_pair_list(settings, model, "freq_y", "frequency", err);
}

static const rs_param params[] = {
    {.name = "freq_x",
     .type = RS_REALS,
     .unit = "rad/patch",
     .min = -1e6,
     .max = 1e6,
     .summary = "each pair's frequency along the columns"},
    {.name = "freq_y",
     .type = RS_REALS,
     .unit = "rad/patch",
     .min = -1e6,
     .max = 1e6,
     .summary = "each pair's frequency along the rows"},
};

const rs_freq_kind rs_freq_mixed = {
    .kind = {.name = "mixed",
             .summary = "pair j turns by column * freq_x + row * freq_y",
             .reference = "RoPE-Mixed, Heo et al., arXiv:2403.13298, section 3.2",
             .version = 1,
             .params = params,
             .param_count = RS_COUNT(params)},
    .check = check,
    .fill = fill,
    .mix = mix,
};
