/* test_api_tables.c: the library's numbers are the program's, digit by digit. */
#include "api.h"

#include <math.h>

static const struct {
  const char *preset, *method;
} recipes[] = {{"llama-2-7b", "rope"},
               {"llama-2-7b", "{name: yarn, factor: 8}"},
               {"qwen2.5-7b", "{name: pi, factor: 4}"},
               {"gpt-j-6b", "rope"},
               {"llama-2-7b", "self_extend"},
               {"llama-2-7b", "{name: rope, logit_scale: log_n}"},
               {"bloom-7b1", "alibi"},
               {"mpt-7b", "fire"}};
enum { RECIPES = sizeof recipes / sizeof *recipes, LENGTH = 24 };

/* Column `column` of what show prints; empty fields are left out. */
static char *shown(const char *table, size_t recipe, int column) {
  char line[512];
  snprintf(line, sizeof line,
           "show %s --model %s --method '%s' --length %d --csv 2>/dev/null | tail -n +2 | cut -d, -f%d", table,
           recipes[recipe].preset, recipes[recipe].method, LENGTH, column);
  return program_says(line);
}

static void check_numbers(const char *table, size_t recipe, int column, const double *numbers, size_t count) {
  char *wanted = shown(table, recipe, column), *next = wanted;
  for (size_t i = 0; i < count; i++) {
    double value = strtod(next, &next);
    cr_assert(value == numbers[i], "%s of %s, %zu: %.17g, not %.17g", table, recipes[recipe].method, i, numbers[i],
              value);
  }
  cr_assert_eq(strspn(next, "\n"), strlen(next), "%s of %s has more than %zu", table, recipes[recipe].method, count);
  free(wanted);
}

Test(api_tables, numbers_are_those_that_show_prints) {
  static double numbers[4096];
  for (size_t r = 0; r < RECIPES; r++) {
    ropescope_recipe *recipe = make_recipe(recipes[r].preset, NULL, recipes[r].method, LENGTH);
    ropescope_tables *tables = NULL;
    GOOD(ropescope_tables_create(recipe, 0, &tables, &error));
    size_t pairs = ropescope_tables_pairs(tables);
    cr_assert_eq(ropescope_tables_inv_freq(tables, numbers, 4096), pairs);
    if (pairs > 0) check_numbers("frequencies", r, 3, numbers, pairs);
    cr_assert_eq(ropescope_tables_logit_scale(tables, numbers, LENGTH), LENGTH);
    check_numbers("scale", r, 2, numbers, LENGTH);
    size_t slopes = ropescope_tables_slopes(tables, numbers, 4096);
    if (slopes > 0) check_numbers("slopes", r, 2, numbers, slopes);
    if (ropescope_tables_has_bias(tables)) {
      size_t count = 0; /* heads, queries, keys <= query */
      for (size_t q = 0; q < LENGTH; q++, count += q)
        GOOD(ropescope_tables_bias(tables, 0, q, 0, q + 1, numbers + count, &error));
      char *wanted = shown("bias", r, 4), *next = wanted;
      for (size_t i = 0; i < count; i++) cr_assert_eq(strtod(next, &next), numbers[i]);
      free(wanted);
    }
    ropescope_tables_free(tables);
    ropescope_recipe_free(recipe);
  }
}

/* By the formula, of a config.json in memory. */
Test(api_tables, a_config_in_memory) {
  static const char text[] = "{\"model_type\": \"llama\", \"num_attention_heads\": 4, \"hidden_size\": 64, "
                             "\"rope_theta\": 1000.0, \"max_position_embeddings\": 512, \"rope_scaling\": "
                             "{\"rope_type\": \"linear\", \"factor\": 4.0}}";
  double inv_freq[8], cosine[8], sine[8], few[7] = {-1};
  ropescope_recipe *recipe = make_recipe(NULL, text, NULL, 0);
  ropescope_tables *tables = NULL;
  GOOD(ropescope_tables_create(recipe, 100, &tables, &error));
  cr_assert_eq(ropescope_tables_length(tables), 100);
  cr_assert_eq(ropescope_tables_inv_freq(tables, NULL, 0), 8);
  cr_assert_eq(ropescope_tables_inv_freq(tables, few, 7), 8);
  cr_assert_eq(few[0], -1, "what does not fit is not written");
  ropescope_tables_inv_freq(tables, inv_freq, 8);
  GOOD(ropescope_tables_cos_sin(tables, ROPESCOPE_KEY, 0, 3, 99, 100, cosine, sine, &error));
  for (size_t j = 0; j < 8; j++) {
    double omega = pow(1000, -(double)j / 8) / 4;
    cr_assert_float_eq(inv_freq[j], omega, 1e-15);
    cr_assert_float_eq(cosine[j], cos(99 * omega), 1e-13);
    cr_assert_float_eq(sine[j], sin(99 * omega), 1e-13);
  }
  cr_assert_str_eq(ropescope_recipe_method(recipe), "pi");
  cr_assert_eq(ropescope_recipe_head_dim(recipe), 16);
  cr_assert_eq(ropescope_recipe_rotary_dim(recipe), 16);
  cr_assert_eq(ropescope_recipe_theta(recipe), 1000);
  bool found = false;
  for (size_t i = 0; ropescope_recipe_parameter(recipe, i) != NULL; i++) {
    const ropescope_parameter *p = ropescope_recipe_parameter(recipe, i);
    if (strcmp(p->name, "factor") == 0) found = strcmp(p->value, "4") == 0 && p->given;
  }
  cr_assert(found, "factor is 4, and given");
  ropescope_tables_free(tables);
  ropescope_recipe_free(recipe);
}

