/* Scale rules, temperature, geometry, and the positions of SelfExtend. */
#include "../golden.h"

/* ---- scale and temperature --------------------------------------------------------------------------------------- */

/* Without a rule: plain RoPE up to the trained length, and beyond it the whole factor. */
Test(encoding, default_scale__short_contexts_are_rope_s__long_ones_scaled) {
  static const char *const methods[] = {"pi", "ntk", "yarn"};
  rs_model llama2 = plain_model(128, 1e4, 4096);
  rs_encoding *rope = encode("rope", "", &llama2, 1024);
  for (size_t i = 0; i < RS_COUNT(methods); i++) {
    rs_encoding *near = encode(methods[i], "", &llama2, 1024), *far = encode(methods[i], "", &llama2, 8192);
    rs_encoding *doubled = encode(methods[i], "scale=2", &llama2, 8192);
    cr_assert(near->scale == 1 && far->scale == 2, "%s: %g and %g", methods[i], near->scale, far->scale);
    cr_assert(near->amp == 1 && far->amp == doubled->amp, "%s", methods[i]);
    cr_assert_arr_eq(far->omega, doubled->omega, 64 * sizeof *far->omega, "%s", methods[i]);
    for (size_t j = 0; j < 64; j++)
      cr_assert(close_to(near->omega[j], rope->omega[j], 1e-15, 0), "%s: pair %zu", methods[i], j);
    rs_encoding_free(near), rs_encoding_free(far), rs_encoding_free(doubled);
  }
  rs_encoding_free(rope);
}

/* Whether the tables are the same whatever the length of training was. */
static bool ignores_training(const rs_recipe *recipe, rs_model model, size_t length) {
  rs_encoding *tables[2] = {NULL, NULL};
  bool same = true;
  for (size_t i = 0; i < 2; i++) {
    rs_err err = {0};
    model.train_length = i == 0 ? 0 : 2000;
    rs_status status = rs_encoding_create(recipe, &model, length, NULL, NULL, &tables[i], &err);
    same &= status == RS_OK;
    if (status != RS_OK && i == 0) cr_expect(status == RS_DOMAIN || status == RS_INPUT, "%s", err.message);
  }
  size_t pairs = same ? tables[0]->rotary_dim / 2 : 0;
  same = same && tables[0]->amp == tables[1]->amp &&
         memcmp(tables[0]->omega, tables[1]->omega, pairs * sizeof *tables[0]->omega) == 0;
  for (size_t v = 0; same && v < tables[0]->views; v++)
    same = memcmp(tables[0]->pos_k[v], tables[1]->pos_k[v], length * sizeof **tables[0]->pos_k) == 0;
  for (size_t i = 0; i < 2; i++) rs_encoding_free(tables[i]);
  return same;
}

/* A published file may say no length of training: then only what does not depend on one has a table. */
Test(encoding, no_trained_length__no_table_that_depends_on_it) {
  size_t count, made = 0;
  const rs_method *methods = rs_methods(&count);
  for (size_t i = 0; i < count; i++) {
    for (size_t given = 0; given < 2; given++) {
      rs_recipe recipe = make_recipe(methods[i].name, "");
      rs_model model = plain_model(16, 1e4, 0);
      rs_encoding *encoding = NULL;
      rs_err err = {0};
      bool scaled = rs_method_scaled(&methods[i]);
      if (given == 1 && scaled) cr_assert_eq(rs_recipe_set(&recipe, "factor", "3", NULL), RS_OK);
      if (rs_recipe_resolve(&recipe, &model, &err) == RS_OK && rs_recipe_check(&recipe, &model, &err) == RS_OK &&
          rs_encoding_create(&recipe, &model, 100, NULL, NULL, &encoding, &err) == RS_OK && methods[i].freq != NULL) {
        cr_expect(ignores_training(&recipe, model, 100), "%s has a table without a trained length", methods[i].name);
        made++;
      }
      rs_encoding_free(encoding);
      rs_recipe_clear(&recipe);
    }
  }
  cr_expect_gt(made, 4);
  static const char *const cases[][2] = {
      {"yarn", "factor=3"}, {"llama3", "factor=3"}, {"ntk_by_parts", "factor=3"}, {"pi", ""}, {"ntk", "scale=auto"}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_recipe recipe = make_recipe(cases[i][0], cases[i][1]);
    rs_model model = plain_model(16, 1e4, 0);
    rs_encoding *encoding = NULL;
    rs_err err = {0};
    cr_assert_eq(rs_recipe_resolve(&recipe, &model, &err), RS_OK);
    cr_expect_eq(rs_encoding_create(&recipe, &model, 100, NULL, NULL, &encoding, &err), RS_DOMAIN, "%s", cases[i][0]);
    cr_expect_str_eq(err.subject, "train_length");
    rs_recipe_clear(&recipe);
  }
}

