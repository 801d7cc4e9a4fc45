/* Sums of waves over distance: every instruction set against sums of long double cosines, at distances to 2^63, in
 * ranges that begin and end anywhere; the same bits from any range and number of threads; the search against a walk. */
#include "../golden.h"
#include "../turns.h"
#include "kernel/kernel.h"

#ifdef _OPENMP
#include <omp.h>
#endif

/* Distances where blocks, slabs and spans of the kernel meet (decay.h). */
enum { BLOCK = 1024, SLAB = 6 * BLOCK, SPAN = 8 * SLAB };

static const int team_sizes[] = {1, 2, 3, 8};

static void use_threads(int threads) {
#ifdef _OPENMP
  omp_set_num_threads(threads);
#else
  (void)threads;
#endif
}

/* ---- waves ------------------------------------------------------------------------------------------------------- */

typedef struct world {
  rs_wave waves[300];
  size_t count;
  double total; /* sum of |a| */
  rs_decay *decay;
} world;

static void open_world(world *w) {
  rs_err err = {0};
  w->total = 0;
  for (size_t j = 0; j < w->count; j++) w->total += fabs(w->waves[j].amplitude);
  cr_assert_eq(rs_decay_create(w->waves, w->count, &w->decay, &err), RS_OK, "%s", err.message);
}

/* Waves of every sort: still, slow, faster than a turn a token, backwards. */
static world random_world(uint64_t *state, size_t count) {
  world w = {.count = count};
  for (size_t j = 0; j < count; j++) {
    double slow = pow(10000, -draw_real(state, 0, 1.5)), fast = draw_real(state, -8, 8);
    w.waves[j] = (rs_wave){draw_real(state, -1, 1), j % 5 == 4 ? fast : j % 7 == 6 ? 0 : slow, draw_real(state, -9, 9)};
  }
  open_world(&w);
  return w;
}

/* The plain encoding's: cos(d base^(-2j/dims)). */
static world ladder_world(double base, size_t dims) {
  world w = {.count = dims / 2};
  for (size_t j = 0; j < w.count; j++) w.waves[j] = (rs_wave){1, pow(base, -2.0 * (double)j / (double)dims), 0};
  open_world(&w);
  return w;
}

static long double exact_sum(const world *w, uint64_t distance) {
  long double sum = 0;
  for (size_t j = 0; j < w->count; j++)
    sum += w->waves[j].amplitude * long_turn_at(distance, w->waves[j].omega, w->waves[j].phase).cosine;
  return sum;
}

/* ---- the kernel -------------------------------------------------------------------------------------------------- */

/* K(first ..) in memory whose neighbours must stay as they are. Release with free(). */
static double *range_of(const world *w, uint64_t first, size_t count) {
  static const double guard = 12345.678;
  double *memory = malloc((count + 17) * sizeof *memory);
  cr_assert_not_null(memory);
  for (size_t i = 0; i < count + 17; i++) memory[i] = guard;
  rs_decay_range(w->decay, first, count, memory + 8);
  for (size_t i = 0; i < 8; i++)
    cr_assert(memory[i] == guard && memory[count + 8 + i] == guard, "range %lu + %zu wrote beyond its ends",
              (unsigned long)first, count);
  memmove(memory, memory + 8, count * sizeof *memory);
  return memory;
}

static void check_value(const world *w, uint64_t distance, double got) {
  long double expected = exact_sum(w, distance);
  cr_assert(fabsl(got - expected) <= 1e-14L * w->total, "%s, %zu waves: K(%lu) = %.17g, should be %.19Lg",
            rs_kernels_get()->isa, w->count, (unsigned long)distance, got, expected);
  cr_assert(fabsl(rs_decay_at(w->decay, distance) - expected) <= 4e-16L * w->total, "%zu waves: K(%lu), alone",
            w->count, (unsigned long)distance);
}

