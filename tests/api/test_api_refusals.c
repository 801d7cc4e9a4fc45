/* test_api_refusals.c: what programs can get wrong, each with the member that is at fault; and what lies past an end.
 */
#include "api.h"

#include <math.h>
#include <unistd.h>

enum { L = 6, D = 16, H = 2 };

static const char config[] = "{\"model_type\": \"llama\", \"num_attention_heads\": 2, \"hidden_size\": 32, "
                             "\"rope_theta\": 1000.0, \"max_position_embeddings\": 512}";

/* ---- methods of the caller's ------------------------------------------------------------------------------------- */

/* What the parameter `what` says: wrong numbers, or a status that is none. */
static ropescope_status wrong(void *user, const ropescope_method_call *call, double *inv_freq, double *attention_factor,
                              double *logit_factor, char *message, size_t capacity) {
  int what = (int)call->parameters[0];
  if (user != NULL) snprintf(message, capacity, "%s", *(const char **)user);
  if (user != NULL) return ROPESCOPE_DOMAIN;
  if (what >= 5) return what == 5 ? (ropescope_status)99 : (ropescope_status)-1;
  inv_freq[2] = what == 1 ? NAN : what == 2 ? -0.5 : 0.25;
  if (what == 3) *attention_factor = INFINITY;
  if (what == 4) *logit_factor = NAN;
  return ROPESCOPE_OK;
}

static void level(void *user, const ropescope_method_call *call, size_t head, size_t query, size_t begin, size_t end,
                  double *bias) {
  (void)user, (void)call, (void)head, (void)query;
  for (size_t n = begin; n < end; n++) bias[n - begin] = 0;
}

static const ropescope_parameter_spec what = {"what", "1", 0, 10, 0, "what goes wrong"};

static ropescope_method_spec plain_method(void) {
  return (ropescope_method_spec){.size = sizeof(ropescope_method_spec),
                                 .name = "own",
                                 .summary = "one of one's own",
                                 .parameters = &what,
                                 .parameter_count = 1,
                                 .frequencies = wrong};
}

Test(api_refusals, methods_that_are_none) {
  static const char long_name[] = "aa3456789_a23456789_a23456789_a23456789_a2345678";
  const char *const names[] = {NULL, "", "1st", "a-b", long_name, "rope"};
  ropescope_library *library = NULL;
  GOOD(ropescope_library_create(&library, &error));
  for (size_t i = 0; i < COUNT(names); i++) {
    ropescope_method_spec spec = plain_method();
    spec.name = names[i];
    FAILS(ropescope_library_add_method(library, &spec, &error), ROPESCOPE_INPUT);
    is_told(error, "name", "");
  }
  struct {
    ropescope_method_spec spec;
    const char *subject, *words;
  } cases[] = {
      {plain_method(), "summary", "is missing"},           {plain_method(), "version", "at least 1"},
      {plain_method(), "frequencies", "would do nothing"}, {plain_method(), "parameters", "are 17, and 16 at most"},
      {plain_method(), "parameters", "are missing"},       {plain_method(), "scaled", "without frequencies"}};
  cases[0].spec.summary = NULL;
  cases[1].spec.version = -1;
  cases[2].spec.frequencies = NULL;
  cases[3].spec.parameter_count = 17;
  cases[4].spec.parameters = NULL;
  cases[5].spec.frequencies = NULL, cases[5].spec.bias = level, cases[5].spec.scaled = 1;
  for (size_t i = 0; i < COUNT(cases); i++) {
    FAILS(ropescope_library_add_method(library, &cases[i].spec, &error), ROPESCOPE_INPUT);
    is_told(error, cases[i].subject, cases[i].words);
  }
  ropescope_method_spec spec = plain_method(), longest = plain_method();
  longest.name = long_name + 1, longest.version = 3;
  GOOD(ropescope_library_add_method(library, &longest, &error));
  GOOD(ropescope_library_add_method(library, &spec, &error));
  ropescope_library_free(library);
}

