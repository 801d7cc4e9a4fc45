/* What each channel of an additive table says of where a patch is: the share of its variance over the grid that the row
 * explains, and the column (the two main effects of a two-way layout: Fisher, Statistical Methods for Research Workers,
 * 1925). MAE's code (facebookresearch/mae, util/pos_embed.py) gives the column to the first half of the channels, which
 * those who expect the row first get wrong; a table of learned vectors has no such order. */
#include "metric_list.h"

#include <math.h>
#include <stdlib.h>

/* The table of a grid. */
typedef struct board {
  size_t rows, columns, width;
  double *table; /* (rows * columns, width), owned */
} board;

/* Of one channel. */
typedef struct shares {
  double variance, row, column; /* row, column: shares of the variance; NaN where that is 0 */
} shares;

/* Less the first patch's, so that a channel that does not vary is 0 and leaves no rounding. */
static double entry(const board *b, size_t row, size_t column, size_t channel) {
  return b->table[(row * b->columns + column) * b->width + channel] - b->table[channel];
}

/* Mean of a channel over `rows` x `columns` patches from (row, column) on. */
static double mean_of(const board *b, size_t row, size_t rows, size_t column, size_t columns, size_t channel) {
  rs_sum sum = {0};
  for (size_t y = row; y < row + rows; y++)
    for (size_t x = column; x < column + columns; x++) rs_sum_add(&sum, entry(b, y, x, channel));
  return rs_sum_total(&sum) / (double)(rows * columns);
}

static double square(double x) {
  return x * x;
}

static shares shares_of(const board *b, size_t channel) {
  double mean = mean_of(b, 0, b->rows, 0, b->columns, channel);
  rs_sum total = {0}, row = {0}, column = {0};
  for (size_t y = 0; y < b->rows; y++)
    for (size_t x = 0; x < b->columns; x++) rs_sum_add(&total, square(entry(b, y, x, channel) - mean));
  for (size_t y = 0; y < b->rows; y++) rs_sum_add(&row, square(mean_of(b, y, 1, 0, b->columns, channel) - mean));
  for (size_t x = 0; x < b->columns; x++) rs_sum_add(&column, square(mean_of(b, 0, b->rows, x, 1, channel) - mean));
  double all = rs_sum_total(&total), patches = (double)(b->rows * b->columns);
  if (!(all > 0)) return (shares){0, NAN, NAN};
  return (shares){all / patches, (double)b->columns * rs_sum_total(&row) / all,
                  (double)b->rows * rs_sum_total(&column) / all};
}

static rs_status report(const board *b, rs_result *result, rs_err *err) {
  rs_moments means[4] = {0}; /* row and column of the first half, then of the second */
  for (size_t c = 0; c < b->width; c++) {
    const shares s = shares_of(b, c);
    size_t half = c < b->width / 2 ? 0 : 2;
    double row[] = {(double)c, s.row, s.column, 1 - s.row - s.column, s.variance};
    RS_TRY(rs_curve_add(&result->curve, row, err));
    if (isnan(s.row)) continue;
    rs_moments_add(&means[half], s.row);
    rs_moments_add(&means[half + 1], s.column);
  }
  for (size_t i = 0; i < RS_COUNT(means); i++) result->value[i] = rs_moments_mean(&means[i]);
  return RS_OK;
}

static rs_status finish(const rs_metric_in *in, const void *state, rs_result *result, rs_err *err) {
  (void)state;
  const rs_encoding *encoding = in->encoding;
  const rs_position_set set = rs_positions_of(&encoding->tokens, encoding->length);
  for (size_t i = 0; i < RS_METRIC_SCALARS; i++) result->value[i] = NAN;
  if (encoding->method->embed == NULL || set.rows == 0) return RS_OK;
  board b = {set.rows, set.columns, encoding->width, rs_alloc(set.count, encoding->width * sizeof(double), err)};
  if (b.table == NULL) return RS_MEMORY;
  rs_status status = rs_encoding_embed(encoding, set.begin, set.count, b.table, err);
  if (status == RS_OK) status = report(&b, result, err);
  free(b.table);
  return status;
}

static size_t curve_rows(const void *given, const rs_curve_in *in) {
  (void)given;
  return in->width;
}

static const rs_column scalars[] = {
    RS_COLUMN("first_half_row_share", "1",
              "share of a channel's variance over the picture that its row explains, mean over the first half of the "
              "channels; channels that do not vary are left out"),
    RS_COLUMN("first_half_column_share", "1", "the share that its column explains, first half"),
    RS_COLUMN("second_half_row_share", "1", "the share of the row, second half of the channels"),
    RS_COLUMN("second_half_column_share", "1", "the share of the column, second half"),
};

static const rs_column curve[] = {
    RS_COLUMN("channel", "", "channel of the table", .integer = true),
    RS_COLUMN("row_share", "1", "variance of its row means / its variance over the picture"),
    RS_COLUMN("column_share", "1", "variance of its column means / its variance over the picture"),
    RS_COLUMN("joint_share", "1", "the rest: what takes row and column together"),
    RS_COLUMN("variance", "1", "its variance over the picture"),
};

const rs_metric_kind rs_metric_channel_axes = {
    .kind = {.name = "channel_axes",
             .summary = "whether channels of a position table say the row or the column: the first frame of the first "
                        "picture",
             .reference = "MAE, arXiv:2111.06377, util/pos_embed.py; Fisher, 1925 (two-way analysis of variance)"},
    .needs_picture = true,
    RS_SCALARS(scalars),
    RS_CURVE(curve, 1),
    .curve_rows = curve_rows,
    .finish = finish,
};
