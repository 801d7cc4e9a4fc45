/* What a config.json says, in numbers: four pairs whose frequencies are 1, 0.1, 0.01 and 0.001, by hand. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "advice/advice.h"

#define SMALL(length, more)                                                                                            \
  "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_attention_heads\": 8, \"num_hidden_layers\": 2, "            \
  "\"rope_theta\": 10000.0, \"max_position_embeddings\": " length more "}"
#define SCALED(length, rope) SMALL(length, ", \"rope_scaling\": {" rope "}")
#define YARN(more)                                                                                                     \
  SCALED("16384", "\"rope_type\": \"yarn\", \"factor\": 4.0, \"original_max_position_embeddings\": 4096" more)

static rs_portrait portray(const char *json) {
  rs_portrait portrait;
  rs_err err = {0};
  cr_assert_eq(rs_portrait_read(json, strlen(json), "config.json", NULL, &portrait, &err), RS_OK, "%s", err.message);
  return portrait;
}

static void expect_fates(const rs_portrait *p, const size_t want[RS_PAIR_FATES]) {
  for (size_t f = 0; f < RS_PAIR_FATES; f++) cr_expect_eq(p->fates[f], want[f], "fate %zu: %zu", f, p->fates[f]);
}

static void expect_reaches(const rs_portrait *p, size_t count, const rs_reach *want) {
  cr_assert_eq(p->reach_count, count);
  for (size_t i = 0; i < count; i++) {
    cr_expect_eq(p->reaches[i].length, want[i].length, "%zu", p->reaches[i].length);
    cr_expect_eq(p->reaches[i].out_of_range, want[i].out_of_range, "%zu: %zu", want[i].length,
                 p->reaches[i].out_of_range);
  }
}

/* Pair 3 turned to 4.096 rad in 4096 tokens, all others full circle. Divided by 4 it comes to 4.0958 in 16384, and to
 * 8.19 in 32768. */
Test(portrait, linear__divides_every_pair) {
  rs_portrait p = portray(SCALED("4096", "\"rope_type\": \"linear\", \"factor\": 4.0"));
  cr_expect_eq(p.trained, 4096);
  cr_expect_eq(p.served, 16384);
  cr_expect(isnan(p.original) && isnan(p.attention_given));
  cr_expect_eq(p.maximum, 4096);
  cr_expect_eq(p.factor, 4);
  cr_expect_eq(p.amp, 1);
  cr_expect_float_eq(p.stretch, 4, 1e-12);
  expect_fates(&p, (const size_t[]){[RS_DIVIDED] = 4, [RS_STILL] = 0});
  expect_reaches(&p, 3, (const rs_reach[]){{16384, 0}, {32768, 1}, {131072, 1}});
  /* The mean over m = 1 .. 8, weighted by 1/m, of the mean over pairs of 1 - cos(0.75 omega m). */
  cr_expect_float_eq(p.near, 0.23127928297663988, 1e-12);
  rs_portrait_clear(&p);
}

/* The ramp goes from floor(1.31) = 1 to ceil(2.81) = 3, so pair 2 is half way: 0.01 (1 + 1/4) / 2. */
Test(portrait, yarn__keeps_blends_and_divides) {
  rs_portrait p = portray(YARN(""));
  cr_expect_eq(p.original, 4096);
  cr_expect_eq(p.maximum, 16384);
  cr_expect_eq(p.served, 16384);
  expect_fates(&p, (const size_t[]){[RS_KEPT] = 2, [RS_BLENDED] = 1, [RS_DIVIDED] = 1, [RS_STILL] = 0});
  expect_reaches(&p, 3, (const rs_reach[]){{16384, 0}, {32768, 1}, {131072, 1}});
  cr_expect_float_eq(p.amp, 1.138629436111989, 1e-12);
  cr_expect_float_eq(p.attention_formula, 1.138629436111989, 1e-12);
  cr_expect(isnan(p.attention_given));
  cr_expect_float_eq(p.near, 2.4213865060350003e-05, 1e-15);
  rs_portrait_clear(&p);
}

Test(portrait, attention_factor__given_beside_the_formula) {
  rs_portrait p = portray(YARN(", \"attention_factor\": 2.0"));
  cr_expect_eq(p.attention_given, 2);
  cr_expect_eq(p.amp, 2);
  cr_expect_float_eq(p.attention_formula, 1.138629436111989, 1e-12);
  rs_portrait_clear(&p);
}

