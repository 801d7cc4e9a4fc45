/* plot.c: a folder of results, verified and drawn: manifest.json, summary.csv and decay.csv, with a form feed between
 * them. */
#include "fuzz.h"

#include <sys/stat.h>

#include "io/io.h"
#include "pages/pages.h"

static void draw(const rs_plot_options *options) {
  rs_plot_report report = {0};
  rs_err err = {0};
  fuzz_says_why(rs_plot_results("results", options, &report, &err), &err);
  rs_plot_report_clear(&report);
}

static void verify(void) {
  rs_folder_verdict verdict = {0};
  rs_text findings = {0}, words = {0};
  rs_err err = {0}, why = {0};
  fuzz_says_why(rs_results_verify("results", &verdict, &findings, &err), &err);
  LAW(verdict.differing <= verdict.files && (verdict.differing == 0) == (findings.length == 0));
  fuzz_says_why(rs_results_incomplete("results", &words, &why), &why);
  rs_text_clear(&findings);
  rs_text_clear(&words);
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
  verify();
  draw(NULL);
  draw(&(rs_plot_options){.all = true, .length = 32});
  free(manifest);
  return 0;
}
