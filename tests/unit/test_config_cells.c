/* test_config_cells.c: from a config to its cells and the plan's sizes, and the presets. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "../../src/config/config_internal.h"
#include "../fixtures/reading.h"
#include "run/run.h"

/* ---- cells ------------------------------------------------------------------------------------------------------- */

static void expect_cells(const char *yaml, const char *want) {
  rs_experiment *experiment = good(yaml);
  char *got = cells_of(experiment);
  cr_expect_str_eq(got, want, "%s\ngot:  %s\nwant: %s", yaml, got, want);
  free(got);
  rs_experiment_free(experiment);
}

Test(cells, grid__last_axis_fastest) {
  rs_text want = {0};
  for (int c = 0; c < 2 * 3 * 2 * 2 * 3 * 2; c++)
    rs_text_printf(&want, "%d,%d,%d,%d,%d,%d ", c / 72, c / 24 % 3, c / 12 % 2, c / 6 % 2, c / 2 % 3, c % 2);
  expect_cells("model: [llama-2-7b, gpt2]\nmethods: [nope, rope, alibi]\nlengths: [16, 32]\nsources: [gaussian, "
               "needle]\nseeds: 3\nheads: {each: 2}\n",
               want.data);
  rs_text_clear(&want);
}

Test(cells, zip__axes_advance_together) {
  static const wrong cases[] = {
      {"model: [llama-2-7b, gpt2]\nlengths: [16, 32]\nzip: [model, lengths]\nseeds: 2\n",
       "0,0,0,0,0,0 0,0,0,0,1,0 1,0,1,0,0,0 1,0,1,0,1,0 "},
      {LLAMA "methods: [nope, rope]\nlengths: [16, 32]\nseeds: 2\nzip: [seeds, lengths]\n",
       "0,0,0,0,0,0 0,0,1,0,1,0 0,1,0,0,0,0 0,1,1,0,1,0 "},
      {LLAMA "methods: [nope, rope]\nlengths: [16, 32]\nseeds: [5, 4]\nzip: [methods, seeds, lengths]\n",
       "0,0,0,0,0,0 0,1,1,0,1,0 "},
      {LLAMA "methods: [{name: pi, factor: [2, 4]}]\nsources: [gaussian, needle]\nzip: [methods, sources]\n",
       "0,0,0,0,0,0 0,1,0,1,0,0 "},
      {LLAMA "seeds: 2\nzip: [seeds]\n", "0,0,0,0,0,0 0,0,0,0,1,0 "},
      /* pairs that do not occur need not fit: Llama 2 has no divisors for longrope */
      {PAIRS "zip: [model, methods]\n", "0,0,0,0,0,0 1,1,0,0,0,0 "},
      {"zip: [methods, model]\n" PAIRS, "0,0,0,0,0,0 1,1,0,0,0,0 "},
      {PAIRS "lengths: [16, 32]\nzip: [lengths, methods, model]\n", "0,0,0,0,0,0 1,1,1,0,0,0 "},
      {"model: [gpt2, mpt-7b]\nmethods: nope\nheads: {each: all}\nlengths: 8\nzip: []\nsources: gaussian\n", NULL},
  };
  for (size_t i = 0; i + 1 < RS_COUNT(cases); i++) expect_cells(cases[i].yaml, cases[i].message);
  rs_text want = {0}; /* each model has its own number of heads */
  for (int h = 0; h < 12 + 32; h++) rs_text_printf(&want, "%d,0,0,0,0,%d ", h >= 12, h >= 12 ? h - 12 : h);
  expect_cells(cases[RS_COUNT(cases) - 1].yaml, want.data);
  rs_text_clear(&want);
}

