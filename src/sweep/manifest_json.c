/* Lists and objects of manifest.json that grow, or say that they could not. */
#include "run.h"

rs_status rs_manifest_no_memory(rs_err *err) {
  return rs_fail(err, RS_MEMORY, "out of memory for manifest.json");
}

rs_status rs_manifest_append(json_t *list, json_t *entry, rs_err *err) {
  return json_array_append_new(list, entry) == 0 ? RS_OK : rs_manifest_no_memory(err);
}

rs_status rs_manifest_set(json_t *object, const char *key, json_t *value, rs_err *err) {
  return json_object_set_new(object, key, value) == 0 ? RS_OK : rs_manifest_no_memory(err);
}
