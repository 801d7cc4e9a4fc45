/* Models own the recipe they publish. */
#include "ropescope/encoding.h"

void rs_model_clear(rs_model *model) {
  rs_recipe_clear(&model->published);
  *model = (rs_model){0};
}
