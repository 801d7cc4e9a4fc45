/* Recipes: one method on the layers of one model, what there is to say of it, and what it is at one length: numbers of
 * its encoding, copied out. */
#include "api.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is asked for ------------------------------------------------------------------------------------------- */

static rs_status read_subject(const ropescope_library *library, const ropescope_recipe_source *source,
                              rs_subject *subject, rs_problems *problems, rs_err *err) {
  static const char *const keys[] = {"tokens", "precision"};
  const char *values[] = {source->tokens, source->precision}, *list[RS_COUNT(keys)];
  const rs_method_list beside = rs_api_methods(library);
  rs_arena words = {0}; /* of the edits, "tokens=..." */
  size_t edits = 0;
  const char *name = NULL;
  for (size_t i = 0; i < RS_COUNT(keys); i++) {
    rs_text edit = {0};
    if (values[i] == NULL) continue;
    rs_text_printf(&edit, "%s=%s", keys[i], values[i]);
    list[edits++] = rs_api_keep(&words, &edit, err);
  }
  rs_status status = rs_arena_check(&words, err);
  if (status == RS_OK) status = rs_api_model_name(source->file, source->text, &words, &name, err);
  const rs_subject_in in = {.hf = name,
                            .hf_text = source->text,
                            .preset = source->preset,
                            .layers = source->layers,
                            .method = source->method,
                            .label = "method",
                            .fallback = "rope",
                            .edits = {.edits = list, .count = edits, .beside = &beside},
                            .length = source->length};
  if (status == RS_OK) status = rs_subject_read(&in, subject, problems, err);
  rs_arena_clear(&words);
  return status;
}

/* ---- what there is to say ---------------------------------------------------------------------------------------- */

static rs_status list_parameters(ropescope_recipe *recipe, rs_err *err) {
  const rs_settings *settings = &recipe->subject.recipe.settings;
  recipe->parameters = rs_arena_take(&recipe->arena, settings->count, sizeof *recipe->parameters);
  RS_TRY(rs_arena_check(&recipe->arena, err));
  recipe->parameter_count = settings->count;
  for (size_t p = 0; p < settings->count; p++) {
    const rs_param *param = settings->params[p];
    rs_text value = {0};
    if (settings->values[p].set) rs_value_write(param, &settings->values[p], &value);
    recipe->parameters[p] = (ropescope_parameter){.name = param->name,
                                                  .value = rs_api_keep(&recipe->arena, &value, err),
                                                  .unit = param->unit,
                                                  .summary = param->summary,
                                                  .given = settings->values[p].given};
  }
  return RS_OK;
}

static void describe_kind(ropescope_recipe *recipe, size_t index, rs_err *err) {
  const rs_profile *profile = &recipe->subject.profile;
  const rs_layer_kind *kind = &profile->kinds[index];
  const rs_method *method = kind->model.published.method;
  rs_text layers = {0}, sees = {0};
  rs_profile_write_layers(profile, index, &layers);
  if (kind->attends) rs_layer_kind_write_mask(kind, &sees);
  ropescope_layer_kind *out = &recipe->kinds[index];
  *out = (ropescope_layer_kind){.name = kind->name,
                                .layers = rs_api_keep(&recipe->arena, &layers, err),
                                .sees = rs_api_keep(&recipe->arena, &sees, err),
                                .method = kind->attends && method != NULL ? method->name : "",
                                .attends = kind->attends,
                                .chosen = index == recipe->subject.kind};
  for (size_t l = 0; l < profile->layer_count; l++) out->count += profile->layers[l] == index;
}

