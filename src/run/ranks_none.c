/* A build without MPI. */
#include "ranks.h"

rs_status rs_ranks_open(rs_ranks **ranks, rs_err *err) {
  *ranks = NULL;
  if (rs_ranks_launched() <= 1) return RS_OK;
  return rs_fail(err, RS_UNSUPPORTED,
                 "started %zu times by mpirun, but this build has no MPI (meson setup -Dmpi=enabled), so that each "
                 "would run the whole: use --shard, or such a build",
                 rs_ranks_launched());
}

void rs_ranks_close(rs_ranks *ranks) {
  (void)ranks;
}

int rs_ranks_agree(rs_ranks *ranks, int code) {
  (void)ranks;
  return code;
}

rs_status rs_ranks_send(rs_ranks *ranks, size_t rank, int tag, const void *data, size_t length, rs_err *err) {
  (void)ranks, (void)tag, (void)data, (void)length;
  return rs_fail(err, RS_INTERNAL, "no way to rank %zu", rank);
}

rs_status rs_ranks_receive(rs_ranks *ranks, bool *there, rs_rank_message *message, rs_err *err) {
  (void)ranks, (void)message, (void)err;
  *there = false;
  return RS_OK;
}
