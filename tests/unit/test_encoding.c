/* Methods and their parameters, checks and their messages, scale rules, positions and segments, token layouts, reach,
 * embeddings, precision. What the frequencies are worth is the golden suite's matter. */
#include "../golden.h"

/* A vision model of 8 pairs: 2 for t, 3 for h, 3 for w. */
static rs_model vision_model(void) {
  rs_model model = plain_model(16, 1e4, 64);
  model.mrope_section[0] = 2;
  model.mrope_section[1] = model.mrope_section[2] = 3;
  return model;
}

/* ---- methods and parameters -------------------------------------------------------------------------------------- */

#define SCALED "scale=none factor=none "
#define BY_PARTS "beta_fast=32 beta_slow=1 ramp=hf ramp_length=train_length ramp_guard=hf truncate=true "
#define YARN(mscale, all, softmax)                                                                                     \
  "attention_factor=none attn_factor=1 magnitude=above_1 mscale=" mscale " mscale_all_dim=" all                        \
  " mscale_alone=false mscale_softmax=" softmax " temperature=cos_sin "
#define VISION(sections, axes, ids)                                                                                    \
  "rope_theta=none rotary_dim=none pair_layout=none mrope_section=" sections " mrope_layout=" axes                     \
  " mrope_tail=t vision_ids=" ids " vision_step=none id_arithmetic=none wavelengths=exact cached_keys=consistent "
#define ROTARY_OF(theta, layout, sections, wavelengths)                                                                \
  "rope_theta=" theta " rotary_dim=none pair_layout=" layout " mrope_section=" sections                                \
  " mrope_layout=none mrope_tail=t vision_ids=qwen2_vl vision_step=none id_arithmetic=none wavelengths=" wavelengths                      \
  " cached_keys=consistent "
#define ROTARY ROTARY_OF("none", "none", "none", "exact")
#define COMMON "train_length=none logit_scale=none logit_scale_factor=none logit_scale_length=none dialect=none"
#define TABLE "values=none init_sd=0.02 table_seed=0 "
#define LEARNED "init=normal init_sd=0.02 table_seed=0 table=none "

/* Every method with its parameters and their defaults; "none" also stands for unset. */
static const char *const method_texts[][2] = {
    {"nope", COMMON},
    {"rope", ROTARY COMMON},
    {"abf", ROTARY_OF("500000", "none", "none", "exact") COMMON},
    {"p_rope", "rotary_fraction=0.75 factor=1 " ROTARY COMMON},
    {"resonance", ROTARY_OF("none", "none", "none", "whole") COMMON},
    {"xpos", "xpos_gamma=0.4 xpos_scale_base=512 " ROTARY COMMON},
    {"pi", SCALED "interpolate=frequencies " ROTARY COMMON},
    {"dynamic_pi", "scale=dynamic factor=none interpolate=frequencies " ROTARY COMMON},
    {"ntk", SCALED ROTARY COMMON},
    {"dynamic_ntk", "scale=hf_dynamic factor=none " ROTARY COMMON},
    {"ntk_fixed", SCALED ROTARY COMMON},
    {"ntk_mixed", SCALED "mixed_b=0.625 " ROTARY COMMON},
    {"critical_base", SCALED ROTARY COMMON},
    {"dprope", SCALED "angle_bins=360 " ROTARY COMMON},
    {"ntk_by_parts", SCALED BY_PARTS ROTARY COMMON},
    {"ntk_by_parts_v1", SCALED ROTARY COMMON},
    {"yarn", SCALED BY_PARTS YARN("none", "none", "false") ROTARY COMMON},
    {"dynamic_yarn", "scale=dynamic factor=none " BY_PARTS YARN("none", "none", "false") ROTARY COMMON},
    {"deepseek_yarn", SCALED BY_PARTS YARN("1", "1", "true") ROTARY COMMON},
    {"resonance_yarn", SCALED BY_PARTS YARN("none", "none", "false") ROTARY_OF("none", "none", "none", "whole") COMMON},
    {"llama3", SCALED "low_freq_factor=1 high_freq_factor=4 " ROTARY COMMON},
    {"longrope",
     "short_factor=none long_factor=none switch_length=none factor=none attention_factor=none short_mscale=none "
     "long_mscale=none temperature=cos_sin " ROTARY COMMON},
    {"proportional", "rotary_fraction=1 factor=1 " ROTARY COMMON},
    {"explicit", "inv_freq=none attention_factor=1 temperature=cos_sin " ROTARY COMMON},
    {"mrope", ROTARY_OF("none", "none", "equal", "exact") COMMON},
    {"mrope_i", VISION("equal", "interleaved", "spatial_reset") COMMON},
    {"videorope", VISION("equal", "spatial_first", "videorope") COMMON},
    {"v2pe", VISION("none", "none", "v2pe") COMMON},
    {"axial", "axis_order=wh " ROTARY_OF("100", "interleaved", "none", "exact") COMMON},
    {"rope_mixed", "freq_x=none freq_y=none " ROTARY_OF("none", "interleaved", "none", "exact") COMMON},
    {"self_extend", "group=auto window=auto shift=floor " ROTARY COMMON},
    {"rerope", "window=auto leak=0 " ROTARY COMMON},
    {"leaky_rerope", "window=auto leak=auto " ROTARY COMMON},
    {"lm_infinite", "window=train_length leak=0 " ROTARY COMMON},
    {"dual_chunk", "chunk_size=auto local_size=auto ceiling=code " ROTARY COMMON},
    {"string", "shift=auto local=128 " ROTARY COMMON},
    {"random_rope", "position_range=2048 position_seed=0 " ROTARY COMMON},
    {"alibi", "bias_max=8 slope_factor=1 bias_form=distance slope_format=f64 bias_format=f64 " COMMON},
    {"t5", "num_buckets=32 max_distance=128 bidirectional=false unscaled_dot=false values=none init_sd=inv_sqrt_width "
           "table_seed=0 " COMMON},
    {"relative", "clip=16 " TABLE COMMON},
    {"swin", TABLE COMMON},
    {"kerple_log", "r1=none r2=none table_seed=0 " COMMON},
    {"kerple_power", "a=none p=none table_seed=0 " COMMON},
    {"fire", "c=0.1 threshold=512 mlp_width=32 weights=none table_seed=0 " COMMON},
    {"sandwich", "sandwich_dim=128 " COMMON},
    {"sinusoidal", "embedding_layout=interleaved " COMMON},
    {"learned", LEARNED COMMON},
    {"sinusoidal_2d", "combine=concat " COMMON},
    {"learned_2d", "table_grid=own combine=joint resize=bicubic " LEARNED COMMON},
};

