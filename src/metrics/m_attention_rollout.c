/* Attention rollout: how much of each token's last state comes from each token of the sequence, if what heads attend to
 * were all that mixes them (Abnar and Zuidema, arXiv:2005.00928, section 3). */
#include "weight_maps.h"

#include <stdlib.h>

typedef struct params {
  rs_map_window window;
} params;

static rs_status check(const rs_binding *binding, rs_err *err) {
  return rs_map_window_check(binding, &((const params *)binding->fields)->window, err);
}

static rs_status fit(const void *given, const rs_curve_in *in, rs_err *err) {
  const params *p = given;
  if (in->length > RS_ROLLOUT_TOKENS)
    return rs_fail(err, RS_INPUT, "is the product of all layers, of at most %d tokens, and a cell has %zu",
                   RS_ROLLOUT_TOKENS, in->length);
  return rs_map_window_fit(&p->window, false, in, err);
}

static rs_status add(const params *p, const double *rollout, size_t length, rs_curve *curve, rs_err *err) {
  rs_range queries = rs_window_within(&p->window.queries, length), keys = rs_window_within(&p->window.keys, length);
  for (size_t m = queries.begin; m < queries.end; m++)
    for (size_t n = keys.begin; n < keys.end; n++) {
      double row[] = {(double)m, (double)n, rollout[m * length + n]};
      if (row[2] > 0) RS_TRY(rs_curve_add(curve, row, err));
    }
  return RS_OK;
}

static rs_status read(const rs_reading_in *in, rs_result *result, rs_err *err) {
  const params *p = in->params;
  size_t length = rs_context_encoding(in->context)->length;
  RS_FREED double *rollout = NULL;
  RS_TRY(rs_task_rollout(in->context, in->task, in->length, p->window.sequence, &rollout, err));
  return add(p, rollout, length, &result->curve, err);
}

static size_t curve_rows(const void *given, const rs_curve_in *in) {
  return rs_map_window_cells(&((const params *)given)->window, in);
}

static const rs_param specs[] = {RS_MAP_WINDOW_SPECS(params, window)};

static const rs_column curve[] = {
    RS_COLUMN("query_token", "", "the token whose last state it is, from 0", .integer = true, .map = RS_MAP_Y),
    RS_COLUMN("key_token", "", "the token that it comes from, from 0; tokens that no layer sees have no row",
              .integer = true, .map = RS_MAP_X),
    RS_COLUMN("rollout", "1",
              "product over layers of (A + I) / 2, A the attention weights of one sequence, mean over heads, rows made "
              "to sum to 1",
              .log_axis = true, .map = RS_MAP_SEEN),
};

const rs_metric_kind rs_metric_attention_rollout = {
    .kind = {.name = "attention_rollout",
             .summary = "attention of all layers and heads as one map: the product over layers, of one sequence",
             .reference = "Abnar and Zuidema, arXiv:2005.00928, section 3",
             RS_KIND(specs, params)},
    .check = check,
    .fit = fit,
    RS_CURVE(curve, 2),
    .curve_rows = curve_rows,
    .read = read,
};