/* Resolving writes the rule down, unless a scale or factor is given or published. */
Test(encoding, default_scale__resolved__is_said) {
  static const struct {
    const char *method, *settings, *published, *scale;
    bool defaults;
  } cases[] = {
      {"pi", "", "", "dynamic", true},
      {"llama3", "", "", "dynamic", true},
      {"yarn", "factor=4", "", "none", false},
      {"yarn", "scale=auto", "", "auto", false},
      {"yarn", "", "factor=8", "none", false},
      {"yarn", "", "scale=hf_dynamic", "hf_dynamic", false},
      {"yarn", "", "beta_fast=8", "dynamic", true},
      {"pi", "", "factor=8", "dynamic", true}, /* what is published is YaRN's */
      {"dynamic_ntk", "", "", "hf_dynamic", false},
      {"rope", "", "", "none", false},
      {"alibi", "", "", "none", false},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_model model = plain_model(16, 1e4, 64);
    model.published = make_recipe("yarn", cases[i].published);
    rs_recipe recipe = make_recipe(cases[i].method, cases[i].settings);
    cr_expect_eq(rs_recipe_scale_defaults(&recipe, &model), cases[i].defaults, "%s %s", cases[i].method,
                 cases[i].settings);
    cr_assert_eq(rs_recipe_resolve(&recipe, &model, NULL), RS_OK);
    int index = rs_settings_find(&recipe.settings, "scale");
    rs_text text = {0};
    if (index >= 0) rs_value_write(recipe.settings.params[index], &recipe.settings.values[index], &text);
    cr_expect_str_eq(index >= 0 ? rs_text_string(&text) : "none", cases[i].scale, "%s %s, published %s",
                     cases[i].method, cases[i].settings, cases[i].published);
    if (index >= 0) cr_expect_eq(recipe.settings.values[index].given, strstr(cases[i].settings, "scale") != NULL);
    rs_text_clear(&text);
    rs_recipe_clear(&recipe);
    rs_model_clear(&model);
  }
}

Test(encoding, scale__each_rule__resolves_s) {
  static const struct {
    const char *settings;
    size_t length;
    double s;
  } cases[] = {
      {"", 256, 4},
      {"", 16, 1},
      {"factor=8", 256, 8},
      {"scale=8", 16, 8},
      {"scale=fixed factor=8", 256, 8},
      {"scale=auto", 96, 1.5},
      {"scale=auto", 32, 0.5},
      {"scale=dynamic", 96, 1.5},
      {"scale=dynamic", 32, 1},
      {"scale=hf_dynamic factor=2", 256, 7}, /* 2 * 4 - 1 */
      {"scale=hf_dynamic factor=2", 64, 1},
      {"scale=hf_dynamic factor=2", 32, 1},
      {"scale=hf_dynamic", 256, 4},
      {"scale=auto train_length=128", 256, 2},
      {"scale=qwen_dynamic", 16, 1}, /* get_ntk_alpha: 2^ceil(log2(L / 64) + 1) - 1 */
      {"scale=qwen_dynamic", 64, 1},
      {"scale=qwen_dynamic", 65, 3},
      {"scale=qwen_dynamic", 128, 3},
      {"scale=qwen_dynamic", 129, 7},
  };
  rs_model model = plain_model(16, 1e4, 64);
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_encoding *encoding = encode("pi", cases[i].settings, &model, cases[i].length);
    cr_assert_eq(encoding->scale, cases[i].s, "%s at %zu: got %g", cases[i].settings, cases[i].length, encoding->scale);
    cr_assert(close_to(encoding->omega[3], encoding->omega_trained[3] / cases[i].s, 1e-15, 0));
    rs_encoding_free(encoding);
  }
  rs_encoding *encoding = encode("rope", "", &model, 256);
  cr_assert(isnan(encoding->scale), "a method without a scale");
  rs_encoding_free(encoding);
}

