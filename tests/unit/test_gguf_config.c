/* test_gguf_config.c: what the metadata of a GGUF file comes to as a config.json, key by key; what is wrong in it, or
 * missing, and what llama.cpp takes then. */
#include "../fixtures/gguf_models.h"
#include "../fixtures/scratch.h"
#include "hf/gguf.h"

#include <math.h>

#define KEYS(...) ((const char *const[]){__VA_ARGS__, NULL})

static const char *const llama[] = {
    "general.architecture=s:llama",      "llama.context_length=u:256",
    "llama.embedding_length=u:16",       "llama.block_count=u:2",
    "llama.feed_forward_length=u:24",    "llama.attention.head_count=u:2",
    "llama.attention.head_count_kv=u:1", "llama.attention.layer_norm_rms_epsilon=f:1e-5",
    "llama.rope.freq_base=f:50000",      NULL};
static const char *const gemma3[] = {"general.architecture=s:gemma3",
                                     "gemma3.context_length=u:256",
                                     "gemma3.embedding_length=u:16",
                                     "gemma3.block_count=u:3",
                                     "gemma3.feed_forward_length=u:24",
                                     "gemma3.attention.head_count=u:2",
                                     "gemma3.attention.head_count_kv=u:1",
                                     "gemma3.attention.key_length=u:8",
                                     "gemma3.attention.layer_norm_rms_epsilon=f:1e-6",
                                     "gemma3.rope.freq_base=f:1000000",
                                     "gemma3.attention.sliding_window=u:32",
                                     NULL};
/* Keys of a small file of any architecture. */
#define MODEL(name)                                                                                                    \
  "general.architecture=s:" name, name ".context_length=u:256", name ".embedding_length=u:16",                         \
      name ".block_count=u:2", name ".feed_forward_length=u:24", name ".attention.head_count=u:2",                     \
      name ".attention.head_count_kv=u:1", name ".attention.layer_norm_rms_epsilon=f:1e-5",                            \
      name ".attention.layer_norm_epsilon=f:1e-5", name ".rope.freq_base=f:10000"

static const g_part embeddings[] = {{.name = "token_embd.weight", .extents = {16, 10}}, {0}};

/* The config of a file, or its failure. free() it. */
static char *config_of(const char *const *first, const char *const *further, const g_part *parts, rs_err *err) {
  char *text = NULL;
  size_t length;
  g_model("m.gguf", first, further, parts != NULL ? parts : embeddings);
  rs_status status = rs_hf_config_load("m.gguf", &text, &length, err);
  cr_assert_eq(status == RS_OK, text != NULL);
  cr_assert(text == NULL || strlen(text) == length);
  return text;
}

static void expect_lines(const char *const *first, const char *const *further, const g_part *parts,
                         const char *const *lines) {
  rs_err err = {0};
  char *text = config_of(first, further, parts, &err);
  cr_assert_not_null(text, "%s", err.message);
  for (; *lines != NULL; lines++) cr_expect(strstr(text, *lines) != NULL, "no %s in\n%s", *lines, text);
  free(text);
}

Test(gguf_config, a_whole_file__is_a_config) {
  rs_err err = {0};
  enter_scratch();
  char *text = config_of(llama, NULL, NULL, &err);
  cr_assert_not_null(text, "%s", err.message);
  cr_expect_str_eq(text, "{\n  \"model_type\": \"llama\",\n  \"num_hidden_layers\": 2,\n  \"hidden_size\": 16,\n"
                         "  \"num_attention_heads\": 2,\n  \"max_position_embeddings\": 256,\n  \"head_dim\": 8,\n"
                         "  \"intermediate_size\": 24,\n  \"vocab_size\": 10,\n  \"num_key_value_heads\": 1,\n"
                         "  \"rms_norm_eps\": 1e-05,\n  \"tie_word_embeddings\": true,\n"
                         "  \"attention_bias\": false,\n  \"mlp_bias\": false,\n  \"rope_theta\": 50000,\n"
                         "  \"_gguf\": {\n    \"architecture\": \"llama\",\n    \"notes\": \"\"\n  }\n}\n");
  free(text);
}

