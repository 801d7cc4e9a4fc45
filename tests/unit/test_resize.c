/* test_resize.c: tables carried to other grids, against the product of two kernels written down here. What torch and
 * MAE make of them is the golden suite's matter. */
#include "../fixtures/picture_worlds.h"
#include "../golden.h"

enum { MODES = 4 };

/* Keys' kernel, from its definition by its two cubics in powers of |x|. */
static double keys(double a, double x) {
  x = fabs(x);
  if (x <= 1) return (a + 2) * pow(x, 3) - (a + 3) * pow(x, 2) + 1;
  return x < 2 ? a * pow(x, 3) - 5 * a * pow(x, 2) + 8 * a * x - 4 * a : 0;
}

/* What sample i weighs in output o: the kernel summed over all samples of a line that repeats its border for ever (or,
 * with antialias, is not there), in continuous coordinates. */
static double weight_of(int mode, size_t size, size_t new_size, size_t o, size_t i) {
  double ratio = (double)size / (double)new_size, center = ((double)o + 0.5) * ratio - 0.5, sum = 0, share = 0;
  double wide = mode == RS_BICUBIC_ANTIALIAS && ratio > 1 ? ratio : 1;
  if (mode == RS_BICUBIC_ALIGN) center = new_size > 1 ? (double)o * ((double)size - 1) / ((double)new_size - 1) : 0;
  for (int k = -8; k < (int)size + 8; k++) {
    double far = (center - (double)k) / wide;
    double weight =
        mode == RS_BILINEAR ? fmax(0, 1 - fabs(far)) : keys(mode == RS_BICUBIC_ANTIALIAS ? -0.5 : -0.75, far);
    bool inside = k >= 0 && k < (int)size;
    if (mode == RS_BICUBIC_ANTIALIAS && !inside) continue;
    size_t sample = k < 0 ? 0 : k >= (int)size ? size - 1 : (size_t)k;
    sum += weight;
    if (sample == i) share += weight;
  }
  return share / sum;
}

/* Impulses show every weight, on unequal axes. */
Test(resize, impulse__every_mode_and_size__is_the_product_of_two_kernels) {
  static const size_t sizes[][4] = {{4, 3, 7, 5}, {5, 4, 2, 9}, {3, 6, 3, 2}, {1, 4, 3, 4},
                                    {6, 1, 4, 1}, {7, 5, 1, 1}, {2, 2, 4, 3}};
  for (size_t s = 0; s < RS_COUNT(sizes); s++)
    for (int mode = 0; mode < MODES; mode++) {
      size_t rows = sizes[s][0], columns = sizes[s][1], tall = sizes[s][2], wide = sizes[s][3], cells = rows * columns;
      double *in = obtain(cells * cells); /* channel i is the impulse at cell i */
      for (size_t i = 0; i < cells; i++) in[i * cells + i] = 1;
      double *out = resized(in, rows, columns, cells, mode, tall, wide);
      for (size_t o = 0; o < tall * wide; o++)
        for (size_t i = 0; i < cells; i++) {
          double expected = weight_of(mode, rows, tall, o / wide, i / columns) *
                            weight_of(mode, columns, wide, o % wide, i % columns);
          cr_assert(close_to(out[o * cells + i], expected, 1e-13, 1e-14),
                    "mode %d, %zu x %zu to %zu x %zu: cell %zu of output %zu weighs %.17g, should be %.17g", mode, rows,
                    columns, tall, wide, i, o, out[o * cells + i], expected);
        }
      free(in);
      free(out);
    }
}

/* The gradient is the transpose: what an output takes of an impulse, it gives back. Vectors longer than are summed side
 * by side. */
Test(resize, gradient__every_mode__gives_back_what_was_taken) {
  enum { ROWS = 4, COLUMNS = 3, TALL = 3, WIDE = 2, CHANNELS = 130, CELLS = ROWS * COLUMNS };
  static double in[CELLS * CHANNELS], by_in[CELLS * CHANNELS], by_out[CHANNELS];
  uint64_t state = 6;
  for (int mode = 0; mode <= RS_CROP; mode++) {
    rs_resizer *resizer;
    cr_assert_eq(rs_resizer_create((rs_resize)mode, ROWS, COLUMNS, TALL, WIDE, &resizer, NULL), RS_OK);
    for (size_t i = 0; i < RS_COUNT(in); i++) in[i] = draw_real(&state, -1, 1);
    double *out = resized(in, ROWS, COLUMNS, CHANNELS, mode, TALL, WIDE);
    for (size_t o = 0; o < TALL * WIDE; o++) {
      double taken = 0, given = 0, before = draw_real(&state, -1, 1);
      for (size_t i = 0; i < RS_COUNT(by_in); i++) by_in[i] = before;
      for (size_t c = 0; c < CHANNELS; c++) by_out[c] = draw_real(&state, -1, 1);
      for (size_t c = 0; c < CHANNELS; c++) taken += by_out[c] * out[o * CHANNELS + c];
      rs_resizer_gradient(resizer, o / WIDE, o % WIDE, by_out, CHANNELS, CHANNELS, by_in);
      for (size_t i = 0; i < RS_COUNT(in); i++) given += (by_in[i] - before) * in[i];
      cr_assert(close_to(given, taken, 1e-12, 1e-12), "mode %d output %zu: %.17g, not %.17g", mode, o, given, taken);
      if (mode == RS_CROP)
        cr_assert_arr_eq(out + o * CHANNELS, in + (o / WIDE * COLUMNS + o % WIDE) * CHANNELS, sizeof by_out);
    }
    free(out);
    rs_resizer_free(resizer);
  }
}

/* By hand: two samples 0 and 1 on four places. */
Test(resize, two_samples_to_four__by_hand) {
  static const double in[] = {0, 1};
  static const double shares[] = {0, 0.25, 0.75, 1};
  double *linear = resized(in, 1, 2, 1, RS_BILINEAR, 1, 4), *cubic = resized(in, 1, 2, 1, RS_BICUBIC, 1, 4);
  double *align = resized(in, 2, 1, 1, RS_BICUBIC_ALIGN, 4, 1);
  for (size_t i = 0; i < 4; i++) {
    cr_assert_eq(linear[i], shares[i]);
    cr_assert(close_to(cubic[i] + cubic[3 - i], 1, 0, 1e-15), "the two samples are each other's mirror image");
    cr_assert(close_to(align[i] + align[3 - i], 1, 0, 1e-15));
  }
  /* Place 0 lies at -1/4, between samples -1 and 0, both the border's 0, as is sample -2: only sample 1 counts, 5/4
   * away: -3/4 (125/64) + 15/4 (25/16) - 6 (5/4) + 3 = -27/256. */
  cr_assert_eq(cubic[0], -27.0 / 256);
  cr_assert(align[0] == 0 && align[3] == 1, "first on first, last on last");
  free(linear);
  free(cubic);
  free(align);
}

Test(resize, same_grid__every_mode__is_the_table_itself) {
  uint64_t state = 5;
  double in[5 * 3 * 2];
  for (size_t i = 0; i < RS_COUNT(in); i++) in[i] = draw_real(&state, -1, 1);
  for (int mode = 0; mode < MODES; mode++) {
    double *out = resized(in, 5, 3, 2, mode, 5, 3);
    cr_assert_arr_eq(out, in, sizeof in, "mode %d", mode);
    free(out);
  }
  rs_resizer *resizer;
  cr_assert_eq(rs_resizer_create(RS_BICUBIC, 1, 1, SIZE_MAX / 4, 1, &resizer, NULL), RS_MEMORY);
  cr_assert_null(resizer);
}
