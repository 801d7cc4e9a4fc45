/* Settings that are right and yet not what their author will have meant. They run; their rows and stderr say so (of
 * models and checkpoints stderr alone). */
#include "config/config.h"

#include <string.h>

/* Methods that differ from plain RoPE by the axes of images and videos alone, and whether they need sections for it. */
static const struct {
  const char *method;
  bool sections;
} pictorial[] = {{"mrope", true}, {"mrope_i", true}, {"videorope", true}, {"v2pe", false}};

static void warn_plain(const rs_recipe *recipe, const rs_model *model, const rs_token_layout *tokens, rs_text *out) {
  size_t begin;
  for (size_t i = 0; i < RS_COUNT(pictorial); i++) {
    if (strcmp(recipe->method->name, pictorial[i].method) != 0) continue;
    if (tokens == NULL || rs_token_layout_picture(tokens, &begin) == NULL)
      rs_text_printf(out, "%s is plain RoPE here: the tokens hold no image or video (tokens: [{image: [16, 24]}])",
                     recipe->method->name);
    else if (pictorial[i].sections && !rs_recipe_has_sections(recipe, model))
      rs_text_printf(out,
                     "%s is plain RoPE here: the model has no mrope_section (mrope_section: equal shares the pairs)",
                     recipe->method->name);
  }
}

static void warn_shrunk(const rs_recipe *recipe, const rs_model *model, size_t length, rs_text *out) {
  double trained = rs_recipe_train_length(recipe, model);
  if (!rs_recipe_scale_auto(recipe) || (double)length >= trained) return;
  rs_text_printf(out,
                 "%sscale: auto is %.4g at %zu tokens: pairs turn faster than in training (scale: dynamic is never "
                 "below 1)",
                 out->length > 0 ? "; " : "", (double)length / trained, length);
}

/* Whether the method would learn the frequencies that it draws. */
static bool draws_frequencies(const rs_recipe *recipe) {
  const rs_freq_kind *kind = recipe->method->freq;
  const char *seed;
  return kind != NULL && kind->by_layer != NULL && kind->by_layer(&recipe->settings, &seed) && seed != NULL;
}

/* Numbers that a checkpoint has not learned are read as they begin. */
static void warn_untaught(const rs_recipe *recipe, const rs_recipe *trained, rs_text *out) {
  const rs_method *method = recipe->method, *known = trained->method;
  bool embeds = method->embed != NULL && method->embed->learned_rows != NULL && method->embed != known->embed;
  bool biases = method->bias != NULL && method->bias->learned != NULL && method->bias != known->bias;
  bool vectors = method->vectors != NULL && method->vectors != known->vectors;
  bool turns = draws_frequencies(recipe) && method->freq != known->freq;
  if (embeds || biases || vectors || turns)
    rs_text_printf(out, "%s%s learns its %s, and the checkpoint, trained with %s, has none: read as they begin",
                   out->length > 0 ? "; " : "", method->name,
                   embeds    ? "embeddings"
                   : biases  ? "biases"
                   : vectors ? "vectors of distance"
                             : "frequencies",
                   known->name);
}

void rs_recipe_warn(const rs_recipe *recipe, const rs_recipe *trained, const rs_model *model, size_t length,
                    const rs_token_layout *tokens, rs_text *out) {
  warn_plain(recipe, model, tokens, out);
  warn_shrunk(recipe, model, length, out);
  if (trained != NULL) warn_untaught(recipe, trained, out);
}

/* Adds the line unless it stands there. */
static void add_line(rs_text *lines, const char *line) {
  size_t length = strlen(line);
  for (const char *cursor = rs_text_string(lines); *cursor != '\0';) {
    size_t span = strcspn(cursor, "\n");
    if (span == length && strncmp(cursor, line, span) == 0) return;
    cursor += span + (cursor[span] == '\n');
  }
  rs_text_printf(lines, "%s\n", line);
}

/* The tokens that a length has: the config's, or those of a task's pictures (prepared; kind NULL: text) as a model
 * reads them. Release with rs_token_layout_clear. */
static rs_status layout_at(const rs_experiment *experiment, const rs_task *task, size_t model, size_t length,
                           rs_token_layout *layout, rs_err *err) {
  rs_example_shape shape;
  size_t tokens, count = experiment->tokens.count;
  *layout = (rs_token_layout){0};
  if (task->kind != NULL && task->kind->form == RS_VISION)
    return task->kind->shape(task->state, length, &shape, NULL) == RS_OK /* else the cell's own status says so */
               ? rs_task_layout(&shape, rs_shape_lead(&experiment->checkpoints[model].shape), layout, &tokens, err)
               : RS_OK;
  if (count == 0) return RS_OK;
  layout->runs = rs_alloc(count, sizeof *layout->runs, err);
  if (layout->runs == NULL) return RS_MEMORY;
  memcpy(layout->runs, experiment->tokens.runs, count * sizeof *layout->runs);
  layout->count = count;
  return RS_OK;
}

