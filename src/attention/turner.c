/* Queries and keys on their way to the kernel are rotated token by token, as rows. */
#include "worker.h"

#include "kernel/kernel.h"

#include <string.h>

rs_status rs_turner_prepare(rs_turner *turner, const rs_attention_job *job, rs_err *err) {
  size_t pairs = job->encoding->rotary_dim / 2;
  RS_TRY(rs_reals_reserve(&turner->storage, RS_TURNED * (2 * pairs + job->encoding->head_dim), sizeof(double), err));
  turner->job = job;
  turner->cosine = turner->storage.data;
  turner->sine = turner->cosine + RS_TURNED * pairs;
  turner->rows = turner->sine + RS_TURNED * pairs;
  return RS_OK;
}

void rs_turner_clear(rs_turner *turner) {
  rs_reals_clear(&turner->storage);
}

/* turner->rows = rot(x + embedded) of tokens [begin, end); x and embedded (end - begin, D), embedded may be NULL. */
static const double *turn(const rs_turner *turner, rs_side side, size_t view, rs_range tokens, const double *x,
                          const double *embedded) {
  const rs_encoding *encoding = turner->job->encoding;
  size_t count = tokens.end - tokens.begin, dims = encoding->head_dim;
  rs_turn_shape shape = {.tokens = count,
                         .heads = 1,
                         .dims = dims,
                         .pairs = encoding->rotary_dim / 2,
                         .interleaved = encoding->pair_layout == RS_INTERLEAVED};
  memcpy(turner->rows, x, count * dims * sizeof *x);
  for (size_t i = 0; i < count * dims && embedded != NULL; i++) turner->rows[i] += embedded[i];
  if (turner->job->mask.kind == RS_CROSS || shape.pairs == 0) return turner->rows;
  rs_encoding_turns(encoding, side, view, tokens.begin, tokens.end, turner->cosine, turner->sine);
  rs_kernels_get()->rotate->turn_f64(&shape, turner->cosine, turner->sine, turner->rows);
  return turner->rows;
}

const double *rs_turn_query(const rs_turner *turner, size_t view, size_t query) {
  const rs_attention_job *job = turner->job;
  size_t position = job->queries[query], first = query * job->encoding->head_dim;
  return turn(turner, RS_QUERY_SIDE, view, (rs_range){position, position + 1}, job->q + first,
              job->projection != NULL ? job->projection->q + first : NULL);
}

static const double *embedded_keys(const rs_attention_job *job, size_t begin) {
  return job->projection != NULL ? job->projection->k + begin * job->encoding->head_dim : NULL;
}

const double *rs_turn_keys(const rs_turner *turner, size_t view, size_t begin, size_t end) {
  const rs_attention_job *job = turner->job;
  return turn(turner, RS_KEY_SIDE, view, (rs_range){begin, end}, job->k + begin * job->encoding->head_dim,
              embedded_keys(job, begin));
}

const double *rs_turn_key(const rs_turner *turner, size_t view, size_t position, const double *key) {
  return turn(turner, RS_KEY_SIDE, view, (rs_range){position, position + 1}, key, embedded_keys(turner->job, position));
}