static rs_status describe(ropescope_recipe *recipe, rs_err *err) {
  const rs_subject *subject = &recipe->subject;
  rs_text text = {0}, warning = {0};
  rs_recipe_write(&subject->recipe, &text);
  rs_recipe_warn(&subject->recipe, NULL, &subject->model, subject->length, &subject->tokens, &warning);
  recipe->text = rs_api_keep(&recipe->arena, &text, err);
  recipe->warning = rs_api_keep(&recipe->arena, &warning, err);
  RS_TRY(list_parameters(recipe, err));
  recipe->kinds = rs_arena_take(&recipe->arena, subject->profile.kind_count, sizeof *recipe->kinds);
  RS_TRY(rs_arena_check(&recipe->arena, err));
  recipe->kind_count = subject->profile.kind_count;
  for (size_t k = 0; k < recipe->kind_count; k++) describe_kind(recipe, k, err);
  return rs_arena_check(&recipe->arena, err);
}

/* ---- recipes ----------------------------------------------------------------------------------------------------- */

ropescope_status ropescope_recipe_create(const ropescope_library *library, const ropescope_recipe_source *source,
                                         ropescope_recipe **recipe, ropescope_error **error) {
  rs_problems problems = {0};
  rs_err err = {0};
  *recipe = rs_alloc(1, sizeof **recipe, &err);
  rs_status status = *recipe != NULL ? rs_api_model_check(source, &err) : RS_MEMORY;
  if (status == RS_OK) status = read_subject(library, source, &(*recipe)->subject, &problems, &err);
  if (status == RS_OK) status = describe(*recipe, &err);
  return RS_API_END(status, recipe, ropescope_recipe_free, error, &err, &problems);
}

void ropescope_recipe_free(ropescope_recipe *recipe) {
  if (recipe == NULL) return;
  rs_subject_clear(&recipe->subject);
  rs_arena_clear(&recipe->arena);
  free(recipe);
}

RS_API_GET(const char *, ropescope_recipe_model, recipe, recipe->subject.model.name);
RS_API_GET(const char *, ropescope_recipe_method, recipe, recipe->subject.recipe.method->name);
RS_API_GET(const char *, ropescope_recipe_text, recipe, recipe->text);
RS_API_GET(const char *, ropescope_recipe_warning, recipe, recipe->warning);

/* A parameter that stands in the place of the model's number. */
static double own_number(const ropescope_recipe *recipe, const char *name, double of_model) {
  const rs_value *own = rs_setting(&recipe->subject.recipe.settings, name);
  return own->set ? own->number : of_model;
}

RS_API_GET(size_t, ropescope_recipe_heads, recipe, recipe->subject.model.heads);
RS_API_GET(size_t, ropescope_recipe_head_dim, recipe, recipe->subject.model.head_dim);

size_t ropescope_recipe_rotary_dim(const ropescope_recipe *recipe) {
  if (recipe->subject.recipe.method->freq == NULL) return 0;
  return (size_t)own_number(recipe, "rotary_dim", (double)recipe->subject.model.rotary_dim);
}

RS_API_GET(size_t, ropescope_recipe_length, recipe, recipe->subject.length);
RS_API_GET(size_t, ropescope_recipe_train_length, recipe,
           (size_t)rs_recipe_train_length(&recipe->subject.recipe, &recipe->subject.model));
RS_API_GET(size_t, ropescope_recipe_max_length, recipe, recipe->subject.model.max_length);
RS_API_GET(double, ropescope_recipe_theta, recipe, own_number(recipe, "rope_theta", recipe->subject.model.rope_theta));

int ropescope_recipe_interleaved(const ropescope_recipe *recipe) {
  const rs_value *own = rs_setting(&recipe->subject.recipe.settings, "pair_layout");
  rs_pair_layout layout = own->set ? (rs_pair_layout)own->choice : recipe->subject.model.pair_layout;
  return layout == RS_INTERLEAVED;
}

RS_API_AT(const ropescope_parameter *, ropescope_recipe_parameter, recipe, recipe->parameter_count,
          &recipe->parameters[index]);

