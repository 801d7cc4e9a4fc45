/* test_engine.c: the engine against the reference row. Random small jobs draw every method, mask, query set and kind of
 * content; what the engine observes must be what the plainest formulas, in long double, make of the reference's logits.
 * The reference itself is checked against rotation matrices written out here. Every job is drawn from (seed, job
 * number) alone: a failure names both, and ROPESCOPE_SEED repeats or varies them. */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <gsl/gsl_errno.h>
#include <math.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../biases.h"
#include "ropescope/kernel.h"
#include "ropescope/metrics.h"

enum {
  JOBS = 2000, /* ROPESCOPE_JOBS gives another number */
  MOST_TOKENS = 3000,
  MOST_DIMS = 256,
  MOST_VIEWS = 3,
  WORK = 200000 /* queries * keys * dims of one job: what keeps 2000 of them within seconds */
};

/* ---- the heap, made to fail -------------------------------------------------------------------------------------- */

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
enum { COUNTS_MEMORY = 1 };
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *memory);

/* Of this thread alone: Criterion's own threads allocate when they please. */
static _Thread_local long blocks;           /* allocated and not yet released */
static _Thread_local long allocations = -1; /* until the next one fails; negative: none does */
static _Thread_local bool refused;

/* LLVM's OpenMP ends the program when it is refused: whoever asks next is. */
static bool refuses(void *caller) {
  Dl_info where;
  if (allocations < 0 || allocations-- > 0) return false;
  refused = dladdr(caller, &where) == 0 || strstr(where.dli_fname, "libomp.") == NULL;
  if (!refused) allocations = 0;
  return refused;
}

static void *counted(void *memory) {
  blocks += memory != NULL;
  return memory;
}

void *malloc(size_t size) {
  return refuses(__builtin_return_address(0)) ? NULL : counted(__libc_malloc(size));
}

void *calloc(size_t count, size_t size) {
  return refuses(__builtin_return_address(0)) ? NULL : counted(__libc_calloc(count, size));
}

void *realloc(void *memory, size_t size) {
  if (refuses(__builtin_return_address(0))) return NULL;
  void *moved = __libc_realloc(memory, size);
  return memory != NULL ? moved : counted(moved);
}

void *aligned_alloc(size_t alignment, size_t size) {
  return refuses(__builtin_return_address(0)) ? NULL : counted(__libc_memalign(alignment, size));
}

/* GNU OpenMP's own, which ends the program when it is refused. */
void *memalign(size_t alignment, size_t size) {
  return counted(__libc_memalign(alignment, size));
}

void free(void *memory) {
  blocks -= memory != NULL;
  __libc_free(memory);
}
#else
enum { COUNTS_MEMORY = 0 };
static long blocks, allocations;
static bool refused;
#endif

/* ---- chance ------------------------------------------------------------------------------------------------------ */

typedef struct dice {
  uint64_t seed;
  uint32_t job;
  uint64_t thrown;
} dice;

static uint64_t test_seed(void) {
  const char *given = getenv("ROPESCOPE_SEED");
  return given != NULL ? strtoull(given, NULL, 10) : 20240607;
}

static uint32_t test_jobs(void) {
  const char *given = getenv("ROPESCOPE_JOBS");
  return given != NULL ? (uint32_t)strtoul(given, NULL, 10) : JOBS;
}

static double unit(dice *d) {
  return rs_uniform((rs_stream){d->seed, 0xd1ce, d->job}, d->thrown++);
}

/* A whole number in [least, most]. */
static size_t pick(dice *d, size_t least, size_t most) {
  return least + (size_t)(unit(d) * (double)(most - least + 1));
}

/* Once in `times`. */
static bool once_in(dice *d, size_t times) {
  return pick(d, 1, times) == 1;
}

static double between(dice *d, double least, double most) {
  return least + (most - least) * unit(d);
}

/* Even in the logarithm, so that small worlds are as common as large ones. */
static size_t pick_log(dice *d, size_t least, size_t most) {
  return (size_t)floor(exp(between(d, log((double)least), log((double)most + 1))));
}

static void gaussian(dice *d, size_t count, double *out) {
  rs_gaussian_fill((rs_stream){d->seed, 0x6a55, d->job}, 4 * d->thrown, count, out);
  d->thrown += count;
}

/* ---- random worlds ----------------------------------------------------------------------------------------------- */

typedef struct world {
  dice dice;
  rs_model model;
  rs_recipe recipe;
  rs_encoding *encoding;
  rs_projection *projection;
  size_t *queries, *edges, *needle_at;
  double *q, *k, *needle_key;
  rs_attention_job job;
} world;

RS_PRINTF(3, 4) static void demand(const world *w, bool holds, const char *format, ...) {
  if (holds) return;
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  cr_assert_fail("ROPESCOPE_SEED=%llu job %u (%s, L %zu, D %zu, R %zu, mask %d): %s", (unsigned long long)w->dice.seed,
                 w->dice.job, w->recipe.method->name, w->encoding != NULL ? w->encoding->length : 0, w->model.head_dim,
                 w->encoding != NULL ? w->encoding->rotary_dim : 0, (int)w->job.mask.kind, text);
}

static void *obtain(size_t count, size_t size) {
  void *memory = calloc(count > 0 ? count : 1, size);
  cr_assert_not_null(memory);
  return memory;
}

static bool has(const world *w, const char *name) {
  return rs_settings_find(&w->recipe.settings, name) >= 0;
}

/* Sets a parameter that the method may not have. */
RS_PRINTF(3, 4) static void set(world *w, const char *name, const char *format, ...) {
  char text[64];
  rs_err err = {0};
  if (!has(w, name)) return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  demand(w, rs_recipe_set(&w->recipe, name, text, &err) == RS_OK, "%s = %s: %s", name, text, err.message);
}

static void set_divisors(world *w, const char *name, size_t count) {
  int index = rs_settings_find(&w->recipe.settings, name);
  double list[MOST_DIMS];
  if (index < 0) return;
  for (size_t j = 0; j < count; j++) list[j] = between(&w->dice, 1, 30);
  rs_value_list(w->recipe.settings.params[index], list, count, &w->recipe.settings.values[index], NULL);
}

static void draw_model(world *w, size_t length) {
  dice *d = &w->dice;
  bool embedded = w->recipe.method->embed != NULL; /* projections of wide tokens take long to draw */
  size_t dims = 2 * pick_log(d, 1, embedded ? MOST_DIMS / 16 : MOST_DIMS / 2);
  w->model = (rs_model){.heads = pick(d, 1, 6),
                        .head_dim = dims,
                        .rotary_dim = once_in(d, 3) ? 2 * pick(d, 1, dims / 2) : dims,
                        .rope_theta = exp(between(d, log(10), log(1e6))),
                        .train_length = pick_log(d, 2, MOST_TOKENS),
                        .pair_layout = once_in(d, 2) ? RS_INTERLEAVED : RS_HALF_SPLIT};
  if (embedded) w->model.train_length += length; /* a learned table must reach */
  w->model.max_length = w->model.train_length * pick(d, 1, 32);
}

static void draw_scale(world *w) {
  static const char *const rules[] = {"auto", "dynamic", "hf_dynamic"};
  dice *d = &w->dice;
  size_t rule = pick(d, 0, RS_COUNT(rules));
  if (rule < RS_COUNT(rules))
    set(w, "scale", "%s", rules[rule]);
  else
    set(w, "scale", "%g", between(d, 0.5, 32));
  if (rule == 2 && has(w, "scale")) set(w, "factor", "%g", between(d, 1, 16));
}

static void draw_rotary(world *w) {
  dice *d = &w->dice;
  if (once_in(d, 2)) set(w, "interpolate", "positions");
  if (once_in(d, 2)) set(w, "temperature", "logits");
  if (once_in(d, 4)) set(w, "attention_factor", "%g", between(d, 0.3, 2));
  if (once_in(d, 4)) set(w, "pair_layout", "%s", once_in(d, 2) ? "interleaved" : "half_split");
  if (has(w, "axis_order") && w->model.head_dim >= 4) /* two axes share the pairs out */
    set(w, "rotary_dim", "%zu", 4 * pick(d, 1, w->model.head_dim / 4));
  else if (once_in(d, 3))
    set(w, "rotary_dim", "%zu", 2 * pick(d, 1, w->model.head_dim / 2));
  if (once_in(d, 3)) set(w, "mrope_layout", "interleaved");
  if (once_in(d, 5) && w->recipe.method->pos->views == 1) set(w, "mrope_section", "equal");
  const rs_value *rotary = rs_setting(&w->recipe.settings, "rotary_dim");
  size_t pairs = (rotary->set ? (size_t)rotary->number : w->model.rotary_dim) / 2;
  set_divisors(w, "short_factor", pairs);
  set_divisors(w, "long_factor", pairs);
  set_divisors(w, "freq_x", pairs);
  set_divisors(w, "freq_y", pairs);
  set_divisors(w, "inv_freq", pairs);
  if (once_in(d, 5) && w->recipe.method->pos->views == 1) set(w, "cached_keys", "%zu", pick(d, 1, 40));
  if (once_in(d, 5)) set(w, "wavelengths", "whole");
}

