/* test_config.c: what a config may say, and that it is written as it was read. */
#include <criterion/criterion.h>
#include <glob.h>
#include <stdlib.h>

#include "../fixtures/reading.h"
#include "run/run.h"

/* ---- what is accepted -------------------------------------------------------------------------------------------- */

Test(config, edits__change_the_config) {
  static const char base[] = LLAMA "methods: [rope, {name: pi, factor: 2}]\n";
  static const right cases[] = {
      {base, {"seeds=3"}, "seeds: [0, 1, 2]\n"},
      {base, {"methods[1].factor=8"}, "{name: pi, factor: 8}"},
      {base, {"methods[0].rope_theta=500000"}, "{name: rope, rope_theta: 500000}"},
      {base, {"methods[1].factor=[2, 4]"}, "label: \"pi factor=4\", factor: 4}"},
      {base, {"methods[1].factor=[2, 4]"}, "columns: [factor]\n"},
      {base, {"lengths=[1k, 2k]"}, "lengths: [1024, 2048]\n"},
      {base, {"lengths={from: 1k, to: 4k}"}, "lengths: [1024, 2048, 4096]\n"},
      {base, {"queries.last=5"}, "queries: {last: 5}\n"},
      {base, {"methods=yarn"}, "methods:\n  - {name: yarn, scale: dynamic}\n"},
      {base, {"model=gpt2"}, "{name: \"gpt2\", "},
      {base, {"model.preset=gpt2"}, "{name: \"llama-2-7b\", heads: 12, "}, /* the word became the name */
      {base, {"seeds=3", "seeds=1"}, "seeds: [0]\n"},
      {base, {"sources=needle", "sources.depth=0.25"}, "{name: needle, depth: 0.25, "},
      {base, {"methods=[rope, yarn]", "methods[1].factor=4", "methods[1].beta_fast=64"}, "factor: 4, beta_fast: 64}"},
      {base, {"description=a = b"}, "description: \"a = b\"\n"},
      {base, {"name=edited"}, "name: \"edited\"\n"},
  };
  expect_written(cases, RS_COUNT(cases));
}

Test(config, lengths__every_form) {
  static const right cases[] = {
      {LLAMA, {0}, "lengths: [4096]\n"}, /* the model's own */
      {LLAMA "lengths: 4k\n", {0}, "lengths: [4096]\n"},
      {LLAMA "lengths: 1M\n", {0}, "lengths: [1048576]\n"},
      {LLAMA "lengths: [8k, 1, 100]\n", {0}, "lengths: [8192, 1, 100]\n"},
      {LLAMA "lengths: {from: 4k, to: 32k, steps: octaves}\n", {0}, "lengths: [4096, 8192, 16384, 32768]\n"},
      {LLAMA "lengths: {from: 3, to: 20}\n", {0}, "lengths: [3, 6, 12]\n"},
      {LLAMA "lengths: {from: 1k, to: 4k, steps: half_octaves}\n", {0}, "lengths: [1024, 1448, 2048, 2896, 4096]\n"},
      {LLAMA "lengths: {from: 1, to: 8, steps: half_octaves}\n", {0}, "lengths: [1, 2, 4, 5, 8]\n"},
      {LLAMA "lengths: {from: 1k, to: 2k, steps: 512}\n", {0}, "lengths: [1024, 1536, 2048]\n"},
      {LLAMA "lengths: {from: 4k, to: 12k, steps: 4k}\n", {0}, "lengths: [4096, 8192, 12288]\n"},
      {LLAMA "lengths: {from: 7, to: 7, steps: 3}\n", {0}, "lengths: [7]\n"},
  };
  expect_written(cases, RS_COUNT(cases));
}

/* A value where no model publishes another, so that the file says what was run. */
/* What a model may publish otherwise stands in a comment; there is none where all is given. */
Test(config, defaults__are_a_comment_where_there_are_some) {
  static const right cases[] = {
      {LLAMA "methods: nope\n",
       {0},
       "{name: nope}\n    # unless the model publishes others: logit_scale: none\nsources"},
      {LLAMA "methods: {name: nope, logit_scale: none}\n", {0}, "  - {name: nope, logit_scale: none}\nsources"},
      {LLAMA "precision: {angle: f32, running: true}\n", {0}, "angle: f32, table: f64, running: true}\n"},
      {LLAMA "precision: {angle: f32, running: false}\n", {0}, "angle: f32, table: f64, running: false}\n"},
  };
  expect_written(cases, RS_COUNT(cases));
}

