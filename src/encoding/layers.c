/* Recipes that each layer of a model has for itself: what their stages learn or draw is the layer's own. */
#include "kinds.h"

#include <string.h>

/* *seed as by_layer gives it. */
static bool by_layer(const rs_recipe *recipe, const char **seed) {
  const rs_freq_kind *kind = recipe->method->freq;
  *seed = NULL;
  return kind != NULL && kind->by_layer != NULL && kind->by_layer(&recipe->settings, seed);
}

bool rs_recipe_by_layer(const rs_recipe *recipe) {
  const char *seed;
  return by_layer(recipe, &seed);
}

bool rs_recipe_repeats(const rs_recipe *recipe, const rs_recipe *first) {
  const char *seed;
  bool same = recipe->method == first->method && by_layer(first, &seed);
  for (size_t i = 0; same && i < first->settings.count; i++)
    same = (seed != NULL && strcmp(first->settings.params[i]->name, seed) == 0) ||
           rs_value_same(&recipe->settings.values[i], &first->settings.values[i]);
  return same;
}

rs_status rs_recipe_of_layer(const rs_recipe *first, size_t layer, rs_recipe *recipe, rs_err *err) {
  const char *seed;
  RS_TRY(rs_recipe_copy(recipe, first, err));
  if (!by_layer(first, &seed) || seed == NULL) return RS_OK;
  rs_status status =
      rs_recipe_set_number(recipe, seed, rs_setting(&first->settings, seed)->number + (double)layer, err);
  if (status != RS_OK)
    rs_recipe_clear(recipe);
  else
    recipe->settings.values[rs_settings_find(&recipe->settings, seed)].given = false;
  return status;
}

rs_status rs_recipes_with(const rs_recipe *recipes, size_t count, rs_recipe *changed, rs_err *err) {
  for (size_t r = 1, layer = 1; r < count; r++)
    if (rs_recipe_repeats(&recipes[r], &recipes[0]))
      RS_TRY(rs_recipe_of_layer(&changed[0], layer++, &changed[r], err));
    else
      RS_TRY(rs_recipe_copy(&changed[r], &recipes[r], err));
  return RS_OK;
}
