/* choice_list.c: every value of every model and source that has one is a picture, or a part of one. */
#include "choice.h"

#include "words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- content ----------------------------------------------------------------------------------------------------- */

/* Whether all points that have a value share their x; its methods are then rows, not lines. */
static bool is_single(const rs_plot_set *set) {
  double place = NAN;
  for (size_t i = 0; i < set->point_count; i++) {
    if (isnan(set->points[i].y)) continue;
    if (!isnan(place) && set->points[i].x != place) return false;
    place = set->points[i].x;
  }
  return true;
}

rs_status rs_plot_content_read(rs_plot_measure *measure, const rs_plot_choice *choice, rs_plot_content *content,
                               rs_err *err) {
  *content = (rs_plot_content){0};
  if (choice->family != NULL || measure->map || measure->strip) {
    bool strips = measure->strip;
    if (choice->family != NULL) RS_TRY(rs_plot_family_places(choice->family, choice->model, measure, &strips, err));
    content->form = strips ? RS_PLOT_STRIPS : RS_PLOT_HEAT;
    return rs_plot_map_read(measure, choice, &content->map, err);
  }
  RS_TRY(rs_plot_set_read(measure, choice, &content->set, err));
  bool rows = measure->category || is_single(&content->set);
  content->form = rows ? RS_PLOT_DOTS : RS_PLOT_LINES;
  return rs_plot_events_read(measure, choice, &content->set, err);
}

void rs_plot_content_clear(rs_plot_content *content) {
  rs_plot_set_clear(&content->set);
  rs_plot_map_clear(&content->map);
  *content = (rs_plot_content){0};
}

/* Beyond the rounding of sums that are made in another order, and of differences of numbers as large as `largest`. */
static bool is_equal(double a, double b, double largest) {
  double slack = fmax(1e-12 * fmax(fabs(a), fabs(b)), 1e-15 * largest);
  return (isnan(a) && isnan(b)) || fabs(a - b) <= slack;
}

static bool same_points(const rs_plot_series *a, const rs_plot_series *b, double largest) {
  if (a->count != b->count) return false;
  for (size_t i = 0; i < a->count; i++) {
    const rs_plot_point *p = &a->points[i], *q = &b->points[i];
    bool same =
        is_equal(p->y, q->y, largest) && is_equal(p->low, q->low, largest) && is_equal(p->high, q->high, largest);
    if (p->x != q->x || !same) return false;
  }
  return true;
}

/* One number, wherever there is one. */
static bool is_constant(const rs_plot_set *set) {
  double value = NAN;
  for (size_t i = 0; i < set->point_count; i++) {
    const rs_plot_point *point = &set->points[i];
    if (isnan(point->y)) continue;
    if (point->low < point->high || (!isnan(value) && !is_equal(point->y, value, 0))) return false;
    value = point->y;
  }
  return true;
}

/* Two or more methods with a value, and all the same. */
static bool all_alike(const rs_plot_set *set) {
  const rs_plot_series *first = NULL;
  double largest = 0;
  size_t count = 0;
  for (size_t i = 0; i < set->point_count; i++) largest = fmax(largest, fabs(set->points[i].y)); /* without NaN */
  for (size_t s = 0; s < set->count; s++) {
    if (set->series[s].count == 0) continue;
    if (first == NULL) first = &set->series[s];
    if (!same_points(first, &set->series[s], largest)) return false;
    count++;
  }
  return count > 1;
}

/* Whether the picture says nothing: there is but one number, or all methods have the same line, or means of samples
 * that are too few, at too few places, for a trend. */
static bool is_plain(const rs_plot_content *content) {
  if (rs_plot_is_map(content->form)) return is_equal(content->map.low, content->map.high, 0);
  return content->set.trendless || is_constant(&content->set) || all_alike(&content->set);
}

/* ---- list -------------------------------------------------------------------------------------------------------- */

/* What is at work. */
typedef struct listing {
  const rs_plot_data *data;
  double length; /* of curves; 0: the longest; RS_PLOT_EVERY_LENGTH */
  rs_plot_list *list;
  rs_plot_report *report;
  rs_err *err;
} listing;

/* ---- one picture ------------------------------------------------------------------------------------------------- */

/* Appends "-2", "-3", ... until no other picture has the name. */
static void make_unique(const rs_plot_list *list, rs_text *name) {
  size_t length = name->length, tail = 2;
  for (size_t i = 0; i < list->count && !name->failed; i++) {
    if (strcmp(list->items[i].name, rs_text_string(name)) != 0) continue;
    name->length = length;
    rs_text_printf(name, "-%zu", tail++);
    i = SIZE_MAX; /* from the first again */
  }
}

static rs_status add_item(listing *l, const rs_plot_measure *measure, const rs_plot_choice *choice, bool plain) {
  rs_text name = {0};
  rs_plot_caption_slug(measure, choice, &name);
  make_unique(l->list, &name);
  const char *kept = rs_plot_keep(&l->list->memory, &name);
  RS_TRY(rs_arena_check(&l->list->memory, l->err));
  RS_TRY(RS_GROW(l->list->items, &l->list->capacity, l->list->count + 1, l->err));
  l->list->items[l->list->count++] = (rs_plot_item){measure->file, measure->column, *choice, plain, kept};
  return RS_OK;
}

