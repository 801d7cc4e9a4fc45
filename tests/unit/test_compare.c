/* test_compare.c: why two spectra differ. Altered tables are worked out here in their own way; a cause must be named
 * where one was planted, and none where nothing that is known was done. */
#include "../fixtures/sides.h"
#include "../golden.h"
#include "run/run.h"

/* ---- causes ------------------------------------------------------------------------------------------------------ */

/* A planted change is named; the other recipe is known. */
Test(compare, causes__recipe_and_recipe__planted_change_is_named) {
  static const struct {
    const char *method_a, *a, *method_b, *b, *cause;
  } cases[] = {
      {"yarn", "factor=8", "yarn", "factor=8 truncate=false", "B is A with truncate: false (A has true)"},
      {"yarn", "factor=8", "yarn", "factor=8 dialect=paper", "B is A in dialect paper:"},
      {"yarn", "factor=8", "yarn", "factor=8 dialect=paper", "B is A with ramp: paper (A has hf)"},
      {"yarn", "factor=8", "rope", "", "B is A without any scaling: plain RoPE (A is yarn)"},
      {"rope", "", "yarn", "factor=8", "A is B without any scaling: plain RoPE (B is yarn)"},
      {"yarn", "factor=8", "pi", "factor=8", "B is A as pi with s = 8: every frequency divided by s (A is yarn)"},
      {"yarn", "factor=8", "llama3", "factor=8", "B is A as llama3 with s = 8 (A is yarn)"},
      {"rope", "", "ntk", "factor=3.25", "B is A as ntk with s = 3.25 (A is rope)"},
      {"rope", "rope_theta=5000", "ntk", "rope_theta=5000 factor=3.25", "B is A as ntk with s = 3.25 (A is rope)"},
      {"yarn", "factor=8", "yarn", "factor=8 train_length=32768", "with train_length: 32768 (A has 4096)"},
      {"llama3", "factor=8", "llama3", "factor=5", "B is A with factor: 5 (A has 8)"},
      {"yarn", "factor=8", "yarn", "factor=5 beta_fast=20 beta_slow=2",
       "B is A with the other side's factor, beta_fast, beta_slow"},
      {"rope", "", "rope", "rope_theta=500000", "B is A with rope_theta: 500000 (A has 10000)"},
      {"rope", "", "rope", "wavelengths=whole", "B is A with wavelengths: whole (A has exact)"},
      {"yarn", "factor=8", "yarn", "factor=8 temperature=logits",
       "with the attention factor moved from cos and sin to the logits"},
      {"yarn", "factor=8", "yarn", "factor=8 temperature=logits", "B is A with temperature: logits (A has cos_sin)"},
      {"mrope", "mrope_section=16,24,24", "mrope", "mrope_section=16,24,24 mrope_layout=interleaved",
       "B is A with mrope_layout: interleaved"},
      {"rope", "", "rope", "logit_scale=log_n", "B is A with logit_scale: log_n (A has none)"},
      {"rope", "", "rope", "cached_keys=16", "B is A with cached_keys: 16 (A has consistent)"},
      {"self_extend", "", "rope", "", "B is A without any scaling: plain RoPE (A is self_extend)"},
      {"self_extend", "group=4", "self_extend", "", "B is A with group: auto (A has 4)"},
      {"mrope", "mrope_section=16,24,24", "mrope", "mrope_section=16,24,24 vision_ids=hf",
       "B is A with vision_ids: hf (A has qwen2_vl)"},
      {"rope", "", "rope", "rotary_dim=64", "B is A with rotary_dim: 64 (A has 128)"},
  };
  rs_model model = small_model();
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    side a, b;
    make_side(cases[i].method_a, cases[i].a, &model, 32768, &a);
    make_side(cases[i].method_b, cases[i].b, &model, 32768, &b);
    rs_causes causes = causes_of(&a.compared, &b.compared);
    expect_cause(&causes, cases[i].cause, cases[i].b);
    cr_expect(causes.count > 0 && causes.items[0].whole && causes.items[0].breaks == 0, "%s", cases[i].b);
    side_clear(&a);
    side_clear(&b);
  }
}

