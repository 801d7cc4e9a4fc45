/* test_learned_grid.c: tables of rows and columns that stand side by side (learned_2d, combine: concat): their rows and
 * their resizing by formulas of their own, their training, and what does not suit the tokens. */
#include "../fixtures/picture_worlds.h"
#include "../fixtures/reading.h"
#include "../fixtures/small_model.h"
#include "../fixtures/threads.h"

enum { HALF = W / 2, VECTORS = 2 + 3 + 4 }; /* of the mixed layout: the class token's halves, 3 rows, 4 columns */

/* Nothing linear: each number differs from its neighbours in its own way. */
static double *made_table(size_t count) {
  double *table = obtain(count);
  for (size_t i = 0; i < count; i++) table[i] = (double)(i * i % 17) - 0.125 * (double)i;
  return table;
}

static rs_encoding *encode_concat(const char *settings, const double *table, size_t count) {
  rs_model model = model_of_width(2, HALF);
  rs_token_run runs[4];
  rs_token_layout layout = mixed_layout(runs);
  rs_recipe recipe = make_recipe("learned_2d", "combine=concat");
  if (*settings != '\0') recipe_set_word(&recipe, "resize", settings);
  recipe.settings.values[rs_settings_find(&recipe.settings, "resize")].given = *settings != '\0';
  recipe_set_list(&recipe, "table", table, count);
  cr_assert_eq(rs_recipe_resolve(&recipe, &model, NULL), RS_OK);
  return encode_with(&recipe, &model, LENGTH, &layout);
}

/* Linear interpolation of `sides` vectors of HALF numbers: sample o of `count` lies at (o + 1/2) sides / count - 1/2,
 * and beyond the ends is what the ends are. */
static double between(const double *table, size_t sides, size_t count, size_t o, size_t channel) {
  double at = ((double)o + 0.5) * (double)sides / (double)count - 0.5;
  at = fmin(fmax(at, 0), (double)sides - 1);
  size_t low = (size_t)at, high = low + 1 < sides ? low + 1 : low;
  double share = at - (double)low;
  return (1 - share) * table[low * HALF + channel] + share * table[high * HALF + channel];
}

/* E(i, j) = [E_row(i); E_col(j)]: the row's half first. */
Test(learned_grid, concat__row_then_column__each_linearly) {
  for (size_t class_token = 0; class_token < 2; class_token++) {
    double *numbers = made_table(VECTORS * HALF), *table = numbers + (class_token ? 0 : W);
    const double *down = numbers + W, *across = down + 3 * HALF;
    rs_encoding *encoding = encode_concat("", table, (VECTORS - (class_token ? 0 : 2)) * HALF);
    double *rows = rows_of(encoding);
    for (size_t n = 0; n < LENGTH; n++)
      for (size_t c = 0; c < W; c++) {
        int row, column;
        place_of(n, &row, &column);
        bool film = n >= FILM_AT;
        double expected = n == 0 && class_token ? numbers[c]
                          : row < 0             ? 0
                          : c < HALF            ? between(down, 3, film ? 2 : 3, (size_t)row, c)
                                                : between(across, 4, film ? 3 : 4, (size_t)column, c - HALF);
        cr_assert(close_to(rows[n * W + c], expected, 1e-14, 1e-15), "token %zu channel %zu: %.17g, not %.17g", n, c,
                  rows[n * W + c], expected);
      }
    free(rows);
    free(numbers);
    rs_encoding_free(encoding);
  }
}

/* The joint table of the same vectors, resized bicubically, is another one; and so is each side resized so, unless the
 * recipe wants that. */
Test(learned_grid, concat__is_not_the_joint_table_resized) {
  double *table = made_table((VECTORS - 2) * HALF), joint[12 * W], most = 0, apart = 0;
  for (size_t i = 0; i < 12 * W; i++) {
    size_t patch = i / W, c = i % W;
    joint[i] = c < HALF ? table[patch / 4 * HALF + c] : table[(3 + patch % 4) * HALF + c - HALF];
  }
  rs_encoding *linear = encode_concat("", table, (VECTORS - 2) * HALF);
  rs_encoding *cubic = encode_concat("bicubic", table, (VECTORS - 2) * HALF);
  double *film = resized(joint, 3, 4, W, RS_BICUBIC, 2, 3), *got = rows_of(linear), *other = rows_of(cubic);
  cr_assert_arr_eq(got + IMAGE_AT * W, joint, sizeof joint, "on its own grid they are the same");
  for (size_t i = 0; i < 6 * W; i++) {
    most = fmax(most, fabs(film[i] - got[FILM_AT * W + i]));
    apart = fmax(apart, fabs(film[i] - other[FILM_AT * W + i]));
  }
  cr_assert_gt(most, 0.1, "%g", most);
  cr_assert_lt(apart, 1e-12, "cubic by cubic: the sides' weights are the joint table's (%g)", apart);
  free(table), free(film), free(got), free(other);
  rs_encoding_free(linear);
  rs_encoding_free(cubic);
}

