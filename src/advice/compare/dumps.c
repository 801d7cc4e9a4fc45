/* dumps.c: what an engine has computed, as it stands in files: frequencies as JSON, CSV or NumPy's, buffers inv_freq
 * in safetensors, tables of cos and sin in either. */
#include "compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool rs_dump_ends(const char *text, const char *ending) {
  size_t length = strlen(text), size = strlen(ending);
  return length > size && strcmp(text + length - size, ending) == 0;
}

/* ---- lists ------------------------------------------------------------------------------------------------------- */

static rs_status positive(const char *file, const char *text, double *factor, rs_err *err) {
  if (rs_number_read(text, factor) && isfinite(*factor) && *factor > 0) return RS_OK;
  return rs_fail(err, RS_INPUT, "%s: the attention factor \"%s\" is no positive number", file, text);
}

/* A dump may say what cos and sin are multiplied by: {"inv_freq": [...], "attention_factor": 1.2}. */
static rs_status json_factor(const char *file, double *factor, rs_err *err) {
  RS_HELD(rs_tree) tree = NULL;
  RS_TRY(rs_json_load("", file, RS_LARGEST_FILE, &tree, err));
  const rs_node *node = rs_node_get(&tree->root, "attention_factor");
  if (node != NULL) RS_TRY(positive(file, node->kind == RS_SCALAR ? node->text : "[...]", factor, err));
  return RS_OK;
}

/* The column attention_factor, or amp as `ropescope show frequencies` has it: the same in every row. */
static rs_status csv_factor(const char *file, double *factor, rs_err *err) {
  RS_FREED char *text = NULL;
  size_t length;
  RS_HELD(rs_table) table = NULL;
  RS_TRY(rs_file_read(file, RS_LARGEST_FILE, &text, &length, err));
  RS_TRY(rs_csv_read(text, length, file, &table, err));
  rs_status status = RS_OK;
  int column = rs_table_column(table, "attention_factor");
  if (column < 0) column = rs_table_column(table, "amp");
  for (size_t row = 0; row < table->rows && column >= 0 && status == RS_OK; row++)
    if (strcmp(table->fields[row * table->columns + (size_t)column], table->fields[column]) != 0)
      status = rs_fail(err, RS_INPUT, "%s:%zu: the attention factor changes from pair to pair", file, row + 2);
  if (column >= 0 && status == RS_OK) status = positive(file, table->fields[column], factor, err);
  return status;
}

static rs_status read_list(rs_contender *s, rs_err *err) {
  double *list = NULL, factor = NAN;
  size_t count = 0;
  RS_TRY(rs_numbers_read(s->text, &list, &count, err));
  rs_status status = RS_OK;
  for (size_t i = 0; i < count && status == RS_OK; i++)
    if (list[i] < 0) status = rs_fail(err, RS_INPUT, "%s: frequency %zu is negative", s->text, i);
  if (status == RS_OK && rs_dump_ends(s->text, ".json")) status = json_factor(s->text, &factor, err);
  if (status == RS_OK && rs_dump_ends(s->text, ".csv")) status = csv_factor(s->text, &factor, err);
  if (status == RS_OK) status = rs_spectrum_list(list, count, &s->spectrum, err);
  s->spectrum.amp = factor;
  s->origin = RS_FROM_DUMP;
  free(list);
  return status;
}

/* ---- tables of cos and sin --------------------------------------------------------------------------------------- */

static rs_status fail_shape(const rs_stored_tensor *tensor, rs_err *err) {
  char shape[RS_SHAPE_CHARS];
  rs_shape_text(tensor->shape, tensor->rank, shape);
  return rs_fail(err, RS_INPUT,
                 "%s has shape %s: wanted are cos and sin of shape (L, R) or (L, R/2), (3, L, R) of three axes, both "
                 "in one (L, cos and sin), (2, L, R), or (L, R/2, 2)",
                 tensor->name != NULL ? tensor->name : "the array", shape);
}

