/* Contexts: which of a model's learned arrays they read, at other sizes and under other methods, and random positions.
 */
#include "fixtures/small_model.h"
#include "golden.h"

enum { SEQUENCES = 3, ROWS = 6, COLUMNS = 4, PATCHES = ROWS * COLUMNS, MOST = SEQUENCES * SMALL_LENGTH * 16 };

/* ---- what a model says ------------------------------------------------------------------------------------------- */

static rs_context *open_context(const rs_transformer *t, const rs_recipe *recipes, const small_model *m) {
  rs_context *context;
  rs_err err = {0};
  size_t length = m->geometry.train_length;
  cr_assert_eq(rs_context_create(t, recipes, length, 0, &m->tokens, &context, &err), RS_OK, "%s", err.message);
  return context;
}

/* The logits of all answers to the same sequences, which the caller releases. */
static double *logits_in(const rs_context *context, const small_model *m) {
  rs_pass *pass;
  rs_err err = {0};
  rs_batch batch = small_batch(m, SEQUENCES, 17);
  float patches[SEQUENCES * PATCHES * SMALL_PATCH];
  for (size_t i = 0; i < RS_COUNT(patches); i++) patches[i] = sinf((float)(i * i % 1013));
  if (batch.patches != NULL && m->shape.form == RS_VISION) {
    free((void *)batch.patches);
    batch.patches = patches;
  }
  double *logits = calloc(MOST, sizeof *logits);
  cr_assert_eq(rs_pass_create(context, SEQUENCES, false, &pass, &err), RS_OK, "%s", err.message);
  rs_forward(pass, &batch, &(rs_pass_out){.logits = logits});
  rs_pass_free(pass);
  if (batch.patches == patches) batch.patches = NULL;
  small_batch_clear(&batch);
  return logits;
}

static double *logits_of(const rs_transformer *t, const rs_recipe *recipes, const small_model *m) {
  rs_context *context = open_context(t, recipes, m);
  double *logits = logits_in(context, m);
  rs_context_free(context);
  return logits;
}

/* The largest difference of two; releases both. */
static double apart(double *a, double *b) {
  double most = 0;
  for (size_t i = 0; i < MOST; i++) most = fmax(most, fabs(a[i] - b[i]));
  free(a);
  free(b);
  return most;
}

/* A few steps down the gradient. */
static void teach(rs_transformer *t, const small_model *m) {
  rs_context *context = open_context(t, NULL, m);
  rs_pass *pass;
  rs_err err = {0};
  size_t targets;
  rs_batch batch = small_batch(m, SEQUENCES, 5);
  double *gradient = calloc(t->size, sizeof *gradient), *values = t->values;
  cr_assert_eq(rs_pass_create(context, SEQUENCES, true, &pass, &err), RS_OK, "%s", err.message);
  for (size_t step = 0; step < 20; step++) {
    memset(gradient, 0, t->size * sizeof *gradient);
    rs_backward(pass, &batch, 1, gradient, &targets);
    for (size_t i = 0; i < t->size; i++) values[i] -= 0.1 * gradient[i];
    cr_assert_eq(rs_context_refresh(context, &err), RS_OK, "%s", err.message);
  }
  free(gradient);
  small_batch_clear(&batch);
  rs_pass_free(pass);
  rs_context_free(context);
}

static double *numbers_of(const rs_transformer *t, const char *name, size_t rows, size_t columns) {
  const rs_tensor *tensor = rs_transformer_tensor(t, name);
  cr_assert_not_null(tensor, "no %s", name);
  cr_assert(tensor->rows == rows && tensor->columns == columns, "%s is %zu x %zu, not %zu x %zu", name, tensor->rows,
            tensor->columns, rows, columns);
  return (double *)t->values + tensor->offset;
}

/* ---- pictures larger than trained -------------------------------------------------------------------------------- */

/* A model of 4 x 2 patches, or of 6 x 4. */
static void fill_vision(small_model *m, const char *method, bool large) {
  small_model_fill(m, RS_VISION);
  if (large) {
    m->runs[1].rows = ROWS;
    m->runs[1].columns = COLUMNS;
    m->runs[1].tokens = PATCHES;
    m->geometry.train_length = m->geometry.max_length = 1 + PATCHES;
  }
  small_model_recipe(m, 0, method, "");
}

