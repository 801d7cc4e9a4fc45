/* mapping.c: files read where they are. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io_internal.h"

static rs_status fail_errno(rs_err *err, const char *path) {
  return rs_fail_read(err, "%s: cannot read: %s", path, strerror(errno));
}

static rs_status map(int file, const char *path, rs_mapping *mapping, rs_err *err) {
  struct stat info;
  if (fstat(file, &info) != 0) return fail_errno(err, path);
  if (!S_ISREG(info.st_mode))
    return rs_fail_read(err, "%s: cannot read: %s, not a regular file", path,
                        S_ISDIR(info.st_mode) ? "a directory" : "a pipe or device");
  if (info.st_size == 0) return rs_fail(err, RS_INPUT, "%s: is empty (was a download broken off?)", path);
  void *bytes = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, file, 0);
  if (bytes == MAP_FAILED) return fail_errno(err, path);
  *mapping = (rs_mapping){bytes, (size_t)info.st_size};
  return RS_OK;
}

rs_status rs_file_map(const char *path, rs_mapping *mapping, rs_err *err) {
  *mapping = (rs_mapping){0};
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe without a writer must not block */
  if (file == -1) return fail_errno(err, path);
  rs_status status = map(file, path, mapping, err);
  close(file); /* the mapping stays */
  return status;
}

void rs_file_unmap(rs_mapping *mapping) {
  if (mapping->bytes != NULL) munmap((void *)mapping->bytes, mapping->length);
  *mapping = (rs_mapping){0};
}