/* A default that is written is no difference. */
Test(compare, causes__equal__none) {
  static const char *const same[] = {"factor=8", "factor=8 wavelengths=exact", "factor=8 logit_scale=none"};
  rs_model model = small_model();
  for (size_t i = 0; i < RS_COUNT(same); i++) {
    side a, b;
    make_side("yarn", "factor=8", &model, 32768, &a);
    make_side("yarn", same[i], &model, 32768, &b);
    rs_causes causes = causes_of(&a.compared, &b.compared);
    cr_assert(causes.count == 0 && causes.shape[0] == '\0', "%s", same[i]);
    cr_assert_eq(rs_spectrum_compare(&a.spectrum, &b.spectrum, 0).differs, 0u, "%s", same[i]);
    side_clear(&a);
    side_clear(&b);
  }
}

/* The list alone: nothing is known of how it came to be. `change` works on the plain ladder or the recipe's table. */
typedef struct planted {
  const char *method, *settings; /* A */
  const char *source, *with;     /* what the list is made from */
  double (*change)(const double *omega, size_t pairs, size_t j);
  double amp_times, amp_power; /* of the attention factor; 0: not dumped */
  const char *cause;
} planted;

static double same(const double *omega, size_t pairs, size_t j) {
  (void)pairs;
  return omega[j];
}

static double reversed(const double *omega, size_t pairs, size_t j) {
  return omega[pairs - 1 - j];
}

static double split(const double *omega, size_t pairs, size_t j) {
  return omega[j < pairs / 2 ? 2 * j : 2 * (j - pairs / 2) + 1];
}

static double merged(const double *omega, size_t pairs, size_t j) {
  return omega[j % 2 ? pairs / 2 + j / 2 : j / 2];
}

static double shuffled(const double *omega, size_t pairs, size_t j) {
  return omega[(j * 7 + 3) % pairs];
}

static double over_128(const double *omega, size_t pairs, size_t j) {
  (void)omega, (void)pairs;
  return pow(10000, -2 * (double)j / 128);
}

static void plant(const planted *p, const rs_model *model, size_t length, double noise, side *a, side *b) {
  double list[256];
  rs_err err = {0};
  make_side(p->method, p->settings, model, length, a);
  make_side(p->source, p->with, model, length, b);
  size_t pairs = b->spectrum.pairs;
  for (size_t j = 0; j < pairs; j++) list[j] = p->change(b->spectrum.omega, pairs, j) * (1 + (j % 2 ? noise : -noise));
  double amp = p->amp_power != 0 ? p->amp_times * pow(b->spectrum.amp, p->amp_power) : NAN;
  rs_spectrum_clear(&b->spectrum);
  cr_assert_eq(rs_spectrum_list(list, pairs, &b->spectrum, &err), RS_OK);
  b->spectrum.amp = amp;
  b->compared = (rs_compared){.length = length, .spectrum = &b->spectrum};
}

