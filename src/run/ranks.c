/* Ranks: all that the program asks of MPI. Ranks share three sums, one of which is the number of the next unit
 * (deal.c); they compare status codes, and rank 0 sends the others a few bytes. */
#include "work.h"

#include <math.h>
#include <stdlib.h>
#ifdef ROPESCOPE_MPI
#include <mpi.h>
#include <time.h>
#endif

/* As launchers tell it: those of Open MPI, of MPICH and Slurm. 0: none has started this process. */
static size_t count_launched(void) {
  static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};
  for (size_t i = 0; i < RS_COUNT(sizes); i++)
    if (getenv(sizes[i]) != NULL) return (size_t)strtoul(getenv(sizes[i]), NULL, 10);
  return getenv("PMIX_RANK") != NULL ? 1 : 0; /* and who joins sees how many */
}

#ifdef ROPESCOPE_MPI

struct rs_ranks {
  int rank, count, local;
  MPI_Win window;       /* (RS_TALLIES,) doubles of rank 0 */
  pthread_mutex_t lock; /* held while MPI is called, which allows one thread at a time */
  pthread_t server;     /* of rank 0 */
  _Atomic bool closed;  /* MPI is not called any more */
  int said, most;       /* codes on their way, also when nobody waits for them any more */
};

/* Twice as long each time. */
static void nap(long *ns) {
  enum { LONGEST = 2000000 };
  *ns = *ns == 0 ? LONGEST / 100 : *ns * 2 < LONGEST ? *ns * 2 : LONGEST;
  nanosleep(&(struct timespec){0, *ns}, NULL);
}

double rs_ranks_add(rs_ranks *ranks, rs_tally tally, double amount) {
  double before = 0;
  (void)pthread_mutex_lock(&ranks->lock);
  MPI_Fetch_and_op(&amount, &before, MPI_DOUBLE, 0, (MPI_Aint)tally, MPI_SUM, ranks->window);
  MPI_Win_flush(0, ranks->window);
  (void)pthread_mutex_unlock(&ranks->lock);
  return before;
}

/* Others reach rank 0's numbers while it computes: most ways to another machine need it to call MPI. */
static void *serve(void *context) {
  rs_ranks *ranks = context;
  for (long ns = 1000000; !ranks->closed; nap(&ns)) {
    int found;
    (void)pthread_mutex_lock(&ranks->lock);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    (void)pthread_mutex_unlock(&ranks->lock);
  }
  return NULL;
}

static void join(rs_ranks *r) {
  MPI_Comm machine;
  double *numbers;
  MPI_Comm_rank(MPI_COMM_WORLD, &r->rank);
  MPI_Comm_size(MPI_COMM_WORLD, &r->count);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, r->rank, MPI_INFO_NULL, &machine);
  MPI_Comm_size(machine, &r->local);
  MPI_Comm_free(&machine);
  MPI_Aint bytes = r->rank == 0 ? RS_TALLIES * (MPI_Aint)sizeof *numbers : 0;
  MPI_Win_allocate(bytes, sizeof *numbers, MPI_INFO_NULL, MPI_COMM_WORLD, &numbers, &r->window);
  MPI_Win_lock_all(0, r->window);
  for (int i = 0; i < RS_TALLIES && r->rank == 0; i++) numbers[i] = 0;
  MPI_Win_sync(r->window); /* and nobody adds to them before all have met */
}

rs_status rs_ranks_open(rs_ranks **ranks, rs_err *err) {
  int provided = MPI_THREAD_SINGLE;
  *ranks = NULL;
  if (count_launched() == 0) return RS_OK;
  rs_ranks *r = rs_alloc(1, sizeof *r, err);
  if (r == NULL) return RS_MEMORY;
  r->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
  MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided);
  if (provided >= MPI_THREAD_SERIALIZED) join(r);
  if (provided >= MPI_THREAD_SERIALIZED && (r->rank > 0 || pthread_create(&r->server, NULL, serve, r) == 0)) {
    *ranks = r;
    return RS_OK;
  }
  free(r);
  return rs_fail(err, RS_UNSUPPORTED, "this MPI does not allow calls from one thread after the other");
}

