/* Reading an encoding: its vectors of distance, which view a key is seen through, how far its pairs are turned, the
 * rotation itself. */
#include "kinds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool rs_encoding_vectors(const rs_encoding *encoding, rs_vectors *vectors) {
  *vectors = encoding->vectors;
  return vectors->tables > 0;
}

void rs_encoding_vectors_fill(const rs_encoding *encoding, const rs_vector_part *part, double *out, size_t step) {
  encoding->method->vectors->fill(encoding->vector_state, part, out, step);
}

void rs_encoding_vectors_added(const rs_encoding *encoding, size_t head, const double **u, const double **v) {
  const rs_vector_kind *kind = encoding->method->vectors;
  *u = *v = NULL;
  if (kind != NULL && kind->added != NULL) kind->added(encoding->vector_state, head, u, v);
}

void rs_encoding_vectors_values(const rs_encoding *encoding, double *out) {
  encoding->method->vectors->values(encoding->vector_state, out);
}

rs_status rs_text_only(const rs_encoding *encoding, rs_err *err) {
  size_t begin;
  bool pictures = rs_token_layout_picture(&encoding->tokens, &begin) != NULL;
  bool counted = encoding->id_rule.scheme == RS_IDS_V2PE && pictures; /* ids are no token numbers */
  if (encoding->axes == 1 && !counted) return RS_OK;
  return rs_fail(err, RS_UNSUPPORTED, "%s is defined for text positions only%s", encoding->method->name,
                 encoding->axes > 1 && !pictures ? " (mrope_section: none makes them so)" : "");
}

size_t rs_near_far_segments(size_t query, size_t window, rs_segment out[RS_VIEWS]) {
  enum { NEAR, FAR };
  size_t near = query + 1 > window ? query + 1 - window : 0, count = 0;
  if (near > 0) out[count++] = (rs_segment){0, near, FAR};
  if (near < query + 1) out[count++] = (rs_segment){near, query + 1, NEAR};
  return count;
}

/* Whether segments follow each other without a gap from key 0 to the query's own, each in a view that there is. */
static bool are_in_order(const rs_encoding *encoding, size_t query, const rs_segment *segments, size_t count) {
  size_t end = 0;
  for (size_t i = 0; i < count; i++) {
    if (segments[i].begin != end || segments[i].end < end || segments[i].view >= encoding->views) return false;
    end = segments[i].end;
  }
  return count <= RS_VIEWS && end > query;
}

size_t rs_encoding_segments(const rs_encoding *encoding, size_t query, rs_segment out[RS_VIEWS]) {
  const rs_pos_kind *kind = encoding->method->pos;
  size_t count = 1;
  if (kind->segments != NULL)
    count = kind->segments(encoding->pos_state, query, out);
  else
    out[0] = (rs_segment){0, encoding->length, 0};
  RS_ASSERT(are_in_order(encoding, query, out, count));
  return count;
}

typedef void bias_row(const void *state, size_t head, size_t query, size_t begin, size_t end, double *bias);

/* By ids in the place of numbers: one call for all keys whose ids follow each other. */
static void row_by_ids(const rs_encoding *encoding, bias_row *row, size_t head, size_t query, size_t begin, size_t end,
                       double *bias) {
  const double *ids = encoding->tokens.ids;
  size_t at = (size_t)ids[query * RS_AXES];
  for (size_t key = begin, next; key < end; key = next) {
    double first = ids[key * RS_AXES];
    for (next = key + 1; next < end && ids[next * RS_AXES] == first + (double)(next - key);) next++;
    row(encoding->bias_state, head, at, (size_t)first, (size_t)first + next - key, bias + (key - begin));
  }
}

static void bias_by(const rs_encoding *encoding, bias_row *row, size_t head, size_t query, size_t begin, size_t end,
                    double *bias) {
  if (encoding->tokens.ids != NULL)
    row_by_ids(encoding, row, head, query, begin, end, bias);
  else
    row(encoding->bias_state, head, query, begin, end, bias);
}

void rs_encoding_bias_row(const rs_encoding *encoding, size_t head, size_t query, size_t begin, size_t end,
                          double *bias) {
  const rs_bias_kind *kind = encoding->method->bias;
  if (kind != NULL)
    bias_by(encoding, kind->row, head, query, begin, end, bias);
  else
    memset(bias, 0, (end - begin) * sizeof *bias);
}

