/* Keys on their way to the kernel: some tokens at a time they are rotated as rows, then dealt into panels. */
#include "engine.h"

#include <math.h>
#include <string.h>

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
static void load_run(rs_loaded_job *loaded, const rs_turner *turner, size_t view, size_t begin, size_t end) {
  size_t rows = loaded->kernel->rows, dims = loaded->dims, bytes = loaded->kernel->real_bytes;
  char *keys = (char *)loaded->keys.data + view * rs_view_reals(loaded) * bytes;
  const double *turned = rs_turn_keys(turner, view, begin, end);
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
      load_run(loaded, &workers[rs_engine_thread()].turner, v, begin, end);
    }
  (void)threads;
  fill_norms_so_far(loaded);
}