static void write_settings(const rs_settings *settings, rs_text *text) {
  for (size_t i = 0; i < settings->count; i++) {
    rs_text_printf(text, "%s%s=", i > 0 ? " " : "", settings->params[i]->name);
    rs_value_write(settings->params[i], &settings->values[i], text);
  }
}

Test(encoding, methods__each__has_its_parameters_and_defaults) {
  size_t count;
  const rs_method *methods = rs_methods(&count);
  cr_assert_eq(count, RS_COUNT(method_texts), "%zu methods", count);
  for (size_t i = 0; i < count; i++) {
    rs_recipe recipe = make_recipe(methods[i].name, "");
    rs_text text = {0};
    write_settings(&recipe.settings, &text);
    cr_assert_str_eq(methods[i].name, method_texts[i][0]);
    cr_assert_str_eq(rs_text_string(&text), method_texts[i][1], "%s: got %s", methods[i].name, rs_text_string(&text));
    for (size_t p = 0; p < recipe.settings.count; p++) {
      const rs_param *param = recipe.settings.params[p];
      cr_assert_not(recipe.settings.values[p].given, "%s.%s", methods[i].name, param->name);
      cr_assert(param->summary != NULL && *param->summary != '\0' && param->unit != NULL, "%s.%s", methods[i].name,
                param->name);
      cr_assert_leq(param->min, param->max, "%s.%s", methods[i].name, param->name);
    }
    cr_assert_eq(rs_method_find(methods[i].name), &methods[i]);
    rs_text_clear(&text);
    rs_recipe_clear(&recipe);
  }
  cr_assert_null(rs_method_find("yran"));
}

Test(encoding, kinds__each_stage__is_named_and_referred) {
  size_t counts[5];
  const void *tables[] = {rs_freq_kinds(&counts[0]), rs_pos_kinds(&counts[1]), rs_embed_kinds(&counts[2]),
                          rs_lscale_kinds(&counts[3]), rs_bias_kinds(&counts[4])};
  static const size_t expected[] = {17, 7, 4, 5, 8};
  for (size_t t = 0; t < RS_COUNT(tables); t++) {
    cr_assert_eq(counts[t], expected[t], "stage %zu has %zu kinds", t, counts[t]);
    for (size_t i = 0; i < counts[t]; i++) {
      const rs_kind *kind = ((const rs_kind *const *)tables[t])[i]; /* every kind begins with its rs_kind */
      cr_assert(kind->name != NULL && kind->summary != NULL && kind->reference != NULL && kind->version >= 1,
                "stage %zu kind %zu", t, i);
    }
  }
}

Test(encoding, recipe_set__bad_values__name_the_parameter) {
  static const struct {
    const char *method, *name, *value, *message;
  } cases[] = {
      {"rope", "factor", "8", "rope has no parameter factor"},
      {"nope", "rope_theta", "1e4", "nope has no parameter rope_theta"},
      {"yarn", "beta_fast", "0", "must be from 1e-06 to 1000000000"},
      {"yarn", "ramp", "papr", "must be one of hf, paper (did you mean paper?)"},
      {"pi", "scale", "atuo",
       "must be one of fixed, auto, dynamic, hf_dynamic, vllm_dynamic, or a number (did you mean auto?)"},
      {"pi", "scale", "0", "must be from 1e-06 to 1000000000"},
      {"rope", "rope_theta", "1", "must be from 1.000001 to 1e+300"},
      {"rope", "rotary_dim", "0", "must be from 2 to 65536"},
      {"rope", "train_length", "4.5", "must be a whole number"},
      {"rope", "mrope_section", "16", "must be a list of numbers, like [1, 2]"},
      {"rope", "logit_scale", "logn",
       "must be one of none, log_n, ssmax, llama4, ministral, entropy_invariant (did you mean log_n?)"},
      {"ntk_mixed", "mixed_b", "11", "must be from 0 to 10"},
      {"self_extend", "group", "0", "must be from 1 to 1000000000"},
      {"learned", "table_seed", "-1", "must be from 0 to 9007199254740992"},
      {"proportional", "rotary_fraction", "1.5", "must be from 0 to 1"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_recipe recipe = make_recipe(cases[i].method, "");
    rs_err err = {0};
    cr_assert_eq(rs_recipe_set(&recipe, cases[i].name, cases[i].value, &err), RS_INPUT, "%s was accepted",
                 cases[i].message);
    cr_assert_str_eq(err.subject, cases[i].name);
    cr_assert_str_eq(err.message, cases[i].message, "%s %s: %s", cases[i].name, cases[i].value, err.message);
    rs_recipe_clear(&recipe);
  }
}

Test(encoding, recipe_check__contradictions__name_the_parameter) {
  static const struct {
    const char *method, *settings, *subject, *message;
  } cases[] = {
      {"yarn", "beta_fast=0.5", "beta_fast", "must exceed beta_slow = 1 (the paper uses 32 and 1)"},
      {"ntk_by_parts", "beta_fast=1 beta_slow=2", "beta_fast", "must exceed beta_slow = 2 (the paper uses 32 and 1)"},
      {"yarn", "beta_fast=4 beta_slow=4 ramp=paper", "beta_fast",
       "must exceed beta_slow = 4 (the paper uses 32 and 1)"},
      {"yarn", "mscale_softmax=true", "mscale_softmax", "needs mscale_all_dim (DeepSeek-V3 has 1)"},
      {"pi", "scale=fixed", "scale", "needs a factor (or write the number: scale: 8)"},
      {"pi", "scale=auto factor=8", "factor", "has no effect with scale: auto (leave one of them out)"},
      {"ntk", "scale=dynamic factor=8", "factor", "has no effect with scale: dynamic (leave one of them out)"},
      {"llama3", "scale=8 factor=8", "factor", "is given twice: scale = 8 is a factor already"},
      {"llama3", "low_freq_factor=5", "high_freq_factor",
       "must be at least low_freq_factor = 5 (Llama-3.1 has 4 and 1)"},
      {"rope", "rotary_dim=7", "rotary_dim", "must be even"},
      {"rope", "rotary_dim=18", "rotary_dim", "exceeds the model's head_dim = 16"},
      {"mrope", "mrope_section=2,3,4", "mrope_section", "sums to 9, but 8 pairs turn (rotary_dim / 2)"},
      {"mrope", "mrope_section=2,2,2", "mrope_section", "sums to 6, but 8 pairs turn (rotary_dim / 2)"},
      {"mrope", "mrope_section=2,3,3 rotary_dim=8", "mrope_section", "sums to 8, but 4 pairs turn (rotary_dim / 2)"},
      {"mrope", "mrope_section=4,4", "mrope_section", "must have 3 entries (t, h, w), not 2"},
      {"longrope", "", "short_factor", "is missing: it has one divisor for each pair"},
      {"longrope", "short_factor=1,1,1,1,1,1,1,1", "long_factor", "is missing: it has one divisor for each pair"},
      {"longrope", "short_factor=1,1,1,1 long_factor=1,1,1,1", "short_factor", "has 4 numbers, but 8 pairs turn"},
      {"longrope", "short_factor=1,1,1,1 long_factor=1,1 rotary_dim=8", "long_factor",
       "has 2 numbers, but 4 pairs turn"},
      {"explicit", "", "inv_freq", "is missing: it has one frequency for each pair"},
      {"explicit", "inv_freq=1,1", "inv_freq", "has 2 numbers, but 8 pairs turn"},
      {"explicit", "inv_freq=1,1,1 rotary_dim=8", "inv_freq", "has 3 numbers, but 4 pairs turn"},
  };
  rs_model model = plain_model(16, 1e4, 64);
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_recipe recipe = make_recipe(cases[i].method, cases[i].settings);
    rs_err err = {0};
    cr_assert_eq(rs_recipe_check(&recipe, &model, &err), RS_INPUT, "%s %s was accepted", cases[i].method,
                 cases[i].settings);
    cr_assert_str_eq(err.subject, cases[i].subject, "%s %s: %s", cases[i].method, cases[i].settings, err.subject);
    cr_assert_str_eq(err.message, cases[i].message, "%s %s: %s", cases[i].method, cases[i].settings, err.message);
    rs_recipe_clear(&recipe);
  }
  model.rotary_dim = 0;
  rs_recipe recipe = make_recipe("rope", "");
  rs_err err = {0};
  cr_assert_eq(rs_recipe_check(&recipe, &model, &err), RS_INPUT);
  cr_assert_str_eq(err.message, "the model has no rotary dims, and no rotary_dim is given");
  rs_recipe_clear(&recipe);
}

