/* test_hf.c: Hugging Face's config.json as models. One row a file of tests/data/hf; its README says what each is there
 * for. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ropescope/sweep.h"

/* The path of a file of tests/data/hf. Release with free(). */
static char *path_of(const char *name) {
  rs_text path = {0};
  rs_text_printf(&path, "%s/data/hf/%s", getenv("ROPESCOPE_TESTS"), name);
  return path.data;
}

static rs_status load(const char *name, rs_model *model, rs_err *err) {
  char *path = path_of(name);
  rs_status status = rs_hf_model_load(path, model, err);
  free(path);
  return status;
}

/* "" where no parameter is given; else " name=value" for each, in the order of the method. Release with free(). */
static char *given_of(const rs_recipe *recipe) {
  rs_text text = {0};
  rs_text_puts(&text, "");
  for (size_t p = 0; p < recipe->settings.count; p++) {
    if (!recipe->settings.values[p].given) continue;
    rs_text_printf(&text, "%s%s=", text.length > 0 ? " " : "", recipe->settings.params[p]->name);
    if (recipe->settings.values[p].count > 8)
      rs_text_printf(&text, "(%zu)", recipe->settings.values[p].count);
    else
      rs_value_write(recipe->settings.params[p], &recipe->settings.values[p], &text);
  }
  char *copy = strdup(rs_text_string(&text));
  rs_text_clear(&text);
  return copy;
}

enum { ANY = 0 }; /* no rotation: what base and rotary_dim hold is of no effect */

