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

/* ---- questions --------------------------------------------------------------------------------------------------- */

/* What a query asks. Release with rs_asked_clear. */
typedef struct rs_asked {
  const rs_explorer *explorer;
  const rs_explore_param *params; /* (param_count,) borrowed */
  size_t param_count;
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

rs_status rs_asked_read(const rs_explorer *explorer, const rs_explore_param *params, size_t count, rs_asked *asked,
                        rs_err *err);
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

/* ---- requests ---------------------------------------------------------------------------------------------------- */

/* What decides whether a request is answered; strings as they came, NULL where a header is not there. */
typedef struct rs_explore_request {
  const char *method; /* "GET" */
  const char *path;   /* decoded, without a query */
  const char *host, *origin;
  size_t hosts, origins; /* how many such headers there are */
  bool body;             /* one is announced */
} rs_explore_request;

/* What may be asked, and of whom. */
typedef struct rs_explore_gate {
  char token[RS_EXPLORE_TOKEN + 1];
  unsigned port;
} rs_explore_gate;

/* 0 where the request may be answered, and in *path what stands behind "/TOKEN/" (borrowed); else an HTTP status (403,
 * 404, 405, 400) and its sentence in *why. */
unsigned rs_explore_admit(const rs_explore_gate *gate, const rs_explore_request *request, const char **path,
                          const char **why);

#endif
