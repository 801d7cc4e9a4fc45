/* Windows of a text of tokens, for tasks that foretell it. Training reads them anywhere in the first part of the text;
 * evaluation reads the rest, window behind window, from its start again when all are read: what it reads does not
 * depend on the seed. */
#ifndef ROPESCOPE_MODEL_WINDOWS_H
#define ROPESCOPE_MODEL_WINDOWS_H

#include "tasks.h"

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

#endif
