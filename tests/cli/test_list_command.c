/* test_list_command.c: `ropescope list`. */
#include "../fixtures/program.h"

TestSuite(list_command, .init = enter_folder, .fini = leave_folder);

Test(list_command, list__every_part_and_every_parameter) {
  static const struct {
    const char *list, *parts[6];
  } cases[] = {{"methods", {"yarn\n", "beta_fast", "default 32", "arXiv:2309.00071", "learned\n", "alibi\n"}},
               {"sources", {"needle\n", "depth", "0 to 1", "default 0.5", "gaussian\n", "grid\n"}},
               {"metrics",
                {"entropy\n", "summary.csv: entropy_nats [nats]", "(lower is better)", "with _se",
                 "decay.csv: distance_tokens [tokens]", "needle\n"}},
               {"tasks",
                {"dictionary\n", "of models          decoder\n", "needle (in no loss)\n", "keys_in_use", "translate\n",
                 "of models          encoder_decoder\n"}},
               {"checkpoint",
                {"shape\n", "feed_forward", "gelu|gelu_tanh|relu|silu|gelu_bloom|relu2; default gelu", "train\n",
                 "default 1000\n", "whole number; 0 to 1000000000; default 80\n"}},
               {"architectures", {"model_type  ", "\nllama  ", " Llama 1 to ", "\ngpt_neox ", "\nqwen3 ", "\nmpt "}},
               {"models", {"llama-2-7b ", "mpt-7b ", " alibi\n", " longrope\n", "qwen2-vl ", " 131072 "}}};
  char *all = output_of(&(command){.arguments = {"list"}});
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char *out = output_of(&(command){.arguments = {"list", cases[i].list}});
    for (size_t p = 0; p < RS_COUNT(cases[i].parts); p++)
      cr_expect_not_null(strstr(out, cases[i].parts[p]), "list %s lacks %s", cases[i].list, cases[i].parts[p]);
    cr_expect_not_null(strstr(all, out), "list lacks list %s", cases[i].list);
    free(out);
  }
  free(all);
}

/* What the pages of docs/ are made from; tests/docs sees that they are. */
Test(list_command, list_markdown__is_a_whole_list) {
  static const struct {
    const char *list, *parts[3];
  } cases[] = {
      {"methods", {"| `yarn` | NTK-by-parts", "`beta_fast`, `beta_slow`", "`scale: hf_dynamic`"}},
      {"kinds",
       {"\n### frequencies yarn\n", "| `beta_fast` | number, 1e-06 to 1000000000 | rotations | `32` | ",
        "`hf`, `paper`"}},
      {"sources", {"\n### needle\n", "| `depth` | number, 0 to 1 |  | `0.5` | ", "### gaussian\n"}},
      {"tasks",
       {"\n### dictionary\n", "`first_value`, `repeat`, `needle` (in no loss).\n",
        "| `symbols` | whole number, 2 to 65536 |  | `26` | "}},
      {"checkpoint",
       {"\n### tune\n", "| `rate` | number, 0 to 10 |  | `0.001` | ", "| `rate` | number, 0 to 10 |  | `0.003` | "}},
      {"metrics", {"\n### entropy\n", "| summary.csv | `entropy_nats`, `_se` | nats | ", " | lower |"}},
      {"models",
       {"| `gpt-oss` | 64 | 64 | 64 | 150000 | 4096 | 131072 | ", "`{name: yarn, factor: 32, truncate: false}`",
        "(48 numbers)"}},
      {"architectures", {"| model_type | models |\n", "| `mistral` | Mistral 7B", "| `gemma2` | "}},
      {"dialects",
       {"| `bloom` | `alibi` | ", "| `hf` | every rotary method | ", "`truncate: true` always; no `attention_factor`"}},
      {"findings",
       {"| `RS201` | `no-original-length` | warning | YaRN without", "| `RS204` | `factor-1` | note | ",
        "| github.com/vllm-project/vllm/issues/53634 |\n"}},
      {"engines",
       {"| `--engine` | versions | ", "| `vllm` | vLLM before #56446 | ",
        "| `sglang` | SGLang | its dialect | sglang "}},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char *out = output_of(&(command){.arguments = {"list", cases[i].list, "--markdown"}});
    for (size_t p = 0; p < RS_COUNT(cases[i].parts); p++)
      cr_expect_not_null(strstr(out, cases[i].parts[p]), "list %s lacks %s", cases[i].list, cases[i].parts[p]);
    free(out);
  }
}