/* Windows, groups, chunks and shifts around the length; now and then as `auto` has them. */
static void draw_map(world *w, size_t length) {
  dice *d = &w->dice;
  size_t chunk = pick(d, 1, length + 3), local = pick(d, 0, chunk - 1);
  if (!once_in(d, 8)) set(w, "group", "%zu", pick_log(d, 1, 100));
  if (!once_in(d, 8) || w->model.train_length < 8) set(w, "window", "%zu", pick(d, 0, length + 3));
  if (once_in(d, 3)) set(w, "leak", "%g", between(d, 0, 1));
  if (!once_in(d, 8) || w->model.train_length < 8) {
    set(w, "chunk_size", "%zu", chunk);
    set(w, "local_size", "%zu", local);
  }
  bool shifts = has(w, "local"); /* a number for STRING, a word for Self-Extend */
  if (!once_in(d, 8) && shifts) set(w, "shift", "%zu", pick(d, 1, length + 3));
  if (once_in(d, 2) && !shifts) set(w, "shift", "exact");
  set(w, "local", "%zu", pick(d, 0, length));
  set(w, "position_range", "%zu", length + pick_log(d, 1, 1000));
}

static void set_list(world *w, const char *name, size_t count, double least, double most) {
  int index = rs_settings_find(&w->recipe.settings, name);
  if (index < 0) return;
  double *list = obtain(count, sizeof *list);
  for (size_t i = 0; i < count; i++) list[i] = between(&w->dice, least, most);
  demand(w,
         rs_value_list(w->recipe.settings.params[index], list, count, &w->recipe.settings.values[index], NULL) == RS_OK,
         "%s", name);
  free(list);
}

/* Learned numbers are given half of the time, and drawn by the library the other half. */
static void draw_bias(world *w) {
  static const char *const forms[] = {"distance", "position", "end"}, *const formats[] = {"f64", "f32", "bf16", "f16"};
  static const size_t buckets[][2] = {
      {32, 128}, {16, 64}, {64, 256}, {8, 20}}; /* edges on no whole distance, or exact */
  dice *d = &w->dice;
  const size_t *t5 = buckets[pick(d, 0, RS_COUNT(buckets) - 1)];
  size_t heads = w->model.heads, clip = pick_log(d, 1, 100), units = pick(d, 1, 40);
  set(w, "bias_max", "%g", between(d, 0.5, 16));
  set(w, "bias_form", "%s", forms[pick(d, 0, 2)]);
  if (once_in(d, 2)) set(w, "slope_format", "%s", formats[pick(d, 0, 3)]);
  if (once_in(d, 2)) set(w, "bias_format", "%s", formats[pick(d, 0, 3)]);
  if (once_in(d, 2)) set(w, "slope_factor", "inv_sqrt_dim");
  set(w, "num_buckets", "%zu", t5[0]);
  set(w, "max_distance", "%zu", t5[1]);
  set(w, "bidirectional", once_in(d, 2) ? "true" : "false");
  set(w, "unscaled_dot", once_in(d, 2) ? "true" : "false");
  set(w, "clip", "%zu", clip);
  set(w, "c", "%g", between(d, 0.01, 2));
  set(w, "threshold", "%g", between(d, 1, 300));
  set(w, "mlp_width", "%zu", units);
  set(w, "sandwich_dim", "%zu", 2 * pick(d, 1, 80));
  if (once_in(d, 2)) {
    set(w, "table_seed", "%zu", pick(d, 0, 1000));
    set(w, "init_sd", "%g", between(d, 0.02, 1));
    return;
  }
  if (has(w, "num_buckets")) set_list(w, "values", t5[0] * heads, -3, 3);
  if (has(w, "clip")) set_list(w, "values", (2 * clip + 1) * heads, -3, 3);
  set_list(w, "weights", 2 * units + heads * (units + 1), -1, 1);
  set_list(w, "r1", heads, -1, 3);
  set_list(w, "r2", heads, -1, 3);
  set_list(w, "a", heads, -1, 3);
  set_list(w, "p", heads, -1, 3);
}

static void draw_logit_scale(world *w) {
  static const char *const words[] = {"log_n", "ssmax", "llama4", "ministral", "entropy_invariant"};
  dice *d = &w->dice;
  if (!once_in(d, 3)) return;
  set(w, "logit_scale", "%s", words[pick(d, 0, RS_COUNT(words) - 1)]);
  const rs_value *chosen = rs_setting(&w->recipe.settings, "logit_scale");
  if (once_in(d, 2) && chosen->choice > 1)
    set(w, "logit_scale_factor", "%g", between(d, 0, 0.5));
  else if (once_in(d, 2))
    set(w, "logit_scale_length", "%zu", pick(d, 2, 100));
}

static void draw_recipe(world *w, size_t length) {
  static const char *const layouts[] = {"interleaved", "halves", "tensor2tensor"};
  dice *d = &w->dice;
  draw_scale(w);
  draw_rotary(w);
  draw_map(w, length);
  draw_logit_scale(w);
  draw_bias(w);
  set(w, "embedding_layout", "%s", layouts[pick(d, 0, 2)]);
  if (once_in(d, 2)) set(w, "combine", "sum");
}

/* A picture of some tokens after a few of text. */
static rs_token_run draw_image(dice *d, size_t room) {
  size_t rows = pick(d, 1, room), columns = pick(d, 1, room / rows);
  return (rs_token_run){.modality = RS_IMAGE,
                        .tokens = rows * columns,
                        .frames = 1,
                        .rows = rows,
                        .columns = columns,
                        .seconds_per_frame = 1,
                        .ids_per_second = 1};
}

/* False where the recipe is undefined for these values; the caller counts. */
static bool draw_encoding(world *w, const rs_method *method, size_t length) {
  static const rs_precision single = {RS_F32, RS_F32, RS_F32, RS_F32, false}, *const none = NULL;
  dice *d = &w->dice;
  cr_assert_eq(rs_recipe_init(&w->recipe, method, NULL), RS_OK);
  draw_model(w, length);
  draw_recipe(w, length);
  rs_token_run run = draw_image(d, length);
  rs_token_layout image = {.runs = &run, .count = once_in(d, 2) || strcmp(method->name, "swin") == 0};
  if (strstr(method->name, "_2d") != NULL) image.count = 1; /* undefined without one */
  const rs_precision *precision = once_in(d, 6) ? &single : none;
  if (rs_recipe_check(&w->recipe, &w->model, NULL) != RS_OK) return false;
  return rs_encoding_create(&w->recipe, &w->model, length, &image, precision, &w->encoding, NULL) == RS_OK;
}

/* Amplitudes and temperatures no method has: the formula holds for any. */
static void tamper(world *w) {
  if (!once_in(&w->dice, 3)) return;
  w->encoding->amp = between(&w->dice, 0.2, 2);
  for (size_t m = 0; m < w->encoding->length; m++) w->encoding->logit_scale[m] = between(&w->dice, -1, 3);
}

static rs_mask draw_mask(dice *d, size_t length, bool future) {
  rs_mask mask = {.window = pick(d, 1, length + 4), .sinks = pick(d, 1, once_in(d, 2) ? 6 : length + 4)};
  do mask.kind = (rs_mask_kind)pick(d, RS_CAUSAL, RS_CROSS);
  while (mask.kind == RS_BIDIRECTIONAL && !future);
  return mask;
}

static void draw_queries(world *w) {
  dice *d = &w->dice;
  size_t length = w->encoding->length, most = WORK * (once_in(d, 20) ? 8 : 1) / (length * w->model.head_dim);
  if (most < 1) most = 1;
  rs_query_set set = {.choice = (rs_query_choice)pick(d, RS_QUERIES_ALL, RS_QUERIES_RANDOM)};
  if (set.choice == RS_QUERIES_ALL && most < length) set.choice = RS_QUERIES_RANDOM;
  size_t least_step = (length + most - 1) / most;
  set.number = set.choice == RS_QUERIES_EVERY ? pick(d, least_step, length) : pick(d, 1, most);
  cr_assert_eq(rs_queries_select(&set, length, d->seed + d->job, &w->queries, &w->job.query_count, NULL), RS_OK);
}

enum { GAUSSIAN, HUGE_LOGITS, LARGE_LOGITS, RISING, CONSTANT, WHOLE_NUMBERS, EQUAL_LOGITS, FAINT, CONTENTS };

static void draw_vectors(dice *d, int content, size_t count, double *out) {
  gaussian(d, count, out);
  for (size_t i = 0; i < count; i++) {
    if (content == CONSTANT) out[i] = 1;
    if (content == WHOLE_NUMBERS) out[i] = round(out[i]); /* many ties without rotation */
    if (content == FAINT) out[i] *= 1e-3;
  }
}

/* Needles anywhere, also where the mask hides them; some repeat the key they stand beside, a tie to the last bit. */
static void draw_needles(world *w) {
  dice *d = &w->dice;
  size_t dims = w->model.head_dim, count = w->job.query_count;
  w->needle_at = obtain(count, sizeof *w->needle_at);
  w->needle_key = obtain(count * dims, sizeof *w->needle_key);
  gaussian(d, count * dims, w->needle_key);
  for (size_t i = 0; i < count; i++) {
    double *key = w->needle_key + i * dims, overlap = between(d, -1, 2);
    w->needle_at[i] = pick(d, 0, w->encoding->length - 1);
    const double *model = once_in(d, 3) ? w->k + w->needle_at[i] * dims : NULL;
    for (size_t j = 0; j < dims; j++) key[j] = model != NULL ? model[j] : overlap * w->q[i * dims + j] + 0.5 * key[j];
  }
  w->job.needle_at = w->needle_at;
  w->job.needle_key = w->needle_key;
}