Test(encoding, recipe_check__edges_that_are_allowed__pass) {
  static const char *const cases[][2] = {
      {"yarn", "beta_fast=4 beta_slow=4 factor=2"}, /* a step, as Hugging Face has it */
      {"llama3", "low_freq_factor=1 high_freq_factor=1 factor=2"},
      {"dynamic_ntk", "factor=2"},
      {"pi", "scale=fixed factor=8"},
      {"pi", "scale=hf_dynamic factor=8"},
      {"pi", ""},
      {"yarn", "mscale_softmax=true mscale_all_dim=1 mscale=1"},
      {"rope", "rotary_dim=16"},
      {"mrope", "mrope_section=equal rotary_dim=10"},
      {"mrope", "mrope_section=none"},
      {"longrope", "short_factor=1,1,1,1 long_factor=1,1,1,1 rotary_dim=8"},
  };
  rs_model model = plain_model(16, 1e4, 64);
  for (size_t i = 0; i < RS_COUNT(cases); i++)
    rs_encoding_free(encode(cases[i][0], cases[i][1], &model, 8)); /* encode checks, and fails the test */
}

Test(encoding, create__undefined_recipes__say_why) {
  static const struct {
    const char *method, *settings;
    size_t length;
    rs_status status;
    const char *message;
  } cases[] = {
      {"rope", "", 0, RS_DOMAIN, "a context of 0 tokens has no attention"},
      {"ntk", "rotary_dim=2 factor=2", 8, RS_DOMAIN,
       "the NTK base is undefined for rotary_dim = 2: its exponent is R/(R-2)"},
      {"ntk_by_parts_v1", "rotary_dim=2 factor=2", 8, RS_DOMAIN,
       "the NTK base is undefined for rotary_dim = 2: its exponent is R/(R-2)"},
      {"longrope", "short_factor=1,1 long_factor=1,1,1,1,1,1,1,1", 64, RS_DOMAIN,
       "short_factor has 2 divisors for 8 pairs"},
      {"longrope", "short_factor=1,1,1,1,1,1,1,1 long_factor=1,1", 65, RS_DOMAIN,
       "long_factor has 2 divisors for 8 pairs"},
      {"longrope", "", 8, RS_DOMAIN, "short_factor has 0 divisors for 8 pairs"},
      {"self_extend", "mrope_section=2,3,3", 8, RS_UNSUPPORTED,
       "self_extend is defined for text positions only (mrope_section: none makes them so)"},
      {"self_extend", "window=64", 80, RS_DOMAIN, "self_extend: window = 64 leaves no room below train_length = 64"},
      {"nope", "train_length=1 logit_scale=log_n", 8, RS_DOMAIN,
       "log_n divides by the ln of train_length, which must exceed 1"},
      {"mrope", "mrope_section=2,3,4", 8, RS_INPUT, "sums to 9, but 8 pairs turn (rotary_dim / 2)"},
      {"learned", "", 65, RS_DOMAIN, "learned: position 64 is beyond the table of 64 rows"},
      {"learned", "logit_scale=log_n", 1000, RS_DOMAIN, "learned: position 999 is beyond the table of 64 rows"},
  };
  rs_model model = plain_model(16, 1e4, 64);
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_recipe recipe = make_recipe(cases[i].method, cases[i].settings);
    rs_encoding *encoding = (rs_encoding *)&model;
    rs_err err = {0};
    rs_status status = rs_encoding_create(&recipe, &model, cases[i].length, NULL, NULL, &encoding, &err);
    cr_assert_eq(status, cases[i].status, "%s %s: %s", cases[i].method, cases[i].settings, rs_status_name(status));
    cr_assert_str_eq(err.message, cases[i].message, "%s %s: %s", cases[i].method, cases[i].settings, err.message);
    cr_assert_null(encoding);
    rs_recipe_clear(&recipe);
  }
  rs_encoding_free(NULL);
}

Test(encoding, recipe_copy__original_cleared__still_works) {
  rs_model model = plain_model(16, 1e4, 64);
  rs_recipe recipe = make_recipe("longrope", "short_factor=1,2,3,4,5,6,7,8 long_factor=8,7,6,5,4,3,2,1"), copy,
            none = {0};
  cr_assert_eq(rs_recipe_copy(&copy, &recipe, NULL), RS_OK);
  rs_recipe_clear(&recipe);
  cr_assert(recipe.method == NULL && recipe.settings.values == NULL);
  rs_encoding *encoding = encode_recipe(&copy, &model, 64, NULL);
  rs_recipe_clear(&copy);
  cr_assert(close_to(encoding->omega[1] * 2, encoding->omega_trained[1], 1e-15, 0));
  cr_assert_eq(rs_setting(&encoding->settings, "long_factor")->list[0], 8);
  rs_encoding_free(encoding);
  cr_assert_eq(rs_recipe_copy(&copy, &none, NULL), RS_OK, "an empty recipe copies as one");
  cr_assert_null(copy.method);
}

