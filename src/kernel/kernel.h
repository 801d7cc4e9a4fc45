/* kernel/kernel.h: the loops in which the time goes. Each is one source, compiled once for every instruction set of
 * the machine's family; the set in use is chosen when the program starts. Plain arrays in, plain arrays out: nothing
 * here knows what an encoding is. */
#ifndef ROPESCOPE_KERNEL_H
#define ROPESCOPE_KERNEL_H

#include "base/base.h"

/* ---- instruction sets -------------------------------------------------------------------------------------------- */

/* The kernels of one instruction set. "generic" is plain C of the machine's family without fused multiply-adds. "v3"
 * (AVX2, FMA) and "v4" (AVX-512) are levels of x86-64, "neon" is aarch64. Results of different sets differ in their
 * last bits, within the bounds that stand at each kernel. */
typedef struct rs_kernels rs_kernels;

/* The kernels in use: the best set this machine runs, unless rs_kernels_use has chosen another. */
const rs_kernels *rs_kernels_get(void);

/* Chooses for the whole process, before other threads use kernels: a name, or "auto". RS_INPUT where there is no such
 * set in this program or the machine does not run it; the message lists those it does. */
rs_status rs_kernels_use(const char *isa, rs_err *err) RS_NONNULL(1);

/* Number `index` of the sets this machine runs, best first; NULL past the last. */
const char *rs_isa_name(size_t index);

/* ---- ceilings ---------------------------------------------------------------------------------------------------- */

/* What one core can do at most, for `ropescope bench`. */
typedef struct rs_ceiling_kernel {
  /* Runs `rounds` rounds of independent fused multiply-adds (multiplications and additions where there are none) in
   * registers; returns the floating-point operations done. */
  double (*fma_f32)(size_t rounds);
  double (*fma_f64)(size_t rounds);
  /* The sum of (count,) floats, so that every one is read; a copy of them. Arrays are
   * aligned to 64 bytes, counts multiples of 64. */
  double (*read)(const float *array, size_t count);
  void (*copy)(const float *from, size_t count, float *to);
} rs_ceiling_kernel;

/* ---- decay: sums of waves over distance -------------------------------------------------------------------------- */

/* One wave of K(d) = sum_j a_j cos(omega_j d + phase_j). Finite. */
typedef struct rs_wave {
  double amplitude, omega, phase; /* any unit; rad/token; rad */
} rs_wave;

/* The tables of a sum of waves: 8 KB a wave. Immutable. */
typedef struct rs_decay rs_decay;

/* The tables of `count` waves (0: K = 0), for the kernels in use; 0.1 ms for 64 waves. The doubles are taken as exact.
 * RS_DOMAIN where one is not finite, RS_MEMORY. Release with rs_decay_free. */
rs_status rs_decay_create(const rs_wave *waves, size_t count, rs_decay **decay, rs_err *err) RS_NONNULL(3);
void rs_decay_free(rs_decay *decay);
RS_HOLDS(rs_decay)

/* out[i] = K(first + i) for i < count; first + count <= 2^63. The error is at most (88 + count of waves / 64) 2^-53 of
 * sum_j |a_j|: 1e-14 for up to 128 waves, at any distance. K(d) has the same bits in whichever range, by however many
 * threads. */
void rs_decay_range(const rs_decay *decay, uint64_t first, size_t count, double *out) RS_NONNULL(1, 4);

/* K at one distance term by term, with an error of at most 4e-16 of sum_j |a_j|; K = sum_j a_j to the last bit where no
 * wave turns. The same bits from every instruction set. */
double rs_decay_at(const rs_decay *decay, uint64_t distance) RS_NONNULL(1);

/* The smallest d in [first, end) with rs_decay_at(d) < level, or `end` where there is none; end <= 2^63. Distances are
 * searched by the kernel; near the level, within its error, rs_decay_at decides (a microsecond each): what is found
 * depends neither on instruction set nor threads, and a K that is the level itself is not below it. */
uint64_t rs_decay_first_below(const rs_decay *decay, double level, uint64_t first, uint64_t end) RS_NONNULL(1);

/* The loops of one instruction set; private to the layer. */
typedef struct rs_decay_kernel rs_decay_kernel;

/* ---- rotation ---------------------------------------------------------------------------------------------------- */

/* All of it is free of allocations and of state: any thread may call it on arrays of its own. Inputs and outputs do
 * not overlap unless it says so. An element's value depends on the set and on its own inputs, not on where it stands.
 */
