/* How well a model foretells its task: nats, perplexity, and what is left to gain; and the loss
 * at each place of the context: it falls while a model makes use of what it reads, and rises where it no longer can. */
#include "answers.h"

#include <math.h>

static rs_status read(const rs_reading_in *in, rs_result *result, rs_err *err) {
  (void)err;
  const rs_task *task = in->task;
  rs_answers answers = rs_answers_all(in->reading);
  answers.parts = rs_stream_parts(task->kind);
  rs_answer_mean loss = rs_answers_mean(&answers, RS_ANSWER_LOSS), excess = loss;
  bool known = task->kind->best_loss != NULL && task->same.longest == 0; /* else it is that of other targets */
  excess.mean -= known ? task->kind->best_loss(task->state, in->length) : NAN;
  if (isnan(excess.mean)) excess.error = NAN;
  rs_result_answers(result, 0, &loss);
  result->value[1] = exp(loss.mean);
  rs_result_answers(result, 2, &excess);
  return RS_OK;
}

static const rs_column scalars[] = {
    RS_COLUMN("loss_nats", "nats",
              "mean of -ln of the probability given to the target, over the targets of the task but its probes",
              .sampled = true, .better = RS_LOWER),
    RS_COLUMN("perplexity", "1", "e^loss", .log_axis = true, .better = RS_LOWER),
    RS_COLUMN("excess_loss_nats", "nats",
              "loss above the least there is on this task at this length; empty where nobody knows that",
              .sampled = true, .better = RS_LOWER),
};

const rs_metric_kind rs_metric_loss = {
    .kind = {.name = "loss",
             .summary = "cross-entropy of what a model says to its task, perplexity, and excess over the best loss",
             .reference = "perplexity beyond the trained length: ALiBi, arXiv:2108.12409, section 2"},
    RS_SCALARS(scalars),
    .read = read,
};

/* ---- loss_by_position -------------------------------------------------------------------------------------------- */

static rs_status read_by_position(const rs_reading_in *in, rs_result *result, rs_err *err) {
  rs_answers answers = rs_answers_all(in->reading);
  answers.parts = rs_stream_parts(in->task->kind);
  return rs_answers_curve(&answers, RS_ANSWER_PLACES, RS_ANSWER_LOSS, in->params, result, err);
}

static const rs_column curve_by_position[] = {
    RS_COLUMN("position_tokens", "tokens", "first position of the bin, from 0", .integer = true, .log_axis = true),
    RS_COLUMN("position_end_tokens", "tokens", "first position past the bin", .integer = true, .map = RS_MAP_BIN_END),
    RS_COLUMN("targets", "", "how many targets stood at these positions", .integer = true, .map = RS_MAP_SAMPLES),
    RS_COLUMN("loss_nats", "nats", "mean of -ln of the probability given to the target", .sampled = true,
              .better = RS_LOWER),
};

static const rs_param specs_by_position[] = {
    {RS_FIELD(rs_answer_bins, per_octave), .unit = "1", .min = 1, .max = 64, .fallback = "4",
     .summary = "bins in each doubling of the position; every position while those are denser"},
};

const rs_metric_kind rs_metric_loss_by_position = {
    .kind = {.name = "loss_by_position",
             .summary = "loss against the position of what is to be said, in log-spaced bins",
             .reference = "Kaplan et al., arXiv:2001.08361, section 3.2.1 and figure 20 (loss per token)",
             RS_KIND(specs_by_position, rs_answer_bins)},
    RS_CURVE(curve_by_position, 3),
    .curve_rows = rs_answers_curve_rows,
    .read = read_by_position,
};
