/* DPRoPE: each pair is divided by s, or left alone, whichever spreads its angles in the longer context more like those
 * of training: KL(P_L0 || P_sL0) between shares of the circle. Wu et al., "Extending Context Window of Large Language
 * Models from a Distributional Perspective", arXiv:2410.01490, section 3; counted as their code does
 * (github.com/1180301012/DPRoPE). The divergence is taken in the direction of that code and of their tables; their
 * equation 8 prints the other. */
#include "encoding/kinds.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_POSITIONS = 1 << 27 }; /* half a second of counting a pair */

typedef struct params {
  size_t angle_bins;
} params;

/* Three spreads of one pair's angles, (parts,) each. */
typedef struct spreads {
  size_t parts;
  double *trained, *kept, *divided;
} spreads;

__extension__ typedef unsigned __int128 wide_word;

/* 2^-32 of a turn. Angles that stand on the border of two parts, as those of whole wavelengths do, are below it or
 * above by what omega was rounded; all of them go above. */
#define BORDER (UINT64_C(1) << 32)

/* 2^-14, the smallest normal float16, which the authors start each count with. */
#define START 0x1p-14

/* Counts of the angles of positions 0 .. count - 1, added to `counts` (parts,): each is the last one and `step`,
 * exactly. Both ways count the same. */
static void count_steps(size_t parts, wide_word step, size_t count, double *counts) {
  wide_word angle = (wide_word)BORDER << 64;
  for (size_t i = 0; i < count; i++, angle += step) counts[(size_t)((angle >> 64) * parts >> 64)] += 1;
}

/* All positions of a part at once, by one division; step > 0. */
static void count_stays(size_t parts, wide_word step, size_t count, double *counts) {
  wide_word angle = (wide_word)BORDER << 64;
  for (size_t i = 0, stay; i < count; i += stay, angle += step * stay) {
    size_t part = (size_t)((angle >> 64) * parts >> 64);
    wide_word border = (((wide_word)(part + 1) << 64) + parts - 1) / parts; /* a whole turn is 2^64 and wraps to 0 */
    wide_word more = ((border << 64) - angle - 1) / step;                   /* positions until then */
    stay = more < count - i ? (size_t)more + 1 : count - i;
    counts[part] += (double)stay;
  }
}

/* shares (parts,): (START + angles in the part) / count of the first positions' angles. */
static void fill_shares(size_t parts, double omega, size_t count, double *shares) {
  enum { DIVISION = 16 }; /* positions that count_steps counts in the time of one of count_stays' parts */
  rs_turns turn = rs_turns_of(omega);
  wide_word step = (wide_word)turn.high << 64 | turn.low;
  bool slow = step > 0 && turn.high < UINT64_MAX / DIVISION / parts;
  for (size_t b = 0; b < parts; b++) shares[b] = START;
  (slow ? count_stays : count_steps)(parts, step, count, shares);
  for (size_t b = 0; b < parts; b++) shares[b] /= (double)count;
}

/* sum p ln(p / q), nats (Kullback and Leibler, Ann. Math. Stat. 22, 1951). */
static double relative_entropy(const double *p, const double *q, size_t count) {
  rs_sum sum = {0};
  for (size_t b = 0; b < count; b++) rs_sum_add(&sum, p[b] * log(p[b] / q[b]));
  return rs_sum_total(&sum);
}

static bool is_nearer_divided(const spreads *work, const rs_freq_in *in, double omega, size_t positions) {
  fill_shares(work->parts, omega, (size_t)in->train_length, work->trained);
  fill_shares(work->parts, omega, positions, work->kept);
  fill_shares(work->parts, omega / in->scale, positions, work->divided);
  return relative_entropy(work->trained, work->divided, work->parts) <
         relative_entropy(work->trained, work->kept, work->parts);
}

static rs_status fill(const rs_freq_in *in, rs_freq_out *out, rs_err *err) {
  double positions = fmax(1, rint(in->scale * in->train_length));
  size_t parts = ((const params *)in->params)->angle_bins;
  if (!(positions <= MOST_POSITIONS))
    return rs_fail(err, RS_DOMAIN, "dprope counts the angles of %g positions; the most is %d", positions,
                   (int)MOST_POSITIONS);
  RS_FREED double *shares = rs_alloc(3 * parts, sizeof *shares, err);
  if (shares == NULL) return RS_MEMORY;
  spreads work = {parts, shares, shares + parts, shares + 2 * parts};
  RS_TRY(rs_freq_default.fill(in, out, err));
  for (size_t j = 0; j < in->rotary_dim / 2; j++)
    if (is_nearer_divided(&work, in, out->omega[j], (size_t)positions)) out->omega[j] /= in->scale;
  return RS_OK;
}

/* Angles are counted anew at each length, and cached keys would have one for each token. */
static rs_status check(const rs_binding *binding, const rs_model *model, rs_err *err) {
  (void)model;
  rs_rotary_params rotary;
  rs_binding stage = rs_rotary_bind(binding->settings, &rotary);
  if (rotary.cached_keys.number == RS_NO_COUNT) return RS_OK;
  return rs_binding_fail(&stage, offsetof(rs_rotary_params, cached_keys), err,
                         "dprope has frequencies for whole contexts only");
}

static const rs_param specs[] = {
    {RS_FIELD(params, angle_bins), .unit = "1", .min = 2, .max = 65536, .fallback = "360",
     .summary = "equal parts of the circle in which angles are counted"},
};

const rs_freq_kind rs_freq_dprope = {
    .kind = {.name = "dprope",
             .summary = "each pair divided by s or kept, whichever spreads its angles more as in training",
             .reference = "arXiv:2410.01490, section 3.3; github.com/1180301012/DPRoPE",
             RS_KIND(specs, params)},
    .scaled = true,
    .trained = true,
    .check = check,
    .fill = fill,
};
