/* test_hf_texts.c: small texts as Hugging Face's config.json, spellings, and what is said of bad ones. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../fixtures/hf_files.h"
#include "../fixtures/places.h"
#include "run/run.h"

/* The message after the file's name. */
static void expect_refused(const char *path, rs_status status, const char *message) {
  rs_model model;
  rs_err err = {0};
  rs_text want = {0};
  rs_text_printf(&want, "%s: %s", path, message);
  cr_expect_eq(rs_hf_model_load(path, &model, &err), status, "%s: %s", path, err.message);
  cr_expect_str_eq(without_places(err.message), want.data, "%s", err.message);
  cr_expect_eq(model.head_dim, 0, "%s: the model is not cleared", path);
  cr_expect_eq(model.published.method, NULL, "%s: the model is not cleared", path);
  rs_text_clear(&want);
}

Test(hf, bad_value__is_said_with_its_place) {
  rs_model model;
  rs_err err = {0};
  char *path = path_of("bad-rope-type.json");
  cr_expect_eq(rs_hf_model_load(path, &model, &err), RS_INPUT);
  cr_expect_eq(strncmp(err.message + strlen(path), ":20:18: rope_scaling.rope_type = ", 33), 0, "%s", err.message);
  free(path);
}

Test(hf, bad_files__exact_messages) {
  static const struct {
    const char *file, *message;
  } cases[] = {
      {"bad-factor-string.json", "rope_scaling.factor = \"8.0\": must be a number, not text (take the quotes away)"},
      {"bad-rope-type.json", "rope_scaling.rope_type = \"yarm\": is no rope type (did you mean yarn?)"},
      {"bad-mrope-section.json", "rope_scaling.mrope_section = [...]: sums to 56, but rotary_dim / 2 = 64 pairs turn"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char *path = path_of(cases[i].file);
    expect_refused(path, RS_INPUT, cases[i].message);
    free(path);
  }
  char *missing = path_of("missing.json"), *folder = path_of("");
  expect_refused(missing, RS_IO, "cannot read: No such file or directory");
  expect_refused(folder, RS_IO, "cannot read: Is a directory");
  free(missing);
  free(folder);
}

/* Texts written to a file of their own, and what is said of them. NULL: accepted. */
static const struct {
  const char *json, *message;
} texts[] = {
    {"{\"num_attention_heads\": 2, \"hidden_size\": 8}", NULL},
    {"{}", "no attention geometry (num_attention_heads and hidden_size, or head_dim)"},
    {"[]", "no attention geometry (num_attention_heads and hidden_size, or head_dim)"},
    {"{\"num_attention_heads\": 3, \"hidden_size\": 8}",
     "hidden_size = 8: is no multiple of the 3 heads, and there is no head_dim"},
    {"{\"num_attention_heads\": 0, \"head_dim\": 8}", "num_attention_heads = 0: must be from 1 to 65536"},
    {"{\"num_attention_heads\": \"2\", \"head_dim\": 8}",
     "num_attention_heads = \"2\": must be a number, not text (take the quotes away)"},
    {"{\"num_attention_heads\": 2, \"head_dim\": 8, \"rope_scaling\": {\"type\": \"linear\"}}",
     "rope_scaling = {...}: needs factor for rope type linear"},
    {"{\"num_attention_heads\": 2, \"head_dim\": 8, \"rope_scaling\": {\"rope_type\": \"llama3\", \"factor\": 2, "
     "\"low_freq_factor\": 1}}",
     "rope_scaling = {...}: needs high_freq_factor for rope type llama3"},
    {"{\"num_attention_heads\": 2, \"head_dim\": 8, \"rope_parameters\": {\"rope_type\": \"zzz\"}}",
     "rope_parameters.rope_type = \"zzz\": is no rope type that is known here"},
    {"{\"num_attention_heads\": 2, \"head_dim\": 8, \"rope_scaling\": {\"type\": \"linear\", \"factor\": 0}}",
     "rope_scaling.factor = 0: must be from 1e-06 to 1000000000"},
    {"{\"num_attention_heads\": 2, \"head_dim\": 8, \"rope_scaling\": {\"type\": \"default\", \"mrope_section\": [4]}}",
     "rope_scaling.mrope_section = [...]: must have 3 entries (t, h, w)"},
    {"{\"num_attention_heads\": 2, \"head_dim\": 8, \"rope_scaling\": {\"type\": \"yarn\", \"ntk_factor\": 2}}",
     "rope_scaling.ntk_factor = 2: changes the numbers, and is not supported"},
    {"{\"num_attention_heads\": 2, \"head_dim\": 8, \"rope_ratio\": 500}",
     "rope_ratio = 500: changes the numbers, and is not supported"},
    {"{\"num_attention_heads\": 2, \"head_dim\": 8, \"rope_ratio\": 1}", NULL},
    {"{\"num_attention_heads\": 2, \"head_dim\": 8, \"rope_parameters\": {\"main\": {}, \"compress\": {}}}",
     "rope_parameters = {...}: differs by layer type, and none is full_attention (there are: main, compress)"},
    {"{\"model_type\": \"ernie4_5_vl\", \"num_attention_heads\": 2, \"head_dim\": 8, \"rope_scaling\": "
     "{\"mrope_section\": [1, 1, 2]}}",
     NULL},
    {"{\"num_attention_heads\": 2, \"head_dim\": 8, \"partial_rotary_factor\": 1e300}",
     "partial_rotary_factor = 1e+300: must be from 1e-06 to 1"},
    {"{\"num_attention_heads\": 2, \"head_dim\": 8, \"rope_parameters\": {\"llama_4_scaling_beta\": 0.1}}",
     "rope_parameters.llama_4_scaling_beta = 0.1: needs original_max_position_embeddings beside it"},
    {"{\"num_attention_heads\": 2, \"head_dim\": 8, \"rope_parameters\": {\"llama_4_scaling_beta\": -1, "
     "\"original_max_position_embeddings\": 4}}",
     "rope_parameters.llama_4_scaling_beta = -1: must be from 0 to 1000000"},
    {"{\"num_attention_heads\": 2, \"head_dim\": 8, \"rope_theta\": 0.5}",
     "rope_theta = 0.5: must be from 1.000001 to 1e+300"},
    {"{\"num_attention_heads\": 2, \"head_dim\": 8, \"partial_rotary_factor\": 0.7}",
     "head_dim = 8 and rotary_dim = 5 must be even: dims turn in pairs"},
};

/* What one family or spelling changes: the recipe, a parameter of it, head_dim, base, layout. */
static const struct {
  const char *json, *method, *param;
  double value, head_dim, theta;
  rs_pair_layout layout;
} spellings[] = {
    {"{\"rope_scaling\": {\"type\": \"dynamic\", \"alpha\": 1000, \"factor\": 1}}", "ntk", "factor", 1000, 8, 1e4,
     RS_HALF_SPLIT},
    {"{\"rope_parameters\": {\"full_attention\": {\"rope_type\": \"default\"}}, \"global_head_dim\": 16}", "rope",
     "rotary_dim", NAN, 16, 1e4, RS_HALF_SPLIT},
    {"{\"global_head_dim\": 16}", "rope", "rotary_dim", NAN, 8, 1e4, RS_HALF_SPLIT},
    {"{\"global_rope_theta\": 160000}", "rope", "rotary_dim", NAN, 8, 160000, RS_HALF_SPLIT},
    {"{\"model_type\": \"glm4_moe\"}", "rope", "rotary_dim", NAN, 8, 1e4, RS_HALF_SPLIT},
    {"{\"model_type\": \"glm4\"}", "rope", "rotary_dim", NAN, 8, 1e4, RS_INTERLEAVED},
    {"{\"model_type\": \"mpt\", \"attn_config\": {}}", "alibi", "slope_factor", 1, 8, 1e4, RS_HALF_SPLIT},
    {"{\"model_type\": \"mpt\", \"attn_config\": {\"alibi\": false}}", "learned", "init_sd", 0.02, 8, 1e4,
     RS_HALF_SPLIT},
    {"{\"model_type\": \"falcon\", \"alibi\": true}", "alibi", "slope_factor", NAN, 8, 1e4, RS_HALF_SPLIT},
    {"{\"rope_parameters\": {\"rope_type\": \"default\", \"llama_4_scaling_beta\": 0.25, "
     "\"original_max_position_embeddings\": 512}}",
     "rope", "logit_scale_factor", 0.25, 8, 1e4, RS_HALF_SPLIT},
    {"{\"rope_parameters\": {\"rope_type\": \"default\", \"llama_4_scaling_beta\": 0.25, "
     "\"original_max_position_embeddings\": 512}}",
     "rope", "logit_scale_length", 512, 8, 1e4, RS_HALF_SPLIT},
    {"{\"llama_4_scaling_beta\": 1, \"original_max_position_embeddings\": 64}", "rope", "logit_scale_factor", 1, 8, 1e4,
     RS_HALF_SPLIT},
    {"{\"rope_parameters\": {\"llama_4_scaling_beta\": null}}", "rope", "logit_scale_factor", NAN, 8, 1e4,
     RS_HALF_SPLIT},
};

Test(hf, spellings__change_what_they_say) {
  char name[] = "/tmp/ropescope-hf-XXXXXX";
  close(mkstemp(name));
  for (size_t i = 0; i < RS_COUNT(spellings); i++) {
    rs_model model;
    rs_err err = {0};
    rs_text json = {0};
    rs_text_printf(&json, "{\"num_attention_heads\": 2, \"head_dim\": 8, %s", spellings[i].json + 1);
    cr_assert_eq(rs_file_write(name, json.data, json.length, &err), RS_OK);
    cr_assert_eq(rs_hf_model_load(name, &model, &err), RS_OK, "%s: %s", json.data, err.message);
    double value = rs_setting(&model.published.settings, spellings[i].param)->number;
    cr_expect_str_eq(model.published.method->name, spellings[i].method, "%s", json.data);
    cr_expect(isnan(spellings[i].value) ? isnan(value) : fabs(value - spellings[i].value) < 1e-15, "%s: %g", json.data,
              value);
    cr_expect_eq(model.head_dim, spellings[i].head_dim, "%s: %zu", json.data, model.head_dim);
    cr_expect_eq(model.rope_theta, spellings[i].theta, "%s: %g", json.data, model.rope_theta);
    cr_expect_eq(model.pair_layout, spellings[i].layout, "%s", json.data);
    rs_model_clear(&model);
    rs_text_clear(&json);
  }
  unlink(name);
}

Test(hf, small_texts__accepted_or_exact_messages) {
  char name[] = "/tmp/ropescope-hf-XXXXXX";
  close(mkstemp(name));
  for (size_t i = 0; i < RS_COUNT(texts); i++) {
    rs_model model;
    rs_err err = {0};
    rs_text want = {0};
    cr_assert_eq(rs_file_write(name, texts[i].json, strlen(texts[i].json), &err), RS_OK);
    rs_status status = rs_hf_model_load(name, &model, &err);
    cr_expect_eq(status, texts[i].message != NULL ? RS_INPUT : RS_OK, "%s: %s", texts[i].json, err.message);
    rs_text_printf(&want, "%s: %s", name, texts[i].message != NULL ? texts[i].message : "");
    if (texts[i].message != NULL) /* further problems may follow on lines of their own */
      cr_expect_eq(strncmp(without_places(err.message), want.data, want.length), 0, "%s: %s", texts[i].json,
                   err.message);
    rs_model_clear(&model);
    rs_text_clear(&want);
  }
  unlink(name);
}

Test(hf, not_json__line_and_column) {
  static const char *const cases[] = {"", "{", "model: llama\n", "{\"a\": 1,}", "{\"a\": 1}\n{\"b\": 2}"};
  char name[] = "/tmp/ropescope-hf-XXXXXX";
  close(mkstemp(name));
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_model model;
    rs_err err = {0};
    unsigned line = 0, column = 0;
    cr_assert_eq(rs_file_write(name, cases[i], strlen(cases[i]), NULL), RS_OK);
    cr_expect_eq(rs_hf_model_load(name, &model, &err), RS_INPUT, "%s", cases[i]);
    cr_expect_eq(strncmp(err.message, name, strlen(name)), 0, "%s", err.message);
    cr_expect_eq(sscanf(err.message + strlen(name), ":%u:%u: ", &line, &column), 2, "%s", err.message);
    cr_expect(line >= 1 && line <= 2, "%s", err.message);
    cr_expect_null(strchr(err.message, '\n'), "%s", err.message);
  }
  unlink(name);
}

