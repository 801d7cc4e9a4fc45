/* What the program says: errors and notes on stderr, data on stdout. */
#include "cli.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MESSAGE = 4096 }; /* bytes of the longest */

/* Colour only on a terminal, and not against the user's wish (no-color.org). */
static bool coloured(void) {
  const char *no_color = getenv("NO_COLOR");
  return isatty(STDERR_FILENO) && (no_color == NULL || *no_color == '\0');
}

void cli_error(const char *format, ...) {
  char shown[MESSAGE];
  va_list words;
  bool colour = coloured();
  va_start(words, format);
  rs_message_print(shown, sizeof shown, strcmp(format, "%s") == 0, format, words);
  va_end(words);
  cli_clock_end();
  fprintf(stderr, "%s%s\n", colour ? "\033[1;31mropescope:\033[0m " : "ropescope: ", shown);
}

void cli_note(const cli_options *options, const char *format, ...) {
  char shown[MESSAGE];
  va_list words;
  if (options->quiet) return;
  va_start(words, format);
  rs_message_print(shown, sizeof shown, false, format, words);
  va_end(words);
  cli_clock_end();
  fprintf(stderr, "%s\n", shown);
}

int cli_choose(const char *what, const char *word, const char *const *words) {
  size_t count = 0;
  rs_text list = {0};
  for (; words[count] != NULL; count++)
    if (word != NULL && strcmp(words[count], word) == 0) return (int)count;
  for (size_t i = 0; i < count; i++)
    rs_text_printf(&list, "%s%s", i == 0 ? "" : i + 1 < count ? ", " : word != NULL ? " and " : " or ", words[i]);
  const char *near = word != NULL ? rs_suggest(word, words, count) : NULL;
  if (word == NULL)
    cli_error("a %s is missing: %s", what, rs_text_string(&list));
  else if (near != NULL)
    cli_error("no %s %s (did you mean %s?)", what, word, near);
  else
    cli_error("no %s %s (there are %s)", what, word, rs_text_string(&list));
  rs_text_clear(&list);
  return -1;
}

int cli_fail(rs_status status, const rs_problems *problems, const rs_err *err) {
  cli_clock_end();
  if (problems != NULL && problems->count > 0) fprintf(stderr, "%s\n", rs_text_string(&problems->text));
  if (*err->subject != '\0')
    cli_error("%s: %s", err->subject, err->message);
  else
    cli_error("%s", err->message);
  if (status == RS_BUSY) return CLI_BUSY;
  bool input =
      status == RS_INPUT || status == RS_DOMAIN || status == RS_UNSUPPORTED || (status == RS_IO && err->unread);
  return input ? CLI_USAGE : CLI_FAILED;
}

void cli_wrap(rs_text *text, size_t column, size_t indent, size_t width, const char *words) {
  bool begun = false; /* this line has a word of these */
  for (words += strspn(words, " \n"); *words != '\0'; words += strspn(words, " \n")) {
    size_t length = strcspn(words, " \n");
    if (begun && column + 1 + length > width) {
      rs_text_printf(text, "\n%*s", (int)indent, "");
      column = indent;
      begun = false;
    }
    rs_text_printf(text, "%s%.*s", begun ? " " : "", (int)length, words);
    column += length + begun;
    begun = true;
    words += length;
  }
}

bool cli_put(rs_text *text, cli_form form) {
  cli_clock_end();
  if (form == CLI_TEXT) rs_text_spell(text, 0, "\n\t");
  bool written =
      !text->failed && fwrite(rs_text_string(text), 1, text->length, stdout) == text->length && fflush(stdout) == 0;
  if (!written) cli_error("cannot write to standard output: %s", text->failed ? "out of memory" : strerror(errno));
  rs_text_clear(text);
  return written;
}

double cli_mebibytes(double bytes) {
  return ceil(bytes / 1048576);
}

void cli_warn(const cli_options *options, const rs_experiment *experiment) {
  rs_text lines = {0};
  if (rs_experiment_warnings(experiment, &lines, NULL) == RS_OK)
    for (const char *line = rs_text_string(&lines), *end; (end = strchr(line, '\n')) != NULL; line = end + 1)
      cli_note(options, "warning: %.*s", (int)(end - line), line);
  rs_text_clear(&lines);
}
