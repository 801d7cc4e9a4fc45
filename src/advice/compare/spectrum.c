/* Spectra: what two recipes, or a recipe and an engine's dump, are compared by. */
#include "compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void rs_spectrum_clear(rs_spectrum *spectrum) {
  free(spectrum->omega);
  free(spectrum->axis);
  free(spectrum->beyond);
  free(spectrum->slack);
  *spectrum = (rs_spectrum){0};
}

/* Position Interpolation may divide the positions instead: the same turns. */
static double position_divisor(const rs_encoding *encoding, size_t length) {
  if (rs_setting(&encoding->settings, "interpolate")->choice != RS_INTERPOLATE_POSITIONS) return 1;
  return rs_scale_resolve(&encoding->settings, (double)length, encoding->train_length);
}

static bool has_param(const rs_kind *kind, const char *name) {
  for (size_t i = 0; kind != NULL && i < kind->param_count; i++)
    if (strcmp(kind->params[i].name, name) == 0) return true;
  return false;
}

/* Adds the kind's name, and its parameters as they are set. */
static void put_kind(rs_text *text, const rs_settings *settings, const rs_kind *kind) {
  rs_text_printf(text, "%s%s", text->length > 0 ? ", " : "", kind->name);
  for (size_t p = 0; p < settings->count; p++) {
    if (!has_param(kind, settings->params[p]->name) || !settings->values[p].set) continue;
    rs_text_printf(text, " %s=", settings->params[p]->name);
    rs_value_write(settings->params[p], &settings->values[p], text);
  }
}

/* Adds "name=value" of a stage's parameter that is not at its default. */
static void put_common(rs_text *text, const rs_settings *settings, const char *name) {
  int p = rs_settings_find(settings, name);
  RS_OWNED(rs_text) value = {0};
  if (p < 0 || !settings->values[p].set) return;
  rs_value_write(settings->params[p], &settings->values[p], &value);
  const char *usual = settings->params[p]->fallback;
  if (usual == NULL || strcmp(rs_text_string(&value), usual) != 0)
    rs_text_printf(text, "%s%s=%s", text->length > 0 ? ", " : "", name, rs_text_string(&value));
  text->failed |= value.failed;
}

/* What else the recipe does: two recipes of the same frequencies may still differ there. */
static rs_status describe_beyond(const rs_encoding *encoding, rs_spectrum *spectrum, rs_err *err) {
  const rs_method *method = encoding->method;
  const rs_settings *settings = &encoding->settings;
  RS_OWNED(rs_text) text = {0};
  if (method->pos->prepare != NULL && !method->pos->scaled) put_kind(&text, settings, &method->pos->kind);
  if (method->freq->mix != NULL || method->freq->log_gain != NULL) put_kind(&text, settings, &method->freq->kind);
  if (method->embed != NULL) put_kind(&text, settings, &method->embed->kind);
  if (method->bias != NULL) put_kind(&text, settings, &method->bias->kind);
  put_common(&text, settings, "logit_scale");
  put_common(&text, settings, "logit_scale_factor");
  put_common(&text, settings, "logit_scale_length");
  put_common(&text, settings, "cached_keys");
  bool counted = encoding->axes > 1 || encoding->id_rule.scheme == RS_IDS_V2PE; /* else text, whatever they say */
  if (counted) put_common(&text, settings, "vision_ids");
  if (counted) put_common(&text, settings, "vision_step");
  if (counted) put_common(&text, settings, "id_arithmetic");
  rs_status status = rs_text_check(&text, err);
  if (status == RS_OK) spectrum->beyond = rs_strdup(rs_text_string(&text), err);
  return status == RS_OK && spectrum->beyond == NULL ? RS_MEMORY : status;
}

/* The encoding is made for one token, for the axes; the frequencies for `length`, without tables of that length. */
static rs_status fill(const rs_encoding *encoding, const rs_model *model, size_t length, rs_spectrum *spectrum,
                      rs_err *err) {
  size_t pairs = encoding->rotary_dim / 2;
  rs_freq_out out = {.omega = spectrum->omega = rs_alloc(pairs, sizeof(double), err)};
  spectrum->axis = rs_alloc(pairs, sizeof *spectrum->axis, err);
  if (spectrum->omega == NULL || spectrum->axis == NULL) return RS_MEMORY;
  RS_TRY(rs_frequencies_at(encoding, model, length, &out, err));
  double divisor = position_divisor(encoding, length);
  for (size_t j = 0; j < pairs; j++) {
    spectrum->axis[j] = encoding->own_places ? 0 : encoding->axis[j];
    spectrum->omega[j] = encoding->omega[j] == 0 ? 0 : out.omega[j] / divisor; /* pairs that read no axis are idle */
  }
  spectrum->pairs = pairs;
  spectrum->head_dim = encoding->head_dim;
  spectrum->amp = out.factor;
  spectrum->logit_factor = out.logit_factor;
  spectrum->pair_layout = (int)encoding->pair_layout;
  return describe_beyond(encoding, spectrum, err);
}

