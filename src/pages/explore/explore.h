/* What the parts of explore share. */
#ifndef ROPESCOPE_PAGES_EXPLORE_EXPLORE_H
#define ROPESCOPE_PAGES_EXPLORE_EXPLORE_H

#include <stddef.h>

#include "pages/pages.h"

struct rs_explorer {
  rs_subject start; /* its length is at most RS_EXPLORE_LONGEST */
  size_t length;    /* that it had before */
  rs_arena words;   /* those that follow */
  char *hf;         /* the file as it was named; NULL: a preset */
  char *preset;     /* NULL: a file */
  char *layers;     /* NULL: the chosen ones */
  bool piped;       /* the file came by standard input */
  bool written;     /* the recipe is somebody's own, not what the model publishes */
};

/* How queries name the file. */
#define RS_FILE_MODEL "file"

/* ---- queries ----------------------------------------------------------------------------------------------------- */

enum { RS_QUERY_PARAMS = 64 };

typedef struct rs_query_param {
  const char *name, *value; /* decoded */
} rs_query_param;

/* Release with rs_query_clear. */
typedef struct rs_query {
  char *text;
  rs_query_param params[RS_QUERY_PARAMS];
  size_t count;
} rs_query;

/* Takes the query of a URL apart. RS_INPUT for what is longer than RS_EXPLORE_QUERY, has more than RS_QUERY_PARAMS
 * parameters, one twice or without a name, a wrong escape, or anything but printable ASCII. Cleared on failure. */
rs_status rs_query_read(const char *text, rs_query *query, rs_err *err);
void rs_query_clear(rs_query *query);

/* The value of a parameter, or NULL. Borrows. */
const char *rs_query_get(const rs_query *query, const char *name);

/* Adds "name=value", escaped, with a '&' before it where `text` is not empty. */
void rs_query_add(rs_text *text, const char *name, const char *value);

/* ---- questions --------------------------------------------------------------------------------------------------- */

/* What a query asks. Release with rs_asked_clear. */
typedef struct rs_asked {
  const rs_explorer *explorer;
  rs_arena words;     /* the two that follow */
  char *preset;       /* NULL: the explorer's file */
  char *layers;       /* NULL: the chosen ones */
  rs_profile profile; /* of the preset; without kinds: the explorer's own */
  size_t kind;        /* of that profile */
  bool narrowed;      /* another head_dim than the model's */
  rs_model model;
  rs_recipe given;  /* as written, */
  rs_recipe recipe; /* and resolved for the model */
  size_t length;
} rs_asked;

rs_status rs_asked_read(const rs_explorer *explorer, const rs_query *query, rs_asked *asked, rs_err *err);
void rs_asked_clear(rs_asked *asked);

/* The profile of the model that is asked about. */
const rs_profile *rs_asked_profile(const rs_asked *asked);

/* The command that prints the same frequencies (or what `show` has of the method), and a config whose run computes the
 * same curves. */
void rs_asked_command(const rs_asked *asked, rs_text *text);
void rs_asked_config(const rs_asked *asked, rs_text *text);

/* The keys of a config.json, as transformers 5 reads them, that say what is shown of the layers that are asked about;
 * nothing where no keys do. RS_MEMORY. */
rs_status rs_asked_fragment(const rs_asked *asked, rs_text *text, rs_err *err);

/* ---- curves ------------------------------------------------------------------------------------------------------ */

/* The metrics that an answer has; ends at NULL. */
extern const char *const rs_explored_metrics[];

/* The keys of the last query whose distances the curve of decay shows: log-spaced, from that query's own token to the
 * first. RS_MEMORY. Release with free(). */
rs_status rs_explored_keys(size_t length, size_t **keys, size_t *count, rs_err *err);

/* Writes what they say of the tables, which hold those keys: for each an object with its "scalars", and its "curve" as
 * lists by column. */
rs_status rs_curves_write(const rs_asked *asked, const rs_encoding *encoding, rs_json *json, rs_err *err);

#endif
