/* Checkpoints: entries of the config, transformers, and the config.json of what is trained. */
#ifndef ROPESCOPE_CONFIG_CHECKPOINTS_H
#define ROPESCOPE_CONFIG_CHECKPOINTS_H

#include "config_internal.h"
#include "records.h"

/* ---- checkpoints ----------------------------------------------------------------------------------------------- */

/* Checkpoints: from the parameters of a shape to a transformer's shape and geometry. */

/* Pre: x + part(norm(x)), and a norm at the end. Post: norm(x + part(x)), and none. */
typedef enum rs_norm_order { RS_NORM_PRE, RS_NORM_POST } rs_norm_order;

typedef struct rs_shape_params {
  size_t blocks, width, heads;
  size_t kv_heads, head_dim, feed_forward, rotary_dim; /* RS_NO_COUNT: as the others say, see rs_shape_settle */
  rs_activation activation;
  bool gated;
  rs_norm_kind norm;
  rs_norm_order norm_order;
  double epsilon;
  bool qk_norm, biases, tied;
  rs_pool pool;
  bool class_token;
  rs_prediction distilled;
  double rope_theta;
  rs_pair_layout pair_layout;
  size_t window, sinks; /* tokens; RS_NO_COUNT: none */
  rs_format precision;
  size_t seed; /* RS_NO_COUNT: each cell's own */
} rs_shape_params;

/* Blocks `from` to `to`, or every `every`-th, that are not as the others. */
typedef struct rs_layer_rule {
  size_t every, from, to;   /* every 0: the range */
  const rs_variant *method; /* NULL: the checkpoint's */
  size_t window, sinks;     /* RS_NO_COUNT: the checkpoint's */
} rs_layer_rule;

/* Fills in what was left out. RS_INPUT, with the parameter as subject, where they contradict each other or the form. */
rs_status rs_shape_settle(rs_shape_params *params, rs_form form, rs_err *err) RS_NONNULL(1);

/* Sets what was filled in, so that it is written down. */
void rs_shape_defaults(const rs_shape_params *params, rs_settings *settings) RS_NONNULL(1, 2);

/* The shape, whose blocks follow the rules, a later one before an earlier one. A block's recipe is 0 for the
 * checkpoint's own, else 1 + the rule that names it. */
rs_status rs_shape_build(const rs_shape_params *params, rs_form form, const rs_layer_rule *rules, size_t rule_count,
                         rs_shape *shape, rs_err *err) RS_NONNULL(1, 5);

/* Heads and frequencies; name and lengths are left to the caller. */
rs_model rs_shape_geometry(const rs_shape_params *params) RS_NONNULL(1);

/* The mask of a form that sees what it can, or through a window (RS_NO_COUNT: none). */
rs_mask rs_form_mask(rs_form form, size_t window, size_t sinks);

/* A training parameter's settings with the defaults of `tune`. */
rs_status rs_tune_settings(rs_settings *settings, rs_err *err) RS_NONNULL(1);

/* What names of parameters begin with, by part. */
extern const char *const rs_part_prefixes[RS_CHECKPOINT_PARTS];

/* Adds the value that a checkpoint has for "width", "train.steps", "tune.method"; nothing where it has none. */
void rs_checkpoint_value(const rs_checkpoint *checkpoint, const char *name, rs_text *text) RS_NONNULL(1, 2, 3);

/* The spec of that parameter, NULL where it has none such. */
const rs_param *rs_checkpoint_param(const rs_checkpoint *checkpoint, const char *name) RS_NONNULL(1, 2);

/* ---- checkpoint entry ------------------------------------------------------------------------------------------ */

/* Entries of the key `checkpoint`: what each may say, and what it becomes. */

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
  rs_entry_axis *axes; /* (choices.count,) */
  size_t axis_room;
  rs_choices choices; /* of each axis */
  size_t combination;
  size_t problems_before;
  rs_list_room *room;
} rs_entry;

/* Whether something is wrong with the entry. */
bool rs_entry_failed(const rs_entry *entry);

/* Finds the lists in the entry. Release with rs_entry_clear. */
void rs_entry_find_axes(rs_entry *entry);
void rs_entry_clear(rs_entry *entry);

/* A value of a mapping of the entry (an rs_entry): itself, or that of its list which the combination has. */
const rs_node *rs_entry_value(const void *entry, const rs_node *child);

/* The method that a mapping (or NULL) names, NULL where it names none. */
const rs_variant *rs_entry_method(const rs_entry *entry, const rs_node *mapping);

/* A contradiction, at the parameter that it is about where that was written. */
void rs_entry_report(const rs_entry *entry, const rs_err *why);

/* The rules of `layers`, *count of them; NULL where something is wrong. Release with free(). */
rs_layer_rule *rs_entry_rules(const rs_entry *entry, const rs_shape_params *params, rs_form form, size_t *count);

/* The recipe of the mapping's method, of `otherwise` where it names none, or of rope where that has no method. False,
 * and reported, where it does not fit the geometry. `tokens` is the length it is trained at. */
bool rs_entry_recipe(const rs_entry *entry, const rs_node *mapping, const rs_recipe *otherwise,
                     const rs_model *geometry, size_t tokens, rs_recipe *recipe);

/* The recipes of a shape that was built by the rules, whose blocks then name them by index. */
void rs_entry_recipes(const rs_entry *entry, const rs_layer_rule *rules, size_t rule_count, const rs_model *geometry,
                      rs_checkpoint *checkpoint);

/* Those of a tuned checkpoint, where tuning has a method of its own. */
void rs_entry_tuned_recipes(const rs_entry *entry, const rs_model *geometry, rs_checkpoint *checkpoint);

/* What the checkpoint is called: its name, else its method, and what is swept. */
void rs_entry_label(const rs_entry *entry, const rs_checkpoint *checkpoint, rs_model *model);

/* Finds the teachers that entries name: those of entry i are the models before ends[i] and behind the entry before it.
 * Their names are settled. */
void rs_settle_teachers(rs_config_context *config, const rs_node *node, const size_t *ends) RS_NONNULL(1, 2, 3);

/* Lengthens names that occur twice by given parameters, and reports those that still do. */
void rs_settle_checkpoints(rs_config_context *config, const rs_node *node);

/* ---- trained --------------------------------------------------------------------------------------------------- */

/* The words of config.json that are texts of their own. */

#endif
