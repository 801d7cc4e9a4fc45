/* Messages by MPI. No call waits in it: Open MPI spins while it waits, which would take a core from whoever computes.
 */
#include "ranks.h"

#include <limits.h>
#include <mpi.h>
#include <stdlib.h>

/* Ranks on this machine. */
static int count_local(int rank) {
  MPI_Comm node;
  int local = 1;
  if (MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node) != MPI_SUCCESS) return 1;
  MPI_Comm_size(node, &local);
  MPI_Comm_free(&node);
  return local;
}

rs_status rs_ranks_open(rs_ranks **ranks, rs_err *err) {
  int provided;
  *ranks = NULL;
  if (rs_ranks_launched() == 0) return RS_OK;
  rs_ranks *r = rs_alloc(1, sizeof *r, err);
  if (r == NULL) return RS_MEMORY;
  if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS ||
      provided < MPI_THREAD_SERIALIZED) {
    free(r);
    return rs_fail(err, RS_UNSUPPORTED, "this MPI does not allow calls from one thread after the other");
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &r->rank);
  MPI_Comm_size(MPI_COMM_WORLD, &r->count);
  r->local = count_local(r->rank);
  *ranks = r;
  return RS_OK;
}

void rs_ranks_close(rs_ranks *ranks) {
  if (ranks == NULL) return;
  (void)rs_ranks_agree(ranks, 0); /* which sleeps until all are here; MPI_Finalize would spin */
  MPI_Finalize();
  free(ranks);
}

/* Waits for an operation that was begun. */
static bool finish(MPI_Request *request) {
  int done = 0;
  long ns = 0;
  while (MPI_Test(request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done) rs_rank_nap(&ns, RS_RANK_NAP / 2);
  return done;
}

int rs_ranks_agree(rs_ranks *ranks, int code) {
  MPI_Request request;
  int most = code;
  if (ranks == NULL || MPI_Iallreduce(&code, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request) != MPI_SUCCESS)
    return code;
  return finish(&request) ? most : code;
}

rs_status rs_ranks_send(rs_ranks *ranks, size_t rank, int tag, const void *data, size_t length, rs_err *err) {
  MPI_Request request;
  (void)ranks;
  if (length > INT_MAX) return rs_fail(err, RS_IO, "a record of 2 GiB cannot be sent to rank 0 (use --shard)");
  if (MPI_Isend(data, (int)length, MPI_BYTE, (int)rank, tag, MPI_COMM_WORLD, &request) != MPI_SUCCESS ||
      !finish(&request))
    return rs_fail(err, RS_IO, "cannot send to rank %zu", rank);
  return RS_OK;
}

rs_status rs_ranks_receive(rs_ranks *ranks, bool *there, rs_rank_message *message, rs_err *err) {
  MPI_Status status;
  MPI_Message handle;
  int found = 0, length = 0;
  (void)ranks;
  *there = false;
  if (MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, &handle, &status) != MPI_SUCCESS)
    return rs_fail(err, RS_IO, "cannot receive from other ranks");
  if (!found) return RS_OK;
  MPI_Get_count(&status, MPI_BYTE, &length);
  *message = (rs_rank_message){.rank = (size_t)status.MPI_SOURCE,
                               .tag = status.MPI_TAG,
                               .data = rs_alloc((size_t)length, 1, err),
                               .length = (size_t)length};
  if (message->data == NULL) return RS_MEMORY;
  if (MPI_Mrecv(message->data, length, MPI_BYTE, &handle, MPI_STATUS_IGNORE) != MPI_SUCCESS) {
    free(message->data);
    return rs_fail(err, RS_IO, "cannot receive from rank %zu", message->rank);
  }
  *there = true;
  return RS_OK;
}
