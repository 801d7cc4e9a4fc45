/* What a table of cos and sin was made from. A pair's phase grows by omega from row to row: differences of phases over
 * 1, 2, 4, ... rows tell omega ever more exactly, each time modulo turns that the last estimate counts. */
#include "compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SAMPLES = 64, EXACT_ROWS = 256 }; /* positions that bfloat16 still tells apart */

/* How positions and angles came to be. `all`: frequencies and angles are rounded like the positions. */
typedef struct rounding {
  rs_format format;
  bool all;
} rounding;

static const rounding roundings[] = {
    {RS_F64, false}, {RS_BF16, false}, {RS_F16, false}, {RS_BF16, true}, {RS_F16, true}};

typedef struct work {
  const rs_cos_sin_table *table;
  size_t pairs;
  int layout;       /* rs_pair_layout; -1: each pair once */
  double *row[2];   /* (stride,) what was read last */
  double *phase[2]; /* (pairs,) */
  double *sums[2];  /* (pairs,) */
  double *omega;    /* (pairs,) */
  double first;     /* the position of row 0 */
  rs_err *err;
} work;

static rs_status read_row(work *w, size_t p) {
  const rs_cos_sin_table *t = w->table;
  for (size_t side = 0; side < 2; side++) {
    double *row = w->row[side];
    RS_TRY(
        rs_stored_doubles(t->tensor[side], t->base[side] + p * t->stride, (t->width - 1) * t->step + 1, row, w->err));
    for (size_t i = 0; i < t->width; i++) row[i] = row[i * t->step];
  }
  return RS_OK;
}

/* The number of a row that is pair j's. */
static size_t place(const work *w, size_t j) {
  return w->layout == RS_INTERLEAVED ? 2 * j : j;
}

static rs_status read_phases(work *w, size_t p, double *phases) {
  RS_TRY(read_row(w, p));
  for (size_t j = 0; j < w->pairs; j++) phases[j] = atan2(w->row[1][place(w, j)], w->row[0][place(w, j)]);
  return RS_OK;
}

/* Sample i of `count` rows. */
static size_t sample(size_t i, size_t count) {
  return count <= SAMPLES ? i : (size_t)((double)i * (double)(count - 1) / (SAMPLES - 1));
}

static size_t samples_of(size_t count) {
  return count < SAMPLES ? count : SAMPLES;
}

/* ---- layout, precision, attention factor ------------------------------------------------------------------------- */

static bool repeats(const work *w, int layout) {
  size_t half = w->table->width / 2;
  bool same = w->table->width % 2 == 0;
  for (size_t j = 0; j < half && same; j++)
    for (size_t side = 0; side < 2; side++)
      same &= layout == RS_INTERLEAVED ? w->row[side][2 * j] == w->row[side][2 * j + 1]
                                       : w->row[side][j] == w->row[side][j + half];
  return same;
}

static bool holds(const work *w, rs_format format) {
  bool holds = true;
  for (size_t i = 0; i < w->table->width && holds; i++)
    holds = rs_round(format, w->row[0][i]) == w->row[0][i] && rs_round(format, w->row[1][i]) == w->row[1][i];
  return holds;
}

typedef struct look {
  rs_format format; /* the narrowest that holds every number */
  double amp, spread;
} look;

static double finest(rs_format format) {
  return format == RS_BF16 ? 0x1p-9 : format == RS_F16 ? 0x1p-12 : format == RS_F32 ? 0x1p-24 : 0x1p-50;
}