/* The middles of equal parts of the model's heads. */
Test(cells, heads__spread_listed_all_each) {
  static const struct {
    const char *heads, *model;
    size_t groups;
    const char *want;
  } cases[] = {{"4", "llama-2-7b", 1, "4 12 20 28 "},
               {"1", "llama-2-7b", 1, "16 "},
               {"3", "qwen2-vl", 1, "4 14 23 "},
               {"2", "gpt2", 1, "3 9 "},
               {"12", "gpt2", 1, "0 1 2 3 4 5 6 7 8 9 10 11 "},
               {"all", "gpt2", 1, "0 1 2 3 4 5 6 7 8 9 10 11 "},
               {"[11, 0, 3]", "gpt2", 1, "11 0 3 "},
               {"{each: 4}", "llama-2-7b", 4, "4 |12 |20 |28 "},
               {"{each: [7, 1]}", "gpt2", 2, "7 |1 "},
               {"{each: all}", "gpt2", 12, "0 |1 |2 |3 |4 |5 |6 |7 |8 |9 |10 |11 "}};
  for (size_t c = 0; c < RS_COUNT(cases); c++) {
    rs_text yaml = {0}, got = {0};
    rs_cell *cells;
    size_t count;
    rs_text_printf(&yaml, "model: %s\nmethods: nope\nheads: %s\n", cases[c].model, cases[c].heads);
    rs_experiment *experiment = good(yaml.data);
    cr_assert_eq(rs_experiment_cells(experiment, &cells, &count, NULL), RS_OK);
    cr_expect_eq(count, cases[c].groups, "%s", cases[c].heads);
    for (size_t g = 0; g < count; g++) {
      rs_head_group group;
      cr_assert_eq(rs_experiment_heads(experiment, &cells[g], &group, NULL), RS_OK);
      cr_expect_eq(rs_head_count(experiment, &cells[g]), group.count);
      rs_text_puts(&got, g > 0 ? "|" : "");
      for (size_t i = 0; i < group.count; i++) rs_text_printf(&got, "%zu ", group.heads[i]);
      rs_head_group_clear(&group);
    }
    cr_expect_str_eq(got.data, cases[c].want, "heads: %s gave %s", cases[c].heads, got.data);
    free(cells);
    rs_experiment_free(experiment);
    rs_text_clear(&yaml);
    rs_text_clear(&got);
  }
}

/* A config that runs must observe at least one head, each once, and each seed once. */
Test(config, heads_and_seeds__not_none_not_twice) {
  static const char *const yaml[] = {LLAMA "heads: {}\n", LLAMA "heads: [1, 1]\n", LLAMA "heads: {each: [3, 2, 3]}\n",
                                     LLAMA "seeds: [4, 4]\n"};
  for (size_t i = 0; i < RS_COUNT(yaml); i++) {
    reading got = read_edited(yaml[i], NULL, 0);
    cr_expect_eq(got.err.status, RS_INPUT, "accepted: %s", yaml[i]);
    reading_clear(&got);
  }
}

/* ---- presets ----------------------------------------------------------------------------------------------------- */

