/* ropescope convert: where it reads, how it writes, and what it says to wrong use. */
#include "../fixtures/program.h"
#include "../say.h"

#define LLAMA                                                                                                          \
  "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_attention_heads\": 4, \"max_position_embeddings\": 4096, "   \
  "\"rope_theta\": 500000, \"rope_scaling\": {\"rope_type\": \"yarn\", \"factor\": 4, "                                \
  "\"original_max_position_embeddings\": 1024, \"attention_factor\": 1.5}}"

TestSuite(convert_command, .init = enter_folder, .fini = leave_folder);

static void expect_run(const char *const *arguments, int status, const char *out, const char *err) {
  command c = {0};
  for (size_t i = 0; arguments[i] != NULL; i++) c.arguments[i] = arguments[i];
  result got = run(&c);
  cr_expect_eq(got.status, status, "%d: %s%s", got.status, got.out, got.err);
  cr_expect_str_eq(got.out, out);
  cr_expect_not_null(strstr(got.err, err), "got:  %s\nwant: %s", got.err, err);
  if (*err == '\0') cr_expect_str_eq(got.err, "");
  result_clear(&got);
}

#define SAY(...) ((const char *const[]){__VA_ARGS__, NULL})

/* A shell gives the consumer one argument for each: JSON stands in quotes. */
Test(convert_command, arguments__as_a_shell_reads_them) {
  static const char wanted[] =
      "--hf-overrides '{\"rope_parameters\": {\"rope_type\": \"yarn\", \"rope_theta\": 500000, \"factor\": 4, "
      "\"attn_factor\": 1.317373284430413, \"original_max_position_embeddings\": 1024}}' --max-model-len 4096\n";
  write_file("config.json", LLAMA);
  expect_run(SAY("convert", "config.json", "--to", "vllm"), 0, wanted,
             "note: vLLM multiplies 0.1 ln s + 1 by attn_factor: 1.317373284 makes it 1.5, as transformers has it.\n");
  expect_run(SAY("convert", "--quiet", "config.json", "--to", "vllm"), 0, wanted, "");
  cr_assert_eq(rs_make_directories("a model", NULL), RS_OK);
  write_file("a model/config.json", LLAMA);
  expect_run(SAY("convert", "a model", "--to", "vllm", "--quiet"), 0, wanted, "");
  cr_assert_not_null(freopen("config.json", "r", stdin));
  expect_run(SAY("convert", "-", "--to", "vllm", "--quiet"), 0, wanted, "");
}

Test(convert_command, presets_and_lengths) {
  expect_run(SAY("convert", "llama-2-7b", "--to", "llamacpp", "--length", "2k"), 0,
             "--rope-scaling none --rope-freq-base 10000 -c 2048\n", "");
  expect_run(SAY("convert", "gemma-3", "--to", "megatron", "--quiet"), 0,
             "--position-embedding-type rope --rotary-base 1000000 --rotary-seq-len-interpolation-factor 8 "
             "--max-position-embeddings 131072\n",
             "");
  expect_run(SAY("convert", "gemma-3", "--to", "llamacpp", "--layers", "sliding_attention", "--quiet"), 0,
             "--rope-scaling none --rope-freq-base 10000 -c 131072\n", "");
}

Test(convert_command, json__holds_the_notes) {
  write_file("config.json", LLAMA);
  static const char *const consumers[] = {"hf5", "llamacpp"};
  for (size_t i = 0; i < RS_COUNT(consumers); i++) {
    char *out =
        output_of(&(command){.arguments = {"convert", "config.json", "--to", consumers[i], "--json", "--quiet"}});
    rs_tree *tree;
    rs_err err = {0};
    cr_assert_eq(rs_json_read(out, strlen(out), "out", &tree, &err), RS_OK, "%s", err.message);
    const rs_node *root = &tree->root, *words = rs_node_get(root, "arguments"), *keys = rs_node_get(root, "fragment");
    cr_expect_str_eq(rs_node_get(root, "to")->text, consumers[i]);
    cr_expect_str_eq(rs_node_get(root, "reference")->text,
                     i == 0 ? "transformers decba1d2ea4e" : "llama.cpp 00dc8057ab28, tools/server/README.md");
    if (i == 0) {
      cr_expect(words == NULL && rs_node_get(root, "notes")->count == 0, "%s", out);
      cr_expect_str_eq(rs_node_get(rs_node_get(keys, "rope_parameters"), "attention_factor")->text, "1.5");
    } else {
      cr_expect(keys == NULL && rs_node_get(root, "notes")->count == 1, "%s", out);
      cr_expect_str_eq(words->items[1].text, "yarn");
    }
    rs_tree_free(tree);
    free(out);
  }
}

