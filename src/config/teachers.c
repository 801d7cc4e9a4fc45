/* Teachers: the checkpoints that distillation tokens learn from (DeiT, arXiv:2012.12877), by the names that entries of
 * the key `checkpoint` give them. */
#include "checkpoints.h"

#include <stdlib.h>
#include <string.h>

/* An entry's models, and where it names their teacher. */
typedef struct pupils {
  rs_config_context *config;
  const rs_node *entry, *node; /* the latter NULL: it names none */
  size_t begin, end;           /* of the experiment's models */
} pupils;

/* The model of a name; RS_NO_COUNT, and reported, where there is none. */
static size_t find(const pupils *p, const char *name) {
  const rs_experiment *experiment = p->config->experiment;
  rs_nearest nearest = {.word = name};
  for (size_t i = 0; i < experiment->model_count; i++) {
    if (strcmp(experiment->models[i].name, name) == 0) return i;
    rs_nearest_add(&nearest, experiment->models[i].name);
  }
  const char *near = rs_nearest_found(&nearest);
  if (near != NULL)
    rs_problem(p->config->problems, p->node, "is no checkpoint of this config (did you mean %s?)", near);
  else
    rs_problem(p->config->problems, p->node, "is no checkpoint of this config (give it the name of another)");
  return RS_NO_COUNT;
}

/* Whether a training of it has two heads. */
static bool distills(const rs_checkpoint *checkpoint) {
  return checkpoint->shape.prediction != RS_PREDICTS_CLASS && (checkpoint->folder == NULL || checkpoint->tuned);
}

/* A folder's model has classes and patches of its own. */
static void check_folder(const pupils *p, const rs_checkpoint *teacher, const rs_checkpoint *pupil) {
  const rs_task *task = &p->config->task;
  const rs_shape *shape = &teacher->shape;
  rs_example_shape example;
  size_t length = pupil->tuned ? pupil->tuning.length : pupil->training.length;
  if (teacher->folder == NULL || task->kind->shape(task->state, length, &example, NULL) != RS_OK) return;
  if (shape->classes != example.classes || shape->patch_numbers != example.patch_numbers)
    rs_problem(p->config->problems, p->node,
               "says %zu classes of patches of %zu numbers: the task has %zu classes and patches of %zu",
               shape->classes, shape->patch_numbers, example.classes, example.patch_numbers);
}

static void teach(const pupils *p, size_t teacher) {
  rs_experiment *experiment = p->config->experiment;
  for (size_t i = p->begin; i < p->end; i++) {
    rs_checkpoint *pupil = &experiment->checkpoints[i];
    if (i == teacher) {
      rs_problem(p->config->problems, p->node, "is the checkpoint itself: another one must teach it");
      return;
    }
    if (!distills(pupil)) {
      rs_problem(p->config->problems, p->node, "has nobody to teach: %s has no distillation token that is trained %s",
                 experiment->models[i].name, pupil->folder != NULL ? "(tune trains it)" : "(distilled: paper, or hf)");
      return;
    }
    check_folder(p, &experiment->checkpoints[teacher], pupil);
    pupil->taught = true;
    pupil->teacher = teacher;
  }
}

static void settle(const pupils *p) {
  const rs_experiment *experiment = p->config->experiment;
  const char *name = p->node != NULL ? rs_read_word(p->config->problems, p->node) : NULL;
  const rs_node *distilled = rs_node_get(p->entry, "distilled");
  size_t teacher = name != NULL ? find(p, name) : RS_NO_COUNT;
  if (teacher != RS_NO_COUNT) teach(p, teacher);
  for (size_t i = p->begin; i < p->end && p->node == NULL; i++) {
    if (!distills(&experiment->checkpoints[i])) continue;
    rs_problem(p->config->problems, distilled != NULL ? distilled : p->entry,
               "has a token that learns what a teacher says, and no teacher (teacher: the name of another checkpoint)");
    return;
  }
}

/* Whether the teachers from this model on lead back to it. */
static bool circles(const rs_experiment *experiment, size_t model) {
  size_t next = model;
  for (size_t i = 0; i < experiment->model_count && experiment->checkpoints[next].taught; i++) {
    next = experiment->checkpoints[next].teacher;
    if (next == model) return true;
  }
  return false;
}

void rs_settle_teachers(rs_config_context *config, const rs_node *node, const size_t *ends) {
  size_t before = config->problems->count, count = node->kind == RS_SEQUENCE ? node->count : 1;
  for (size_t i = 0; i < count; i++) {
    const rs_node *entry = rs_entry_at(node, i);
    const pupils p = {config, entry, rs_node_get(entry, "teacher"), i > 0 ? ends[i - 1] : 0, ends[i]};
    settle(&p);
  }
  for (size_t i = 0, model = 0; i < count && config->problems->count == before; i++)
    for (; model < ends[i]; model++) {
      if (!circles(config->experiment, model)) continue;
      rs_problem(config->problems, rs_node_get(rs_entry_at(node, i), "teacher"),
                 "is taught by this one, itself or through others: one of them must learn from the task alone");
      return;
    }
}
