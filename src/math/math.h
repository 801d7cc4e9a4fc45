/* math/math.h: random numbers that depend on their index alone, angles reduced once, sums that do not depend on
 * who adds them, functions of the same bits on all machines, rounding to short float formats, log-spaced edges, tables
 * on grids, orthonormal columns, curves fitted by waves. */
#ifndef ROPESCOPE_MATH_H
#define ROPESCOPE_MATH_H

#include "base/base.h"

/* ---- random numbers ---------------------------------------------------------------------------------------------- */

/* What each stream is for: two purposes never share a number. Their numbers are part of every result. */
typedef enum rs_purpose {
  RS_PURPOSE_KEYS = 1,
  RS_PURPOSE_QUERIES,
  RS_PURPOSE_NEEDLES,
  RS_PURPOSE_QUERY_POSITIONS,
  RS_PURPOSE_FIELD_WAVES,
  RS_PURPOSE_FIELD_PHASES,
  RS_PURPOSE_PROJECTION,
  RS_PURPOSE_BIASES = 0x626961,      /* "bia" */
  RS_PURPOSE_TABLE = 0x6c6561,       /* "lea": of embeddings in a row */
  RS_PURPOSE_TABLE_2D = 0x6c6532,    /* "le2": of embeddings on a grid */
  RS_PURPOSE_POSITIONS = 0x706f73,   /* "pos" */
  RS_PURPOSE_FREQUENCIES = 0x667265, /* "fre": angles of mixed frequencies */
  RS_PURPOSE_CURVE = 0x637572,       /* "cur": noise that a curve of logits is fitted to */
  RS_PURPOSE_SHIFT = 0x736869,       /* "shi": queries and keys of shift_invariance */
  RS_PURPOSE_TRAINING = 0x747261,    /* "tra": sequences of tasks that models are trained on */
  RS_PURPOSE_EVALUATION = 0x657661,  /* "eva": sequences of tasks that they are read on */
  RS_PURPOSE_RULES = 0x72756c,       /* "rul": what is the same in all sequences of a task */
  RS_PURPOSE_WEIGHTS = 0x776569,     /* "wei": of transformers before training */
} rs_purpose;

/* One stream of numbers. Element i is a function of these fields and i alone (Philox4x64-10: Salmon et al., "Parallel
 * random numbers: as easy as 1, 2, 3", SC 2011), so that any thread may make any part of it. */
typedef struct rs_stream {
  uint64_t seed;
  uint32_t purpose; /* what the numbers are for: two purposes never share a number */
  uint32_t head;
} rs_stream;

/* Elements [first, first + count) of the stream as iid N(0, 1), by Box and Muller's transform. */
void rs_gaussian_fill(rs_stream stream, uint64_t first, size_t count, double *out) RS_NONNULL(4);

/* Element `index` as a uniform number in [0, 1), a multiple of 2^-53. */
double rs_uniform(rs_stream stream, uint64_t index);

/* Elements 4 block .. 4 block + 3, in the time of one of them. */
void rs_uniform_block(rs_stream stream, uint64_t block, double out[4]) RS_NONNULL(3);

/* `number` of the integers 0 .. range - 1 in ascending order, each set of them equally likely; number <= range. Reads
 * the uniform elements 0 .. range - 1 of the stream. */
void rs_subset(rs_stream stream, size_t number, size_t range, size_t *out) RS_NONNULL(4);

/* ---- float formats ----------------------------------------------------------------------------------------------- */

typedef enum rs_format { RS_F64, RS_F32, RS_BF16, RS_F16 } rs_format;
enum { RS_FORMATS = RS_F16 + 1 };
extern const char *const rs_format_words[RS_FORMATS + 1];

static inline size_t rs_format_bytes(rs_format format) {
  return format == RS_F64 ? 8 : format == RS_F32 ? 4 : 2;
}

/* `value` rounded to the format, ties to even; beyond its range an infinity, below it a subnormal or zero. */
double rs_round(rs_format format, double value);

