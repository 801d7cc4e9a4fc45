/* test_gguf_command.c: a GGUF file in the place of a config.json, and of a folder of a checkpoint, in every command;
 * and files that are none, or do not fit. */
#include "../fixtures/gguf_models.h"
#include "../fixtures/models.h"
#include "../fixtures/program.h"
#include "../say.h"

TestSuite(gguf_command, .init = enter_folder, .fini = leave_folder);

/* ---- what is said of the twin ------------------------------------------------------------------------------------ */

/* The same words of both, whatever the file is called. */
static void expect_same(const char *model, const char *const *words) {
  char gguf[512], config[512];
  command c[2] = {{.arguments = {"--quiet"}}, {.arguments = {"--quiet"}}};
  size_t count = 0;
  snprintf(gguf, sizeof gguf, "%s/model.gguf", model_path(model));
  snprintf(config, sizeof config, "%s/config.json", model_path(model));
  for (; words[count] != NULL; count++) {
    bool file = strcmp(words[count], "FILE") == 0;
    c[0].arguments[count] = file ? gguf : words[count];
    c[1].arguments[count] = file ? config : words[count];
  }
  c[0].arguments[count] = c[1].arguments[count] = "--quiet";
  char *said = output_of(&c[0]), *wanted = output_of(&c[1]);
  cr_expect_str_eq(said, wanted, "%s of %s:\n%s\nnot\n%s", words[0], model, said, wanted);
  free(said);
  free(wanted);
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

Test(gguf_command, every_command__says_what_it_says_of_the_twin) {
  static const char *const models[] = {"llama3", "llama_yarn", "qwen2_vl", "gemma3", "phi3_longrope"};
  for (size_t i = 0; i < RS_COUNT(models); i++) {
    expect_same(models[i], WORDS("explain", "FILE", "--length", "300"));
    expect_same(models[i], WORDS("show", "frequencies", "--hf", "FILE", "--length", "64"));
    expect_same(models[i], WORDS("convert", "FILE", "--inv-freq", "csv", "--length", "64"));
  }
  expect_same("mpt", WORDS("explain", "FILE", "--length", "300"));
  expect_same("llama3", WORDS("convert", "FILE", "--to", "llamacpp"));
  expect_same("llama_yarn", WORDS("convert", "FILE", "--to", "vllm"));
  expect_same("llama3", WORDS("solve", "factor", "--length", "2k", "--hf", "FILE", "--method", "yarn"));
  expect_same("gemma3", WORDS("show", "layers", "--hf", "FILE"));
  expect_same("qwen2", WORDS("solve", "setting", "--length", "2k", "--hf", "FILE"));
}

Test(gguf_command, standard_input__is_none) {
  static const char *const commands[] = {"check -", "explain -", "solve setting --length 2k --hf -"};
  for (size_t i = 0; i < RS_COUNT(commands); i++) {
    char line[8192];
    int status;
    snprintf(line, sizeof line, "%s < '%s'", commands[i], model_path("llama3/model.gguf"));
    char *said = say_line("\"$ROPESCOPE\"", line, &status);
    cr_expect_eq(status, 2);
    cr_expect_not_null(strstr(said, "standard input: is a GGUF file, which is read by its name"), "%s", said);
    free(said);
  }
}

Test(gguf_command, check__reads_the_metadata) {
  char *said = output_of(&(command){.arguments = {"check", model_path("llama3/model.gguf")}});
  cr_expect_not_null(strstr(said, "{name: llama3, factor: 8}"), "%s", said);
  free(said);
  result got = run(&(command){.arguments = {"check", "--findings", model_path("gemma2/model.gguf")}});
  cr_expect_eq(got.status, 1);
  cr_expect_not_null(strstr(got.out,
                            "model.gguf: warning: model_type: gemma2.rope.freq_base is missing: llama.cpp takes "
                            "10000 [RS407]"),
                     "%s", got.out);
  result_clear(&got);
}

Test(gguf_command, compare__finds_what_a_conversion_lost) {
  static const struct {
    const char *file, *config, *words;
    int status;
  } cases[] = {
      {"llama3/model.gguf", "llama3/config.json", "equal within 1e-06: frequencies of 8 pairs", 0},
      {"llama_small/model.gguf", "llama3/config.json", "frequencies: 7 of 8 pairs differ", 1},
      {"llama_small/model.gguf", "llama_yarn/config.json", "attention factor on cos and sin: A 1, B 1.13862944", 1},
      {"mistral/model.gguf", "mistral/config.json", "A sees everything before, B window 24", 1},
      {"mistral/model.gguf", "mistral/twin/config.json", "equal", 0},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    result got = run(&(command){.arguments = {"compare", model_path(cases[i].file), model_path(cases[i].config)}});
    cr_expect_eq(got.status, cases[i].status, "%s: %s%s", cases[i].file, got.out, got.err);
    cr_expect_not_null(strstr(got.out, cases[i].words), "%s: %s", cases[i].file, got.out);
    cr_expect_not_null(strstr(got.out, "model.gguf: GGUF file {name: "), "%s", got.out);
    result_clear(&got);
  }
}

Test(gguf_command, scaled_sections__are_those_of_the_twin) {
  static const char *const types[] = {"yarn", "linear"};
  for (size_t i = 0; i < RS_COUNT(types); i++) {
    char type[64], config[512];
    snprintf(type, sizeof type, "qwen2vl.rope.scaling.type=s:%s", types[i]);
    snprintf(
        config, sizeof config,
        "{\"model_type\": \"qwen2_vl\", \"hidden_size\": 32, \"num_attention_heads\": 2, \"num_hidden_layers\": 1,"
        "\"max_position_embeddings\": 256, \"rope_theta\": 10000, \"rope_scaling\": {\"type\": \"%s\", \"factor\": 4,"
        "%s \"mrope_section\": [2, 3, 3]}}",
        types[i], i == 0 ? "\"original_max_position_embeddings\": 64," : "");
    write_file("c.json", config);
    g_model("v.gguf",
            WORDS("general.architecture=s:qwen2vl", "qwen2vl.context_length=u:256", "qwen2vl.embedding_length=u:32",
                  "qwen2vl.block_count=u:1", "qwen2vl.feed_forward_length=u:24", "qwen2vl.attention.head_count=u:2",
                  "qwen2vl.attention.layer_norm_rms_epsilon=f:1e-5", "qwen2vl.rope.freq_base=f:10000",
                  "qwen2vl.rope.dimension_sections=U:2,3,3,0", "qwen2vl.rope.scaling.factor=f:4"),
            WORDS(type, "qwen2vl.rope.scaling.original_context_length=u:64"), NULL);
    result got = run(&(command){.arguments = {"compare", "v.gguf", "c.json"}});
    cr_expect_eq(got.status, 0, "%s: %s%s", types[i], got.out, got.err);
    cr_expect_not_null(strstr(got.out, "equal within 1e-06: frequencies of 8 pairs"), "%s", got.out);
    result_clear(&got);
  }
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

/* The loss of a checkpoint that is read, of a folder or of a file. */
static double loss_of(const char *path, const char *out) {
  char config[1024];
  snprintf(config, sizeof config,
           "checkpoint: {name: model, folder: %s}\ntask: {name: copy, symbols: 10}\nlengths: [32]\nmethods: [yarn]\n"
           "metrics: [loss]\n",
           path);
  write_file("c.yaml", config);
  run_well(&(command){.arguments = {"plan", "c.yaml", "--quiet"}});
  run_well(&(command){.arguments = {"run", "c.yaml", "--out", out, "--quiet"}});
  snprintf(config, sizeof config, "%s/summary.csv", out);
  rs_table *table = read_table(config);
  double loss = number(table, 0, "loss_nats");
  cr_expect_str_eq(field(table, 0, "status"), "ok");
  rs_table_free(table);
  return loss;
}

Test(gguf_command, run__reads_it_as_a_checkpoint_and_as_a_model) {
  double folder_loss = loss_of(model_path("llama3"), "a"), loss = loss_of(model_path("llama3/model.gguf"), "b");
  cr_expect(loss > 0 && loss == folder_loss, "%.17g, not %.17g", loss, folder_loss);
  run_well(&(command){.arguments = {"run", "--hf", model_path("llama3/model.gguf"), "--quiet", "--out", "g"}});
  run_well(&(command){.arguments = {"run", "--hf", model_path("llama3/config.json"), "--quiet", "--out", "h"}});
  rs_table *file = read_table("g/summary.csv"), *twin = read_table("h/summary.csv");
  cr_assert_eq(file->rows, twin->rows);
  for (size_t row = 0; row < file->rows; row++)
    cr_expect_str_eq(field(file, row, "ood_pairs"), field(twin, row, "ood_pairs"));
  rs_table_free(file);
  rs_table_free(twin);
}

Test(gguf_command, logits__are_those_of_the_folder) {
  size_t sizes[2];
  run_well(&(command){.arguments = {"logits", model_path("qwen3/model.gguf"), model_path("qwen3/tokens.npy"), "--out",
                                    "a.npy", "--last", "8"}});
  run_well(&(command){
      .arguments = {"logits", model_path("qwen3"), model_path("qwen3/tokens.npy"), "--out", "b.npy", "--last", "8"}});
  char *file = read_path("a.npy", &sizes[0]), *twin = read_path("b.npy", &sizes[1]);
  cr_expect(sizes[0] == sizes[1] && memcmp(file, twin, sizes[0]) == 0);
  free(file);
  free(twin);
}

/* ---- what is wrong ----------------------------------------------------------------------------------------------- */

static const char *const llama[] = {
    "general.architecture=s:llama",      "llama.context_length=u:64",
    "llama.embedding_length=u:16",       "llama.block_count=u:1",
    "llama.feed_forward_length=u:24",    "llama.attention.head_count=u:2",
    "llama.attention.head_count_kv=u:1", "llama.attention.layer_norm_rms_epsilon=f:1e-5",
    "llama.rope.freq_base=f:10000",      NULL};

#define YARN                                                                                                           \
  "llama.rope.scaling.type=s:yarn", "llama.rope.scaling.factor=f:4", "llama.rope.scaling.original_context_length=u:16"

/* llama.cpp reads attn_factor of every file, yarn_attn_factor and bounds of the ramp of some architectures: cos and sin
 * get 0.1 ln 4 + 1 = 1.13863 times the former. */
Test(gguf_command, check__llamacpp__reads_the_factor_of_the_metadata) {
  static const struct {
    const char *keys[6], *said[2], *unsaid;
  } cases[] = {{{YARN, "llama.rope.scaling.attn_factor=f:1.5"},
                {"the file multiplies cos and sin by 1.70794, so logits by 2.917, and llama.cpp takes 1.70794; ",
                 "fix: leave rope.scaling.attn_factor and"},
                "RS601"},
               {{YARN, "llama.rope.scaling.yarn_attn_factor=f:2"},
                {"the file multiplies cos and sin by 2, so logits by 4, and llama.cpp takes 1.13863; ",
                 "llama.cpp: cos and sin are multiplied by 1.13863, not 2 [RS601]"},
                NULL},
               {{YARN, "llama.rope.scaling.yarn_beta_slow=f:0.01"},
                {"llama.cpp: 2 of 4 frequencies differ, by up to "},
                "RS301"},
               {{YARN}, {"m.gguf"}, "RS601"},
               {{YARN, "llama.rope.scaling.factor=f:0.5"}, {"RS203"}, "RS601"}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    g_model("m.gguf", llama, cases[i].keys, NULL);
    result got = run(&(command){.arguments = {"check", "--findings", "m.gguf", "--engine", "llamacpp"}});
    for (size_t n = 0; n < 2 && cases[i].said[n] != NULL; n++)
      cr_expect_not_null(strstr(got.out, cases[i].said[n]), "%zu: %s%s", i, got.out, got.err);
    cr_expect(cases[i].unsaid == NULL || strstr(got.out, cases[i].unsaid) == NULL, "%zu: %s", i, got.out);
    result_clear(&got);
  }
}

enum { PARTS = 11 };
static const g_part whole[PARTS] = {
    {.name = "token_embd.weight", .extents = {16, 10}},        {.name = "output_norm.weight", .extents = {16}},
    {.name = "blk.0.attn_norm.weight", .extents = {16}},       {.name = "blk.0.attn_q.weight", .extents = {16, 16}},
    {.name = "blk.0.attn_k.weight", .extents = {16, 8}},       {.name = "blk.0.attn_v.weight", .extents = {16, 8}},
    {.name = "blk.0.attn_output.weight", .extents = {16, 16}}, {.name = "blk.0.ffn_norm.weight", .extents = {16}},
    {.name = "blk.0.ffn_gate.weight", .extents = {16, 24}},    {.name = "blk.0.ffn_up.weight", .extents = {16, 24}},
    {.name = "blk.0.ffn_down.weight", .extents = {24, 16}}};

/* Reads it with part `place` changed, or, at the end, added. */
static void expect_refused(size_t place, g_part part, const char *message) {
  g_part parts[PARTS + 2] = {{0}};
  memcpy(parts, whole, sizeof whole);
  parts[place] = part;
  if (part.name == NULL) {
    memmove(parts + place, parts + place + 1, (PARTS - place - 1) * sizeof *parts);
    parts[PARTS - 1] = part;
  }
  g_model("m.gguf", llama, NULL, parts);
  expect_failure(&(command){.arguments = {"logits", "m.gguf", model_path("llama3/tokens.npy"), "--out", "o.npy"}}, 2,
                 message);
}

Test(gguf_command, tensors_that_do_not_fit__are_named) {
  g_model("m.gguf", llama, NULL,
          (g_part[PARTS + 1]){whole[0], whole[1], whole[2], whole[3], whole[4], whole[5], whole[6], whole[7], whole[8],
                              whole[9], whole[10]});
  run_well(&(command){.arguments = {"explain", "m.gguf"}});
  expect_refused(4, (g_part){0}, "ropescope: m.gguf: holds no tensor \"blk.0.attn_k.weight\"\n");
  expect_refused(5, (g_part){.name = "blk.0.attn_v.weight", .extents = {16, 16}},
                 "ropescope: m.gguf: tensor \"blk.0.attn_v.weight\": has shape (16, 16), wanted is (8, 16)\n");
  expect_refused(PARTS, (g_part){.name = "blk.0.attn_sinks.weight", .extents = {2}},
                 "ropescope: m.gguf: tensor \"blk.0.attn_sinks.weight\": a llama as the metadata has it does not read "
                 "it\n");
}

/* Read as a longrope with one table twice, of which the file has no tensors, and which changes at no length. */
Test(gguf_command, factors_of_no_recipe__are_those_of_rope_freqs) {
  static const float factors[] = {1, 1.5F, 2.25F, 9};
  static const struct {
    const char *words[5], *said, *unsaid;
  } cases[] = {
      {{"convert", "m.gguf", "--to", "llamacpp"}, "note: The GGUF's tensor rope_freqs.weight divides", "rope_factors"},
      {{"convert", "m.gguf", "--to", "gguf-metadata"}, "\"rope_freqs.weight\": [1, 1.5, 2.25, 9]", "rope_factors"},
      {{"convert", "m.gguf", "--to", "gguf-metadata"}, "rope.freq_base", "rope.scaling"},
      {{"check", "--findings", "m.gguf"}, "rope_freqs.weight is of no recipe", "RS701"}};
  g_model("m.gguf", llama, NULL, (g_part[]){{.name = "rope_freqs.weight", .extents = {4}, .numbers = factors}, {0}});
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    command c = {.arguments = {NULL}};
    for (size_t w = 0; w < RS_COUNT(cases[i].words); w++) c.arguments[w] = cases[i].words[w];
    result got = run(&c);
    cr_expect(strstr(got.out, cases[i].said) != NULL || strstr(got.err, cases[i].said) != NULL, "%s%s", got.out,
              got.err);
    cr_expect(strstr(got.out, cases[i].unsaid) == NULL && strstr(got.err, cases[i].unsaid) == NULL, "%s%s", got.out,
              got.err);
    result_clear(&got);
  }
}

/* The same table twice, in tensors of its own. */
Test(gguf_command, factors_of_two_lengths__stay_where_they_are) {
  static const float factors[] = {1, 1.5F, 2.25F, 9};
  g_model("m.gguf", llama,
          WORDS("llama.rope.scaling.type=s:longrope", "llama.rope.scaling.original_context_length=u:64"),
          (g_part[]){{.name = "rope_factors_long.weight", .extents = {4}, .numbers = factors},
                     {.name = "rope_factors_short.weight", .extents = {4}, .numbers = factors},
                     {0}});
  char *said = output_of(&(command){.arguments = {"convert", "m.gguf", "--to", "gguf-metadata"}});
  cr_expect_not_null(strstr(said, "\"rope_factors_long.weight\": [1, 1.5, 2.25, 9]"), "%s", said);
  cr_expect_null(strstr(said, "rope_freqs"), "%s", said);
  free(said);
}

/* What llama.cpp takes where a key is missing, and what it reads otherwise. */
Test(gguf_command, what_is_guessed__is_a_warning_of_every_command_that_reads_weights) {
  static const char *const guessed[] = {"llama.rope.freq_base=", "tokenizer.ggml.model=s:none", NULL};
  static const char warning[] = "llama.rope.freq_base is missing: llama.cpp takes 10000\n";
  static const char *const commands[][6] = {{"logits", "m.gguf", "t.npy", "--out", "o.npy"},
                                            {"plan", "c.yaml", "--quiet"},
                                            {"plan", "c.yaml"},
                                            {"run", "c.yaml", "--out", "r"}};
  g_part parts[PARTS + 1] = {{0}};
  memcpy(parts, whole, sizeof whole);
  const rs_array tokens = {.rank = 1, .shape = {3}, .count = 3, .numbers = (double[]){1, 2, 3}};
  cr_assert_eq(rs_npy_write("t.npy", &tokens, true, NULL), RS_OK);
  write_file("c.yaml", "checkpoint: {name: model, folder: m.gguf}\ntask: {name: copy, symbols: 8}\nlengths: [16]\n"
                       "methods: [yarn]\nmetrics: [loss]\n");
  g_model("m.gguf", llama, guessed, parts);
  for (size_t i = 0; i < RS_COUNT(commands); i++) {
    command c = {.arguments = {NULL}};
    for (size_t w = 0; w < RS_COUNT(commands[i]); w++) c.arguments[w] = commands[i][w];
    result got = run(&c);
    bool quiet = c.arguments[2] != NULL && strcmp(c.arguments[2], "--quiet") == 0;
    const char *line = strstr(got.err, i == 0 ? "warning: llama." : "warning: checkpoint model: llama.");
    cr_expect_eq(got.status, 0, "%zu: %s", i, got.err);
    cr_expect((line != NULL) == !quiet, "%zu: %s", i, got.err);
    cr_expect(quiet || strstr(got.err, warning) != NULL, "%zu: %s", i, got.err);
    result_clear(&got);
  }
}

/* The header tells it before minutes of work. */
Test(gguf_command, weights_of_a_type_that_is_not_read__are_refused_before_a_run) {
  static const struct {
    const char *config, *said;
  } cases[] = {
      {"checkpoint: {name: model, folder: m.gguf}\ntask: {name: copy, symbols: 8}\nlengths: [16]\nmethods: [yarn]\n"
       "metrics: [loss]\n",
       "m.gguf: tensor \"blk.0.ffn_up.weight\": is I8, which is not read here"},
      {"model: {hf: m.gguf}\nsources: [{name: model, checkpoint: m.gguf, tokens: t.txt}]\nlengths: [3]\n"
       "methods: [rope]\nmetrics: [entropy]\n",
       "m.gguf: tensor \"blk.0.ffn_up.weight\": is I8, which is not read here"}};
  g_part parts[PARTS + 1] = {{0}};
  memcpy(parts, whole, sizeof whole);
  parts[9].bytes = true;
  g_model("m.gguf", llama, NULL, parts);
  write_file("t.txt", "1 2 3\n");
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    write_file("c.yaml", cases[i].config);
    for (size_t plan = 0; plan < 2; plan++) {
      result got = run(&(command){.arguments = {plan ? "plan" : "run", "c.yaml", plan ? NULL : "--out", "r"}});
      cr_expect_eq(got.status, 2, "%zu: %s", i, got.err);
      cr_expect_not_null(strstr(got.err, cases[i].said), "%zu: %s", i, got.err);
      cr_expect_not(exists("r"), "%zu", i);
      result_clear(&got);
    }
  }
}

