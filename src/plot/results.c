/* results.c: all charts of a folder. Everything is read and checked before the first picture is written. */
#include "plot_internal.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct plotter {
  rs_plot_data data;
  char *folder; /* DIRECTORY/plots. Owned. */
  bool made;    /* it exists */
  rs_plot_options options;
  char *gnuplot; /* its path; NULL: no PNG. Owned. */
  rs_plot_names slugs;
  rs_plot_report *report;
  rs_err *err;
} plotter;

/* ---- report ------------------------------------------------------------------------------------------------------ */

static rs_status add_line(char ***lines, size_t *count, size_t *capacity, const char *text, rs_err *err) {
  void *grown = *lines;
  RS_TRY(rs_grow(&grown, capacity, *count + 1, sizeof **lines, err));
  *lines = grown;
  (*lines)[*count] = rs_strdup(text, err);
  if ((*lines)[*count] == NULL) return RS_MEMORY;
  ++*count;
  return RS_OK;
}

rs_status rs_plot_note(rs_plot_report *report, rs_err *err, const char *format, ...) {
  char note[1024];
  va_list words;
  va_start(words, format);
  vsnprintf(note, sizeof note, format, words);
  va_end(words);
  return add_line(&report->notes, &report->note_count, &report->note_capacity, note, err);
}

