/* What manifest.json says of checkpoints and of the task that they are trained and read on. A caption says of a
 * checkpoint where it comes from, how long it was trained and how large it is, and no more. */
#include "costs.h"
#include "run.h"

#include <math.h>
#include <string.h>

rs_status rs_manifest_no_memory(rs_err *err) {
  return rs_fail(err, RS_MEMORY, "out of memory for manifest.json");
}

rs_status rs_manifest_append(json_t *list, json_t *entry, rs_err *err) {
  return json_array_append_new(list, entry) == 0 ? RS_OK : rs_manifest_no_memory(err);
}

rs_status rs_manifest_set(json_t *object, const char *key, json_t *value, rs_err *err) {
  return json_object_set_new(object, key, value) == 0 ? RS_OK : rs_manifest_no_memory(err);
}

/* ---- parameters -------------------------------------------------------------------------------------------------- */

/* {"steps": "1000", ...}: values as configs have them. */
static rs_status put_settings(json_t *object, const rs_settings *settings, rs_err *err) {
  for (size_t p = 0; p < settings->count; p++) {
    rs_text text = {0};
    if (!settings->values[p].set) continue;
    rs_value_write(settings->params[p], &settings->values[p], &text);
    rs_status status = rs_text_check(&text, err);
    if (status == RS_OK)
      status = rs_manifest_set(object, settings->params[p]->name, json_string(rs_text_string(&text)), err);
    rs_text_clear(&text);
    RS_TRY(status);
  }
  return RS_OK;
}

/* The settings under a key of their own; nothing where there are none. */
static rs_status put_part(json_t *object, const char *key, const rs_settings *settings, rs_err *err) {
  if (settings->count == 0) return RS_OK;
  RS_TRY(rs_manifest_set(object, key, json_object(), err));
  return put_settings(json_object_get(object, key), settings, err);
}

/* ---- the task ---------------------------------------------------------------------------------------------------- */

/* What is known of each length: the best loss, null where nobody knows, and, where sequences are pictures or films,
 * their grid (`grids` NULL: none). */
static rs_status put_lengths(const rs_experiment *experiment, json_t *losses, json_t *grids, rs_err *err) {
  rs_task task;
  RS_TRY(rs_checkpoint_task(experiment, 0, &task, err));
  rs_status status = RS_OK;
  for (size_t i = 0; i < experiment->length_count && status == RS_OK; i++) {
    json_int_t length = (json_int_t)experiment->lengths[i];
    rs_example_shape shape;
    bool fits = task.kind->shape(task.state, (size_t)length, &shape, NULL) == RS_OK;
    double best = fits && task.kind->best_loss != NULL ? task.kind->best_loss(task.state, (size_t)length) : NAN;
    status = rs_manifest_append(
        losses, json_pack("{s:I, s:o}", "length_tokens", length, "nats", isnan(best) ? json_null() : json_real(best)),
        err);
    if (status == RS_OK && fits && grids != NULL)
      status = rs_manifest_append(grids,
                                  json_pack("{s:I, s:I, s:I, s:I}", "length_tokens", length, "frames",
                                            (json_int_t)shape.frames, "rows", (json_int_t)shape.rows, "columns",
                                            (json_int_t)shape.columns),
                                  err);
  }
  rs_task_clear(&task);
  return status;
}

rs_status rs_manifest_fewer(const rs_experiment *experiment, bool *fewer, rs_err *err) {
  rs_task task;
  *fewer = false;
  RS_TRY(rs_checkpoint_task(experiment, 0, &task, err));
  for (size_t i = 0; i < experiment->length_count; i++) {
    rs_example_shape shape;
    if (task.kind->shape(task.state, experiment->lengths[i], &shape, NULL) == RS_OK)
      *fewer = *fewer || rs_example_count(&shape, experiment->sequences) < experiment->sequences;
  }
  rs_task_clear(&task);
  return RS_OK;
}

rs_status rs_manifest_task(const rs_experiment *experiment, json_t *task, rs_err *err) {
  const rs_variant *variant = &experiment->task;
  const char *const *parts = variant->task->parts;
  RS_TRY(rs_manifest_set(task, "name", json_string(variant->label), err));
  RS_TRY(rs_manifest_set(task, "kind", json_string(variant->task->kind.name), err));
  RS_TRY(rs_manifest_set(task, "sequences", json_integer((json_int_t)experiment->sequences), err));
  RS_TRY(rs_manifest_set(task, "parts", json_array(), err));
  for (size_t p = 0; parts[p] != NULL; p++)
    RS_TRY(rs_manifest_append(json_object_get(task, "parts"), json_string(parts[p]), err));
  RS_TRY(put_part(task, "parameters", &variant->settings, err));
  RS_TRY(rs_manifest_set(task, "best_loss", json_array(), err));
  if (variant->task->form == RS_VISION) RS_TRY(rs_manifest_set(task, "grids", json_array(), err));
  return put_lengths(experiment, json_object_get(task, "best_loss"), json_object_get(task, "grids"), err);
}

