/* manifest.json: everything needed to read the CSV files and to run them again. What it says of the machine stands here
 * and in timings.csv only, so that the CSV files are the same bytes everywhere. */
#include "cell.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- columns ----------------------------------------------------------------------------------------------------- */

static const char *const role_names[] = {"key", "index", "value", "error", "status"};
static const char *const better_names[] = {"", "higher", "lower"};
static const char *const map_names[] = {"",      "x",    "y",   "panel", "mark", "bin_end", "samples", "category",
                                        "strip", "mass", "low", "high",  "seen", "share",   "one"};

static rs_status put_file(rs_json *json, const rs_experiment *experiment, const char *name, int metric, rs_err *err) {
  rs_out_columns columns;
  RS_TRY(rs_columns_make(experiment, metric, &columns, err));
  rs_json_object(json, NULL);
  rs_json_string(json, "file", name);
  rs_json_array(json, "columns");
  for (size_t i = 0; i < columns.count; i++) {
    const rs_out_column *column = &columns.columns[i];
    rs_json_object(json, NULL);
    rs_json_string(json, "name", column->name);
    rs_json_string(json, "role", role_names[column->role]);
    rs_json_string(json, "unit", column->unit);
    rs_json_string(json, "axis", column->log_axis ? "log" : "linear");
    rs_json_string(json, "better", better_names[column->better]);
    rs_json_string(json, "summary", column->summary);
    if (column->map != RS_MAP_NONE) rs_json_string(json, "map", map_names[column->map]);
    if (column->integer) rs_json_string(json, "type", "integer");
    if (column->sourced || column->tasked) rs_json_string(json, "reads", column->sourced ? "source" : "task");
    rs_json_end(json);
  }
  rs_json_end(json);
  rs_json_end(json);
  free(columns.columns);
  return RS_OK;
}

static rs_status put_files(rs_json *json, const rs_experiment *experiment, rs_err *err) {
  rs_json_array(json, "files");
  RS_TRY(put_file(json, experiment, "summary.csv", -1, err));
  for (size_t m = 0; m < experiment->metrics.count; m++) {
    char name[80];
    if (rs_curve_file(experiment, m, name)) RS_TRY(put_file(json, experiment, name, (int)m, err));
  }
  rs_json_end(json);
  return RS_OK;
}

/* ---- kinds and inputs -------------------------------------------------------------------------------------------- */

static void add_part(rs_parts *parts, const char *stage, const char *name, const rs_kind *kind, const char *hash) {
  for (size_t i = 0; i < parts->count; i++)
    if (strcmp(parts->items[i].stage, stage) == 0 && strcmp(parts->items[i].name, name) == 0) return;
  if (RS_GROW(parts->items, &parts->capacity, parts->count + 1, NULL) == RS_OK)
    parts->items[parts->count++] = (rs_part){stage, name, kind, hash};
  else
    parts->failed = true;
}

static void add_kind(rs_parts *parts, const char *stage, const rs_kind *kind) {
  add_part(parts, stage, kind->name, kind, NULL);
}

static void add_recipe(rs_parts *parts, const rs_method *method, const rs_settings *settings) {
  const rs_lscale_kind *lscale = rs_lscale_chosen(settings);
  add_kind(parts, "pos", &method->pos->kind);
  if (method->freq != NULL) add_kind(parts, "freq", &method->freq->kind);
  if (method->embed != NULL) add_kind(parts, "embed", &method->embed->kind);
  if (method->bias != NULL) add_kind(parts, "bias", &method->bias->kind);
  if (method->vectors != NULL) add_kind(parts, "vectors", &method->vectors->kind);
  if (lscale != NULL) add_kind(parts, "lscale", &lscale->kind);
}

static void add_recipes(rs_parts *parts, const rs_recipe *recipes, size_t count) {
  for (size_t r = 0; r < count && recipes != NULL; r++) add_recipe(parts, recipes[r].method, &recipes[r].settings);
}

