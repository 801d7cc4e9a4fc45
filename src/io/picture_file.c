/* picture_file.c: pictures with their classes in files: CIFAR's records, a byte or two of labels before the red, green
 * and blue plane of 32 x 32 bytes (Krizhevsky, "Learning multiple layers of features from tiny images", 2009; the
 * page of the data has the format); IDX, a magic word, big-endian extents, bytes (yann.lecun.com/exdb/mnist); and
 * NumPy's arrays. Each may be compressed by gzip (RFC 1952). What a file is follows from how it begins; CIFAR's, which
 * begin with a label, from their length. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "io_internal.h"

/* ---- bytes ------------------------------------------------------------------------------------------------------- */

/* A file's bytes, as they stand there, or decompressed. */
typedef struct content {
  const char *path;
  rs_mapping mapping;
  unsigned char *owned;       /* NULL: not compressed */
  const unsigned char *bytes; /* (length,) */
  size_t length;
} content;

static void content_clear(content *c) {
  rs_file_unmap(&c->mapping);
  free(c->owned);
  *c = (content){0};
}

/* Bytes that a file may come to: a small one may claim to be anything. */
static const size_t LARGEST = (size_t)4 << 30;

/* zlib begins what it says with the path. */
static const char *without_path(const char *why, const char *path) {
  size_t length = strlen(path);
  return strncmp(why, path, length) == 0 && strncmp(why + length, ": ", 2) == 0 ? why + length + 2 : why;
}

/* What gzip -d makes of the file. */
static rs_status inflate_all(content *c, gzFile file, rs_err *err) {
  enum { STEP = 1 << 16 };
  size_t capacity = 0;
  int code, got = 1;
  while (got > 0 && c->length <= LARGEST) {
    RS_TRY(RS_GROW(c->owned, &capacity, c->length + STEP, err));
    got = gzread(file, c->owned + c->length, STEP);
    if (got > 0) c->length += (size_t)got;
  }
  const char *why = gzerror(file, &code);
  if (got > 0) return rs_fail(err, RS_INPUT, "%s: comes to more than %zu bytes", c->path, LARGEST);
  if (code == Z_MEM_ERROR) return rs_fail(err, RS_MEMORY, "out of memory");
  if (code == Z_OK) return RS_OK;
  return rs_fail(err, RS_INPUT, "%s: cannot be decompressed beyond %zu bytes: %s", c->path, c->length,
                 code == Z_BUF_ERROR ? "it is cut off" : without_path(why, c->path));
}

static rs_status decompress(content *c, rs_err *err) {
  gzFile file = gzopen(c->path, "rb");
  if (file == NULL && errno == ENOMEM) return rs_fail(err, RS_MEMORY, "out of memory");
  if (file == NULL) return rs_fail_read(err, "%s: cannot be read: %s", c->path, strerror(errno));
  rs_status status = inflate_all(c, file, err);
  gzclose_r(file);
  c->bytes = c->owned;
  return status;
}

static bool begins(const content *c, const char *word, size_t length) {
  return c->length >= length && memcmp(c->bytes, word, length) == 0;
}

/* Clear it in any case. */
static rs_status read_content(const char *path, content *c, rs_err *err) {
  *c = (content){.path = path};
  RS_TRY(rs_file_map(path, &c->mapping, err));
  c->bytes = c->mapping.bytes;
  c->length = c->mapping.length;
  if (!begins(c, "\x1f\x8b", 2)) return RS_OK;
  c->length = 0;
  return decompress(c, err);
}

/* ---- kinds of files ---------------------------------------------------------------------------------------------- */

/* CIFAR's records. */
enum { SIDE = 32, PLANE = SIDE * SIDE, RECORD_10 = 1 + 3 * PLANE, RECORD_100 = 2 + 3 * PLANE };

/* Those of a record, 0 of what is none of CIFAR's. A length may be a multiple of both: then labels decide. */
static size_t label_bytes(const content *c) {
  bool ten = c->length > 0 && c->length % RECORD_10 == 0, hundred = c->length > 0 && c->length % RECORD_100 == 0;
  for (size_t i = 0; ten && hundred && i < c->length; i += RECORD_10) ten = c->bytes[i] < 10;
  return ten ? 1 : hundred ? 2 : 0;
}

/* Numbers of an array of IDX by its extents, which begin at byte 4; 0 where they are not all there, or more than the
 * bytes behind them. */
static size_t count_idx(const content *c, size_t rank, size_t *shape) {
  enum { WORD = 4 };
  size_t start = WORD * (1 + rank), count = 1;
  for (size_t i = 0; i < rank && c->length > start; i++) {
    const unsigned char *e = c->bytes + WORD * (1 + i);
    shape[i] = (size_t)e[0] << 24 | (size_t)e[1] << 16 | (size_t)e[2] << 8 | e[3];
    if (shape[i] == 0 || count > (c->length - start) / shape[i]) return 0;
    count *= shape[i];
  }
  return c->length > start ? count : 0;
}

