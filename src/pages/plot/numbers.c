/* numbers.c: what a picture shows, as JSON. Numbers have all their digits: a page shows what the CSV files say. */
#include "forms.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

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

void rs_plot_chart_numbers(const rs_plot_chart *chart, bool dots, rs_json *json) {
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

void rs_plot_heat_numbers(const rs_plot_heat *heat, bool strips, rs_json *json) {
  const rs_plot_map *map = heat->map;
  write_head(&heat->head, strips ? "strips" : "heat", json);
  write_ranks("x", heat->x_name, &map->x, json);
  write_ranks("y", heat->y_name, &map->y, json);
  write_ranks("panel", heat->panel_name, &map->panel, json);
  begin_axis(json, "value", heat->name, heat->unit, heat->log);
  rs_json_number(json, "low", map->low);
  rs_json_number(json, "high", map->high);
  rs_json_end(json);
  write_methods("methods", heat, 0, map->count, json);
  write_methods("absent", heat, map->count, map->absent, json);
  rs_json_list(json, "marks");
  for (size_t i = 0; i < map->panel.count; i++)
    rs_json_number(json, NULL, map->marks[i] != SIZE_MAX ? (double)map->marks[i] : NAN);
  rs_json_end(json);
  rs_json_list(json, "values");
  size_t count = map->count * map->panel.count * map->y.count * map->x.count;
  for (size_t i = 0; i < count; i++) rs_json_number(json, NULL, map->values[i]);
  rs_json_end(json);
}
