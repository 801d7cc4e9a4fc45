/* metrics/metrics.h: numbers about attention. A metric reads the tables of an encoding, or is fed the observed rows
 * of every head and query, and ends in scalars (columns of summary.csv) and, for some, a curve (a CSV of its own). */
#ifndef ROPESCOPE_METRICS_H
#define ROPESCOPE_METRICS_H

#include "attention/attention.h"
#include "model/model.h"

typedef enum rs_better { RS_NEITHER, RS_HIGHER, RS_LOWER } rs_better;

/* What a column of a curve is to its picture. Of an index: a side of a heat map, or what its numbers stand for; of a
 * value: how it is drawn, where that is not as a line. */
typedef enum rs_map_part {
  RS_MAP_NONE,
  RS_MAP_X,        /* index: left to right */
  RS_MAP_Y,        /* index: top to bottom; without an X, over the lengths of the cells */
  RS_MAP_PANEL,    /* index: one map for each of its numbers */
  RS_MAP_MARK,     /* index: where it equals the panel's number the map shows a mark: what all others are seen from */
  RS_MAP_BIN_END,  /* index: where the bin ends that starts at the first index */
  RS_MAP_SAMPLES,  /* index: how many samples the values are means of */
  RS_MAP_CATEGORY, /* the first index: numbers of things that have names, no quantity */
  RS_MAP_STRIP,    /* value: colours over the first index, a row for each method, in place of lines */
  RS_MAP_MASS,     /* value: falls into bins, and is divided by their width */
  RS_MAP_LOW,      /* value: the least of the bin, called as another value and _low: drawn as that one's envelope */
  RS_MAP_HIGH,     /* value: the largest of the bin, likewise with _high */
  RS_MAP_SEEN, /* value: attention of one model and sequence, as RS_MAP_ONE; keys without a value are not seen: blank */
  RS_MAP_SHARE, /* value: a share of the panel, said in its title */
  RS_MAP_ONE    /* value: of one model or sequence; pictures show one seed, as a mean over seeds has no meaning */
} rs_map_part;

/* A column of summary.csv or of a curve. */
typedef struct rs_column {
  const char *name, *unit; /* the unit is part of the name where there is one: entropy_nats */
  const char *summary;     /* its definition */
  bool integer;            /* an integer or empty: a count, an index, a position */
  bool sampled;            /* a mean over queries and heads, or over sequences: its standard error follows, name_se */
  bool log_axis;           /* pictures show it on a logarithmic axis */
  rs_map_part map;         /* columns of curves alone */
  rs_better better;
} rs_column;

/* What a metric is computed from; all borrowed. */
typedef struct rs_metric_in {
  const rs_encoding *encoding;
  const void *params;  /* the metric's own struct; NULL where it has no parameters */
  const size_t *heads; /* (head_count,) heads that are simulated */
  size_t head_count;
  const size_t *edges; /* (bins + 1,) distance bins, tokens */
  size_t bins;
  uint64_t seed; /* of the cell */
} rs_metric_in;

/* What is known of a cell before anything is computed. */
typedef struct rs_curve_in {
  size_t length;               /* L, tokens */
  size_t pairs;                /* of a head, at most: D/2 */
  size_t heads;                /* of the model */
  size_t width;                /* H * D */
  size_t bins;                 /* of distances, at most */
  size_t sequences;            /* of a task that are read, at most; 0: heads are simulated */
  size_t trained;              /* sequences of RS_SPLIT_TRAINED; 0: training has no end of them */
  size_t observed;             /* heads of a cell whose rows are observed; 0: none are */
  const rs_query_set *queries; /* of them; NULL: all that there are */
  const rs_token_layout *tokens;
} rs_curve_in;

/* A curve: rows of `columns` numbers, index columns first. */
typedef struct rs_curve {
  double *cells; /* [row][column], owned */
  size_t columns, rows, capacity;
} rs_curve;

/* Appends one row of curve->columns numbers. */
rs_status rs_curve_add(rs_curve *curve, const double *row, rs_err *err) RS_NONNULL(1, 2);
void rs_curve_clear(rs_curve *curve) RS_NONNULL(1);

enum { RS_METRIC_SCALARS = 12 }; /* most scalars of one metric */

/* The result of one metric in one cell; NaN where there is nothing to report. */
typedef struct rs_result {
  double value[RS_METRIC_SCALARS], error[RS_METRIC_SCALARS];
  rs_curve curve;
} rs_result;

/* Queries and keys of one head, before rotation, without what additive embeddings put on them. Borrowed. */
typedef struct rs_head_content {
  size_t head;
  size_t queries, keys; /* Q that are observed; L */
  const double *q, *k;  /* (Q, D), (L, D) */
} rs_head_content;

/* What a model's losses are compared with, on the same targets: what costs nothing. */
typedef enum rs_baseline {
  RS_BASELINE_WINDOW,    /* the model as it was trained, reading the tokens of its trained length before their end */
  RS_BASELINE_UNCHANGED, /* the model as it was trained, reading all of the length */
  RS_BASELINES
} rs_baseline;
extern const char *const rs_baseline_words[RS_BASELINES + 1];

