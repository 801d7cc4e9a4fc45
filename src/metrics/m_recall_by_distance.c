/* How far back is it still found? Accuracy of what was read before, against the tokens from where it stands to where it
 * is asked for. */
#include "answers.h"

#include <stdlib.h>

typedef struct params {
  size_t per_octave;
} params;

/* Needles are left out: their depths are those of a stream that ends before the questions. */
static rs_status add_bins(const rs_reading_in *in, const size_t *edges, size_t bins, rs_result *result, rs_err *err) {
  rs_answers answers = rs_answers_all(in->reading);
  answers.parts = in->task->kind->recalled & rs_stream_parts(in->task->kind);
  answers.apart = true;
  for (size_t b = 0; b < bins; b++) {
    answers.near = edges[b];
    answers.far = edges[b + 1];
    rs_answer_mean right = rs_answers_mean(&answers, RS_ANSWER_RIGHT);
    double line[] = {(double)edges[b], (double)edges[b + 1], right.targets, right.mean, right.error};
    if (right.targets > 0) RS_TRY(rs_curve_add(&result->curve, line, err));
  }
  return RS_OK;
}

/* No distance leads from one sequence to another. */
static rs_status read(const rs_reading_in *in, rs_result *result, rs_err *err) {
  const params *p = in->params;
  size_t *edges, bins;
  if (in->task->kind->form != RS_DECODER) return RS_OK;
  RS_TRY(rs_log_edges(in->reading->answers, p->per_octave, &edges, &bins, err));
  rs_status status = add_bins(in, edges, bins, result, err);
  free(edges);
  return status;
}

static size_t curve_rows(const void *parameters, const rs_curve_in *in) {
  return rs_log_bins(in->length, ((const params *)parameters)->per_octave);
}

static const rs_column curve[] = {
    {.name = "distance_tokens", .unit = "tokens", .summary = "first distance of the bin", .log_axis = true},
    {.name = "distance_end_tokens", .unit = "tokens", .summary = "first distance past the bin", .map = RS_MAP_BIN_END},
    {.name = "targets", .unit = "", .summary = "how many were asked for at these distances", .map = RS_MAP_SAMPLES},
    {.name = "accuracy",
     .unit = "1",
     .summary = "share of them to which the model gives the largest probability",
     .sampled = true,
     .better = RS_HIGHER},
};

static const rs_param specs[] = {
    {RS_FIELD(params, per_octave), .unit = "1", .min = 1, .max = 64, .fallback = "2",
     .summary = "bins in each doubling of the distance; every distance while those are denser"},
};

const rs_metric_kind rs_metric_recall_by_distance = {
    .kind = {.name = "recall_by_distance",
             .summary = "accuracy of what stands in the context already, against how far back it stands; of decoders, "
                        "but their needles",
             .reference = "use of context by its distance: Khandelwal et al., arXiv:1805.04623",
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
