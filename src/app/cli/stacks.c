/* The stacks of threads: one that is too small ends the program without a word, so it is refused before. */
#include "cli.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>

/* More than any call takes (128 KiB is too little on some machines), and less than threads have unasked. */
enum { LEAST_STACK = 1 << 20 };

/* Stacks are large unless somebody has made them small: then threads are made to see how small. */
static bool are_chosen(void) {
  static const char *const names[] = {"OMP_STACKSIZE", "GOMP_STACKSIZE", "KMP_STACKSIZE"};
  struct rlimit limit;
  bool chosen = getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < LEAST_STACK;
  for (size_t i = 0; i < RS_COUNT(names); i++) chosen |= getenv(names[i]) != NULL;
  return chosen;
}

/* Bytes of the calling thread's stack; SIZE_MAX where it cannot be told. */
static size_t stack_size(void) {
  size_t size = SIZE_MAX;
#ifdef __GLIBC__
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return SIZE_MAX;
  if (pthread_attr_getstacksize(&attributes, &size) != 0) size = SIZE_MAX;
  pthread_attr_destroy(&attributes);
#endif
  return size;
}

int cli_check_stacks(void) {
  size_t least = SIZE_MAX;
  if (!are_chosen()) return CLI_OK;
#pragma omp parallel reduction(min : least)
  least = stack_size();
  if (least >= LEAST_STACK) return CLI_OK;
  cli_error("threads have a stack of %zu KiB here, and need %d (OMP_STACKSIZE=4M, ulimit -s 8192)", least >> 10,
            LEAST_STACK >> 10);
  return CLI_FAILED;
}
