/* Files of classes that are not known here, of classes that read other keys, and keys of heads and factors that cannot
 * work: nothing is guessed in silence. Shapes as published, numbers of our own. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "advice/advice.h"

/* A file of eight layers and 32 heads of 64 dims, `more` behind the last key, on line 2. */
#define FILE_OF(type, more)                                                                                            \
  "{\"model_type\": \"" type "\", \"hidden_size\": 2048, \"num_attention_heads\": 32, \"num_hidden_layers\": 8, "      \
  "\"max_position_embeddings\": 131072,\n" more "}"
#define LLAMA(more) FILE_OF("llama", "\"rope_theta\": 10000.0, " more)

/* The findings at least this severe, as "RS407@1:16: text; ". */
static void describe(const char *json, rs_severity least, const char *engine, char *out, size_t size) {
  rs_findings findings;
  rs_err err = {0};
  uint32_t engines = 0;
  size_t used = 0;
  if (engine != NULL) cr_assert_eq(rs_config_engines_choose(engine, &engines, &err), RS_OK, "%s", err.message);
  cr_assert_eq(rs_check(json, strlen(json), "config.json", engines, &findings, &err), RS_OK, "%s", err.message);
  *out = '\0';
  for (size_t i = 0; i < findings.count && used < size; i++) {
    const rs_finding *f = &findings.items[i];
    if (f->severity < least || strcmp(f->rule->code, "RS703") == 0) continue;
    used += (size_t)snprintf(out + used, size - used, "%s@%zu:%zu: %s%s%s; ", f->rule->code, f->line, f->column,
                             f->text, *f->fix != '\0' ? " -> " : "", f->fix);
  }
  rs_findings_clear(&findings);
}

/* All that is found is `want`. */
static void finds(const char *json, rs_severity least, const char *engine, const char *want) {
  char got[4096];
  describe(json, least, engine, got, sizeof got);
  cr_expect_str_eq(got, want, "%s\ngot:  %s\nwant: %s", json, got, want);
}

/* What is found holds these words. */
static void says(const char *json, const char *engine, const char *words) {
  char got[4096];
  describe(json, RS_NOTE, engine, got, sizeof got);
  cr_expect_not_null(strstr(got, words), "%s\ngot:  %s\nwant: %s", json, got, words);
}

/* ---- classes ----------------------------------------------------------------------------------------------------- */

Test(check_guesses, unknown_class__is_said_with_the_keys_that_nobody_reads) {
  finds(FILE_OF("zebra_lm",
                "\"sliding_window\": 128, \"rope_parameters\": {\"rope_type\": \"default\", \"rope_theta\": "
                "10000.0}, \"layer_rope_theta\": [0, 10000]"),
        RS_WARNING, NULL,
        "RS407@1:16: class zebra_lm is unknown here and is read as a Llama; keys that are not read: sliding_window "
        "(mistral's class: layers 0-7 window 128), layer_rope_theta; ");
  /* Words anywhere in a name, large letters, keys in dictionaries, a dictionary that as a whole is not read. */
  finds(
      FILE_OF("zebra_lm", "\"rope_theta\": 5e5, \"zRotaryDims\": 3, \"logit_scaling\": 2.0, \"index_heads\": null, "
                          "\"yarn\": {\"factor\": 2}, \"rope_scaling\": {\"rope_type\": \"linear\", \"factor\": 2, "
                          "\"own_scale\": true}"),
      RS_WARNING, NULL,
      "RS407@1:16: class zebra_lm is unknown here and is read as a Llama; keys that are not read: zRotaryDims, "
      "logit_scaling, yarn, rope_scaling.own_scale; RS107@2:170: no rope type has a key own_scale: it changes nothing "
      "here, in transformers or in vLLM -> take it away, or correct its name; ");
  /* What most likely says something of positions comes first; an empty dictionary says nothing. */
  finds(FILE_OF("zebra_lm",
                "\"layer_norm_eps\": 1e-5, \"rope_theta\": 1e4, \"rope_parameters\": {}, \"layer_window\": 3"),
        RS_WARNING, NULL,
        "RS407@1:16: class zebra_lm is unknown here and is read as a Llama; keys that are not read: layer_window, "
        "layer_norm_eps; ");
  /* A pattern speaks for itself, and is read. */
  finds(FILE_OF("zebra_lm", "\"rope_theta\": 5e5, \"sliding_window\": 128, \"sliding_window_pattern\": 4"), RS_WARNING,
        NULL, "RS407@1:16: class zebra_lm is unknown here and is read as a Llama; ");
  finds(
      "{\"hidden_size\": 64, \"num_attention_heads\": 2, \"rope_theta\": 1e4, \"max_position_embeddings\": 64, "
      "\"sliding_window\": 8}",
      RS_WARNING, NULL,
      "RS407@0:0: there is no model_type, so the file is read as a Llama's; keys that are not read: sliding_window; ");
}