static void draw_edges(world *w) {
  size_t length = w->encoding->length, per_octave = pick(&w->dice, 1, 5);
  if (once_in(&w->dice, 8)) {
    w->edges = obtain(2, sizeof *w->edges);
    w->edges[1] = length;
    w->job.bins = 1;
  } else
    cr_assert_eq(rs_log_edges(length, per_octave, &w->edges, &w->job.bins, NULL), RS_OK);
  w->job.edges = w->edges;
}

/* Keys that grow towards the first or the last: the largest logit is a new one at every tile, on one way or the other.
 */
static void grow(dice *d, size_t length, size_t dims, double *k) {
  double steep = between(d, -0.2, 0.2);
  for (size_t i = 0; i < length * dims; i++)
    k[i] = (fabs(k[i]) + 0.1) * fmin(30, fmax(1e-3, exp(steep * (double)(i / dims))));
}

/* The largest |logit| of the job becomes `wanted`; exp overflows soon after 700. */
static void stretch(world *w, double wanted) {
  size_t length = w->encoding->length, dims = w->model.head_dim;
  double *logits = obtain(length, sizeof *logits), largest = 0, needle;
  for (size_t i = 0; i < w->job.query_count; i++) {
    cr_assert_eq(rs_reference_row(&w->job, i, logits, &needle, NULL), RS_OK);
    for (size_t n = 0; n < length; n++) largest = isinf(logits[n]) ? largest : fmax(largest, fabs(logits[n]));
  }
  for (size_t i = 0; i < w->job.query_count * dims && largest > 0; i++) w->q[i] *= wanted / largest;
  free(logits);
}

static void draw_content(world *w) {
  dice *d = &w->dice;
  size_t length = w->encoding->length, dims = w->model.head_dim, count = w->job.query_count;
  int content = (int)pick(d, 0, CONTENTS - 1);
  w->q = obtain(count * dims, sizeof *w->q);
  w->k = obtain(length * dims, sizeof *w->k);
  draw_vectors(d, content, length * dims, w->k);
  if (content != EQUAL_LOGITS) draw_vectors(d, content, count * dims, w->q);
  w->job.q = w->q;
  w->job.k = w->k;
  if (content == RISING) grow(d, length, dims, w->k);
  if (content == HUGE_LOGITS) stretch(w, 700);
  if (content == LARGE_LOGITS) stretch(w, between(d, 10, 80));
  if (once_in(d, 2)) draw_needles(w);
}

static void draw_job(world *w) {
  dice *d = &w->dice;
  w->job.encoding = w->encoding;
  w->job.head = pick(d, 0, w->model.heads - 1);
  w->job.mask = draw_mask(d, w->encoding->length, w->encoding->views == 1);
  w->job.sinks = once_in(d, 2) ? pick(d, 0, 5) : pick(d, 0, w->encoding->length + 3);
  w->job.moments = once_in(d, 2);
  w->job.scores = (rs_score_format)pick(d, RS_SCORES_AUTO, RS_SCORES_F64);
  w->job.epsilon = once_in(d, 3) ? 0 : once_in(d, 2) ? 1e-12 : 1e-4;
  draw_queries(w);
  w->job.queries = w->queries;
  draw_edges(w);
  if (w->recipe.method->embed != NULL) {
    cr_assert_eq(
        rs_projection_create(w->encoding, w->job.head, d->seed, w->queries, w->job.query_count, &w->projection, NULL),
        RS_OK);
    w->job.projection = w->projection;
  }
  draw_content(w);
}

static void use_threads(int threads) {
#ifdef _OPENMP
  omp_set_num_threads(threads);
#else
  (void)threads;
#endif
}

/* World number `job`, of method number `job` in turn. False where its recipe is undefined. */
static bool world_draw(world *w, uint32_t job, size_t most_tokens) {
  size_t methods;
  const rs_method *all = rs_methods(&methods);
  *w = (world){.dice = {.seed = test_seed(), .job = job}};
  use_threads(1); /* more would only wait for each other beside the other cases */
  size_t length = pick_log(&w->dice, 1, most_tokens);
  if (!draw_encoding(w, &all[job % methods], length)) return false;
  tamper(w);
  draw_job(w);
  return true;
}

static void world_clear(world *w) {
  rs_projection_free(w->projection);
  rs_encoding_free(w->encoding);
  rs_recipe_clear(&w->recipe);
  free(w->queries);
  free(w->edges);
  free(w->needle_at);
  free(w->q);
  free(w->k);
  free(w->needle_key);
}

static rs_engine *engine_for(size_t length, size_t dims, size_t views) {
  rs_engine *engine;
  cr_assert_eq(rs_engine_create(length, dims, views, &engine, NULL), RS_OK);
  return engine;
}

static rs_observation *run(rs_engine *engine, const world *w) {
  rs_observation *observation = NULL;
  rs_err err = {0};
  rs_status status = rs_engine_run(engine, &w->job, &observation, &err);
  demand(w, status == RS_OK && observation != NULL, "the engine failed: %s", err.message);
  demand(w, observation->count == w->job.query_count && observation->bins == w->job.bins, "wrong shape");
  return observation;
}

static rs_observation *run_alone(const world *w) {
  rs_engine *engine = engine_for(w->encoding->length, w->model.head_dim, w->encoding->views);
  rs_observation *observation = run(engine, w);
  rs_engine_free(engine);
  return observation;
}

/* ---- the oracle: plain formulas over the reference's logits --------------------------------------------------------
 */

static bool visible(const rs_mask *mask, size_t m, size_t n) {
  if (mask->kind == RS_BIDIRECTIONAL || mask->kind == RS_CROSS) return true;
  if (n > m) return false;
  if (mask->kind == RS_CAUSAL) return true;
  return m - n < mask->window || (mask->kind == RS_WINDOW_SINKS && n < mask->sinks);
}

/* The keys one query sees, needle last, and what follows from their logits. */
typedef struct oracle {
  size_t count, *at;
  long double *logit, *weight, max, log_sum_exp, entropy, sink;
  size_t argmax, rank;
  bool has_needle;
} oracle;

static void oracle_add(oracle *o, size_t at, double logit) {
  if (o->count == 0 || logit > o->max) {
    o->max = logit;
    o->argmax = at;
  }
  o->at[o->count] = at;
  o->logit[o->count++] = logit;
}

static void oracle_collect(const world *w, size_t index, oracle *o) {
  size_t length = w->encoding->length, m = w->queries[index];
  double *logits = obtain(length, sizeof *logits), needle = 0;
  demand(w, rs_reference_row(&w->job, index, logits, &needle, NULL) == RS_OK, "the reference failed");
  for (size_t n = 0; n < length; n++) {
    bool seen = visible(&w->job.mask, m, n);
    demand(w, seen == isfinite(logits[n]) && (seen || logits[n] < 0), "query %zu, key %zu: wrongly masked", m, n);
    if (seen) oracle_add(o, n, logits[n]);
  }
  o->has_needle = w->needle_at != NULL && visible(&w->job.mask, m, w->needle_at[index]);
  demand(w, o->has_needle == !isnan(needle), "query %zu: needle wrongly hidden", m);
  for (size_t i = 0; o->has_needle && i < o->count; i++) o->rank += o->logit[i] > needle;
  if (o->has_needle) oracle_add(o, w->needle_at[index], needle);
  free(logits);
}

static void oracle_weigh(const world *w, oracle *o) {
  long double z = 0;
  for (size_t i = 0; i < o->count; i++) z += expl(o->logit[i] - o->max);
  o->log_sum_exp = o->max + logl(z);
  for (size_t i = 0; i < o->count; i++) {
    o->weight[i] = expl(o->logit[i] - o->max) / z;
    if (o->weight[i] > 0) o->entropy -= o->weight[i] * logl(o->weight[i]);
    bool needle = o->has_needle && i == o->count - 1;
    if (o->at[i] < w->job.sinks && !needle) o->sink += o->weight[i];
  }
}

static oracle oracle_make(const world *w, size_t index) {
  size_t room = w->encoding->length + 1;
  oracle o = {.at = obtain(room, sizeof *o.at),
              .logit = obtain(room, sizeof *o.logit),
              .weight = obtain(room, sizeof *o.weight)};
  oracle_collect(w, index, &o);
  oracle_weigh(w, &o);
  return o;
}

static void oracle_clear(oracle *o) {
  free(o->at);
  free(o->logit);
  free(o->weight);
}

static void near(const world *w, const rs_row *row, const char *what, double got, long double want, double slack) {
  demand(w, fabsl(got - want) <= slack, "query %zu: %s is %.17g, should be %.17Lg within %g", row->query, what, got,
         want, slack);
}

/* What the engine promises of one observation: `logit` nats, `weight` relative; weights may besides lack what was
 * skipped, and those too small for the format are 0. The reference itself is good to some ulp of its logits. */
typedef struct bounds {
  double logit, weight, skipped, entropy;
  double low; /* of logits that a bias has taken far down: two roundings of theirs besides */
} bounds;

