/* Scenes that `where` and `film` share: shapes on a grid of patches, no two in one column, row or frame. Which of them
 * stands first along each axis is asked for; the patches are small images, the same wherever they stand. */
#ifndef ROPESCOPE_MODEL_SCENES_H
#define ROPESCOPE_MODEL_SCENES_H

#include "tasks.h"

enum { RS_MOST_SHAPES = 4, RS_MOST_PATCH_SIDE = 16 };

typedef struct rs_scene_params {
  size_t shapes, patch_side;
  double noise;
} rs_scene_params;

typedef struct rs_scene_state {
  rs_scene_params params;
  uint64_t seed;
  size_t side;     /* rows and columns of a frame; 0: one frame, a square of all patches */
  float *stencils; /* (shapes, patch_side, patch_side) 0 or 1, owned */
} rs_scene_state;

/* The specs of `block`, the rs_scene_params within `structure`. */
#define RS_SCENE_SPECS(structure, block)                                                                               \
  {RS_FIELD_IN(structure, block, shapes),                                                                              \
   .unit = "1",                                                                                                        \
   .min = 2,                                                                                                           \
   .max = RS_MOST_SHAPES,                                                                                              \
   .fallback = "2",                                                                                                    \
   .summary = "shapes in a scene: upright, level, cross, frame, in this order"},                                       \
      {RS_FIELD_IN(structure, block, patch_side),                                                                      \
       .unit = "1",                                                                                                    \
       .min = 3,                                                                                                       \
       .max = RS_MOST_PATCH_SIDE,                                                                                      \
       .fallback = "4",                                                                                                \
       .summary = "rows and columns of a patch, numbers"},                                                             \
  {                                                                                                                    \
    RS_FIELD_IN(structure, block, noise),                                                                              \
        .unit = "1", .min = 0, .max = 0.49, .fallback = "0.25",                                                        \
        .summary = "every number of a patch is off by up to this; shapes are 1 on 0, so none can be mistaken"          \
  }

rs_status rs_scenes_prepare(const rs_scene_params *params, size_t side, uint64_t seed, rs_scene_state *state,
                            rs_err *err);
void rs_scenes_release(void *state);

/* Members of a task whose state is an rs_scene_state. */
rs_status rs_scenes_shape(const void *state, size_t length, rs_example_shape *shape, rs_err *err);
void rs_scenes_draw(const void *state, rs_split split, uint64_t index, size_t length, rs_example *example);
double rs_scenes_chance(const void *state, size_t part);
void rs_scenes_digits(const void *state, size_t *base, size_t *count);

#endif
