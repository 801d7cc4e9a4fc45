/* A run on several ranks, as its command sees it. */
#include "cli.h"

#include <stdlib.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

/* A launcher may have given each rank cores of its own; where it has not, they share. */
static void share_threads(const cli_options *options, const rs_ranks *ranks) {
#ifdef _OPENMP
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  int local = (int)rs_ranks_local(ranks), threads = (int)cores / local;
  if (options->threads > 0 || getenv("OMP_NUM_THREADS") != NULL) return;
  if ((long)omp_get_num_procs() * local > cores) omp_set_num_threads(threads > 1 ? threads : 1);
#else
  (void)options;
  (void)ranks;
#endif
}

int cli_open_ranks(const cli_options *options, bool shard, rs_ranks **ranks) {
  rs_err err = {0};
  rs_status status = rs_ranks_open(ranks, &err);
  if (status == RS_UNSUPPORTED && shard) return CLI_OK; /* each may have a part of its own */
  if (status != RS_OK) return cli_fail(status, NULL, &err);
  if (*ranks != NULL) share_threads(options, *ranks);
  return CLI_OK;
}
