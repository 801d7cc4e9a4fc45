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

void NET(turn_rows)(const rs_row_turn *turn, const void *x, size_t x_step, void *y, size_t y_step) {
  const real *factor = turn->factor;
  for (size_t i = 0; i < turn->rows; i++) {
    real scale = factor != NULL ? factor[i] : 1;
    row r = {.cosine = (const real *)turn->cosine + i * turn->pairs,
             .sine = (const real *)turn->sine + i * turn->pairs,
             .x = (const real *)x + i * x_step,
             .y = (real *)y + i * y_step,
             .pairs = turn->pairs,
             .width = turn->width,
             .factor = all(scale),
             .way = all(turn->back ? -scale : scale),
             .add = turn->add};
    if (turn->interleaved)
      turn_neighbours(&r);
    else
      turn_halves(&r);
    carry_rest(&r);
  }
}
