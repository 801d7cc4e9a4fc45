/* How to get the same again: a command, a config, and keys of a config.json, where such keys say it: each fragment is
 * read back before it is given. */
#include "explore.h"

#include "advice/advice.h"

#include <stdio.h>
#include <string.h>

const char *const rs_explored_metrics[] = {"frequencies", "ood_angles", "decay", NULL};

/* The recipe as it was given: "{name: yarn, factor: 8}". What a model publishes or a default is, is not written. */
static void put_given(const rs_recipe *given, rs_text *text) {
  rs_text_printf(text, "{name: %s", given->method->name);
  for (size_t p = 0; p < given->settings.count; p++) {
    if (!given->settings.values[p].given) continue;
    rs_text_printf(text, ", %s: ", given->settings.params[p]->name);
    rs_value_write(given->settings.params[p], &given->settings.values[p], text);
  }
  rs_text_puts(text, "}");
}

/* The model as a config names it. */
static void put_model(const rs_asked *asked, rs_text *text) {
  if (asked->preset != NULL && asked->layers == NULL && !asked->narrowed) {
    rs_text_puts(text, asked->preset);
    return;
  }
  if (asked->preset != NULL) {
    rs_text_printf(text, "{preset: %s", asked->preset);
  } else {
    rs_text_puts(text, "{hf: ");
    rs_text_quote(text, asked->explorer->piped ? "config.json" : asked->explorer->hf);
  }
  if (asked->layers != NULL) rs_text_printf(text, ", layers: %s", asked->layers);
  if (asked->narrowed)
    rs_text_printf(text, ", head_dim: %zu, rotary_dim: %zu", asked->model.head_dim, asked->model.rotary_dim);
  rs_text_puts(text, "}");
}

static const char *shown_table(const rs_method *method) {
  if (method->freq != NULL) return "frequencies";
  if (method->bias != NULL) return method->bias->slope != NULL ? "slopes" : "bias";
  return method->embed != NULL ? "embedding" : "scale";
}

/* A model with numbers of its own is said by a config's keys. */
static void put_set(const rs_asked *asked, rs_text *text) {
  RS_OWNED(rs_text) word = {0};
  rs_text_puts(&word, "model=");
  put_model(asked, &word);
  rs_text_puts(text, " --set ");
  rs_text_shell(text, rs_text_string(&word));
  word.length = 0;
  rs_text_puts(&word, "methods=[");
  put_given(&asked->given, &word);
  rs_text_puts(&word, "]");
  rs_text_puts(text, " --set ");
  rs_text_shell(text, rs_text_string(&word));
  text->failed |= word.failed;
}

static void put_options(const rs_asked *asked, rs_text *text) {
  RS_OWNED(rs_text) recipe = {0};
  const rs_explorer *explorer = asked->explorer;
  rs_text_puts(text, asked->preset != NULL ? " --model " : " --hf ");
  rs_text_shell(text, asked->preset != NULL ? asked->preset : explorer->piped ? "-" : explorer->hf);
  if (asked->layers != NULL) {
    rs_text_puts(text, " --layers ");
    rs_text_shell(text, asked->layers);
  }
  put_given(&asked->given, &recipe);
  rs_text_puts(text, " --method ");
  rs_text_shell(text, rs_text_string(&recipe));
  text->failed |= recipe.failed;
}

void rs_asked_command(const rs_asked *asked, rs_text *text) {
  rs_text_printf(text, "ropescope show %s", shown_table(asked->given.method));
  if (asked->narrowed)
    put_set(asked, text);
  else
    put_options(asked, text);
  rs_text_printf(text, " --length %zu", asked->length);
}

void rs_asked_config(const rs_asked *asked, rs_text *text) {
  rs_text_puts(text, "model: ");
  put_model(asked, text);
  rs_text_printf(text, "\nlengths: [%zu]\nmethods:\n  - ", asked->length);
  put_given(&asked->given, text);
  rs_text_puts(text, "\nmetrics: [");
  for (size_t i = 0; rs_explored_metrics[i] != NULL; i++)
    rs_text_printf(text, "%s%s", i > 0 ? ", " : "", rs_explored_metrics[i]);
  rs_text_puts(text, "]\n");
}

/* ---- keys -------------------------------------------------------------------------------------------------------- */

static const double rounding = 1e-9;

/* The model with these frequencies as its own. */
static rs_status settle(const rs_asked *asked, const rs_recipe *recipe, double theta, rs_model *model, rs_err *err) {
  RS_TRY(rs_model_copy(model, &asked->model, err));
  rs_recipe_clear(&model->published);
  const rs_value *rotary = rs_setting(&asked->recipe.settings, "rotary_dim");
  model->rope_theta = theta;
  model->train_length = (size_t)rs_recipe_train_length(&asked->recipe, &asked->model);
  if (rotary->set) model->rotary_dim = (size_t)rotary->number;
  if (model->max_length < asked->length) model->max_length = asked->length;
  return rs_recipe_copy(&model->published, recipe, err);
}

