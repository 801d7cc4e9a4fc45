/* The frequency stage: omega, axis and amp of an encoding, by the kind that the method names, and what can be done to
 * the table of any kind. */
#include "kinds.h"

#include <math.h>

/* What the frequency table is made from at `length` tokens. */
static rs_freq_in frequency_input(const rs_encoding *encoding, const rs_model *model, size_t length) {
  const rs_stage_params *params = encoding->params;
  bool scaled = rs_method_scaled(encoding->method);
  return (rs_freq_in){.kind = encoding->method->freq,
                      .length = length,
                      .heads = encoding->heads,
                      .head_dim = encoding->head_dim,
                      .rotary_dim = encoding->rotary_dim,
                      .theta = isnan(params->rotary.rope_theta) ? model->rope_theta : params->rotary.rope_theta,
                      .train_length = encoding->train_length,
                      .max_length = (double)model->max_length,
                      .sections = encoding->sections,
                      .scale = scaled ? rs_scale_at(&params->scale, (double)length, encoding->train_length) : NAN,
                      .params = params->freq.fields};
}

static size_t reach_of(const rs_encoding *encoding) {
  return rs_token_layout_reach(&encoding->tokens, encoding->length);
}

/* Resonance RoPE, arXiv:2403.00071: wavelengths of whole tokens, so that a pair that went full circle in training shows
 * no new angle later. */
static void resonate(size_t pairs, double *omega) {
  for (size_t j = 0; j < pairs; j++)
    if (omega[j] > 0) omega[j] = 2 * M_PI / fmax(1, rint(2 * M_PI / omega[j]));
}

/* A published file may say no length. Then s by a rule of lengths is infinite, and ramps have no place. */
static rs_status need_length(const rs_freq_in *in, const char *method, rs_err *err) {
  if (in->train_length >= 1 || !(in->kind->trained || isinf(in->scale))) return RS_OK;
  return rs_fail_on(err, RS_DOMAIN, "train_length", "is said by neither the model nor the recipe, and %s needs it",
                    method);
}

/* The frequencies before any rounding. */
static rs_status exact_frequencies(const rs_encoding *encoding, const rs_model *model, size_t length, rs_freq_out *out,
                                   rs_err *err) {
  rs_freq_in in = frequency_input(encoding, model, length);
  out->factor = out->logit_factor = 1;
  RS_TRY(need_length(&in, encoding->method->name, err));
  RS_TRY(encoding->method->freq->fill(&in, out, err));
  if (encoding->wavelengths == RS_WAVES_WHOLE) resonate(encoding->rotary_dim / 2, out->omega);
  return RS_OK;
}

rs_status rs_frequencies_at(const rs_encoding *encoding, const rs_model *model, size_t length, rs_freq_out *out,
                            rs_err *err) {
  RS_TRY(exact_frequencies(encoding, model, length, out, err));
  for (size_t j = 0; j < encoding->rotary_dim / 2; j++)
    out->omega[j] = rs_round(encoding->precision.inv_freq, out->omega[j]);
  return RS_OK;
}

/* ggml keeps one float32 angle and multiplies it by the ladder's ratio from pair to pair; what a method does to the
 * plain ladder is multiplied in at the end. */
static rs_status fill_ladder(rs_encoding *encoding, const rs_model *model, rs_err *err) {
  size_t pairs = encoding->rotary_dim / 2;
  if (!encoding->precision.running) return RS_OK;
  encoding->ladder_share = rs_alloc(pairs, sizeof *encoding->ladder_share, err);
  if (encoding->ladder_share == NULL) return RS_MEMORY;
  double theta = frequency_input(encoding, model, reach_of(encoding)).theta, dims = (double)encoding->rotary_dim;
  encoding->ladder_ratio = (float)pow(theta, -2 / dims);
  for (size_t j = 0; j < pairs; j++)
    encoding->ladder_share[j] = (float)(encoding->omega[j] * pow(theta, 2 * (double)j / dims));
  return RS_OK;
}

