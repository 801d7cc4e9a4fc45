/* Models of several kinds of layers, as users meet them: show layers, --layers, compare layer by layer, sweeps. */
#include "../fixtures/program.h"

#include <sys/stat.h>

static void enter(void) {
  enter_folder();
  cr_assert_eq(symlink(getenv("ROPESCOPE_TESTS"), "tests"), 0);
}

TestSuite(layers_command, .init = enter, .fini = leave_folder);

#define GEMMA "tests/data/hf/gemma-3-legacy.json"
#define LOCAL "0-4, 6-10, 12-16, 18-22, 24-28, 30-33"
#define GLOBAL "5, 11, 17, 23, 29"

/* A Gemma 3 of six layers with these keys. */
static void write_gemma(const char *path, const char *keys) {
  rs_text text = {0};
  rs_text_printf(&text,
                 "{\"model_type\": \"gemma3_text\", \"num_hidden_layers\": 6, \"head_dim\": 8, "
                 "\"num_attention_heads\": 2, \"max_position_embeddings\": 4096%s}",
                 keys);
  write_file(path, text.data);
  rs_text_clear(&text);
}

static void expect_said(const command *c, int status, const char *out, const char *err) {
  result got = run(c);
  cr_expect_eq(got.status, status, "%s: %s", c->arguments[0], got.err);
  if (out != NULL) cr_expect_str_eq(got.out, out, "%s", got.out);
  if (err != NULL) cr_expect_not_null(strstr(got.err, err), "%s", got.err);
  result_clear(&got);
}

/* ---- show -------------------------------------------------------------------------------------------------------- */

Test(layers_command, show_layers__a_line_for_each_kind) {
  expect_said(&(command){.arguments = {"show", "layers", "--hf", GEMMA}}, 0,
              "gemma3_text, 34 layers\n" LOCAL
              ": sliding_attention, window 1024, {name: rope}, base 10000, 256 of 256 dims turn\n" GLOBAL
              ": full_attention, everything before, {name: pi, factor: 8}, base 1000000, 256 of 256 dims turn\n",
              NULL);
  expect_said(
      &(command){.arguments = {"show", "layers", "--model", "qwen2-vl"}}, 0,
      "qwen2-vl\nall: full_attention, everything before, {name: mrope, mrope_section: [16, 24, 24]}, base 1000000, "
      "128 of 128 dims turn\n",
      NULL);
}

/* Of Gemma 4's heads the fastest pairs turn, and the ladder is made for all. */
Test(layers_command, dims_that_stand_still__are_not_counted) {
  write_file("p.json",
             "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_attention_heads\": 8, "
             "\"num_hidden_layers\": 2, \"max_position_embeddings\": 64, \"rope_parameters\": {\"rope_type\": "
             "\"proportional\", \"rope_theta\": 10000.0, \"partial_rotary_factor\": 0.5}}");
  expect_said(&(command){.arguments = {"show", "layers", "--hf", "p.json"}}, 0,
              "llama, 2 layers\n0-1: full_attention, everything before, {name: proportional, rotary_fraction: 0.5}, "
              "base 10000, 4 of 8 dims turn\n",
              NULL);
}

/* The base of local layers has the key that the model's class reads. */
Test(layers_command, base_of_windows__has_the_key_of_its_class) {
  write_file("m.json", "{\"model_type\": \"mimo_v2_flash\", \"hidden_size\": 64, \"num_attention_heads\": 8, "
                       "\"head_dim\": 24, \"num_hidden_layers\": 6, \"max_position_embeddings\": 64, \"rope_theta\": "
                       "5000000.0, \"swa_rope_theta\": 500.0, \"hybrid_layer_pattern\": [0, 1, 1, 1, 1, 0]}");
  char *out = output_of(&(command){.arguments = {"convert", "m.json", "--to", "hf4"}});
  cr_expect_not_null(strstr(out, "\"swa_rope_theta\": 500,"), "%s", out);
  cr_expect_null(strstr(out, "rope_local_base_freq"), "%s", out);
  free(out);
}