Test(gguf_command, what_is_no_model__is_refused_by_every_command) {
  static const char *const commands[][6] = {{"explain", "m.gguf"},
                                            {"convert", "m.gguf", "--to", "hf5"},
                                            {"show", "layers", "--hf", "m.gguf"},
                                            {"solve", "setting", "--length", "2k", "--hf", "m.gguf"},
                                            {"run", "--hf", "m.gguf"},
                                            {"logits", "m.gguf", "t.npy", "--out", "o.npy"},
                                            {"compare", "m.gguf", "llama-2-7b"}};
  for (size_t kind = 0; kind < 2; kind++) {
    static const char *const reasons[] = {"is no GGUF file: it does not begin with GGUF",
                                          "general.architecture = rwkv7: GGUF files of this architecture are not read"};
    if (kind == 0)
      write_file("m.gguf", "{\"model_type\": \"llama\"}");
    else
      g_model("m.gguf", WORDS("general.architecture=s:rwkv7"), NULL, NULL);
    for (size_t i = 0; i < RS_COUNT(commands); i++) {
      command c = {.arguments = {NULL}};
      for (size_t w = 0; w < RS_COUNT(commands[i]); w++) c.arguments[w] = commands[i][w];
      result got = run(&c);
      cr_expect_eq(got.status, 2, "%s", commands[i][0]);
      cr_expect_not_null(strstr(got.err, reasons[kind]), "%s: %s", commands[i][0], got.err);
      result_clear(&got);
    }
  }
}
