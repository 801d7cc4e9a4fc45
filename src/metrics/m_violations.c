/* How many distances have a negative mean cosine, and how negative: what a first violation alone does not tell. Men et
 * al., "Base of RoPE bounds context length", arXiv:2405.14591, table 4 counts them. */
#include "kernel/kernel.h"

#include "metric_list.h"

#include <math.h>
#include <stdlib.h>

enum { CHUNK = 4096 }; /* distances at a time; any size */

/* Below this the kernel's rounding (1e-14 of the sum) might decide; rs_decay_at does, as for the first violation. */
static const double doubtful = 1e-11;

typedef struct tally {
  double count, worst; /* distances with a negative mean cosine; the least mean cosine */
  size_t where;
} tally;

static void tally_add(tally *total, size_t distance, double mean) {
  total->count += mean < 0;
  if (mean >= total->worst) return;
  total->worst = mean;
  total->where = distance;
}

static rs_status tally_waves(const rs_encoding *encoding, const rs_decay *decay, tally *total, rs_err *err) {
  double *values = rs_alloc(CHUNK, sizeof *values, err), pairs = (double)(encoding->head_dim / 2);
  if (values == NULL) return RS_MEMORY;
  for (size_t begin = 1; begin < encoding->length; begin += CHUNK) {
    size_t count = encoding->length - begin < CHUNK ? encoding->length - begin : CHUNK;
    rs_decay_range(decay, begin, count, values);
    for (size_t i = 0; i < count; i++) {
      if (fabs(values[i]) < doubtful * pairs) values[i] = rs_decay_at(decay, begin + i);
      tally_add(total, begin + i, values[i] / pairs);
    }
  }
  free(values);
  return RS_OK;
}

/* For kernels that are not of the distance alone: as the last query sees its keys. */
static void tally_pairs(const rs_encoding *encoding, tally *total) {
  size_t last = encoding->length - 1;
  for (size_t m = 1; m <= last; m++) tally_add(total, m, rs_encoding_mean_cosine(encoding, last, last - m));
}

static rs_status finish(const rs_metric_in *in, const void *state, rs_result *result, rs_err *err) {
  (void)state;
  tally total = {.worst = INFINITY};
  rs_decay *decay;
  rs_status status = RS_OK;
  result->value[0] = result->value[1] = result->value[2] = NAN;
  if (in->encoding->rotary_dim == 0 || in->encoding->length < 2) return RS_OK;
  RS_TRY(rs_encoding_decay(in->encoding, &decay, err));
  if (decay != NULL)
    status = tally_waves(in->encoding, decay, &total, err);
  else
    tally_pairs(in->encoding, &total);
  rs_decay_free(decay);
  result->value[0] = total.count;
  result->value[1] = total.worst;
  result->value[2] = (double)total.where;
  return status;
}

static const rs_column scalars[] = {
    RS_COLUMN("violations", "", "distances from 1 to length - 1 with a negative mean cosine", .integer = true,
              .better = RS_LOWER),
    RS_COLUMN("least_mean_cosine", "1", "the least mean cosine over those distances", .better = RS_HIGHER),
    RS_COLUMN("least_mean_cosine_tokens", "tokens", "the distance that has it", .integer = true, .log_axis = true),
};

const rs_metric_kind rs_metric_violations = {
    .kind = {.name = "violations",
             .summary = "how many distances m have B_m < 0, and the least B_m / (D/2)",
             .reference = "Base of RoPE bounds context length, arXiv:2405.14591, table 4"},
    RS_SCALARS(scalars),
    .finish = finish,
};
