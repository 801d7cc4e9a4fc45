/* Sources that hand on what a checkpoint's own heads hold. */
#include "config_internal.h"
#include "hf/hf.h"

#include <string.h>

static rs_binding bind(const rs_variant *source) {
  const rs_kind *kind = &source->source->kind;
  return (rs_binding){&source->settings, kind->params, kind->param_count, source->params};
}

/* For a head or layer that is not there, of `count`. */
static rs_status refuse(const rs_variant *source, size_t offset, const char *model, size_t count, const char *what,
                        rs_err *err) {
  const rs_binding binding = bind(source);
  if (count == 1) return rs_binding_fail(&binding, offset, err, "must be 0: %s has one %s", model, what);
  return rs_binding_fail(&binding, offset, err, "must be from 0 to %zu: %s has %zu %ss", count - 1, model, count, what);
}

/* `layers` 0: not known. */
static rs_status check_place(const rs_variant *source, const char *name, size_t layers, size_t heads, rs_err *err) {
  const rs_model_source *rows = source->params;
  if (layers > 0 && rows->layer >= layers)
    return refuse(source, offsetof(rs_model_source, layer), name, layers, "layer", err);
  if (rows->head.word == RS_NO_WORD && rows->head.number >= heads)
    return refuse(source, offsetof(rs_model_source, head), name, heads, "head", err);
  return RS_OK;
}

/* ---- a checkpoint of its own ------------------------------------------------------------------------------------- */

rs_status rs_weight_types_check(const char *folder, rs_err *err) {
  rs_gguf *file;
  rs_status status = RS_OK;
  if (!rs_hf_is_gguf(folder)) return RS_OK;
  RS_TRY(rs_gguf_open(folder, &file, err));
  const rs_safetensors *weights = rs_gguf_checkpoint(file);
  for (size_t i = 0; i < weights->count && status == RS_OK; i++) /* no numbers of it: its type alone is looked at */
    status = rs_stored_floats(&weights->tensors[i], 0, 0, NULL, err);
  rs_gguf_close(file);
  return status;
}

rs_status rs_folder_shape(const char *folder, rs_shape *shape, rs_err *err) {
  rs_hf_checkpoint published = {0};
  rs_trained trained = {0};
  bool marked;
  *shape = (rs_shape){0};
  RS_TRY(rs_trained_marked(folder, &marked, err));
  RS_TRY(marked ? rs_trained_read(folder, &trained, err) : rs_hf_checkpoint_read(folder, &published, err));
  rs_shape *from = marked ? &trained.shape : &published.shape;
  *shape = *from;
  *from = (rs_shape){0};
  rs_trained_clear(&trained);
  rs_hf_checkpoint_clear(&published);
  return RS_OK;
}

static rs_status check_text(const rs_variant *source, size_t vocabulary, rs_err *err) {
  const rs_model_source *rows = source->params;
  const rs_binding binding = bind(source);
  size_t place = offsetof(rs_model_source, tokens), n = 0;
  rs_token_file file;
  rs_err why = {0};
  if (rs_token_file_read(rows->tokens, rows->numbers, &file, &why) != RS_OK)
    return rs_fail_on(err, why.status, "tokens", "%s", why.message);
  while (n < file.count && rs_token_id(&file, n) < vocabulary) n++;
  rs_status status = n == file.count
                         ? RS_OK
                         : rs_binding_fail(&binding, place, err, "token %zu (from 0) is %u, the vocabulary has %zu", n,
                                           (unsigned)rs_token_id(&file, n), vocabulary);
  rs_token_file_clear(&file);
  return status;
}

/* Its heads are seen as those of the model that methods are for. */
static rs_status check_shape(const rs_variant *source, const rs_shape *shape, const rs_model *model, rs_err *err) {
  const rs_model_source *rows = source->params;
  const rs_binding binding = bind(source);
  size_t place = offsetof(rs_model_source, checkpoint);
  if (shape->form != RS_DECODER)
    return rs_binding_fail(&binding, place, err, "is no decoder: no text alone gives its layers what they read");
  RS_TRY(check_place(source, "the checkpoint", shape->decoder.count, model->heads, err));
  const rs_head_shape *heads = &shape->decoder.blocks[rows->layer].attention;
  if (heads->heads != model->heads || heads->head_dim != model->head_dim)
    return rs_binding_fail(&binding, place, err, "has %zu heads of %zu in layer %zu, model %s has %zu of %zu",
                           heads->heads, heads->head_dim, rows->layer, model->name, model->heads, model->head_dim);
  return check_text(source, shape->vocabulary, err);
}

static rs_status check_folder(const rs_variant *source, const rs_model *model, rs_err *err) {
  const rs_model_source *rows = source->params;
  rs_shape shape;
  rs_err why = {0};
  rs_status status = rs_weight_types_check(rows->checkpoint.path, &why);
  if (status == RS_OK) status = rs_folder_shape(rows->checkpoint.path, &shape, &why);
  if (status != RS_OK) return rs_fail_on(err, why.status, "checkpoint", "%s", why.message);
  status = check_shape(source, &shape, model, err);
  rs_shape_clear(&shape);
  return status;
}

rs_status rs_model_source_check(const rs_config_context *config, const rs_variant *source, size_t model, rs_err *err) {
  const rs_model *geometry = &config->experiment->models[model];
  const rs_model_source *rows = source->params;
  if (!source->source->of_model) return RS_OK;
  const rs_binding binding = bind(source);
  const char *folder = rows->checkpoint.path;
  if (folder != NULL && rs_reads_checkpoint(config))
    return rs_binding_fail(&binding, offsetof(rs_model_source, checkpoint), err,
                           "stands beside the config's checkpoint, whose heads the source hands on (keep one of them)");
  if (folder != NULL) return check_folder(source, geometry, err);
  if (!rs_reads_checkpoint(config))
    return rs_fail(err, RS_INPUT,
                   "hands on what a checkpoint's heads hold: there is none (add checkpoint: {method: rope} and a task, "
                   "or to the source checkpoint: FOLDER, tokens: FILE)");
  return check_place(source, geometry->name, config->experiment->checkpoints[model].layers, geometry->heads, err);
}