/* The first length where there is something to say is an example of the others. */
static rs_status warn_method(const rs_experiment *experiment, const rs_task *task, size_t model, size_t method,
                             const rs_recipe *recipe, rs_text *lines, rs_err *err) {
  bool warned = false;
  for (size_t i = 0; i < experiment->length_count && !warned; i++) {
    rs_text warning = {0};
    rs_token_layout layout;
    RS_TRY(layout_at(experiment, task, model, experiment->lengths[i], &layout, err));
    rs_recipe_warn(recipe, rs_trained_recipe(experiment, model, method), &experiment->models[model],
                   experiment->lengths[i], &layout, &warning);
    if (warning.length > 0) add_line(lines, rs_text_string(&warning));
    warned = warning.length > 0;
    lines->failed |= warning.failed;
    rs_text_clear(&warning);
    rs_token_layout_clear(&layout);
  }
  return RS_OK;
}

static void warn_doubts(const rs_experiment *experiment, rs_text *lines) {
  for (size_t i = 0; i < experiment->model_count && experiment->checkpoints != NULL; i++) {
    RS_OWNED(rs_text) line = {0};
    const char *doubt = experiment->checkpoints[i].doubt;
    if (doubt == NULL) continue;
    rs_text_printf(&line, "checkpoint %s: %s", experiment->models[i].name, doubt);
    add_line(lines, rs_text_string(&line));
    lines->failed |= line.failed;
  }
}

/* The first list of numbers of a kind that has no default and was not given; NULL: there is none. */
static const char *find_drawn(const rs_kind *kind, const rs_settings *settings) {
  for (size_t p = 0; p < kind->param_count; p++) {
    const rs_param *param = &kind->params[p];
    if (param->type == RS_REALS && param->fallback == NULL && !rs_setting(settings, param->name)->set)
      return param->name;
  }
  return NULL;
}

/* A published config.json holds none of the tables that its model has learned. */
static void warn_drawn(const rs_experiment *experiment, size_t model, size_t method, const rs_recipe *recipe,
                       rs_text *lines) {
  const rs_method *of = recipe->method;
  const rs_kind *const kinds[] = {of->embed != NULL && of->embed->learned_rows != NULL ? &of->embed->kind : NULL,
                                  of->bias != NULL && of->bias->learned != NULL ? &of->bias->kind : NULL,
                                  of->vectors != NULL ? &of->vectors->kind : NULL};
  for (size_t i = 0; i < RS_COUNT(kinds) && experiment->methods.items[method].published; i++) {
    RS_OWNED(rs_text) line = {0};
    const char *table = kinds[i] != NULL ? find_drawn(kinds[i], &recipe->settings) : NULL;
    if (table == NULL) continue;
    rs_text_printf(
        &line, "%s: the %s of %s is drawn, not the model's own (methods: [{name: %s, %s: FILE.safetensors:TENSOR}])",
        experiment->models[model].name, table, of->name, of->name, table);
    add_line(lines, rs_text_string(&line));
    lines->failed |= line.failed;
  }
}

rs_status rs_experiment_warnings(const rs_experiment *experiment, rs_text *lines, rs_err *err) {
  const rs_task_in in = {.params = experiment->task.params};
  rs_task task = {0};
  if (experiment->task.task != NULL) RS_TRY(rs_task_prepare(experiment->task.task, &in, &task, err));
  rs_status status = RS_OK;
  for (size_t model = 0; model < experiment->model_count && experiment->layers != NULL; model++)
    if (experiment->layers[model].remark != NULL) add_line(lines, experiment->layers[model].remark);
  warn_doubts(experiment, lines);
  for (size_t model = 0; model < experiment->model_count && status == RS_OK; model++)
    for (size_t method = 0; method < experiment->methods.count && status == RS_OK; method++) {
      rs_recipe recipe = {0};
      status = rs_experiment_recipe(experiment, model, method, &recipe, err);
      if (status == RS_OK) warn_drawn(experiment, model, method, &recipe, lines);
      if (status == RS_OK) status = warn_method(experiment, &task, model, method, &recipe, lines, err);
      rs_recipe_clear(&recipe);
    }
  rs_task_clear(&task);
  return status == RS_OK ? rs_text_check(lines, err) : status;
}