Test(gguf_config, keys__are_those_of_config_json) {
  static const g_part output[] = {{.name = "token_embd.weight", .extents = {16, 10}},
                                  {.name = "output.weight", .extents = {16, 10}},
                                  {.name = "blk.0.attn_q.bias", .extents = {16}},
                                  {.name = "blk.0.ffn_up.bias", .extents = {24}},
                                  {0}};
  enter_scratch();
  expect_lines(llama, NULL, output,
               KEYS("\"tie_word_embeddings\": false", "\"attention_bias\": true", "\"mlp_bias\": true"));
  expect_lines(llama, KEYS("llama.attention.head_count_kv="), NULL, KEYS("\"num_key_value_heads\": 2,"));
  expect_lines(llama, KEYS("llama.attention.head_count_kv=U:2,1", "llama.attention.head_count=U:2,2"), NULL,
               KEYS("\"num_key_value_heads\": [2, 1],", "\"num_attention_heads\": 2,"));
  expect_lines(llama, KEYS("llama.attention.head_count_kv=U:2,2"), NULL, KEYS("\"num_key_value_heads\": 2,"));
  expect_lines(llama, KEYS("llama.attention.key_length=u:12", "llama.attention.value_length=u:12"), NULL,
               KEYS("\"head_dim\": 12,"));
  expect_lines(llama,
               KEYS("llama.rope.scaling.type=s:yarn", "llama.rope.scaling.factor=f:4",
                    "llama.rope.scaling.original_context_length=u:64", "llama.rope.scaling.yarn_beta_fast=f:16",
                    "llama.rope.scaling.yarn_beta_slow=f:2", "llama.rope.scaling.yarn_ext_factor=f:1",
                    "llama.rope.scaling.finetuned=b:1"),
               NULL,
               KEYS("\"rope_type\": \"yarn\"", "\"factor\": 4,", "\"original_max_position_embeddings\": 64",
                    "\"beta_fast\": 16", "\"beta_slow\": 2", "\"finetuned\": true"));
  expect_lines(llama, KEYS("llama.rope.scaling.factor=f:2.5"), NULL,
               KEYS("\"rope_type\": \"linear\"", "\"factor\": 2.5"));
  expect_lines(llama, KEYS("llama.rope.scale_linear=f:3"), NULL, KEYS("\"rope_type\": \"linear\"", "\"factor\": 3"));
  expect_lines(gemma3, KEYS("gemma3.rope.freq_base_swa=f:20000", "gemma3.final_logit_softcapping=f:5"), NULL,
               KEYS("\"rope_theta\": 1000000", "\"rope_local_base_freq\": 20000", "\"final_logit_softcapping\": 5",
                    "\"query_pre_attn_scalar\": 8", "\"sliding_window\": 32",
                    "[\"sliding_attention\", \"sliding_attention\", \"sliding_attention\"]"));
  expect_lines(gemma3, KEYS("gemma3.attention.sliding_window_pattern=u:2"), NULL,
               KEYS("[\"sliding_attention\", \"full_attention\", \"sliding_attention\"]"));
  expect_lines(gemma3, KEYS("gemma3.attention.sliding_window_pattern=B:0,1,0"), NULL,
               KEYS("[\"full_attention\", \"sliding_attention\", \"full_attention\"]"));
  expect_lines(gemma3, KEYS("gemma3.attention.sliding_window="), NULL,
               KEYS("\"sliding_window\": null", "[\"full_attention\", \"full_attention\", \"full_attention\"]",
                    "\"final_logit_softcapping\": null"));
  expect_lines(gemma3, KEYS("gemma3.block_count=u:62", "gemma3.embedding_length=u:40"), NULL,
               KEYS("\"query_pre_attn_scalar\": 20"));
}

