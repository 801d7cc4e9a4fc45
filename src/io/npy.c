/* npy.c: NumPy's .npy files, as written by numpy.save: a magic word, a version, the length of a header, the header (a
 * Python dict that names type, order and shape), then the bare numbers. Format: numpy/lib/format.py, versions 1.0 to
 * 3.0. There is no bfloat16 in it. */
#include "io_internal.h"
#include "tensors.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct npy {
  const char *name, *header; /* header: a copy, NUL-terminated */
  char kind;                 /* 'f', 'i', 'u' or 'b' */
  bool big;                  /* big-endian */
  size_t size;               /* bytes of a number */
  rs_dtype dtype;            /* what safetensors calls them */
  rs_array *array;
  rs_err *err;
} npy;

static rs_status bad(const npy *in, const char *why) {
  return rs_fail(in->err, RS_INPUT, "%s: %s", in->name, why);
}

/* ---- the header -------------------------------------------------------------------------------------------------- */

/* What follows "'key':", or NULL. */
static const char *value_of(const npy *in, const char *key) {
  char quoted[32];
  snprintf(quoted, sizeof quoted, "'%s'", key);
  const char *cursor = strstr(in->header, quoted);
  if (cursor == NULL) return NULL;
  cursor += strlen(quoted);
  cursor += strspn(cursor, " ");
  if (*cursor != ':') return NULL;
  return cursor + 1 + strspn(cursor + 1, " ");
}

/* "'<f4'": byte order, kind, bytes. */
static rs_status read_type(npy *in) {
  static const struct {
    const char *word;
    rs_dtype dtype;
  } known[] = {{"f2", RS_DTYPE_F16}, {"f4", RS_DTYPE_F32}, {"f8", RS_DTYPE_F64}, {"i1", RS_DTYPE_I8},
               {"i2", RS_DTYPE_I16}, {"i4", RS_DTYPE_I32}, {"i8", RS_DTYPE_I64}, {"u1", RS_DTYPE_U8},
               {"u2", RS_DTYPE_U16}, {"u4", RS_DTYPE_U32}, {"u8", RS_DTYPE_U64}, {"b1", RS_DTYPE_BOOL}};
  const char *cursor = value_of(in, "descr");
  char word[16] = "";
  if (cursor == NULL) return bad(in, "the header names no type (descr)");
  if (*cursor != '\'' || sscanf(cursor + 1, "%15[^']", word) != 1)
    return bad(in, "holds records, not numbers (save one array of numbers)");
  bool ordered = strchr("<>|=", word[0]) != NULL;
  const char *bare = ordered ? word + 1 : word;
  in->big = word[0] == '>';
  for (size_t i = 0; i < RS_COUNT(known); i++)
    if (strcmp(bare, known[i].word) == 0) {
      in->dtype = known[i].dtype;
      in->kind = bare[0];
      in->size = (size_t)(bare[1] - '0');
      return RS_OK;
    }
  return rs_fail(in->err, RS_INPUT, "%s: holds numbers of type %s, which is not read here (save them as f4 or f8)",
                 in->name, word);
}

/* "(2, 3)": the extents, and in *axes how many of them are not 1. */
static rs_status read_shape(npy *in, size_t *axes) {
  const char *cursor = value_of(in, "shape");
  rs_array *array = in->array;
  array->count = 1;
  *axes = 0;
  if (cursor == NULL || *cursor != '(') return bad(in, "the header names no shape");
  for (cursor++; *(cursor += strspn(cursor, " ,")) != ')';) {
    char *end;
    unsigned long long extent = strtoull(cursor, &end, 10);
    if (end == cursor || *cursor == '-') return bad(in, "the header's shape is no list of whole numbers");
    if (extent > 0 && array->count > SIZE_MAX / extent) return bad(in, "the header's shape is too large");
    if (array->rank == RS_TENSOR_RANK) return bad(in, "the header's shape has more than 8 axes");
    array->shape[array->rank++] = (size_t)extent;
    array->count *= (size_t)extent;
    *axes += extent != 1;
    cursor = end;
  }
  return array->count > 0 ? RS_OK : bad(in, "holds no numbers");
}