Test(config, default_scale__is_written_down) {
  static const right cases[] = {
      {LLAMA "methods: pi\n",
       {0},
       "  - {name: pi, scale: dynamic}\n    # unless the model publishes others: interpolate"},
      {LLAMA "methods: {name: yarn, beta_fast: 8}\n", {0}, "  - {name: yarn, scale: dynamic, beta_fast: 8}\n"},
      {LLAMA "methods: {name: pi, factor: 2}\n", {0}, "  - {name: pi, factor: 2}\n"},
      {LLAMA "methods: {name: pi, scale: auto}\n", {0}, "  - {name: pi, scale: auto}\n"},
      {LLAMA "methods: dynamic_ntk\n",
       {0},
       "  - {name: dynamic_ntk}\n    # unless the model publishes others: scale: hf_"},
      {"model: llama-3.1-8b\nmethods: llama3\n",
       {0},
       "  - {name: llama3}\n    # unless the model publishes others: low_"},
      {"model: [llama-3.1-8b, llama-2-7b]\nmethods: llama3\n",
       {0},
       "  - {name: llama3}\n    # unless the model publishes others: scale: dynamic, low_"},
  };
  expect_written(cases, RS_COUNT(cases));
}

Test(config, small_keys__every_form) {
  static const right cases[] = {
      {LLAMA, {0}, "name: \"unnamed\"\ndescription: \"\"\n"},
      {LLAMA "name: a.b_c-9\ndescription: 'x \"y\" \\ z'\n",
       {0},
       "name: \"a.b_c-9\"\ndescription: \"x \\\"y\\\" \\\\ z\"\n"},
      {LLAMA,
       {0},
       "methods:\n  - {name: rope}\n    # unless the model publishes others: mrope_tail: t, vision_ids: qwen2_vl, "
       "wavelengths: exact, cached_keys: consistent, logit_scale: none\n"},
      {LLAMA, {0}, "sources:\n  - {name: gaussian, sd: 1, norm: free}\n"},
      {LLAMA,
       {0},
       "metrics:\n  - {name: decay, distances: log, per_octave: 16}\n  - {name: ood_angles}\n  - {name: entropy}\n"},
      {LLAMA, {0}, "seeds: [0]\nheads: 4\nqueries: {last: 64}\nmask: causal\n"},
      {LLAMA,
       {0},
       "precision: {positions: f64, inv_freq: f64, angle: f64, table: f64, running: false}\nengine: {scores: auto, "
       "epsilon: 1e-12}\nbins_per_octave: 4\n"},
      {LLAMA "seeds: [7, 0, 9007199254740992]\n", {0}, "seeds: [7, 0, 9007199254740992]\n"},
      {LLAMA "heads: all\n", {0}, "heads: all\n"},
      {LLAMA "heads: 3\n", {0}, "heads: 3\n"},
      {LLAMA "heads: [31, 0]\n", {0}, "heads: [31, 0]\n"},
      {LLAMA "heads: {each: all}\n", {0}, "heads: {each: all}\n"},
      {LLAMA "heads: {each: 2}\n", {0}, "heads: {each: 2}\n"},
      {LLAMA "heads: {each: [1, 2]}\n", {0}, "heads: {each: [1, 2]}\n"},
      {"model: {head_dim: 4, heads: 2, train_length: 8}\n", {0}, "heads: 2\nqueries"}, /* no more than there are */
      {LLAMA "queries: all\n", {0}, "queries: all\n"},
      {LLAMA "queries: {last: 1k}\n", {0}, "queries: {last: 1024}\n"},
      {LLAMA "queries: {every: 3}\n", {0}, "queries: {every: 3}\n"},
      {LLAMA "queries: {random: 5}\n", {0}, "queries: {random: 5}\n"},
      {LLAMA "mask: causal\n", {0}, "mask: causal\n"},
      {LLAMA "mask: bidirectional\n", {0}, "mask: bidirectional\n"},
      {LLAMA "mask: decoder\n", {0}, "mask: causal\n"},
      {LLAMA "mask: encoder\n", {0}, "mask: bidirectional\n"},
      {LLAMA "mask: cross\n", {0}, "mask: cross\n"},
      {LLAMA "mask: {window: 1k}\n", {0}, "mask: {window: 1024}\n"},
      {LLAMA "mask: {sinks: 4, window: 8}\n", {0}, "mask: {window: 8, sinks: 4}\n"},
      {LLAMA "tokens: [{text: 3}, {image: [2, 5]}, {video: [4, 2, 3], seconds_per_frame: 1, ids_per_second: 2.5}, "
             "{video: [1, 2, 3]}]\n",
       {0},
       "tokens:\n  - {text: 3}\n  - {image: [2, 5]}\n  - {video: [4, 2, 3], seconds_per_frame: 1, ids_per_second: "
       "2.5}\n"
       "  - {video: [1, 2, 3], seconds_per_frame: 1, ids_per_second: 1}\n"},
      {LLAMA "tokens: [{video: [2, 3, 4], timestamp_tokens: 6}, {text: 5}, {video: [1, 2, 2], timestamp_tokens: 1}]\n",
       {0},
       "tokens:\n  - {text: 6}\n  - {image: [3, 4]}\n  - {text: 6}\n  - {image: [3, 4]}\n  - {text: 5}\n  - {text: 1}\n"
       "  - {image: [2, 2]}\nprecision"},
      {LLAMA "tokens: [{video: [5000, 1, 1], timestamp_tokens: 1}]\n", {0}, "  - {image: [1, 1]}\nprecision"},
      {LLAMA "precision: f32\n",
       {0},
       "precision: {positions: f32, inv_freq: f32, angle: f32, table: f32, running: false}\n"},
      {LLAMA "precision: {angle: bf16, table: f16}\n",
       {0},
       "precision: {positions: f64, inv_freq: f64, angle: bf16, table: f16, running: false}\n"},
      {LLAMA "engine: {scores: f64}\n", {0}, "engine: {scores: f64, epsilon: 1e-12}\n"},
      {LLAMA "engine: {epsilon: 0, scores: f32}\n", {0}, "engine: {scores: f32, epsilon: 0}\n"},
      {LLAMA "engine: {epsilon: 1e-6}\n", {0}, "engine: {scores: auto, epsilon: 1e-06}\n"},
      {LLAMA "bins_per_octave: 64\n", {0}, "bins_per_octave: 64\n"},
      {LLAMA "sources: needle\ncolumns: [depth, overlap]\n", {0}, "columns: [depth, overlap]\n"},
      {LLAMA "methods: [{name: pi, factor: 2}]\ncolumns: [factor]\n", {0}, "columns: [factor]\n"},
      {LLAMA "methods: [{name: yarn, factor: [2, 4], beta_fast: [16]}]\n", {0}, "columns: [factor]\n"},
      {LLAMA "methods: [{name: mrope, mrope_section: [[16, 24, 24], [24, 20, 20]]}]\n",
       {0},
       "label: \"mrope mrope_section=[24, 20, 20]\", mrope_section: [24, 20, 20]}"},
      {LLAMA "methods: [{name: yarn, scale: [auto, 4]}]\n", {0}, "label: \"yarn scale=auto\", scale: auto}"},
      {LLAMA "metrics: [{name: decay, distances: all}]\n", {0}, "metrics:\n  - {name: decay, distances: all, "},
      {LLAMA "metrics: needle\nsources: [gaussian, needle]\n", {0}, "metrics:\n  - {name: needle}\n"},
  };
  expect_written(cases, RS_COUNT(cases));
}

