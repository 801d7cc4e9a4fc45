/* What the logarithmic and the power kernel of KERPLE share: how their numbers are checked, given and drawn. */
#include "kinds.h"

#include <stdio.h>

rs_status rs_kerple_check(const rs_binding *binding, const rs_model *model, rs_err *err) {
  const rs_kerple_params *p = binding->fields;
  const size_t numbers = offsetof(rs_kerple_params, numbers);
  char both[64];
  bool drawn = false;
  for (size_t i = 0; i < RS_KERPLE_NUMBERS; i++) {
    RS_TRY(rs_bias_list_check(binding, numbers + i * sizeof *p->numbers, 1, model->heads, err));
    drawn |= p->numbers[i].list == NULL;
  }
  snprintf(both, sizeof both, "%s and %s", binding->params[0].name, binding->params[1].name);
  return drawn ? RS_OK : rs_binding_unused(binding, offsetof(rs_kerple_params, table_seed), both, err);
}

size_t rs_kerple_table_size(const rs_stage_in *in) {
  return RS_KERPLE_NUMBERS * in->heads;
}

void rs_kerple_prepare(const rs_stage_in *in, const double span[RS_KERPLE_NUMBERS], double *table,
                       rs_kerple_state *state) {
  const rs_kerple_params *p = in->params;
  for (size_t h = 0; h < in->heads; h++)
    for (size_t i = 0; i < RS_KERPLE_NUMBERS; i++)
      table[i * in->heads + h] = rs_head_number(&p->numbers[i], p->table_seed, h, i, span[i]);
  *state = (rs_kerple_state){in->heads, table};
}

double rs_kerple_number(const rs_kerple_state *state, size_t index, size_t head) {
  return state->table[index * state->heads + head];
}

size_t rs_kerple_learned(const rs_kerple_state *state, const char *const names[RS_KERPLE_NUMBERS],
                         rs_learned out[RS_LEARNED]) {
  for (size_t i = 0; i < RS_KERPLE_NUMBERS; i++) out[i] = (rs_learned){names[i], 1, state->heads};
  return RS_KERPLE_NUMBERS;
}
