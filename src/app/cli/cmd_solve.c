/* ropescope solve base|factor|length: the setting that serves a length, or the length that a setting serves, by all
 * criteria or a named one. */
#include "cli.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { QUANTITIES = 3 };

static const char *const wanted_words[] = {"base", "factor", "length", "setting", "evidence", NULL};

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
  bool model = has & RS_ASKS_MODEL, geometry = has & RS_ASKS_GEOMETRY, base = has & RS_ASKS_BASE;
  bool method = has & RS_ASKS_METHOD, by = options->criterion != NULL;
  char why[160];
  if (options->consumer != NULL) return cli_error("solve: --for goes with setting");
  if (options->checkpoint != NULL) return cli_error("solve: --checkpoint goes with setting");
  if (cli_refuse_measuring(options) != CLI_OK) return CLI_USAGE;
  if (options->hf != NULL && options->model != NULL)
    return cli_error("solve: --hf and --model both name a model: keep one");
  if (geometry && model) return cli_error("solve: --head-dim and a model both give the dims: keep one");
  if (options->layers != NULL && !model) return cli_error("solve: --layers needs --model or --hf");
  if (base && method) return cli_error("solve: --base is plain RoPE: keep it or --method");
  if (lacks(question, why))
    return cli_error("solve %s%s%s %s", wanted_words[question->sought], by ? " by " : "",
                     by ? cli_criteria[question->criterion] : "", why);
  if (geometry && method) return cli_error("solve: --method needs --model or --hf");
  if (question->sought == RS_SOLVE_LENGTH && geometry && !base)
    return cli_error("solve: --head-dim alone has no frequencies: --base gives them");
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

/* "recipe     {name: yarn}", a line for each word of the tree. */
static void put_lines(const rs_doc *doc, rs_text *text) {
  for (const rs_doc *row = doc->first; row != NULL; row = row->next)
    if (row->kind == RS_DOC_TEXT && strcmp(row->key, "quantity") != 0)
      rs_text_line(text, "%-11s%s", row->key, row->text);
}

static void add_value(rs_doc *doc, const rs_question *question, double value, bool open) {
  rs_doc_put(doc, DOC_WORDS("quantity", wanted_words[question->sought]), DOC_NUMBER("value", value));
  if (open) rs_doc_put(doc, DOC_FLAG("open", true));
}

