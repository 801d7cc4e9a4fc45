/* ropescope solve base|factor|length: the setting that serves a length, or the length that a setting serves, by a named
 * criterion. Here: what was asked. */
#include "solve.h"

#include <stdlib.h>
#include <string.h>

enum { LENGTH = 1, BASE = 2, GEOMETRY = 4, MODEL = 8, METHOD = 16 }; /* GEOMETRY: --head-dim, or a model */

enum { QUANTITIES = 3, CRITERIA = 4 };

static const char *const wanted_words[] = {"base", "factor", "length", NULL};
const char *const solve_criteria[] = {"first_violation", "critical_dim", "ood", "ntk", NULL};

/* What each question needs, and what it takes beside. */
static const struct {
  int needs, takes;
} questions[QUANTITIES][CRITERIA] = {
    [WANT_BASE] = {{LENGTH | GEOMETRY, 0}, {LENGTH | MODEL, 0}, {LENGTH | MODEL, 0}, {LENGTH | MODEL, 0}},
    [WANT_FACTOR] = {{LENGTH | MODEL | METHOD, 0},
                     {LENGTH | MODEL | METHOD, 0},
                     {LENGTH | MODEL | METHOD, 0},
                     {BASE | MODEL, 0}},
    [WANT_LENGTH] = {{GEOMETRY, BASE | METHOD}, {MODEL, BASE | METHOD}, {MODEL, BASE | METHOD}, {BASE | MODEL, 0}},
};

static const struct {
  int bit;
  const char *name, *missing;
} parts[] = {
    {LENGTH, "--length", "--length, the context to be served"},
    {BASE, "--base", "--base, the base to be judged"},
    {GEOMETRY, "--head-dim", "--head-dim, or a model by --model or --hf"},
    {MODEL, "--model", "--model or --hf, for the base and the length of its training"},
    {METHOD, "--method", "--method, as in --method yarn"},
};

/* ---- what was given ---------------------------------------------------------------------------------------------- */

static int given(const cli_options *options) {
  bool model = options->model != NULL || options->hf != NULL;
  return (options->length > 0 ? LENGTH : 0) | (options->base > 0 ? BASE : 0) | (options->head_dim > 0 ? GEOMETRY : 0) |
         (model ? MODEL : 0) | (options->method != NULL ? METHOD : 0);
}

static int refuse(const char *why) {
  cli_error("solve: %s", why);
  return CLI_USAGE;
}

/* What the question needs is there, and nothing that it would ignore. */
static int check_parts(const solve_task *task, int has) {
  int needs = questions[task->wanted][task->by].needs, takes = needs | questions[task->wanted][task->by].takes;
  const char *wanted = wanted_words[task->wanted], *by = solve_criteria[task->by];
  if ((takes & GEOMETRY) != 0) takes |= MODEL;
  for (size_t i = 0; i < RS_COUNT(parts); i++) {
    bool there = (has & parts[i].bit) != 0 || (parts[i].bit == GEOMETRY && (has & MODEL) != 0);
    if ((needs & parts[i].bit) == 0 || there) continue;
    cli_error("solve %s by %s needs %s", wanted, by, parts[i].missing);
    return CLI_USAGE;
  }
  for (size_t i = 0; i < RS_COUNT(parts); i++) {
    if ((has & parts[i].bit) == 0 || (takes & parts[i].bit) != 0) continue;
    cli_error("solve %s by %s takes no %s", wanted, by, parts[i].name);
    return CLI_USAGE;
  }
  return CLI_OK;
}

static int check_options(const cli_options *options, const solve_task *task) {
  int has = given(options);
  if (options->hf != NULL && options->model != NULL) return refuse("--hf and --model both name a model: keep one");
  if ((has & GEOMETRY) != 0 && (has & MODEL) != 0) return refuse("--head-dim and a model both give the dims: keep one");
  if ((has & BASE) != 0 && (has & METHOD) != 0) return refuse("--base is plain RoPE: keep it or --method");
  int code = check_parts(task, has);
  if (code != CLI_OK) return code;
  if ((has & GEOMETRY) != 0 && (has & METHOD) != 0) return refuse("--method needs --model or --hf");
  if (task->wanted == WANT_LENGTH && (has & GEOMETRY) != 0 && (has & BASE) == 0)
    return refuse("--head-dim alone has no frequencies: --base gives them");
  return CLI_OK;
}

/* ---- model and recipe -------------------------------------------------------------------------------------------- */

/* As a single-quoted YAML text. */
static void put_quoted(rs_text *text, const char *word) {
  rs_text_puts(text, "'");
  for (; *word != '\0'; word++) rs_text_add(text, *word == '\'' ? "''" : word, *word == '\'' ? 2 : 1);
  rs_text_puts(text, "'");
}

