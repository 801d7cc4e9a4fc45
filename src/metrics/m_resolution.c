/* Which axis of a scene does a model tell apart? Its answers taken apart into columns, rows and frames. */
#include "answers.h"

#include <math.h>

enum { AXES = 3 };

/* Scenes with a target, and those whose digit of this worth is right. */
typedef struct digit_count {
  double scenes, right;
} digit_count;

static digit_count count_digit(const rs_reading *reading, int32_t worth, int32_t base) {
  digit_count count = {0};
  for (size_t i = 0; i < reading->sequences * reading->answers; i++) {
    if (reading->targets[i] == RS_NO_TARGET) continue;
    count.scenes++;
    count.right += reading->said[i] / worth % base == reading->targets[i] / worth % base;
  }
  return count;
}

static rs_status read(const rs_reading_in *in, rs_result *result, rs_err *err) {
  (void)err;
  size_t base = 1, digits = 0;
  if (in->task->kind->digits != NULL) in->task->kind->digits(in->task->state, &base, &digits);
  for (size_t i = 0; i < 2 * AXES; i++) result->value[i] = result->error[i] = NAN;
  int32_t worth = 1;
  for (size_t axis = digits; axis-- > 0; worth *= (int32_t)base) {
    digit_count count = count_digit(in->reading, worth, (int32_t)base);
    if (count.scenes == 0) continue;
    double share = count.right / count.scenes;
    result->value[2 * axis] = share;
    if (count.scenes > 1) result->error[2 * axis] = sqrt(share * (1 - share) / (count.scenes - 1));
    result->value[2 * axis + 1] = 1 / (double)base;
  }
  return RS_OK;
}

#define AXIS(axis, words)                                                                                              \
  {.name = axis "_accuracy",                                                                                           \
   .unit = "1",                                                                                                        \
   .summary = "share of scenes in which the model says which shape " words ", whatever else it says",                  \
   .sampled = true,                                                                                                    \
   .better = RS_HIGHER},                                                                                               \
  {                                                                                                                    \
    .name = "chance_" axis "_accuracy", .unit = "1", .summary = "the same of a guess that reads nothing"               \
  }

static const rs_column scalars[] = {
    AXIS("column", "is leftmost"),
    AXIS("row", "is topmost"),
    AXIS("frame", "is seen first"),
};

const rs_metric_kind rs_metric_resolution = {
    .kind = {.name = "resolution",
             .summary = "accuracy along each axis of an image or film",
             .reference = "the tasks where and film, whose classes ask for each axis"},
    RS_SCALARS(scalars),
    .read = read,
};
