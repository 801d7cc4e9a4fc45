/* What there is: the version, names to choose from, and methods of the caller's. */
#include "api.h"

#include "advice/advice.h"

#include <stdlib.h>
#include <string.h>

struct ropescope_library {
  rs_api_method **methods; /* (count,) owned */
  const rs_method **list;  /* (count,) the same as internals have them */
  size_t count, method_room, list_room;
};

rs_method_list rs_api_methods(const ropescope_library *library) {
  return library != NULL ? (rs_method_list){library->list, library->count} : (rs_method_list){0};
}

const char *ropescope_version(void) {
  return ROPESCOPE_VERSION;
}

/* ---- methods of the caller's ------------------------------------------------------------------------------------- */

ropescope_status ropescope_library_create(ropescope_library **library, ropescope_error **error) {
  rs_err err = {0};
  *library = rs_alloc(1, sizeof **library, &err);
  return *library != NULL ? ROPESCOPE_OK : rs_api_fail(error, &err, NULL);
}

void ropescope_library_free(ropescope_library *library) {
  if (library == NULL) return;
  for (size_t i = 0; i < library->count; i++) {
    rs_api_method_release(library->methods[i]);
    rs_api_method_free(library->methods[i]);
  }
  free(library->methods);
  free(library->list);
  free(library);
}

static rs_status add(ropescope_library *library, const ropescope_method_spec *spec, rs_err *err) {
  rs_api_method *method;
  RS_TRY(RS_GROW(library->methods, &library->method_room, library->count + 1, err));
  RS_TRY(RS_GROW(library->list, &library->list_room, library->count + 1, err));
  RS_TRY(rs_api_method_make(spec, &method, err));
  const rs_method *made = rs_api_method_of(method);
  const rs_method_list mine = rs_api_methods(library);
  if (rs_method_find_in(&mine, made->name) != NULL || strcmp(made->name, RS_PUBLISHED) == 0 ||
      strcmp(made->name, RS_TRAINED) == 0) {
    rs_status status = rs_fail_on(err, RS_INPUT, "name", "%s is taken: there is such a method", made->name);
    rs_api_method_free(method);
    return status;
  }
  library->methods[library->count] = method;
  library->list[library->count++] = made;
  return RS_OK;
}

ropescope_status ropescope_library_add_method(ropescope_library *library, const ropescope_method_spec *spec,
                                              ropescope_error **error) {
  rs_err err = {0};
  return rs_api_end(add(library, spec, &err), error, &err, NULL);
}

/* ---- names to choose from ---------------------------------------------------------------------------------------- */

static int tell(ropescope_entry *entry, const char *name, const char *summary, const char *reference) {
  *entry = (ropescope_entry){name, rs_api_word(summary), rs_api_word(reference)};
  return 1;
}

int ropescope_method_at(const ropescope_library *library, size_t index, ropescope_entry *entry) {
  const rs_method_list mine = rs_api_methods(library);
  size_t count;
  const rs_method *methods = rs_methods(&count);
  if (index >= count && index - count >= mine.count) return 0;
  const rs_method *method = index < count ? &methods[index] : mine.items[index - count];
  return tell(entry, method->name, method->summary, method->reference);
}

int ropescope_metric_at(size_t index, ropescope_entry *entry) {
  size_t count;
  const rs_metric_kind *const *kinds = rs_metric_kinds(&count);
  if (index >= count) return 0;
  return tell(entry, kinds[index]->kind.name, kinds[index]->kind.summary, kinds[index]->kind.reference);
}

int ropescope_preset_at(size_t index, ropescope_entry *entry) {
  size_t count;
  const rs_preset *presets = rs_presets(&count);
  return index < count ? tell(entry, presets[index].name, NULL, NULL) : 0;
}

int ropescope_rule_at(size_t index, ropescope_entry *entry) {
  const rs_rule *rule = rs_rules(index);
  return rule != NULL ? tell(entry, rule->code, rule->summary, rule->reference) : 0;
}

int ropescope_engine_at(size_t index, ropescope_entry *entry) {
  const rs_config_engine *engine = rs_config_engines(index);
  return engine != NULL ? tell(entry, engine->name, engine->title, engine->source) : 0;
}

int ropescope_consumer_at(size_t index, ropescope_entry *entry) {
  const rs_consumer *consumer = rs_consumers(index);
  return consumer != NULL ? tell(entry, consumer->name, consumer->summary, consumer->reference) : 0;
}
