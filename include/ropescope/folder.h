/* ropescope/folder.h: folders of results. Their files are written piece by piece with their sums, one process at a time
 * works on a folder, its files change as one, and manifest.json says what each must be. Layer io. */
#ifndef ROPESCOPE_FOLDER_H
#define ROPESCOPE_FOLDER_H

#include "ropescope/base.h"

/* ---- files piece by piece ---------------------------------------------------------------------------------------- */

/* What a file holds. */
typedef struct rs_file_sums {
  char name[80]; /* "summary.csv" */
  size_t rows;   /* of a CSV file, without its header; RS_NO_COUNT of others */
  size_t bytes;
  char sha256[65];
} rs_file_sums;

typedef struct rs_out_file rs_out_file;

/* Makes directory/name, which must not be there, and which messages call `shown`/name: the place that it is for.
 * RS_IO, RS_MEMORY; *file is NULL on failure. */
rs_status rs_out_file_create(const char *directory, const char *shown, const char *name, rs_out_file **file,
                             rs_err *err) RS_NONNULL(1, 2, 3, 4);

/* What is added to its end, to write to. Borrowed. */
rs_text *rs_out_file_text(rs_out_file *file) RS_NONNULL(1);

/* Hands on what was added, some of which may wait for more. RS_IO, RS_MEMORY. */
rs_status rs_out_file_put(rs_out_file *file, rs_err *err) RS_NONNULL(1);

/* Writes the rest, brings the file to the disk and closes it; `sums` gets name, bytes and SHA-256. */
rs_status rs_out_file_close(rs_out_file *file, rs_file_sums *sums, rs_err *err) RS_NONNULL(1, 2);
void rs_out_file_free(rs_out_file *file); /* NULL is fine */

/* ---- one process at a time --------------------------------------------------------------------------------------- */

/* The hidden folder within a results folder, for what is no result: lock, journal. */
#define RS_WORK_FOLDER ".ropescope"

/* The path of the hidden folder of `directory`, owned by the caller, NULL on failure; whether it is there or not, or
 * made where it is missing. RS_IO, also where it or anything in it is a symbolic link, which might lead anywhere;
 * RS_MEMORY. */
rs_status rs_work_folder_find(const char *directory, char **path, rs_err *err) RS_NONNULL(1, 2);
rs_status rs_work_folder_make(const char *directory, char **path, rs_err *err) RS_NONNULL(1, 2);

typedef struct rs_folder_lock {
  int file; /* -1: not held */
} rs_folder_lock;

/* Locks an existing folder until rs_folder_unlock, or the end of the process however it ends (flock on
 * .ropescope/lock, which holds the owner's number). RS_BUSY with that number where another process has it, at once.
 * Where a file system has no such locks, nobody is kept out. RS_IO, RS_MEMORY. */
rs_status rs_folder_lock_take(const char *directory, rs_folder_lock *lock, rs_err *err) RS_NONNULL(1, 2);
void rs_folder_lock_drop(rs_folder_lock *lock) RS_NONNULL(1);

/* Keeps others from running into a folder that is read, which may be read-only, until the lock is dropped: several may
 * read one. RS_BUSY where a process runs into it; one into which nobody ever ran is not locked. RS_IO, RS_MEMORY. */
rs_status rs_folder_lock_share(const char *directory, rs_folder_lock *lock, rs_err *err) RS_NONNULL(1, 2);

/* ---- folders for a moment ---------------------------------------------------------------------------------------- */

/* Makes a new folder that this user alone can read, in $TMPDIR or else /tmp. RS_IO, RS_MEMORY; *path is NULL then. */
rs_status rs_scratch_make(char **path, rs_err *err) RS_NONNULL(1);

/* Removes it with all that is in it, and frees `path` (NULL is fine). It stays where no memory is left to list it. */
void rs_scratch_remove(char *path);

/* ---- a folder that changes as one -------------------------------------------------------------------------------- */

/* Whether a file called so in a results folder is one that a run writes, or its temporary. All else stays what it is.
 */
typedef bool rs_own_name(const char *name);

/* A new set of files for a folder. Write them into `staged`; commit, or clear. */
typedef struct rs_folder_change {
  char *directory; /* its real path */
  char *staged;    /* where the new set is made; owned, as all here */
  rs_own_name *own;
  bool in_place; /* the files will be renamed one by one */
} rs_folder_change;

/* Begins a change of an existing folder that this process has locked. The new set is made beside it, in
 * .ropescope-NAME.new; where that cannot be, or the folder could not be exchanged (a mount point, the working directory
 * of this process), within it, in .ropescope/new. RS_IO, RS_MEMORY. */
rs_status rs_folder_change_begin(const char *directory, rs_own_name *own, rs_folder_change *change, rs_err *err)
    RS_NONNULL(1, 2, 3);

/* Puts the new set into the old one's place; files that are not of a run stay. Fails with the old set whole. The new
 * folder gets links to what stays, and is exchanged with the old one by one renameat2(RENAME_EXCHANGE): at no instant
 * is there a mixture, nor no folder. Where the kernel, the file system or links do not allow it, one rename of
 * .ropescope/new to .ropescope/ready decides, and the files are then renamed one by one, manifest.json first: who reads
 * meanwhile finds sums that do not fit, and a process that ends there leaves the rest to the next change. */
rs_status rs_folder_change_commit(rs_folder_change *change, rs_err *err) RS_NONNULL(1);

/* Removes what was not committed. */
void rs_folder_change_clear(rs_folder_change *change) RS_NONNULL(1);

/* Ends or removes what a process that was killed has left of a change, and its temporaries. RS_IO, RS_MEMORY. */
rs_status rs_folder_change_recover(const char *directory, rs_own_name *own, rs_err *err) RS_NONNULL(1, 2);

/* ---- what the manifest says -------------------------------------------------------------------------------------- */

/* As rs_file_read, for a file of a results folder, of which one that is too large says its size: RS_INPUT where the
 * manifest.json beside it says that it must be another. Without a manifest, or one that says nothing of the file, there
 * is nothing to check. Whatever reads results reads them by this. */
rs_status rs_results_read(const char *path, size_t limit, char **data, size_t *length, rs_err *err) RS_NONNULL(1, 3, 4);

/* Adds what the folder's manifest says of a set that is not complete, "incomplete: 3 of 8 cells"; nothing of a complete
 * one, or without a manifest. RS_INPUT, RS_IO, RS_MEMORY. */
rs_status rs_results_incomplete(const char *directory, rs_text *words, rs_err *err) RS_NONNULL(1, 2);

/* What a check of a folder came to. */
typedef struct rs_folder_verdict {
  size_t files;     /* that were checked */
  size_t differing; /* of those: missing, or not what the manifest says */
} rs_folder_verdict;

/* Checks every file that the folder's manifest has sums of, and adds a line to `findings` for each that differs.
 * RS_INPUT without a manifest or without sums in it; RS_IO, RS_MEMORY. */
rs_status rs_results_verify(const char *directory, rs_folder_verdict *verdict, rs_text *findings, rs_err *err)
    RS_NONNULL(1, 2, 3);

#endif