/* The stream holds the class token's W numbers, the rows' halves, then the columns'. */
Test(learned_grid, concat__drawn__each_number_of_the_stream_once) {
  rs_model model = model_of_width(2, HALF);
  rs_encoding *encoding = encode_mixed("learned_2d", "combine=concat table_seed=4 init_sd=0.5", &model);
  double *rows = rows_of(encoding), stream[VECTORS * HALF];
  rs_gaussian_fill((rs_stream){.seed = 4, .purpose = 0x6c6532}, 0, VECTORS * HALF, stream);
  for (size_t c = 0; c < W; c++) cr_assert(close_to(rows[c], 0.5 * stream[c], 1e-15, 0));
  for (size_t i = 0; i < 12 * W; i++) {
    size_t patch = i / W, c = i % W;
    size_t at = c < HALF ? W + patch / 4 * HALF + c : W + (3 + patch % 4) * HALF + c - HALF;
    cr_assert(close_to(rows[W + i], 0.5 * stream[at], 1e-15, 0), "%zu", i);
  }
  free(rows);
  rs_encoding_free(encoding);
}

/* ---- training ---------------------------------------------------------------------------------------------------- */

enum { STEPS = 12, PATCHES = SMALL_LENGTH - 1 };

static rs_status shape_bright(const void *state, size_t length, rs_example_shape *shape, rs_err *err) {
  (void)state, (void)err;
  *shape = (rs_example_shape){
      .length = length, .classes = 6, .patch_numbers = SMALL_PATCH, .frames = 1, .rows = 4, .columns = 2};
  return RS_OK;
}

/* Which of the first six patches is bright. */
static void draw_bright(const void *state, rs_split split, uint64_t index, size_t length, rs_example *example) {
  (void)state;
  size_t bright = (index * 2654435761u + (split == RS_SPLIT_TRAINING ? 0 : 5)) % 6;
  for (size_t i = 0; i < length * SMALL_PATCH; i++) example->patches[i] = i / SMALL_PATCH == bright ? 1 : -1;
  example->targets[0] = (int32_t)bright;
  example->parts[0] = 0;
  example->depths[0] = NAN;
}

static const rs_task_kind bright_kind = {
    .kind = {.name = "bright"}, .form = RS_VISION, .parts = {"patch"}, .shape = shape_bright, .draw = draw_bright};
static const rs_task bright = {.kind = &bright_kind};
static const rs_training training = {.steps = STEPS,
                                     .length = PATCHES,
                                     .sequences = 8,
                                     .rate = 0.01,
                                     .final_rate = 1,
                                     .warmup = 1,
                                     .beta1 = 0.9,
                                     .beta2 = 0.98,
                                     .epsilon = 1e-8};

static rs_trainer *begin(rs_transformer *t) {
  rs_trainer *trainer;
  rs_err err = {0};
  cr_assert_eq(rs_trainer_create(t, &training, &bright, 4, &trainer, &err), RS_OK, "%s", err.message);
  return trainer;
}

static void go(rs_trainer *trainer, size_t steps) {
  rs_train_step done = {0};
  for (size_t i = 0; i < steps; i++) cr_assert_eq(rs_trainer_step(trainer, &done, NULL), RS_OK);
}

/* After all steps, broken off behind `stop` of them and gone on with from their state. */
static rs_transformer *train(const small_model *m, int threads, size_t stop) {
  rs_transformer *t = small_model_create(m, RS_F64, 1);
  use_threads(threads);
  rs_trainer *before = begin(t);
  go(before, stop);
  rs_trainer *after = begin(t);
  rs_train_state *from = rs_trainer_state(before), *to = rs_trainer_state(after);
  to->step = from->step;
  memcpy(to->first, from->first, t->size * sizeof(double));
  memcpy(to->second, from->second, t->size * sizeof(double));
  go(after, STEPS - stop);
  rs_trainer_free(before);
  rs_trainer_free(after);
  use_threads(1);
  return t;
}

Test(learned_grid, concat__trained__same_bits_for_any_threads_and_stops) {
  static const struct {
    int threads;
    size_t stop;
  } cases[] = {{3, 0}, {1, 1}, {2, 7}};
  small_model m;
  small_model_fill(&m, RS_VISION);
  small_model_recipe(&m, 0, "learned_2d", "combine=concat");
  rs_transformer *plain = train(&m, 1, 0), *untrained = small_model_create(&m, RS_F64, 1);
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_transformer *t = train(&m, cases[i].threads, cases[i].stop);
    cr_expect_eq(memcmp(plain->values, t->values, t->size * sizeof(double)), 0, "case %zu", i);
    rs_transformer_free(t);
  }
  cr_expect_neq(memcmp(plain->values, untrained->values, plain->size * sizeof(double)), 0);
  rs_transformer_free(plain);
  rs_transformer_free(untrained);
  small_model_clear(&m);
}