/* The table of a model of 4 x 2 patches for one of 6 x 4, by hand. */
typedef void carry(const rs_transformer *from, const rs_transformer *to);

static void resize(size_t rows, size_t columns, size_t new_rows, size_t new_columns, size_t channels,
                   const double *from, double *to) {
  rs_resizer *resizer;
  cr_assert_eq(rs_resizer_create(RS_BICUBIC, rows, columns, new_rows, new_columns, &resizer, NULL), RS_OK);
  rs_resizer_apply(resizer, from, channels, to);
  rs_resizer_free(resizer);
}

/* The class token's vector is the first. */
static void carry_vectors(const rs_transformer *from, const rs_transformer *to) {
  const double *trained = numbers_of(from, "model.positions.0.embed.table", 1 + 4 * 2, 8);
  double *table = numbers_of(to, "model.positions.0.embed.table", 1 + PATCHES, 8);
  memcpy(table, trained, 8 * sizeof *table);
  resize(4, 2, ROWS, COLUMNS, 8, trained + 8, table + 8);
}

/* A window of 4 x 2 has 7 x 3 relative places. */
static void carry_biases(const rs_transformer *from, const rs_transformer *to) {
  resize(7, 3, 2 * ROWS - 1, 2 * COLUMNS - 1, 2, numbers_of(from, "model.positions.0.bias.table", 7 * 3, 2),
         numbers_of(to, "model.positions.0.bias.table", (2 * ROWS - 1) * (2 * COLUMNS - 1), 2));
}

static void check_pictures(const char *method, carry *carry_table) {
  small_model small, large;
  fill_vision(&small, method, false);
  fill_vision(&large, method, true);
  rs_transformer *t = small_model_create(&small, RS_F64, 1), *other = small_model_create(&large, RS_F64, 2);
  teach(t, &small);
  const rs_value *grid = rs_setting(&t->recipes[0].settings, "table_grid");
  cr_expect(grid->count == 2 && grid->list[0] == 4 && grid->list[1] == 2 && !grid->given, "%s: the grid", method);
  cr_expect_eq(rs_transformer_adopt(other, t), t->tensor_count - 1, "%s: all but the table", method);
  cr_expect_gt(apart(logits_of(t, NULL, &large), logits_of(other, NULL, &large)), 1e-4, "%s: as drawn", method);
  carry_table(t, other);
  cr_expect_lt(apart(logits_of(t, NULL, &large), logits_of(other, NULL, &large)), 1e-12, "%s: own recipe", method);
  cr_expect_lt(apart(logits_of(t, large.recipes, &large), logits_of(other, NULL, &large)), 1e-12, "%s: own", method);
  rs_transformer_free(other);

  cr_assert_eq(rs_recipe_follow(&large.recipes[0], &t->recipes[0], NULL), RS_OK);
  other = small_model_create(&large, RS_F64, 3);
  cr_expect_eq(rs_transformer_adopt(other, t), t->tensor_count, "%s: a model to be tuned takes all", method);
  cr_expect_eq(apart(logits_of(t, NULL, &large), logits_of(other, NULL, &large)), 0, "%s: tuned", method);
  rs_transformer_free(other);
  rs_transformer_free(t);
  small_model_clear(&small);
  small_model_clear(&large);
}

Test(contexts, pictures_larger_than_trained__trained_table_is_resized) {
  check_pictures("learned_2d", carry_vectors);
  check_pictures("swin", carry_biases);
}

/* ---- other recipes than trained ---------------------------------------------------------------------------------- */

static small_model decoder(const char *method, const char *settings) {
  small_model m;
  small_model_fill(&m, RS_DECODER);
  m.shape.decoder.blocks = NULL; /* of the copy */
  small_model_recipe(&m, 0, method, settings);
  return m;
}

static rs_transformer *create(small_model *m, uint64_t seed) {
  m->shape.decoder.blocks = m->blocks;
  return small_model_create(m, RS_F64, seed);
}

