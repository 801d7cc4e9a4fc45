/* tensors.c: tensors of safetensors and their numbers: what is read of a tensor, the header of a file. */
#include "tensors.h"
#include "io_internal.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

static rs_status check_span(const rs_stored_tensor *tensor, size_t first, size_t count, rs_err *err) {
  if (first > tensor->count || count > tensor->count - first)
    return rs_tensor_fail(tensor, RS_INTERNAL, err, "numbers %zu to %zu of %zu were asked for", first, first + count,
                          tensor->count);
  if (rs_dtype_is_read(tensor->dtype)) return RS_OK;
  return rs_tensor_fail(tensor, RS_UNSUPPORTED, err,
                        "is %s, which is not read here (F64, F32, BF16, F16, Q8_0, Q5_0, Q5_1, Q4_0, Q4_1 and Q2_K to "
                        "Q6_K are)",
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

/* Of blocks: a part of one by way of a copy, as many as there are in one go. */
static void read_blocks(const rs_stored_tensor *tensor, size_t first, size_t count, float *numbers) {
  enum { LARGEST = 256 };
  rs_number_block block = rs_dtype_block(tensor->dtype);
  float copy[LARGEST];
  while (count > 0) {
    const unsigned char *data = tensor->data + first / block.numbers * block.bytes;
    size_t skipped = first % block.numbers, size = count - count % block.numbers;
    if (skipped == 0 && size > 0) {
      rs_blocks_widen(tensor->dtype, data, size / block.numbers, numbers);
    } else {
      size = block.numbers - skipped < count ? block.numbers - skipped : count;
      rs_blocks_widen(tensor->dtype, data, 1, copy);
      memcpy(numbers, copy + skipped, size * sizeof *copy);
    }
    first += size;
    numbers += size;
    count -= size;
  }
}

rs_status rs_stored_floats(const rs_stored_tensor *tensor, size_t first, size_t count, float *numbers, rs_err *err) {
  RS_TRY(check_span(tensor, first, count, err));
  if (count == 0) return RS_OK;
  const unsigned char *data = tensor->data;
  if (tensor->dtype > RS_DTYPE_U64)
    read_blocks(tensor, first, count, numbers);
  else if (tensor->dtype == RS_DTYPE_F64)
    for (size_t i = 0; i < count; i++) numbers[i] = (float)rs_f64_of_bits(rs_bits64(data + 8 * (first + i)));
  else if (tensor->dtype == RS_DTYPE_F32)
    for (size_t i = 0; i < count; i++) numbers[i] = rs_f32_of_bits(rs_bits32(data + 4 * (first + i)));
  else if (tensor->dtype == RS_DTYPE_BF16)
    for (size_t i = 0; i < count; i++) numbers[i] = rs_bf16_widen(rs_bits16(data + 2 * (first + i)));
  else
    for (size_t i = 0; i < count; i++) numbers[i] = rs_f16_widen(rs_bits16(data + 2 * (first + i)));
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
    numbers[i] = rs_f64_of_bits(rs_bits64(tensor->data + 8 * (first + i)));
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

/* ---- headers ----------------------------------------------------------------------------------------------------- */

typedef struct header_reader {
  const char *file;
  const unsigned char *data; /* behind the header */
  size_t data_bytes;
  rs_err *err;
} header_reader;

/* ---- one entry --------------------------------------------------------------------------------------------------- */

/* Text of an unquoted scalar is that of a JSON number, true, false or null: digits alone are a whole number of at most
 * 64 bits. */
static bool read_whole(const rs_node *node, size_t *number) {
  if (node->kind != RS_SCALAR || node->quoted || node->text[strspn(node->text, "0123456789")] != '\0') return false;
  *number = (size_t)strtoull(node->text, NULL, 10);
  return true;
}

/* The entry's text where it is a scalar, else what it is. */
static const char *shown_value(const rs_node *node, char out[RS_NAME_CHARS]) {
  if (node->kind != RS_SCALAR) return node->kind == RS_SEQUENCE ? "a list" : "an object";
  rs_shorten(node->text, RS_NAME_CHARS, out);
  return out;
}

static rs_status read_dtype(const header_reader *in, const rs_node *node, rs_stored_tensor *tensor) {
  char shown[RS_NAME_CHARS];
  for (size_t i = 0; node->quoted && i < RS_DTYPES_OF_SAFETENSORS; i++) {
    if (strcmp(node->text, rs_dtype_words[i]) != 0) continue;
    tensor->dtype = (rs_dtype)i;
    return RS_OK;
  }
  return rs_tensor_fail(tensor, RS_INPUT, in->err,
                        "dtype is %s, which is no type of this format (\"F32\", \"BF16\", \"F16\", ...)",
                        shown_value(node, shown));
}

static rs_status read_shape(const header_reader *in, const rs_node *node, rs_stored_tensor *tensor) {
  char shown[RS_NAME_CHARS];
  if (node->kind != RS_SEQUENCE)
    return rs_tensor_fail(tensor, RS_INPUT, in->err, "shape is %s, it must be a list of whole numbers",
                          shown_value(node, shown));
  if (node->count > RS_TENSOR_RANK)
    return rs_tensor_fail(tensor, RS_INPUT, in->err, "shape has %zu extents, at most %d are read", node->count,
                          RS_TENSOR_RANK);
  tensor->rank = node->count;
  for (size_t i = 0; i < node->count; i++)
    if (!read_whole(&node->items[i], &tensor->shape[i]))
      return rs_tensor_fail(tensor, RS_INPUT, in->err, "shape[%zu] is %s, it must be a whole number >= 0", i,
                            shown_value(&node->items[i], shown));
  if (rs_tensor_size(tensor->dtype, tensor->shape, tensor->rank, &tensor->count, &tensor->bytes)) return RS_OK;
  char shape[RS_SHAPE_CHARS];
  rs_shape_text(tensor->shape, tensor->rank, shape);
  return rs_tensor_fail(tensor, RS_INPUT, in->err, "%s %s takes more bytes than can be counted, or ends within a byte",
                        rs_dtype_words[tensor->dtype], shape);
}

static rs_status read_offsets(const header_reader *in, const rs_node *node, rs_stored_tensor *tensor) {
  size_t begin, end;
  char shape[RS_SHAPE_CHARS];
  if (node->kind != RS_SEQUENCE || node->count != 2 || !read_whole(&node->items[0], &begin) ||
      !read_whole(&node->items[1], &end))
    return rs_tensor_fail(tensor, RS_INPUT, in->err, "data_offsets must be two whole numbers >= 0: begin and end");
  if (begin > end)
    return rs_tensor_fail(tensor, RS_INPUT, in->err, "data_offsets [%zu, %zu] end before they begin", begin, end);
  if (end > in->data_bytes)
    return rs_tensor_fail(tensor, RS_INPUT, in->err,
                          "data_offsets [%zu, %zu] go beyond the data's %zu bytes (is the file cut off?)", begin, end,
                          in->data_bytes);
  rs_shape_text(tensor->shape, tensor->rank, shape);
  if (end - begin != tensor->bytes)
    return rs_tensor_fail(tensor, RS_INPUT, in->err, "data_offsets [%zu, %zu] hold %zu bytes, %s %s takes %zu", begin,
                          end, end - begin, rs_dtype_words[tensor->dtype], shape, tensor->bytes);
  tensor->data = in->data + begin;
  return RS_OK;
}

/* Of the entry `node`, whose name `tensor` has. */
static rs_status read_tensor(const header_reader *in, const rs_node *node, rs_stored_tensor *tensor) {
  static const struct {
    const char *name;
    rs_status (*read)(const header_reader *in, const rs_node *node, rs_stored_tensor *tensor);
  } fields[] = {{"dtype", read_dtype}, {"shape", read_shape}, {"data_offsets", read_offsets}};
  char shown[RS_NAME_CHARS];
  if (node->kind != RS_MAPPING)
    return rs_tensor_fail(tensor, RS_INPUT, in->err, "is %s, it must be an object with dtype, shape and data_offsets",
                          shown_value(node, shown));
  for (size_t i = 0; i < RS_COUNT(fields); i++) {
    const rs_node *field = rs_node_get(node, fields[i].name);
    if (field == NULL) return rs_tensor_fail(tensor, RS_INPUT, in->err, "has no %s", fields[i].name);
    RS_TRY(fields[i].read(in, field, tensor));
  }
  for (size_t i = 0; i < node->count; i++) {
    const char *key = node->items[i].key;
    rs_shorten(key, sizeof shown, shown);
    if (strcmp(key, "dtype") != 0 && strcmp(key, "shape") != 0 && strcmp(key, "data_offsets") != 0)
      return rs_tensor_fail(tensor, RS_INPUT, in->err, "has a field \"%s\", known are dtype, shape and data_offsets",
                            shown);
  }
  return RS_OK;
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

static rs_status check_metadata(const header_reader *in, const rs_node *node) {
  char shown[RS_NAME_CHARS], key[RS_NAME_CHARS];
  if (node->kind != RS_MAPPING)
    return rs_fail(in->err, RS_INPUT, "%s: %s is %s, it must be a map of strings", in->file, RS_TENSOR_METADATA,
                   shown_value(node, shown));
  for (size_t i = 0; i < node->count; i++) {
    const rs_node *value = &node->items[i];
    rs_shorten(value->key, sizeof key, key);
    if (!value->quoted)
      return rs_fail(in->err, RS_INPUT, "%s: %s: \"%s\" is %s, it must be a string", in->file, RS_TENSOR_METADATA, key,
                     shown_value(value, shown));
  }
  return RS_OK;
}

/* By begin, then end, so that an empty tensor stands before the one that begins where it does. */
static int compare_places(const void *left, const void *right) {
  const rs_stored_tensor *a = left, *b = right;
  if (a->data != b->data) return a->data < b->data ? -1 : 1;
  if (a->bytes != b->bytes) return a->bytes < b->bytes ? -1 : 1;
  return strcmp(a->name, b->name);
}

rs_status rs_tensors_order(const rs_bytes *data, size_t alignment, const char *file, rs_stored_tensor *tensors,
                           size_t count, rs_err *err) {
  size_t end = 0, next = 0;
  char before[RS_NAME_CHARS] = "";
  if (count > 0) qsort(tensors, count, sizeof *tensors, compare_places);
  for (size_t i = 0; i < count; i++) {
    size_t begin = (size_t)(tensors[i].data - (const unsigned char *)data->data);
    if (begin < end)
      return rs_tensor_fail(&tensors[i], RS_INPUT, err,
                            "begins at byte %zu of the data, within tensor \"%s\", which ends at %zu", begin, before,
                            end);
    if (begin > next)
      return rs_tensor_fail(&tensors[i], RS_INPUT, err,
                            "begins at byte %zu of the data, but what is before ends at %zu: nobody's bytes", begin,
                            end);
    end = begin + tensors[i].bytes;
    next = end + (alignment - end % alignment) % alignment;
    rs_shorten(tensors[i].name, sizeof before, before);
  }
  if (data->length <= next) return RS_OK;
  return rs_fail(err, RS_INPUT, "%s: has %zu bytes of data, its tensors end at %zu: nobody's bytes", file, data->length,
                 end);
}

static rs_status read_entries(const header_reader *in, const rs_node *root, rs_stored_tensor **tensors, size_t *count,
                              size_t *capacity) {
  size_t first = *count;
  for (size_t i = 0; i < root->count; i++) {
    const rs_node *node = &root->items[i];
    if (strcmp(node->key, RS_TENSOR_METADATA) == 0) {
      RS_TRY(check_metadata(in, node));
      continue;
    }
    RS_TRY(RS_GROW(*tensors, capacity, *count + 1, in->err));
    rs_stored_tensor *tensor = *tensors + *count;
    *tensor = (rs_stored_tensor){.name = rs_strdup(node->key, in->err), .file = in->file};
    if (tensor->name == NULL) return RS_MEMORY;
    ++*count;
    RS_TRY(read_tensor(in, node, tensor));
  }
  rs_bytes data = {in->data, in->data_bytes};
  return rs_tensors_order(&data, 1, in->file, *count > first ? *tensors + first : NULL, *count - first, in->err);
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

rs_status rs_check_pointer(const unsigned char *bytes, size_t length, const char *file, rs_err *err) {
  static const char pointer[] = "version https://git-lfs";
  if (length < sizeof pointer || memcmp(bytes, pointer, sizeof pointer - 1) != 0) return RS_OK;
  return rs_fail(err, RS_INPUT, "%s: is a pointer of Git LFS, not the file itself (git lfs pull fetches it)", file);
}

/* The header's length, within the file. */
static rs_status read_length(const unsigned char *bytes, size_t length, const char *file, size_t *header, rs_err *err) {
  RS_TRY(rs_check_pointer(bytes, length, file, err));
  if (length >= 4 && memcmp(bytes, "GGUF", 4) == 0)
    return rs_fail(err, RS_INPUT, "%s: is no safetensors file, but one of GGUF", file);
  if (length < RS_TENSOR_LENGTH_BYTES)
    return rs_fail(err, RS_INPUT, "%s: is no safetensors file: has %zu bytes, the header's length alone takes %d", file,
                   length, RS_TENSOR_LENGTH_BYTES);
  uint64_t promised = rs_bits64(bytes);
  if (promised > RS_TENSOR_HEADER_MOST)
    return rs_fail(err, RS_INPUT,
                   "%s: is no safetensors file: its first 8 bytes promise a header of %llu bytes, at most %d are read",
                   file, (unsigned long long)promised, RS_TENSOR_HEADER_MOST);
  if (promised > length - RS_TENSOR_LENGTH_BYTES)
    return rs_fail(err, RS_INPUT, "%s: is cut off: %llu bytes of header are promised, %zu are there", file,
                   (unsigned long long)promised, length - RS_TENSOR_LENGTH_BYTES);
  *header = (size_t)promised;
  if (promised > 0 && bytes[RS_TENSOR_LENGTH_BYTES] == '{') return RS_OK;
  return rs_fail(err, RS_INPUT, "%s: is no safetensors file: its header does not begin with {", file);
}

rs_status rs_tensors_parse(const unsigned char *bytes, size_t length, const char *file, rs_stored_tensor **tensors,
                           size_t *count, size_t *capacity, rs_err *err) {
  size_t header = 0;
  rs_text name = {0};
  rs_tree *tree = NULL;
  RS_TRY(read_length(bytes, length, file, &header, err));
  const unsigned char *text = bytes + RS_TENSOR_LENGTH_BYTES;
  header_reader in = {file, text + header, length - RS_TENSOR_LENGTH_BYTES - header, err};
  rs_text_printf(&name, "%s (header)", file);
  rs_status status = rs_text_check(&name, err);
  if (status == RS_OK)
    status = rs_json_read_most((const char *)text, header, rs_text_string(&name), RS_TENSOR_VALUES_MOST, &tree, err);
  if (status == RS_OK) status = read_entries(&in, &tree->root, tensors, count, capacity);
  rs_tree_free(tree);
  rs_text_clear(&name);
  return status;
}