/* One entry by its name, with the list or without: the same, and nothing of its neighbours. */
Test(list_command, list_name__shows_that_entry) {
  static const struct {
    const char *arguments[3], *parts[4], *others[3];
  } cases[] = {
      {{"methods", "yarn"},
       {"yarn\n    NTK-by-parts", "beta_fast", "as every rotary method\n    rope_theta", "as every method\n"},
       {"alibi\n", "window"}},
      {{"yarn"}, {"yarn\n    NTK-by-parts", "as every rotary method"}, {"frequencies yarn", "===="}},
      {{"metrics", "needle"}, {"needle\n", "summary.csv: needle_win_rate"}, {"Gaussian haystack", "entropy\n"}},
      {{"findings", "RS203"},
       {"RS203 factor-below-1 (", "error)\n    a factor below 1 makes", "[transformers, modeling_rope_utils.py: "},
       {"RS202", "RS204"}},
      {{"needle"}, {"==== sources ====\n\nneedle\n", "==== metrics ====\n\nneedle\n"}, {"gaussian\n", "entropy\n"}},
      {{"self_extend"}, {"self_extend\n", "as every rotary"}, {"rerope\n"}},
      {{"linear"}, {"positions linear\n", "\n\nfrequencies linear\n"}, {"beta_fast"}},
      {{"gpt-oss"}, {"model  ", "\ngpt-oss "}, {"llama"}},
      {{"copy"}, {"copy\n", "copied"}, {"reversed", "dictionary\n", "===="}},
      {{"checkpoint", "tune"}, {"tune\n", "default 80\n"}, {"train\n", "shape\n"}},
      {{"alibi"}, {"alibi\n", "as every method"}, {"as every rotary method"}},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char *out = output_of(&(command){.arguments = {"list", cases[i].arguments[0], cases[i].arguments[1]}});
    for (size_t p = 0; p < RS_COUNT(cases[i].parts) && cases[i].parts[p] != NULL; p++)
      cr_expect_not_null(strstr(out, cases[i].parts[p]), "%zu: no %s in\n%s", i, cases[i].parts[p], out);
    for (size_t p = 0; p < RS_COUNT(cases[i].others) && cases[i].others[p] != NULL; p++)
      cr_expect_null(strstr(out, cases[i].others[p]), "%zu: %s in\n%s", i, cases[i].others[p], out);
    free(out);
  }
}

static rs_tree *tree_of(const char *text) {
  rs_tree *tree;
  rs_err err = {0};
  cr_assert_eq(rs_json_read(text, strlen(text), "stdout", &tree, &err), RS_OK, "%s: %.200s", err.message, text);
  return tree;
}

static const rs_node *named(const rs_node *list, const char *name) {
  for (size_t i = 0; list != NULL && i < list->count; i++)
    if (strcmp(rs_node_get(&list->items[i], "name")->text, name) == 0) return &list->items[i];
  return NULL;
}

static void expect_text(const rs_node *node, const char *key, const char *want) {
  const rs_node *child = rs_node_get(node, key);
  cr_assert_not_null(child, "no %s", key);
  cr_expect_str_eq(child->text, want, "%s: %s", key, child->text);
}