/* One pass over some rows for everything that needs no phases. */
static rs_status look_over(work *w, look *seen) {
  static const rs_format narrow[] = {RS_BF16, RS_F16, RS_F32};
  bool halves = true, alternate = true, fits[RS_COUNT(narrow)] = {true, true, true};
  double least = INFINITY, most = 0, sum = 0;
  size_t count = samples_of(w->table->rows);
  for (size_t i = 0; i < count; i++) {
    RS_TRY(read_row(w, sample(i, w->table->rows)));
    halves &= repeats(w, RS_HALF_SPLIT);
    alternate &= repeats(w, RS_INTERLEAVED);
    for (size_t f = 0; f < RS_COUNT(narrow); f++) fits[f] &= holds(w, narrow[f]);
    for (size_t k = 0; k < w->table->width; k++) {
      double amp = hypot(w->row[0][k], w->row[1][k]);
      least = fmin(least, amp);
      most = fmax(most, amp);
      sum += amp;
    }
  }
  seen->format = fits[0] ? RS_BF16 : fits[1] ? RS_F16 : fits[2] ? RS_F32 : RS_F64;
  seen->amp = sum / (double)(count * w->table->width);
  seen->spread = most - least;
  w->layout = halves ? (int)RS_HALF_SPLIT : alternate ? (int)RS_INTERLEAVED : -1;
  w->pairs = w->layout >= 0 ? w->table->width / 2 : w->table->width;
  if (seen->amp > 0 && seen->spread <= seen->amp * (8 * finest(seen->format) + 1e-3)) return RS_OK;
  return rs_fail(w->err, RS_INPUT,
                 "cos^2 + sin^2 is from %.6g to %.6g: these are no cos and sin of one attention factor", least * least,
                 most * most);
}

/* ---- frequencies ------------------------------------------------------------------------------------------------- */

static double position_at(const work *w, rounding r, size_t p) {
  return rs_round(r.format, w->first + (double)p);
}

static double angle_at(const work *w, rounding r, size_t j, size_t p) {
  double angle = w->omega[j] * position_at(w, r, p);
  return r.all ? rs_round(r.format, angle) : angle;
}

/* What omega is off by, over all samples of rows `stride` apart. */
static rs_status refine(work *w, rounding r, size_t stride) {
  size_t rows = w->table->rows, exact = rows < EXACT_ROWS ? rows : EXACT_ROWS;
  size_t starts = (stride < exact ? exact : rows) - stride, taken = 0;
  double distance = 0;
  for (size_t j = 0; j < w->pairs; j++) w->sums[0][j] = w->sums[1][j] = 0;
  for (size_t i = 0; i < samples_of(starts); i++) {
    size_t p = sample(i, starts);
    double apart = position_at(w, r, p + stride) - position_at(w, r, p);
    if (apart <= 0) continue;
    RS_TRY(read_phases(w, p, w->phase[0]));
    RS_TRY(read_phases(w, p + stride, w->phase[1]));
    for (size_t j = 0; j < w->pairs; j++) {
      double off = w->phase[1][j] - w->phase[0][j] - w->omega[j] * apart;
      w->sums[0][j] += cos(off);
      w->sums[1][j] += sin(off);
    }
    distance += apart;
    taken++;
  }
  for (size_t j = 0; j < w->pairs && taken > 0; j++)
    w->omega[j] += atan2(w->sums[1][j], w->sums[0][j]) * (double)taken / distance;
  return RS_OK;
}

/* The mean of 1 - cos of what phases are off by: 0 where the table was made so. */
static rs_status misfit(work *w, rounding r, double *out) {
  size_t count = samples_of(w->table->rows);
  double sum = 0;
  RS_TRY(read_phases(w, 0, w->phase[0]));
  for (size_t i = 0; i < count; i++) {
    size_t p = sample(i, w->table->rows);
    RS_TRY(read_phases(w, p, w->phase[1]));
    for (size_t j = 0; j < w->pairs; j++)
      sum += 1 - cos(w->phase[1][j] - w->phase[0][j] - angle_at(w, r, j, p) + angle_at(w, r, j, 0));
  }
  *out = sum / (double)(count * w->pairs);
  return RS_OK;
}

/* Frequencies by one rounding; rounded themselves, they are exact after few rows. */
static rs_status fit(work *w, rounding r, double *left) {
  size_t most = r.all && w->table->rows > EXACT_ROWS ? EXACT_ROWS / 4 : w->table->rows - 1;
  for (size_t j = 0; j < w->pairs; j++) w->omega[j] = 0;
  for (size_t stride = 1; stride <= most; stride *= 2) RS_TRY(refine(w, r, stride));
  for (size_t j = 0; j < w->pairs; j++) w->omega[j] = r.all ? rs_round(r.format, w->omega[j]) : w->omega[j];
  return misfit(w, r, left);
}