void rs_encoding_quick_bias_row(const rs_encoding *encoding, size_t head, size_t query, size_t begin, size_t end,
                                double *bias) {
  const rs_bias_kind *kind = encoding->method->bias;
  if (kind != NULL && kind->quick_row != NULL)
    bias_by(encoding, kind->quick_row, head, query, begin, end, bias);
  else
    rs_encoding_bias_row(encoding, head, query, begin, end, bias);
}

/* Of the numbers of tokens, which ids are not. */
bool rs_encoding_bias_of_distance(const rs_encoding *encoding) {
  const rs_bias_kind *kind = encoding->method->bias;
  if (kind == NULL || kind->by_distance == NULL || encoding->tokens.ids != NULL) return false;
  return kind->by_distance(encoding->bias_state);
}

bool rs_encoding_bias_of_key(const rs_encoding *encoding) {
  const rs_bias_kind *kind = encoding->method->bias;
  return kind != NULL && kind->by_key != NULL && kind->by_key(encoding->bias_state);
}

double rs_encoding_slope(const rs_encoding *encoding, size_t head) {
  const rs_bias_kind *kind = encoding->method->bias;
  return kind != NULL && kind->slope != NULL ? kind->slope(encoding->bias_state, head) : NAN;
}

rs_status rs_encoding_embed(const rs_encoding *encoding, size_t begin, size_t count, double *out, rs_err *err) {
  const rs_embed_kind *kind = encoding->method->embed;
  const double *ids = encoding->tokens.ids;
  if (kind != NULL && ids == NULL) return kind->fill(encoding->embed_state, begin, count, out, err);
  for (size_t n = 0; n < count && kind != NULL; n++)
    RS_TRY(kind->fill(encoding->embed_state, (size_t)ids[(begin + n) * RS_AXES], 1, out + n * encoding->width, err));
  if (kind != NULL) return RS_OK;
  memset(out, 0, count * encoding->width * sizeof *out);
  return RS_OK;
}

bool rs_encoding_wave(const rs_encoding *encoding, size_t index, rs_embed_wave *wave) {
  const rs_embed_kind *kind = encoding->method->embed;
  return kind != NULL && kind->wave != NULL && kind->wave(encoding->embed_state, index, wave);
}

/* The angle as ggml makes it: one float32 product, a factor for each pair before. */
static double running_angle(const rs_encoding *encoding, size_t pair, double position) {
  float angle = (float)position;
  for (size_t j = 0; j < pair; j++) angle *= encoding->ladder_ratio;
  return (double)(angle * encoding->ladder_share[pair]);
}

double rs_encoding_angle(const rs_encoding *encoding, size_t pair, double position) {
  if (encoding->precision.running) return running_angle(encoding, pair, position);
  return rs_round(encoding->precision.angle, position * encoding->omega[pair]);
}

void rs_encoding_cos_sin(const rs_encoding *encoding, size_t pair, double position, double *cosine, double *sine) {
  const rs_precision *precision = &encoding->precision;
  if (precision->angle == RS_F64 && !precision->running)
    rs_cos_sin(position, encoding->omega[pair], cosine, sine);
  else
    sincos(rs_encoding_angle(encoding, pair, position), sine, cosine);
  *cosine = rs_round(precision->table, *cosine);
  *sine = rs_round(precision->table, *sine);
}

static void rotate(const rs_encoding *encoding, const double *position, const double *gain, const double *x,
                   double *out) {
  size_t pairs = encoding->rotary_dim / 2;
  bool interleaved = encoding->pair_layout == RS_INTERLEAVED;
  if (out != x) memcpy(out, x, encoding->head_dim * sizeof *out);
  for (size_t j = 0; j < pairs; j++) {
    double c, s;
    size_t first = interleaved ? 2 * j : j, second = interleaved ? 2 * j + 1 : j + pairs;
    double a = x[first], b = x[second], factor = encoding->amp * (gain != NULL ? gain[j] : 1);
    rs_encoding_cos_sin(encoding, j, position[encoding->axis[j]], &c, &s);
    out[first] = factor * (a * c - b * s);
    out[second] = factor * (a * s + b * c);
  }
}

void rs_encoding_rotate(const rs_encoding *encoding, const double *position, const double *x, double *out) {
  rotate(encoding, position, NULL, x, out);
}

