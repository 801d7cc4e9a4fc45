/* test_same_bytes.c: runs that must give the same bytes. */
#include "../fixtures/program.h"

#include <locale.h>

TestSuite(same_bytes, .init = enter_folder, .fini = leave_folder);

Test(same_bytes, run__same_bytes_for_any_number_of_threads) {
  static const char *const counts[] = {"2", "3", "8"};
  run_small("t1", "--threads", "1", NULL);
  for (size_t i = 0; i < RS_COUNT(counts); i++) {
    char environment[32];
    snprintf(environment, sizeof environment, "OMP_NUM_THREADS=%s", counts[i]);
    run_small("t", "--threads", counts[i], NULL);
    expect_same_csv("t1", "t", counts[i]);
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

/* A German locale, made here where the system has what localedef reads (Debian: the package locales). */
static bool has_german_locale(void) {
  if (system("localedef --no-archive -i de_DE -f UTF-8 ./de_DE.UTF-8 >/dev/null 2>&1") == 0)
    setenv("LOCPATH", folder, 1);
  locale_t german = newlocale(LC_ALL_MASK, "de_DE.UTF-8", NULL);
  if (german != NULL) freelocale(german);
  return german != NULL;
}

Test(same_bytes, run__comma_locale_same_bytes) {
  if (!has_german_locale()) cr_skip_test("there is no German locale here");
  run_small("c", NULL, NULL, "LC_ALL=C");
  run_small("g", NULL, NULL, "LC_ALL=de_DE.UTF-8");
  expect_same_csv("c", "g", "LC_ALL=de_DE.UTF-8");
  char *text = read_path("g/summary.csv", NULL);
  cr_expect_not_null(strstr(text, "1.5625"));
  free(text);
}
