/* test_config_checkpoints.c: trained models in configs: what their parameters make of them, and that they are written
 * as they were read. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../fixtures/reading.h"
#include "../fixtures/scratch.h"

#define COPY "task: copy\nmetrics: [decay]\n"

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

Test(checkpoints, defaults__a_small_decoder) {
  rs_experiment *experiment = good("checkpoint: {}\n" COPY);
  const rs_checkpoint *c = experiment->checkpoints;
  const rs_block *block = &c->shape.decoder.blocks[1];
  const rs_model *model = experiment->models;
  cr_assert_eq(experiment->model_count, 1);
  cr_expect(c->shape.form == RS_DECODER && c->shape.width == 64 && c->shape.decoder.count == 2 && !c->shape.tied);
  cr_expect(c->shape.embedding_scale == 1 && c->shape.output_scale == 1 &&
            c->shape.decoder.final_norm.kind == RS_NORM_RMS);
  cr_expect(c->shape.encoder.count == 0 && !block->cross && !block->parallel && block->recipe == 0);
  cr_expect(block->before_attention.kind == RS_NORM_RMS && block->before_attention.epsilon == 1e-5);
  cr_expect(block->before_feed_forward.kind == RS_NORM_RMS && block->after_attention.kind == RS_NORM_NONE);
  cr_expect(block->attention.heads == 2 && block->attention.kv_heads == 2 && block->attention.head_dim == 32);
  cr_expect(!block->attention.qkv_bias && !block->attention.output_bias &&
            block->attention.qk_norm.kind == RS_NORM_NONE);
  cr_expect(block->feed_forward.width == 256 && block->feed_forward.activation == RS_GELU &&
            !block->feed_forward.gated);
  cr_expect(block->mask.kind == RS_CAUSAL);
  cr_expect(c->format == RS_F32 && !c->seeded && !c->tuned && c->folder == NULL && c->tuned_recipes == NULL);
  cr_expect(c->training.steps == 1000 && c->training.length == 64 && c->training.rate == 3e-3);
  cr_expect(c->recipe_count == 1 && strcmp(c->recipes[0].method->name, "rope") == 0);
  cr_expect_str_eq(model->name, "rope");
  cr_expect(model->heads == 2 && model->head_dim == 32 && model->rotary_dim == 32 && model->rope_theta == 10000);
  cr_expect(model->train_length == 64 && model->max_length == 64 && model->pair_layout == RS_HALF_SPLIT);
  cr_expect(experiment->length_count == 1 && experiment->lengths[0] == 64);
  cr_expect(experiment->sequences == 64 && experiment->heads.all && experiment->sources.count == 0);
  cr_expect(experiment->methods.count == 1 && experiment->methods.items[0].method == NULL);
  cr_expect_str_eq(experiment->methods.items[0].label, "trained");
  cr_expect_str_eq(experiment->task.task->kind.name, "copy");
  rs_experiment_free(experiment);
}

Test(checkpoints, parameters__each_its_part_of_the_shape) {
  rs_experiment *experiment =
      good("checkpoint: {blocks: 3, width: 48, heads: 4, kv_heads: 2, head_dim: 8, rotary_dim: 6, feed_forward: 40, "
           "activation: silu, gated: true, norm: layer, epsilon: 1e-3, qk_norm: true, biases: true, tied: true, "
           "rope_theta: 500, pair_layout: interleaved, window: 9, sinks: 2, precision: f64, seed: 7}\n" COPY);
  const rs_checkpoint *c = experiment->checkpoints;
  const rs_block *block = &c->shape.decoder.blocks[2];
  const rs_model *model = experiment->models;
  const rs_norm norms[] = {block->before_attention, block->before_feed_forward, block->attention.qk_norm,
                           c->shape.decoder.final_norm};
  for (size_t i = 0; i < RS_COUNT(norms); i++)
    cr_expect(norms[i].kind == RS_NORM_LAYER && norms[i].bias && norms[i].epsilon == 1e-3, "norm %zu", i);
  cr_expect(c->shape.decoder.count == 3 && c->shape.width == 48 && c->shape.tied);
  cr_expect(block->attention.heads == 4 && block->attention.kv_heads == 2 && block->attention.head_dim == 8);
  cr_expect(block->attention.qkv_bias && block->attention.output_bias && block->feed_forward.bias);
  cr_expect(block->feed_forward.width == 40 && block->feed_forward.activation == RS_SILU && block->feed_forward.gated);
  cr_expect(block->mask.kind == RS_WINDOW_SINKS && block->mask.window == 9 && block->mask.sinks == 2);
  cr_expect(c->format == RS_F64 && c->seeded && c->seed == 7);
  cr_expect(model->heads == 4 && model->head_dim == 8 && model->rotary_dim == 6 && model->rope_theta == 500);
  cr_expect(model->pair_layout == RS_INTERLEAVED);
  rs_experiment_free(experiment);
}

/* Vaswani et al. (arXiv:1706.03762): a norm of each sum, and none at the end. */
Test(checkpoints, norm_order__post__norms_sums_alone) {
  static const char *const tasks[] = {COPY, "task: where\nmetrics: [decay]\n", "task: translate\nmetrics: [decay]\n"};
  for (size_t i = 0; i < RS_COUNT(tasks); i++) {
    char text[200];
    snprintf(text, sizeof text, "checkpoint: {norm: layer, norm_order: post, biases: true}\n%s", tasks[i]);
    rs_experiment *experiment = good(text);
    const rs_shape *shape = &experiment->checkpoints->shape;
    const rs_stack *const stacks[] = {&shape->decoder, &shape->encoder};
    for (size_t s = 0; s < RS_COUNT(stacks); s++) {
      cr_expect(stacks[s]->final_norm.kind == RS_NORM_NONE);
      for (size_t b = 0; b < stacks[s]->count; b++) {
        const rs_block *block = &stacks[s]->blocks[b];
        const rs_norm *const before[] = {&block->before_attention, &block->before_cross, &block->before_feed_forward};
        const rs_norm *const after[] = {&block->after_attention, &block->after_cross, &block->after_feed_forward};
        cr_expect(block->norm_sums);
        for (size_t n = 0; n < RS_COUNT(after); n++) {
          bool there = n != 1 || block->cross;
          cr_expect_eq(before[n]->kind, RS_NORM_NONE, "task %zu, norm %zu", i, n);
          cr_expect_eq(after[n]->kind, there ? RS_NORM_LAYER : RS_NORM_NONE, "task %zu, norm %zu", i, n);
          cr_expect_eq(after[n]->bias, there, "task %zu, norm %zu", i, n);
        }
      }
    }
    rs_experiment_free(experiment);
  }
}

