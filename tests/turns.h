/* An oracle of long angles: cos and sin of position * omega + phase in long double, from exact partial products. */
#ifndef ROPESCOPE_TESTS_TURNS_H
#define ROPESCOPE_TESTS_TURNS_H

#include <math.h>
#include <stdint.h>

typedef struct long_turn {
  long double cosine, sine;
} long_turn;

static inline long_turn long_turn_of(long double angle) {
  return (long_turn){cosl(angle), sinl(angle)};
}

static inline long_turn long_turn_add(long_turn a, long_turn b) {
  return (long_turn){a.cosine * b.cosine - a.sine * b.sine, a.sine * b.cosine + a.cosine * b.sine};
}

/* Halves of 32 bits of the position and of 29 and 24 of omega: each product fits the 64 bits of a long double. */
static inline long_turn long_turn_at(uint64_t position, double omega, double phase) {
  int exponent;
  double mantissa = frexp(omega, &exponent);
  double high = ldexp(trunc(ldexp(mantissa, 29)), exponent - 29), low = omega - high;
  long double left = (long double)(position >> 32) * 0x1p32L, right = (long double)(position & 0xffffffff);
  long_turn sum = long_turn_add(long_turn_of(left * high), long_turn_of(left * low));
  sum = long_turn_add(sum, long_turn_add(long_turn_of(right * high), long_turn_of(right * low)));
  return long_turn_add(sum, long_turn_of(phase));
}

#endif
