/* Statistics as a user gets them: a config, rs_run, files. What the encodings, queries, keys, metrics and CSV cost
 * beside the scores is what this job shows. Nothing is skipped: every pair that is counted is computed. */
#include "bench_internal.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* sizes: tokens. */
static const rs_bench_job jobs[] = {
    {"sweep", "a sweep of rope, yarn and alibi at 65536 tokens, every query, with its files", RS_LIMIT_FMA_F32, "pair",
     .full = {65536}, .quick = {512}},
};

typedef struct sweep {
  rs_experiment *experiment;
  char *directory; /* a temporary one */
} sweep;

/* Removes the folder with the files a run leaves; it makes no folders in it. */
static void remove_folder(const char *path) {
  DIR *folder = opendir(path);
  if (folder == NULL) return;
  for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
      (void)rs_file_remove(path, entry->d_name, NULL); /* then rmdir leaves the folder */
  closedir(folder);
  rmdir(path);
}

static void free_sweep(void *state) {
  sweep *s = state;
  if (s == NULL) return;
  if (s->directory != NULL) remove_folder(s->directory);
  rs_experiment_free(s->experiment);
  free(s->directory);
  free(s);
}

static rs_status make_folder(sweep *s, rs_err *err) {
  const char *parent = getenv("TMPDIR");
  char *path = rs_path_join(parent != NULL && *parent != '\0' ? parent : "/tmp", "ropescope-bench-XXXXXX", err);
  if (path == NULL) return RS_MEMORY;
  if (mkdtemp(path) == NULL) {
    rs_status status = rs_fail(err, RS_IO, "cannot make a temporary folder %s", path);
    free(path);
    return status;
  }
  s->directory = path;
  return RS_OK;
}

static rs_status read_config(sweep *s, size_t tokens, rs_err *err) {
  char config[256];
  rs_problems problems = {0};
  snprintf(config, sizeof config,
           "name: bench\nmodel: llama-2-7b\nlengths: [%zu]\nmethods: [rope, {name: yarn, factor: 16}, alibi]\n"
           "sources: [gaussian]\nqueries: all\nheads: 1\nengine: {epsilon: 0}\n",
           tokens);
  rs_status status = rs_config_read(config, "bench", (rs_config_edits){0}, &s->experiment, &problems, err);
  rs_problems_clear(&problems);
  return status;
}

static rs_status create(const rs_bench_job *job, const size_t *sizes, void **state, rs_bench_work *work, rs_err *err) {
  double tokens = (double)sizes[0];
  sweep *s = rs_alloc(1, sizeof *s, err);
  (void)job;
  *state = NULL;
  if (s == NULL) return RS_MEMORY;
  rs_status status = read_config(s, sizes[0], err);
  if (status == RS_OK) status = make_folder(s, err);
  if (status != RS_OK) {
    free_sweep(s);
    return status;
  }
  work->items = (double)s->experiment->methods.count * tokens * (tokens + 1) / 2;
  work->amount = 2 * RS_BENCH_HEAD_DIM * work->items;
  *state = s;
  return RS_OK;
}

static rs_status run(void *state, rs_err *err) {
  const sweep *s = state;
  rs_run_summary summary;
  RS_TRY(rs_run(s->experiment, &(rs_run_options){.directory = s->directory}, &summary, err));
  return summary.failed == 0 ? RS_OK : rs_fail(err, RS_INTERNAL, "%zu cells of the sweep failed", summary.failed);
}

const rs_bench_family rs_bench_sweep = {
    .name = "sweep", .jobs = jobs, .job_count = RS_COUNT(jobs), .create = create, .run = run, .free = free_sweep};
