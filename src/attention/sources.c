/* The sources by name, the state of one that is read, and the curves of calibrated heads: logits against distance that
 * a head is to have in training. Chen et al., Position Interpolation, arXiv:2306.15595, section 2.3 and appendix C, fit
 * noise in this way; the other curves stand for kinds of heads that trained models have. */
#include "sources.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ENTRY(name) &rs_source_##name,
static const rs_source_kind *const kinds[] = {RS_SOURCES(ENTRY)};

const rs_source_kind *const *rs_source_kinds(size_t *count) {
  *count = RS_COUNT(kinds);
  return kinds;
}

const rs_source_kind *rs_source_find(const char *name) {
  for (size_t i = 0; i < RS_COUNT(kinds); i++)
    if (strcmp(kinds[i]->kind.name, name) == 0) return kinds[i];
  return NULL;
}

rs_status rs_source_prepare(const rs_source_kind *kind, rs_source_in *in, rs_err *err) {
  in->state = NULL;
  if (kind->state_size == 0) return RS_OK;
  in->state = rs_alloc(1, kind->state_size, err);
  if (in->state == NULL) return RS_MEMORY;
  if (kind->prepare == NULL) {
    memcpy(in->state, in->params, kind->state_size);
    return RS_OK;
  }
  rs_status status = kind->prepare(in, in->state, err);
  if (status != RS_OK) {
    free(in->state);
    in->state = NULL;
  }
  return status;
}

void rs_source_release(const rs_source_kind *kind, rs_source_in *in) {
  if (in->state != NULL && kind->release != NULL) kind->release(in->state);
  free(in->state);
  in->state = NULL;
}

/* ---- calibrated heads -------------------------------------------------------------------------------------------- */

const char *const rs_wanted_curve_words[RS_WANTED_CURVES + 1] = {
    [RS_WANTED_LOCAL] = "local", [RS_WANTED_PEAK] = "peak", [RS_WANTED_FLAT] = "flat", [RS_WANTED_NOISE] = "noise"};

double rs_wanted_logit(const rs_wanted *wanted, double distance) {
  double out = (distance - wanted->top) / wanted->width;
  switch (wanted->curve) {
  case RS_WANTED_LOCAL: return wanted->gain * exp(-distance / wanted->width);
  case RS_WANTED_PEAK: return wanted->gain * exp(-out * out / 2);
  case RS_WANTED_FLAT: return wanted->gain;
  default: return NAN;
  }
}

void rs_wanted_fill(const rs_wanted *wanted, rs_stream noise, size_t count, double *out) {
  if (wanted->curve == RS_WANTED_NOISE) rs_gaussian_fill(noise, 0, count, out);
  for (size_t x = 0; x < count; x++)
    out[x] = wanted->curve == RS_WANTED_NOISE ? wanted->gain * out[x] : rs_wanted_logit(wanted, (double)x);
}

double rs_calibrated_logit(const rs_encoding *encoding, const rs_wave_fit *head, size_t query, size_t key) {
  double sum = 0;
  for (size_t j = 0; j < head->waves; j++) {
    double c, s;
    rs_encoding_turn(encoding, query, key, j, &c, &s);
    sum += head->cosine[j] * c + head->sine[j] * s;
  }
  return encoding->amp * encoding->amp * encoding->logit_scale[query] * sum;
}