/* What a recipe takes over from the model's published one: only what was not given, a scale only when none was, and
 * nothing from another method. */
Test(encoding, recipe_inherit__published_values__fill_what_was_not_given) {
  static const struct {
    const char *method, *settings;
    double factor, beta_fast, theta;
    bool scale_set;
  } cases[] = {
      {"yarn", "", 4, 16, 5e5, false},
      {"yarn", "factor=8", 8, 16, 5e5, false},
      {"yarn", "scale=auto", NAN, 16, 5e5, true},
      {"yarn", "beta_fast=32", 4, 32, 5e5, false}, /* a default written out is given all the same */
      {"yarn", "rope_theta=1e6", 4, 16, 1e6, false},
      {"ntk_by_parts", "", NAN, 32, NAN, false},
  };
  rs_model model = plain_model(16, 1e4, 64);
  model.published = make_recipe("yarn", "factor=4 beta_fast=16 rope_theta=500000");
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_recipe recipe = make_recipe(cases[i].method, cases[i].settings);
    cr_assert_eq(rs_recipe_resolve(&recipe, &model, NULL), RS_OK);
    const double got[] = {rs_setting_number(&recipe.settings, "factor"),
                          rs_setting_number(&recipe.settings, "beta_fast"),
                          rs_setting_number(&recipe.settings, "rope_theta")};
    const double expected[] = {cases[i].factor, cases[i].beta_fast, cases[i].theta};
    for (size_t p = 0; p < RS_COUNT(got); p++)
      cr_assert(isnan(expected[p]) ? isnan(got[p]) : got[p] == expected[p], "%s %s: value %zu is %g", cases[i].method,
                cases[i].settings, p, got[p]);
    cr_assert_eq(rs_setting(&recipe.settings, "scale")->set, cases[i].scale_set);
    cr_assert_eq(rs_setting(&recipe.settings, "beta_slow")->number, 1, "published defaults change nothing");
    rs_recipe_clear(&recipe);
  }
  rs_model_clear(&model);
  cr_assert(model.published.method == NULL && model.heads == 0);
  model = plain_model(4, 1e4, 64);
  model.published = make_recipe("longrope", "short_factor=1,2 long_factor=3,4");
  rs_recipe recipe = make_recipe("longrope", "");
  cr_assert_eq(rs_recipe_resolve(&recipe, &model, NULL), RS_OK);
  rs_model_clear(&model);
  const rs_value *list = rs_setting(&recipe.settings, "long_factor");
  cr_assert(list->count == 2 && list->list[1] == 4 && !list->given, "lists are copied and count as not given");
  rs_recipe_clear(&recipe);
}

/* ---- scale and temperature --------------------------------------------------------------------------------------- */

Test(encoding, scale__each_rule__resolves_s) {
  static const struct {
    const char *settings;
    size_t length;
    double s;
  } cases[] = {
      {"", 256, 4},
      {"", 16, 0.25},
      {"factor=8", 256, 8},
      {"scale=8", 16, 8},
      {"scale=fixed factor=8", 256, 8},
      {"scale=auto", 96, 1.5},
      {"scale=auto", 32, 0.5},
      {"scale=dynamic", 96, 1.5},
      {"scale=dynamic", 32, 1},
      {"scale=hf_dynamic factor=2", 256, 7}, /* 2 * 4 - 1 */
      {"scale=hf_dynamic factor=2", 64, 1},
      {"scale=hf_dynamic factor=2", 32, 1},
      {"scale=hf_dynamic", 256, 4},
      {"scale=auto train_length=128", 256, 2},
  };
  rs_model model = plain_model(16, 1e4, 64);
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_encoding *encoding = encode("pi", cases[i].settings, &model, cases[i].length);
    cr_assert_eq(encoding->scale, cases[i].s, "%s at %zu: got %g", cases[i].settings, cases[i].length, encoding->scale);
    cr_assert(close_to(encoding->omega[3], encoding->omega_trained[3] / cases[i].s, 1e-15, 0));
    rs_encoding_free(encoding);
  }
  rs_encoding *encoding = encode("rope", "", &model, 256);
  cr_assert(isnan(encoding->scale), "a method without a scale");
  rs_encoding_free(encoding);
}

Test(encoding, log_n__any_method__scales_queries_beyond_training) {
  static const char *const methods[] = {"nope", "rope", "yarn", "alibi"};
  rs_model model = plain_model(16, 1e4, 16);
  for (size_t i = 0; i < RS_COUNT(methods); i++) {
    rs_encoding *encoding = encode(methods[i], "logit_scale=log_n", &model, 64);
    for (size_t m = 0; m < 64; m++) {
      double expected = m + 1 <= 16 ? 1 : log2((double)m + 1) / 4; /* ln n / ln 16 */
      cr_assert(close_to(encoding->logit_scale[m], expected, 1e-15, 0), "%s query %zu: got %.17g", methods[i], m,
                encoding->logit_scale[m]);
    }
    rs_encoding_free(encoding);
  }
}

/* ---- geometry ---------------------------------------------------------------------------------------------------- */

Test(encoding, geometry__given_values__replace_the_models) {
  rs_model model = plain_model(16, 1e4, 64);
  model.heads = 3;
  rs_encoding *plain = encode("rope", "", &model, 8);
  rs_encoding *given = encode("rope", "rope_theta=100 rotary_dim=8 pair_layout=interleaved train_length=32", &model, 8);
  cr_assert(plain->rotary_dim == 16 && given->rotary_dim == 8 && given->head_dim == 16 && given->width == 48);
  cr_assert(plain->pair_layout == RS_HALF_SPLIT && given->pair_layout == RS_INTERLEAVED);
  cr_assert(plain->train_length == 64 && given->train_length == 32 && given->heads == 3 && given->length == 8);
  for (size_t j = 0; j < 4; j++) {
    cr_assert(close_to(given->omega[j], pow(100, -(double)j / 4), 1e-15, 0), "pair %zu", j);
    cr_assert(close_to(given->omega_trained[j], pow(1e4, -(double)j / 4), 1e-15, 0), "what training saw is theta's");
  }
  rs_encoding_free(given);
  model.pair_layout = RS_INTERLEAVED;
  given = encode("nope", "", &model, 8);
  cr_assert(given->rotary_dim == 0 && given->pair_layout == RS_INTERLEAVED && given->axes == 1 && given->views == 1);
  rs_encoding_free(given);
  rs_encoding_free(plain);
}

