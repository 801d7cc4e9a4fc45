/* out_file.c: files that are written piece by piece, and the fingerprint of a file or text (FIPS 180-4, by nettle), by
 * which a manifest names the config and the lists that made its results, and a trained model its weights. */
#include "io/io.h"
#include "io_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- sums -------------------------------------------------------------------------------------------------------- */

static void end_sum(struct sha256_ctx *context, char out[65]) {
  static const char digits[] = "0123456789abcdef";
  uint8_t digest[SHA256_DIGEST_SIZE];
  sha256_digest(context, sizeof digest, digest);
  for (size_t i = 0; i < sizeof digest; i++) {
    out[2 * i] = digits[digest[i] >> 4];
    out[2 * i + 1] = digits[digest[i] & 15];
  }
  out[64] = '\0';
}

static void add_parts(struct sha256_ctx *context, const rs_bytes *parts, size_t count) {
  sha256_init(context);
  for (size_t i = 0; i < count; i++)
    if (parts[i].length > 0) sha256_update(context, parts[i].length, parts[i].data);
}

void rs_sha256_digest(const rs_bytes *parts, size_t count, uint8_t out[32]) {
  struct sha256_ctx context;
  add_parts(&context, parts, count);
  sha256_digest(&context, SHA256_DIGEST_SIZE, out);
}

void rs_sha256_parts(const rs_bytes *parts, size_t count, char out[65]) {
  struct sha256_ctx context;
  add_parts(&context, parts, count);
  end_sum(&context, out);
}

void rs_sha256_hex(const char *data, size_t length, char out[65]) {
  rs_sha256_parts(&(rs_bytes){data, length}, 1, out);
}

rs_status rs_sha256_file(const char *path, char out[65], rs_err *err) {
  uint8_t block[1 << 16];
  struct sha256_ctx context;
  ssize_t got = 1;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  sha256_init(&context);
  while (file != -1 && got != 0) {
    got = read(file, block, sizeof block);
    if (got == -1 && errno != EINTR) break;
    if (got > 0) sha256_update(&context, (size_t)got, block);
  }
  rs_status status = file != -1 && got == 0 ? RS_OK : rs_fail_read(err, "%s: cannot read: %s", path, strerror(errno));
  if (file != -1) close(file);
  end_sum(&context, out);
  return status;
}

/* ---- files piece by piece ---------------------------------------------------------------------------------------- */

enum { BLOCK = 1 << 16 };

struct rs_out_file {
  int file;
  char *shown, name[80];
  rs_text text;
  size_t bytes;
  struct sha256_ctx sum;
};

rs_status rs_out_file_create(const char *directory, const char *shown, const char *name, rs_out_file **file,
                             rs_err *err) {
  char *path = rs_path_join(directory, name, err);
  rs_out_file *made = *file = rs_alloc(1, sizeof *made, err);
  if (made != NULL) *made = (rs_out_file){.file = -1, .shown = rs_path_join(shown, name, err)};
  if (made == NULL || made->shown == NULL || path == NULL) {
    rs_out_file_free(made);
    free(path);
    *file = NULL;
    return RS_MEMORY;
  }
  snprintf(made->name, sizeof made->name, "%s", name);
  sha256_init(&made->sum);
  made->file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  free(path);
  if (made->file != -1) return RS_OK;
  rs_status status = rs_fail(err, RS_IO, "%s: cannot write: %s", made->shown, strerror(errno));
  rs_out_file_free(made);
  *file = NULL;
  return status;
}

rs_text *rs_out_file_text(rs_out_file *file) {
  return &file->text;
}

static rs_status write_text(rs_out_file *file, rs_err *err) {
  const rs_sink sink = {file->file, file->shown, err};
  size_t length = file->text.length;
  if (length == 0) return RS_OK;
  RS_TRY(rs_sink_put(&sink, file->text.data, length));
  sha256_update(&file->sum, length, (const uint8_t *)file->text.data);
  file->bytes += length;
  file->text.length = 0; /* its room is kept */
  return RS_OK;
}

rs_status rs_out_file_put(rs_out_file *file, rs_err *err) {
  RS_TRY(rs_text_check(&file->text, err));
  return file->text.length >= BLOCK ? write_text(file, err) : RS_OK;
}

rs_status rs_out_file_close(rs_out_file *file, rs_file_sums *sums, rs_err *err) {
  RS_TRY(rs_text_check(&file->text, err));
  RS_TRY(write_text(file, err));
  /* Delayed errors (a quota, a network disk) come out here, which leaves close() nothing to report. */
  if (fsync(file->file) != 0) return rs_fail(err, RS_IO, "%s: cannot write: %s", file->shown, strerror(errno));
  close(file->file);
  file->file = -1;
  snprintf(sums->name, sizeof sums->name, "%s", file->name);
  sums->bytes = file->bytes;
  end_sum(&file->sum, sums->sha256);
  return RS_OK;
}

void rs_out_file_free(rs_out_file *file) {
  if (file == NULL) return;
  if (file->file != -1) close(file->file);
  free(file->shown);
  rs_text_clear(&file->text);
  free(file);
}