const ropescope_layer_kind *ropescope_recipe_layer_kind(const ropescope_recipe *recipe, size_t index) {
  return index < recipe->kind_count ? &recipe->kinds[index] : NULL;
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

struct ropescope_tables {
  rs_encoding *encoding;
  double logit_factor;
};

/* Also what the frequencies put on the logits. */
static rs_status fill(const rs_subject *subject, size_t length, ropescope_tables *tables, rs_err *err) {
  RS_TRY(rs_encoding_create(&subject->recipe, &subject->model, length > 0 ? length : subject->length, &subject->tokens,
                            &subject->precision, &tables->encoding, err));
  const rs_encoding *encoding = tables->encoding;
  tables->logit_factor = 1;
  if (encoding->method->freq == NULL) return RS_OK;
  rs_freq_out out = {.omega = rs_alloc(encoding->rotary_dim / 2, sizeof(double), err)};
  if (out.omega == NULL) return RS_MEMORY;
  rs_status status = rs_frequencies_at(encoding, &subject->model, encoding->length, &out, err);
  tables->logit_factor = out.logit_factor;
  free(out.omega);
  return status;
}

ropescope_status ropescope_tables_create(const ropescope_recipe *recipe, size_t length, ropescope_tables **tables,
                                         ropescope_error **error) {
  rs_err err = {0};
  *tables = rs_alloc(1, sizeof **tables, &err);
  rs_status status = *tables != NULL ? fill(&recipe->subject, length, *tables, &err) : RS_MEMORY;
  return RS_API_END(status, tables, ropescope_tables_free, error, &err, NULL);
}

void ropescope_tables_free(ropescope_tables *tables) {
  if (tables == NULL) return;
  rs_encoding_free(tables->encoding);
  free(tables);
}

/* ---- sizes and numbers ------------------------------------------------------------------------------------------- */

RS_API_GET(size_t, ropescope_tables_length, tables, tables->encoding->length);
RS_API_GET(size_t, ropescope_tables_pairs, tables, tables->encoding->rotary_dim / 2);
RS_API_GET(size_t, ropescope_tables_axes, tables, tables->encoding->axes);
RS_API_GET(size_t, ropescope_tables_views, tables, tables->encoding->views);
RS_API_GET(size_t, ropescope_tables_heads, tables, tables->encoding->heads);
RS_API_GET(size_t, ropescope_tables_width, tables, tables->encoding->width);
RS_API_GET(double, ropescope_tables_attention_factor, tables, tables->encoding->amp);
RS_API_GET(double, ropescope_tables_logit_factor, tables, tables->logit_factor);
RS_API_GET(double, ropescope_tables_scale, tables, tables->encoding->scale);
RS_API_GET(int, ropescope_tables_has_bias, tables, tables->encoding->method->bias != NULL);
RS_API_GET(int, ropescope_tables_has_embedding, tables, tables->encoding->method->embed != NULL);

/* ---- copies ------------------------------------------------------------------------------------------------------ */

size_t ropescope_tables_inv_freq(const ropescope_tables *tables, double *out, size_t capacity) {
  return rs_api_copy(tables->encoding->omega, tables->encoding->rotary_dim / 2, out, capacity);
}

size_t ropescope_tables_axis(const ropescope_tables *tables, int *out, size_t capacity) {
  const rs_encoding *encoding = tables->encoding;
  size_t pairs = encoding->rotary_dim / 2;
  if (out == NULL || capacity < pairs) return pairs;
  for (size_t j = 0; j < pairs; j++) out[j] = encoding->own_places ? -1 : encoding->axis[j];
  return pairs;
}

size_t ropescope_tables_positions(const ropescope_tables *tables, ropescope_side side, size_t view, double *out,
                                  size_t capacity) {
  const rs_encoding *encoding = tables->encoding;
  if (view >= encoding->views) return 0;
  const double *positions = side == ROPESCOPE_QUERY ? encoding->pos_q[view] : encoding->pos_k[view];
  return rs_api_copy(positions, encoding->length * encoding->axes, out, capacity);
}

size_t ropescope_tables_logit_scale(const ropescope_tables *tables, double *out, size_t capacity) {
  return rs_api_copy(tables->encoding->logit_scale, tables->encoding->length, out, capacity);
}

size_t ropescope_tables_slopes(const ropescope_tables *tables, double *out, size_t capacity) {
  const rs_encoding *encoding = tables->encoding;
  if (encoding->method->bias == NULL || encoding->method->bias->slope == NULL) return 0;
  for (size_t h = 0; h < encoding->heads && out != NULL && capacity >= encoding->heads; h++)
    out[h] = rs_encoding_slope(encoding, h);
  return encoding->heads;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* RS_INPUT unless `value` < `count`. */
static rs_status check_index(const char *what, size_t value, size_t count, rs_err *err) {
  if (value < count) return RS_OK;
  return rs_fail_on(err, RS_INPUT, what, "is %zu where there are %zu", value, count);
}

static rs_status check_tokens(const rs_encoding *encoding, size_t begin, size_t end, rs_err *err) {
  if (begin <= end && end <= encoding->length) return RS_OK;
  return rs_fail(err, RS_INPUT, "tokens %zu to %zu are not among %zu", begin, end, encoding->length);
}

/* Where one of both is not wanted it is made all the same. */
static rs_status fill_turns(const rs_encoding *encoding, rs_side side, size_t view, size_t begin, size_t end,
                            double *cosine, double *sine, rs_err *err) {
  size_t count = (end - begin) * (encoding->rotary_dim / 2);
  RS_FREED double *spare = cosine == NULL || sine == NULL ? rs_alloc(count, sizeof *spare, err) : NULL;
  if ((cosine == NULL || sine == NULL) && spare == NULL) return RS_MEMORY;
  if (cosine != NULL || sine != NULL)
    rs_encoding_turns(encoding, side, view, begin, end, cosine != NULL ? cosine : spare, sine != NULL ? sine : spare);
  return RS_OK;
}

ropescope_status ropescope_tables_cos_sin(const ropescope_tables *tables, ropescope_side side, size_t view, size_t head,
                                          size_t begin, size_t end, double *cosine, double *sine,
                                          ropescope_error **error) {
  const rs_encoding *encoding = tables->encoding;
  rs_err err = {0};
  (void)check_index("view", view, encoding->views, &err);
  (void)check_index("head", head, encoding->heads, &err);
  (void)check_tokens(encoding, begin, end, &err);
  if (err.status == RS_OK && begin < end && encoding->rotary_dim > 0) {
    const rs_encoding of_head = rs_encoding_of_head(encoding, head);
    (void)fill_turns(&of_head, side == ROPESCOPE_QUERY ? RS_QUERY_SIDE : RS_KEY_SIDE, view, begin, end, cosine, sine,
                     &err);
  }
  return rs_api_end(err.status, error, &err, NULL);
}

ropescope_status ropescope_tables_bias(const ropescope_tables *tables, size_t head, size_t query, size_t begin,
                                       size_t end, double *out, ropescope_error **error) {
  const rs_encoding *encoding = tables->encoding;
  rs_err err = {0};
  (void)check_index("head", head, encoding->heads, &err);
  (void)check_index("query", query, encoding->length, &err);
  (void)check_tokens(encoding, begin, end, &err);
  if (err.status == RS_OK && begin < end) rs_encoding_bias_row(encoding, head, query, begin, end, out);
  return rs_api_end(err.status, error, &err, NULL);
}

ropescope_status ropescope_tables_embedding(const ropescope_tables *tables, size_t begin, size_t count, double *out,
                                            ropescope_error **error) {
  const rs_encoding *encoding = tables->encoding;
  rs_err err = {0};
  if (count > encoding->length || begin > encoding->length - count)
    (void)rs_fail(&err, RS_INPUT, "%zu tokens from %zu are not among %zu", count, begin, encoding->length);
  else if (count > 0)
    (void)rs_encoding_embed(encoding, begin, count, out, &err);
  return rs_api_end(err.status, error, &err, NULL);
}
