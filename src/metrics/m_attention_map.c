/* The attention of a head as it is: the weight of each query on each key of one sequence, in a window of both. Keys
 * that a query does not see have no row. */
#include "weight_maps.h"

#include <math.h>
#include <stdlib.h>

typedef struct params {
  rs_map_window window;
} params;

static rs_status check(const rs_binding *binding, rs_err *err) {
  return rs_map_window_check(binding, &((const params *)binding->fields)->window, err);
}

static rs_status fit(const void *given, const rs_curve_in *in, rs_err *err) {
  return rs_map_window_fit(&((const params *)given)->window, true, in, err);
}

static void wants(const void *given, rs_row_needs *needs) {
  const params *p = given;
  rs_row_needs_map(needs, rs_window_range(&p->window.queries), rs_window_range(&p->window.keys));
}

static rs_status prepare(const rs_metric_in *in, void **memory, rs_err *err) {
  const params *p = in->params;
  rs_range queries = rs_window_within(&p->window.queries, in->encoding->length);
  rs_range keys = rs_window_within(&p->window.keys, in->encoding->length);
  size_t positions[RS_MAP_SIDE], count = 0;
  for (size_t m = queries.begin; m < queries.end && count < RS_MAP_SIDE; m++) positions[count++] = m;
  return rs_weight_map_make(in, p->window.sequence, positions, count, keys, memory, err);
}

static rs_status add_row(const rs_weight_map *map, size_t head, size_t query, rs_result *result, rs_moments *mass,
                         rs_err *err) {
  const double *weights = rs_weight_map_at(map, head, query);
  rs_sum sum = {0};
  if (map->shown[head * map->query_count + query] == 0) return RS_OK;
  for (size_t n = map->keys.begin; n < map->keys.end; n++) {
    double weight = weights[n - map->keys.begin];
    double row[] = {(double)map->heads[head], (double)map->queries[query], (double)n, weight};
    if (isnan(weight)) continue;
    rs_sum_add(&sum, weight);
    RS_TRY(rs_curve_add(&result->curve, row, err));
  }
  rs_moments_add(mass, rs_sum_total(&sum));
  return RS_OK;
}

static rs_status finish(const rs_metric_in *in, const void *memory, rs_result *result, rs_err *err) {
  (void)in;
  const rs_weight_map *map = memory;
  rs_moments mass = {0};
  RS_TRY(rs_weight_map_check(map, err));
  for (size_t h = 0; h < map->head_count; h++)
    for (size_t m = 0; m < map->query_count; m++) RS_TRY(add_row(map, h, m, result, &mass, err));
  result->value[0] = rs_moments_mean(&mass);
  return RS_OK;
}

static size_t curve_rows(const void *given, const rs_curve_in *in) {
  return in->observed * rs_map_window_cells(&((const params *)given)->window, in);
}

static const rs_param specs[] = {RS_MAP_WINDOW_SPECS(params, window)};

static const rs_column scalars[] = {
    RS_COLUMN("map_mass", "1",
              "attention weight of the map's keys, mean over its queries and heads: 1 where it has all keys that they "
              "see, and less by a learned sink"),
};

static const rs_column curve[] = {
    RS_COLUMN("head", "", "head of the model, from 0", .integer = true, .map = RS_MAP_PANEL),
    RS_COLUMN("query_token", "", "position of the query, from 0", .integer = true, .map = RS_MAP_Y),
    RS_COLUMN("key_token", "", "position of the key, from 0; keys that the query does not see have no row",
              .integer = true, .map = RS_MAP_X),
    RS_COLUMN(
        "weight", "1",
        "attention weight of the query on the key in one sequence, a needle's with that of the key where it stands",
        .log_axis = true, .map = RS_MAP_SEEN),
};

const rs_metric_kind rs_metric_attention_map = {
    .kind = {.name = "attention_map",
             .summary = "attention weight of each query on each key of one sequence, up to 512 of both",
             .reference =
                 "Bahdanau et al., arXiv:1409.0473, figure 3; Vaswani et al., arXiv:1706.03762, figures 3 to 5",
             RS_KIND(specs, params)},
    .check = check,
    .fit = fit,
    RS_SCALARS(scalars),
    RS_CURVE(curve, 3),
    .curve_rows = curve_rows,
    .wants = wants,
    .prepare = prepare,
    .row = rs_weight_map_row,
    .finish = finish,
};
