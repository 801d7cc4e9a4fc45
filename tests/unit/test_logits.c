/* What models say of sequences that are given: all of it, its end, and sequences that are none. */
#include "fixtures/small_model.h"
#include "golden.h"

enum { SEQUENCES = 3, COUNT = SEQUENCES * SMALL_LENGTH, CLASSES = SMALL_VOCABULARY };

typedef struct small_reader {
  small_model model;
  rs_transformer *transformer;
  int32_t tokens[COUNT];
  double logits[COUNT * CLASSES];
} small_reader;

static void fill_reader(small_reader *r) {
  small_model_fill(&r->model, RS_DECODER);
  r->transformer = small_model_create(&r->model, RS_F64, 3);
  for (size_t i = 0; i < COUNT; i++) r->tokens[i] = (int32_t)(i * i % SMALL_VOCABULARY);
}

static void clear_reader(small_reader *r) {
  rs_transformer_free(r->transformer);
  small_model_clear(&r->model);
}

static void read_last(const small_reader *r, size_t last, double *logits) {
  rs_err err = {0};
  const rs_reader_in in = {.count = SEQUENCES, .length = SMALL_LENGTH, .tokens = r->tokens, .last = last};
  cr_assert_eq(rs_read_logits(r->transformer, &in, logits, &err), RS_OK, "%s", err.message);
}

/* As a pass gives them, which reads all sequences at a time. */
Test(logits, all__those_of_a_pass) {
  small_reader r;
  rs_context *context;
  rs_pass *pass;
  rs_err err = {0};
  static double wanted[COUNT * CLASSES];
  fill_reader(&r);
  read_last(&r, SMALL_LENGTH, r.logits);
  cr_assert_eq(rs_context_create(r.transformer, NULL, SMALL_LENGTH, 0, NULL, &context, &err), RS_OK);
  cr_assert_eq(rs_pass_create(context, SEQUENCES, false, &pass, &err), RS_OK);
  const rs_batch batch = {.sequences = SEQUENCES, .tokens = r.tokens};
  rs_forward(pass, &batch, &(rs_pass_out){.logits = wanted});
  for (size_t i = 0; i < COUNT * CLASSES; i++) cr_expect_float_eq(r.logits[i], wanted[i], 1e-13);
  rs_pass_free(pass);
  rs_context_free(context);
  clear_reader(&r);
}

/* Each sequence has a picture of its own; a model without classes says its states. */
Test(logits, pictures__those_of_each_sequence) {
  enum { PICTURES = 3, SIDE = 2, PATCHES = SIDE * SIDE, NUMBERS = PATCHES * SMALL_PATCH, WIDTH = 8 };
  small_model m;
  float patches[PICTURES * NUMBERS];
  double together[PICTURES * WIDTH], alone[WIDTH];
  small_model_fill(&m, RS_VISION);
  m.shape.classes = 0;
  cr_assert_eq(m.shape.width, (size_t)WIDTH);
  rs_transformer *t = small_model_create(&m, RS_F64, 3);
  rs_reader_in in = {
      .count = PICTURES, .length = PATCHES + 1, .patches = patches, .rows = SIDE, .columns = SIDE, .last = 1};
  for (size_t i = 0; i < PICTURES * NUMBERS; i++) patches[i] = (float)((7 * i * i + 3 * i) % 23) / 8 - 1;
  cr_assert_eq(rs_read_logits(t, &in, together, NULL), RS_OK);
  in.count = 1;
  for (size_t s = 0; s < PICTURES; s++) {
    in.patches = patches + s * NUMBERS;
    cr_assert_eq(rs_read_logits(t, &in, alone, NULL), RS_OK);
    for (size_t c = 0; c < WIDTH; c++)
      cr_expect_float_eq(together[s * WIDTH + c], alone[c], 1e-13, "picture %zu, dim %zu", s, c);
    cr_expect_neq(alone[0], together[(s + 1) % PICTURES * WIDTH], "pictures %zu and the next give the same", s);
  }
  rs_transformer_free(t);
  small_model_clear(&m);
}

