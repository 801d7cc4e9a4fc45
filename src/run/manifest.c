/* manifest.json: everything needed to read the CSV files and to run them again. What it says of the machine stands here
 * and in timings.csv only, so that the CSV files are the same bytes everywhere. */
#include "cell.h"
#include "costs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

rs_status rs_manifest_no_memory(rs_err *err) {
  return rs_fail(err, RS_MEMORY, "out of memory for manifest.json");
}

rs_status rs_manifest_append(json_t *list, json_t *entry, rs_err *err) {
  return json_array_append_new(list, entry) == 0 ? RS_OK : rs_manifest_no_memory(err);
}

rs_status rs_manifest_set(json_t *object, const char *key, json_t *value, rs_err *err) {
  return json_object_set_new(object, key, value) == 0 ? RS_OK : rs_manifest_no_memory(err);
}

static rs_status has_fewer(const rs_experiment *experiment, bool *fewer, rs_err *err) {
  rs_task task;
  *fewer = false;
  RS_TRY(rs_checkpoint_task(experiment, 0, &task, err));
  for (size_t i = 0; i < experiment->length_count; i++) {
    rs_example_shape shape;
    if (task.kind->shape(task.state, experiment->lengths[i], &shape, NULL) == RS_OK)
      *fewer = *fewer || rs_example_count(&shape, experiment->sequences) < experiment->sequences;
  }
  rs_task_clear(&task);
  return RS_OK;
}

static const char *const role_names[] = {"key", "index", "value", "error", "status"};
static const char *const better_names[] = {"", "higher", "lower"};
static const char *const map_names[] = {"",        "x",        "y",     "panel", "mark", "bin_end",
                                        "samples", "category", "strip", "mass",  "low",  "high"};

/* An object of texts, or NULL when any has no room: json_pack leaves such a key out without a word. */
static json_t *object_of(const char *const (*pairs)[2], size_t count) {
  json_t *object = json_object();
  for (size_t i = 0; i < count; i++)
    if (json_object_set_new(object, pairs[i][0], json_string(pairs[i][1])) != 0) {
      json_decref(object);
      return NULL;
    }
  return object;
}

/* Appends `entry` with `child` as its `key`, and takes both; `status` is how the child came about. */
static rs_status append_with(json_t *list, json_t *entry, const char *key, json_t *child, rs_status status,
                             rs_err *err) {
  if (status == RS_OK && json_object_set(entry, key, child) != 0) status = rs_manifest_no_memory(err);
  json_decref(child);
  if (status == RS_OK) return rs_manifest_append(list, entry, err);
  json_decref(entry);
  return status;
}

static json_t *column_entry(const rs_out_column *column) {
  enum { ALWAYS = 6 };
  const char *pairs[ALWAYS + 3][2] = {{"name", column->name},
                                      {"role", role_names[column->role]},
                                      {"unit", column->unit},
                                      {"axis", column->log_axis ? "log" : "linear"},
                                      {"better", better_names[column->better]},
                                      {"summary", column->summary}};
  size_t count = ALWAYS;
  if (column->map != RS_MAP_NONE) pairs[count][0] = "map", pairs[count++][1] = map_names[column->map];
  if (column->integer) pairs[count][0] = "type", pairs[count++][1] = "integer";
  if (column->sourced || column->tasked)
    pairs[count][0] = "reads", pairs[count++][1] = column->sourced ? "source" : "task";
  return object_of((const char *const(*)[2])pairs, count);
}

static rs_status add_file(json_t *files, const rs_experiment *experiment, const char *name, int metric, rs_err *err) {
  rs_out_columns columns;
  RS_TRY(rs_columns_make(experiment, metric, &columns, err));
  json_t *list = json_array();
  rs_status status = RS_OK;
  for (size_t i = 0; i < columns.count && status == RS_OK; i++)
    status = rs_manifest_append(list, column_entry(&columns.columns[i]), err);
  free(columns.columns);
  const char *const pairs[][2] = {{"file", name}};
  return append_with(files, object_of(pairs, RS_COUNT(pairs)), "columns", list, status, err);
}

