/* Numbers as people print them: "4.3e3" says 4300, give or take 50. */
#include "claims.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rounding moves a number by half a unit of its last digit; the rest is for one that sits at the edge and falls to the
 * other side on another machine. Whole numbers stay exact. */
static const double ROUNDING = 0.6;

bool rs_quantity_read(const char *text, double *value) {
  rs_param count = {.name = "", .type = RS_INTEGER, .min = -INFINITY, .max = INFINITY};
  rs_value parsed;
  if (rs_number_read(text, value) && isfinite(*value)) return true;
  if (rs_value_parse(&count, text, &parsed, NULL) != RS_OK) return false;
  *value = parsed.number;
  return true;
}

rs_relation rs_relation_read(const char *text, size_t *length) {
  static const struct {
    const char *word;
    rs_relation relation;
  } words[] = {{"!=", RS_UNEQUAL}, {"<=", RS_AT_MOST}, {">=", RS_AT_LEAST},
               {"<", RS_BELOW},    {">", RS_ABOVE},    {"=", RS_EQUAL}}; /* the longer ones first */
  for (size_t i = 0; i < RS_COUNT(words); i++) {
    *length = strlen(words[i].word);
    if (strncmp(text, words[i].word, *length) == 0) return words[i].relation;
  }
  *length = 0;
  return RS_EQUAL;
}

bool rs_relation_holds(rs_relation relation, double order) {
  switch (relation) {
  case RS_EQUAL: return order == 0;
  case RS_UNEQUAL: return order != 0;
  case RS_BELOW: return order < 0;
  case RS_AT_MOST: return order <= 0;
  case RS_ABOVE: return order > 0;
  case RS_AT_LEAST: return order >= 0;
  }
  return false;
}

/* One in the last digit written: 100 for "4.3e3", 1 for "9937", .01 for "0.25". */
static double last_digit(const char *text) {
  const char *exponent = strpbrk(text, "eE"), *point = strchr(text, '.');
  long power = exponent != NULL ? strtol(exponent + 1, NULL, 10) : 0;
  for (const char *p = point != NULL ? point + 1 : ""; isdigit((unsigned char)*p); p++) power--;
  return pow(10, (double)power);
}

rs_status rs_bound_read(const char *text, rs_bound *bound, rs_err *err) {
  double plain;
  size_t length;
  *bound = (rs_bound){.relation = rs_relation_read(text, &length)};
  if (*text == '\0') return RS_OK;
  text += length + strspn(text + length, " ");
  if (!rs_quantity_read(text, &bound->number))
    return rs_fail(err, RS_INPUT, "%s is no number (as in 4.3e3, 8k or <=0.434)", text);
  bound->stated = true;
  if (bound->relation == RS_EQUAL && rs_number_read(text, &plain)) bound->tolerance = ROUNDING * last_digit(text);
  return RS_OK;
}

rs_status rs_bound_tolerance(const char *text, rs_bound *bound, rs_err *err) {
  double tolerance;
  char number[RS_NUMBER_CHARS];
  size_t length = strlen(text);
  if (length == 0) return RS_OK;
  if (!bound->stated || bound->relation != RS_EQUAL)
    return rs_fail(err, RS_INPUT, "a tolerance needs an expected number, and a relation has none");
  bool relative = text[length - 1] == '%';
  if (relative) length--;
  if (length >= sizeof number) length = sizeof number - 1;
  memcpy(number, text, length);
  number[length] = '\0';
  if (!rs_number_read(number, &tolerance) || !(tolerance >= 0) || isinf(tolerance))
    return rs_fail(err, RS_INPUT, "%s is no tolerance (as in 0.01, or 1%% of the expected number)", text);
  bound->tolerance = relative ? tolerance / 100 * fabs(bound->number) : tolerance;
  return RS_OK;
}

bool rs_bound_holds(const rs_bound *bound, double value) {
  if (isnan(value)) return false;
  if (bound->relation == RS_EQUAL) return fabs(value - bound->number) <= bound->tolerance;
  return rs_relation_holds(bound->relation, value - bound->number);
}