/* ---- what does not suit ------------------------------------------------------------------------------------------ */

#define MODEL "model: {name: m, heads: 2, head_dim: 2, train_length: 16}\nlengths: 12\n"
#define TABLE(numbers) "methods: {name: learned_2d, combine: concat, table: [" numbers "]}\n"
#define SIX "1, 2, 3, 4, 5, 6"

/* 4 wide: halves of 2. A grid of 1 x 2 has 3 vectors, and 4 numbers of a class token. */
Test(learned_grid, given_tables__fit_the_tokens_or_are_refused_in_their_place) {
  static const struct {
    const char *yaml, *message;
  } cases[] = {
      {MODEL "tokens: [{image: [1, 2]}]\n" TABLE(SIX), ""},
      {MODEL "tokens: [{text: 1}, {image: [1, 2]}]\n" TABLE(SIX), ""},
      {MODEL "tokens: [{text: 1}, {image: [1, 2]}]\n" TABLE("7, 8, 9, 0, " SIX), ""},
      {MODEL "tokens: [{image: [1, 2]}]\n" TABLE("7, 8, 9, 0, " SIX),
       "t.yaml:4:53: methods.table = [...]: begins with 4 numbers of a class token, but no text opens the tokens (put "
       "{text: 1} before the picture, or leave these numbers out)"},
      {MODEL "tokens: [{text: 1}, {image: [2, 2]}]\n" TABLE(SIX),
       "t.yaml:4:53: methods.table = [...]: has 6 numbers; a grid of 2 x 2 takes 4 vectors of 2 (and may have two "
       "more, "
       "first, for the class token); table_grid says which grid it was made for"},
      {MODEL "tokens: [{text: 1}, {image: [2, 2]}]\n"
             "methods: {name: learned_2d, table_grid: [1, 2], table: [" SIX "]}\n",
       "t.yaml:4:56: methods.table = [...]: has 6 numbers: not whole rows of heads * head_dim = 4"},
      {MODEL "tokens: [{text: 1}, {image: [2, 2]}]\n"
             "methods: {name: learned_2d, table_grid: [3, 1], table: [1, 2, " SIX "]}\n",
       "t.yaml:4:56: methods.table = [...]: has 8 numbers; a grid of 3 x 1 takes 3 vectors of 4 (and may have one "
       "more, "
       "first, for the class token)"},
      {MODEL TABLE("1, 2, 3"),
       "t.yaml:3:53: methods.table = [...]: has 3 numbers: not whole rows of heads * head_dim / 2 = 2"},
      {"task: {name: where, patch_side: 3}\nlengths: 16\nmetrics: [loss]\n"
       "checkpoint: {width: 9, heads: 1, head_dim: 4, method: {name: learned_2d, combine: concat}}\n",
       "t.yaml:4:55: checkpoint.method = {...}: learned_2d: adds heads * head_dim = 4 numbers to tokens of width 9 "
       "(leave head_dim out)"},
      {"task: {name: where, patch_side: 3}\nlengths: 16\nmetrics: [loss]\n"
       "checkpoint: {width: 4, heads: 1, method: {name: learned_2d, combine: concat, table: [" SIX "]}}\n",
       "t.yaml:4:42: checkpoint.method = {...}: table: has 6 numbers; a grid of 8 x 8 takes 16 vectors of 2 (and may "
       "have two more, first, for the class token); table_grid says which grid it was made for"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    reading got = read_edited(cases[i].yaml, NULL, 0);
    cr_expect_eq(got.experiment != NULL, *cases[i].message == '\0', "case %zu", i);
    if (got.experiment == NULL)
      cr_expect_str_eq(message_of(&got), cases[i].message, "case %zu: %s", i, message_of(&got));
    reading_clear(&got);
  }
}

/* Widths of heads are even; one that a checkpoint says need not be. */
Test(learned_grid, odd_width__is_refused) {
  rs_model model = model_of_width(2, 2);
  rs_err err = {0};
  model.width = 9;
  rs_recipe recipe = make_recipe("learned_2d", "combine=concat");
  cr_expect_eq(rs_recipe_check(&recipe, &model, &err), RS_INPUT);
  cr_expect_str_eq(err.subject, "combine");
  cr_expect_str_eq(err.message,
                   "concat gives half of the width to rows and half to columns, and 9 is odd (joint and sum "
                   "take any width)");
  rs_recipe_clear(&recipe);
  recipe = make_recipe("learned_2d", "combine=sum");
  cr_expect_eq(rs_recipe_check(&recipe, &model, NULL), RS_OK);
  rs_recipe_clear(&recipe);
}
