/* The lists of `ropescope list`: the names of their entries, and each entry as a tree. All of it comes from the specs
 * that also check configs. */
#include "cli.h"

#include <string.h>

const char *const cli_list_words[CLI_LISTS + 1] = {"methods",    "kinds",    "sources", "tasks",
                                                   "checkpoint", "metrics",  "models",  "architectures",
                                                   "dialects",   "findings", "engines", NULL};

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* Kind `i` of a list, and of those of encodings the stage that it fills. Each begins with its rs_kind. */
static const rs_kind *kind_at(size_t list, size_t i, const char **stage) {
  static const struct {
    size_t list;
    const char *stage;
  } groups[] = {{CLI_KINDS, "positions"}, {CLI_KINDS, "frequencies"}, {CLI_KINDS, "embedding"},
                {CLI_KINDS, "bias"},      {CLI_KINDS, "vectors"},     {CLI_KINDS, "logit_scale"},
                {CLI_SOURCES, NULL},      {CLI_TASKS, NULL},          {CLI_METRICS, NULL}};
  size_t count[RS_COUNT(groups)];
  const void *const kinds[RS_COUNT(groups)] = {
      rs_pos_kinds(&count[0]),    rs_freq_kinds(&count[1]),   rs_embed_kinds(&count[2]),
      rs_bias_kinds(&count[3]),   rs_vector_kinds(&count[4]), rs_lscale_kinds(&count[5]),
      rs_source_kinds(&count[6]), rs_task_kinds(&count[7]),   rs_metric_kinds(&count[8])};
  for (size_t g = 0; g < RS_COUNT(groups); g++) {
    if (groups[g].list != list) continue;
    *stage = groups[g].stage;
    if (i < count[g]) return ((const rs_kind *const *)kinds[g])[i];
    i -= count[g];
  }
  return NULL;
}

/* What a checkpoint's parameters are of, as configs have it. */
static const struct {
  const char *name, *summary;
  const rs_param *params;
  const size_t *count;
} parts[RS_CHECKPOINT_PARTS] = {
    [RS_PART_SHAPE] = {"shape", "what a model is; its form follows from the task", rs_shape_specs,
                       &rs_shape_spec_count},
    [RS_PART_TRAINING] = {"train", "how it is trained, by AdamW", rs_training_specs, &rs_training_spec_count},
    [RS_PART_TUNING] = {"tune", "how it is trained further, at another length or with another method",
                        rs_training_specs, &rs_training_spec_count}};

const char *cli_list_name(size_t list, size_t i) {
  size_t count;
  const char *stage;
  switch (list) {
  case CLI_METHODS: {
    const rs_method *methods = rs_methods(&count);
    return i < count ? methods[i].name : NULL;
  }
  case CLI_MODELS: {
    const rs_preset *presets = rs_presets(&count);
    return i < count ? presets[i].name : NULL;
  }
  case CLI_DIALECTS: {
    const rs_dialect *dialects = rs_dialects(&count);
    return i < count ? dialects[i].name : NULL;
  }
  case CLI_CHECKPOINT: return i < RS_COUNT(parts) ? parts[i].name : NULL;
  case CLI_ARCHITECTURES: return rs_architectures(i) != NULL ? rs_architectures(i)->model_type : NULL;
  case CLI_FINDINGS: return rs_rules(i) != NULL ? rs_rules(i)->code : NULL;
  case CLI_ENGINES: return rs_config_engines(i) != NULL ? rs_config_engines(i)->name : NULL;
  default: return kind_at(list, i, &stage) != NULL ? kind_at(list, i, &stage)->name : NULL;
  }
}

/* ---- entries ----------------------------------------------------------------------------------------------------- */

static void add_head(rs_doc *in, const char *name, const char *summary, const char *reference) {
  rs_doc_put(in, DOC_WORDS("name", name), DOC_WORDS("summary", summary), DOC_WORDS("reference", reference));
}

