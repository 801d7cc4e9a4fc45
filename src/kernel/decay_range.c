/* Sums of waves over ranges of distances: the tables and centres that the decay kernel multiplies, and who does which
 * part. Every cosine here is of an angle reduced exactly, or a product of two or three such by the addition theorem;
 * no step starts from the one before, so that nothing drifts.
 *
 * Blocks, slabs and spans begin at fixed distances: what K(d) is depends neither on the range that was asked for nor on
 * the threads. */
#include "decay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  SLABS = 8, /* of a span, whose first centre alone costs a sine for each wave */
  SPAN = SLABS * RS_DECAY_SLAB,
  BLOCK = 2 * RS_DECAY_HALF
};

/* cos and sin of an angle. */
typedef struct rotor {
  double cosine, sine;
} rotor;

/* A wave and how it turns from a span's first distance to the centres of the span. */
typedef struct turning_wave {
  double amplitude;
  rs_turns omega, phase, start; /* start: the angle at -1/2, the point between the distances -1 and 0 */
  rotor slab[SLABS], centre[RS_DECAY_CENTRES];
} turning_wave;

struct rs_decay {
  const rs_decay_kernel *kernel;
  turning_wave *waves;
  double *panels; /* those of each RS_DECAY_WAVES waves after the other */
  size_t count;
  double apart; /* most that the kernel's K(d) may differ from rs_decay_at's */
};

static rotor rotor_of(rs_turns angle) {
  rotor out;
  rs_turns_cos_sin(angle, &out.cosine, &out.sine);
  return out;
}

