/* Structs as JSON objects, field by field. */
#ifndef ROPESCOPE_CONFIG_RECORDS_H
#define ROPESCOPE_CONFIG_RECORDS_H

#include "config/config.h"

typedef struct rs_record rs_record;

/* A struct within a struct: an object of its own. */
typedef struct rs_record_part {
  const char *key;
  size_t offset;
  const rs_record *record;
} rs_record_part;

/* How a struct is written: its numbers, truth values and words (real, integer, bool, choice), then its parts. */
struct rs_record {
  const char *what; /* "a norm", for messages */
  const rs_param *fields;
  size_t field_count;
  const rs_record_part *parts;
  size_t part_count;
};

/* Writes all of `structure`, as members of the object that is open. */
void rs_record_write(rs_json *json, const rs_record *record, const void *structure);

/* Fills it from a mapping that has each key once and no other but `others` (other_count,). What is wrong is reported,
 * and stays as it was. */
void rs_record_read(rs_problems *problems, const rs_node *node, const rs_path *path, const rs_record *record,
                    const char *const *others, size_t other_count, void *structure);

/* The child called `key`; NULL (and reported) where there is none, or `parent` is no mapping. Borrows. */
const rs_node *rs_member(rs_problems *problems, const rs_node *parent, const rs_path *path, const char *key,
                         rs_path *place);

/* The same, of a kind that is reported as "must be <what>". */
const rs_node *rs_member_of(rs_problems *problems, const rs_node *parent, const rs_path *path, const char *key,
                            rs_node_kind kind, const char *what, rs_path *place);

/* A whole shape, with its blocks, and the geometry that its recipes are made for (but its name). */
void rs_shape_write(rs_json *json, const char *key, const rs_shape *shape);
void rs_shape_read(rs_problems *problems, const rs_node *node, const rs_path *path, rs_shape *shape);
void rs_geometry_write(rs_json *json, const char *key, const rs_model *model);
void rs_geometry_read(rs_problems *problems, const rs_node *node, const rs_path *path, rs_model *model);
void rs_layout_write(rs_json *json, const char *key, const rs_token_layout *tokens);
void rs_layout_read(rs_problems *problems, const rs_node *node, const rs_path *path, rs_token_layout *tokens);
void rs_training_write(rs_json *json, const char *key, const rs_training *training);
void rs_training_read(rs_problems *problems, const rs_node *node, const rs_path *path, rs_training *training);

#endif