Test(contexts, array_of_another_shape__is_refused_by_name) {
  static const struct {
    const char *method, *settings, *message;
  } cases[] = {
      {"t5", "num_buckets=16",
       "model.positions.0.bias.table is 32 x 2, t5 as it is here takes 16 x 2 (leave its parameters as they were "
       "trained)"},
      {"relative", "clip=3",
       "model.positions.0.bias.table is 32 x 2, relative as it is here takes 7 x 2 (leave its parameters as they were "
       "trained)"},
  };
  small_model m = decoder("t5", "");
  rs_transformer *t = create(&m, 1);
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    small_model other = decoder(cases[i].method, cases[i].settings);
    rs_context *context;
    rs_err err = {0};
    cr_expect_eq(rs_context_create(t, other.recipes, SMALL_LENGTH, 0, NULL, &context, &err), RS_DOMAIN);
    cr_expect_str_eq(err.message, cases[i].message, "%s", err.message);
    cr_expect_null(context);
    small_model_clear(&other);
  }
  rs_transformer_free(t);
  small_model_clear(&m);
}

/* A method without the array is read as it is. */
Test(contexts, method_without_the_array__is_read) {
  small_model m = decoder("t5", ""), plain = decoder("nope", "");
  rs_transformer *t = create(&m, 1), *other = create(&plain, 2);
  cr_expect_eq(rs_transformer_adopt(other, t), other->tensor_count);
  cr_expect_eq(apart(logits_of(t, plain.recipes, &m), logits_of(other, NULL, &plain)), 0);
  cr_expect_gt(apart(logits_of(t, NULL, &m), logits_of(other, NULL, &plain)), 1e-6);
  rs_transformer_free(t);
  rs_transformer_free(other);
  small_model_clear(&m);
  small_model_clear(&plain);
}

/* The scales are T5's second array, and RoPE's first. */
Test(contexts, array_at_another_index__is_found_by_its_name) {
  small_model m = decoder("t5", "logit_scale=ssmax"), plain = decoder("rope", "logit_scale=ssmax");
  rs_transformer *t = create(&m, 1), *other = create(&plain, 2);
  double *scales = numbers_of(t, "model.positions.0.logit_scale", 1, 2);
  scales[0] = 0.3;
  scales[1] = 2;
  cr_expect_eq(rs_transformer_adopt(other, t), other->tensor_count);
  cr_expect_eq(apart(logits_of(t, plain.recipes, &m), logits_of(other, NULL, &plain)), 0);
  double *before = logits_of(t, plain.recipes, &m);
  scales[1] = 1;
  cr_expect_gt(apart(before, logits_of(t, plain.recipes, &m)), 1e-6);
  rs_transformer_free(t);
  rs_transformer_free(other);
  small_model_clear(&m);
  small_model_clear(&plain);
}

/* No gradient has a place that is another array's, or none. */
Test(contexts, pass_back__recipe_learns_what_the_model_has_not__is_an_error) {
  static const struct {
    const char *trained, *trained_with, *read, *read_with, *message;
  } wrong[] = {
      {"rope", "", "t5", "", "t5 learns bias.table, for which the model, made for rope, has no weights"},
      {"t5", "logit_scale=ssmax", "rope", "logit_scale=ssmax", "rope learns logit_scale, for which"},
      {"kerple_log", "", "fire", "", "fire learns bias."},
      {"nope", "", "shaw", "", "shaw learns vectors.keys, for which the model, made for nope, has no weights"},
      {"shaw", "", "nope", "", NULL},
      {"axial", "", "rope_mixed", "", "rope_mixed learns freq.x, for which"},
      {"rope_mixed", "", "rope_mixed", "learned=false", NULL},
      {"t5", "", "nope", "", NULL},
      {"t5", "logit_scale=ssmax", "t5", "", NULL},
      {"t5", "", "t5", "", NULL},
  };
  for (size_t i = 0; i < RS_COUNT(wrong); i++) {
    small_model m = decoder(wrong[i].trained, wrong[i].trained_with), read = decoder(wrong[i].read, wrong[i].read_with);
    rs_transformer *t = create(&m, 1);
    rs_context *context = open_context(t, read.recipes, &m);
    rs_pass *pass;
    rs_err err = {0};
    bool fits = wrong[i].message == NULL;
    cr_expect_eq(rs_pass_create(context, 1, true, &pass, &err), fits ? RS_OK : RS_UNSUPPORTED, "%zu", i);
    if (!fits) cr_expect_not_null(strstr(err.message, wrong[i].message), "%zu: %s", i, err.message);
    cr_expect_eq(pass != NULL, fits, "%zu", i);
    rs_pass_free(pass);
    rs_context_free(context);
    rs_transformer_free(t);
    small_model_clear(&m);
    small_model_clear(&read);
  }
}

