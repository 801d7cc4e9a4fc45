/* tree.c: the nodes that YAML and JSON are read into, what is wrong in them, and the few helpers both readers share.
 * Walking down is recursive: the readers allow RS_TREE_MAX_DEPTH levels. */
#include "io/io.h"
#include "io_internal.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

rs_tree *rs_tree_create(const char *name, rs_err *err) {
  rs_tree *tree = rs_alloc(1, sizeof *tree, err);
  if (!tree) return NULL;
  tree->file = rs_strdup(name, err);
  if (!tree->file) {
    free(tree);
    return NULL;
  }
  tree->root.file = tree->file;
  return tree;
}

void rs_tree_free(rs_tree *tree) {
  if (!tree) return;
  rs_node_clear(&tree->root);
  free(tree->file);
  free(tree);
}

const rs_node *rs_node_get(const rs_node *node, const char *key) {
  if (!node || node->kind != RS_MAPPING) return NULL;
  for (size_t i = 0; i < node->count; i++) {
    if (node->items[i].key && strcmp(node->items[i].key, key) == 0) return &node->items[i];
  }
  return NULL;
}

bool rs_node_is_null(const rs_node *node) {
  return node != NULL && node->kind == RS_SCALAR && !node->quoted && strcmp(node->text, "null") == 0;
}

static rs_status copy_string(char **to, const char *from, rs_err *err) {
  if (!from) return RS_OK;
  *to = rs_strdup(from, err);
  return *to ? RS_OK : RS_MEMORY;
}

static rs_status copy_items(rs_node *to, const rs_node *from, rs_err *err) {
  if (from->count == 0) return RS_OK;
  to->items = rs_alloc(from->count, sizeof *to->items, err);
  if (!to->items) return RS_MEMORY;
  to->capacity = from->count;
  /* `count` grows with the copies, so that clearing a copy that failed half way touches only what is there. */
  while (to->count < from->count) {
    RS_TRY(rs_node_copy(&to->items[to->count], &from->items[to->count], err));
    to->count++;
  }
  return RS_OK;
}

rs_status rs_node_copy(rs_node *to, const rs_node *from, rs_err *err) {
  *to = *from;
  to->text = to->key = NULL;
  to->items = NULL;
  to->count = to->capacity = 0;
  rs_status status = copy_string(&to->text, from->text, err);
  if (status == RS_OK) status = copy_string(&to->key, from->key, err);
  if (status == RS_OK) status = copy_items(to, from, err);
  if (status != RS_OK) rs_node_clear(to);
  return status;
}

void rs_node_clear(rs_node *node) {
  for (size_t i = 0; i < node->count; i++) rs_node_clear(&node->items[i]);
  free(node->items);
  free(node->text);
  free(node->key);
  *node = (rs_node){0};
}

void rs_node_adopt(rs_node *root) {
  for (size_t i = 0; i < root->count; i++) {
    root->items[i].parent = root;
    rs_node_adopt(&root->items[i]);
  }
}

rs_node *rs_node_append(rs_node *node, rs_err *err) {
  if (node->kind == RS_SCALAR) {
    (void)rs_fail(err, RS_INTERNAL, "an item was appended to a scalar");
    return NULL;
  }
  if (RS_GROW(node->items, &node->capacity, node->count + 1, err) != RS_OK) return NULL;
  rs_node *child = &node->items[node->count++];
  *child = (rs_node){.file = node->file};
  return child;
}

void rs_io_skip_bom(const char **text, size_t *length) {
  if (*length < 3 || memcmp(*text, "\xEF\xBB\xBF", 3) != 0) return;
  *text += 3;
  *length -= 3;
}

void rs_io_position(const char *text, size_t offset, size_t *line, size_t *column) {
  *line = *column = 1;
  for (size_t i = 0; i < offset; i++) {
    if (text[i] == '\n') {
      ++*line;
      *column = 1;
    } else if (((unsigned char)text[i] & 0xC0) != 0x80) { /* not the continuation of a UTF-8 character */
      ++*column;
    }
  }
}

/* ---- problems ---------------------------------------------------------------------------------------------------- */

enum { PART = 120, VALUE_SHOWN = 40 }; /* bytes of a key, and of a wrong value, that a message repeats */

rs_path rs_path_key(const rs_path *parent, const char *key) {
  rs_path path;
  const char *prefix = parent != NULL ? parent->text : "";
  snprintf(path.text, sizeof path.text, "%.*s%s%.*s", (int)rs_utf8_cut(prefix, PART), prefix,
           *prefix != '\0' ? "." : "", (int)rs_utf8_cut(key, PART), key);
  return path;
}

