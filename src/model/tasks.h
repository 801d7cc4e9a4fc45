/* Tasks, their random numbers and what several of them share. */
#ifndef ROPESCOPE_MODEL_TASKS_H
#define ROPESCOPE_MODEL_TASKS_H

#include "model/model.h"

/* ---- tasks ----------------------------------------------------------------------------------------------------- */

/* The kinds of tasks (one file each) and the random numbers of their sequences. */

/* The tasks, in the order of `ropescope list`. A task is one file, one line here and its name in meson.build. */
/* clang-format off */
#define RS_TASKS(task) \
  task(dictionary) \
  task(copy) \
  task(reverse) \
  task(flip_flop) \
  task(associative_recall) \
  task(bytes) \
  task(tokens) \
  task(passkey) \
  task(translate) \
  task(where) \
  task(film)
/* clang-format on */

#define RS_DECLARE_TASK(name) extern const rs_task_kind rs_task_##name;
RS_TASKS(RS_DECLARE_TASK)

/* Uniform numbers, one after the other. */
typedef struct rs_dice {
  rs_stream stream;
  uint64_t next;
  double block[4]; /* that holds the next, unless it is the first of one */
} rs_dice;

/* Those of one sequence: two splits share none, nor do two indices. */
rs_dice rs_dice_sequence(uint64_t seed, rs_split split, uint64_t index);

/* Those of what is the same in all sequences, whatever the seed: a checkpoint can be read under any. */
rs_dice rs_dice_rules(uint64_t number);

double rs_dice_uniform(rs_dice *dice);             /* in [0, 1) */
size_t rs_dice_below(rs_dice *dice, size_t range); /* one of 0 .. range - 1; range >= 1 */
bool rs_dice_falls(rs_dice *dice, double chance);  /* true with this probability */

/* `count` different integers of 0 .. range - 1, in random order; count <= range. */
void rs_dice_sample(rs_dice *dice, size_t count, size_t range, int32_t *out);

/* Where token `position` of a sequence stands in it, 0 (first) to 1 (last). */
float rs_depth(size_t position, size_t length);

/* No target at any token. */
void rs_example_blank(rs_example *example, size_t length);

/* What the target at `token` asks for is held by the token `holder`. */
void rs_example_seek(const rs_example *example, size_t token, size_t holder);

/* best_loss where all that evaluation asks for can be known: 0. */
double rs_no_loss(const void *state, size_t length);

/* ---- strings --------------------------------------------------------------------------------------------------- */

/* Strings that are to be said again, which `copy` and `reverse` share: n symbols, a bar, and the answer, symbol by
 * symbol. A model reads the string, the bar and all of the answer but its last symbol: 2 n tokens. */

typedef struct rs_strings {
  size_t symbols;
  size_t shortest; /* of training strings, symbols */
} rs_strings;

typedef struct rs_strings_state {
  rs_strings params;
  uint64_t seed;
} rs_strings_state;

/* Members of a task whose params struct is rs_strings. */
rs_status rs_strings_prepare(const rs_task_in *in, void *state, rs_err *err);
rs_status rs_strings_shape(const void *state, size_t length, rs_example_shape *shape, rs_err *err);
double rs_strings_chance(const void *state, size_t part);

/* One string and its answer, the same way around or backward. */
void rs_strings_draw(const void *state, rs_split split, uint64_t index, size_t length, bool backward,
                     rs_example *example);

/* ---- scenes ---------------------------------------------------------------------------------------------------- */

/* Scenes that `where` and `film` share: shapes on a grid of patches, no two in one column, row or frame. Which of them
 * stands first along each axis is asked for; the patches are small images, the same wherever they stand. */

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

/* ---- windows --------------------------------------------------------------------------------------------------- */

/* Windows of a text of tokens, for tasks that foretell it. Training reads them anywhere in the first part of the text;
 * evaluation reads the rest, window behind window, from its start again when all are read: what it reads does not
 * depend on the seed. */

typedef struct rs_window_params {
  double share, unscored;
  size_t stride; /* RS_NO_COUNT: that of windows side by side */
} rs_window_params;