/* ---- random positions -------------------------------------------------------------------------------------------- */

static double *redrawn(rs_context *context, const small_model *m, uint64_t seed) {
  rs_err err = {0};
  cr_assert_eq(rs_context_redraw(context, seed, &err), RS_OK, "%s", err.message);
  return logits_in(context, m);
}

Test(contexts, redraw__positions_are_those_of_the_seed) {
  static const uint64_t seeds[] = {0, 1, 2, 3, 1000, (uint64_t)1 << 40, ((uint64_t)1 << 53) - 1};
  small_model m = decoder("random_rope", "");
  rs_transformer *t = create(&m, 1);
  rs_context *context = open_context(t, NULL, &m);
  for (size_t i = 0; i < RS_COUNT(seeds); i++) {
    char text[64];
    for (size_t k = 0; k < i; k++)
      cr_expect_gt(apart(redrawn(context, &m, seeds[i]), redrawn(context, &m, seeds[k])), 1e-6, "seeds %zu, %zu", i, k);
    snprintf(text, sizeof text, "position_seed=%llu", (unsigned long long)seeds[i]);
    small_model given = decoder("random_rope", text);
    cr_expect_eq(apart(redrawn(context, &m, seeds[i]), logits_of(t, given.recipes, &m)), 0, "seed %zu", i);
    small_model_clear(&given);
  }
  rs_context_free(context);
  rs_transformer_free(t);
  small_model_clear(&m);
}

/* What a model has learned is read at the new positions, too, and nothing else is drawn. */
Test(contexts, redraw__what_is_learned_stays) {
  small_model m = decoder("random_rope", "logit_scale=ssmax"), plain = decoder("rope", "");
  rs_transformer *t = create(&m, 1), *other = create(&plain, 1);
  double *scales = numbers_of(t, "model.positions.0.logit_scale", 1, 2);
  scales[0] = 3;
  rs_context *context = open_context(t, NULL, &m), *still = open_context(other, NULL, &plain);
  small_model given = decoder("random_rope", "logit_scale=ssmax position_seed=8");
  cr_expect_eq(apart(redrawn(context, &m, 8), logits_of(t, given.recipes, &m)), 0);
  cr_expect_eq(apart(redrawn(still, &plain, 8), logits_of(other, NULL, &plain)), 0, "rope has nothing to draw");
  rs_context_free(context);
  rs_context_free(still);
  rs_transformer_free(t);
  rs_transformer_free(other);
  small_model_clear(&m);
  small_model_clear(&plain);
  small_model_clear(&given);
}

/* ---- experts ----------------------------------------------------------------------------------------------------- */

/* Gives `to` the weights of `from` by name; every expert those of the one layer for all. */
static void share_weights(rs_transformer *to, const rs_transformer *from) {
  for (size_t i = 0; i < to->tensor_count; i++) {
    const rs_tensor *tensor = &to->tensors[i];
    char name[112];
    const char *expert = strstr(tensor->name, "experts."), *part = expert != NULL ? strchr(expert + 8, '.') : NULL;
    snprintf(name, sizeof name, "%.*s%s", (int)(expert != NULL ? expert - tensor->name : 111), tensor->name,
             part != NULL ? part + 1 : "");
    const rs_tensor *other = rs_transformer_tensor(from, name);
    if (other != NULL)
      memcpy((double *)to->values + tensor->offset, (const double *)from->values + other->offset,
             tensor->rows * tensor->columns * sizeof(double));
  }
}