rs_status rs_spectrum_make(const rs_recipe *recipe, const rs_model *model, size_t length, rs_spectrum *spectrum,
                           rs_err *err) {
  RS_HELD(rs_encoding) encoding = NULL;
  *spectrum = (rs_spectrum){0};
  if (recipe->method->freq == NULL)
    return rs_fail(err, RS_UNSUPPORTED, "%s turns no pairs: there are no frequencies to compare", recipe->method->name);
  if (length == 0) return rs_fail(err, RS_DOMAIN, "a context of 0 tokens has no attention");
  RS_TRY(rs_encoding_create(recipe, model, 1, NULL, NULL, &encoding, err));
  rs_status status = fill(encoding, model, length, spectrum, err);
  if (status != RS_OK) rs_spectrum_clear(spectrum);
  return status;
}

rs_status rs_spectrum_list(const double *omega, size_t pairs, rs_spectrum *spectrum, rs_err *err) {
  *spectrum = (rs_spectrum){.pairs = pairs, .head_dim = 2 * pairs, .amp = NAN, .logit_factor = NAN, .pair_layout = -1};
  spectrum->omega = rs_alloc(pairs, sizeof *omega, err);
  if (spectrum->omega == NULL) return RS_MEMORY;
  memcpy(spectrum->omega, omega, pairs * sizeof *omega);
  return RS_OK;
}

static bool equal(double a, double b, double rtol) {
  return fabs(b - a) <= rtol * fmax(fabs(a), fabs(b));
}

static double slack_of(const rs_spectrum *spectrum, size_t j) {
  return spectrum->slack != NULL ? spectrum->slack[j] : 0;
}

bool rs_pair_equal(const rs_spectrum *a, const rs_spectrum *b, size_t j, double rtol) {
  double most = fmax(fabs(a->omega[j]), fabs(b->omega[j]));
  return fabs(b->omega[j] - a->omega[j]) <= rtol * most + slack_of(a, j) + slack_of(b, j);
}

static bool repeats(const rs_spectrum *spectrum, double rtol, int layout) {
  size_t half = spectrum->pairs / 2;
  bool same = spectrum->pairs % 2 == 0 && half > 0;
  for (size_t j = 0; j < half && same; j++)
    same = layout == RS_INTERLEAVED ? equal(spectrum->omega[2 * j], spectrum->omega[2 * j + 1], rtol)
                                    : equal(spectrum->omega[j], spectrum->omega[j + half], rtol);
  return same;
}

int rs_spectrum_fold(rs_spectrum *spectrum, double rtol) {
  int layout = repeats(spectrum, rtol, RS_HALF_SPLIT)    ? RS_HALF_SPLIT
               : repeats(spectrum, rtol, RS_INTERLEAVED) ? RS_INTERLEAVED
                                                         : -1;
  if (layout < 0) return layout;
  spectrum->pairs /= 2;
  for (size_t j = 0; j < spectrum->pairs && layout == RS_INTERLEAVED; j++) spectrum->omega[j] = spectrum->omega[2 * j];
  return layout;
}

/* ---- comparing --------------------------------------------------------------------------------------------------- */

static void compare_pairs(const rs_spectrum *a, const rs_spectrum *b, double rtol, rs_difference *out) {
  for (size_t j = 0; j < a->pairs; j++) {
    double from = a->omega[j], to = b->omega[j];
    bool same = rs_pair_equal(a, b, j, rtol), told = a->slack == NULL && b->slack == NULL;
    double change = to == from || (same && !told) ? 0 : from == 0 ? INFINITY : fabs(to / from - 1);
    if (change > out->largest) {
      out->largest = change;
      out->worst = j;
    }
    if (same) continue;
    if (out->count++ == 0) out->first = j;
    out->last = j;
  }
  if (out->count > 0) out->differs |= RS_DIFFERS_FREQUENCY;
}

static bool known_apart(double a, double b, double rtol, double slack) {
  return !isnan(a) && !isnan(b) && fabs(b - a) > rtol * fmax(fabs(a), fabs(b)) + slack;
}