Test(check_guesses, names__are_known_whole) {
  static const char *const beginnings[] = {"llama5", "gpt2_rope", "bert_v9", "qwen3_6", "jais_next", "t5x"};
  for (size_t i = 0; i < RS_COUNT(beginnings); i++) {
    char json[512], want[128];
    snprintf(json, sizeof json,
             "{\"model_type\": \"%s\", \"hidden_size\": 64, \"num_attention_heads\": 2, "
             "\"rope_theta\": 1e4, \"max_position_embeddings\": 64}",
             beginnings[i]);
    snprintf(want, sizeof want, "RS407@1:16: class %s is unknown here and is read as a Llama; ", beginnings[i]);
    finds(json, RS_WARNING, NULL, want);
  }
  cr_expect(rs_hf_knows("jais2") && rs_hf_knows("gemma3_text") && rs_hf_knows("granitemoe_swa"));
  cr_expect_not(rs_hf_knows("") || rs_hf_knows("gemma3_") || rs_hf_knows("llama ") || rs_hf_knows("bert bert"));
  cr_expect(rs_hf_is_of("gemma3_text", "gemma3") && rs_hf_is_of("gemma3", "gemma3"));
  cr_expect_not(rs_hf_is_of("gemma3n", "gemma3") || rs_hf_is_of("gemma3", "gemma") || rs_hf_is_of("zebra", ""));
  cr_expect(rs_hf_is_first_in_5("afmoe") && rs_hf_is_first_in_5("apertus1p5_text") && rs_hf_is_of("afmoe", "afmoe"));
  cr_expect_not(rs_hf_is_first_in_5("apertus") || rs_hf_is_first_in_5("llama") || rs_hf_knows("*afmoe"));
}

Test(check_guesses, embeddings__leave_no_key_of_rotation_in_silence) {
  finds(FILE_OF("gpt2", "\"rope_theta\": 10000.0, \"rotary_dim\": 32, \"layer_norm_epsilon\": 1e-5"), RS_WARNING, NULL,
        "RS407@1:16: class gpt2 adds embeddings of positions and turns nothing; keys that are not read: rope_theta, "
        "rotary_dim; ");
  finds(FILE_OF("gpt2", "\"layer_norm_epsilon\": 1e-5"), RS_WARNING, NULL, "");
  finds(FILE_OF("jais2", "\"rope_parameters\": {\"rope_type\": \"default\", \"rope_theta\": 500000.0}"), RS_NOTE, NULL,
        "");
}

Test(check_guesses, params__are_refused_by_name) {
  finds("{\"dim\": 64, \"n_layers\": 2, \"n_heads\": 2, \"hidden_dim\": 128, \"rope_theta\": 1e6}", RS_NOTE, NULL,
        "RS901@1:1: dim, n_layers and n_heads without a model_type: this is a params.json of Mistral's or Meta's own "
        "code, which is not read here, and no config.json; ");
}