static bounds bounds_of(const rs_observation *observation, const rs_row *row, const oracle *o) {
  double ulp = 0, keys = (double)o->count, skipped = row->skipped_weight;
  for (size_t i = 0; i < o->count; i++) ulp = fmax(ulp, 1e-15 * fabs((double)o->logit[i]));
  double logit = observation->error + ulp, weight = 2 * logit;
  /* A weight p that is off by a share s of itself moves the entropy by s p (1 + |ln p|); one that is left out, too. */
  double left_out = skipped > 0 ? skipped * (2 + log(keys) - log(skipped)) : 0;
  double low = logit + (observation->scores == RS_SCORES_F32 ? 1.2e8 : 1) * ulp;
  return (bounds){logit, weight, skipped, weight * (2 + 2 * log(keys)) + left_out + 1e-15, low};
}

static void near_weight(const world *w, const rs_row *row, const char *what, double got, long double want, bounds b) {
  near(w, row, what, got, want, b.weight * ((double)want + 1e-12) + b.skipped + 1e-15 * (double)want + 1e-33);
}

/* Keys of one bin, recounted. */
static void check_bin(const world *w, const rs_row *row, const oracle *o, size_t bin, bounds b) {
  long double weight = 0, keys = 0, mean = 0, squares = 0;
  size_t haystack = o->count - o->has_needle;
  for (int pass = 0; pass < 2; pass++)
    for (size_t i = 0; i < o->count; i++) {
      size_t distance = o->at[i] > row->query ? o->at[i] - row->query : row->query - o->at[i];
      if (distance < w->edges[bin] || distance >= w->edges[bin + 1]) continue;
      if (pass == 0) weight += o->weight[i];
      if (i >= haystack) continue;
      if (pass == 0) keys += 1;
      if (pass == 0) mean += o->logit[i];
      if (pass == 1) squares += (o->logit[i] - mean / keys) * (o->logit[i] - mean / keys);
    }
  near_weight(w, row, "bin_weight", row->bin_weight[bin], weight, b);
  if (!w->job.moments) return;
  near(w, row, "bin_keys", row->bin_keys[bin], keys, 0);
  near(w, row, "bin_mean", row->bin_mean[bin], keys > 0 ? mean / keys : 0, 2 * b.low);
  /* What a slip in each logit does: 2 sum |x - mean| slip + slip^2; and sums of squares about some place in their
   * midst, within some sd of their mean. */
  double spread = (double)sqrtl(keys * squares);
  near(w, row, "bin_squares", row->bin_squares[bin], squares,
       4 * b.low * (spread + (double)keys * b.low) + 4 * b.weight * (double)squares);
}

/* The rank is that of logits within their bounds: ties may fall either way. */
static void check_rank(const world *w, const rs_row *row, const oracle *o, bounds b) {
  size_t least = 0, most = 0;
  for (size_t i = 0; i + 1 < o->count; i++) {
    least += o->logit[i] > o->logit[o->count - 1] + 2 * b.low;
    most += o->logit[i] > o->logit[o->count - 1] - 2 * b.low;
  }
  demand(w, row->needle_rank >= least && row->needle_rank <= most, "query %zu: rank %zu, should be %zu to %zu",
         row->query, row->needle_rank, least, most);
}

static void check_needle(const world *w, size_t index, const rs_row *row, const oracle *o, bounds b) {
  size_t m = row->query, at = w->needle_at != NULL ? w->needle_at[index] : m;
  demand(w, row->needle_planted == (w->needle_at != NULL) && row->has_needle == o->has_needle, "query %zu: needle?", m);
  demand(w, row->needle_distance == (at > m ? at - m : m - at), "query %zu: needle distance", m);
  size_t last = o->count - 1;
  near_weight(w, row, "needle_weight", row->needle_weight, o->has_needle ? o->weight[last] : 0, b);
  if (!o->has_needle) return;
  near(w, row, "needle_logit", row->needle_logit, o->logit[last], b.low);
  check_rank(w, row, o, b);
}

/* The logit of the argmax is the largest, within the bounds. */
static void check_argmax(const world *w, const rs_row *row, const oracle *o, bounds b) {
  bool found = false;
  for (size_t i = 0; i < o->count; i++) found |= o->at[i] == row->argmax && o->logit[i] >= o->max - 2 * b.logit;
  demand(w, found, "query %zu: argmax %zu, should be %zu", row->query, row->argmax, o->argmax);
}

static void check_row(const world *w, const rs_observation *observation, size_t index) {
  const rs_row *row = &observation->rows[index];
  oracle o = oracle_make(w, index);
  bounds b = bounds_of(observation, row, &o);
  demand(w, row->query == w->queries[index] && row->keys == o.count, "query %zu sees %zu keys, should see %zu",
         row->query, row->keys, o.count);
  demand(w, row->skipped_weight <= w->job.epsilon, "query %zu: more than epsilon was skipped", row->query);
  check_argmax(w, row, &o, b);
  near(w, row, "max_logit", row->max_logit, o.max, b.logit);
  near(w, row, "log_sum_exp", row->log_sum_exp, o.log_sum_exp, b.weight + 2 * b.skipped);
  near(w, row, "entropy", row->entropy, o.entropy, b.entropy);
  near_weight(w, row, "sink_weight", row->sink_weight, o.sink, b);
  check_needle(w, index, row, &o, b);
  for (size_t bin = 0; bin < w->job.bins; bin++) check_bin(w, row, &o, bin, b);
  oracle_clear(&o);
}

/* The error that is promised is the formula of limits.h for the format that was asked for. */
static void check_promise(const world *w, const rs_observation *observation) {
  bool single = observation->scores == RS_SCORES_F32;
  demand(w, w->job.scores == RS_SCORES_AUTO || observation->scores == w->job.scores, "another format");
  demand(w, w->job.scores != RS_SCORES_AUTO || !single || observation->error <= RS_SCORE_TOLERANCE, "float misses it");
  demand(w, observation->error >= (single ? 6e-8 : 1e-16), "no error at all");
}

/* One engine per head dim, for the largest job: every job runs in the traces of those before it, each with another
 * instruction set. */
Test(engine, random_jobs__observables__are_those_of_the_reference_row) {
  rs_engine *engines[MOST_DIMS / 2 + 1] = {NULL};
  size_t methods, seen[64] = {0}, masks[5] = {0}, formats[3] = {0}, sets = 0;
  uint32_t jobs = test_jobs();
  rs_methods(&methods);
  while (rs_isa_name(sets) != NULL) sets++;
  cr_log_info("ROPESCOPE_SEED=%llu", (unsigned long long)test_seed());
  for (uint32_t job = 0; job < jobs; job++) {
    world w;
    cr_assert_eq(rs_kernels_use(rs_isa_name(job / methods % sets), NULL), RS_OK);
    if (world_draw(&w, job, MOST_TOKENS)) {
      rs_engine **engine = &engines[w.model.head_dim / 2];
      if (*engine == NULL) *engine = engine_for(MOST_TOKENS, w.model.head_dim, MOST_VIEWS);
      rs_observation *observation = run(*engine, &w);
      check_promise(&w, observation);
      for (size_t i = 0; i < observation->count; i++) check_row(&w, observation, i);
      formats[observation->scores]++;
      rs_observation_free(observation);
      seen[job % methods]++;
      masks[w.job.mask.kind]++;
    }
    world_clear(&w);
  }
  for (size_t i = 0; i < methods; i++) cr_assert_geq(seen[i], jobs / methods / 2, "method %zu: %zu jobs", i, seen[i]);
  for (size_t i = 0; i < RS_COUNT(masks); i++) cr_assert_geq(masks[i], jobs / 10);
  cr_assert(formats[RS_SCORES_F32] > jobs / 4 && formats[RS_SCORES_F64] > jobs / 4);
  for (size_t i = 0; i < RS_COUNT(engines); i++) rs_engine_free(engines[i]);
}

/* ---- the same bits ----------------------------------------------------------------------------------------------- */

static bool same_row(const rs_row *a, const rs_row *b) {
  double left[] = {a->max_logit, a->log_sum_exp, a->entropy, a->sink_weight, a->needle_logit, a->needle_weight};
  double right[] = {b->max_logit, b->log_sum_exp, b->entropy, b->sink_weight, b->needle_logit, b->needle_weight};
  return memcmp(left, right, sizeof left) == 0 && a->query == b->query && a->keys == b->keys &&
         a->argmax == b->argmax && a->needle_planted == b->needle_planted && a->has_needle == b->has_needle &&
         a->needle_distance == b->needle_distance && a->needle_rank == b->needle_rank;
}

static bool same_bits(const rs_observation *a, const rs_observation *b) {
  if (a->count != b->count || a->bins != b->bins) return false;
  size_t bytes = a->bins * sizeof(double);
  for (size_t i = 0; i < a->count; i++) {
    const rs_row *x = &a->rows[i], *y = &b->rows[i];
    if (!same_row(x, y) || memcmp(x->bin_weight, y->bin_weight, bytes) != 0) return false;
    if (x->bin_keys == NULL) continue;
    if (memcmp(x->bin_keys, y->bin_keys, bytes) != 0 || memcmp(x->bin_mean, y->bin_mean, bytes) != 0) return false;
    if (memcmp(x->bin_squares, y->bin_squares, bytes) != 0) return false;
  }
  return true;
}