Test(api_tables, rows_that_are_not_there_are_refused) {
  double row[4];
  ropescope_recipe *recipe = make_recipe("llama-2-7b", NULL, "alibi", 16);
  ropescope_tables *tables = NULL;
  GOOD(ropescope_tables_create(recipe, 0, &tables, &error));
  cr_assert_eq(ropescope_tables_bias(tables, 32, 0, 0, 1, row, NULL), ROPESCOPE_INPUT);
  cr_assert_eq(ropescope_tables_bias(tables, 0, 16, 0, 1, row, NULL), ROPESCOPE_INPUT);
  cr_assert_eq(ropescope_tables_bias(tables, 0, 0, 15, 17, row, NULL), ROPESCOPE_INPUT);
  cr_assert_eq(ropescope_tables_bias(tables, 0, 0, 2, 1, row, NULL), ROPESCOPE_INPUT);
  cr_assert_eq(ropescope_tables_embedding(tables, SIZE_MAX, 2, row, NULL), ROPESCOPE_INPUT);
  ropescope_tables_free(tables);
  ropescope_recipe_free(recipe);
}

Test(api_tables, the_version_is_the_headers) {
  char wanted[32];
  snprintf(wanted, sizeof wanted, "%d.%d.%d", ROPESCOPE_VERSION_MAJOR, ROPESCOPE_VERSION_MINOR,
           ROPESCOPE_VERSION_PATCH);
  cr_assert_eq(strncmp(ropescope_version(), wanted, strlen(wanted)), 0, "%s", ropescope_version());
}

/* Lists end, and hold what `ropescope list` knows. */
Test(api_tables, names_are_listed_to_their_end) {
  static int (*const lists[])(size_t index, ropescope_entry * entry) = {
      ropescope_metric_at, ropescope_preset_at, ropescope_rule_at, ropescope_engine_at, ropescope_consumer_at};
  static const char *const known[] = {"entropy", "llama-2-7b", "RS201", "vllm", "megatron"};
  for (size_t l = 0; l < sizeof lists / sizeof *lists; l++) {
    ropescope_entry entry;
    size_t count = 0, found = 0;
    for (; lists[l](count, &entry); count++) {
      cr_assert(entry.name != NULL && *entry.name != '\0' && entry.summary != NULL && entry.reference != NULL);
      found += strcmp(entry.name, known[l]) == 0;
    }
    cr_expect_gt(found, 0, "%s is not among %zu", known[l], count);
    cr_expect_eq(lists[l](count + 1000, &entry), 0);
  }
}

/* What there is of each size is what is copied, whatever the method. */
Test(api_tables, sizes_are_those_of_what_is_copied) {
  static double positions[LENGTH * 3];
  static int axes[256];
  for (size_t r = 0; r < RECIPES; r++) {
    ropescope_recipe *recipe = make_recipe(recipes[r].preset, NULL, recipes[r].method, LENGTH);
    ropescope_tables *tables = NULL;
    GOOD(ropescope_tables_create(recipe, 0, &tables, &error));
    size_t pairs = ropescope_tables_pairs(tables), places = LENGTH * ropescope_tables_axes(tables);
    cr_expect_eq(ropescope_recipe_length(recipe), (size_t)LENGTH);
    cr_expect_eq(ropescope_tables_axis(tables, NULL, 0), pairs);
    cr_expect_eq(ropescope_tables_axis(tables, axes, 256), pairs);
    for (size_t j = 0; j < pairs; j++) cr_expect(axes[j] >= -1 && axes[j] < 3, "pair %zu: %d", j, axes[j]);
    for (size_t v = 0; v < ropescope_tables_views(tables); v++)
      cr_expect_eq(ropescope_tables_positions(tables, ROPESCOPE_KEY, v, positions, LENGTH * 3), places);
    cr_expect_eq(ropescope_tables_positions(tables, ROPESCOPE_KEY, ropescope_tables_views(tables), positions, 1), 0);
    cr_expect_eq(ropescope_tables_views(tables), strcmp(recipes[r].method, "self_extend") == 0 ? 2 : 1);
    cr_expect_eq(ropescope_tables_has_embedding(tables), 0);
    cr_expect_gt(ropescope_tables_heads(tables), 0);
    cr_expect(isfinite(ropescope_tables_logit_factor(tables)));
    double scale = ropescope_tables_scale(tables);
    cr_expect(isnan(scale) || scale >= 1, "%s: %g", recipes[r].method, scale);
    ropescope_tables_free(tables);
    ropescope_recipe_free(recipe);
  }
}
