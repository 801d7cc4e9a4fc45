/* STRING: keys nearer than `shift` keep their distance d (view 0), farther ones have d - shift + local (view 1), so
 * that the largest distances, which training saw seldom, are not used. An et al., arXiv:2410.18745, section 4.
 *
 * The paper shifts within the train length, by 0.33 of it; a larger shift also reaches a little beyond, which is what
 * auto does there. Left out: the authors' code also multiplies cos and sin by 0.1 ln 2 + 1, which the paper does not
 * have; and it reads keys at exactly `shift` twice during prefill. */
#include "encoding/kinds.h"

#include <math.h>

enum { SHIFTED = 1 };

static const double share = 0.33; /* of L0: the authors' code */

typedef enum shift_rule { SHIFT_AUTO, SHIFT_RULES } shift_rule;

typedef struct params {
  rs_count_or_word shift; /* tokens; shift_rule */
  size_t local;           /* tokens */
} params;

typedef struct state {
  size_t shift, local;
} state;

/* The smallest shift from 0.33 L0 on that keeps far distances, if any, at or below L0 - 1. Near keys reach up to shift
 * - 1, so there is an end to what shifting can do. */
static rs_status auto_shift(const rs_stage_in *in, size_t local, size_t *shift, rs_err *err) {
  double train = in->train_length, beyond = (double)in->length - train;
  double least = fmax(floor(share * train), beyond + (double)local);
  *shift = (size_t)least;
  if (beyond <= 0 || least <= train) return RS_OK;
  return rs_fail(err, RS_DOMAIN,
                 "string: no shift keeps %zu tokens inside train_length = %g with local = %zu; %g tokens are the most "
                 "(or give a shift)",
                 in->length, train, local, fmax(train, 2 * train - (double)local));
}

static rs_status prepare(const rs_stage_in *in, void *out, rs_err *err) {
  const params *p = in->params;
  state *s = out;
  *s = (state){.shift = p->shift.number, .local = p->local};
  return p->shift.word == SHIFT_AUTO ? auto_shift(in, s->local, &s->shift, err) : RS_OK;
}

static rs_status fill(const void *prepared, const rs_positions *positions, rs_err *err) {
  const state *s = prepared;
  (void)err;
  for (size_t i = 0; i < positions->length; i++) positions->q[SHIFTED][i] += (double)s->local - (double)s->shift;
  return RS_OK;
}

static size_t segments(const void *prepared, size_t query, rs_segment out[RS_VIEWS]) {
  return rs_near_far_segments(query, ((const state *)prepared)->shift, out);
}

static const char *const shifts[SHIFT_RULES + 1] = {[SHIFT_AUTO] = "auto"};

static const rs_param specs[] = {
    {RS_FIELD(params, shift), .unit = "tokens", RS_WORDS(shifts), .min = 1, .max = 1e9, .fallback = "auto",
     .summary = "S, keys nearer than this keep their distance; auto: 0.33 train_length (the code), more where the "
                "largest distance would leave train_length"},
    {RS_FIELD(params, local), .unit = "tokens", .min = 0, .max = 1e9, .fallback = "128",
     .summary = "W, the distance that the nearest shifted key gets; much smaller than shift"},
};

const rs_pos_kind rs_pos_string = {
    .kind = {.name = "string",
             .summary = "near keys keep their distance, far ones are shifted nearer",
             .reference = "STRING, arXiv:2410.18745, section 4",
             RS_KIND(specs, params)},
    .text_only = true,
    .views = 2,
    .state_size = sizeof(state),
    .prepare = prepare,
    .fill = fill,
    .segments = segments,
};
