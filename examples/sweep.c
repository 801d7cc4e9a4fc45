/* A sweep in memory: no folder is written, and its columns are read where they are. */
#include <ropescope.h>

#include <stdio.h>

static const char config[] = "name: in_memory\n"
                             "model: llama-2-7b\n"
                             "methods: [rope, {name: yarn, factor: [2, 4]}]\n"
                             "lengths: [4k, 8k]\n"
                             "metrics: [ood_angles]\n";

int main(void) {
  ropescope_results *results = NULL;
  ropescope_error *error = NULL;
  if (ropescope_run(NULL, config, "in_memory", NULL, &results, &error) != ROPESCOPE_OK) {
    fprintf(stderr, "%s\n", ropescope_error_message(error));
    ropescope_error_free(error);
    return 1;
  }
  const ropescope_frame *summary = ropescope_results_frame(results, "summary.csv");
  size_t method = ropescope_frame_find(summary, "method"), length = ropescope_frame_find(summary, "length_tokens"),
         pairs = ropescope_frame_find(summary, "ood_pairs");
  for (size_t row = 0; row < ropescope_frame_rows(summary); row++)
    printf("%s\t%s\t%g\n", ropescope_frame_text(summary, row, method), ropescope_frame_text(summary, row, length),
           ropescope_frame_number(summary, row, pairs));
  ropescope_results_free(results);
  return 0;
}
