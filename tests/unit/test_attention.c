/* test_attention.c: masks by brute force, query sets, what each source promises of its numbers, and projections against
 * the dense product. The engine and the reference row are tested in property/test_engine.c. */
#include <criterion/criterion.h>
#include <math.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include <stdlib.h>
#include <string.h>

#include "ropescope/attention.h"

/* ---- helpers ----------------------------------------------------------------------------------------------------- */

static void *obtain(size_t count, size_t size) {
  void *memory = calloc(count > 0 ? count : 1, size);
  cr_assert_not_null(memory);
  return memory;
}

static double product(const double *a, const double *b, size_t count) {
  long double sum = 0;
  for (size_t i = 0; i < count; i++) sum += (long double)a[i] * b[i];
  return (double)sum;
}

/* Correlation of samples whose mean is 0 and variance 1: the mean product. */
static double correlation(const double *a, const double *b, size_t count) {
  return product(a, b, count) / (double)count;
}

/* Five standard errors of a mean product of independent unit samples. */
static double five_sigma(size_t count) {
  return 5 / sqrt((double)count);
}

typedef struct moments {
  double mean, sd;
} moments;

static moments moments_of(const double *sample, size_t count) {
  long double mean = 0, squares = 0;
  for (size_t i = 0; i < count; i++) mean += sample[i] / (long double)count;
  for (size_t i = 0; i < count; i++) squares += (sample[i] - mean) * (sample[i] - mean);
  return (moments){(double)mean, (double)sqrtl(squares / (long double)count)};
}

static bool same_bytes(const double *a, const double *b, size_t count) {
  return memcmp(a, b, count * sizeof *a) == 0;
}

/* ---- masks ------------------------------------------------------------------------------------------------------- */

/* The definitions of attention.h, key by key. */
static bool sees(const rs_mask *mask, size_t m, size_t n) {
  switch (mask->kind) {
  case RS_BIDIRECTIONAL:
  case RS_CROSS: return true;
  case RS_CAUSAL: return n <= m;
  case RS_WINDOW: return n <= m && m - n < mask->window;
  default: return n <= m && (m - n < mask->window || n < mask->sinks);
  }
}

static void check_mask(const rs_mask *mask, size_t length, size_t m) {
  rs_range ranges[2];
  size_t count = rs_mask_ranges(mask, length, m, ranges);
  cr_assert(count == 1 || count == 2);
  for (size_t i = 0; i < count; i++) cr_assert(ranges[i].begin < ranges[i].end && ranges[i].end <= length);
  cr_assert(count == 1 || ranges[0].end < ranges[1].begin, "two ranges that touch are one");
  for (size_t n = 0; n < length; n++) {
    bool inside = false;
    for (size_t i = 0; i < count; i++) inside |= n >= ranges[i].begin && n < ranges[i].end;
    if (inside != sees(mask, m, n))
      cr_assert_fail("kind %d, window %zu, sinks %zu, length %zu: query %zu, key %zu", (int)mask->kind, mask->window,
                     mask->sinks, length, m, n);
  }
}

Test(mask, tiny_worlds__ranges__are_the_keys_of_the_definition) {
  enum { MOST = 9 };
  for (rs_mask_kind kind = RS_CAUSAL; kind <= RS_CROSS; kind++)
    for (size_t length = 1; length <= MOST; length++)
      for (size_t window = 1; window <= MOST + 2; window++)
        for (size_t sinks = 1; sinks <= MOST + 2; sinks++)
          for (size_t m = 0; m < length; m++) check_mask(&(rs_mask){kind, window, sinks}, length, m);
}

Test(mask, huge_window_and_sinks__ranges__do_not_overflow) {
  static const size_t sizes[] = {1, 1000, SIZE_MAX - 1, SIZE_MAX};
  for (size_t w = 0; w < RS_COUNT(sizes); w++)
    for (size_t s = 0; s < RS_COUNT(sizes); s++)
      for (rs_mask_kind kind = RS_WINDOW; kind <= RS_WINDOW_SINKS; kind++)
        check_mask(&(rs_mask){kind, sizes[w], sizes[s]}, 20, 11);
}

/* ---- queries ----------------------------------------------------------------------------------------------------- */

static size_t *select_queries(rs_query_choice choice, size_t number, size_t length, uint64_t seed, size_t *count) {
  rs_query_set set = {choice, number};
  size_t *queries = NULL;
  cr_assert_eq(rs_queries_select(&set, length, seed, &queries, count, NULL), RS_OK);
  for (size_t i = 0; i < *count; i++) cr_assert(queries[i] < length && (i == 0 || queries[i] > queries[i - 1]));
  return queries;
}

static bool listed(const size_t *queries, size_t count, size_t m) {
  for (size_t i = 0; i < count; i++)
    if (queries[i] == m) return true;
  return false;
}

static void check_queries(rs_query_choice choice, size_t number, size_t length) {
  size_t count, expected = 0, *queries = select_queries(choice, number, length, 7, &count);
  for (size_t m = 0; m < length; m++) {
    bool wanted = choice == RS_QUERIES_ALL || (choice == RS_QUERIES_LAST && length - m <= number) ||
                  (choice == RS_QUERIES_EVERY && (length - 1 - m) % number == 0);
    expected += wanted;
    cr_assert_eq(listed(queries, count, m), wanted, "choice %d of %zu, length %zu: %zu", choice, number, length, m);
  }
  cr_assert_eq(count, expected);
  cr_assert_eq(queries[count - 1], length - 1);
  free(queries);
}