/* Waits for what was begun with the lock held, and drops that; MPI's own waiting would take a core from whoever
 * computes. Open MPI's launcher answers the loss of a rank with SIGTERM to the others, with SIGKILL when one of them
 * has ended, and a second later: rank 0 is the first to give up, and has the rest of the second for what is done. */
static bool finish(rs_ranks *ranks, MPI_Request *request, bool (*stop)(void *context), void *context) {
  const double patience = ranks->rank == 0 ? 0.25 : 1; /* seconds */
  double stopped = NAN;
  long ns = 0;
  for (int done = 0;;) {
    MPI_Test(request, &done, MPI_STATUS_IGNORE);
    (void)pthread_mutex_unlock(&ranks->lock);
    if (done) return true;
    if (isnan(stopped) && stop != NULL && stop(context)) stopped = rs_seconds();
    if (rs_seconds() - stopped > patience) ranks->closed = true;
    if (ranks->closed) return false;
    nap(&ns);
    (void)pthread_mutex_lock(&ranks->lock);
  }
}

bool rs_ranks_meet(rs_ranks *ranks, int *code, bool (*stop)(void *context), void *context) {
  MPI_Request request;
  ranks->said = *code;
  (void)pthread_mutex_lock(&ranks->lock);
  MPI_Iallreduce(&ranks->said, &ranks->most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request);
  if (!finish(ranks, &request, stop, context)) return false;
  *code = ranks->most;
  return true;
}

bool rs_ranks_spread(rs_ranks *ranks, void *data, size_t bytes, bool (*stop)(void *context), void *context) {
  MPI_Request request;
  (void)pthread_mutex_lock(&ranks->lock);
  MPI_Ibcast(data, (int)bytes, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
  return finish(ranks, &request, stop, context);
}

/* Where a rank is lost, the end of this process ends the others. */
void rs_ranks_close(rs_ranks *ranks) {
  if (ranks == NULL) return;
  bool met = !ranks->closed;
  (void)(met && rs_ranks_agree(ranks, 0)); /* which sleeps until all are here */
  ranks->closed = true;
  if (ranks->rank == 0) (void)pthread_join(ranks->server, NULL);
  if (met) {
    MPI_Win_unlock_all(ranks->window);
    MPI_Win_free(&ranks->window);
    MPI_Finalize();
  }
  free(ranks);
}
#else
struct rs_ranks {
  int rank, count, local;
};

rs_status rs_ranks_open(rs_ranks **ranks, rs_err *err) {
  *ranks = NULL;
  if (count_launched() <= 1) return RS_OK;
  return rs_fail(err, RS_UNSUPPORTED,
                 "started %zu times by mpirun, but this build has no MPI (meson setup -Dmpi=enabled), so that each "
                 "would run the whole: use --shard, or such a build",
                 count_launched());
}

void rs_ranks_close(rs_ranks *ranks) {
  (void)ranks;
}

double rs_ranks_add(rs_ranks *ranks, rs_tally tally, double amount) {
  return (void)ranks, (void)tally, (void)amount, 0;
}

bool rs_ranks_meet(rs_ranks *ranks, int *code, bool (*stop)(void *context), void *context) {
  return (void)ranks, (void)code, (void)stop, (void)context, true;
}

bool rs_ranks_spread(rs_ranks *ranks, void *data, size_t bytes, bool (*stop)(void *context), void *context) {
  return (void)ranks, (void)data, (void)bytes, (void)stop, (void)context, true;
}
#endif

int rs_ranks_agree(rs_ranks *ranks, int code) {
  if (ranks != NULL) (void)rs_ranks_meet(ranks, &code, NULL, NULL);
  return code;
}

size_t rs_ranks_rank(const rs_ranks *ranks) {
  return ranks != NULL ? (size_t)ranks->rank : 0;
}

size_t rs_ranks_count(const rs_ranks *ranks) {
  return ranks != NULL ? (size_t)ranks->count : 1;
}

size_t rs_ranks_local(const rs_ranks *ranks) {
  return ranks != NULL ? (size_t)ranks->local : 1;
}
