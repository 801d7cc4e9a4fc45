/* Structs and settings from mappings, and back: tables of parameters drive both. */
#include "records.h"
#include "config_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- files ------------------------------------------------------------------------------------------------------- */

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

/* Keeps the path by which any later run finds the file, and its tensor. */
static rs_status find_file(const char *path, const char *tensor, rs_value *value, rs_err *err) {
  RS_OWNED(rs_text) named = {0};
  free(value->file);
  value->file = realpath(path, NULL);
  if (value->file == NULL)
    return errno == ENOMEM ? rs_fail(err, RS_MEMORY, "out of memory")
                           : rs_fail_read(err, "%s: cannot be found: %s", path, strerror(errno));
  if (tensor == NULL) return RS_OK;
  rs_text_printf(&named, "%s:%s", value->file, tensor);
  free(value->file);
  value->file = named.failed ? NULL : rs_strdup(rs_text_string(&named), err);
  return value->file != NULL ? RS_OK : rs_fail(err, RS_MEMORY, "out of memory");
}

/* The file, or the numbers in it, as the value, with that path. */
static rs_status load(const char *file, const rs_param *param, rs_value *value, rs_err *err) {
  RS_TRY(param->type == RS_REALS ? load_numbers(file, param, value, err) : rs_value_parse(param, file, value, err));
  const char *tensor = param->type == RS_REALS ? rs_numbers_tensor(file) : NULL;
  char *path = rs_strdup(file, err);
  rs_status status = path != NULL ? RS_OK : RS_MEMORY;
  if (path != NULL && tensor != NULL) path[tensor - file - 1] = '\0';
  if (status == RS_OK) status = find_file(path, tensor, value, err);
  if (status == RS_OK && param->type != RS_FOLDER) status = rs_sha256_file(path, value->hash, err);
  free(path);
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

/* Reads that value. False (and reported) when wrong. */
static bool read_file(rs_problems *problems, const rs_node *node, const rs_param *param, rs_value *value) {
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

/* ---- out --------------------------------------------------------------------------------------------------------- */

static rs_value field_value(const rs_param *field, const void *structure) {
  const void *place = (const char *)structure + field->offset;
  rs_value value = {.set = true, .choice = RS_NO_WORD, .number = NAN};
  switch (field->type) {
  case RS_BOOL: value.number = *(const bool *)place; break;
  case RS_INTEGER: value.number = (double)*(const size_t *)place; break;
  case RS_CHOICE: value.choice = (int)*(const unsigned *)place; break;
  default: value.number = *(const double *)place;
  }
  return value;
}

void rs_value_json(rs_json *json, const char *key, const rs_param *param, const rs_value *value) {
  if (value->choice >= 0) {
    rs_json_string(json, key, param->words[value->choice]);
  } else if (param->type == RS_REALS) {
    rs_json_list(json, key);
    for (size_t i = 0; i < value->count; i++) rs_json_number(json, NULL, value->list[i]);
    rs_json_end(json);
  } else if (param->type == RS_BOOL) {
    rs_json_bool(json, key, value->number != 0);
  } else {
    rs_json_number(json, key, value->number);
  }
}

static bool is_none(const rs_param *field, const void *structure) {
  const rs_value value = field_value(field, structure);
  return field->type == RS_CHOICE ? value.choice == 0 : value.number == 0;
}

void rs_record_write(rs_json *json, const rs_record *record, const void *structure) {
  for (size_t i = 0; i < record->field_count; i++) {
    const rs_param *field = &record->fields[i];
    const rs_value value = field_value(field, structure);
    if (!(field->later && is_none(field, structure))) rs_value_json(json, field->name, field, &value);
  }
  for (size_t i = 0; i < record->part_count; i++) {
    const rs_record_part *part = &record->parts[i];
    const void *inner = (const char *)structure + part->offset;
    if (part->record->later && is_none(&part->record->fields[0], inner)) continue;
    rs_json_object(json, part->key);
    rs_record_write(json, part->record, inner);
    rs_json_end(json);
  }
}

void rs_record_put(rs_text *yaml, const rs_record *record, const void *structure) {
  for (size_t i = 0; i < record->field_count; i++) {
    const rs_value value = field_value(&record->fields[i], structure);
    rs_text_printf(yaml, "%s%s: ", i > 0 ? ", " : "", record->fields[i].name);
    rs_value_write(&record->fields[i], &value, yaml);
  }
}

/* ---- one value --------------------------------------------------------------------------------------------------- */

/* Reads numbers into `list`, those of inner lists one behind the other; returns how many. */
static size_t read_numbers(rs_problems *problems, const rs_node *node, const rs_param *param, double *list) {
  size_t count = 0;
  for (size_t i = 0; i < node->count; i++) {
    const rs_node *item = &node->items[i];
    bool inner = param->tuple > 0 && item->kind == RS_SEQUENCE;
    if (inner && item->count != param->tuple)
      rs_problem(problems, item, "must be %zu numbers", param->tuple);
    else if (inner)
      count += read_numbers(problems, item, param, list + count);
    else
      list[count++] = rs_read_real(problems, item, param->min, param->max, param->min);
  }
  return count;
}

static bool read_list(rs_problems *problems, const rs_node *node, const rs_param *param, rs_value *value) {
  size_t before = problems->count, room = node->count * (param->tuple > 0 ? param->tuple : 1), count = 0;
  double *list = rs_alloc(room, sizeof *list, NULL);
  rs_err why = {0};
  if (list == NULL)
    rs_problem_memory(problems);
  else
    count = read_numbers(problems, node, param, list);
  if (problems->count == before && rs_value_list(param, list, count, value, &why) != RS_OK)
    rs_problem_err(problems, node, &why);
  free(list);
  return problems->count == before;
}

bool rs_read_param(rs_problems *problems, const rs_node *node, const rs_param *param, rs_value *value) {
  bool list = param->type == RS_REALS && node->kind == RS_SEQUENCE;
  value->given = list                         ? read_list(problems, node, param, value)
                 : rs_names_file(node, param) ? read_file(problems, node, param, value)
                                              : rs_read_value(problems, node, param, value);
  return value->given;
}

/* ---- mappings ---------------------------------------------------------------------------------------------------- */

const rs_node *rs_member(rs_problems *problems, const rs_node *parent, const char *key) {
  const rs_node *child = rs_node_get(parent, key);
  if (child == NULL) rs_problem(problems, parent, "has no %s", key);
  return child;
}

const rs_node *rs_member_of(rs_problems *problems, const rs_node *parent, const char *key, rs_node_kind kind,
                            const char *what) {
  const rs_node *child = rs_member(problems, parent, key);
  return child != NULL && rs_expect(problems, child, kind, what) ? child : NULL;
}

/* Reports keys that are neither the record's nor those of `settings` (NULL: none). */
static void refuse_others(rs_problems *problems, const rs_node *node, const rs_record *record,
                          const rs_settings *settings) {
  size_t count = 0, others = 0, more = settings != NULL ? settings->count : 0;
  while (record->others != NULL && record->others[others] != NULL) others++;
  const char **known = rs_alloc(others + record->field_count + record->part_count + more, sizeof *known, NULL);
  if (known == NULL) {
    rs_problem_memory(problems);
    return;
  }
  for (size_t i = 0; i < others; i++) known[count++] = record->others[i];
  for (size_t i = 0; i < record->field_count; i++) known[count++] = record->fields[i].name;
  for (size_t i = 0; i < record->part_count; i++) known[count++] = record->parts[i].key;
  for (size_t i = 0; i < more; i++) known[count++] = settings->params[i]->name;
  rs_check_keys(problems, node, record->what, known, count);
  free(known);
}

static const rs_node *choose(const rs_chooser *chooser, const rs_node *child) {
  return chooser != NULL ? chooser->choose(chooser->of, child) : child;
}

static void read_field(rs_problems *problems, const rs_node *node, const rs_record *record, const rs_param *field,
                       const rs_chooser *chooser, void *structure) {
  const rs_node *child = rs_node_get(node, field->name);
  rs_value value = {.set = false};
  if (child == NULL && !record->partial && !field->later)
    rs_problem(problems, node, "has no %s", field->name);
  else if (child != NULL)
    (void)rs_read_value(problems, choose(chooser, child), field, &value);
  else if (field->fallback != NULL && record->partial)
    (void)rs_value_parse(field, field->fallback, &value, NULL);
  if (value.set) rs_bind_value(field, &value, structure);
}

void rs_record_read(rs_problems *problems, const rs_node *node, const rs_record *record, const rs_chooser *chooser,
                    void *structure) {
  if (!rs_expect(problems, node, RS_MAPPING, record->what)) return;
  refuse_others(problems, node, record, NULL);
  for (size_t i = 0; i < record->field_count; i++)
    read_field(problems, node, record, &record->fields[i], chooser, structure);
  for (size_t i = 0; i < record->part_count; i++) {
    const rs_record_part *part = &record->parts[i];
    const rs_node *child = part->record->later ? rs_node_get(node, part->key) : rs_member(problems, node, part->key);
    if (child != NULL) rs_record_read(problems, child, part->record, chooser, (char *)structure + part->offset);
  }
}

void rs_refuse_keys(rs_problems *problems, const rs_node *node, const char *what, const char *const *others,
                    const rs_settings *settings) {
  const rs_record record = {.what = what, .others = others};
  refuse_others(problems, node, &record, settings);
}

void rs_settings_read(rs_problems *problems, const rs_node *node, const char *what, const char *const *others,
                      const rs_chooser *chooser, rs_settings *settings) {
  rs_refuse_keys(problems, node, what, others, settings);
  for (size_t i = 0; i < node->count; i++) {
    int index = rs_settings_find(settings, node->items[i].key);
    if (index < 0) continue;
    rs_value value = {0};
    if (!rs_read_param(problems, choose(chooser, &node->items[i]), settings->params[index], &value)) continue;
    rs_value_clear(&settings->values[index]);
    settings->values[index] = value;
  }
}
