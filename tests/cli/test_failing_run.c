/* test_failing_run.c: runs without room: memory, disk, stdout. */
#include "../fixtures/program.h"

#include <sys/stat.h>

#include <sys/stat.h>

TestSuite(failing_run, .init = enter_folder, .fini = leave_folder);

/* 2^26 tokens take gigabytes, 8 none to speak of. */
Test(failing_run, run__cells_out_of_memory__status_1_and_the_others_are_there) {
#ifdef __SANITIZE_ADDRESS__
  cr_skip_test("the sanitizer needs all addresses");
#endif
  static const char *const metrics[] = {"--set=metrics=entropy", "--set=metrics=decay"}, *const outs[] = {"o", "p"};
  write_file("c.yaml", "model: {head_dim: 8, heads: 2, train_length: 64}\nmethods: [rope, alibi]\nlengths: [8, 64M]\n");
  for (size_t i = 0; i < RS_COUNT(metrics); i++) {
    result got = run(
        &(command){.arguments = {"run", "c.yaml", "--out", outs[i], "--quiet", "--force", "--threads=1", metrics[i]},
                   .memory = 512 << 20});
    cr_expect_eq(got.status, 1, "status %d", got.status);
    cr_expect_str_eq(got.err, "ropescope: 2 cells ran out of memory (ropescope plan says what a run takes)\n", "%s",
                     got.err);
    rs_table *table = read_table(i == 0 ? "o/summary.csv" : "p/summary.csv");
    cr_assert_eq(table->rows, 4);
    for (size_t row = 0; row < 4; row++) {
      cr_expect_str_eq(field(table, row, "status"), row % 2 == 0 ? "ok" : "memory");
      cr_expect_eq(strncmp(field(table, row, "message"), "out of memory", 13) == 0, row % 2 == 1);
    }
    rs_table_free(table);
    result_clear(&got);
  }
}

/* Nor do they cost results that were complete; what is done is kept, and written on request. */
Test(failing_run, run_over__cells_out_of_memory__old_results_stay) {
#ifdef __SANITIZE_ADDRESS__
  cr_skip_test("the sanitizer needs all addresses");
#endif
  size_t before, after;
  write_file("c.yaml", "model: {head_dim: 8, heads: 2, train_length: 64}\nmethods: [rope, alibi]\nlengths: [8, 64M]\n"
                       "metrics: [entropy]\n");
  result first = run(&(command){.arguments = {"run", "c.yaml", "--out", "o", "--lengths", "16", "--quiet"}});
  result_clear(&first);
  char *old = read_path("o/summary.csv", &before);
  result got = run(&(command){.arguments = {"run", "c.yaml", "--out", "o", "--quiet", "--force", "--threads=1"},
                              .memory = 512 << 20});
  cr_expect_eq(got.status, 1);
  cr_expect_not_null(strstr(got.err, "2 cells ran out of memory, and the results in o stay as they were"), "%s",
                     got.err);
  char *new = read_path("o/summary.csv", &after);
  cr_expect(before == after && memcmp(old, new, before) == 0);
  result_clear(&got);
  got = run(&(command){.arguments = {"run", "c.yaml", "--out", "o", "--quiet", "--force", "--partial"}});
  cr_expect_eq(got.status, 0, "%s", got.err);
  rs_table *table = read_table("o/summary.csv");
  cr_expect_eq(table->rows, 2);
  rs_table_free(table);
  result_clear(&got);
  free(old);
  free(new);
}

/* ---- when writing fails ------------------------------------------------------------------------------------------ */

Test(failing_run, run__folder_that_cannot_be_made__status_1_and_nothing_written) {
  write_file("small.yaml", small_config);
  write_file("file", "x");
  expect_failure(&(command){.arguments = {"run", "small.yaml", "--out", "file"}}, 1,
                 "ropescope: file: cannot make the directory: Not a directory\n");
  expect_failure(&(command){.arguments = {"run", "small.yaml", "--out", "file/deeper/o"}}, 1,
                 "ropescope: file: cannot make the directory: Not a directory\n");
  expect_failure(&(command){.arguments = {"run", "small.yaml", "--out", "/proc/nothing"}}, 1,
                 "ropescope: /proc/nothing: cannot make the directory: No such file or directory\n");
  char *names = names_in(".", "");
  cr_expect_str_eq(names, "file small.yaml", "%s", names);
  free(names);
}

/* LLVM's OpenMP keeps 1024 bytes in a file of shared memory, and ends a program that may not make it. */
#if defined(_OPENMP) && defined(__clang__)
enum { LEAST_FILE = 1024 };
#else
enum { LEAST_FILE = 1 };
#endif

