/* test_config_records.c: structs from mappings by tables of parameters, whatever their size. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/config/config_internal.h"
#include "../../src/config/records.h"

enum { MOST = 130 };

typedef struct numbers {
  size_t field[MOST];
} numbers;

static char names[MOST][8];
static rs_param fields[MOST];

/* Fields f000, f001, ..., each from 1 to 9, or by default 5. */
static rs_record make_record(size_t count) {
  for (size_t i = 0; i < count; i++) {
    snprintf(names[i], sizeof names[i], "f%03zu", i);
    fields[i] = (rs_param){
        .name = names[i], .type = RS_INTEGER, .offset = i * sizeof(size_t), .min = 1, .max = 9, .fallback = "5"};
  }
  return (rs_record){.what = "a list of numbers", .fields = fields, .field_count = count, .partial = true};
}

/* {f000: 1, f001: 2, ...: 9, f009: 1, ...} but for the last `missing`; release with rs_tree_free. */
static rs_tree *make_mapping(size_t count, const char *more) {
  rs_text yaml = {0};
  rs_tree *tree;
  rs_err err = {0};
  rs_text_puts(&yaml, "{");
  for (size_t i = 0; i < count; i++) rs_text_printf(&yaml, "f%03zu: %zu, ", i, 1 + i % 9);
  rs_text_printf(&yaml, "%s}", more);
  cr_assert_eq(rs_yaml_read(rs_text_string(&yaml), yaml.length, "t.yaml", &tree, &err), RS_OK, "%s", err.message);
  rs_text_clear(&yaml);
  tree->root.key = rs_strdup("numbers", NULL);
  return tree;
}

static void read_back(const rs_record *record, const char *more, numbers *out, rs_problems *problems) {
  rs_tree *tree = make_mapping(record->field_count, more);
  rs_record_read(problems, &tree->root, record, NULL, out);
  rs_tree_free(tree);
}

Test(config_records, any_number_of_keys__are_known) {
  static const size_t counts[] = {1, 63, 64, 65, 66, 127, 128, 129, MOST};
  for (size_t c = 0; c < RS_COUNT(counts); c++) {
    const rs_record record = make_record(counts[c]);
    rs_problems problems = {0};
    numbers out = {{0}};
    read_back(&record, "", &out, &problems);
    cr_expect_eq(problems.count, 0, "%zu keys: %s", counts[c], rs_text_string(&problems.text));
    for (size_t i = 0; i < counts[c]; i++) cr_expect_eq(out.field[i], 1 + i % 9, "key %zu of %zu", i, counts[c]);
    rs_problems_clear(&problems);
  }
}

Test(config_records, slip_for_the_last_of_many_keys__is_told) {
  const rs_record record = make_record(MOST);
  rs_problems problems = {0};
  numbers out;
  read_back(&record, "f12: 3", &out, &problems);
  read_back(&record, "ff129: 3", &out, &problems);
  cr_expect_str_eq(strrchr(rs_text_string(&problems.text), 'k'), "key ff129 (did you mean f129?)");
  cr_expect_eq(problems.count, 2);
  rs_problems_clear(&problems);
}

Test(config_records, parameters_of_an_entry__may_be_many) {
  static const char *const others[] = {"name", NULL};
  rs_settings settings;
  rs_problems problems = {0};
  (void)make_record(MOST);
  rs_tree *tree = make_mapping(MOST, "name: x, ff129: 3");
  cr_assert_eq(rs_settings_init_specs(&settings, fields, MOST, NULL), RS_OK);
  rs_settings_read(&problems, &tree->root, "x", others, NULL, &settings);
  cr_expect_eq(problems.count, 1);
  cr_expect_str_eq(strrchr(rs_text_string(&problems.text), 'x'), "x has no key ff129 (did you mean f129?)");
  cr_expect(settings.values[MOST - 1].given && settings.values[MOST - 1].number == 1 + (MOST - 1) % 9);
  rs_tree_free(tree);
  rs_settings_clear(&settings);
  rs_problems_clear(&problems);
}

Test(config_records, left_out_and_wrong__default_and_message) {
  rs_record record = make_record(3);
  rs_problems problems = {0};
  numbers out = {{7, 7, 7}};
  rs_tree *tree = make_mapping(1, "f001: 10");
  rs_record_read(&problems, &tree->root, &record, NULL, &out);
  cr_expect_str_eq(rs_text_string(&problems.text), "t.yaml:1:17: numbers.f001 = 10: must be from 1 to 9");
  cr_expect(out.field[0] == 1 && out.field[1] == 7 && out.field[2] == 5);
  rs_problems_clear(&problems);
  record.partial = false;
  rs_record_read(&problems, &tree->root, &record, NULL, &out);
  cr_expect_eq(problems.count, 2);
  cr_expect_not_null(strstr(rs_text_string(&problems.text), "numbers = {...}: has no f002"), "%s",
                     rs_text_string(&problems.text));
  rs_problems_clear(&problems);
  rs_tree_free(tree);
}

Test(config_records, written__reads_back) {
  const rs_record record = make_record(70);
  numbers in, out = {{0}};
  rs_text yaml = {0};
  rs_problems problems = {0};
  rs_tree *tree;
  for (size_t i = 0; i < MOST; i++) in.field[i] = 1 + (i * i) % 9;
  rs_text_puts(&yaml, "{");
  rs_record_put(&yaml, &record, &in);
  rs_text_puts(&yaml, "}");
  cr_assert_eq(rs_yaml_read(rs_text_string(&yaml), yaml.length, "t.yaml", &tree, NULL), RS_OK);
  rs_record_read(&problems, &tree->root, &record, NULL, &out);
  cr_expect_eq(problems.count, 0, "%s", rs_text_string(&problems.text));
  cr_expect_eq(memcmp(in.field, out.field, 70 * sizeof *in.field), 0);
  rs_tree_free(tree);
  rs_text_clear(&yaml);
}

/* As if the field were not: neither written nor wanted. */
Test(config_records, later_fields_that_are_0__are_left_out) {
  rs_record record = make_record(3);
  record.partial = false;
  fields[1].later = fields[2].later = true;
  const numbers in = {{4, 0, 6}};
  numbers out = {{0}};
  rs_text json = {0};
  rs_json writer = {.text = &json};
  rs_problems problems = {0};
  rs_tree *tree;
  rs_json_object(&writer, NULL);
  rs_record_write(&writer, &record, &in);
  rs_json_end(&writer);
  cr_expect_null(strstr(rs_text_string(&json), "f001"), "%s", rs_text_string(&json));
  cr_expect_not_null(strstr(rs_text_string(&json), "f002"), "%s", rs_text_string(&json));
  cr_assert_eq(rs_yaml_read(rs_text_string(&json), json.length, "t.yaml", &tree, NULL), RS_OK);
  rs_record_read(&problems, &tree->root, &record, NULL, &out);
  cr_expect_eq(problems.count, 0, "%s", rs_text_string(&problems.text));
  cr_expect_eq(memcmp(&in, &out, sizeof in), 0);
  rs_tree_free(tree);
  rs_text_clear(&json);
}