/* Presets say the same as files of the same models. */
Test(layers_command, presets__layers_as_in_their_files) {
  static const char *const pairs[][2] = {{"gemma-3", GEMMA}, {"gpt-oss", "tests/data/hf/gpt-oss.json"}};
  for (size_t i = 0; i < RS_COUNT(pairs); i++) {
    char *file = output_of(&(command){.arguments = {"show", "layers", "--hf", pairs[i][1]}});
    char *preset = output_of(&(command){.arguments = {"show", "layers", "--model", pairs[i][0]}});
    cr_expect_str_eq(strchr(file, ','), strchr(preset, ','), "%s\n%s", file, preset);
    expect_said(&(command){.arguments = {"compare", pairs[i][0], pairs[i][1], "--length", "8k"}}, 0, NULL, NULL);
    free(file);
    free(preset);
  }
  char *mistral = output_of(&(command){.arguments = {"show", "layers", "--model", "mistral-7b"}});
  cr_expect_not_null(strstr(mistral, "mistral-7b, 32 layers\n0-31: sliding_attention, window 4096, {name: rope}, "),
                     "%s", mistral);
  free(mistral);
  expect_said(&(command){.arguments = {"show", "frequencies", "--model", "gemma-3", "--length", "8"}}, 0, NULL,
              "this is full_attention (layers " GLOBAL "), not sliding_attention (" LOCAL "); --layers chooses\n");
}

Test(layers_command, show_layers__csv_and_json) {
  write_gemma("g.json", ", \"sliding_window\": 4, \"sliding_window_pattern\": 3");
  expect_said(&(command){.arguments = {"show", "layers", "--hf", "g.json", "--csv"}}, 0,
              "layer,kind,mask,window_tokens,compression,head_dim,rotary_dim,rope_theta,recipe\n"
              "0,sliding_attention,window,4,,8,8,10000,{name: rope}\n"
              "1,sliding_attention,window,4,,8,8,10000,{name: rope}\n"
              "2,full_attention,causal,,,8,8,1000000,{name: rope}\n"
              "3,sliding_attention,window,4,,8,8,10000,{name: rope}\n"
              "4,sliding_attention,window,4,,8,8,10000,{name: rope}\n"
              "5,full_attention,causal,,,8,8,1000000,{name: rope}\n",
              NULL);
  char *json = output_of(&(command){.arguments = {"show", "layers", "--hf", "g.json", "--json"}});
  static const char *const parts[] = {"\"model\": \"gemma3_text\"",
                                      "\"counted\": true",
                                      "\"kind\": \"sliding_attention\",\n      \"layers\": [0, 1, 3, 4],\n      "
                                      "\"chosen\": false,\n      \"mask\": \"window\",\n      \"window_tokens\": 4",
                                      "\"layers\": [2, 5],\n      \"chosen\": true",
                                      "\"window_tokens\": null",
                                      "\"rope_theta\": 1000000"};
  for (size_t i = 0; i < RS_COUNT(parts); i++) cr_expect_not_null(strstr(json, parts[i]), "%s: %s", parts[i], json);
  free(json);
}

/* Layers that keep a state in place of attention, and layers that attend without turning anything. */
Test(layers_command, show_layers__without_attention_or_rotation) {
  write_file("n.json",
             "{\"model_type\": \"qwen3_next\", \"hidden_size\": 64, \"num_attention_heads\": 4, \"head_dim\": 16, "
             "\"num_hidden_layers\": 4, \"full_attention_interval\": 2, \"max_position_embeddings\": 64}");
  write_file("s.json",
             "{\"model_type\": \"smollm3\", \"hidden_size\": 64, \"num_attention_heads\": 4, \"rope_theta\": 500, "
             "\"num_hidden_layers\": 2, \"no_rope_layers\": [1, 0], \"max_position_embeddings\": 64}");
  expect_said(&(command){.arguments = {"show", "layers", "--hf", "n.json"}}, 0,
              "qwen3_next, 4 layers\n0, 2: linear_attention, no attention\n1, 3: full_attention, everything before, "
              "{name: rope}, base 10000, 4 of 16 dims turn\n",
              NULL);
  expect_said(&(command){.arguments = {"show", "layers", "--hf", "n.json", "--csv"}}, 0,
              "layer,kind,mask,window_tokens,compression,head_dim,rotary_dim,rope_theta,recipe\n"
              "0,linear_attention,no attention,,,,,,\n1,full_attention,causal,,,16,4,10000,{name: rope}\n"
              "2,linear_attention,no attention,,,,,,\n3,full_attention,causal,,,16,4,10000,{name: rope}\n",
              NULL);
  expect_said(&(command){.arguments = {"show", "layers", "--hf", "s.json", "--csv"}}, 0,
              "layer,kind,mask,window_tokens,compression,head_dim,rotary_dim,rope_theta,recipe\n"
              "0,full_attention,causal,,,16,16,500,{name: rope}\n1,full_attention_nope,causal,,,16,,,{name: nope}\n",
              NULL);
  char *json = output_of(&(command){.arguments = {"show", "layers", "--hf", "n.json", "--json"}});
  cr_expect_not_null(strstr(json,
                            "\"kind\": \"linear_attention\",\n      \"layers\": [0, 2],\n      \"chosen\": false,\n"
                            "      \"mask\": null,\n      \"window_tokens\": null,\n      \"compression\": null,\n"
                            "      \"head_dim\": null,\n      \"rotary_dim\": null,\n      \"rope_theta\": null,\n"
                            "      \"recipe\": null\n"),
                     "%s", json);
  free(json);
}

