/* A model reads sequences of a task. Each sequence is read by one thread. */
#include "context.h"
#include "model/model.h"
#include "tasks.h"

#include <stdlib.h>
#include <string.h>

static rs_status make_arrays(rs_reading *reading, rs_err *err) {
  size_t count = reading->sequences * reading->answers;
  reading->losses = rs_alloc(count, sizeof *reading->losses, err);
  reading->said = rs_alloc(count, sizeof *reading->said, err);
  reading->targets = rs_alloc(count, sizeof *reading->targets, err);
  reading->parts = rs_alloc(count, sizeof *reading->parts, err);
  reading->depths = rs_alloc(count, sizeof *reading->depths, err);
  bool whole = reading->losses != NULL && reading->said != NULL && reading->targets != NULL && reading->parts != NULL &&
               reading->depths != NULL;
  return whole ? RS_OK : RS_MEMORY;
}

/* Sequence `index`, by one thread's room for one sequence. */
static void read_one(rs_pass *pass, const rs_examples *room, rs_split split, size_t index, const rs_reading *reading) {
  size_t answers = reading->answers, start = index * answers;
  rs_examples_draw(room, split, index, 0);
  rs_batch batch = rs_examples_batch(room, 0, 1, reading->targets + start);
  rs_pass_out out = {.losses = reading->losses + start, .answers = reading->said + start};
  rs_forward(pass, &batch, &out);
  memcpy(reading->parts + start, room->parts, answers * sizeof *reading->parts);
  memcpy(reading->depths + start, room->depths, answers * sizeof *reading->depths);
}

static rs_status read_all(const rs_context *context, const rs_task *task, rs_split split, size_t length,
                          const rs_reading *reading, rs_err *err) {
  rs_status status = RS_OK;
#pragma omp parallel
  {
    rs_pass *pass = NULL;
    rs_examples room = {0};
    rs_err why = {0};
    rs_status ready = rs_examples_make(task, length, 1, &room, &why);
    if (ready == RS_OK) ready = rs_pass_create(context, 1, false, &pass, &why);
#pragma omp critical(rs_reading)
    if (ready != RS_OK && status == RS_OK) status = rs_fail(err, ready, "%s", why.message);
#pragma omp barrier
#pragma omp for schedule(dynamic, 1)
    for (size_t i = 0; i < reading->sequences; i++)
      if (status == RS_OK) read_one(pass, &room, split, i, reading);
    rs_pass_free(pass);
    rs_examples_clear(&room);
  }
  return status;
}

rs_status rs_reading_make(const rs_context *context, const rs_task *task, rs_split split, size_t length,
                          size_t sequences, rs_reading *reading, rs_err *err) {
  rs_examples probe;
  *reading = (rs_reading){0};
  RS_TRY(rs_examples_make(task, length, 1, &probe, err));
  rs_status status = rs_examples_fit(&probe, &context->transformer->shape, err);
  size_t count = split == RS_SPLIT_EVALUATION ? rs_example_count(&probe.shape, sequences) : sequences;
  *reading = (rs_reading){.sequences = count, .answers = probe.answers};
  if (status == RS_OK) status = make_arrays(reading, err);
  if (status == RS_OK) status = read_all(context, task, split, length, reading, err);
  rs_examples_clear(&probe);
  if (status != RS_OK) rs_reading_clear(reading);
  return status;
}

void rs_reading_clear(rs_reading *reading) {
  free(reading->losses);
  free(reading->said);
  free(reading->targets);
  free(reading->parts);
  free(reading->depths);
  *reading = (rs_reading){0};
}
