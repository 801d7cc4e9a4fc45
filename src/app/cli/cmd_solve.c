/* ropescope solve base|factor|length: the setting that serves a length, or the length that a setting serves, by all
 * criteria or a named one. */
#include "cli.h"

#include "advice/advice.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { QUANTITIES = 3 };

static const char *const wanted_words[] = {"base", "factor", "length", "setting", NULL};
const char *const cli_criteria[] = {"first_violation", "critical_dim", "ood", "ntk", NULL};

static const struct {
  rs_question_part part;
  const char *name, *missing;
} parts[] = {
    {RS_ASKS_LENGTH, "--length", "--length, the context to be served"},
    {RS_ASKS_BASE, "--base", "--base, the base to be judged"},
    {RS_ASKS_GEOMETRY, "--head-dim", "--head-dim, or a model by --model or --hf"},
    {RS_ASKS_MODEL, "--model", "--model or --hf, for the base and the length of its training"},
    {RS_ASKS_METHOD, "--method", "--method, as in --method yarn"},
};

/* ---- what was given ---------------------------------------------------------------------------------------------- */

static int refuse(const char *why) {
  cli_error("solve: %s", why);
  return CLI_USAGE;
}

/* What the question needs and lacks, or would ignore: "needs --length, the context to be served". False: nothing. */
static bool lacks(const rs_question *question, char why[160]) {
  rs_question_part part;
  bool missing;
  if (!rs_question_lacks(question, &part, &missing)) return false;
  for (size_t i = 0; i < RS_COUNT(parts); i++)
    if (parts[i].part == part)
      snprintf(why, 160, missing ? "needs %s" : "takes no %s", missing ? parts[i].missing : parts[i].name);
  return true;
}

