/* test_tensors_source.c: queries and keys from files: what is read of them in every form, what rows come to under an
 * encoding, and files that do not fit. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../fixtures/bound.h"
#include "../fixtures/npy.h"
#include "../fixtures/runs.h"
#include "attention/attention.h"

TestSuite(tensors_source, .init = enter_folder, .fini = leave_folder);

enum { TOKENS = 6, HEADS = 4, KEY_HEADS = 2, DIMS = 4, MOST = 2 * TOKENS * HEADS * DIMS };

/* Whole numbers below 256, which every float type holds, each in one place. */
static double code(size_t token, size_t head, size_t dim) {
  return (double)((token * HEADS + head) * DIMS + dim);
}

/* A file's numbers and shape: tokens first or heads first, with a batch of one before them or without. */
typedef struct rows_file {
  double numbers[MOST];
  size_t shape[4], rank, count;
} rows_file;

static rows_file fill(size_t heads, double sign, bool tokens_first, bool batch) {
  rows_file f = {.shape = {1}, .rank = batch ? 4 : 3, .count = TOKENS * heads * DIMS};
  size_t *shape = f.shape + batch, i = 0;
  shape[0] = tokens_first ? TOKENS : heads;
  shape[1] = tokens_first ? heads : TOKENS;
  shape[2] = DIMS;
  for (size_t a = 0; a < shape[0]; a++)
    for (size_t b = 0; b < shape[1]; b++)
      for (size_t d = 0; d < DIMS; d++) f.numbers[i++] = sign * code(tokens_first ? a : b, tokens_first ? b : a, d);
  return f;
}

static void write_npy(const char *path, const rows_file *f, bool wide) {
  rs_array array = {.rank = f->rank, .count = f->count, .numbers = (double *)f->numbers};
  memcpy(array.shape, f->shape, sizeof f->shape);
  cr_assert_eq(rs_npy_write(path, &array, wide, NULL), RS_OK);
}

static void write_tensors(const char *path, const rows_file *q, const rows_file *k, rs_dtype dtype) {
  const rs_tensor_numbers tensors[] = {
      {.name = "other", .dtype = dtype, .rank = 1, .shape = (size_t[]){1}, .doubles = q->numbers},
      {.name = "q", .dtype = dtype, .rank = q->rank, .shape = q->shape, .doubles = q->numbers},
      {.name = "k", .dtype = dtype, .rank = k->rank, .shape = k->shape, .doubles = k->numbers},
  };
  rs_err err = {0};
  cr_assert_eq(rs_safetensors_write(path, tensors, RS_COUNT(tensors), &err), RS_OK, "%s", err.message);
}

/* Queries are times sqrt(4), for a score_scale of 1; what stands behind a row is another's. */
static void check_head(const rs_source_kind *kind, const rs_source_in *in, const char *what) {
  double row[DIMS + 1], all_keys[TOKENS * DIMS];
  row[DIMS] = 7;
  kind->keys(in, 1, in->length, all_keys);
  for (size_t n = 0; n < in->length; n++) {
    kind->query(in, n, row);
    for (size_t d = 0; d < DIMS; d++) {
      cr_expect_eq(row[d], 2 * code(n, in->head, d), "%s: query %zu of head %zu", what, n, in->head);
      if (n > 0) cr_expect_eq(all_keys[(n - 1) * DIMS + d], -code(n, in->head / 2, d), "%s: key %zu", what, n);
    }
  }
  cr_expect_eq(row[DIMS], 7, "%s: head %zu", what, in->head);
}

/* Every head, at the whole length and at a shorter one; keys are asked for from the second on. */
static void check_files(const char *q, const char *k, const char *layout) {
  const rs_source_kind *kind = rs_source_find("tensors");
  bound_params parameters;
  bound_make(&parameters, &kind->kind);
  bound_set(&parameters, "q", q);
  bound_set(&parameters, "k", k);
  bound_set(&parameters, "layout", layout);
  bound_set(&parameters, "score_scale", "1");
  rs_err err = {0};
  const rs_model model = {.heads = HEADS, .head_dim = DIMS};
  cr_assert_eq(kind->fit(&parameters.binding, &model, NULL, &err), RS_OK, "%s", err.message);
  for (size_t head = 0; head < HEADS; head++)
    for (size_t length = TOKENS - 2; length <= TOKENS; length += 2) {
      rs_source_in in = {parameters.binding.fields, .head = head, .heads = HEADS, .head_dim = DIMS, .length = length};
      cr_assert_eq(rs_source_prepare(kind, &in, &err), RS_OK, "%s", err.message);
      check_head(kind, &in, q);
      rs_source_release(kind, &in);
    }
  bound_clear(&parameters);
}

