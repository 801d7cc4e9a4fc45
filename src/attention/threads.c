/* The threads that the engine and its callers share work among. */
#include "attention/attention.h"

#ifdef _OPENMP
#include <omp.h>
#endif

size_t rs_engine_threads(void) {
#ifdef _OPENMP
  return (size_t)omp_get_max_threads();
#else
  return 1;
#endif
}

size_t rs_engine_thread(void) {
#ifdef _OPENMP
  return (size_t)omp_get_thread_num();
#else
  return 0;
#endif
}
