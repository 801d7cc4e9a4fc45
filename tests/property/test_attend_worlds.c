/* test_attend_worlds.c: attention of every method, under every mask, by tiles and plainly. */
#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "../fixtures/attend_compare.h"
#include "../fixtures/attend_world.h"
#include "../fixtures/obtain.h"
#include "../vectors.h"

enum { LONG = 24, DIMS = 16, WORLDS = 1200, MOST_WORLDS = 6000, MOST_METHODS = 100, EACH = 3, ROUNDINGS = 4 };

/* How many worlds of each method were compared. */
typedef struct tally {
  size_t worlds[MOST_METHODS];
} tally;

static size_t method_of(uint32_t job) {
  size_t count;
  rs_methods(&count);
  return job % count;
}

/* Some recipes are undefined, so a method that has had few worlds is drawn again. */
static bool wanted(const tally *compared, uint32_t first, uint32_t job) {
  return job < first + WORLDS || compared->worlds[method_of(job)] < EACH;
}

static void check_tally(const tally *compared) {
  size_t count;
  const rs_method *methods = rs_methods(&count);
  cr_assert_leq(count, MOST_METHODS);
  for (size_t i = 0; i < count; i++) cr_assert_geq(compared->worlds[i], EACH, "%s: too few worlds", methods[i].name);
}

/* The gradient by a head's scale sums terms as large as its logits, which may cancel: what roundings of half a unit can
 * move it by, and no more, is no difference. */
static void forgive_rounding(const attend_case *given, const attend_result *plain, attend_result *floats) {
  rs_learned learned[RS_LEARNED];
  size_t count = given->shape.encoding != NULL ? rs_encoding_learned(given->shape.encoding, learned) : 0;
  for (size_t i = 0; i < count; i++) {
    double *got = floats->learned[i];
    const double *want = plain->learned[i];
    for (size_t h = 0; h < given->shape.heads && strcmp(learned[i].name, "logit_scale") == 0; h++)
      if (fabs(got[h] - want[h]) <= (double)FLT_EPSILON / 2 * plain->unrest[h]) got[h] = want[h];
  }
}

/* 1.5 such roundings have been seen in 13,000 worlds of 12 seeds. */
static void compare(const world *w, const attend_case *given) {
  attend_result plain, doubles, floats;
  const char *where = "";
  attend_result_make(&plain, given);
  attend_result_make(&doubles, given);
  attend_result_make(&floats, given);
  attend_plain_forward(given, &plain);
  attend_plain_backward(given, &plain);
  attend_tiles_f64(given, &doubles);
  attend_tiles_f32(given, &floats);
  double distance = attend_distance(given, &doubles, &plain, &where);
  demand(w, distance < ROUNDINGS * DBL_EPSILON * plain.slack, "%s differs by %g in double", where, distance);
  forgive_rounding(given, &plain, &floats);
  distance = attend_distance(given, &floats, &plain, &where);
  demand(w, distance < ROUNDINGS * (double)FLT_EPSILON * plain.slack, "%s differs by %g in float", where, distance);
  attend_result_clear(&plain);
  attend_result_clear(&doubles);
  attend_result_clear(&floats);
}

Test(attend_worlds, every_method_and_mask__tiles__are_the_plain_formula) {
  tally compared = {0};
  for (uint32_t job = 70000; job < 70000 + MOST_WORLDS; job++) {
    if (!wanted(&compared, 70000, job)) continue;
    world w;
    attend_case given;
    bool fits = attend_world_draw(&w, &given, job, LONG, DIMS);
    if (fits) compare(&w, &given);
    compared.worlds[method_of(job)] += fits;
    attend_world_clear(&w, &given);
  }
  check_tally(&compared);
}

/* What attention gives by the reference row, which knows neither caps nor sinks nor shared keys. */
static void by_reference(const attend_case *given, size_t head, size_t query, double *out) {
  const rs_attend_shape *shape = &given->shape;
  size_t dims = shape->head_dim, length = shape->keys, step = shape->heads * dims;
  double *k = obtain(length * dims, sizeof *k), *logits = obtain(length, sizeof *logits), sum = 0, needle;
  for (size_t n = 0; n < length; n++) memcpy(k + n * dims, given->k + n * step + head * dims, dims * sizeof *k);
  rs_attention_job job = {.encoding = shape->encoding,
                          .head = head,
                          .mask = shape->mask,
                          .queries = &query,
                          .query_count = 1,
                          .q = given->q + query * step + head * dims,
                          .k = k};
  cr_assert_eq(rs_reference_row(&job, 0, logits, &needle, NULL), RS_OK);
  memset(out, 0, dims * sizeof *out);
  for (size_t n = 0; n < length; n++) {
    sum += exp(logits[n]);
    bool valued = shape->encoding->method->vectors != NULL && shape->mask.kind != RS_CROSS;
    for (size_t d = 0; d < dims; d++) {
      double added = valued ? (double)value_vector_number(shape->encoding, query, n, d) : 0;
      out[d] += exp(logits[n]) * (given->v[n * step + head * dims + d] + added);
    }
  }
  for (size_t d = 0; d < dims; d++) out[d] /= sum;
  free(k);
  free(logits);
}

static void compare_rows(const world *w, const attend_case *given) {
  const rs_attend_shape *shape = &given->shape;
  attend_result tiles;
  double want[DIMS];
  attend_result_make(&tiles, given);
  attend_tiles_f64(given, &tiles);
  for (size_t h = 0; h < shape->heads; h++)
    for (size_t m = 0; m < shape->queries; m++) {
      by_reference(given, h, m, want);
      double distance = attend_difference(tiles.out + (m * shape->heads + h) * shape->head_dim, want, shape->head_dim);
      demand(w, distance < 1e-12, "head %zu, query %zu differs by %g", h, m, distance);
    }
  attend_result_clear(&tiles);
}

Test(attend_worlds, every_method_and_mask__tiles__weigh_values_as_the_reference_row_says) {
  tally compared = {0};
  for (uint32_t job = 80000; job < 80000 + MOST_WORLDS; job++) {
    if (!wanted(&compared, 80000, job)) continue;
    world w;
    attend_case given;
    bool fits = attend_world_draw(&w, &given, job, LONG, DIMS);
    attend_case_clear(&given);
    given = (attend_case){.shape = {.encoding = w.encoding, .mask = given.shape.mask}};
    if (fits) {
      rs_attend_shape *shape = &given.shape;
      shape->queries = shape->keys = w.encoding->length;
      shape->heads = shape->kv_heads = w.encoding->heads;
      shape->head_dim = w.encoding->head_dim;
      attend_case_fill(&given, &w.dice, 1, false);
      compare_rows(&w, &given);
    }
    compared.worlds[method_of(job)] += fits;
    attend_world_clear(&w, &given);
  }
  check_tally(&compared);
}
