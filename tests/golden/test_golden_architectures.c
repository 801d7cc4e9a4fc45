/* Further architectures: logits of transformers' own code, in double precision, of weights that a formula gives
 * (README.md). tensors.csv has the names and shapes of a case's weights, CASE.json is its config. */
#include "../fixtures/made_weights.h"
#include "../fixtures/scratch.h"
#include "hf/hf.h"

#include <unistd.h>

enum { LENGTH = 20, WORDS = 23, WIDTH = 32 };

/* ---- logits ------------------------------------------------------------------------------------------------------ */

static rs_transformer *load(const char *name, rs_format format) {
  rs_hf_checkpoint checkpoint;
  rs_transformer *transformer;
  rs_err err = {0};
  cr_assert_eq(rs_hf_checkpoint_read(".", &checkpoint, &err), RS_OK, "%s: %s", name, err.message);
  /* In their file in floats, copied in doubles. */
  cr_assert_eq(rs_hf_checkpoint_load(&checkpoint, ".", format, format == RS_F64, &transformer, &err), RS_OK, "%s: %s",
               name, err.message);
  rs_hf_checkpoint_clear(&checkpoint);
  return transformer;
}

/* Time, row and column of each token: an image of 3 x 3 stands behind 5 words. */
static void place_tokens(double *ids) {
  for (size_t i = 0; i < LENGTH; i++) {
    bool image = i >= 5 && i < 14;
    size_t first = image ? 5 : i < 5 ? i : i - 6;
    ids[RS_AXES * i] = (double)first;
    ids[RS_AXES * i + 1] = (double)(first + (image ? (i - 5) / 3 : 0));
    ids[RS_AXES * i + 2] = (double)(first + (image ? (i - 5) % 3 : 0));
  }
}

/* Logits, or last states where the model has none, of all tokens; returns how many numbers each has. */
static size_t read_answers(const rs_transformer *transformer, const char *name, double *answers) {
  int32_t tokens[LENGTH];
  double ids[RS_AXES * LENGTH];
  rs_err err = {0};
  for (int i = 0; i < LENGTH; i++) tokens[i] = (7 * i * i + 3 * i + 5) % WORDS;
  place_tokens(ids);
  const rs_reader_in in = {
      .count = 1, .length = LENGTH, .tokens = tokens, .last = LENGTH, .ids = ends_in(name, "_vl_text") ? ids : NULL};
  cr_assert(transformer->shape.width == WIDTH || transformer->shape.classes == WORDS, "%s", name);
  cr_assert_eq(rs_read_logits(transformer, &in, answers, &err), RS_OK, "%s: %s", name, err.message);
  return transformer->shape.classes > 0 ? transformer->shape.classes : WIDTH;
}

/* The largest difference from the rows of logits.csv that are of the case. */
static double difference(const rs_table *wanted, const char *name, rs_format format) {
  static double answers[LENGTH * WIDTH];
  size_t begin, end;
  rs_transformer *transformer = load(name, format);
  size_t numbers = read_answers(transformer, name, answers);
  double worst = 0;
  golden_case(wanted, name, &begin, &end);
  for (size_t row = begin; row < end; row++)
    for (size_t i = 0; i < WIDTH; i++) {
      char column[16];
      snprintf(column, sizeof column, "n%zu", i);
      double number = golden_number(wanted, row, column);
      cr_assert_eq(isnan(number), i >= numbers, "%s: %zu numbers", name, numbers);
      if (i < numbers) worst = fmax(worst, fabs(answers[golden_size(wanted, row, "position") * numbers + i] - number));
    }
  rs_transformer_free(transformer);
  return worst;
}

