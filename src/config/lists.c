/* Files that a config names: a value itself, or the list that one holds (`short_factor: factors.json`). */
#include "config_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

char *rs_beside(const rs_node *node, const char *path) {
  const char *slash = strrchr(node->file, '/');
  if (path[0] == '/' || slash == NULL) return rs_strdup(path, NULL);
  rs_text full = {0};
  rs_text_add(&full, node->file, (size_t)(slash - node->file) + 1);
  rs_text_puts(&full, path);
  char *copy = full.failed ? NULL : rs_strdup(rs_text_string(&full), NULL);
  rs_text_clear(&full);
  return copy;
}

bool rs_names_file(const rs_node *node, const rs_param *param) {
  if (node->kind != RS_SCALAR) return false;
  if (param->type == RS_FILE || param->type == RS_FOLDER) return true;
  return param->type == RS_REALS && rs_numbers_named(node->text);
}

static rs_status check_range(const char *file, const rs_param *param, const double *list, size_t count, rs_err *err) {
  for (size_t i = 0; i < count; i++) {
    char number[RS_NUMBER_CHARS], least[RS_NUMBER_CHARS], most[RS_NUMBER_CHARS];
    if (list[i] >= param->min && list[i] <= param->max) continue;
    rs_number_format(list[i], number);
    rs_number_format(param->min, least);
    rs_number_format(param->max, most);
    return rs_fail(err, RS_INPUT, "%s: number %zu (from 0) is %s, must be from %s to %s", file, i, number, least, most);
  }
  return RS_OK;
}

static rs_status load_numbers(const char *file, const rs_param *param, rs_value *value, rs_err *err) {
  double *list = NULL;
  size_t count = 0;
  RS_TRY(rs_numbers_read(file, &list, &count, err));
  rs_status status = check_range(file, param, list, count, err);
  if (status == RS_OK) status = rs_value_list(param, list, count, value, err);
  free(list);
  return status;
}

/* The file, or the numbers in it, as the value, with the path by which any later run finds it. */
static rs_status load(const char *file, const rs_param *param, rs_value *value, rs_err *err) {
  RS_TRY(param->type == RS_REALS ? load_numbers(file, param, value, err) : rs_value_parse(param, file, value, err));
  rs_status status = RS_OK;
  free(value->file);
  value->file = realpath(file, NULL);
  if (value->file == NULL)
    status = errno == ENOMEM ? rs_fail(err, RS_MEMORY, "out of memory")
                             : rs_fail_read(err, "%s: cannot be found: %s", file, strerror(errno));
  if (status == RS_OK && param->type != RS_FOLDER) status = rs_sha256_file(file, value->hash, err);
  if (status != RS_OK) rs_value_clear(value);
  return status;
}

/* The problem names the value: a reason that begins with the same words says them once. */
static void drop_name(const char *file, const char *value, rs_err *err) {
  size_t length = strlen(file);
  const char *reason = err->message + length;
  if (strcmp(file, value) != 0 || strncmp(err->message, file, length) != 0 || strncmp(reason, ": ", 2) != 0) return;
  memmove(err->message, reason + 2, strlen(reason + 2) + 1);
}

bool rs_read_file(rs_problems *problems, const rs_node *node, const rs_param *param, rs_value *value) {
  rs_err why = {0};
  char *file = rs_beside(node, node->text);
  if (file == NULL) {
    rs_problem_memory(problems);
  } else if (load(file, param, value, &why) != RS_OK) {
    drop_name(file, node->text, &why);
    rs_problem_err(problems, node, &why);
  }
  bool good = file != NULL && why.status == RS_OK;
  free(file);
  return good;
}
