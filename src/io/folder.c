/* folder.c: a set of files takes the place of another as one.
 *
 * The new set is made in a hidden folder beside the old one, so that both stand on one file system. It then gets links
 * to whatever else stands in the old one (pictures, a README, the journal), and renameat2(RENAME_EXCHANGE) swaps the
 * two names: a single step of the kernel, before which the old set is whole and after which the new one is. A folder
 * and not a pointer (a symbolic link to the set that counts) is exchanged, because results are then plain files in a
 * plain folder, which can be copied, committed and read by anything.
 *
 * A folder cannot always be exchanged: its parent may be read-only, it may be a mount point, the file system may know
 * neither exchange nor links, and a shell that stands in it would find itself in the old one. Its files are then
 * renamed one by one from .ropescope/ready, a name that the new set gets when it is whole: from then on the change is
 * decided, and whoever comes next ends it. */
#include "io/io.h"
#include "io_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- trees ------------------------------------------------------------------------------------------------------- */

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

/* Whether an entry of the folder is a file of a run; a folder never is. */
static bool is_own(rs_own_name *own, const char *folder, const char *name) {
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
  if (is_own(w->own, folder, name)) return true;
  if (!pair_make(folder, w->other, name, &p)) return pair_end(&p, false);
  return pair_end(&p, is_folder(p.one) ? link_folder(p.one, p.two) : link(p.one, p.two) == 0);
}

/* Gives the tree at `to`, which is there, links to every file of `from` that is not a run's. */
static bool link_tree(const char *from, const char *to, rs_own_name *own) {
  walk w = {.other = to, .own = own};
  return rs_tree_each(from, link_entry, &w);
}

/* ---- removing ---------------------------------------------------------------------------------------------------- */

static bool remove_entry(void *context, const char *folder, const char *name) {
  const walk *w = context;
  if (is_own(w->own, folder, name)) return true;
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

/* Removes from a folder what is not a run's. */
static bool keep_own(const char *path, rs_own_name *own) {
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
  bool goes = is_own(w->own, folder, name) || same_file(p.one, p.two);
  if (is_folder(p.one) && is_folder(p.two)) return pair_end(&p, rs_tree_hand_over(p.one, p.two, NULL));
  return pair_end(&p, goes ? unlink(p.one) == 0 : rename(p.one, p.two) == 0);
}

bool rs_tree_hand_over(const char *old, const char *new, rs_own_name *own) {
  walk w = {.other = new, .own = own};
  return rs_tree_each(old, hand_over_entry, &w) && rmdir(old) == 0;
}

/* Stands in a set that is not in its place yet. */
#define MARK ".ropescope-staged"

static rs_status fail_errno(rs_err *err, const char *path, const char *what) {
  if (errno == ENOMEM) return rs_fail(err, RS_MEMORY, "out of memory for changing %s", path);
  return rs_fail(err, RS_IO, "%s: %s: %s", path, what, strerror(errno));
}

/* ---- places ------------------------------------------------------------------------------------------------------ */

/* The paths of one folder; all owned. */
typedef struct places {
  char *real;   /* DIRECTORY */
  char *beside; /* PARENT/.ropescope-NAME.new */
  char *work;   /* DIRECTORY/.ropescope */
  char *within; /* DIRECTORY/.ropescope/new */
  char *ready;  /* DIRECTORY/.ropescope/ready: the change is decided; the old set's further files go */
  char *moving; /* DIRECTORY/.ropescope/moving: and then the new one's come */
  char *mark;   /* DIRECTORY/.ropescope-staged, of a set that was made beside and has just come here */
} places;

static void places_clear(places *p) {
  free(p->real);
  free(p->beside);
  free(p->work);
  free(p->within);
  free(p->ready);
  free(p->moving);
  free(p->mark);
}

static char *path_beside(const char *real, rs_err *err) {
  const char *slash = strrchr(real, '/');
  rs_text path = {0};
  rs_text_printf(&path, "%.*s.ropescope-%s.new", (int)(slash + 1 - real), real, slash + 1);
  if (rs_text_check(&path, err) == RS_OK) return path.data;
  rs_text_clear(&path);
  return NULL;
}

static rs_status places_make(const char *directory, places *p, rs_err *err) {
  *p = (places){.real = realpath(directory, NULL)};
  if (p->real == NULL) return fail_errno(err, directory, "cannot be found");
  p->beside = path_beside(p->real, err);
  p->work = rs_path_join(p->real, RS_WORK_FOLDER, err);
  p->within = p->work != NULL ? rs_path_join(p->work, "new", err) : NULL;
  p->ready = p->work != NULL ? rs_path_join(p->work, "ready", err) : NULL;
  p->moving = p->work != NULL ? rs_path_join(p->work, "moving", err) : NULL;
  p->mark = rs_path_join(p->real, MARK, err);
  if (p->beside != NULL && p->within != NULL && p->ready != NULL && p->moving != NULL && p->mark != NULL) return RS_OK;
  places_clear(p);
  return RS_MEMORY;
}

/* As file.c has it: some file systems cannot be asked. */
static void sync_folder(const char *path) {
  int file = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file == -1) return;
  (void)fsync(file);
  close(file);
}