/* What is guessed, and keys that layers choose, are told by every form of the answer. */
Test(layers_command, show_layers__guesses_and_chosen_keys) {
  write_file("z.json",
             "{\"model_type\": \"zebra\", \"hidden_size\": 64, \"num_attention_heads\": 4, \"rope_theta\": 500, "
             "\"sliding_window\": 8, \"num_hidden_layers\": 2, \"max_position_embeddings\": 64, \"index_topk\": 4}");
  const char *guess = "warning: class zebra is unknown here and is read as a Llama; keys that are not read: "
                      "sliding_window (mistral's class: layers 0-1 window 8)\n";
  expect_said(
      &(command){.arguments = {"show", "layers", "--hf", "z.json"}}, 0,
      "zebra, 2 layers\n0-1: full_attention, 4 chosen keys (the choice is not modelled yet), {name: rope}, base "
      "500, 16 of 16 dims turn\n",
      guess);
  expect_said(&(command){.arguments = {"show", "layers", "--hf", "z.json", "--csv"}}, 0,
              "layer,kind,mask,window_tokens,compression,head_dim,rotary_dim,rope_theta,recipe\n"
              "0,full_attention,chosen keys,,,16,16,500,{name: rope}\n"
              "1,full_attention,chosen keys,,,16,16,500,{name: rope}\n",
              guess);
  char *json = output_of(&(command){.arguments = {"show", "layers", "--hf", "z.json", "--json"}});
  cr_expect_not_null(strstr(json, "\"mask\": \"chosen keys\""), "%s", json);
  cr_expect_not_null(strstr(json, "\"chosen_keys\": 4"), "%s", json);
  free(json);
  const command commands[] = {{.arguments = {"explain", "z.json"}},
                              {.arguments = {"compare", "z.json", "rope"}},
                              {.arguments = {"show", "frequencies", "--hf", "z.json"}},
                              {.arguments = {"convert", "z.json", "--inv-freq", "csv"}}};
  for (size_t i = 0; i < RS_COUNT(commands); i++) {
    result got = run(&commands[i]);
    cr_expect_not_null(strstr(got.err, guess), "%s: %s", commands[i].arguments[0], got.err);
    result_clear(&got);
  }
}

Test(layers_command, show__says_which_layers_it_is_of) {
  expect_said(&(command){.arguments = {"show", "frequencies", "--hf", GEMMA, "--length", "8"}}, 0, NULL,
              "this is full_attention (layers " GLOBAL "), not sliding_attention (" LOCAL "); --layers chooses\n");
  result got = run(&(command){
      .arguments = {"show", "frequencies", "--hf", GEMMA, "--length", "8", "--layers", "sliding_attention"}});
  cr_expect_eq(got.status, 0);
  cr_expect_null(strstr(got.err, "--layers"), "%s", got.err);
  cr_expect_not_null(strstr(got.out, "\n0,t,1,"), "%s", got.out);
  cr_expect_not_null(strstr(got.err, "{name: rope} on gemma3_text at 8 tokens"), "%s", got.err);
  result_clear(&got);
}

