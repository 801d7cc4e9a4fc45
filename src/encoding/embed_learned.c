/* A learned position table: one row a position, and none beyond its end. Unless it is given it stands at its
 * initialisation, with train_length rows. Gehring et al., arXiv:1705.03122, section 3.1; GPT-2. */
#include "kinds.h"

#include <string.h>

static rs_status fill(const rs_encoding *encoding, size_t begin, size_t count, double *out, rs_err *err) {
  const rs_value *table = rs_setting(&encoding->settings, "table");
  size_t width = encoding->width, rows = table->set ? table->count / width : (size_t)encoding->train_length;
  if (begin + count > rows)
    return rs_fail(err, RS_DOMAIN, "learned: position %zu is beyond the table of %zu rows", begin + count - 1, rows);
  if (table->set)
    memcpy(out, table->list + begin * width, count * width * sizeof *out);
  else
    rs_learned_draw(&encoding->settings, RS_PURPOSE_TABLE, 0, rows, width, begin, count, out);
  return RS_OK;
}

static const rs_param params[] = {RS_LEARNED_PARAMS};

const rs_embed_kind rs_embed_learned = {
    .kind = {.name = "learned",
             .summary = "one vector a position, added to the token; none beyond train_length",
             .reference = "Gehring et al., arXiv:1705.03122, section 3.1; GPT-2",
             .version = 1,
             .params = params,
             .param_count = RS_COUNT(params)},
    .check = rs_learned_check,
    .fill = fill,
};
