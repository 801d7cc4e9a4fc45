/* Published config.json files of many families, with what transformers derives from them in double precision: those of
 * ../shared/configs beside the project, where they are there. They are others', so that no copy is here; small files
 * that state the same keys are in tests/data/hf and tests/unit/test_profiles.c. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "encoding/encoding.h"
#include "hf/hf.h"
#include "io/io.h"

enum { LEAST_ROWS = 220 }; /* some classes make a table that no layer of the file reads */

static char *shared(const char *name) {
  rs_text path = {0};
  rs_text_printf(&path, "%s/../../shared/configs/%s", getenv("ROPESCOPE_TESTS"), name);
  return path.data;
}

static double number_of(const rs_node *node) {
  double number = NAN;
  cr_assert(node != NULL && rs_number_read(node->text, &number));
  return number;
}

/* The layers that a row is of. DeepSeek-V4's plain table is of its layers with a window alone. */
static bool find_layers(const rs_profile *profile, const char *type, size_t *kind) {
  rs_err err = {0};
  bool fourth = strncmp(profile->kinds[profile->chosen].model.name, "deepseek_v4", 11) == 0;
  if (*type == '\0') type = NULL;
  return rs_profile_find(profile, fourth ? "sliding_attention" : type, kind, &err) == RS_OK;
}

static void expect_table(const rs_model *model, const rs_node *row, const char *file) {
  rs_encoding *encoding;
  rs_err err = {0};
  const rs_node *omega = rs_node_get(row, "inv_freq");
  size_t length = (size_t)number_of(rs_node_get(row, "length"));
  cr_assert_eq(rs_encoding_create(&model->published, model, length, NULL, NULL, &encoding, &err), RS_OK, "%s: %s", file,
               err.message);
  cr_assert_eq(encoding->rotary_dim, 2 * omega->count, "%s: %zu dims turn", file, encoding->rotary_dim);
  cr_expect(fabs(encoding->amp - number_of(rs_node_get(row, "attention_factor"))) < 1e-12, "%s: %g", file,
            encoding->amp);
  for (size_t j = 0; j < omega->count; j++) {
    double want = number_of(&omega->items[j]);
    cr_assert(fabs(encoding->omega[j] - want) <= 1e-12 * want, "%s at %zu: pair %zu: %.17g, want %.17g", file, length,
              j, encoding->omega[j], want);
  }
  rs_encoding_free(encoding);
}

static bool check_row(const char *line, size_t length) {
  rs_tree *tree;
  rs_profile profile;
  rs_err err = {0};
  size_t kind;
  cr_assert_eq(rs_json_read(line, length, "reference.jsonl", &tree, &err), RS_OK, "%s", err.message);
  const char *name = rs_node_get(&tree->root, "file")->text;
  rs_text file = {0};
  rs_text_printf(&file, "files/%s", name);
  char *path = shared(file.data);
  cr_assert_eq(rs_profile_load(path, &profile, &err), RS_OK, "%s", err.message);
  bool there = find_layers(&profile, rs_node_get(&tree->root, "layer_type")->text, &kind);
  if (there) expect_table(&profile.kinds[kind].model, &tree->root, name);
  rs_profile_clear(&profile);
  rs_tree_free(tree);
  rs_text_clear(&file);
  free(path);
  return there;
}

Test(golden_configs, published_files__same_tables_as_transformers) {
  char *path = shared("reference.jsonl"), *text;
  size_t length, rows = 0;
  rs_err err = {0};
  if (access(path, R_OK) == 0) {
    cr_assert_eq(rs_file_read(path, RS_LARGEST_FILE, &text, &length, &err), RS_OK, "%s", err.message);
    for (char *line = text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1)
      rows += check_row(line, (size_t)(end - line));
    cr_expect_geq(rows, LEAST_ROWS, "%zu rows", rows);
    free(text);
  }
  free(path);
}