/* Each sequence has types and padding of its own, also those that a pass has no room to read with the others. */
Test(logits, types_and_padding__those_of_each_sequence) {
  for (int padded = 0; padded < 2; padded++) {
    small_reader r;
    rs_context *context;
    rs_pass *pass;
    int32_t types[COUNT];
    static double wanted[COUNT * CLASSES];
    small_model_fill(&r.model, RS_DECODER);
    small_model_recipe(&r.model, 0, "sinusoidal", "");
    r.model.shape.token_types = 3;
    r.model.shape.leaves_padding = padded;
    r.model.shape.padding = 5;
    r.transformer = small_model_create(&r.model, RS_F64, 3);
    for (size_t i = 0; i < COUNT; i++) r.tokens[i] = (int32_t)(i % SMALL_VOCABULARY), types[i] = (int32_t)(i / 4 % 3);
    const rs_batch batch = {.sequences = SEQUENCES, .tokens = r.tokens, .types = types};
    cr_assert_eq(rs_context_create(r.transformer, NULL, SMALL_LENGTH, 0, NULL, &context, NULL), RS_OK);
    cr_assert_eq(rs_pass_create(context, SEQUENCES, false, &pass, NULL), RS_OK);
    rs_forward(pass, &batch, &(rs_pass_out){.logits = wanted});
    rs_pass_free(pass);
    cr_assert_eq(rs_pass_create(context, 1, false, &pass, NULL), RS_OK);
    rs_forward(pass, &batch, &(rs_pass_out){.logits = r.logits});
    for (size_t i = 0; i < COUNT * CLASSES; i++) cr_expect_float_eq(r.logits[i], wanted[i], 1e-13, "%zu", i);
    rs_pass_free(pass);
    rs_context_free(context);
    clear_reader(&r);
  }
}

Test(logits, last__the_end_of_each_sequence) {
  small_reader r;
  static double logits[COUNT * CLASSES];
  fill_reader(&r);
  read_last(&r, SMALL_LENGTH, r.logits);
  for (size_t last = 1; last < SMALL_LENGTH; last++) {
    read_last(&r, last, logits);
    for (size_t s = 0; s < SEQUENCES; s++)
      for (size_t i = 0; i < last * CLASSES; i++)
        cr_expect_float_eq(logits[s * last * CLASSES + i], r.logits[((s + 1) * SMALL_LENGTH - last) * CLASSES + i],
                           1e-13, "last %zu, sequence %zu", last, s);
  }
  clear_reader(&r);
}

/* A pass of several sequences leaves the same of each out, and its losses. */
Test(logits, skipped__of_a_pass__the_end_of_each_sequence) {
  enum { SKIPPED = 4, LEFT = SMALL_LENGTH - SKIPPED };
  small_reader r;
  rs_context *context;
  rs_pass *pass;
  rs_err err = {0};
  double all[COUNT], some[SEQUENCES * LEFT];
  fill_reader(&r);
  cr_assert_eq(rs_context_create(r.transformer, NULL, SMALL_LENGTH, 0, NULL, &context, &err), RS_OK);
  cr_assert_eq(rs_pass_create(context, 2, false, &pass, &err), RS_OK);
  const rs_batch batch = {.sequences = SEQUENCES, .tokens = r.tokens, .targets = r.tokens};
  rs_forward(pass, &batch, &(rs_pass_out){.losses = all});
  rs_forward(pass, &batch, &(rs_pass_out){.losses = some, .skipped = SKIPPED});
  for (size_t i = 0; i < SEQUENCES * LEFT; i++)
    cr_expect_float_eq(some[i], all[i / LEFT * SMALL_LENGTH + SKIPPED + i % LEFT], 1e-13, "answer %zu", i);
  rs_pass_free(pass);
  rs_context_free(context);
  clear_reader(&r);
}

Test(logits, what_is_no_sequence__is_refused) {
  small_reader r;
  rs_err beyond = {0}, none = {0}, many = {0};
  fill_reader(&r);
  rs_reader_in in = {.count = SEQUENCES, .length = SMALL_LENGTH, .tokens = r.tokens, .last = 1};
  r.tokens[SMALL_LENGTH + 2] = SMALL_VOCABULARY;
  cr_expect_eq(rs_read_logits(r.transformer, &in, r.logits, &beyond), RS_INPUT);
  cr_expect_str_eq(beyond.message, "token 11 of sequence 1 at position 2: the vocabulary has 11");
  cr_expect_str_eq(beyond.subject, "tokens");
  r.tokens[SMALL_LENGTH + 2] = -1;
  cr_expect_eq(rs_read_logits(r.transformer, &in, r.logits, NULL), RS_INPUT);
  r.tokens[SMALL_LENGTH + 2] = 0;
  in.last = 0;
  cr_expect_eq(rs_read_logits(r.transformer, &in, r.logits, &none), RS_INPUT);
  in.last = SMALL_LENGTH + 1;
  cr_expect_eq(rs_read_logits(r.transformer, &in, r.logits, &many), RS_INPUT);
  cr_expect_str_eq(many.message, "the last 10 of 9 tokens: must be between 1 and as many as there are");
  in.length = in.last = 0;
  many = (rs_err){0};
  cr_expect_eq(rs_read_logits(r.transformer, &in, r.logits, &many), RS_INPUT);
  cr_expect_str_eq(many.message, "the last 0 of 0 tokens: must be between 1 and as many as there are");
  static const uint8_t nothing[COUNT] = {1, [SMALL_LENGTH * 2 + 3] = 1};
  rs_err empty = {0};
  in = (rs_reader_in){.count = SEQUENCES, .length = SMALL_LENGTH, .tokens = r.tokens, .last = 1, .present = nothing};
  cr_expect_eq(rs_read_logits(r.transformer, &in, r.logits, &empty), RS_INPUT);
  cr_expect_str_eq(empty.message, "sequence 1 has 0 of 9 tokens: at least 1");
  clear_reader(&r);
}

