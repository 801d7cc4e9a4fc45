/* Is a needle found, by the depth at which it stands? Of a task with probes these are the needles; else every target
 * that asks for something at a place. A needle of several tokens is found where all of them are said. */
#include "answers.h"

#include <math.h>

typedef struct params {
  size_t depths;
} params;

static rs_status read(const rs_reading_in *in, rs_result *result, rs_err *err) {
  size_t steps = ((const params *)in->params)->depths;
  rs_answers answers = rs_answers_all(in->reading);
  answers.parts = rs_task_needles(in->task->kind);
  answers.placed = true;
  answers.whole = true;
  answers.high = INFINITY;
  rs_answer_mean found = rs_answers_mean(&answers, RS_ANSWER_RIGHT);
  rs_result_answers(result, 0, &found);
  for (size_t i = 0; i <= steps; i++) {
    answers.low = ((double)i - 0.5) / (double)steps;
    answers.high = ((double)i + 0.5) / (double)steps;
    found = rs_answers_mean(&answers, RS_ANSWER_RIGHT);
    double line[] = {(double)i / (double)steps, found.targets, found.mean, found.error};
    if (found.targets > 0) RS_TRY(rs_curve_add(&result->curve, line, err));
  }
  return RS_OK;
}

static size_t curve_rows(const void *parameters, const rs_curve_in *in) {
  (void)in;
  return ((const params *)parameters)->depths + 1;
}

static const rs_column scalars[] = {
    RS_COLUMN("needle_accuracy", "1", "share of needles that are said, every token of them, when they are asked for",
              .sampled = true, .better = RS_HIGHER),
};

static const rs_column curve[] = {
    RS_COLUMN("depth", "1", "where the needle stands, 0 (start) to 1 (end), to the nearest step", .map = RS_MAP_Y),
    RS_COLUMN("needles", "", "how many were asked for at this depth", .integer = true, .map = RS_MAP_SAMPLES),
    RS_COLUMN("accuracy", "1", "share of the needles that are said when they are asked for", .sampled = true,
              .better = RS_HIGHER),
};

static const rs_param specs[] = {
    {RS_FIELD(params, depths), .unit = "1", .min = 1, .max = 1000, .fallback = "20",
     .summary = "steps from depth 0 to 1: the curve has a row for each step at which needles stand"},
};

const rs_metric_kind rs_metric_needle_accuracy = {
    .kind = {.name = "needle_accuracy",
             .summary = "how often a model finds a needle, also against its depth",
             .reference = "Kamradt's needle in a haystack (2023)",
             RS_KIND(specs, params)},
    RS_SCALARS(scalars),
    RS_CURVE(curve, 2),
    .curve_rows = curve_rows,
    .read = read,
};