/* ---- files one by one -------------------------------------------------------------------------------------------- */

static bool is_there(const char *path) {
  struct stat info;
  return lstat(path, &info) == 0;
}

typedef struct forward {
  const places *p;
  rs_own_name *own;
} forward;

/* A file of the old set that the new one has not. */
static bool drop_entry(void *context, const char *folder, const char *name) {
  const forward *f = context;
  if (!is_own(f->own, folder, name)) return true;
  char *new = rs_path_join(f->p->ready, name, NULL);
  bool fine = new != NULL && (is_there(new) || rs_file_remove(folder, name, NULL) == RS_OK);
  if (new == NULL) errno = ENOMEM;
  free(new);
  return fine;
}

static bool move_entry(void *context, const char *folder, const char *name) {
  const forward *f = context;
  char *from = rs_path_join(folder, name, NULL), *to = rs_path_join(f->p->real, name, NULL);
  if (from == NULL || to == NULL) errno = ENOMEM;
  bool fine = from != NULL && to != NULL && (rename(from, to) == 0 || errno == ENOENT);
  int reason = errno;
  free(from);
  free(to);
  errno = reason;
  return fine;
}

/* Ends a change that is decided, from wherever it was left. The manifest goes before the other files: it fits no
 * mixture. */
static rs_status roll_forward(const places *p, rs_own_name *own, rs_err *err) {
  forward f = {p, own};
  if (is_there(p->ready)) {
    if (!rs_tree_each(p->real, drop_entry, &f)) return fail_errno(err, p->real, "cannot remove old results");
    if (rename(p->ready, p->moving) != 0) return fail_errno(err, p->moving, "cannot write");
  }
  if (!is_there(p->moving)) return RS_OK;
  bool moved = move_entry(&f, p->moving, "manifest.json") && rs_tree_each(p->moving, move_entry, &f);
  if (!moved) return fail_errno(err, p->real, "cannot replace results");
  sync_folder(p->real);
  return rmdir(p->moving) == 0 ? RS_OK : fail_errno(err, p->moving, "cannot remove");
}

/* ---- beginning --------------------------------------------------------------------------------------------------- */

/* Whether the two are one folder. */
static bool is_same(const struct stat *a, const struct stat *b) {
  return a->st_ino == b->st_ino && a->st_dev == b->st_dev;
}

