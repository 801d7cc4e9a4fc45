/* Models: a preset, a Hugging Face config, explicit numbers, or one of the first two with numbers of its own. */
#include "config_internal.h"
#include "io/io.h"
#include "records.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- files ------------------------------------------------------------------------------------------------------- */

char *rs_model_file(char *word) {
  struct stat info;
  if (word == NULL || stat(word, &info) != 0 || !S_ISDIR(info.st_mode)) return word;
  char *inner = rs_path_join(word, "config.json", NULL);
  free(word);
  return inner;
}

/* Whether the `length` letters end like `tail`. */
static bool ends(const char *text, size_t length, const char *tail) {
  size_t size = strlen(tail);
  return length > size && strncmp(text + length - size, tail, size) == 0;
}

size_t rs_file_stem(const char *file, size_t parts, char *out, size_t size) {
  static const char name[] = "/config.json", *const endings[] = {".json", ".gguf"};
  size_t length = strlen(file), begin, written = 0;
  if (ends(file, length, name))
    length -= strlen(name);
  else if (ends(file, length, endings[0]) || ends(file, length, endings[1]))
    length -= strlen(endings[0]);
  while (length > 1 && file[length - 1] == '/') length--;
  for (begin = length; begin > 0 && written < parts;) {
    while (begin > 0 && file[begin - 1] == '/') begin--;
    if (begin == 0) break;
    while (begin > 0 && file[begin - 1] != '/') begin--;
    written++;
  }
  snprintf(out, size, "%.*s", (int)(length - begin), file + begin);
  return written;
}

enum { MOST_TOKENS = 1 << 28, MOST_DIMS = 4096 };

static void copy_name(rs_model *model, const char *name) {
  rs_shorten(name, sizeof model->name, model->name);
}

static void read_sections(rs_problems *problems, const rs_node *node, rs_model *model) {
  if (node->kind != RS_SEQUENCE || node->count != RS_AXES) {
    rs_problem(problems, node, "must be pairs of the axes [t, h, w], like [16, 24, 24]");
    return;
  }
  for (size_t a = 0; a < RS_AXES; a++) {
    model->mrope_section[a] = rs_read_count(problems, &node->items[a], 0, MOST_DIMS / 2.0, 0);
  }
}

static void read_published(rs_problems *problems, const rs_node *node, rs_model *model) {
  rs_recipe recipe;
  if (!rs_read_recipe(problems, node, &recipe)) return;
  rs_recipe_clear(&model->published);
  model->published = recipe;
}

/* Numbers of a model; the last is of its mrope_section alone. */
static const rs_param fields[] = {
    {RS_FIELD(rs_model, heads), .min = 1, .max = 65536},
    {RS_FIELD(rs_model, head_dim), .min = 2, .max = MOST_DIMS},
    {RS_FIELD(rs_model, rotary_dim), .min = 2, .max = MOST_DIMS},
    {RS_FIELD(rs_model, rope_theta), .min = 1.000001, .max = 1e300},
    {RS_FIELD(rs_model, train_length), .min = 1, .max = MOST_TOKENS},
    {RS_FIELD(rs_model, max_length), .min = 1, .max = MOST_TOKENS},
    {RS_FIELD(rs_model, pair_layout), RS_WORDS(rs_pair_layout_words)},
    {RS_FIELD_AS(rs_model, axis_layout, "mrope_layout"), RS_WORDS(rs_axis_layout_words)},
};
static const char *const others[] = {"name", "preset", "hf", "mrope_section", "published", "layers", NULL};
static const rs_record record = {.what = "a model", RS_RECORD_FIELDS(fields), .others = others, .partial = true},
                       preset_record = {.what = "a preset",
                                        RS_RECORD_FIELDS(fields),
                                        .others = others,
                                        .partial = true},
                       plain_record = {.fields = fields, .field_count = RS_COUNT(fields) - 1};

/* What stands in the mapping replaces what the model has. */
static void read_fields(rs_problems *problems, const rs_node *node, const rs_record *as, rs_model *model) {
  const rs_node *name = rs_node_get(node, "name"), *sections = rs_node_get(node, "mrope_section"),
                *published = rs_node_get(node, "published");
  rs_record_read(problems, node, as, NULL, model);
  if (name != NULL && rs_read_word(problems, name) != NULL) {
    if (strlen(name->text) < sizeof model->name)
      copy_name(model, name->text);
    else
      rs_problem(problems, name, "is longer than %zu bytes", sizeof model->name - 1);
  }
  if (sections != NULL) read_sections(problems, sections, model);
  if (published != NULL) read_published(problems, published, model);
}

