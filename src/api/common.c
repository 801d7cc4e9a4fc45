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

const char *rs_api_keep(rs_api_strings *strings, rs_text *text, rs_err *err) {
  rs_status status = rs_text_check(text, err);
  char *words = status == RS_OK ? rs_strdup(rs_text_string(text), err) : NULL;
  rs_text_clear(text);
  if (words == NULL || RS_GROW(strings->items, &strings->capacity, strings->count + 1, err) != RS_OK) {
    free(words);
    return NULL;
  }
  strings->items[strings->count++] = words;
  return words;
}

void rs_api_strings_clear(rs_api_strings *strings) {
  for (size_t i = 0; i < strings->count; i++) free(strings->items[i]);
  free(strings->items);
  *strings = (rs_api_strings){0};
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
