/* The table of families, and the choice among their jobs. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

static const rs_bench_family *const families[] = {
    &rs_bench_ceilings, &rs_bench_decay, &rs_bench_statistics, &rs_bench_biases, &rs_bench_last_queries,
    &rs_bench_sweep,    &rs_bench_train, &rs_bench_prefill,    &rs_bench_growth,
};

const rs_bench_family *const *rs_bench_families(size_t *count) {
  *count = RS_COUNT(families);
  return families;
}

static size_t all_jobs(void) {
  size_t count = 0;
  for (size_t f = 0; f < RS_COUNT(families); f++) count += families[f]->job_count;
  return count;
}

static bool means(const char *name, const rs_bench_family *family, const rs_bench_job *job) {
  return strcmp(name, family->name) == 0 || strcmp(name, job->name) == 0;
}

/* RS_INPUT for a name that means nothing. */
static rs_status check_name(const char *name, rs_err *err) {
  rs_nearest nearest = {.word = name};
  bool known = false;
  for (size_t f = 0; f < RS_COUNT(families); f++) {
    rs_nearest_add(&nearest, families[f]->name);
    for (size_t j = 0; j < families[f]->job_count; j++) {
      known |= means(name, families[f], &families[f]->jobs[j]);
      rs_nearest_add(&nearest, families[f]->jobs[j].name);
    }
  }
  const char *near = rs_nearest_found(&nearest);
  if (known) return RS_OK;
  return near != NULL ? rs_fail(err, RS_INPUT, "no job %s (did you mean %s?)", name, near)
                      : rs_fail(err, RS_INPUT, "no job %s (ropescope bench --list shows them)", name);
}

rs_status rs_bench_choose(const rs_bench_options *options, rs_bench_choice **chosen, size_t *count, rs_err *err) {
  *chosen = NULL;
  *count = 0;
  for (size_t i = 0; i < options->name_count; i++) RS_TRY(check_name(options->names[i], err));
  rs_bench_choice *list = rs_alloc(all_jobs(), sizeof *list, err);
  if (list == NULL) return RS_MEMORY;
  for (size_t f = 0; f < RS_COUNT(families); f++)
    for (size_t j = 0; j < families[f]->job_count; j++) {
      const rs_bench_job *job = &families[f]->jobs[j];
      bool wanted = options->name_count == 0 && !families[f]->on_request;
      for (size_t i = 0; i < options->name_count; i++) wanted |= means(options->names[i], families[f], job);
      if (wanted) list[(*count)++] = (rs_bench_choice){families[f], job};
    }
  *chosen = list;
  return RS_OK;
}
