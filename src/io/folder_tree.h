/* Trees of files that are linked, moved and removed when a folder changes. Private to folder_*.c. */
#ifndef ROPESCOPE_IO_FOLDER_TREE_H
#define ROPESCOPE_IO_FOLDER_TREE_H

#include "io/io.h"

/* `own` is asked for names at the top of a tree; below, nothing is a run's. NULL: nothing is. Symbolic links are never
 * followed. All return whether all went well, and leave errno else. */

/* Whether an entry of the folder is a file of a run; a folder never is. */
bool rs_tree_is_own(rs_own_name *own, const char *folder, const char *name);

/* Gives the tree at `to`, which is there, links to every file of `from` that is not a run's. */
bool rs_tree_link(const char *from, const char *to, rs_own_name *own);

/* Removes a tree, where it is there. */
bool rs_tree_remove(const char *path);

/* Removes from a folder what is not a run's. */
bool rs_tree_keep_own(const char *path, rs_own_name *own);

/* Empties `old`, whose place `new` has taken, and removes it: files of a run and those that `new` has too go, any other
 * came or changed after it was linked, and moves over. */
bool rs_tree_hand_over(const char *old, const char *new, rs_own_name *own);

/* Calls `each` with the names in a folder but "." and "..", until one returns false. What is no folder is
 * empty. */
bool rs_tree_each(const char *path, bool (*each)(void *context, const char *folder, const char *name), void *context);

#endif
