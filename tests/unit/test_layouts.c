/* Token layouts and their axes, reach, segments, embeddings and a bias of all keys. */
#include "../fixtures/vision_model.h"
#include "../golden.h"

/* ---- tokens and axes --------------------------------------------------------------------------------------------- */

enum { RUNS = 6 };

/* Random runs; returns their tokens. */
static size_t draw_layout(uint64_t *state, rs_token_run runs[RUNS]) {
  size_t tokens = 0;
  for (size_t i = 0; i < RUNS; i++) {
    rs_token_run *run = &runs[i];
    *run = (rs_token_run){.modality = (rs_modality)draw_size(state, 0, 2), .seconds_per_frame = 1, .ids_per_second = 1};
    run->frames = run->modality == RS_VIDEO ? draw_size(state, 1, 5) : 1;
    run->rows = draw_size(state, 1, 4);
    run->columns = draw_size(state, 1, 4);
    if (run->modality == RS_VIDEO) run->ids_per_second = draw_real(state, 0.2, 3);
    run->tokens = run->modality == RS_TEXT ? draw_size(state, 1, 6) : run->frames * run->rows * run->columns;
    tokens += run->tokens;
  }
  return tokens;
}

/* Ids counted one token at a time, with nested loops over frames, rows and columns. */
static void expected_ids(const rs_token_run *runs, size_t length, double (*ids)[RS_AXES], uint32_t *run) {
  size_t token = 0;
  double next = 0;
  for (uint32_t i = 0; i <= RUNS; i++) {
    bool text = i == RUNS || runs[i].modality == RS_TEXT;
    size_t frames = text ? (i == RUNS ? length - token : runs[i].tokens) : runs[i].frames;
    size_t rows = text ? 1 : runs[i].rows, columns = text ? 1 : runs[i].columns;
    double start = next;
    for (size_t f = 0; f < frames; f++)
      for (size_t y = 0; y < rows; y++)
        for (size_t x = 0; x < columns; x++, token++) {
          ids[token][0] = start + (text ? (double)f : floor((double)f * runs[i].ids_per_second));
          ids[token][1] = text ? ids[token][0] : start + (double)y;
          ids[token][2] = text ? ids[token][0] : start + (double)x;
          for (size_t a = 0; a < RS_AXES; a++) next = fmax(next, ids[token][a] + 1);
          run[token] = i;
        }
  }
}

Test(encoding, token_positions__random_layouts__count_as_qwen_does) {
  uint64_t state = 11;
  for (size_t turn = 0; turn < 300; turn++) {
    rs_token_run runs[RUNS], *borrowed = runs;
    rs_token_layout layout = {.runs = borrowed, .count = RUNS};
    size_t tokens = draw_layout(&state, runs), length = tokens + draw_size(&state, 0, 3);
    double(*ids)[RS_AXES] = calloc(length, sizeof *ids), (*expected)[RS_AXES] = calloc(length, sizeof *expected);
    uint32_t *run = calloc(length, sizeof *run), *expected_run = calloc(length, sizeof *run);
    expected_ids(runs, length, expected, expected_run);
    cr_assert_eq(rs_token_layout_tokens(&layout), tokens);
    cr_assert_eq(rs_token_positions(&layout, NULL, length, ids[0], run, NULL), RS_OK);
    for (size_t i = 0; i < length; i++) {
      cr_assert_eq(run[i], expected_run[i], "turn %zu token %zu: run %u", turn, i, run[i]);
      for (size_t a = 0; a < RS_AXES; a++)
        cr_assert_eq(ids[i][a], expected[i][a], "turn %zu token %zu axis %zu: got %g, expected %g", turn, i, a,
                     ids[i][a], expected[i][a]);
    }
    cr_assert_eq(rs_token_positions(&layout, NULL, length, ids[0], NULL, NULL), RS_OK, "without runs");
    free(expected_run), free(run), free(expected), free(ids);
  }
}

Test(encoding, token_positions__more_tokens_than_length__is_a_domain_error) {
  rs_token_run runs[] = {{.modality = RS_TEXT, .tokens = 5}};
  rs_token_layout layout = {.runs = runs, .count = 1}, none = {0};
  double ids[4 * RS_AXES];
  rs_err err = {0};
  cr_assert_eq(rs_token_positions(&layout, NULL, 4, ids, NULL, &err), RS_DOMAIN);
  cr_assert_str_eq(err.message, "the token layout has 5 tokens, the length is only 4");
  cr_assert_eq(rs_token_positions(&none, NULL, 4, ids, NULL, NULL), RS_OK);
  for (size_t i = 0; i < RS_COUNT(ids); i++) cr_assert_eq(ids[i], (double)(i / RS_AXES));
}

