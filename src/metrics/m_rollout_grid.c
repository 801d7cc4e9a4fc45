/* Attention rollout over a picture: how much of a token's last state, the class token's above all, comes from each
 * patch (Abnar and Zuidema, arXiv:2005.00928; of ViT: arXiv:2010.11929, figure 6 and appendix D.8). */
#include "weight_maps.h"

#include <math.h>
#include <stdlib.h>

typedef struct params {
  rs_grid_views views;
} params;

static rs_status check(const rs_binding *binding, rs_err *err) {
  return rs_grid_views_check(binding, &((const params *)binding->fields)->views, err);
}

static rs_status fit(const void *given, const rs_curve_in *in, rs_err *err) {
  if (in->length > RS_ROLLOUT_TOKENS)
    return rs_fail(err, RS_INPUT, "is the product of all layers, of at most %d tokens, and a cell has %zu",
                   RS_ROLLOUT_TOKENS, in->length);
  return rs_grid_views_fit(&((const params *)given)->views, false, in, err);
}

static rs_status add(const params *p, const rs_position_set *set, const double *rollout, size_t length, rs_curve *curve,
                     rs_err *err) {
  RS_FREED size_t *queries = rs_alloc(rs_grid_views_most(&p->views), sizeof *queries, err);
  if (queries == NULL) return RS_MEMORY;
  size_t count = rs_grid_views_list(&p->views, set, length, queries);
  for (size_t i = 0; i < count; i++)
    RS_TRY(rs_grid_view_add(NULL, queries[i], set, rollout + queries[i] * length + set->begin, curve, err));
  return RS_OK;
}

static rs_status read(const rs_reading_in *in, rs_result *result, rs_err *err) {
  const params *p = in->params;
  size_t length = rs_context_encoding(in->context)->length;
  RS_FREED double *rollout = NULL;
  RS_TRY(rs_task_rollout(in->context, in->task, in->length, p->views.sequence, &rollout, err));
  const rs_position_set set = rs_positions_of(&rs_context_encoding(in->context)->tokens, length);
  return set.rows > 0 ? add(p, &set, rollout, length, &result->curve, err) : RS_OK;
}

static size_t curve_rows(const void *given, const rs_curve_in *in) {
  return rs_grid_views_most(&((const params *)given)->views) * in->length;
}

static const rs_param specs[] = {RS_GRID_VIEW_SPECS(params, views)};

static const rs_column curve[] = {
    RS_GRID_VIEW_COLUMNS("rollout",
                         "product over layers of (A + I) / 2, A the attention weights, mean over heads, rows made to "
                         "sum to 1: the part of the query's last state that comes from the patch"),
};

const rs_metric_kind rs_metric_rollout_grid = {
    .kind = {.name = "rollout_grid",
             .summary = "attention rollout of single tokens, the class token's too, over the patches of a picture",
             .reference = "Abnar and Zuidema, arXiv:2005.00928; ViT, arXiv:2010.11929, appendix D.8",
             RS_KIND(specs, params)},
    .check = check,
    .fit = fit,
    .needs_picture = true,
    RS_CURVE(curve, 4),
    .curve_rows = curve_rows,
    .read = read,
};
