/* A stand-in for Criterion, where its way to start a test does not work: it executes the test program once more, and
 * qemu's user mode starts no program of its guest. Here a test is a fork. As much of Criterion as our tests use, all of
 * it in this header: a program's files and fixtures share what is weak. A message's format is Criterion's to check. */
#ifndef ROPESCOPE_CRITERION_H
#define ROPESCOPE_CRITERION_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct plain_test {
  const char *suite, *name;
  void (*body)(void), (*init)(void), (*fini)(void);
  double timeout; /* not kept: emulation takes its time */
} plain_test;

enum { PLAIN_MOST = 200, PLAIN_SKIPPED = 77 };

#define PLAIN_SHARED __attribute__((weak))

PLAIN_SHARED plain_test plain_tests[PLAIN_MOST], plain_suite; /* a program has at most one suite with options */
PLAIN_SHARED size_t plain_count;
PLAIN_SHARED bool plain_failed;

static inline void plain_add(plain_test test) {
  if (plain_count == PLAIN_MOST) abort();
  plain_tests[plain_count++] = test;
}

#define Test(in, called, ...)                                                                                          \
  static void in##_##called(void);                                                                                     \
  __attribute__((constructor)) static void add_##in##_##called(void) {                                                 \
    plain_add((plain_test){.suite = #in, .name = #called, .body = in##_##called, __VA_ARGS__});                        \
  }                                                                                                                    \
  static void in##_##called(void)

#define TestSuite(called, ...)                                                                                         \
  __attribute__((constructor)) static void add_##called(void) {                                                        \
    plain_suite = (plain_test){.suite = #called, __VA_ARGS__};                                                         \
  }                                                                                                                    \
  _Static_assert(1, "takes a semicolon")

/* What failed, and the test's own words: a format and its arguments, of which the macros add one too many. */
static inline void plain_say(const char *file, int line, const char *what, ...) {
  va_list rest;
  va_start(rest, what);
  const char *format = va_arg(rest, const char *);
  printf("%s:%d: %s\n  ", file, line, what);
  vprintf(format, rest);
  printf("\n");
  va_end(rest);
  fflush(stdout);
  plain_failed = true;
}

#define PLAIN(good, ends, what, ...)                                                                                   \
  ((good) ? (void)0 : (plain_say(__FILE__, __LINE__, what, __VA_ARGS__), (ends) ? _exit(1) : (void)0))
#define PLAIN_TRUE(ends, a, ...) PLAIN(a, ends, #a, __VA_ARGS__)
#define PLAIN_FALSE(ends, a, ...) PLAIN(!(a), ends, "not " #a, __VA_ARGS__)
#define PLAIN_OF(ends, op, a, b, ...) PLAIN((a)op(b), ends, #a " " #op " " #b, __VA_ARGS__)
#define PLAIN_TEXT(ends, op, a, b, ...) PLAIN(strcmp(a, b) op 0, ends, #a " " #op " " #b, __VA_ARGS__)
#define PLAIN_BYTES(ends, a, b, size, ...) PLAIN(memcmp(a, b, size) == 0, ends, #a " == " #b, __VA_ARGS__)
#define PLAIN_NEAR(ends, a, b, slack, ...)                                                                             \
  PLAIN((a) - (b) <= (slack) && (b) - (a) <= (slack), ends, #a " is near " #b, __VA_ARGS__)

#define cr_assert(...) PLAIN_TRUE(true, __VA_ARGS__, "")
#define cr_assert_not(...) PLAIN_FALSE(true, __VA_ARGS__, "")
#define cr_assert_null(...) PLAIN_FALSE(true, __VA_ARGS__, "")
#define cr_assert_not_null(...) PLAIN_TRUE(true, __VA_ARGS__, "")
#define cr_assert_eq(...) PLAIN_OF(true, ==, __VA_ARGS__, "")
#define cr_assert_neq(...) PLAIN_OF(true, !=, __VA_ARGS__, "")
#define cr_assert_lt(...) PLAIN_OF(true, <, __VA_ARGS__, "")
#define cr_assert_leq(...) PLAIN_OF(true, <=, __VA_ARGS__, "")
#define cr_assert_gt(...) PLAIN_OF(true, >, __VA_ARGS__, "")
#define cr_assert_geq(...) PLAIN_OF(true, >=, __VA_ARGS__, "")
#define cr_assert_str_eq(...) PLAIN_TEXT(true, ==, __VA_ARGS__, "")
#define cr_assert_str_neq(...) PLAIN_TEXT(true, !=, __VA_ARGS__, "")
#define cr_assert_str_empty(...) PLAIN_TEXT(true, ==, "", __VA_ARGS__, "")
#define cr_assert_arr_eq(...) PLAIN_BYTES(true, __VA_ARGS__, "")
#define cr_assert_float_eq(...) PLAIN_NEAR(true, __VA_ARGS__, "")
#define cr_assert_fail(...) PLAIN(false, true, "failed", __VA_ARGS__, "")
#define cr_expect(...) PLAIN_TRUE(false, __VA_ARGS__, "")
#define cr_expect_not(...) PLAIN_FALSE(false, __VA_ARGS__, "")
#define cr_expect_null(...) PLAIN_FALSE(false, __VA_ARGS__, "")
#define cr_expect_not_null(...) PLAIN_TRUE(false, __VA_ARGS__, "")
#define cr_expect_eq(...) PLAIN_OF(false, ==, __VA_ARGS__, "")
#define cr_expect_neq(...) PLAIN_OF(false, !=, __VA_ARGS__, "")
#define cr_expect_lt(...) PLAIN_OF(false, <, __VA_ARGS__, "")
#define cr_expect_leq(...) PLAIN_OF(false, <=, __VA_ARGS__, "")
#define cr_expect_gt(...) PLAIN_OF(false, >, __VA_ARGS__, "")
#define cr_expect_geq(...) PLAIN_OF(false, >=, __VA_ARGS__, "")
#define cr_expect_str_eq(...) PLAIN_TEXT(false, ==, __VA_ARGS__, "")
#define cr_expect_str_neq(...) PLAIN_TEXT(false, !=, __VA_ARGS__, "")
#define cr_expect_str_empty(...) PLAIN_TEXT(false, ==, "", __VA_ARGS__, "")
#define cr_expect_arr_eq(...) PLAIN_BYTES(false, __VA_ARGS__, "")
#define cr_expect_float_eq(...) PLAIN_NEAR(false, __VA_ARGS__, "")
#define cr_skip(...) _exit(PLAIN_SKIPPED)
#define cr_skip_test(...) _exit(PLAIN_SKIPPED)
#define cr_log_info(...) ((void)0)

static inline void plain_run(const plain_test *test) {
  bool suite = plain_suite.suite != NULL && strcmp(plain_suite.suite, test->suite) == 0;
  if (suite && plain_suite.init != NULL) plain_suite.init();
  if (test->init != NULL) test->init();
  test->body();
  if (test->fini != NULL) test->fini();
  if (suite && plain_suite.fini != NULL) plain_suite.fini();
  _exit(plain_failed);
}

/* Runs those of the file's tests whose names contain an argument; all without one. */
PLAIN_SHARED int main(int count, char **arguments) {
  size_t failed = 0, skipped = 0, run = 0;
  for (size_t i = 0; i < plain_count; i++) {
    const plain_test *test = &plain_tests[i];
    int status = -1;
    if (count > 1 && strstr(test->name, arguments[1]) == NULL) continue;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) plain_run(test);
    if (child > 0) waitpid(child, &status, 0);
    run++;
    if (WIFEXITED(status) && WEXITSTATUS(status) == PLAIN_SKIPPED)
      skipped++;
    else if (status != 0) {
      printf("FAILED: %s %s (status %d)\n", test->suite, test->name, status);
      failed++;
    }
  }
  printf("%zu tests, %zu failed, %zu skipped\n", run, failed, skipped);
  return failed > 0 || run == 0;
}

#endif
