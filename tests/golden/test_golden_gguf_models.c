/* Models as GGUF files, and their twins in Hugging Face's layout, whose logits golden tests compare with those of
 * transformers: the same weights under other names and in other orders must come to the same bits. */
#include "../fixtures/models.h"
#include "../fixtures/npy.h"
#include "hf/hf.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_TOKENS = 256 };

typedef struct twin {
  const char *model, *folder;
  bool alike_in_doubles; /* Gemma's norms were rounded to floats with the one that is added to them */
} twin;

static const twin twins[] = {
    {"llama_small", "llama_small", true},
    {"llama3", "llama3", true},
    {"llama_linear", "llama_linear", true},
    {"llama_yarn", "llama_yarn", true},
    {"mistral", "mistral/twin", true},
    {"qwen2", "qwen2", true},
    {"qwen2_vl", "qwen2_vl", true},
    {"qwen3", "qwen3", true},
    {"gemma2", "gemma2/twin", false},
    {"gemma3", "gemma3", false},
    {"phi3_longrope", "phi3_longrope", true},
    {"gpt2", "gpt2", true},
    {"bloom", "bloom", true},
    {"mpt", "mpt", true},
    {"falcon7b", "falcon7b", true},
    {"llama_small_q8_0", "llama_small_q8_0", true},
    {"mpt_q8_0", "mpt_q8_0", true},
    {"qwen2_q8_0", "qwen2_q8_0", true},
    {"falcon40b", "falcon40b", true},
};

static rs_transformer *load(const char *path, rs_format format, bool copied) {
  rs_hf_checkpoint checkpoint;
  rs_transformer *transformer;
  rs_err err = {0};
  cr_assert_eq(rs_hf_checkpoint_read(path, &checkpoint, &err), RS_OK, "%s: %s", path, err.message);
  cr_assert_eq(rs_hf_checkpoint_load(&checkpoint, path, format, copied, &transformer, &err), RS_OK, "%s: %s", path,
               err.message);
  cr_assert_eq(transformer->mapped, !copied);
  rs_hf_checkpoint_clear(&checkpoint);
  return transformer;
}

/* Logits of as many tokens as the model was trained on, at most MOST_TOKENS; free() them. */
static double *logits_of(const char *path, rs_format format, bool copied, size_t *count) {
  int32_t tokens[MOST_TOKENS];
  rs_transformer *transformer = load(path, format, copied);
  size_t words = transformer->shape.vocabulary, length = transformer->geometry.train_length;
  rs_err err = {0};
  if (length > MOST_TOKENS) length = MOST_TOKENS;
  for (size_t i = 0; i < length; i++) tokens[i] = (int32_t)((7 * i * i + 3 * i + 5) % words);
  *count = length * transformer->shape.classes;
  double *logits = malloc(*count * sizeof *logits);
  cr_assert_not_null(logits);
  const rs_reader_in in = {.count = 1, .length = length, .tokens = tokens, .last = length};
  cr_assert_eq(rs_read_logits(transformer, &in, logits, &err), RS_OK, "%s: %s", path, err.message);
  rs_transformer_free(transformer);
  return logits;
}

static bool same_bits(const twin *t, rs_format format, bool copied) {
  char file[64];
  size_t count, other;
  snprintf(file, sizeof file, "%s/model.gguf", t->model);
  double *wanted = logits_of(model_path(t->folder), format, copied, &count);
  double *logits = logits_of(model_path(file), format, copied, &other);
  cr_assert_eq(count, other, "%s", t->model);
  bool same = memcmp(wanted, logits, count * sizeof *wanted) == 0;
  free(wanted);
  free(logits);
  return same;
}

Test(golden, gguf_models__beside_their_twins__the_same_bits) {
  for (size_t i = 0; i < RS_COUNT(twins); i++) {
    cr_expect(same_bits(&twins[i], RS_F32, false), "%s", twins[i].model);
    cr_expect(same_bits(&twins[i], RS_F32, true), "%s, copied", twins[i].model);
    cr_expect_eq(same_bits(&twins[i], RS_F64, false), twins[i].alike_in_doubles, "%s in doubles", twins[i].model);
  }
}

