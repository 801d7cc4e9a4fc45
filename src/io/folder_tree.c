/* folder_tree.c: trees of files, entry by entry. */
#include "io_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/io.h"

/* Names are read before anything is done: what a folder lists while it changes is not defined. */
bool rs_tree_each(const char *path, bool (*each)(void *context, const char *folder, const char *name), void *context) {
  struct dirent **entries;
  struct stat info;
  if (lstat(path, &info) == 0 && S_ISLNK(info.st_mode)) return true; /* what it leads to is elsewhere */
  int count = scandir(path, &entries, NULL, alphasort);
  if (count < 0) return errno == ENOENT || errno == ENOTDIR;
  bool fine = true;
  for (int i = 0; i < count; i++) {
    const char *name = entries[i]->d_name;
    if (fine && strcmp(name, ".") != 0 && strcmp(name, "..") != 0) fine = each(context, path, name);
    int reason = errno;
    free(entries[i]);
    errno = reason;
  }
  free(entries);
  return fine;
}

static bool is_folder(const char *path) {
  struct stat info;
  return lstat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

bool rs_tree_is_own(rs_own_name *own, const char *folder, const char *name) {
  if (own == NULL || !own(name)) return false;
  char *path = rs_path_join(folder, name, NULL);
  bool file = path == NULL || !is_folder(path);
  free(path);
  return file;
}

/* Two folders that are walked together. */
typedef struct walk {
  const char *other; /* NULL: one alone */
  rs_own_name *own;
} walk;

/* The paths of an entry in both; false where there is no room. */
typedef struct pair {
  char *one, *two;
} pair;

static bool pair_make(const char *folder, const char *other, const char *name, pair *p) {
  *p = (pair){rs_path_join(folder, name, NULL), rs_path_join(other, name, NULL)};
  if (p->one == NULL || p->two == NULL) errno = ENOMEM;
  return p->one != NULL && p->two != NULL;
}

static bool pair_end(pair *p, bool fine) {
  int reason = errno;
  free(p->one);
  free(p->two);
  errno = reason;
  return fine;
}

/* ---- linking ----------------------------------------------------------------------------------------------------- */

static bool link_entry(void *context, const char *folder, const char *name);

/* A folder cannot be linked: it is made anew, as it was. */
static bool link_folder(const char *from, const char *to) {
  struct stat info;
  walk inner = {.other = to};
  if (stat(from, &info) != 0 || mkdir(to, 0700) != 0) return false;
  if (!rs_tree_each(from, link_entry, &inner)) return false;
  const struct timespec times[] = {info.st_atim, info.st_mtim};
  if (info.st_uid != geteuid() && chown(to, info.st_uid, info.st_gid) != 0) return false;
  return chmod(to, info.st_mode & 07777) == 0 && utimensat(AT_FDCWD, to, times, 0) == 0;
}

static bool link_entry(void *context, const char *folder, const char *name) {
  const walk *w = context;
  pair p;
  if (rs_tree_is_own(w->own, folder, name)) return true;
  if (!pair_make(folder, w->other, name, &p)) return pair_end(&p, false);
  return pair_end(&p, is_folder(p.one) ? link_folder(p.one, p.two) : link(p.one, p.two) == 0);
}

bool rs_tree_link(const char *from, const char *to, rs_own_name *own) {
  walk w = {.other = to, .own = own};
  return rs_tree_each(from, link_entry, &w);
}

/* ---- removing ---------------------------------------------------------------------------------------------------- */

static bool remove_entry(void *context, const char *folder, const char *name) {
  const walk *w = context;
  if (rs_tree_is_own(w->own, folder, name)) return true;
  char *path = rs_path_join(folder, name, NULL);
  if (path == NULL) errno = ENOMEM;
  bool fine = path != NULL && (is_folder(path) ? rs_tree_remove(path) : unlink(path) == 0);
  int reason = errno;
  free(path);
  errno = reason;
  return fine;
}

bool rs_tree_remove(const char *path) {
  walk w = {0};
  return rs_tree_each(path, remove_entry, &w) && (rmdir(path) == 0 || errno == ENOENT);
}

bool rs_tree_keep_own(const char *path, rs_own_name *own) {
  walk w = {.own = own};
  return rs_tree_each(path, remove_entry, &w);
}

/* ---- handing over ------------------------------------------------------------------------------------------------ */

static bool same_file(const char *one, const char *two) {
  struct stat a, b;
  return lstat(one, &a) == 0 && lstat(two, &b) == 0 && a.st_ino == b.st_ino && a.st_dev == b.st_dev;
}

static bool hand_over_entry(void *context, const char *folder, const char *name) {
  const walk *w = context;
  pair p;
  if (!pair_make(folder, w->other, name, &p)) return pair_end(&p, false);
  bool goes = rs_tree_is_own(w->own, folder, name) || same_file(p.one, p.two);
  if (is_folder(p.one) && is_folder(p.two)) return pair_end(&p, rs_tree_hand_over(p.one, p.two, NULL));
  return pair_end(&p, goes ? unlink(p.one) == 0 : rename(p.one, p.two) == 0);
}

bool rs_tree_hand_over(const char *old, const char *new, rs_own_name *own) {
  walk w = {.other = new, .own = own};
  return rs_tree_each(old, hand_over_entry, &w) && rmdir(old) == 0;
}