/* Files of 2 layers; what a reader of the key would do is found by reading, not said by rote. */
#define SMALL(type, more)                                                                                              \
  "{\"model_type\": \"" type "\", \"hidden_size\": 64, \"num_attention_heads\": 2, \"num_hidden_layers\": 2, "         \
  "\"max_position_embeddings\": 64, " more "}"

Test(check_guesses, unread_keys__with_what_they_would_change) {
  says(SMALL("zebra_lm", "\"rope_theta\": 1e4, \"layer_rope_theta\": [0, 500]"), NULL,
       "not read: layer_rope_theta (granite_swa's class: layers 0 turn nothing; 1 base 500); ");
  says(SMALL("zebra_lm", "\"rope_theta\": 1e4, \"layer_rope_theta\": [10000, 10000]"), NULL,
       "not read: layer_rope_theta; ");
  says(SMALL("zebra_lm", "\"rope_theta\": 1e4, \"attention_chunk_size\": 16"), NULL,
       "not read: attention_chunk_size (llama4_text's class: layers 0-1 chunks of 16); ");
  says(SMALL("zebra_lm", "\"rope_theta\": 1e4, \"sliding_window\": 5000, \"sliding_window_stride\": 4"), NULL,
       "not read: sliding_window (mistral's class: layers 0-1 window 5000), sliding_window_stride; ");
}

/* ---- architectures ----------------------------------------------------------------------------------------------- */

#define OF_CLASS(name, more) "\"architectures\": [\"" name "\"], " more

Test(check_guesses, classes__are_known_whole) {
  static const struct {
    const char *name, *type;
  } cases[] = {{"LlamaForCausalLM", "llama"},
               {"GPT2LMHeadModel", "gpt2"},
               {"Gemma3TextModel", "gemma3_text"},
               {"Gemma3ForConditionalGeneration", "gemma3"},
               {"HunYuanDenseV1ForCausalLM", "hunyuan_v1_dense"},
               {"Qwen2_5_VLForConditionalGeneration", "qwen2_5_vl"},
               {"Jais2ForCausalLM", "jais2"},
               {"JAISLMHeadModel", "jais"},
               {"xLSTMModel", "xlstm"}};
  static const char *const others[] = {
      "Llama", "LlamaForCausalLMX", "Llama5ForCausalLM", "llamaForCausalLM", "ForCausalLM",
      "",      "Gemma3nTextForAll", "LlamaForEverything"};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    cr_expect_str_eq(rs_hf_type_of_class(cases[i].name), cases[i].type, "%s", cases[i].name);
    cr_expect(rs_hf_knows(cases[i].type), "%s", cases[i].type);
  }
  for (size_t i = 0; i < RS_COUNT(others); i++) cr_expect_null(rs_hf_type_of_class(others[i]), "%s", others[i]);
}

/* model_type says what a file is where it is known, else architectures do, which a warning says. */
Test(check_guesses, architectures__stand_for_a_model_type) {
  static const struct {
    const char *json, *class;
    double theta;
  } cases[] = {
      {SMALL("llama", "\"x\": 0"), "llama, by model_type", 1e4},
      {SMALL("cohere", "\"x\": 0"), "cohere, by model_type", 5e5},
      {"{" OF_CLASS("CohereForCausalLM", "\"hidden_size\": 64, \"num_attention_heads\": 2, \"num_hidden_layers\": 2}"),
       "cohere, by architectures (CohereForCausalLM)", 5e5},
      {SMALL("zebra_lm", OF_CLASS("CohereForCausalLM", "\"x\": 0")),
       "cohere, by architectures (CohereForCausalLM), model_type is not known: zebra_lm", 5e5},
      {SMALL("zebra_lm", OF_CLASS("ZebraForCausalLM", "\"x\": 0")), "zebra_lm is not known: read as a Llama", 1e4},
      {"{\"hidden_size\": 64, \"num_attention_heads\": 2, \"max_position_embeddings\": 64}",
       "not said: read as a Llama", 1e4},
      {"{\"model_type\": \"llava\", \"text_config\": " SMALL("cohere", "\"x\": 0") "}",
       "cohere, by text_config.model_type", 5e5},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_portrait portrait;
    rs_err err = {0};
    cr_assert_eq(rs_portrait_read(cases[i].json, strlen(cases[i].json), "c", NULL, &portrait, &err), RS_OK, "%s",
                 err.message);
    cr_expect_str_eq(portrait.class, cases[i].class);
    cr_expect_eq(portrait.model->rope_theta, cases[i].theta);
    rs_portrait_clear(&portrait);
  }
  finds(SMALL("zebra_lm", OF_CLASS("CohereForCausalLM", "\"rope_theta\": 1e4")), RS_WARNING, NULL,
        "RS407@1:16: class zebra_lm is unknown here and is read as cohere, which architectures name; ");
}

