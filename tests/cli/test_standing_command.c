/* test_standing_command.c: `ropescope run --hf FILE...`: a sweep of models without a config. */
#include <sys/stat.h>

#include "../fixtures/program.h"

#define HEADS "\"hidden_size\": 32, \"num_attention_heads\": 2, \"num_hidden_layers\": 2"

static void make_models(void) {
  enter_folder();
  mkdir("a", 0700);
  mkdir("b", 0700);
  write_file("a/config.json", "{\"model_type\": \"llama\", " HEADS ", \"max_position_embeddings\": 64}");
  write_file("b/config.json", "{\"model_type\": \"llama\", " HEADS
                              ", \"max_position_embeddings\": 256, \"rope_scaling\": {\"rope_type\": "
                              "\"yarn\", \"factor\": 4.0, \"original_max_position_embeddings\": 64}}");
  write_file("mistral.json",
             "{\"model_type\": \"mistral\", " HEADS ", \"max_position_embeddings\": 64, \"sliding_window\": 16}");
  write_file("gemma.json", "{\"model_type\": \"gemma3_text\", " HEADS
                           ", \"head_dim\": 16, \"max_position_embeddings\": 64, \"sliding_window\": 16, "
                           "\"layer_types\": [\"sliding_attention\", \"full_attention\"]}");
}

TestSuite(standing_command, .init = make_models, .fini = leave_folder);

/* The rows of a method, and its lengths as they stand there. */
static void expect_lengths(const rs_table *table, const char *model, const char *method, const char *lengths) {
  rs_text found = {0};
  for (size_t i = 0; i < table->rows; i++)
    if (strcmp(field(table, i, "method"), method) == 0 && strcmp(field(table, i, "model"), model) == 0) {
      rs_text_printf(&found, "%s ", field(table, i, "length_tokens"));
      cr_expect_str_eq(field(table, i, "status"), "ok");
    }
  cr_expect_str_eq(rs_text_string(&found), lengths, "%s, %s: %s", model, method, rs_text_string(&found));
  rs_text_clear(&found);
}

/* From the trained length, and from there to 4 times what is served. What plain RoPE is stands there once. */
Test(standing_command, run_hf__reaches_four_times_the_length) {
  run_well(&(command){.arguments = {"run", "--hf", "a", "--quiet"}});
  rs_table *table = read_table("results/a/summary.csv");
  expect_lengths(table, "llama", "published", "64 128 256 ");
  expect_lengths(table, "llama", "rope", "");
  expect_lengths(table, "llama", "dynamic yarn", "64 128 256 ");
  cr_expect(!isnan(number(table, 0, "needle_weight")) && !isnan(number(table, 0, "ood_pairs")));
  rs_table_free(table);
  run_well(&(command){.arguments = {"run", "--hf", "b/config.json", "--quiet"}});
  table = read_table("results/b/summary.csv");
  expect_lengths(table, "llama", "published", "64 128 256 512 1024 ");
  expect_lengths(table, "llama", "rope", "64 128 256 512 1024 ");
  rs_table_free(table);
}

/* What it has run stands in its folder, and runs again without the models' files. */
Test(standing_command, run_hf__its_config_runs_by_itself) {
  run_well(&(command){.arguments = {"run", "--hf", "a", "b", "gemma.json", "--quiet", "--out", "o"}});
  remove_folder("a");
  remove_folder("b");
  char *config = read_path("o/config.yaml", &(size_t){0});
  cr_expect_not_null(strstr(config, "description: \"what models do out to 4 times the length that is served\"\n"), "%s",
                     config);
  free(config);
  run_well(&(command){.arguments = {"run", "o/config.yaml", "--quiet", "--out", "again"}});
  expect_same_csv("o", "again", "from its config.yaml");
}

/* Folders, files of one name in two of them, and links: each has a name of its own. */
Test(standing_command, run_hf__names_models_by_family_and_place) {
  mkdir("x", 0700);
  mkdir("x/a", 0700);
  write_file("x/a/config.json", "{\"model_type\": \"llama\", " HEADS ", \"max_position_embeddings\": 64}");
  char *config, *place = strrchr(folder, '/') + 1;
  run_well(&(command){.arguments = {"run", "--hf", "a", "--hf", "b", "mistral.json", "x/a", "--quiet", "--set",
                                    "metrics=[ood_angles]", "--lengths", "64"}});
  config = read_path("results/a-and-3-more/config.yaml", &(size_t){0});
  char first[128];
  snprintf(first, sizeof first, "{name: \"llama %s/a\", ", place);
  cr_expect(strstr(config, first) != NULL, "%s", config);
  cr_expect(strstr(config, "{name: \"llama b\", ") != NULL, "%s", config);
  cr_expect(strstr(config, "{name: \"llama x/a\", ") != NULL, "%s", config);
  cr_expect(strstr(config, "{name: \"mistral\", ") != NULL, "%s", config);
  free(config);
}