Test(api_refusals, parameters_that_are_none) {
  static const ropescope_parameter_spec cases[][2] = {{{NULL, "1", 0, 1, 0, ""}, {"b", "1", 0, 1, 0, ""}},
                                                      {{"", "1", 0, 1, 0, ""}, {"b", "1", 0, 1, 0, ""}},
                                                      {{"a", "1", 0, 1, 0, ""}, {"9b", "1", 0, 1, 0, ""}},
                                                      {{"a", "1", 0, 1, 0, ""}, {"a", "1", 0, 1, 0, ""}},
                                                      {{"name", "1", 0, 1, 0, ""}, {"b", "1", 0, 1, 0, ""}},
                                                      {{"label", "1", 0, 1, 0, ""}, {"b", "1", 0, 1, 0, ""}},
                                                      {{"a", "1", 0, 1, 0, ""}, {"zip", "1", 0, 1, 0, ""}},
                                                      {{"dialect", "1", 0, 1, 0, ""}, {"b", "1", 0, 1, 0, ""}},
                                                      {{"rope_theta", "1", 0, 1, 0, ""}, {"b", "1", 0, 1, 0, ""}},
                                                      {{"factor", "1", 0, 1, 0, ""}, {"b", "1", 0, 1, 0, ""}},
                                                      {{"a", "1", -INFINITY, 1, 0, ""}, {"b", "1", 0, 1, 0, ""}},
                                                      {{"a", "1", 0, NAN, 0, ""}, {"b", "1", 0, 1, 0, ""}},
                                                      {{"a", "1", 0, 1, 2, ""}, {"b", "1", 0, 1, 0, ""}},
                                                      {{"a", "1", 0, 1, 0, ""}, {"b", "1", 0, 1, -1, ""}},
                                                      {{"a", "1", 0, 1, NAN, ""}, {"b", "1", 0, 1, 0, ""}}};
  static const char *const words[] = {"number 0 has no name", "number 0 has no name", "number 1 has no name",
                                      "a is taken",           "name is taken",        "label is taken",
                                      "zip is taken",         "dialect is taken",     "rope_theta is taken",
                                      "factor is taken",      "a must have finite",   "a must have finite",
                                      "a must have finite",   "b must have finite",   "bounds around its default"};
  ropescope_library *library = NULL;
  GOOD(ropescope_library_create(&library, &error));
  for (size_t i = 0; i < COUNT(cases); i++) {
    ropescope_method_spec spec = plain_method();
    spec.parameters = cases[i];
    spec.parameter_count = 2;
    FAILS(ropescope_library_add_method(library, &spec, &error), ROPESCOPE_INPUT);
    is_told(error, "parameters", words[i]);
  }
  ropescope_library_free(library);
}

static void make_own(ropescope_library *library, const char *method, ropescope_recipe **recipe) {
  const ropescope_recipe_source source = {.size = sizeof source, .text = config, .method = method};
  GOOD(ropescope_recipe_create(library, &source, recipe, &error));
}

Test(api_refusals, callbacks_that_give_no_numbers) {
  static const char *const words[] = {
      "gives pair 2 the frequency nan",         "gives pair 2 the frequency -0.5",
      "gives a factor that is not finite",      "gives a factor that is not finite",
      "own: its frequencies could not be made", "own: its frequencies could not be made"};
  ropescope_method_spec spec = plain_method();
  ropescope_library *library = NULL;
  GOOD(ropescope_library_create(&library, &error));
  GOOD(ropescope_library_add_method(library, &spec, &error));
  for (size_t i = 0; i < COUNT(words); i++) {
    char method[64];
    ropescope_recipe *recipe = NULL;
    ropescope_tables *tables = NULL;
    snprintf(method, sizeof method, "{name: own, what: %zu}", i + 1);
    make_own(library, method, &recipe);
    FAILS(ropescope_tables_create(recipe, 0, &tables, &error), i < 4 ? ROPESCOPE_DOMAIN : ROPESCOPE_INTERNAL);
    is_told(error, "", words[i]);
    ropescope_recipe_free(recipe);
  }
  ropescope_library_free(library);
}

