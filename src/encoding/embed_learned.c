/* A learned position table, at its initialisation: iid N(0, init_sd^2). It has train_length rows and none beyond.
 * Gehring et al., arXiv:1705.03122, section 3.1; GPT-2. */
#include "kinds.h"

enum { PURPOSE = 0x6c6561 }; /* "lea": the stream of learned tables; no other stage draws from it */

static rs_status fill(const rs_encoding *encoding, size_t begin, size_t count, double *out, rs_err *err) {
  if ((double)(begin + count) > encoding->train_length)
    return rs_fail(err, RS_DOMAIN, "learned: position %zu is beyond the table of %g rows", begin + count - 1,
                   encoding->train_length);
  double sd = rs_setting_number(&encoding->settings, "init_sd");
  rs_stream stream = {.seed = (uint64_t)rs_setting_number(&encoding->settings, "table_seed"), .purpose = PURPOSE};
  size_t width = encoding->width;
  rs_gaussian_fill(stream, (uint64_t)begin * width, count * width, out);
  for (size_t i = 0; i < count * width; i++) out[i] *= sd;
  return RS_OK;
}

static const rs_param params[] = {
    {.name = "init_sd",
     .type = RS_REAL,
     .unit = "1",
     .min = 0,
     .max = 1e6,
     .fallback = "0.02",
     .summary = "standard deviation of the table's entries (0.02: GPT-2)"},
    {.name = "table_seed",
     .type = RS_INTEGER,
     .unit = "",
     .min = 0,
     .max = 9007199254740992.0,
     .fallback = "0",
     .summary = "seed of the table"},
};

const rs_embed_kind rs_embed_learned = {
    .kind = {.name = "learned",
             .summary = "one vector a position, added to the token; none beyond train_length",
             .reference = "Gehring et al., arXiv:1705.03122, section 3.1; GPT-2",
             .version = 1,
             .params = params,
             .param_count = RS_COUNT(params)},
    .fill = fill,
};
