/* How large the base must be for a length: the least base with B_m = sum_j cos(m base^(-2j/R)) >= 0 for every integer m
 * below the length. Men et al., "Base of RoPE bounds context length", arXiv:2405.14591, section 4; searched finer in
 * Su, kexue.fm/archives/10122.
 *
 * The good bases are no interval: windows of good bases lie between bad ones, some of them very narrow, so neither
 * bisection nor a grid finds the least. This marches up from base 1 in t = ln(base). At a bad t some m has B_m < 0, and
 * Taylor's theorem says how far it stays so: with phi_j = m e^(-x_j t), x_j = 2j/R,
 *
 *   B_m(t + h) <= B_m + B'_m h + M h^2 / 2,   B'_m = sum_j x_j phi_j sin(phi_j),
 *   |B''_m| = |sum_j (x_j phi_j)^2 cos(phi_j) + x_j^2 phi_j sin(phi_j)| <= M = sum_j x_j^2 phi_j (phi_j + 1).
 *
 * phi_j falls with t, so that M at the left end holds for the whole stretch. Where no m proves a stretch longer than
 * the resolution, the march steps by the resolution and tests every m there. */
#include "kernel/kernel.h"

#include "metric_list.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { NEAR = 12288 };   /* distances that are looked at first: two slabs of the decay kernel */
enum { VIOLATORS = 12 }; /* of a list: more cost more sines and save few steps */

/* Of the base, relative: the least step of the march. B_m moves by 1e-5 in it at a million tokens, and errs by 1e-9
 * there (phases m * omega lose 1e-16 of themselves), so that a boundary is good to less than a step. */
static const double resolution = 1e-9;

/* Of a stretch that is proved in exact numbers: the bound there is below a thousandth of B_m, which is more than slope
 * and bend lose by rounding (1e-9 of them). */
static const double kept = 0.999;

/* Above the kernel's rounding, 1e-14 of the number of pairs. */
static const double doubtful = 1e-9;

/* A list of violators is good for as long as it proves a stretch of this share of what it proved when it was fresh; a
 * fresh one costs a pass over distances. */
static const double stale = 0.25;

/* Where every base ends: omega of the slowest pair is still a normal double. */
static const double largest_log = 700;

/* The march at one base. */
typedef struct march {
  size_t pairs, length;
  double t;                    /* ln(base) */
  double *x, *omega;           /* (pairs,) 2j/R; e^(-x t) */
  double *cosine, *sine;       /* (pairs,) of the phases that are looked at */
  rs_wave *waves;              /* (pairs,) */
  double *values;              /* (length,) B_m */
  size_t violators[VIOLATORS]; /* distances */
  double depth[VIOLATORS];     /* -B_m / m at the scan, largest first */
  size_t count;
  double reach; /* the longest stretch above t that one of them proves */
  size_t best;  /* the one that did last */
  size_t scans; /* of all distances */
  double fresh; /* what the list proved after the last of them */
} march;

static void move_to(march *state, double t) {
  state->t = t;
  for (size_t j = 0; j < state->pairs; j++) state->omega[j] = exp(-state->x[j] * t);
}

/* How far above t distance m is proved to violate; 0 where it does not, beyond rounding: a phase errs by phi times what
 * the exponent x t (a rounding of it), exp and the product lose, a cosine by 3e-16 and a sum by an ulp. */
static double stretch(march *state, size_t m) {
  double value = 0, slope = 0, bend = 0, slack = 0;
  rs_kernels_get()->rotate->cos_sin_at((double)m, state->omega, state->pairs, state->cosine, state->sine);
  for (size_t j = 0; j < state->pairs; j++) {
    double x = state->x[j], phi = (double)m * state->omega[j];
    value += state->cosine[j];
    slope += x * phi * state->sine[j];
    bend += x * x * phi * (phi + 1);
    slack += phi * (x * state->t + 3) + (double)state->pairs;
  }
  value += slack * DBL_EPSILON;
  if (value >= 0) return 0;
  double root = sqrt(slope * slope - 2 * bend * value);
  return kept * (slope > 0 ? -2 * value / (slope + root) : (root - slope) / bend);
}

/* Keeps the deepest for their distance: B' grows as m, so -B/m is about how far the proof reaches. */
static void note_violator(march *state, size_t m, double depth) {
  size_t i = state->count < VIOLATORS ? state->count++ : VIOLATORS - 1;
  for (; i > 0 && state->depth[i - 1] < depth; i--) {
    state->depth[i] = state->depth[i - 1];
    state->violators[i] = state->violators[i - 1];
  }
  state->depth[i] = depth;
  state->violators[i] = m;
}

/* How long a stretch the best of the list proves, into at->reach. */
static void try_list(march *state) {
  state->reach = 0;
  for (size_t i = 0; i < state->count; i++) {
    double reach = stretch(state, state->violators[i]);
    if (reach > state->reach) state->best = state->violators[i];
    state->reach = fmax(state->reach, reach);
  }
}

/* Lists and tries the violators of a range of distances. Values within the kernel's rounding of 0 are left out. */
static void look(march *state, const rs_decay *decay, size_t begin, size_t end) {
  double least = 0; /* depth of the shallowest of a full list */
  rs_decay_range(decay, begin, end - begin, state->values);
  state->count = 0;
  for (size_t m = begin; m < end; m++) {
    double value = state->values[m - begin];
    if (value >= -doubtful || -value <= least * (double)m) continue;
    note_violator(state, m, -value / (double)m);
    if (state->count == VIOLATORS) least = state->depth[VIOLATORS - 1];
  }
  try_list(state);
}

