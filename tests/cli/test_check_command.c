/* ropescope check: its forms, its exit status, and what it says of files that are none. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "../fixtures/program.h"
#include "io/io.h"

#define RIGHT                                                                                                          \
  "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_attention_heads\": 2, \"rope_theta\": 10000, "               \
  "\"max_position_embeddings\": 4096}"
#define WRONG                                                                                                          \
  "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_attention_heads\": 2, \"rope_theta\": 10000, "               \
  "\"max_position_embeddings\": 4096,\n \"rope_scaling\": {\"factor\": 4.0}}"

#define SCALED                                                                                                         \
  "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_attention_heads\": 8, \"num_hidden_layers\": 2,\n"           \
  "\"rope_theta\": 10000.0, \"max_position_embeddings\": 16384,\n"                                                     \
  "\"rope_scaling\": {\"rope_type\": \"yarn\", \"factor\": 4.0, \"original_max_position_embeddings\": 4096}}"

#define YARN_WITH(more)                                                                                                \
  "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_attention_heads\": 8, \"num_hidden_layers\": 2,\n"           \
  "\"rope_theta\": 10000.0, \"max_position_embeddings\": 16384,\n"                                                     \
  "\"rope_scaling\": {\"rope_type\": \"yarn\", \"factor\": 4.0, \"original_max_position_embeddings\": 4096" more "}}"

TestSuite(check_command, .init = enter_folder, .fini = leave_folder);

static void expect_run(const char *const *arguments, int status, const char *out, const char *err) {
  command c = {0};
  for (size_t i = 0; arguments[i] != NULL; i++) c.arguments[i] = arguments[i];
  result got = run(&c);
  cr_expect_eq(got.status, status, "%d: %s%s", got.status, got.out, got.err);
  cr_expect_not_null(strstr(got.out, out), "got:  %s\nwant: %s", got.out, out);
  cr_expect_not_null(strstr(got.err, err), "got:  %s\nwant: %s", got.err, err);
  if (*err == '\0') cr_expect_str_eq(got.err, "");
  result_clear(&got);
}

Test(check_command, text__as_compilers_say_it) {
  write_file("right.json", RIGHT);
  write_file("wrong.json", WRONG);
  expect_run((const char *const[]){"check", "--findings", "right.json", NULL}, 0, "right.json: nothing found\n", "");
  expect_run((const char *const[]){"check", "--findings", "right.json", "wrong.json", NULL}, 1,
             "right.json: nothing found\n"
             "wrong.json:2:18: error: rope_scaling has factor = 4 and no rope_type: transformers 5 takes it for plain "
             "RoPE, so nothing is scaled; transformers 4 and vLLM stop [RS102]\n"
             "    fix: add \"rope_type\": \"yarn\" (or linear, dynamic, llama3, longrope, whichever was trained)\n"
             "    see: github.com/huggingface/transformers/issues/36877\n"
             "wrong.json: 1 error\n",
             "");
}

/* The numbers are those of tests/unit/test_portrait.c. */
Test(check_command, text__says_what_the_file_says) {
  write_file("scaled.json", SCALED);
  expect_run(
      (const char *const[]){"check", "scaled.json", NULL}, 0,
      "scaled.json: {name: yarn, factor: 4}\n"
      "  NTK-by-parts and a temperature on the logits\n"
      "  class      llama, by model_type\n"
      "  lengths    trained 4096 (original_max_position_embeddings), maximum 16384 (max_position_embeddings), served "
      "16384 (4 times the trained length)\n"
      "  attention  cos and sin times 1.13863, so logits times 1.29648 (by the formula)\n"
      "  pairs      4: 2 kept | 1 blended | 1 divided by 4 at 16384 tokens, waves up to 4 times as long as plain "
      "RoPE's\n"
      "  layers     0-1: full_attention, everything before, {name: yarn, factor: 4}, base 10000, 8 of 8 dims turn\n"
      "  far keys   0 at 16384 tokens (served), 1 at 32768 tokens, 1 at 131072 tokens: pairs that turn past what plain "
      "RoPE turns them to at 4096\n"
      "  near keys  1 to 8 tokens back: at 4096 tokens turned otherwise than by plain RoPE, 1 - cos = 2.42e-05 on "
      "average\n"
      "  engines    transformers 5 (and 4.56 on): cos and sin times 1.13863\n"
      "             transformers 4.51 to 4.55: cos and sin times 1.13863\n"
      "           ! transformers 4 up to 4.50: cos and sin times 1.13863, 2 of 4 frequencies are others, by up to 2 "
      "times\n"
      "             vLLM from #56446 (September 2026): cos and sin times 1.13863, serves 16384 tokens\n"
      "             vLLM before #56446: cos and sin times 1.13863, serves 16384 tokens\n"
      "             SGLang: cos and sin times 1.13863, serves 16384 tokens\n"
      "             llama.cpp: cos and sin times 1.13863, serves 16384 tokens\n"
      "           ! gpt-oss's code: cos and sin times 1.13863, 1 of 4 frequencies are others, by up to 4.91 %\n"
      "             DeepSeek's code: cos and sin as they are, softmax scale times 1.29648\n\n"
      "scaled.json:3:90: note: ",
      "");
  write_file("window.json", "{\"model_type\": \"mistral\", \"hidden_size\": 64, \"num_attention_heads\": 8, "
                            "\"rope_theta\": 10000.0, \"max_position_embeddings\": 1024, \"sliding_window\": 64}");
  expect_run((const char *const[]){"check", "window.json", NULL}, 0,
             "far keys   0 at 1024 tokens (served), 0 at 32768 tokens, 0 at 131072 tokens: pairs that turn past what "
             "plain RoPE turns them to at 1024; keys seen: window 64\n",
             "");
  write_file("wrong.json", "{\"model_type\": \"llama\"}"); /* of which there is no portrait */
  expect_run((const char *const[]){"check", "wrong.json", NULL}, 2, "wrong.json:1:1: error: ", "");
  expect_run((const char *const[]){"check", "--ignore", "RS901", "wrong.json", NULL}, 0, "wrong.json: ", "");
}