/* DeepSeek-V4's code has no factor, and its files have no key of it. */
Test(portrait, attention_factor__of_the_code_is_not_the_files) {
  rs_portrait p = portray("{\"model_type\": \"deepseek_v4\", \"hidden_size\": 64, \"num_attention_heads\": 8,"
                          "\"max_position_embeddings\": 16384, \"rope_scaling\": {\"rope_type\": \"yarn\", "
                          "\"factor\": 4.0, \"original_max_position_embeddings\": 4096}}");
  cr_expect(isnan(p.attention_given));
  cr_expect_eq(p.amp, 1);
  cr_expect_float_eq(p.attention_formula, 1.138629436111989, 1e-12);
  rs_portrait_clear(&p);
}

static const char *title(const rs_derivation *derivation) {
  return rs_config_engines(derivation->engine)->title;
}

/* Up to 4.50 the ramp was that of 16384 tokens, floor(1.91) = 1 to ceil(3.42) = 4: pair 2 is a third of the way, pair 3
 * two thirds, (1 - 2/3 * 3/4) / (1/4) = 2. gpt-oss does not round: pair 2 is 0.459 of the way, 4.91 % faster. */
Test(portrait, engines__beside_transformers_5) {
  static const struct {
    const char *engine;
    size_t differ;
    double largest, amp, logit_factor;
    bool differs;
  } want[] = {{"transformers 5 (and 4.56 on)", 0, 0, 1.138629436111989, 1, false},
              {"transformers 4.51 to 4.55", 0, 0, 1.138629436111989, 1, false},
              {"transformers 4 up to 4.50", 2, 1, 1.138629436111989, 1, true},
              {"vLLM from #56446 (September 2026)", 0, 0, 1.138629436111989, 1, false},
              {"vLLM before #56446", 0, 0, 1.138629436111989, 1, false},
              {"SGLang", 0, 0, 1.138629436111989, 1, false},
              {"llama.cpp", 0, 0, 1.138629436111989, 1, false},
              {"gpt-oss's code", 1, 0.0491154433807095, 1.138629436111989, 1, true},
              {"DeepSeek's code", 0, 0, 1, 1.2964769927807063, false}}; /* whole heads turn: the same logits */
  rs_portrait p = portray(YARN(""));
  cr_assert_eq(p.engines.count, RS_COUNT(want));
  for (size_t i = 0; i < RS_COUNT(want); i++) {
    const rs_derivation *r = &p.engines.items[i];
    cr_expect_str_eq(title(r), want[i].engine);
    cr_expect_eq(r->differ, want[i].differ, "%s: %zu", title(r), r->differ);
    cr_expect_float_eq(r->largest, want[i].largest, 1e-9, "%s: %.17g", title(r), r->largest);
    cr_expect_float_eq(r->amp, want[i].amp, 1e-12);
    cr_expect_float_eq(r->logit_factor, want[i].logit_factor, 1e-12, "%.17g", r->logit_factor);
    cr_expect_eq(r->differs, want[i].differs, "%s", title(r));
  }
  rs_portrait_clear(&p);
}

/* max_position_embeddings = original: their ratio is 1, and 4.51 to 4.55 scaled nothing. */
Test(portrait, releases__take_the_ratio) {
  rs_portrait p = portray(SCALED("4096", "\"rope_type\": \"yarn\", \"factor\": 4.0, "
                                         "\"original_max_position_embeddings\": 4096"));
  cr_expect_eq(p.engines.items[1].amp, 1);
  cr_expect_eq(p.engines.items[1].differ, 2);
  cr_expect_float_eq(p.engines.items[1].largest, 3, 1e-9); /* pair 3, which the others divide by 4 */
  cr_expect_eq(p.engines.items[2].differ, 0);
  rs_portrait_clear(&p);
}

