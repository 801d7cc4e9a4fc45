/* STRING: keys nearer than `shift` keep their distance d (view 0), farther ones have d - shift + local (view 1), so
 * that the largest distances, which training saw seldom, are not used. An et al., arXiv:2410.18745, section 4.
 *
 * The paper shifts within the train length, by 0.33 of it; a larger shift also reaches a little beyond, which is what
 * auto does there. Left out: the authors' code also multiplies cos and sin by 0.1 ln 2 + 1, which the paper does not
 * have; and it reads keys at exactly `shift` twice during prefill. */
#include "kinds.h"

#include <math.h>

enum { SHIFTED = 1 };

static const double share = 0.33; /* of L0: the authors' code */

/* The smallest shift from 0.33 L0 on that keeps far distances, if any, at or below L0 - 1. */
static double shift_of(const rs_encoding *encoding) {
  const rs_value *given = rs_setting(&encoding->settings, "shift");
  double beyond = (double)encoding->length - encoding->train_length;
  if (given->choice < 0) return given->number;
  return fmax(floor(share * encoding->train_length), beyond + rs_setting_number(&encoding->settings, "local"));
}

/* Near keys reach up to shift - 1, so there is an end to what shifting can do. */
static rs_status check_auto(const rs_encoding *encoding, double shift, rs_err *err) {
  double train = encoding->train_length, local = rs_setting_number(&encoding->settings, "local");
  if ((double)encoding->length <= train || shift <= train) return RS_OK;
  return rs_fail(err, RS_DOMAIN,
                 "string: no shift keeps %zu tokens inside train_length = %g with local = %g; %g tokens are the most "
                 "(or give a shift)",
                 encoding->length, train, local, fmax(train, 2 * train - local));
}

static rs_status fill(rs_encoding *encoding, rs_err *err) {
  double shift = shift_of(encoding), local = rs_setting_number(&encoding->settings, "local");
  RS_TRY(rs_text_only(encoding, err));
  if (rs_setting_choice(&encoding->settings, "shift") >= 0) RS_TRY(check_auto(encoding, shift, err));
  for (size_t i = 0; i < encoding->length; i++) encoding->pos_q[SHIFTED][i] += local - shift;
  return RS_OK;
}

static size_t segments(const rs_encoding *encoding, size_t query, rs_segment out[RS_VIEWS]) {
  return rs_near_far_segments(query, (size_t)shift_of(encoding), out);
}

static const rs_param params[] = {
    {.name = "shift",
     .type = RS_INTEGER,
     .unit = "tokens",
     RS_WORD_LIST("auto"),
     .min = 1,
     .max = 1e9,
     .fallback = "auto",
     .summary = "S, keys nearer than this keep their distance; auto: 0.33 train_length (the code), more where the "
                "largest distance would leave train_length"},
    {.name = "local",
     .type = RS_INTEGER,
     .unit = "tokens",
     .min = 0,
     .max = 1e9,
     .fallback = "128",
     .summary = "W, the distance that the nearest shifted key gets; much smaller than shift"},
};

const rs_pos_kind rs_pos_string = {
    .kind = {.name = "string",
             .summary = "near keys keep their distance, far ones are shifted nearer",
             .reference = "STRING, arXiv:2410.18745, section 4",
             .version = 1,
             .params = params,
             .param_count = RS_COUNT(params)},
    .views = 2,
    .fill = fill,
    .segments = segments,
};