/* Which axis each pair reads, if one; pairs that read none do not turn. */
static rs_status fill_axes(rs_encoding *encoding, const rs_model *model, rs_err *err) {
  const rs_freq_kind *kind = encoding->method->freq;
  const void *params = encoding->params->freq.fields;
  size_t pairs = encoding->rotary_dim / 2;
  if (kind->axis == NULL && kind->mix == NULL) {
    rs_rotary_params rotary;
    rs_binding binding = rs_rotary_bind(&encoding->settings, &rotary);
    RS_TRY(rs_axes_fill(&binding, model, pairs, encoding->axis, &encoding->axes, err));
    encoding->sections = encoding->axes > 1;
    return RS_OK;
  }
  encoding->axes = RS_AXES;
  for (size_t j = 0; j < pairs && kind->axis != NULL; j++) encoding->axis[j] = (uint16_t)kind->axis(params, j, pairs);
  return RS_OK;
}

static void stop_idle_pairs(rs_encoding *encoding) {
  for (size_t j = 0; j < encoding->rotary_dim / 2; j++)
    if (encoding->axis[j] >= RS_AXES) {
      encoding->axis[j] = 0;
      encoding->omega[j] = 0;
    }
}

void rs_frequencies_settle(rs_encoding *encoding) {
  const rs_freq_kind *kind = encoding->method->freq;
  size_t count = encoding->tables * (encoding->rotary_dim / 2);
  bool plain = kind->axis == NULL && kind->mix == NULL;
  for (size_t i = 0; i < count; i++) {
    encoding->omega_exact[i] = encoding->omega[i];
    encoding->omega[i] = rs_round(encoding->precision.inv_freq, encoding->omega[i]);
    if (!plain) encoding->omega_trained[i] = encoding->omega[i];
  }
}

/* Where heads have frequencies of their own, those of all. */
static rs_status mix_frequencies(rs_encoding *encoding, const rs_model *model, rs_err *err) {
  if (encoding->method->freq->mix == NULL) return RS_OK;
  rs_freq_in in = frequency_input(encoding, model, reach_of(encoding));
  RS_TRY(rs_mixed_fill(encoding, &in, err));
  if (encoding->wavelengths == RS_WAVES_WHOLE) resonate(encoding->tables * (encoding->rotary_dim / 2), encoding->omega);
  return RS_OK;
}

static size_t count_tables(const rs_encoding *encoding, const rs_model *model) {
  const rs_freq_kind *kind = encoding->method->freq;
  if (kind == NULL || kind->by_head == NULL) return 1;
  rs_freq_in in = frequency_input(encoding, model, reach_of(encoding));
  return kind->by_head(&in) ? encoding->heads : 1;
}

/* omega, axis and amp, and what the table puts on the logits. */
rs_status rs_frequencies_fill(rs_encoding *encoding, const rs_model *model, rs_err *err) {
  size_t pairs = encoding->rotary_dim / 2;
  encoding->axes = 1;
  encoding->amp = 1;
  encoding->tables = count_tables(encoding, model);
  size_t count = encoding->tables * pairs;
  encoding->omega = rs_alloc(count, sizeof *encoding->omega, err);
  encoding->omega_exact = rs_alloc(count, sizeof *encoding->omega_exact, err);
  encoding->omega_trained = rs_alloc(count, sizeof *encoding->omega_trained, err);
  encoding->axis = rs_alloc(pairs, sizeof *encoding->axis, err);
  encoding->logit_scale = rs_alloc(encoding->length, sizeof *encoding->logit_scale, err);
  if (encoding->omega == NULL || encoding->omega_exact == NULL || encoding->omega_trained == NULL ||
      encoding->axis == NULL || encoding->logit_scale == NULL)
    return RS_MEMORY;
  for (size_t m = 0; m < encoding->length; m++) encoding->logit_scale[m] = 1;
  if (encoding->method->freq == NULL) return RS_OK;
  RS_TRY(fill_axes(encoding, model, err));
  rs_freq_out out = {.omega = encoding->omega};
  RS_TRY(exact_frequencies(encoding, model, reach_of(encoding), &out, err));
  RS_TRY(mix_frequencies(encoding, model, err));
  stop_idle_pairs(encoding);
  rs_ladder(model->rope_theta, (double)encoding->rotary_dim, pairs, encoding->omega_trained);
  rs_frequencies_settle(encoding);
  encoding->amp = out.factor;
  for (size_t m = 0; m < encoding->length; m++) encoding->logit_scale[m] = out.logit_factor;
  return fill_ladder(encoding, model, err);
}
