/* Methods and their parameters, checks and their messages. What the frequencies are worth is the golden suite's
 * matter. */
#include "../golden.h"

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
  " mrope_layout=none mrope_tail=t vision_ids=qwen2_vl vision_step=none id_arithmetic=none wavelengths=" wavelengths   \
  " cached_keys=consistent "
#define ROTARY ROTARY_OF("none", "none", "none", "exact")
#define COMMON "train_length=none logit_scale=none logit_scale_factor=none logit_scale_length=none dialect=none"
#define TABLE "values=none init_sd=0.02 table_seed=0 "
#define LEARNED "init=normal init_sd=0.02 table_seed=0 table=none "

/* Methods with their parameters and defaults; "none" also stands for unset. */
static const char *const method_texts[][2] = {
    {"nope", COMMON},
    {"rope", ROTARY COMMON},
    {"abf", ROTARY_OF("500000", "none", "none", "exact") COMMON},
    {"p_rope", "rotary_fraction=0.75 factor=1 " ROTARY COMMON},
    {"resonance", ROTARY_OF("none", "none", "none", "whole") COMMON},
    {"xpos", "xpos_gamma=0.4 xpos_scale_base=512 " ROTARY COMMON},
    {"pi", SCALED "interpolate=frequencies " ROTARY COMMON},
    {"ntk", SCALED ROTARY COMMON},
    {"dynamic_ntk", "scale=hf_dynamic factor=none " ROTARY COMMON},
    {"ntk_fixed", SCALED ROTARY COMMON},
    {"ntk_mixed", SCALED "mixed_b=0.625 " ROTARY COMMON},
    {"critical_base", SCALED ROTARY COMMON},
    {"dprope", SCALED "angle_bins=360 " ROTARY COMMON},
    {"riflex", SCALED "intrinsic_pair=none repetition=none margin=0.9 " ROTARY COMMON},
    {"ntk_by_parts", SCALED BY_PARTS ROTARY COMMON},
    {"ntk_by_parts_v1", SCALED ROTARY COMMON},
    {"yarn", SCALED BY_PARTS YARN("none", "none", "false") ROTARY COMMON},
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
    {"axial", "axis_order=wh kept_pairs=none trained_side=none side=none " ROTARY_OF("100", "interleaved", "none",
                                                                                     "exact") COMMON},
    {"rope_mixed",
     "freq_x=none freq_y=none learned=true table_seed=0 " ROTARY_OF("10", "interleaved", "none", "exact") COMMON},
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
    {"swin", "table_grid=own resize=bicubic " TABLE COMMON},
    {"kerple_log", "kernel=log r1=none r2=none a=none p=none table_seed=0 " COMMON},
    {"fire", "c=0.1 threshold=512 mlp_width=32 weights=none table_seed=0 " COMMON},
    {"sandwich", "sandwich_dim=128 " COMMON},
    {"sinusoidal", "embedding_layout=interleaved embedding_offset=none " COMMON},
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

Test(encoding, methods__of_the_list_above__have_these_parameters_and_defaults) {
  for (size_t i = 0; i < RS_COUNT(method_texts); i++) {
    rs_recipe recipe = make_recipe(method_texts[i][0], "");
    rs_text text = {0};
    write_settings(&recipe.settings, &text);
    cr_assert_str_eq(rs_text_string(&text), method_texts[i][1], "%s: got %s", method_texts[i][0],
                     rs_text_string(&text));
    rs_text_clear(&text);
    rs_recipe_clear(&recipe);
  }
}

Test(encoding, methods__each__is_found_and_has_parameters_that_are_told_of) {
  size_t count;
  const rs_method *methods = rs_methods(&count);
  for (size_t i = 0; i < count; i++) {
    rs_recipe recipe = make_recipe(methods[i].name, "");
    for (size_t p = 0; p < recipe.settings.count; p++) {
      const rs_param *param = recipe.settings.params[p];
      cr_assert_not(recipe.settings.values[p].given, "%s.%s", methods[i].name, param->name);
      cr_assert(param->summary != NULL && *param->summary != '\0' && param->unit != NULL, "%s.%s", methods[i].name,
                param->name);
      cr_assert_leq(param->min, param->max, "%s.%s", methods[i].name, param->name);
    }
    cr_assert_eq(rs_method_find(methods[i].name), &methods[i]);
    rs_recipe_clear(&recipe);
  }
  cr_assert_null(rs_method_find("yran"));
}

Test(encoding, kinds__each_stage__is_named_and_referred) {
  size_t counts[5];
  const void *tables[] = {rs_freq_kinds(&counts[0]), rs_pos_kinds(&counts[1]), rs_embed_kinds(&counts[2]),
                          rs_lscale_kinds(&counts[3]), rs_bias_kinds(&counts[4])};
  for (size_t t = 0; t < RS_COUNT(tables); t++) {
    cr_assert_gt(counts[t], 0, "stage %zu", t);
    for (size_t i = 0; i < counts[t]; i++) {
      const rs_kind *kind = ((const rs_kind *const *)tables[t])[i]; /* every kind begins with its rs_kind */
      cr_assert(kind->name != NULL && kind->summary != NULL && kind->reference != NULL && kind->version >= 0,
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
       "must be one of fixed, auto, dynamic, hf_dynamic, vllm_dynamic, qwen_dynamic, or a number (did you mean auto?)"},
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
#define ALONE                                                                                                          \
  ": it is defined on a ladder that one axis has alone (give mrope_section: none and that axis's rotary_dim)"
      {"riflex", "factor=2 mrope_section=2,3,3", "mrope_section",
       "shares the pairs of one ladder among 3 axes, and riflex would slow down pair 2, which reads h" ALONE},
      {"riflex", "factor=2 mrope_section=2,3,3 repetition=6", "mrope_section",
       "shares the pairs of one ladder among 3 axes, and riflex would slow down pair 0, which reads t" ALONE},
      {"riflex", "factor=2 mrope_section=4,4,0 mrope_layout=spatial_first intrinsic_pair=5", "mrope_section",
       "shares the pairs of one ladder among 2 axes, and riflex would slow down pair 5, which reads t" ALONE},
      {"riflex", "factor=2 mrope_section=equal intrinsic_pair=7", "mrope_section",
       "shares the pairs of one ladder among 3 axes, and riflex would slow down pair 7, which reads w" ALONE},
#undef ALONE
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
      {"riflex", "factor=2"},
      {"riflex", "factor=2 mrope_section=none"},
      {"riflex", "factor=2 mrope_section=8,0,0"}, /* time alone */
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
      {"riflex", "intrinsic_pair=8 factor=2", 8, RS_DOMAIN, "riflex: intrinsic_pair = 8, but there are pairs 0 to 7"},
      {"explicit", "inv_freq=1,0.5", 8, RS_DOMAIN, "inv_freq has 2 frequencies for 8 pairs"},
      {"mrope", "mrope_section=2.5,3,2.5", 8, RS_INPUT, "must hold whole numbers of pairs, not 2.5"},
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
      {"ntk_by_parts", "", NAN, 32, NAN, true}, /* the default rule */
  };
  rs_model model = plain_model(16, 1e4, 64);
  model.published = make_recipe("yarn", "factor=4 beta_fast=16 rope_theta=500000");
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_recipe recipe = make_recipe(cases[i].method, cases[i].settings);
    cr_assert_eq(rs_recipe_resolve(&recipe, &model, NULL), RS_OK);
    const double got[] = {rs_setting(&recipe.settings, "factor")->number,
                          rs_setting(&recipe.settings, "beta_fast")->number,
                          rs_setting(&recipe.settings, "rope_theta")->number};
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

/* The ramp of YaRN counts the rotations of a length of its own; vLLM's is four times the trained one, with sections
 * alone. */
Test(encoding, ramp_length__is_that_of_the_ramp_alone) {
  static const struct {
    const char *first, *second;
    bool same;
  } cases[] = {
      {"scale=4", "scale=4 ramp_length=64", true},
      {"scale=4", "scale=4 ramp_length=256", false},
      {"scale=4", "scale=4 ramp_length=vllm_mrope", true},
      {"scale=4 mrope_section=2,3,3 ramp_length=256", "scale=4 mrope_section=2,3,3 ramp_length=vllm_mrope", true},
      {"scale=4 mrope_section=2,3,3", "scale=4 mrope_section=2,3,3 ramp_length=vllm_mrope", false}};
  rs_model model = plain_model(16, 1e4, 64);
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_recipe first = make_recipe("yarn", cases[i].first), second = make_recipe("yarn", cases[i].second);
    rs_encoding *a = encode_recipe(&first, &model, 8, NULL), *b = encode_recipe(&second, &model, 8, NULL);
    cr_expect_eq(memcmp(a->omega, b->omega, 8 * sizeof *a->omega) == 0, cases[i].same, "%s, %s", cases[i].first,
                 cases[i].second);
    rs_encoding_free(a);
    rs_encoding_free(b);
    rs_recipe_clear(&first);
    rs_recipe_clear(&second);
  }
}

/* What layers learn for themselves repeats but for its seed; what they have in common does not. */
Test(encoding, recipes__that_repeat_another) {
  static const struct {
    const char *first[2], *other[2];
    bool repeats;
  } cases[] = {{{"rope", ""}, {"rope", ""}, false},
               {{"rope_mixed", ""}, {"rope_mixed", ""}, true},
               {{"rope_mixed", "table_seed=3"}, {"rope_mixed", "table_seed=4"}, true},
               {{"rope_mixed", "rope_theta=10"}, {"rope_mixed", "rope_theta=20"}, false},
               {{"rope_mixed", ""}, {"rope", ""}, false},
               {{"rope", ""}, {"rope_mixed", ""}, false}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_recipe first = make_recipe(cases[i].first[0], cases[i].first[1]);
    rs_recipe other = make_recipe(cases[i].other[0], cases[i].other[1]);
    cr_expect_eq(rs_recipe_repeats(&other, &first), cases[i].repeats, "case %zu", i);
    rs_recipe_clear(&first);
    rs_recipe_clear(&other);
  }
}
