/* Tasks: their random numbers, their kinds by name, and arrays for their sequences. */
#include "tasks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- random numbers ---------------------------------------------------------------------------------------------- */

rs_dice rs_dice_sequence(uint64_t seed, rs_split split, uint64_t index) {
  rs_purpose purpose = split == RS_SPLIT_TRAINING ? RS_PURPOSE_TRAINING : RS_PURPOSE_EVALUATION;
  /* The index stands in the stream's head and, above 2^32, in the high half of its elements. */
  return (rs_dice){.stream = {seed, purpose, (uint32_t)index}, .next = index >> 32 << 32};
}

rs_dice rs_dice_rules(uint64_t number) {
  return (rs_dice){.stream = {number, RS_PURPOSE_RULES, 0}};
}

double rs_dice_uniform(rs_dice *dice) {
  uint64_t index = dice->next++;
  if (index % 4 == 0) rs_uniform_block(dice->stream, index / 4, dice->block);
  return dice->block[index % 4];
}

size_t rs_dice_below(rs_dice *dice, size_t range) {
  return (size_t)(rs_dice_uniform(dice) * (double)range);
}

bool rs_dice_falls(rs_dice *dice, double chance) {
  return rs_dice_uniform(dice) < chance;
}

/* Floyd's choice (Bentley and Floyd, CACM 30, 1987): `last` joins where what was drawn is there already. Each goes to
 * a random place among those before. */
void rs_dice_sample(rs_dice *dice, size_t count, size_t range, int32_t *out) {
  for (size_t i = 0; i < count; i++) {
    size_t last = range - count + i;
    int32_t chosen = (int32_t)rs_dice_below(dice, last + 1);
    for (size_t k = 0; k < i; k++)
      if (out[k] == chosen) chosen = (int32_t)last;
    size_t place = rs_dice_below(dice, i + 1);
    out[i] = out[place];
    out[place] = chosen;
  }
}

float rs_depth(size_t position, size_t length) {
  return length > 1 ? (float)((double)position / (double)(length - 1)) : 0;
}

void rs_example_blank(rs_example *example, size_t length) {
  for (size_t t = 0; t < length; t++) {
    example->targets[t] = RS_NO_TARGET;
    example->parts[t] = 0;
    example->depths[t] = NAN;
    rs_example_seek(example, t, RS_NO_NEEDLE);
  }
}

void rs_example_seek(const rs_example *example, size_t token, size_t holder) {
  if (example->sought != NULL) example->sought[token] = holder;
}

double rs_no_loss(const void *state, size_t length) {
  (void)state;
  (void)length;
  return 0;
}

/* ---- kinds ------------------------------------------------------------------------------------------------------- */

#define ENTRY(name) &rs_task_##name,
static const rs_task_kind *const kinds[] = {RS_TASKS(ENTRY)};

const rs_task_kind *const *rs_task_kinds(size_t *count) {
  *count = RS_COUNT(kinds);
  return kinds;
}

const rs_task_kind *rs_task_find(const char *name) {
  for (size_t i = 0; i < RS_COUNT(kinds); i++)
    if (strcmp(kinds[i]->kind.name, name) == 0) return kinds[i];
  return NULL;
}

unsigned rs_task_needles(const rs_task_kind *kind) {
  return kind->probes != 0 ? kind->probes : ~0u;
}

rs_status rs_task_prepare(const rs_task_kind *kind, const rs_task_in *in, rs_task *task, rs_err *err) {
  *task = (rs_task){.kind = kind, .state = rs_alloc(1, kind->state_size, err)};
  rs_status status = task->state != NULL ? kind->prepare(in, task->state, err) : RS_MEMORY;
  if (status != RS_OK) rs_task_clear(task);
  return status;
}

void rs_task_clear(rs_task *task) {
  if (task->state != NULL && task->kind->release != NULL) task->kind->release(task->state);
  free(task->state);
  *task = (rs_task){0};
}

/* ---- sequences --------------------------------------------------------------------------------------------------- */

size_t rs_example_count(const rs_example_shape *shape, size_t wanted) {
  return shape->evaluations > 0 && shape->evaluations < wanted ? shape->evaluations : wanted;
}

rs_status rs_task_shape(const rs_task *task, size_t length, rs_example_shape *shape, rs_err *err) {
  rs_example_shape longest;
  RS_TRY(task->kind->shape(task->state, length, shape, err));
  if (task->same.longest == 0) return RS_OK;
  RS_TRY(task->kind->shape(task->state, task->same.longest, &longest, err));
  shape->evaluations = longest.evaluations;
  return RS_OK;
}

