/* What check finds, why two recipes differ, recipes for other consumers, and which setting serves a length. */
#include "api.h"

#include "advice/advice.h"

#include <stdlib.h>
#include <string.h>

/* ---- findings ---------------------------------------------------------------------------------------------------- */

struct ropescope_findings {
  rs_findings found;
  ropescope_finding *items; /* (found.count,) */
};

_Static_assert((int)ROPESCOPE_NOTE == RS_NOTE && (int)ROPESCOPE_WARNING == RS_WARNING &&
                   (int)ROPESCOPE_ERROR == RS_ERROR,
               "a severity goes out as it is");

/* "vllm, sglang" as a set; NULL: none is named. */
static rs_status choose_engines(const char *words, uint32_t *engines, rs_err *err) {
  static const char between[] = ", ";
  *engines = 0;
  for (const char *word = words; word != NULL && *word != '\0';) {
    word += strspn(word, between);
    size_t length = strcspn(word, between);
    RS_OWNED(rs_text) name = {0};
    rs_text_add(&name, word, length);
    rs_status status = rs_text_check(&name, err);
    if (status == RS_OK && length > 0) status = rs_config_engines_choose(rs_text_string(&name), engines, err);
    if (status != RS_OK) return status;
    word += length;
  }
  return RS_OK;
}

static rs_status check_text(const char *text, size_t length, const char *name, uint32_t engines,
                            ropescope_findings *findings, rs_err *err) {
  RS_TRY(rs_check(text, length, name, engines, &findings->found, err));
  findings->items = rs_alloc(findings->found.count, sizeof *findings->items, err);
  if (findings->items == NULL) return RS_MEMORY;
  for (size_t i = 0; i < findings->found.count; i++) {
    const rs_finding *found = &findings->found.items[i];
    findings->items[i] = (ropescope_finding){.code = found->rule->code,
                                             .rule = found->rule->name,
                                             .severity = (ropescope_severity)found->severity,
                                             .line = found->line,
                                             .column = found->column,
                                             .key = found->key,
                                             .text = found->text,
                                             .fix = found->fix};
  }
  return RS_OK;
}

static rs_status check_file(const char *name, uint32_t engines, ropescope_findings *findings, rs_err *err) {
  RS_FREED char *data = NULL;
  size_t length = 0;
  if (name == NULL) return rs_fail(err, RS_INPUT, "neither a text nor a file is named");
  RS_FREED char *path = rs_api_config_path(name, err);
  RS_TRY(path != NULL ? rs_hf_config_load(path, &data, &length, err) : RS_MEMORY);
  return check_text(data, length, path, engines, findings, err);
}

ropescope_status ropescope_check(const char *text, size_t length, const char *name, const char *engines,
                                 ropescope_findings **findings, ropescope_error **error) {
  uint32_t set;
  rs_err err = {0};
  *findings = rs_alloc(1, sizeof **findings, &err);
  rs_status status = *findings != NULL ? choose_engines(engines, &set, &err) : RS_MEMORY;
  if (status == RS_OK)
    status = text != NULL ? check_text(text, length, name != NULL ? name : "config.json", set, *findings, &err)
                          : check_file(name, set, *findings, &err);
  return RS_API_END(status, findings, ropescope_findings_free, error, &err, NULL);
}

void ropescope_findings_free(ropescope_findings *findings) {
  if (findings == NULL) return;
  rs_findings_clear(&findings->found);
  free(findings->items);
  free(findings);
}

RS_API_AT(const ropescope_finding *, ropescope_findings_at, findings, findings->found.count, &findings->items[index]);

size_t ropescope_findings_count(const ropescope_findings *findings, ropescope_severity least) {
  return rs_findings_count(&findings->found, (rs_severity)least);
}

/* ---- comparisons ------------------------------------------------------------------------------------------------- */

static const double USUAL_TOLERANCE = 1e-6;

