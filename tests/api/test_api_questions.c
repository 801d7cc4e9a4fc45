/* test_api_questions.c: what is asked of recipes, tables, frames, solve, compare and convert, to its end. */
#include "api.h"

#include <math.h>

/* A parameter of the method takes the place of the model's number. */
Test(api_questions, recipes_with_numbers_of_their_own) {
  static const struct {
    const char *preset, *method;
    size_t rotary;
    double theta;
    int interleaved;
  } cases[] = {{"llama-2-7b", "rope", 128, 10000, 0},
               {"llama-2-7b", "{name: rope, rotary_dim: 32}", 32, 10000, 0},
               {"llama-2-7b", "{name: rope, rope_theta: 500, pair_layout: interleaved}", 128, 500, 1},
               {"gpt-j-6b", "rope", 64, 10000, 1},
               {"gpt-j-6b", "{name: rope, pair_layout: half_split}", 64, 10000, 0},
               {"bloom-7b1", "alibi", 0, 10000, 0}};
  for (size_t i = 0; i < COUNT(cases); i++) {
    ropescope_recipe *recipe = make_recipe(cases[i].preset, NULL, cases[i].method, 0);
    cr_expect_eq(ropescope_recipe_rotary_dim(recipe), cases[i].rotary, "%s", cases[i].method);
    cr_expect_eq(ropescope_recipe_theta(recipe), cases[i].theta, "%s", cases[i].method);
    cr_expect_eq(ropescope_recipe_interleaved(recipe), cases[i].interleaved, "%s", cases[i].method);
    cr_expect_null(ropescope_recipe_parameter(recipe, 1000));
    ropescope_recipe_free(recipe);
  }
}

/* Three layers of four keep a state in place of attention. */
Test(api_questions, layers_without_attention) {
  static const char text[] =
      "{\"model_type\": \"qwen3_next\", \"num_attention_heads\": 4, \"num_key_value_heads\": 2, \"hidden_size\": 64, "
      "\"head_dim\": 16, \"rope_theta\": 10000.0, \"max_position_embeddings\": 512, \"num_hidden_layers\": 8, "
      "\"full_attention_interval\": 4}";
  ropescope_recipe *recipe = make_recipe(NULL, text, NULL, 0);
  const ropescope_layer_kind *first = ropescope_recipe_layer_kind(recipe, 0),
                             *second = ropescope_recipe_layer_kind(recipe, 1);
  cr_assert(first != NULL && second != NULL);
  cr_expect_null(ropescope_recipe_layer_kind(recipe, 2));
  cr_expect(!first->attends && !first->chosen && first->count == 6 && *first->sees == '\0' && *first->method == '\0');
  cr_expect_str_eq(first->layers, "0-2, 4-6");
  cr_expect(second->attends && second->chosen && second->count == 2);
  cr_expect_str_eq(second->sees, "everything before");
  cr_expect_str_eq(second->method, "rope");
  ropescope_recipe_free(recipe);
}

/* Keys that keep the rotation of their time have positions of their own in each pair. */
Test(api_questions, axes_of_cached_keys) {
  ropescope_recipe *recipe = make_recipe("llama-2-7b", NULL, "{name: ntk, scale: dynamic, cached_keys: 16}", 8192);
  ropescope_tables *tables = NULL;
  int axes[64], few[63] = {7};
  GOOD(ropescope_tables_create(recipe, 32, &tables, &error));
  cr_expect_eq(ropescope_tables_axis(tables, few, 63), 64);
  cr_expect_eq(few[0], 7, "what does not fit is not written");
  cr_assert_eq(ropescope_tables_axis(tables, axes, 64), 64);
  for (size_t j = 0; j < 64; j++) cr_expect_eq(axes[j], -1);
  ropescope_tables_free(tables);
  ropescope_recipe_free(recipe);
}

