/* Softmax statistics of a tile of queries over panels of keys, in one pass and without a row of logits. Lanes are
 * queries, so that every reduction is vertical; a panel's keys are broadcast one number at a time. The statistics of
 * one panel are computed between the multiplications of the next: they wait for other units of the core, and cost
 * little beside them. Tiles whose keys are all seen by all lanes and lie in one distance bin take that way; the others
 * (at the mask's border, near the diagonal, across a bin's edge) are weighed key by key. */
#include "lanes.h"

#include <math.h>
#include <string.h>

/* The register tile: VECTORS x ROWS sums, VECTORS queries and a broadcast key fill the registers (32 on v4 and neon,
 * else 16), and are enough chains to hide the latency of a multiply-add. It is also the order in which bins are summed,
 * so that generic has the same on every machine. */
#if defined(__AVX512F__)
enum { VECTORS = 2, ROWS = 8 };
#elif defined(__aarch64__) && defined(RS_FUSED)
enum { VECTORS = 4, ROWS = 4 };
#else
enum { VECTORS = 3, ROWS = 4 };
#endif
enum { LANES = VECTORS * WIDTH, LOGITS = ROWS * VECTORS };

/* A tile of so few queries is better read key by key, a full one never; AHEAD: panels between a key's fetch from memory
 * and its use. */
enum { FEW = LANES > 8 ? 8 : LANES / 2, AHEAD = 4 };

typedef real panel_vec __attribute__((vector_size(ROWS * sizeof(real)), aligned(sizeof(real)), may_alias));

_Static_assert((int)LANES <= (int)RS_SCORE_LANES, "a tile has at most RS_SCORE_LANES queries");

/* A key no lane sees has the logit HIDDEN: finite, so that its weight, 0, times it is 0. It stays below
 * the `top` of a lane that has seen nothing (score_state.c). */
#if RS_REAL_BITS == 32
#define HIDDEN -2e30f
#else
#define HIDDEN -2e30
#endif

/* How far, in bits, a logit may exceed the reference: weights up to 2^8 lose nothing, and moving the reference costs
 * all bins. */
static const double HEADROOM = 8;

/* One call under way. */
typedef struct walk {
  const rs_score_call *call;
  rs_score_state *state;
  vec reference[VECTORS], top[VECTORS], needle[VECTORS];
  vec mass[VECTORS], spread[VECTORS], sink[VECTORS]; /* since the last flush */
  ivec argmax[VECTORS], above[VECTORS];              /* above: minus the keys above the needle */
  ivec position[VECTORS], begin[VECTORS], stop[VECTORS];
  int32_t most_begin, least_stop, least_begin, most_stop; /* over the lanes */
  int32_t first_position, last_position;
  size_t least_bin, most_bin; /* bins of the scratch that are not zero; none while least > most */
  /* The run of plain tiles under way: their bin, how many keys, and the moments of their logits about `shift`. */
  size_t run_bin, run_keys;
  vec shift[VECTORS], sum[VECTORS], squares[VECTORS];
  bool pending;       /* `logits` are a plain tile's, not yet weighed */
  vec logits[LOGITS]; /* [row][vector], bits */
} walk;

RS_INLINE real *scratch_of(const walk *w, size_t bin) {
  return (real *)w->call->scratch + bin * LANES;
}

/* ---- plain tiles ------------------------------------------------------------------------------------------------- */

/* Adds the logits of one row and vector to the sums of the run. */
RS_INLINE void weigh(walk *w, size_t r, size_t v, bool moments, bool ranks) {
  vec logit = w->logits[r * VECTORS + v], t = logit - w->reference[v], weight = power_of_2(t);
  w->mass[v] += weight;
  w->spread[v] = fused(weight, t, w->spread[v]);
  if (ranks) w->above[v] += logit > w->needle[v];
  if (!moments) return;
  vec about = logit - w->shift[v];
  w->sum[v] += about;
  w->squares[v] = fused(about, about, w->squares[v]);
}

