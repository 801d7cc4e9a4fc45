/* Rotary scores depend on the distance alone, as long as numbers are exact. Wang et al., "When Precision Meets
 * Position: BFloat16 Breaks Down RoPE in Long-Context Training", arXiv:2411.13476, section 3: shift query and key by as
 * many tokens, and the score changes, the more the longer the context.
 *
 * For log-spaced distances d from the last query but `shift`: draws of q, k ~ N(0, 1) in each dim, the score at (m, m -
 * d), at (m + shift, m - d + shift), and the exact one; all of plain positions and under the last query's logit scale.
 * cos and sin are those of the encoding's precision; with `rotation` a short format, q and k, cos and sin, each product
 * and each sum are rounded to it, as a model in that format does, while the dot product is exact, as accelerators sum
 * in float32. */
#include "metric_list.h"

#include <math.h>
#include <stdlib.h>

enum { SHIFT_RMS, SHIFT_MAX, EXACT_RMS, SCALARS };

typedef struct params {
  size_t shift; /* tokens */
  rs_format rotation;
  size_t samples, per_octave;
} params;

/* cos and sin (pairs,) of one position each, times amp. */
typedef struct turns {
  double *cosine, *sine;
} turns;

/* Where queries and keys stand: q, k as they are and shifted; and the exact turn from one to the other. */
typedef struct places {
  turns query, key, shifted_query, shifted_key, exact;
} places;

typedef struct work {
  const rs_encoding *encoding;
  rs_format format;
  places places;
  double *q, *k; /* (D,) */
} work;

/* Squares and the largest of what one distance, or all, come to. */
typedef struct tally {
  double count, shift, exact, largest;
} tally;

static void turn_to(const work *w, size_t position, turns out) {
  const rs_encoding *encoding = w->encoding;
  double rounded = rs_round(encoding->precision.positions, (double)position);
  for (size_t j = 0; j < encoding->rotary_dim / 2; j++) {
    rs_encoding_cos_sin(encoding, j, rounded, &out.cosine[j], &out.sine[j]);
    out.cosine[j] = rs_round(w->format, encoding->amp * out.cosine[j]);
    out.sine[j] = rs_round(w->format, encoding->amp * out.sine[j]);
  }
}

/* The turn by a distance in doubles, with the frequencies before rounding. */
static void turn_exactly(const work *w, size_t distance, turns out) {
  const rs_encoding *encoding = w->encoding;
  double factor = encoding->amp * encoding->amp;
  for (size_t j = 0; j < encoding->rotary_dim / 2; j++) {
    rs_cos_sin((double)distance, encoding->omega_exact[j], &out.cosine[j], &out.sine[j]);
    out.cosine[j] *= factor;
    out.sine[j] *= factor;
  }
}

/* a cosine - b sine and a sine + b cosine, each step rounded. */
static void rotate_pair(rs_format format, double a, double b, double cosine, double sine, double out[2]) {
  out[0] = rs_round(format, rs_round(format, a * cosine) - rs_round(format, b * sine));
  out[1] = rs_round(format, rs_round(format, b * cosine) + rs_round(format, a * sine));
}

static double logit(const rs_encoding *encoding, double dot) {
  return dot / sqrt((double)encoding->head_dim) * encoding->logit_scale[encoding->length - 1];
}

/* Both rotated, pair 2j, 2j + 1: which dims make a pair does not matter to dims drawn alike. */
static double score(const work *w, turns query, turns key) {
  size_t turned = w->encoding->rotary_dim, dims = w->encoding->head_dim;
  double sum = 0, q[2], k[2];
  for (size_t j = 0; j < turned / 2; j++) {
    rotate_pair(w->format, w->q[2 * j], w->q[2 * j + 1], query.cosine[j], query.sine[j], q);
    rotate_pair(w->format, w->k[2 * j], w->k[2 * j + 1], key.cosine[j], key.sine[j], k);
    sum += q[0] * k[0] + q[1] * k[1];
  }
  for (size_t d = turned; d < dims; d++) sum += w->q[d] * w->k[d];
  return logit(w->encoding, sum);
}

static double exact_score(const work *w) {
  size_t turned = w->encoding->rotary_dim, dims = w->encoding->head_dim;
  double sum = 0;
  for (size_t j = 0; j < turned / 2; j++) {
    double q0 = w->q[2 * j], q1 = w->q[2 * j + 1], k0 = w->k[2 * j], k1 = w->k[2 * j + 1];
    sum += w->places.exact.cosine[j] * (q0 * k0 + q1 * k1) + w->places.exact.sine[j] * (q0 * k1 - q1 * k0);
  }
  for (size_t d = turned; d < dims; d++) sum += w->q[d] * w->k[d];
  return logit(w->encoding, sum);
}

/* Content is the same at every distance, so that distances can be compared. */
static void draw(const work *w, uint64_t seed, uint64_t sample) {
  const rs_stream stream = {.seed = seed, .purpose = RS_PURPOSE_SHIFT};
  size_t dims = w->encoding->head_dim;
  rs_gaussian_fill(stream, 2 * sample * dims, dims, w->q);
  rs_gaussian_fill(stream, (2 * sample + 1) * dims, dims, w->k);
  for (size_t d = 0; d < dims; d++) {
    w->q[d] = rs_round(w->format, w->q[d]);
    w->k[d] = rs_round(w->format, w->k[d]);
  }
}

