/* Models of several kinds of layers in configs: which of them is read, published methods, masks, names. */
#include <criterion/criterion.h>

#include "../../src/config/config_internal.h"
#include "../fixtures/reading.h"
#include "../fixtures/scratch.h"

#define GEOMETRY "\"num_attention_heads\": 2, \"head_dim\": 16, \"max_position_embeddings\": 64, "

static void write_file(const char *path, const char *text) {
  cr_assert_eq(rs_file_write(path, text, strlen(text), NULL), RS_OK);
}

static void enter(void) {
  enter_scratch();
  write_file("gemma.json", "{" GEOMETRY "\"model_type\": \"gemma3_text\", \"num_hidden_layers\": 6, "
                           "\"sliding_window\": 8, \"rope_scaling\": {\"type\": \"linear\", \"factor\": 8}}");
  write_file("other.json", "{" GEOMETRY "\"model_type\": \"gemma3_text\", \"num_hidden_layers\": 6}");
  write_file("llama4.json", "{" GEOMETRY "\"model_type\": \"llama4_text\", \"num_hidden_layers\": 4, "
                            "\"attention_chunk_size\": 8}");
  write_file("wide.json", "{" GEOMETRY "\"model_type\": \"gemma3_text\", \"num_hidden_layers\": 6, "
                          "\"sliding_window\": 16}");
  write_file("bert.json", "{" GEOMETRY "\"model_type\": \"bert\", \"num_hidden_layers\": 1}");
  write_file("modern.json", "{" GEOMETRY "\"model_type\": \"modernbert\", \"num_hidden_layers\": 2}");
  write_file("config.json", "{" GEOMETRY "\"model_type\": \"deepseek_v4\", \"num_hidden_layers\": 2}");
}

static void leave(void) {
  leaves((const char *[]){"gemma.json", "other.json", "llama4.json", "wide.json", "bert.json", "modern.json",
                          "config.json"},
         7);
}

TestSuite(config_layers, .init = enter, .fini = leave);

Test(config_layers, model__of_chosen_layers) {
  expect_written(
      (const right[]){
          {"model: {hf: gemma.json}\n",
           {0},
           "{name: \"gemma3_text\", heads: 2, head_dim: 16, rotary_dim: 16, rope_theta: "
           "1000000, train_length: 64, max_length: 64, pair_layout: half_split, "
           "published: {name: pi, factor: 8}}"},
          {"model: {hf: gemma.json, layers: sliding_attention}\n",
           {0},
           "{name: \"gemma3_text sliding_attention\", heads: 2, head_dim: 16, rotary_dim: 16, rope_theta: 10000,"},
          {"model: {hf: gemma.json, layers: 5}\n", {0}, "{name: \"gemma3_text full_attention\", "},
          {"model: {hf: gemma.json, layers: 0, name: mine}\n", {0}, "{name: \"mine\", "},
          {"model: [{hf: gemma.json}, {hf: other.json}]\n", {0}, "  - {name: \"gemma3_text other\", "},
          {"model: [{hf: gemma.json}, {hf: .}]\n", {0}, "  - {name: \"deepseek_v4\", "},
      },
      6);
  expect_messages(
      (const wrong[]){
          {"model: {hf: gemma.json, layers: local}\n",
           "t.yaml:1:33: model.layers = local: no layers local with attention (there are: sliding_attention, "
           "full_attention; or the number of a layer)"},
          {"model: {head_dim: 8, train_length: 8, layers: 0}\n",
           "t.yaml:1:47: model.layers = 0: are of a preset or a file: {hf: config.json, layers: ...}"},
          {"model: [{hf: gemma.json}, {hf: gemma.json}, {hf: gemma.json}]\n",
           "t.yaml:1:45: model[2] = {...}: is the second model called gemma3_text gemma (give it a name: ...)"},
      },
      3);
}

/* Models of one name are told apart by the ends of their paths. */
Test(config_layers, stems__are_the_last_parts_of_a_path) {
  static const struct {
    const char *path;
    size_t parts;
    const char *stem;
    size_t written;
  } cases[] = {{"x/a/b/config.json", 1, "b", 1},
               {"x/a/b/config.json", 2, "a/b", 2},
               {"x/a/b/config.json", 9, "x/a/b", 3},
               {"/x/b/config.json", 9, "/x/b", 2},
               {"x/b.json", 1, "b", 1},
               {"x/b", 1, "b", 1},
               {"x/b/", 1, "b", 1},
               {"x//b/config.json", 2, "x//b", 2},
               {"x//a//b/config.json", 2, "a//b", 2},
               {".json", 1, ".json", 1},
               {"/config.json", 1, "config", 1},
               {"//config.json", 1, "/", 0},
               {"", 1, "", 0}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char stem[32];
    size_t written = rs_file_stem(cases[i].path, cases[i].parts, stem, sizeof stem);
    cr_expect_eq(written, cases[i].written, "%s, %zu: %zu", cases[i].path, cases[i].parts, written);
    cr_expect_str_eq(stem, cases[i].stem, "%s, %zu: %s", cases[i].path, cases[i].parts, stem);
  }
}