/* Two classes are told where they part: transformers goes by one, vLLM by the other. */
/* What is no word, and a class that is not known, beside no model_type at all. */
Test(check_guesses, classes__that_are_none) {
#define UNTYPED(more)                                                                                                  \
  "{" more "\"hidden_size\": 64, \"num_attention_heads\": 2, \"rope_theta\": 1e4, \"max_position_embeddings\": 64}"
  finds(UNTYPED("\"model_type\": [\"llama\"], "), RS_WARNING, NULL, "RS901@1:16: model_type = [...]: must be a word; ");
  finds(UNTYPED("\"architectures\": [\"ZebraForCausalLM\"], "), RS_WARNING, NULL,
        "RS407@0:0: class ZebraForCausalLM is unknown here and is read as a Llama; ");
  finds(UNTYPED("\"architectures\": [\"LlamaForCausalLM\"], "), RS_WARNING, NULL, "");
  finds(UNTYPED("\"architectures\": \"LlamaForCausalLM\", "), RS_WARNING, NULL, "");
  finds(UNTYPED(""), RS_WARNING, NULL, "");
}

Test(check_guesses, two_classes__that_read_otherwise) {
  const char *two = "RS408@1:16: model_type is llama, and architectures name a class of cohere, which reads the file "
                    "otherwise: transformers goes by the former, vLLM and SGLang by the latter -> let the two name one "
                    "class; ";
  finds(SMALL("llama", OF_CLASS("CohereForCausalLM", "\"rope_theta\": 1e4")), RS_WARNING, NULL, two);
  finds(SMALL("llama", OF_CLASS("Qwen3ForCausalLM", "\"rope_theta\": 1e4, \"head_dim\": 32")), RS_WARNING, NULL, "");
  finds(SMALL("kimi_k2", OF_CLASS("DeepseekV3ForCausalLM", "\"rope_theta\": 1e4")), RS_WARNING, NULL, "");
  finds(SMALL("llama", OF_CLASS("ZebraForCausalLM", "\"rope_theta\": 1e4")), RS_WARNING, NULL, "");
}

/* ---- keys without effect ----------------------------------------------------------------------------------------- */