Test(compare, causes__list__planted_change_is_named) {
  static const planted cases[] = {
      {"yarn", "factor=8", "yarn", "factor=8 train_length=32768", same, 0, 0,
       "with train_length: 32768 (max_length; A"},
      {"yarn", "factor=4", "yarn", "factor=4 train_length=8192", same, 0, 0,
       "with train_length: 8192 (max_length / s; A"},
      {"yarn", "factor=4", "yarn", "factor=4 train_length=16384", same, 0, 0,
       "with train_length: 16384 (train_length times s; A has 4096)"},
      {"llama3", "factor=8", "llama3", "factor=8 train_length=2048", same, 0, 0, "train_length: 2048 (half as long; A"},
      {"llama3", "factor=8", "llama3", "factor=8 train_length=1024", same, 0, 0,
       "train_length: 1024 (a quarter as long"},
      {"llama3", "factor=8", "llama3", "factor=8 train_length=8192", same, 0, 0,
       "train_length: 8192 (twice as long; A"},
      {"yarn", "factor=8 rope_theta=1e6", "yarn", "factor=8", same, 0, 0,
       "with rope_theta: 10000 (what libraries fall"},
      {"yarn", "factor=8", "yarn", "factor=2.5", same, 0, 0, "with s = 2.5 (as the slowest pair shows; A has 8)"},
      {"yarn", "factor=8", "yarn", "factor=64", same, 0, 0, "with s = 64 (as the slowest pair shows; A has 8)"},
      {"yarn", "factor=8", "yarn", "factor=8 truncate=false", same, 0, 0, "with truncate: false (A has true)"},
      {"yarn", "factor=8", "yarn", "factor=8", reversed, 0, 0, "B is A in reversed order"},
      {"yarn", "factor=8", "yarn", "factor=8", split, 0, 0, "in the order 0, 2, 4, ..., 1, 3, 5"},
      {"yarn", "factor=8", "yarn", "factor=8", merged, 0, 0, "with the pairs' two halves interleaved"},
      {"yarn", "factor=8", "yarn", "factor=8", shuffled, 0, 0, "in another order (the same frequencies)"},
      {"yarn", "factor=8", "yarn", "factor=8", same, 1, 2, "with the attention factor squared on cos and sin"},
      {"yarn", "factor=8", "yarn", "factor=8", same, 1, 0.5, "with the square root of the attention factor"},
      {"yarn", "factor=8", "yarn", "factor=8", same, 1, -1, "with the attention factor inverted"},
      {"yarn", "factor=8", "ntk_by_parts", "factor=8", same, 1, 1, "B is A without the attention factor"},
      {"ntk_by_parts", "factor=8", "yarn", "factor=8", same, 1, 1, "A is B without the attention factor"},
      {"yarn", "factor=8 mscale=1 mscale_all_dim=.5", "yarn", "factor=8", same, 1, 1, "without mscale and mscale_all"},
      {"yarn", "factor=8 attention_factor=2", "yarn", "factor=8", same, 1, 1, "with attention_factor: none"},
      {"yarn", "factor=8 beta_fast=16 mscale=1", "yarn", "factor=8 mscale=1", same, 1, 1, "beta_fast: 32 (the default"},
      {"longrope", NULL, "longrope", NULL, same, 0, 0, "at 4096 tokens, the train_length (A is at 32768)"},
      /* as ntk_by_parts at the old s the factor is explained, at the other s all is */
      {"yarn", "factor=8", "ntk_by_parts", "factor=2.5", same, 1, 1, "B is A as ntk_by_parts with s = 2.5"},
      {"rope", "", "rope", "rope_theta=123400", same, 0, 0,
       "with rope_theta: 123400 (as the slowest pair shows; A has"},
      {"yarn", "factor=8", "yarn", "factor=8 rope_theta=5e5", same, 0, 0, "with rope_theta: 500000 (as the slowest"},
      {"yarn", "factor=8 rope_theta=5e5", "rope", "rope_theta=5e5", same, 0, 0, "B is A without any scaling"},
      {"rope", "", "llama3", "factor=8", same, 0, 0, "B is A as llama3 with s = 8 (A is rope)"},
      {"rope", "rotary_dim=64", "rope", "rotary_dim=64", over_128, 0, 0,
       "with rope_theta: 100 (as exponents over head_dim make it"},
  };
  rs_model model = small_model();
  for (size_t i = 0; i < RS_COUNT(cases); i++)
    for (int noisy = 0; noisy < 2; noisy++) {
      planted p = cases[i];
      rs_text lists = {0};
      side a, b;
      bool longrope = p.settings == NULL;
      if (longrope) {
        for (int l = 0; l < 2; l++)
          for (int j = 0; j < 64; j++)
            rs_text_printf(&lists, "%s%g", j > 0 ? "," : l ? " long_factor=" : "short_factor=", 1 + l * 3 + 0.01 * j);
        p.settings = p.with = rs_text_string(&lists);
      }
      plant(&p, &model, 32768, noisy ? 2e-6 : 0, &a, &b);
      if (longrope) {
        rs_spectrum_clear(&b.spectrum);
        double list[64];
        for (int j = 0; j < 64; j++) list[j] = pow(10000, -j / 64.0) / (1 + 0.01 * j);
        cr_assert_eq(rs_spectrum_list(list, 64, &b.spectrum, NULL), RS_OK);
      }
      rs_causes causes = causes_of(&a.compared, &b.compared);
      expect_cause(&causes, p.cause, p.with);
      side_clear(&a);
      side_clear(&b);
      rs_text_clear(&lists);
    }
}