/* What a metric of readings is computed from: what a model said to a task. */
typedef struct rs_reading_in {
  const rs_reading *reading;
  const rs_task *task;
  size_t length;             /* of the task's sequences, tokens */
  const rs_context *context; /* that reads them, under the cell's method */
  const void *params;
  /* For metrics that have contexts cut, (sequences, A) nats: losses with the whole context and with what is left of it,
   * both read by the same recipes (rs_cut). */
  const double *whole, *cut;
  const rs_reading *baseline; /* for metrics that have one: what it said to the same targets */
  const rs_reading *trained;  /* of RS_SPLIT_TRAINED, for metrics that are marked `trained` */
} rs_reading_in;

typedef struct rs_row_needs rs_row_needs;

typedef struct rs_metric_kind {
  rs_kind kind;
  /* RS_INPUT, with the parameter as subject, when parameters contradict each other; what follows takes parameters that
   * it has accepted. May be NULL. */
  rs_status (*check)(const rs_binding *binding, rs_err *err);
  /* RS_INPUT where no cell like `in` can have a result under these parameters; the message goes on from "which". May be
   * NULL. */
  rs_status (*fit)(const void *params, const rs_curve_in *in, rs_err *err);
  bool needs_needle;  /* reports nothing without a source that plants needles */
  bool needs_moments; /* reads the moments of the logits in each bin */
  bool needs_picture; /* reports nothing without an image or a video among the tokens */
  bool draws;         /* reads tables alone, and random numbers of the cell's seed */
  const rs_column *scalars;
  size_t scalar_count;
  const rs_column *curve; /* index columns, then values; the file is named after the metric */
  size_t curve_count, index_count;
  /* At most how many rows it has in one cell. NULL without a curve. */
  size_t (*curve_rows)(const void *params, const rs_curve_in *in);
  /* The first keys whose weight a row is to hold. NULL: none. */
  size_t (*sinks)(const void *params);
  /* What rows are to hold that takes their logits once more, in double (some ten times slower): sets local, or tops,
   * which may borrow from `params`. NULL: none of it. At most one metric sets each. */
  void (*wants)(const void *params, rs_row_needs *needs);
  /* Metrics of heads: prepare makes one block of memory, to be released with free(), with all that `row` and `content`
   * need; it may borrow from what `in` points to. RS_MEMORY. Rows come head by head; the content of a head is shown
   * once for each sequence. A metric has at least one of the two; or none and no prepare: the tables alone are read,
   * and the state is NULL. */
  rs_status (*prepare)(const rs_metric_in *in, void **state, rs_err *err);
  void (*row)(void *state, const rs_row *row);
  void (*content)(void *state, const rs_head_content *content);
  rs_status (*finish)(const rs_metric_in *in, const void *state, rs_result *result, rs_err *err);
  /* How the contexts are cut in which a metric of readings wants to know losses, too. NULL: no such. */
  void (*cut)(const void *params, rs_cut *cut);
  /* Which baseline a metric of readings compares with. NULL: none. */
  rs_baseline (*baseline)(const void *params);
  bool trained; /* of a metric of readings: it reads RS_SPLIT_TRAINED as well */
  /* Metrics of readings have this alone. `result` is empty, but for the curve's number of columns. RS_MEMORY. */
  rs_status (*read)(const rs_reading_in *in, rs_result *result, rs_err *err);
} rs_metric_kind;

const rs_metric_kind *const *rs_metric_kinds(size_t *count) RS_NONNULL(1);
const rs_metric_kind *rs_metric_find(const char *name) RS_NONNULL(1);

/* Whether the metric reads what sources make of heads: their rows, or their queries and keys. */
static inline bool rs_metric_observes(const rs_metric_kind *kind) {
  return kind->prepare != NULL;
}

/* What rows are to hold for a set of metrics. Zero-initialise. */
struct rs_row_needs {
  bool rows;    /* any metric reads rows */
  bool content; /* or queries and keys */
  bool moments; /* of the logits in each bin */
  size_t sinks; /* the first keys whose weight is summed; 0: none */
  size_t local; /* as in rs_attention_job */
  const double *tops;
  size_t top_count;
  rs_range map_queries, map_keys; /* the ranges that hold those of all metrics; empty: no maps */
};

/* Adds what one metric needs. RS_UNSUPPORTED where it sums other first keys than those before it: a row holds one sum.
 */
rs_status rs_row_needs_add(rs_row_needs *needs, const rs_metric_kind *kind, const void *params, rs_err *err)
    RS_NONNULL(1, 2);

/* ---- what a change of rotary angles costs ------------------------------------------------------------------------ */

/* The terms of the predictors of zero_shot_damage and lookback_damage, for the last query of an encoding, or what they
 * are multiplied by before they are added. All are lower where less is lost; NaN where pairs have no one distance. */
