/* The one way from a mapping to a struct, and back: a table of parameters says the keys, their words, ranges and
 * defaults. */
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
  const char *const *others; /* keys that the record's owner reads: unions, lists, names. Ends with NULL; NULL: none */
  bool partial;              /* keys may be left out: the field has its default then, or stays as it was without one */
  bool later;                /* as a part it is left out where its first field is 0: texts from before it lack it */
};

/* The `fields` and `field_count` of an array of parameters. */
#define RS_RECORD_FIELDS(list) .fields = (list), .field_count = RS_COUNT(list)

/* Which value a key of a mapping has; configs whose lists are axes choose one of its list. */
typedef struct rs_chooser {
  const rs_node *(*choose)(const void *of, const rs_node *child);
  const void *of;
} rs_chooser;

/* Writes all of `structure`, as members of the object that is open. */
void rs_record_write(rs_json *json, const rs_record *record, const void *structure);

/* Adds its fields as YAML: "heads: 32, head_dim: 128". */
void rs_record_put(rs_text *yaml, const rs_record *record, const void *structure);

/* Fills it from a mapping that has the record's keys and no others. What is wrong is reported, and stays as it was.
 * `chooser` NULL: each key has the value that stands there. */
void rs_record_read(rs_problems *problems, const rs_node *node, const rs_record *record, const rs_chooser *chooser,
                    void *structure);

/* Reports the keys of a mapping that are none of the settings and none of `others`, as a record has them. */
void rs_refuse_keys(rs_problems *problems, const rs_node *node, const char *what, const char *const *others,
                    const rs_settings *settings);

/* The same, and sets what the mapping gives of the settings. */
void rs_settings_read(rs_problems *problems, const rs_node *node, const char *what, const char *const *others,
                      const rs_chooser *chooser, rs_settings *settings);

/* Reads the value of a parameter: a scalar, a list, a file; recipes are entries, see items.c. It counts as given.
 * False, and reported, where it is none. */
bool rs_read_param(rs_problems *problems, const rs_node *node, const rs_param *param, rs_value *value);

/* Writes a value of any type but files as member `key` of the object that is open. */
void rs_value_json(rs_json *json, const char *key, const rs_param *param, const rs_value *value);

/* Of configs. */
extern const rs_record rs_precision_record, rs_engine_record, rs_run_rates;

/* The child called `key`; NULL (and reported) where there is none, or `parent` is no mapping. Borrows. */
const rs_node *rs_member(rs_problems *problems, const rs_node *parent, const char *key);

/* The same, of a kind that is reported as "must be <what>". */
const rs_node *rs_member_of(rs_problems *problems, const rs_node *parent, const char *key, rs_node_kind kind,
                            const char *what);

/* A whole shape, with its blocks, and the geometry that its recipes are made for (but its name). */
void rs_shape_write(rs_json *json, const char *key, const rs_shape *shape);
void rs_shape_read(rs_problems *problems, const rs_node *node, rs_shape *shape);
void rs_geometry_write(rs_json *json, const char *key, const rs_model *model);
void rs_geometry_read(rs_problems *problems, const rs_node *node, rs_model *model);
void rs_layout_write(rs_json *json, const char *key, const rs_token_layout *tokens);
void rs_layout_read(rs_problems *problems, const rs_node *node, rs_token_layout *tokens);
void rs_training_write(rs_json *json, const char *key, const rs_training *training);
void rs_training_read(rs_problems *problems, const rs_node *node, rs_training *training);

#endif