/* What config.json says of positions, and what is left of it in the GGUF file. */
Test(golden, gguf_models__what_they_publish__that_of_their_twins) {
  for (size_t i = 0; i < RS_COUNT(twins); i++) {
    rs_profile file, said;
    rs_err err = {0};
    char gguf[64], config[64];
    snprintf(gguf, sizeof gguf, "%s/model.gguf", twins[i].model);
    snprintf(config, sizeof config, "%s/config.json", twins[i].folder);
    cr_assert_eq(rs_profile_load(model_path(gguf), &file, &err), RS_OK, "%s", err.message);
    cr_assert_eq(rs_profile_load(model_path(config), &said, &err), RS_OK, "%s", err.message);
    bool lengths = strcmp(twins[i].model, "bloom") != 0; /* whose config.json says none */
    for (size_t k = 0; k < said.kind_count; k++) {
      const rs_model *a = &file.kinds[k].model, *b = &said.kinds[k].model;
      cr_expect(rs_layers_turn_alike(&file.kinds[k], &said.kinds[k]), "%s, layers %zu", twins[i].model, k);
      cr_expect_eq(file.kinds[k].mask.window, said.kinds[k].mask.window, "%s", twins[i].model);
      cr_expect(!lengths || a->train_length == b->train_length, "%s: %zu", twins[i].model, a->train_length);
      cr_expect_eq(a->pair_layout, b->pair_layout);
    }
    cr_expect_eq(file.layer_count, said.layer_count);
    cr_expect_eq(memcmp(file.layers, said.layers, said.layer_count * sizeof *said.layers), 0, "%s", twins[i].model);
    rs_profile_clear(&file);
    rs_profile_clear(&said);
  }
}

/* What transformers says of the twins that have not lost anything. */
Test(golden, gguf_models__tokens_of_the_golden_models__logits_of_transformers) {
  static const char *const models[] = {"llama_small",   "llama3", "llama_yarn", "qwen2", "qwen3",
                                       "phi3_longrope", "gpt2",   "bloom",      "mpt"};
  for (size_t i = 0; i < RS_COUNT(models); i++) {
    char file[3][64];
    rs_array tokens, wanted;
    rs_err err = {0};
    snprintf(file[0], sizeof file[0], "%s/model.gguf", models[i]);
    snprintf(file[1], sizeof file[1], "%s/tokens.npy", models[i]);
    snprintf(file[2], sizeof file[2], "%s/logits.npy", models[i]);
    cr_assert_eq(rs_npy_read(model_path(file[1]), &tokens, &err), RS_OK, "%s", err.message);
    cr_assert_eq(rs_npy_read(model_path(file[2]), &wanted, &err), RS_OK, "%s", err.message);
    int32_t *ids = malloc(tokens.count * sizeof *ids);
    double *logits = malloc(wanted.count * sizeof *logits), worst = 0;
    for (size_t n = 0; n < tokens.count; n++) ids[n] = (int32_t)tokens.numbers[n];
    rs_transformer *transformer = load(model_path(file[0]), RS_F32, false);
    const rs_reader_in in = {
        .count = tokens.shape[0], .length = tokens.shape[1], .tokens = ids, .last = wanted.shape[1]};
    cr_assert_eq(rs_read_logits(transformer, &in, logits, &err), RS_OK, "%s", err.message);
    for (size_t n = 0; n < wanted.count; n++) worst = fmax(worst, fabs(logits[n] - wanted.numbers[n]));
    cr_expect(worst < 1e-4, "%s: off by %.3g", models[i], worst);
    rs_transformer_free(transformer);
    rs_array_clear(&tokens);
    rs_array_clear(&wanted);
    free(ids);
    free(logits);
  }
}
