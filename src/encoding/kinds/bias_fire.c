/* FIRE: a small network of the distance in proportion to the query's position. Li et al., arXiv:2310.04418, section 3:
 *
 *   bias = (W2 relu(w1 u + b1) + b2)_h,  u = ln(1 + c |m - n|) / (ln(1 + c max(m, threshold)) + eps)
 *
 * with positions from 0, and the eps, the sizes and the draw at initialisation of the published PyTorch listing. u is
 * in [0, 1) for keys up to the query; for keys after it, whose distance counts alike, it may exceed 1.
 *
 * As in that listing, training changes the network, c, and a factor of the threshold, which is 1 at first; the signs of
 * the last two do not count. */
#include "encoding/kinds.h"

#include <math.h>
#include <stdlib.h>

static const double eps = 1e-6;

typedef struct params {
  double c, threshold; /* 1/tokens; tokens */
  size_t mlp_width;
  rs_real_list weights; /* w1, b1, w2 (H, units), b2; unset: drawn */
  size_t table_seed;
} params;

/* ---- lines ------------------------------------------------------------------------------------------------------- */

/* FIRE's network as it is read at length: between the places where one of its units switches on or off, it is a
 * straight line of u. */

/* One head's network: b2 + sum of w2 relu(w1 u + b1). */
typedef struct fire_net {
  const double *w1, *b1, *w2; /* (units,) */
  double b2;
  size_t units;
} fire_net;

/* The lines of one head: line i holds from u = from[i] on; from[0] is 0. */
typedef struct fire_lines {
  size_t count;                  /* 1 to units + 1 */
  double *from, *slope, *height; /* (units + 1,): height at u = 0 */
} fire_lines;

/* A unit and where it switches. */
typedef struct fire_switch {
  double at;
  size_t unit;
} fire_switch;

static int by_place(const void *a, const void *b) {
  const fire_switch *x = a, *y = b;
  if (x->at != y->at) return x->at < y->at ? -1 : 1;
  return x->unit < y->unit ? -1 : x->unit > y->unit;
}

/* The units that switch at u > 0, in order. */
static size_t find_switches(const fire_net *net, fire_switch *found) {
  size_t count = 0;
  for (size_t k = 0; k < net->units; k++) {
    double at = -net->b1[k] / net->w1[k];
    if (at > 0 && at < INFINITY) found[count++] = (fire_switch){at, k};
  }
  qsort(found, count, sizeof *found, by_place);
  return count;
}

/* The line under way. */
typedef struct line {
  rs_sum slope, height;
} line;

/* Adds a unit, or takes it away (sign -1): its products are rounded, and cancel exactly. */
static void add_unit(const fire_net *net, size_t unit, double sign, line *sums) {
  rs_sum_add(&sums->slope, sign * (net->w2[unit] * net->w1[unit]));
  rs_sum_add(&sums->height, sign * (net->w2[unit] * net->b1[unit]));
}

static void end_line(const line *sums, double from, fire_lines *lines) {
  lines->from[lines->count] = from;
  lines->slope[lines->count] = rs_sum_total(&sums->slope);
  lines->height[lines->count++] = rs_sum_total(&sums->height);
}

/* Fills the lines; `scratch` (units). Slopes and heights are sums of the products of the units that are on, rounded
 * once. */
static void fill_lines(const fire_net *net, fire_switch *scratch, fire_lines *lines) {
  line sums = {0};
  size_t switches = find_switches(net, scratch);
  rs_sum_add(&sums.height, net->b2);
  for (size_t k = 0; k < net->units; k++)
    if (net->b1[k] > 0 || (net->b1[k] == 0 && net->w1[k] > 0)) add_unit(net, k, 1, &sums);
  lines->count = 0;
  end_line(&sums, 0, lines);
  for (size_t i = 0; i < switches; i++) {
    size_t unit = scratch[i].unit;
    add_unit(net, unit, net->w1[unit] > 0 ? 1 : -1, &sums);
    end_line(&sums, scratch[i].at, lines);
  }
}