/* The shape without extents of 1; how many are left. */
static size_t squeeze(const rs_stored_tensor *tensor, size_t shape[RS_TENSOR_RANK]) {
  size_t rank = 0;
  for (size_t i = 0; i < tensor->rank; i++)
    if (tensor->shape[i] != 1) shape[rank++] = tensor->shape[i];
  return rank;
}

/* Both in one tensor: side by side (vLLM's cos_sin_cache), one after the other, or as complex numbers. */
static rs_status lay_out_one(const rs_stored_tensor *tensor, rs_cos_sin_table *table, rs_err *err) {
  size_t shape[RS_TENSOR_RANK] = {0}, rank = squeeze(tensor, shape);
  *table = (rs_cos_sin_table){.tensor = {tensor, tensor}, .rows = shape[0], .step = 1};
  if (rank == 2 && shape[1] % 2 == 0) {
    table->width = table->base[1] = shape[1] / 2;
    table->stride = shape[1];
  } else if (rank == 3 && shape[2] == 2) {
    table->width = shape[1];
    table->stride = 2 * shape[1];
    table->step = 2;
    table->base[1] = 1;
  } else if (rank == 3 && shape[0] == 2) {
    table->rows = shape[1];
    table->width = table->stride = shape[2];
    table->base[1] = shape[1] * shape[2];
  } else {
    return fail_shape(tensor, err);
  }
  return table->width > 0 ? RS_OK : fail_shape(tensor, err);
}

/* Three tables of one shape, as M-RoPE's code makes them before sections choose: for text all are the same. */
static rs_status lay_out_axes(const rs_stored_tensor *tensor, const size_t shape[RS_TENSOR_RANK], rs_err *err) {
  size_t row = shape[2];
  RS_FREED double *numbers = rs_alloc(2 * row, sizeof *numbers, err);
  if (numbers == NULL) return RS_MEMORY;
  rs_status status = RS_OK;
  bool same = true;
  for (size_t i = 0; i < shape[1] && same && status == RS_OK; i++)
    for (size_t axis = 1; axis < 3 && same && status == RS_OK; axis++) {
      status = rs_stored_doubles(tensor, i * row, row, numbers, err);
      if (status == RS_OK) status = rs_stored_doubles(tensor, (axis * shape[1] + i) * row, row, numbers + row, err);
      same = status != RS_OK || memcmp(numbers, numbers + row, row * sizeof *numbers) == 0;
    }
  if (same) return status;
  return rs_fail(
      err, RS_INPUT,
      "%s holds three axes (time, row, column) that differ: those of a picture; those of a text tell frequencies",
      tensor->name != NULL ? tensor->name : "the array");
}

static rs_status lay_out_two(const rs_stored_tensor *cosine, const rs_stored_tensor *sine, rs_cos_sin_table *table,
                             rs_err *err) {
  size_t shape[RS_TENSOR_RANK], other[RS_TENSOR_RANK];
  size_t rank = squeeze(cosine, shape);
  bool axes = rank == 3 && shape[0] == 3;
  if (rank != 2 && !axes) return fail_shape(cosine, err);
  if (squeeze(sine, other) != rank || memcmp(shape, other, rank * sizeof *shape) != 0) return fail_shape(sine, err);
  if (axes) RS_TRY(lay_out_axes(cosine, shape, err));
  if (axes) RS_TRY(lay_out_axes(sine, shape, err));
  size_t rows = shape[rank - 2], width = shape[rank - 1];
  *table = (rs_cos_sin_table){
      .tensor = {cosine, sine}, .rows = rows, .width = width, .stride = width, .step = 1, .axes = axes};
  return rows > 0 && width > 0 ? RS_OK : fail_shape(cosine, err);
}

/* `name` with its last "cos" made "sin"; NULL where it has none, or (*err) no memory. Owned. */
static char *partner_of(const char *name, rs_err *err) {
  const char *last = NULL, *base = strrchr(name, '/');
  for (const char *at = base != NULL ? base : name; (at = strstr(at, "cos")) != NULL; at++) last = at;
  if (last == NULL) return NULL;
  char *partner = rs_strdup(name, err);
  if (partner != NULL) memcpy(partner + (last - name), "sin", 3);
  return partner;
}

