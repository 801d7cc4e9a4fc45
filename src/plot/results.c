/* results.c: all charts of a folder. Everything is read and checked before the first picture is written. */
#include "plot_internal.h"
#include "render.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct plotter {
  rs_plot_data data;
  const char *directory;
  char *folder; /* DIRECTORY/plots. Owned. */
  bool made;    /* it exists */
  rs_plot_options options;
  bool listing;                 /* find out what pictures there are, and draw none */
  rs_plot_names slugs, columns; /* of all pictures, drawn or not */
  rs_plot_families families;    /* of the file that is being drawn */
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

/* One file of a picture; `svg` is its text. */
static rs_status write_format(plotter *p, const rs_plot_picture *picture, const rs_text *svg, rs_plot_format format,
                              const char *slug) {
  rs_text bytes = {0};
  char *path = path_of(p, slug, rs_plot_format_name(format));
  rs_status status = path != NULL ? RS_OK : RS_MEMORY;
  if (status == RS_OK && format != RS_PLOT_SVG)
    status = rs_plot_render(svg, picture->width, picture->height, format, &bytes, p->err);
  if (status == RS_OK) status = rs_text_check(&bytes, p->err);
  const rs_text *data = format == RS_PLOT_SVG ? svg : &bytes;
  if (status == RS_OK) status = write_file(p, path, data->data, data->length);
  rs_text_clear(&bytes);
  free(path);
  return status;
}

static rs_status write_picture(plotter *p, const rs_plot_picture *picture, const char *slug) {
  rs_text svg = {0};
  rs_plot_svg_write(picture, &svg);
  rs_status status = rs_text_check(&svg, p->err);
  for (unsigned format = 1; format <= RS_PLOT_FORMATS && status == RS_OK; format <<= 1) {
    if ((p->options.formats & format) != 0) status = write_format(p, picture, &svg, (rs_plot_format)format, slug);
  }
  rs_text_clear(&svg);
  return status;
}

/* ---- one chart --------------------------------------------------------------------------------------------------- */

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

/* True if `name` means the picture: "plots/decay--score--4k.svg", "decay--score--4k", "decay--score", "decay", "score".
 */
static bool is_meant(const char *name, const char *slug, const char *column) {
  const char *slash = strrchr(name, '/'), *stem = slash != NULL ? slash + 1 : name;
  size_t length = strlen(stem);
  bool ends = rs_plot_format_of(stem) != 0;
  if (ends) length -= 4;
  if (length > 0 && strncmp(slug, stem, length) == 0 &&
      (slug[length] == '\0' || (!ends && strncmp(slug + length, "--", 2) == 0)))
    return true;
  return *name != '\0' && strcmp(name, column) == 0;
}

/* Gives a picture its name, and says whether to draw it. */
static rs_status name_picture(plotter *p, const rs_plot_column *column, rs_text *slug, bool *drawn) {
  size_t index;
  RS_TRY(make_unique(p, slug));
  RS_TRY(rs_plot_names_add(&p->columns, column->name, &index, p->err));
  *drawn = !p->listing && p->options.only_count == 0;
  for (size_t i = 0; i < p->options.only_count && !p->listing; i++)
    *drawn |= is_meant(p->options.only[i], rs_text_string(slug), column->name);
  return RS_OK;
}

static rs_status draw_set(plotter *p, const rs_plot_measure *measure, const rs_plot_choice *choice,
                          const rs_plot_set *set) {
  const rs_plot_column *x = rs_plot_x_of(measure->file);
  rs_plot_picture picture = {0};
  rs_plot_caption c = {0};
  bool drawn = false;
  rs_plot_caption_lines(measure, choice, set, &c);
  rs_plot_chart chart = {.title = rs_text_string(&c.title),
                         .definition = measure->column->summary,
                         .subtitle = rs_text_string(&c.subtitle),
                         .description = rs_text_string(&c.description),
                         .x_name = rs_text_string(&c.x_name),
                         .x_unit = x != NULL ? x->unit : "tokens",
                         .y_name = rs_text_string(&c.name),
                         .y_unit = measure->column->unit,
                         .x_log = x == NULL || x->log,
                         .y_log = measure->column->log,
                         .series = set->series,
                         .count = set->count};
  rs_status status = rs_plot_caption_check(&c, p->err);
  if (status == RS_OK) status = name_picture(p, measure->column, &c.slug, &drawn);
  if (status == RS_OK && drawn) status = rs_plot_chart_draw(&chart, &picture, p->err);
  if (status == RS_OK && drawn) status = write_picture(p, &picture, rs_text_string(&c.slug));
  rs_plot_picture_clear(&picture);
  rs_plot_caption_clear(&c);
  return status;
}

