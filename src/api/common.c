/* Sizes of structs, copies of numbers, paths and threads, as every function of the interface has them. */
#include "api.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#ifdef _OPENMP
#include <omp.h>
#endif

rs_status rs_api_sized(const void *structure, size_t wanted, const char *what, rs_err *err) {
  if (structure == NULL) return rs_fail(err, RS_INPUT, "a %s is missing", what);
  size_t size;
  memcpy(&size, structure, sizeof size);
  if (size == wanted) return RS_OK;
  return rs_fail_on(err, RS_INPUT, "size", "is %zu where %zu is the size of a %s (set it to sizeof)", size, wanted,
                    what);
}

size_t rs_api_copy(const double *numbers, size_t count, double *out, size_t capacity) {
  if (out != NULL && capacity >= count && count > 0) memcpy(out, numbers, count * sizeof *out);
  return count;
}

rs_status rs_api_model_check(const ropescope_recipe_source *source, rs_err *err) {
  RS_TRY(rs_api_sized(source, sizeof *source, "ropescope_recipe_source", err));
  bool file = source->file != NULL || source->text != NULL;
  if (file && source->preset != NULL)
    return rs_fail_on(err, RS_INPUT, "preset", "stands beside a file or text: one of them names the model");
  if (!file && source->preset == NULL)
    return rs_fail(err, RS_INPUT, "no model is named (file, text or preset names one)");
  return RS_OK;
}

char *rs_api_config_path(const char *path, rs_err *err) {
  struct stat info;
  bool folder = stat(path, &info) == 0 && S_ISDIR(info.st_mode);
  return folder ? rs_path_join(path, "config.json", err) : rs_strdup(path, err);
}

rs_status rs_api_model_name(const char *file, const char *text, rs_arena *arena, const char **name, rs_err *err) {
  *name = text == NULL ? NULL : file != NULL ? file : "config.json";
  if (text != NULL || file == NULL) return RS_OK;
  char *path = rs_api_config_path(file, err);
  if (path == NULL) return RS_MEMORY;
  *name = rs_arena_text(arena, path);
  free(path);
  return rs_arena_check(arena, err);
}

const char *rs_api_keep(rs_api_strings *strings, rs_text *text, rs_err *err) {
  const char *words = rs_text_check(text, err) == RS_OK ? rs_arena_text(strings, rs_text_string(text)) : NULL;
  strings->failed |= words == NULL;
  rs_text_clear(text);
  return rs_arena_check(strings, err) == RS_OK ? words : NULL;
}

int rs_api_threads_limit(size_t threads) {
#ifdef _OPENMP
  int before = omp_get_max_threads();
  if (threads > 0 && threads < (size_t)before) omp_set_num_threads((int)threads);
  return before;
#else
  (void)threads;
  return 1;
#endif
}

void rs_api_threads_restore(int before) {
#ifdef _OPENMP
  omp_set_num_threads(before);
#else
  (void)before;
#endif
}
