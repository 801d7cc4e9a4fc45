/* ropescope/encoding.h: positional encodings. A method is a named recipe of stages (recipe.h); at one length a
 * recipe becomes an rs_encoding, the plain tables that attention reads:
 *
 *   logit(h,m,n) = logit_scale[m] * head_scale[h] * < rot(q[m], pos_q[v][m]), rot(k[n], pos_k[v][n]) > / sqrt(D)
 *                  + bias(h,m,n)
 *
 * rot(x,p) turns pair j by p[axis[j]] * omega[j] radians and multiplies it by amp (and by the token's gain, where the
 * encoding has gains); v is the view of the segment that holds n; `embed` is added to the tokens from which q and k are
 * projected.
 *
 * Symbols: L length, L0 train_length, H heads, D head_dim, R rotary_dim, A axes, V views, s scale. */
#ifndef ROPESCOPE_ENCODING_H
#define ROPESCOPE_ENCODING_H

#include "ropescope/base.h"
#include "ropescope/kernel.h"
#include "ropescope/math.h"
#include "ropescope/recipe.h"

enum { RS_STEPS = 16 };

typedef struct rs_encoding rs_encoding;

/* ---- encodings: tables at one length ----------------------------------------------------------------------------- */

/* The float format each quantity is rounded to; all RS_F64 (0) unless a study says otherwise. `running`: the angle is a
 * float32 product that is multiplied by one float32 ratio for each pair before, as ggml makes it, in place of position
 * times frequency. */
typedef struct rs_precision {
  rs_format positions, inv_freq, angle, table;
  bool running;
} rs_precision;

/* What becomes of the wavelengths after all scaling. */
typedef enum rs_wavelengths { RS_WAVES_EXACT, RS_WAVES_WHOLE, RS_WAVELENGTHS } rs_wavelengths;

typedef struct rs_stage_params rs_stage_params;

/* Tables; read-only once made, but for rs_encoding_learned_set. */
struct rs_encoding {
  size_t length, heads, head_dim, rotary_dim; /* L, H, D, R (0: no rotation) */
  size_t axes, views; /* A (1: text; 3: t, h, w; R/2: each pair has a coordinate of its own), V */
  bool sections;      /* pairs are shared out among axes (M-RoPE) */
  bool own_places;    /* each pair has a coordinate of its own: A = R/2, axis[j] = j */
  size_t tables;      /* 1, or H: omega (all three), axis_weight, pos_q and pos_k of each head, one behind the other */
  size_t width;       /* H * D: channels of a token */
  rs_pair_layout pair_layout;
  double train_length;     /* L0, tokens */
  double scale;            /* s; NaN where the method has none */
  double *omega;           /* (R/2,) rad/token */
  double *omega_exact;     /* (R/2,) rad/token: omega before it was rounded to precision.inv_freq */
  double *omega_trained;   /* (R/2,) rad/token: what training has seen, plain RoPE of the model where it is defined */
  uint16_t *axis;          /* (R/2,) */
  double amp;              /* multiplies cos and sin */
  double *pos_q[RS_VIEWS]; /* (L, A) tokens */
  double *pos_k[RS_VIEWS]; /* (L, A) tokens */
  double *gain_q[RS_VIEWS], *gain_k[RS_VIEWS]; /* (L, R/2) beside amp; NULL: all 1 */
  double *logit_scale;                         /* (L,) */
  double *head_scale;                          /* (H,) beside it; NULL: all 1 */
  double *axis_weight; /* (R/2, RS_AXES): how much a pair reads of each axis; NULL: axis says which one */
  double *mixed;  /* (2, tables, R/2) rad/patch: what a pair turns by for a column, and for a row; NULL: see above */
  double *places; /* (L, RS_AXES) t, h, w that such pairs mix; else NULL */
  double *bias_table; /* (bias_size,), laid out by its kind; NULL without a bias */
  size_t bias_size;   /* 0 without a bias */
  float ladder_ratio,
      *ladder_share;      /* precision.running: theta^(-2/R), and (R/2,) omega over the plain ladder; else NULL */
  double *steps;          /* cos, then sin, of 0 .. RS_STEPS - 1 tokens: (2, RS_STEPS, R/2); NULL: no plain turns */
  rs_token_layout tokens; /* copy of the layout it was made for */
  rs_precision precision;
  rs_wavelengths wavelengths;
  rs_id_rule id_rule;
  const rs_method *method;                    /* its stages */
  void *pos_state, *embed_state, *bias_state; /* of the stages' kinds; NULL where a stage is empty */
  rs_stage_params *params;                    /* the recipe's parameters; private to the layer */
  rs_settings settings;                       /* the same as text, which owns their lists */
};

