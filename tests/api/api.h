/* What the tests of the public interface share: they see ropescope.h and the shared library alone. */
#ifndef ROPESCOPE_TESTS_API_H
#define ROPESCOPE_TESTS_API_H

#include <criterion/criterion.h>
#include <ropescope.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GOOD(call)                                                                                                     \
  do {                                                                                                                 \
    ropescope_error *error = NULL;                                                                                     \
    ropescope_status good_status = (call);                                                                             \
    cr_assert(good_status == ROPESCOPE_OK && error == NULL, "%s", ropescope_error_message(error));                     \
  } while (0)

/* The call (which takes &error) fails so; `error` is then there to be looked at and freed. */
#define FAILS(call, wanted)                                                                                            \
  ropescope_error *error = NULL;                                                                                       \
  cr_assert_eq((call), (wanted));                                                                                      \
  cr_assert_eq(ropescope_error_status(error), (wanted))

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* The error is the member's, and says the words; it is freed. */
static inline void is_told(ropescope_error *error, const char *subject, const char *words) {
  cr_expect_str_eq(ropescope_error_subject(error), subject, "%s", ropescope_error_message(error));
  cr_expect_not_null(strstr(ropescope_error_message(error), words), "%s, not: %s", ropescope_error_message(error),
                     words);
  ropescope_error_free(error);
}

/* A recipe on a preset, or on `text` where that is given. */
static inline ropescope_recipe *make_recipe(const char *preset, const char *text, const char *method, size_t length) {
  const ropescope_recipe_source source = {
      .size = sizeof source, .preset = preset, .text = text, .method = method, .length = length};
  ropescope_recipe *recipe = NULL;
  GOOD(ropescope_recipe_create(NULL, &source, &recipe, &error));
  return recipe;
}

/* What the program prints. Release with free(). */
static inline char *program_says(const char *arguments) {
  char line[4096];
  snprintf(line, sizeof line, "'%s' %s 2>/dev/null", getenv("ROPESCOPE"), arguments);
  FILE *pipe = popen(line, "r");
  char *text = calloc(1 << 20, 1);
  cr_assert(pipe != NULL && text != NULL);
  size_t length = fread(text, 1, (1 << 20) - 1, pipe);
  cr_assert_eq(pclose(pipe), 0, "%s", line);
  cr_assert_gt(length, 0);
  return text;
}

#endif
