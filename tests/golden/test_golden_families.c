/* Mixtures of experts, encoders, and encoder-decoders: what small checkpoints say, against programs that re-type
 * modeling_*.py (README.md). tensors.csv has the names and shapes of a case's weights, CASE.json is its config,
 * CASE.npy what it says. */
#include "../fixtures/made_weights.h"
#include "../fixtures/scratch.h"
#include "hf/hf.h"

#include <unistd.h>

enum { LENGTH = 12, DECODED = 9, MOST = 2, WORDS = 23, WHOLE = 8, SIDE = 3, PATCHES = SIDE * SIDE, PIXELS = 8 };

/* families/NAME.END of the golden data. */
static const char *path_of(const char *name, const char *end) {
  static char path[4096];
  snprintf(path, sizeof path, "%s/golden/families/%s.%s", getenv("ROPESCOPE_TESTS"), name, end);
  return path;
}

/* ---- what goes in ------------------------------------------------------------------------------------------------ */

typedef struct inputs {
  rs_reader_in in;
  int32_t tokens[MOST * LENGTH], decoded[DECODED], types[MOST * LENGTH];
  uint8_t present[MOST * LENGTH];
  double ids[LENGTH][RS_AXES];
  float patches[PATCHES * PIXELS];
} inputs;

static void fill_tokens(int32_t *tokens, size_t length, int sequence) {
  for (int i = 0; i < (int)length; i++) tokens[i] = (7 * i * i + 3 * i + 5 + 6 * sequence) % WORDS;
}

/* One sequence; of RoBERTa a second that ends in padding, and the first has such a token that nothing masks; the second
 * half of the first is of the last type; of three axes each token has other numbers. */
static void fill_image(inputs *i) {
  for (int k = 0; k < PATCHES * PIXELS; k++) i->patches[k] = (float)((7 * k * k + 3 * k + 5) % WORDS - 11) / 8;
  i->in = (rs_reader_in){
      .count = 1, .length = PATCHES + 1, .patches = i->patches, .rows = SIDE, .columns = SIDE, .last = PATCHES + 1};
}

static void fill_inputs(const rs_transformer *transformer, inputs *i) {
  const rs_shape *shape = &transformer->shape;
  bool pairs = shape->leaves_padding, decodes = shape->form == RS_ENCODER_DECODER;
  for (int s = 0; s < MOST; s++) fill_tokens(i->tokens + s * LENGTH, LENGTH, s);
  for (size_t k = 0; k < LENGTH; k++) i->types[k] = k < LENGTH / 2 ? 0 : (int32_t)shape->token_types - 1;
  fill_tokens(i->decoded, DECODED, 1);
  for (size_t k = 0; k < LENGTH; k++)
    for (size_t a = 0; a < RS_AXES; a++) i->ids[k][a] = a == 0 ? (double)(k / 2) : (double)(a == 1 ? k % 3 : 7 - k % 5);
  for (size_t k = 0; k < MOST * LENGTH; k++) i->present[k] = k < LENGTH + WHOLE;
  if (pairs) {
    i->tokens[4] = shape->padding;
    for (size_t k = WHOLE; k < LENGTH; k++) i->tokens[LENGTH + k] = shape->padding;
  }
  i->in = (rs_reader_in){.count = pairs ? 2 : 1,
                         .length = decodes ? DECODED : LENGTH,
                         .tokens = decodes ? i->decoded : i->tokens,
                         .source = decodes ? i->tokens : NULL,
                         .source_length = decodes ? LENGTH : 0,
                         .types = shape->token_types > 0 ? i->types : NULL,
                         .ids = transformer->geometry.mrope_section[0] > 0 ? i->ids[0] : NULL,
                         .last = decodes ? DECODED : LENGTH,
                         .present = pairs ? i->present : NULL};
}

/* ---- what comes out ---------------------------------------------------------------------------------------------- */

/* The largest difference of the model's answers from those of the file, padding left out. */
static double difference(const rs_transformer *transformer, const char *name) {
  inputs i = {0};
  rs_array wanted;
  rs_err err = {0};
  double worst = 0;
  if (transformer->shape.form == RS_VISION)
    fill_image(&i);
  else
    fill_inputs(transformer, &i);
  cr_assert_eq(rs_npy_read(path_of(name, "npy"), &wanted, &err), RS_OK, "%s", err.message);
  cr_assert(wanted.rank == 3 && wanted.shape[0] == i.in.count && wanted.shape[1] == i.in.length, "%s", name);
  double *said = calloc(wanted.count, sizeof *said);
  cr_assert_eq(rs_read_logits(transformer, &i.in, said, &err), RS_OK, "%s: %s", name, err.message);
  for (size_t k = 0; k < wanted.count; k++) {
    size_t row = k / wanted.shape[2];
    if (i.in.present != NULL && !i.present[row]) continue;
    worst = fmax(worst, fabs(said[k] - wanted.numbers[k]));
  }
  rs_array_clear(&wanted);
  free(said);
  return worst;
}

static void expect_near(const char *name, rs_format format, double most) {
  rs_hf_checkpoint checkpoint;
  rs_transformer *transformer;
  rs_err err = {0};
  cr_assert_eq(rs_hf_checkpoint_read(".", &checkpoint, &err), RS_OK, "%s: %s", name, err.message);
  /* In their file in floats, copied in doubles. */
  cr_assert_eq(rs_hf_checkpoint_load(&checkpoint, ".", format, format == RS_F64, &transformer, &err), RS_OK, "%s: %s",
               name, err.message);
  double worst = difference(transformer, name);
  cr_expect(worst < most, "%s, %s: off by %.3g", name, rs_format_words[format], worst);
  rs_transformer_free(transformer);
  rs_hf_checkpoint_clear(&checkpoint);
}

Test(golden, families__same_answers) {
  rs_table *tensors = golden_read("families/tensors.csv");
  enter_scratch();
  for (size_t begin = 0, end; begin < tensors->rows; begin = end) {
    const char *name = golden_text(tensors, begin, "case");
    end = golden_run(tensors, begin, "case");
    cr_assert_eq(symlink(path_of(name, "json"), "config.json"), 0);
    make_weights(tensors, begin, end);
    expect_near(name, RS_F64, 1e-12);
    expect_near(name, RS_F32, 2e-4);
    unlink("config.json");
    unlink("model.safetensors");
  }
  leaves(NULL, 0);
  rs_table_free(tensors);
}