/* ---- checkpoints ------------------------------------------------------------------------------------------------- */

/* Appends the text as a phrase, and clears it. */
static rs_status add_phrase(json_t *phrases, rs_text *text, rs_err *err) {
  rs_status status = rs_text_check(text, err);
  if (status == RS_OK) status = rs_manifest_append(phrases, json_string(rs_text_string(text)), err);
  rs_text_clear(text);
  return status;
}

/* "trained here, 100 steps at 64 tokens", "... 6 × 6 patches", "... 4 frames of 3 × 3 patches" */
static rs_status say_training(const rs_experiment *experiment, const char *verb, const rs_training *training,
                              json_t *phrases, rs_err *err) {
  rs_example_shape shape = {0};
  rs_task task;
  rs_text text = {0};
  RS_TRY(rs_checkpoint_task(experiment, 0, &task, err));
  (void)task.kind->shape(task.state, training->length, &shape, NULL);
  rs_task_clear(&task);
  rs_text_printf(&text, "%s here, %zu steps at ", verb, training->steps);
  if (shape.frames > 1 && shape.patch_numbers > 0) rs_text_printf(&text, "%zu frames of ", shape.frames);
  if (shape.patch_numbers > 0)
    rs_text_printf(&text, "%zu \u00d7 %zu patches", shape.rows, shape.columns);
  else
    rs_text_printf(&text, "%zu tokens", training->length);
  return add_phrase(phrases, &text, err);
}

/* `numbers` 0: not known, for it could not be made. */
static rs_status put_caption(const rs_experiment *experiment, const rs_checkpoint *checkpoint, size_t numbers,
                             json_t *phrases, rs_err *err) {
  rs_text text = {0};
  if (checkpoint->folder == NULL) RS_TRY(say_training(experiment, "trained", &checkpoint->training, phrases, err));
  if (checkpoint->tuned) RS_TRY(say_training(experiment, "tuned", &checkpoint->tuning, phrases, err));
  if (numbers == 0) return RS_OK;
  rs_text_printf(&text, "%zu parameters", numbers);
  return add_phrase(phrases, &text, err);
}

static rs_status put_checkpoint(const rs_experiment *experiment, size_t model, json_t *entry, rs_err *err) {
  const rs_checkpoint *checkpoint = &experiment->checkpoints[model];
  rs_transformer *begun = NULL;
  rs_err why = {0};
  if (rs_checkpoint_create(experiment, model, 0, &begun, &why) == RS_MEMORY)
    return rs_fail(err, RS_MEMORY, "%s", why.message);
  size_t numbers = 0;
  for (size_t i = 0; begun != NULL && i < begun->tensor_count; i++)
    numbers += begun->tensors[i].rows * begun->tensors[i].columns;
  rs_transformer_free(begun);
  RS_TRY(rs_manifest_set(entry, "name", json_string(experiment->models[model].name), err));
  RS_TRY(rs_manifest_set(entry, "form", json_string(rs_form_words[experiment->task.task->form]), err));
  if (numbers > 0) RS_TRY(rs_manifest_set(entry, "parameters", json_integer((json_int_t)numbers), err));
  if (checkpoint->folder != NULL) RS_TRY(rs_manifest_set(entry, "folder", json_string(checkpoint->folder), err));
  RS_TRY(rs_manifest_set(entry, "caption", json_array(), err));
  RS_TRY(put_caption(experiment, checkpoint, numbers, json_object_get(entry, "caption"), err));
  RS_TRY(put_part(entry, "shape", &checkpoint->settings[RS_PART_SHAPE], err));
  RS_TRY(put_part(entry, "training", &checkpoint->settings[RS_PART_TRAINING], err));
  return checkpoint->tuned ? put_part(entry, "tuning", &checkpoint->settings[RS_PART_TUNING], err) : RS_OK;
}

rs_status rs_manifest_checkpoints(const rs_experiment *experiment, const rs_totals *totals, json_t *checkpoints,
                                  rs_err *err) {
  for (size_t m = 0; m < experiment->model_count; m++) {
    json_t *entry = json_object();
    RS_TRY(rs_manifest_append(checkpoints, entry, err));
    RS_TRY(put_checkpoint(experiment, m, entry, err));
    RS_TRY(rs_manifest_set(entry, "arithmetic", json_array(), err));
    for (size_t i = 0; i < totals->arithmetic_count; i++)
      if (totals->arithmetic[i].model == m)
        RS_TRY(rs_manifest_append(json_object_get(entry, "arithmetic"), json_string(totals->arithmetic[i].words), err));
  }
  return RS_OK;
}
