/* dtypes.c: the types of numbers that safetensors knows, and rounding to those of 16 bits. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io_internal.h"
#include "tensors.h"

const char *const rs_dtype_words[RS_DTYPES + 1] = {
    [RS_DTYPE_BOOL] = "BOOL",
    [RS_DTYPE_F4] = "F4",
    [RS_DTYPE_F6_E2M3] = "F6_E2M3",
    [RS_DTYPE_F6_E3M2] = "F6_E3M2",
    [RS_DTYPE_U8] = "U8",
    [RS_DTYPE_I8] = "I8",
    [RS_DTYPE_F8_E5M2] = "F8_E5M2",
    [RS_DTYPE_F8_E4M3] = "F8_E4M3",
    [RS_DTYPE_F8_E8M0] = "F8_E8M0",
    [RS_DTYPE_F8_E4M3FNUZ] = "F8_E4M3FNUZ",
    [RS_DTYPE_F8_E5M2FNUZ] = "F8_E5M2FNUZ",
    [RS_DTYPE_I16] = "I16",
    [RS_DTYPE_U16] = "U16",
    [RS_DTYPE_F16] = "F16",
    [RS_DTYPE_BF16] = "BF16",
    [RS_DTYPE_I32] = "I32",
    [RS_DTYPE_U32] = "U32",
    [RS_DTYPE_F32] = "F32",
    [RS_DTYPE_C64] = "C64",
    [RS_DTYPE_F64] = "F64",
    [RS_DTYPE_I64] = "I64",
    [RS_DTYPE_U64] = "U64",
};

/* Bits of a number: the smallest share bytes. */
static size_t bits_of(rs_dtype dtype) {
  if (dtype == RS_DTYPE_F4) return 4;
  if (dtype == RS_DTYPE_F6_E2M3 || dtype == RS_DTYPE_F6_E3M2) return 6;
  if (dtype < RS_DTYPE_I16) return 8;
  if (dtype < RS_DTYPE_I32) return 16;
  return dtype < RS_DTYPE_C64 ? 32 : 64;
}

bool rs_tensor_size(rs_dtype dtype, const size_t *shape, size_t rank, size_t *count, size_t *bytes) {
  size_t bits = bits_of(dtype);
  *count = 1;
  for (size_t i = 0; i < rank; i++) {
    if (shape[i] > 0 && *count > SIZE_MAX / shape[i]) return false;
    *count *= shape[i];
  }
  if (*count > SIZE_MAX / bits || *count * bits % 8 != 0) return false;
  *bytes = *count * bits / 8;
  return true;
}

void rs_shape_text(const size_t *shape, size_t rank, char out[RS_SHAPE_CHARS]) {
  size_t length = 0;
  out[length++] = '(';
  for (size_t i = 0; i < rank; i++)
    length += (size_t)snprintf(out + length, RS_SHAPE_CHARS - length, i > 0 ? ", %zu" : "%zu", shape[i]);
  strcpy(out + length, rank == 1 ? ",)" : ")");
}

rs_status rs_tensor_fail(const rs_stored_tensor *tensor, rs_status status, rs_err *err, const char *format, ...) {
  char shown[RS_NAME_CHARS], why[512];
  va_list words;
  va_start(words, format);
  vsnprintf(why, sizeof why, format, words);
  va_end(words);
  if (tensor->name == NULL) return rs_fail(err, status, "%s: %s", tensor->file, why);
  rs_shorten(tensor->name, sizeof shown, shown);
  return rs_fail(err, status, "%s: tensor \"%s\": %s", tensor->file, shown, why);
}

/* ---- to 16 bits -------------------------------------------------------------------------------------------------- */

/* `fraction` bits are stored of a mantissa; `least` is the exponent of the smallest normal number, `end` the bits of
 * infinity. A number is n 2^(exponent - fraction) with whole n; subnormals share the least exponent. The stored
 * exponent counts from 1, which the hidden bit of n adds by itself, and so does a carry of the rounding. */
static uint16_t shorten(double number, int fraction, int least, uint16_t end) {
  uint16_t sign = signbit(number) ? 0x8000 : 0;
  if (isnan(number)) return (uint16_t)(sign | end | 1U << (fraction - 1));
  int exponent = number == 0 || isinf(number) ? least : ilogb(number);
  if (exponent < least) exponent = least;
  double steps = nearbyint(ldexp(fabs(number), fraction - exponent));
  double bits = ldexp(exponent - least, fraction) + steps;
  return (uint16_t)(sign | (bits < end ? (uint16_t)bits : end));
}

uint16_t rs_bf16_round(double number) {
  return shorten(number, 7, -126, 0x7F80);
}

uint16_t rs_f16_round(double number) {
  return shorten(number, 10, -14, 0x7C00);
}