/* The first of `logs` from `first` on that is not below `least`. */
static size_t first_from(const double *logs, double least, size_t first, size_t count) {
  while (first < count) {
    size_t middle = first + (count - first) / 2;
    if (logs[middle] < least)
      first = middle + 1;
    else
      count = middle;
  }
  return first;
}

/* The last line that holds at `log`. */
static size_t line_at(const fire_lines *lines, double log, double norm) {
  size_t first = 1, end = lines->count;
  while (first < end) {
    size_t middle = first + (end - first) / 2;
    if (lines->from[middle] * norm <= log)
      first = middle + 1;
    else
      end = middle;
  }
  return first - 1;
}

/* out[i], or out[-i] where `down`, = the network at logs[i] / norm, i < count; `logs` ascend, 0 or more. */
static void read_lines(const fire_lines *lines, const double *logs, double norm, size_t count, bool down, double *out) {
  size_t first = 0;
  if (count == 0) return;
  for (size_t i = line_at(lines, logs[0], norm); first < count; i++) {
    bool last = i + 1 == lines->count;
    double least = last ? 0 : lines->from[i + 1] * norm, slope = lines->slope[i] / norm, height = lines->height[i];
    size_t end = last || logs[count - 1] < least ? count : first_from(logs, least, first, count);
    if (down)
      for (; first < end; first++) out[-(ptrdiff_t)first] = slope * logs[first] + height;
    else
      for (; first < end; first++) out[first] = slope * logs[first] + height;
  }
}

/* ---- the kind ---------------------------------------------------------------------------------------------------- */

/* The arrays of the table: (units, 1), (1, units), (H, units), (1, H), and two numbers. */
enum { W1, B1, W2, B2, C, FACTOR, ARRAYS };

typedef struct state {
  double threshold; /* tokens */
  size_t units, heads, length;
  const double *arrays[ARRAYS];
  /* What quick rows are read from; owned. */
  double *logs, log_c; /* (L,) ln(1 + c d), and the c it was made with */
  double *numbers;     /* of the lines */
  fire_lines *lines;   /* (H,) */
  fire_switch *scratch;
} state;

static size_t weight_count(size_t units, size_t heads) {
  return 2 * units + heads * (units + 1);
}

static rs_status check(const rs_binding *binding, const rs_model *model, rs_err *err) {
  const params *p = binding->fields;
  size_t units = p->mlp_width, count = weight_count(units, model->heads);
  if (p->weights.list == NULL) return RS_OK;
  if (p->weights.count != count)
    return rs_binding_fail(binding, offsetof(params, weights), err,
                           "has %zu numbers, but w1, b1 (%zu each), w2 (%zu x %zu) and b2 are %zu", p->weights.count,
                           units, model->heads, units, count);
  return rs_binding_unused(binding, offsetof(params, table_seed), "weights", err);
}

static size_t table_size(const rs_stage_in *in) {
  return weight_count(((const params *)in->params)->mlp_width, in->heads) + 2;
}

/* Weight number `index`. A drawn one is uniform within 1/sqrt(inputs of its layer), as torch initialises a linear layer
 * and its bias. */
static double weight(const params *p, size_t index) {
  double bound = index < 2 * p->mlp_width ? 1 : 1 / sqrt((double)p->mlp_width);
  if (p->weights.list != NULL) return p->weights.list[index];
  return bound * (2 * rs_uniform(rs_bias_stream(p->table_seed, 0), index) - 1);
}

/* Numbers of the lines of one head: three for each. */
static size_t line_numbers(size_t units) {
  return 3 * (units + 1);
}

static double numbers(const rs_stage_in *in) {
  double units = (double)((const params *)in->params)->mlp_width;
  return (double)in->length + (double)in->heads * (3 * (units + 1) + 4) + 2 * units;
}

static void release(void *prepared) {
  state *s = prepared;
  free(s->logs);
  free(s->numbers);
  free(s->lines);
  free(s->scratch);
}

