/* The answer to one question, as JSON. Its curves are those of the metrics that runs compute. */
#include "explore.h"

#include <math.h>
#include <stdlib.h>

#include "advice/advice.h"

enum { PER_OCTAVE = 16 };

/* ---- metrics ----------------------------------------------------------------------------------------------------- */

static rs_status finish(const rs_metric_kind *metric, const rs_encoding *encoding, rs_result *result, rs_err *err) {
  rs_settings settings;
  rs_binding binding = {0};
  RS_FREED size_t *heads = rs_alloc(encoding->heads, sizeof *heads, err);
  if (heads == NULL) return RS_MEMORY;
  for (size_t h = 0; h < encoding->heads; h++) heads[h] = h;
  rs_status status = rs_settings_init_specs(&settings, metric->kind.params, metric->kind.param_count, err);
  if (status == RS_OK) {
    status = rs_binding_make(&settings, metric->kind.params, metric->kind.param_count, metric->kind.params_size,
                             &binding, err);
    const rs_metric_in in = {
        .encoding = encoding, .params = binding.fields, .heads = heads, .head_count = encoding->heads};
    if (status == RS_OK) status = metric->finish(&in, NULL, result, err);
    rs_binding_clear(&binding);
    rs_settings_clear(&settings);
  }
  return status;
}

/* ---- decay ------------------------------------------------------------------------------------------------------- */

/* What stands in the columns of the metric for single distances; the others are empty. */
enum { DISTANCE, MEAN_COSINE, BIAS = 3 };

static double mean_bias(const rs_encoding *encoding, size_t query, size_t key) {
  double total = 0, bias;
  if (encoding->method->bias == NULL) return NAN;
  for (size_t h = 0; h < encoding->heads; h++) {
    rs_encoding_bias_row(encoding, h, query, key, key + 1, &bias);
    total += bias;
  }
  return total / (double)encoding->heads;
}

static rs_status explored_keys(size_t length, size_t **keys, size_t *count, rs_err *err) {
  size_t *edges = NULL, bins = 0;
  RS_TRY(rs_log_edges(length, PER_OCTAVE, &edges, &bins, err));
  *count = bins;
  if (bins == 0 || edges[bins - 1] != length - 1) ++*count; /* edges has one more, the end of the last bin */
  *keys = rs_alloc(*count, sizeof **keys, err);
  for (size_t i = 0; *keys != NULL && i < *count; i++) (*keys)[i] = i < bins ? length - 1 - edges[i] : 0;
  free(edges);
  return *keys != NULL ? RS_OK : RS_MEMORY;
}

/* Turns that are no function of the distance are summed pair by pair, which for every distance of a long context takes
 * seconds: single distances are shown, without what lies between them. */
static rs_status sample_decay(const rs_encoding *encoding, rs_result *result, rs_err *err) {
  size_t query = encoding->length - 1, *keys = NULL, count = 0;
  rs_status status = explored_keys(encoding->length, &keys, &count, err);
  RS_FREED double *row = rs_alloc(result->curve.columns, sizeof *row, err);
  if (status == RS_OK && row == NULL) status = RS_MEMORY;
  for (size_t i = 0; status == RS_OK && i < count; i++) {
    for (size_t c = 0; c < result->curve.columns; c++) row[c] = NAN;
    row[DISTANCE] = (double)(query - keys[i]);
    if (encoding->rotary_dim > 0) row[MEAN_COSINE] = rs_encoding_mean_cosine(encoding, query, keys[i]);
    row[BIAS] = mean_bias(encoding, query, keys[i]);
    result->value[0] = row[MEAN_COSINE];
    status = rs_curve_add(&result->curve, row, err);
  }
  free(keys);
  return status;
}

/* The metric reads keys between those of the curve: it is for sums of waves, which it finds by a kernel. */
static rs_status decay(const rs_metric_kind *metric, const rs_encoding *encoding, rs_result *result, rs_err *err) {
  RS_HELD(rs_decay) waves = NULL;
  result->value[0] = NAN;
  if (encoding->rotary_dim == 0 && encoding->method->bias == NULL) return RS_OK;
  RS_TRY(rs_encoding_decay(encoding, &waves, err));
  bool wavelike = waves != NULL && encoding->method->bias == NULL;
  return wavelike ? finish(metric, encoding, result, err) : sample_decay(encoding, result, err);
}

