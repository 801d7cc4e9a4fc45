/* Checkpoints written back as a config: each by itself, every default spelled out, layers block by block. */
#include "checkpoints.h"
#include "config_internal.h"

static void put_recipe(rs_text *yaml, const rs_recipe *recipe) {
  rs_text_puts(yaml, "method: ");
  rs_entry_write(recipe->method->name, &recipe->settings, yaml);
}

static bool same_mask(const rs_mask *a, const rs_mask *b) {
  return a->kind == b->kind && a->window == b->window && a->sinks == b->sinks;
}

/* Whether the block has a recipe that `layers` must name: not the checkpoint's own, nor that made a layer's own. */
static bool has_other_recipe(const rs_checkpoint *checkpoint, const rs_block *block) {
  return block->recipe > 0 && !rs_recipe_repeats(&checkpoint->recipes[block->recipe], &checkpoint->recipes[0]);
}

/* How a block differs from a plain one: "{from: 3, to: 3, method: {name: nope}}". */
static void put_block(rs_text *yaml, const rs_checkpoint *checkpoint, size_t index, const rs_mask *plain, bool first) {
  const rs_block *block = &checkpoint->shape.decoder.blocks[index];
  rs_text_printf(yaml, "%s{from: %zu, to: %zu", first ? ", layers: [" : ", ", index, index);
  if (has_other_recipe(checkpoint, block)) {
    rs_text_puts(yaml, ", ");
    put_recipe(yaml, &checkpoint->recipes[block->recipe]);
  }
  if (!same_mask(&block->mask, plain)) rs_text_printf(yaml, ", window: %zu", block->mask.window);
  if (!same_mask(&block->mask, plain) && block->mask.kind == RS_WINDOW_SINKS)
    rs_text_printf(yaml, ", sinks: %zu", block->mask.sinks);
  rs_text_puts(yaml, "}");
}

static void put_layers(rs_text *yaml, const rs_checkpoint *checkpoint) {
  rs_shape_params params;
  rs_bind(&checkpoint->settings[RS_PART_SHAPE], rs_shape_specs, rs_shape_spec_count, &params);
  const rs_mask plain = rs_form_mask(checkpoint->shape.form, params.window, params.sinks);
  bool any = false;
  for (size_t b = 0; b < checkpoint->shape.decoder.count; b++) {
    const rs_block *block = &checkpoint->shape.decoder.blocks[b];
    if (!has_other_recipe(checkpoint, block) && same_mask(&block->mask, &plain)) continue;
    put_block(yaml, checkpoint, b, &plain, !any);
    any = true;
  }
  if (any) rs_text_puts(yaml, "]");
}

/* ", train: {steps: 1000, ...". A mapping's first setting has no comma before it. */
static void put_training(rs_text *yaml, const char *key, const rs_settings *settings) {
  rs_text inner = {0};
  rs_settings_write(settings, true, &inner);
  rs_text_printf(yaml, ",\n     %s: {%s", key, rs_text_string(&inner) + (inner.length > 2 ? 2 : 0));
  yaml->failed |= inner.failed;
  rs_text_clear(&inner);
}

static void put_checkpoint(rs_text *yaml, const rs_checkpoint *checkpoint, const rs_model *model) {
  rs_text_puts(yaml, "  - {name: ");
  rs_text_quote(yaml, model->name);
  if (checkpoint->folder != NULL) {
    rs_text_puts(yaml, ", folder: ");
    rs_text_quote(yaml, checkpoint->folder);
    rs_settings_write(&checkpoint->settings[RS_PART_SHAPE], false, yaml);
  } else {
    rs_text_puts(yaml, ", ");
    put_recipe(yaml, &checkpoint->recipes[0]);
    rs_settings_write(&checkpoint->settings[RS_PART_SHAPE], true, yaml);
    put_layers(yaml, checkpoint);
    put_training(yaml, "train", &checkpoint->settings[RS_PART_TRAINING]);
    rs_text_puts(yaml, "}");
  }
  if (checkpoint->tuned) {
    put_training(yaml, "tune", &checkpoint->settings[RS_PART_TUNING]);
    if (checkpoint->tuned_recipes != NULL) {
      rs_text_puts(yaml, ", ");
      put_recipe(yaml, &checkpoint->tuned_recipes[0]);
    }
    rs_text_puts(yaml, "}");
  }
  rs_text_puts(yaml, "}\n");
}

void rs_put_checkpoints(rs_text *yaml, const rs_experiment *experiment) {
  rs_text_puts(yaml, "checkpoint:\n");
  for (size_t i = 0; i < experiment->model_count; i++)
    put_checkpoint(yaml, &experiment->checkpoints[i], &experiment->models[i]);
}
