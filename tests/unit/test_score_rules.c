/* test_score_rules.c: what heads do to their scores besides the common formula, on queries and keys from files: another
 * scale, soft caps and learned sinks, by the plain formula and where they are given wrongly. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../fixtures/runs.h"

TestSuite(score_rules, .init = enter_folder, .fini = leave_folder);

enum { TOKENS = 9, HEADS = 2, DIMS = 4 };

static const double sinks[HEADS] = {-0.5, 2};

static double content(size_t token, size_t head, size_t dim, double phase) {
  return 1.5 * sin(phase + 3.7 * (double)token + 1.3 * (double)head + 0.9 * (double)dim * (double)(dim + token));
}

static void write_array(const char *path, size_t rank, const size_t *shape, const double *numbers) {
  rs_array array = {.rank = rank, .count = 1, .numbers = (double *)numbers};
  for (size_t i = 0; i < rank; i++) array.count *= array.shape[i] = shape[i];
  cr_assert_eq(rs_npy_write(path, &array, true, NULL), RS_OK);
}

static void write_files(void) {
  double q[TOKENS * HEADS * DIMS], k[TOKENS * HEADS * DIMS];
  for (size_t i = 0; i < TOKENS * HEADS * DIMS; i++) {
    q[i] = content(i / (HEADS * DIMS), i / DIMS % HEADS, i % DIMS, 0);
    k[i] = content(i / (HEADS * DIMS), i / DIMS % HEADS, i % DIMS, 2);
  }
  write_array("q.npy", 3, (size_t[]){TOKENS, HEADS, DIMS}, q);
  write_array("k.npy", 3, (size_t[]){TOKENS, HEADS, DIMS}, k);
  write_array("sinks.npy", 1, (size_t[]){HEADS}, sinks);
}

/* Of the last query, by the plain formula: ALiBi's bias comes after the cap. */
typedef struct plain_row {
  double entropy, learned, nearest; /* nearest: the weight of the last two keys */
} plain_row;

static plain_row plain(size_t head, double scale, double cap, bool sunk) {
  double slope = pow(2, -4.0 * (double)(head + 1)), sum = sunk ? exp(sinks[head]) : 0, logits[TOKENS], mean = 0,
         last = 0;
  for (size_t n = 0; n < TOKENS; n++) {
    double dot = 0;
    for (size_t d = 0; d < DIMS; d++) dot += content(TOKENS - 1, head, d, 0) * content(n, head, d, 2);
    double score = cap != 0 ? cap * tanh(scale * dot / cap) : scale * dot;
    logits[n] = score - slope * (double)(TOKENS - 1 - n);
    sum += exp(logits[n]);
  }
  for (size_t n = 0; n < TOKENS; n++) {
    mean += exp(logits[n]) / sum * logits[n];
    if (n + 2 >= TOKENS) last += exp(logits[n]) / sum;
  }
  double learned = sunk ? exp(sinks[head]) / sum : 0;
  return (plain_row){log(sum) - mean - (sunk ? learned * sinks[head] : 0), learned, last};
}

#define HEAD                                                                                                           \
  "model: {name: m, heads: 2, head_dim: 4, train_length: 9}\nlengths: [9]\nheads: {each: all}\nmethods: [alibi]\n"     \
  "queries: {last: 1}\nengine: {scores: f64, epsilon: 0}\n"

static void check(const char *rule, const char *metrics, double scale, double cap, bool sunk) {
  char yaml[1024];
  snprintf(yaml, sizeof yaml, HEAD "metrics: %s\nsources: [{name: tensors, q: q.npy, k: k.npy%s}]\n", metrics, rule);
  run(yaml, "out");
  rs_table *t = read_table("out", "summary.csv");
  cr_assert_eq(t->rows, HEADS);
  for (size_t h = 0; h < HEADS; h++) {
    plain_row want = plain(h, scale, cap, sunk);
    double got = strtod(field(t, h, "entropy_nats"), NULL);
    cr_expect(fabs(got - want.entropy) < 1e-12, "%s, head %zu: %.15g, not %.15g", rule, h, got, want.entropy);
    if (rs_table_column(t, "local_mass") < 0) continue;
    cr_expect(fabs(strtod(field(t, h, "learned_sink_mass"), NULL) - want.learned) < 1e-13, "%s, head %zu", rule, h);
    cr_expect(fabs(strtod(field(t, h, "local_mass"), NULL) - want.nearest) < 1e-13, "%s, head %zu", rule, h);
    cr_expect(fabs(strtod(field(t, h, "rest_mass"), NULL) -
                   (1 - want.learned - want.nearest - strtod(field(t, h, "first_keys_mass"), NULL))) < 1e-13);
  }
  rs_table_free(t);
}

/* Sinks by panels and by whole rows. */
Test(score_rules, rows__of_scaled_capped_and_sunk_scores__as_by_the_plain_formula) {
#define PARTS "[entropy, {name: segment_mass, local: 2, sinks: 1}]"
  write_files();
  check("", "[entropy]", 0.5, 0, false);
  check(", score_scale: 0.5", PARTS, 0.5, 0, false);
  check(", score_scale: 0.2", "[entropy]", 0.2, 0, false);
  check(", soft_cap: 1.5", "[entropy]", 0.5, 1.5, false);
  check(", soft_cap: 0.7, score_scale: 1", PARTS, 1, 0.7, false);
  check(", sinks: sinks.npy", "[entropy]", 0.5, 0, true);
  check(", sinks: sinks.npy", PARTS, 0.5, 0, true);
  check(", sinks: sinks.npy, soft_cap: 2", PARTS, 0.5, 2, true);
}

Test(score_rules, sinks_of_another_number_of_heads__are_refused) {
  rs_run_summary summary;
  rs_problems problems = {0};
  rs_err err = {0};
  write_files();
  write_array("sinks.npy", 1, (size_t[]){3}, (double[]){1, 2, 3});
  cr_assert_neq(attempt(HEAD "metrics: [entropy]\nsources: [{name: tensors, q: q.npy, k: k.npy, sinks: sinks.npy}]\n",
                        "out", &summary, &problems, &err),
                RS_OK);
  cr_expect_not_null(strstr(rs_text_string(&problems.text), "sinks.npy: has shape (3,), the model has 2 heads"), "%s",
                     rs_text_string(&problems.text));
  rs_problems_clear(&problems);
}
