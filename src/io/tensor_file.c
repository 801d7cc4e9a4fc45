/* tensor_file.c: one tensor of a file of either format, where it is. */
#include <string.h>

#include "io_internal.h"
#include "tensors.h"

bool rs_is_npy(const char *path) {
  size_t length = strlen(path);
  return length >= 4 && strcmp(path + length - 4, ".npy") == 0;
}

/* The tensor called `name`. */
static rs_status choose(const char *path, const char *name, rs_tensor_file *file, rs_err *err) {
  char wanted[RS_NAME_CHARS], other[RS_NAME_CHARS];
  const rs_safetensors *checkpoint = file->checkpoint;
  const rs_stored_tensor *tensor = rs_safetensors_find(checkpoint, name);
  if (tensor != NULL) {
    file->tensor = *tensor;
    return RS_OK;
  }
  rs_shorten(name, sizeof wanted, wanted);
  if (checkpoint->count == 0) return rs_fail(err, RS_INPUT, "%s: holds no tensors", path);
  rs_shorten(checkpoint->tensors[checkpoint->by_name[0]].name, sizeof other, other);
  return rs_fail(err, RS_INPUT, "%s: has no tensor \"%s\" (it has %zu, the first by name is \"%s\")", path, wanted,
                 checkpoint->count, other);
}

rs_status rs_tensor_file_map(const char *path, const char *name, rs_tensor_file *file, rs_err *err) {
  rs_status status;
  *file = (rs_tensor_file){0};
  if (rs_is_npy(path)) {
    status = rs_file_map(path, &file->mapping, err);
    if (status == RS_OK) status = rs_npy_describe(&file->mapping, path, &file->tensor, err);
  } else {
    status = rs_safetensors_map(path, &file->checkpoint, err);
    if (status == RS_OK) status = choose(path, name, file, err);
  }
  if (status != RS_OK) rs_tensor_file_clear(file);
  return status;
}

void rs_tensor_file_clear(rs_tensor_file *file) {
  rs_file_unmap(&file->mapping);
  rs_safetensors_free(file->checkpoint);
  *file = (rs_tensor_file){0};
}