/* Adds the picture if there is something on it. */
static rs_status add_choice(listing *l, rs_plot_measure *measure, const rs_plot_choice *cells) {
  rs_plot_content content;
  rs_plot_choice one = *cells, *choice = &one;
  rs_plot_seed_choose(measure, choice);
  rs_status status = rs_plot_content_read(measure, choice, &content, l->err);
  const rs_plot_map *map = &content.map;
  if (status == RS_OK && (map->any || content.set.any)) status = add_item(l, measure, choice, is_plain(&content));
  if (status == RS_OK && (map->x.count > RS_PLOT_MAP_SIDE || map->y.count > RS_PLOT_MAP_SIDE))
    status = rs_plot_note(l->report, l->err, "%s: no map of %s: %zu x %zu cells are more than %d along a side",
                          measure->file->path, measure->column->name, map->y.count, map->x.count, RS_PLOT_MAP_SIDE);
  rs_plot_content_clear(&content);
  return status;
}

/* ---- those of a column ------------------------------------------------------------------------------------------- */

/* Lines of a file that has panels, though no map: one chart for each. */
static rs_status add_panels(listing *l, rs_plot_measure *measure, rs_plot_choice choice) {
  rs_plot_ranks panels;
  RS_TRY(rs_plot_ranks_read(measure->part[RS_PLOT_MAP_PANEL], measure->file->table->rows, &measure->memory, &panels,
                            l->err));
  for (size_t i = 0; i < panels.count; i++) {
    choice.in_panel = true;
    choice.panel = panels.items[i];
    RS_TRY(add_choice(l, measure, &choice));
  }
  return RS_OK;
}

static rs_status add_at_length(listing *l, rs_plot_measure *measure, const rs_plot_choice *choice) {
  bool map = measure->map || measure->strip, panels = measure->part[RS_PLOT_MAP_PANEL] != NULL;
  return panels && !map && choice->sweep == NULL ? add_panels(l, measure, *choice) : add_choice(l, measure, choice);
}

/* The shortest length of the file's cells that is longer; INFINITY: none. */
static double longer_than(const rs_plot_file *file, double length) {
  double next = INFINITY;
  for (size_t i = 0; i < file->cell_count; i++)
    if (file->cells[i].length > length) next = fmin(next, file->cells[i].length);
  return next;
}

/* At the length that is asked for, or at each. */
static rs_status add_lengths(listing *l, rs_plot_measure *measure, rs_plot_choice choice) {
  if (l->length == RS_PLOT_EVERY_LENGTH) {
    for (double at = longer_than(measure->file, 0); isfinite(at); at = longer_than(measure->file, at)) {
      choice.length = at;
      RS_TRY(add_at_length(l, measure, &choice));
    }
    return RS_OK;
  }
  choice.length = l->length > 0 ? l->length : rs_plot_longest(measure, &choice);
  if (!(choice.length > 0)) return RS_OK; /* this model or source has none of it */
  return add_at_length(l, measure, &choice);
}

/* A summary that depends on the source: one map for each family of sources instead of a chart for each of them. */
static rs_status add_families(listing *l, rs_plot_measure *measure) {
  const rs_plot_families *families = &l->list->families;
  for (size_t i = 0; i < families->count; i++) {
    for (size_t model = 0; model < l->data->models.count; model++) {
      rs_plot_choice choice = {.model = model, .source = RS_PLOT_ANY, .family = &families->items[i]};
      RS_TRY(add_choice(l, measure, &choice));
    }
  }
  return RS_OK;
}

static rs_status add_measure(listing *l, rs_plot_measure *measure) {
  if (!measure->any) return RS_OK;
  if (measure->x == NULL && l->list->sweep.parameter != NULL) {
    rs_plot_choice choice = {.source = measure->per_source ? 0 : RS_PLOT_ANY, .sweep = &l->list->sweep};
    RS_TRY(add_lengths(l, measure, choice));
    if (l->data->methods.count > RS_PLOT_LEGEND) return RS_OK; /* lines over the length would be too many */
  }
  bool families = measure->x == NULL && measure->per_source, curve = measure->x != NULL && !measure->over_lengths;
  size_t sources = measure->per_source ? l->data->sources.count : 1;
  for (size_t model = 0; model < l->data->models.count; model++) {
    for (size_t source = 0; source < sources; source++) {
      if (families && rs_plot_in_family(&l->list->families, source)) continue;
      rs_plot_choice choice = {.model = model, .source = measure->per_source ? source : RS_PLOT_ANY};
      RS_TRY(curve ? add_lengths(l, measure, choice) : add_at_length(l, measure, &choice));
    }
  }
  return families ? add_families(l, measure) : RS_OK;
}

