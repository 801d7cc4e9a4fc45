/* test_interval_commands.c: paired differences from the run to the table: its intervals are those of the blocks that
 * the run wrote. */
#include "../fixtures/program.h"

#include "metrics/metrics.h"

#include <math.h>

TestSuite(interval_commands, .init = enter_folder, .fini = leave_folder);

static const char config[] = "checkpoint: {name: small, method: rope, blocks: 1, width: 16, heads: 2, "
                             "train: {steps: 4, sequences: 4, length: 32}}\n"
                             "task: dictionary\nsequences: 6\nlengths: [32, 64]\nmethods: [pi, ntk]\nmetrics: [loss]\n";

/* The interval over seeds and blocks of a method at 64 tokens, whose rows have rising seeds. */
static rs_interval interval_of(const char *method) {
  rs_table *table = read_table("o/loss_difference.csv");
  double values[64];
  size_t count = 0;
  rs_interval interval;
  for (size_t row = 0; row < table->rows; row++)
    if (strcmp(field(table, row, "method"), method) == 0 && number(table, row, "length_tokens") == 64)
      values[count++] = number(table, row, "loss_difference_nats");
  cr_assert(count > 2 && count % 2 == 0 && count <= 64, "%zu blocks", count);
  cr_assert_eq(rs_bootstrap_mean(values, 2, count / 2, &interval, NULL), RS_OK);
  rs_table_free(table);
  return interval;
}

Test(interval_commands, table__of_a_run_of_two_seeds__has_the_intervals_of_its_blocks) {
  static const char *const methods[] = {"pi", "ntk", "window", "unchanged"};
  char words[160];
  write_file("c.yaml", config);
  run_well(&(command){.arguments = {"run", "c.yaml", "--quiet", "--out", "o", "--set", "seeds=2"}});
  char *out = output_of(
      &(command){.arguments = {"table", "o", "at: loss_difference_nats where length_tokens=64", "--markdown"}});
  for (size_t i = 0; i < RS_COUNT(methods); i++) {
    rs_interval want = interval_of(methods[i]);
    snprintf(words, sizeof words, "%.3g [%.3g, %.3g]", want.mean, want.low, want.high);
    cr_expect_not_null(strstr(out, words), "%s: %s is not in\n%s", methods[i], words, out);
  }
  free(out);
  run_well(&(command){.arguments = {"plot", "o"}});
  char *svg = read_path("o/plots/loss_difference_nats--dictionary.svg", NULL);
  cr_expect_not_null(strstr(svg, "Paired loss difference to the window"), "the baseline is a line of the run");
  free(svg);
}

/* The mean of two ends is the end of no mean. */
Test(interval_commands, print__of_several_seeds__has_no_means_of_ends) {
  write_file("c.yaml", config);
  for (size_t seeds = 1; seeds <= 2; seeds++) {
    char *out = output_of(&(command){.arguments = {"run", "c.yaml", "--quiet", "--out", seeds == 1 ? "one" : "two",
                                                   "--set", seeds == 1 ? "seeds=1" : "seeds=2", "--print"}});
    cr_expect_not_null(strstr(out, "loss_difference_nats"), "%s", out);
    cr_expect_eq(strstr(out, "loss_difference_nats_low") != NULL, seeds == 1, "%s", out);
    cr_expect_eq(strstr(out, "loss_difference_nats_high") != NULL, seeds == 1, "%s", out);
    free(out);
  }
}
