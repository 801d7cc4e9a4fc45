/* test_specs_metrics.c: the specs of every source and metric are sound, and their defaults hold together. (test_specs.c
 * has those of encodings, and what faults look like.) */
#include <criterion/criterion.h>

#include "../fixtures/bound.h"
#include "../fixtures/specs.h"
#include "metrics/metrics.h"

/* The word that a field holds in place of a number or list, or its constant. */
static int field_word(const rs_param *param, const void *fields) {
  const char *field = (const char *)fields + param->offset;
  switch (param->type) {
  case RS_REAL: return ((const rs_real_or_word *)field)->word;
  case RS_INTEGER: return ((const rs_count_or_word *)field)->word;
  case RS_REALS: return ((const rs_real_list *)field)->word;
  case RS_RECIPE: return ((const rs_recipe_or_word *)field)->word;
  default: return *(const int *)field;
  }
}

/* Every word, given as text, arrives as the constant that stands at its place. */
static void check_words(const rs_kind *kind) {
  bound_params parameters;
  bound_make(&parameters, kind);
  for (size_t p = 0; p < kind->param_count; p++)
    for (size_t w = 0; w < kind->params[p].word_count; w++) {
      const rs_param *param = &kind->params[p];
      bound_set(&parameters, param->name, param->words[w]);
      cr_expect_eq(field_word(param, parameters.binding.fields), w, "%s %s=%s", kind->name, param->name,
                   param->words[w]);
    }
  bound_clear(&parameters);
}

static void check_kind(const rs_kind *kind) {
  const char *fault = specs_fault(kind->params, kind->param_count, kind->params_size);
  cr_assert_str_empty(fault, "%s %s", kind->name, fault);
  check_words(kind);
}

/* `check` may be NULL. */
static void check_defaults(const rs_kind *kind, rs_status (*check)(const rs_binding *, rs_err *)) {
  bound_params parameters;
  rs_err err = {0};
  bound_make(&parameters, kind);
  if (check != NULL) cr_expect_eq(check(&parameters.binding, &err), RS_OK, "%s: %s", kind->name, err.message);
  bound_clear(&parameters);
}

Test(specs, of_every_metric__are_sound_and_defaults_go_together) {
  size_t count;
  const rs_metric_kind *const *kinds = rs_metric_kinds(&count);
  for (size_t i = 0; i < count; i++) {
    check_kind(&kinds[i]->kind);
    check_defaults(&kinds[i]->kind, kinds[i]->check);
  }
}

Test(specs, of_every_source__are_sound_and_defaults_go_together) {
  size_t count;
  const rs_source_kind *const *kinds = rs_source_kinds(&count);
  for (size_t i = 0; i < count; i++) {
    check_kind(&kinds[i]->kind);
    check_defaults(&kinds[i]->kind, kinds[i]->check);
  }
}

/* A source with parameters has a state, for nothing else reads them: what `prepare` makes, or a copy of them. */
Test(specs, sources_with_parameters__have_a_state) {
  size_t count;
  const rs_source_kind *const *kinds = rs_source_kinds(&count);
  for (size_t i = 0; i < count; i++) {
    const rs_kind *kind = &kinds[i]->kind;
    if (kind->param_count > 0) cr_expect_gt(kinds[i]->state_size, 0, "%s", kind->name);
    if (kinds[i]->prepare == NULL) cr_expect_eq(kinds[i]->state_size, kind->params_size, "%s", kind->name);
  }
}
