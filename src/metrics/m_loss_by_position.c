/* The loss at each place of the context: it falls while a model makes use of what it reads, and rises where the model
 * no longer can. */
#include "answers.h"

#include <stdlib.h>

typedef struct params {
  size_t per_octave;
} params;

static rs_status add_bins(const rs_reading_in *in, const size_t *edges, size_t bins, rs_result *result, rs_err *err) {
  rs_answers answers = rs_answers_all(in->reading);
  answers.parts = rs_stream_parts(in->task->kind);
  for (size_t b = 0; b < bins; b++) {
    answers.begin = edges[b];
    answers.end = edges[b + 1];
    rs_answer_mean loss = rs_answers_mean(&answers, RS_ANSWER_LOSS);
    double line[] = {(double)edges[b], (double)edges[b + 1], loss.targets, loss.mean, loss.error};
    if (loss.targets > 0) RS_TRY(rs_curve_add(&result->curve, line, err));
  }
  return RS_OK;
}

static rs_status read(const rs_reading_in *in, rs_result *result, rs_err *err) {
  const params *p = in->params;
  size_t *edges, bins;
  RS_TRY(rs_log_edges(in->reading->answers, p->per_octave, &edges, &bins, err));
  rs_status status = add_bins(in, edges, bins, result, err);
  free(edges);
  return status;
}

static size_t curve_rows(const void *parameters, const rs_curve_in *in) {
  return rs_log_bins(in->length, ((const params *)parameters)->per_octave);
}

static const rs_column curve[] = {
    {.name = "position_tokens", .unit = "tokens", .summary = "first position of the bin, from 0", .log_axis = true},
    {.name = "position_end_tokens", .unit = "tokens", .summary = "first position past the bin", .map = RS_MAP_BIN_END},
    {.name = "targets", .unit = "", .summary = "how many targets stood at these positions", .map = RS_MAP_SAMPLES},
    {.name = "loss_nats",
     .unit = "nats",
     .summary = "mean of -ln of the probability given to the target",
     .sampled = true,
     .better = RS_LOWER},
};

static const rs_param specs[] = {
    {RS_FIELD(params, per_octave), .unit = "1", .min = 1, .max = 64, .fallback = "4",
     .summary = "bins in each doubling of the position; every position while those are denser"},
};

const rs_metric_kind rs_metric_loss_by_position = {
    .kind = {.name = "loss_by_position",
             .summary = "loss against the position of what is to be said, in log-spaced bins",
             .reference = "Kaplan et al., arXiv:2001.08361, section 3.2.1 and figure 20 (loss per token)",
             .version = 1,
             .params = specs,
             .param_count = RS_COUNT(specs),
             .params_size = sizeof(params)},
    .curve = curve,
    .curve_count = RS_COUNT(curve),
    .index_count = 3,
    .curve_rows = curve_rows,
    .read = read,
};
