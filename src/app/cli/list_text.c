/* The entries of `ropescope list` as text. */
#include "list.h"

#include <stdio.h>
#include <string.h>

enum { LINE = 110 };

/* ---- parameters -------------------------------------------------------------------------------------------------- */

static void put_range(rs_text *text, const rs_param *param) {
  if (param->type != RS_REAL && param->type != RS_INTEGER && param->type != RS_REALS) return;
  rs_text_puts(text, "; ");
  rs_text_number(text, param->min);
  rs_text_puts(text, " to ");
  rs_text_number(text, param->max);
}

static void put_param(rs_text *text, const rs_param *param) {
  enum { INDENT = 23 };
  rs_text_printf(text, "    %-18s ", param->name);
  cli_wrap(text, INDENT, INDENT, LINE, param->summary);
  rs_text_printf(text, "\n%*s", INDENT, "");
  for (size_t i = 0; i < param->word_count; i++) rs_text_printf(text, "%s%s", i > 0 ? "|" : "", param->words[i]);
  if (param->words != NULL)
    rs_text_puts(text, param->type == RS_CHOICE ? "" : param->type == RS_RECIPE ? "|method" : "|number");
  else
    rs_text_puts(text, param->type == RS_BOOL      ? "true|false"
                       : param->type == RS_REALS   ? "list or file"
                       : param->type == RS_FILE    ? "file"
                       : param->type == RS_FOLDER  ? "folder"
                       : param->type == RS_NAME    ? "name"
                       : param->type == RS_INTEGER ? "whole number"
                                                   : "number");
  put_range(text, param);
  if (*param->unit != '\0' && strcmp(param->unit, "1") != 0) rs_text_printf(text, "; %s", param->unit);
  if (param->fallback != NULL) rs_text_printf(text, "; default %s", param->fallback);
  rs_text_puts(text, "\n");
}

static void put_head(rs_text *text, const char *name, const char *summary, const char *reference) {
  rs_text_printf(text, "%s\n    %s\n    [%s]\n", name, summary, reference);
}

/* ---- methods ----------------------------------------------------------------------------------------------------- */

/* How implementations differ from the method, or (NULL) with every rotary method: "dialect vllm: ... [...]". */
static void put_dialects(rs_text *text, const rs_method *method) {
  size_t count;
  const rs_dialect *dialects = rs_dialects(&count);
  for (size_t d = 0; d < count; d++) {
    bool general = dialects[d].method == NULL;
    if (method != NULL ? general || !rs_dialect_fits(&dialects[d], method) : !general) continue;
    rs_text_printf(text, "    dialect %s: ", dialects[d].name);
    cli_wrap(text, 23, 23, LINE, dialects[d].summary);
    rs_text_printf(text, " [%s]\n", dialects[d].reference);
  }
}

/* The parameters that one method has and another has not. */
static void put_difference(rs_text *text, const rs_method *method, const rs_method *without) {
  rs_recipe mine = {0}, other = {0};
  text->failed |= rs_recipe_init(&mine, method, NULL) != RS_OK;
  text->failed |= without != NULL && rs_recipe_init(&other, without, NULL) != RS_OK;
  for (size_t p = 0; p < mine.settings.count; p++)
    if (rs_settings_find(&other.settings, mine.settings.params[p]->name) < 0) put_param(text, mine.settings.params[p]);
  rs_recipe_clear(&other);
  rs_recipe_clear(&mine);
}

/* `nope` has the parameters of every method, `rope` those of every rotary one. */
static const rs_method *common_method(void) {
  return rs_method_find("nope");
}

static const rs_method *rotary_method(void) {
  return rs_method_find("rope");
}

/* What is common stands first, once. */
void list_methods_lead(rs_text *text) {
  rs_text_puts(text, "every method\n");
  put_difference(text, common_method(), NULL);
  rs_text_puts(text, "\nevery rotary method\n");
  put_difference(text, rotary_method(), common_method());
  put_dialects(text, NULL);
  rs_text_puts(text, "\n");
}