static rs_status list_files(json_t *files, const rs_experiment *experiment, rs_err *err) {
  RS_TRY(add_file(files, experiment, "summary.csv", -1, err));
  for (size_t m = 0; m < experiment->metrics.count; m++) {
    char name[80];
    if (rs_curve_file(experiment, m, name)) RS_TRY(add_file(files, experiment, name, (int)m, err));
  }
  return RS_OK;
}

/* Adds a kind that took part, once. */
static rs_status add_kind(json_t *kinds, const char *stage, const rs_kind *kind, rs_err *err) {
  const char *const pairs[][2] = {{"stage", stage}, {"name", kind->name}, {"reference", kind->reference}};
  json_t *entry = object_of(pairs, RS_COUNT(pairs));
  if (json_object_set_new(entry, "version", json_integer(kind->version)) != 0) {
    json_decref(entry);
    return rs_manifest_no_memory(err);
  }
  for (size_t i = 0; i < json_array_size(kinds); i++)
    if (json_equal(json_array_get(kinds, i), entry)) {
      json_decref(entry);
      return RS_OK;
    }
  return rs_manifest_append(kinds, entry, err);
}

static rs_status add_stages(json_t *kinds, const rs_method *method, const rs_settings *settings, rs_err *err) {
  const rs_lscale_kind *lscale = rs_lscale_chosen(settings);
  RS_TRY(add_kind(kinds, "pos", &method->pos->kind, err));
  if (method->freq != NULL) RS_TRY(add_kind(kinds, "freq", &method->freq->kind, err));
  if (method->embed != NULL) RS_TRY(add_kind(kinds, "embed", &method->embed->kind, err));
  if (method->bias != NULL) RS_TRY(add_kind(kinds, "bias", &method->bias->kind, err));
  return lscale != NULL ? add_kind(kinds, "lscale", &lscale->kind, err) : RS_OK;
}

static rs_status add_recipes(json_t *kinds, const rs_recipe *recipes, size_t count, rs_err *err) {
  for (size_t r = 0; r < count && recipes != NULL; r++)
    RS_TRY(add_stages(kinds, recipes[r].method, &recipes[r].settings, err));
  return RS_OK;
}

rs_status rs_manifest_kinds(json_t *kinds, const rs_experiment *experiment, rs_err *err) {
  for (size_t i = 0; i < experiment->model_count && experiment->checkpoints != NULL; i++) {
    const rs_checkpoint *checkpoint = &experiment->checkpoints[i];
    RS_TRY(add_recipes(kinds, checkpoint->recipes, checkpoint->recipe_count, err));
    RS_TRY(add_recipes(kinds, checkpoint->tuned_recipes, checkpoint->recipe_count, err));
  }
  for (size_t i = 0; i < experiment->methods.count; i++) {
    const rs_variant *variant = &experiment->methods.items[i];
    if (variant->method != NULL) RS_TRY(add_stages(kinds, variant->method, &variant->settings, err));
    for (size_t m = 0; m < experiment->model_count && variant->published; m++)
      RS_TRY(add_recipes(kinds, &experiment->models[m].published, 1, err));
  }
  if (experiment->checkpoints != NULL) RS_TRY(add_kind(kinds, "task", &experiment->task.task->kind, err));
  for (size_t i = 0; i < experiment->sources.count; i++)
    RS_TRY(add_kind(kinds, "source", &experiment->sources.items[i].source->kind, err));
  for (size_t i = 0; i < experiment->metrics.count; i++)
    RS_TRY(add_kind(kinds, "metric", &experiment->metrics.items[i].metric->kind, err));
  return RS_OK;
}

/* The phrases of a source's caption; a source may have none. */
static rs_status add_phrases(json_t *phrases, const rs_variant *variant, rs_err *err) {
  rs_text words = {0};
  rs_status status = RS_OK;
  for (size_t i = 0; variant->source->caption != NULL && status == RS_OK; i++) {
    rs_text_clear(&words);
    variant->source->caption(variant->params, i, &words);
    status = rs_text_check(&words, err);
    if (status == RS_OK && words.length == 0) break;
    if (status == RS_OK) status = rs_manifest_append(phrases, json_string(rs_text_string(&words)), err);
  }
  rs_text_clear(&words);
  return status;
}