Test(encoding, proportional__shares__turn_the_first_pairs_only) {
  rs_model model = plain_model(16, 1e4, 64);
  static const struct {
    const char *settings;
    size_t turning;
    double divisor;
  } cases[] = {{"", 8, 1},
               {"rotary_fraction=0.5", 4, 1},
               {"rotary_fraction=0.3 factor=4", 2, 4},
               {"rotary_fraction=0", 0, 1},
               {"rotary_fraction=0.9 rotary_dim=8", 4, 1}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_encoding *encoding = encode("proportional", cases[i].settings, &model, 8);
    for (size_t j = 0; j < encoding->rotary_dim / 2; j++) {
      double expected = j < cases[i].turning ? pow(1e4, -2.0 * (double)j / 16) / cases[i].divisor : 0;
      cr_assert(close_to(encoding->omega[j], expected, 1e-15, 0), "%s pair %zu: got %g", cases[i].settings, j,
                encoding->omega[j]);
    }
    rs_encoding_free(encoding);
  }
}

/* ---- Self-Extend ------------------------------------------------------------------------------------------------- */

/* Every key of every query: exactly one segment, the right view, and the relative position of the paper's code. */
static void check_self_extend(const rs_encoding *encoding, size_t group, size_t window) {
  for (size_t m = 0; m < encoding->length; m++) {
    rs_segment segments[RS_VIEWS];
    size_t count = rs_encoding_segments(encoding, m, segments), next = 0;
    cr_assert(count >= 1 && count <= 2);
    for (size_t i = 0; i < count; i++) {
      cr_assert(segments[i].begin == next && segments[i].end > next, "query %zu segment %zu", m, i);
      next = segments[i].end;
    }
    cr_assert_eq(next, m + 1, "query %zu: segments end at %zu", m, next);
    for (size_t n = 0; n <= m; n++) {
      bool near = m - n < window;
      size_t view = rs_encoding_view(encoding, m, n);
      double shift = (double)window - (double)(window / group),
             got = encoding->pos_q[view][m] - encoding->pos_k[view][n];
      double expected = near ? (double)(m - n) : (double)(m / group) - (double)(n / group) + shift;
      cr_assert_eq(view, near ? 0u : 1u, "group %zu window %zu query %zu key %zu: view %zu", group, window, m, n, view);
      cr_assert_eq(got, expected, "group %zu window %zu query %zu key %zu: got %g, expected %g", group, window, m, n,
                   got, expected);
    }
  }
}

Test(encoding, self_extend__small_worlds__positions_of_the_paper) {
  rs_model model = plain_model(4, 1e4, 16);
  for (size_t window = 0; window <= 12; window++)
    for (size_t group = 1; group <= 9; group++)
      for (size_t length = 1; length <= 24; length += 1 + length / 6) {
        char settings[64];
        snprintf(settings, sizeof settings, "window=%zu group=%zu", window, group);
        rs_encoding *encoding = encode("self_extend", settings, &model, length);
        check_self_extend(encoding, group, window);
        rs_encoding_free(encoding);
      }
}

/* The group that `auto` took: view 1's keys stand still until token G. */
static size_t group_of(const rs_encoding *encoding) {
  size_t group = 1;
  while (group < encoding->length && encoding->pos_k[1][group] == 0) group++;
  return group;
}

/* The largest relative position of Self-Extend's definition, over every query and key. */
static size_t widest(size_t length, size_t window, size_t group) {
  size_t most = 0;
  for (size_t m = 0; m < length; m++)
    for (size_t n = 0; n <= m; n++) {
      size_t apart = m - n < window ? m - n : m / group + window - window / group - n / group;
      most = apart > most ? apart : most;
    }
  return most;
}

static void check_auto_group(size_t train, size_t window, size_t length) {
  rs_model model = plain_model(4, 1e4, train);
  char settings[64];
  snprintf(settings, sizeof settings, "window=%zu", window);
  rs_encoding *encoding = encode("self_extend", settings, &model, length);
  size_t group = 1, got = group_of(encoding);
  while (widest(length, window, group) >= train) group++;
  cr_assert_eq(got, group < length ? group : length, "train %zu window %zu length %zu: group %zu, not %zu", train,
               window, length, got, group);
  for (size_t n = 0; n < length; n++)
    cr_assert(isfinite(encoding->pos_q[1][n]) && isfinite(encoding->pos_k[1][n]), "window %zu length %zu", window,
              length);
  rs_encoding_free(encoding);
}

/* auto: the smallest group that keeps every relative position where training has been, 0 .. L0 - 1. */
Test(encoding, self_extend__auto_group__smallest_that_stays_inside_training) {
  for (size_t train = 2; train <= 12; train++)
    for (size_t window = 0; window < train; window++)
      for (size_t length = 1; length <= 4 * train; length++) check_auto_group(train, window, length);
}

Test(encoding, self_extend__auto_window__is_a_quarter_of_training) {
  rs_model model = plain_model(4, 1e4, 32);
  rs_encoding *encoding = encode("self_extend", "group=2", &model, 40);
  check_self_extend(encoding, 2, 8);
  rs_encoding_free(encoding);
}

/* ---- tokens and axes --------------------------------------------------------------------------------------------- */

enum { RUNS = 6 };

/* Random runs; returns their tokens. */
static size_t draw_layout(uint64_t *state, rs_token_run runs[RUNS]) {
  size_t tokens = 0;
  for (size_t i = 0; i < RUNS; i++) {
    rs_token_run *run = &runs[i];
    *run = (rs_token_run){.modality = (rs_modality)draw_size(state, 0, 2), .seconds_per_frame = 1, .ids_per_second = 1};
    run->frames = run->modality == RS_VIDEO ? draw_size(state, 1, 5) : 1;
    run->rows = draw_size(state, 1, 4);
    run->columns = draw_size(state, 1, 4);
    if (run->modality == RS_VIDEO) run->ids_per_second = draw_real(state, 0.2, 3);
    run->tokens = run->modality == RS_TEXT ? draw_size(state, 1, 6) : run->frames * run->rows * run->columns;
    tokens += run->tokens;
  }
  return tokens;
}

/* Ids counted one token at a time, with nested loops over frames, rows and columns. */
static void expected_ids(const rs_token_run *runs, size_t length, double (*ids)[RS_AXES], uint32_t *run) {
  size_t token = 0;
  double next = 0;
  for (uint32_t i = 0; i <= RUNS; i++) {
    bool text = i == RUNS || runs[i].modality == RS_TEXT;
    size_t frames = text ? (i == RUNS ? length - token : runs[i].tokens) : runs[i].frames;
    size_t rows = text ? 1 : runs[i].rows, columns = text ? 1 : runs[i].columns;
    double start = next;
    for (size_t f = 0; f < frames; f++)
      for (size_t y = 0; y < rows; y++)
        for (size_t x = 0; x < columns; x++, token++) {
          ids[token][0] = start + (text ? (double)f : floor((double)f * runs[i].ids_per_second));
          ids[token][1] = text ? ids[token][0] : start + (double)y;
          ids[token][2] = text ? ids[token][0] : start + (double)x;
          for (size_t a = 0; a < RS_AXES; a++) next = fmax(next, ids[token][a] + 1);
          run[token] = i;
        }
  }
}

