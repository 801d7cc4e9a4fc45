/* The loss at the end of what is read: over all of a sequence the first tokens, which have little before them, weigh as
 * much as the last, and a longer sequence has relatively fewer of them. */
#include "answers.h"

static rs_status read(const rs_reading_in *in, rs_result *result, rs_err *err) {
  (void)err;
  rs_answers answers = rs_answers_all(in->reading);
  answers.parts = rs_stream_parts(in->task->kind);
  const rs_same_targets *same = &in->task->same;
  size_t scored = same->longest > 0 ? same->tokens : answers.end;
  answers.begin = answers.end - (scored + 9) / 10;
  rs_answer_mean loss = rs_answers_mean(&answers, RS_ANSWER_LOSS);
  rs_result_answers(result, 0, &loss);
  return RS_OK;
}

static const rs_column scalars[] = {
    RS_COLUMN("last_tenth_loss_nats", "nats",
              "mean of -ln of the probability given to the target, over the targets at the last tenth of a sequence's "
              "tokens (of those that all lengths score, under targets: same), rounded up to whole tokens; probes left "
              "out",
              .sampled = true, .better = RS_LOWER),
};

const rs_metric_kind rs_metric_last_tenth_loss = {
    .kind = {.name = "last_tenth_loss",
             .summary = "loss over the last tenth of what a model reads, empty where nothing is asked there",
             .reference =
                 "loss against a token's place in the context: Kaplan et al., arXiv:2001.08361, section 3.2.1"},
    RS_SCALARS(scalars),
    .read = read,
};
