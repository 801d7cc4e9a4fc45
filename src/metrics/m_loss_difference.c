/* The loss less that of a baseline on the same targets, block by block: what an extension costs, or gains, beside what
 * everybody gets for free. A block is a sequence; how hard it is falls out of its difference, which differs far less
 * from block to block than its loss does. */
#include "answers.h"

#include <math.h>
#include <stdlib.h>

const char *const rs_baseline_words[RS_BASELINES + 1] = {
    [RS_BASELINE_WINDOW] = "window", [RS_BASELINE_UNCHANGED] = "unchanged"};

typedef struct params {
  rs_baseline baseline;
} params;

static rs_baseline baseline(const void *given) {
  return ((const params *)given)->baseline;
}

/* Means over the targets of one block: of the losses, and of what these are above the baseline's. Both readings end
 * with the same tokens, one may have more before them. Returns how many there are. */
static size_t read_block(const rs_reading_in *in, size_t block, double *loss, double *difference) {
  const rs_reading *reading = in->reading, *other = in->baseline;
  size_t end = (block + 1) * reading->answers, other_end = (block + 1) * other->answers, count = 0;
  size_t common = reading->answers < other->answers ? reading->answers : other->answers;
  unsigned parts = rs_stream_parts(in->task->kind);
  rs_sum losses = {0}, differences = {0};
  for (size_t back = common; back > 0; back--) {
    size_t i = end - back, k = other_end - back;
    if (reading->targets[i] == RS_NO_TARGET || (parts >> reading->parts[i] & 1) == 0) continue;
    rs_sum_add(&losses, reading->losses[i]);
    rs_sum_add(&differences, reading->losses[i] - other->losses[k]);
    count++;
  }
  *loss = rs_sum_total(&losses) / (double)count;
  *difference = rs_sum_total(&differences) / (double)count;
  return count;
}

enum { DIFFERENCE, LOW, HIGH, BLOCKS };

static rs_status read(const rs_reading_in *in, rs_result *result, rs_err *err) {
  double *differences = rs_alloc(in->reading->sequences, sizeof *differences, err);
  rs_interval interval = {NAN, NAN, NAN};
  rs_status status = differences != NULL ? RS_OK : RS_MEMORY;
  size_t blocks = 0;
  for (size_t b = 0; b < in->reading->sequences && status == RS_OK; b++) {
    double line[] = {(double)b, NAN, NAN};
    if (read_block(in, b, &line[1], &line[2]) == 0) continue;
    differences[blocks++] = line[2];
    status = rs_curve_add(&result->curve, line, err);
  }
  if (status == RS_OK && blocks > 0) status = rs_bootstrap_mean(differences, 1, blocks, &interval, err);
  free(differences);
  result->value[DIFFERENCE] = interval.mean;
  result->value[LOW] = interval.low;
  result->value[HIGH] = interval.high;
  result->value[BLOCKS] = (double)blocks;
  return status;
}

static size_t curve_rows(const void *given, const rs_curve_in *in) {
  (void)given;
  return in->sequences;
}

static const rs_column scalars[] = {
    [DIFFERENCE] = RS_COLUMN("loss_difference_nats", "nats",
                             "mean over blocks of the loss less the baseline's on the same targets: below 0 it is "
                             "better than the baseline",
                             .better = RS_LOWER),
    [LOW] = RS_COLUMN("loss_difference_nats_low", "nats",
                      "low end of its 95 % interval (bootstrap over blocks; empty for a single one)"),
    [HIGH] = RS_COLUMN("loss_difference_nats_high", "nats", "high end of that interval"),
    [BLOCKS] = RS_COLUMN("target_blocks", "", "blocks of targets that were compared", .integer = true),
};

static const rs_column curve[] = {
    RS_COLUMN("block", "", "number of the block, from 0: the same targets for all methods and lengths",
              .integer = true),
    RS_COLUMN("loss_nats", "nats", "mean loss over the targets of the block", .better = RS_LOWER),
    RS_COLUMN("loss_difference_nats", "nats", "loss of the block less the baseline's on it", .better = RS_LOWER),
};

static const rs_param specs[] = {
    {RS_FIELD(params, baseline), .unit = "", RS_WORDS(rs_baseline_words), .fallback = "window",
     .summary = "what the loss is compared with: the model as it was trained, reading the tokens of its trained length "
                "alone that end where the targets end; or reading all of them"},
};

const rs_metric_kind rs_metric_loss_difference = {
    .kind = {.name = "loss_difference",
             .summary = "loss less that of a baseline on the same targets, with its 95 % interval",
             .reference = "the bootstrap of paired differences: Efron and Tibshirani, An Introduction to the "
                          "Bootstrap, 1993, chapters 8 and 13",
             RS_KIND(specs, params)},
    RS_SCALARS(scalars),
    RS_CURVE(curve, 1),
    .curve_rows = curve_rows,
    .baseline = baseline,
    .read = read,
};
