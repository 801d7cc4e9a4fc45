/* test_api_runs.c: errors, sweeps, methods of one's own, and the rest. */
#include "api.h"

#include <dirent.h>
#include <math.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../fixtures/new_folder.h"

static const char small[] = "name: small\n"
                            "model: {head_dim: 32, heads: 2, train_length: 256}\n"
                            "methods: [rope, {name: pi, factor: 2}]\n"
                            "lengths: [128, 256]\n"
                            "sources: [gaussian]\n"
                            "metrics: [entropy, frequencies]\n"
                            "queries: {last: 4}\n";

static char scratch[FOLDER_NAME];

static void enter(void) {
  cr_assert(new_folder(scratch, "api"));
  setenv("TMPDIR", scratch, 1);
}

static void leave(void) {
  char line[128];
  snprintf(line, sizeof line, "rm -rf -- '%s'", scratch);
  cr_assert_eq(system(line), 0);
}

static size_t count_entries(const char *path) {
  size_t count = 0;
  DIR *folder = opendir(path);
  while (readdir(folder) != NULL) count++;
  closedir(folder);
  return count - 2;
}

/* ---- errors ------------------------------------------------------------------------------------------------------ */

Test(api_errors, problems_have_their_places) {
  const ropescope_recipe_source source = {.size = sizeof source,
                                          .file = "my.json",
                                          .text = "{\"model_type\": \"llama\", \"num_attention_heads\": 4,\n"
                                                  " \"hidden_size\": 64, \"rope_theta\": \"x\"}"};
  ropescope_recipe *recipe = NULL;
  FAILS(ropescope_recipe_create(NULL, &source, &recipe, &error), ROPESCOPE_INPUT);
  const ropescope_problem *problem = ropescope_error_problem(error, 0);
  cr_assert_not_null(problem, "%s", ropescope_error_message(error));
  cr_assert_str_eq(problem->file, "my.json");
  cr_assert_eq(problem->line, 2);
  cr_assert_gt(problem->column, 10);
  cr_assert_str_eq(problem->key, "rope_theta");
  cr_assert_null(recipe);
  ropescope_error_free(error);
  cr_assert_eq(ropescope_recipe_create(NULL, &source, &recipe, NULL), ROPESCOPE_INPUT);
}

Test(api_errors, every_problem_of_a_config_is_told) {
  ropescope_results *results = NULL;
  FAILS(ropescope_run(NULL, "model: llama-2-7b\nmethods: [yarm]\nlengths: [0]\nmetrics: [entropy]\n", "two.yaml", NULL,
                      &results, &error),
        ROPESCOPE_INPUT);
  const ropescope_problem *last = NULL;
  bool method = false;
  for (size_t i = 0; ropescope_error_problem(error, i) != NULL; i++) {
    last = ropescope_error_problem(error, i);
    cr_assert_str_eq(last->file, "two.yaml");
    if (last->line == 2) method = strcmp(last->key, "methods[0]") == 0 && strstr(last->hint, "yarn") != NULL;
  }
  cr_assert(method, "%s", ropescope_error_message(error));
  cr_assert_null(results);
  ropescope_error_free(error);
}

Test(api_errors, files_and_words_that_are_wrong) {
  ropescope_recipe *recipe = NULL;
  ropescope_recipe_source source = {.size = sizeof source, .file = "/none/config.json"};
  FAILS(ropescope_recipe_create(NULL, &source, &recipe, &error), ROPESCOPE_IO);
  cr_assert_not_null(strstr(ropescope_error_message(error), "/none/config.json"));
  ropescope_error_free(error);
  source.preset = "llama-2-7b";
  cr_assert_eq(ropescope_recipe_create(NULL, &source, &recipe, NULL), ROPESCOPE_INPUT);
  source.preset = source.file = NULL;
  cr_assert_eq(ropescope_recipe_create(NULL, &source, &recipe, NULL), ROPESCOPE_INPUT);
  cr_assert_eq(ropescope_recipe_create(NULL, NULL, &recipe, NULL), ROPESCOPE_INPUT);
  ropescope_error_free(NULL);
  cr_assert_str_eq(ropescope_error_message(NULL), "");
  cr_assert_str_eq(ropescope_status_name(ROPESCOPE_BUSY), "busy");
  cr_assert_str_eq(ropescope_status_name((ropescope_status)99), "unknown");
}