typedef struct rs_window_state {
  rs_window_params params;
  uint64_t seed;
  rs_token_file text; /* owned */
  char *file;         /* its name, and the first of its largest ids; NULL where ids end with a vocabulary; owned */
  size_t largest;
  size_t trained, held_out, vocabulary;
  double chance;
} rs_window_state;

/* The specs of `block`, the rs_window_params within `structure`. */
#define RS_WINDOW_SPECS(structure, block, share_held_out)                                                              \
  {RS_FIELD_IN(structure, block, share),                                                                               \
   .unit = "1",                                                                                                        \
   .min = 0.001,                                                                                                       \
   .max = 1,                                                                                                           \
   .fallback = share_held_out,                                                                                         \
   .summary = "share of the text, at its end, that is held out for evaluation; 1: there is nothing to train on"},      \
      {RS_FIELD_IN(structure, block, unscored),                                                                        \
       .unit = "1",                                                                                                    \
       .min = 0,                                                                                                       \
       .max = 0.99,                                                                                                    \
       .fallback = "0",                                                                                                \
       .reading = true,                                                                                                \
       .summary = "share of an evaluation sequence, at its start, that is read and not scored"},                       \
  {                                                                                                                    \
    RS_FIELD_IN(structure, block, stride),                                                                             \
        .unit = "tokens", .min = 1, .max = 268435456, .reading = true,                                                 \
        .summary = "from one evaluation sequence to the next, of which all but the first are scored in their last "    \
                   "`stride` tokens alone: sliding-window perplexity (default, and at lengths below it: they stand "   \
                   "side by side)"                                                                                     \
  }

/* RS_INPUT where stride and unscored both say what is scored. */
rs_status rs_windows_check(const rs_window_params *params, rs_err *err);

/* Cuts `state->text`, whose ids are below `state->vocabulary`, in its two parts. RS_INPUT where one is too short; the
 * text stays the caller's then. `file` is its name. */
rs_status rs_windows_prepare(const rs_window_params *params, const char *file, uint64_t seed, rs_window_state *state,
                             rs_err *err);
void rs_windows_release(void *state);

/* Members of a task whose state is an rs_window_state. */
rs_status rs_windows_shape(const void *state, size_t length, rs_example_shape *shape, rs_err *err);
void rs_windows_draw(const void *state, rs_split split, uint64_t index, size_t length, rs_example *example);
double rs_windows_chance(const void *state, size_t part); /* that of the commonest token trained on */

/* ---- examples -------------------------------------------------------------------------------------------------- */

/* Sequences of a task, side by side. */

typedef struct rs_examples {
  const rs_task *task;
  rs_example_shape shape;
  size_t sequences, answers; /* A: targets of a sequence */
  int32_t *tokens, *source;  /* (sequences, L), (sequences, source_length); NULL where there are none */
  float *patches;            /* (sequences, L, patch_numbers) */
  int32_t *targets;          /* (sequences, L), of which the first A of each count */
  uint8_t *parts;            /* (sequences, L) */
  float *depths;             /* (sequences, L) */
  size_t *sought;            /* (sequences, L); NULL unless somebody wants it */
} rs_examples;

/* Room for so many. RS_DOMAIN where the task has no such length. Release with rs_examples_clear. */
rs_status rs_examples_make(const rs_task *task, size_t length, size_t sequences, rs_examples *examples, rs_err *err);
void rs_examples_clear(rs_examples *examples);

/* Draws number `index` of the split into place `place`. Threads may fill different places. */
void rs_examples_draw(const rs_examples *examples, rs_split split, uint64_t index, size_t place);

/* Places [first, first + count) as a batch, whose targets go to `targets` (count, A). */
rs_batch rs_examples_batch(const rs_examples *examples, size_t first, size_t count, int32_t *targets);

/* RS_INPUT where a model of this shape cannot read the task's sequences. */
rs_status rs_examples_fit(const rs_examples *examples, const rs_shape *shape, rs_err *err);

#endif
