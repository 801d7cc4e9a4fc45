/* A folder that this program wrote, and the logits that another program made of its files by Hugging Face's rules
 * (README.md says how): the weights stand where Llama's class looks for them, and its config says what the model does.
 */
#include "../golden.h"

#include "config/config.h"

#include <stdlib.h>

static char *folder_of(const char *name) {
  static char path[4096];
  snprintf(path, sizeof path, "%s/golden/%s", getenv("ROPESCOPE_TESTS"), name);
  return path;
}

static rs_transformer *load(const char *folder) {
  rs_trained trained;
  rs_transformer *transformer;
  rs_err err = {0};
  cr_assert_eq(rs_trained_read(folder, &trained, &err), RS_OK, "%s", err.message);
  cr_assert_eq(rs_trained_load(&trained, folder, &transformer, &err), RS_OK, "%s", err.message);
  rs_trained_clear(&trained);
  return transformer;
}

/* (rows, classes) logits of the first column's tokens. */
static double *logits_of(const rs_transformer *transformer, const rs_table *table) {
  rs_context *context;
  rs_pass *pass;
  rs_err err = {0};
  size_t length = table->rows;
  int32_t *tokens = calloc(length, sizeof *tokens);
  double *logits = calloc(length * transformer->shape.classes, sizeof *logits);
  for (size_t i = 0; i < length; i++) tokens[i] = (int32_t)golden_number(table, i, "token");
  cr_assert_eq(rs_context_create(transformer, NULL, length, 0, NULL, &context, &err), RS_OK, "%s", err.message);
  cr_assert_eq(rs_pass_create(context, 1, false, &pass, &err), RS_OK, "%s", err.message);
  const rs_batch batch = {.sequences = 1, .tokens = tokens};
  const rs_pass_out out = {.logits = logits};
  rs_forward(pass, &batch, &out);
  rs_pass_free(pass);
  rs_context_free(context);
  free(tokens);
  return logits;
}

Test(golden, llama_folder__as_hugging_face_reads_it__same_logits) {
  rs_transformer *transformer = load(folder_of("llama"));
  rs_table *table = golden_read("llama/logits.csv");
  double *logits = logits_of(transformer, table);
  size_t classes = transformer->shape.classes;
  cr_assert_eq(table->columns, 1 + classes);
  for (size_t i = 0; i < table->rows; i++)
    for (size_t c = 0; c < classes; c++) {
      double wanted = 0, got = logits[i * classes + c];
      cr_assert(rs_number_read(table->fields[i * table->columns + 1 + c], &wanted));
      cr_expect_float_eq(got, wanted, 1e-9, "token %zu, class %zu: %.15g, not %.15g", i, c, got, wanted);
    }
  free(logits);
  rs_table_free(table);
  rs_transformer_free(transformer);
}

/* The geometry and recipe that other commands read from the same config are those that the model was trained with. */
Test(golden, llama_folder__read_as_a_published_model__same_recipe) {
  char path[4200];
  rs_model model;
  rs_err err = {0};
  snprintf(path, sizeof path, "%s/config.json", folder_of("llama"));
  cr_assert_eq(rs_hf_model_load(path, &model, &err), RS_OK, "%s", err.message);
  cr_expect(model.heads == 2 && model.head_dim == 8 && model.rope_theta == 500 && model.train_length == 16 &&
            model.max_length == 64);
  cr_expect_str_eq(model.published.method->name, "yarn");
  cr_expect_eq(rs_setting(&model.published.settings, "factor")->number, 4);
  cr_expect_eq(rs_setting(&model.published.settings, "beta_fast")->number, 4);
  rs_model_clear(&model);
}
