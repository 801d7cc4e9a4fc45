/* test_json_write.c: JSON that the program writes, whole and read back. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/io.h"

Test(json_write, levels_keys_and_values__stand_as_they_were_written) {
  static const char want[] = "{\n"
                             "  \"name\": \"a \\\"quoted\\\" \\\\ line\\nwith \\u0001 and \xc3\xa9\",\n"
                             "  \"none\": null,\n"
                             "  \"numbers\": [\n"
                             "    0.1,\n"
                             "    -3,\n"
                             "    1e+300,\n"
                             "    null,\n"
                             "    null\n"
                             "  ],\n"
                             "  \"empty\": [],\n"
                             "  \"flat\": [1, \"two\", null],\n"
                             "  \"nothing\": [],\n"
                             "  \"inside\": {\n"
                             "    \"yes\": true,\n"
                             "    \"no\": false\n"
                             "  }\n"
                             "}\n";
  rs_text text = {0};
  rs_json json = {.text = &text};
  rs_json_object(&json, NULL);
  rs_json_string(&json, "name", "a \"quoted\" \\ line\nwith \x01 and \xc3\xa9");
  rs_json_string(&json, "none", NULL);
  rs_json_array(&json, "numbers");
  const double numbers[] = {0.1, -3, 1e300, NAN, -INFINITY};
  for (size_t i = 0; i < RS_COUNT(numbers); i++) rs_json_number(&json, NULL, numbers[i]);
  rs_json_end(&json);
  rs_json_array(&json, "empty");
  rs_json_end(&json);
  rs_json_list(&json, "flat");
  rs_json_number(&json, NULL, 1);
  rs_json_string(&json, NULL, "two");
  rs_json_string(&json, NULL, NULL);
  rs_json_end(&json);
  rs_json_list(&json, "nothing");
  rs_json_end(&json);
  rs_json_object(&json, "inside");
  rs_json_bool(&json, "yes", true);
  rs_json_bool(&json, "no", false);
  rs_json_end(&json);
  rs_json_end(&json);
  cr_expect(!text.failed && strcmp(rs_text_string(&text), want) == 0, "%s", rs_text_string(&text));
  rs_text_clear(&text);
}

/* The reader takes every byte of a string back. */
Test(json_write, strings__are_read_back) {
  char bytes[128];
  rs_text text = {0};
  rs_json json = {.text = &text};
  rs_tree *tree;
  for (int i = 1; i < 128; i++) bytes[i - 1] = (char)i;
  bytes[127] = '\0';
  rs_json_array(&json, NULL);
  rs_json_string(&json, NULL, bytes);
  rs_json_end(&json);
  cr_assert_eq(rs_json_read(rs_text_string(&text), text.length, "text", &tree, NULL), RS_OK);
  cr_expect_str_eq(tree->root.items[0].text, bytes);
  rs_tree_free(tree);
  rs_text_clear(&text);
}

Test(json_write, depth__beyond_the_limit__fails) {
  for (size_t levels = RS_JSON_DEPTH; levels <= RS_JSON_DEPTH + 1; levels++) {
    rs_text text = {0};
    rs_json json = {.text = &text};
    for (size_t i = 0; i < levels; i++) rs_json_array(&json, NULL);
    for (size_t i = 0; i < levels; i++) rs_json_end(&json);
    cr_expect_eq(text.failed, levels > RS_JSON_DEPTH, "%zu levels", levels);
    rs_text_clear(&text);
  }
}
