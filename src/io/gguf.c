/* gguf.c: files of llama.cpp's: metadata, and tensors that stay in the file. Format, all of it little-endian: "GGUF";
 * the version, 4 bytes; numbers of tensors and of keys, 8 bytes each; keys, each with a type and a value; tensors, each
 * a name, its extents from the fastest on, a type, and its place in the data, which begins at the next multiple of the
 * alignment, as every tensor does. Texts and arrays have their length before them, in 8 bytes. (ggml, docs/gguf.md.
 * What that leaves open is as strict as src/gguf.cpp: no arrays of arrays, tensors without a hole.) */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io_internal.h"
#include "tensors.h"

typedef enum value_type {
  VALUE_U8,
  VALUE_I8,
  VALUE_U16,
  VALUE_I16,
  VALUE_U32,
  VALUE_I32,
  VALUE_F32,
  VALUE_BOOL,
  VALUE_STRING,
  VALUE_ARRAY,
  VALUE_U64,
  VALUE_I64,
  VALUE_F64,
  VALUE_TYPES
} value_type;

/* Bytes that a value takes; of a string those of its length. */
static const size_t value_bytes[VALUE_TYPES] = {
    [VALUE_U8] = 1,  [VALUE_I8] = 1,   [VALUE_U16] = 2,    [VALUE_I16] = 2, [VALUE_U32] = 4, [VALUE_I32] = 4,
    [VALUE_F32] = 4, [VALUE_BOOL] = 1, [VALUE_STRING] = 8, [VALUE_U64] = 8, [VALUE_I64] = 8, [VALUE_F64] = 8};

/* Types of tensors by their numbers in a file; what is left out no file has (removed, or for products alone). */
static const struct {
  uint32_t number;
  rs_dtype dtype;
} tensor_types[] = {
    {0, RS_DTYPE_F32},    {1, RS_DTYPE_F16},     {2, RS_DTYPE_Q4_0},     {3, RS_DTYPE_Q4_1},    {6, RS_DTYPE_Q5_0},
    {7, RS_DTYPE_Q5_1},   {8, RS_DTYPE_Q8_0},    {10, RS_DTYPE_Q2_K},    {11, RS_DTYPE_Q3_K},   {12, RS_DTYPE_Q4_K},
    {13, RS_DTYPE_Q5_K},  {14, RS_DTYPE_Q6_K},   {16, RS_DTYPE_IQ2_XXS}, {17, RS_DTYPE_IQ2_XS}, {18, RS_DTYPE_IQ3_XXS},
    {19, RS_DTYPE_IQ1_S}, {20, RS_DTYPE_IQ4_NL}, {21, RS_DTYPE_IQ3_S},   {22, RS_DTYPE_IQ2_S},  {23, RS_DTYPE_IQ4_XS},
    {24, RS_DTYPE_I8},    {25, RS_DTYPE_I16},    {26, RS_DTYPE_I32},     {27, RS_DTYPE_I64},    {28, RS_DTYPE_F64},
    {29, RS_DTYPE_IQ1_M}, {30, RS_DTYPE_BF16},   {34, RS_DTYPE_TQ1_0},   {35, RS_DTYPE_TQ2_0},  {39, RS_DTYPE_MXFP4},
    {40, RS_DTYPE_NVFP4}, {41, RS_DTYPE_Q1_0},   {42, RS_DTYPE_Q2_0},
};

/* An array whose elements are no nodes. */
typedef struct array_length {
  char *key; /* owned */
  size_t count;
} array_length;

struct rs_gguf {
  char *path; /* that nodes call their file */
  rs_node metadata;
  array_length *arrays; /* (array_count,) */
  size_t array_count, array_capacity;
  rs_safetensors *checkpoint; /* NULL: detached */
};

/* Limits, far above any real file, which bound the memory that a hostile one takes. The largest models have some
 * thousand tensors. */
enum { KEY_MOST = 65535, TENSORS_MOST = 500000, RANK_MOST = 4, ALIGNMENT_DEFAULT = 32 };

/* ---- bytes ------------------------------------------------------------------------------------------------------- */

/* Bytes [at, length) of the file are to be read; `subject` is what they are about. */
typedef struct reader {
  const unsigned char *bytes;
  size_t length, at;
  const char *file;
  char subject[RS_NAME_CHARS + 16];
  size_t nodes; /* that metadata has so far */
  rs_err *err;
} reader;

static rs_status fail(const reader *in, rs_status status, const char *format, ...) RS_PRINTF(3, 4);

