/* test_settings.c: whole settings in the order of the rule, their costs against sums by hand; negative sums found from
 * a hint, against plain searches. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "advice/advice.h"

enum { PAIRS = 8, TRAINED = 128, TARGET = 1000 };

/* Eight pairs, base 10000; `more` behind the last key. */
#define SMALL(more)                                                                                                    \
  "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_attention_heads\": 4, \"num_hidden_layers\": 2, "            \
  "\"rope_theta\": 10000.0, \"max_position_embeddings\": 128" more "}"

static rs_ranking rank_text(const char *text, size_t length) {
  const rs_ranking_in in = {.length = length, .hf = "config.json", .hf_text = text};
  rs_ranking ranking;
  rs_err err = {0};
  cr_assert_eq(rs_rank_settings(&in, &ranking, &err), RS_OK, "%s", err.message);
  return ranking;
}

/* The method at a scale that does not follow the length, where its name does not say so. */
static const rs_candidate *find(const rs_ranking *ranking, const char *method) {
  for (size_t i = 0; i < ranking->count; i++) {
    const rs_recipe *recipe = &ranking->items[i].recipe;
    rs_text text = {0};
    rs_recipe_write(recipe, &text);
    bool follows = strstr(rs_text_string(&text), "scale: dynamic") != NULL;
    rs_text_clear(&text);
    if (strcmp(recipe->method->name, method) == 0 && !follows) return &ranking->items[i];
  }
  cr_assert_fail("no %s", method);
  return NULL;
}

static long double plain(size_t j) {
  return powl(10000, -(long double)j / PAIRS);
}

/* Where the key m back of the last query stands: at m, at `farthest` from there on, or in groups from 32 on. */
static size_t seen_at(size_t m, size_t length, size_t farthest, size_t group) {
  size_t last = length - 1, window = TRAINED / 4;
  if (farthest > 0) return m < farthest ? m : farthest;
  if (group == 0 || m < window) return m;
  return last / group + window - window / group - (last - m) / group;
}

static long double fit(const long double *divisors, size_t seen) {
  long double sum = 0;
  for (size_t j = 0; j < PAIRS; j++) sum += cosl((long double)seen * plain(j) / divisors[j] - plain(j)) / PAIRS;
  return sum;
}

/* The three terms where pairs turn by plain / divisor. */
static rs_turn_costs costs_of(size_t length, const long double *divisors, size_t farthest, size_t group) {
  const long double turn = 2 * acosl(-1), logit = 2 * logl(TRAINED), there = fit(divisors, 1);
  long double near = 0, weights = 0, out = 0, all = 0;
  for (size_t m = 0; m < length; m++) all += expl(logit * (fit(divisors, seen_at(m, length, farthest, group)) - there));
  for (size_t j = 0; j < PAIRS; j++) {
    long double past = (long double)seen_at(length - 1, length, farthest, group) / divisors[j] - TRAINED;
    if (TRAINED * plain(j) < turn) out += fminl(fmaxl(0, past * plain(j)), turn) / turn / PAIRS;
    for (size_t m = 1; m <= 8; m++) {
      long double angle = (long double)seen_at(m, length, farthest, group) / divisors[j] - (long double)m;
      near += (1 - cosl(angle * plain(j))) / PAIRS / (long double)m;
    }
  }
  for (size_t m = 1; m <= 8; m++) weights += 1 / (long double)m;
  return (rs_turn_costs){(double)(near / weights), (double)logl(all), (double)out};
}

static void agree(const rs_ranking *ranking, const char *method, rs_turn_costs want) {
  const rs_candidate *c = find(ranking, method);
  RS_HELD(rs_encoding) encoding = NULL;
  rs_turn_costs costs;
  rs_err err = {0};
  cr_assert_eq(rs_encoding_create(&c->recipe, ranking->model, TARGET, NULL, NULL, &encoding, &err), RS_OK, "%s",
               err.message);
  cr_assert_eq(rs_turn_costs_find(encoding, &costs, &err), RS_OK);
  cr_expect_float_eq(costs.near, want.near, 1e-12, "%s: near %.15g, not %.15g", method, costs.near, want.near);
  cr_expect_float_eq(costs.far, want.far, 1e-11, "%s: far %.15g, not %.15g", method, costs.far, want.far);
  cr_expect_float_eq(costs.out, want.out, 1e-12, "%s: out %.15g, not %.15g", method, costs.out, want.out);
  cr_expect_float_eq(c->damage, want.far / 10 + want.out, 1e-11, "%s", method);
}

