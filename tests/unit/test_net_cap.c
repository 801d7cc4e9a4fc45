/* The network kernels' soft caps, of every instruction set this machine runs, against the C library's tanh. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "../golden.h"
#include "kernel/kernel.h"

enum { ROWS = 2, COLUMNS = 70, STEP = 73, LEFT_ALONE = 77 };

static double at(const void *x, bool single, size_t place) {
  return single ? ((const float *)x)[place] : ((const double *)x)[place];
}

static void put(void *x, bool single, size_t place, double value) {
  if (single)
    ((float *)x)[place] = (float)value;
  else
    ((double *)x)[place] = value;
}

/* Logits from far below a rounding to far above the cap, of either sign. */
static void check(const char *isa, const rs_net_kernel *net, bool single, double cap, size_t columns) {
  double x[ROWS * STEP], slopes[ROWS * STEP], logits[ROWS * STEP], ulp = single ? 0x1p-24 : 0x1p-53;
  uint64_t state = 3 + columns;
  for (size_t i = 0; i < ROWS * STEP; i++) {
    put(logits, single, i, ldexp(draw_real(&state, -1, 1), (int)draw_size(&state, 0, 24) - 12) * cap);
    put(slopes, single, i, LEFT_ALONE);
  }
  memcpy(x, logits, sizeof x);
  net->cap_rows(cap, ROWS, columns, x, STEP, slopes);
  for (size_t i = 0; i < ROWS * STEP; i++) {
    double logit = at(logits, single, i), level = tanh(logit / cap), slope = 1 - level * level, got = at(x, single, i);
    bool written = i % STEP < columns;
    cr_assert(fabs(got - (written ? cap * level : logit)) <= (written ? 8 * ulp * fabs(cap * level) : 0),
              "%s f%d: cap %g of %g: %.17g", isa, single ? 32 : 64, cap, logit, got);
    double by = at(slopes, single, i);
    cr_assert(fabs(by - (written ? slope : LEFT_ALONE)) <= (written ? 8 * ulp : 0), "%s f%d: slope %.17g at %g", isa,
              single ? 32 : 64, by, logit / cap);
  }
  net->cap_rows(cap, ROWS, columns, logits, STEP, NULL);
  cr_assert_eq(memcmp(logits, x, ROWS * STEP * (single ? sizeof(float) : sizeof(double))), 0);
}

Test(net_cap, logits_of_every_size__are_capped_and_differentiated) {
  for (size_t i = 0; rs_isa_name(i) != NULL; i++) {
    cr_assert_eq(rs_kernels_use(rs_isa_name(i), NULL), RS_OK);
    for (size_t columns = 0; columns <= COLUMNS; columns++)
      for (double cap = 0.5; cap <= 50; cap *= 3) {
        check(rs_isa_name(i), rs_kernels_get()->net_f32, true, cap, columns);
        check(rs_isa_name(i), rs_kernels_get()->net_f64, false, cap, columns);
      }
  }
  cr_assert_eq(rs_kernels_use("auto", NULL), RS_OK);
}

Test(net_cap, infinities_and_nan__are_the_cap_and_nan) {
  for (size_t i = 0; rs_isa_name(i) != NULL; i++) {
    cr_assert_eq(rs_kernels_use(rs_isa_name(i), NULL), RS_OK);
    double x[] = {INFINITY, -INFINITY, NAN, 0}, slopes[4];
    rs_kernels_get()->net_f64->cap_rows(30, 1, 4, x, 4, slopes);
    cr_assert(x[0] == 30 && x[1] == -30 && isnan(x[2]) && x[3] == 0, "%s: %g %g %g %g", rs_isa_name(i), x[0], x[1],
              x[2], x[3]);
    cr_assert(slopes[0] == 0 && slopes[1] == 0 && isnan(slopes[2]) && slopes[3] == 1);
  }
  cr_assert_eq(rs_kernels_use("auto", NULL), RS_OK);
}
