/* What biases with learned numbers share. There are no trained weights here: numbers are given, or drawn as the
 * published code initialises them. */
#include "kinds.h"

#include <math.h>
#include <string.h>

const char *const rs_bias_sd_words[RS_BIAS_SDS + 1] = {[RS_SD_INV_SQRT_WIDTH] = "inv_sqrt_width"};

rs_stream rs_bias_stream(size_t table_seed, size_t head) {
  return (rs_stream){.seed = table_seed, .purpose = RS_PURPOSE_BIASES, .head = (uint32_t)head};
}

bool rs_always_by_distance(const void *state) {
  (void)state;
  return true;
}

rs_status rs_bias_list_check(const rs_binding *binding, size_t offset, size_t rows, size_t heads, rs_err *err) {
  const rs_real_list *given = (const rs_real_list *)((const char *)binding->fields + offset);
  if (given->list == NULL || given->count == rows * heads) return RS_OK;
  return rs_binding_fail(binding, offset, err, "has %zu number%s, but %zu heads need %zu each", given->count,
                         given->count == 1 ? "" : "s", heads, rows);
}

rs_status rs_learned_bias_check(const rs_binding *binding, size_t block, rs_err *err) {
  const rs_learned_bias *learned = (const rs_learned_bias *)((const char *)binding->fields + block);
  if (learned->values.list == NULL) return RS_OK;
  RS_TRY(rs_binding_unused(binding, block + offsetof(rs_learned_bias, init_sd), "values", err));
  return rs_binding_unused(binding, block + offsetof(rs_learned_bias, table_seed), "values", err);
}

/* N(0, init_sd^2), each head from a stream of its own. */
static void draw_table(const rs_stage_in *in, const rs_learned_bias *learned, size_t rows, double *table) {
  enum { RUN = 256 };
  bool by_width = learned->init_sd.word == RS_SD_INV_SQRT_WIDTH;
  double sd = by_width ? 1 / sqrt((double)in->width) : learned->init_sd.number, run[RUN];
  for (size_t h = 0; h < in->heads; h++)
    for (size_t begin = 0; begin < rows; begin += RUN) {
      size_t count = rows - begin < RUN ? rows - begin : RUN;
      rs_gaussian_fill(rs_bias_stream(learned->table_seed, h), begin, count, run);
      for (size_t i = 0; i < count; i++) table[(begin + i) * in->heads + h] = sd * run[i];
    }
}

rs_status rs_learned_bias_fill(const rs_stage_in *in, const rs_learned_bias *learned, size_t rows, double *table,
                               rs_err *err) {
  const rs_real_list *values = &learned->values;
  size_t heads = in->heads;
  if (values->list != NULL && values->count != rows * heads) /* how many rows there are may depend on the pictures */
    return rs_fail(err, RS_DOMAIN, "%s: values has %zu number%s, but %zu heads need %zu each", in->method,
                   values->count, values->count == 1 ? "" : "s", heads, rows);
  if (values->list != NULL)
    memcpy(table, values->list, rows * heads * sizeof *table);
  else
    draw_table(in, learned, rows, table);
  return RS_OK;
}

double rs_head_number(const rs_real_list *list, size_t table_seed, size_t head, uint64_t index, double span) {
  return list->list != NULL ? list->list[head] : span * rs_uniform(rs_bias_stream(table_seed, head), index);
}
