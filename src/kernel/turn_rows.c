/* Rows carried from one place to another, turned and scaled on the way. */
#include "net.h"

/* The first `count` lanes, at most all. */
RS_INLINE void put(real *y, vec x, size_t count, bool add) {
  store_first(y, add ? x + load_first(y, count) : x, count);
}

/* One row, its table times its factor. */
typedef struct row {
  const real *cosine, *sine;
  size_t entry; /* of its first pair there */
  const real *x;
  real *y;
  size_t pairs, width;
  vec factor, way; /* way: the factor, less than 0 on the way back */
  bool add;
} row;

RS_INLINE void turn_halves(const row *r) {
  for (size_t j = 0; j < r->pairs; j += WIDTH) {
    size_t left = r->pairs - j;
    vec c = load_first(r->cosine + r->entry + j, left) * r->factor;
    vec s = load_first(r->sine + r->entry + j, left) * r->way;
    vec a = load_first(r->x + j, left), b = load_first(r->x + r->pairs + j, left);
    put(r->y + j, fused(a, c, -(b * s)), left, r->add);
    put(r->y + r->pairs + j, fused(a, s, b * c), left, r->add);
  }
}

RS_INLINE void turn_neighbours(const row *r) {
  for (size_t j = 0; j < r->pairs; j += WIDTH) {
    size_t left = r->pairs - j, numbers = 2 * left, behind = numbers > WIDTH ? numbers - WIDTH : 0;
    vec c = load_first(r->cosine + r->entry + j, left) * r->factor, a;
    vec s = load_first(r->sine + r->entry + j, left) * r->way, b;
    vec first = load_first(r->x + 2 * j, numbers), second = load_first(r->x + 2 * j + WIDTH, behind);
    separate(first, second, &a, &b);
    interleave(fused(a, c, -(b * s)), fused(a, s, b * c), &first, &second);
    put(r->y + 2 * j, first, numbers, r->add);
    put(r->y + 2 * j + WIDTH, second, behind, r->add);
  }
}

RS_INLINE void carry_rest(const row *r) {
  for (size_t i = 2 * r->pairs; i < r->width; i += WIDTH)
    put(r->y + i, load_first(r->x + i, r->width - i) * r->factor, r->width - i, r->add);
}

/* Rows of one head lie far apart and come from the second cache: asked for some rows before they are carried, attention
 * of 256 tokens takes a twentieth less time. Nothing is read there, so it may lie past the end. */
RS_INLINE void prefetch(const real *from, size_t step, size_t width, bool written) {
  enum { AHEAD = 6, LINE = 64 };
  uintptr_t place = (uintptr_t)from + AHEAD * step * sizeof(real);
  for (uintptr_t i = 0; i < width * sizeof(real); i += LINE)
    written ? __builtin_prefetch((const void *)(place + i), 1) : __builtin_prefetch((const void *)(place + i));
}

/* What is constant where this is inlined costs no branch in a row. */
RS_INLINE void carry(const rs_row_turn *turn, const real *x, size_t x_step, real *y, size_t y_step, bool interleaved,
                     bool add) {
  const real *factor = turn->factor;
  const real sign = turn->back ? -1 : 1;
  row r = {turn->cosine, turn->sine, 0, x, y, turn->pairs, turn->width, all(1), all(sign), add};
  for (size_t i = 0, rows = turn->rows; i < rows; i++) {
    if (factor != NULL) {
      r.factor = all(factor[i]);
      r.way = all(sign * factor[i]);
    }
    prefetch(r.x, x_step, r.width, false);
    prefetch(r.y, y_step, r.width, true);
    if (interleaved)
      turn_neighbours(&r);
    else
      turn_halves(&r);
    carry_rest(&r);
    r.entry += r.pairs;
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
