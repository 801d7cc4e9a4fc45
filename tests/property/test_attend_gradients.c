/* test_attend_gradients.c: the plain reference of attention's gradients against central differences of its loss, for
 * every method; what an encoding has learned, too. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "../fixtures/attend_compare.h"
#include "../fixtures/attend_world.h"
#include "../fixtures/obtain.h"

enum { LONG = 7, DIMS = 6, WORLDS = 1500, ENOUGH = 400, PROBES = 3 };

/* The slope of the loss in one number, from four points: errs by the fifth derivative times h^4 / 30. */
static double slope(const attend_case *given, double *number) {
  const double h = 1e-3, before = *number;
  double at[4];
  for (int i = 0; i < 4; i++) {
    *number = before + h * (i < 2 ? i - 2 : i - 1);
    at[i] = attend_loss(given);
  }
  *number = before;
  return (at[0] - at[3] + 8 * (at[2] - at[1])) / (12 * h);
}

static void probe(world *w, const attend_case *given, const char *name, double *numbers, const double *gradient,
                  size_t count) {
  for (size_t i = 0; i < PROBES; i++) {
    size_t place = pick(&w->dice, 0, count - 1);
    double want = slope(given, numbers + place);
    demand(w, fabs(gradient[place] - want) <= 1e-7 * fmax(1, fabs(want)), "%s[%zu]: %.12g, differences give %.12g",
           name, place, gradient[place], want);
  }
}

/* Of every other job weights are dropped. */
static void check(world *w, attend_case *given, uint32_t job) {
  const rs_attend_shape *shape = &given->shape;
  if (job % 2 == 1) given->drop = (rs_drop){.share = 0.3, .seed = 1, .sequence = job, .place = 5};
  size_t queries = shape->queries * shape->heads * shape->head_dim;
  size_t keys = shape->keys * shape->kv_heads * shape->head_dim;
  attend_result plain;
  attend_result_make(&plain, given);
  attend_plain_backward(given, &plain);
  probe(w, given, "q", given->q, plain.dq, queries);
  probe(w, given, "k", given->k, plain.dk, keys);
  probe(w, given, "v", given->v, plain.dv, keys);
  if (given->sinks != NULL) probe(w, given, "sinks", given->sinks, plain.dsinks, shape->heads);
  attend_result_clear(&plain);
}

Test(attend_gradients, every_method_and_mask__plain_gradients__are_central_differences) {
  size_t checked = 0;
  for (uint32_t job = 90000; job < 90000 + WORLDS; job++) {
    world w;
    attend_case given;
    bool fits = attend_world_draw(&w, &given, job, LONG, DIMS);
    if (fits) check(&w, &given, job);
    checked += fits;
    attend_world_clear(&w, &given);
  }
  cr_assert_geq(checked, ENOUGH, "%zu", checked);
}

/* ---- what encodings learn ---------------------------------------------------------------------------------------- */

/* The same slope in number `place` of array `which`. */
static double learned_slope(const attend_case *given, rs_encoding *encoding, size_t which, double *values,
                            size_t place) {
  const double h = 5e-5, before = values[place]; /* kinks are seldom that near */
  double at[4];
  for (int i = 0; i < 4; i++) {
    values[place] = before + h * (i < 2 ? i - 2 : i - 1);
    rs_encoding_learned_set(encoding, which, values);
    at[i] = attend_loss(given);
  }
  values[place] = before;
  rs_encoding_learned_set(encoding, which, values);
  return (at[0] - at[3] + 8 * (at[2] - at[1])) / (12 * h);
}

/* Whether the loss is smooth in the array: angles that are rounded go by steps. */
static bool is_smooth(const rs_encoding *encoding, const rs_learned *learned) {
  bool rounded = encoding->precision.angle != RS_F64;
  return learned->name[0] != 'e' && !(rounded && strncmp(learned->name, "freq.", 5) == 0);
}

/* Returns how many numbers were compared. */
static size_t check_learned(world *w, const attend_case *given) {
  rs_learned learned[RS_LEARNED];
  size_t count = given->shape.encoding != NULL ? rs_encoding_learned(given->shape.encoding, learned) : 0, compared = 0;
  attend_result plain;
  if (count == 0) return 0;
  attend_result_make(&plain, given);
  attend_plain_backward(given, &plain);
  for (size_t which = 0; which < count; which++) {
    size_t numbers = learned[which].rows * learned[which].columns;
    double *values = obtain(numbers, sizeof *values);
    rs_encoding_learned_get(w->encoding, which, values);
    for (size_t i = 0; i < PROBES && is_smooth(w->encoding, &learned[which]); i++, compared++) {
      size_t place = pick(&w->dice, 0, numbers - 1);
      double want = learned_slope(given, w->encoding, which, values, place), got = plain.learned[which][place];
      demand(w, fabs(got - want) <= 1e-7 * fmax(1, fabs(want)), "%s[%zu]: %.12g, differences give %.12g",
             learned[which].name, place, got, want);
    }
    free(values);
  }
  attend_result_clear(&plain);
  return compared;
}

Test(attend_gradients, every_method_and_mask__gradients_by_what_is_learned__are_central_differences) {
  size_t compared = 0;
  for (uint32_t job = 100000; job < 100000 + WORLDS; job++) {
    world w;
    attend_case given;
    if (attend_world_draw(&w, &given, job, LONG, DIMS)) compared += check_learned(&w, &given);
    attend_world_clear(&w, &given);
  }
  cr_assert_geq(compared, 100, "%zu", compared);
}