/* The position of row 0: from the slowest pair, which tells it at once, to the fastest, which tells it best. */
static rs_status find_first(work *w, bool *known) {
  double position = 0, off = 0;
  size_t turning = 0;
  RS_TRY(read_phases(w, 0, w->phase[0]));
  for (size_t j = w->pairs; j-- > 0;)
    if (w->omega[j] > 1e-9) position += remainder(w->phase[0][j] - w->omega[j] * position, 2 * M_PI) / w->omega[j];
  double whole = rint(position);
  if (fabs(position - whole) < 0.02) position = whole;
  for (size_t j = 0; j < w->pairs; j++) {
    off += 1 - cos(w->phase[0][j] - w->omega[j] * position);
    turning += w->omega[j] > 1e-9;
  }
  *known = turning > 0 && off / (double)w->pairs < 1e-3;
  w->first = *known ? position : 0;
  return RS_OK;
}

/* ---- first rows -------------------------------------------------------------------------------------------------- */

const char rs_other_first_rows[] = "other frequencies at its first ";

/* Rows `begin` and on, before `end`. */
static rs_cos_sin_table rows_of(const rs_cos_sin_table *table, size_t begin, size_t end) {
  rs_cos_sin_table part = *table;
  for (size_t side = 0; side < 2; side++) part.base[side] += begin * table->stride;
  part.rows = end - begin;
  return part;
}

/* Whether row p of the table stands at `position`. */
static rs_status stands_at(work *w, size_t p, double position, bool *stands) {
  static const double near = 1e-3;
  double off = 0;
  RS_TRY(read_phases(w, p, w->phase[1]));
  for (size_t j = 0; j < w->pairs; j++) off = fmax(off, 1 - cos(w->phase[1][j] - w->omega[j] * position));
  *stands = off < near;
  return RS_OK;
}

/* The first row of which all that follow turn alike, by the second half of them; 0 where these turn unevenly, or the
 * rows before it do. Frequencies are lost. */
static rs_status find_turning(work *w, look seen, size_t *first_row) {
  const rs_cos_sin_table *whole = w->table;
  size_t half = whole->rows / 2, row = half;
  rs_cos_sin_table part = rows_of(whole, half, whole->rows);
  double left, even = fmax(4 * pow(finest(seen.format), 2), 1e-8);
  bool known = false, stands = true;
  *first_row = 0;
  if (half < 2) return RS_OK;
  w->table = &part;
  double before = w->first;
  rs_status status = fit(w, roundings[0], &left);
  if (status == RS_OK && left <= even) status = find_first(w, &known);
  w->table = whole;
  double position = w->first;
  w->first = before;
  while (status == RS_OK && known && row > 0) {
    status = stands_at(w, row - 1, position - (double)(half - row + 1), &stands);
    if (!stands) break;
    row--;
  }
  if (status != RS_OK || !known || row < 2) return status;
  part = rows_of(whole, 0, row);
  w->table = &part;
  status = fit(w, roundings[0], &left);
  w->table = whole;
  if (left <= even) *first_row = row;
  return status;
}

/* Rows that samples of a long table miss. */
static rs_status first_rows_fit(work *w, bool *all) {
  size_t rows = w->table->rows < EXACT_ROWS ? w->table->rows : EXACT_ROWS;
  *all = true;
  for (size_t p = 0; p < rows && *all; p++) RS_TRY(stands_at(w, p, w->first + (double)p, all));
  return RS_OK;
}

