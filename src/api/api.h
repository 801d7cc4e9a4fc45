/* What the files of the public interface share. */
#ifndef ROPESCOPE_API_API_H
#define ROPESCOPE_API_API_H

#include "config/config.h"

#include "ropescope.h"

/* ---- api --------------------------------------------------------------------------------------------------------- */

/* Errors, sizes, copies. */

/* Tells *error (which may be NULL) what `err` and `problems` (which may be NULL) say, and returns the status: RS_MEMORY
 * where there is none to say it. */
ropescope_status rs_api_fail(ropescope_error **error, const rs_err *err, const rs_problems *problems);

/* Ends the making of *object, which `release` frees: RS_OK, or what rs_api_fail returns, and *object is NULL. Clears
 * `problems`, which may be NULL. */
#define RS_API_END(status, object, release, error, err, problems)                                                      \
  ((status) != RS_OK ? release(*(object)), *(object) = NULL : *(object), rs_api_end(status, error, err, problems))

/* The same of what has no object. */
ropescope_status rs_api_end(rs_status status, ropescope_error **error, const rs_err *err, rs_problems *problems);

/* Functions that hand out one thing of an object, or of each of so many; the declaration behind them takes the
 * semicolon. */
#define RS_API_GET(type, function, object, value)                                                                      \
  type function(const ropescope_##object *object) {                                                                    \
    return value;                                                                                                      \
  }                                                                                                                    \
  type function(const ropescope_##object *object)
#define RS_API_AT(type, function, object, count, value)                                                                \
  type function(const ropescope_##object *object, size_t index) {                                                      \
    return index < (count) ? (value) : NULL;                                                                           \
  }                                                                                                                    \
  type function(const ropescope_##object *object, size_t index)

/* RS_INPUT where a struct of the caller's is NULL or of another size than `wanted`; `what` is its type. */
rs_status rs_api_sized(const void *structure, size_t wanted, const char *what, rs_err *err);

/* RS_INPUT where a source names no model, or two. */
rs_status rs_api_model_check(const ropescope_recipe_source *source, rs_err *err);

/* What "copies" means in ropescope.h. */
size_t rs_api_copy(const double *numbers, size_t count, double *out, size_t capacity);

/* The path of a config.json: `path`, or the file in it where that is a folder. NULL: RS_MEMORY. Release with free(). */
char *rs_api_config_path(const char *path, rs_err *err);

/* Words as they are handed out: never NULL. */
static inline const char *rs_api_word(const char *word) {
  return word != NULL ? word : "";
}

/* The words of a text, which is cleared, for an object to hand out; NULL: RS_MEMORY. */
const char *rs_api_keep(rs_arena *words, rs_text *text, rs_err *err);

/* What `hf` is where a file or text is the model: its path, kept in the arena, or what the text is called; NULL where
 * both are. */
rs_status rs_api_model_name(const char *file, const char *text, rs_arena *arena, const char **name, rs_err *err);

/* The team of the calling thread: at most `threads` until rs_api_threads_restore gets what this returns; 0: all. */
int rs_api_threads_limit(size_t threads);
void rs_api_threads_restore(int before);

/* ---- library ----------------------------------------------------------------------------------------------------- */

/* Methods of the caller's. */

/* Those of a library (NULL: none), as the readers of configs take them. Borrows. */
rs_method_list rs_api_methods(const ropescope_library *library);

/* ---- frame ------------------------------------------------------------------------------------------------------- */

/* CSV text, or numbers, as columns. */

/* Reads CSV text (length bytes), which messages call `name`. RS_INPUT as rs_csv_read, RS_MEMORY; *frame is NULL then.
 */
rs_status rs_api_frame_make(const char *csv, size_t length, const char *name, ropescope_frame **frame, rs_err *err);
void rs_api_frame_free(ropescope_frame *frame);

/* What is known of a column; the words may be NULL. */
typedef struct rs_api_column {
  const char *name, *unit, *summary;
  bool integer; /* its fields are integers or empty */
} rs_api_column;

/* What is known of the column called so, where there is one; the words are copied. RS_MEMORY. */
rs_status rs_api_frame_describe(ropescope_frame *frame, const rs_api_column *column, rs_err *err);

/* A frame of numbers: an empty one, a column called so, and then all rows at once, (rows, columns), a NaN as an empty
 * field. RS_MEMORY. */
rs_status rs_api_frame_begin(ropescope_frame **frame, rs_err *err);
rs_status rs_api_frame_add(ropescope_frame *frame, const rs_api_column *column, rs_err *err);
rs_status rs_api_frame_fill(ropescope_frame *frame, const double *numbers, size_t rows, rs_err *err);

/* ---- recipe ------------------------------------------------------------------------------------------------------ */

/* What a recipe of the public interface is. */

struct ropescope_recipe {
  rs_subject subject;
  const char *text, *warning;
  ropescope_parameter *parameters; /* (parameter_count,), as all words of the arena */
  size_t parameter_count;
  ropescope_layer_kind *kinds; /* (kind_count,) */
  size_t kind_count;
  rs_arena arena;
};

/* ---- statistics -------------------------------------------------------------------------------------------------- */

/* What was observed of given queries and keys. */

enum { RS_API_OBSERVABLES = ROPESCOPE_SKIPPED_WEIGHT + 1 };

/* A curve with the name of its metric (static). */
typedef struct rs_api_curve {
  const char *name;
  ropescope_frame *frame;
} rs_api_curve;

struct ropescope_statistics {
  size_t heads, queries, bins;
  double *values; /* (heads, RS_API_OBSERVABLES, queries), as the next two of the arena */
  double *edges;  /* (bins + 1,) */
  double *mass;   /* (heads, queries, bins), or NULL */
  rs_arena arena;
  ropescope_frame *summary; /* NULL without metrics */
  rs_api_curve *curves;     /* (curve_count,) */
  size_t curve_count;
};

/* What is observed, beside the caller's struct, which has been checked. */
typedef struct rs_api_observed {
  const ropescope_attention *asked;
  rs_encoding *encoding;
  rs_mask mask;
  rs_arena arena;               /* of queries and heads */
  size_t *queries, query_count; /* positions */
  size_t *edges, bins;          /* of distance */
  size_t kv_heads;
  double factor; /* on queries */
  rs_variants metrics;
  rs_row_needs needs;
  size_t first_keys;
  size_t *heads;      /* (asked->heads,) 0, 1, ... */
  void **states;      /* (metrics.count,) of the metrics that observe */
  rs_result *results; /* (metrics.count,) */
} rs_api_observed;

/* Everything but what metrics come to. RS_INPUT, RS_DOMAIN, RS_UNSUPPORTED, RS_MEMORY. */
rs_status rs_api_observe(rs_api_observed *observed, ropescope_statistics *statistics, rs_err *err);

/* Writes all files of results into a folder that is there. RS_IO, RS_MEMORY. */
rs_status rs_api_results_write(const ropescope_results *results, const char *directory, rs_err *err);

#endif