Test(tensors_source, rows__of_every_type_and_layout__are_the_file_s) {
  static const rs_dtype types[] = {RS_DTYPE_F64, RS_DTYPE_F32, RS_DTYPE_BF16, RS_DTYPE_F16};
  for (int way = 0; way < 8; way++) {
    bool tokens_first = way & 1, batch = way & 2;
    const char *layout = way & 4 ? "auto" : tokens_first ? "lhd" : "hld";
    rows_file q = fill(HEADS, 1, tokens_first, batch), k = fill(KEY_HEADS, -1, tokens_first, batch);
    write_npy("q.npy", &q, false);
    write_npy("k.npy", &k, true);
    check_files("q.npy", "k.npy", layout);
    for (size_t t = 0; t < RS_COUNT(types); t++) {
      write_tensors("both.safetensors", &q, &k, types[t]);
      check_files("both.safetensors", "both.safetensors", layout);
    }
  }
}

/* 0, 1, 2, ... in binary16, by hand. */
Test(tensors_source, rows__of_numpy_s_float16__are_the_file_s) {
  rows_file k = fill(KEY_HEADS, -1, true, false);
  unsigned char halves[MOST] = {0};
  for (unsigned i = 1; i < MOST / 2; i++) {
    unsigned exponent = 0;
    while (i >> (exponent + 1) != 0) exponent++;
    unsigned bits = (exponent + 15) << 10 | ((i << 10 >> exponent) & 1023);
    halves[2 * i] = (unsigned char)bits;
    halves[2 * i + 1] = (unsigned char)(bits >> 8);
  }
  make_npy("q.npy", 1, NPY("<f2", "False", "(6, 4, 4)"), (const char *)halves, sizeof halves);
  write_npy("k.npy", &k, false);
  check_files("q.npy", "k.npy", "auto");
}

/* ---- in runs ----------------------------------------------------------------------------------------------------- */

#define MODEL "model: {name: m, heads: 4, head_dim: 4, train_length: 4, rope_theta: 100}\n"
#define TENSORS "sources: [{name: tensors, q: q.npy, k: k.npy}]\n"
#define REST "queries: {last: 1}\nengine: {scores: f64, epsilon: 0}\nmetrics: [entropy]\n"

/* Logits that are neither all alike nor far apart. */
static double content(size_t token, size_t head, size_t dim, double phase) {
  return 1.5 * sin(phase + 3.7 * (double)token + 1.3 * (double)head + 0.9 * (double)dim * (double)(dim + token));
}

static void write_content(void) {
  rows_file q = fill(HEADS, 1, true, false), k = fill(KEY_HEADS, 1, true, false);
  for (size_t i = 0; i < q.count; i++) q.numbers[i] = content(i / (HEADS * DIMS), i / DIMS % HEADS, i % DIMS, 0);
  for (size_t i = 0; i < k.count; i++)
    k.numbers[i] = content(i / (KEY_HEADS * DIMS), i / DIMS % KEY_HEADS, i % DIMS, 2);
  write_npy("q.npy", &q, true);
  write_npy("k.npy", &k, true);
}

/* <rot(q, m), rot(k, n)> / sqrt(D) where positions are divided by s: half-split pairs as complex numbers. */
static double plain_logit(size_t head, size_t m, size_t n, double s) {
  double sum = 0;
  for (size_t j = 0; j < DIMS / 2; j++) {
    double angle = ((double)m - (double)n) / s * pow(100, -2.0 * (double)j / DIMS);
    double qa = content(m, head, j, 0), qb = content(m, head, j + DIMS / 2, 0);
    double ka = content(n, head / 2, j, 2), kb = content(n, head / 2, j + DIMS / 2, 2);
    sum += (qa * ka + qb * kb) * cos(angle) + (qa * kb - qb * ka) * sin(angle);
  }
  return sum / sqrt(DIMS);
}

