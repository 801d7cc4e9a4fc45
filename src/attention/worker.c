#include "worker.h"

#include <string.h>

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

rs_status rs_worker_prepare(rs_worker *worker, const rs_loaded_job *loaded, rs_err *err) {
  const rs_score_kernel *kernel = loaded->kernel;
  size_t bytes = kernel->real_bytes, tile = kernel->lanes * loaded->dims,
         block = rs_block_panels(loaded) * kernel->rows;
  size_t bins = loaded->job.bins * kernel->lanes, each = rs_state_bins(loaded);
  RS_TRY(rs_turner_prepare(&worker->turner, &loaded->job, err));
  RS_TRY(rs_reals_reserve(&worker->queries, RS_TILES * loaded->views * tile, bytes, err));
  RS_TRY(rs_reals_reserve(&worker->pairs, 2 * tile, bytes, err));
  RS_TRY(rs_reals_reserve(&worker->scratch, bins, bytes, err));
  RS_TRY(rs_reals_reserve(&worker->bias, block * kernel->lanes, bytes, err));
  RS_TRY(rs_reals_reserve(&worker->bias_rows, block * kernel->lanes, bytes, err));
  RS_TRY(rs_reals_reserve(&worker->bias_row, block, sizeof(double), err));
  RS_TRY(rs_reals_reserve(&worker->bins, RS_TILES * each, sizeof(double), err));
  if (rs_job_has_shares(&loaded->job)) RS_TRY(rs_reals_reserve(&worker->logits, block * kernel->lanes, bytes, err));
  if (loaded->job.top_count > 0)
    RS_TRY(rs_reals_reserve(&worker->rows, kernel->lanes * (loaded->job.encoding->length + 1), sizeof(double), err));
  memset(worker->scratch.data, 0, bins * bytes);
  for (size_t t = 0; t < RS_TILES; t++) {
    worker->tiles[t].queries = (char *)worker->queries.data + t * loaded->views * tile * bytes;
    rs_state_place(loaded, (double *)worker->bins.data + t * each, &worker->tiles[t].state);
  }
  worker->loaded = loaded;
  worker->above = 0;
  worker->first = worker->end = 0;
  return RS_OK;
}

void rs_worker_clear(rs_worker *worker) {
  rs_turner_clear(&worker->turner);
  rs_reals_clear(&worker->queries);
  rs_reals_clear(&worker->pairs);
  rs_reals_clear(&worker->scratch);
  rs_reals_clear(&worker->bias);
  rs_reals_clear(&worker->bias_row);
  rs_reals_clear(&worker->bias_rows);
  rs_reals_clear(&worker->bins);
  rs_reals_clear(&worker->logits);
  rs_reals_clear(&worker->rows);
}
