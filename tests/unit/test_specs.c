/* The specs of everything that has parameters: each binds to a field of its own, each word to a constant. */
#include <criterion/criterion.h>

#include "../fixtures/specs.h"
#include "encoding/encoding.h"

static void expect_sound(const char *stage, const rs_kind *kind) {
  const char *fault = specs_fault(kind->params, kind->param_count, kind->params_size);
  cr_expect_str_empty(fault, "%s %s: %s", stage, kind->name, fault);
}

/* Every kind begins with its rs_kind. */
static void expect_all_sound(const char *stage, const void *kinds, size_t count) {
  cr_expect_gt(count, 0, "%s", stage);
  for (size_t i = 0; i < count; i++) expect_sound(stage, ((const rs_kind *const *)kinds)[i]);
}

Test(specs, kinds__of_every_stage__are_sound) {
  size_t freqs, positions, embeddings, biases;
  const void *tables[] = {rs_freq_kinds(&freqs), rs_pos_kinds(&positions), rs_embed_kinds(&embeddings),
                          rs_bias_kinds(&biases)};
  expect_all_sound("freq", tables[0], freqs);
  expect_all_sound("pos", tables[1], positions);
  expect_all_sound("embed", tables[2], embeddings);
  expect_all_sound("bias", tables[3], biases);
}

Test(specs, stages__are_sound) {
  expect_sound("stage", &rs_common_stage);
  expect_sound("stage", &rs_rotary_stage);
  expect_sound("stage", &rs_scale_stage);
}

/* The word chooses the kind of that name. */
Test(specs, logit_scale__words__are_the_kinds) {
  size_t count;
  const rs_lscale_kind *const *kinds = rs_lscale_kinds(&count);
  const rs_param *chosen = NULL;
  for (size_t p = 0; p < rs_common_stage.param_count; p++)
    if (strcmp(rs_common_stage.params[p].name, "logit_scale") == 0) chosen = &rs_common_stage.params[p];
  cr_assert_not_null(chosen);
  cr_assert_eq(chosen->word_count, count + 1);
  cr_expect_str_eq(chosen->words[0], "none");
  for (size_t i = 0; i < count; i++) cr_expect_str_eq(chosen->words[i + 1], kinds[i]->kind.name);
}

/* ---- what a fault looks like ------------------------------------------------------------------------------------- */

typedef enum shape { ROUND, SQUARE, SHAPES } shape;

typedef struct thing {
  double width, height;
  shape outline;
} thing;

static const char *const whole[SHAPES + 1] = {[ROUND] = "round", [SQUARE] = "square"};
static const char *const gap[SHAPES + 1] = {[SQUARE] = "square"};
static const char *const twice[SHAPES + 1] = {[ROUND] = "round", [SQUARE] = "round"};
static const char *const empty[SHAPES + 1] = {[ROUND] = "", [SQUARE] = "square"};
static const char *const unended[] = {"round", "square", "oval"};

#define WIDTH                                                                                                          \
  { RS_FIELD(thing, width), .unit = "m", .min = 0, .max = 9, .fallback = "1", .summary = "how wide" }
#define OUTLINE(array)                                                                                                 \
  { RS_FIELD(thing, outline), .unit = "", RS_WORDS(array), .fallback = "square", .summary = "which" }

Test(specs, faults__each__is_found) {
  static const struct {
    const char *fault;
    rs_param params[2];
    size_t size;
  } cases[] = {
      {"", {WIDTH, OUTLINE(whole)}, sizeof(thing)},
      {"outline lacks the word of a constant", {WIDTH, OUTLINE(gap)}, sizeof(thing)},
      {"outline has a word twice", {WIDTH, OUTLINE(twice)}, sizeof(thing)},
      {"outline has more words than constants", {WIDTH, OUTLINE(unended)}, sizeof(thing)},
      {"outline lacks the word of a constant", {WIDTH, OUTLINE(empty)}, sizeof(thing)},
      {"outline has no words", {WIDTH, {RS_FIELD(thing, outline), .unit = "", .summary = "which"}}, sizeof(thing)},
      {"height stands where no field of its type may",
       {WIDTH, {.name = "height", .offset = sizeof(double) / 2, .unit = "m", .max = 9, .summary = "how tall"}},
       sizeof(thing)},
      {"outline leaves the struct", {WIDTH, OUTLINE(whole)}, offsetof(thing, outline)},
      {"width is there twice", {WIDTH, WIDTH}, sizeof(thing)},
      {"height shares the field of another",
       {WIDTH, {RS_FIELD_AS(thing, width, "height"), .unit = "m", .max = 9, .summary = "how tall"}},
       sizeof(thing)},
      {"height has an empty range", {WIDTH, {RS_FIELD(thing, height), .unit = "m", .summary = "how tall"}}, 64},
      {"height has a bad default",
       {WIDTH, {RS_FIELD(thing, height), .unit = "m", .max = 9, .fallback = "10", .summary = "how tall"}},
       sizeof(thing)},
      {"height says no unit or no summary", {WIDTH, {RS_FIELD(thing, height), .unit = "m", .max = 9}}, 64},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++)
    cr_expect_str_eq(specs_fault(cases[i].params, 2, cases[i].size), cases[i].fault, "case %zu", i);
  cr_expect_str_eq(specs_fault(NULL, 0, sizeof(thing)), "a struct without parameters");
}
