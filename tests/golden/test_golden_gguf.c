/* Files of GGUF that the PyPI package gguf wrote (gguf/make.py), against what it reads in them: metadata of every type,
 * shapes, and the numbers of every type of blocks, bit for bit. */
#include "../golden.h"

static rs_gguf *open_golden(const char *name) {
  char path[4096];
  rs_gguf *gguf = NULL;
  rs_err err = {0};
  snprintf(path, sizeof path, "%s/golden/gguf/%s", getenv("ROPESCOPE_TESTS"), name);
  cr_assert(rs_gguf_is(path));
  cr_assert_eq(rs_gguf_open(path, &gguf, &err), RS_OK, "%s", err.message);
  return gguf;
}

static float *read_floats(const rs_stored_tensor *tensor, size_t first, size_t count) {
  float *numbers = malloc((count + 1) * sizeof *numbers);
  rs_err err = {0};
  cr_assert_not_null(numbers);
  numbers[count] = 34;
  cr_assert_eq(rs_stored_floats(tensor, first, count, numbers, &err), RS_OK, "%s", err.message);
  cr_assert_eq(numbers[count], 34, "%s: numbers beyond the end were written", tensor->name);
  return numbers;
}

/* A part begins and ends within blocks, or at their ends. */
static void expect_parts(const rs_stored_tensor *tensor, const float *expected) {
  static const size_t firsts[] = {0, 1, 31, 32, 33, 100, 255, 256}, counts[] = {0, 1, 2, 31, 32, 64, 65, 256, 300};
  for (size_t i = 0; i < RS_COUNT(firsts) * RS_COUNT(counts); i++) {
    size_t first = firsts[i / RS_COUNT(counts)], count = counts[i % RS_COUNT(counts)];
    if (first + count > tensor->count) continue;
    double doubles[300];
    rs_err err = {0};
    float *part = read_floats(tensor, first, count);
    cr_assert_eq(memcmp(part, expected + first, count * sizeof *part), 0, "%s [%zu, + %zu)", tensor->name, first,
                 count);
    free(part);
    cr_assert_eq(rs_stored_doubles(tensor, first, count, doubles, &err), RS_OK, "%s", err.message);
    for (size_t k = 0; k < count; k++) cr_assert_eq(doubles[k], (double)expected[first + k], "%s", tensor->name);
  }
}

Test(golden, gguf__numbers_of_every_type__are_bit_for_bit) {
  char path[4096];
  rs_gguf *gguf = open_golden("quants.gguf");
  rs_safetensors *floats = NULL;
  rs_err err = {0};
  size_t types = 0;
  snprintf(path, sizeof path, "%s/golden/gguf/quants.safetensors", getenv("ROPESCOPE_TESTS"));
  cr_assert_eq(rs_safetensors_map(path, &floats, &err), RS_OK, "%s", err.message);
  const rs_safetensors *checkpoint = rs_gguf_checkpoint(gguf);
  cr_assert_eq(checkpoint->count, floats->count);
  cr_assert_geq(checkpoint->count, 28);
  for (size_t i = 0; i < checkpoint->count; i++) {
    const rs_stored_tensor *tensor = &checkpoint->tensors[i], *twin;
    const char *type = rs_dtype_words[tensor->dtype];
    cr_assert(strncmp(tensor->name, type, strlen(type)) == 0, "%s is %s", tensor->name, type);
    cr_assert_eq(rs_safetensors_get(floats, tensor->name, tensor->shape, tensor->rank, &twin, &err), RS_OK, "%s",
                 err.message);
    float *numbers = read_floats(tensor, 0, tensor->count), *expected = read_floats(twin, 0, twin->count);
    for (size_t k = 0; k < tensor->count; k++)
      cr_assert_eq(memcmp(&numbers[k], &expected[k], sizeof *numbers), 0, "%s[%zu]: got %.9g, expected %.9g",
                   tensor->name, k, numbers[k], expected[k]);
    expect_parts(tensor, expected);
    cr_assert_eq(rs_stored_check(tensor, false, &err), RS_OK);
    free(numbers);
    free(expected);
    types += rs_dtype_block(tensor->dtype).numbers == 1 || strstr(tensor->name, ".ends") != NULL;
  }
  cr_expect_eq(types, 13); /* F32, F16, BF16, and ten of blocks */
  rs_safetensors_free(floats);
  rs_gguf_close(gguf);
}