/* All of a range against the term-by-term sum, which no instruction set changes, and some of it against the oracle. */
static void check_range(const world *w, uint64_t first, size_t count, uint64_t *state) {
  double *sums = malloc(count * sizeof *sums);
  const char *isa;
  cr_assert_not_null(sums);
  for (size_t i = 0; i < count; i++) sums[i] = rs_decay_at(w->decay, first + i);
  for (size_t k = 0; (isa = rs_isa_name(k)) != NULL; k++) {
    world same = *w; /* made for this set */
    cr_assert_eq(rs_kernels_use(isa, NULL), RS_OK);
    open_world(&same);
    double *got = range_of(&same, first, count);
    for (size_t i = 0; i < count; i++)
      if (!(fabs(got[i] - sums[i]) <= 1e-14 * w->total))
        cr_assert_fail("%s, %zu waves: K(%lu) = %.17g", isa, w->count, (unsigned long)(first + i), got[i]);
    for (size_t i = 0; i < 20 && i < count; i++) {
      size_t index = count <= 20 ? i : draw_size(state, 0, count - 1);
      check_value(&same, first + index, got[index]);
    }
    free(got);
    rs_decay_free(same.decay);
  }
  cr_assert_eq(rs_kernels_use("auto", NULL), RS_OK);
  free(sums);
}

static void check_ranges(const world *w, uint64_t *state) {
  static const uint64_t starts[] = {0,
                                    1,
                                    BLOCK / 2 - 1,
                                    BLOCK - 3,
                                    SLAB - 5,
                                    SPAN - 7,
                                    7 * SPAN + 1,
                                    9999999,
                                    (1u << 31) - SLAB / 2,
                                    (uint64_t)1 << 45};
  static const size_t sizes[] = {1, 2, 15, BLOCK - 1, BLOCK + 1, SLAB + 3};
  for (size_t i = 0; i < RS_COUNT(starts); i++)
    check_range(w, starts[i], sizes[draw_size(state, 0, RS_COUNT(sizes) - 1)], state);
  check_range(w, draw_bits(state) >> draw_size(state, 1, 63), draw_size(state, 1, 2 * SLAB), state);
  check_range(w, ((uint64_t)1 << 63) - 999, 999, state);
}

Test(kernel_decay, random_waves__every_isa_and_range__within_the_bound) {
  static const size_t counts[] = {1, 2, 3, 63, 64, 65, 128, 130, 300};
  uint64_t state = 21;
  for (size_t c = 0; c < RS_COUNT(counts); c++) {
    world w = random_world(&state, counts[c]);
    check_ranges(&w, &state);
    rs_decay_free(w.decay);
  }
}

/* Several spans at once, and their edges. */
Test(kernel_decay, long_range__every_isa__within_the_bound) {
  uint64_t state = 22;
  world few = random_world(&state, 3), some = random_world(&state, 70);
  check_range(&few, SPAN - 100, 3 * SPAN + 4321, &state);
  check_range(&some, 5, SPAN + SLAB + 7, &state);
  rs_decay_free(few.decay);
  rs_decay_free(some.decay);
}

Test(kernel_decay, no_waves_and_still_waves__sums__are_exact) {
  world none = {.count = 0}, still = {.count = 3, .waves = {{0.5, 0, 0}, {48, 0, 0}, {0.25, 0, 0}}};
  open_world(&none);
  open_world(&still);
  double *zero = range_of(&none, 1000, 200), *level = range_of(&still, 6000, 300), untouched = 7;
  for (size_t i = 0; i < 200; i++) cr_assert_eq(zero[i], 0);
  for (size_t i = 0; i < 300; i++) cr_assert_eq(level[i], 48.75);
  rs_decay_range(still.decay, 5, 0, &untouched);
  cr_assert_eq(untouched, 7);
  cr_assert_eq(rs_decay_at(none.decay, 3), 0);
  free(zero);
  free(level);
  rs_decay_free(none.decay);
  rs_decay_free(still.decay);
}