static void add_kinds(rs_parts *parts, const rs_experiment *experiment) {
  for (size_t i = 0; i < experiment->model_count && experiment->checkpoints != NULL; i++) {
    const rs_checkpoint *checkpoint = &experiment->checkpoints[i];
    add_recipes(parts, checkpoint->recipes, checkpoint->recipe_count);
    add_recipes(parts, checkpoint->tuned_recipes, checkpoint->recipe_count);
  }
  for (size_t i = 0; i < experiment->methods.count; i++) {
    const rs_variant *variant = &experiment->methods.items[i];
    if (variant->method != NULL) add_recipe(parts, variant->method, &variant->settings);
    for (size_t m = 0; m < experiment->model_count && variant->published; m++)
      add_recipes(parts, &experiment->models[m].published, 1);
  }
  if (experiment->checkpoints != NULL) add_kind(parts, "task", &experiment->task.task->kind);
  for (size_t i = 0; i < experiment->sources.count; i++)
    add_kind(parts, "source", &experiment->sources.items[i].source->kind);
  for (size_t i = 0; i < experiment->metrics.count; i++)
    add_kind(parts, "metric", &experiment->metrics.items[i].metric->kind);
}

static void add_inputs(rs_parts *parts, const rs_settings *settings) {
  for (size_t i = 0; i < settings->count; i++)
    if (settings->values[i].file != NULL)
      add_part(parts, "file", settings->values[i].file, NULL, settings->values[i].hash);
}

rs_status rs_parts_list(const rs_experiment *experiment, rs_parts *parts, rs_err *err) {
  const rs_variants *lists[] = {&experiment->methods, &experiment->sources, &experiment->metrics};
  *parts = (rs_parts){0};
  add_kinds(parts, experiment);
  add_inputs(parts, &experiment->task.settings);
  for (size_t i = 0; i < experiment->model_count; i++) add_inputs(parts, &experiment->models[i].published.settings);
  for (size_t l = 0; l < RS_COUNT(lists); l++)
    for (size_t i = 0; i < lists[l]->count; i++) add_inputs(parts, &lists[l]->items[i].settings);
  return parts->failed ? rs_fail(err, RS_MEMORY, "out of memory for the kinds of a run") : RS_OK;
}

void rs_parts_write(const rs_parts *parts, bool inputs, rs_json *json) {
  rs_json_array(json, inputs ? "inputs" : "kinds");
  for (size_t i = 0; i < parts->count; i++) {
    const rs_part *part = &parts->items[i];
    if ((part->kind == NULL) != inputs) continue;
    rs_json_object(json, NULL);
    if (!inputs) rs_json_string(json, "stage", part->stage);
    rs_json_string(json, inputs ? "file" : "name", part->name);
    if (inputs && *part->hash != '\0') rs_json_string(json, "sha256", part->hash); /* a folder has none */
    if (!inputs) rs_json_string(json, "reference", part->kind->reference);
    if (!inputs) rs_json_number(json, "version", rs_kind_version(part->kind));
    rs_json_end(json);
  }
  rs_json_end(json);
}

/* ---- sources ----------------------------------------------------------------------------------------------------- */

static void put_phrase(rs_json *json, rs_text *words) {
  json->text->failed |= words->failed;
  rs_json_string(json, NULL, rs_text_string(words));
  rs_text_clear(words);
}

/* The phrases of a source's caption; a source may have none. */
static void put_caption(rs_json *json, const rs_variant *variant) {
  for (size_t i = 0; variant->source->caption != NULL; i++) {
    rs_text words = {0};
    variant->source->caption(variant->params, i, &words);
    if (words.length == 0 && !words.failed) break;
    bool failed = words.failed;
    put_phrase(json, &words);
    if (failed) break;
  }
}

/* Whether the task has fewer sequences at a length than are wanted. */
static bool has_fewer(const rs_experiment *experiment, const rs_task *task) {
  bool fewer = false;
  for (size_t i = 0; i < experiment->length_count; i++) {
    rs_example_shape shape;
    if (rs_task_shape(task, experiment->lengths[i], &shape, NULL) == RS_OK)
      fewer = fewer || rs_example_count(&shape, experiment->sequences) < experiment->sequences;
  }
  return fewer;
}