Test(config, models__every_form) {
  static const right cases[] = {
      {"model: {head_dim: 64, train_length: 2k}\n",
       {0},
       "  - {name: \"custom\", heads: 32, head_dim: 64, rotary_dim: 64, rope_theta: 10000, train_length: 2048, "
       "max_length: "
       "2048, pair_layout: half_split}\n"},
      {"model: {name: mine, heads: 3, head_dim: 8, rotary_dim: 4, rope_theta: 1.5, train_length: 16, max_length: 32, "
       "pair_layout: interleaved, mrope_section: [1, 1, 0], mrope_layout: interleaved, published: {name: pi, factor: "
       "2}}\n",
       {0},
       "  - {name: \"mine\", heads: 3, head_dim: 8, rotary_dim: 4, rope_theta: 1.5, train_length: 16, max_length: 32, "
       "pair_layout: interleaved, mrope_section: [1, 1, 0], mrope_layout: interleaved, published: {name: pi, factor: "
       "2}}\n"},
      {"model: {preset: llama-2-7b, rope_theta: 5e5, name: mine}\n",
       {0},
       "{name: \"mine\", heads: 32, head_dim: 128, rotary_dim: 128, rope_theta: 500000, train_length: 4096,"},
      {"model: [gpt2, {preset: gpt2, name: other}]\nmethods: nope\n",
       {0},
       "{name: \"other\", heads: 12, head_dim: 64,"},
  };
  expect_written(cases, RS_COUNT(cases));
}