rs_difference rs_spectrum_compare(const rs_spectrum *a, const rs_spectrum *b, double rtol) {
  rs_difference out = {0};
  if (known_apart(a->amp, b->amp, rtol, a->amp_slack + b->amp_slack) ||
      known_apart(a->logit_factor, b->logit_factor, rtol, 0))
    out.differs |= RS_DIFFERS_AMPLITUDE;
  if (a->pair_layout >= 0 && b->pair_layout >= 0 && a->pair_layout != b->pair_layout) out.differs |= RS_DIFFERS_LAYOUT;
  if (a->beyond != NULL && b->beyond != NULL && strcmp(a->beyond, b->beyond) != 0) out.differs |= RS_DIFFERS_BEYOND;
  if (!isnan(a->logit_factor) && !isnan(b->logit_factor) && a->head_dim != b->head_dim) out.differs |= RS_DIFFERS_WIDTH;
  if (a->positions != b->positions) out.differs |= RS_DIFFERS_POSITIONS;
  if (a->pairs != b->pairs) {
    out.differs |= RS_DIFFERS_FREQUENCY;
    out.largest = INFINITY;
    return out;
  }
  compare_pairs(a, b, rtol, &out);
  for (size_t j = 0; j < a->pairs && a->axis != NULL && b->axis != NULL; j++)
    if (a->axis[j] != b->axis[j]) out.differs |= RS_DIFFERS_AXIS;
  return out;
}

/* As rs_encoding_mean_cosine: pairs past R/2 do not turn. */
static double mean_cosine(const rs_spectrum *spectrum, double position) {
  double sum = (double)spectrum->head_dim / 2 - (double)spectrum->pairs;
  for (size_t j = 0; j < spectrum->pairs; j++) sum += cos(position * spectrum->omega[j]);
  return sum / ((double)spectrum->head_dim / 2);
}

rs_divergence rs_spectrum_at(const rs_spectrum *a, const rs_spectrum *b, double position) {
  rs_divergence out = {.mean_a = mean_cosine(a, position), .mean_b = mean_cosine(b, position)};
  for (size_t j = 0; j < a->pairs && j < b->pairs; j++) {
    double angle = fabs(remainder(position * (b->omega[j] - a->omega[j]), 2 * M_PI));
    if (angle <= out.angle) continue;
    out.angle = angle;
    out.pair = j;
  }
  return out;
}

double rs_spectrum_base(const rs_spectrum *spectrum) {
  double pairs = (double)spectrum->pairs, base = spectrum->pairs > 1 ? pow(spectrum->omega[1], -pairs) : NAN;
  for (size_t j = 0; j < spectrum->pairs; j++)
    if (!(fabs(spectrum->omega[j] * pow(base, (double)j / pairs) - 1) <= 1e-9)) return NAN;
  return spectrum->amp == 1 && spectrum->logit_factor == 1 ? base : NAN;
}

/* ---- other lengths ----------------------------------------------------------------------------------------------- */

/* Recipes that are equal at one length may part at another: s follows the length by some rules, and LongRoPE has a list
 * for each side of the trained length. */
enum { MOST_LENGTH = 1 << 28 }; /* tokens, as --length takes */

static rs_status compare_at(const rs_compared *a, const rs_compared *b, size_t length, double rtol, rs_difference *out,
                            rs_err *err) {
  const rs_compared *sides[] = {a, b};
  rs_spectrum spectra[2] = {{0}};
  rs_status status = RS_OK;
  for (size_t i = 0; i < 2 && status == RS_OK; i++)
    status = rs_spectrum_make(sides[i]->recipe, sides[i]->model, length, &spectra[i], err);
  if (status == RS_OK) *out = rs_spectrum_compare(&spectra[0], &spectra[1], rtol);
  for (size_t i = 0; i < 2; i++) rs_spectrum_clear(&spectra[i]);
  return status;
}