static rs_status fail(const reader *in, rs_status status, const char *format, ...) {
  char why[512];
  va_list words;
  va_start(words, format);
  vsnprintf(why, sizeof why, format, words);
  va_end(words);
  return rs_fail(in->err, status, "%s: %s: %s", in->file, in->subject, why);
}

static rs_status take(reader *in, size_t count, const char *what, const unsigned char **bytes) {
  *bytes = NULL;
  if (count > in->length - in->at)
    return fail(in, RS_INPUT, "%s takes %zu bytes, the file ends after %zu (was a download broken off?)", what, count,
                in->length - in->at);
  *bytes = in->bytes + in->at;
  in->at += count;
  return RS_OK;
}

static rs_status take_u32(reader *in, const char *what, uint32_t *number) {
  const unsigned char *bytes;
  RS_TRY(take(in, sizeof *number, what, &bytes));
  *number = rs_bits32(bytes);
  return RS_OK;
}

static rs_status take_u64(reader *in, const char *what, uint64_t *number) {
  const unsigned char *bytes;
  RS_TRY(take(in, sizeof *number, what, &bytes));
  *number = rs_bits64(bytes);
  return RS_OK;
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

typedef struct slice {
  const char *text; /* (length,) within the file */
  size_t length;
} slice;

static rs_status take_slice(reader *in, const char *what, slice *out) {
  uint64_t length;
  const unsigned char *bytes;
  RS_TRY(take_u64(in, what, &length));
  RS_TRY(take(in, length, what, &bytes));
  *out = (slice){(const char *)bytes, length};
  return RS_OK;
}

/* A copy of a text, which must be UTF-8 without a NUL. */
static rs_status copy_slice(const reader *in, const char *what, slice from, char **copy) {
  *copy = NULL;
  if (memchr(from.text, '\0', from.length) != NULL)
    return fail(in, RS_INPUT, "%s has a NUL character, which no text can hold", what);
  char *text = rs_alloc(from.length + 1, 1, in->err);
  if (text == NULL) return RS_MEMORY;
  memcpy(text, from.text, from.length);
  uint32_t character;
  size_t at = 0, step = 1;
  while (at < from.length && (step = rs_utf8_read(text + at, &character)) > 0) at += step;
  if (step > 0) {
    *copy = text;
    return RS_OK;
  }
  free(text);
  return fail(in, RS_INPUT, "%s is no UTF-8 at its byte %zu", what, at);
}

static int compare_slices(const void *left, const void *right) {
  const slice *a = left, *b = right;
  size_t shared = a->length < b->length ? a->length : b->length;
  int order = memcmp(a->text, b->text, shared);
  return order != 0 ? order : (a->length > b->length) - (a->length < b->length);
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* Of a number or truth value (value_bytes[type],). */
static rs_status write_number(const reader *in, value_type type, const unsigned char *bytes,
                              char out[RS_NUMBER_CHARS]) {
  switch (type) {
  case VALUE_U8: snprintf(out, RS_NUMBER_CHARS, "%u", *bytes); break;
  case VALUE_I8: snprintf(out, RS_NUMBER_CHARS, "%d", (int8_t)*bytes); break;
  case VALUE_U16: snprintf(out, RS_NUMBER_CHARS, "%u", rs_bits16(bytes)); break;
  case VALUE_I16: snprintf(out, RS_NUMBER_CHARS, "%d", (int16_t)rs_bits16(bytes)); break;
  case VALUE_U32: snprintf(out, RS_NUMBER_CHARS, "%" PRIu32, rs_bits32(bytes)); break;
  case VALUE_I32: snprintf(out, RS_NUMBER_CHARS, "%" PRId32, (int32_t)rs_bits32(bytes)); break;
  case VALUE_U64: snprintf(out, RS_NUMBER_CHARS, "%" PRIu64, rs_bits64(bytes)); break;
  case VALUE_I64: snprintf(out, RS_NUMBER_CHARS, "%" PRId64, (int64_t)rs_bits64(bytes)); break;
  case VALUE_F32: rs_number_format_single(rs_f32_of_bits(rs_bits32(bytes)), out); break;
  case VALUE_F64: rs_number_format(rs_f64_of_bits(rs_bits64(bytes)), out); break;
  default:
    if (*bytes > 1) return fail(in, RS_INPUT, "a truth value is %u, it must be 0 or 1", *bytes);
    strcpy(out, *bytes == 1 ? "true" : "false");
  }
  return RS_OK;
}

/* Reads a value that is no array; NULL: checks it alone. */
static rs_status read_scalar(reader *in, value_type type, rs_node *node) {
  char number[RS_NUMBER_CHARS];
  const unsigned char *bytes;
  slice text;
  if (type == VALUE_STRING) {
    RS_TRY(take_slice(in, "its text", &text));
    if (node == NULL) return RS_OK;
    node->quoted = true;
    return copy_slice(in, "its text", text, &node->text);
  }
  RS_TRY(take(in, value_bytes[type], "its value", &bytes));
  if (node == NULL && type != VALUE_BOOL) return RS_OK;
  RS_TRY(write_number(in, type, bytes, number));
  if (node == NULL) return RS_OK;
  node->text = rs_strdup(number, in->err);
  return node->text != NULL ? RS_OK : RS_MEMORY;
}

static rs_status take_type(reader *in, const char *what, value_type *type) {
  uint32_t number;
  *type = VALUE_TYPES;
  RS_TRY(take_u32(in, what, &number));
  if (number >= VALUE_TYPES)
    return fail(in, RS_INPUT, "%s is %" PRIu32 ", known are 0 to %d (is the file damaged?)", what, number,
                VALUE_TYPES - 1);
  *type = (value_type)number;
  return RS_OK;
}

/* ---- metadata ---------------------------------------------------------------------------------------------------- */

static rs_status count_node(reader *in) {
  if (in->nodes++ < RS_TREE_MAX_NODES) return RS_OK;
  return fail(in, RS_INPUT, "is more than the %d values that are read, beside the tokenizer's", RS_TREE_MAX_NODES);
}

/* Reads an array into a sequence; NULL: counts and checks it alone. */
static rs_status read_array(reader *in, rs_node *node, size_t *count) {
  value_type type;
  uint64_t promised;
  RS_TRY(take_type(in, "the type of its elements", &type));
  RS_TRY(take_u64(in, "the number of its elements", &promised));
  if (type == VALUE_ARRAY) return fail(in, RS_INPUT, "is an array of arrays, which llama.cpp does not read either");
  if (promised > (in->length - in->at) / value_bytes[type])
    return fail(in, RS_INPUT, "promises %" PRIu64 " elements of %zu bytes, the file ends after %zu bytes", promised,
                value_bytes[type], in->length - in->at);
  *count = promised;
  if (node != NULL) node->kind = RS_SEQUENCE;
  for (size_t i = 0; i < *count; i++) {
    rs_node *element = NULL;
    if (node != NULL) {
      RS_TRY(count_node(in));
      element = rs_node_append(node, in->err);
      if (element == NULL) return RS_MEMORY;
    }
    RS_TRY(read_scalar(in, type, element));
  }
  return RS_OK;
}

/* Both take `key` over. */
static rs_status count_array(reader *in, rs_gguf *gguf, char *key) {
  if (RS_GROW(gguf->arrays, &gguf->array_capacity, gguf->array_count + 1, in->err) != RS_OK) {
    free(key);
    return RS_MEMORY;
  }
  array_length *array = &gguf->arrays[gguf->array_count++];
  array->key = key;
  return read_array(in, NULL, &array->count);
}

static rs_status keep_value(reader *in, rs_gguf *gguf, value_type type, char *key) {
  size_t count;
  rs_node *node = rs_node_append(&gguf->metadata, in->err);
  if (node == NULL) {
    free(key);
    return RS_MEMORY;
  }
  node->key = key;
  RS_TRY(count_node(in));
  return type == VALUE_ARRAY ? read_array(in, node, &count) : read_scalar(in, type, node);
}

/* Arrays below "tokenizer." have an element for each token, which nobody reads here. */
static rs_status read_key(reader *in, rs_gguf *gguf, slice *key) {
  char *copy;
  value_type type;
  RS_TRY(take_slice(in, "its name", key));
  if (key->length == 0 || key->length > KEY_MOST)
    return fail(in, RS_INPUT, "its name has %zu bytes, it must have 1 to %d", key->length, KEY_MOST);
  RS_TRY(copy_slice(in, "its name", *key, &copy));
  rs_shorten(copy, sizeof in->subject, in->subject);
  rs_status status = take_type(in, "its type", &type);
  if (status == RS_OK && strcmp(copy, "general.alignment") == 0 && type != VALUE_U32)
    status = fail(in, RS_INPUT, "is of type %d, it must be of type %d, a whole number of 32 bits", type, VALUE_U32);
  if (status != RS_OK) {
    free(copy);
    return status;
  }
  bool counted = type == VALUE_ARRAY && strncmp(copy, "tokenizer.", strlen("tokenizer.")) == 0;
  return counted ? count_array(in, gguf, copy) : keep_value(in, gguf, type, copy);
}

static rs_status check_twice(const reader *in, slice *keys, size_t count) {
  if (count > 0) qsort(keys, count, sizeof *keys, compare_slices);
  for (size_t i = 1; i < count; i++)
    if (compare_slices(&keys[i - 1], &keys[i]) == 0)
      return rs_fail(in->err, RS_INPUT, "%s: %.*s: is there twice", in->file, (int)keys[i].length, keys[i].text);
  return RS_OK;
}

static rs_status read_metadata(reader *in, rs_gguf *gguf, uint64_t count) {
  enum { LEAST = 8 + 1 + 4 + 1 }; /* bytes of a key: a name of one, its type, a value */
  if (count > (in->length - in->at) / LEAST)
    return fail(in, RS_INPUT, "promises %" PRIu64 " keys, the file ends after %zu bytes", count, in->length - in->at);
  slice *keys = rs_alloc(count, sizeof *keys, in->err);
  rs_status status = keys != NULL ? RS_OK : RS_MEMORY;
  for (size_t i = 0; i < count && status == RS_OK; i++) {
    snprintf(in->subject, sizeof in->subject, "key %zu of %" PRIu64, i + 1, count);
    status = read_key(in, gguf, &keys[i]);
  }
  if (status == RS_OK) status = check_twice(in, keys, count);
  free(keys);
  rs_node_adopt(&gguf->metadata);
  return status;
}

/* ---- what metadata says of the file ------------------------------------------------------------------------------ */

/* The whole number of a key; `fallback` where there is none. */
static unsigned long long integer_of(const rs_gguf *gguf, const char *key, unsigned long long fallback) {
  const rs_node *node = rs_node_get(&gguf->metadata, key);
  return node != NULL && node->kind == RS_SCALAR && !node->quoted ? strtoull(node->text, NULL, 10) : fallback;
}

static rs_status find_alignment(const reader *in, const rs_gguf *gguf, size_t *alignment) {
  *alignment = integer_of(gguf, "general.alignment", ALIGNMENT_DEFAULT);
  if (*alignment != 0 && (*alignment & (*alignment - 1)) == 0) return RS_OK;
  return rs_fail(in->err, RS_INPUT, "%s: general.alignment: is %zu, it must be a power of two", in->file, *alignment);
}

static rs_status check_split(const reader *in, const rs_gguf *gguf) {
  unsigned long long parts = integer_of(gguf, "split.count", 1);
  if (parts <= 1) return RS_OK;
  return rs_fail(in->err, RS_UNSUPPORTED,
                 "%s: is part %llu of %llu of a split model, which is not read (llama-gguf-split --merge joins them)",
                 in->file, integer_of(gguf, "split.no", 0) + 1, parts);
}

/* ---- tensors ----------------------------------------------------------------------------------------------------- */

static rs_status read_type(reader *in, rs_stored_tensor *tensor) {
  uint32_t number;
  RS_TRY(take_u32(in, "its type", &number));
  for (size_t i = 0; i < RS_COUNT(tensor_types); i++) {
    if (tensor_types[i].number != number) continue;
    tensor->dtype = tensor_types[i].dtype;
    return RS_OK;
  }
  return fail(in, RS_UNSUPPORTED, "is of type %" PRIu32 ", which is not known here (nor its size)", number);
}

/* The file has the extent of the fastest axis first. */
static rs_status read_shape(reader *in, rs_stored_tensor *tensor) {
  uint32_t rank;
  RS_TRY(take_u32(in, "the number of its extents", &rank));
  if (rank > RANK_MOST) return fail(in, RS_INPUT, "has %" PRIu32 " extents, at most %d are read", rank, RANK_MOST);
  tensor->rank = rank;
  for (size_t i = rank; i-- > 0;) {
    uint64_t extent;
    RS_TRY(take_u64(in, "its shape", &extent));
    if (extent == 0) return fail(in, RS_INPUT, "has an extent of 0");
    tensor->shape[i] = extent;
  }
  return RS_OK;
}

static rs_status find_size(const reader *in, rs_stored_tensor *tensor) {
  size_t row = tensor->rank > 0 ? tensor->shape[tensor->rank - 1] : 1;
  rs_number_block block = rs_dtype_block(tensor->dtype);
  const char *type = rs_dtype_words[tensor->dtype];
  char shape[RS_SHAPE_CHARS];
  if (row % block.numbers != 0)
    return fail(in, RS_INPUT, "has rows of %zu numbers, which are no whole blocks of %s (%zu numbers each)", row, type,
                block.numbers);
  if (rs_tensor_size(tensor->dtype, tensor->shape, tensor->rank, &tensor->count, &tensor->bytes)) return RS_OK;
  rs_shape_text(tensor->shape, tensor->rank, shape);
  return fail(in, RS_INPUT, "%s %s takes more bytes than can be counted", type, shape);
}

/* Reads all of a tensor but its data, which begins `offset` bytes behind that of the first. */
static rs_status read_tensor(reader *in, size_t alignment, rs_stored_tensor *tensor, uint64_t *offset) {
  slice name;
  RS_TRY(take_slice(in, "its name", &name));
  if (name.length == 0) return fail(in, RS_INPUT, "has no name");
  RS_TRY(copy_slice(in, "its name", name, &tensor->name));
  char shown[RS_NAME_CHARS];
  rs_shorten(tensor->name, sizeof shown, shown);
  snprintf(in->subject, sizeof in->subject, "tensor \"%s\"", shown);
  RS_TRY(read_shape(in, tensor));
  RS_TRY(read_type(in, tensor));
  RS_TRY(find_size(in, tensor));
  RS_TRY(take_u64(in, "its place", offset));
  if (*offset % alignment == 0) return RS_OK;
  return fail(in, RS_INPUT, "begins at byte %" PRIu64 " of the data, which is no multiple of the alignment, %zu",
              *offset, alignment);
}

/* Tensors find their data, `offsets` bytes from its begin, and each other. */
static rs_status place_tensors(const reader *in, size_t alignment, const uint64_t *offsets,
                               rs_safetensors *checkpoint) {
  size_t start = in->at + (alignment - in->at % alignment) % alignment;
  rs_bytes data = {in->bytes + in->length, 0};
  if (start < in->length) data = (rs_bytes){in->bytes + start, in->length - start};
  for (size_t i = 0; i < checkpoint->count; i++) {
    rs_stored_tensor *tensor = &checkpoint->tensors[i];
    if (offsets[i] > data.length || tensor->bytes > data.length - offsets[i])
      return rs_tensor_fail(tensor, RS_INPUT, in->err,
                            "takes %zu bytes at byte %" PRIu64
                            " of the data, which has %zu (was a download broken off?)",
                            tensor->bytes, offsets[i], data.length);
    tensor->data = (const unsigned char *)data.data + offsets[i];
  }
  RS_TRY(rs_tensors_order(&data, alignment, in->file, checkpoint->tensors, checkpoint->count, in->err));
  RS_TRY(rs_checkpoint_end(checkpoint, in->err));
  for (size_t i = 1; i < checkpoint->count; i++) {
    const rs_stored_tensor *tensor = &checkpoint->tensors[checkpoint->by_name[i]];
    if (strcmp(checkpoint->tensors[checkpoint->by_name[i - 1]].name, tensor->name) == 0)
      return rs_tensor_fail(tensor, RS_INPUT, in->err, "is there twice");
  }
  return RS_OK;
}

static rs_status read_tensors(reader *in, size_t alignment, uint64_t count, rs_safetensors *checkpoint) {
  enum { LEAST = 8 + 1 + 4 + 4 + 8 }; /* bytes of a tensor: a name of one, no extents, type, place */
  snprintf(in->subject, sizeof in->subject, "tensors");
  if (count > (in->length - in->at) / LEAST)
    return fail(in, RS_INPUT, "%" PRIu64 " are promised, the file ends after %zu bytes", count, in->length - in->at);
  if (count > TENSORS_MOST)
    return fail(in, RS_INPUT, "%" PRIu64 " are promised, at most %d are read", count, TENSORS_MOST);
  uint64_t *offsets = rs_alloc(count, sizeof *offsets, in->err);
  checkpoint->tensors = rs_alloc(count, sizeof *checkpoint->tensors, in->err);
  rs_status status = offsets != NULL && checkpoint->tensors != NULL ? RS_OK : RS_MEMORY;
  for (size_t i = 0; i < count && status == RS_OK; i++) {
    snprintf(in->subject, sizeof in->subject, "tensor %zu of %" PRIu64, i + 1, count);
    checkpoint->tensors[i].file = checkpoint->shards->path;
    checkpoint->count = i + 1;
    status = read_tensor(in, alignment, &checkpoint->tensors[i], &offsets[i]);
  }
  if (status == RS_OK) status = place_tensors(in, alignment, offsets, checkpoint);
  free(offsets);
  return status;
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

static const char magic[] = {'G', 'G', 'U', 'F'};

static rs_status check_version(const reader *in, uint32_t version) {
  uint32_t swapped = __builtin_bswap32(version);
  if (version == 2 || version == 3) return RS_OK;
  if (swapped == 2 || swapped == 3)
    return rs_fail(in->err, RS_UNSUPPORTED,
                   "%s: is a GGUF file in big-endian, little-endian is read (convert the model again)", in->file);
  return rs_fail(in->err, RS_UNSUPPORTED, "%s: is a GGUF file of version %" PRIu32 ", versions 2 and 3 are read%s",
                 in->file, version, version == 1 ? " (convert the model again)" : "");
}

static rs_status parse(reader *in, rs_gguf *gguf) {
  uint32_t version;
  uint64_t tensors, keys;
  size_t alignment;
  RS_TRY(rs_check_pointer(in->bytes, in->length, in->file, in->err));
  if (in->length < sizeof magic || memcmp(in->bytes, magic, sizeof magic) != 0)
    return rs_fail(in->err, RS_INPUT, "%s: is no GGUF file: it does not begin with GGUF", in->file);
  in->at = sizeof magic;
  RS_TRY(take_u32(in, "the version", &version));
  RS_TRY(check_version(in, version));
  RS_TRY(take_u64(in, "the number of tensors", &tensors));
  RS_TRY(take_u64(in, "the number of keys", &keys));
  RS_TRY(read_metadata(in, gguf, keys));
  RS_TRY(check_split(in, gguf));
  RS_TRY(find_alignment(in, gguf, &alignment));
  return read_tensors(in, alignment, tensors, gguf->checkpoint);
}

static rs_status open_file(const char *file, rs_gguf *gguf, rs_err *err) {
  gguf->path = rs_strdup(file, err);
  if (gguf->path == NULL) return RS_MEMORY;
  gguf->metadata = (rs_node){.kind = RS_MAPPING, .file = gguf->path};
  RS_TRY(rs_checkpoint_begin(file, &gguf->checkpoint, err));
  const rs_mapping *mapping = &gguf->checkpoint->shards->mapping;
  reader in = {.bytes = mapping->bytes, .length = mapping->length, .file = file, .subject = "header", .err = err};
  return parse(&in, gguf);
}

rs_status rs_gguf_open(const char *file, rs_gguf **gguf, rs_err *err) {
  rs_gguf *opened = rs_alloc(1, sizeof *opened, err);
  *gguf = NULL;
  if (opened == NULL) return RS_MEMORY;
  rs_status status = open_file(file, opened, err);
  if (status == RS_OK)
    *gguf = opened;
  else
    rs_gguf_close(opened);
  return status;
}

void rs_gguf_close(rs_gguf *gguf) {
  if (gguf == NULL) return;
  for (size_t i = 0; i < gguf->array_count; i++) free(gguf->arrays[i].key);
  free(gguf->arrays);
  rs_node_clear(&gguf->metadata);
  rs_safetensors_free(gguf->checkpoint);
  free(gguf->path);
  free(gguf);
}

bool rs_gguf_is(const char *file) {
  char first[sizeof magic];
  struct stat info;
  int opened = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (opened == -1) return false;
  bool is = fstat(opened, &info) == 0 && S_ISREG(info.st_mode) && read(opened, first, sizeof first) == sizeof first &&
            memcmp(first, magic, sizeof magic) == 0;
  close(opened);
  return is;
}

const rs_node *rs_gguf_metadata(const rs_gguf *gguf) {
  return &gguf->metadata;
}

size_t rs_gguf_array_count(const rs_gguf *gguf, const char *key) {
  const rs_node *node = rs_node_get(&gguf->metadata, key);
  if (node != NULL && node->kind == RS_SEQUENCE) return node->count;
  for (size_t i = 0; i < gguf->array_count; i++)
    if (strcmp(gguf->arrays[i].key, key) == 0) return gguf->arrays[i].count;
  return 0;
}

const rs_safetensors *rs_gguf_checkpoint(const rs_gguf *gguf) {
  return gguf->checkpoint;
}

rs_safetensors *rs_gguf_detach(rs_gguf *gguf) {
  rs_safetensors *checkpoint = gguf->checkpoint;
  gguf->checkpoint = NULL;
  return checkpoint;
}
