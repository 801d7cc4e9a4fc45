/* Two settings side by side. */
#include "advice/advice.h"

#include "api.h"

#include <stdlib.h>

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

unsigned ropescope_comparison_differs(const ropescope_comparison *comparison) {
  return comparison->difference.differs;
}

size_t ropescope_comparison_pairs(const ropescope_comparison *comparison) {
  return comparison->difference.count;
}

double ropescope_comparison_largest(const ropescope_comparison *comparison) {
  return comparison->difference.largest;
}

size_t ropescope_comparison_worst(const ropescope_comparison *comparison) {
  return comparison->difference.worst;
}

size_t ropescope_comparison_inv_freq(const ropescope_comparison *comparison, int side, double *out, size_t capacity) {
  if (side != 0 && side != 1) return 0;
  const rs_spectrum *spectrum = &comparison->sides[side].spectrum;
  return rs_api_copy(spectrum->omega, spectrum->pairs, out, capacity);
}

const ropescope_cause *ropescope_comparison_cause(const ropescope_comparison *comparison, size_t index) {
  return index < comparison->causes.count ? &comparison->handed[index] : NULL;
}