/* How much of a task was read: "64 sequences a cell", "up to 64 sequences of bytes". */
static rs_status add_amount(json_t *phrases, const rs_experiment *experiment, const char *which, rs_err *err) {
  char words[128];
  bool fewer;
  RS_TRY(has_fewer(experiment, &fewer, err));
  snprintf(words, sizeof words, "%s%zu sequences %s", fewer ? "up to " : "", experiment->sequences, which);
  return rs_manifest_append(phrases, json_string(words), err);
}

/* Of the task of checkpoints a caption says how much of it was read. */
static rs_status list_task(json_t *sources, const rs_experiment *experiment, rs_err *err) {
  const char *const pairs[][2] = {{"name", experiment->task.label}, {"kind", experiment->task.task->kind.name}};
  json_t *phrases = json_array();
  rs_status status = add_amount(phrases, experiment, "a cell", err);
  return append_with(sources, object_of(pairs, RS_COUNT(pairs)), "caption", phrases, status, err);
}

static rs_status list_sources(json_t *sources, const rs_experiment *experiment, rs_err *err) {
  if (experiment->sources.count == 0) return list_task(sources, experiment, err);
  for (size_t i = 0; i < experiment->sources.count; i++) {
    const rs_variant *variant = &experiment->sources.items[i];
    const char *const pairs[][2] = {{"name", variant->label}, {"kind", variant->source->kind.name}};
    json_t *phrases = json_array();
    rs_status status = add_phrases(phrases, variant, err);
    if (status == RS_OK && variant->source->of_model && experiment->task.task != NULL) { /* else it names a text */
      char words[96];
      snprintf(words, sizeof words, "of %.80s", experiment->task.task->kind.name);
      status = add_amount(phrases, experiment, words, err);
    }
    RS_TRY(append_with(sources, object_of(pairs, RS_COUNT(pairs)), "caption", phrases, status, err));
  }
  return rs_observes(experiment) ? list_task(sources, experiment, err) : RS_OK;
}

/* ---- files that lists were read from ----------------------------------------------------------------------------- */

/* A file with the fingerprint it had when it was read, once. */
static rs_status add_input(json_t *inputs, const rs_value *value, rs_err *err) {
  for (size_t i = 0; i < json_array_size(inputs); i++)
    if (strcmp(json_string_value(json_object_get(json_array_get(inputs, i), "file")), value->file) == 0) return RS_OK;
  const char *const pairs[][2] = {{"file", value->file}, {"sha256", value->hash}};
  return rs_manifest_append(inputs, object_of(pairs, *value->hash != '\0' ? 2 : 1), err); /* a folder has none */
}

static rs_status add_inputs(json_t *inputs, const rs_settings *settings, rs_err *err) {
  for (size_t i = 0; i < settings->count; i++)
    if (settings->values[i].file != NULL) RS_TRY(add_input(inputs, &settings->values[i], err));
  return RS_OK;
}

rs_status rs_manifest_inputs(json_t *inputs, const rs_experiment *experiment, rs_err *err) {
  const rs_variants *lists[] = {&experiment->methods, &experiment->sources, &experiment->metrics};
  RS_TRY(add_inputs(inputs, &experiment->task.settings, err));
  for (size_t i = 0; i < experiment->model_count; i++)
    RS_TRY(add_inputs(inputs, &experiment->models[i].published.settings, err));
  for (size_t l = 0; l < RS_COUNT(lists); l++)
    for (size_t i = 0; i < lists[l]->count; i++) RS_TRY(add_inputs(inputs, &lists[l]->items[i].settings, err));
  return RS_OK;
}

/* ---- parameters -------------------------------------------------------------------------------------------------- */

/* {"steps": "1000", ...}: values as configs have them. */
static rs_status put_settings(json_t *object, const rs_settings *settings, rs_err *err) {
  for (size_t p = 0; p < settings->count; p++) {
    rs_text text = {0};
    if (!settings->values[p].set) continue;
    rs_value_write(settings->params[p], &settings->values[p], &text);
    rs_status status = rs_text_check(&text, err);
    if (status == RS_OK)
      status = rs_manifest_set(object, settings->params[p]->name, json_string(rs_text_string(&text)), err);
    rs_text_clear(&text);
    RS_TRY(status);
  }
  return RS_OK;
}

