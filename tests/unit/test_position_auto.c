/* Position maps: what `auto` chooses, where maps are undefined, and their dialects. */
#include "../fixtures/maps.h"
#include "../golden.h"

/* ---- what auto chooses ------------------------------------------------------------------------------------------- */

/* The tables, or NULL where the map is undefined there; any other failure fails the test. */
static rs_encoding *try_encode(const char *method, const char *settings, const rs_model *model, size_t length) {
  rs_recipe recipe = make_recipe(method, settings);
  rs_encoding *e = NULL;
  rs_err err = {0};
  rs_status status = rs_encoding_create(&recipe, model, length, NULL, NULL, &e, &err);
  cr_assert(status == RS_OK || status == RS_DOMAIN, "%s %s L = %zu: %s", method, settings, length, err.message);
  rs_recipe_clear(&recipe);
  return e;
}

/* The largest slope that stays inside training ends just there. */
Test(positions, leak_auto__every_window__ends_at_the_last_trained_position) {
  char settings[64];
  for (size_t train = 1; train <= 12; train++)
    for (size_t window = 0; window <= 14; window++)
      for (size_t length = 1; length <= LONGEST; length++) {
        rs_model model = plain_model(4, 1e4, train);
        snprintf(settings, sizeof settings, "window=%zu", window);
        rs_encoding *e = try_encode("leaky_rerope", settings, &model, length);
        bool inside = length <= train;
        cr_assert_eq(e != NULL, inside || window < train, "train %zu window %zu L = %zu", train, window, length);
        if (e == NULL) continue;
        double last = (double)(inside ? length : train) - 1, steps = (double)length - 1 - (double)window;
        numbers given = {window, 0, inside ? 1 : (last - (double)window) / steps};
        check_map(e, settings, bent, &given, 1e-12);
        cr_assert(fabs(rs_encoding_reach(e, 0) - last) < 1e-12, "train %zu window %zu L = %zu: reach %.17g", train,
                  window, length, rs_encoding_reach(e, 0));
        rs_encoding_free(e);
      }
}

/* The largest distance of STRING's definition, by trying all of them. */
static size_t widest_string(size_t length, size_t shift, size_t local) {
  size_t most = 0;
  for (size_t d = 0; d < length; d++) {
    size_t seen_as = d < shift ? d : d - shift + local;
    most = seen_as > most ? seen_as : most;
  }
  return most;
}

Test(positions, shift_auto__every_length_and_local__is_the_smallest_from_a_third_on) {
  char settings[64];
  for (size_t train = 1; train <= 15; train++)
    for (size_t local = 0; local <= 6; local++)
      for (size_t length = 1; length <= LONGEST; length++) {
        rs_model model = plain_model(4, 1e4, train);
        size_t least = train * 33 / 100, shift = least;
        while (shift <= length && widest_string(length, shift, local) >= train) shift++;
        bool defined = widest_string(length, shift, local) < train;
        snprintf(settings, sizeof settings, "local=%zu", local);
        rs_encoding *e = try_encode("string", settings, &model, length);
        cr_assert_eq(e != NULL, defined, "train %zu local %zu L = %zu", train, local, length);
        if (e == NULL) continue;
        numbers given = {shift, local, 0};
        check_map(e, settings, shifted, &given, 0);
        rs_encoding_free(e);
      }
}

/* The most tokens that the message names: defined there, not one further. */
Test(positions, shift_auto__message__names_the_last_length) {
  for (size_t train = 1; train <= 40; train++)
    for (size_t local = 0; local <= 50; local += 1 + local / 5) {
      rs_model model = plain_model(4, 1e4, train);
      char settings[64];
      snprintf(settings, sizeof settings, "local=%zu", local);
      size_t most = local < train ? 2 * train - local : train;
      rs_encoding *e = try_encode("string", settings, &model, most);
      cr_assert_not_null(e, "train %zu local %zu", train, local);
      cr_assert_null(try_encode("string", settings, &model, most + 1), "train %zu local %zu", train, local);
      rs_encoding_free(e);
    }
}

/* By trying every group, in the arithmetic of the definition. */
Test(positions, group_auto__exact_shift__smallest_that_stays_inside_training) {
  char settings[64];
  for (size_t train = 2; train <= 12; train++)
    for (size_t window = 0; window < train; window++)
      for (size_t length = 1; length <= LONGEST; length++) {
        rs_model model = plain_model(4, 1e4, train);
        numbers given = {window, 1, 0};
        while (length > window && grouped_exactly(&given, length - 1, 0).distance > (double)train - 1) given.second++;
        snprintf(settings, sizeof settings, "window=%zu shift=exact", window);
        rs_encoding *e = encode("self_extend", settings, &model, length);
        check_map(e, settings, grouped_exactly, &given, 1e-14);
        rs_encoding_free(e);
      }
}