typedef struct rs_rotate_kernel {
  /* cos and sin of position[j] * omega[j] (tokens, rad/token), j < n, within 3e-16 of the exact product's for angles
   * below 2^31. One of 2^40 or more, or no number, makes the whole call rs_cos_sin's, as "generic" always is. */
  void (*cos_sin)(const double *position, const double *omega, size_t n, double *cosine, double *sine);
  /* The same at one position. */
  void (*cos_sin_at)(double position, const double *omega, size_t n, double *cosine, double *sine);
  /* cos and sin of an angle (n,) plus each of `rows` steps (rows, n), by the addition theorem: out (rows, n) errs by
   * what the two err by and 3e-16 of its own. One row may be put in the place of the angle. */
  void (*add_angles)(const double *cosine, const double *sine, const double *step_cosine, const double *step_sine,
                     size_t rows, size_t n, double *out_cosine, double *out_sine);
} rs_rotate_kernel;

/* ---- scores ------------------------------------------------------------------------------------------------------ */

/* The engine's loop: a tile of queries, one a lane, walks over keys, and each lane keeps the statistics of its softmax
 * row; no row of logits is ever stored. Inside, logits are in bits (units of ln 2): queries come multiplied by
 * log2(e) * scale / sqrt(D). `real` is float or double, by the kernel.
 *
 * Errors, with u = 2^-24 or 2^-53: a logit of D terms is off by at most u D |q||k| / 2 where they have one sign, and by
 * about u sqrt(D) |q||k| where they are random; a weight besides by that of 2^t (lanes.h) and u |t|. Sums run in `real`
 * for one call and in double between calls. */

enum { RS_SCORE_LANES = 32 }; /* the most lanes of any set */

/* What a tile has seen so far, a number for each lane. Weights are relative to 2^reference, which follows `top` loosely
 * (it is never more than 8 below). Start with rs_score_state_reset. */
typedef struct rs_score_state {
  double reference[RS_SCORE_LANES], top[RS_SCORE_LANES]; /* bits; top: the largest logit */
  int32_t argmax[RS_SCORE_LANES];                        /* its key, the first of equals */
  double spread[RS_SCORE_LANES];                         /* sum of weight * (logit - reference), bits */
  double sink[RS_SCORE_LANES];                           /* weight of the first keys */
  double needle[RS_SCORE_LANES];                         /* a logit to compare with, and */
  double rank[RS_SCORE_LANES];                           /* how many keys have a larger one */
  double *bin_weight;                                    /* (bins, lanes) */
  double *bin_keys, *bin_mean, *bin_squares;             /* (bins, lanes) of the logits, bits; NULL: not wanted */
} rs_score_state;

/* Keys [tile * rows, ...) of tiles [first, end), as each lane sees them. */
typedef struct rs_score_call {
  const void *queries; /* real (D, lanes) */
  const void *keys;    /* real (tiles, D, rows): the panels of all keys of one view; the last filled up with zeros */
  size_t dims;         /* D */
  size_t used;         /* lanes that are not idle, the first ones */
  size_t first, end;   /* tiles, walked from the last to the first */
  int32_t begin[RS_SCORE_LANES], stop[RS_SCORE_LANES]; /* keys [begin, stop) that a lane sees; idle lanes as another */
  int32_t position[RS_SCORE_LANES];                    /* of the lanes' queries; distances are |position - key| */
  int32_t sinks;                                       /* how many first keys count as the sink */
  size_t bins;
  const size_t *edges;    /* (bins + 1,) */
  const uint16_t *bin_of; /* by distance */
  const void *bias;       /* real, bits: lane l of key n reads bias[(n - bias_key) * bias_step + l]; NULL: none */
  ptrdiff_t bias_key, bias_step;
  double cap;    /* bits: products become cap tanh(product / cap), before the bias; 0: they do not */
  bool ranks;    /* count keys above the needle */
  void *scratch; /* real (bins, lanes), 64-byte aligned; zero before and after */
} rs_score_call;

typedef struct rs_score_kernel {
  size_t real_bytes, lanes, rows; /* rows: keys of a panel */
  /* Walks the tiles of the call. */
  void (*walk)(const rs_score_call *call, rs_score_state *state);
  /* out real (keys of the call's tiles, lanes): the logits that `walk` weighs, also where a lane sees none. */
  void (*logits)(const rs_score_call *call, void *out);
  /* out[lane] = queries (D, lanes) . keys (D, lanes), lane by lane, capped, with the very roundings of `walk`. */
  void (*dot)(const void *queries, const void *keys, size_t dims, double cap, double *out);
} rs_score_kernel;

/* Nothing seen yet: zeroes the bins, too. */
void rs_score_state_reset(rs_score_state *state, size_t bins, size_t lanes) RS_NONNULL(1);

