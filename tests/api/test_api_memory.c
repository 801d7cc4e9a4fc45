/* test_api_memory.c: each allocation of the calls of a program fails in turn: a status and an error say so, nothing is
 * leaked, and no other answer is given. GSL's handler is the one that it comes with, which ends the program. */
#include "api.h"

#include "../fixtures/heap_ways.h"
#include "../fixtures/new_folder.h"
#include "../fixtures/threads.h"

#include <sys/stat.h>
#include <unistd.h>

static char said[1 << 16];
static size_t used;
static ropescope_status ended;
static char why[256];

static void say(const char *text) {
  used += (size_t)snprintf(said + used, sizeof said - used, "%s\n", text);
}

static void say_number(double number) {
  used += (size_t)snprintf(said + used, sizeof said - used, "%.9g\n", number);
}

/* Whether the call went well; notes how it did not. */
static bool good(ropescope_status status, ropescope_error **error) {
  if (status == ROPESCOPE_OK) return true;
  if (ended != ROPESCOPE_MEMORY) ended = status;
  if (ropescope_error_status(*error) != status) ended = ROPESCOPE_INTERNAL;
  snprintf(why, sizeof why, "%s", ropescope_error_message(*error));
  if (status != ROPESCOPE_MEMORY) say(why);
  ropescope_error_free(*error);
  *error = NULL;
  return false;
}

/* ---- what programs call ------------------------------------------------------------------------------------------ */

static const char llama[] = "{\"model_type\": \"llama\", \"num_attention_heads\": 4, \"hidden_size\": 64,\n"
                            " \"rope_theta\": 10000.0, \"max_position_embeddings\": 2048,\n"
                            " \"rope_scaling\": {\"rope_type\": \"yarn\", \"factor\": 4.0}}";

static ropescope_recipe *find_recipe(const char *text, const char *method, ropescope_error **error) {
  const ropescope_recipe_source source = {
      .size = sizeof source, .file = "a.json", .text = text, .method = method, .length = 64};
  ropescope_recipe *recipe = NULL;
  return good(ropescope_recipe_create(NULL, &source, &recipe, error), error) ? recipe : NULL;
}

static void say_tables(const ropescope_recipe *recipe, ropescope_error **error) {
  double numbers[256];
  ropescope_tables *tables = NULL;
  if (!good(ropescope_tables_create(recipe, 64, &tables, error), error)) return;
  size_t pairs = ropescope_tables_inv_freq(tables, numbers, 256);
  for (size_t j = 0; j < pairs; j++) say_number(numbers[j]);
  if (good(ropescope_tables_bias(tables, 1, 3, 0, 4, numbers, error), error)) say_number(numbers[0]);
  if (good(ropescope_tables_cos_sin(tables, ROPESCOPE_KEY, 0, 0, 2, 4, numbers, NULL, error), error) && pairs > 0)
    say_number(numbers[0]);
  if (ropescope_tables_width(tables) <= 64 && good(ropescope_tables_embedding(tables, 1, 1, numbers, error), error))
    say_number(numbers[0]);
  ropescope_tables_free(tables);
}

static void read_recipes(void) {
  static const char *const methods[] = {NULL, "alibi", "sinusoidal", "{name: yarn, factor: 2}"};
  ropescope_error *error = NULL;
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    ropescope_recipe *recipe = find_recipe(llama, methods[i], &error);
    if (recipe == NULL) return;
    say(ropescope_recipe_text(recipe));
    say(ropescope_recipe_model(recipe));
    for (size_t p = 0; ropescope_recipe_parameter(recipe, p) != NULL; p++)
      say(ropescope_recipe_parameter(recipe, p)->value);
    for (size_t l = 0; ropescope_recipe_layer_kind(recipe, l) != NULL; l++)
      say(ropescope_recipe_layer_kind(recipe, l)->layers);
    say_tables(recipe, &error);
    ropescope_recipe_free(recipe);
  }
}

static void read_mistakes(void) {
  ropescope_error *error = NULL;
  ropescope_recipe_free(find_recipe("{\"model_type\": \"llama\", \"hidden_size\": \"x\"}", NULL, &error));
  ropescope_recipe_free(find_recipe(llama, "yarm", &error));
}