static tally measure(const rs_metric_in *in, const work *w) {
  const params *p = in->params;
  tally sum = {.count = (double)p->samples};
  for (size_t i = 0; i < p->samples; i++) {
    draw(w, in->seed, i);
    double here = score(w, w->places.query, w->places.key),
           there = score(w, w->places.shifted_query, w->places.shifted_key);
    double change = there - here, error = here - exact_score(w);
    sum.shift += change * change;
    sum.exact += error * error;
    sum.largest = fmax(sum.largest, fabs(change));
  }
  return sum;
}

static rs_status add_distances(const rs_metric_in *in, const work *w, const size_t *edges, size_t bins, size_t query,
                               rs_result *result, rs_err *err) {
  const params *p = in->params;
  tally all = {0};
  turn_to(w, query, w->places.query);
  turn_to(w, query + p->shift, w->places.shifted_query);
  for (size_t b = 0; b <= bins; b++) {
    size_t distance = b < bins ? edges[b] : query;
    if (b == bins && bins > 0 && edges[bins - 1] == query) break; /* the first key is there already */
    turn_to(w, query - distance, w->places.key);
    turn_to(w, query - distance + p->shift, w->places.shifted_key);
    turn_exactly(w, distance, w->places.exact);
    tally here = measure(in, w);
    double row[] = {(double)distance, sqrt(here.shift / here.count), here.largest, sqrt(here.exact / here.count)};
    all = (tally){all.count + here.count, all.shift + here.shift, all.exact + here.exact,
                  fmax(all.largest, here.largest)};
    RS_TRY(rs_curve_add(&result->curve, row, err));
  }
  result->value[SHIFT_RMS] = sqrt(all.shift / all.count);
  result->value[SHIFT_MAX] = all.largest;
  result->value[EXACT_RMS] = sqrt(all.exact / all.count);
  return RS_OK;
}

static rs_status finish(const rs_metric_in *in, const void *state, rs_result *result, rs_err *err) {
  (void)state;
  const rs_encoding *encoding = in->encoding;
  size_t pairs = encoding->rotary_dim / 2, dims = encoding->head_dim, *edges = NULL, bins;
  const params *p = in->params;
  for (size_t i = 0; i < SCALARS; i++) result->value[i] = NAN;
  if (pairs == 0 || p->shift + 1 >= encoding->length) return RS_OK;
  size_t query = encoding->length - 1 - p->shift;
  RS_TRY(rs_log_edges(query + 1, p->per_octave, &edges, &bins, err));
  double *room = rs_alloc(10 * pairs + 2 * dims, sizeof *room, err);
  rs_status status = room != NULL ? RS_OK : RS_MEMORY;
  if (status == RS_OK) {
    work w = {.encoding = encoding, .format = p->rotation};
    turns *const all[] = {&w.places.query, &w.places.key, &w.places.shifted_query, &w.places.shifted_key,
                          &w.places.exact};
    for (size_t i = 0; i < RS_COUNT(all); i++) *all[i] = (turns){room + 2 * i * pairs, room + (2 * i + 1) * pairs};
    w.q = room + 10 * pairs;
    w.k = w.q + dims;
    status = add_distances(in, &w, edges, bins, query, result, err);
  }
  free(room);
  free(edges);
  return status;
}

static size_t curve_rows(const void *given, const rs_curve_in *in) {
  const params *p = given;
  return rs_log_bins(in->length, p->per_octave) + 1;
}

static const rs_param specs[] = {
    {RS_FIELD(params, shift), .unit = "tokens", .min = 1, .max = 1e9, .fallback = "16",
     .summary = "by how many tokens query and key are moved"},
    {RS_FIELD(params, rotation), .unit = "", RS_WORDS(rs_format_words), .fallback = "f64",
     .summary = "format of q, k, cos, sin, each product and each sum of the rotation"},
    {RS_FIELD(params, samples), .unit = "1", .min = 1, .max = 1e6, .fallback = "256",
     .summary = "draws of q and k at each distance"},
    {RS_FIELD(params, per_octave), .unit = "1", .min = 1, .max = 1024, .fallback = "4",
     .summary = "log-spaced distances in each doubling"},
};

static const rs_column scalars[] = {
    [SHIFT_RMS] = RS_COLUMN("shift_error_rms_nats", "nats",
                            "change of a logit when query and key move by `shift`, root mean square over distances and "
                            "draws of q, k ~ N(0, 1)",
                            .log_axis = true, .better = RS_LOWER),
    [SHIFT_MAX] =
        RS_COLUMN("shift_error_max_nats", "nats", "the largest of these changes", .log_axis = true, .better = RS_LOWER),
    [EXACT_RMS] = RS_COLUMN("logit_error_rms_nats", "nats", "difference from the exact logit, root mean square",
                            .log_axis = true, .better = RS_LOWER),
};

static const rs_column curve[] = {
    RS_COLUMN("distance_tokens", "tokens", "m - n", .integer = true, .log_axis = true),
    RS_COLUMN("shift_rms_nats", "nats", "root mean square of the change over draws", .log_axis = true),
    RS_COLUMN("shift_max_nats", "nats", "the largest change", .log_axis = true),
    RS_COLUMN("error_rms_nats", "nats", "difference from the exact logit", .log_axis = true),
};

const rs_metric_kind rs_metric_shift_invariance = {
    .kind = {.name = "shift_invariance",
             .summary = "how much a logit changes when query and key move by as many tokens",
             .reference = "Wang et al., arXiv:2411.13476, section 3",
             RS_KIND(specs, params)},
    .draws = true,
    RS_SCALARS(scalars),
    RS_CURVE(curve, 1),
    .curve_rows = curve_rows,
    .finish = finish,
};
