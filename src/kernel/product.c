/* Products of matrices. */
#include "net.h"

/* One row of the product: lanes are columns. */
static void multiply_row(const rs_product *p, size_t row) {
  const real *a = (const real *)p->a + row * (p->a_turned ? 1 : p->a_step), *b = p->b;
  real *c = (real *)p->c + row * p->c_step;
  size_t next = p->a_turned ? p->a_step : 1;
  for (size_t column = 0; column < p->columns; column += WIDTH) {
    size_t left = p->columns - column;
    vec sum = all(0);
    for (size_t k = 0; k < p->depth; k++) sum += all(a[k * next]) * load_first(b + k * p->b_step + column, left);
    if (p->add) sum += load_first(c + column, left);
    store_first(c + column, sum, left);
  }
}

void NET(product)(const rs_product *product) {
  for (size_t row = 0; row < product->rows; row++) multiply_row(product, row);
}
