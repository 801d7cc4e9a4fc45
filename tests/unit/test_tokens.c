/* Ids of text, image and video tokens under every scheme, and which pairs read which axis under every layout, each
 * against a formula of its own: told per token and per pair from the papers and codes, not from tokens.c and axes.c. */
#include "../golden.h"

enum { RUNS = 6 };

/* ---- ids of tokens ----------------------------------------------------------------------------------------------- */

static size_t larger(size_t a, size_t b) {
  return a > b ? a : b;
}

/* Random runs with pictures and videos of unequal sides; times are dyadic, so that products are exact in any order.
 * Returns their tokens. */
static size_t draw_runs(uint64_t *state, rs_token_run runs[RUNS]) {
  static const double seconds[] = {1, 0.5, 1.5, 2.25}, rates[] = {1, 2, 0.5, 25};
  size_t tokens = 0;
  for (size_t i = 0; i < RUNS; i++) {
    rs_modality modality = (rs_modality)draw_size(state, 0, 2);
    rs_token_run run = {.modality = modality, .frames = 1, .seconds_per_frame = 1, .ids_per_second = 1};
    run.rows = draw_size(state, 1, 5);
    run.columns = draw_size(state, 1, 5);
    if (modality == RS_VIDEO) {
      run.frames = draw_size(state, 1, 6);
      run.seconds_per_frame = seconds[draw_size(state, 0, 3)];
      run.ids_per_second = rates[draw_size(state, 0, 3)];
    }
    run.tokens = modality == RS_TEXT ? draw_size(state, 1, 6) : run.frames * run.rows * run.columns;
    tokens += run.tokens;
    runs[i] = run;
  }
  return tokens;
}

/* The ids of vision token `index` in frame f, row y, column x of a run that starts at p. */
static void vision_ids(rs_id_rule rule, const rs_token_run *run, double p, size_t index, size_t f, size_t y, size_t x,
                       double ids[RS_AXES]) {
  double seconds = rule.scheme == RS_IDS_HF ? (double)(size_t)run->seconds_per_frame : run->seconds_per_frame;
  double frame = floor((double)f * seconds * run->ids_per_second), small = p + rule.step * (double)(index + 1) - 1;
  switch (rule.scheme) {
  case RS_IDS_QWEN2_VL:
  case RS_IDS_HF: ids[0] = p + frame, ids[1] = p + (double)y, ids[2] = p + (double)x; break;
  case RS_IDS_SPATIAL_RESET: ids[0] = p + frame, ids[1] = (double)y, ids[2] = (double)x; break;
  case RS_IDS_VIDEOROPE:
    ids[0] = p + rule.step * (double)f; /* an even side has its centre before the middle */
    ids[1] = ids[0] + (double)y - (double)((run->rows + 1) / 2 - 1);
    ids[2] = ids[0] + (double)x - (double)((run->columns + 1) / 2 - 1);
    break;
  case RS_IDS_V2PE: ids[0] = ids[1] = ids[2] = small; break;
  }
}

/* Where the next run starts. */
static double after(rs_id_rule rule, const rs_token_run *run, double p) {
  double sides = (double)larger(run->rows, run->columns), frames = (double)run->frames - 1;
  double lasted = floor(frames * run->seconds_per_frame * run->ids_per_second) + 1;
  switch (rule.scheme) {
  case RS_IDS_QWEN2_VL:
  case RS_IDS_SPATIAL_RESET: return p + (lasted > sides ? lasted : sides);
  case RS_IDS_HF: return p + sides;
  case RS_IDS_VIDEOROPE: return p + frames * rule.step + 1;
  case RS_IDS_V2PE: break;
  }
  return p + ceil((double)run->tokens * rule.step);
}

/* All ids of a layout. */
static void expected_ids(rs_id_rule rule, const rs_token_run *runs, size_t length, double (*ids)[RS_AXES]) {
  size_t token = 0;
  double p = 0;
  for (size_t i = 0; i < RUNS; i++) {
    const rs_token_run *run = &runs[i];
    bool text = run->modality == RS_TEXT;
    for (size_t k = 0; k < run->tokens && text; k++, token++, p++) ids[token][0] = ids[token][1] = ids[token][2] = p;
    if (text) continue;
    size_t index = 0;
    for (size_t f = 0; f < run->frames; f++)
      for (size_t y = 0; y < run->rows; y++)
        for (size_t x = 0; x < run->columns; x++, index++) vision_ids(rule, run, p, index, f, y, x, ids[token + index]);
    token += index;
    p = after(rule, run, p);
  }
  for (; token < length; token++, p++) ids[token][0] = ids[token][1] = ids[token][2] = p;
}

