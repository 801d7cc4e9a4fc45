/* The biases told anew, in long double and by other ways than the library's: what unit and property tests compare it
 * with. Numbers that are learned are read from the encoding's table, as its comment lays it out; the tests of biases
 * say what must stand there. */
#ifndef ROPESCOPE_TESTS_BIASES_H
#define ROPESCOPE_TESTS_BIASES_H

#include "encoding/encoding.h"

#include <math.h>
#include <string.h>

static inline double bias_setting(const rs_encoding *e, const char *name) {
  return rs_setting(&e->settings, name)->number;
}

static inline long double distance_of(size_t m, size_t n) {
  return m > n ? (long double)(m - n) : (long double)(n - m);
}

/* Press et al.'s code: slopes of a power of two, and for other H every second one of twice as many. */
static inline long double alibi_slope(size_t head, size_t heads, double bias_max) {
  size_t power = 1;
  while (2 * power <= heads) power *= 2;
  if (head >= power) return alibi_slope(2 * (head - power), 2 * power, bias_max);
  long double slope = 1;
  for (size_t h = 0; h <= head; h++) slope *= powl(2, -(long double)bias_max / power);
  return slope;
}

static inline long double alibi_bias(const rs_encoding *e, size_t head, size_t m, size_t n) {
  const rs_value *factor = rs_setting(&e->settings, "slope_factor");
  rs_format slopes = (rs_format)rs_setting(&e->settings, "slope_format")->choice;
  rs_format products = (rs_format)rs_setting(&e->settings, "bias_format")->choice;
  double slope = rs_round(slopes, (double)alibi_slope(head, e->heads, bias_setting(e, "bias_max")));
  const double offsets[] = {-(double)distance_of(m, n), (double)n, (double)n - (double)e->length + 1};
  double product =
      rs_round(products, slope * rs_round(products, offsets[rs_setting(&e->settings, "bias_form")->choice]));
  return product * (factor->choice >= 0 ? powl(e->head_dim, -0.5L) : factor->number);
}

/* A long distance is in the last bucket whose lower edge it has reached; edges lie evenly in the logarithm. */
static inline size_t t5_bucket(bool both, size_t buckets, size_t far, size_t m, size_t n) {
  size_t count = both ? buckets / 2 : buckets, exact = count / 2, bucket = exact;
  size_t distance = n <= m ? m - n : both ? n - m : 0, offset = both && n > m ? count : 0;
  if (distance < exact) return offset + distance;
  while (bucket + 1 < count) {
    long double edge = exact * powl((long double)far / exact, (bucket + 1.0L - exact) / (count - exact));
    if (distance * (1 + 1e-12L) < edge) break;
    bucket++;
  }
  return offset + bucket;
}

/* Where a token stands: run and frame by number, row, column; false for text. */
typedef struct standing {
  size_t run, frame, row, column;
} standing;

static inline bool token_stands(const rs_token_layout *tokens, size_t token, standing *place) {
  size_t next = 0;
  for (place->run = 0; place->run < tokens->count; place->run++) {
    const rs_token_run *run = &tokens->runs[place->run];
    bool text = run->modality == RS_TEXT;
    next += text ? run->tokens : 0;
    if (token < next) return false;
    for (place->frame = 0; !text && place->frame < run->frames; place->frame++)
      for (place->row = 0; place->row < run->rows; place->row++)
        for (place->column = 0; place->column < run->columns; place->column++)
          if (next++ == token) return true;
  }
  return false;
}

/* The table is read for the largest picture; one that was resized stands behind the one it was resized from. */
static inline long double swin_bias(const rs_encoding *e, size_t head, size_t m, size_t n) {
  size_t height = 0, width = 0;
  standing q, k;
  if (!token_stands(&e->tokens, m, &q) || !token_stands(&e->tokens, n, &k)) return 0;
  if (q.run != k.run || q.frame != k.frame) return 0;
  for (size_t i = 0; i < e->tokens.count; i++) {
    const rs_token_run *run = &e->tokens.runs[i];
    if (run->modality != RS_TEXT && run->rows > height) height = run->rows;
    if (run->modality != RS_TEXT && run->columns > width) width = run->columns;
  }
  const rs_value *grid = rs_setting(&e->settings, "table_grid");
  const double *table = e->bias_table;
  if (grid->list != NULL && rs_setting(&e->settings, "resize")->choice == RS_CROP)
    height = (size_t)grid->list[0], width = (size_t)grid->list[1];
  else if (grid->list != NULL && (grid->list[0] != (double)height || grid->list[1] != (double)width))
    table += (size_t)((2 * grid->list[0] - 1) * (2 * grid->list[1] - 1)) * e->heads;
  ptrdiff_t down = (ptrdiff_t)q.row - (ptrdiff_t)k.row, right = (ptrdiff_t)q.column - (ptrdiff_t)k.column;
  ptrdiff_t row = (down + (ptrdiff_t)height - 1) * (2 * (ptrdiff_t)width - 1) + right + (ptrdiff_t)width - 1;
  return table[(size_t)row * e->heads + head];
}

