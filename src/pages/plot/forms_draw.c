/* forms_draw.c: one picture of the list: what it shows and what it says, put together, as shapes or as JSON. Numbers of
 * JSON have all their digits: a page shows what the CSV files say. */
#include "forms.h"

#include "words.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

static void write_head(const rs_plot_head *head, const char *form, rs_json *json) {
  rs_json_string(json, "form", form);
  rs_json_string(json, "title", head->title);
  rs_json_string(json, "definition", head->definition);
  rs_json_string(json, "subtitle", head->subtitle);
}

static void begin_axis(rs_json *json, const char *key, const char *name, const char *unit, bool log) {
  rs_json_object(json, key);
  rs_json_string(json, "name", name);
  rs_json_string(json, "unit", unit);
  rs_json_bool(json, "log", log);
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

static void write_mark(double value, const char *label, rs_json *json) {
  rs_json_list(json, NULL);
  rs_json_number(json, NULL, value);
  rs_json_string(json, NULL, label);
  rs_json_end(json);
}

/* The member of the points at `offset`. */
static void write_numbers(const rs_plot_series *series, const char *key, size_t offset, rs_json *json) {
  rs_json_list(json, key);
  for (size_t i = 0; i < series->count; i++)
    rs_json_number(json, NULL, *(const double *)(const void *)((const char *)&series->points[i] + offset));
  rs_json_end(json);
}

static void write_line(const rs_plot_series *series, rs_json *json) {
  char colour[8];
  bool band = false, samples = false;
  for (size_t i = 0; i < series->count; i++) {
    band = band || series->points[i].low < series->points[i].high;
    samples = samples || series->points[i].samples > 0;
  }
  snprintf(colour, sizeof colour, "#%06x", (unsigned)series->style.colour & 0xFFFFFF);
  rs_json_object(json, NULL);
  rs_json_string(json, "name", series->label);
  rs_json_string(json, "colour", colour);
  rs_json_list(json, "dash");
  for (size_t i = 0; i < series->style.dashes; i++) rs_json_number(json, NULL, series->style.dash[i]);
  rs_json_end(json);
  write_numbers(series, "x", offsetof(rs_plot_point, x), json);
  write_numbers(series, "y", offsetof(rs_plot_point, y), json);
  if (band) write_numbers(series, "low", offsetof(rs_plot_point, low), json);
  if (band) write_numbers(series, "high", offsetof(rs_plot_point, high), json);
  if (samples) write_numbers(series, "samples", offsetof(rs_plot_point, samples), json);
  if (series->has_event) rs_json_number(json, "event", series->event);
  rs_json_end(json);
}

static void write_chart(const rs_plot_chart *chart, bool dots, rs_json *json) {
  write_head(&chart->head, dots ? "dots" : "lines", json);
  begin_axis(json, "x", chart->x_name, chart->x_unit, chart->x_log);
  rs_json_array(json, "marks");
  for (size_t i = 0; i < chart->category_count; i++) write_mark((double)i, chart->categories[i], json);
  for (size_t i = 0; i < chart->mark_count; i++) write_mark(chart->marks[i].value, chart->marks[i].label, json);
  rs_json_end(json);
  rs_json_end(json);
  begin_axis(json, "y", chart->y_name, chart->y_unit, chart->y_log);
  rs_json_end(json);
  if (chart->level_name != NULL) {
    rs_json_object(json, "level");
    rs_json_string(json, "name", chart->level_name);
    rs_json_number(json, "value", chart->level);
    rs_json_end(json);
  } else {
    rs_json_string(json, "level", NULL);
  }
  if (chart->count > 0 && chart->series[0].bars) rs_json_bool(json, "bars", true);
  rs_json_array(json, "lines");
  for (size_t i = 0; i < chart->count; i++) write_line(&chart->series[i], json);
  rs_json_end(json);
}

/* ---- maps -------------------------------------------------------------------------------------------------------- */

static void write_ranks(const char *key, const char *name, const rs_plot_ranks *ranks, rs_json *json) {
  rs_json_object(json, key);
  rs_json_string(json, "name", name);
  rs_json_list(json, "values");
  for (size_t i = 0; i < ranks->count; i++) rs_json_number(json, NULL, ranks->items[i]);
  rs_json_end(json);
  rs_json_end(json);
}

static void write_methods(const char *key, const rs_plot_heat *heat, size_t begin, size_t count, rs_json *json) {
  rs_json_list(json, key);
  for (size_t i = 0; i < count; i++) rs_json_string(json, NULL, heat->methods[heat->map->methods[begin + i]]);
  rs_json_end(json);
}

static void write_heat(const rs_plot_heat *heat, bool strips, rs_json *json) {
  const rs_plot_map *map = heat->map;
  write_head(&heat->head, strips ? "strips" : "heat", json);
  write_ranks("x", heat->x_name, &map->x, json);
  write_ranks("y", heat->y_name, &map->y, json);
  write_ranks("panel", heat->panel_name, &map->panel, json);
  begin_axis(json, "value", heat->name, heat->unit, heat->log);
  double floor = heat->seen ? map->high * pow(10, -RS_PLOT_SEEN_DECADES) : -INFINITY;
  rs_json_number(json, "low", fmax(map->low, floor));
  rs_json_number(json, "high", map->high);
  if (map->low < floor) rs_json_bool(json, "floor", true);
  rs_json_end(json);
  write_methods("methods", heat, 0, map->count, json);
  write_methods("absent", heat, map->count, map->absent, json);
  rs_json_list(json, "marks");
  for (size_t i = 0; i < map->panel.count; i++)
    rs_json_number(json, NULL, map->marks[i] != SIZE_MAX ? (double)map->marks[i] : NAN);
  rs_json_end(json);
  if (map->shares != NULL) {
    rs_json_list(json, "shares");
    for (size_t i = 0; i < map->count * map->panel.count; i++) rs_json_number(json, NULL, map->shares[i]);
    rs_json_end(json);
  }
  rs_json_list(json, "values");
  size_t count = map->count * map->panel.count * map->y.count * map->x.count;
  for (size_t i = 0; i < count; i++) rs_json_number(json, NULL, map->values[i]);
  rs_json_end(json);
}

/* ---- pictures ---------------------------------------------------------------------------------------------------- */

enum { MOST_CATEGORIES = 512 }; /* rows; further ones have no place */

/* One more than the largest x. */
static size_t count_categories(const rs_plot_set *set) {
  double largest = -1;
  for (size_t s = 0; s < set->count; s++)
    if (set->series[s].count > 0) largest = fmax(largest, set->series[s].points[set->series[s].count - 1].x);
  return (size_t)fmin(largest + 1, MOST_CATEGORIES);
}

/* The level that all values compare with: of paired differences 0; else what a guess that reads nothing comes to,
 * column chance_accuracy of column accuracy, where that is one number. */
static rs_status find_level(const rs_plot_measure *measure, const rs_plot_choice *choice, rs_arena *memory,
                            rs_plot_chart *chart, rs_err *err) {
  const rs_plot_file *file = measure->file;
  const rs_plot_column *column = rs_plot_column_named(file, "chance_", measure->column->name, "");
  double *values, chance = NAN;
  bool one = true, difference = measure->interval && rs_plot_is_difference(measure->column);
  if (difference) chart->level_name = "no difference";
  if (difference || column == NULL) return RS_OK;
  RS_TRY(rs_plot_numbers(file, column, memory, &values, err));
  for (size_t i = 0; i < file->cell_count; i++) {
    double value = values[file->cells[i].begin];
    if (!rs_plot_chosen(&file->cells[i], choice) || isnan(value)) continue;
    one = one && (isnan(chance) || value == chance);
    chance = value;
  }
  if (!one || isnan(chance)) return RS_OK;
  chart->level = chance;
  chart->level_name = "chance";
  return RS_OK;
}

static rs_status draw_series(const rs_plot_measure *measure, const rs_plot_choice *choice, rs_plot_content *content,
                             const rs_plot_style *styles, const rs_plot_caption *caption, rs_plot_picture *picture,
                             rs_json *numbers, rs_err *err) {
  const rs_plot_column *x = rs_plot_x_of(measure->file);
  rs_plot_set *set = &content->set;
  rs_arena *memory = &set->memory;
  rs_plot_categories categories = {0};
  const rs_plot_sweep *sweep = choice->sweep;
  rs_plot_grids grids = {0};
  for (size_t s = 0; s < set->count; s++)
    set->series[s].style = (sweep != NULL ? sweep->styles : styles)[set->series[s].method];
  if (measure->category)
    RS_TRY(rs_plot_categories_read(measure->data, x->name, count_categories(set), memory, &categories, err));
  if (x == NULL && sweep == NULL) RS_TRY(rs_plot_grids_read(measure->data, memory, &grids, err));
  rs_plot_chart chart = {.head = caption->head,
                         .x_name = grids.count > 0 ? grids.name : caption->x_name,
                         .x_unit = x != NULL         ? x->unit
                                   : sweep != NULL   ? sweep->parameter->unit
                                   : grids.count > 0 ? grids.unit
                                                     : "tokens",
                         .y_name = caption->name,
                         .y_unit = measure->density ? "1/token" : caption->unit,
                         .x_log = x != NULL ? x->log : sweep == NULL || sweep->log,
                         .y_log = measure->column->log || measure->density,
                         .categories = categories.names,
                         .category_count = categories.count,
                         .marks = grids.marks,
                         .mark_count = grids.count,
                         .series = set->series,
                         .count = set->count};
  bool dots = content->form == RS_PLOT_DOTS;
  RS_TRY(find_level(measure, choice, memory, &chart, err));
  if (numbers != NULL) write_chart(&chart, dots, numbers);
  if (picture == NULL) return RS_OK;
  return dots ? rs_plot_dots_draw(&chart, picture, err) : rs_plot_chart_draw(&chart, picture, err);
}

static rs_status draw_map(const rs_plot_measure *measure, const rs_plot_item *item, const rs_plot_content *content,
                          const rs_plot_caption *caption, rs_plot_picture *picture, rs_json *numbers, rs_err *err) {
  rs_plot_heat heat = {.head = caption->head,
                       .x_name = caption->x_name,
                       .y_name = caption->y_name,
                       .panel_name = caption->panel_name,
                       .name = caption->name,
                       .unit = measure->column->unit,
                       .log = measure->column->log,
                       .seen = measure->column->part == RS_PLOT_SEEN,
                       .x_tokens =
                           measure->over_lengths || (item->choice.family != NULL && content->form == RS_PLOT_HEAT),
                       .methods = (const char *const *)measure->data->methods.items,
                       .map = &content->map};
  if (numbers != NULL) write_heat(&heat, content->form == RS_PLOT_STRIPS, numbers);
  if (picture == NULL) return RS_OK;
  return content->form == RS_PLOT_STRIPS ? rs_plot_strip_draw(&heat, picture, err)
                                         : rs_plot_heat_draw(&heat, picture, err);
}

rs_status rs_plot_draw(rs_plot_measure *measure, const rs_plot_item *item, const rs_plot_style *styles,
                       rs_plot_picture *picture, rs_json *numbers, rs_err *err) {
  rs_plot_content content = {0};
  rs_plot_caption caption;
  rs_arena memory = {0};
  rs_status status = rs_plot_content_read(measure, &item->choice, &content, err);
  if (status == RS_OK) {
    caption = rs_plot_caption_write(measure, &item->choice, &content, &memory);
    status = rs_arena_check(&memory, err);
  }
  if (status == RS_OK)
    status = rs_plot_is_map(content.form)
                 ? draw_map(measure, item, &content, &caption, picture, numbers, err)
                 : draw_series(measure, &item->choice, &content, styles, &caption, picture, numbers, err);
  rs_arena_clear(&memory);
  rs_plot_content_clear(&content);
  return status;
}