Test(check_guesses, keys_without_effect__are_told_of_known_classes) {
#define NOTHING(at, key) "RS902@" at ": " key " changes nothing beside what else the file says; "
  finds(SMALL("nemotron_h", "\n\"rope_theta\": 1e4"), RS_NOTE, NULL, NOTHING("2:15", "rope_theta"));
  finds(SMALL("llama", "\"rope_theta\": 1e4,\n\"sliding_window\": 16"), RS_NOTE, NULL,
        NOTHING("2:19", "sliding_window"));
  finds(SMALL("llama", "\"rope_theta\": 1e4,\n\"layer_rope_theta\": [0, 10000]"), RS_NOTE, NULL,
        NOTHING("2:21", "layer_rope_theta"));
  finds(SMALL("granite_swa", "\"layer_rope_theta\": [0, 10000],\n\"rope_parameters\": {\"rope_theta\": 500}"), RS_NOTE,
        NULL,
        "RS801@0:0: layers turn in several ways: what is said of the recipe is of sliding_attention (layers 1), not "
        "full_attention (0); " NOTHING("2:20", "rope_parameters"));
  /* What is read, what is off, and what is a copy. */
  finds(SMALL("mistral", "\"rope_theta\": 1e4, \"sliding_window\": 16"), RS_NOTE, NULL, "");
  finds(SMALL("qwen2", "\"rope_theta\": 1e4, \"sliding_window\": 16, \"use_sliding_window\": false"), RS_NOTE, NULL,
        "");
  finds(SMALL("gemma2", "\"rope_theta\": 1e4, \"sliding_window\": 16, \"sliding_window_size\": 16"), RS_NOTE, NULL, "");
  finds(SMALL("llama", "\"rope_theta\": 1e4, \"rope_parameters\": {\"rope_theta\": 1e4, \"rope_type\": \"default\"}"),
        RS_NOTE, NULL, "");
}

/* ---- heads ------------------------------------------------------------------------------------------------------- */

Test(check_guesses, heads_of_keys__divide_those_of_queries) {
  static const struct {
    const char *written, *want;
  } cases[] = {
      {"1", ""},
      {"8", ""},
      {"32", ""},
      {"null", ""},
      {"0", "RS901@2:47: num_key_value_heads = 0: must be from 1 to 65536; "},
      {"-1", "RS901@2:47: num_key_value_heads = -1: must be from 1 to 65536; "},
      {"5", "RS901@2:47: num_key_value_heads = 5: must divide the 32 heads that share them; "},
      {"64", "RS901@2:47: num_key_value_heads = 64: must divide the 32 heads that share them; "},
      {"\"8\"", "RS901@2:47: num_key_value_heads = \"8\": must be a number, not text (take the quotes away); "},
      {"1e99", "RS901@2:47: num_key_value_heads = 1e+99: is too large (at most 2^53); "},
      {"2.5", "RS901@2:47: num_key_value_heads = 2.5: must be a whole number; "},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char json[512];
    snprintf(json, sizeof json, LLAMA("\"num_key_value_heads\": %s"), cases[i].written);
    finds(json, RS_WARNING, NULL, cases[i].want);
  }
}

/* The same by the other names that classes have for it, beside the flags that make them count. */
Test(check_guesses, heads_of_keys__by_every_name) {
#define MUST(key, count, heads) "= " count ": must divide the " heads " heads that share them; "
  static const struct {
    const char *json, *words; /* NULL: nothing is wrong */
  } cases[] = {
      {LLAMA("\"num_key_value_heads\": [8, 5]"), "num_key_value_heads[1] " MUST("", "5", "32")},
      {LLAMA("\"num_key_value_heads\": [8, 4]"), NULL},
      {FILE_OF("chatglm", "\"multi_query_attention\": true, \"multi_query_group_num\": 5"), MUST("", "5", "32")},
      {FILE_OF("chatglm", "\"multi_query_attention\": false, \"multi_query_group_num\": 5"), NULL},
      {FILE_OF("dbrx", "\"attn_config\": {\"kv_n_heads\": 5}"), "attn_config.kv_n_heads " MUST("", "5", "32")},
      {FILE_OF("mpt", "\"attn_config\": {\"attn_type\": \"grouped_query_attention\", \"kv_n_heads\": 6}"),
       MUST("", "6", "32")},
      {FILE_OF("mpt", "\"attn_config\": {\"attn_type\": \"multihead_attention\", \"kv_n_heads\": 6}"), NULL},
      {FILE_OF("falcon", "\"new_decoder_architecture\": true, \"num_kv_heads\": 5"), MUST("", "5", "32")},
      {FILE_OF("falcon", "\"num_kv_heads\": 71"), NULL},
      {FILE_OF("gemma4_text", "\"num_global_key_value_heads\": 5"), MUST("", "5", "32")},
      {FILE_OF("mimo_v2_flash", "\"swa_num_attention_heads\": 64, \"swa_num_key_value_heads\": 5"),
       MUST("", "5", "64")},
      {FILE_OF("mimo_v2_flash", "\"swa_num_attention_heads\": 64, \"swa_num_key_value_heads\": 64"), NULL},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char got[4096];
    describe(cases[i].json, RS_ERROR, NULL, got, sizeof got);
    bool right = cases[i].words == NULL ? *got == '\0' : strstr(got, cases[i].words) != NULL;
    cr_expect(right, "%s\n%s", cases[i].json, got);
  }
}