static const char *const scheme_words[] = {"qwen2_vl", "hf", "spatial_reset", "videorope", "v2pe"};

static void compare_ids(const char *what, size_t turn, size_t length, const double *got, double (*expected)[RS_AXES]) {
  for (size_t i = 0; i < length * RS_AXES; i++)
    cr_assert_eq(got[i], expected[i / RS_AXES][i % RS_AXES], "%s turn %zu token %zu axis %zu: got %g, expected %g",
                 what, turn, i / RS_AXES, i % RS_AXES, got[i], expected[i / RS_AXES][i % RS_AXES]);
}

Test(tokens, ids__every_scheme_and_random_layouts__are_those_of_the_formulas) {
  static const rs_id_rule rules[] = {
      {.scheme = RS_IDS_QWEN2_VL, .step = 0},      {.scheme = RS_IDS_HF, .step = 0},
      {.scheme = RS_IDS_SPATIAL_RESET, .step = 0}, {.scheme = RS_IDS_VIDEOROPE, .step = 2},
      {.scheme = RS_IDS_VIDEOROPE, .step = 1},     {.scheme = RS_IDS_VIDEOROPE, .step = 0.5},
      {.scheme = RS_IDS_VIDEOROPE, .step = 3.5},   {.scheme = RS_IDS_V2PE, .step = 0.25},
      {.scheme = RS_IDS_V2PE, .step = 1},          {.scheme = RS_IDS_V2PE, .step = 0.125},
      {.scheme = RS_IDS_V2PE, .step = 1.0 / 256}};
  uint64_t state = 21;
  for (size_t turn = 0; turn < 400; turn++) {
    rs_token_run runs[RUNS];
    rs_token_layout layout = {.runs = runs, .count = RUNS};
    size_t length = draw_runs(&state, runs) + draw_size(&state, 0, 3);
    double *got = calloc(length, RS_AXES * sizeof *got), (*expected)[RS_AXES] = calloc(length, sizeof *expected);
    for (size_t i = 0; i < RS_COUNT(rules); i++) {
      expected_ids(rules[i], runs, length, expected);
      cr_assert_eq(rs_token_positions(&layout, &rules[i], length, got, NULL, NULL), RS_OK);
      compare_ids(scheme_words[rules[i].scheme], turn, length, got, expected);
    }
    free(expected);
    free(got);
  }
}

/* Through a recipe: each word chooses its scheme, and a scheme without a step takes its paper's own. */
Test(tokens, vision_ids__every_word__chooses_scheme_and_step) {
  static const struct {
    const char *settings;
    rs_id_rule rule;
  } cases[] = {
      {"", {.scheme = RS_IDS_QWEN2_VL, .step = 0}},
      {"vision_ids=qwen2_vl", {.scheme = RS_IDS_QWEN2_VL, .step = 0}},
      {"vision_ids=hf", {.scheme = RS_IDS_HF, .step = 0}},
      {"vision_ids=spatial_reset", {.scheme = RS_IDS_SPATIAL_RESET, .step = 0}},
      {"vision_ids=videorope", {.scheme = RS_IDS_VIDEOROPE, .step = 2}},
      {"vision_ids=videorope vision_step=0.5", {.scheme = RS_IDS_VIDEOROPE, .step = 0.5}},
      {"vision_ids=v2pe", {.scheme = RS_IDS_V2PE, .step = 0.25}},
      {"vision_ids=v2pe vision_step=0.0625", {.scheme = RS_IDS_V2PE, .step = 0.0625}},
  };
  rs_model model = plain_model(16, 1e4, 64);
  uint64_t state = 22;
  for (size_t turn = 0; turn < 30 * RS_COUNT(cases); turn++) {
    size_t i = turn % RS_COUNT(cases);
    rs_token_run runs[RUNS];
    rs_token_layout layout = {.runs = runs, .count = RUNS};
    size_t length = draw_runs(&state, runs) + 2;
    double(*expected)[RS_AXES] = calloc(length, sizeof *expected);
    rs_recipe recipe = make_recipe("mrope", cases[i].settings);
    rs_encoding *e = encode_recipe(&recipe, &model, length, &layout);
    expected_ids(cases[i].rule, runs, length, expected);
    cr_assert_eq(e->axes, (size_t)RS_AXES);
    compare_ids(cases[i].settings, turn, length, e->pos_q[0], expected);
    compare_ids(cases[i].settings, turn, length, e->pos_k[0], expected);
    rs_encoding_free(e);
    rs_recipe_clear(&recipe);
    free(expected);
  }
}

