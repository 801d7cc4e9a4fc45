/* tensors.h: what readers and writers of tensors share. Format of safetensors: 8 bytes with the length of the header,
 * little- endian; the header, a JSON object; the data. {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0,
 * 24]}}, and
 * "__metadata__", a map of strings. (huggingface/safetensors, README.md, "Format", and safetensors/src/tensor.rs.) */
#ifndef ROPESCOPE_TENSORS_H
#define ROPESCOPE_TENSORS_H

#include <endian.h>
#include <string.h>

#include "io/io.h"

/* The reference reader's limit of the header's length. A value takes 2 bytes of it at least; a tensor takes 8 values,
 * and the largest models have some hundred thousand tensors in all their files. */
enum { RS_TENSOR_HEADER_MOST = 100000000, RS_TENSOR_VALUES_MOST = 4000000, RS_TENSOR_LENGTH_BYTES = 8 };

#define RS_TENSOR_METADATA "__metadata__"

/* Numbers and bytes of a shape; false where they overflow, or end within a block. */
bool rs_tensor_size(rs_dtype dtype, const size_t *shape, size_t rank, size_t *count, size_t *bytes);

/* IEEE 754 binary16 and bfloat16, which is binary32 cut to 16 bits. Rounded to nearest, ties to even; an infinity
 * beyond the range. */
uint16_t rs_bf16_round(double number);
uint16_t rs_f16_round(double number);

static inline float rs_f32_of_bits(uint32_t bits) {
  float number;
  memcpy(&number, &bits, sizeof number);
  return number;
}

static inline uint16_t rs_bits16(const unsigned char *bytes) {
  uint16_t bits;
  memcpy(&bits, bytes, sizeof bits);
  return le16toh(bits);
}

static inline uint32_t rs_bits32(const unsigned char *bytes) {
  uint32_t bits;
  memcpy(&bits, bytes, sizeof bits);
  return le32toh(bits);
}

static inline uint64_t rs_bits64(const unsigned char *bytes) {
  uint64_t bits;
  memcpy(&bits, bytes, sizeof bits);
  return le64toh(bits);
}

static inline double rs_f64_of_bits(uint64_t bits) {
  double number;
  memcpy(&number, &bits, sizeof number);
  return number;
}

static inline float rs_bf16_widen(uint16_t bits) {
  return rs_f32_of_bits((uint32_t)bits << 16);
}

/* Exponents count from -15, those of binary32 from -127: a product sets that right, for subnormals too. The largest
 * stands for what is not finite. Without a branch, so that several are widened at once. */
static inline float rs_f16_widen(uint16_t bits) {
  uint32_t magnitude = (bits & 0x7FFFU) << 13, widened;
  float number = rs_f32_of_bits(magnitude) * 0x1p112f;
  memcpy(&widened, &number, sizeof widened);
  uint32_t infinite = magnitude >= 0x7C00U << 13 ? 0x7F800000U : 0;
  return rs_f32_of_bits(widened | infinite | (uint32_t)(bits & 0x8000U) << 16);
}

/* Numbers of `count` blocks of a type that GGUF alone has, and that is read. */
void rs_blocks_widen(rs_dtype dtype, const unsigned char *blocks, size_t count, float *numbers);

/* A name as messages have it. */
enum { RS_NAME_CHARS = 160 };

/* "file: tensor "name": " and what is wrong with it; "file: " alone of one without a name. */
rs_status rs_tensor_fail(const rs_stored_tensor *tensor, rs_status status, rs_err *err, const char *format, ...)
    RS_PRINTF(4, 5);

/* A file of a checkpoint. */
struct rs_shard {
  char *path;
  rs_mapping mapping;
};

/* A checkpoint of one file, which is mapped, without its tensors yet; and, once it has them, the order of their names.
 * RS_IO, RS_INPUT, RS_MEMORY; *checkpoint is NULL on failure. */
rs_status rs_checkpoint_begin(const char *path, rs_safetensors **checkpoint, rs_err *err);
rs_status rs_checkpoint_end(rs_safetensors *checkpoint, rs_err *err);

/* RS_INPUT where the file is but the pointer that Git LFS leaves in the place of a large one. */
rs_status rs_check_pointer(const unsigned char *bytes, size_t length, const char *file, rs_err *err);

/* Brings tensors (count,) into the order of their data, which they must fill: each begins where the one before ends, or
 * at the next multiple of `alignment`. RS_INPUT. */
rs_status rs_tensors_order(const rs_bytes *data, size_t alignment, const char *file, rs_stored_tensor *tensors,
                           size_t count, rs_err *err);

/* Tensors of one file: appends them to *tensors (*count,), in the order of their data. `bytes` (length,) is the whole
 * file, called `file`, which outlives the tensors. What was appended stays on failure. RS_INPUT, RS_MEMORY. */
rs_status rs_tensors_parse(const unsigned char *bytes, size_t length, const char *file, rs_stored_tensor **tensors,
                           size_t *count, size_t *capacity, rs_err *err);

#endif
