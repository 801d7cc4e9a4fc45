/* test_engine.c: the engine against the reference row, and against itself at other numbers of threads. Random small
 * jobs draw every method, mask, query set and kind of content; what the engine observes must be what the plainest
 * formulas, in long double, make of the reference's logits. */
#include <criterion/criterion.h>
#include <string.h>

#include "../fixtures/dice.h"
#include "../fixtures/oracle.h"
#include "../fixtures/threads.h"
#include "../fixtures/world.h"
#include "../fixtures/world_job.h"
#include "attention/attention.h"

/* ---- the oracle: plain formulas over the reference's logits ------------------------------------------------------ */

/* One engine per head dim, for the largest job: every job runs in the traces of those before it, each with another
 * instruction set. */
Test(engine, random_jobs__observables__are_those_of_the_reference_row) {
  rs_engine *engines[MOST_DIMS / 2 + 1] = {NULL};
  size_t methods, seen[64] = {0}, masks[RS_BAND + 1] = {0}, formats[3] = {0}, sets = 0;
  uint32_t jobs = test_jobs();
  rs_methods(&methods);
  while (rs_isa_name(sets) != NULL) sets++;
  cr_log_info("ROPESCOPE_SEED=%llu", (unsigned long long)test_seed());
  for (uint32_t job = 0; job < jobs; job++) {
    world w;
    cr_assert_eq(rs_kernels_use(rs_isa_name(job / methods % sets), NULL), RS_OK);
    if (world_draw(&w, job, MOST_TOKENS)) {
      rs_engine **engine = &engines[w.model.head_dim / 2];
      if (*engine == NULL) *engine = engine_for(MOST_TOKENS, w.model.head_dim, MOST_VIEWS);
      rs_observation *observation = world_run(*engine, &w);
      check_promise(&w, observation);
      for (size_t i = 0; i < observation->count; i++) check_row(&w, observation, i);
      formats[observation->scores]++;
      rs_observation_free(observation);
      seen[job % methods]++;
      masks[w.job.mask.kind]++;
    }
    world_clear(&w);
  }
  for (size_t i = 0; i < methods; i++) cr_assert_geq(seen[i], jobs / methods / 2, "method %zu: %zu jobs", i, seen[i]);
  for (size_t i = 0; i < RS_COUNT(masks); i++) cr_assert_geq(masks[i], jobs / 20);
  cr_assert(formats[RS_SCORES_F32] > jobs / 4 && formats[RS_SCORES_F64] > jobs / 4);
  for (size_t i = 0; i < RS_COUNT(engines); i++) rs_engine_free(engines[i]);
}

/* ---- the same bits ----------------------------------------------------------------------------------------------- */

static bool same_row(const rs_row *a, const rs_row *b) {
  double left[] = {a->max_logit, a->log_sum_exp, a->entropy, a->sink_weight, a->needle_logit, a->needle_weight};
  double right[] = {b->max_logit, b->log_sum_exp, b->entropy, b->sink_weight, b->needle_logit, b->needle_weight};
  bool same_parts = memcmp(a->segment_weight, b->segment_weight, sizeof a->segment_weight) == 0;
  return memcmp(left, right, sizeof left) == 0 && same_parts && a->learned_weight == b->learned_weight &&
         a->query == b->query && a->keys == b->keys && a->argmax == b->argmax &&
         a->needle_planted == b->needle_planted && a->has_needle == b->has_needle &&
         a->needle_distance == b->needle_distance && a->needle_rank == b->needle_rank;
}

static bool same_bits(const rs_observation *a, const rs_observation *b) {
  if (a->count != b->count || a->bins != b->bins) return false;
  size_t bytes = a->bins * sizeof(double);
  for (size_t i = 0; i < a->count; i++) {
    const rs_row *x = &a->rows[i], *y = &b->rows[i];
    if (!same_row(x, y) || memcmp(x->bin_weight, y->bin_weight, bytes) != 0) return false;
    if (x->bin_keys == NULL) continue;
    if (memcmp(x->bin_keys, y->bin_keys, bytes) != 0 || memcmp(x->bin_mean, y->bin_mean, bytes) != 0) return false;
    if (memcmp(x->bin_squares, y->bin_squares, bytes) != 0) return false;
  }
  return true;
}

/* Demands that two observations are the same to the bit, and releases both. */
static void demand_same(const world *w, rs_observation *a, rs_observation *b, const char *what) {
  demand(w, same_bits(a, b), "%s changed a bit", what);
  rs_observation_free(a);
  rs_observation_free(b);
}

Test(engine, threads__one_two_three_eight__give_the_same_bytes) {
  static const int threads[] = {2, 3, 8};
  for (uint32_t job = 10000; job < 10150; job++) {
    world w;
    if (world_draw(&w, job, MOST_TOKENS))
      for (size_t t = 0; t < RS_COUNT(threads); t++) {
        use_threads(1);
        rs_observation *one = run_alone(&w);
        use_threads(threads[t]);
        demand_same(&w, one, run_alone(&w), "the number of threads");
      }
    world_clear(&w);
  }
}