static const struct {
  const char *name;
  size_t head_dim, heads, rotary_dim;
  double theta;
  size_t train, max;
  const char *recipe;
} published[] = {
    {"bloom-7b1", 128, 32, 128, 10000, 2048, 2048, "alibi"},
    {"codellama-7b", 128, 32, 128, 1e6, 16384, 16384, "rope"},
    {"deepseek-v3", 192, 128, 64, 10000, 4096, 163840, "yarn"},
    {"gemma-3", 256, 8, 256, 1e6, 32768, 131072, "pi"},
    {"gpt-j-6b", 256, 16, 64, 10000, 2048, 2048, "rope"},
    {"gpt-oss", 64, 64, 64, 150000, 4096, 131072, "yarn"},
    {"gpt2", 64, 12, 64, 10000, 1024, 1024, "learned"},
    {"llama-2-7b", 128, 32, 128, 10000, 4096, 4096, "rope"},
    {"llama-3-8b", 128, 32, 128, 500000, 8192, 8192, "rope"},
    {"llama-3.1-8b", 128, 32, 128, 500000, 8192, 131072, "llama3"},
    {"mistral-7b", 128, 32, 128, 10000, 8192, 32768, "rope"},
    {"mpt-7b", 128, 32, 128, 10000, 2048, 2048, "alibi"},
    {"phi-3-mini-128k", 96, 32, 96, 10000, 4096, 131072, "longrope"},
    {"pythia-6.9b", 128, 32, 32, 10000, 2048, 2048, "rope"},
    {"qwen2-vl", 128, 28, 128, 1e6, 32768, 32768, "mrope"},
    {"qwen2.5-7b", 128, 28, 128, 1e6, 32768, 131072, "rope"},
    {"qwen2.5-vl-7b", 128, 28, 128, 1e6, 32768, 128000, "mrope"},
    {"qwen3-8b", 128, 32, 128, 1e6, 32768, 40960, "rope"},
    {"qwen3-vl-8b", 128, 32, 128, 5e6, 262144, 262144, "mrope"},
    {"transformer-base", 64, 8, 64, 10000, 512, 512, "sinusoidal"},
    {"yarn-llama-2-7b-64k", 128, 32, 128, 10000, 4096, 65536, "yarn"},
};

Test(presets, numbers__as_published) {
  for (size_t i = 0; i < RS_COUNT(published); i++) {
    rs_model model;
    rs_err err = {0};
    cr_assert_eq(rs_preset_model(published[i].name, &model, &err), RS_OK, "%s: %s", published[i].name, err.message);
    cr_expect_str_eq(model.name, published[i].name);
    cr_expect_eq(model.head_dim, published[i].head_dim, "%s", published[i].name);
    cr_expect_eq(model.heads, published[i].heads, "%s", published[i].name);
    cr_expect_eq(model.rotary_dim, published[i].rotary_dim, "%s", published[i].name);
    cr_expect_eq(model.rope_theta, published[i].theta, "%s", published[i].name);
    cr_expect_eq(model.train_length, published[i].train, "%s", published[i].name);
    cr_expect_eq(model.max_length, published[i].max, "%s", published[i].name);
    cr_expect_str_eq(model.published.method->name, published[i].recipe, "%s", published[i].name);
    rs_model_clear(&model);
  }
}

Test(presets, every_one__loads_checks_and_makes_tables) {
  size_t count;
  const rs_preset *presets = rs_presets(&count);
  cr_expect_geq(count, RS_COUNT(published));
  for (size_t i = 0; i < count; i++) {
    rs_model model;
    rs_encoding *encoding = NULL;
    rs_err err = {0};
    cr_assert_eq(rs_preset_model(presets[i].name, &model, &err), RS_OK, "%s: %s", presets[i].name, err.message);
    cr_expect_str_eq(model.name, presets[i].name);
    cr_expect_neq(model.published.method, NULL, "%s", presets[i].name);
    cr_expect_eq(rs_recipe_check(&model.published, &model, &err), RS_OK, "%s: %s", presets[i].name, err.message);
    cr_expect_eq(rs_encoding_create(&model.published, &model, 64, NULL, NULL, &encoding, &err), RS_OK, "%s: %s",
                 presets[i].name, err.message);
    rs_encoding_free(encoding);
    rs_model_clear(&model);
  }
}

Test(presets, names_of_entries__end_with_the_last) {
  const rs_item_type *const types[] = {&rs_method_items, &rs_source_items, &rs_metric_items, &rs_task_items};
  for (size_t t = 0; t < RS_COUNT(types); t++) {
    size_t count = 0;
    while (types[t]->name(count) != NULL) count++;
    cr_assert(count > 3, "%s", types[t]->key);
    cr_expect_null(types[t]->name(count + 1), "%s", types[t]->key);
    for (size_t i = 0; i < count; i++) {
      rs_variant variant = {0};
      cr_expect(types[t]->init(NULL, types[t]->name(i), &variant, NULL), "%s", types[t]->name(i));
      rs_settings_clear(&variant.settings);
    }
  }
}