Test(api_questions, embeddings_to_their_end) {
  ropescope_recipe *recipe = make_recipe("llama-2-7b", NULL, "sinusoidal", 8);
  ropescope_tables *tables = NULL;
  GOOD(ropescope_tables_create(recipe, 0, &tables, &error));
  size_t width = ropescope_tables_width(tables);
  double *rows = calloc(8 * width, sizeof *rows);
  cr_assert(rows != NULL && ropescope_tables_has_embedding(tables));
  GOOD(ropescope_tables_embedding(tables, 8, 0, NULL, &error));
  GOOD(ropescope_tables_embedding(tables, 7, 1, rows, &error));
  cr_expect_float_eq(rows[0], sin(7), 1e-12);
  cr_expect_eq(ropescope_tables_embedding(tables, 8, 1, rows, NULL), ROPESCOPE_INPUT);
  cr_expect_eq(ropescope_tables_embedding(tables, 0, 9, rows, NULL), ROPESCOPE_INPUT);
  free(rows);
  ropescope_tables_free(tables);
  ropescope_recipe_free(recipe);
}

static const char small[] = "model: {head_dim: 32, heads: 2, train_length: 256}\nmethods: [rope, alibi]\n"
                            "lengths: [64]\nmetrics: [{name: frequencies}]\n";

Test(api_questions, frames_to_their_end) {
  ropescope_results *results = NULL;
  double numbers[2] = {7, 7};
  GOOD(ropescope_run(NULL, small, NULL, NULL, &results, &error));
  const ropescope_frame *frame = ropescope_results_frame(results, "summary.csv");
  size_t columns = ropescope_frame_columns(frame), length = ropescope_frame_find(frame, "length_tokens"),
         method = ropescope_frame_find(frame, "method");
  cr_expect_eq(ropescope_frame_rows(frame), 2);
  cr_expect_null(ropescope_frame_name(frame, columns));
  cr_expect_null(ropescope_frame_unit(frame, columns));
  cr_expect_null(ropescope_frame_summary(frame, columns));
  cr_expect_eq(ropescope_frame_is_numeric(frame, columns), 0);
  cr_expect_null(ropescope_frame_text(frame, 0, columns));
  cr_expect_null(ropescope_frame_text(frame, 2, method));
  cr_expect_eq(ropescope_frame_numbers(frame, columns, numbers, 2), 0);
  cr_expect_eq(ropescope_frame_numbers(frame, length, numbers, 1), 2);
  cr_expect_eq(numbers[0], 7, "what does not fit is not written");
  cr_expect_eq(ropescope_frame_numbers(frame, length, numbers, 2), 2);
  cr_expect(numbers[0] == 64 && numbers[1] == 64);
  cr_expect_eq(ropescope_frame_numbers(frame, method, numbers, 2), 2);
  cr_expect(isnan(numbers[0]) && isnan(numbers[1]));
  cr_expect_str_eq(ropescope_frame_text(frame, 1, method), "alibi");
  cr_expect_null(ropescope_results_frame(results, "manifest.json"));
  cr_expect_null(ropescope_results_file(results, "none.csv", NULL));
  ropescope_results_free(results);
}

/* Cells, lengths and seeds are integers, seeds where every row has one; the column of a file that the
 * manifest does not list is what the summary's of its name is. */
