/* ropescope solve base|factor|length: the setting that serves a length, or the length that a setting serves, by a named
 * criterion. Here: what was asked. */
#include "cli.h"

#include "ropescope/solve.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LENGTH = 1, BASE = 2, GEOMETRY = 4, MODEL = 8, METHOD = 16 }; /* GEOMETRY: --head-dim, or a model */

enum { QUANTITIES = 3, CRITERIA = 4 };

static const char *const wanted_words[] = {"base", "factor", "length", NULL};
const char *const cli_criteria[] = {"first_violation", "critical_dim", "ood", "ntk", NULL};

/* What each question needs, and what it takes beside. */
static const struct {
  int needs, takes;
} questions[QUANTITIES][CRITERIA] = {
    [RS_SOLVE_BASE] = {{LENGTH | GEOMETRY, 0}, {LENGTH | MODEL, 0}, {LENGTH | MODEL, 0}, {LENGTH | MODEL, 0}},
    [RS_SOLVE_FACTOR] = {{LENGTH | MODEL | METHOD, 0},
                         {LENGTH | MODEL | METHOD, 0},
                         {LENGTH | MODEL | METHOD, 0},
                         {BASE | MODEL, 0}},
    [RS_SOLVE_LENGTH] = {{GEOMETRY, BASE | METHOD}, {MODEL, BASE | METHOD}, {MODEL, BASE | METHOD}, {BASE | MODEL, 0}},
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

/* What the question needs and lacks, or would ignore: "needs --length, the context to be served". False: nothing. */
static bool lacks(const rs_question *question, int has, char why[160]) {
  int needs = questions[question->sought][question->criterion].needs,
      takes = needs | questions[question->sought][question->criterion].takes;
  if ((takes & GEOMETRY) != 0) takes |= MODEL;
  for (size_t i = 0; i < RS_COUNT(parts); i++) {
    bool there = (has & parts[i].bit) != 0 || (parts[i].bit == GEOMETRY && (has & MODEL) != 0);
    if ((needs & parts[i].bit) == 0 || there) continue;
    snprintf(why, 160, "needs %s", parts[i].missing);
    return true;
  }
  for (size_t i = 0; i < RS_COUNT(parts); i++) {
    if ((has & parts[i].bit) == 0 || (takes & parts[i].bit) != 0) continue;
    snprintf(why, 160, "takes no %s", parts[i].name);
    return true;
  }
  return false;
}

static int check_options(const cli_options *options, const rs_question *question) {
  int has = given(options);
  if (options->hf != NULL && options->model != NULL) return refuse("--hf and --model both name a model: keep one");
  if ((has & GEOMETRY) != 0 && (has & MODEL) != 0) return refuse("--head-dim and a model both give the dims: keep one");
  if (options->layers != NULL && (has & MODEL) == 0) return refuse("--layers needs --model or --hf");
  if ((has & BASE) != 0 && (has & METHOD) != 0) return refuse("--base is plain RoPE: keep it or --method");
  char why[160];
  if (lacks(question, has, why)) {
    cli_error("solve %s by %s %s", wanted_words[question->sought], cli_criteria[question->criterion], why);
    return CLI_USAGE;
  }
  if ((has & GEOMETRY) != 0 && (has & METHOD) != 0) return refuse("--method needs --model or --hf");
  if (question->sought == RS_SOLVE_LENGTH && (has & GEOMETRY) != 0 && (has & BASE) == 0)
    return refuse("--head-dim alone has no frequencies: --base gives them");
  return CLI_OK;
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

/* What another criterion says of the same question. */
typedef struct second_answer {
  rs_solution solution;
  char why[160]; /* why it says nothing; "": it does */
} second_answer;

static void ask(const rs_question *question, int has, second_answer *answer) {
  rs_problems problems = {0};
  rs_err err = {0};
  *answer = (second_answer){0};
  if (lacks(question, has, answer->why)) return;
  if (rs_solve(question, &answer->solution, &problems, &err) != RS_OK)
    snprintf(answer->why, sizeof answer->why, "%.159s", err.message);
  rs_problems_clear(&problems);
}

static const char *meaning_of(const rs_solution *solution) {
  for (size_t i = 0; i < solution->count; i++)
    if (strcmp(solution->rows[i].name, "means") == 0) return solution->rows[i].text;
  return "";
}

static void put_text(const rs_solution *solution, rs_text *text) {
  rs_text_printf(text, "%s\n", solution->number);
  for (size_t i = 0; i < solution->count; i++)
    rs_text_printf(text, "%-11s%s\n", solution->rows[i].name, solution->rows[i].text);
}

static void put_seconds(const second_answer seconds[CRITERIA], rs_criterion first, rs_text *text) {
  for (size_t c = 0; c < CRITERIA; c++) {
    if (c == first) continue;
    rs_text_printf(text, "%-11s%s: ", "beside", cli_criteria[c]);
    if (*seconds[c].why != '\0')
      rs_text_printf(text, "%s\n", seconds[c].why);
    else
      rs_text_printf(text, "%s, %s\n", seconds[c].solution.number, meaning_of(&seconds[c].solution));
  }
}

static void write_seconds(rs_json *json, const second_answer seconds[CRITERIA], rs_criterion first) {
  rs_json_array(json, "beside");
  for (size_t c = 0; c < CRITERIA; c++) {
    if (c == first) continue;
    bool none = *seconds[c].why != '\0';
    rs_json_object(json, NULL);
    rs_json_string(json, "criterion", cli_criteria[c]);
    rs_json_number(json, "value", none ? NAN : seconds[c].solution.value);
    rs_json_string(json, "means", none ? NULL : meaning_of(&seconds[c].solution));
    rs_json_string(json, "why_not", none ? seconds[c].why : NULL);
    rs_json_end(json);
  }
  rs_json_end(json);
}

/* `seconds` NULL: one criterion was asked for. */
static void put_json(const rs_question *question, const rs_solution *solution, const second_answer *seconds,
                     rs_text *text) {
  rs_json json = {.text = text};
  rs_json_object(&json, NULL);
  rs_json_string(&json, "quantity", wanted_words[question->sought]);
  rs_json_number(&json, "value", solution->value);
  for (size_t i = 0; i < solution->count; i++) rs_json_string(&json, solution->rows[i].name, solution->rows[i].text);
  if (seconds != NULL) write_seconds(&json, seconds, question->criterion);
  rs_json_end(&json);
}

static bool put_answer(const cli_options *options, const rs_question *question, const rs_solution *solution) {
  second_answer seconds[CRITERIA];
  bool all = options->criterion == NULL;
  rs_text out = {0};
  for (size_t c = 0; all && c < CRITERIA; c++) {
    rs_question other = *question;
    other.criterion = (rs_criterion)c;
    if (c != question->criterion) ask(&other, given(options), &seconds[c]);
  }
  if (options->json)
    put_json(question, solution, all ? seconds : NULL, &out);
  else
    put_text(solution, &out);
  if (all && !options->json) put_seconds(seconds, question->criterion, &out);
  bool put = cli_put(&out);
  rs_text_clear(&out);
  return put;
}

static int answer(const cli_options *options, const rs_question *question) {
  rs_problems problems = {0};
  rs_err err = {0};
  rs_solution solution;
  rs_status status = rs_solve(question, &solution, &problems, &err);
  int code = status == RS_OK ? CLI_OK : cli_fail(status, &problems, &err);
  if (status == RS_OK && !put_answer(options, question, &solution)) code = CLI_FAILED;
  rs_problems_clear(&problems);
  return code;
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

int cmd_solve(const cli_options *options) {
  const char *word = options->criterion != NULL ? options->criterion : cli_criteria[RS_FIRST_VIOLATION];
  int sought = cli_choose("quantity", options->arguments[0], wanted_words);
  int criterion = sought >= 0 ? cli_choose("--criterion", word, cli_criteria) : -1;
  if (sought < 0 || criterion < 0) return CLI_USAGE;
  const rs_question question = {.sought = (rs_sought)sought,
                                .criterion = (rs_criterion)criterion,
                                .length = (double)options->length,
                                .base = options->base,
                                .head_dim = options->head_dim,
                                .hf = options->hf,
                                .hf_text = options->hf_text,
                                .preset = options->model,
                                .layers = options->layers,
                                .method = options->method};
  int code = check_options(options, &question);
  return code == CLI_OK ? answer(options, &question) : code;
}
