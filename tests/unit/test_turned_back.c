/* test_turned_back.c: dumps of queries and keys that were rotated: turned back, they give what the rows before rotation
 * give; by the encoding's own rotation for many methods, by complex numbers for one; and what cannot be turned back. */
#include <complex.h>
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../fixtures/runs.h"

TestSuite(turned_back, .init = enter_folder, .fini = leave_folder);

enum { TOKENS = 40, HEADS = 4, KEY_HEADS = 2, DIMS = 8 };

#define MODEL "model: {name: m, heads: 4, head_dim: 8, train_length: 16, rope_theta: 100}\n"
#define REST                                                                                                           \
  "methods: [rope, {name: yarn, factor: 4}, alibi]\nlengths: [24, 40]\nqueries: all\nheads: all\n"                     \
  "engine: {scores: f64, epsilon: 0}\nmetrics: [entropy, sink_mass, score_by_distance]\n"

typedef struct dump {
  double rows[TOKENS * HEADS * DIMS];
  size_t heads;
} dump;

static double *row_of(dump *d, size_t token, size_t head) {
  return d->rows + (token * d->heads + head) * DIMS;
}

static dump fill(size_t heads, double phase) {
  dump d = {.heads = heads};
  for (size_t i = 0; i < TOKENS * heads * DIMS; i++) d.rows[i] = 1.5 * sin(phase + 2.7 * (double)i + (double)(i % 7));
  return d;
}

static void write_dump(const char *path, dump *d, bool wide) {
  rs_array array = {
      .rank = 3, .shape = {TOKENS, d->heads, DIMS}, .count = TOKENS * d->heads * DIMS, .numbers = d->rows};
  cr_assert_eq(rs_npy_write(path, &array, wide, NULL), RS_OK);
}

static void write_plain(void) {
  dump q = fill(HEADS, 0), k = fill(KEY_HEADS, 1);
  write_dump("q.npy", &q, true);
  write_dump("k.npy", &k, true);
}

/* ---- turning and comparing --------------------------------------------------------------------------------------- */

static rs_encoding *encode(const char *tokens, const char *recipe, size_t length, const rs_precision *precision) {
  char yaml[512];
  rs_experiment *experiment;
  rs_encoding *encoding;
  rs_recipe resolved;
  rs_problems problems = {0};
  rs_err err = {0};
  snprintf(yaml, sizeof yaml, MODEL "%smethods: [%s]\n", tokens, recipe);
  cr_assert_eq(rs_config_read(yaml, "t.yaml", (rs_config_edits){0}, &experiment, &problems, &err), RS_OK, "%s",
               rs_text_string(&problems.text));
  cr_assert_eq(rs_experiment_recipe(experiment, 0, 0, &resolved, &err), RS_OK);
  cr_assert_eq(
      rs_encoding_create(&resolved, &experiment->models[0], length, &experiment->tokens, precision, &encoding, &err),
      RS_OK, "%s", err.message);
  rs_recipe_clear(&resolved);
  rs_experiment_free(experiment);
  return encoding;
}

static void turn_dump(const rs_encoding *encoding, rs_side side, size_t from, dump *d) {
  for (size_t n = 0; n < TOKENS; n++)
    for (size_t h = 0; h < d->heads; h++)
      rs_encoding_rotate_token(encoding, side, 0, from + n, row_of(d, n, h), row_of(d, n, h));
}

static void write_turned(const char *tokens, const char *recipe, size_t from, const rs_precision *precision,
                         bool wide) {
  dump q = fill(HEADS, 0), k = fill(KEY_HEADS, 1);
  rs_encoding *encoding = encode(tokens, recipe, from + TOKENS, precision);
  turn_dump(encoding, RS_QUERY_SIDE, from, &q);
  turn_dump(encoding, RS_KEY_SIDE, from, &k);
  write_dump("rq.npy", &q, wide);
  write_dump("rk.npy", &k, wide);
  rs_encoding_free(encoding);
}

/* The largest difference of any number in two tables, and rows of all cells. */
static double difference(const char *name, size_t least_rows) {
  rs_table *a = read_table("plain", name), *b = read_table("turned", name);
  double most = 0;
  cr_assert_eq(a->rows, b->rows);
  cr_assert_geq(a->rows, least_rows);
  for (size_t i = 0; i < a->rows * a->columns; i++) {
    double x, y;
    bool number = rs_number_read(a->fields[i], &x);
    if (!number || strcmp(a->fields[i], b->fields[i]) == 0) continue;
    cr_assert(rs_number_read(b->fields[i], &y), "%s, not %s", b->fields[i], a->fields[i]);
    most = fmax(most, fabs(x - y));
  }
  rs_table_free(a);
  rs_table_free(b);
  return most;
}

