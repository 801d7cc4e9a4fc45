/* test_reproduce_command.c: `ropescope reproduce` and `ropescope table` as their user meets them, on experiments small
 * enough to know the answer.
 */
#include <criterion/criterion.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../fixtures/new_folder.h"
#include "../say.h"
#include "io/io.h"

#define HEADER "key,file,column,where,expected,here,tolerance,origin,verdict,source,note\n"

static char folder[FOLDER_NAME];

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *walk) {
  (void)info, (void)kind, (void)walk;
  return remove(path);
}

static void put(const char *path, const char *text) {
  cr_assert_eq(rs_file_write(path, text, strlen(text), NULL), RS_OK, "%s", path);
}

/* At 8 tokens, head_dim 2: one pair that turns by a radian a token, whose cosine is negative from 2 on. */
static void put_experiment(const char *name, const char *config, const char *rows) {
  char path[128], text[1024];
  snprintf(path, sizeof path, "experiments/%s", name);
  mkdir("experiments", 0777);
  mkdir(path, 0777);
  snprintf(path, sizeof path, "experiments/%s/README.md", name);
  snprintf(text, sizeof text, "# The question of %s\n", name);
  put(path, text);
  snprintf(path, sizeof path, "experiments/%s/config.yaml", name);
  snprintf(text, sizeof text,
           "name: %s\nmodel: {head_dim: 2, heads: 1, rope_theta: 1e4, train_length: 8}\nlengths: [8]\n"
           "methods: [rope]\nmetrics: [first_violation, decay]\n",
           config);
  put(path, text);
  snprintf(path, sizeof path, "experiments/%s/expected.csv", name);
  snprintf(text, sizeof text, HEADER "%s", rows);
  put(path, text);
}

static void enter_folder(void) {
  cr_assert(new_folder(folder, "reproduce"));
  cr_assert_eq(chdir(folder), 0);
  cr_assert_not_null(getenv("ROPESCOPE"), "ROPESCOPE must name the program");
  put_experiment("one", "one", "first,summary,first_violation_tokens,,2,,,printed,agrees,nobody 2,\n");
  put_experiment("two", "two",
                 "first,summary,first_violation_tokens,,>2,2,,printed,refuted,nobody 2,cos 2 < 0\n"
                 "far,decay,max(distance_tokens),,7,,,derived,agrees,nobody 7,\n");
}

