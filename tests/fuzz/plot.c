/* plot.c: a folder of results, drawn: manifest.json, summary.csv and decay.csv, with a form feed between them. */
#include "fuzz.h"

#include <sys/stat.h>

#include "ropescope/plot.h"

static void draw(const rs_plot_options *options) {
  rs_plot_report report = {0};
  rs_err err = {0};
  fuzz_says_why(rs_plot_results("results", options, &report, &err), &err);
  rs_plot_report_clear(&report);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static bool ready;
  char *manifest = fuzz_text(data, size), *summary = fuzz_rest(manifest, '\f'), *decay = fuzz_rest(summary, '\f');
  if (!ready) {
    fuzz_file("here", "", 0);
    LAW(mkdir("results", 0700) == 0);
  }
  ready = true;
  fuzz_file("results/manifest.json", manifest, strlen(manifest));
  fuzz_file("results/summary.csv", summary, strlen(summary));
  fuzz_file("results/decay.csv", decay, strlen(decay));
  draw(NULL);
  draw(&(rs_plot_options){.all = true, .length = 32});
  free(manifest);
  return 0;
}
