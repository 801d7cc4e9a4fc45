/* Rows carried from one place to another, turned and scaled on the way. */
#include "net.h"

/* The first `count` lanes, at most all. */
RS_INLINE void put(real *y, vec x, size_t count, bool add) {
  store_first(y, add ? x + load_first(y, count) : x, count);
}

/* One row, its table times its factor. */
typedef struct row {
  const real *cosine, *sine, *x;
  real *y;
  size_t pairs, width;
  vec factor, way; /* way: the factor, less than 0 on the way back */
  bool add;
} row;

RS_INLINE void turn_halves(const row *r) {
  for (size_t j = 0; j < r->pairs; j += WIDTH) {
    size_t left = r->pairs - j;
    vec c = load_first(r->cosine + j, left) * r->factor, s = load_first(r->sine + j, left) * r->way;
    vec a = load_first(r->x + j, left), b = load_first(r->x + r->pairs + j, left);
    put(r->y + j, a * c - b * s, left, r->add);
    put(r->y + r->pairs + j, a * s + b * c, left, r->add);
  }
}

RS_INLINE void turn_neighbours(const row *r) {
  for (size_t j = 0; j < r->pairs; j += WIDTH) {
    size_t left = r->pairs - j, numbers = 2 * left, behind = numbers > WIDTH ? numbers - WIDTH : 0;
    vec c = load_first(r->cosine + j, left) * r->factor, s = load_first(r->sine + j, left) * r->way, a, b;
    vec first = load_first(r->x + 2 * j, numbers), second = load_first(r->x + 2 * j + WIDTH, behind);
    separate(first, second, &a, &b);
    interleave(a * c - b * s, a * s + b * c, &first, &second);
    put(r->y + 2 * j, first, numbers, r->add);
    put(r->y + 2 * j + WIDTH, second, behind, r->add);
  }
}

RS_INLINE void carry_rest(const row *r) {
  for (size_t i = 2 * r->pairs; i < r->width; i += WIDTH)
    put(r->y + i, load_first(r->x + i, r->width - i) * r->factor, r->width - i, r->add);
}

/* What is constant where this is inlined costs no branch in a row. */
RS_INLINE void carry(const rs_row_turn *turn, const real *x, size_t x_step, real *y, size_t y_step, bool interleaved,
                     bool add) {
  const real *factor = turn->factor;
  const real sign = turn->back ? -1 : 1;
  row r = {turn->cosine, turn->sine, x, y, turn->pairs, turn->width, all(1), all(sign), add};
  for (size_t i = 0, rows = turn->rows; i < rows; i++) {
    if (factor != NULL) {
      r.factor = all(factor[i]);
      r.way = all(sign * factor[i]);
    }
    if (interleaved)
      turn_neighbours(&r);
    else
      turn_halves(&r);
    carry_rest(&r);
    r.cosine += r.pairs;
    r.sine += r.pairs;
    r.x += x_step;
    r.y += y_step;
  }
}

void NET(turn_rows)(const rs_row_turn *turn, const void *x, size_t x_step, void *y, size_t y_step) {
  if (turn->interleaved)
    turn->add ? carry(turn, x, x_step, y, y_step, true, true) : carry(turn, x, x_step, y, y_step, true, false);
  else
    turn->add ? carry(turn, x, x_step, y, y_step, false, true) : carry(turn, x, x_step, y, y_step, false, false);
}