/* YaRN multiplies cos and sin by .1 ln 4 + 1 = 1.138629; llama.cpp by rope.scaling.attn_factor beside. */
Test(gguf_config, magnitudes__are_told_where_they_are_not_the_recipes_own) {
  const char *const *yarn =
      KEYS("llama.rope.scaling.type=s:yarn", "llama.rope.scaling.factor=f:4",
           "llama.rope.scaling.original_context_length=u:64", "llama.rope.scaling.attn_factor=f:2");
  static const float ones[4] = {1, 1, 1, 1}, twos[4] = {2, 3, 4, 5};
  static const g_part factors[] = {{.name = "token_embd.weight", .extents = {16, 10}},
                                   {.name = "rope_factors_short.weight", .extents = {4}, .numbers = ones},
                                   {.name = "rope_factors_long.weight", .extents = {4}, .numbers = twos},
                                   {0}};
  const char *const *longrope =
      KEYS("llama.rope.scaling.type=s:longrope", "llama.rope.scaling.original_context_length=u:64",
           "llama.rope.scaling.attn_factor=f:1.1547005");
  rs_err err = {0};
  enter_scratch();
  expect_lines(llama, yarn, NULL, KEYS("\"attention_factor\": 2.277258"));
  /* sqrt(1 + ln 4 / ln 64) = sqrt(4 / 3). */
  expect_lines(llama, longrope, factors, KEYS("\"short_factor\": [1, 1, 1, 1]", "\"long_factor\": [2, 3, 4, 5]"));
  char *text = config_of(llama, longrope, factors, &err);
  cr_expect(text != NULL && strstr(text, "attention_factor") == NULL);
  free(text);
  expect_lines(llama, KEYS("llama.rope.scaling.type=s:longrope", "llama.rope.scaling.original_context_length=u:64"),
               factors, KEYS("\"attention_factor\": 1"));
}

Test(gguf_config, what_is_guessed_or_left_out__is_noted) {
  static const struct {
    const char *keys[6];
    const char *note;
  } cases[] = {
      {{"llama.rope.freq_base="}, "llama.rope.freq_base is missing: llama.cpp takes 10000"},
      {{"llama.rope.scaling.factor=f:4"}, "llama.rope.scaling.type is missing: llama.cpp takes linear"},
      {{"llama.rope.scaling.type=s:none", "llama.rope.scaling.factor=f:4"},
       "llama.rope.scaling.factor is not read where the type is none"},
      {{"llama.rope.scaling.type=s:yarn", "llama.rope.scaling.factor=f:4"},
       "llama.rope.scaling.original_context_length is missing: llama.cpp takes context_length"},
      {{"llama.rope.scaling.type=s:yarn", "llama.rope.scaling.factor=f:4",
        "llama.rope.scaling.original_context_length=u:64", "llama.rope.scaling.yarn_beta_fast=f:8"},
       "llama.rope.scaling.yarn_beta_fast is read here, but by llama.cpp for other architectures alone"},
      {{"llama.attention.sliding_window=u:64", "llama.rope.scaling.alpha=f:2", "llama.vocab_size=u:10"},
       "llama.attention.sliding_window is not read; llama.rope.scaling.alpha is not read"},
      {{"qwen2.rope.freq_base=f:1"}, "qwen2.rope.freq_base is not read"},
  };
  enter_scratch();
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_profile profile;
    rs_err err = {0};
    g_model("m.gguf", llama, cases[i].keys, embeddings);
    cr_assert_eq(rs_profile_load("m.gguf", &profile, &err), RS_OK, "%s", err.message);
    cr_expect(profile.doubt != NULL && strcmp(profile.doubt, cases[i].note) == 0, "%s\nnot %s", profile.doubt,
              cases[i].note);
    rs_profile_clear(&profile);
  }
}