Test(kernel_decay, create__numbers_that_are_none__are_refused) {
  const rs_wave bad[] = {{NAN, 1, 0}, {1, INFINITY, 0}, {1, 1, -INFINITY}};
  for (size_t i = 0; i < RS_COUNT(bad); i++) {
    rs_wave waves[] = {{1, 1, 1}, bad[i]};
    rs_decay *decay = (rs_decay *)&waves;
    rs_err err = {0};
    cr_assert_eq(rs_decay_create(waves, 2, &decay, &err), RS_DOMAIN);
    cr_assert_null(decay);
    cr_assert_str_eq(err.message, "wave 1 is not finite");
  }
  rs_decay_free(NULL);
}

/* ---- the same bits ----------------------------------------------------------------------------------------------- */

static void check_same(const world *w, uint64_t first, const double *all, size_t count, uint64_t *state) {
  for (size_t i = 0; i < 40; i++) {
    size_t from = draw_size(state, 0, count - 1), size = draw_size(state, 1, i % 3 ? count - from : 1);
    if (size > count - from) size = count - from;
    use_threads(team_sizes[i % RS_COUNT(team_sizes)]);
    double *part = range_of(w, first + from, size);
    cr_assert_eq(memcmp(part, all + from, size * sizeof *part), 0, "%s, %zu waves: %lu + %zu with %d threads",
                 rs_kernels_get()->isa, w->count, (unsigned long)(first + from), size,
                 team_sizes[i % RS_COUNT(team_sizes)]);
    free(part);
  }
}

Test(kernel_decay, any_range_by_any_threads__bits__are_the_same) {
  static const size_t counts[] = {5, 64, 100};
  const char *isa;
  for (size_t i = 0; (isa = rs_isa_name(i)) != NULL; i++) {
    uint64_t state = 23;
    cr_assert_eq(rs_kernels_use(isa, NULL), RS_OK);
    for (size_t c = 0; c < RS_COUNT(counts); c++) {
      world w = random_world(&state, counts[c]);
      uint64_t first = draw_bits(&state) >> 34;
      use_threads(1);
      double *all = range_of(&w, first, 2 * SPAN + 333);
      check_same(&w, first, all, 2 * SPAN + 333, &state);
      free(all);
      rs_decay_free(w.decay);
    }
  }
  cr_assert_eq(rs_kernels_use("auto", NULL), RS_OK);
}

/* Ranges that begin and end at the edges of slabs and spans, or one beside them. */
Test(kernel_decay, ranges_at_edges__bits_and_neighbours__are_the_same) {
  static const uint64_t begins[] = {SLAB, SPAN - SLAB, SPAN}, ends[] = {SPAN, SPAN + SLAB, 2 * SPAN};
  uint64_t state = 26;
  world w = random_world(&state, 2);
  double *all = range_of(&w, 0, 2 * SPAN + 1);
  for (size_t i = 0; i < 81; i++) {
    uint64_t begin = begins[i % 3] + i / 3 % 3 - 1, end = ends[i / 9 % 3] + i / 27 - 1;
    if (begin >= end) continue;
    double *part = range_of(&w, begin, end - begin);
    cr_assert_eq(memcmp(part, all + begin, (end - begin) * sizeof *part), 0, "%lu to %lu", (unsigned long)begin,
                 (unsigned long)end);
    free(part);
  }
  free(all);
  rs_decay_free(w.decay);
}

/* ---- the search -------------------------------------------------------------------------------------------------- */

static uint64_t walk(const world *w, double level, uint64_t first, uint64_t end) {
  while (first < end && !(rs_decay_at(w->decay, first) < level)) first++;
  return first;
}

