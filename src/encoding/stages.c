/* A recipe's parameters as structs: those of its stages, and those of the kind that fills each. */
#include "kinds.h"

#include <math.h>
#include <stdlib.h>

static rs_status bind_kind(const rs_settings *settings, const rs_kind *kind, rs_binding *binding, rs_err *err) {
  return rs_binding_make(settings, kind->params, kind->param_count, kind->params_size, binding, err);
}

static rs_status bind_kinds(const rs_method *method, const rs_settings *settings, rs_stage_params *params,
                            rs_err *err) {
  RS_TRY(bind_kind(settings, &method->pos->kind, &params->pos, err));
  if (method->freq != NULL) RS_TRY(bind_kind(settings, &method->freq->kind, &params->freq, err));
  if (method->embed != NULL) RS_TRY(bind_kind(settings, &method->embed->kind, &params->embed, err));
  if (method->bias != NULL) RS_TRY(bind_kind(settings, &method->bias->kind, &params->bias, err));
  return method->vectors != NULL ? bind_kind(settings, &method->vectors->kind, &params->vectors, err) : RS_OK;
}

rs_status rs_stage_params_make(const rs_method *method, const rs_settings *settings, rs_stage_params **params,
                               rs_err *err) {
  *params = rs_alloc(1, sizeof **params, err);
  if (*params == NULL) return RS_MEMORY;
  rs_common_bind(settings, &(*params)->common);
  rs_rotary_bind(settings, &(*params)->rotary);
  rs_scale_bind(settings, &(*params)->scale);
  rs_status status = bind_kinds(method, settings, *params, err);
  if (status == RS_OK) return RS_OK;
  rs_stage_params_free(*params);
  *params = NULL;
  return status;
}

void rs_stage_params_free(rs_stage_params *params) {
  if (params == NULL) return;
  rs_binding_clear(&params->pos);
  rs_binding_clear(&params->freq);
  rs_binding_clear(&params->embed);
  rs_binding_clear(&params->bias);
  rs_binding_clear(&params->vectors);
  free(params);
}

rs_stage_in rs_stage_input(const rs_method *method, const rs_model *model, const rs_stage_params *params, size_t length,
                           const rs_token_layout *tokens) {
  size_t given = params->common.train_length;
  double train_length = (double)(given == RS_NO_COUNT ? model->train_length : given);
  bool scaled = rs_method_scaled(method);
  double reach = (double)(tokens != NULL ? rs_token_layout_reach(tokens, length) : length);
  return (rs_stage_in){.length = length,
                       .heads = model->heads,
                       .head_dim = model->head_dim,
                       .width = rs_model_width(model),
                       .train_length = train_length,
                       .scale = scaled ? rs_scale_at(&params->scale, reach, train_length) : NAN,
                       .tokens = tokens,
                       .method = method->name};
}

size_t rs_bias_table_size(const rs_bias_kind *kind, const rs_stage_in *in) {
  return kind->table_size != NULL ? kind->table_size(in) : in->heads;
}

/* ---- logit scales ------------------------------------------------------------------------------------------------ */

/* What logit scales share: their two numbers. */

double rs_lscale_factor(const rs_common_params *params, double fallback) {
  return isnan(params->logit_scale_factor) ? fallback : params->logit_scale_factor;
}

double rs_lscale_length(const rs_common_params *params, double fallback) {
  return params->logit_scale_length == RS_NO_COUNT ? fallback : (double)params->logit_scale_length;
}

rs_status rs_lscale_log_length(const rs_stage_in *in, const char *kind, double *length, rs_err *err) {
  const rs_common_params *params = in->params;
  *length = rs_lscale_length(params, in->train_length);
  if (*length >= 2) return RS_OK;
  return rs_fail(err, RS_DOMAIN, "%s divides by the ln of %s, which must exceed 1", kind,
                 params->logit_scale_length != RS_NO_COUNT ? "logit_scale_length" : "train_length");
}

/* ---- kinds ------------------------------------------------------------------------------------------------------- */

/* The tables of kinds, one per stage, from the lists of kind_list.h. */

#define FREQ(name) &rs_freq_##name,
#define POS(name) &rs_pos_##name,
#define EMBED(name) &rs_embed_##name,
#define LSCALE(name) &rs_lscale_##name,
#define BIAS(name) &rs_bias_##name,
#define VECTORS(name) &rs_vectors_##name,

static const rs_freq_kind *const freq_kinds[] = {RS_FREQ_KINDS(FREQ)};
static const rs_pos_kind *const pos_kinds[] = {RS_POS_KINDS(POS)};
static const rs_embed_kind *const embed_kinds[] = {RS_EMBED_KINDS(EMBED)};
static const rs_lscale_kind *const lscale_kinds[] = {RS_LSCALE_KINDS(LSCALE)};
static const rs_bias_kind *const bias_kinds[] = {RS_BIAS_KINDS(BIAS)};
static const rs_vector_kind *const vector_kinds[] = {RS_VECTOR_KINDS(VECTORS)};

const rs_freq_kind *const *rs_freq_kinds(size_t *count) {
  *count = RS_COUNT(freq_kinds);
  return freq_kinds;
}

const rs_pos_kind *const *rs_pos_kinds(size_t *count) {
  *count = RS_COUNT(pos_kinds);
  return pos_kinds;
}

const rs_embed_kind *const *rs_embed_kinds(size_t *count) {
  *count = RS_COUNT(embed_kinds);
  return embed_kinds;
}

const rs_lscale_kind *const *rs_lscale_kinds(size_t *count) {
  *count = RS_COUNT(lscale_kinds);
  return lscale_kinds;
}

const rs_bias_kind *const *rs_bias_kinds(size_t *count) {
  *count = RS_COUNT(bias_kinds);
  return bias_kinds;
}

const rs_vector_kind *const *rs_vector_kinds(size_t *count) {
  *count = RS_COUNT(vector_kinds);
  return vector_kinds;
}

const rs_lscale_kind *rs_lscale_kind_of(const rs_common_params *params) {
  return params->logit_scale > RS_LSCALE_NONE ? lscale_kinds[params->logit_scale - 1] : NULL;
}

const rs_lscale_kind *rs_lscale_chosen(const rs_settings *settings) {
  rs_common_params common;
  rs_common_bind(settings, &common);
  return rs_lscale_kind_of(&common);
}