static rs_status answer(const cli_options *options, const rs_question *question, rs_doc *doc, rs_text *text,
                        rs_problems *problems, rs_err *err) {
  rs_solution solution;
  RS_TRY(rs_solve(question, &solution, problems, err));
  add_value(doc, question, solution.value, solution.open);
  for (size_t i = 0; i < solution.count; i++) rs_doc_put(doc, DOC_WORDS(solution.rows[i].name, solution.rows[i].text));
  if (options->json || doc == NULL) return RS_OK;
  rs_text_printf(text, "%s\n", solution.number);
  put_lines(doc, text);
  return RS_OK;
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

static void put_criteria(const verdict all[RS_CRITERIA], rs_text *text) {
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

static void add_criterion(rs_doc *list, rs_criterion criterion, const verdict *said) {
  const rs_solution *solution = has_answer(said) ? &said->solution : NULL;
  rs_doc *in = rs_doc_add(list, NULL, RS_DOC_OBJECT);
  rs_doc_put(in, DOC_WORDS("criterion", cli_criteria[criterion]),
             DOC_NUMBER("value", solution != NULL ? solution->value : NAN));
  if (solution != NULL && solution->open) rs_doc_put(in, DOC_FLAG("open", true));
  rs_doc_put(in, DOC_WORDS("means", solution != NULL ? row_of(solution, "means") : NULL),
             DOC_WORDS("why_not", solution != NULL ? NULL : said->why));
  if (solution == NULL) return;
  for (size_t i = 0; i < RS_COUNT(own_rows); i++)
    if (row_of(solution, own_rows[i]) != NULL) rs_doc_put(in, DOC_WORDS(own_rows[i], row_of(solution, own_rows[i])));
  rs_doc_put(in, DOC_WORDS("reference", row_of(solution, "reference")));
}

static void add_all(rs_doc *doc, const rs_question *question, const verdict all[RS_CRITERIA], const rs_advice *advice) {
  add_value(doc, question, value_of(all, advice), advice->open);
  rs_doc_put(doc, DOC_WORDS("advice", advice->text.length > 0 ? rs_text_string(&advice->text) : NULL));
  for (size_t i = 0; i < RS_COUNT(shared_rows); i++)
    if (shared_row(all, shared_rows[i]) != NULL)
      rs_doc_put(doc, DOC_WORDS(shared_rows[i], shared_row(all, shared_rows[i])));
  rs_doc *list = rs_doc_add(doc, "criteria", RS_DOC_ARRAY);
  for (size_t c = 0; c < RS_CRITERIA; c++) add_criterion(list, (rs_criterion)c, &all[c]);
}

/* What each criterion says. Where none does, the first failure is the answer. */
static rs_status ask_all(const rs_question *question, verdict all[RS_CRITERIA], rs_problems *problems, rs_err *err) {
  int answers = 0;
  for (size_t c = 0; c < RS_CRITERIA; c++) {
    rs_question one = *question;
    rs_err why = {0};
    all[c] = (verdict){0};
    one.criterion = (rs_criterion)c;
    if (lacks(&one, all[c].why)) continue;
    rs_status status = rs_solve(&one, &all[c].solution, problems, &why);
    bool failed = status == RS_MEMORY || status == RS_IO, wrong = status == RS_INPUT || status == RS_UNSUPPORTED;
    if (failed || (wrong && c == 0)) {
      *err = why;
      return status;
    }
    if (status != RS_OK) rs_err_words(&why, all[c].why, sizeof all[c].why);
    rs_problems_clear(problems);
    answers += status == RS_OK;
  }
  return answers > 0 ? RS_OK : rs_fail(err, RS_DOMAIN, "%s", all[0].why);
}

static rs_status answer_all(const cli_options *options, const rs_question *question, rs_doc *doc, rs_text *text,
                            rs_problems *problems, rs_err *err) {
  verdict all[RS_CRITERIA];
  const rs_solution *solved[RS_CRITERIA];
  RS_OWNED(rs_advice) advice = {0};
  RS_TRY(ask_all(question, all, problems, err));
  for (size_t c = 0; c < RS_CRITERIA; c++) solved[c] = has_answer(&all[c]) ? &all[c].solution : NULL;
  RS_TRY(rs_advise(question, solved, &advice, problems, err));
  add_all(doc, question, all, &advice);
  if (!options->json && doc != NULL) {
    rs_text_number(text, value_of(all, &advice));
    rs_text_puts(text, "\n");
    put_lines(doc, text);
    put_criteria(all, text);
  }
  return RS_OK;
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

int cmd_solve(const cli_options *options) {
  const char *word = options->criterion != NULL ? options->criterion : cli_criteria[RS_FIRST_VIOLATION];
  int sought = cli_choose("quantity", options->arguments[0], wanted_words);
  int criterion = sought >= 0 ? cli_choose("--criterion", word, cli_criteria) : -1;
  if (sought < 0 || criterion < 0) return CLI_USAGE;
  if (sought == QUANTITIES) return cli_solve_setting(options);
  if (sought == QUANTITIES + 1) return cli_solve_evidence(options);
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
  RS_OWNED(rs_arena) arena = {0};
  RS_OWNED(rs_problems) problems = {0};
  rs_err err = {0};
  RS_OWNED(rs_text) text = {0};
  int code = check_options(options, &question);
  if (code != CLI_OK) return code;
  rs_doc *doc = rs_doc_new(&arena, RS_DOC_OBJECT);
  rs_status status =
      (options->criterion != NULL ? answer : answer_all)(options, &question, doc, &text, &problems, &err);
  if (status == RS_OK && options->json) rs_doc_json(doc, &text);
  text.failed |= arena.failed;
  code = status == RS_OK ? cli_put(&text, options->json ? CLI_DATA : CLI_TEXT) : cli_fail(status, &problems, &err);
  return code;
}