/* The rounding that leaves least, where it leaves far less than none. */
static rs_status choose_rounding(work *w, look seen, rounding *best) {
  double plain, least, floor_of = fmax(4 * pow(finest(seen.format), 2), 1e-8);
  RS_TRY(fit(w, roundings[0], &plain));
  *best = roundings[0];
  least = plain > floor_of ? plain / 4 : 0;
  for (size_t i = 1; i < RS_COUNT(roundings) && least > 0; i++) {
    double left;
    RS_TRY(fit(w, roundings[i], &left));
    if (left >= least) continue;
    least = left;
    *best = roundings[i];
  }
  double left;
  RS_TRY(fit(w, *best, &left));
  if (left < 0.02) return RS_OK;
  return rs_fail(w->err, RS_INPUT,
                 "phases do not grow evenly from row to row (off by %.3g of 2): rows of other than text (pictures "
                 "under M-RoPE), or of several tables",
                 left);
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static rs_status fill(const work *w, look seen, rounding r, rs_spectrum *spectrum) {
  double rows = (double)w->table->rows - 1, step = finest(seen.format);
  RS_TRY(rs_spectrum_list(w->omega, w->pairs, spectrum, w->err));
  spectrum->slack = rs_alloc(w->pairs, sizeof *spectrum->slack, w->err);
  if (spectrum->slack == NULL) return RS_MEMORY;
  for (size_t j = 0; j < w->pairs; j++) {
    double share =
        fmax(finest(seen.format), r.all ? finest(r.format) : 0); /* of cos and of sin, and so of slow pairs */
    spectrum->slack[j] = 4 * step / rows + 4 * share * w->omega[j];
    spectrum->omega[j] = fmax(spectrum->omega[j], 0);
  }
  spectrum->amp = seen.amp;
  spectrum->amp_slack = 2 * step * seen.amp;
  spectrum->pair_layout = w->layout;
  spectrum->positions = r.format;
  return RS_OK;
}

static void describe(const work *w, look seen, rounding r, bool known, size_t others, char read[240]) {
  static const char *const formats[RS_FORMATS] = {"float64", "float32", "bfloat16", "float16"};
  static const char *const layouts[] = {[RS_HALF_SPLIT] = "half_split", [RS_INTERLEAVED] = "interleaved"};
  char first[64] = "", rounded[80] = "";
  if (!known) snprintf(first, sizeof first, ", row 0 of no one position");
  if (known && fabs(w->first) > 0.01) snprintf(first, sizeof first, ", from position %.6g", w->first);
  if (others > 0) snprintf(first, sizeof first, ", %zu rows before which turn otherwise", others);
  if (r.format != RS_F64)
    snprintf(rounded, sizeof rounded, ", positions%s rounded to %s", r.all ? ", frequencies and angles" : "",
             formats[r.format]);
  snprintf(read, 240, "cos and sin of %zu positions, %zu pairs%s%s, %s%s%s%s", w->table->rows, w->pairs,
           w->layout >= 0 ? " each twice: " : ", each once", w->layout >= 0 ? layouts[w->layout] : "",
           formats[seen.format], w->table->axes ? ", three axes alike" : "", first, rounded);
}

static rs_status say_first_rows(rs_spectrum *spectrum, size_t others, rs_err *err) {
  rs_text text = {0};
  rs_text_printf(&text, "%s%zu positions", rs_other_first_rows, others);
  spectrum->beyond = text.failed ? NULL : rs_strdup(rs_text_string(&text), err);
  rs_text_clear(&text);
  return spectrum->beyond != NULL ? RS_OK : rs_fail(err, RS_MEMORY, "out of memory for text");
}

static rs_status recover(work *w, rs_spectrum *spectrum, char read[240]) {
  look seen;
  rounding best;
  bool known = true, all = false;
  double left;
  size_t others = 0;
  rs_cos_sin_table later;
  RS_TRY(look_over(w, &seen));
  RS_TRY(fit(w, roundings[0], &left));
  if (left < 0.02) RS_TRY(find_first(w, &known));
  if (left < 0.02 && known) RS_TRY(first_rows_fit(w, &all));
  if (!all) RS_TRY(find_turning(w, seen, &others));
  if (others > 0) {
    later = rows_of(w->table, others, w->table->rows);
    w->table = &later;
    RS_TRY(fit(w, roundings[0], &left));
    RS_TRY(find_first(w, &known));
  }
  RS_TRY(choose_rounding(w, seen, &best));
  describe(w, seen, best, known, others, read);
  RS_TRY(fill(w, seen, best, spectrum));
  return others > 0 ? say_first_rows(spectrum, others, w->err) : RS_OK;
}

rs_status rs_cos_sin_read(const rs_cos_sin_table *table, rs_spectrum *spectrum, char read[240], rs_err *err) {
  work w = {.table = table, .err = err};
  size_t span = (table->width - 1) * table->step + 1, columns = table->width;
  if (table->rows < 2) return rs_fail(err, RS_INPUT, "one row of cos and sin tells no frequency: two are wanted");
  double *memory = rs_alloc(2 * span + 5 * columns, sizeof *memory, err), *next = memory;
  if (memory == NULL) return RS_MEMORY;
  for (size_t side = 0; side < 2; side++, next += span) w.row[side] = next;
  for (size_t side = 0; side < 2; side++, next += columns) w.phase[side] = next;
  for (size_t side = 0; side < 2; side++, next += columns) w.sums[side] = next;
  w.omega = next;
  rs_status status = recover(&w, spectrum, read);
  if (status != RS_OK) rs_spectrum_clear(spectrum);
  free(memory);
  return status;
}
