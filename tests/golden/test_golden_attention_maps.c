/* Attention of published models, every weight of every head, against transformers' output_attentions in double
 * precision, and its rollout against numpy (models/outputs.py): a Llama, a gpt-oss, whose learned sinks take a part of
 * each row, a Gemma-2 with its scale of scores, caps and windows, an MPT with ALiBi, and what sees both ways, a BERT
 * and a ViT. Then the same numbers as a run writes them. */
#include <stdlib.h>
#include <unistd.h>

#include "../fixtures/models.h"
#include "../fixtures/runs.h"
#include "../golden.h"
#include "config/config.h"
#include "hf/hf.h"

TestSuite(golden_maps, .init = enter_folder, .fini = leave_folder);

enum { TOKENS = 16, SIDE = 8, PATCHES = 16, CHANNELS = 3, IMAGE = 32 };

static rs_array read_array(const char *model, const char *file) {
  char path[64];
  rs_array array;
  snprintf(path, sizeof path, "%s/%s", model, file);
  cr_assert_eq(rs_npy_read(model_path(path), &array, NULL), RS_OK, "%s", path);
  return array;
}

static rs_transformer *load(const char *model) {
  rs_hf_checkpoint checkpoint;
  rs_transformer *transformer;
  cr_assert_eq(rs_hf_checkpoint_read(model_path(model), &checkpoint, NULL), RS_OK);
  cr_assert_eq(rs_hf_checkpoint_load(&checkpoint, model_path(model), RS_F64, false, &transformer, NULL), RS_OK);
  rs_hf_checkpoint_clear(&checkpoint);
  return transformer;
}

/* The first tokens of a text, or one image; release both arrays with free(). */
static rs_reader_in input_of(const char *model, int32_t **tokens, float **patches) {
  bool vision = strcmp(model, "vit") == 0;
  rs_array from = read_array(model, vision ? "pixel_values.npy" : "tokens.npy");
  rs_reader_in in = {.count = 1, .length = vision ? PATCHES + 1 : TOKENS, .last = 1};
  *tokens = vision ? NULL : calloc(TOKENS, sizeof **tokens);
  *patches = vision ? calloc(from.count, sizeof **patches) : NULL;
  for (size_t n = 0; n < TOKENS && !vision; n++) (*tokens)[n] = (int32_t)from.numbers[n];
  for (size_t i = 0; i < from.count && vision; i++) {
    size_t patch = i / (CHANNELS * SIDE * SIDE), c = i / (SIDE * SIDE) % CHANNELS, y = i / SIDE % SIDE, x = i % SIDE;
    size_t row = patch / (IMAGE / SIDE) * SIDE + y, column = patch % (IMAGE / SIDE) * SIDE + x;
    (*patches)[i] = (float)from.numbers[(c * IMAGE + row) * IMAGE + column];
  }
  in.tokens = *tokens;
  in.patches = *patches;
  if (vision) in.rows = in.columns = IMAGE / SIDE;
  rs_array_clear(&from);
  return in;
}

/* Weights beside those of a file (layers, heads, L, L). */
typedef struct beside {
  rs_array want;
  size_t shown;
  double worst, least_sum;
} beside;

static void take(void *context, size_t block, size_t head, const double *weights) {
  beside *b = context;
  size_t length = b->want.shape[2];
  cr_assert_eq(b->shown++, block * b->want.shape[1] + head);
  const double *want = b->want.numbers + (block * b->want.shape[1] + head) * length * length;
  for (size_t m = 0; m < length; m++) {
    double sum = 0;
    for (size_t n = 0; n < length; n++) {
      b->worst = fmax(b->worst, fabs(weights[m * length + n] - want[m * length + n]));
      sum += weights[m * length + n];
    }
    b->least_sum = fmin(b->least_sum, sum);
    cr_expect_lt(sum, 1 + 1e-12);
  }
}

static void check_model(const char *model, bool sinks) {
  int32_t *tokens;
  float *patches;
  rs_context *context;
  rs_batch batch;
  double *rollout;
  rs_err err = {0};
  rs_transformer *transformer = load(model);
  const rs_reader_in in = input_of(model, &tokens, &patches);
  beside b = {.want = read_array(model, "attention.npy"), .least_sum = 1};
  rs_array want = read_array(model, "rollout.npy");
  rs_documents documents;
  cr_assert_eq(rs_documents_find(&in, &documents, &err), RS_OK, "%s", err.message);
  cr_assert_eq(rs_reader_context(transformer, &in, &documents, &context, &batch, &err), RS_OK, "%s: %s", model,
               err.message);
  const rs_weights_watch watch = {take, &b};
  cr_assert_eq(rs_read_weights(context, &batch, &watch, &err), RS_OK, "%s: %s", model, err.message);
  cr_expect_eq(b.shown, b.want.shape[0] * b.want.shape[1]);
  cr_expect_lt(b.worst, 1e-12, "%s: %g", model, b.worst);
  cr_expect(sinks ? b.least_sum < 0.9 : b.least_sum > 1 - 1e-12, "%s: %g", model, b.least_sum);
  cr_assert_eq(rs_read_rollout(context, &batch, &rollout, &err), RS_OK, "%s", err.message);
  double worst = 0;
  for (size_t i = 0; i < want.count; i++) worst = fmax(worst, fabs(rollout[i] - want.numbers[i]));
  cr_expect_lt(worst, 1e-12, "%s: %g", model, worst);
  free(rollout);
  free(tokens);
  free(patches);
  rs_context_free(context);
  rs_documents_clear(&documents);
  rs_array_clear(&b.want);
  rs_array_clear(&want);
  rs_transformer_free(transformer);
}

