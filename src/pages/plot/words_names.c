/* words_names.c: words for people and names for files, and names that manifest.json has for what a picture shows:
 * categories, grids and events. */
#include "words.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names of columns -------------------------------------------------------------------------------------------- */

enum { SLUG_BYTES = 80 }; /* three of them and an ending stay below the 255 bytes of a file name */

/* How a unit's character is written in a column name: "rad/token" becomes "rad_per_token". */
static size_t spell(char unit, char out[8]) {
  char letter = (char)tolower((unsigned char)unit);
  if (unit == '/') return (size_t)snprintf(out, 8, "_per_");
  return (size_t)snprintf(out, 8, "%c", isalnum((unsigned char)letter) ? letter : '_');
}

/* Bytes of the "_" and unit at the end of `name`; 0 when it does not end so. */
static size_t unit_suffix(const char *name, const char *unit) {
  size_t end = strlen(name), suffix = 0;
  for (size_t i = strlen(unit); i-- > 0;) {
    char word[8];
    size_t length = spell(unit[i], word);
    if (end < length + 2 || memcmp(name + end - length, word, length) != 0) return 0;
    end -= length;
    suffix += length;
  }
  return suffix > 0 && name[end - 1] == '_' ? suffix + 1 : 0;
}

void rs_plot_words(const char *name, const char *unit, rs_text *out) {
  size_t length = strlen(name) - unit_suffix(name, unit);
  for (size_t i = 0; i < length; i++) rs_text_add(out, name[i] == '_' ? " " : &name[i], 1);
}

/* Words that names of columns shorten, and proper names. */
static const struct {
  const char *word, *full;
} glossary[] = {
    {"ood", "out-of-range"},
    {"sd", "standard deviation"},
    {"rms", "root mean square"},
    {"kl", "KL divergence"},
    {"pca", "principal components"},
    {"ntk", "NTK"},
    {"dim", "dimension"},
    {"roformer", "RoFormer's"},
    {"omega", "ω"},
    {"gamma", "γ"},
    {"got", "head under the method"},
    {"lambda", "λ"},
    {"max", "largest"},
    {"t", "time"},
    {"h", "row"},
    {"w", "column"},
};

/* The row of a word of this length; their number: none. */
static size_t find_word(const char *word, size_t length) {
  size_t i = 0;
  while (i < RS_COUNT(glossary) && (strlen(glossary[i].word) != length || strncmp(glossary[i].word, word, length) != 0))
    i++;
  return i;
}

void rs_plot_phrase(const char *name, const char *unit, rs_text *out) {
  rs_text words = {0};
  rs_plot_words(name, unit, &words);
  for (const char *word = rs_text_string(&words); *word != '\0';) {
    size_t length = strcspn(word, " "), row = find_word(word, length);
    if (row < RS_COUNT(glossary))
      rs_text_puts(out, glossary[row].full);
    else
      rs_text_add(out, word, length);
    if (word[length] == ' ') rs_text_puts(out, " "), length++;
    word += length;
  }
  out->failed = out->failed || words.failed;
  rs_text_clear(&words);
}

bool rs_plot_is_difference(const rs_plot_column *column) {
  static const char last[] = "_difference";
  size_t length = strlen(column->name) - unit_suffix(column->name, column->unit), tail = sizeof last - 1;
  return length > tail && strncmp(column->name + length - tail, last, tail) == 0;
}

