/* test_merge_command.c: parts of a sweep, each run apart, and what merge makes of them. */
#include "../fixtures/program.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

TestSuite(merge_command, .init = enter_folder, .fini = leave_folder);

/* Runs small.yaml, or another config, in so many parts: s-1 to s-N. */
static void run_shards(const char *config, size_t count, const char *more) {
  for (size_t i = 1; i <= count; i++) {
    char shard[32], out[32];
    snprintf(shard, sizeof shard, "%zu/%zu", i, count);
    snprintf(out, sizeof out, "s-%zu", i);
    run_well(&(command){.arguments = {"run", config, "--quiet", "--shard", shard, "--out", out, more}});
    cr_expect(!exists("s-1/summary.csv") && !exists("s-1/manifest.json") && exists("s-1/shard.json"));
  }
}

static void remove_shards(size_t count) {
  for (size_t i = 1; i <= count; i++) {
    char out[32];
    snprintf(out, sizeof out, "s-%zu", i);
    remove_folder(out);
  }
}

/* The manifest without what is of the run: sums of timings.csv. */
static char *manifest_of(const char *path) {
  char *text = read_path(path, NULL), *entry = strstr(text, "\"timings.csv\""), *end;
  cr_assert_not_null(entry);
  end = strchr(entry, '}');
  memmove(entry, end, strlen(end) + 1);
  return text;
}

static void expect_whole(const char *results, const char *what) {
  char path[64];
  expect_same_csv("whole", results, what);
  snprintf(path, sizeof path, "%s/config.yaml", results);
  char *a = read_path("whole/config.yaml", NULL), *b = read_path(path, NULL);
  cr_expect_str_eq(a, b, "%s: %s", what, path);
  free(a);
  free(b);
  snprintf(path, sizeof path, "%s/manifest.json", results);
  a = manifest_of("whole/manifest.json");
  b = manifest_of(path);
  cr_expect_str_eq(a, b, "%s: %s", what, path);
  free(a);
  free(b);
  run_well(&(command){.arguments = {"verify", results, "--quiet"}});
}

static void merge_well(size_t count, const char *out) {
  static char names[8][24];
  command c = {.arguments = {"merge", "--quiet", "--out", out}};
  for (size_t i = 0; i < count; i++) {
    snprintf(names[i], sizeof names[i], "s-%zu", count - i); /* in any order */
    c.arguments[4 + i] = names[i];
  }
  run_well(&c);
}

/* ---- the same bytes ---------------------------------------------------------------------------------------------- */

Test(merge_command, shards__one_to_five_give_the_bytes_of_the_whole) {
  run_small("whole", NULL, NULL, NULL);
  for (size_t count = 1; count <= 5; count++) {
    char what[32];
    snprintf(what, sizeof what, "%zu shards", count);
    run_shards("small.yaml", count, "--threads=1");
    merge_well(count, "o");
    expect_whole("o", what);
    remove_folder("o");
    remove_shards(count);
  }
}

Test(merge_command, tables_alone__the_same_bytes) {
  write_file("t.yaml", "name: t\nmodel: {head_dim: 8, heads: 2, train_length: 32}\nmethods: [rope, yarn, nope]\n"
                       "lengths: [32, 64]\nseeds: 2\nheads: {each: all}\nmetrics: [decay, id_growth]\nsources: "
                       "[gaussian, needle]\n");
  run_well(&(command){.arguments = {"run", "t.yaml", "--out", "whole", "--quiet"}});
  run_shards("t.yaml", 3, NULL);
  merge_well(3, "o");
  expect_whole("o", "tables");
}

/* What is trained in one shard is found by the others, or trained by each. */
Test(merge_command, checkpoints__the_same_bytes) {
  static const char yaml[] =
      "name: t\ntask: {name: copy, symbols: 3}\nsequences: 4\nlengths: [4, 6, 8]\nseeds: 2\nmethods: [trained, alibi]\n"
      "metrics: [loss, entropy, decay]\nsources: [{name: model, layer: 0}, gaussian]\n"
      "checkpoint: {method: rope, width: 8, blocks: 1, heads: 2, train: {steps: 3, length: 4, sequences: 2}}\n";
  static const size_t counts[] = {2, 3, 7};
  write_file("t.yaml", yaml);
  run_well(&(command){.arguments = {"run", "t.yaml", "--out", "whole", "--quiet"}});
  for (size_t i = 0; i < RS_COUNT(counts); i++) {
    run_shards("t.yaml", counts[i], i == 0 ? "--checkpoints=own" : NULL);
    merge_well(counts[i], "o");
    expect_whole("o", "checkpoints");
    remove_folder("o");
    remove_shards(counts[i]);
  }
}

