/* lock.c: a results folder belongs to one process at a time. The kernel holds the lock, and lets it go when the process
 * ends, however it ends: there is nothing to clean up, and no lock of a dead one to break. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/io.h"
#include "io_internal.h"

/* ---- the hidden folder ------------------------------------------------------------------------------------------- */

static bool is_link(const char *path) {
  struct stat info;
  return lstat(path, &info) == 0 && S_ISLNK(info.st_mode);
}

static rs_status refuse_link(const char *path, rs_err *err) {
  return rs_fail(err, RS_IO, "%s: is a symbolic link, which no run follows out of its results folder (remove it)",
                 path);
}

static bool check_entry(void *context, const char *folder, const char *name) {
  rs_err *why = context;
  char *path = rs_path_join(folder, name, why);
  if (path != NULL && is_link(path)) (void)refuse_link(path, why);
  free(path);
  return why->status == RS_OK;
}

rs_status rs_work_folder_find(const char *directory, char **path, rs_err *err) {
  rs_err why = {0};
  *path = rs_path_join(directory, RS_WORK_FOLDER, err);
  if (*path == NULL) return RS_MEMORY;
  if (is_link(*path))
    (void)refuse_link(*path, &why);
  else if (!rs_tree_each(*path, check_entry, &why) && why.status == RS_OK && errno == ENOMEM)
    (void)rs_fail(&why, RS_MEMORY, "out of memory for reading %s", *path);
  if (why.status == RS_OK) return RS_OK; /* one that cannot be listed says why where it is used */
  free(*path);
  *path = NULL;
  return rs_fail(err, why.status, "%s", why.message);
}

rs_status rs_work_folder_make(const char *directory, char **path, rs_err *err) {
  RS_TRY(rs_work_folder_find(directory, path, err));
  rs_status status = rs_make_directories(*path, err);
  if (status == RS_OK) return RS_OK;
  free(*path);
  *path = NULL;
  return status;
}

/* ---- the lock ---------------------------------------------------------------------------------------------------- */

/* Git then keeps its hands off the folder. */
static void write_ignore(const char *folder) {
  char *path = rs_path_join(folder, ".gitignore", NULL);
  int file = path != NULL ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666) : -1;
  if (file != -1) {
    (void)!write(file, "*\n", 2);
    close(file);
  }
  free(path);
}

/* "process 123", as its owner has written it; another process where it has not yet. */
static rs_status refuse(int file, const char *directory, rs_err *err) {
  char number[24] = "";
  ssize_t length = pread(file, number, sizeof number - 1, 0);
  number[length > 0 ? strspn(number, "0123456789") : 0] = '\0';
  const char *who = *number != '\0' ? "process " : "another process";
  return rs_fail(err, RS_BUSY, "%s: %s%s is running into this folder (wait for it, or choose another --out)", directory,
                 who, number);
}

/* Whether the name still leads to the file: its folder may have been exchanged since it was opened. */
static bool is_current(int file, const char *path) {
  struct stat held, named;
  return fstat(file, &held) == 0 && stat(path, &named) == 0 && held.st_ino == named.st_ino &&
         held.st_dev == named.st_dev;
}

static void sign(int file) {
  char number[24];
  int length = snprintf(number, sizeof number, "%ld\n", (long)getpid());
  if (ftruncate(file, 0) == 0) (void)!pwrite(file, number, (size_t)length, 0);
}

static rs_status take(const char *directory, const char *path, rs_folder_lock *lock, rs_err *err) {
  enum { TRIES = 100 };
  for (int i = 0; i < TRIES; i++) {
    int file = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (file == -1 && errno == ENOENT && i + 1 < TRIES) continue;
    if (file == -1) return rs_fail(err, RS_IO, "%s: cannot write: %s", path, strerror(errno));
    bool busy = flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!busy && is_current(file, path)) {
      sign(file);
      lock->file = file;
      return RS_OK;
    }
    rs_status status = busy ? refuse(file, directory, err) : RS_OK;
    close(file);
    RS_TRY(status);
  }
  return rs_fail(err, RS_IO, "%s: cannot lock: it changes all the time", path);
}

rs_status rs_folder_lock_take(const char *directory, rs_folder_lock *lock, rs_err *err) {
  lock->file = -1;
  char *folder;
  RS_TRY(rs_work_folder_make(directory, &folder, err));
  char *path = rs_path_join(folder, "lock", err);
  rs_status status = path != NULL ? RS_OK : RS_MEMORY;
  if (status == RS_OK) status = take(directory, path, lock, err);
  if (status == RS_OK) write_ignore(folder);
  free(folder);
  free(path);
  return status;
}

/* Where the lock's file cannot be opened for reading though it is there, the journal can hardly be. */
static rs_status share(const char *directory, const char *path, rs_folder_lock *lock, rs_err *err) {
  int file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (file == -1 && errno == ENOENT) return RS_OK;
  if (file == -1) return rs_fail_read(err, "%s: cannot read: %s", path, strerror(errno));
  if (flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    rs_status status = refuse(file, directory, err);
    close(file);
    return status;
  }
  lock->file = file;
  return RS_OK;
}

rs_status rs_folder_lock_share(const char *directory, rs_folder_lock *lock, rs_err *err) {
  lock->file = -1;
  char *folder;
  RS_TRY(rs_work_folder_find(directory, &folder, err));
  char *path = rs_path_join(folder, "lock", err);
  rs_status status = path != NULL ? share(directory, path, lock, err) : RS_MEMORY;
  free(folder);
  free(path);
  return status;
}

void rs_folder_lock_drop(rs_folder_lock *lock) {
  if (lock->file != -1) close(lock->file);
  lock->file = -1;
}
