/* The answer to one question, as JSON. */
#include "explore.h"

#include <stdlib.h>

static void write_model(const rs_asked *asked, rs_json *json) {
  const rs_model *model = &asked->model;
  const rs_profile *profile = rs_asked_profile(asked);
  rs_text seen = {0};
  rs_layer_kind_write_mask(&profile->kinds[asked->kind], &seen);
  rs_json_object(json, "model");
  rs_json_string(json, "name", model->name);
  rs_json_string(json, "layers", rs_profile_mixed(profile) ? profile->kinds[asked->kind].name : NULL);
  rs_json_string(json, "sees", rs_text_string(&seen));
  rs_json_number(json, "heads", (double)model->heads);
  rs_json_number(json, "head_dim", (double)model->head_dim);
  rs_json_number(json, "rotary_dim", (double)model->rotary_dim);
  rs_json_number(json, "rope_theta", model->rope_theta);
  rs_json_number(json, "train_length", (double)model->train_length);
  rs_json_number(json, "max_length", (double)model->max_length);
  rs_json_string(json, "publishes", model->published.method != NULL ? model->published.method->name : NULL);
  rs_json_end(json);
  json->text->failed |= seen.failed;
  rs_text_clear(&seen);
}

/* Every parameter that has a value, as it acts; `given`: the query says it. */
static void write_params(const rs_recipe *recipe, rs_json *json) {
  rs_text value = {0};
  rs_json_array(json, "parameters");
  for (size_t p = 0; p < recipe->settings.count; p++) {
    if (!recipe->settings.values[p].set) continue;
    value.length = 0;
    rs_value_write(recipe->settings.params[p], &recipe->settings.values[p], &value);
    rs_json_object(json, NULL);
    rs_json_string(json, "name", recipe->settings.params[p]->name);
    rs_json_string(json, "value", rs_text_string(&value));
    rs_json_bool(json, "given", recipe->settings.values[p].given);
    rs_json_end(json);
  }
  rs_json_end(json);
  json->text->failed |= value.failed;
  rs_text_clear(&value);
}

static rs_status write_fragment(const rs_asked *asked, rs_json *json, rs_err *err) {
  rs_text text = {0};
  rs_status status = rs_asked_fragment(asked, &text, err);
  if (status == RS_OK) rs_json_string(json, "fragment", text.length > 0 ? rs_text_string(&text) : NULL);
  json->text->failed |= text.failed;
  rs_text_clear(&text);
  return status;
}

static void write_words(const rs_asked *asked, rs_json *json) {
  rs_text text = {0};
  rs_recipe_write(&asked->recipe, &text);
  rs_json_string(json, "recipe", rs_text_string(&text));
  text.length = 0;
  rs_asked_command(asked, &text);
  rs_json_string(json, "command", rs_text_string(&text));
  text.length = 0;
  rs_asked_config(asked, &text);
  rs_json_string(json, "config", rs_text_string(&text));
  text.length = 0;
  rs_recipe_warn(&asked->recipe, NULL, &asked->model, asked->length, NULL, &text);
  rs_json_string(json, "warning", text.length > 0 ? rs_text_string(&text) : NULL);
  json->text->failed |= text.failed;
  rs_text_clear(&text);
}

static rs_status write_answer(const rs_asked *asked, const rs_encoding *encoding, rs_json *json, rs_err *err) {
  rs_json_object(json, NULL);
  rs_json_string(json, "method", asked->recipe.method->name);
  rs_json_number(json, "length_tokens", (double)asked->length);
  rs_json_number(json, "trained_tokens", encoding->train_length);
  rs_json_number(json, "rotary_dim", (double)encoding->rotary_dim);
  rs_json_number(json, "scale", encoding->scale);
  write_words(asked, json);
  RS_TRY(write_fragment(asked, json, err));
  write_model(asked, json);
  write_params(&asked->recipe, json);
  RS_TRY(rs_curves_write(asked, encoding, json, err));
  rs_json_end(json);
  return rs_text_check(json->text, err);
}

static rs_status answer(const rs_asked *asked, rs_text *text, rs_err *err) {
  rs_json json = {.text = text};
  rs_encoding *encoding = NULL;
  size_t *keys = NULL, count = 0;
  rs_status status = rs_explored_keys(asked->length, &keys, &count, err);
  if (status == RS_OK)
    status = rs_encoding_create_for(&asked->recipe, &asked->model, asked->length, keys, count, &encoding, err);
  if (status == RS_OK) status = write_answer(asked, encoding, &json, err);
  rs_encoding_free(encoding);
  free(keys);
  return status;
}

rs_status rs_explore_answer(const rs_explorer *explorer, const char *text, rs_text *json, rs_err *err) {
  rs_query query;
  rs_asked asked;
  RS_TRY(rs_query_read(text, &query, err));
  rs_status status = rs_asked_read(explorer, &query, &asked, err);
  if (status == RS_OK) {
    status = answer(&asked, json, err);
    rs_asked_clear(&asked);
  }
  if (status != RS_OK) rs_text_clear(json);
  rs_query_clear(&query);
  return status;
}

void rs_explore_error(const rs_err *err, rs_text *text) {
  rs_json json = {.text = text};
  bool named = err->subject[0] != '\0';
  rs_text message = {0};
  rs_text_printf(&message, "%s%s%s", err->subject, named ? ": " : "", err->message);
  rs_json_object(&json, NULL);
  rs_json_string(&json, "error", rs_text_string(&message));
  rs_json_string(&json, "parameter", named ? err->subject : NULL);
  rs_json_end(&json);
  rs_text_clear(&message);
}
