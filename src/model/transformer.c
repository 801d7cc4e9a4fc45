/* Transformers: their weights as they begin, and the list of them. */
#include "context.h"

#include <stdlib.h>
#include <string.h>

/* ---- first values ------------------------------------------------------------------------------------------------ */

void rs_transformer_set(rs_transformer *t, size_t index, double value) {
  if (t->format == RS_F64)
    ((double *)t->values)[index] = value;
  else
    ((float *)t->values)[index] = (float)value;
}

double rs_transformer_get(const rs_transformer *t, size_t index) {
  return t->format == RS_F64 ? ((const double *)t->values)[index] : (double)((const float *)t->values)[index];
}

double rs_tensor_value(const rs_transformer *t, const rs_tensor *tensor, size_t index) {
  rs_stored_matrix row;
  double number;
  if (tensor->offset != RS_NOWHERE) return rs_transformer_get(t, tensor->offset + index);
  const rs_mapped_matrix *matrix = &t->matrices[tensor - t->tensors];
  if (matrix->blocks != NULL) {
    float single;
    rs_mapped_blocks(matrix, index / tensor->columns, index % tensor->columns, 1, &single);
    return (double)single;
  }
  (void)rs_mapped_rows(matrix, index / tensor->columns, 1, &row);
  const char *numbers = row.numbers;
  numbers += index % tensor->columns * row.input_step * rs_format_bytes(row.format);
  rs_kernels_get()->net_f64->widen(numbers, row.format, 1, 1, &number);
  return number;
}

static size_t their_row(const rs_mapped_matrix *matrix, size_t row) {
  size_t run = row / matrix->run, place = row % matrix->run;
  return matrix->first +
         (matrix->paired ? run / 2 * 2 * matrix->run + run % 2 + 2 * place : run * matrix->group_step + place);
}

/* Where single rows alternate with others, all of ours are as far apart. */
size_t rs_mapped_rows(const rs_mapped_matrix *matrix, size_t row, size_t wanted, rs_stored_matrix *rows) {
  size_t run = matrix->run, theirs = their_row(matrix, row);
  bool single = run == 1 && !matrix->paired;
  size_t left = single ? wanted : run - row % run, step = matrix->paired ? 2 : single ? matrix->group_step : 1;
  *rows = (rs_stored_matrix){.numbers = matrix->numbers + theirs * matrix->row_step * rs_format_bytes(matrix->format),
                             .format = matrix->format,
                             .input_step = matrix->column_step,
                             .output_step = step * matrix->row_step};
  return left < wanted ? left : wanted;
}

/* They were checked when the matrix was found. */
void rs_mapped_blocks(const rs_mapped_matrix *matrix, size_t row, size_t first, size_t count, float *numbers) {
  (void)rs_stored_floats(matrix->blocks, their_row(matrix, row) * matrix->row_step + first, count, numbers, NULL);
}

static void set_all(rs_transformer *t, const rs_tensor *tensor, const double *values, double factor) {
  size_t count = tensor->rows * tensor->columns;
  for (size_t i = 0; i < count; i++) rs_transformer_set(t, tensor->offset + i, factor * values[i]);
}

/* The numbers of a tensor before training; `room` has as many. Each tensor has a stream of its own, by its number. */
static void draw(rs_transformer *t, size_t index, rs_encoding *const *encodings, uint64_t seed, double *room) {
  const rs_tensor *tensor = &t->tensors[index];
  rs_stream stream = {.seed = seed, .purpose = RS_PURPOSE_WEIGHTS, .head = (uint32_t)index};
  size_t count = tensor->rows * tensor->columns;
  double factor = 1;
  if (tensor->offset == RS_NOWHERE) return;
  switch (tensor->init) {
  case RS_INIT_GAUSSIAN:
    rs_gaussian_fill(stream, 0, count, room);
    factor = tensor->init_sd;
    break;
  case RS_INIT_LEARNED: rs_encoding_learned_get(encodings[tensor->recipe], tensor->learned, room); break;
  case RS_INIT_ONE:
    for (size_t i = 0; i < count; i++) room[i] = 1;
    break;
  case RS_INIT_ZERO: factor = 0;
  }
  set_all(t, tensor, room, factor);
}