void list_put_method(rs_text *text, size_t i) {
  size_t count;
  const rs_method *method = &rs_methods(&count)[i];
  put_head(text, method->name, method->summary, method->reference);
  put_difference(text, method, method->freq != NULL ? rotary_method() : common_method());
  for (size_t d = 0; d < RS_COUNT(method->defaults) && method->defaults[d].name != NULL; d++)
    rs_text_printf(text, "    here %s defaults to %s\n", method->defaults[d].name, method->defaults[d].value);
  put_dialects(text, method);
}

void list_put_common(rs_text *text, size_t i) {
  size_t count;
  if (rs_methods(&count)[i].freq != NULL) {
    rs_text_puts(text, "\nas every rotary method\n");
    put_difference(text, rotary_method(), common_method());
    put_dialects(text, NULL);
  }
  rs_text_puts(text, "\nas every method\n");
  put_difference(text, common_method(), NULL);
}

/* ---- the other lists --------------------------------------------------------------------------------------------- */

static void put_kind(rs_text *text, const rs_kind *kind) {
  put_head(text, kind->name, kind->summary, kind->reference);
  for (size_t p = 0; p < kind->param_count; p++) put_param(text, &kind->params[p]);
}

/* Every kind begins with its rs_kind. */
staged_kind list_kind_at(size_t i) {
  static const char *const stages[] = {"positions", "frequencies", "embedding", "bias", "logit_scale"};
  size_t count[RS_COUNT(stages)];
  const void *const kinds[] = {rs_pos_kinds(&count[0]), rs_freq_kinds(&count[1]), rs_embed_kinds(&count[2]),
                               rs_bias_kinds(&count[3]), rs_lscale_kinds(&count[4])};
  for (size_t s = 0; s < RS_COUNT(stages); i -= count[s++])
    if (i < count[s]) return (staged_kind){stages[s], ((const rs_kind *const *)kinds[s])[i]};
  return (staged_kind){NULL, NULL};
}

void list_put_kind(rs_text *text, size_t i) {
  staged_kind staged = list_kind_at(i);
  rs_text_printf(text, "%s ", staged.stage);
  put_kind(text, staged.kind);
}

void list_put_source(rs_text *text, size_t i) {
  size_t count;
  put_kind(text, &rs_source_kinds(&count)[i]->kind);
}

void list_put_task(rs_text *text, size_t i) {
  size_t count;
  const rs_task_kind *task = rs_task_kinds(&count)[i];
  put_head(text, task->kind.name, task->kind.summary, task->kind.reference);
  rs_text_printf(text, "    %-18s %s\n    %-18s ", "of models", rs_form_words[task->form], "parts");
  for (size_t p = 0; task->parts[p] != NULL; p++)
    rs_text_printf(text, "%s%s%s", p > 0 ? ", " : "", task->parts[p], task->probes >> p & 1 ? " (in no loss)" : "");
  rs_text_puts(text, "\n");
  for (size_t p = 0; p < task->kind.param_count; p++) put_param(text, &task->kind.params[p]);
}

const checkpoint_part *list_part_at(size_t i) {
  static const checkpoint_part parts[RS_CHECKPOINT_PARTS] = {
      [RS_PART_SHAPE] = {"shape", "what a model is; its form follows from the task", rs_shape_specs},
      [RS_PART_TRAINING] = {"train", "how it is trained, by AdamW", rs_training_specs},
      [RS_PART_TUNING] = {"tune", "how it is trained further, at another length or with another method",
                          rs_training_specs}};
  return i < RS_COUNT(parts) ? &parts[i] : NULL;
}

size_t list_part_count(size_t i) {
  return i == RS_PART_SHAPE ? rs_shape_spec_count : rs_training_spec_count;
}