/* What a class leaves unsaid, and what its own keys mean (modeling_qwen.py, vLLM's baichuan.py, modeling_zamba2.py). */
Test(hf, families__have_their_own_ways) {
#define GEOMETRY "\"hidden_size\": 64, \"num_attention_heads\": 4, "
  static const struct {
    const char *json, *method, *settings;
    size_t heads, head_dim, trained, most;
  } cases[] = {
      {"{\"model_type\": \"llava\", \"text_config\": {\"model_type\": \"llama\"}}", "rope", "{name: rope}", 32, 128,
       2048, 2048},
      {"{\"model_type\": \"llava\", \"text_config\": {\"model_type\": \"llama\", \"max_position_embeddings\": 64}}",
       "rope", "{name: rope}", 32, 128, 64, 64},
      {"{\"model_type\": \"gemma3_text\", " GEOMETRY "\"head_dim\": 8}", "rope", "{name: rope}", 4, 8, 32768, 131072},
      {"{\"model_type\": \"qwen\", " GEOMETRY "\"seq_length\": 128, \"max_position_embeddings\": 512, "
       "\"use_dynamic_ntk\": true, \"use_logn_attn\": true}",
       "ntk", "{name: ntk, scale: qwen_dynamic, logit_scale: log_n}", 4, 16, 128, 512},
      {"{\"model_type\": \"qwen\", " GEOMETRY "\"seq_length\": 128, \"use_dynamic_ntk\": true}", "ntk",
       "{name: ntk, scale: qwen_dynamic}", 4, 16, 128, 128},
      {"{\"model_type\": \"qwen\", " GEOMETRY "\"seq_length\": 128, \"use_logn_attn\": true}", "rope",
       "{name: rope, logit_scale: log_n}", 4, 16, 128, 128},
      {"{\"model_type\": \"baichuan\", " GEOMETRY
       "\"model_max_length\": 128, \"architectures\": [\"BaichuanForCausalLM\"]}",
       "alibi", "{name: alibi}", 4, 16, 128, 128},
      {"{\"model_type\": \"baichuan\", \"hidden_size\": 4096, \"num_attention_heads\": 32, \"model_max_length\": 128, "
       "\"architectures\": [\"BaichuanForCausalLM\"]}",
       "rope", "{name: rope}", 32, 128, 128, 128},
      {"{\"model_type\": \"baichuan\", " GEOMETRY
       "\"max_position_embeddings\": 128, \"architectures\": [\"BaiChuanForCausalLM\"]}",
       "rope", "{name: rope}", 4, 16, 128, 128},
      {"{\"model_type\": \"zamba2\", " GEOMETRY "\"time_step_limit\": [0.0, Infinity]}", "nope", "{name: nope}", 4, 32,
       4096, 4096},
      {"{\"model_type\": \"zamba2\", " GEOMETRY "\"attention_head_dim\": 40, \"use_mem_rope\": true}", "rope",
       "{name: rope}", 4, 40, 4096, 4096},
      {"{\"model_type\": \"whisper\", \"d_model\": 64, \"decoder_attention_heads\": 4, \"max_target_positions\": 32}",
       "learned", "{name: learned}", 4, 16, 32, 32},
      {"{\"model_type\": \"longformer\", " GEOMETRY "\"max_position_embeddings\": 32}", "learned", "{name: learned}", 4,
       16, 32, 32},
      {"{\"model_type\": \"marian\", " GEOMETRY "\"max_position_embeddings\": 32}", "sinusoidal",
       "{name: sinusoidal, embedding_layout: halves}", 4, 16, 32, 32},
      {"{\"model_type\": \"m2m_100\", " GEOMETRY "\"max_position_embeddings\": 32}", "sinusoidal",
       "{name: sinusoidal, embedding_layout: tensor2tensor, embedding_offset: 2}", 4, 16, 32, 32},
      {"{\"model_type\": \"distilbert\", \"dim\": 64, \"n_heads\": 4, \"max_position_embeddings\": 32}", "learned",
       "{name: learned}", 4, 16, 32, 32},
      {"{\"model_type\": \"distilbert\", \"dim\": 64, \"n_heads\": 4, \"max_position_embeddings\": 32, "
       "\"sinusoidal_pos_embds\": true}",
       "sinusoidal", "{name: sinusoidal}", 4, 16, 32, 32},
      {"{\"model_type\": \"esm\", " GEOMETRY "\"max_position_embeddings\": 32}", "learned", "{name: learned}", 4, 16,
       32, 32},
      {"{\"model_type\": \"esm\", " GEOMETRY "\"max_position_embeddings\": 32, \"position_embedding_type\": "
       "\"rotary\"}",
       "rope", "{name: rope}", 4, 16, 32, 32},
      {"{\"model_type\": \"vit_mae\", " GEOMETRY "\"image_size\": 8, \"patch_size\": 2}", "sinusoidal_2d",
       "{name: sinusoidal_2d}", 4, 16, 0, 0},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_model model;
    rs_err err = {0};
    rs_text recipe = {0};
    cr_assert_eq(rs_hf_model_read(cases[i].json, strlen(cases[i].json), "f", &model, &err), RS_OK, "%s", err.message);
    rs_recipe_write(&model.published, &recipe);
    cr_expect_str_eq(model.published.method->name, cases[i].method, "%s", cases[i].json);
    cr_expect_str_eq(rs_text_string(&recipe), cases[i].settings, "%s", cases[i].json);
    cr_expect(model.heads == cases[i].heads && model.head_dim == cases[i].head_dim, "%s: %zu heads of %zu",
              cases[i].json, model.heads, model.head_dim);
    cr_expect(model.train_length == cases[i].trained && model.max_length == cases[i].most, "%s: %zu, %zu",
              cases[i].json, model.train_length, model.max_length);
    rs_text_clear(&recipe);
    rs_model_clear(&model);
  }
}

