/* What a recipe costs at a length, by the terms of metrics/metrics.h. */
#include "task.h"

rs_status rs_solve_costs(const rs_recipe *recipe, const rs_model *model, size_t length, rs_turn_costs *costs,
                         rs_err *err) {
  rs_encoding *encoding;
  RS_TRY(rs_encoding_create(recipe, model, length, NULL, NULL, &encoding, err));
  rs_status status = rs_turn_costs_find(encoding, costs, err);
  rs_encoding_free(encoding);
  return status;
}

rs_status rs_solve_plain(const rs_model *model, double base, rs_recipe *recipe, rs_err *err) {
  RS_TRY(rs_recipe_init(recipe, rs_method_find("rope"), err));
  rs_status status = base > 0 ? rs_recipe_set_number(recipe, "rope_theta", base, err) : RS_OK;
  if (status == RS_OK) status = rs_recipe_resolve(recipe, model, err);
  if (status == RS_OK) status = rs_recipe_check(recipe, model, err);
  if (status != RS_OK) rs_recipe_clear(recipe);
  return status;
}
