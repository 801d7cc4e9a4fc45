/* words_caption.c: the words that go with a picture, from the names of its columns and cells, and what the captions of
 * manifest.json say of its source, model and task. */
#include "words.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* ---- sources, models and tasks ----------------------------------------------------------------------------------- */

/* The name of the source, or what is common to the names of a family; "": of none. */
static const char *source_name(const rs_plot_measure *measure, const rs_plot_choice *choice) {
  if (choice->family != NULL) return choice->family->name;
  return choice->source == RS_PLOT_ANY ? "" : measure->data->sources.items[choice->source];
}

static bool is_shown(const rs_plot_choice *choice, size_t source) {
  return choice->family != NULL ? !isnan(choice->family->values[source]) : choice->source == source;
}

/* The entry of the list that has the name, or NULL. */
static const rs_node *find_entry(const rs_node *list, const char *name) {
  for (size_t i = 0; list != NULL && i < list->count; i++)
    if (strcmp(rs_node_get(&list->items[i], "name")->text, name) == 0) return &list->items[i];
  return NULL;
}

static bool has_phrase(const rs_node *entry, const char *phrase) {
  const rs_node *phrases = entry != NULL ? rs_node_get(entry, "caption") : NULL;
  for (size_t i = 0; phrases != NULL && i < phrases->count; i++)
    if (strcmp(phrases->items[i].text, phrase) == 0) return true;
  return false;
}

static bool is_word(char c) {
  return isalnum((unsigned char)c) || c == '.' || c == '_';
}

/* Whether `text` begins with the words of `phrase`, whatever stands between words: "depth=0.5" says "depth 0.5". */
static bool begins(const char *text, const char *phrase) {
  for (; *phrase != '\0'; text++, phrase++)
    if (*text != *phrase && (is_word(*text) || is_word(*phrase) || *text == '\0')) return false;
  return !is_word(*text);
}

static bool says(const char *name, const char *phrase) {
  for (const char *c = name; *c != '\0'; c++)
    if ((c == name || !is_word(c[-1])) && begins(c, phrase)) return true;
  return false;
}

/* Those phrases of an entry that are not said by its name, and hold for all sources that are shown. */
static void put_phrases(const rs_plot_data *data, const rs_plot_choice *choice, const rs_node *entry, const char *name,
                        rs_text *out) {
  const rs_node *phrases = rs_node_get(entry, "caption");
  const char *kind = rs_node_get(entry, "kind")->text, *before = ": ";
  if (phrases->count == 0) return;
  if (!says(name, kind)) rs_text_printf(out, " (%s)", kind);
  for (size_t i = 0; i < phrases->count; i++) {
    const char *phrase = phrases->items[i].text;
    bool holds = !says(name, phrase);
    for (size_t s = 0; s < data->sources.count && choice != NULL && holds; s++)
      holds = !is_shown(choice, s) || has_phrase(find_entry(data->captions, data->sources.items[s]), phrase);
    if (!holds) continue;
    rs_text_printf(out, "%s%s", before, phrase);
    before = ", ";
  }
}

/* Appends to the source's name the phrases of the manifest that hold for all sources shown: ": a copy of the query,
 * depth 0.5". What the name says already is left out; a name that does not tell the kind gets it: " (needle): ...".
 * Nothing where the values come from tables alone. */
static void put_source(const rs_plot_measure *measure, const rs_plot_choice *choice, rs_text *out) {
  const rs_plot_data *data = measure->data;
  const char *name = source_name(measure, choice);
  const rs_node *entry = NULL;
  for (size_t s = 0; s < data->sources.count && measure->column->sourced && entry == NULL; s++)
    if (is_shown(choice, s)) entry = find_entry(data->captions, data->sources.items[s]);
  if (entry != NULL) put_phrases(data, choice, entry, name, out);
}

/* What a value that is read from the task, whatever the source, is read from: "dictionary: 64 sequences a cell". */
static const char *task_caption(const rs_plot_measure *measure, rs_arena *memory) {
  const rs_plot_data *data = measure->data;
  const rs_node *entry = measure->column->tasked && data->task != NULL ? find_entry(data->captions, data->task) : NULL;
  rs_text out = {0};
  if (entry != NULL) rs_text_puts(&out, data->task);
  if (entry != NULL) put_phrases(data, NULL, entry, data->task, &out);
  return rs_plot_keep(memory, &out);
}

