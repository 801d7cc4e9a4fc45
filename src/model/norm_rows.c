/* Norms of rows that stand in larger rows, as heads do. */
#include "context.h"
#include "work.h"

#include <string.h>

/* The call for one part of all rows. Where parts are several, each has its share of mean and scale. */
static rs_norm_call call_of(const real *values, const rs_norm *norm, rs_norm_place place, size_t rows, size_t width,
                            rs_rows x, const rs_norm_work *work, size_t part) {
  bool centred = norm->kind == RS_NORM_LAYER;
  size_t first = part * place.part_step;
  return (rs_norm_call){.rows = rows,
                        .width = width,
                        .centred = centred,
                        .epsilon = norm->epsilon,
                        .weight = place.weight != RS_NOWHERE ? values + place.weight + first : NULL,
                        .lift = norm->around_one ? 1 : 0,
                        .bias = place.bias != RS_NOWHERE ? values + place.bias + first : NULL,
                        .x = x.data + part * width,
                        .x_step = x.step,
                        .mean = centred ? work->mean + part * rows : NULL,
                        .scale = work->scale + part * rows};
}

rs_rows rs_norm_rows(const real *values, const rs_norm *norm, rs_norm_place place, size_t rows, size_t parts,
                     size_t width, rs_rows x, const rs_norm_work *work) {
  if (norm->kind == RS_NORM_NONE) return x;
#pragma omp parallel for schedule(static) if (rs_shares(rows))
  for (size_t first = 0; first < rows; first += RS_SHARE)
    for (size_t part = 0; part < parts; part++) {
      rs_norm_call call = call_of(values, norm, place, rows, width, x, work, part);
      call.rows = rows - first < RS_SHARE ? rows - first : RS_SHARE;
      call.x = (const real *)call.x + first * x.step;
      call.scale = (real *)call.scale + first;
      if (call.mean != NULL) call.mean = (real *)call.mean + first;
      rs_real_kernel()->norm(&call, work->y + first * parts * width + part * width, parts * width);
    }
  return (rs_rows){work->y, parts * width};
}

void rs_norm_rows_back(const real *values, const rs_norm *norm, rs_norm_place place, size_t rows, size_t parts,
                       size_t width, rs_rows x, const rs_norm_work *work, rs_rows dy, rs_rows dx, real *gradient) {
  if (norm->kind == RS_NORM_NONE) {
    for (size_t r = 0; r < rows; r++)
      rs_real_kernel()->add(dy.data + r * dy.step, parts * width, dx.data + r * dx.step);
    return;
  }
  for (size_t part = 0; part < parts; part++) {
    rs_norm_call call = call_of(values, norm, place, rows, width, x, work, part);
    size_t first = part * place.part_step;
    rs_real_kernel()->norm_back(&call, dy.data + part * width, dy.step, dx.data + part * width, dx.step,
                                place.weight != RS_NOWHERE ? gradient + place.weight + first : NULL,
                                place.bias != RS_NOWHERE ? gradient + place.bias + first : NULL);
  }
}

void rs_rows_copy(rs_rows from, size_t rows, size_t columns, rs_rows to) {
#pragma omp parallel for schedule(static) if (rs_shares(rows))
  for (size_t r = 0; r < rows; r++) memcpy(to.data + r * to.step, from.data + r * from.step, columns * sizeof(real));
}