Test(presets, unknown__nearest) {
  rs_model model;
  rs_err near = {0}, far = {0};
  cr_expect_eq(rs_preset_model("lama-2-7b", &model, &near), RS_INPUT);
  cr_expect_str_eq(near.message, "is no model preset (did you mean llama-2-7b?)");
  cr_expect_eq(rs_preset_model("", &model, &far), RS_INPUT);
  cr_expect_str_eq(far.message, "is no model preset (ropescope list models shows them)");
}

/* ---- plans ------------------------------------------------------------------------------------------------------- */

Test(plan, numbers__from_the_sizes) {
  static const struct {
    const char *yaml;
    size_t cells, columns;
    double flops; /* 2 D L Q heads of each cell */
  } cases[] = {
      /* 8 key columns, 4 of entropy, 2 of status */
      {LLAMA "lengths: 1k\nmetrics: entropy\n", 1, 14, 2.0 * 128 * 1024 * 64 * 4},
      {LLAMA "lengths: [16, 1k]\nmetrics: entropy\nseeds: 3\nheads: all\n", 6, 14,
       3 * 2.0 * 128 * 32 * (16 * 16 + 1024 * 64)},
      {LLAMA "lengths: 100\nmetrics: entropy\nqueries: {every: 30}\nheads: [1, 2]\n", 1, 14, 2.0 * 128 * 100 * 4 * 2},
      {LLAMA "lengths: 100\nmetrics: entropy\nqueries: all\nheads: {each: 3}\n", 3, 14, 3 * 2.0 * 128 * 100 * 100},
      {LLAMA "metrics: decay\n", 1, 11, 0}, /* tables alone: no queries meet keys */
      {LLAMA "lengths: 10\nmetrics: [decay, ood_angles]\nmethods: [{name: pi, factor: [2, 4]}, rope]\n", 3,
       8 + 1 + 3 + 2, 0},
      {"model: [llama-2-7b, gpt2]\nmethods: nope\nlengths: 64\nmetrics: entropy\nheads: 1\n", 2, 14,
       2.0 * (128 + 64) * 64 * 64},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_experiment *experiment = good(cases[i].yaml);
    rs_plan plan;
    cr_assert_eq(rs_plan_make(experiment, NULL, &plan, NULL), RS_OK);
    cr_expect_eq(plan.cells, cases[i].cells, "%s: %zu cells", cases[i].yaml, plan.cells);
    cr_expect_eq(plan.summary_columns, cases[i].columns, "%s: %zu columns", cases[i].yaml, plan.summary_columns);
    cr_expect_float_eq(plan.score_flops, cases[i].flops, 1e-9 * cases[i].flops + 1e-9, "%s: %g", cases[i].yaml,
                       plan.score_flops);
    rs_experiment_free(experiment);
  }
}

/* A metric of patches has a row for each, as far as it shows them; of runs, for each and the text after. */
#define PICTURE "tokens: [{image: [150, 120]}]\n"
#define THUMBNAIL "tokens: [{image: [4, 4]}]\n"