/* The tables of `recipe`, which rs_recipe_check has accepted, for `model` at `length` tokens. `tokens` may be NULL
 * (text). RS_DOMAIN where the recipe is undefined at this length or the runs take more than `length` tokens,
 * RS_UNSUPPORTED for stages that do not go together. Release with rs_encoding_free. */
rs_status rs_encoding_create(const rs_recipe *recipe, const rs_model *model, size_t length,
                             const rs_token_layout *tokens, const rs_precision *precision, rs_encoding **encoding,
                             rs_err *err) RS_NONNULL(1, 2, 6);
void rs_encoding_free(rs_encoding *encoding);

/* The same in f64 for a reader of the last query and `keys` (count,) alone, which hold that query's own token: gains
 * and biases that take time for each token are made for these, and are 0 for others. A picture reads hundreds of 10^5.
 */
rs_status rs_encoding_create_for(const rs_recipe *recipe, const rs_model *model, size_t length, const size_t *keys,
                                 size_t count, rs_encoding **encoding, rs_err *err) RS_NONNULL(1, 2, 4, 6);

/* Bytes of the tables that an encoding of `recipe` has at `length` tokens, and at most needs while it is made; `tokens`
 * may be NULL. NaN where memory is too short to tell. */
double rs_encoding_bytes(const rs_recipe *recipe, const rs_model *model, size_t length, const rs_token_layout *tokens)
    RS_NONNULL(1, 2);

/* Cuts keys 0..m of query m into segments of one view each, ascending; returns how many (1..RS_VIEWS). With a single
 * view the segment reaches to L, for masks that see the future. */
size_t rs_encoding_segments(const rs_encoding *encoding, size_t query, rs_segment out[RS_VIEWS]) RS_NONNULL(1, 3);

/* The encoding as one head has it, with tables = 1: what turns that head, or reads omega, positions and turns, reads
 * this. Borrows, and is not freed. */
rs_encoding rs_encoding_of_head(const rs_encoding *encoding, size_t head) RS_NONNULL(1);

/* bias[n - begin] = bias(head, query, n) in nats for keys [begin, end). Zeros without a bias. */
void rs_encoding_bias_row(const rs_encoding *encoding, size_t head, size_t query, size_t begin, size_t end,
                          double *bias) RS_NONNULL(1, 6);

/* The same, where many rows are asked for: it may be summed in another order, so that last digits differ, but errs no
 * more. A number is the same whatever range it is asked for in. */
void rs_encoding_quick_bias_row(const rs_encoding *encoding, size_t head, size_t query, size_t begin, size_t end,
                                double *bias) RS_NONNULL(1, 6);

/* Whether there is a bias, and it is a function of m - n alone, or of n alone. */
bool rs_encoding_bias_of_distance(const rs_encoding *encoding) RS_NONNULL(1);
bool rs_encoding_bias_of_key(const rs_encoding *encoding) RS_NONNULL(1);

/* The slope of the head's bias, nats/token; NaN where biases have none. */
double rs_encoding_slope(const rs_encoding *encoding, size_t head) RS_NONNULL(1);

