/* test_progress.c: what is shown of a run's progress, and when. The program's own source stands in, for no test waits
 * half a minute. */
#include "../../src/app/cli/progress.c"

#include <criterion/criterion.h>
#include <string.h>

Test(progress, log__a_line_every_half_minute) {
  cli_progress progress = {.permille = -1};
  char line[128];
  size_t lines = 0;
  for (int second = 0; second <= 300; second++)
    if (cli_progress_line(&progress, second, second / 300.0, (size_t)second / 10, 30, "", line, sizeof line)) {
      cr_expect_eq(second % 30, 0, "at %d s", second);
      cr_expect_eq(strchr(line, '\r') != NULL || strchr(line, '\033') != NULL, false, "%s", line);
      cr_expect_eq(line[strlen(line) - 1], '\n');
      lines++;
    }
  cr_expect_eq(lines, 10);
  cr_expect_str_eq(line, "100.0 %, 30 of 30 cells, under a minute left\n");
}

/* What shows late, for a cell may take long, still has half a minute before it. */
Test(progress, log__after_a_long_cell__half_a_minute_again) {
  static const double times[] = {100, 120, 129.9, 130, 159, 160};
  static const bool shown[] = {true, false, false, true, false, true};
  cli_progress progress = {.permille = -1};
  char line[128];
  for (size_t i = 0; i < sizeof times / sizeof *times; i++)
    cr_expect_eq(cli_progress_line(&progress, times[i], 0.5, 1, 9, "", line, sizeof line), shown[i], "at %g s",
                 times[i]);
}

/* A log of a long run: hours and minutes, rounded up. */
Test(progress, time_left__follows_the_share_of_the_work) {
  static const struct {
    double seconds, share;
    const char *want;
  } cases[] = {
      {30, 0.5, "50.0 %, 1 of 9 cells, under a minute left\n"}, {60, 0.5, "50.0 %, 1 of 9 cells, 0:01 left\n"},
      {61, 0.5, "50.0 %, 1 of 9 cells, 0:02 left\n"},           {600, 0.25, "25.0 %, 1 of 9 cells, 0:30 left\n"},
      {3600, 0.01, "1.0 %, 1 of 9 cells, 99:00 left\n"},        {3600, 0.009, "0.9 %, 1 of 9 cells\n"},
      {5400, 0.5, "50.0 %, 1 of 9 cells, 1:30 left\n"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cli_progress progress = {.permille = -1};
    char line[128];
    cr_assert(cli_progress_line(&progress, cases[i].seconds, cases[i].share, 1, 9, "", line, sizeof line));
    cr_expect_str_eq(line, cases[i].want, "%s", line);
  }
}

/* A terminal sees each thousandth, in one line; the first seconds tell nothing of what is left. */
Test(progress, terminal__each_thousandth_once) {
  cli_progress progress = {.terminal = true, .permille = -1};
  char line[128];
  cr_assert(cli_progress_line(&progress, 1, 0.5, 1, 2, "", line, sizeof line));
  cr_expect_str_eq(line, "\r 50.0 %, 1 of 2 cells\033[K");
  cr_expect_not(cli_progress_line(&progress, 2, 0.5004, 1, 2, "", line, sizeof line));
  cr_assert(cli_progress_line(&progress, 3, 0.501, 1, 2, "", line, sizeof line));
  cr_expect_str_eq(line, "\r 50.1 %, 1 of 2 cells, under a minute left\033[K");
}

/* The line of a run that trains fits 80 columns. */
Test(progress, training__step_loss_and_speed) {
  static const struct {
    rs_training_report report;
    const char *want;
  } cases[] = {
      {{"rope", 0, false, 350, 1000, 2.4123, 88123.4}, "rope 350/1000, loss 2.41, 88k tok/s"},
      {{"rope", 0, true, 9, 80, 12.345, 9999.4}, "rope tuned 9/80, loss 12.3, 9999 tok/s"},
      {{"a name of more than its room", 0, false, 1, 2, 1, 9999.6}, "a name of more t 1/2, loss 1, 10k tok/s"},
      {{"rope", 0, false, 1000, 1000, 2, 88000}, ""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char doing[CLI_DOING], line[256];
    cli_progress progress = {.terminal = true, .permille = -1};
    cli_training(&cases[i].report, doing);
    cr_expect_str_eq(doing, cases[i].want, "%s", doing);
    cr_assert(cli_progress_line(&progress, 36000, 0.5, 100, 200, doing, line, sizeof line));
    cr_expect_leq(strlen(line), strlen("\r\033[K") + 80, "%s", line);
    cr_expect_not_null(strstr(line, doing));
  }
}
