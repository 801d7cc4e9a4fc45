/* The rotation kernel of every instruction set this machine runs: cosines and sines against long double. */
#include "../exact.h"
#include "../golden.h"
#include "kernel/kernel.h"

/* Runs a check with the kernels of each set in use. */
static void with_every_isa(void (*check)(const char *isa, const rs_rotate_kernel *kernel)) {
  for (size_t i = 0; rs_isa_name(i) != NULL; i++) {
    cr_assert_eq(rs_kernels_use(rs_isa_name(i), NULL), RS_OK);
    check(rs_isa_name(i), rs_kernels_get()->rotate);
  }
  cr_assert_eq(rs_kernels_use("auto", NULL), RS_OK);
}

static bool same_bits(double a, double b) {
  return memcmp(&a, &b, sizeof a) == 0;
}

/* ---- cos and sin ------------------------------------------------------------------------------------------------- */

/* The bound that stands at the kernel. */
static void check_cos_sin(const char *isa, const rs_rotate_kernel *kernel, double position, double omega) {
  double c, s;
  long double cosine, sine;
  exact_cos_sin(position, omega, &cosine, &sine);
  kernel->cos_sin(&position, &omega, 1, &c, &s);
  cr_assert(fabsl(c - cosine) <= 3e-16L && fabsl(s - sine) <= 3e-16L,
            "%s: %.17g * %.17g: got (%.17g, %.17g), expected (%.19Lg, %.19Lg)", isa, position, omega, c, s, cosine,
            sine);
}

static void check_drawn_angles(const char *isa, const rs_rotate_kernel *kernel) {
  uint64_t state = 5;
  for (size_t i = 0; i < 300000; i++) {
    double position = ldexp(draw_real(&state, 0.5, 1), (int)draw_size(&state, 0, 31));
    double omega = i % 2 ? pow(10000, -draw_real(&state, 0, 1)) : draw_real(&state, 0.5, 1);
    if (i % 5) position = floor(position);
    check_cos_sin(isa, kernel, i % 3 ? position : -position, i % 7 ? omega : -omega);
  }
}

Test(kernel_rotate, cos_sin__drawn_angles_to_2_31__good_to_3e_16) {
  with_every_isa(check_drawn_angles);
}

/* Angles next to the multiples of a half of pi/2: where the reduction cancels, and where it changes its mind. */
static void check_eighths(const char *isa, const rs_rotate_kernel *kernel) {
  const long double eighth = 0.785398163397448309615660845819875721L;
  uint64_t state = 6;
  for (size_t i = 0; i < 100000; i++) {
    double number = floor(ldexp(draw_real(&state, 0.5, 1), (int)draw_size(&state, 0, 31)));
    double position = i % 2 ? 1 : floor(ldexp(draw_real(&state, 0.5, 1), (int)draw_size(&state, 1, 31)));
    double omega = (double)(number * eighth / position);
    if (position * omega >= 0x1p31) continue;
    check_cos_sin(isa, kernel, position, omega);
    check_cos_sin(isa, kernel, -position, nextafter(omega, 0));
    check_cos_sin(isa, kernel, position, nextafter(omega, INFINITY));
  }
  for (int quarter = 0; quarter < 64; quarter++) check_cos_sin(isa, kernel, quarter, (double)(2 * eighth));
}

Test(kernel_rotate, cos_sin__next_to_the_quarters__good_to_3e_16) {
  with_every_isa(check_eighths);
}

static void check_corners(const char *isa, const rs_rotate_kernel *kernel) {
  static const double corners[] = {0x1p-1074, 0x1p-1022, 1e-300, 0x1p-54, 1e-8, 0.5, 1, 2, 0x1p31 - 1};
  for (size_t i = 0; i < RS_COUNT(corners); i++) {
    check_cos_sin(isa, kernel, corners[i], 1 - 0x1p-53);
    check_cos_sin(isa, kernel, -corners[i], 0x1.999999999999ap-3);
    check_cos_sin(isa, kernel, 1 - 0x1p-53, corners[i]);
  }
  double zero = 0, some = 5, c, s;
  kernel->cos_sin(&zero, &some, 1, &c, &s);
  cr_assert(c == 1 && s == 0, "%s: %g %g", isa, c, s);
  kernel->cos_sin(&some, &zero, 1, &c, &s);
  cr_assert(c == 1 && s == 0, "%s: %g %g", isa, c, s);
}

Test(kernel_rotate, cos_sin__nothing_and_next_to_nothing__good_to_3e_16) {
  with_every_isa(check_corners);
}