static rs_status convert(const rs_model *model, size_t length, rs_conversion *out, rs_err *err) {
  size_t layer = 0;
  rs_layer_kind kind = {.name = "full_attention", .attends = true, .model = *model};
  const rs_convertible from = {
      .profile = {.kinds = &kind, .kind_count = 1, .layers = &layer, .layer_count = 1, .counted = true}};
  return rs_convert(&from, "hf5", length, out, err);
}

/* Whether the pairs of both turn alike; which dims are a pair is the class's to know. */
static rs_status compare_at(const rs_asked *asked, const rs_model *read, size_t length, bool *same, rs_err *err) {
  RS_OWNED(rs_recipe) recipe = {0};
  RS_OWNED(rs_spectrum) shown = {0}, said = {0};
  RS_TRY(rs_spectrum_make(&asked->recipe, &asked->model, length, &shown, err));
  RS_TRY(rs_recipe_copy(&recipe, &read->published, err));
  RS_TRY(rs_recipe_resolve(&recipe, read, err));
  RS_TRY(rs_spectrum_make(&recipe, read, length, &said, err));
  *same = (rs_spectrum_compare(&shown, &said, rounding).differs & ~(unsigned)RS_DIFFERS_LAYOUT) == 0;
  return RS_OK;
}

/* Whether a file that has the keys, and the model's geometry before them, reads as asked: at the length, and at the
 * trained one, where dynamic rules are others. */
static rs_status read_back(const rs_asked *asked, const rs_model *model, const char *fragment, bool *same,
                           rs_err *err) {
  RS_OWNED(rs_text) text = {0};
  RS_OWNED(rs_model) read = {0};
  *same = false;
  rs_text_printf(&text, "{\"num_attention_heads\": %zu, \"head_dim\": %zu, \"num_hidden_layers\": 1,%s", model->heads,
                 model->head_dim, strchr(fragment, '{') + 1);
  rs_status status = rs_text_check(&text, err);
  if (status == RS_OK) status = rs_hf_model_read(rs_text_string(&text), text.length, "config.json", &read, err);
  if (status != RS_OK) return status;
  status = compare_at(asked, &read, asked->length, same, err);
  if (status == RS_OK && *same && model->train_length > 0)
    status = compare_at(asked, &read, model->train_length, same, err);
  return status;
}

/* Adds the keys of this recipe at this base, where they say what is shown. */
static rs_status try_recipe(const rs_asked *asked, const rs_recipe *recipe, double theta, rs_text *text, bool *same,
                            rs_err *err) {
  RS_OWNED(rs_model) model = {0};
  RS_OWNED(rs_conversion) out = {0};
  RS_TRY(settle(asked, recipe, theta, &model, err));
  RS_TRY(convert(&model, asked->length, &out, err));
  RS_TRY(read_back(asked, &model, out.fragment, same, err));
  if (*same) rs_text_puts(text, out.fragment);
  return RS_OK;
}

/* To the digits that frequencies tell. */
static double round_base(double base) {
  char digits[32];
  double rounded;
  snprintf(digits, sizeof digits, "%.12g", base);
  return rs_number_read(digits, &rounded) ? rounded : base;
}

/* The recipe by its own keys, else plain RoPE at a base that makes the same table. */
static rs_status find_keys(const rs_asked *asked, rs_text *text, rs_err *err) {
  bool same = false;
  RS_OWNED(rs_spectrum) spectrum = {0};
  RS_OWNED(rs_recipe) plain = {0};
  const rs_value *theta = rs_setting(&asked->recipe.settings, "rope_theta");
  rs_err why = {0};
  rs_status status =
      try_recipe(asked, &asked->given, theta->set ? theta->number : asked->model.rope_theta, text, &same, &why);
  if (status == RS_MEMORY) return rs_fail(err, RS_MEMORY, "%s", why.message);
  if (same) return RS_OK;
  RS_TRY(rs_spectrum_make(&asked->recipe, &asked->model, asked->length, &spectrum, err));
  double base = round_base(rs_spectrum_base(&spectrum));
  if (!(base > 1)) return RS_OK;
  RS_TRY(rs_recipe_init(&plain, rs_method_find("rope"), err));
  status = try_recipe(asked, &plain, base, text, &same, &why);
  return status == RS_MEMORY ? rs_fail(err, RS_MEMORY, "%s", why.message) : RS_OK;
}

rs_status rs_asked_fragment(const rs_asked *asked, rs_text *text, rs_err *err) {
  rs_err why = {0};
  if (asked->recipe.method->freq == NULL) return RS_OK;
  rs_status status = find_keys(asked, text, &why);
  return status == RS_MEMORY ? rs_fail(err, RS_MEMORY, "%s", why.message) : RS_OK;
}