Test(api_questions, columns_of_integers) {
  static const struct {
    const char *file, *column;
    int integer;
  } cases[] = {
      {"summary.csv", "cell", 1},      {"summary.csv", "length_tokens", 1}, {"summary.csv", "seed", 1},
      {"summary.csv", "scale", 0},     {"summary.csv", "method", 0},        {"summary.csv", "entropy_nats", 0},
      {"decay.csv", "cell", 1},        {"decay.csv", "distance_tokens", 1}, {"decay.csv", "seed", 0},
      {"decay.csv", "mean_cosine", 0}, {"timings.csv", "cell", 1},          {"timings.csv", "attention_seconds", 0}};
  ropescope_results *results = NULL;
  GOOD(ropescope_run(NULL, "model: llama-2-7b\nmethods: [rope]\nlengths: [64]\nseeds: [7]\nmetrics: [entropy, decay]\n",
                     NULL, NULL, &results, &error));
  for (size_t i = 0; i < COUNT(cases); i++) {
    const ropescope_frame *frame = ropescope_results_frame(results, cases[i].file);
    size_t column = ropescope_frame_find(frame, cases[i].column), rows = ropescope_frame_rows(frame);
    int64_t first[64] = {-1};
    cr_expect_eq(ropescope_frame_is_integer(frame, column), cases[i].integer, "%s of %s", cases[i].column,
                 cases[i].file);
    cr_expect_eq(ropescope_frame_integers(frame, column, NULL, 0), cases[i].integer ? rows : 0);
    cr_expect_eq(ropescope_frame_integers(frame, column, first, rows - 1), cases[i].integer ? rows : 0);
    cr_expect_eq(first[0], -1, "no room: nothing is written");
    ropescope_frame_integers(frame, column, first, 64);
    if (cases[i].integer && rows <= 64) cr_expect_eq(first[0], (int64_t)ropescope_frame_number(frame, 0, column));
  }
  const ropescope_frame *summary = ropescope_results_frame(results, "summary.csv");
  cr_expect_eq(ropescope_frame_is_integer(summary, SIZE_MAX), 0);
  cr_expect_eq(ropescope_frame_integers(summary, SIZE_MAX, NULL, 0), 0);
  ropescope_results_free(results);
}

/* ---- questions --------------------------------------------------------------------------------------------------- */

Test(api_questions, questions_that_are_none) {
  static const struct {
    ropescope_question question;
    const char *subject, *words;
  } cases[] = {
      {{.sought = (ropescope_sought)3, .preset = "llama-2-7b"}, "sought", "is none"},
      {{.criterion = (ropescope_criterion)4, .preset = "llama-2-7b"}, "criterion", "is none"},
      {{.length = 8192, .preset = "llama-2-7b", .text = "{}"}, "preset", "one of them names the model"},
      {{.length = 8192, .preset = "llama-2-7b", .head_dim = 128}, "head_dim", "one of them gives the dims"},
      {{.length = 8192, .head_dim = 128, .layers = "0"}, "layers", "needs a model"},
      {{.sought = ROPESCOPE_SOLVE_LENGTH, .base = 1e4, .preset = "llama-2-7b", .method = "pi"},
       "base",
       "is plain RoPE"},
      {{.length = -1, .preset = "llama-2-7b"}, "length", "must not be negative"},
      {{.length = NAN, .preset = "llama-2-7b"}, "length", "must not be negative"},
      {{.length = 8192, .base = NAN, .preset = "llama-2-7b"}, "base", "must not be negative"},
      {{.length = 8192, .base = -2, .preset = "llama-2-7b"}, "base", "must not be negative"},
      {{.length = 8192}, "head_dim", "the question needs it"},
      {{.length = 8192, .criterion = ROPESCOPE_OUT_OF_RANGE, .head_dim = 128}, "preset", "needs a model (or file"},
      {{.length = 8192, .base = 1e4, .preset = "llama-2-7b"}, "base", "of no use to this question"},
      {{.length = 8192, .sought = ROPESCOPE_SOLVE_FACTOR, .preset = "llama-2-7b"}, "method", "the question needs it"},
      {{.sought = ROPESCOPE_SOLVE_LENGTH, .head_dim = 128, .method = "rope"}, "method", "needs a model"},
      {{.sought = ROPESCOPE_SOLVE_LENGTH, .head_dim = 128}, "base", "head_dim alone has no frequencies"},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    ropescope_question question = cases[i].question;
    ropescope_solution *solution = NULL;
    question.size = sizeof question;
    FAILS(ropescope_solve(&question, &solution, &error), ROPESCOPE_INPUT);
    cr_expect_null(solution);
    is_told(error, cases[i].subject, cases[i].words);
  }
}

