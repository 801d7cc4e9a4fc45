/* test_io.c: the io layer. Messages are compared whole, since they are what a user sees. The C library's malloc, read,
 * write, fsync and rename are replaced below, so that each of them can be made to fail. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "ropescope/io.h"

/* ---- the C library, made to fail --------------------------------------------------------------------------------- */

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
enum { COUNTS_MEMORY = 1 };
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void __libc_free(void *memory);

static long blocks;              /* allocated and not yet released */
static long allocations = -1;    /* until the next one fails; negative: none does */
static bool refused, refuse_all; /* one has failed; all after it fail too */

static bool refuses(void) {
  if (allocations < 0 || allocations-- > 0) return false;
  if (refuse_all) allocations = 0;
  refused = true;
  return true;
}

static void *counted(void *memory) {
  blocks += memory != NULL;
  return memory;
}

void *malloc(size_t size) {
  return refuses() ? NULL : counted(__libc_malloc(size));
}

void *calloc(size_t count, size_t size) {
  return refuses() ? NULL : counted(__libc_calloc(count, size));
}

void *realloc(void *memory, size_t size) {
  if (refuses()) return NULL;
  void *moved = __libc_realloc(memory, size);
  return memory ? moved : counted(moved);
}

void free(void *memory) {
  blocks -= memory != NULL;
  __libc_free(memory);
}
#else
enum { COUNTS_MEMORY = 0 };
static long blocks, allocations;
static bool refused, refuse_all;
#endif

static char calls[64];                     /* 'f' fsync, 'r' rename, in order */
static char renamed[128];                  /* from what name */
static int fsync_errors[2], rename_error;  /* errno to fail with; 0: the real call */
static bool trickle, interrupt, lose_file; /* a few bytes at a time; EINTR first; no descriptors after a rename */

static void note(char call) {
  size_t length = strlen(calls);
  if (length + 1 < sizeof calls) calls[length] = call;
}

static bool interrupted(void) {
  if (!interrupt) return false;
  interrupt = false;
  errno = EINTR;
  return true;
}

ssize_t read(int file, void *data, size_t length) {
  return interrupted() ? -1 : syscall(SYS_read, file, data, trickle && length > 8 ? 8 : length);
}

ssize_t write(int file, const void *data, size_t length) {
  return interrupted() ? -1 : syscall(SYS_write, file, data, trickle && length > 8 ? 8 : length);
}

int fsync(int file) {
  errno = fsync_errors[strchr(calls, 'r') != NULL];
  note('f');
  return errno ? -1 : (int)syscall(SYS_fsync, file);
}

/* Lowers a limit and returns what it was. */
static rlim_t limit(int resource, rlim_t value) {
  struct rlimit now;
  getrlimit(resource, &now);
  rlim_t before = now.rlim_cur;
  now.rlim_cur = value;
  setrlimit(resource, &now);
  return before;
}

int rename(const char *from, const char *to) {
  note('r');
  snprintf(renamed, sizeof renamed, "%s", from);
  errno = rename_error;
  int result = errno ? -1 : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
  if (lose_file) limit(RLIMIT_NOFILE, 0);
  return result;
}

/* ---- helpers ----------------------------------------------------------------------------------------------------- */

typedef rs_status (*read_tree)(const char *, size_t, const char *, rs_tree **, rs_err *);

/* A copy with nothing behind it, so that the sanitizer sees a reader that goes on. */
static char *exact(const char *text, size_t length) {
  char *copy = malloc(length > 0 ? length : 1);
  memcpy(copy, text, length);
  return copy;
}

static rs_tree *parse(read_tree read_text, const char *text) {
  rs_err err = {0};
  rs_tree *tree = NULL;
  char *copy = exact(text, strlen(text));
  cr_assert_eq(read_text(copy, strlen(text), "f", &tree, &err), RS_OK, "%.60s: %s", text, err.message);
  cr_assert_str_eq(tree->file, "f");
  cr_assert_eq(tree->root.file, tree->file);
  free(copy);
  return tree;
}

static void refuses_bytes(read_tree read_text, const char *text, size_t length, const char *message) {
  rs_err err = {0};
  rs_tree *tree = (rs_tree *)&err;
  char *copy = exact(text, length);
  cr_assert_eq(read_text(copy, length, "f", &tree, &err), RS_INPUT, "accepted: %.60s", text);
  cr_assert_str_eq(err.message, message);
  cr_assert_null(tree);
  cr_assert_eq(read_text(copy, length, "f", &tree, NULL), RS_INPUT);
  free(copy);
}

static void refuses_text(read_tree read_text, const char *text, const char *message) {
  refuses_bytes(read_text, text, strlen(text), message);
}