/* Demands that two observations are the same to the bit, and releases both. */
static void demand_same(const world *w, rs_observation *a, rs_observation *b, const char *what) {
  demand(w, same_bits(a, b), "%s changed a bit", what);
  rs_observation_free(a);
  rs_observation_free(b);
}

Test(engine, threads__one_two_three_eight__give_the_same_bytes) {
  static const int threads[] = {2, 3, 8};
  for (uint32_t job = 10000; job < 10150; job++) {
    world w;
    if (world_draw(&w, job, MOST_TOKENS))
      for (size_t t = 0; t < RS_COUNT(threads); t++) {
        use_threads(1);
        rs_observation *one = run_alone(&w);
        use_threads(threads[t]);
        demand_same(&w, one, run_alone(&w), "the number of threads");
      }
    world_clear(&w);
  }
}

Test(engine, threads__asked_for__are_the_number_reported) {
#ifdef _OPENMP
  for (size_t threads = 1; threads < 5; threads++) {
    use_threads((int)threads);
    cr_assert_eq(rs_engine_threads(), threads);
  }
#else
  cr_assert_eq(rs_engine_threads(), 1);
#endif
  /* Linear in the length, but for what each thread holds. */
  double one = rs_engine_bytes(1000, 64, 2, 30, 4), two = rs_engine_bytes(2000, 64, 2, 30, 4);
  cr_assert_float_eq(rs_engine_bytes(3000, 64, 2, 30, 4) - two, two - one, 0);
  cr_assert_geq(two - one, 8.0 * 2 * 1000 * 64);
}

Test(engine, window__as_long_as_the_context__equals_causal_bit_by_bit) {
  static const rs_mask_kind windows[] = {RS_WINDOW, RS_WINDOW_SINKS};
  for (uint32_t job = 20000; job < 20200; job++) {
    world w;
    if (world_draw(&w, job, 200)) {
      size_t longer = once_in(&w.dice, 2) ? SIZE_MAX - w.encoding->length : pick(&w.dice, 0, 3);
      rs_mask wide = {windows[job % 2], w.encoding->length + longer, pick(&w.dice, 1, 9)};
      w.job.mask = (rs_mask){.kind = RS_CAUSAL};
      rs_observation *causal = run_alone(&w);
      w.job.mask = wide;
      demand_same(&w, causal, run_alone(&w), "a window over everything");
    }
    world_clear(&w);
  }
}

Test(engine, used_again__larger_then_smaller__leaves_no_trace) {
  for (uint32_t job = 30000; job < 30150; job++) {
    world large, small;
    bool both = world_draw(&large, job, MOST_TOKENS);
    both &= world_draw(&small, job + 1000, MOST_TOKENS);
    if (both && large.model.head_dim != small.model.head_dim) {
      world_clear(&small); /* the same head dim, from the job that follows in the same seed */
      world_draw(&small, job, 40);
    }
    if (both && large.model.head_dim == small.model.head_dim && small.encoding != NULL) {
      rs_engine *engine = engine_for(MOST_TOKENS, large.model.head_dim, MOST_VIEWS);
      rs_observation_free(run(engine, &large));
      demand_same(&small, run(engine, &small), run_alone(&small), "an earlier job");
      rs_engine_free(engine);
    }
    world_clear(&large);
    world_clear(&small);
  }
}

/* ---- the reference row against matrices ---------------------------------------------------------------------------
 */

enum { TINY = 8 }; /* tokens, dims at most */

typedef long double matrix[TINY][TINY];

static void identity(matrix out) {
  memset(out, 0, sizeof(matrix));
  for (size_t d = 0; d < TINY; d++) out[d][d] = 1;
}

/* The rotation of one token: 2x2 blocks [c -s; s c] on each pair's dims, the identity elsewhere. */
static void rotation(const rs_encoding *e, rs_side side, size_t view, size_t token, matrix out) {
  const double *position = (side == RS_QUERY_SIDE ? e->pos_q : e->pos_k)[view] + token * e->axes;
  const double *gains = (side == RS_QUERY_SIDE ? e->gain_q : e->gain_k)[view];
  identity(out);
  for (size_t j = 0; j < e->rotary_dim / 2; j++) {
    size_t a = e->pair_layout == RS_INTERLEAVED ? 2 * j : j;
    size_t b = e->pair_layout == RS_INTERLEAVED ? 2 * j + 1 : j + e->rotary_dim / 2;
    long double angle = (long double)position[e->axis[j]] * e->omega[j], factor = e->amp;
    if (gains != NULL) factor *= gains[token * (e->rotary_dim / 2) + j];
    out[a][a] = factor * cosl(angle);
    out[a][b] = -factor * sinl(angle);
    out[b][a] = factor * sinl(angle);
    out[b][b] = factor * cosl(angle);
  }
}

static void turn(matrix by, const double *x, const double *embedded, size_t dims, long double *out) {
  for (size_t i = 0; i < dims; i++) {
    out[i] = 0;
    for (size_t j = 0; j < dims; j++) out[i] += by[i][j] * ((long double)x[j] + (embedded ? embedded[j] : 0));
  }
}

/* A number of the recipe, or what `auto` stands for. */
static double setting_or(const world *w, const char *name, double automatic) {
  const rs_value *value = rs_setting(&w->recipe.settings, name);
  return value->choice >= 0 ? floor(automatic) : value->number;
}

/* Where far keys begin: the distance of the nearest, under a map of two views. */
static double far_from(const world *w) {
  double train = w->encoding->train_length, length = (double)w->encoding->length;
  bool capped = strcmp(w->recipe.method->name, "lm_infinite") == 0;
  if (!has(w, "local")) return setting_or(w, "window", capped ? train : train / 4);
  double needed = fmin(length, length - train + rs_setting_number(&w->recipe.settings, "local"));
  return setting_or(w, "shift", fmax(floor(0.33 * train), needed));
}

/* The view through which query m reads key n. */
static size_t view_of(const world *w, size_t m, size_t n) {
  double train = w->encoding->train_length;
  if (w->encoding->views == 1 || n > m) return 0;
  if (w->encoding->views == 2) return (double)(m - n) >= far_from(w);
  double stride = setting_or(w, "chunk_size", 0.75 * train) - setting_or(w, "local_size", train / 8);
  double chunks = floor((double)m / stride) - floor((double)n / stride);
  return (size_t)fmin(chunks, 2);
}

/* The formula of encoding.h, with matrices. `key` stands at position n. */
static long double explicit_logit(const world *w, size_t index, const double *key, size_t n) {
  const rs_encoding *e = w->encoding;
  size_t dims = e->head_dim, m = w->queries[index], view = view_of(w, m, n);
  long double q[TINY], k[TINY], sum = 0;
  bool across = w->job.mask.kind == RS_CROSS; /* neither rotation nor bias */
  matrix by;
  rotation(e, RS_QUERY_SIDE, view, m, by);
  if (across) identity(by);
  turn(by, w->q + index * dims, w->projection ? w->projection->q + index * dims : NULL, dims, q);
  rotation(e, RS_KEY_SIDE, view, n, by);
  if (across) identity(by);
  turn(by, key, w->projection ? w->projection->k + n * dims : NULL, dims, k);
  for (size_t d = 0; d < dims; d++) sum += q[d] * k[d];
  return e->logit_scale[m] * sum / sqrtl(dims) + (across ? 0 : expected_bias(e, w->job.head, m, n));
}

static void check_explicit(const world *w, size_t index) {
  double logits[TINY], needle, slack = w->encoding->precision.angle == RS_F64 ? 1e-12 : 1e-4;
  size_t dims = w->model.head_dim, m = w->queries[index];
  cr_assert_eq(rs_reference_row(&w->job, index, logits, &needle, NULL), RS_OK);
  for (size_t n = 0; n < w->encoding->length; n++) {
    long double want = explicit_logit(w, index, w->k + n * dims, n);
    bool seen = visible(&w->job.mask, m, n);
    demand(w, seen ? fabsl(logits[n] - want) <= slack * (1 + fabsl(want)) : logits[n] == -INFINITY,
           "query %zu, key %zu: %.17g, should be %.17Lg", m, n, logits[n], want);
  }
  bool planted = w->needle_at != NULL && visible(&w->job.mask, m, w->needle_at[index]);
  long double want = planted ? explicit_logit(w, index, w->needle_key + index * dims, w->needle_at[index]) : 0;
  demand(w, planted ? fabsl(needle - want) <= slack * (1 + fabsl(want)) : isnan(needle), "query %zu: needle", m);
}

Test(reference, tiny_worlds__logits__are_those_of_explicit_rotation_matrices) {
  size_t checked = 0;
  for (uint32_t job = 40000; job < 44000; job++) {
    world w;
    bool fits = world_draw(&w, job, TINY) && w.model.head_dim <= TINY;
    for (size_t i = 0; fits && i < w.job.query_count; i++) check_explicit(&w, i);
    checked += fits;
    world_clear(&w);
  }
  cr_assert_geq(checked, 1000, "%zu", checked);
}

/* A model with one head whose `dims` turn by `theta`. */
static void world_make(world *w, const char *method, size_t dims, size_t length) {
  *w = (world){.model = {.heads = 1,
                         .head_dim = dims,
                         .rotary_dim = dims,
                         .rope_theta = 10000,
                         .train_length = length,
                         .max_length = length}};
  cr_assert_eq(rs_recipe_init(&w->recipe, rs_method_find(method), NULL), RS_OK);
}