static const struct {
  const char *file, *name, *recipe, *given;
  size_t head_dim, heads;
  double theta;
  size_t rotary_dim, train, max;
  rs_pair_layout layout;
  size_t section[RS_AXES];
  rs_axis_layout axes;
} files[] = {
    {"llama-2.json", "llama", "rope", "", 128, 32, 10000, 128, 4096, 4096, RS_HALF_SPLIT, {0}, RS_AXES_CONTIGUOUS},
    {"llama-3.1.json",
     "llama",
     "llama3",
     "factor=8 low_freq_factor=1 high_freq_factor=4",
     128,
     32,
     500000,
     128,
     8192,
     131072,
     RS_HALF_SPLIT,
     {0},
     RS_AXES_CONTIGUOUS},
    {"linear-legacy.json",
     "llama",
     "pi",
     "factor=8",
     128,
     32,
     10000,
     128,
     4096,
     32768,
     RS_HALF_SPLIT,
     {0},
     RS_AXES_CONTIGUOUS},
    {"dynamic-legacy.json",
     "llama",
     "dynamic_ntk",
     "factor=2",
     128,
     32,
     10000,
     128,
     4096,
     8192,
     RS_HALF_SPLIT,
     {0},
     RS_AXES_CONTIGUOUS},
    {"qwen2.5-yarn.json",
     "qwen2",
     "yarn",
     "factor=4",
     128,
     28,
     1e6,
     128,
     32768,
     131072,
     RS_HALF_SPLIT,
     {0},
     RS_AXES_CONTIGUOUS},
    {"rope-parameters-flat.json",
     "qwen3",
     "yarn",
     "factor=4 beta_fast=64 beta_slow=2 attention_factor=1",
     128,
     16,
     1e6,
     128,
     32768,
     131072,
     RS_HALF_SPLIT,
     {0},
     RS_AXES_CONTIGUOUS},
    {"gemma-3-nested.json",
     "gemma3_text",
     "pi",
     "factor=8",
     256,
     8,
     1e6,
     256,
     32768,
     131072,
     RS_HALF_SPLIT,
     {0},
     RS_AXES_CONTIGUOUS},
    {"gemma-3-legacy.json",
     "gemma3_text",
     "pi",
     "factor=8",
     256,
     8,
     1e6,
     256,
     32768,
     131072,
     RS_HALF_SPLIT,
     {0},
     RS_AXES_CONTIGUOUS},
    {"phi-3-longrope.json",
     "phi3",
     "longrope",
     "short_factor=(48) long_factor=(48)",
     96,
     32,
     10000,
     96,
     4096,
     131072,
     RS_HALF_SPLIT,
     {0},
     RS_AXES_CONTIGUOUS},
    {"phi-3-su.json",
     "phi3",
     "longrope",
     "short_factor=[1, 1, 1, 1.05, 1.1, 1.1, 1.2, 1.25] long_factor=[1, 1.5, 2, 3, 4.5, 6, 7.5, 8]",
     16,
     4,
     10000,
     16,
     128,
     1024,
     RS_HALF_SPLIT,
     {0},
     RS_AXES_CONTIGUOUS},
    {"qwen2-vl-flat.json",
     "qwen2_vl",
     "mrope",
     "",
     128,
     28,
     1e6,
     128,
     32768,
     32768,
     RS_HALF_SPLIT,
     {16, 24, 24},
     RS_AXES_CONTIGUOUS},
    {"qwen2-vl-nested.json",
     "qwen2_vl_text",
     "mrope",
     "",
     128,
     28,
     1e6,
     128,
     32768,
     32768,
     RS_HALF_SPLIT,
     {16, 24, 24},
     RS_AXES_CONTIGUOUS},
    {"qwen3-vl.json",
     "qwen3_vl_text",
     "mrope",
     "",
     128,
     32,
     5e6,
     128,
     262144,
     262144,
     RS_HALF_SPLIT,
     {24, 20, 20},
     RS_AXES_INTERLEAVED},
    {"ernie-4.5-vl.json",
     "ernie4_5_vl_moe_text",
     "mrope",
     "",
     128,
     20,
     500000,
     128,
     131072,
     131072,
     RS_INTERLEAVED,
     {20, 22, 22},
     RS_AXES_SPATIAL_FIRST},
    {"deepseek-v3.json",
     "deepseek_v3",
     "yarn",
     "factor=40 beta_fast=32 beta_slow=1 mscale=1 mscale_all_dim=1 mscale_softmax=true",
     192,
     128,
     10000,
     64,
     4096,
     163840,
     RS_INTERLEAVED,
     {0},
     RS_AXES_CONTIGUOUS},
    {"deepseek-v3-saved.json",
     "deepseek_v3",
     "yarn",
     "factor=40 beta_fast=32 beta_slow=1 mscale=1 mscale_all_dim=1 mscale_softmax=true",
     48,
     8,
     10000,
     16,
     4096,
     163840,
     RS_INTERLEAVED,
     {0},
     RS_AXES_CONTIGUOUS},
    {"gpt-oss.json",
     "gpt_oss",
     "yarn",
     "factor=32 beta_fast=32 beta_slow=1 truncate=false",
     64,
     64,
     150000,
     64,
     4096,
     131072,
     RS_HALF_SPLIT,
     {0},
     RS_AXES_CONTIGUOUS},
    {"pythia.json", "gpt_neox", "rope", "", 128, 32, 10000, 32, 2048, 2048, RS_HALF_SPLIT, {0}, RS_AXES_CONTIGUOUS},
    {"gpt-j.json", "gptj", "rope", "", 256, 16, 10000, 64, 2048, 2048, RS_INTERLEAVED, {0}, RS_AXES_CONTIGUOUS},
    {"mpt.json", "mpt", "alibi", "bias_max=8", 128, 32, ANY, ANY, 2048, 2048, RS_HALF_SPLIT, {0}, RS_AXES_CONTIGUOUS},
    {"bloom.json", "bloom", "alibi", "", 128, 32, ANY, ANY, 0, 0, RS_HALF_SPLIT, {0}, RS_AXES_CONTIGUOUS},
    {"bloom-n-embed.json",
     "bloom",
     "alibi",
     "",
     128,
     112,
     ANY,
     ANY,
     2048,
     2048,
     RS_HALF_SPLIT,
     {0},
     RS_AXES_CONTIGUOUS},
    {"gpt2.json", "gpt2", "learned", "", 64, 12, ANY, ANY, 1024, 1024, RS_HALF_SPLIT, {0}, RS_AXES_CONTIGUOUS},
    {"falcon-alibi.json",
     "falcon",
     "alibi",
     "slope_factor=inv_sqrt_dim",
     64,
     32,
     ANY,
     ANY,
     2048,
     2048,
     RS_HALF_SPLIT,
     {0},
     RS_AXES_CONTIGUOUS},
    {"ministral-3.json",
     "ministral3",
     "yarn",
     "factor=16 beta_fast=32 beta_slow=1 mscale=1 mscale_all_dim=1 logit_scale=ministral logit_scale_factor=0.1 "
     "logit_scale_length=16384",
     128,
     32,
     1000000,
     128,
     16384,
     262144,
     RS_HALF_SPLIT,
     {0},
     RS_AXES_CONTIGUOUS},
    {"falcon-rope.json", "falcon", "rope", "", 64, 71, 10000, 64, 2048, 2048, RS_HALF_SPLIT, {0}, RS_AXES_CONTIGUOUS},
};

Test(hf, every_file__geometry_as_in_the_readme) {
  for (size_t i = 0; i < RS_COUNT(files); i++) {
    rs_model model;
    rs_err err = {0};
    cr_assert_eq(load(files[i].file, &model, &err), RS_OK, "%s: %s", files[i].file, err.message);
    cr_expect_str_eq(model.name, files[i].name, "%s: name %s", files[i].file, model.name);
    cr_expect_eq(model.head_dim, files[i].head_dim, "%s: head_dim %zu", files[i].file, model.head_dim);
    cr_expect_eq(model.heads, files[i].heads, "%s: heads %zu", files[i].file, model.heads);
    cr_expect_eq(model.train_length, files[i].train, "%s: train %zu", files[i].file, model.train_length);
    cr_expect_eq(model.max_length, files[i].max, "%s: max %zu", files[i].file, model.max_length);
    cr_expect_eq(model.pair_layout, files[i].layout, "%s: layout", files[i].file);
    cr_expect_eq(model.axis_layout, files[i].axes, "%s: axes", files[i].file);
    for (size_t a = 0; a < RS_AXES; a++)
      cr_expect_eq(model.mrope_section[a], files[i].section[a], "%s: section %zu", files[i].file, a);
    if (files[i].theta != ANY) {
      cr_expect_eq(model.rope_theta, files[i].theta, "%s: theta %g", files[i].file, model.rope_theta);
      cr_expect_eq(model.rotary_dim, files[i].rotary_dim, "%s: rotary_dim %zu", files[i].file, model.rotary_dim);
    }
    rs_model_clear(&model);
  }
}