Test(engine, threads__asked_for__are_the_number_reported) {
#ifdef _OPENMP
  for (size_t threads = 1; threads < 5; threads++) {
    use_threads((int)threads);
    cr_assert_eq(rs_engine_threads(), threads);
  }
#else
  cr_assert_eq(rs_engine_threads(), 1);
#endif
  /* Linear in the length, but for what each thread holds. */
  double one = rs_engine_bytes(1000, 64, 2, 30, 4), two = rs_engine_bytes(2000, 64, 2, 30, 4);
  cr_assert_float_eq(rs_engine_bytes(3000, 64, 2, 30, 4) - two, two - one, 0);
  cr_assert_geq(two - one, 8.0 * 2 * 1000 * 64);
}

Test(engine, window__as_long_as_the_context__equals_causal_bit_by_bit) {
  static const rs_mask_kind windows[] = {RS_WINDOW, RS_WINDOW_SINKS};
  for (uint32_t job = 20000; job < 20200; job++) {
    world w;
    if (world_draw(&w, job, 200)) {
      size_t longer = once_in(&w.dice, 2) ? SIZE_MAX - w.encoding->length : pick(&w.dice, 0, 3);
      rs_mask wide = {windows[job % 2], w.encoding->length + longer, pick(&w.dice, 1, 9), NULL};
      w.job.mask = (rs_mask){.kind = RS_CAUSAL};
      rs_observation *causal = run_alone(&w);
      w.job.mask = wide;
      demand_same(&w, causal, run_alone(&w), "a window over everything");
    }
    world_clear(&w);
  }
}

Test(engine, used_again__larger_then_smaller__leaves_no_trace) {
  for (uint32_t job = 30000; job < 30150; job++) {
    world large, small;
    bool both = world_draw(&large, job, MOST_TOKENS);
    both &= world_draw(&small, job + 1000, MOST_TOKENS);
    if (both && large.model.head_dim != small.model.head_dim) {
      world_clear(&small); /* the same head dim, from the job that follows in the same seed */
      world_draw(&small, job, 40);
    }
    if (both && large.model.head_dim == small.model.head_dim && small.encoding != NULL) {
      rs_engine *engine = engine_for(MOST_TOKENS, large.model.head_dim, MOST_VIEWS);
      rs_observation_free(world_run(engine, &large));
      demand_same(&small, world_run(engine, &small), run_alone(&small), "an earlier job");
      rs_engine_free(engine);
    }
    world_clear(&large);
    world_clear(&small);
  }
}

/* ---- the reference row against matrices -------------------------------------------------------------------------- */

/* Across sequences neither rotation nor bias acts, and views are of no account: every method without an embedding is
 * nope, bit by bit, in the engine and in the reference; and bidirectional nope. */
Test(engine, cross__every_method_without_embedding__is_nope) {
  enum { LENGTH = 50, DIMS = 8 };
  size_t methods, tried = 0;
  const rs_method *all = rs_methods(&methods);
  world nope;
  world_make(&nope, "nope", DIMS, LENGTH / 4);
  world_fill(&nope, LENGTH);
  dice content = {.seed = test_seed()};
  gaussian(&content, LENGTH * DIMS, nope.q);
  gaussian(&content, LENGTH * DIMS, nope.k);
  draw_needles(&nope);
  for (size_t i = 0; i < methods; i++) {
    world w;
    double logits[LENGTH], plain[LENGTH], needle, plain_needle;
    if (all[i].embed != NULL || strcmp(all[i].name, "swin") == 0) continue; /* no picture here */
    world_make(&w, all[i].name, DIMS, LENGTH / 4);
    set_divisors(&w, "short_factor", DIMS / 2);
    set_divisors(&w, "long_factor", DIMS / 2);
    set_divisors(&w, "freq_x", DIMS / 2);
    set_divisors(&w, "freq_y", DIMS / 2);
    set_divisors(&w, "inv_freq", DIMS / 2);
    if (has(&w, "local")) set(&w, "shift", "10"); /* STRING's own shift reaches no 50 tokens from 12 */
    set(&w, "mscale_softmax", "false");           /* a temperature would act here too */
    world_fill(&w, LENGTH);
    w.job.q = nope.q;
    w.job.k = nope.k;
    w.job.needle_at = nope.needle_at;
    w.job.needle_key = nope.needle_key;
    w.job.mask.kind = RS_CROSS;
    nope.job.mask.kind = i % 2 ? RS_CROSS : RS_BIDIRECTIONAL;
    for (size_t m = 0; m < LENGTH; m++) {
      cr_assert_eq(rs_reference_row(&w.job, m, logits, &needle, NULL), RS_OK);
      cr_assert_eq(rs_reference_row(&nope.job, m, plain, &plain_needle, NULL), RS_OK);
      demand(&w, memcmp(logits, plain, sizeof plain) == 0 && needle == plain_needle, "query %zu", m);
    }
    demand_same(&w, run_alone(&w), run_alone(&nope), "the method");
    tried++;
    world_clear(&w);
  }
  cr_assert_geq(tried, methods - 5);
  world_clear(&nope);
}
