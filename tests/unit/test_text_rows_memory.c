/* test_text_rows_memory.c: allocations of a run fail in turn while a source's own checkpoint reads a text: its cells
 * say so or have their value, nothing leaks, and nobody calls the folder or the text wrong. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../fixtures/heap_ways.h"
#include "../fixtures/models.h"
#include "../fixtures/runs.h"
#include "../fixtures/threads.h"

TestSuite(text_rows_memory, .init = enter_folder, .fini = leave_folder);

static char yaml[2048], whole[64]; /* the config, and what its cell comes to */

static void expect_cell(long n) {
  rs_table *t = read_table("o", "summary.csv");
  const char *status = field(t, 0, "status");
  bool good = strcmp(status, "ok") == 0;
  cr_assert(good || strcmp(status, "memory") == 0, "allocation %ld: %s %s", n, status, field(t, 0, "message"));
  cr_assert_str_eq(field(t, 0, "entropy_nats"), good ? whole : "", "allocation %ld", n);
  rs_table_free(t);
}

/* True when no allocation was refused. */
static bool starve(long n) {
  rs_run_summary summary = {0};
  rs_problems problems = {0};
  rs_err err = {0};
  long before = blocks;
  refused = false;
  allocations = n;
  rs_status status = attempt(yaml, "o", &summary, &problems, &err);
  allocations = -1;
  cr_assert(status == RS_OK || (refused && status == RS_MEMORY), "allocation %ld: %s: %s %s", n, rs_status_name(status),
            err.message, rs_text_string(&problems.text));
  rs_problems_clear(&problems);
  cr_assert_eq(blocks, before, "allocation %ld: %ld blocks leak", n, blocks - before);
  if (status == RS_OK) expect_cell(n);
  return !refused;
}

Test(text_rows_memory, failing_allocations__no_wrong_cell_and_no_leak) {
  const char *folder = model_path("llama3");
  snprintf(yaml, sizeof yaml,
           "model: {name: m, heads: 4, head_dim: 16, train_length: 64}\nlengths: [8]\nmethods: [rope]\nmetrics: "
           "[entropy]\nsources: [{name: model, checkpoint: %s, tokens: %s/tokens.npy, layer: 1, head: 2}]\n",
           folder, folder);
  use_threads(1);
  cr_assert_eq(run(yaml, "o").failed, 0);
  rs_table *t = read_table("o", "summary.csv");
  snprintf(whole, sizeof whole, "%s", field(t, 0, "entropy_nats"));
  rs_table_free(t);
  if (!COUNTS_MEMORY) return;     /* malloc belongs to the sanitizer, which has its say of leaks */
  spared_library = "libjansson."; /* calls what it has no memory for a mistake of the file */
  ways_begin();
  run(yaml, "o");
  ways_end();
  cr_assert_gt(way_count, 100);
  for (long n = 0; n < way_count; n++)
    if (way_is_tried(n)) cr_assert_not(starve(n), "allocation %ld of %ld is not met", n, way_count);
  run(yaml, "o"); /* which removes what the last of them has left, and allocates for it */
  cr_assert(starve(way_count), "more allocations than %ld", way_count);
}