struct ropescope_comparison {
  rs_contender sides[2];
  rs_difference difference;
  rs_causes causes;
  ropescope_cause handed[RS_CAUSES];
  rs_arena arena; /* of the model's path */
};

_Static_assert((int)ROPESCOPE_DIFFERS_FREQUENCY == RS_DIFFERS_FREQUENCY &&
                   (int)ROPESCOPE_DIFFERS_AMPLITUDE == RS_DIFFERS_AMPLITUDE &&
                   (int)ROPESCOPE_DIFFERS_AXIS == RS_DIFFERS_AXIS &&
                   (int)ROPESCOPE_DIFFERS_LAYOUT == RS_DIFFERS_LAYOUT &&
                   (int)ROPESCOPE_DIFFERS_BEYOND == RS_DIFFERS_BEYOND &&
                   (int)ROPESCOPE_DIFFERS_WIDTH == RS_DIFFERS_WIDTH &&
                   (int)ROPESCOPE_DIFFERS_POSITIONS == RS_DIFFERS_POSITIONS,
               "what differs goes out as it is");

/* A contest with the recipes that stand in the place of its texts. */
typedef struct entrants {
  const ropescope_contest *contest;
  const ropescope_recipe *recipes[2]; /* NULL: the text */
} entrants;

/* Frequencies are compared as doubles at positions 0, 1, ...: a recipe that says otherwise is not what would be seen.
 */
static rs_status check_recipe(const ropescope_recipe *recipe, const char *side, rs_err *err) {
  if (recipe == NULL) return RS_OK;
  const rs_subject *subject = &recipe->subject;
  const rs_precision *p = &subject->precision;
  if (subject->tokens.count > 0 || subject->tokens.id_count > 0)
    return rs_fail_on(err, RS_UNSUPPORTED, side, "has a layout of tokens, which no comparison reads");
  if (p->positions != RS_F64 || p->inv_freq != RS_F64 || p->angle != RS_F64 || p->table != RS_F64 || p->running)
    return rs_fail_on(err, RS_UNSUPPORTED, side, "has a precision, which no comparison reads");
  return RS_OK;
}

static rs_status check_entrants(const entrants *given, rs_err *err) {
  const ropescope_contest *contest = given->contest;
  RS_TRY(rs_api_sized(contest, sizeof *contest, "ropescope_contest", err));
  const char *texts[] = {contest->a, contest->b}, *const names[] = {"a", "b"};
  for (size_t i = 0; i < 2; i++) {
    if (texts[i] == NULL && given->recipes[i] == NULL) return rs_fail_on(err, RS_INPUT, names[i], "is missing");
    if (texts[i] != NULL && given->recipes[i] != NULL)
      return rs_fail_on(err, RS_INPUT, names[i], "stands beside a recipe: keep one of them");
    RS_TRY(check_recipe(given->recipes[i], names[i], err));
  }
  if ((contest->file != NULL || contest->text != NULL) && contest->preset != NULL)
    return rs_fail_on(err, RS_INPUT, "preset", "stands beside a file or text: one of them names the model");
  if (!(contest->tolerance >= 0 && contest->tolerance < 1))
    return rs_fail_on(err, RS_INPUT, "tolerance", "must be at least 0 and below 1");
  return RS_OK;
}

static rs_compared compared(const rs_contender *side) {
  bool dump = side->origin == RS_FROM_DUMP;
  return (rs_compared){.recipe = dump ? NULL : &side->recipe,
                       .model = dump ? NULL : &side->model,
                       .length = side->length,
                       .spectrum = &side->spectrum};
}

