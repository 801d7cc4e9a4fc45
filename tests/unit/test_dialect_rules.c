/* Dialects: what each sets, against what it may stand, and how far two of them differ. */
#include "../golden.h"

Test(dialects, table__each_entry__names_methods_and_parameters_that_exist) {
  size_t count, methods;
  const rs_dialect *dialects = rs_dialects(&count);
  const rs_method *all = rs_methods(&methods);
  cr_assert_gt(count, 0);
  for (size_t d = 0; d < count; d++) {
    size_t fitting = 0;
    for (size_t m = 0; m < methods; m++) {
      if (!rs_dialect_fits(&dialects[d], &all[m])) continue;
      rs_recipe recipe = make_recipe(all[m].name, "");
      recipe_set_word(&recipe, "dialect", dialects[d].name);
      for (size_t i = 0; i < RS_COUNT(dialects[d].settings) && dialects[d].settings[i].name != NULL; i++) {
        int index = rs_settings_find(&recipe.settings, dialects[d].settings[i].name);
        cr_assert_geq(index, 0, "%s: %s has no %s", dialects[d].name, all[m].name, dialects[d].settings[i].name);
      }
      fitting++;
      rs_recipe_clear(&recipe);
    }
    cr_assert_gt(fitting, 0u, "%s %s fits no method", dialects[d].name, dialects[d].method);
    cr_assert(dialects[d].summary != NULL && dialects[d].reference != NULL);
  }
}

Test(dialects, resolve__given_published_and_default__in_that_order) {
  rs_model model = plain_model(16, 1e4, 64);
  model.published = make_recipe("yarn", "factor=4 truncate=false attention_factor=1 attn_factor=2");
  static const struct {
    const char *settings;
    double truncate, attention, attn;
  } cases[] = {{"", 0, 1, 2},
               {"dialect=hf", 0, 1, 1},
               {"dialect=vllm", 0, NAN, 2},
               {"dialect=sglang", 0, NAN, 2},
               {"dialect=llamacpp", 1, NAN, 2},
               {"dialect=llamacpp truncate=true", 1, NAN, 2},
               {"dialect=vllm truncate=true attn_factor=3", 1, NAN, 3}};
  for (size_t c = 0; c < RS_COUNT(cases); c++) {
    rs_recipe recipe = make_recipe("yarn", cases[c].settings);
    rs_err err = {0};
    cr_assert_eq(rs_recipe_resolve(&recipe, &model, &err), RS_OK, "%s: %s", cases[c].settings, err.message);
    const double got[] = {
        rs_setting(&recipe.settings, "truncate")->number, rs_setting(&recipe.settings, "attention_factor")->number,
        rs_setting(&recipe.settings, "attn_factor")->number, rs_setting(&recipe.settings, "factor")->number};
    const double expected[] = {cases[c].truncate, cases[c].attention, cases[c].attn, 4};
    for (size_t i = 0; i < 4; i++)
      cr_assert(got[i] == expected[i] || (isnan(got[i]) && isnan(expected[i])), "%s number %zu: %g, expected %g",
                cases[c].settings, i, got[i], expected[i]);
    cr_assert_not(rs_setting(&recipe.settings, "mscale_alone")->number == 1, "%s: DeepSeek's rule for another model",
                  cases[c].settings);
    rs_recipe_clear(&recipe);
  }
  rs_recipe_clear(&model.published);
}

Test(dialects, resolve__against_the_dialect_or_unknown__names_the_parameter) {
  static const char *const cases[][4] = {
      {"yarn", "dialect=llamacpp truncate=false", "truncate",
       "is not in the power of dialect llamacpp, which always has true (leave one of them out)"},
      {"yarn", "dialect=vllm attention_factor=1", "attention_factor",
       "is not in the power of dialect vllm, which does not read it (leave one of them out)"},
      {"alibi", "dialect=gpt_oss", "dialect", NULL},
      {"rope", "dialect=deepseek", "dialect",
       "deepseek is not known to differ for rope (known: hf, vllm, sglang, llamacpp)"}};
  rs_model model = plain_model(16, 1e4, 64);
  for (size_t c = 0; c < RS_COUNT(cases); c++) {
    rs_recipe recipe = make_recipe(cases[c][0], cases[c][1]);
    rs_err err = {0};
    cr_assert_eq(rs_recipe_resolve(&recipe, &model, &err), RS_INPUT, "%s was accepted", cases[c][1]);
    cr_assert_str_eq(err.subject, cases[c][2]);
    if (cases[c][3] != NULL) cr_assert_str_eq(err.message, cases[c][3], "%s", err.message);
    rs_recipe_clear(&recipe);
  }
}