/* A place, a key and a hint are found in whatever a message says; what only looks like them stays as it is. */
Test(api_refusals, messages_are_taken_apart) {
  static const struct {
    const char *message;
    bool told;
    ropescope_problem problem;
  } cases[] = {
      {"a.py:12:7: m.k = 4: too much (at most 3)", true, {"own: a.py", 12, 7, "m.k", "m.k = 4: too much", "at most 3"}},
      {"a.py:12: why (as (it) stands)", true, {"own: a.py", 12, 0, "", "why", "as (it) stands"}},
      {"a.py:3: k: why f(x)", true, {"own: a.py", 3, 0, "k", "k: why f(x)", ""}},
      {"a.py:3: why)", true, {"own: a.py", 3, 0, "", "why)", ""}},
      {"a.py:3: (why)", true, {"own: a.py", 3, 0, "", "(why)", ""}},
      {"a.py:3: ", true, {"own: a.py", 3, 0, "", "", ""}},
      {"at 12:45 and 1:2:3", false, {0}},
      {"a:5:b: why", false, {0}}};
  const char *message = "";
  ropescope_method_spec spec = plain_method();
  ropescope_library *library = NULL;
  ropescope_recipe *recipe = NULL;
  spec.user = &message;
  GOOD(ropescope_library_create(&library, &error));
  GOOD(ropescope_library_add_method(library, &spec, &error));
  make_own(library, "own", &recipe);
  for (size_t i = 0; i < COUNT(cases); i++) {
    ropescope_tables *tables = NULL;
    message = cases[i].message;
    FAILS(ropescope_tables_create(recipe, 0, &tables, &error), ROPESCOPE_DOMAIN);
    const ropescope_problem *found = ropescope_error_problem(error, 0), *wanted = &cases[i].problem;
    cr_expect_eq(found != NULL, cases[i].told, "%s", message);
    if (found != NULL && cases[i].told) {
      cr_expect_str_eq(found->file, wanted->file, "%s", message);
      cr_expect(found->line == wanted->line && found->column == wanted->column, "%s: %zu:%zu", message, found->line,
                found->column);
      cr_expect_str_eq(found->key, wanted->key, "%s", message);
      cr_expect_str_eq(found->text, wanted->text, "%s", message);
      cr_expect_str_eq(found->hint, wanted->hint, "%s", message);
    }
    cr_expect_null(ropescope_error_problem(error, 1));
    is_told(error, "", cases[i].message);
  }
  ropescope_recipe_free(recipe);
  ropescope_library_free(library);
}

/* ---- statistics -------------------------------------------------------------------------------------------------- */

static double q[H][L][D], k[H][L][D];

static void fill(void) {
  for (size_t i = 0; i < H * L * D; i++) (&q[0][0][0])[i] = (double)(i * 7 % 11) / 8 - 0.5;
  for (size_t i = 0; i < H * L * D; i++) (&k[0][0][0])[i] = (double)(i * 5 % 13) / 8 - 0.75;
}

static ropescope_attention plain(const ropescope_recipe *recipe) {
  return (ropescope_attention){.size = sizeof(ropescope_attention),
                               .recipe = recipe,
                               .q = {q, ROPESCOPE_F64, L * D, D, 1},
                               .k = {k, ROPESCOPE_F64, L * D, D, 1},
                               .length = L,
                               .head_dim = D,
                               .heads = H,
                               .exact = 1};
}

