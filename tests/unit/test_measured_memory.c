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
  run_once();
  expect_same_or_none(measure, words);
}
