/* test_engine_limits.c: ties, logits far apart, portions, and jobs that the engine refuses. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "../fixtures/dice.h"
#include "../fixtures/oracle.h"
#include "../fixtures/world.h"
#include "../fixtures/world_job.h"
#include "attention/attention.h"

Test(engine, equal_logits__uniform_weights__first_key_is_the_largest) {
  world w;
  world_make(&w, "nope", 4, 100);
  world_fill(&w, 100);
  w.job.sinks = 3;
  rs_observation *observation = run_alone(&w);
  for (size_t m = 0; m < 100; m++) {
    const rs_row *row = &observation->rows[m];
    double keys = (double)(m + 1);
    demand(&w, row->argmax == 0 && row->keys == m + 1, "query %zu", m);
    near(&w, row, "max_logit", row->max_logit, 2, 2e-7); /* a few roundings of 2 log2(e) */
    near(&w, row, "entropy", row->entropy, logl(keys), 1e-14);
    near(&w, row, "sink_weight", row->sink_weight, fmin(3, keys) / keys, 1e-15);
    near(&w, row, "log_sum_exp", row->log_sum_exp, row->max_logit + logl(keys), 1e-14);
  }
  rs_observation_free(observation);
  world_clear(&w);
}

/* Keys after the query are walked upwards: of equals the first all the same. */
Test(engine, equal_logits__both_sides__first_key_is_the_largest) {
  world w;
  world_make(&w, "nope", 4, 1500);
  world_fill(&w, 1500);
  w.job.mask.kind = RS_BIDIRECTIONAL;
  for (size_t set = 0; rs_isa_name(set) != NULL; set++) {
    cr_assert_eq(rs_kernels_use(rs_isa_name(set), NULL), RS_OK);
    rs_observation *observation = run_alone(&w);
    for (size_t m = 0; m < 1500; m++)
      demand(&w, observation->rows[m].argmax == 0, "query %zu: %zu", m, observation->rows[m].argmax);
    rs_observation_free(observation);
  }
  world_clear(&w);
}

/* Logits so far apart that every weight but one underflows: no NaN, no negative entropy. */
Test(engine, logits_far_apart__one_weight__entropy_is_zero) {
  world w;
  world_make(&w, "nope", 4, 20);
  world_fill(&w, 20);
  for (size_t n = 0; n < 20; n++)
    for (size_t d = 0; d < 4; d++) w.k[4 * n + d] = 1e5 * (n == 7 ? 1 : -(double)n);
  rs_observation *observation = run_alone(&w);
  for (size_t m = 0; m < 20; m++) {
    const rs_row *row = &observation->rows[m];
    demand(&w, row->argmax == (m < 7 ? 0 : 7) && row->entropy == 0 && !signbit(row->entropy), "query %zu", m);
    near(&w, row, "bin_weight", row->bin_weight[0], 1, 0);
  }
  rs_observation_free(observation);
  world_clear(&w);
}

/* A needle that repeats the key it stands beside scores what the key does, to the bit, in every set and format: it is
 * beaten by the larger ones and by none of its equals. */
Test(engine, needle_that_repeats_a_key__ties_with_it) {
  static const rs_score_format formats[] = {RS_SCORES_F32, RS_SCORES_F64};
  enum { LENGTH = 300, DIMS = 36 };
  world w;
  world_make(&w, "self_extend", DIMS, LENGTH / 2);
  world_fill(&w, LENGTH);
  gaussian(&w.dice, LENGTH * DIMS, w.q);
  gaussian(&w.dice, LENGTH * DIMS, w.k);
  draw_needles(&w);
  for (size_t set = 0; rs_isa_name(set) != NULL; set++)
    for (size_t f = 0; f < RS_COUNT(formats); f++) {
      cr_assert_eq(rs_kernels_use(rs_isa_name(set), NULL), RS_OK);
      w.job.scores = formats[f];
      w.job.needle_at = NULL;
      rs_observation *plain = run_alone(&w);
      for (size_t m = 0; m < LENGTH; m++) {
        w.needle_at[m] = plain->rows[m].argmax;
        memcpy(w.needle_key + m * DIMS, w.k + w.needle_at[m] * DIMS, DIMS * sizeof(double));
      }
      w.job.needle_at = w.needle_at;
      rs_observation *planted = run_alone(&w);
      for (size_t m = 0; m < LENGTH; m++)
        demand(&w, planted->rows[m].needle_rank == 0 && planted->rows[m].needle_logit == plain->rows[m].max_logit,
               "%s, query %zu: rank %zu", rs_isa_name(set), m, planted->rows[m].needle_rank);
      rs_observation_free(plain);
      rs_observation_free(planted);
    }
  world_clear(&w);
}

