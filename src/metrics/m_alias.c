/* Keys that stand at one place: what the last query sees of their positions is the same on every axis, so that nothing
 * but content tells them apart. Clamped maps do it on purpose; position ids in bfloat16 do it above 256, where its 8
 * bits leave out odd numbers (Wang et al., arXiv:2411.13476, section 3); and layouts of pictures may.
 *
 * Angle formats and frequencies are not looked at: equal places turn equally in any. */
#include "metric_list.h"

#include <math.h>
#include <stdlib.h>

enum { PAIRS, SHARE, FIRST, SCALARS };

/* One key's place on all axes, and which it is. */
typedef struct place {
  const double *position; /* (axes,) */
  size_t axes, token;
} place;

static int same_or_order(const place *a, const place *b) {
  for (size_t i = 0; i < a->axes; i++)
    if (a->position[i] != b->position[i]) return a->position[i] > b->position[i] ? 1 : -1;
  return 0;
}

static int by_place(const void *a, const void *b) {
  const place *x = a, *y = b;
  int order = same_or_order(x, y);
  return order != 0 ? order : (x->token > y->token) - (x->token < y->token);
}

/* Runs of equal places in a sorted list: c of them make c (c - 1) / 2 pairs. */
static void count_runs(const place *places, size_t count, double *value) {
  double pairs = 0, twins = 0, first = INFINITY;
  for (size_t begin = 0, end; begin < count; begin = end) {
    for (end = begin + 1; end < count && same_or_order(&places[begin], &places[end]) == 0;) end++;
    double run = (double)(end - begin);
    if (end - begin < 2) continue;
    pairs += run * (run - 1) / 2;
    twins += run;
    first = fmin(first, (double)places[begin + 1].token);
  }
  value[PAIRS] = pairs;
  value[SHARE] = twins / (double)count;
  value[FIRST] = isfinite(first) ? first : NAN;
}

static rs_status finish(const rs_metric_in *in, const void *state, rs_result *result, rs_err *err) {
  (void)state;
  const rs_encoding *encoding = in->encoding;
  size_t length = encoding->length, axes = encoding->axes;
  for (size_t i = 0; i < SCALARS; i++) result->value[i] = NAN;
  if (encoding->rotary_dim == 0) return RS_OK;
  double *columns = rs_alloc(length, sizeof *columns, err), *rows = rs_alloc(length, axes * sizeof *rows, err);
  place *places = rs_alloc(length, sizeof *places, err);
  rs_status status = columns != NULL && rows != NULL && places != NULL ? RS_OK : RS_MEMORY;
  for (size_t a = 0; a < axes && status == RS_OK; a++) {
    rs_last_distances(encoding, a, columns);
    for (size_t n = 0; n < length; n++) rows[n * axes + a] = columns[n];
  }
  if (status == RS_OK) {
    for (size_t n = 0; n < length; n++) places[n] = (place){rows + n * axes, axes, n};
    qsort(places, length, sizeof *places, by_place);
    count_runs(places, length, result->value);
  }
  free(places);
  free(rows);
  free(columns);
  return status;
}

static const rs_column scalars[] = {
    [PAIRS] =
        RS_COLUMN("alias_pairs", "pairs", "pairs of keys whose positions are the same to the last query, on every axis",
                  .integer = true, .log_axis = true, .better = RS_LOWER),
    [SHARE] = RS_COLUMN("alias_share", "1", "share of the keys that have such a twin"),
    [FIRST] = RS_COLUMN("alias_first_tokens", "tokens",
                        "first key whose place an earlier one has already; empty where none is", .integer = true,
                        .log_axis = true, .better = RS_HIGHER),
};

const rs_metric_kind rs_metric_alias = {
    .kind = {.name = "alias",
             .summary = "keys that stand at one place, so that content alone tells them apart",
             .reference = "Wang et al., arXiv:2411.13476, section 3 (bfloat16 position ids)"},
    RS_SCALARS(scalars),
    .finish = finish,
};
