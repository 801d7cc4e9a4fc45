/* Shapes in a film: which is leftmost, which topmost, and which is seen first. A longer film has more frames. */
#include "model/tasks.h"

typedef struct params {
  rs_scene_params scene;
  size_t side;
} params;

static rs_status check(const rs_binding *binding, rs_err *err) {
  const params *p = binding->fields;
  if (p->side >= p->scene.shapes) return RS_OK;
  return rs_binding_fail(binding, offsetof(params, side), err, "must be at least shapes = %zu, each in its own column",
                         p->scene.shapes);
}

static rs_status prepare(const rs_task_in *in, void *state, rs_err *err) {
  const params *p = in->params;
  return rs_scenes_prepare(&p->scene, p->side, in->seed, state, err);
}

static const rs_param specs[] = {
    RS_SCENE_SPECS(params, scene),
    {RS_FIELD(params, side), .unit = "1", .min = 2, .max = 256, .fallback = "4",
     .summary = "rows and columns of a frame, patches"},
};

const rs_task_kind rs_task_film = {
    .kind = {.name = "film",
             .summary = "shapes in a film: which of them is leftmost, which topmost, and which is seen first",
             .reference = "`where`, with time as the third axis",
             .version = 1,
             RS_KIND(specs, params)},
    .form = RS_VISION,
    .check = check,
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
