/* What baselines have said: each reading is made once for all methods that are compared with it, and for the baseline's
 * own cells. The window at a length is the unchanged model at no more than the trained length. */
#include "work.h"

#include <stdlib.h>

/* The reading as somebody else's, who does not free it. */
static rs_reading lend(const rs_reading *reading) {
  rs_reading lent = *reading;
  lent.arena = (rs_arena){0};
  return lent;
}

rs_status rs_baselines_read(rs_baselines *baselines, const rs_baseline_in *in, rs_reading *reading, rs_err *err) {
  for (size_t i = 0; i < baselines->count; i++) {
    const rs_baseline_reading *known = &baselines->readings[i];
    if (known->seed != in->seed || known->length != in->length) continue;
    *reading = lend(&known->reading);
    return RS_OK;
  }
  rs_context *context;
  RS_TRY(RS_GROW(baselines->readings, &baselines->capacity, baselines->count + 1, err));
  rs_baseline_reading *fresh = &baselines->readings[baselines->count];
  *fresh = (rs_baseline_reading){.seed = in->seed, .length = in->length};
  RS_TRY(rs_context_of_task(in->transformer, NULL, in->task, in->length, &context, err));
  rs_status status =
      rs_reading_make(context, in->task, RS_SPLIT_EVALUATION, in->length, in->sequences, &fresh->reading, err);
  rs_context_free(context);
  RS_TRY(status);
  baselines->count++;
  *reading = lend(&fresh->reading);
  return RS_OK;
}

void rs_baselines_clear(rs_baselines *baselines) {
  for (size_t i = 0; i < baselines->count; i++) rs_reading_clear(&baselines->readings[i].reading);
  free(baselines->readings);
  rs_transformer_free(baselines->untuned);
  *baselines = (rs_baselines){0};
}