RS_INLINE void weigh_pending(walk *w, bool moments, bool ranks) {
  if (!w->pending) return;
  for (size_t r = 0; r < ROWS; r++)
    for (size_t v = 0; v < VECTORS; v++) weigh(w, r, v, moments, ranks);
}

/* sums[row][vector] += query dims x key rows, for `steps` dims. Asks for the same place of the panel that is walked
 * next: the hardware does not foresee a descent, and a burst of requests would hold up the products. */
RS_INLINE void multiply(const real **queries, const real **keys, size_t steps, size_t panel, vec sums[LOGITS]) {
  const real *q = *queries, *k = *keys;
  const ptrdiff_t next = -(ptrdiff_t)panel;
  for (const real *end = k + steps * ROWS; k != end; q += LANES, k += ROWS) {
    vec query[VECTORS];
    __builtin_prefetch(k + next, 0, 3);
#pragma GCC unroll 4
    for (size_t v = 0; v < VECTORS; v++) query[v] = load(q + v * WIDTH);
#pragma GCC unroll 8
    for (size_t r = 0; r < ROWS; r++)
#pragma GCC unroll 4
      for (size_t v = 0; v < VECTORS; v++) sums[r * VECTORS + v] = fused(query[v], all(k[r]), sums[r * VECTORS + v]);
  }
  *queries = q;
  *keys = k;
}

/* The logits of a tile, in bits, without bias; meanwhile those of the tile before are weighed, if any are pending: a
 * row's after each share of the dims, so that their long dependent steps hide behind independent products. */
RS_INLINE void score_tile(walk *w, size_t tile, bool weighing, bool moments, bool ranks) {
  size_t dims = w->call->dims, panel = dims * ROWS;
  const real *queries = w->call->queries, *keys = (const real *)w->call->keys + tile * panel;
  vec sums[LOGITS];
#pragma GCC unroll 16
  for (size_t i = 0; i < LOGITS; i++) sums[i] = all(0);
#pragma GCC unroll 1
  for (size_t r = 0; r < ROWS; r++) {
    multiply(&queries, &keys, dims / ROWS, panel, sums);
#pragma GCC unroll 4
    for (size_t v = 0; v < VECTORS && weighing; v++) weigh(w, r, v, moments, ranks);
  }
  multiply(&queries, &keys, dims % ROWS, panel, sums);
#pragma GCC unroll 16
  for (size_t i = 0; i < LOGITS; i++) w->logits[i] = sums[i];
}

static void end_moments(walk *w) {
  double keys = (double)w->run_keys;
  for (size_t lane = 0; lane < LANES; lane++) {
    size_t v = lane / WIDTH, i = lane % WIDTH;
    double sum = w->sum[v][i], squares = w->squares[v][i] - sum * sum / keys;
    rs_score_state_note(w->state, w->run_bin * LANES + lane, keys, w->shift[v][i] + sum / keys,
                        squares > 0 ? squares : 0);
  }
}

/* c += a b, as fused.h has it. */
RS_INLINE void add_panel(const panel_vec *a, real b, panel_vec *c) {
#if !defined(RS_FUSED)
  *c += *a * b;
#elif defined(__AVX512F__) && RS_REAL_BITS == 32
  *c = (panel_vec)_mm256_fmadd_ps((__m256)*a, _mm256_set1_ps(b), (__m256)*c);
#elif defined(__AVX512F__)
  *c = (panel_vec)_mm512_fmadd_pd((__m512d)*a, _mm512_set1_pd(b), (__m512d)*c);
#elif defined(__AVX2__) && RS_REAL_BITS == 32
  *c = (panel_vec)_mm_fmadd_ps((__m128)*a, _mm_set1_ps(b), (__m128)*c);
#elif defined(__AVX2__)
  *c = (panel_vec)_mm256_fmadd_pd((__m256d)*a, _mm256_set1_pd(b), (__m256d)*c);
#else
  const real *from = (const real *)a;
  real *to = (real *)c;
  for (size_t i = 0; i < ROWS; i += WIDTH) store(to + i, fused(load(from + i), all(b), load(to + i)));
#endif
}

