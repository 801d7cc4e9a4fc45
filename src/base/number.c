/* Numbers as text. Reading and writing happen in a private C locale, whatever the program around us has set. */
#include "base/base.h"

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

static locale_t c_locale;
static once_flag c_locale_once = ONCE_FLAG_INIT;

/* newlocale("C") takes no memory in glibc and cannot fail there; elsewhere a failure leaves the caller's locale in use.
 */
static void make_c_locale(void) {
  c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

static locale_t enter_c_locale(void) {
  call_once(&c_locale_once, make_c_locale);
  return c_locale != (locale_t)0 ? uselocale(c_locale) : (locale_t)0;
}

static void leave_c_locale(locale_t before) {
  if (before != (locale_t)0) uselocale(before);
}

size_t rs_number_format(double value, char *out) {
  if (isnan(value)) return (size_t)snprintf(out, RS_NUMBER_CHARS, "nan");
  if (isinf(value)) return (size_t)snprintf(out, RS_NUMBER_CHARS, value > 0 ? "inf" : "-inf");
  if (value == 0) value = 0; /* one zero: "-0" is noise in a table */
  locale_t before = enter_c_locale();
  int length = 0;
  /* A decimal of at most DBL_DIG digits survives the trip through a normal double, so the first that reads back is the
   * shortest; subnormals hold fewer digits. */
  for (int digits = fabs(value) < DBL_MIN ? 1 : DBL_DIG; digits <= DBL_DECIMAL_DIG; digits++) {
    length = snprintf(out, RS_NUMBER_CHARS, "%.*g", digits, value);
    if (strtod(out, NULL) == value) break;
  }
  leave_c_locale(before);
  return (size_t)length;
}

/* The double next to the decimal has the same digits, and is written with as many zeros as other doubles. */
size_t rs_number_format_single(float value, char *out) {
  double nearest = (double)value;
  locale_t before = enter_c_locale();
  for (int digits = fabsf(value) < FLT_MIN ? 1 : FLT_DIG; digits <= FLT_DECIMAL_DIG && isfinite(value); digits++) {
    snprintf(out, RS_NUMBER_CHARS, "%.*g", digits, (double)value);
    nearest = strtod(out, NULL);
    if (strtof(out, NULL) == value) break;
  }
  leave_c_locale(before);
  return rs_number_format(nearest, out);
}

bool rs_number_read(const char *text, double *value) {
  if (*text == '\0' || isspace((unsigned char)*text)) return false;
  char *end;
  locale_t before = enter_c_locale();
  *value = strtod(text, &end);
  leave_c_locale(before);
  return *end == '\0';
}

/* Why `text` is no plain decimal number, or NULL when it looks like one. */
static const char *shape_complaint(const char *text) {
  const char *p = text + (*text == '-' || *text == '+');
  if (strcasecmp(p, ".nan") == 0 || strcasecmp(p, "nan") == 0) return "is not a number (NaN is never accepted)";
  if (strcasecmp(p, ".inf") == 0 || strcasecmp(p, "inf") == 0) return "is not finite";
  if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X')) return "must be a decimal number (hexadecimal is not accepted)";
  if (p[0] == '0' && (p[1] == 'o' || isdigit((unsigned char)p[1])))
    return "has a leading zero, which some readers take as octal (write it without)";
  if (isdigit((unsigned char)*p) && strchr(p, ',') != NULL)
    return "has a comma (write decimals with '.', thousands bare)";
  if (isdigit((unsigned char)*p) && strchr(p, '_') != NULL) return "has an underscore (write the digits without)";
  if (!isdigit((unsigned char)*p) && !(*p == '.' && isdigit((unsigned char)p[1]))) return "must be a number";
  return NULL;
}

/* Whether the mantissa has a digit other than 0. */
static bool names_nonzero(const char *text) {
  return isdigit((unsigned char)text[strcspn(text, "123456789eE")]);
}

rs_status rs_number_parse(const char *text, double *value, rs_err *err) {
  const char *complaint = shape_complaint(text);
  if (complaint != NULL) return rs_fail(err, RS_INPUT, "%s", complaint);
  if (!rs_number_read(text, value)) return rs_fail(err, RS_INPUT, "must be a number");
  if (!isfinite(*value)) return rs_fail(err, RS_INPUT, "is too large (the largest double is 1.8e308)");
  if (*value == 0 && names_nonzero(text))
    return rs_fail(err, RS_INPUT, "is too small (the smallest double is 4.9e-324)");
  return RS_OK;
}

/* Rounding a double to a shorter float format, for studies of the precision that engines really use. */

const char *const rs_format_words[RS_FORMATS + 1] = {
    [RS_F64] = "f64", [RS_F32] = "f32", [RS_BF16] = "bf16", [RS_F16] = "f16"};

/* Significant bits (with the hidden one), exponent of the smallest normal number, largest finite number. */
static const struct {
  int bits, least_exponent;
  double largest;
} formats[] = {
    [RS_F64] = {DBL_MANT_DIG, -1022, DBL_MAX},
    [RS_F32] = {24, -126, 0x1.fffffep127}, /* IEEE 754 binary32 */
    [RS_BF16] = {8, -126, 0x1.fep127},     /* bfloat16: binary32 cut to 16 bits */
    [RS_F16] = {11, -14, 65504},           /* IEEE 754 binary16 */
};

double rs_round(rs_format format, double value) {
  if (format == RS_F64 || value == 0 || !isfinite(value)) return value;
  int exponent = ilogb(value), least = formats[format].least_exponent;
  double step = ldexp(1, (exponent > least ? exponent : least) - (formats[format].bits - 1));
  double rounded = nearbyint(value / step) * step; /* exact but for the one rounding: step is a power of two */
  return fabs(rounded) > formats[format].largest ? copysign(INFINITY, value) : rounded;
}

double rs_position_error(rs_format format, size_t length) {
  double last = length > 0 ? (double)length - 1 : 0;
  if (last == 0 || isinf(rs_round(format, last))) return last == 0 ? 0 : INFINITY;
  int exponent = ilogb(last);
  double half = ldexp(1, exponent - formats[format].bits), below = half / 2; /* of the spacing up to last, and before */
  double worst = fmin(last - ldexp(1, exponent), half);
  return half < 1 ? 0 : fmax(worst, below < 1 ? 0 : below);
}

double rs_angle_error(rs_format format, double omega, size_t length) {
  double turned = rs_round(format, omega), last = length > 0 ? rs_round(format, (double)length - 1) : 0;
  double product = turned * last;
  int exponent, least = formats[format].least_exponent;
  if (product == 0) return last * fabs(omega);
  if (isinf(rs_round(format, product))) return INFINITY;
  bool shifts = fabs(frexp(turned, &exponent)) == 0.5; /* a power of two: the product is exact */
  exponent = ilogb(product) > least ? ilogb(product) : least;
  double half = shifts && exponent > least ? 0 : ldexp(1, exponent - formats[format].bits);
  return half + fabs(turned - omega) * last + fabs(omega) * rs_position_error(format, length);
}
