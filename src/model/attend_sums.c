/* Gradients by what encodings learn about attention, summed over sequences before they go to the encoding: a learned
 * function of a distance is then asked for its gradient once for each distance, not for each pair of tokens. */
#include "attend.h"

#include <stdlib.h>
#include <string.h>

static bool has_table(const rs_attend *attend) {
  return attend->bias_learned && attend->bias_size > 0;
}

static bool goes_by_row(const rs_attend *attend) {
  return attend->bias_learned && attend->store == RS_BIAS_BY_ROW;
}

/* Angles of all heads. */
static size_t turns_of(const rs_attend *attend) {
  return attend->shape.heads * attend->shape.queries * attend->pairs;
}

/* The arrays of the encoding, with how many numbers each has. */
static size_t arrays_of(const rs_attend *attend, rs_learned learned[RS_LEARNED]) {
  return attend->shape.encoding != NULL ? rs_encoding_learned(attend->shape.encoding, learned) : 0;
}

static rs_status fill(const rs_attend *attend, rs_attend_sums *sums, rs_err *err) {
  rs_learned learned[RS_LEARNED];
  size_t count = arrays_of(attend, learned);
  sums->head_scale = rs_alloc(attend->shape.heads, sizeof *sums->head_scale, err);
  if (sums->head_scale == NULL) return RS_MEMORY;
  if (attend->turns_learned) sums->turns = rs_alloc(turns_of(attend), sizeof *sums->turns, err);
  if (attend->turns_learned && sums->turns == NULL) return RS_MEMORY;
  if (has_table(attend)) sums->bias = rs_alloc(attend->bias_size, attend->real_bytes, err);
  if (has_table(attend) && sums->bias == NULL) return RS_MEMORY;
  for (size_t i = 0; i < count && goes_by_row(attend); i++) {
    sums->learned[i] = rs_alloc(learned[i].rows * learned[i].columns, sizeof(double), err);
    if (sums->learned[i] == NULL) return RS_MEMORY;
  }
  return RS_OK;
}

rs_status rs_attend_sums_create(const rs_attend *attend, rs_attend_sums **sums, rs_err *err) {
  *sums = NULL;
  if (!attend->bias_learned && !attend->scale_learned && !attend->turns_learned) return RS_OK;
  rs_attend_sums *fresh = rs_alloc(1, sizeof *fresh, err);
  if (fresh == NULL) return RS_MEMORY;
  rs_status status = fill(attend, fresh, err);
  if (status != RS_OK) {
    rs_attend_sums_free(fresh);
    return status;
  }
  *sums = fresh;
  return RS_OK;
}

void rs_attend_sums_free(rs_attend_sums *sums) {
  if (sums == NULL) return;
  for (size_t i = 0; i < RS_LEARNED; i++) free(sums->learned[i]);
  free(sums->head_scale);
  free(sums->turns);
  free(sums->bias);
  free(sums);
}

void rs_attend_sums_reset(const rs_attend *attend, rs_attend_sums *sums) {
  rs_learned learned[RS_LEARNED];
  size_t count = arrays_of(attend, learned);
  memset(sums->head_scale, 0, attend->shape.heads * sizeof *sums->head_scale);
  if (sums->turns != NULL) memset(sums->turns, 0, turns_of(attend) * sizeof *sums->turns);
  if (sums->bias != NULL) memset(sums->bias, 0, attend->bias_size * attend->real_bytes);
  for (size_t i = 0; i < count; i++)
    if (sums->learned[i] != NULL) memset(sums->learned[i], 0, learned[i].rows * learned[i].columns * sizeof(double));
}

static void add(const double *from, size_t count, double *into) {
  for (size_t i = 0; i < count; i++) into[i] += from[i];
}

/* Sums of the biases of one query to keys [begin, end). */
static void pass_row(const rs_attend *attend, const rs_attend_sums *sums, size_t head, size_t query, size_t begin,
                     size_t end, double *const *learned) {
  double row[RS_TILE];
  for (size_t key = begin, next; key < end; key = next) {
    next = end - key < RS_TILE ? end : key + RS_TILE;
    size_t place = rs_bias_place(attend, head, query, key);
    for (size_t i = 0; i < next - key; i++)
      row[i] =
          attend->format == RS_F32 ? ((const float *)sums->bias)[place + i] : ((const double *)sums->bias)[place + i];
    rs_encoding_bias_gradient(attend->shape.encoding, head, query, key, next, row, learned);
  }
}

static void pass_table(const rs_attend *attend, const rs_attend_sums *sums, size_t head, double *const *learned) {
  const rs_attend_shape *shape = &attend->shape;
  rs_range ranges[2];
  if (attend->store == RS_BIAS_BY_DISTANCE) {
    pass_row(attend, sums, head, shape->queries - 1, 0, shape->keys, learned);
    pass_row(attend, sums, head, 0, 1, shape->keys, learned); /* distance 0 has been passed */
    return;
  }
  for (size_t m = 0; m < shape->queries; m++) {
    size_t count = rs_mask_ranges(&shape->mask, shape->keys, m, ranges);
    for (size_t r = 0; r < count; r++) pass_row(attend, sums, head, m, ranges[r].begin, ranges[r].end, learned);
  }
}

void rs_attend_sums_finish(const rs_attend *attend, const rs_attend_sums *sums, double *const *learned) {
  rs_learned arrays[RS_LEARNED];
  size_t count = arrays_of(attend, arrays);
  size_t length = attend->shape.queries;
  for (size_t h = 0; h < attend->shape.heads && sums->turns != NULL; h++)
    rs_encoding_turn_gradient(attend->shape.encoding, h, 0, length, sums->turns + h * length * attend->pairs, learned);
  for (size_t h = 0; h < attend->shape.heads && sums->bias != NULL; h++) pass_table(attend, sums, h, learned);
  for (size_t i = 0; i < count; i++) {
    if (sums->learned[i] != NULL) add(sums->learned[i], arrays[i].rows * arrays[i].columns, learned[i]);
    if (rs_is_head_scale(&arrays[i])) add(sums->head_scale, attend->shape.heads, learned[i]);
  }
}
