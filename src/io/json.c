/* json.c: JSON text to the same tree that YAML becomes, by way of jansson. The depth and the number of values are
 * checked on the text beforehand, so that neither jansson nor the conversion goes further than the limits, and the
 * complaint about the depth still names a place. */
#include "io_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- places ------------------------------------------------------------------------------------------------------ */

typedef struct cursor {
  const char *text;
  size_t length, offset, line, column;
} cursor;

static char ahead(const cursor *at) {
  return at->offset < at->length ? at->text[at->offset] : '\0';
}

static void step(cursor *at) {
  if (at->offset >= at->length) return;
  char c = at->text[at->offset++];
  bool newline = c == '\n', inside = ((unsigned char)ahead(at) & 0xC0) == 0x80;
  if (newline) at->line++;
  at->column = newline ? 1 : at->column + !inside;
}

/* To the next character that begins something. */
static void skip_between(cursor *at) {
  while (at->offset < at->length && strchr(" \t\r\n,:", ahead(at)) != NULL) step(at);
}

static void skip_string(cursor *at) {
  for (step(at); at->offset < at->length && ahead(at) != '"'; step(at))
    if (ahead(at) == '\\') step(at);
  step(at);
}

static void skip_scalar(cursor *at) {
  if (ahead(at) == '"') {
    skip_string(at);
    return;
  }
  while (at->offset < at->length && strchr(" \t\r\n,]}", ahead(at)) == NULL) step(at);
}

static void place(cursor *at, rs_node *node) {
  skip_between(at);
  node->line = at->line;
  node->column = at->column;
  if (node->kind == RS_SCALAR) {
    skip_scalar(at);
    return;
  }
  step(at);
  for (size_t i = 0; i < node->count; i++) {
    rs_node *child = &node->items[i];
    skip_between(at);
    child->key_line = at->line;
    child->key_column = at->column;
    if (node->kind == RS_MAPPING) skip_string(at);
    place(at, child);
  }
  skip_between(at);
  step(at);
}

/* Gives each node of a tree the line and column of its value, and of its key, in the JSON text that it was read from.
 */
static void place_values(const char *text, size_t length, rs_node *root) {
  cursor at = {.text = text, .length = length, .line = 1, .column = 1};
  place(&at, root);
}

/* What Python writes for numbers that JSON has not. In what jansson sees a string of as many characters stands in its
 * place, which no file has: DEL, and a sign. */
static const struct {
  const char *word, *stand_in, *text;
} odd_numbers[] = {
    {"-Infinity", "\"\x7f-\"     ", "\x7f-"}, {"Infinity", "\"\x7f+\"    ", "\x7f+"}, {"NaN", "\"\x7f\"", "\x7f"}};

typedef struct json_reader {
  const char *name;
  size_t most_values;
  bool odd; /* the text had odd numbers */
  rs_err *err;
} json_reader;

/* ---- from jansson's values to nodes ------------------------------------------------------------------------------ */

static rs_status convert(json_reader *in, json_t *value, rs_node *node);

static rs_status convert_array(json_reader *in, json_t *array, rs_node *node) {
  node->kind = RS_SEQUENCE;
  for (size_t i = 0; i < json_array_size(array); i++) {
    rs_node *child = rs_node_append(node, in->err);
    if (!child) return RS_MEMORY;
    RS_TRY(convert(in, json_array_get(array, i), child));
  }
  return RS_OK;
}

static rs_status convert_object(json_reader *in, json_t *object, rs_node *node) {
  node->kind = RS_MAPPING;
  for (void *entry = json_object_iter(object); entry; entry = json_object_iter_next(object, entry)) {
    rs_node *child = rs_node_append(node, in->err);
    if (!child) return RS_MEMORY;
    child->key = rs_strdup(json_object_iter_key(entry), in->err);
    if (!child->key) return RS_MEMORY;
    RS_TRY(convert(in, json_object_iter_value(entry), child));
  }
  return RS_OK;
}

