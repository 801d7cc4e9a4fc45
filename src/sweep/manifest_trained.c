/* What manifest.json says of checkpoints and of the task that they are trained and read on. A caption says of a
 * checkpoint where it comes from, how long it was trained and how large it is, and no more. */
#include "costs.h"
#include "run.h"

#include <math.h>
#include <string.h>

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

static rs_status put_best_losses(const rs_experiment *experiment, json_t *list, rs_err *err) {
  const rs_task_kind *kind = experiment->task.task;
  rs_task task;
  RS_TRY(rs_checkpoint_task(experiment, 0, &task, err));
  rs_status status = RS_OK;
  for (size_t i = 0; i < experiment->length_count && status == RS_OK; i++) {
    size_t length = experiment->lengths[i];
    rs_example_shape shape;
    bool known = kind->best_loss != NULL && kind->shape(task.state, length, &shape, NULL) == RS_OK;
    double best = known ? kind->best_loss(task.state, length) : NAN;
    status = rs_manifest_append(list,
                                json_pack("{s:I, s:o}", "length_tokens", (json_int_t)length, "nats",
                                          isnan(best) ? json_null() : json_real(best)),
                                err);
  }
  rs_task_clear(&task);
  return status;
}

/* What the lengths are where sequences are pictures or films. */
static rs_status put_grids(const rs_experiment *experiment, json_t *list, rs_err *err) {
  rs_task task;
  RS_TRY(rs_checkpoint_task(experiment, 0, &task, err));
  rs_status status = RS_OK;
  for (size_t i = 0; i < experiment->length_count && status == RS_OK; i++) {
    rs_example_shape shape;
    if (task.kind->shape(task.state, experiment->lengths[i], &shape, NULL) != RS_OK) continue;
    status = rs_manifest_append(list,
                                json_pack("{s:I, s:I, s:I, s:I}", "length_tokens", (json_int_t)experiment->lengths[i],
                                          "frames", (json_int_t)shape.frames, "rows", (json_int_t)shape.rows, "columns",
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
  RS_TRY(put_best_losses(experiment, json_object_get(task, "best_loss"), err));
  if (variant->task->form != RS_VISION) return RS_OK;
  RS_TRY(rs_manifest_set(task, "grids", json_array(), err));
  return put_grids(experiment, json_object_get(task, "grids"), err);
}

/* ---- checkpoints ------------------------------------------------------------------------------------------------- */

static size_t count_numbers(const rs_transformer *transformer) {
  size_t count = 0;
  for (size_t i = 0; i < transformer->tensor_count; i++)
    count += transformer->tensors[i].rows * transformer->tensors[i].columns;
  return count;
}

/* Appends the text as a phrase, and clears it. */
static rs_status add_phrase(json_t *phrases, rs_text *text, rs_err *err) {
  rs_status status = rs_text_check(text, err);
  if (status == RS_OK) status = rs_manifest_append(phrases, json_string(rs_text_string(text)), err);
  rs_text_clear(text);
  return status;
}

/* "64 tokens", "6 × 6 patches", "4 frames of 3 × 3 patches" */
static rs_status say_length(const rs_experiment *experiment, size_t length, rs_text *text, rs_err *err) {
  rs_example_shape shape = {0};
  rs_task task;
  RS_TRY(rs_checkpoint_task(experiment, 0, &task, err));
  (void)task.kind->shape(task.state, length, &shape, NULL);
  rs_task_clear(&task);
  if (shape.patch_numbers == 0) {
    rs_text_printf(text, "%zu tokens", length);
    return RS_OK;
  }
  if (shape.frames > 1) rs_text_printf(text, "%zu frames of ", shape.frames);
  rs_text_printf(text, "%zu \u00d7 %zu patches", shape.rows, shape.columns);
  return RS_OK;
}

static rs_status say_training(const rs_experiment *experiment, const char *verb, const rs_training *training,
                              json_t *phrases, rs_err *err) {
  rs_text text = {0};
  rs_text_printf(&text, "%s here, %zu steps at ", verb, training->steps);
  rs_status status = say_length(experiment, training->length, &text, err);
  if (status == RS_OK) return add_phrase(phrases, &text, err);
  rs_text_clear(&text);
  return status;
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

/* ["v3"] */
static rs_status put_arithmetic(const rs_totals *totals, size_t model, json_t *words, rs_err *err) {
  for (size_t i = 0; i < totals->arithmetic_count; i++)
    if (totals->arithmetic[i].model == model)
      RS_TRY(rs_manifest_append(words, json_string(totals->arithmetic[i].words), err));
  return RS_OK;
}

static rs_status put_checkpoint(const rs_experiment *experiment, size_t model, json_t *entry, rs_err *err) {
  const rs_checkpoint *checkpoint = &experiment->checkpoints[model];
  rs_transformer *begun = NULL;
  rs_err why = {0};
  if (rs_checkpoint_create(experiment, model, 0, &begun, &why) == RS_MEMORY)
    return rs_fail(err, RS_MEMORY, "%s", why.message);
  size_t numbers = begun != NULL ? count_numbers(begun) : 0;
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
    RS_TRY(put_arithmetic(totals, m, json_object_get(entry, "arithmetic"), err));
  }
  return RS_OK;
}
