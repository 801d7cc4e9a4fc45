/* test_same_bytes.c: runs that must give the same bytes. */
#include "../fixtures/program.h"

#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <unistd.h>

TestSuite(same_bytes, .init = enter_folder, .fini = leave_folder);

/* Simulated rows, tables and trained models. */
static const char matrix_config[] =
    "name: matrix\nmodel: {head_dim: 16, heads: 2, train_length: 64}\nmethods: [rope, yarn, alibi, sinusoidal]\n"
    "lengths: [64, 300]\nseeds: 2\nsources: [needle]\nmetrics: [entropy, decay, needle, distance_mass, ood_angles]\n";
static const char matrix_trained[] =
    "name: trained\ntask: {name: copy, symbols: 3}\nsequences: 4\nlengths: [6, 12]\nseeds: 2\n"
    "methods: [trained, alibi]\nmetrics: [loss, entropy, decay]\nsources: [{name: model, layer: 0}]\n"
    "checkpoint: {method: rope, width: 8, blocks: 1, heads: 2, train: {steps: 12, length: 6, sequences: 9}}\n";

static const char *const matrices[] = {matrix_config, matrix_trained};

/* A locale of this name, made here where the system has what localedef reads (Debian: the package locales); but in the
 * order of bytes, which nothing here sorts by another: orders take half of the time. */
static bool has_locale(const char *name) {
  static const char *const parts[] = {"IDENTIFICATION", "CTYPE", "MONETARY", "NUMERIC",   "TIME",       "MESSAGES",
                                      "PAPER",          "NAME",  "ADDRESS",  "TELEPHONE", "MEASUREMENT"};
  char words[128], whole[32];
  rs_text definition = {0};
  rs_text_puts(&definition, "comment_char %\nescape_char /\nLC_COLLATE\ncopy \"POSIX\"\nEND LC_COLLATE\n");
  for (size_t i = 0; i < RS_COUNT(parts); i++)
    rs_text_printf(&definition, "LC_%s\ncopy \"%s\"\nEND LC_%s\n", parts[i], name, parts[i]);
  write_file("locale", rs_text_string(&definition));
  rs_text_clear(&definition);
  snprintf(words, sizeof words, "localedef --no-archive -i ./locale -f UTF-8 ./%s.UTF-8 >/dev/null 2>&1", name);
  if (system(words) == 0) setenv("LOCPATH", folder, 1);
  snprintf(whole, sizeof whole, "%s.UTF-8", name);
  locale_t made = newlocale(LC_ALL_MASK, whole, NULL);
  if (made != NULL) freelocale(made);
  return made != NULL;
}

/* Runs into `out`, with models of its own. */
static void run_matrix(const char *out, const char *threads, const char *environment) {
  run_well(
      &(command){.arguments = {"run", "m.yaml", "--out", out, "--checkpoints", "c", "--threads", threads, "--quiet"},
                 .environment = {environment}});
  remove_folder("c");
}

static void expect_matrix(const char *what) {
  expect_same_csv("one", "other", what);
  remove_folder("other");
}

static void run_in_shards(void) {
  static const char *const shards[] = {"1/3", "2/3", "3/3"}, *const folders[] = {"s1", "s2", "s3"};
  for (size_t i = 0; i < RS_COUNT(shards); i++)
    run_well(&(command){
        .arguments = {"run", "m.yaml", "--out", folders[i], "--shard", shards[i], "--checkpoints", "c", "--quiet"}});
  run_well(&(command){.arguments = {"merge", "s1", "s2", "s3", "--out", "other", "--quiet"}});
  for (size_t i = 0; i < RS_COUNT(folders); i++) remove_folder(folders[i]);
  remove_folder("c");
}

/* Killed after so many milliseconds, as often as it does not end before. */
static void run_interrupted(void) {
  const command c = {.arguments = {"run", "m.yaml", "--out", "other", "--checkpoints", "c", "--quiet"}};
  int status = -1;
  for (unsigned milliseconds = 5; status != 0; milliseconds += milliseconds / 2 + 1) {
    int null = open("/dev/null", O_WRONLY);
    pid_t child = fork();
    if (child == 0) start(&c, null, null);
    close(null);
    usleep(1000 * milliseconds);
    kill(child, milliseconds % 2 ? SIGKILL : SIGTERM);
    status = wait_for(child);
    cr_assert(status == 0 || status == 128 + SIGKILL || status == 128 + SIGTERM, "%d", status);
  }
  remove_folder("c");
}