/* The settings under a key of their own; nothing where there are none. */
static rs_status put_part(json_t *object, const char *key, const rs_settings *settings, rs_err *err) {
  if (settings->count == 0) return RS_OK;
  RS_TRY(rs_manifest_set(object, key, json_object(), err));
  return put_settings(json_object_get(object, key), settings, err);
}

/* ---- the task ---------------------------------------------------------------------------------------------------- */

/* What is known of each length: the best loss, null where nobody knows, and, where sequences are pictures or films,
 * their grid (`grids` NULL: none). */
static rs_status put_lengths(const rs_experiment *experiment, json_t *losses, json_t *grids, rs_err *err) {
  rs_task task;
  RS_TRY(rs_checkpoint_task(experiment, 0, &task, err));
  rs_status status = RS_OK;
  for (size_t i = 0; i < experiment->length_count && status == RS_OK; i++) {
    json_int_t length = (json_int_t)experiment->lengths[i];
    rs_example_shape shape;
    bool fits = task.kind->shape(task.state, (size_t)length, &shape, NULL) == RS_OK;
    double best = fits && task.kind->best_loss != NULL ? task.kind->best_loss(task.state, (size_t)length) : NAN;
    status = rs_manifest_append(
        losses, json_pack("{s:I, s:o}", "length_tokens", length, "nats", isnan(best) ? json_null() : json_real(best)),
        err);
    if (status == RS_OK && fits && grids != NULL)
      status = rs_manifest_append(grids,
                                  json_pack("{s:I, s:I, s:I, s:I}", "length_tokens", length, "frames",
                                            (json_int_t)shape.frames, "rows", (json_int_t)shape.rows, "columns",
                                            (json_int_t)shape.columns),
                                  err);
  }
  rs_task_clear(&task);
  return status;
}

static rs_status put_task(const rs_experiment *experiment, json_t *task, rs_err *err) {
  const rs_variant *variant = &experiment->task;
  const char *const *parts = variant->task->parts;
  RS_TRY(rs_manifest_set(task, "name", json_string(variant->label), err));
  RS_TRY(rs_manifest_set(task, "kind", json_string(variant->task->kind.name), err));
  RS_TRY(rs_manifest_set(task, "sequences", json_integer((json_int_t)experiment->sequences), err));
  RS_TRY(rs_manifest_set(task, "parts", json_array(), err));
  for (size_t p = 0; parts[p] != NULL; p++)
    RS_TRY(rs_manifest_append(json_object_get(task, "parts"), json_string(parts[p]), err));
  RS_TRY(put_part(task, "parameters", &variant->settings, err));
  RS_TRY(rs_manifest_set(task, "best_loss", json_array(), err));
  if (variant->task->form == RS_VISION) RS_TRY(rs_manifest_set(task, "grids", json_array(), err));
  return put_lengths(experiment, json_object_get(task, "best_loss"), json_object_get(task, "grids"), err);
}

/* ---- checkpoints ------------------------------------------------------------------------------------------------- */

/* Appends the text as a phrase, and clears it. */
static rs_status add_phrase(json_t *phrases, rs_text *text, rs_err *err) {
  rs_status status = rs_text_check(text, err);
  if (status == RS_OK) status = rs_manifest_append(phrases, json_string(rs_text_string(text)), err);
  rs_text_clear(text);
  return status;
}

/* "trained here, 100 steps at 64 tokens", "... 6 × 6 patches", "... 4 frames of 3 × 3 patches" */
static rs_status say_training(const rs_experiment *experiment, const char *verb, const rs_training *training,
                              json_t *phrases, rs_err *err) {
  rs_example_shape shape = {0};
  rs_task task;
  rs_text text = {0};
  RS_TRY(rs_checkpoint_task(experiment, 0, &task, err));
  (void)task.kind->shape(task.state, training->length, &shape, NULL);
  rs_task_clear(&task);
  rs_text_printf(&text, "%s here, %zu steps at ", verb, training->steps);
  if (shape.frames > 1 && shape.patch_numbers > 0) rs_text_printf(&text, "%zu frames of ", shape.frames);
  if (shape.patch_numbers > 0)
    rs_text_printf(&text, "%zu \u00d7 %zu patches", shape.rows, shape.columns);
  else
    rs_text_printf(&text, "%zu tokens", training->length);
  return add_phrase(phrases, &text, err);
}

