/* A string, a bar, and the string from its end. */
#include "model/tasks.h"

static void draw(const void *state, rs_split split, uint64_t index, size_t length, rs_example *example) {
  rs_strings_draw(state, split, index, length, true, example);
}

static const rs_param specs[] = {
    {RS_FIELD(rs_strings, symbols), .unit = "1", .min = 2, .max = 65536, .fallback = "2",
     .summary = "different symbols of a string"},
    {RS_FIELD(rs_strings, shortest), .unit = "tokens", .min = 1, .max = 1 << 24, .fallback = "1",
     .summary =
         "shortest string of training: each length from here to half the tokens is equally likely; in evaluation "
         "all are half the tokens"},
};

const rs_task_kind rs_task_reverse = {
    .kind = {.name = "reverse",
             .summary = "a string, a bar, and the string from its end",
             .reference = "Reverse String of Deletang et al., arXiv:2207.02098; Ruoss et al., arXiv:2305.16843",
             .version = 1,
             RS_KIND(specs, rs_strings)},
    .form = RS_DECODER,
    .parts = {"reversed"},
    .recalled = 1,
    .seeks = true,
    .state_size = sizeof(rs_strings_state),
    .prepare = rs_strings_prepare,
    .shape = rs_strings_shape,
    .draw = draw,
    .chance = rs_strings_chance,
    .best_loss = rs_no_loss,
};
