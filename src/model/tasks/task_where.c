/* Shapes in a picture: which is leftmost and which topmost. */
#include "model/tasks.h"

typedef struct params {
  rs_scene_params scene;
} params;

static rs_status prepare(const rs_task_in *in, void *state, rs_err *err) {
  return rs_scenes_prepare(&((const params *)in->params)->scene, 0, in->seed, state, err);
}

static const rs_param specs[] = {RS_SCENE_SPECS(params, scene)};

const rs_task_kind rs_task_where = {
    .kind = {.name = "where",
             .summary = "shapes in a square picture: which of them is leftmost, and which topmost",
             .reference = "relative places of objects, as CLEVR asks for (Johnson et al., arXiv:1612.06890, section 3)",
             .version = 1,
             RS_KIND(specs, params)},
    .form = RS_VISION,
    .parts = {"place"},
    .state_size = sizeof(rs_scene_state),
    .prepare = prepare,
    .release = rs_scenes_release,
    .shape = rs_scenes_shape,
    .draw = rs_scenes_draw,
    .chance = rs_scenes_chance,
    .best_loss = rs_no_loss,
    .digits = rs_scenes_digits,
};
