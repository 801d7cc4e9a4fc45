/* beside.c: calls of libropescope on several threads at once, for check.sh: sweeps, one of them within the callback of
 * another, statistics of one recipe that all share, and answers. */
#include <ropescope.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIDES = 3 };

static const char config[] = "model: {head_dim: 16, heads: 2, train_length: 64}\n"
                             "methods: [rope, own, alibi, sinusoidal]\n"
                             "lengths: [32, 64]\n"
                             "sources: [gaussian]\n"
                             "seeds: 3\n"
                             "metrics: [entropy, decay, position_pca, calibration]\n";

static const ropescope_library *library;
static const ropescope_recipe *recipe;

static void must(ropescope_status status, ropescope_error *error) {
  if (status == ROPESCOPE_OK) return;
  fprintf(stderr, "%s\n", ropescope_error_message(error));
  exit(1);
}

static ropescope_status halve(void *user, const ropescope_method_call *call, double *inv_freq, double *attention_factor,
                              double *logit_factor, char *message, size_t capacity) {
  (void)user, (void)attention_factor, (void)logit_factor, (void)message, (void)capacity;
  for (size_t j = 0; j < call->rotary_dim / 2; j++) inv_freq[j] = 1 / (double)(1 << j);
  return ROPESCOPE_OK;
}

static void sweep(void (*progress)(void *, size_t, size_t, double), void *context) {
  const ropescope_run_options options = {.size = sizeof options, .progress = progress, .context = context};
  ropescope_results *results = NULL;
  ropescope_error *error = NULL;
  must(ropescope_run(library, config, NULL, &options, &results, &error), error);
  ropescope_results_free(results);
}

/* The first time it is told. */
static void sweep_within(void *context, size_t done, size_t cells, double share) {
  int *told = context;
  (void)done, (void)cells, (void)share;
  if ((*told)++ == 0) sweep(NULL, NULL);
}

static void observe(void) {
  static const float q[8 * 16] = {1, -1, 2};
  const ropescope_rows rows = {q, ROPESCOPE_F32, 0, 16, 1};
  const ropescope_attention attention = {.size = sizeof attention,
                                         .recipe = recipe,
                                         .q = rows,
                                         .k = rows,
                                         .length = 8,
                                         .head_dim = 16,
                                         .heads = 2,
                                         .metrics = "[entropy]"};
  ropescope_statistics *seen = NULL;
  ropescope_error *error = NULL;
  must(ropescope_statistics_create(&attention, &seen, &error), error);
  ropescope_statistics_free(seen);
}

static void solve(void) {
  const ropescope_question question = {.size = sizeof question,
                                       .sought = ROPESCOPE_SOLVE_BASE,
                                       .criterion = ROPESCOPE_OUT_OF_RANGE,
                                       .length = 16384,
                                       .preset = "llama-2-7b"};
  ropescope_solution *solution = NULL;
  ropescope_error *error = NULL;
  must(ropescope_solve(&question, &solution, &error), error);
  ropescope_solution_free(solution);
}

static void *run_side(void *context) {
  int told = 0;
  (void)context;
  sweep(sweep_within, &told);
  observe();
  solve();
  return NULL;
}

int main(void) {
  const ropescope_method_spec own = {.size = sizeof own, .name = "own", .summary = "halves", .frequencies = halve};
  const ropescope_recipe_source source = {
      .size = sizeof source,
      .text = "{\"model_type\": \"llama\", \"num_attention_heads\": 2, \"hidden_size\": 32, \"rope_theta\": 10000.0}",
      .length = 64};
  ropescope_library *made = NULL;
  ropescope_recipe *shared = NULL;
  ropescope_error *error = NULL;
  pthread_t threads[SIDES];
  must(ropescope_library_create(&made, &error), error);
  must(ropescope_library_add_method(made, &own, &error), error);
  must(ropescope_recipe_create(NULL, &source, &shared, &error), error);
  library = made;
  recipe = shared;
  for (size_t i = 0; i < SIDES; i++)
    if (pthread_create(&threads[i], NULL, run_side, NULL) != 0) return 1;
  for (size_t i = 0; i < SIDES; i++) pthread_join(threads[i], NULL);
  ropescope_recipe_free(shared);
  ropescope_library_free(made);
  puts("done");
  return 0;
}
