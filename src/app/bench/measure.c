/* Which jobs are timed, and how: what the system's CPUs did less what this process did tells who else was at work;
 * rounds are a sample of the ceiling, of the job, of the ceiling, of the job, and so on; then medians. */
#include "bench.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

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

/* ---- samples ----------------------------------------------------------------------------------------------------- */

/* Others may have this share of the machine's CPUs before a sample counts as contended: a desktop at rest stays below,
 * a compiler on one of 16 cores does not. */
static const double tolerated_share = 0.05;

typedef struct moment {
  double wall, process, busy; /* seconds; of CPU: by this process, by all (NaN: unknown) */
} moment;

static double seconds_of(struct timeval time) {
  return (double)time.tv_sec + 1e-6 * (double)time.tv_usec;
}

/* Linux counts, over all CPUs: user, nice, system, idle, iowait, irq, softirq, steal (proc(5)). Stolen time is a
 * neighbour's, on the same hardware. */
static double busy_seconds(void) {
  unsigned long long ticks[8];
  FILE *file = fopen("/proc/stat", "r");
  int read = file == NULL ? 0
                          : fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &ticks[0], &ticks[1], &ticks[2],
                                   &ticks[3], &ticks[4], &ticks[5], &ticks[6], &ticks[7]);
  if (file != NULL) fclose(file);
  if (read != 8) return NAN;
  unsigned long long busy = ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6] + ticks[7];
  return (double)busy / (double)sysconf(_SC_CLK_TCK);
}

static moment moment_now(void) {
  struct rusage usage;
  moment now = {.busy = busy_seconds()};
  getrusage(RUSAGE_SELF, &usage);
  now.process = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
  now.wall = rs_seconds();
  return now;
}

static void judge(const moment *from, const moment *to, rs_sample *sample) {
  double wall = to->wall - from->wall, cpus = (double)sysconf(_SC_NPROCESSORS_ONLN);
  double others = (to->busy - from->busy) - (to->process - from->process);
  /* The system counts in ticks: the first and the last of each CPU may be another's or ours. */
  double doubt = cpus / (double)sysconf(_SC_CLK_TCK);
  sample->others = isnan(others) ? NAN : fmax(0, others) / wall;
  sample->contended = (others - doubt) / wall > tolerated_share * cpus;
}

rs_status rs_sample_take(const rs_bench_family *family, void *state, double least, rs_sample *sample, rs_err *err) {
  moment from = moment_now(), to = from;
  size_t runs = 0;
  do {
    RS_TRY(family->run(state, err));
    runs++;
  } while (rs_seconds() - from.wall < least);
  to = moment_now();
  sample->seconds = (to.wall - from.wall) / (double)runs;
  judge(&from, &to, sample);
  return RS_OK;
}

/* ---- rounds ------------------------------------------------------------------------------------------------------ */

/* A sample is at least this long: the system counts the time of others in ticks of 10 ms. */
static const double least_seconds = 0.3, least_seconds_quick = 0.01;

static size_t threads_now(void) {
#ifdef _OPENMP
  return (size_t)omp_get_max_threads();
#else
  return 1;
#endif
}

static void use_threads(size_t threads) {
#ifdef _OPENMP
  omp_set_num_threads((int)threads);
#else
  (void)threads;
#endif
}

/* A job made ready to run. */
typedef struct ready {
  const rs_bench_family *family;
  void *state;
  rs_bench_work work;
} ready;

static rs_status make_ready(const rs_bench_family *family, const rs_bench_job *job, bool quick, ready *prepared,
                            rs_err *err) {
  *prepared = (ready){.family = family};
  return family->create(job, quick ? job->quick : job->full, &prepared->state, &prepared->work, err);
}

/* One round: the job, and the ceiling as it was before and after. */
typedef struct bench_round {
  rs_sample ceiling, job;
} bench_round;

static bool contended(const bench_round *round) {
  return round->ceiling.contended || round->job.contended;
}

/* Sorts. */
static double median(double *values, size_t count) {
  gsl_sort(values, 1, count);
  return gsl_stats_median_from_sorted_data(values, 1, count);
}

/* Median, least and (for `others`) mean over the rounds that count. The fraction is taken round by round: on a virtual
 * machine both speeds may double for a while, and what is next to each other in time then still goes together.
 * `scratch` (3 * count). */
