/* What metrics of single weights share: windows of queries and keys, pictures, and the rows of one sequence. */
#include "weight_maps.h"

#include <math.h>
#include <stdlib.h>

/* Weights of all heads of a cell together: four heads of 512 by 512. */
enum { MOST_WEIGHTS = 1 << 20 };

const char *const rs_window_words[RS_WINDOW_WORDS + 1] = {[RS_WINDOW_ALL] = "all"};
const char *const rs_view_words[RS_VIEW_WORDS + 1] = {[RS_VIEW_USUAL] = "usual"};

static size_t offset_of(const rs_binding *binding, const rs_real_list *list) {
  return (size_t)((const char *)list - (const char *)binding->fields);
}

/* Whole numbers that ascend. */
static rs_status check_tokens(const rs_binding *binding, const rs_real_list *list, rs_err *err) {
  for (size_t i = 0; i < list->count; i++) {
    if (list->list[i] != floor(list->list[i]))
      return rs_binding_fail(binding, offset_of(binding, list), err, "must be whole numbers of tokens, not %g",
                             list->list[i]);
    if (i > 0 && list->list[i] <= list->list[i - 1])
      return rs_binding_fail(binding, offset_of(binding, list), err, "must ascend: %g follows %g", list->list[i],
                             list->list[i - 1]);
  }
  return RS_OK;
}

/* Whether the query's row is observed; of random ones nothing is known before they are drawn. */
static bool is_observed(const rs_curve_in *in, size_t query) {
  const rs_query_set *set = in->queries;
  if (set == NULL || set->choice == RS_QUERIES_ALL) return true;
  if (set->choice == RS_QUERIES_EVERY) return (in->length - 1 - query) % set->number == 0;
  return set->number >= in->length || (set->choice == RS_QUERIES_LAST && query >= in->length - set->number);
}

static rs_status check_sequence(size_t sequence, const rs_curve_in *in, rs_err *err) {
  size_t count = in->sequences > 0 ? in->sequences : 1;
  if (sequence < count) return RS_OK;
  return rs_fail(err, RS_INPUT, "shows sequence %zu, and %zu %s read, from 0", sequence, count,
                 count == 1 ? "is" : "are");
}

/* ---- windows ----------------------------------------------------------------------------------------------------- */

rs_range rs_window_range(const rs_real_list *window) {
  if (window->word != RS_NO_WORD) return (rs_range){0, SIZE_MAX};
  return (rs_range){(size_t)window->list[0], (size_t)window->list[1] + 1};
}

rs_range rs_window_within(const rs_real_list *window, size_t length) {
  rs_range range = rs_window_range(window);
  if (range.end > length) range.end = length;
  if (range.begin > range.end) range.begin = range.end;
  return range;
}

static void widen(rs_range *range, rs_range by) {
  bool none = range->begin == range->end;
  if (none || by.begin < range->begin) range->begin = by.begin;
  if (none || by.end > range->end) range->end = by.end;
}

void rs_row_needs_map(rs_row_needs *needs, rs_range queries, rs_range keys) {
  widen(&needs->map_queries, queries);
  widen(&needs->map_keys, keys);
}

static rs_status check_side(const rs_binding *binding, const rs_real_list *side, rs_err *err) {
  if (side->word != RS_NO_WORD) return RS_OK;
  if (side->count != 2)
    return rs_binding_fail(binding, offset_of(binding, side), err,
                           "must be the first and the last token, as [512, 1023], not %zu numbers", side->count);
  RS_TRY(check_tokens(binding, side, err));
  rs_range range = rs_window_range(side);
  if (range.end - range.begin <= RS_MAP_SIDE) return RS_OK;
  return rs_binding_fail(binding, offset_of(binding, side), err, "are %zu tokens, and a map has at most %d on a side",
                         range.end - range.begin, RS_MAP_SIDE);
}

rs_status rs_map_window_check(const rs_binding *binding, const rs_map_window *block, rs_err *err) {
  RS_TRY(check_side(binding, &block->queries, err));
  return check_side(binding, &block->keys, err);
}