/* ---- angles ------------------------------------------------------------------------------------------------------ */

/* cos and sin of position * omega (tokens, rad/token). The product's rounding error is kept by a fused multiply-add and
 * turned in afterwards, so that the result is good to 1e-15 for the given doubles at any |position * omega| < 2^31,
 * where a plain product drifts to 2e-7. */
void rs_cos_sin(double position, double omega, double *cosine, double *sine) RS_NONNULL(3, 4);

/* A fraction of a turn, (high 2^64 + low) 2^-128; sums and multiples wrap, as angles do. */
typedef struct rs_turns {
  uint64_t high, low;
} rs_turns;

/* radians / (2 pi) modulo 1 for the given double, finite and of any size, towards zero to less than 2^-127 turns. */
rs_turns rs_turns_of(double radians);

rs_turns rs_turns_add(rs_turns a, rs_turns b);
rs_turns rs_turns_subtract(rs_turns a, rs_turns b);

/* Exactly `times` the fraction, modulo 1: at position p the angle of a frequency is good to p * 2^-127 turns. */
rs_turns rs_turns_times(rs_turns turns, uint64_t times);

/* position * omega / (2 pi) modulo 1 for `turn` = rs_turns_of(omega): exactly that multiple at a whole position (of
 * either sign, below 2^62), else the fraction of the rounded product. */
rs_turns rs_turns_at(rs_turns turn, double omega, double position);

/* cos and sin of the angle, to 1.5e-16 with a libm that is good to 0.6 of a last place. */
void rs_turns_cos_sin(rs_turns turns, double *cosine, double *sine) RS_NONNULL(2, 3);

/* How angles are counted: `parts` equal parts of the circle, each with `start` counts before the first. `single`: every
 * step in float32, as code without doubles counts. */
typedef struct rs_angle_count {
  size_t parts;
  double start;
  bool single;
} rs_angle_count;

/* 2^-14, the smallest normal float16, which the authors of arXiv:2410.01490 start each count with. */
#define RS_ANGLE_START 0x1p-14

/* shares (parts,): (start + angles in the part) / count of the angles omega * position modulo 2 pi, for `count` >= 1
 * positions (NULL: 0 .. count - 1). Angles within 1.5e-9 rad below a border count as above. */
void rs_angle_shares(const rs_angle_count *how, double omega, const double *positions, size_t count, double *shares)
    RS_NONNULL(1, 5);

/* sum p ln(p / q), nats: how far q is from p (Kullback and Leibler, Ann. Math. Stat. 22, 1951). */
double rs_relative_entropy(const double *p, const double *q, size_t count) RS_NONNULL(1, 2);

/* ---- functions whose bits the C library leaves to the machine ---------------------------------------------------- */

/* 2^x within 2 roundings (2^-53 each) where it is normal; exact at whole x. */
double rs_exp2(double x);

/* sqrt(x^2 + y^2) within 2 roundings where it is normal, without overflow on the way. */
double rs_hypot(double x, double y);

/* ln Gamma(x) for x >= 1/2, within 1e-14 of 1 or of itself, whichever is more. Threads share nothing. */
double rs_log_gamma(double x);

/* The cosine integral Ci(x), x > 0, within 2e-15 of 1 or of itself (Abramowitz and Stegun, 5.2.2). */
double rs_cosine_integral(double x);

/* The x below which a share of the normal distribution lies, 1e-4 <= share <= 1 - 1e-4, within 1e-14. */
double rs_normal_quantile(double share);

/* ---- sums -------------------------------------------------------------------------------------------------------- */

/* A compensated running sum (Neumaier, ZAMM 54, 1974). Zero-initialise. */
typedef struct rs_sum {
  double sum, lost;
} rs_sum;

static inline void rs_sum_add(rs_sum *total, double term) {
  double sum = total->sum + term;
  double kept = (total->sum < 0 ? -total->sum : total->sum) >= (term < 0 ? -term : term) ? (total->sum - sum) + term
                                                                                         : (term - sum) + total->sum;
  total->sum = sum;
  total->lost += kept;
}

