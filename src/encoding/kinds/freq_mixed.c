/* RoPE-Mixed: pair j of a patch in column x and row y turns by x fx_j + y fy_j. Heo et al., arXiv:2403.13298, section
 * 3.2: each head of each layer learns frequencies of its own. Before training the authors' code
 * (init_random_2d_freqs) has a ladder of D/4 lengths theta^(-4k/D) along an angle of the head's, and the same ladder
 * across it. */
#include "encoding/kinds.h"

#include <math.h>

typedef struct params {
  rs_real_list freq_x, freq_y; /* rad/patch: (R/2,) of all heads, or (H, R/2); unset: drawn */
  bool learned;
  size_t table_seed;
} params;

static void given(const rs_freq_in *in, size_t head, size_t pair, double *x, double *y) {
  const params *p = in->params;
  size_t pairs = in->rotary_dim / 2, place = (p->freq_x.count > pairs ? head * pairs : 0) + pair;
  *x = p->freq_x.list[place];
  *y = p->freq_y.list[place];
}

static void drawn(const rs_freq_in *in, size_t head, size_t pair, double *x, double *y) {
  const params *p = in->params;
  rs_stream stream = {.seed = p->table_seed, .purpose = RS_PURPOSE_FREQUENCIES, .head = (uint32_t)head};
  size_t rungs = in->rotary_dim / 4, rung = pair % rungs;
  double angle = 2 * M_PI * rs_uniform(stream, 0) + (pair < rungs ? 0 : M_PI / 2);
  double length = pow(in->theta, -4 * (double)rung / (double)in->rotary_dim);
  *x = length * cos(angle);
  *y = length * sin(angle);
}

static void mix(const rs_freq_in *in, size_t head, size_t pair, double *x, double *y) {
  (((const params *)in->params)->freq_x.list != NULL ? given : drawn)(in, head, pair, x, y);
}

/* Those of the first head. */
static rs_status fill(const rs_freq_in *in, rs_freq_out *out, rs_err *err) {
  (void)err;
  for (size_t j = 0; j < in->rotary_dim / 2; j++) {
    double x, y;
    mix(in, 0, j, &x, &y);
    out->omega[j] = hypot(x, y);
  }
  return RS_OK;
}

static bool learned(const void *fields) {
  return ((const params *)fields)->learned;
}

static bool by_head(const rs_freq_in *in) {
  const params *p = in->params;
  return p->learned || p->freq_x.list == NULL || p->freq_x.count > in->rotary_dim / 2;
}

static bool by_layer(const rs_settings *settings, const char **seed) {
  bool draws = rs_setting(settings, "freq_x")->list == NULL;
  *seed = draws ? "table_seed" : NULL;
  return draws || rs_setting(settings, "learned")->number == 1;
}

/* One list, `count` numbers. */
static rs_status check_list(const rs_binding *binding, size_t offset, size_t count, size_t pairs, size_t heads,
                            rs_err *err) {
  if (count == pairs || count == pairs * heads) return RS_OK;
  return rs_binding_fail(binding, offset, err, "has %zu number%s, but %zu pairs turn (of %zu heads: %zu)", count,
                         count == 1 ? "" : "s", pairs, heads, pairs * heads);
}

static rs_status check(const rs_binding *binding, const rs_model *model, rs_err *err) {
  const params *p = binding->fields;
  const size_t x = offsetof(params, freq_x), y = offsetof(params, freq_y);
  size_t pairs = rs_pairs_of(binding->settings, model);
  if (p->freq_x.list == NULL && p->freq_y.list == NULL) {
    if (pairs % 2 == 0) return RS_OK;
    return rs_binding_fail(binding, x, err, "is missing: frequencies of %zu pairs cannot be drawn, half along an angle",
                           pairs);
  }
  if (p->freq_x.list == NULL) return rs_binding_fail(binding, x, err, "is missing, but freq_y is given");
  if (p->freq_y.list == NULL) return rs_binding_fail(binding, y, err, "is missing, but freq_x is given");
  RS_TRY(check_list(binding, x, p->freq_x.count, pairs, model->heads, err));
  RS_TRY(check_list(binding, y, p->freq_y.count, pairs, model->heads, err));
  if (p->freq_x.count != p->freq_y.count)
    return rs_binding_fail(binding, y, err, "has %zu numbers, but freq_x has %zu", p->freq_y.count, p->freq_x.count);
  return rs_binding_unused(binding, offsetof(params, table_seed), "freq_x and freq_y", err);
}

static const rs_param specs[] = {
    {RS_FIELD(params, freq_x), .unit = "rad/patch", .min = -1e6, .max = 1e6,
     .summary = "each pair's frequency along the columns, of all heads alike or head by head (default: drawn)"},
    {RS_FIELD(params, freq_y), .unit = "rad/patch", .min = -1e6, .max = 1e6,
     .summary = "each pair's frequency along the rows, as freq_x"},
    {RS_FIELD(params, learned), .unit = "", .fallback = "true",
     .summary = "training changes them, for each head of each layer (where wavelengths are exact); false: they stay"},
    {RS_FIELD(params, table_seed), RS_TABLE_SEED},
};

const rs_freq_kind rs_freq_mixed = {
    .kind = {.name = "mixed",
             .summary = "pair j turns by column * freq_x + row * freq_y, learned for each head and layer",
             .reference = "RoPE-Mixed, Heo et al., arXiv:2403.13298, section 3.2",
             .version = 2,
             RS_KIND(specs, params)},
    .check = check,
    .fill = fill,
    .mix = mix,
    .by_head = by_head,
    .by_layer = by_layer,
    .learned = learned,
};