/* The same for a tile of at most FEW queries, whose time is the keys' way from memory: lanes are keys, so that idle
 * ones cost nothing, and the logits are turned round afterwards. Each sum runs over the dims in the same order. */
RS_INLINE void score_few(walk *w, size_t tile) {
  size_t dims = w->call->dims, panel = dims * ROWS;
  const real *queries = w->call->queries, *keys = (const real *)w->call->keys + tile * panel;
  panel_vec sums[FEW];
#pragma GCC unroll 8
  for (size_t q = 0; q < FEW; q++) sums[q] = (panel_vec){0};
  for (size_t d = 0; d < dims; d++, queries += LANES) {
    panel_vec key = *(const panel_vec *)(keys + d * ROWS);
    __builtin_prefetch(keys + d * ROWS - AHEAD * panel, 0, 0);
#pragma GCC unroll 8
    for (size_t q = 0; q < FEW; q++) add_panel(&key, queries[q], &sums[q]);
  }
  memset(w->logits, 0, sizeof w->logits);
  for (size_t r = 0; r < ROWS; r++)
    for (size_t q = 0; q < FEW; q++) w->logits[r * VECTORS + q / WIDTH][q % WIDTH] = sums[q][r];
}

/* The run's sums go to its bin. Nothing of it is pending. */
static void end_run(walk *w) {
  real *bin = scratch_of(w, w->run_bin);
  if (w->run_keys == 0) return;
  if (w->state->bin_keys != NULL) end_moments(w);
  w->run_keys = 0;
  for (size_t v = 0; v < VECTORS; v++) {
    store(bin + v * WIDTH, load(bin + v * WIDTH) + w->mass[v]);
    w->mass[v] = all(0);
  }
  if (w->run_bin < w->least_bin) w->least_bin = w->run_bin;
  if (w->run_bin > w->most_bin) w->most_bin = w->run_bin;
}

/* Moments are taken about the mean of the run's first tile: squares of what is left lose little in float. */
static void begin_moments(walk *w) {
  for (size_t v = 0; v < VECTORS; v++) {
    vec sum = w->logits[v];
    for (size_t r = 1; r < ROWS; r++) sum += w->logits[r * VECTORS + v];
    w->shift[v] = sum / (real)ROWS;
    w->sum[v] = w->squares[v] = all(0);
  }
}

/* The tile's logits, not yet weighed, join the run of its bin. */
RS_INLINE void join_run(walk *w, size_t bin, bool moments) {
  if (bin != w->run_bin) end_run(w);
  if (w->run_keys == 0 && moments) begin_moments(w);
  w->run_bin = bin;
  w->run_keys += ROWS;
  w->pending = true;
}

/* ---- what every tile goes through -------------------------------------------------------------------------------- */

static void cap_logits(walk *w) {
  const vec most = all((real)w->call->cap), by_cap = all((real)(1 / w->call->cap));
  vec slope;
  for (size_t i = 0; i < LOGITS; i++) w->logits[i] = most * tanh_of(w->logits[i] * by_cap, &slope);
}

static void add_bias(walk *w, int32_t key) {
  const rs_score_call *call = w->call;
  const real *bias = (const real *)call->bias + ((ptrdiff_t)key - call->bias_key) * call->bias_step;
  for (size_t r = 0; r < ROWS; r++, bias += call->bias_step)
    for (size_t v = 0; v < VECTORS; v++) w->logits[r * VECTORS + v] += load(bias + v * WIDTH);
}

/* Lanes that see a key. */
RS_INLINE ivec seen(const walk *w, size_t v, int32_t key) {
  ivec place = (ivec){0} + key;
  return (place >= w->begin[v]) & (place < w->stop[v]);
}

static void hide(walk *w, int32_t key) {
  for (size_t r = 0; r < ROWS; r++)
    for (size_t v = 0; v < VECTORS; v++)
      w->logits[r * VECTORS + v] = choose(seen(w, v, key + (int32_t)r), w->logits[r * VECTORS + v], all((real)HIDDEN));
}