/* A record of CIFAR may begin with the same bytes, where its first picture is black in a corner. */
static bool is_idx(const content *c) {
  size_t shape[RS_TENSOR_RANK], rank = c->length >= 4 ? c->bytes[3] : 0;
  if (!begins(c, "\0\0", 2) || c->length < 4 || c->bytes[2] < 0x08 || c->bytes[2] > 0x0E) return false;
  bool fits = rank >= 1 && rank <= 4 && 4 * (1 + rank) + count_idx(c, rank, shape) == c->length;
  return fits || label_bytes(c) == 0;
}

static bool is_npy(const content *c) {
  return begins(c, "\x93NUMPY", 6);
}

/* ---- arrays ------------------------------------------------------------------------------------------------------ */

/* Numbers with a shape: bytes where they are, any others as floats. */
typedef struct numbers {
  size_t rank, shape[RS_TENSOR_RANK], count;
  const unsigned char *bytes; /* (count,) of the content; NULL: */
  float *floats;              /* (count,) owned */
} numbers;

static rs_status read_idx(const content *c, numbers *n, rs_err *err) {
  enum { BYTES = 0x08, WORD = 4, MOST_AXES = 4 };
  size_t rank = c->bytes[3], start = WORD * (1 + rank);
  if (c->bytes[2] != BYTES)
    return rs_fail(err, RS_INPUT, "%s: an IDX file of numbers of type 0x%02X, which are not read: bytes, 0x08, are",
                   c->path, c->bytes[2]);
  if (rank < 1 || rank > MOST_AXES)
    return rs_fail(err, RS_INPUT, "%s: an IDX file of %zu axes: pictures have 3 or 4, labels 1", c->path, rank);
  *n = (numbers){.rank = rank, .bytes = c->bytes + start};
  n->count = count_idx(c, rank, n->shape);
  if (n->count > 0 && n->count == c->length - start) return RS_OK;
  return rs_fail(err, RS_INPUT, "%s: its header says %s numbers than its %zu bytes hold (is it cut off?)", c->path,
                 n->count > 0 ? "fewer" : "more", c->length);
}

static rs_status read_npy(const content *c, numbers *n, rs_err *err) {
  const rs_mapping mapping = {c->bytes, c->length};
  rs_array array = {0};
  rs_stored_tensor tensor;
  rs_status status = rs_npy_describe(&mapping, c->path, &tensor, NULL);
  if (status == RS_MEMORY) return rs_fail(err, RS_MEMORY, "out of memory");
  if (status == RS_OK && tensor.dtype == RS_DTYPE_U8) {
    *n = (numbers){.rank = tensor.rank, .count = tensor.count, .bytes = tensor.data};
    memcpy(n->shape, tensor.shape, sizeof n->shape);
    return RS_OK;
  }
  RS_TRY(rs_npy_parse((const char *)c->bytes, c->length, c->path, &array, err));
  *n = (numbers){.rank = array.rank, .count = array.count, .floats = rs_alloc(array.count, sizeof *n->floats, err)};
  memcpy(n->shape, array.shape, sizeof n->shape);
  for (size_t i = 0; n->floats != NULL && i < array.count; i++) n->floats[i] = (float)array.numbers[i];
  rs_array_clear(&array);
  return n->floats != NULL ? RS_OK : RS_MEMORY;
}

static double number_at(const numbers *n, size_t index) {
  return n->bytes != NULL ? n->bytes[index] : (double)n->floats[index];
}

/* ---- labels ------------------------------------------------------------------------------------------------------ */

enum { MOST_CLASSES = 1 << 20 };

static rs_status take_labels(const char *path, const numbers *n, rs_picture_file *file, rs_err *err) {
  if (n->rank == 0 || n->shape[0] != n->count)
    return rs_fail(err, RS_INPUT, "%s: holds an array of %zu axes: labels are one row, a class for each picture", path,
                   n->rank);
  if (n->count != file->count)
    return rs_fail(err, RS_INPUT, "%s: has %zu labels for %zu pictures (is it of other pictures?)", path, n->count,
                   file->count);
  for (size_t i = 0; i < n->count; i++) {
    double label = number_at(n, i);
    if (!(label >= 0 && label < MOST_CLASSES && label == floor(label)))
      return rs_fail(err, RS_INPUT, "%s: label %zu (from 0) is %g, must be a whole number from 0 to %d", path, i, label,
                     MOST_CLASSES - 1);
    file->labels[i] = (uint32_t)label;
  }
  return RS_OK;
}