static rs_status fit_side(const rs_real_list *side, const char *name, size_t length, rs_err *err) {
  rs_range range = rs_window_range(side);
  if (side->word != RS_NO_WORD && length > RS_MAP_SIDE)
    return rs_fail(err, RS_INPUT, "has at most %d %s, and a cell has %zu tokens (name a window, as %s: [%zu, %zu])",
                   RS_MAP_SIDE, name, length, name, length - RS_MAP_SIDE, length - 1);
  if (side->word != RS_NO_WORD || range.end <= length) return RS_OK;
  return rs_fail(err, RS_INPUT, "shows %s %zu to %zu, and a cell has %zu tokens, from 0", name, range.begin,
                 range.end - 1, length);
}

size_t rs_map_window_cells(const rs_map_window *window, const rs_curve_in *in) {
  rs_range queries = rs_window_within(&window->queries, in->length), keys = rs_window_within(&window->keys, in->length);
  return (queries.end - queries.begin) * (keys.end - keys.begin);
}

static rs_status fit_rows(const rs_map_window *window, const rs_curve_in *in, rs_err *err) {
  rs_range queries = rs_window_within(&window->queries, in->length);
  size_t cells = rs_map_window_cells(window, in);
  for (size_t m = queries.begin; m < queries.end; m++)
    if (!is_observed(in, m))
      return rs_fail(err, RS_INPUT, "shows queries %zu to %zu, and not all of them are observed (add queries: all)",
                     queries.begin, queries.end - 1);
  if (cells * in->observed <= MOST_WEIGHTS) return RS_OK;
  return rs_fail(err, RS_INPUT,
                 "has %zu weights of each of %zu heads in a cell, and room for %d in all (name fewer "
                 "heads, or a window as queries: [0, 127])",
                 cells, in->observed, MOST_WEIGHTS);
}

rs_status rs_map_window_fit(const rs_map_window *window, bool rows, const rs_curve_in *in, rs_err *err) {
  RS_TRY(fit_side(&window->queries, "queries", in->length, err));
  RS_TRY(fit_side(&window->keys, "keys", in->length, err));
  RS_TRY(check_sequence(window->sequence, in, err));
  return rows ? fit_rows(window, in, err) : RS_OK;
}

/* ---- pictures ---------------------------------------------------------------------------------------------------- */

enum { USUAL_VIEWS = 3 };

rs_status rs_grid_views_check(const rs_binding *binding, const rs_grid_views *views, rs_err *err) {
  return views->queries.word == RS_NO_WORD ? check_tokens(binding, &views->queries, err) : RS_OK;
}

size_t rs_grid_views_most(const rs_grid_views *views) {
  return views->queries.word == RS_NO_WORD ? views->queries.count : USUAL_VIEWS;
}

size_t rs_grid_views_list(const rs_grid_views *views, const rs_position_set *set, size_t length, size_t *queries) {
  const rs_real_list *list = &views->queries;
  size_t count = 0, middle = set->begin + set->rows / 2 * set->columns + set->columns / 2;
  for (size_t i = 0; list->word == RS_NO_WORD && i < list->count; i++)
    if (list->list[i] < (double)length) queries[count++] = (size_t)list->list[i];
  if (list->word == RS_NO_WORD) return count;
  if (set->begin > 0) queries[count++] = 0; /* the class token, where there is one */
  queries[count++] = middle;
  if (set->begin + set->count < length) queries[count++] = length - 1;
  return count;
}