Test(encoding, token_positions__random_layouts__count_as_qwen_does) {
  uint64_t state = 11;
  for (size_t turn = 0; turn < 300; turn++) {
    rs_token_run runs[RUNS], *borrowed = runs;
    rs_token_layout layout = {.runs = borrowed, .count = RUNS};
    size_t tokens = draw_layout(&state, runs), length = tokens + draw_size(&state, 0, 3);
    double(*ids)[RS_AXES] = calloc(length, sizeof *ids), (*expected)[RS_AXES] = calloc(length, sizeof *expected);
    uint32_t *run = calloc(length, sizeof *run), *expected_run = calloc(length, sizeof *run);
    expected_ids(runs, length, expected, expected_run);
    cr_assert_eq(rs_token_layout_tokens(&layout), tokens);
    cr_assert_eq(rs_token_positions(&layout, NULL, length, ids[0], run, NULL), RS_OK);
    for (size_t i = 0; i < length; i++) {
      cr_assert_eq(run[i], expected_run[i], "turn %zu token %zu: run %u", turn, i, run[i]);
      for (size_t a = 0; a < RS_AXES; a++)
        cr_assert_eq(ids[i][a], expected[i][a], "turn %zu token %zu axis %zu: got %g, expected %g", turn, i, a,
                     ids[i][a], expected[i][a]);
    }
    cr_assert_eq(rs_token_positions(&layout, NULL, length, ids[0], NULL, NULL), RS_OK, "without runs");
    free(expected_run), free(run), free(expected), free(ids);
  }
}

Test(encoding, token_positions__more_tokens_than_length__is_a_domain_error) {
  rs_token_run runs[] = {{.modality = RS_TEXT, .tokens = 5}};
  rs_token_layout layout = {.runs = runs, .count = 1}, none = {0};
  double ids[4 * RS_AXES];
  rs_err err = {0};
  cr_assert_eq(rs_token_positions(&layout, NULL, 4, ids, NULL, &err), RS_DOMAIN);
  cr_assert_str_eq(err.message, "the token layout has 5 tokens, the length is only 4");
  cr_assert_eq(rs_token_positions(&none, NULL, 4, ids, NULL, NULL), RS_OK);
  for (size_t i = 0; i < RS_COUNT(ids); i++) cr_assert_eq(ids[i], (double)(i / RS_AXES));
}

