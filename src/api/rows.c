/* Rows of the caller's, whatever their type and strides. */
#include "api.h"

#include <math.h>
#include <string.h>

/* Numbers below which threads cost more than they bring. */
static const double WORTH_THREADS = 1e5;

static size_t row_of(const rs_api_part *part, size_t index) {
  return part->tokens != NULL ? part->tokens[index] - part->first : index;
}

/* From the start of the data, in numbers. */
static ptrdiff_t place(const rs_api_part *part, size_t index) {
  return (ptrdiff_t)part->head * part->rows->head_stride + (ptrdiff_t)row_of(part, index) * part->rows->token_stride;
}

const double *rs_api_part_there(const rs_api_part *part) {
  const ropescope_rows *rows = part->rows;
  bool plain = rows->dtype == ROPESCOPE_F64 && part->factor == 1 && part->tokens == NULL && rows->dim_stride == 1 &&
               (rows->token_stride == (ptrdiff_t)part->dims || part->count == 1);
  return plain ? (const double *)rows->data + place(part, 0) : NULL;
}

/* 16 bits as a number. The largest exponent is that of infinities and NaN. */
static double from_bf16(uint16_t bits) {
  uint32_t wide = (uint32_t)bits << 16;
  float number;
  memcpy(&number, &wide, sizeof number);
  return number;
}

/* Exponents count from -15, those of binary32 from -127: a product sets that right, for subnormals too. */
static double from_f16(uint16_t bits) {
  uint32_t wide = (bits & 0x7fffU) << 13;
  float number;
  if ((bits & 0x7c00U) == 0x7c00U) return NAN;
  memcpy(&number, &wide, sizeof number);
  return ((bits & 0x8000U) != 0 ? -1.0 : 1.0) * (double)(number * 0x1p112f);
}

static void read_row(const rs_api_part *part, size_t index, double *out) {
  const ropescope_rows *rows = part->rows;
  ptrdiff_t from = place(part, index), step = rows->dim_stride, dims = (ptrdiff_t)part->dims;
  if (rows->dtype == ROPESCOPE_F64)
    for (ptrdiff_t d = 0; d < dims; d++) out[d] = part->factor * ((const double *)rows->data)[from + d * step];
  else if (rows->dtype == ROPESCOPE_F32)
    for (ptrdiff_t d = 0; d < dims; d++) out[d] = part->factor * (double)((const float *)rows->data)[from + d * step];
  else if (rows->dtype == ROPESCOPE_BF16)
    for (ptrdiff_t d = 0; d < dims; d++)
      out[d] = part->factor * from_bf16(((const uint16_t *)rows->data)[from + d * step]);
  else
    for (ptrdiff_t d = 0; d < dims; d++)
      out[d] = part->factor * from_f16(((const uint16_t *)rows->data)[from + d * step]);
}

void rs_api_part_read(const rs_api_part *part, double *out) {
#pragma omp parallel for schedule(static) if ((double)part->count * (double)part->dims >= WORTH_THREADS)
  for (size_t i = 0; i < part->count; i++) read_row(part, i, out + i * part->dims);
}

rs_status rs_api_part_check(const rs_api_part *part, const double *numbers, rs_err *err) {
  size_t count = part->count * part->dims, wrong = count;
#pragma omp parallel for schedule(static) reduction(min : wrong) if ((double)count >= WORTH_THREADS)
  for (size_t i = 0; i < count; i++)
    if (!isfinite(numbers[i]) && i < wrong) wrong = i;
  if (wrong == count) return RS_OK;
  return rs_fail_on(err, RS_INPUT, part->name, "has a number that is not finite, at head %zu, token %zu, dim %zu",
                    part->head, row_of(part, wrong / part->dims), wrong % part->dims);
}
