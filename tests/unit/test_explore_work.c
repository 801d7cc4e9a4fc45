/* test_explore_work.c: how much an answer of explore computes. Cosines, sines and exponentials are counted where they
 * are computed, by functions that stand in place of libm's. */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../fixtures/question.h"

static atomic_size_t calls;

/* libm's own, found before anything computes. */
static double (*real_exp)(double), (*real_log)(double), (*real_sin)(double), (*real_cos)(double);
static void (*real_sincos)(double, double *, double *);

static void find(const char *name, void *function) {
  void *found = dlsym(RTLD_NEXT, name);
  if (found == NULL) abort();
  memcpy(function, &found, sizeof found);
}

__attribute__((constructor)) static void find_all(void) {
  find("exp", &real_exp);
  find("log", &real_log);
  find("sin", &real_sin);
  find("cos", &real_cos);
  find("sincos", &real_sincos);
}

#pragma GCC visibility push(default)
double exp(double x) {
  calls++;
  return real_exp(x);
}

double log(double x) {
  calls++;
  return real_log(x);
}

double sin(double x) {
  calls++;
  return real_sin(x);
}

double cos(double x) {
  calls++;
  return real_cos(x);
}

void sincos(double x, double *sine, double *cosine) {
  calls++;
  real_sincos(x, sine, cosine);
}
#pragma GCC visibility pop

static size_t rows_of(const rs_node *root, const char *metric) {
  const rs_node *curve = rs_node_get(rs_node_get(root, metric), "curve");
  cr_assert(curve != NULL && curve->count > 0);
  return curve->items[0].count;
}

enum { PAIRS = 64, HEADS = 32, OF_PAIR = 8 }; /* functions of a pair at one distance: means, bounds and extremes */

/* The functions that an answer computes, and in *rows the distances that it shows; false where there is none. */
static bool measure(const rs_explorer *explorer, const char *method, size_t length, size_t *computed, size_t *rows) {
  char query[128];
  rs_text json = {0};
  rs_tree *tree;
  rs_err err = {0};
  snprintf(query, sizeof query, "method=%s&length=%zu", method, length);
  calls = 0;
  if (ask_explorer(explorer, query, &json, &err) != RS_OK) return false;
  *computed = calls;
  cr_assert_eq(rs_json_read(rs_text_string(&json), json.length, "answer", &tree, &err), RS_OK, "%s", err.message);
  *rows = rows_of(&tree->root, "decay");
  cr_expect_leq(*rows, RS_EXPLORE_POINTS, "%s: %zu distances", query, *rows);
  cr_expect_leq(rows_of(&tree->root, "frequencies"), PAIRS, "%s", query);
  cr_expect_leq(rows_of(&tree->root, "ood_angles"), PAIRS, "%s", query);
  rs_tree_free(tree);
  rs_text_clear(&json);
  return true;
}

/* A context of a few tokens says what a method's own tables take; beyond it, a longer one computes the distances that
 * are shown, and none besides. Left out are pairs that mix axes, which have places of their own for each head and
 * token. */
Test(explore_work, every_method__computes_what_it_shows) {
  static const size_t lengths[] = {8192, 65536, 131072};
  size_t count, answered = 0, all = 0;
  const rs_method *methods = rs_methods(&count);
  const rs_subject_in in = {.preset = "llama-2-7b", .fallback = "rope"};
  rs_explorer *explorer;
  rs_problems problems = {0};
  cr_assert_eq(rs_explorer_create(&in, &explorer, &problems, NULL), RS_OK);
  for (size_t i = 0; i < count; i++) {
    size_t few, computed, rows;
    if (methods[i].freq != NULL && methods[i].freq->mix != NULL) continue;
    if (!measure(explorer, methods[i].name, 2, &few, &rows)) continue;
    for (size_t k = 0; k < RS_COUNT(lengths); k++) {
      if (!measure(explorer, methods[i].name, lengths[k], &computed, &rows)) continue;
      size_t most = few + rows * (OF_PAIR * PAIRS + HEADS);
      cr_expect_leq(computed, most, "%s at %zu: %zu functions for %zu distances, %zu at most", methods[i].name,
                    lengths[k], computed, rows, most);
      answered++;
      all += computed;
    }
  }
  cr_expect_geq(answered, 3 * count * 3 / 4, "%zu answers", answered);
  cr_expect_gt(all, 1000 * answered, "%zu functions in %zu answers: are they counted?", all, answered);
  rs_explorer_free(explorer);
}