/* A width that heads do not divide is named by its key, once; heads that turn nothing may be odd. */
Test(check_guesses, widths__that_no_head_divides) {
#define WIDTH(type, more) "{\"model_type\": \"" type "\",\n" more ", \"max_position_embeddings\": 64}"
  finds(WIDTH("gpt2", "\"n_embd\": 65, \"n_head\": 9"), RS_WARNING, NULL,
        "RS901@2:11: n_embd = 65: is no multiple of the 9 heads, and there is no head_dim; ");
  finds(WIDTH("llama", "\"rope_theta\": 1e4, \"hidden_size\": 100, \"num_attention_heads\": 8"), RS_WARNING, NULL,
        "RS901@2:35: hidden_size = 100: is no multiple of the 8 heads, and there is no head_dim; ");
  finds(WIDTH("llama", "\"rope_theta\": 1e4, \"hidden_size\": 100, \"num_attention_heads\": 8, \"head_dim\": 16"),
        RS_WARNING, NULL, "");
  finds(WIDTH("llama", "\"rope_theta\": 1e4, \"hidden_size\": 0, \"num_attention_heads\": 8"), RS_WARNING, NULL,
        "RS901@2:35: hidden_size = 0: must be from 1 to 16777216; ");
  finds(WIDTH("gpt2", "\"n_embd\": 63, \"n_head\": 9"), RS_WARNING, NULL, "");
  finds(WIDTH("llama", "\"rope_theta\": 1e4, \"hidden_size\": 63, \"num_attention_heads\": 9"), RS_WARNING, NULL,
        "RS901@1:1: head_dim = 7 and rotary_dim = 7 must be even: dims turn in pairs; ");
}

Test(check_guesses, types_of_layers__are_words) {
  static const char *const lists[] = {"[\"full_attention\", 3]",     "[\"full_attention\", null]",
                                      "[\"full_attention\", true]",  "[\"full_attention\", \"\"]",
                                      "[\"full_attention\", [1]]",   "\"full_attention\"",
                                      "{\"0\": \"full_attention\"}", "7"};
  for (size_t i = 0; i < RS_COUNT(lists); i++) {
    char json[512], got[4096];
    snprintf(json, sizeof json, SMALL("llama", "\"rope_theta\": 1e4, \"layer_types\": %s"), lists[i]);
    describe(json, RS_ERROR, NULL, got, sizeof got);
    cr_expect(*got != '\0', "%s", json);
  }
  finds(SMALL("llama", "\"rope_theta\": 1e4, \"layer_types\": [\"full_attention\", \"full_attention\"]"), RS_NOTE, NULL,
        "");
}

/* ---- factors ----------------------------------------------------------------------------------------------------- */

#define SCALED(type, more) LLAMA("\"rope_scaling\": {\"rope_type\": \"" type "\", " more "}")

