/* What the files of the public interface share: errors, sizes, copies. Private to the api layer. */
#ifndef ROPESCOPE_API_API_H
#define ROPESCOPE_API_API_H

#include "ropescope.h"

#include "config/config.h"

/* Tells *error (which may be NULL) what `err` and `problems` (which may be NULL) say, and returns the status: RS_MEMORY
 * where there is none to say it. */
ropescope_status rs_api_fail(ropescope_error **error, const rs_err *err, const rs_problems *problems);

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

/* Words that an object hands out. Zero-initialise. */
typedef struct rs_api_strings {
  char **items; /* owned, each by itself: they never move */
  size_t count, capacity;
} rs_api_strings;

/* Takes the text over, whatever becomes of it, and returns its words; NULL: RS_MEMORY. */
const char *rs_api_keep(rs_api_strings *strings, rs_text *text, rs_err *err);
void rs_api_strings_clear(rs_api_strings *strings);

/* The team of the calling thread: at most `threads` until rs_api_threads_restore gets what this returns; 0: all. */
int rs_api_threads_limit(size_t threads);
void rs_api_threads_restore(int before);

#endif