Test(settings, costs__are_the_sums_by_hand) {
  rs_ranking ranking = rank_text(SMALL(""), TARGET);
  const double times = (double)TARGET / TRAINED;
  long double one[PAIRS], by_times[PAIRS], grown[PAIRS];
  for (size_t j = 0; j < PAIRS; j++) {
    one[j] = 1;
    by_times[j] = times;
    grown[j] = powl(times, (long double)j / (PAIRS - 1)); /* the base times s^(R/(R-2)) */
  }
  agree(&ranking, "rope", costs_of(TARGET, one, 0, 0));
  agree(&ranking, "pi", costs_of(TARGET, by_times, 0, 0));
  agree(&ranking, "ntk", costs_of(TARGET, grown, 0, 0));
  /* The windows are a quarter of training's length. Far keys of Self-Extend stand in groups of 11: 999 / 11 + 32 - 2 is
   * 120, and groups of 10 come to 99 + 32 - 3 = 128, past 127. */
  agree(&ranking, "rerope", costs_of(TARGET, one, TRAINED / 4, 0));
  agree(&ranking, "self_extend", costs_of(TARGET, one, 0, 11));
  rs_ranking_clear(&ranking);
}

/* Bent maps come first, each kind by needle_damage. */
Test(settings, order__is_that_of_the_rule) {
  rs_ranking ranking = rank_text(SMALL(""), 4096);
  size_t unchanged = 0, bent = 0;
  cr_expect_gt(ranking.count, 15);
  for (size_t i = 0; i < ranking.count; i++) {
    const rs_candidate *c = &ranking.items[i], *before = i > 0 ? c - 1 : c;
    bool bends = rs_word_among(c->recipe.method->name, "self_extend rerope dual_chunk string");
    cr_expect_eq(c->bends, bends, "%s", c->recipe.method->name);
    cr_expect(before->bends >= c->bends, "%s", c->recipe.method->name);
    if (before->bends == c->bends) cr_expect_geq(c->damage, before->damage * (1 - 1e-11) - 1e-11);
    cr_expect(isnan(c->forecast.increase) && c->forecast.models == 0);
    cr_expect(!c->unchanged || strcmp(c->recipe.method->name, "rope") == 0);
    unchanged += c->unchanged;
    bent += c->bends;
  }
  cr_expect_eq(unchanged, 1);
  cr_expect_gt(bent, 1);
  cr_expect_eq(ranking.reads, TRAINED);
  rs_ranking_clear(&ranking);
}

/* A config says what turns pairs as the recipe does, at the target and in training, or it says nothing. */
Test(settings, what_a_config_says__turns_alike) {
  static const struct {
    const char *method, *said;
  } cases[] = {{"rope", "rope"},         {"pi", "pi"},         {"ntk", "rope"},           {"abf", "rope"},
               {"yarn", "yarn"},         {"llama3", "llama3"}, {"critical_base", "rope"}, {"ntk_by_parts", "yarn"},
               {"longrope", "longrope"}, {"rerope", NULL},     {"self_extend", NULL},     {"ntk_fixed", NULL}};
  rs_ranking ranking = rank_text(SMALL(""), TARGET);
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    const rs_candidate *c = find(&ranking, cases[i].method);
    cr_expect_eq(c->said.method == NULL, cases[i].said == NULL, "%s", cases[i].method);
    if (c->said.method == NULL) continue;
    cr_expect_str_eq(c->said.method->name, cases[i].said);
    rs_model model = *ranking.model;
    rs_spectrum a, b;
    rs_err err = {0};
    model.rope_theta = c->theta;
    cr_assert_eq(rs_spectrum_make(&c->recipe, ranking.model, TARGET, &a, &err), RS_OK);
    cr_assert_eq(rs_spectrum_make(&c->said, &model, TARGET, &b, &err), RS_OK, "%s", err.message);
    cr_expect_eq(rs_spectrum_compare(&a, &b, 1e-9).differs, 0, "%s", cases[i].method);
    rs_spectrum_clear(&a);
    rs_spectrum_clear(&b);
  }
  cr_expect_neq(rs_ranking_best_said(&ranking), SIZE_MAX);
  rs_ranking_clear(&ranking);
}