/* What a dialect has by default gives way to what is published; what it always has does not. */
Test(dialects, resolve__default_of_a_dialect__gives_way_to_the_published_one) {
  static const struct {
    const char *published, *settings, *scale;
    double factor;
  } cases[] = {{"", "dialect=vllm", "vllm_dynamic", NAN},
               {"scale=hf_dynamic factor=4", "dialect=vllm", "hf_dynamic", 4},
               {"scale=hf_dynamic factor=4", "dialect=paper", "hf_dynamic", NAN},
               {"scale=hf_dynamic factor=4", "dialect=vllm scale=auto", "auto", NAN}};
  for (size_t c = 0; c < RS_COUNT(cases); c++) {
    rs_model model = plain_model(16, 1e4, 64);
    model.published = make_recipe("dynamic_ntk", cases[c].published);
    rs_recipe recipe = make_recipe("dynamic_ntk", cases[c].settings);
    cr_assert_eq(rs_recipe_resolve(&recipe, &model, NULL), RS_OK);
    const rs_value *factor = rs_setting(&recipe.settings, "factor");
    int index = rs_settings_find(&recipe.settings, "scale");
    rs_text text = {0};
    rs_value_write(recipe.settings.params[index], &recipe.settings.values[index], &text);
    cr_expect_str_eq(rs_text_string(&text), cases[c].scale, "%s, published %s", cases[c].settings, cases[c].published);
    cr_expect(isnan(cases[c].factor) ? !factor->set : factor->number == cases[c].factor, "%s: %g", cases[c].settings,
              factor->number);
    rs_text_clear(&text);
    rs_recipe_clear(&recipe);
    rs_recipe_clear(&model.published);
  }
}

/* A number of one's own replaces what is published for the same purpose, and nothing else. */
Test(resolve, own_values__replace_what_they_are_in_place_of_alone) {
  rs_model model = plain_model(16, 1e4, 64);
  model.published =
      make_recipe("yarn", "factor=8 beta_fast=16 logit_scale=llama4 logit_scale_factor=2 logit_scale_length=32");
  static const struct {
    const char *settings;
    double factor, beta_fast, logit_factor, logit_length;
  } cases[] = {{"", 8, 16, 2, 32},
               {"scale=2", NAN, 16, 2, 32},
               {"factor=4", 4, 16, 2, 32},
               {"beta_fast=24", 8, 24, 2, 32},
               {"logit_scale=ssmax", 8, 16, NAN, NAN},
               {"logit_scale_factor=3", 8, 16, 3, 32}};
  for (size_t c = 0; c < RS_COUNT(cases); c++) {
    static const char *const names[] = {"factor", "beta_fast", "logit_scale_factor", "logit_scale_length"};
    const double wanted[] = {cases[c].factor, cases[c].beta_fast, cases[c].logit_factor, cases[c].logit_length};
    rs_recipe recipe = make_recipe("yarn", cases[c].settings);
    cr_assert_eq(rs_recipe_resolve(&recipe, &model, NULL), RS_OK);
    for (size_t i = 0; i < RS_COUNT(names); i++) {
      const rs_value *value = rs_setting(&recipe.settings, names[i]);
      cr_expect(isnan(wanted[i]) ? !value->set : value->set && value->number == wanted[i], "%s: %s is %g",
                cases[c].settings, names[i], value->number);
    }
    rs_recipe_clear(&recipe);
  }
  rs_recipe_clear(&model.published);
}

/* The model's sections act where the method has pictures' axes, and are written down; v2pe has one axis. */
Test(resolve, sections__of_the_model__where_the_method_has_axes) {
  static const struct {
    const char *method, *settings, *sections;
  } cases[] = {{"mrope", "", "[4, 2, 2]"},
               {"rope", "", "[4, 2, 2]"},
               {"v2pe", "", "none"},
               {"mrope", "mrope_section=none", "none"},
               {"mrope", "mrope_section=equal", "equal"},
               {"mrope", "mrope_section=2,3,3", "[2, 3, 3]"}};
  rs_model model = plain_model(16, 1e4, 64);
  model.mrope_section[0] = 4;
  model.mrope_section[1] = model.mrope_section[2] = 2;
  for (size_t c = 0; c < RS_COUNT(cases); c++) {
    rs_recipe recipe = make_recipe(cases[c].method, cases[c].settings);
    cr_assert_eq(rs_recipe_resolve(&recipe, &model, NULL), RS_OK);
    int index = rs_settings_find(&recipe.settings, "mrope_section");
    rs_text text = {0};
    rs_value_write(recipe.settings.params[index], &recipe.settings.values[index], &text);
    cr_expect_str_eq(rs_text_string(&text), cases[c].sections, "%s %s", cases[c].method, cases[c].settings);
    rs_text_clear(&text);
    rs_recipe_clear(&recipe);
  }
}

/* The largest relative difference of two dialects' frequencies, |a / b - 1|. */
static double apart(const char *method, const char *one, const char *other, const rs_model *model) {
  const char *const settings[] = {one, other};
  rs_encoding *encodings[2];
  double worst = 0;
  for (size_t i = 0; i < 2; i++) {
    rs_recipe recipe = make_recipe(method, settings[i]);
    rs_err err = {0};
    cr_assert_eq(rs_recipe_resolve(&recipe, model, &err), RS_OK, "%s", err.message);
    encodings[i] = encode_recipe(&recipe, model, 8, NULL);
    rs_recipe_clear(&recipe);
  }
  for (size_t j = 0; j < encodings[0]->rotary_dim / 2; j++)
    worst = fmax(worst, fabs(encodings[0]->omega[j] / encodings[1]->omega[j] - 1));
  rs_encoding_free(encodings[0]);
  rs_encoding_free(encodings[1]);
  return worst;
}