Test(gguf_config, what_is_wrong__is_named) {
  static const struct {
    const char *keys[6];
    rs_status status;
    const char *message;
  } cases[] = {
      {{"general.architecture="},
       RS_INPUT,
       "m.gguf: general.architecture is missing: nothing says what the metadata is of"},
      {{"general.architecture=s:rwkv7"},
       RS_UNSUPPORTED,
       "m.gguf: general.architecture = rwkv7: GGUF files of this architecture are not read (of these they are: llama, "
       "qwen2, qwen2vl, qwen3, gemma2, gemma3, phi3, gpt2, falcon, mpt, bloom); the config.json of the model may be"},
      {{"llama.context_length="}, RS_INPUT, "m.gguf: llama.context_length is missing: a llama file needs it"},
      {{"llama.block_count=u:0"}, RS_INPUT, "m.gguf: llama.block_count = 0: must be from 1 to 16777216"},
      {{"llama.block_count=u:65537"}, RS_INPUT, "m.gguf: llama.block_count = 65537: must be at most 65536"},
      {{"llama.attention.head_count=U:2,1"},
       RS_INPUT,
       "m.gguf: llama.attention.head_count = [...]: differs from layer to layer (2, 1), which is not offered here"},
      {{"llama.attention.head_count_kv=U:1,1,1"},
       RS_INPUT,
       "m.gguf: llama.attention.head_count_kv = [...]: must have an entry for each of the 2 layers"},
      {{"llama.attention.key_length=u:8", "llama.attention.value_length=u:4"},
       RS_INPUT,
       "m.gguf: llama.attention.value_length = 4: differs from key_length = 8, which is not offered here"},
      {{"llama.rope.dimension_count=u:4"},
       RS_INPUT,
       "m.gguf: llama.rope.dimension_count = 4: must be the 8 dims of a head: llama.cpp turns whole heads of a llama"},
      {{"llama.rope.scaling.type=s:yarm"},
       RS_INPUT,
       "m.gguf: llama.rope.scaling.type = \"yarm\": is no type of llama.cpp's (none, linear, yarn, longrope)"},
      {{"llama.rope.freq_base=f:-3"}, RS_INPUT, "m.gguf: llama.rope.freq_base = -3: must be from 1.000001 to 1e+300"},
      {{"llama.rope.scaling.type=s:longrope"},
       RS_INPUT,
       "m.gguf: longrope needs the tensors rope_factors_short.weight and _long.weight"},
      {{"llama.rope.scaling.attn_factor=f:2"},
       RS_INPUT,
       "m.gguf: llama.rope.scaling.attn_factor = 2: multiplies cos and sin of a model without YaRN or longrope: not "
       "offered here"},
      {{"llama.rope.scaling.type=s:yarn", "llama.rope.scaling.factor=f:2", "llama.rope.scaling.yarn_ext_factor=f:0.5"},
       RS_INPUT,
       "m.gguf: llama.rope.scaling.yarn_ext_factor = 0.5: mixes YaRN's frequencies with interpolated ones, which is "
       "not offered here"},
      {{"llama.expert_count=u:8"}, RS_INPUT, "m.gguf: llama.expert_count = 8: experts of GGUF files are not read here"},
      {{"llama.attention.layer_norm_rms_epsilon="},
       RS_INPUT,
       "m.gguf: llama.attention.layer_norm_rms_epsilon is missing: a llama file needs it"},
      {{"llama.vocab_size=u:11"},
       RS_INPUT,
       "m.gguf: llama.vocab_size = 11: differs from the 10 rows of token_embd.weight"},
      {{"llama.block_count=u:0", "llama.embedding_length="},
       RS_INPUT,
       "m.gguf: llama.block_count = 0: must be from 1 to 16777216\n"
       "m.gguf: llama.embedding_length is missing: a llama file needs it"},
  };
  enter_scratch();
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_err err = {0};
    cr_expect_null(config_of(llama, cases[i].keys, NULL, &err));
    cr_expect_eq(err.status, cases[i].status);
    cr_expect_str_eq(err.message, cases[i].message, "got:  %s\nwant: %s", err.message, cases[i].message);
  }
}

/* Of classes that have a width of heads of their own, too. */
Test(gguf_config, dims_of_heads_that_are_not_said__are_the_widths_share) {
  const char *const *const files[] = {KEYS(MODEL("qwen3")), KEYS(MODEL("gemma2")), KEYS(MODEL("gemma3"))};
  enter_scratch();
  for (size_t i = 0; i < RS_COUNT(files); i++) {
    rs_profile profile;
    rs_err err = {0};
    g_model("m.gguf", files[i], NULL, embeddings);
    cr_assert_eq(rs_profile_load("m.gguf", &profile, &err), RS_OK, "%s", err.message);
    cr_expect_eq(profile.kinds[0].model.head_dim, 8, "%s: %zu", files[i][0], profile.kinds[0].model.head_dim);
    rs_profile_clear(&profile);
  }
}

static void expect_notes(const char *const *first, const char *const *further, const char *notes) {
  char line[512];
  snprintf(line, sizeof line, "\"notes\": \"%s\"", notes);
  expect_lines(first, further, NULL, KEYS(line));
}

