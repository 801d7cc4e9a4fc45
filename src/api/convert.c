/* Recipes for other consumers. */
#include "advice/advice.h"

#include "api.h"

#include <stdlib.h>
#include <string.h>

struct ropescope_conversion {
  rs_conversion made;
};

static rs_status read_model(const ropescope_recipe_source *source, rs_convertible *model, rs_err *err) {
  char *path = NULL, *data = NULL;
  size_t length = 0;
  if (source->preset != NULL) return rs_convertible_preset(source->preset, model, err);
  if (source->text != NULL)
    return rs_convertible_read(source->text, strlen(source->text), source->file != NULL ? source->file : "config.json",
                               model, err);
  path = rs_api_config_path(source->file, err);
  rs_status status = path != NULL ? rs_file_read(path, RS_LARGEST_FILE, &data, &length, err) : RS_MEMORY;
  if (status == RS_OK) status = rs_convertible_read(data, length, path, model, err);
  free(data);
  free(path);
  return status;
}

/* The method of the source on the chosen layers, in the place of what they publish. */
static rs_status put_method(const char *method, rs_convertible *model, rs_problems *problems, rs_err *err) {
  rs_model *chosen = &model->profile.kinds[model->kind].model;
  const rs_subject_in in = {.on = chosen, .method = method, .label = "method", .length = 1};
  rs_subject subject;
  RS_TRY(rs_subject_read(&in, &subject, problems, err));
  rs_recipe_clear(&chosen->published);
  chosen->published = subject.recipe;
  subject.recipe = (rs_recipe){0};
  rs_subject_clear(&subject);
  return RS_OK;
}

static rs_status convert(const ropescope_recipe_source *source, const char *to, size_t length, rs_conversion *out,
                         rs_problems *problems, rs_err *err) {
  rs_convertible model;
  RS_TRY(rs_api_model_check(source, err));
  RS_TRY(read_model(source, &model, err));
  rs_status status = rs_profile_find(&model.profile, source->layers, &model.kind, err);
  if (status == RS_OK && source->method != NULL) status = put_method(source->method, &model, problems, err);
  if (status == RS_OK && to == NULL) status = rs_fail_on(err, RS_INPUT, "to", "is missing");
  if (status == RS_OK) status = rs_convert(&model, to, length, out, err);
  rs_convertible_clear(&model);
  return status;
}

ropescope_status ropescope_convert(const ropescope_recipe_source *source, const char *to, size_t length,
                                   ropescope_conversion **conversion, ropescope_error **error) {
  rs_problems problems = {0};
  rs_err err = {0};
  *conversion = rs_alloc(1, sizeof **conversion, &err);
  rs_status status =
      *conversion != NULL ? convert(source, to, length, &(*conversion)->made, &problems, &err) : RS_MEMORY;
  return RS_API_END(status, conversion, ropescope_conversion_free, error, &err, &problems);
}

void ropescope_conversion_free(ropescope_conversion *conversion) {
  if (conversion == NULL) return;
  rs_conversion_clear(&conversion->made);
  free(conversion);
}

const char *ropescope_conversion_fragment(const ropescope_conversion *conversion) {
  return rs_api_word(conversion->made.fragment);
}

const char *ropescope_conversion_argument(const ropescope_conversion *conversion, size_t index) {
  return index < conversion->made.arguments.count ? conversion->made.arguments.items[index] : NULL;
}

const char *ropescope_conversion_note(const ropescope_conversion *conversion, size_t index) {
  return index < conversion->made.notes.count ? conversion->made.notes.items[index] : NULL;
}
