/* test_learned_sink.c: a learned sink is one outcome more than there are keys, so that no row is more spread out than
 * ln(keys + 1) (the attention sinks of gpt-oss). */
#include <criterion/criterion.h>
#include <math.h>

#include "../fixtures/dice.h"
#include "../fixtures/score_bench.h"
#include "../fixtures/world.h"
#include "../fixtures/world_job.h"
#include "attention/attention.h"

enum { ENTROPY_NATS, ENTROPY_SHARE }; /* scalars of entropy */
enum { DEFICIT_NATS = 1 };            /* of entropy_scaling */

/* One scalar of one metric of one row alone. */
static double scalar_of(const char *metric, size_t scalar, const world *w, const rs_row *row) {
  bench b;
  bench_open(&b, metric, w->encoding, w->job.edges, w->job.bins);
  b.kind->row(b.state, row);
  bench_finish(&b);
  double value = b.result.value[scalar];
  bench_close(&b);
  return value;
}

/* Every logit and the sink are 0: query m has the weights 1 / (m + 2) of its m + 1 keys and of the sink. */
static void check_equal(bool whole_rows) {
  enum { LENGTH = 4, DIMS = 2 };
  static const double top[] = {1};
  world w;
  world_make(&w, "nope", DIMS, LENGTH);
  world_fill(&w, LENGTH);
  for (size_t i = 0; i < LENGTH * DIMS; i++) w.q[i] = 0;
  w.job.learned_sink = &w.learned_sink;
  w.job.moments = true;
  w.job.tops = top;
  w.job.top_count = whole_rows;
  rs_observation *rows = run_alone(&w);
  for (size_t m = 0; m < LENGTH; m++) {
    double outcomes = (double)m + 2;
    agrees(rows->rows[m].learned_weight, 1 / outcomes, 1e-15, "learned_weight");
    agrees(scalar_of("entropy", ENTROPY_NATS, &w, &rows->rows[m]), logl(outcomes), 1e-15, "entropy_nats");
    agrees(scalar_of("entropy", ENTROPY_SHARE, &w, &rows->rows[m]), 1, 1e-15, "entropy_share");
    agrees(scalar_of("effective_tokens", 0, &w, &rows->rows[m]), outcomes, 1e-15, "effective_tokens");
    agrees(scalar_of("entropy_scaling", DEFICIT_NATS, &w, &rows->rows[m]), 0, 1e-15, "entropy_deficit_nats");
  }
  rs_observation_free(rows);
  world_clear(&w);
}

Test(learned_sink, equal_logits__share__is_one) {
  check_equal(false);
  check_equal(true);
}

/* Random logits of every method and mask beside random sinks, in one of three jobs near the largest logit of the first
 * row, where the sink adds most to the entropy. */
static void draw_sink(world *w) {
  rs_observation *plain = run_alone(w);
  w->learned_sink = once_in(&w->dice, 3) ? plain->rows[0].max_logit : between(&w->dice, -20, 20);
  rs_observation_free(plain);
  w->job.learned_sink = &w->learned_sink;
  w->job.moments = true;
}

/* The rows of one world, and how many of them have more entropy than their keys alone could. */
static void check_world(world *w, size_t *rows, size_t *above_keys) {
  w->job.learned_sink = NULL;
  draw_sink(w);
  rs_observation *seen = run_alone(w);
  for (size_t i = 0; i < seen->count; i++) {
    const rs_row *row = &seen->rows[i];
    double share = scalar_of("entropy", ENTROPY_SHARE, w, row), outcomes = (double)row->keys + 1;
    demand(w, share >= 0 && share <= 1, "query %zu: entropy_share %.17g", row->query, share);
    demand(w, scalar_of("entropy_scaling", DEFICIT_NATS, w, row) <= 0, "query %zu: entropy_deficit_nats above 0",
           row->query);
    demand(w, scalar_of("effective_tokens", 0, w, row) <= outcomes * (1 + 1e-15), "effective_tokens");
    *above_keys += row->entropy > log((double)row->keys);
    ++*rows;
  }
  rs_observation_free(seen);
}

Test(learned_sink, random_logits_and_sinks__share__is_within_zero_and_one) {
  size_t rows = 0, above_keys = 0;
  cr_log_info("ROPESCOPE_SEED=%llu", (unsigned long long)test_seed());
  for (uint32_t job = 0; job < 300; job++) {
    world w;
    if (world_draw(&w, job, 100)) check_world(&w, &rows, &above_keys);
    world_clear(&w);
  }
  cr_assert(rows > 1000 && above_keys > 100, "%zu rows, %zu above ln(keys): too few to tell", rows, above_keys);
}