static void take_example(rs_arena *arena, size_t tokens, rs_example *example) {
  example->tokens = rs_arena_take(arena, tokens, sizeof *example->tokens);
  example->targets = rs_arena_take(arena, tokens, sizeof *example->targets);
  example->parts = rs_arena_take(arena, tokens, sizeof *example->parts);
  example->depths = rs_arena_take(arena, tokens, sizeof *example->depths);
  example->sought = rs_arena_take(arena, tokens, sizeof *example->sought);
}

rs_status rs_examples_make(const rs_task *task, const rs_shape *model, size_t length, size_t sequences,
                           rs_examples *examples, rs_err *err) {
  rs_example_shape shape;
  *examples = (rs_examples){0};
  RS_TRY(rs_task_shape(task, length, &shape, err));
  bool vision = task->kind->form == RS_VISION;
  size_t tokens = sequences * shape.length;
  *examples = (rs_examples){
      .task = task, .shape = shape, .sequences = sequences, .answers = rs_shape_answers(model, shape.length)};
  rs_arena *arena = &examples->arena;
  if (vision)
    examples->patches = rs_arena_take(arena, tokens * shape.patch_numbers, sizeof *examples->patches);
  else
    examples->tokens = rs_arena_take(arena, tokens, sizeof *examples->tokens);
  if (shape.source_length > 0)
    examples->source = rs_arena_take(arena, sequences * shape.source_length, sizeof *examples->source);
  examples->targets = rs_arena_take(arena, tokens, sizeof *examples->targets);
  examples->parts = rs_arena_take(arena, tokens, sizeof *examples->parts);
  examples->depths = rs_arena_take(arena, tokens, sizeof *examples->depths);
  if (task->same.longest > 0) take_example(arena, sequences * task->same.longest, &examples->drawn);
  rs_status status = rs_arena_check(arena, err);
  if (status != RS_OK) rs_examples_clear(examples);
  return status;
}

void rs_examples_clear(rs_examples *examples) {
  rs_arena_clear(&examples->arena);
  *examples = (rs_examples){0};
}

/* The last L of `longest` tokens that were drawn, and of their targets the last. A first token that is kept stands in
 * the place of the token there. */
static void crop(const rs_task *task, const rs_example *drawn, size_t length, const rs_example *example) {
  size_t cut = task->same.longest - length, scored = length - task->same.tokens;
  bool first = task->kind->crop == RS_CROP_BEHIND_FIRST;
  for (size_t t = 0; t < length; t++) {
    size_t holder = drawn->sought[cut + t];
    bool there = holder != RS_NO_NEEDLE && holder >= cut + (first && cut > 0);
    example->tokens[t] = drawn->tokens[t == 0 && first ? 0 : cut + t];
    example->targets[t] = t >= scored ? drawn->targets[cut + t] : RS_NO_TARGET;
    example->parts[t] = drawn->parts[cut + t];
    example->depths[t] = drawn->depths[cut + t];
    rs_example_seek(example, t, there ? holder - cut : RS_NO_NEEDLE);
  }
}

/* Draws the longest sequence into its place and crops it. */
static void draw_cropped(const rs_examples *examples, uint64_t index, size_t place, const rs_example *example) {
  const rs_task *task = examples->task;
  size_t start = place * task->same.longest;
  const rs_example *all = &examples->drawn;
  rs_example one = {.tokens = all->tokens + start,
                    .targets = all->targets + start,
                    .parts = all->parts + start,
                    .depths = all->depths + start,
                    .sought = all->sought + start};
  task->kind->draw(task->state, RS_SPLIT_EVALUATION, index, task->same.longest, &one);
  crop(task, &one, examples->shape.length, example);
}

void rs_examples_draw(const rs_examples *examples, rs_split split, uint64_t index, size_t place) {
  const rs_example_shape *shape = &examples->shape;
  size_t start = place * shape->length;
  rs_example one = {.tokens = examples->tokens != NULL ? examples->tokens + start : NULL,
                    .source = examples->source != NULL ? examples->source + place * shape->source_length : NULL,
                    .patches = examples->patches != NULL ? examples->patches + start * shape->patch_numbers : NULL,
                    .targets = examples->targets + start,
                    .parts = examples->parts + start,
                    .depths = examples->depths + start,
                    .sought = examples->sought != NULL ? examples->sought + start : NULL};
  if (split == RS_SPLIT_EVALUATION && examples->task->same.longest > 0)
    draw_cropped(examples, index, place, &one);
  else
    examples->task->kind->draw(examples->task->state, split, index, shape->length, &one);
}