Test(config_layers, published__is_what_each_model_publishes) {
  rs_experiment *experiment =
      good("model: [{hf: gemma.json}, {hf: gemma.json, layers: 0}, gpt2]\nmethods: [published]\n");
  static const char *const names[] = {"pi", "rope", "learned"};
  for (size_t m = 0; m < RS_COUNT(names); m++) {
    rs_recipe recipe;
    rs_err err = {0};
    cr_assert_eq(rs_experiment_recipe(experiment, m, 0, &recipe, &err), RS_OK, "%s", err.message);
    cr_expect_str_eq(recipe.method->name, names[m]);
    cr_expect_str_eq(rs_experiment_method(experiment, m, 0)->name, names[m]);
    if (m == 0) cr_expect_eq(rs_setting(&recipe.settings, "factor")->number, 8);
    rs_recipe_clear(&recipe);
  }
  cr_expect_str_eq(experiment->methods.items[0].label, "published");
  rs_experiment_free(experiment);
  expect_written((const right[]){{"model: {hf: gemma.json}\nmethods: [published, {name: published, label: own}]\n",
                                  {0},
                                  "methods:\n  - {name: published}\n  - {name: published, label: \"own\"}\n"}},
                 1);
  expect_messages((const wrong[]){{"model: {head_dim: 8, train_length: 8}\nmethods: [published]\n",
                                   "t.yaml:2:11: methods[0] = published: custom publishes no recipe (write a method)"},
                                  {"model: gpt2\nmethods: [{name: published, factor: 2}]\n",
                                   "t.yaml:2:29: methods[0].factor: published has no key factor (it has name, label, "
                                   "zip)"},
                                  {"checkpoint: {}\ntask: copy\nmethods: [published]\n",
                                   "t.yaml:3:11: methods[0] = published: is what a model publishes; a checkpoint's own "
                                   "method is trained"}},
                  3);
}

Test(config_layers, mask__of_the_model) {
  expect_written(
      (const right[]){
          {"model: {hf: gemma.json, layers: 0}\nmask: model\n", {0}, "mask: {window: 8}\n"},
          {"model: {hf: gemma.json}\nmask: model\n", {0}, "mask: causal\n"},
          {"model: {hf: llama4.json}\nmask: model\n", {0}, "mask: {chunk: 8}\n"},
          {"model: gemma-3\nmask: model\n", {0}, "mask: causal\n"},
          {"model: {preset: gemma-3, layers: sliding_attention}\nmask: model\n", {0}, "mask: {window: 1024}\n"},
          {"model: {hf: bert.json}\nmethods: published\nmask: model\n", {0}, "mask: bidirectional\n"},
          {"model: gpt2\nmethods: nope\nmask: {chunk: 4}\n", {0}, "mask: {chunk: 4}\n"},
          {"model: gpt2\nmethods: nope\nmask: {band: 4}\n", {0}, "mask: {band: 4}\n"},
          {"model: {hf: modern.json, layers: 1}\nmask: model\n", {0}, "mask: {band: 65}\n"},
          {"model: [{hf: gemma.json}, {hf: other.json}]\nmask: model\n", {0}, "mask: causal\n"},
      },
      10);
  expect_messages(
      (const wrong[]){
          {"model: [{hf: gemma.json, layers: 0}, {hf: gemma.json}]\nmask: model\n",
           "t.yaml:2:7: mask = model: gemma3_text sees other keys than gemma3_text sliding_attention: write a config "
           "for each"},
          {"model: [{hf: gemma.json, layers: 0}, {hf: wide.json, layers: 0, name: wide}]\nmask: model\n",
           "t.yaml:2:7: mask = model: wide sees other keys than gemma3_text sliding_attention: write a config for "
           "each"},
          {"model: gpt2\nmethods: nope\nmask: model\n",
           "t.yaml:3:7: mask = model: model gpt2 says no mask: its layers are not known"},
          {"model: {hf: .}\nmask: model\n", "t.yaml:2:7: mask = model: no mask here is what layers of deepseek_v4 see"},
          {"model: gpt2\nmethods: nope\nmask: {chunk: 4, sinks: 2}\n",
           "t.yaml:3:15: mask.chunk = 4: stands beside a window (keep one of them)"},
          {"model: gpt2\nmethods: nope\nmask: {window: 4, band: 2}\n",
           "t.yaml:3:25: mask.band = 2: stands beside a window (keep one of them)"},
      },
      6);
}
