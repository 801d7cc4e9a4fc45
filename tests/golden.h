/* What the golden, unit and property tests share: reference tables read from tests/golden, encodings made from words,
 * numbers drawn by a generator that is not the library's. A mistake here fails the running test. */
#ifndef ROPESCOPE_TESTS_GOLDEN_H
#define ROPESCOPE_TESTS_GOLDEN_H

#include "encoding/encoding.h"
#include "io/io.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reference tables -------------------------------------------------------------------------------------------- */

/* tests/golden/<name>; a missing or broken file fails the test. Release with rs_table_free. */
static inline rs_table *golden_read(const char *name) {
  const char *root = getenv("ROPESCOPE_TESTS");
  cr_assert_not_null(root, "ROPESCOPE_TESTS must name the tests folder");
  char path[4096], *text = NULL;
  snprintf(path, sizeof path, "%s/golden/%s", root, name);
  size_t length = 0;
  rs_err err = {0};
  rs_table *table = NULL;
  cr_assert_eq(rs_file_read(path, (size_t)1 << 24, &text, &length, &err), RS_OK, "%s", err.message);
  cr_assert_eq(rs_csv_read(text, length, name, &table, &err), RS_OK, "%s", err.message);
  cr_assert_gt(table->rows, 0u, "%s has no rows", name);
  free(text);
  return table;
}

static inline const char *golden_text(const rs_table *table, size_t row, const char *column) {
  int index = rs_table_column(table, column);
  cr_assert_geq(index, 0, "no column %s", column);
  return table->fields[row * table->columns + (size_t)index];
}

/* The number in a cell; NaN where it is empty. */
static inline double golden_number(const rs_table *table, size_t row, const char *column) {
  const char *text = golden_text(table, row, column);
  double value = NAN;
  cr_assert(*text == '\0' || rs_number_read(text, &value), "row %zu: %s = %s is no number", row, column, text);
  return value;
}

static inline size_t golden_size(const rs_table *table, size_t row, const char *column) {
  double value = golden_number(table, row, column);
  cr_assert(value >= 0 && value == floor(value), "row %zu: %s = %g is no count", row, column, value);
  return (size_t)value;
}

static inline bool golden_is(const rs_table *table, size_t row, const char *column, const char *text) {
  return strcmp(golden_text(table, row, column), text) == 0;
}

/* The end of the run of rows from `begin` on that agree in all of `columns` (joined by commas). */
static inline size_t golden_run(const rs_table *table, size_t begin, const char *columns) {
  for (size_t end = begin + 1; end < table->rows; end++) {
    char names[128], *state = NULL;
    snprintf(names, sizeof names, "%s", columns);
    for (char *name = strtok_r(names, ",", &state); name != NULL; name = strtok_r(NULL, ",", &state))
      if (!golden_is(table, end, name, golden_text(table, begin, name))) return end;
  }
  return table->rows;
}

/* The rows of `table` whose `case` is `name`, as [*begin, *end); they stand together. */
static inline void golden_case(const rs_table *table, const char *name, size_t *begin, size_t *end) {
  for (*begin = 0; *begin < table->rows && !golden_is(table, *begin, "case", name);) ++*begin;
  cr_assert_lt(*begin, table->rows, "no rows of case %s", name);
  *end = golden_run(table, *begin, "case");
}

/* ---- prompts ----------------------------------------------------------------------------------------------------- */

/* One run of a prompt of d_mrope_prompts.csv, its grid after the merge. */
static inline rs_token_run golden_token_run(const rs_table *prompts, size_t row) {
  if (golden_is(prompts, row, "kind", "text"))
    return (rs_token_run){.modality = RS_TEXT, .tokens = golden_size(prompts, row, "n_tokens")};
  bool video = golden_is(prompts, row, "kind", "video");
  size_t merge = golden_size(prompts, row, "spatial_merge_size");
  rs_token_run run = {.modality = video ? RS_VIDEO : RS_IMAGE,
                      .tokens = golden_size(prompts, row, "n_tokens"),
                      .frames = golden_size(prompts, row, "grid_t"),
                      .rows = golden_size(prompts, row, "grid_h") / merge,
                      .columns = golden_size(prompts, row, "grid_w") / merge,
                      .seconds_per_frame = 1,
                      .ids_per_second = 1};
  double seconds = golden_number(prompts, row, "second_per_grid_t");
  if (video && !isnan(seconds)) {
    run.seconds_per_frame = seconds;
    run.ids_per_second = golden_number(prompts, row, "tokens_per_second");
  }
  cr_assert_eq(run.tokens, run.frames * run.rows * run.columns, "prompt row %zu", row);
  return run;
}

/* The token layout of a prompt. Release with rs_token_layout_clear. */
static inline rs_token_layout golden_layout(const rs_table *prompts, const char *name) {
  size_t begin, end;
  golden_case(prompts, name, &begin, &end);
  rs_token_layout layout = {.runs = calloc(end - begin, sizeof *layout.runs), .count = end - begin};
  for (size_t row = begin; row < end; row++) layout.runs[row - begin] = golden_token_run(prompts, row);
  return layout;
}

