/* safetensors_write.c: a safetensors file, byte by byte what the reference writer (prepare in
 * safetensors/src/tensor.rs) makes of the same tensors: by type from the last to the first, which aligns them, then by
 * name; a header without spaces but those at its end, to a multiple of 8. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io_internal.h"
#include "tensors.h"

typedef struct tensor_file {
  const char *path;
  const rs_tensor_numbers **tensors; /* (count,) in the order of their data */
  size_t count;
  rs_text header;
} tensor_file;

static rs_status fail_tensor(const tensor_file *out, const rs_tensor_numbers *tensor, rs_status status, rs_err *err,
                             const char *why) {
  return rs_fail(err, status, "%s: tensor \"%s\": %s", out->path, tensor->name, why);
}

/* ---- the header -------------------------------------------------------------------------------------------------- */

static int compare_names(const void *left, const void *right) {
  return strcmp((*(const rs_tensor_numbers *const *)left)->name, (*(const rs_tensor_numbers *const *)right)->name);
}

static int compare_places(const void *left, const void *right) {
  const rs_tensor_numbers *a = *(const rs_tensor_numbers *const *)left, *b = *(const rs_tensor_numbers *const *)right;
  return a->dtype != b->dtype ? (a->dtype > b->dtype ? -1 : 1) : strcmp(a->name, b->name);
}

static rs_status sort_tensors(tensor_file *out, rs_err *err) {
  qsort(out->tensors, out->count, sizeof *out->tensors, compare_names);
  for (size_t i = 1; i < out->count; i++)
    if (strcmp(out->tensors[i - 1]->name, out->tensors[i]->name) == 0)
      return fail_tensor(out, out->tensors[i], RS_INTERNAL, err, "is there twice");
  qsort(out->tensors, out->count, sizeof *out->tensors, compare_places);
  return RS_OK;
}

static void put_entry(const rs_tensor_numbers *tensor, size_t begin, size_t end, rs_text *header) {
  rs_text_puts(header, ",");
  rs_json_quote(header, tensor->name);
  rs_text_printf(header, ":{\"dtype\":\"%s\",\"shape\":[", rs_dtype_words[tensor->dtype]);
  for (size_t i = 0; i < tensor->rank; i++) rs_text_printf(header, i > 0 ? ",%zu" : "%zu", tensor->shape[i]);
  rs_text_printf(header, "],\"data_offsets\":[%zu,%zu]}", begin, end);
}

static rs_status make_header(tensor_file *out, rs_err *err) {
  size_t begin = 0;
  rs_text_puts(&out->header, "{\"" RS_TENSOR_METADATA "\":{\"format\":\"pt\"}");
  for (size_t i = 0; i < out->count; i++) {
    const rs_tensor_numbers *tensor = out->tensors[i];
    size_t count, bytes;
    if (tensor->dtype != RS_DTYPE_F64 && tensor->dtype != RS_DTYPE_F32 && tensor->dtype != RS_DTYPE_BF16 &&
        tensor->dtype != RS_DTYPE_F16)
      return fail_tensor(out, tensor, RS_INTERNAL, err, "is not of a type that is written");
    if (tensor->rank > RS_TENSOR_RANK || !rs_tensor_size(tensor->dtype, tensor->shape, tensor->rank, &count, &bytes) ||
        bytes > SIZE_MAX - begin)
      return fail_tensor(out, tensor, RS_INTERNAL, err, "is too large");
    put_entry(tensor, begin, begin + bytes, &out->header);
    begin += bytes;
  }
  rs_text_puts(&out->header, "}");
  while (!out->header.failed && out->header.length % RS_TENSOR_LENGTH_BYTES != 0) rs_text_puts(&out->header, " ");
  return rs_text_check(&out->header, err);
}

/* ---- the numbers ------------------------------------------------------------------------------------------------- */

static void put_bits(uint64_t bits, size_t size, unsigned char *bytes) {
  for (size_t i = 0; i < size; i++) bytes[i] = (unsigned char)(bits >> 8 * i);
}

/* The bytes of a number, or false where its type cannot hold it. */
static bool put_number(double number, rs_dtype dtype, size_t size, unsigned char *bytes) {
  float single = (float)number;
  uint32_t single_bits;
  uint64_t bits;
  if (dtype == RS_DTYPE_F64) {
    memcpy(&bits, &number, sizeof bits);
  } else if (dtype == RS_DTYPE_F32) {
    memcpy(&single_bits, &single, sizeof single_bits);
    bits = single_bits;
  } else {
    bits = dtype == RS_DTYPE_BF16 ? rs_bf16_round(number) : rs_f16_round(number);
    single = dtype == RS_DTYPE_BF16 ? rs_bf16_widen((uint16_t)bits) : rs_f16_widen((uint16_t)bits);
  }
  put_bits(bits, size, bytes);
  return isfinite(dtype == RS_DTYPE_F64 ? number : (double)single);
}

static rs_status put_tensor(const tensor_file *out, const rs_tensor_numbers *tensor, const rs_sink *sink) {
  enum { BLOCK = 8192 };
  unsigned char bytes[8 * BLOCK];
  size_t count, size = tensor->dtype == RS_DTYPE_F64 ? 8 : tensor->dtype == RS_DTYPE_F32 ? 4 : 2, filled = 0, total;
  (void)rs_tensor_size(tensor->dtype, tensor->shape, tensor->rank, &count, &total);
  for (size_t i = 0; i < count; i++) {
    double number = tensor->floats != NULL ? (double)tensor->floats[i] : tensor->doubles[i];
    if (!put_number(number, tensor->dtype, size, bytes + filled))
      return rs_fail(sink->err, RS_DOMAIN, "%s: tensor \"%s\": number %zu is %g, which %s cannot hold", out->path,
                     tensor->name, i, number, rs_dtype_words[tensor->dtype]);
    filled += size;
    if (filled + size > sizeof bytes || i + 1 == count) {
      RS_TRY(rs_sink_put(sink, bytes, filled));
      filled = 0;
    }
  }
  return RS_OK;
}

static rs_status put_file(const rs_sink *sink, const void *content) {
  const tensor_file *out = content;
  unsigned char length[RS_TENSOR_LENGTH_BYTES];
  put_bits(out->header.length, sizeof length, length);
  RS_TRY(rs_sink_put(sink, length, sizeof length));
  RS_TRY(rs_sink_put(sink, out->header.data, out->header.length));
  for (size_t i = 0; i < out->count; i++) RS_TRY(put_tensor(out, out->tensors[i], sink));
  return RS_OK;
}

rs_status rs_safetensors_write(const char *path, const rs_tensor_numbers *tensors, size_t count, rs_err *err) {
  tensor_file out = {.path = path, .count = count};
  out.tensors = rs_alloc(count, sizeof *out.tensors, err);
  if (out.tensors == NULL) return RS_MEMORY;
  for (size_t i = 0; i < count; i++) out.tensors[i] = &tensors[i];
  rs_status status = sort_tensors(&out, err);
  if (status == RS_OK) status = make_header(&out, err);
  if (status == RS_OK) status = rs_file_fill(path, put_file, &out, err);
  rs_text_clear(&out.header);
  free(out.tensors);
  return status;
}