static rs_status draw_lines(plotter *p, const rs_plot_measure *measure, const rs_plot_choice *choice) {
  rs_plot_set set = {0};
  rs_status status = rs_plot_set_read(measure, choice, &set, p->err);
  if (status == RS_OK && set.any) status = draw_set(p, measure, choice, &set);
  rs_plot_set_clear(&set);
  return status;
}

/* Lines of a file that has panels, though no map: one chart for each. */
static rs_status draw_panels(plotter *p, const rs_plot_measure *measure, rs_plot_choice choice) {
  rs_plot_ranks panels = {0};
  rs_status status = rs_plot_ranks_read(measure->part[RS_PLOT_MAP_PANEL], measure->file->table->rows, &panels, p->err);
  for (size_t i = 0; i < panels.count && status == RS_OK; i++) {
    choice.panel = &panels.items[i];
    status = draw_lines(p, measure, &choice);
  }
  free(panels.items);
  return status;
}

static rs_status draw_heat(plotter *p, const rs_plot_measure *measure, const rs_plot_choice *choice,
                           const rs_plot_map *map) {
  rs_plot_picture picture = {0};
  rs_plot_caption c = {0};
  bool drawn = false;
  rs_plot_caption_map(measure, choice, map, &c);
  rs_plot_heat heat = {.title = rs_text_string(&c.title),
                       .definition = measure->column->summary,
                       .subtitle = rs_text_string(&c.subtitle),
                       .description = rs_text_string(&c.description),
                       .x_name = rs_text_string(&c.x_name),
                       .y_name = rs_text_string(&c.y_name),
                       .panel_name = rs_text_string(&c.panel_name),
                       .name = rs_text_string(&c.name),
                       .unit = measure->column->unit,
                       .log = measure->column->log,
                       .x_tokens = choice->family != NULL,
                       .methods = (const char *const *)p->data.methods.items,
                       .map = map};
  rs_status status = rs_plot_caption_check(&c, p->err);
  if (status == RS_OK) status = name_picture(p, measure->column, &c.slug, &drawn);
  if (status == RS_OK && drawn)
    status = measure->strip ? rs_plot_strip_draw(&heat, &picture, p->err) : rs_plot_heat_draw(&heat, &picture, p->err);
  if (status == RS_OK && drawn) status = write_picture(p, &picture, rs_text_string(&c.slug));
  rs_plot_picture_clear(&picture);
  rs_plot_caption_clear(&c);
  return status;
}

static rs_status draw_map(plotter *p, const rs_plot_measure *measure, const rs_plot_choice *choice) {
  rs_plot_map map;
  rs_status status = rs_plot_map_read(measure, choice, &map, p->err);
  if (status == RS_OK && map.any) status = draw_heat(p, measure, choice, &map);
  if (status == RS_OK && (map.x.count > RS_PLOT_MAP_SIDE || map.y.count > RS_PLOT_MAP_SIDE))
    status = rs_plot_note(p->report, p->err, "%s: no map of %s: %zu x %zu cells are more than %d along a side",
                          measure->file->path, measure->column->name, map.y.count, map.x.count, RS_PLOT_MAP_SIDE);
  rs_plot_map_clear(&map);
  return status;
}

static rs_status draw_choice(plotter *p, const rs_plot_measure *measure, rs_plot_choice choice) {
  if (measure->x != NULL) {
    choice.length = p->options.length > 0 ? (double)p->options.length : rs_plot_longest(measure, &choice);
    if (!(choice.length > 0)) return RS_OK; /* this model or source has none of it */
  }
  if (measure->map || measure->strip) return draw_map(p, measure, &choice);
  if (measure->part[RS_PLOT_MAP_PANEL] != NULL) return draw_panels(p, measure, choice);
  return draw_lines(p, measure, &choice);
}

/* ---- all charts -------------------------------------------------------------------------------------------------- */

/* A summary that depends on the source: one map for each family of sources instead of a chart for each of them. */
static rs_status draw_families(plotter *p, rs_plot_measure *measure) {
  for (size_t i = 0; i < p->families.count; i++) {
    RS_TRY(rs_plot_family_places(&p->families.items[i], measure, p->err));
    for (size_t model = 0; model < p->data.models.count; model++)
      RS_TRY(draw_map(p, measure, &(rs_plot_choice){model, RS_PLOT_ANY, 0, NULL, &p->families.items[i]}));
  }
  return RS_OK;
}