/* The name of a model and, where it is a checkpoint, what the manifest says of it: "rope: trained here, 1000 steps at
 * 64 tokens, 103872 parameters". Of several checkpoints that one method reads: the method and what holds for all;
 * "trained", which the phrases say, is left out. */
static const char *model_caption(const rs_plot_data *data, size_t model, rs_arena *memory) {
  rs_text text = {0}, *out = &text;
  const char *name = data->models.items[model], *before = "";
  const rs_node *entry = data->by_checkpoint ? data->checkpoints->items : find_entry(data->checkpoints, name);
  const rs_node *phrases = entry != NULL ? rs_node_get(entry, "caption") : NULL;
  bool said = phrases != NULL && phrases->count > 0 && strncmp(phrases->items[0].text, name, strlen(name)) == 0;
  if (!said) rs_text_puts(out, name), before = ": ";
  for (size_t i = 0; phrases != NULL && i < phrases->count; i++) {
    bool holds = true;
    for (size_t c = 0; data->by_checkpoint && c < data->checkpoints->count && holds; c++)
      holds = has_phrase(&data->checkpoints->items[c], phrases->items[i].text);
    if (!holds) continue;
    rs_text_printf(out, "%s%s", before, phrases->items[i].text);
    before = ", ";
  }
  return rs_plot_keep(memory, out);
}

/* ---- names of files ---------------------------------------------------------------------------------------------- */

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
  add_slug(out, source_name(measure, choice));
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

/* ---- titles ------------------------------------------------------------------------------------------------------ */

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
static void write_title(const rs_plot_measure *measure, rs_plot_form form, const char *name, rs_text *out) {
  rs_text stem = {0};
  size_t length = strlen(name);
  if (measure->x != NULL) {
    rs_text_add(&stem, measure->file->name, strcspn(measure->file->name, "."));
    rs_plot_phrase(rs_text_string(&stem), "", out);
  }
  if (out->length < length || strcmp(rs_text_string(out) + out->length - length, name) != 0)
    rs_text_printf(out, "%s%s", out->length > 0 ? ": " : "", name);
  if (measure->density) rs_text_puts(out, " per token");
  write_over(measure, form, out);
  if (out->length > 0) out->data[0] = (char)toupper((unsigned char)out->data[0]);
  out->failed = out->failed || stem.failed;
  rs_text_clear(&stem);
}

/* ---- subtitles --------------------------------------------------------------------------------------------------- */

static void add_piece(rs_text *text, const char *piece) {
  if (*piece == '\0') return;
  if (text->length > 0) rs_text_puts(text, " \u00b7 ");
  rs_text_puts(text, piece);
}