/* FoPE holds slow pairs still, or has no number of them; LongRoPE's dynamic rule grows its divisors with the length. */
Test(compare, causes__of_authors_code__are_named) {
  rs_model model = small_model(); /* 4096 tokens, up to 32768: 10000^(-j/64) makes a turn in 4096 tokens up to 45 */
  rs_text lists = {0};
  double list[64], kept[64], grown[64];
  side a, b;
  rs_err err = {0};
  for (int j = 0; j < 64; j++) {
    list[j] = pow(10000, -j / 64.0);
    kept[j] = list[j] * 4096 > 2 * M_PI ? list[j] : 0;
    grown[j] = list[j] / (1 + (0.5 + 0.1 * j) * (16384 / 4096.0 - 1) / 7);
  }
  for (int l = 0; l < 2; l++)
    for (int j = 0; j < 64; j++)
      rs_text_printf(&lists, "%s%g", j > 0 ? "," : l ? " long_factor=" : "short_factor=", l ? 1.5 + 0.1 * j : 1);
  const struct {
    const char *method, *settings;
    const double *list;
    size_t pairs;
    const char *cause;
  } cases[] = {
      {"rope", "", kept, 64, "with the pairs that make less than one turn within the trained length held still (FoPE"},
      {"rope", "", list, 46, "with its first 46 pairs alone (FoPE's cut: others make no turn within 4096 tokens"},
      {"rope", "", list, 20, "with its first 20 pairs alone (FoPE's num_inv_freq, or a list that was cut)"},
      {"longrope", rs_text_string(&lists), grown, 64, "with long_factor grown with the length, 1 + (f - 1) (n / L0"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    make_side(cases[i].method, cases[i].settings, &model, 16384, &a);
    b = (side){0};
    cr_assert_eq(rs_spectrum_list(cases[i].list, cases[i].pairs, &b.spectrum, &err), RS_OK);
    b.compared = (rs_compared){.length = 16384, .spectrum = &b.spectrum};
    rs_causes causes = causes_of(&a.compared, &b.compared);
    expect_cause(&causes, cases[i].cause, cases[i].settings);
    side_clear(&a);
    rs_spectrum_clear(&b.spectrum);
  }
  rs_text_clear(&lists);
}

/* Two causes at once: apart where one is of the frequencies and one of the factor, together where both are. */
Test(compare, causes__two_at_once__are_both_named) {
  rs_model model = small_model();
  side a, b;
  const planted apart = {"yarn", "factor=8", "yarn", "factor=8 truncate=false", same, 1, 2, ""};
  plant(&apart, &model, 32768, 0, &a, &b);
  rs_causes causes = causes_of(&a.compared, &b.compared);
  expect_cause(&causes, "with truncate: false", "apart");
  expect_cause(&causes, "with the attention factor squared", "apart");
  for (size_t i = 0; i < causes.count; i++) cr_expect(!causes.items[i].whole, "%s", causes.items[i].text);
  side_clear(&a);
  side_clear(&b);
  const planted together = {"yarn", "factor=8", "yarn", "factor=8 truncate=false train_length=8192", same, 0, 0, ""};
  plant(&together, &model, 32768, 0, &a, &b);
  causes = causes_of(&a.compared, &b.compared);
  expect_cause(&causes, "with train_length: 8192 (twice as long; A has 4096) and with truncate: false (A has true)",
               "two");
  side_clear(&a);
  side_clear(&b);
  /* of the frequencies alone: two changes are not tried for the factor */
  static const char *const three[] = {"factor=8 truncate=false train_length=8192 attention_factor=2",
                                      "factor=3.7 beta_fast=17 beta_slow=1.3"};
  for (size_t i = 0; i < RS_COUNT(three); i++) {
    const planted p = {"yarn", "factor=8", "yarn", three[i], same, 1, 1, ""};
    plant(&p, &model, 32768, 0, &a, &b);
    causes = causes_of(&a.compared, &b.compared);
    cr_expect_gt(causes.count, 0u);
    cr_expect_eq(causes.shape[0] == '\0', i == 0, "%s: %s", three[i], causes.shape);
    for (size_t c = 0; c < causes.count; c++) {
      const char *text = causes.items[c].text;
      bool two = strstr(text, " and with ") != NULL || strstr(text, " and in dialect ") != NULL;
      cr_expect(!two || (causes.items[c].explains & RS_DIFFERS_FREQUENCY), "%s", text);
    }
    side_clear(&a);
    side_clear(&b);
  }
  /* one that explains two things of three is named once */
  const planted layout = {"yarn", "factor=8", "yarn", "factor=4", same, 1, 1, ""};
  plant(&layout, &model, 32768, 0, &a, &b);
  b.spectrum.pair_layout = RS_INTERLEAVED;
  causes = causes_of(&a.compared, &b.compared);
  expect_cause(&causes, "with pair_layout: interleaved (the other side's; A has half_split)", "layout");
  expect_cause(&causes, "with s = 4", "layout");
  for (size_t i = 0; i < causes.count; i++)
    for (size_t k = 0; k < i; k++) cr_expect_str_neq(causes.items[i].text, causes.items[k].text);
  side_clear(&a);
  side_clear(&b);
}

/* A cause that would change what agrees says so, and comes after those that do not. */
Test(compare, causes__of_a_part__say_what_they_would_change) {
  rs_model model = small_model();
  side a, b;
  const planted p = {"yarn", "factor=8", "pi", "factor=8", same, 0.1 * log(8) + 1, 1, ""};
  plant(&p, &model, 32768, 0, &a, &b);
  rs_causes causes = causes_of(&a.compared, &b.compared);
  expect_cause(&causes, "B is A as pi with s = 8", "frequencies");
  cr_expect_gt(causes.count, 0u);
  for (size_t i = 0; i < causes.count; i++) {
    const rs_cause *cause = &causes.items[i];
    cr_expect(!cause->whole && cause->explains == RS_DIFFERS_FREQUENCY && cause->breaks == RS_DIFFERS_AMPLITUDE, "%s",
              cause->text);
    cr_expect(close_to(cause->residual, 0, 0, 1e-12), "%s: %g", cause->text, cause->residual);
  }
  side_clear(&a);
  side_clear(&b);
  /* a factor that the logits may have instead is not made up */
  const planted dump = {"ntk_by_parts", "factor=8", "ntk_by_parts", "factor=8", same, 1.2, 1, ""};
  plant(&dump, &model, 32768, 0, &a, &b);
  causes = causes_of(&a.compared, &b.compared);
  expect_cause(&causes, "A is B without the attention factor", "factor");
  for (size_t i = 0; i < causes.count; i++)
    cr_expect_null(strstr(causes.items[i].text, "logits"), "%s", causes.items[i].text);
  side_clear(&a);
  side_clear(&b);
}

static double times_constant(const double *omega, size_t pairs, size_t j) {
  (void)pairs;
  return omega[j] * 0.7;
}

static double other_base(const double *omega, size_t pairs, size_t j) {
  (void)omega;
  return pow(76543, -(double)j / (double)pairs);
}

static double band(const double *omega, size_t pairs, size_t j) {
  (void)pairs;
  return omega[j] * (j >= 20 && j < 30 ? 1.1 + 0.01 * (double)(j % 3) : 1);
}

static double tail(const double *omega, size_t pairs, size_t j) {
  (void)pairs;
  return omega[j] * (j >= 20 ? j < 50 ? 0.9 - 0.01 * (double)(j % 3) : 0.77 : 1);
}

static double everywhere(const double *omega, size_t pairs, size_t j) {
  (void)pairs;
  return omega[j] * (1.1 + 0.01 * (double)(j % 3));
}

/* Nothing that is known: the shape of the ratio. Llama-3 as A, whose s the list does not show. */
Test(compare, causes__nothing_known__the_shape_is_told) {
  static const struct {
    const char *method, *settings;
    double (*change)(const double *omega, size_t pairs, size_t j);
    const char *shape;
  } cases[] = {
      {"llama3", "factor=8", times_constant,
       "B is 0.7 times A at every pair (1 / 1.42857), as if positions were divided by that"},
      {"rope", "", other_base,
       "B / A is geometric: 1 times 0.968699^j for pair j; as ladders over 128 dims, A has base 10000 and B has base "
       "76543 (or A's base over 104.834 dims)"},
      {"yarn", "factor=8", band, "B / A differs from 1 from pair 20 to pair 29 only"},
      {"yarn", "factor=8", tail, "B / A differs from 1 from pair 20 to pair 63 only; from pair 50 on it is 0.77"},
      {"yarn", "factor=8", everywhere, "B / A differs from 1 everywhere"},
  };
  rs_model model = small_model();
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    side a, b;
    const planted p = {
        cases[i].method, cases[i].settings, cases[i].method, cases[i].settings, cases[i].change, 0, 0, ""};
    plant(&p, &model, 4096, 0, &a, &b);
    if (cases[i].change == other_base) a.compared.recipe = NULL; /* a recipe would be told its base */
    rs_causes causes = causes_of(&a.compared, &b.compared);
    cr_expect_eq(causes.count, 0u, "case %zu: %s", i, causes.items[0].text);
    cr_expect_str_eq(causes.shape, cases[i].shape, "case %zu: %s", i, causes.shape);
    side_clear(&a);
    side_clear(&b);
  }
}