static void expect_failure(const char *const *first, const char *const *further, const g_part *parts,
                           const char *message) {
  rs_err err = {0};
  cr_expect_null(config_of(first, further, parts, &err), "not \"%s\"", message);
  cr_expect_str_eq(err.message, message, "got:  %s\nwant: %s", err.message, message);
}

Test(gguf_config, sizes_that_are_guessed__are_noted) {
  const char *const *gemma2 = KEYS(MODEL("gemma2"), "gemma2.attention.sliding_window=u:32");
  enter_scratch();
  expect_notes(llama, KEYS("llama.attention.head_count_kv="),
               "llama.attention.head_count_kv is missing: llama.cpp takes head_count");
  expect_notes(KEYS(MODEL("mpt"), "mpt.attention.max_alibi_bias=f:8"),
               KEYS("mpt.attention.head_count_kv=", "mpt.rope.freq_base=", "mpt.attention.layer_norm_rms_epsilon="),
               "");
  expect_notes(gemma2, KEYS("gemma2.attention.layer_norm_epsilon="),
               "gemma2.attn_logit_softcapping is missing: llama.cpp takes 50; gemma2.final_logit_softcapping is "
               "missing: llama.cpp takes 30");
  expect_notes(gemma2,
               KEYS("gemma2.attention.layer_norm_epsilon=", "gemma2.attn_logit_softcapping=f:0",
                    "gemma2.final_logit_softcapping=f:30"),
               "");
}

Test(gguf_config, layers_with_a_window__are_flags) {
  enter_scratch();
  expect_failure(gemma3, KEYS("gemma3.attention.sliding_window_pattern=U:0,1,2"), NULL,
                 "m.gguf: gemma3.attention.sliding_window_pattern = [...]: entry 2 is 2: must be true or false");
  expect_lines(gemma3, KEYS("gemma3.attention.sliding_window_pattern=U:0,1,0"), NULL,
               KEYS("[\"full_attention\", \"sliding_attention\", \"full_attention\"]"));
}

/* ---- scaling ----------------------------------------------------------------------------------------------------- */

#define YARN(name) name ".rope.scaling.type=s:yarn", name ".rope.scaling.factor=f:4"

Test(gguf_config, sections__may_be_scaled) {
  const char *const *vision = KEYS(MODEL("qwen2vl"), "qwen2vl.rope.dimension_sections=U:1,1,2,0");
  enter_scratch();
  expect_lines(vision, NULL, NULL, KEYS("\"rope_type\": \"default\",\n    \"mrope_section\": [1, 1, 2]\n  }"));
  expect_lines(vision, KEYS(YARN("qwen2vl"), "qwen2vl.rope.scaling.original_context_length=u:64"), NULL,
               KEYS("\"rope_type\": \"yarn\",\n    \"factor\": 4,\n    \"original_max_position_embeddings\": 64,\n"
                    "    \"mrope_section\": [1, 1, 2]\n  }"));
  expect_lines(vision, KEYS("qwen2vl.rope.scaling.factor=f:3"), NULL,
               KEYS("\"rope_type\": \"linear\",\n    \"factor\": 3,\n    \"mrope_section\": [1, 1, 2]\n  }"));
  expect_failure(vision, KEYS("qwen2vl.rope.dimension_sections=U:1,1,2"), NULL,
                 "m.gguf: qwen2vl.rope.dimension_sections = [...]: must be 4 entries: pairs of time, row and column, "
                 "and 0");
  expect_failure(vision, KEYS("qwen2vl.rope.dimension_sections=U:1,1,1,1"), NULL,
                 "m.gguf: qwen2vl.rope.dimension_sections = [...]: must be 4 entries: pairs of time, row and column, "
                 "and 0");
}

static const float some[4] = {1, 2, 3, 4};
#define PART(tensor)                                                                                                   \
  { .name = (tensor), .extents = {4}, .numbers = some }