static rs_status make_values(rs_transformer *t, rs_err *err) {
  t->values = rs_room(t->size, t->format == RS_F64 ? sizeof(double) : sizeof(float), "a model", err);
  return t->values != NULL ? RS_OK : RS_MEMORY;
}

static rs_status draw_all(rs_transformer *t, rs_encoding *const *encodings, uint64_t seed, rs_err *err) {
  size_t largest = 0;
  for (size_t i = 0; i < t->tensor_count; i++) {
    size_t count = t->tensors[i].rows * t->tensors[i].columns;
    if (count > largest && t->tensors[i].offset != RS_NOWHERE) largest = count;
  }
  RS_TRY(make_values(t, err)); /* the first to say what there is no room for */
  double *room = rs_alloc(largest, sizeof *room, err);
  rs_status status = room != NULL ? RS_OK : RS_MEMORY;
  for (size_t i = 0; i < t->tensor_count && status == RS_OK; i++) draw(t, i, encodings, seed, room);
  free(room);
  return status;
}

/* ---- create and free --------------------------------------------------------------------------------------------- */

static rs_status check_blocks(const rs_transformer_in *in, const rs_stack *stack, rs_err *err) {
  for (size_t i = 0; i < stack->count; i++) {
    const rs_head_shape *heads = &stack->blocks[i].attention;
    if (stack->blocks[i].recipe >= in->recipe_count)
      return rs_fail(err, RS_INPUT, "block %zu names positional recipe %zu of %zu", i, stack->blocks[i].recipe,
                     in->recipe_count);
    if (heads->heads != in->geometry->heads || heads->head_dim != in->geometry->head_dim)
      return rs_fail(err, RS_INPUT, "block %zu has %zu heads of %zu, its recipes are made for %zu of %zu", i,
                     heads->heads, heads->head_dim, in->geometry->heads, in->geometry->head_dim);
  }
  return RS_OK;
}

static rs_status copy_inputs(rs_transformer *t, const rs_transformer_in *in, rs_err *err) {
  RS_TRY(rs_shape_copy(&t->shape, in->shape, err));
  t->format = in->format;
  t->mapped = in->mapped;
  t->geometry = *in->geometry;
  t->geometry.published = (rs_recipe){0}; /* owned by whoever gave it */
  t->recipes = rs_alloc(in->recipe_count, sizeof *t->recipes, err);
  if (t->recipes == NULL) return RS_MEMORY;
  for (; t->recipe_count < in->recipe_count; t->recipe_count++)
    RS_TRY(rs_recipe_copy(&t->recipes[t->recipe_count], &in->recipes[t->recipe_count], err));
  return RS_OK;
}

/* Whether the tensors listed so far are in the file that weights come from. */
static rs_status check_stored(const rs_transformer *t, const rs_safetensors *stored, rs_err *err) {
  const rs_stored_tensor *tensor;
  for (size_t i = 0; i < t->tensor_count && stored != NULL; i++) {
    rs_stored_shape shape = rs_tensor_shape(&t->tensors[i]);
    RS_TRY(rs_safetensors_get(stored, t->tensors[i].name, shape.extents, shape.rank, &tensor, err));
  }
  return RS_OK;
}

/* Tables that learn are in the file, too; what else they take is a few numbers a position. */
static rs_status check_tables(const rs_transformer *t, size_t recipe, const rs_transformer_in *in, rs_err *err) {
  static const double positions = 1 << 30; /* bytes */
  double stored = 0;
  for (size_t i = 0; i < in->stored->count; i++) stored += (double)in->stored->tensors[i].count;
  double bytes = rs_encoding_bytes(&t->recipes[recipe], &t->geometry, t->geometry.train_length, in->tokens);
  if (!(bytes > positions + 3 * sizeof(double) * stored)) return RS_OK; /* a table, and two copies while it is made */
  return rs_fail(err, RS_INPUT, "%s takes %.3g GiB at train_length = %zu, more than a model of %.0f numbers can have",
                 t->recipes[recipe].method->name, bytes / (1 << 30), t->geometry.train_length, stored);
}