static inline double rs_sum_total(const rs_sum *total) {
  return total->sum + total->lost;
}

/* sum of a[i] b[i], in eight sums side by side. */
double rs_dot(const double *a, const double *b, size_t count) RS_NONNULL(1, 2);

/* Mean and spread of a sample, one value at a time (Welford, Technometrics 4, 1962). Zero-initialise. */
typedef struct rs_moments {
  double count, mean, squares; /* squares: sum of squared deviations from the mean */
} rs_moments;

void rs_moments_add(rs_moments *moments, double value) RS_NONNULL(1);

/* Sample standard deviation (n - 1); NaN below two values. */
double rs_moments_sd(const rs_moments *moments) RS_NONNULL(1);

/* Standard error of the mean, sd / sqrt(n), as if the values were independent; NaN below two values. */
double rs_moments_se(const rs_moments *moments) RS_NONNULL(1);

/* The mean; NaN for no values. */
double rs_moments_mean(const rs_moments *moments) RS_NONNULL(1);

/* ---- grids ------------------------------------------------------------------------------------------------------- */

/* Integer edges 0 = e[0] < e[1] < ... < e[count] = length with `per_octave` edges in each doubling (every integer
 * while those are denser than the integers): bin b holds the distances e[b] <= d < e[b+1], and the last edge is
 * `length`.
 * `*edges` has *count + 1 entries; release with free(). length >= 1, per_octave >= 1. */
rs_status rs_log_edges(size_t length, size_t per_octave, size_t **edges, size_t *count, rs_err *err) RS_NONNULL(3, 4);

/* At most how many bins these are: one for each distance, or for each step. */
size_t rs_log_bins(size_t length, size_t per_octave);

/* ---- tables on grids --------------------------------------------------------------------------------------------- */

/* How a table is carried to another grid; each as torch's interpolate with the size given. */
typedef enum rs_resize {
  RS_BICUBIC,           /* a = -0.75; samples are areas, and the border's is repeated */
  RS_BILINEAR,          /* the same areas */
  RS_BICUBIC_ANTIALIAS, /* a = -0.5; where the grid shrinks the kernel widens by the ratio; cut at the border, and the
                           weights made to sum to 1 */
  RS_BICUBIC_ALIGN,     /* a = -0.75; first on first and last on last sample */
  RS_CROP               /* the first rows and columns as they are; there are not more than the table has */
} rs_resize;
enum { RS_RESIZES = RS_CROP + 1 };

/* From tables (rows, columns, channels) to (new_rows, new_columns, channels), axis by axis, in double. All sizes >= 1.
 */
typedef struct rs_resizer rs_resizer;

/* RS_MEMORY. Release with rs_resizer_free. */
rs_status rs_resizer_create(rs_resize mode, size_t rows, size_t columns, size_t new_rows, size_t new_columns,
                            rs_resizer **resizer, rs_err *err) RS_NONNULL(6);
void rs_resizer_free(rs_resizer *resizer);

/* No allocation, any thread. */
void rs_resizer_apply(const rs_resizer *resizer, const double *in, size_t channels, double *out) RS_NONNULL(1, 2, 4);

/* Adds to by_in (rows, columns, channels), which points to the first channel in question, what by_out (count,), a
 * gradient by `count` channels of the vector at `row` and `column` of the new table, gives by the old one. No
 * allocation. */
void rs_resizer_gradient(const rs_resizer *resizer, size_t row, size_t column, const double *by_out, size_t count,
                         size_t channels, double *by_in) RS_NONNULL(1, 4, 7);

/* ---- projections ------------------------------------------------------------------------------------------------- */

/* `columns` orthonormal columns of width `rows` >= columns: out[column * rows + row]. Drawn uniformly (Haar) from the
 * stream: Gaussian columns, then QR with positive diagonal (Mezzadri, Notices AMS 54, 2007). */