void rs_encoding_rotate_token(const rs_encoding *encoding, rs_side side, size_t view, size_t token, const double *x,
                              double *out) {
  const double *positions = side == RS_QUERY_SIDE ? encoding->pos_q[view] : encoding->pos_k[view];
  const double *gains = side == RS_QUERY_SIDE ? encoding->gain_q[view] : encoding->gain_k[view];
  size_t pairs = encoding->rotary_dim / 2;
  rotate(encoding, positions + token * encoding->axes, gains != NULL ? gains + token * pairs : NULL, x, out);
}

size_t rs_encoding_view(const rs_encoding *encoding, size_t query, size_t key) {
  rs_segment segments[RS_VIEWS];
  size_t count = rs_encoding_segments(encoding, query, segments);
  for (size_t i = 0; i < count; i++)
    if (key >= segments[i].begin && key < segments[i].end) return segments[i].view;
  return 0;
}

/* The turn between two coordinates. Short formats err in each absolute angle, not in their difference. */
static void relative_turn(const rs_encoding *encoding, size_t pair, double q, double k, double *cosine, double *sine) {
  const rs_precision *precision = &encoding->precision;
  if (precision->angle == RS_F64 && precision->table == RS_F64 && !precision->running) {
    rs_cos_sin(q - k, encoding->omega[pair], cosine, sine);
    return;
  }
  double cq, sq, ck, sk;
  rs_encoding_cos_sin(encoding, pair, q, &cq, &sq);
  rs_encoding_cos_sin(encoding, pair, k, &ck, &sk);
  *cosine = cq * ck + sq * sk;
  *sine = sq * ck - cq * sk;
}

void rs_encoding_turn(const rs_encoding *encoding, size_t query, size_t key, size_t pair, double *cosine,
                      double *sine) {
  size_t view = rs_encoding_view(encoding, query, key), axis = encoding->axis[pair], pairs = encoding->rotary_dim / 2;
  relative_turn(encoding, pair, encoding->pos_q[view][query * encoding->axes + axis],
                encoding->pos_k[view][key * encoding->axes + axis], cosine, sine);
  if (encoding->gain_q[view] == NULL) return;
  double gain = encoding->gain_q[view][query * pairs + pair] * encoding->gain_k[view][key * pairs + pair];
  *cosine *= gain;
  *sine *= gain;
}

double rs_encoding_mean_cosine(const rs_encoding *encoding, size_t query, size_t key) {
  size_t pairs = encoding->rotary_dim / 2, all = encoding->head_dim / 2;
  double sum = (double)(all - pairs);
  for (size_t j = 0; j < pairs; j++) {
    double c, s;
    rs_encoding_turn(encoding, query, key, j, &c, &s);
    sum += c;
  }
  return sum / (double)all;
}

/* One view: the query against the smallest and largest position so far, for ids of pictures do not ascend. */
static double reach_of_axis(const rs_encoding *encoding, size_t axis) {
  double least = INFINITY, most = -INFINITY, reach = 0;
  for (size_t m = 0; m < encoding->length; m++) {
    double q = encoding->pos_q[0][m * encoding->axes + axis], k = encoding->pos_k[0][m * encoding->axes + axis];
    least = fmin(least, k);
    most = fmax(most, k);
    reach = fmax(reach, fmax(q - least, most - q));
  }
  return reach;
}

/* Several views are defined for text alone, where positions ascend: the first key of each segment is the farthest. */
static double reach_of_views(const rs_encoding *encoding, size_t axis) {
  double reach = 0;
  for (size_t m = 0; m < encoding->length; m++) {
    rs_segment segments[RS_VIEWS];
    size_t count = rs_encoding_segments(encoding, m, segments);
    for (size_t i = 0; i < count; i++) {
      const double *q = encoding->pos_q[segments[i].view], *k = encoding->pos_k[segments[i].view];
      reach = fmax(reach, fabs(q[m * encoding->axes + axis] - k[segments[i].begin * encoding->axes + axis]));
    }
  }
  return reach;
}

double rs_encoding_reach(const rs_encoding *encoding, size_t axis) {
  return encoding->views > 1 ? reach_of_views(encoding, axis) : reach_of_axis(encoding, axis);
}

/* ---- tables of turns --------------------------------------------------------------------------------------------- */