rs_path rs_path_index(const rs_path *parent, size_t index) {
  rs_path path;
  snprintf(path.text, sizeof path.text, "%.*s[%zu]", (int)rs_utf8_cut(parent->text, 200), parent->text, index);
  return path;
}

static rs_path path_of(const rs_problems *problems, const rs_node *node) {
  if (node == problems->top || (node->parent == NULL && node->key == NULL)) return (rs_path){""};
  if (node->parent == NULL) return rs_path_key(NULL, node->key);
  const rs_path above = path_of(problems, node->parent);
  if (node->parent->kind == RS_MAPPING) return rs_path_key(&above, node->key);
  return node->parent->kind == RS_SEQUENCE ? rs_path_index(&above, (size_t)(node - node->parent->items)) : above;
}

void rs_problems_clear(rs_problems *problems) {
  rs_text_clear(&problems->text);
  problems->count = 0;
}

/* A line that did not fit in memory is no fault of the config. */
static void put_line(rs_problems *problems, rs_text *line) {
  char shown[2048];
  rs_message(shown, sizeof shown, "%s", rs_text_string(line));
  if (problems->text.length > 0) rs_text_puts(&problems->text, "\n");
  rs_text_puts(&problems->text, shown);
  problems->memory |= problems->text.failed || line->failed;
  problems->text.failed |= line->failed;
  rs_text_clear(line);
}

static void put_value(rs_text *text, const rs_node *node) {
  if (node->kind == RS_SEQUENCE) rs_text_puts(text, " = [...]");
  if (node->kind == RS_MAPPING) rs_text_puts(text, " = {...}");
  if (node->kind != RS_SCALAR) return;
  rs_text_puts(text, node->quoted ? " = \"" : " = ");
  size_t shown = rs_utf8_cut(node->text, VALUE_SHOWN);
  rs_text_add(text, node->text, shown);
  if (node->text[shown] != '\0') rs_text_puts(text, "...");
  if (node->quoted) rs_text_puts(text, "\"");
}

static void put_place(rs_text *text, const char *file, size_t line, size_t column) {
  if (line > 0)
    rs_text_printf(text, "%s:%zu:%zu: ", file, line, column);
  else
    rs_text_printf(text, "%s: ", file);
}

static void put_problem(rs_problems *problems, const rs_node *node, const char *path, const char *format,
                        va_list words) {
  if (problems->count++ >= RS_PROBLEMS_SHOWN) return;
  char why[1024];
  rs_text line = {0};
  rs_message_print(why, sizeof why, false, format, words);
  put_place(&line, node->file, node->line, node->column);
  rs_text_puts(&line, path);
  if (*path != '\0') put_value(&line, node);
  rs_text_printf(&line, "%s%s", *path != '\0' ? ": " : "", why);
  put_line(problems, &line);
}

rs_path rs_node_path(const rs_node *node) {
  return path_of(&(rs_problems){0}, node);
}

void rs_problem(rs_problems *problems, const rs_node *node, const char *format, ...) {
  va_list words;
  va_start(words, format);
  put_problem(problems, node, path_of(problems, node).text, format, words);
  va_end(words);
}

void rs_problem_at(rs_problems *problems, const rs_node *node, const char *format, ...) {
  va_list words;
  va_start(words, format);
  put_problem(problems, node, "", format, words);
  va_end(words);
}

rs_problem_mark rs_problems_mark(const rs_problems *problems) {
  return (rs_problem_mark){problems->count, problems->text.length};
}

/* Whether the line (length bytes) is one of those in text[begin, end). */
static bool has_line(const char *text, size_t begin, size_t end, const char *line, size_t length) {
  while (begin < end) {
    size_t next = begin + strcspn(text + begin, "\n");
    if (next - begin == length && memcmp(text + begin, line, length) == 0) return true;
    begin = next + 1;
  }
  return false;
}

void rs_problems_once(rs_problems *problems, rs_problem_mark since, rs_problem_mark here) {
  rs_text *text = &problems->text;
  if (text->failed || problems->count == here.count) return;
  size_t kept = here.length, shown = here.count;
  for (size_t begin = here.length; begin < text->length;) {
    size_t start = begin + (text->data[begin] == '\n'), end = start + strcspn(text->data + start, "\n");
    if (!has_line(text->data, since.length, here.length, text->data + start, end - start)) {
      memmove(text->data + kept, text->data + begin, end - begin);
      kept += end - begin;
      shown++;
    }
    begin = end;
  }
  if (text->length == here.length) shown++;
  text->length = kept;
  if (text->data != NULL) text->data[kept] = '\0';
  problems->count = shown;
}

void rs_problem_err(rs_problems *problems, const rs_node *node, const rs_err *why) {
  if (why->status == RS_MEMORY)
    rs_problem_memory(problems);
  else
    rs_problem(problems, node, "%s", why->message);
}

