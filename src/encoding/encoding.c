/* From a recipe at one length to the tables attention reads: each stage fills its own. */
#include "kinds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static rs_status copy_inputs(rs_encoding *encoding, const rs_recipe *recipe, const rs_token_layout *tokens,
                             rs_err *err) {
  rs_recipe copy;
  RS_TRY(rs_recipe_copy(&copy, recipe, err));
  encoding->method = copy.method;
  encoding->settings = copy.settings;
  if (tokens == NULL || tokens->count == 0) return RS_OK;
  RS_TRY(rs_token_layout_check(tokens, encoding->length, err));
  encoding->tokens.runs = rs_alloc(tokens->count, sizeof *tokens->runs, err);
  if (encoding->tokens.runs == NULL) return RS_MEMORY;
  memcpy(encoding->tokens.runs, tokens->runs, tokens->count * sizeof *tokens->runs);
  encoding->tokens.count = tokens->count;
  return RS_OK;
}

static void resolve_geometry(rs_encoding *encoding, const rs_model *model) {
  const rs_settings *settings = &encoding->settings;
  const rs_value *layout = rs_setting(settings, "pair_layout");
  encoding->heads = model->heads;
  encoding->head_dim = model->head_dim;
  encoding->width = model->heads * model->head_dim;
  if (encoding->method->freq != NULL)
    encoding->rotary_dim = (size_t)rs_setting_or(settings, "rotary_dim", (double)model->rotary_dim);
  encoding->pair_layout = layout->set ? (rs_pair_layout)layout->choice : model->pair_layout;
  encoding->train_length = rs_setting_or(settings, "train_length", (double)model->train_length);
  encoding->scale = NAN;
  if (rs_method_scaled(encoding->method))
    encoding->scale = rs_scale_resolve(settings, (double)encoding->length, encoding->train_length);
}

/* Ids of vision tokens on one axis: of the schemes, V2PE's alone is meant for it. */
static rs_status one_axis_ids(const rs_encoding *encoding, const rs_id_rule *rule, double *ids, rs_err *err) {
  double *all = rs_alloc(encoding->length, RS_AXES * sizeof *all, err);
  if (all == NULL) return RS_MEMORY;
  rs_status status = rs_token_positions(&encoding->tokens, rule, encoding->length, all, NULL, err);
  for (size_t i = 0; i < encoding->length && status == RS_OK; i++) ids[i] = all[i * RS_AXES];
  free(all);
  return status;
}

/* Token ids as the pairs read them: (L, 1) for text, (L, 3) for t, h, w. */
static rs_status token_ids(const rs_encoding *encoding, double *ids, rs_err *err) {
  rs_id_rule rule = rs_id_rule_of(&encoding->settings);
  if (encoding->axes > 1) return rs_token_positions(&encoding->tokens, &rule, encoding->length, ids, NULL, err);
  if (rule.scheme == RS_IDS_V2PE) return one_axis_ids(encoding, &rule, ids, err);
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

static rs_status fill_positions(rs_encoding *encoding, rs_err *err) {
  size_t count = encoding->length * encoding->axes;
  encoding->views = encoding->method->pos->views;
  for (size_t v = 0; v < encoding->views; v++) {
    encoding->pos_q[v] = rs_alloc(count, sizeof(double), err);
    encoding->pos_k[v] = rs_alloc(count, sizeof(double), err);
    if (encoding->pos_q[v] == NULL || encoding->pos_k[v] == NULL) return RS_MEMORY;
    RS_TRY(token_ids(encoding, encoding->pos_q[v], err));
    memcpy(encoding->pos_k[v], encoding->pos_q[v], count * sizeof(double));
  }
  RS_TRY(encoding->method->pos->fill(encoding, err));
  for (size_t v = 0; v < encoding->views; v++)
    for (size_t i = 0; i < count; i++) {
      encoding->pos_q[v][i] = rs_round(encoding->precision.positions, encoding->pos_q[v][i]);
      encoding->pos_k[v][i] = rs_round(encoding->precision.positions, encoding->pos_k[v][i]);
    }
  return check_formats(encoding, err);
}

static rs_status fill_bias(rs_encoding *encoding, rs_err *err) {
  const rs_bias_kind *kind = encoding->method->bias;
  if (kind == NULL) return RS_OK;
  encoding->bias_size = kind->table_size != NULL ? kind->table_size(encoding) : 1;
  encoding->bias_table = rs_alloc(encoding->heads, encoding->bias_size * sizeof *encoding->bias_table, err);
  return encoding->bias_table != NULL ? kind->fill(encoding, err) : RS_MEMORY;
}

/* A table of embeddings that ends too soon is undefined at this length: asked for its last row. */
static rs_status fill_embedding(rs_encoding *encoding, rs_err *err) {
  const rs_embed_kind *kind = encoding->method->embed;
  if (kind == NULL) return RS_OK;
  if (kind->prepare != NULL) RS_TRY(kind->prepare(encoding, err));
  double *row = rs_alloc(encoding->width, sizeof *row, err);
  if (row == NULL) return RS_MEMORY;
  rs_status status = kind->fill(encoding, encoding->length - 1, 1, row, err);
  free(row);
  return status;
}

static rs_status fill_tables(rs_encoding *encoding, const rs_recipe *recipe, const rs_model *model,
                             const rs_token_layout *tokens, rs_err *err) {
  RS_TRY(copy_inputs(encoding, recipe, tokens, err));
  const rs_lscale_kind *temperature = rs_lscale_chosen(&encoding->settings);
  resolve_geometry(encoding, model);
  RS_TRY(rs_frequencies_fill(encoding, model, err));
  RS_TRY(fill_positions(encoding, err));
  RS_TRY(rs_coordinates_fill(encoding, model, err));
  if (encoding->own_places) RS_TRY(check_formats(encoding, err));
  RS_TRY(rs_steps_fill(encoding, err));
  if (temperature != NULL) RS_TRY(temperature->fill(encoding, err));
  RS_TRY(fill_embedding(encoding, err));
  return fill_bias(encoding, err);
}

rs_status rs_encoding_create(const rs_recipe *recipe, const rs_model *model, size_t length,
                             const rs_token_layout *tokens, const rs_precision *precision, rs_encoding **encoding,
                             rs_err *err) {
  *encoding = NULL;
  if (length == 0) return rs_fail(err, RS_DOMAIN, "a context of 0 tokens has no attention");
  rs_encoding *made = rs_alloc(1, sizeof *made, err);
  if (made == NULL) return RS_MEMORY;
  made->length = length;
  if (precision != NULL) made->precision = *precision;
  rs_status status = fill_tables(made, recipe, model, tokens, err);
  if (status == RS_OK)
    *encoding = made;
  else
    rs_encoding_free(made);
  return status;
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
  free(encoding->bias_table);
  free(encoding->embed_table);
  free(encoding->embed_row);
  free(encoding->ladder_share);
  free(encoding->steps);
  rs_token_layout_clear(&encoding->tokens);
  rs_settings_clear(&encoding->settings);
  free(encoding);
}