/* A video whose text tells the time is what the list of its texts and images would be. */
Test(config, frames_behind_their_times__are_texts_and_images) {
  rs_experiment *video = good(LLAMA "tokens: [{video: [2, 3, 4], timestamp_tokens: 6}]\n");
  rs_experiment *list = good(LLAMA "tokens: [{text: 6}, {image: [3, 4]}, {text: 6}, {image: [3, 4]}]\n");
  cr_assert(video->tokens.count == 4 && list->tokens.count == 4);
  for (size_t i = 0; i < 4; i++) {
    const rs_token_run *a = &video->tokens.runs[i], *b = &list->tokens.runs[i];
    cr_expect(a->modality == b->modality && a->tokens == b->tokens && a->frames == b->frames && a->rows == b->rows &&
                  a->columns == b->columns,
              "run %zu", i);
    cr_expect(a->seconds_per_frame == b->seconds_per_frame && a->ids_per_second == b->ids_per_second, "run %zu", i);
  }
  rs_experiment_free(video);
  rs_experiment_free(list);
}

/* A path of a config is read from the config's own folder. */
Test(config, hf_path__beside_the_config) {
  rs_text name = {0};
  reading got = {0};
  rs_text_printf(&name, "%s/data/config.yaml", getenv("ROPESCOPE_TESTS"));
  rs_status status = rs_config_read("model: {hf: hf/llama-3.1.json, name: mine}\nmethods: llama3\n", name.data,
                                    (rs_config_edits){0}, &got.experiment, &got.problems, &got.err);
  cr_assert_eq(status, RS_OK, "%s", message_of(&got));
  cr_expect_eq(got.experiment->models[0].train_length, 8192);
  cr_expect_eq(got.experiment->models[0].rope_theta, 500000);
  cr_expect_str_eq(got.experiment->models[0].name, "mine");
  cr_expect_str_eq(got.experiment->models[0].published.method->name, "llama3");
  reading_clear(&got);
  rs_text_clear(&name);
}

Test(config, shipped_configs__load) {
  rs_text pattern = {0};
  glob_t found;
  rs_text_printf(&pattern, "%s/../configs/*.yaml", getenv("ROPESCOPE_TESTS"));
  cr_assert_eq(glob(pattern.data, 0, NULL, &found), 0, "%s", pattern.data);
  for (size_t i = 0; i <= found.gl_pathc; i++) { /* the last: the demo inside the program */
    reading got = {0};
    rs_status status = rs_config_load(i < found.gl_pathc ? found.gl_pathv[i] : NULL, (rs_config_edits){0},
                                      &got.experiment, &got.problems, &got.err);
    cr_expect_eq(status, RS_OK, "%s", message_of(&got));
    if (i == found.gl_pathc) cr_expect_str_eq(got.experiment->name, "quickstart");
    reading_clear(&got);
  }
  globfree(&found);
  rs_text_clear(&pattern);
}

/* ---- labels ------------------------------------------------------------------------------------------------------ */

Test(config, labels__tell_entries_apart) {
  static const struct {
    const char *methods, *labels; /* joined by '|' */
  } cases[] = {
      {"[nope, rope]", "nope|rope"},
      {"[{name: rope, label: plain}]", "plain"},
      {"[{name: pi, factor: [2, 4]}]", "pi factor=2|pi factor=4"},
      {"[{name: pi, factor: [2]}]", "pi"},
      {"[{name: pi, label: PI, factor: [2, 4]}]", "PI factor=2|PI factor=4"},
      {"[{name: yarn, factor: [2, 4], beta_fast: [16, 32]}]",
       "yarn factor=2 beta_fast=16|yarn factor=2 beta_fast=32|yarn factor=4 beta_fast=16|yarn factor=4 beta_fast=32"},
      {"[{name: yarn, factor: [2, 4], beta_fast: [16, 32], zip: true}]",
       "yarn factor=2 beta_fast=16|yarn factor=4 beta_fast=32"},
      {"[{name: yarn, zip: true, factor: [2, 4], beta_fast: 16}]", "yarn factor=2|yarn factor=4"},
      {"[{name: yarn, zip: false, factor: [2, 4]}]", "yarn factor=2|yarn factor=4"},
      {"[{name: pi, factor: 2}, {name: pi, factor: 4}]", "pi factor=2|pi factor=4"},
      {"[rope, {name: rope, rope_theta: 5e5}]", "rope|rope rope_theta=500000"},
      {"[{name: yarn, label: pi, factor: 4}, {name: pi, factor: 2}]", "pi|pi factor=2"},
      {"{name: pi, scale: [auto, dynamic, 4]}", "pi scale=auto|pi scale=dynamic|pi scale=4"},
  };
  for (size_t c = 0; c < RS_COUNT(cases); c++) {
    rs_text yaml = {0}, labels = {0};
    rs_text_printf(&yaml, LLAMA "methods: %s\n", cases[c].methods);
    rs_experiment *experiment = good(yaml.data);
    for (size_t i = 0; i < experiment->methods.count; i++)
      rs_text_printf(&labels, "%s%s", i > 0 ? "|" : "", experiment->methods.items[i].label);
    cr_expect_str_eq(labels.data, cases[c].labels, "%s: %s", cases[c].methods, labels.data);
    rs_experiment_free(experiment);
    rs_text_clear(&yaml);
    rs_text_clear(&labels);
  }
}