/* ---- sweeps ------------------------------------------------------------------------------------------------------ */

Test(api_runs, memory_holds_what_the_program_writes, .init = enter, .fini = leave) {
  char path[128], line[512];
  ropescope_results *results = NULL, *written = NULL;
  GOOD(ropescope_run(NULL, small, NULL, NULL, &results, &error));
  cr_assert_eq(count_entries(scratch), 0, "nothing is left");
  snprintf(path, sizeof path, "%s/small.yaml", scratch);
  FILE *file = fopen(path, "w");
  fputs(small, file);
  fclose(file);
  snprintf(line, sizeof line, "run '%s' --out '%s/out' --quiet; echo done", path, scratch);
  free(program_says(line));
  snprintf(path, sizeof path, "%s/out", scratch);
  GOOD(ropescope_results_open(path, &written, &error));
  for (size_t i = 0; ropescope_results_name(written, i) != NULL; i++) {
    const char *name = ropescope_results_name(written, i);
    cr_assert_str_eq(ropescope_results_name(results, i), name);
    if (strcmp(name, "manifest.json") == 0 || strcmp(name, "timings.csv") == 0) continue;
    cr_assert_str_eq(ropescope_results_file(results, name, NULL), ropescope_results_file(written, name, NULL));
  }
  const ropescope_frame *summary = ropescope_results_frame(results, "summary.csv");
  size_t entropy = ropescope_frame_find(summary, "entropy_nats");
  cr_assert_eq(ropescope_frame_rows(summary), 4);
  cr_assert_str_eq(ropescope_frame_unit(summary, entropy), "nats");
  cr_assert(ropescope_frame_is_numeric(summary, entropy));
  cr_assert_not(ropescope_frame_is_numeric(summary, ropescope_frame_find(summary, "method")));
  cr_assert_eq(ropescope_frame_find(summary, "none"), SIZE_MAX);
  cr_assert(isnan(ropescope_frame_number(summary, 4, entropy)));
  ropescope_pictures *pictures = NULL;
  GOOD(ropescope_plot(results, &pictures, &error));
  cr_assert_eq(strncmp(ropescope_pictures_svg(pictures, 0), "<", 1), 0);
  ropescope_pictures_free(pictures);
  ropescope_results_free(results);
  ropescope_results_free(written);
}

static int stop_now(void *context) {
  return ++*(int *)context > 0;
}

Test(api_runs, a_folder_a_stop_and_another_config, .init = enter, .fini = leave) {
  char path[128];
  int asked = 0;
  ropescope_results *results = NULL;
  snprintf(path, sizeof path, "%s/out", scratch);
  ropescope_run_options options = {.size = sizeof options, .directory = path, .stop = stop_now, .context = &asked};
  cr_assert_eq(ropescope_run(NULL, small, NULL, &options, &results, NULL), ROPESCOPE_STOPPED);
  cr_assert_gt(asked, 0);
  options.stop = NULL;
  GOOD(ropescope_run(NULL, small, NULL, &options, &results, &error));
  ropescope_results_free(results);
  static const char *const edits[] = {"lengths=[64]"};
  options.edits = edits;
  options.edit_count = 1;
  FAILS(ropescope_run(NULL, small, NULL, &options, &results, &error), ROPESCOPE_INPUT);
  cr_assert_str_eq(ropescope_error_subject(error), "directory");
  ropescope_error_free(error);
}

/* GSL's own handler, which programs have unless they say otherwise, would end the program here. */
Test(api_runs, a_singular_fit_is_a_row, .init = enter, .fini = leave) {
  static const char config[] =
      "model: {head_dim: 64, heads: 1, train_length: 64, rope_theta: 1e300}\nmethods: [rope]\nlengths: [64]\n"
      "metrics: [{name: calibration, ridge: 0}]\n";
  ropescope_results *results = NULL;
  GOOD(ropescope_run(NULL, config, NULL, NULL, &results, &error));
  const ropescope_frame *summary = ropescope_results_frame(results, "summary.csv");
  cr_assert_str_eq(ropescope_frame_text(summary, 0, ropescope_frame_find(summary, "status")), "domain");
  ropescope_results_free(results);
}

