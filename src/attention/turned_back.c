/* What rotated a row had a cosine c and a sine s for each pair, with amp and gains in them: (a, b) became (a c - b s,
 * a s + b c). The same turn by c / (c^2 + s^2) and -s / (c^2 + s^2) undoes it, whatever c and s were rounded to. */
#include "sources.h"

#include <stdlib.h>

#include "kernel/kernel.h"

rs_status rs_turned_check(const rs_recipe *recipe, rs_err *err) {
  const rs_method *method = recipe->method;
  if (method->embed != NULL)
    return rs_fail(err, RS_UNSUPPORTED,
                   "%s adds its table to the tokens, before anything is projected: what it has put on queries and keys "
                   "cannot be told from the rest",
                   method->name);
  if (method->freq == NULL)
    return rs_fail(err, RS_INPUT, "%s turns nothing: the rows are as they were (rotated: no)", method->name);
  if (method->pos->views > 1)
    return rs_fail(err, RS_UNSUPPORTED, "%s turns each row in %zu ways: one dump cannot hold them", method->name,
                   method->pos->views);
  return RS_OK;
}

rs_status rs_turned_back_make(const rs_turned *turned, rs_turned_back *back, rs_err *err) {
  rs_format angles = turned->format == RS_F64 ? RS_F64 : RS_F32; /* 16 bits hold cosines, no program's angles */
  const rs_precision precision = {.positions = angles, .inv_freq = angles, .angle = angles, .table = turned->format};
  *back = (rs_turned_back){.from = turned->from};
  RS_TRY(rs_encoding_create(turned->recipe, turned->model, turned->from + turned->count, turned->tokens, &precision,
                            &back->encoding, err));
  back->turns = rs_alloc(rs_engine_threads() * RS_STEPS, back->encoding->rotary_dim * sizeof *back->turns, err);
  return back->turns != NULL ? RS_OK : RS_MEMORY;
}

void rs_turned_back_clear(rs_turned_back *back) {
  rs_encoding_free(back->encoding);
  free(back->turns);
  *back = (rs_turned_back){0};
}

/* At most RS_STEPS rows. */
static void turn_some(const rs_turned_back *back, rs_side side, size_t begin, size_t end, double *rows) {
  const rs_encoding *encoding = back->encoding;
  const rs_turn_shape shape = {.tokens = end - begin,
                               .heads = 1,
                               .dims = encoding->head_dim,
                               .pairs = encoding->rotary_dim / 2,
                               .interleaved = encoding->pair_layout == RS_INTERLEAVED};
  size_t room = RS_STEPS * shape.pairs;
  double *cosine = back->turns + rs_engine_thread() * 2 * room, *sine = cosine + room;
  rs_encoding_turns(encoding, side, 0, back->from + begin, back->from + end, cosine, sine);
  for (size_t i = 0; i < shape.tokens * shape.pairs; i++) {
    double squares = cosine[i] * cosine[i] + sine[i] * sine[i];
    cosine[i] /= squares;
    sine[i] /= -squares;
  }
  rs_kernels_get()->rotate->turn_f64(&shape, cosine, sine, rows);
}

void rs_turn_back(const rs_turned_back *back, rs_side side, size_t begin, size_t end, double *rows) {
  for (size_t n = begin; n < end; n += RS_STEPS) {
    size_t stop = n + RS_STEPS < end ? n + RS_STEPS : end;
    turn_some(back, side, n, stop, rows + (n - begin) * back->encoding->head_dim);
  }
}