static ropescope_status halve(void *user, const ropescope_method_call *call, double *inv_freq, double *attention_factor,
                              double *logit_factor, char *message, size_t capacity) {
  (void)user, (void)attention_factor, (void)logit_factor, (void)message, (void)capacity;
  for (size_t j = 0; j < call->rotary_dim / 2; j++) inv_freq[j] = call->parameters[0] / (double)(j + 1);
  return ROPESCOPE_OK;
}

static void add_methods(void) {
  static const ropescope_parameter_spec by = {"by", "1", 0, 1, 0.5, "what the first pair turns by"};
  const ropescope_method_spec spec = {.size = sizeof spec,
                                      .name = "own",
                                      .summary = "of the test",
                                      .parameters = &by,
                                      .parameter_count = 1,
                                      .frequencies = halve};
  const ropescope_recipe_source source = {
      .size = sizeof source, .preset = "llama-2-7b", .method = "{name: own, by: 1}"};
  ropescope_error *error = NULL;
  ropescope_library *library = NULL;
  ropescope_recipe *recipe = NULL;
  if (good(ropescope_library_create(&library, &error), &error) &&
      good(ropescope_library_add_method(library, &spec, &error), &error) &&
      good(ropescope_recipe_create(library, &source, &recipe, &error), &error))
    say_tables(recipe, &error);
  ropescope_recipe_free(recipe);
  ropescope_library_free(library);
}

static void observe(void) {
  static float q[4 * 16 * 16];
  for (size_t i = 0; i < sizeof q / sizeof *q; i++) q[i] = (float)(i * 7919 % 33) / 16 - 1;
  ropescope_error *error = NULL;
  ropescope_recipe *recipe = find_recipe(llama, "alibi", &error);
  if (recipe == NULL) return;
  const ropescope_rows rows = {q, ROPESCOPE_F32, 256, 16, 1};
  static const size_t targets[] = {0, 1, ROPESCOPE_NO_TARGET, 3}, queries[] = {2, 5, 7, 11};
  const ropescope_attention attention = {
      .size = sizeof attention,
      .recipe = recipe,
      .q = rows,
      .k = rows,
      .length = 16,
      .head_dim = 16,
      .heads = 4,
      .queries = queries,
      .query_count = 4,
      .targets = targets,
      .by_distance = 1,
      .metrics = "[entropy, distance_mass, needle, position_pca, {name: top_mass}, attention_map]",
      .threads = 1};
  ropescope_statistics *seen = NULL;
  double numbers[256];
  if (good(ropescope_statistics_create(&attention, &seen, &error), &error)) {
    size_t count = ropescope_statistics_values(seen, 3, ROPESCOPE_ENTROPY, numbers, 256);
    for (size_t i = 0; i < count; i++) say_number(numbers[i]);
    count = ropescope_statistics_mass(seen, 1, numbers, 256);
    for (size_t i = 0; i < count; i++) say_number(numbers[i]);
    const ropescope_frame *summary = ropescope_statistics_summary(seen);
    for (size_t c = 0; c < ropescope_frame_columns(summary); c++) say(ropescope_frame_text(summary, 0, c));
    for (size_t i = 0; ropescope_statistics_curve(seen, i) != NULL; i++) say(ropescope_statistics_curve_name(seen, i));
  }
  ropescope_statistics_free(seen);
  ropescope_recipe_free(recipe);
}

static void open_arrays(void) {
  ropescope_array *array = NULL;
  ropescope_error *error = NULL;
  if (good(ropescope_array_open("rows.npy", NULL, &array, &error), &error))
    say_number((double)ropescope_array_extent(array, 0));
  ropescope_array_free(array);
}

static void check_config(void) {
  ropescope_findings *findings = NULL;
  ropescope_error *error = NULL;
  if (good(ropescope_check(llama, strlen(llama), "a.json", "vllm", &findings, &error), &error))
    for (size_t i = 0; ropescope_findings_at(findings, i) != NULL; i++) {
      say(ropescope_findings_at(findings, i)->code);
      say(ropescope_findings_at(findings, i)->text);
      say(ropescope_findings_at(findings, i)->fix);
    }
  ropescope_findings_free(findings);
}