/* The number that a string stands for, or NULL. */
static const char *odd_number(const char *text) {
  for (size_t i = 0; i < RS_COUNT(odd_numbers); i++)
    if (strcmp(odd_numbers[i].text, text) == 0) return odd_numbers[i].word;
  return NULL;
}

static rs_status convert_scalar(json_reader *in, const json_t *value, rs_node *node) {
  char number[RS_NUMBER_CHARS];
  const char *text = "null";
  switch (json_typeof(value)) {
  case JSON_STRING:
    text = in->odd ? odd_number(json_string_value(value)) : NULL;
    node->quoted = text == NULL;
    if (node->quoted) text = json_string_value(value);
    break;
  case JSON_INTEGER:
    snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    text = number;
    break;
  case JSON_REAL:
    rs_number_format(json_real_value(value), number);
    text = number;
    break;
  case JSON_TRUE: text = "true"; break;
  case JSON_FALSE: text = "false"; break;
  default: break;
  }
  node->text = rs_strdup(text, in->err);
  return node->text ? RS_OK : RS_MEMORY;
}

static rs_status convert(json_reader *in, json_t *value, rs_node *node) {
  if (json_is_array(value)) return convert_array(in, value, node);
  if (json_is_object(value)) return convert_object(in, value, node);
  return convert_scalar(in, value, node);
}

/* ---- checks and complaints -------------------------------------------------------------------------------------- */

static rs_status check_not_empty(const json_reader *in, const char *text, size_t length) {
  for (size_t i = 0; i < length; i++) {
    if (!memchr(" \t\r\n", text[i], 4)) return RS_OK;
  }
  return rs_fail(in->err, RS_INPUT, "%s:1:1: the file is empty (write at least {})", in->name);
}

/* What the brackets and commas of a text promise. In text that is no JSON it may be off; jansson then complains. */
typedef struct outline {
  const char *deep; /* the bracket that opens one level too many, where the outline ends, or NULL */
  size_t values;
} outline;

static outline outline_of(const char *text, size_t length) {
  outline found = {.values = 1};
  bool in_string = false, fresh = false; /* nothing stands behind the bracket that was opened last */
  ptrdiff_t depth = 0;
  for (size_t i = 0; i < length; i++) {
    char c = text[i];
    if (c == '"') in_string = !in_string;
    if (in_string) {
      if (c == '\\') i++;
    } else if (c == '[' || c == '{') {
      if (++depth > RS_TREE_MAX_DEPTH) return (outline){text + i, found.values};
      found.values++;
    } else if (c == ']' || c == '}') {
      depth--;
      found.values -= fresh;
    } else if (c == ',') {
      found.values++;
    }
    fresh = c == '[' || c == '{' || (fresh && memchr(" \t\r\n", c, 4) != NULL);
    fresh &= !in_string;
  }
  return found;
}

/* Before jansson sees the text, so that no file takes more memory than its limits allow. */
static rs_status check_outline(const json_reader *in, const char *text, size_t length) {
  outline found = outline_of(text, length);
  size_t line, column;
  if (found.deep) {
    rs_io_position(text, (size_t)(found.deep - text), &line, &column);
    return rs_fail(in->err, RS_INPUT, "%s:%zu:%zu: nested deeper than %d levels (a config needs 6)", in->name, line,
                   column, RS_TREE_MAX_DEPTH);
  }
  if (found.values <= in->most_values) return RS_OK;
  return rs_fail(in->err, RS_INPUT, "%s: more than %zu values (split the file)", in->name, in->most_values);
}

static const char *hint_for(enum json_error_code code) {
  switch (code) {
  case json_error_duplicate_key: return "keep one of them";
  case json_error_invalid_utf8: return "save the file as UTF-8";
  case json_error_null_byte_in_key:
  case json_error_null_character: return "a text cannot hold a NUL character";
  case json_error_numeric_overflow: return "a double ends at 1.8e308, a whole number at 9223372036854775807";
  default: return "JSON wants double quotes, no comments and no comma after the last item";
  }
}