/* Every query and key 1, every query observed, one bin. */
static void world_fill(world *w, size_t length) {
  cr_assert_eq(rs_encoding_create(&w->recipe, &w->model, length, NULL, NULL, &w->encoding, NULL), RS_OK);
  size_t dims = w->model.head_dim;
  w->queries = obtain(length, sizeof *w->queries);
  w->q = obtain(length * dims, sizeof *w->q);
  w->k = obtain(length * dims, sizeof *w->k);
  w->edges = obtain(2, sizeof *w->edges);
  w->edges[1] = length;
  for (size_t i = 0; i < length; i++) w->queries[i] = i;
  for (size_t i = 0; i < length * dims; i++) w->q[i] = w->k[i] = 1;
  w->job = (rs_attention_job){.encoding = w->encoding,
                              .queries = w->queries,
                              .query_count = length,
                              .q = w->q,
                              .k = w->k,
                              .edges = w->edges,
                              .bins = 1};
}

/* A query along x and keys along y, 1 rad a token: <(cos m, sin m), (-sin n, cos n)> = sin(m - n). The sign of the sine
 * shows which way things turn. */
Test(reference, one_pair__orthogonal_content__gives_the_sine_of_the_distance) {
  world w;
  double logits[TINY], needle;
  world_make(&w, "rope", 2, TINY);
  world_fill(&w, TINY);
  for (size_t i = 0; i < TINY; i++) w.q[2 * i + 1] = w.k[2 * i] = 0;
  for (size_t m = 0; m < TINY; m++) {
    cr_assert_eq(rs_reference_row(&w.job, m, logits, &needle, NULL), RS_OK);
    cr_assert(isnan(needle));
    for (size_t n = 0; n <= m; n++) cr_assert_float_eq(logits[n], sin((double)(m - n)) / sqrt(2), 1e-15);
    for (size_t n = m + 1; n < TINY; n++) cr_assert_eq(logits[n], -INFINITY);
  }
  world_clear(&w);
}

/* Self-Extend with every window and group: near keys keep their distance, far ones are floor(m/G) - floor(n/G) plus
 * what joins the two at the window (arXiv:2401.01325, section 3.2), and read by sin as above. */
Test(reference, self_extend__every_window_and_group__reads_grouped_distances) {
  double logits[2 * TINY], needle;
  for (size_t window = 0; window <= TINY + 1; window++)
    for (size_t group = 1; group <= 5; group++) {
      world w;
      world_make(&w, "self_extend", 2, TINY);
      set(&w, "window", "%zu", window);
      set(&w, "group", "%zu", group);
      world_fill(&w, 2 * TINY);
      for (size_t i = 0; i < 2 * TINY; i++) w.q[2 * i + 1] = w.k[2 * i] = 0;
      for (size_t m = 0; m < 2 * TINY; m++) {
        cr_assert_eq(rs_reference_row(&w.job, m, logits, &needle, NULL), RS_OK);
        for (size_t n = 0; n <= m; n++) {
          size_t far = m / group + window - window / group - n / group, distance = m - n < window ? m - n : far;
          demand(&w, fabs(logits[n] - sin((double)distance) / sqrt(2)) < 1e-14, "window %zu, group %zu: %zu %zu",
                 window, group, m, n);
        }
      }
      world_clear(&w);
    }
}

/* Across sequences neither rotation nor bias acts, and views are of no account: every method without an embedding is
 * nope, bit by bit, in the engine and in the reference; and bidirectional nope. */
Test(engine, cross__every_method_without_embedding__is_nope) {
  enum { LENGTH = 50, DIMS = 8 };
  size_t methods, tried = 0;
  const rs_method *all = rs_methods(&methods);
  world nope;
  world_make(&nope, "nope", DIMS, LENGTH / 4);
  world_fill(&nope, LENGTH);
  dice content = {.seed = test_seed()};
  gaussian(&content, LENGTH * DIMS, nope.q);
  gaussian(&content, LENGTH * DIMS, nope.k);
  draw_needles(&nope);
  for (size_t i = 0; i < methods; i++) {
    world w;
    double logits[LENGTH], plain[LENGTH], needle, plain_needle;
    if (all[i].embed != NULL || strcmp(all[i].name, "swin") == 0) continue; /* no picture here */
    world_make(&w, all[i].name, DIMS, LENGTH / 4);
    set_divisors(&w, "short_factor", DIMS / 2);
    set_divisors(&w, "long_factor", DIMS / 2);
    set_divisors(&w, "freq_x", DIMS / 2);
    set_divisors(&w, "freq_y", DIMS / 2);
    set_divisors(&w, "inv_freq", DIMS / 2);
    if (has(&w, "local")) set(&w, "shift", "10"); /* STRING's own shift reaches no 50 tokens from 12 */
    set(&w, "mscale_softmax", "false");           /* a temperature would act here too */
    world_fill(&w, LENGTH);
    w.job.q = nope.q;
    w.job.k = nope.k;
    w.job.needle_at = nope.needle_at;
    w.job.needle_key = nope.needle_key;
    w.job.mask.kind = RS_CROSS;
    nope.job.mask.kind = i % 2 ? RS_CROSS : RS_BIDIRECTIONAL;
    for (size_t m = 0; m < LENGTH; m++) {
      cr_assert_eq(rs_reference_row(&w.job, m, logits, &needle, NULL), RS_OK);
      cr_assert_eq(rs_reference_row(&nope.job, m, plain, &plain_needle, NULL), RS_OK);
      demand(&w, memcmp(logits, plain, sizeof plain) == 0 && needle == plain_needle, "query %zu", m);
    }
    demand_same(&w, run_alone(&w), run_alone(&nope), "the method");
    tried++;
    world_clear(&w);
  }
  cr_assert_geq(tried, methods - 5);
  world_clear(&nope);
}

/* ---- skipping ---------------------------------------------------------------------------------------------------- */

/* ALiBi's steepest head: beyond some hundred tokens no key can matter, whatever it holds. */
static void steep_world(world *w, size_t length) {
  world_make(w, "alibi", 64, length);
  w->model.heads = 8;
  world_fill(w, length);
  gaussian(&w->dice, length * 64, w->q);
  gaussian(&w->dice, length * 64, w->k);
}

Test(engine, skipping__steep_bias__work_is_linear_and_the_bound_holds) {
  double computed[2];
  for (size_t i = 0; i < 2; i++) {
    world w;
    steep_world(&w, 2000 << i);
    rs_observation *all = run_alone(&w);
    w.job.epsilon = 1e-9;
    rs_observation *most = run_alone(&w);
    demand(&w, all->skipped == 0 && all->skipped_weight == 0, "skipped without leave");
    demand(&w, most->skipped_weight > 0 && most->skipped_weight <= 1e-9, "%g is certified", most->skipped_weight);
    for (size_t m = 0; m < w.job.query_count; m++) {
      double slack = 1e-6 + most->rows[m].skipped_weight;
      near(&w, &most->rows[m], "log_sum_exp", most->rows[m].log_sum_exp, all->rows[m].log_sum_exp, slack);
      near(&w, &most->rows[m], "entropy", most->rows[m].entropy, all->rows[m].entropy, 2 * slack + 3e-8);
    }
    computed[i] = most->pairs - most->skipped;
    rs_observation_free(all);
    rs_observation_free(most);
    world_clear(&w);
  }
  cr_assert_leq(computed[1], 2.2 * computed[0], "%g pairs, then %g", computed[0], computed[1]);
}

/* Every logit counts where moments are wanted, and a needle's rank is that among all keys. */
Test(engine, skipping__moments_or_far_needles__leaves_nothing_they_need) {
  world w;
  steep_world(&w, 2000);
  w.job.epsilon = 1e-3;
  w.job.moments = true;
  rs_observation *observation = run_alone(&w);
  demand(&w, observation->skipped == 0, "skipped what moments need");
  rs_observation_free(observation);
  w.job.moments = false;
  draw_needles(&w);
  for (size_t i = 0; i < 2000; i++) w.needle_at[i] = i > 40 ? i - 40 : 0;
  observation = run_alone(&w);
  w.job.epsilon = 0;
  rs_observation *all = run_alone(&w);
  demand(&w, observation->skipped > 0, "nothing was skipped");
  for (size_t m = 0; m < 2000; m++)
    demand(&w, observation->rows[m].needle_rank == all->rows[m].needle_rank, "query %zu: rank %zu, should be %zu", m,
           observation->rows[m].needle_rank, all->rows[m].needle_rank);
  rs_observation_free(observation);
  rs_observation_free(all);
  world_clear(&w);
}

/* A bias that is low at middle distances and high again far away: what is far must not be given up for what lies
 * between. Constant content reaches its bound, so that what was skipped is nearly what was certified. */
