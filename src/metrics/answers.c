/* Means over the answers of a reading, and their standard errors by sequences. */
#include "answers.h"

#include <math.h>

rs_answers rs_answers_all(const rs_reading *reading) {
  return (rs_answers){.reading = reading, .parts = ~0u, .end = reading->answers};
}

/* Tokens from what stands at the depth to where it is asked for. A depth is the share of a position in the last. */
static double distance_to(const rs_reading *reading, size_t index, double depth) {
  return (double)(index % reading->answers) - round(depth * (double)(reading->answers - 1));
}

/* A NaN is at no depth and no distance. */
static bool counts(const rs_answers *answers, size_t index) {
  const rs_reading *reading = answers->reading;
  if (reading->targets[index] == RS_NO_TARGET || (answers->parts >> reading->parts[index] & 1) == 0) return false;
  double depth = (double)reading->depths[index], distance = distance_to(reading, index, depth);
  return (!answers->placed || (depth >= answers->low && depth < answers->high)) &&
         (!answers->apart || (distance >= (double)answers->near && distance < (double)answers->far));
}

static double value_of(const rs_reading *reading, rs_answer_value value, size_t index) {
  return value == RS_ANSWER_LOSS ? reading->losses[index] : reading->said[index] == reading->targets[index];
}

/* Of one sequence: the sum of values less `shift`, and how many count. */
static double sum_sequence(const rs_answers *answers, rs_answer_value value, size_t sequence, double shift,
                           size_t *count) {
  size_t start = sequence * answers->reading->answers;
  rs_sum sum = {0};
  *count = 0;
  for (size_t i = start + answers->begin; i < start + answers->end; i++) {
    if (!counts(answers, i)) continue;
    rs_sum_add(&sum, value_of(answers->reading, value, i) - shift);
    ++*count;
  }
  return rs_sum_total(&sum);
}

rs_answer_mean rs_answers_mean(const rs_answers *answers, rs_answer_value value) {
  size_t targets = 0, sequences = 0, count;
  rs_sum total = {0}, squares = {0};
  for (size_t s = 0; s < answers->reading->sequences; s++) {
    rs_sum_add(&total, sum_sequence(answers, value, s, 0, &count));
    targets += count;
    sequences += count > 0;
  }
  if (targets == 0) return (rs_answer_mean){.mean = NAN, .error = NAN};
  double all = (double)targets, mean = rs_sum_total(&total) / all, n = (double)sequences;
  for (size_t s = 0; s < answers->reading->sequences; s++) {
    double rest = sum_sequence(answers, value, s, mean, &count);
    rs_sum_add(&squares, rest * rest);
  }
  double error = sequences > 1 ? sqrt(rs_sum_total(&squares) * n / (n - 1)) / all : NAN;
  return (rs_answer_mean){.targets = all, .mean = mean, .error = error};
}

rs_answer_mean rs_answers_exact(const rs_answers *answers) {
  rs_moments exact = {0};
  for (size_t s = 0; s < answers->reading->sequences; s++) {
    size_t count;
    double right = sum_sequence(answers, RS_ANSWER_RIGHT, s, 0, &count);
    if (count > 0) rs_moments_add(&exact, right == (double)count);
  }
  return (rs_answer_mean){exact.count, rs_moments_mean(&exact), rs_moments_se(&exact)};
}

unsigned rs_stream_parts(const rs_task_kind *task) {
  return ~task->probes;
}

void rs_result_answers(rs_result *result, size_t index, const rs_answer_mean *mean) {
  result->value[index] = mean->mean;
  result->error[index] = mean->error;
}