Test(queries, all_last_every__positions__are_those_asked_for_and_end_with_the_last) {
  for (rs_query_choice choice = RS_QUERIES_ALL; choice <= RS_QUERIES_EVERY; choice++)
    for (size_t length = 1; length <= 17; length++)
      for (size_t number = 1; number <= 20; number++) check_queries(choice, number, length);
}

Test(queries, random__positions__are_distinct_and_as_many_as_asked) {
  for (size_t length = 1; length <= 40; length++)
    for (size_t number = 1; number <= 45; number++) {
      size_t count, again, *queries = select_queries(RS_QUERIES_RANDOM, number, length, number, &count);
      size_t *repeated = select_queries(RS_QUERIES_RANDOM, number, length, number, &again);
      cr_assert_eq(count, number < length ? number : length);
      cr_assert(count == again && memcmp(queries, repeated, count * sizeof *queries) == 0);
      free(queries);
      free(repeated);
    }
}

/* Each position in K/L of the draws, each pair of positions in K(K-1)/(L(L-1)) of them. */
Test(queries, random__over_seeds__every_set_is_equally_likely) {
  enum { LENGTH = 7, NUMBER = 3, SEEDS = 40000 };
  size_t seen[LENGTH][LENGTH] = {{0}};
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    size_t count, *queries = select_queries(RS_QUERIES_RANDOM, NUMBER, LENGTH, seed, &count);
    for (size_t i = 0; i < count; i++)
      for (size_t j = 0; j <= i; j++) seen[queries[i]][queries[j]]++;
    free(queries);
  }
  for (size_t a = 0; a < LENGTH; a++)
    for (size_t b = 0; b <= a; b++) {
      double p = a == b ? NUMBER / (double)LENGTH : NUMBER * (NUMBER - 1.0) / (LENGTH * (LENGTH - 1.0));
      cr_assert_float_eq(seen[a][b] / (double)SEEDS, p, 5 * sqrt(p * (1 - p) / SEEDS), "%zu %zu", a, b);
    }
}

/* Numbers that runs of earlier versions had: a config's seed must go on choosing them. */
Test(queries, random__known_seeds__are_the_positions_of_old) {
  static const struct {
    size_t number, length;
    uint64_t seed;
    size_t positions[10];
  } cases[] = {
      {4, 10, 0, {0, 2, 3, 7}},
      {8, 100, 5, {30, 33, 36, 54, 68, 73, 75, 98}},
      {10, 100000, 123456789, {7055, 15546, 27431, 30252, 48394, 54988, 62788, 73430, 75947, 89640}},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    size_t count, *queries = select_queries(RS_QUERIES_RANDOM, cases[i].number, cases[i].length, cases[i].seed, &count);
    cr_assert_eq(count, cases[i].number);
    for (size_t q = 0; q < count; q++) cr_assert_eq(queries[q], cases[i].positions[q], "case %zu: %zu", i, queries[q]);
    free(queries);
  }
}

/* ---- sources ----------------------------------------------------------------------------------------------------- */

/* A source with its settings and a token layout: 3 text, a picture of 4 x 5, 2 text, a video of 3 x 4 x 3, text. */
typedef struct sim_head {
  const rs_source_kind *kind;
  const rs_param *params[8];
  rs_settings settings;
  rs_token_run runs[4];
  rs_token_layout layout;
  double *ids;
  uint32_t *run;
  void *state;
  rs_source_in in;
} sim_head;

enum { IMAGE = 3, IMAGE_COLUMNS = 5, VIDEO = 25, VIDEO_ROWS = 4, VIDEO_COLUMNS = 3, LAYOUT_END = 61 };

static void head_make(sim_head *h, const char *source, size_t dims, size_t length) {
  *h = (sim_head){.kind = rs_source_find(source)};
  cr_assert_not_null(h->kind, "%s", source);
  for (size_t i = 0; i < h->kind->kind.param_count; i++) h->params[i] = &h->kind->kind.params[i];
  cr_assert_eq(rs_settings_init(&h->settings, h->params, h->kind->kind.param_count, NULL), RS_OK);
  h->runs[0] = (rs_token_run){.modality = RS_TEXT, .tokens = 3};
  h->runs[1] = (rs_token_run){RS_IMAGE, 20, 1, 4, IMAGE_COLUMNS, 1, 1};
  h->runs[2] = (rs_token_run){.modality = RS_TEXT, .tokens = 2};
  h->runs[3] = (rs_token_run){RS_VIDEO, 36, 3, VIDEO_ROWS, VIDEO_COLUMNS, 1, 1};
  h->layout = (rs_token_layout){.runs = h->runs, .count = length >= LAYOUT_END ? 4 : 0};
  h->ids = obtain(length * RS_AXES, sizeof *h->ids);
  h->run = obtain(length, sizeof *h->run);
  cr_assert_eq(rs_token_positions(&h->layout, NULL, length, h->ids, h->run, NULL), RS_OK);
  h->in = (rs_source_in){.settings = &h->settings,
                         .seed = 1,
                         .head_dim = dims,
                         .length = length,
                         .rotary_dim = dims,
                         .ids = h->ids,
                         .run = h->run,
                         .tokens = &h->layout,
                         .rope_theta = 10000,
                         .train_length = length};
  if (h->kind->prepare != NULL) cr_assert_eq(h->kind->prepare(&h->in, &h->state, NULL), RS_OK);
  h->in.state = h->state;
}

