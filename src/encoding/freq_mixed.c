/* RoPE-Mixed: pair j of a patch in column x and row y turns by x fx_j + y fy_j, with learned frequencies. Heo et al.,
 * arXiv:2403.13298, section 3.2. omega_j is the length of (fx_j, fy_j), and the pair's coordinate the patch's along
 * it. */
#include "kinds.h"

#include <math.h>

typedef struct params {
  rs_real_list freq_x, freq_y; /* rad/patch, a number for each pair */
} params;

static rs_status fill(const rs_freq_in *in, rs_freq_out *out, rs_err *err) {
  const params *p = in->params;
  size_t pairs = in->rotary_dim / 2;
  if (p->freq_x.count != pairs || p->freq_y.count != pairs)
    return rs_fail(err, RS_DOMAIN, "freq_x and freq_y must have one frequency for each of %zu pairs", pairs);
  for (size_t j = 0; j < pairs; j++) out->omega[j] = hypot(p->freq_x.list[j], p->freq_y.list[j]);
  return RS_OK;
}

static void mix(const void *fields, size_t pair, double weight[RS_AXES]) {
  enum { T, H, W };
  const params *p = fields;
  double x = p->freq_x.list[pair], y = p->freq_y.list[pair], length = hypot(x, y);
  weight[T] = 0;
  weight[H] = length > 0 ? y / length : 0;
  weight[W] = length > 0 ? x / length : 0;
}

static rs_status check(const rs_binding *binding, const rs_model *model, rs_err *err) {
  RS_TRY(rs_pair_list_check(binding, offsetof(params, freq_x), model, "frequency", err));
  return rs_pair_list_check(binding, offsetof(params, freq_y), model, "frequency", err);
}

static const rs_param specs[] = {
    {RS_FIELD(params, freq_x), .unit = "rad/patch", .min = -1e6, .max = 1e6,
     .summary = "each pair's frequency along the columns"},
    {RS_FIELD(params, freq_y), .unit = "rad/patch", .min = -1e6, .max = 1e6,
     .summary = "each pair's frequency along the rows"},
};

const rs_freq_kind rs_freq_mixed = {
    .kind = {.name = "mixed",
             .summary = "pair j turns by column * freq_x + row * freq_y",
             .reference = "RoPE-Mixed, Heo et al., arXiv:2403.13298, section 3.2",
             .version = 1,
             .params = specs,
             .param_count = RS_COUNT(specs),
             .params_size = sizeof(params)},
    .check = check,
    .fill = fill,
    .mix = mix,
};