/* An RMS norm has no bias. */
Test(checkpoints, biases__of_projections_and_layer_norms) {
  rs_experiment *experiment = good("checkpoint: {biases: true}\n" COPY);
  const rs_block *block = experiment->checkpoints->shape.decoder.blocks;
  cr_expect(block->attention.qkv_bias && block->feed_forward.bias && !block->before_attention.bias);
  rs_experiment_free(experiment);
}

Test(checkpoints, forms__follow_from_the_task) {
  rs_experiment *both = good("checkpoint: {window: 5}\ntask: translate\nmetrics: [decay]\n");
  const rs_shape *shape = &both->checkpoints->shape;
  cr_expect(shape->form == RS_ENCODER_DECODER && shape->encoder.count == 2 && shape->decoder.count == 2);
  cr_expect(shape->decoder.blocks[1].cross && shape->decoder.blocks[1].before_cross.kind == RS_NORM_RMS);
  cr_expect(!shape->encoder.blocks[1].cross && shape->encoder.final_norm.kind == RS_NORM_RMS);
  cr_expect(shape->encoder.blocks[0].mask.kind == RS_BIDIRECTIONAL && shape->decoder.blocks[0].mask.kind == RS_WINDOW);
  rs_experiment_free(both);
  rs_experiment *vision = good("checkpoint: {train: {length: 64}}\ntask: where\nmetrics: [decay]\n");
  cr_expect(vision->checkpoints->shape.form == RS_VISION);
  cr_expect_eq(vision->checkpoints->shape.decoder.blocks[0].mask.kind, RS_BIDIRECTIONAL);
  cr_expect(vision->models->train_length == 65 && vision->checkpoints->trained_tokens == 65, "the class token is one");
  cr_expect_eq(vision->lengths[0], 64);
  rs_experiment_free(vision);
}

/* ---- layers ------------------------------------------------------------------------------------------------------ */