static void head_set(sim_head *h, const char *name, double value) {
  int index = rs_settings_find(&h->settings, name);
  cr_assert_geq(index, 0);
  h->settings.values[index].number = value;
}

static void head_clear(sim_head *h) {
  if (h->kind->release != NULL) h->kind->release(h->state);
  rs_settings_clear(&h->settings);
  free(h->ids);
  free(h->run);
}

/* The keys, or the queries, of every position (length, dims). */
static double *all_keys(const sim_head *h) {
  double *out = obtain(h->in.length * h->in.head_dim, sizeof *out);
  h->kind->keys(&h->in, 0, h->in.length, out);
  return out;
}

static double *all_queries(const sim_head *h) {
  double *out = obtain(h->in.length * h->in.head_dim, sizeof *out);
  for (size_t m = 0; m < h->in.length; m++) h->kind->query(&h->in, m, out + m * h->in.head_dim);
  return out;
}

static double *all_of(const sim_head *h, bool queries) {
  return queries ? all_queries(h) : all_keys(h);
}

/* The vectors of source `name` with one setting changed (`setting` NULL: none). */
static double *vectors(const char *name, const char *setting, double value, bool queries, size_t dims, size_t length) {
  sim_head h;
  head_make(&h, name, dims, length);
  if (setting != NULL) head_set(&h, setting, value);
  double *out = all_of(&h, queries);
  head_clear(&h);
  return out;
}

Test(sources, table__each_kind__describes_itself_and_is_found_by_name) {
  size_t count;
  const rs_source_kind *const *kinds = rs_source_kinds(&count);
  cr_assert_geq(count, 6);
  for (size_t i = 0; i < count; i++) {
    cr_assert_eq(rs_source_find(kinds[i]->kind.name), kinds[i]);
    cr_assert(strlen(kinds[i]->kind.summary) > 0 && strlen(kinds[i]->kind.reference) > 0 && kinds[i]->kind.version > 0);
    cr_assert(kinds[i]->keys != NULL && kinds[i]->query != NULL);
    bool planted = strcmp(kinds[i]->kind.name, "needle") == 0 || strcmp(kinds[i]->kind.name, "gap") == 0;
    cr_assert_eq(kinds[i]->needle != NULL, planted);
  }
  cr_assert_null(rs_source_find("gauss"));
}

/* Mean and spread over all dims and tokens, of queries and of keys. */
Test(sources, moments__of_each_kind__are_those_it_states) {
  static const struct {
    const char *name, *setting;
    double value, mean, sd;
  } cases[] = {{"constant", NULL, 0, 1, 0},          {"gaussian", NULL, 0, 0, 1}, {"gaussian", "sd", 2.5, 0, 2.5},
               {"gaussian", "sd", 0, 0, 0},          {"needle", NULL, 0, 0, 1},   {"gaussian_mean", NULL, 0, 0.5, 1},
               {"gaussian_mean", "mean", -3, -3, 1}, {"band", "to", 1, 0, 1},     {"grid", NULL, 0, 0, 1}};
  enum { DIMS = 32, LENGTH = 4096, COUNT = DIMS * LENGTH };
  for (size_t i = 0; i < RS_COUNT(cases); i++)
    for (int queries = 0; queries < 2; queries++) {
      double *sample = vectors(cases[i].name, cases[i].setting, cases[i].value, queries, DIMS, LENGTH);
      moments got = moments_of(sample, COUNT);
      double slack = five_sigma(COUNT) * cases[i].sd;
      cr_assert_float_eq(got.mean, cases[i].mean, slack, "%s: mean %g", cases[i].name, got.mean);
      cr_assert_float_eq(got.sd, cases[i].sd, slack, "%s: sd %g", cases[i].name, got.sd);
      free(sample);
    }
}

/* Any cut of the keys gives the same bytes, whatever was made before. */
Test(sources, keys__in_chunks__are_those_made_at_once) {
  enum { DIMS = 6, LENGTH = 90 };
  size_t count;
  const rs_source_kind *const *kinds = rs_source_kinds(&count);
  for (size_t i = 0; i < count; i++) {
    sim_head h;
    head_make(&h, kinds[i]->kind.name, DIMS, LENGTH);
    double *whole = all_keys(&h), part[LENGTH * DIMS];
    for (size_t begin = 0; begin < LENGTH; begin += 7)
      for (size_t end = begin; end <= LENGTH; end += 3) {
        kinds[i]->keys(&h.in, begin, end, part);
        cr_assert(same_bytes(part, whole + begin * DIMS, (end - begin) * DIMS), "%s", kinds[i]->kind.name);
      }
    free(whole);
    head_clear(&h);
  }
}

/* Keys and queries of a changed head are unrelated to those before, and to each other. */
static void check_fresh(sim_head *h, const double *keys_before, const double *queries_before, const char *what) {
  double *keys = all_keys(h), *queries = all_queries(h);
  size_t count = h->in.length * h->in.head_dim;
  const double *const pairs[][2] = {{keys, keys_before}, {queries, queries_before}, {keys, queries}};
  for (size_t i = 0; i < RS_COUNT(pairs); i++)
    if (fabs(correlation(pairs[i][0], pairs[i][1], count)) > five_sigma(count))
      cr_assert_fail("another %s, pair %zu", what, i);
  free(keys);
  free(queries);
}

