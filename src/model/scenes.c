/* Scenes: the class says which shape stands leftmost, which topmost and, where there are frames, which first: digits to
 * the base of the number of shapes. Places are drawn axis by axis, so that all classes are equally likely. */
#include "tasks.h"

#include <math.h>
#include <stdlib.h>

enum { COLUMN, ROW, FRAME, AXES };

typedef enum stencil { UPRIGHT, LEVEL, CROSS, BORDER } stencil;

static bool inked(stencil kind, size_t row, size_t column, size_t side) {
  size_t middle = side / 2;
  switch (kind) {
  case UPRIGHT: return column == middle;
  case LEVEL: return row == middle;
  case CROSS: return row == column || row + column == side - 1;
  case BORDER: return row == 0 || column == 0 || row == side - 1 || column == side - 1;
  }
  return false;
}

rs_status rs_scenes_prepare(const rs_scene_params *params, size_t side, uint64_t seed, rs_scene_state *state,
                            rs_err *err) {
  size_t p = params->patch_side;
  *state = (rs_scene_state){.params = *params, .seed = seed, .side = side};
  float *ink = state->stencils = rs_alloc(params->shapes * p * p, sizeof *state->stencils, err);
  if (ink == NULL) return RS_MEMORY;
  for (size_t i = 0; i < params->shapes; i++)
    for (size_t row = 0; row < p; row++)
      for (size_t column = 0; column < p; column++) *ink++ = inked((stencil)i, row, column, p);
  return RS_OK;
}

void rs_scenes_release(void *state) {
  free(((rs_scene_state *)state)->stencils);
}

static size_t axes_of(const rs_scene_state *s) {
  return s->side > 0 ? AXES : FRAME;
}

static size_t class_count(const rs_scene_state *s) {
  size_t classes = 1;
  for (size_t axis = 0; axis < axes_of(s); axis++) classes *= s->params.shapes;
  return classes;
}

/* Rounded down: a square root is the nearest double, which below 2^52 is never a whole number above it. */
static size_t square_root(size_t number) {
  return (size_t)sqrt((double)number);
}

/* The grid of `length` patches. */
static void find_grid(const rs_scene_state *s, size_t length, size_t grid[AXES]) {
  grid[COLUMN] = grid[ROW] = s->side > 0 ? s->side : square_root(length);
  grid[FRAME] = s->side > 0 ? length / (s->side * s->side) : 1;
}

rs_status rs_scenes_shape(const void *state, size_t length, rs_example_shape *shape, rs_err *err) {
  const rs_scene_state *s = state;
  size_t grid[AXES], least = s->params.shapes;
  find_grid(s, length, grid);
  if (grid[FRAME] * grid[ROW] * grid[COLUMN] != length && s->side > 0)
    return rs_fail(err, RS_DOMAIN, "%zu patches make no frames of %zu x %zu: must be a multiple of %zu", length,
                   s->side, s->side, s->side * s->side);
  if (grid[FRAME] * grid[ROW] * grid[COLUMN] != length)
    return rs_fail(err, RS_DOMAIN, "%zu patches make no square (the nearest below: %zu)", length,
                   grid[ROW] * grid[COLUMN]);
  if (grid[COLUMN] < least || (s->side > 0 && grid[FRAME] < least))
    return rs_fail(err, RS_DOMAIN, "%zu x %zu x %zu patches have no room for %zu shapes, of which no two share a %s",
                   grid[FRAME], grid[ROW], grid[COLUMN], least, grid[COLUMN] < least ? "column" : "frame");
  *shape = (rs_example_shape){.length = length,
                              .classes = class_count(s),
                              .patch_numbers = s->params.patch_side * s->params.patch_side,
                              .frames = grid[FRAME],
                              .rows = grid[ROW],
                              .columns = grid[COLUMN]};
  return RS_OK;
}

static size_t first_of(const int32_t *places, size_t count) {
  size_t first = 0;
  for (size_t i = 1; i < count; i++)
    if (places[i] < places[first]) first = i;
  return first;
}

void rs_scenes_draw(const void *state, rs_split split, uint64_t index, size_t length, rs_example *example) {
  const rs_scene_state *s = state;
  rs_dice dice = rs_dice_sequence(s->seed, split, index);
  int32_t places[AXES][RS_MOST_SHAPES] = {{0}};
  size_t grid[AXES], class = 0, shapes = s->params.shapes, numbers = s->params.patch_side * s->params.patch_side;
  find_grid(s, length, grid);
  for (size_t axis = 0; axis < axes_of(s); axis++) {
    rs_dice_sample(&dice, shapes, grid[axis], places[axis]);
    class = class * shapes + first_of(places[axis], shapes);
  }
  for (size_t i = 0; i < length * numbers; i++)
    example->patches[i] = (float)(s->params.noise * (2 * rs_dice_uniform(&dice) - 1));
  for (size_t i = 0; i < shapes; i++) {
    size_t row = (size_t)places[FRAME][i] * grid[ROW] + (size_t)places[ROW][i];
    float *patch = example->patches + (row * grid[COLUMN] + (size_t)places[COLUMN][i]) * numbers;
    for (size_t k = 0; k < numbers; k++) patch[k] += s->stencils[i * numbers + k];
  }
  rs_example_blank(example, length);
  example->targets[0] = (int32_t) class;
}

double rs_scenes_chance(const void *state, size_t part) {
  (void)part;
  return 1 / (double)class_count(state);
}

void rs_scenes_digits(const void *state, size_t *base, size_t *count) {
  *base = ((const rs_scene_state *)state)->params.shapes;
  *count = axes_of(state);
}