static void solve(void) {
  const ropescope_question questions[] = {{.size = sizeof *questions,
                                           .sought = ROPESCOPE_SOLVE_BASE,
                                           .criterion = ROPESCOPE_OUT_OF_RANGE,
                                           .length = 4096,
                                           .text = llama},
                                          {.size = sizeof *questions,
                                           .sought = ROPESCOPE_SOLVE_FACTOR,
                                           .criterion = ROPESCOPE_OUT_OF_RANGE,
                                           .length = 4096,
                                           .text = llama,
                                           .method = "pi"},
                                          {.size = sizeof *questions,
                                           .sought = ROPESCOPE_SOLVE_LENGTH,
                                           .criterion = ROPESCOPE_FIRST_VIOLATION,
                                           .base = 100,
                                           .head_dim = 8}};
  ropescope_error *error = NULL;
  for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
    ropescope_solution *solution = NULL;
    if (good(ropescope_solve(&questions[i], &solution, &error), &error)) {
      say(ropescope_solution_number(solution));
      for (size_t r = 0; ropescope_solution_remark(solution, r) != NULL; r++)
        say(ropescope_solution_remark(solution, r)->text);
    }
    ropescope_solution_free(solution);
  }
}

static void compare(void) {
  const ropescope_contest contest = {.size = sizeof contest,
                                     .a = "{name: yarn, factor: 4}",
                                     .b = "{name: yarn, factor: 4, truncate: false}",
                                     .file = "a.json",
                                     .text = llama,
                                     .length = 512};
  ropescope_comparison *comparison = NULL;
  ropescope_error *error = NULL;
  if (good(ropescope_compare(&contest, &comparison, &error), &error))
    for (size_t i = 0; ropescope_comparison_cause(comparison, i) != NULL; i++)
      say(ropescope_comparison_cause(comparison, i)->text);
  ropescope_comparison_free(comparison);
}

static void compare_recipes(void) {
  const ropescope_recipe_source source = {.size = sizeof source, .text = llama, .method = "{name: yarn, factor: 4}"};
  const ropescope_contest contest = {.size = sizeof contest, .b = "{name: yarn, factor: 4, truncate: false}"};
  ropescope_recipe *recipe = NULL;
  ropescope_comparison *comparison = NULL;
  ropescope_error *error = NULL;
  if (good(ropescope_recipe_create(NULL, &source, &recipe, &error), &error) &&
      good(ropescope_compare_recipes(&contest, recipe, NULL, &comparison, &error), &error))
    for (size_t i = 0; ropescope_comparison_cause(comparison, i) != NULL; i++)
      say(ropescope_comparison_cause(comparison, i)->text);
  ropescope_comparison_free(comparison);
  ropescope_recipe_free(recipe);
}

static void convert(void) {
  const ropescope_recipe_source source = {
      .size = sizeof source, .file = "a.json", .text = llama, .method = "{name: yarn, factor: 4}"};
  static const char *const consumers[] = {"hf5", "llama.cpp", "nobody"};
  ropescope_error *error = NULL;
  for (size_t c = 0; c < sizeof consumers / sizeof *consumers; c++) {
    ropescope_conversion *conversion = NULL;
    if (good(ropescope_convert(&source, consumers[c], 4096, &conversion, &error), &error)) {
      say(ropescope_conversion_fragment(conversion));
      for (size_t i = 0; ropescope_conversion_argument(conversion, i) != NULL; i++)
        say(ropescope_conversion_argument(conversion, i));
      for (size_t i = 0; ropescope_conversion_note(conversion, i) != NULL; i++)
        say(ropescope_conversion_note(conversion, i));
    }
    ropescope_conversion_free(conversion);
  }
}

static void sweep(void) {
  static const char config[] = "model: {head_dim: 8, heads: 2, train_length: 16}\nmethods: [rope, alibi, sinusoidal]\n"
                               "lengths: [16]\nsources: [gaussian]\nmetrics: [entropy, decay, position_pca, "
                               "calibration]\nqueries: {last: 2}\n";
  const ropescope_run_options options = {.size = sizeof options, .threads = 1};
  ropescope_results *results = NULL;
  ropescope_pictures *pictures = NULL;
  ropescope_error *error = NULL;
  if (good(ropescope_run(NULL, config, NULL, &options, &results, &error), &error)) {
    say(ropescope_results_file(results, "summary.csv", NULL));
    if (good(ropescope_plot(results, &pictures, &error), &error))
      for (size_t i = 0; ropescope_pictures_name(pictures, i) != NULL; i++) say(ropescope_pictures_name(pictures, i));
  }
  ropescope_pictures_free(pictures);
  ropescope_results_free(results);
}

/* ---- each allocation --------------------------------------------------------------------------------------------- */

static void call(void (*use)(void)) {
  used = 0;
  said[0] = why[0] = '\0';
  ended = ROPESCOPE_OK;
  use();
}