/* ---- there and back ---------------------------------------------------------------------------------------------- */

/* Configs that use every key and each way to write it. */
static const char *const trips[] = {
    LLAMA,
    "name: full\ndescription: \"quotes \\\" and \\\\, a line\\nbreak, \\t tab, \\u00e9\"\nmodel: [llama-2-7b, {preset: "
    "gpt-oss, name: 'o \"o\"'}]\nlengths: {from: 16, to: 64}\nmethods:\n  - nope\n  - {name: yarn, scale: dynamic, "
    "beta_fast: [16, 32]}\n  - {name: pi, label: 'a \"b\" \\ c', factor: [2, 4]}\nsources: [{name: needle, depth: "
    "[0.1, 0.9]}, gaussian]\nmetrics: [{name: decay, distances: all}, entropy]\nseeds: [3, 1]\nheads: {each: [3, "
    "1]}\nqueries: {every: 3}\nmask: {window: 9, sinks: 2}\ntokens: [{text: 4}, {image: [2, 2]}]\nprecision: {angle: "
    "f32, table: bf16}\nbins_per_octave: 7\ncolumns: [overlap]\n",
    LLAMA "lengths: [16, 32]\nseeds: 2\nzip: [lengths, seeds]\nheads: all\nqueries: all\nmask: bidirectional\n",
    LLAMA "methods: [{name: yarn, zip: true, factor: [2, 4], beta_fast: [16, 32]}]\nqueries: {random: 9}\n",
    LLAMA
    "tokens: [{video: [2, 3, 4], seconds_per_frame: 1, ids_per_second: 0.1}]\nheads: {each: all}\nmask: {window: 5}\n",
    "model: {head_dim: 8, heads: 2, rope_theta: 1.1, rotary_dim: 4, pair_layout: interleaved, train_length: 16, "
    "mrope_section: [1, 1, 0], mrope_layout: interleaved, published: mrope}\nmethods: mrope\n",
    /* what a model publishes fills what a method leaves out: that must be so after the trip too */
    "model: gpt-oss\nmethods: yarn\n",
    "model: deepseek-v3\nmethods: [yarn, {name: yarn, factor: 8}]\n",
    "model: [qwen2-vl, qwen3-vl-8b, llama-2-7b]\nmethods: [mrope, {name: mrope, label: e, mrope_section: equal}]\n",
    "model: phi-3-mini-128k\nmethods: longrope\n",
    "model: llama-3.1-8b\nmethods: [llama3, {name: llama3, scale: auto}]\n",
    "model: {head_dim: 8, train_length: 16, published: {name: dynamic_ntk, factor: 4}}\nmethods: dynamic_ntk\n",
    "model: {head_dim: 8, train_length: 16, published: {name: alibi, bias_max: 4}}\nmethods: alibi\n",
    "model: {head_dim: 8, train_length: 16, published: {name: yarn, scale: 4, logit_scale: log_n}}\nmethods: yarn\n",
    "model: {head_dim: 8, heads: 1, train_length: 16, published: {name: rope, logit_scale: ministral, "
    "logit_scale_factor: 0.2, logit_scale_length: 8}}\nmethods: [rope, {name: rope, label: s, logit_scale: "
    "ssmax}]\nmask: cross\n",
    "model: {head_dim: 8, heads: 1, train_length: 16}\nmethods: [{name: alibi, slope_factor: inv_sqrt_dim, bias_form: "
    "end}, {name: kerple_log, r1: [0.5], r2: [2]}, {name: relative, clip: 1, values: [0.5, -1, 1e-3]}]\n",
    "model: gpt2\nmethods: [learned, sinusoidal, {name: learned, label: t, table_seed: 9}]\n",
};

