/* Whether a launcher of MPI has started this process. */
#include "ranks.h"

#include <stdlib.h>

/* As launchers tell it: those of Open MPI, of MPICH and Slurm. */
size_t rs_ranks_launched(void) {
  static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};
  for (size_t i = 0; i < RS_COUNT(sizes); i++)
    if (getenv(sizes[i]) != NULL) return (size_t)strtoul(getenv(sizes[i]), NULL, 10);
  return getenv("PMIX_RANK") != NULL ? 1 : 0; /* and who joins sees how many */
}