/* Experts that all say the same are one layer, whoever is chosen: their weights sum to 1. */
Test(contexts, experts__all_alike__are_one_layer) {
  small_model m;
  small_model_fill(&m, RS_DECODER);
  for (size_t i = 0; i < SMALL_BLOCKS; i++) {
    m.blocks[i].feed_forward.gated = true;
    m.blocks[i].feed_forward.bias = true;
  }
  rs_transformer *dense = small_model_create(&m, RS_F64, 1);
  double *wanted = logits_of(dense, NULL, &m);
  for (size_t used = 1; used <= 5; used++) {
    for (size_t i = 0; i < SMALL_BLOCKS; i++)
      m.blocks[i].feed_forward.experts =
          (rs_experts){.count = 5, .used = used, .normed = true, .scale = 1, .router_bias = true};
    rs_transformer *experts = small_model_create(&m, RS_F64, 2);
    share_weights(experts, dense);
    double *logits = logits_of(experts, NULL, &m);
    for (size_t i = 0; i < MOST; i++) cr_expect_float_eq(logits[i], wanted[i], 1e-12, "%zu used, %zu", used, i);
    free(logits);
    rs_transformer_free(experts);
  }
  free(wanted);
  rs_transformer_free(dense);
  small_model_clear(&m);
}

/* Groups of one expert choose as experts do by themselves; a group of several is as good as its two best. */
Test(contexts, experts__in_groups_of_one__are_chosen_as_without) {
  small_model m;
  double *logits[2];
  small_model_fill(&m, RS_DECODER);
  for (size_t grouped = 0; grouped < 2; grouped++) {
    for (size_t i = 0; i < SMALL_BLOCKS; i++) {
      m.blocks[i].feed_forward.gated = true;
      m.blocks[i].feed_forward.experts =
          (rs_experts){.count = 4, .used = 2, .sigmoid = true, .scale = 1, .groups = 4 * grouped, .groups_used = 2};
    }
    rs_transformer *t = small_model_create(&m, RS_F64, 2);
    logits[grouped] = logits_of(t, NULL, &m);
    rs_transformer_free(t);
  }
  cr_expect_eq(apart(logits[0], logits[1]), 0);
  small_model_clear(&m);
}

Test(contexts, experts__that_cannot_be__are_refused) {
  static const struct {
    rs_experts experts;
    bool gated, normed;
    rs_status status;
  } cases[] = {{{.count = 2, .used = 3}, true, false, RS_INPUT},
               {{.count = 2}, true, false, RS_INPUT},
               {{.count = 2, .used = 2}, false, false, RS_UNSUPPORTED},
               {{.count = 2, .used = 2}, true, true, RS_UNSUPPORTED},
               {{.count = 4, .used = 2, .shared = (size_t)1 << 30}, true, false, RS_INPUT},
               {{.count = 4, .used = 2, .sigmoid = true, .groups = 3, .groups_used = 1}, true, false, RS_INPUT},
               {{.count = 4, .used = 2, .sigmoid = true, .groups = 2, .groups_used = 3}, true, false, RS_INPUT},
               {{.count = 4, .used = 2, .sigmoid = true, .groups = 2, .groups_used = 1}, true, false, RS_OK},
               {{.count = 2, .used = 2}, true, false, RS_OK}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    small_model m;
    small_model_fill(&m, RS_DECODER);
    m.blocks[1].feed_forward.experts = cases[i].experts;
    m.blocks[1].feed_forward.gated = cases[i].gated;
    if (cases[i].normed) m.blocks[1].after_feed_forward = (rs_norm){.kind = RS_NORM_RMS, .epsilon = 1e-5};
    cr_expect_eq(rs_shape_check(&m.shape, NULL), cases[i].status, "case %zu", i);
    small_model_clear(&m);
  }
}

Test(contexts, latent_heads__that_cannot_be__are_refused) {
  static const struct {
    rs_latent latent;
    size_t kv_heads;
    rs_status status;
  } cases[] = {{{.kv_rank = 3, .turned = 2, .value_dim = 4}, 2, RS_OK},
               {{.kv_rank = 3, .turned = 2, .value_dim = 5}, 2, RS_INPUT},
               {{.kv_rank = 3, .turned = 5, .value_dim = 4}, 2, RS_INPUT},
               {{.kv_rank = 3, .turned = 2, .value_dim = 0}, 2, RS_INPUT},
               {{.kv_rank = 3, .turned = 2, .value_dim = 4}, 1, RS_INPUT}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    small_model m;
    small_model_fill(&m, RS_DECODER);
    m.blocks[1].attention.latent = cases[i].latent;
    m.blocks[1].attention.kv_heads = cases[i].kv_heads;
    cr_expect_eq(rs_shape_check(&m.shape, NULL), cases[i].status, "case %zu", i);
    small_model_clear(&m);
  }
}

