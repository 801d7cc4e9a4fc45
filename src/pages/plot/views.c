/* views.c: pictures for pages: each as SVG, or as what it shows. */
#include "data.h"
#include "forms.h"
#include "paper.h"
#include "words.h"

#include <math.h>
#include <stdlib.h>

typedef struct viewer {
  rs_plot_data data;
  rs_plot_list list;
  rs_plot_style *styles; /* of the data's methods. Owned. */
  bool still;
  rs_plot_measure measure;
  rs_plot_picture picture;
  rs_text text; /* of one view */
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

static rs_status add_view(viewer *v, size_t index) {
  rs_plot_views *views = v->views;
  RS_TRY(rs_text_check(&v->text, v->err));
  RS_TRY(RS_GROW(views->items, &views->capacity, views->count + 1, v->err));
  rs_plot_view *view = &views->items[views->count++];
  *view = (rs_plot_view){.name = rs_arena_text(&views->memory, v->list.items[index].name)};
  *(v->still ? &view->svg : &view->numbers) = rs_arena_text(&views->memory, rs_text_string(&v->text));
  return rs_arena_check(&views->memory, v->err);
}

static rs_status make_view(viewer *v, size_t index) {
  const rs_plot_item *item = &v->list.items[index];
  rs_json json = {.text = &v->text};
  rs_plot_picture_clear(&v->picture);
  rs_text_clear(&v->text);
  RS_TRY(rs_plot_measure_read(&v->data, item->file, item->column, &v->measure, v->err));
  if (v->still) {
    RS_TRY(rs_plot_draw(&v->measure, item, v->styles, &v->picture, NULL, v->err));
    rs_plot_svg_write(&v->picture, &v->text);
  } else {
    rs_json_object(&json, NULL);
    write_item(&v->list, index, &json);
    RS_TRY(rs_plot_draw(&v->measure, item, v->styles, NULL, &json, v->err));
    rs_json_end(&json);
  }
  return add_view(v, index);
}

static rs_status make_views(viewer *v, const char *directory, rs_plot_report *report) {
  RS_TRY(rs_plot_folder_read(directory, &v->data, &v->styles, report, v->err));
  RS_TRY(rs_plot_list_read(&v->data, v->still ? 0 : RS_PLOT_EVERY_LENGTH, &v->list, report, v->err));
  for (size_t i = 0; i < v->list.count; i++)
    if (says_something(&v->list, i)) RS_TRY(make_view(v, i));
  return RS_OK;
}

rs_status rs_plot_views_read(const char *directory, bool still, rs_plot_views *views, rs_plot_report *report,
                             rs_err *err) {
  viewer v = {.still = still, .views = views, .err = err};
  rs_status status = make_views(&v, directory, report);
  rs_plot_measure_clear(&v.measure);
  rs_plot_picture_clear(&v.picture);
  rs_text_clear(&v.text);
  rs_plot_list_clear(&v.list);
  rs_plot_data_clear(&v.data);
  free(v.styles);
  return status;
}

void rs_plot_views_clear(rs_plot_views *views) {
  rs_arena_clear(&views->memory);
  free(views->items);
  *views = (rs_plot_views){0};
}

void rs_plot_map_colours(uint32_t colours[RS_PLOT_MAP_LEVELS]) {
  for (size_t i = 0; i < RS_PLOT_MAP_LEVELS; i++)
    colours[i] = rs_plot_level_colour(i * (RS_PLOT_LEVELS - 1) / (RS_PLOT_MAP_LEVELS - 1));
}
