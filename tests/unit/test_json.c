/* test_json.c: JSON as trees, and what can be done to a node. Messages are compared whole, since they are what a
 * user sees. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../fixtures/trees.h"
#include "io/io.h"

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

Test(io, json__values__become_nodes_with_places) {
  describes(rs_json_read, "{\"b\": [1, -2.50, 1e300, \"x\\ty\", \"\"], \"a\": {}, \"c\": [true, false, null, 0.1]}",
            "{b@1:2=[1@1:8 -2.5@1:11 1e+300@1:18 'x\ty'@1:25 ''@1:33 ]@1:7 a@1:38={}@1:43 "
            "c@1:47=[true@1:53 false@1:59 null@1:66 0.1@1:72 ]@1:52 }@1:1 ");
  describes(rs_json_read, "-9223372036854775808", "-9223372036854775808@1:1 ");
  describes(rs_json_read, "\xEF\xBB\xBF \"\\\"[\\\\\" \n", "'\"[\\'@1:2 ");
  describes(rs_json_read, "{\n\t\"\\\"a:{\\\\\" :\r\n [ {} ,[],\n\"\xC3\xA9\",5] , \"b\":{\"c\":1}\n}",
            "{\"a:{\\@2:2=[{}@3:4 []@3:8 '\xC3\xA9'@4:1 5@4:5 ]@3:2 b@4:10={c@4:15=1@4:19 }@4:14 }@1:1 ");
}

/* As Python writes them; in a string they are words. */
Test(io, json__numbers_that_json_has_not__keep_their_places) {
  describes(rs_json_read, "[Infinity,-Infinity, NaN ,\"NaN\\\"Infinity\",{\"a\":NaN,\"b\":1}]",
            "[Infinity@1:2 -Infinity@1:11 NaN@1:22 'NaN\"Infinity'@1:27 {a@1:44=NaN@1:48 b@1:52=1@1:56 }@1:43 ]@1:1 ");
  describes(rs_json_read, "[\"\\u007f\"]", "['\x7f'@1:2 ]@1:1 ");
  refuses_text(
      rs_json_read, "[Infinite]",
      "f:1:9: invalid token near 'Infinite' (JSON wants double quotes, no comments and no comma after the last item)");
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
      {"[\x7F]", "f:1:2: invalid token near '\\u007f' " SYNTAX},
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
  static const char *const items[] = {"1", "[]", "{ }", "\"[,\\\"\"", "{\n\t}"}; /* each is one value */
  for (size_t i = 0; i < RS_COUNT(items); i++) {
    char head[16], item[16];
    snprintf(head, sizeof head, "[%s", items[i]);
    snprintf(item, sizeof item, ",%s", items[i]);
    char *text = repeat(head, item, 99998, "]");
    rs_tree_free(parse(rs_json_read, text));
    free(text);
    text = repeat(head, item, 99999, "]");
    refuses_text(rs_json_read, text, "f: more than 100000 values (split the file)");
    free(text);
  }
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
