/* Entries of the key `checkpoint`: what each may say, and what it becomes. Private to the config layer. */
#ifndef ROPESCOPE_CONFIG_CHECKPOINT_ENTRY_H
#define ROPESCOPE_CONFIG_CHECKPOINT_ENTRY_H

#include "checkpoints.h"
#include "choices.h"

enum { RS_ENTRY_AXIS_NAME = 64 };

/* A list of values, or a method's variants; of one value, too, where it is a method. */
typedef struct rs_entry_axis {
  const rs_node *node;
  char name[RS_ENTRY_AXIS_NAME]; /* "train.steps", "layers[0].method": as labels have it */
  rs_variants methods;           /* empty: the node's items are the values */
} rs_entry_axis;

/* Places that were made in the experiment's lists. */
typedef struct rs_list_room {
  size_t models, checkpoints;
} rs_list_room;

/* The entry being read, and which of its combinations. */
typedef struct rs_entry {
  rs_config_context *config;
  const rs_node *node;
  rs_path path;
  rs_entry_axis *axes; /* (choices.count,) */
  size_t axis_room;
  rs_choices choices; /* of each axis */
  size_t combination;
  size_t problems_before;
  rs_list_room *room;
} rs_entry;

/* A value in the config. */
typedef struct rs_found_value {
  const rs_node *node;
  rs_path path;
} rs_found_value;

/* Whether something is wrong with the entry. */
bool rs_entry_failed(const rs_entry *entry);

/* Finds the lists in the entry. Release with rs_entry_clear. */
void rs_entry_find_axes(rs_entry *entry);
void rs_entry_clear(rs_entry *entry);

/* A value of a mapping of the entry: itself, or that of its list which the combination has. */
rs_found_value rs_entry_value(const rs_entry *entry, const rs_node *child, const rs_path *mapping);

/* The method that a mapping (or NULL) names, NULL where it names none. */
const rs_variant *rs_entry_method(const rs_entry *entry, const rs_node *mapping);

/* A contradiction, at the parameter that it is about where that was written. */
void rs_entry_report(const rs_entry *entry, const rs_err *why);

/* The rules of `layers`, *count of them; NULL where something is wrong. Release with free(). */
rs_layer_rule *rs_entry_rules(const rs_entry *entry, const rs_shape_params *params, rs_form form, size_t *count);

/* The recipe of the mapping's method, of `otherwise` where it names none, or of rope where that has no method. False,
 * and reported, where it does not fit the geometry. `tokens` is the length it is trained at. */
bool rs_entry_recipe(const rs_entry *entry, const rs_node *mapping, const rs_path *path, const rs_recipe *otherwise,
                     const rs_model *geometry, size_t tokens, rs_recipe *recipe);

/* The recipes of a shape that was built by the rules, whose blocks then name them by index. */
void rs_entry_recipes(const rs_entry *entry, const rs_layer_rule *rules, size_t rule_count, const rs_model *geometry,
                      rs_checkpoint *checkpoint);

/* Those of a tuned checkpoint, where tuning has a method of its own. */
void rs_entry_tuned_recipes(const rs_entry *entry, const rs_model *geometry, rs_checkpoint *checkpoint);

/* What the checkpoint is called: its name, else its method, and what is swept. */
void rs_entry_label(const rs_entry *entry, const rs_checkpoint *checkpoint, rs_model *model);

/* Lengthens names that occur twice by given parameters, and reports those that still do. */
void rs_settle_checkpoints(rs_config_context *config, const rs_node *node, const rs_path *path);

#endif
