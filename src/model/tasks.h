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
  task(repeat) \
  task(passkey) \
  task(translate) \
  task(masked) \
  task(order) \
  task(where) \
  task(film) \
  task(pictures)
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

/* ---- texts ----------------------------------------------------------------------------------------------------- */

/* A text as ids of tokens, of which those at its end are held out for evaluation. */
typedef struct rs_task_text {
  rs_token_file ids; /* owned */
  size_t trained, held_out, vocabulary;
  size_t largest; /* index of the first token with the largest id */
  char *file;     /* name of the file whose largest id ends the vocabulary; NULL: the vocabulary was said; owned */
} rs_task_text;

typedef struct rs_task_text_in {
  const char *path;
  rs_id_format numbers;
  size_t vocabulary; /* RS_NO_COUNT: up to the largest id */
  double share;      /* share of the text that is held out; 1: all */
  size_t least;      /* fewest tokens of a part that is not empty */
} rs_task_text_in;

/* Words of the parameter `vocabulary`. */
typedef enum rs_vocabulary_word { RS_VOCABULARY_LARGEST, RS_VOCABULARY_WORDS } rs_vocabulary_word;
extern const char *const rs_vocabulary_words[RS_VOCABULARY_WORDS + 1];

/* The vocabulary that a parameter says; where it has a word instead, 256 for bytes, and RS_NO_COUNT for other ids. */
size_t rs_task_text_vocabulary(const rs_count_or_word *said, bool bytes);

/* RS_INPUT with the parameter `file` as subject where the text is too short, or has ids beyond the vocabulary; RS_IO,
 * RS_MEMORY. Release with rs_task_text_clear, on failure too. */
rs_status rs_task_text_read(const rs_task_text_in *in, rs_task_text *text, rs_err *err);
void rs_task_text_clear(rs_task_text *text);

/* Share of the held-out tokens that equal the commonest token: of the training part where `trained` and there is one,
 * else of the held-out part. */
rs_status rs_task_text_chance(const rs_task_text *text, bool trained, double *chance, rs_err *err);

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
  rs_example drawn;          /* (sequences, longest) before they are cropped; NULL where they are not */
  rs_arena arena;            /* that holds them */
} rs_examples;

/* Arrays for `sequences` sequences, each with as many answers as a model of this shape gives. RS_DOMAIN where the task
 * has no such length. Release with rs_examples_clear. */
rs_status rs_examples_make(const rs_task *task, const rs_shape *model, size_t length, size_t sequences,
                           rs_examples *examples, rs_err *err);
void rs_examples_clear(rs_examples *examples);

/* Draws number `index` of the split into place `place`. Threads may fill different places. */
void rs_examples_draw(const rs_examples *examples, rs_split split, uint64_t index, size_t place);

/* Places [first, first + count) as a batch, whose targets go to `targets` (count, A). */
rs_batch rs_examples_batch(const rs_examples *examples, size_t first, size_t count, int32_t *targets);

/* RS_INPUT where a model of this shape cannot read the task's sequences. */
rs_status rs_examples_fit(const rs_examples *examples, const rs_shape *shape, rs_err *err);

#endif