Test(golden, architectures__of_every_form__same_logits) {
  rs_table *tensors = golden_read("architectures/tensors.csv"), *wanted = golden_read("architectures/logits.csv");
  enter_scratch();
  for (size_t begin = 0, end; begin < tensors->rows; begin = end) {
    const char *name = golden_text(tensors, begin, "case");
    char config[4096];
    end = golden_run(tensors, begin, "case");
    snprintf(config, sizeof config, "%s/golden/architectures/%s.json", getenv("ROPESCOPE_TESTS"), name);
    cr_assert_eq(symlink(config, "config.json"), 0);
    make_weights(tensors, begin, end);
    double wide = difference(wanted, name, RS_F64), single = difference(wanted, name, RS_F32);
    cr_expect(wide < 1e-11, "%s: off by %.3g", name, wide);
    cr_expect(single < 1e-4, "%s: off by %.3g in float32", name, single);
    unlink("config.json");
    unlink("model.safetensors");
  }
  leaves(NULL, 0);
  rs_table_free(tensors);
  rs_table_free(wanted);
}

/* ---- what config.json leaves out --------------------------------------------------------------------------------- */

/* Windowed layers, and what they see. */
static void expect_windows(const rs_table *table, size_t row, const rs_stack *stack) {
  const char *name = golden_text(table, row, "model_type");
  size_t count = 0;
  for (size_t i = 0; i < stack->count; i++) {
    const rs_mask *mask = &stack->blocks[i].mask;
    if (mask->kind != RS_WINDOW) continue;
    cr_expect_eq(mask->window, golden_size(table, row, "window"), "%s: a window of %zu", name, mask->window);
    count++;
  }
  cr_expect_eq(count, golden_size(table, row, "windowed_layers"), "%s: %zu windows", name, count);
}

static void expect_defaults(const rs_table *table, size_t row, const rs_hf_checkpoint *checkpoint) {
  const char *name = golden_text(table, row, "model_type");
  const rs_block *block = &checkpoint->shape.decoder.blocks[0];
  const rs_head_shape *heads = &block->attention;
  const rs_model *geometry = &checkpoint->geometry;
  double rotary_dim = golden_number(table, row, "rotary_dim"), theta = golden_number(table, row, "rope_theta");
  cr_expect_eq(heads->kv_heads, golden_size(table, row, "kv_heads"), "%s: %zu heads of keys", name, heads->kv_heads);
  cr_expect_eq(heads->head_dim, golden_size(table, row, "head_dim"), "%s: heads of %zu", name, heads->head_dim);
  cr_expect(isnan(rotary_dim) || geometry->rotary_dim == (size_t)rotary_dim, "%s: %zu turn", name,
            geometry->rotary_dim);
  cr_expect(isnan(theta) || geometry->rope_theta == theta, "%s: a base of %g", name, geometry->rope_theta);
  cr_expect_eq(checkpoint->shape.decoder.final_norm.epsilon, golden_number(table, row, "epsilon"), "%s: epsilon %g",
               name, checkpoint->shape.decoder.final_norm.epsilon);
  cr_expect_eq(checkpoint->shape.tied, golden_is(table, row, "tied", "true"), "%s: tied", name);
  cr_expect_str_eq(rs_activation_words[block->feed_forward.activation], golden_text(table, row, "activation"), "%s",
                   name);
  expect_windows(table, row, &checkpoint->shape.decoder);
}

Test(golden, architectures__of_configs_with_sizes_alone__defaults_of_the_classes) {
  rs_table *table = golden_read("architectures/defaults.csv");
  enter_scratch();
  for (size_t row = 0; row < table->rows; row++) {
    char config[512];
    rs_hf_checkpoint checkpoint;
    rs_err err = {0};
    snprintf(
        config, sizeof config,
        "{\"model_type\": \"%s\", \"vocab_size\": 23, \"hidden_size\": 10240, \"intermediate_size\": 48, "
        "\"ffn_dim\": 48, \"num_attention_heads\": 160, \"num_hidden_layers\": %s, \"max_position_embeddings\": 64}",
        golden_text(table, row, "model_type"), golden_text(table, row, "layers"));
    put_bytes("config.json", config, strlen(config));
    cr_assert_eq(rs_hf_checkpoint_read(".", &checkpoint, &err), RS_OK, "%s", err.message);
    expect_defaults(table, row, &checkpoint);
    rs_hf_checkpoint_clear(&checkpoint);
  }
  leaves((const char *[]){"config.json"}, 1);
  rs_table_free(table);
}