void rs_plot_slug(const char *text, rs_text *out) {
  size_t start = out->length;
  bool dash = false;
  for (; *text != '\0' && out->length - start < SLUG_BYTES; text++) {
    char letter = (char)tolower((unsigned char)*text);
    bool keep = (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') || strchr("._=", letter) != NULL;
    if (keep && dash && out->length > start) rs_text_puts(out, "-");
    if (keep && !(letter == '.' && out->length == start)) rs_text_add(out, &letter, 1); /* no hidden files */
    dash = !keep;
  }
  if (out->length == start) rs_text_puts(out, "plot");
}

/* ---- formulas ---------------------------------------------------------------------------------------------------- */

/* Longer ones first, where one starts with another. A name counts only as a whole word. */
static const struct {
  const char *typed, *printed;
} table[] = {
    {"sum_{j<k}", "Σⱼ₌₀ᵏ⁻¹"},
    {"sum_j", "Σⱼ"},
    {"sum", "Σ"},
    {"angle_j", "θⱼ"},
    {"omega_j", "ωⱼ"},
    {"omega", "ω"},
    {"theta", "θ"},
    {"lambda", "λ"},
    {"gamma", "γ"},
    {"beta_1", "β₁"},
    {"beta_2", "β₂"},
    {"beta_3", "β₃"},
    {"2 pi", "2π"},
    {"pi", "π"},
    {"sqrt", "√"},
    {"^2", "²"},
    {">=", "≥"},
    {"<=", "≤"},
    {"!=", "≠"},
    {" - ", " − "},
    {" * ", " · "},
    {"`", ""},
};

static bool is_word(char letter) {
  return isalnum((unsigned char)letter) || letter == '_';
}

/* "sum" is a sign before what is summed, and a word elsewhere: "sum over documents", "sums to 1", "sum of".
 * The row of the table for what stands at `text`, whose letter before is `before`; their number: none. */
static size_t find(const char *text, char before) {
  for (size_t i = 0; i < RS_COUNT(table); i++) {
    const char *typed = table[i].typed;
    size_t length = strlen(typed);
    if (strncmp(text, typed, length) != 0) continue;
    bool inside = (is_word(typed[0]) && is_word(before)) || (is_word(typed[length - 1]) && is_word(text[length]));
    const char *rest = text + length;
    bool prose = strcmp(typed, "sum") == 0 && !(rest[0] == ' ' && isalpha((unsigned char)rest[1]) && rest[2] == ' ');
    if ((!inside || typed[0] == '^') && !prose) return i;
  }
  return RS_COUNT(table);
}

void rs_plot_symbols(const char *text, rs_text *out) {
  char before = ' ';
  while (*text != '\0') {
    size_t row = find(text, before), length = 1;
    if (row < RS_COUNT(table)) {
      rs_text_puts(out, table[row].printed);
      length = strlen(table[row].typed);
    } else {
      rs_text_add(out, text, 1);
    }
    before = text[length - 1];
    text += length;
  }
}

/* ---- categories -------------------------------------------------------------------------------------------------- */

#define TIMES " \u00d7 "

/* {image: [24, 32]} as "image 24 × 32". A number of text tokens has a column of its own. */
static void write_segment(const rs_node *node, rs_text *out) {
  const rs_node *what = node != NULL && node->kind == RS_MAPPING && node->count > 0 ? &node->items[0] : NULL;
  rs_text_puts(out, what != NULL ? what->key : "text");
  if (what == NULL || what->kind != RS_SEQUENCE) return;
  for (size_t i = 0; i < what->count; i++)
    rs_text_printf(out, "%s%s", i == 0 ? " " : TIMES, what->items[i].text != NULL ? what->items[i].text : "?");
}

/* Segments of the config; names are all that is lost where it has none, or is no config of ours. */
static rs_tree *read_config(const rs_plot_data *data) {
  const rs_node *text = data->manifest != NULL ? rs_node_get(&data->manifest->root, "config") : NULL;
  rs_tree *config = NULL;
  if (text != NULL && text->kind == RS_SCALAR)
    (void)rs_yaml_read(text->text, strlen(text->text), "config", &config, NULL);
  return config;
}

rs_status rs_plot_categories_read(const rs_plot_data *data, const char *what, size_t count, rs_arena *memory,
                                  rs_plot_categories *categories, rs_err *err) {
  bool segments = strcmp(what, "segment") == 0;
  const rs_node *task = data->manifest != NULL ? rs_node_get(&data->manifest->root, "task") : NULL;
  const rs_node *list = task != NULL && strcmp(what, "part") == 0 ? rs_node_get(task, "parts") : NULL;
  rs_tree *config = segments ? read_config(data) : NULL;
  rs_status status = RS_OK;
  if (config != NULL) list = rs_node_get(&config->root, "tokens");
  if (list != NULL && list->kind != RS_SEQUENCE) list = NULL;
  *categories = (rs_plot_categories){.names = rs_arena_take(memory, count, sizeof *categories->names)};
  for (size_t i = 0; i < count && !memory->failed && status == RS_OK; i++) {
    const rs_node *item = list != NULL && i < list->count ? &list->items[i] : NULL;
    rs_text name = {0};
    if (segments)
      write_segment(item, &name);
    else if (list != NULL)
      rs_plot_words(item != NULL && item->kind == RS_SCALAR ? item->text : "?", "", &name); /* "first value" */
    else
      rs_text_printf(&name, "%s %zu", what, i); /* "head 0", "head 1" */
    status = rs_text_check(&name, err);
    categories->names[categories->count++] = rs_arena_text(memory, rs_text_string(&name));
    rs_text_clear(&name);
  }
  rs_tree_free(config);
  return status == RS_OK ? rs_arena_check(memory, err) : status;
}

/* ---- grids of patches -------------------------------------------------------------------------------------------- */

typedef struct grid {
  double length;
  unsigned long frames, rows, columns;
} grid;

static double number_of(const rs_node *node, const char *key) {
  const rs_node *value = rs_node_get(node, key);
  return value != NULL && value->kind == RS_SCALAR ? strtod(value->text, NULL) : 0;
}

/* Sides are printed and no more: what is no number of patches is 0. */
static unsigned long side_of(const rs_node *node, const char *key) {
  double side = number_of(node, key);
  return side > 0 && side < 1e6 ? (unsigned long)side : 0;
}

static grid grid_of(const rs_node *node) {
  return (grid){number_of(node, "length_tokens"), side_of(node, "frames"), side_of(node, "rows"),
                side_of(node, "columns")};
}

rs_status rs_plot_grids_read(const rs_plot_data *data, rs_arena *memory, rs_plot_grids *grids, rs_err *err) {
  const rs_node *task = data->manifest != NULL ? rs_node_get(&data->manifest->root, "task") : NULL;
  const rs_node *list = task != NULL ? rs_node_get(task, "grids") : NULL;
  char unit[80] = "patches";
  bool film = false;
  if (list == NULL || list->kind != RS_SEQUENCE || list->count == 0) return RS_OK;
  grids->marks = rs_arena_take(memory, list->count, sizeof *grids->marks);
  RS_TRY(rs_arena_check(memory, err));
  for (size_t i = 0; i < list->count; i++) film |= grid_of(&list->items[i]).frames > 1;
  for (; grids->count < list->count; grids->count++) {
    grid g = grid_of(&list->items[grids->count]);
    rs_plot_mark *mark = &grids->marks[grids->count];
    mark->value = g.length;
    if (film)
      snprintf(mark->label, sizeof mark->label, "%lu", g.frames);
    else
      snprintf(mark->label, sizeof mark->label, "%lu \u00d7 %lu", g.rows, g.columns);
  }
  grid first = grid_of(&list->items[0]);
  grids->name = film ? "film" : "image";
  if (film) snprintf(unit, sizeof unit, "frames of %lu \u00d7 %lu patches", first.rows, first.columns);
  grids->unit = rs_arena_text(memory, unit);
  return rs_arena_check(memory, err);
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

/* The summary and its column of first violations; NULL: this run has none. */
static const rs_plot_column *find_events(const rs_plot_data *data, const rs_plot_file **file) {
  for (size_t i = 0; i < data->count; i++) {
    *file = &data->files[i];
    if (strcmp((*file)->name, "summary.csv") == 0 && (*file)->table != NULL)
      return rs_plot_column_named(*file, "first_violation_tokens", "", "");
  }
  return NULL;
}

rs_status rs_plot_events_read(const rs_plot_measure *measure, const rs_plot_choice *choice, rs_plot_set *set,
                              rs_err *err) {
  const rs_plot_file *file = NULL;
  const rs_plot_column *column = find_events(measure->data, &file);
  rs_plot_choice cells = *choice; /* a kernel is drawn without a source, and the summary's rows have one */
  double *numbers;
  cells.source = RS_PLOT_ANY;
  bool decay = strcmp(measure->file->name, "decay.csv") == 0 && strcmp(measure->column->name, "mean_cosine") == 0;
  if (!decay || column == NULL) return RS_OK;
  RS_TRY(rs_plot_numbers(file, column, &set->memory, &numbers, err));
  for (size_t s = 0; s < set->count; s++) {
    rs_plot_series *series = &set->series[s];
    for (size_t i = file->cell_count; i-- > 0;) {
      const rs_plot_cell *cell = &file->cells[i];
      if (cell->method != series->method || !rs_plot_chosen(cell, &cells) || isnan(numbers[cell->begin])) continue;
      series->has_event = set->events = true;
      series->event = numbers[cell->begin];
    }
  }
  return RS_OK;
}