rs_batch rs_examples_batch(const rs_examples *examples, size_t first, size_t count, int32_t *targets) {
  const rs_example_shape *shape = &examples->shape;
  size_t start = first * shape->length, answers = examples->answers;
  for (size_t s = 0; s < count; s++)
    for (size_t i = 0; i < answers; i++) targets[s * answers + i] = examples->targets[start + s * shape->length + i];
  return (rs_batch){.sequences = count,
                    .tokens = examples->tokens != NULL ? examples->tokens + start : NULL,
                    .source = examples->source != NULL ? examples->source + first * shape->source_length : NULL,
                    .patches = examples->patches != NULL ? examples->patches + start * shape->patch_numbers : NULL,
                    .targets = targets};
}

static rs_status fit(const rs_task_kind *kind, const rs_example_shape *wanted, const rs_shape *shape, rs_err *err) {
  const char *task = kind->kind.name;
  if (kind->form != shape->form)
    return rs_fail(err, RS_INPUT, "the task %s is for a model of the form %s; this one is %s", task,
                   rs_form_words[kind->form], rs_form_words[shape->form]);
  if (kind->form == RS_ENCODER && shape->pool == RS_POOL_MEAN && !kind->single)
    return rs_fail(err, RS_INPUT, "the task %s asks at each token; this model says one class a sequence", task);
  if (wanted->vocabulary > shape->vocabulary && wanted->file != NULL)
    return rs_fail(err, RS_INPUT, "%s: token %zu (from 0) is %zu, the model knows %zu", wanted->file, wanted->largest,
                   wanted->vocabulary - 1, shape->vocabulary);
  if (wanted->vocabulary > shape->vocabulary)
    return rs_fail(err, RS_INPUT, "the task %s has %zu tokens, the model knows %zu", task, wanted->vocabulary,
                   shape->vocabulary);
  if (wanted->classes > shape->classes)
    return rs_fail(err, RS_INPUT, "the task %s has %zu classes, the model says %zu", task, wanted->classes,
                   shape->classes);
  if (wanted->patch_numbers != shape->patch_numbers)
    return rs_fail(err, RS_INPUT, "the task %s has patches of %zu numbers, the model reads %zu", task,
                   wanted->patch_numbers, shape->patch_numbers);
  return RS_OK;
}

rs_status rs_examples_fit(const rs_examples *examples, const rs_shape *shape, rs_err *err) {
  return fit(examples->task->kind, &examples->shape, shape, err);
}

rs_status rs_task_layout(const rs_example_shape *shape, size_t lead, rs_token_layout *layout, size_t *tokens,
                         rs_err *err) {
  *layout = (rs_token_layout){0};
  *tokens = shape->length;
  if (shape->patch_numbers == 0) return RS_OK;
  *tokens += lead;
  layout->runs = rs_alloc(2, sizeof *layout->runs, err);
  if (layout->runs == NULL) return RS_MEMORY;
  if (lead > 0) layout->runs[layout->count++] = (rs_token_run){.modality = RS_TEXT, .tokens = lead};
  layout->runs[layout->count++] = (rs_token_run){.modality = shape->frames > 1 ? RS_VIDEO : RS_IMAGE,
                                                 .tokens = shape->length,
                                                 .frames = shape->frames,
                                                 .rows = shape->rows,
                                                 .columns = shape->columns,
                                                 .seconds_per_frame = 1,
                                                 .ids_per_second = 1};
  return RS_OK;
}

rs_status rs_context_of_task(const rs_transformer *transformer, const rs_recipe *recipes, const rs_task *task,
                             size_t length, rs_context **context, rs_err *err) {
  rs_example_shape shape;
  rs_token_layout layout;
  size_t tokens;
  *context = NULL;
  RS_TRY(rs_task_shape(task, length, &shape, err));
  RS_TRY(fit(task->kind, &shape, &transformer->shape, err));
  RS_TRY(rs_task_layout(&shape, rs_shape_lead(&transformer->shape), &layout, &tokens, err));
  rs_status status = rs_context_create(transformer, recipes, tokens, shape.source_length, &layout, context, err);
  rs_token_layout_clear(&layout);
  return status;
}
