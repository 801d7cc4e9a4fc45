/* token_file.c: ids of tokens in files: NumPy's arrays; bare numbers, as nanoGPT's prepare.py writes them; and llm.c's,
 * which put 256 int32 before the numbers (magic word, version, count; dev/data/data_common.py). */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "io_internal.h"

enum { HEADER_BYTES = 1024 };

const char *const rs_id_words[RS_ID_FORMATS + 1] = {
    [RS_ID_AUTO] = "auto", [RS_ID_U8] = "uint8", [RS_ID_U16] = "uint16", [RS_ID_U32] = "uint32"};

/* What llm.c writes for each tokenizer. */
static const struct {
  int32_t magic, version;
  size_t width;
} headers[] = {{20240520, 1, 2}, {20240801, 7, 4}};

/* ---- NumPy's ----------------------------------------------------------------------------------------------------- */

static rs_status narrow(const char *path, const rs_array *array, uint32_t *ids, rs_err *err) {
  for (size_t i = 0; i < array->count; i++) {
    double id = array->numbers[i];
    if (!(id >= 0 && id <= INT32_MAX && id == rint(id)))
      return rs_fail(err, RS_INPUT, "%s: number %zu (from 0) is %.17g, which is no id of a token", path, i, id);
    ids[i] = (uint32_t)id;
  }
  return RS_OK;
}

static rs_status read_npy(const char *path, rs_token_file *file, rs_err *err) {
  rs_array array = {0};
  RS_TRY(rs_npy_read(path, &array, err));
  uint32_t *ids = NULL;
  rs_status status = RS_OK;
  if (array.rank == 0 || array.shape[array.rank - 1] != array.count)
    status = rs_fail(err, RS_INPUT, "%s: must be one row of ids, of shape (tokens,)", path);
  if (status == RS_OK) ids = rs_alloc(array.count, sizeof *ids, err);
  if (status == RS_OK) status = ids != NULL ? narrow(path, &array, ids, err) : RS_MEMORY;
  if (status == RS_OK)
    *file = (rs_token_file){.owned = ids, .ids = ids, .width = sizeof *ids, .count = array.count};
  else
    free(ids);
  rs_array_clear(&array);
  return status;
}

/* ---- bare numbers ------------------------------------------------------------------------------------------------ */

/* Skips a header where one is there, and learns from it how wide the numbers are. */
static rs_status read_header(const char *path, rs_id_format format, rs_token_file *file, size_t *start, rs_err *err) {
  int32_t header[3] = {0};
  *start = 0;
  file->width = format == RS_ID_U32 ? 4 : format == RS_ID_U8 ? 1 : 2;
  if (format == RS_ID_U8 || file->mapping.length < HEADER_BYTES) return RS_OK;
  memcpy(header, file->mapping.bytes, sizeof header);
  for (size_t i = 0; i < RS_COUNT(headers); i++) {
    if (header[0] == (int32_t)__builtin_bswap32((uint32_t)headers[i].magic))
      return rs_fail(err, RS_INPUT, "%s: a header of llm.c with its bytes the other way round (big-endian)", path);
    if (header[0] != headers[i].magic) continue;
    if (header[1] != headers[i].version)
      return rs_fail(err, RS_INPUT, "%s: a header of llm.c of version %d, known is %d", path, (int)header[1],
                     (int)headers[i].version);
    if (format != RS_ID_AUTO && headers[i].width != file->width)
      return rs_fail(err, RS_INPUT, "%s: its header says numbers of %zu bits, not %s", path, 8 * headers[i].width,
                     rs_id_words[format]);
    file->width = headers[i].width;
    *start = HEADER_BYTES;
    size_t wanted = HEADER_BYTES + (size_t)(uint32_t)header[2] * file->width;
    if (file->mapping.length != wanted)
      return rs_fail(err, RS_INPUT, "%s: has %zu bytes, %zu by its header (was a download broken off?)", path,
                     file->mapping.length, wanted);
  }
  return RS_OK;
}

static rs_status read_raw(const char *path, rs_id_format format, rs_token_file *file, rs_err *err) {
  size_t start;
  RS_TRY(rs_file_map(path, &file->mapping, err));
  RS_TRY(read_header(path, format, file, &start, err));
  size_t length = file->mapping.length - start;
  if (length % file->width != 0)
    return rs_fail(err, RS_INPUT, "%s: %zu bytes are no whole number of ids of %zu bits", path, length,
                   8 * file->width);
  file->ids = file->mapping.bytes + start;
  file->count = length / file->width;
  return RS_OK;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

rs_status rs_token_file_read(const char *path, rs_id_format format, rs_token_file *file, rs_err *err) {
  bool numpy = format != RS_ID_U8 && rs_is_npy(path);
  *file = (rs_token_file){0};
  rs_status status = numpy ? read_npy(path, file, err) : read_raw(path, format, file, err);
  if (status != RS_OK) rs_token_file_clear(file);
  return status;
}

void rs_token_file_clear(rs_token_file *file) {
  rs_file_unmap(&file->mapping);
  free(file->owned);
  *file = (rs_token_file){0};
}