void rs_plot_report_clear(rs_plot_report *report) {
  for (size_t i = 0; i < report->count; i++) free(report->files[i]);
  for (size_t i = 0; i < report->note_count; i++) free(report->notes[i]);
  free(report->files);
  free(report->notes);
  *report = (rs_plot_report){0};
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static rs_status write_file(plotter *p, const char *path, const char *data, size_t length) {
  if (!p->made) RS_TRY(rs_make_directories(p->folder, p->err));
  p->made = true;
  RS_TRY(rs_file_write(path, data, length, p->err));
  return add_line(&p->report->files, &p->report->count, &p->report->capacity, path, p->err);
}

/* folder/slug.ending. Owned by the caller. */
static char *path_of(const plotter *p, const char *slug, const char *ending) {
  rs_text name = {0};
  rs_text_printf(&name, "%s.%s", slug, ending);
  char *path = rs_text_check(&name, p->err) == RS_OK ? rs_path_join(p->folder, name.data, p->err) : NULL;
  rs_text_clear(&name);
  return path;
}

static rs_status write_svg(plotter *p, const rs_plot_picture *picture, const char *slug) {
  rs_text svg = {0};
  char *path = path_of(p, slug, "svg");
  rs_plot_svg_write(picture, &svg);
  rs_status status = path != NULL ? rs_text_check(&svg, p->err) : RS_MEMORY;
  if (status == RS_OK) status = write_file(p, path, svg.data, svg.length);
  rs_text_clear(&svg);
  free(path);
  return status;
}

static rs_status write_png(plotter *p, const rs_plot_picture *picture, const char *slug) {
  rs_text script = {0};
  char *path = path_of(p, slug, "png"), *png = NULL;
  size_t length = 0;
  rs_plot_gnuplot_write(picture, &script);
  rs_status status = path != NULL ? rs_text_check(&script, p->err) : RS_MEMORY;
  if (status == RS_OK) status = rs_plot_gnuplot_run(p->gnuplot, &script, path, &png, &length, p->err);
  if (status == RS_OK) status = write_file(p, path, png, length);
  rs_text_clear(&script);
  free(path);
  free(png);
  return status;
}

static rs_status write_picture(plotter *p, const rs_plot_picture *picture, const char *slug) {
  RS_TRY(write_svg(p, picture, slug));
  return p->gnuplot != NULL ? write_png(p, picture, slug) : RS_OK;
}

/* ---- one chart --------------------------------------------------------------------------------------------------- */

/* What a chart is of, and the words that go with it. Texts are owned. */
typedef struct caption {
  rs_text title, subtitle, description, slug, x_name, y_name;
  const char *x_unit;
} caption;

static const char *model_name(const rs_plot_measure *measure, const rs_plot_choice *choice) {
  return measure->data->models.items[choice->model];
}

static const char *source_name(const rs_plot_measure *measure, const rs_plot_choice *choice) {
  return choice->source == RS_PLOT_ANY ? "" : measure->data->sources.items[choice->source];
}

static void add_piece(rs_text *text, const char *piece) {
  if (*piece == '\0') return;
  if (text->length > 0) rs_text_puts(text, " \u00b7 ");
  rs_text_puts(text, piece);
}

/* "gaussian · length 131072 tokens · mean, min–max of 4 seeds" */
static void write_subtitle(const rs_plot_measure *measure, const rs_plot_choice *choice, const rs_plot_set *set,
                           rs_text *out) {
  const rs_plot_column *folded = rs_plot_column_of(measure->file, RS_PLOT_INDEX, 1);
  add_piece(out, measure->data->name);
  add_piece(out, model_name(measure, choice));
  add_piece(out, source_name(measure, choice));
  if (choice->length > 0) {
    add_piece(out, "length ");
    rs_text_number(out, choice->length);
    rs_text_puts(out, " tokens");
  }
  if (set->band == RS_PLOT_STANDARD_ERROR) add_piece(out, "\u00b1 1 standard error");
  if (set->band != RS_PLOT_MIN_MAX) return;
  add_piece(out, "mean, min\u2013max of ");
  const char *link = "";
  if (set->seeds > 1) rs_text_printf(out, "%zu seeds", set->seeds), link = " and ";
  if (set->heads > 1) rs_text_printf(out, "%s%zu heads", link, set->heads), link = " and ";
  if (set->folded && folded != NULL) {
    rs_text_puts(out, link);
    rs_plot_words(folded->name, folded->unit, out);
  } else if (*link == '\0') {
    rs_text_puts(out, "cells of equal keys");
  }
}

/* "entropy_nats" is "Entropy"; column "weight" of needle.csv is "Needle: weight". */
static void write_title(const rs_plot_measure *measure, rs_text *out) {
  if (measure->x != NULL) {
    rs_text stem = {0};
    rs_text_add(&stem, measure->file->name, strcspn(measure->file->name, "."));
    rs_plot_words(rs_text_string(&stem), "", out);
    rs_text_puts(out, ": ");
    out->failed = out->failed || stem.failed;
    rs_text_clear(&stem);
  }
  rs_plot_words(measure->column->name, measure->column->unit, out);
  if (out->length > 0) out->data[0] = (char)toupper((unsigned char)out->data[0]);
}

static void add_slug(rs_text *out, const char *part) {
  if (*part == '\0') return;
  if (out->length > 0) rs_text_puts(out, "--");
  rs_plot_slug(part, out);
}

/* "entropy_nats--gaussian", "decay--mean_cosine--llama-3-8b--gaussian--128k" */
static void write_slug(const rs_plot_measure *measure, const rs_plot_choice *choice, rs_text *out) {
  rs_text stem = {0};
  rs_text_add(&stem, measure->file->name, strcspn(measure->file->name, "."));
  if (measure->x != NULL) add_slug(out, rs_text_string(&stem));
  add_slug(out, measure->column->name);
  if (measure->data->models.count > 1) add_slug(out, model_name(measure, choice));
  add_slug(out, source_name(measure, choice));
  if (choice->length > 0) {
    rs_text_puts(out, "--");
    rs_plot_tokens(choice->length, out);
  }
  out->failed = out->failed || stem.failed;
  rs_text_clear(&stem);
}

/* Appends "-2", "-3", ... until no other picture has the name. */
static rs_status make_unique(plotter *p, rs_text *slug) {
  size_t length = slug->length;
  for (size_t tail = 2;; tail++) {
    size_t before = p->slugs.count, index;
    RS_TRY(rs_text_check(slug, p->err));
    RS_TRY(rs_plot_names_add(&p->slugs, rs_text_string(slug), &index, p->err));
    if (index == before) return RS_OK;
    slug->length = length;
    rs_text_printf(slug, "-%zu", tail);
  }
}

static void caption_write(const rs_plot_measure *measure, const rs_plot_choice *choice, const rs_plot_set *set,
                          caption *c) {
  const rs_plot_column *x = rs_plot_column_of(measure->file, RS_PLOT_INDEX, 0);
  write_title(measure, &c->title);
  write_subtitle(measure, choice, set, &c->subtitle);
  rs_text_printf(&c->description, "%s, column %s. %s", measure->file->name, measure->column->name,
                 measure->column->summary);
  write_slug(measure, choice, &c->slug);
  rs_plot_words(measure->column->name, measure->column->unit, &c->y_name);
  c->x_unit = x != NULL ? x->unit : "tokens";
  if (x != NULL)
    rs_plot_words(x->name, x->unit, &c->x_name);
  else
    rs_text_puts(&c->x_name, "length");
}

static rs_status caption_check(const caption *c, rs_err *err) {
  bool failed = c->title.failed || c->subtitle.failed || c->description.failed || c->slug.failed || c->x_name.failed ||
                c->y_name.failed;
  return failed ? rs_fail(err, RS_MEMORY, "out of memory for a chart's texts") : RS_OK;
}

static void caption_clear(caption *c) {
  rs_text_clear(&c->title);
  rs_text_clear(&c->subtitle);
  rs_text_clear(&c->description);
  rs_text_clear(&c->slug);
  rs_text_clear(&c->x_name);
  rs_text_clear(&c->y_name);
}

static rs_status draw_set(plotter *p, const rs_plot_measure *measure, const rs_plot_choice *choice,
                          const rs_plot_set *set) {
  const rs_plot_column *x = rs_plot_column_of(measure->file, RS_PLOT_INDEX, 0);
  rs_plot_picture picture = {0};
  caption c = {0};
  caption_write(measure, choice, set, &c);
  rs_plot_chart chart = {.title = rs_text_string(&c.title),
                         .definition = measure->column->summary,
                         .subtitle = rs_text_string(&c.subtitle),
                         .description = rs_text_string(&c.description),
                         .x_name = rs_text_string(&c.x_name),
                         .x_unit = c.x_unit,
                         .y_name = rs_text_string(&c.y_name),
                         .y_unit = measure->column->unit,
                         .x_log = x == NULL || x->log,
                         .y_log = measure->column->log,
                         .series = set->series,
                         .count = set->count};
  rs_status status = caption_check(&c, p->err);
  if (status == RS_OK) status = make_unique(p, &c.slug);
  if (status == RS_OK) status = rs_plot_chart_draw(&chart, &picture, p->err);
  if (status == RS_OK) status = write_picture(p, &picture, rs_text_string(&c.slug));
  rs_plot_picture_clear(&picture);
  caption_clear(&c);
  return status;
}

static rs_status draw_choice(plotter *p, const rs_plot_measure *measure, rs_plot_choice choice) {
  if (measure->x != NULL) {
    choice.length = p->options.length > 0 ? (double)p->options.length : rs_plot_longest(measure, &choice);
    if (!(choice.length > 0)) return RS_OK; /* this model or source has none of it */
  }
  rs_plot_set set = {0};
  rs_status status = rs_plot_set_read(measure, &choice, &set, p->err);
  if (status == RS_OK && set.any) status = draw_set(p, measure, &choice, &set);
  rs_plot_set_clear(&set);
  return status;
}

/* ---- all charts -------------------------------------------------------------------------------------------------- */

static rs_status draw_measure(plotter *p, const rs_plot_measure *measure) {
  if (!measure->any) return RS_OK;
  size_t sources = measure->per_source ? p->data.sources.count : 1;
  for (size_t model = 0; model < p->data.models.count; model++) {
    for (size_t source = 0; source < sources; source++)
      RS_TRY(draw_choice(p, measure, (rs_plot_choice){model, measure->per_source ? source : RS_PLOT_ANY, 0}));
  }
  return RS_OK;
}

static rs_status draw_file(plotter *p, const rs_plot_file *file) {
  rs_status status = RS_OK;
  size_t before = p->report->count;
  for (size_t i = 0; i < file->count && status == RS_OK; i++) {
    if (file->columns[i].role != RS_PLOT_VALUE) continue;
    rs_plot_measure measure = {0};
    status = rs_plot_measure_read(&p->data, file, &file->columns[i], &measure, p->err);
    if (status == RS_OK) status = draw_measure(p, &measure);
    rs_plot_measure_clear(&measure);
  }
  if (status != RS_OK || p->report->count > before) return status;
  return rs_plot_note(p->report, p->err, "%s: no value to draw", file->path);
}

/* A number that is none must show before there is a picture, not between two. */
static rs_status check_numbers(const rs_plot_file *file, rs_err *err) {
  rs_status status = RS_OK;
  for (size_t i = 0; i < file->count && status == RS_OK; i++) {
    double *numbers = NULL;
    rs_plot_role role = file->columns[i].role;
    if (role != RS_PLOT_KEY && role != RS_PLOT_STATUS) status = rs_plot_numbers(file, &file->columns[i], &numbers, err);
    free(numbers);
  }
  return status;
}

static rs_status read_files(plotter *p) {
  for (size_t i = 0; i < p->data.count; i++) {
    if (!rs_plot_file_drawn(&p->data.files[i])) continue;
    RS_TRY(rs_plot_cells_read(&p->data, &p->data.files[i], p->report, p->err));
    RS_TRY(check_numbers(&p->data.files[i], p->err));
  }
  return RS_OK;
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
static rs_status check_length(plotter *p) {
  rs_text lengths = {0};
  bool curves = false;
  if (p->options.length == 0) return RS_OK;
  for (size_t i = 0; i < p->data.count; i++) {
    const rs_plot_file *file = &p->data.files[i];
    if (file->table == NULL || rs_plot_column_of(file, RS_PLOT_INDEX, 0) == NULL) continue;
    for (size_t k = 0; k < file->cell_count; k++) {
      if (file->cells[k].length == (double)p->options.length) return RS_OK;
    }
    if (!curves) list_lengths(file, &lengths);
    curves = true;
  }
  rs_status status = RS_OK;
  if (curves)
    status = rs_fail_on(p->err, RS_INPUT, "length", "there is no curve at %zu tokens (there are at %s)",
                        p->options.length, rs_text_string(&lengths));
  rs_text_clear(&lengths);
  return status;
}

static rs_status find_gnuplot(plotter *p) {
  if (!p->options.png) return RS_OK;
  RS_TRY(rs_plot_gnuplot_find(&p->gnuplot, p->err));
  return p->gnuplot != NULL ? RS_OK : rs_plot_note(p->report, p->err, "no PNG pictures: gnuplot is not on PATH");
}

static rs_status draw_all(plotter *p, const char *directory) {
  p->folder = rs_path_join(directory, "plots", p->err);
  if (p->folder == NULL) return RS_MEMORY;
  RS_TRY(rs_plot_manifest_read(directory, &p->data, p->err));
  RS_TRY(read_files(p));
  RS_TRY(check_length(p));
  RS_TRY(find_gnuplot(p));
  for (size_t i = 0; i < p->data.count; i++) {
    if (p->data.files[i].table != NULL) RS_TRY(draw_file(p, &p->data.files[i]));
  }
  if (p->report->count > 0) return RS_OK;
  return rs_fail(p->err, RS_INPUT, "%s: nothing to draw: no file that manifest.json lists has a value", directory);
}

rs_status rs_plot_results(const char *directory, const rs_plot_options *options, rs_plot_report *report, rs_err *err) {
  plotter p = {.report = report, .err = err};
  if (options != NULL) p.options = *options;
  rs_status status = draw_all(&p, directory);
  rs_plot_data_clear(&p.data);
  rs_plot_names_clear(&p.slugs);
  free(p.folder);
  free(p.gnuplot);
  return status;
}