static double plain_entropy(size_t head, size_t length, double s) {
  double sum = 0, mean = 0;
  for (size_t n = 0; n < length; n++) {
    double logit = plain_logit(head, length - 1, n, s);
    sum += exp(logit);
    mean += logit * exp(logit);
  }
  return log(sum) - mean / sum;
}

Test(tensors_source, run__each_head_method_and_length__as_by_the_plain_formula) {
  write_content();
  run(MODEL "lengths: [4, 6]\nheads: {each: all}\nmethods: [rope, pi]\n" TENSORS REST, "out");
  rs_table *t = read_table("out", "summary.csv");
  cr_assert_eq(t->rows, 2 * 2 * HEADS);
  for (size_t i = 0; i < t->rows; i++) {
    size_t length = strtoul(field(t, i, "length_tokens"), NULL, 10), head = strtoul(field(t, i, "heads"), NULL, 10);
    bool pi = strcmp(field(t, i, "method"), "pi") == 0;
    double want = plain_entropy(head, length, pi ? (double)length / 4 : 1);
    double got = strtod(field(t, i, "entropy_nats"), NULL);
    cr_expect(fabs(got - want) < 1e-12, "row %zu: %.15g, not %.15g", i, got, want);
  }
  rs_table_free(t);
}

/* Two layers in one file, by names that YAML must quote; what the run resolves its config to gives the same. */
Test(tensors_source, run__tensors_by_name__each_layer_and_again) {
  rows_file q = fill(HEADS, 0.01, true, false), k = fill(KEY_HEADS, 0.01, true, false),
            other = fill(HEADS, 0.02, true, false);
  const rs_tensor_numbers tensors[] = {
      {.name = "0: q", .dtype = RS_DTYPE_F32, .rank = 3, .shape = q.shape, .doubles = q.numbers},
      {.name = "1: \"q\"", .dtype = RS_DTYPE_F32, .rank = 3, .shape = q.shape, .doubles = other.numbers},
      {.name = "k", .dtype = RS_DTYPE_F32, .rank = 3, .shape = k.shape, .doubles = k.numbers},
  };
  cr_assert_eq(rs_safetensors_write("t.safetensors", tensors, RS_COUNT(tensors), NULL), RS_OK);
  run(MODEL "lengths: [6]\n" REST "sources: [{name: tensors, q: t.safetensors, k: t.safetensors, q_name: ['0: q', '1: "
            "\"q\"']}]\n",
      "a");
  rs_table *a = read_table("a", "summary.csv");
  cr_assert_eq(a->rows, 2);
  cr_expect_str_eq(field(a, 0, "source"), "tensors q_name=0: q");
  cr_expect_neq(strtod(field(a, 0, "entropy_nats"), NULL), strtod(field(a, 1, "entropy_nats"), NULL));
  size_t length;
  char *again = read_path("a", "config.yaml", &length);
  run(again, "b");
  rs_table *b = read_table("b", "summary.csv");
  for (size_t i = 0; i < a->rows; i++) expect_same_row(b, i, a, i, 0, "resolved");
  rs_table_free(a);
  rs_table_free(b);
  free(again);
}

Test(tensors_source, run__longer_than_the_file__fails_those_cells_alone) {
  write_content();
  cr_expect_eq(run(MODEL "lengths: [6, 7]\n" TENSORS REST, "out").failed, 1);
  rs_table *t = read_table("out", "summary.csv");
  cr_expect_str_eq(field(t, 0, "status"), "ok");
  cr_expect_str_eq(field(t, 1, "message"), "q.npy: has 6 tokens, the length is 7");
  rs_table_free(t);
}

/* Where the head or the length at hand does not read it, it does no harm. */
Test(tensors_source, run__number_that_is_not_finite__fails_with_its_index) {
  rows_file k = fill(KEY_HEADS, 1, true, false);
  write_content();
  k.numbers[(5 * KEY_HEADS + 1) * DIMS + 2] = NAN;
  write_npy("k.npy", &k, false);
  cr_expect_eq(run(MODEL "lengths: [5, 6]\nheads: {each: all}\n" TENSORS REST, "out").failed, 2);
  rs_table *t = read_table("out", "summary.csv");
  for (size_t i = 0; i < t->rows; i++) {
    bool bad = i >= HEADS + 2;
    cr_expect_str_eq(field(t, i, "message"), bad ? "k.npy: number 46 is not finite" : "", "row %zu", i);
  }
  rs_table_free(t);
}

