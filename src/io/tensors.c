/* tensors.c: the header of a safetensors file, checked whole. What passes lies within the file, byte by byte: nobody
 * checks again. The reference reader (safetensors/src/tensor.rs) takes an entry's unknown fields; here they are
 * refused, since they may say how the numbers are to be read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io_internal.h"
#include "tensors.h"

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
  for (size_t i = 0; node->quoted && i < RS_DTYPES; i++) {
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

/* Tensors (count,) in the order of their data must fill it. */
static rs_status check_cover(const header_reader *in, const rs_stored_tensor *tensors, size_t count) {
  size_t end = 0;
  char before[RS_NAME_CHARS] = "";
  for (size_t i = 0; i < count; i++) {
    size_t begin = (size_t)(tensors[i].data - in->data);
    if (begin < end)
      return rs_tensor_fail(&tensors[i], RS_INPUT, in->err,
                            "begins at byte %zu of the data, within tensor \"%s\", which ends at %zu", begin, before,
                            end);
    if (begin > end)
      return rs_tensor_fail(&tensors[i], RS_INPUT, in->err,
                            "begins at byte %zu of the data, but what is before ends at %zu: nobody's bytes", begin,
                            end);
    end += tensors[i].bytes;
    rs_shorten(tensors[i].name, sizeof before, before);
  }
  if (end == in->data_bytes) return RS_OK;
  return rs_fail(in->err, RS_INPUT, "%s: has %zu bytes of data, its tensors end at %zu: nobody's bytes", in->file,
                 in->data_bytes, end);
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
  if (*count == first) return check_cover(in, NULL, 0);
  qsort(*tensors + first, *count - first, sizeof **tensors, compare_places);
  return check_cover(in, *tensors + first, *count - first);
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

/* The header's length, within the file. */
static rs_status read_length(const unsigned char *bytes, size_t length, const char *file, size_t *header, rs_err *err) {
  static const char pointer[] = "version https://git-lfs";
  uint64_t promised = 0;
  if (length >= sizeof pointer && memcmp(bytes, pointer, sizeof pointer - 1) == 0)
    return rs_fail(err, RS_INPUT, "%s: is a pointer of Git LFS, not the file itself (git lfs pull fetches it)", file);
  if (length < RS_TENSOR_LENGTH_BYTES)
    return rs_fail(err, RS_INPUT, "%s: is no safetensors file: has %zu bytes, the header's length alone takes %d", file,
                   length, RS_TENSOR_LENGTH_BYTES);
  for (size_t i = RS_TENSOR_LENGTH_BYTES; i-- > 0;) promised = promised << 8 | bytes[i];
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
