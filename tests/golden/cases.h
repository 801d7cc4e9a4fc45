/* The frequency cases of a_invfreq_cases.csv as models and recipes: Hugging Face's reading of a config. */
#ifndef ROPESCOPE_TESTS_GOLDEN_CASES_H
#define ROPESCOPE_TESTS_GOLDEN_CASES_H

#include "../golden.h"

/* Adds " name=value" to a recipe in words, unless the cell is empty. */
static inline void add_setting(const rs_table *table, size_t row, const char *column, const char *name,
                               rs_text *words) {
  const char *value = golden_text(table, row, column);
  if (*value != '\0' && strcmp(value, "none") != 0) rs_text_printf(words, " %s=%s", name, value);
}

static inline void add_flag(const rs_table *table, size_t row, const char *column, const char *name, rs_text *words) {
  const char *value = golden_text(table, row, column);
  if (*value != '\0') rs_text_printf(words, " %s=%s", name, *value == '1' ? "true" : "false");
}

/* The divisors of a longrope case, in words. */
static inline void add_divisors(const rs_table *factors, const char *name, rs_text *words) {
  static const char *const lists[] = {"short_factor", "long_factor"};
  size_t begin, end;
  golden_case(factors, name, &begin, &end);
  for (size_t i = 0; i < RS_COUNT(lists); i++) {
    rs_text_printf(words, " %s=", lists[i]);
    for (size_t row = begin; row < end; row++)
      rs_text_printf(words, "%s%s", row > begin ? "," : "", golden_text(factors, row, lists[i]));
  }
}

/* Hugging Face's rope_type -> our method. */
static inline const char *method_of(const char *rope_type) {
  static const char *const names[][2] = {{"default", "rope"}, {"linear", "pi"}, {"dynamic", "dynamic_ntk"}};
  for (size_t i = 0; i < RS_COUNT(names); i++)
    if (strcmp(names[i][0], rope_type) == 0) return names[i][1];
  return rope_type;
}

/* The geometry of a case: `dynamic` counts from max_position_embeddings; int(D * p) dims turn, but for `proportional`,
 * where p is the share that turns. */
static inline rs_model case_model(const rs_table *cases, size_t row) {
  const char *type = golden_text(cases, row, "rope_type");
  bool proportional = strcmp(type, "proportional") == 0, dynamic = strcmp(type, "dynamic") == 0;
  size_t head_dim = golden_size(cases, row, "head_dim"), max = golden_size(cases, row, "max_position_embeddings");
  double original = golden_number(cases, row, "original_max_position_embeddings");
  double partial = golden_number(cases, row, "partial_rotary_factor");
  rs_model model = plain_model(head_dim, golden_number(cases, row, "rope_theta"), max);
  if (!isnan(original) && !dynamic) model.train_length = (size_t)original;
  if (!isnan(partial) && !proportional) model.rotary_dim = (size_t)((double)head_dim * partial);
  return model;
}

/* The recipe of a case; yarn without a factor takes M / L. Release with rs_recipe_clear. */
static inline rs_recipe case_recipe(const rs_table *cases, size_t row, const rs_table *factors, const rs_model *model) {
  static const char *const same[] = {"beta_fast", "beta_slow",       "attention_factor", "mscale",
                                     "factor",    "low_freq_factor", "high_freq_factor", "mscale_all_dim"};
  const char *type = golden_text(cases, row, "rope_type");
  rs_text words = {0};
  for (size_t i = 0; i < RS_COUNT(same); i++) add_setting(cases, row, same[i], same[i], &words);
  add_flag(cases, row, "truncate", "truncate", &words);
  if (strcmp(type, "proportional") == 0) add_setting(cases, row, "partial_rotary_factor", "rotary_fraction", &words);
  if (*golden_text(cases, row, "softmax_scale_mult") != '\0') rs_text_puts(&words, " mscale_softmax=true");
  if (strcmp(type, "longrope") == 0) add_divisors(factors, golden_text(cases, row, "case"), &words);
  bool implied = strcmp(type, "yarn") == 0 && isnan(golden_number(cases, row, "factor"));
  if (implied) rs_text_printf(&words, " factor=%.17g", (double)model->max_length / (double)model->train_length);
  rs_recipe recipe = make_recipe(method_of(type), rs_text_string(&words));
  rs_text_clear(&words);
  return recipe;
}

static inline size_t case_length(const rs_table *cases, size_t row) {
  double sequence = golden_number(cases, row, "seq_len");
  return isnan(sequence) ? 1 : (size_t)sequence;
}

#endif