/* The axis of each pair as a string of digits. */
Test(encoding, axes__given_model_and_default_sections__are_shared_out) {
  static const struct {
    bool vision;
    const char *method, *settings, *axes;
  } cases[] = {
      {true, "mrope", "", "00111222"},
      {true, "rope", "", "00111222"}, /* the model's, whatever the method */
      {true, "rope", "mrope_section=none", ""},
      {true, "mrope", "mrope_section=equal", "00011122"},
      {true, "mrope", "mrope_section=4,2,2", "00001122"},
      {true, "mrope", "mrope_layout=interleaved",
       "01201201"}, /* Hugging Face's rule: w finds room for two of its three */
      {true, "mrope", "mrope_section=4,2,2 mrope_layout=interleaved", "01201200"},
      {false, "mrope", "", "00011122"},
      {false, "mrope", "rotary_dim=14", "0001122"},
      {false, "mrope", "rotary_dim=12", "001122"},
      {false, "rope", "", ""},
      {false, "yarn", "mrope_section=2,3,3", "00111222"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_model model = cases[i].vision ? vision_model() : plain_model(16, 1e4, 64);
    rs_encoding *encoding = encode(cases[i].method, cases[i].settings, &model, 4);
    bool text = *cases[i].axes == '\0';
    cr_assert_eq(encoding->axes, text ? 1u : 3u, "%s %s: %zu axes", cases[i].method, cases[i].settings, encoding->axes);
    for (size_t j = 0; j < encoding->rotary_dim / 2; j++)
      cr_assert_eq(encoding->axis[j], text ? 0 : cases[i].axes[j] - '0', "%s %s pair %zu: axis %u", cases[i].method,
                   cases[i].settings, j, encoding->axis[j]);
    rs_encoding_free(encoding);
  }
}

/* ---- reach and views --------------------------------------------------------------------------------------------- */

static void check_reach(const rs_encoding *encoding, const char *what) {
  double expected[RS_AXES] = {0};
  for (size_t m = 0; m < encoding->length; m++)
    for (size_t n = 0; n <= m; n++)
      for (size_t a = 0; a < encoding->axes; a++) {
        size_t view = rs_encoding_view(encoding, m, n);
        double q = encoding->pos_q[view][m * encoding->axes + a], k = encoding->pos_k[view][n * encoding->axes + a];
        expected[a] = fmax(expected[a], fabs(q - k));
      }
  for (size_t a = 0; a < encoding->axes; a++) {
    double got = rs_encoding_reach(encoding, a);
    cr_assert_eq(got, expected[a], "%s axis %zu: got %g, expected %g", what, a, got, expected[a]);
  }
}

Test(encoding, reach__every_method_and_random_pictures__is_the_largest_distance) {
  rs_model model = plain_model(16, 1e4, 16), vision = vision_model();
  static const char *const cases[][2] = {{"nope", ""},
                                         {"rope", ""},
                                         {"pi", "interpolate=positions factor=4"},
                                         {"pi", "factor=4"},
                                         {"self_extend", ""},
                                         {"self_extend", "window=3 group=4"},
                                         {"self_extend", "window=40"},
                                         {"self_extend", "window=0 group=2"}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    if (strcmp(cases[i][1], "window=40") == 0) model.train_length = 64;
    rs_encoding *encoding = encode(cases[i][0], cases[i][1], &model, 33);
    check_reach(encoding, cases[i][1]);
    rs_encoding_free(encoding);
  }
  uint64_t state = 12;
  for (size_t turn = 0; turn < 100; turn++) {
    rs_token_run runs[RUNS];
    rs_token_layout layout = {.runs = runs, .count = RUNS};
    size_t length = draw_layout(&state, runs) + draw_size(&state, 0, 2);
    rs_recipe recipe = make_recipe("mrope", "");
    rs_encoding *encoding = encode_recipe(&recipe, &vision, length, &layout);
    check_reach(encoding, "pictures");
    cr_assert(encoding->tokens.runs != runs && encoding->tokens.count == RUNS, "the layout is copied");
    rs_encoding_free(encoding);
    rs_recipe_clear(&recipe);
  }
}

Test(encoding, segments__one_view__reaches_the_whole_length) {
  rs_model model = plain_model(16, 1e4, 16);
  rs_encoding *encoding = encode("rope", "", &model, 9);
  for (size_t m = 0; m < 9; m++) {
    rs_segment segments[RS_VIEWS];
    cr_assert_eq(rs_encoding_segments(encoding, m, segments), 1u);
    cr_assert(segments[0].begin == 0 && segments[0].end == 9 && segments[0].view == 0, "query %zu", m);
    for (size_t n = 0; n < 9; n++) cr_assert_eq(rs_encoding_view(encoding, m, n), 0u);
  }
  rs_encoding_free(encoding);
}

/* ---- additive embeddings and bias ---------------------------------------------------------------------------------
 */

Test(encoding, learned__table__is_a_function_of_its_seed_and_ends) {
  enum { WIDTH = 12, ROWS = 20 };
  rs_model model = plain_model(6, 1e4, ROWS);
  model.heads = 2;
  rs_encoding *encoding = encode("learned", "init_sd=0.5 table_seed=3", &model, ROWS);
  rs_encoding *other = encode("learned", "init_sd=0.5 table_seed=4", &model, ROWS);
  const rs_embed_kind *embed = encoding->method->embed;
  double whole[ROWS * WIDTH], part[ROWS * WIDTH], squares = 0;
  rs_err err = {0};
  cr_assert_eq(embed->fill(encoding, 0, ROWS, whole, &err), RS_OK, "%s", err.message);
  for (size_t begin = 0; begin < ROWS; begin++) {
    cr_assert_eq(embed->fill(encoding, begin, ROWS - begin, part, &err), RS_OK, "%s", err.message);
    cr_assert_arr_eq(part, whole + begin * WIDTH, (ROWS - begin) * WIDTH * sizeof *part, "from row %zu", begin);
  }
  for (size_t i = 0; i < ROWS * WIDTH; i++) squares += whole[i] * whole[i] / (ROWS * WIDTH);
  cr_assert(close_to(sqrt(squares), 0.5, 0.2, 0), "sd %g", sqrt(squares));
  cr_assert_eq(embed->fill(other, 0, ROWS, part, &err), RS_OK);
  cr_assert_neq(part[0], whole[0], "another seed, another table");
  rs_gaussian_fill((rs_stream){.seed = 3}, 0, 1, part);
  cr_assert_neq(0.5 * part[0], whole[0], "the table shares its numbers with purpose 0");
  cr_assert_eq(embed->fill(encoding, ROWS - 1, 2, part, &err), RS_DOMAIN);
  cr_assert_str_eq(err.message, "learned: position 20 is beyond the table of 20 rows");
  rs_encoding_free(other);
  rs_encoding_free(encoding);
}

Test(encoding, sinusoidal__any_rows__are_those_of_the_whole) {
  enum { WIDTH = 8, ROWS = 9 };
  rs_model model = plain_model(WIDTH, 1e4, 4);
  rs_encoding *encoding = encode("sinusoidal", "", &model, ROWS);
  double row[WIDTH];
  for (size_t i = 0; i < ROWS; i++) {
    cr_assert_eq(encoding->method->embed->fill(encoding, i, 1, row, NULL), RS_OK);
    for (size_t d = 0; d < WIDTH; d++) {
      double angle = (double)i / pow(10000, (double)(d / 2 * 2) / WIDTH);
      cr_assert(close_to(row[d], d % 2 ? cos(angle) : sin(angle), 0, 1e-14), "row %zu dim %zu: got %g", i, d, row[d]);
    }
  }
  rs_encoding_free(encoding);
}

Test(encoding, alibi__any_keys__penalise_distance_both_ways) {
  rs_model model = plain_model(16, 1e4, 16);
  model.heads = 8;
  rs_encoding *encoding = encode("alibi", "bias_max=4", &model, 16);
  double bias[16];
  for (size_t head = 0; head < 8; head++) {
    cr_assert_eq(encoding->bias_table[head], exp2(-0.5 * (double)(head + 1)), "head %zu", head);
    for (size_t query = 0; query < 16; query++)
      for (size_t begin = 0; begin < 16; begin += 3) {
        encoding->method->bias->row(encoding, head, query, begin, 16, bias);
        for (size_t n = begin; n < 16; n++)
          cr_assert_eq(bias[n - begin], -encoding->bias_table[head] * fabs((double)n - (double)query),
                       "head %zu query %zu key %zu", head, query, n);
      }
  }
  cr_assert_eq(encoding->rotary_dim, 0u);
  rs_encoding_free(encoding);
}

/* ---- precision --------------------------------------------------------------------------------------------------- */

static const rs_precision precisions[] = {
    {.positions = RS_BF16},
    {.inv_freq = RS_F32},
    {.angle = RS_F32},
    {.table = RS_BF16},
    {.positions = RS_F16, .inv_freq = RS_BF16, .angle = RS_BF16, .table = RS_F16},
};

/* Each quantity is rounded where it arises: positions, frequencies, their product, cos and sin. */
Test(encoding, precision__each_quantity__is_rounded_where_it_arises) {
  enum { LENGTH = 3000 };
  rs_model model = plain_model(16, 1e4, 64);
  rs_recipe recipe = make_recipe("rope", "");
  rs_encoding *exact = encode_recipe(&recipe, &model, LENGTH, NULL);
  for (size_t i = 0; i < RS_COUNT(precisions); i++) {
    const rs_precision *p = &precisions[i];
    rs_encoding *encoding = NULL;
    cr_assert_eq(rs_encoding_create(&recipe, &model, LENGTH, NULL, p, &encoding, NULL), RS_OK);
    for (size_t j = 0; j < 8; j++) {
      cr_assert_eq(encoding->omega[j], rs_round(p->inv_freq, exact->omega[j]), "setting %zu pair %zu", i, j);
      for (size_t m = 0; m < LENGTH; m += 7) {
        double position = encoding->pos_q[0][m], c, s, cosine, sine;
        cr_assert(position == rs_round(p->positions, (double)m) && encoding->pos_k[0][m] == position, "token %zu", m);
        double angle = rs_round(p->angle, position * encoding->omega[j]);
        if (p->angle == RS_F64)
          rs_cos_sin(position, encoding->omega[j], &cosine, &sine);
        else
          cosine = cos(angle), sine = sin(angle);
        rs_encoding_cos_sin(encoding, j, position, &c, &s);
        cr_assert(c == rs_round(p->table, cosine) && s == rs_round(p->table, sine), "setting %zu pair %zu token %zu", i,
                  j, m);
      }
    }
    rs_encoding_free(encoding);
  }
  rs_encoding_free(exact);
  rs_recipe_clear(&recipe);
}

Test(encoding, alibi__slope_factor__multiplies_every_slope) {
  rs_model model = plain_model(8, 1e4, 16);
  model.heads = 6;
  rs_encoding *plain = encode("alibi", "", &model, 4), *falcon = encode("alibi", "slope_factor=0.125", &model, 4);
  for (size_t h = 0; h < model.heads; h++) cr_assert_eq(falcon->bias_table[h], 0.125 * plain->bias_table[h]);
  rs_encoding_free(falcon);
  rs_encoding_free(plain);
}

/* Short formats err in each absolute angle, and the turn is what the two rotations leave; in double it is the turn of
 * the distance. */
Test(encoding, turn__in_each_precision__is_that_of_the_rotations) {
  enum { LENGTH = 5000, KEYS = 7 };
  static const size_t keys[KEYS] = {0, 1, 100, 2500, 4990, 4998, 4999};
  static const rs_format formats[] = {RS_F64, RS_F32, RS_BF16, RS_F16};
  rs_model model = plain_model(16, 1e4, 64);
  model.rotary_dim = 12;
  rs_recipe recipe = make_recipe("rope", "");
  for (size_t i = 0; i < 16 * KEYS; i++) {
    rs_precision p = {
        .positions = formats[i % 3], .inv_freq = formats[i % 2], .angle = formats[i % 4], .table = formats[i / 4 % 4]};
    bool exact = p.angle == RS_F64 && p.table == RS_F64;
    size_t key = keys[i / 16];
    rs_encoding *e = NULL;
    cr_assert_eq(rs_encoding_create(&recipe, &model, LENGTH, NULL, &p, &e, NULL), RS_OK);
    double q = e->pos_q[0][LENGTH - 1], k = e->pos_k[0][key], sum = 2, turn[2], of_q[2], of_k[2];
    for (size_t j = 0; j < 6; j++) {
      rs_encoding_turn(e, LENGTH - 1, key, j, &turn[0], &turn[1]);
      rs_encoding_cos_sin(e, j, q, &of_q[0], &of_q[1]);
      rs_encoding_cos_sin(e, j, k, &of_k[0], &of_k[1]);
      double cosine = of_q[0] * of_k[0] + of_q[1] * of_k[1], sine = of_q[1] * of_k[0] - of_q[0] * of_k[1];
      if (exact) rs_cos_sin(q - k, e->omega[j], &cosine, &sine);
      double slack = exact ? 0 : 1e-15;
      cr_assert(fabs(turn[0] - cosine) <= slack && fabs(turn[1] - sine) <= slack,
                "setting %zu key %zu pair %zu: %.17g %.17g, should be %.17g %.17g", i, key, j, turn[0], turn[1], cosine,
                sine);
      sum += turn[0];
    }
    cr_assert(close_to(rs_encoding_mean_cosine(e, LENGTH - 1, key), sum / 8, 0, 1e-15), "setting %zu key %zu", i, key);
    rs_encoding_free(e);
  }
  rs_recipe_clear(&recipe);
}

/* The largest half is 65504; 65520 and more round to infinity, as does a product of position and frequency. */
Test(encoding, create__beyond_the_range_of_a_format__is_a_domain_error) {
  static const struct {
    const char *method, *settings;
    size_t length;
    rs_precision precision;
    bool defined;
  } cases[] = {
      {"rope", "", 65520, {.positions = RS_F16}, true},
      {"rope", "", 65521, {.positions = RS_F16}, false},
      {"rope", "", 70000, {.positions = RS_F16}, false},
      {"nope", "", 70000, {.positions = RS_F16}, false},
      {"rope", "", 65520, {.angle = RS_F16}, true},
      {"rope", "", 65521, {.angle = RS_F16}, false},
      {"rope", "", 70000, {.angle = RS_F16}, false},
      {"rope", "", 70000, {.positions = RS_F32, .angle = RS_BF16, .table = RS_F16, .inv_freq = RS_F16}, true},
      {"nope", "", 70000, {.angle = RS_F16}, true}, /* nothing turns */
      {"pi", "factor=0.001", 50, {.angle = RS_F16}, true},
      {"pi", "factor=0.001", 100, {.angle = RS_F16}, false}, /* 99,000 rad */
      {"pi", "factor=0.001", 100, {.angle = RS_F32}, true},
      {"pi", "factor=0.001 interpolate=positions", 100, {.positions = RS_F16}, false},
      {"self_extend", "window=8 group=2000", 70000, {.positions = RS_F16}, false}, /* near keys keep their positions */
      {"pi", "factor=0.000001", 2, {.inv_freq = RS_F16}, false},
  };
  rs_model model = plain_model(16, 1e4, 64);
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_recipe recipe = make_recipe(cases[i].method, cases[i].settings);
    rs_encoding *encoding = NULL;
    rs_err err = {0};
    char message[128];
    snprintf(message, sizeof message, "length %zu is beyond the range of the float format of positions or angles",
             cases[i].length);
    rs_status status = rs_encoding_create(&recipe, &model, cases[i].length, NULL, &cases[i].precision, &encoding, &err);
    cr_assert_eq(status, cases[i].defined ? RS_OK : RS_DOMAIN, "case %zu: %s", i, rs_status_name(status));
    cr_assert_str_eq(err.message, cases[i].defined ? "" : message, "case %zu: %s", i, err.message);
    cr_assert_eq(encoding != NULL, cases[i].defined);
    rs_encoding_free(encoding);
    rs_recipe_clear(&recipe);
  }
}

/* The list as it stands, cos and sin times the factor, or the logits times its square. */
Test(encoding, explicit__list__is_the_table) {
  rs_model model = plain_model(8, 10000, 64);
  model.rotary_dim = 6;
  rs_encoding *plain = encode("explicit", "inv_freq=3,0.2,0 attention_factor=1.5", &model, 4);
  rs_encoding *logits = encode("explicit", "inv_freq=3,0.2,0 attention_factor=1.5 temperature=logits", &model, 4);
  for (size_t j = 0; j < 3; j++) cr_assert_eq(plain->omega[j], ((double[]){3, 0.2, 0})[j]);
  cr_assert(plain->amp == 1.5 && plain->logit_scale[3] == 1);
  cr_assert(logits->amp == 1 && logits->logit_scale[3] == 2.25);
  rs_encoding_free(plain);
  rs_encoding_free(logits);
}