Test(api_questions, contests_that_are_none) {
  static const struct {
    ropescope_contest contest;
    const char *subject, *words;
  } cases[] = {{{.b = "pi"}, "a", "is missing"},
               {{.a = "pi"}, "b", "is missing"},
               {{.a = "rope", .b = "rope", .preset = "llama-2-7b", .file = "x.json"}, "preset", "one of them"},
               {{.a = "rope", .b = "rope", .preset = "llama-2-7b", .text = "{}"}, "preset", "one of them"},
               {{.a = "rope", .b = "rope", .preset = "llama-2-7b", .tolerance = -1e-9}, "tolerance", "below 1"},
               {{.a = "rope", .b = "rope", .preset = "llama-2-7b", .tolerance = 1}, "tolerance", "below 1"},
               {{.a = "rope", .b = "rope", .preset = "llama-2-7b", .tolerance = NAN}, "tolerance", "below 1"}};
  for (size_t i = 0; i < COUNT(cases); i++) {
    ropescope_contest contest = cases[i].contest;
    ropescope_comparison *comparison = NULL;
    contest.size = sizeof contest;
    FAILS(ropescope_compare(&contest, &comparison, &error), ROPESCOPE_INPUT);
    cr_expect_null(comparison);
    is_told(error, cases[i].subject, cases[i].words);
  }
}

/* The tolerance says which difference is one; there are two sides. */
Test(api_questions, sides_and_tolerance) {
  ropescope_contest contest = {
      .size = sizeof contest, .a = "rope", .b = "{name: rope, rope_theta: 10001}", .preset = "llama-2-7b"};
  static const double tolerances[] = {0, 1e-3};
  for (size_t i = 0; i < 2; i++) {
    ropescope_comparison *comparison = NULL;
    double omega[64];
    contest.tolerance = tolerances[i];
    GOOD(ropescope_compare(&contest, &comparison, &error));
    cr_expect_eq(ropescope_comparison_differs(comparison), i == 0 ? ROPESCOPE_DIFFERS_FREQUENCY : 0);
    cr_expect_eq(ropescope_comparison_pairs(comparison) > 0, i == 0);
    cr_expect_eq(ropescope_comparison_inv_freq(comparison, 2, omega, 64), 0);
    cr_expect_eq(ropescope_comparison_inv_freq(comparison, -1, omega, 64), 0);
    cr_expect_eq(ropescope_comparison_inv_freq(comparison, 1, omega, 64), 64);
    cr_expect_float_eq(omega[1], pow(10001, -1.0 / 64), 1e-12);
    cr_expect_null(ropescope_comparison_cause(comparison, 1000));
    ropescope_comparison_free(comparison);
  }
}

/* Recipes are sides as they are: with their model, layers and length; a method in words stands on a recipe's model. */
Test(api_questions, sides_that_are_recipes) {
  ropescope_recipe *yarn = make_recipe("llama-2-7b", NULL, "{name: yarn, factor: 8}", 32768);
  ropescope_recipe *other = make_recipe("pythia-6.9b", NULL, NULL, 0);
  const ropescope_contest texts = {
      .size = sizeof texts, .a = "{name: yarn, factor: 8}", .b = "rope", .preset = "llama-2-7b", .length = 32768};
  const ropescope_contest one = {.size = sizeof one, .b = "rope"}, none = {.size = sizeof none};
  ropescope_comparison *got[4] = {NULL};
  GOOD(ropescope_compare(&texts, &got[0], &error));
  GOOD(ropescope_compare_recipes(&one, yarn, NULL, &got[1], &error));
  GOOD(ropescope_compare_recipes(&none, yarn, yarn, &got[2], &error));
  GOOD(ropescope_compare_recipes(&none, yarn, other, &got[3], &error));
  cr_expect_str_eq(ropescope_comparison_cause(got[0], 0)->text, ropescope_comparison_cause(got[1], 0)->text);
  cr_expect_float_eq(ropescope_comparison_largest(got[0]), ropescope_comparison_largest(got[1]), 0);
  cr_expect_eq(ropescope_comparison_differs(got[2]), 0);
  cr_expect(ropescope_comparison_differs(got[3]) & ROPESCOPE_DIFFERS_FREQUENCY);
  cr_expect_eq(ropescope_comparison_inv_freq(got[3], 0, NULL, 0), 64);
  cr_expect_eq(ropescope_comparison_inv_freq(got[3], 1, NULL, 0), 16, "R = D / 4");
  for (size_t i = 0; i < 4; i++) ropescope_comparison_free(got[i]);
  ropescope_recipe_free(other);
  ropescope_recipe_free(yarn);
}