/* The codes' own shares of the train length, rounded down. */
Test(positions, auto_sizes__of_train_length__are_those_of_the_codes) {
  static const struct {
    const char *method, *settings;
    size_t train, length;
    map expected;
    numbers given;
  } cases[] = {
      {"dual_chunk", "", 64, 200, chunked, {40, 48, 0}},                  /* 48 - 8 */
      {"dual_chunk", "", 63, 200, chunked, {40, 47, 0}},                  /* 47.25 - 7.875 */
      {"dual_chunk", "local_size=4", 64, 200, chunked, {44, 48, 0}},      /* 48 - 4 */
      {"dual_chunk", "chunk_size=50", 64, 200, chunked, {42, 50, 0}},     /* 50 - 8 */
      {"dual_chunk", "chunk_size=50", 32, 200, chunked, {46, 50, 0}},     /* 50 - 4 */
      {"dual_chunk", "train_length=32", 64, 200, chunked, {20, 24, 0}},   /* 24 - 4 */
      {"rerope", "", 67, 200, bent, {16, 0, 0}},                          /* 16.75 */
      {"rerope", "train_length=40", 67, 200, bent, {10, 0, 0}},           /* 10 */
      {"rerope", "window=train_length", 67, 200, bent, {67, 0, 0}},       /* as LM-Infinite */
      {"lm_infinite", "", 67, 200, bent, {67, 0, 0}},                     /* */
      {"lm_infinite", "window=auto", 67, 200, bent, {16, 0, 0}},          /* as ReRoPE */
      {"leaky_rerope", "leak=0.5", 67, 200, bent, {16, 0, 0.5}},          /* */
      {"string", "local=8", 200, 200, shifted, {66, 8, 0}},               /* 0.33 * 200 */
      {"string", "local=8", 199, 190, shifted, {65, 8, 0}},               /* 65.67 */
      {"string", "local=8", 150, 200, shifted, {58, 8, 0}},               /* 199 - 58 + 8 = 149 */
      {"string", "", 128, 128, shifted, {128, 128, 0}},                   /* no room for W: plain */
      {"self_extend", "group=3", 67, 200, grouped, {16, 3, 0}},           /* */
      {"self_extend", "group=3 window=70", 67, 200, grouped, {70, 3, 0}}, /* */
      {"self_extend", "window=70", 67, 67, identity, {0, 0, 0}},          /* nothing is far */
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_model model = plain_model(4, 1e4, cases[i].train);
    rs_encoding *e = encode(cases[i].method, cases[i].settings, &model, cases[i].length);
    check_map(e, cases[i].settings, cases[i].expected, &cases[i].given, 0);
    rs_encoding_free(e);
  }
}

/* ---- wrong input and dialects ------------------------------------------------------------------------------------ */

Test(positions, create__undefined_maps__say_why) {
  static const struct {
    const char *method, *settings;
    size_t length;
    rs_status status;
    const char *message;
  } cases[] = {
      {"leaky_rerope", "window=64", 65, RS_DOMAIN, "leaky_rerope: window = 64 leaves no room below train_length = 64"},
      {"lm_infinite", "leak=auto", 100, RS_DOMAIN, "lm_infinite: window = 64 leaves no room below train_length = 64"},
      {"rerope", "leak=auto window=70", 100, RS_DOMAIN, "rerope: window = 70 leaves no room below train_length = 64"},
      {"dual_chunk", "chunk_size=8", 10, RS_DOMAIN,
       "dual_chunk: local_size = 8 must be below chunk_size = 8 (auto: 1/8 and 3/4 of train_length)"},
      {"dual_chunk", "local_size=100", 10, RS_DOMAIN,
       "dual_chunk: local_size = 100 must be below chunk_size = 48 (auto: 1/8 and 3/4 of train_length)"},
      {"dual_chunk", "train_length=1", 10, RS_DOMAIN,
       "dual_chunk: local_size = 0 must be below chunk_size = 0 (auto: 1/8 and 3/4 of train_length)"},
      {"string", "", 65, RS_DOMAIN,
       "string: no shift keeps 65 tokens inside train_length = 64 with local = 128; 64 tokens are the most (or give a "
       "shift)"},
      {"string", "local=8", 121, RS_DOMAIN,
       "string: no shift keeps 121 tokens inside train_length = 64 with local = 8; 120 tokens are the most (or give a "
       "shift)"},
      {"random_rope", "", 2049, RS_DOMAIN, "random_rope: 2049 tokens do not fit into position_range = 2048"},
      {"random_rope", "position_range=5", 6, RS_DOMAIN, "random_rope: 6 tokens do not fit into position_range = 5"},
      {"rerope", "mrope_section=2,3,3", 8, RS_UNSUPPORTED,
       "rerope is defined for text positions only (mrope_section: none makes them so)"},
      {"lm_infinite", "mrope_section=2,3,3", 8, RS_UNSUPPORTED,
       "lm_infinite is defined for text positions only (mrope_section: none makes them so)"},
      {"dual_chunk", "mrope_section=2,3,3", 8, RS_UNSUPPORTED,
       "dual_chunk is defined for text positions only (mrope_section: none makes them so)"},
      {"string", "mrope_section=2,3,3", 8, RS_UNSUPPORTED,
       "string is defined for text positions only (mrope_section: none makes them so)"},
      {"random_rope", "mrope_section=2,3,3", 8, RS_UNSUPPORTED,
       "random_rope is defined for text positions only (mrope_section: none makes them so)"},
  };
  rs_model model = plain_model(16, 1e4, 64);
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_recipe recipe = make_recipe(cases[i].method, cases[i].settings);
    rs_encoding *e = NULL;
    rs_err err = {0};
    rs_status status = rs_encoding_create(&recipe, &model, cases[i].length, NULL, NULL, &e, &err);
    cr_assert_eq(status, cases[i].status, "%s %s: %s", cases[i].method, cases[i].settings, rs_status_name(status));
    cr_assert_str_eq(err.message, cases[i].message, "%s %s: %s", cases[i].method, cases[i].settings, err.message);
    cr_assert_null(e);
    rs_recipe_clear(&recipe);
  }
}

