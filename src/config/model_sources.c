/* Sources that hand on what a checkpoint's own heads hold. */
#include "config_internal.h"

/* For a head or layer that is not there, of `count`. */
static rs_status refuse(const rs_variant *source, size_t offset, const char *model, size_t count, const char *what,
                        rs_err *err) {
  const rs_kind *kind = &source->source->kind;
  const rs_binding binding = {&source->settings, kind->params, kind->param_count, source->params};
  if (count == 1) return rs_binding_fail(&binding, offset, err, "must be 0: %s has one %s", model, what);
  return rs_binding_fail(&binding, offset, err, "must be from 0 to %zu: %s has %zu %ss", count - 1, model, count, what);
}

rs_status rs_model_source_check(const rs_config_context *config, const rs_variant *source, rs_err *err) {
  const rs_experiment *experiment = config->experiment;
  const rs_model_source *rows = source->params;
  if (!rs_reads_checkpoint(config))
    return rs_fail(err, RS_INPUT,
                   "hands on what a checkpoint's heads hold: there is none (add checkpoint: {method: "
                   "rope} and a task)");
  for (size_t m = 0; m < experiment->model_count; m++) {
    const rs_model *model = &experiment->models[m];
    size_t layers = experiment->checkpoints[m].layers;
    if (layers > 0 && rows->layer >= layers)
      return refuse(source, offsetof(rs_model_source, layer), model->name, layers, "layer", err);
    if (rows->head.word == RS_NO_WORD && rows->head.number >= model->heads)
      return refuse(source, offsetof(rs_model_source, head), model->name, model->heads, "head", err);
  }
  return RS_OK;
}
