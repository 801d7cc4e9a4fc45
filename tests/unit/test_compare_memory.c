/* Each allocation of a comparison fails in turn: it ends as out of memory, never with fewer words. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../fixtures/heap.h"
#include "../fixtures/scratch.h"
#include "advice/advice.h"

static const char config[] =
    "{\"model_type\": \"gemma3_text\", \"hidden_size\": 32, \"num_attention_heads\": 2, \"head_dim\": 16, "
    "\"num_hidden_layers\": 4, \"max_position_embeddings\": 64, \"sliding_window\": 8, \"sliding_window_pattern\": 2, "
    "\"rope_local_base_freq\": %d, \"rope_theta\": 10000, \"rope_scaling\": {\"rope_type\": \"linear\", \"factor\": "
    "%d}}";

/* 8 numbers: frequencies of 16 dims, or the slopes of 8 of 32 heads. */
#define LIST "[0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1]"

static rs_contender sides[2];
static char words[4096];

/* All that was found, as words. */
static void note(const rs_causes *causes, size_t *length) {
  for (size_t i = 0; causes != NULL && i < causes->count; i++)
    *length += (size_t)snprintf(words + *length, sizeof words - *length, "%s\n", causes->items[i].text);
}

static rs_status compare(rs_err *err) {
  const size_t known[2] = {sides[0].kind, sides[1].kind};
  rs_layer_differences layers = {0};
  rs_buffer_checks checks = {0};
  rs_causes causes = {0};
  size_t length = 0;
  rs_compared compared[2];
  for (size_t i = 0; i < 2; i++)
    compared[i] = (rs_compared){&sides[i].recipe, &sides[i].model, sides[i].length, &sides[i].spectrum};
  rs_status status = rs_causes_find(&compared[0], &compared[1], 1e-6, &causes, err);
  if (status == RS_OK) status = rs_layers_compare(&sides[0].profile, &sides[1].profile, 64, 1e-6, &layers, err);
  if (status == RS_OK) status = rs_layers_explain(&sides[0].profile, &sides[1].profile, known, 64, 1e-6, &layers, err);
  if (status == RS_OK) status = rs_buffers_check(sides, 1e-6, &checks, err);
  if (status == RS_OK) {
    note(&causes, &length);
    for (size_t i = 0; i < layers.count; i++) note(layers.items[i].causes, &length);
    for (size_t i = 0; i < checks.count; i++) note(checks.items[i].causes, &length);
  }
  rs_buffer_checks_clear(&checks);
  rs_layer_differences_clear(&layers);
  return status;
}

static rs_status read_sides(rs_contender both[2], rs_err *err) {
  const rs_contest contest = {.text = {"a", "b"}, .rtol = 1e-6};
  rs_problems problems = {0};
  rs_status status = rs_contest_read(&contest, both, &problems, err);
  rs_problems_clear(&problems);
  return status;
}

static rs_status read_and_clear(rs_err *err) {
  rs_contender both[2];
  rs_status status = read_sides(both, err);
  if (status == RS_OK) rs_contest_clear(both);
  return status;
}

static rs_status read_cos_sin(rs_err *err) {
  const rs_contest contest = {.text = {"rope", "table.safetensors"}, .preset = "llama-2-7b", .rtol = 1e-6};
  rs_contender both[2];
  rs_problems problems = {0};
  rs_status status = rs_contest_read(&contest, both, &problems, err);
  if (status == RS_OK) rs_contest_clear(both);
  rs_problems_clear(&problems);
  return status;
}

/* A list beside layers that turn in two ways, and beside slopes. */
static rs_status read_lists(rs_err *err) {
  const rs_contest lists[] = {{.text = {"a", "list.json"}, .rtol = 1e-6, .biases = true},
                              {.text = {"list.json", "alibi"}, .preset = "bloom-7b1", .rtol = 1e-6, .biases = true}};
  rs_status status = RS_OK;
  size_t length = 0;
  for (size_t i = 0; i < RS_COUNT(lists) && status == RS_OK; i++) {
    rs_contender both[2];
    rs_problems problems = {0};
    rs_causes causes = {0};
    rs_kind_matches kinds = {0};
    rs_slope_difference slopes;
    status = rs_contest_read(&lists[i], both, &problems, err);
    rs_problems_clear(&problems);
    if (status != RS_OK) return status;
    const rs_compared sides_of[2] = {{.spectrum = &both[0].spectrum},
                                     {&both[1].recipe, &both[1].model, both[1].length, &both[1].spectrum}};
    status =
        i == 0 ? rs_kinds_match(both, 1e-6, &kinds, err) : rs_slopes_compare(sides_of, 1e-6, &slopes, &causes, err);
    for (size_t k = 0; k < kinds.count && status == RS_OK; k++)
      length += (size_t)snprintf(words + length, sizeof words - length, "%zu\n", kinds.items[k].difference.count);
    if (status == RS_OK) note(&causes, &length);
    rs_kind_matches_clear(&kinds);
    rs_contest_clear(both);
  }
  return status;
}