Test(engine, skipping__bias_that_rises_again__stops_at_nothing_that_matters) {
  enum { LENGTH = 3000, CLIP = 100 };
  for (int rises = 0; rises < 2; rises++) {
    double values[2 * CLIP + 1] = {0};
    world w;
    world_make(&w, "relative", 4, LENGTH);
    set(&w, "clip", "%d", CLIP);
    for (size_t d = 20; d <= CLIP; d++) values[CLIP - d] = rises && d == CLIP ? 0 : -40;
    int index = rs_settings_find(&w.recipe.settings, "values");
    cr_assert_eq(rs_value_list(w.recipe.settings.params[index], values, RS_COUNT(values),
                               &w.recipe.settings.values[index], NULL),
                 RS_OK);
    world_fill(&w, LENGTH);
    rs_observation *all = run_alone(&w);
    w.job.epsilon = 1e-12;
    rs_observation *most = run_alone(&w);
    demand(&w, (most->skipped > 0) == !rises, "%g pairs skipped", most->skipped);
    for (size_t m = 0; m < LENGTH; m++) {
      const rs_row *row = &most->rows[m];
      near(&w, row, "log_sum_exp", row->log_sum_exp, all->rows[m].log_sum_exp, 1e-6);
      /* Every skipped key has the weight e^-40 beside 20 of weight 1. */
      demand(&w, row->skipped_weight >= row->skipped_keys * exp(-40) / 21, "query %zu: more was lost than said", m);
    }
    rs_observation_free(all);
    rs_observation_free(most);
    world_clear(&w);
  }
}

/* Two keys whose logits are exact: what is left is the error of 2^t. */
Test(engine, weights_of_two_keys__floats__are_good_to_three_roundings) {
  for (int step = 0; step <= 200; step++) {
    world w;
    world_make(&w, "nope", 2, 2);
    world_fill(&w, 2);
    double logit = step / 40.0;
    memset(w.k, 0, 4 * sizeof *w.k);
    memset(w.q, 0, 4 * sizeof *w.q);
    w.q[2] = 1;
    w.k[0] = logit * sqrt(2);
    w.job.scores = RS_SCORES_F32;
    rs_observation *observation = run_alone(&w);
    near(&w, &observation->rows[1], "log_sum_exp", observation->rows[1].log_sum_exp, logl(1 + expl(logit)),
         1.8e-7 * (1 + logit));
    rs_observation_free(observation);
    world_clear(&w);
  }
}

/* xPos multiplies queries and keys: the bound on their logits, and on the error, must know both. */
Test(engine, gains__of_queries_and_keys__are_part_of_the_bound) {
  enum { LENGTH = 2000, DIMS = 8 };
  double gain_q = 0, gain_k = 0, unit = 1.1e-16, logit = sqrt(DIMS); /* of constant content, without gains */
  world w;
  world_make(&w, "xpos", DIMS, LENGTH);
  world_fill(&w, LENGTH);
  w.job.scores = RS_SCORES_F64;
  for (size_t i = 0; i < LENGTH * DIMS / 2; i++) {
    gain_q = fmax(gain_q, w.encoding->gain_q[0][i]);
    gain_k = fmax(gain_k, w.encoding->gain_k[0][i]);
  }
  cr_assert(gain_q > 1.5 && gain_k > 1.5);
  rs_observation *observation = run_alone(&w);
  cr_assert_geq(observation->error, unit * DIMS / 2 * logit * gain_q * gain_k);
  rs_observation_free(observation);
  world_clear(&w);
}

/* A bias that is asked for row by row is known only as it comes; what it reaches above the own place's is in the error.
 */
Test(engine, bias_by_rows__that_rises__is_part_of_the_error) {
  enum { LENGTH = 2000 };
  world w;
  world_make(&w, "alibi", 4, LENGTH);
  set(&w, "bias_form", "position");
  set(&w, "bias_max", "0.5"); /* one head: a slope of 2^-0.5 */
  world_fill(&w, LENGTH);
  w.job.mask.kind = RS_BIDIRECTIONAL;
  w.job.scores = RS_SCORES_F32;
  rs_observation *observation = run_alone(&w);
  cr_assert_geq(observation->error, 3 * 5.9e-8 * sqrt(0.5) * (LENGTH - 1));
  rs_observation_free(observation);
  world_clear(&w);
}

/* ---- ties, limits and failures ------------------------------------------------------------------------------------
 */

Test(engine, equal_logits__uniform_weights__first_key_is_the_largest) {
  world w;
  world_make(&w, "nope", 4, 100);
  world_fill(&w, 100);
  w.job.sinks = 3;
  rs_observation *observation = run_alone(&w);
  for (size_t m = 0; m < 100; m++) {
    const rs_row *row = &observation->rows[m];
    double keys = (double)(m + 1);
    demand(&w, row->argmax == 0 && row->keys == m + 1, "query %zu", m);
    near(&w, row, "max_logit", row->max_logit, 2, 2e-7); /* a few roundings of 2 log2(e) */
    near(&w, row, "entropy", row->entropy, logl(keys), 1e-14);
    near(&w, row, "sink_weight", row->sink_weight, fmin(3, keys) / keys, 1e-15);
    near(&w, row, "log_sum_exp", row->log_sum_exp, row->max_logit + logl(keys), 1e-14);
  }
  rs_observation_free(observation);
  world_clear(&w);
}

/* Keys after the query are walked upwards: of equals the first all the same. */
Test(engine, equal_logits__both_sides__first_key_is_the_largest) {
  world w;
  world_make(&w, "nope", 4, 1500);
  world_fill(&w, 1500);
  w.job.mask.kind = RS_BIDIRECTIONAL;
  for (size_t set = 0; rs_isa_name(set) != NULL; set++) {
    cr_assert_eq(rs_kernels_use(rs_isa_name(set), NULL), RS_OK);
    rs_observation *observation = run_alone(&w);
    for (size_t m = 0; m < 1500; m++)
      demand(&w, observation->rows[m].argmax == 0, "query %zu: %zu", m, observation->rows[m].argmax);
    rs_observation_free(observation);
  }
  world_clear(&w);
}

/* Logits so far apart that every weight but one underflows: no NaN, no negative entropy. */
Test(engine, logits_far_apart__one_weight__entropy_is_zero) {
  world w;
  world_make(&w, "nope", 4, 20);
  world_fill(&w, 20);
  for (size_t n = 0; n < 20; n++)
    for (size_t d = 0; d < 4; d++) w.k[4 * n + d] = 1e5 * (n == 7 ? 1 : -(double)n);
  rs_observation *observation = run_alone(&w);
  for (size_t m = 0; m < 20; m++) {
    const rs_row *row = &observation->rows[m];
    demand(&w, row->argmax == (m < 7 ? 0 : 7) && row->entropy == 0 && !signbit(row->entropy), "query %zu", m);
    near(&w, row, "bin_weight", row->bin_weight[0], 1, 0);
  }
  rs_observation_free(observation);
  world_clear(&w);
}

/* A needle that repeats the key it stands beside scores what the key does, to the bit, in every set and format: it is
 * beaten by the larger ones and by none of its equals. */
Test(engine, needle_that_repeats_a_key__ties_with_it) {
  static const rs_score_format formats[] = {RS_SCORES_F32, RS_SCORES_F64};
  enum { LENGTH = 300, DIMS = 36 };
  world w;
  world_make(&w, "self_extend", DIMS, LENGTH / 2);
  world_fill(&w, LENGTH);
  gaussian(&w.dice, LENGTH * DIMS, w.q);
  gaussian(&w.dice, LENGTH * DIMS, w.k);
  draw_needles(&w);
  for (size_t set = 0; rs_isa_name(set) != NULL; set++)
    for (size_t f = 0; f < RS_COUNT(formats); f++) {
      cr_assert_eq(rs_kernels_use(rs_isa_name(set), NULL), RS_OK);
      w.job.scores = formats[f];
      w.job.needle_at = NULL;
      rs_observation *plain = run_alone(&w);
      for (size_t m = 0; m < LENGTH; m++) {
        w.needle_at[m] = plain->rows[m].argmax;
        memcpy(w.needle_key + m * DIMS, w.k + w.needle_at[m] * DIMS, DIMS * sizeof(double));
      }
      w.job.needle_at = w.needle_at;
      rs_observation *planted = run_alone(&w);
      for (size_t m = 0; m < LENGTH; m++)
        demand(&w, planted->rows[m].needle_rank == 0 && planted->rows[m].needle_logit == plain->rows[m].max_logit,
               "%s, query %zu: rank %zu", rs_isa_name(set), m, planted->rows[m].needle_rank);
      rs_observation_free(plain);
      rs_observation_free(planted);
    }
  world_clear(&w);
}

/* Queries observed in portions are those observed at once, but for the company they have in their tiles. */
Test(engine, portions__of_one_job__are_rows_of_the_whole) {
  world w;
  world_make(&w, "rope", 8, 700);
  world_fill(&w, 700);
  gaussian(&w.dice, 700 * 8, w.q);
  gaussian(&w.dice, 700 * 8, w.k);
  w.job.scores = RS_SCORES_F64;
  rs_engine *engine = engine_for(700, 8, 1);
  rs_observation *whole = run(engine, &w), *part;
  for (size_t first = 0; first < 700; first += 190) {
    size_t count = 700 - first < 190 ? 700 - first : 190;
    cr_assert_eq(rs_engine_observe(engine, &w.job, first, count, &part, NULL), RS_OK);
    for (size_t i = 0; i < count; i++) {
      const rs_row *row = &part->rows[i], *same = &whole->rows[first + i];
      demand(&w, row->query == same->query && row->argmax == same->argmax, "query %zu", first + i);
      near(&w, row, "log_sum_exp", row->log_sum_exp, same->log_sum_exp, 1e-13);
      near(&w, row, "entropy", row->entropy, same->entropy, 1e-13);
    }
    rs_observation_free(part);
  }
  rs_observation_free(whole);
  rs_engine_free(engine);
  world_clear(&w);
}

