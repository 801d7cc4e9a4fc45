/* Positions that are not 0, 1, 2, ...: published models against themselves (what documents, shards in another order and
 * padding must not change, bit for bit), and against transformers with masks made for these ids (README.md). */
#include "../fixtures/models.h"
#include "../fixtures/scratch.h"
#include "../golden.h"
#include "config/config.h"

#include <unistd.h>

enum { LENGTH = 30, MOST = 64, FIRST = 18 }; /* tokens of a text, of any here, and of the first document of two */

static rs_transformer *load(const char *folder, rs_format format) {
  rs_hf_checkpoint checkpoint;
  rs_transformer *transformer;
  rs_err err = {0};
  cr_assert_eq(rs_hf_checkpoint_read(folder, &checkpoint, &err), RS_OK, "%s", err.message);
  cr_assert_eq(rs_hf_checkpoint_load(&checkpoint, folder, format, false, &transformer, &err), RS_OK, "%s", err.message);
  rs_hf_checkpoint_clear(&checkpoint);
  return transformer;
}

/* Release with free(). */
static double *read_logits(const rs_transformer *t, rs_reader_in in) {
  rs_err err = {0};
  in.count = 1;
  in.last = in.last > 0 ? in.last : in.length;
  double *logits = calloc(in.last * rs_reader_width(t), sizeof *logits);
  cr_assert_eq(rs_read_logits(t, &in, logits, &err), RS_OK, "%s: %s", t->geometry.name, err.message);
  return logits;
}

/* ---- laws -------------------------------------------------------------------------------------------------------- */

/* A text with padding before, in and behind it, in some order. */
typedef struct arranged {
  int32_t tokens[MOST], documents[MOST];
  double ids[MOST][RS_AXES];
  uint8_t present[MOST];
  size_t places[MOST]; /* (LENGTH,) where tokens of the text stand */
} arranged;

static void set(arranged *a, size_t place, size_t token, const int32_t *text, double id) {
  a->tokens[place] = text[token];
  a->places[token] = place;
  a->present[place] = 1;
  for (size_t axis = 0; axis < RS_AXES; axis++) a->ids[place][axis] = id;
}

static void expect_rows(const rs_transformer *t, const arranged *a, const double *got, size_t first, size_t count,
                        const double *want, const char *law) {
  size_t width = rs_reader_width(t);
  for (size_t n = 0; n < count; n++)
    cr_expect_arr_eq(got + a->places[first + n] * width, want + n * width, width * sizeof *want, "%s, %s: token %zu",
                     t->geometry.name, law, first + n);
}

/* logits(permute(t), ids permute(p)) = permute(logits(t, p)): 3 shards of a zigzag, each its first and last part. */
static void check_order(const rs_transformer *t, const int32_t *text, const double *plain) {
  enum { PARTS = 6, EACH = LENGTH / PARTS };
  static const size_t parts[PARTS] = {0, 5, 1, 4, 2, 3};
  arranged a = {0};
  for (size_t n = 0; n < LENGTH; n++) {
    size_t token = parts[n / EACH] * EACH + n % EACH;
    set(&a, n, token, text, (double)token);
  }
  double *got = read_logits(t, (rs_reader_in){.length = LENGTH, .tokens = a.tokens, .ids = a.ids[0]});
  expect_rows(t, &a, got, 0, LENGTH, plain, "order");
  free(got);
}

/* Two documents, by ids that begin again, and by numbers that alternate as far as both go. */
static void check_documents(const rs_transformer *t, const int32_t *text) {
  double *alone[2] = {read_logits(t, (rs_reader_in){.length = FIRST, .tokens = text}),
                      read_logits(t, (rs_reader_in){.length = LENGTH - FIRST, .tokens = text + FIRST})};
  arranged a = {0};
  for (size_t n = 0; n < LENGTH; n++) set(&a, n, n, text, (double)(n < FIRST ? n : n - FIRST));
  double *packed = read_logits(t, (rs_reader_in){.length = LENGTH, .tokens = a.tokens, .ids = a.ids[0]});
  expect_rows(t, &a, packed, 0, FIRST, alone[0], "packed");
  expect_rows(t, &a, packed, FIRST, LENGTH - FIRST, alone[1], "packed");
  free(packed);
  a = (arranged){0};
  for (size_t n = 0; n < LENGTH; n++) {
    size_t second = LENGTH - FIRST, place = n < second ? 2 * n : n < FIRST ? n + second : 2 * (n - FIRST) + 1;
    set(&a, place, n, text, 0);
    a.documents[place] = n < FIRST ? 3 : -8;
  }
  packed = read_logits(t, (rs_reader_in){.length = LENGTH, .tokens = a.tokens, .documents = a.documents});
  expect_rows(t, &a, packed, 0, FIRST, alone[0], "by number");
  expect_rows(t, &a, packed, FIRST, LENGTH - FIRST, alone[1], "by number");
  free(packed);
  free(alone[0]);
  free(alone[1]);
}

/* `before` and `behind` tokens of padding; answers of these are 0. */
static void check_padding(const rs_transformer *t, const int32_t *text, const double *plain, size_t before,
                          size_t behind) {
  arranged a = {0};
  size_t all = before + LENGTH + behind, width = rs_reader_width(t);
  for (size_t n = 0; n < LENGTH; n++) set(&a, before + n, n, text, 0);
  double *got = read_logits(t, (rs_reader_in){.length = all, .tokens = a.tokens, .present = a.present});
  expect_rows(t, &a, got, 0, LENGTH, plain, "padding");
  for (size_t i = 0; i < all * width; i++)
    if (!a.present[i / width]) cr_expect_eq(got[i], 0);
  free(got);
}

