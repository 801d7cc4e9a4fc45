/* How large an encoding is, from its parameters and sizes alone. */
#include "kinds.h"

#include <math.h>

/* Coordinates and gains of one token on one side, in one view. */
static double numbers_of_place(const rs_recipe *recipe, const rs_model *model, const rs_stage_params *params) {
  const rs_freq_kind *kind = recipe->method->freq;
  if (kind == NULL) return 1;
  rs_rotary_params rotary;
  rs_binding binding = rs_rotary_bind(&recipe->settings, &rotary);
  size_t pairs = rs_pairs_of(&recipe->settings, model);
  bool aged = params->rotary.cached_keys.number != RS_NO_COUNT, separate = aged || kind->mix != NULL;
  size_t axes = kind->axis != NULL ? RS_AXES : rs_axes_count(&binding, model, pairs);
  rs_freq_in in = {.rotary_dim = 2 * pairs, .params = params->freq.fields};
  size_t tables = kind->by_head != NULL && kind->by_head(&in) ? model->heads : 1;
  bool gains = kind->mix == NULL && (aged || kind->log_gain != NULL);
  return (double)(separate ? tables * pairs : axes) + (double)(gains ? pairs : 0);
}

static double numbers(const rs_recipe *recipe, const rs_model *model, const rs_stage_params *params, size_t length,
                      const rs_token_layout *tokens) {
  const rs_method *method = recipe->method;
  rs_stage_in in = rs_stage_input(method, model, params, length, tokens);
  double places = 2 * numbers_of_place(recipe, model, params) * (double)method->pos->views;
  const rs_lscale_kind *logit_scale = rs_lscale_kind_of(&params->common);
  bool mixed = method->freq != NULL && method->freq->mix != NULL;
  double count = (double)length * (1 + places + (mixed ? RS_AXES : 0)); /* the logit scale, both sides, what they mix */
  if (logit_scale != NULL && logit_scale->by_head) count += (double)model->heads;
  in.params = params->bias.fields;
  if (method->bias != NULL) count += (double)rs_bias_table_size(method->bias, &in);
  if (method->bias != NULL && method->bias->numbers != NULL) count += method->bias->numbers(&in);
  in.params = params->embed.fields;
  if (method->embed != NULL && method->embed->numbers != NULL) count += method->embed->numbers(&in);
  return count;
}

double rs_encoding_bytes(const rs_recipe *recipe, const rs_model *model, size_t length, const rs_token_layout *tokens) {
  static const rs_token_layout text = {0};
  rs_stage_params *params;
  if (rs_stage_params_make(recipe->method, &recipe->settings, &params, NULL) != RS_OK) return NAN;
  double count = numbers(recipe, model, params, length, tokens != NULL ? tokens : &text);
  rs_stage_params_free(params);
  return count * sizeof(double);
}