Test(api_refusals, attention_that_does_not_fit, .init = fill) {
  static const double sinks[H] = {0.5, INFINITY};
  static const size_t early[] = {1, 2};
  ropescope_recipe *recipe = make_recipe(NULL, config, "rope", 0);
  const ropescope_attention base = plain(recipe);
  ropescope_attention in[40];
  const char *subjects[40], *words[40];
  size_t count = 0;
#define CASE(subject, said, ...)                                                                                       \
  do {                                                                                                                 \
    ropescope_attention *a = &in[count];                                                                               \
    *a = base;                                                                                                         \
    __VA_ARGS__;                                                                                                       \
    subjects[count] = (subject), words[count++] = (said);                                                              \
  } while (0)
  CASE("recipe", "is missing", a->recipe = NULL);
  CASE("q", "has no data", a->q.data = NULL);
  CASE("k", "has no data", a->k.data = NULL);
  CASE("q", "dtype that is none", a->q.dtype = (ropescope_dtype)4);
  CASE("k", "dtype that is none", a->k.dtype = (ropescope_dtype)-1);
  CASE("length", "there are no keys", a->length = 0);
  CASE("heads", "is 0, and the recipe's 2", a->heads = 0);
  CASE("bins_per_octave", "more than 64", a->bins_per_octave = 65);
  CASE("softmax_scale", "must be finite", a->softmax_scale = NAN);
  CASE("softmax_scale", "must be finite", a->softmax_scale = -INFINITY);
  CASE("soft_cap", "must be finite", a->soft_cap = NAN);
  CASE("soft_cap", "must be finite", a->soft_cap = -1);
  CASE("epsilon", "below 1", a->epsilon = NAN);
  CASE("epsilon", "below 1", a->epsilon = 1);
  CASE("learned_sinks", "of head 1", a->learned_sinks = sinks);
  CASE("query_tokens", "7 rows from position 0", a->query_tokens = L + 1);
  CASE("query_tokens", "4 rows from position 3", a->query_tokens = 4, a->first_query = 3);
  CASE("query_count", "no query is observed", a->queries = early);
  CASE("queries", "has 1, which", a->queries = early, a->query_count = 2, a->query_tokens = 4, a->first_query = 2);
  CASE("queries", "has 2, which", a->queries = early, a->query_count = 2, a->query_tokens = 2);
  CASE("mask", "is none", a->mask = (ropescope_mask)8);
  CASE("window", "of no use", a->mask = ROPESCOPE_MASK_CAUSAL, a->window = 3);
  CASE("window", "is missing", a->mask = ROPESCOPE_MASK_CHUNKS);
  CASE("sinks", "of no use", a->mask = ROPESCOPE_MASK_WINDOW, a->window = 3, a->sinks = 1);
  CASE("sinks", "are missing", a->mask = ROPESCOPE_MASK_WINDOW_SINKS, a->window = 3);
  CASE("", "has entropy twice (a metric is computed once)", a->metrics = "[entropy, {name: entropy, label: again}]");
  CASE("", "has loss, which reads a trained model, not rows", a->metrics = "[loss]");
  CASE("first_keys", "is 3, where a metric sums 2", a->metrics = "[{name: sink_mass, tokens: 2}]", a->first_keys = 3);
  CASE("metrics", "attention_map shows keys 0 to 9, and a cell has",
       a->metrics = "[{name: attention_map, keys: [0, 9]}]");
#undef CASE
  for (size_t i = 0; i < count; i++) {
    ropescope_statistics *seen = NULL;
    FAILS(ropescope_statistics_create(&in[i], &seen, &error), ROPESCOPE_INPUT);
    cr_assert_null(seen);
    is_told(error, subjects[i], words[i]);
  }
  cr_expect_eq(ropescope_statistics_create(NULL, &(ropescope_statistics *){NULL}, NULL), ROPESCOPE_INPUT);
  ropescope_recipe_free(recipe);
}

