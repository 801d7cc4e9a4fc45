/* results.c: files of a results folder beside what its manifest.json says that they are. A CSV file that was cut at the
 * end of a line, or copied by half, reads like a whole one: its sums tell. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/io.h"

static const char manifest_name[] = "manifest.json";
enum { MANIFEST_LIMIT = 64 << 20 }; /* bytes; a real one has some tens of kB */

/* ---- the manifest ------------------------------------------------------------------------------------------------ */

typedef struct manifest {
  char *path;
  rs_tree *tree;           /* NULL: there is none */
  const rs_node *contents; /* NULL: it says nothing of files */
} manifest;

static void manifest_clear(manifest *m) {
  free(m->path);
  rs_tree_free(m->tree);
}

/* A scalar of `node`, or NULL. */
static const char *text_of(const rs_node *node, const char *key) {
  const rs_node *child = rs_node_get(node, key);
  return child != NULL && child->kind == RS_SCALAR ? child->text : NULL;
}

/* A file of the folder, not one elsewhere, which somebody's manifest might name: a device never ends. */
static bool is_entry(const rs_node *node) {
  double bytes;
  const char *number = text_of(node, "bytes"), *file = text_of(node, "file");
  return file != NULL && strchr(file, '/') == NULL && text_of(node, "sha256") != NULL && number != NULL &&
         rs_number_read(number, &bytes);
}

static rs_status check_contents(const manifest *m, rs_err *err) {
  bool fine = m->contents->kind == RS_SEQUENCE;
  for (size_t i = 0; fine && i < m->contents->count; i++) fine = is_entry(&m->contents->items[i]);
  return fine ? RS_OK
              : rs_fail(err, RS_INPUT,
                        "%s: \"contents\" must be a list of objects with file (no path), bytes and sha256", m->path);
}

static rs_status read_tree(manifest *m, rs_err *err) {
  RS_TRY(rs_json_load("", m->path, MANIFEST_LIMIT, &m->tree, err));
  m->contents = rs_node_get(&m->tree->root, "contents");
  return m->contents != NULL ? check_contents(m, err) : RS_OK;
}

/* Cleared on failure. */
static rs_status manifest_read(const char *directory, manifest *m, rs_err *err) {
  *m = (manifest){.path = rs_path_join(directory, manifest_name, err)};
  if (m->path == NULL) return RS_MEMORY;
  rs_status status = access(m->path, F_OK) == 0 ? read_tree(m, err) : RS_OK;
  if (status != RS_OK) manifest_clear(m);
  return status;
}

/* ---- one file ---------------------------------------------------------------------------------------------------- */

static const rs_node *find_entry(const manifest *m, const char *name) {
  for (size_t i = 0; m->contents != NULL && i < m->contents->count; i++)
    if (strcmp(text_of(&m->contents->items[i], "file"), name) == 0) return &m->contents->items[i];
  return NULL;
}

/* How many rows a CSV file has; SIZE_MAX: none can be told. */
static size_t count_rows(const char *data, size_t length) {
  rs_table *table;
  if (rs_csv_read(data, length, "", &table, NULL) != RS_OK) return SIZE_MAX;
  size_t rows = table->rows;
  rs_table_free(table);
  return rows;
}

/* Adds how the bytes differ from what the entry says; nothing where they do not. */
static void compare(const rs_node *entry, const char *data, size_t length, rs_text *why) {
  char sum[65], count[24];
  const char *bytes = text_of(entry, "bytes"), *rows = text_of(entry, "rows"), *wanted = text_of(entry, "sha256");
  rs_sha256_hex(data, length, sum);
  if (strcmp(sum, wanted) == 0) return;
  snprintf(count, sizeof count, "%zu", length);
  size_t there = rows != NULL ? count_rows(data, length) : SIZE_MAX;
  if (there != SIZE_MAX) {
    char number[24];
    snprintf(number, sizeof number, "%zu", there);
    if (strcmp(number, rows) != 0) rs_text_printf(why, "%s rows, not %s; ", number, rows);
  }
  if (strcmp(count, bytes) != 0)
    rs_text_printf(why, "%s bytes, not %s", count, bytes);
  else
    rs_text_printf(why, "its SHA-256 is %.12s..., not %.12s...", sum, wanted);
}

static rs_status refuse(const char *path, const char *folder, const rs_text *why, rs_err *err) {
  RS_TRY(rs_text_check(why, err));
  if (why->length == 0) return RS_OK;
  return rs_fail(err, RS_INPUT,
                 "%s is not what manifest.json says: %s (ropescope verify %s checks all files; ropescope run makes "
                 "them again)",
                 path, rs_text_string(why), folder);
}

