/* The least base that keeps B_m >= 0 at every distance below the length: what "Base of RoPE bounds context length" (Men
 * et al., arXiv:2405.14591, section 4) asks of a base. It depends on the number of rotary dims and on the length, and
 * on nothing else of model or method. */
#include "metric_list.h"

#include <math.h>

typedef struct params {
  size_t most_steps;
} params;

static rs_status finish(const rs_metric_in *in, const void *state, rs_result *result, rs_err *err) {
  (void)state;
  rs_base_bound found;
  const params *p = in->params;
  for (size_t i = 0; i < 4; i++) result->value[i] = NAN;
  if (in->encoding->rotary_dim < 4) return RS_OK; /* no pairs, or one, which no base keeps above 0 */
  RS_TRY(rs_base_bound_find(in->encoding->rotary_dim, in->encoding->length, p->most_steps, &found, err));
  result->value[0] = found.base;
  result->value[1] = found.resolution;
  result->value[2] = (double)found.steps;
  result->value[3] = (double)found.unproved;
  return RS_OK;
}

static const rs_param specs[] = {
    {RS_FIELD(params, most_steps), .unit = "1", .min = 1, .max = 1e12, .fallback = "10000000",
     .summary = "where the search gives up, and least_base stays empty"},
};

static const rs_column scalars[] = {
    RS_COLUMN("least_base", "1", "least base with sum_j cos(m base^(-2j/R)) >= 0 for every integer m below the length",
              .log_axis = true),
    RS_COLUMN("search_resolution", "1",
              "windows of good bases narrower than this share of the base may have been passed over"),
    RS_COLUMN("search_steps", "1", "bases at which the search stood", .integer = true, .log_axis = true),
    RS_COLUMN("search_unproved", "1",
              "of its steps those of one resolution; all others are proved to hold no good base", .integer = true),
};

const rs_metric_kind rs_metric_base_bound = {
    .kind = {.name = "base_bound",
             .summary = "the least base that keeps B_m >= 0 up to the length, by a search with proof",
             .reference = "arXiv:2405.14591, section 4; Su, kexue.fm/archives/10122",
             .version = 1,
             RS_KIND(specs, params)},
    RS_SCALARS(scalars),
    .finish = finish,
};
