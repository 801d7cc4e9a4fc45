/* Is said again what stands in the context, and how far back is it still found? Only tasks that ask for it report
 * anything. Distances lead from where the token stands to where it is asked for. */
#include "answers.h"

static rs_status read(const rs_reading_in *in, rs_result *result, rs_err *err) {
  (void)err;
  rs_answers answers = rs_answers_all(in->reading);
  answers.parts = in->task->kind->recalled;
  rs_answer_mean recall = rs_answers_mean(&answers, RS_ANSWER_RIGHT);
  rs_result_answers(result, 0, &recall);
  return RS_OK;
}

static const rs_column scalars[] = {
    RS_COLUMN("recall", "1",
              "accuracy where the target was read before, once or more: the parts of the task that ask for it",
              .sampled = true, .better = RS_HIGHER),
};

const rs_metric_kind rs_metric_recall = {
    .kind = {.name = "recall",
             .summary = "accuracy of what stands in the context already",
             .reference = "Arora et al., arXiv:2312.04927, section 3 (associative recall)"},
    RS_SCALARS(scalars),
    .read = read,
};

/* ---- recall_by_distance ------------------------------------------------------------------------------------------ */

/* Needles are left out: their depths are those of a stream that ends before the questions. No distance leads from one
 * sequence to another. */
static rs_status read_by_distance(const rs_reading_in *in, rs_result *result, rs_err *err) {
  rs_answers answers = rs_answers_all(in->reading);
  answers.parts = in->task->kind->recalled & rs_stream_parts(in->task->kind);
  if (in->task->kind->form != RS_DECODER) return RS_OK;
  return rs_answers_curve(&answers, RS_ANSWER_DISTANCES, RS_ANSWER_RIGHT, in->params, result, err);
}

static const rs_column curve_by_distance[] = {
    RS_COLUMN("distance_tokens", "tokens", "first distance of the bin", .integer = true, .log_axis = true),
    RS_COLUMN("distance_end_tokens", "tokens", "first distance past the bin", .integer = true, .map = RS_MAP_BIN_END),
    RS_COLUMN("targets", "", "how many were asked for at these distances", .integer = true, .map = RS_MAP_SAMPLES),
    RS_COLUMN("accuracy", "1", "share of them to which the model gives the largest probability", .sampled = true,
              .better = RS_HIGHER),
};

static const rs_param specs_by_distance[] = {
    {RS_FIELD(rs_answer_bins, per_octave), .unit = "1", .min = 1, .max = 64, .fallback = "2",
     .summary = "bins in each doubling of the distance; every distance while those are denser"},
};

const rs_metric_kind rs_metric_recall_by_distance = {
    .kind = {.name = "recall_by_distance",
             .summary = "accuracy of what stands in the context already, against how far back it stands; of decoders, "
                        "but their needles",
             .reference = "use of context by its distance: Khandelwal et al., arXiv:1805.04623",
             RS_KIND(specs_by_distance, rs_answer_bins)},
    RS_CURVE(curve_by_distance, 3),
    .curve_rows = rs_answers_curve_rows,
    .read = read_by_distance,
};