/* ---- methods of one's own ---------------------------------------------------------------------------------------- */

/* Position Interpolation by hand, and ALiBi's bias for heads that are a power of two. */
static ropescope_status divided(void *user, const ropescope_method_call *call, double *inv_freq,
                                double *attention_factor, double *logit_factor, char *message, size_t capacity) {
  (void)attention_factor, (void)logit_factor;
  if (call->parameters[0] == 7) {
    snprintf(message, capacity, "seven is refused");
    return ROPESCOPE_DOMAIN;
  }
  for (size_t j = 0; j < call->rotary_dim / 2; j++)
    inv_freq[j] = pow(call->theta, -2.0 * (double)j / (double)call->rotary_dim) / call->parameters[0] * *(double *)user;
  return ROPESCOPE_OK;
}

static void sloped(void *user, const ropescope_method_call *call, size_t head, size_t query, size_t begin, size_t end,
                   double *bias) {
  (void)user;
  for (size_t n = begin; n < end; n++)
    bias[n - begin] = -exp2(-8.0 * (double)(head + 1) / (double)call->heads) * fabs((double)query - (double)n);
}

static int released;

static void release(void *user) {
  (void)user;
  released++;
}

static const ropescope_parameter_spec by = {"by", "1", 1, 100, 2, "what frequencies are divided by"};

/* Numbers of a column of the summary of a sweep with this method. */
static void run_with(const ropescope_library *library, const char *method, const char *length, double *entropy) {
  char config[512];
  ropescope_results *results = NULL;
  snprintf(config, sizeof config,
           "model: {head_dim: 32, heads: 2, train_length: 256}\nmethods: [%s]\nlengths: [%s]\nsources: [gaussian]\n"
           "metrics: [entropy]\nqueries: {last: 16}\n",
           method, length);
  GOOD(ropescope_run(library, config, NULL, NULL, &results, &error));
  const ropescope_frame *summary = ropescope_results_frame(results, "summary.csv");
  *entropy = ropescope_frame_number(summary, 0, ropescope_frame_find(summary, "entropy_nats"));
  cr_assert(isfinite(*entropy), "%s", ropescope_results_file(results, "summary.csv", NULL));
  ropescope_results_free(results);
}

static ropescope_library *make_library(double *user, int of_distance) {
  const ropescope_method_spec turning = {.size = sizeof turning,
                                         .name = "own_pi",
                                         .summary = "frequencies divided",
                                         .parameters = &by,
                                         .parameter_count = 1,
                                         .frequencies = divided,
                                         .user = user,
                                         .release = release},
                              biased = {.size = sizeof biased,
                                        .name = "own_alibi",
                                        .summary = "slopes",
                                        .bias = sloped,
                                        .bias_of_distance = of_distance};
  ropescope_library *library = NULL;
  GOOD(ropescope_library_create(&library, &error));
  GOOD(ropescope_library_add_method(library, &turning, &error));
  GOOD(ropescope_library_add_method(library, &biased, &error));
  cr_assert_eq(ropescope_library_add_method(library, &turning, NULL), ROPESCOPE_INPUT, "the name is taken");
  return library;
}

Test(api_methods, own_methods_give_what_the_built_in_ones_do, .init = enter, .fini = leave) {
  double one = 1, mine, theirs;
  for (int of_distance = 0; of_distance < 2; of_distance++) {
    ropescope_library *library = make_library(&one, of_distance);
    run_with(library, "{name: own_pi, by: 4}", "256", &mine);
    run_with(NULL, "{name: pi, factor: 4}", "256", &theirs);
    cr_assert_float_eq(mine, theirs, 1e-9);
    run_with(library, "own_alibi", "256", &mine);
    run_with(NULL, "alibi", "256", &theirs);
    cr_assert_float_eq(mine, theirs, 1e-6);
    ropescope_entry entry;
    size_t index = 0;
    while (ropescope_method_at(library, index, &entry)) index++;
    cr_assert_str_eq(entry.name, "own_alibi");
    cr_assert_not(ropescope_method_at(NULL, index - 1, &entry));
    ropescope_library_free(library);
    cr_assert_eq(released, of_distance + 1);
  }
}