/* The question as a config of one model and one method. */
static void put_config(const cli_options *options, rs_text *text) {
  rs_text_puts(text, "model: {");
  if (options->head_dim > 0) { /* what training was is not asked for */
    rs_text_printf(text, "name: none, heads: 1, head_dim: %zu, rope_theta: 1e4, train_length: 4096", options->head_dim);
  } else {
    rs_text_puts(text, options->hf != NULL ? "hf: " : "preset: ");
    put_quoted(text, options->hf != NULL ? options->hf : options->model);
  }
  rs_text_puts(text, "}\nlengths: [1]\nmethods: [");
  if (options->method != NULL)
    rs_text_puts(text, options->method);
  else if (options->base > 0)
    rs_text_printf(text, "{name: rope, rope_theta: %.17g}", options->base);
  else
    rs_text_puts(text, "rope");
  rs_text_puts(text, "]\n");
}

static rs_status take(rs_experiment *experiment, const cli_options *options, solve_task *task, rs_err *err) {
  if (experiment->methods.count != 1)
    return rs_fail(err, RS_INPUT, "--method must be one method, not %zu", experiment->methods.count);
  RS_TRY(rs_experiment_recipe(experiment, 0, 0, &task->recipe, err));
  task->model = experiment->models[0];
  experiment->model_count = 0;
  if (options->method != NULL || options->base > 0 || task->model.published.method == NULL) return RS_OK;
  rs_recipe_clear(&task->recipe); /* what the model is run with */
  return rs_recipe_copy(&task->recipe, &task->model.published, err);
}

/* Plain RoPE as trained, into task->trained. */
static rs_status take_training(solve_task *task, rs_err *err) {
  rs_recipe plain;
  rs_spectrum spectrum;
  RS_TRY(rs_recipe_init(&plain, rs_method_find("rope"), err));
  rs_status status = rs_recipe_resolve(&plain, &task->model, err);
  if (status == RS_OK) status = rs_spectrum_make(&plain, &task->model, 1, &spectrum, err);
  rs_recipe_clear(&plain);
  if (status != RS_OK) return status;
  task->trained = spectrum.omega;
  spectrum.omega = NULL;
  task->pairs = spectrum.pairs;
  task->still = spectrum.head_dim / 2 - spectrum.pairs;
  task->train_length = (double)task->model.train_length;
  double chosen = rs_setting_number(&task->recipe.settings, "train_length");
  if (chosen > 0) task->train_length = chosen;
  rs_spectrum_clear(&spectrum);
  return RS_OK;
}

static int read_task(const cli_options *options, solve_task *task) {
  rs_text config = {0};
  rs_problems problems = {0};
  rs_err err = {0};
  rs_experiment *experiment = NULL;
  put_config(options, &config);
  rs_status status = rs_text_check(&config, &err);
  if (status == RS_OK)
    status =
        rs_config_read(rs_text_string(&config), "command line", (rs_config_edits){0}, &experiment, &problems, &err);
  if (status == RS_OK) status = take(experiment, options, task, &err);
  if (status == RS_OK) status = take_training(task, &err);
  int code = status == RS_OK ? CLI_OK : cli_fail(status, &problems, &err);
  rs_experiment_free(experiment);
  rs_problems_clear(&problems);
  rs_text_clear(&config);
  return code;
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

static int answer(const cli_options *options, solve_task *task) {
  rs_text out = {0};
  rs_err err = {0};
  int code = read_task(options, task);
  if (code == CLI_OK) {
    rs_status status = solve_answer(task, &out, &err);
    if (status != RS_OK) code = cli_fail(status, NULL, &err);
  }
  if (code == CLI_OK && !cli_put(&out)) code = CLI_FAILED;
  rs_text_clear(&out);
  rs_recipe_clear(&task->recipe);
  rs_model_clear(&task->model);
  free(task->trained);
  return code;
}

int cmd_solve(const cli_options *options) {
  const char *by = options->criterion != NULL ? options->criterion : solve_criteria[BY_FIRST_VIOLATION];
  int wanted = cli_choose("quantity", options->arguments[0], wanted_words);
  int criterion = wanted >= 0 ? cli_choose("--criterion", by, solve_criteria) : -1;
  if (wanted < 0 || criterion < 0) return CLI_USAGE;
  solve_task task = {.wanted = (solve_wanted)wanted,
                     .by = (solve_by)criterion,
                     .length = (double)options->length,
                     .base = options->base};
  int code = check_options(options, &task);
  return code == CLI_OK ? answer(options, &task) : code;
}