static void check_laws(const char *folder, rs_format format) {
  int32_t text[LENGTH];
  rs_transformer *t = load(folder, format);
  for (size_t n = 0; n < LENGTH; n++) text[n] = (int32_t)((7 * n * n + 3 * n + 5) % t->shape.vocabulary);
  double *plain = read_logits(t, (rs_reader_in){.length = LENGTH, .tokens = text});
  check_order(t, text, plain);
  check_documents(t, text);
  check_padding(t, text, plain, 7, 0);
  check_padding(t, text, plain, 0, 7);
  check_padding(t, text, plain, 3, 4);
  free(plain);
  rs_transformer_free(t);
}

Test(golden, positions__laws_of_every_decoder__bit_for_bit) {
  static const char *const models[] = {
      "bloom",      "cohere2",  "deepseek_v3", "falcon_alibi",  "gemma2",     "gemma3", "gpt2",
      "gpt_oss",    "gpt_neox", "gptj",        "llama",         "llama3",     "llama4", "llama_linear",
      "llama_yarn", "mistral",  "mpt",         "olmo2",         "opt",        "phi",    "qwen2",
      "qwen2_vl",   "qwen3",    "smollm3",     "phi3_longrope", "llama_small"};
  static const char *const files[] = {"bloom", "falcon7b", "gemma2", "gpt2", "llama3", "qwen2_q8_0", "qwen2_vl"};
  for (size_t i = 0; i < 2 * RS_COUNT(models); i++) check_laws(model_path(models[i / 2]), i % 2 ? RS_F32 : RS_F64);
  for (size_t i = 0; i < RS_COUNT(files); i++) {
    char file[64];
    snprintf(file, sizeof file, "%s/model.gguf", files[i]);
    check_laws(model_path(file), RS_F32);
  }
}

/* ---- transformers ------------------------------------------------------------------------------------------------ */

/* One array of a case; without numbers where it has none. */
static rs_array array_of(const char *name, const char *part) {
  char path[4096];
  rs_array array = {0};
  rs_err err = {0};
  snprintf(path, sizeof path, "%s/golden/positions/%s_%s.npy", getenv("ROPESCOPE_TESTS"), name, part);
  if (access(path, R_OK) == 0) cr_assert_eq(rs_npy_read(path, &array, &err), RS_OK, "%s", err.message);
  return array;
}

/* As whole numbers; NULL where there are none. */
static const int32_t *whole(const char *name, const char *part, int32_t *out, size_t *count) {
  rs_array array = array_of(name, part);
  cr_assert_leq(array.count, MOST);
  for (size_t i = 0; i < array.count; i++) out[i] = (int32_t)array.numbers[i];
  if (count != NULL) *count = array.count;
  bool there = array.count > 0;
  rs_array_clear(&array);
  return there ? out : NULL;
}

static double difference(const rs_transformer *t, const char *name) {
  int32_t tokens[MOST], source[MOST], documents[MOST], mask[MOST];
  uint8_t present[MOST];
  double ids[MOST * RS_AXES], worst = 0;
  rs_array wanted = array_of(name, "logits"), given = array_of(name, "ids");
  size_t source_length, length;
  rs_reader_in in = {.tokens = whole(name, "tokens", tokens, &length),
                     .source = whole(name, "source", source, &source_length),
                     .documents = whole(name, "documents", documents, NULL),
                     .present = whole(name, "present", mask, NULL) != NULL ? present : NULL,
                     .ids = given.count > 0 ? ids : NULL};
  in.length = length;
  in.source_length = source_length;
  cr_assert(wanted.rank == 3 && wanted.shape[2] == rs_reader_width(t), "%s", name);
  in.last = wanted.shape[1];
  for (size_t i = 0; i < length && in.present != NULL; i++) present[i] = mask[i] != 0;
  for (size_t i = 0; i < given.count * RS_AXES; i++) ids[i] = given.numbers[i / RS_AXES];
  double *logits = read_logits(t, in);
  for (size_t i = 0; i < wanted.count; i++) worst = fmax(worst, fabs(logits[i] - wanted.numbers[i]));
  free(logits);
  rs_array_clear(&given);
  rs_array_clear(&wanted);
  return worst;
}

Test(golden, positions__by_masks_of_transformers__same_logits) {
  static const struct {
    const char *model, *name;
  } cases[] = {{"llama", "llama_zigzag"},
               {"llama", "llama_packed"},
               {"llama", "llama_named"},
               {"llama", "llama_left"},
               {"mistral", "mistral_mixed"},
               {"mistral", "mistral_packed"},
               {"gemma2", "gemma2_mixed"},
               {"gpt_oss", "gpt_oss_zigzag"},
               {"gpt2", "gpt2_mixed"},
               {"gpt2", "gpt2_left"},
               {"phi3_longrope", "phi3_longrope_far"},
               {"phi3_longrope", "phi3_longrope_near"},
               {"mpt", "mpt"},
               {"bloom", "bloom_left"},
               {"t5", "t5"}};
  for (size_t i = 0; i < 2 * RS_COUNT(cases); i++) {
    const char *name = cases[i / 2].name;
    rs_transformer *t = load(model_path(cases[i / 2].model), i % 2 ? RS_F32 : RS_F64);
    double worst = difference(t, name);
    cr_expect(worst < (i % 2 ? 1e-4 : 1e-12), "%s: off by %.3g", name, worst);
    rs_transformer_free(t);
  }
}