/* What is added to the tokens at [begin, begin + count): out[row * width + dim], zeros without an embedding. RS_DOMAIN
 * beyond the end of its table. */
rs_status rs_encoding_embed(const rs_encoding *encoding, size_t begin, size_t count, double *out, rs_err *err)
    RS_NONNULL(1, 4);

/* cos and sin of pair j at one coordinate, in the encoding's precision, without amp. */
void rs_encoding_cos_sin(const rs_encoding *encoding, size_t pair, double position, double *cosine, double *sine)
    RS_NONNULL(1, 4, 5);

/* The angle of pair j at one coordinate as the encoding's precision has it, rad, whole turns and all. */
double rs_encoding_angle(const rs_encoding *encoding, size_t pair, double position) RS_NONNULL(1);

/* out (D) = rot(x, position): `position` has A coordinates; no gain. `out` may be `x`. */
void rs_encoding_rotate(const rs_encoding *encoding, const double *position, const double *x, double *out)
    RS_NONNULL(1, 2, 3, 4);

typedef enum rs_side { RS_QUERY_SIDE, RS_KEY_SIDE } rs_side;

/* out (D) = rot(x, the token's position as query or key in `view`), with its gain. `out` may be `x`. */
void rs_encoding_rotate_token(const rs_encoding *encoding, rs_side side, size_t view, size_t token, const double *x,
                              double *out) RS_NONNULL(1, 5, 6);

/* What turns tokens [begin, end) of one side in `view`: cosine and sine (end - begin, R/2) of each pair at its
 * coordinate, in the encoding's precision, times amp and the token's gains. x is then rotated by (a, b) -> (a cosine -
 * b sine, a sine + b cosine) on each pair, as rs_rotate_kernel does. Before amp and gains they are within 1e-15 of the
 * exact ones, as rs_encoding_cos_sin's are, and its very numbers where a precision is under study. A token's row is the
 * same in whatever run it is made. No allocation, any thread. */
void rs_encoding_turns(const rs_encoding *encoding, rs_side side, size_t view, size_t begin, size_t end, double *cosine,
                       double *sine) RS_NONNULL(1, 6, 7);

/* Rotates x (count, heads, D) in place, the heads of tokens begin .. begin + count - 1 of one side in `view`, in
 * parallel. What stands past R is left alone. Errs by three roundings to float, as rs_rotate_kernel says. The same bits
 * for any number of threads. RS_MEMORY. */
rs_status rs_rotate_heads(const rs_encoding *encoding, rs_side side, size_t view, size_t begin, size_t count,
                          size_t heads, float *x, rs_err *err) RS_NONNULL(1, 7);

/* cos and sin of the turn of query m less that of key n <= m, for one pair, in the encoding's precision, times both
 * gains, without amp. */
void rs_encoding_turn(const rs_encoding *encoding, size_t query, size_t key, size_t pair, double *cosine, double *sine)
    RS_NONNULL(1, 5, 6);

/* Mean over the D/2 pairs of cos(turn of the query - turn of the key) for query m and key n <= m (any n where there is
 * one view); pairs past R/2 are not turned and count as 1. This is B_{m-n} / (D/2) of "Base of RoPE bounds context
 * length" (arXiv:2405.14591, eq. 6).
 */
double rs_encoding_mean_cosine(const rs_encoding *encoding, size_t query, size_t key) RS_NONNULL(1);

/* Whether pair j turns by (m - n) omega[j] in doubles. Not so with several views, positions that are not the tokens'
 * indices, gains, or short formats of angles or tables. */
bool rs_encoding_of_distance(const rs_encoding *encoding) RS_NONNULL(1);

/* The waves whose sum at m - n is D/2 times that mean cosine: one of amplitude 1 for each pair that turns, and where
 * R < D a still one for the others. `waves` has room for R/2 + 1; returns how many there are, or 0 where pairs do not
 * turn by the distance alone. */
