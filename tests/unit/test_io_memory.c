/* test_io_memory.c: each allocation of the io layer fails in turn. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "../fixtures/gguf_files.h"
#include "../fixtures/heap.h"
#include "../fixtures/npy.h"
#include "../fixtures/scratch.h"
#include "io/io.h"

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
  if (status == RS_OK) status = (value.name = rs_strdup("a", err)) ? RS_OK : RS_MEMORY;
  if (status == RS_OK) {
    status = rs_value_copy(&copy, &value, err);
    if (status != RS_OK) cr_assert(!copy.set && copy.list == NULL && copy.file == NULL && copy.name == NULL);
  }
  rs_value_clear(&copy);
  rs_value_clear(&value);
  return status;
}

static rs_status use_safetensors(rs_err *err) {
  static const float numbers[] = {1, 2};
  const rs_tensor_numbers tensors[] = {{"a", RS_DTYPE_F32, 1, &(size_t){2}, numbers, NULL},
                                       {"b", RS_DTYPE_F16, 0, NULL, numbers, NULL}};
  rs_safetensors *checkpoint = NULL;
  rs_status status = rs_safetensors_write("s", tensors, RS_COUNT(tensors), err);
  if (status == RS_OK) status = rs_safetensors_map("s.json", &checkpoint, err);
  rs_safetensors_free(checkpoint);
  return status;
}

static rs_status use_gguf(rs_err *err) {
  rs_gguf *gguf = NULL;
  rs_status status = rs_gguf_open("g", &gguf, err);
  cr_assert_eq(status == RS_OK, gguf != NULL);
  rs_gguf_close(gguf);
  return status;
}

static void write_gguf(void) {
  rs_text file = {0};
  g_header(&file, 3, 2, 4);
  g_u32(&file, "general.alignment", 32);
  g_string(&file, "s", "text");
  g_array(&file, "n", G_U8, 2);
  g_data(&file, 1, 2);
  g_array(&file, "tokenizer.t", G_STRING, 1);
  g_text(&file, "token");
  g_tensor(&file, "b", (const uint64_t[4]){4}, T_F32, 0);
  g_tensor(&file, "a", (const uint64_t[4]){32}, T_Q8_0, 32);
  g_data(&file, 32, 66);
  g_write("g", &file);
}

static const char *numbers_file;

static rs_status use_numbers(rs_err *err) {
  double *list;
  size_t count;
  rs_status status = rs_numbers_read(numbers_file, &list, &count, err);
  free(list);
  return status;
}

static const char *tensor_file;

static rs_status use_tensor_file(rs_err *err) {
  rs_tensor_file file;
  rs_status status = rs_tensor_file_map(tensor_file, "b", &file, err);
  cr_assert_eq(status == RS_OK, file.tensor.data != NULL);
  rs_tensor_file_clear(&file);
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
  static const char index[] = "{\"weight_map\": {\"a\": \"s\", \"b\": \"s\"}}";
  cr_assert_eq(rs_file_write("s.json", index, sizeof index - 1, NULL), RS_OK);
  survives(use_safetensors, RS_INPUT, "safetensors"); /* by way of jansson */
  write_gguf();
  survives(use_gguf, RS_MEMORY, "gguf");
  static const char *const files[][2] = {{"n.json", "{\"a\": [1, 2.5]}"}, {"n.csv", "a\n1\n"}};
  for (size_t i = 0; i < RS_COUNT(files); i++) {
    numbers_file = files[i][0];
    cr_assert_eq(rs_file_write(numbers_file, files[i][1], strlen(files[i][1]), NULL), RS_OK);
    survives(use_numbers, RS_INPUT, numbers_file);
  }
  numbers_file = "n.npy";
  make_npy(numbers_file, 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }", "\0\0\0\0\0\0\xf0\x3f", 8);
  survives(use_numbers, RS_MEMORY, numbers_file);
  tensor_file = numbers_file;
  survives(use_tensor_file, RS_MEMORY, tensor_file);
  tensor_file = "s.json";
  survives(use_tensor_file, RS_INPUT, tensor_file);
  rs_err err = {0};
  allocations = 0;
  rs_status status = use_json(&err);
  allocations = -1;
  cr_assert_eq(status, RS_MEMORY);
  cr_assert_str_eq(err.message, "out of memory while reading f");
  leaves((const char *[]){"d/a", "d", "n.json", "n.csv", "n.npy", "s", "s.json", "g"}, 8);
}