static rs_status read_header(npy *in) {
  size_t axes;
  const char *order = value_of(in, "fortran_order");
  RS_TRY(read_type(in));
  RS_TRY(read_shape(in, &axes));
  if (order == NULL) return bad(in, "the header does not name the order (fortran_order)");
  if (strncmp(order, "True", 4) == 0 && axes > 1)
    return bad(in, "is stored column by column (save numpy.ascontiguousarray of it)");
  return RS_OK;
}

/* Finds the header and where the numbers begin. */
static rs_status find_header(npy *in, const char *data, size_t length, char **header, size_t *begin) {
  const unsigned char *bytes = (const unsigned char *)data;
  enum { MAGIC = 6, SHORT = 10, LONG = 12 };
  if (length < SHORT || memcmp(data, "\x93NUMPY", MAGIC) != 0) return bad(in, "is no .npy file");
  if (bytes[6] < 1 || bytes[6] > 3)
    return rs_fail(in->err, RS_INPUT, "%s: has .npy version %d, known are 1 to 3", in->name, bytes[6]);
  if (bytes[6] > 1 && length < LONG) return bad(in, "is cut off within the header");
  size_t start = bytes[6] > 1 ? LONG : SHORT, size = bytes[8] | (size_t)bytes[9] << 8;
  if (bytes[6] > 1) size |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
  if (size > length - start) return bad(in, "is cut off within the header");
  *header = rs_alloc(size + 1, 1, in->err);
  if (*header == NULL) return RS_MEMORY;
  memcpy(*header, data + start, size);
  in->header = *header;
  *begin = start + size;
  return RS_OK;
}

/* ---- the numbers ------------------------------------------------------------------------------------------------- */

static uint64_t bits_at(const npy *in, const unsigned char *bytes) {
  uint64_t bits = 0;
  for (size_t i = 0; i < in->size; i++) bits = bits << 8 | bytes[in->big ? i : in->size - 1 - i];
  return bits;
}

static double single(uint64_t bits) {
  uint32_t word = (uint32_t)bits;
  float number;
  memcpy(&number, &word, sizeof number);
  return (double)number;
}

static double full(uint64_t bits) {
  double number;
  memcpy(&number, &bits, sizeof number);
  return number;
}

/* Two's complement. */
static double whole(uint64_t bits, size_t size) {
  uint64_t sign = (uint64_t)1 << (8 * size - 1);
  return bits & sign ? -(double)((~bits & (sign - 1)) + 1) : (double)bits;
}

static double number_at(const npy *in, const unsigned char *bytes) {
  uint64_t bits = bits_at(in, bytes);
  if (in->kind == 'f')
    return in->size == 2 ? (double)rs_f16_widen((uint16_t)bits) : in->size == 4 ? single(bits) : full(bits);
  return in->kind == 'i' ? whole(bits, in->size) : (double)bits;
}