/* Whether the next call, in which allocation `n` fails, met it, and said so. `cells`: what does not fit is a row of the
 * results that says so. */
static bool starves(const char *name, void (*use)(void), long n, bool cells, ropescope_status usual, const char *whole,
                    bool *same) {
  long before = blocks;
  refused = false;
  allocations = n;
  call(use);
  allocations = -1;
  long leaked = blocks - before; /* before Criterion allocates for its message */
  cr_assert_eq(leaked, 0, "%s, allocation %ld: %ld blocks leaked", name, n, leaked);
  *same = ended == usual && strcmp(said, whole) == 0;
  bool told = ended == ROPESCOPE_MEMORY || (cells && strstr(said, "out of memory") != NULL) ||
              (ended == ROPESCOPE_IO && strstr(why, "Cannot allocate memory") != NULL);
  cr_assert(*same || (refused && told), "%s, allocation %ld: status %d, %s\n%s", name, n, (int)ended, why, said);
  return refused;
}

/* Of the allocations that stand for all (heap_ways.h) every `stride`-th, and one beyond the last; with
 * ROPESCOPE_ALLOCATIONS=ways each of them, with =all each of all. A sweep, which times itself, has not always as many.
 */
static void survives(const char *name, void (*use)(void), long stride, bool cells) {
  static char whole[sizeof said];
  call(use); /* what libraries keep for ever they have now */
  call(use);
  cr_assert_gt(used, 1, "%s: %s", name, why);
  strcpy(whole, said);
  const ropescope_status usual = ended;
  ways_begin();
  call(use);
  ways_end();
  if (getenv("ROPESCOPE_ALLOCATIONS") != NULL) stride = 1;
  long stand = 0, tried = 0, unnoticed = 0, n;
  bool same, met = true;
  for (n = 0; n < way_count && met; n++) {
    if (!way_is_tried(n) || stand++ % stride != 0) continue;
    met = starves(name, use, n, cells, usual, whole, &same);
    tried++;
    unnoticed += met && same;
  }
  cr_assert(met || (cells && n > way_count / 20 * 19), "%s, allocation %ld of %ld is not met", name, n - 1, way_count);
  call(use); /* which allocates for what the last of them has left */
  cr_assert_not(starves(name, use, 2 * way_count, cells, usual, whole, &same), "%s: twice %ld allocations", name,
                way_count);
  printf("%s: %ld of %ld allocations, %ld of no consequence\n", name, tried, way_count, unnoticed);
}

static char folder[FOLDER_NAME];

static void enter(void) {
  static const char header[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 16), }";
  float rows[3][16] = {{1}};
  cr_assert(new_folder(folder, "api") && chdir(folder) == 0);
  setenv("TMPDIR", folder, 1);
  FILE *file = fopen("rows.npy", "w");
  fprintf(file, "\223NUMPY%c%c%c%c%-117s\n", 1, 0, 118, 0, header);
  fwrite(rows, sizeof rows, 1, file);
  fclose(file);
  use_threads(1);
}

static void leave(void) {
  char line[128];
  snprintf(line, sizeof line, "rm -rf -- '%s'", folder);
  cr_assert_eq(system(line), 0);
}

TestSuite(api_memory, .init = enter, .fini = leave);

Test(api_memory, each_failing_allocation_is_told) {
  if (!COUNTS_MEMORY) cr_skip_test("malloc belongs to the sanitizer");
  spared_library = "libjansson."; /* it calls some failed allocations a syntax error */
  survives("recipes", read_recipes, 1, false);
  survives("mistakes", read_mistakes, 1, false);
  survives("methods", add_methods, 1, false);
  survives("statistics", observe, 1, false);
  survives("arrays", open_arrays, 1, false);
  survives("check", check_config, 1, false);
  survives("compare", compare, 1, false);
  survives("compare recipes", compare_recipes, 1, false);
  survives("convert", convert, 1, false);
}

Test(api_memory, so_it_is_in_searches) {
  if (!COUNTS_MEMORY) cr_skip_test("malloc belongs to the sanitizer");
  spared_library = "libjansson.";
  survives("solve", solve, 2, false);
}

Test(api_memory, so_it_is_in_sweeps) {
  if (!COUNTS_MEMORY) cr_skip_test("malloc belongs to the sanitizer");
  spared_library = "libjansson.";
  survives("sweep", sweep, 16, true);
}