static rs_status fail_parser(const json_reader *in, const json_error_t *error) {
  /* jansson says nothing where an allocation failed. */
  if (error->text[0] == '\0') return rs_fail(in->err, RS_MEMORY, "out of memory while reading %s", in->name);
  char why[JSON_ERROR_TEXT_LENGTH];
  rs_shorten(error->text, sizeof why, why);
  /* jansson's column is 0 for a file that ends right after a newline. */
  int column = error->column > 0 ? error->column : 1;
  return rs_fail(in->err, RS_INPUT, "%s:%d:%d: %s (%s)", in->name, error->line, column, why,
                 hint_for(json_error_code(error)));
}

/* Puts a stand-in for each odd number into a copy of the text; NULL where there is none. */
static rs_status mask(const json_reader *in, const char *text, size_t length, char **masked) {
  bool in_string = false;
  *masked = NULL;
  for (size_t i = 0; i < length; i++) {
    if (text[i] == '"') in_string = !in_string;
    if (in_string) {
      i += text[i] == '\\';
      continue;
    }
    for (size_t k = 0; k < RS_COUNT(odd_numbers); k++) {
      size_t size = strlen(odd_numbers[k].word);
      if (size > length - i || memcmp(text + i, odd_numbers[k].word, size) != 0) continue;
      if (*masked == NULL) {
        *masked = rs_alloc(length, 1, in->err);
        if (*masked == NULL) return RS_MEMORY;
        memcpy(*masked, text, length);
      }
      memcpy(*masked + i, odd_numbers[k].stand_in, size);
      i += size - 1;
      break;
    }
  }
  return RS_OK;
}

static rs_status parse(json_reader *in, const char *text, size_t length, json_t **value) {
  char *masked;
  RS_TRY(check_not_empty(in, text, length));
  RS_TRY(check_outline(in, text, length));
  RS_TRY(mask(in, text, length, &masked));
  json_error_t error = {0};
  errno = 0;
  *value = json_loadb(masked != NULL ? masked : text, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
  bool starved = errno == ENOMEM; /* jansson calls it bad syntax within a string, or leaves bytes out */
  in->odd = masked != NULL;
  free(masked);
  if (starved) {
    json_decref(*value);
    *value = NULL;
    return rs_fail(in->err, RS_MEMORY, "out of memory while reading %s", in->name);
  }
  return *value ? RS_OK : fail_parser(in, &error);
}

rs_status rs_json_read_most(const char *text, size_t length, const char *name, size_t most_values, rs_tree **tree,
                            rs_err *err) {
  json_reader in = {.name = name, .most_values = most_values, .err = err};
  json_t *value = NULL;
  *tree = NULL;
  rs_io_skip_bom(&text, &length);
  RS_TRY(parse(&in, text, length, &value));
  rs_tree *parsed = rs_tree_create(name, err);
  rs_status status = parsed ? convert(&in, value, &parsed->root) : RS_MEMORY;
  json_decref(value);
  if (status == RS_OK) {
    place_values(text, length, &parsed->root);
    rs_node_adopt(&parsed->root);
  } else {
    rs_tree_free(parsed);
    parsed = NULL;
  }
  *tree = parsed;
  return status;
}

rs_status rs_json_read(const char *text, size_t length, const char *name, rs_tree **tree, rs_err *err) {
  return rs_json_read_most(text, length, name, RS_TREE_MAX_NODES, tree, err);
}

rs_status rs_json_load(const char *folder, const char *name, size_t limit, rs_tree **tree, rs_err *err) {
  char *path = rs_path_join(folder, name, err), *text = NULL;
  size_t length;
  *tree = NULL;
  rs_status status = path != NULL ? rs_file_read(path, limit, &text, &length, err) : RS_MEMORY;
  if (status == RS_OK) status = rs_json_read(text, length, path, tree, err);
  free(text);
  free(path);
  return status;
}
