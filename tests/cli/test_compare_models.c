/* test_compare_models.c: `ropescope compare` of whole models: layers of several kinds, buffers of checkpoints, tables
 * of cos and sin, and what would take long. */
#include <math.h>

#include "../fixtures/program.h"
#include "base/base.h"

#define GEMMA(local, factor)                                                                                           \
  "{\"model_type\": \"gemma3_text\", \"hidden_size\": 64, \"num_attention_heads\": 4, \"head_dim\": 16, "              \
  "\"num_hidden_layers\": 4, \"max_position_embeddings\": 4096, \"sliding_window\": 64, "                              \
  "\"sliding_window_pattern\": 2, \"rope_theta\": 1000000.0, \"rope_local_base_freq\": " local                         \
  ", \"rope_scaling\": {\"rope_type\": \"linear\", \"factor\": " factor "}}"
#define GEMMA_2(theta, length)                                                                                         \
  "{\"model_type\": \"gemma2\", \"hidden_size\": 64, \"num_attention_heads\": 4, \"head_dim\": 16, "                   \
  "\"num_hidden_layers\": 4, \"max_position_embeddings\": " length ", \"sliding_window\": 64, \"rope_theta\": " theta  \
  "}"
#define YARN_TYPES(factor)                                                                                             \
  "{\"model_type\": \"gpt_oss\", \"hidden_size\": 64, \"num_attention_heads\": 4, \"head_dim\": 16, "                  \
  "\"num_hidden_layers\": 4, \"max_position_embeddings\": 16384, \"sliding_window\": 64, \"rope_theta\": 10000.0, "    \
  "\"rope_scaling\": {\"rope_type\": \"yarn\", \"original_max_position_embeddings\": 4096, \"factor\": " factor "}}"
#define YARN                                                                                                           \
  "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_attention_heads\": 4, \"num_hidden_layers\": 4, "            \
  "\"max_position_embeddings\": 16384, \"rope_theta\": 10000.0, \"rope_scaling\": {\"rope_type\": \"yarn\", "          \
  "\"factor\": 4.0, \"original_max_position_embeddings\": 4096}}"

enum { PAIRS = 8 };

TestSuite(compare_models, .init = enter_folder, .fini = leave_folder);

static void says(const command *c, int status, const char *const *parts, const char *missing) {
  result got = run(c);
  cr_expect_eq(got.status, status, "status %d, not %d: %s%s", got.status, status, got.out, got.err);
  for (; *parts != NULL; parts++) cr_expect_not_null(strstr(got.out, *parts), "no \"%s\" in\n%s", *parts, got.out);
  if (missing != NULL) cr_expect_null(strstr(got.out, missing), "\"%s\" in\n%s", missing, got.out);
  result_clear(&got);
}

/* Local layers have another base, global ones another factor: each kind with its cause. */
Test(compare_models, each_kind_of_layers__has_its_cause) {
  write_file("a.json", GEMMA("10000.0", "8.0"));
  write_file("b.json", GEMMA("20000.0", "8.0"));
  write_file("c.json", GEMMA("20000.0", "4.0"));
  says(&(command){.arguments = {"compare", "a.json", "b.json"}}, 1,
       (const char *const[]){"layers 0, 2: sliding_attention: 7 frequencies differ",
                             "\n    likely cause: B is A with rope_theta: 20000 (the other model's; A has 10000)\n",
                             "layers 1, 3: full_attention: equal", NULL},
       "\nlikely cause");
  says(&(command){.arguments = {"compare", "a.json", "c.json"}}, 1,
       (const char *const[]){"\nlikely cause: B is A with factor: 4 (A has 8)\n",
                             "\n    likely cause: B is A with rope_theta: 20000", NULL},
       NULL);
  says(&(command){.arguments = {"compare", "a.json", "b.json", "--json"}}, 1,
       (const char *const[]){"\"text\": \"B is A with rope_theta: 20000 (the other model's; A has 10000)\"", NULL},
       NULL);
}