Test(checkpoints, layers__each_nth_and_ranges) {
  rs_experiment *experiment =
      good("checkpoint: {blocks: 6, layers: [{every: 3, method: nope}, {from: 1, to: 2, window: 16}, {from: 5, method: "
           "{name: nope}, window: 8, sinks: 3}, {to: 0, method: alibi}]}\n" COPY);
  const rs_checkpoint *c = experiment->checkpoints;
  static const char *const methods[] = {"alibi", "rope", "nope", "rope", "rope", "nope"};
  static const size_t windows[] = {0, 16, 16, 0, 0, 8}, sinks[] = {0, 0, 0, 0, 0, 3};
  for (size_t b = 0; b < RS_COUNT(methods); b++) {
    const rs_block *block = &c->shape.decoder.blocks[b];
    cr_expect_str_eq(c->recipes[block->recipe].method->name, methods[b], "block %zu", b);
    cr_expect(block->mask.window == windows[b] && block->mask.sinks == sinks[b], "block %zu", b);
    cr_expect_eq(block->mask.kind, sinks[b] > 0 ? RS_WINDOW_SINKS : windows[b] > 0 ? RS_WINDOW : RS_CAUSAL);
  }
  cr_expect_eq(c->recipe_count, 3, "what two rules say alike is one recipe");
  cr_expect_eq(c->shape.decoder.blocks[1].recipe, 0);
  rs_experiment_free(experiment);
}

/* A layer's method stays, though it be the checkpoint's own: a method of the experiment takes the first one's place. */
Test(checkpoints, layers__keep_a_method_of_their_own) {
  rs_experiment *experiment = good(
      "checkpoint: {layers: [{from: 1, method: {name: yarn, factor: 2}}], method: {name: yarn, factor: 4}}\n" COPY);
  const rs_checkpoint *c = experiment->checkpoints;
  cr_assert_eq(c->recipe_count, 2);
  cr_expect(c->shape.decoder.blocks[0].recipe == 0 && c->shape.decoder.blocks[1].recipe == 1);
  cr_expect_eq(rs_setting(&c->recipes[0].settings, "factor")->number, 4);
  cr_expect_eq(rs_setting(&c->recipes[1].settings, "factor")->number, 2);
  rs_experiment_free(experiment);
}

/* Two rules make one recipe where every parameter is the same, and as much was said. */
Test(checkpoints, layers__of_rules_that_say_the_same__share_a_recipe) {
  static const struct {
    const char *first, *second;
    bool same;
  } cases[] = {
      {"{name: yarn, factor: 2}", "{name: yarn, factor: 2}", true},
      {"{name: yarn, factor: 2}", "{name: yarn, factor: 4}", false},
      {"{name: yarn, factor: 2}", "{name: yarn, factor: 2, beta_fast: 32}", false},
      {"{name: yarn, factor: 2, ramp: paper}", "{name: yarn, factor: 2, ramp: hf}", false},
      {"{name: yarn, factor: 2, ramp: paper}", "{name: yarn, factor: 2, ramp: paper}", true},
      {"{name: yarn, factor: 2, truncate: true}", "{name: yarn, factor: 2, truncate: false}", false},
      {"{name: longrope, short_factor: [1, 2], long_factor: [3, 4]}",
       "{name: longrope, short_factor: [1, 2], long_factor: [3, 4]}", true},
      {"{name: longrope, short_factor: [1, 2], long_factor: [3, 4]}",
       "{name: longrope, short_factor: [1, 2], long_factor: [3, 5]}", false},
      {"{name: rope, mrope_section: equal}", "{name: rope, mrope_section: [1, 1, 0]}", false},
      {"{name: yarn, factor: 2}", "{name: ntk, factor: 2}", false},
      {"nope", "{name: nope}", true},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char yaml[512];
    snprintf(
        yaml, sizeof yaml,
        "checkpoint: {blocks: 3, head_dim: 4, layers: [{from: 1, to: 1, method: %s}, {from: 2, method: %s}]}\n" COPY,
        cases[i].first, cases[i].second);
    rs_experiment *experiment = good(yaml);
    const rs_block *blocks = experiment->checkpoints->shape.decoder.blocks;
    cr_expect_eq(experiment->checkpoints->recipe_count, cases[i].same ? 2 : 3, "case %zu", i);
    cr_expect_eq(blocks[1].recipe == blocks[2].recipe, cases[i].same, "case %zu", i);
    rs_experiment_free(experiment);
  }
}

