/* json_places.c: where the values of a JSON text stand. jansson, which has accepted the text, keeps objects in their
 * order but no places; the tree it became is walked beside the text again. */
#include <string.h>

#include "io_internal.h"

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

void rs_json_places(const char *text, size_t length, rs_node *root) {
  cursor at = {.text = text, .length = length, .line = 1, .column = 1};
  place(&at, root);
}