/* Qwen3 came with 4.51: no earlier release has read its files. */
Test(portrait, releases__before_the_model_are_left_out) {
  rs_portrait p = portray("{\"model_type\": \"qwen3\", \"hidden_size\": 64, \"num_attention_heads\": 8, "
                          "\"head_dim\": 8, \"num_hidden_layers\": 2, \"rope_theta\": 10000.0, "
                          "\"max_position_embeddings\": 16384, \"rope_scaling\": {\"rope_type\": \"yarn\", \"factor\": "
                          "4.0, \"original_max_position_embeddings\": 4096}}");
  cr_assert_eq(p.engines.count, 8);
  cr_expect_str_eq(title(&p.engines.items[1]), "transformers 4.51 to 4.55");
  cr_expect_str_eq(title(&p.engines.items[2]), "vLLM from #56446 (September 2026)");
  rs_portrait_clear(&p);
}

Test(portrait, partial_heads__do_not_share_the_softmax_scale) {
  rs_portrait p =
      portray(SMALL("16384", ", \"partial_rotary_factor\": 0.5, \"rope_scaling\": {\"rope_type\": \"yarn\", "
                             "\"factor\": 4.0, \"original_max_position_embeddings\": 4096}"));
  const rs_derivation *deepseek = &p.engines.items[p.engines.count - 1];
  cr_expect_eq(p.pairs, 2);
  cr_expect_eq(deepseek->differ, 0);
  cr_expect(deepseek->differs);
  rs_portrait_clear(&p);
}

/* s at 16384 is 4 * 4 - 3 = 13, and the base 10000 * 13^(8/6): pair 0 is kept, the last divided by 13. */
Test(portrait, dynamic__s_is_that_of_the_served_length) {
  rs_portrait p = portray(SCALED("4096", "\"rope_type\": \"dynamic\", \"factor\": 4.0"));
  cr_expect_eq(p.factor, 13);
  expect_fates(&p, (const size_t[]){[RS_KEPT] = 1, [RS_BLENDED] = 2, [RS_DIVIDED] = 1, [RS_STILL] = 0});
  cr_expect_eq(p.near, 0); /* within the trained length nothing is scaled */
  rs_portrait_clear(&p);
}

Test(portrait, longrope__alters_by_no_one_factor) {
  rs_portrait p = portray(SCALED("16384", "\"rope_type\": \"longrope\", \"original_max_position_embeddings\": 4096, "
                                          "\"short_factor\": [1, 1, 1, 1], \"long_factor\": [1, 1.5, 2, 6]"));
  cr_expect(isnan(p.factor));
  expect_fates(&p, (const size_t[]){[RS_KEPT] = 1, [RS_ALTERED] = 3, [RS_STILL] = 0});
  cr_expect_float_eq(p.stretch, 6, 1e-12);
  cr_expect_float_eq(p.amp, sqrt(1 + log(4) / log(4096)), 1e-12);
  rs_portrait_clear(&p);
}

/* Ministral 3's 1 + beta ln(...), and Devstral 2's, which a beta of 0 makes 1. */
Test(portrait, temperature__of_factor_0_is_none) {
#define TEMPERED(beta)                                                                                                 \
  "{\"model_type\": \"ministral3\", \"hidden_size\": 64, \"num_attention_heads\": 8, \"head_dim\": 8, "                \
  "\"num_hidden_layers\": 2, \"max_position_embeddings\": 16384, \"rope_parameters\": {\"rope_type\": \"yarn\", "      \
  "\"rope_theta\": 10000.0, \"factor\": 4.0, \"original_max_position_embeddings\": 4096, "                             \
  "\"llama_4_scaling_beta\": " beta "}}"
  rs_portrait p = portray(TEMPERED("0.1"));
  cr_assert_not_null(p.temperature);
  cr_expect_str_eq(p.temperature, "ministral");
  rs_portrait_clear(&p);
  p = portray(TEMPERED("0"));
  cr_expect_null(p.temperature);
  rs_portrait_clear(&p);
}

Test(portrait, pair_fate__is_within_a_millionth) {
  cr_expect_eq(rs_pair_fate_of(1, 1, 4), RS_KEPT);
  cr_expect_eq(rs_pair_fate_of(1 + 9e-7, 1, 4), RS_KEPT);
  cr_expect_eq(rs_pair_fate_of(1 - 2e-6, 1, 4), RS_BLENDED);
  cr_expect_eq(rs_pair_fate_of(1 + 2e-6, 1, 4), RS_ALTERED);
  cr_expect_eq(rs_pair_fate_of(0.25, 1, 4), RS_DIVIDED);
  cr_expect_eq(rs_pair_fate_of(0.25 - 1e-6, 1, 4), RS_ALTERED);
  cr_expect_eq(rs_pair_fate_of(0.5, 1, NAN), RS_ALTERED);
  cr_expect_eq(rs_pair_fate_of(0, 1, 4), RS_STILL);
}

