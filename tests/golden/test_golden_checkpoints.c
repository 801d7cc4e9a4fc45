/* Checkpoints in Hugging Face's layout: each architecture's logits against transformers' own code, which ran in double
 * precision (README.md). */
#include "../fixtures/models.h"
#include "../fixtures/scratch.h"
#include "../fixtures/threads.h"
#include "../golden.h"
#include "config/config.h"

#include <unistd.h>

static const char *path_of(const char *model, const char *file) {
  char path[128];
  snprintf(path, sizeof path, "%s/%s", model, file);
  return model_path(path);
}

static rs_array read_array(const char *model, const char *file) {
  rs_array array;
  rs_err err = {0};
  cr_assert_eq(rs_npy_read(path_of(model, file), &array, &err), RS_OK, "%s", err.message);
  return array;
}

static rs_transformer *load(const char *folder, rs_format format, bool copied) {
  rs_hf_checkpoint checkpoint;
  rs_transformer *transformer;
  rs_err err = {0};
  cr_assert_eq(rs_hf_checkpoint_read(folder, &checkpoint, &err), RS_OK, "%s", err.message);
  cr_assert_eq(rs_hf_checkpoint_load(&checkpoint, folder, format, copied, &transformer, &err), RS_OK, "%s",
               err.message);
  rs_hf_checkpoint_clear(&checkpoint);
  return transformer;
}

/* The largest difference of the model's answers from those of a file. */
static double difference(const rs_transformer *transformer, const char *model, const char *tokens, const char *wanted) {
  rs_array ids = read_array(model, tokens), answers = read_array(model, wanted);
  int32_t *list = calloc(ids.count, sizeof *list);
  double *ours = calloc(answers.count, sizeof *ours), worst = 0;
  rs_err err = {0};
  for (size_t i = 0; i < ids.count; i++) list[i] = (int32_t)ids.numbers[i];
  const rs_reader_in in = {.count = ids.shape[0], .length = ids.shape[1], .tokens = list, .last = answers.shape[1]};
  cr_assert_eq(answers.shape[2], transformer->shape.classes);
  cr_assert_eq(rs_read_logits(transformer, &in, ours, &err), RS_OK, "%s: %s", model, err.message);
  for (size_t i = 0; i < answers.count; i++) worst = fmax(worst, fabs(ours[i] - answers.numbers[i]));
  rs_array_clear(&ids);
  rs_array_clear(&answers);
  free(list);
  free(ours);
  return worst;
}

/* What transformers' own floats differ by is up to 1.1e-4, and doubles of an independent program 5e-14. */
static void expect_near(const char *folder, const char *model, const char *tokens, const char *wanted) {
  static const struct {
    rs_format format;
    double most;
  } formats[] = {{RS_F64, 1e-12}, {RS_F32, 1e-4}};
  for (size_t i = 0; i < RS_COUNT(formats); i++) {
    rs_transformer *transformer = load(folder, formats[i].format, false);
    double worst = difference(transformer, model, tokens, wanted);
    cr_expect(worst < formats[i].most, "%s, %s, %s: off by %.3g", folder, wanted, rs_format_words[formats[i].format],
              worst);
    rs_transformer_free(transformer);
  }
}

static const char *const models[] = {
    "bloom", "cohere2", "deepseek_v3", "falcon_alibi",  "gemma2",      "gemma3",     "gpt2",   "gpt_oss", "gpt_neox",
    "gptj",  "llama",   "llama3",      "llama_linear",  "llama_small", "llama_yarn", "llama4", "mistral", "mpt",
    "olmo2", "opt",     "phi",         "phi3_longrope", "qwen2",       "qwen3",      "smollm3"};

Test(golden, checkpoints__of_every_architecture__same_logits) {
  for (size_t i = 0; i < RS_COUNT(models); i++) {
    char folder[4096];
    snprintf(folder, sizeof folder, "%s", path_of(models[i], ""));
    expect_near(folder, models[i], "tokens.npy", "logits.npy");
  }
}

/* Release with free(). */
static double *answers_of(const char *folder, rs_format format, bool copied, const rs_array *ids, size_t *count) {
  rs_transformer *transformer = load(folder, format, copied);
  int32_t *list = calloc(ids->count, sizeof *list);
  *count = ids->count * transformer->shape.classes;
  double *answers = calloc(*count, sizeof *answers);
  rs_err err = {0};
  for (size_t i = 0; i < ids->count; i++) list[i] = (int32_t)ids->numbers[i];
  const rs_reader_in in = {.count = ids->shape[0], .length = ids->shape[1], .tokens = list, .last = ids->shape[1]};
  cr_assert_eq(transformer->mapped, !copied);
  cr_assert_eq(rs_read_logits(transformer, &in, answers, &err), RS_OK, "%s: %s", folder, err.message);
  rs_transformer_free(transformer);
  free(list);
  return answers;
}

static void expect_same_bits(const char *folder, rs_format format, const rs_array *ids) {
  size_t count;
  double *mapped = answers_of(folder, format, false, ids, &count),
         *copied = answers_of(folder, format, true, ids, &count);
  cr_expect_eq(memcmp(mapped, copied, count * sizeof *mapped), 0, "%s, %s", folder, rs_format_words[format]);
  free(mapped);
  free(copied);
}

