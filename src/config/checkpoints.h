/* Checkpoints: from the parameters of a shape to a transformer's shape and geometry. Private to the config layer. */
#ifndef ROPESCOPE_CONFIG_CHECKPOINTS_H
#define ROPESCOPE_CONFIG_CHECKPOINTS_H

#include "config_internal.h"

typedef struct rs_shape_params {
  size_t blocks, width, heads;
  size_t kv_heads, head_dim, feed_forward, rotary_dim; /* RS_NO_COUNT: as the others say, see rs_shape_settle */
  rs_activation activation;
  bool gated;
  rs_norm_kind norm;
  double epsilon;
  bool qk_norm, biases, tied;
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

/* Whether a form's heads see what follows. */
bool rs_form_sees_ahead(rs_form form);

/* A training parameter's settings with the defaults of `tune`. */
rs_status rs_tune_settings(rs_settings *settings, rs_err *err) RS_NONNULL(1);

/* What names of parameters begin with, by part. */
extern const char *const rs_part_prefixes[RS_CHECKPOINT_PARTS];

/* Adds the value that a checkpoint has for "width", "train.steps", "tune.method"; nothing where it has none. */
void rs_checkpoint_value(const rs_checkpoint *checkpoint, const char *name, rs_text *text) RS_NONNULL(1, 2, 3);

/* The spec of that parameter, NULL where it has none such. */
const rs_param *rs_checkpoint_param(const rs_checkpoint *checkpoint, const char *name) RS_NONNULL(1, 2);

#endif
