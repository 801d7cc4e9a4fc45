/* test_solve_measured.c: `ropescope solve setting --checkpoint` as its user meets it. */
#include <signal.h>
#include <time.h>

#include "../fixtures/program.h"

TestSuite(solve_measured, .init = enter_folder, .fini = leave_folder);

static char checkpoint[4096], text[sizeof checkpoint + 8], config[sizeof checkpoint + 64];

static void find_stories(void) {
  const char *tests = getenv("ROPESCOPE_TESTS");
  snprintf(checkpoint, sizeof checkpoint, "%s/../experiments/data/stories260K", tests);
  snprintf(text, sizeof text, "%s/ids.npy", checkpoint);
  snprintf(config, sizeof config, "%s/../experiments/extrapolation/published-checkpoint/config.yaml", tests);
}

#define MEASURE(length) "solve", "setting", "--length", length, "--checkpoint", checkpoint, "--text", text
#define WAYS                                                                                                           \
  "{name: ntk, scale: auto}, {name: abf, rope_theta: 100000}, {name: yarn, label: yarn 8, beta_fast: 8, scale: "       \
  "auto}, "                                                                                                            \
  "rerope"

/* The same numbers as those of a run of the experiment's config at that length, to the last digit. */
Test(solve_measured, numbers__are_those_of_a_run) {
  static const char *const lengths[] = {"1k", "2k"};
  static const char *const columns[] = {"loss_nats", "loss_difference_nats", "loss_difference_nats_low",
                                        "loss_difference_nats_high", "target_blocks"};
  find_stories();
  for (size_t i = 0; i < RS_COUNT(lengths); i++) {
    run_well(&(command){.arguments = {"run", config, "--lengths", lengths[i], "--set", "sequences=4", "--set",
                                      "metrics=[loss, loss_difference]", "--out", "run", "--force", "--quiet"}});
    run_well(&(command){.arguments = {MEASURE(lengths[i]), "--methods", WAYS, "--out", "o", "--force", "--quiet"}});
    rs_table *want = read_table("run/summary.csv"), *got = read_table("o/summary.csv");
    cr_assert(want->rows == 6 && got->rows == 6);
    for (size_t row = 0; row < want->rows; row++) {
      cr_expect_str_eq(field(got, row, "method"), field(want, row, "method"));
      for (size_t c = 0; c < RS_COUNT(columns); c++)
        cr_expect_str_eq(field(got, row, columns[c]), field(want, row, columns[c]), "%s at %s: %s",
                         field(want, row, "method"), lengths[i], columns[c]);
    }
    rs_table_free(want);
    rs_table_free(got);
  }
}

/* The number behind `key` of the object in JSON text that has this way. */
static double number_in(const char *json, const char *way, const char *key) {
  char words[128];
  snprintf(words, sizeof words, "\"way\": \"%s\"", way);
  const char *at = strstr(json, words);
  cr_assert_not_null(at, "%s: %s", way, json);
  snprintf(words, sizeof words, "\"%s\": ", key);
  at = strstr(at, words);
  cr_assert_not_null(at, "%s of %s", key, way);
  return strtod(at + strlen(words), NULL);
}

Test(solve_measured, table_and_json__say_what_the_results_hold) {
  static const char *const ways[] = {"rerope", "y", "window", "unchanged"};
  find_stories();
  const command c = {.arguments = {MEASURE("1k"), "--methods", "rerope, {name: yarn, factor: 2, label: y}", "--out",
                                   "o", "--reads=3"}},
                as_json = {.arguments = {MEASURE("1k"), "--methods", "rerope, {name: yarn, factor: 2, label: y}",
                                         "--out", "o", "--reads=3", "--json"}};
  result got = run(&c);
  cr_assert_eq(got.status, 0, "%s", got.err);
  cr_expect_eq(strncmp(got.err, "4 ways, 3 reads of 1024 tokens each: about ", 43), 0, "%s", got.err);
  cr_expect_not_null(strstr(got.err, " flop/s, the rate of reads of 256 tokens\n"), "%s", got.err);
  char *table = got.out;
  got.out = NULL;
  result_clear(&got);
  got = run(&as_json);
  cr_assert_eq(got.status, 0, "%s", got.err);
  cr_expect_eq(strncmp(got.err, "4 of 4 cells were done before ", 30), 0, "nothing is to be estimated: %s", got.err);
  static const char *const lines[] = {"advice     read the last 512 tokens alone: ",
                                      "\ntarget     1024 tokens, 2 times the 512 of training; ",
                                      "\nmeasured   loss in nats on the last 512 tokens of 3 reads of ",
                                      "{name: yarn, factor: 2}\n",
                                      "  rank   loss  less window ",
                                      "\nintervals  95 % of the difference to the window over 3 reads, paired, ",
                                      "\nresults    o\n"};
  for (size_t i = 0; i < RS_COUNT(lines); i++)
    cr_expect_not_null(strstr(table, lines[i]), "%s\nlacks %s", table, lines[i]);
  rs_table *summary = read_table("o/summary.csv");
  for (size_t row = 0; row < RS_COUNT(ways); row++) {
    cr_assert_str_eq(field(summary, row, "method"), ways[row]);
    cr_expect_eq(number_in(got.out, ways[row], "loss_nats"), number(summary, row, "loss_nats"));
    cr_expect_eq(number_in(got.out, ways[row], "loss_difference_nats"), number(summary, row, "loss_difference_nats"));
    cr_expect_eq(number_in(got.out, ways[row], "loss_difference_nats_low"),
                 number(summary, row, "loss_difference_nats_low"));
    cr_expect_eq(number_in(got.out, ways[row], "loss_difference_nats_high"),
                 number(summary, row, "loss_difference_nats_high"));
  }
  cr_expect_eq(number_in(got.out, "window", "tokens"), 512);
  cr_expect_eq(number_in(got.out, "y", "tokens"), 1024);
  cr_expect_not_null(strstr(got.out, "\"measured\": true"));
  cr_expect_not_null(strstr(got.out, "\"way\": \"window\",\n      \"window\": true,\n      \"unchanged\": false"));
  cr_expect_not_null(strstr(got.out, "\"way\": \"unchanged\",\n      \"window\": false,\n      \"unchanged\": true"));
  rs_table_free(summary);
  free(table);
  result_clear(&got);
}