/* One that sees a window alone is observed so; layers are chosen by name. */
Test(standing_command, run_hf__sees_what_its_layers_see) {
  static const struct {
    const char *arguments[MOST_ARGUMENTS], *words;
  } cases[] = {
      {{"run", "--hf", "mistral.json", "--quiet", "--out", "o"}, "mask: {window: 16}\n"},
      {{"run", "--hf", "mistral.json", "--quiet", "--out", "o", "--force"},
       "description: \"what a model does out to 4 times the length that is served\"\n"},
      {{"run", "--hf", "gemma.json", "--layers", "0", "--quiet", "--out", "o", "--force"}, "mask: {window: 16}\n"},
      {{"run", "--hf", "gemma.json", "--quiet", "--out", "o", "--force"}, "mask: causal\n"},
      {{"run", "--hf", "mistral.json", "a", "--quiet", "--out", "o", "--force"}, "mask: causal\n"}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    command c = {0};
    memcpy(c.arguments, cases[i].arguments, sizeof c.arguments);
    run_well(&c);
    char *config = read_path("o/config.yaml", &(size_t){0});
    cr_expect(strstr(config, cases[i].words) != NULL, "%zu: %s", i, config);
    free(config);
  }
}

/* A config of the models that stand here: what it holds, and what it does not. */
Test(standing_command, run_hf__asks_what_all_models_can_answer) {
  static const char windows[] =
      "{\"model_type\": \"mistral\", " HEADS ", \"max_position_embeddings\": 64, \"sliding_window\": 32}";
  write_file("wide.json", windows);
  write_file("uncounted.json", "{\"model_type\": \"llama\", \"hidden_size\": 32, \"num_attention_heads\": 2, "
                               "\"max_position_embeddings\": 64}");
  write_file("bloom.json", "{\"model_type\": \"bloom\", \"n_embed\": 32, \"n_head\": 2, \"n_layer\": 1, "
                           "\"seq_length\": 64}");
  write_file("bert.json", "{\"model_type\": \"nomic_bert\", " HEADS ", \"max_position_embeddings\": 64}");
  write_file("far.json", "{\"model_type\": \"llama\", " HEADS ", \"max_position_embeddings\": 524288}");
  write_file(".hidden.json", "{\"model_type\": \"llama\", " HEADS ", \"max_position_embeddings\": 64}");
  static const struct {
    const char *files[2], *holds[4], *lacks;
  } cases[] = {
      {{"mistral.json", "wide.json"},
       {"mask: causal\n", "- {name: needle, depth: 0.5", "{name: entropy}\n"},
       "gaussian"},
      {{"mistral.json"}, {"mask: {window: 16}\n", "{name: gaussian", "{name: entropy}\n"}, "{name: needle"},
      {{"bert.json"}, {"mask: bidirectional\n", "- {name: needle, depth: 0.5", "- {name: needle}\n"}, "gaussian"},
      {{"uncounted.json"}, {"mask: causal\n", "- {name: needle, depth: 0.5", "label: \"dynamic ntk\""}, "gaussian"},
      {{"bloom.json", "a"}, {"- {name: published}\n", "{name: \"bloom\"", "{name: \"llama\""}, "dynamic"},
      {{"far.json"}, {"{name: zero_shot_damage}\n", "- {name: needle, depth: 0.5"}, "{name: entropy}"},
      {{".hidden.json"}, {"name: \"_hidden\"\n"}, "name: \".hidden\""},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    command c = {.arguments = {"run", "--quiet", "--out", "o", "--force", "--lengths", "64", "--hf"}};
    memcpy(c.arguments + 8, cases[i].files, sizeof cases[i].files);
    run_well(&c);
    char *config = read_path("o/config.yaml", &(size_t){0});
    for (size_t k = 0; k < 4 && cases[i].holds[k] != NULL; k++)
      cr_expect_not_null(strstr(config, cases[i].holds[k]), "%zu: no %s: %s", i, cases[i].holds[k], config);
    cr_expect_null(strstr(config, cases[i].lacks), "%zu: %s", i, config);
    free(config);
  }
}