static void observe(const ropescope_attention *in, ropescope_observable observable, double values[L]) {
  ropescope_statistics *seen = NULL;
  GOOD(ropescope_statistics_create(in, &seen, &error));
  cr_assert_eq(ropescope_statistics_values(seen, 1, observable, values, L), ropescope_statistics_queries(seen));
  cr_expect_eq(ropescope_statistics_values(seen, H, observable, values, L), 0, "no such head");
  cr_expect_eq(ropescope_statistics_values(seen, 0, (ropescope_observable)13, values, L), 0, "no such observable");
  cr_expect_eq(ropescope_statistics_mass(seen, 0, NULL, 0), 0, "it was not asked for");
  ropescope_statistics_free(seen);
}

/* What is left unsaid has a value, and what is said takes its place. */
Test(api_refusals, members_of_attention_act, .init = fill) {
  ropescope_recipe *recipe = make_recipe(NULL, config, "rope", 0);
  ropescope_attention in = plain(recipe);
  double usual[L], fewer[L], all[L];
  observe(&in, ROPESCOPE_FIRST_WEIGHT, usual);
  in.first_keys = 2;
  observe(&in, ROPESCOPE_FIRST_WEIGHT, fewer);
  in.metrics = "[{name: sink_mass, tokens: 2}]";
  observe(&in, ROPESCOPE_FIRST_WEIGHT, all);
  cr_expect(fabs(usual[3] - 1) < 1e-12 && usual[4] < 1 && fabs(fewer[1] - 1) < 1e-12 && fewer[2] < 1);
  cr_expect_arr_eq(all, fewer, sizeof all);
  in = plain(recipe);
  for (size_t i = 0; i < 3; i++) {
    static const double epsilons[] = {0, -1, 0.5};
    in.epsilon = epsilons[i];
    observe(&in, ROPESCOPE_SKIPPED_WEIGHT, all);
    for (size_t m = 0; m < L; m++) cr_expect(all[m] <= (i == 2 ? 0.5 : i == 1 ? 0 : 1e-12), "%zu: %g", i, all[m]);
  }
  in = plain(recipe);
  for (size_t bins = 0; bins < 2; bins++) {
    ropescope_statistics *seen = NULL;
    double edges[8];
    in.bins_per_octave = bins;
    GOOD(ropescope_statistics_create(&in, &seen, &error));
    size_t found = ropescope_statistics_edges(seen, edges, 8);
    cr_expect_eq(found, bins == 0 ? 7 : 5, "%zu edges", found);
    cr_expect(edges[0] == 0 && edges[found - 1] == L);
    ropescope_statistics_free(seen);
  }
  ropescope_recipe_free(recipe);
}

/* One token, whose next one would stand anywhere, has all the weight; binary16 has infinities, too. */
Test(api_refusals, rows_of_one_token_and_of_no_number, .init = fill) {
  static const uint16_t halves[2][D] = {{0x3c00, 0x7bff, 0x0001, 0x8001}, {0x7c00}};
  ropescope_recipe *recipe = make_recipe(NULL, config, "rope", 0);
  ropescope_attention in = plain(recipe);
  double entropy[L], logit[L];
  in.length = 1;
  in.q.token_stride = in.k.token_stride = 1 << 20;
  observe(&in, ROPESCOPE_ENTROPY, entropy);
  observe(&in, ROPESCOPE_MAX_LOGIT, logit);
  double sum = 0;
  for (size_t d = 0; d < D; d++) sum += q[1][0][d] * k[1][0][d] / sqrt(D);
  cr_expect(fabs(entropy[0]) < 1e-15 && fabs(logit[0] - sum) < 1e-14, "%g, %g", entropy[0], logit[0] - sum);
  in.q = in.k = (ropescope_rows){halves, ROPESCOPE_F16, 0, 0, 1};
  observe(&in, ROPESCOPE_MAX_LOGIT, logit);
  cr_expect_float_eq(logit[0], (1 + 65504.0 * 65504 + 2 * 0x1p-48) / sqrt(D), 1e-3);
  in.k.data = halves[1];
  ropescope_statistics *seen = NULL;
  FAILS(ropescope_statistics_create(&in, &seen, &error), ROPESCOPE_INPUT);
  is_told(error, "k", "at head 0, token 0, dim 0");
  ropescope_recipe_free(recipe);
}