/* Every setting of every recipe, as it will be run. */
static char *recipes_of(const rs_experiment *experiment) {
  rs_text text = {0};
  for (size_t m = 0; m < experiment->model_count; m++)
    for (size_t i = 0; i < experiment->methods.count; i++) {
      rs_recipe recipe;
      rs_encoding *encoding = NULL;
      cr_assert_eq(rs_experiment_recipe(experiment, m, i, &recipe, NULL), RS_OK);
      rs_text_printf(&text, "%zu %s:", m, recipe.method->name);
      for (size_t p = 0; p < recipe.settings.count; p++) {
        rs_text_printf(&text, " %s=", recipe.settings.params[p]->name);
        rs_value_write(recipe.settings.params[p], &recipe.settings.values[p], &text);
      }
      cr_assert_eq(rs_encoding_create(&recipe, &experiment->models[m], 16, NULL, NULL, &encoding, NULL), RS_OK);
      for (size_t j = 0; j < encoding->rotary_dim / 2; j++) {
        rs_text_printf(&text, " %d:", (int)encoding->axis[j]);
        rs_text_number(&text, encoding->omega[j]);
      }
      rs_text_puts(&text, "\n");
      rs_encoding_free(encoding);
      rs_recipe_clear(&recipe);
    }
  return text.data;
}

static void expect_same(const char *what, const char *yaml, char *before, char *after) {
  cr_expect_str_eq(after, before, "%s of %s\nbefore: %s\nafter:  %s", what, yaml, before, after);
  free(before);
  free(after);
}

Test(round_trip, written_config__the_same_text_cells_and_recipes) {
  for (size_t i = 0; i < RS_COUNT(trips); i++) {
    rs_experiment *before = good(trips[i]);
    char *text = written(before);
    rs_experiment *after = good(text);
    expect_same("cells", trips[i], cells_of(before), cells_of(after));
    expect_same("recipes", trips[i], recipes_of(before), recipes_of(after));
    for (size_t k = 0; k < before->methods.count && k < after->methods.count; k++)
      cr_expect_str_eq(after->methods.items[k].label, before->methods.items[k].label);
    expect_same("text", trips[i], text, written(after));
    rs_experiment_free(before);
    rs_experiment_free(after);
  }
}

/* Names and texts that YAML would take for something else. */
Test(round_trip, odd_texts__survive) {
  static const char *const yaml[] = {LLAMA "name: \"-\"\n",
                                     LLAMA "name: 1e5\n",
                                     LLAMA "name: 'null'\n",
                                     LLAMA "name: -a\n",
                                     LLAMA "name: _\n",
                                     LLAMA "name: 'a.'\n",
                                     LLAMA "description: \"a\\x7fb\"\n",
                                     LLAMA "description: \"a\\x85b \\x80 \\u2028 \\uFEFF \\U0001F600\"\n",
                                     LLAMA "description: \"\\u00a9 \\x01\\t\\e \\u2029 \\u2030 \\uFEFE\"\n",
                                     LLAMA "methods: [{name: rope, label: \"a\\x7f: # b\"}]\n",
                                     "model: {preset: gpt2, name: \"x\\ny\"}\nmethods: nope\n",
                                     "model: {preset: gpt2, name: \"\"}\nmethods: nope\n"};
  for (size_t i = 0; i < RS_COUNT(yaml); i++) {
    rs_experiment *before = good(yaml[i]);
    char *text = written(before);
    reading got = read_edited(text, NULL, 0);
    cr_expect_eq(got.err.status, RS_OK, "%s is written as\n%swhich is refused: %s", yaml[i], text, message_of(&got));
    if (got.experiment != NULL) {
      cr_expect_str_eq(got.experiment->name, before->name);
      cr_expect_str_eq(got.experiment->description, before->description);
      cr_expect_str_eq(got.experiment->models[0].name, before->models[0].name);
      cr_expect_str_eq(got.experiment->methods.items[0].label, before->methods.items[0].label);
    }
    reading_clear(&got);
    free(text);
    rs_experiment_free(before);
  }
}
