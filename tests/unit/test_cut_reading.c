/* test_cut_reading.c: losses with contexts that are cut, against each context read by itself. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "../fixtures/obtain.h"
#include "../fixtures/small_model.h"
#include "model/model.h"

enum { LENGTH = 24, SEQUENCES = 3, SYMBOLS = SMALL_VOCABULARY - 2 };

static rs_task copy_task(void) {
  rs_settings settings;
  const rs_task_kind *kind = rs_task_find("copy");
  rs_binding binding;
  rs_task task;
  cr_assert_eq(rs_settings_init_specs(&settings, kind->kind.params, kind->kind.param_count, NULL), RS_OK);
  settings.values[rs_settings_find(&settings, "symbols")].number = SYMBOLS;
  cr_assert_eq(
      rs_binding_make(&settings, kind->kind.params, kind->kind.param_count, kind->kind.params_size, &binding, NULL),
      RS_OK);
  cr_assert_eq(rs_task_prepare(kind, &(rs_task_in){.params = binding.fields, .seed = 5}, &task, NULL), RS_OK);
  rs_binding_clear(&binding);
  rs_settings_clear(&settings);
  return task;
}

static rs_transformer *model_of(const char *method) {
  small_model m;
  small_model_fill(&m, RS_DECODER);
  small_model_recipe(&m, 0, method, "");
  rs_transformer *t = small_model_create(&m, RS_F64, 3);
  small_model_clear(&m);
  return t;
}

static void draw(const rs_task *task, uint64_t index, int32_t *tokens, int32_t *targets) {
  uint8_t parts[LENGTH];
  float depths[LENGTH];
  rs_example example = {.tokens = tokens, .targets = targets, .parts = parts, .depths = depths};
  task->kind->draw(task->state, RS_SPLIT_EVALUATION, index, LENGTH, &example);
}

/* -ln of the probability of `target` behind these tokens, which are all there is. */
static double loss_behind(const rs_transformer *t, const int32_t *tokens, size_t count, int32_t target) {
  double logits[SMALL_VOCABULARY];
  long double sum = 0;
  rs_err err = {0};
  const rs_reader_in in = {.count = 1, .length = count, .tokens = tokens, .last = 1};
  cr_assert_eq(rs_read_logits(t, &in, logits, &err), RS_OK, "%s", err.message);
  for (size_t c = 0; c < t->shape.classes; c++) sum += expl(logits[c]);
  return (double)(logl(sum) - logits[target]);
}

static void check_cut(const char *method, rs_cut cut, size_t least) {
  rs_task task = copy_task();
  rs_transformer *t = model_of(method);
  rs_context *context;
  double *losses;
  size_t compared = 0;
  rs_err err = {0};
  cr_assert_eq(rs_context_create(t, NULL, rs_cut_window(&cut, LENGTH), 0, NULL, &context, &err), RS_OK, "%s",
               err.message);
  cr_assert_eq(rs_cut_losses(context, &task, RS_SPLIT_EVALUATION, LENGTH, SEQUENCES, &cut, &losses, &err), RS_OK, "%s",
               err.message);
  for (size_t s = 0; s < SEQUENCES; s++) {
    int32_t tokens[LENGTH], targets[LENGTH];
    draw(&task, s, tokens, targets);
    for (size_t i = 0; i < LENGTH; i++) {
      double got = losses[s * LENGTH + i];
      bool asked = i + 1 >= cut.context && targets[i] != RS_NO_TARGET;
      cr_assert_eq(asked, !isnan(got), "sequence %zu, target %zu: %g", s, i, got);
      if (!asked) continue;
      size_t first = (i + 1 - cut.context) / cut.step * cut.step;
      double want = loss_behind(t, tokens + first, i + 1 - first, targets[i]);
      cr_assert_float_eq(got, want, 1e-12, "sequence %zu, target %zu: %.17g, by itself %.17g", s, i, got, want);
      compared++;
    }
  }
  cr_expect_geq(compared, least, "%s, context %zu, step %zu: %zu", method, cut.context, cut.step, compared);
  free(losses);
  rs_context_free(context);
  rs_transformer_free(t);
  rs_task_clear(&task);
}

/* A table of sines counts positions from where the context begins. */
Test(cut_reading, losses__are_those_of_each_context_by_itself) {
  static const char *const methods[] = {"rope", "sinusoidal"};
  for (size_t m = 0; m < RS_COUNT(methods); m++) {
    check_cut(methods[m], (rs_cut){.context = 1, .step = 1}, 30);
    check_cut(methods[m], (rs_cut){.context = 5, .step = 3}, 30);
    check_cut(methods[m], (rs_cut){.context = 4, .step = 7}, 30);
    check_cut(methods[m], (rs_cut){.context = 20, .step = 1}, 9);
    check_cut(methods[m], (rs_cut){.context = LENGTH, .step = 5}, SEQUENCES);
    check_cut(methods[m], (rs_cut){.context = LENGTH + 1, .step = 5}, 0);
    check_cut(methods[m], (rs_cut){.context = 2, .step = 1000000000}, 30);
  }
}

Test(cut_reading, windows__hold_the_longest_context_and_no_more_than_there_is) {
  static const struct {
    rs_cut cut;
    size_t window;
  } cases[] = {{{4, 3, false}, 6}, {{4, 1, false}, 4}, {{9, 2, false}, 10}, {{9, 3, false}, 10}, {{20, 1, false}, 10}};
  for (size_t i = 0; i < RS_COUNT(cases); i++)
    cr_expect_eq(rs_cut_window(&cases[i].cut, 10), cases[i].window, "case %zu", i);
}

Test(cut_reading, models_that_see_both_ways__are_refused) {
  small_model m;
  rs_task task = copy_task();
  rs_context *context;
  double *losses;
  rs_err err = {0};
  const rs_cut cut = {.context = 4, .step = 2};
  small_model_fill(&m, RS_ENCODER);
  small_model_recipe(&m, 0, "rope", "");
  rs_transformer *t = small_model_create(&m, RS_F64, 3);
  cr_assert_eq(rs_context_create(t, NULL, 5, 0, NULL, &context, NULL), RS_OK);
  cr_expect_eq(rs_cut_losses(context, &task, RS_SPLIT_EVALUATION, LENGTH, 1, &cut, &losses, &err), RS_UNSUPPORTED);
  cr_expect_null(losses);
  cr_expect_str_eq(err.message, "contexts are cut for decoders alone");
  rs_context_free(context);
  rs_transformer_free(t);
  small_model_clear(&m);
  rs_task_clear(&task);
}
