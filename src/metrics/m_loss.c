/* How well a model foretells its task: nats, perplexity, and what is left to gain. */
#include "answers.h"

#include <math.h>

static rs_status read(const rs_reading_in *in, rs_result *result, rs_err *err) {
  (void)err;
  const rs_task *task = in->task;
  rs_answers answers = rs_answers_all(in->reading);
  answers.parts = rs_stream_parts(task->kind);
  rs_answer_mean loss = rs_answers_mean(&answers, RS_ANSWER_LOSS), excess = loss;
  excess.mean -= task->kind->best_loss != NULL ? task->kind->best_loss(task->state, in->length) : NAN;
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
             .reference = "perplexity beyond the trained length: ALiBi, arXiv:2108.12409, section 2",
             .version = 1},
    RS_SCALARS(scalars),
    .read = read,
};