static rs_status compare(const entrants *given, ropescope_comparison *out, rs_problems *problems, rs_err *err) {
  RS_TRY(check_entrants(given, err));
  const ropescope_contest *contest = given->contest;
  const ropescope_recipe *const *recipes = given->recipes;
  double tolerance = contest->tolerance > 0 ? contest->tolerance : USUAL_TOLERANCE;
  const char *name;
  RS_TRY(rs_api_model_name(contest->file, contest->text, &out->arena, &name, err));
  const rs_contest in = {
      .text = {recipes[0] != NULL ? recipes[0]->text : contest->a, recipes[1] != NULL ? recipes[1]->text : contest->b},
      .subject = {recipes[0] != NULL ? &recipes[0]->subject : NULL, recipes[1] != NULL ? &recipes[1]->subject : NULL},
      .layers = contest->layers,
      .hf = name,
      .preset = contest->preset,
      .hf_text = contest->text,
      .length = contest->length,
      .rtol = tolerance};
  RS_TRY(rs_contest_read(&in, out->sides, problems, err));
  const rs_compared a = compared(&out->sides[0]), b = compared(&out->sides[1]);
  out->difference = rs_spectrum_compare(a.spectrum, b.spectrum, tolerance);
  RS_TRY(rs_causes_find(&a, &b, tolerance, &out->causes, err));
  for (size_t i = 0; i < out->causes.count; i++)
    out->handed[i] =
        (ropescope_cause){out->causes.items[i].text, out->causes.items[i].whole, out->causes.items[i].residual};
  return RS_OK;
}

ropescope_status ropescope_compare_recipes(const ropescope_contest *contest, const ropescope_recipe *a,
                                           const ropescope_recipe *b, ropescope_comparison **comparison,
                                           ropescope_error **error) {
  const entrants given = {contest, {a, b}};
  rs_problems problems = {0};
  rs_err err = {0};
  *comparison = rs_alloc(1, sizeof **comparison, &err);
  rs_status status = *comparison != NULL ? compare(&given, *comparison, &problems, &err) : RS_MEMORY;
  return RS_API_END(status, comparison, ropescope_comparison_free, error, &err, &problems);
}

ropescope_status ropescope_compare(const ropescope_contest *contest, ropescope_comparison **comparison,
                                   ropescope_error **error) {
  return ropescope_compare_recipes(contest, NULL, NULL, comparison, error);
}

void ropescope_comparison_free(ropescope_comparison *comparison) {
  if (comparison == NULL) return;
  rs_contest_clear(comparison->sides);
  rs_arena_clear(&comparison->arena);
  free(comparison);
}

RS_API_GET(unsigned, ropescope_comparison_differs, comparison, comparison->difference.differs);
RS_API_GET(size_t, ropescope_comparison_pairs, comparison, comparison->difference.count);
RS_API_GET(double, ropescope_comparison_largest, comparison, comparison->difference.largest);
RS_API_GET(size_t, ropescope_comparison_worst, comparison, comparison->difference.worst);

size_t ropescope_comparison_inv_freq(const ropescope_comparison *comparison, int side, double *out, size_t capacity) {
  if (side != 0 && side != 1) return 0;
  const rs_spectrum *spectrum = &comparison->sides[side].spectrum;
  return rs_api_copy(spectrum->omega, spectrum->pairs, out, capacity);
}

const ropescope_cause *ropescope_comparison_cause(const ropescope_comparison *comparison, size_t index) {
  return index < comparison->causes.count ? &comparison->handed[index] : NULL;
}

/* ---- conversions ------------------------------------------------------------------------------------------------- */

struct ropescope_conversion {
  rs_conversion made;
};

static rs_status read_model(const ropescope_recipe_source *source, rs_convertible *model, rs_err *err) {
  RS_FREED char *path = NULL, *data = NULL;
  size_t length = 0;
  if (source->preset != NULL) return rs_convertible_preset(source->preset, model, err);
  if (source->text != NULL)
    return rs_convertible_read(source->text, strlen(source->text), source->file != NULL ? source->file : "config.json",
                               model, err);
  path = rs_api_config_path(source->file, err);
  RS_TRY(path != NULL ? rs_hf_config_load(path, &data, &length, err) : RS_MEMORY);
  return rs_convertible_read(data, length, path, model, err);
}

