/* Rounding a double to a shorter float format, for studies of the precision that engines really use. */
#include "base/base.h"

#include <float.h>
#include <math.h>

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