static const char *method_default(const rs_method *method, const char *param) {
  for (size_t d = 0; d < RS_COUNT(method->defaults) && method->defaults[d].name != NULL; d++)
    if (strcmp(method->defaults[d].name, param) == 0) return method->defaults[d].value;
  return NULL;
}

/* A default of the method's own stands in place of the parameter's. */
void list_add_params(rs_doc *in, const char *key, const rs_method *method, const rs_method *without) {
  RS_OWNED(rs_recipe) recipe = {0}, other = {0};
  rs_doc *params = rs_doc_add(in, key, RS_DOC_ARRAY);
  bool made = rs_recipe_init(&recipe, method, NULL) == RS_OK &&
              (without == NULL || rs_recipe_init(&other, without, NULL) == RS_OK);
  in->arena->failed |= !made;
  for (size_t p = 0; p < recipe.settings.count && made; p++) {
    rs_param param = *recipe.settings.params[p];
    const char *value = method_default(method, param.name);
    if (value == NULL && rs_settings_find(&other.settings, param.name) >= 0) continue;
    if (value != NULL) param.fallback = value;
    rs_doc_param(params, &param);
  }
}

void list_add_dialects(rs_doc *in, const char *key, const rs_method *method, bool general) {
  size_t count;
  const rs_dialect *dialects = rs_dialects(&count);
  rs_doc *list = rs_doc_add(in, key, RS_DOC_ARRAY);
  for (size_t d = 0; d < count; d++)
    if (rs_dialect_fits(&dialects[d], method) && (general || dialects[d].method != NULL))
      add_head(rs_doc_add(list, NULL, RS_DOC_OBJECT), dialects[d].name, dialects[d].summary, dialects[d].reference);
}

static void add_task(rs_doc *in, const rs_task_kind *task) {
  rs_doc_put(in, DOC_WORDS("form", rs_form_words[task->form]));
  rs_doc *list = rs_doc_add(in, "parts", RS_DOC_ARRAY);
  for (size_t p = 0; task->parts[p] != NULL; p++)
    rs_doc_put(rs_doc_add(list, NULL, RS_DOC_OBJECT), DOC_WORDS("name", task->parts[p]),
               DOC_FLAG("probe", task->probes >> p & 1));
}

static void add_columns(rs_doc *in, const char *key, const rs_column *columns, size_t count) {
  static const char *const better[] = {NULL, "higher", "lower"};
  rs_doc *list = rs_doc_add(in, key, RS_DOC_ARRAY);
  for (size_t i = 0; i < count; i++)
    rs_doc_put(rs_doc_add(list, NULL, RS_DOC_OBJECT), DOC_WORDS("name", columns[i].name),
               DOC_WORDS("unit", columns[i].unit), DOC_WORDS("summary", columns[i].summary),
               DOC_WORDS("better", better[columns[i].better]), DOC_FLAG("standard_error", columns[i].sampled));
}

static void add_kind(rs_doc *in, size_t list, size_t i) {
  size_t count;
  const char *stage;
  const rs_kind *kind = kind_at(list, i, &stage);
  if (stage != NULL) rs_doc_put(in, DOC_WORDS("stage", stage));
  add_head(in, kind->name, kind->summary, kind->reference);
  rs_doc *params = rs_doc_add(in, "parameters", RS_DOC_ARRAY);
  for (size_t p = 0; p < kind->param_count; p++) rs_doc_param(params, &kind->params[p]);
  if (list == CLI_TASKS) add_task(in, rs_task_kinds(&count)[i]);
  if (list != CLI_METRICS) return;
  const rs_metric_kind *metric = rs_metric_kinds(&count)[i];
  add_columns(in, "summary_columns", metric->scalars, metric->scalar_count);
  add_columns(in, "curve_columns", metric->curve, metric->curve_count);
}

