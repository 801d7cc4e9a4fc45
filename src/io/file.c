/* file.c: whole files in and out. A file is written beside its place under another name, brought to the disk, and only
 * then renamed, so that a reader, a crash or a full disk never sees half of one; what was there before stays until the
 * new file is whole. */
#include "io/io.h"
#include "io_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static rs_status fail_errno(rs_err *err, const char *path, const char *what) {
  return rs_fail(err, RS_IO, "%s: %s: %s", path, what, strerror(errno));
}

static rs_status fail_reading(rs_err *err, const char *path) {
  return rs_fail_read(err, "%s: cannot read: %s", path, strerror(errno));
}

/* ---- in ---------------------------------------------------------------------------------------------------------- */

/* Reads until the end instead of asking for the size: pipes have none, and /proc and devices lie about theirs. */
static rs_status read_all(int file, const char *path, size_t limit, char **data, size_t *length, rs_err *err) {
  enum { CHUNK = 65536 }; /* a pipe's buffer on Linux */
  size_t capacity = 0;
  for (;;) {
    RS_TRY(RS_GROW(*data, &capacity, *length + CHUNK, err));
    ssize_t got = read(file, *data + *length, CHUNK - 1);
    if (got == -1 && errno == EINTR) continue;
    if (got == -1) return fail_reading(err, path);
    (*data)[*length + (size_t)got] = '\0';
    if (got == 0) return RS_OK;
    *length += (size_t)got;
    if (*length > limit) return rs_fail_read(err, "%s: cannot read: larger than %zu bytes", path, limit);
  }
}

rs_status rs_file_read(const char *path, size_t limit, char **data, size_t *length, rs_err *err) {
  *data = NULL;
  *length = 0;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file == -1) return fail_reading(err, path);
  rs_status status = read_all(file, path, limit, data, length, err);
  close(file);
  if (status != RS_OK) {
    free(*data);
    *data = NULL;
    *length = 0;
  }
  return status;
}

/* ---- paths ------------------------------------------------------------------------------------------------------- */

char *rs_path_join(const char *directory, const char *name, rs_err *err) {
  size_t length = strlen(directory), size = length + strlen(name) + 2;
  char *path = rs_alloc(size, 1, err);
  if (!path) return NULL;
  const char *slash = length == 0 || directory[length - 1] == '/' ? "" : "/";
  snprintf(path, size, "%s%s%s", directory, slash, name);
  return path;
}

/* The directory in which `path` lies: "." for a bare name. */
static char *directory_of(const char *path, rs_err *err) {
  const char *slash = strrchr(path, '/');
  char *directory = rs_strdup(slash ? path : ".", err);
  if (directory && slash) directory[slash == path ? 1 : slash - path] = '\0';
  return directory;
}