/* A source, or (`variant` NULL) the task of checkpoints, whose caption says how much of it was read: "64 sequences a
 * cell", "up to 64 sequences of bytes". */
static void put_source(rs_json *json, const rs_experiment *experiment, const rs_task *task, const rs_variant *variant) {
  const rs_variant *shown = variant != NULL ? variant : &experiment->task;
  rs_json_object(json, NULL);
  rs_json_string(json, "name", shown->label);
  rs_json_string(json, "kind", variant != NULL ? variant->source->kind.name : shown->task->kind.name);
  rs_json_list(json, "caption");
  if (variant != NULL) put_caption(json, variant);
  if (variant == NULL || (variant->source->of_model && task != NULL)) { /* else it names a text */
    rs_text words = {0};
    rs_text_printf(&words, "%s%zu sequences ", has_fewer(experiment, task) ? "up to " : "", experiment->sequences);
    rs_text_printf(&words, variant == NULL ? "a cell" : "of %.80s", task->kind->kind.name);
    put_phrase(json, &words);
  }
  rs_json_end(json);
  rs_json_end(json);
}

static void put_sources(rs_json *json, const rs_experiment *experiment, const rs_task *task) {
  rs_json_array(json, "sources");
  for (size_t i = 0; i < experiment->sources.count; i++)
    put_source(json, experiment, task, &experiment->sources.items[i]);
  if (task != NULL) put_source(json, experiment, task, NULL);
  rs_json_end(json);
}

/* ---- the task ---------------------------------------------------------------------------------------------------- */

/* {"steps": "1000", ...}: values as configs have them. */
static void put_part(rs_json *json, const char *key, const rs_settings *settings) {
  if (settings->count == 0) return;
  rs_json_object(json, key);
  for (size_t p = 0; p < settings->count; p++) {
    rs_text text = {0};
    if (!settings->values[p].set || (settings->params[p]->later && !settings->values[p].given)) continue;
    rs_value_write(settings->params[p], &settings->values[p], &text);
    json->text->failed |= text.failed;
    rs_json_string(json, settings->params[p]->name, rs_text_string(&text));
    rs_text_clear(&text);
  }
  rs_json_end(json);
}

/* What is known of each length's own sequences: the best loss, null where nobody knows. */
static void put_losses(rs_json *json, const rs_experiment *experiment, const rs_task *task) {
  rs_json_array(json, "best_loss");
  for (size_t i = 0; i < experiment->length_count; i++) {
    size_t length = experiment->lengths[i];
    rs_example_shape shape;
    bool fits = task->same.longest == 0 && task->kind->shape(task->state, length, &shape, NULL) == RS_OK;
    rs_json_object(json, NULL);
    rs_json_number(json, "length_tokens", (double)length);
    rs_json_number(json, "nats",
                   fits && task->kind->best_loss != NULL ? task->kind->best_loss(task->state, length) : NAN);
    rs_json_end(json);
  }
  rs_json_end(json);
}

/* The grids of pictures and films. */
static void put_grids(rs_json *json, const rs_experiment *experiment, const rs_task *task) {
  rs_json_array(json, "grids");
  for (size_t i = 0; i < experiment->length_count; i++) {
    rs_example_shape shape;
    if (task->kind->shape(task->state, experiment->lengths[i], &shape, NULL) != RS_OK) continue;
    rs_json_object(json, NULL);
    rs_json_number(json, "length_tokens", (double)experiment->lengths[i]);
    rs_json_number(json, "frames", (double)shape.frames);
    rs_json_number(json, "rows", (double)shape.rows);
    rs_json_number(json, "columns", (double)shape.columns);
    rs_json_end(json);
  }
  rs_json_end(json);
}

/* What all lengths score, and the methods that stand for baselines: those of the config, or behind them. */
static void put_targets(rs_json *json, const rs_experiment *experiment) {
  if (experiment->targets.longest == 0) return;
  rs_json_object(json, "targets");
  rs_json_number(json, "sequence_tokens", (double)experiment->targets.longest);
  rs_json_number(json, "target_tokens", (double)experiment->targets.tokens);
  rs_json_end(json);
  rs_json_object(json, "baselines");
  for (size_t i = 0; i < RS_BASELINES; i++) {
    size_t method = rs_experiment_baseline(experiment, (rs_baseline)i);
    if (method != RS_NO_COUNT) rs_json_string(json, rs_baseline_words[i], experiment->methods.items[method].label);
  }
  rs_json_end(json);
}