static rs_status make_room(state *s, rs_err *err) {
  size_t most = s->units + 1;
  s->logs = rs_alloc(s->length, sizeof *s->logs, err);
  s->numbers = rs_alloc(s->heads * line_numbers(s->units), sizeof *s->numbers, err);
  s->lines = rs_alloc(s->heads, sizeof *s->lines, err);
  s->scratch = rs_alloc(s->units, sizeof *s->scratch, err);
  if (s->logs == NULL || s->numbers == NULL || s->lines == NULL || s->scratch == NULL) return RS_MEMORY;
  for (size_t h = 0; h < s->heads; h++) {
    double *own = s->numbers + h * line_numbers(s->units);
    s->lines[h] = (fire_lines){.from = own, .slope = own + most, .height = own + 2 * most};
  }
  s->log_c = NAN;
  return RS_OK;
}

static void learned_changed(void *prepared) {
  state *s = prepared;
  double c = fabs(*s->arrays[C]);
  for (size_t d = 0; d < s->length && c != s->log_c; d++) s->logs[d] = log1p(c * (double)d);
  s->log_c = c;
  for (size_t h = 0; h < s->heads; h++) {
    fire_net net = {s->arrays[W1], s->arrays[B1], s->arrays[W2] + h * s->units, s->arrays[B2][h], s->units};
    fill_lines(&net, s->scratch, &s->lines[h]);
  }
}

static rs_status prepare(const rs_stage_in *in, double *table, void *out, rs_err *err) {
  const params *p = in->params;
  size_t units = p->mlp_width, heads = in->heads, weights = weight_count(units, heads);
  const double *w1 = table, *b1 = w1 + units, *w2 = b1 + units, *b2 = w2 + heads * units, *c = table + weights;
  state *s = out;
  for (size_t i = 0; i < weights; i++) table[i] = weight(p, i);
  table[weights] = p->c;
  table[weights + 1] = 1;
  *s = (state){.threshold = p->threshold,
               .units = units,
               .heads = heads,
               .length = in->length,
               .arrays = {w1, b1, w2, b2, c, c + 1}};
  RS_TRY(make_room(s, err));
  learned_changed(s);
  return RS_OK;
}

/* What u of one query's keys is made from. */
typedef struct scale {
  double c;    /* |c| */
  double from; /* max(m, threshold), tokens */
  double norm; /* the denominator */
} scale;

static scale scale_at(const state *s, size_t query) {
  double c = fabs(*s->arrays[C]), from = fmax((double)query, fabs(*s->arrays[FACTOR] * s->threshold));
  return (scale){c, from, log1p(c * from) + eps};
}

static void row(const void *prepared, size_t head, size_t query, size_t begin, size_t end, double *bias) {
  const state *s = prepared;
  const double *w1 = s->arrays[W1], *b1 = s->arrays[B1], *w2 = s->arrays[W2] + head * s->units;
  scale at = scale_at(s, query);
  for (size_t n = begin; n < end; n++) {
    double u = log1p(at.c * fabs((double)query - (double)n)) / at.norm, sum = s->arrays[B2][head];
    for (size_t k = 0; k < s->units; k++) sum += w2[k] * fmax(0, w1[k] * u + b1[k]);
    bias[n - begin] = sum;
  }
}

/* Keys up to the query, whose distances fall, and those after it. */
static void quick_row(const void *prepared, size_t head, size_t query, size_t begin, size_t end, double *bias) {
  const state *s = prepared;
  const fire_lines *lines = &s->lines[head];
  double norm = scale_at(s, query).norm;
  size_t after = query + 1 < begin ? begin : query + 1 < end ? query + 1 : end;
  if (begin < after)
    read_lines(lines, s->logs + (query - (after - 1)), norm, after - begin, true, bias + (after - 1 - begin));
  if (after < end) read_lines(lines, s->logs + (after - query), norm, end - after, false, bias + (after - begin));
}

/* ---- what training changes --------------------------------------------------------------------------------------- */