/* The bytes that two hexadecimal digits each stand for. */
static void read_hex(const char *digits, char *text) {
  for (; *digits != '\0'; digits += 2) {
    unsigned byte = 0;
    cr_assert_eq(sscanf(digits, "%2x", &byte), 1);
    *text++ = (char)byte;
  }
  *text = '\0';
}

static void expect_value(const rs_table *table, size_t row, const rs_node *node) {
  const char *type = golden_text(table, row, "type"), *value = golden_text(table, row, "value");
  char text[256];
  bool string = strcmp(type, "STRING") == 0;
  cr_assert(node != NULL && node->kind == RS_SCALAR, "row %zu", row);
  cr_expect_eq(node->quoted, string);
  if (string) {
    read_hex(value, text);
    cr_expect_str_eq(node->text, text);
  } else if (strcmp(type, "FLOAT32") == 0) {
    cr_expect_eq(strtof(node->text, NULL), (float)strtod(value, NULL), "%s, not %s", node->text, value);
    cr_expect_leq(strcspn(node->text, "e"), 11, "%s has more digits than a float", node->text);
  } else if (strcmp(type, "FLOAT64") == 0) {
    cr_expect_eq(strtod(node->text, NULL), strtod(value, NULL), "%s, not %s", node->text, value);
  } else {
    cr_expect_str_eq(node->text, value);
  }
}

Test(golden, gguf__metadata_of_every_type__agrees) {
  rs_table *table = golden_read("gguf/metadata.csv");
  rs_gguf *gguf = open_golden("metadata.gguf");
  const rs_node *metadata = rs_gguf_metadata(gguf);
  size_t nodes = 0;
  for (size_t row = 0; row < table->rows; row++) {
    const char *key = golden_text(table, row, "key"), *index = golden_text(table, row, "index");
    const rs_node *node = rs_node_get(metadata, key);
    if (golden_is(table, row, "value", "counted")) {
      cr_expect_null(node);
      cr_expect_eq(rs_gguf_array_count(gguf, key), golden_size(table, row, "index"), "%s", key);
    } else if (*index == '\0') {
      expect_value(table, row, node);
      cr_expect_eq(rs_gguf_array_count(gguf, key), 0);
      nodes++;
    } else {
      size_t at = golden_size(table, row, "index"), end = golden_run(table, row - at, "key");
      cr_assert(node != NULL && node->kind == RS_SEQUENCE && node->count == end - (row - at), "%s", key);
      cr_expect_eq(rs_gguf_array_count(gguf, key), node->count);
      expect_value(table, row, &node->items[at]);
      nodes += at == 0;
    }
  }
  cr_expect_eq(metadata->count, nodes);
  cr_expect_eq(rs_gguf_array_count(gguf, "nowhere"), 0);
  rs_gguf_close(gguf);
  rs_table_free(table);
}

static size_t number_of(const rs_gguf *gguf, const char *name, const char *type) {
  char key[64];
  snprintf(key, sizeof key, "%s.%s", name, type);
  const rs_node *node = rs_node_get(rs_gguf_metadata(gguf), key);
  cr_assert_not_null(node, "%s", key);
  return strtoull(node->text, NULL, 10);
}

