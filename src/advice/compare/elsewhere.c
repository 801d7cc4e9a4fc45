/* Recipes that are equal at one length may part at another: s follows the length by some rules, and LongRoPE has a list
 * for each side of the trained length. */
#include "compare.h"

#include <math.h>
#include <stdlib.h>

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