Test(api_questions, recipes_that_are_no_sides) {
  static const struct {
    ropescope_recipe_source source;
    ropescope_contest contest;
    ropescope_status status;
    const char *words;
  } cases[] = {
      {{.preset = "llama-2-7b"}, {.a = "rope", .b = "rope"}, ROPESCOPE_INPUT, "stands beside a recipe"},
      {{.preset = "llama-2-7b", .precision = "{positions: bf16}"}, {.b = "rope"}, ROPESCOPE_UNSUPPORTED, "a precision"},
      {{.preset = "qwen2-vl", .tokens = "[{image: [2, 2]}]"}, {.b = "rope"}, ROPESCOPE_UNSUPPORTED, "layout of tokens"},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    ropescope_recipe_source source = cases[i].source;
    ropescope_contest contest = cases[i].contest;
    ropescope_recipe *recipe = NULL;
    ropescope_comparison *comparison = NULL;
    source.size = sizeof source;
    contest.size = sizeof contest;
    GOOD(ropescope_recipe_create(NULL, &source, &recipe, &error));
    FAILS(ropescope_compare_recipes(&contest, recipe, NULL, &comparison, &error), cases[i].status);
    cr_expect_null(comparison);
    is_told(error, "a", cases[i].words);
    ropescope_recipe_free(recipe);
  }
}

/* A method stands in the place of what the model publishes. */
Test(api_questions, conversions_of_a_method) {
  const ropescope_recipe_source source = {
      .size = sizeof source, .preset = "llama-2-7b", .method = "{name: yarn, factor: 8}"};
  const ropescope_recipe_source wrong = {
      .size = sizeof wrong, .preset = "llama-2-7b", .method = "{name: yarn, factr: 8}"};
  ropescope_conversion *conversion = NULL;
  GOOD(ropescope_convert(&source, "hf5", 32768, &conversion, &error));
  cr_expect_not_null(strstr(ropescope_conversion_fragment(conversion), "\"rope_type\": \"yarn\""), "%s",
                     ropescope_conversion_fragment(conversion));
  ropescope_conversion_free(conversion);
  FAILS(ropescope_convert(&wrong, "hf5", 32768, &conversion, &error), ROPESCOPE_INPUT);
  cr_expect_null(conversion);
  cr_expect_str_eq(ropescope_error_problem(error, 0)->hint, "did you mean factor?");
  ropescope_error_free(error);
}

/* Who takes arguments gets no fragment, and who takes a fragment no arguments. */
Test(api_questions, arguments_and_fragments) {
  static const char *const consumers[] = {"megatron", "hf5"};
  const ropescope_recipe_source source = {.size = sizeof source, .preset = "llama-2-7b"};
  for (size_t i = 0; i < 2; i++) {
    ropescope_conversion *conversion = NULL;
    GOOD(ropescope_convert(&source, consumers[i], 0, &conversion, &error));
    cr_expect_eq(*ropescope_conversion_fragment(conversion) == '\0', i == 0);
    cr_expect_eq(ropescope_conversion_argument(conversion, 0) != NULL, i == 0);
    if (i == 0) cr_expect_str_eq(ropescope_conversion_argument(conversion, 1), "rope");
    cr_expect_null(ropescope_conversion_argument(conversion, 1000));
    cr_expect_null(ropescope_conversion_note(conversion, 1000));
    ropescope_conversion_free(conversion);
  }
  ropescope_conversion *conversion = NULL;
  FAILS(ropescope_convert(&source, NULL, 0, &conversion, &error), ROPESCOPE_INPUT);
  is_told(error, "to", "is missing");
}