rs_status rs_orthonormal(rs_stream stream, size_t rows, size_t columns, double *out, rs_err *err) RS_NONNULL(4);

/* The eigenvalues of a (side, side), symmetric, largest first, each within some 1e-16 side of the largest. `a` is lost.
 */
void rs_eigenvalues(double *a, size_t side, double *values) RS_NONNULL(1, 3);

/* ---- curves fitted by waves -------------------------------------------------------------------------------------- */

/* How the least-squares problem is solved. Its functions are nearly dependent, so that the answers differ wildly past
 * the fitted points, and in rounding alone from one library to another. */
typedef enum rs_solver {
  RS_SOLVER_QR,         /* Householder QR, no function left out */
  RS_SOLVER_SVD,        /* the least of all solutions over the singular values above rcond */
  RS_SOLVER_NORMAL,     /* normal equations, LU */
  RS_SOLVER_NORMAL_F32, /* the same, every number a float from the angle on: Position Interpolation's code, appendix C
                         */
  RS_SOLVER_GRAM_F32,   /* normal equations made in doubles, rounded to floats and solved in floats */
  RS_SOLVER_SUMS        /* normal equations whose sums have a closed form, Cholesky: fast, and as good with a ridge */
} rs_solver;
enum { RS_SOLVERS = RS_SOLVER_SUMS + 1 };
extern const char *const rs_solver_words[RS_SOLVERS + 1];

typedef struct rs_wave_fit_in {
  const double *omega; /* (waves,) rad/token */
  size_t waves;
  const double *wanted; /* (count,) at x = 0 .. count - 1 */
  size_t count;
  rs_solver solver;
  double ridge; /* >= 0: times the sum of squared coefficients is added to what is minimised */
  double rcond; /* svd: singular values up to this share of the largest are left out; >= 0 */
} rs_wave_fit_in;

/* y(x) = sum_j cosine[j] cos(omega_j x) + sine[j] sin(omega_j x). */
typedef struct rs_wave_fit {
  double *cosine, *sine; /* (waves,), owned */
  size_t waves, rank;    /* rank: functions, or singular values, that were used */
  double condition;      /* svd: largest over smallest singular value; else NaN */
} rs_wave_fit;

/* The least-squares fit. RS_DOMAIN where it is not determined (fewer points than functions, or a singular system) and
 * neither svd nor a ridge chooses one; RS_MEMORY. Release with rs_wave_fit_clear, on success alone. */
rs_status rs_wave_fit_create(const rs_wave_fit_in *in, rs_wave_fit *fit, rs_err *err) RS_NONNULL(1, 2);
void rs_wave_fit_clear(rs_wave_fit *fit) RS_NONNULL(1);

/* The solver for a fit where nothing depends on which: sums where the ridge keeps the condition of the normal equations
 * below 1e7 (errors of 1e-9), else QR. */
rs_solver rs_wave_fit_solver(size_t count, size_t waves, double ridge);

/* ---- the ladder of frequencies ----------------------------------------------------------------------------------- */

/* Plain RoPE: omega[j] = theta^(-2j/dims) for j < pairs. */
void rs_ladder(double theta, double dims, size_t pairs, double *omega);

/* The base of frequencies c base^(-2j/R), read off the first and the last pair; NaN unless all between are within
 * `slack`, relative, of that ladder: fewer than two pairs, or the last stands still. */
double rs_ladder_base(const double *omega, size_t pairs, double slack);

/* The first pair that did not go full circle within L0 tokens; `pairs` where all did. */
size_t rs_critical_pair(const double *trained, size_t pairs, double train_length);

/* The largest angle that is not new to a pair which turned by `angle` radians within L0 tokens, that angle itself and
 * what rounding adds to it; infinite where it went full circle. */
double rs_angle_range(double angle);

/* NTK-aware scaling between factor and base: b = theta s^(R/(R-2)), pairs >= 2. */
double rs_base_ntk(double theta, size_t pairs, double factor);
double rs_factor_ntk(double theta, size_t pairs, double base);

#endif
