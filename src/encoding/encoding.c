/* From a recipe at one length to the tables attention reads: each stage fills its own. */
#include "kinds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows of biases and embeddings stand at whole numbers from 0 on, and temperatures begin there. */
static rs_status check_counts(const rs_encoding *encoding, const rs_token_layout *tokens, rs_err *err) {
  const rs_method *method = encoding->method;
  bool integers = method->bias != NULL || method->embed != NULL,
       from_0 = rs_lscale_kind_of(&encoding->params->common) != NULL;
  for (size_t n = 0; n < tokens->id_count && (integers || from_0); n++) {
    double id = tokens->ids[n * RS_AXES];
    if (id >= 0 && (!integers || id == floor(id))) continue;
    return rs_fail_on(err, RS_DOMAIN, "ids", "position id %g: %s reads %s from 0 on", id, method->name,
                      integers ? "whole numbers" : "a scale of logits");
  }
  return RS_OK;
}

/* Maps that bend positions, vectors of distance and keys of a cache know tokens by their numbers alone. */
static rs_status copy_ids(rs_encoding *encoding, const rs_token_layout *tokens, rs_err *err) {
  const rs_method *method = encoding->method;
  bool pointwise = method->pos == &rs_pos_identity || method->pos == &rs_pos_linear;
  bool aged = method->freq != NULL && encoding->params->rotary.cached_keys.number != RS_NO_COUNT;
  if (tokens->ids == NULL) return RS_OK;
  if (!pointwise || method->vectors != NULL || aged)
    return rs_fail_on(err, RS_UNSUPPORTED, "ids",
                      "%s goes by the numbers of tokens%s: position ids must be 0, 1, 2, ... "
                      "(in any order), without gaps",
                      method->name, aged ? ", with cached_keys" : "");
  RS_TRY(check_counts(encoding, tokens, err));
  size_t count = tokens->id_count * RS_AXES;
  encoding->tokens.ids = rs_alloc(count, sizeof *tokens->ids, err);
  if (encoding->tokens.ids == NULL) return RS_MEMORY;
  memcpy(encoding->tokens.ids, tokens->ids, count * sizeof *tokens->ids);
  encoding->tokens.id_count = tokens->id_count;
  return RS_OK;
}

static rs_status copy_inputs(rs_encoding *encoding, const rs_recipe *recipe, const rs_token_layout *tokens,
                             rs_err *err) {
  rs_recipe copy;
  RS_TRY(rs_recipe_copy(&copy, recipe, err));
  encoding->method = copy.method;
  encoding->settings = copy.settings;
  RS_TRY(rs_stage_params_make(encoding->method, &encoding->settings, &encoding->params, err));
  if (tokens == NULL) return RS_OK;
  RS_TRY(rs_token_layout_check(tokens, encoding->length, err));
  RS_TRY(copy_ids(encoding, tokens, err));
  if (tokens->count == 0) return RS_OK;
  encoding->tokens.runs = rs_alloc(tokens->count, sizeof *tokens->runs, err);
  if (encoding->tokens.runs == NULL) return RS_MEMORY;
  memcpy(encoding->tokens.runs, tokens->runs, tokens->count * sizeof *tokens->runs);
  encoding->tokens.count = tokens->count;
  return RS_OK;
}

static void resolve_geometry(rs_encoding *encoding, const rs_stage_in *in, const rs_model *model) {
  const rs_rotary_params *rotary = &encoding->params->rotary;
  encoding->heads = in->heads;
  encoding->head_dim = in->head_dim;
  encoding->width = in->width;
  encoding->train_length = in->train_length;
  encoding->scale = in->scale;
  encoding->pair_layout = rotary->pair_layout == RS_LAYOUT_OF_MODEL ? model->pair_layout : rotary->pair_layout;
  if (encoding->method->freq == NULL) return;
  encoding->rotary_dim = rotary->rotary_dim == RS_NO_COUNT ? model->rotary_dim : rotary->rotary_dim;
  encoding->wavelengths = rotary->wavelengths;
  encoding->id_rule = rs_id_rule_of(rotary);
}

