/* Questions about settings and lengths: what each needs, the model and the recipe that it names, what a recipe turns
 * its pairs by at a length, and how far that reaches by the criterion of the question. */
#include "task.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- questions --------------------------------------------------------------------------------------------------- */

enum {
  LENGTH = RS_ASKS_LENGTH,
  BASE = RS_ASKS_BASE,
  GEOMETRY = RS_ASKS_GEOMETRY,
  MODEL = RS_ASKS_MODEL,
  METHOD = RS_ASKS_METHOD,
  FACTOR = LENGTH | MODEL | METHOD, /* what a factor needs, */
  SETTING = BASE | METHOD           /* and what a length takes beside the model */
};

/* What each question needs, and what it takes beside. */
static const struct {
  int needs, takes;
} questions[RS_SOLVE_LENGTH + 1][RS_CRITERIA] = {
    [RS_SOLVE_BASE] = {{LENGTH | GEOMETRY, 0}, {LENGTH | MODEL, 0}, {LENGTH | MODEL, 0}, {LENGTH | MODEL, 0}},
    [RS_SOLVE_FACTOR] = {{FACTOR, 0}, {FACTOR, 0}, {FACTOR, 0}, {BASE | MODEL, 0}},
    [RS_SOLVE_LENGTH] = {{GEOMETRY, SETTING}, {MODEL, SETTING}, {MODEL, SETTING}, {BASE | MODEL, 0}},
};

int rs_question_has(const rs_question *question) {
  bool model = question->preset != NULL || question->hf != NULL;
  return (question->length > 0 ? LENGTH : 0) | (question->base > 0 ? BASE : 0) |
         (question->head_dim > 0 ? GEOMETRY : 0) | (model ? MODEL : 0) | (question->method != NULL ? METHOD : 0);
}

bool rs_question_lacks(const rs_question *question, rs_question_part *part, bool *missing) {
  int needs = questions[question->sought][question->criterion].needs;
  int taken = needs | questions[question->sought][question->criterion].takes, has = rs_question_has(question);
  int lacks = needs & ~(has | ((has & MODEL) != 0 ? GEOMETRY : 0));
  if ((taken & GEOMETRY) != 0) taken |= MODEL;
  *missing = lacks != 0;
  int which = lacks != 0 ? lacks : has & ~taken;
  *part = (rs_question_part)(which & -which); /* the first */
  return which != 0;
}

/* ---- models and recipes ------------------------------------------------------------------------------------------ */

rs_status rs_solve_plain(const rs_model *model, double base, rs_recipe *recipe, rs_err *err) {
  RS_TRY(rs_recipe_init(recipe, rs_method_find("rope"), err));
  rs_status status = base > 0 ? rs_recipe_set_number(recipe, "rope_theta", base, err) : RS_OK;
  if (status == RS_OK) status = rs_recipe_resolve(recipe, model, err);
  if (status == RS_OK) status = rs_recipe_check(recipe, model, err);
  if (status != RS_OK) rs_recipe_clear(recipe);
  return status;
}

/* What training was is not asked for where the dims of a head are all that is known. */
static rs_status read_subject(const rs_question *question, rs_subject *subject, rs_problems *problems, rs_err *err) {
  const rs_subject_in in = {.hf = question->hf,
                            .hf_text = question->hf_text,
                            .preset = question->preset,
                            .layers = question->layers,
                            .method = question->method,
                            .fallback = "rope",
                            .length = 1};
  size_t dims = question->head_dim;
  if (dims % 2 != 0) return rs_fail(err, RS_INPUT, "head_dim = %zu: must be even: dims turn in pairs", dims);
  if (dims == 0) RS_TRY(rs_subject_read(&in, subject, problems, err));
  if (dims > 0)
    subject->model = (rs_model){.name = "none",
                                .heads = 1,
                                .head_dim = dims,
                                .rotary_dim = dims,
                                .rope_theta = 10000,
                                .train_length = 4096,
                                .max_length = 4096};
  if (dims == 0 && question->base == 0) return RS_OK;
  rs_recipe_clear(&subject->recipe);
  return rs_solve_plain(&subject->model, question->base, &subject->recipe, err);
}

