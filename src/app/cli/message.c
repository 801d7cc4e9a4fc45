/* What the program says: errors and notes on stderr, data on stdout. */
#include "cli.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MESSAGE = 4096 }; /* bytes of the longest */

/* ---- a clock ----------------------------------------------------------------------------------------------------- */

/* For commands that answer at once, as a rule: where one does not, a terminal shows from the second second on that it
 * is at work, and for how long. It goes when the command says its first word. */
static struct {
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t word; /* the command has something to say */
  const char *name;    /* of the command */
  bool goes, ended;
} terminal_clock = {.lock = PTHREAD_MUTEX_INITIALIZER, .word = PTHREAD_COND_INITIALIZER};

static void *tick(void *context) {
  struct timespec next;
  bool shown = false;
  (void)context;
  clock_gettime(CLOCK_REALTIME, &next);
  (void)pthread_mutex_lock(&terminal_clock.lock);
  for (unsigned seconds = 1; !terminal_clock.ended; seconds++) {
    next.tv_sec++;
    while (!terminal_clock.ended && pthread_cond_timedwait(&terminal_clock.word, &terminal_clock.lock, &next) == 0)
      continue;
    if (terminal_clock.ended) break;
    shown = true;
    fprintf(stderr, "\r%s: %u s, Ctrl-C ends it\033[K", terminal_clock.name, seconds);
  }
  if (shown) fputs("\r\033[K", stderr);
  (void)pthread_mutex_unlock(&terminal_clock.lock);
  return NULL;
}

void cli_clock_begin(const char *name) {
  if (!isatty(STDERR_FILENO)) return;
  terminal_clock.name = name;
  terminal_clock.goes = pthread_create(&terminal_clock.thread, NULL, tick, NULL) == 0;
}

void cli_clock_end(void) {
  if (!terminal_clock.goes) return;
  (void)pthread_mutex_lock(&terminal_clock.lock);
  terminal_clock.ended = true;
  (void)pthread_cond_signal(&terminal_clock.word);
  (void)pthread_mutex_unlock(&terminal_clock.lock);
  (void)pthread_join(terminal_clock.thread, NULL);
  terminal_clock.goes = false;
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

int cli_error(const char *format, ...) {
  char shown[MESSAGE];
  va_list words;
  const char *no_color = getenv("NO_COLOR"); /* the user's wish (no-color.org) */
  bool colour = isatty(STDERR_FILENO) && (no_color == NULL || *no_color == '\0');
  va_start(words, format);
  rs_message_print(shown, sizeof shown, strcmp(format, "%s") == 0, format, words);
  va_end(words);
  cli_clock_end();
  fprintf(stderr, "%s%s\n", colour ? "\033[1;31mropescope:\033[0m " : "ropescope: ", shown);
  return CLI_USAGE;
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
  RS_OWNED(rs_text) list = {0};
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

int cli_put(rs_text *text, cli_form form) {
  cli_clock_end();
  if (form == CLI_TEXT) rs_text_spell(text, 0, "\n\t");
  bool written =
      !text->failed && fwrite(rs_text_string(text), 1, text->length, stdout) == text->length && fflush(stdout) == 0;
  if (!written) cli_error("cannot write to standard output: %s", text->failed ? "out of memory" : strerror(errno));
  rs_text_clear(text);
  return written ? CLI_OK : CLI_FAILED;
}

int cli_answer(rs_status status, const rs_err *err, rs_text *text, cli_form form) {
  if (status == RS_OK) return cli_put(text, form);
  rs_text_clear(text);
  return cli_fail(status, NULL, err);
}

const char *cli_recipe(rs_doc *in, const rs_recipe *recipe) {
  rs_text text = {0};
  rs_recipe_write(recipe, &text);
  return rs_doc_keep(in, &text);
}

double cli_mebibytes(double bytes) {
  return ceil(bytes / 1048576);
}

void cli_put_baselines(const rs_experiment *experiment, rs_text *text) {
  bool any = false;
  for (size_t i = 0; i < RS_BASELINES; i++) {
    size_t method = rs_experiment_baseline(experiment, (rs_baseline)i);
    if (method == RS_NO_COUNT) continue;
    const rs_variant *variant = &experiment->methods.items[method];
    rs_text_printf(text, "%s%s", any ? ", " : "", rs_baseline_words[i]);
    if (!variant->added) rs_text_printf(text, " (as %s)", variant->label);
    any = true;
  }
  if (!any) rs_text_puts(text, "none");
}

/* Old configs had sequences of each length, and no baselines. */
static void note_targets(const cli_options *options, const rs_experiment *experiment) {
  const rs_same_targets *same = &experiment->targets;
  bool chosen = experiment->targets_chosen && experiment->baselines_chosen;
  rs_text baselines = {0};
  if (experiment->own_targets != NULL && experiment->task.task->crop != RS_CROP_NEVER)
    cli_note(options, "each length scores targets of its own: %s", experiment->own_targets);
  if (same->longest == 0 || chosen) return;
  if (!experiment->baselines_chosen) rs_text_puts(&baselines, ", beside the baselines ");
  if (!experiment->baselines_chosen) cli_put_baselines(experiment, &baselines);
  cli_note(options,
           "every length scores the last %zu token%s of sequences of %zu%s (targets: per_length and baselines: none "
           "restore what each length had before)",
           same->tokens, same->tokens > 1 ? "s" : "", same->longest, rs_text_string(&baselines));
  rs_text_clear(&baselines);
}

void cli_warn(const cli_options *options, const rs_experiment *experiment) {
  RS_OWNED(rs_text) lines = {0};
  note_targets(options, experiment);
  if (rs_experiment_warnings(experiment, &lines, NULL) == RS_OK)
    for (const char *line = rs_text_string(&lines), *end; (end = strchr(line, '\n')) != NULL; line = end + 1)
      cli_note(options, "warning: %.*s", (int)(end - line), line);
}
