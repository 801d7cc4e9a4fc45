/* test_run.c: from a config to the rows of its files. A cell's numbers may depend on nothing but the cell; what is
 * undefined or did not fit in memory is a row that says so, and never a wrong number. */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <ftw.h>
#include <gsl/gsl_errno.h>
#include <math.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ropescope/sweep.h"

/* ---- the heap, made to fail -------------------------------------------------------------------------------------- */

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
enum { COUNTS_MEMORY = 1 };
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *memory);

/* Of this thread alone: Criterion's own threads allocate when they please. */
static _Thread_local long blocks;           /* allocated and not yet released */
static _Thread_local long allocations = -1; /* until the next one fails; negative: none does */
static _Thread_local bool refused, refuse_all, refused_gsl;

static bool comes_from(void *caller, const char *library) {
  Dl_info where;
  return dladdr(caller, &where) != 0 && strstr(where.dli_fname, library) != NULL;
}

/* LLVM's OpenMP ends the program when it is refused: whoever asks next is. */
static bool refuses(void *caller) {
  if (allocations < 0 || allocations-- > 0) return false;
  bool spared = comes_from(caller, "libomp.");
  if (refuse_all || spared) allocations = 0;
  if (spared) return false;
  refused = true;
  refused_gsl |= comes_from(caller, "libgsl.");
  return true;
}

static void *counted(void *memory) {
  blocks += memory != NULL;
  return memory;
}

void *malloc(size_t size) {
  return refuses(__builtin_return_address(0)) ? NULL : counted(__libc_malloc(size));
}

void *calloc(size_t count, size_t size) {
  return refuses(__builtin_return_address(0)) ? NULL : counted(__libc_calloc(count, size));
}

void *realloc(void *memory, size_t size) {
  if (refuses(__builtin_return_address(0))) return NULL;
  void *moved = __libc_realloc(memory, size);
  return memory != NULL ? moved : counted(moved);
}

void *aligned_alloc(size_t alignment, size_t size) {
  return refuses(__builtin_return_address(0)) ? NULL : counted(__libc_memalign(alignment, size));
}

/* GNU OpenMP's own, which ends the program when it is refused. */
void *memalign(size_t alignment, size_t size) {
  return counted(__libc_memalign(alignment, size));
}

void free(void *memory) {
  blocks -= memory != NULL;
  __libc_free(memory);
}
#else
enum { COUNTS_MEMORY = 0 };
static long blocks, allocations;
static bool refused, refuse_all, refused_gsl;
#endif