/* One angle that is too large, among others and at every place, sends its whole array the slow way. */
static void check_too_large(const char *isa, const rs_rotate_kernel *kernel) {
  static const double large[] = {0x1.8p41, 0x1p53, 1e300, -0x1.2p44, -1e22, INFINITY, -INFINITY, NAN};
  enum { COUNT = 21 };
  for (size_t i = 0; i < RS_COUNT(large) * COUNT; i++) {
    double position[COUNT], omega[COUNT], c[COUNT], s[COUNT], cosine, sine;
    for (size_t j = 0; j < COUNT; j++) position[j] = (double)j, omega[j] = 0.7;
    position[i % COUNT] = large[i / COUNT];
    kernel->cos_sin(position, omega, COUNT, c, s);
    for (size_t j = 0; j < COUNT; j++) {
      rs_cos_sin(position[j], omega[j], &cosine, &sine);
      bool none = isnan(cosine) && isnan(c[j]) && isnan(s[j]);
      cr_assert(none || (same_bits(c[j], cosine) && same_bits(s[j], sine)), "%s: %g at %zu of %g at %zu: %.17g %.17g",
                isa, position[j], j, large[i / COUNT], i % COUNT, c[j], s[j]);
    }
  }
}

Test(kernel_rotate, cos_sin__an_angle_too_large__is_left_to_the_scalar) {
  with_every_isa(check_too_large);
}

/* Every length: each element as if it stood alone, nothing written past the end. */
static void check_lengths(const char *isa, const rs_rotate_kernel *kernel) {
  enum { MOST = 40 };
  double position[MOST], omega[MOST], c[MOST + 1], s[MOST + 1], cosine, sine;
  uint64_t state = 7;
  for (size_t j = 0; j < MOST; j++) {
    position[j] = floor(draw_real(&state, 0, 1e6));
    omega[j] = draw_real(&state, 0, 1);
  }
  for (size_t n = 0; n < 2 * MOST; n++) {
    bool one = n % 2; /* position for all */
    c[n / 2] = s[n / 2] = 99;
    if (one)
      kernel->cos_sin_at(position[0], omega, n / 2, c, s);
    else
      kernel->cos_sin(position, omega, n / 2, c, s);
    for (size_t j = 0; j < n / 2; j++) {
      kernel->cos_sin(&position[one ? 0 : j], &omega[j], 1, &cosine, &sine);
      cr_assert(same_bits(c[j], cosine) && same_bits(s[j], sine), "%s: %zu of %zu", isa, j, n / 2);
    }
    cr_assert(c[n / 2] == 99 && s[n / 2] == 99, "%s: written past %zu", isa, n / 2);
  }
}

Test(kernel_rotate, cos_sin__any_length__treats_each_alone) {
  with_every_isa(check_lengths);
}

/* Sums of angles, in rows and in place of the angle: the addition theorem within its bound. */
static void check_sums(const char *isa, const rs_rotate_kernel *kernel) {
  enum { ROWS = 3, MOST = 40 };
  double angle[MOST], c[MOST], s[MOST], step[ROWS * MOST], step_c[ROWS * MOST], step_s[ROWS * MOST];
  double out_c[ROWS * MOST + 1], out_s[ROWS * MOST + 1];
  uint64_t state = 9;
  for (size_t n = 0; n <= MOST; n++) {
    for (size_t j = 0; j < n; j++) sincos(angle[j] = draw_real(&state, -4, 4), &s[j], &c[j]);
    for (size_t i = 0; i < ROWS * n; i++) sincos(step[i] = draw_real(&state, -4, 4), &step_s[i], &step_c[i]);
    out_c[ROWS * n] = out_s[ROWS * n] = 99;
    kernel->add_angles(c, s, step_c, step_s, ROWS, n, out_c, out_s);
    cr_assert(out_c[ROWS * n] == 99 && out_s[ROWS * n] == 99, "%s: written past %zu", isa, n);
    for (size_t i = 0; i < ROWS * n; i++) {
      long double sum = (long double)angle[i % n] + step[i];
      cr_assert(fabsl(out_c[i] - cosl(sum)) <= 6e-16L && fabsl(out_s[i] - sinl(sum)) <= 6e-16L, "%s: %g + %g", isa,
                angle[i % n], step[i]);
    }
    kernel->add_angles(c, s, step_c + n, step_s + n, 1, n, c, s);
    for (size_t j = 0; j < n; j++) cr_assert(same_bits(c[j], out_c[n + j]) && same_bits(s[j], out_s[n + j]), "%s", isa);
  }
}

Test(kernel_rotate, add_angles__rows_and_in_place__is_the_addition_theorem) {
  with_every_isa(check_sums);
}
