/* Each allocation of what is measured fails in turn, as it is made and as its results are read: it ends as out of
 * memory, never as another answer. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "../fixtures/heap_ways.h"
#include "../fixtures/runs.h"
#include "advice/advice.h"

enum { LENGTH = 600, READS = 2 };

TestSuite(measured_memory, .init = enter_folder, .fini = leave_folder);

static char checkpoint[4096], words[4096];

static rs_status make(rs_experiment **experiment, rs_err *err) {
  const rs_measuring in = {.checkpoint = checkpoint,
                           .text = "ids.bin",
                           .methods = "[rerope, {name: yarn, factor: 2}]",
                           .length = LENGTH,
                           .reads = READS,
                           .targets = 8};
  rs_problems problems = {0};
  rs_status status = rs_measure_make(&in, experiment, &problems, err);
  rs_problems_clear(&problems);
  return status;
}

static rs_status measure(rs_err *err) {
  rs_experiment *experiment;
  rs_measured measured;
  rs_text text = {0};
  rs_status status = make(&experiment, err);
  if (status == RS_OK) status = rs_measured_read(experiment, "o", &measured, err);
  if (status == RS_OK) {
    for (size_t i = 0; i < measured.count; i++)
      rs_text_printf(&text, "%s %.17g %d\n", measured.items[i].label, measured.items[i].loss, measured.items[i].apart);
    rs_measured_advise(&measured, &text);
    rs_measured_clear(&measured);
    status = rs_text_check(&text, err);
  }
  snprintf(words, sizeof words, "%s", rs_text_string(&text));
  rs_text_clear(&text);
  rs_experiment_free(experiment);
  return status;
}

static void run_once(void) {
  uint8_t text[2 * (READS * LENGTH + 1)];
  for (size_t i = 0; i < sizeof text / 2; i++) text[2 * i] = (uint8_t)(i * i + i / 7), text[2 * i + 1] = 0;
  const rs_run_options options = {.directory = "o"};
  rs_run_summary summary;
  rs_experiment *experiment;
  rs_err err = {0};
  snprintf(checkpoint, sizeof checkpoint, "%s/../experiments/data/stories260K", getenv("ROPESCOPE_TESTS"));
  cr_assert_eq(rs_file_write("ids.bin", (const char *)text, sizeof text, &err), RS_OK);
  cr_assert_eq(make(&experiment, &err), RS_OK, "%s", err.message);
  cr_assert_eq(rs_run(experiment, &options, &summary, &err), RS_OK, "%s", err.message);
  rs_experiment_free(experiment);
}

Test(measured_memory, each_failing_allocation__gives_the_same_answer_or_none) {
  static char whole[sizeof words];
  if (!COUNTS_MEMORY) cr_skip_test("malloc belongs to the sanitizer");
  spared_library = "libjansson."; /* it calls some failed allocations a syntax error */
  run_once();
  cr_assert_eq(measure(&(rs_err){0}), RS_OK);
  strcpy(whole, words);
  ways_begin();
  cr_assert_eq(measure(&(rs_err){0}), RS_OK);
  ways_end();
  for (long n = 0; n <= way_count; n++) {
    if (n < way_count && !way_is_tried(n)) continue;
    rs_err err = {0};
    long before = blocks;
    refused = false;
    allocations = n;
    rs_status status = measure(&err);
    allocations = -1;
    cr_assert_eq(blocks, before, "allocation %ld: %ld blocks leaked", n, blocks - before);
    if (status == RS_OK)
      cr_assert_str_eq(words, whole, "allocation %ld", n);
    else
      cr_assert_eq(status, RS_MEMORY, "allocation %ld: %d %s", n, (int)status, err.message);
    cr_assert_eq(refused, n < way_count, "allocation %ld of %ld", n, way_count);
  }
}
