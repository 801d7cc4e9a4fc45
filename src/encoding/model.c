/* Models own the recipe they publish. */
#include "encoding/encoding.h"

rs_status rs_model_copy(rs_model *copy, const rs_model *from, rs_err *err) {
  *copy = *from;
  copy->published = (rs_recipe){0};
  return rs_recipe_copy(&copy->published, &from->published, err);
}

void rs_model_clear(rs_model *model) {
  rs_recipe_clear(&model->published);
  *model = (rs_model){0};
}

bool rs_model_turns(const rs_model *model) {
  return model != NULL && model->published.method != NULL && model->published.method->freq != NULL;
}
