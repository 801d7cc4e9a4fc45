/* What the files of io share. */
#ifndef ROPESCOPE_IO_IO_INTERNAL_H
#define ROPESCOPE_IO_IO_INTERNAL_H

#include "io/io.h"

/* ---- readers and writers --------------------------------------------------------------------------------------- */

/* Far above any real config (the deepest has 6 levels and some hundred nodes), and low enough that walking a tree
 * recursively and holding it in memory are both harmless, whoever wrote the file. */
enum { RS_TREE_MAX_DEPTH = 32, RS_TREE_MAX_NODES = 100000 };

/* As rs_json_read, for a text with another limit of values. */
rs_status rs_json_read_most(const char *text, size_t length, const char *name, size_t most_values, rs_tree **tree,
                            rs_err *err);

/* As rs_npy_read, for the bytes of a file that is called `name`. */
rs_status rs_npy_parse(const char *data, size_t length, const char *name, rs_array *array, rs_err *err);

/* U+FFFD, in the place of bytes that are no UTF-8. */
#define RS_REPLACEMENT "\xEF\xBF\xBD"

/* Appends a JSON string: `string` in quotes, bytes that are no UTF-8 as U+FFFD. */
void rs_json_quote(rs_text *text, const char *string);

/* A tree whose root is an empty scalar, or NULL with RS_MEMORY. */
rs_tree *rs_tree_create(const char *name, rs_err *err);

/* Steps over the UTF-8 byte order mark that some Windows editors write. */
void rs_io_skip_bom(const char **text, size_t *length);

/* The 1-based line, and column in characters, of the byte at `offset`. */
void rs_io_position(const char *text, size_t offset, size_t *line, size_t *column);

/* A file that is being written under its temporary name. */
typedef struct rs_sink {
  int file;
  const char *path; /* for messages */
  rs_err *err;
} rs_sink;

/* Appends to the file. RS_IO. */
rs_status rs_sink_put(const rs_sink *sink, const void *data, size_t length);

/* As rs_file_write, for content that `fill` puts piece by piece; where that fails, the old file stays. */
typedef rs_status (*rs_filler)(const rs_sink *sink, const void *content);
rs_status rs_file_fill(const char *path, rs_filler fill, const void *content, rs_err *err);

/* ---- folder tree ----------------------------------------------------------------------------------------------- */

/* Trees of files that are linked, moved and removed when a folder changes. */

/* `own` is asked for names at the top of a tree; below, nothing is a run's. NULL: nothing is. Symbolic links are never
 * followed. All return whether all went well, and leave errno else. */

/* Empties `old`, whose place `new` has taken, and removes it: files of a run and those that `new` has too go, any other
 * came or changed after it was linked, and moves over. */
bool rs_tree_hand_over(const char *old, const char *new, rs_own_name *own);

/* Calls `each` with the names in a folder but "." and "..", until one returns false. What is no folder is
 * empty. */
bool rs_tree_each(const char *path, bool (*each)(void *context, const char *folder, const char *name), void *context);

/* ---- numbers --------------------------------------------------------------------------------------------------- */

/* As rs_numbers_named and rs_numbers_read, of files without tensors. */
bool rs_plain_numbers_named(const char *file);
rs_status rs_plain_numbers_read(const char *file, double **list, size_t *count, rs_err *err);

#endif
