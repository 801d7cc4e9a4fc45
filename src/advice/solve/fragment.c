/* Fragments of config.json: the recipe that says a candidate in a file's words, and that turns pairs as it does. */
#include "task.h"

#include <math.h>
#include <string.h>

/* Whether the model's class reads a rope type as this method. */
static bool has_rope_type(const rs_model *model, const char *method) {
  for (size_t t = 0; t < RS_HF_ROPE_TYPES; t++) {
    const char *type = rs_hf_rope_types[t].type;
    if (strcmp(rs_hf_rope_types[t].method, method) == 0 && strcmp(rs_hf_rope_type_read(model->name, type), type) == 0)
      return true;
  }
  return false;
}

/* NTK-by-parts is YaRN without its temperature. */
static rs_status say_by_parts(const rs_ranking *ranking, const rs_recipe *recipe, rs_recipe *said, rs_err *err) {
  RS_TRY(rs_recipe_init(said, rs_method_find("yarn"), err));
  rs_status status = rs_recipe_set_number(said, "factor", rs_setting(&recipe->settings, "factor")->number, err);
  if (status == RS_OK) status = rs_recipe_set_number(said, "attention_factor", 1, err);
  if (status == RS_OK) status = rs_recipe_resolve(said, ranking->model, err);
  if (status == RS_OK) status = rs_recipe_check(said, ranking->model, err);
  if (status != RS_OK) rs_recipe_clear(said);
  return status;
}

/* Keeps what is said where it turns pairs as the recipe does, at the length and at the trained one. */
static rs_status keep_same(const rs_ranking *ranking, size_t length, rs_candidate *c, rs_err *err) {
  const size_t lengths[] = {length, (size_t)ranking->train_length};
  RS_OWNED(rs_model) model = {0};
  RS_TRY(rs_model_copy(&model, ranking->model, err));
  model.rope_theta = c->theta;
  rs_status status = RS_OK;
  for (size_t i = 0; i < RS_COUNT(lengths) && status == RS_OK && c->said.method != NULL; i++) {
    RS_OWNED(rs_spectrum) recipe = {0}, said = {0};
    status = rs_spectrum_make(&c->recipe, ranking->model, lengths[i], &recipe, err);
    if (status == RS_OK) status = rs_spectrum_make(&c->said, &model, lengths[i], &said, err);
    if (status == RS_OK && rs_spectrum_compare(&recipe, &said, 1e-9).differs != 0) rs_recipe_clear(&c->said);
  }
  return status;
}

rs_status rs_solve_say(const rs_ranking *ranking, size_t length, rs_candidate *c, rs_err *err) {
  RS_OWNED(rs_spectrum) spectrum = {0};
  const rs_method *method = c->recipe.method;
  c->theta = ranking->model->rope_theta;
  if (method->pos->prepare != NULL && !method->pos->scaled) return RS_OK;
  /* YaRN whose s follows the length has none. */
  bool typed = strcmp(method->name, "yarn") != 0 || rs_setting(&c->recipe.settings, "factor")->given;
  if (typed && has_rope_type(ranking->model, method->name)) return rs_recipe_copy(&c->said, &c->recipe, err);
  if (strcmp(method->name, "ntk_by_parts") == 0 && has_rope_type(ranking->model, "yarn")) {
    RS_TRY(say_by_parts(ranking, &c->recipe, &c->said, err));
    return keep_same(ranking, length, c, err);
  }
  RS_TRY(rs_spectrum_make(&c->recipe, ranking->model, length, &spectrum, err));
  double base = rs_spectrum_base(&spectrum);
  if (isnan(base)) return RS_OK;
  c->theta = base;
  RS_TRY(rs_solve_plain(ranking->model, base, &c->said, err));
  return keep_same(ranking, length, c, err);
}
