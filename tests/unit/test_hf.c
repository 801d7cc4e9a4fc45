/* test_hf.c: Hugging Face's config.json as models. One row a file of tests/data/hf; its README says what each is
 * there for. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "../fixtures/hf_files.h"
#include "run/run.h"

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
      rs_encoding *encodings[2];
      rs_err err = {0};
      cr_assert_eq(load(pairs[i].file, &model[0], &err), RS_OK, "%s", err.message);
      cr_assert_eq(rs_preset_model(pairs[i].preset, &model[1], &err), RS_OK, "%s", err.message);
      for (size_t k = 0; k < 2; k++)
        cr_assert_eq(rs_encoding_create(&model[k].published, &model[k], length, NULL, NULL, &encodings[k], &err), RS_OK,
                     "%s", err.message);
      cr_expect_eq(encodings[0]->rotary_dim, encodings[1]->rotary_dim, "%s", pairs[i].file);
      cr_expect_eq(encodings[0]->amp, encodings[1]->amp, "%s: amp %g %g", pairs[i].file, encodings[0]->amp,
                   encodings[1]->amp);
      cr_expect_eq(encodings[0]->logit_scale[9], encodings[1]->logit_scale[9], "%s: logit_scale %g, preset %g",
                   pairs[i].file, encodings[0]->logit_scale[9], encodings[1]->logit_scale[9]);
      for (size_t j = 0; j < encodings[0]->rotary_dim / 2; j++) {
        cr_expect_eq(encodings[0]->omega[j], encodings[1]->omega[j], "%s: pair %zu", pairs[i].file, j);
        cr_expect_eq(encodings[0]->axis[j], encodings[1]->axis[j], "%s: pair %zu", pairs[i].file, j);
      }
      for (size_t k = 0; k < 2; k++) {
        rs_encoding_free(encodings[k]);
        rs_model_clear(&model[k]);
      }
    }
}