/* A thousand runs would wait for the disk a thousand times. */
int fsync(int file) {
  (void)file;
  return 0;
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

static char folder[64]; /* of the case that runs */

static void enter_folder(void) {
  strcpy(folder, "/tmp/ropescope-run-XXXXXX");
  cr_assert_not_null(mkdtemp(folder));
  cr_assert_eq(chdir(folder), 0);
  gsl_set_error_handler_off();
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *walk) {
  (void)info;
  (void)type;
  (void)walk;
  return remove(path);
}

static void remove_tree(const char *path) {
  nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void leave_folder(void) {
  cr_assert_eq(chdir("/"), 0);
  remove_tree(folder);
}

TestSuite(run, .init = enter_folder, .fini = leave_folder);

static void use_threads(int threads) {
#ifdef _OPENMP
  omp_set_num_threads(threads);
#else
  (void)threads;
#endif
}

/* Checks a config and runs it. */
static rs_status attempt(const char *yaml, const char *out, rs_run_summary *summary, rs_problems *problems,
                         rs_err *err) {
  rs_experiment *experiment;
  rs_status status = rs_config_read(yaml, "t.yaml", (rs_config_edits){0}, &experiment, problems, err);
  rs_run_options options = {.directory = out};
  if (status == RS_OK) status = rs_run(experiment, &options, summary, err);
  rs_experiment_free(experiment);
  return status;
}

static rs_run_summary run(const char *yaml, const char *out) {
  rs_run_summary summary;
  rs_problems problems = {0};
  rs_err err = {0};
  cr_assert_eq(attempt(yaml, out, &summary, &problems, &err), RS_OK, "%s: %s %s", yaml, err.message,
               rs_text_string(&problems.text));
  rs_problems_clear(&problems);
  return summary;
}

static bool exists(const char *path) {
  return access(path, F_OK) == 0;
}

/* Release with free(). */
static char *read_path(const char *directory, const char *name, size_t *length) {
  char *path = rs_path_join(directory, name, NULL), *text;
  rs_err err = {0};
  cr_assert_eq(rs_file_read(path, 1 << 26, &text, length, &err), RS_OK, "%s", err.message);
  free(path);
  return text;
}

/* Release with rs_table_free. */
static rs_table *read_table(const char *directory, const char *name) {
  size_t length;
  char *text = read_path(directory, name, &length);
  rs_table *table;
  rs_err err = {0};
  cr_assert_eq(rs_csv_read(text, length, name, &table, &err), RS_OK, "%s", err.message);
  free(text);
  return table;
}

static const char *field(const rs_table *table, size_t row, const char *column) {
  int index = rs_table_column(table, column);
  cr_assert_geq(index, 0, "no column %s", column);
  return table->fields[row * table->columns + (size_t)index];
}

/* Whether two rows agree in `columns`. */
static bool agree(const rs_table *a, size_t i, const rs_table *b, size_t j, const char *const *columns, size_t count) {
  for (size_t c = 0; c < count; c++)
    if (strcmp(field(a, i, columns[c]), field(b, j, columns[c])) != 0) return false;
  return true;
}

/* All columns from `first` on. */
static void expect_same_row(const rs_table *got, size_t i, const rs_table *want, size_t j, size_t first,
                            const char *what) {
  cr_assert_eq(got->columns, want->columns, "%s", what);
  for (size_t c = first; c < got->columns; c++)
    cr_expect_str_eq(got->fields[i * got->columns + c], want->fields[j * want->columns + c], "%s: %s: %s, should be %s",
                     what, got->header[c], got->fields[i * got->columns + c], want->fields[j * want->columns + c]);
}

static const char *const keys[] = {"model", "method", "length_tokens", "source", "seed", "heads"};
static const char *const table_keys[] = {"model", "method", "length_tokens", "heads"};

#define TINY "model: {name: tiny, head_dim: 8, heads: 2, train_length: 64}\n"
#define ALL_METRICS                                                                                                    \
  "metrics: [decay, first_violation, ood_angles, local_resolution, score_by_distance, distance_mass, entropy, "        \
  "effective_tokens, needle, sink_mass, id_growth]\n"

/* ---- a cell depends on itself alone ------------------------------------------------------------------------------ */

#define TOKENS "tokens: [{text: 5}, {image: [3, 4]}]\nqueries: {random: 9}\n"

/* Every row of a large config, run again as a config of one cell. */
Test(run, cell__alone_and_among_others__has_the_same_row) {
  static const char *const metrics[] = {
      "metrics: [decay, first_violation, ood_angles, local_resolution, score_by_distance, distance_mass, entropy, "
      "effective_tokens, sink_mass, grid_decay, id_growth]\n",
      "metrics: [decay, entropy, needle]\n"};
  static const char *const sources[] = {"[grid, gaussian, needle]", "[gaussian, needle]"};
  for (size_t i = 0; i < RS_COUNT(metrics); i++) {
    rs_text yaml = {0};
    rs_text_printf(&yaml,
                   TINY TOKENS "%smethods: [rope, sinusoidal, self_extend, learned, alibi]\nlengths: [40, 23]\n"
                               "sources: %s\nseeds: [7, 0]\nheads: {each: [1, 0]}\n",
                   metrics[i], sources[i]);
    cr_expect_eq(run(yaml.data, "all").failed, 0);
    rs_table *all = read_table("all", "summary.csv");
    cr_assert_eq(all->rows, 5 * 2 * (3 - i) * 2 * 2, "%zu rows", all->rows);
    for (size_t row = 0; row < all->rows; row++) {
      if (i == 1 && strcmp(field(all, row, "source"), "needle") != 0) continue;
      rs_text_clear(&yaml);
      rs_text_printf(&yaml, TINY TOKENS "%smethods: %s\nlengths: %s\nsources: %s\nseeds: [%s]\nheads: {each: [%s]}\n",
                     metrics[i], field(all, row, "method"), field(all, row, "length_tokens"), field(all, row, "source"),
                     field(all, row, "seed"), field(all, row, "heads"));
      run(yaml.data, "one");
      rs_table *one = read_table("one", "summary.csv");
      cr_assert_eq(one->rows, 1);
      expect_same_row(one, 0, all, row, 1, yaml.data);
      rs_table_free(one);
    }
    rs_table_free(all);
    rs_text_clear(&yaml);
  }
}

/* ---- metrics of tables ------------------------------------------------------------------------------------------- */

#define TABLES "metrics: [decay, first_violation, ood_angles, local_resolution]\n"

static const char *const tables_only =
    "model: [{name: a, head_dim: 8, heads: 4, train_length: 16}, {name: b, head_dim: 4, heads: 2, train_length: 64}]\n"
    "methods: [rope, {name: pi, factor: [2, 4]}, alibi]\nlengths: [16, 40]\nsources: [gaussian, {name: needle, depth: "
    "[0.2, 0.8]}]\nseeds: [3, 1]\nheads: {each: [1, 0]}\n" TABLES;

Test(run, tables_only__rows__have_keys_of_their_own_and_twins_agree) {
  enum { CELLS = 2 * 4 * 2 * 3 * 2 * 2 };
  static const char *const values[] = {"mean_cosine_at_length", "first_violation_tokens", "ood_pairs",
                                       "local_resolution"};
  rs_run_summary summary = run(tables_only, "o");
  cr_expect(summary.cells == CELLS && summary.failed == 0 && summary.starved == 0);
  rs_table *table = read_table("o", "summary.csv");
  cr_assert_eq(table->rows, CELLS);
  for (size_t i = 0; i < table->rows; i++) {
    for (size_t k = 0; k < RS_COUNT(keys); k++) cr_expect_str_neq(field(table, i, keys[k]), "", "%s", keys[k]);
    cr_expect_str_eq(field(table, i, "status"), "ok");
    cr_expect_str_neq(field(table, i, "mean_cosine_at_length"), "");
    for (size_t j = 0; j < i; j++) {
      cr_expect_not(agree(table, i, table, j, keys, RS_COUNT(keys)), "rows %zu and %zu have the same keys", j, i);
      if (agree(table, i, table, j, table_keys, RS_COUNT(table_keys)))
        cr_expect(agree(table, i, table, j, values, RS_COUNT(values)), "rows %zu and %zu: other values", j, i);
    }
  }
  rs_table_free(table);
}

/* Each curve once for each model, method, length and heads, whatever sources and seeds there are. */
static void expect_curves_once(const char *name, const char *index, size_t groups) {
  rs_table *table = read_table("o", name);
  size_t begun = 0;
  for (size_t i = 0; i < table->rows; i++) {
    cr_expect_str_eq(field(table, i, "source"), "", "%s row %zu", name, i);
    cr_expect_str_eq(field(table, i, "seed"), "", "%s row %zu", name, i);
    begun += i == 0 || !agree(table, i, table, i - 1, table_keys, RS_COUNT(table_keys));
    for (size_t j = 0; j < i; j++)
      if (agree(table, i, table, j, table_keys, RS_COUNT(table_keys)))
        cr_expect_str_neq(field(table, i, index), field(table, j, index), "%s: rows %zu and %zu", name, j, i);
  }
  cr_expect_eq(begun, groups, "%s: %zu curves, not %zu", name, begun, groups);
  rs_table_free(table);
}

Test(run, tables_only__curves__are_there_once_without_source_and_seed) {
  run(tables_only, "o");
  expect_curves_once("decay.csv", "distance_tokens", 2 * 4 * 2 * 2);
  expect_curves_once("ood_angles.csv", "pair", 2 * 3 * 2 * 2); /* alibi turns no pair */
}

/* Self-Extend has no rows where the mask sees the future; its tables hold all the same. */
Test(run, cells_without_rows__curves_of_tables__are_there) {
  rs_run_summary summary =
      run(TINY "methods: [rope, self_extend]\nlengths: [32]\nmask: bidirectional\nsources: [gaussian, needle]\nseeds: "
               "2\nheads: {each: 2}\nmetrics: [decay, entropy, ood_angles, distance_mass]\n",
          "o");
  cr_expect(summary.cells == 16 && summary.failed == 8 && summary.starved == 0, "%zu failed", summary.failed);
  expect_curves_once("decay.csv", "distance_tokens", 2 * 2);
  expect_curves_once("ood_angles.csv", "pair", 2 * 2);
  rs_table *mass = read_table("o", "distance_mass.csv");
  for (size_t i = 0; i < mass->rows; i++) cr_expect_str_eq(field(mass, i, "method"), "rope");
  rs_table *table = read_table("o", "summary.csv");
  for (size_t i = 0; i < table->rows; i++) {
    bool undefined = strcmp(field(table, i, "method"), "self_extend") == 0;
    cr_expect_str_eq(field(table, i, "status"), undefined ? "unsupported" : "ok");
    cr_expect_str_eq(field(table, i, "message"), undefined ? "self_extend is defined for causal attention only" : "");
    cr_expect_eq(*field(table, i, "entropy_nats") == '\0', undefined);
  }
  rs_table_free(table);
  rs_table_free(mass);
}

/* Across sequences neither rotation, views nor bias act: every method has the numbers of nope. */
Test(run, cross_mask__every_method__is_nope) {
  run(TINY "methods: [nope, rope, self_extend, alibi, t5]\nlengths: [32]\nmask: cross\nsources: gaussian\nmetrics: "
           "entropy\n",
      "o");
  rs_table *table = read_table("o", "summary.csv");
  cr_assert_eq(table->rows, 5);
  for (size_t i = 0; i < table->rows; i++) {
    cr_expect_str_eq(field(table, i, "status"), "ok");
    cr_expect_str_eq(field(table, i, "entropy_nats"), field(table, 0, "entropy_nats"), "%s", field(table, i, "method"));
  }
  rs_table_free(table);
}

Test(run, bias_nats__empty_without_a_bias) {
  run(TINY "methods: [rope, nope, sinusoidal, self_extend, alibi]\nlengths: [20]\nmetrics: decay\n", "o");
  rs_table *table = read_table("o", "decay.csv");
  size_t biased = 0;
  for (size_t i = 0; i < table->rows; i++) {
    double bias = NAN;
    bool alibi = strcmp(field(table, i, "method"), "alibi") == 0;
    const char *text = field(table, i, "bias_nats");
    cr_expect_eq(rs_number_read(text, &bias), alibi, "%s has bias_nats \"%s\"", field(table, i, "method"), text);
    if (!alibi) cr_expect_str_eq(text, "");
    biased += alibi && bias < 0;
  }
  cr_expect_gt(biased, 0);
  rs_table_free(table);
}

/* What `plot` needs to know of a curve over two indices stands in the manifest, and only there. */
Test(run, position_similarity__manifest__says_what_columns_are_to_a_picture) {
  run(TINY "tokens: [{image: [2, 3]}]\nmethods: [sinusoidal_2d]\nlengths: [6]\nmetrics: [position_similarity, decay]\n",
      "o");
  size_t length, maps = 0;
  char *text = read_path("o", "manifest.json", &length);
  static const char *const parts[] = {"panel", "mark", "y", "x", "low", "high"};
  const char *at = text;
  for (size_t i = 0; i < RS_COUNT(parts) && at != NULL; i++) {
    char entry[32];
    snprintf(entry, sizeof entry, "\"map\": \"%s\"", parts[i]);
    at = strstr(at, entry);
    cr_assert_not_null(at, "no %s after the one before it", entry);
  }
  for (at = text; (at = strstr(at, "\"map\":")) != NULL; at++) maps++;
  cr_assert_eq(maps, RS_COUNT(parts));
  free(text);
  rs_table *table = read_table("o", "position_similarity.csv");
  cr_assert_eq(table->rows, 5u * 6u);
  rs_table_free(table);
}

/* ---- undefined lengths ------------------------------------------------------------------------------------------- */

/* A table that ends is undefined beyond, whether the metrics read rows or tables alone. */
Test(run, learned_beyond_its_table__is_a_row_with_status_domain) {
  static const char *const metrics[] = {TABLES, "metrics: decay\n", "metrics: entropy\n",
                                        "metrics: [decay, entropy]\n"};
  for (size_t m = 0; m < RS_COUNT(metrics); m++) {
    rs_text yaml = {0};
    rs_text_printf(&yaml, TINY "methods: [learned, rope]\nlengths: [65, 64, 90]\nsources: [gaussian, needle]\n%s",
                   metrics[m]);
    rs_run_summary summary = run(yaml.data, "o");
    cr_expect(summary.cells == 12 && summary.failed == 4 && summary.starved == 0, "%s: %zu failed", metrics[m],
              summary.failed);
    rs_table *table = read_table("o", "summary.csv");
    for (size_t i = 0; i < table->rows; i++) {
      bool learned = strcmp(field(table, i, "method"), "learned") == 0;
      const char *length = field(table, i, "length_tokens"), *message = "";
      if (learned && strcmp(length, "65") == 0) message = "learned: position 64 is beyond the table of 64 rows";
      if (learned && strcmp(length, "90") == 0) message = "learned: position 89 is beyond the table of 64 rows";
      cr_expect_str_eq(field(table, i, "status"), *message != '\0' ? "domain" : "ok", "%s row %zu", metrics[m], i);
      cr_expect_str_eq(field(table, i, "message"), message, "%s row %zu", metrics[m], i);
      for (size_t c = 8; c + 2 < table->columns && *message != '\0'; c++)
        cr_expect_str_eq(table->fields[i * table->columns + c], "", "%s of row %zu", table->header[c], i);
    }
    if (m < 2) {
      rs_table *curve = read_table("o", "decay.csv");
      for (size_t i = 0; i < curve->rows; i++)
        cr_expect(strcmp(field(curve, i, "method"), "rope") == 0 ||
                  strcmp(field(curve, i, "length_tokens"), "64") == 0);
      rs_table_free(curve);
    }
    rs_table_free(table);
    rs_text_clear(&yaml);
  }
}

/* One metric that cannot be had takes the cell with it, and the message says which it was. */
Test(run, metric_that_cannot_be_had__is_named_in_the_row) {
  run("methods: rope\nlengths: 32\nmetrics: [entropy, least_squares_blowup]\n"
      "model: {heads: 2, head_dim: 16, train_length: 8}\n",
      "o");
  rs_table *table = read_table("o", "summary.csv");
  for (size_t i = 0; i < table->rows; i++)
    cr_expect_str_eq(field(table, i, "message"), "metric least_squares_blowup: 8 points do not determine 16 functions: "
                                                 "take a ridge above 0 (or solver: svd)");
  rs_table_free(table);
}

/* A source that cannot be made is an error of each of its cells, and of no other. */
Test(run, source_that_cannot_be_fitted__is_rows_with_status_domain) {
  run("methods: [rope, pi]\nlengths: 32\nsources: [gaussian, {name: calibrated, ridge: 0}]\nmetrics: entropy\n"
      "model: {heads: 2, head_dim: 16, train_length: 8}\n",
      "o");
  rs_table *table = read_table("o", "summary.csv");
  cr_assert_geq(table->rows, 4);
  for (size_t i = 0; i < table->rows; i++) {
    bool fitted = strncmp(field(table, i, "source"), "calibrated", 10) == 0;
    cr_expect_str_eq(field(table, i, "status"), fitted ? "domain" : "ok");
    cr_expect_eq(*field(table, i, "entropy_nats") == '\0', fitted);
    cr_expect_eq(strstr(field(table, i, "message"), "source calibrated: 8 points do not determine 16 functions") !=
                     NULL,
                 fitted);
  }
  rs_table_free(table);
}

/* A float format that cannot hold the positions. */
Test(run, positions_beyond_their_format__are_rows_with_status_domain) {
  rs_run_summary summary = run(TINY "precision: {positions: f16}\nlengths: [16, 70000]\nmetrics: decay\n", "o");
  cr_expect(summary.cells == 2 && summary.failed == 1);
  rs_table *table = read_table("o", "summary.csv");
  cr_expect_str_eq(field(table, 0, "status"), "ok");
  cr_expect_str_eq(field(table, 1, "status"), "domain");
  cr_expect_str_eq(field(table, 1, "message"),
                   "length 70000 is beyond the range of the float format of positions or angles");
  rs_table_free(table);
}

/* ---- old results ------------------------------------------------------------------------------------------------- */

Test(run, stale_curves__are_removed_by_a_run_that_makes_none) {
  static const char *const curves[] = {"o/decay.csv", "o/ood_angles.csv", "o/score_by_distance.csv",
                                       "o/distance_mass.csv", "o/needle.csv"};
  run(TINY "sources: needle\nlengths: 16\n" ALL_METRICS, "o");
  for (size_t i = 0; i < RS_COUNT(curves); i++) cr_expect(exists(curves[i]), "no %s", curves[i]);
  FILE *note = fopen("o/notes.csv", "w");
  cr_assert_not_null(note);
  fclose(note);
  run(TINY "lengths: 16\nmetrics: [entropy, decay]\n", "o");
  for (size_t i = 0; i < RS_COUNT(curves); i++) cr_expect_eq(exists(curves[i]), i == 0, "%s", curves[i]);
  cr_expect(exists("o/summary.csv") && exists("o/notes.csv"));
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* What a run without a refusal wrote. */
static const char *const files[] = {"decay.csv",         "ood_angles.csv", "score_by_distance.csv",
                                    "distance_mass.csv", "needle.csv",     "summary.csv"};

/* The rows of `got` must be those of `want` that have their cell's status ok, and of the others none but tables. */
static void expect_curve_rows(const rs_table *got, const rs_table *want, const rs_table *summary, bool of_tables,
                              long n, const char *name) {
  size_t i = 0, before = SIZE_MAX;
  bool was_there = false;
  for (size_t j = 0; j < want->rows; j++) {
    size_t cell = (size_t)atoi(field(want, j, "cell"));
    bool ok = strcmp(field(summary, cell, "status"), "ok") == 0;
    bool there = i < got->rows && agree(got, i, want, j, (const char *const *)want->header, want->columns);
    if (ok && !there) cr_assert_fail("allocation %ld: %s lacks row %zu of cell %zu, which is ok", n, name, j, cell);
    if (there && !ok && !of_tables) cr_assert_fail("allocation %ld: %s has rows of failed cell %zu", n, name, cell);
    if (cell == before && there != was_there) cr_assert_fail("allocation %ld: %s has part of cell %zu", n, name, cell);
    before = cell;
    was_there = there;
    i += there;
  }
  cr_assert_eq(i, got->rows, "allocation %ld: row %zu of %s is not in the whole run", n, i, name);
}

static size_t expect_summary_rows(const rs_table *got, const rs_table *want, long n) {
  size_t starved = 0;
  cr_assert_eq(got->rows, want->rows, "allocation %ld", n);
  for (size_t i = 0; i < got->rows; i++) {
    char what[64];
    snprintf(what, sizeof what, "allocation %ld, cell %zu", n, i);
    if (strcmp(field(got, i, "status"), "ok") == 0) {
      expect_same_row(got, i, want, i, 0, what);
      continue;
    }
    starved++;
    cr_assert_str_eq(field(got, i, "status"), "memory", "%s: %s %s", what, field(got, i, "status"),
                     field(got, i, "message"));
    cr_assert_not_null(strstr(field(got, i, "message"), "out of memory"), "%s: %s", what, field(got, i, "message"));
    cr_assert(agree(got, i, want, i, keys, RS_COUNT(keys)), "%s: other keys", what);
    cr_assert_str_eq(field(got, i, "entropy_nats"), "", "%s has values", what);
  }
  return starved;
}

/* What the manifest says of kinds and columns. */
static void expect_manifest(long n) {
  size_t length;
  char *got = read_path("o", "manifest.json", &length), *want = read_path("whole", "manifest.json", &length);
  const char *a = strstr(got, "\n \"kinds\""), *b = strstr(want, "\n \"kinds\"");
  cr_assert(a != NULL && b != NULL);
  size_t same = 0;
  while (a != NULL && b != NULL && a[same] != '\0' && a[same] == b[same]) same++;
  cr_assert_str_eq(a, b, "allocation %ld: manifest.json has other kinds or columns: %.60s for %.60s", n, a + same - 20,
                   b + same - 20);
  free(got);
  free(want);
}

/* A run that said it went well. */
static void expect_sound(const rs_run_summary *summary, long n) {
  rs_table *rows = read_table("o", "summary.csv"), *want = read_table("whole", "summary.csv");
  size_t starved = expect_summary_rows(rows, want, n);
  cr_assert(summary->starved == starved && summary->failed == starved, "allocation %ld: %zu starved, %zu rows say so",
            n, summary->starved, starved);
  for (size_t f = 0; f + 1 < RS_COUNT(files); f++) {
    rs_table *got = read_table("o", files[f]), *whole = read_table("whole", files[f]);
    expect_curve_rows(got, whole, rows, f < 2, n, files[f]);
    rs_table_free(got);
    rs_table_free(whole);
  }
  expect_manifest(n);
  rs_table_free(rows);
  rs_table_free(want);
}

static const char starving[] =
    TINY "methods: [rope, self_extend, alibi, sinusoidal]\nlengths: [24]\nsources: [needle, grid]\nheads: {each: [0, "
         "1]}\nqueries: {random: 5}\ntokens: [{text: 4}, {image: [2, 3]}]\n" ALL_METRICS;

/* One of the runs: allocation `n` fails, and with `all` every later one. True when none was refused. */
static bool starve(long n, bool all) {
  rs_run_summary summary = {0};
  rs_problems problems = {0};
  rs_err err = {0};
  unlink("o/summary.csv");
  long before = blocks;
  refused = refused_gsl = false;
  refuse_all = all;
  allocations = n;
  rs_status status = attempt(starving, "o", &summary, &problems, &err);
  allocations = -1;
  cr_assert(status == RS_OK || (refused && status == RS_MEMORY), "allocation %ld: %s: %s %s", n, rs_status_name(status),
            err.message, rs_text_string(&problems.text));
  rs_problems_clear(&problems);
  /* gsl_matrix_alloc forgets the struct of a matrix that got no cells */
  cr_assert(blocks == before || (refused_gsl && blocks == before + 1), "allocation %ld: %ld blocks leak", n,
            blocks - before);
  if (status == RS_OK) expect_sound(&summary, n);
  if (status != RS_OK) cr_assert_not(exists("o/summary.csv"), "allocation %ld: a failed run left summary.csv", n);
  return !refused;
}

Test(run, each_failing_allocation__no_wrong_cell_and_no_leak, .timeout = 240) {
  if (!COUNTS_MEMORY) cr_skip_test("malloc belongs to the sanitizer");
  use_threads(1);
  cr_assert_eq(run(starving, "whole").failed, 0);
  for (int all = 0; all < 2; all++)
    for (long n = 0; !starve(n, all); n++) cr_assert_lt(n, 100000);
}

/* Good configs with every way to write a value. */
static const char *const configs[] = {
    "model: llama-2-7b\n",
    "name: n\ndescription: d\nmodel: [{preset: gpt2, name: g}, {head_dim: 8, train_length: 16, published: {name: yarn, "
    "factor: 4}}]\nmethods: [rope, {name: pi, factor: 2}, {name: pi, factor: 4}, {name: yarn, label: y, factor: [2, "
    "4], beta_fast: [16, 32], zip: true}]\nlengths: {from: 16, to: 64}\nsources: {name: needle, depth: [0.1, 0.9]}\n"
    "metrics: [{name: decay, distances: all}, needle]\nseeds: [3, 1]\nheads: {each: [3, 1]}\nqueries: {random: 3}\n"
    "mask: {window: 9, sinks: 2}\ntokens: [{text: 4}, {image: [2, 2]}]\nprecision: f32\ncolumns: [overlap]\n",
    "model: {head_dim: 8, train_length: 16, mrope_section: [2, 1, 1], published: {name: mrope, mrope_section: [1, 1, "
    "2]}}\nmethods: [{name: mrope, mrope_section: [[2, 1, 1], [1, 2, 1]]}, {name: longrope, short_factor: [1, 1, 1, "
    "1], long_factor: [1, 2, 3, 4]}]\n",
    "model: [phi-3-mini-128k, llama-2-7b]\nmethods: [longrope, rope]\nzip: [model, methods]\n",
};

static rs_status read_whole(const char *yaml, rs_text *written, rs_problems *problems, rs_err *err) {
  rs_experiment *experiment;
  rs_status status = rs_config_read(yaml, "t.yaml", (rs_config_edits){0}, &experiment, problems, err);
  long pause = allocations;
  allocations = -1;
  if (status == RS_OK) rs_experiment_write(experiment, written);
  allocations = pause;
  rs_experiment_free(experiment);
  return status;
}

/* A good config is never called wrong for want of memory, nor read as another one. */
static bool starve_config(const char *yaml, const char *want, long n) {
  rs_problems problems = {0};
  rs_text written = {0};
  rs_err err = {0};
  long before = blocks;
  refused = refuse_all = false;
  allocations = n;
  rs_status status = read_whole(yaml, &written, &problems, &err);
  allocations = -1;
  cr_assert(status == RS_OK || (refused && status == RS_MEMORY), "%s\nallocation %ld: %s: %s\n%s", yaml, n,
            rs_status_name(status), err.message, rs_text_string(&problems.text));
  if (status == RS_OK)
    cr_assert_str_eq(written.data, want, "%s\nallocation %ld: is read as\n%s", yaml, n, written.data);
  rs_problems_clear(&problems);
  rs_text_clear(&written);
  cr_assert_eq(blocks, before, "%s\nallocation %ld: %ld blocks leak", yaml, n, blocks - before);
  return !refused;
}

Test(run, each_failing_allocation_of_a_config__is_a_lack_of_memory, .timeout = 120) {
  if (!COUNTS_MEMORY) cr_skip_test("malloc belongs to the sanitizer");
  for (size_t i = 0; i < RS_COUNT(configs); i++) {
    rs_text want = {0};
    rs_problems problems = {0};
    rs_err err = {0};
    cr_assert_eq(read_whole(configs[i], &want, &problems, &err), RS_OK, "%s: %s", configs[i],
                 rs_text_string(&problems.text));
    for (long n = 0; !starve_config(configs[i], want.data, n); n++) cr_assert_lt(n, 100000);
    rs_text_clear(&want);
  }
}