/* Two text tokens, a video of 2 frames of 3 rows and 2 columns, 1.5 s a frame at 2 ids a second, two text tokens.
 * Worked out on paper. */
Test(tokens, ids__one_video__are_those_worked_out_by_hand) {
  static const char *const rows[][RS_AXES] = {
      [RS_IDS_QWEN2_VL] = {"0 1 2 2 2 2 2 2 5 5 5 5 5 5 6 7", "0 1 2 2 3 3 4 4 2 2 3 3 4 4 6 7",
                           "0 1 2 3 2 3 2 3 2 3 2 3 2 3 6 7"},
      [RS_IDS_HF] = {"0 1 2 2 2 2 2 2 4 4 4 4 4 4 5 6", "0 1 2 2 3 3 4 4 2 2 3 3 4 4 5 6",
                     "0 1 2 3 2 3 2 3 2 3 2 3 2 3 5 6"},
      [RS_IDS_SPATIAL_RESET] = {"0 1 2 2 2 2 2 2 5 5 5 5 5 5 6 7", "0 1 0 0 1 1 2 2 0 0 1 1 2 2 6 7",
                                "0 1 0 1 0 1 0 1 0 1 0 1 0 1 6 7"},
      [RS_IDS_VIDEOROPE] = {"0 1 2 2 2 2 2 2 4 4 4 4 4 4 5 6", "0 1 1 1 2 2 3 3 3 3 4 4 5 5 5 6",
                            "0 1 2 3 2 3 2 3 4 5 4 5 4 5 5 6"},
      [RS_IDS_V2PE] = {"0 1 1.25 1.5 1.75 2 2.25 2.5 2.75 3 3.25 3.5 3.75 4 5 6",
                       "0 1 1.25 1.5 1.75 2 2.25 2.5 2.75 3 3.25 3.5 3.75 4 5 6",
                       "0 1 1.25 1.5 1.75 2 2.25 2.5 2.75 3 3.25 3.5 3.75 4 5 6"},
  };
  rs_token_run runs[] = {{.modality = RS_TEXT, .tokens = 2},
                         {.modality = RS_VIDEO,
                          .tokens = 12,
                          .frames = 2,
                          .rows = 3,
                          .columns = 2,
                          .seconds_per_frame = 1.5,
                          .ids_per_second = 2}};
  rs_token_layout layout = {.runs = runs, .count = RS_COUNT(runs)};
  for (size_t s = 0; s < RS_COUNT(rows); s++) {
    rs_id_rule rule = {.scheme = (rs_id_scheme)s, .step = s == RS_IDS_VIDEOROPE ? 2 : 0.25};
    double got[16 * RS_AXES], expected[16];
    cr_assert_eq(rs_token_positions(&layout, &rule, 16, got, NULL, NULL), RS_OK);
    for (size_t a = 0; a < RS_AXES; a++) {
      cr_assert_eq(read_list(rows[s][a], expected, 16), 16u);
      for (size_t i = 0; i < 16; i++)
        cr_assert_eq(got[i * RS_AXES + a], expected[i], "%s token %zu axis %zu: got %g, expected %g", scheme_words[s],
                     i, a, got[i * RS_AXES + a], expected[i]);
    }
  }
}

/* Products that are whole but for rounding. In float32 3 * 0.6666667 rounds to 2 and 45 * 0.7 to 31.5, where in doubles
 * 3 * 16.666666666666664 and 45 * 1.4 fall short of 50 and 63; 99 * 0.04 * 25 is the other way round. */