/* "needle: a copy of the query, depth 0.5 · length 131072 tokens" */
static void write_place(const rs_plot_measure *measure, const rs_plot_choice *choice, rs_arena *memory, rs_text *out) {
  const rs_plot_column *panel = rs_plot_part_of(measure->file, RS_PLOT_MAP_PANEL);
  add_piece(out, measure->data->name);
  add_piece(out, model_caption(measure->data, choice->model, memory));
  add_piece(out, task_caption(measure, memory));
  add_piece(out, source_name(measure, choice));
  put_source(measure, choice, out);
  if (choice->length > 0) {
    add_piece(out, "length ");
    rs_text_number(out, choice->length);
    rs_text_puts(out, " tokens");
  }
  if (choice->seeds > 0)
    rs_text_printf(out, " \u00b7 seed %s, one of %zu", measure->data->seeds.items[choice->seed], choice->seeds);
  if (choice->in_panel) {
    rs_text_puts(out, " \u00b7 ");
    rs_plot_words(panel->name, panel->unit, out);
    rs_text_puts(out, " ");
    rs_text_number(out, choice->panel);
  }
  add_piece(out, measure->data->incomplete);
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

static void write_set_subtitle(const rs_plot_measure *measure, const rs_plot_set *set, rs_text *out) {
  if (set->band == RS_PLOT_STANDARD_ERROR) add_piece(out, "\u00b1 1 standard error");
  if (set->band == RS_PLOT_MIN_MAX) write_means(measure, set, out);
  if (set->band == RS_PLOT_ENVELOPE) add_piece(out, "shade: least and largest of each bin");
  if (set->band == RS_PLOT_INTERVAL) add_piece(out, "bars: 95\u00a0% intervals, bootstrap over blocks");
  if (set->band == RS_PLOT_INTERVAL && set->seeds > 1) rs_text_printf(out, " and %zu seeds", set->seeds);
  if (set->events) add_piece(out, "ring: first distance below 0");
  if (measure->density) add_piece(out, "divided by the width of each bin");
  if (set->few) rs_text_printf(out, " \u00b7 not joined: fewer than %d samples, n", RS_PLOT_SAMPLES_LEAST);
}

/* " · means of up to 8 rows: of each head", where an index is no part of the map; else of seeds or the like. */
static void write_folded(const rs_plot_measure *measure, size_t folded, rs_text *out) {
  rs_text_printf(out, " \u00b7 means of up to %zu rows", folded);
  for (size_t i = 0; i < measure->file->count; i++) {
    const rs_plot_column *column = &measure->file->columns[i];
    if (column->role != RS_PLOT_INDEX || column->part != RS_PLOT_NO_PART) continue;
    rs_text_puts(out, ": of each ");
    rs_plot_words(column->name, column->unit, out);
    return;
  }
}

/* "gaussian · length 197 tokens · dot: reference token · 6 of 16 dt · means of up to 4 rows · no data: nope" */
static void write_map_subtitle(const rs_plot_measure *measure, const rs_plot_choice *choice, const rs_plot_map *map,
                               const char *panel, rs_text *out) {
  bool marked = false;
  for (size_t i = 0; i < map->panel.count; i++) marked |= map->marks[i] != SIZE_MAX;
  if (marked) add_piece(out, "dot: ");
  if (marked) rs_text_puts(out, panel);
  if (map->panels == 1 && *panel != '\0' && !marked) {
    add_piece(out, panel);
    rs_text_puts(out, " ");
    rs_text_number(out, map->panel.items[0]);
  }
  const rs_plot_column *share = rs_plot_part_of(measure->file, RS_PLOT_SHARE);
  if (map->shares != NULL && share != NULL) {
    add_piece(out, "%: ");
    rs_plot_words(share->name, share->unit, out);
  }
  if (map->panels > map->panel.count)
    rs_text_printf(out, " \u00b7 %zu of %zu %s", map->panel.count, map->panels, panel);
  bool single = choice->family != NULL || measure->over_lengths; /* a place has one row of each seed */
  bool seeds = single && map->folded == measure->data->seeds.count;
  if (map->folded > 1 && seeds) rs_text_printf(out, " \u00b7 mean of %zu seeds", map->folded);
  if (map->folded > 1 && !seeds) write_folded(measure, map->folded, out);
  for (size_t i = 0; i < map->absent; i++)
    rs_text_printf(out, "%s%s", i == 0 ? " \u00b7 no data: " : ", ",
                   measure->data->methods.items[map->methods[map->count + i]]);
  if (choice->family != NULL && *choice->family->parameter->summary != '\0')
    rs_text_printf(out, " \u00b7 %s: %s", choice->family->parameter->name, choice->family->parameter->summary);
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

/* "depth"; with its unit "distance (tokens)". */
static const char *name_column(const rs_plot_column *column, bool unit, rs_arena *memory) {
  rs_text out = {0};
  if (column != NULL) rs_plot_words(column->name, unit ? column->unit : "", &out);
  if (unit && *rs_plot_unit(column->unit) != '\0') rs_text_printf(&out, " (%s)", column->unit);
  return rs_plot_keep(memory, &out);
}

/* Whether the series has this name and is 0 throughout: what differences are taken to. */
static bool is_baseline(const rs_plot_series *series, const char *name) {
  bool zero = series->count > 0 && strcmp(series->label, name) == 0;
  for (size_t i = 0; i < series->count && zero; i++) zero = isnan(series->points[i].y) || series->points[i].y == 0;
  return zero;
}

/* "loss difference"; with intervals "paired loss difference to the window", where a baseline is among the lines. */
static void write_name(const rs_plot_measure *measure, const rs_plot_content *content, rs_text *out) {
  static const char *const baselines[][2] = {{"window", " to the window"}, {"unchanged", " to the unchanged model"}};
  bool paired = measure->interval && rs_plot_is_difference(measure->column);
  if (paired) rs_text_puts(out, "paired ");
  rs_plot_phrase(measure->column->name, measure->column->unit, out);
  for (size_t b = 0; b < RS_COUNT(baselines) && paired; b++)
    for (size_t s = 0; s < content->set.count && paired; s++) {
      if (!is_baseline(&content->set.series[s], baselines[b][0])) continue;
      rs_text_puts(out, baselines[b][1]);
      paired = false;
    }
}

/* "nats, 95 %" where bars are intervals. */
static const char *write_unit(const char *unit, const rs_plot_content *content, rs_arena *memory) {
  rs_text out = {0};
  if (rs_plot_is_map(content->form) || content->set.band != RS_PLOT_INTERVAL) return unit;
  rs_text_printf(&out, "%s%s95\u00a0%%", rs_plot_unit(unit), *rs_plot_unit(unit) != '\0' ? ", " : "");
  return rs_plot_keep(memory, &out);
}

/* Names of the axes of lines and dots. */
static void name_axis(const rs_plot_measure *measure, const rs_plot_choice *choice, rs_arena *memory,
                      rs_plot_caption *c) {
  const rs_plot_column *x = rs_plot_x_of(measure->file);
  rs_text name = {0};
  if (choice->sweep != NULL)
    rs_plot_words(rs_plot_sweep_words(choice->sweep), choice->sweep->parameter->unit, &name);
  else if (x != NULL)
    rs_plot_phrase(x->name, x->unit, &name);
  else
    rs_text_puts(&name, "length");
  c->x_name = rs_plot_keep(memory, &name);
}

/* Of maps. */
static void name_axes(const rs_plot_measure *measure, const rs_plot_choice *choice, bool strips, rs_arena *memory,
                      rs_plot_caption *c) {
  static const char over_lengths[] = "length (tokens, 1k = 1024)";
  const rs_plot_file *file = measure->file;
  bool lengths = measure->over_lengths || (choice->family != NULL && !strips);
  c->panel_name = name_column(rs_plot_part_of(file, RS_PLOT_MAP_PANEL), false, memory);
  if (lengths) c->x_name = over_lengths;
  if (!measure->over_lengths && choice->family != NULL)
    *(strips ? &c->x_name : &c->y_name) = name_column(choice->family->parameter, true, memory);
  else if (strips && !lengths)
    c->x_name = name_column(rs_plot_x_of(file), true, memory);
  else
    c->y_name = name_column(rs_plot_part_of(file, RS_PLOT_MAP_Y), false, memory);
  if (*c->x_name == '\0') c->x_name = name_column(rs_plot_part_of(file, RS_PLOT_MAP_X), false, memory);
}

rs_plot_caption rs_plot_caption_write(const rs_plot_measure *measure, const rs_plot_choice *choice,
                                      const rs_plot_content *content, rs_arena *memory) {
  bool strips = content->form == RS_PLOT_STRIPS, map = rs_plot_is_map(content->form);
  const rs_plot_column *column = measure->column;
  rs_text title = {0}, definition = {0}, subtitle = {0}, description = {0}, name = {0};
  rs_plot_caption c = {.x_name = "", .y_name = "", .panel_name = ""};
  write_name(measure, content, &name);
  write_title(measure, content->form, rs_text_string(&name), &title);
  if (measure->density) rs_text_puts(&name, " per token");
  rs_plot_symbols(column->summary, &definition);
  rs_text_printf(&description, "%s, column %s. %s", measure->file->name, column->name, column->summary);
  write_place(measure, choice, memory, &subtitle);
  if (map) {
    name_axes(measure, choice, strips, memory, &c);
    write_map_subtitle(measure, choice, &content->map, c.panel_name, &subtitle);
  } else {
    name_axis(measure, choice, memory, &c);
    write_set_subtitle(measure, &content->set, &subtitle);
  }
  c.head = (rs_plot_head){.title = rs_plot_keep(memory, &title),
                          .definition = rs_plot_keep(memory, &definition),
                          .subtitle = rs_plot_keep(memory, &subtitle),
                          .description = rs_plot_keep(memory, &description)};
  c.name = rs_plot_keep(memory, &name);
  c.unit = write_unit(column->unit, content, memory);
  return c;
}
