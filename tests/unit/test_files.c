/* test_files.c: files read and written whole. The C library's read, write, fsync and rename are replaced below, so
 * that each of them can be made to fail. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../fixtures/scratch.h"
#include "../fixtures/trees.h"
#include "io/io.h"

/* ---- the C library, made to fail --------------------------------------------------------------------------------- */

static char calls[64];                     /* 'f' fsync, 'r' rename, in order */
static char renamed[128];                  /* from what name */
static int fsync_errors[2], rename_error;  /* errno to fail with; 0: the real call */
static bool trickle, interrupt, lose_file; /* a few bytes at a time; EINTR first; no descriptors after a rename */

static void note(char call) {
  size_t length = strlen(calls);
  if (length + 1 < sizeof calls) calls[length] = call;
}

static bool interrupted(void) {
  if (!interrupt) return false;
  interrupt = false;
  errno = EINTR;
  return true;
}

ssize_t read(int file, void *data, size_t length) {
  return interrupted() ? -1 : syscall(SYS_read, file, data, trickle && length > 8 ? 8 : length);
}

ssize_t write(int file, const void *data, size_t length) {
  return interrupted() ? -1 : syscall(SYS_write, file, data, trickle && length > 8 ? 8 : length);
}

int fsync(int file) {
  errno = fsync_errors[strchr(calls, 'r') != NULL];
  note('f');
  return errno ? -1 : (int)syscall(SYS_fsync, file);
}

/* Lowers a limit and returns what it was. */
static rlim_t limit(int resource, rlim_t value) {
  struct rlimit now;
  getrlimit(resource, &now);
  rlim_t before = now.rlim_cur;
  now.rlim_cur = value;
  setrlimit(resource, &now);
  return before;
}