/* ---- arrays ------------------------------------------------------------------------------------------------------ */

static char path[64];

static void enter(void) {
  strcpy(path, "/tmp/ropescope-api-XXXXXX.npy");
  int made = mkstemps(path, 4);
  cr_assert_geq(made, 0);
  close(made);
}

static void leave(void) {
  unlink(path);
}

/* A .npy of zeros, its header `size` bytes long. */
static void write_npy(const char *type, const char *shape, size_t size, size_t bytes) {
  char header[256] = "";
  int length = snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", type, shape);
  memset(header + length, ' ', size - (size_t)length);
  header[size - 1] = '\n';
  FILE *file = fopen(path, "wb");
  fwrite("\x93NUMPY\1\0", 1, 8, file);
  fputc((int)size & 255, file), fputc((int)size >> 8, file);
  fwrite(header, 1, size, file);
  for (size_t i = 0; i < bytes; i++) fputc(0, file);
  cr_assert_eq(fclose(file), 0);
}

Test(api_refusals, arrays_that_are_no_rows, .init = enter, .fini = leave) {
  static const struct {
    const char *type, *shape;
    size_t header, bytes;
    const char *words; /* NULL: they are rows */
    size_t rank, tokens, dims;
  } cases[] = {{"<i8", "(2,)", 118, 16, "holds I64, and rows are F64, F32, BF16 or F16", 0, 0, 0},
               {"<f4", "()", 118, 4, "has 0 axes, and rows have", 0, 0, 0},
               {"<f4", "(1, 1, 1, 2)", 118, 8, "has 4 axes, and rows have", 0, 0, 0},
               {"<f8", "(2,)", 114, 16, "not aligned to their size", 0, 0, 0},
               {"<f8", "(3,)", 118, 24, NULL, 1, 1, 3},
               {"<f2", "(2, 3)", 118, 12, NULL, 2, 2, 3},
               {"<f4", "(4, 2, 3)", 118, 96, NULL, 3, 2, 3}};
  ropescope_array *array = NULL;
  for (size_t i = 0; i < COUNT(cases); i++) {
    write_npy(cases[i].type, cases[i].shape, cases[i].header, cases[i].bytes);
    if (cases[i].words != NULL) {
      FAILS(ropescope_array_open(path, NULL, &array, &error), ROPESCOPE_UNSUPPORTED);
      is_told(error, "", cases[i].words);
      continue;
    }
    GOOD(ropescope_array_open(path, NULL, &array, &error));
    ropescope_rows rows = ropescope_array_rows(array);
    cr_expect_eq(ropescope_array_rank(array), cases[i].rank);
    cr_expect_eq(ropescope_array_extent(array, cases[i].rank - 1), cases[i].dims);
    cr_expect_eq(ropescope_array_extent(array, cases[i].rank), 0);
    cr_expect(rows.dim_stride == 1 && rows.token_stride == 3 && rows.head_stride == (ptrdiff_t)cases[i].tokens * 3);
    cr_expect_eq(rows.dtype, i == 4 ? ROPESCOPE_F64 : i == 5 ? ROPESCOPE_F16 : ROPESCOPE_F32);
    ropescope_array_free(array);
  }
  FAILS(ropescope_array_open(NULL, NULL, &array, &error), ROPESCOPE_INPUT);
  is_told(error, "path", "is missing");
  cr_expect_eq(ropescope_array_open("none.safetensors", NULL, &array, NULL), ROPESCOPE_INPUT, "which tensor");
  cr_expect_eq(ropescope_array_open("none.safetensors", "x", &array, NULL), ROPESCOPE_IO);
}
