/* Scenes, pictures (where) and films (film): shapes on a grid of patches, no two in one column, row or frame. The class
 * says which shape stands leftmost, which topmost and, where there are frames, which first: digits to the base of the
 * number of shapes. Places are drawn axis by axis, so that all classes are equally likely. The patches are small
 * images, the same wherever they stand. A longer film has more frames. */
#include "model/tasks.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_SHAPES = 4, MOST_PATCH_SIDE = 16 };

typedef struct params {
  size_t shapes, patch_side;
  double noise;
  size_t side; /* film: rows and columns of a frame, patches */
} params;

typedef struct state {
  params p;
  uint64_t seed;
  size_t side;     /* rows and columns of a frame; 0: one frame, a square of all patches */
  float *stencils; /* (shapes, patch_side, patch_side) 0 or 1, owned */
} state;

/* ---- scenes ------------------------------------------------------------------------------------------------------ */

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

static rs_status prepare(const rs_task_in *in, size_t side, state *s, rs_err *err) {
  *s = (state){.p = *(const params *)in->params, .seed = in->seed, .side = side};
  size_t p = s->p.patch_side;
  float *ink = s->stencils = rs_alloc(s->p.shapes * p * p, sizeof *s->stencils, err);
  if (ink == NULL) return RS_MEMORY;
  for (size_t i = 0; i < s->p.shapes; i++)
    for (size_t row = 0; row < p; row++)
      for (size_t column = 0; column < p; column++) *ink++ = inked((stencil)i, row, column, p);
  return RS_OK;
}

static rs_status prepare_where(const rs_task_in *in, void *memory, rs_err *err) {
  return prepare(in, 0, memory, err);
}

static rs_status prepare_film(const rs_task_in *in, void *memory, rs_err *err) {
  return prepare(in, ((const params *)in->params)->side, memory, err);
}

static void release(void *memory) {
  free(((state *)memory)->stencils);
}

static size_t axes_of(const state *s) {
  return s->side > 0 ? AXES : FRAME;
}

static size_t class_count(const state *s) {
  size_t classes = 1;
  for (size_t axis = 0; axis < axes_of(s); axis++) classes *= s->p.shapes;
  return classes;
}

/* Rounded down: a square root is the nearest double, which below 2^52 is never a whole number above it. */
static size_t square_root(size_t number) {
  return (size_t)sqrt((double)number);
}

/* The grid of `length` patches. */
static void find_grid(const state *s, size_t length, size_t grid[AXES]) {
  grid[COLUMN] = grid[ROW] = s->side > 0 ? s->side : square_root(length);
  grid[FRAME] = s->side > 0 ? length / (s->side * s->side) : 1;
}

static rs_status shape(const void *memory, size_t length, rs_example_shape *shape, rs_err *err) {
  const state *s = memory;
  size_t grid[AXES], least = s->p.shapes;
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
                              .patch_numbers = s->p.patch_side * s->p.patch_side,
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

static void draw(const void *memory, rs_split split, uint64_t index, size_t length, rs_example *example) {
  const state *s = memory;
  rs_dice dice = rs_dice_sequence(s->seed, split, index);
  int32_t places[AXES][MOST_SHAPES] = {{0}};
  size_t grid[AXES], class = 0, shapes = s->p.shapes, numbers = s->p.patch_side * s->p.patch_side;
  find_grid(s, length, grid);
  for (size_t axis = 0; axis < axes_of(s); axis++) {
    rs_dice_sample(&dice, shapes, grid[axis], places[axis]);
    class = class * shapes + first_of(places[axis], shapes);
  }
  for (size_t i = 0; i < length * numbers; i++)
    example->patches[i] = (float)(s->p.noise * (2 * rs_dice_uniform(&dice) - 1));
  for (size_t i = 0; i < shapes; i++) {
    size_t row = (size_t)places[FRAME][i] * grid[ROW] + (size_t)places[ROW][i];
    float *patch = example->patches + (row * grid[COLUMN] + (size_t)places[COLUMN][i]) * numbers;
    for (size_t k = 0; k < numbers; k++) patch[k] += s->stencils[i * numbers + k];
  }
  rs_example_blank(example, length);
  example->targets[0] = (int32_t) class;
}

static double chance(const void *memory, size_t part) {
  (void)part;
  return 1 / (double)class_count(memory);
}

static void digits(const void *memory, size_t *base, size_t *count) {
  *base = ((const state *)memory)->p.shapes;
  *count = axes_of(memory);
}

static rs_status check_film(const rs_binding *binding, rs_err *err) {
  const params *p = binding->fields;
  if (p->side >= p->shapes) return RS_OK;
  return rs_binding_fail(binding, offsetof(params, side), err, "must be at least shapes = %zu, each in its own column",
                         p->shapes);
}

/* `where` has all but the last. */
static const rs_param specs[] = {
    {RS_FIELD(params, shapes), .unit = "1", .min = 2, .max = MOST_SHAPES, .fallback = "2",
     .summary = "shapes in a scene: upright, level, cross, frame, in this order"},
    {RS_FIELD(params, patch_side), .unit = "1", .min = 3, .max = MOST_PATCH_SIDE, .fallback = "4",
     .summary = "rows and columns of a patch, numbers"},
    {RS_FIELD(params, noise), .unit = "1", .min = 0, .max = 0.49, .fallback = "0.25",
     .summary = "every number of a patch is off by up to this; shapes are 1 on 0, so none can be mistaken"},
    {RS_FIELD(params, side), .unit = "1", .min = 2, .max = 256, .fallback = "4",
     .summary = "rows and columns of a frame, patches"},
};

#define MEMBERS                                                                                                        \
  .form = RS_VISION, .parts = {"place"}, .state_size = sizeof(state), .release = release, .shape = shape,              \
  .draw = draw, .chance = chance, .best_loss = rs_no_loss, .digits = digits

const rs_task_kind rs_task_where = {
    .kind = {.name = "where",
             .summary = "shapes in a square picture: which of them is leftmost, and which topmost",
             .reference = "relative places of objects, as CLEVR asks for (Johnson et al., arXiv:1612.06890, section 3)",
             .params = specs,
             .param_count = RS_COUNT(specs) - 1,
             .params_size = sizeof(params)},
    .prepare = prepare_where,
    MEMBERS,
};

const rs_task_kind rs_task_film = {
    .kind = {.name = "film",
             .summary = "shapes in a film: which of them is leftmost, which topmost, and which is seen first",
             .reference = "`where`, with time as the third axis",
             RS_KIND(specs, params)},
    .check = check_film,
    .prepare = prepare_film,
    MEMBERS,
};
