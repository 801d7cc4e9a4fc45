/* Text, image and video tokens: text is iid N(0, 1); patches carry a smooth random field, so that neighbours in a
 * picture (and in neighbouring frames) look alike. The field is a random Fourier feature in each dim, with Gaussian w
 * (Rahimi and Recht, NIPS 2007): sqrt(2) cos(w . (t, h, w) / smooth + phase) of the position ids. Between patches r ids
 * apart the contents correlate by coherence^2 exp(-r^2 / (2 smooth^2)). */
#include "attention/sources.h"

#include <math.h>

typedef struct params {
  double smooth, coherence;
} params;

typedef struct state {
  double smooth, coherence, noise; /* noise: what coherence leaves of a patch's content */
} state;

static rs_status prepare(const rs_source_in *in, void *memory, rs_err *err) {
  (void)err;
  const params *p = in->params;
  *(state *)memory = (state){p->smooth, p->coherence, sqrt(1 - p->coherence * p->coherence)};
  return RS_OK;
}

/* The field at one patch, in one dim, of one vision run; every run is another picture. */
static double field(const rs_source_in *in, size_t token, uint32_t run, size_t dim) {
  const state *s = in->state;
  rs_stream waves = {in->seed, RS_PURPOSE_FIELD_WAVES, (uint32_t)in->head};
  rs_stream phases = {in->seed, RS_PURPOSE_FIELD_PHASES, (uint32_t)in->head};
  uint64_t index = (uint64_t)run * in->head_dim + dim;
  double wave[4], turn = 2 * M_PI * rs_uniform(phases, index);
  rs_gaussian_fill(waves, 4 * index, RS_AXES, wave);
  for (size_t a = 0; a < RS_AXES; a++) turn += wave[a] * in->ids[token * RS_AXES + a] / s->smooth;
  return M_SQRT2 * cos(turn);
}

static bool is_patch(const rs_source_in *in, size_t token) {
  uint32_t run = in->run[token];
  return run < in->tokens->count && in->tokens->runs[run].modality != RS_TEXT;
}

static void add_field(const rs_source_in *in, size_t token, double *out) {
  const state *s = in->state;
  if (!is_patch(in, token)) return;
  for (size_t d = 0; d < in->head_dim; d++)
    out[d] = s->coherence * field(in, token, in->run[token], d) + s->noise * out[d];
}

static void keys(const rs_source_in *in, size_t begin, size_t end, double *out) {
  rs_gaussian_keys(in, begin, end, out);
  for (size_t n = begin; n < end; n++) add_field(in, n, out + (n - begin) * in->head_dim);
}

static void query(const rs_source_in *in, size_t position, double *out) {
  rs_gaussian_query(in, position, out);
  add_field(in, position, out);
}

static const rs_param specs[] = {
    {RS_FIELD(params, smooth), .unit = "patches", .min = 1e-3, .max = 1e6, .fallback = "4",
     .summary = "correlation length of the pictures"},
    {RS_FIELD(params, coherence), .unit = "1", .min = 0, .max = 1, .fallback = "0.7",
     .summary = "share of a patch's content that is picture, the rest is noise"},
};

const rs_source_kind rs_source_grid = {
    .kind = {.name = "grid",
             .summary = "iid text, and image or video patches that resemble their neighbours",
             .reference = "random Fourier features: Rahimi and Recht, NIPS 2007",
             RS_KIND(specs, params)},
    .state_size = sizeof(state),
    .prepare = prepare,
    .keys = keys,
    .query = query,
};