static rs_status draw_measure(plotter *p, rs_plot_measure *measure) {
  if (!measure->any) return RS_OK;
  bool families = measure->x == NULL && measure->per_source;
  size_t sources = measure->per_source ? p->data.sources.count : 1;
  for (size_t model = 0; model < p->data.models.count; model++) {
    for (size_t source = 0; source < sources; source++) {
      if (families && rs_plot_in_family(&p->families, source)) continue;
      size_t chosen = measure->per_source ? source : RS_PLOT_ANY;
      RS_TRY(draw_choice(p, measure, (rs_plot_choice){.model = model, .source = chosen}));
    }
  }
  return families ? draw_families(p, measure) : RS_OK;
}

static rs_status draw_file(plotter *p, const rs_plot_file *file) {
  rs_status status = RS_OK;
  size_t before = p->slugs.count;
  rs_plot_families_clear(&p->families);
  if (rs_plot_column_of(file, RS_PLOT_INDEX, 0) == NULL)
    status = rs_plot_families_read(&p->data, file, &p->families, p->err);
  for (size_t i = 0; i < file->count && status == RS_OK; i++) {
    if (file->columns[i].role != RS_PLOT_VALUE) continue;
    rs_plot_measure measure = {0};
    status = rs_plot_measure_read(&p->data, file, &file->columns[i], &measure, p->err);
    if (status == RS_OK) status = draw_measure(p, &measure);
    rs_plot_measure_clear(&measure);
  }
  if (status != RS_OK || p->slugs.count > before) return status;
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

static rs_status draw_files(plotter *p) {
  for (size_t i = 0; i < p->data.count; i++) {
    if (p->data.files[i].table != NULL) RS_TRY(draw_file(p, &p->data.files[i]));
  }
  if (p->slugs.count > 0) return RS_OK;
  return rs_fail(p->err, RS_INPUT, "%s: nothing to draw: no file that manifest.json lists has a value", p->directory);
}

/* The nearest picture or column, or how many there are. */
static rs_status fail_only(plotter *p, const char *name) {
  const char *near = rs_suggest(name, (const char *const *)p->slugs.items, p->slugs.count);
  if (near == NULL) near = rs_suggest(name, (const char *const *)p->columns.items, p->columns.count);
  if (near != NULL)
    return rs_fail_on(p->err, RS_INPUT, "only", "no picture or column is \"%s\" (did you mean \"%s\"?)", name, near);
  return rs_fail_on(p->err, RS_INPUT, "only", "no picture or column is \"%s\" (there are %zu pictures, as \"%s\")",
                    name, p->slugs.count, p->slugs.items[0]);
}

/* A name that means no picture is a slip of the user's; it must show before there is one. */
static rs_status check_only(plotter *p) {
  rs_plot_report *report = p->report, unused = {0};
  if (p->options.only_count == 0) return RS_OK;
  p->listing = true;
  p->report = &unused;
  rs_status status = draw_files(p);
  for (size_t i = 0; i < p->options.only_count && status == RS_OK; i++) {
    bool found = false;
    for (size_t k = 0; k < p->slugs.count && !found; k++) found = is_meant(p->options.only[i], p->slugs.items[k], "");
    for (size_t k = 0; k < p->columns.count && !found; k++)
      found = strcmp(p->options.only[i], p->columns.items[k]) == 0;
    if (!found) status = fail_only(p, p->options.only[i]);
  }
  rs_plot_report_clear(&unused);
  rs_plot_names_clear(&p->slugs);
  p->report = report;
  p->listing = false;
  return status;
}

static rs_status draw_all(plotter *p) {
  if ((p->options.formats & ~(unsigned)RS_PLOT_SVG) != 0) RS_TRY(rs_plot_render_check(p->err));
  p->folder = rs_path_join(p->directory, "plots", p->err);
  if (p->folder == NULL) return RS_MEMORY;
  RS_TRY(rs_plot_manifest_read(p->directory, &p->data, p->err));
  RS_TRY(read_files(p));
  RS_TRY(check_length(p));
  RS_TRY(check_only(p));
  RS_TRY(draw_files(p));
  return rs_plot_drawn_update(p->folder, p->data.config, p->options.only_count == 0, p->report, p->err);
}

rs_status rs_plot_results(const char *directory, const rs_plot_options *options, rs_plot_report *report, rs_err *err) {
  plotter p = {.directory = directory, .report = report, .err = err};
  if (options != NULL) p.options = *options;
  if (p.options.formats == 0) p.options.formats = RS_PLOT_SVG;
  rs_status status = draw_all(&p);
  rs_plot_data_clear(&p.data);
  rs_plot_names_clear(&p.slugs);
  rs_plot_names_clear(&p.columns);
  rs_plot_families_clear(&p.families);
  free(p.folder);
  return status;
}
