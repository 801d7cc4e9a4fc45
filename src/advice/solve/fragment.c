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

/* Whether two recipes turn pairs alike, at the length, at the trained one and between. */
static rs_status compare(const rs_recipe *a, const rs_model *x, const rs_recipe *b, const rs_model *y,
                         const size_t lengths[3], bool *same, rs_err *err) {
  *same = true;
  for (size_t i = 0; i < 3 && *same; i++) {
    RS_OWNED(rs_spectrum) left = {0}, right = {0};
    RS_TRY(rs_spectrum_make(a, x, lengths[i], &left, err));
    RS_TRY(rs_spectrum_make(b, y, lengths[i], &right, err));
    *same = rs_spectrum_compare(&left, &right, 1e-12).differs == 0;
  }
  return RS_OK;
}

/* Says plain RoPE at a base where it turns pairs as the recipe does. */
static rs_status say_base(const rs_ranking *ranking, const size_t lengths[3], double base, rs_candidate *c,
                          rs_err *err) {
  RS_OWNED(rs_model) model = {0};
  bool same;
  RS_TRY(rs_model_copy(&model, ranking->model, err));
  model.rope_theta = c->theta = base;
  RS_TRY(rs_solve_plain(&model, base, &c->said, err));
  RS_TRY(compare(&c->recipe, ranking->model, &c->said, &model, lengths, &same, err));
  if (!same) rs_recipe_clear(&c->said);
  return RS_OK;
}

/* A base of ten digits reads better than one that came of a frequency. */
static rs_status say_plainly(const rs_ranking *ranking, const size_t lengths[3], rs_candidate *c, rs_err *err) {
  RS_OWNED(rs_spectrum) spectrum = {0};
  RS_TRY(rs_spectrum_make(&c->recipe, ranking->model, lengths[0], &spectrum, err));
  double base = rs_spectrum_base(&spectrum);
  if (isnan(base)) return RS_OK;
  RS_TRY(say_base(ranking, lengths, rs_ten_digits(base), c, err));
  return c->said.method != NULL ? RS_OK : say_base(ranking, lengths, base, c, err);
}

/* Whether a file publishes these very tables. */
static rs_status find_published(const rs_ranking_in *in, const rs_ranking *ranking, const size_t lengths[3],
                                rs_candidate *c, rs_err *err) {
  RS_OWNED(rs_recipe) published = {0};
  if (in->hf == NULL || ranking->model->published.method == NULL) return RS_OK;
  RS_TRY(rs_recipe_copy(&published, &ranking->model->published, err));
  RS_TRY(rs_recipe_resolve(&published, ranking->model, err));
  RS_TRY(rs_recipe_check(&published, ranking->model, err));
  RS_TRY(compare(&c->recipe, ranking->model, &published, ranking->model, lengths, &c->published, err));
  return c->published ? rs_recipe_copy(&c->said, &published, err) : RS_OK;
}

rs_status rs_solve_say(const rs_ranking_in *in, const rs_ranking *ranking, rs_candidate *c, rs_err *err) {
  const rs_method *method = c->recipe.method;
  size_t trained = (size_t)ranking->train_length;
  const size_t lengths[] = {in->length, trained, trained + (in->length - trained) / 2};
  c->theta = ranking->model->rope_theta;
  if (method->pos->prepare != NULL && !method->pos->scaled) return RS_OK;
  RS_TRY(find_published(in, ranking, lengths, c, err));
  if (c->published) return RS_OK;
  /* YaRN whose s follows the length has none. */
  bool typed = strcmp(method->name, "yarn") != 0 || rs_setting(&c->recipe.settings, "factor")->given;
  if (typed && has_rope_type(ranking->model, method->name)) return rs_recipe_copy(&c->said, &c->recipe, err);
  if (strcmp(method->name, "ntk_by_parts") != 0 || !has_rope_type(ranking->model, "yarn"))
    return say_plainly(ranking, lengths, c, err);
  bool same;
  RS_TRY(say_by_parts(ranking, &c->recipe, &c->said, err));
  RS_TRY(compare(&c->recipe, ranking->model, &c->said, ranking->model, lengths, &same, err));
  if (!same) rs_recipe_clear(&c->said);
  return RS_OK;
}

rs_status rs_candidate_convert(const rs_ranking *ranking, const rs_candidate *candidate, size_t length,
                               rs_convertible *model, const char *to, rs_conversion *out, rs_err *err) {
  const rs_replacement by = {&candidate->said, candidate->theta, (size_t)ranking->train_length, length};
  *out = (rs_conversion){0};
  model->kind = ranking->kind;
  model->kept = candidate->published && model->config != NULL && !rs_hf_was_gguf(&model->config->root);
  if (!model->kept) RS_TRY(rs_convertible_replace(model, ranking->kind, &by, err));
  return rs_convert(model, to, length, out, err);
}
