/* Signals while a run is on. */
#include "cli.h"

#include <signal.h>
#include <unistd.h>

static const int caught_signals[] = {SIGINT, SIGTERM};
static struct sigaction before[RS_COUNT(caught_signals)];
static volatile sig_atomic_t noted, heard, told; /* heard: somebody has asked; told: it is to be said */

static void note(int signal_number) {
  static const char words[] = "\nropescope: ending with what is done (again: at once)\n";
  noted = signal_number;
  if (told) (void)!write(STDERR_FILENO, words, sizeof words - 1);
}

/* One that is ignored (nohup, a shell's background job) stays so. */
void cli_catch_signals(bool quiet) {
  told = !quiet && isatty(STDERR_FILENO);
  for (size_t i = 0; i < RS_COUNT(caught_signals); i++) {
    struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESETHAND | SA_RESTART};
    (void)sigaction(caught_signals[i], NULL, &before[i]);
    if (before[i].sa_handler != SIG_IGN) (void)sigaction(caught_signals[i], &action, NULL);
  }
}

/* A signal that nobody has acted on ends the program now: all that is done is in its folder. */
void cli_release_signals(void) {
  for (size_t i = 0; i < RS_COUNT(caught_signals); i++) (void)sigaction(caught_signals[i], &before[i], NULL);
  if (noted != 0 && !heard) (void)raise(noted);
}

int cli_signal(void) {
  if (noted != 0) heard = 1;
  return noted;
}
