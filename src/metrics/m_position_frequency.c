/* How often training shows each relative position: a document of `len` tokens has len - i pairs of tokens i apart, so
 * that f(i) = sum over documents of max(len - i, 0). An et al. (STRING), arXiv:2410.18745, section 3. Far positions are
 * rare even when every document fills the context, and rarer with every shorter one. Reads the length alone: what the
 * encoding makes of a position is another matter.
 *
 * The lengths are a law in place of a list of documents, and f(i) its expectation for one document, cut off at L:
 *   full        len = L:                        f(i) = L - i
 *   uniform     len = 1 .. L equally likely:    f(i) = (L - i)(L - i + 1) / (2 L)
 *   log_normal  ln len ~ N(ln median, sd^2):    f(i) = E[min(len, L)] - E[min(len, i)], len real */
#include "metric_list.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

enum { POINTS = 257 }; /* rows of the curve: the length in 256 steps */

typedef enum documents { FULL, UNIFORM, LOG_NORMAL, DOCUMENTS } documents;

static const char *const document_words[DOCUMENTS + 1] = {
    [FULL] = "full", [UNIFORM] = "uniform", [LOG_NORMAL] = "log_normal"};

typedef struct params {
  documents documents;
  double median_tokens, log_sd;
} params;

typedef struct law {
  documents documents;
  double length, median, sd;
} law;

/* E[min(len, cap)] of a log-normal len: the mean of what lies below the cap, and the cap where it does not. */
static double capped_mean(const law *l, double cap) {
  if (cap <= 0) return 0;
  double z = log(cap / l->median) / l->sd;
  return l->median * exp(l->sd * l->sd / 2) * gsl_cdf_ugaussian_P(z - l->sd) + cap * gsl_cdf_ugaussian_Q(z);
}

/* Expected pairs of tokens `i` apart in one document. */
static double frequency(const law *l, double i) {
  double left = l->length - i;
  if (l->documents == LOG_NORMAL) return fmax(capped_mean(l, l->length) - capped_mean(l, i), 0);
  return l->documents == UNIFORM ? left * (left + 1) / (2 * l->length) : left;
}

static rs_status add_position(const law *l, size_t i, double share, rs_curve *curve, rs_err *err) {
  double row[] = {(double)i, frequency(l, (double)i) / frequency(l, 0), share};
  return rs_curve_add(curve, row, err);
}

/* What lies at relative positions up to `last`; what is beyond half and three quarters is summed on the way. */
typedef struct tally {
  rs_sum all, near, last_quarter;
  size_t median;
} tally;

static tally count_positions(const law *l, size_t length) {
  tally t = {0};
  for (size_t i = 0; i < length; i++) {
    double f = frequency(l, (double)i);
    rs_sum_add(&t.all, f);
    if (2 * i <= length) rs_sum_add(&t.near, f);
    if (4 * i >= 3 * length) rs_sum_add(&t.last_quarter, f);
  }
  return t;
}

/* The curve, and in *median the first position at or below which half of all pairs lie. */
static rs_status add_positions(const law *l, size_t length, double all, double *median, rs_curve *curve, rs_err *err) {
  rs_sum sum = {0};
  size_t shown = 0, points = length < POINTS ? length : POINTS;
  for (size_t i = 0; i < length; i++) {
    rs_sum_add(&sum, frequency(l, (double)i));
    double share = fmin(rs_sum_total(&sum) / all, 1);
    if (isnan(*median) && share >= 0.5) *median = (double)i;
    if (i != rs_even_sample(shown, points, length)) continue;
    RS_TRY(add_position(l, i, share, curve, err));
    shown++;
  }
  return RS_OK;
}

static rs_status finish(const rs_metric_in *in, const void *state, rs_result *result, rs_err *err) {
  (void)state;
  size_t length = in->encoding->length;
  const params *p = in->params;
  const law l = {.documents = p->documents, .length = (double)length, .median = p->median_tokens, .sd = p->log_sd};
  const tally t = count_positions(&l, length);
  double all = rs_sum_total(&t.all);
  result->value[0] = rs_sum_total(&t.near) / all;
  result->value[1] = rs_sum_total(&t.last_quarter) / all;
  result->value[2] = NAN;
  return add_positions(&l, length, all, &result->value[2], &result->curve, err);
}

static size_t curve_rows(const void *given, const rs_curve_in *in) {
  (void)given;
  return in->length < POINTS ? in->length : POINTS;
}

static const rs_param specs[] = {
    {RS_FIELD(params, documents), .unit = "", RS_WORDS(document_words), .fallback = "full",
     .summary =
         "lengths of the documents that training saw: all the context's, every length up to it equally often, or "
         "log-normal and cut off at it"},
    {RS_FIELD(params, median_tokens), .unit = "tokens", .min = 1, .max = 1e9, .fallback = "1000",
     .summary = "log_normal: as many documents are longer as are shorter; a round number, not a fit to any corpus"},
    {RS_FIELD(params, log_sd), .unit = "1", .min = 0.001, .max = 10, .fallback = "1",
     .summary = "log_normal: standard deviation of ln tokens; a round number, not a fit to any corpus"},
};

static const rs_column scalars[] = {
    RS_COLUMN("near_position_share", "1",
              "share of all pairs of tokens in a document that are at most half of the length apart"),
    RS_COLUMN("last_quarter_position_share", "1", "share of them that are three quarters of the length apart, or more"),
    RS_COLUMN("median_position_tokens", "tokens", "least distance at or below which half of them are",
              .log_axis = true),
};

static const rs_column curve[] = {
    RS_COLUMN("relative_tokens", "tokens", "relative position i, in up to 257 even steps"),
    RS_COLUMN("relative_frequency", "1", "f(i) / f(0), f(i) = sum over documents of max(len - i, 0)"),
    RS_COLUMN("cumulative_share", "1", "share of all pairs that are at most i apart"),
};

const rs_metric_kind rs_metric_position_frequency = {
    .kind = {.name = "position_frequency",
             .summary = "how often documents of given lengths show each relative position",
             .reference = "STRING, arXiv:2410.18745, section 3",
             RS_KIND(specs, params)},
    RS_SCALARS(scalars),
    RS_CURVE(curve, 1),
    .curve_rows = curve_rows,
    .finish = finish,
};