/* Everything that one machine can vary, but for ranks (tests/mpi). */
Test(same_bytes, matrix__threads_shards_interruptions) {
  for (size_t i = 0; i < RS_COUNT(matrices); i++) {
    char words[32];
    write_file("m.yaml", matrices[i]);
    run_matrix("one", "1", "LC_ALL=C");
    for (int threads = 2; threads <= 16; threads += i == 0 ? 1 : 7) {
      snprintf(words, sizeof words, "%d", threads);
      run_matrix("other", words, "LC_ALL=C");
      expect_matrix(words);
    }
    run_in_shards();
    expect_matrix("shards");
    run_interrupted();
    expect_matrix("interruptions");
    remove_folder("one");
  }
}

Test(same_bytes, run__same_bytes_for_any_number_of_threads) {
  static const char *const counts[] = {"2", "3", "8"};
  run_small("t1", "--threads", "1", NULL);
  for (size_t i = 0; i < RS_COUNT(counts); i++) {
    char environment[32];
    snprintf(environment, sizeof environment, "OMP_NUM_THREADS=%s", counts[i]);
    run_small("e", NULL, NULL, environment);
    expect_same_csv("t1", "e", environment);
  }
}

/* What the models publish must survive the trip too. */
Test(same_bytes, run__results_run_again_give_the_same_bytes) {
  static const char *const configs[] = {
      small_config,
      "model: [gpt-oss, qwen2-vl, deepseek-v3]\nlengths: [32, 48]\nmethods: [yarn, mrope, {name: yarn, factor: 4}]\n"
      "tokens: [{text: 3}, {image: [3, 4]}, {video: [2, 2, 2], seconds_per_frame: 1, ids_per_second: 1.5}]\nheads: "
      "{each: [0, 5]}\n"
      "queries: {every: 5}\nmask: {window: 20, sinks: 2}\nprecision: {angle: f32}\nmetrics: [decay, ood_angles, "
      "entropy, sink_mass]\nzip: [lengths, seeds]\nseeds: [5, 9]\n",
      "model: {head_dim: 8, heads: 2, train_length: 16, published: {name: alibi, bias_max: 4}}\nmethods: [alibi, "
      "{name: nope, label: 'a \"quoted\", label'}]\nmetrics: [entropy, decay]\nheads: 1\n",
  };
  for (size_t i = 0; i < RS_COUNT(configs); i++) {
    write_file("c.yaml", configs[i]);
    run_well(&(command){.arguments = {"run", "c.yaml", "--out", "a"}});
    run_well(&(command){.arguments = {"run", "a/config.yaml", "--out", "b"}});
    expect_same_csv("a", "b", configs[i]);
    char *before = read_path("a/config.yaml", NULL), *after = read_path("b/config.yaml", NULL);
    cr_expect_str_eq(before, after);
    free(before);
    free(after);
    remove_folder("a");
    remove_folder("b");
  }
}

/* A comma before the decimals, and an i whose capital is another. */
Test(same_bytes, matrix__locales) {
  static const char *const locales[] = {"de_DE", "tr_TR"};
  size_t there = 0;
  run_small("plain", NULL, NULL, "LC_ALL=C");
  for (size_t l = 0; l < RS_COUNT(locales); l++) {
    char words[32];
    if (!has_locale(locales[l])) continue;
    there++;
    snprintf(words, sizeof words, "LC_ALL=%s.UTF-8", locales[l]);
    run_small("local", NULL, NULL, words);
    expect_same_csv("plain", "local", words);
    char *text = read_path("local/summary.csv", NULL);
    cr_expect_not_null(strstr(text, "1.5625"));
    free(text);
    remove_folder("local");
    for (size_t i = 0; i < RS_COUNT(matrices); i++) {
      write_file("m.yaml", matrices[i]);
      run_matrix("one", "1", "LC_ALL=C");
      run_matrix("other", "2", words);
      expect_matrix(words);
      remove_folder("one");
    }
  }
  if (there == 0) cr_skip_test("no locale can be made here");
}