/* Published disagreements: gpt-oss's untruncated ramp 76 %, vLLM's ramp of 4 L0 for Qwen2.5-VL 124 %. */
Test(dialects, known_disagreements__have_their_size) {
  rs_model gpt_oss = plain_model(64, 150000, 4096), qwen = plain_model(128, 1e6, 32768);
  qwen.mrope_section[0] = 16;
  qwen.mrope_section[1] = qwen.mrope_section[2] = 24;
  double truncation = apart("yarn", "factor=32 dialect=llamacpp", "factor=32 dialect=gpt_oss", &gpt_oss);
  double enlarged = apart("yarn", "factor=4 dialect=vllm", "factor=4 dialect=hf", &qwen);
  cr_assert(close_to(truncation, 0.76268, 1e-4, 0), "%g", truncation);
  cr_assert(enlarged > 1.2 && enlarged < 1.28, "%g", enlarged);
  qwen.mrope_section[0] = qwen.mrope_section[1] = qwen.mrope_section[2] = 0;
  cr_assert_eq(apart("yarn", "factor=4 dialect=vllm", "factor=4 dialect=hf", &qwen), 0, "without sections");
}

/* ggml's kernel has 0.1 ln s + 1 for any s; llama.cpp divides by it, and multiplies by what is 1 up to s = 1. */
Test(dialects, llamacpp__scale_up_to_1__keeps_the_amplitude) {
  static const struct {
    const char *settings;
    double amp;
  } cases[] = {{"factor=0.5 dialect=llamacpp", 1},
               {"factor=0.5 attn_factor=1.5 dialect=llamacpp", 1.5},
               {"factor=1 dialect=llamacpp", 1},
               {"factor=4 dialect=llamacpp", 1.138629436111989},
               {"factor=0.5 magnitude=any", 0.9306852819440055}};
  rs_model model = plain_model(64, 1e4, 4096);
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_recipe recipe = make_recipe("yarn", cases[i].settings);
    cr_assert_eq(rs_recipe_resolve(&recipe, &model, NULL), RS_OK);
    rs_encoding *encoding = encode_recipe(&recipe, &model, 8, NULL);
    cr_expect(close_to(encoding->amp, cases[i].amp, 1e-14, 0), "%s: %.17g", cases[i].settings, encoding->amp);
    rs_encoding_free(encoding);
    rs_recipe_clear(&recipe);
  }
}

Test(dialects, general__beside_a_method_of_its_own_ids__leaves_them) {
  rs_model model = plain_model(16, 1e4, 64);
  static const char *const methods[] = {"v2pe", "videorope", "mrope_i", "mrope"};
  for (size_t i = 0; i < RS_COUNT(methods); i++) {
    rs_recipe plain = make_recipe(methods[i], ""), hf = make_recipe(methods[i], "dialect=hf");
    cr_assert_eq(rs_recipe_resolve(&hf, &model, NULL), RS_OK);
    bool same = rs_setting(&plain.settings, "vision_ids")->choice == rs_setting(&hf.settings, "vision_ids")->choice;
    cr_assert_eq(same, i < 3, "%s", methods[i]);
    rs_recipe_clear(&hf);
    rs_recipe_clear(&plain);
  }
}

Test(dialects, gpt_oss__ramp_outside_the_pairs__is_refused) {
  rs_model model = plain_model(64, 1e4, 128);
  rs_recipe recipe = make_recipe("yarn", "factor=2 dialect=gpt_oss");
  rs_encoding *encoding = NULL;
  rs_err err = {0};
  cr_assert_eq(rs_recipe_resolve(&recipe, &model, &err), RS_OK);
  cr_assert_eq(rs_encoding_create(&recipe, &model, 8, NULL, NULL, &encoding, &err), RS_DOMAIN);
  cr_assert_eq(strncmp(err.message, "the ramp from pair -", 20), 0, "%s", err.message);
  rs_recipe_clear(&recipe);
  /* betas that are alike, as Kimi-K2 has them, are a step within the pairs */
  model = plain_model(64, 5e4, 4096);
  recipe = make_recipe("yarn", "factor=32 beta_fast=1 beta_slow=1 dialect=gpt_oss");
  err = (rs_err){0};
  cr_assert_eq(rs_recipe_resolve(&recipe, &model, &err), RS_OK);
  cr_assert_eq(rs_encoding_create(&recipe, &model, 8, NULL, NULL, &encoding, &err), RS_DOMAIN);
  cr_assert_str_eq(err.message, "the ramp from pair 19.1646 to 19.1646 does not rise");
  rs_recipe_clear(&recipe);
}
