/* ropescope list --markdown: each list as Markdown tables, made from the specs that also check configs. The pages of
 * docs/ hold them word for word. */
#include "list.h"

#include <string.h>

/* ---- cells of tables --------------------------------------------------------------------------------------------- */

/* Words as they read in a cell: a bar would end it, and a browser takes what follows '<' for a tag. */
static void put_words(rs_text *text, const char *words) {
  for (; *words != '\0'; words++) {
    if (*words == '|')
      rs_text_puts(text, "\\|");
    else if (*words == '<')
      rs_text_puts(text, "&lt;");
    else
      rs_text_add(text, words, 1);
  }
}

static void put_range(rs_text *text, const rs_param *param) {
  static const char *const words[] = {
      [RS_FILE] = "file", [RS_FOLDER] = "folder", [RS_NAME] = "name", [RS_RECIPE] = "method"};
  if (words[param->type] != NULL) {
    rs_text_puts(text, words[param->type]);
    return;
  }
  rs_text_puts(text, param->type == RS_INTEGER ? "whole number" : param->type == RS_REALS ? "list or file" : "number");
  rs_text_puts(text, ", ");
  rs_text_number(text, param->min);
  rs_text_puts(text, " to ");
  rs_text_number(text, param->max);
}

static void put_values(rs_text *text, const rs_param *param) {
  for (size_t i = 0; i < param->word_count; i++) rs_text_printf(text, "%s`%s`", i > 0 ? ", " : "", param->words[i]);
  if (param->type == RS_BOOL) rs_text_puts(text, "`true`, `false`");
  if (param->type == RS_BOOL || param->type == RS_CHOICE) return;
  if (param->word_count > 0) rs_text_puts(text, ", or ");
  put_range(text, param);
}

/* ---- parameters -------------------------------------------------------------------------------------------------- */

static void put_params_header(rs_text *text) {
  rs_text_puts(text, "\n| parameter | values | unit | default | meaning |\n|---|---|---|---|---|\n");
}

static void put_param(rs_text *text, const rs_param *param) {
  rs_text_printf(text, "| `%s` | ", param->name);
  put_values(text, param);
  rs_text_printf(text, " | %s | ", strcmp(param->unit, "1") != 0 ? param->unit : "");
  if (param->fallback != NULL) rs_text_printf(text, "`%s`", param->fallback);
  rs_text_puts(text, " | ");
  put_words(text, param->summary);
  rs_text_puts(text, " |\n");
}

static void put_params(rs_text *text, const rs_param *params, size_t count) {
  if (count > 0) put_params_header(text);
  for (size_t p = 0; p < count; p++) put_param(text, &params[p]);
}

/* The parameters that one method has and another (NULL: none) has not. */
static void put_method_params(rs_text *text, const rs_method *method, const rs_method *without) {
  rs_recipe recipe = {0}, other = {0};
  text->failed |= rs_recipe_init(&recipe, method, NULL) != RS_OK;
  text->failed |= without != NULL && rs_recipe_init(&other, without, NULL) != RS_OK;
  put_params_header(text);
  for (size_t p = 0; p < recipe.settings.count; p++)
    if (rs_settings_find(&other.settings, recipe.settings.params[p]->name) < 0)
      put_param(text, recipe.settings.params[p]);
  rs_recipe_clear(&other);
  rs_recipe_clear(&recipe);
}

/* A heading, what the thing does, and where it was published. */
static void put_head(rs_text *text, const char *stage, const rs_kind *kind) {
  rs_text_printf(text, "\n### %s%s%s\n\n", stage, *stage != '\0' ? " " : "", kind->name);
  put_words(text, kind->summary);
  rs_text_puts(text, ". *");
  put_words(text, kind->reference);
  rs_text_puts(text, "*\n");
}

/* ---- methods ----------------------------------------------------------------------------------------------------- */

static const char *method_default(const rs_method *method, const char *param) {
  for (size_t d = 0; d < RS_COUNT(method->defaults) && method->defaults[d].name != NULL; d++)
    if (strcmp(method->defaults[d].name, param) == 0) return method->defaults[d].value;
  return NULL;
}