/* Everything since the last flush goes to the state, in double. */
static void flush(walk *w) {
  rs_score_state *state = w->state;
  for (size_t lane = 0; lane < LANES; lane++) {
    size_t v = lane / WIDTH, i = lane % WIDTH;
    state->spread[lane] += w->spread[v][i];
    state->sink[lane] += w->sink[v][i];
    state->rank[lane] -= (double)w->above[v][i];
  }
  for (size_t v = 0; v < VECTORS; v++) {
    w->spread[v] = w->sink[v] = all(0);
    w->above[v] = (ivec){0};
  }
  for (size_t bin = w->least_bin; bin <= w->most_bin && bin < w->call->bins; bin++) {
    real *from = scratch_of(w, bin);
    for (size_t lane = 0; lane < LANES; lane++) state->bin_weight[bin * LANES + lane] += from[lane];
    memset(from, 0, LANES * sizeof *from);
  }
  w->least_bin = w->call->bins;
  w->most_bin = 0;
}

/* Lanes whose logits have left the reference far below get another one. */
static void move_references(walk *w) {
  end_run(w);
  flush(w);
  for (size_t lane = 0; lane < LANES; lane++) {
    size_t v = lane / WIDTH, i = lane % WIDTH;
    if (!(w->top[v][i] > w->reference[v][i] + (real)HEADROOM)) continue;
    rs_score_state_move(w->state, w->call->bins, LANES, lane, w->top[v][i]);
    w->reference[v][i] = w->top[v][i];
  }
}

/* Notes logits that reach the largest so far, `top`, and which key has them: of equals the first. */
RS_INLINE void raise_top(walk *w, size_t v, vec top, int32_t key) {
  const ivec none = (ivec){0} + INT32_MAX;
  ivec argmax = (ivec)choose(top > w->top[v], (vec)none, (vec)w->argmax[v]);
  for (int32_t r = ROWS - 1; r >= 0; r--) {
    ivec place = (ivec){0} + (key + r), here = (w->logits[(size_t)r * VECTORS + v] == top) & (place < argmax);
    argmax = (ivec)choose(here, (vec)place, (vec)argmax);
  }
  w->argmax[v] = argmax;
  w->top[v] = top;
}

/* Looks for a logit that reaches the largest so far in any lane; most tiles have none. Nothing is pending. */
RS_INLINE void watch_tops(walk *w, int32_t key) {
  bool beyond = false;
  for (size_t v = 0; v < VECTORS; v++) {
    vec most = w->logits[v];
#pragma GCC unroll 8
    for (size_t r = 1; r < ROWS; r++) most = larger(most, w->logits[r * VECTORS + v]);
    if (__builtin_expect(!any_reaches(most, w->top[v]), 1)) continue;
    raise_top(w, v, larger(most, w->top[v]), key);
    beyond |= any_reaches(most, w->reference[v] + all((real)HEADROOM));
  }
  if (beyond) move_references(w);
}

/* ---- careful tiles ----------------------------------------------------------------------------------------------- */

static int32_t apart(int32_t a, int32_t b) {
  return a > b ? a - b : b - a;
}

/* The nearest and the farthest distance of a key from the lanes' queries. */
static void distances(const walk *w, int32_t key, int32_t *near, int32_t *far) {
  int32_t first = apart(w->first_position, key), last = apart(w->last_position, key);
  bool between = w->first_position <= key && key <= w->last_position;
  *near = between ? 0 : first < last ? first : last;
  *far = first > last ? first : last;
}

/* Moments of the logits of one key, lane by lane. */
static void note_moments(const walk *w, const vec *logits, int32_t key) {
  for (size_t lane = 0; lane < LANES; lane++) {
    int32_t distance = apart(w->call->position[lane], key);
    if (key < w->call->begin[lane] || key >= w->call->stop[lane]) continue;
    rs_score_state_note(w->state, w->call->bin_of[distance] * (size_t)LANES + lane, 1,
                        logits[lane / WIDTH][lane % WIDTH], 0);
  }
}