/* Results grow as shards come, and a run of the whole goes on from them. */
Test(merge_command, partial__then_the_rest_and_a_run_that_goes_on) {
  run_small("whole", NULL, NULL, NULL);
  run_shards("small.yaml", 3, NULL);
  result got = run(&(command){.arguments = {"merge", "s-1", "--out", "o", "--partial"}});
  cr_expect(got.status == 0 && strncmp(got.err, "incomplete: ", 12) == 0, "%d: %s", got.status, got.err);
  result_clear(&got);
  run_well(&(command){.arguments = {"merge", "s-2", "s-3", "--out", "o", "--quiet"}});
  expect_whole("o", "one after the other");
  run_well(&(command){.arguments = {"merge", "s-2", "--out", "p", "--partial", "--quiet"}});
  run_well(&(command){.arguments = {"run", "small.yaml", "--out", "p", "--quiet"}});
  expect_whole("p", "a run behind a merge");
  run_well(&(command){.arguments = {"run", "small.yaml", "--out", "s-1", "--quiet"}}); /* a shard becomes the whole */
  expect_whole("s-1", "a run behind a shard");
  cr_expect(!exists("s-1/shard.json"));
}

/* ---- what is refused --------------------------------------------------------------------------------------------- */

Test(merge_command, shard__wrong_words) {
  static const char *const wrong[][2] = {
      {"0/4", "--shard 0/4: parts count from 1/4 to 4/4"},
      {"5/4", "--shard 5/4: parts count from 1/4 to 4/4"},
      {"1/0", "--shard 1/0: write the part and how many there are, as in 2/5"},
      {"-1/4", "--shard -1/4: write the part and how many there are, as in 2/5"},
      {"1/4x", "--shard 1/4x: write the part and how many there are, as in 2/5"},
      {"1/ 4", "--shard 1/ 4: write the part and how many there are, as in 2/5"},
      {"2", "--shard 2: write the part and how many there are, as in 2/5"},
      {"1/10000000000", "--shard 1/10000000000: write the part and how many there are, as in 2/5"},
      {"1/85", "--shard 1/85: the config has 84 cells, and no more shards than that"},
  };
  write_file("small.yaml", small_config);
  for (size_t i = 0; i < RS_COUNT(wrong); i++) {
    char message[160];
    snprintf(message, sizeof message, "ropescope: %s\n", wrong[i][1]);
    expect_failure(&(command){.arguments = {"run", "small.yaml", "--out", "n", "--shard", wrong[i][0]}}, 2, message);
  }
  expect_failure(&(command){.arguments = {"run", "small.yaml", "--out", "n", "--shard", "1/2", "--print"}}, 2,
                 "ropescope: --print shows results, and a shard has none: ropescope merge --print\n");
  expect_failure(&(command){.arguments = {"run", "small.yaml", "--out", "n", "--shard", "1/2", "--partial"}}, 2,
                 "ropescope: --partial shows results, and a shard has none: ropescope merge --partial\n");
  expect_failure(&(command){.arguments = {"plan", "small.yaml", "--shard", "1/85"}}, 2,
                 "ropescope: 85 shards are too many: the config has 84 cells\n");
  cr_expect(!exists("n"));
}

