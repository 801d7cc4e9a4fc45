/* test_api_threads.c: several runs in one process: beside each other, and one within another's callback. */
#include "../fixtures/threads.h"
#include "api.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

/* Small enough that threads take a seed and source each, and enough of those that they do. */
static const char many[] = "name: many\n"
                           "model: {head_dim: 32, heads: 2, train_length: 256}\n"
                           "methods: [rope, {name: pi, factor: 2}, alibi]\n"
                           "lengths: [64, 128]\n"
                           "sources: [gaussian, needle]\n"
                           "seeds: 4\n"
                           "metrics: [entropy, frequencies]\n"
                           "queries: {last: 4}\n";

/* The CSV files of a run, one after the other. Release with free(). */
static char *run_many(ropescope_run_options options) {
  ropescope_results *results = NULL;
  char *all = calloc(1 << 20, 1);
  size_t used = 0;
  options.size = sizeof options;
  GOOD(ropescope_run(NULL, many, NULL, &options, &results, &error));
  for (size_t i = 0; ropescope_results_name(results, i) != NULL; i++) {
    const char *name = ropescope_results_name(results, i);
    if (strcmp(name, "timings.csv") == 0 || strstr(name, ".csv") == NULL) continue;
    used += (size_t)snprintf(all + used, (1 << 20) - used, "%s", ropescope_results_file(results, name, NULL));
  }
  ropescope_results_free(results);
  cr_assert_gt(used, 1000);
  return all;
}

/* ---- what a run tells -------------------------------------------------------------------------------------------- */

typedef struct heard {
  atomic_int inside;
  atomic_bool twice, backwards;
  size_t done, cells;
  double share;
} heard;

static void hear(void *context, size_t done, size_t cells, double share) {
  heard *h = context;
  if (atomic_fetch_add(&h->inside, 1) != 0) atomic_store(&h->twice, true);
  if (done < h->done || share < h->share - 1e-12) atomic_store(&h->backwards, true);
  h->done = done;
  h->cells = cells;
  h->share = share;
  atomic_fetch_sub(&h->inside, 1);
}

/* How many threads the caller's own parallel regions take is the caller's affair. */
Test(api_threads, limit_of_a_run_ends_with_it) {
  use_threads(3);
  int before = threads_taken();
  free(run_many((ropescope_run_options){.threads = 1}));
  cr_assert_eq(threads_taken(), before);
}

Test(api_threads, progress_is_told_in_order_and_to_the_end) {
  heard h = {0};
  free(run_many((ropescope_run_options){.progress = hear, .context = &h, .threads = 4}));
  cr_assert_not(h.twice, "a run calls its progress once at a time");
  cr_assert_not(h.backwards);
  cr_assert_eq(h.cells, 3 * 2 * 2 * 4);
  cr_assert_eq(h.done, h.cells);
  cr_assert_float_eq(h.share, 1, 1e-9);
}

/* ---- a run within a run ------------------------------------------------------------------------------------------ */

typedef struct nested {
  const char *wanted;
  size_t calls, runs;
  bool differs;
} nested;

static void run_within(void *context, size_t done, size_t cells, double share) {
  nested *n = context;
  (void)done, (void)cells, (void)share;
  if (n->calls++ % 20 != 0) return;
  heard h = {0};
  char *all = run_many((ropescope_run_options){.progress = hear, .context = &h});
  n->differs |= strcmp(all, n->wanted) != 0 || h.done != h.cells;
  n->runs++;
  free(all);
}

Test(api_threads, a_callback_runs_another_sweep, .timeout = 60) {
  nested n = {.wanted = run_many((ropescope_run_options){0})};
  char *all = run_many((ropescope_run_options){.progress = run_within, .context = &n});
  cr_assert_str_eq(all, n.wanted);
  cr_assert_geq(n.runs, 2);
  cr_assert_not(n.differs);
  free(all);
  free((char *)n.wanted);
}

/* ---- runs beside each other -------------------------------------------------------------------------------------- */

/* Where the callbacks of two runs meet: each waits until the other's is there, too. */
typedef struct meeting {
  pthread_mutex_t lock;
  pthread_cond_t come;
  int there;
  bool missed;
} meeting;

typedef struct side {
  meeting *place;
  bool met;
  char *all;
} side;

static void meet(void *context, size_t done, size_t cells, double share) {
  side *s = context;
  meeting *m = s->place;
  struct timespec until;
  (void)done, (void)cells, (void)share;
  if (s->met) return;
  s->met = true;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += 20;
  pthread_mutex_lock(&m->lock);
  m->there++;
  pthread_cond_broadcast(&m->come);
  while (m->there < 2 && !m->missed) m->missed = pthread_cond_timedwait(&m->come, &m->lock, &until) != 0;
  pthread_mutex_unlock(&m->lock);
}

static void *run_side(void *context) {
  side *s = context;
  s->all = run_many((ropescope_run_options){.progress = meet, .context = s});
  return NULL;
}

Test(api_threads, callbacks_of_two_runs_may_wait_for_each_other, .timeout = 120) {
  char *wanted = run_many((ropescope_run_options){0});
  meeting place = {.lock = PTHREAD_MUTEX_INITIALIZER, .come = PTHREAD_COND_INITIALIZER};
  side sides[2] = {{.place = &place}, {.place = &place}};
  pthread_t threads[2];
  for (size_t i = 0; i < 2; i++) cr_assert_eq(pthread_create(&threads[i], NULL, run_side, &sides[i]), 0);
  for (size_t i = 0; i < 2; i++) {
    pthread_join(threads[i], NULL);
    cr_assert_str_eq(sides[i].all, wanted);
    free(sides[i].all);
  }
  cr_assert_not(place.missed, "one run's callback kept the other from telling");
  free(wanted);
}
