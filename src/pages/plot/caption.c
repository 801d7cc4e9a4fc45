/* caption.c: the words that go with a chart, from the names of its columns and cells. */
#include "words.h"

#include "choice.h"
#include "paper.h"

#include <ctype.h>
#include <string.h>

static void add_piece(rs_text *text, const char *piece) {
  if (*piece == '\0') return;
  if (text->length > 0) rs_text_puts(text, " \u00b7 ");
  rs_text_puts(text, piece);
}

/* "needle: a copy of the query, depth 0.5 · length 131072 tokens" */
static void write_place(const rs_plot_measure *measure, const rs_plot_choice *choice, rs_text *out) {
  const rs_plot_column *panel = rs_plot_part_of(measure->file, RS_PLOT_MAP_PANEL);
  rs_text model = {0}, task = {0};
  rs_plot_model_caption(measure->data, choice->model, &model);
  rs_plot_task_caption(measure, &task);
  add_piece(out, measure->data->name);
  add_piece(out, rs_text_string(&model));
  add_piece(out, rs_text_string(&task));
  add_piece(out, rs_plot_source_name(measure, choice));
  rs_plot_source_caption(measure, choice, out);
  if (choice->length > 0) {
    add_piece(out, "length ");
    rs_text_number(out, choice->length);
    rs_text_puts(out, " tokens");
  }
  if (choice->in_panel) {
    rs_text_puts(out, " \u00b7 ");
    rs_plot_words(panel->name, panel->unit, out);
    rs_text_puts(out, " ");
    rs_text_number(out, choice->panel);
  }
  add_piece(out, measure->data->incomplete);
  out->failed = out->failed || model.failed || task.failed;
  rs_text_clear(&model);
  rs_text_clear(&task);
}

/* "mean, min–max of 4 seeds" */
static void write_means(const rs_plot_measure *measure, const rs_plot_set *set, rs_text *out) {
  const rs_plot_column *folded = rs_plot_column_of(measure->file, RS_PLOT_INDEX, 1);
  const char *link = "";
  add_piece(out, "mean, min\u2013max of ");
  if (set->seeds > 1) rs_text_printf(out, "%zu seeds", set->seeds), link = " and ";
  if (set->heads > 1) rs_text_printf(out, "%s%zu heads", link, set->heads), link = " and ";
  if (set->folded && folded != NULL) {
    rs_text_puts(out, link);
    rs_plot_words(folded->name, folded->unit, out);
  } else if (*link == '\0') {
    rs_text_puts(out, "cells of equal keys");
  }
}

static void write_set_subtitle(const rs_plot_measure *measure, const rs_plot_choice *choice, const rs_plot_set *set,
                               rs_text *out) {
  write_place(measure, choice, out);
  if (set->band == RS_PLOT_STANDARD_ERROR) add_piece(out, "\u00b1 1 standard error");
  if (set->band == RS_PLOT_MIN_MAX) write_means(measure, set, out);
  if (set->band == RS_PLOT_ENVELOPE) add_piece(out, "shade: least and largest of each bin");
  if (set->events) add_piece(out, rs_plot_events_words(measure));
  if (measure->density) add_piece(out, "divided by the width of each bin");
  if (set->few) rs_text_printf(out, " \u00b7 not joined: fewer than %d samples, n", RS_PLOT_SAMPLES_LEAST);
}

/* " against distance", " by pair": what the value is drawn over; a picture over two numbers names them at its axes. */
static void write_over(const rs_plot_measure *measure, rs_plot_form form, rs_text *out) {
  const rs_plot_column *x = rs_plot_x_of(measure->file);
  if (x == NULL || form == RS_PLOT_HEAT) return;
  if (form == RS_PLOT_DOTS && !measure->category) return;
  rs_text_puts(out, *rs_plot_unit(x->unit) == '\0' ? " by " : " against ");
  rs_plot_phrase(x->name, x->unit, out);
}