static int ascending(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

rs_status rs_compare_elsewhere(const rs_compared *a, const rs_compared *b, double rtol, size_t *length,
                               rs_difference *difference, rs_err *err) {
  const rs_compared *sides[] = {a, b};
  double lengths[16];
  size_t count = 0;
  *length = 0;
  if (a->recipe == NULL || b->recipe == NULL) return RS_OK;
  for (size_t i = 0; i < 2; i++) {
    double trained = rs_compared_train_length(sides[i]), most = (double)sides[i]->model->max_length;
    const double tried[] = {floor(trained / 2), trained, trained + 1, 2 * trained, 4 * trained, most, 2 * most};
    for (size_t k = 0; k < RS_COUNT(tried); k++)
      if (tried[k] >= 1 && tried[k] <= MOST_LENGTH) lengths[count++] = tried[k];
  }
  qsort(lengths, count, sizeof *lengths, ascending);
  for (size_t k = 0; k < count; k++) {
    rs_err why = {0};
    if (k > 0 && lengths[k] == lengths[k - 1]) continue;
    rs_status status = compare_at(a, b, (size_t)lengths[k], rtol, difference, &why);
    if (status == RS_MEMORY) return rs_fail(err, RS_MEMORY, "%s", why.message);
    if (status != RS_OK || difference->differs == 0) continue; /* where one is undefined they are not compared */
    *length = (size_t)lengths[k];
    return RS_OK;
  }
  return RS_OK;
}

/* ---- the shape of a difference ----------------------------------------------------------------------------------- */

/* Where no known change explains one, what is left is to say whether the ratio of the frequencies is one constant, a
 * geometric ladder (another base), or a band of pairs. */

/* ln omega[j] = offset + slope j, by least squares, and the largest distance from it. */
typedef struct line {
  double offset, slope, residual;
} line;

static double log_at(const rs_spectrum *a, const rs_spectrum *b, size_t j) {
  return log(b->omega[j]) - (a != NULL ? log(a->omega[j]) : 0);
}

/* The line through ln(b / a), or through ln b, as sums: gsl_fit_linear takes arrays, and so room for them. */
static line fit(const rs_spectrum *a, const rs_spectrum *b) {
  double n = (double)b->pairs, sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0;
  for (size_t j = 0; j < b->pairs; j++) {
    double x = (double)j, y = log_at(a, b, j);
    sum_x += x;
    sum_y += y;
    sum_xx += x * x;
    sum_xy += x * y;
  }
  line out = {.slope = (n * sum_xy - sum_x * sum_y) / (n * sum_xx - sum_x * sum_x)};
  out.offset = (sum_y - out.slope * sum_x) / n;
  for (size_t j = 0; j < b->pairs; j++)
    out.residual = fmax(out.residual, fabs(log_at(a, b, j) - out.offset - out.slope * (double)j));
  return out;
}

static bool all_turn(const rs_spectrum *spectrum) {
  bool turn = true;
  for (size_t j = 0; j < spectrum->pairs; j++) turn &= spectrum->omega[j] > 0;
  return turn;
}

static void describe_ladder(const rs_spectrum *a, const rs_spectrum *b, double rtol, line ratio, char *text,
                            size_t size) {
  double pairs = (double)b->pairs;
  line mine = fit(NULL, a), to = fit(NULL, b);
  snprintf(text, size, "B / A is geometric: %.6g times %.6g^j for pair j", exp(ratio.offset), exp(ratio.slope));
  if (mine.residual > rtol) return; /* B is no ladder either */
  double base_a = exp(-mine.slope * pairs), base_b = exp(-to.slope * pairs);
  size_t length = strlen(text);
  snprintf(text + length, size - length,
           "; as ladders over %zu dims, A has base %.6g and B has base %.6g (or A's base over %.6g dims)", 2 * b->pairs,
           base_a, base_b, 2 * pairs * log(base_a) / log(base_b));
}

/* From which pair to the last the ratio stays the same. */
static size_t constant_tail(const rs_spectrum *a, const rs_spectrum *b, double rtol) {
  size_t last = a->pairs - 1, from = last;
  double end = b->omega[last] / a->omega[last];
  while (from > 0 && fabs(b->omega[from - 1] / a->omega[from - 1] / end - 1) <= rtol) from--;
  return from;
}

static void describe_band(const rs_spectrum *a, const rs_spectrum *b, double rtol, char *text, size_t size) {
  rs_difference difference = rs_spectrum_compare(a, b, rtol);
  size_t last = a->pairs - 1, tail = constant_tail(a, b, rtol);
  if (difference.first == 0 && difference.last == last)
    snprintf(text, size, "B / A differs from 1 everywhere");
  else
    snprintf(text, size, "B / A differs from 1 from pair %zu to pair %zu only", difference.first, difference.last);
  if (tail == last || difference.last != last) return;
  size_t length = strlen(text);
  snprintf(text + length, size - length, "; from pair %zu on it is %.6g", tail, b->omega[last] / a->omega[last]);
}

void rs_shape_describe(const rs_spectrum *a, const rs_spectrum *b, double rtol, char *text, size_t size) {
  if (a->pairs != b->pairs) {
    snprintf(text, size, "A has %zu pairs, B has %zu", a->pairs, b->pairs);
    return;
  }
  bool turn = all_turn(a) && all_turn(b);
  line ratio = turn && a->pairs > 2 ? fit(a, b) : (line){.residual = INFINITY};
  double span = fabs(ratio.slope) * (double)a->pairs;
  if (ratio.residual <= rtol && span <= rtol)
    snprintf(text, size, "B is %.6g times A at every pair (1 / %.6g), as if positions were divided by that",
             exp(ratio.offset), exp(-ratio.offset));
  else if (ratio.residual <= rtol)
    describe_ladder(a, b, rtol, ratio, text, size);
  else if (turn)
    describe_band(a, b, rtol, text, size);
  else
    snprintf(text, size, "some pairs do not turn on one side");
}