Test(sources, another_seed_or_head__numbers__are_unrelated) {
  sim_head h;
  head_make(&h, "gaussian", 16, 512);
  double *keys = all_keys(&h), *queries = all_queries(&h);
  h.in.seed = 2;
  check_fresh(&h, keys, queries, "seed");
  h.in.seed = 1;
  h.in.head = 1;
  check_fresh(&h, keys, queries, "head");
  free(keys);
  free(queries);
  head_clear(&h);
}

/* Common random numbers: one seed, the same noise, whatever the source; differences between sources have no noise. */
Test(sources, same_seed__numbers__are_shared_by_the_sources) {
  enum { DIMS = 8, LENGTH = 100, COUNT = DIMS * LENGTH };
  for (int queries = 0; queries < 2; queries++) {
    double *plain = vectors("gaussian", NULL, 0, queries, DIMS, LENGTH);
    double *needle = vectors("needle", NULL, 0, queries, DIMS, LENGTH);
    double *shifted = vectors("gaussian_mean", "mean", 2, queries, DIMS, LENGTH);
    double *grid = vectors("grid", NULL, 0, queries, DIMS, LENGTH);
    double *incoherent = vectors("grid", "coherence", 0, queries, DIMS, LENGTH);
    cr_assert(same_bytes(plain, needle, COUNT) && same_bytes(plain, incoherent, COUNT));
    for (size_t i = 0; i < COUNT; i++) cr_assert_eq(shifted[i], plain[i] + 2);
    cr_assert(same_bytes(plain, grid, IMAGE * DIMS), "text before the picture");
    cr_assert(same_bytes(plain + (VIDEO - 2) * DIMS, grid + (VIDEO - 2) * DIMS, 2 * DIMS), "text between");
    cr_assert(same_bytes(plain + LAYOUT_END * DIMS, grid + LAYOUT_END * DIMS, COUNT - LAYOUT_END * DIMS), "text after");
    double *all[] = {plain, needle, shifted, grid, incoherent};
    for (size_t i = 0; i < RS_COUNT(all); i++) free(all[i]);
  }
}

/* ---- the needle -------------------------------------------------------------------------------------------------- */

Test(needle, overlap__of_needle_and_query__is_their_correlation) {
  enum { DIMS = 64, LENGTH = 2000, COUNT = DIMS * LENGTH };
  static const double overlaps[] = {0, 0.3, 0.8, 1};
  for (size_t i = 0; i < RS_COUNT(overlaps); i++) {
    sim_head h;
    head_make(&h, "needle", DIMS, LENGTH);
    head_set(&h, "overlap", overlaps[i]);
    double *queries = all_queries(&h), *keys = all_keys(&h), *needles = obtain(COUNT, sizeof *needles);
    for (size_t m = 0; m < LENGTH; m++) h.kind->needle(&h.in, m, queries + m * DIMS, needles + m * DIMS);
    moments all = moments_of(needles, COUNT);
    double slack = five_sigma(COUNT);
    cr_assert_float_eq(correlation(needles, queries, COUNT), overlaps[i], 2 * slack);
    cr_assert_float_eq(correlation(needles, keys, COUNT), 0, slack, "the needle's noise is no key's");
    cr_assert_float_eq(all.mean, 0, slack);
    cr_assert_float_eq(all.sd, 1, slack);
    if (overlaps[i] == 1) cr_assert(same_bytes(needles, queries, COUNT));
    free(queries);
    free(keys);
    free(needles);
    head_clear(&h);
  }
}

Test(needle, depth__of_each_query__is_a_share_of_what_it_sees) {
  static const double depths[] = {0, 0.1, 0.25, 0.5, 0.75, 0.9, 1};
  sim_head h;
  head_make(&h, "needle", 4, 60);
  double query[4] = {1, 2, 3, 4}, key[4], again[4];
  for (size_t i = 0; i < RS_COUNT(depths); i++)
    for (size_t m = 0; m < 1000; m++) {
      head_set(&h, "depth", depths[i]);
      size_t at = h.kind->needle(&h.in, m, query, key);
      cr_assert(at <= m && at <= depths[i] * m && at + 1 > depths[i] * m, "depth %g of %zu: %zu", depths[i], m, at);
      head_set(&h, "depth", 0);
      cr_assert_eq(h.kind->needle(&h.in, m, query, again), 0);
      cr_assert(same_bytes(key, again, 4), "the same needle at every depth");
    }
  head_clear(&h);
}

/* ---- bands ------------------------------------------------------------------------------------------------------- */

static bool in_band(const rs_source_in *in, size_t dim, double from, double to) {
  double pairs = in->rotary_dim / 2.0;
  for (size_t j = 0; j < in->rotary_dim / 2; j++) {
    size_t first = in->pair_layout == RS_INTERLEAVED ? 2 * j : j;
    size_t second = in->pair_layout == RS_INTERLEAVED ? 2 * j + 1 : j + in->rotary_dim / 2;
    if ((dim == first || dim == second) && j + 1 > from * pairs && j < to * pairs) return true;
  }
  return false;
}