/* What is the cause in several kinds of layers, and which lines hold in them, is said once. */
Test(compare_models, one_cause_in_all_layers__is_one_line) {
  static const char theta[] = "likely cause: B is A with rope_theta: 20000 (the other model's; A has 10000)";
  char line[256];
  snprintf(line, sizeof line, "\n%s; the same in layers 0, 2\nlayer by layer:\n", theta);
  write_file("a.json", GEMMA_2("10000.0", "4096"));
  write_file("b.json", GEMMA_2("20000.0", "4096"));
  says(&(command){.arguments = {"compare", "a.json", "b.json"}}, 1,
       (const char *const[]){line, "\n  layers 0, 2: sliding_attention: 7 frequencies differ", NULL}, "\n    likely");
  write_file("a.json", YARN_TYPES("4.0"));
  write_file("b.json", YARN_TYPES("4.0, \"attention_factor\": 1.3"));
  says(&(command){.arguments = {"compare", "a.json", "b.json"}}, 1,
       (const char *const[]){"\nthe last 6 lines are the same in layers 0, 2\nlayer by layer:\n", NULL},
       "\n    likely");
}

/* What is said first holds of all layers, not of those whose frequencies are listed. */
Test(compare_models, first_line__holds_of_every_layer) {
  write_file("a.json", GEMMA("10000.0", "8.0"));
  write_file("b.json", GEMMA("20000.0", "8.0"));
  write_file("deep.json", "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_attention_heads\": 4, "
                          "\"num_hidden_layers\": 4, \"max_position_embeddings\": 4096}");
  says(&(command){.arguments = {"compare", "a.json", "b.json"}}, 1,
       (const char *const[]){
           " tokens\ndifferent in layers 0, 2 (sliding_attention)\nof full_attention, equal within 1e-06: "
           "frequencies of 8 pairs",
           NULL},
       "\nequal");
  says(&(command){.arguments = {"compare", "a.json", "a.json"}}, 0,
       (const char *const[]){" tokens\nequal within 1e-06 in every layer\nof full_attention, equal", NULL},
       "different");
  says(&(command){.arguments = {"compare", "a.json", "{name: pi, factor: 8}"}}, 0,
       (const char *const[]){" tokens\nof full_attention, equal within 1e-06: frequencies of 8 pairs", NULL},
       "\nequal");
  says(&(command){.arguments = {"compare", "a.json", "deep.json"}}, 1,
       (const char *const[]){"\ndifferent in layers 0, 2 (sliding_attention in A, full_attention in B); layers 1, 3 "
                             "(full_attention)\n",
                             NULL},
       "\nequal");
  says(&(command){.arguments = {"compare", "deep.json", "deep.json"}}, 0,
       (const char *const[]){" tokens\nequal within 1e-06: frequencies of 8 pairs", NULL}, "every layer");
}

/* What YaRN's code makes of 16 dims, 10000, 4096 and 4: low 3, high 6 (12.02, 18.04 over 4.61). */
static double yarn(size_t j) {
  double plain = pow(10000, -(double)j / PAIRS);
  double low = floor(16 * log(4096 / (32 * 2 * M_PI)) / (2 * log(10000)));
  double high = ceil(16 * log(4096 / (2 * M_PI)) / (2 * log(10000)));
  double r = fmin(fmax(((double)j - low) / (high - low), 0), 1);
  return plain / 4 * r + plain * (1 - r);
}

static void write_buffers(const char *path) {
  double lists[2][PAIRS];
  char names[4][64];
  rs_tensor_numbers tensors[4];
  const size_t shape[] = {PAIRS};
  for (size_t j = 0; j < PAIRS; j++) lists[0][j] = yarn(j), lists[1][j] = pow(10000, -(double)j / PAIRS);
  for (size_t l = 0; l < 4; l++) {
    snprintf(names[l], sizeof names[l], "model.layers.%zu.self_attn.rotary_emb.inv_freq", l);
    tensors[l] = (rs_tensor_numbers){
        .name = names[l], .dtype = RS_DTYPE_F32, .rank = 1, .shape = shape, .doubles = lists[l == 3]};
  }
  cr_assert_eq(rs_safetensors_write(path, tensors, 4, NULL), RS_OK);
}