/* Makes the folder beside, with the mark in it; false where it cannot be, or would not be exchanged. */
static bool make_beside(const places *p) {
  struct stat old, here, made;
  char *mark = rs_path_join(p->beside, MARK, NULL);
  bool fine = mark != NULL && stat(p->real, &old) == 0 && stat(".", &here) == 0 && !is_same(&old, &here) &&
              mkdir(p->beside, 0700) == 0;
  if (fine) {
    int file = open(mark, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    fine = file != -1 && stat(p->beside, &made) == 0 && made.st_dev == old.st_dev;
    fine = fine && (made.st_uid == old.st_uid || chown(p->beside, old.st_uid, old.st_gid) == 0);
    fine = fine && chmod(p->beside, old.st_mode & 07777) == 0;
    if (file != -1) close(file);
    if (!fine) (void)rs_tree_remove(p->beside);
  }
  free(mark);
  return fine;
}

rs_status rs_folder_change_begin(const char *directory, rs_own_name *own, rs_folder_change *change, rs_err *err) {
  places p;
  *change = (rs_folder_change){.own = own};
  RS_TRY(places_make(directory, &p, err));
  change->in_place = !make_beside(&p);
  rs_status status = change->in_place ? rs_make_directories(p.within, err) : RS_OK;
  change->directory = rs_strdup(p.real, err);
  change->staged = rs_strdup(change->in_place ? p.within : p.beside, err);
  if (status == RS_OK && (change->directory == NULL || change->staged == NULL)) status = RS_MEMORY;
  places_clear(&p);
  if (status != RS_OK) rs_folder_change_clear(change);
  return status;
}

/* ---- the end of it ----------------------------------------------------------------------------------------------- */

/* What was killed behind the exchange leaves the old set beside, without the mark: files that came to it meanwhile are
 * somebody's. Failures are for the next run to mend: the new set is there. */
static void end_exchange(const places *p, rs_own_name *own) {
  (void)unlink(p->mark);
  if (rs_tree_hand_over(p->beside, p->real, own)) sync_folder(p->real);
}

/* Whether the folders were exchanged; nothing has changed where they were not. */
static bool exchange(const places *p, rs_own_name *own) {
  if (!link_tree(p->real, p->beside, own)) return false;
  sync_folder(p->beside);
  if (renameat2(AT_FDCWD, p->beside, AT_FDCWD, p->real, RENAME_EXCHANGE) != 0) return false;
  char *parent = rs_path_join(p->beside, "..", NULL);
  if (parent != NULL) sync_folder(parent);
  free(parent);
  end_exchange(p, own);
  return true;
}

/* A set beside that could not be exchanged, without the links that it got, becomes one within. */
static rs_status move_within(const places *p, rs_own_name *own, rs_err *err) {
  if (!keep_own(p->beside, own) || rs_file_remove(p->beside, MARK, err) != RS_OK || rename(p->beside, p->within) != 0)
    return fail_errno(err, p->within, "cannot write");
  return RS_OK;
}

rs_status rs_folder_change_commit(rs_folder_change *change, rs_err *err) {
  places p;
  RS_TRY(places_make(change->directory, &p, err));
  sync_folder(change->staged);
  rs_status status = RS_OK;
  bool exchanged = !change->in_place && exchange(&p, change->own);
  if (!exchanged && !change->in_place) status = move_within(&p, change->own, err);
  if (!exchanged && status == RS_OK) {
    if (rename(p.within, p.ready) != 0) status = fail_errno(err, p.ready, "cannot write");
    if (status == RS_OK) sync_folder(p.work);
    if (status == RS_OK) status = roll_forward(&p, change->own, err);
  }
  if (status == RS_OK) { /* what stands at that path now, if anything, is for the next change to mend */
    free(change->staged);
    change->staged = NULL;
  }
  places_clear(&p);
  return status;
}

void rs_folder_change_clear(rs_folder_change *change) {
  if (change->staged != NULL) (void)rs_tree_remove(change->staged);
  free(change->directory);
  free(change->staged);
  *change = (rs_folder_change){0};
}

/* ---- after a kill ------------------------------------------------------------------------------------------------ */

/* ".ropescope-PID-N.tmp" of a process that is no more. */
static bool is_orphan(const char *name) {
  long process;
  int end = 0;
  if (sscanf(name, ".ropescope-%ld-%*d.tmp%n", &process, &end) != 1 || end == 0 || name[end] != '\0') return false;
  return process > 0 && kill((pid_t)process, 0) != 0 && errno == ESRCH;
}

static bool drop_orphan(void *context, const char *folder, const char *name) {
  (void)context;
  return !is_orphan(name) || rs_file_remove(folder, name, NULL) == RS_OK;
}

static rs_status recover(const places *p, rs_own_name *own, rs_err *err) {
  char *mark = rs_path_join(p->beside, MARK, err), *plots = rs_path_join(p->real, "plots", err);
  bool fine = mark != NULL && plots != NULL;
  rs_status status = fine ? roll_forward(p, own, err) : RS_MEMORY;
  if (status == RS_OK && is_there(p->beside)) {
    if (is_there(mark))
      fine = rs_tree_remove(p->beside);
    else
      end_exchange(p, own);
  }
  if (status == RS_OK) fine = fine && rs_tree_remove(p->within);
  if (status == RS_OK)
    fine = fine && rs_tree_each(p->real, drop_orphan, NULL) && rs_tree_each(plots, drop_orphan, NULL);
  if (status == RS_OK && !fine) status = fail_errno(err, p->real, "cannot remove what a run has left");
  if (status == RS_OK) status = rs_file_remove(p->real, MARK, err);
  free(mark);
  free(plots);
  return status;
}

rs_status rs_folder_change_recover(const char *directory, rs_own_name *own, rs_err *err) {
  places p;
  RS_TRY(places_make(directory, &p, err));
  rs_status status = recover(&p, own, err);
  places_clear(&p);
  return status;
}

/* ---- folders for a moment ---------------------------------------------------------------------------------------- */

rs_status rs_scratch_make(char **path, rs_err *err) {
  const char *temporary = getenv("TMPDIR");
  *path = rs_path_join(temporary != NULL && *temporary != '\0' ? temporary : "/tmp", "ropescope-XXXXXX", err);
  if (*path == NULL) return RS_MEMORY;
  if (mkdtemp(*path) != NULL) return RS_OK;
  rs_status status = rs_fail(err, RS_IO, "%s: cannot be made (TMPDIR): %s", *path, strerror(errno));
  free(*path);
  *path = NULL;
  return status;
}

void rs_scratch_remove(char *path) {
  for (size_t tries = 0; path != NULL && tries < 2; tries++) /* what lacked memory once may have it again */
    if (rs_tree_remove(path)) break;
  free(path);
}
