/* test_source_shapes.c: sources whose numbers lie in a band of pairs or follow a picture's grid. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "../fixtures/obtain.h"
#include "../fixtures/source_head.h"
#include "attention/attention.h"

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
  static const double bands[][2] = {{0, 1},          {0, 0.25},          {0.75, 1}, {0.3, 0.6},
                                    {0.5, 0.500001}, {0.5, 0.5 + 1e-12}, {0.99, 1}};
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
    cr_assert_eq(h.kind->check(&h.parameters.binding, &err), cases[i][2] ? RS_OK : RS_INPUT);
    cr_assert_str_eq(err.subject, cases[i][2] ? "" : "to");
  }
  head_clear(&h);
}

Test(band, ends_that_do_not_ascend__are_refused_naming_the_end) {
  check_ends("band");
  check_ends("needle");
}

/* The phrases of a caption, with "; " between them; the caller clears. */
static void write_caption(const char *source, double from, double to, double overlap, rs_text *words) {
  sim_head h;
  head_make(&h, source, 16, 8);
  bound_number(&h.parameters, "to", to);
  head_set(&h, "from", from);
  if (overlap < 1) head_set(&h, "overlap", overlap), head_set(&h, "depth", 0.25);
  rs_text phrase = {0};
  for (size_t i = 0; i == 0 || phrase.length > 0; i++) {
    rs_text_clear(&phrase);
    h.kind->caption(h.parameters.binding.fields, i, &phrase);
    if (phrase.length > 0) rs_text_printf(words, "%s%s", i > 0 ? "; " : "", rs_text_string(&phrase));
  }
  rs_text_clear(&phrase);
  head_clear(&h);
}

#define CAVEAT                                                                                                         \
  "; no ranking of trained models: nothing is learned here, position only disturbs the match, and a method without "   \
  "it "                                                                                                                \
  "(nope) comes first"

/* What captions say follows from the parameters, and from nothing else. */
Test(band, caption__of_any_parameters__says_what_they_are) {
  static const struct {
    const char *source;
    double from, to, overlap;
    const char *caption;
  } cases[] = {
      {"needle", 0.75, 1, 1, "a copy of the query; content in the slow quarter of the pairs; depth 0.5" CAVEAT},
      {"needle", 0.5, 1, 1, "a copy of the query; content in the slow half of the pairs; depth 0.5" CAVEAT},
      {"needle", 0, 1, 1, "a copy of the query; content in the whole head; depth 0.5" CAVEAT},
      {"needle", 0, 0.125, 0.8,
       "correlation 0.8 with the query; content in the fast eighth of the pairs; depth 0.25" CAVEAT},
      {"needle", 0.7, 1, 0, "correlation 0 with the query; content in the slow 30% of the pairs; depth 0.25"},
      {"needle", 0.25, 0.5, 1,
       "a copy of the query; content from 25% to 50% of the pairs (fastest first); depth 0.5" CAVEAT},
      {"band", 0, 0.25, 1, "content in the fast quarter of the pairs"},
      {"band", 0, 1, 1, "content in all pairs"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_text words = {0};
    write_caption(cases[i].source, cases[i].from, cases[i].to, cases[i].overlap, &words);
    cr_expect_str_eq(rs_text_string(&words), cases[i].caption);
    rs_text_clear(&words);
  }
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