/* Those that are not read as well: their bytes are those of the file. */
Test(golden, gguf__sizes_of_blocks__agree) {
  rs_gguf *gguf = open_golden("sizes.gguf");
  const rs_safetensors *checkpoint = rs_gguf_checkpoint(gguf);
  for (size_t i = 0; i < checkpoint->count; i++) {
    const rs_stored_tensor *tensor = &checkpoint->tensors[i];
    rs_number_block block = rs_dtype_block(tensor->dtype);
    cr_expect_str_eq(rs_dtype_words[tensor->dtype], tensor->name);
    cr_expect_eq(block.numbers, number_of(gguf, "numbers", tensor->name), "%s", tensor->name);
    cr_expect_eq(block.bytes, number_of(gguf, "bytes", tensor->name), "%s", tensor->name);
    cr_expect(tensor->count == 2 * block.numbers && tensor->bytes == 2 * block.bytes, "%s", tensor->name);
  }
  cr_expect_eq(checkpoint->count, 32);
  rs_gguf_close(gguf);
}

static void expect_tensors(const rs_gguf *gguf) {
  static const struct {
    const char *name;
    size_t rank, shape[4];
  } cases[] = {{"rank1", 1, {3}}, {"rank2", 2, {2, 5}}, {"rank3", 3, {2, 3, 4}}, {"rank4", 4, {2, 1, 3, 5}}};
  static const char *const integers[] = {"int8", "int16", "int32", "int64"}, *const words[] = {"I8", "I16", "I32",
                                                                                               "I64"};
  const rs_stored_tensor *tensor;
  rs_err err = {0};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    const rs_safetensors *checkpoint = rs_gguf_checkpoint(gguf);
    cr_assert_eq(rs_safetensors_get(checkpoint, cases[i].name, cases[i].shape, cases[i].rank, &tensor, &err), RS_OK,
                 "%s", err.message);
    float *numbers = read_floats(tensor, 0, tensor->count);
    for (size_t k = 0; k < tensor->count; k++) cr_expect_eq(numbers[k], (float)(100 * i + k));
    cr_expect_eq((size_t)(tensor->data - checkpoint->tensors[0].data) % 64, 0);
    free(numbers);
  }
  for (size_t i = 0; i < RS_COUNT(integers); i++) {
    tensor = rs_safetensors_find(rs_gguf_checkpoint(gguf), integers[i]);
    cr_assert_not_null(tensor);
    cr_expect_str_eq(rs_dtype_words[tensor->dtype], words[i]);
    cr_expect_eq(tensor->bytes, (size_t)2 << i);
  }
  double numbers[2];
  tensor = rs_safetensors_find(rs_gguf_checkpoint(gguf), "float64");
  cr_assert_eq(rs_stored_doubles(tensor, 0, 2, numbers, &err), RS_OK, "%s", err.message);
  cr_expect(numbers[0] == 1 && numbers[1] == -2);
}

Test(golden, gguf__versions_and_alignment__agree) {
  static const char *const names[] = {"aligned.gguf", "version2.gguf"};
  for (size_t i = 0; i < RS_COUNT(names); i++) {
    rs_gguf *gguf = open_golden(names[i]);
    cr_expect_str_eq(rs_node_get(rs_gguf_metadata(gguf), "general.alignment")->text, "64");
    expect_tensors(gguf);
    rs_gguf_close(gguf);
  }
}

/* What is handed over lasts without the metadata, and the other way round. */
Test(golden, gguf__detached__lives_apart) {
  for (int first = 0; first < 2; first++) {
    rs_gguf *gguf = open_golden("aligned.gguf");
    rs_safetensors *checkpoint = rs_gguf_detach(gguf);
    cr_expect_null(rs_gguf_checkpoint(gguf));
    if (first == 0) {
      rs_gguf_close(gguf);
      float *numbers = read_floats(rs_safetensors_find(checkpoint, "rank2"), 0, 10);
      cr_expect_eq(numbers[9], 109);
      free(numbers);
    }
    rs_safetensors_free(checkpoint);
    if (first == 1) {
      const rs_node *node = rs_node_get(rs_gguf_metadata(gguf), "general.alignment");
      cr_expect(strstr(node->file, "aligned.gguf") != NULL);
      rs_gguf_close(gguf);
    }
  }
}