static rs_status fill(rs_transformer *t, const rs_transformer_in *in, rs_encoding **encodings, rs_err *err) {
  RS_TRY(copy_inputs(t, in, err));
  RS_TRY(rs_places_make(t, err));
  RS_TRY(check_stored(t, in->stored, err));
  for (size_t r = 0; r < t->recipe_count; r++) {
    if (in->stored != NULL) RS_TRY(check_tables(t, r, in, err));
    RS_TRY(rs_encoding_create(&t->recipes[r], &t->geometry, t->geometry.train_length, in->tokens, NULL, &encodings[r],
                              err));
    RS_TRY(rs_recipe_fix(&t->recipes[r], encodings[r], err));
  }
  RS_TRY(rs_places_learned(t, encodings, err));
  RS_TRY(check_stored(t, in->stored, err));
  if (t->mapped) t->matrices = rs_alloc(t->tensor_count, sizeof *t->matrices, err);
  if (t->mapped && t->matrices == NULL) return RS_MEMORY;
  return in->blank ? make_values(t, err) : draw_all(t, encodings, in->seed, err);
}

rs_status rs_transformer_create(const rs_transformer_in *in, rs_transformer **transformer, rs_err *err) {
  *transformer = NULL;
  RS_TRY(rs_shape_check(in->shape, err));
  RS_TRY(check_blocks(in, &in->shape->encoder, err));
  RS_TRY(check_blocks(in, &in->shape->decoder, err));
  rs_transformer *fresh = rs_alloc(1, sizeof *fresh, err);
  rs_encoding **encodings = rs_alloc(in->recipe_count, sizeof(rs_encoding *), err);
  rs_status status = fresh != NULL && encodings != NULL ? fill(fresh, in, encodings, err) : RS_MEMORY;
  for (size_t r = 0; r < in->recipe_count && encodings != NULL; r++) rs_encoding_free(encodings[r]);
  free(encodings);
  if (status == RS_OK)
    *transformer = fresh;
  else
    rs_transformer_free(fresh);
  return status;
}

void rs_transformer_free(rs_transformer *transformer) {
  if (transformer == NULL) return;
  for (size_t r = 0; r < transformer->recipe_count; r++) rs_recipe_clear(&transformer->recipes[r]);
  free(transformer->recipes);
  rs_shape_clear(&transformer->shape);
  rs_places_free(transformer->places);
  free(transformer->tensors);
  free(transformer->values);
  free(transformer->matrices);
  rs_safetensors_free(transformer->file);
  free(transformer);
}

/* Whether the tensor's rows are those of positions 0, 1, ... */
static bool by_position(const rs_transformer *t, const rs_tensor *tensor) {
  const rs_embed_kind *embed = t->recipes[tensor->recipe].method->embed;
  return tensor->init == RS_INIT_LEARNED && tensor->learned == 0 && embed != NULL && embed->by_position;
}

/* Rows that mean the same in both, from the first; 0: the tensors have nothing in common. */
static size_t common_rows(const rs_transformer *to, const rs_tensor *tensor, const rs_transformer *from,
                          const rs_tensor *other) {
  if (other == NULL || other->columns != tensor->columns) return 0;
  if (other->rows == tensor->rows) return tensor->rows;
  if (!by_position(to, tensor) || !by_position(from, other)) return 0;
  return other->rows < tensor->rows ? other->rows : tensor->rows;
}

size_t rs_transformer_adopt(rs_transformer *to, const rs_transformer *from) {
  size_t adopted = 0;
  for (size_t i = 0; i < to->tensor_count; i++) {
    const rs_tensor *tensor = &to->tensors[i], *other = rs_transformer_tensor(from, tensor->name);
    size_t count = common_rows(to, tensor, from, other) * tensor->columns;
    for (size_t k = 0; k < count; k++) rs_transformer_set(to, tensor->offset + k, rs_tensor_value(from, other, k));
    adopted += count > 0;
  }
  return adopted;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

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

/* ---- memory ------------------------------------------------------------------------------------------------------ */

enum { LINE = 64 }; /* bytes */

void *rs_room(size_t count, size_t bytes, const char *purpose, rs_err *err) {
  size_t total = count > 0 ? (count * bytes + LINE - 1) / LINE * LINE : LINE;
  void *room = count > SIZE_MAX / 2 / bytes ? NULL : aligned_alloc(LINE, total);
  if (room == NULL)
    (void)rs_fail(err, RS_MEMORY, "out of memory: %s of %zu numbers", purpose, count);
  else
    memset(room, 0, total);
  return room;
}