/* What layers learn apart is drawn apart, and a method in the place of the first is so in that of its copies. */
Test(checkpoints, layers__that_learn_for_themselves__have_copies) {
  rs_experiment *experiment =
      good("checkpoint: {blocks: 4, method: {name: rope_mixed, table_seed: 7}, layers: [{from: 2, to: 2, method: "
           "nope}], tune: {length: 16, method: {name: rope_mixed, table_seed: 20}}}\ntask: where\nmetrics: [decay]\n");
  const rs_checkpoint *c = experiment->checkpoints;
  static const size_t recipes[] = {0, 2, 1, 3};
  static const double seeds[] = {7, -1, 8, 9};
  cr_assert_eq(c->recipe_count, 4);
  for (size_t b = 0; b < RS_COUNT(recipes); b++) cr_expect_eq(c->shape.decoder.blocks[b].recipe, recipes[b], "%zu", b);
  for (size_t r = 0; r < c->recipe_count; r++) {
    bool mixed = seeds[r] >= 0;
    cr_expect_str_eq(c->recipes[r].method->name, mixed ? "rope_mixed" : "nope", "%zu", r);
    cr_expect_str_eq(c->tuned_recipes[r].method->name, mixed ? "rope_mixed" : "nope", "%zu", r);
    cr_expect_eq(rs_recipe_repeats(&c->recipes[r], &c->recipes[0]), mixed, "%zu", r);
    if (!mixed) continue;
    cr_expect_eq(rs_setting(&c->recipes[r].settings, "table_seed")->number, seeds[r], "%zu", r);
    cr_expect_eq(rs_setting(&c->tuned_recipes[r].settings, "table_seed")->number, seeds[r] + 13, "%zu", r);
  }
  rs_experiment_free(experiment);
}

/* Given frequencies that do not learn are every layer's; those that learn begin alike. */
Test(checkpoints, layers__given_frequencies__one_recipe_unless_they_learn) {
  static const char *const learned[] = {"false", "true"};
  for (size_t i = 0; i < RS_COUNT(learned); i++) {
    char yaml[256];
    snprintf(yaml, sizeof yaml,
             "checkpoint: {head_dim: 4, method: {name: rope_mixed, freq_x: [1, 2], freq_y: [3, 4], learned: %s}}\n"
             "task: where\nmetrics: [decay]\n",
             learned[i]);
    rs_experiment *experiment = good(yaml);
    cr_expect_eq(experiment->checkpoints->recipe_count, i + 1, "%s", learned[i]);
    rs_experiment_free(experiment);
  }
}

/* ---- training and tuning ----------------------------------------------------------------------------------------- */

Test(checkpoints, tuning__geometry_is_what_was_seen_last) {
  rs_experiment *experiment =
      good("checkpoint: {method: rope, train: {steps: 5, length: 16, warmup: 2, clip: 0.5}, "
           "tune: {length: 32, method: yarn, decay: 0}, layers: [{every: 2, method: nope}]}\n" COPY);
  const rs_checkpoint *c = experiment->checkpoints;
  rs_recipe recipe = {0};
  cr_expect(c->training.steps == 5 && c->training.length == 16 && c->training.warmup == 2 && c->training.clip == 0.5);
  cr_assert(c->tuned && c->tuned_recipes != NULL);
  cr_expect(c->tuning.steps == 80 && c->tuning.length == 32 && c->tuning.sequences == 8 && c->tuning.rate == 1e-3);
  cr_expect(c->tuning.warmup == 10 && c->tuning.decay == 0 && c->tuning.beta2 == 0.98);
  cr_expect(c->trained_tokens == 16 && experiment->models->train_length == 32 && experiment->models->max_length == 32);
  cr_expect_eq(experiment->lengths[0], 32);
  cr_expect_str_eq(c->recipes[0].method->name, "rope");
  cr_expect_str_eq(c->tuned_recipes[0].method->name, "yarn");
  cr_expect_str_eq(c->tuned_recipes[1].method->name, "nope");
  cr_expect_eq(rs_recipe_train_length(&c->tuned_recipes[0], experiment->models), 16, "YaRN stretches 16 tokens to 32");
  cr_assert_eq(rs_experiment_recipe(experiment, 0, 0, &recipe, NULL), RS_OK);
  cr_expect_str_eq(recipe.method->name, "yarn", "`trained` is what it was trained with last");
  rs_recipe_clear(&recipe);
  rs_experiment_free(experiment);
}

