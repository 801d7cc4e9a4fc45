/* Numbers of files as numbers that are computed with. The loops are such as compilers make vectors of. */
#include "net.h"

#include <endian.h>
#include <string.h>

RS_INLINE real from_f64(const char *bytes) {
  uint64_t bits;
  double number;
  memcpy(&bits, bytes, sizeof bits);
  bits = le64toh(bits);
  memcpy(&number, &bits, sizeof number);
  return (real)number;
}

RS_INLINE float single(uint32_t bits) {
  float number;
  memcpy(&number, &bits, sizeof number);
  return number;
}

RS_INLINE real from_f32(const char *bytes) {
  uint32_t bits;
  memcpy(&bits, bytes, sizeof bits);
  return (real)single(le32toh(bits));
}

RS_INLINE uint32_t half_bits(const char *bytes) {
  uint16_t bits;
  memcpy(&bits, bytes, sizeof bits);
  return le16toh(bits);
}

RS_INLINE real from_bf16(const char *bytes) {
  return (real)single(half_bits(bytes) << 16);
}

/* Exponents count from -15, those of binary32 from -127: a product sets that right, for subnormals too. The sign goes
 * beside it. */
RS_INLINE real from_f16(const char *bytes) {
  uint32_t bits = half_bits(bytes), sign = (bits & 0x8000) << 16, magnitude;
  float size = single((bits & 0x7fff) << 13) * 0x1p112f;
  memcpy(&magnitude, &size, sizeof magnitude);
  return (real)single(magnitude | sign);
}

RS_INLINE void widen_all(real (*from)(const char *), const char *numbers, size_t bytes, size_t count, real *out) {
  for (size_t i = 0; i < count; i++) out[i] = from(numbers + i * bytes);
}

RS_INLINE void widen_step(real (*from)(const char *), const char *numbers, size_t size, size_t step, size_t count,
                          real *out) {
  if (step == 1)
    widen_all(from, numbers, size, count, out);
  else
    widen_all(from, numbers, step * size, count, out);
}

void NET(widen)(const void *numbers, rs_format format, size_t step, size_t count, void *out) {
  switch (format) {
  case RS_F64: widen_step(from_f64, numbers, sizeof(double), step, count, out); break;
  case RS_F32: widen_step(from_f32, numbers, sizeof(float), step, count, out); break;
  case RS_BF16: widen_step(from_bf16, numbers, sizeof(uint16_t), step, count, out); break;
  case RS_F16: widen_step(from_f16, numbers, sizeof(uint16_t), step, count, out); break;
  }
}
