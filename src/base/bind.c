/* From checked values to the fields of a struct: what computes reads those, never a name. */
#include "base/base.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t whole(const rs_value *value) {
  return isnan(value->number) ? RS_NO_COUNT : (size_t)value->number;
}

/* An enum's field has the size of an int, whatever its signedness. */
void rs_bind_value(const rs_param *param, const rs_value *value, void *fields) {
  void *field = (char *)fields + param->offset;
  bool worded = param->words != NULL;
  switch (param->type) {
  case RS_REAL:
    if (worded)
      *(rs_real_or_word *)field = (rs_real_or_word){value->number, value->choice};
    else
      *(double *)field = value->number;
    return;
  case RS_INTEGER:
    if (worded)
      *(rs_count_or_word *)field = (rs_count_or_word){whole(value), value->choice};
    else
      *(size_t *)field = whole(value);
    return;
  case RS_BOOL: *(bool *)field = value->set && value->number == 1; return;
  case RS_CHOICE: memcpy(field, &value->choice, sizeof value->choice); return;
  case RS_REALS: *(rs_real_list *)field = (rs_real_list){value->list, value->count, value->choice}; return;
  case RS_FILE: *(const char **)field = value->file; return;
  case RS_FOLDER: ((rs_folder *)field)->path = value->file; return;
  case RS_NAME: ((rs_name *)field)->text = value->name; return;
  case RS_RECIPE: *(rs_recipe_or_word *)field = (rs_recipe_or_word){value->name, value->inner, value->choice}; return;
  }
}

void rs_bind(const rs_settings *settings, const rs_param *params, size_t count, void *fields) {
  for (size_t i = 0; i < count; i++) rs_bind_value(&params[i], rs_setting(settings, params[i].name), fields);
}

rs_binding rs_binding_over(const rs_settings *settings, const rs_param *params, size_t count, void *fields) {
  rs_bind(settings, params, count, fields);
  return (rs_binding){.settings = settings, .params = params, .count = count, .fields = fields};
}

rs_status rs_binding_make(const rs_settings *settings, const rs_param *params, size_t count, size_t size,
                          rs_binding *binding, rs_err *err) {
  *binding = (rs_binding){.settings = settings, .params = params, .count = count};
  if (size == 0) return RS_OK;
  binding->fields = rs_alloc(1, size, err);
  if (binding->fields == NULL) {
    rs_binding_clear(binding);
    return RS_MEMORY;
  }
  rs_bind(settings, params, count, binding->fields);
  return RS_OK;
}

void rs_binding_clear(rs_binding *binding) {
  free(binding->fields);
  *binding = (rs_binding){0};
}

const rs_param *rs_binding_param(const rs_binding *binding, size_t offset) {
  for (size_t i = 0; i < binding->count; i++)
    if (binding->params[i].offset == offset) return &binding->params[i];
  return NULL;
}

bool rs_binding_given(const rs_binding *binding, size_t offset) {
  const rs_param *param = rs_binding_param(binding, offset);
  return param != NULL && rs_setting(binding->settings, param->name)->given;
}

rs_status rs_binding_fail(const rs_binding *binding, size_t offset, rs_err *err, const char *format, ...) {
  const rs_param *param = rs_binding_param(binding, offset);
  char why[sizeof err->message];
  va_list words;
  va_start(words, format);
  vsnprintf(why, sizeof why, format, words);
  va_end(words);
  return rs_fail_on(err, RS_INPUT, param != NULL ? param->name : "", "%s", why);
}

rs_status rs_binding_unused(const rs_binding *binding, size_t offset, const char *with, rs_err *err) {
  if (!rs_binding_given(binding, offset)) return RS_OK;
  return rs_binding_fail(binding, offset, err, "has no effect with %s (leave one of them out)", with);
}