int rename(const char *from, const char *to) {
  note('r');
  snprintf(renamed, sizeof renamed, "%s", from);
  errno = rename_error;
  int result = errno ? -1 : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
  if (lose_file) limit(RLIMIT_NOFILE, 0);
  return result;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

Test(io, file_read__what_cannot_be_read__says_why) {
  static const char *const cases[][2] = {
      {"/nowhere/x", "/nowhere/x: cannot read: No such file or directory"},
      {"/tmp", "/tmp: cannot read: Is a directory"},
      {"/dev/zero", "/dev/zero: cannot read: larger than 100000 bytes"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_err err = {0};
    char *data = scratch;
    size_t length = 1;
    fails_io(rs_file_read(cases[i][0], 100000, &data, &length, &err), &err, cases[i][1]);
    cr_assert_null(data);
    cr_assert_eq(length, 0);
  }
}

Test(io, file_read__sizes_and_limits__gives_all_or_refuses) {
  static const size_t sizes[] = {0, 1, 65534, 65535, 65536, 200000};
  enter_scratch();
  for (size_t i = 0; i < RS_COUNT(sizes); i++) {
    char *text = repeat("", "x", sizes[i], ""), *data;
    size_t length;
    rs_err err = {0};
    cr_assert_eq(rs_file_write("a", text, sizes[i], NULL), RS_OK);
    cr_assert_eq(rs_file_read("a", sizes[i], &data, &length, NULL), RS_OK);
    cr_assert_eq(length, sizes[i]);
    cr_assert_str_eq(data, text);
    free(data);
    free(text);
    if (sizes[i] > 0) cr_assert_eq(rs_file_read("a", sizes[i] - 1, &data, &length, &err), RS_IO);
  }
  leaves((const char *[]){"a"}, 1);
}

Test(io, file_read_and_write__short_and_interrupted__go_on) {
  enter_scratch();
  trickle = interrupt = true;
  cr_assert_eq(rs_file_write("a", "twenty-one characters", 21, NULL), RS_OK);
  cr_assert_not(interrupt);
  interrupt = true;
  holds("a", "twenty-one characters");
  cr_assert_not(interrupt);
  trickle = false;
  leaves((const char *[]){"a"}, 1);
}

Test(io, file_write__new_and_old__is_synced_then_renamed) {
  struct stat info;
  enter_scratch();
  umask(027);
  cr_assert_eq(rs_file_write("a", "old", 3, NULL), RS_OK);
  cr_assert_eq(rs_file_write("./a", "newer", 5, NULL), RS_OK);
  cr_assert_str_eq(calls, "frffrf");
  cr_assert_eq(stat("a", &info), 0);
  cr_assert_eq(info.st_mode & 0777, 0640);
  holds("a", "newer");
  leaves((const char *[]){"a"}, 1);
}

Test(io, file_write__full_disk__leaves_the_old_file) {
  enter_scratch();
  cr_assert_eq(rs_file_write("a", "old", 3, NULL), RS_OK);
  char *text = repeat("", "x", 10000, "");
  rs_err err = {0};
  signal(SIGXFSZ, SIG_IGN);
  rlim_t before = limit(RLIMIT_FSIZE, 4096);
  fails_io(rs_file_write("a", text, 10000, &err), &err, "a: cannot write: File too large");
  limit(RLIMIT_FSIZE, before);
  holds("a", "old");
  free(text);
  leaves((const char *[]){"a"}, 1);
}

Test(io, file_write__failing_calls__leave_the_old_file) {
  const struct {
    int first_sync, rename, second_sync;
    rs_status status;
    const char *message, *content;
  } cases[] = {
      {ENOSPC, 0, 0, RS_IO, "a: cannot write: No space left on device", "old"},
      {0, EXDEV, 0, RS_IO, "a: cannot write: Invalid cross-device link", "old"},
      {0, 0, EIO, RS_IO, ".: cannot write the directory: Input/output error", "new"},
      {0, 0, EINVAL, RS_OK, "", "new"},
      {0, 0, EACCES, RS_OK, "", "new"},
  };
  enter_scratch();
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_err err = {0};
    fsync_errors[0] = fsync_errors[1] = rename_error = 0;
    cr_assert_eq(rs_file_write("a", "old", 3, NULL), RS_OK);
    calls[0] = '\0';
    fsync_errors[0] = cases[i].first_sync;
    fsync_errors[1] = cases[i].second_sync;
    rename_error = cases[i].rename;
    cr_assert_eq(rs_file_write("a", "new", 3, &err), cases[i].status);
    cr_assert_str_eq(err.message, cases[i].message);
    holds("a", cases[i].content);
  }
  leaves((const char *[]){"a"}, 1);
}

Test(io, file_write__directory_that_cannot_be_opened__says_so) {
  enter_scratch();
  rs_err err = {0};
  rlim_t before = limit(RLIMIT_NOFILE, 256);
  lose_file = true;
  fails_io(rs_file_write("a", "x", 1, &err), &err, ".: cannot write the directory: Too many open files");
  limit(RLIMIT_NOFILE, before);
  leaves((const char *[]){"a"}, 1);
}

Test(io, file_write__targets_that_are_no_files__are_refused) {
  enter_scratch();
  cr_assert_eq(mkdir("d", 0777), 0);
  cr_assert_eq(mkfifo("p", 0666), 0);
  static const char *const cases[][2] = {{"d", "d: cannot write: not a regular file"},
                                         {"p", "p: cannot write: not a regular file"},
                                         {"x/y", "x/y: cannot write: No such file or directory"}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_err err = {0};
    fails_io(rs_file_write(cases[i][0], "x", 1, &err), &err, cases[i][1]);
  }
  leaves((const char *[]){"d", "p"}, 2);
}

Test(io, file_write__into_other_directories__puts_the_temporary_there) {
  char path[64];
  rs_err err = {0};
  snprintf(path, sizeof path, "/.ropescope-test-%ld", (long)getpid());
  rs_status status = rs_file_write(path, "x", 1, &err);
  if (status == RS_OK) cr_assert_eq(remove(path), 0);
  if (access("/", W_OK) == 0) cr_assert_eq(status, RS_OK, "%s", err.message);
  enter_scratch();
  cr_assert_eq(mkdir("d", 0777), 0);
  cr_assert_eq(rs_file_write("d/a", "x", 1, NULL), RS_OK);
  cr_assert_eq(strncmp(renamed, "d/.ropescope-", 13), 0, "%s", renamed);
  cr_assert_eq(chdir("d"), 0);
  holds("a", "x");
  cr_assert_eq(chdir(".."), 0);
  leaves((const char *[]){"d/a", "d"}, 2);
}

Test(io, file_write__temporary_names_taken__finds_another_or_gives_up) {
  enter_scratch();
  char name[64];
  rs_err err = {0};
  for (int i = 0; i < 100; i++) {
    snprintf(name, sizeof name, ".ropescope-%ld-%d.tmp", (long)getpid(), i);
    if (i == 99) cr_assert_eq(rs_file_write("a", "x", 1, NULL), RS_OK);
    close(open(name, O_CREAT | O_WRONLY, 0666));
  }
  fails_io(rs_file_write("a", "y", 1, &err), &err, "a: cannot write: File exists");
  holds("a", "x");
  for (int i = 0; i < 100; i++) {
    snprintf(name, sizeof name, ".ropescope-%ld-%d.tmp", (long)getpid(), i);
    cr_assert_eq(remove(name), 0);
  }
  leaves((const char *[]){"a"}, 1);
}

/* How many names the folder has while a file is filled. */
static rs_status count_names(rs_npy_file *file, void *content, rs_err *err) {
  DIR *folder = opendir(".");
  size_t *names = content;
  (void)err;
  RS_TRY(rs_npy_put(file, (const double[]){1}, 1));
  for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
    *names += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
  closedir(folder);
  return RS_OK;
}

/* A program that is killed there leaves nothing. */
Test(io, npy_fill__until_it_is_whole__has_no_name) {
  const rs_array one = {.rank = 1, .shape = {1}, .count = 1};
  size_t names = 0;
  enter_scratch();
  cr_assert_eq(rs_npy_fill("a", &one, true, count_names, &names, NULL), RS_OK);
  cr_expect_eq(access("a", R_OK), 0);
#ifdef O_TMPFILE
  cr_expect_eq(names, 0);
#endif
  leaves((const char *[]){"a"}, 1);
}

Test(io, make_directories__paths__makes_what_is_missing) {
  static const char *const good[] = {"a/b/c", "a/b/c", "d", "./e//f/", "/"};
  static const char *const bad[][2] = {{"x", "x: cannot make the directory: Not a directory"},
                                       {"x/y", "x: cannot make the directory: Not a directory"},
                                       {"", ": cannot make the directory: No such file or directory"}};
  enter_scratch();
  cr_assert_eq(rs_file_write("x", "", 0, NULL), RS_OK);
  for (size_t i = 0; i < RS_COUNT(good); i++) cr_assert_eq(rs_make_directories(good[i], NULL), RS_OK, "%s", good[i]);
  for (size_t i = 0; i < RS_COUNT(bad); i++) {
    rs_err err = {0};
    fails_io(rs_make_directories(bad[i][0], &err), &err, bad[i][1]);
  }
  char path[64];
  snprintf(path, sizeof path, "%s/g/h", scratch);
  cr_assert_eq(rs_make_directories(path, NULL), RS_OK);
  leaves((const char *[]){"a/b/c", "a/b", "a", "d", "e/f", "e", "x", "g/h", "g"}, 9);
}

Test(io, path_join__parts__has_one_slash) {
  static const char *const cases[][3] = {
      {"a", "b", "a/b"}, {"a/", "b", "a/b"}, {"/", "b", "/b"}, {"", "b", "b"}, {"a/b", "", "a/b/"}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char *path = rs_path_join(cases[i][0], cases[i][1], NULL);
    cr_assert_str_eq(path, cases[i][2]);
    free(path);
  }
}

Test(io, sha256_hex__fips_180_4_examples__agrees) {
  static const char *const cases[][2] = {{"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
                                         {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
                                         {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                                          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char hex[65];
    rs_sha256_hex(cases[i][0], strlen(cases[i][0]), hex);
    cr_assert_str_eq(hex, cases[i][1]);
  }
}

Test(io, sha256__of_parts_and_of_a_file__is_that_of_the_whole) {
  static char data[200000]; /* several blocks of the reader */
  char whole[65], hex[65];
  rs_err err = {0};
  enter_scratch();
  for (size_t i = 0; i < sizeof data; i++) data[i] = (char)(i * 7);
  rs_sha256_hex(data, sizeof data, whole);
  const rs_bytes parts[] = {{data, 1}, {NULL, 0}, {data + 1, 99}, {data + 100, sizeof data - 100}};
  rs_sha256_parts(parts, RS_COUNT(parts), hex);
  cr_expect_str_eq(hex, whole);
  cr_assert_eq(rs_file_write("data", data, sizeof data, NULL), RS_OK);
  interrupt = true;
  cr_assert_eq(rs_sha256_file("data", hex, &err), RS_OK, "%s", err.message);
  cr_expect_str_eq(hex, whole);
  fails_io(rs_sha256_file("none", hex, &err), &err, "none: cannot read: No such file or directory");
  err = (rs_err){0};
  fails_io(rs_sha256_file(".", hex, &err), &err, ".: cannot read: Is a directory");
  const char *const left[] = {"data"};
  leaves(left, RS_COUNT(left));
}
