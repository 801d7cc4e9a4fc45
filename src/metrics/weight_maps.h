/* Maps of attention: the weights of some queries on some keys of one sequence, one by one. */
#ifndef ROPESCOPE_METRICS_WEIGHT_MAPS_H
#define ROPESCOPE_METRICS_WEIGHT_MAPS_H

#include "metric_list.h"

enum { RS_MAP_SIDE = 512 }; /* most tokens along a side of a map: as many cells as a picture has */

/* ---- windows ----------------------------------------------------------------------------------------------------- */

/* Which queries and keys a map has, and of which sequence: a block of parameters. */
typedef struct rs_map_window {
  rs_real_list queries, keys; /* the first and the last token, or all */
  size_t sequence;            /* of those that a checkpoint reads, from 0 */
} rs_map_window;

typedef enum rs_window_word { RS_WINDOW_ALL, RS_WINDOW_WORDS } rs_window_word;
extern const char *const rs_window_words[RS_WINDOW_WORDS + 1];

#define RS_MAP_SEQUENCE_SPEC(structure, field)                                                                         \
  {                                                                                                                    \
    RS_FIELD_AS(structure, field, "sequence"), .unit = "1", .min = 0, .max = 1e9, .fallback = "0",                     \
                                               .summary = "of a checkpoint: which of the sequences it reads, from 0"   \
  }

/* Their specs, for a struct that holds them as its field `block`. */
#define RS_MAP_WINDOW_SPECS(structure, block)                                                                          \
  {RS_FIELD_IN(structure, block, queries),                                                                             \
   .unit = "tokens",                                                                                                   \
   RS_WORDS(rs_window_words),                                                                                          \
   .min = 0,                                                                                                           \
   .max = 1e9,                                                                                                         \
   .fallback = "all",                                                                                                  \
   .summary = "which rows: the first and the last query, from 0, or all of at most 512"},                              \
      {RS_FIELD_IN(structure, block, keys),                                                                            \
       .unit = "tokens",                                                                                               \
       RS_WORDS(rs_window_words),                                                                                      \
       .min = 0,                                                                                                       \
       .max = 1e9,                                                                                                     \
       .fallback = "all",                                                                                              \
       .summary = "which columns: the first and the last key, from 0, or all of at most 512"},                         \
      RS_MAP_SEQUENCE_SPEC(structure, block.sequence)

/* RS_INPUT where `block`, a field of the parameters, holds no pair of tokens in their order. */
rs_status rs_map_window_check(const rs_binding *binding, const rs_map_window *block, rs_err *err);

/* Tokens of a window; all: as many as there are. And those of them that a sequence of `length` has. */
rs_range rs_window_range(const rs_real_list *window);
rs_range rs_window_within(const rs_real_list *window, size_t length);

/* Adds a map of these queries and keys to what rows hold. */
void rs_row_needs_map(rs_row_needs *needs, rs_range queries, rs_range keys);

/* RS_INPUT where the window is not in a cell's tokens, or has more than a map; with `rows`, where its queries are not
 * all observed, or its heads have more weights together than a cell may. */
rs_status rs_map_window_fit(const rs_map_window *window, bool rows, const rs_curve_in *in, rs_err *err);

/* Cells of the map, of each head. */
size_t rs_map_window_cells(const rs_map_window *window, const rs_curve_in *in);

/* ---- pictures ---------------------------------------------------------------------------------------------------- */

enum { RS_GRID_TOKENS = 4096 }; /* most tokens of a sequence with a picture, of which queries are shown */

typedef enum rs_view_word { RS_VIEW_USUAL, RS_VIEW_WORDS } rs_view_word;
extern const char *const rs_view_words[RS_VIEW_WORDS + 1];

/* Whose weights over a picture are shown: a block of parameters. */
typedef struct rs_grid_views {
  rs_real_list queries; /* tokens that ascend, or usual */
  size_t sequence;
} rs_grid_views;

#define RS_GRID_VIEW_SPECS(structure, block)                                                                           \
  {RS_FIELD_IN(structure, block, queries),                                                                             \
   .unit = "tokens",                                                                                                   \
   RS_WORDS(rs_view_words),                                                                                            \
   .min = 0,                                                                                                           \
   .max = 1e9,                                                                                                         \
   .fallback = "usual",                                                                                                \
   .summary =                                                                                                          \
       "tokens whose weights are shown, ascending from 0; usual: the first, where it is none of the picture (a "       \
       "ViT's class token), the patch in its middle, and the last, likewise"},                                         \
      RS_MAP_SEQUENCE_SPEC(structure, block.sequence)

rs_status rs_grid_views_check(const rs_binding *binding, const rs_grid_views *views, rs_err *err);

/* RS_INPUT as rs_map_window_fit. */
rs_status rs_grid_views_fit(const rs_grid_views *views, bool rows, const rs_curve_in *in, rs_err *err);

/* The tokens that are shown of a sequence with the picture `set`, ascending: at most as many as rs_grid_views_most. */
size_t rs_grid_views_list(const rs_grid_views *views, const rs_position_set *set, size_t length, size_t *queries);
size_t rs_grid_views_most(const rs_grid_views *views);

/* Adds rows of (head, query, token, row, column, weight) for `keys` (set->count,), NaN: not seen; with no column for
 * the head where it is NULL. */
rs_status rs_grid_view_add(const size_t *head, size_t query, const rs_position_set *set, const double *weights,
                           rs_curve *curve, rs_err *err);

/* Index columns behind the head, and the value. */
#define RS_GRID_VIEW_COLUMNS(value, ...)                                                                               \
  {.name = "query_token", .unit = "", .integer = true, .summary = "whose weights they are", .map = RS_MAP_PANEL},      \
      {.name = "token", .unit = "", .integer = true, .summary = "the key", .map = RS_MAP_MARK},                        \
      {.name = "row", .unit = "", .integer = true, .summary = "its row in the picture", .map = RS_MAP_Y},              \
      {.name = "column", .unit = "", .integer = true, .summary = "its column in the picture", .map = RS_MAP_X},        \
      RS_COLUMN(value, "1", __VA_ARGS__, .log_axis = true, .map = RS_MAP_SEEN)

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* What rows of one sequence hold: the state of a metric, with its arrays in one block of memory. */
typedef struct rs_weight_map {
  const size_t *heads; /* (head_count,); borrowed */
  size_t head_count;
  size_t sequence;
  rs_range keys;
  size_t *queries, query_count; /* positions, ascending */
  size_t *shown;                /* (heads, queries) sequences that had the row */
  double *weights;              /* (heads, queries, keys) NaN: not seen */
} rs_weight_map;

/* The map of these queries (query_count,) and keys. RS_MEMORY. */
rs_status rs_weight_map_make(const rs_metric_in *in, size_t sequence, const size_t *queries, size_t query_count,
                             rs_range keys, void **state, rs_err *err);

/* Member `row` of metrics with such a state. */
void rs_weight_map_row(void *state, const rs_row *row);

/* RS_DOMAIN where the sequence was not among those that were read. */
rs_status rs_weight_map_check(const rs_weight_map *map, rs_err *err);

/* Row number `query` of head number `head`: (keys,). */
static inline const double *rs_weight_map_at(const rs_weight_map *map, size_t head, size_t query) {
  return map->weights + (head * map->query_count + query) * (map->keys.end - map->keys.begin);
}

#endif
