/* Resizing a table on a grid, as torch.nn.functional.interpolate does with `size` given: ViT's position tables are
 * carried to other resolutions so (arXiv:2010.11929, section 3.2; DeiT and most code since: bicubic). Separable: each
 * axis has its taps and weights. Cubic convolution: Keys, IEEE Trans. ASSP 29, 1981, with his free constant a. */
#include "ropescope/math.h"

#include <math.h>
#include <stdlib.h>

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
    if (mode == RS_BICUBIC_ANTIALIAS)
      smooth_taps(t, o, size, step);
    else if (mode == RS_BILINEAR)
      linear_taps(t, o, source, size);
    else
      cubic_taps(t, o, source, size);
  }
  return RS_OK;
}

/* Vectors of `channels` numbers: out[o] = the weighted sum of in[index * stride] over the taps of output o. */
static void weigh(const taps *t, size_t o, const double *in, size_t stride, size_t channels, double *out) {
  for (size_t c = 0; c < channels; c++) out[c] = 0;
  for (size_t k = 0; k < t->count; k++) {
    double weight = t->weight[t->count * o + k];
    const double *from = in + t->index[t->count * o + k] * stride;
    for (size_t c = 0; c < channels; c++) out[c] += weight * from[c];
  }
}

rs_status rs_resize_2d(const double *in, size_t rows, size_t columns, size_t channels, rs_resize mode, size_t new_rows,
                       size_t new_columns, double *out, rs_err *err) {
  taps down = {0}, across = {0};
  double *wide = NULL; /* (rows, new_columns, channels) */
  rs_status status = RS_MEMORY;
  if (channels > 0 && new_columns > SIZE_MAX / sizeof *wide / channels) {
    status = rs_fail(err, RS_MEMORY, "a row of %zu x %zu numbers is too large", new_columns, channels);
    goto out;
  }
  wide = rs_alloc(rows, new_columns * channels * sizeof *wide, err);
  if (wide == NULL || make_taps(mode, rows, new_rows, &down, err) != RS_OK ||
      make_taps(mode, columns, new_columns, &across, err) != RS_OK)
    goto out;
  for (size_t y = 0; y < rows; y++)
    for (size_t x = 0; x < new_columns; x++)
      weigh(&across, x, in + y * columns * channels, channels, channels, wide + (y * new_columns + x) * channels);
  for (size_t y = 0; y < new_rows; y++)
    weigh(&down, y, wide, new_columns * channels, new_columns * channels, out + y * new_columns * channels);
  status = RS_OK;
out:
  clear_taps(&down);
  clear_taps(&across);
  free(wide);
  return status;
}
