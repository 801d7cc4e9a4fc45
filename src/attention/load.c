/* Keys on their way to the kernel: token by token they are rotated as rows, then dealt into panels, in which the same
 * dim of `rows` neighbouring keys stands together. */
#include "engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

static const double ROUNDED = 1 + 1e-6; /* a norm that float keys cannot exceed */

rs_status rs_reals_reserve(rs_reals *reals, size_t count, size_t size, rs_err *err) {
  enum { LINE = 64, HUGE_PAGE = 1 << 21 };
  if (count > (SIZE_MAX - HUGE_PAGE) / size) return rs_fail(err, RS_MEMORY, "out of memory: %zu numbers", count);
  size_t unit = count * size < 2 * HUGE_PAGE ? LINE : HUGE_PAGE, bytes = (count * size + unit - 1) / unit * unit;
  if (bytes <= reals->bytes) return RS_OK;
  free(reals->at);
  reals->at = aligned_alloc(unit, bytes);
#ifdef MADV_HUGEPAGE
  /* Keys that stream from memory would miss the page tables' cache once for each panel. No matter if it is refused. */
  if (reals->at != NULL && unit == HUGE_PAGE) madvise(reals->at, bytes, MADV_HUGEPAGE);
#endif
  reals->bytes = reals->at != NULL ? bytes : 0;
  return reals->at != NULL ? RS_OK : rs_fail(err, RS_MEMORY, "out of memory: %zu bytes", bytes);
}

void rs_turn_tokens(const rs_turner *turner, const rs_attention_job *job, rs_side side, size_t view, size_t begin,
                    size_t end, const double *x, const double *embedded) {
  const rs_encoding *encoding = job->encoding;
  size_t dims = encoding->head_dim;
  rs_turn_shape shape = {.tokens = end - begin,
                         .heads = 1,
                         .dims = dims,
                         .pairs = encoding->rotary_dim / 2,
                         .interleaved = encoding->pair_layout == RS_INTERLEAVED};
  memcpy(turner->rows, x, (end - begin) * dims * sizeof *x);
  for (size_t i = 0; i < (end - begin) * dims && embedded != NULL; i++) turner->rows[i] += embedded[i];
  if (job->mask.kind == RS_CROSS || shape.pairs == 0) return;
  rs_encoding_turns(encoding, side, view, begin, end, turner->cosine, turner->sine);
  rs_kernels_get()->rotate->turn_f64(&shape, turner->cosine, turner->sine, turner->rows);
}

static double norm_of(const double *x, size_t dims) {
  double squares = 0;
  for (size_t d = 0; d < dims; d++) squares += x[d] * x[d];
  return sqrt(squares) * ROUNDED;
}

/* One panel from `count` <= rows rotated keys; the rest is zero. */
static void deal(const rs_engine *engine, const double *keys, size_t count, void *panel) {
  size_t rows = engine->kernel->rows, dims = engine->head_dim, bytes = engine->kernel->real_bytes;
  if (count < rows) memset(panel, 0, rows * dims * bytes);
  for (size_t d = 0; d < dims; d++)
    for (size_t r = 0; r < count; r++) rs_real_put(panel, bytes, d * rows + r, keys[r * dims + d]);
}

/* Keys [begin, end) of one view. */
static void load_run(rs_engine *engine, const rs_attention_job *job, const rs_turner *turner, size_t view, size_t begin,
                     size_t end) {
  const rs_encoding *encoding = job->encoding;
  size_t rows = engine->kernel->rows, dims = encoding->head_dim, panels = rs_panels(engine, encoding->length);
  char *keys = (char *)engine->keys.at + view * rs_view_reals(engine, encoding->length) * engine->kernel->real_bytes;
  rs_turn_tokens(turner, job, RS_KEY_SIDE, view, begin, end, job->k + begin * dims,
                 job->projection != NULL ? job->projection->k + begin * dims : NULL);
  for (size_t n = begin; n < end; n += rows) {
    size_t count = end - n < rows ? end - n : rows, panel = n / rows;
    double most = 0;
    deal(engine, turner->rows + (n - begin) * dims, count, keys + panel * rows * dims * engine->kernel->real_bytes);
    for (size_t r = 0; r < count; r++) most = fmax(most, norm_of(turner->rows + (n - begin + r) * dims, dims));
    engine->norm[view * panels + panel] = most;
  }
}

static void note_largest_so_far(rs_engine *engine, size_t views, size_t panels) {
  for (size_t v = 0; v < views; v++) {
    double most = 0;
    for (size_t p = v * panels; p < (v + 1) * panels; p++) engine->so_far[p] = most = fmax(most, engine->norm[p]);
  }
}

void rs_load_keys(rs_engine *engine, const rs_attention_job *job, size_t threads) {
  size_t length = job->encoding->length, runs = (length + RS_TURNED - 1) / RS_TURNED, views = rs_views_of(job);
#pragma omp parallel for schedule(static) collapse(2) num_threads((int)threads) if (threads > 1)
  for (size_t v = 0; v < views; v++)
    for (size_t run = 0; run < runs; run++) {
      size_t begin = run * RS_TURNED, end = begin + RS_TURNED < length ? begin + RS_TURNED : length;
      load_run(engine, job, &engine->workers[rs_engine_thread()].turner, v, begin, end);
    }
  (void)threads;
  note_largest_so_far(engine, views, rs_panels(engine, length));
}