/* Queries observed in portions are those observed at once, but for the company they have in their tiles. */
Test(engine, portions__of_one_job__are_rows_of_the_whole) {
  world w;
  world_make(&w, "rope", 8, 700);
  world_fill(&w, 700);
  gaussian(&w.dice, 700 * 8, w.q);
  gaussian(&w.dice, 700 * 8, w.k);
  w.job.scores = RS_SCORES_F64;
  rs_engine *engine = engine_for(700, 8, 1);
  rs_observation *whole = world_run(engine, &w), *part;
  for (size_t first = 0; first < 700; first += 190) {
    size_t count = 700 - first < 190 ? 700 - first : 190;
    cr_assert_eq(rs_engine_observe(engine, first, count, &part, NULL), RS_OK);
    for (size_t i = 0; i < count; i++) {
      const rs_row *row = &part->rows[i], *same = &whole->rows[first + i];
      demand(&w, row->query == same->query && row->argmax == same->argmax, "query %zu", first + i);
      near(&w, row, "log_sum_exp", row->log_sum_exp, same->log_sum_exp, 1e-13);
      near(&w, row, "entropy", row->entropy, same->entropy, 1e-13);
    }
    rs_observation_free(part);
  }
  rs_observation_free(whole);
  rs_engine_free(engine);
  world_clear(&w);
}

/* The engine observes what it has loaded, and nothing else. */
Test(engine, observation__without_a_job_or_beyond_it__is_refused) {
  world w;
  rs_observation *part = NULL;
  world_make(&w, "rope", 8, 20);
  world_fill(&w, 20);
  rs_engine *engine = engine_for(20, 8, 1);
  cr_assert_eq(rs_engine_observe(engine, 0, 1, &part, NULL), RS_INTERNAL);
  cr_assert_eq(rs_engine_load(engine, &w.job, NULL), RS_OK);
  cr_assert_eq(rs_engine_observe(engine, 19, 2, &part, NULL), RS_INTERNAL);
  cr_assert_eq(rs_engine_observe(engine, 21, 0, &part, NULL), RS_INTERNAL);
  cr_assert_null(part);
  w.job.bins = 0; /* a load that fails leaves nothing to observe */
  cr_assert_eq(rs_engine_load(engine, &w.job, NULL), RS_INTERNAL);
  cr_assert_eq(rs_engine_observe(engine, 0, 1, &part, NULL), RS_INTERNAL);
  rs_engine_free(engine);
  world_clear(&w);
}

static void refuses_job(rs_engine *engine, const rs_attention_job *job, rs_status status, const char *message) {
  rs_err err = {0};
  rs_observation *observation = (rs_observation *)&err;
  cr_assert_eq(rs_engine_run(engine, job, &observation, &err), status, "%s", err.message);
  cr_assert_str_eq(err.message, message);
  cr_assert_null(observation);
  cr_assert_eq(rs_engine_run(engine, job, &observation, NULL), status);
}

Test(engine, jobs_it_cannot_do__are_refused_with_the_reason) {
  world w;
  world_make(&w, "self_extend", 4, 20);
  world_fill(&w, 20);
  rs_engine *shorter = engine_for(19, 4, 2), *wider = engine_for(20, 6, 2), *flat = engine_for(20, 4, 1);
  rs_engine *fits = engine_for(20, 4, 2);
  refuses_job(shorter, &w.job, RS_INTERNAL, "the engine was made for 19 x 4");
  refuses_job(wider, &w.job, RS_INTERNAL, "the engine was made for 20 x 6");
  refuses_job(flat, &w.job, RS_INTERNAL, "the engine was made for 20 x 4");
  w.job.mask.kind = RS_BIDIRECTIONAL;
  refuses_job(fits, &w.job, RS_UNSUPPORTED, "self_extend is defined for causal attention only");
  w.job.mask.kind = RS_CAUSAL;
  size_t bins = w.job.bins;
  w.job.bins = UINT16_MAX + 1;
  refuses_job(fits, &w.job, RS_UNSUPPORTED, "too many distance bins: 65536");
  w.job.bins = bins;
  w.edges[bins] = 19;
  refuses_job(fits, &w.job, RS_INTERNAL, "the distance bins do not end at the length, 20");
  w.edges[bins] = 20;
  w.job.bins = 0;
  refuses_job(fits, &w.job, RS_INTERNAL, "the distance bins do not end at the length, 20");
  w.job.bins = bins;
  w.job.query_count = 0;
  rs_observation_free(world_run(fits, &w));
  rs_engine_free(shorter);
  rs_engine_free(wider);
  rs_engine_free(flat);
  rs_engine_free(fits);
  rs_engine_free(NULL);
  rs_observation_free(NULL);
  world_clear(&w);
}

