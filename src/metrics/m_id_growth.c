/* How fast position ids grow: a picture of many patches takes few ids in M-RoPE, and every way of counting takes
 * others. Read from the positions that keys are rotated by, so that Position Interpolation and short formats show. */
#include "metric_list.h"

#include <math.h>

/* The largest id of tokens [begin, end) on any axis. */
static double largest_id(const rs_encoding *encoding, size_t begin, size_t end) {
  double largest = -INFINITY;
  for (size_t i = begin * encoding->axes; i < end * encoding->axes; i++) largest = fmax(largest, encoding->pos_k[0][i]);
  return largest;
}

/* Where a run starts: the time of its first token; rows and columns may be centred, or count from 0. */
static double first_id(const rs_encoding *encoding, size_t token) {
  return encoding->pos_k[0][token * encoding->axes];
}

/* `next`: the id at which tokens go on after `end`. */
static rs_status add_segment(const rs_encoding *encoding, size_t segment, size_t begin, size_t end, double next,
                             rs_curve *curve, rs_err *err) {
  double first = first_id(encoding, begin), tokens = (double)(end - begin), growth = next - first;
  double row[] = {(double)segment, tokens, first, largest_id(encoding, begin, end), growth, growth / tokens};
  return rs_curve_add(curve, row, err);
}

static rs_status finish(const rs_metric_in *in, const void *state, rs_result *result, rs_err *err) {
  (void)state;
  const rs_encoding *encoding = in->encoding;
  const rs_token_layout *layout = &encoding->tokens;
  size_t length = encoding->length;
  for (size_t i = 0; i < RS_METRIC_SCALARS; i++) result->value[i] = NAN;
  /* Only rotation reads ids; with several views, or a coordinate of each pair's own, what is read is no id. */
  if (encoding->rotary_dim == 0 || encoding->own_places || encoding->views > 1) return RS_OK;
  double largest = largest_id(encoding, 0, length);
  for (size_t segment = 0, begin = 0, end; begin < length; segment++, begin = end) {
    end = segment < layout->count ? begin + layout->runs[segment].tokens : length;
    double next = end < length ? first_id(encoding, end) : largest + 1;
    RS_TRY(add_segment(encoding, segment, begin, end, next, &result->curve, err));
  }
  result->value[0] = largest;
  result->value[1] = largest + 1 - (double)length;
  result->value[2] = (largest + 1) / (double)length;
  return RS_OK;
}

static size_t curve_rows(const void *given, const rs_curve_in *in) {
  (void)given;
  return in->tokens->count + 1;
}

static const rs_column scalars[] = {
    RS_COLUMN("max_position_id", "", "largest position id on any axis"),
    RS_COLUMN("decode_delta", "",
              "largest id + 1 - length: what decoding adds to the index of a new token (mrope_position_delta)"),
    RS_COLUMN("ids_per_token", "1", "(largest id + 1) / length"),
};

static const rs_column curve[] = {
    RS_COLUMN("segment", "", "run of the token layout; the last is the text after it", .integer = true,
              .map = RS_MAP_CATEGORY),
    RS_COLUMN("segment_tokens", "tokens", "tokens of the segment", .integer = true, .log_axis = true),
    RS_COLUMN("first_id", "", "id of its first token, on the axis t"),
    RS_COLUMN("last_id", "", "its largest id on any axis"),
    RS_COLUMN("growth", "", "first id of the next segment (after the last: largest id + 1) - its own",
              .log_axis = true),
    RS_COLUMN("ids_per_token", "1", "growth / segment_tokens", .log_axis = true),
};

const rs_metric_kind rs_metric_id_growth = {
    .kind = {.name = "id_growth",
             .summary = "how many position ids text, images and videos take",
             .reference = "Qwen2-VL, arXiv:2409.12191, section 2.1 (fewer ids than tokens); V2PE, arXiv:2412.09616"},
    RS_SCALARS(scalars),
    RS_CURVE(curve, 1),
    .curve_rows = curve_rows,
    .finish = finish,
};