Test(layers_command, wrong_use__status_2_and_why) {
  static const struct {
    const char *arguments[MOST_ARGUMENTS], *err;
  } cases[] = {
      {{"show", "layers"}, "show layers needs a model: --hf FILE (a config.json or its folder) or --model PRESET"},
      {{"show", "layers", "--hf", GEMMA, "--method", "pi"},
       "--method has no effect on show layers: it shows what the model publishes, of all layers"},
      {{"show", "layers", "--hf", GEMMA, "--layers", "0"},
       "--layers has no effect on show layers: it shows what the model publishes, of all layers"},
      {{"show", "layers", "--hf", GEMMA, "--csv", "--json"}, "--csv and --json are two forms: keep one"},
      {{"show", "frequencies", "--layers", "0"}, "--layers needs --model or --hf"},
      {{"show", "frequencies", "--hf", GEMMA, "--layers", "34"},
       "no layers 34 with attention (there are: sliding_attention, full_attention; or the number of a layer)"},
      {{"solve", "base", "--head-dim", "64", "--length", "1k", "--layers", "0"},
       "solve: --layers needs --model or --hf"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    command c = {0};
    char err[256];
    memcpy(c.arguments, cases[i].arguments, sizeof c.arguments);
    snprintf(err, sizeof err, "ropescope: %s\n", cases[i].err);
    expect_failure(&c, 2, err);
  }
}

/* ---- compare ----------------------------------------------------------------------------------------------------- */

Test(layers_command, compare__layer_by_layer) {
  static const char local[] = "layers 0-4: sliding_attention: ", global[] = "layers 5: full_attention: equal\n";
  write_gemma("a.json", ", \"rope_local_base_freq\": 10000, \"sliding_window\": 512");
  write_gemma("b.json", ", \"rope_local_base_freq\": 160000, \"sliding_window\": 512");
  write_gemma("c.json", ", \"rope_local_base_freq\": 10000, \"sliding_window\": 64");
  static const struct {
    const char *file, *local;
    int status;
  } cases[] = {{"a.json", "equal\n", 0},
               {"b.json",
                "3 frequencies differ, most at pair 3: 87.5 %\n"
                "    likely cause: B is A with rope_theta: 160000 (the other model's; A has 10000)\n"
                "    likely cause: B is A as ntk with s = 8 (A is rope) (off by at most 2.2e-16)\n"
                "    more than one change gives the same table here: which it was, the table does not tell\n",
                1},
               {"c.json", "A sees window 512, B window 64\n", 1}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    result got = run(&(command){.arguments = {"compare", "a.json", cases[i].file}});
    char want[512];
    snprintf(want, sizeof want, "layer by layer:\n  %s%s  %s", local, cases[i].local, global);
    cr_expect_eq(got.status, cases[i].status, "%s", got.out);
    cr_expect_not_null(strstr(got.out, want), "%s", got.out);
    result_clear(&got);
  }
  expect_said(&(command){.arguments = {"compare", "a.json", "b.json", "--csv"}}, 1, NULL, NULL);
  expect_said(&(command){.arguments = {"compare", "a.json", "b.json", "--layers", "full_attention"}}, 0, NULL, NULL);
  expect_said(&(command){.arguments = {"compare", "a.json", "b.json", "--layers", "0"}}, 1, NULL, NULL);
  char *json = output_of(&(command){.arguments = {"compare", "a.json", "a.json", "--json"}});
  cr_expect_not_null(strstr(json, "\"equal\": true"), "%s", json);
  cr_expect_not_null(strstr(json, "\"layers\": [0, 1, 2, 3, 4],"), "%s", json);
  free(json);
}

Test(layers_command, compare__kinds_that_one_side_lacks_or_that_do_not_turn) {
  write_gemma("a.json", "");
  write_file("b.json", "{\"model_type\": \"gemma3_text\", \"num_hidden_layers\": 5, \"head_dim\": 8, "
                       "\"num_attention_heads\": 2, \"max_position_embeddings\": 4096, \"layer_types\": "
                       "[\"full_attention\", \"full_attention\", \"full_attention\", \"full_attention\", "
                       "\"full_attention\"]}");
  write_file("c.json", "{\"model_type\": \"cohere2\", \"num_hidden_layers\": 6, \"hidden_size\": 16, "
                       "\"num_attention_heads\": 2, \"max_position_embeddings\": 4096, \"rope_theta\": 1e6}");
  result lacks = run(&(command){.arguments = {"compare", "a.json", "b.json"}});
  cr_expect(lacks.status == 1 &&
                strstr(lacks.out,
                       "kinds of layers (A has 6 layers, B 5):\n  sliding_attention in A, none in B: no such "
                       "layers\n  full_attention: equal\n") != NULL,
            "%s", lacks.out);
  result bare = run(&(command){.arguments = {"compare", "a.json", "c.json"}});
  cr_expect(bare.status == 1 &&
                strstr(bare.out, "layers 3: sliding_attention in A, full_attention in B: A {name: "
                                 "rope}, B {name: nope}; A sees window 4096, B everything before\n") != NULL,
            "%s", bare.out);
  result_clear(&lacks);
  result_clear(&bare);
}

/* A recipe stands beside one kind of layers alone; a folder stands for its config.json. */
Test(layers_command, compare__recipes_and_folders) {
  cr_assert_eq(mkdir("model", 0700), 0);
  write_gemma("model/config.json", "");
  result got = run(&(command){.arguments = {"compare", "model", "rope"}});
  cr_expect(got.status == 0 && strstr(got.out, "layers: A is full_attention (layers 5), not sliding_attention (0-4); "
                                               "--layers chooses\n") != NULL,
            "%s%s", got.out, got.err);
  cr_expect_null(strstr(got.out, "B is"), "%s", got.out);
  result_clear(&got);
  expect_said(&(command){.arguments = {"compare", "model", "model/config.json"}}, 0, NULL, NULL);
  expect_said(&(command){.arguments = {"compare", "model", "tests"}}, 2, NULL,
              "B, tests: tests/config.json: cannot read: No such file or directory");
}

/* ---- solve ------------------------------------------------------------------------------------------------------- */

Test(layers_command, solve__names_the_layers) {
  static const struct {
    const char *layers, *out, *row;
  } cases[] = {{"5", "262145\n", "layers     full_attention (layers " GLOBAL "), not sliding_attention (" LOCAL ")\n"},
               {"0", "32769\n", "layers     sliding_attention (layers " LOCAL "), not full_attention (" GLOBAL ")\n"}};
  rs_text text = {0};
  rs_text_puts(&text, "{\"model_type\": \"gemma3_text\", \"num_hidden_layers\": 34, \"head_dim\": 128, "
                      "\"num_attention_heads\": 2, \"max_position_embeddings\": 131072, \"rope_scaling\": {\"type\": "
                      "\"linear\", \"factor\": 8}}");
  write_file("g.json", text.data);
  rs_text_clear(&text);
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char *out = output_of(&(command){.arguments = {"solve", "length", "--hf", "g.json", "--layers", cases[i].layers}});
    cr_expect(strncmp(out, cases[i].out, strlen(cases[i].out)) == 0 && strstr(out, cases[i].row) != NULL, "%s", out);
    free(out);
  }
}

