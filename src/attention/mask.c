/* Masks as ranges of keys. */
#include "attention/attention.h"

bool rs_mask_sees_ahead(const rs_mask *mask) {
  return mask->kind == RS_BIDIRECTIONAL || mask->kind == RS_BAND;
}

size_t rs_mask_ranges(const rs_mask *mask, size_t length, size_t query, rs_range out[2]) {
  size_t end = mask->kind == RS_BIDIRECTIONAL || mask->kind == RS_CROSS ? length : query + 1;
  bool windowed = mask->kind == RS_WINDOW || mask->kind == RS_WINDOW_SINKS || mask->kind == RS_BAND;
  if (mask->kind == RS_BAND) end = mask->window < length - query ? query + mask->window : length;
  size_t begin = windowed && query + 1 > mask->window ? query + 1 - mask->window : 0;
  if (mask->kind == RS_CHUNKS) begin = query - query % mask->window;
  size_t sinks = mask->kind == RS_WINDOW_SINKS ? mask->sinks : 0;
  if (sinks >= begin) begin = 0; /* the sinks touch the window: one range, up to where either reaches */
  if (begin == 0 || sinks == 0) {
    out[0] = (rs_range){begin, end};
    return 1;
  }
  out[0] = (rs_range){0, sinks};
  out[1] = (rs_range){begin, end};
  return 2;
}
