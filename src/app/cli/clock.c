/* A clock for commands that answer at once, as a rule: where one does not, a terminal shows from the second second on
 * that it is at work, and for how long. It goes when the command says its first word. */
#include "cli.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

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
