/* Calibrated heads: a curve of logits against distance that a head is to have in training, and the query and key that
 * give it under the model's plain RoPE. Chen et al., Position Interpolation, arXiv:2306.15595, section 2.3 and appendix
 * C, fit noise in this way; the other curves stand for kinds of heads that trained models have. */
#include "attention/attention.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