/* A new list: of what is near the last good violator, where that proves a stretch as long as `wanted`, else of all
 * distances, and then at->fresh says how long a stretch it proves. Empty where no distance violates. */
static rs_status renew(march *state, double wanted, rs_err *err) {
  rs_decay *decay;
  size_t begin = state->best > NEAR / 2 ? state->best - NEAR / 2 : 1, end = begin + NEAR;
  for (size_t j = 0; j < state->pairs; j++) state->waves[j] = (rs_wave){1, state->omega[j], 0};
  RS_TRY(rs_decay_create(state->waves, state->pairs, &decay, err));
  if (end < state->length) look(state, decay, begin, end);
  if (end >= state->length || state->reach < wanted) {
    look(state, decay, 0, state->length);
    state->fresh = state->reach;
    state->scans++;
  }
  if (state->count == 0) {
    size_t first = (size_t)rs_decay_first_below(decay, 0, 1, state->length);
    if (first < state->length) note_violator(state, first, 0);
  }
  rs_decay_free(decay);
  return RS_OK;
}

/* Steps taken, those that looked at every distance for as many as they cost: of two pairs at 10^8 tokens each is one,
 * and 10^7 of them would take days. */
static size_t effort(const march *state, const rs_base_bound *found) {
  return found->steps + state->scans * (state->length / NEAR);
}

/* Marches until a base has no violator, or the steps are used up. */
static rs_status walk(march *state, size_t most_steps, rs_base_bound *found, rs_err *err) {
  for (double t = 0; t < largest_log && effort(state, found) < most_steps; found->steps++) {
    move_to(state, t);
    double wanted = fmax(stale * state->fresh, resolution);
    try_list(state);
    if (state->reach < wanted) RS_TRY(renew(state, wanted, err));
    if (state->count == 0) {
      found->base = exp(t);
      return RS_OK;
    }
    found->unproved += state->reach < resolution;
    found->reached = exp(t);
    t += fmax(state->reach, resolution);
  }
  return RS_OK;
}

static rs_status prepare(march *state, rs_err *err) {
  state->x = rs_alloc(state->pairs, sizeof *state->x, err);
  state->omega = rs_alloc(state->pairs, sizeof *state->omega, err);
  state->cosine = rs_alloc(state->pairs, sizeof *state->cosine, err);
  state->sine = rs_alloc(state->pairs, sizeof *state->sine, err);
  state->waves = rs_alloc(state->pairs, sizeof *state->waves, err);
  state->values = rs_alloc(state->length, sizeof *state->values, err);
  bool turned = state->cosine != NULL && state->sine != NULL;
  if (!turned || state->x == NULL || state->omega == NULL || state->waves == NULL || state->values == NULL)
    return RS_MEMORY;
  for (size_t j = 0; j < state->pairs; j++) state->x[j] = (double)j / (double)state->pairs;
  return RS_OK;
}

rs_status rs_base_bound_find(size_t rotary_dim, size_t length, size_t most_steps, rs_base_bound *found, rs_err *err) {
  march state = {.pairs = rotary_dim / 2, .length = length};
  *found = (rs_base_bound){.base = NAN, .reached = 1, .resolution = resolution};
  if (rotary_dim < 4 && length > 2)
    return rs_fail(err, RS_DOMAIN, "with fewer than two pairs every base has a negative cosine at a distance of 2");
  rs_status status = prepare(&state, err);
  if (status == RS_OK) status = walk(&state, most_steps, found, err);
  found->scans = state.scans;
  free(state.x);
  free(state.omega);
  free(state.cosine);
  free(state.sine);
  free(state.waves);
  free(state.values);
  return status;
}

/* ---- the metric: rotary dims and length decide it, nothing else of model or method ------------------------------- */

typedef struct params {
  size_t most_steps;
} params;

static rs_status finish(const rs_metric_in *in, const void *state, rs_result *result, rs_err *err) {
  (void)state;
  rs_base_bound found;
  const params *p = in->params;
  for (size_t i = 0; i < 4; i++) result->value[i] = NAN;
  if (in->encoding->rotary_dim < 4) return RS_OK; /* no pairs, or one, which no base keeps above 0 */
  RS_TRY(rs_base_bound_find(in->encoding->rotary_dim, in->encoding->length, p->most_steps, &found, err));
  result->value[0] = found.base;
  result->value[1] = found.resolution;
  result->value[2] = (double)found.steps;
  result->value[3] = (double)found.unproved;
  return RS_OK;
}

static const rs_param specs[] = {
    {RS_FIELD(params, most_steps), .unit = "1", .min = 1, .max = 1e12, .fallback = "10000000",
     .summary = "where the search gives up, and least_base stays empty"},
};

static const rs_column scalars[] = {
    RS_COLUMN("least_base", "1", "least base with sum_j cos(m base^(-2j/R)) >= 0 for every integer m below the length",
              .log_axis = true),
    RS_COLUMN("search_resolution", "1",
              "windows of good bases narrower than this share of the base may have been passed over"),
    RS_COLUMN("search_steps", "1", "bases at which the search stood", .integer = true, .log_axis = true),
    RS_COLUMN("search_unproved", "1",
              "of its steps those of one resolution; all others are proved to hold no good base", .integer = true),
};

const rs_metric_kind rs_metric_base_bound = {
    .kind = {.name = "base_bound",
             .summary = "the least base that keeps B_m >= 0 up to the length, by a search with proof",
             .reference = "arXiv:2405.14591, section 4; Su, kexue.fm/archives/10122",
             RS_KIND(specs, params)},
    RS_SCALARS(scalars),
    .finish = finish,
};