/* Limits from the first file on, and one that only the largest file meets. */
Test(failing_run, run__disk_full__status_1_whole_files_only) {
  static const rlim_t limits[] = {600, 1024, 3000, 20000}; /* 1024: ulimit -f 1 */
  run_small("whole", NULL, NULL, NULL);
  for (size_t i = 0; i < RS_COUNT(limits); i++) {
    if (limits[i] < LEAST_FILE) continue;
    result got = run(&(command){.arguments = {"run", "small.yaml", "--out", "o"}, .file_size = limits[i]});
    cr_expect_eq(got.status, 1, "%zu bytes: status %d", (size_t)limits[i], got.status);
    cr_expect_not_null(strstr(got.err, "cannot write: File too large"), "%s", got.err);
    cr_expect_str_eq(got.out, "");
    char *names = names_in("o", ""), *rest = NULL;
    cr_expect_null(strstr(names, ".tmp"), "%s", names);
    cr_expect_null(strstr(names, "summary.csv"), "summary.csv says that a folder is complete: %s", names);
    for (char *name = strtok_r(names, " ", &rest); name != NULL; name = strtok_r(NULL, " ", &rest)) {
      char *path = rs_path_join("o", name, NULL), *reference = rs_path_join("whole", name, NULL);
      size_t size[2];
      char *text[] = {read_path(path, &size[0]), read_path(reference, &size[1])};
      if (strcmp(name, "timings.csv") != 0 && strcmp(name, "manifest.json") != 0)
        cr_expect(size[0] == size[1] && memcmp(text[0], text[1], size[0]) == 0, "%s is not whole", path);
      free(text[0]);
      free(text[1]);
      free(path);
      free(reference);
    }
    result_clear(&got);
    free(names);
    remove_folder("o");
  }
}

/* What was complete stays so, and readable, until the new set is. */
Test(failing_run, run__disk_full_in_an_old_folder__old_results_stay_whole) {
  static const rlim_t limits[] = {100, 1024, 4000};
  static const char fewer[] = "--set=metrics=[entropy, {name: decay, distances: all}]";
  run_small("whole", NULL, NULL, NULL);
  run_small("o", NULL, NULL, NULL);
  write_file("o/README.md", "mine");
  for (size_t i = 0; i < RS_COUNT(limits); i++) {
    if (limits[i] < LEAST_FILE) continue;
    result got = run(&(command){.arguments = {"run", "small.yaml", "--quiet", "--out", "o", "--force", fewer},
                                .file_size = limits[i]});
    cr_expect_eq(got.status, 1, "%zu bytes: status %d", (size_t)limits[i], got.status);
    cr_expect_eq(strncmp(got.err, "ropescope: o/", 13), 0, "%s", got.err);
    cr_expect(ends_with(got.err, ": cannot write: File too large\n"), "%s", got.err);
    expect_same_csv("o", "whole", "after a failed run");
    run_well(&(command){.arguments = {"verify", "o", "--quiet"}});
    result_clear(&got);
  }
  run_well(&(command){.arguments = {"run", "small.yaml", "--out", "o", "--force", fewer}});
  char *names = names_in("o", "");
  cr_expect_str_eq(names, "README.md config.yaml decay.csv manifest.json summary.csv timings.csv", "%s", names);
  free(names);
  cr_expect(!exists(".ropescope-o.new"));
}

/* Before anything is run. */
Test(failing_run, run__manifest_that_cannot_be_written__is_refused) {
  write_file("small.yaml", small_config);
  cr_assert_eq(mkdir("o", 0777) + mkdir("o/manifest.json", 0777), 0);
  expect_failure(&(command){.arguments = {"run", "small.yaml", "--out", "o"}}, 1,
                 "ropescope: o/manifest.json: cannot write: not a regular file\n");
  cr_expect(!exists("o/summary.csv"));
}

/* What does not fit is refused before it costs anything. */
Test(failing_run, run__more_memory_than_there_is__is_refused) {
#ifdef __SANITIZE_ADDRESS__
  cr_skip_test("the sanitizer needs all addresses");
#endif
  write_file("c.yaml",
             "model: {head_dim: 8, heads: 2, train_length: 64}\nmethods: rope\nlengths: 64M\nmetrics: entropy\n");
  result got = run(&(command){.arguments = {"run", "c.yaml", "--out", "o", "--threads=1"}, .memory = 512 << 20});
  unsigned needed, there;
  cr_expect_eq(got.status, 2, "status %d", got.status);
  cr_expect_eq(sscanf(got.err, "ropescope: the run takes about %u MiB and %u are available", &needed, &there), 2, "%s",
               got.err);
  cr_expect(needed > 512 && there > 0 && there < 512, "%s", got.err);
  cr_expect_not_null(strstr(got.err, "--force"), "%s", got.err);
  cr_expect(!exists("o"));
  result_clear(&got);
  got = run(&(command){.arguments = {"plan", "c.yaml", "--threads=1", "--lengths=1M"}, .memory = 256 << 20});
  char *line = strstr(got.out, "memory ");
  cr_expect(line != NULL && sscanf(line, "memory %u MiB of %u available", &needed, &there) == 2, "%s", got.out);
  cr_expect(there < 256 && (strstr(line, "run refuses without --force") != NULL) == (needed > there), "%s", got.out);
  result_clear(&got);
}

