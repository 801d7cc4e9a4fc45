/* Signals while a model is trained. */
#include "cli.h"

#include <signal.h>

static const int caught_signals[] = {SIGINT, SIGTERM};
static struct sigaction before[RS_COUNT(caught_signals)];
static volatile sig_atomic_t noted;
static bool heard; /* somebody has asked */

static void note(int signal_number) {
  noted = signal_number;
}

/* One that is ignored (nohup, a shell's background job) stays so. */
void cli_catch_signals(void *context) {
  (void)context;
  for (size_t i = 0; i < RS_COUNT(caught_signals); i++) {
    struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESETHAND | SA_RESTART};
    (void)sigaction(caught_signals[i], NULL, &before[i]);
    if (before[i].sa_handler != SIG_IGN) (void)sigaction(caught_signals[i], &action, NULL);
  }
}

/* A signal that came behind the last step ends the program now: the model is in its folder. */
void cli_release_signals(void *context) {
  (void)context;
  for (size_t i = 0; i < RS_COUNT(caught_signals); i++) (void)sigaction(caught_signals[i], &before[i], NULL);
  if (noted != 0 && !heard) (void)raise(noted);
}

int cli_signal(void) {
  heard = noted != 0;
  return noted;
}
