/* ropescope/problems.h: reading checked values from a tree: every reader reports what is wrong with file, line, column,
 * key and value, and goes on, so that one run shows all mistakes. */
#ifndef ROPESCOPE_PROBLEMS_H
#define ROPESCOPE_PROBLEMS_H

#include "ropescope/io.h"

enum { RS_PATH = 256, RS_PROBLEMS_SHOWN = 20 };

/* Up to 20 problems, one a line, each "file:line:column: key = value: why (hint)". Zero-initialise; release with
 * rs_problems_clear. */
typedef struct rs_problems {
  rs_text text;
  size_t count; /* all that were found, written or not */
  bool memory;  /* an allocation failed: the config itself may be good */
} rs_problems;

void rs_problems_clear(rs_problems *problems) RS_NONNULL(1);

/* Where a value stands in the config, as in "methods[1].factor". */
typedef struct rs_path {
  char text[RS_PATH];
} rs_path;

rs_path rs_path_key(const rs_path *parent, const char *key);
rs_path rs_path_index(const rs_path *parent, size_t index);

/* "file:line:column: path = value: why". */
void rs_problem(rs_problems *problems, const rs_node *node, const rs_path *path, const char *format, ...)
    RS_PRINTF(4, 5);

/* How far a list of problems had come. */
typedef struct rs_problem_mark {
  size_t count, length; /* problems, bytes of their text */
} rs_problem_mark;

rs_problem_mark rs_problems_mark(const rs_problems *problems);

/* Takes back those since `here` that were told between `since` and it already; of those that no line is left for, all
 * together count as one. */
void rs_problems_once(rs_problems *problems, rs_problem_mark since, rs_problem_mark here);

/* A failure of the library at a node: its message, or a lack of memory, which is no fault of the config. */
void rs_problem_err(rs_problems *problems, const rs_node *node, const rs_path *path, const rs_err *why);

/* One problem for each line of a message. */
void rs_problem_lines(rs_problems *problems, const rs_node *node, const rs_path *path, const char *message);

/* The same for a key that should not be there, with the nearest of the known ones. `what` names what has no such key.
 */
void rs_problem_unknown_key(rs_problems *problems, const rs_node *child, const rs_path *path, const char *what,
                            const char *const *known, size_t count);

/* The child of a mapping whose key is a slip of the pen for `key`, so that what is missing is told once; or NULL.
 * Borrows. */
const rs_node *rs_mistyped(const rs_node *mapping, const char *key);

/* Reports every key of the mapping that is not among `known`. */
void rs_check_keys(rs_problems *problems, const rs_node *mapping, const rs_path *path, const char *what,
                   const char *const *known, size_t count);

/* Whether the node is of the kind; reports it otherwise, as "must be <what>". */
bool rs_expect(rs_problems *problems, const rs_node *node, const rs_path *path, rs_node_kind kind, const char *what);

/* A scalar checked against a parameter spec. False (and reported) when wrong. */
bool rs_read_value(rs_problems *problems, const rs_node *node, const rs_path *path, const rs_param *param,
                   rs_value *value);

/* A whole number from `min` to `max`; `fallback` when the node is NULL or wrong. */
size_t rs_read_count(rs_problems *problems, const rs_node *node, const rs_path *path, double min, double max,
                     size_t fallback);
double rs_read_real(rs_problems *problems, const rs_node *node, const rs_path *path, double min, double max,
                    double fallback);

/* The scalar's text, or NULL (and reported) when the node is no scalar. Borrows. */
const char *rs_read_word(rs_problems *problems, const rs_node *node, const rs_path *path);

/* Reports an allocation failure once. */
void rs_problem_memory(rs_problems *problems);

#endif