static void summarise(const bench_round *rounds, size_t count, const ready *ceiling, const ready *job, double *scratch,
                      rs_bench_row *row) {
  double *jobs = scratch, *ceilings = jobs + count, *fractions = ceilings + count, others = 0;
  double relative = job->work.amount / ceiling->work.amount;
  size_t used = 0;
  for (size_t i = 0; i < count; i++) row->contended += contended(&rounds[i]);
  for (size_t i = 0; i < count; i++) {
    if (contended(&rounds[i]) && row->contended < count) continue;
    ceilings[used] = rounds[i].ceiling.seconds;
    fractions[used] = relative * rounds[i].ceiling.seconds / rounds[i].job.seconds;
    jobs[used++] = rounds[i].job.seconds;
    others += rounds[i].job.others;
  }
  double ceiling_seconds = median(ceilings, used);
  row->rounds = count;
  row->seconds = median(jobs, used);
  row->seconds_best = jobs[0];
  row->others = others / (double)used;
  row->rate = 1e-9 * job->work.amount / row->seconds;
  row->ceiling_rate = 1e-9 * ceiling->work.amount / ceiling_seconds;
  row->fraction = median(fractions, used);
  row->fraction_best = relative * ceilings[0] / jobs[0];
  row->nanoseconds = 1e9 * row->seconds / job->work.items;
}

/* A job this long is not run once more only because its first run met cold memory. */
static const double long_seconds = 5;

/* Rounds until enough are clean, twice as many as were asked for at most. The first of a short job does not count. */
static rs_status play(const rs_bench_options *options, const ready *ceiling, const ready *job, bench_round *rounds,
                      size_t *count, rs_err *err) {
  double least = options->quick ? least_seconds_quick : least_seconds;
  size_t clean = 0;
  bool first = true;
  rs_sample before, after;
  RS_TRY(ceiling->family->run(ceiling->state, err));
  RS_TRY(rs_sample_take(ceiling->family, ceiling->state, least, &before, err));
  for (*count = 0; clean < options->rounds && *count < 2 * options->rounds; first = false) {
    bench_round *round = &rounds[*count];
    RS_TRY(rs_sample_take(job->family, job->state, least, &round->job, err));
    RS_TRY(rs_sample_take(ceiling->family, ceiling->state, least, &after, err));
    round->ceiling = (rs_sample){.seconds = (before.seconds + after.seconds) / 2,
                                 .others = (before.others + after.others) / 2,
                                 .contended = before.contended || after.contended};
    before = after;
    if (first && round->job.seconds < long_seconds) continue;
    clean += !contended(round);
    (*count)++;
  }
  return RS_OK;
}

/* With the threads the job is for. */
static rs_status measure(const rs_bench_options *options, const rs_bench_choice *choice, rs_bench_row *row,
                         rs_err *err) {
  size_t count, threads = threads_now();
  ready ceiling = {0}, job = {0};
  bench_round *rounds = rs_alloc(options->rounds, 2 * sizeof *rounds, err);
  double *scratch = rs_alloc(options->rounds, 6 * sizeof *scratch, err);
  rs_status status = rounds == NULL || scratch == NULL ? RS_MEMORY : RS_OK;
  if (choice->job->threads > 0) use_threads(choice->job->threads);
  *row = (rs_bench_row){.job = choice->job, .isa = rs_kernels_get()->isa, .threads = threads_now()};
  if (status == RS_OK)
    status = make_ready(&rs_bench_ceilings, &rs_bench_ceilings.jobs[choice->job->limit], options->quick, &ceiling, err);
  if (status == RS_OK) status = make_ready(choice->family, choice->job, options->quick, &job, err);
  if (status == RS_OK) status = play(options, &ceiling, &job, rounds, &count, err);
  if (status == RS_OK) summarise(rounds, count, &ceiling, &job, scratch, row);
  choice->family->free(job.state);
  rs_bench_ceilings.free(ceiling.state);
  free(scratch);
  free(rounds);
  use_threads(threads);
  return status;
}

