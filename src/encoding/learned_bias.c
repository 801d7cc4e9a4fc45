/* What biases with learned numbers share. There are no trained weights here: numbers are given, or drawn as the
 * published code initialises them. */
#include "kinds.h"

#include <math.h>

rs_stream rs_bias_stream(const rs_settings *settings, size_t head) {
  return (rs_stream){.seed = (uint64_t)rs_setting_number(settings, "table_seed"),
                     .purpose = RS_PURPOSE_BIASES,
                     .head = (uint32_t)head};
}

rs_status rs_bias_list_check(const rs_settings *settings, const char *name, size_t rows, size_t heads, rs_err *err) {
  const rs_value *list = rs_setting(settings, name);
  if (!list->set || list->count == rows * heads) return RS_OK;
  return rs_fail_on(err, RS_INPUT, name, "has %zu number%s, but %zu heads need %zu each", list->count,
                    list->count == 1 ? "" : "s", heads, rows);
}

rs_status rs_learned_bias_check(const rs_settings *settings, rs_err *err) {
  if (!rs_setting(settings, "values")->set) return RS_OK;
  RS_TRY(rs_unused_check(settings, "init_sd", "values", err));
  return rs_unused_check(settings, "table_seed", "values", err);
}

/* N(0, init_sd^2), each head from a stream of its own. */
static void draw_table(rs_encoding *encoding) {
  const rs_value *given = rs_setting(&encoding->settings, "init_sd");
  double sd = given->choice >= 0 ? 1 / sqrt((double)encoding->width) : given->number;
  size_t rows = encoding->bias_size;
  for (size_t h = 0; h < encoding->heads; h++)
    rs_gaussian_fill(rs_bias_stream(&encoding->settings, h), 0, rows, encoding->bias_table + h * rows);
  for (size_t i = 0; i < encoding->heads * rows; i++) encoding->bias_table[i] *= sd;
}

rs_status rs_learned_bias_fill(rs_encoding *encoding, rs_err *err) {
  const rs_value *values = rs_setting(&encoding->settings, "values");
  size_t rows = encoding->bias_size, heads = encoding->heads;
  if (values->set && values->count != rows * heads) /* how many rows there are may depend on the pictures */
    return rs_fail(err, RS_DOMAIN, "%s: values has %zu number%s, but %zu heads need %zu each", encoding->method->name,
                   values->count, values->count == 1 ? "" : "s", heads, rows);
  if (!values->set) draw_table(encoding);
  for (size_t i = 0; values->set && i < heads * rows; i++)
    encoding->bias_table[i] = values->list[i % rows * heads + i / rows];
  return RS_OK;
}

double rs_head_number(const rs_encoding *encoding, const char *name, size_t head, uint64_t index, double span) {
  const rs_value *list = rs_setting(&encoding->settings, name);
  return list->set ? list->list[head] : span * rs_uniform(rs_bias_stream(&encoding->settings, head), index);
}
