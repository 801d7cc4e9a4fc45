/* Timing, and who else was at work meanwhile: what the system's CPUs did less what this process did. */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

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