/* Of a file that extends its model, that recipe alone is extended further, from what the file reads. */
Test(settings, published_recipe__is_kept_or_raised) {
  static const struct {
    const char *more, *method;
    double reads, factor; /* of the raised recipe; 0: none */
  } cases[] = {
      {", \"rope_scaling\": {\"rope_type\": \"linear\", \"factor\": 2.0}", "pi", 128, 31.25},
      {", \"rope_scaling\": {\"rope_type\": \"yarn\", \"factor\": 4.0, \"original_max_position_embeddings\": 64}",
       "yarn", 256, 31.25},
      {", \"rope_scaling\": {\"rope_type\": \"llama3\", \"factor\": 2.0, \"low_freq_factor\": 1, \"high_freq_factor\": "
       "4, "
       "\"original_max_position_embeddings\": 16}",
       "llama3", 128, 31.25},
      {", \"rope_scaling\": {\"rope_type\": \"longrope\", \"original_max_position_embeddings\": 32, \"short_factor\": "
       "[1, 1, "
       "1, 1, 1, 1, 1, 1], \"long_factor\": [1, 1, 1, 1, 2, 2, 2, 2]}",
       "longrope", 128, 0}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_text text = {0};
    rs_text_printf(&text,
                   "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_attention_heads\": 4, "
                   "\"num_hidden_layers\": 2, \"max_position_embeddings\": 128%s}",
                   cases[i].more);
    rs_ranking ranking = rank_text(rs_text_string(&text), TARGET * 2);
    cr_expect_eq(ranking.reads, cases[i].reads, "%s: %g", cases[i].method, ranking.reads);
    cr_expect_eq(ranking.count, cases[i].factor > 0 ? 2 : 1, "%s: %zu", cases[i].method, ranking.count);
    size_t kept = 0;
    cr_expect(ranking.items[0].unchanged, "%s", cases[i].method);
    for (size_t c = 0; c < ranking.count; c++) {
      const rs_candidate *candidate = &ranking.items[c];
      cr_expect_str_eq(candidate->recipe.method->name, cases[i].method);
      kept += candidate->unchanged;
      if (!candidate->unchanged)
        cr_expect_float_eq(rs_setting(&candidate->recipe.settings, "factor")->number, cases[i].factor, 1e-9);
    }
    cr_expect_eq(kept, 1, "%s", cases[i].method);
    rs_ranking_clear(&ranking);
    rs_text_clear(&text);
  }
}