Test(checkpoints, recipes__trained_and_changed) {
  rs_experiment *experiment =
      good("checkpoint: {method: {name: ntk, factor: 3}, train: {length: 16}}\nmethods: [trained, "
           "yarn]\n" COPY);
  rs_recipe trained = {0}, changed = {0};
  cr_assert_eq(rs_experiment_recipe(experiment, 0, 0, &trained, NULL), RS_OK);
  cr_assert_eq(rs_experiment_recipe(experiment, 0, 1, &changed, NULL), RS_OK);
  cr_expect_str_eq(trained.method->name, "ntk");
  cr_expect_eq(rs_setting(&trained.settings, "factor")->number, 3);
  cr_expect_str_eq(changed.method->name, "yarn");
  cr_expect_eq(rs_setting(&changed.settings, "scale")->choice, 2, "the default scale is dynamic");
  cr_expect_eq(rs_recipe_train_length(&changed, experiment->models), 16);
  rs_recipe_clear(&trained);
  rs_recipe_clear(&changed);
  rs_experiment_free(experiment);
}

/* ---- lists and names --------------------------------------------------------------------------------------------- */

static void expect_names(const char *yaml, const char *names) {
  rs_experiment *experiment = good(yaml);
  rs_text joined = {0};
  for (size_t i = 0; i < experiment->model_count; i++)
    rs_text_printf(&joined, "%s%s", i > 0 ? "; " : "", experiment->models[i].name);
  cr_expect_str_eq(rs_text_string(&joined), names, "%s: %s", yaml, rs_text_string(&joined));
  rs_text_clear(&joined);
  rs_experiment_free(experiment);
}