/* Ids of vision tokens on one axis: of the schemes, V2PE's alone is meant for it. Given ids: those of the first. */
static rs_status one_axis_ids(const rs_encoding *encoding, double *ids, rs_err *err) {
  RS_FREED double *all = rs_alloc(encoding->length, RS_AXES * sizeof *all, err);
  if (all == NULL) return RS_MEMORY;
  RS_TRY(rs_token_positions(&encoding->tokens, &encoding->id_rule, encoding->length, all, NULL, err));
  for (size_t i = 0; i < encoding->length; i++) ids[i] = all[i * RS_AXES];
  return RS_OK;
}

/* Token ids as the pairs read them: (L, 1) for text, (L, 3) for t, h, w. */
static rs_status token_ids(const rs_encoding *encoding, double *ids, rs_err *err) {
  const rs_id_rule *rule = &encoding->id_rule;
  if (encoding->axes > 1) return rs_token_positions(&encoding->tokens, rule, encoding->length, ids, NULL, err);
  if (rule->scheme == RS_IDS_V2PE || encoding->tokens.ids != NULL) return one_axis_ids(encoding, ids, err);
  for (size_t i = 0; i < encoding->length; i++) ids[i] = (double)i;
  return RS_OK;
}

/* A short format may not hold the positions, or the angles: an infinity there would make every number after it none. */
static rs_status check_formats(const rs_encoding *encoding, rs_err *err) {
  double largest = 0, fastest = 0;
  for (size_t v = 0; v < encoding->views; v++)
    for (size_t i = 0; i < encoding->length * encoding->axes; i++)
      largest = fmax(largest, fmax(fabs(encoding->pos_q[v][i]), fabs(encoding->pos_k[v][i])));
  for (size_t j = 0; j < encoding->rotary_dim / 2; j++) fastest = fmax(fastest, encoding->omega[j]);
  if (isfinite(largest) && isfinite(rs_round(encoding->precision.angle, largest * fastest))) return RS_OK;
  return rs_fail(err, RS_DOMAIN, "length %zu is beyond the range of the float format of positions or angles",
                 encoding->length);
}

/* By the kind of the position map. */
static rs_status move_positions(rs_encoding *encoding, rs_stage_in in, rs_err *err) {
  const rs_pos_kind *kind = encoding->method->pos;
  in.kind = &kind->kind;
  in.params = encoding->params->pos.fields;
  const rs_positions positions = {encoding->length, encoding->axes, encoding->pos_q, encoding->pos_k};
  if (kind->text_only) RS_TRY(rs_text_only(encoding, err));
  if (kind->prepare == NULL) return RS_OK;
  encoding->pos_state = rs_alloc(1, kind->state_size, err);
  if (encoding->pos_state == NULL) return RS_MEMORY;
  RS_TRY(kind->prepare(&in, encoding->pos_state, err));
  return kind->fill(encoding->pos_state, &positions, err);
}

static rs_status fill_positions(rs_encoding *encoding, rs_stage_in in, rs_err *err) {
  size_t count = encoding->length * encoding->axes;
  encoding->views = encoding->method->pos->views;
  for (size_t v = 0; v < encoding->views; v++) {
    encoding->pos_q[v] = rs_alloc(count, sizeof(double), err);
    encoding->pos_k[v] = rs_alloc(count, sizeof(double), err);
    if (encoding->pos_q[v] == NULL || encoding->pos_k[v] == NULL) return RS_MEMORY;
    RS_TRY(token_ids(encoding, encoding->pos_q[v], err));
    memcpy(encoding->pos_k[v], encoding->pos_q[v], count * sizeof(double));
  }
  RS_TRY(move_positions(encoding, in, err));
  for (size_t v = 0; v < encoding->views; v++)
    for (size_t i = 0; i < count; i++) {
      encoding->pos_q[v][i] = rs_round(encoding->precision.positions, encoding->pos_q[v][i]);
      encoding->pos_k[v][i] = rs_round(encoding->precision.positions, encoding->pos_k[v][i]);
    }
  return check_formats(encoding, err);
}