static void put_task(rs_json *json, const rs_experiment *experiment, const rs_task *task) {
  const rs_variant *variant = &experiment->task;
  rs_json_object(json, "task");
  rs_json_string(json, "name", variant->label);
  rs_json_string(json, "kind", task->kind->kind.name);
  rs_json_number(json, "sequences", (double)experiment->sequences);
  rs_json_list(json, "parts");
  for (const char *const *part = task->kind->parts; *part != NULL; part++) rs_json_string(json, NULL, *part);
  rs_json_end(json);
  put_part(json, "parameters", &variant->settings);
  put_targets(json, experiment);
  put_losses(json, experiment, task);
  if (task->kind->form == RS_VISION) put_grids(json, experiment, task);
  rs_json_end(json);
}

/* ---- checkpoints ------------------------------------------------------------------------------------------------- */

/* "trained here, 100 steps at 64 tokens", "... 6 × 6 patches", "... 4 frames of 3 × 3 patches" */
static void put_training(rs_json *json, const rs_task *task, const char *verb, const rs_training *training) {
  rs_example_shape shape = {0};
  rs_text text = {0};
  (void)task->kind->shape(task->state, training->length, &shape, NULL);
  rs_text_printf(&text, "%s here, %zu steps at ", verb, training->steps);
  if (shape.frames > 1 && shape.patch_numbers > 0) rs_text_printf(&text, "%zu frames of ", shape.frames);
  if (shape.patch_numbers > 0)
    rs_text_printf(&text, "%zu \u00d7 %zu patches", shape.rows, shape.columns);
  else
    rs_text_printf(&text, "%zu tokens", training->length);
  put_phrase(json, &text);
}