/* What the rows of rq.npy and rk.npy come to beside those of q.npy and k.npy. */
static double compare(const char *tokens, const char *rotated) {
  char yaml[1024];
  snprintf(yaml, sizeof yaml, MODEL "%s" REST "sources: [{name: tensors, q: q.npy, k: k.npy}]\n", tokens);
  run(yaml, "plain");
  snprintf(yaml, sizeof yaml, MODEL "%s" REST "sources: [{name: tensors, label: tensors, q: rq.npy, k: rk.npy, %s}]\n",
           tokens, rotated);
  cr_assert_eq(run(yaml, "turned").failed, 0, "%s", rotated);
  return fmax(difference("summary.csv", 6), difference("score_by_distance.csv", 24));
}

#define PICTURE "tokens: [{text: 5}, {image: [3, 4]}, {text: 3}]\n"

Test(turned_back, methods__turned_and_turned_back__are_what_they_were) {
  static const struct {
    const char *tokens, *recipe;
    size_t from;
  } cases[] = {
      {"", "rope", 0},
      {"", "{name: rope, pair_layout: interleaved}", 0},
      {"", "{name: rope, rotary_dim: 4}", 7},
      {"", "{name: pi, factor: 4}", 1000},
      {"", "{name: yarn, factor: 8}", 3},
      {"", "dynamic_ntk", 60},
      {"", "{name: xpos}", 0},
      {"", "random_rope", 0},
      {PICTURE, "{name: mrope, mrope_section: [2, 1, 1]}", 0},
  };
  write_plain();
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char rotated[256];
    snprintf(rotated, sizeof rotated, "rotated: %s, rotated_from: %zu", cases[i].recipe, cases[i].from);
    write_turned(cases[i].tokens, cases[i].recipe, cases[i].from, NULL, true);
    cr_expect_lt(compare(cases[i].tokens, rotated), 1e-12, "%s", cases[i].recipe);
    cr_expect_gt(compare(cases[i].tokens, "rotated: no"), 1e-3, "%s turns nothing", cases[i].recipe);
    write_turned(cases[i].tokens, cases[i].recipe, cases[i].from, NULL, false);
    cr_expect_lt(compare(cases[i].tokens, rotated), 1e-5, "%s in float32", cases[i].recipe);
  }
}

/* Where angles are rounded to float, the same rounding undoes them; cosines may be shorter still. */
Test(turned_back, short_formats__are_undone_by_their_own) {
  static const struct {
    const char *word;
    rs_precision precision;
  } cases[] = {{"f32", {RS_F32, RS_F32, RS_F32, RS_F32, false}}, {"bf16", {RS_F32, RS_F32, RS_F32, RS_BF16, false}}};
  write_plain();
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char rotated[128];
    write_turned("", "rope", 100000, &cases[i].precision, true);
    snprintf(rotated, sizeof rotated, "rotated: rope, rotated_from: 100000, rotated_precision: %s", cases[i].word);
    cr_expect_lt(compare("", rotated), 1e-12, "%s", cases[i].word);
    cr_expect_gt(compare("", "rotated: rope, rotated_from: 100000"), 1e-6, "%s", cases[i].word);
  }
}

/* As papers have it, pairs in halves as complex numbers; 0.1 ln 4 + 1 is YaRN's factor on cosines and sines, which the
 * frequencies of pi stand beside here. */
Test(turned_back, complex_numbers__turned_by_hand__are_what_they_were) {
  double factor = 0.1 * log(4) + 1;
  for (int side = 0; side < 2; side++) {
    dump d = fill(side == 0 ? HEADS : KEY_HEADS, side);
    for (size_t n = 0; n < TOKENS; n++)
      for (size_t h = 0; h < d.heads; h++)
        for (size_t j = 0; j < DIMS / 2; j++) {
          double *row = row_of(&d, n, h), angle = (double)(n + 9) * pow(100, -2.0 * (double)j / DIMS);
          double complex z = (row[j] + I * row[j + DIMS / 2]) * factor * cexp(I * angle);
          row[j] = creal(z);
          row[j + DIMS / 2] = cimag(z);
        }
    write_dump(side == 0 ? "rq.npy" : "rk.npy", &d, true);
  }
  char rotated[128];
  snprintf(rotated, sizeof rotated, "rotated: {name: yarn, factor: 1, attention_factor: %.17g}, rotated_from: 9",
           factor);
  write_plain();
  cr_expect_lt(compare("", rotated), 1e-12);
}

/* ---- in configs -------------------------------------------------------------------------------------------------- */

