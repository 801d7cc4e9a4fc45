/* What a model says where it sees the last tokens alone. As in the code of Fang et al., arXiv:2410.23771, `step`
 * targets share where their context begins, so that a context is `context` to `context + step - 1` tokens long. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"

#include "context.h"
#include "tasks.h"

size_t rs_cut_window(const rs_cut *cut, size_t length) {
  return length - 1 < cut->context - 1 + cut->step ? length : cut->context - 1 + cut->step;
}

/* Room of one thread. */
typedef struct room {
  const rs_cut *cut;
  rs_pass *pass;
  rs_examples examples; /* one sequence */
  size_t window;        /* tokens that the pass reads */
  int32_t *tokens, *targets;
  double *losses; /* (window,) each */
} room;

static rs_status make_room(const rs_context *context, const rs_task *task, size_t length, room *r, rs_err *err) {
  r->window = context->decoder.length;
  RS_TRY(rs_examples_make(task, length, 1, &r->examples, err));
  r->tokens = rs_alloc(r->window, sizeof *r->tokens, err);
  r->targets = rs_alloc(r->window, sizeof *r->targets, err);
  r->losses = rs_alloc(r->window, sizeof *r->losses, err);
  if (r->tokens == NULL || r->targets == NULL || r->losses == NULL) return RS_MEMORY;
  return rs_pass_create(context, 1, false, &r->pass, err);
}

static void clear_room(room *r) {
  rs_pass_free(r->pass);
  rs_examples_clear(&r->examples);
  free(r->tokens);
  free(r->targets);
  free(r->losses);
}

/* The window from token `start` on; behind the end of the sequence stand tokens that nothing before them sees. */
static void read_window(room *r, size_t start, double *losses) {
  size_t length = r->examples.shape.length, first = r->cut->context - 1;
  size_t tokens = length - start < r->window ? length - start : r->window;
  bool any = false;
  for (size_t t = 0; t < r->window; t++) {
    bool asked = t >= first && t < tokens && r->examples.targets[start + t] != RS_NO_TARGET;
    r->tokens[t] = t < tokens ? r->examples.tokens[start + t] : 0;
    r->targets[t] = asked ? r->examples.targets[start + t] : RS_NO_TARGET;
    any |= asked;
  }
  if (!any) return;
  rs_batch batch = {.sequences = 1, .tokens = r->tokens, .targets = r->targets};
  rs_forward(r->pass, &batch, &(rs_pass_out){.losses = r->losses});
  for (size_t t = first; t < tokens; t++) losses[start + t] = r->losses[t];
}

static void read_sequence(room *r, rs_split split, size_t index, double *losses) {
  size_t length = r->examples.shape.length;
  rs_examples_draw(&r->examples, split, index, 0);
  for (size_t t = 0; t < length; t++) losses[t] = NAN;
  for (size_t start = 0; start + r->cut->context <= length; start += r->cut->step) read_window(r, start, losses);
}

static rs_status read_all(const rs_context *context, const rs_task *task, rs_split split, size_t length,
                          size_t sequences, const rs_cut *cut, double *losses, rs_err *err) {
  rs_status status = RS_OK;
#pragma omp parallel
  {
    room own = {.cut = cut};
    rs_err why = {0};
    rs_status ready = make_room(context, task, length, &own, &why);
#pragma omp critical(rs_reading)
    if (ready != RS_OK && status == RS_OK) status = rs_fail(err, ready, "%s", why.message);
#pragma omp barrier
#pragma omp for schedule(dynamic, 1)
    for (size_t i = 0; i < sequences; i++)
      if (status == RS_OK) read_sequence(&own, split, i, losses + i * own.examples.answers);
    clear_room(&own);
  }
  return status;
}

rs_status rs_cut_losses(const rs_context *context, const rs_task *task, rs_split split, size_t length, size_t sequences,
                        const rs_cut *cut, double **losses, rs_err *err) {
  rs_example_shape shape;
  *losses = NULL;
  RS_TRY(task->kind->shape(task->state, length, &shape, err));
  if (context->transformer->shape.form != RS_DECODER)
    return rs_fail(err, RS_UNSUPPORTED, "contexts are cut for decoders alone");
  *losses = rs_alloc(sequences * shape.length, sizeof **losses, err);
  if (*losses == NULL) return RS_MEMORY;
  rs_status status = read_all(context, task, split, length, sequences, cut, *losses, err);
  if (status == RS_OK) return RS_OK;
  free(*losses);
  *losses = NULL;
  return status;
}