Test(encoding, log_n__any_method__scales_queries_beyond_training) {
  static const char *const methods[] = {"nope", "rope", "yarn", "alibi"};
  rs_model model = plain_model(16, 1e4, 16);
  for (size_t i = 0; i < RS_COUNT(methods); i++) {
    rs_encoding *encoding = encode(methods[i], "logit_scale=log_n", &model, 64);
    for (size_t m = 0; m < 64; m++) {
      double expected = m + 1 <= 16 ? 1 : log2((double)m + 1) / 4; /* ln n / ln 16 */
      cr_assert(close_to(encoding->logit_scale[m], expected, 1e-15, 0), "%s query %zu: got %.17g", methods[i], m,
                encoding->logit_scale[m]);
    }
    rs_encoding_free(encoding);
  }
}

/* ---- geometry ---------------------------------------------------------------------------------------------------- */

Test(encoding, geometry__given_values__replace_the_models) {
  rs_model model = plain_model(16, 1e4, 64);
  model.heads = 3;
  rs_encoding *plain = encode("rope", "", &model, 8);
  rs_encoding *given = encode("rope", "rope_theta=100 rotary_dim=8 pair_layout=interleaved train_length=32", &model, 8);
  cr_assert(plain->rotary_dim == 16 && given->rotary_dim == 8 && given->head_dim == 16 && given->width == 48);
  cr_assert(plain->pair_layout == RS_HALF_SPLIT && given->pair_layout == RS_INTERLEAVED);
  cr_assert(plain->train_length == 64 && given->train_length == 32 && given->heads == 3 && given->length == 8);
  for (size_t j = 0; j < 4; j++) {
    cr_assert(close_to(given->omega[j], pow(100, -(double)j / 4), 1e-15, 0), "pair %zu", j);
    cr_assert(close_to(given->omega_trained[j], pow(1e4, -(double)j / 4), 1e-15, 0), "what training saw is theta's");
  }
  rs_encoding_free(given);
  model.pair_layout = RS_INTERLEAVED;
  given = encode("nope", "", &model, 8);
  cr_assert(given->rotary_dim == 0 && given->pair_layout == RS_INTERLEAVED && given->axes == 1 && given->views == 1);
  rs_encoding_free(given);
  rs_encoding_free(plain);
}

Test(encoding, proportional__shares__turn_the_first_pairs_only) {
  rs_model model = plain_model(16, 1e4, 64);
  static const struct {
    const char *settings;
    size_t turning;
    double divisor;
  } cases[] = {{"", 8, 1},
               {"rotary_fraction=0.5", 4, 1},
               {"rotary_fraction=0.3 factor=4", 2, 4},
               {"rotary_fraction=0", 0, 1},
               {"rotary_fraction=0.9 rotary_dim=8", 4, 1}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_encoding *encoding = encode("proportional", cases[i].settings, &model, 8);
    for (size_t j = 0; j < encoding->rotary_dim / 2; j++) {
      double expected = j < cases[i].turning ? pow(1e4, -2.0 * (double)j / 16) / cases[i].divisor : 0;
      cr_assert(close_to(encoding->omega[j], expected, 1e-15, 0), "%s pair %zu: got %g", cases[i].settings, j,
                encoding->omega[j]);
    }
    rs_encoding_free(encoding);
  }
}

/* ---- Self-Extend ------------------------------------------------------------------------------------------------- */