/* Tables of turns: the cosines and sines of whole runs of tokens, for loops that turn many rows by them.
 *
 * Where positions go up by one, as they do in text, RS_STEPS tokens share one cosine and sine: each is their first
 * token's angle plus that of so many whole steps, by the addition theorem. It errs by what the two angles do (3e-16
 * each) and by its own products, and takes a fifth of the time. Which tokens share is a matter of their numbers and
 * positions alone, not of the run that is asked for. */

enum { GATHERED = 64 }; /* coordinates at a time, on the stack */

/* cos and sin are rs_rotate_kernel's. */
static bool plain(const rs_encoding *encoding) {
  const rs_precision *precision = &encoding->precision;
  return !precision->running && precision->angle == RS_F64 && precision->table == RS_F64;
}

/* Aligned to lines: two loads a line would be a quarter of the time. */
rs_status rs_steps_fill(rs_encoding *encoding, rs_err *err) {
  size_t pairs = encoding->rotary_dim / 2, count = RS_STEPS * pairs;
  if (pairs == 0 || encoding->own_places || !plain(encoding)) return RS_OK;
  encoding->steps = aligned_alloc(RS_STEPS * sizeof(double), 2 * count * sizeof(double));
  if (encoding->steps == NULL) return rs_fail(err, RS_MEMORY, "out of memory: %zu steps of %zu pairs", count, pairs);
  for (size_t i = 0; i < count; i++)
    rs_cos_sin((double)(i / pairs), encoding->omega[i % pairs], &encoding->steps[i], &encoding->steps[count + i]);
  return RS_OK;
}

/* Pairs that read different axes: each one's coordinate beside its frequency. */
static void mixed_axes(const rs_encoding *encoding, const double *position, double *cosine, double *sine) {
  const rs_rotate_kernel *kernel = rs_kernels_get()->rotate;
  size_t pairs = encoding->rotary_dim / 2;
  double place[GATHERED];
  for (size_t first = 0; first < pairs; first += GATHERED) {
    size_t count = pairs - first < GATHERED ? pairs - first : GATHERED;
    for (size_t j = 0; j < count; j++) place[j] = position[encoding->axis[first + j]];
    kernel->cos_sin(place, encoding->omega + first, count, cosine + first, sine + first);
  }
}

static void multiply(double *cosine, double *sine, size_t count, const double *factor, size_t step) {
  for (size_t i = 0; i < count; i++) {
    cosine[i] *= factor[i * step];
    sine[i] *= factor[i * step];
  }
}

/* With amp. */
static void one_token(const rs_encoding *encoding, const double *position, double *cosine, double *sine) {
  const rs_rotate_kernel *kernel = rs_kernels_get()->rotate;
  size_t pairs = encoding->rotary_dim / 2;
  if (!plain(encoding))
    for (size_t j = 0; j < pairs; j++)
      rs_encoding_cos_sin(encoding, j, position[encoding->axis[j]], &cosine[j], &sine[j]);
  else if (encoding->own_places)
    kernel->cos_sin(position, encoding->omega, pairs, cosine, sine);
  else if (encoding->axes == 1)
    kernel->cos_sin_at(position[0], encoding->omega, pairs, cosine, sine);
  else
    mixed_axes(encoding, position, cosine, sine);
  if (encoding->amp != 1) multiply(cosine, sine, pairs, &encoding->amp, 0);
}

/* Turns a row on by `steps`, steps + 1, ... tokens, as the next `rows` rows of a table, or one in place. */
static void advance(const rs_encoding *encoding, const double *from_cosine, const double *from_sine, size_t steps,
                    size_t rows, double *cosine, double *sine) {
  size_t pairs = encoding->rotary_dim / 2;
  const double *step = encoding->steps + steps * pairs;
  rs_kernels_get()->rotate->add_angles(from_cosine, from_sine, step, step + RS_STEPS * pairs, rows, pairs, cosine,
                                       sine);
}

/* Whether others may share its angles: from a fraction of a position the sum would not be exact. */
static bool leads(const rs_encoding *encoding, const double *position) {
  bool whole = encoding->steps != NULL;
  for (size_t a = 0; a < encoding->axes && whole; a++) whole = position[a] == floor(position[a]);
  return whole;
}