Test(golden_maps, weights_and_rollout__are_those_of_transformers) {
  check_model("llama", false);
  check_model("gemma2", false);
  check_model("gpt_oss", true);
  check_model("bert", false);
  check_model("mpt", false);
  check_model("vit", false);
}

/* ---- as files ---------------------------------------------------------------------------------------------------- */

/* Rows of a curve; a file (layers, heads, L, L) or (L, L) has their values. */
static void check_curve(const char *folder, const char *file, const char *column, const char *model, const char *golden,
                        size_t layer) {
  rs_table *t = read_table(folder, file);
  rs_array want = read_array(model, golden);
  bool heads = want.rank == 4;
  size_t length = want.shape[want.rank - 1], expected = 0;
  for (size_t i = 0; i < length * length * (heads ? want.shape[1] : 1); i++)
    expected += want.numbers[layer * (heads ? want.shape[1] : 0) * length * length + i] > 0;
  cr_expect_eq(t->rows, expected, "%s: %zu rows, not %zu", file, t->rows, expected);
  for (size_t i = 0; i < t->rows; i++) {
    size_t head = heads ? golden_size(t, i, "head") : 0;
    size_t place = golden_size(t, i, "query_token") * length + golden_size(t, i, "key_token");
    double value = want.numbers[(heads ? layer * want.shape[1] + head : 0) * length * length + place];
    cr_expect_float_eq(golden_number(t, i, column), value, 1e-12, "%s, row %zu", file, i);
  }
  rs_array_clear(&want);
  rs_table_free(t);
}

/* The first tokens of a text, and one whose loss nobody asks for, as 16-bit numbers. */
static void write_tokens(const char *model) {
  rs_array ids = read_array(model, "tokens.npy");
  char bytes[2 * (TOKENS + 1)];
  for (size_t i = 0; i <= TOKENS; i++) {
    bytes[2 * i] = (char)((unsigned)ids.numbers[i] & 255);
    bytes[2 * i + 1] = (char)((unsigned)ids.numbers[i] >> 8);
  }
  cr_assert_eq(rs_file_write("tokens.bin", bytes, sizeof bytes, NULL), RS_OK);
  rs_array_clear(&ids);
}

/* A checkpoint that reads its task, and a source that reads a text, show the same. */
Test(golden_maps, runs__have_the_same_numbers) {
  static const char *const models[] = {"llama", "gpt_oss", "gemma2"}, *const methods[] = {"rope", "yarn", "rope"};
  for (size_t i = 0; i < RS_COUNT(models); i++) {
    char yaml[16384], folder[4096];
    snprintf(folder, sizeof folder, "%s", model_path(models[i]));
    write_tokens(models[i]);
    snprintf(yaml, sizeof yaml,
             "checkpoint: {folder: %s, precision: f64}\ntask: {name: tokens, file: tokens.bin}\nlengths: [16]\n"
             "targets: per_length\nbaselines: none\nsequences: 1\nqueries: all\nsources: [{name: model, layer: 1}]\n"
             "metrics: [attention_map, attention_rollout]\n",
             folder);
    cr_assert_eq(run(yaml, models[i]).failed, 0, "%s", models[i]);
    check_curve(models[i], "attention_map.csv", "weight", models[i], "attention.npy", 1);
    check_curve(models[i], "attention_rollout.csv", "rollout", models[i], "rollout.npy", 0);
    snprintf(yaml, sizeof yaml,
             "model: {hf: %s/config.json}\nmethods: [%s]\nlengths: [16]\nqueries: all\n"
             "sources: [{name: model, checkpoint: %s, tokens: tokens.bin, precision: f64}]\n"
             "metrics: [attention_map]\n",
             folder, methods[i], folder);
    cr_assert_eq(run(yaml, "text").failed, 0, "%s", models[i]);
    check_curve("text", "attention_map.csv", "weight", models[i], "attention.npy", 0);
  }
}