static rs_status read_labels(const char *path, rs_picture_file *file, rs_err *err) {
  content c;
  numbers n = {0};
  rs_status status = read_content(path, &c, err);
  if (status == RS_OK && is_idx(&c))
    status = read_idx(&c, &n, err);
  else if (status == RS_OK && is_npy(&c))
    status = read_npy(&c, &n, err);
  else if (status == RS_OK)
    status = rs_fail(err, RS_INPUT, "%s: begins neither as IDX nor as .npy: no labels are read from it", path);
  if (status == RS_OK) status = take_labels(path, &n, file, err);
  free(n.floats);
  content_clear(&c);
  return status;
}

/* ---- pictures ---------------------------------------------------------------------------------------------------- */

static rs_status read_cifar(const content *c, const char *labels, bool coarse, rs_picture_file *file, rs_err *err) {
  size_t before = label_bytes(c), record = before + 3 * PLANE, classes = before == 1 ? 10 : coarse ? 20 : 100;
  if (before == 0)
    return rs_fail(err, RS_INPUT,
                   "%s: begins neither as IDX, .npy nor gzip, and its %zu bytes are no whole number of CIFAR-10's "
                   "records (%d bytes) or CIFAR-100's (%d): is it cut off?",
                   c->path, c->length, RECORD_10, RECORD_100);
  if (labels != NULL)
    return rs_fail_on(err, RS_INPUT, "labels", "%s: a file of CIFAR has its labels in it (leave out %s)", c->path,
                      labels);
  *file = (rs_picture_file){.count = c->length / record,
                            .rows = SIDE,
                            .columns = SIDE,
                            .channels = 3,
                            .bytes = c->bytes + before,
                            .step = record,
                            .channel_step = PLANE,
                            .row_step = SIDE,
                            .column_step = 1,
                            .coarse = before == 2};
  file->labels = rs_alloc(file->count, sizeof *file->labels, err);
  if (file->labels == NULL) return RS_MEMORY;
  for (size_t i = 0; i < file->count; i++) {
    file->labels[i] = c->bytes[i * record + (before == 2 && !coarse)];
    if (file->labels[i] >= classes)
      return rs_fail(err, RS_INPUT, "%s: label %zu (from 0) is %u, CIFAR-%s has %zu classes (is it another file?)",
                     c->path, i, (unsigned)file->labels[i], before == 1 ? "10" : "100", classes);
  }
  return RS_OK;
}

static rs_status read_array(const content *c, const char *labels, rs_picture_file *file, rs_err *err) {
  numbers n = {0};
  RS_TRY(is_idx(c) ? read_idx(c, &n, err) : read_npy(c, &n, err));
  size_t channels = n.rank == 4 ? n.shape[3] : 1;
  file->numbers = n.floats;
  if (n.rank < 3 || n.rank > 4)
    return rs_fail(err, RS_INPUT,
                   "%s: holds an array of %zu axes: pictures are (pictures, rows, columns) or with channels behind",
                   c->path, n.rank);
  *file = (rs_picture_file){.count = n.shape[0],
                            .rows = n.shape[1],
                            .columns = n.shape[2],
                            .channels = channels,
                            .bytes = n.bytes,
                            .numbers = n.floats,
                            .step = n.count / n.shape[0],
                            .channel_step = 1,
                            .row_step = n.shape[2] * channels,
                            .column_step = channels};
  if (channels > RS_MOST_CHANNELS)
    return rs_fail(err, RS_INPUT, "%s: has %zu channels, at most %d are read: they are the last axis", c->path,
                   channels, RS_MOST_CHANNELS);
  if (labels == NULL)
    return rs_fail(err, RS_INPUT, "%s: has no labels in it, as CIFAR's files have: which file has its labels?",
                   c->path);
  file->labels = rs_alloc(file->count, sizeof *file->labels, err);
  if (file->labels == NULL) return RS_MEMORY;
  rs_status status = read_labels(labels, file, err);
  if (status != RS_OK && err != NULL) rs_message(err->subject, sizeof err->subject, "labels");
  return status;
}

rs_status rs_picture_file_read(const char *path, const char *labels, bool coarse, rs_picture_file *file, rs_err *err) {
  content c;
  *file = (rs_picture_file){0};
  rs_status status = read_content(path, &c, err);
  if (status == RS_OK)
    status = is_idx(&c) || is_npy(&c) ? read_array(&c, labels, file, err) : read_cifar(&c, labels, coarse, file, err);
  if (status == RS_OK && coarse && !file->coarse)
    status = rs_fail(err, RS_INPUT, "%s: has one label a picture, no coarse ones (CIFAR-100 has)", path);
  file->mapping = c.mapping;
  file->owned = c.owned;
  if (status != RS_OK) rs_picture_file_clear(file);
  return status;
}

void rs_picture_file_clear(rs_picture_file *file) {
  rs_file_unmap(&file->mapping);
  free(file->owned);
  free(file->numbers);
  free(file->labels);
  *file = (rs_picture_file){0};
}