/* "entropy_nats" is "Entropy"; column "weight" of needle.csv is "Needle: weight against distance"; "similarity" of
 * position_similarity.csv, a map, is "Position similarity". */
static void write_title(const rs_plot_measure *measure, rs_plot_form form, rs_text *out) {
  rs_text stem = {0}, words = {0};
  rs_plot_phrase(measure->column->name, measure->column->unit, &words);
  if (measure->x != NULL) {
    rs_text_add(&stem, measure->file->name, strcspn(measure->file->name, "."));
    rs_plot_phrase(rs_text_string(&stem), "", out);
  }
  const char *said = rs_text_string(out), *more = rs_text_string(&words);
  if (out->length < words.length || strcmp(said + out->length - words.length, more) != 0)
    rs_text_printf(out, "%s%s", out->length > 0 ? ": " : "", more);
  if (measure->density) rs_text_puts(out, " per token");
  write_over(measure, form, out);
  if (out->length > 0) out->data[0] = (char)toupper((unsigned char)out->data[0]);
  out->failed = out->failed || stem.failed || words.failed;
  rs_text_clear(&stem);
  rs_text_clear(&words);
}

static void add_slug(rs_text *out, const char *part) {
  if (*part == '\0') return;
  if (out->length > 0) rs_text_puts(out, "--");
  rs_plot_slug(part, out);
}

void rs_plot_caption_slug(const rs_plot_measure *measure, const rs_plot_choice *choice, rs_text *out) {
  rs_text stem = {0};
  rs_text_add(&stem, measure->file->name, strcspn(measure->file->name, "."));
  if (measure->x != NULL) add_slug(out, rs_text_string(&stem));
  add_slug(out, measure->column->name);
  if (measure->data->models.count > 1) add_slug(out, measure->data->models.items[choice->model]);
  add_slug(out, rs_plot_source_name(measure, choice));
  if (choice->family != NULL) add_slug(out, choice->family->parameter->name);
  if (choice->sweep != NULL) add_slug(out, rs_plot_sweep_words(choice->sweep));
  if (choice->length > 0) {
    rs_text_puts(out, "--");
    rs_plot_tokens(choice->length, out);
  }
  if (choice->in_panel) {
    add_slug(out, rs_plot_part_of(measure->file, RS_PLOT_MAP_PANEL)->name);
    rs_text_puts(out, "=");
    rs_text_number(out, choice->panel);
  }
  out->failed = out->failed || stem.failed;
  rs_text_clear(&stem);
}

/* "gaussian · length 197 tokens · dot: reference token · 6 of 16 dt · means of up to 4 rows · no data: nope" */
static void write_map_subtitle(const rs_plot_measure *measure, const rs_plot_choice *choice, const rs_plot_map *map,
                               const char *panel, rs_text *out) {
  bool marked = false;
  for (size_t i = 0; i < map->panel.count; i++) marked |= map->marks[i] != SIZE_MAX;
  write_place(measure, choice, out);
  if (marked) add_piece(out, "dot: ");
  if (marked) rs_text_puts(out, panel);
  if (map->panels == 1 && *panel != '\0' && !marked) {
    add_piece(out, panel);
    rs_text_puts(out, " ");
    rs_text_number(out, map->panel.items[0]);
  }
  if (map->panels > map->panel.count)
    rs_text_printf(out, " \u00b7 %zu of %zu %s", map->panel.count, map->panels, panel);
  bool single = choice->family != NULL || measure->over_lengths; /* a place has one row of each seed */
  bool seeds = single && map->folded == measure->data->seeds.count;
  if (map->folded > 1 && seeds) rs_text_printf(out, " \u00b7 mean of %zu seeds", map->folded);
  if (map->folded > 1 && !seeds) rs_text_printf(out, " \u00b7 means of up to %zu rows", map->folded);
  for (size_t i = 0; i < map->absent; i++)
    rs_text_printf(out, "%s%s", i == 0 ? " \u00b7 no data: " : ", ",
                   measure->data->methods.items[map->methods[map->count + i]]);
  if (choice->family != NULL && *choice->family->parameter->summary != '\0')
    rs_text_printf(out, " \u00b7 %s: %s", choice->family->parameter->name, choice->family->parameter->summary);
}