/* `numbers` 0: not known, for it could not be made. */
static rs_status put_caption(const rs_experiment *experiment, const rs_checkpoint *checkpoint, size_t numbers,
                             json_t *phrases, rs_err *err) {
  rs_text text = {0};
  if (checkpoint->folder == NULL) RS_TRY(say_training(experiment, "trained", &checkpoint->training, phrases, err));
  if (checkpoint->tuned) RS_TRY(say_training(experiment, "tuned", &checkpoint->tuning, phrases, err));
  if (numbers == 0) return RS_OK;
  rs_text_printf(&text, "%zu parameters", numbers);
  return add_phrase(phrases, &text, err);
}

static rs_status put_checkpoint(const rs_experiment *experiment, size_t model, json_t *entry, rs_err *err) {
  const rs_checkpoint *checkpoint = &experiment->checkpoints[model];
  rs_transformer *begun = NULL;
  rs_err why = {0};
  if (rs_checkpoint_create(experiment, model, &begun, &why) == RS_MEMORY)
    return rs_fail(err, RS_MEMORY, "%s", why.message);
  size_t numbers = 0;
  for (size_t i = 0; begun != NULL && i < begun->tensor_count; i++)
    numbers += begun->tensors[i].rows * begun->tensors[i].columns;
  rs_transformer_free(begun);
  RS_TRY(rs_manifest_set(entry, "name", json_string(experiment->models[model].name), err));
  RS_TRY(rs_manifest_set(entry, "form", json_string(rs_form_words[experiment->task.task->form]), err));
  if (numbers > 0) RS_TRY(rs_manifest_set(entry, "parameters", json_integer((json_int_t)numbers), err));
  if (checkpoint->folder != NULL) RS_TRY(rs_manifest_set(entry, "folder", json_string(checkpoint->folder), err));
  RS_TRY(rs_manifest_set(entry, "caption", json_array(), err));
  RS_TRY(put_caption(experiment, checkpoint, numbers, json_object_get(entry, "caption"), err));
  RS_TRY(put_part(entry, "shape", &checkpoint->settings[RS_PART_SHAPE], err));
  RS_TRY(put_part(entry, "training", &checkpoint->settings[RS_PART_TRAINING], err));
  return checkpoint->tuned ? put_part(entry, "tuning", &checkpoint->settings[RS_PART_TUNING], err) : RS_OK;
}