Test(api_methods, what_a_callback_refuses_is_told, .init = enter, .fini = leave) {
  double one = 1;
  ropescope_library *library = make_library(&one, 1);
  const ropescope_recipe_source source = {
      .size = sizeof source, .preset = "llama-2-7b", .method = "{name: own_pi, by: 7}"};
  ropescope_recipe *recipe = NULL;
  ropescope_tables *tables = NULL;
  GOOD(ropescope_recipe_create(library, &source, &recipe, &error));
  FAILS(ropescope_tables_create(recipe, 0, &tables, &error), ROPESCOPE_DOMAIN);
  cr_assert_not_null(strstr(ropescope_error_message(error), "seven is refused"));
  ropescope_error_free(error);
  ropescope_recipe_free(recipe);
  cr_assert_eq(ropescope_recipe_create(NULL, &source, &recipe, NULL), ROPESCOPE_INPUT, "no other library has it");
  ropescope_library_free(library);
}

/* Two libraries whose methods share a name and not a number, on two threads. */
static void *run_alone(void *user) {
  double factor = *(double *)user, mine, theirs;
  char method[64];
  ropescope_library *library = make_library(user, 1);
  snprintf(method, sizeof method, "{name: pi, factor: %g}", 2 / factor);
  for (int i = 0; i < 5; i++) {
    run_with(library, "{name: own_pi, by: 2}", "128", &mine);
    run_with(NULL, method, "128", &theirs);
    if (fabs(mine - theirs) > 1e-9) return user;
  }
  ropescope_library_free(library);
  return NULL;
}

Test(api_methods, libraries_on_two_threads_do_not_meet, .init = enter, .fini = leave) {
  double factors[2] = {1, 0.25};
  pthread_t threads[2];
  for (size_t i = 0; i < 2; i++) cr_assert_eq(pthread_create(&threads[i], NULL, run_alone, &factors[i]), 0);
  for (size_t i = 0; i < 2; i++) {
    void *wrong;
    pthread_join(threads[i], &wrong);
    cr_assert_null(wrong);
  }
}

/* ---- check, solve, compare, convert ------------------------------------------------------------------------------ */

Test(api_answers, findings_have_lines) {
  static const char text[] = "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_attention_heads\": 4,\n"
                             "\"max_position_embeddings\": 4096, \"rope_theta\": 10000.0,\n"
                             "\"rope_scaling\": {\"rope_type\": \"yarn\"}}";
  ropescope_findings *findings = NULL;
  GOOD(ropescope_check(text, strlen(text), "x.json", NULL, &findings, &error));
  cr_assert_gt(ropescope_findings_count(findings, ROPESCOPE_WARNING), 0);
  const ropescope_finding *finding = ropescope_findings_at(findings, 0);
  cr_assert_eq(strncmp(finding->code, "RS", 2), 0);
  cr_assert_eq(finding->line, 3);
  cr_assert_gt(strlen(finding->text), 0);
  cr_assert_null(ropescope_findings_at(findings, ropescope_findings_count(findings, ROPESCOPE_NOTE)));
  ropescope_findings_free(findings);
  /* Some of all, of two engines as of the one that says something. */
  size_t all = 0, warnings = 0, errors = 0;
  GOOD(ropescope_check(text, strlen(text), "x.json", "vllm, sglang", &findings, &error));
  for (const ropescope_finding *f; (f = ropescope_findings_at(findings, all)) != NULL; all++) {
    warnings += f->severity >= ROPESCOPE_WARNING;
    errors += f->severity >= ROPESCOPE_ERROR;
  }
  cr_assert(all > 0 && ropescope_findings_count(findings, ROPESCOPE_NOTE) == all);
  cr_assert(ropescope_findings_count(findings, ROPESCOPE_WARNING) == warnings &&
            ropescope_findings_count(findings, ROPESCOPE_ERROR) == errors);
  ropescope_findings_free(findings);
  GOOD(ropescope_check(text, strlen(text), "x.json", " vllm,, sglang,", &findings, &error));
  cr_assert_eq(ropescope_findings_count(findings, ROPESCOPE_NOTE), all, "commas more than needed");
  ropescope_findings_free(findings);
  cr_assert_eq(ropescope_check("[", 1, NULL, NULL, &findings, NULL), ROPESCOPE_INPUT);
  cr_assert_eq(ropescope_check(text, strlen(text), NULL, "nobody", &findings, NULL), ROPESCOPE_INPUT);
}