/* ---- what does not fit ------------------------------------------------------------------------------------------- */

static void expect_problem(const char *yaml, const char *want) {
  rs_run_summary summary;
  rs_problems problems = {0};
  rs_err err = {0};
  cr_assert_neq(attempt(yaml, "out", &summary, &problems, &err), RS_OK, "not \"%s\"", want);
  const char *got = rs_text_string(&problems.text), *found = strstr(got, want);
  cr_expect(found != NULL && strspn(found + strlen(want), "\n") == strlen(found + strlen(want)), "got:  %s\nwant: %s",
            got, want);
  rs_problems_clear(&problems);
}

/* A file of zeros. */
static void write_shape(const char *path, size_t a, size_t b, size_t c) {
  rows_file f = {.shape = {a, b, c}, .rank = 3, .count = a * b * c};
  write_npy(path, &f, false);
}

Test(tensors_source, shapes_that_do_not_fit__are_named_with_what_is_wanted) {
  static const struct {
    size_t q[3], k[3];
    const char *layout, *message;
  } cases[] = {
      {{6, 3, 4},
       {6, 3, 4},
       "auto",
       "q.npy: has shape (6, 3, 4), the model has 4 heads of 4: wanted (tokens, 4, 4) or (4, tokens, 4)"},
      {{6, 4, 2},
       {6, 4, 2},
       "auto",
       "q.npy: has shape (6, 4, 2), the model has 4 heads of 4: wanted (tokens, 4, 4) or (4, tokens, 4)"},
      {{6, 4, 4}, {4, 6, 4}, "hld", "q.npy: has shape (6, 4, 4), the model has 4 heads of 4: wanted (4, tokens, 4)"},
      {{4, 6, 4}, {4, 6, 4}, "lhd", "q.npy: has shape (4, 6, 4), the model has 4 heads of 4: wanted (tokens, 4, 4)"},
      {{4, 4, 4}, {4, 4, 4}, "auto", "q.npy has as many tokens as heads, 4 (lhd: tokens first)"},
      {{6, 4, 4},
       {6, 3, 4},
       "auto",
       "k.npy: has shape (6, 3, 4), wanted (6, heads, 4), where heads divide the queries' 4"},
      {{4, 6, 4},
       {2, 5, 4},
       "auto",
       "k.npy: has shape (2, 5, 4), wanted (heads, 6, 4), where heads divide the queries' 4"},
      {{6, 4, 4},
       {6, 8, 2},
       "auto",
       "k.npy: has shape (6, 8, 2), wanted (6, heads, 4), where heads divide the queries' 4"},
      {{6, 4, 4},
       {6, 8, 4},
       "auto",
       "k.npy: has shape (6, 8, 4), wanted (6, heads, 4), where heads divide the queries' 4"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char yaml[512];
    write_shape("q.npy", cases[i].q[0], cases[i].q[1], cases[i].q[2]);
    write_shape("k.npy", cases[i].k[0], cases[i].k[1], cases[i].k[2]);
    snprintf(yaml, sizeof yaml,
             MODEL "lengths: [4]\n" REST "sources: [{name: tensors, q: q.npy, k: k.npy, layout: %s}]\n",
             cases[i].layout);
    expect_problem(yaml, cases[i].message);
  }
}

Test(tensors_source, files_that_cannot_be_read__are_named) {
  static const char floats[4 * 6 * 4 * 4] = {0};
  write_content();
  const rs_tensor_numbers odd = {
      .name = "keys", .dtype = RS_DTYPE_F32, .rank = 1, .shape = (size_t[]){1}, .doubles = (double[]){0}};
  cr_assert_eq(rs_safetensors_write("odd.safetensors", &odd, 1, NULL), RS_OK);
  make_npy("big.npy", 1, NPY(">f4", "False", "(6, 4, 4)"), floats, sizeof floats);
  make_npy("whole.npy", 1, NPY("<i4", "False", "(6, 4, 4)"), floats, sizeof floats);
  make_npy("cut.npy", 1, NPY("<f4", "False", "(6, 4, 4)"), floats, sizeof floats - 1);
  make_npy("beside.npy", 1, NPY("<f4", "False", "(6, 16)"), floats, sizeof floats);
  make_npy("two.npy", 1, NPY("<f4", "False", "(2, 3, 4, 4)"), floats, sizeof floats);
  make_npy("thin.npy", 1, NPY("<f4", "False", "(32, 3)"), floats, sizeof floats);
  make_npy("flat.npy", 1, NPY("<f4", "False", "(24, 4)"), floats, sizeof floats);
  static const struct {
    const char *files, *message;
  } cases[] = {
      {"q: q.npy", "sources[0] = {...}: k: must be given: the file of keys"},
      {"k: k.npy", "sources[0] = {...}: q: must be given: the file of queries"},
      {"q: big.npy, k: k.npy",
       "big.npy: holds big-endian numbers, which are not read where they are (save x.astype('<f4') of it)"},
      {"q: whole.npy, k: k.npy", "whole.npy: is I32, which is not read here (F64, F32, BF16, F16, Q8_0, Q5_0, Q5_1, "
                                 "Q4_0, Q4_1 and Q2_K to Q6_K are)"},
      {"q: cut.npy, k: k.npy", "cut.npy: holds 383 bytes of numbers where its header says 384 (is it cut off?)"},
      {"q: flat.npy, k: k.npy",
       "flat.npy: has shape (24, 4), the model has 4 heads of 4: wanted (tokens, 4, 4) or (4, tokens, 4) (it has no "
       "axis of heads: for one head, save q[:, None], whose model has heads: 1)"},
      {"q: two.npy, k: k.npy",
       "two.npy: has shape (2, 3, 4, 4), the model has 4 heads of 4: wanted (tokens, 4, 4) or (4, tokens, 4)"},
      {"q: thin.npy, k: k.npy",
       "thin.npy: has shape (32, 3), the model has 4 heads of 4: wanted (tokens, 4, 4) or (4, tokens, 4)"},
      {"q: beside.npy, k: k.npy",
       "beside.npy: has shape (6, 16), the model has 4 heads of 4: wanted (tokens, 4, 4) or (4, tokens, 4) (it has no "
       "axis of heads: save q.reshape(tokens, heads, dims), layout: lhd)"},
      {"q: q.npy, k: beside.npy",
       "beside.npy: has shape (6, 16), wanted (6, heads, 4), where heads divide the queries' 4 (it has no axis of "
       "heads: save q.reshape(tokens, heads, dims), layout: lhd)"},
      {"q: q.npy, k: k.npy, q_name: ''", "sources[0].q_name = \"\": must be a name"},
      {"q: q.npy, k: odd.safetensors, k_name: keys",
       "odd.safetensors: has shape (1,), wanted (6, heads, 4), where heads divide the queries' 4"},
      {"q: q.npy, k: odd.safetensors",
       "odd.safetensors: has no tensor \"k\" (it has 1, the first by name is \"keys\")"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char yaml[512];
    snprintf(yaml, sizeof yaml, MODEL "lengths: [4]\n" REST "sources: [{name: tensors, %s}]\n", cases[i].files);
    expect_problem(yaml, cases[i].message);
  }
}

/* Zipped with models, each source meets its own. */
Test(tensors_source, zipped_with_models__each_fits_its_own) {
  static const char two[] = "model: [{name: a, heads: 4, head_dim: 4, train_length: 4}, {name: b, heads: 2, head_dim: "
                            "8, train_length: 4}]\nlengths: [6]\nheads: 1\n" REST
                            "sources: [{name: tensors, q: q.npy, k: q.npy}, {name: tensors, q: p.npy, k: p.npy}]\n";
  char zipped[512];
  write_shape("q.npy", 6, 4, 4);
  write_shape("p.npy", 6, 2, 8);
  snprintf(zipped, sizeof zipped, "%szip: [model, sources]\n", two);
  cr_expect_eq(run(zipped, "out").failed, 0);
  expect_problem(two,
                 "p.npy: has shape (6, 2, 8), the model has 4 heads of 4: wanted (tokens, 4, 4) or (4, tokens, 4)");
}
