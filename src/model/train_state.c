/* Training that is to go on later, as one file of safetensors, so that its parts are of the same step whenever it is
 * cut off: weights.*, first.* and second.* beside each other, a row of `history` for each step, and a seal of two
 * numbers, which says whose training it is and that no bit has changed. */
#include "context.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARRAYS = 3, OTHERS = 2, HISTORY_COLUMNS = 3, SEALS = 2, NAME = 128, SEAL_DIGITS = 12 };

static const char *const array_names[ARRAYS] = {"weights", "first", "second"};

static size_t array_bytes(const rs_transformer *t) {
  return t->size * (t->format == RS_F64 ? sizeof(double) : sizeof(float));
}

/* ---- the seal ---------------------------------------------------------------------------------------------------- */

/* 48 bits, which a double holds. */
static double first_digits(const char *hex) {
  char digits[SEAL_DIGITS + 1];
  snprintf(digits, sizeof digits, "%.*s", SEAL_DIGITS, hex);
  return (double)strtoull(digits, NULL, 16);
}

static void make_seal(const rs_transformer *t, const void *const arrays[ARRAYS], const double *history, size_t step,
                      const char *key, double seal[SEALS]) {
  char hex[65];
  const rs_bytes parts[] = {{key, strlen(key)},
                            {arrays[0], array_bytes(t)},
                            {arrays[1], array_bytes(t)},
                            {arrays[2], array_bytes(t)},
                            {history, step * HISTORY_COLUMNS * sizeof *history}};
  rs_sha256_parts(parts, RS_COUNT(parts), hex);
  seal[0] = first_digits(key);
  seal[1] = first_digits(hex);
}

/* ---- out --------------------------------------------------------------------------------------------------------- */

/* What is written, and where its names and shapes stand. */
typedef struct state_file {
  rs_tensor_numbers *numbers; /* (ARRAYS * tensor_count + OTHERS,) */
  char (*names)[NAME];
  rs_stored_shape *shapes;
  double *history; /* (step, HISTORY_COLUMNS) */
  double seal[SEALS];
} state_file;

static void list_arrays(const rs_transformer *t, const void *const arrays[ARRAYS], state_file *out) {
  for (size_t i = 0; i < ARRAYS * t->tensor_count; i++) {
    const rs_tensor *tensor = &t->tensors[i % t->tensor_count];
    size_t array = i / t->tensor_count;
    out->shapes[i] = rs_tensor_shape(tensor);
    out->numbers[i] = rs_tensor_stored(t, tensor, &out->shapes[i], arrays[array]);
    snprintf(out->names[i], NAME, "%s.%s", array_names[array], tensor->name);
    out->numbers[i].name = out->names[i];
  }
}

static void list_others(state_file *out, size_t first, size_t step) {
  out->shapes[first] = (rs_stored_shape){2, {step, HISTORY_COLUMNS}};
  out->shapes[first + 1] = (rs_stored_shape){1, {SEALS}};
  out->numbers[first] = (rs_tensor_numbers){.name = "history", .doubles = out->history};
  out->numbers[first + 1] = (rs_tensor_numbers){.name = "seal", .doubles = out->seal};
  for (size_t i = first; i < first + OTHERS; i++) {
    out->numbers[i].dtype = RS_DTYPE_F64;
    out->numbers[i].rank = out->shapes[i].rank;
    out->numbers[i].shape = out->shapes[i].extents;
  }
}

rs_status rs_train_state_write(const rs_transformer *transformer, const rs_train_state *state,
                               const rs_train_step *history, const char *key, const char *path, rs_err *err) {
  const void *const arrays[ARRAYS] = {transformer->values, state->first, state->second};
  size_t listed = ARRAYS * transformer->tensor_count;
  size_t tensors = listed + OTHERS;
  rs_arena arena = {0};
  state_file out = {.numbers = rs_arena_take(&arena, tensors, sizeof *out.numbers),
                    .names = rs_arena_take(&arena, tensors, sizeof *out.names),
                    .shapes = rs_arena_take(&arena, tensors, sizeof *out.shapes),
                    .history = rs_arena_take(&arena, state->step, HISTORY_COLUMNS * sizeof *out.history)};
  rs_status status = rs_arena_check(&arena, err);
  for (size_t i = 0; i < state->step && status == RS_OK; i++) {
    const double row[HISTORY_COLUMNS] = {history[i].loss, history[i].gradient_norm, history[i].rate};
    memcpy(out.history + i * HISTORY_COLUMNS, row, sizeof row);
  }
  if (status == RS_OK) {
    list_arrays(transformer, arrays, &out);
    list_others(&out, listed, state->step);
    make_seal(transformer, arrays, out.history, state->step, key, out.seal);
    status = rs_safetensors_write(path, out.numbers, tensors, err);
  }
  rs_arena_clear(&arena);
  return status;
}