Test(settings, what_has_no_setting__is_refused) {
  static const struct {
    const char *text;
    size_t length;
    rs_status status;
    const char *words;
  } cases[] = {
      {SMALL(""), 128, RS_DOMAIN, "keep what the file says: 128 tokens are within the 128"},
      {SMALL(
           ", \"rope_scaling\": {\"rope_type\": \"yarn\", \"factor\": 4.0, \"original_max_position_embeddings\": 64}"),
       256, RS_DOMAIN, "publishes its recipe for"},
      {SMALL(""), RS_LONGEST_RANKED + 1, RS_INPUT, "can be ranked"},
      {SMALL(", \"sliding_window\": 64, \"layer_types\": [\"sliding_attention\", \"sliding_attention\"]"), TARGET,
       RS_DOMAIN, "see 64 tokens whatever the context"},
      {"{\"model_type\": \"bloom\", \"hidden_size\": 64, \"n_head\": 2}", TARGET, RS_UNSUPPORTED, "turns no pairs"},
      {"{\"hidden_size\": 64, \"num_attention_heads\": 4}", TARGET, RS_INPUT, "which length was it trained at?"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    const rs_ranking_in in = {.length = cases[i].length, .hf = "config.json", .hf_text = cases[i].text};
    rs_ranking ranking;
    rs_err err = {0};
    rs_status status = rs_rank_settings(&in, &ranking, &err);
    cr_expect_eq(status, cases[i].status, "%zu: %d", i, (int)status);
    cr_expect_not_null(strstr(err.message, cases[i].words), "%zu: %s", i, err.message);
  }
}

/* ---- negative sums from a hint ----------------------------------------------------------------------------------- */

static uint64_t plain_search(const double *omega, size_t pairs, size_t still, uint64_t length) {
  for (uint64_t m = 1; m < length; m++) {
    double sum = (double)still;
    for (size_t j = 0; j < pairs; j++) sum += cos((double)m * omega[j]);
    if (sum < 0) return m;
  }
  return length;
}

/* NTK-aware scaling, a step at a time, with the hint of the step before: right at every step. */
Test(reach_serves, a_march_with_hints__is_the_plain_search) {
  enum { STEPS = 400, LENGTH = 700 };
  size_t good = 0;
  for (size_t still = 0; still <= 2; still += 2) {
    uint64_t hint = 0;
    for (size_t i = 0; i < STEPS; i++) {
      double omega[PAIRS], base = 100 * pow(1.02, (double)i);
      for (size_t j = 0; j < PAIRS; j++) omega[j] = pow(base, -(double)j / PAIRS);
      const rs_turning turning = {.omega = omega, .pairs = PAIRS, .still = still};
      bool serves;
      cr_assert_eq(rs_reach_serves(&turning, LENGTH, &hint, &serves, NULL), RS_OK);
      uint64_t first = plain_search(omega, PAIRS, still, LENGTH);
      cr_assert_eq(serves, first == LENGTH, "base %g, %zu still: %llu", base, still, (unsigned long long)first);
      cr_expect(serves ? hint == 0 : hint >= first && hint < LENGTH, "%llu", (unsigned long long)hint);
      good += serves;
    }
  }
  cr_expect(good > 20 && good < 2 * STEPS - 20, "%zu", good);
}

/* A hint where nothing is negative costs a search, and no wrong answer; nothing is looked for past the end. */
Test(reach_serves, a_wrong_hint__is_no_answer) {
  double omega[2] = {1, 0.001};
  const rs_turning turning = {.omega = omega, .pairs = 2, .still = 0};
  uint64_t hints[] = {1, 100, 3000, 5000};
  bool serves;
  for (size_t i = 0; i < RS_COUNT(hints); i++) {
    uint64_t hint = hints[i];
    uint64_t first = plain_search(omega, 2, 0, 4000); /* where cos m falls below -cos(m / 1000) */
    cr_assert_eq(rs_reach_serves(&turning, first, &hint, &serves, NULL), RS_OK);
    cr_expect(serves, "%llu", (unsigned long long)hints[i]);
    hint = hints[i];
    cr_assert_eq(rs_reach_serves(&turning, first + 1, &hint, &serves, NULL), RS_OK);
    cr_expect(!serves && hint == first, "%llu", (unsigned long long)hint);
  }
}

/* As many pairs that stand still as turn: 1 + cos >= 0, at whatever length, without a search. */
Test(reach_serves, still_pairs__outweigh) {
  double omega[3] = {1, 0.1, 0};
  uint64_t length;
  rs_turning turning = {.omega = omega, .pairs = 3, .still = 1};
  cr_assert_eq(rs_reach_first_violation(&turning, (uint64_t)1 << 40, &length, NULL), RS_OK);
  cr_expect_eq(length, (uint64_t)1 << 40);
  turning.still = 0;
  cr_assert_eq(rs_reach_first_violation(&turning, 1000, &length, NULL), RS_OK);
  cr_expect_eq(length, plain_search(omega, 3, 0, 1000));
}
