/* test_trained_manifest.c: what manifest.json says of checkpoints that a run has trained. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../fixtures/runs.h"

TestSuite(trained_manifest, .init = enter_folder, .fini = leave_folder);

#define TASK "task: {name: dictionary, keys: 4, values: 4, keys_in_use: 2, depths: [0, 0.5]}\nsequences: 6\n"
#define SHAPE "width: 16, blocks: 1, heads: 2"
#define TRAIN "train: {steps: 5, length: 16, sequences: 8, warmup: 2}"
#define PLAIN TASK "checkpoint: {method: rope, " SHAPE ", " TRAIN "}\n"

Test(trained_manifest, says_what_was_trained_and_read) {
  static const char *const parts[] = {"\"trained here, 5 steps at 16 tokens\"",
                                      "\"parts\": [\"filler\", \"key\"",
                                      "\"form\": \"decoder\",",
                                      "\"6 sequences a cell\"",
                                      "\"steps\": \"5\"",
                                      "\"width\": \"16\"",
                                      "\"stage\": \"task\"",
                                      "\"length_tokens\": 16,",
                                      "\"nats\": "};
  run(PLAIN "lengths: [16]\nseeds: 1\nmetrics: [loss]\n", "o");
  /* Embeddings and output, one block, three norms; 1 + 8 + 4 + 4 tokens. */
  const size_t numbers = 2 * 17 * 16 + 4 * 16 * 16 + 2 * 16 * 64 + 3 * 16;
  size_t length;
  char *manifest = read_path("o", "manifest.json", &length), words[64];
  for (size_t i = 0; i < RS_COUNT(parts); i++) cr_expect_not_null(strstr(manifest, parts[i]), "%s", parts[i]);
  snprintf(words, sizeof words, "\"parameters\": %zu,", numbers);
  cr_expect_not_null(strstr(manifest, words), "%s is not in %s", words, manifest);
  snprintf(words, sizeof words, "\"%zu parameters\"", numbers);
  cr_expect_not_null(strstr(manifest, words), "%s", words);
  cr_expect_null(strstr(manifest, "grids"));
  free(manifest);
}

/* The processor is one that Linux names, without what stands before its name. */
Test(trained_manifest, says_the_processor_as_linux_has_it) {
  char line[4096], name[128] = "unknown", words[160];
  size_t length;
  FILE *info = fopen("/proc/cpuinfo", "r");
  while (info != NULL && fgets(line, sizeof line, info) != NULL)
    if (sscanf(line, "model name : %127[^\n]", name) == 1) break;
  if (info != NULL) fclose(info);
  run(PLAIN "lengths: [16]\nseeds: 1\nmetrics: [loss]\n", "o");
  char *manifest = read_path("o", "manifest.json", &length);
  snprintf(words, sizeof words, "\"cpu\": \"%s\",", name);
  cr_expect_not_null(strstr(manifest, words), "%s", words);
  free(manifest);
}

/* 60 bytes held out are five windows of ten, and the byte behind them. */
Test(trained_manifest, says_where_a_text_has_fewer_windows) {
  static const struct {
    int sequences;
    const char *words;
  } cases[] = {{5, "\"5 sequences a cell\""}, {6, "\"up to 6 sequences a cell\""}};
  char bytes[240], yaml[400];
  for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (char)('a' + i % 7);
  cr_assert_eq(rs_file_write("text", bytes, sizeof bytes, NULL), RS_OK);
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    size_t length;
    snprintf(yaml, sizeof yaml,
             "task: {name: bytes, file: text, share: 0.25}\ncheckpoint: {method: rope, " SHAPE ", " TRAIN "}\nlengths: "
             "[10]\nsequences: %d\nmetrics: [loss]\n",
             cases[i].sequences);
    run(yaml, "o");
    char *manifest = read_path("o", "manifest.json", &length);
    cr_expect_not_null(strstr(manifest, cases[i].words), "%s", manifest);
    free(manifest);
  }
}

Test(trained_manifest, says_grids_of_images_and_films) {
  static const struct {
    const char *task, *name, *words[3];
  } cases[] = {
      {"{name: where}", "i", {"trained here, 5 steps at 4 \u00d7 4 patches", "\"frames\": 1,", "\"rows\": 5,"}},
      {"{name: film, side: 2}",
       "f",
       {"trained here, 5 steps at 4 frames of 2 \u00d7 2 patches", "\"frames\": 6,", "\"columns\": 2"}},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char config[400];
    size_t length;
    snprintf(config, sizeof config,
             "checkpoint: {method: nope, " SHAPE ", train: {steps: 5, length: 16, sequences: 2}}\ntask: %s\n"
             "sequences: 4\nlengths: [16, %s]\nseeds: 1\nmetrics: [loss]\n",
             cases[i].task, i == 0 ? "25, 26" : "24, 26");
    run(config, cases[i].name);
    char *manifest = read_path(cases[i].name, "manifest.json", &length);
    for (size_t k = 0; k < 3; k++)
      cr_expect_not_null(strstr(manifest, cases[i].words[k]), "%s is not in %s", cases[i].words[k], manifest);
    cr_expect_null(strstr(strstr(manifest, "\"grids\""), "\"length_tokens\": 26"), "no grid");
    free(manifest);
  }
}