/* ---- in ---------------------------------------------------------------------------------------------------------- */

static rs_status read_arrays(const rs_transformer *t, const rs_safetensors *file, void *const arrays[ARRAYS],
                             rs_err *err) {
  char name[NAME];
  for (size_t a = 0; a < ARRAYS; a++)
    for (size_t i = 0; i < t->tensor_count; i++) {
      snprintf(name, sizeof name, "%s.%s", array_names[a], t->tensors[i].name);
      RS_TRY(rs_tensor_load(t, &t->tensors[i], file, name, arrays[a], err));
    }
  return RS_OK;
}

/* Its rows say how many steps were done. */
static rs_status read_history(const rs_safetensors *file, rs_train_saved *saved, double **rows, rs_err *err) {
  const rs_stored_tensor *stored = rs_safetensors_find(file, "history");
  size_t shape[] = {stored != NULL && stored->rank == 2 ? stored->shape[0] : 0, HISTORY_COLUMNS};
  RS_TRY(rs_safetensors_get(file, "history", shape, RS_COUNT(shape), &stored, err));
  saved->step = shape[0];
  saved->history = rs_alloc(saved->step, sizeof *saved->history, err);
  *rows = rs_alloc(stored->count, sizeof **rows, err);
  if (saved->history == NULL || *rows == NULL) return RS_MEMORY;
  RS_TRY(rs_stored_doubles(stored, 0, stored->count, *rows, err));
  for (size_t i = 0; i < saved->step; i++) {
    const double *row = *rows + i * HISTORY_COLUMNS;
    saved->history[i] = (rs_train_step){.step = i + 1, .loss = row[0], .gradient_norm = row[1], .rate = row[2]};
  }
  return RS_OK;
}

static rs_status check_seal(const rs_safetensors *file, const double wanted[SEALS], rs_err *err) {
  const rs_stored_tensor *stored;
  const size_t shape[] = {SEALS};
  double seal[SEALS];
  RS_TRY(rs_safetensors_get(file, "seal", shape, RS_COUNT(shape), &stored, err));
  RS_TRY(rs_stored_doubles(stored, 0, SEALS, seal, err));
  if (seal[0] != wanted[0]) return rs_fail(err, RS_INPUT, "%s: is of another training", file->path);
  if (seal[1] != wanted[1]) return rs_fail(err, RS_INPUT, "%s: is damaged: numbers have changed", file->path);
  return RS_OK;
}

static rs_status read_all(const rs_transformer *t, const char *key, const rs_safetensors *file, rs_train_saved *saved,
                          rs_err *err) {
  double *rows = NULL, seal[SEALS];
  size_t bytes = array_bytes(t);
  saved->values = rs_alloc(bytes, 1, err);
  saved->first = rs_alloc(bytes, 1, err);
  saved->second = rs_alloc(bytes, 1, err);
  void *const arrays[ARRAYS] = {saved->values, saved->first, saved->second};
  rs_status status = saved->values != NULL && saved->first != NULL && saved->second != NULL ? RS_OK : RS_MEMORY;
  if (status == RS_OK) status = read_arrays(t, file, arrays, err);
  if (status == RS_OK) status = read_history(file, saved, &rows, err);
  if (status == RS_OK && file->count != ARRAYS * t->tensor_count + OTHERS)
    status = rs_fail(err, RS_INPUT, "%s: has %zu tensors, wanted are %zu", file->path, file->count,
                     ARRAYS * t->tensor_count + OTHERS);
  if (status == RS_OK) {
    make_seal(t, (const void *const *)arrays, rows, saved->step, key, seal);
    status = check_seal(file, seal, err);
  }
  free(rows);
  return status;
}

rs_status rs_train_saved_read(const rs_transformer *transformer, const char *key, const char *path,
                              rs_train_saved *saved, rs_err *err) {
  rs_safetensors *file;
  *saved = (rs_train_saved){0};
  RS_TRY(rs_safetensors_map(path, &file, err));
  rs_status status = read_all(transformer, key, file, saved, err);
  rs_safetensors_free(file);
  if (status != RS_OK) rs_train_saved_clear(saved);
  return status;
}

void rs_train_saved_clear(rs_train_saved *saved) {
  free(saved->values);
  free(saved->first);
  free(saved->second);
  free(saved->history);
  *saved = (rs_train_saved){0};
}
