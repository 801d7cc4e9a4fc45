/* Progress of a run: on a terminal one line that is written over, elsewhere (nohup, Slurm) a line every half minute. */
#include "cli.h"

#include <math.h>
#include <stdio.h>

static const double log_interval = 30; /* seconds */

/* Before these, what is left is a guess. */
static const double least_seconds = 3, least_share = 0.01;

void cli_duration(double seconds, char out[CLI_DURATION]) {
  double minutes = ceil(fmin(seconds, 1e9) / 60);
  if (seconds < 60)
    snprintf(out, CLI_DURATION, "under a minute");
  else
    snprintf(out, CLI_DURATION, "%.0f:%02.0f", floor(minutes / 60), fmod(minutes, 60));
}

void cli_put_duration(double seconds, rs_text *text) {
  char duration[CLI_DURATION];
  cli_duration(seconds, duration);
  if (seconds < 60)
    rs_text_printf(text, "about %.2g s", seconds);
  else
    rs_text_printf(text, "about %s (hours:minutes)", duration);
}

void cli_training(const rs_training_report *report, char out[CLI_DOING]) {
  enum { NAME = 16 };
  double rate = report->tokens_per_second;
  bool thousands = rate >= 9999.5;
  out[0] = '\0';
  if (report->step == report->steps) return;
  rs_message(out, CLI_DOING, "%.*s%s %zu/%zu, loss %.3g, %.0f%s tok/s", (int)rs_utf8_cut(report->checkpoint, NAME),
             report->checkpoint, report->tuning ? " tuned" : "", report->step, report->steps, report->loss,
             thousands ? rate / 1000 : rate, thousands ? "k" : "");
}

/* Whether anything new is to be shown. */
static bool is_due(cli_progress *progress, double seconds, double share) {
  int permille = (int)floor(1000 * share);
  if (progress->terminal) {
    bool moved = permille != progress->permille;
    progress->permille = permille;
    return moved;
  }
  if (seconds - progress->shown < log_interval) return false;
  progress->shown = seconds;
  return true;
}

bool cli_progress_line(cli_progress *progress, double seconds, double share, size_t done, size_t cells,
                       const char *doing, char *line, size_t size) {
  char left[CLI_DURATION + 8] = "", duration[CLI_DURATION];
  if (!is_due(progress, seconds, share)) return false;
  if (seconds >= least_seconds && share >= least_share) {
    cli_duration(seconds * (1 - share) / share, duration);
    snprintf(left, sizeof left, ", %s left", duration);
  }
  const char *format =
      progress->terminal ? "\r%5.1f %%, %zu of %zu cells%s%s%s\033[K" : "%.1f %%, %zu of %zu cells%s%s%s\n";
  snprintf(line, size, format, 100 * share, done, cells, *doing != '\0' ? ", " : "", doing, left);
  return true;
}
