/* Resizing a table on a grid, as torch.nn.functional.interpolate does with `size` given: ViT's position tables are
 * carried to other resolutions so (arXiv:2010.11929, section 3.2; DeiT and most code since: bicubic). Separable: each
 * axis has its taps and weights. Cubic convolution: Keys, IEEE Trans. ASSP 29, 1981, with his free constant a. GSL's
 * bicubic is a spline through the samples' slopes, which is another function. */
#include "base/base.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define A_SHARP (-0.75) /* torch and OpenCV */
#define A_KEYS (-0.5)   /* Keys' own (exact for quadratics); Pillow, and torch with antialias */

/* Output o of one axis is sum_k weight[o * count + k] * in[index[o * count + k]]. */
typedef struct taps {
  size_t count;
  size_t *index;
  double *weight;
} taps;

/* Keys' kernel of reach 2, of a distance x >= 0 in samples. */
static double cubic(double a, double x) {
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

static size_t clamp(double index, size_t size) {
  return index <= 0 ? 0 : index >= (double)size ? size - 1 : (size_t)index;
}

/* Where output o lies among the samples: their centres are matched with the outputs' (align false: both grids cover the
 * same area), or the first and last of both. */
static double source_of(size_t o, size_t size, size_t new_size, bool align) {
  if (!align) return (double)size / (double)new_size * ((double)o + 0.5) - 0.5;
  return new_size > 1 ? (double)o * ((double)(size - 1) / (double)(new_size - 1)) : 0;
}

static void crop_taps(const taps *t, size_t o) {
  t->index[o] = o;
  t->weight[o] = 1;
}

/* Four samples around; beyond the border the border's own. */
static void cubic_taps(const taps *t, size_t o, double source, size_t size) {
  double first = floor(source), share = source - first;
  for (size_t k = 0; k < 4; k++) {
    t->index[4 * o + k] = clamp(first + (double)k - 1, size);
    t->weight[4 * o + k] = cubic(A_SHARP, fabs(share + 1 - (double)k));
  }
}

static void linear_taps(const taps *t, size_t o, double source, size_t size) {
  double first = floor(source), share = source - first; /* beyond the border both are the border's own */
  t->index[2 * o] = clamp(first, size);
  t->index[2 * o + 1] = clamp(first + 1, size);
  t->weight[2 * o] = 1 - share;
  t->weight[2 * o + 1] = share;
}

/* The kernel grows with the step, so that a smaller grid averages; what falls beyond the border is left out, and the
 * rest made to sum to 1. */
static void smooth_taps(const taps *t, size_t o, size_t size, double step) {
  double wide = fmax(step, 1), reach = 2 * wide, centre = step * ((double)o + 0.5), sum = 0;
  size_t first = clamp(trunc(centre - reach + 0.5), size);
  size_t end = (size_t)fmin(trunc(centre + reach + 0.5), (double)size);
  for (size_t k = 0; k < t->count && first + k < end; k++) {
    double weight = cubic(A_KEYS, fabs((double)(first + k) - centre + 0.5) / wide);
    t->index[t->count * o + k] = first + k;
    t->weight[t->count * o + k] = weight;
    sum += weight;
  }
  for (size_t k = 0; k < t->count; k++) t->weight[t->count * o + k] /= sum;
}

static size_t taps_of(rs_resize mode, double step) {
  if (mode == RS_CROP) return 1;
  if (mode == RS_BILINEAR) return 2;
  return mode == RS_BICUBIC_ANTIALIAS ? 2 * (size_t)ceil(2 * fmax(step, 1)) + 1 : 4;
}

static void clear_taps(taps *t) {
  free(t->index);
  free(t->weight);
}

static rs_status make_taps(rs_resize mode, size_t size, size_t new_size, taps *t, rs_err *err) {
  double step = (double)size / (double)new_size;
  t->count = taps_of(mode, step);
  t->index = rs_alloc(new_size, t->count * sizeof *t->index, err);
  t->weight = rs_alloc(new_size, t->count * sizeof *t->weight, err);
  if (t->index == NULL || t->weight == NULL) return RS_MEMORY;
  for (size_t o = 0; o < new_size; o++) {
    double source = source_of(o, size, new_size, mode == RS_BICUBIC_ALIGN);
    if (mode == RS_CROP)
      crop_taps(t, o);
    else if (mode == RS_BICUBIC_ANTIALIAS)
      smooth_taps(t, o, size, step);
    else if (mode == RS_BILINEAR)
      linear_taps(t, o, source, size);
    else
      cubic_taps(t, o, source, size);
  }
  return RS_OK;
}

struct rs_resizer {
  size_t columns, new_rows, new_columns;
  taps down, across;
};

rs_status rs_resizer_create(rs_resize mode, size_t rows, size_t columns, size_t new_rows, size_t new_columns,
                            rs_resizer **resizer, rs_err *err) {
  rs_resizer *fresh = rs_alloc(1, sizeof *fresh, err);
  *resizer = fresh;
  if (fresh == NULL) return RS_MEMORY;
  fresh->columns = columns;
  fresh->new_rows = new_rows;
  fresh->new_columns = new_columns;
  rs_status status = make_taps(mode, rows, new_rows, &fresh->down, err);
  if (status == RS_OK) status = make_taps(mode, columns, new_columns, &fresh->across, err);
  if (status == RS_OK) return RS_OK;
  rs_resizer_free(fresh);
  *resizer = NULL;
  return status;
}

void rs_resizer_free(rs_resizer *resizer) {
  if (resizer == NULL) return;
  clear_taps(&resizer->down);
  clear_taps(&resizer->across);
  free(resizer);
}

enum { RUN = 64 }; /* channels that are summed side by side */

/* out (count,): channels of the output at row y and column x; `in` points to the first of them. */
static void weigh(const rs_resizer *r, const double *in, size_t channels, size_t y, size_t x, size_t count,
                  double *out) {
  const taps *down = &r->down, *across = &r->across;
  memset(out, 0, count * sizeof *out);
  for (size_t i = y * down->count; i < (y + 1) * down->count; i++) {
    const double *line = in + down->index[i] * r->columns * channels;
    double sum[RUN] = {0};
    for (size_t k = x * across->count; k < (x + 1) * across->count; k++)
      for (size_t c = 0; c < count; c++) sum[c] += across->weight[k] * line[across->index[k] * channels + c];
    for (size_t c = 0; c < count; c++) out[c] += down->weight[i] * sum[c];
  }
}

void rs_resizer_apply(const rs_resizer *resizer, const double *in, size_t channels, double *out) {
  for (size_t y = 0; y < resizer->new_rows; y++)
    for (size_t x = 0; x < resizer->new_columns; x++, out += channels)
      for (size_t c = 0; c < channels; c += RUN)
        weigh(resizer, in + c, channels, y, x, channels - c < RUN ? channels - c : RUN, out + c);
}

void rs_resizer_gradient(const rs_resizer *resizer, size_t row, size_t column, const double *by_out, size_t count,
                         size_t channels, double *by_in) {
  const taps *down = &resizer->down, *across = &resizer->across;
  for (size_t i = row * down->count; i < (row + 1) * down->count; i++)
    for (size_t k = column * across->count; k < (column + 1) * across->count; k++) {
      double weight = down->weight[i] * across->weight[k];
      double *to = by_in + (down->index[i] * resizer->columns + across->index[k]) * channels;
      for (size_t c = 0; c < count; c++) to[c] += weight * by_out[c];
    }
}