/* The count of pairs out of range is that of the metric, whose tables are made for the whole length. */
Test(portrait, out_of_range__is_the_metrics) {
  static const char *const files[] = {YARN(""), SCALED("4096", "\"rope_type\": \"dynamic\", \"factor\": 4.0"),
                                      SCALED("512", "\"rope_type\": \"linear\", \"factor\": 2.0"), SMALL("300", "")};
  static const size_t lengths[] = {64, 512, 700, 1024, 5000};
  for (size_t i = 0; i < RS_COUNT(files); i++) {
    rs_portrait p = portray(files[i]);
    for (size_t k = 0; k < RS_COUNT(lengths); k++) {
      rs_view view;
      rs_encoding *encoding;
      rs_result result = {.curve.columns = 4};
      cr_assert_eq(rs_view_make(&p, lengths[k], &view, NULL), RS_OK);
      cr_assert_eq(rs_encoding_create(&p.recipe, p.model, lengths[k], NULL, NULL, &encoding, NULL), RS_OK);
      cr_assert_eq(rs_metric_find("ood_angles")->finish(&(rs_metric_in){.encoding = encoding}, NULL, &result, NULL),
                   RS_OK);
      cr_expect_eq((double)view.out_of_range, result.value[0], "file %zu at %zu", i, lengths[k]);
      rs_curve_clear(&result.curve);
      rs_encoding_free(encoding);
      rs_view_clear(&view);
    }
    rs_portrait_clear(&p);
  }
}

/* A window of 512 tokens: the farthest key is 511 back, and turns pair 3 by 0.511 rad of the 0.3 that 300 tokens had.
 */
Test(portrait, windows__bound_the_reach) {
  static const char *const files[] = {
      SMALL("300", ", \"sliding_window\": 512, \"layer_types\": [\"sliding_attention\", \"sliding_attention\"]"),
      SMALL("300", ", \"sliding_window\": 300, \"layer_types\": [\"sliding_attention\", \"sliding_attention\"]"),
      SMALL("300", ", \"sliding_window\": 512, \"layer_types\": [\"sliding_attention\", \"full_attention\"]")};
  static const size_t reaches[] = {511, 299, 4095}, out_of_range[] = {2, 0, 2};
  for (size_t i = 0; i < RS_COUNT(files); i++) {
    rs_portrait p = portray(files[i]);
    rs_view view;
    cr_assert_eq(rs_view_make(&p, 4096, &view, NULL), RS_OK);
    cr_expect_eq(view.reach, reaches[i], "%zu", view.reach);
    cr_expect_eq(view.out_of_range, out_of_range[i], "file %zu: %zu", i, view.out_of_range);
    rs_view_clear(&view);
    rs_portrait_clear(&p);
  }
  rs_portrait p;
  cr_assert_eq(rs_portrait_read(files[2], strlen(files[2]), "config.json", "sliding_attention", &p, NULL), RS_OK);
  cr_expect_eq(p.profile.kinds[p.kind].mask.window, 512);
  rs_portrait_clear(&p);
  cr_expect_eq(rs_portrait_read(files[2], strlen(files[2]), "config.json", "chunked", &p, NULL), RS_INPUT);
}

Test(portrait, what_turns_nothing__has_layers_alone) {
  rs_portrait p = portray("{\"model_type\": \"bert\", \"hidden_size\": 64, \"num_attention_heads\": 8, "
                          "\"num_hidden_layers\": 2, \"max_position_embeddings\": 512}");
  cr_expect_not(p.turns);
  cr_expect_eq(p.engines.count, 0);
  cr_expect_eq(p.profile.layer_count, 2);
  rs_portrait_clear(&p);
  cr_expect_eq(rs_portrait_read("[]", 2, "list.json", NULL, &p, NULL), RS_INPUT);
  cr_expect_eq(rs_portrait_read("{}", 2, "empty.json", NULL, &p, NULL), RS_INPUT);
}