void rs_problem_lines(rs_problems *problems, const rs_node *node, const char *message) {
  for (const char *line = message; line != NULL;) {
    size_t length = strcspn(line, "\n");
    rs_problem(problems, node, "%.*s", (int)length, line);
    line = line[length] == '\n' ? line + length + 1 : NULL;
  }
}

/* What may have been meant: the nearest known key, or all of them where they are few. */
static void put_hint(rs_text *text, const char *key, const char *const *known, size_t count) {
  enum { FEW = 24 };
  const char *near = rs_suggest(key, known, count);
  if (strcmp(key, "threads") == 0) { /* which change no number */
    rs_text_puts(text, " (--threads N says it)");
  } else if (near != NULL) {
    rs_text_printf(text, " (did you mean %s?)", near);
  } else if (isdigit((unsigned char)key[0])) {
    rs_text_puts(text, " (write decimals with '.'; a comma begins the next entry)");
  } else if (count > 0 && count <= FEW) {
    for (size_t i = 0; i < count; i++) rs_text_printf(text, "%s%s", i > 0 ? ", " : " (it has ", known[i]);
    rs_text_puts(text, ")");
  } else if (count > FEW) {
    rs_text_puts(text, " (ropescope list shows them)");
  }
}

const rs_node *rs_mistyped(const rs_node *mapping, const char *key) {
  for (size_t i = 0; i < mapping->count; i++)
    if (strcmp(mapping->items[i].key, key) != 0 && rs_suggest(mapping->items[i].key, &key, 1) != NULL)
      return &mapping->items[i];
  return NULL;
}

void rs_problem_unknown_key(rs_problems *problems, const rs_node *child, const char *what, const char *const *known,
                            size_t count) {
  if (problems->count++ >= RS_PROBLEMS_SHOWN) return;
  const rs_path full = path_of(problems, child);
  rs_text line = {0};
  put_place(&line, child->file, child->key_line, child->key_column);
  rs_text_printf(&line, "%s: %s has no key %s", full.text, what, child->key);
  put_hint(&line, child->key, known, count);
  put_line(problems, &line);
}

void rs_check_keys(rs_problems *problems, const rs_node *mapping, const char *what, const char *const *known,
                   size_t count) {
  for (size_t i = 0; i < mapping->count; i++) {
    bool found = false;
    for (size_t k = 0; k < count; k++) found |= strcmp(mapping->items[i].key, known[k]) == 0;
    if (!found) rs_problem_unknown_key(problems, &mapping->items[i], what, known, count);
  }
}

bool rs_expect(rs_problems *problems, const rs_node *node, rs_node_kind kind, const char *what) {
  if (node->kind == kind) return true;
  rs_problem(problems, node, "must be %s", what);
  return false;
}

bool rs_read_value(rs_problems *problems, const rs_node *node, const rs_param *param, rs_value *value) {
  rs_err why = {0};
  if (node->kind != RS_SCALAR) {
    rs_problem(problems, node, "must be one value");
    return false;
  }
  bool word = param->type == RS_CHOICE || param->type == RS_NAME || param->words != NULL;
  if (node->quoted && !word)
    (void)rs_fail(&why, RS_INPUT, "must be a %s, not text (take the quotes away)",
                  param->type == RS_BOOL ? "truth value" : "number");
  else
    (void)rs_value_parse(param, node->text, value, &why);
  if (why.status != RS_OK) rs_problem_err(problems, node, &why);
  return why.status == RS_OK;
}

size_t rs_read_count(rs_problems *problems, const rs_node *node, double min, double max, size_t fallback) {
  rs_param param = {.name = "", .type = RS_INTEGER, .min = min, .max = max};
  rs_value value;
  return node != NULL && rs_read_value(problems, node, &param, &value) ? (size_t)value.number : fallback;
}

double rs_read_real(rs_problems *problems, const rs_node *node, double min, double max, double fallback) {
  rs_param param = {.name = "", .type = RS_REAL, .min = min, .max = max};
  rs_value value;
  return node != NULL && rs_read_value(problems, node, &param, &value) ? value.number : fallback;
}

const char *rs_read_word(rs_problems *problems, const rs_node *node) {
  return rs_expect(problems, node, RS_SCALAR, "one word") ? node->text : NULL;
}

void rs_problem_memory(rs_problems *problems) {
  problems->count++;
  problems->memory = true;
}

rs_status rs_problems_end(rs_problems *problems, const char *name, rs_err *err) {
  rs_status status = RS_OK;
  if (problems->memory)
    status = rs_fail(err, RS_MEMORY, "%s: out of memory", name);
  else if (problems->count > 0)
    status = rs_fail(err, RS_INPUT, "%s", rs_text_string(&problems->text));
  rs_problems_clear(problems);
  return status;
}
