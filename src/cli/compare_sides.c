/* What the arguments of `ropescope compare` mean: an existing file by its ending (a Hugging Face config, or a dump of
 * inverse frequencies), else a preset's name, else a recipe as YAML. */
#include "compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char letters[] = "AB";

static bool ends_in(const char *text, const char *ending) {
  size_t length = strlen(text), size = strlen(ending);
  return length > size && strcmp(text + length - size, ending) == 0;
}

/* A message about one side; whatever failed, nothing was compared. */
static int refuse(size_t which, const char *text, const char *why) {
  cli_error("%c, %.200s: %s", letters[which], text, why);
  return CLI_USAGE;
}

/* The same, with the parameter that the error is about. */
static int refuse_err(size_t which, const char *word, const rs_err *err) {
  rs_text why = {0};
  rs_text_printf(&why, "%s%s%s", err->subject, *err->subject != '\0' ? ": " : "", err->message);
  int code = refuse(which, word, rs_text_string(&why));
  rs_text_clear(&why);
  return code;
}

/* ---- dumps ------------------------------------------------------------------------------------------------------- */

static rs_status read_tree(const char *file, rs_tree **tree, rs_err *err) {
  char *text;
  size_t length;
  RS_TRY(rs_file_read(file, RS_LARGEST_FILE, &text, &length, err));
  rs_status status = rs_json_read(text, length, file, tree, err);
  free(text);
  return status;
}

/* A config names a geometry; a dump is a list, or an object with one. */
static bool is_hf_config(const rs_node *root) {
  static const char *const keys[] = {"model_type", "text_config", "num_attention_heads", "hidden_size",
                                     "n_head",     "n_embd",      "rope_scaling",        "architectures"};
  bool known = false;
  for (size_t i = 0; i < RS_COUNT(keys); i++) known |= rs_node_get(root, keys[i]) != NULL;
  return known;
}

static rs_status positive(const char *file, const char *text, double *factor, rs_err *err) {
  if (rs_number_read(text, factor) && isfinite(*factor) && *factor > 0) return RS_OK;
  return rs_fail(err, RS_INPUT, "%s: the attention factor \"%.40s\" is no positive number", file, text);
}

/* A dump may say what cos and sin are multiplied by: {"inv_freq": [...], "attention_factor": 1.2}. */
static rs_status json_factor(const char *file, double *factor, rs_err *err) {
  rs_tree *tree = NULL;
  RS_TRY(read_tree(file, &tree, err));
  const rs_node *node = rs_node_get(&tree->root, "attention_factor");
  rs_status status = RS_OK;
  if (node != NULL) status = positive(file, node->kind == RS_SCALAR ? node->text : "[...]", factor, err);
  rs_tree_free(tree);
  return status;
}

/* The column attention_factor, or amp as `ropescope show frequencies` has it: the same in every row. */
static rs_status csv_factor(const char *file, double *factor, rs_err *err) {
  char *text;
  size_t length;
  rs_table *table = NULL;
  RS_TRY(rs_file_read(file, RS_LARGEST_FILE, &text, &length, err));
  rs_status status = rs_csv_read(text, length, file, &table, err);
  free(text);
  if (status != RS_OK) return status;
  int column = rs_table_column(table, "attention_factor");
  if (column < 0) column = rs_table_column(table, "amp");
  for (size_t row = 0; row < table->rows && column >= 0 && status == RS_OK; row++)
    if (strcmp(table->fields[row * table->columns + (size_t)column], table->fields[column]) != 0)
      status = rs_fail(err, RS_INPUT, "%s:%zu: the attention factor changes from pair to pair", file, row + 2);
  if (column >= 0 && status == RS_OK) status = positive(file, table->fields[column], factor, err);
  rs_table_free(table);
  return status;
}

static rs_status read_dump(side *s, rs_err *err) {
  double *list = NULL, factor = NAN;
  size_t count = 0;
  RS_TRY(rs_numbers_read(s->text, &list, &count, err));
  rs_status status = RS_OK;
  for (size_t i = 0; i < count && status == RS_OK; i++)
    if (list[i] < 0) status = rs_fail(err, RS_INPUT, "%s: frequency %zu is negative", s->text, i);
  if (status == RS_OK && ends_in(s->text, ".json")) status = json_factor(s->text, &factor, err);
  if (status == RS_OK && ends_in(s->text, ".csv")) status = csv_factor(s->text, &factor, err);
  if (status == RS_OK) status = rs_spectrum_list(list, count, &s->spectrum, err);
  s->spectrum.amp = factor;
  s->kind = SIDE_DUMP;
  free(list);
  return status;
}