static void name_part(const rs_plot_measure *measure, rs_plot_part part, rs_text *out) {
  const rs_plot_column *column = rs_plot_part_of(measure->file, part);
  if (column != NULL) rs_plot_words(column->name, "", out);
}

/* "depth", "distance (tokens)" */
static void name_parameter(const rs_plot_column *column, rs_text *out) {
  rs_plot_words(column->name, column->unit, out);
  if (*rs_plot_unit(column->unit) != '\0') rs_text_printf(out, " (%s)", column->unit);
}

static void write_set(const rs_plot_measure *measure, const rs_plot_choice *choice, const rs_plot_set *set,
                      rs_plot_caption *c) {
  const rs_plot_column *x = rs_plot_x_of(measure->file);
  write_set_subtitle(measure, choice, set, &c->subtitle);
  if (choice->sweep != NULL)
    rs_plot_words(rs_plot_sweep_words(choice->sweep), choice->sweep->parameter->unit, &c->x_name);
  else if (x != NULL)
    rs_plot_phrase(x->name, x->unit, &c->x_name);
  else
    rs_text_puts(&c->x_name, "length");
}

static const char over_lengths[] = "length (tokens, 1k = 1024)";

static void write_map(const rs_plot_measure *measure, const rs_plot_choice *choice, const rs_plot_content *content,
                      rs_plot_caption *c) {
  bool strips = content->form == RS_PLOT_STRIPS;
  name_part(measure, RS_PLOT_MAP_PANEL, &c->panel_name);
  if (measure->over_lengths) {
    rs_text_puts(&c->x_name, over_lengths);
    name_part(measure, RS_PLOT_MAP_Y, &c->y_name);
  } else if (choice->family != NULL) {
    if (!strips) rs_text_puts(&c->x_name, over_lengths);
    name_parameter(choice->family->parameter, strips ? &c->x_name : &c->y_name);
  } else if (strips) {
    name_parameter(rs_plot_x_of(measure->file), &c->x_name);
  } else {
    name_part(measure, RS_PLOT_MAP_X, &c->x_name);
    name_part(measure, RS_PLOT_MAP_Y, &c->y_name);
  }
  write_map_subtitle(measure, choice, &content->map, rs_text_string(&c->panel_name), &c->subtitle);
}

void rs_plot_caption_write(const rs_plot_measure *measure, const rs_plot_choice *choice, const rs_plot_content *content,
                           rs_plot_caption *c) {
  bool map = content->form == RS_PLOT_HEAT || content->form == RS_PLOT_STRIPS;
  write_title(measure, content->form, &c->title);
  rs_plot_symbols(measure->column->summary, &c->definition);
  rs_text_printf(&c->description, "%s, column %s. %s", measure->file->name, measure->column->name,
                 measure->column->summary);
  rs_plot_phrase(measure->column->name, measure->column->unit, &c->name);
  if (measure->density) rs_text_puts(&c->name, " per token");
  if (map)
    write_map(measure, choice, content, c);
  else
    write_set(measure, choice, &content->set, c);
}

rs_status rs_plot_caption_check(const rs_plot_caption *c, rs_err *err) {
  bool failed = c->title.failed || c->subtitle.failed || c->description.failed || c->definition.failed ||
                c->x_name.failed || c->y_name.failed || c->panel_name.failed || c->name.failed;
  return failed ? rs_fail(err, RS_MEMORY, "out of memory for a chart's texts") : RS_OK;
}

void rs_plot_caption_clear(rs_plot_caption *c) {
  rs_text_clear(&c->title);
  rs_text_clear(&c->subtitle);
  rs_text_clear(&c->description);
  rs_text_clear(&c->definition);
  rs_text_clear(&c->x_name);
  rs_text_clear(&c->y_name);
  rs_text_clear(&c->panel_name);
  rs_text_clear(&c->name);
}