/* What turns nothing has no base, no factor and no length. Plain RoPE as trained goes into task->trained. */
static rs_status read_training(rs_solve_task *task, rs_err *err) {
  RS_OWNED(rs_recipe) plain = {0};
  RS_OWNED(rs_spectrum) spectrum = {0};
  if (task->recipe->method->freq == NULL || task->model->rotary_dim < 2)
    return rs_fail(err, RS_UNSUPPORTED,
                   "%s turns no pairs on %s: it has no base, no factor, and no length to solve for",
                   task->recipe->method->name, task->model->name);
  RS_TRY(rs_solve_plain(task->model, 0, &plain, err));
  RS_TRY(rs_spectrum_make(&plain, task->model, 1, &spectrum, err));
  task->trained = spectrum.omega;
  spectrum.omega = NULL;
  task->pairs = spectrum.pairs;
  task->still = spectrum.head_dim / 2 - spectrum.pairs;
  task->train_length = rs_recipe_train_length(task->recipe, task->model);
  return RS_OK;
}

rs_status rs_solve_task_read(const rs_question *question, rs_solve_task *task, rs_problems *problems, rs_err *err) {
  *task = (rs_solve_task){.question = question, .model = &task->subject.model, .recipe = &task->subject.recipe};
  rs_status status = read_subject(question, &task->subject, problems, err);
  if (status == RS_OK && task->subject.profile.kind_count > 0)
    task->layers = &task->subject.profile.kinds[task->subject.kind];
  if (status == RS_OK) status = read_training(task, err);
  if (status != RS_OK) rs_solve_task_clear(task);
  return status;
}

void rs_solve_task_clear(rs_solve_task *task) {
  rs_subject_clear(&task->subject);
  free(task->trained);
  *task = (rs_solve_task){0};
}

/* What is published may be what the model was tuned with, which no criterion knows. */
rs_tuning rs_solve_tuning(const rs_solve_task *task) {
  const rs_question *q = task->question;
  const rs_method *method = task->recipe->method;
  bool published = q->sought == RS_SOLVE_LENGTH && q->head_dim == 0 && q->method == NULL && q->base == 0 &&
                   task->model->published.method != NULL;
  bool always = rs_word_among(method->name, "llama3 longrope");
  if (!published || (!always && !rs_method_scaled(method))) return RS_NOT_TUNED; /* M-RoPE is no extension */
  if (task->layers != NULL && task->layers->tuned) return RS_TUNED_BY_FILE;
  return always ? RS_TUNED_BY_METHOD : RS_TUNED_UNSAID;
}

rs_status rs_solve_costs(const rs_recipe *recipe, const rs_model *model, size_t length, rs_turn_costs *costs,
                         rs_err *err) {
  RS_HELD(rs_encoding) encoding = NULL;
  RS_TRY(rs_encoding_create(recipe, model, length, NULL, NULL, &encoding, err));
  return rs_turn_costs_find(encoding, costs, err);
}

double rs_ten_digits(double number) {
  char text[RS_NUMBER_CHARS];
  double rounded;
  snprintf(text, sizeof text, "%.10g", number);
  return rs_number_read(text, &rounded) ? rounded : number;
}

size_t rs_window_of(const rs_layer_kind *kind) {
  return kind != NULL && kind->compression == 0 ? kind->mask.window : 0;
}

rs_status rs_need_trained(const rs_model *model, double train_length, rs_err *err) {
  if (train_length >= 1) return RS_OK;
  return rs_fail(err, RS_INPUT,
                 "%s: has no max_position_embeddings, and its class no default: which length was it trained at?",
                 model->name);
}

/* ---- reaches ----------------------------------------------------------------------------------------------------- */

