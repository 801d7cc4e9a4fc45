/* numbers.c: what a picture shows, as JSON. Numbers have all their digits: a page shows what the CSV files say. */
#include "forms.h"

#include <math.h>
#include <stdio.h>

enum { COLOUR = 8 };

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

/* The names of numbers x: of categories 0, 1, ..., or of marks. */
static void write_marks(const rs_plot_chart *chart, rs_json *json) {
  rs_json_array(json, "marks");
  for (size_t i = 0; i < chart->category_count; i++) {
    rs_json_list(json, NULL);
    rs_json_number(json, NULL, (double)i);
    rs_json_string(json, NULL, chart->categories[i]);
    rs_json_end(json);
  }
  for (size_t i = 0; i < chart->mark_count; i++) {
    rs_json_list(json, NULL);
    rs_json_number(json, NULL, chart->marks[i].value);
    rs_json_string(json, NULL, chart->marks[i].label);
    rs_json_end(json);
  }
  rs_json_end(json);
}

typedef double (*number_of)(const rs_plot_point *point);

static double x_of(const rs_plot_point *point) {
  return point->x;
}

static double y_of(const rs_plot_point *point) {
  return point->y;
}

static double low_of(const rs_plot_point *point) {
  return point->low;
}

static double high_of(const rs_plot_point *point) {
  return point->high;
}

static double samples_of(const rs_plot_point *point) {
  return point->samples;
}

static void write_numbers(const rs_plot_series *series, const char *key, number_of number, rs_json *json) {
  rs_json_list(json, key);
  for (size_t i = 0; i < series->count; i++) rs_json_number(json, NULL, number(&series->points[i]));
  rs_json_end(json);
}

static void write_line(const rs_plot_series *series, rs_json *json) {
  char colour[COLOUR];
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
  write_numbers(series, "x", x_of, json);
  write_numbers(series, "y", y_of, json);
  if (band) write_numbers(series, "low", low_of, json);
  if (band) write_numbers(series, "high", high_of, json);
  if (samples) write_numbers(series, "samples", samples_of, json);
  if (series->has_event) rs_json_number(json, "event", series->event);
  rs_json_end(json);
}

void rs_plot_chart_numbers(const rs_plot_chart *chart, bool dots, rs_json *json) {
  write_head(&chart->head, dots ? "dots" : "lines", json);
  begin_axis(json, "x", chart->x_name, chart->x_unit, chart->x_log);
  write_marks(chart, json);
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