Test(merge_command, folders__of_something_else) {
  run_small("whole", NULL, NULL, NULL);
  expect_failure(&(command){.arguments = {"run", "small.yaml", "--out", "whole", "--shard", "1/2"}}, 2,
                 "ropescope: whole holds results: a shard goes into a folder of its own (choose another --out)\n");
  run_shards("small.yaml", 2, NULL);
  expect_failure(&(command){.arguments = {"run", "small.yaml", "--set=seeds=3", "--out", "s-1", "--shard", "1/2"}}, 2,
                 "ropescope: s-1 holds a shard of another config: choose another --out, or --force to replace it\n");
  expect_failure(&(command){.arguments = {"merge"}}, 2,
                 "ropescope: merge takes the folders of shards, as ropescope run --shard leaves them (ropescope help "
                 "merge)\n");
  expect_failure(&(command){.arguments = {"merge", "s-1", "whole"}}, 2,
                 "ropescope: whole: holds no shard: there is no shard.json in it (ropescope run --shard makes one)\n");
  expect_failure(&(command){.arguments = {"merge", "nothing", "s-1"}}, 2,
                 "ropescope: nothing: there is no such folder\n");
  expect_failure(&(command){.arguments = {"merge", "s-1", "s-2", "./s-1"}}, 2,
                 "ropescope: s-1 stands there twice, also as ./s-1\n");
  expect_failure(&(command){.arguments = {"merge", "s-1", "s-2", "s-1"}}, 2, "ropescope: s-1 stands there twice\n");
  expect_failure(&(command){.arguments = {"merge", "s-1", "s-2", "--out", "s-2"}}, 1,
                 "ropescope: s-2 is a shard and cannot hold the results as well (choose another --out)\n");
  run_well(
      &(command){.arguments = {"run", "small.yaml", "--quiet", "--set=lengths=[32]", "--shard", "1/2", "--out", "t"}});
  expect_failure(&(command){.arguments = {"merge", "s-1", "t"}}, 2,
                 "ropescope: t is of another config than s-1: line 5 of it is \"lengths: [32]\", there \"lengths: [32, "
                 "100]\"\n");
  run_well(&(command){.arguments = {"run", "small.yaml", "--quiet", "--isa=generic", "--shard", "2/2", "--out", "g"}});
  result got = run(&(command){.arguments = {"merge", "s-1", "g"}});
  cr_expect(got.status == 2 && strncmp(got.err, "ropescope: g was computed by generic, s-1 by ", 45) == 0, "%s",
            got.err);
  result_clear(&got);
  write_file("s-1/mine", "");
  run_well(&(command){.arguments = {"run", "small.yaml", "--lengths=32", "--quiet", "--out", "other"}});
  expect_failure(&(command){.arguments = {"merge", "s-1", "s-2", "--out", "other"}}, 2,
                 "ropescope: other holds the results of another config: choose another --out or name, or --force to "
                 "replace them\n");
  run_well(&(command){.arguments = {"merge", "s-1", "s-2", "--out", "other", "--force", "--quiet"}});
  expect_whole("other", "over another config");
}

/* shard.json with `from` put as `to`, which are as long. */
static void change_file(const char *path, const char *from, const char *to) {
  char *text = read_path(path, NULL), *place = strstr(text, from);
  cr_assert(place != NULL && strlen(from) == strlen(to), "%s", from);
  memcpy(place, to, strlen(to));
  write_file(path, text);
  free(text);
}

Test(merge_command, versions__run_the_shard_again) {
  static const struct {
    const char *from, *to, *message;
  } changes[] = {
      {"\"version\": \"", "\"version\":\"9", "ropescope: s-2: was made by version 9"},
      {"\"schema\": 4", "\"schema\": 3", "ropescope: s-2: was made by version "},
      {"\"shard\": 2", "\"shard\": 9", "ropescope: s-2/shard.json: is not what a run with --shard writes\n"},
      {"\"kinds\"", "\"kinks\"", "ropescope: s-2/shard.json: is not what a run with --shard writes\n"},
      {"{", "[", "ropescope: s-2/shard.json:"},
      {"\"name\": \"entropy\"", "\"name\": \"enthalp\"",
       "ropescope: s-2: metric entropy is of version 0 there, and of version 2 in this program (run the shard "
       "again)\n"},
  };
  write_file("small.yaml", small_config);
  run_shards("small.yaml", 2, NULL);
  char *before = read_path("s-2/shard.json", NULL);
  for (size_t i = 0; i < RS_COUNT(changes); i++) {
    change_file("s-2/shard.json", changes[i].from, changes[i].to);
    result got = run(&(command){.arguments = {"merge", "s-1", "s-2", "--out", "o"}});
    cr_expect_eq(got.status, 2, "%s: %d", changes[i].to, got.status);
    cr_expect(strncmp(got.err, changes[i].message, strlen(changes[i].message)) == 0, "%s", got.err);
    cr_expect(!exists("o"));
    result_clear(&got);
    write_file("s-2/shard.json", before);
  }
  free(before);
}