static int check_options(const cli_options *options, const rs_question *question) {
  int has = rs_question_has(question);
  if (options->hf != NULL && options->model != NULL) return refuse("--hf and --model both name a model: keep one");
  if ((has & RS_ASKS_GEOMETRY) != 0 && (has & RS_ASKS_MODEL) != 0)
    return refuse("--head-dim and a model both give the dims: keep one");
  if (options->layers != NULL && (has & RS_ASKS_MODEL) == 0) return refuse("--layers needs --model or --hf");
  if ((has & RS_ASKS_BASE) != 0 && (has & RS_ASKS_METHOD) != 0)
    return refuse("--base is plain RoPE: keep it or --method");
  char why[160];
  if (lacks(question, why)) {
    if (options->criterion == NULL)
      cli_error("solve %s %s", wanted_words[question->sought], why);
    else
      cli_error("solve %s by %s %s", wanted_words[question->sought], cli_criteria[question->criterion], why);
    return CLI_USAGE;
  }
  if ((has & RS_ASKS_GEOMETRY) != 0 && (has & RS_ASKS_METHOD) != 0) return refuse("--method needs --model or --hf");
  if (question->sought == RS_SOLVE_LENGTH && (has & RS_ASKS_GEOMETRY) != 0 && (has & RS_ASKS_BASE) == 0)
    return refuse("--head-dim alone has no frequencies: --base gives them");
  return CLI_OK;
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

/* What a criterion says. */
typedef struct verdict {
  rs_solution solution;
  char why[256]; /* why it says nothing; "": it does */
} verdict;

static const char *row_of(const rs_solution *solution, const char *name) {
  for (size_t i = 0; i < solution->count; i++)
    if (strcmp(solution->rows[i].name, name) == 0) return solution->rows[i].text;
  return NULL;
}

/* ---- one criterion ----------------------------------------------------------------------------------------------- */

static void put_text(const rs_solution *solution, rs_text *text) {
  rs_text_printf(text, "%s\n", solution->number);
  for (size_t i = 0; i < solution->count; i++)
    rs_text_line(text, "%-11s%s", solution->rows[i].name, solution->rows[i].text);
}

static void put_json(const rs_question *question, const rs_solution *solution, rs_text *text) {
  rs_json json = {.text = text};
  rs_json_object(&json, NULL);
  rs_json_string(&json, "quantity", wanted_words[question->sought]);
  rs_json_number(&json, "value", solution->value);
  if (solution->open) rs_json_bool(&json, "open", true);
  for (size_t i = 0; i < solution->count; i++) rs_json_string(&json, solution->rows[i].name, solution->rows[i].text);
  rs_json_end(&json);
}

static int answer(const cli_options *options, const rs_question *question) {
  rs_problems problems = {0};
  rs_err err = {0};
  rs_solution solution;
  rs_text text = {0};
  rs_status status = rs_solve(question, &solution, &problems, &err);
  if (status == RS_OK && options->json)
    put_json(question, &solution, &text);
  else if (status == RS_OK)
    put_text(&solution, &text);
  int code = status != RS_OK                                       ? cli_fail(status, &problems, &err)
             : cli_put(&text, options->json ? CLI_DATA : CLI_TEXT) ? CLI_OK
                                                                   : CLI_FAILED;
  rs_text_clear(&text);
  rs_problems_clear(&problems);
  return code;
}

/* ---- all of them, side by side ----------------------------------------------------------------------------------- */

/* Lines that are the same whatever the criterion, and those of one criterion. */
static const char *const shared_rows[] = {"recipe", "published",   "tuned",   "layers",
                                          "window", "temperature", "training"};
static const char *const own_rows[] = {"search", "switch", "note"};

static bool has_answer(const verdict *said) {
  return *said->why == '\0';
}

/* The line as the first criterion that has one says it. */
static const char *shared_row(const verdict all[RS_CRITERIA], const char *name) {
  const char *text = NULL;
  for (size_t c = 0; c < RS_CRITERIA && text == NULL; c++)
    if (has_answer(&all[c])) text = row_of(&all[c].solution, name);
  return text;
}

/* The number that is advised, else the first that a criterion has. */
static double value_of(const verdict all[RS_CRITERIA], const rs_advice *advice) {
  double value = advice->value;
  for (size_t c = 0; c < RS_CRITERIA && isnan(value); c++)
    if (has_answer(&all[c])) value = all[c].solution.value;
  return value;
}

static void put_all(const verdict all[RS_CRITERIA], const rs_advice *advice, rs_text *text) {
  rs_text_number(text, value_of(all, advice));
  rs_text_puts(text, "\n");
  if (advice->text.length > 0) rs_text_line(text, "%-11s%s", "advice", rs_text_string(&advice->text));
  for (size_t i = 0; i < RS_COUNT(shared_rows); i++)
    if (shared_row(all, shared_rows[i]) != NULL)
      rs_text_line(text, "%-11s%s", shared_rows[i], shared_row(all, shared_rows[i]));
  for (size_t c = 0; c < RS_CRITERIA; c++) {
    rs_text_printf(text, "%s: ", cli_criteria[c]);
    if (!has_answer(&all[c])) {
      rs_text_line(text, "%s", all[c].why);
      continue;
    }
    rs_text_line(text, "%s, %s", all[c].solution.number, row_of(&all[c].solution, "means"));
    for (size_t i = 0; i < RS_COUNT(own_rows); i++) {
      const char *row = row_of(&all[c].solution, own_rows[i]);
      if (row != NULL) rs_text_line(text, "           %s", row);
    }
  }
}

static void write_criterion(rs_json *json, rs_criterion criterion, const verdict *said) {
  bool none = !has_answer(said);
  rs_json_object(json, NULL);
  rs_json_string(json, "criterion", cli_criteria[criterion]);
  rs_json_number(json, "value", none ? NAN : said->solution.value);
  if (!none && said->solution.open) rs_json_bool(json, "open", true);
  rs_json_string(json, "means", none ? NULL : row_of(&said->solution, "means"));
  rs_json_string(json, "why_not", none ? said->why : NULL);
  for (size_t i = 0; i < RS_COUNT(own_rows) && !none; i++)
    if (row_of(&said->solution, own_rows[i]) != NULL)
      rs_json_string(json, own_rows[i], row_of(&said->solution, own_rows[i]));
  if (!none) rs_json_string(json, "reference", row_of(&said->solution, "reference"));
  rs_json_end(json);
}

static void write_all(const rs_question *question, const verdict all[RS_CRITERIA], const rs_advice *advice,
                      rs_text *text) {
  rs_json json = {.text = text};
  rs_json_object(&json, NULL);
  rs_json_string(&json, "quantity", wanted_words[question->sought]);
  rs_json_number(&json, "value", value_of(all, advice));
  if (advice->open) rs_json_bool(&json, "open", true);
  rs_json_string(&json, "advice", advice->text.length > 0 ? rs_text_string(&advice->text) : NULL);
  for (size_t i = 0; i < RS_COUNT(shared_rows); i++)
    if (shared_row(all, shared_rows[i]) != NULL) rs_json_string(&json, shared_rows[i], shared_row(all, shared_rows[i]));
  rs_json_array(&json, "criteria");
  for (size_t c = 0; c < RS_CRITERIA; c++) write_criterion(&json, (rs_criterion)c, &all[c]);
  rs_json_end(&json);
  rs_json_end(&json);
}

/* What each criterion says. Where none does, the first failure is the answer: an exit status. */
static int ask_all(const rs_question *question, verdict all[RS_CRITERIA]) {
  int answers = 0, first = CLI_OK;
  for (size_t c = 0; c < RS_CRITERIA; c++) {
    rs_question one = *question;
    rs_problems problems = {0};
    rs_err err = {0};
    all[c] = (verdict){0};
    one.criterion = (rs_criterion)c;
    if (lacks(&one, all[c].why)) continue;
    rs_status status = rs_solve(&one, &all[c].solution, &problems, &err);
    bool failed = status == RS_MEMORY || status == RS_IO, wrong = status == RS_INPUT || status == RS_UNSUPPORTED;
    if (status != RS_OK) rs_err_words(&err, all[c].why, sizeof all[c].why);
    if (failed || (wrong && c == 0)) first = cli_fail(status, &problems, &err);
    rs_problems_clear(&problems);
    if (first != CLI_OK) return first;
    answers += status == RS_OK;
  }
  if (answers > 0) return CLI_OK;
  cli_error("%s", all[0].why);
  return CLI_USAGE;
}

static int answer_all(const cli_options *options, const rs_question *question) {
  verdict all[RS_CRITERIA];
  const rs_solution *solved[RS_CRITERIA];
  rs_advice advice = {0};
  rs_problems problems = {0};
  rs_err err = {0};
  rs_text text = {0};
  int code = ask_all(question, all);
  if (code != CLI_OK) return code;
  for (size_t c = 0; c < RS_CRITERIA; c++) solved[c] = has_answer(&all[c]) ? &all[c].solution : NULL;
  rs_status status = rs_advise(question, solved, &advice, &problems, &err);
  if (status == RS_OK && options->json)
    write_all(question, all, &advice, &text);
  else if (status == RS_OK)
    put_all(all, &advice, &text);
  code = status != RS_OK                                       ? cli_fail(status, &problems, &err)
         : cli_put(&text, options->json ? CLI_DATA : CLI_TEXT) ? CLI_OK
                                                               : CLI_FAILED;
  rs_text_clear(&text);
  rs_advice_clear(&advice);
  rs_problems_clear(&problems);
  return code;
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

int cmd_solve(const cli_options *options) {
  const char *word = options->criterion != NULL ? options->criterion : cli_criteria[RS_FIRST_VIOLATION];
  int sought = cli_choose("quantity", options->arguments[0], wanted_words);
  int criterion = sought >= 0 ? cli_choose("--criterion", word, cli_criteria) : -1;
  if (sought < 0 || criterion < 0) return CLI_USAGE;
  if (sought == QUANTITIES) return cli_solve_setting(options);
  if (options->weights != NULL) return refuse("--weights goes with setting");
  if (options->consumer != NULL) return refuse("--for goes with setting");
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
  if (code != CLI_OK) return code;
  return options->criterion != NULL ? answer(options, &question) : answer_all(options, &question);
}
