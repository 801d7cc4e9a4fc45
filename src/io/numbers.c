/* numbers.c: a list of numbers from a file, by its name's ending: what engines dump and what parameters that are lists
 * may be kept in. All or nothing: a file with one bad number gives none. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io_internal.h"

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

/* The list of the document: itself, the one called inv_freq, or the only one of an object. */
static rs_status find_list(const rs_node *root, const char *name, const rs_node **found, rs_err *err) {
  const rs_node *named = rs_node_get(root, "inv_freq");
  size_t lists = 0;
  *found = root->kind == RS_SEQUENCE ? root : NULL;
  for (size_t i = 0; root->kind == RS_MAPPING && i < root->count; i++) {
    if (root->items[i].kind != RS_SEQUENCE) continue;
    *found = &root->items[i];
    lists++;
  }
  if (named != NULL && named->kind == RS_SEQUENCE) *found = named;
  if (lists > 1 && *found != named)
    return rs_fail(err, RS_INPUT, "%s: holds %zu lists (call the right one inv_freq)", name, lists);
  if (*found == NULL)
    return rs_fail(err, RS_INPUT, "%s: must be a list of numbers, or an object with one (inv_freq)", name);
  return (*found)->count > 0 ? RS_OK : rs_fail(err, RS_INPUT, "%s: holds no numbers", name);
}

static rs_status take_list(const rs_node *node, const char *name, double **list, size_t *count, rs_err *err) {
  *list = rs_alloc(node->count, sizeof **list, err);
  if (*list == NULL) return RS_MEMORY;
  *count = node->count;
  for (size_t i = 0; i < node->count; i++) {
    const rs_node *item = &node->items[i];
    if (item->kind != RS_SCALAR || item->quoted || !rs_number_read(item->text, &(*list)[i]) || !isfinite((*list)[i]))
      return rs_fail(err, RS_INPUT, "%s: entry %zu is no number%s", name, i,
                     item->kind == RS_SCALAR ? "" : " (the list must be flat)");
  }
  return RS_OK;
}

static rs_status read_json(const char *text, size_t length, const char *name, double **list, size_t *count,
                           rs_err *err) {
  rs_tree *tree = NULL;
  const rs_node *node = NULL;
  RS_TRY(rs_json_read(text, length, name, &tree, err));
  rs_status status = find_list(&tree->root, name, &node, err);
  if (status == RS_OK) status = take_list(node, name, list, count, err);
  rs_tree_free(tree);
  return status;
}

/* ---- CSV --------------------------------------------------------------------------------------------------------- */

static const char *field_at(const rs_table *table, size_t row, size_t column) {
  return table->fields[row * table->columns + column];
}

static bool is_number(const char *text) {
  double number;
  return rs_number_read(text, &number) && isfinite(number);
}

static bool is_numeric(const rs_table *table, size_t column) {
  for (size_t row = 0; row < table->rows; row++)
    if (!is_number(field_at(table, row, column))) return false;
  return true;
}

/* By name, or the only one of numbers; the only column there is, so that a bad number in it can be told. */
static rs_status find_column(const rs_table *table, const char *name, size_t *column, rs_err *err) {
  static const char *const known[] = {"inv_freq", "omega_rad_per_token", "value"};
  size_t numeric = 0;
  for (size_t i = 0; i < RS_COUNT(known); i++) {
    int index = rs_table_column(table, known[i]);
    *column = (size_t)index;
    if (index >= 0) return RS_OK;
  }
  for (size_t c = table->columns; c-- > 0;)
    if (table->columns == 1 || is_numeric(table, c)) {
      *column = c;
      numeric++;
    }
  if (numeric == 1) return RS_OK;
  return rs_fail(err, RS_INPUT, "%s:1: %zu columns hold numbers alone (call the right one inv_freq or value)", name,
                 numeric);
}

static rs_status take_column(const rs_table *table, const char *name, double **list, size_t *count, rs_err *err) {
  size_t column = 0;
  if (table->rows == 0) return rs_fail(err, RS_INPUT, "%s: holds no numbers", name);
  RS_TRY(find_column(table, name, &column, err));
  if (is_number(table->header[column]))
    return rs_fail(err, RS_INPUT, "%s:1: the first line is a number (it must name the column: any name will do)", name);
  *list = rs_alloc(table->rows, sizeof **list, err);
  if (*list == NULL) return RS_MEMORY;
  *count = table->rows;
  for (size_t row = 0; row < table->rows; row++) {
    char shown[40];
    rs_shorten(field_at(table, row, column), sizeof shown, shown);
    if (!is_number(field_at(table, row, column)))
      return rs_fail(err, RS_INPUT, "%s:%zu: \"%s\" is no number", name, row + 2, shown);
    rs_number_read(field_at(table, row, column), &(*list)[row]);
  }
  return RS_OK;
}

static rs_status read_csv(const char *text, size_t length, const char *name, double **list, size_t *count,
                          rs_err *err) {
  rs_table *table = NULL;
  RS_TRY(rs_csv_read(text, length, name, &table, err));
  rs_status status = take_column(table, name, list, count, err);
  rs_table_free(table);
  return status;
}

/* ---- by the ending ----------------------------------------------------------------------------------------------- */

static const struct {
  const char *ending;
  rs_status (*read)(const char *data, size_t length, const char *name, double **list, size_t *count, rs_err *err);
} formats[] = {{".npy", rs_npy_list}, {".json", read_json}, {".csv", read_csv}};

/* Which format, or their number when it is none. */
static size_t format_of(const char *file) {
  size_t i = 0, length = strlen(file);
  for (; i < RS_COUNT(formats); i++) {
    size_t ending = strlen(formats[i].ending);
    if (length > ending && strcmp(file + length - ending, formats[i].ending) == 0) break;
  }
  return i;
}

bool rs_numbers_named(const char *file) {
  return format_of(file) < RS_COUNT(formats);
}

rs_status rs_numbers_read(const char *file, double **list, size_t *count, rs_err *err) {
  size_t format = format_of(file), length;
  char *data = NULL;
  *list = NULL;
  *count = 0;
  if (format == RS_COUNT(formats))
    return rs_fail(err, RS_INPUT, "%s: is no file of numbers (.npy, .json or .csv)", file);
  RS_TRY(rs_file_read(file, RS_LARGEST_FILE, &data, &length, err));
  rs_status status = formats[format].read(data, length, file, list, count, err);
  free(data);
  if (status == RS_OK) return RS_OK;
  free(*list);
  *list = NULL;
  *count = 0;
  return status;
}
