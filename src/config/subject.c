/* One recipe on one model at one length, from a config or from the words of a command line: what show, solve and
 * compare are asked about. The words are read by the readers of configs, each as a tree of its own. */
#include "config_internal.h"

#include <stdlib.h>
#include <string.h>

void rs_subject_clear(rs_subject *subject) {
  rs_profile_clear(&subject->profile);
  rs_recipe_clear(&subject->recipe);
  rs_model_clear(&subject->model);
  rs_token_layout_clear(&subject->tokens);
  *subject = (rs_subject){0};
}

/* Moves the only model and method of the experiment to the subject. */
static rs_status move_only(rs_experiment *experiment, rs_subject *subject, rs_err *err) {
  if (experiment->model_count != 1)
    return rs_fail(err, RS_INPUT, "one model is wanted, not %zu (--set model=NAME chooses)", experiment->model_count);
  if (experiment->methods.count != 1)
    return rs_fail(err, RS_INPUT, "one recipe is wanted, not %zu", experiment->methods.count);
  RS_TRY(rs_experiment_recipe(experiment, 0, 0, &subject->recipe, err));
  subject->model = experiment->models[0];
  experiment->model_count = 0;
  subject->tokens = experiment->tokens;
  experiment->tokens = (rs_token_layout){0};
  subject->precision = experiment->precision;
  return RS_OK;
}

/* ---- from a config ----------------------------------------------------------------------------------------------- */

static rs_status read_config(const rs_subject_in *in, rs_subject *subject, rs_problems *problems, rs_err *err) {
  rs_experiment *experiment;
  RS_TRY(rs_config_load(in->config, in->edits, &experiment, problems, err));
  rs_status status = RS_OK;
  if (experiment->methods.count != 1)
    status = rs_fail(err, RS_INPUT, "the config has %zu methods: choose one with --set methods=[yarn]",
                     experiment->methods.count);
  if (status == RS_OK) status = move_only(experiment, subject, err);
  if (status == RS_OK && experiment->length_count != 1 && in->length == 0)
    status = rs_fail(err, RS_INPUT, "the config has %zu lengths: choose one with --length", experiment->length_count);
  subject->length = in->length > 0 ? in->length : experiment->lengths[0];
  rs_experiment_free(experiment);
  return status;
}

/* ---- from a model and words -------------------------------------------------------------------------------------- */

static rs_status read_preset(const char *name, rs_profile *profile, rs_err *err) {
  rs_err why = {0};
  rs_status status = rs_preset_profile(name, profile, &why);
  return status == RS_OK ? status : rs_fail(err, why.status, "%s %s", name, why.message);
}

rs_status rs_subject_profile(const rs_subject_in *in, rs_profile *profile, size_t *kind, rs_err *err) {
  RS_TRY(in->hf_text != NULL ? rs_profile_read(in->hf_text, strlen(in->hf_text), in->hf, profile, err)
         : in->hf != NULL    ? rs_profile_load(in->hf, profile, err)
                             : read_preset(in->preset, profile, err));
  rs_status status = rs_profile_find(profile, in->layers, kind, err);
  if (status != RS_OK) rs_profile_clear(profile);
  return status;
}

/* A new child of a mapping (with its key) or of a sequence (key NULL). */
static rs_node *add_child(rs_node *parent, const char *key, rs_node_kind kind, rs_err *err) {
  rs_node *child = rs_node_append(parent, err);
  if (child == NULL) return NULL;
  *child = (rs_node){.kind = kind, .file = parent->file};
  if (key != NULL) child->key = rs_strdup(key, err);
  return key == NULL || child->key != NULL ? child : NULL;
}

/* {methods: [recipe]}, so that what is read of it is what a config would say. */
static rs_status wrap_recipe(const rs_node *recipe, rs_node *root, rs_err *err) {
  *root = (rs_node){.kind = RS_MAPPING, .file = recipe->file};
  rs_node *methods = add_child(root, "methods", RS_SEQUENCE, err);
  rs_node *entry = methods != NULL ? add_child(methods, NULL, RS_SCALAR, err) : NULL;
  return entry != NULL ? rs_node_copy(entry, recipe, err) : RS_MEMORY;
}

static const char *const config_keys[] = {"methods", "tokens", "precision"};

/* Of the keys of a config these three may be changed; every other is a parameter of the recipe. */
static bool edits_config(const char *edit) {
  size_t length = strcspn(edit, ".[=");
  for (size_t i = 0; i < RS_COUNT(config_keys); i++)
    if (strlen(config_keys[i]) == length && strncmp(config_keys[i], edit, length) == 0) return true;
  return false;
}

/* What an edit is of: the recipe, though an earlier one have put it in the place of the list; the whole where there is
 * not one, which is refused for that. */
static rs_node *edited_node(rs_node *root, const char *edit) {
  rs_node *methods = &root->items[0];
  if (edits_config(edit)) return root;
  if (methods->kind != RS_SEQUENCE) return methods;
  return methods->count == 1 ? &methods->items[0] : root;
}

