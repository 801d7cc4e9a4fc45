/* Weights as files of safetensors. */
#include "context.h"

#include <stdlib.h>
#include <string.h>

static size_t number_bytes(const rs_transformer *t) {
  return t->format == RS_F64 ? sizeof(double) : sizeof(float);
}

static size_t count_of(const rs_tensor *tensor) {
  return tensor->rows * tensor->columns;
}

rs_tensor_numbers rs_tensor_stored(const rs_transformer *transformer, const rs_tensor *tensor,
                                   const rs_stored_shape *shape, const void *values) {
  bool wide = transformer->format == RS_F64;
  return (rs_tensor_numbers){.name = tensor->name,
                             .dtype = wide ? RS_DTYPE_F64 : RS_DTYPE_F32,
                             .rank = shape->rank,
                             .shape = shape->extents,
                             .floats = wide ? NULL : (const float *)values + tensor->offset,
                             .doubles = wide ? (const double *)values + tensor->offset : NULL};
}

rs_status rs_tensor_load(const rs_transformer *transformer, const rs_tensor *tensor, const rs_safetensors *file,
                         const char *name, void *values, rs_err *err) {
  const rs_stored_tensor *stored;
  rs_stored_shape shape = rs_tensor_shape(tensor);
  RS_TRY(rs_safetensors_get(file, name, shape.extents, shape.rank, &stored, err));
  if (transformer->format == RS_F64)
    return rs_stored_doubles(stored, 0, count_of(tensor), (double *)values + tensor->offset, err);
  return rs_stored_floats(stored, 0, count_of(tensor), (float *)values + tensor->offset, err);
}

rs_status rs_weights_write(const rs_transformer *transformer, const char *path, rs_err *err) {
  size_t count = transformer->tensor_count;
  if (transformer->mapped) return rs_fail(err, RS_UNSUPPORTED, "the model's weights stay in their file");
  rs_tensor_numbers *numbers = rs_alloc(count, sizeof *numbers, err);
  rs_stored_shape *shapes = rs_alloc(count, sizeof *shapes, err);
  rs_status status = numbers != NULL && shapes != NULL ? RS_OK : RS_MEMORY;
  for (size_t i = 0; i < count && status == RS_OK; i++) {
    shapes[i] = rs_tensor_shape(&transformer->tensors[i]);
    numbers[i] = rs_tensor_stored(transformer, &transformer->tensors[i], &shapes[i], transformer->values);
  }
  if (status == RS_OK) status = rs_safetensors_write(path, numbers, count, err);
  free(numbers);
  free(shapes);
  return status;
}

static rs_status refuse_unused(const rs_transformer *transformer, const rs_safetensors *file, rs_err *err) {
  for (size_t i = 0; i < file->count; i++)
    if (rs_transformer_tensor(transformer, file->tensors[i].name) == NULL)
      return rs_fail(err, RS_INPUT, "%s: tensor \"%s\": the model has no such weights", file->tensors[i].file,
                     file->tensors[i].name);
  return RS_OK;
}

rs_status rs_weights_read(rs_transformer *transformer, const char *path, rs_err *err) {
  rs_safetensors *file;
  RS_TRY(rs_safetensors_map(path, &file, err));
  size_t bytes = transformer->size * number_bytes(transformer);
  void *values = rs_alloc(transformer->size, number_bytes(transformer), err); /* what stands between tensors stays 0 */
  rs_status status = values != NULL ? RS_OK : RS_MEMORY;
  for (size_t i = 0; i < transformer->tensor_count && status == RS_OK; i++)
    status = rs_tensor_load(transformer, &transformer->tensors[i], file, transformer->tensors[i].name, values, err);
  if (status == RS_OK) status = refuse_unused(transformer, file, err);
  if (status == RS_OK) memcpy(transformer->values, values, bytes);
  free(values);
  rs_safetensors_free(file);
  return status;
}