Test(tokens, ids__times_that_ought_to_be_whole__are_rounded_as_the_arithmetic_says) {
  static const struct {
    double seconds, rate;
    size_t frame;
    double f32, f64;
  } cases[] = {{0.6666666666666666, 25, 3, 50, 49},
               {0.6666666666666666, 25, 6, 100, 99},
               {0.6666666666666666, 25, 5, 83, 83},
               {0.7, 2, 45, 63, 62},
               {0.7, 2, 44, 61, 61},
               {0.1, 10, 3, 3, 3},
               {0.04, 25, 99, 98, 99},
               {0.29, 100, 25, 725, 724}};
  static const char *const settings[] = {"", "id_arithmetic=f32", "vision_ids=spatial_reset", "id_arithmetic=f64",
                                         "vision_ids=spatial_reset id_arithmetic=f64"};
  rs_model model = plain_model(16, 1e4, 64);
  for (size_t i = 0; i < RS_COUNT(settings) * RS_COUNT(cases); i++) {
    size_t c = i % RS_COUNT(cases), s = i / RS_COUNT(cases), last = cases[c].frame + 1;
    rs_token_run runs[] = {{.modality = RS_TEXT, .tokens = 1},
                           {.modality = RS_VIDEO,
                            .tokens = last,
                            .frames = last,
                            .rows = 1,
                            .columns = 1,
                            .seconds_per_frame = cases[c].seconds,
                            .ids_per_second = cases[c].rate}};
    rs_token_layout layout = {.runs = runs, .count = RS_COUNT(runs)};
    rs_recipe recipe = make_recipe("mrope", settings[s]);
    rs_encoding *e = encode_recipe(&recipe, &model, last + 2, &layout);
    double expected = 1 + (s < 3 ? cases[c].f32 : cases[c].f64), got = e->pos_q[0][last * RS_AXES];
    cr_expect_eq(got, expected, "%s, case %zu: got %g, expected %g", settings[s], c, got, expected);
    cr_expect_eq(e->pos_q[0][(last + 1) * RS_AXES], expected + 1, "%s, case %zu: the text after", settings[s], c);
    rs_encoding_free(e);
    rs_recipe_clear(&recipe);
  }
}

/* Ids of pictures may be fractions, fall back, and be negative: reach and text after them must not mind. */
Test(tokens, reach__every_scheme__is_the_largest_distance_of_two_tokens) {
  rs_model model = plain_model(16, 1e4, 64);
  uint64_t state = 23;
  for (size_t turn = 0; turn < 100; turn++) {
    rs_token_run runs[RUNS];
    rs_token_layout layout = {.runs = runs, .count = RUNS};
    size_t length = draw_runs(&state, runs) + 1;
    rs_recipe recipe = make_recipe("mrope", "");
    recipe_set_word(&recipe, "vision_ids", scheme_words[turn % RS_COUNT(scheme_words)]);
    rs_encoding *e = encode_recipe(&recipe, &model, length, &layout);
    for (size_t a = 0; a < RS_AXES; a++) {
      double most = 0;
      for (size_t m = 0; m < length; m++)
        for (size_t n = 0; n <= m; n++)
          most = fmax(most, fabs(e->pos_q[0][m * RS_AXES + a] - e->pos_k[0][n * RS_AXES + a]));
      cr_assert_eq(rs_encoding_reach(e, a), most, "%s turn %zu axis %zu: got %g, expected %g",
                   scheme_words[turn % RS_COUNT(scheme_words)], turn, a, rs_encoding_reach(e, a), most);
    }
    rs_encoding_free(e);
    rs_recipe_clear(&recipe);
  }
}

/* ---- axes of pairs ----------------------------------------------------------------------------------------------- */