/* Tensors of positions for which llama.cpp does not ask, of which it loads no file. */
Test(gguf_config, tensors_of_positions_that_are_not_read__are_refused) {
#define NOT_READ(tensor, of)                                                                                           \
  "m.gguf: tensor \"" tensor "\": llama.cpp does not read it of a " of ", and loads no file that has it"
  static const g_part freqs[] = {PART("rope_freqs.weight"), {0}}, layer[] = {PART("blk.0.rope_freqs.weight"), {0}},
                      shorter[] = {PART("rope_factors_short.weight"), {0}},
                      both[] = {PART("rope_factors_short.weight"),
                                PART("rope_factors_long.weight"),
                                PART("rope_freqs.weight"),
                                {0}};
  const char *const *vision = KEYS(MODEL("qwen2vl"), "qwen2vl.rope.dimension_sections=U:1,1,2,0");
  enter_scratch();
  expect_failure(KEYS(MODEL("phi3")), NULL, freqs, NOT_READ("rope_freqs.weight", "phi3"));
  expect_failure(KEYS(MODEL("qwen2")), NULL, freqs, NOT_READ("rope_freqs.weight", "qwen2"));
  expect_failure(vision, NULL, shorter, NOT_READ("rope_factors_short.weight", "qwen2vl"));
  expect_failure(KEYS(MODEL("gemma2")), NULL, freqs, NOT_READ("rope_freqs.weight", "gemma2"));
  expect_failure(KEYS(MODEL("falcon")), NULL, freqs, NOT_READ("rope_freqs.weight", "falcon"));
  expect_failure(KEYS(MODEL("mpt")), NULL, freqs, NOT_READ("rope_freqs.weight", "mpt"));
  expect_failure(llama, NULL, layer, NOT_READ("blk.0.rope_freqs.weight", "llama whose rope.scaling.type is linear"));
  expect_failure(llama, KEYS(YARN("llama")), shorter,
                 NOT_READ("rope_factors_short.weight", "llama whose rope.scaling.type is yarn"));
  expect_failure(llama, KEYS("llama.rope.scaling.type=s:longrope"), both,
                 NOT_READ("rope_freqs.weight", "llama whose rope.scaling.type is longrope"));
  expect_failure(KEYS(MODEL("phi3")), NULL, shorter,
                 "m.gguf: longrope needs the tensors rope_factors_short.weight and _long.weight");
}

/* llama.cpp divides by the factor and by that of the pair, unless the type is none. */
Test(gguf_config, longrope__divides_by_the_factor_as_well) {
  static const g_part both[] = {PART("rope_factors_short.weight"), PART("rope_factors_long.weight"), {0}};
  static const char *const types[] = {"linear", "longrope", "none"};
  enter_scratch();
  for (size_t i = 0; i < RS_COUNT(types); i++) {
    char type[64];
    snprintf(type, sizeof type, "phi3.rope.scaling.type=s:%s", types[i]);
    const char *list = i == 2 ? "[1, 2, 3, 4]" : "[2.5, 5, 7.5, 10]";
    char lines[2][64];
    snprintf(lines[0], sizeof lines[0], "\"short_factor\": %s", list);
    snprintf(lines[1], sizeof lines[1], "\"long_factor\": %s", list);
    expect_lines(KEYS(MODEL("phi3")), KEYS(type, "phi3.rope.scaling.factor=f:2.5"), both,
                 KEYS("\"rope_type\": \"longrope\"", lines[0], lines[1],
                      i == 2 ? "phi3.rope.scaling.factor is not read where the type is none"
                             : "phi3.rope.scaling.factor divides frequencies beside the factors of pairs"));
  }
  expect_failure(KEYS(MODEL("phi3")), KEYS(YARN("phi3")), both,
                 "m.gguf: phi3.rope.scaling.type = \"yarn\": stands beside rope_factors_*.weight: both at once are not "
                 "offered here");
  expect_failure(KEYS(MODEL("phi3")), KEYS(YARN("phi3")), NULL,
                 "m.gguf: phi3.rope.scaling.type = \"yarn\": is another name of longrope in a phi3's config.json: not "
                 "offered here");
}

