/* Is said again what stands in the context? Only tasks that ask for it report anything. */
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
             .reference = "Arora et al., arXiv:2312.04927, section 3 (associative recall)",
             .version = 1},
    RS_SCALARS(scalars),
    .read = read,
};