/* The names of the parameters that not every method of its family has, and those to which the method gives a default.
 */
static void put_own_params(rs_text *text, const rs_method *method, const rs_method *family) {
  rs_recipe recipe = {0}, other = {0};
  bool any = false;
  text->failed |= rs_recipe_init(&recipe, method, NULL) != RS_OK || rs_recipe_init(&other, family, NULL) != RS_OK;
  for (size_t p = 0; p < recipe.settings.count; p++) {
    const char *name = recipe.settings.params[p]->name, *value = method_default(method, name);
    if (value == NULL && rs_settings_find(&other.settings, name) >= 0) continue;
    rs_text_printf(text, "%s`%s%s%s`", any ? ", " : "", name, value != NULL ? ": " : "", value != NULL ? value : "");
    any = true;
  }
  rs_recipe_clear(&other);
  rs_recipe_clear(&recipe);
}

/* The kinds that fill the stages, each with a link to its parameters; positions that are the tokens' own go without
 * saying. */
static void put_stages(rs_text *text, const rs_method *method) {
  const struct {
    const char *stage;
    const rs_kind *kind;
  } stages[] = {{"positions", strcmp(method->pos->kind.name, "identity") != 0 ? &method->pos->kind : NULL},
                {"frequencies", method->freq != NULL ? &method->freq->kind : NULL},
                {"embedding", method->embed != NULL ? &method->embed->kind : NULL},
                {"bias", method->bias != NULL ? &method->bias->kind : NULL}};
  bool any = false;
  for (size_t s = 0; s < RS_COUNT(stages); s++) {
    if (stages[s].kind == NULL) continue;
    rs_text_printf(text, "%s%s [%s](kinds.md#%s-%s)", any ? ", " : "", stages[s].stage, stages[s].kind->name,
                   stages[s].stage, stages[s].kind->name);
    any = true;
  }
}

static void put_methods(rs_text *text) {
  size_t count;
  const rs_method *methods = rs_methods(&count), *common = rs_method_find("nope"), *rotary = rs_method_find("rope");
  rs_text_puts(text, "| method | what it does | its stages | its parameters | reference |\n|---|---|---|---|---|\n");
  for (size_t m = 0; m < count; m++) {
    rs_text_printf(text, "| `%s` | ", methods[m].name);
    put_words(text, methods[m].summary);
    rs_text_puts(text, " | ");
    put_stages(text, &methods[m]);
    rs_text_puts(text, " | ");
    put_own_params(text, &methods[m], methods[m].freq != NULL ? rotary : common);
    rs_text_puts(text, " | ");
    put_words(text, methods[m].reference);
    rs_text_puts(text, " |\n");
  }
  rs_text_puts(text, "\n## Parameters of every method\n");
  put_method_params(text, common, NULL);
  rs_text_puts(text, "\n## Parameters of every rotary method\n");
  put_method_params(text, rotary, common);
  rs_text_puts(text, "\n## Parameters of every method with a scale\n");
  put_method_params(text, rs_method_find("ntk"), rotary);
}

/* ---- kinds, sources, metrics ------------------------------------------------------------------------------------- */

/* The kinds of one stage; every kind begins with its rs_kind. */
static void put_stage(rs_text *text, const char *stage, const void *kinds, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const rs_kind *kind = ((const rs_kind *const *)kinds)[i];
    put_head(text, stage, kind);
    put_params(text, kind->params, kind->param_count);
  }
}