/* ---- .npy -------------------------------------------------------------------------------------------------------- */

/* An array of several rows is a table; cos.npy has sin.npy beside it. */
static rs_status read_table(rs_contender *s, const rs_stored_tensor *tensor, rs_err *err) {
  struct stat info;
  RS_OWNED(rs_tensor_file) beside = {0};
  rs_cos_sin_table table;
  RS_FREED char *partner = partner_of(s->text, err);
  if (partner == NULL && err->status != RS_OK) return RS_MEMORY;
  bool two = partner != NULL && stat(partner, &info) == 0;
  rs_status status = two ? rs_tensor_file_map(partner, "", &beside, err) : RS_OK;
  if (status == RS_OK)
    status = two ? lay_out_two(tensor, &beside.tensor, &table, err) : lay_out_one(tensor, &table, err);
  if (status == RS_OK) status = rs_cos_sin_read(&table, &s->spectrum, s->read, err);
  return status;
}

static rs_status read_array(rs_contender *s, rs_err *err) {
  RS_OWNED(rs_tensor_file) file = {0};
  size_t shape[RS_TENSOR_RANK];
  rs_err why = {0};
  rs_status status = rs_tensor_file_map(s->text, "", &file, &why);
  bool table = status == RS_OK && squeeze(&file.tensor, shape) > 1;
  if (table) status = read_table(s, &file.tensor, err);
  return table ? status : read_list(s, err); /* which reads more types, or says why it cannot */
}

/* ---- safetensors ------------------------------------------------------------------------------------------------- */

/* The first part of the name that is a number. */
static size_t layer_of(const char *name) {
  for (const char *part = name; part != NULL; part = strchr(part, '.') != NULL ? strchr(part, '.') + 1 : NULL) {
    size_t digits = strspn(part, "0123456789");
    if (digits > 0 && digits < 9 && part[digits] == '.') return strtoul(part, NULL, 10);
  }
  return RS_NO_KIND;
}

/* transformers keeps the frequencies before a dynamic rule changed them under another name. */
static bool is_buffer(const rs_stored_tensor *tensor) {
  const char *last = strrchr(tensor->name, '.');
  return strcmp(last != NULL ? last + 1 : tensor->name, "inv_freq") == 0 && tensor->count > 0;
}

static rs_status read_one(const rs_stored_tensor *tensor, rs_buffer *buffer, rs_err *err) {
  RS_FREED double *list = rs_alloc(tensor->count, sizeof *list, err);
  buffer->name = list != NULL ? rs_strdup(tensor->name, err) : NULL;
  buffer->layer = layer_of(tensor->name);
  RS_TRY(buffer->name != NULL ? rs_stored_doubles(tensor, 0, tensor->count, list, err) : RS_MEMORY);
  for (size_t j = 0; j < tensor->count; j++)
    if (list[j] < 0) return rs_fail(err, RS_INPUT, "%s: frequency %zu is negative", tensor->name, j);
  return rs_spectrum_list(list, tensor->count, &buffer->spectrum, err);
}

static int by_layer(const void *a, const void *b) {
  size_t x = ((const rs_buffer *)a)->layer, y = ((const rs_buffer *)b)->layer;
  return (x > y) - (x < y);
}

rs_status rs_buffers_read(const rs_safetensors *checkpoint, rs_buffers *buffers, rs_err *err) {
  size_t capacity = 0;
  rs_status status = RS_OK;
  for (size_t i = 0; i < checkpoint->count && status == RS_OK; i++) {
    if (!is_buffer(&checkpoint->tensors[i])) continue;
    status = RS_GROW(buffers->items, &capacity, buffers->count + 1, err);
    if (status != RS_OK) break;
    buffers->items[buffers->count] = (rs_buffer){0};
    status = read_one(&checkpoint->tensors[i], &buffers->items[buffers->count++], err);
  }
  if (status != RS_OK)
    rs_buffers_clear(buffers);
  else if (buffers->count > 0)
    qsort(buffers->items, buffers->count, sizeof *buffers->items, by_layer);
  return status;
}

