/* A job on its way to the kernel: some tokens at a time its keys are rotated as rows, then dealt into panels. And what
 * one thread needs to walk queries over them. */
#include "engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#ifdef __linux__
#include <sys/mman.h>
#endif

rs_status rs_reals_reserve(rs_reals *reals, size_t count, size_t size, rs_err *err) {
  enum { LINE = 64, HUGE_PAGE = 1 << 21 };
  if (count > (SIZE_MAX - HUGE_PAGE) / size) return rs_fail(err, RS_MEMORY, "out of memory: %zu numbers", count);
  size_t unit = count * size < 2 * HUGE_PAGE ? LINE : HUGE_PAGE, bytes = (count * size + unit - 1) / unit * unit;
  if (bytes <= reals->bytes) return RS_OK;
  free(reals->data);
  reals->data = aligned_alloc(unit, bytes);
#ifdef MADV_HUGEPAGE
  /* Keys that stream from memory would miss the page tables' cache once for each panel. No matter if it is refused. */
  if (reals->data != NULL && unit == HUGE_PAGE) madvise(reals->data, bytes, MADV_HUGEPAGE);
#endif
  reals->bytes = reals->data != NULL ? bytes : 0;
  return reals->data != NULL ? RS_OK : rs_fail(err, RS_MEMORY, "out of memory: %zu bytes", bytes);
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

size_t rs_engine_threads(void) {
#ifdef _OPENMP
  return (size_t)omp_get_max_threads();
#else
  return 1;
#endif
}

size_t rs_engine_thread(void) {
#ifdef _OPENMP
  return (size_t)omp_get_thread_num();
#else
  return 0;
#endif
}

/* ---- workers ----------------------------------------------------------------------------------------------------- */

/* Keys that a block's tiles share: what fills a quarter of a second cache of 1 MiB, and no more than sums of weights in
 * float stay exact for (engine.h). */
enum { KEY_BYTES = 224 * 1024, MOST_KEYS = 512 };

size_t rs_block_panels(const rs_loaded_job *loaded) {
  size_t panel = loaded->kernel->rows * loaded->dims * loaded->kernel->real_bytes;
  size_t fitting = panel < KEY_BYTES ? KEY_BYTES / panel : 1, most = MOST_KEYS / loaded->kernel->rows;
  return fitting < most ? fitting : most;
}

size_t rs_state_bins(const rs_loaded_job *loaded) {
  return (loaded->job.moments ? 4 : 1) * loaded->job.bins * loaded->kernel->lanes;
}

void rs_state_place(const rs_loaded_job *loaded, double *bins, rs_score_state *state) {
  size_t each = loaded->job.bins * loaded->kernel->lanes;
  bool moments = loaded->job.moments;
  state->bin_weight = bins;
  state->bin_keys = moments ? bins + each : NULL;
  state->bin_mean = moments ? bins + 2 * each : NULL;
  state->bin_squares = moments ? bins + 3 * each : NULL;
}

/* The next `bytes` of a worker's storage; without any they are only counted. */
typedef struct cursor {
  char *base;
  size_t used;
} cursor;

static void *take(cursor *c, size_t bytes) {
  enum { LINE = 64 };
  void *part = c->base != NULL ? c->base + c->used : NULL;
  c->used += (bytes + LINE - 1) / LINE * LINE;
  return part;
}

/* Returns how many bytes the arrays take. */
static size_t lay_out(rs_worker *worker, const rs_loaded_job *loaded, char *base) {
  const rs_score_kernel *kernel = loaded->kernel;
  const rs_attention_job *job = &loaded->job;
  size_t bytes = kernel->real_bytes, lanes = kernel->lanes, tile = lanes * loaded->dims * bytes;
  size_t block = rs_block_panels(loaded) * kernel->rows, row = sizeof(double), pairs = loaded->encoding.rotary_dim / 2;
  cursor c = {.base = base};
  worker->cosine = take(&c, RS_TURNED * pairs * row);
  worker->sine = take(&c, RS_TURNED * pairs * row);
  worker->turned = take(&c, RS_TURNED * loaded->dims * row);
  worker->queries = take(&c, RS_TILES * loaded->views * tile);
  worker->pairs = take(&c, 2 * tile);
  worker->scratch = take(&c, job->bins * lanes * bytes);
  worker->bias = take(&c, block * lanes * bytes);
  worker->bias_rows = take(&c, block * lanes * bytes);
  worker->bias_row = take(&c, block * row);
  worker->bins = take(&c, RS_TILES * rs_state_bins(loaded) * row);
  worker->logits = take(&c, rs_job_has_shares(job) ? block * lanes * row : 0);
  worker->rows = take(&c, job->top_count > 0 ? lanes * (job->encoding->length + 1) * row : 0);
  return c.used;
}

rs_status rs_worker_prepare(rs_worker *worker, const rs_loaded_job *loaded, rs_err *err) {
  const rs_score_kernel *kernel = loaded->kernel;
  size_t each = rs_state_bins(loaded);
  RS_TRY(rs_reals_reserve(&worker->storage, lay_out(worker, loaded, NULL), 1, err));
  lay_out(worker, loaded, worker->storage.data);
  memset(worker->scratch, 0, loaded->job.bins * kernel->lanes * kernel->real_bytes);
  for (size_t t = 0; t < RS_TILES; t++) {
    worker->tiles[t].queries = worker->queries + t * loaded->views * kernel->lanes * loaded->dims * kernel->real_bytes;
    rs_state_place(loaded, worker->bins + t * each, &worker->tiles[t].state);
  }
  worker->loaded = loaded;
  worker->above = 0;
  worker->first = worker->end = 0;
  return RS_OK;
}

/* ---- rotation ---------------------------------------------------------------------------------------------------- */

/* rot(x + embedded) of tokens [begin, end); x and embedded (end - begin, D), embedded may be NULL. Vectors of distance
 * go with no rotation: their u joins a query. */
static const double *rotate(const rs_worker *worker, rs_side side, size_t view, rs_range tokens, const double *x,
                            const double *embedded) {
  const rs_loaded_job *loaded = worker->loaded;
  const rs_encoding *encoding = &loaded->encoding;
  rs_row_turn turn = {.rows = tokens.end - tokens.begin,
                      .width = loaded->dims,
                      .pairs = encoding->rotary_dim / 2,
                      .interleaved = encoding->pair_layout == RS_INTERLEAVED,
                      .cosine = worker->cosine,
                      .sine = worker->sine};
  size_t count = turn.rows * turn.width;
  memcpy(worker->turned, x, count * sizeof *x);
  for (size_t i = 0; i < count && embedded != NULL; i++) worker->turned[i] += embedded[i];
  for (size_t d = 0; d < turn.width && side == RS_QUERY_SIDE && loaded->vectors.u != NULL; d++)
    worker->turned[d] += loaded->vectors.u[d];
  if (loaded->job.mask.kind == RS_CROSS || turn.pairs == 0) return worker->turned;
  rs_encoding_turns(encoding, side, view, tokens.begin, tokens.end, worker->cosine, worker->sine);
  rs_kernels_get()->net_f64->turn_rows(&turn, worker->turned, turn.width, worker->turned, turn.width);
  return worker->turned;
}

const double *rs_turn_query(const rs_worker *worker, size_t view, size_t query) {
  const rs_attention_job *job = &worker->loaded->job;
  size_t position = job->queries[query], first = query * job->encoding->head_dim;
  return rotate(worker, RS_QUERY_SIDE, view, (rs_range){position, position + 1}, job->q + first,
                job->projection != NULL ? job->projection->q + first : NULL);
}

const double *rs_turn_keys(const rs_worker *worker, size_t view, size_t begin, size_t end, const double *keys) {
  const rs_attention_job *job = &worker->loaded->job;
  return rotate(worker, RS_KEY_SIDE, view, (rs_range){begin, end}, keys,
                job->projection != NULL ? job->projection->k + begin * job->encoding->head_dim : NULL);
}

/* ---- keys -------------------------------------------------------------------------------------------------------- */

static const double ROUNDED = 1 + 1e-6; /* a norm that float keys cannot exceed */
static const double TURN_COST = 32;     /* multiply-adds that rotating and storing one number of a key comes to */

double rs_load_work(const rs_loaded_job *loaded) {
  return TURN_COST * (double)(loaded->job.encoding->length * loaded->dims * loaded->views);
}

static double norm(const double *x, size_t dims) {
  double squares = 0;
  for (size_t d = 0; d < dims; d++) squares += x[d] * x[d];
  return sqrt(squares) * ROUNDED;
}

/* One panel from `count` <= rows rotated keys; the rest is zero. */
static void deal(const rs_loaded_job *loaded, const double *keys, size_t count, void *panel) {
  size_t rows = loaded->kernel->rows, dims = loaded->dims, bytes = loaded->kernel->real_bytes;
  if (count < rows) memset(panel, 0, rows * dims * bytes);
  for (size_t d = 0; d < dims; d++)
    for (size_t r = 0; r < count; r++) rs_real_put(panel, bytes, d * rows + r, keys[r * dims + d]);
}

/* Keys [begin, end) of one view. */
static void load_run(rs_loaded_job *loaded, const rs_worker *worker, size_t view, size_t begin, size_t end) {
  size_t rows = loaded->kernel->rows, dims = loaded->dims, bytes = loaded->kernel->real_bytes;
  char *keys = (char *)loaded->keys.data + view * rs_view_reals(loaded) * bytes;
  const double *turned = rs_turn_keys(worker, view, begin, end, loaded->job.k + begin * dims);
  for (size_t n = begin; n < end; n += rows) {
    size_t count = end - n < rows ? end - n : rows, panel = n / rows;
    double most = 0;
    deal(loaded, turned + (n - begin) * dims, count, keys + panel * rows * dims * bytes);
    for (size_t r = 0; r < count; r++) most = fmax(most, norm(turned + (n - begin + r) * dims, dims));
    loaded->norm[view * loaded->panels + panel] = most;
  }
}

static void fill_norms_so_far(rs_loaded_job *loaded) {
  size_t panels = loaded->panels;
  for (size_t v = 0; v < loaded->views; v++) {
    double most = 0;
    for (size_t p = v * panels; p < (v + 1) * panels; p++) loaded->norm_so_far[p] = most = fmax(most, loaded->norm[p]);
  }
}

void rs_load_keys(rs_loaded_job *loaded, const rs_worker *workers, size_t threads) {
  size_t length = loaded->job.encoding->length, runs = (length + RS_TURNED - 1) / RS_TURNED, views = loaded->views;
#pragma omp parallel for schedule(static) collapse(2) num_threads((int)threads) if (threads > 1)
  for (size_t v = 0; v < views; v++)
    for (size_t run = 0; run < runs; run++) {
      size_t begin = run * RS_TURNED, end = begin + RS_TURNED < length ? begin + RS_TURNED : length;
      load_run(loaded, &workers[rs_engine_thread()], v, begin, end);
    }
  (void)threads;
  fill_norms_so_far(loaded);
}
