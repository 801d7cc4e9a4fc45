/* test_skipping.c: keys that cannot matter are not visited, and what they leave out stays within the bound. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "../fixtures/dice.h"
#include "../fixtures/oracle.h"
#include "../fixtures/world.h"
#include "../fixtures/world_job.h"
#include "attention/attention.h"

/* ALiBi's steepest head: beyond some hundred tokens no key can matter, whatever it holds. */
static void steep_world(world *w, size_t length) {
  world_make(w, "alibi", 64, length);
  w->model.heads = 8;
  world_fill(w, length);
  gaussian(&w->dice, length * 64, w->q);
  gaussian(&w->dice, length * 64, w->k);
}

Test(engine, skipping__steep_bias__work_is_linear_and_the_bound_holds) {
  double computed[2];
  for (size_t i = 0; i < 2; i++) {
    world w;
    steep_world(&w, 2000 << i);
    rs_observation *all = run_alone(&w);
    w.job.epsilon = 1e-9;
    rs_observation *most = run_alone(&w);
    demand(&w, all->skipped == 0 && all->skipped_weight == 0, "skipped without leave");
    demand(&w, most->skipped_weight > 0 && most->skipped_weight <= 1e-9, "%g is certified", most->skipped_weight);
    for (size_t m = 0; m < w.job.query_count; m++) {
      double slack = 1e-6 + most->rows[m].skipped_weight;
      near(&w, &most->rows[m], "log_sum_exp", most->rows[m].log_sum_exp, all->rows[m].log_sum_exp, slack);
      near(&w, &most->rows[m], "entropy", most->rows[m].entropy, all->rows[m].entropy, 2 * slack + 3e-8);
    }
    computed[i] = most->pairs - most->skipped;
    rs_observation_free(all);
    rs_observation_free(most);
    world_clear(&w);
  }
  cr_assert_leq(computed[1], 2.2 * computed[0], "%g pairs, then %g", computed[0], computed[1]);
}

/* Every logit counts where moments are wanted, and a needle's rank is that among all keys. */
Test(engine, skipping__moments_or_far_needles__leaves_nothing_they_need) {
  world w;
  steep_world(&w, 2000);
  w.job.epsilon = 1e-3;
  w.job.moments = true;
  rs_observation *observation = run_alone(&w);
  demand(&w, observation->skipped == 0, "skipped what moments need");
  rs_observation_free(observation);
  w.job.moments = false;
  draw_needles(&w);
  for (size_t i = 0; i < 2000; i++) w.needle_at[i] = i > 40 ? i - 40 : 0;
  observation = run_alone(&w);
  w.job.epsilon = 0;
  rs_observation *all = run_alone(&w);
  demand(&w, observation->skipped > 0, "nothing was skipped");
  for (size_t m = 0; m < 2000; m++)
    demand(&w, observation->rows[m].needle_rank == all->rows[m].needle_rank, "query %zu: rank %zu, should be %zu", m,
           observation->rows[m].needle_rank, all->rows[m].needle_rank);
  rs_observation_free(observation);
  rs_observation_free(all);
  world_clear(&w);
}

/* A bias that is low at middle distances and high again far away: what is far must not be given up for what lies
 * between. Constant content reaches its bound, so that what was skipped is nearly what was certified. */
Test(engine, skipping__bias_that_rises_again__stops_at_nothing_that_matters) {
  enum { LENGTH = 3000, CLIP = 100 };
  for (int rises = 0; rises < 2; rises++) {
    double values[2 * CLIP + 1] = {0};
    world w;
    world_make(&w, "relative", 4, LENGTH);
    set(&w, "clip", "%d", CLIP);
    for (size_t d = 20; d <= CLIP; d++) values[CLIP - d] = rises && d == CLIP ? 0 : -40;
    int index = rs_settings_find(&w.recipe.settings, "values");
    cr_assert_eq(rs_value_list(w.recipe.settings.params[index], values, RS_COUNT(values),
                               &w.recipe.settings.values[index], NULL),
                 RS_OK);
    world_fill(&w, LENGTH);
    rs_observation *all = run_alone(&w);
    w.job.epsilon = 1e-12;
    rs_observation *most = run_alone(&w);
    demand(&w, (most->skipped > 0) == !rises, "%g pairs skipped", most->skipped);
    for (size_t m = 0; m < LENGTH; m++) {
      const rs_row *row = &most->rows[m];
      near(&w, row, "log_sum_exp", row->log_sum_exp, all->rows[m].log_sum_exp, 1e-6);
      /* Every skipped key has the weight e^-40 beside 20 of weight 1. */
      demand(&w, row->skipped_weight >= row->skipped_keys * exp(-40) / 21, "query %zu: more was lost than said", m);
    }
    rs_observation_free(all);
    rs_observation_free(most);
    world_clear(&w);
  }
}

