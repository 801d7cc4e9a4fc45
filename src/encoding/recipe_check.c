/* What parameters of a recipe contradict each other, or the model. */
#include "kinds.h"

#include <math.h>
#include <stdlib.h>

/* What `scale` and `factor` mean together; see rs_scale_resolve. */
static rs_status check_scale(const rs_settings *settings, rs_err *err) {
  rs_scale_params p;
  rs_binding binding = rs_scale_bind(settings, &p);
  bool numbered = !isnan(p.scale.number), factored = !isnan(p.factor);
  if (p.scale.word == RS_SCALE_FIXED && !factored)
    return rs_binding_fail(&binding, offsetof(rs_scale_params, scale), err,
                           "needs a factor (or write the number: scale: 8)");
  if (factored && (p.scale.word == RS_SCALE_AUTO || p.scale.word == RS_SCALE_DYNAMIC))
    return rs_binding_fail(&binding, offsetof(rs_scale_params, factor), err,
                           "has no effect with scale: %s (leave one of them out)",
                           p.scale.word == RS_SCALE_AUTO ? "auto" : "dynamic");
  if (factored && numbered)
    return rs_binding_fail(&binding, offsetof(rs_scale_params, factor), err,
                           "is given twice: scale = %g is a factor already", p.scale.number);
  return RS_OK;
}

static rs_status check_rotary_dim(const rs_binding *binding, const rs_model *model, rs_err *err) {
  size_t dims = ((const rs_rotary_params *)binding->fields)->rotary_dim, place = offsetof(rs_rotary_params, rotary_dim);
  if (dims == RS_NO_COUNT && model->rotary_dim == 0)
    return rs_fail_on(err, RS_INPUT, "", "the model has no rotary dims, and no rotary_dim is given");
  if (dims == RS_NO_COUNT) return RS_OK;
  if (dims % 2 != 0) return rs_binding_fail(binding, place, err, "must be even");
  if (dims > model->head_dim)
    return rs_binding_fail(binding, place, err, "exceeds the model's head_dim = %zu", model->head_dim);
  return RS_OK;
}

/* One axis has no order, and of the ways to count vision tokens V2PE's alone moves its ids. */
static rs_status check_one_axis(const rs_binding *rotary, rs_err *err) {
  static const char with[] = "mrope_section: none";
  RS_TRY(rs_binding_unused(rotary, offsetof(rs_rotary_params, mrope_layout), with, err));
  RS_TRY(rs_binding_unused(rotary, offsetof(rs_rotary_params, mrope_tail), with, err));
  if (((const rs_rotary_params *)rotary->fields)->vision_ids == RS_IDS_V2PE) return RS_OK;
  RS_TRY(rs_binding_unused(rotary, offsetof(rs_rotary_params, vision_ids), with, err));
  RS_TRY(rs_binding_unused(rotary, offsetof(rs_rotary_params, vision_step), with, err));
  return rs_binding_unused(rotary, offsetof(rs_rotary_params, id_arithmetic), with, err);
}

/* The sections must fit the pairs: filled on trial, so that the rule stands in one place. */
static rs_status check_axes(const rs_binding *rotary, const rs_model *model, rs_err *err) {
  size_t pairs = rs_pairs_of(rotary->settings, model), axes;
  uint16_t *axis = rs_alloc(pairs, sizeof *axis, err);
  if (axis == NULL) return RS_MEMORY;
  rs_status status = rs_axes_fill(rotary, model, pairs, axis, &axes, err);
  free(axis);
  return status == RS_OK && axes == 1 ? check_one_axis(rotary, err) : status;
}

static rs_status check_logit_scale(const rs_settings *settings, const rs_model *model, rs_err *err) {
  rs_common_params common;
  rs_binding binding = rs_common_bind(settings, &common);
  const rs_lscale_kind *kind = rs_lscale_kind_of(&common);
  if (kind != NULL) return kind->check != NULL ? kind->check(&binding, model, err) : RS_OK;
  RS_TRY(rs_binding_unused(&binding, offsetof(rs_common_params, logit_scale_factor), "logit_scale: none", err));
  return rs_binding_unused(&binding, offsetof(rs_common_params, logit_scale_length), "logit_scale: none", err);
}

/* Two of the schemes that count vision tokens go in steps, the others by the clock. */
static rs_status check_vision_ids(const rs_binding *binding, rs_err *err) {
  rs_id_scheme scheme = ((const rs_rotary_params *)binding->fields)->vision_ids;
  bool steps = scheme == RS_IDS_VIDEOROPE || scheme == RS_IDS_V2PE;
  size_t idle = steps ? offsetof(rs_rotary_params, id_arithmetic) : offsetof(rs_rotary_params, vision_step);
  return rs_binding_unused(binding, idle, "these vision_ids", err);
}

static rs_status check_rotation(const rs_recipe *recipe, const rs_model *model, const rs_binding *binding_of_kind,
                                rs_err *err) {
  const rs_freq_kind *kind = recipe->method->freq;
  rs_rotary_params rotary;
  rs_binding binding = rs_rotary_bind(&recipe->settings, &rotary);
  RS_TRY(check_rotary_dim(&binding, model, err));
  RS_TRY(check_vision_ids(&binding, err));
  if (kind->axis == NULL && kind->mix == NULL) RS_TRY(check_axes(&binding, model, err));
  return kind->check != NULL ? kind->check(binding_of_kind, model, err) : RS_OK;
}

static rs_status check_stages(const rs_recipe *recipe, const rs_model *model, const rs_stage_params *params,
                              rs_err *err) {
  const rs_method *method = recipe->method;
  RS_TRY(check_scale(&recipe->settings, err));
  RS_TRY(check_logit_scale(&recipe->settings, model, err));
  if (method->freq != NULL) RS_TRY(check_rotation(recipe, model, &params->freq, err));
  if (method->embed != NULL && method->embed->check != NULL) RS_TRY(method->embed->check(&params->embed, model, err));
  if (method->bias != NULL && method->bias->check != NULL) RS_TRY(method->bias->check(&params->bias, model, err));
  return RS_OK;
}

rs_status rs_recipe_check(const rs_recipe *recipe, const rs_model *model, rs_err *err) {
  rs_stage_params *params;
  RS_TRY(rs_stage_params_make(recipe->method, &recipe->settings, &params, err));
  rs_status status = check_stages(recipe, model, params, err);
  rs_stage_params_free(params);
  return status;
}