Test(compare, causes__rounding__is_named_and_nothing_else) {
  rs_model model = small_model();
  side a, b;
  const planted p = {"yarn", "factor=8", "yarn", "factor=8", same, 0, 0, ""};
  plant(&p, &model, 32768, 4e-6, &a, &b);
  rs_causes causes = causes_of(&a.compared, &b.compared);
  cr_assert_eq(causes.count, 1u);
  cr_assert(causes.items[0].whole && strncmp(causes.items[0].text, "rounding: ", 10) == 0, "%s", causes.items[0].text);
  side_clear(&a);
  side_clear(&b);
}

/* ---- engines' dumps ---------------------------------------------------------------------------------------------- */

/* What engines really compute, against the recipe as its model publishes it. */
Test(compare, causes__dumps_of_engines__are_diagnosed) {
  static const struct {
    const char *model, *method, *settings, *file, *cause; /* NULL: equal */
    double amp;
  } cases[] = {
      {"gpt-oss", NULL, NULL, "gpt_oss_vllm.csv", NULL, 1.3465735902799727},
      {"gpt-oss", NULL, NULL, "gpt_oss_ggml.json", "B is A in dialect llamacpp", 1.3465735048481995},
      {"gpt-oss", NULL, NULL, "gpt_oss_ggml.json", "B is A with truncate: true (A has false)", 1.3465735048481995},
      {"deepseek-v3", NULL, NULL, "deepseek_v3_ggml.json", "B is A without mscale and mscale_all_dim", 1.3688878546},
      {"llama-3.1-8b", NULL, NULL, "llama31_8b_hf.npy", NULL, NAN},
      {"llama-3.1-8b", NULL, NULL, "llama3_8b_ggml.npy", "B is A without any scaling: plain RoPE (A is llama3)", NAN},
      {"llama-3-8b", NULL, NULL, "llama3_8b_ggml.npy", "rounding: ", NAN},
      {"llama-3-8b", NULL, NULL, "llama31_8b_hf.npy", "B is A as llama3 with s = 8 (A is rope)", NAN},
      {"phi-3-mini-128k", NULL, NULL, "phi3mini128k_long_hf.npy", NULL, NAN},
      {"qwen2.5-7b", "yarn", "factor=4 train_length=131072", "qwen25_7b_yarn4_ggml.npy",
       "B is A with train_length: 32768 (max_length / s; A has 131072)", NAN},
      {"qwen2.5-7b", "yarn", "factor=2", "qwen25_7b_yarn4_ggml.npy", "B is A with s = 4", NAN},
      {"qwen2.5-7b", "rope", "", "qwen25_7b_yarn4_ggml.npy", "B is A as yarn with s = 4 (A is rope)", NAN},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char path[4096];
    double *list;
    size_t count;
    rs_err err = {0};
    rs_model model;
    side a;
    rs_spectrum dump;
    snprintf(path, sizeof path, "%s/data/dumps/%s", getenv("ROPESCOPE_TESTS"), cases[i].file);
    cr_assert_eq(rs_numbers_read(path, &list, &count, &err), RS_OK, "%s", err.message);
    cr_assert_eq(rs_preset_model(cases[i].model, &model, &err), RS_OK, "%s", err.message);
    make_side(cases[i].method != NULL ? cases[i].method : model.published.method->name,
              cases[i].settings != NULL ? cases[i].settings : "", &model, model.max_length, &a);
    cr_assert_eq(rs_spectrum_list(list, count, &dump, &err), RS_OK);
    dump.amp = cases[i].amp;
    rs_compared b = {.length = model.max_length, .spectrum = &dump};
    rs_causes causes = causes_of(&a.compared, &b);
    if (cases[i].cause != NULL)
      expect_cause(&causes, cases[i].cause, cases[i].file);
    else
      cr_expect_eq(rs_spectrum_compare(&a.spectrum, &dump, rtol).differs, 0u, "%s", cases[i].file);
    /* and the other way round */
    causes = causes_of(&b, &a.compared);
    cr_expect(cases[i].cause == NULL ? causes.count == 0 : causes.count > 0 && causes.items[0].whole, "%s",
              cases[i].file);
    side_clear(&a);
    rs_spectrum_clear(&dump);
    rs_model_clear(&model);
    free(list);
  }
}