Test(standing_command, run_hf__methods_lengths_and_settings_change_it) {
  run_well(
      &(command){.arguments = {"run", "--hf", "b", "--methods", "published, {name: pi, factor: 8}", "--lengths", "128",
                               "--set", "methods[1].label=ours", "--set", "metrics=[decay]", "--quiet", "--out", "o"}});
  rs_table *table = read_table("o/summary.csv");
  cr_expect_eq(table->rows, 2);
  expect_lengths(table, "llama", "published", "128 ");
  expect_lengths(table, "llama", "ours", "128 ");
  cr_expect_lt(rs_table_column(table, "entropy_nats"), 0);
  rs_table_free(table);
}

Test(standing_command, plan_hf__says_what_it_takes) {
  char *out = output_of(&(command){.arguments = {"plan", "--hf", "a", "b"}});
  cr_expect_not_null(strstr(out, "name            a-and-1-more\n"), "%s", out);
  cr_expect_not_null(strstr(out, "cells           40 (2 models, 4 methods, 5 lengths, 1 source, 1 seed)\n"), "%s", out);
  free(out);
  char *names = names_in(".", "results");
  cr_expect_str_eq(names, "", "%s", names);
  free(names);
}

/* An ALiBi has no other method beside it: none of them is of that model. */
Test(standing_command, run_hf__alibi_runs_alone) {
  write_file("bloom.json", "{\"model_type\": \"bloom\", \"n_embed\": 32, \"n_head\": 2, \"n_layer\": 1, "
                           "\"seq_length\": 64}");
  run_well(&(command){.arguments = {"run", "--hf", "bloom.json", "--quiet", "--out", "o"}});
  rs_table *table = read_table("o/summary.csv");
  expect_lengths(table, "bloom", "published", "64 128 256 ");
  cr_expect_eq(table->rows, 3);
  rs_table_free(table);
}

Test(standing_command, run_hf__refuses_with_a_reason) {
  write_file("gpt2.json", "{\"model_type\": \"gpt2\", \"n_embd\": 32, \"n_head\": 2, \"n_positions\": 64}");
  write_file("t5.json", "{\"model_type\": \"t5\", \"d_model\": 32, \"num_heads\": 2, \"n_positions\": 64}");
  write_file("jamba.json", "{\"model_type\": \"jamba\", " HEADS ", \"max_position_embeddings\": 64}");
  write_file("short.json", "{\"model_type\": \"none\", " HEADS "}");
  static const struct {
    const char *arguments[MOST_ARGUMENTS], *err;
  } cases[] = {
      {{"run", "--hf", "gpt2.json"},
       "ropescope: gpt2.json: gpt2 adds a table of positions to its tokens and turns nothing: there is no rotation to "
       "follow to other lengths (with its weights, checkpoint: {folder: ...} in a config reads it)\n"},
      {{"run", "--hf", "t5.json"},
       "ropescope: t5.json: the biases of t5 are learned, and config.json does not hold them (with its weights, "
       "checkpoint: {folder: ...} in a config reads it)\n"},
      {{"plan", "--hf", "a", "jamba.json"},
       "ropescope: jamba.json: the attention of jamba has no positions: no table of it depends on the length (show "
       "layers says what its layers do)\n"},
      {{"run", "--hf", "short.json"},
       "ropescope: short.json: none says no length, as max_position_embeddings does (--set "
       "'model[0].train_length=4096' --lengths 4k,16k says it)\n"},
      {{"run", "--hf", "a", "a"}, "ropescope: --hf: a stands there twice\n"},
      {{"run", "--hf", "-"}, "ropescope: --hf -: a sweep reads files, for its results name them\n"},
      {{"run", "a.yaml", "b.yaml"}, "ropescope: one config is read at a time (files of models stand behind --hf)\n"},
      {{"run", "a.yaml", "--layers", "0"},
       "ropescope: --layers goes with --hf alone: a config says model: {hf: config.json, layers: 0}\n"},
      {{"run", "--hf", "a", "--methods", "[rope"},
       "ropescope: --methods [rope: value:2:1: did not find expected ',' or ']', while parsing a flow sequence that "
       "begins at line 1 (a bracket is not closed, or a comma is missing)\n"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    command c = {0};
    memcpy(c.arguments, cases[i].arguments, sizeof c.arguments);
    expect_failure(&c, 2, cases[i].err);
  }
  run_well(&(command){.arguments = {"run", "--hf", "short.json", "--set", "model[0].train_length=64", "--lengths",
                                    "64,256", "--quiet"}});
}