/* The axis of each pair as a string of digits. */
Test(encoding, axes__given_model_and_default_sections__are_shared_out) {
  static const struct {
    bool vision;
    const char *method, *settings, *axes;
  } cases[] = {
      {true, "mrope", "", "00111222"},
      {true, "rope", "", "00111222"}, /* the model's, whatever the method */
      {true, "rope", "mrope_section=none", ""},
      {true, "mrope", "mrope_section=equal", "00011122"},
      {true, "mrope", "mrope_section=4,2,2", "00001122"},
      {true, "mrope", "mrope_layout=interleaved",
       "01201201"}, /* Hugging Face's rule: w finds room for two of its three */
      {true, "mrope", "mrope_section=4,2,2 mrope_layout=interleaved", "01201200"},
      {false, "mrope", "", "00011122"},
      {false, "mrope", "rotary_dim=14", "0001122"},
      {false, "mrope", "rotary_dim=12", "001122"},
      {false, "rope", "", ""},
      {false, "yarn", "mrope_section=2,3,3", "00111222"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_model model = cases[i].vision ? vision_model() : plain_model(16, 1e4, 64);
    rs_encoding *encoding = encode(cases[i].method, cases[i].settings, &model, 4);
    bool text = *cases[i].axes == '\0';
    cr_assert_eq(encoding->axes, text ? 1u : 3u, "%s %s: %zu axes", cases[i].method, cases[i].settings, encoding->axes);
    for (size_t j = 0; j < encoding->rotary_dim / 2; j++)
      cr_assert_eq(encoding->axis[j], text ? 0 : cases[i].axes[j] - '0', "%s %s pair %zu: axis %u", cases[i].method,
                   cases[i].settings, j, encoding->axis[j]);
    rs_encoding_free(encoding);
  }
}

/* ---- reach and views --------------------------------------------------------------------------------------------- */

static void check_reach(const rs_encoding *encoding, const char *what) {
  double expected[RS_AXES] = {0};
  for (size_t m = 0; m < encoding->length; m++)
    for (size_t n = 0; n <= m; n++)
      for (size_t a = 0; a < encoding->axes; a++) {
        size_t view = rs_encoding_view(encoding, m, n);
        double q = encoding->pos_q[view][m * encoding->axes + a], k = encoding->pos_k[view][n * encoding->axes + a];
        expected[a] = fmax(expected[a], fabs(q - k));
      }
  for (size_t a = 0; a < encoding->axes; a++) {
    double got = rs_encoding_reach(encoding, a);
    cr_assert_eq(got, expected[a], "%s axis %zu: got %g, expected %g", what, a, got, expected[a]);
  }
}

Test(encoding, reach__every_method_and_random_pictures__is_the_largest_distance) {
  rs_model model = plain_model(16, 1e4, 16), vision = vision_model();
  static const char *const cases[][2] = {{"nope", ""},
                                         {"rope", ""},
                                         {"pi", "interpolate=positions factor=4"},
                                         {"pi", "factor=4"},
                                         {"self_extend", ""},
                                         {"self_extend", "window=3 group=4"},
                                         {"self_extend", "window=40"},
                                         {"self_extend", "window=0 group=2"}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    if (strcmp(cases[i][1], "window=40") == 0) model.train_length = 64;
    rs_encoding *encoding = encode(cases[i][0], cases[i][1], &model, 33);
    check_reach(encoding, cases[i][1]);
    rs_encoding_free(encoding);
  }
  uint64_t state = 12;
  for (size_t turn = 0; turn < 100; turn++) {
    rs_token_run runs[RUNS];
    rs_token_layout layout = {.runs = runs, .count = RUNS};
    size_t length = draw_layout(&state, runs) + draw_size(&state, 0, 2);
    rs_recipe recipe = make_recipe("mrope", "");
    rs_encoding *encoding = encode_recipe(&recipe, &vision, length, &layout);
    check_reach(encoding, "pictures");
    cr_assert(encoding->tokens.runs != runs && encoding->tokens.count == RUNS, "the layout is copied");
    rs_encoding_free(encoding);
    rs_recipe_clear(&recipe);
  }
}

Test(encoding, segments__one_view__reaches_the_whole_length) {
  rs_model model = plain_model(16, 1e4, 16);
  rs_encoding *encoding = encode("rope", "", &model, 9);
  for (size_t m = 0; m < 9; m++) {
    rs_segment segments[RS_VIEWS];
    cr_assert_eq(rs_encoding_segments(encoding, m, segments), 1u);
    cr_assert(segments[0].begin == 0 && segments[0].end == 9 && segments[0].view == 0, "query %zu", m);
    for (size_t n = 0; n < 9; n++) cr_assert_eq(rs_encoding_view(encoding, m, n), 0u);
  }
  rs_encoding_free(encoding);
}

/* ---- additive embeddings and bias -------------------------------------------------------------------------------- */

Test(encoding, learned__table__is_a_function_of_its_seed_and_ends) {
  enum { WIDTH = 12, ROWS = 20 };
  rs_model model = plain_model(6, 1e4, ROWS);
  model.heads = 2;
  rs_encoding *encoding = encode("learned", "init_sd=0.5 table_seed=3", &model, ROWS);
  rs_encoding *other = encode("learned", "init_sd=0.5 table_seed=4", &model, ROWS);
  double whole[ROWS * WIDTH], part[ROWS * WIDTH], squares = 0;
  rs_err err = {0};
  cr_assert_eq(rs_encoding_embed(encoding, 0, ROWS, whole, &err), RS_OK, "%s", err.message);
  for (size_t begin = 0; begin < ROWS; begin++) {
    cr_assert_eq(rs_encoding_embed(encoding, begin, ROWS - begin, part, &err), RS_OK, "%s", err.message);
    cr_assert_arr_eq(part, whole + begin * WIDTH, (ROWS - begin) * WIDTH * sizeof *part, "from row %zu", begin);
  }
  for (size_t i = 0; i < ROWS * WIDTH; i++) squares += whole[i] * whole[i] / (ROWS * WIDTH);
  cr_assert(close_to(sqrt(squares), 0.5, 0.2, 0), "sd %g", sqrt(squares));
  cr_assert_eq(rs_encoding_embed(other, 0, ROWS, part, &err), RS_OK);
  cr_assert_neq(part[0], whole[0], "another seed, another table");
  rs_gaussian_fill((rs_stream){.seed = 3}, 0, 1, part);
  cr_assert_neq(0.5 * part[0], whole[0], "the table shares its numbers with purpose 0");
  cr_assert_eq(rs_encoding_embed(encoding, ROWS - 1, 2, part, &err), RS_DOMAIN);
  cr_assert_str_eq(err.message, "learned: position 20 is beyond the table of 20 rows");
  rs_encoding_free(other);
  rs_encoding_free(encoding);
}

Test(encoding, sinusoidal__any_rows__are_those_of_the_whole) {
  enum { WIDTH = 8, ROWS = 9 };
  rs_model model = plain_model(WIDTH, 1e4, 4);
  rs_encoding *encoding = encode("sinusoidal", "", &model, ROWS);
  double row[WIDTH];
  for (size_t i = 0; i < ROWS; i++) {
    cr_assert_eq(rs_encoding_embed(encoding, i, 1, row, NULL), RS_OK);
    for (size_t d = 0; d < WIDTH; d++) {
      double angle = (double)i / pow(10000, (double)(d / 2 * 2) / WIDTH);
      cr_assert(close_to(row[d], d % 2 ? cos(angle) : sin(angle), 0, 1e-14), "row %zu dim %zu: got %g", i, d, row[d]);
    }
  }
  rs_encoding_free(encoding);
}

Test(encoding, alibi__any_keys__penalise_distance_both_ways) {
  rs_model model = plain_model(16, 1e4, 16);
  model.heads = 8;
  rs_encoding *encoding = encode("alibi", "bias_max=4", &model, 16);
  double bias[16];
  for (size_t head = 0; head < 8; head++) {
    double slope = exp2(-0.5 * (double)(head + 1)); /* libm's own last place is not ours (math.h) */
    cr_assert(close_to(encoding->bias_table[head], slope, 0x1p-52, 0), "head %zu", head);
    for (size_t query = 0; query < 16; query++)
      for (size_t begin = 0; begin < 16; begin += 3) {
        rs_encoding_bias_row(encoding, head, query, begin, 16, bias);
        for (size_t n = begin; n < 16; n++)
          cr_assert_eq(bias[n - begin], -encoding->bias_table[head] * fabs((double)n - (double)query),
                       "head %zu query %zu key %zu", head, query, n);
      }
  }
  cr_assert_eq(encoding->rotary_dim, 0u);
  rs_encoding_free(encoding);
}