/* A row that is no numbers must not look like one: q, k or a needle that is not finite, as from an overflow. */
Test(engine, logits_that_are_not_finite__are_refused) {
  static const double values[] = {NAN, INFINITY, -INFINITY, -1e308};
  static const char *const methods[] = {"nope", "rope", "self_extend", "alibi"};
  for (size_t i = 0; i < 3 * RS_COUNT(values) * RS_COUNT(methods); i++) {
    world w;
    double value = values[i / 3 % RS_COUNT(values)];
    world_make(&w, methods[i / 3 / RS_COUNT(values)], 4, 20);
    world_fill(&w, 20);
    draw_needles(&w);
    rs_engine *engine = engine_for(20, 4, 2);
    rs_observation_free(world_run(engine, &w));
    double *const content[] = {w.q, w.k, w.needle_key};
    for (size_t d = 0; d < 4; d++) content[i % 3][4 * 5 + d] = value;
    refuses_job(engine, &w.job, RS_DOMAIN,
                "logits are not finite (an angle beyond its float format, or gains beyond doubles?)");
    rs_engine_free(engine);
    world_clear(&w);
  }
}

/* Logits up to 1e12 do as doubles; as floats they would be beyond them once squared. Keys make them so, or the head's
 * own scale. */
Test(engine, large_logits__are_doubles_by_themselves__and_refused_as_floats) {
  for (size_t i = 0; i < 2; i++) {
    world w;
    double scale = 1e30;
    world_make(&w, "nope", 4, 20);
    world_fill(&w, 20);
    for (size_t k = 0; i == 0 && k < 20 * 4; k++) w.k[k] = 1e30;
    if (i == 1) w.encoding->head_scale = &scale;
    rs_engine *engine = engine_for(20, 4, 1);
    rs_observation *observation = world_run(engine, &w);
    cr_assert_eq(observation->scores, RS_SCORES_F64);
    rs_observation_free(observation);
    w.job.scores = RS_SCORES_F32;
    scale = -scale;
    refuses_job(engine, &w.job, RS_DOMAIN, "logits up to 2e+30 are too large for float (scores: f64)");
    rs_engine_free(engine);
    w.encoding->head_scale = NULL; /* borrowed */
    world_clear(&w);
  }
}

/* The bound of engine.h to the letter, where the largest bias stands before the query and where it stands behind. */
Test(engine, promised_error__of_known_logits_and_biases__is_the_formula) {
  static const double values[][3] = {{3, 0, -1}, {-1, 0, 3}, {-2, 0, -1}};
  for (size_t i = 0; i < 2 * RS_COUNT(values); i++) {
    world w;
    bool single = i % 2 == 0;
    const double *list = values[i / 2];
    world_make(&w, "relative", 4, 20);
    set(&w, "clip", "1");
    int index = rs_settings_find(&w.recipe.settings, "values");
    rs_value *value = &w.recipe.settings.values[index];
    cr_assert_eq(rs_value_list(w.recipe.settings.params[index], list, 3, value, NULL), RS_OK);
    world_fill(&w, 20); /* |q| = |k| = 2, so that logits are 2 nats at most */
    w.job.mask.kind = RS_BIDIRECTIONAL;
    w.job.scores = single ? RS_SCORES_F32 : RS_SCORES_F64;
    rs_observation *observation = run_alone(&w);
    double unit = single ? 0x1p-24 : 0x1p-53, above = fmax(0, fmax(list[0], list[2]));
    near(&w, observation->rows, "error", observation->error, unit * (4 * 2 / 2 + 3 * (2 + above) + 28 + 128),
         1e-9 * unit);
    rs_observation_free(observation);
    world_clear(&w);
  }
}

/* Refused by their size, before the heap is asked: a sanitizer's heap would end the program. */
Test(engine, sizes_beyond_memory__are_refused) {
  static const size_t sizes[][3] = {{SIZE_MAX / 3, 2, 1}, {SIZE_MAX, 128, 2}, {SIZE_MAX / 2, 1, 1}};
  for (size_t i = 0; i < RS_COUNT(sizes); i++) {
    rs_err err = {0};
    rs_engine *engine = (rs_engine *)&err;
    cr_assert_eq(rs_engine_create(sizes[i][0], sizes[i][1], sizes[i][2], &engine, &err), RS_MEMORY);
    cr_assert_null(engine);
    cr_assert_eq(strncmp(err.message, "out of memory", 13), 0, "%s", err.message);
  }
}