/* ---- published recipes ------------------------------------------------------------------------------------------- */

static rs_status take_published(side *s, rs_err *err) {
  if (s->model.published.method == NULL)
    return rs_fail(err, RS_INPUT, "publishes no recipe (write one, as in rope, with --model or --hf)");
  RS_TRY(rs_recipe_copy(&s->recipe, &s->model.published, err));
  return rs_recipe_check(&s->recipe, &s->model, err);
}

/* A file, by what it holds. */
static rs_status read_file(side *s, rs_err *err) {
  rs_tree *tree = NULL;
  if (!ends_in(s->text, ".json")) return read_dump(s, err);
  RS_TRY(read_tree(s->text, &tree, err));
  bool config = is_hf_config(&tree->root);
  rs_tree_free(tree);
  if (!config) return read_dump(s, err);
  s->kind = SIDE_HF;
  RS_TRY(rs_hf_model_load(s->text, &s->model, err));
  return take_published(s, err);
}

static bool is_preset(const char *name) {
  size_t count;
  const rs_preset *presets = rs_presets(&count);
  for (size_t i = 0; i < count; i++)
    if (strcmp(presets[i].name, name) == 0) return true;
  return false;
}

static rs_status read_preset(side *s, rs_err *err) {
  s->kind = SIDE_PRESET;
  RS_TRY(rs_preset_model(s->text, &s->model, err));
  return take_published(s, err);
}

/* ---- recipes ----------------------------------------------------------------------------------------------------- */

/* As a single-quoted YAML text. */
static void put_quoted(rs_text *text, const char *word) {
  rs_text_puts(text, "'");
  for (; *word != '\0'; word++) rs_text_add(text, *word == '\'' ? "''" : word, *word == '\'' ? 2 : 1);
  rs_text_puts(text, "'");
}

/* Moves the only method of the experiment, and its model, to the side. */
static rs_status take_recipe(rs_experiment *experiment, side *s, rs_err *err) {
  if (experiment->methods.count != 1)
    return rs_fail(err, RS_INPUT, "must be one recipe, not %zu", experiment->methods.count);
  RS_TRY(rs_experiment_recipe(experiment, 0, 0, &s->recipe, err));
  s->model = experiment->models[0];
  experiment->model_count = 0;
  return RS_OK;
}

/* The recipe on a model, as a config of two lines. */
static int read_recipe(size_t which, side *s, const char *model_key, const char *model) {
  rs_text text = {0};
  rs_problems problems = {0};
  rs_err err = {0};
  rs_experiment *experiment = NULL;
  const char *const names[] = {"recipe A", "recipe B"};
  rs_text_printf(&text, "model: {%s: ", model_key);
  put_quoted(&text, model);
  rs_text_printf(&text, "}\nlengths: [1]\nmethods: [%s]\n", s->text);
  rs_status status = rs_text_check(&text, &err);
  if (status == RS_OK)
    status = rs_config_read(rs_text_string(&text), names[which], (rs_config_edits){0}, &experiment, &problems, &err);
  bool read = status == RS_OK;
  if (read) status = take_recipe(experiment, s, &err);
  if (read && status != RS_OK) refuse_err(which, s->text, &err);
  if (!read) cli_fail(status, &problems, &err);
  rs_experiment_free(experiment);
  rs_problems_clear(&problems);
  rs_text_clear(&text);
  return status == RS_OK ? CLI_OK : CLI_USAGE;
}

/* What a word may have been meant for: a preset or a method. */
static int unknown_word(size_t which, const char *word) {
  const char *names[256];
  size_t count = 0, presets, methods;
  const rs_preset *preset = rs_presets(&presets);
  const rs_method *method = rs_methods(&methods);
  for (size_t i = 0; i < presets && count < RS_COUNT(names); i++) names[count++] = preset[i].name;
  for (size_t i = 0; i < methods && count < RS_COUNT(names); i++) names[count++] = method[i].name;
  const char *near = rs_suggest(word, names, count);
  rs_text why = {0};
  rs_text_puts(&why, "is no file, no model preset and no method");
  if (near != NULL)
    rs_text_printf(&why, " (did you mean %s?)", near);
  else
    rs_text_puts(&why, " (ropescope list shows presets and methods; a recipe is written {name: yarn, factor: 8})");
  refuse(which, word, rs_text_string(&why));
  rs_text_clear(&why);
  return CLI_USAGE;
}