rs_param list_part_param(size_t i, size_t p) {
  rs_param param = list_part_at(i)->params[p];
  if (i == RS_PART_TUNING) param.fallback = rs_tune_default(&param);
  return param;
}

void list_put_part(rs_text *text, size_t i) {
  const checkpoint_part *part = list_part_at(i);
  rs_text_printf(text, "%s\n    %s\n", part->name, part->summary);
  for (size_t p = 0; p < list_part_count(i); p++) {
    rs_param param = list_part_param(i, p);
    put_param(text, &param);
  }
}

static void put_columns(rs_text *text, const char *file, const rs_column *columns, size_t count) {
  static const char *const better[] = {"", " (higher is better)", " (lower is better)"};
  for (size_t i = 0; i < count; i++)
    rs_text_printf(text, "    %s: %s [%s] %s%s%s\n", file, columns[i].name,
                   *columns[i].unit != '\0' ? columns[i].unit : "-", columns[i].summary, better[columns[i].better],
                   columns[i].sampled ? "; with _se" : "");
}

void list_put_metric(rs_text *text, size_t i) {
  size_t count;
  const rs_metric_kind *metric = rs_metric_kinds(&count)[i];
  char file[80];
  snprintf(file, sizeof file, "%.70s.csv", metric->kind.name);
  put_kind(text, &metric->kind);
  put_columns(text, "summary.csv", metric->scalars, metric->scalar_count);
  put_columns(text, file, metric->curve, metric->curve_count);
}

void list_models_lead(rs_text *text) {
  rs_text_printf(text, "%-22s %5s %8s %10s %10s %12s %12s  %s\n", "model", "heads", "head_dim", "rotary_dim",
                 "rope_theta", "train_length", "max_length", "publishes");
}

void list_put_model(rs_text *text, size_t i) {
  size_t count;
  rs_model model;
  char theta[RS_NUMBER_CHARS];
  if (rs_preset_model(rs_presets(&count)[i].name, &model, NULL) != RS_OK) {
    text->failed = true; /* a test reads each */
    return;
  }
  rs_number_format(model.rope_theta, theta);
  rs_text_printf(text, "%-22s %5zu %8zu %10zu %10s %12zu %12zu  %s\n", model.name, model.heads, model.head_dim,
                 model.rotary_dim, theta, model.train_length, model.max_length,
                 model.published.method != NULL ? model.published.method->name : "-");
  rs_model_clear(&model);
}

void list_put_architecture(rs_text *text, size_t i) {
  const rs_architecture_entry *entry = rs_architectures(i);
  rs_text_printf(text, "%-14s ", entry->model_type);
  cli_wrap(text, 15, 15, LINE, entry->models);
  rs_text_puts(text, "\n");
}

void list_put_dialect(rs_text *text, size_t i) {
  size_t count;
  const rs_dialect *dialect = &rs_dialects(&count)[i];
  rs_text_printf(text, "%-10s %-14s ", dialect->name, dialect->method != NULL ? dialect->method : "every rotary");
  cli_wrap(text, 26, 26, LINE, dialect->summary);
  rs_text_printf(text, "\n%26s[%s]\n", "", dialect->reference);
}

void list_put_finding(rs_text *text, size_t i) {
  const rs_rule *rule = rs_rules(i);
  rs_text_printf(text, "%s %s (%s)\n    ", rule->code, rule->name, rs_severity_words[rule->severity]);
  cli_wrap(text, 4, 4, LINE, rule->summary);
  rs_text_printf(text, "\n    [%s]\n", rule->reference);
}

void list_put_engine(rs_text *text, size_t i) {
  const rs_config_engine *engine = rs_config_engines(i);
  rs_text_printf(text, "%s: %s\n    ", engine->name, engine->title);
  cli_wrap(text, 4, 4, LINE, engine->says);
  rs_text_printf(text, "\n    [%s]\n", engine->source);
}