void rs_buffers_clear(rs_buffers *buffers) {
  for (size_t i = 0; i < buffers->count; i++) {
    free(buffers->items[i].name);
    rs_spectrum_clear(&buffers->items[i].spectrum);
  }
  free(buffers->items);
  buffers->items = NULL;
  buffers->count = 0;
}

static const rs_stored_tensor *find_named(const rs_safetensors *file, const char *part, const char *without) {
  for (size_t i = 0; i < file->count; i++) {
    const char *name = file->tensors[file->by_name[i]].name;
    if (strstr(name, part) != NULL && (without == NULL || strstr(name, without) == NULL))
      return &file->tensors[file->by_name[i]];
  }
  return NULL;
}

/* Two tensors whose names differ in cos and sin, or one with both. */
static rs_status read_cos_sin(rs_contender *s, const rs_safetensors *file, rs_err *err) {
  const rs_stored_tensor *cosine = find_named(file, "cos", "sin"), *both = find_named(file, "cos_sin", NULL);
  rs_cos_sin_table table;
  if (cosine == NULL && both == NULL)
    return rs_fail(err, RS_INPUT,
                   "%s: holds no inv_freq and no cos and sin (PyTorch saves these buffers where they are persistent; "
                   "config.json says what they would be)",
                   s->text);
  RS_FREED char *partner = cosine != NULL ? partner_of(cosine->name, err) : NULL;
  if (cosine != NULL && partner == NULL) return RS_MEMORY;
  const rs_stored_tensor *sine = partner != NULL ? rs_safetensors_find(file, partner) : NULL;
  if (sine != NULL)
    RS_TRY(lay_out_two(cosine, sine, &table, err));
  else if (both != NULL)
    RS_TRY(lay_out_one(both, &table, err));
  else
    return rs_fail(err, RS_INPUT, "%s: has %s and no %s", s->text, cosine->name, partner);
  return rs_cos_sin_read(&table, &s->spectrum, s->read, err);
}

/* The buffer of the layer that is asked for. */
static rs_status choose_buffer(rs_contender *s, const char *layers, rs_err *err) {
  double number = NAN;
  const rs_buffer *chosen = NULL;
  bool asked = layers != NULL && rs_number_read(layers, &number);
  for (size_t i = 0; i < s->buffers.count && chosen == NULL; i++)
    if (!asked || s->buffers.items[i].layer == RS_NO_KIND || (double)s->buffers.items[i].layer == number)
      chosen = &s->buffers.items[i];
  if (chosen == NULL) return rs_fail(err, RS_INPUT, "%s: has no inv_freq of layer %s", s->text, layers);
  snprintf(s->read, sizeof s->read, "%.150s%s", chosen->name, s->buffers.count > 1 ? " and others" : "");
  return rs_spectrum_list(chosen->spectrum.omega, chosen->spectrum.pairs, &s->spectrum, err);
}

static rs_status read_safetensors(rs_contender *s, const char *layers, rs_err *err) {
  RS_HELD(rs_safetensors) file = NULL;
  RS_TRY(rs_safetensors_map(s->text, &file, err));
  RS_TRY(rs_buffers_read(file, &s->buffers, err));
  return s->buffers.count > 0 ? choose_buffer(s, layers, err) : read_cos_sin(s, file, err);
}

rs_status rs_dump_read(rs_contender *s, const char *layers, rs_err *err) {
  s->origin = RS_FROM_DUMP;
  if (rs_dump_ends(s->text, ".safetensors")) return read_safetensors(s, layers, err);
  return rs_is_npy(s->text) ? read_array(s, err) : read_list(s, err);
}