/* Whether the token stands `steps` positions past `first` on every axis. */
static bool follows(const rs_encoding *encoding, const double *first, size_t steps) {
  const double *position = first + steps * encoding->axes;
  bool same = true;
  for (size_t a = 0; a < encoding->axes; a++) same &= position[a] - first[a] == (double)steps;
  return same;
}

/* Tokens [begin, end) of the RS_STEPS that begin at `first`. The first's angles wait in the row of the first token that
 * follows it, which gets its own last. */
static void some_tokens(const rs_encoding *encoding, const double *first, size_t begin, size_t end, double *cosine,
                        double *sine) {
  size_t pairs = encoding->rotary_dim / 2, held = end;
  double *held_cosine = NULL, *held_sine = NULL;
  bool shared = leads(encoding, first);
  for (size_t t = begin, next; t < end; t = next) {
    double *c = cosine + (t - begin) * pairs, *s = sine + (t - begin) * pairs;
    for (next = t; next < end && shared && follows(encoding, first, next);) next++;
    if (next > t && held < end) {
      advance(encoding, held_cosine, held_sine, t, next - t, c, s);
      continue;
    }
    one_token(encoding, next > t ? first : first + t * encoding->axes, c, s);
    if (next > t) held = t, held_cosine = c, held_sine = s;
    next = t + 1;
  }
  if (held > 0 && held < end) advance(encoding, held_cosine, held_sine, held, 1, held_cosine, held_sine);
}

void rs_encoding_turns(const rs_encoding *encoding, rs_side side, size_t view, size_t begin, size_t end, double *cosine,
                       double *sine) {
  const double *positions = side == RS_QUERY_SIDE ? encoding->pos_q[view] : encoding->pos_k[view];
  const double *gains = side == RS_QUERY_SIDE ? encoding->gain_q[view] : encoding->gain_k[view];
  size_t pairs = encoding->rotary_dim / 2;
  for (size_t token = begin, next; token < end; token = next) {
    size_t first = token - token % RS_STEPS, row = (token - begin) * pairs;
    next = first + RS_STEPS < end ? first + RS_STEPS : end;
    some_tokens(encoding, positions + first * encoding->axes, token - first, next - first, cosine + row, sine + row);
  }
  if (gains != NULL) multiply(cosine, sine, (end - begin) * pairs, gains + begin * pairs, 1);
}

/* ---- waves ------------------------------------------------------------------------------------------------------- */

/* Where the positional kernel depends on the distance alone, it is a sum of waves over the integers, which has a kernel
 * of its own (kernel/kernel.h). Everything else is read pair by pair (turn.c). */

/* Every token stands at its own index, on every axis. */
static bool counts(const rs_encoding *encoding, const double *positions) {
  for (size_t m = 0; m < encoding->length; m++)
    for (size_t a = 0; a < encoding->axes; a++)
      if (positions[m * encoding->axes + a] != (double)m) return false;
  return true;
}

/* Short formats err in each absolute angle, a gain is one of absolute positions, and views differ in their positions.
 */
bool rs_encoding_of_distance(const rs_encoding *encoding) {
  const rs_precision *precision = &encoding->precision;
  if (precision->running || precision->angle != RS_F64 || precision->table != RS_F64) return false;
  if (encoding->views != 1 || encoding->gain_q[0] != NULL) return false;
  return counts(encoding, encoding->pos_q[0]) && counts(encoding, encoding->pos_k[0]);
}

size_t rs_encoding_waves(const rs_encoding *encoding, rs_wave *waves) {
  size_t pairs = encoding->rotary_dim / 2, all = encoding->head_dim / 2, count = 0;
  if (!rs_encoding_of_distance(encoding)) return 0;
  for (size_t j = 0; j < pairs; j++) waves[count++] = (rs_wave){.amplitude = 1, .omega = encoding->omega[j]};
  if (all > pairs) waves[count++] = (rs_wave){.amplitude = (double)(all - pairs)};
  return count;
}

rs_status rs_encoding_decay(const rs_encoding *encoding, rs_decay **decay, rs_err *err) {
  *decay = NULL;
  RS_FREED rs_wave *waves = rs_alloc(encoding->rotary_dim / 2 + 1, sizeof *waves, err);
  if (waves == NULL) return RS_MEMORY;
  size_t count = rs_encoding_waves(encoding, waves);
  return count > 0 ? rs_decay_create(waves, count, decay, err) : RS_OK;
}