/* Bases, parts and layouts as the classes' own configuration_*.py have them. */
Test(hf, class_defaults__where_the_file_is_silent) {
  static const struct {
    const char *family;
    double theta;
    size_t rotary_dim;
    rs_pair_layout layout;
  } cases[] = {
      {"lfm2", 1e6, 16, RS_HALF_SPLIT},        {"longcat_flash", 1e7, 16, RS_INTERLEAVED},
      {"persimmon", 10000, 8, RS_HALF_SPLIT},  {"gpt_neox_japanese", 10000, 16, RS_HALF_SPLIT},
      {"gpt_neox", 10000, 4, RS_HALF_SPLIT},   {"recurrent_gemma", 10000, 8, RS_HALF_SPLIT},
      {"roformer", 10000, 16, RS_INTERLEAVED}, {"bitnet", 500000, 16, RS_HALF_SPLIT},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char json[160];
    rs_model model;
    rs_err err = {0};
    int length = snprintf(json, sizeof json, "{\"model_type\": \"%s\", " GEOMETRY "\"n_ctx\": 32}", cases[i].family);
    cr_assert_eq(rs_hf_model_read(json, (size_t)length, "f", &model, &err), RS_OK, "%s", err.message);
    cr_expect_str_eq(model.published.method->name, "rope", "%s", cases[i].family);
    cr_expect_eq(model.rope_theta, cases[i].theta, "%s: %g", cases[i].family, model.rope_theta);
    cr_expect_eq(model.rotary_dim, cases[i].rotary_dim, "%s: %zu", cases[i].family, model.rotary_dim);
    cr_expect_eq(model.pair_layout, cases[i].layout, "%s", cases[i].family);
    rs_model_clear(&model);
  }
}