/* `part` `count` times, between `head` and `tail`. */
static char *repeat(const char *head, const char *part, size_t count, const char *tail) {
  rs_text text = {0};
  rs_text_puts(&text, head);
  for (size_t i = 0; i < count; i++) rs_text_puts(&text, part);
  rs_text_puts(&text, tail);
  return text.data;
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static bool same(const char *a, const char *b) {
  return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool nodes_equal(const rs_node *a, const rs_node *b, bool with_places) {
  if (a->kind != b->kind || !same(a->text, b->text) || !same(a->key, b->key)) return false;
  if (a->quoted != b->quoted || a->count != b->count || !same(a->file, b->file)) return false;
  if (with_places && (a->line != b->line || a->column != b->column)) return false;
  if (with_places && (a->key_line != b->key_line || a->key_column != b->key_column)) return false;
  for (size_t i = 0; i < a->count; i++) {
    if (!nodes_equal(&a->items[i], &b->items[i], with_places)) return false;
  }
  return true;
}

/* One line per tree: kind or text, then line:column, then key at its line:column. */
static void describe(const rs_node *node, rs_text *out) {
  if (node->key) rs_text_printf(out, "%s@%zu:%zu=", node->key, node->key_line, node->key_column);
  if (node->kind == RS_SCALAR) rs_text_printf(out, node->quoted ? "'%s'" : "%s", node->text);
  if (node->kind != RS_SCALAR) rs_text_puts(out, node->kind == RS_MAPPING ? "{" : "[");
  for (size_t i = 0; i < node->count; i++) describe(&node->items[i], out);
  if (node->kind != RS_SCALAR) rs_text_puts(out, node->kind == RS_MAPPING ? "}" : "]");
  rs_text_printf(out, "@%zu:%zu ", node->line, node->column);
}

static void describes(read_tree read_text, const char *text, const char *expected) {
  rs_text out = {0};
  rs_tree *tree = parse(read_text, text);
  describe(&tree->root, &out);
  cr_assert_str_eq(out.data, expected);
  rs_text_clear(&out);
  rs_tree_free(tree);
}

/* ---- YAML -------------------------------------------------------------------------------------------------------- */

Test(io, yaml__nested_document__keeps_kinds_texts_and_places) {
  describes(
      rs_yaml_read, "# head\na: 1\nlist:\n  - x y\n  - {é: [2, 3], z: w}\nlast:\n",
      "{a@2:1=1@2:4 list@3:1=[x y@4:5 {é@5:6=[2@5:10 3@5:13 ]@5:9 z@5:17=w@5:20 }@5:5 ]@4:3 last@6:1=@6:6 }@2:1 ");
  describes(rs_yaml_read, "word", "word@1:1 ");
  describes(rs_yaml_read, "%YAML 1.2\n--- # c\n- []\n- {}\n...\n", "[[]@3:3 {}@4:3 ]@3:1 ");
  describes(rs_yaml_read, "a:\r\n  b: 1\r\n", "{a@1:1={b@2:3=1@2:6 }@2:3 }@1:1 ");
  describes(rs_yaml_read,
            "\xEF\xBB\xBF"
            "a: 1",
            "{a@1:1=1@1:4 }@1:1 ");
  describes(rs_yaml_read, "[a: 1, b]", "[{a@1:2=1@1:5 }@1:2 b@1:8 ]@1:1 ");
  describes(rs_yaml_read, "x: a %TAG ~%TAG", "{x@1:1=a %TAG ~%TAG@1:4 }@1:1 ");
}

Test(io, yaml__scalar_styles__all_but_plain_are_quoted) {
  describes(rs_yaml_read, "a: 1\nb: '1'\nc: \"1\"\nd: |-\n  1\ne: >-\n  1\n",
            "{a@1:1=1@1:4 b@2:1='1'@2:4 c@3:1='1'@3:4 d@4:1='1'@4:4 e@6:1='1'@6:4 }@1:1 ");
  describes(rs_yaml_read, "\"<<\": ''\n\"\": \"\"\n'b': 1", "{<<@1:1=''@1:7 @2:1=''@2:5 b@3:1=1@3:6 }@1:1 ");
  describes(rs_yaml_read, "''", "''@1:1 ");
}

Test(io, yaml__syntax_errors__say_where_and_why) {
  static const char *const cases[][2] = {
      {"a:\n\tb: 1\n", "f:2:1: found character that cannot start any token (indent with spaces, not tabs; quote a text "
                       "that begins with @, % or `)"},
      {"a: b: c\n", "f:1:5: mapping values are not allowed in this context (quote a text that holds ': ', and indent "
                    "the keys of one level alike)"},
      {"a:\n  - 1\n - 2\n", "f:3:2: did not find expected key, while parsing a block mapping that begins at line 1 "
                            "(indent the keys of one level alike)"},
      {"a: [1]]\n", "f:1:7: did not find expected key (indent the keys of one level alike)"},
      {"- a\nb: 1\n", "f:2:1: did not find expected '-' indicator, while parsing a block collection that begins at "
                      "line 1 (indent the items of one list alike)"},
      {"a: 1\nb: \"x\n\n", "f:2:4: found unexpected end of stream (a quote is not closed)"},
      {"a: [1, 2\nb: 3\n", "f:2:2: did not find expected ',' or ']', while parsing a flow sequence that begins at line "
                           "1 (a bracket is not closed, or a comma is missing)"},
      {"a: {b: 1\nc: 2\n", "f:2:2: did not find expected ',' or '}', while parsing a flow mapping that begins at line "
                           "1 (a brace is not closed, or a comma is missing)"},
      {"a: 1\nb\n", "f:2:1: could not find expected ':' (write key: value or - item, with the space)"},
      {"a: &\n", "f:1:5: did not find expected alphabetic or numeric character (quote a text that begins with & or *)"},
      {"a: \"\\q\"\n", "f:1:5: found unknown escape character (check the indentation, brackets and quotes here)"},
      {"%YAML 3.0\n---\na: 1\n",
       "f:1:1: found incompatible YAML document (check the indentation, brackets and quotes here)"},
      {"a: 1\nb: \x01\n", "f:2:4: control characters are not allowed: 0x01 (remove it)"},
      {"a: \xC3\xA9\n  \xFF\n", "f:2:3: invalid leading UTF-8 octet: 0xFF (save the file as UTF-8)"},
      {"é: \xC3(", "f:1:5: invalid trailing UTF-8 octet: 0x28 (save the file as UTF-8)"},
      {"a: \xC3", "f:1:4: incomplete UTF-8 octet sequence (save the file as UTF-8)"},
      {"\xFF\xFE", "f:1:1: invalid leading UTF-8 octet: 0xFF (save the file as UTF-8)"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) refuses_text(rs_yaml_read, cases[i][0], cases[i][1]);
  refuses_bytes(rs_yaml_read, "a\0b", 3, "f:1:2: control characters are not allowed: 0x00 (remove it)");
}

Test(io, yaml__what_a_config_has_no_use_for__is_refused_by_name) {
  static const char *const anchor = "anchors (&) are not supported (write the value out where it is needed)";
  static const char *const alias = "aliases (*) are not supported (write the value out; quote a text with *)";
  static const char *const tag = "tags (!) are not supported (remove it; quotes make a value a text)";
  static const char *const tag_line = "tags (%TAG) are not supported (remove the line)";
  static const char *const key = "a list or mapping cannot be a key (write a word)";
  static const char *const no_key = "a key is missing here (write key: value)";
  static const char *const second = "a second document begins here (remove the --- or split the file)";
  static const char *const empty = "the file is empty (write at least one line of key: value)";
  static const char *const nul = "a text cannot hold a NUL character (remove the \\0)";
  static const char *const merge = "merge keys (<<) are not supported (write the keys out)";
  const char *const cases[][3] = {
      {"a: &x 1\n", "1:4", anchor},
      {"a: &x [1]\n", "1:4", anchor},
      {"a: &x {b: 1}\n", "1:4", anchor},
      {"&x a: 1\n", "1:1", anchor},
      {"a: 1\nb: *x\n", "2:4", alias},
      {"*x : 1\n", "1:1", alias},
      {"a: !!str 1\n", "1:4", tag},
      {"a: !x [1]\n", "1:4", tag},
      {"a: !x\n  b: 1\n", "1:4", tag},
      {"! a: 1\n", "1:1", tag},
      {"%TAG ! x\n", "1:1", tag_line},
      {"#\n%TAG ! x\n", "2:1", tag_line},
      {"#\xC2\x85%TAG ! x", "1:3", tag_line},
      {"[1]: 2\n", "1:1", key},
      {"? {a: 1}\n: 2\n", "1:3", key},
      {"?\n: 5\n", "1:2", no_key},
      {"<<: 1\n", "1:1", merge},
      {"a: 1\n---\nb: 2\n", "2:1", second},
      {"a: 1\n---\n", "2:1", second},
      {"", "1:1", empty},
      {"\n# only\n", "1:1", empty},
      {"---\n", "1:1", empty},
      {"a: \"x\\0y\"\n", "1:4", nul},
      {"\"x\\0\": 1\n", "1:1", nul},
  };
  char message[256];
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    snprintf(message, sizeof message, "f:%s: %s", cases[i][1], cases[i][2]);
    refuses_text(rs_yaml_read, cases[i][0], message);
  }
}

Test(io, yaml__key_given_twice__names_the_first_in_the_file) {
  static const char *const cases[][2] = {
      {"a: 1\nb: 2\na: 3\n", "f:3:1: a: given twice (first at line 1)"},
      {"x: 1\nz: 1\nz: 2\nz: 3\ny: 1\ny: 2\nx: 2\n", "f:3:1: z: given twice (first at line 2)"},
      {"z: 1\ny: 1\ny: 2\nz: 2\n", "f:3:1: y: given twice (first at line 2)"},
      {"- m:\n   {a: 1, b: 2, 'a': 3}\n", "f:2:17: a: given twice (first at line 2)"},
      {"\"a\\n\\x1F\\x7F ~\": 1\n\"a\\n\\x1F\\x7F ~\": 2\n", "f:2:1: a??? ~: given twice (first at line 1)"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) refuses_text(rs_yaml_read, cases[i][0], cases[i][1]);
  describes(rs_yaml_read, "a: {a: 1}\nb: {a: 1}", "{a@1:1={a@1:5=1@1:8 }@1:4 b@2:1={a@2:5=1@2:8 }@2:4 }@1:1 ");
}

Test(io, yaml__long_duplicate_key__is_cut_between_characters) {
  for (size_t letters = 60; letters < 90; letters++) {
    /* After `letters` a's come two-byte é's: 76 bytes of the key are shown, or 75 where the cut would split one. */
    char *key = repeat("", "a", letters, "éééééé"), text[256], message[256];
    snprintf(text, sizeof text, "%s: 1\n%s: 2\n", key, key);
    size_t shown = letters < 76 ? 76 - (76 - letters) % 2 : 76;
    bool whole = strlen(key) < 80;
    snprintf(message, sizeof message, "f:2:1: %.*s%s: given twice (first at line 1)", whole ? 99 : (int)shown, key,
             whole ? "" : "...");
    refuses_text(rs_yaml_read, text, message);
    free(key);
  }
}

Test(io, yaml__depth__stops_after_32_levels) {
  static const char *const opening[][3] = {{"", "[", "]"}, {"", "{a: ", "}"}};
  for (size_t i = 0; i < RS_COUNT(opening); i++) {
    char *inner = repeat("", opening[i][1], 32, "1"), *text = repeat(inner, opening[i][2], 32, "");
    rs_tree_free(parse(rs_yaml_read, text));
    free(inner);
    free(text);
  }
  static const char *const cases[][2] = {{"[", "1:33"}, {"{a: ", "1:129"}, {"- ", "1:65"}, {"- [", "1:4"}};
  for (size_t i = 0; i < 3; i++) {
    char *text = repeat("", cases[i][0], 20000, ""), message[128];
    snprintf(message, sizeof message, "f:%s: nested deeper than 32 levels (a config needs 6)", cases[i][1]);
    refuses_text(rs_yaml_read, text, message);
    free(text);
  }
}

Test(io, yaml__size__stops_after_100000_values) {
  char *text = repeat("", "- 1\n", 99999, "");
  rs_tree *tree = parse(rs_yaml_read, text);
  cr_assert_eq(tree->root.count, 99999);
  rs_tree_free(tree);
  free(text);
  text = repeat("", "- 1\n", 100000, "");
  refuses_text(rs_yaml_read, text, "f:100000:3: more than 100000 values (split the file)");
  free(text);
}

Test(io, yaml__hostile_sizes__take_less_than_a_second) {
  double start = seconds();
  rs_text keys = {0};
  for (int i = 0; i < 99999; i++) rs_text_printf(&keys, "key%d: 1\n", i);
  rs_tree_free(parse(rs_yaml_read, keys.data));
  keys.data[keys.length - strlen("98: 1\n")] = '8'; /* key99998 becomes key99988 */
  refuses_text(rs_yaml_read, keys.data, "f:99999:1: key99988: given twice (first at line 99989)");
  char *tags = repeat("a: 1\n...\n", "%TAG !a! b\n", 100000, "");
  refuses_text(rs_yaml_read, tags, "f:3:1: tags (%TAG) are not supported (remove the line)");
  rs_text_clear(&keys);
  free(tags);
  cr_assert_lt(seconds() - start, COUNTS_MEMORY ? 1.0 : 10.0); /* sanitizers are slow */
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

Test(io, json__values__become_nodes_without_places) {
  describes(rs_json_read, "{\"b\": [1, -2.50, 1e300, \"x\\ty\", \"\"], \"a\": {}, \"c\": [true, false, null, 0.1]}",
            "{b@0:0=[1@0:0 -2.5@0:0 1e+300@0:0 'x\ty'@0:0 ''@0:0 ]@0:0 a@0:0={}@0:0 "
            "c@0:0=[true@0:0 false@0:0 null@0:0 0.1@0:0 ]@0:0 }@0:0 ");
  describes(rs_json_read, "-9223372036854775808", "-9223372036854775808@0:0 ");
  describes(rs_json_read, "\xEF\xBB\xBF \"\\\"[\\\\\" \n", "'\"[\\'@0:0 ");
}

Test(io, json__errors__say_where_and_why) {
#define SYNTAX "(JSON wants double quotes, no comments and no comma after the last item)"
#define RANGE "(a double ends at 1.8e308, a whole number at 9223372036854775807)"
  static const char *const cases[][2] = {
      {"", "f:1:1: the file is empty (write at least {})"},
      {" \t\r\n", "f:1:1: the file is empty (write at least {})"},
      {"\xEF\xBB\xBF", "f:1:1: the file is empty (write at least {})"},
      {"{\"a\": 1,\n \"a\": 2}", "f:2:4: duplicate object key near '\"a\"' (keep one of them)"},
      {"[1,]", "f:1:4: unexpected token near ']' " SYNTAX},
      {"{a: 1}", "f:1:2: string or '}' expected near 'a' " SYNTAX},
      {"[1\n", "f:2:1: ']' expected near end of file " SYNTAX},
      {"]]\n[1] 2", "f:1:1: unexpected token near ']' " SYNTAX},
      {"[1] 2", "f:1:5: end of file expected near '2' " SYNTAX},
      {"// c", "f:1:1: invalid token near '/' " SYNTAX},
      {"[nul\x7F]", "f:1:4: invalid token near 'nul' " SYNTAX},
      {"[\x7F]", "f:1:2: invalid token near '?' " SYNTAX},
      {"\n\"\xFF\"", "f:2:1: unable to decode byte 0xff near '\"' (save the file as UTF-8)"},
      {"[\"a\x01\"]", "f:1:3: control character 0x1 near '\"a' " SYNTAX},
      {"\"\\u0000\"",
       "f:1:8: \\u0000 is not allowed without JSON_ALLOW_NUL near '\"\\u0000\"' (a text cannot hold a NUL "
       "character)"},
      {"1e999", "f:1:5: real number overflow near '1e999' " RANGE},
      {"9223372036854775808", "f:1:19: too big integer near '9223372036854775808' " RANGE},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) refuses_text(rs_json_read, cases[i][0], cases[i][1]);
}

Test(io, json__depth__stops_after_32_levels) {
  char *inner = repeat("", "[{\"[\\\"[\":", 16, "1"), *text = repeat(inner, "}]", 16, "");
  rs_tree_free(parse(rs_json_read, text));
  free(inner);
  free(text);
  text = repeat("[\"\\\"", "[", 100, "\"]"); /* within a string */
  rs_tree_free(parse(rs_json_read, text));
  free(text);
  text = repeat("[", "[],{},", 100, "1]"); /* wide, not deep */
  rs_tree_free(parse(rs_json_read, text));
  free(text);
  static const char *const cases[][2] = {{"[", "2:33"}, {"{\"a\":", "2:161"}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char message[128];
    text = repeat("\n", cases[i][0], 20000, "");
    snprintf(message, sizeof message, "f:%s: nested deeper than 32 levels (a config needs 6)", cases[i][1]);
    refuses_text(rs_json_read, text, message);
    free(text);
  }
}

Test(io, json__size__stops_after_100000_values) {
  char *text = repeat("[1", ",1", 99998, "]");
  rs_tree_free(parse(rs_json_read, text));
  free(text);
  text = repeat("[1", ",1", 99999, "]");
  refuses_text(rs_json_read, text, "f: more than 100000 values (split the file)");
  free(text);
}

static unsigned next_random(unsigned *state, unsigned below) {
  *state = *state * 1664525u + 1013904223u; /* Numerical Recipes */
  return (*state >> 8) % below;
}

static void write_random_value(unsigned *state, int depth, rs_text *out) {
  static const char *const scalars[] = {"1",     "-20", "0.125", "1e+300",      "true", "false", "null",
                                        "\"1\"", "\"",  "é",     "\\\"\\\\\\n", " : #", "[,]",   "\\u00e9"};
  unsigned kind = next_random(state, depth < 4 ? 4 : 2), count = next_random(state, 4);
  if (kind == 0) rs_text_puts(out, scalars[next_random(state, 8)]);
  if (kind == 1) rs_text_puts(out, "\"");
  if (kind >= 2) rs_text_puts(out, kind == 2 ? "[" : "{");
  for (unsigned i = 0; kind >= 1 && i < count; i++) {
    if (kind >= 2 && i > 0) rs_text_puts(out, ", ");
    if (kind == 3) rs_text_printf(out, "\"k%u\": ", i);
    if (kind == 1) rs_text_puts(out, scalars[9 + next_random(state, 5)]);
    if (kind >= 2) write_random_value(state, depth + 1, out);
  }
  if (kind >= 1) rs_text_puts(out, kind == 1 ? "\"" : kind == 2 ? "]" : "}");
}

Test(io, json_and_yaml__random_json__become_the_same_tree) {
  for (unsigned seed = 0; seed < 500; seed++) {
    unsigned state = seed;
    rs_text text = {0};
    write_random_value(&state, 0, &text);
    rs_tree *json = parse(rs_json_read, text.data), *yaml = parse(rs_yaml_read, text.data);
    cr_assert(nodes_equal(&json->root, &yaml->root, false), "seed %u: %s", seed, text.data);
    rs_tree_free(json);
    rs_tree_free(yaml);
    rs_text_clear(&text);
  }
}

/* ---- nodes ------------------------------------------------------------------------------------------------------- */

Test(io, node_get__keys_and_other_kinds__finds_or_gives_null) {
  rs_tree *tree = parse(rs_yaml_read, "a: 1\nab: [a]\n");
  cr_assert_eq(rs_node_get(&tree->root, "ab"), &tree->root.items[1]);
  cr_assert_eq(rs_node_get(&tree->root, "a"), &tree->root.items[0]);
  cr_assert_null(rs_node_get(&tree->root, "b"));
  cr_assert_null(rs_node_get(&tree->root.items[1], "a"));
  cr_assert_null(rs_node_get(NULL, "a"));
  rs_node full = {0};
  cr_assert_eq(rs_node_copy(&full, &tree->root, NULL), RS_OK); /* a copy has no room to spare */
  cr_assert_null(rs_node_get(&full, "b"));
  rs_node_clear(&full);
  tree->root.items[1].kind = RS_SEQUENCE;
  tree->root.items[1].items[0].key = strdup("a");
  cr_assert_null(rs_node_get(&tree->root.items[1], "a"));
  tree->root.items[1].kind = RS_MAPPING;
  free(tree->root.items[0].key);
  tree->root.items[0].key = NULL; /* as rs_node_append leaves it */
  cr_assert_null(rs_node_get(&tree->root, "a"));
  cr_assert_not_null(rs_node_get(&tree->root.items[1], "a"));
  rs_tree_free(tree);
  rs_tree_free(NULL);
}

Test(io, node_copy__deep_tree__is_equal_and_independent) {
  rs_tree *tree = parse(rs_yaml_read, "a: 1\nb: ['x', {c: , d: []}]\n");
  rs_node copy = {0};
  cr_assert_eq(rs_node_copy(&copy, &tree->root, NULL), RS_OK);
  cr_assert(nodes_equal(&copy, &tree->root, true));
  copy.items[0].text[0] = '9';
  cr_assert_null(copy.items[0].items);
  cr_assert_not_null(rs_node_append(&copy.items[1], NULL));
  cr_assert_str_eq(copy.items[1].items[0].text, "x");
  cr_assert_str_eq(tree->root.items[0].text, "1");
  cr_assert_eq(tree->root.items[1].count, 2);
  rs_node_clear(&copy);
  cr_assert_eq(copy.count + copy.capacity + copy.line, 0);
  cr_assert_null(copy.items);
  cr_assert_eq(rs_node_copy(&copy, &tree->root.items[1].items[0], NULL), RS_OK);
  cr_assert(nodes_equal(&copy, &tree->root.items[1].items[0], true));
  rs_node_clear(&copy);
  rs_tree_free(tree);
}

Test(io, node_append__many__gives_empty_children_of_the_same_file) {
  rs_node list = {.kind = RS_SEQUENCE, .file = "f"}, scalar = {.kind = RS_SCALAR};
  for (size_t i = 0; i < 100; i++) {
    rs_node *child = rs_node_append(&list, NULL);
    cr_assert_eq(child, &list.items[i]);
    cr_assert_eq(list.count, i + 1);
    cr_assert(child->kind == RS_SCALAR && !child->text && !child->key && child->count == 0 && child->file == list.file);
    child->line = i;
  }
  for (size_t i = 0; i < 100; i++) cr_assert_eq(list.items[i].line, i);
  rs_node_clear(&list);
  rs_err err = {0};
  cr_assert_null(rs_node_append(&scalar, &err));
  cr_assert_eq(err.status, RS_INTERNAL);
  cr_assert_str_eq(err.message, "an item was appended to a scalar");
}

/* ---- CSV --------------------------------------------------------------------------------------------------------- */

Test(io, csv_write__fields__are_quoted_where_they_must_be) {
  static const char *const fields[] = {"a", "b c", "x,y", "\"", "a\"b\"", "l\nm", "\r", "", " é'", "\n"};
  rs_text csv = {0};
  for (size_t i = 0; i < RS_COUNT(fields); i++) rs_csv_text(&csv, fields[i]);
  rs_csv_end_row(&csv);
  rs_csv_text(&csv, "");
  rs_csv_text(&csv, "");
  rs_csv_end_row(&csv);
  cr_assert_str_eq(csv.data, "a,b c,\"x,y\",\"\"\"\",\"a\"\"b\"\"\",\"l\nm\",\"\r\",, é',\"\n\"\n\"\",\n");
  rs_text_clear(&csv);
}

Test(io, csv_number__values__are_short_and_nan_is_empty) {
  rs_text csv = {0};
  rs_csv_number(&csv, NAN);
  rs_csv_number(&csv, 0.1);
  rs_csv_number(&csv, NAN);
  rs_csv_number(&csv, -INFINITY);
  rs_csv_end_row(&csv);
  rs_csv_number(&csv, 4096);
  rs_csv_end_row(&csv);
  cr_assert_str_eq(csv.data, "\"\",0.1,,-inf\n4096\n");
  rs_text_clear(&csv);
}

static rs_table *parse_csv(const char *text) {
  rs_err err = {0};
  rs_table *table = NULL;
  char *copy = exact(text, strlen(text));
  cr_assert_eq(rs_csv_read(copy, strlen(text), "f", &table, &err), RS_OK, "%s: %s", text, err.message);
  free(copy);
  return table;
}

Test(io, csv_read__rfc_4180__gives_the_fields) {
  /* Fields as read: each is followed by '|', each row by '/'. */
  static const char *const cases[][2] = {
      {"a,b\n1,2\n3,4\n", "a|b|/1|2|/3|4|/"},
      {"a,b\r\n1,2\r\n", "a|b|/1|2|/"},
      {"a,b\n1,2", "a|b|/1|2|/"},
      {"a,b\n,", "a|b|/||/"},
      {"\xEF\xBB\xBF\"a\"\n\"x\"", "a|/x|/"},
      {"a\n\n\"\"\n", "a|/|/|/"},
      {"a,b\n\"x,\"\"y\"\"\nz\",\"\r\n\"\r\n", "a|b|/x,\"y\"\nz|\r\n|/"},
      {"a,b\n\"\"\"\",\"\"\"\"\"\"", "a|b|/\"|\"\"|/"},
      {"a\nx\ry\n\r", "a|/x\ry|/\r|/"},
      {"a", "a|/"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_table *table = parse_csv(cases[i][0]);
    rs_text seen = {0};
    for (size_t at = 0; at < table->columns * (table->rows + 1); at++) {
      bool header = at < table->columns;
      rs_text_puts(&seen, header ? table->header[at] : table->fields[at - table->columns]);
      rs_text_puts(&seen, (at + 1) % table->columns == 0 ? "|/" : "|");
    }
    cr_assert_str_eq(seen.data, cases[i][1]);
    rs_text_clear(&seen);
    rs_table_free(table);
  }
  rs_table_free(NULL);
}

Test(io, csv_read__broken_text__says_the_line) {
  static const char *const cases[][2] = {
      {"", "f:1: the file is empty (a header row is needed)"},
      {"a,b\n1,2,3\n", "f:2: 3 fields where the header has 2"},
      {"a,b\n\"\n\",1\n\r\n", "f:4: 1 field where the header has 2"},
      {"a,b\n1,2\n\n", "f:3: 1 field where the header has 2"},
      {"a\n1\n\"\n\n", "f:3: a quote is opened and never closed (is the file cut off?)"},
      {"a\n\"", "f:2: a quote is opened and never closed (is the file cut off?)"},
      {"a\n\"x\"\"", "f:2: a quote is opened and never closed (is the file cut off?)"},
      {"a,b\r\n\"\r\n\",x\"y\n", "f:3: a quote within a field (quote the whole field and double the quote)"},
      {"a\n1\n\"x\"y\n", "f:3: text after a closing quote (a comma is missing)"},
  };
  rs_table *table;
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_err err = {0};
    table = (rs_table *)&err;
    cr_assert_eq(rs_csv_read(cases[i][0], strlen(cases[i][0]), "f", &table, &err), RS_INPUT, "%s", cases[i][0]);
    cr_assert_str_eq(err.message, cases[i][1]);
    cr_assert_null(table);
  }
  rs_err err = {0};
  cr_assert_eq(rs_csv_read("a\nb\0\n", 5, "f", &table, &err), RS_INPUT);
  cr_assert_str_eq(err.message, "f:2: a NUL byte (this is no CSV text)");
}

Test(io, csv__random_tables__come_back_as_written) {
  static const char letters[] = "a,\"\n\r '";
  for (unsigned seed = 0; seed < 1000; seed++) {
    unsigned state = seed, columns = 1 + next_random(&state, 3), rows = next_random(&state, 4);
    char fields[16][5] = {{0}};
    rs_text csv = {0};
    for (unsigned i = 0; i < columns * (rows + 1); i++) {
      for (unsigned j = next_random(&state, 5); j > 0; j--) fields[i][j - 1] = letters[next_random(&state, 7)];
      rs_csv_text(&csv, fields[i]);
      if ((i + 1) % columns == 0) rs_csv_end_row(&csv);
    }
    rs_table *table = parse_csv(csv.data);
    cr_assert(table->columns == columns && table->rows == rows, "seed %u: %s", seed, csv.data);
    for (unsigned i = 0; i < columns * (rows + 1); i++)
      cr_assert_str_eq(i < columns ? table->header[i] : table->fields[i - columns], fields[i], "seed %u", seed);
    rs_table_free(table);
    rs_text_clear(&csv);
  }
}

Test(io, table_column__names__gives_the_index) {
  rs_table *table = parse_csv("a,ab\n");
  cr_assert_eq(table->rows, 0);
  cr_assert_eq(rs_table_column(table, "a"), 0);
  cr_assert_eq(rs_table_column(table, "ab"), 1);
  cr_assert_eq(rs_table_column(table, "b"), -1);
  rs_table_free(table);
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static char scratch[] = "/tmp/ropescope-io-XXXXXX";

static int first_free_file;

static int next_file(void) {
  int file = dup(0);
  close(file);
  return file;
}

/* Each test works in an empty directory, which `leaves` finds as it should be, then removes. */
static void enter_scratch(void) {
  first_free_file = next_file();
  cr_assert_not_null(mkdtemp(scratch));
  cr_assert_eq(chdir(scratch), 0);
}

static void leaves(const char *const *names, size_t count) {
  for (size_t i = 0; i < count; i++) cr_assert_eq(remove(names[i]), 0, "%s is missing", names[i]);
  cr_assert_eq(rmdir(scratch), 0, "something was left behind in %s", scratch);
  cr_assert_eq(next_file(), first_free_file, "a file was left open");
}

static void holds(const char *path, const char *expected) {
  char *data;
  size_t length;
  cr_assert_eq(rs_file_read(path, 1 << 20, &data, &length, NULL), RS_OK);
  cr_assert_eq(length, strlen(expected));
  cr_assert_str_eq(data, expected);
  free(data);
}

static void fails_io(rs_status status, const rs_err *err, const char *message) {
  cr_assert_eq(status, RS_IO);
  cr_assert_str_eq(err->message, message);
}

Test(io, file_read__what_cannot_be_read__says_why) {
  static const char *const cases[][2] = {
      {"/nowhere/x", "/nowhere/x: cannot read: No such file or directory"},
      {"/tmp", "/tmp: cannot read: Is a directory"},
      {"/dev/zero", "/dev/zero: cannot read: larger than 100000 bytes"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_err err = {0};
    char *data = scratch;
    size_t length = 1;
    fails_io(rs_file_read(cases[i][0], 100000, &data, &length, &err), &err, cases[i][1]);
    cr_assert_null(data);
    cr_assert_eq(length, 0);
  }
}

Test(io, file_read__sizes_and_limits__gives_all_or_refuses) {
  static const size_t sizes[] = {0, 1, 65534, 65535, 65536, 200000};
  enter_scratch();
  for (size_t i = 0; i < RS_COUNT(sizes); i++) {
    char *text = repeat("", "x", sizes[i], ""), *data;
    size_t length;
    rs_err err = {0};
    cr_assert_eq(rs_file_write("a", text, sizes[i], NULL), RS_OK);
    cr_assert_eq(rs_file_read("a", sizes[i], &data, &length, NULL), RS_OK);
    cr_assert_eq(length, sizes[i]);
    cr_assert_str_eq(data, text);
    free(data);
    free(text);
    if (sizes[i] > 0) cr_assert_eq(rs_file_read("a", sizes[i] - 1, &data, &length, &err), RS_IO);
  }
  leaves((const char *[]){"a"}, 1);
}

Test(io, file_read_and_write__short_and_interrupted__go_on) {
  enter_scratch();
  trickle = interrupt = true;
  cr_assert_eq(rs_file_write("a", "twenty-one characters", 21, NULL), RS_OK);
  cr_assert_not(interrupt);
  interrupt = true;
  holds("a", "twenty-one characters");
  cr_assert_not(interrupt);
  trickle = false;
  leaves((const char *[]){"a"}, 1);
}

Test(io, file_write__new_and_old__is_synced_then_renamed) {
  struct stat info;
  enter_scratch();
  umask(027);
  cr_assert_eq(rs_file_write("a", "old", 3, NULL), RS_OK);
  cr_assert_eq(rs_file_write("./a", "newer", 5, NULL), RS_OK);
  cr_assert_str_eq(calls, "frffrf");
  cr_assert_eq(stat("a", &info), 0);
  cr_assert_eq(info.st_mode & 0777, 0640);
  holds("a", "newer");
  leaves((const char *[]){"a"}, 1);
}

Test(io, file_write__full_disk__leaves_the_old_file) {
  enter_scratch();
  cr_assert_eq(rs_file_write("a", "old", 3, NULL), RS_OK);
  char *text = repeat("", "x", 10000, "");
  rs_err err = {0};
  signal(SIGXFSZ, SIG_IGN);
  rlim_t before = limit(RLIMIT_FSIZE, 4096);
  fails_io(rs_file_write("a", text, 10000, &err), &err, "a: cannot write: File too large");
  limit(RLIMIT_FSIZE, before);
  holds("a", "old");
  free(text);
  leaves((const char *[]){"a"}, 1);
}

Test(io, file_write__failing_calls__leave_the_old_file) {
  const struct {
    int first_sync, rename, second_sync;
    rs_status status;
    const char *message, *content;
  } cases[] = {
      {ENOSPC, 0, 0, RS_IO, "a: cannot write: No space left on device", "old"},
      {0, EXDEV, 0, RS_IO, "a: cannot write: Invalid cross-device link", "old"},
      {0, 0, EIO, RS_IO, ".: cannot write the directory: Input/output error", "new"},
      {0, 0, EINVAL, RS_OK, "", "new"},
      {0, 0, EACCES, RS_OK, "", "new"},
  };
  enter_scratch();
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_err err = {0};
    fsync_errors[0] = fsync_errors[1] = rename_error = 0;
    cr_assert_eq(rs_file_write("a", "old", 3, NULL), RS_OK);
    calls[0] = '\0';
    fsync_errors[0] = cases[i].first_sync;
    fsync_errors[1] = cases[i].second_sync;
    rename_error = cases[i].rename;
    cr_assert_eq(rs_file_write("a", "new", 3, &err), cases[i].status);
    cr_assert_str_eq(err.message, cases[i].message);
    holds("a", cases[i].content);
  }
  leaves((const char *[]){"a"}, 1);
}

Test(io, file_write__directory_that_cannot_be_opened__says_so) {
  enter_scratch();
  rs_err err = {0};
  rlim_t before = limit(RLIMIT_NOFILE, 256);
  lose_file = true;
  fails_io(rs_file_write("a", "x", 1, &err), &err, ".: cannot write the directory: Too many open files");
  limit(RLIMIT_NOFILE, before);
  leaves((const char *[]){"a"}, 1);
}

Test(io, file_write__targets_that_are_no_files__are_refused) {
  enter_scratch();
  cr_assert_eq(mkdir("d", 0777), 0);
  cr_assert_eq(mkfifo("p", 0666), 0);
  static const char *const cases[][2] = {{"d", "d: cannot write: not a regular file"},
                                         {"p", "p: cannot write: not a regular file"},
                                         {"x/y", "x/y: cannot write: No such file or directory"}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_err err = {0};
    fails_io(rs_file_write(cases[i][0], "x", 1, &err), &err, cases[i][1]);
  }
  leaves((const char *[]){"d", "p"}, 2);
}

Test(io, file_write__into_other_directories__puts_the_temporary_there) {
  char path[64];
  rs_err err = {0};
  snprintf(path, sizeof path, "/.ropescope-test-%ld", (long)getpid());
  rs_status status = rs_file_write(path, "x", 1, &err);
  if (status == RS_OK) cr_assert_eq(remove(path), 0);
  if (access("/", W_OK) == 0) cr_assert_eq(status, RS_OK, "%s", err.message);
  enter_scratch();
  cr_assert_eq(mkdir("d", 0777), 0);
  cr_assert_eq(rs_file_write("d/a", "x", 1, NULL), RS_OK);
  cr_assert_eq(strncmp(renamed, "d/.ropescope-", 13), 0, "%s", renamed);
  cr_assert_eq(chdir("d"), 0);
  holds("a", "x");
  cr_assert_eq(chdir(".."), 0);
  leaves((const char *[]){"d/a", "d"}, 2);
}

Test(io, file_write__temporary_names_taken__finds_another_or_gives_up) {
  enter_scratch();
  char name[64];
  rs_err err = {0};
  for (int i = 0; i < 100; i++) {
    snprintf(name, sizeof name, ".ropescope-%ld-%d.tmp", (long)getpid(), i);
    if (i == 99) cr_assert_eq(rs_file_write("a", "x", 1, NULL), RS_OK);
    close(open(name, O_CREAT | O_WRONLY, 0666));
  }
  fails_io(rs_file_write("a", "y", 1, &err), &err, "a: cannot write: File exists");
  holds("a", "x");
  for (int i = 0; i < 100; i++) {
    snprintf(name, sizeof name, ".ropescope-%ld-%d.tmp", (long)getpid(), i);
    cr_assert_eq(remove(name), 0);
  }
  leaves((const char *[]){"a"}, 1);
}

Test(io, make_directories__paths__makes_what_is_missing) {
  static const char *const good[] = {"a/b/c", "a/b/c", "d", "./e//f/", "/"};
  static const char *const bad[][2] = {{"x", "x: cannot make the directory: Not a directory"},
                                       {"x/y", "x: cannot make the directory: Not a directory"},
                                       {"", ": cannot make the directory: No such file or directory"}};
  enter_scratch();
  cr_assert_eq(rs_file_write("x", "", 0, NULL), RS_OK);
  for (size_t i = 0; i < RS_COUNT(good); i++) cr_assert_eq(rs_make_directories(good[i], NULL), RS_OK, "%s", good[i]);
  for (size_t i = 0; i < RS_COUNT(bad); i++) {
    rs_err err = {0};
    fails_io(rs_make_directories(bad[i][0], &err), &err, bad[i][1]);
  }
  char path[64];
  snprintf(path, sizeof path, "%s/g/h", scratch);
  cr_assert_eq(rs_make_directories(path, NULL), RS_OK);
  leaves((const char *[]){"a/b/c", "a/b", "a", "d", "e/f", "e", "x", "g/h", "g"}, 9);
}

Test(io, path_join__parts__has_one_slash) {
  static const char *const cases[][3] = {
      {"a", "b", "a/b"}, {"a/", "b", "a/b"}, {"/", "b", "/b"}, {"", "b", "b"}, {"a/b", "", "a/b/"}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char *path = rs_path_join(cases[i][0], cases[i][1], NULL);
    cr_assert_str_eq(path, cases[i][2]);
    free(path);
  }
}

Test(io, sha256_hex__fips_180_4_examples__agrees) {
  static const char *const cases[][2] = {{"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
                                         {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
                                         {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                                          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char hex[65];
    rs_sha256_hex(cases[i][0], strlen(cases[i][0]), hex);
    cr_assert_str_eq(hex, cases[i][1]);
  }
}

/* ---- files of numbers -----------------------------------------------------------------------------------------------
 */

/* A .npy file as the format's description has it (numpy/lib/format.py), padded to 64 bytes. */
static void make_npy(const char *path, int version, const char *header, const char *data, size_t size) {
  rs_text text = {0};
  size_t start = version == 1 ? 10 : 12, length = strlen(header) + 1;
  while ((start + length) % 64 != 0) length++;
  rs_text_add(&text, "\x93NUMPY", 6);
  const char head[] = {(char)version, 0, (char)(length & 255), (char)(length >> 8 & 255), (char)(length >> 16), 0};
  rs_text_add(&text, head, start - 6);
  rs_text_puts(&text, header);
  for (size_t i = strlen(header) + 1; i < length; i++) rs_text_puts(&text, " ");
  rs_text_puts(&text, "\n");
  rs_text_add(&text, data, size);
  cr_assert_eq(rs_file_write(path, text.data, text.length, NULL), RS_OK);
  rs_text_clear(&text);
}

#define NPY(type, order, shape) "{'descr': '" type "', 'fortran_order': " order ", 'shape': " shape ", }"

/* The bytes are worked out by hand from IEEE 754 and two's complement. */
Test(io, numbers_npy__every_type_and_byte_order__gives_the_numbers) {
  static const struct {
    const char *header, *data;
    size_t size, count;
    double numbers[4];
    int version;
  } cases[] = {
      {NPY("<f8", "False", "(2,)"), "\0\0\0\0\0\0\xf8\x3f\0\0\0\0\0\0\0\xc0", 16, 2, {1.5, -2}, 1},
      {NPY(">f8", "False", "(1,)"), "\x3f\xf8\0\0\0\0\0\0", 8, 1, {1.5}, 2},
      {NPY("<f4", "False", "(2,)"), "\0\0\x80\x3e\xcd\xcc\xcc\x3d", 8, 2, {0.25, (double)0.1f}, 3},
      {NPY(">f4", "False", "(1,)"), "\xbf\0\0\0", 4, 1, {-0.5}, 1},
      {NPY("<f2", "False", "(4,)"), "\0\x3e\x01\0\0\x84\xff\x7b", 8, 4, {1.5, 0x1p-24, -0x1p-14, 65504}, 1},
      {NPY(">f2", "False", "(1,)"), "\xc0\x01", 2, 1, {-2 - 0x1p-9}, 1},
      {NPY("<i8", "False", "(2,)"), "\xfe\xff\xff\xff\xff\xff\xff\xff\x01\x01\0\0\0\0\0\0", 16, 2, {-2, 257}, 1},
      {NPY(">i4", "False", "(2,)"), "\x80\0\0\0\0\0\x01\0", 8, 2, {-2147483648.0, 256}, 1},
      {NPY("<i2", "False", "(1,)"), "\xfe\xff", 2, 1, {-2}, 1},
      {NPY("|i1", "False", "(2,)"), "\x80\x7f", 2, 2, {-128, 127}, 1},
      {NPY("|u1", "False", "(2,)"), "\x80\x7f", 2, 2, {128, 127}, 1},
      {NPY(">u2", "False", "(1,)"), "\xff\xfe", 2, 1, {65534}, 1},
      {NPY("|b1", "False", "(3,)"), "\x01\0\x01", 3, 3, {1, 0, 1}, 1},
      {NPY("|u1", "False", "(2, 2)"), "\1\2\3\4", 4, 4, {1, 2, 3, 4}, 1},
      {NPY("|u1", "True", "(1, 3)"), "\1\2\3", 3, 3, {1, 2, 3}, 1},
      {NPY("|u1", "False", "()"), "\7", 1, 1, {7}, 1},
      {"{\"x\": 0, 'shape':(2,),'fortran_order':False,'descr':'<i2'}", "\1\0\2\0", 4, 2, {1, 2}, 1},
  };
  enter_scratch();
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    double *list;
    size_t count;
    rs_err err = {0};
    make_npy("n.npy", cases[i].version, cases[i].header, cases[i].data, cases[i].size);
    cr_assert_eq(rs_numbers_read("n.npy", &list, &count, &err), RS_OK, "%s: %s", cases[i].header, err.message);
    cr_assert_eq(count, cases[i].count, "%s: %zu", cases[i].header, count);
    for (size_t k = 0; k < count; k++)
      cr_assert(list[k] == cases[i].numbers[k], "%s: number %zu is %.17g", cases[i].header, k, list[k]);
    free(list);
  }
  leaves((const char *[]){"n.npy"}, 1);
}

/* The header's length has two bytes, or four. */
Test(io, numbers_npy__long_headers__are_read_to_their_end) {
  static const struct {
    size_t spaces;
    int version;
  } cases[] = {{100, 1}, {300, 1}, {300, 2}, {70000, 2}};
  enter_scratch();
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_text header = {0};
    double *list;
    size_t count;
    rs_err err = {0};
    rs_text_puts(&header, "{'descr': '|u1', 'fortran_order': False, ");
    for (size_t k = 0; k < cases[i].spaces; k++) rs_text_puts(&header, " ");
    rs_text_puts(&header, "'shape': (2,)}");
    make_npy("n.npy", cases[i].version, header.data, "\5\6", 2);
    cr_assert_eq(rs_numbers_read("n.npy", &list, &count, &err), RS_OK, "case %zu: %s", i, err.message);
    cr_assert(count == 2 && list[0] == 5 && list[1] == 6, "case %zu", i);
    free(list);
    rs_text_clear(&header);
  }
  leaves((const char *[]){"n.npy"}, 1);
}

static void expect_no_numbers(const char *path, const char *message) {
  double *list = (double *)&path;
  size_t count = 99;
  rs_err err = {0};
  cr_expect_eq(rs_numbers_read(path, &list, &count, &err), RS_INPUT, "%s was accepted, not %s", path, message);
  cr_expect_str_eq(err.message, message);
  cr_expect(list == NULL && count == 0, "%s: %s left something", path, message);
}

Test(io, numbers_npy__what_it_cannot_hold__is_refused) {
  static const struct {
    const char *header, *data;
    size_t size;
    const char *message;
    int version;
  } cases[] = {
      {NPY("<f8", "False", "(2,)"), "\0\0\0\0\0\0\xf8\x3f", 8,
       "n.npy: holds 8 bytes of numbers where its header says 16 (is it cut off?)", 1},
      {NPY("|u1", "False", "(1,)"), "ab", 2, "n.npy: holds 2 bytes of numbers where its header says 1 (is it cut off?)",
       1},
      {NPY("<f8", "False", "(2,)"), "", 0, "n.npy: holds 0 bytes of numbers where its header says 16 (is it cut off?)",
       1},
      {NPY("<f8", "False", "(99999999999,)"), "", 0, "n.npy: is cut off: its header promises more than it holds", 1},
      {NPY("<f8", "False", "(99999999999, 99999999999)"), "", 0, "n.npy: the header's shape is too large", 1},
      {NPY("<f8", "False", "(0,)"), "", 0, "n.npy: holds no numbers", 1},
      {NPY("<f8", "False", "(-1,)"), "", 0, "n.npy: the header's shape is no list of whole numbers", 1},
      {NPY("<f8", "False", "(x,)"), "", 0, "n.npy: the header's shape is no list of whole numbers", 1},
      {NPY("|u1", "True", "(2, 2)"), "abcd", 4,
       "n.npy: is stored column by column (save numpy.ascontiguousarray of it)", 1},
      {NPY("<c8", "False", "(1,)"), "abcdefgh", 8,
       "n.npy: holds numbers of type <c8, which is not read here (save them as f4 or f8)", 1},
      {"{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }", "abcdefgh", 8,
       "n.npy: holds records, not numbers (save one array of numbers)", 1},
      {"{'fortran_order': False, 'shape': (1,)}", "", 0, "n.npy: the header names no type (descr)", 1},
      {"{'descr': '<f8', 'fortran_order': False}", "", 0, "n.npy: the header names no shape", 1},
      {"{'descr': '|u1', 'shape': (1,)}", "a", 1, "n.npy: the header does not name the order (fortran_order)", 1},
      {NPY("<f4", "False", "(2,)"), "\0\0\x80\x3f\0\0\xc0\x7f", 8, "n.npy: number 1 is not finite", 1},
      {NPY("<f2", "False", "(1,)"), "\0\x7c", 2, "n.npy: number 0 is not finite", 1},
      {NPY("<f2", "False", "(1,)"), "\x01\x7c", 2, "n.npy: number 0 is not finite", 1},
      {NPY("<i8", "False", "(1,)"), "\1\0\0\0\0\0\0\x40", 8, "n.npy: number 0 is beyond 2^53", 1},
      {NPY("|u1", "False", "(1,)"), "a", 1, "n.npy: has .npy version 4, known are 1 to 3", 4},
  };
  enter_scratch();
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    make_npy("n.npy", cases[i].version, cases[i].header, cases[i].data, cases[i].size);
    expect_no_numbers("n.npy", cases[i].message);
  }
  static const struct {
    const char *data, *message;
    size_t size;
  } broken[] = {{"\x93NUMPX\1\0\0\0", "n.npy: is no .npy file", 10},
                {"\x93NUMPY\1\0\0", "n.npy: is no .npy file", 9},
                {"\x93NUMPY\1\0\1\0", "n.npy: is cut off within the header", 10},
                {"\x93NUMPY\2\0\0\0", "n.npy: is cut off within the header", 10},
                {"\x93NUMPY\2\0\0\0\1\0", "n.npy: is cut off within the header", 12}};
  for (size_t i = 0; i < RS_COUNT(broken); i++) {
    cr_assert_eq(rs_file_write("n.npy", broken[i].data, broken[i].size, NULL), RS_OK);
    expect_no_numbers("n.npy", broken[i].message);
  }
  leaves((const char *[]){"n.npy"}, 1);
}

Test(io, numbers_text__json_and_csv__gives_the_numbers_or_why_not) {
  static const struct {
    const char *file, *text, *message; /* NULL: 1, 2.5 */
  } cases[] = {
      {"n.json", "[1, 2.5]", NULL},
      {"n.json", "{\"a\": 3, \"factors\": [1, 2.5], \"b\": {}}", NULL},
      {"n.json", "{\"other\": [3], \"inv_freq\": [1, 2.5], \"more\": [7]}", NULL},
      {"n.json", "{\"a\": [1], \"b\": [2]}", "n.json: holds 2 lists (call the right one inv_freq)"},
      {"n.json", "{\"a\": 1}", "n.json: must be a list of numbers, or an object with one (inv_freq)"},
      {"n.json", "7", "n.json: must be a list of numbers, or an object with one (inv_freq)"},
      {"n.json", "[]", "n.json: holds no numbers"},
      {"n.json", "[1, \"2\"]", "n.json: entry 1 is no number"},
      {"n.json", "[1, null]", "n.json: entry 1 is no number"},
      {"n.json", "[[1], 2]", "n.json: entry 0 is no number (the list must be flat)"},
      {"n.csv", "pair,inv_freq\n0,1\n1,2.5\n", NULL},
      {"n.csv", "omega_rad_per_token,amp\n1,3\n2.5,3\n", NULL},
      {"n.csv", "value,inv_freq,x\n9,1,9\n9,2.5,9\n", NULL},
      {"n.csv", "i,value\n0,1\n1,2.5\n", NULL},
      {"n.csv", "axis,w\nt,1\nh,2.5\n", NULL},
      {"n.csv", "w,axis\n1,t\n2.5,h\n", NULL},
      {"n.csv", "w\n1\n2.5\n", NULL},
      {"n.csv", "i,w\n0,1\n", "n.csv:1: 2 columns hold numbers alone (call the right one inv_freq or value)"},
      {"n.csv", "a,b\nx,y\n", "n.csv:1: 0 columns hold numbers alone (call the right one inv_freq or value)"},
      {"n.csv", "w\n1\ntwo\n", "n.csv:3: \"two\" is no number"},
      {"n.csv", "i,inv_freq\n0,1\n1,\n", "n.csv:3: \"\" is no number"},
      {"n.csv", "inv_freq\n1\nnan\n", "n.csv:3: \"nan\" is no number"},
      {"n.csv", "inv_freq\ninf\n", "n.csv:2: \"inf\" is no number"},
      {"n.csv", "0.5\n1\n2\n", "n.csv:1: the first line is a number (it must name the column: any name will do)"},
      {"n.csv", "inv_freq\n", "n.csv: holds no numbers"},
      {"n.csv", "a,b\n1\n", "n.csv:2: 1 field where the header has 2"},
      {"n.txt", "1\n", "n.txt: is no file of numbers (.npy, .json or .csv)"},
  };
  enter_scratch();
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    double *list;
    size_t count;
    rs_err err = {0};
    cr_assert_eq(rs_file_write(cases[i].file, cases[i].text, strlen(cases[i].text), NULL), RS_OK);
    cr_expect_eq(rs_numbers_named(cases[i].file), strcmp(cases[i].file, "n.txt") != 0);
    if (cases[i].message != NULL) {
      expect_no_numbers(cases[i].file, cases[i].message);
      continue;
    }
    cr_assert_eq(rs_numbers_read(cases[i].file, &list, &count, &err), RS_OK, "%s: %s", cases[i].text, err.message);
    cr_assert(count == 2 && list[0] == 1 && list[1] == 2.5, "%s: %zu numbers, %g", cases[i].text, count, list[0]);
    free(list);
  }
  double *list;
  size_t count;
  rs_err err = {0};
  cr_assert_eq(rs_numbers_read("m.npy", &list, &count, &err), RS_IO);
  cr_assert_str_eq(err.message, "m.npy: cannot read: No such file or directory");
  cr_assert(!rs_numbers_named(".npy") && !rs_numbers_named("npy") && !rs_numbers_named("") &&
            !rs_numbers_named("a.jsonx"));
  leaves((const char *[]){"n.json", "n.csv", "n.txt"}, 3);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static const char config[] = "a: [1, 'x', {b: 2}]\nc: {\"d\": {e: f}}\ng: |\n  h\n";

static rs_status use_yaml(rs_err *err) {
  rs_tree *tree = NULL;
  rs_node copy = {0};
  rs_status status = rs_yaml_read(config, sizeof config - 1, "f", &tree, err);
  if (status == RS_OK) status = rs_node_copy(&copy, &tree->root, err);
  rs_node_clear(&copy);
  rs_tree_free(tree);
  return status;
}

static rs_status use_json(rs_err *err) {
  static const char text[] = "{\"a\": [1, \"x\", 2.5, {\"b\": true}], \"c\": {\"d\": {}}}";
  rs_tree *tree = NULL;
  rs_status status = rs_json_read(text, sizeof text - 1, "f", &tree, err);
  rs_tree_free(tree);
  return status;
}

static rs_status use_csv(rs_err *err) {
  rs_text csv = {0};
  rs_table *table = NULL;
  for (int i = 0; i < 30; i++) {
    rs_csv_text(&csv, "x\"y");
    rs_csv_number(&csv, 1.5);
    rs_csv_end_row(&csv);
  }
  rs_status status = rs_text_check(&csv, err);
  if (status == RS_OK) status = rs_csv_read(csv.data, csv.length, "f", &table, err);
  rs_table_free(table);
  rs_text_clear(&csv);
  return status;
}

static rs_status use_files(rs_err *err) {
  char *path = rs_path_join(scratch, "d", err), *file = NULL, *data = NULL;
  size_t length;
  rs_status status = path ? rs_make_directories(path, err) : RS_MEMORY;
  if (status == RS_OK) status = (file = rs_path_join(path, "a", err)) ? RS_OK : RS_MEMORY;
  if (status == RS_OK) status = rs_file_write(file, config, sizeof config - 1, err);
  if (status == RS_OK) status = rs_file_read(file, SIZE_MAX, &data, &length, err);
  free(data);
  free(file);
  free(path);
  return status;
}

static rs_status use_value(rs_err *err) {
  static const rs_param param = {.name = "p", .type = RS_REALS, .max = 1};
  static const double list[] = {0, 1};
  rs_value value = {0}, copy = {0};
  rs_status status = rs_value_list(&param, list, 2, &value, err);
  if (status == RS_OK) status = (value.file = rs_strdup("/f.json", err)) ? RS_OK : RS_MEMORY;
  if (status == RS_OK) {
    status = rs_value_copy(&copy, &value, err);
    if (status != RS_OK) cr_assert(!copy.set && copy.list == NULL && copy.file == NULL);
  }
  rs_value_clear(&copy);
  rs_value_clear(&value);
  return status;
}

static const char *numbers_file;

static rs_status use_numbers(rs_err *err) {
  double *list;
  size_t count;
  rs_status status = rs_numbers_read(numbers_file, &list, &count, err);
  free(list);
  return status;
}

/* Fails the n-th allocation, or all from the n-th on, for each n. `other` is a second status that may come of it. */
static void survives(rs_status (*use)(rs_err *), rs_status other, const char *name) {
  for (int all = 0; all < 2; all++) {
    refused = true;
    for (long n = 0; refused; n++) {
      rs_err err = {0};
      long before = blocks;
      refused = false;
      refuse_all = all;
      allocations = n;
      rs_status status = use(&err);
      allocations = -1;
      cr_assert_eq(blocks, before, "%s, allocation %ld: %ld blocks leaked", name, n, blocks - before);
      cr_assert_eq(status, err.status);
      cr_assert(status == RS_OK || (refused && (status == RS_MEMORY || status == other)), "%s, allocation %ld: %s",
                name, n, err.message);
      cr_assert(status != RS_MEMORY || strncmp(err.message, "out of memory", 13) == 0, "%s", err.message);
      cr_assert(n < 10000);
    }
  }
}

Test(io, all__each_failing_allocation__is_survived_without_leak) {
  if (!COUNTS_MEMORY) cr_skip_test("malloc belongs to the sanitizer");
  enter_scratch();
  survives(use_yaml, RS_MEMORY, "yaml");
  /* jansson calls some failed allocations a syntax error. */
  survives(use_json, RS_INPUT, "json");
  survives(use_csv, RS_MEMORY, "csv");
  survives(use_value, RS_MEMORY, "value");
  survives(use_files, RS_MEMORY, "files");
  static const char *const files[][2] = {{"n.json", "{\"a\": [1, 2.5]}"}, {"n.csv", "a\n1\n"}};
  for (size_t i = 0; i < RS_COUNT(files); i++) {
    numbers_file = files[i][0];
    cr_assert_eq(rs_file_write(numbers_file, files[i][1], strlen(files[i][1]), NULL), RS_OK);
    survives(use_numbers, RS_INPUT, numbers_file);
  }
  numbers_file = "n.npy";
  make_npy(numbers_file, 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }", "\0\0\0\0\0\0\xf0\x3f", 8);
  survives(use_numbers, RS_MEMORY, numbers_file);
  rs_err err = {0};
  allocations = 0;
  rs_status status = use_json(&err);
  allocations = -1;
  cr_assert_eq(status, RS_MEMORY);
  cr_assert_str_eq(err.message, "out of memory while reading f");
  leaves((const char *[]){"d/a", "d", "n.json", "n.csv", "n.npy"}, 5);
}
