/* test_config_mistakes.c: hostile configs and many mistakes at once. Messages are compared whole, since they are
 * what a user sees. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../fixtures/reading.h"
#include "../fixtures/work.h"
#include "run/run.h"

/* Comparisons of texts by what the reading is of, no more than `most` for each; the time is printed. */
static void expect_work(const char *what, size_t values, size_t most, clock_t start) {
  double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
  cr_expect_leq(comparisons, most * values, "%s: %zu comparisons for %zu values", what, comparisons, values);
  cr_log_info("%s: %zu comparisons for %zu values, %g s", what, comparisons, values, seconds);
}

Test(messages, hostile_size__refused_at_once) {
  static const struct {
    const char *begin, *part;
    size_t times;
    const char *end, *message;
  } cases[] = {
      {"model: ", "[", 20000, "\n", "t.yaml:1:39: nested deeper than 32 levels (a config needs 6)"},
      {"", "- ", 20000, "a\n", "t.yaml:1:65: nested deeper than 32 levels (a config needs 6)"},
      {"", "{a: ", 20000, "\n", "t.yaml:1:129: nested deeper than 32 levels (a config needs 6)"},
      {LLAMA "seeds: [", "1,", 100001, "]\n", "t.yaml:2:200003: more than 100000 values (split the file)"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    clock_t start = clock();
    comparisons = 0;
    char *yaml = repeated(cases[i].begin, cases[i].part, cases[i].times, cases[i].end);
    reading got = read_edited(yaml, NULL, 0);
    expect_work(cases[i].begin, cases[i].times, 1, start);
    cr_expect_str_eq(message_of(&got), cases[i].message, "%s", message_of(&got));
    reading_clear(&got);
    free(yaml);
  }
}

/* 100,000 keys with a root that is one more node than allowed, and just as many as fit. */
Test(messages, a_hundred_thousand_keys__few_comparisons_of_each) {
  static const struct {
    size_t keys;
    const char *message;
    size_t problems;
  } cases[] = {{100000, "t.yaml:100000:9: more than 100000 values (split the file)", 0},
               {99999, "t.yaml: 100000 problems", 100000}};
  for (size_t c = 0; c < RS_COUNT(cases); c++) {
    rs_text yaml = {0};
    for (size_t i = 0; i < cases[c].keys; i++) rs_text_printf(&yaml, "k%05zu: 1\n", i);
    clock_t start = clock();
    comparisons = 0;
    reading got = read_edited(yaml.data, NULL, 0);
    expect_work("keys", cases[c].keys, 5 * 20, start); /* 20: log2 of them, rounded up */
    cr_expect_str_eq(got.err.message, cases[c].message, "%s", got.err.message);
    cr_expect_eq(got.problems.count, cases[c].problems, "%zu", got.problems.count);
    reading_clear(&got);
    rs_text_clear(&yaml);
  }
}

/* Numbers of a list are not compared with each other; variants are, for each has a label of its own. */
Test(messages, long_lists__few_comparisons_of_each) {
  static const struct {
    const char *begin, *end;
    size_t count, most;
  } cases[] = {{LLAMA "lengths: [", "]\n", 20000, 1},
               {LLAMA "seeds: [", "]\n", 10000, 1},
               {LLAMA "methods: {name: pi, factor: [", "]}\n", 3000, 3 * 3000},
               {LLAMA "heads: 1\ntokens: [{text: 1}]\nsources: {name: gaussian, sd: [", "]}\n", 1000, 3 * 1000}};
  for (size_t c = 0; c < RS_COUNT(cases); c++) {
    rs_text yaml = {0};
    rs_text_puts(&yaml, cases[c].begin);
    for (size_t i = 1; i <= cases[c].count; i++) rs_text_printf(&yaml, "%s%zu", i > 1 ? ", " : "", i);
    rs_text_puts(&yaml, cases[c].end);
    clock_t start = clock();
    comparisons = 0;
    rs_experiment_free(good(yaml.data));
    expect_work(cases[c].begin, cases[c].count, cases[c].most, start);
    rs_text_clear(&yaml);
  }
}

Test(messages, too_many_combinations__refused) {
  rs_text yaml = {0};
  rs_text_puts(&yaml, LLAMA "methods:\n  - name: yarn\n");
  for (int key = 0; key < 2; key++) {
    rs_text_puts(&yaml, key == 0 ? "    factor: [" : "]\n    beta_fast: [");
    for (int i = 0; i < 101; i++) rs_text_printf(&yaml, "%s%d", i > 0 ? ", " : "", 2 + i);
  }
  rs_text_puts(&yaml, "]\n");
  expect_message(yaml.data, NULL, 0, "t.yaml:3:5: methods[0] = {...}: makes more than 10000 combinations");
  rs_text_clear(&yaml);
}

/* Unknown keys and wrong values are counted by ways of their own: both in turn. */
static void expect_shown(size_t mistakes, bool keys) {
  rs_text yaml = {0}, want = {0};
  char total[64];
  rs_text_puts(&yaml, keys ? LLAMA "methods:\n  - name: nope\n" : LLAMA "heads:\n");
  for (size_t i = 0; i < mistakes; i++) {
    rs_text_printf(&yaml, keys ? "    q%02zu: 1\n" : "  - x%zu\n", i);
    if (i < 20 && keys)
      rs_text_printf(&want,
                     "%st.yaml:%zu:5: methods[0].q%02zu: nope has no key q%02zu (it has name, label, zip, "
                     "train_length, logit_scale, logit_scale_factor, logit_scale_length, dialect)",
                     i > 0 ? "\n" : "", i + 4, i, i);
    else if (i < 20)
      rs_text_printf(&want, "%st.yaml:%zu:5: heads[%zu] = x%zu: must be a number", i > 0 ? "\n" : "", i + 3, i, i);
  }
  if (mistakes > 20) rs_text_printf(&want, "\n... and %zu more", mistakes - 20);
  snprintf(total, sizeof total, "t.yaml: %zu problems", mistakes);
  reading got = read_edited(yaml.data, NULL, 0);
  cr_expect_str_eq(message_of(&got), want.data, "%zu mistakes:\n%s", mistakes, message_of(&got));
  cr_expect_str_eq(got.err.message, total, "%s", got.err.message);
  cr_expect_eq(got.problems.count, mistakes);
  reading_clear(&got);
  rs_text_clear(&yaml);
  rs_text_clear(&want);
}

Test(messages, more_than_20_problems__20_shown_and_the_rest_counted) {
  for (size_t mistakes = 19; mistakes <= 25; mistakes++) {
    expect_shown(mistakes, true);
    expect_shown(mistakes, false);
  }
}

Test(messages, several_mistakes__all_in_one_go) {
  expect_message(
      "name: a b\nmodel: lama-2-7b\nmethods: [yarm, {name: pi, factor: 1e999}]\nlengths: [0]\nsedes: 3\n", NULL, 0,
      "t.yaml:5:1: sedes: a config has no key sedes (did you mean seeds?)\n"
      "t.yaml:1:7: name = a b: may hold letters, digits, '.', '_' and '-' only: it names the results folder\n"
      "t.yaml:2:8: model = lama-2-7b: is no model preset (did you mean llama-2-7b?)\n"
      "t.yaml:4:11: lengths[0] = 0: must be from 1 to 268435456\n"
      "t.yaml:3:11: methods[0] = yarm: is no method (did you mean yarn?)\n"
      "t.yaml:3:36: methods[1].factor = 1e999: is too large (the largest double is 1.8e308)");
}

/* Whatever the config holds: one line a problem, and nothing that would steer a terminal. */
Test(messages, hostile_text__one_printable_line_each) {
  static const char *const yaml[] = {
      LLAMA "\"a\\nb\": 1\n",
      LLAMA "\"a\\e[31mb\": 1\n",
      LLAMA "seeds: \"a\\nb\\x07\"\n",
      LLAMA "name: \"a\\nb\"\n",
      LLAMA "methods: [\"ro\\npe\"]\n",
      LLAMA "methods: [{name: pi, \"fac\\ntor\": 2}]\n",
      LLAMA "methods: [{name: pi, label: \"a\\nb\", factor: [2, 2]}]\n",
      LLAMA "mask: {\"win\\ndow\": 2, window: 3}\n",
      LLAMA "heads: {\"a\\nb\": 2}\n",
      LLAMA "columns: [\"a\\nb\"]\n",
      "model: {hf: \"no\\nfile\"}\n",
      "model: \"a\\nb\"\n",
      "model: [{preset: gpt2, name: \"a\\nb\"}, {preset: gpt2, name: \"a\\nb\"}]\n",
  };
  for (size_t i = 0; i < RS_COUNT(yaml); i++) {
    reading got = read_edited(yaml[i], NULL, 0);
    const char *text = message_of(&got);
    cr_expect_eq(got.err.status, RS_INPUT, "%s", yaml[i]);
    size_t lines = 1;
    for (const char *c = text; *c != '\0'; c++) {
      lines += *c == '\n';
      cr_expect((unsigned char)*c >= 0x20 || *c == '\n', "%s: control character %d in: %s", yaml[i], *c, text);
      if (c == text || c[-1] == '\n')
        cr_expect_eq(strncmp(c, "t.yaml:", 7), 0, "%s: broken line in: %s", yaml[i], text);
    }
    cr_expect_eq(lines, got.problems.count, "%s: %zu lines for %zu problems: %s", yaml[i], lines, got.problems.count,
                 text);
    reading_clear(&got);
  }
}

/* A file with two mistakes is two problems, or one in one line. */
Test(messages, hf_file_with_two_mistakes__one_line_each) {
  static const char json[] = "{\"num_attention_heads\": 0, \"hidden_size\": -1}";
  char name[] = "/tmp/ropescope-config-XXXXXX", yaml[128];
  FILE *file = fdopen(mkstemp(name), "w");
  cr_assert_not_null(file);
  fputs(json, file);
  fclose(file);
  snprintf(yaml, sizeof yaml, "model: {hf: %s}\n", name);
  reading got = read_edited(yaml, NULL, 0);
  unlink(name);
  cr_expect_eq(got.err.status, RS_INPUT);
  size_t lines = 1;
  for (const char *c = strchr(message_of(&got), '\n'); c != NULL; c = strchr(c + 1, '\n'), lines++)
    cr_expect_eq(strncmp(c + 1, "t.yaml:", 7), 0, "broken line in: %s", message_of(&got));
  cr_expect_eq(lines, got.problems.count, "%zu lines for %zu problems: %s", lines, got.problems.count,
               message_of(&got));
  reading_clear(&got);
}

Test(messages, file_that_cannot_be_read__its_name) {
  reading got = {0};
  rs_status status =
      rs_config_load("/nonexistent/a.yaml", (rs_config_edits){0}, &got.experiment, &got.problems, &got.err);
  cr_expect_eq(status, RS_IO);
  cr_expect_null(got.experiment);
  cr_expect_str_eq(got.err.message, "/nonexistent/a.yaml: cannot read: No such file or directory");
  reading_clear(&got);
}