/* Keys of every kind: flags, numbers, lists, and none. */
Test(convert_command, json__keeps_kinds_of_keys) {
  static const char *const cases[][2] = {
      {"bloom-7b1", "\"fragment\": {\n    \"max_position_embeddings\": 2048,\n    \"alibi\": true\n  },"},
      {"llama-2-7b", "\"rope_theta\": 10000,\n    \"rope_scaling\": null\n  },\n  \"notes\": []"},
      {"phi-3-mini-128k", "\"rope_type\": \"longrope\",\n      \"short_factor\": [1.1, 1.1, 1.1, 1.3000000000000003,"},
      {"gpt-oss", "\"truncate\": false,"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char *out = output_of(&(command){.arguments = {"convert", cases[i][0], "--to", "hf4", "--json"}});
    cr_expect_not_null(strstr(out, cases[i][1]), "%s: %s", cases[i][0], out);
    free(out);
  }
}

/* DeepSeek's frequencies say nothing of the softmax. */
Test(convert_command, tables__what_they_do_not_hold_is_said) {
  result got = run(&(command){.arguments = {"convert", "deepseek-v3", "--inv-freq", "csv"}});
  cr_expect_eq(got.status, 0, "%s", got.err);
  cr_expect_not_null(strstr(got.err, "the logits are multiplied by "), "%s", got.err);
  result_clear(&got);
  got = run(&(command){.arguments = {"convert", "llama-2-7b", "--inv-freq", "csv"}});
  cr_expect_null(strstr(got.err, "the logits are multiplied by "), "%s", got.err);
  result_clear(&got);
}

/* The table is the model's own, by compare. */
Test(convert_command, tables__compare_finds_no_difference) {
  static const char *const forms[] = {"npy", "csv", "json"};
  write_file("config.json", LLAMA);
  for (size_t i = 0; i < RS_COUNT(forms); i++) {
    char file[32];
    snprintf(file, sizeof file, "inv_freq.%s", forms[i]);
    run_well(
        &(command){.arguments = {"convert", "config.json", "--inv-freq", forms[i], "--out", file, "--length", "4k"}});
    run_well(&(command){.arguments = {"compare", "config.json", file, "--rtol", "1e-15"}});
  }
  expect_run(SAY("convert", "config.json", "--inv-freq", "npy", "--out", "again.npy"), 0, "",
             "note: cos and sin are multiplied by 1.5, which the file does not hold.");
  char *out = output_of(&(command){.arguments = {"convert", "config.json", "--inv-freq", "csv"}});
  cr_expect_eq(strncmp(out, "pair,inv_freq,attention_factor\n0,1,1.5\n", 39), 0, "%s", out);
  free(out);
}

/* DeepSeek-V4's layers with compressed keys have their base under a key of its own, also where one key stands for one.
 */
Test(convert_command, base_of_compressed_layers__has_its_key) {
  write_file("config.json", "{\"model_type\": \"deepseek_v4\", \"hidden_size\": 64, \"num_attention_heads\": 8, "
                            "\"head_dim\": 16, \"qk_rope_head_dim\": 8, \"num_hidden_layers\": 2, "
                            "\"max_position_embeddings\": 4096, \"compress_ratios\": [4, 4], "
                            "\"compress_rates\": {\"compressed_sparse_attention\": 1}}");
  expect_run(SAY("convert", "config.json", "--to", "hf4"), 0,
             "{\n  \"max_position_embeddings\": 4096,\n"
             "  \"compress_rope_theta\": 160000,\n  \"rope_scaling\": null\n}\n",
             "");
}

Test(convert_command, wrong_use__is_said) {
  write_file("config.json", LLAMA);
  expect_run(SAY("convert"), 2, "", "convert needs a model, as in ropescope convert config.json --to vllm");
  expect_run(
      SAY("convert", "config.json"), 2, "",
      "convert needs --to CONSUMER, or --inv-freq FORM; consumers are\n  hf4            config.json of transformers 4");
  expect_run(SAY("convert", "config.json", "--to", "vlm"), 2, "", "no consumer vlm (did you mean vllm?)");
  expect_run(SAY("convert", "config.json", "--to", "vllm", "--inv-freq", "csv"), 2, "", "are two answers: keep one");
  expect_run(SAY("convert", "config.json", "--json", "--inv-freq", "csv"), 2, "", "--json goes with --to");
  expect_run(SAY("convert", "config.json", "--inv-freq", "npy"), 2, "", "--inv-freq npy needs --out FILE");
  expect_run(SAY("convert", "config.json", "--inv-freq", "txt"), 2, "", "no --inv-freq txt");
  expect_run(SAY("convert", "none.json", "--to", "hf5"), 2, "", "none.json: cannot read: No such file");
  expect_run(SAY("convert", "lama-2-7b", "--to", "hf5"), 2, "", "did you mean llama-2-7b?");
  expect_run(SAY("convert", "gpt2", "--inv-freq", "csv"), 2, "", "learned turns no pairs: there are no frequencies");
  expect_run(SAY("convert", "config.json", "--to", "hf5", "--layers", "none"), 2, "", "no layers none with attention");
}