/* Positions that are moved, waves that mix, biases: distance alone does not say what is seen. A temperature is no such
 * thing. */
static bool does_more(const rs_method *method) {
  bool moves = method->pos->prepare != NULL && !method->pos->scaled;
  return moves || method->freq->mix != NULL || method->freq->log_gain != NULL || method->embed != NULL ||
         method->bias != NULL;
}

rs_status rs_solve_turn(const rs_solve_task *task, const rs_recipe *recipe, double length, rs_spectrum *spectrum,
                        rs_err *err) {
  RS_TRY(rs_spectrum_make(recipe, task->model, (size_t)length, spectrum, err));
  rs_status status = RS_OK;
  if (does_more(recipe->method))
    status = rs_fail(err, RS_UNSUPPORTED, "%s does more than turn pairs (%.200s): solve knows frequencies alone",
                     recipe->method->name, spectrum->beyond);
  else if (spectrum->pairs != task->pairs)
    status = rs_fail(err, RS_UNSUPPORTED, "the recipe turns %zu pairs and the model %zu", spectrum->pairs, task->pairs);
  if (status != RS_OK) rs_spectrum_clear(spectrum);
  return status;
}

static rs_status find_reach(const rs_solve_task *task, const rs_turning *turning, uint64_t most, double *reach,
                            rs_err *err) {
  uint64_t length;
  if (task->question->criterion == RS_CRITICAL_DIM) *reach = rs_reach_critical(turning);
  if (task->question->criterion == RS_OUT_OF_RANGE) *reach = rs_reach_in_range(turning);
  if (task->question->criterion != RS_FIRST_VIOLATION) return RS_OK;
  RS_TRY(rs_reach_first_violation(turning, most, &length, err));
  *reach = (double)length;
  return RS_OK;
}

rs_status rs_solve_reach(const rs_solve_task *task, double length, uint64_t most, double *reach, double *amp,
                         rs_err *err) {
  RS_OWNED(rs_spectrum) spectrum = {0};
  RS_TRY(rs_solve_turn(task, task->recipe, length, &spectrum, err));
  rs_turning turning = {spectrum.omega, task->trained, task->pairs, task->still, task->train_length};
  *amp = spectrum.amp;
  return find_reach(task, &turning, most, reach, err);
}

rs_status rs_solve_serves(const rs_solve_task *task, const rs_recipe *recipe, double length, uint64_t *hint, bool *good,
                          rs_err *err) {
  RS_OWNED(rs_spectrum) spectrum = {0};
  double reach = 0;
  RS_TRY(rs_solve_turn(task, recipe, length, &spectrum, err));
  rs_turning turning = {spectrum.omega, task->trained, task->pairs, task->still, task->train_length};
  bool sums = task->question->criterion == RS_FIRST_VIOLATION;
  rs_status status = sums ? rs_reach_serves(&turning, (uint64_t)length, hint, good, err)
                          : find_reach(task, &turning, (uint64_t)length, &reach, err);
  if (!sums) *good = reach >= length;
  return status;
}

rs_status rs_solve_good_base(const rs_solve_task *task, double base, double *good, rs_err *err) {
  uint64_t hint = 0;
  bool serves = false;
  RS_FREED double *omega = rs_alloc(task->pairs, sizeof *omega, err);
  rs_status status = omega != NULL ? RS_OK : RS_MEMORY;
  *good = NAN;
  for (double tried = base, step = 1; tried <= 100 * base && status == RS_OK && !serves; tried = floor(tried) + step) {
    rs_ladder(tried, 2 * (double)task->pairs, task->pairs, omega);
    rs_turning turning = {omega, NULL, task->pairs, 0, task->train_length};
    status = rs_reach_serves(&turning, (uint64_t)task->question->length, &hint, &serves, err);
    if (serves) *good = tried;
    step = fmin(2 * step, fmax(1, ceil(1e-3 * tried)));
  }
  return status;
}
