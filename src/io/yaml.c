/* yaml.c: YAML text to a tree in which every node knows its line and column, so that each complaint about a config can
 * point at its place. It follows libyaml's events with a stack of fixed depth: no file can make it recurse. What a
 * config has no use for (anchors, tags, merge keys, several documents) is refused by name, not half understood. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "io_internal.h"

typedef struct yaml_reader {
  yaml_parser_t parser;
  const char *text, *name;
  rs_tree *tree;
  /* The collections not yet ended, outermost first. Only the innermost gets new items, so none of these moves. */
  rs_node *parents[RS_TREE_MAX_DEPTH];
  size_t depth, nodes;
  char *key; /* read, and waiting for its value. Owned. */
  yaml_mark_t key_mark;
  rs_err *err;
} yaml_reader;

static rs_status fail_at(yaml_reader *in, yaml_mark_t mark, const char *format, ...) RS_PRINTF(3, 4);

static rs_status fail_at(yaml_reader *in, yaml_mark_t mark, const char *format, ...) {
  char why[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(why, sizeof why, format, arguments);
  va_end(arguments);
  return rs_fail(in->err, RS_INPUT, "%s:%zu:%zu: %s", in->name, mark.line + 1, mark.column + 1, why);
}

/* ---- what libyaml complains about ------------------------------------------------------------------------------- */

static const char *hint_for(const char *problem) {
  static const struct {
    const char *part, *hint;
  } hints[] = {
      {"cannot start any token", "indent with spaces, not tabs; quote a text that begins with @, % or `"},
      {"mapping values are not allowed", "quote a text that holds ': ', and indent the keys of one level alike"},
      {"expected key", "indent the keys of one level alike"},
      {"expected '-' indicator", "indent the items of one list alike"},
      {"unexpected end of stream", "a quote is not closed"},
      {"']'", "a bracket is not closed, or a comma is missing"},
      {"'}'", "a brace is not closed, or a comma is missing"},
      {"alphabetic or numeric", "quote a text that begins with & or *"},
      {"expected ':'", "write key: value or - item, with the space"},
  };
  for (size_t i = 0; i < RS_COUNT(hints); i++) {
    if (strstr(problem, hints[i].part)) return hints[i].hint;
  }
  return "check the indentation, brackets and quotes here";
}

static rs_status fail_encoding(yaml_reader *in) {
  const yaml_parser_t *parser = &in->parser;
  const char *hint = strstr(parser->problem, "control") ? "remove it" : "save the file as UTF-8";
  char value[16] = "";
  size_t line, column;
  rs_io_position(in->text, parser->problem_offset, &line, &column);
  if (parser->problem_value >= 0) snprintf(value, sizeof value, ": 0x%02X", (unsigned)parser->problem_value);
  return rs_fail(in->err, RS_INPUT, "%s:%zu:%zu: %s%s (%s)", in->name, line, column, parser->problem, value, hint);
}

static rs_status fail_syntax(yaml_reader *in) {
  const yaml_parser_t *parser = &in->parser;
  const char *hint = hint_for(parser->problem);
  bool earlier = parser->context && parser->context_mark.line < parser->problem_mark.line;
  if (!earlier) return fail_at(in, parser->problem_mark, "%s (%s)", parser->problem, hint);
  /* A word or quote that runs on for lines is wrong where it begins, not where libyaml gave up. */
  if (parser->error == YAML_SCANNER_ERROR) return fail_at(in, parser->context_mark, "%s (%s)", parser->problem, hint);
  return fail_at(in, parser->problem_mark, "%s, %s that begins at line %zu (%s)", parser->problem, parser->context,
                 parser->context_mark.line + 1, hint);
}

static rs_status fail_parser(yaml_reader *in) {
  switch (in->parser.error) {
  case YAML_MEMORY_ERROR: return rs_fail(in->err, RS_MEMORY, "out of memory while reading %s", in->name);
  case YAML_READER_ERROR: return fail_encoding(in);
  default: return fail_syntax(in);
  }
}

/* ---- duplicate keys --------------------------------------------------------------------------------------------- */

static int compare_keys(const void *a, const void *b) {
  const rs_node *left = *(const rs_node *const *)a, *right = *(const rs_node *const *)b;
  int order = strcmp(left->key, right->key);
  return order != 0 ? order : (left > right) - (left < right);
}

/* The first node in the file whose key was there before, or NULL; `*before` is the one with the same key. */
static const rs_node *find_duplicate(const rs_node *const *sorted, size_t count, const rs_node **before) {
  const rs_node *found = NULL;
  for (size_t i = 1; i < count; i++) {
    if (strcmp(sorted[i - 1]->key, sorted[i]->key) != 0 || (found && found < sorted[i])) continue;
    found = sorted[i];
    *before = sorted[i - 1];
  }
  return found;
}

/* Sorts once per mapping: comparing each key with all before it would take a file of 100,000 keys a minute. */
static rs_status check_keys(yaml_reader *in, const rs_node *mapping) {
  const rs_node **sorted = rs_alloc(mapping->count, sizeof *sorted, in->err);
  if (!sorted) return RS_MEMORY;
  for (size_t i = 0; i < mapping->count; i++) sorted[i] = &mapping->items[i];
  qsort(sorted, mapping->count, sizeof *sorted, compare_keys);
  const rs_node *before = NULL, *twice = find_duplicate(sorted, mapping->count, &before);
  free(sorted);
  if (!twice) return RS_OK;
  char key[80];
  rs_shorten(twice->key, sizeof key, key);
  return rs_fail(in->err, RS_INPUT, "%s:%zu:%zu: %s: given twice (first at line %zu)", in->name, twice->key_line,
                 twice->key_column, key, before->key_line);
}

/* ---- events to nodes -------------------------------------------------------------------------------------------- */

static bool wants_key(const yaml_reader *in) {
  return in->depth > 0 && in->parents[in->depth - 1]->kind == RS_MAPPING && !in->key;
}

static rs_status copy_text(yaml_reader *in, const yaml_event_t *event, char **text) {
  const char *value = (const char *)event->data.scalar.value;
  if (strlen(value) != event->data.scalar.length)
    return fail_at(in, event->start_mark, "a text cannot hold a NUL character (remove the \\0)");
  *text = rs_strdup(value, in->err);
  return *text ? RS_OK : RS_MEMORY;
}

static rs_status take_key(yaml_reader *in, const yaml_event_t *event) {
  const char *value = (const char *)event->data.scalar.value;
  if (event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE) {
    if (value[0] == '\0') return fail_at(in, event->start_mark, "a key is missing here (write key: value)");
    if (strcmp(value, "<<") == 0)
      return fail_at(in, event->start_mark, "merge keys (<<) are not supported (write the keys out)");
  }
  in->key_mark = event->start_mark;
  return copy_text(in, event, &in->key);
}

static rs_status add_node(yaml_reader *in, rs_node_kind kind, yaml_mark_t mark, rs_node **added) {
  if (in->nodes == RS_TREE_MAX_NODES)
    return fail_at(in, mark, "more than %d values (split the file)", RS_TREE_MAX_NODES);
  in->nodes++;
  rs_node *node = in->depth > 0 ? rs_node_append(in->parents[in->depth - 1], in->err) : &in->tree->root;
  if (!node) return RS_MEMORY;
  node->kind = kind;
  node->line = mark.line + 1;
  node->column = mark.column + 1;
  if (in->key) {
    node->key = in->key;
    node->key_line = in->key_mark.line + 1;
    node->key_column = in->key_mark.column + 1;
    in->key = NULL;
  }
  *added = node;
  return RS_OK;
}

static rs_status check_properties(yaml_reader *in, yaml_mark_t mark, const yaml_char_t *anchor,
                                  const yaml_char_t *tag) {
  if (anchor) return fail_at(in, mark, "anchors (&) are not supported (write the value out where it is needed)");
  if (tag) return fail_at(in, mark, "tags (!) are not supported (remove it; quotes make a value a text)");
  return RS_OK;
}

static rs_status take_scalar(yaml_reader *in, const yaml_event_t *event) {
  RS_TRY(check_properties(in, event->start_mark, event->data.scalar.anchor, event->data.scalar.tag));
  if (wants_key(in)) return take_key(in, event);
  rs_node *node = NULL;
  RS_TRY(add_node(in, RS_SCALAR, event->start_mark, &node));
  node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
  return copy_text(in, event, &node->text);
}

static rs_status open_collection(yaml_reader *in, rs_node_kind kind, yaml_mark_t mark) {
  if (wants_key(in)) return fail_at(in, mark, "a list or mapping cannot be a key (write a word)");
  if (in->depth == RS_TREE_MAX_DEPTH)
    return fail_at(in, mark, "nested deeper than %d levels (a config needs 6)", RS_TREE_MAX_DEPTH);
  rs_node *node = NULL;
  RS_TRY(add_node(in, kind, mark, &node));
  in->parents[in->depth++] = node;
  return RS_OK;
}

static rs_status take_sequence(yaml_reader *in, const yaml_event_t *event) {
  RS_TRY(check_properties(in, event->start_mark, event->data.sequence_start.anchor, event->data.sequence_start.tag));
  return open_collection(in, RS_SEQUENCE, event->start_mark);
}

static rs_status take_mapping(yaml_reader *in, const yaml_event_t *event) {
  RS_TRY(check_properties(in, event->start_mark, event->data.mapping_start.anchor, event->data.mapping_start.tag));
  return open_collection(in, RS_MAPPING, event->start_mark);
}

static rs_status take_event(yaml_reader *in, const yaml_event_t *event) {
  switch (event->type) {
  case YAML_DOCUMENT_START_EVENT:
    if (in->nodes == 0) return RS_OK;
    return fail_at(in, event->start_mark, "a second document begins here (remove the --- or split the file)");
  case YAML_ALIAS_EVENT:
    return fail_at(in, event->start_mark, "aliases (*) are not supported (write the value out; quote a text with *)");
  case YAML_SCALAR_EVENT: return take_scalar(in, event);
  case YAML_SEQUENCE_START_EVENT: return take_sequence(in, event);
  case YAML_MAPPING_START_EVENT: return take_mapping(in, event);
  case YAML_SEQUENCE_END_EVENT: in->depth--; return RS_OK;
  case YAML_MAPPING_END_EVENT: return check_keys(in, in->parents[--in->depth]);
  default: return RS_OK;
  }
}

/* The %TAG line of a document, or NULL. libyaml compares each with all before it, so a file of them would take hours. A
 * line may begin after any of the five line breaks of YAML, which all end in a byte outside printable ASCII. */
static const char *find_tag_line(const char *text, size_t length) {
  const char *end = text + length, *found = text;
  while ((found = memmem(found, (size_t)(end - found), "%TAG", 4))) {
    if (found == text || (unsigned char)found[-1] < 0x20 || (unsigned char)found[-1] >= 0x80) return found;
    found++;
  }
  return NULL;
}

static rs_status check_directives(const yaml_reader *in, size_t length) {
  const char *found = find_tag_line(in->text, length);
  if (!found) return RS_OK;
  size_t line, column;
  rs_io_position(in->text, (size_t)(found - in->text), &line, &column);
  return rs_fail(in->err, RS_INPUT, "%s:%zu:%zu: tags (%%TAG) are not supported (remove the line)", in->name, line,
                 column);
}

/* A lone "---" is a document too: libyaml makes one empty plain scalar of it. */
static rs_status check_not_empty(const yaml_reader *in) {
  const rs_node *root = &in->tree->root;
  bool empty = in->nodes == 0 || (root->kind == RS_SCALAR && !root->quoted && root->text[0] == '\0');
  if (!empty) return RS_OK;
  return rs_fail(in->err, RS_INPUT, "%s:1:1: the file is empty (write at least one line of key: value)", in->name);
}

static rs_status read_events(yaml_reader *in) {
  bool more = true;
  while (more) {
    yaml_event_t event;
    if (!yaml_parser_parse(&in->parser, &event)) return fail_parser(in);
    more = event.type != YAML_STREAM_END_EVENT;
    rs_status status = take_event(in, &event);
    yaml_event_delete(&event);
    RS_TRY(status);
  }
  return check_not_empty(in);
}

static rs_status read_tree(yaml_reader *in, size_t length) {
  RS_TRY(check_directives(in, length));
  in->tree = rs_tree_create(in->name, in->err);
  if (!in->tree) return RS_MEMORY;
  if (!yaml_parser_initialize(&in->parser))
    return rs_fail(in->err, RS_MEMORY, "out of memory while reading %s", in->name);
  /* Set, not guessed: a file in UTF-16 is told so at its first byte. */
  yaml_parser_set_encoding(&in->parser, YAML_UTF8_ENCODING);
  yaml_parser_set_input_string(&in->parser, (const unsigned char *)in->text, length);
  rs_status status = read_events(in);
  yaml_parser_delete(&in->parser);
  return status;
}

rs_status rs_yaml_read(const char *text, size_t length, const char *name, rs_tree **tree, rs_err *err) {
  rs_io_skip_bom(&text, &length);
  yaml_reader in = {.text = text, .name = name, .err = err};
  rs_status status = read_tree(&in, length);
  free(in.key);
  if (status == RS_OK) {
    rs_node_adopt(&in.tree->root);
  } else {
    rs_tree_free(in.tree);
    in.tree = NULL;
  }
  *tree = in.tree;
  return status;
}