/* Adds the weights of one key to the bins its distances fall into. */
RS_INLINE void spread_over_bins(walk *w, const vec *weights, int32_t key) {
  int32_t near, far;
  distances(w, key, &near, &far);
  size_t first = w->call->bin_of[near], last = w->call->bin_of[far];
  if (first < w->least_bin) w->least_bin = first;
  if (last > w->most_bin) w->most_bin = last;
  for (size_t v = 0; v < VECTORS; v++) {
    ivec after = (ivec){0} + key - w->position[v], distance = (ivec)choose(after < 0, (vec)-after, (vec)after);
    for (size_t bin = first; bin <= last; bin++) {
      ivec inside = (distance >= (integer)w->call->edges[bin]) & (distance < (integer)w->call->edges[bin + 1]);
      real *to = scratch_of(w, bin) + v * WIDTH;
      store(to, load(to) + keep(inside, weights[v]));
    }
  }
}

/* One key of a tile, lanes that do not see it left out. */
RS_INLINE void weigh_key(walk *w, const vec *logits, int32_t key, bool moments, bool ranks) {
  vec weights[VECTORS];
  for (size_t v = 0; v < VECTORS; v++) {
    vec t = logits[v] - w->reference[v];
    weights[v] = power_of_2(t);
    w->spread[v] = fused(weights[v], t, w->spread[v]);
    if (key < w->call->sinks) w->sink[v] += weights[v];
    if (ranks) w->above[v] += logits[v] > w->needle[v];
  }
  spread_over_bins(w, weights, key);
  if (moments) note_moments(w, logits, key);
}

RS_INLINE void weigh_carefully(walk *w, int32_t key, bool moments, bool ranks) {
  for (size_t r = 0; r < ROWS; r++) {
    int32_t place = key + (int32_t)r;
    if (place >= w->least_begin && place < w->most_stop) weigh_key(w, w->logits + r * VECTORS, place, moments, ranks);
  }
}

/* ---- the walk ---------------------------------------------------------------------------------------------------- */

/* Whether a tile that all lanes see whole lies in one distance bin, and past the sink. */
static bool is_plain(const walk *w, int32_t key, size_t *bin) {
  int32_t last = key + ROWS - 1, near, far;
  if (key < w->call->sinks || !(last <= w->first_position || key >= w->last_position)) return false;
  near = last <= w->first_position ? w->first_position - last : key - w->last_position;
  far = last <= w->first_position ? w->last_position - key : last - w->first_position;
  *bin = w->call->bin_of[near];
  return w->call->bin_of[far] == *bin;
}

/* Weighs the tile that is pending, if any, and leaves the logits of the next. */
RS_INLINE void score(walk *w, size_t tile, bool moments, bool ranks) {
  if (w->call->used <= FEW) {
    weigh_pending(w, moments, ranks);
    score_few(w, tile);
  } else if (w->pending)
    score_tile(w, tile, true, moments, ranks);
  else
    score_tile(w, tile, false, moments, ranks);
  w->pending = false;
}

/* One tile: score, bias, mask, tops, weigh. */
RS_INLINE void visit(walk *w, size_t tile, bool moments, bool ranks) {
  int32_t key = (int32_t)(tile * ROWS);
  bool whole = key >= w->most_begin && key + ROWS <= w->least_stop;
  size_t bin = 0;
  score(w, tile, moments, ranks);
  if (w->call->cap != 0) cap_logits(w);
  if (w->call->bias != NULL) add_bias(w, key);
  if (!whole) hide(w, key);
  watch_tops(w, key);
  if (whole && is_plain(w, key, &bin))
    join_run(w, bin, moments);
  else
    weigh_carefully(w, key, moments, ranks);
}