Test(merge_command, missing_and_damaged__named_and_nothing_is_written) {
  size_t length;
  write_file("small.yaml", small_config);
  run_shards("small.yaml", 2, NULL);
  result got = run(&(command){.arguments = {"merge", "s-2", "--out", "o"}});
  cr_expect_eq(got.status, 1, "%d", got.status);
  cr_expect(strstr(got.err, " of 84 cells are missing: of shard 1/2 ") != NULL, "%s", got.err);
  cr_expect(strstr(got.err, "(--partial writes what there is)\n") != NULL && strstr(got.err, "2/2") == NULL, "%s",
            got.err);
  result_clear(&got);
  cr_expect(!exists("o"));
  char *bytes = read_path("s-1/.ropescope/journal", &length);
  bytes[length / 2] ^= 1;
  FILE *file = fopen("s-1/.ropescope/journal", "wb");
  cr_assert(file != NULL && fwrite(bytes, 1, length, file) == length);
  fclose(file);
  free(bytes);
  got = run(&(command){.arguments = {"merge", "s-1", "s-2", "--out", "o"}});
  cr_expect_eq(got.status, 1, "%d", got.status);
  cr_expect(strncmp(got.err, "ropescope: s-1/.ropescope/journal: record ", 42) == 0, "%s", got.err);
  result_clear(&got);
  cr_expect(!exists("o"));
  run_well(&(command){.arguments = {"run", "small.yaml", "--quiet", "--fresh", "--shard", "1/2", "--out", "s-1"}});
  merge_well(2, "o");
}

/* A shard that is being run, and results that are. */
Test(merge_command, locked__status_75) {
  static const char *const locked[] = {"s-2", "o"};
  write_file("small.yaml", small_config);
  run_shards("small.yaml", 2, NULL);
  merge_well(2, "o");
  for (size_t i = 0; i < RS_COUNT(locked); i++) {
    char path[64];
    snprintf(path, sizeof path, "%s/.ropescope/lock", locked[i]);
    int file = open(path, O_RDWR | O_CLOEXEC);
    cr_assert_eq(flock(file, LOCK_EX), 0);
    result got = run(&(command){.arguments = {"merge", "s-1", "s-2", "--out", "o"}});
    cr_expect_eq(got.status, 75, "%s: %d", locked[i], got.status);
    cr_expect_not_null(strstr(got.err, "is running into this folder"), "%s", got.err);
    result_clear(&got);
    close(file);
  }
  merge_well(2, "o");
}

/* ---- kills ------------------------------------------------------------------------------------------------------- */

static void sleep_for(double seconds) {
  nanosleep(&(struct timespec){(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))}, NULL);
}

/* Starts a command and kills it. */
static void run_killed(const command *c, double seconds) {
  int out = open("/dev/null", O_WRONLY);
  pid_t child = fork();
  if (child == 0) start(c, out, out);
  close(out);
  sleep_for(seconds);
  kill(child, SIGKILL);
  (void)wait_for(child);
}

Test(merge_command, killed__the_next_ones_give_the_same_bytes) {
  enum { KILLS = 6 };
  run_small("whole", NULL, NULL, NULL);
  for (int i = 0; i < KILLS; i++) {
    run_killed(&(command){.arguments = {"run", "small.yaml", "--shard", "1/2", "--out", "s-1", "--quiet"}},
               0.02 * (i + 1));
    if (exists("s-1/shard.json")) {
      result got = run(&(command){.arguments = {"merge", "s-1", "--out", "o"}});
      cr_expect_eq(got.status, 1, "%d: %s", got.status, got.err);
      result_clear(&got);
    }
  }
  run_shards("small.yaml", 2, NULL);
  for (int i = 0; i < KILLS; i++) {
    run_killed(&(command){.arguments = {"merge", "s-1", "s-2", "--out", "o", "--quiet"}}, 0.005 * (i + 1));
    if (exists("o/summary.csv")) run_well(&(command){.arguments = {"verify", "o", "--quiet"}});
  }
  merge_well(2, "o");
  expect_whole("o", "after kills");
  cr_expect(!exists(".ropescope-o.new"));
}
