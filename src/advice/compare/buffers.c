/* Buffers inv_freq of checkpoints, beside what config.json says of the layers that have them. */
#include "compare.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading -------------------------------------------------------------------------------------------------------
 */

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
  double *list = rs_alloc(tensor->count, sizeof *list, err);
  buffer->name = list != NULL ? rs_strdup(tensor->name, err) : NULL;
  buffer->layer = layer_of(tensor->name);
  rs_status status = buffer->name != NULL ? rs_stored_doubles(tensor, 0, tensor->count, list, err) : RS_MEMORY;
  for (size_t j = 0; j < tensor->count && status == RS_OK; j++)
    if (list[j] < 0) status = rs_fail(err, RS_INPUT, "%s: frequency %zu is negative", tensor->name, j);
  if (status == RS_OK) status = rs_spectrum_list(list, tensor->count, &buffer->spectrum, err);
  free(list);
  return status;
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

/* ---- checking ------------------------------------------------------------------------------------------------------
 */

static size_t kind_of(const rs_contender *config, size_t layer) {
  const rs_profile *profile = &config->profile;
  return layer < profile->layer_count && profile->counted ? profile->layers[layer] : config->kind;
}

/* How many buffers from number `i` on are of one kind and hold the same. */
static size_t run_length(const rs_buffers *buffers, const rs_contender *config, size_t i) {
  size_t count = 1;
  for (; i + count < buffers->count; count++) {
    const rs_buffer *first = &buffers->items[i], *next = &buffers->items[i + count];
    if (kind_of(config, first->layer) != kind_of(config, next->layer) ||
        first->spectrum.pairs != next->spectrum.pairs ||
        memcmp(first->spectrum.omega, next->spectrum.omega, first->spectrum.pairs * sizeof *first->spectrum.omega) != 0)
      break;
  }
  return count;
}

static rs_status check_run(const rs_spectrum *buffer, const rs_contender *config, double rtol, double *work,
                           rs_buffer_check *check, rs_err *err) {
  rs_published side;
  const rs_model *model = &config->profile.kinds[check->kind].model;
  const rs_method *method = model->published.method;
  if (method == NULL || method->freq == NULL) { /* nobody reads the buffer */
    check->difference = (rs_difference){.differs = RS_DIFFERS_FREQUENCY};
    return RS_OK;
  }
  RS_TRY(rs_published_make(model, config->length, &side, err));
  check->difference = rs_spectrum_compare(&side.spectrum, buffer, rtol);
  const rs_compared dump = {.length = config->length, .spectrum = buffer};
  rs_status status = RS_OK;
  if (check->difference.differs != 0) {
    check->causes = rs_alloc(1, sizeof *check->causes, err);
    status =
        check->causes != NULL ? rs_causes_within(&side.compared, &dump, rtol, work, check->causes, err) : RS_MEMORY;
  }
  rs_published_clear(&side);
  return status;
}

static rs_status check_side(const rs_contender sides[2], size_t from, size_t config, double rtol, double *work,
                            rs_buffer_checks *checks, rs_err *err) {
  const rs_buffers *buffers = &sides[from].buffers;
  size_t capacity = checks->count;
  for (size_t i = 0, count; i < buffers->count; i += count) {
    count = run_length(buffers, &sides[config], i);
    RS_TRY(RS_GROW(checks->items, &capacity, checks->count + 1, err));
    rs_buffer_check *check = &checks->items[checks->count++];
    *check = (rs_buffer_check){.buffers = from,
                               .config = config,
                               .first = buffers->items[i].layer,
                               .last = buffers->items[i + count - 1].layer,
                               .kind = kind_of(&sides[config], buffers->items[i].layer)};
    RS_TRY(check_run(&buffers->items[i].spectrum, &sides[config], rtol, work, check, err));
    checks->differ |= check->difference.differs != 0;
  }
  return RS_OK;
}

rs_status rs_buffers_check(const rs_contender sides[2], double rtol, rs_buffer_checks *checks, rs_err *err) {
  double work = RS_MOST_WORK;
  rs_status status = RS_OK;
  *checks = (rs_buffer_checks){0};
  for (size_t i = 0; i < 2 && status == RS_OK; i++) {
    size_t config = sides[i].profile.kind_count > 0 ? i : 1 - i;
    bool file = sides[i].origin == RS_FROM_DUMP, only = file && sides[i].buffers.count == 1;
    if (sides[config].profile.kind_count == 0 || sides[config].origin == RS_FROM_WORDS || only) continue;
    status = check_side(sides, i, config, rtol, &work, checks, err);
  }
  if (status != RS_OK) rs_buffer_checks_clear(checks);
  return status;
}

void rs_buffer_checks_clear(rs_buffer_checks *checks) {
  for (size_t i = 0; i < checks->count; i++) free(checks->items[i].causes);
  free(checks->items);
  *checks = (rs_buffer_checks){0};
}
