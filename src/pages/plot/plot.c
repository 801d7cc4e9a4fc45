/* plot.c: all pictures of a folder. Its files are read and checked, the pictures listed and chosen, and only then
 * drawn: as views for pages, or into files (files.c). */
#include "forms.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* A number that is none must show before there is a picture, not between two. */
static rs_status check_numbers(const rs_plot_file *file, rs_err *err) {
  rs_status status = RS_OK;
  for (size_t i = 0; i < file->count && status == RS_OK; i++) {
    rs_arena memory = {0};
    double *numbers;
    rs_plot_role role = file->columns[i].role;
    if (role != RS_PLOT_KEY && role != RS_PLOT_STATUS)
      status = rs_plot_numbers(file, &file->columns[i], &memory, &numbers, err);
    rs_arena_clear(&memory);
  }
  return status;
}

/* Appends the lengths of the file's cells, each once, as far as a message holds them. */
static void list_lengths(const rs_plot_file *file, rs_text *out) {
  enum { MOST = 300 };
  for (size_t i = 0; i < file->cell_count && out->length < MOST; i++) {
    bool seen = false;
    for (size_t k = 0; k < i && !seen; k++) seen = file->cells[k].length == file->cells[i].length;
    if (seen) continue;
    if (out->length > 0) rs_text_puts(out, ", ");
    rs_text_number(out, file->cells[i].length);
  }
}

/* A length that no curve has is a slip of the user's. */
static rs_status check_length(const rs_plotter *p) {
  rs_text lengths = {0};
  bool curves = false, found = p->options.length == 0;
  for (size_t i = 0; i < p->data.count && !found; i++) {
    const rs_plot_file *file = &p->data.files[i];
    if (file->table == NULL || rs_plot_column_of(file, RS_PLOT_INDEX, 0) == NULL) continue;
    for (size_t k = 0; k < file->cell_count && !found; k++) found = file->cells[k].length == (double)p->options.length;
    if (!curves) list_lengths(file, &lengths);
    curves = true;
  }
  rs_status status = RS_OK;
  if (curves && !found)
    status = rs_fail_on(p->err, RS_INPUT, "length", "there is no curve at %zu tokens (there are at %s)",
                        p->options.length, rs_text_string(&lengths));
  rs_text_clear(&lengths);
  return status;
}

rs_status rs_plotter_read(rs_plotter *p, double length) {
  rs_plot_data *data = &p->data;
  RS_TRY(rs_plot_manifest_read(p->directory, data, p->err));
  for (size_t i = 0; i < data->count; i++) {
    if (!rs_plot_file_drawn(&data->files[i])) continue;
    RS_TRY(rs_plot_cells_read(data, &data->files[i], p->report, p->err));
    RS_TRY(check_numbers(&data->files[i], p->err));
  }
  RS_TRY(rs_plot_methods_sort(data, p->err));
  p->styles = rs_arena_take(&data->memory, data->methods.count, sizeof *p->styles);
  RS_TRY(rs_arena_check(&data->memory, p->err));
  rs_plot_methods_style(&data->methods, p->styles);
  RS_TRY(check_length(p));
  return rs_plot_list_read(data, length, &p->list, p->report, p->err);
}

rs_status rs_plotter_draw(rs_plotter *p, const rs_plot_item *item, rs_json *numbers) {
  rs_plot_picture_clear(&p->picture);
  RS_TRY(rs_plot_measure_read(&p->data, item->file, item->column, &p->measure, p->err));
  RS_TRY(rs_plot_draw(&p->measure, item, p->styles, numbers == NULL ? &p->picture : NULL, numbers, p->err));
  if (numbers == NULL) rs_plot_svg_write(&p->picture, &p->text);
  return rs_text_check(&p->text, p->err);
}

rs_status rs_plotter_finish(rs_plotter *p, rs_status status) {
  rs_plot_measure_clear(&p->measure);
  rs_plot_picture_clear(&p->picture);
  rs_text_clear(&p->text);
  rs_text_clear(&p->bytes);
  rs_plot_list_clear(&p->list);
  rs_plot_data_clear(&p->data);
  free(p->folder);
  free(p->path);
  return status;
}

/* ---- views ------------------------------------------------------------------------------------------------------- */

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

static rs_status make_view(rs_plotter *p, size_t index, bool still, rs_plot_views *views) {
  const rs_plot_item *item = &p->list.items[index];
  rs_json json = {.text = &p->text};
  rs_text_clear(&p->text);
  if (!still) rs_json_object(&json, NULL);
  if (!still) write_item(&p->list, index, &json);
  RS_TRY(rs_plotter_draw(p, item, still ? NULL : &json));
  if (!still) rs_json_end(&json);
  RS_TRY(RS_GROW(views->items, &views->capacity, views->count + 1, p->err));
  rs_plot_view *view = &views->items[views->count++];
  *view = (rs_plot_view){.name = rs_arena_text(&views->memory, item->name)};
  *(still ? &view->svg : &view->numbers) = rs_arena_text(&views->memory, rs_text_string(&p->text));
  views->memory.failed |= p->text.failed;
  return rs_arena_check(&views->memory, p->err);
}

static rs_status make_views(rs_plotter *p, bool still, rs_plot_views *views) {
  RS_TRY(rs_plotter_read(p, still ? 0 : RS_PLOT_EVERY_LENGTH));
  for (size_t i = 0; i < p->list.count; i++)
    if (says_something(&p->list, i)) RS_TRY(make_view(p, i, still, views));
  return RS_OK;
}

rs_status rs_plot_views_read(const char *directory, bool still, rs_plot_views *views, rs_plot_report *report,
                             rs_err *err) {
  rs_plotter p = {.directory = directory, .report = report, .err = err};
  return rs_plotter_finish(&p, make_views(&p, still, views));
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
