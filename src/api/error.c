/* What all files share: failures as objects (the message as a program prints it, and what it says line by line, taken
 * apart), sizes, copies, teams. */
#include "api.h"

#include <stdio.h>
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
  RS_FREED char *path = rs_api_config_path(file, err);
  if (path == NULL) return RS_MEMORY;
  *name = rs_arena_text(arena, path);
  return rs_arena_check(arena, err);
}

const char *rs_api_keep(rs_arena *strings, rs_text *text, rs_err *err) {
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

struct ropescope_error {
  ropescope_status status;
  char *message;
  char subject[sizeof((rs_err *)0)->subject];
  ropescope_problem problems[RS_PROBLEMS_SHOWN];
  size_t count;
  char *words; /* that the problems point into */
};

/* Where there is no memory to tell that there is none. Never changed, never freed. */
static char no_memory_message[] = "out of memory";
static ropescope_error no_memory = {.status = ROPESCOPE_MEMORY, .message = no_memory_message};

_Static_assert((int)ROPESCOPE_OK == RS_OK && (int)ROPESCOPE_INPUT == RS_INPUT && (int)ROPESCOPE_DOMAIN == RS_DOMAIN &&
                   (int)ROPESCOPE_UNSUPPORTED == RS_UNSUPPORTED && (int)ROPESCOPE_MEMORY == RS_MEMORY &&
                   (int)ROPESCOPE_IO == RS_IO && (int)ROPESCOPE_INTERNAL == RS_INTERNAL &&
                   (int)ROPESCOPE_STOPPED == RS_STOPPED && (int)ROPESCOPE_BUSY == RS_BUSY,
               "a status goes out as it is");

/* ---- problems ---------------------------------------------------------------------------------------------------- */

/* Reads ":12" before a ':', and steps onto that; 0 where there is none. *at is a ':'. */
static size_t read_number(char **at) {
  char *end;
  if (strspn(*at + 1, "0123456789") == 0) return 0;
  unsigned long number = strtoul(*at + 1, &end, 10);
  if (*end != ':') return 0;
  *at = end;
  return number;
}

/* Cuts "file:line:column: rest" or "file:line: rest" behind the file; returns the rest, or NULL. */
static char *cut_place(char *line, ropescope_problem *problem) {
  for (char *colon = strchr(line, ':'); colon != NULL; colon = strchr(colon + 1, ':')) {
    char *at = colon;
    size_t number = read_number(&at);
    if (number == 0) continue;
    problem->line = number;
    problem->column = read_number(&at);
    if (at[1] != ' ') continue;
    *colon = '\0';
    problem->file = line;
    return at + 2;
  }
  problem->line = problem->column = 0;
  return NULL;
}

/* A hint stands in the brackets that end a line. */
static const char *cut_hint(char *text) {
  size_t length = strlen(text), open = 0;
  if (length == 0 || text[length - 1] != ')') return "";
  for (size_t i = length; i-- > 1;) {
    if (text[i] == ')') open++;
    if (text[i] == '(' && --open == 0) {
      if (text[i - 1] != ' ') return "";
      text[length - 1] = text[i - 1] = '\0';
      return text + i + 1;
    }
  }
  return "";
}

/* A path of keys ends before " = " or ": ". */
static size_t key_length(const char *text) {
  size_t length = 0;
  while (text[length] != '\0' && strchr(" :", text[length]) == NULL) length++;
  return strncmp(text + length, " = ", 3) == 0 || strncmp(text + length, ": ", 2) == 0 ? length : 0;
}

/* What is told of a line: the line itself, cut, and its key, which is a copy. */
static bool read_line(char *line, bool always, char *key, ropescope_problem *problem) {
  *problem = (ropescope_problem){.file = "", .key = "", .hint = ""};
  char *text = cut_place(line, problem);
  if (text == NULL && !always) return false;
  problem->text = text != NULL ? text : line;
  problem->hint = cut_hint(text != NULL ? text : line);
  size_t length = text != NULL ? key_length(problem->text) : 0;
  if (length == 0) return true;
  memcpy(key, problem->text, length);
  key[length] = '\0';
  problem->key = key;
  return true;
}

/* The lines of `text`, which is cut to pieces; `always`: also those without a place. Keys go to `keys`. */
static void read_lines(char *text, bool always, char *keys, ropescope_error *error) {
  for (char *line = text, *next; line != NULL && error->count < RS_PROBLEMS_SHOWN; line = next) {
    next = strchr(line, '\n');
    if (next != NULL) *next++ = '\0';
    size_t length = strlen(line);
    if (length > 0 && read_line(line, always, keys + (line - text), &error->problems[error->count])) error->count++;
  }
}

/* ---- errors ------------------------------------------------------------------------------------------------------ */

/* Room for problems, then for the message, each twice: as it is cut, and its keys. */
static char *list_problems(const rs_err *err, const rs_problems *problems, ropescope_error *error) {
  const char *told = problems != NULL ? rs_text_string(&problems->text) : "";
  size_t lines = strlen(told) + 1, message = strlen(err->message) + 1;
  char *words = rs_alloc(2 * (lines + message), 1, NULL);
  if (words == NULL) return NULL;
  char *said = words + 2 * lines;
  memcpy(words, told, lines);
  memcpy(said, err->message, message);
  read_lines(words, true, words + lines, error);
  read_lines(said, false, said + message, error);
  return words;
}

static ropescope_error *make_error(const rs_err *err, const rs_problems *problems) {
  rs_text text = {0};
  ropescope_error *error = rs_alloc(1, sizeof *error, NULL);
  if (error == NULL) return NULL;
  if (problems != NULL && problems->text.length > 0) rs_text_printf(&text, "%s\n", rs_text_string(&problems->text));
  rs_text_printf(&text, "%s%s%s", err->subject, *err->subject != '\0' ? ": " : "", err->message);
  error->status = (ropescope_status)err->status;
  snprintf(error->subject, sizeof error->subject, "%s", err->subject);
  error->message = text.data;
  error->words = list_problems(err, problems, error);
  if (!text.failed && text.data != NULL && error->words != NULL) return error;
  rs_text_clear(&text);
  free(error->words);
  free(error);
  return NULL;
}

ropescope_status rs_api_fail(ropescope_error **error, const rs_err *err, const rs_problems *problems) {
  bool cut = problems != NULL && problems->text.failed; /* what is wrong did not fit in memory */
  if (error == NULL) return cut ? ROPESCOPE_MEMORY : (ropescope_status)err->status;
  ropescope_error *made = cut ? NULL : make_error(err, problems);
  *error = made != NULL ? made : &no_memory;
  return (*error)->status;
}

ropescope_status rs_api_end(rs_status status, ropescope_error **error, const rs_err *err, rs_problems *problems) {
  ropescope_status said = status == RS_OK ? ROPESCOPE_OK : rs_api_fail(error, err, problems);
  if (problems != NULL) rs_problems_clear(problems);
  return said;
}

ropescope_status ropescope_error_status(const ropescope_error *error) {
  return error != NULL ? error->status : ROPESCOPE_OK;
}

const char *ropescope_error_message(const ropescope_error *error) {
  return error != NULL ? error->message : "";
}

const char *ropescope_error_subject(const ropescope_error *error) {
  return error != NULL ? error->subject : "";
}

const ropescope_problem *ropescope_error_problem(const ropescope_error *error, size_t index) {
  return error != NULL && index < error->count ? &error->problems[index] : NULL;
}

void ropescope_error_free(ropescope_error *error) {
  if (error == NULL || error == &no_memory) return;
  free(error->message);
  free(error->words);
  free(error);
}

const char *ropescope_status_name(ropescope_status status) {
  return status >= ROPESCOPE_OK && status <= ROPESCOPE_BUSY ? rs_status_name((rs_status)status) : "unknown";
}