static rs_status fill_logit_scale(rs_encoding *encoding, rs_stage_in in, rs_err *err) {
  const rs_common_params *params = &encoding->params->common;
  const rs_lscale_kind *kind = rs_lscale_kind_of(params);
  in.params = params;
  if (kind == NULL) return RS_OK;
  if (kind->by_head) {
    encoding->head_scale = rs_alloc(in.heads, sizeof *encoding->head_scale, err);
    if (encoding->head_scale == NULL) return RS_MEMORY;
    for (size_t h = 0; h < in.heads; h++) encoding->head_scale[h] = 1;
  }
  return kind->fill(&in, encoding->logit_scale, err);
}

static rs_status prepare_embedding(rs_encoding *encoding, rs_stage_in in, rs_err *err) {
  const rs_embed_kind *kind = encoding->method->embed;
  if (kind == NULL) return RS_OK;
  in.kind = &kind->kind;
  in.params = encoding->params->embed.fields;
  in.length = rs_token_layout_reach(&encoding->tokens, encoding->length);
  encoding->embed_state = rs_alloc(1, kind->state_size, err);
  return encoding->embed_state != NULL ? kind->prepare(&in, encoding->embed_state, err) : RS_MEMORY;
}

static rs_status prepare_bias(rs_encoding *encoding, rs_stage_in in, rs_err *err) {
  const rs_bias_kind *kind = encoding->method->bias;
  if (kind == NULL) return RS_OK;
  in.kind = &kind->kind;
  in.params = encoding->params->bias.fields;
  in.length = rs_token_layout_reach(&encoding->tokens, encoding->length);
  encoding->bias_size = rs_bias_table_size(kind, &in);
  encoding->bias_state = rs_alloc(1, kind->state_size, err);
  encoding->bias_table = rs_alloc(encoding->bias_size, sizeof *encoding->bias_table, err);
  if (encoding->bias_state == NULL || encoding->bias_table == NULL) return RS_MEMORY;
  RS_TRY(kind->prepare(&in, encoding->bias_table, encoding->bias_state, err));
  double factor = kind->logit_factor != NULL ? kind->logit_factor(encoding->bias_state) : 1;
  for (size_t m = 0; m < encoding->length; m++) encoding->logit_scale[m] *= factor;
  return RS_OK;
}

/* Queries and keys meet at the distance of their tokens, as they are. */
static rs_status prepare_vectors(rs_encoding *encoding, rs_stage_in in, rs_err *err) {
  const rs_vector_kind *kind = encoding->method->vectors;
  if (kind == NULL) return RS_OK;
  if (encoding->method->freq != NULL || encoding->method->pos != &rs_pos_identity)
    return rs_fail(err, RS_UNSUPPORTED, "%s: vectors of distance go with neither rotation nor moved positions",
                   encoding->method->name);
  in.kind = &kind->kind;
  in.params = encoding->params->vectors.fields;
  kind->form(&in, &encoding->vectors);
  encoding->vector_size = kind->table_size(&in);
  encoding->vector_state = rs_alloc(1, kind->state_size, err);
  encoding->vector_table = rs_alloc(encoding->vector_size, sizeof *encoding->vector_table, err);
  if (encoding->vector_state == NULL || encoding->vector_table == NULL) return RS_MEMORY;
  return kind->prepare(&in, encoding->vector_table, encoding->vector_state, err);
}

/* What is made of a recipe, and which keys of the last query are read; NULL: all. */
typedef struct making {
  const rs_recipe *recipe;
  const rs_token_layout *tokens;
  const size_t *read;
  size_t read_count;
} making;

static rs_status fill_tables(rs_encoding *encoding, const making *wanted, const rs_model *model, rs_err *err) {
  RS_TRY(copy_inputs(encoding, wanted->recipe, wanted->tokens, err));
  rs_stage_in in = rs_stage_input(encoding->method, model, encoding->params, encoding->length, &encoding->tokens);
  in.read = wanted->read;
  in.read_count = wanted->read_count;
  resolve_geometry(encoding, &in, model);
  RS_TRY(rs_frequencies_fill(encoding, model, err));
  RS_TRY(fill_positions(encoding, in, err));
  RS_TRY(rs_coordinates_fill(encoding, model, &in, err));
  for (size_t t = 0; t < encoding->tables && encoding->own_places; t++) {
    const rs_encoding head = rs_encoding_of_head(encoding, t);
    RS_TRY(check_formats(&head, err));
  }
  RS_TRY(rs_steps_fill(encoding, err));
  RS_TRY(fill_logit_scale(encoding, in, err));
  RS_TRY(prepare_embedding(encoding, in, err));
  RS_TRY(prepare_bias(encoding, in, err));
  return prepare_vectors(encoding, in, err);
}