/* One job with each instruction set in turn; rows (sets,). */
static rs_status measure_sets(const rs_bench_options *options, const rs_bench_choice *choice, size_t sets,
                              rs_bench_row *rows, rs_err *err) {
  if (!options->all_isa) return measure(options, choice, rows, err);
  const char *before = rs_kernels_get()->isa;
  rs_status status = RS_OK;
  for (size_t i = 0; i < sets && status == RS_OK; i++) {
    status = rs_kernels_use(rs_isa_name(i), err);
    if (status == RS_OK) status = measure(options, choice, &rows[i], err);
  }
  rs_status restored = rs_kernels_use(before, status == RS_OK ? err : NULL);
  return status == RS_OK ? restored : status;
}

static size_t count_sets(const rs_bench_options *options) {
  size_t sets = 0;
  if (!options->all_isa) return 1;
  while (rs_isa_name(sets) != NULL) sets++;
  return sets;
}

rs_status rs_bench_run(const rs_bench_options *options, rs_bench_row **rows, size_t *count, rs_err *err) {
  rs_bench_choice *chosen;
  size_t jobs, sets = count_sets(options);
  *rows = NULL;
  *count = 0;
  RS_TRY(rs_bench_choose(options, &chosen, &jobs, err));
  rs_bench_row *measured = rs_alloc(jobs * sets, sizeof *measured, err);
  rs_status status = measured != NULL ? RS_OK : RS_MEMORY;
  for (size_t i = 0; i < jobs && status == RS_OK; i++) {
    if (options->progress != NULL) options->progress(options->context, chosen[i].job, i, jobs);
    status = measure_sets(options, &chosen[i], sets, measured + i * sets, err);
  }
  free(chosen);
  if (status == RS_OK) {
    *rows = measured;
    *count = jobs * sets;
  } else
    free(measured);
  return status;
}

bool rs_bench_row_doubtful(const rs_bench_row *row) {
  return row->contended == row->rounds;
}

/* ---- as CSV ------------------------------------------------------------------------------------------------------ */

/* What is measured differs from time to time in its third digit: more than five say nothing. */
static double five_digits(double value) {
  if (!isfinite(value) || value == 0) return value;
  double places = 4 - floor(log10(fabs(value)));
  double unit = pow(10, fabs(places));
  return places < 0 ? round(value / unit) * unit : round(value * unit) / unit;
}

void rs_bench_write(const rs_bench_row *rows, size_t count, rs_text *csv) {
  static const rs_doc_column columns[] = {
      {.key = "job"},          {.key = "threads"},     {.key = "isa"},           {.key = "seconds"},
      {.key = "seconds_best"}, {.key = "rate"},        {.key = "rate_unit"},     {.key = "ceiling"},
      {.key = "ceiling_rate"}, {.key = "fraction"},    {.key = "fraction_best"}, {.key = "nanoseconds_per_item"},
      {.key = "item"},         {.key = "others_cpus"}, {.key = "rounds"},        {.key = "rounds_contended"}};
  rs_arena arena = {0};
  rs_doc *doc = rs_doc_new(&arena, RS_DOC_ARRAY);
  for (size_t i = 0; i < count; i++) {
    const rs_bench_row *row = &rows[i];
    rs_doc_put(
        rs_doc_add(doc, NULL, RS_DOC_OBJECT), DOC_WORDS("job", row->job->name), DOC_NUMBER("threads", row->threads),
        DOC_WORDS("isa", row->isa), DOC_NUMBER("seconds", five_digits(row->seconds)),
        DOC_NUMBER("seconds_best", five_digits(row->seconds_best)), DOC_NUMBER("rate", five_digits(row->rate)),
        DOC_WORDS("rate_unit", rs_limit_unit(row->job->limit)), DOC_WORDS("ceiling", rs_limit_name(row->job->limit)),
        DOC_NUMBER("ceiling_rate", five_digits(row->ceiling_rate)), DOC_NUMBER("fraction", five_digits(row->fraction)),
        DOC_NUMBER("fraction_best", five_digits(row->fraction_best)),
        DOC_NUMBER("nanoseconds_per_item", five_digits(row->nanoseconds)), DOC_WORDS("item", row->job->item),
        DOC_NUMBER("others_cpus", five_digits(row->others)), DOC_NUMBER("rounds", row->rounds),
        DOC_NUMBER("rounds_contended", row->contended));
  }
  rs_doc_csv(doc, columns, RS_COUNT(columns), csv);
  csv->failed |= arena.failed;
  rs_arena_clear(&arena);
}