/* A recipe stands on the model of --model or --hf, else on the other side's. */
static int read_on_model(const cli_options *options, size_t which, side sides[2]) {
  side *s = &sides[which], *other = &sides[1 - which];
  bool word = strcspn(s->text, "{}[]:, ") == strlen(s->text);
  if (word && rs_method_find(s->text) == NULL) return unknown_word(which, s->text);
  if (options->hf != NULL) return read_recipe(which, s, "hf", options->hf);
  if (options->model != NULL) return read_recipe(which, s, "preset", options->model);
  if (other->kind == SIDE_HF) return read_recipe(which, s, "hf", other->text);
  if (other->kind == SIDE_PRESET) return read_recipe(which, s, "preset", other->text);
  return refuse(which, s->text, "is a recipe: --model or --hf must say of which model");
}

/* ---- both sides -------------------------------------------------------------------------------------------------- */

/* Files and presets first: they may lend a recipe their model. */
static int read_named(size_t which, side *s) {
  rs_err err = {0};
  rs_status status = RS_OK;
  bool file = rs_numbers_named(s->text), there = access(s->text, F_OK) == 0;
  if (file && !there) return refuse(which, s->text, "is not there");
  if (file)
    status = read_file(s, &err);
  else if (is_preset(s->text))
    status = read_preset(s, &err);
  else if (there && strchr(s->text, '.') != NULL)
    return refuse(which, s->text, "is a file, but none of .json (config or dump), .npy and .csv (dump)");
  return status == RS_OK ? CLI_OK : refuse_err(which, s->text, &err);
}

/* A dump that lists whole heads, seen beside the pairs of the other side. */
static void fold(side *s, const side *other, double rtol) {
  if (s->kind != SIDE_DUMP || other->spectrum.pairs * 2 != s->spectrum.pairs) return;
  s->folded = rs_spectrum_fold(&s->spectrum, rtol);
  s->spectrum.pair_layout = s->folded;
}

static int make_spectrum(const cli_options *options, size_t which, side sides[2]) {
  enum { NO_MODEL = 4096 }; /* two dumps name no length */
  side *s = &sides[which], *other = &sides[1 - which];
  rs_err err = {0};
  size_t own = s->model.max_length > 0 ? s->model.max_length : other->model.max_length;
  size_t first = sides[0].model.max_length > 0 ? sides[0].model.max_length : own; /* both at A's length */
  s->length = options->length > 0 ? options->length : first > 0 ? first : NO_MODEL;
  if (s->kind == SIDE_DUMP) return CLI_OK;
  rs_status status = rs_spectrum_make(&s->recipe, &s->model, s->length, &s->spectrum, &err);
  return status == RS_OK ? CLI_OK : refuse_err(which, s->text, &err);
}

/* The pairs beside those that turn are the model's. */
static void settle_dump(side *s, const side *other, double rtol) {
  fold(s, other, rtol);
  if (s->kind != SIDE_DUMP || other->kind == SIDE_DUMP) return;
  if (other->spectrum.head_dim >= 2 * s->spectrum.pairs) s->spectrum.head_dim = other->spectrum.head_dim;
}

int sides_read(const cli_options *options, double rtol, side sides[2]) {
  int code = CLI_OK;
  for (size_t i = 0; i < 2; i++) {
    sides[i] = (side){.text = options->arguments[i], .folded = -1};
    if (*sides[i].text == '\0') code = refuse(i, "\"\"", "is empty");
  }
  for (size_t i = 0; i < 2 && code == CLI_OK; i++) code = read_named(i, &sides[i]);
  for (size_t i = 0; i < 2 && code == CLI_OK; i++)
    if (sides[i].kind == SIDE_RECIPE) code = read_on_model(options, i, sides);
  for (size_t i = 0; i < 2 && code == CLI_OK; i++) code = make_spectrum(options, i, sides);
  for (size_t i = 0; i < 2 && code == CLI_OK; i++) settle_dump(&sides[i], &sides[1 - i], rtol);
  return code;
}

void sides_clear(side sides[2]) {
  for (size_t i = 0; i < 2; i++) {
    rs_spectrum_clear(&sides[i].spectrum);
    rs_recipe_clear(&sides[i].recipe);
    rs_model_clear(&sides[i].model);
  }
}