static bool is_directory(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static rs_status make_directory(const char *path, rs_err *err) {
  if (mkdir(path, 0777) == 0) return RS_OK;
  int reason = errno;
  if (is_directory(path)) return RS_OK;
  errno = reason == EEXIST ? ENOTDIR : reason;
  return fail_errno(err, path, "cannot make the directory");
}

rs_status rs_make_directories(const char *path, rs_err *err) {
  char *prefix = rs_strdup(path, err);
  if (!prefix) return RS_MEMORY;
  rs_status status = RS_OK;
  char *slash = strchr(prefix[0] == '/' ? prefix + 1 : prefix, '/');
  for (; status == RS_OK && slash; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    status = make_directory(prefix, err);
    *slash = '/';
  }
  if (status == RS_OK) status = make_directory(prefix, err);
  free(prefix);
  return status;
}

/* ---- out --------------------------------------------------------------------------------------------------------- */

/* Renaming over /dev/null or a pipe would put a file in its place. */
static rs_status check_target(const char *path, rs_err *err) {
  struct stat info;
  if (stat(path, &info) != 0 || S_ISREG(info.st_mode)) return RS_OK;
  return rs_fail(err, RS_IO, "%s: cannot write: not a regular file", path);
}

/* A file without a name, which is gone whenever the program is, however it ends; -1 where the system has none. It is
 * named by way of /proc. */
static int open_unnamed(const char *directory) {
#ifdef O_TMPFILE
  if (access("/proc/self/fd", X_OK) == 0) return open(directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
#endif
  (void)directory;
  return -1;
}

/* Opens a file of this name, or, where one is open, gives it the name. False, and errno, where that fails. */
static bool take_name(const char *name, int *file) {
  char link[64];
  if (*file == -1) {
    *file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return *file != -1;
  }
  snprintf(link, sizeof link, "/proc/self/fd/%d", *file);
  return linkat(AT_FDCWD, link, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
}

/* Not mkstemp, whose files only their owner may read. Another thread or a killed run may hold the first names. */
static rs_status name_temporary(const char *directory, const char *path, char **temporary, int *file, rs_err *err) {
  enum { TRIES = 100, NAME_CHARS = 64 };
  size_t size = strlen(directory) + NAME_CHARS;
  bool named = false;
  *temporary = rs_alloc(size, 1, err);
  if (!*temporary) return RS_MEMORY;
  errno = EEXIST;
  for (int i = 0; i < TRIES && !named && errno == EEXIST; i++) {
    snprintf(*temporary, size, "%s/.ropescope-%ld-%d.tmp", directory, (long)getpid(), i);
    named = take_name(*temporary, file);
  }
  if (named) return RS_OK;
  rs_status status = fail_errno(err, path, "cannot write");
  free(*temporary);
  *temporary = NULL;
  return status;
}

rs_status rs_sink_put(const rs_sink *sink, const void *data, size_t length) {
  const char *left = data;
  while (length > 0) {
    ssize_t put = write(sink->file, left, length);
    if (put == -1 && errno == EINTR) continue;
    if (put == -1) return fail_errno(sink->err, sink->path, "cannot write");
    left += put;
    length -= (size_t)put;
  }
  return RS_OK;
}

static rs_status fill_and_sync(const rs_sink *sink, rs_filler fill, const void *content) {
  RS_TRY(fill(sink, content));
  /* Delayed errors (a quota, a network disk) come out here, which leaves close() nothing to report. */
  return fsync(sink->file) == 0 ? RS_OK : fail_errno(sink->err, sink->path, "cannot write");
}

/* The new name lasts once its directory is on the disk. Some file systems cannot be asked (EINVAL), some directories
 * may be written but not opened (EACCES): the file is whole even so. */
static rs_status sync_directory(const char *directory, rs_err *err) {
  int file = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  bool synced = file != -1 && fsync(file) == 0;
  bool fine = synced || errno == EINVAL || errno == EACCES;
  rs_status status = fine ? RS_OK : fail_errno(err, directory, "cannot write the directory");
  if (file != -1) close(file);
  return status;
}

static rs_status write_and_rename(const char *directory, const char *path, rs_filler fill, const void *content,
                                  rs_err *err) {
  rs_sink sink = {.path = path, .err = err, .file = open_unnamed(directory)};
  char *temporary = NULL;
  rs_status status = sink.file != -1 ? RS_OK : name_temporary(directory, path, &temporary, &sink.file, err);
  if (status == RS_OK) status = fill_and_sync(&sink, fill, content);
  if (status == RS_OK && temporary == NULL) status = name_temporary(directory, path, &temporary, &sink.file, err);
  if (sink.file != -1) close(sink.file);
  if (status == RS_OK && rename(temporary, path) != 0) status = fail_errno(err, path, "cannot write");
  if (status != RS_OK && temporary != NULL) unlink(temporary);
  free(temporary);
  return status;
}

rs_status rs_file_fill(const char *path, rs_filler fill, const void *content, rs_err *err) {
  RS_TRY(check_target(path, err));
  char *directory = directory_of(path, err);
  if (!directory) return RS_MEMORY;
  rs_status status = write_and_rename(directory, path, fill, content, err);
  if (status == RS_OK) status = sync_directory(directory, err);
  free(directory);
  return status;
}

rs_status rs_file_writable(const char *path, rs_err *err) {
  char *temporary = NULL;
  int file = -1;
  RS_TRY(check_target(path, err));
  char *directory = directory_of(path, err);
  if (!directory) return RS_MEMORY;
  rs_status status = name_temporary(directory, path, &temporary, &file, err);
  if (status == RS_OK) {
    close(file);
    unlink(temporary);
  }
  free(temporary);
  free(directory);
  return status;
}

/* Whether the two are one name in one folder. */
static bool same_place(const char *one, const char *two) {
  const char *slashes[] = {strrchr(one, '/'), strrchr(two, '/')};
  if (strcmp(slashes[0] != NULL ? slashes[0] + 1 : one, slashes[1] != NULL ? slashes[1] + 1 : two) != 0) return false;
  char *folders[] = {directory_of(one, NULL), directory_of(two, NULL)};
  struct stat a, b;
  bool same = folders[0] != NULL && folders[1] != NULL && stat(folders[0], &a) == 0 && stat(folders[1], &b) == 0 &&
              a.st_ino == b.st_ino && a.st_dev == b.st_dev;
  free(folders[0]);
  free(folders[1]);
  return same;
}

bool rs_file_same(const char *one, const char *two) {
  struct stat a, b;
  if (strcmp(one, two) == 0) return true;
  if (stat(one, &a) == 0 && stat(two, &b) == 0) return a.st_ino == b.st_ino && a.st_dev == b.st_dev;
  return same_place(one, two);
}

typedef struct block {
  const char *data;
  size_t length;
} block;

static rs_status put_block(const rs_sink *sink, const void *content) {
  const block *whole = content;
  return rs_sink_put(sink, whole->data, whole->length);
}

rs_status rs_file_write(const char *path, const char *data, size_t length, rs_err *err) {
  return rs_file_fill(path, put_block, &(block){data, length}, err);
}

rs_status rs_file_remove(const char *directory, const char *name, rs_err *err) {
  char *path = rs_path_join(directory, name, err);
  if (path == NULL) return RS_MEMORY;
  rs_status status = RS_OK;
  if (unlink(path) != 0 && errno != ENOENT)
    status = rs_fail(err, RS_IO, "%s: cannot remove: %s", path, strerror(errno));
  free(path);
  return status;
}

/* ---- mappings ---------------------------------------------------------------------------------------------------- */

static rs_status map(int file, const char *path, rs_mapping *mapping, rs_err *err) {
  struct stat info;
  if (fstat(file, &info) != 0) return fail_reading(err, path);
  if (!S_ISREG(info.st_mode))
    return rs_fail_read(err, "%s: cannot read: %s, not a regular file", path,
                        S_ISDIR(info.st_mode) ? "a directory" : "a pipe or device");
  if (info.st_size == 0) return rs_fail(err, RS_INPUT, "%s: is empty (was a download broken off?)", path);
  void *bytes = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, file, 0);
  if (bytes == MAP_FAILED) return fail_reading(err, path);
  *mapping = (rs_mapping){bytes, (size_t)info.st_size};
  return RS_OK;
}

rs_status rs_file_map(const char *path, rs_mapping *mapping, rs_err *err) {
  *mapping = (rs_mapping){0};
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe without a writer must not block */
  if (file == -1) return fail_reading(err, path);
  rs_status status = map(file, path, mapping, err);
  close(file); /* the mapping stays */
  return status;
}

void rs_file_unmap(rs_mapping *mapping) {
  if (mapping->bytes != NULL) munmap((void *)mapping->bytes, mapping->length);
  *mapping = (rs_mapping){0};
}

/* ---- files of the program ---------------------------------------------------------------------------------------- */

/* Takes the last part of a path away. False where there is none to take. */
static bool cut_name(char *path) {
  char *slash = strrchr(path, '/');
  if (slash == NULL || slash == path) return false;
  *slash = '\0';
  return true;
}

/* The folder above that of the program: PREFIX of PREFIX/bin/ropescope, the source tree of build/ropescope. */
static bool folder_above(char *path, size_t size) {
  ssize_t length = readlink("/proc/self/exe", path, size - 1);
  if (length <= 0 || (size_t)length == size - 1) return false;
  path[length] = '\0';
  return cut_name(path) && cut_name(path);
}

/* Sets *path where folder/between/name is there; "" stands for no part. */
static rs_status try_folder(const char *folder, const char *between, const char *name, char **path, rs_err *err) {
  if (*path != NULL) return RS_OK;
  rs_text text = {0};
  rs_text_printf(&text, "%s%s%s/%s", folder, *between != '\0' ? "/" : "", between, name);
  RS_TRY(rs_text_check(&text, err));
  if (access(rs_text_string(&text), F_OK) == 0)
    *path = text.data;
  else
    rs_text_clear(&text);
  return RS_OK;
}

rs_status rs_data_find(const char *name, char **path, rs_err *err) {
  const char *chosen = getenv("ROPESCOPE_DATADIR");
  char above[PATH_MAX];
  *path = NULL;
  if (chosen != NULL && *chosen != '\0') RS_TRY(try_folder(chosen, "", name, path, err));
  if (folder_above(above, sizeof above)) {
    RS_TRY(try_folder(above, "share/ropescope", name, path, err));
    /* Any prefix may hold folders of these names; a source tree is told by what builds it. */
    rs_text mark = {0};
    rs_text_printf(&mark, "%s/src/app/meson.build", above);
    bool source = !mark.failed && access(rs_text_string(&mark), F_OK) == 0;
    rs_text_clear(&mark);
    if (source) RS_TRY(try_folder(above, "", name, path, err));
  }
  return try_folder(ROPESCOPE_DATADIR, "", name, path, err);
}