/* A way that is the published recipe says so, and one read decides nothing. */
Test(solve_measured, the_published_recipe_among_ways__is_named) {
  find_stories();
  char *out = output_of(&(command){.arguments = {MEASURE("600"), "--methods", "rope", "--reads=1", "--targets=8"}});
  cr_expect_not_null(strstr(out, "  rope (unchanged)  {name: rope}\n"), "%s", out);
  cr_expect_not_null(strstr(out, "and one read has no interval (more --reads)\n"), "%s", out);
  cr_expect_not_null(strstr(out, "the last 8 tokens of 1 read of "), "%s", out);
  cr_expect(exists("results/solve-stories260K-600/summary.csv"));
  free(out);
}

/* A way that a length has no place for is no reason to lose the others. */
Test(solve_measured, a_way_that_fails__is_left_out) {
  find_stories();
  result got = run(&(command){
      .arguments = {MEASURE("1k"), "--methods", "string, rerope", "--reads=2", "--targets=8", "--out", "o"}});
  cr_expect_eq(got.status, 0, "%s", got.err);
  cr_expect_not_null(strstr(got.out, "\nleft out   string: string: no shift keeps 1024 tokens inside "), "%s", got.out);
  cr_expect_null(strstr(got.out, "{name: string"), "%s", got.out);
  cr_expect_not_null(strstr(got.out, "  rerope     {name: rerope}\n"), "%s", got.out);
  result_clear(&got);
}

/* ---- interrupted runs -------------------------------------------------------------------------------------------- */

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#define SLOW(out)                                                                                                      \
  {                                                                                                                    \
    MEASURE("2k"), "--methods=rerope, self_extend, dual_chunk, {name: pi, factor: 4}", "--reads=2", "--threads=1",     \
        "--out=" out, "--quiet"                                                                                        \
  }

/* Wherever it is stopped, the same command goes on, and gives what one run gives. */
Test(solve_measured, interrupted__the_same_command_goes_on) {
  enum { STOPS = 4 };
  find_stories();
  double begun = now();
  run_well(&(command){.arguments = SLOW("whole")});
  double seconds = now() - begun;
  for (int i = 0; i < STOPS; i++) {
    FILE *err = fopen("err", "w+"), *out = fopen("/dev/null", "w");
    const command c = {.arguments = SLOW("o")};
    cr_assert(err != NULL && out != NULL);
    remove_folder("o");
    pid_t child = fork();
    if (child == 0) start(&c, fileno(out), fileno(err));
    double wait = seconds * (i + 0.5) / STOPS;
    nanosleep(&(struct timespec){(time_t)wait, (long)(1e9 * (wait - (double)(time_t)wait))}, NULL);
    kill(child, i % 2 == 0 ? SIGINT : SIGKILL);
    int status = wait_for(child);
    char *words = read_back(err);
    fclose(out);
    cr_expect(status == 0 || status == 128 + (i % 2 == 0 ? SIGINT : SIGKILL), "status %d: %s", status, words);
    cr_expect_null(strstr(words, "--partial"), "solve has none: %s", words);
    free(words);
    run_well(&c);
    expect_same_csv("o", "whole", "after a stop");
  }
}

