/* test_folder.c: a folder of results changes as one, whatever call fails and wherever the process is killed. The calls
 * by which it changes are replaced below, so that the n-th of them fails, or ends the process. */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../fixtures/scratch.h"
#include "io/io.h"

/* ---- the C library, made to fail --------------------------------------------------------------------------------- */

static int countdown = -1;        /* calls until one fails; negative: none does */
static bool dies, no_exchange;    /* it ends the process; the kernel knows no exchange */
static const int reason = EDQUOT; /* none that the code could expect */

static bool refuses(void) {
  if (countdown < 0 || countdown-- > 0) return false;
  if (dies) _exit(9);
  errno = reason;
  return true;
}

int rename(const char *from, const char *to) {
  return refuses() ? -1 : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int renameat2(int a, const char *from, int b, const char *to, unsigned flags) {
  if (no_exchange) errno = EINVAL;
  return no_exchange || refuses() ? -1 : (int)syscall(SYS_renameat2, a, from, b, to, flags);
}

int link(const char *from, const char *to) {
  return refuses() ? -1 : (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int unlink(const char *path) {
  return refuses() ? -1 : (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

int mkdir(const char *path, mode_t mode) {
  return refuses() ? -1 : (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

int rmdir(const char *path) {
  return refuses() ? -1 : (int)syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR);
}

int fsync(int file) {
  return refuses() ? -1 : (int)syscall(SYS_fsync, file);
}

/* ---- a folder and its next set ----------------------------------------------------------------------------------- */

TestSuite(folder, .init = enter_scratch);

static bool is_own(const char *name) {
  static const char *const names[] = {"manifest.json", "summary.csv", "decay.csv", "needle.csv"};
  for (size_t i = 0; i < RS_COUNT(names); i++)
    if (strcmp(name, names[i]) == 0) return true;
  return false;
}

static void put(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  cr_assert_not_null(file, "%s", path);
  fputs(text, file);
  fclose(file);
}

static bool is_text(const char *path, const char *wanted) {
  char *text;
  size_t length;
  if (rs_file_read(path, 1 << 16, &text, &length, NULL) != RS_OK) return *wanted == '\0';
  bool same = strcmp(text, wanted) == 0;
  free(text);
  return same;
}

static void remove_all(const char *path) {
  char command[64];
  snprintf(command, sizeof command, "rm -rf ./%s ./.ropescope-%s.new", path, path);
  cr_assert_eq(system(command), 0);
}

/* An old set, and what is somebody's. */
static void make_old(void) {
  remove_all("o");
  cr_assert_eq(mkdir("o", 0751) + mkdir("o/plots", 0700) + mkdir("o/.ropescope", 0777), 0);
  put("o/manifest.json", "old");
  put("o/summary.csv", "old");
  put("o/needle.csv", "old");
  put("o/README.md", "mine");
  put("o/plots/a.svg", "drawn");
  put("o/.ropescope/lock", "1");
  cr_assert_eq(symlink("nowhere", "o/link"), 0);
}

static bool is_set(const char *which) {
  bool new = strcmp(which, "new") == 0;
  return is_text("o/manifest.json", which) && is_text("o/summary.csv", which) &&
         is_text("o/decay.csv", new ? "new" : "") && is_text("o/needle.csv", new ? "" : "old");
}

static bool is_rest_there(void) {
  struct stat info;
  return is_text("o/README.md", "mine") && is_text("o/plots/a.svg", "drawn") && is_text("o/.ropescope/lock", "1") &&
         lstat("o/link", &info) == 0 && stat("o", &info) == 0 && (info.st_mode & 0777) == 0751 &&
         stat("o/plots", &info) == 0 && (info.st_mode & 0777) == 0700;
}

/* The new set takes the old one's place. */
static rs_status change(bool *in_place, rs_err *err) {
  rs_folder_change c;
  char path[256];
  RS_TRY(rs_folder_change_begin("o", is_own, &c, err));
  *in_place = c.in_place;
  const char *const names[] = {"manifest.json", "summary.csv", "decay.csv"};
  for (size_t i = 0; i < RS_COUNT(names); i++) {
    snprintf(path, sizeof path, "%s/%s", c.staged, names[i]);
    put(path, "new");
  }
  rs_status status = rs_folder_change_commit(&c, err);
  rs_folder_change_clear(&c);
  return status;
}

static void expect_clean(const char *what) {
  struct stat info;
  cr_assert(lstat(".ropescope-o.new", &info) != 0 && lstat("o/.ropescope/new", &info) != 0 &&
                lstat("o/.ropescope/ready", &info) != 0 && lstat("o/.ropescope/moving", &info) != 0 &&
                lstat("o/.ropescope-staged", &info) != 0,
            "%s: something is left behind", what);
}

/* ---- changes ----------------------------------------------------------------------------------------------------- */

Test(folder, change__new_set_in_place_of_the_old_one_and_the_rest_stays) {
  for (int way = 0; way < 2; way++) {
    bool in_place;
    no_exchange = way == 1;
    make_old();
    cr_assert_eq(change(&in_place, NULL), RS_OK);
    cr_expect(!in_place && is_set("new") && is_rest_there(), "way %d", way);
    expect_clean(no_exchange ? "one by one" : "exchanged");
  }
  no_exchange = false;
  remove_all("o");
  leaves(NULL, 0);
}

/* A shell that stands in the folder stays in it. */
Test(folder, change__of_the_working_directory__is_in_place) {
  rs_folder_change c;
  make_old();
  cr_assert_eq(chdir("o"), 0);
  cr_assert_eq(rs_folder_change_begin(".", is_own, &c, NULL), RS_OK);
  cr_expect(c.in_place);
  rs_folder_change_clear(&c);
  rs_folder_change_clear(&c); /* which then has nothing left */
  cr_assert_eq(chdir(".."), 0);
  cr_expect(is_set("old") && is_rest_there());
  expect_clean("cleared");
  remove_all("o");
  leaves(NULL, 0);
}

/* Every call that changes something fails in turn; the old set or the new one is whole at once, or is once the next
 * run has come. */
Test(folder, change__each_failing_call__the_old_set_or_the_new_one_is_whole) {
  for (int way = 0; way < 2; way++) {
    bool in_place, met = true;
    no_exchange = way == 1;
    for (int n = 0; met; n++) {
      rs_err err = {0};
      make_old();
      countdown = n;
      rs_status status = change(&in_place, &err);
      met = countdown < 0;
      countdown = -1;
      cr_assert(status == RS_OK || status == RS_IO, "way %d, call %d: %s", way, n, err.message);
      cr_assert(status != RS_IO || strstr(err.message, "o") != NULL);
      if (!no_exchange) cr_assert(is_set(status == RS_OK ? "new" : "old"), "call %d: %s", n, err.message);
      cr_assert_eq(rs_folder_change_recover("o", is_own, &err), RS_OK, "way %d, call %d: %s", way, n, err.message);
      cr_assert(is_set(status == RS_OK ? "new" : "old") || (no_exchange && is_set("new")), "way %d, call %d", way, n);
      cr_assert(is_rest_there(), "way %d, call %d: %s", way, n, err.message);
      expect_clean("recovered");
    }
  }
  no_exchange = false;
  remove_all("o");
  leaves(NULL, 0);
}

/* What a process leaves that ends at its n-th call; false when it came to its end. */
static bool kill_at(int n) {
  int status;
  pid_t child = fork();
  if (child == 0) {
    bool in_place;
    dies = true;
    countdown = n;
    (void)!change(&in_place, NULL);
    _exit(0);
  }
  cr_assert_eq(waitpid(child, &status, 0), child);
  return WEXITSTATUS(status) == 9;
}

Test(folder, change__killed_at_each_call__whole_at_once_or_after_the_next_run) {
  for (int way = 0; way < 2; way++) {
    no_exchange = way == 1;
    make_old();
    for (int n = 0; kill_at(n); n++) {
      rs_err err = {0};
      if (!no_exchange) cr_assert((is_set("old") || is_set("new")) && is_rest_there(), "call %d: a mixture", n);
      cr_assert_eq(rs_folder_change_recover("o", is_own, &err), RS_OK, "way %d, call %d: %s", way, n, err.message);
      cr_assert((is_set("old") || is_set("new")) && is_rest_there(), "way %d, call %d", way, n);
      expect_clean("recovered");
      make_old();
    }
    cr_assert(is_set("new"));
  }
  no_exchange = false;
  remove_all("o");
  leaves(NULL, 0);
}

/* A file that came while the folders were exchanged stands in the old one alone. */
Test(folder, recover__old_set_with_a_late_file__the_file_comes_over) {
  make_old();
  cr_assert_eq(mkdir(".ropescope-o.new", 0777) + mkdir(".ropescope-o.new/plots", 0777), 0);
  put(".ropescope-o.new/summary.csv", "older");
  put(".ropescope-o.new/notes.txt", "late");
  put(".ropescope-o.new/plots/b.svg", "late");
  cr_assert_eq(link("o/README.md", ".ropescope-o.new/README.md"), 0);
  cr_assert_eq(rs_folder_change_recover("o", is_own, NULL), RS_OK);
  cr_expect(is_set("old") && is_rest_there() && is_text("o/notes.txt", "late") && is_text("o/plots/b.svg", "late"));
  expect_clean("recovered");
  remove_all("o");
  leaves(NULL, 0);
}

Test(folder, recover__temporaries__those_of_dead_processes_go) {
  char mine[64], dead[64];
  pid_t child = fork();
  if (child == 0) _exit(0);
  cr_assert_eq(waitpid(child, NULL, 0), child);
  make_old();
  snprintf(mine, sizeof mine, "o/.ropescope-%ld-0.tmp", (long)getpid());
  snprintf(dead, sizeof dead, "o/plots/.ropescope-%ld-3.tmp", (long)child);
  put(mine, "x");
  put(dead, "x");
  put("o/.ropescope-x.tmp", "x");
  const char *const ends[] = {"", "-1", "-1.tmpx", "-x.tmp", ".tmp"};
  char others[RS_COUNT(ends)][64];
  for (size_t i = 0; i < RS_COUNT(ends); i++) {
    snprintf(others[i], sizeof others[i], "o/.ropescope-%ld%s", (long)child, ends[i]);
    put(others[i], "x");
  }
  put("o/.ropescope--2147483000-1.tmp", "x"); /* no process has such a number, and a group of them is none */
  put("o/.ropescope-1-1.tmp", "x");
  cr_assert_eq(rs_folder_change_recover("o", is_own, NULL), RS_OK);
  for (size_t i = 0; i < RS_COUNT(ends); i++) cr_expect(is_text(others[i], "x"), "%s", others[i]);
  cr_expect(is_text("o/.ropescope--2147483000-1.tmp", "x") && is_text("o/.ropescope-1-1.tmp", "x"));
  cr_expect(is_text(mine, "x") && is_text(dead, "") && is_text("o/.ropescope-x.tmp", "x"));
  remove_all("o");
  leaves(NULL, 0);
}

/* ---- the lock ---------------------------------------------------------------------------------------------------- */

Test(folder, lock__held__another_process_is_refused_with_the_owner) {
  rs_folder_lock lock;
  char owner[64];
  int status;
  cr_assert_eq(mkdir("o", 0777), 0);
  cr_assert_eq(rs_folder_lock_take("o", &lock, NULL), RS_OK);
  snprintf(owner, sizeof owner, "o: process %ld is running", (long)getpid());
  pid_t child = fork();
  if (child == 0) {
    rs_folder_lock second;
    rs_err err = {0};
    bool busy = rs_folder_lock_take("o", &second, &err) == RS_BUSY && strstr(err.message, owner) != NULL;
    _exit(busy ? 0 : 1);
  }
  cr_assert_eq(waitpid(child, &status, 0), child);
  cr_expect_eq(status, 0);
  rs_folder_lock_drop(&lock);
  child = fork();
  if (child == 0) { /* dies with it */
    _exit(rs_folder_lock_take("o", &lock, NULL) == RS_OK ? 0 : 1);
  }
  cr_assert_eq(waitpid(child, &status, 0), child);
  cr_expect_eq(status, 0);
  cr_expect_eq(rs_folder_lock_take("o", &lock, NULL), RS_OK);
  rs_folder_lock_drop(&lock);
  rs_folder_lock_drop(&lock); /* what is not held is left */
  cr_expect_eq(lock.file, -1);
  remove_all("o");
  leaves(NULL, 0);
}

/* The lock is one of the file, whose links the new folder gets. */
Test(folder, lock__folder_exchanged__is_still_held) {
  rs_folder_lock lock, second;
  bool in_place;
  make_old();
  cr_assert_eq(rs_folder_lock_take("o", &lock, NULL), RS_OK);
  cr_assert_eq(change(&in_place, NULL), RS_OK);
  cr_expect_eq(rs_folder_lock_take("o", &second, NULL), RS_BUSY);
  rs_folder_lock_drop(&lock);
  remove_all("o");
  leaves(NULL, 0);
}

/* ---- what the manifest says -------------------------------------------------------------------------------------- */

static const char table_text[] = "cell,x\n0,1\n1,2\n";

static void make_results(void) {
  char sha[65], manifest[512];
  cr_assert_eq(mkdir("o", 0777), 0);
  rs_sha256_hex(table_text, strlen(table_text), sha);
  snprintf(manifest, sizeof manifest,
           "{\"contents\": [{\"file\": \"summary.csv\", \"bytes\": 15, \"sha256\": \"%s\", \"rows\": 2}]}", sha);
  put("o/manifest.json", manifest);
  put("o/summary.csv", table_text);
}

/* The byte count is checked by hand here: the texts below are what users read. */
Test(folder, results_read__another_file_than_the_manifest_says__is_refused) {
  static const struct {
    const char *text, *why;
  } cases[] = {
      {"cell,x\n0,1\n", "1 rows, not 2; 11 bytes, not 15 "},
      {"cell,x\n0,1\n1,3\n", "its SHA-256 is "},
      {"cell,x\n0,1\n1,\n", "14 bytes, not 15 "},
      {"", "0 bytes, not 15 "},
  };
  char *data;
  size_t length;
  make_results();
  cr_assert_eq(rs_results_read("o/summary.csv", 100, &data, &length, NULL), RS_OK);
  free(data);
  rs_err large = {0};
  cr_expect_eq(rs_results_read("o/summary.csv", length - 1, &data, &length, &large), RS_IO);
  cr_expect(data == NULL && large.unread && strstr(large.message, "are read (keep") != NULL, "%s", large.message);
  cr_assert_eq(rs_results_read("o/summary.csv", strlen(table_text), &data, &length, NULL), RS_OK);
  cr_expect_str_eq(data, table_text);
  free(data);
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_err err = {0};
    rs_text findings = {0};
    rs_folder_verdict verdict;
    put("o/summary.csv", cases[i].text);
    cr_expect_eq(rs_results_read("o/summary.csv", 100, &data, &length, &err), RS_INPUT);
    cr_expect(data == NULL && strncmp(err.message, "o/summary.csv is not what manifest.json says: ", 46) == 0 &&
                  strncmp(err.message + 46, cases[i].why, strlen(cases[i].why)) == 0,
              "%s", err.message);
    cr_expect_eq(rs_results_verify("o", &verdict, &findings, NULL), RS_OK);
    cr_expect(verdict.files == 1 && verdict.differing == 1 &&
                  strncmp(rs_text_string(&findings), "o/summary.csv: ", 15) == 0,
              "%s", rs_text_string(&findings));
    rs_text_clear(&findings);
  }
  put("o/other.csv", "anything"); /* the manifest does not know it */
  cr_expect_eq(rs_results_read("o/other.csv", 100, &data, &length, NULL), RS_OK);
  free(data);
  put("o/manifest.json", "{}"); /* of an older version */
  cr_expect_eq(rs_results_read("o/summary.csv", 100, &data, &length, NULL), RS_OK);
  free(data);
  remove_all("o");
  leaves(NULL, 0);
}

#define LIST "o/manifest.json: \"contents\" must be a list of objects with file (no path), bytes and sha256"

Test(folder, results_verify__what_cannot_be_checked) {
  static const struct {
    const char *manifest, *why;
  } cases[] = {
      {"{}", "o: there is nothing to check: its manifest.json has no sums of files (an older version wrote it)"},
      {"{\"contents\": 3}", LIST},
      {"{\"contents\": [{\"file\": \"a\", \"bytes\": \"x\", \"sha256\": \"\"}]}", LIST},
      {"{\"contents\": [{\"file\": \"../a\", \"bytes\": 1, \"sha256\": \"\"}]}", LIST},
  };
  rs_folder_verdict verdict;
  rs_text findings = {0};
  rs_err err = {0};
  cr_assert_eq(mkdir("o", 0777), 0);
  cr_expect_eq(rs_results_verify("o", &verdict, &findings, &err), RS_INPUT);
  cr_expect_str_eq(err.message, "o: there is nothing to check: it has no manifest.json");
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_err why = {0};
    put("o/manifest.json", cases[i].manifest);
    cr_expect_eq(rs_results_verify("o", &verdict, &findings, &why), RS_INPUT);
    cr_expect_str_eq(why.message, cases[i].why);
  }
  put("o/manifest.json", "{\"incomplete\": {\"cells\": 8, \"done\": 3}}");
  cr_expect_eq(rs_results_incomplete("o", &findings, NULL), RS_OK);
  cr_expect_str_eq(rs_text_string(&findings), "incomplete: 3 of 8 cells");
  rs_text_clear(&findings);
  remove_all("o");
  leaves(NULL, 0);
}