static rs_status create(const making *wanted, const rs_model *model, size_t length, const rs_precision *precision,
                        rs_encoding **encoding, rs_err *err) {
  *encoding = NULL;
  if (length == 0) return rs_fail(err, RS_DOMAIN, "a context of 0 tokens has no attention");
  rs_encoding *fresh = rs_alloc(1, sizeof *fresh, err);
  if (fresh == NULL) return RS_MEMORY;
  fresh->length = length;
  if (precision != NULL) fresh->precision = *precision;
  rs_status status = fill_tables(fresh, wanted, model, err);
  if (status != RS_OK) {
    rs_encoding_free(fresh);
    return status;
  }
  RS_ASSERT(fresh->views >= 1 && fresh->views <= RS_VIEWS && fresh->axes >= 1);
  RS_ASSERT(fresh->rotary_dim % 2 == 0 && fresh->rotary_dim <= fresh->head_dim);
  *encoding = fresh;
  return RS_OK;
}

rs_status rs_encoding_create(const rs_recipe *recipe, const rs_model *model, size_t length,
                             const rs_token_layout *tokens, const rs_precision *precision, rs_encoding **encoding,
                             rs_err *err) {
  return create(&(making){.recipe = recipe, .tokens = tokens}, model, length, precision, encoding, err);
}

rs_status rs_encoding_create_for(const rs_recipe *recipe, const rs_model *model, size_t length, const size_t *keys,
                                 size_t count, rs_encoding **encoding, rs_err *err) {
  return create(&(making){.recipe = recipe, .read = keys, .read_count = count}, model, length, NULL, encoding, err);
}

void rs_encoding_free(rs_encoding *encoding) {
  if (encoding == NULL) return;
  for (size_t v = 0; v < RS_VIEWS; v++) {
    free(encoding->pos_q[v]);
    free(encoding->pos_k[v]);
    free(encoding->gain_q[v]);
    free(encoding->gain_k[v]);
  }
  free(encoding->omega);
  free(encoding->omega_exact);
  free(encoding->omega_trained);
  free(encoding->axis);
  free(encoding->logit_scale);
  free(encoding->head_scale);
  free(encoding->bias_table);
  free(encoding->vector_table);
  free(encoding->vector_state);
  free(encoding->axis_weight);
  free(encoding->mixed);
  free(encoding->places);
  free(encoding->ladder_share);
  free(encoding->steps);
  if (encoding->embed_state != NULL && encoding->method->embed->release != NULL)
    encoding->method->embed->release(encoding->embed_state);
  if (encoding->bias_state != NULL && encoding->method->bias->release != NULL)
    encoding->method->bias->release(encoding->bias_state);
  free(encoding->embed_state);
  free(encoding->pos_state);
  free(encoding->bias_state);
  rs_stage_params_free(encoding->params);
  rs_token_layout_clear(&encoding->tokens);
  rs_settings_clear(&encoding->settings);
  free(encoding);
}

/* ---- sizes ------------------------------------------------------------------------------------------------------- */

/* How large an encoding is, from its parameters and sizes alone. */

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
  in.params = params->vectors.fields;
  if (method->vectors != NULL) count += (double)method->vectors->table_size(&in);
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

bool rs_recipe_vectors(const rs_recipe *recipe, const rs_model *model, size_t length, rs_vectors *vectors) {
  static const rs_token_layout text = {0};
  rs_stage_params *params;
  if (recipe->method->vectors == NULL) return false;
  if (rs_stage_params_make(recipe->method, &recipe->settings, &params, NULL) != RS_OK) return false;
  rs_stage_in in = rs_stage_input(recipe->method, model, params, length, &text);
  in.params = params->vectors.fields;
  recipe->method->vectors->form(&in, vectors);
  rs_stage_params_free(params);
  return true;
}