/* A checkpoint three of whose layers are as its config.json says, and one is not. */
Test(compare_models, buffers_of_a_checkpoint__are_checked) {
  static const char *const parts[] = {"layers 0-2 (full_attention): as config.json says\n",
                                      "layer 3 (full_attention): not as config.json says (here A; the buffer is B): 5 "
                                      "frequencies differ",
                                      "    likely cause: B is A without any scaling: plain RoPE (A is yarn)",
                                      "\ndifferent in buffers of ", NULL};
  cr_assert_eq(rs_make_directories("m", NULL), RS_OK);
  write_file("m/config.json", YARN);
  write_buffers("m/model.safetensors");
  says(&(command){.arguments = {"compare", "m", "m/config.json"}}, 1, parts, "buffers inv_freq of B");
  says(&(command){.arguments = {"compare", "m/config.json", "m/model.safetensors"}}, 1, parts, NULL);
  says(&(command){.arguments = {"compare", "m/config.json", "m/model.safetensors", "--layers", "3"}}, 1,
       (const char *const[]){"\nlikely cause: B is A without any scaling", NULL}, NULL);
  says(&(command){.arguments = {"compare", "m", "m/config.json", "--json"}}, 1,
       (const char *const[]){"\"as_config\": true", "\"as_config\": false", "\"equal\": false", NULL}, NULL);
  const size_t one[] = {2};
  cr_assert_eq(
      rs_safetensors_write(
          "m/model.safetensors",
          &(rs_tensor_numbers){
              .name = "inv_freq", .dtype = RS_DTYPE_F32, .rank = 1, .shape = one, .doubles = (const double[]){-1, 0.5}},
          1, NULL),
      RS_OK);
  says(&(command){.arguments = {"compare", "m", "m/config.json"}}, 0,
       (const char *const[]){"weights of A are not read: inv_freq: frequency 0 is negative", NULL}, NULL);
  write_file("m/model.safetensors", "none");
  says(&(command){.arguments = {"compare", "m", "m/config.json"}}, 0,
       (const char *const[]){"weights of A are not read: m/model.safetensors: ", NULL}, NULL);
  expect_failure(&(command){.arguments = {"compare", "m", "m/none.safetensors"}}, 2,
                 "ropescope: B, m/none.safetensors: is not there\n");
}

/* The attention factor squared, positions from bfloat16. */
Test(compare_models, cos_and_sin__tell_factor_and_positions) {
  enum { ROWS = 1024 };
  static double numbers[2][ROWS * PAIRS];
  const size_t shape[] = {ROWS, PAIRS};
  double g = 0.1 * log(4) + 1;
  for (size_t p = 0; p < ROWS; p++)
    for (size_t j = 0; j < PAIRS; j++) {
      double angle = rs_round(RS_BF16, (double)p) * yarn(j);
      numbers[0][p * PAIRS + j] = g * g * cos(angle);
      numbers[1][p * PAIRS + j] = g * g * sin(angle);
    }
  const rs_tensor_numbers tensors[] = {
      {.name = "cos", .dtype = RS_DTYPE_F32, .rank = 2, .shape = shape, .doubles = numbers[0]},
      {.name = "sin", .dtype = RS_DTYPE_F32, .rank = 2, .shape = shape, .doubles = numbers[1]}};
  cr_assert_eq(rs_safetensors_write("t.safetensors", tensors, 2, NULL), RS_OK);
  write_file("config.json", YARN);
  says(&(command){.arguments = {"compare", "config.json", "t.safetensors"}}, 1,
       (const char *const[]){
           "cos and sin of 1024 positions, 8 pairs, each once, float32, positions rounded to bfloat16; "
           "attention factor 1.29648\n",
           "equal within 1e-06 and what cos and sin tell: frequencies of 8 pairs\n",
           "positions: A exact, B in bfloat16\n",
           "likely cause: B is A with the attention factor squared on cos and sin",
           "likely cause: B is A with positions or angles in bfloat16", NULL},
       "no known change");
}

/* Heads of 65536 dims, and 131072 positions whose angles DPRoPE would count: 5 minutes before it was bounded. */
Test(compare_models, wide_heads__end_and_say_what_was_left_out) {
  write_file("a.json", "{\"model_type\": \"llama\", \"hidden_size\": 131072, \"num_attention_heads\": 2, "
                       "\"num_hidden_layers\": 2, \"max_position_embeddings\": 131072}");
  write_file("b.json", "{\"model_type\": \"llama\", \"hidden_size\": 131072, \"num_attention_heads\": 2, "
                       "\"num_hidden_layers\": 2, \"max_position_embeddings\": 131072, \"rope_theta\": 777777.0, "
                       "\"rope_scaling\": {\"rope_type\": \"yarn\", \"factor\": 3.7, \"beta_fast\": 17, "
                       "\"original_max_position_embeddings\": 9999}}");
  says(&(command){.arguments = {"compare", "a.json", "b.json"}}, 1,
       (const char *const[]){
           " changes were not tried, as they take long: wide heads, angles counted at many positions\n", NULL},
       NULL);
}
