/* test_attend_worlds.c: attention of every method, under every mask, by tiles and plainly. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "../fixtures/attend_case.h"
#include "../fixtures/attend_compare.h"
#include "../fixtures/obtain.h"
#include "../fixtures/world.h"

enum { LONG = 24, DIMS = 16 };

static void draw_shape(rs_attend_shape *shape, dice *d, const rs_encoding *encoding) {
  *shape = (rs_attend_shape){.encoding = encoding,
                             .queries = encoding->length,
                             .keys = encoding->length,
                             .heads = encoding->heads,
                             .kv_heads = encoding->heads,
                             .head_dim = encoding->head_dim,
                             .score_scale = once_in(d, 3) ? between(d, -0.5, 1) : 0,
                             .soft_cap = once_in(d, 3) ? between(d, 1, 20) : 0};
  do shape->kv_heads = pick(d, 1, shape->heads);
  while (shape->heads % shape->kv_heads != 0);
  shape->mask = (rs_mask){.window = pick(d, 1, encoding->length + 2), .sinks = pick(d, 1, 6)};
  do shape->mask.kind = (rs_mask_kind)pick(d, RS_CAUSAL, RS_CROSS);
  while (shape->mask.kind == RS_BIDIRECTIONAL && encoding->views > 1);
  if (shape->mask.kind == RS_CROSS) shape->keys = pick(d, 1, LONG);
  if (shape->mask.kind == RS_CROSS && once_in(d, 2)) shape->encoding = NULL;
}

/* World number `job`; false where its recipe is undefined or its heads are wide: plain gradients take their square. */
static bool draw(world *w, attend_case *given, uint32_t job, double spread) {
  size_t methods;
  const rs_method *method = rs_methods(&methods);
  *w = (world){.dice = {.seed = test_seed(), .job = job}};
  bool fits = draw_encoding(w, &method[job % methods], pick(&w->dice, 1, LONG)) && w->model.head_dim <= DIMS;
  if (!fits) return false;
  tamper(w);
  draw_shape(&given->shape, &w->dice, w->encoding);
  attend_case_fill(given, &w->dice, spread, once_in(&w->dice, 3));
  return true;
}

static void release(world *w) {
  rs_encoding_free(w->encoding);
  rs_recipe_clear(&w->recipe);
}

/* Floats err by some roundings of logits of a few nats; 3e-6 has been seen. */
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
  demand(w, distance < 1e-12, "%s differs by %g in double", where, distance);
  distance = attend_distance(given, &floats, &plain, &where);
  demand(w, distance < 1e-5, "%s differs by %g in float", where, distance);
  attend_result_clear(&plain);
  attend_result_clear(&doubles);
  attend_result_clear(&floats);
}

Test(attend_worlds, every_method_and_mask__tiles__are_the_plain_formula) {
  size_t checked = 0;
  for (uint32_t job = 70000; job < 71200; job++) {
    world w;
    attend_case given;
    if (draw(&w, &given, job, 1)) {
      compare(&w, &given);
      attend_case_clear(&given);
      checked++;
    }
    release(&w);
  }
  cr_assert_geq(checked, 300, "%zu", checked);
}

/* What attention gives by the reference row, which knows neither caps nor sinks nor shared keys. */
static void by_reference(const world *w, const attend_case *given, size_t head, size_t query, double *out) {
  const rs_attend_shape *shape = &given->shape;
  size_t dims = shape->head_dim, length = shape->keys;
  double *k = obtain(length * dims, sizeof *k), *logits = obtain(length, sizeof *logits), sum = 0, needle;
  for (size_t n = 0; n < length; n++)
    memcpy(k + n * dims, given->k + (n * shape->heads + head) * dims, dims * sizeof *k);
  rs_attention_job job = {.encoding = w->encoding,
                          .head = head,
                          .mask = shape->mask,
                          .queries = &query,
                          .query_count = 1,
                          .q = given->q + (query * shape->heads + head) * dims,
                          .k = k};
  cr_assert_eq(rs_reference_row(&job, 0, logits, &needle, NULL), RS_OK);
  memset(out, 0, dims * sizeof *out);
  for (size_t n = 0; n < length; n++) {
    sum += exp(logits[n]);
    for (size_t d = 0; d < dims; d++) out[d] += exp(logits[n]) * given->v[(n * shape->heads + head) * dims + d];
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
      by_reference(w, given, h, m, want);
      double distance = attend_difference(tiles.out + (m * shape->heads + h) * shape->head_dim, want, shape->head_dim);
      demand(w, distance < 1e-12, "head %zu, query %zu differs by %g", h, m, distance);
    }
  attend_result_clear(&tiles);
}

Test(attend_worlds, every_method_and_mask__tiles__weigh_values_as_the_reference_row_says) {
  size_t checked = 0;
  for (uint32_t job = 80000; job < 81200; job++) {
    world w;
    attend_case given;
    if (draw(&w, &given, job, 1)) {
      rs_attend_shape *shape = &given.shape;
      attend_case_clear(&given);
      *shape = (rs_attend_shape){.encoding = w.encoding,
                                 .mask = shape->mask,
                                 .queries = w.encoding->length,
                                 .keys = w.encoding->length,
                                 .heads = w.encoding->heads,
                                 .kv_heads = w.encoding->heads,
                                 .head_dim = w.encoding->head_dim};
      attend_case_fill(&given, &w.dice, 1, false);
      compare_rows(&w, &given);
      attend_case_clear(&given);
      checked++;
    }
    release(&w);
  }
  cr_assert_geq(checked, 300, "%zu", checked);
}