/* Rows in parts, in groups, alternating, or (inputs, outputs); what is tied, and what is not. */
Test(golden, weights_that_stay_in_their_file__same_bits_as_copied_ones) {
  for (size_t i = 0; i < 2 * RS_COUNT(models); i++) {
    const char *model = models[i / 2];
    rs_array ids = read_array(model, "tokens.npy");
    char folder[4096];
    snprintf(folder, sizeof folder, "%s", path_of(model, ""));
    expect_same_bits(folder, i % 2 ? RS_F32 : RS_F64, &ids);
    rs_array_clear(&ids);
  }
}

/* Long enough that threads share its rows, and has an end of no whole tile. */
Test(golden, one_sequence_by_1_to_4_threads__same_bits) {
  enum { LENGTH = 1100 };
  static const char *const some[] = {"llama_small", "gpt_neox", "gpt_oss", "mistral", "deepseek_v3"};
  static double numbers[LENGTH];
  const rs_array ids = {.rank = 2, .shape = {1, LENGTH}, .count = LENGTH, .numbers = numbers};
  for (size_t i = 0; i < LENGTH; i++) numbers[i] = (double)(i * i % 31);
  for (size_t i = 0; i < RS_COUNT(some); i++) {
    char folder[4096];
    double *one = NULL;
    size_t count;
    snprintf(folder, sizeof folder, "%s", path_of(some[i], ""));
    for (int threads = 1; threads <= 4; threads++) {
      use_threads(threads);
      double *answers = answers_of(folder, RS_F32, false, &ids, &count);
      if (one != NULL) cr_expect_eq(memcmp(one, answers, count * sizeof *one), 0, "%s, %d threads", some[i], threads);
      if (one == NULL)
        one = answers;
      else
        free(answers);
    }
    free(one);
  }
}

/* One length more than the trained one turns all of it by other divisors. */
Test(golden, phi3__at_and_beyond_the_trained_length__same_logits) {
  static const char *const inputs[] = {"short", "at64", "at65"};
  for (size_t i = 0; i < RS_COUNT(inputs); i++) {
    char folder[4096], tokens[32], logits[32];
    snprintf(folder, sizeof folder, "%s", path_of("phi3_longrope", ""));
    snprintf(tokens, sizeof tokens, "tokens_%s.npy", inputs[i]);
    snprintf(logits, sizeof logits, "logits_%s.npy", inputs[i]);
    expect_near(folder, "phi3_longrope", tokens, logits);
  }
}

/* In the scratch folder: `name` leads to a file of the golden data. */
static void lead(const char *name, const char *model, const char *file) {
  cr_assert_eq(symlink(path_of(model, file), name), 0);
}

/* transformers 5 writes other keys. */
Test(golden, configs_of_transformers_5__same_logits) {
  enter_scratch();
  for (size_t i = 0; i < RS_COUNT(models); i++) {
    if (access(path_of(models[i], "config_v5.json"), F_OK) != 0) continue; /* its config.json is of 5 */
    lead("config.json", models[i], "config_v5.json");
    lead("model.safetensors", models[i], "model.safetensors");
    expect_near(".", models[i], "tokens.npy", "logits.npy");
    unlink("config.json");
    unlink("model.safetensors");
  }
  leaves(NULL, 0);
}

Test(golden, weights_of_16_bits__same_logits) {
  static const char *const formats[] = {"bf16", "f16"};
  rs_array ids = read_array("llama_small", "tokens.npy");
  enter_scratch();
  lead("config.json", "llama_small", "config.json");
  for (size_t i = 0; i < RS_COUNT(formats); i++) {
    char weights[32], logits[32];
    snprintf(weights, sizeof weights, "model_%s.safetensors", formats[i]);
    snprintf(logits, sizeof logits, "logits_%sweights.npy", formats[i]);
    lead("model.safetensors", "llama_small", weights);
    expect_near(".", "llama_small", "tokens.npy", logits);
    expect_same_bits(".", RS_F32, &ids); /* as widened ones */
    expect_same_bits(".", RS_F64, &ids);
    unlink("model.safetensors");
  }
  rs_array_clear(&ids);
  leaves((const char *[]){"config.json"}, 1);
}

Test(golden, shards__same_logits) {
  static const char *const files[] = {"model.safetensors.index.json", "model-00001-of-00002.safetensors",
                                      "model-00002-of-00002.safetensors"};
  enter_scratch();
  lead("config.json", "llama_linear", "config.json");
  for (size_t i = 0; i < RS_COUNT(files); i++) {
    char file[64];
    snprintf(file, sizeof file, "sharded/%s", files[i]);
    lead(files[i], "llama_linear", file);
  }
  expect_near(".", "llama_linear", "tokens.npy", "logits.npy");
  for (size_t i = 0; i < RS_COUNT(files); i++) unlink(files[i]);
  leaves((const char *[]){"config.json"}, 1);
}