static void check_band(sim_head *h, double from, double to, bool queries) {
  size_t dims = h->in.head_dim, length = h->in.length;
  head_set(h, "from", from);
  head_set(h, "to", to);
  double *x = all_of(h, queries), *plain = vectors("gaussian", NULL, 0, queries, dims, length), energy = 0;
  size_t inside = 0;
  for (size_t d = 0; d < dims; d++) inside += in_band(&h->in, d, from, to);
  double gain = sqrt((double)dims / (double)inside);
  for (size_t i = 0; i < length * dims; i++) {
    double want = in_band(&h->in, i % dims, from, to) ? gain * plain[i] : 0;
    if (fabs(x[i] - want) > 1e-14 * gain * fabs(plain[i])) cr_assert_fail("dim %zu: %g, not %g", i % dims, x[i], want);
    energy += x[i] * x[i] / (double)length;
  }
  double slack =
      5 * (double)dims * sqrt(2 / (double)(inside * length)); /* var of chi^2 with `inside` dims is twice it */
  cr_assert_float_eq(energy, dims, slack, "|x|^2 = %g", energy);
  free(x);
  free(plain);
}

Test(band, energy__of_both_layouts__lies_inside_and_sums_to_the_head_dim) {
  static const double bands[][2] = {{0, 1}, {0, 0.25}, {0.75, 1}, {0.3, 0.6}, {0.5, 0.500001}, {0.99, 1}};
  static const size_t geometries[][2] = {{32, 32}, {32, 16}, {6, 6}, {20, 2}};
  for (size_t g = 0; g < RS_COUNT(geometries); g++)
    for (size_t b = 0; b < RS_COUNT(bands); b++)
      for (int way = 0; way < 4; way++) {
        sim_head h;
        head_make(&h, "band", geometries[g][0], 400);
        h.in.rotary_dim = geometries[g][1];
        h.in.pair_layout = way < 2 ? RS_HALF_SPLIT : RS_INTERLEAVED;
        check_band(&h, bands[b][0], bands[b][1], way % 2);
        head_clear(&h);
      }
}

/* The same band for a needle's haystack, and for its own noise; the whole band is the whole head, whatever turns. */
Test(band, needle__keys_queries_and_noise__lie_inside) {
  static const double bands[][2] = {{0, 0.25}, {0.5, 1}, {0, 1}};
  enum { DIMS = 32 };
  for (size_t b = 0; b < RS_COUNT(bands); b++)
    for (int way = 0; way < 4; way++) {
      sim_head h;
      head_make(&h, "needle", DIMS, 400);
      h.in.rotary_dim = bands[b][0] + bands[b][1] == 1 ? 16 : DIMS;
      h.in.pair_layout = way < 2 ? RS_HALF_SPLIT : RS_INTERLEAVED;
      head_set(&h, "overlap", 0);
      bool whole = bands[b][1] - bands[b][0] == 1;
      if (!whole) check_band(&h, bands[b][0], bands[b][1], way % 2);
      double zero[DIMS] = {0}, key[DIMS], energy = 0;
      for (size_t m = 0; m < 400; m++) {
        h.kind->needle(&h.in, m, zero, key);
        for (size_t d = 0; d < DIMS; d++) {
          cr_assert_eq(key[d] != 0, whole || in_band(&h.in, d, bands[b][0], bands[b][1]), "dim %zu", d);
          energy += key[d] * key[d] / 400;
        }
      }
      cr_assert_float_eq(energy, DIMS, 5 * DIMS * sqrt(2.0 / (400 * 8)), "%g", energy);
      head_clear(&h);
    }
}

static void check_ends(const char *source) {
  static const double cases[][3] = {{0, 1, 1}, {0.5, 0.6, 1}, {0.5, 0.5, 0}, {0.6, 0.5, 0}, {1, 1, 0}};
  sim_head h;
  head_make(&h, source, 8, 4);
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_err err = {0};
    head_set(&h, "from", cases[i][0]);
    head_set(&h, "to", cases[i][1]);
    cr_assert_eq(h.kind->check(&h.settings, &err), cases[i][2] ? RS_OK : RS_INPUT);
    cr_assert_str_eq(err.subject, cases[i][2] ? "" : "to");
  }
  head_clear(&h);
}

Test(band, ends_that_do_not_ascend__are_refused_naming_the_end) {
  check_ends("band");
  check_ends("needle");
}

/* ---- grids ------------------------------------------------------------------------------------------------------- */

/* Correlation of token a's query or key with token b's key, over `dims` and many pictures. */
static double resemblance(sim_head *h, size_t a, size_t b, bool query) {
  enum { PICTURES = 500 };
  double x[64], y[64], sum = 0;
  cr_assert_leq(h->in.head_dim, 64);
  for (uint64_t seed = 0; seed < PICTURES; seed++) {
    h->in.seed = seed;
    if (query)
      h->kind->query(&h->in, a, x);
    else
      h->kind->keys(&h->in, a, a + 1, x);
    h->kind->keys(&h->in, b, b + 1, y);
    sum += correlation(x, y, h->in.head_dim) / PICTURES;
  }
  return sum;
}

static void resembles(sim_head *h, size_t a, size_t b, double expected) {
  for (int query = 0; query < 2; query++) {
    double got = resemblance(h, a, b, query);
    if (fabs(got - expected) >
        1.3 * five_sigma(500 * h->in.head_dim)) /* x y has at most sd 1.22: 1 + cos(4 turn) / 2 */
      cr_assert_fail("%s %zu, key %zu: %g, should be %g", query ? "query" : "key", a, b, got, expected);
  }
}