static void refuses_job(rs_engine *engine, const rs_attention_job *job, rs_status status, const char *message) {
  rs_err err = {0};
  rs_observation *observation = (rs_observation *)&err;
  cr_assert_eq(rs_engine_run(engine, job, &observation, &err), status, "%s", err.message);
  cr_assert_str_eq(err.message, message);
  cr_assert_null(observation);
  cr_assert_eq(rs_engine_run(engine, job, &observation, NULL), status);
}

Test(engine, jobs_it_cannot_do__are_refused_with_the_reason) {
  world w;
  world_make(&w, "self_extend", 4, 20);
  world_fill(&w, 20);
  rs_engine *shorter = engine_for(19, 4, 2), *wider = engine_for(20, 6, 2), *flat = engine_for(20, 4, 1);
  rs_engine *fits = engine_for(20, 4, 2);
  refuses_job(shorter, &w.job, RS_INTERNAL, "the engine was made for 19 x 4");
  refuses_job(wider, &w.job, RS_INTERNAL, "the engine was made for 20 x 6");
  refuses_job(flat, &w.job, RS_INTERNAL, "the engine was made for 20 x 4");
  w.job.mask.kind = RS_BIDIRECTIONAL;
  refuses_job(fits, &w.job, RS_UNSUPPORTED, "self_extend is defined for causal attention only");
  w.job.mask.kind = RS_CAUSAL;
  size_t bins = w.job.bins;
  w.job.bins = UINT16_MAX + 1;
  refuses_job(fits, &w.job, RS_UNSUPPORTED, "too many distance bins: 65536");
  w.job.bins = bins;
  w.edges[bins] = 19;
  refuses_job(fits, &w.job, RS_INTERNAL, "the distance bins do not end at the length, 20");
  w.edges[bins] = 20;
  w.job.bins = 0;
  refuses_job(fits, &w.job, RS_INTERNAL, "the distance bins do not end at the length, 20");
  w.job.bins = bins;
  w.job.query_count = 0;
  rs_observation_free(run(fits, &w));
  rs_engine_free(shorter);
  rs_engine_free(wider);
  rs_engine_free(flat);
  rs_engine_free(fits);
  rs_engine_free(NULL);
  rs_observation_free(NULL);
  world_clear(&w);
}

/* A row that is no numbers must not look like one: q, k or a needle that is not finite, as from an overflow. */
Test(engine, logits_that_are_not_finite__are_refused) {
  static const double values[] = {NAN, INFINITY, -INFINITY, -1e308};
  static const char *const methods[] = {"nope", "rope", "self_extend", "alibi"};
  for (size_t i = 0; i < 3 * RS_COUNT(values) * RS_COUNT(methods); i++) {
    world w;
    double value = values[i / 3 % RS_COUNT(values)];
    world_make(&w, methods[i / 3 / RS_COUNT(values)], 4, 20);
    world_fill(&w, 20);
    draw_needles(&w);
    rs_engine *engine = engine_for(20, 4, 2);
    rs_observation_free(run(engine, &w));
    double *const content[] = {w.q, w.k, w.needle_key};
    for (size_t d = 0; d < 4; d++) content[i % 3][4 * 5 + d] = value;
    refuses_job(engine, &w.job, RS_DOMAIN,
                "logits are not finite (an angle beyond its float format, or gains beyond doubles?)");
    rs_engine_free(engine);
    world_clear(&w);
  }
}

/* Logits up to 1e12 do as doubles; as floats they would be beyond them once squared. */
Test(engine, large_logits__are_doubles_by_themselves__and_refused_as_floats) {
  world w;
  world_make(&w, "nope", 4, 20);
  world_fill(&w, 20);
  for (size_t i = 0; i < 20 * 4; i++) w.k[i] = 1e30;
  rs_engine *engine = engine_for(20, 4, 1);
  rs_observation *observation = run(engine, &w);
  cr_assert_eq(observation->scores, RS_SCORES_F64);
  rs_observation_free(observation);
  w.job.scores = RS_SCORES_F32;
  refuses_job(engine, &w.job, RS_DOMAIN, "logits up to 2e+30 are too large for float (scores: f64)");
  rs_engine_free(engine);
  world_clear(&w);
}

/* Refused by their size, before the heap is asked: a sanitizer's heap would end the program. */
Test(engine, sizes_beyond_memory__are_refused) {
  static const size_t sizes[][3] = {{SIZE_MAX / 3, 2, 1}, {SIZE_MAX, 128, 2}, {SIZE_MAX / 2, 1, 1}};
  for (size_t i = 0; i < RS_COUNT(sizes); i++) {
    rs_err err = {0};
    rs_engine *engine = (rs_engine *)&err;
    cr_assert_eq(rs_engine_create(sizes[i][0], sizes[i][1], sizes[i][2], &engine, &err), RS_MEMORY);
    cr_assert_null(engine);
    cr_assert_eq(strncmp(err.message, "out of memory", 13), 0, "%s", err.message);
  }
}

typedef rs_status (*attempt)(const world *w, rs_err *err);

static rs_status try_engine(const world *w, rs_err *err) {
  rs_engine *engine = NULL;
  rs_status status = rs_engine_create(w->encoding->length, w->model.head_dim, 1, &engine, err);
  rs_engine_free(engine);
  return status;
}

static rs_engine *shared_engine;

static rs_status try_run(const world *w, rs_err *err) {
  rs_observation *observation = NULL;
  rs_status status = rs_engine_run(shared_engine, &w->job, &observation, err);
  rs_observation_free(observation);
  return status;
}

static rs_status try_reference(const world *w, rs_err *err) {
  double logits[100], needle;
  return rs_reference_row(&w->job, 3, logits, &needle, err);
}

static rs_status try_projection(const world *w, rs_err *err) {
  rs_projection *projection = NULL;
  rs_status status = rs_projection_create(w->encoding, 0, 1, w->queries, 9, &projection, err);
  cr_assert_eq(status == RS_OK, projection != NULL);
  rs_projection_free(projection);
  return status;
}

static rs_status try_queries(const world *w, rs_err *err) {
  size_t *queries = NULL, count;
  rs_query_set set = {RS_QUERIES_RANDOM, 5};
  rs_status status = rs_queries_select(&set, w->encoding->length, 1, &queries, &count, err);
  free(queries);
  return status;
}

static rs_status try_decay(const world *w, rs_err *err) {
  const rs_metric_kind *decay = rs_metric_find("decay");
  const rs_param *params[] = {&decay->kind.params[0], &decay->kind.params[1]};
  rs_settings settings;
  rs_status status = rs_settings_init(&settings, params, RS_COUNT(params), err);
  if (status != RS_OK) return status;
  rs_metric_in in = {.encoding = w->encoding, .settings = &settings, .heads = &w->job.head, .head_count = 1};
  rs_result result = {.curve.columns = decay->curve_count};
  status = decay->finish(&in, NULL, &result, err);
  rs_curve_clear(&result.curve);
  rs_settings_clear(&settings);
  return status;
}

/* The tables of a method whose position map needs room of its own. */
static rs_status try_encoding(const world *w, rs_err *err) {
  rs_recipe recipe = {0};
  rs_encoding *encoding = NULL;
  rs_status status = rs_recipe_init(&recipe, rs_method_find("random_rope"), err);
  if (status == RS_OK) status = rs_encoding_create(&recipe, &w->model, w->encoding->length, NULL, NULL, &encoding, err);
  cr_assert_eq(status == RS_OK, encoding != NULL);
  rs_encoding_free(encoding);
  rs_recipe_clear(&recipe);
  return status;
}

/* Refuses each allocation of the attempt in turn, until it gets through without one refused. */
static void refuse_each(const world *w, attempt try, size_t index) {
  cr_assert_eq(try(w, NULL), RS_OK); /* warm: OpenMP keeps its team */
  for (long n = 0;; n++) {
    rs_err err = {0};
    long before = blocks;
    refused = false;
    allocations = n;
    rs_status status = try(w, &err);
    allocations = -1;
    demand(w, status == (refused ? RS_MEMORY : RS_OK), "attempt %zu, allocation %ld: status %d (%s)", index, n,
           (int)status, err.message);
    /* gsl_matrix_alloc forgets the struct of a matrix that got no cells */
    long lost = refused && try == try_projection;
    demand(w, blocks >= before && blocks <= before + lost, "attempt %zu, allocation %ld: %ld blocks leak", index, n,
           blocks - before);
    if (!refused) return;
  }
}

Test(engine, each_failing_allocation__is_reported_and_leaks_nothing) {
  static const attempt attempts[] = {try_engine,  try_run,   try_reference, try_projection,
                                     try_queries, try_decay, try_encoding};
  if (!COUNTS_MEMORY) return;
  gsl_set_error_handler_off();
  use_threads(1);
  world w;
  world_make(&w, "sinusoidal", 4, 100);
  w.model.heads = 3;
  world_fill(&w, 100);
  shared_engine = engine_for(100, 4, 1);
  for (size_t i = 0; i < RS_COUNT(attempts); i++) refuse_each(&w, attempts[i], i);
  rs_engine_free(shared_engine);
  world_clear(&w);
}