static rs_status put_checkpoint(rs_json *json, const rs_experiment *experiment, const rs_task *task, size_t model,
                                const rs_totals *totals, rs_err *err) {
  const rs_checkpoint *checkpoint = &experiment->checkpoints[model];
  rs_transformer *begun = NULL;
  rs_err why = {0};
  if (rs_checkpoint_create(experiment, model, &begun, &why) == RS_MEMORY)
    return rs_fail(err, RS_MEMORY, "%s", why.message);
  size_t numbers = 0; /* not known, where it could not be made */
  for (size_t i = 0; begun != NULL && i < begun->tensor_count; i++)
    numbers += begun->tensors[i].rows * begun->tensors[i].columns;
  rs_transformer_free(begun);
  rs_json_object(json, NULL);
  rs_json_string(json, "name", experiment->models[model].name);
  rs_json_string(json, "form", rs_form_words[task->kind->form]);
  if (numbers > 0) rs_json_number(json, "parameters", (double)numbers);
  if (checkpoint->folder != NULL) rs_json_string(json, "folder", checkpoint->folder);
  rs_json_list(json, "caption");
  if (checkpoint->folder == NULL) put_training(json, task, "trained", &checkpoint->training);
  if (checkpoint->tuned) put_training(json, task, "tuned", &checkpoint->tuning);
  rs_text count = {0};
  rs_text_printf(&count, "%zu parameters", numbers);
  if (numbers > 0) put_phrase(json, &count);
  rs_text_clear(&count);
  rs_json_end(json);
  put_part(json, "shape", &checkpoint->settings[RS_PART_SHAPE]);
  put_part(json, "training", &checkpoint->settings[RS_PART_TRAINING]);
  if (checkpoint->tuned) put_part(json, "tuning", &checkpoint->settings[RS_PART_TUNING]);
  rs_json_list(json, "arithmetic");
  for (size_t i = 0; i < totals->arithmetic_count; i++)
    if (totals->arithmetic[i].model == model) rs_json_string(json, NULL, totals->arithmetic[i].words);
  rs_json_end(json);
  rs_json_end(json);
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

static void put_machine(rs_json *json) {
  char cpu[128];
  cpu_name(cpu, sizeof cpu);
  rs_json_object(json, "machine");
  rs_json_string(json, "cpu", cpu);
  rs_json_string(json, "compiler", __VERSION__);
  rs_json_number(json, "threads", (double)rs_engine_threads());
  rs_json_object(json, "libraries");
  rs_json_string(json, "gsl", GSL_BUILT_VERSION);
  rs_json_string(json, "jansson", JANSSON_BUILT_VERSION);
  rs_json_string(json, "libyaml", YAML_BUILT_VERSION);
  rs_json_string(json, "nettle", NETTLE_BUILT_VERSION);
  rs_json_end(json);
  rs_json_end(json);
}

/* What the scores of all cells came about by. */
static void put_engine(rs_json *json, const rs_output *output) {
  const rs_totals *totals = &output->totals;
  rs_json_object(json, "engine");
  rs_json_string(json, "instruction_set", output->isa);
  rs_json_number(json, "cells_f32", (double)totals->single);
  rs_json_number(json, "cells_f64", (double)totals->twice);
  rs_json_number(json, "largest_score_error", totals->error);
  rs_json_number(json, "largest_skipped_weight", totals->weight);
  rs_json_end(json);
}

/* What each file holds, so that another one is told from it. */
static void put_contents(rs_json *json, const rs_output *output) {
  rs_json_array(json, "contents");
  for (size_t i = 0; i < output->sum_count; i++) {
    const rs_file_sums *sums = &output->sums[i];
    rs_json_object(json, NULL);
    rs_json_string(json, "file", sums->name);
    rs_json_number(json, "bytes", (double)sums->bytes);
    rs_json_string(json, "sha256", sums->sha256);
    if (sums->rows != RS_NO_COUNT) rs_json_number(json, "rows", (double)sums->rows);
    rs_json_end(json);
  }
  rs_json_end(json);
}

static rs_status put_members(rs_json *json, const rs_output *output, const rs_parts *parts, const rs_task *task,
                             rs_err *err) {
  const rs_experiment *experiment = output->experiment;
  put_machine(json);
  put_engine(json, output);
  rs_parts_write(parts, false, json);
  put_sources(json, experiment, task);
  if (task != NULL) {
    put_task(json, experiment, task);
    rs_json_array(json, "checkpoints");
    for (size_t m = 0; m < experiment->model_count; m++)
      RS_TRY(put_checkpoint(json, experiment, task, m, &output->totals, err));
    rs_json_end(json);
  }
  rs_parts_write(parts, true, json);
  RS_TRY(put_files(json, experiment, err));
  put_contents(json, output);
  return RS_OK;
}

rs_status rs_manifest_write(const rs_output *output, const rs_text *config, rs_text *out, rs_err *err) {
  const rs_experiment *experiment = output->experiment;
  bool trained = experiment->checkpoints != NULL;
  rs_json json = {.text = out};
  rs_parts parts;
  rs_task task = {0};
  char sha[65];
  rs_sha256_hex(rs_text_string(config), config->length, sha);
  rs_json_object(&json, NULL);
  rs_json_string(&json, "name", experiment->name);
  rs_json_string(&json, "program", "ropescope");
  rs_json_string(&json, "version", ROPESCOPE_VERSION);
  if (output->totals.written != output->cells) {
    rs_json_object(&json, "incomplete");
    rs_json_number(&json, "cells", (double)output->cells);
    rs_json_number(&json, "done", (double)output->totals.written);
    rs_json_end(&json);
  }
  rs_json_string(&json, "config", rs_text_string(config));
  rs_json_string(&json, "config_sha256", sha);
  rs_status status = rs_parts_list(experiment, &parts, err);
  if (status == RS_OK && trained) status = rs_checkpoint_task(experiment, 0, &task, err);
  if (status == RS_OK) status = put_members(&json, output, &parts, trained ? &task : NULL, err);
  rs_json_end(&json);
  if (trained && task.kind != NULL) rs_task_clear(&task);
  free(parts.items);
  return status == RS_OK ? rs_text_check(out, err) : status;
}
