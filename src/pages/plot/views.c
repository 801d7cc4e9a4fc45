/* views.c: pictures for pages: each as SVG, or as what it shows. */
#include "data.h"
#include "forms.h"
#include "paper.h"
#include "words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct viewer {
  rs_plot_data data;
  rs_plot_list list;
  rs_plot_style *styles; /* of the data's methods. Owned. */
  bool still;
  rs_plot_views *views;
  rs_err *err;
} viewer;

/* Whether two pictures differ in nothing but the length. */
static bool same_group(const rs_plot_item *a, const rs_plot_item *b) {
  const rs_plot_choice *p = &a->choice, *q = &b->choice;
  return a->column == b->column && p->model == q->model && p->source == q->source && p->family == q->family &&
         p->sweep == q->sweep && p->in_panel == q->in_panel && (!p->in_panel || p->panel == q->panel);
}

static bool says_something(const rs_plot_list *list, size_t index) {
  for (size_t i = 0; i < list->count; i++)
    if (!list->items[i].plain && same_group(&list->items[i], &list->items[index])) return true;
  return false;
}

static void write_item(const rs_plot_list *list, size_t index, rs_json *json) {
  const rs_plot_item *item = &list->items[index];
  size_t first = 0;
  while (!same_group(&list->items[first], item)) first++;
  rs_json_string(json, "name", item->name);
  rs_json_string(json, "group", list->items[first].name);
  rs_json_string(json, "file", item->file->name);
  rs_json_string(json, "column", item->column->name);
  rs_json_number(json, "length", item->choice.length > 0 ? item->choice.length : NAN);
}

static rs_status add_view(viewer *v, size_t index, const rs_text *text) {
  RS_TRY(rs_text_check(text, v->err));
  RS_TRY(RS_GROW(v->views->items, &v->views->capacity, v->views->count + 1, v->err));
  rs_plot_view *view = &v->views->items[v->views->count++];
  *view = (rs_plot_view){.name = rs_strdup(v->list.items[index].name, v->err)};
  char **copy = v->still ? &view->svg : &view->numbers;
  *copy = rs_strdup(rs_text_string(text), v->err);
  return view->name != NULL && *copy != NULL ? RS_OK : RS_MEMORY;
}

static rs_status make_view(viewer *v, rs_plot_measure *measure, size_t index) {
  const rs_plot_item *item = &v->list.items[index];
  rs_plot_picture picture = {0};
  rs_text text = {0};
  rs_json json = {.text = &text};
  rs_status status;
  if (v->still) {
    status = rs_plot_draw(measure, item, v->styles, &picture, NULL, v->err);
    if (status == RS_OK) rs_plot_svg_write(&picture, &text);
  } else {
    rs_json_object(&json, NULL);
    write_item(&v->list, index, &json);
    status = rs_plot_draw(measure, item, v->styles, NULL, &json, v->err);
    rs_json_end(&json);
  }
  if (status == RS_OK) status = add_view(v, index, &text);
  rs_plot_picture_clear(&picture);
  rs_text_clear(&text);
  return status;
}

static rs_status make_views(viewer *v) {
  rs_plot_measure measure = {0};
  rs_status status = RS_OK;
  for (size_t i = 0; i < v->list.count && status == RS_OK; i++) {
    const rs_plot_item *item = &v->list.items[i];
    if (!says_something(&v->list, i)) continue;
    if (measure.column != item->column) {
      rs_plot_measure_clear(&measure);
      status = rs_plot_measure_read(&v->data, item->file, item->column, &measure, v->err);
    }
    if (status == RS_OK) status = make_view(v, &measure, i);
  }
  rs_plot_measure_clear(&measure);
  return status;
}

rs_status rs_plot_views_read(const char *directory, bool still, rs_plot_views *views, rs_plot_report *report,
                             rs_err *err) {
  viewer v = {.still = still, .views = views, .err = err};
  rs_status status = rs_plot_folder_read(directory, &v.data, &v.styles, report, err);
  if (status == RS_OK) status = rs_plot_list_read(&v.data, still ? 0 : RS_PLOT_EVERY_LENGTH, &v.list, report, err);
  if (status == RS_OK) status = make_views(&v);
  rs_plot_list_clear(&v.list);
  rs_plot_data_clear(&v.data);
  free(v.styles);
  return status;
}

void rs_plot_views_clear(rs_plot_views *views) {
  for (size_t i = 0; i < views->count; i++) {
    free(views->items[i].name);
    free(views->items[i].numbers);
    free(views->items[i].svg);
  }
  free(views->items);
  *views = (rs_plot_views){0};
}

void rs_plot_map_colours(uint32_t colours[RS_PLOT_MAP_LEVELS]) {
  for (size_t i = 0; i < RS_PLOT_MAP_LEVELS; i++)
    colours[i] = rs_plot_level_colour(i * (RS_PLOT_LEVELS - 1) / (RS_PLOT_MAP_LEVELS - 1));
}