/* Adds to the first `count` lanes what the same queries saw of other keys. */
void rs_score_state_join(rs_score_state *into, const rs_score_state *from, size_t bins, size_t lanes, size_t count)
    RS_NONNULL(1, 2);

/* Adds `keys` logits with this mean and sum of squared deviations to the moments in `place` of the bins (Chan, Golub
 * and LeVeque, 1979). */
void rs_score_state_note(rs_score_state *state, size_t place, double keys, double mean, double squares) RS_NONNULL(1);

/* Moves one lane's weights to another reference, bits. */
void rs_score_state_move(rs_score_state *state, size_t bins, size_t lanes, size_t lane, double reference) RS_NONNULL(1);

/* ---- networks ---------------------------------------------------------------------------------------------------- */

/* What transformers are computed with. Matrices are row-major; `step` is how many numbers lie between the starts of two
 * rows. Any size, any alignment; `real` is float or double, by the kernel. No allocation, no state, any thread; the
 * same bits wherever arrays stand.
 *
 * Errors, with u = 2^-24 or 2^-53: an element of a product by at most (depth + 2) u of the sum of absolute values; a
 * curve by 3 u (1 + |x|), its slope by 5 u; e^-x of a softmax by u (3 + x), relative; sums over a row by a u for each
 * vector of it. What is no number stays none. */

/* A matrix as a file has it: number (input, output) of it stands at input * input_step + output * output_step, one of
 * the two is 1 where it counts for speed. Numbers of any format, little-endian, aligned to nothing, all finite. */
typedef struct rs_stored_matrix {
  const void *numbers;
  rs_format format;
  size_t input_step, output_step;
} rs_stored_matrix;

/* c (rows, columns) = a b, plus c where `add`. */
typedef struct rs_product {
  size_t rows, columns, depth;
  const void *a; /* (rows, depth); (depth, rows) where `a_turned` */
  size_t a_step;
  bool a_turned;
  const void *b; /* (depth, columns) */
  size_t b_step;
  void *c;
  size_t c_step;
  bool add;
  bool b_panels;                    /* b is what `panels` made, and has no step */
  const rs_stored_matrix *b_stored; /* in the place of b, depth its inputs; rounded to `real` where it has more bits */
} rs_product;

/* y (rows, width) = factor * x, of which the first 2 * pairs numbers of each row are turned: pair j, numbers (j, j +
 * pairs), or (2j, 2j + 1) where `interleaved`, from (a, b) to (a cosine - b sine, a sine + b cosine), within three
 * roundings of |a cosine| + |b sine| (or |a sine| + |b cosine|); plus y where `add`. */
typedef struct rs_row_turn {
  size_t rows, width, pairs; /* 2 * pairs <= width; 0: nothing is turned */
  bool interleaved;
  bool back;                 /* by the angles' negatives */
  const void *cosine, *sine; /* (rows, pairs) */
  const void *factor;        /* (rows,); NULL: ones */
  bool add;
} rs_row_turn;

/* y = (x - mean) * scale * (weight + lift) + bias for each row of x (rows, width). */
typedef struct rs_norm_call {
  size_t rows, width;
  bool centred;       /* the mean is taken off: a layer norm; else the root mean square's */
  double epsilon;     /* scale = 1 / sqrt(mean square + epsilon) */
  const void *weight; /* (width,); NULL: ones, whatever the lift */
  double lift;        /* added to every weight */
  const void *bias;   /* (width,); NULL: zeros */
  const void *x;      /* (rows, width) */
  size_t x_step;
  void *mean, *scale; /* (rows,) of each row; written forwards, read backwards; mean NULL unless centred */
} rs_norm_call;

/* What a feed-forward layer does between its matrices; sigma is the logistic function. */
typedef enum rs_curve_kind {
  RS_CURVE_GELU,
  RS_CURVE_GELU_TANH,
  RS_CURVE_RELU,
  RS_CURVE_SILU,
  RS_CURVE_GELU_BLOOM,
  RS_CURVE_RELU2,
  RS_CURVE_XIELU
} rs_curve_kind;

/* What xielu has learned (arXiv:2411.13010): x > 0: positive x^2 + slope x; else negative (e^min(x, edge) - 1 - x) +
 * slope x. */
typedef struct rs_xielu {
  double positive, negative, slope, edge;
} rs_xielu;

/* y (rows, width) = curve(x), or, gated, curve(x) * u for x (rows, 2 width) that holds x, then u in each row. */
typedef struct rs_curve_call {
  rs_curve_kind curve;
  bool gated;
  size_t rows, width;
  const void *x;
  size_t x_step;
  void *slopes; /* as x, whose place it may take: derivatives of y by x; written forwards unless NULL, read backwards */
  rs_xielu xielu; /* of that curve */
} rs_curve_call;