/* Where llama.cpp does otherwise in layers with a window than config.json can say. */
Test(gguf_config, windows__have_no_scaling_of_their_own) {
  rs_err err = {0};
  enter_scratch();
  expect_failure(gemma3, KEYS(YARN("gemma3"), "gemma3.rope.scaling.attn_factor=f:1.25"), NULL,
                 "m.gguf: gemma3.rope.scaling.attn_factor = 1.25: multiplies cos and sin of layers with a window, too, "
                 "which have no YaRN: not offered here");
  expect_lines(gemma3, KEYS(YARN("gemma3"), "gemma3.rope.scaling.attn_factor=f:2", "gemma3.attention.sliding_window="),
               NULL, KEYS("\"attention_factor\": 2.277258"));
  expect_failure(KEYS(MODEL("gemma2")), KEYS("gemma2.rope.scaling.type=s:none", "gemma2.rope.scaling.factor=f:2"), NULL,
                 "m.gguf: gemma2.rope.scaling.factor = 2: divides frequencies of layers with a window alone where the "
                 "type is none: not offered here");
  char *text = config_of(gemma3, KEYS("gemma3.attention.sliding_window="), NULL, &err);
  cr_expect(text != NULL && strstr(text, "rope_local_base_freq") == NULL, "a base of layers that are not there");
  free(text);
  expect_notes(gemma3, KEYS("gemma3.attention.sliding_window="), "");
  expect_notes(gemma3, NULL, "gemma3.rope.freq_base_swa is missing: llama.cpp takes 10000");
}

Test(gguf_config, what_scaling_does_not_say_or_does_not_read__is_noted) {
  static const g_part both[] = {PART("rope_factors_short.weight"), PART("rope_factors_long.weight"), {0}};
  enter_scratch();
  expect_notes(llama, KEYS("llama.rope.scaling.type=s:linear"),
               "llama.rope.scaling.factor is missing: llama.cpp takes 1");
  expect_notes(llama, KEYS("llama.rope.scaling.type=s:yarn", "llama.rope.scaling.original_context_length=u:64"),
               "llama.rope.scaling.factor is missing: llama.cpp takes 1");
  expect_notes(llama, KEYS("llama.rope.scaling.type=s:linear", "llama.rope.scaling.factor=f:0"),
               "llama.rope.scaling.factor = 0: llama.cpp takes 1");
  expect_notes(llama, KEYS("llama.rope.scaling.type=s:linear", "llama.rope.scale_linear=f:2"), "");
  expect_notes(llama,
               KEYS("llama.rope.scaling.type=s:linear", "llama.rope.scaling.factor=f:4", "llama.rope.scale_linear=f:2"),
               "llama.rope.scale_linear is not read beside rope.scaling.factor");
  expect_notes(llama,
               KEYS("llama.rope.scaling.type=s:linear", "llama.rope.scaling.factor=f:4",
                    "llama.rope.scaling.original_context_length=u:64"),
               "llama.rope.scaling.original_context_length is not read where the type is linear");
  expect_lines(llama, KEYS("llama.rope.scaling.type=s:longrope", "llama.rope.scaling.original_context_length=u:64"),
               both, KEYS("\"notes\": \"llama.rope.scaling.attn_factor is missing: llama.cpp takes 1\""));
  expect_failure(llama, KEYS("llama.rope.scaling.finetuned=s:true"), NULL,
                 "m.gguf: llama.rope.scaling.finetuned = \"true\": must be true or false");
  expect_failure(llama, KEYS("llama.rope.scaling.finetuned=u:1"), NULL,
                 "m.gguf: llama.rope.scaling.finetuned = 1: must be true or false");
}

/* ---- factors of frequencies -------------------------------------------------------------------------------------- */

enum { MOST_PAIRS = 64 };

/* In float, as a file has them; false where none of them lies between 1 and the largest, or none is the largest. */
static bool make_factors(const rs_llama3 *recipe, double theta, size_t pairs, float *factors) {
  size_t between = 0;
  for (size_t j = 0; j < pairs; j++) {
    double wave = 2 * M_PI * pow(theta, (double)j / (double)pairs), turns = recipe->original / wave;
    double smooth = (turns - recipe->low) / (recipe->high - recipe->low);
    double factor = smooth >= 1 ? 1 : smooth <= 0 ? recipe->factor : 1 / ((1 - smooth) / recipe->factor + smooth);
    factors[j] = (float)factor;
    between += factors[j] > 1 && factors[j] < (float)recipe->factor;
  }
  return between >= 2 && factors[pairs - 1] == (float)recipe->factor;
}

