/* Arrays that stand as a model's weights do, in files of safetensors. Private to the model layer. */
#ifndef ROPESCOPE_MODEL_WEIGHTS_H
#define ROPESCOPE_MODEL_WEIGHTS_H

#include "places.h"

/* What is to be written of `values` (transformer->size,), in the model's format, for the tensor. Borrows all. */
rs_tensor_numbers rs_tensor_stored(const rs_transformer *transformer, const rs_tensor *tensor,
                                   const rs_stored_shape *shape, const void *values);

/* Reads what the file has as `name` to where the tensor stands in `values`. RS_INPUT with name and shape. */
rs_status rs_tensor_load(const rs_transformer *transformer, const rs_tensor *tensor, const rs_safetensors *file,
                         const char *name, void *values, rs_err *err);

#endif