Test(plan, curve_rows__of_patches_and_runs__are_bounded) {
  static const struct {
    const char *yaml;
    double rows;
  } cases[] = {
      {LLAMA "lengths: 100k\nmetrics: grid_decay\n" PICTURE, 75 * 60},
      {LLAMA "lengths: 1k\nmetrics: grid_decay\n" THUMBNAIL, 16},
      {LLAMA "lengths: 1k\nmetrics: {name: grid_decay, most_rows: 9}\n" THUMBNAIL, 4},
      {LLAMA "lengths: 4k\nmetrics: id_growth\ntokens: [{video: [300, 1, 1], timestamp_tokens: 1}]\n", 601},
      {LLAMA "lengths: 4k\nmetrics: {name: decay, distances: all}\n", 4096},
      {LLAMA "lengths: 4k\nmetrics: [ood_angles, entropy]\n", 64},
      {LLAMA "lengths: 8\nmetrics: [distance_mass, decay]\n", 16},
      {LLAMA "lengths: [8, 16]\nseeds: 2\nmetrics: distance_mass\n", 48},
      {"model: gpt2\nlengths: 1k\nmetrics: [position_pca, channel_axes]\n" THUMBNAIL, 16 + 768},
      {LLAMA "lengths: 4k\nmetrics: {name: axis_decay, reach: 100, distances: all}\n", 100},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_experiment *experiment = good(cases[i].yaml);
    rs_plan plan;
    cr_assert_eq(rs_plan_make(experiment, NULL, &plan, NULL), RS_OK);
    cr_expect_eq(plan.curve_rows, cases[i].rows, "%s: %g rows", cases[i].yaml, plan.curve_rows);
    rs_experiment_free(experiment);
  }
}

static double peak_of(const char *methods, size_t length, const char *metric) {
  rs_text yaml = {0};
  rs_plan plan;
  rs_text_printf(&yaml, "model: {head_dim: 64, heads: 12, train_length: 64}\nmethods: %s\nlengths: [16, %zu]\n",
                 methods, length);
  rs_text_printf(&yaml, "metrics: %s\n", metric);
  rs_experiment *experiment = good(yaml.data);
  cr_assert_eq(rs_plan_make(experiment, NULL, &plan, NULL), RS_OK);
  rs_experiment_free(experiment);
  rs_text_clear(&yaml);
  return plan.peak_bytes;
}

/* All methods' tables; beside an embedding 2D columns of the width for each head, twice, at every length. */
Test(plan, memory__of_tables__is_that_of_every_method) {
  double rope = peak_of("rope", 4096, "decay"), sinusoidal = peak_of("sinusoidal", 4096, "decay");
  cr_expect_eq(peak_of("[rope, sinusoidal]", 4096, "decay"), rope + sinusoidal);
  cr_expect_eq(peak_of("rope", 8192, "decay"), 2 * rope);
  cr_expect_eq(2 * sinusoidal - peak_of("sinusoidal", 8192, "decay"), 8.0 * 2 * 2 * 64 * 12 * 64);
}

/* What rows take beside the tables: that of the method with the most views, of which each has its own panel of keys. */
Test(plan, memory__of_rows__has_a_panel_for_each_view) {
  static const char *const methods[] = {"rope", "self_extend", "[rope, self_extend]", "[self_extend, rope]"};
  double rows[RS_COUNT(methods)];
  for (size_t i = 0; i < RS_COUNT(methods); i++)
    rows[i] = peak_of(methods[i], 4096, "entropy") - peak_of(methods[i], 4096, "decay");
  cr_expect_geq(rows[1] - rows[0], 8.0 * 64 * 4096, "%g and %g", rows[0], rows[1]);
  cr_expect(rows[2] == rows[1] && rows[3] == rows[1], "%g, %g, %g", rows[1], rows[2], rows[3]);
}

/* Twice the length: at least twice the bytes; and never less than the keys of one head. */
Test(plan, memory__grows_with_the_length) {
  double before = 0;
  for (size_t length = 4096; length <= 65536; length *= 2) {
    rs_text yaml = {0};
    rs_plan plan;
    rs_text_printf(&yaml, LLAMA "lengths: [16, %zu]\n", length);
    rs_experiment *experiment = good(yaml.data);
    cr_assert_eq(rs_plan_make(experiment, NULL, &plan, NULL), RS_OK);
    cr_expect_gt(plan.peak_bytes, 8.0 * 128 * (double)length);
    cr_expect_lt(plan.peak_bytes, 100 * 8.0 * 128 * (double)length);
    if (before > 0) cr_expect_gt(plan.peak_bytes, 1.5 * before);
    before = plan.peak_bytes;
    rs_experiment_free(experiment);
    rs_text_clear(&yaml);
  }
}