static rs_status fit_views(const rs_grid_views *views, bool rows, const rs_position_set *set, const rs_curve_in *in,
                           rs_err *err) {
  const rs_real_list *list = &views->queries;
  double last = list->word == RS_NO_WORD ? list->list[list->count - 1] : 0;
  RS_FREED size_t *queries = rs_alloc(rs_grid_views_most(views), sizeof *queries, err);
  if (queries == NULL) return RS_MEMORY;
  if (last >= (double)in->length)
    return rs_fail(err, RS_INPUT, "shows query %.0f, and a cell has %zu tokens, from 0", last, in->length);
  size_t count = rs_grid_views_list(views, set, in->length, queries);
  for (size_t i = 0; i < count && rows; i++)
    if (!is_observed(in, queries[i]))
      return rs_fail(err, RS_INPUT, "shows query %zu, which is not observed (add queries: all)", queries[i]);
  return RS_OK;
}

rs_status rs_grid_views_fit(const rs_grid_views *views, bool rows, const rs_curve_in *in, rs_err *err) {
  const rs_position_set set = rs_positions_of(in->tokens, in->length);
  RS_TRY(check_sequence(views->sequence, in, err));
  if (set.rows == 0)
    return rs_fail(err, RS_INPUT, "shows a picture, and the %zu tokens of a cell end before it does", in->length);
  if (in->length > RS_GRID_TOKENS)
    return rs_fail(err, RS_INPUT, "reads at most %d tokens, and a cell has %zu (take fewer patches)", RS_GRID_TOKENS,
                   in->length);
  return fit_views(views, rows, &set, in, err);
}

rs_status rs_grid_view_add(const size_t *head, size_t query, const rs_position_set *set, const double *weights,
                           rs_curve *curve, rs_err *err) {
  for (size_t i = 0; i < set->count; i++) {
    double row[] = {head != NULL ? (double)*head : 0, (double)query,
                    (double)(set->begin + i),         (double)(i / set->columns),
                    (double)(i % set->columns),       weights[i]};
    if (!isnan(weights[i])) RS_TRY(rs_curve_add(curve, head != NULL ? row : row + 1, err));
  }
  return RS_OK;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

rs_status rs_weight_map_make(const rs_metric_in *in, size_t sequence, const size_t *queries, size_t query_count,
                             rs_range keys, void **state, rs_err *err) {
  size_t rows = in->head_count * query_count, weights = rows * (keys.end - keys.begin);
  RS_TRY(rs_state_make(sizeof(rs_weight_map) + weights * sizeof(double) + (query_count + rows) * sizeof(size_t), state,
                       err));
  rs_weight_map *map = *state;
  *map = (rs_weight_map){.heads = in->heads,
                         .head_count = in->head_count,
                         .sequence = sequence,
                         .keys = keys,
                         .query_count = query_count,
                         .weights = (double *)(map + 1)};
  map->queries = (size_t *)(map->weights + weights);
  map->shown = map->queries + query_count;
  for (size_t i = 0; i < query_count; i++) map->queries[i] = queries[i];
  for (size_t i = 0; i < weights; i++) map->weights[i] = NAN;
  return RS_OK;
}

static int compare(const void *a, const void *b) {
  size_t left = *(const size_t *)a, right = *(const size_t *)b;
  return (left > right) - (left < right);
}

void rs_weight_map_row(void *state, const rs_row *row) {
  rs_weight_map *map = state;
  size_t head = 0, keys = map->keys.end - map->keys.begin;
  const size_t *place = bsearch(&row->query, map->queries, map->query_count, sizeof *map->queries, compare);
  while (head < map->head_count && map->heads[head] != row->head) head++;
  if (place == NULL || head == map->head_count || row->key_weight == NULL) return;
  size_t index = head * map->query_count + (size_t)(place - map->queries);
  if (map->shown[index]++ != map->sequence) return;
  for (size_t n = 0; n < keys; n++)
    map->weights[index * keys + n] = row->key_weight[map->keys.begin - row->map_keys.begin + n];
}

rs_status rs_weight_map_check(const rs_weight_map *map, rs_err *err) {
  for (size_t i = 0; i < map->head_count * map->query_count; i++)
    if (map->shown[i] > 0 && map->shown[i] <= map->sequence)
      return rs_fail(err, RS_DOMAIN, "sequence %zu is not among the %zu that were read", map->sequence, map->shown[i]);
  return RS_OK;
}