static void check_search(const world *w, double level, uint64_t first, uint64_t end) {
  uint64_t expected = walk(w, level, first, end);
  const char *isa;
  for (size_t k = 0; (isa = rs_isa_name(k)) != NULL; k++) {
    world same = *w;
    cr_assert_eq(rs_kernels_use(isa, NULL), RS_OK);
    open_world(&same);
    for (size_t t = 0; t < RS_COUNT(team_sizes); t++) {
      use_threads(team_sizes[t]);
      uint64_t got = rs_decay_first_below(same.decay, level, first, end);
      cr_assert_eq(got, expected, "%s, %zu waves, below %.17g from %lu to %lu by %d threads: %lu, should be %lu", isa,
                   w->count, level, (unsigned long)first, (unsigned long)end, team_sizes[t], (unsigned long)got,
                   (unsigned long)expected);
    }
    rs_decay_free(same.decay);
  }
  cr_assert_eq(rs_kernels_use("auto", NULL), RS_OK);
}

/* Levels that are met soon, late, never, and those that are values of K to the last bit. */
static void check_searches(const world *w, uint64_t *state) {
  for (size_t i = 0; i < 6; i++) {
    uint64_t first = i % 2 ? draw_bits(state) >> draw_size(state, 1, 63) : draw_size(state, 0, 3), end = first + 15000;
    double exact = rs_decay_at(w->decay, first + draw_size(state, 0, 14999));
    check_search(w, -w->total * draw_real(state, 0, 1), first, end);
    check_search(w, exact, first, end);
    check_search(w, nextafter(exact, INFINITY), first, end);
    check_search(w, -w->total * 1.1, first, first + SLAB);
    check_search(w, w->total * 1.1, first, first + 1);
    check_search(w, w->total, first, first);
  }
}

Test(kernel_decay, first_below__random_levels__is_what_a_walk_finds) {
  static const size_t counts[] = {1, 3, 16, 80};
  uint64_t state = 24;
  for (size_t c = 0; c < RS_COUNT(counts); c++) {
    world w = random_world(&state, counts[c]);
    check_searches(&w, &state);
    rs_decay_free(w.decay);
  }
}

/* The least of all values is not below itself, wherever the kernel's rounding puts it; anything above it finds it. */
Test(kernel_decay, first_below__level_of_the_minimum__is_decided_exactly) {
  uint64_t state = 25;
  for (size_t i = 0; i < 30; i++) {
    world w = random_world(&state, 1 + i * 4);
    uint64_t first = draw_bits(&state) >> draw_size(&state, 1, 60), least = first;
    for (uint64_t d = first; d < first + 3000; d++)
      if (rs_decay_at(w.decay, d) < rs_decay_at(w.decay, least)) least = d;
    double level = rs_decay_at(w.decay, least);
    cr_assert_eq(rs_decay_first_below(w.decay, level, first, first + 3000), first + 3000, "world %zu", i);
    cr_assert_eq(rs_decay_first_below(w.decay, nextafter(level, INFINITY), first, first + 3000), least, "world %zu", i);
    rs_decay_free(w.decay);
  }
}

/* Men et al., arXiv:2405.14591: the first m with B_m < 0 for D = 128; a base whose violation is far out by a walk. */
Test(kernel_decay, first_below__published_bases__violations_are_found) {
  static const struct {
    double base;
    uint64_t first;
  } cases[] = {{500, 171}, {1e4, 1707}, {5e5, 18438}, {1e6, 27115}, {1e7, 144660}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    world w = ladder_world(cases[i].base, 128);
    cr_assert_eq(rs_decay_first_below(w.decay, 0, 1, 10000000), cases[i].first, "base %g", cases[i].base);
    cr_assert_eq(rs_decay_first_below(w.decay, 0, 1, cases[i].first), cases[i].first, "base %g, cut", cases[i].base);
    cr_assert_gt(rs_decay_first_below(w.decay, 0, cases[i].first + 1, 10000000), cases[i].first);
    rs_decay_free(w.decay);
  }
  world far = ladder_world(1e8, 128);
  cr_assert_eq(rs_decay_first_below(far.decay, 0, 1, 100000000), walk(&far, 0, 1, 100000000));
  rs_decay_free(far.decay);
}
