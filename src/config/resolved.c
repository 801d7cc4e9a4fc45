/* An experiment written back as a config: the same cells, with every default spelled out, so that a result folder can
 * be run again years later. */
#include "checkpoints.h"
#include "config_internal.h"
#include "records.h"

#include <string.h>

/* ---- checkpoints ------------------------------------------------------------------------------------------------- */

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

/* `teacher`: the name of the one it has; NULL: none. */
static void put_checkpoint(rs_text *yaml, const rs_checkpoint *checkpoint, const rs_model *model, const char *teacher) {
  rs_text_puts(yaml, "  - {name: ");
  rs_text_quote(yaml, model->name);
  if (teacher != NULL) {
    rs_text_puts(yaml, ", teacher: ");
    rs_text_quote(yaml, teacher);
  }
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

/* The key `checkpoint`, each of its entries one checkpoint. One that stands alone, as a cell's, names no teacher: the
 * fingerprint says who that is. */
static void put_checkpoints(rs_text *yaml, const rs_experiment *experiment) {
  rs_text_puts(yaml, "checkpoint:\n");
  for (size_t i = 0; i < experiment->model_count; i++) {
    const rs_checkpoint *checkpoint = &experiment->checkpoints[i];
    bool taught = checkpoint->taught && experiment->model_count > 1;
    put_checkpoint(yaml, checkpoint, &experiment->models[i],
                   taught ? experiment->models[checkpoint->teacher].name : NULL);
  }
}

/* ---- experiments ------------------------------------------------------------------------------------------------- */

/* For how many models the rule for s is the default one. */
static size_t default_scales(const rs_experiment *experiment, const rs_variant *variant) {
  const rs_recipe recipe = {.method = variant->method, .settings = variant->settings};
  size_t count = 0;
  for (size_t i = 0; i < experiment->model_count; i++)
    count += rs_recipe_scale_defaults(&recipe, &experiment->models[i]);
  return count;
}

/* A method's defaults stand in a comment: written as values, they would overrule what the model publishes. */
static void put_method_defaults(rs_text *yaml, const rs_settings *settings, bool scale) {
  static const char before[] = "    # unless the model publishes others: ";
  bool any = scale;
  if (scale) rs_text_printf(yaml, "%sscale: %s", before, RS_DEFAULT_SCALE);
  for (size_t p = 0; p < settings->count; p++) {
    if (!settings->values[p].set || settings->values[p].given) continue;
    rs_text_printf(yaml, "%s%s: ", any ? ", " : before, settings->params[p]->name);
    rs_value_write(settings->params[p], &settings->values[p], yaml);
    any = true;
  }
  if (any) rs_text_puts(yaml, "\n");
}

static void put_variant(rs_text *yaml, const rs_experiment *experiment, const rs_variant *variant) {
  bool method = variant->method != NULL;
  size_t scales = method ? default_scales(experiment, variant) : 0;
  rs_text_printf(yaml, "  - {name: %s", rs_variant_name(variant));
  if (strcmp(variant->label, rs_variant_name(variant)) != 0) {
    rs_text_puts(yaml, ", label: ");
    rs_text_quote(yaml, variant->label);
  }
  /* The default scale is a value where no model publishes another: what was run must not hang on it. */
  bool all = scales > 0 && scales == experiment->model_count;
  if (all) rs_text_puts(yaml, ", scale: " RS_DEFAULT_SCALE);
  rs_settings_write(&variant->settings, !method, yaml);
  rs_text_puts(yaml, "}\n");
  if (method) put_method_defaults(yaml, &variant->settings, scales > 0 && !all);
}

static void put_variants(rs_text *yaml, const char *key, const rs_experiment *experiment, const rs_variants *variants) {
  rs_text_printf(yaml, "%s:\n", key);
  for (size_t i = 0; i < variants->count; i++)
    if (!variants->items[i].added) put_variant(yaml, experiment, &variants->items[i]);
}

static void put_heads(rs_text *yaml, const rs_head_choice *heads) {
  rs_text_puts(yaml, heads->each ? "heads: {each: " : "heads: ");
  if (heads->all)
    rs_text_puts(yaml, "all");
  else if (heads->listed == NULL)
    rs_text_printf(yaml, "%zu", heads->number);
  for (size_t i = 0; i < heads->listed_count; i++) rs_text_printf(yaml, "%s%.0f", i > 0 ? ", " : "[", heads->listed[i]);
  if (heads->listed != NULL) rs_text_puts(yaml, "]");
  rs_text_puts(yaml, heads->each ? "}\n" : "\n");
}

static void put_queries(rs_text *yaml, const rs_query_set *queries) {
  if (queries->choice == RS_QUERIES_ALL)
    rs_text_puts(yaml, "queries: all\n");
  else
    rs_text_printf(yaml, "queries: {%s: %zu}\n", rs_query_choice_words[queries->choice], queries->number);
}

static void put_mask(rs_text *yaml, const rs_mask *mask) {
  static const char *const words[RS_BAND + 1] = {
      [RS_CAUSAL] = "causal", [RS_BIDIRECTIONAL] = "bidirectional", [RS_CROSS] = "cross"};
  if (words[mask->kind] != NULL)
    rs_text_printf(yaml, "mask: %s\n", words[mask->kind]);
  else if (mask->kind == RS_CHUNKS || mask->kind == RS_BAND)
    rs_text_printf(yaml, "mask: {%s: %zu}\n", mask->kind == RS_BAND ? "band" : "chunk", mask->window);
  else if (mask->kind == RS_WINDOW)
    rs_text_printf(yaml, "mask: {window: %zu}\n", mask->window);
  else
    rs_text_printf(yaml, "mask: {window: %zu, sinks: %zu}\n", mask->window, mask->sinks);
}

static void put_tokens(rs_text *yaml, const rs_token_layout *tokens) {
  if (tokens->count > 0) rs_text_puts(yaml, "tokens:\n");
  for (size_t i = 0; i < tokens->count; i++) {
    const rs_token_run *run = &tokens->runs[i];
    if (run->modality == RS_TEXT) rs_text_printf(yaml, "  - {text: %zu}\n", run->tokens);
    if (run->modality == RS_IMAGE) rs_text_printf(yaml, "  - {image: [%zu, %zu]}\n", run->rows, run->columns);
    if (run->modality != RS_VIDEO) continue;
    rs_text_printf(yaml, "  - {video: [%zu, %zu, %zu], ", run->frames, run->rows, run->columns);
    rs_record_put(yaml, &rs_run_rates, run);
    rs_text_puts(yaml, "}\n");
  }
}

static void put_record(rs_text *yaml, const char *key, const rs_record *record, const void *structure) {
  rs_text_printf(yaml, "%s: {", key);
  rs_record_put(yaml, record, structure);
  rs_text_puts(yaml, "}\n");
}

/* How heads are simulated. */
static void put_simulation(rs_text *yaml, const rs_experiment *experiment) {
  put_heads(yaml, &experiment->heads);
  put_queries(yaml, &experiment->queries);
  put_mask(yaml, &experiment->mask);
  put_tokens(yaml, &experiment->tokens);
  put_record(yaml, "precision", &rs_precision_record, &experiment->precision);
}

static void put_zip(rs_text *yaml, const rs_experiment *experiment) {
  const char *names[RS_AXIS_COUNT] = {"model", "methods", "lengths", "sources", "seeds"};
  bool any = false;
  if (experiment->checkpoints != NULL) names[RS_BY_MODEL] = "checkpoint";
  for (size_t a = 0; a < RS_AXIS_COUNT; a++) {
    if (experiment->zipped[a]) rs_text_printf(yaml, "%s%s", any ? ", " : "zip: [", names[a]);
    any |= experiment->zipped[a];
  }
  if (any) rs_text_puts(yaml, "]\n");
}

static void put_targets(rs_text *yaml, const rs_experiment *experiment) {
  bool any = false;
  if (experiment->targets.longest > 0)
    rs_text_printf(yaml, "targets: same\ntarget_tokens: %zu\n", experiment->targets.tokens);
  else
    rs_text_puts(yaml, "targets: per_length\n");
  for (size_t i = 0; i < RS_BASELINES; i++) {
    if (experiment->baselines[i]) rs_text_printf(yaml, "%s%s", any ? ", " : "baselines: [", rs_baseline_words[i]);
    any |= experiment->baselines[i];
  }
  rs_text_puts(yaml, any ? "]\n" : "baselines: none\n");
}

/* What is read, and by whom. */
static void put_subjects(rs_text *yaml, const rs_experiment *experiment) {
  const rs_variants task = {.items = (rs_variant *)&experiment->task, .count = 1};
  if (experiment->checkpoints == NULL) {
    rs_text_puts(yaml, "model:\n");
    for (size_t i = 0; i < experiment->model_count; i++) {
      rs_text_puts(yaml, "  - ");
      rs_model_put(yaml, &experiment->models[i]);
      rs_text_puts(yaml, "\n");
    }
    return;
  }
  put_checkpoints(yaml, experiment);
  put_variants(yaml, "task", experiment, &task);
  rs_text_printf(yaml, "sequences: %zu\n", experiment->sequences);
  put_targets(yaml, experiment);
}

void rs_experiment_write(const rs_experiment *experiment, rs_text *yaml) {
  bool simulated = experiment->checkpoints == NULL, observed = rs_observes(experiment);
  rs_text_puts(yaml, "name: ");
  rs_text_quote(yaml, experiment->name);
  rs_text_puts(yaml, "\ndescription: ");
  rs_text_quote(yaml, experiment->description);
  rs_text_puts(yaml, "\n");
  put_subjects(yaml, experiment);
  rs_text_puts(yaml, "lengths: [");
  for (size_t i = 0; i < experiment->length_count; i++)
    rs_text_printf(yaml, "%s%zu", i > 0 ? ", " : "", experiment->lengths[i]);
  rs_text_puts(yaml, "]\n");
  put_variants(yaml, "methods", experiment, &experiment->methods);
  if (simulated || observed) put_variants(yaml, "sources", experiment, &experiment->sources);
  put_variants(yaml, "metrics", experiment, &experiment->metrics);
  rs_text_puts(yaml, "seeds: [");
  for (size_t i = 0; i < experiment->seed_count; i++)
    rs_text_printf(yaml, "%s%llu", i > 0 ? ", " : "", (unsigned long long)experiment->seeds[i]);
  rs_text_puts(yaml, "]\n");
  if (simulated) put_simulation(yaml, experiment);
  if (observed) put_queries(yaml, &experiment->queries);
  if (simulated || observed) put_record(yaml, "engine", &rs_engine_record, &experiment->engine);
  rs_text_printf(yaml, "bins_per_octave: %zu\n", experiment->bins_per_octave);
  put_zip(yaml, experiment);
  for (size_t i = 0; i < experiment->swept_count; i++)
    rs_text_printf(yaml, "%s%s", i > 0 ? ", " : "columns: [", experiment->swept[i]);
  if (experiment->swept_count > 0) rs_text_puts(yaml, "]\n");
}
