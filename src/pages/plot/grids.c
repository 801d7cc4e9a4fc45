/* grids.c: lengths as grids of patches, from manifest.json. Frames of a film are alike, so that its length is said in
 * frames. */
#include "data.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct grid {
  double length;
  unsigned long frames, rows, columns;
} grid;

static double number_of(const rs_node *node, const char *key) {
  const rs_node *value = rs_node_get(node, key);
  return value != NULL && value->kind == RS_SCALAR ? strtod(value->text, NULL) : 0;
}

/* Sides are printed and no more: what is no number of patches is 0. */
static unsigned long side_of(const rs_node *node, const char *key) {
  double side = number_of(node, key);
  return side > 0 && side < 1e6 ? (unsigned long)side : 0;
}

static grid grid_of(const rs_node *node) {
  return (grid){number_of(node, "length_tokens"), side_of(node, "frames"), side_of(node, "rows"),
                side_of(node, "columns")};
}

rs_status rs_plot_grids_read(const rs_plot_data *data, rs_arena *memory, rs_plot_grids *grids, rs_err *err) {
  const rs_node *task = data->manifest != NULL ? rs_node_get(&data->manifest->root, "task") : NULL;
  const rs_node *list = task != NULL ? rs_node_get(task, "grids") : NULL;
  char unit[80] = "patches";
  bool film = false;
  if (list == NULL || list->kind != RS_SEQUENCE || list->count == 0) return RS_OK;
  grids->marks = rs_arena_take(memory, list->count, sizeof *grids->marks);
  RS_TRY(rs_arena_check(memory, err));
  for (size_t i = 0; i < list->count; i++) film |= grid_of(&list->items[i]).frames > 1;
  for (; grids->count < list->count; grids->count++) {
    grid g = grid_of(&list->items[grids->count]);
    rs_plot_mark *mark = &grids->marks[grids->count];
    mark->value = g.length;
    if (film)
      snprintf(mark->label, sizeof mark->label, "%lu", g.frames);
    else
      snprintf(mark->label, sizeof mark->label, "%lu \u00d7 %lu", g.rows, g.columns);
  }
  grid first = grid_of(&list->items[0]);
  grids->name = film ? "film" : "image";
  if (film) snprintf(unit, sizeof unit, "frames of %lu \u00d7 %lu patches", first.rows, first.columns);
  grids->unit = rs_arena_text(memory, unit);
  return rs_arena_check(memory, err);
}
