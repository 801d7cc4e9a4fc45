/* Arrays of files, where they are. */
#include "api.h"

#include <stdlib.h>

struct ropescope_array {
  char *path;
  rs_tensor_file file;
};

/* The type as rows have it; false: rows have none such. */
static bool find_dtype(rs_dtype stored, ropescope_dtype *dtype) {
  static const struct {
    rs_dtype stored;
    ropescope_dtype dtype;
  } dtypes[] = {{RS_DTYPE_F64, ROPESCOPE_F64},
                {RS_DTYPE_F32, ROPESCOPE_F32},
                {RS_DTYPE_BF16, ROPESCOPE_BF16},
                {RS_DTYPE_F16, ROPESCOPE_F16}};
  for (size_t i = 0; i < RS_COUNT(dtypes); i++) {
    if (dtypes[i].stored != stored) continue;
    *dtype = dtypes[i].dtype;
    return true;
  }
  return false;
}

static rs_status check_tensor(const char *path, const rs_stored_tensor *tensor, rs_err *err) {
  ropescope_dtype dtype;
  if (!find_dtype(tensor->dtype, &dtype))
    return rs_fail(err, RS_UNSUPPORTED, "%s: holds %s, and rows are F64, F32, BF16 or F16", path,
                   rs_dtype_words[tensor->dtype]);
  if (tensor->rank == 0 || tensor->rank > 3)
    return rs_fail(err, RS_UNSUPPORTED, "%s: has %zu axes, and rows have (heads,) tokens and dims", path, tensor->rank);
  if (tensor->count > 0 && (uintptr_t)tensor->data % (tensor->bytes / tensor->count) != 0)
    return rs_fail(err, RS_UNSUPPORTED, "%s: its numbers are not aligned to their size", path);
  return RS_OK;
}

static rs_status open_file(const char *path, const char *tensor, ropescope_array *array, rs_err *err) {
  if (path == NULL) return rs_fail_on(err, RS_INPUT, "path", "is missing");
  if (tensor == NULL && !rs_is_npy(path))
    return rs_fail_on(err, RS_INPUT, "tensor", "is missing: %s has several", path);
  array->path = rs_strdup(path, err);
  if (array->path == NULL) return RS_MEMORY;
  RS_TRY(rs_tensor_file_map(array->path, rs_api_word(tensor), &array->file, err));
  return check_tensor(path, &array->file.tensor, err);
}

ropescope_status ropescope_array_open(const char *path, const char *tensor, ropescope_array **array,
                                      ropescope_error **error) {
  rs_err err = {0};
  *array = rs_alloc(1, sizeof **array, &err);
  rs_status status = *array != NULL ? open_file(path, tensor, *array, &err) : RS_MEMORY;
  return RS_API_END(status, array, ropescope_array_free, error, &err, NULL);
}

void ropescope_array_free(ropescope_array *array) {
  if (array == NULL) return;
  rs_tensor_file_clear(&array->file);
  free(array->path);
  free(array);
}

size_t ropescope_array_rank(const ropescope_array *array) {
  return array->file.tensor.rank;
}

size_t ropescope_array_extent(const ropescope_array *array, size_t axis) {
  return axis < array->file.tensor.rank ? array->file.tensor.shape[axis] : 0;
}

ropescope_rows ropescope_array_rows(const ropescope_array *array) {
  const rs_stored_tensor *tensor = &array->file.tensor;
  size_t dims = tensor->shape[tensor->rank - 1], tokens = tensor->rank > 1 ? tensor->shape[tensor->rank - 2] : 1;
  ropescope_rows rows = {.data = tensor->data,
                         .head_stride = (ptrdiff_t)(tokens * dims),
                         .token_stride = (ptrdiff_t)dims,
                         .dim_stride = 1};
  (void)find_dtype(tensor->dtype, &rows.dtype);
  return rows;
}