/* coherence^2 exp(-r^2 / (2 smooth^2)) within one picture; r counts frames, rows and columns. */
Test(grid, patches_of_one_picture__resemble_by_their_distance) {
  static const size_t shifts[][3] = {{0, 0, 1}, {0, 1, 0}, {1, 0, 0}, {0, 2, 2}, {2, 3, 2}, {1, 1, 1}};
  static const double settings[][2] = {{4, 0.7}, {1.5, 1}, {0.8, 0.9}};
  for (size_t s = 0; s < RS_COUNT(settings); s++) {
    sim_head h;
    head_make(&h, "grid", 64, LAYOUT_END + 3);
    head_set(&h, "smooth", settings[s][0]);
    head_set(&h, "coherence", settings[s][1]);
    for (size_t i = 0; i < RS_COUNT(shifts); i++) {
      size_t t = shifts[i][0], row = shifts[i][1], column = shifts[i][2];
      double r2 = (double)(t * t + row * row + column * column), smooth2 = settings[s][0] * settings[s][0];
      double expected = settings[s][1] * settings[s][1] * exp(-r2 / (2 * smooth2));
      resembles(&h, VIDEO, VIDEO + (t * VIDEO_ROWS + row) * VIDEO_COLUMNS + column, expected);
      if (t == 0) resembles(&h, IMAGE + row * IMAGE_COLUMNS + column, IMAGE, expected);
    }
    head_clear(&h);
  }
}

Test(grid, text_and_other_pictures__are_uncorrelated) {
  sim_head h;
  head_make(&h, "grid", 64, LAYOUT_END + 3);
  head_set(&h, "coherence", 1);
  head_set(&h, "smooth", 1e6); /* within one picture everything is alike */
  resembles(&h, IMAGE, IMAGE + 19, 1);
  resembles(&h, 0, 1, 0);
  resembles(&h, VIDEO - 2, VIDEO - 1, 0);
  resembles(&h, LAYOUT_END, LAYOUT_END + 1, 0);
  resembles(&h, IMAGE - 1, IMAGE, 0);
  resembles(&h, LAYOUT_END, LAYOUT_END - 1, 0);
  resembles(&h, IMAGE, VIDEO, 0);
  head_clear(&h);
}

/* Picture and noise add to variance 1 at any coherence. */
Test(grid, patches__of_any_coherence__have_unit_variance) {
  enum { DIMS = 64, SEEDS = 500 };
  static const double coherences[] = {0, 0.5, 0.7, 1};
  double *patches = obtain(SEEDS * DIMS, sizeof *patches);
  for (size_t i = 0; i < RS_COUNT(coherences); i++) {
    sim_head h;
    head_make(&h, "grid", DIMS, LAYOUT_END);
    head_set(&h, "coherence", coherences[i]);
    for (h.in.seed = 0; h.in.seed < SEEDS; h.in.seed++)
      h.kind->keys(&h.in, IMAGE + 7, IMAGE + 8, patches + h.in.seed * DIMS);
    moments got = moments_of(patches, SEEDS * DIMS);
    cr_assert_float_eq(got.mean, 0, five_sigma(SEEDS * DIMS));
    cr_assert_float_eq(got.sd, 1, five_sigma(SEEDS * DIMS), "coherence %g: %g", coherences[i], got.sd);
    head_clear(&h);
  }
  free(patches);
}

/* With coherence 1 a patch is picture alone: its query is its key, and another dim or head another field. */
Test(grid, fields__of_dims_and_heads__are_independent) {
  sim_head h;
  head_make(&h, "grid", 64, LAYOUT_END);
  head_set(&h, "coherence", 1);
  double q[64], k[64], other[64], dims = 0, heads = 0;
  for (uint64_t seed = 0; seed < 500; seed++) {
    h.in.seed = seed;
    h.kind->query(&h.in, IMAGE + 7, q);
    h.kind->keys(&h.in, IMAGE + 7, IMAGE + 8, k);
    cr_assert(same_bytes(q, k, 64));
    h.in.head = 1;
    h.kind->query(&h.in, IMAGE + 7, other);
    h.in.head = 0;
    dims += correlation(q, q + 1, 63) / 500;
    heads += correlation(q, other, 64) / 500;
  }
  cr_assert_float_eq(dims, 0, five_sigma(500 * 63));
  cr_assert_float_eq(heads, 0, five_sigma(500 * 64));
  head_clear(&h);
}

/* ---- the constant source under RoPE ------------------------------------------------------------------------------ */

static rs_model model_of(size_t heads, size_t dims, size_t train_length) {
  return (rs_model){.heads = heads,
                    .head_dim = dims,
                    .rotary_dim = dims,
                    .rope_theta = 10000,
                    .train_length = train_length,
                    .max_length = train_length};
}

static rs_encoding *encoding_of(const rs_method *method, const rs_model *model, size_t length) {
  rs_recipe recipe;
  rs_encoding *encoding = NULL;
  cr_assert_eq(rs_recipe_init(&recipe, method, NULL), RS_OK);
  cr_assert_eq(rs_encoding_create(&recipe, model, length, NULL, NULL, &encoding, NULL), RS_OK);
  rs_recipe_clear(&recipe);
  return encoding;
}

