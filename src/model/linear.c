/* Linear layers: three products of a matrix each. */
#include "linear.h"

#include <string.h>

/* y (rows, outputs) = the bias in every row, plus y where `add`. */
static void add_bias(const real *bias, size_t rows, size_t outputs, rs_rows y, bool add) {
  for (size_t r = 0; r < rows; r++) {
    real *row = y.data + r * y.step;
    if (!add) memset(row, 0, outputs * sizeof *row);
    rs_real_kernel()->add(bias, outputs, row);
  }
}

void rs_linear(const rs_context *context, const rs_linear_place *place, size_t rows, rs_rows x, rs_rows y, bool add) {
  const real *values = context->transformer->values, *turned = context->turned;
  bool bias = place->bias != RS_NOWHERE;
  if (bias) add_bias(values + place->bias, rows, place->outputs, y, add);
  const rs_product product = {.rows = rows,
                              .columns = place->outputs,
                              .depth = place->inputs,
                              .a = x.data,
                              .a_step = x.step,
                              .b = turned + place->weight,
                              .b_panels = true,
                              .c = y.data,
                              .c_step = y.step,
                              .add = add || bias};
  rs_real_kernel()->product(&product);
}

void rs_linear_back(const rs_context *context, const rs_linear_place *place, size_t rows, rs_rows x, rs_rows dy,
                    rs_rows dx, bool add, real *gradient) {
  const real *values = context->transformer->values;
  const rs_product by_input = {.rows = rows,
                               .columns = place->inputs,
                               .depth = place->outputs,
                               .a = dy.data,
                               .a_step = dy.step,
                               .b = values + place->weight,
                               .b_step = place->inputs,
                               .c = dx.data,
                               .c_step = dx.step,
                               .add = add};
  const rs_product by_weight = {.rows = place->outputs,
                                .columns = place->inputs,
                                .depth = rows,
                                .a = dy.data,
                                .a_step = dy.step,
                                .a_turned = true,
                                .b = x.data,
                                .b_step = x.step,
                                .c = gradient + place->weight,
                                .c_step = place->inputs,
                                .add = true};
  if (dx.data != NULL) rs_real_kernel()->product(&by_input);
  rs_real_kernel()->product(&by_weight);
  for (size_t r = 0; r < rows && place->bias != RS_NOWHERE; r++)
    rs_real_kernel()->add(dy.data + r * dy.step, place->outputs, gradient + place->bias);
}