/* ---- what is read alone ------------------------------------------------------------------------------------------ */

#define LEARNS "a model with learned curves, or norms with weights behind the rotation is read, and not trained"

Test(contexts, training__of_what_has_no_way_back__is_refused) {
  static const char *const said[] = {"a model without classes is read, and not trained",
                                     "a model with token types is read, and not trained",
                                     "a model with experts or narrow layers is read, and not trained",
                                     "a model with clipped queries, keys and values is read, and not trained",
                                     LEARNS,
                                     LEARNS};
  for (size_t i = 0; i < RS_COUNT(said); i++) {
    small_model m;
    rs_context *context;
    rs_pass *pass;
    rs_err err = {0};
    small_model_fill(&m, RS_ENCODER);
    if (i == 0) m.shape.classes = 0;
    if (i == 1) m.shape.token_types = 2;
    if (i == 2) {
      m.blocks[1].feed_forward.experts = (rs_experts){.count = 2, .used = 1};
      m.blocks[1].feed_forward.gated = true;
    }
    if (i == 3) m.blocks[1].attention.clip = 0.5;
    if (i == 4) m.blocks[1].feed_forward.learned_curve = true;
    if (i == 5) m.blocks[1].attention.qk_norm = (rs_norm){.kind = RS_NORM_RMS, .epsilon = 1e-5};
    if (i == 5) m.blocks[1].attention.qk_norm_turned = true;
    rs_transformer *t = small_model_create(&m, RS_F64, 1);
    cr_assert_eq(rs_context_create(t, NULL, SMALL_LENGTH, 0, NULL, &context, NULL), RS_OK);
    cr_expect_eq(rs_pass_create(context, 1, true, &pass, &err), RS_UNSUPPORTED);
    cr_expect_str_eq(err.message, said[i]);
    cr_expect_null(pass);
    cr_assert_eq(rs_pass_create(context, 1, false, &pass, NULL), RS_OK);
    rs_pass_free(pass);
    rs_context_free(context);
    rs_transformer_free(t);
    small_model_clear(&m);
  }
}

/* ---- norms behind the rotation ----------------------------------------------------------------------------------- */

/* A rotation leaves lengths, so a norm by them may stand before it, its weights behind; a norm that takes a mean off,
 * or where lengths change, may not. */
Test(contexts, norm_behind_the_rotation__of_lengths_alone) {
  static const struct {
    rs_norm_kind kind;
    const char *method, *settings;
    rs_status status;
  } cases[] = {{RS_NORM_L2, "rope", "", RS_OK},
               {RS_NORM_L2, "nope", "", RS_OK},
               {RS_NORM_NONE, "rope", "", RS_OK},
               {RS_NORM_RMS, "rope", "", RS_OK},
               {RS_NORM_LAYER, "rope", "", RS_UNSUPPORTED},
               {RS_NORM_RMS, "yarn", "factor=4", RS_UNSUPPORTED},
               {RS_NORM_L2, "yarn", "factor=4", RS_UNSUPPORTED}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    small_model m;
    rs_context *context;
    small_model_fill(&m, RS_DECODER);
    for (size_t k = 0; k < SMALL_BLOCKS; k++) {
      m.blocks[k].attention.qk_norm = (rs_norm){.kind = cases[i].kind, .epsilon = 1e-5};
      m.blocks[k].attention.qk_norm_turned = true;
    }
    small_model_recipe(&m, 0, cases[i].method, cases[i].settings);
    rs_transformer *t = small_model_create(&m, RS_F64, 1);
    cr_expect_eq(rs_context_create(t, NULL, SMALL_LENGTH, 0, NULL, &context, NULL), cases[i].status, "case %zu", i);
    rs_context_free(context);
    rs_transformer_free(t);
    small_model_clear(&m);
  }
}
