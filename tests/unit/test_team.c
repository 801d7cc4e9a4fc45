/* test_team.c: what several compute together is what one computes, to the bit; where one fails all hear of it. Ranks of
 * MPI are threads here; tests/mpi runs them as they are. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/run/ranks.h"
#include "../../src/train/training.h"
#include "../../src/run/work.h"
#include "../fixtures/runs.h"
#include "../fixtures/small_training.h"
#include "../fixtures/teams.h"
#include "../fixtures/world_job.h"
#include "kernel/kernel.h"

TestSuite(team, .init = enter_folder, .fini = leave_folder);

static const mishap none = {0};

/* ---- agreement --------------------------------------------------------------------------------------------------- */

static void fail_second(void *context, rs_team *team) {
  rs_err *errs = context, *err = &errs[team->member];
  rs_status own = team->member == 1 ? rs_fail(err, RS_IO, "no disk") : RS_OK;
  cr_expect_eq(rs_team_agree(team, RS_OK, err), RS_OK);
  cr_expect_eq(rs_team_agree(team, own, err), RS_IO);
  cr_expect_eq(rs_team_agree(team, RS_OK, err), RS_IO); /* without asking the others again */
  cr_expect_eq(rs_team_agree(team, RS_DOMAIN, NULL), RS_DOMAIN);
}

Test(team, failure_of_one__is_told_to_all_and_ends_it) {
  rs_err errs[3] = {{0}};
  cr_expect_eq(run_team(3, none, fail_second, errs), 2);
  cr_expect_str_eq(errs[0].message, "another rank has failed (io)");
  cr_expect_str_eq(errs[1].message, "no disk");
  cr_expect_str_eq(errs[2].message, "another rank has failed (io)");
}

static void stop_first(void *context, rs_team *team) {
  (void)context;
  rs_err err = {0};
  cr_expect_eq(rs_team_agree(team, team->member == 0 ? RS_STOPPED : RS_OK, &err), RS_STOPPED);
  if (team->member > 0) cr_expect_str_eq(err.message, "stopped");
}

Test(team, wish_of_one__stops_all) {
  cr_expect_eq(run_team(2, none, stop_first, NULL), 1);
}