static rs_status read_numbers(const npy *in, const char *data) {
  rs_array *array = in->array;
  for (size_t i = 0; i < array->count; i++) {
    double number = array->numbers[i] = number_at(in, (const unsigned char *)data + i * in->size);
    if (!isfinite(number)) return rs_fail(in->err, RS_INPUT, "%s: number %zu is not finite", in->name, i);
    if (in->kind != 'f' && fabs(number) > 0x1p53)
      return rs_fail(in->err, RS_INPUT, "%s: number %zu is beyond 2^53", in->name, i);
  }
  return RS_OK;
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

/* A file's numbers by its header must be all that follows it. */
static rs_status check_length(const npy *in, size_t whole, size_t begin) {
  size_t count = in->array->count;
  if (count > SIZE_MAX / sizeof(double)) return bad(in, "the header's shape is too large");
  if (count > whole) return bad(in, "is cut off: its header promises more than it holds");
  if (whole - begin == count * in->size) return RS_OK;
  return rs_fail(in->err, RS_INPUT, "%s: holds %zu bytes of numbers where its header says %zu (is it cut off?)",
                 in->name, whole - begin, count * in->size);
}

/* What the header says, and where the numbers begin. */
static rs_status read_head(npy *in, const char *data, size_t length, size_t *begin) {
  char *header = NULL;
  rs_status status = find_header(in, data, length, &header, begin);
  if (status == RS_OK) status = read_header(in);
  if (status == RS_OK) status = check_length(in, length, *begin);
  free(header);
  in->header = NULL;
  return status;
}

rs_status rs_npy_parse(const char *data, size_t length, const char *name, rs_array *array, rs_err *err) {
  npy in = {.name = name, .array = array, .err = err};
  size_t begin = 0;
  *array = (rs_array){0};
  rs_status status = read_head(&in, data, length, &begin);
  if (status == RS_OK && (array->numbers = rs_alloc(array->count, sizeof *array->numbers, err)) == NULL)
    status = RS_MEMORY;
  if (status == RS_OK) status = read_numbers(&in, data + begin);
  if (status != RS_OK) rs_array_clear(array);
  return status;
}

/* The numbers of NumPy's file format; see rs_numbers_read. `name` stands in messages. */
static rs_status read_npy(const char *data, size_t length, const char *name, double **list, size_t *count,
                          rs_err *err) {
  rs_array array;
  rs_status status = rs_npy_parse(data, length, name, &array, err);
  *list = array.numbers;
  *count = array.count;
  return status;
}

rs_status rs_npy_read(const char *file, rs_array *array, rs_err *err) {
  rs_mapping mapping;
  *array = (rs_array){0};
  RS_TRY(rs_file_map(file, &mapping, err));
  rs_status status = rs_npy_parse((const char *)mapping.bytes, mapping.length, file, array, err);
  rs_file_unmap(&mapping);
  return status;
}

rs_status rs_npy_describe(const rs_mapping *mapping, const char *file, rs_stored_tensor *tensor, rs_err *err) {
  rs_array array = {0};
  npy in = {.name = file, .array = &array, .err = err};
  size_t begin = 0;
  RS_TRY(read_head(&in, (const char *)mapping->bytes, mapping->length, &begin));
  if (in.big && in.size > 1)
    return bad(&in, "holds big-endian numbers, which are not read where they are (save x.astype('<f4') of it)");
  *tensor = (rs_stored_tensor){.dtype = in.dtype,
                               .rank = array.rank,
                               .count = array.count,
                               .bytes = array.count * in.size,
                               .data = mapping->bytes + begin,
                               .file = file};
  memcpy(tensor->shape, array.shape, sizeof array.shape);
  return RS_OK;
}

void rs_array_clear(rs_array *array) {
  free(array->numbers);
  *array = (rs_array){0};
}

/* ---- out --------------------------------------------------------------------------------------------------------- */

struct rs_npy_file {
  const rs_array *array;
  bool wide; /* doubles, else floats */
  rs_text head;
  rs_npy_filler fill;
  void *context;
  const rs_sink *sink; /* while it is being filled */
  size_t next;         /* the number that is put there next */
};

/* A multiple of 64 bytes, as numpy.save pads it; version 1, whose header has at most 64 KiB. */
static rs_status make_head(rs_npy_file *out, rs_err *err) {
  enum { BEFORE = 10, LINE = 64 };
  char shape[RS_SHAPE_CHARS];
  rs_text dict = {0};
  rs_shape_text(out->array->shape, out->array->rank, shape);
  rs_text_printf(&dict, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", out->wide ? "<f8" : "<f4", shape);
  while (!dict.failed && (BEFORE + dict.length + 1) % LINE != 0) rs_text_puts(&dict, " ");
  rs_text_puts(&dict, "\n");
  rs_text_add(&out->head, "\x93NUMPY\x01\0", 8);
  rs_text_add(&out->head, (const char[]){(char)(dict.length & 255), (char)(dict.length >> 8)}, 2);
  rs_text_puts(&out->head, rs_text_string(&dict));
  rs_status status = rs_text_check(&dict, err);
  rs_text_clear(&dict);
  return status == RS_OK ? rs_text_check(&out->head, err) : status;
}

static size_t put_number(double number, bool wide, unsigned char *bytes) {
  float single = (float)number;
  uint32_t word;
  uint64_t bits;
  memcpy(&word, &single, sizeof word);
  memcpy(&bits, &number, sizeof bits);
  if (!wide) bits = word;
  for (size_t i = 0; i < (wide ? sizeof bits : sizeof word); i++) bytes[i] = (unsigned char)(bits >> 8 * i);
  return wide ? sizeof bits : sizeof word;
}

rs_status rs_npy_put(rs_npy_file *file, const double *numbers, size_t count) {
  enum { BLOCK = 8192 };
  unsigned char bytes[sizeof(double) * BLOCK];
  for (size_t i = 0; i < count;) {
    size_t filled = 0, end = count - i < BLOCK ? count : i + BLOCK;
    for (; i < end; i++) filled += put_number(numbers[i], file->wide, bytes + filled);
    RS_TRY(rs_sink_put(file->sink, bytes, filled));
  }
  file->next += count;
  return RS_OK;
}

rs_status rs_npy_put_at(rs_npy_file *file, size_t first, const double *numbers, size_t count) {
  size_t each = file->wide ? sizeof(double) : sizeof(float);
  if (first != file->next && lseek(file->sink->file, (off_t)(file->head.length + first * each), SEEK_SET) == -1)
    return rs_fail(file->sink->err, RS_IO, "%s: cannot write: %s", file->sink->path, strerror(errno));
  file->next = first;
  return rs_npy_put(file, numbers, count);
}

static rs_status put_file(const rs_sink *sink, const void *content) {
  rs_npy_file out = *(const rs_npy_file *)content;
  out.sink = sink;
  RS_TRY(rs_sink_put(sink, out.head.data, out.head.length));
  return out.fill(&out, out.context, sink->err);
}

rs_status rs_npy_fill(const char *path, const rs_array *array, bool wide, rs_npy_filler fill, void *context,
                      rs_err *err) {
  rs_npy_file out = {.array = array, .wide = wide, .fill = fill, .context = context};
  rs_status status = make_head(&out, err);
  if (status == RS_OK) status = rs_file_fill(path, put_file, &out, err);
  rs_text_clear(&out.head);
  return status;
}

static rs_status put_array(rs_npy_file *file, void *context, rs_err *err) {
  const rs_array *array = context;
  (void)err;
  return rs_npy_put(file, array->numbers, array->count);
}

rs_status rs_npy_write(const char *path, const rs_array *array, bool wide, rs_err *err) {
  return rs_npy_fill(path, array, wide, put_array, (void *)array, err);
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

/* The list of the document: itself, the one called inv_freq, or the only one of an object. */
static rs_status find_list(const rs_node *root, const char *name, const rs_node **found, rs_err *err) {
  const rs_node *named = rs_node_get(root, "inv_freq");
  size_t lists = 0;
  *found = root->kind == RS_SEQUENCE ? root : NULL;
  for (size_t i = 0; root->kind == RS_MAPPING && i < root->count; i++) {
    if (root->items[i].kind != RS_SEQUENCE) continue;
    *found = &root->items[i];
    lists++;
  }
  if (named != NULL && named->kind == RS_SEQUENCE) *found = named;
  if (lists > 1 && *found != named)
    return rs_fail(err, RS_INPUT, "%s: holds %zu lists (call the right one inv_freq)", name, lists);
  if (*found == NULL)
    return rs_fail(err, RS_INPUT, "%s: must be a list of numbers, or an object with one (inv_freq)", name);
  return (*found)->count > 0 ? RS_OK : rs_fail(err, RS_INPUT, "%s: holds no numbers", name);
}

static rs_status take_list(const rs_node *node, const char *name, double **list, size_t *count, rs_err *err) {
  *list = rs_alloc(node->count, sizeof **list, err);
  if (*list == NULL) return RS_MEMORY;
  *count = node->count;
  for (size_t i = 0; i < node->count; i++) {
    const rs_node *item = &node->items[i];
    if (item->kind != RS_SCALAR || item->quoted || !rs_number_read(item->text, &(*list)[i]) || !isfinite((*list)[i]))
      return rs_fail(err, RS_INPUT, "%s: entry %zu is no number%s", name, i,
                     item->kind == RS_SCALAR ? "" : " (the list must be flat)");
  }
  return RS_OK;
}

static rs_status read_json(const char *text, size_t length, const char *name, double **list, size_t *count,
                           rs_err *err) {
  rs_tree *tree = NULL;
  const rs_node *node = NULL;
  RS_TRY(rs_json_read(text, length, name, &tree, err));
  rs_status status = find_list(&tree->root, name, &node, err);
  if (status == RS_OK) status = take_list(node, name, list, count, err);
  rs_tree_free(tree);
  return status;
}

/* ---- CSV --------------------------------------------------------------------------------------------------------- */

static const char *field_at(const rs_table *table, size_t row, size_t column) {
  return table->fields[row * table->columns + column];
}

static bool is_number(const char *text) {
  double number;
  return rs_number_read(text, &number) && isfinite(number);
}

static bool is_numeric(const rs_table *table, size_t column) {
  for (size_t row = 0; row < table->rows; row++)
    if (!is_number(field_at(table, row, column))) return false;
  return true;
}

/* By name, or the only one of numbers; the only column there is, so that a bad number in it can be told. */
static rs_status find_column(const rs_table *table, const char *name, size_t *column, rs_err *err) {
  static const char *const known[] = {"inv_freq", "omega_rad_per_token", "value"};
  size_t numeric = 0;
  for (size_t i = 0; i < RS_COUNT(known); i++) {
    int index = rs_table_column(table, known[i]);
    *column = (size_t)index;
    if (index >= 0) return RS_OK;
  }
  for (size_t c = table->columns; c-- > 0;)
    if (table->columns == 1 || is_numeric(table, c)) {
      *column = c;
      numeric++;
    }
  if (numeric == 1) return RS_OK;
  return rs_fail(err, RS_INPUT, "%s:1: %zu columns hold numbers alone (call the right one inv_freq or value)", name,
                 numeric);
}

static rs_status take_column(const rs_table *table, const char *name, double **list, size_t *count, rs_err *err) {
  size_t column = 0;
  if (table->rows == 0) return rs_fail(err, RS_INPUT, "%s: holds no numbers", name);
  RS_TRY(find_column(table, name, &column, err));
  if (is_number(table->header[column]))
    return rs_fail(err, RS_INPUT, "%s:1: the first line is a number (it must name the column: any name will do)", name);
  *list = rs_alloc(table->rows, sizeof **list, err);
  if (*list == NULL) return RS_MEMORY;
  *count = table->rows;
  for (size_t row = 0; row < table->rows; row++) {
    char shown[40];
    rs_shorten(field_at(table, row, column), sizeof shown, shown);
    if (!is_number(field_at(table, row, column)))
      return rs_fail(err, RS_INPUT, "%s:%zu: \"%s\" is no number", name, row + 2, shown);
    rs_number_read(field_at(table, row, column), &(*list)[row]);
  }
  return RS_OK;
}

static rs_status read_csv(const char *text, size_t length, const char *name, double **list, size_t *count,
                          rs_err *err) {
  rs_table *table = NULL;
  RS_TRY(rs_csv_read(text, length, name, &table, err));
  rs_status status = take_column(table, name, list, count, err);
  rs_table_free(table);
  return status;
}

/* ---- by the ending ----------------------------------------------------------------------------------------------- */

static const struct {
  const char *ending;
  rs_status (*read)(const char *data, size_t length, const char *name, double **list, size_t *count, rs_err *err);
} formats[] = {{".npy", read_npy}, {".json", read_json}, {".csv", read_csv}};

/* Which format, or their number when it is none. */
static size_t format_of(const char *file) {
  size_t i = 0, length = strlen(file);
  for (; i < RS_COUNT(formats); i++) {
    size_t ending = strlen(formats[i].ending);
    if (length > ending && strcmp(file + length - ending, formats[i].ending) == 0) break;
  }
  return i;
}

bool rs_plain_numbers_named(const char *file) {
  return format_of(file) < RS_COUNT(formats);
}

rs_status rs_plain_numbers_read(const char *file, double **list, size_t *count, rs_err *err) {
  size_t format = format_of(file), length;
  char *data = NULL;
  *list = NULL;
  *count = 0;
  if (format == RS_COUNT(formats))
    return rs_fail(err, RS_INPUT, "%s: is no file of numbers (.npy, .json or .csv)", file);
  RS_TRY(rs_file_read(file, RS_LARGEST_FILE, &data, &length, err));
  rs_status status = formats[format].read(data, length, file, list, count, err);
  free(data);
  if (status == RS_OK) return RS_OK;
  free(*list);
  *list = NULL;
  *count = 0;
  return status;
}
