/* What the program says to a command line, for tests of commands. */
#ifndef ROPESCOPE_TESTS_SAY_H
#define ROPESCOPE_TESTS_SAY_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/base.h"

/* stdout and stderr together of `program`, as the shell reads it, followed by `arguments`; *status is the exit status,
 * 128 where a signal ended it. Release with free(). */
static inline char *say_line(const char *program, const char *arguments, int *status) {
  rs_text line = {0}, out = {0};
  char buffer[4096];
  cr_assert_not_null(getenv("ROPESCOPE"), "ROPESCOPE must name the program");
  rs_text_printf(&line, "%s %s 2>&1", program, arguments);
  FILE *pipe = popen(rs_text_string(&line), "r");
  cr_assert_not_null(pipe);
  for (size_t got; (got = fread(buffer, 1, sizeof buffer, pipe)) > 0;) rs_text_add(&out, buffer, got);
  int ended = pclose(pipe);
  *status = WIFEXITED(ended) ? WEXITSTATUS(ended) : 128;
  rs_text_clear(&line);
  return out.data != NULL ? out.data : strdup("");
}

#endif