Test(positions, recipe_set__values_out_of_range__name_the_parameter) {
  static const struct {
    const char *method, *name, *value, *message;
  } cases[] = {
      {"rerope", "window", "train_lenght",
       "must be one of auto, train_length, or a number (did you mean train_length?)"},
      {"rerope", "window", "-1", "must be from 0 to 1000000000"},
      {"leaky_rerope", "leak", "1.1", "must be from 0 to 1"},
      {"leaky_rerope", "leak", "-0.1", "must be from 0 to 1"},
      {"dual_chunk", "chunk_size", "0", "must be from 1 to 1000000000"},
      {"dual_chunk", "local_size", "1.5", "must be a whole number"},
      {"dual_chunk", "ceiling", "papr", "must be one of code, paper (did you mean paper?)"},
      {"string", "shift", "0", "must be from 1 to 1000000000"},
      {"string", "local", "-1", "must be from 0 to 1000000000"},
      {"random_rope", "position_range", "0", "must be from 1 to 16777216"},
      {"random_rope", "position_seed", "-1", "must be from 0 to 9007199254740992"},
      {"self_extend", "shift", "exakt", "must be one of floor, exact (did you mean exact?)"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_recipe recipe = make_recipe(cases[i].method, "");
    rs_err err = {0};
    cr_assert_eq(rs_recipe_set(&recipe, cases[i].name, cases[i].value, &err), RS_INPUT, "%s %s", cases[i].name,
                 cases[i].value);
    cr_assert_str_eq(err.subject, cases[i].name);
    cr_assert_str_eq(err.message, cases[i].message, "%s %s: %s", cases[i].name, cases[i].value, err.message);
    rs_recipe_clear(&recipe);
  }
}

/* What a dialect always has, it has; and the user cannot ask for the other. */
Test(positions, dialects__of_position_maps__set_what_they_differ_in) {
  static const struct {
    const char *method, *dialect, *name, *value, *other, *message;
  } cases[] = {
      {"self_extend", "authors", "shift", "exact", "floor",
       "is not in the power of dialect authors, which always has exact (leave one of them out)"},
      {"dual_chunk", "paper", "ceiling", "paper", "code",
       "is not in the power of dialect paper, which always has paper (leave one of them out)"},
      {"rerope", "authors", "logit_scale", "log_n", "none",
       "is not in the power of dialect authors, which always has log_n (leave one of them out)"},
      {"leaky_rerope", "authors", "logit_scale", "log_n", "none",
       "is not in the power of dialect authors, which always has log_n (leave one of them out)"},
  };
  rs_model model = plain_model(16, 1e4, 64);
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_recipe recipe = make_recipe(cases[i].method, "");
    rs_text text = {0};
    rs_err err = {0};
    int index = rs_settings_find(&recipe.settings, cases[i].name);
    recipe_set_word(&recipe, "dialect", cases[i].dialect);
    cr_assert_eq(rs_recipe_resolve(&recipe, &model, &err), RS_OK, "%s: %s", cases[i].method, err.message);
    rs_value_write(recipe.settings.params[index], &recipe.settings.values[index], &text);
    cr_assert_str_eq(rs_text_string(&text), cases[i].value);
    recipe_set_word(&recipe, cases[i].name, cases[i].other);
    cr_assert_eq(rs_recipe_resolve(&recipe, &model, &err), RS_INPUT, "%s", cases[i].method);
    cr_assert_str_eq(err.subject, cases[i].name);
    cr_assert_str_eq(err.message, cases[i].message, "%s", err.message);
    rs_text_clear(&text);
    rs_recipe_clear(&recipe);
  }
}