size_t rs_encoding_waves(const rs_encoding *encoding, rs_wave *waves) RS_NONNULL(1, 2);

/* The tables of those waves, or NULL in *decay where there are none. RS_MEMORY. Release with rs_decay_free. */
rs_status rs_encoding_decay(const rs_encoding *encoding, rs_decay **decay, rs_err *err) RS_NONNULL(1, 2);

/* The largest |relative position| on an axis between any query and any key n <= m, tokens. */
double rs_encoding_reach(const rs_encoding *encoding, size_t axis) RS_NONNULL(1);

/* The view through which query m reads key n <= m. */
size_t rs_encoding_view(const rs_encoding *encoding, size_t query, size_t key) RS_NONNULL(1);

/* The frequencies of the encoding's recipe at any length: out->omega (R/2,), factor, logit_factor. RS_DOMAIN where they
 * are undefined there. */
rs_status rs_frequencies_at(const rs_encoding *encoding, const rs_model *model, size_t length, rs_freq_out *out,
                            rs_err *err) RS_NONNULL(1, 2, 4);

/* ---- what training changes --------------------------------------------------------------------------------------- */

/* The arrays that training may change; returns how many, 0 for plain RoPE. Several encodings of one recipe, at several
 * lengths, have the same. */
size_t rs_encoding_learned(const rs_encoding *encoding, rs_learned out[RS_LEARNED]);

/* values (rows, columns): what array `which` holds. */
void rs_encoding_learned_get(const rs_encoding *encoding, size_t which, double *values);

/* Room for what plain tables do without, such as a whole learned embedding beside the rows that are read: to be called
 * once before the first rs_encoding_learned_set. RS_MEMORY. */
rs_status rs_encoding_learned_room(rs_encoding *encoding, rs_err *err);

/* Puts values (rows, columns) in place of array `which`; the tables follow. Not while other threads read the encoding.
 */
void rs_encoding_learned_set(rs_encoding *encoding, size_t which, const double *values);

/* learned[which] (rows, columns), for all arrays: adds what `gradient` (end - begin,) by the biases that
 * rs_encoding_bias_row gives comes to by what is learned. Any thread, no allocation. */
void rs_encoding_bias_gradient(const rs_encoding *encoding, size_t head, size_t query, size_t begin, size_t end,
                               const double *gradient, double *const *learned);

/* The same for `gradient` (count, width) by what rs_encoding_embed adds to tokens [begin, begin + count). */
void rs_encoding_embed_gradient(const rs_encoding *encoding, size_t begin, size_t count, const double *gradient,
                                double *const *learned);

/* The same for `gradient` (end - begin, R/2) by the angles that pairs of the head turn by at tokens [begin, end), rad,
 * of queries or keys. */
void rs_encoding_turn_gradient(const rs_encoding *encoding, size_t head, size_t begin, size_t end,
                               const double *gradient, double *const *learned);

/* Whether it learns what those angles come from. */
bool rs_encoding_turns_learned(const rs_encoding *encoding);

/* Fixes in the recipe that `encoding` was made of what it leaves to the pictures (table_grid: own): elsewhere the very
 * table that training changes is then read, resized. RS_MEMORY. */
rs_status rs_recipe_fix(rs_recipe *recipe, const rs_encoding *encoding, rs_err *err) RS_NONNULL(1, 2);

/* Takes from `trained`, which is fixed, what `recipe` leaves to the pictures, where both have the same table.
 * RS_MEMORY.
 */
rs_status rs_recipe_follow(rs_recipe *recipe, const rs_recipe *trained, rs_err *err) RS_NONNULL(1, 2);

/* What the head's logit scales are multiplied by, learned (array "logit_scale": one number a head); 1 where nothing
 * such is learned. */
double rs_encoding_head_scale(const rs_encoding *encoding, size_t head);

#endif
