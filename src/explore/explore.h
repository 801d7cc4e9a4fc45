/* explore/explore.h: one recipe at a time, answered while somebody moves its parameters: what is asked as the query
 * of a URL is answered as JSON, and a server on this machine alone serves both to a page. Every number comes from the
 * tables and metrics that `show` and `run` read. */
#ifndef ROPESCOPE_EXPLORE_H
#define ROPESCOPE_EXPLORE_H

#include "config/config.h"

/* ---- questions and answers --------------------------------------------------------------------------------------- */

enum {
  RS_EXPLORE_LONGEST = 1 << 20, /* tokens: the longest context that is answered at once */
  RS_EXPLORE_LIST = 512,        /* numbers of a list in a query */
  RS_EXPLORE_POINTS = 288,      /* distances of a curve, at most: fewer than a picture has columns */
  RS_EXPLORE_QUERY = 16384      /* bytes of a query */
};

/* Where a page begins, and the model that it can always go back to. Read-only once made: any thread. */
typedef struct rs_explorer rs_explorer;

/* The subject that `in` names by `hf` or `preset`; a model that publishes no recipe begins with its `fallback`. A
 * length past RS_EXPLORE_LONGEST becomes that. Problems and statuses as of rs_subject_read; RS_UNSUPPORTED for a recipe
 * with a list that no query holds. Release with rs_explorer_free. */
rs_status rs_explorer_create(const rs_subject_in *in, rs_explorer **explorer, rs_problems *problems, rs_err *err)
    RS_NONNULL(1, 2, 3);
void rs_explorer_free(rs_explorer *explorer);

/* The length that the subject has, tokens, be it past RS_EXPLORE_LONGEST or not. */
size_t rs_explorer_subject_length(const rs_explorer *explorer) RS_NONNULL(1);

/* What there is to choose from, as JSON: models, methods with the specs of their parameters, columns, and in "query"
 * the query that is the beginning. */
rs_status rs_explore_choices(const rs_explorer *explorer, rs_text *json, rs_err *err) RS_NONNULL(1, 2);

/* The answer to a query as JSON: the resolved recipe, what it comes to, its frequencies, angles and decay, and the
 * command and config that give the same. Tables are made for the distances of the curves alone (RS_EXPLORE_POINTS);
 * where the kernel is a sum of waves, its extremes between them are found, too. The query is that of a URL
 * ("method=yarn&factor=8"), of
 *
 *   model      "file" (of rs_subject_in's hf), or a preset; the explorer's without
 *   layers     which of its layers, as in rs_profile_find
 *   head_dim   in place of the model's, from 2 to 1024, even; rotary dims follow in proportion
 *   length     tokens, from 1 to RS_EXPLORE_LONGEST; the explorer's without
 *   method     its name; that of the explorer's recipe without
 *
 * and the method's parameters, each at most once. RS_INPUT, with the parameter as subject, for a name that is not known
 * or given twice, a value that is out of range, not finite or no value; RS_DOMAIN and RS_UNSUPPORTED where the recipe
 * is undefined there; RS_MEMORY. The text is cleared on failure. */
rs_status rs_explore_answer(const rs_explorer *explorer, const char *query, rs_text *json, rs_err *err)
    RS_NONNULL(1, 2, 3);

/* A failure as the page reads it: {"error": "factor: must be a number", "parameter": "factor"}. */
void rs_explore_error(const rs_err *err, rs_text *json) RS_NONNULL(1, 2);

/* ---- requests ---------------------------------------------------------------------------------------------------- */

enum { RS_EXPLORE_TOKEN = 32 }; /* hexadecimal digits */

/* What decides whether a request is answered; strings as they came, NULL where a header is not there. */
typedef struct rs_explore_request {
  const char *method; /* "GET" */
  const char *target; /* path and query, not decoded */
  const char *host, *origin;
  size_t hosts, origins; /* how many such headers there are */
  bool body;             /* one is announced */
} rs_explore_request;

/* What may be asked, and of whom. */
typedef struct rs_explore_gate {
  char token[RS_EXPLORE_TOKEN + 1];
  unsigned port;
} rs_explore_gate;

/* 0 where the request may be answered, and in *path what stands behind "/TOKEN/" (borrowed from the target); else an
 * HTTP status (403, 404, 405, 400, 414) and its sentence in *why. */
unsigned rs_explore_admit(const rs_explore_gate *gate, const rs_explore_request *request, const char **path,
                          const char **why) RS_NONNULL(1, 2, 3, 4);

/* ---- the server -------------------------------------------------------------------------------------------------- */

/* Whether this build has it (libmicrohttpd). */
bool rs_explore_serves(void);

typedef struct rs_explore_server rs_explore_server;

/* Serves the page and the answers on 127.0.0.1, on `port` (0: any that is free), on a thread of its own, until it is
 * stopped. `explorer` outlives it. RS_IO with the port and the reason; RS_UNSUPPORTED without the library. */
rs_status rs_explore_start(const rs_explorer *explorer, unsigned port, rs_explore_server **server, rs_err *err)
    RS_NONNULL(1, 3);

/* "http://127.0.0.1:PORT/TOKEN/". Borrows. */
const char *rs_explore_url(const rs_explore_server *server) RS_NONNULL(1);

/* Ends what is being answered, and the thread. */
void rs_explore_stop(rs_explore_server *server);

#endif
