/* Aligned room for the kernel's arrays, kept from job to job. */
#include "worker.h"

#include <stdlib.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

rs_status rs_reals_reserve(rs_reals *reals, size_t count, size_t size, rs_err *err) {
  enum { LINE = 64, HUGE_PAGE = 1 << 21 };
  if (count > (SIZE_MAX - HUGE_PAGE) / size) return rs_fail(err, RS_MEMORY, "out of memory: %zu numbers", count);
  size_t unit = count * size < 2 * HUGE_PAGE ? LINE : HUGE_PAGE, bytes = (count * size + unit - 1) / unit * unit;
  if (bytes <= reals->bytes) return RS_OK;
  free(reals->data);
  reals->data = aligned_alloc(unit, bytes);
#ifdef MADV_HUGEPAGE
  /* Keys that stream from memory would miss the page tables' cache once for each panel. No matter if it is refused. */
  if (reals->data != NULL && unit == HUGE_PAGE) madvise(reals->data, bytes, MADV_HUGEPAGE);
#endif
  reals->bytes = reals->data != NULL ? bytes : 0;
  return reals->data != NULL ? RS_OK : rs_fail(err, RS_MEMORY, "out of memory: %zu bytes", bytes);
}

void rs_reals_clear(rs_reals *reals) {
  free(reals->data);
  *reals = (rs_reals){0};
}