static size_t learned(const void *prepared, rs_learned out[RS_LEARNED]) {
  const state *s = prepared;
  out[W1] = (rs_learned){"bias.w1", s->units, 1};
  out[B1] = (rs_learned){"bias.b1", 1, s->units};
  out[W2] = (rs_learned){"bias.w2", s->heads, s->units};
  out[B2] = (rs_learned){"bias.b2", 1, s->heads};
  out[C] = (rs_learned){"bias.c", 1, 1};
  out[FACTOR] = (rs_learned){"bias.threshold_factor", 1, 1};
  return ARRAYS;
}

/* Adds what `by_bias` of one key gives to the network's arrays; returns what it gives by u. */
static double network_gradient(const state *s, size_t head, double u, double by_bias, double *const *arrays) {
  const double *w1 = s->arrays[W1], *b1 = s->arrays[B1], *w2 = s->arrays[W2] + head * s->units;
  double by_u = 0;
  arrays[B2][head] += by_bias;
  for (size_t k = 0; k < s->units; k++) {
    double hidden = w1[k] * u + b1[k], by_hidden = by_bias * w2[k];
    if (!(hidden > 0)) continue;
    arrays[W2][head * s->units + k] += by_bias * hidden;
    arrays[W1][k] += by_hidden * u;
    arrays[B1][k] += by_hidden;
    by_u += by_hidden * w1[k];
  }
  return by_u;
}

/* u = a / norm, with a = ln(1 + c d) and norm = ln(1 + c from) + eps. Where the query stands at the threshold itself,
 * the maximum gives each half, as torch's does. */
static void gradient(const void *prepared, size_t head, size_t query, size_t begin, size_t end, const double *by_bias,
                     double *const *arrays) {
  const state *s = prepared;
  scale at = scale_at(s, query);
  double factor = *s->arrays[FACTOR], by_c = 0, by_norm = 0;
  for (size_t n = begin; n < end; n++) {
    double distance = fabs((double)query - (double)n), u = log1p(at.c * distance) / at.norm;
    double by_u = network_gradient(s, head, u, by_bias[n - begin], arrays);
    by_c += by_u * distance / (1 + at.c * distance) / at.norm;
    by_norm -= by_u * u / at.norm;
  }
  double threshold = fabs(factor * s->threshold), share = threshold > (double)query ? 1 : 0;
  if (threshold == (double)query) share = 0.5;
  by_c += by_norm * at.from / (1 + at.c * at.from);
  *arrays[C] += copysign(1, *s->arrays[C]) * by_c;
  *arrays[FACTOR] += share * by_norm * at.c / (1 + at.c * at.from) * copysign(s->threshold, factor);
}

static const rs_param specs[] = {
    {RS_FIELD(params, c), .unit = "1/tokens", .min = 1e-9, .max = 1e9, .fallback = "0.1",
     .summary = "how soon the logarithm bends (0.1: the listing's initial value)"},
    {RS_FIELD(params, threshold), .unit = "tokens", .min = 1, .max = 1e9, .fallback = "512",
     .summary = "queries before it are normalised as if they stood there (512: the listing's initial value)"},
    {RS_FIELD(params, mlp_width), .unit = "units", .min = 1, .max = 4096, .fallback = "32",
     .summary = "hidden units of the network (32: the paper)"},
    {RS_FIELD(params, weights), .unit = "", .min = -1e6, .max = 1e6,
     .summary =
         "w1, b1 (one number a unit), w2 (a row of units for each head), b2 (one number a head) (default: drawn)"},
    {RS_FIELD(params, table_seed), RS_TABLE_SEED},
};

const rs_bias_kind rs_bias_fire = {
    .kind = {.name = "fire",
             .summary = "a small network of the log distance in proportion to the log position",
             .reference = "FIRE, arXiv:2310.04418, section 3",
             .version = 2,
             RS_KIND(specs, params)},
    .check = check,
    .table_size = table_size,
    .state_size = sizeof(state),
    .numbers = numbers,
    .prepare = prepare,
    .release = release,
    .row = row,
    .quick_row = quick_row,
    .learned = learned,
    .learned_changed = learned_changed,
    .gradient = gradient,
};
