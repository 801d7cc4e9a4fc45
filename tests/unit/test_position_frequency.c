/* test_position_frequency.c: how often documents show a relative position, against pairs counted one document at a
 * time, an integral of the log-normal law, and the shares that arXiv:2410.18745 starts from. */
#include "../measured.h"

enum { MOST = 400 };

/* Pairs `i` apart, in all documents together. */
typedef struct census {
  size_t length;
  long double pairs[MOST];
} census;

static void add_document(census *c, size_t tokens) {
  for (size_t m = 0; m < tokens; m++)
    for (size_t n = 0; n <= m; n++) c->pairs[m - n]++;
}

static long double share(const census *c, long double from, long double to) {
  long double all = 0, some = 0;
  for (size_t i = 0; i < c->length; i++) {
    all += c->pairs[i];
    if (i >= from && i <= to) some += c->pairs[i];
  }
  return some / all;
}

static size_t median_of(const census *c) {
  size_t i = 0;
  while (share(c, 0, i) < 0.5L) i++;
  return i;
}

static measured measure_at(const char *settings, size_t length) {
  rs_model model = plain_model(8, 1e4, 64);
  rs_encoding *encoding = encode("nope", "", &model, length); /* the encoding does not matter */
  measured m = measure("position_frequency", settings, encoding);
  rs_encoding_free(encoding);
  return m;
}

static void check_census(const census *c, const measured *m, const char *where) {
  scalar_is(m, "near_position_share", share(c, 0, c->length / 2.0L), where);
  scalar_is(m, "last_quarter_position_share", share(c, 3 * c->length / 4.0L, c->length), where);
  scalar_is(m, "median_position_tokens", median_of(c), where);
  size_t rows = m->result.curve.rows;
  cr_assert_eq(rows, c->length < 257 ? c->length : 257);
  cr_assert(cell(m, 0, 0) == 0 && cell(m, rows - 1, 0) == c->length - 1.0, "%s: both ends", where);
  for (size_t r = 0; r < rows; r++) {
    size_t i = (size_t)cell(m, r, 0);
    cr_assert(r == 0 || i > cell(m, r - 1, 0));
    agrees(cell(m, r, 1), c->pairs[i] / c->pairs[0], where);
    agrees(cell(m, r, 2), share(c, 0, i), where);
  }
}

Test(position_frequency, documents_one_by_one__pairs__are_counted) {
  for (size_t length = 1; length <= MOST; length += length < 20 ? 1 : 95) {
    census full = {.length = length}, uniform = {.length = length};
    add_document(&full, length);
    for (size_t tokens = 1; tokens <= length; tokens++) add_document(&uniform, tokens);
    measured m = measure_at("documents=full", length);
    check_census(&full, &m, "full");
    rs_curve_clear(&m.result.curve);
    m = measure_at("documents=uniform", length);
    check_census(&uniform, &m, "uniform");
    rs_curve_clear(&m.result.curve);
  }
}

/* Section 3: full documents give L - i, that is 75.0 % and 6.26 % at 2048; uniform lengths 87.5 % and 1.57 %. */
Test(position_frequency, context_of_2048__shares__are_as_known) {
  measured full = measure_at("documents=full", 2048), uniform = measure_at("documents=uniform", 2048);
  cr_assert(close_to(scalar(&full, "near_position_share"), 0.750, 0, 5e-4));
  cr_assert(close_to(scalar(&full, "last_quarter_position_share"), 0.0626, 0, 5e-5));
  cr_assert(close_to(scalar(&uniform, "near_position_share"), 0.875, 0, 5e-4));
  cr_assert(close_to(scalar(&uniform, "last_quarter_position_share"), 0.0157, 0, 5e-5));
  rs_curve_clear(&full.result.curve);
  rs_curve_clear(&uniform.result.curve);
}

/* E[max(min(len, L) - i, 0)] is the integral from i to L of P(len > x), here by Simpson's rule between integers. */
static long double beyond(long double x, long double median, long double sd) {
  return x > 0 ? erfcl(logl(x / median) / (sd * sqrtl(2))) / 2 : 1;
}

static void add_log_normal(census *c, long double median, long double sd) {
  const int steps = 64;
  long double tail = 0;
  for (size_t i = c->length; i-- > 0; c->pairs[i] = tail)
    for (int k = 0; k < steps; k++) {
      long double a = i + (long double)k / steps, b = i + (k + 1.0L) / steps;
      tail += (beyond(a, median, sd) + 4 * beyond((a + b) / 2, median, sd) + beyond(b, median, sd)) / (6 * steps);
    }
}

Test(position_frequency, log_normal_documents__pairs__are_the_integral_of_what_is_longer) {
  static const struct {
    const char *settings;
    long double median, sd;
    size_t length;
  } cases[] = {{"documents=log_normal median_tokens=100 log_sd=1", 100, 1, 300},
               {"documents=log_normal median_tokens=1000 log_sd=0.5", 1000, 0.5L, 257},
               {"documents=log_normal median_tokens=20 log_sd=1.5", 20, 1.5L, 120},
               {"documents=log_normal median_tokens=60 log_sd=0.25", 60, 0.25L, 100}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    census c = {.length = cases[i].length};
    add_log_normal(&c, cases[i].median, cases[i].sd);
    measured m = measure_at(cases[i].settings, cases[i].length);
    cr_assert(close_to(scalar(&m, "near_position_share"), share(&c, 0, c.length / 2.0L), 0, 1e-8), "%s",
              cases[i].settings);
    cr_assert(close_to(scalar(&m, "last_quarter_position_share"), share(&c, 3 * c.length / 4.0L, c.length), 0, 1e-8));
    for (size_t r = 0; r < m.result.curve.rows; r++)
      cr_assert(close_to(cell(&m, r, 1), c.pairs[(size_t)cell(&m, r, 0)] / c.pairs[0], 0, 1e-8), "%s, row %zu",
                cases[i].settings, r);
    rs_curve_clear(&m.result.curve);
  }
}

/* All documents of one length, and of far more than the context holds. */
Test(position_frequency, log_normal_at_its_ends__frequency__is_that_of_one_length) {
  measured sharp = measure_at("documents=log_normal median_tokens=100 log_sd=0.001", 200);
  measured long_ones = measure_at("documents=log_normal median_tokens=1e8 log_sd=0.01", 200);
  measured full = measure_at("documents=full", 200);
  for (size_t i = 0; i < 200; i++) {
    cr_assert(close_to(cell(&sharp, i, 1), fmax(100 - (double)i, 0) / 100, 0, 1e-3), "%zu", i);
    cr_assert(close_to(cell(&long_ones, i, 1), cell(&full, i, 1), 0, 1e-12), "%zu", i);
  }
  rs_curve_clear(&sharp.result.curve);
  rs_curve_clear(&long_ones.result.curve);
  rs_curve_clear(&full.result.curve);
}
