/* test_specs_metrics.c: the specs of every source and metric: words beside their enums, fields inside their struct,
 * defaults that hold together. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "../fixtures/bound.h"
#include "../fixtures/obtain.h"
#include "ropescope/metrics.h"

/* ---- one spec ---------------------------------------------------------------------------------------------------- */

static size_t field_size(const rs_param *param) {
  bool worded = param->words != NULL;
  switch (param->type) {
  case RS_REAL: return worded ? sizeof(rs_real_or_word) : sizeof(double);
  case RS_INTEGER: return worded ? sizeof(rs_count_or_word) : sizeof(size_t);
  case RS_BOOL: return sizeof(bool);
  case RS_CHOICE: return sizeof(int);
  case RS_REALS: return sizeof(rs_real_list);
  case RS_FILE: return sizeof(const char *);
  }
  return 0;
}

/* The word that a field holds in place of a number or list, or its constant. */
static int field_word(const rs_param *param, const void *fields) {
  const char *field = (const char *)fields + param->offset;
  switch (param->type) {
  case RS_REAL: return ((const rs_real_or_word *)field)->word;
  case RS_INTEGER: return ((const rs_count_or_word *)field)->word;
  case RS_REALS: return ((const rs_real_list *)field)->word;
  default: return *(const int *)field;
  }
}

/* "": what a spec says of its words is sound; else what is not. A constant without a word leaves a NULL among them. */
static const char *words_fault(const rs_param *param) {
  if (param->words == NULL) return param->type == RS_CHOICE ? "a choice without words" : "";
  if (param->word_count == 0) return "no words";
  for (size_t i = 0; i < param->word_count; i++) {
    if (param->words[i] == NULL || *param->words[i] == '\0') return "a constant without a word";
    for (size_t k = 0; k < i; k++)
      if (strcmp(param->words[i], param->words[k]) == 0) return "a word twice";
  }
  return param->words[param->word_count] != NULL ? "words without an end" : "";
}

/* ---- one kind ---------------------------------------------------------------------------------------------------- */

static void check_names(const rs_kind *kind) {
  for (size_t p = 0; p < kind->param_count; p++) {
    const rs_param *param = &kind->params[p];
    bool ranged = param->type == RS_REAL || param->type == RS_INTEGER || param->type == RS_REALS;
    cr_expect(param->unit != NULL && param->summary != NULL && *param->summary != '\0', "%s %s", kind->name,
              param->name);
    if (ranged) cr_expect_lt(param->min, param->max, "%s %s: an empty range", kind->name, param->name);
    for (size_t k = 0; k < p; k++) cr_expect_str_neq(param->name, kind->params[k].name, "%s", kind->name);
  }
}

/* Each field lies in the struct, at an address of its own that its type may have. */
static void check_fields(const rs_kind *kind) {
  char *owned = obtain(kind->params_size, 1);
  cr_expect_eq(kind->params_size > 0, kind->param_count > 0, "%s", kind->name);
  for (size_t p = 0; p < kind->param_count; p++) {
    const rs_param *param = &kind->params[p];
    size_t size = field_size(param), align = size < sizeof(double) ? size : sizeof(double);
    cr_assert_leq(param->offset + size, kind->params_size, "%s %s", kind->name, param->name);
    cr_expect_eq(param->offset % align, 0, "%s %s", kind->name, param->name);
    for (size_t b = param->offset; b < param->offset + size; b++)
      cr_expect_eq(owned[b]++, 0, "%s %s shares its field", kind->name, param->name);
  }
  free(owned);
}

/* Every word, given as text, arrives as the constant that stands at its place. */
static void check_words(const rs_kind *kind) {
  bound_params parameters;
  for (size_t p = 0; p < kind->param_count; p++)
    cr_assert_str_empty(words_fault(&kind->params[p]), "%s %s: %s", kind->name, kind->params[p].name,
                        words_fault(&kind->params[p]));
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
  check_names(kind);
  check_fields(kind);
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

/* A source with a state makes it and gives it back; one with parameters has one, for nothing else reads them. */
Test(specs, sources_with_parameters__have_a_state) {
  size_t count;
  const rs_source_kind *const *kinds = rs_source_kinds(&count);
  for (size_t i = 0; i < count; i++) {
    cr_expect_eq(kinds[i]->prepare != NULL, kinds[i]->state_size > 0, "%s", kinds[i]->kind.name);
    if (kinds[i]->kind.param_count > 0) cr_expect_not_null(kinds[i]->prepare, "%s", kinds[i]->kind.name);
  }
}

/* ---- what a fault looks like ------------------------------------------------------------------------------------- */

typedef enum hue { RED, GREEN, BLUE, HUES } hue;

Test(specs, words__that_do_not_fit_their_enum__are_found) {
  static const char *const whole[HUES + 1] = {[RED] = "red", [GREEN] = "green", [BLUE] = "blue"};
  static const char *const lacking[HUES + 1] = {[RED] = "red", [BLUE] = "blue"};
  static const char *const twice[HUES + 1] = {[RED] = "red", [GREEN] = "green", [BLUE] = "red"};
  static const char *const endless[] = {"red", "green", "blue", "black"};
  static const struct {
    const char *fault;
    rs_param param;
  } cases[] = {{"", {.type = RS_CHOICE, RS_WORDS(whole)}},
               {"a constant without a word", {.type = RS_CHOICE, RS_WORDS(lacking)}},
               {"a word twice", {.type = RS_CHOICE, RS_WORDS(twice)}},
               {"words without an end", {.type = RS_CHOICE, RS_WORDS(endless)}},
               {"a choice without words", {.type = RS_CHOICE}}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) cr_expect_str_eq(words_fault(&cases[i].param), cases[i].fault);
}