/* Lengths that no key says, or that are 32768 and 131072 themselves; layers that see chunks, averages or nothing; what
 * an engine refuses. */
Test(check_command, text__of_unusual_files) {
#define MODEL(type, length)                                                                                            \
  "{\"model_type\": \"" type "\", \"hidden_size\": 64, \"num_attention_heads\": 8, \"num_hidden_layers\": 2, "         \
  "\"rope_theta\": 10000.0" length
#define MAXIMUM(length) ", \"max_position_embeddings\": " length
  static const struct {
    const char *json, *says[4], *silent;
  } cases[] = {
      {MODEL("llama", "}"),
       {"\n  lengths    trained 2048 (the model's class), served 2048 (the model's class)\n",
        "\n             vLLM: cos and sin as they are\n"},
       "maximum"},
      {MODEL("llama", MAXIMUM("32768") "}"), {"\n  far keys   0 at 32768 tokens (served), 0 at 131072 tokens: "}, NULL},
      {MODEL("llama", MAXIMUM("131072") "}"),
       {"\n  far keys   0 at 32768 tokens, 0 at 131072 tokens (served): "},
       NULL},
      {MODEL("llama", MAXIMUM("65536") "}"),
       {"\n  far keys   0 at 32768 tokens, 0 at 65536 tokens (served), 0 at 131072 tokens: "},
       NULL},
      {MODEL("llama", MAXIMUM("1") "}"), {"\n  far keys   0 at 1 tokens (served), 4 at 32768 tokens"}, "near keys"},
      {MODEL("llama4_text", MAXIMUM("1024") ", \"attention_chunk_size\": 64, \"no_rope_layers\": [1, 0]}"),
       {"; keys seen: chunks of 64\n", "\n             1: full_attention, everything before, {name: nope, "},
       NULL},
      {MODEL("deepseek_v4", MAXIMUM("4096") ", \"head_dim\": 16, \"qk_rope_head_dim\": 8, \"sliding_window\": 16, "
                                            "\"compress_ratios\": [4, 4], \"rope_scaling\": {\"rope_type\": \"yarn\", "
                                            "\"factor\": 4.0, \"original_max_position_embeddings\": 1024}}"),
       {"\n  attention  cos and sin as they are (the model's own code; the formula gives 1.13863)\n",
        "window 16, beyond it 4 keys as one"},
       "keys seen"},
      {MODEL("qwen3_next", MAXIMUM("64") ", \"head_dim\": 16, \"full_attention_interval\": 2}"),
       {"\n  layers     0: linear_attention, no attention\n"},
       NULL},
      {MODEL("llama", MAXIMUM("4096") ", \"rope_parameters\": {\"rope_type\": \"proportional\", \"rope_theta\": "
                                      "10000.0, \"partial_rotary_factor\": 0.5}}"),
       {"\n  pairs      4: 2 kept | 2 still\n"},
       "near keys"},
      {MODEL("ministral3",
             MAXIMUM("4096") ", \"rope_parameters\": {\"rope_type\": \"default\", \"rope_theta\": 10000, "
                             "\"llama_4_scaling_beta\": 0.1, \"original_max_position_embeddings\": 512}}"),
       {", original 512, maximum 4096",
        "\n  attention  cos and sin as they are; logits scaled by position (ministral)\n"},
       NULL},
      {MODEL("ministral3", MAXIMUM("4096") ", \"rope_parameters\": {\"rope_type\": \"default\", \"rope_theta\": 10000, "
                                           "\"llama_4_scaling_beta\": 0, \"original_max_position_embeddings\": 512}}"),
       {"\n  attention  cos and sin as they are\n"},
       "by position"},
      {MODEL("llama", MAXIMUM("1") ", \"rope_scaling\": {\"rope_type\": \"yarn\", \"factor\": 4.0, "
                                   "\"original_max_position_embeddings\": 10000000}}"),
       {"\n           ! transformers 4.51 to 4.55: factor: must be from 1e-06 to 1000000000\n",
        "\n           ! gpt-oss's code: the ramp from pair 4.69667 to 6.20182 leaves the pairs 0 to 3\n"},
       "near keys"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    write_file("c.json", cases[i].json);
    result got = run(&(command){.arguments = {"check", "c.json"}});
    for (size_t k = 0; k < RS_COUNT(cases[i].says) && cases[i].says[k] != NULL; k++)
      cr_expect_not_null(strstr(got.out, cases[i].says[k]), "no %s in\n%s%s", cases[i].says[k], got.out, got.err);
    if (cases[i].silent != NULL)
      cr_expect_null(strstr(got.out, cases[i].silent), "%s in\n%s", cases[i].silent, got.out);
    result_clear(&got);
  }
  result got = run(&(command){.arguments = {"check", "c.json", "--json"}}); /* the last one */
  cr_expect_not_null(strstr(got.out, "\"refusal\": \"factor: must be from 1e-06 to 1000000000\""), "%s", got.out);
  const char *refused = strstr(got.out, "\"refusal\": \"factor");
  cr_expect_eq(
      strncmp(strchr(refused, '\n') + 1 + strspn(strchr(refused, '\n') + 1, " "), "\"attention_factor\": null,", 25), 0,
      "%s", refused);
  cr_expect_not_null(strstr(refused, "\"frequencies_that_differ\": null,"));
  result_clear(&got);
}

Test(check_command, json__holds_the_recipe) {
  write_file("scaled.json", SCALED);
  command c = {.arguments = {"check", "--json", "scaled.json"}};
  result got = run(&c);
  rs_tree *tree;
  cr_assert_eq(rs_json_read(got.out, strlen(got.out), "json", &tree, NULL), RS_OK);
  const rs_node *recipe = rs_node_get(&tree->root.items[0], "recipe");
  cr_expect_str_eq(rs_node_get(recipe, "recipe")->text, "{name: yarn, factor: 4}");
  cr_expect_str_eq(rs_node_get(recipe, "served_tokens")->text, "16384");
  cr_expect_str_eq(rs_node_get(recipe, "attention_factor_given")->text, "null");
  cr_expect_str_eq(rs_node_get(rs_node_get(recipe, "pairs"), "kept")->text, "2");
  cr_expect_str_eq(rs_node_get(&rs_node_get(recipe, "out_of_range")->items[1], "pairs")->text, "1");
  cr_expect_str_eq(rs_node_get(&rs_node_get(recipe, "engines")->items[2], "frequencies_that_differ")->text, "2");
  cr_expect_eq(rs_node_get(recipe, "layers")->count, 1);
  rs_tree_free(tree);
  result_clear(&got);
}

Test(check_command, folder_and_standard_input__are_read) {
  cr_assert_eq(rs_make_directories("model", NULL), RS_OK);
  write_file("model/config.json", WRONG);
  expect_run((const char *const[]){"check", "model", NULL}, 1, "\nmodel/config.json:2:18: error: ", "");
  cr_assert_not_null(freopen("model/config.json", "r", stdin)); /* which the program has from here */
  command c = {.arguments = {"check", "-"}};
  result got = run(&c);
  cr_expect_eq(got.status, 1, "%s", got.err);
  cr_expect_not_null(strstr(got.out, "standard input:2:18: error: "), "%s", got.out);
  result_clear(&got);
}

Test(check_command, github__escapes_and_names_the_line) {
  write_file("a,b:c.json", WRONG);
  expect_run((const char *const[]){"check", "--format", "github", "a,b:c.json", NULL}, 1,
             "::error file=a%2Cb%3Ac.json,line=2,col=18,title=RS102 scaling-without-type::rope_scaling has factor = 4 ",
             "");
}

Test(check_command, github__names_what_cannot_be_read) {
  expect_run((const char *const[]){"check", "--format", "github", "a,b.json", NULL}, 2,
             "::error file=a%2Cb.json::", "ropescope: a,b.json: cannot read: No such file or directory\n");
}

Test(check_command, json_and_sarif__are_json_with_places) {
  write_file("wrong.json", WRONG);
  static const char *const forms[] = {"json", "sarif"};
  for (size_t i = 0; i < RS_COUNT(forms); i++) {
    command c = {.arguments = {"check", "--format", forms[i], "wrong.json", "missing.json"}};
    result got = run(&c);
    rs_tree *tree;
    rs_err err = {0};
    cr_expect_eq(got.status, 2);
    cr_assert_eq(rs_json_read(got.out, strlen(got.out), forms[i], &tree, &err), RS_OK, "%s", err.message);
    const rs_node *root = &tree->root;
    if (i == 0) {
      cr_assert_eq(root->count, 2);
      const rs_node *finding = &rs_node_get(&root->items[0], "findings")->items[0];
      cr_expect_str_eq(rs_node_get(finding, "code")->text, "RS102");
      cr_expect_str_eq(rs_node_get(finding, "line")->text, "2");
      cr_expect_not_null(strstr(rs_node_get(&root->items[1], "unreadable")->text, "No such file"));
    } else {
      const rs_node *sarif = &rs_node_get(root, "runs")->items[0], *found = &rs_node_get(sarif, "results")->items[0];
      const rs_node *place = rs_node_get(&rs_node_get(found, "locations")->items[0], "physicalLocation");
      cr_expect_str_eq(rs_node_get(root, "version")->text, "2.1.0");
      cr_expect_str_eq(rs_node_get(found, "ruleId")->text, "RS102");
      cr_expect_str_eq(rs_node_get(found, "level")->text, "error");
      cr_expect_str_eq(rs_node_get(rs_node_get(place, "artifactLocation"), "uri")->text, "wrong.json");
      cr_expect_str_eq(rs_node_get(rs_node_get(place, "region"), "startColumn")->text, "18");
      cr_expect_str_eq(rs_node_get(&rs_node_get(sarif, "invocations")->items[0], "executionSuccessful")->text, "false");
    }
    rs_tree_free(tree);
    result_clear(&got);
  }
}

/* RFC 3986: spaces and marks of a path are no part of a URI as they are, and a colon before a slash makes a scheme. */
Test(check_command, sarif__paths_are_uris) {
  static const char *const names[][2] = {{"a b#?.json", "\"uri\": \"a%20b%23%3F.json\""},
                                         {"c:100%.json", "\"uri\": \"c%3A100%25.json\""},
                                         {"./d:\xc3\xa9.json", "\"uri\": \"./d:%C3%A9.json\""}};
  for (size_t i = 0; i < RS_COUNT(names); i++) {
    write_file(names[i][0], WRONG);
    command c = {.arguments = {"check", "--format", "sarif", names[i][0]}};
    result got = run(&c);
    cr_expect_not_null(strstr(got.out, names[i][1]), "%s lacks %s", got.out, names[i][1]);
    result_clear(&got);
  }
}

/* What the schema requires, and what GitHub reads: its ids are those of rules, levels are words of SARIF, lines and
 * columns count from 1. */
Test(check_command, sarif__has_what_its_schema_requires) {
  write_file("wrong.json", WRONG);
  write_file("scaled.json", SCALED);
  command c = {.arguments = {"check", "--format", "sarif", "wrong.json", "scaled.json"}};
  result got = run(&c);
  rs_tree *tree;
  cr_assert_eq(rs_json_read(got.out, strlen(got.out), "sarif", &tree, NULL), RS_OK);
  const rs_node *sarif = &rs_node_get(&tree->root, "runs")->items[0];
  const rs_node *driver = rs_node_get(rs_node_get(sarif, "tool"), "driver"), *rules = rs_node_get(driver, "rules");
  const rs_node *results = rs_node_get(sarif, "results");
  cr_expect_not_null(strstr(rs_node_get(&tree->root, "$schema")->text, "sarif-2.1.0"));
  cr_expect_str_eq(rs_node_get(&tree->root, "version")->text, "2.1.0");
  cr_expect_str_eq(rs_node_get(driver, "name")->text, "ropescope");
  cr_assert_gt(results->count, 1);
  for (size_t i = 0; i < rules->count; i++) {
    cr_expect_eq(strlen(rs_node_get(&rules->items[i], "id")->text), 5);
    cr_expect_not_null(rs_node_get(rs_node_get(&rules->items[i], "shortDescription"), "text"));
    cr_expect_not_null(rs_node_get(rs_node_get(&rules->items[i], "help"), "text"));
    for (size_t k = 0; k < i; k++)
      cr_expect_str_neq(rs_node_get(&rules->items[i], "id")->text, rs_node_get(&rules->items[k], "id")->text);
  }
  for (size_t i = 0; i < results->count; i++) {
    const rs_node *found = &results->items[i], *level = rs_node_get(found, "level");
    const rs_node *place = rs_node_get(&rs_node_get(found, "locations")->items[0], "physicalLocation");
    const rs_node *region = rs_node_get(place, "region");
    bool known = false;
    for (size_t k = 0; k < rules->count; k++)
      known |= strcmp(rs_node_get(&rules->items[k], "id")->text, rs_node_get(found, "ruleId")->text) == 0;
    cr_expect(known, "%s is no rule", rs_node_get(found, "ruleId")->text);
    cr_expect(strcmp(level->text, "error") == 0 || strcmp(level->text, "warning") == 0 ||
              strcmp(level->text, "note") == 0);
    cr_expect(*rs_node_get(rs_node_get(found, "message"), "text")->text != '\0');
    cr_expect_not_null(strstr(rs_node_get(rs_node_get(place, "artifactLocation"), "uri")->text, ".json"));
    if (region == NULL) continue; /* of the file as a whole */
    cr_expect_geq(atoi(rs_node_get(region, "startLine")->text), 1);
    cr_expect_geq(atoi(rs_node_get(region, "startColumn")->text), 1);
  }
  rs_tree_free(tree);
  result_clear(&got);
}

Test(check_command, engine__is_who_reads_it) {
  write_file("factor.json", YARN_WITH(", \"attention_factor\": 1.5"));
  expect_run(
      (const char *const[]){"check", "--findings", "--ignore", "RS301", "factor.json", NULL}, 0,
      "note: rope_scaling: vLLM before #56446, SGLang, llama.cpp: cos and sin are multiplied by 1.13863, not 1.5 "
      "[RS601]",
      "");
  expect_run(
      (const char *const[]){"check", "--engine", "sglang", "--ignore", "RS301", "factor.json", NULL}, 1,
      "  engines    transformers 5 (and 4.56 on): cos and sin times 1.5\n"
      "           ! SGLang: cos and sin times 1.13863, serves 16384 tokens\n\n"
      "factor.json:3:17: warning: rope_scaling: SGLang: cos and sin are multiplied by 1.13863, not 1.5 [RS601]\n",
      "");
  expect_run((const char *const[]){"check", "--engine", "transformers@5,vllm@2026-10-01", "--ignore", "RS301",
                                   "factor.json", NULL},
             0, "factor.json: nothing found, 1 ignored\n", "");
  expect_run((const char *const[]){"check", "--engine", "slang", "factor.json", NULL}, 2, "",
             "no engine slang (did you mean sglang?)");
}

Test(check_command, ignored__findings_are_counted_and_unknown_codes_are_errors) {
  write_file("wrong.json", WRONG);
  expect_run((const char *const[]){"check", "--findings", "--ignore", "RS102", "wrong.json", NULL}, 0,
             "wrong.json: nothing found, 1 ignored\n", "");
  expect_run((const char *const[]){"check", "--findings", "--ignore=RS201,scaling-without-type", "wrong.json", NULL}, 0,
             "wrong.json: nothing found, 1 ignored\n", "");
  expect_run((const char *const[]){"check", "--json", "--ignore", "RS102", "wrong.json", NULL}, 0, "\"ignored\": 1",
             "");
  expect_run((const char *const[]){"check", "--ignore", "RS999", "wrong.json", NULL}, 2, "",
             "no finding RS999 (ropescope list findings shows them)");
  expect_run((const char *const[]){"check", "--ignore", "misspelt-layer-type", "wrong.json", NULL}, 2, "",
             "no finding misspelt-layer-type (did you mean unknown-layer-type?)");
}

Test(check_command, wrong_use__is_said) {
  write_file("list.json", "[1]");
  expect_run((const char *const[]){"check", NULL}, 2, "",
             "ropescope: check needs a file, as in ropescope check config.json");
  expect_run((const char *const[]){"check", "none.json", NULL}, 2, "",
             "ropescope: none.json: cannot read: No such file");
  expect_run((const char *const[]){"check", "list.json", NULL}, 2, "",
             "list.json: holds no JSON object, so it is no config");
  expect_run((const char *const[]){"check", "--json", "--format", "text", "list.json", NULL}, 2, "",
             "--json and --format both say the form: keep one");
  expect_run((const char *const[]){"check", "--format", "xml", "list.json", NULL}, 2, "", "no --format xml");
}
