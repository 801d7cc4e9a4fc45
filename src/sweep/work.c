#include "work.h"

bool rs_cell_has_head(const rs_batch_work *work, const rs_cell_state *cell, size_t head) {
  const rs_head_group *group = &work->groups[cell->cell.group];
  for (size_t i = 0; i < group->count; i++)
    if (group->heads[i] == head) return true;
  return false;
}

rs_metric_in rs_metric_input(const rs_batch_work *work, const rs_cell_state *cell, size_t metric) {
  const rs_head_group *group = &work->groups[cell->cell.group];
  return (rs_metric_in){.encoding = work->encodings[rs_cell_method(cell)],
                        .params = work->experiment->metrics.items[metric].params,
                        .seed = work->experiment->seeds[cell->cell.axis[RS_BY_SEED]],
                        .heads = group->heads,
                        .head_count = group->count,
                        .edges = work->edges,
                        .bins = work->bins};
}

void rs_batch_advance(const rs_batch_work *work, double done) {
#pragma omp critical(rs_batch_advance)
  if (work->batch->advance != NULL) work->batch->advance(work->batch->context, done);
}
