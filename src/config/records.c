/* Structs as JSON objects: one table of their fields drives writing and strict reading. */
#include "records.h"

#include <string.h>

/* ---- out --------------------------------------------------------------------------------------------------------- */

static void write_field(rs_json *json, const rs_param *field, const void *place) {
  switch (field->type) {
  case RS_BOOL: rs_json_bool(json, field->name, *(const bool *)place); break;
  case RS_INTEGER: rs_json_number(json, field->name, (double)*(const size_t *)place); break;
  case RS_CHOICE: rs_json_string(json, field->name, field->words[*(const unsigned *)place]); break;
  default: rs_json_number(json, field->name, *(const double *)place);
  }
}

void rs_record_write(rs_json *json, const rs_record *record, const void *structure) {
  const char *base = structure;
  for (size_t i = 0; i < record->field_count; i++)
    write_field(json, &record->fields[i], base + record->fields[i].offset);
  for (size_t i = 0; i < record->part_count; i++) {
    rs_json_object(json, record->parts[i].key);
    rs_record_write(json, record->parts[i].record, base + record->parts[i].offset);
    rs_json_end(json);
  }
}

/* ---- in ---------------------------------------------------------------------------------------------------------- */

const rs_node *rs_member(rs_problems *problems, const rs_node *parent, const rs_path *path, const char *key,
                         rs_path *place) {
  *place = rs_path_key(path, key);
  const rs_node *child = rs_node_get(parent, key);
  if (child == NULL) rs_problem(problems, parent, path, "has no %s", key);
  return child;
}

const rs_node *rs_member_of(rs_problems *problems, const rs_node *parent, const rs_path *path, const char *key,
                            rs_node_kind kind, const char *what, rs_path *place) {
  const rs_node *child = rs_member(problems, parent, path, key, place);
  return child != NULL && rs_expect(problems, child, place, kind, what) ? child : NULL;
}

static void read_field(rs_problems *problems, const rs_node *node, const rs_path *path, const rs_param *field,
                       void *place) {
  rs_value value;
  if (!rs_read_value(problems, node, path, field, &value)) return;
  switch (field->type) {
  case RS_BOOL: *(bool *)place = value.number != 0; break;
  case RS_INTEGER: *(size_t *)place = (size_t)value.number; break;
  case RS_CHOICE: *(unsigned *)place = (unsigned)value.choice; break;
  default: *(double *)place = value.number;
  }
}

/* Reports keys that belong to nobody. */
static void refuse_others(rs_problems *problems, const rs_node *node, const rs_path *path, const rs_record *record,
                          const char *const *others, size_t other_count) {
  const char *known[64];
  size_t count = 0;
  for (size_t i = 0; i < record->field_count && count < RS_COUNT(known); i++) known[count++] = record->fields[i].name;
  for (size_t i = 0; i < record->part_count && count < RS_COUNT(known); i++) known[count++] = record->parts[i].key;
  for (size_t i = 0; i < other_count && count < RS_COUNT(known); i++) known[count++] = others[i];
  rs_check_keys(problems, node, path, record->what, known, count);
}

void rs_record_read(rs_problems *problems, const rs_node *node, const rs_path *path, const rs_record *record,
                    const char *const *others, size_t other_count, void *structure) {
  char *base = structure;
  rs_path place;
  if (!rs_expect(problems, node, path, RS_MAPPING, record->what)) return;
  refuse_others(problems, node, path, record, others, other_count);
  for (size_t i = 0; i < record->field_count; i++) {
    const rs_param *field = &record->fields[i];
    const rs_node *child = rs_member(problems, node, path, field->name, &place);
    if (child != NULL) read_field(problems, child, &place, field, base + field->offset);
  }
  for (size_t i = 0; i < record->part_count; i++) {
    const rs_record_part *part = &record->parts[i];
    const rs_node *child = rs_member(problems, node, path, part->key, &place);
    if (child != NULL) rs_record_read(problems, child, &place, part->record, NULL, 0, base + part->offset);
  }
}