static rs_status add_file(listing *l, const rs_plot_file *file) {
  rs_status status = RS_OK;
  size_t before = l->list->count;
  if (rs_plot_column_of(file, RS_PLOT_INDEX, 0) == NULL && l->list->families.count == 0)
    status = rs_plot_families_read(l->data, file, &l->list->families, l->err);
  if (status == RS_OK && rs_plot_column_of(file, RS_PLOT_INDEX, 0) == NULL && l->list->sweep.parameter == NULL)
    status = rs_plot_sweep_read(l->data, file, &l->list->sweep, l->err);
  for (size_t i = 0; i < file->count && status == RS_OK; i++) {
    if (!rs_plot_column_drawn(&file->columns[i])) continue;
    rs_plot_measure measure = {0};
    status = rs_plot_measure_read(l->data, file, &file->columns[i], &measure, l->err);
    if (status == RS_OK) status = add_measure(l, &measure);
    rs_plot_measure_clear(&measure);
  }
  if (status != RS_OK || l->list->count > before) return status;
  return rs_plot_note(l->report, l->err, "%s: no value to draw", file->path);
}

rs_status rs_plot_list_read(const rs_plot_data *data, double length, rs_plot_list *list, rs_plot_report *report,
                            rs_err *err) {
  listing l = {data, length, list, report, err};
  for (size_t i = 0; i < data->count; i++)
    if (data->files[i].table != NULL) RS_TRY(add_file(&l, &data->files[i]));
  return RS_OK;
}

void rs_plot_list_clear(rs_plot_list *list) {
  rs_arena_clear(&list->memory);
  free(list->items);
  rs_plot_families_clear(&list->families);
  rs_plot_sweep_clear(&list->sweep);
  *list = (rs_plot_list){0};
}

/* ---- the choice -------------------------------------------------------------------------------------------------- */

/* True if `name` means the picture: "plots/decay--score--4k.svg", "decay--score--4k", "decay--score", "decay", "score".
 */
static bool is_meant(const char *name, const rs_plot_item *item) {
  const char *slash = strrchr(name, '/'), *stem = slash != NULL ? slash + 1 : name;
  size_t length = strlen(stem);
  bool ends = rs_plot_format_of(stem) != 0;
  if (ends) length -= 4;
  if (length > 0 && strncmp(item->name, stem, length) == 0 &&
      (item->name[length] == '\0' || (!ends && strncmp(item->name + length, "--", 2) == 0)))
    return true;
  return *name != '\0' && strcmp(name, item->column->name) == 0;
}

/* The length of what stands before "--" in a picture's name ("decay" of "decay--score--4k") where `name` is like it;
 * else 0. */
static size_t family_near(const char *name, const char *picture) {
  char family[64];
  const char *end = strstr(picture, "--");
  if (end == NULL || end - picture >= (ptrdiff_t)sizeof family) return 0;
  snprintf(family, sizeof family, "%.*s", (int)(end - picture), picture);
  const char *const candidates[] = {family};
  return rs_suggest(name, candidates, 1) != NULL ? strlen(family) : 0;
}

/* The nearest picture or column, or how many there are. */
static rs_status fail_only(const rs_plot_list *list, const char *name, rs_err *err) {
  rs_nearest pictures = {.word = name}, columns = {.word = name};
  for (size_t i = 0; i < list->count; i++) {
    rs_nearest_add(&pictures, list->items[i].name);
    rs_nearest_add(&columns, list->items[i].column->name);
  }
  const char *near = rs_nearest_found(&pictures);
  if (near == NULL) near = rs_nearest_found(&columns);
  size_t length = near != NULL ? strlen(near) : 0;
  for (size_t i = 0; i < list->count && length == 0; i++) length = family_near(name, near = list->items[i].name);
  if (length > 0)
    return rs_fail_on(err, RS_INPUT, "only", "no picture or column is \"%s\" (did you mean \"%.*s\"?)", name,
                      (int)length, near);
  return rs_fail_on(err, RS_INPUT, "only", "no picture or column is \"%s\" (there are %zu pictures, as \"%s\")", name,
                    list->count, list->items[0].name);
}

static rs_status check_only(const rs_plot_list *list, const rs_plot_options *options, rs_err *err) {
  for (size_t i = 0; i < options->only_count; i++) {
    bool found = false;
    for (size_t k = 0; k < list->count && !found; k++) found = is_meant(options->only[i], &list->items[k]);
    if (!found) return fail_only(list, options->only[i], err);
  }
  return RS_OK;
}

rs_status rs_plot_list_filter(rs_plot_list *list, const rs_plot_options *options, rs_plot_report *report, rs_err *err) {
  size_t kept = 0;
  RS_TRY(check_only(list, options, err));
  for (size_t i = 0; i < list->count; i++) {
    rs_plot_item *item = &list->items[i];
    bool chosen = options->only_count == 0 && (options->all || !item->plain);
    for (size_t k = 0; k < options->only_count && !chosen; k++) chosen = is_meant(options->only[k], item);
    if (!chosen && options->only_count == 0) report->plain++;
    if (chosen) list->items[kept++] = *item;
  }
  list->count = kept;
  return RS_OK;
}