/* The folder of a path: "." of a bare name. */
static char *folder_of(const char *path, rs_err *err) {
  const char *slash = strrchr(path, '/');
  char *folder = rs_strdup(slash != NULL ? path : ".", err);
  if (folder != NULL && slash != NULL) folder[slash == path ? 1 : slash - path] = '\0';
  return folder;
}

static rs_status check(const char *path, const char *data, size_t length, rs_err *err) {
  manifest m;
  rs_text why = {0};
  const char *slash = strrchr(path, '/');
  char *folder = folder_of(path, err);
  if (folder == NULL) return RS_MEMORY;
  rs_status status = manifest_read(folder, &m, err);
  if (status == RS_OK) {
    const rs_node *entry = find_entry(&m, slash != NULL ? slash + 1 : path);
    if (entry != NULL) compare(entry, data, length, &why);
    status = refuse(path, folder, &why, err);
    manifest_clear(&m);
  }
  rs_text_clear(&why);
  free(folder);
  return status;
}

/* Of a file whose size is known, before it takes memory. */
static rs_status check_size(const char *path, size_t limit, rs_err *err) {
  enum { MIB = 1 << 20 };
  struct stat info;
  if (stat(path, &info) != 0 || !S_ISREG(info.st_mode) || (size_t)info.st_size <= limit) return RS_OK;
  return rs_fail_read(err,
                      "%s: has %.6g MiB, and at most %.6g MiB are read (keep the columns or rows that are wanted, or "
                      "split it into several files)",
                      path, ceil((double)info.st_size / MIB), (double)limit / MIB);
}

rs_status rs_results_read(const char *path, size_t limit, char **data, size_t *length, rs_err *err) {
  *data = NULL;
  *length = 0;
  RS_TRY(check_size(path, limit, err));
  RS_TRY(rs_file_read(path, limit, data, length, err));
  rs_status status = check(path, *data, *length, err);
  if (status != RS_OK) {
    free(*data);
    *data = NULL;
    *length = 0;
  }
  return status;
}

/* ---- the folder -------------------------------------------------------------------------------------------------- */

rs_status rs_results_incomplete(const char *directory, rs_text *words, rs_err *err) {
  manifest m;
  RS_TRY(manifest_read(directory, &m, err));
  const rs_node *mark = m.tree != NULL ? rs_node_get(&m.tree->root, "incomplete") : NULL;
  const char *done = text_of(mark, "done"), *cells = text_of(mark, "cells");
  if (done != NULL && cells != NULL) rs_text_printf(words, "incomplete: %s of %s cells", done, cells);
  manifest_clear(&m);
  return rs_text_check(words, err);
}

/* What cannot be read differs; the reason ends the line. */
static rs_status verify_entry(const char *directory, const rs_node *entry, rs_folder_verdict *verdict,
                              rs_text *findings, rs_err *err) {
  char *data, *path = rs_path_join(directory, text_of(entry, "file"), err);
  size_t length;
  rs_text why = {0};
  rs_err reason = {0};
  if (path == NULL) return RS_MEMORY;
  rs_status status = rs_file_read(path, SIZE_MAX / 4, &data, &length, &reason);
  if (status == RS_OK) compare(entry, data, length, &why);
  if (status == RS_OK && why.length > 0) rs_text_line(findings, "%s: %s", path, rs_text_string(&why));
  if (status == RS_IO) rs_text_line(findings, "%s", reason.message);
  verdict->files++;
  verdict->differing += status == RS_IO || why.length > 0;
  if (status == RS_OK) free(data);
  if (status == RS_OK || status == RS_IO) status = rs_text_check(&why, err);
  rs_text_clear(&why);
  free(path);
  return status == RS_MEMORY ? rs_fail(err, RS_MEMORY, "out of memory") : RS_OK;
}

rs_status rs_results_verify(const char *directory, rs_folder_verdict *verdict, rs_text *findings, rs_err *err) {
  manifest m;
  *verdict = (rs_folder_verdict){0};
  RS_TRY(manifest_read(directory, &m, err));
  rs_status status = RS_OK;
  if (m.tree == NULL)
    status = rs_fail(err, RS_INPUT, "%s: there is nothing to check: it has no manifest.json", directory);
  else if (m.contents == NULL)
    status = rs_fail(err, RS_INPUT,
                     "%s: there is nothing to check: its manifest.json has no sums of files (an older "
                     "version wrote it)",
                     directory);
  for (size_t i = 0; status == RS_OK && i < m.contents->count; i++)
    status = verify_entry(directory, &m.contents->items[i], verdict, findings, err);
  manifest_clear(&m);
  return status == RS_OK ? rs_text_check(findings, err) : status;
}
