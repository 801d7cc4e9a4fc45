/* The position table itself: what is added to each token, in a few channels. A resized table (ViT, arXiv:2010.11929,
 * section 3.2) shows here what its new patches got, and that they got less of it: between two vectors that were drawn
 * independently the weighted mean is the shorter one. */
#include "metric_list.h"

#include <math.h>
#include <stdlib.h>

enum { SIDE = 64, SEQUENCE = 2048 };  /* most rows and columns of a picture, tokens of a sequence that are shown */
enum { FEW = 4, MOST_CHANNELS = 16 }; /* channels that are shown unasked, and at most */

typedef enum channel_word { FEW_CHANNELS, CHANNEL_WORDS } channel_word;

static const char *const channel_words[CHANNEL_WORDS + 1] = {[FEW_CHANNELS] = "few"};

typedef struct params {
  rs_real_list channels; /* channel_word */
} params;

typedef struct view {
  const rs_encoding *encoding;
  rs_position_set set;
  double *row; /* (width,), owned */
  size_t channels[MOST_CHANNELS], channel_count;
} view;

static bool is_picture(const rs_position_set *set) {
  return set->rows > 0;
}

static rs_status check(const rs_binding *binding, rs_err *err) {
  const params *p = binding->fields;
  size_t offset = offsetof(params, channels);
  if (p->channels.count > MOST_CHANNELS)
    return rs_binding_fail(binding, offset, err, "lists %zu channels (at most %d are shown)", p->channels.count,
                           MOST_CHANNELS);
  for (size_t i = 0; i < p->channels.count; i++)
    if (p->channels.list[i] != floor(p->channels.list[i]))
      return rs_binding_fail(binding, offset, err, "lists %g, which is no channel", p->channels.list[i]);
  return RS_OK;
}

static rs_status choose_channels(const rs_metric_in *in, view *v, rs_err *err) {
  const params *p = in->params;
  size_t width = in->encoding->width;
  bool few = p->channels.word == FEW_CHANNELS;
  v->channel_count = few ? FEW : p->channels.count;
  for (size_t i = 0; i < v->channel_count; i++) {
    double channel = few ? (double)(i * width / FEW) : p->channels.list[i];
    if (channel >= (double)width)
      return rs_fail(err, RS_DOMAIN, "channels: there is no channel %g in a table of width %zu", channel, width);
    v->channels[i] = (size_t)channel;
  }
  return RS_OK;
}

static rs_status read_row(const view *v, size_t place, rs_err *err) {
  return rs_encoding_embed(v->encoding, v->set.begin + place, 1, v->row, err);
}

static rs_status add_value(const view *v, size_t place, size_t channel, rs_curve *curve, rs_err *err) {
  bool picture = is_picture(&v->set);
  double row[] = {(double)channel, (double)(v->set.begin + place), picture ? (double)(place / v->set.columns) : NAN,
                  picture ? (double)(place % v->set.columns) : NAN, v->row[channel]};
  return rs_curve_add(curve, row, err);
}

static rs_status add_values(const view *v, rs_curve *curve, rs_err *err) {
  for (size_t c = 0; c < v->channel_count; c++)
    for (size_t i = 0; i < rs_positions_shown(&v->set, SIDE, SEQUENCE); i++) {
      RS_TRY(read_row(v, rs_position_shown(&v->set, SIDE, SEQUENCE, i), err));
      RS_TRY(add_value(v, rs_position_shown(&v->set, SIDE, SEQUENCE, i), v->channels[c], curve, err));
    }
  return RS_OK;
}

static rs_status add_norms(const view *v, rs_result *result, rs_err *err) {
  rs_moments norms = {0};
  for (size_t i = 0; i < rs_positions_shown(&v->set, SIDE, SEQUENCE); i++) {
    rs_sum squares = {0};
    RS_TRY(read_row(v, rs_position_shown(&v->set, SIDE, SEQUENCE, i), err));
    for (size_t c = 0; c < v->encoding->width; c++) rs_sum_add(&squares, v->row[c] * v->row[c]);
    double norm = sqrt(rs_sum_total(&squares));
    rs_moments_add(&norms, norm);
    result->value[1] = fmin(result->value[1], norm);
    result->value[2] = fmax(result->value[2], norm);
  }
  result->value[0] = rs_moments_mean(&norms);
  return RS_OK;
}

static rs_status finish(const rs_metric_in *in, const void *state, rs_result *result, rs_err *err) {
  (void)state;
  for (size_t i = 0; i < RS_METRIC_SCALARS; i++) result->value[i] = NAN;
  if (in->encoding->method->embed == NULL) return RS_OK;
  view v = {.encoding = in->encoding, .set = rs_positions_of(&in->encoding->tokens, in->encoding->length)};
  RS_TRY(choose_channels(in, &v, err));
  v.row = rs_alloc(in->encoding->width, sizeof *v.row, err);
  if (v.row == NULL) return RS_MEMORY;
  rs_status status = add_values(&v, &result->curve, err);
  if (status == RS_OK) status = add_norms(&v, result, err);
  free(v.row);
  return status;
}

static size_t curve_rows(const void *given, const rs_curve_in *in) {
  const params *p = given;
  const rs_position_set set = rs_positions_of(in->tokens, in->length);
  return (p->channels.word == FEW_CHANNELS ? FEW : p->channels.count) * rs_positions_shown(&set, SIDE, SEQUENCE);
}

static const rs_param specs[] = {
    {RS_FIELD(params, channels), .unit = "", RS_WORDS(channel_words), .min = 0, .max = 1e9, .fallback = "few",
     .summary = "channels that are shown, at most 16; few: the first of each quarter of the width"},
};

static const rs_column scalars[] = {
    RS_COLUMN("embedding_norm", "1",
              "mean length of the vector that is added to a position: of the first frame of the first picture, else of "
              "the sequence"),
    RS_COLUMN("embedding_least_norm", "1", "length of the shortest of them"),
    RS_COLUMN("embedding_largest_norm", "1", "length of the longest of them"),
};

static const rs_column curve[] = {
    RS_COLUMN("channel", "", "channel of the table", .integer = true, .map = RS_MAP_PANEL),
    RS_COLUMN("token", "", "the position", .integer = true),
    RS_COLUMN("row", "", "its row in the picture; empty in a sequence", .integer = true, .map = RS_MAP_Y),
    RS_COLUMN("column", "", "its column in the picture; empty in a sequence", .integer = true, .map = RS_MAP_X),
    RS_COLUMN("value", "1", "what is added to the token in this channel", .map = RS_MAP_ONE),
};

const rs_metric_kind rs_metric_embedding = {
    .kind = {.name = "embedding",
             .summary = "the position table in a few channels: the first frame of the first picture, else the sequence",
             .reference = "ViT, arXiv:2010.11929, section 3.2 (tables resized to another grid)",
             RS_KIND(specs, params)},
    .check = check,
    RS_SCALARS(scalars),
    RS_CURVE(curve, 4),
    .curve_rows = curve_rows,
    .finish = finish,
};