/* ---- angles ------------------------------------------------------------------------------------------------------ */

/* Whether these layers see fewer keys than there are, and positions are not moved, so that they turn less far. */
static bool sees_less(const rs_asked *asked, const rs_encoding *encoding) {
  const rs_layer_kind *kind = &rs_asked_profile(asked)->kinds[asked->kind];
  const rs_pos_kind *pos = asked->recipe.method->pos;
  bool windowed = kind->mask.window > 0 && kind->compression == 0;
  return windowed && encoding->rotary_dim > 0 && (pos->prepare == NULL || pos->scaled);
}

/* The columns of the metric, as `explain` has them: up to the farthest key that the layers see. */
static rs_status seen_angles(const rs_asked *asked, rs_result *result, rs_err *err) {
  rs_portrait portrait = {
      .profile = *rs_asked_profile(asked), .kind = asked->kind, .model = &asked->model, .recipe = asked->recipe};
  RS_OWNED(rs_view) view = {0};
  RS_TRY(rs_view_make(&portrait, asked->length, &view, err));
  rs_status status = RS_OK;
  result->value[0] = (double)view.out_of_range;
  for (size_t j = 0; j < view.count && status == RS_OK; j++) {
    const rs_pair_view *pair = &view.pairs[j];
    double past = pair->out_of_range ? pair->reached - pair->trained : 0;
    const double row[] = {(double)j, pair->trained, pair->reached, past};
    result->value[1] = fmax(result->value[1], past);
    status = rs_curve_add(&result->curve, row, err);
  }
  return status;
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

static void write_result(const rs_metric_kind *metric, const rs_result *result, rs_json *json) {
  const rs_curve *curve = &result->curve;
  rs_json_object(json, metric->kind.name);
  rs_json_object(json, "scalars");
  for (size_t i = 0; i < metric->scalar_count; i++) rs_json_number(json, metric->scalars[i].name, result->value[i]);
  rs_json_end(json);
  rs_json_object(json, "curve");
  for (size_t c = 0; c < metric->curve_count; c++) {
    rs_json_list(json, metric->curve[c].name);
    for (size_t row = 0; row < curve->rows; row++) rs_json_number(json, NULL, curve->cells[row * curve->columns + c]);
    rs_json_end(json);
  }
  rs_json_end(json);
  rs_json_end(json);
}

static rs_status write_metric(const char *name, const rs_asked *asked, const rs_encoding *encoding, rs_json *json,
                              rs_err *err) {
  const rs_metric_kind *metric = rs_metric_find(name);
  rs_result result = {.curve.columns = metric->curve_count};
  rs_status status = metric == rs_metric_find("decay") ? decay(metric, encoding, &result, err)
                     : metric == rs_metric_find("ood_angles") && sees_less(asked, encoding)
                         ? seen_angles(asked, &result, err)
                         : finish(metric, encoding, &result, err);
  if (status == RS_OK) write_result(metric, &result, json);
  rs_curve_clear(&result.curve);
  return status;
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

/* Writes the text, of which nothing is null, and clears it. */
static void write_text(rs_json *json, const char *key, rs_text *text) {
  rs_json_string(json, key, text->length > 0 ? rs_text_string(text) : NULL);
  json->text->failed |= text->failed;
  rs_text_clear(text);
}

static void write_model(const rs_asked *asked, rs_json *json) {
  const rs_model *model = &asked->model;
  const rs_profile *profile = rs_asked_profile(asked);
  rs_text seen = {0};
  rs_layer_kind_write_mask(&profile->kinds[asked->kind], &seen);
  rs_json_object(json, "model");
  rs_json_string(json, "name", model->name);
  rs_json_string(json, "layers", rs_profile_mixed(profile) ? profile->kinds[asked->kind].name : NULL);
  write_text(json, "sees", &seen);
  rs_json_number(json, "heads", (double)model->heads);
  rs_json_number(json, "head_dim", (double)model->head_dim);
  rs_json_number(json, "rotary_dim", (double)model->rotary_dim);
  rs_json_number(json, "rope_theta", model->rope_theta);
  rs_json_number(json, "train_length", (double)model->train_length);
  rs_json_number(json, "max_length", (double)model->max_length);
  rs_json_string(json, "publishes", model->published.method != NULL ? model->published.method->name : NULL);
  rs_json_end(json);
}

/* Every parameter that has a value, as it acts; `given`: the query says it. */
static void write_params(const rs_recipe *recipe, rs_json *json) {
  rs_json_array(json, "parameters");
  for (size_t p = 0; p < recipe->settings.count; p++) {
    if (!recipe->settings.values[p].set) continue;
    rs_text value = {0};
    rs_value_write(recipe->settings.params[p], &recipe->settings.values[p], &value);
    rs_json_object(json, NULL);
    rs_json_string(json, "name", recipe->settings.params[p]->name);
    write_text(json, "value", &value);
    rs_json_bool(json, "given", recipe->settings.values[p].given);
    rs_json_end(json);
  }
  rs_json_end(json);
}

static rs_status write_words(const rs_asked *asked, rs_json *json, rs_err *err) {
  rs_text recipe = {0}, command = {0}, config = {0}, warning = {0}, fragment = {0};
  rs_recipe_write(&asked->recipe, &recipe);
  write_text(json, "recipe", &recipe);
  rs_asked_command(asked, &command);
  write_text(json, "command", &command);
  rs_asked_config(asked, &config);
  write_text(json, "config", &config);
  rs_recipe_warn(&asked->recipe, NULL, &asked->model, asked->length, NULL, &warning);
  write_text(json, "warning", &warning);
  rs_status status = rs_asked_fragment(asked, &fragment, err);
  write_text(json, "fragment", &fragment);
  return status;
}

static rs_status write_answer(const rs_asked *asked, const rs_encoding *encoding, rs_json *json, rs_err *err) {
  rs_json_object(json, NULL);
  rs_json_string(json, "method", asked->recipe.method->name);
  rs_json_number(json, "length_tokens", (double)asked->length);
  rs_json_number(json, "trained_tokens", encoding->train_length);
  rs_json_number(json, "rotary_dim", (double)encoding->rotary_dim);
  rs_json_number(json, "scale", encoding->scale);
  RS_TRY(write_words(asked, json, err));
  write_model(asked, json);
  write_params(&asked->recipe, json);
  for (const char *const *name = rs_explored_metrics; *name != NULL; name++)
    RS_TRY(write_metric(*name, asked, encoding, json, err));
  rs_json_end(json);
  return rs_text_check(json->text, err);
}

static rs_status answer(const rs_asked *asked, rs_text *text, rs_err *err) {
  rs_json json = {.text = text};
  RS_HELD(rs_encoding) encoding = NULL;
  size_t *keys = NULL, count = 0;
  rs_status status = explored_keys(asked->length, &keys, &count, err);
  if (status == RS_OK)
    status = rs_encoding_create_for(&asked->recipe, &asked->model, asked->length, keys, count, &encoding, err);
  if (status == RS_OK) status = write_answer(asked, encoding, &json, err);
  free(keys);
  return status;
}

rs_status rs_explore_answer(const rs_explorer *explorer, const rs_explore_param *params, size_t count, rs_text *json,
                            rs_err *err) {
  RS_OWNED(rs_asked) asked = {0};
  RS_TRY(rs_asked_read(explorer, params, count, &asked, err));
  rs_status status = answer(&asked, json, err);
  if (status != RS_OK) rs_text_clear(json);
  return status;
}

void rs_explore_error(const rs_err *err, rs_text *text) {
  rs_json json = {.text = text};
  bool named = err->subject[0] != '\0';
  rs_text message = {0};
  rs_text_printf(&message, "%s%s%s", err->subject, named ? ": " : "", err->message);
  rs_json_object(&json, NULL);
  write_text(&json, "error", &message);
  rs_json_string(&json, "parameter", named ? err->subject : NULL);
  rs_json_end(&json);
}