Test(check_guesses, factors__that_no_length_grows_by) {
  finds(SCALED("linear", "\"factor\": 0"), RS_WARNING, NULL,
        "RS203@2:74: the factor is 0: a length cannot grow by it, and transformers wants at least 1 -> write how many "
        "times as long the context is to be; ");
  finds(SCALED("linear", "\"factor\": -4"), RS_WARNING, NULL,
        "RS203@2:74: the factor is -4: a length cannot grow by it, and transformers wants at least 1 -> write how many "
        "times as long the context is to be; ");
  says(SCALED("linear", "\"factor\": 0.5"), NULL, "write 2 if the context is to grow");
  finds(SCALED("linear", "\"factor\": null"), RS_WARNING, NULL,
        "RS108@2:74: factor is null, which is no number: it is missing, and rope type linear needs it -> write a "
        "number; ");
  says(SCALED("yarn", "\"factor\": null, \"original_max_position_embeddings\": 4096"), NULL,
       "RS108@2:72: factor is null, which is no number: it is missing, and rope type yarn then takes the ratio of the "
       "lengths -> write a number, or take the key away");
}

/* Numbers that are not read are an error, and nothing else is worked out of them. */
Test(check_guesses, numbers_out_of_range__are_told_once) {
#define YARN_OF(more) SCALED("yarn", "\"original_max_position_embeddings\": 32768, \"factor\": 4, " more)
#define OUT(at, key, number, range) "RS901@2:" at ": rope_scaling." key " = " number ": must be from " range "; "
  finds(YARN_OF("\"attention_factor\": 0"), RS_WARNING, NULL, OUT("138", "attention_factor", "0", "1e-06 to 1000000"));
  finds(YARN_OF("\"attention_factor\": -1"), RS_WARNING, NULL,
        OUT("138", "attention_factor", "-1", "1e-06 to 1000000"));
  finds(YARN_OF("\"beta_fast\": -1"), RS_WARNING, NULL, OUT("131", "beta_fast", "-1", "1e-06 to 1000000000"));
  finds(YARN_OF("\"attn_factor\": -2"), RS_WARNING, NULL, OUT("133", "attn_factor", "-2", "1e-06 to 1000000"));
  finds(YARN_OF("\"mscale\": -1, \"mscale_all_dim\": 1"), RS_WARNING, NULL, OUT("128", "mscale", "-1", "0 to 100"));
  finds(SCALED("yarn", "\"factor\": 4, \"original_max_position_embeddings\": 0"), RS_WARNING, NULL,
        OUT("111", "original_max_position_embeddings", "0", "1 to 268435456"));
  finds(SCALED("yarn", "\"factor\": 1e300, \"original_max_position_embeddings\": 4096"), RS_WARNING, NULL,
        OUT("72", "factor", "1e+300", "1e-06 to 1000000000"));
  const char *sizes[] = {"1e-320", "1e-7", "-0.25"};
  for (size_t i = 0; i < RS_COUNT(sizes); i++) {
    char json[512], got[4096];
    snprintf(json, sizeof json, SCALED("linear", "\"factor\": %s"), sizes[i]);
    describe(json, RS_WARNING, NULL, got, sizeof got);
    cr_expect_not_null(strstr(got, "RS203"), "%s", got);
    cr_expect(strstr(got, "inf") == NULL && strstr(got, "-> write -") == NULL, "%s", got);
  }
  /* What is read is worked with. */
  says(YARN_OF("\"attention_factor\": 2"), NULL, "RS301");
  says(YARN_OF("\"beta_fast\": 0.5"), NULL, "swap them");
  says(SCALED("yarn", "\"factor\": 8, \"original_max_position_embeddings\": 32768"), NULL, "write 4, or");
}

#define HUNYUAN_KEYS "\"beta_fast\": 32, \"beta_slow\": 1, \"factor\": 1.0, \"mscale\": 1.0, \"mscale_all_dim\": 1.0"