Test(hf, every_file__recipe_as_in_the_readme) {
  for (size_t i = 0; i < RS_COUNT(files); i++) {
    rs_model model;
    rs_encoding *encoding = NULL;
    rs_err err = {0};
    cr_assert_eq(load(files[i].file, &model, &err), RS_OK, "%s: %s", files[i].file, err.message);
    cr_expect_str_eq(model.published.method->name, files[i].recipe, "%s", files[i].file);
    char *given = given_of(&model.published);
    cr_expect_str_eq(given, files[i].given, "%s: %s", files[i].file, given);
    free(given);
    cr_expect_eq(rs_recipe_check(&model.published, &model, &err), RS_OK, "%s: %s", files[i].file, err.message);
    cr_expect_eq(rs_encoding_create(&model.published, &model, 64, NULL, NULL, &encoding, &err), RS_OK, "%s: %s",
                 files[i].file, err.message);
    rs_encoding_free(encoding);
    rs_model_clear(&model);
  }
}

/* The same model as a preset and as a file gives the same frequencies. */
Test(hf, files_and_presets__same_tables) {
  static const struct {
    const char *file, *preset;
  } pairs[] = {{"llama-3.1.json", "llama-3.1-8b"},
               {"gpt-oss.json", "gpt-oss"},
               {"gpt-j.json", "gpt-j-6b"},
               {"pythia.json", "pythia-6.9b"},
               {"qwen2-vl-flat.json", "qwen2-vl"},
               {"qwen3-vl.json", "qwen3-vl-8b"},
               {"gemma-3-nested.json", "gemma-3"},
               {"phi-3-longrope.json", "phi-3-mini-128k"},
               {"mpt.json", "mpt-7b"},
               {"deepseek-v3.json", "deepseek-v3"}};
  for (size_t i = 0; i < RS_COUNT(pairs); i++)
    for (size_t length = 64; length <= 8256; length += 8192) {
      rs_model model[2];
      rs_encoding *made[2];
      rs_err err = {0};
      cr_assert_eq(load(pairs[i].file, &model[0], &err), RS_OK, "%s", err.message);
      cr_assert_eq(rs_preset_model(pairs[i].preset, &model[1], &err), RS_OK, "%s", err.message);
      for (size_t k = 0; k < 2; k++)
        cr_assert_eq(rs_encoding_create(&model[k].published, &model[k], length, NULL, NULL, &made[k], &err), RS_OK,
                     "%s", err.message);
      cr_expect_eq(made[0]->rotary_dim, made[1]->rotary_dim, "%s", pairs[i].file);
      cr_expect_eq(made[0]->amp, made[1]->amp, "%s: amp %g %g", pairs[i].file, made[0]->amp, made[1]->amp);
      cr_expect_eq(made[0]->logit_scale[9], made[1]->logit_scale[9], "%s: logit_scale %g, preset %g", pairs[i].file,
                   made[0]->logit_scale[9], made[1]->logit_scale[9]);
      for (size_t j = 0; j < made[0]->rotary_dim / 2; j++) {
        cr_expect_eq(made[0]->omega[j], made[1]->omega[j], "%s: pair %zu", pairs[i].file, j);
        cr_expect_eq(made[0]->axis[j], made[1]->axis[j], "%s: pair %zu", pairs[i].file, j);
      }
      for (size_t k = 0; k < 2; k++) {
        rs_encoding_free(made[k]);
        rs_model_clear(&model[k]);
      }
    }
}

/* The message after the file's name. */
static void expect_refused(const char *path, rs_status status, const char *message) {
  rs_model model;
  rs_err err = {0};
  rs_text want = {0};
  rs_text_printf(&want, "%s: %s", path, message);
  cr_expect_eq(rs_hf_model_load(path, &model, &err), status, "%s: %s", path, err.message);
  cr_expect_str_eq(err.message, want.data, "%s", err.message);
  cr_expect_eq(model.head_dim, 0, "%s: the model is not cleared", path);
  cr_expect_eq(model.published.method, NULL, "%s: the model is not cleared", path);
  rs_text_clear(&want);
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
     "hidden_size = 8 is no multiple of the 3 heads, and there is no head_dim"},
    {"{\"num_attention_heads\": 0, \"head_dim\": 8}", "num_attention_heads = 0: must be from 1 to 65536\n"},
    {"{\"num_attention_heads\": \"2\", \"head_dim\": 8}",
     "num_attention_heads = \"2\": must be a number, not text (take the quotes away)\n"},
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
     "rope_parameters = {...}: differs by layer type, and none is full_attention: not supported"},
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
    double value = rs_setting_number(&model.published.settings, spellings[i].param);
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
      cr_expect_eq(strncmp(err.message, want.data, want.length), 0, "%s: %s", texts[i].json, err.message);
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