/* The method of the source on the chosen layers, in the place of what they publish. */
static rs_status put_method(const char *method, rs_convertible *model, rs_problems *problems, rs_err *err) {
  rs_model *chosen = &model->profile.kinds[model->kind].model;
  const rs_subject_in in = {.on = chosen, .method = method, .label = "method", .length = 1};
  RS_OWNED(rs_subject) subject = {0};
  RS_TRY(rs_subject_read(&in, &subject, problems, err));
  rs_recipe_clear(&chosen->published);
  chosen->published = subject.recipe;
  subject.recipe = (rs_recipe){0};
  return RS_OK;
}

static rs_status convert(const ropescope_recipe_source *source, const char *to, size_t length, rs_conversion *out,
                         rs_problems *problems, rs_err *err) {
  RS_OWNED(rs_convertible) model = {0};
  RS_TRY(rs_api_model_check(source, err));
  RS_TRY(read_model(source, &model, err));
  RS_TRY(rs_profile_find(&model.profile, source->layers, &model.kind, err));
  if (source->method != NULL) RS_TRY(put_method(source->method, &model, problems, err));
  if (to == NULL) return rs_fail_on(err, RS_INPUT, "to", "is missing");
  return rs_convert(&model, to, length, out, err);
}

ropescope_status ropescope_convert(const ropescope_recipe_source *source, const char *to, size_t length,
                                   ropescope_conversion **conversion, ropescope_error **error) {
  rs_problems problems = {0};
  rs_err err = {0};
  *conversion = rs_alloc(1, sizeof **conversion, &err);
  rs_status status =
      *conversion != NULL ? convert(source, to, length, &(*conversion)->made, &problems, &err) : RS_MEMORY;
  return RS_API_END(status, conversion, ropescope_conversion_free, error, &err, &problems);
}

void ropescope_conversion_free(ropescope_conversion *conversion) {
  if (conversion == NULL) return;
  rs_conversion_clear(&conversion->made);
  free(conversion);
}

RS_API_GET(const char *, ropescope_conversion_fragment, conversion, rs_api_word(conversion->made.fragment));
RS_API_AT(const char *, ropescope_conversion_argument, conversion, conversion->made.arguments.count,
          conversion->made.arguments.items[index]);

const char *ropescope_conversion_note(const ropescope_conversion *conversion, size_t index) {
  return index < conversion->made.notes.count ? conversion->made.notes.items[index] : NULL;
}

/* ---- solutions --------------------------------------------------------------------------------------------------- */

struct ropescope_solution {
  rs_solution solved;
  ropescope_remark remarks[RS_COUNT(((rs_solution *)0)->rows)];
  rs_arena arena; /* of the model's path */
};

_Static_assert((int)ROPESCOPE_SOLVE_BASE == RS_SOLVE_BASE && (int)ROPESCOPE_SOLVE_FACTOR == RS_SOLVE_FACTOR &&
                   (int)ROPESCOPE_SOLVE_LENGTH == RS_SOLVE_LENGTH &&
                   (int)ROPESCOPE_FIRST_VIOLATION == RS_FIRST_VIOLATION &&
                   (int)ROPESCOPE_CRITICAL_DIM == RS_CRITICAL_DIM && (int)ROPESCOPE_OUT_OF_RANGE == RS_OUT_OF_RANGE &&
                   (int)ROPESCOPE_NTK_AWARE == RS_NTK_AWARE,
               "a question goes in as it is");

static const struct {
  rs_question_part part;
  const char *member;
} members[] = {{RS_ASKS_LENGTH, "length"},
               {RS_ASKS_BASE, "base"},
               {RS_ASKS_GEOMETRY, "head_dim"},
               {RS_ASKS_MODEL, "preset"},
               {RS_ASKS_METHOD, "method"}};

