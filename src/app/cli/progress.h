/* What a run shows of its progress. Private to the commands. */
#ifndef ROPESCOPE_CLI_PROGRESS_H
#define ROPESCOPE_CLI_PROGRESS_H

#include "sweep/sweep.h"

typedef struct cli_progress {
  bool terminal; /* a line that is written over; else lines, for logs */
  double shown;  /* seconds since the start at the last line of a log */
  int permille;  /* last shown on a terminal; -1: none yet */
} cli_progress;

/* What is to be written when `share` of the work is done `seconds` after the start: a text in `line` (size), or false.
 * `doing` is what the run is at, "" for nothing to be told. The time that is left stands in it once it can be told. */
bool cli_progress_line(cli_progress *progress, double seconds, double share, size_t done, size_t cells,
                       const char *doing, char *line, size_t size);

enum { CLI_DURATION = 24, CLI_DOING = 96 };

/* "rope 350/1000, loss 2.41, 88k tok/s", in few letters: the line must not be wrapped. "" behind the last step. */
void cli_training(const rs_training_report *report, char out[CLI_DOING]);

/* "1:23" (hours and minutes, rounded up), or "under a minute". */
void cli_duration(double seconds, char out[CLI_DURATION]);

#endif
