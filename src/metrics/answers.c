/* Means over the answers of a reading, and their standard errors by sequences. */
#include "answers.h"

#include <math.h>
#include <stdlib.h>

rs_answers rs_answers_all(const rs_reading *reading) {
  return (rs_answers){.reading = reading, .parts = ~0u, .end = reading->answers};
}

/* Tokens from what stands at the depth to where it is asked for. A depth is the share of a position in the last, of
 * what was cropped too. */
static double distance_to(const rs_reading *reading, size_t index, double depth) {
  size_t cropped = reading->cropped;
  return (double)(index % reading->answers + cropped) - round(depth * (double)(reading->answers + cropped - 1));
}

/* A NaN is at no depth and no distance. */
static bool counts(const rs_answers *answers, size_t index) {
  const rs_reading *reading = answers->reading;
  if (reading->targets[index] == RS_NO_TARGET || (answers->parts >> reading->parts[index] & 1) == 0) return false;
  double depth = (double)reading->depths[index], distance = distance_to(reading, index, depth);
  return (!answers->placed || (depth >= answers->low && depth < answers->high)) &&
         (!answers->apart || (distance >= (double)answers->near && distance < (double)answers->far));
}

/* Whether the target at `index` asks for the place that the one before it asks for. */
static bool goes_on(const rs_reading *reading, size_t index) {
  return index % reading->answers > 0 && reading->targets[index - 1] != RS_NO_TARGET &&
         reading->targets[index] != RS_NO_TARGET && reading->parts[index - 1] == reading->parts[index] &&
         reading->depths[index - 1] == reading->depths[index];
}

static bool said_whole(const rs_reading *reading, size_t first) {
  size_t end = reading->sequences * reading->answers;
  for (size_t i = first; i == first || (i < end && goes_on(reading, i)); i++)
    if (reading->said[i] != reading->targets[i]) return false;
  return true;
}

static double value_of(const rs_answers *answers, rs_answer_value value, size_t index) {
  const rs_reading *reading = answers->reading;
  if (value == RS_ANSWER_LOSS) return reading->losses[index];
  return answers->whole ? said_whole(reading, index) : reading->said[index] == reading->targets[index];
}

/* Of one sequence: the sum of values less `shift`, and how many count. */
static double sum_sequence(const rs_answers *answers, rs_answer_value value, size_t sequence, double shift,
                           size_t *count) {
  size_t start = sequence * answers->reading->answers;
  rs_sum sum = {0};
  *count = 0;
  for (size_t i = start + answers->begin; i < start + answers->end; i++) {
    if (!counts(answers, i) || (answers->whole && goes_on(answers->reading, i))) continue;
    rs_sum_add(&sum, value_of(answers, value, i) - shift);
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

static rs_status add_bins(const rs_answers *all, rs_answer_span span, rs_answer_value value, const size_t *edges,
                          size_t count, rs_result *result, rs_err *err) {
  rs_answers answers = *all;
  answers.apart = span == RS_ANSWER_DISTANCES;
  for (size_t b = 0; b < count; b++) {
    *(answers.apart ? &answers.near : &answers.begin) = edges[b];
    *(answers.apart ? &answers.far : &answers.end) = edges[b + 1];
    rs_answer_mean mean = rs_answers_mean(&answers, value);
    double line[] = {(double)edges[b], (double)edges[b + 1], mean.targets, mean.mean, mean.error};
    if (mean.targets > 0) RS_TRY(rs_curve_add(&result->curve, line, err));
  }
  return RS_OK;
}

rs_status rs_answers_curve(const rs_answers *answers, rs_answer_span span, rs_answer_value value,
                           const rs_answer_bins *bins, rs_result *result, rs_err *err) {
  size_t *edges, count;
  RS_TRY(rs_log_edges(answers->reading->answers, bins->per_octave, &edges, &count, err));
  rs_status status = add_bins(answers, span, value, edges, count, result, err);
  free(edges);
  return status;
}

size_t rs_answers_holder(const rs_reading *reading, size_t index) {
  double distance = distance_to(reading, index, (double)reading->depths[index]);
  size_t token = index % reading->answers;
  return distance >= 0 && distance <= (double)token ? token - (size_t)distance : RS_NO_NEEDLE;
}

size_t rs_answers_curve_rows(const void *bins, const rs_curve_in *in) {
  return rs_log_bins(in->length, ((const rs_answer_bins *)bins)->per_octave);
}

unsigned rs_stream_parts(const rs_task_kind *task) {
  return ~task->probes;
}

void rs_result_answers(rs_result *result, size_t index, const rs_answer_mean *mean) {
  result->value[index] = mean->mean;
  result->error[index] = mean->error;
}
