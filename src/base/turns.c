/* Angles as fixed-point fractions of a turn. Whole turns fall off the top of an unsigned integer, so that the angle of
 * any position is reduced by one multiplication, and exactly: Payne and Hanek's reduction ("Radian reduction for
 * trigonometric functions", SIGNUM Newsletter 18, 1983), done once for a frequency in place of once for an angle. */
#include "base/base.h"

#include <math.h>

__extension__ typedef unsigned __int128 wide_word;

/* The fraction of 1 / (2 pi), from 2^-1 down: hexadecimal digits as `bc -l` prints them for scale=400; obase=16;
 * 1/(8*a(1)). 1216 bits serve the largest double: its last bit is 2^971, and 128 + 53 bits stand below. */
static const uint64_t inverse_turn[] = {
    0x28be60db9391054a, 0x7f09d5f47d4d3770, 0x36d8a5664f10e410, 0x7f9458eaf7aef158, 0x6dc91b8e909374b8,
    0x01924bba82746487, 0x3f877ac72c4a69cf, 0xba208d7d4baed121, 0x3a671c09ad17df90, 0x4e64758e60d4ce7d,
    0x272117e2ef7e4a0e, 0xc7fe25fff7816603, 0xfbcbc462d6829b47, 0xdb4d9fb3c9f2c26d, 0xd3d18fd9a797fa8b,
    0x5d49eeb1faf97c5e, 0xcf41ce7de294a4ba, 0x9afed7ec47e35742, 0x1580cc11bf1edaea,
};

static uint64_t word_of_inverse(int index) {
  return index >= 0 && index < (int)RS_COUNT(inverse_turn) ? inverse_turn[index] : 0;
}

/* 64 bits of 1 / (2 pi) from the one of weight 2^-(first + 1) down; zeros stand before them. */
static uint64_t bits_of_inverse(int first) {
  int word = first >= 0 ? first / 64 : -((63 - first) / 64), shift = first - 64 * word;
  uint64_t bits = word_of_inverse(word) << shift;
  return shift > 0 ? bits | word_of_inverse(word + 1) >> (64 - shift) : bits;
}

rs_turns rs_turns_of(double radians) {
  int exponent;
  uint64_t mantissa = (uint64_t)ldexp(frexp(fabs(radians), &exponent), 53);
  exponent -= 53;
  /* mantissa * 2^exponent / (2 pi): of the factor, bits above 2^-1 make whole turns, and those below 2^-192 come to
   * less than 2^-139. */
  wide_word lowest = (wide_word)mantissa * bits_of_inverse(exponent + 128);
  wide_word middle = (wide_word)mantissa * bits_of_inverse(exponent + 64) + (lowest >> 64);
  uint64_t high = mantissa * bits_of_inverse(exponent) + (uint64_t)(middle >> 64);
  rs_turns turns = {high, (uint64_t)middle};
  return radians < 0 ? rs_turns_subtract((rs_turns){0}, turns) : turns;
}

rs_turns rs_turns_add(rs_turns a, rs_turns b) {
  uint64_t low = a.low + b.low;
  return (rs_turns){a.high + b.high + (low < a.low), low};
}

rs_turns rs_turns_subtract(rs_turns a, rs_turns b) {
  return (rs_turns){a.high - b.high - (a.low < b.low), a.low - b.low};
}

rs_turns rs_turns_times(rs_turns turns, uint64_t times) {
  wide_word low = (wide_word)turns.low * times;
  return (rs_turns){turns.high * times + (uint64_t)(low >> 64), (uint64_t)low};
}

rs_turns rs_turns_at(rs_turns turn, double omega, double position) {
  if (position != rint(position) || fabs(position) >= 0x1p62) return rs_turns_of(position * omega);
  rs_turns there = rs_turns_times(turn, (uint64_t)fabs(position));
  return position < 0 ? rs_turns_subtract((rs_turns){0}, there) : there;
}

void rs_turns_cos_sin(rs_turns turns, double *cosine, double *sine) {
  /* 2 pi in two doubles, in units of 2^-53 turns: a head of 53 bits is exact in a double, the tail need not be. */
  static const double radians = 0x1.921fb54442d18p-51, rest = 0x1.1a62633145c07p-105;
  int64_t folded = (int64_t)turns.high; /* half a turn or more is less than none */
  double head = (double)(folded >> 11), tail = (double)(turns.high & 2047) * 0x1p-11, c, s;
  double angle = head * radians;
  double lost = fma(head, radians, -angle) + (tail * radians + head * rest);
  sincos(angle, &s, &c);
  *cosine = c - s * lost; /* |lost| < 2^-50: its square is nothing */
  *sine = s + c * lost;
}

/* Angles: one product, its rounding error, one reduction (libm's, which is exact for doubles). */

void rs_cos_sin(double position, double omega, double *cosine, double *sine) {
  double angle = position * omega;
  double lost = fma(position, omega, -angle); /* position * omega == angle + lost exactly */
  double c, s;
  sincos(angle, &s, &c);
  /* cos and sin of angle + lost; |lost| <= 2^-22 for angles under 2^31, so cos(lost) = 1 - lost^2/2 to 1e-27. */
  double keep = 1 - 0.5 * lost * lost;
  *cosine = c * keep - s * lost;
  *sine = s * keep + c * lost;
}