/* The table: w1, b1, w2 (H, units), b2 (H), c, the factor of the threshold. */
static inline long double fire_bias(const rs_encoding *e, size_t head, size_t m, size_t n) {
  size_t units = (size_t)bias_setting(e, "mlp_width");
  const double *w1 = e->bias_table, *w2 = w1 + (2 + head) * units, *b2 = w1 + (2 + e->heads) * units;
  long double c = fabsl(b2[e->heads]), norm = m, sum = b2[head];
  long double threshold = fabsl((long double)b2[e->heads + 1] * bias_setting(e, "threshold"));
  if (norm < threshold) norm = threshold;
  long double u = logl(c * distance_of(m, n) + 1) / (logl(c * norm + 1) + 1e-6L);
  for (size_t k = 0; k < units; k++) {
    long double hidden = w1[k] * u + w1[units + k];
    if (hidden > 0) sum += hidden * w2[k];
  }
  return sum;
}

static inline long double sandwich_bias(const rs_encoding *e, size_t head, size_t m, size_t n) {
  long double dim = bias_setting(e, "sandwich_dim"), sum = 0;
  for (long double i = 0; i < dim; i += 2) sum += cosl(distance_of(m, n) / powl(10000, i / dim));
  return sum * e->heads / (8 * (head + 1.0L));
}

/* The head's number in one row of a table (rows, H), clamped from below and above. */
static inline long double number_within(const rs_encoding *e, size_t row, size_t head, double least, double most) {
  double number = e->bias_table[row * e->heads + head];
  return number < least ? least : number > most ? most : number;
}

/* bias(h, m, n) of any method; 0 without a bias. */
static inline long double expected_bias(const rs_encoding *e, size_t head, size_t m, size_t n) {
  const char *name = e->method->bias != NULL ? e->method->bias->kind.name : "";
  const double *table = e->bias_table != NULL ? e->bias_table + head : NULL;
  bool power = strcmp(name, "kerple") == 0 && rs_setting(&e->settings, "kernel")->choice == 1;
  ptrdiff_t clip = strcmp(name, "relative") == 0 ? (ptrdiff_t)bias_setting(e, "clip") : 0;
  ptrdiff_t ahead = (ptrdiff_t)n - (ptrdiff_t)m, clipped = ahead < -clip ? -clip : ahead > clip ? clip : ahead;
  if (strcmp(name, "alibi") == 0) return alibi_bias(e, head, m, n);
  if (strcmp(name, "t5") == 0)
    return table[e->heads * t5_bucket(rs_setting(&e->settings, "bidirectional")->number == 1,
                                      (size_t)bias_setting(e, "num_buckets"), (size_t)bias_setting(e, "max_distance"),
                                      m, n)];
  if (strcmp(name, "relative") == 0) return table[e->heads * (size_t)(clip + clipped)];
  if (strcmp(name, "relative_2d") == 0) return swin_bias(e, head, m, n);
  if (strcmp(name, "kerple") == 0 && !power)
    return -number_within(e, 0, head, 0.01, INFINITY) *
           logl(1 + number_within(e, 1, head, 0.01, INFINITY) * distance_of(m, n));
  if (power && m == n) return 0;
  if (power)
    return -number_within(e, 0, head, 0.01, INFINITY) *
           expl(number_within(e, 1, head, 0.01, 2) * logl(distance_of(m, n)));
  if (strcmp(name, "fire") == 0) return fire_bias(e, head, m, n);
  if (strcmp(name, "sandwich") == 0) return sandwich_bias(e, head, m, n);
  return *name == '\0' ? 0 : NAN;
}

#endif
