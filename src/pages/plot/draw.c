/* draw.c: what a picture shows and what it says, put together. */
#include "forms.h"

#include "data.h"
#include "words.h"

#include <math.h>
#include <string.h>

enum { MOST_CATEGORIES = 512 }; /* rows; further ones have no place */

static rs_plot_head head_of(const rs_plot_caption *caption) {
  return (rs_plot_head){.title = rs_text_string(&caption->title),
                        .definition = rs_text_string(&caption->definition),
                        .subtitle = rs_text_string(&caption->subtitle),
                        .description = rs_text_string(&caption->description)};
}

/* One more than the largest x. */
static size_t count_categories(const rs_plot_set *set) {
  double largest = -1;
  for (size_t s = 0; s < set->count; s++) {
    if (set->series[s].count > 0) largest = fmax(largest, set->series[s].points[set->series[s].count - 1].x);
  }
  return (size_t)fmin(largest + 1, MOST_CATEGORIES);
}

/* What a guess that reads nothing comes to: column chance_accuracy of column accuracy, where that is one number. */
static rs_status find_chance(const rs_plot_measure *measure, const rs_plot_choice *choice, rs_arena *memory,
                             double *chance, rs_err *err) {
  static const char prefix[] = "chance_";
  const rs_plot_file *file = measure->file;
  const rs_plot_column *column = NULL;
  double *values;
  *chance = NAN;
  for (size_t i = 0; i < file->count; i++) {
    const char *name = file->columns[i].name;
    bool named = strncmp(name, prefix, strlen(prefix)) == 0;
    if (named && strcmp(name + strlen(prefix), measure->column->name) == 0) column = &file->columns[i];
  }
  if (column == NULL) return RS_OK;
  RS_TRY(rs_plot_numbers(file, column, memory, &values, err));
  bool one = true;
  for (size_t i = 0; i < file->cell_count; i++) {
    double value = values[file->cells[i].begin];
    if (!rs_plot_chosen(&file->cells[i], choice) || isnan(value)) continue;
    one = one && (isnan(*chance) || value == *chance);
    *chance = value;
  }
  if (!one) *chance = NAN;
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
  double chance;
  RS_TRY(find_chance(measure, choice, memory, &chance, err));
  for (size_t s = 0; s < set->count; s++)
    set->series[s].style = (sweep != NULL ? sweep->styles : styles)[set->series[s].method];
  if (measure->category)
    RS_TRY(rs_plot_categories_read(measure->data, x->name, count_categories(set), memory, &categories, err));
  if (x == NULL && sweep == NULL) RS_TRY(rs_plot_grids_read(measure->data, memory, &grids, err));
  rs_plot_chart chart = {.head = head_of(caption),
                         .x_name = grids.count > 0 ? grids.name : rs_text_string(&caption->x_name),
                         .x_unit = x != NULL         ? x->unit
                                   : sweep != NULL   ? sweep->parameter->unit
                                   : grids.count > 0 ? grids.unit
                                                     : "tokens",
                         .y_name = rs_text_string(&caption->name),
                         .y_unit = measure->density ? "1/token" : measure->column->unit,
                         .x_log = x != NULL ? x->log : sweep == NULL || sweep->log,
                         .y_log = measure->column->log || measure->density,
                         .categories = categories.names,
                         .category_count = categories.count,
                         .marks = grids.marks,
                         .mark_count = grids.count,
                         .level = chance,
                         .level_name = isnan(chance) ? NULL : "chance",
                         .series = set->series,
                         .count = set->count};
  bool dots = content->form == RS_PLOT_DOTS;
  if (numbers != NULL) rs_plot_chart_numbers(&chart, dots, numbers);
  if (picture == NULL) return RS_OK;
  return dots ? rs_plot_dots_draw(&chart, picture, err) : rs_plot_chart_draw(&chart, picture, err);
}

static rs_status draw_map(const rs_plot_measure *measure, const rs_plot_item *item, const rs_plot_content *content,
                          const rs_plot_caption *caption, rs_plot_picture *picture, rs_json *numbers, rs_err *err) {
  rs_plot_heat heat = {.head = head_of(caption),
                       .x_name = rs_text_string(&caption->x_name),
                       .y_name = rs_text_string(&caption->y_name),
                       .panel_name = rs_text_string(&caption->panel_name),
                       .name = rs_text_string(&caption->name),
                       .unit = measure->column->unit,
                       .log = measure->column->log,
                       .x_tokens =
                           measure->over_lengths || (item->choice.family != NULL && content->form == RS_PLOT_HEAT),
                       .methods = (const char *const *)measure->data->methods.items,
                       .map = &content->map};
  if (numbers != NULL) rs_plot_heat_numbers(&heat, content->form == RS_PLOT_STRIPS, numbers);
  if (picture == NULL) return RS_OK;
  return content->form == RS_PLOT_STRIPS ? rs_plot_strip_draw(&heat, picture, err)
                                         : rs_plot_heat_draw(&heat, picture, err);
}

rs_status rs_plot_draw(rs_plot_measure *measure, const rs_plot_item *item, const rs_plot_style *styles,
                       rs_plot_picture *picture, rs_json *numbers, rs_err *err) {
  rs_plot_content content = {0};
  rs_plot_caption caption = {0};
  rs_status status = rs_plot_content_read(measure, &item->choice, &content, err);
  if (status == RS_OK) rs_plot_caption_write(measure, &item->choice, &content, &caption);
  if (status == RS_OK) status = rs_plot_caption_check(&caption, err);
  bool map = content.form == RS_PLOT_HEAT || content.form == RS_PLOT_STRIPS;
  if (status == RS_OK)
    status = map ? draw_map(measure, item, &content, &caption, picture, numbers, err)
                 : draw_series(measure, &item->choice, &content, styles, &caption, picture, numbers, err);
  rs_plot_caption_clear(&caption);
  rs_plot_content_clear(&content);
  return status;
}
