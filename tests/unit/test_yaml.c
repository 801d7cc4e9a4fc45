/* test_yaml.c: YAML as trees. Messages are compared whole, since they are what a user sees. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../fixtures/trees.h"
#include "../fixtures/work.h"
#include "io/io.h"

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
      {"\"a\\n\\x1F\\x7F ~\": 1\n\"a\\n\\x1F\\x7F ~\": 2\n",
       "f:2:1: a\\n\\x1f\\u007f ~: given twice (first at line 1)"},
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

/* Keys are sorted: 100,000 are compared 17 times each, and not with all before them. Of tags none is read. */
Test(io, yaml__hostile_sizes__compare_few_texts) {
  clock_t start = clock();
  comparisons = 0;
  rs_text keys = {0};
  for (int i = 0; i < 99999; i++) rs_text_printf(&keys, "key%d: 1\n", i);
  rs_tree_free(parse(rs_yaml_read, keys.data));
  keys.data[keys.length - strlen("98: 1\n")] = '8'; /* key99998 becomes key99988 */
  refuses_text(rs_yaml_read, keys.data, "f:99999:1: key99988: given twice (first at line 99989)");
  size_t of_keys = comparisons;
  cr_assert(!counts_comparisons || (of_keys > 2 * 99999 && of_keys < 2 * 20 * 99999), "%zu comparisons", of_keys);
  char *tags = repeat("a: 1\n...\n", "%TAG !a! b\n", 100000, "");
  refuses_text(rs_yaml_read, tags, "f:3:1: tags (%TAG) are not supported (remove the line)");
  rs_text_clear(&keys);
  free(tags);
  cr_assert_lt(comparisons - of_keys, 1000, "%zu comparisons", comparisons - of_keys);
  cr_log_info("%zu comparisons, %g s", of_keys, (double)(clock() - start) / CLOCKS_PER_SEC);
}