void rs_model_put(rs_text *yaml, const rs_model *model) {
  const size_t *sections = model->mrope_section;
  rs_text_puts(yaml, "{name: ");
  rs_text_quote(yaml, model->name);
  rs_text_puts(yaml, ", ");
  rs_record_put(yaml, &plain_record, model);
  if (sections[0] + sections[1] + sections[2] > 0)
    rs_text_printf(yaml, ", mrope_section: [%zu, %zu, %zu], mrope_layout: %s", sections[0], sections[1], sections[2],
                   rs_axis_layout_words[model->axis_layout]);
  if (model->published.method != NULL) {
    rs_text_puts(yaml, ", published: ");
    rs_entry_write(model->published.method->name, &model->published.settings, yaml);
  }
  rs_text_puts(yaml, "}");
}

/* What explicit numbers leave out, and what must not be. */
static void complete(rs_problems *problems, const rs_node *node, rs_model *model) {
  if (model->head_dim == 0 || model->train_length == 0) {
    rs_problem(problems, node, "needs %s%s%s (or the name of a preset, or {hf: config.json})",
               model->head_dim == 0 ? "head_dim" : "", model->head_dim + model->train_length == 0 ? " and " : "",
               model->train_length == 0 ? "train_length" : "");
    return;
  }
  if (model->name[0] == '\0') copy_name(model, "custom");
  if (model->heads == 0) model->heads = 32;
  if (model->rope_theta == 0) model->rope_theta = 10000; /* RoFormer's base, and every library's default */
  if (model->rotary_dim == 0) model->rotary_dim = model->head_dim;
  if (model->max_length == 0) model->max_length = model->train_length;
  if (model->head_dim % 2 != 0 || model->rotary_dim % 2 != 0)
    rs_problem(problems, node, "needs an even head_dim and rotary_dim: dims turn in pairs");
  if (model->rotary_dim > model->head_dim)
    rs_problem(problems, node, "has rotary_dim = %zu above head_dim = %zu", model->rotary_dim, model->head_dim);
  size_t sections = model->mrope_section[0] + model->mrope_section[1] + model->mrope_section[2];
  if (sections > 0 && sections != model->rotary_dim / 2)
    rs_problem(problems, node, "has mrope_section that sums to %zu, but rotary_dim / 2 = %zu pairs turn", sections,
               model->rotary_dim / 2);
}

/* ---- presets ----------------------------------------------------------------------------------------------------- */

static const rs_preset *find_preset(const char *name) {
  size_t count;
  const rs_preset *presets = rs_presets(&count);
  for (size_t i = 0; i < count; i++)
    if (strcmp(presets[i].name, name) == 0) return &presets[i];
  return NULL;
}

static const char *near_preset(const char *name) {
  rs_nearest nearest = {.word = name};
  size_t count;
  const rs_preset *presets = rs_presets(&count);
  for (size_t i = 0; i < count; i++) rs_nearest_add(&nearest, presets[i].name);
  return rs_nearest_found(&nearest);
}

/* The layers of a preset: {count: 34, window: 1024, pattern: 6, local_theta: 10000}. */
static const rs_param layer_fields[] = {
    {RS_FIELD(rs_regular_layers, count), .min = 1, .max = MOST_TOKENS},
    {RS_FIELD(rs_regular_layers, window), .min = 1, .max = MOST_TOKENS},
    {RS_FIELD(rs_regular_layers, pattern), .min = 1, .max = MOST_TOKENS},
    {RS_FIELD(rs_regular_layers, local_theta), .min = 1.000001, .max = 1e300},
};
static const rs_record layer_record = {.what = "layers", RS_RECORD_FIELDS(layer_fields), .partial = true};

static rs_status read_preset(const rs_preset *preset, rs_model *model, rs_regular_layers *layers, rs_err *err) {
  rs_problems problems = {0};
  rs_tree *tree = NULL;
  rs_status status = rs_yaml_read(preset->yaml, strlen(preset->yaml), preset->name, &tree, err);
  if (status == RS_OK) {
    const rs_node *of_layers = rs_node_get(&tree->root, "layers");
    read_fields(&problems, &tree->root, &preset_record, model);
    if (of_layers != NULL) rs_record_read(&problems, of_layers, &layer_record, NULL, layers);
    complete(&problems, &tree->root, model);
    if (problems.count > 0)
      status = problems.memory ? rs_fail(err, RS_MEMORY, "preset %s: out of memory", preset->name)
                               : rs_fail(err, RS_INTERNAL, "preset %s", rs_text_string(&problems.text));
  }
  rs_problems_clear(&problems);
  rs_tree_free(tree);
  if (status != RS_OK) rs_model_clear(model);
  return status;
}

