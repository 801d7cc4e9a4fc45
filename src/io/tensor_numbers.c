/* tensor_numbers.c: what stands in a tensor of a file, as float or double. */
#include <endian.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "tensors.h"

static uint16_t bits16(const unsigned char *bytes) {
  uint16_t bits;
  memcpy(&bits, bytes, sizeof bits);
  return le16toh(bits);
}

static float single_at(const unsigned char *bytes) {
  uint32_t bits;
  memcpy(&bits, bytes, sizeof bits);
  return rs_f32_of_bits(le32toh(bits));
}

static double double_at(const unsigned char *bytes) {
  uint64_t bits;
  double number;
  memcpy(&bits, bytes, sizeof bits);
  bits = le64toh(bits);
  memcpy(&number, &bits, sizeof number);
  return number;
}

static rs_status check_span(const rs_stored_tensor *tensor, size_t first, size_t count, rs_err *err) {
  if (first > tensor->count || count > tensor->count - first)
    return rs_tensor_fail(tensor, RS_INTERNAL, err, "numbers %zu to %zu of %zu were asked for", first, first + count,
                          tensor->count);
  if (tensor->dtype == RS_DTYPE_F64 || tensor->dtype == RS_DTYPE_F32 || tensor->dtype == RS_DTYPE_BF16 ||
      tensor->dtype == RS_DTYPE_F16)
    return RS_OK;
  return rs_tensor_fail(tensor, RS_UNSUPPORTED, err, "holds %s, numbers are read from F64, F32, BF16 and F16",
                        rs_dtype_words[tensor->dtype]);
}

/* Of numbers that were read; the first pass has no way out, so that it takes several at a time. */
static rs_status check_finite(const rs_stored_tensor *tensor, size_t first, size_t count, const float *numbers,
                              rs_err *err) {
  int bad = 0;
  for (size_t i = 0; i < count; i++) bad |= !(fabsf(numbers[i]) <= FLT_MAX);
  if (!bad) return RS_OK;
  size_t i = 0;
  while (isfinite(numbers[i])) i++;
  return rs_tensor_fail(tensor, RS_INPUT, err, "number %zu is not finite%s", first + i,
                        tensor->dtype == RS_DTYPE_F64 ? " in float" : "");
}

rs_status rs_stored_floats(const rs_stored_tensor *tensor, size_t first, size_t count, float *numbers, rs_err *err) {
  RS_TRY(check_span(tensor, first, count, err));
  if (count == 0) return RS_OK;
  const unsigned char *data = tensor->data + first * (tensor->bytes / tensor->count);
  if (tensor->dtype == RS_DTYPE_F64)
    for (size_t i = 0; i < count; i++) numbers[i] = (float)double_at(data + 8 * i);
  else if (tensor->dtype == RS_DTYPE_F32)
    for (size_t i = 0; i < count; i++) numbers[i] = single_at(data + 4 * i);
  else if (tensor->dtype == RS_DTYPE_BF16)
    for (size_t i = 0; i < count; i++) numbers[i] = rs_bf16_widen(bits16(data + 2 * i));
  else
    for (size_t i = 0; i < count; i++) numbers[i] = rs_f16_widen(bits16(data + 2 * i));
  return check_finite(tensor, first, count, numbers, err);
}

/* What is shorter than a double goes through floats, a block at a time. */
rs_status rs_stored_doubles(const rs_stored_tensor *tensor, size_t first, size_t count, double *numbers, rs_err *err) {
  enum { BLOCK = 1024 };
  float block[BLOCK];
  RS_TRY(check_span(tensor, first, count, err));
  for (size_t done = 0; done < count && tensor->dtype != RS_DTYPE_F64; done += BLOCK) {
    size_t size = count - done < BLOCK ? count - done : BLOCK;
    RS_TRY(rs_stored_floats(tensor, first + done, size, block, err));
    for (size_t i = 0; i < size; i++) numbers[done + i] = (double)block[i];
  }
  for (size_t i = 0; i < count && tensor->dtype == RS_DTYPE_F64; i++) {
    numbers[i] = double_at(tensor->data + 8 * (first + i));
    if (!isfinite(numbers[i])) return rs_tensor_fail(tensor, RS_INPUT, err, "number %zu is not finite", first + i);
  }
  return RS_OK;
}

rs_status rs_stored_check(const rs_stored_tensor *tensor, bool wide, rs_err *err) {
  enum { BLOCK = 2048 };
  float floats[BLOCK];
  double doubles[BLOCK];
  bool long_numbers = wide && tensor->dtype == RS_DTYPE_F64;
  RS_TRY(check_span(tensor, 0, tensor->count, err));
  for (size_t first = 0; first < tensor->count; first += BLOCK) {
    size_t count = tensor->count - first < BLOCK ? tensor->count - first : BLOCK;
    RS_TRY(long_numbers ? rs_stored_doubles(tensor, first, count, doubles, err)
                        : rs_stored_floats(tensor, first, count, floats, err));
  }
  return RS_OK;
}