Test(check_guesses, alpha__scales_beside_a_factor_of_1) {
  char got[4096];
  const char *with = FILE_OF("hunyuan_v1_dense", "\"rope_theta\": 10000.0, \"rope_scaling\": {\"type\": \"dynamic\", "
                                                 "\"alpha\": 1000.0, " HUNYUAN_KEYS "}");
  finds(with, RS_WARNING, NULL, "");
  describe(with, RS_NOTE, NULL, got, sizeof got);
  cr_expect_null(strstr(got, "RS204"), "%s", got);
  says(SCALED("dynamic", HUNYUAN_KEYS), NULL, "RS204");
  says(SCALED("dynamic", HUNYUAN_KEYS), NULL, "take it away, or correct the rope_type");
}

/* ---- engines ----------------------------------------------------------------------------------------------------- */

#define LLAMA3                                                                                                         \
  "\"rope_parameters\": {\"rope_type\": \"llama3\", \"rope_theta\": 500000.0, \"factor\": 8.0, \"low_freq_factor\": "  \
  "1.0, \"high_freq_factor\": 4.0, \"original_max_position_embeddings\": 8192}"
#define FIX_BEFORE_5 "write rope_theta and rope_scaling beside rope_parameters: releases before 5 read these"

Test(check_guesses, rope_parameters__are_not_read_before_5) {
  says(FILE_OF("llama", LLAMA3), "transformers@4.52", "transformers before 5: 31 of 32 frequencies differ");
  says(FILE_OF("llama", LLAMA3), "transformers@4.57", FIX_BEFORE_5);
  finds(FILE_OF("llama", LLAMA3), RS_WARNING, "transformers@5.5", "");
  finds(FILE_OF("llama", LLAMA3), RS_WARNING, NULL, "");
  /* Keys that they do read stand beside it, or say the same as the class. */
  finds(LLAMA(LLAMA3), RS_WARNING, "transformers@5.0", "RS402@2:81: 500000 here and 10000 on line 2 -> keep one; ");
  finds(FILE_OF("llama", "\"rope_parameters\": {\"rope_type\": \"default\", \"rope_theta\": 10000.0}"), RS_WARNING,
        "transformers@4.52", "");
  /* A class that no release before 5 has, and one that is not known. */
  finds(FILE_OF("zebra_lm", LLAMA3), RS_WARNING, "transformers@4.52",
        "RS407@1:16: class zebra_lm is unknown here and is read as a Llama; ");
  finds(FILE_OF("jais2", LLAMA3), RS_WARNING, "transformers@4.52", "");
}

Test(check_guesses, olmo3__its_windows_turned_otherwise_in_releases) {
  const char *file = FILE_OF("olmo3", "\"rope_theta\": 500000, \"rope_scaling\": {\"rope_type\": \"yarn\", \"factor\": "
                                      "8.0, \"original_max_position_embeddings\": 8192, \"attention_factor\": 1.25}");
  says(file, "transformers@5.5",
       "transformers 5.0 to 5.12 turn the sliding_attention layers, too, as rope_scaling says "
       "for the others");
  says(file, "transformers@5.5",
       "cos and sin are multiplied by 1.25, not 1 -> use transformers 5.13 or later, or 4.57");
  char got[4096];
  describe(file, RS_NOTE, "vllm", got, sizeof got);
  cr_expect_null(strstr(got, "RS607"), "%s", got);
}

Test(check_guesses, apply_yarn_scaling__leaves_cos_and_sin_in_vllm) {
  const char *file =
      LLAMA("\"rope_scaling\": {\"rope_type\": \"yarn\", \"factor\": 8.0, \"apply_yarn_scaling\": false, "
            "\"original_max_position_embeddings\": 16384}");
  says(file, "vllm@0.11", "cos and sin are multiplied by 1, not 1.20794");
  const char *with = LLAMA("\"rope_scaling\": {\"rope_type\": \"yarn\", \"factor\": 8.0, \"apply_yarn_scaling\": true, "
                           "\"original_max_position_embeddings\": 16384}");
  finds(with, RS_WARNING, "vllm@0.11", "");
}