/* 2 sum_j cos((m - n) theta_j) / sqrt(D). */
Test(sources, constant__logit_under_rope__is_the_bare_kernel) {
  enum { DIMS = 64, LENGTH = 200 };
  rs_model model = model_of(1, DIMS, LENGTH);
  rs_encoding *encoding = encoding_of(rs_method_find("rope"), &model, LENGTH);
  double *k = vectors("constant", NULL, 0, false, DIMS, LENGTH), *q = vectors("constant", NULL, 0, true, DIMS, 1);
  double logits[LENGTH], needle;
  size_t last = LENGTH - 1;
  rs_attention_job job = {.encoding = encoding, .queries = &last, .query_count = 1, .q = q, .k = k};
  cr_assert_eq(rs_reference_row(&job, 0, logits, &needle, NULL), RS_OK);
  for (size_t n = 0; n < LENGTH; n++) {
    long double kernel = 0;
    for (size_t j = 0; j < DIMS / 2; j++) kernel += cosl((last - n) * powl(10000, -2.0L * j / DIMS));
    cr_assert_float_eq(logits[n], 2 * kernel / sqrtl(DIMS), 1e-13, "key %zu", n);
  }
  rs_encoding_free(encoding);
  free(k);
  free(q);
}

/* ---- projections ------------------------------------------------------------------------------------------------- */

/* An embedding whose row n is unit vector n: projecting it shows the rows of W_q and W_k themselves. */
static rs_status unit_rows(const rs_encoding *encoding, size_t begin, size_t count, double *out, rs_err *err) {
  (void)err;
  memset(out, 0, count * encoding->width * sizeof *out);
  for (size_t row = 0; row < count; row++)
    if (begin + row < encoding->width) out[row * encoding->width + begin + row] = 1;
  return RS_OK;
}

static const rs_embed_kind unit_embedding = {.kind = {.name = "unit"}, .fill = unit_rows};

/* W_q and W_k of a head, (W, D) each, as the projection of `encoding`'s keys and of its queries (all). */
static rs_projection *project(const rs_encoding *encoding, size_t head, uint64_t seed) {
  size_t length = encoding->length, *queries = obtain(length, sizeof *queries);
  rs_projection *projection = NULL;
  for (size_t m = 0; m < length; m++) queries[m] = m;
#ifdef _OPENMP
  omp_set_num_threads(1); /* more would only wait for each other beside the other cases */
#endif
  cr_assert_eq(rs_projection_create(encoding, head, seed, queries, length, &projection, NULL), RS_OK);
  free(queries);
  return projection;
}

static rs_projection *weights(const rs_model *model, size_t head, uint64_t seed) {
  rs_method method = *rs_method_find("sinusoidal");
  method.embed = &unit_embedding;
  rs_encoding *encoding = encoding_of(&method, model, model->heads * model->head_dim);
  rs_projection *projection = project(encoding, head, seed);
  rs_encoding_free(encoding);
  return projection;
}

/* The largest deviation of A^T B from `diagonal` times the identity; A and B are (rows, columns). */
static double off_diagonal(const double *a, const double *b, size_t rows, size_t columns, double diagonal) {
  double worst = 0;
  for (size_t i = 0; i < columns; i++)
    for (size_t j = 0; j < columns; j++) {
      long double sum = 0;
      for (size_t n = 0; n < rows; n++) sum += (long double)a[n * columns + i] * b[n * columns + j];
      worst = fmax(worst, fabs((double)sum - (i == j ? diagonal : 0)));
    }
  return worst;
}

static const size_t shapes[][2] = {{1, 4}, {2, 2}, {2, 8}, {3, 6}, {5, 2}, {8, 16}}; /* heads, dims */

Test(projection, weights__of_each_head__are_orthonormal_and_orthogonal_to_each_other) {
  for (size_t s = 0; s < RS_COUNT(shapes); s++) {
    rs_model model = model_of(shapes[s][0], shapes[s][1], 100);
    size_t width = model.heads * model.head_dim, dims = model.head_dim;
    for (size_t h = 0; h < model.heads; h++) {
      rs_projection *w = weights(&model, h, 11);
      cr_assert_lt(off_diagonal(w->q, w->q, width, dims, 1), 1e-14 * (double)width);
      cr_assert_lt(off_diagonal(w->k, w->k, width, dims, 1), 1e-14 * (double)width);
      double crossed = off_diagonal(w->q, w->k, width, dims, 0);
      cr_assert(!same_bytes(w->q, w->k, width * dims));
      cr_assert(model.heads > 1 ? crossed < 1e-14 * (double)width : crossed > 1e-3, "%g", crossed);
      rs_projection_free(w);
    }
  }
}

Test(projection, weights__of_heads_and_seeds__all_differ) {
  rs_model model = model_of(4, 4, 100);
  enum { COUNT = 16 * 4 };
  rs_projection *w[6];
  for (size_t i = 0; i < 4; i++) w[i] = weights(&model, i, 5);
  w[4] = weights(&model, 0, 6);
  w[5] = weights(&model, 0, 5);
  cr_assert(same_bytes(w[0]->q, w[5]->q, COUNT) && same_bytes(w[0]->k, w[5]->k, COUNT));
  for (size_t i = 0; i < 5; i++)
    for (size_t j = 0; j < i; j++)
      for (size_t c = 0; c < COUNT; c++) cr_assert(w[i]->q[c] != w[j]->q[c] && w[i]->k[c] != w[j]->k[c]);
  for (size_t i = 0; i < RS_COUNT(w); i++) rs_projection_free(w[i]);
}