static void put_kinds(rs_text *text) {
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

static void put_sources(rs_text *text) {
  size_t count;
  const void *kinds = rs_source_kinds(&count);
  put_stage(text, "", kinds, count);
}

static void put_tasks(rs_text *text) {
  size_t count;
  const rs_task_kind *const *tasks = rs_task_kinds(&count);
  for (size_t i = 0; i < count; i++) {
    put_head(text, "", &tasks[i]->kind);
    rs_text_printf(text, "\nOf models that are `%s`. Parts: ", rs_form_words[tasks[i]->form]);
    for (size_t p = 0; tasks[i]->parts[p] != NULL; p++)
      rs_text_printf(text, "%s`%s`%s", p > 0 ? ", " : "", tasks[i]->parts[p],
                     tasks[i]->probes >> p & 1 ? " (in no loss)" : "");
    rs_text_puts(text, ".\n");
    put_params(text, tasks[i]->kind.params, tasks[i]->kind.param_count);
  }
}

static void put_checkpoint(rs_text *text) {
  const checkpoint_part *part;
  for (size_t i = 0; (part = list_part_at(i)) != NULL; i++) {
    rs_text_printf(text, "\n### %s\n\n%s.\n", part->name, part->summary);
    put_params_header(text);
    for (size_t p = 0; p < list_part_count(i); p++) {
      rs_param param = list_part_param(i, p);
      put_param(text, &param);
    }
  }
}

static void put_columns(rs_text *text, const char *file, const rs_column *columns, size_t count) {
  static const char *const better[] = {"", "higher", "lower"};
  for (size_t c = 0; c < count; c++) {
    const rs_column *column = &columns[c];
    rs_text_printf(text, "| %s.csv | `%s`%s | %s | ", file, column->name, column->sampled ? ", `_se`" : "",
                   strcmp(column->unit, "1") != 0 ? column->unit : "");
    put_words(text, column->summary);
    rs_text_printf(text, " | %s |\n", better[column->better]);
  }
}

static void put_metrics(rs_text *text) {
  size_t count;
  const rs_metric_kind *const *metrics = rs_metric_kinds(&count);
  for (size_t i = 0; i < count; i++) {
    const rs_metric_kind *metric = metrics[i];
    put_head(text, "", &metric->kind);
    put_params(text, metric->kind.params, metric->kind.param_count);
    rs_text_puts(text, "\n| file | column | unit | meaning | better |\n|---|---|---|---|---|\n");
    put_columns(text, "summary", metric->scalars, metric->scalar_count);
    put_columns(text, metric->kind.name, metric->curve, metric->curve_count);
  }
}

/* ---- models ------------------------------------------------------------------------------------------------------ */

/* The published recipe as a config has it, what is as everywhere left out. */
static void put_recipe(rs_text *text, const rs_recipe *recipe) {
  if (recipe->method == NULL) return;
  rs_text_printf(text, "`{name: %s", recipe->method->name);
  for (size_t p = 0; p < recipe->settings.count; p++) {
    const rs_value *value = &recipe->settings.values[p];
    if (!value->given) continue;
    rs_text_printf(text, ", %s: ", recipe->settings.params[p]->name);
    if (value->count > RS_AXES)
      rs_text_printf(text, "(%zu numbers)", value->count);
    else
      rs_value_write(recipe->settings.params[p], value, text);
  }
  rs_text_puts(text, "}`");
}

static void put_models(rs_text *text) {
  size_t count;
  const rs_preset *presets = rs_presets(&count);
  rs_text_puts(text, "| model | heads | head_dim | rotary_dim | rope_theta | train_length | max_length | publishes |\n"
                     "|---|---|---|---|---|---|---|---|\n");
  for (size_t i = 0; i < count; i++) {
    rs_model model;
    char theta[RS_NUMBER_CHARS];
    if (rs_preset_model(presets[i].name, &model, NULL) != RS_OK) {
      text->failed = true;
      continue;
    }
    rs_number_format(model.rope_theta, theta);
    rs_text_printf(text, "| `%s` | %zu | %zu | %zu | %s | %zu | %zu | ", model.name, model.heads, model.head_dim,
                   model.rotary_dim, theta, model.train_length, model.max_length);
    put_recipe(text, &model.published);
    rs_text_puts(text, " |\n");
    rs_model_clear(&model);
  }
}

/* ---- architectures ----------------------------------------------------------------------------------------------- */

static void put_architectures(rs_text *text) {
  const rs_architecture_entry *entry;
  rs_text_puts(text, "| model_type | models |\n|---|---|\n");
  for (size_t i = 0; (entry = rs_architectures(i)) != NULL; i++) {
    rs_text_printf(text, "| `%s` | ", entry->model_type);
    put_words(text, entry->models);
    rs_text_puts(text, " |\n");
  }
}

/* ---- dialects ---------------------------------------------------------------------------------------------------- */

static void put_dialect_methods(rs_text *text, const rs_dialect *dialect) {
  size_t count;
  const rs_method *methods = rs_methods(&count);
  bool any = false;
  if (dialect->method == NULL) rs_text_puts(text, "every rotary method");
  for (size_t m = 0; dialect->method != NULL && m < count; m++) {
    if (!rs_dialect_fits(dialect, &methods[m])) continue;
    rs_text_printf(text, "%s`%s`", any ? ", " : "", methods[m].name);
    any = true;
  }
}

/* `scale: dynamic` where a config may say otherwise, with "always" where the implementation has no choice. */
static void put_dialect_settings(rs_text *text, const rs_dialect *dialect) {
  for (size_t s = 0; s < RS_COUNT(dialect->settings) && dialect->settings[s].name != NULL; s++) {
    const char *value = dialect->settings[s].value;
    rs_text_printf(text, s > 0 ? "; " : "");
    if (value != NULL)
      rs_text_printf(text, "`%s: %s`", dialect->settings[s].name, value);
    else
      rs_text_printf(text, "no `%s`", dialect->settings[s].name);
    if (value != NULL && dialect->settings[s].always) rs_text_puts(text, " always");
  }
}

static void put_dialects(rs_text *text) {
  size_t count;
  const rs_dialect *dialects = rs_dialects(&count);
  rs_text_puts(text, "| dialect | methods | what it does differently | as parameters | reference |\n"
                     "|---|---|---|---|---|\n");
  for (size_t d = 0; d < count; d++) {
    rs_text_printf(text, "| `%s` | ", dialects[d].name);
    put_dialect_methods(text, &dialects[d]);
    rs_text_puts(text, " | ");
    put_words(text, dialects[d].summary);
    if (dialects[d].when != NULL) rs_text_printf(text, " (where `%s`)", dialects[d].when);
    if (dialects[d].unless != NULL) rs_text_printf(text, " (where not `%s`)", dialects[d].unless);
    rs_text_puts(text, " | ");
    put_dialect_settings(text, &dialects[d]);
    rs_text_puts(text, " | ");
    put_words(text, dialects[d].reference);
    rs_text_puts(text, " |\n");
  }
}

/* ---- findings ---------------------------------------------------------------------------------------------------- */

static void put_findings(rs_text *text) {
  const rs_rule *rule;
  rs_text_puts(text, "| code | name | severity | what is wrong | reference |\n|---|---|---|---|---|\n");
  for (size_t i = 0; (rule = rs_rules(i)) != NULL; i++) {
    rs_text_printf(text, "| `%s` | `%s` | %s | ", rule->code, rule->name, rs_severity_words[rule->severity]);
    put_words(text, rule->summary);
    rs_text_puts(text, " | ");
    put_words(text, rule->reference);
    rs_text_puts(text, " |\n");
  }
}

/* ---- engines ----------------------------------------------------------------------------------------------------- */

static void put_engines(rs_text *text) {
  const rs_config_engine *engine;
  rs_text_puts(text, "| `--engine` | versions | what they read otherwise | read in |\n|---|---|---|---|\n");
  for (size_t i = 0; (engine = rs_config_engines(i)) != NULL; i++) {
    rs_text_printf(text, "| `%s` | %s | ", engine->name, engine->title);
    put_words(text, engine->says);
    rs_text_puts(text, " | ");
    put_words(text, engine->source);
    rs_text_puts(text, " |\n");
  }
}

/* ---- the lists --------------------------------------------------------------------------------------------------- */

static const struct {
  const char *name;
  void (*put)(rs_text *text);
} lists[] = {{"methods", put_methods},       {"kinds", put_kinds},
             {"sources", put_sources},       {"tasks", put_tasks},
             {"checkpoint", put_checkpoint}, {"metrics", put_metrics},
             {"models", put_models},         {"architectures", put_architectures},
             {"dialects", put_dialects},     {"findings", put_findings},
             {"engines", put_engines}};

bool list_put_markdown(const char *name, rs_text *text) {
  for (size_t i = 0; i < RS_COUNT(lists); i++)
    if (strcmp(name, lists[i].name) == 0) {
      lists[i].put(text);
      return true;
    }
  return false;
}