static rs_status read_named_preset(const char *name, rs_model *model, rs_regular_layers *layers, rs_err *err) {
  *model = (rs_model){0};
  const rs_preset *preset = find_preset(name);
  const char *near = preset == NULL ? near_preset(name) : NULL;
  if (near != NULL) return rs_fail(err, RS_INPUT, "is no model preset (did you mean %s?)", near);
  if (preset == NULL) return rs_fail(err, RS_INPUT, "is no model preset (ropescope list models shows them)");
  return read_preset(preset, model, layers, err);
}

rs_status rs_preset_model(const char *name, rs_model *model, rs_err *err) {
  rs_regular_layers layers = {0};
  return read_named_preset(name, model, &layers, err);
}

rs_status rs_preset_profile(const char *name, rs_profile *profile, rs_err *err) {
  rs_regular_layers layers = {0};
  rs_model model;
  *profile = (rs_profile){0};
  RS_TRY(read_named_preset(name, &model, &layers, err));
  rs_status status = rs_profile_regular(&model, &layers, profile, err);
  rs_model_clear(&model);
  return status;
}

/* ---- the model of a config --------------------------------------------------------------------------------------- */

/* What was guessed of the file, and layers that nobody asked for, in words. NULL, and reported, without memory; NULL
 * where there is nothing. */
static char *remark_of(rs_problems *problems, const rs_profile *profile, bool chosen) {
  const rs_layer_kind *kind = &profile->kinds[profile->chosen];
  rs_text text = {0};
  char *copy = NULL;
  bool mixed = !chosen && rs_profile_mixed(profile);
  if (!mixed && profile->doubt == NULL) return NULL;
  rs_text_printf(&text, "model %s", kind->model.name);
  if (profile->doubt != NULL) rs_text_printf(&text, ": %s", profile->doubt);
  if (mixed) {
    rs_text_puts(&text, profile->doubt != NULL ? "; it is " : " is ");
    rs_profile_write_choice(profile, profile->chosen, &text);
    rs_text_puts(&text, ": {hf: ..., layers: KIND} chooses");
  }
  copy = text.failed ? NULL : rs_strdup(rs_text_string(&text), NULL);
  if (copy == NULL) rs_problem_memory(problems);
  rs_text_clear(&text);
  return copy;
}

static rs_status keep_kind(const rs_layer_kind *kind, rs_model_layers *layers, rs_err *err) {
  layers->kind = rs_alloc(1, sizeof *layers->kind, err);
  if (layers->kind == NULL) return RS_MEMORY;
  *layers->kind = *kind;
  layers->kind->model = (rs_model){0};
  return RS_OK;
}

/* The layers called `word`, else the chosen ones. */
static rs_status take_layers(const rs_profile *profile, const char *word, rs_model *model, rs_model_layers *layers,
                             rs_err *err) {
  size_t kind;
  RS_TRY(rs_profile_find(profile, word, &kind, err));
  RS_TRY(rs_model_copy(model, &profile->kinds[kind].model, err));
  if (word != NULL) {
    size_t length = strlen(model->name);
    snprintf(model->name + length, sizeof model->name - length, " %s", profile->kinds[kind].name);
  }
  return profile->counted ? keep_kind(&profile->kinds[kind], layers, err) : RS_OK;
}

static void report(rs_problems *problems, const rs_node *node, const rs_err *why) {
  if (why->status == RS_MEMORY)
    rs_problem_memory(problems);
  else if (why->status != RS_OK)
    rs_problem_lines(problems, node, why->message);
}

/* From a preset, or (hf) from a file: its layers called as `kind` says, which may be NULL. */
static void start_from(rs_problems *problems, const rs_node *node, bool hf, const rs_node *kind, rs_model *model,
                       rs_model_layers *layers) {
  rs_err why = {0};
  rs_profile profile = {0};
  const char *word = rs_read_word(problems, node);
  const char *layer = kind != NULL ? rs_read_word(problems, kind) : NULL;
  if (word == NULL || (kind != NULL && layer == NULL)) return;
  char *file = hf ? rs_model_file(rs_beside(node, word)) : NULL;
  rs_status status = !hf            ? rs_preset_profile(word, &profile, &why)
                     : file != NULL ? rs_profile_load(file, &profile, &why)
                                    : rs_fail(&why, RS_MEMORY, "out of memory");
  if (status != RS_OK)
    report(problems, node, &why);
  else if (take_layers(&profile, layer, model, layers, &why) != RS_OK)
    report(problems, kind != NULL ? kind : node, &why);
  else if (hf)
    layers->remark = remark_of(problems, &profile, layer != NULL);
  rs_profile_clear(&profile);
  free(file);
}