/* What the published models and codes give, a letter a pair; "-" does not turn. */
Test(tokens, axes__published_sections__are_the_known_patterns) {
  static const char *const cases[][2] = {
      /* vLLM, get_mrope_interleaved_id_list with force_last */
      {"mrope_section=4,3,3 mrope_layout=fair", "thwthwthwt"},
      {"mrope_section=24,20,20 mrope_layout=fair", "thwthwthwthwthwthwthwthtwthwthwthwthwthwthwthtwthwthwthwthwthwtt"},
      {"mrope_section=16,24,24 mrope_layout=fair", "thwhwthwhwthwthwhwthwthwhwthwhwthwthwhwthwthwhwthwhwthwthwhwthwt"},
      {"mrope_section=8,12,12 mrope_layout=fair", "thwhwthwhwthwhwthwthwhwthwhwthwt"},
      {"mrope_section=2,1,1 mrope_layout=fair", "thwt"},
      {"mrope_section=1,1,1 mrope_layout=fair", "hwt"},
      {"mrope_section=0,3,3 mrope_layout=fair", "hwhwhw"},
      {"mrope_section=3,0,0 mrope_layout=fair", "ttt"},
      /* ERNIE 4.5-VL and VideoRoPE: h, w, ... then t */
      {"mrope_section=20,22,22 mrope_layout=spatial_first",
       "hwhwhwhwhwhwhwhwhwhwhwhwhwhwhwhwhwhwhwhwhwhwtttttttttttttttttttt"},
      {"mrope_section=16,24,24 mrope_layout=spatial_first",
       "hwhwhwhwhwhwhwhwhwhwhwhwhwhwhwhwhwhwhwhwhwhwhwhwtttttttttttttttt"},
      {"mrope_section=2,4,2 mrope_layout=spatial_first", "hwhwhhtt"},
      {"mrope_section=2,1,5 mrope_layout=spatial_first", "hwwwwwtt"},
      {"mrope_section=3,0,3 mrope_layout=spatial_first", "wwwttt"},
      /* Qwen3-VL; ggml leaves the tail */
      {"mrope_section=4,2,2 mrope_layout=interleaved", "thwthwtt"},
      {"mrope_section=4,2,2 mrope_layout=interleaved mrope_tail=unrotated", "thwthwt-"},
      {"mrope_section=1,2,5 mrope_layout=interleaved mrope_tail=unrotated", "thw-hw--"},
      {"mrope_section=1,2,5 mrope_layout=interleaved", "thwthwtt"},
      {"mrope_section=4,2,2 mrope_layout=contiguous mrope_tail=unrotated", "tttthhww"}, /* the tail is interleaved's */
      {"mrope_section=4,2,2 mrope_layout=fair mrope_tail=unrotated", "thwthwtt"},
      {"mrope_section=4,2,2 mrope_layout=spatial_first mrope_tail=unrotated", "hwhwtttt"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    size_t pairs = strlen(cases[i][1]);
    rs_model model = plain_model(2 * pairs, 1e4, 64);
    rs_encoding *e = encode("mrope", cases[i][0], &model, 2);
    char got[65] = "";
    for (size_t j = 0; j < pairs; j++) got[j] = e->omega[j] == 0 ? '-' : "thw"[e->axis[j]];
    cr_assert_str_eq(got, cases[i][1], "%s: got %s", cases[i][0], got);
    rs_encoding_free(e);
  }
}

/* openPangu's list as fractions: the axis with the smallest share placed, but not the one before. */
static void fair_list(const size_t sections[RS_AXES], char *list) {
  double count[RS_AXES] = {(double)sections[0] - 1, (double)sections[1], (double)sections[2]}, placed[RS_AXES] = {0};
  size_t total = sections[0] + sections[1] + sections[2], before = RS_AXES;
  for (size_t j = 0; j + 1 < total; j++) {
    size_t best = RS_AXES;
    for (int again = 0; again < 2 && best == RS_AXES; again++)
      for (size_t a = RS_AXES; a-- > 0;)
        if (placed[a] < count[a] && (again || a != before) &&
            (best == RS_AXES || placed[a] / count[a] <= placed[best] / count[best]))
          best = a;
    placed[best]++;
    list[j] = "thw"[best];
    before = best;
  }
  list[total - 1] = 't';
}

static void spatial_list(const size_t sections[RS_AXES], char *list) {
  size_t both = sections[1] < sections[2] ? sections[1] : sections[2], j = 0;
  for (size_t i = 0; i < both; i++) list[j++] = 'h', list[j++] = 'w';
  while (j < sections[1] + sections[2]) list[j++] = sections[1] > sections[2] ? 'h' : 'w';
  while (j < sections[0] + sections[1] + sections[2]) list[j++] = 't';
}

static void contiguous_list(const size_t sections[RS_AXES], char *list) {
  for (size_t a = 0, j = 0; a < RS_AXES; a++)
    for (size_t i = 0; i < sections[a]; i++) list[j++] = "thw"[a];
}

/* t everywhere, then h and w written over it at every third pair, as Hugging Face does. */
static void interleaved_list(const size_t sections[RS_AXES], char *list) {
  size_t total = sections[0] + sections[1] + sections[2];
  memset(list, 't', total);
  for (size_t a = 1; a < RS_AXES; a++)
    for (size_t j = a; j < total && j < 3 * sections[a]; j += 3) list[j] = "thw"[a];
}

Test(tokens, axes__every_layout_and_small_sections__are_the_codes_lists) {
  enum { MOST = 7 };
  static const char *const words[] = {"contiguous", "interleaved", "spatial_first", "fair"};
  void (*const lists[])(const size_t sections[RS_AXES], char *list) = {contiguous_list, interleaved_list, spatial_list,
                                                                       fair_list};
  for (size_t i = 0; i < MOST * (MOST + 1) * (MOST + 1) * RS_COUNT(words); i++) {
    size_t layout = i % RS_COUNT(words), rest = i / RS_COUNT(words);
    size_t sections[RS_AXES] = {1 + rest / (MOST + 1) / (MOST + 1), rest / (MOST + 1) % (MOST + 1), rest % (MOST + 1)};
    size_t pairs = sections[0] + sections[1] + sections[2];
    rs_model model = plain_model(2 * pairs, 1e4, 64);
    char settings[96], got[3 * MOST + 1] = "", expected[3 * MOST + 1] = "";
    bool of_model = i % 2; /* the layout comes from the model, or from the recipe */
    memcpy(model.mrope_section, sections, sizeof sections);
    if (of_model) model.axis_layout = (rs_axis_layout)layout;
    snprintf(settings, sizeof settings, "mrope_layout=%s", words[layout]);
    rs_encoding *e = encode("rope", of_model ? "" : settings, &model, 2);
    for (size_t j = 0; j < pairs; j++) got[j] = "thw"[e->axis[j]];
    lists[layout](sections, expected);
    cr_assert_str_eq(got, expected, "%s %zu %zu %zu: got %s, expected %s", words[layout], sections[0], sections[1],
                     sections[2], got, expected);
    rs_encoding_free(e);
  }
}

/* The implementations' own ways, by name. */
Test(tokens, dialects__of_vision__choose_ids_and_tail) {
  static const struct {
    const char *dialect, *name, *word;
  } cases[] = {{"hf", "vision_ids", "hf"},
               {"hf", "mrope_tail", "t"},
               {"llamacpp", "mrope_tail", "unrotated"},
               {"llamacpp", "vision_ids", "qwen2_vl"},
               {"vllm", "vision_ids", "qwen2_vl"}};
  rs_model model = plain_model(16, 1e4, 64);
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_recipe recipe = make_recipe("mrope", "");
    rs_text text = {0};
    int index = rs_settings_find(&recipe.settings, cases[i].name);
    recipe_set_word(&recipe, "dialect", cases[i].dialect);
    cr_assert_eq(rs_recipe_resolve(&recipe, &model, NULL), RS_OK);
    rs_value_write(recipe.settings.params[index], &recipe.settings.values[index], &text);
    cr_assert_str_eq(rs_text_string(&text), cases[i].word, "%s %s", cases[i].dialect, cases[i].name);
    rs_text_clear(&text);
    rs_recipe_clear(&recipe);
  }
}

/* ---- ids that are given ------------------------------------------------------------------------------------------ */

Test(tokens, given_ids__stand_in_the_place_of_what_runs_say) {
  double given[] = {4, 5, 6, 0, 0, 1}, ids[6] = {0};
  rs_token_run runs[] = {{.modality = RS_TEXT, .tokens = 2}};
  const rs_token_layout layout = {.runs = runs, .count = 1, .ids = given, .id_count = 2};
  uint32_t run[2] = {9, 9};
  rs_err err = {0};
  cr_assert_eq(rs_token_positions(&layout, NULL, 2, ids, run, NULL), RS_OK);
  cr_expect_arr_eq(ids, given, sizeof ids);
  cr_expect(run[0] == 0 && run[1] == 0);
  cr_expect_eq(rs_token_positions(&layout, NULL, 3, ids, NULL, &err), RS_DOMAIN);
  cr_expect_str_eq(err.message, "there are position ids for 2 tokens, the length is 3");
}