static void add_part(rs_doc *in, size_t i) {
  rs_doc_put(in, DOC_WORDS("name", parts[i].name), DOC_WORDS("summary", parts[i].summary));
  rs_doc *params = rs_doc_add(in, "parameters", RS_DOC_ARRAY);
  for (size_t p = 0; p < *parts[i].count; p++) {
    rs_param param = parts[i].params[p];
    if (i == RS_PART_TUNING) param.fallback = rs_tune_default(&param);
    rs_doc_param(params, &param);
  }
}

/* The published recipe as a config has it, what is as everywhere left out. */
static const char *published(rs_doc *in, const rs_recipe *recipe) {
  rs_text text = {0};
  if (recipe->method == NULL) return NULL;
  rs_text_printf(&text, "{name: %s", recipe->method->name);
  for (size_t p = 0; p < recipe->settings.count; p++) {
    const rs_value *value = &recipe->settings.values[p];
    if (!value->given) continue;
    rs_text_printf(&text, ", %s: ", recipe->settings.params[p]->name);
    if (value->count > RS_AXES)
      rs_text_printf(&text, "(%zu numbers)", value->count);
    else
      rs_value_write(recipe->settings.params[p], value, &text);
  }
  rs_text_puts(&text, "}");
  return rs_doc_keep(in, &text);
}

static void add_model(rs_doc *in, size_t i) {
  size_t count;
  RS_OWNED(rs_model) m = {0};
  if (rs_preset_model(rs_presets(&count)[i].name, &m, NULL) != RS_OK) {
    in->arena->failed = true; /* a test reads each */
    return;
  }
  rs_doc_put(in, DOC_WORDS("name", m.name), DOC_NUMBER("heads", m.heads), DOC_NUMBER("head_dim", m.head_dim),
             DOC_NUMBER("rotary_dim", m.rotary_dim), DOC_NUMBER("rope_theta", m.rope_theta),
             DOC_NUMBER("train_length", m.train_length), DOC_NUMBER("max_length", m.max_length),
             DOC_WORDS("publishes", m.published.method != NULL ? m.published.method->name : NULL),
             DOC_WORDS("recipe", published(in, &m.published)));
}

void list_add(rs_doc *in, size_t list, size_t i) {
  size_t count;
  rs_doc *entry = rs_doc_add(in, NULL, RS_DOC_OBJECT);
  if (entry == NULL) return;
  if (list == CLI_METHODS) {
    const rs_method *method = &rs_methods(&count)[i];
    add_head(entry, method->name, method->summary, method->reference);
    list_add_params(entry, "parameters", method, NULL);
    list_add_dialects(entry, "dialects", method, true);
  } else if (list == CLI_CHECKPOINT) {
    add_part(entry, i);
  } else if (list == CLI_MODELS) {
    add_model(entry, i);
  } else if (list == CLI_ARCHITECTURES) {
    const rs_architecture_entry *a = rs_architectures(i);
    rs_doc_put(entry, DOC_WORDS("model_type", a->model_type), DOC_WORDS("models", a->models));
  } else if (list == CLI_DIALECTS) {
    const rs_dialect *d = &rs_dialects(&count)[i];
    add_head(entry, d->name, d->summary, d->reference);
    rs_doc_put(entry, DOC_WORDS("method", d->method));
  } else if (list == CLI_FINDINGS) {
    rs_doc_put(entry, DOC_WORDS("code", rs_rules(i)->code));
    add_head(entry, rs_rules(i)->name, rs_rules(i)->summary, rs_rules(i)->reference);
    rs_doc_put(entry, DOC_WORDS("severity", rs_severity_words[rs_rules(i)->severity]));
  } else if (list == CLI_ENGINES) {
    const rs_config_engine *e = rs_config_engines(i);
    add_head(entry, e->name, e->says, e->source);
    rs_doc_put(entry, DOC_WORDS("title", e->title));
  } else {
    add_kind(entry, list, i);
  }
}
