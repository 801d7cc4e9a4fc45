/* ropescope show layers: a model layer by layer, a line for each kind. */
#include "cli.h"

#include <math.h>

void cli_note_doubt(const cli_options *options, const rs_profile *profile) {
  if (profile->doubt != NULL) cli_note(options, "warning: %s", profile->doubt);
}

void cli_note_layers(const cli_options *options, const rs_profile *profile, size_t kind) {
  RS_OWNED(rs_text) text = {0};
  if (profile->kind_count == 0 || !rs_profile_mixed(profile)) return;
  rs_profile_write_choice(profile, kind, &text);
  cli_note(options, "this is %s; --layers chooses", rs_text_string(&text));
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

static bool turns(const rs_layer_kind *kind) {
  const rs_method *method = kind->model.published.method;
  return kind->attends && method != NULL && method->freq != NULL;
}

/* With what the geometry says of it. */
static void put_recipe(const rs_layer_kind *kind, rs_text *text) {
  RS_OWNED(rs_recipe) recipe = {0};
  bool copied = rs_recipe_copy(&recipe, &kind->model.published, NULL) == RS_OK;
  if (copied && recipe.method == NULL)
    rs_text_puts(text, "no published recipe");
  else if (copied && rs_recipe_resolve(&recipe, &kind->model, NULL) == RS_OK)
    rs_recipe_write(&recipe, text);
  else
    text->failed = true;
}

/* Of the dims that the ladder is made for, those whose frequency is 0 do not turn (Gemma 4). */
static size_t turning_dims(const rs_layer_kind *kind) {
  const rs_model *model = &kind->model;
  RS_OWNED(rs_recipe) recipe = {0};
  RS_OWNED(rs_spectrum) spectrum = {0};
  size_t dims = model->rotary_dim, still = 0, length = model->train_length > 0 ? model->train_length : 1;
  rs_status status = rs_recipe_copy(&recipe, &model->published, NULL);
  if (status == RS_OK) status = rs_recipe_resolve(&recipe, model, NULL);
  if (status == RS_OK) status = rs_spectrum_make(&recipe, model, length, &spectrum, NULL);
  for (size_t j = 0; status == RS_OK && j < spectrum.pairs; j++) still += spectrum.omega[j] == 0;
  if (status == RS_OK) dims = 2 * (spectrum.pairs - still);
  return dims;
}

void show_put_kind(const rs_profile *profile, size_t k, rs_text *text) {
  const rs_layer_kind *kind = &profile->kinds[k];
  rs_profile_write_layers(profile, k, text);
  rs_text_printf(text, ": %s, ", kind->name);
  if (!kind->attends) {
    rs_text_puts(text, "no attention");
    return;
  }
  rs_layer_kind_write_mask(kind, text);
  rs_text_puts(text, ", ");
  put_recipe(kind, text);
  if (turns(kind)) {
    rs_text_puts(text, ", base ");
    rs_text_number(text, kind->model.rope_theta);
    rs_text_printf(text, ", %zu of %zu dims turn", turning_dims(kind), kind->model.head_dim);
  }
}

static void put_text(const rs_profile *profile, rs_text *text) {
  size_t line = text->length;
  rs_text_puts(text, profile->kinds[profile->chosen].model.name);
  if (profile->counted) rs_text_printf(text, ", %zu layers", profile->layer_count);
  rs_text_end_line(text, line);
  for (size_t k = 0; k < profile->kind_count; k++) {
    show_put_kind(profile, k, text);
    rs_text_puts(text, "\n");
  }
}

/* ---- for other programs ------------------------------------------------------------------------------------------ */

static const char *const mask_words[] = {[RS_CAUSAL] = "causal",
                                         [RS_BIDIRECTIONAL] = "bidirectional",
                                         [RS_WINDOW] = "window",
                                         [RS_WINDOW_SINKS] = "window with sinks",
                                         [RS_CROSS] = "cross attention",
                                         [RS_CHUNKS] = "chunks",
                                         [RS_BAND] = "band"};

static const char *mask_word(const rs_layer_kind *kind) {
  return !kind->attends ? "no attention" : kind->chooses ? "chosen keys" : mask_words[kind->mask.kind];
}

static double number_or_none(size_t number) {
  return number > 0 ? (double)number : NAN;
}

static void add_fields(rs_doc *in, const rs_layer_kind *kind) {
  rs_text recipe = {0};
  if (kind->attends) put_recipe(kind, &recipe);
  const char *words = rs_doc_keep(in, &recipe);
  rs_doc_put(in, DOC_NUMBER("window_tokens", number_or_none(kind->mask.window)),
             DOC_NUMBER("compression", number_or_none(kind->compression)));
  if (kind->chooses) rs_doc_put(in, DOC_NUMBER("chosen_keys", number_or_none(kind->chosen * kind->block)));
  rs_doc_put(in, DOC_NUMBER("head_dim", number_or_none(kind->model.head_dim)),
             DOC_NUMBER("rotary_dim", turns(kind) ? (double)kind->model.rotary_dim : NAN),
             DOC_NUMBER("rope_theta", turns(kind) ? kind->model.rope_theta : NAN),
             DOC_WORDS("recipe", kind->attends ? words : NULL));
}

/* A row for each layer. */
static void put_csv(const rs_profile *profile, rs_arena *arena, rs_text *csv) {
  static const rs_doc_column columns[] = {{.key = "layer"},         {.key = "kind"},        {.key = "mask"},
                                          {.key = "window_tokens"}, {.key = "compression"}, {.key = "head_dim"},
                                          {.key = "rotary_dim"},    {.key = "rope_theta"},  {.key = "recipe"}};
  rs_doc *rows = rs_doc_new(arena, RS_DOC_ARRAY);
  for (size_t i = 0; i < profile->layer_count; i++) {
    const rs_layer_kind *kind = &profile->kinds[profile->layers[i]];
    rs_doc *row = rs_doc_add(rows, NULL, RS_DOC_OBJECT);
    rs_doc_put(row, DOC_NUMBER("layer", i), DOC_WORDS("kind", kind->name), DOC_WORDS("mask", mask_word(kind)));
    add_fields(row, kind);
  }
  rs_doc_csv(rows, columns, RS_COUNT(columns), csv);
}

/* An object for each kind. */
static void put_json(const rs_profile *profile, rs_arena *arena, rs_text *text) {
  rs_doc *doc = rs_doc_new(arena, RS_DOC_OBJECT);
  rs_doc_put(doc, DOC_WORDS("table", "layers"), DOC_WORDS("model", profile->kinds[profile->chosen].model.name),
             DOC_FLAG("counted", profile->counted));
  rs_doc *kinds = rs_doc_add(doc, "kinds", RS_DOC_ARRAY);
  for (size_t k = 0; k < profile->kind_count; k++) {
    const rs_layer_kind *kind = &profile->kinds[k];
    rs_doc *in = rs_doc_add(kinds, NULL, RS_DOC_OBJECT);
    rs_doc_put(in, DOC_WORDS("kind", kind->name));
    rs_doc *layers = rs_doc_add(in, "layers", RS_DOC_LIST);
    for (size_t i = 0; i < profile->layer_count; i++)
      if (profile->layers[i] == k) rs_doc_put(layers, DOC_NUMBER(NULL, i));
    rs_doc_put(in, DOC_FLAG("chosen", k == profile->chosen), DOC_WORDS("mask", kind->attends ? mask_word(kind) : NULL));
    add_fields(in, kind);
  }
  rs_doc_json(doc, text);
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

/* What would have no effect. */
static const char *idle_option(const cli_options *options) {
  return options->method != NULL    ? "--method"
         : options->layers != NULL  ? "--layers"
         : options->length > 0      ? "--length"
         : options->edits.count > 0 ? "--set"
                                    : NULL;
}

int show_layers(const cli_options *options) {
  const rs_subject_in in = {.hf = options->hf, .hf_text = options->hf_text, .preset = options->model};
  RS_OWNED(rs_profile) profile = {0};
  RS_OWNED(rs_arena) arena = {0};
  rs_text text = {0};
  rs_err err = {0};
  size_t kind;
  if (in.hf == NULL && in.preset == NULL)
    return cli_error("show layers needs a model: --hf FILE (a config.json or its folder) or --model PRESET");
  if (idle_option(options) != NULL)
    return cli_error("%s has no effect on show layers: it shows what the model publishes, of all layers",
                     idle_option(options));
  rs_status status = rs_subject_profile(&in, &profile, &kind, &err);
  if (status != RS_OK) return cli_fail(status, NULL, &err);
  if (options->json)
    put_json(&profile, &arena, &text);
  else if (options->csv)
    put_csv(&profile, &arena, &text);
  else
    put_text(&profile, &text);
  text.failed |= arena.failed;
  int code = cli_put(&text, options->csv || options->json ? CLI_DATA : CLI_TEXT);
  if (code == CLI_OK) cli_note_doubt(options, &profile);
  return code;
}