/* ---- sweeps ------------------------------------------------------------------------------------------------------ */

Test(layers_command, sweep__of_chosen_layers_warns_of_none) {
  write_gemma("a.json", "");
  write_file("one.yaml", "model: {hf: a.json}\nlengths: [16]\nmethods: [published]\nmetrics: [entropy]\nheads: 1\n");
  write_file("all.yaml", "model: [{hf: a.json, layers: 0}, {hf: a.json, layers: full_attention}]\nlengths: [16]\n"
                         "methods: [published]\nmetrics: [entropy]\nheads: 1\n");
  expect_said(&(command){.arguments = {"run", "one.yaml", "--out", "one"}}, 0, NULL,
              "warning: model gemma3_text is full_attention (layers 5), not sliding_attention (0-4): {hf: ..., layers: "
              "KIND} chooses\n");
  result got = run(&(command){.arguments = {"run", "all.yaml", "--out", "all"}});
  cr_expect(got.status == 0 && strstr(got.err, "warning") == NULL, "%s", got.err);
  result_clear(&got);
  size_t length;
  char *csv = read_path("all/summary.csv", &length);
  cr_expect_not_null(strstr(csv, "\n0,gemma3_text sliding_attention,published,16,"), "%s", csv);
  cr_expect_not_null(strstr(csv, "\n1,gemma3_text full_attention,published,16,"), "%s", csv);
  run_well(&(command){.arguments = {"run", "all/config.yaml", "--out", "again", "--quiet"}});
  char *again = read_path("again/summary.csv", &length);
  cr_expect_str_eq(again, csv);
  free(again);
  free(csv);
}