/* One model: the name of a preset, or a mapping of {preset: name} or {hf: file, layers: kind}, and numbers of its own.
 * What the file says of its layers goes to `layers`. */
static void read_model(rs_problems *problems, const rs_node *node, rs_model *model, rs_model_layers *layers) {
  size_t before = problems->count;
  *model = (rs_model){0};
  *layers = (rs_model_layers){0};
  if (node->kind == RS_SCALAR) {
    start_from(problems, node, false, NULL, model, layers);
    return;
  }
  if (!rs_expect(problems, node, RS_MAPPING, "a preset's name, {hf: config.json}, or numbers")) return;
  const rs_node *preset = rs_node_get(node, "preset"), *hf = rs_node_get(node, "hf"),
                *kind = rs_node_get(node, "layers");
  if (preset != NULL && hf != NULL)
    rs_problem(problems, hf, "stands beside a preset (keep one of them)");
  else if (preset != NULL)
    start_from(problems, preset, false, kind, model, layers);
  else if (hf != NULL)
    start_from(problems, hf, true, kind, model, layers);
  else if (kind != NULL)
    rs_problem(problems, kind, "are of a preset or a file: {hf: config.json, layers: ...}");
  read_fields(problems, node, &record, model);
  if (problems->count == before) complete(problems, node, model);
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static bool name_taken(const rs_experiment *experiment, const char *name) {
  for (size_t i = 0; i < experiment->model_count; i++)
    if (strcmp(experiment->models[i].name, name) == 0) return true;
  return false;
}

/* Two files of one family are told apart by their names, or their folders' where they are called config.json, and by as
 * much more of the path as it takes. */
static void tell_apart(const rs_experiment *experiment, const char *file, rs_model *model) {
  size_t length = strlen(model->name), parts = 1;
  char stem[sizeof model->name];
  while (name_taken(experiment, model->name) && rs_file_stem(file, parts, stem, sizeof stem) == parts) {
    snprintf(model->name + length, sizeof model->name - length, " %s", stem);
    parts++;
  }
}

void rs_config_models(rs_config_context *config, const rs_node *node) {
  rs_experiment *experiment = config->experiment;
  if (rs_reads_checkpoint(config)) {
    if (node != NULL) rs_problem(config->problems, node, "stands beside a checkpoint (keep one of them)");
    return;
  }
  if (node == NULL && (rs_mistyped(config->root, "model") != NULL || rs_mistyped(config->root, "checkpoint") != NULL))
    return; /* told as an unknown key */
  if (node == NULL) {
    rs_problem(config->problems, config->root, "the config has no model (add model: llama-2-7b)");
    return;
  }
  size_t count = node->kind == RS_SEQUENCE ? node->count : 1;
  if (count == 0) rs_problem(config->problems, node, "is an empty list");
  experiment->models = rs_alloc(count, sizeof *experiment->models, NULL);
  experiment->layers = rs_alloc(count, sizeof *experiment->layers, NULL);
  if (experiment->models == NULL || experiment->layers == NULL) rs_problem_memory(config->problems);
  for (size_t i = 0; i < count && experiment->models != NULL && experiment->layers != NULL; i++) {
    const rs_node *item = node->kind == RS_SEQUENCE ? &node->items[i] : node;
    size_t before = config->problems->count;
    rs_model *model = &experiment->models[experiment->model_count];
    rs_model_layers *layers = &experiment->layers[experiment->model_count];
    const rs_node *file = item->kind == RS_MAPPING ? rs_node_get(item, "hf") : NULL;
    read_model(config->problems, item, model, layers);
    bool unnamed = file != NULL && file->kind == RS_SCALAR && rs_node_get(item, "name") == NULL;
    if (unnamed) tell_apart(experiment, file->text, model);
    if (config->problems->count == before && name_taken(experiment, model->name))
      rs_problem(config->problems, item, "is the second model called %s (give it a name: ...)", model->name);
    if (config->problems->count > before) {
      rs_model_clear(model);
      free(layers->kind);
      free(layers->remark);
    } else
      experiment->model_count++;
  }
}