/* Qwen3-VL's and Qwen3.5's classes have sections where the file is silent; where other pairs turn, they have none. */
Test(hf, class_sections__where_they_are_all_that_turns) {
#define HEADS(family, dims, more)                                                                                      \
  "{\"model_type\": \"" family "\", \"num_attention_heads\": 4, \"head_dim\": " dims more "}"
  static const struct {
    const char *json;
    size_t section[RS_AXES];
    rs_axis_layout axes;
  } cases[] = {
      {HEADS("qwen3_vl_text", "128", ""), {24, 20, 20}, RS_AXES_INTERLEAVED},
      {HEADS("qwen3_vl_text", "64", ""), {0, 0, 0}, RS_AXES_CONTIGUOUS},
      {HEADS("qwen3_5_text", "256", ""), {11, 11, 10}, RS_AXES_INTERLEAVED},
      {HEADS("qwen3_vl_text", "128",
             ", \"rope_scaling\": {\"rope_type\": \"default\", \"mrope_section\": [32, 16, 16], "
             "\"mrope_interleaved\": true}"),
       {32, 16, 16},
       RS_AXES_INTERLEAVED},
      {HEADS("qwen3", "128", ""), {0, 0, 0}, RS_AXES_CONTIGUOUS},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_model model;
    rs_err err = {0};
    cr_assert_eq(rs_hf_model_read(cases[i].json, strlen(cases[i].json), "f", &model, &err), RS_OK, "%s", err.message);
    for (size_t a = 0; a < RS_AXES; a++)
      cr_expect_eq(model.mrope_section[a], cases[i].section[a], "%s: axis %zu", cases[i].json, a);
    cr_expect_eq(model.axis_layout, cases[i].axes, "%s", cases[i].json);
    rs_model_clear(&model);
  }
}