static void leave_folder(void) {
  cr_assert_eq(chdir("/"), 0);
  nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

TestSuite(reproduce, .init = enter_folder, .fini = leave_folder);

/* What a command line says, stdout and stderr together. Release with free(). */
static char *say(const char *arguments, int *status) {
  return say_line("\"$ROPESCOPE\"", arguments, status);
}

static void expect(const char *arguments, int status, const char *const *parts) {
  int got;
  char *out = say(arguments, &got);
  cr_expect_eq(got, status, "%s: status %d: %s", arguments, got, out);
  for (; *parts != NULL; parts++)
    cr_expect_not_null(strstr(out, *parts), "%s: no \"%s\" in: %s", arguments, *parts, out);
  free(out);
}

#define EXPECT(arguments, status, ...) expect(arguments, status, (const char *const[]){__VA_ARGS__, NULL})

Test(reproduce, all__that_hold__tables_files_and_pictures_are_there) {
  EXPECT("reproduce", 0, "one: The question of one", "two: The question of two", "printed, refuted [1]",
         "[1] cos 2 < 0",
         "experiments: 2; printed: 1 agrees, 1 refuted; order: 0 agree; stated: 0 agree; derived: 1 agrees; reasons to "
         "refute: 1; code departs from its paper: 0; found here: 0; not run: 0");
  cr_expect_eq(access("results/one/summary.csv", F_OK), 0);
  cr_expect_eq(access("results/two/reproduced.csv", F_OK), 0);
  cr_expect_eq(access("results/two/plots/decay--mean_cosine--8.svg", F_OK), 0);
}

Test(reproduce, one_by_name__others__are_not_run) {
  EXPECT("reproduce two --out elsewhere", 0, "two: The question of two",
         "experiments: 1; printed: 0 agree, 1 refuted;");
  cr_expect_neq(access("elsewhere/one", F_OK), 0);
  cr_expect_eq(access("elsewhere/two/reproduced.csv", F_OK), 0);
}

Test(reproduce, list__says_what_there_is__and_runs_nothing) {
  int status;
  char *out = say("reproduce --list", &status);
  cr_expect_str_eq(out, "one                          The question of one\n"
                        "two                          The question of two\n"
                        "experiments: 2; printed: 1 agrees, 1 refuted; order: 0 agree; stated: 0 agree; derived: 1 "
                        "agrees; reasons to refute: 1; code departs from its paper: 0; found here: 0; not run: 0\n");
  cr_expect(status == 0 && access("results", F_OK) != 0);
  free(out);
}

Test(reproduce, list__of_one_name__shows_it_alone) {
  int status;
  char *out = say("reproduce --list two --quiet", &status);
  cr_expect_str_eq(out, "two                          The question of two\n");
  free(out);
}

/* Folders of experiments are groups; results stand where those of one without a group do. */
Test(reproduce, group__is_found_by_the_name_alone_and_with_its_group) {
  mkdir("experiments/bounds", 0777);
  put_experiment("bounds/three", "three", "first,summary,first_violation_tokens,,2,,,printed,agrees,nobody 2,\n");
  EXPECT("reproduce three", 0, "three: The question of bounds/three", "experiments: 1; printed: 1 agrees;");
  cr_expect_eq(access("results/three/reproduced.csv", F_OK), 0);
  EXPECT("reproduce bounds/three --list", 0, "three                        The question of bounds/three");
  EXPECT("reproduce --list", 0, "\nthree  ", "experiments: 3;");
  EXPECT("reproduce bounds/thre", 2, "no experiment bounds/thre (did you mean three?)");
}

Test(reproduce, number_that_differs__status__is_1_and_says_which) {
  put_experiment("two", "two", "first,summary,first_violation_tokens,,3,,,printed,agrees,nobody 3,\n");
  EXPECT("reproduce --quiet", 1, "DIFFERS", "experiments/two/expected.csv:2: first: comes to 2, not 3 within 0.6",
         "numbers that differ from what is expected: 1");
}

Test(reproduce, full_config__without_the_flag__is_left_out) {
  put_experiment("one", "one", "deep,deep-full/summary,first_violation_tokens,,2,,,printed,agrees,nobody 2,\n");
  cr_assert_eq(rename("experiments/one/config.yaml", "experiments/one/deep-full.yaml"), 0);
  EXPECT("reproduce one", 2, "experiments/one/deep-full.yaml: name: is one, but must be one-deep-full");
  put_experiment("one", "one-deep-full",
                 "deep,deep-full/summary,first_violation_tokens,,2,,,printed,agrees,nobody 2,\n");
  cr_assert_eq(rename("experiments/one/config.yaml", "experiments/one/deep-full.yaml"), 0);
  EXPECT("reproduce one --markdown", 0, "\n1 more number is of a whole run (`--full`).\n", "not run: 1");
  cr_expect_neq(access("results/one-deep-full", F_OK), 0);
  EXPECT("reproduce one --full", 0, "printed: 1 agrees;");
  put("experiments/one/deep-full.yaml",
      "name: one-deep-full\ncheckpoint: {method: rope}\ntask: {name: bytes, file: none}\n");
  EXPECT("reproduce one", 0, "not run: 1");
  EXPECT("reproduce one --full", 2, "experiments/one/none");
}

/* Weights by hand: 28 tokens times 16 twice, six matrices of 16 x 16, three norms: 2480; a table of 8 positions has 128
 * more. */
Test(reproduce, trained_models__refute_nothing__and_say_how_large_they_are) {
  put_experiment("one", "one", "first,summary,min(loss_nats),model=rope,<0,3,9,stated,refuted,nobody,so\n");
  put("experiments/one/config.yaml",
      "name: one\ncheckpoint: {method: [rope, learned], blocks: 1, width: 16, heads: 1, feed_forward: 16, train: "
      "{steps: "
      "1, length: 8, sequences: 1}}\ntask: copy\nsequences: 1\nlengths: [8]\nseeds: [1, 2]\nmetrics: [loss]\n");
  EXPECT(
      "reproduce one", 2,
      "experiments/one/expected.csv:2: verdict: is refuted, but config.yaml reads trained models, which refute nothing "
      "(missed for a number, does_not_appear for an order or a statement)");
  put("experiments/one/expected.csv",
      HEADER "first,summary,min(loss_nats),model=rope,<0,3,9,stated,does_not_appear,nobody,\n"
             "second,summary,min(loss_nats),model=rope less model=learned,<-9,0,5,stated,does_not_appear,of -9,\n"
             "third,summary,max(loss_nats),model=learned; seed=2,9,3,8,printed,missed,9,one step\n");
  EXPECT("reproduce one --isa generic", 0, "stated, does not appear (2,480 weights, 2 seeds)\n",
         "stated, does not appear (2,480 to 2,608 weights, 2 seeds)\n", "printed, missed [1]\n",
         "printed: 0 agree, 1 missed; order: 0 agree; stated: 0 agree, 2 do not appear;");
  put("experiments/one/config.yaml",
      "name: one\ncheckpoint: {method: rope, seed: 5, blocks: 1, width: 16, heads: 1, feed_forward: 16, train: {steps: "
      "1, "
      "length: 8, sequences: 1}}\ntask: copy\nsequences: 1\nlengths: [8]\nseeds: [1, 2]\nmetrics: [loss]\n");
  put("experiments/one/expected.csv", HEADER "first,summary,min(loss_nats),,<0,3,9,stated,does_not_appear,nobody,\n");
  EXPECT("reproduce one --isa generic", 0, "stated, does not appear (2,480 weights, 1 seed)\n");
  put_experiment("two", "two", "first,summary,first_violation_tokens,,<0,2,,stated,does_not_appear,nobody,\n");
  EXPECT("reproduce two", 2,
         "experiments/two/expected.csv:2: verdict: is does_not_appear, but config.yaml reads no trained model");
}

Test(reproduce, slips__status_2_and_nothing_is_run) {
  EXPECT("reproduce tow", 2, "no experiment tow (did you mean two?)");
  EXPECT("reproduce nothing-like-it", 2, "no experiment nothing-like-it (ropescope reproduce --list shows them)");
  EXPECT("reproduce --experiments nowhere", 2,
         "no folder nowhere (--experiments or ROPESCOPE_DATADIR says where it is)");
  put_experiment("two", "two", "first,summary,first_violation_tokens,,2,,,printed,perhaps,nobody 2,\n");
  EXPECT(
      "reproduce", 2,
      "experiments/two/expected.csv:2: verdict: is agrees, agrees_with_definition, missed or refuted where the origin");
  put_experiment("two", "too", "first,summary,first_violation_tokens,,2,,,printed,agrees,nobody 2,\n");
  EXPECT("reproduce two", 2, "experiments/two/config.yaml: name: is too, but must be two");
  cr_expect_neq(access("results/two", F_OK), 0);
  EXPECT("reproduce", 2, "name: is too");
  cr_expect_neq(access("results/one", F_OK), 0, "configs are checked before the first run");
  EXPECT("reproduce experiments/one", 2, "no experiment experiments/one (did you mean one?)");
  EXPECT("reproduce --experiments experiments/one", 2, "experiments/one holds no experiment");
}

Test(reproduce, claim_without_its_config__is_refused_though_results_are_there) {
  EXPECT("reproduce one --quiet", 0, "first");
  cr_assert_eq(rename("experiments/one/config.yaml", "experiments/one/config.yml"), 0);
  EXPECT("reproduce one", 2,
         "experiments/one/expected.csv:2: file: summary would come from config.yaml, and there is none in this folder");
  put_experiment("two", "two", "first,deep-full/summary,first_violation_tokens,,2,,,printed,agrees,nobody 2,\n");
  EXPECT("reproduce two", 2, "deep-full/summary would come from deep-full.yaml, and there is none");
}

Test(reproduce, table__of_results_or_a_file__is_printed) {
  EXPECT("reproduce one --quiet", 0, "first");
  EXPECT("table results/one 'first: first_violation_tokens' --markdown", 0,
         "| method | first |\n|---|---|\n| rope | 2 |");
  EXPECT("table results/one/decay.csv distance_tokens --lines length_tokens --where 'distance_tokens>=6' --sort -1", 0,
         "length_tokens  distance_tokens\n8                          6.5\n");
  EXPECT("table results/one", 2, "table needs results and columns");
  EXPECT("table results/one first_violation", 2, "no column first_violation");
  EXPECT("table results/one cell --sort 0", 2, "--sort 0: columns count from 1");
  EXPECT("table nowhere cell", 2, "nowhere");
}
