/* What single queries attend to in a picture: their weights over its rows and columns, the class token's among them, as
 * ViT's figures show them (arXiv:2010.11929, figure 6; DINO, arXiv:2104.14294, figure 1). */
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
  return rs_grid_views_fit(&((const params *)given)->views, true, in, err);
}

/* Where the picture stands is not known yet: all of it. */
static void wants(const void *given, rs_row_needs *needs) {
  (void)given;
  rs_row_needs_map(needs, (rs_range){0, SIZE_MAX}, (rs_range){0, SIZE_MAX});
}

static rs_status prepare(const rs_metric_in *in, void **memory, rs_err *err) {
  const params *p = in->params;
  const rs_position_set set = rs_positions_of(&in->encoding->tokens, in->encoding->length);
  RS_FREED size_t *queries = rs_alloc(rs_grid_views_most(&p->views), sizeof *queries, err);
  if (queries == NULL) return RS_MEMORY;
  size_t count = set.rows > 0 ? rs_grid_views_list(&p->views, &set, in->encoding->length, queries) : 0;
  return rs_weight_map_make(in, p->views.sequence, queries, count, (rs_range){set.begin, set.begin + set.count}, memory,
                            err);
}

static rs_status finish(const rs_metric_in *in, const void *memory, rs_result *result, rs_err *err) {
  const rs_weight_map *map = memory;
  const rs_position_set set = rs_positions_of(&in->encoding->tokens, in->encoding->length);
  RS_TRY(rs_weight_map_check(map, err));
  for (size_t h = 0; h < map->head_count; h++)
    for (size_t m = 0; m < map->query_count; m++)
      RS_TRY(rs_grid_view_add(&map->heads[h], map->queries[m], &set, rs_weight_map_at(map, h, m), &result->curve, err));
  return RS_OK;
}

static size_t curve_rows(const void *given, const rs_curve_in *in) {
  return in->observed * rs_grid_views_most(&((const params *)given)->views) * in->length;
}

static const rs_param specs[] = {RS_GRID_VIEW_SPECS(params, views)};

static const rs_column curve[] = {
    RS_COLUMN("head", "", "head of the model, from 0", .integer = true),
    RS_GRID_VIEW_COLUMNS(
        "weight",
        "attention weight of the query on the patch in one sequence; patches that it does not see have no row"),
};

const rs_metric_kind rs_metric_attention_grid = {
    .kind = {.name = "attention_grid",
             .summary = "attention weights of single queries, the class token's too, over the patches of a picture",
             .reference = "ViT, arXiv:2010.11929, figure 6; DINO, arXiv:2104.14294, figure 1",
             RS_KIND(specs, params)},
    .check = check,
    .fit = fit,
    .needs_picture = true,
    RS_CURVE(curve, 5),
    .curve_rows = curve_rows,
    .wants = wants,
    .prepare = prepare,
    .row = rs_weight_map_row,
    .finish = finish,
};