/* Each of the first 300, then every `step`-th; `unnoticed`: of libraries that do without. */
static void survives(rs_status (*use)(rs_err *), long step, long unnoticed, const char *name) {
  char whole[sizeof words];
  rs_err first = {0};
  cr_assert_eq(use(&first), RS_OK, "%s: %s", name, first.message);
  memcpy(whole, words, sizeof whole);
  refused = true;
  for (long n = 0; refused; n += n < 300 ? 1 : step) {
    rs_err err = {0};
    long before = blocks;
    refused = false;
    allocations = n;
    rs_status status = use(&err);
    allocations = -1;
    cr_assert_eq(blocks, before, "%s, allocation %ld: %ld blocks leaked", name, n, blocks - before);
    unnoticed -= refused && status == RS_OK;
    cr_assert_geq(unnoticed, 0, "%s, allocation %ld fails unnoticed", name, n);
    cr_assert(status == RS_OK || (refused && status == RS_MEMORY), "%s, allocation %ld: %d %s", name, n, (int)status,
              err.message);
    cr_assert(status != RS_OK || strcmp(words, whole) == 0, "%s, allocation %ld: other words", name, n);
  }
}

static void write_folder(const char *name, int local, int factor, double base) {
  char text[1024], path[64];
  float list[8];
  const size_t shape[] = {8};
  rs_err err = {0};
  for (int j = 0; j < 8; j++) list[j] = (float)pow(base, -j / 8.0);
  const rs_tensor_numbers tensors[] = {
      {.name = "model.layers.0.inv_freq", .dtype = RS_DTYPE_F32, .rank = 1, .shape = shape, .floats = list},
      {.name = "model.layers.1.inv_freq", .dtype = RS_DTYPE_F32, .rank = 1, .shape = shape, .floats = list}};
  cr_assert_eq(rs_make_directories(name, &err), RS_OK, "%s", err.message);
  snprintf(text, sizeof text, config, local, factor);
  snprintf(path, sizeof path, "%s/config.json", name);
  cr_assert_eq(rs_file_write(path, text, strlen(text), &err), RS_OK, "%s", err.message);
  snprintf(path, sizeof path, "%s/model.safetensors", name);
  cr_assert_eq(rs_safetensors_write(path, tensors, 2, &err), RS_OK, "%s", err.message);
}

static void remove_folder(const char *name) {
  cr_assert_eq(rs_file_remove(name, "config.json", NULL), RS_OK);
  cr_assert_eq(rs_file_remove(name, "model.safetensors", NULL), RS_OK);
  cr_assert_eq(remove(name), 0);
}

static void write_table(void) {
  enum { ROWS = 8, PAIRS = 64 };
  static double numbers[2][ROWS * PAIRS];
  const size_t shape[] = {ROWS, PAIRS};
  for (size_t i = 0; i < ROWS * PAIRS; i++) {
    double angle = (double)(i / PAIRS) * pow(10000, -(double)(i % PAIRS) / PAIRS);
    numbers[0][i] = cos(angle);
    numbers[1][i] = sin(angle);
  }
  const rs_tensor_numbers tensors[] = {
      {.name = "cos", .dtype = RS_DTYPE_F32, .rank = 2, .shape = shape, .doubles = numbers[0]},
      {.name = "sin", .dtype = RS_DTYPE_F32, .rank = 2, .shape = shape, .doubles = numbers[1]}};
  cr_assert_eq(rs_safetensors_write("table.safetensors", tensors, 2, NULL), RS_OK);
}

TestSuite(compare_memory, .init = enter_scratch);

Test(compare_memory, each_failing_allocation__is_an_error) {
  rs_err err = {0};
  write_folder("a", 100, 4, 100);
  write_folder("b", 200, 8, 10000);
  write_table();
  cr_assert_eq(rs_file_write("list.json", LIST, strlen(LIST), NULL), RS_OK);
  cr_assert_eq(read_sides(sides, &err), RS_OK, "%s", err.message);
  if (COUNTS_MEMORY) {
    spared_library = "libjansson."; /* it calls some failed allocations a syntax error */
    survives(compare, 499, 0, "compare");
    survives(read_and_clear, 1, 4, "folders"); /* of qsort, which sorts in place then */
    survives(read_cos_sin, 1, 0, "cos and sin");
    survives(read_lists, 1, 2, "lists"); /* of qsort */
  }
  rs_contest_clear(sides);
  remove_folder("a");
  remove_folder("b");
  leaves((const char *[]){"list.json", "table.safetensors"}, 2);
}
