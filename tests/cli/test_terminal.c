/* test_terminal.c: what stands on a terminal. */
#include "../fixtures/program.h"

#include <fcntl.h>

TestSuite(terminal, .init = enter_folder, .fini = leave_folder);

/* ---- terminals --------------------------------------------------------------------------------------------------- */

/* What a command shows on a terminal at stderr. Release with free(). */
static char *on_terminal(const command *c) {
  int terminal = posix_openpt(O_RDWR | O_NOCTTY), null = open("/dev/null", O_WRONLY);
  char name[64], buffer[4096];
  rs_text shown = {0};
  if (terminal < 0) cr_skip_test("there are no pseudo-terminals here");
  cr_assert(grantpt(terminal) == 0 && unlockpt(terminal) == 0);
  cr_assert_eq(ptsname_r(terminal, name, sizeof name), 0);
  int slave = open(name, O_RDWR | O_NOCTTY);
  pid_t child = fork();
  if (child == 0) start(c, null, slave);
  close(slave);
  for (ssize_t got; (got = read(terminal, buffer, sizeof buffer)) > 0;) rs_text_add(&shown, buffer, (size_t)got);
  wait_for(child);
  close(terminal);
  close(null);
  char *copy = strdup(rs_text_string(&shown));
  rs_text_clear(&shown);
  return copy;
}

Test(terminal, terminal__colour_unless_the_user_minds) {
  static const struct {
    const char *environment;
    bool colour;
  } cases[] = {{"NO_COLOR=", true}, {"NO_COLOR=1", false}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char *shown = on_terminal(&(command){.arguments = {"frobnicate"}, .environment = {cases[i].environment}});
    cr_expect_not_null(strstr(shown, "no command frobnicate"), "%s", shown);
    cr_expect_eq(strchr(shown, '\033') != NULL, cases[i].colour, "%s: %s", cases[i].environment, shown);
    free(shown);
  }
}

Test(terminal, terminal__progress_unless_quiet) {
  write_file("small.yaml", small_config);
  char *loud = on_terminal(&(command){.arguments = {"run", "small.yaml", "--out", "o"}});
  cr_expect_not_null(strstr(loud, "100.0 %"), "%s", loud);
  cr_expect_not_null(strstr(loud, "of 84 cells"), "%s", loud);
  char *quiet = on_terminal(&(command){.arguments = {"run", "small.yaml", "--out", "o", "--quiet"}});
  cr_expect_str_eq(quiet, "");
  free(loud);
  free(quiet);
}
