/* fuzz.h: what the targets share. A target is one function that takes any bytes; libFuzzer searches for bytes that stop
 * it (docs/testing.md), and replay.c gives it those of its corpus. */
#ifndef ROPESCOPE_TESTS_FUZZ_H
#define ROPESCOPE_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

/* Returns 0; a finding ends the program. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What must be so, whatever the input. */
#define LAW(condition)                                                                                                 \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                                  \
      abort();                                                                                                         \
    }                                                                                                                  \
  } while (0)

/* A call that may fail says why, by its status and in one message. */
void fuzz_says_why(rs_status status, const rs_err *err);

/* The bytes as a text. Release with free(). */
char *fuzz_text(const uint8_t *data, size_t size);

/* Cuts the first part off a text, up to the mark (which it ends there) or the end: returns the rest. */
char *fuzz_rest(char *text, char mark);

/* Writes `name` in this process's own folder, which is the working folder and is removed at the end. */
void fuzz_file(const char *name, const void *data, size_t size);

#endif
