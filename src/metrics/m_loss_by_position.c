/* The loss at each place of the context: it falls while a model makes use of what it reads, and rises where the model
 * no longer can. */
#include "answers.h"

static rs_status read(const rs_reading_in *in, rs_result *result, rs_err *err) {
  rs_answers answers = rs_answers_all(in->reading);
  answers.parts = rs_stream_parts(in->task->kind);
  return rs_answers_curve(&answers, RS_ANSWER_PLACES, RS_ANSWER_LOSS, in->params, result, err);
}

static const rs_column curve[] = {
    RS_COLUMN("position_tokens", "tokens", "first position of the bin, from 0", .integer = true, .log_axis = true),
    RS_COLUMN("position_end_tokens", "tokens", "first position past the bin", .integer = true, .map = RS_MAP_BIN_END),
    RS_COLUMN("targets", "", "how many targets stood at these positions", .integer = true, .map = RS_MAP_SAMPLES),
    RS_COLUMN("loss_nats", "nats", "mean of -ln of the probability given to the target", .sampled = true,
              .better = RS_LOWER),
};

static const rs_param specs[] = {
    {RS_FIELD(rs_answer_bins, per_octave), .unit = "1", .min = 1, .max = 64, .fallback = "4",
     .summary = "bins in each doubling of the position; every position while those are denser"},
};

const rs_metric_kind rs_metric_loss_by_position = {
    .kind = {.name = "loss_by_position",
             .summary = "loss against the position of what is to be said, in log-spaced bins",
             .reference = "Kaplan et al., arXiv:2001.08361, section 3.2.1 and figure 20 (loss per token)",
             .version = 1,
             RS_KIND(specs, rs_answer_bins)},
    RS_CURVE(curve, 3),
    .curve_rows = rs_answers_curve_rows,
    .read = read,
};
