#include "config_internal.h"

#include <stdlib.h>

bool rs_choices_add(rs_choices *choices, size_t values) {
  if (RS_GROW(choices->counts, &choices->room, choices->count + 1, NULL) != RS_OK) return false;
  choices->counts[choices->count++] = values;
  return true;
}

void rs_choices_clear(rs_choices *choices) {
  free(choices->counts);
  *choices = (rs_choices){0};
}

void rs_choices_zip(rs_problems *problems, const rs_node *entry, rs_choices *choices) {
  static const rs_param param = {.name = "zip", .type = RS_BOOL};
  const rs_node *node = rs_node_get(entry, "zip");
  rs_value value;
  size_t common = 0;
  if (node == NULL || !rs_read_value(problems, node, &param, &value)) return;
  choices->zipped = value.number == 1;
  for (size_t i = 0; i < choices->count && choices->zipped; i++) {
    if (choices->counts[i] == 1) continue;
    if (common > 0 && choices->counts[i] != common)
      rs_problem(problems, node, "its lists have %zu and %zu values; zipped lists advance together", common,
                 choices->counts[i]);
    common = choices->counts[i];
  }
}

size_t rs_choices_combinations(const rs_choices *choices, size_t most) {
  size_t product = 1, longest = 1;
  for (size_t i = 0; i < choices->count; i++) {
    product = choices->counts[i] > 0 && product <= most ? product * choices->counts[i] : product;
    if (choices->counts[i] > longest) longest = choices->counts[i];
  }
  return choices->zipped ? longest : product;
}

size_t rs_choices_pick(const rs_choices *choices, size_t list, size_t combination) {
  if (choices->zipped) return choices->counts[list] > 1 ? combination : 0;
  for (size_t later = choices->count; later > list + 1; later--) combination /= choices->counts[later - 1];
  return combination % choices->counts[list];
}