typedef struct rs_turn_costs {
  double near; /* near_turn: mean of 1 - cos of what the keys 1 to 8 back are turned by, weighted by 1/m, in [0, 2] */
  double far;  /* lookback_nats: -ln of the last query's weight on the key before it among all keys, nats */
  double out;  /* new_angle_turns: turns that training has not shown, mean over pairs, in [0, 1] */
} rs_turn_costs;

/* Milliseconds for each 10^5 tokens where all keys stand at whole distances, as they do unless positions are divided.
 * RS_MEMORY. */
rs_status rs_turn_costs_find(const rs_encoding *encoding, rs_turn_costs *costs, rs_err *err) RS_NONNULL(1, 2);
double rs_turn_costs_sum(const rs_turn_costs *costs, const rs_turn_costs *weights) RS_NONNULL(1, 2);

/* Weights that make the sum loss_damage and needle_damage: fits to small models (m_turn_costs.c). */
extern const rs_turn_costs rs_loss_weights, rs_needle_weights;

/* ---- shifts of embeddings ---------------------------------------------------------------------------------------- */

/* The matrix with PE(n + k) = M PE(n) for all n, or the nearest to one (m_embedding_shift.c). Zero-initialise; release
 * with rs_embedding_shift_clear. */
typedef struct rs_embedding_shift {
  rs_arena arena;
  size_t width, places;           /* places: n for which there is n + k */
  bool rotations;                 /* the channels are sines and cosines, and M turns each pair; else it is fitted */
  size_t rank;                    /* of the places it is fitted to */
  size_t *partner;                /* (width,) the other channel of a pair */
  bool *first;                    /* (width,) whether it is the pair's first number, as cosines are */
  double *matrix;                 /* (width, width) */
  double *error;                  /* (width,) largest |PE(n + k) - M PE(n)| of a channel */
  double largest_error, residual; /* of all channels; root of their sum of squares over that of PE(n + k) */
  double *angle;                  /* (width,) rad: what the pair best turns by where it may only turn */
  double *turned_error, largest_turned_error, turned_residual; /* the same of these rotations */
  double *from, *to, *turned; /* (width,) of the first place: PE(n), PE(n + k), PE(n) after these rotations */
} rs_embedding_shift;

/* `by`: {k} of a sequence, {rows, columns} of a picture. RS_DOMAIN for another count, a shift beyond the positions, or
 * a table too large to fit; RS_MEMORY. */
rs_status rs_embedding_shift_find(const rs_encoding *encoding, const double *by, size_t count,
                                  rs_embedding_shift *shift, rs_err *err) RS_NONNULL(1, 2, 4);
void rs_embedding_shift_clear(rs_embedding_shift *shift) RS_NONNULL(1);

/* ---- intervals --------------------------------------------------------------------------------------------------- */

/* A mean and its 95 % interval. */
typedef struct rs_interval {
  double mean, low, high;
} rs_interval;

/* The mean of paired differences, (seeds, blocks), and its bootstrap interval where seeds and blocks are drawn apart
 * from each other with replacement: every seed has read the same blocks. Equal values give equal bits. `low` and `high`
 * are NaN for a single value; all three are NaN where a value is not finite. RS_DOMAIN without values, RS_MEMORY. */
rs_status rs_bootstrap_mean(const double *values, size_t seeds, size_t blocks, rs_interval *interval, rs_err *err)
    RS_NONNULL(1, 4);

/* Whether the mean differs from 0, at 95 %: the interval is known and 0 is not in it. */
static inline bool rs_interval_parts(const rs_interval *interval) {
  return interval->low > 0 || interval->high < 0;
}

/* ---- the least base that serves a length ------------------------------------------------------------------------- */

/* What a search for the least base came to. */
typedef struct rs_base_bound {
  double base;       /* the least base found to be good; NaN where the steps were used up */
  double reached;    /* no smaller base is good, but for windows narrower than the resolution */
  double resolution; /* relative */
  size_t steps;      /* bases at which the march stood */
  size_t scans;      /* of them, those where every distance was tested */
  size_t unproved;   /* steps of one resolution, that no proof covers: windows narrower than it might lie there */
} rs_base_bound;

/* The least base >= 1 with sum_{j < R/2} cos(m base^(-2j/R)) >= 0 for every integer m in [0, length), found by marching
 * up from 1 in steps that are proved to hold no good base (m_base_bound.c); at most `most_steps` of them, where one
 * that tests every distance counts for length / 12288 more. A step takes microseconds to a millisecond (length 1M), a
 * search 10^3 (length 1k) to 10^6 steps. Reads no state but the kernels in use: any thread. RS_DOMAIN where no base is
 * good (fewer than two pairs), RS_MEMORY. */
rs_status rs_base_bound_find(size_t rotary_dim, size_t length, size_t most_steps, rs_base_bound *found, rs_err *err)
    RS_NONNULL(4);

#endif
