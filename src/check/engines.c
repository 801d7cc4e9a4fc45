/* What engines and their releases derive from one config.json. */
#include "rules.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Which numbers of the file a release of transformers takes for YaRN's: its issue 38224 and pull request 40320. */
typedef enum release { FACTOR, RATIO, MAXIMUM } release;

static const struct {
  const char *engine, *dialect;
  release release;
} readers[] = {
    {"transformers 5 (and 4.56 on)", NULL, FACTOR},
    {"transformers 4.51 to 4.55", NULL, RATIO},
    {"transformers 4 up to 4.50", NULL, MAXIMUM},
    {"vLLM", "vllm", FACTOR},
    {"llama.cpp", "llamacpp", FACTOR},
    {"gpt-oss's code", "gpt_oss", FACTOR},
    {"DeepSeek's code", "deepseek", FACTOR},
};
_Static_assert(RS_COUNT(readers) <= RS_DERIVATIONS, "room for all of them");

rs_status rs_spectrum_as(const rs_model *model, const char *dialect, rs_spectrum *spectrum, rs_err *err) {
  rs_recipe recipe;
  RS_TRY(rs_recipe_init(&recipe, model->published.method, err));
  rs_status status = dialect != NULL ? rs_recipe_set(&recipe, "dialect", dialect, err) : RS_OK;
  if (status == RS_OK) status = rs_recipe_resolve(&recipe, model, err);
  if (status == RS_OK) status = rs_recipe_check(&recipe, model, err);
  if (status == RS_OK) status = rs_spectrum_make(&recipe, model, model->max_length, spectrum, err);
  rs_recipe_clear(&recipe);
  return status;
}

/* Models for which an engine has code of its own, which multiplies cos and sin by what the file says: for DeepSeek-V4
 * by 1 (vLLM's deepseek_v4 sets mscale to 0, DeepSeek's code has none), for Ministral 3 by llama.cpp's
 * yarn_log_multiplier, which its converter takes from mscale_all_dim. A dialect says nothing of them. */
static const struct {
  const char *family, *dialect; /* NULL: every one */
} exceptions[] = {{"deepseek_v4", NULL}, {"ministral3", "llamacpp"}};

bool rs_engine_reads(const rs_checked *checked, const char *dialect) {
  for (size_t i = 0; i < RS_COUNT(exceptions); i++)
    if (strcmp(checked->family, exceptions[i].family) == 0 &&
        (exceptions[i].dialect == NULL || strcmp(dialect, exceptions[i].dialect) == 0))
      return false;
  size_t count;
  const rs_dialect *all = rs_dialects(&count);
  for (size_t i = 0; i < count; i++)
    if (strcmp(all[i].name, dialect) == 0 && rs_dialect_fits(&all[i], checked->model->published.method)) return true;
  return false;
}

/* Whether releases of transformers differ: YaRN with an original length. */
static bool has_releases(const rs_checked *checked) {
  return strcmp(checked->model->published.method->name, "yarn") == 0 && checked->rope_count == 1 &&
         rs_original_of(checked, &checked->ropes[0]) != NULL && rs_maximum_of(checked) != NULL;
}

bool rs_is_in_4_50(const rs_checked *checked) {
  /* From 4.51 on, gpt_oss from 4.55, ministral from 4.57, deepseek_v4 and ministral3 from 5. */
  static const char *const later[] = {"deepseek_v3", "deepseek_v4", "gpt_oss", "llama4", "ministral", "qwen3"};
  for (size_t i = 0; i < RS_COUNT(later); i++)
    if (strncmp(checked->family, later[i], strlen(later[i])) == 0) return false;
  return true;
}

static bool reads(const rs_checked *checked, size_t reader) {
  if (readers[reader].release == MAXIMUM && !rs_is_in_4_50(checked)) return false;
  if (readers[reader].release != FACTOR) return has_releases(checked);
  const char *dialect = readers[reader].dialect;
  return dialect == NULL || rs_engine_reads(checked, dialect);
}

/* The model as the release takes its numbers. */
static rs_status release_model(const rs_checked *checked, release taken, rs_model *model, rs_err *err) {
  double maximum = rs_node_number(rs_maximum_of(checked));
  RS_TRY(rs_model_copy(model, checked->model, err));
  if (taken == FACTOR) return RS_OK;
  char digits[RS_NUMBER_CHARS];
  rs_number_format(maximum / (double)model->train_length, digits);
  rs_status status = taken == RATIO ? rs_recipe_set(&model->published, "factor", digits, err) : RS_OK;
  if (taken == MAXIMUM) model->train_length = (size_t)maximum;
  if (status != RS_OK) rs_model_clear(model);
  return status;
}

static rs_status read_as(const rs_checked *checked, size_t reader, rs_spectrum *spectrum, rs_err *err) {
  rs_model model;
  RS_TRY(release_model(checked, readers[reader].release, &model, err));
  rs_status status = rs_spectrum_as(&model, readers[reader].dialect, spectrum, err);
  rs_model_clear(&model);
  return status;
}

/* Where whole heads turn, the softmax scale may do what cos and sin do elsewhere: their square is on the logits. */
static bool same_factors(const rs_spectrum *a, const rs_spectrum *b) {
  const double equal = 1e-6;
  double logits_a = a->amp * a->amp * a->logit_factor, logits_b = b->amp * b->amp * b->logit_factor;
  bool whole = a->head_dim == 2 * a->pairs;
  return fabs(logits_b / logits_a - 1) <= equal && (whole || fabs(b->amp / a->amp - 1) <= equal);
}

static void compare(const rs_spectrum *ours, const rs_spectrum *theirs, rs_derivation *derivation) {
  rs_difference d = rs_spectrum_compare(ours, theirs, 1e-6);
  derivation->amp = theirs->amp;
  derivation->logit_factor = theirs->logit_factor;
  derivation->differ = d.count;
  derivation->largest = d.largest;
  derivation->differs = d.count > 0 || !same_factors(ours, theirs);
}

rs_status rs_derivations_make(const rs_checked *checked, rs_derivations *derivations, rs_err *err) {
  rs_spectrum ours = {0};
  derivations->count = 0;
  RS_TRY(rs_spectrum_as(checked->model, NULL, &ours, err));
  rs_status status = RS_OK;
  for (size_t i = 0; i < RS_COUNT(readers) && status == RS_OK; i++) {
    rs_spectrum theirs = {0};
    rs_err why = {0};
    if (!reads(checked, i)) continue;
    rs_derivation *derivation = &derivations->items[derivations->count++];
    *derivation = (rs_derivation){.engine = readers[i].engine};
    rs_status read = read_as(checked, i, &theirs, &why);
    if (read == RS_OK)
      compare(&ours, &theirs, derivation);
    else if (read == RS_MEMORY)
      status = rs_fail(err, RS_MEMORY, "%s", why.message);
    else
      snprintf(derivation->refusal, sizeof derivation->refusal, "%.159s", why.message);
    rs_spectrum_clear(&theirs);
  }
  rs_spectrum_clear(&ours);
  return status;
}