static rs_status apply_edits(rs_config_edits edits, rs_node *root, rs_err *err) {
  for (size_t i = 0; i < edits.count; i++) RS_TRY(rs_tree_edit(edited_node(root, edits.edits[i]), edits.edits[i], err));
  return RS_OK;
}

static rs_status read_tree(rs_node *root, rs_experiment *experiment, rs_problems *problems, rs_err *err) {
  rs_config_context config = {.experiment = experiment, .problems = problems, .root = root};
  rs_node_adopt(root);
  rs_config_methods(&config, rs_node_get(root, "methods"));
  if (rs_node_get(root, "tokens") != NULL) rs_config_tokens(&config, rs_node_get(root, "tokens"));
  rs_config_precision(&config, rs_node_get(root, "precision"));
  if (problems->memory) return rs_fail(err, RS_MEMORY, "out of memory");
  if (problems->count == 0) return RS_OK;
  return rs_fail(err, RS_INPUT, "%s: %zu problem%s", root->file, problems->count, problems->count > 1 ? "s" : "");
}

/* The recipe `text` with the edits, on the model, which moves into the subject. */
static rs_status read_recipe(const rs_subject_in *in, const char *text, rs_model *model, rs_subject *subject,
                             rs_problems *problems, rs_err *err) {
  rs_experiment experiment = {.models = rs_alloc(1, sizeof *experiment.models, err), .beside = in->edits.beside};
  rs_tree *tree = NULL;
  rs_node root = {0};
  if (experiment.models == NULL) return RS_MEMORY;
  experiment.models[0] = *model;
  experiment.model_count = 1;
  *model = (rs_model){0};
  const char *name = in->method == NULL  ? (in->hf != NULL ? in->hf : in->preset)
                     : in->label != NULL ? in->label
                                         : "--method";
  rs_status status = rs_yaml_read(text, strlen(text), name, &tree, err);
  if (status == RS_OK) status = wrap_recipe(&tree->root, &root, err);
  if (status == RS_OK) status = apply_edits(in->edits, &root, err);
  if (status == RS_OK) status = read_tree(&root, &experiment, problems, err);
  if (status == RS_OK) status = move_only(&experiment, subject, err);
  rs_node_clear(&root);
  rs_tree_free(tree);
  rs_experiment_clear(&experiment);
  return status;
}

static rs_status copy_published(rs_model *model, rs_subject *subject, rs_err *err) {
  subject->model = *model;
  *model = (rs_model){0};
  RS_TRY(rs_recipe_copy(&subject->recipe, &subject->model.published, err));
  RS_TRY(rs_recipe_resolve(&subject->recipe, &subject->model, err));
  return rs_recipe_check(&subject->recipe, &subject->model, err);
}

static rs_status read_named(const rs_subject_in *in, rs_subject *subject, rs_problems *problems, rs_err *err) {
  rs_model model;
  if (in->on == NULL) RS_TRY(rs_subject_profile(in, &subject->profile, &subject->kind, err));
  RS_TRY(rs_model_copy(&model, in->on != NULL ? in->on : &subject->profile.kinds[subject->kind].model, err));
  const rs_method *published = model.published.method;
  const char *text = in->method != NULL ? in->method : published != NULL ? published->name : in->fallback;
  rs_status status = RS_OK;
  if (text == NULL)
    status = rs_fail(err, RS_INPUT, "%s publishes no recipe (--method names one)", model.name);
  else if (in->method == NULL && published != NULL && in->edits.count == 0)
    status = copy_published(&model, subject, err);
  else
    status = read_recipe(in, text, &model, subject, problems, err);
  rs_model_clear(&model);
  subject->length = in->length > 0 ? in->length : subject->model.max_length;
  if (status == RS_OK && subject->length == 0)
    status = rs_fail(err, RS_INPUT, "%s names no length (--length chooses)", subject->model.name);
  return status;
}

rs_status rs_subject_read(const rs_subject_in *in, rs_subject *subject, rs_problems *problems, rs_err *err) {
  bool named = in->hf != NULL || in->preset != NULL || in->on != NULL;
  *subject = (rs_subject){0};
  rs_status status = named ? read_named(in, subject, problems, err) : read_config(in, subject, problems, err);
  if (status != RS_OK) rs_subject_clear(subject);
  return status;
}

/* ---- a recipe in words ------------------------------------------------------------------------------------------- */

enum { LIST_SHOWN = 8 };

void rs_recipe_write(const rs_recipe *recipe, rs_text *text) {
  const rs_settings *settings = &recipe->settings;
  rs_text_printf(text, "{name: %s", recipe->method->name);
  for (size_t p = 0; p < settings->count; p++) {
    const rs_param *param = settings->params[p];
    const rs_value *value = &settings->values[p];
    if (!value->set || rs_value_usual(param, value)) continue;
    rs_text_printf(text, ", %s: ", param->name);
    if (value->count > LIST_SHOWN)
      rs_text_printf(text, "%zu numbers", value->count);
    else
      rs_value_write(param, value, text);
  }
  rs_text_puts(text, "}");
}