static void begin_walk(walk *w, const rs_score_call *call, rs_score_state *state) {
  *w = (walk){.call = call, .state = state, .least_bin = call->bins};
  w->most_begin = w->least_begin = call->begin[0];
  w->least_stop = w->most_stop = call->stop[0];
  w->first_position = w->last_position = call->position[0];
  for (size_t lane = 0; lane < LANES; lane++) {
    size_t v = lane / WIDTH, i = lane % WIDTH;
    int32_t begin = call->begin[lane], stop = call->stop[lane], position = call->position[lane];
    w->reference[v][i] = (real)state->reference[lane];
    w->top[v][i] = (real)state->top[lane];
    w->argmax[v][i] = state->argmax[lane];
    w->needle[v][i] = (real)state->needle[lane];
    w->begin[v][i] = begin;
    w->stop[v][i] = stop;
    w->position[v][i] = position;
    w->most_begin = begin > w->most_begin ? begin : w->most_begin;
    w->least_begin = begin < w->least_begin ? begin : w->least_begin;
    w->most_stop = stop > w->most_stop ? stop : w->most_stop;
    w->least_stop = stop < w->least_stop ? stop : w->least_stop;
    w->first_position = position < w->first_position ? position : w->first_position;
    w->last_position = position > w->last_position ? position : w->last_position;
  }
}

static void end_walk(walk *w) {
  for (size_t lane = 0; lane < LANES; lane++) {
    w->state->top[lane] = w->top[lane / WIDTH][lane % WIDTH];
    w->state->argmax[lane] = (int32_t)w->argmax[lane / WIDTH][lane % WIDTH];
  }
}

RS_INLINE void walk_with(const rs_score_call *call, rs_score_state *state, bool moments, bool ranks) {
  walk w;
  begin_walk(&w, call, state);
  for (size_t tile = call->end; tile-- > call->first;) visit(&w, tile, moments, ranks);
  weigh_pending(&w, moments, ranks);
  end_run(&w);
  flush(&w);
  end_walk(&w);
}

static void walk_weights(const rs_score_call *call, rs_score_state *state) {
  walk_with(call, state, false, false);
}

static void walk_ranks(const rs_score_call *call, rs_score_state *state) {
  walk_with(call, state, false, true);
}

static void walk_moments(const rs_score_call *call, rs_score_state *state) {
  walk_with(call, state, true, false);
}

static void walk_everything(const rs_score_call *call, rs_score_state *state) {
  walk_with(call, state, true, true);
}

static void walk_tiles(const rs_score_call *call, rs_score_state *state) {
  bool moments = state->bin_keys != NULL;
  if (moments && call->ranks)
    walk_everything(call, state);
  else if (moments)
    walk_moments(call, state);
  else if (call->ranks)
    walk_ranks(call, state);
  else
    walk_weights(call, state);
}

static void read_logits(const rs_score_call *call, void *out) {
  walk w = {.call = call};
  real *to = out;
  for (size_t tile = call->first; tile < call->end; tile++) {
    score(&w, tile, false, false);
    if (call->cap != 0) cap_logits(&w);
    if (call->bias != NULL) add_bias(&w, (int32_t)(tile * ROWS));
    for (size_t i = 0; i < LOGITS; i++, to += WIDTH) store(to, w.logits[i]);
  }
}

static void dot(const void *queries, const void *keys, size_t dims, double cap, double *out) {
  const real *q = queries, *k = keys;
  vec sums[VECTORS], slope;
  for (size_t v = 0; v < VECTORS; v++) sums[v] = all(0);
  for (size_t d = 0; d < dims; d++, q += LANES, k += LANES)
    for (size_t v = 0; v < VECTORS; v++) sums[v] = fused(load(q + v * WIDTH), load(k + v * WIDTH), sums[v]);
  for (size_t v = 0; v < VECTORS && cap != 0; v++)
    sums[v] = all((real)cap) * tanh_of(sums[v] * all((real)(1 / cap)), &slope);
  for (size_t lane = 0; lane < LANES; lane++) out[lane] = sums[lane / WIDTH][lane % WIDTH];
}

extern const rs_score_kernel RS_OF_REAL(rs_scores);
const rs_score_kernel RS_OF_REAL(rs_scores) = {sizeof(real), LANES, ROWS, walk_tiles, read_logits, dot};