enum { SEEDS = 1000, HAAR_WIDTH = 6, HAAR_DIMS = 2, HAAR_CELLS = HAAR_WIDTH * HAAR_DIMS };

/* Columns of Haar distributed matrices have no preferred direction: over seeds, the mean of each entry is 0 and of its
 * square 1/W. `entries` (SEEDS, cells). */
static void check_haar(const double *entries) {
  for (size_t i = 0; i < HAAR_CELLS; i++) {
    double column[SEEDS];
    for (size_t seed = 0; seed < SEEDS; seed++) column[seed] = entries[seed * HAAR_CELLS + i];
    moments entry = moments_of(column, SEEDS);
    cr_assert_float_eq(entry.mean, 0, five_sigma(SEEDS) / sqrt(HAAR_WIDTH));
    cr_assert_float_eq(entry.sd * entry.sd, 1.0 / HAAR_WIDTH, 1.5 * five_sigma(SEEDS) / HAAR_WIDTH);
  }
}

Test(projection, weights__over_seeds__have_no_preferred_direction) {
  rs_model model = model_of(HAAR_WIDTH / HAAR_DIMS, HAAR_DIMS, 100);
  double *q = obtain(SEEDS * HAAR_CELLS, sizeof *q), *k = obtain(SEEDS * HAAR_CELLS, sizeof *k);
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    rs_projection *w = weights(&model, 1, seed);
    memcpy(q + seed * HAAR_CELLS, w->q, HAAR_CELLS * sizeof *q);
    memcpy(k + seed * HAAR_CELLS, w->k, HAAR_CELLS * sizeof *k);
    rs_projection_free(w);
  }
  check_haar(q);
  check_haar(k);
  free(q);
  free(k);
}

/* out (D) = row n of the table times W (W, D), the plain way. */
static void check_product(const rs_encoding *encoding, size_t n, const double *w, const double *got) {
  size_t width = encoding->width, dims = encoding->head_dim;
  double row[256];
  cr_assert_leq(width, RS_COUNT(row));
  cr_assert_eq(encoding->method->embed->fill(encoding, n, 1, row, NULL), RS_OK);
  for (size_t d = 0; d < dims; d++) {
    long double sum = 0;
    for (size_t i = 0; i < width; i++) sum += (long double)row[i] * w[i * dims + d];
    if (fabsl(got[d] - sum) > 1e-14L * width) cr_assert_fail("token %zu, dim %zu: %g, not %Lg", n, d, got[d], sum);
  }
}

Test(projection, embeddings__through_the_weights__equal_the_dense_product) {
  static const char *const methods[] = {"sinusoidal", "learned"};
  enum { LENGTH = 150 };
  for (size_t s = 0; s < RS_COUNT(shapes); s++)
    for (size_t i = 0; i < RS_COUNT(methods); i++) {
      rs_model model = model_of(shapes[s][0], shapes[s][1], LENGTH);
      size_t head = model.heads - 1, dims = model.head_dim;
      rs_encoding *encoding = encoding_of(rs_method_find(methods[i]), &model, LENGTH);
      rs_projection *w = weights(&model, head, 3), *projection = project(encoding, head, 3);
      for (size_t n = 0; n < LENGTH; n++) {
        check_product(encoding, n, w->q, projection->q + n * dims);
        check_product(encoding, n, w->k, projection->k + n * dims);
      }
      rs_projection_free(w);
      rs_projection_free(projection);
      rs_encoding_free(encoding);
    }
}

/* Row i of q belongs to query i, wherever it stands. */
Test(projection, chosen_queries__rows__are_those_of_their_positions) {
  static const size_t queries[] = {3, 4, 17, 99};
  rs_model model = model_of(3, 4, 100);
  rs_encoding *encoding = encoding_of(rs_method_find("sinusoidal"), &model, 100);
  rs_projection *all = project(encoding, 2, 9), *some = NULL;
  cr_assert_eq(rs_projection_create(encoding, 2, 9, queries, RS_COUNT(queries), &some, NULL), RS_OK);
  for (size_t i = 0; i < RS_COUNT(queries); i++) cr_assert(same_bytes(some->q + 4 * i, all->q + 4 * queries[i], 4));
  cr_assert(same_bytes(some->k, all->k, 400));
  rs_projection_free(all);
  rs_projection_free(some);
  rs_encoding_free(encoding);
  rs_projection_free(NULL);
}

Test(projection, learned_table__beyond_its_end__is_a_domain_error) {
  for (size_t length = 63; length <= 200; length += 17) {
    rs_model model = model_of(2, 4, 97);
    rs_recipe recipe;
    rs_encoding *encoding;
    rs_err err = {0};
    cr_assert_eq(rs_recipe_init(&recipe, rs_method_find("learned"), NULL), RS_OK);
    rs_status status = rs_encoding_create(&recipe, &model, length, NULL, NULL, &encoding, &err);
    cr_assert_eq(status, length <= 97 ? RS_OK : RS_DOMAIN, "length %zu: %s", length, err.message);
    cr_assert_eq(encoding != NULL, length <= 97);
    if (length > 97) cr_assert_not_null(strstr(err.message, "beyond the table of 97 rows"), "%s", err.message);
    rs_encoding_free(encoding);
    rs_recipe_clear(&recipe);
  }
}