/* Keys on both sides of each query: what cannot matter is left out on both, and counted once. Few queries have their
 * keys in chunks, many go through all of them, down from their own place and then up from it. */
Test(engine, skipping__of_keys_on_both_sides__counts_each_once) {
  static const size_t lengths[] = {2000, 16384};
  for (size_t i = 0; i < RS_COUNT(lengths); i++) {
    world w;
    steep_world(&w, lengths[i]);
    w.job.mask.kind = RS_BIDIRECTIONAL;
    w.job.epsilon = 1e-9;
    rs_observation *most = run_alone(&w);
    double least = INFINITY, largest = 0;
    for (size_t m = 0; m < w.job.query_count; m++) {
      least = fmin(least, most->rows[m].skipped_keys);
      largest = fmax(largest, most->rows[m].skipped_keys);
    }
    double length = (double)lengths[i];
    demand(&w, least > length - 1600 && largest < length, "%g to %g keys of %zu", least, largest, lengths[i]);
    rs_observation_free(most);
    world_clear(&w);
  }
}

/* Few queries have their keys in chunks, which are joined: what each has left out counts for every query of a tile. */
Test(engine, skipping__in_chunks__counts_for_all_queries) {
  enum { LENGTH = 20000, QUERIES = 16 };
  world w;
  steep_world(&w, LENGTH);
  w.job.queries += LENGTH - QUERIES;
  w.job.query_count = QUERIES;
  w.job.epsilon = 1e-12;
  rs_observation *most = run_alone(&w);
  double sum = 0;
  for (size_t m = 0; m < QUERIES; m++) {
    const rs_row *row = &most->rows[m];
    sum += row->skipped_keys;
    bool most_of_them = row->skipped_keys > 0.9 * LENGTH && row->skipped_keys <= (double)row->query;
    demand(&w, most_of_them, "query %zu: %g keys", row->query, row->skipped_keys);
  }
  demand(&w, sum == most->skipped && sum > 0, "%g of %g", sum, most->skipped);
  rs_observation_free(most);
  world_clear(&w);
}

/* Two keys whose logits are exact: what is left is the error of 2^t. */
Test(engine, weights_of_two_keys__floats__are_good_to_three_roundings) {
  for (int step = 0; step <= 200; step++) {
    world w;
    world_make(&w, "nope", 2, 2);
    world_fill(&w, 2);
    double logit = step / 40.0;
    memset(w.k, 0, 4 * sizeof *w.k);
    memset(w.q, 0, 4 * sizeof *w.q);
    w.q[2] = 1;
    w.k[0] = logit * sqrt(2);
    w.job.scores = RS_SCORES_F32;
    rs_observation *observation = run_alone(&w);
    near(&w, &observation->rows[1], "log_sum_exp", observation->rows[1].log_sum_exp, logl(1 + expl(logit)),
         1.8e-7 * (1 + logit));
    rs_observation_free(observation);
    world_clear(&w);
  }
}

/* xPos multiplies queries and keys: the bound on their logits, and on the error, must know both. */
Test(engine, gains__of_queries_and_keys__are_part_of_the_bound) {
  enum { LENGTH = 2000, DIMS = 8 };
  double gain_q = 0, gain_k = 0, unit = 1.1e-16, logit = sqrt(DIMS); /* of constant content, without gains */
  world w;
  world_make(&w, "xpos", DIMS, LENGTH);
  world_fill(&w, LENGTH);
  w.job.scores = RS_SCORES_F64;
  for (size_t i = 0; i < LENGTH * DIMS / 2; i++) {
    gain_q = fmax(gain_q, w.encoding->gain_q[0][i]);
    gain_k = fmax(gain_k, w.encoding->gain_k[0][i]);
  }
  cr_assert(gain_q > 1.5 && gain_k > 1.5);
  rs_observation *observation = run_alone(&w);
  cr_assert_geq(observation->error, unit * DIMS / 2 * logit * gain_q * gain_k);
  rs_observation_free(observation);
  world_clear(&w);
}

/* A bias that is asked for row by row is known only as it comes; what it reaches above the own place's is in the error.
 */
Test(engine, bias_by_rows__that_rises__is_part_of_the_error) {
  enum { LENGTH = 2000 };
  world w;
  world_make(&w, "alibi", 4, LENGTH);
  set(&w, "bias_form", "position");
  set(&w, "bias_max", "0.5"); /* one head: a slope of 2^-0.5 */
  world_fill(&w, LENGTH);
  w.job.mask.kind = RS_BIDIRECTIONAL;
  w.job.scores = RS_SCORES_F32;
  rs_observation *observation = run_alone(&w);
  cr_assert_geq(observation->error, 3 * 5.9e-8 * sqrt(0.5) * (LENGTH - 1));
  rs_observation_free(observation);
  world_clear(&w);
}
