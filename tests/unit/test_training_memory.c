/* Every allocation of a training that is kept in a folder, made to fail: it is told, nothing leaks, and what stands in
 * the folder is gone on with afterwards. */
#include "../fixtures/heap_ways.h"
#include "../fixtures/scratch.h"
#include "../fixtures/small_training.h"
#include "../fixtures/trained_folder.h"

#include <criterion/criterion.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

TestSuite(training_memory, .init = enter_scratch);

/* With the n-th allocation refused; *any: there was one. The C library's qsort, and what is only tidied up,
 * do without: the end is then `wanted`. */
static void with_refusal(const small_training *s, long n, size_t stop_at, rs_status wanted, bool *any) {
  trained_watch w = {.stop_at = stop_at};
  rs_transformer *t = NULL;
  rs_err err = {0};
  long held = blocks;
  refused = false;
  allocations = n;
  rs_status status = obtain_with(s, "models", &w, &t, &err);
  allocations = -1;
  *any = refused;
  bool given = t != NULL;
  rs_transformer_free(t);
  cr_assert_eq(blocks, held, "allocation %ld leaks %ld", n, blocks - held);
  cr_assert(status == wanted || (refused && status == RS_MEMORY), "allocation %ld: %s: %s", n, rs_status_name(status),
            err.message);
  cr_assert_eq(given, status == RS_OK, "allocation %ld: %s, and %s", n, rs_status_name(status),
               given ? "a model" : "none");
}

Test(training_memory, begun_and_stopped__every_failing_allocation) {
  if (!COUNTS_MEMORY) cr_skip("the heap is somebody else's here");
  small_training s;
  bool any = true;
  size_t step = 1;
  omp_set_num_threads(1);
  spared_library = "libjansson."; /* 2.14 writes past its buffer when it cannot grow */
  small_training_fill(&s, RS_DECODER, RS_F32);
  s.trained.training.steps = 200; /* a failure behind the state leaves it a step further */
  char *whole = obtained(&s, NULL, NULL);
  for (long n = 0; any; n += 3) {
    with_refusal(&s, n, step, RS_STOPPED, &any);
    if (!any && step < 3) { /* the same once more, from the state that was left */
      step = 3;
      n = 0;
      any = true;
    }
  }
  char *rest = obtained(&s, "models", NULL);
  cr_expect_eq(memcmp(whole, rest, weight_bytes(&s)), 0);
  free(whole);
  free(rest);
  remove_all("models");
  small_training_clear(&s);
  leaves(NULL, 0);
}

Test(training_memory, done_and_loaded__every_failing_allocation) {
  if (!COUNTS_MEMORY) cr_skip("the heap is somebody else's here");
  small_training s;
  bool any = true;
  spared_library = "libjansson.";
  small_training_fill(&s, RS_DECODER, RS_F32);
  s.trained.training.steps = 2;
  free(obtained(&s, "models", NULL));
  ways_begin();
  free(obtained(&s, "models", NULL));
  ways_end();
  for (long n = 0; n < way_count; n++)
    if (way_is_tried(n)) with_refusal(&s, n, 0, RS_OK, &any);
  with_refusal(&s, way_count, 0, RS_OK, &any);
  cr_expect_not(any);
  remove_all("models");
  small_training_clear(&s);
  leaves(NULL, 0);
}