Test(failing_run, full_stdout__status_1_and_a_message) {
  static const command commands[] = {
      {{"show", "scale", "--model", "llama-2-7b", "--quiet"}, {0}, "/dev/full", 0, 0},
      {{"show", "frequencies", "--model", "llama-2-7b", "--quiet"}, {0}, "/dev/full", 0, 0},
      {{"show", "embedding", "--model", "gpt2", "--quiet"}, {0}, "/dev/full", 0, 0},
      {{"list"}, {0}, "/dev/full", 0, 0},
      {{"list", "--markdown"}, {0}, "/dev/full", 0, 0},
      {{"plan"}, {0}, "/dev/full", 0, 0},
      {{"version"}, {0}, "/dev/full", 0, 0},
      {{"--help"}, {0}, "/dev/full", 0, 0},
      {{"run", "--quiet", "--print", "--lengths", "8", "--set", "metrics=[decay]"}, {0}, "/dev/full", 0, 0},
  };
  for (size_t i = 0; i < RS_COUNT(commands); i++) {
    result got = run(&commands[i]);
    cr_expect_eq(got.status, 1, "%s: status %d", commands[i].arguments[0], got.status);
    cr_expect_str_eq(got.err, "ropescope: cannot write to standard output: No space left on device\n", "%s: %s",
                     commands[i].arguments[0], got.err);
    result_clear(&got);
  }
}

/* A stack that is too small would end the program without a word. */
Test(failing_run, stacks_too_small__status_1_and_a_message) {
  expect_failure(&(command){.arguments = {"list", "models"}, .environment = {"OMP_STACKSIZE=128k"}}, 1,
                 "ropescope: threads have a stack of 128 KiB here, and need 1024 (OMP_STACKSIZE=4M, ulimit -s 8192)\n");
}

/* ---- symbolic links ---------------------------------------------------------------------------------------------- */

/* A results folder may be a stranger's: nothing of it leads a run elsewhere. */
Test(failing_run, links_in_the_hidden_folder__are_not_followed) {
  static const char *const names[] = {"", "/lock", "/journal", "/journal.new", "/new", "/ready", "/moving"};
  write_file("c.yaml", "name: c\nmodel: {head_dim: 16, train_length: 64}\nlengths: [32]\nmethods: [rope]\nmetrics: "
                       "[decay]\n");
  cr_assert_eq(mkdir("others", 0755), 0);
  write_file("others/manifest.json", "theirs");
  write_file("others/lock", "theirs");
  for (size_t i = 0; i < RS_COUNT(names); i++) {
    bool file = strcmp(names[i], "/lock") == 0 || strncmp(names[i], "/journal", 8) == 0;
    char link[64], said[256];
    snprintf(link, sizeof link, "o/.ropescope%s", names[i]);
    snprintf(said, sizeof said,
             "ropescope: %s: is a symbolic link, which no run follows out of its results folder (remove it)\n", link);
    cr_assert_eq(mkdir("o", 0755), 0);
    if (i > 0) cr_assert_eq(mkdir("o/.ropescope", 0755), 0);
    cr_assert_eq(symlink(file ? "../../others/lock" : i > 0 ? "../../others" : "../others", link), 0);
    expect_failure(&(command){.arguments = {"run", "c.yaml", "--out", "o"}}, 1, said);
    expect_failure(&(command){.arguments = {"run", "c.yaml", "--out", "o", "--fresh", "--force"}}, 1, said);
    char *theirs = names_in("others", ""), *lock = read_path("others/lock", NULL);
    cr_expect_str_eq(theirs, "lock manifest.json", "%s: %s", link, theirs);
    cr_expect_str_eq(lock, "theirs", "%s: %s", link, lock);
    cr_expect(!exists("o/summary.csv") && !exists("o/manifest.json"), "%s", link);
    free(theirs);
    free(lock);
    remove_folder("o");
  }
  run_well(&(command){.arguments = {"run", "c.yaml", "--out", "s", "--shard", "1/1", "--quiet"}});
  cr_assert_eq(rename("s/.ropescope", "apart") + symlink("../apart", "s/.ropescope"), 0);
  expect_failure(&(command){.arguments = {"merge", "s", "--out", "merged"}}, 1,
                 "ropescope: s/.ropescope: is a symbolic link, which no run follows out of its results folder (remove "
                 "it)\n");
}
