/* The random numbers of tasks, and a sequence that asks for nothing yet. */
#include "tasks.h"

#include <math.h>

rs_dice rs_dice_sequence(uint64_t seed, rs_split split, uint64_t index) {
  rs_purpose purpose = split == RS_SPLIT_TRAINING ? RS_PURPOSE_TRAINING : RS_PURPOSE_EVALUATION;
  /* The index stands in the stream's head and, above 2^32, in the high half of its elements. */
  return (rs_dice){{seed, purpose, (uint32_t)index}, index >> 32 << 32};
}

rs_dice rs_dice_rules(uint64_t number) {
  return (rs_dice){{number, RS_PURPOSE_RULES, 0}, 0};
}

double rs_dice_uniform(rs_dice *dice) {
  return rs_uniform(dice->stream, dice->next++);
}

size_t rs_dice_below(rs_dice *dice, size_t range) {
  return (size_t)(rs_dice_uniform(dice) * (double)range);
}

bool rs_dice_falls(rs_dice *dice, double chance) {
  return rs_dice_uniform(dice) < chance;
}

/* Fisher and Yates, from the inside out (Knuth, TAOCP 2, algorithm 3.4.2 P). */
void rs_dice_order(rs_dice *dice, size_t count, int32_t *out) {
  for (size_t i = 0; i < count; i++) {
    size_t place = rs_dice_below(dice, i + 1);
    out[i] = out[place];
    out[place] = (int32_t)i;
  }
}

void rs_example_blank(rs_example *example, size_t length) {
  for (size_t t = 0; t < length; t++) {
    example->targets[t] = RS_NO_TARGET;
    example->parts[t] = 0;
    example->depths[t] = NAN;
  }
}
