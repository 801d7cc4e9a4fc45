/* What tasks share: random numbers, a sequence that asks for nothing yet, and the loss of what can be known. */
#include "tasks.h"

#include <math.h>

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