Test(api_answers, solve_says_what_the_program_says) {
  static const char *const lines[] = {"solve base --model llama-2-7b --length 16k --criterion ood",
                                      "solve length --head-dim 128 --base 1e5 --criterion first_violation"};
  const ropescope_question questions[] = {{.size = sizeof *questions,
                                           .sought = ROPESCOPE_SOLVE_BASE,
                                           .criterion = ROPESCOPE_OUT_OF_RANGE,
                                           .length = 16384,
                                           .preset = "llama-2-7b"},
                                          {.size = sizeof *questions,
                                           .sought = ROPESCOPE_SOLVE_LENGTH,
                                           .criterion = ROPESCOPE_FIRST_VIOLATION,
                                           .base = 1e5,
                                           .head_dim = 128}};
  ropescope_solution *solution = NULL;
  for (size_t i = 0; i < 2; i++) {
    GOOD(ropescope_solve(&questions[i], &solution, &error));
    char *said = program_says(lines[i]);
    const char *number = ropescope_solution_number(solution);
    cr_assert_eq(strncmp(said, number, strlen(number)), 0, "%s, not %s", number, said);
    cr_assert_not_null(ropescope_solution_remark(solution, 0));
    free(said);
    ropescope_solution_free(solution);
  }
  const struct {
    ropescope_question question;
    const char *subject;
  } without[] = {{{.size = sizeof *questions, .preset = "llama-2-7b"}, "length"},
                 {{.size = sizeof *questions, .sought = ROPESCOPE_SOLVE_LENGTH, .head_dim = 128}, "base"}};
  for (size_t i = 0; i < 2; i++) {
    FAILS(ropescope_solve(&without[i].question, &solution, &error), ROPESCOPE_INPUT);
    cr_assert_str_eq(ropescope_error_subject(error), without[i].subject);
    ropescope_error_free(error);
  }
}

Test(api_answers, compare_names_the_cause) {
  const ropescope_contest contest = {.size = sizeof contest,
                                     .a = "{name: yarn, factor: 4}",
                                     .b = "{name: yarn, factor: 4, truncate: false}",
                                     .preset = "llama-2-7b"};
  ropescope_comparison *comparison = NULL;
  GOOD(ropescope_compare(&contest, &comparison, &error));
  cr_assert_eq(ropescope_comparison_differs(comparison), ROPESCOPE_DIFFERS_FREQUENCY);
  const ropescope_cause *cause = ropescope_comparison_cause(comparison, 0);
  cr_assert(cause != NULL && cause->whole && strstr(cause->text, "truncate") != NULL);
  double a[64], b[64];
  cr_assert_eq(ropescope_comparison_inv_freq(comparison, 0, a, 64), 64);
  ropescope_comparison_inv_freq(comparison, 1, b, 64);
  size_t worst = ropescope_comparison_worst(comparison);
  cr_assert_float_eq(fabs(b[worst] / a[worst] - 1), ropescope_comparison_largest(comparison), 1e-12);
  ropescope_comparison_free(comparison);
}

Test(api_answers, convert_writes_what_the_program_writes) {
  const ropescope_recipe_source source = {.size = sizeof source, .preset = "llama-3.1-8b"};
  ropescope_conversion *conversion = NULL;
  GOOD(ropescope_convert(&source, "hf5", 0, &conversion, &error));
  char *said = program_says("convert llama-3.1-8b --to hf5");
  cr_assert_str_eq(ropescope_conversion_fragment(conversion), said);
  free(said);
  ropescope_conversion_free(conversion);
  cr_assert_eq(ropescope_convert(&source, "nobody", 0, &conversion, NULL), ROPESCOPE_INPUT);
}