Test(hf, what_is_not_read__says_what_it_is) {
  static const char *const cases[][2] = {
      {"{\"_class_name\": \"FluxTransformer2DModel\", \"_diffusers_version\": \"0.30\", \"num_attention_heads\": 24}",
       "f:1:17: FluxTransformer2DModel is a class of diffusers, whose configs are not read here: what they do with "
       "rows, columns and frames is in their code (a config can say it: model: {head_dim: 128, train_length: 4096}, "
       "tokens: [{image: [64, 64]}] and a method of two axes)"},
      {"{\"model_type\": \"zamba2\", " GEOMETRY "\"use_long_context\": true}",
       "f:1:91: use_long_context = true: changes the numbers, and is not supported"},
      {"{\"model_type\": \"llama\", " GEOMETRY "\"rope_theta\": Infinity}",
       "f:1:84: rope_theta = Infinity: must be a number"},
      {"{\"model_type\": \"deberta-v2\", " GEOMETRY "\"max_position_embeddings\": 32}",
       "f:1:16: deberta-v2: its attention adds products of queries, and of keys, with vectors of distances in buckets "
       "that matrices of the layer project (DeBERTa's disentangled attention): method shaw has neither buckets nor "
       "projections"},
      {"{\"model_type\": \"xlnet\", " GEOMETRY "\"max_position_embeddings\": 32}",
       "f:1:16: xlnet: its attention is that of method transformer_xl, but its class has terms of segments or "
       "pooled queries beside it, which are not offered here"},
      {"{\"model_type\": \"mamba2\", \"num_heads\": 4, \"head_dim\": 16}",
       "f:1:16: mamba2: it has no attention: there are no logits that positions could change"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_model model;
    rs_err err = {0};
    cr_expect_eq(rs_hf_model_read(cases[i][0], strlen(cases[i][0]), "f", &model, &err), RS_INPUT);
    cr_expect_str_eq(err.message, cases[i][1], "%s", err.message);
  }
}