/* A tile of logits (rows, columns), of which row r sees columns [begin[r], end[r]). */
typedef struct rs_soft_tile {
  size_t rows, columns;
  void *logits;
  size_t step;
  const uint32_t *begin, *end; /* (rows,) */
} rs_soft_tile;

typedef struct rs_adam {
  double rate, beta1, beta2, epsilon;
  double keep;       /* values are multiplied by it first: 1 - rate * decay */
  double gradient;   /* gradients are: what clipping leaves of them */
  double fix1, fix2; /* 1 / (1 - beta^step) */
} rs_adam;

typedef struct rs_net_kernel {
  size_t real_bytes;
  void (*product)(const rs_product *product);
  /* out (depth, columns) = x (columns, depth) turned, in panels: as many columns as this product computes together, row
   * by row, then as many more; the last may be narrower. */
  void (*panels)(const void *x, size_t depth, size_t columns, void *out);
  /* out (count,) = numbers of `format`, finite, aligned to nothing, each `step` numbers behind the one before. */
  void (*widen)(const void *numbers, rs_format format, size_t step, size_t count, void *out);
  /* out (columns, rows) = x (rows, columns) turned. */
  void (*turn_over)(const void *x, size_t step, size_t rows, size_t columns, void *out, size_t out_step);
  /* y may be x. */
  void (*turn_rows)(const rs_row_turn *turn, const void *x, size_t x_step, void *y, size_t y_step);
  void (*norm)(const rs_norm_call *call, void *y, size_t y_step);
  /* Adds the gradients by x to dx (rows, width), by weights and bias to dweight and dbias (width,) (NULL: not wanted).
   * dx may not be dy. */
  void (*norm_back)(const rs_norm_call *call, const void *dy, size_t dy_step, void *dx, size_t dx_step, void *dweight,
                    void *dbias);
  void (*curve)(const rs_curve_call *call, void *y, size_t y_step);
  /* dx (rows, width, or 2 width where gated) from dy (rows, width) and the slopes alone; dx may be where dy is unless
   * gated. */
  void (*curve_back)(const rs_curve_call *call, const void *dy, size_t dy_step, void *dx, size_t dx_step);
  /* Online softmax: raises top[r] to the row's largest logit, turns logits into e^(logit - top), 0 where unseen, and
   * sum[r] into sum e^(old top - top) + their sum. shrink[r] gets e^(old top - top). All (rows,) real; tops begin at
   * -infinity and sums at 0. A row that has seen nothing yet keeps -infinity, and shrink 1. */
  void (*soften)(const rs_soft_tile *tile, void *top, void *sum, void *shrink);
  /* logits become weights p = e^(logit - level[r]), 0 where unseen, and dp (rows, columns) becomes p (dp - dot[r]). */
  void (*soften_back)(const rs_soft_tile *tile, const void *level, const void *dot, void *dp, size_t dp_step);
  /* x[r] *= factor[r] (rows,) for each row of (rows, columns). */
  void (*scale_rows)(void *x, size_t step, size_t rows, size_t columns, const void *factor);
  /* x (rows, columns) becomes cap tanh(x / cap), within 8 roundings of it; slopes, unless NULL and with the same step,
   * gets the derivative, within 8 roundings of 1. */
  void (*cap_rows)(double cap, size_t rows, size_t columns, void *x, size_t step, void *slopes);
  /* For each row of logits (rows, classes): loss[r] = log-sum-exp - logit of its target (NaN where that is negative),
   * answer[r] its largest class, the first of equals (NULL: not wanted). Where `weight` is not 0, logits become weight
   * times the gradient of the loss, 0 where there is no target; else they stay. */
  void (*cross_entropy)(void *logits, size_t step, size_t rows, size_t classes, const int32_t *targets, double weight,
                        double *loss, int32_t *answer);
  /* into (count,) += x. */
  void (*add)(const void *x, size_t count, void *into);
  /* The sum of squares of (count,), in double. */
  double (*squares)(const void *x, size_t count);
  /* One step of AdamW for (count,) values with moments `first` and `second` (Loshchilov and Hutter,
   * arXiv:1711.05101). */
  void (*adam)(const rs_adam *adam, const void *gradient, size_t count, void *values, void *first, void *second);
} rs_net_kernel;

/* ---- the table --------------------------------------------------------------------------------------------------- */

struct rs_kernels {
  const char *isa; /* the set's name */
  const rs_ceiling_kernel *ceiling;
  const rs_decay_kernel *decay;
  const rs_rotate_kernel *rotate;
  const rs_score_kernel *scores_f32, *scores_f64;
  const rs_net_kernel *net_f32, *net_f64;
};

#endif