Test(logits, types_that_are_none__are_refused) {
  static const struct {
    int32_t type;
    const char *message;
  } cases[] = {{-1, "token type -1 of sequence 1 at position 3: there are 2"},
               {2, "token type 2 of sequence 1 at position 3: there are 2"},
               {1, ""}};
  small_reader r;
  small_model_fill(&r.model, RS_ENCODER);
  r.model.shape.token_types = 2;
  r.transformer = small_model_create(&r.model, RS_F64, 3);
  for (size_t i = 0; i < COUNT; i++) r.tokens[i] = 1;
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    int32_t types[COUNT] = {0};
    rs_err err = {0};
    types[SMALL_LENGTH + 3] = cases[i].type;
    rs_reader_in in = {.count = SEQUENCES, .length = SMALL_LENGTH, .tokens = r.tokens, .last = 1, .types = types};
    cr_expect_eq(rs_read_logits(r.transformer, &in, r.logits, &err), *cases[i].message == 0 ? RS_OK : RS_INPUT);
    cr_expect_str_eq(err.message, cases[i].message);
  }
  clear_reader(&r);
}

Test(logits, blank__every_weight_is_0) {
  small_model model;
  rs_transformer *transformer;
  small_model_fill(&model, RS_DECODER);
  const rs_transformer_in in = {.shape = &model.shape,
                                .geometry = &model.geometry,
                                .recipes = model.recipes,
                                .recipe_count = model.recipe_count,
                                .format = RS_F32,
                                .blank = true};
  cr_assert_eq(rs_transformer_create(&in, &transformer, NULL), RS_OK);
  for (size_t i = 0; i < transformer->size; i++) cr_assert(((const float *)transformer->values)[i] == 0);
  rs_transformer_free(transformer);
  small_model_clear(&model);
}

/* ---- narrow layers ----------------------------------------------------------------------------------------------- */

enum { HEADS = 2, DIMS = 4, TURNED = 2 }; /* of small_model_fill */

/* Keys and values of both blocks come by way of one number, and a head's value has so many. */
static rs_transformer *narrow_model(small_model *m, size_t values) {
  small_model_fill(m, RS_DECODER);
  for (size_t i = 0; i < SMALL_BLOCKS; i++)
    m->blocks[i].attention.latent = (rs_latent){
        .kv_rank = 1, .turned = TURNED, .value_dim = values, .norm = {.kind = RS_NORM_RMS, .epsilon = 1e-5}};
  return small_model_create(m, RS_F64, 3);
}

/* A model of short values in one of long ones: what they have more is 0, and is not read. */
static void lengthen_values(const rs_transformer *from, size_t values, rs_transformer *to) {
  double *out = to->values;
  const double *in = from->values;
  memset(out, 0, to->size * sizeof *out);
  for (size_t i = 0; i < to->tensor_count; i++) {
    const rs_tensor *a = &from->tensors[i], *b = &to->tensors[i];
    cr_assert_str_eq(a->name, b->name);
    for (size_t k = 0; k < a->rows * a->columns; k++) {
      size_t row = k / a->columns, column = k % a->columns, each = DIMS - TURNED + values;
      if (a->rows != b->rows) row = row / each * (2 * DIMS - TURNED) + row % each;
      if (a->columns != b->columns) column = column / values * DIMS + column % values;
      out[b->offset + row * b->columns + column] = in[a->offset + k];
    }
  }
}

Test(logits, values_of_narrow_layers__are_as_long_as_they_say) {
  static double logits[2][COUNT * CLASSES];
  small_model short_model, long_model;
  rs_transformer *t[2] = {narrow_model(&short_model, 1), narrow_model(&long_model, DIMS)};
  int32_t tokens[COUNT];
  lengthen_values(t[0], 1, t[1]);
  for (size_t i = 0; i < COUNT; i++) tokens[i] = (int32_t)(i * i % SMALL_VOCABULARY);
  const rs_reader_in in = {.count = SEQUENCES, .length = SMALL_LENGTH, .tokens = tokens, .last = SMALL_LENGTH};
  for (size_t i = 0; i < 2; i++) cr_assert_eq(rs_read_logits(t[i], &in, logits[i], NULL), RS_OK);
  for (size_t i = 0; i < COUNT * CLASSES; i++) cr_expect_float_eq(logits[0][i], logits[1][i], 1e-13, "%zu", i);
  for (size_t i = 0; i < 2; i++) rs_transformer_free(t[i]);
  small_model_clear(&short_model);
  small_model_clear(&long_model);
}