/* What the model publishes; a list is an axis; a resolved config gives the same again. */
Test(turned_back, run__published_and_swept__and_again) {
  static const char yaml[] = "model: {name: m, heads: 4, head_dim: 8, train_length: 16, rope_theta: 100, published: "
                             "{name: yarn, factor: 8}}\n" REST
                             "sources: [{name: tensors, q: rq.npy, k: rk.npy, rotated: [published, {name: yarn}, "
                             "{name: yarn, factor: 4}]}]\n";
  write_turned("", "{name: yarn, factor: 8}", 0, NULL, true);
  cr_assert_eq(run(yaml, "a").failed, 0);
  rs_table *a = read_table("a", "summary.csv");
  cr_assert_eq(a->rows, 3 * 6);
  cr_expect_str_eq(field(a, 0, "source"), "tensors rotated=published");
  cr_expect_str_eq(field(a, 0, "rotated"), "published");
  cr_expect_str_eq(field(a, 1, "rotated"), "{name: yarn}");
  cr_expect_str_eq(field(a, 2, "rotated"), "{name: yarn, factor: 4}");
  cr_expect_str_eq(field(a, 0, "entropy_nats"), field(a, 1, "entropy_nats"), "yarn is as the model publishes it");
  cr_expect_str_neq(field(a, 0, "entropy_nats"), field(a, 2, "entropy_nats"));
  size_t length;
  char *again = read_path("a", "config.yaml", &length);
  run(again, "b");
  rs_table *b = read_table("b", "summary.csv");
  for (size_t i = 0; i < a->rows; i++) expect_same_row(b, i, a, i, 0, "resolved");
  rs_table_free(a);
  rs_table_free(b);
  free(again);
}

/* One model publishes nothing: it is never asked where sources and models go in step. */
Test(turned_back, run__zipped_with_models__asks_each_for_its_own) {
  write_turned("", "{name: yarn, factor: 8}", 0, NULL, true);
  write_plain();
  static const char yaml[] =
      "model: [{name: a, heads: 4, head_dim: 8, train_length: 16, published: {name: yarn, factor: 8}}, {name: b, "
      "heads: "
      "4, head_dim: 8, train_length: 16}]\nzip: [model, sources]\n" REST
      "sources: [{name: tensors, q: rq.npy, k: rk.npy, rotated: published}, {name: tensors, q: q.npy, k: k.npy}]\n";
  cr_expect_eq(run(yaml, "out").failed, 0);
}

Test(turned_back, what_cannot_be_turned_back__is_refused_with_its_reason) {
  static const struct {
    const char *entry, *message;
  } cases[] = {
      {"rotated: sinusoidal", "rotated = sinusoidal: sinusoidal adds its table to the tokens, before anything is "
                              "projected: what it has put on queries and keys cannot be told from the rest"},
      {"rotated: alibi", "rotated = alibi: alibi turns nothing: the rows are as they were (rotated: no)"},
      {"rotated: self_extend", "self_extend turns each row in 2 ways: one dump cannot hold them"},
      {"rotated: published", "is for models that publish a recipe, m does not (name it: rotated: rope)"},
      {"rotated: yarm", "rotated = yarm: is no method (did you mean yarn?)"},
      {"rotated: {name: yarn, factor: [2, 4]}", "must be one method, without lists of values"},
      {"rotated: {name: rope, rotary_dim: 16}", "rotary_dim: exceeds the model's head_dim = 8"},
      {"rotated_from: 3", "has no effect with rotated: no (leave it out, or say what has turned the rows)"},
      {"rotated_precision: f32", "has no effect with rotated: no (leave it out, or say what has turned the rows)"},
  };
  write_plain();
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char yaml[1024];
    rs_run_summary summary;
    rs_problems problems = {0};
    rs_err err = {0};
    snprintf(yaml, sizeof yaml, MODEL REST "sources: [{name: tensors, q: q.npy, k: k.npy, %s}]\n", cases[i].entry);
    cr_expect_eq(attempt(yaml, "out", &summary, &problems, &err), RS_INPUT, "%s", cases[i].entry);
    cr_expect_not_null(strstr(rs_text_string(&problems.text), cases[i].message), "%s\n%s",
                       rs_text_string(&problems.text), cases[i].message);
    rs_problems_clear(&problems);
  }
}

/* Pictures have places of their own, which a part of a text has not. */
Test(turned_back, part_of_a_text_with_pictures__fails_its_cells) {
  write_plain();
  static const char yaml[] =
      MODEL PICTURE REST "sources: [{name: tensors, q: q.npy, k: k.npy, rotated: rope, rotated_from: 1}]\n";
  cr_assert_eq(run(yaml, "out").failed, 6);
  rs_table *t = read_table("out", "summary.csv");
  cr_expect_str_eq(field(t, 0, "message"),
                   "rotated_from: is for text: the positions of `tokens` begin at the first row");
  rs_table_free(t);
}
