/* Accuracy on what a model was trained on, on what it was not, and the gap between the two. Both are read as evaluation
 * reads: without shifts and mirrors. Each split's sequences are cut into as many blocks, by whose means a bootstrap
 * finds the 95 % intervals: over blocks for one model, over seeds and blocks for several (bootstrap.c). Two methods are
 * compared block by block, as both have read the same sequences. */
#include "answers.h"

#include <math.h>

typedef struct params {
  size_t blocks;
} params;

enum { TRAIN, TEST, GAP, VALUES };

/* The share of the block's targets that are said. */
static double block_mean(const rs_reading *reading, size_t block, size_t blocks) {
  size_t begin = block * reading->sequences / blocks, end = (block + 1) * reading->sequences / blocks;
  size_t targets = 0, right = 0;
  for (size_t i = begin * reading->answers; i < end * reading->answers; i++) {
    targets += reading->targets[i] != RS_NO_TARGET;
    right += reading->targets[i] != RS_NO_TARGET && reading->said[i] == reading->targets[i];
  }
  return (double)right / (double)targets;
}

static size_t count_blocks(const rs_reading_in *in) {
  size_t blocks = ((const params *)in->params)->blocks;
  if (in->trained->sequences < blocks) blocks = in->trained->sequences;
  return in->reading->sequences < blocks ? in->reading->sequences : blocks;
}

static rs_status add_blocks(const rs_reading_in *in, double *values, size_t blocks, rs_result *result, rs_err *err) {
  for (size_t b = 0; b < blocks; b++) {
    double train = block_mean(in->trained, b, blocks), test = block_mean(in->reading, b, blocks);
    const double line[] = {(double)b, train, test, train - test};
    for (size_t v = 0; v < VALUES; v++) values[v * blocks + b] = line[1 + v];
    RS_TRY(rs_curve_add(&result->curve, line, err));
  }
  return RS_OK;
}

static rs_status fit(const void *given, const rs_curve_in *in, rs_err *err) {
  (void)given;
  if (in->trained > 0) return RS_OK;
  return rs_fail(err, RS_INPUT,
                 "reads again what the task trains on, and that has no end (task: pictures has, of pictures in files)");
}

static rs_status read(const rs_reading_in *in, rs_result *result, rs_err *err) {
  const double train = block_mean(in->trained, 0, 1), test = block_mean(in->reading, 0, 1);
  const double means[VALUES] = {train, test, train - test};
  size_t blocks = count_blocks(in);
  RS_FREED double *values = rs_alloc(VALUES * blocks, sizeof *values, err);
  if (values == NULL) return RS_MEMORY;
  RS_TRY(add_blocks(in, values, blocks, result, err));
  for (size_t v = 0; v < VALUES; v++) {
    rs_interval interval;
    RS_TRY(rs_bootstrap_mean(values + v * blocks, 1, blocks, &interval, err));
    result->value[3 * v] = means[v];
    result->value[3 * v + 1] = interval.low;
    result->value[3 * v + 2] = interval.high;
  }
  return RS_OK;
}

static size_t curve_rows(const void *given, const rs_curve_in *in) {
  size_t blocks = ((const params *)given)->blocks;
  return in->sequences < blocks ? in->sequences : blocks;
}

#define TRAIN_SUMMARY "share of training's pictures of which the model says the class"
#define TEST_SUMMARY "share of the test's pictures of which the model says the class"
#define GAP_SUMMARY "accuracy on training's pictures less that on the test's"
#define ENDS(name)                                                                                                     \
  RS_COLUMN(name "_low", "1", "low end of its 95 % interval (bootstrap over blocks; empty for a single one)"),         \
      RS_COLUMN(name "_high", "1", "high end of that interval")

static const rs_column scalars[] = {
    RS_COLUMN("train_accuracy", "1", TRAIN_SUMMARY, .better = RS_HIGHER), ENDS("train_accuracy"),
    RS_COLUMN("test_accuracy", "1", TEST_SUMMARY, .better = RS_HIGHER),   ENDS("test_accuracy"),
    RS_COLUMN("accuracy_gap", "1", GAP_SUMMARY, .better = RS_LOWER),      ENDS("accuracy_gap"),
};

static const rs_column curve[] = {
    RS_COLUMN("block", "", "number of the block of sequences, from 0: the same for all methods and seeds",
              .integer = true),
    RS_COLUMN("train_accuracy", "1", TRAIN_SUMMARY, .better = RS_HIGHER),
    RS_COLUMN("test_accuracy", "1", TEST_SUMMARY, .better = RS_HIGHER),
    RS_COLUMN("accuracy_gap", "1", GAP_SUMMARY, .better = RS_LOWER),
};

static const rs_param specs[] = {
    {RS_FIELD(params, blocks), .unit = "1", .min = 8, .max = 10000, .fallback = "60",
     .summary = "blocks that each split's sequences are cut into, where it has as many"},
};

const rs_metric_kind rs_metric_generalisation = {
    .kind = {.name = "generalisation",
             .summary = "accuracy on training's pictures, on the test's, and the gap, with 95 % intervals",
             .reference = "the bootstrap of paired differences: Efron and Tibshirani, An Introduction to the "
                          "Bootstrap, 1993, chapters 8 and 13",
             RS_KIND(specs, params)},
    .fit = fit,
    RS_SCALARS(scalars),
    RS_CURVE(curve, 1),
    .curve_rows = curve_rows,
    .trained = true,
    .read = read,
};