static inline rotor turned(rotor step, rotor from) {
  return (rotor){step.cosine * from.cosine - step.sine * from.sine, step.sine * from.cosine + step.cosine * from.sine};
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

/* Row `row` of each panel, which has `rows`: from the panels' first offsets and the half-integers in a panel. */
static void fill_offsets(rs_turns omega, rs_turns half, size_t row, size_t rows, double *panels) {
  rotor near[RS_DECAY_PANEL];
  for (size_t i = 0; i < RS_DECAY_PANEL; i++) near[i] = rotor_of(rs_turns_add(rs_turns_times(omega, i), half));
  for (size_t p = 0; p < RS_DECAY_PANELS; p++) {
    rotor far = rotor_of(rs_turns_times(omega, p * RS_DECAY_PANEL));
    double *cosines = panels + (2 * p * rows + row) * RS_DECAY_PANEL, *sines = cosines + rows * RS_DECAY_PANEL;
    for (size_t i = 0; i < RS_DECAY_PANEL; i++) {
      rotor sum = turned(far, near[i]);
      cosines[i] = sum.cosine;
      sines[i] = sum.sine;
    }
  }
}

/* Wave `index` of `count`. */
static void fill_wave(rs_decay *decay, const rs_wave *wave, size_t index) {
  size_t before = index - index % RS_DECAY_WAVES, left = decay->count - before;
  rs_turns omega = rs_turns_of(wave->omega), half = rs_turns_of(wave->omega / 2);
  turning_wave *out = &decay->waves[index];
  out->amplitude = wave->amplitude;
  out->omega = omega;
  out->phase = rs_turns_of(wave->phase);
  out->start = rs_turns_subtract(out->phase, half);
  for (size_t s = 0; s < SLABS; s++) out->slab[s] = rotor_of(rs_turns_times(omega, s * RS_DECAY_SLAB));
  for (size_t c = 0; c < RS_DECAY_CENTRES; c++)
    out->centre[c] = rotor_of(rs_turns_times(omega, c * BLOCK + RS_DECAY_HALF));
  fill_offsets(omega, half, index - before, left < RS_DECAY_WAVES ? left : RS_DECAY_WAVES,
               decay->panels + before * 2 * RS_DECAY_HALF);
}

/* The worst case in units of 2^-53. The kernel: a sum of 64 rounds 64 times; tables and centres err by 5 and 10 in each
 * coordinate, 21 together; the products of sets that cannot fuse them, and E -/+ O, round once each, and every further
 * sum of 64 once: 88 in all, as the header says. rs_decay_at: 4. The level that both are held against: 1. */
static double apart_at_most(const rs_wave *waves, size_t count) {
  double total = 0;
  for (size_t j = 0; j < count; j++) total += fabs(waves[j].amplitude);
  return (88 + (double)(count / RS_DECAY_WAVES) + 4 + 1) * 0x1p-53 * total;
}

rs_status rs_decay_create(const rs_wave *waves, size_t count, rs_decay **decay, rs_err *err) {
  *decay = NULL;
  for (size_t j = 0; j < count; j++)
    if (!isfinite(waves[j].amplitude) || !isfinite(waves[j].omega) || !isfinite(waves[j].phase))
      return rs_fail(err, RS_DOMAIN, "wave %zu is not finite", j);
  rs_decay *fresh = rs_alloc(1, sizeof *fresh, err);
  if (fresh == NULL) return RS_MEMORY;
  *fresh = (rs_decay){rs_kernels_get()->decay, NULL, NULL, count, apart_at_most(waves, count)};
  fresh->waves = rs_alloc(count, sizeof *fresh->waves, err);
  if (fresh->waves != NULL)
    fresh->panels = aligned_alloc(64, (count > 0 ? count : 1) * 2 * RS_DECAY_HALF * sizeof(double));
  if (fresh->panels == NULL) {
    rs_decay_free(fresh);
    return rs_fail(err, RS_MEMORY, "out of memory: tables of %zu waves", count);
  }
  for (size_t j = 0; j < count; j++) fill_wave(fresh, &waves[j], j);
  *decay = fresh;
  return RS_OK;
}

void rs_decay_free(rs_decay *decay) {
  if (decay == NULL) return;
  free(decay->waves);
  free(decay->panels);
  free(decay);
}

/* ---- one distance ------------------------------------------------------------------------------------------------ */

double rs_decay_at(const rs_decay *decay, uint64_t distance) {
  rs_sum sum = {0};
  for (size_t j = 0; j < decay->count; j++) {
    const turning_wave *wave = &decay->waves[j];
    rs_sum_add(&sum,
               wave->amplitude * rotor_of(rs_turns_add(rs_turns_times(wave->omega, distance), wave->phase)).cosine);
  }
  return rs_sum_total(&sum);
}

/* ---- ranges ------------------------------------------------------------------------------------------------------ */

/* out[d - begin] = K(d) for begin <= d < end. */
typedef struct stretch {
  uint64_t begin, end;
  double *out;
} stretch;

/* Where the slab from `from` on goes: to the range's own place where all of it does, else to an edge to be cut. */
static double *place_of(const stretch *range, uint64_t from, double edge[2][RS_DECAY_SLAB]) {
  if (from < range->begin) return edge[0];
  return from + RS_DECAY_SLAB > range->end ? edge[1] : range->out + (from - range->begin);
}

/* Whether any of the slab is in the range. */
static bool meets(const stretch *range, uint64_t from) {
  return from < range->end && from + RS_DECAY_SLAB > range->begin;
}

static void copy_part(const stretch *range, uint64_t from, const double *slab) {
  uint64_t begin = from > range->begin ? from : range->begin;
  uint64_t end = from + RS_DECAY_SLAB < range->end ? from + RS_DECAY_SLAB : range->end;
  memcpy(range->out + (begin - range->begin), slab + (begin - from), (end - begin) * sizeof *slab);
}

/* a_j and the angle at the span's start less one half, for `count` waves. */
static void fill_starts(const turning_wave *waves, size_t count, uint64_t span, rotor *start) {
  for (size_t j = 0; j < count; j++) {
    rotor unit = rotor_of(rs_turns_add(rs_turns_times(waves[j].omega, span * SPAN), waves[j].start));
    start[j] = (rotor){waves[j].amplitude * unit.cosine, waves[j].amplitude * unit.sine};
  }
}

static void fill_centres(const turning_wave *waves, size_t count, const rotor *start, size_t slab,
                         rs_decay_centres *centres) {
  for (size_t j = 0; j < count; j++) {
    rotor here = turned(waves[j].slab[slab], start[j]);
    for (size_t c = 0; c < RS_DECAY_CENTRES; c++) {
      rotor centre = turned(waves[j].centre[c], here);
      centres->even[j][c] = centre.cosine;
      centres->odd[j][c] = centre.sine;
    }
  }
}

/* The range's part in one span, for up to RS_DECAY_WAVES waves from number `before` on. */
static void add_waves(const rs_decay *decay, size_t before, uint64_t span, const stretch *range,
                      double edge[2][RS_DECAY_SLAB]) {
  rs_decay_centres centres;
  rotor start[RS_DECAY_WAVES];
  size_t left = decay->count - before, count = left < RS_DECAY_WAVES ? left : RS_DECAY_WAVES;
  rs_decay_offsets offsets = {decay->panels + before * 2 * RS_DECAY_HALF, count};
  fill_starts(decay->waves + before, count, span, start);
  for (size_t s = 0; s < SLABS; s++) {
    uint64_t from = span * SPAN + s * RS_DECAY_SLAB;
    if (!meets(range, from)) continue;
    fill_centres(decay->waves + before, count, start, s, &centres);
    decay->kernel->slab(&offsets, &centres, before > 0, place_of(range, from, edge));
  }
}

/* The range's part in one span. */
static void fill_span(const rs_decay *decay, uint64_t span, const stretch *range) {
  double edge[2][RS_DECAY_SLAB];
  size_t before = 0;
  do { /* once for no waves, too: their sum is 0 */
    add_waves(decay, before, span, range, edge);
    before += RS_DECAY_WAVES;
  } while (before < decay->count);
  for (size_t s = 0; s < SLABS; s++) {
    uint64_t from = span * SPAN + s * RS_DECAY_SLAB;
    if (!meets(range, from)) continue;
    const double *place = place_of(range, from, edge);
    if (place == edge[0] || place == edge[1]) copy_part(range, from, place);
  }
}

void rs_decay_range(const rs_decay *decay, uint64_t first, size_t count, double *out) {
  if (count == 0) return;
  stretch all = {first, first + count, out};
  /* Waking threads, which then spin for a while, takes longer than a few spans, above all where other work keeps the
   * cores busy. */
#pragma omp parallel for schedule(dynamic) if (count > 4 * SPAN)
  for (uint64_t span = first / SPAN; span <= (all.end - 1) / SPAN; span++) fill_span(decay, span, &all);
}

/* ---- search ------------------------------------------------------------------------------------------------------ */

/* The first distance of a range within one span at which K is below `level`, or the range's end. Counting those that
 * may be, as a rule none, is faster than a loop with a way out. */
static uint64_t search_range(const rs_decay *decay, const stretch *range, double level) {
  double most = level + decay->apart;
  size_t count = (size_t)(range->end - range->begin), near = 0;
  fill_span(decay, range->begin / SPAN, range);
  for (size_t i = 0; i < count; i++) near += range->out[i] <= most;
  for (size_t i = 0; i < count && near > 0; i++)
    if (range->out[i] <= most && rs_decay_at(decay, range->begin + i) < level) return range->begin + i;
  return range->end;
}

/* A search that several threads share: they take slabs in ascending order, and search each that they take, so that no
 * distance below the one found is left out. */
typedef struct search {
  const rs_decay *decay;
  double level;
  uint64_t next, found; /* where the slab to be taken begins; the least so far, or the end of the search */
} search;

/* Notes what was found in the slab before (UINT64_MAX: nothing), and takes the next: its first distance, or UINT64_MAX
 * where none is left below what was found. */
static uint64_t take_slab(search *all, uint64_t here) {
  uint64_t from;
#pragma omp critical(rs_decay_search)
  {
    if (here < all->found) all->found = here;
    from = all->next < all->found ? all->next : UINT64_MAX;
    all->next += RS_DECAY_SLAB;
  }
  return from;
}

static void search_slabs(search *all, uint64_t first, uint64_t end) {
  double values[RS_DECAY_SLAB];
  uint64_t here = UINT64_MAX, from;
  while ((from = take_slab(all, here)) != UINT64_MAX) {
    uint64_t to = from + RS_DECAY_SLAB;
    stretch part = {from > first ? from : first, to < end ? to : end, values};
    here = search_range(all->decay, &part, all->level);
    if (here == part.end) here = UINT64_MAX;
  }
}

uint64_t rs_decay_first_below(const rs_decay *decay, double level, uint64_t first, uint64_t end) {
  search all = {decay, level, first - first % RS_DECAY_SLAB, end};
  if (first >= end) return end;
#pragma omp parallel if (end - first > SPAN)
  search_slabs(&all, first, end);
  return all.found;
}
