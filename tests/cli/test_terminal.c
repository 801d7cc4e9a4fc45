/* test_terminal.c: what stands on a terminal. */
#include "../fixtures/program.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

TestSuite(terminal, .init = enter_folder, .fini = leave_folder);

/* ---- terminals --------------------------------------------------------------------------------------------------- */

/* A command with a terminal at stderr, whose other end is at *terminal. */
static pid_t begin_on_terminal(const command *c, int *terminal) {
  int null = open("/dev/null", O_WRONLY);
  char name[64];
  *terminal = posix_openpt(O_RDWR | O_NOCTTY);
  if (*terminal < 0) cr_skip_test("there are no pseudo-terminals here");
  cr_assert(grantpt(*terminal) == 0 && unlockpt(*terminal) == 0);
  cr_assert_eq(ptsname_r(*terminal, name, sizeof name), 0);
  int slave = open(name, O_RDWR | O_NOCTTY);
  pid_t child = fork();
  if (child == 0) start(c, null, slave);
  close(slave);
  close(null);
  return child;
}

/* What a command shows on a terminal at stderr. Release with free(). */
static char *on_terminal(const command *c) {
  char buffer[4096];
  rs_text shown = {0};
  int terminal;
  pid_t child = begin_on_terminal(c, &terminal);
  for (ssize_t got; (got = read(terminal, buffer, sizeof buffer)) > 0;) rs_text_add(&shown, buffer, (size_t)got);
  wait_for(child);
  close(terminal);
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

/* Dims and factors that no model has take seconds; whoever sees none of them would take the program for dead. */
Test(terminal, terminal__seconds_of_an_answer_that_is_late) {
  static const char file[] =
      "{\"model_type\": \"llama\", \"hidden_size\": 4096, \"num_attention_heads\": 1, \"head_dim\": "
      "4096, \"max_position_embeddings\": 1048576, \"rope_theta\": 1e9}";
  write_file("large.json", file);
  const command late = {.arguments = {"solve", "base", "--length", "1M", "--hf", "large.json"}};
  int terminal, status, child = begin_on_terminal(&late, &terminal);
  char shown[4096] = "";
  size_t length = 0;
  for (ssize_t got = 1; got > 0 && length < sizeof shown - 1 && strstr(shown, "2 s") == NULL; length += (size_t)got) {
    got = read(terminal, shown + length, sizeof shown - 1 - length);
    if (got <= 0) break;
    shown[length + (size_t)got] = '\0';
  }
  kill(child, SIGINT);
  status = wait_for(child);
  close(terminal);
  cr_expect_eq(status, 128 + SIGINT);
  cr_expect_not_null(strstr(shown, "\rsolve: 1 s, Ctrl-C ends it"), "%s", shown);
  char *soon = on_terminal(&(command){.arguments = {"check", "large.json", "--quiet"}});
  cr_expect_null(strstr(soon, " s, Ctrl-C"), "%s", soon);
  free(soon);
}

/* A file that comes late: the seconds are wiped off before the answer. */
Test(terminal, terminal__seconds_go_with_the_first_word) {
  static const char config[] = "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_attention_heads\": 8, "
                               "\"max_position_embeddings\": 64}";
  static const char wipe[] = "\r\033[K";
  const command late = {.arguments = {"explain", "late.json"}};
  char shown[4096] = "";
  size_t length = 0;
  int terminal;
  cr_assert_eq(mkfifo("late.json", 0600), 0);
  pid_t child = begin_on_terminal(&late, &terminal);
  while (strstr(shown, "1 s, Ctrl-C ends it\033[K") == NULL) {
    ssize_t got = read(terminal, shown + length, sizeof shown - 1 - length);
    cr_assert_gt(got, 0, "%s", shown);
    length += (size_t)got;
    shown[length] = '\0';
  }
  int pipe = open("late.json", O_WRONLY);
  cr_assert_eq(write(pipe, config, strlen(config)), (ssize_t)strlen(config));
  close(pipe);
  for (ssize_t got; length < sizeof shown - 1; shown[length += (size_t)got] = '\0')
    if ((got = read(terminal, shown + length, sizeof shown - 1 - length)) <= 0) break;
  cr_expect_eq(wait_for(child), 0);
  close(terminal);
  cr_expect(ends_with(shown, wipe), "%s", shown);
}

Test(terminal, terminal__bench_says_its_job_unless_quiet) {
  char *loud = on_terminal(&(command){.arguments = {"bench", "--quick", "--job", "fma_f64"}});
  cr_expect_str_eq(loud, "\r1 of 1: fma_f64 \033[K\r\033[K");
  char *quiet = on_terminal(&(command){.arguments = {"bench", "--quick", "--job", "fma_f64", "--quiet"}});
  cr_expect_str_eq(quiet, "");
  free(loud);
  free(quiet);
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
