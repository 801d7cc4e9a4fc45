/* ropescope list: what there is. Everything printed comes from the specs that also check configs. */
#include "cli.h"
#include "list_markdown.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- parameters -------------------------------------------------------------------------------------------------- */

static void put_range(rs_text *text, const rs_param *param) {
  if (param->type != RS_REAL && param->type != RS_INTEGER && param->type != RS_REALS) return;
  rs_text_puts(text, "; ");
  rs_text_number(text, param->min);
  rs_text_puts(text, " to ");
  rs_text_number(text, param->max);
}

/* Words on lines of at most LINE characters, the first of which is begun up to `indent`. */
static void put_wrapped(rs_text *text, int indent, const char *words) {
  enum { LINE = 110 };
  for (int column = indent; *words != '\0';) {
    int length = (int)strcspn(words, " ");
    if (column > indent && column + 1 + length > LINE) column = indent, rs_text_printf(text, "\n%*s", indent, "");
    rs_text_printf(text, "%s%.*s", column > indent ? " " : "", length, words);
    column += length + (column > indent);
    words += length + (words[length] == ' ');
  }
}

static void put_param(rs_text *text, const rs_param *param) {
  enum { INDENT = 23 };
  rs_text_printf(text, "    %-18s ", param->name);
  put_wrapped(text, INDENT, param->summary);
  rs_text_printf(text, "\n%*s", INDENT, "");
  for (size_t i = 0; i < param->word_count; i++) rs_text_printf(text, "%s%s", i > 0 ? "|" : "", param->words[i]);
  if (param->words != NULL)
    rs_text_puts(text, param->type == RS_CHOICE ? "" : "|number");
  else
    rs_text_puts(text, param->type == RS_BOOL      ? "true|false"
                       : param->type == RS_REALS   ? "list or file"
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

/* ---- the lists --------------------------------------------------------------------------------------------------- */

/* How implementations differ from the method, or (NULL) with every rotary method: "dialect vllm: ... [...]". */
static void put_dialects(rs_text *text, const rs_method *method) {
  size_t count;
  const rs_dialect *dialects = rs_dialects(&count);
  for (size_t d = 0; d < count; d++) {
    bool general = dialects[d].method == NULL;
    if (method != NULL ? general || !rs_dialect_fits(&dialects[d], method) : !general) continue;
    rs_text_printf(text, "    dialect %s: ", dialects[d].name);
    put_wrapped(text, 23, dialects[d].summary);
    rs_text_printf(text, " [%s]\n", dialects[d].reference);
  }
}

static void list_dialects(rs_text *text) {
  size_t count;
  const rs_dialect *dialects = rs_dialects(&count);
  for (size_t d = 0; d < count; d++) {
    rs_text_printf(text, "%-10s %-18s ", dialects[d].name,
                   dialects[d].method != NULL ? dialects[d].method : "(rotary)");
    put_wrapped(text, 30, dialects[d].summary);
    rs_text_printf(text, " [%s]\n", dialects[d].reference);
  }
}

/* The parameters that one method has and another has not. */
static void put_difference(rs_text *text, const rs_method *method, const rs_method *without) {
  rs_recipe own = {0}, other = {0};
  text->failed |= rs_recipe_init(&own, method, NULL) != RS_OK;
  text->failed |= without != NULL && rs_recipe_init(&other, without, NULL) != RS_OK;
  for (size_t p = 0; p < own.settings.count; p++)
    if (rs_settings_find(&other.settings, own.settings.params[p]->name) < 0) put_param(text, own.settings.params[p]);
  rs_recipe_clear(&other);
  rs_recipe_clear(&own);
}

/* What is common stands first, once: `nope` has the parameters of every method, `rope` those of every rotary one. */
static void list_methods(rs_text *text) {
  size_t count;
  const rs_method *methods = rs_methods(&count), *common = rs_method_find("nope"), *rotary = rs_method_find("rope");
  rs_text_puts(text, "every method\n");
  put_difference(text, common, NULL);
  rs_text_puts(text, "\nevery rotary method\n");
  put_difference(text, rotary, common);
  put_dialects(text, NULL);
  rs_text_puts(text, "\n");
  for (size_t i = 0; i < count; i++) {
    put_head(text, methods[i].name, methods[i].summary, methods[i].reference);
    put_difference(text, &methods[i], methods[i].freq != NULL ? rotary : common);
    for (size_t d = 0; d < RS_COUNT(methods[i].defaults) && methods[i].defaults[d].name != NULL; d++)
      rs_text_printf(text, "    here %s defaults to %s\n", methods[i].defaults[d].name, methods[i].defaults[d].value);
    put_dialects(text, &methods[i]);
    rs_text_puts(text, "\n");
  }
}

static void put_kind(rs_text *text, const rs_kind *kind) {
  put_head(text, kind->name, kind->summary, kind->reference);
  for (size_t p = 0; p < kind->param_count; p++) put_param(text, &kind->params[p]);
}

/* The kinds of one stage; every kind begins with its rs_kind. */
static void put_stage(rs_text *text, const char *stage, const void *kinds, size_t count) {
  for (size_t i = 0; i < count; i++) {
    rs_text_printf(text, "%s ", stage);
    put_kind(text, ((const rs_kind *const *)kinds)[i]);
    rs_text_puts(text, "\n");
  }
}

/* What fills each stage of a method. */
static void list_kinds(rs_text *text) {
  size_t count;
  const void *kinds = rs_pos_kinds(&count);
  put_stage(text, "positions", kinds, count);
  kinds = rs_freq_kinds(&count);
  put_stage(text, "frequencies", kinds, count);
  kinds = rs_embed_kinds(&count);
  put_stage(text, "embedding", kinds, count);
  kinds = rs_bias_kinds(&count);
  put_stage(text, "bias", kinds, count);
  kinds = rs_lscale_kinds(&count);
  put_stage(text, "logit_scale", kinds, count);
}

static void list_sources(rs_text *text) {
  size_t count;
  const rs_source_kind *const *kinds = rs_source_kinds(&count);
  for (size_t i = 0; i < count; i++) {
    put_kind(text, &kinds[i]->kind);
    rs_text_puts(text, "\n");
  }
}

static void put_columns(rs_text *text, const char *file, const rs_column *columns, size_t count) {
  static const char *const better[] = {"", " (higher is better)", " (lower is better)"};
  for (size_t i = 0; i < count; i++)
    rs_text_printf(text, "    %s: %s [%s] %s%s%s\n", file, columns[i].name,
                   *columns[i].unit != '\0' ? columns[i].unit : "-", columns[i].summary, better[columns[i].better],
                   columns[i].sampled ? "; with _se" : "");
}

static void list_metrics(rs_text *text) {
  size_t count;
  const rs_metric_kind *const *kinds = rs_metric_kinds(&count);
  for (size_t i = 0; i < count; i++) {
    char file[80];
    snprintf(file, sizeof file, "%.70s.csv", kinds[i]->kind.name);
    put_kind(text, &kinds[i]->kind);
    put_columns(text, "summary.csv", kinds[i]->scalars, kinds[i]->scalar_count);
    put_columns(text, file, kinds[i]->curve, kinds[i]->curve_count);
    rs_text_puts(text, "\n");
  }
}

static void list_models(rs_text *text) {
  size_t count;
  const rs_preset *presets = rs_presets(&count);
  rs_text_printf(text, "%-22s %5s %8s %10s %10s %12s %12s  %s\n", "model", "heads", "head_dim", "rotary_dim",
                 "rope_theta", "train_length", "max_length", "publishes");
  for (size_t i = 0; i < count; i++) {
    rs_model model;
    char theta[RS_NUMBER_CHARS];
    if (rs_preset_model(presets[i].name, &model, NULL) != RS_OK) continue;
    rs_number_format(model.rope_theta, theta);
    rs_text_printf(text, "%-22s %5zu %8zu %10zu %10s %12zu %12zu  %s\n", model.name, model.heads, model.head_dim,
                   model.rotary_dim, theta, model.train_length, model.max_length,
                   model.published.method != NULL ? model.published.method->name : "-");
    rs_model_clear(&model);
  }
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

static const struct {
  const char *name;
  void (*put)(rs_text *text);
} lists[] = {{"methods", list_methods}, {"kinds", list_kinds},   {"sources", list_sources},
             {"metrics", list_metrics}, {"models", list_models}, {"dialects", list_dialects}};

int cmd_list(const cli_options *options) {
  const char *wanted = options->argument_count > 0 ? options->arguments[0] : NULL;
  rs_text text = {0};
  bool found = false;
  if (options->markdown) {
    found = cli_list_markdown(wanted != NULL ? wanted : "methods", &text);
    if (found) return cli_put(&text) ? CLI_OK : CLI_FAILED;
  }
  for (size_t i = 0; !options->markdown && i < RS_COUNT(lists); i++) {
    if (wanted != NULL && strcmp(wanted, lists[i].name) != 0) continue;
    found = true;
    if (wanted == NULL) rs_text_printf(&text, "%s==== %s ====\n\n", i > 0 ? "\n" : "", lists[i].name);
    lists[i].put(&text);
  }
  if (!found) {
    cli_error("no list of %s (methods, kinds, sources, metrics, models, dialects)", wanted);
    return CLI_USAGE;
  }
  return cli_put(&text) ? CLI_OK : CLI_FAILED;
}
