/* How often the most probable class is the target, of the whole task and of each of its parts. */
#include "answers.h"

static double chance_of(const rs_task *task, size_t part) {
  return task->kind->chance(task->state, part);
}

static rs_status read(const rs_reading_in *in, rs_result *result, rs_err *err) {
  const rs_task_kind *kind = in->task->kind;
  rs_answers answers = rs_answers_all(in->reading);
  double chance = 0;
  answers.parts = rs_stream_parts(kind);
  rs_answer_mean right = rs_answers_mean(&answers, RS_ANSWER_RIGHT), exact = rs_answers_exact(&answers);
  for (size_t p = 0; kind->parts[p] != NULL; p++) {
    answers.parts = 1u << p;
    rs_answer_mean part = rs_answers_mean(&answers, RS_ANSWER_RIGHT);
    double line[] = {(double)p, part.targets, part.mean, part.error, chance_of(in->task, p)};
    if (part.targets == 0) continue;
    RS_TRY(rs_curve_add(&result->curve, line, err));
    if ((kind->probes >> p & 1) == 0) chance += part.targets * line[4];
  }
  rs_result_answers(result, 0, &right);
  result->value[1] = chance / right.targets;
  rs_result_answers(result, 2, &exact);
  return RS_OK;
}

static const rs_column scalars[] = {
    RS_COLUMN("accuracy", "1",
              "share of targets to which the model gives the largest probability, over the task but its probes",
              .sampled = true, .better = RS_HIGHER),
    RS_COLUMN("chance_accuracy", "1", "accuracy of a guess that reads nothing, over the same targets"),
    RS_COLUMN("exact_match", "1", "share of sequences in which every one of these targets is said", .sampled = true,
              .better = RS_HIGHER),
};

static const rs_column curve[] = {
    RS_COLUMN("part", "", "part of the task, from 0", .integer = true, .map = RS_MAP_CATEGORY),
    RS_COLUMN("targets", "", "how many targets the part has", .integer = true, .map = RS_MAP_SAMPLES),
    RS_COLUMN("accuracy", "1", "share of the part's targets to which the model gives the largest probability",
              .sampled = true, .better = RS_HIGHER),
    RS_COLUMN("chance", "1", "accuracy of a guess that reads nothing"),
};

static size_t curve_rows(const void *params, const rs_curve_in *in) {
  (void)params;
  (void)in;
  return RS_TASK_PARTS;
}

const rs_metric_kind rs_metric_accuracy = {
    .kind = {.name = "accuracy",
             .summary = "share of targets that a model says, overall and for each part of its task",
             .reference = "accuracy by kind of token: Arora et al., arXiv:2312.04927, section 3"},
    RS_SCALARS(scalars),
    RS_CURVE(curve, 2),
    .curve_rows = curve_rows,
    .read = read,
};
