/* out_file.c: a file that is written piece by piece, in memory that does not grow with it, and its sums as it goes. It
 * stands in a folder that is not yet anybody's: it needs no temporary name. */
#include <errno.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/io.h"
#include "io_internal.h"

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
  rs_sha256_end(&file->sum, sums->sha256);
  return RS_OK;
}

void rs_out_file_free(rs_out_file *file) {
  if (file == NULL) return;
  if (file->file != -1) close(file->file);
  free(file->shown);
  rs_text_clear(&file->text);
  free(file);
}