static rs_status check_members(const ropescope_question *question, rs_err *err) {
  RS_TRY(rs_api_sized(question, sizeof *question, "ropescope_question", err));
  bool file = question->file != NULL || question->text != NULL, model = file || question->preset != NULL;
  if ((unsigned)question->sought > RS_SOLVE_LENGTH || (unsigned)question->criterion >= RS_CRITERIA)
    return rs_fail_on(err, RS_INPUT, (unsigned)question->sought > RS_SOLVE_LENGTH ? "sought" : "criterion", "is none");
  if (file && question->preset != NULL)
    return rs_fail_on(err, RS_INPUT, "preset", "stands beside a file or text: one of them names the model");
  if (question->head_dim > 0 && model)
    return rs_fail_on(err, RS_INPUT, "head_dim", "stands beside a model: one of them gives the dims");
  if (question->layers != NULL && !model) return rs_fail_on(err, RS_INPUT, "layers", "needs a model");
  if (question->base > 0 && question->method != NULL)
    return rs_fail_on(err, RS_INPUT, "base", "stands beside a method: a base is plain RoPE");
  if (!(question->length >= 0) || !(question->base >= 0))
    return rs_fail_on(err, RS_INPUT, question->length >= 0 ? "base" : "length", "must not be negative");
  return RS_OK;
}

static rs_status check_parts(const rs_question *question, rs_err *err) {
  rs_question_part part;
  bool missing;
  if (rs_question_lacks(question, &part, &missing))
    for (size_t i = 0; i < RS_COUNT(members); i++)
      if (members[i].part == part)
        return rs_fail_on(err, RS_INPUT, members[i].member,
                          missing && part == RS_ASKS_MODEL ? "is missing: the question needs a model (or file, or text)"
                          : missing                        ? "is missing: the question needs it"
                                                           : "is of no use to this question");
  int has = rs_question_has(question);
  if ((has & RS_ASKS_GEOMETRY) != 0 && (has & RS_ASKS_METHOD) != 0)
    return rs_fail_on(err, RS_INPUT, "method", "needs a model");
  if (question->sought == RS_SOLVE_LENGTH && (has & RS_ASKS_GEOMETRY) != 0 && (has & RS_ASKS_BASE) == 0)
    return rs_fail_on(err, RS_INPUT, "base", "is missing: head_dim alone has no frequencies");
  return RS_OK;
}

static rs_status solve(const ropescope_question *question, ropescope_solution *solution, rs_problems *problems,
                       rs_err *err) {
  const char *name;
  RS_TRY(check_members(question, err));
  RS_TRY(rs_api_model_name(question->file, question->text, &solution->arena, &name, err));
  const rs_question in = {.sought = (rs_sought)question->sought,
                          .criterion = (rs_criterion)question->criterion,
                          .length = question->length,
                          .base = question->base,
                          .head_dim = question->head_dim,
                          .hf = name,
                          .preset = question->preset,
                          .hf_text = question->text,
                          .layers = question->layers,
                          .method = question->method};
  RS_TRY(check_parts(&in, err));
  RS_TRY(rs_solve(&in, &solution->solved, problems, err));
  for (size_t i = 0; i < solution->solved.count; i++)
    solution->remarks[i] = (ropescope_remark){solution->solved.rows[i].name, solution->solved.rows[i].text};
  return RS_OK;
}

ropescope_status ropescope_solve(const ropescope_question *question, ropescope_solution **solution,
                                 ropescope_error **error) {
  rs_problems problems = {0};
  rs_err err = {0};
  *solution = rs_alloc(1, sizeof **solution, &err);
  rs_status status = *solution != NULL ? solve(question, *solution, &problems, &err) : RS_MEMORY;
  return RS_API_END(status, solution, ropescope_solution_free, error, &err, &problems);
}

void ropescope_solution_free(ropescope_solution *solution) {
  if (solution != NULL) rs_arena_clear(&solution->arena);
  free(solution);
}

RS_API_GET(double, ropescope_solution_value, solution, solution->solved.value);
RS_API_GET(const char *, ropescope_solution_number, solution, solution->solved.number);

const ropescope_remark *ropescope_solution_remark(const ropescope_solution *solution, size_t index) {
  return index < solution->solved.count ? &solution->remarks[index] : NULL;
}