/* ---- what is refused --------------------------------------------------------------------------------------------- */

Test(solve_measured, contradictions__are_told) {
  static const struct {
    const char *more[4], *words;
  } cases[] = {
      {{"--hf", "config.json"}, "solve setting --checkpoint takes no --hf or --model: it is the model"},
      {{"--model", "llama-2-7b"}, "solve setting --checkpoint takes no --hf or --model: it is the model"},
      {{"--layers", "0"}, "solve setting --checkpoint takes no --layers: all of its layers read"},
      {{"--for", "vllm"},
       "solve setting --checkpoint takes no --for: without --checkpoint the recipe that was chosen becomes a config"},
      {{"--criterion", "ntk"}, "solve setting --checkpoint takes no --criterion: it ranks by losses"},
      {{"--method", "yarn"},
       "solve setting --checkpoint takes no --method: --methods lists the ways that are measured"},
      {{"--base", "1e6"}, "solve setting --checkpoint takes no --base: it is the model's"},
      {{"--head-dim", "64"}, "solve setting --checkpoint takes no --head-dim: it is the model's"},
      {{"--targets", "513"}, "513 targets are more than the 512 tokens that the window reads, the trained length"},
  };
  find_stories();
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char words[512];
    const command c = {.arguments = {MEASURE("1k"), cases[i].more[0], cases[i].more[1]}};
    snprintf(words, sizeof words, "ropescope: %s\n", cases[i].words);
    expect_failure(&c, 2, words);
  }
  expect_failure(
      &(command){.arguments = {"solve", "setting", "--checkpoint", checkpoint, "--text", text}}, 2,
      "ropescope: solve setting --checkpoint needs --length, the context to be served, as in --length 16k\n");
  expect_failure(&(command){.arguments = {"solve", "setting", "--length", "1k", "--checkpoint", checkpoint}}, 2,
                 "ropescope: solve setting --checkpoint needs --text, the ids of tokens that it reads\n");
  cr_expect(!exists("results"));
}

/* Options of measuring without a checkpoint, and with what is computed alone. */
Test(solve_measured, options_that_would_be_ignored__are_refused) {
  static const char *const options[][2] = {{"--text", "x"}, {"--reads", "2"}, {"--targets", "2"}, {"--out", "x"},
                                           {"--fresh"},     {"--force"},      {"--methods", "pi"}};
  for (size_t i = 0; i < RS_COUNT(options); i++) {
    char words[128];
    snprintf(words, sizeof words, "ropescope: solve: %s goes with setting --checkpoint\n", options[i][0]);
    expect_failure(&(command){.arguments = {"solve", "setting", "--length", "32k", "--model", "llama-2-7b",
                                            options[i][0], options[i][1]}},
                   2, words);
    expect_failure(&(command){.arguments = {"solve", "base", "--length", "32k", "--model", "llama-2-7b", options[i][0],
                                            options[i][1]}},
                   2, words);
  }
  expect_failure(&(command){.arguments = {"solve", "base", "--length", "32k", "--checkpoint", "x"}}, 2,
                 "ropescope: solve: --checkpoint goes with setting\n");
}

/* More memory than there is, and results of other ways, which --force replaces. */
Test(solve_measured, what_does_not_fit__is_told) {
  find_stories();
  result got = run(&(command){.arguments = {MEASURE("24k"), "--threads=2"}, .memory = 128 << 20});
  cr_expect_eq(got.status, 2);
  cr_expect_eq(strncmp(got.err, "ropescope: the run takes about ", 31), 0, "%s", got.err);
  cr_expect_not_null(strstr(got.err, " MiB and "), "%s", got.err);
  cr_expect_not_null(strstr(got.err, " are available: "), "%s", got.err);
  result_clear(&got);
  cr_expect(!exists("results"));
  run_well(&(command){.arguments = {MEASURE("600"), "--methods", "rope", "--out", "o", "--quiet"}});
  expect_failure(
      &(command){.arguments = {MEASURE("600"), "--methods", "pi", "--out", "o", "--quiet"}}, 2,
      "ropescope: o holds the results of another config: choose another --out or name, or --force to replace "
      "them\n");
  got = run(&(command){.arguments = {MEASURE("600"), "--methods", "rope, pi", "--out", "o", "--force"}});
  cr_expect_eq(got.status, 0, "%s", got.err);
  cr_expect_eq(strncmp(got.err, "1 way, 4 reads of 600 tokens each: ", 35), 0, "%s", got.err);
  result_clear(&got);
  result all = run(&(command){.arguments = {MEASURE("600"), "--methods", "rope, pi", "--out", "o", "--fresh"}});
  cr_expect_eq(strncmp(all.err, "3 ways, 4 reads of 600 tokens each: ", 36), 0, "%s", all.err);
  result_clear(&all);
}