Test(gguf_config, factors_of_llama3__are_that_recipe) {
  static const rs_llama3 recipes[] = {{8, 1, 4, 8192},  {32, 1, 4, 8192}, {4, 1, 4, 4096},
                                      {8, 1, 8, 16384}, {2, 1, 3, 1024},  {16, 1, 2.5, 2000}};
  static const double thetas[] = {10000, 500000, 1e6};
  size_t tried = 0;
  for (size_t i = 0; i < RS_COUNT(recipes) * RS_COUNT(thetas); i++) {
    const rs_llama3 *recipe = &recipes[i / RS_COUNT(thetas)];
    double theta = thetas[i % RS_COUNT(thetas)], numbers[MOST_PAIRS];
    float factors[MOST_PAIRS];
    rs_llama3 found;
    if (!make_factors(recipe, theta, MOST_PAIRS, factors)) continue;
    tried++;
    for (size_t j = 0; j < MOST_PAIRS; j++) numbers[j] = (double)factors[j] * (1 + (j % 2 == 0 ? 1e-7 : -1e-7));
    for (size_t j = 0; j < MOST_PAIRS; j++) numbers[j] = factors[j] == 1 ? 1 : (double)(float)numbers[j];
    numbers[MOST_PAIRS - 1] = recipe->factor;
    cr_assert(rs_llama3_fit(numbers, MOST_PAIRS, theta, 0, &found), "factor %g, base %g", recipe->factor, theta);
    cr_expect_eq(found.factor, recipe->factor);
    cr_expect_eq(found.low, recipe->low);
    cr_expect_eq(found.high, recipe->high, "%g, not %g", found.high, recipe->high);
    cr_expect_eq(found.original, recipe->original, "%g, not %g", found.original, recipe->original);
    for (size_t j = 0; j < MOST_PAIRS; j++) { /* any one that is off is of no recipe */
      double kept = numbers[j];
      numbers[j] *= 1.0001;
      cr_expect_not(rs_llama3_fit(numbers, MOST_PAIRS, theta, recipe->original, &found), "pair %zu of base %g", j,
                    theta);
      numbers[j] = kept;
    }
  }
  cr_expect_geq(tried, (size_t)12);
}

Test(gguf_config, other_factors__are_read_one_by_one) {
  static const float factors[4] = {1, 1.5F, 1.1F, 9}, ones[4] = {1, 1, 1, 1};
  g_part parts[] = {{.name = "token_embd.weight", .extents = {16, 10}},
                    {.name = "rope_freqs.weight", .extents = {4}, .numbers = factors},
                    {0}};
  rs_err err = {0};
  enter_scratch();
  expect_lines(llama, NULL, parts,
               KEYS("\"short_factor\": [1, 1.5, 1.1, 9]", "\"long_factor\": [1, 1.5, 1.1, 9]",
                    "\"attention_factor\": 1", "read one by one"));
  cr_expect_null(
      config_of(llama, KEYS("llama.rope.scaling.factor=f:2", "llama.rope.scaling.type=s:linear"), parts, &err));
  cr_expect_str_eq(err.message, "m.gguf: llama.rope.scaling.factor = 2: stands beside rope_freqs.weight: both at once "
                                "are not offered here");
  parts[1].numbers = ones;
  err = (rs_err){0};
  char *text = config_of(llama, NULL, parts, &err);
  cr_expect(text != NULL && strstr(text, "rope_scaling") == NULL, "factors of 1 are none");
  free(text);
  parts[1].extents[0] = 3;
  err = (rs_err){0};
  cr_expect_null(config_of(llama, NULL, parts, &err));
  cr_expect_str_eq(err.message,
                   "m.gguf: tensor \"rope_freqs.weight\": has 3 numbers, wanted is one for each of 4 pairs");
  parts[1] = (g_part){.name = "rope_freqs.weight", .extents = {4}};
  err = (rs_err){0};
  cr_expect_null(config_of(llama, NULL, parts, &err));
  cr_expect_str_eq(err.message, "m.gguf: tensor \"rope_freqs.weight\": factor 0 is 0: must be more than 0");
}
