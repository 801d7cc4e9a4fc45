/* Rows of attention of published models' own heads against transformers' attention probabilities: soft caps, learned
 * sinks, windows, biases and scales are all in them. */
#include <stdlib.h>
#include <unistd.h>

#include "../fixtures/models.h"
#include "../fixtures/runs.h"
#include "../golden.h"

TestSuite(golden_rows, .init = enter_folder, .fini = leave_folder);

static rs_array read_array(const char *model, const char *file) {
  char path[64];
  rs_array array;
  snprintf(path, sizeof path, "%s/%s", model, file);
  cr_assert_eq(rs_npy_read(model_path(path), &array, NULL), RS_OK, "%s", path);
  return array;
}

/* One token more than the model read, whose loss nobody asks for, as 16-bit numbers. */
static size_t write_tokens(const char *model) {
  rs_array ids = read_array(model, "tokens.npy");
  size_t length = ids.shape[ids.rank - 1];
  char *bytes = calloc(length + 1, 2);
  for (size_t i = 0; i < length; i++) {
    unsigned id = (unsigned)ids.numbers[i];
    bytes[2 * i] = (char)(id & 255);
    bytes[2 * i + 1] = (char)(id >> 8);
  }
  cr_assert_eq(rs_file_write("tokens.bin", bytes, 2 * (length + 1), NULL), RS_OK);
  rs_array_clear(&ids);
  free(bytes);
  return length;
}

/* Every layer's and head's weights of the last query, a bin for each distance. */
static void check_model(const char *model, double least_sink) {
  char yaml[8192];
  size_t length = write_tokens(model), compared = 0;
  snprintf(yaml, sizeof yaml,
           "checkpoint: {folder: %s, precision: f64}\ntask: {name: tokens, file: tokens.bin}\nmethods: "
           "[trained]\nlengths: [%zu]\nbaselines: none\n"
           "sequences: 1\nqueries: {last: 1}\nengine: {scores: f64, epsilon: 0}\nbins_per_octave: 64\n"
           "sources: [{name: model, label: '0', layer: 0, head: each}, {name: model, label: '1', layer: 1, head: "
           "each}]\nmetrics: [distance_mass, {name: segment_mass, local: 16}]\n",
           model_path(model), length);
  cr_assert_eq(run(yaml, model).failed, 0, "%s", model);
  rs_array want = read_array(model, "attn_lastrow.npy");
  rs_table *bins = read_table(model, "distance_mass.csv"), *summary = read_table(model, "summary.csv");
  for (size_t i = 0; i < bins->rows; i++) {
    size_t layer = golden_size(bins, i, "source"), head = golden_size(bins, i, "heads");
    size_t distance = golden_size(bins, i, "distance_tokens");
    double weight = want.numbers[(layer * want.shape[1] + head) * length + length - 1 - distance];
    cr_assert_float_eq(golden_number(bins, i, "weight"), weight, 1e-12, "%s, layer %zu, head %zu, %zu back", model,
                       layer, head, distance);
    compared++;
  }
  cr_expect_eq(compared, want.count, "%s", model);
  double most = 0;
  for (size_t i = 0; i < summary->rows; i++) most = fmax(most, golden_number(summary, i, "learned_sink_mass"));
  cr_expect(least_sink > 0 ? most >= least_sink : most == 0, "%s: sinks take %g", model, most);
  rs_table_free(bins);
  rs_table_free(summary);
  rs_array_clear(&want);
}

Test(golden_rows, last_query__of_every_layer_and_head__has_the_model_s_weights) {
  check_model("gemma2", 0);
  check_model("gpt_oss", 0.1);
  check_model("llama", 0);
  check_model("mpt", 0);
}