Test(list_command, list_json__names_what_the_text_names) {
  char *out = output_of(&(command){.arguments = {"list", "--json"}});
  rs_tree *tree = tree_of(out);
  const rs_node *methods = rs_node_get(&tree->root, "methods"), *yarn = named(methods, "yarn");
  cr_assert_not_null(yarn);
  const rs_node *params = rs_node_get(yarn, "parameters"), *ramp = named(params, "ramp");
  expect_text(named(params, "beta_fast"), "default", "32");
  expect_text(named(params, "beta_fast"), "unit", "rotations");
  expect_text(named(params, "rope_theta"), "type", "real");
  expect_text(named(params, "rope_theta"), "default", "null");
  const rs_node *words = rs_node_get(ramp, "words");
  cr_assert(words != NULL && words->count == 2);
  cr_expect(strcmp(words->items[0].text, "hf") == 0 && strcmp(words->items[1].text, "paper") == 0);
  cr_expect_not_null(named(rs_node_get(yarn, "dialects"), "deepseek"));
  cr_expect_null(named(rs_node_get(yarn, "dialects"), "falcon"));
  expect_text(named(rs_node_get(named(methods, "abf"), "parameters"), "rope_theta"), "default", "500000");
  expect_text(named(rs_node_get(&tree->root, "kinds"), "alibi"), "stage", "bias");
  expect_text(named(rs_node_get(&tree->root, "models"), "llama-2-7b"), "train_length", "4096");
  expect_text(named(rs_node_get(&tree->root, "models"), "llama-2-7b"), "publishes", "rope");
  const rs_node *entropy = named(rs_node_get(&tree->root, "metrics"), "entropy");
  expect_text(named(rs_node_get(entropy, "summary_columns"), "entropy_nats"), "better", "lower");
  expect_text(named(rs_node_get(entropy, "summary_columns"), "entropy_nats"), "standard_error", "true");
  cr_expect_not_null(named(rs_node_get(&tree->root, "sources"), "needle"));
  rs_tree_free(tree);
  free(out);
}

Test(list_command, list_json__tasks_and_checkpoints) {
  char *out = output_of(&(command){.arguments = {"list", "--json"}});
  rs_tree *tree = tree_of(out);
  const rs_node *dictionary = named(rs_node_get(&tree->root, "tasks"), "dictionary");
  const rs_node *parts = rs_node_get(dictionary, "parts"), *checkpoint = rs_node_get(&tree->root, "checkpoint");
  expect_text(dictionary, "form", "decoder");
  expect_text(named(parts, "needle"), "probe", "true");
  expect_text(named(parts, "repeat"), "probe", "false");
  expect_text(named(rs_node_get(dictionary, "parameters"), "keys_in_use"), "default", "10");
  expect_text(named(rs_node_get(named(checkpoint, "shape"), "parameters"), "width"), "default", "64");
  expect_text(named(rs_node_get(named(checkpoint, "train"), "parameters"), "steps"), "default", "1000");
  expect_text(named(rs_node_get(named(checkpoint, "tune"), "parameters"), "steps"), "default", "80");
  expect_text(named(rs_node_get(named(checkpoint, "tune"), "parameters"), "beta1"), "default", "0.9");
  rs_tree_free(tree);
  free(out);
}

/* One list, one entry: the same object, with less in it. */
Test(list_command, list_json__of_one_entry) {
  char *out = output_of(&(command){.arguments = {"list", "needle", "--json"}});
  rs_tree *tree = tree_of(out);
  cr_expect_eq(tree->root.count, 2);
  cr_expect_eq(rs_node_get(&tree->root, "sources")->count, 1);
  cr_expect_eq(rs_node_get(&tree->root, "metrics")->count, 1);
  rs_tree_free(tree);
  free(out);
  out = output_of(&(command){.arguments = {"list", "--json", "models", "gpt-oss"}});
  tree = tree_of(out);
  cr_expect(tree->root.count == 1 && rs_node_get(&tree->root, "models")->count == 1, "%s", out);
  rs_tree_free(tree);
  free(out);
}