/* ---- encodings from words ---------------------------------------------------------------------------------------- */

/* Reads "16 24 24" or "16,24,24" into `list`; returns how many. */
static inline size_t read_list(const char *text, double *list, size_t most) {
  size_t count = 0;
  for (char *end; *text != '\0'; text = end + (*end != '\0')) {
    cr_assert_lt(count, most, "list too long");
    list[count++] = strtod(text, &end);
    cr_assert_neq(end, text, "not a list: %s", text);
  }
  return count;
}

static inline void recipe_set_list(rs_recipe *recipe, const char *name, const double *list, size_t count) {
  int index = rs_settings_find(&recipe->settings, name);
  cr_assert_geq(index, 0, "%s has no parameter %s", recipe->method->name, name);
  rs_err err = {0};
  rs_value value;
  cr_assert_eq(rs_value_list(recipe->settings.params[index], list, count, &value, &err), RS_OK, "%s: %s", name,
               err.message);
  rs_value_clear(&recipe->settings.values[index]);
  value.given = true;
  recipe->settings.values[index] = value;
}

/* Sets one parameter from a word; numbers for a list parameter are a list. */
static inline void recipe_set_word(rs_recipe *recipe, const char *name, const char *value) {
  int index = rs_settings_find(&recipe->settings, name);
  double list[1024];
  rs_err err = {0};
  if (index >= 0 && recipe->settings.params[index]->type == RS_REALS && strchr("0123456789.", *value) != NULL)
    recipe_set_list(recipe, name, list, read_list(value, list, RS_COUNT(list)));
  else
    cr_assert_eq(rs_recipe_set(recipe, name, value, &err), RS_OK, "%s %s: %s", recipe->method->name, name, err.message);
}

/* A recipe from "factor=8 ramp=paper mrope_section=16,24,24". Release with rs_recipe_clear. */
static inline rs_recipe make_recipe(const char *method, const char *settings) {
  rs_recipe recipe;
  rs_err err = {0};
  const rs_method *found = rs_method_find(method);
  cr_assert_not_null(found, "no method %s", method);
  cr_assert_eq(rs_recipe_init(&recipe, found, &err), RS_OK, "%s: %s", method, err.message);
  char *words = strdup(settings), *state = NULL;
  for (char *word = strtok_r(words, " ", &state); word != NULL; word = strtok_r(NULL, " ", &state)) {
    char *value = strchr(word, '=');
    cr_assert_not_null(value, "%s", word);
    *value++ = '\0';
    recipe_set_word(&recipe, word, value);
  }
  free(words);
  return recipe;
}

/* The tables of a checked recipe. Release with rs_encoding_free. */
static inline rs_encoding *encode_recipe(const rs_recipe *recipe, const rs_model *model, size_t length,
                                         const rs_token_layout *tokens) {
  rs_err err = {0};
  rs_encoding *encoding = NULL;
  cr_assert_eq(rs_recipe_check(recipe, model, &err), RS_OK, "%s: %s: %s", recipe->method->name, err.subject,
               err.message);
  cr_assert_eq(rs_encoding_create(recipe, model, length, tokens, NULL, &encoding, &err), RS_OK, "%s: %s",
               recipe->method->name, err.message);
  return encoding;
}

static inline rs_encoding *encode(const char *method, const char *settings, const rs_model *model, size_t length) {
  rs_recipe recipe = make_recipe(method, settings);
  rs_encoding *encoding = encode_recipe(&recipe, model, length, NULL);
  rs_recipe_clear(&recipe);
  return encoding;
}

/* A text model whose every dim turns. */
static inline rs_model plain_model(size_t head_dim, double theta, size_t train_length) {
  return (rs_model){.name = "test",
                    .heads = 1,
                    .head_dim = head_dim,
                    .rotary_dim = head_dim,
                    .rope_theta = theta,
                    .train_length = train_length,
                    .max_length = train_length};
}

/* ---- comparing and drawing --------------------------------------------------------------------------------------- */

/* |got - expected| <= relative * |expected| + absolute; false for a NaN. */
static inline bool close_to(double got, double expected, double relative, double absolute) {
  return fabs(got - expected) <= relative * fabs(expected) + absolute;
}

/* SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): owes nothing to the library under test. */
static inline uint64_t draw_bits(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

static inline double draw_real(uint64_t *state, double least, double most) {
  return least + (most - least) * (double)(draw_bits(state) >> 11) * 0x1p-53;
}

/* A whole number from `least` to `most`, both included. */
static inline size_t draw_size(uint64_t *state, size_t least, size_t most) {
  return least + (size_t)(draw_bits(state) % (most - least + 1));
}

static inline rs_stream draw_stream(uint64_t *state) {
  return (rs_stream){draw_bits(state), (uint32_t)draw_bits(state), (uint32_t)draw_bits(state)};
}

#endif
