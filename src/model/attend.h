/* attend.h: the attention of one sequence, exact, forwards and backwards, in memory linear in the length: logits live
 * in tiles, and are computed again on the way back. Private to the model layer.
 *
 *   out[m] = sum_n p(m, n) v[n] over the keys that query m sees, with p the softmax of
 *   cap(score_scale * head_scale[h] * logit_scale[m] * <rot(q[m]), rot(k[n])>) + bias(h, m, n)
 *
 * With u = 2^-24 or 2^-53, a logit errs by about u sqrt(D) |q||k| times the scales, a weight by that and u |level|.
 *
 * Symbols as in encoding.h and model.h; Lq and Lk queries and keys. */
#ifndef ROPESCOPE_MODEL_ATTEND_H
#define ROPESCOPE_MODEL_ATTEND_H

#include "attention/attention.h"

/* What one attention of a block is at one length. The encoding is borrowed. */
typedef struct rs_attend_shape {
  const rs_encoding *encoding; /* NULL: no rotation, no bias, no logit scale */
  rs_mask mask;                /* RS_CROSS: neither rotation nor bias, and Lk may differ from Lq */
  size_t queries, keys;        /* Lq, Lk */
  size_t heads, kv_heads, head_dim;
  double score_scale; /* multiplies q.k; 0: 1/sqrt(D) */
  double soft_cap;    /* nats: cap(x) = soft_cap tanh(x / soft_cap); 0: x */
} rs_attend_shape;

/* The tables of that: turns of each view and side, scales, biases, what each query sees. Any number of threads may read
 * them. */
typedef struct rs_attend rs_attend;

/* For numbers of `format`, RS_F32 or RS_F64. RS_INPUT where the parts do not fit together, RS_UNSUPPORTED where a mask
 * sees the future and the encoding's views do not, RS_MEMORY. */
rs_status rs_attend_create(const rs_attend_shape *shape, rs_format format, rs_attend **attend, rs_err *err)
    RS_NONNULL(1, 3);
void rs_attend_free(rs_attend *attend);

/* Reads again what the encoding has learned: frequencies, biases and scales of heads. Not while other threads read the
 * tables. */
void rs_attend_refresh(rs_attend *attend) RS_NONNULL(1);

/* Numbers of scratch that a pass needs, 64-byte aligned, for the way forwards alone or both: linear in the length.
 * Nothing is kept there between calls. */
size_t rs_attend_scratch(const rs_attend *attend, bool training) RS_NONNULL(1);

/* Numbers that each thread but the first needs besides, forwards; a multiple of 16. */
size_t rs_attend_own_scratch(const rs_attend *attend) RS_NONNULL(1);

/* ---- gradients of what encodings learn --------------------------------------------------------------------------- */

/* Sums over sequences of the gradients by angles, biases and scales of heads: one for each part of a batch. Biases of
 * distance are summed by distance; others, where their (H, Lq, Lk) is at most RS_SQUARE_NUMBERS, by query and key; both
 * in the numbers of the attention. What is more goes to the encoding row by row, at once. */
typedef struct rs_attend_sums rs_attend_sums;

enum { RS_SQUARE_NUMBERS = 1 << 24 };

/* Zeros; *sums is NULL where the encoding has learned nothing that acts here. RS_MEMORY. */
rs_status rs_attend_sums_create(const rs_attend *attend, rs_attend_sums **sums, rs_err *err) RS_NONNULL(1, 2);
void rs_attend_sums_free(rs_attend_sums *sums);
void rs_attend_sums_reset(const rs_attend *attend, rs_attend_sums *sums) RS_NONNULL(1, 2);

/* Adds to learned[which] (rows, columns), for the arrays of rs_encoding_learned that act here, the gradients by them.
 */
void rs_attend_sums_finish(const rs_attend *attend, const rs_attend_sums *sums, double *const *learned)
    RS_NONNULL(1, 2, 3);

/* ---- passes ------------------------------------------------------------------------------------------------------ */

#ifdef RS_REAL_BITS
#include "real.h"

/* One sequence. Row m of head h stands at q + m * q_step + h * D, and so on: parts of one projection are steps. q and k
 * come without rotation. */
typedef struct rs_attend_call {
  const real *q, *k, *v; /* (Lq, H, D), (Lk, K, D), (Lk, K, D) */
  size_t q_step, k_step, v_step;
  const real *sinks;                 /* (H,) logits that take weight and give nothing; NULL: none */
  const real *q_weights, *k_weights; /* (D,) times q and k when they have turned; NULL: none. Forwards alone */
  real *out;                         /* (Lq, H, D); written forwards, read backwards */
  size_t out_step;
  real *level;    /* (H, Lq) log-sum-exp, nats; written forwards, read backwards */
  size_t threads; /* that share the sequence forwards; 0: one. The same bits for any number */
} rs_attend_call;

typedef struct rs_attend_gradients {
  const real *dout; /* (Lq, H, D) */
  size_t dout_step;
  real *dq, *dk, *dv; /* as q, k and v; set, not added to */
  size_t dq_step, dk_step, dv_step;
  real *dsinks;         /* (H,) added to; NULL: not wanted */
  rs_attend_sums *sums; /* added to; NULL: not wanted */
} rs_attend_gradients;

void RS_OF_REAL(rs_attend_forward)(const rs_attend *attend, const rs_attend_call *call, real *scratch)
    RS_NONNULL(1, 2, 3);
void RS_OF_REAL(rs_attend_backward)(const rs_attend *attend, const rs_attend_call *call,
                                    const rs_attend_gradients *gradients, real *scratch) RS_NONNULL(1, 2, 3, 4);
#endif

#endif