/* Every key of every query: exactly one segment, the right view, and the relative position of the paper's code. */
static void check_self_extend(const rs_encoding *encoding, size_t group, size_t window) {
  for (size_t m = 0; m < encoding->length; m++) {
    rs_segment segments[RS_VIEWS];
    size_t count = rs_encoding_segments(encoding, m, segments), next = 0;
    cr_assert(count >= 1 && count <= 2);
    for (size_t i = 0; i < count; i++) {
      cr_assert(segments[i].begin == next && segments[i].end > next, "query %zu segment %zu", m, i);
      next = segments[i].end;
    }
    cr_assert_eq(next, m + 1, "query %zu: segments end at %zu", m, next);
    for (size_t n = 0; n <= m; n++) {
      bool near = m - n < window;
      size_t view = rs_encoding_view(encoding, m, n);
      double shift = (double)window - (double)(window / group),
             got = encoding->pos_q[view][m] - encoding->pos_k[view][n];
      double expected = near ? (double)(m - n) : (double)(m / group) - (double)(n / group) + shift;
      cr_assert_eq(view, near ? 0u : 1u, "group %zu window %zu query %zu key %zu: view %zu", group, window, m, n, view);
      cr_assert_eq(got, expected, "group %zu window %zu query %zu key %zu: got %g, expected %g", group, window, m, n,
                   got, expected);
    }
  }
}

Test(encoding, self_extend__small_worlds__positions_of_the_paper) {
  rs_model model = plain_model(4, 1e4, 16);
  for (size_t window = 0; window <= 12; window++)
    for (size_t group = 1; group <= 9; group++)
      for (size_t length = 1; length <= 24; length += 1 + length / 6) {
        char settings[64];
        snprintf(settings, sizeof settings, "window=%zu group=%zu", window, group);
        rs_encoding *encoding = encode("self_extend", settings, &model, length);
        check_self_extend(encoding, group, window);
        rs_encoding_free(encoding);
      }
}

/* The group that `auto` took: view 1's keys stand still until token G. */
static size_t group_of(const rs_encoding *encoding) {
  size_t group = 1;
  while (group < encoding->length && encoding->pos_k[1][group] == 0) group++;
  return group;
}

/* The largest relative position of Self-Extend's definition, over every query and key. */
static size_t widest(size_t length, size_t window, size_t group) {
  size_t most = 0;
  for (size_t m = 0; m < length; m++)
    for (size_t n = 0; n <= m; n++) {
      size_t apart = m - n < window ? m - n : m / group + window - window / group - n / group;
      most = apart > most ? apart : most;
    }
  return most;
}

static void check_auto_group(size_t train, size_t window, size_t length) {
  rs_model model = plain_model(4, 1e4, train);
  char settings[64];
  snprintf(settings, sizeof settings, "window=%zu", window);
  rs_encoding *encoding = encode("self_extend", settings, &model, length);
  size_t group = 1, got = group_of(encoding);
  while (widest(length, window, group) >= train) group++;
  cr_assert_eq(got, group < length ? group : length, "train %zu window %zu length %zu: group %zu, not %zu", train,
               window, length, got, group);
  for (size_t n = 0; n < length; n++)
    cr_assert(isfinite(encoding->pos_q[1][n]) && isfinite(encoding->pos_k[1][n]), "window %zu length %zu", window,
              length);
  rs_encoding_free(encoding);
}

/* auto: the smallest group that keeps every relative position where training has been, 0 .. L0 - 1. */
Test(encoding, self_extend__auto_group__smallest_that_stays_inside_training) {
  for (size_t train = 2; train <= 12; train++)
    for (size_t window = 0; window < train; window++)
      for (size_t length = 1; length <= 4 * train; length++) check_auto_group(train, window, length);
}

Test(encoding, self_extend__auto_window__is_a_quarter_of_training) {
  rs_model model = plain_model(4, 1e4, 32);
  rs_encoding *encoding = encode("self_extend", "group=2", &model, 40);
  check_self_extend(encoding, 2, 8);
  rs_encoding_free(encoding);
}