static rs_status put_checkpoints(const rs_experiment *experiment, const rs_totals *totals, json_t *checkpoints,
                                 rs_err *err) {
  for (size_t m = 0; m < experiment->model_count; m++) {
    json_t *entry = json_object();
    RS_TRY(rs_manifest_append(checkpoints, entry, err));
    RS_TRY(put_checkpoint(experiment, m, entry, err));
    RS_TRY(rs_manifest_set(entry, "arithmetic", json_array(), err));
    for (size_t i = 0; i < totals->arithmetic_count; i++)
      if (totals->arithmetic[i].model == m)
        RS_TRY(rs_manifest_append(json_object_get(entry, "arithmetic"), json_string(totals->arithmetic[i].words), err));
  }
  return RS_OK;
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

/* The processor's name as Linux has it. */
static void cpu_name(char *name, size_t room) {
  char *text = NULL;
  size_t length;
  snprintf(name, room, "unknown");
  if (rs_file_read("/proc/cpuinfo", 1 << 20, &text, &length, NULL) != RS_OK) return;
  const char *line = strstr(text, "model name"), *colon = line != NULL ? strchr(line, ':') : NULL;
  const char *value = colon != NULL ? colon + 1 + strspn(colon + 1, " ") : "";
  if (*value != '\0' && *value != '\n') snprintf(name, room, "%.*s", (int)strcspn(value, "\n"), value);
  free(text);
}

static json_t *machine(void) {
  char cpu[128];
  cpu_name(cpu, sizeof cpu);
  return json_pack("{s:s, s:s, s:i, s:{s:s, s:s, s:s, s:s}}", "cpu", cpu, "compiler", __VERSION__, "threads",
                   (int)rs_engine_threads(), "libraries", "gsl", GSL_BUILT_VERSION, "jansson", JANSSON_BUILT_VERSION,
                   "libyaml", YAML_BUILT_VERSION, "nettle", NETTLE_BUILT_VERSION);
}

/* What the scores of all cells came about by. */
static json_t *engine(const rs_output *output) {
  const rs_totals *totals = &output->totals;
  return json_pack("{s:s, s:I, s:I, s:f, s:f}", "instruction_set", output->isa, "cells_f32", (json_int_t)totals->single,
                   "cells_f64", (json_int_t)totals->twice, "largest_score_error", totals->error,
                   "largest_skipped_weight", totals->weight);
}

/* What each file holds, so that another one is told from it. */
static rs_status list_contents(json_t *contents, const rs_output *output, rs_err *err) {
  for (size_t i = 0; i < output->sum_count; i++) {
    const rs_file_sums *sums = &output->sums[i];
    json_t *entry =
        json_pack("{s:s, s:I, s:s}", "file", sums->name, "bytes", (json_int_t)sums->bytes, "sha256", sums->sha256);
    rs_status status = RS_OK;
    if (entry != NULL && sums->rows != RS_NO_COUNT)
      status = rs_manifest_set(entry, "rows", json_integer((json_int_t)sums->rows), err);
    rs_status last = rs_manifest_append(contents, entry, err);
    if (status != RS_OK || last != RS_OK) return RS_MEMORY;
  }
  return RS_OK;
}

/* Of a set that lacks cells; NULL, which is no member, for a whole one. */
static json_t *incomplete(const rs_output *output) {
  if (output->totals.written == output->cells) return NULL;
  return json_pack("{s:I, s:I}", "cells", (json_int_t)output->cells, "done", (json_int_t)output->totals.written);
}

/* jansson leaves pieces out where its buffer has no room to grow, without a word: what it wrote is read back. */
char *rs_manifest_dump(const json_t *manifest) {
  char *text = json_dumps(manifest, JSON_INDENT(1));
  json_t *again = text != NULL ? json_loads(text, 0, NULL) : NULL;
  if (!json_equal(manifest, again)) {
    free(text);
    text = NULL;
  }
  json_decref(again);
  return text;
}

rs_status rs_manifest_write(const rs_output *output, const rs_text *config, rs_text *out, rs_err *err) {
  char sha[65];
  const rs_experiment *experiment = output->experiment;
  bool trained = experiment->checkpoints != NULL;
  json_t *task = trained ? json_object() : NULL, *checkpoints = trained ? json_array() : NULL; /* NULL: no member */
  json_t *files = json_array(), *kinds = json_array(), *inputs = json_array(), *sources = json_array(),
         *contents = json_array();
  rs_status status = list_files(files, experiment, err);
  if (status == RS_OK) status = rs_manifest_kinds(kinds, experiment, err);
  if (status == RS_OK) status = list_sources(sources, experiment, err);
  if (status == RS_OK) status = rs_manifest_inputs(inputs, experiment, err);
  if (status == RS_OK) status = list_contents(contents, output, err);
  if (status == RS_OK && trained) status = put_task(experiment, task, err);
  if (status == RS_OK && trained) status = put_checkpoints(experiment, &output->totals, checkpoints, err);
  rs_sha256_hex(rs_text_string(config), config->length, sha);
  json_t *manifest = json_pack("{s:s, s:s, s:s, s:o*, s:s, s:s, s:o, s:o, s:o, s:o, s:o*, s:o*, s:o, s:o, s:o}", "name",
                               experiment->name, "program", "ropescope", "version", ROPESCOPE_VERSION, "incomplete",
                               incomplete(output), "config", rs_text_string(config), "config_sha256", sha, "machine",
                               machine(), "engine", engine(output), "kinds", kinds, "sources", sources, "task", task,
                               "checkpoints", checkpoints, "inputs", inputs, "files", files, "contents", contents);
  size_t members = 12 + (trained ? 2 : 0) + (output->totals.written != output->cells);
  char *text = json_object_size(manifest) == members ? rs_manifest_dump(manifest) : NULL;
  if (status == RS_OK && text == NULL) status = rs_manifest_no_memory(err);
  if (status == RS_OK) rs_text_puts(out, text);
  free(text);
  json_decref(manifest);
  return status;
}