Test(checkpoints, names__what_differs) {
  static const struct {
    const char *yaml, *names;
  } cases[] = {
      {"checkpoint: {name: mine}\n" COPY, "mine"},
      {"checkpoint: {method: [rope, alibi]}\n" COPY, "rope; alibi"},
      {"checkpoint: {name: a, method: [rope, alibi]}\n" COPY, "a method=rope; a method=alibi"},
      {"checkpoint: {method: {name: yarn, factor: [2, 4]}}\n" COPY, "yarn factor=2; yarn factor=4"},
      {"checkpoint: {width: [32, 64], train: {steps: [1k, 2]}}\n" COPY,
       "rope width=32 train.steps=1024; rope width=32 train.steps=2; rope width=64 train.steps=1024; rope width=64 "
       "train.steps=2"},
      {"checkpoint: {width: [32, 64], train: {steps: [1k, 2]}, zip: true}\n" COPY,
       "rope width=32 train.steps=1024; rope width=64 train.steps=2"},
      {"checkpoint: {tune: {method: [pi, ntk], steps: [3]}}\n" COPY, "rope tune.method=pi; rope tune.method=ntk"},
      {"checkpoint: {blocks: 4, layers: [{every: [2, 4], method: nope}]}\n" COPY,
       "rope layers[0].every=2; rope layers[0].every=4"},
      {"checkpoint: {layers: [{every: 2, method: [nope, alibi]}]}\n" COPY,
       "rope layers[0].method=nope; rope layers[0].method=alibi"},
      {"checkpoint: [{width: 32}, {width: 64, tune: {rate: 0.5}}, {method: alibi}]\n" COPY,
       "rope width=32; rope width=64 tune.rate=0.5; alibi"},
      {"checkpoint: {seed: [1, 2]}\n" COPY, "rope seed=1; rope seed=2"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) expect_names(cases[i].yaml, cases[i].names);
}

static void expect_value(const rs_experiment *experiment, size_t model, const char *path, const char *value) {
  rs_text text = {0};
  rs_experiment_checkpoint_value(experiment, model, path, &text);
  cr_expect_str_eq(rs_text_string(&text), value, "%s of %zu is %s", path, model, rs_text_string(&text));
  rs_text_clear(&text);
}

/* Key columns: of what is swept, and of what `columns` asks for; each checkpoint has a value. */
Test(checkpoints, swept__named_by_their_paths) {
  rs_experiment *experiment =
      good("checkpoint: [{name: a, width: [32, 64], method: [rope, {name: yarn, factor: 2}], zip: true, train: {steps: "
           "[7]}}, {name: b, tune: {steps: [3, 4], method: [pi, ntk]}}]\ncolumns: [checkpoint.heads, "
           "checkpoint.train.steps]\n" COPY);
  static const char *const swept[] = {"checkpoint.width",       "checkpoint.method", "checkpoint.tune.steps",
                                      "checkpoint.tune.method", "checkpoint.heads",  "checkpoint.train.steps"};
  cr_assert_eq(experiment->swept_count, RS_COUNT(swept));
  for (size_t i = 0; i < RS_COUNT(swept); i++) {
    const rs_param *param = rs_experiment_param(experiment, swept[i]);
    cr_expect_str_eq(experiment->swept[i], swept[i]);
    cr_assert_not_null(param, "%s", swept[i]);
    cr_expect(param->unit != NULL && param->summary != NULL, "%s", swept[i]);
  }
  cr_assert_eq(experiment->model_count, 6);
  expect_value(experiment, 0, "checkpoint.width", "32");
  expect_value(experiment, 1, "checkpoint.method", "yarn factor=2");
  expect_value(experiment, 1, "checkpoint.train.steps", "7");
  expect_value(experiment, 2, "checkpoint.width", "64");
  expect_value(experiment, 2, "checkpoint.tune.steps", "3");
  expect_value(experiment, 3, "checkpoint.tune.method", "ntk");
  expect_value(experiment, 0, "checkpoint.tune.method", "");
  expect_value(experiment, 0, "checkpoint.tune.steps", "");
  expect_value(experiment, 4, "checkpoint.train.length", "64");
  expect_value(experiment, 4, "checkpoint.seed", "");
  expect_value(experiment, 4, "width", "");
  cr_expect_null(rs_experiment_param(experiment, "checkpoint.depth"));
  cr_expect_null(rs_experiment_param(experiment, "width"));
  rs_experiment_free(experiment);
}

/* A task is no axis; a checkpoint is one, in the place of models. */
Test(checkpoints, cells__of_checkpoints_methods_lengths_and_seeds) {
  rs_experiment *grid =
      good("checkpoint: {width: [32, 64]}\nmethods: [trained, pi]\nlengths: [16, 32]\nseeds: 2\n" COPY);
  rs_experiment *zipped =
      good("checkpoint: {width: [32, 64]}\nmethods: [trained, pi]\nzip: [checkpoint, methods]\n" COPY);
  char *cells = cells_of(grid), *pairs = cells_of(zipped);
  cr_expect_str_eq(cells, "0,0,0,0,0,0 0,0,0,0,1,0 0,0,1,0,0,0 0,0,1,0,1,0 0,1,0,0,0,0 0,1,0,0,1,0 0,1,1,0,0,0 "
                          "0,1,1,0,1,0 1,0,0,0,0,0 1,0,0,0,1,0 1,0,1,0,0,0 1,0,1,0,1,0 1,1,0,0,0,0 1,1,0,0,1,0 "
                          "1,1,1,0,0,0 1,1,1,0,1,0 ");
  cr_expect_str_eq(pairs, "0,0,0,0,0,0 1,1,0,0,0,0 ");
  free(cells);
  free(pairs);
  rs_experiment_free(grid);
  rs_experiment_free(zipped);
}

/* ---- written back ------------------------------------------------------------------------------------------------ */

#define TRAINED                                                                                                        \
  "train: {steps: 1000, length: 64, sequences: 64, rate: 0.003, final_rate: 0.1, warmup: 50, beta1: 0.9, beta2: "      \
  "0.98, epsilon: 1e-08, decay: 0.01, clip: 1}"

Test(checkpoints, resolved__every_default_is_written_out) {
  static const right cases[] = {
      {"checkpoint: {}\n" COPY,
       {0},
       "checkpoint:\n  - {name: \"rope\", method: {name: rope}, blocks: 2, width: 64, heads: 2, kv_heads: 2, head_dim: "
       "32, feed_forward: 256, activation: gelu, gated: false, norm: rms, epsilon: 1e-05, qk_norm: false, biases: "
       "false, tied: false, rope_theta: 10000, rotary_dim: 32, pair_layout: half_split, precision: f32,\n     " TRAINED
       "}\ntask:\n  - {name: copy, symbols: 26, shortest: 1}\nsequences: 64\ntargets: per_length\nbaselines: "
       "none\nlengths: [64]\nmethods:\n  - {name: "
       "trained}\nmetrics:\n  - {name: decay, distances: log, per_octave: 16}\nseeds: [0]\nbins_per_octave: 4\n"},
      {"checkpoint: {width: 64}\n" COPY, {"checkpoint.width=128"}, "width: 128, heads: 2, kv_heads: 2, head_dim: 64, "},
      {"checkpoint: {}\n" COPY, {"checkpoint.train.steps=[1, 2]"}, "train.steps=2\", "},
      {"checkpoint: [{}, {method: pi}]\n" COPY, {"checkpoint[1].method.factor=8"}, "method: {name: pi, factor: 8}, "},
      {"checkpoint: {}\n" COPY, {"checkpoint.seed=9"}, "precision: f32, seed: 9,\n"},
      {"checkpoint: {}\n" COPY, {"task.symbols=3"}, "  - {name: copy, symbols: 3, "},
      {"checkpoint: {}\nmethods: {name: trained, label: as it is}\n" COPY, {0}, "{name: trained, label: \"as it is\"}"},
      {"checkpoint: {}\nsequences: 1k\n" COPY, {0}, "sequences: 1024\n"},
      {"checkpoint: {}\nzip: [checkpoint, lengths]\n" COPY, {0}, "zip: [checkpoint, lengths]\n"},
      {"checkpoint: {blocks: 3, window: 9, layers: [{every: 2, method: nope, window: 4, sinks: 1}]}\n" COPY,
       {0},
       "window: 9, precision: f32, layers: [{from: 1, to: 1, method: {name: nope}, window: 4, sinks: 1}],\n"},
      {"checkpoint: {tune: {method: {name: yarn, factor: 4}, length: 128}}\n" COPY,
       {0},
       "tune: {steps: 80, length: 128, sequences: 8, rate: 0.001, final_rate: 0.1, warmup: 10, beta1: 0.9, beta2: "
       "0.98, "
       "epsilon: 1e-08, decay: 0.01, clip: 1, method: {name: yarn, factor: 4}}}\n"},
      {"checkpoint: {}\ntask: copy\n", {0}, "metrics:\n  - {name: loss}\n  - {name: accuracy}\nseeds"},
      {"checkpoint: {}\ntask: copy\nsources: model\n",
       {0},
       "metrics:\n  - {name: loss}\n  - {name: accuracy}\n  - {name: entropy}\nseeds"},
      {"checkpoint: {blocks: 3, layers: [{from: 1, to: 1, window: 4, sinks: 1}, {from: 2, window: 4, sinks: "
       "2}]}\n" COPY,
       {0},
       "layers: [{from: 1, to: 1, window: 4, sinks: 1}, {from: 2, to: 2, window: 4, sinks: 2}],\n"},
  };
  expect_written(cases, RS_COUNT(cases));
}

static void expect_same_block(const rs_block *a, const rs_block *b, const char *yaml) {
  cr_expect(a->recipe == b->recipe && a->mask.kind == b->mask.kind && a->mask.window == b->mask.window, "%s", yaml);
  cr_expect(a->mask.sinks == b->mask.sinks && a->attention.head_dim == b->attention.head_dim, "%s", yaml);
}

Test(checkpoints, written_and_read_again__the_same) {
  static const char *const configs[] = {
      "checkpoint: {}\n" COPY,
      "checkpoint:\n  - {name: a, method: [rope, alibi, {name: yarn, factor: [2, 4]}], blocks: 4, width: [32, 64], "
      "layers: [{every: 4, method: nope}, {from: 0, to: 1, window: 16}], train: {steps: [10, 1k]}, tune: {method: "
      "yarn}, seed: 7}\n  - {method: nope, tied: true}\nmethods: [trained, pi]\nlengths: [64, 128]\nseeds: [1, "
      "3]\n" COPY,
      "checkpoint: {blocks: 5, layers: [{every: 2, method: {name: yarn, factor: 4}}, {from: 2, to: 3, method: "
      "nope}]}\n" COPY,
      "checkpoint: {window: 8, layers: [{from: 1, window: 4}]}\ntask: translate\nmetrics: [decay]\n",
      "checkpoint: {method: sinusoidal, train: {length: 64}}\ntask: {name: where}\nmetrics: [decay]\n",
      "checkpoint: {blocks: 3, method: rope_mixed, layers: [{from: 1, to: 1, method: alibi}]}\ntask: {name: where}\n"
      "metrics: [decay]\n",
      "checkpoint: {name: '\"a\": {b}'}\ntask: {name: dictionary, keys_in_use: 8}\nsequences: 3\n",
      "checkpoint: {width: [32, 64]}\nmethods: [trained, pi]\nzip: [checkpoint, methods]\n" COPY,
  };
  for (size_t i = 0; i < RS_COUNT(configs); i++) {
    rs_experiment *first = good(configs[i]);
    char *once = written(first);
    rs_experiment *second = good(once);
    char *twice = written(second);
    cr_expect_str_eq(twice, once, "%s\nis written as\n%s\nand then\n%s", configs[i], once, twice);
    cr_assert_eq(second->model_count, first->model_count);
    for (size_t m = 0; m < first->model_count; m++) {
      const rs_checkpoint *a = &first->checkpoints[m], *b = &second->checkpoints[m];
      cr_expect(a->recipe_count == b->recipe_count && a->trained_tokens == b->trained_tokens, "%s", configs[i]);
      for (size_t k = 0; k < a->shape.decoder.count; k++)
        expect_same_block(&a->shape.decoder.blocks[k], &b->shape.decoder.blocks[k], configs[i]);
    }
    free(once);
    free(twice);
    rs_experiment_free(first);
    rs_experiment_free(second);
  }
}

/* ---- folders ----------------------------------------------------------------------------------------------------- */

static const char llama[] =
    "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_attention_heads\": 4, \"head_dim\": 16, "
    "\"max_position_embeddings\": 128, \"rope_theta\": 500.0, \"vocab_size\": 40, \"num_hidden_layers\": 2, "
    "\"intermediate_size\": 96}";

/* A path is relative to the config's folder; what is written is where it is. */
Test(checkpoints, folder__the_geometry_of_its_config, .init = enter_scratch) {
  rs_experiment *experiment = NULL;
  rs_problems problems = {0};
  rs_err err = {0};
  char here[4096], part[4200];
  static const char config[] = "checkpoint: {folder: ../model, tune: {length: 256}, precision: f64}\n" COPY;
  cr_assert(mkdir("model", 0777) == 0 && mkdir("configs", 0777) == 0);
  cr_assert_eq(rs_file_write("model/config.json", llama, strlen(llama), &err), RS_OK);
  cr_assert_eq(rs_file_write("model/model.safetensors", "", 0, &err), RS_OK);
  cr_assert_eq(rs_file_write("configs/t.yaml", config, strlen(config), &err), RS_OK);
  rs_status status = rs_config_load("configs/t.yaml", (rs_config_edits){0}, &experiment, &problems, &err);
  cr_assert_eq(status, RS_OK, "%s %s", err.message, rs_text_string(&problems.text));
  const rs_checkpoint *c = experiment->checkpoints;
  cr_assert_not_null(realpath("model", here));
  cr_expect_str_eq(c->folder, here);
  cr_expect_str_eq(experiment->models->name, "model");
  cr_expect(experiment->models->heads == 4 && experiment->models->rope_theta == 500 && c->format == RS_F64);
  cr_expect(c->trained_tokens == 128 && experiment->models->train_length == 256 && experiment->lengths[0] == 256);
  cr_expect(c->shape.decoder.count == 0 && c->recipe_count == 1);
  expect_value(experiment, 0, "checkpoint.width", "");
  expect_value(experiment, 0, "checkpoint.train.steps", "");
  expect_value(experiment, 0, "checkpoint.tune.length", "256");
  expect_value(experiment, 0, "checkpoint.precision", "f64");
  char *text = written(experiment);
  snprintf(part, sizeof part,
           "  - {name: \"model\", folder: \"%s\", precision: f64,\n     tune: {steps: 80, length: 256", here);
  cr_expect_not_null(strstr(text, part), "%s", text);
  rs_experiment *again = good(text);
  char *twice = written(again);
  cr_expect_str_eq(twice, text);
  free(text);
  free(twice);
  rs_experiment_free(again);
  rs_experiment_free(experiment);
  rs_problems_clear(&problems);
  static const char *const files[] = {"model/config.json", "model/model.safetensors", "configs/t.yaml", "model",
                                      "configs"};
  leaves(files, RS_COUNT(files));
}