Test(team, nobody__has_its_own_status) {
  cr_expect_eq(rs_team_agree(NULL, RS_OK, NULL), RS_OK);
  cr_expect_eq(rs_team_agree(NULL, RS_IO, NULL), RS_IO);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

typedef struct observed {
  const world *w;
  rs_observation *rows[8]; /* of each member */
  rs_status status[8];
} observed;

static void observe(void *context, rs_team *team) {
  observed *o = context;
  const world *w = o->w;
  rs_engine *engine;
  rs_err err = {0};
  cr_assert_eq(rs_engine_create(w->encoding->length, w->encoding->head_dim, w->encoding->views, &engine, &err), RS_OK);
  cr_assert_eq(rs_engine_load(engine, &w->job, &err), RS_OK, "%s", err.message);
  o->status[team->member] =
      rs_engine_observe_together(engine, team, 0, w->job.query_count, &o->rows[team->member], &err);
  rs_engine_free(engine);
}

static bool same_row(const rs_observation *a, const rs_observation *b, size_t i, size_t numbers) {
  rs_row x = a->rows[i], y = b->rows[i];
  bool same = memcmp(x.bin_weight, y.bin_weight, numbers * sizeof(double)) == 0;
  same = same && x.top_weight - x.bin_weight == y.top_weight - y.bin_weight;
  x.bin_weight = x.top_weight = x.bin_keys = x.bin_mean = x.bin_squares = NULL;
  y.bin_weight = y.top_weight = y.bin_keys = y.bin_mean = y.bin_squares = NULL;
  return same && memcmp(&x, &y, sizeof x) == 0;
}

static void expect_same_rows(const world *w, size_t members) {
  observed o = {.w = w};
  rs_observation *alone = run_alone(w);
  size_t numbers = (w->job.moments ? 4 : 1) * w->job.bins + w->job.top_count;
  cr_expect_eq(run_team(members, none, observe, &o), 1);
  for (size_t m = 0; m < members; m++) {
    cr_assert_eq(o.status[m], RS_OK);
    demand(w, o.rows[m]->count == alone->count && o.rows[m]->scores == alone->scores, "member %zu: counts", m);
    demand(w, o.rows[m]->error == alone->error && o.rows[m]->pairs == alone->pairs, "member %zu: bounds", m);
    demand(w, o.rows[m]->skipped == alone->skipped && o.rows[m]->skipped_weight == alone->skipped_weight,
           "member %zu: what is left out", m);
    for (size_t i = 0; i < alone->count; i++)
      demand(w, same_row(o.rows[m], alone, i, numbers), "member %zu of %zu: query %zu", m, members, i);
    rs_observation_free(o.rows[m]);
  }
  rs_observation_free(alone);
}

/* Many queries and few, of which keys are cut; with biases, views, needles and moments; and as whole rows. */
Test(team, rows__are_those_of_one_engine) {
  static const char *const methods[] = {"rope", "alibi", "self_extend", "kerple"};
  enum { LENGTH = 900, DIMS = 16 };
  for (size_t i = 0; i < RS_COUNT(methods); i++)
    for (size_t kind = 0; kind < 4; kind++) {
      world w;
      world_make(&w, methods[i], DIMS, LENGTH / 2);
      world_fill(&w, LENGTH);
      gaussian(&w.dice, LENGTH * DIMS, w.q);
      gaussian(&w.dice, LENGTH * DIMS, w.k);
      if (kind > 0) draw_needles(&w);
      w.job.moments = kind == 1;
      w.job.epsilon = kind == 0 ? RS_EPSILON : 0;
      w.job.soft_cap = kind == 2 ? 5 : 0;
      w.job.local = kind == 2 ? 9 : 0;
      w.tops[0] = 1;
      w.tops[1] = 7;
      w.job.tops = w.tops;
      w.job.top_count = kind == 2 ? 2 : 0;
      if (kind == 3) { /* the last 70 */
        w.job.queries += LENGTH - 70;
        w.job.query_count = 70;
        w.job.q += (LENGTH - 70) * DIMS;
        w.job.needle_at += LENGTH - 70;
        if (w.job.needle_key != NULL) w.job.needle_key += (LENGTH - 70) * DIMS;
      }
      for (size_t members = 1; members <= 5; members += 2) expect_same_rows(&w, members);
      world_clear(&w);
    }
}

Test(team, rows_of_a_team_that_failed__are_none) {
  observed o = {0};
  world w;
  world_make(&w, "rope", 8, 300);
  world_fill(&w, 300);
  o.w = &w;
  cr_expect_eq(run_team(3, (mishap){1, RS_MEMORY}, observe, &o), 1);
  for (size_t m = 0; m < 3; m++) {
    cr_expect_eq(o.status[m], RS_MEMORY);
    cr_expect_null(o.rows[m]);
  }
  world_clear(&w);
}

/* ---- cells ------------------------------------------------------------------------------------------------------- */

#define SHARED                                                                                                         \
  TINY "methods: [sinusoidal, alibi]\nlengths: [600]\nseeds: 1\nsources: [needle]\nqueries: all\n"                     \
       "metrics: [entropy, needle, distance_mass, decay]\n"

static rs_experiment *experiment_of(const char *yaml) {
  rs_experiment *experiment;
  rs_problems problems = {0};
  rs_err err = {0};
  cr_assert_eq(rs_config_read(yaml, "t.yaml", (rs_config_edits){0}, &experiment, &problems, &err), RS_OK, "%s %s",
               err.message, rs_text_string(&problems.text));
  rs_problems_clear(&problems);
  return experiment;
}

static void ignore_progress(void *context, double work, size_t cells) {
  (void)context, (void)work, (void)cells;
}

typedef struct cells {
  const rs_experiment *experiment;
  rs_status status[8];
  size_t sent[8];
  rs_text record; /* of the last cell that the first member has sent */
} cells;

typedef struct sender {
  cells *all;
  size_t member;
} sender;

static rs_status keep(void *context, size_t cell, const rs_text *record, rs_err *err) {
  sender *s = context;
  (void)cell, (void)err;
  s->all->sent[s->member]++;
  rs_text_clear(&s->all->record);
  rs_text_add(&s->all->record, record->data, record->length);
  return RS_OK;
}

/* Cell 0 alone. */
static void run_cell(void *context, rs_team *team) {
  const rs_trained_watch watch = {.advance = ignore_progress};
  cells *all = context;
  size_t member = team != NULL ? team->member : 0;
  sender to = {all, member};
  rs_portions *portions;
  rs_ledger ledger;
  cr_assert_eq(rs_ledger_make(all->experiment, rs_kernels_get()->isa, &ledger, NULL), RS_OK);
  ledger.send = keep;
  ledger.context = &to;
  memset(ledger.others, true, ledger.count * sizeof *ledger.others);
  ledger.others[0] = false;
  cr_assert_eq(rs_portions_open(&ledger, &watch, &portions, NULL), RS_OK);
  rs_portions_join(portions, team);
  all->status[member] = rs_portions_work(portions, NULL);
  rs_portions_close(portions);
  rs_ledger_close(&ledger);
}

/* A record says how long the cell took, where its numbers begin. */
static rs_text numbers_of(const rs_experiment *experiment, const cells *c) {
  rs_ledger ledger;
  rs_cell_state state;
  rs_text out = {0};
  cr_assert_eq(rs_ledger_make(experiment, rs_kernels_get()->isa, &ledger, NULL), RS_OK);
  cr_assert_eq(rs_make_directories("j", NULL), RS_OK);
  cr_assert_eq(rs_ledger_open(&ledger, "j", true, NULL), RS_OK);
  cr_assert_eq(rs_ledger_put(&ledger, 0, &c->record, NULL), RS_OK);
  cr_assert_eq(rs_ledger_read(&ledger, 0, &state, NULL), RS_OK);
  rs_text_printf(&out, "%d %s\n", (int)state.status, state.message);
  for (size_t m = 0; m < experiment->metrics.count; m++) {
    const rs_result *r = &state.results[m];
    for (size_t i = 0; i < RS_METRIC_SCALARS; i++) rs_text_printf(&out, "%a %a ", r->value[i], r->error[i]);
    for (size_t i = 0; i < r->curve.rows * r->curve.columns; i++) rs_text_printf(&out, "%a ", r->curve.cells[i]);
  }
  rs_cell_state_clear(experiment, &state);
  rs_ledger_close(&ledger);
  return out;
}

Test(team, cell__is_that_of_one_process_and_recorded_once) {
  rs_experiment *experiment = experiment_of(SHARED);
  cells alone = {.experiment = experiment};
  run_cell(&alone, NULL);
  rs_text want = numbers_of(experiment, &alone);
  for (size_t members = 2; members <= 4; members += 2) {
    cells many = {.experiment = experiment};
    cr_expect_gt(run_team(members, none, run_cell, &many), 0);
    rs_text got = numbers_of(experiment, &many);
    cr_expect_str_eq(got.data, want.data);
    for (size_t m = 0; m < members; m++) {
      cr_expect_eq(many.status[m], RS_OK);
      cr_expect_eq(many.sent[m], m == 0);
    }
    rs_text_clear(&got);
    rs_text_clear(&many.record);
  }
  rs_text_clear(&want);
  rs_text_clear(&alone.record);
  rs_experiment_free(experiment);
}

/* Whichever agreement fails: no rank waits for another, and the cell has failed on all. */
Test(team, cell__whose_agreement_fails__fails_on_all) {
  rs_experiment *experiment = experiment_of(SHARED);
  cells c = {.experiment = experiment};
  size_t calls = run_team(2, none, run_cell, &c);
  rs_text_clear(&c.record);
  for (size_t at = 1; at <= calls; at++) {
    cells failed = {.experiment = experiment}, stopped = {.experiment = experiment};
    cr_expect_eq(run_team(2, (mishap){at, RS_MEMORY}, run_cell, &failed), at);
    cr_expect(failed.status[0] == RS_OK && failed.status[1] == RS_OK && failed.sent[0] == 1);
    rs_text got = numbers_of(experiment, &failed);
    cr_expect(strncmp(got.data, "4 another rank has failed (memory)\n", 35) == 0, "%.40s", got.data);
    cr_expect_eq(run_team(2, (mishap){at, RS_STOPPED}, run_cell, &stopped), at);
    cr_expect(stopped.status[0] == RS_STOPPED && stopped.status[1] == RS_STOPPED && stopped.sent[0] == 0);
    rs_text_clear(&got);
    rs_text_clear(&failed.record);
  }
  rs_experiment_free(experiment);
}

/* ---- trainings --------------------------------------------------------------------------------------------------- */

typedef struct trained {
  const small_training *training;
  const char *checkpoints;
  rs_status status[8];
  rs_transformer *model[8];
} trained;

static void obtain(void *context, rs_team *team) {
  trained *t = context;
  size_t member = team != NULL ? team->member : 0;
  const rs_training_job job = {
      .trained = &t->training->trained, .task = &t->training->task, .checkpoints = t->checkpoints, .team = team};
  t->status[member] = rs_training_obtain(&job, &t->model[member], NULL);
}

static size_t weight_bytes(const rs_transformer *t) {
  return t->size * (t->format == RS_F64 ? sizeof(double) : sizeof(float));
}

/* Also of more members than a step has sequences. */
Test(team, weights__are_those_of_one_process) {
  for (rs_format format = RS_F64; format <= RS_F32; format++)
    for (size_t members = 2; members <= 5; members++) {
      small_training s;
      small_training_fill(&s, RS_DECODER, format);
      s.trained.training.sequences = members == 5 ? 3 : 10;
      trained alone = {.training = &s}, many = {.training = &s};
      obtain(&alone, NULL);
      cr_expect_gt(run_team(members, none, obtain, &many), 30);
      cr_assert(alone.status[0] == RS_OK && many.status[0] == RS_OK);
      cr_expect_eq(memcmp(alone.model[0]->values, many.model[0]->values, weight_bytes(alone.model[0])), 0);
      for (size_t m = 1; m < members; m++) cr_expect(many.status[m] == RS_OK && many.model[m] == NULL);
      rs_transformer_free(alone.model[0]);
      rs_transformer_free(many.model[0]);
      small_training_clear(&s);
    }
}

/* Stopped or failed at any agreement, it goes on, by a team or by one, to the same weights. */
Test(team, training_that_ends_early__goes_on) {
  small_training s;
  small_training_fill(&s, RS_DECODER, RS_F32);
  s.trained.training.steps = 6;
  trained alone = {.training = &s}, whole = {.training = &s, .checkpoints = "whole"};
  obtain(&alone, NULL);
  size_t calls = run_team(3, none, obtain, &whole);
  cr_expect_eq(memcmp(alone.model[0]->values, whole.model[0]->values, weight_bytes(alone.model[0])), 0);
  rs_transformer_free(whole.model[0]);
  cr_expect_eq(run_team(3, none, obtain, &whole), 1, "what is there is not trained again");
  rs_transformer_free(whole.model[0]);
  for (size_t at = 1; at <= calls; at++) {
    char folder[16];
    snprintf(folder, sizeof folder, "c%zu", at);
    trained first = {.training = &s, .checkpoints = folder}, second = first;
    cr_expect_eq(run_team(3, (mishap){at, at % 2 ? RS_STOPPED : RS_MEMORY}, obtain, &first), at);
    for (size_t m = 0; m < 3; m++)
      cr_expect(first.status[m] == (at % 2 ? RS_STOPPED : RS_MEMORY) && first.model[m] == NULL, "%zu: %d", at,
                (int)first.status[m]);
    if (at % 3 == 0)
      obtain(&second, NULL);
    else
      (void)run_team(2, none, obtain, &second);
    cr_assert_eq(second.status[0], RS_OK, "ended at %zu", at);
    cr_expect_eq(memcmp(alone.model[0]->values, second.model[0]->values, weight_bytes(alone.model[0])), 0);
    rs_transformer_free(second.model[0]);
  }
  rs_transformer_free(alone.model[0]);
  small_training_clear(&s);
}

/* ---- what is shared ---------------------------------------------------------------------------------------------- */

static void expect_joint(const char *yaml, const char *checkpoints, size_t ranks, const size_t *want, size_t count) {
  rs_experiment *experiment = experiment_of(yaml);
  rs_ledger ledger;
  rs_joint joint;
  cr_assert_eq(rs_ledger_make(experiment, rs_kernels_get()->isa, &ledger, NULL), RS_OK);
  cr_assert_eq(rs_joint_choose(&ledger, checkpoints, ranks, &joint, NULL), RS_OK);
  cr_expect_eq(joint.count, count, "%zu pieces, not %zu, of %s", joint.count, count, yaml);
  for (size_t i = 0; i < count && i < joint.count; i++) cr_expect_eq(joint.cells[i], want[i], "%zu", joint.cells[i]);
  rs_joint_clear(&joint);
  rs_ledger_close(&ledger);
  rs_experiment_free(experiment);
}

#define ONE_HEAD "model: {name: m, head_dim: 64, heads: 1, train_length: 64}\nsources: [gaussian]\nqueries: all\n"

Test(team, cells_that_others_would_wait_for__are_shared) {
  static const size_t longest[] = {1, 3, 5, 0, 2, 4}, third[] = {2};
  /* three of 16k beside three of 8k: dealt, one of two ranks would have two and a rank of three none of its own */
  expect_joint(ONE_HEAD "methods: [rope, alibi, nope]\nlengths: [8k, 16k]\nmetrics: [entropy]\n", NULL, 2, longest, 6);
  expect_joint(ONE_HEAD "methods: [rope, alibi, nope]\nlengths: [64, 128, 16k]\nmetrics: [entropy]\nseeds: 40\n", NULL,
               2, NULL, 0);
  expect_joint(ONE_HEAD "methods: [rope]\nlengths: [64, 128, 16k]\nmetrics: [entropy]\n", NULL, 2, third, 1);
  expect_joint(ONE_HEAD "methods: [rope]\nlengths: [64, 128, 16k]\nmetrics: [entropy]\n", NULL, 300, NULL, 0);
  expect_joint(ONE_HEAD "methods: [rope]\nlengths: [64, 1k]\nmetrics: [entropy]\n", NULL, 2, NULL, 0);
  expect_joint(ONE_HEAD "methods: [rope]\nlengths: [16k]\nmetrics: [decay]\n", NULL, 2, NULL, 0);
}

#define TRAINING(steps)                                                                                                \
  "task: {name: copy, symbols: 3}\nsequences: 4\nlengths: [4]\nmethods: [trained]\nmetrics: [loss]\nseeds: 1\n"        \
  "checkpoint: {method: rope, width: 32, blocks: 1, heads: 2, train: {steps: " steps ", length: 8, sequences: 8}"

Test(team, training_that_all_wait_for__is_shared) {
  static const size_t first[] = {0};
  expect_joint(TRAINING("4000") "}\n", "c", 2, first, 1);
  expect_joint(TRAINING("4000") "}\n", NULL, 2, NULL, 0);
  expect_joint(TRAINING("10") "}\n", "c", 2, NULL, 0);
  expect_joint(TRAINING("4000") ", tune: {steps: 4, length: 8, sequences: 8}}\n", "c", 2, NULL, 0);
}
