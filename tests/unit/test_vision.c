/* test_vision.c: the metrics of images and videos against closed forms worked out here, hand-made layouts, and the
 * decode deltas of Qwen's and transformers' own code. */
#include "../measured.h"

#include "run/run.h"

/* ---- grid_decay: closed forms ------------------------------------------------------------------------------------ */

/* A film of which every number is worked out from the definitions. */
typedef struct film {
  const char *layout;
  size_t section[RS_AXES], head_dim, frames, rows, columns;
  double theta, seconds, ids;
} film;

/* Which axis a pair reads, as the models' own papers draw it. */
static size_t axis_of(const film *f, size_t pair) {
  const size_t *s = f->section;
  if (strcmp(f->layout, "contiguous") == 0) return pair < s[0] ? 0 : pair < s[0] + s[1] ? 1 : 2;
  if (strcmp(f->layout, "interleaved") == 0) {
    if (pair % 3 == 1 && pair < 3 * s[1]) return 1;
    return pair % 3 == 2 && pair < 3 * s[2] ? 2 : 0;
  }
  return pair >= s[1] + s[2] ? 0 : 1 + pair % 2; /* spatial_first with s[1] == s[2] */
}

/* K between frames f1 and f2, `rows` and `columns` apart. */
static long double kernel(const film *f, double f1, double f2, double rows, double columns) {
  size_t pairs = f->section[0] + f->section[1] + f->section[2];
  double rate = f->seconds * f->ids, offset[RS_AXES] = {floor(f2 * rate) - floor(f1 * rate), rows, columns};
  long double sum = (long double)(f->head_dim / 2 - pairs);
  for (size_t j = 0; j < pairs; j++) sum += cosl(offset[axis_of(f, j)] * powl(f->theta, -2.0L * j / (2 * pairs)));
  return sum / (f->head_dim / 2);
}

static long double asymmetry(const film *f, int step) {
  int rows = (int)f->rows, columns = (int)f->columns, above = rows / 2, left = columns / 2;
  long double squares = 0, count = 0;
  for (int a = -rows; a <= rows; a += 1)
    for (int b = -rows; b <= rows; b += 1) {
      bool inside = a >= -above && a < rows - above && b >= -left && b < columns - left;
      bool swapped = b >= -above && b < rows - above && a >= -left && a < columns - left;
      if (a == b || !inside || !swapped || a % step != 0 || b % step != 0) continue;
      squares += powl(kernel(f, 0, 0, a, b) - kernel(f, 0, 0, b, a), 2);
      count++;
    }
  return count > 0 ? sqrtl(squares / count) : NAN;
}

static long double recurrence(const film *f) {
  size_t turn = 0;
  long double most = NAN;
  while (turn + 1 < f->frames && kernel(f, 0, turn + 1, 0, 0) <= kernel(f, 0, turn, 0, 0) + 1e-15L) turn++;
  for (size_t t = turn + 1; t < f->frames; t++) most = fmaxl(most, kernel(f, 0, t, 0, 0));
  return most;
}

static void check_curve(const film *f, const measured *m, const char *where) {
  size_t row = 0;
  cr_assert_eq(m->result.curve.rows, f->frames * f->rows * f->columns, "%s: %zu rows", where, m->result.curve.rows);
  for (size_t t = 0; t < f->frames; t++)
    for (size_t h = 0; h < f->rows; h++)
      for (size_t w = 0; w < f->columns; w++, row++) {
        double dh = (double)h - (double)(f->rows / 2), dw = (double)w - (double)(f->columns / 2);
        agrees(cell(m, row, 0), (double)t - (double)(f->frames / 2), "dt_frames");
        agrees(cell(m, row, 1), dh, "dh_rows");
        agrees(cell(m, row, 2), dw, "dw_columns");
        agrees(cell(m, row, 3), kernel(f, f->frames / 2, t, dh, dw), where);
        cr_assert(isnan(cell(m, row, 4)), "%s", where);
      }
}

static void check_film(const film *f) {
  char where[256], settings[128];
  snprintf(where, sizeof where, "%s [%zu, %zu, %zu] D %zu theta %g, %zu x %zu x %zu at %g x %g", f->layout,
           f->section[0], f->section[1], f->section[2], f->head_dim, f->theta, f->frames, f->rows, f->columns,
           f->seconds, f->ids);
  snprintf(settings, sizeof settings, "mrope_section=%zu,%zu,%zu mrope_layout=%s", f->section[0], f->section[1],
           f->section[2], f->layout);
  rs_model model = plain_model(f->head_dim, f->theta, 4096);
  model.rotary_dim = 2 * (f->section[0] + f->section[1] + f->section[2]);
  rs_token_run runs[] = {text_run(3), video_run(f->frames, f->rows, f->columns, f->seconds, f->ids), text_run(2)};
  rs_encoding *encoding = encode_runs("mrope", settings, &model, runs, RS_COUNT(runs), 4);
  measured m = measure("grid_decay", "", encoding);
  check_curve(f, &m, where);
  double middle = (double)(f->frames / 2);
  scalar_is(&m, "spatial_asymmetry", asymmetry(f, 1), where);
  scalar_is(&m, "temporal_recurrence", recurrence(f), where);
  scalar_is(&m, "mean_cosine_next_frame", f->frames > 1 ? kernel(f, middle, middle - 1, 0, 0) : NAN, where);
  scalar_is(&m, "mean_cosine_next_row", f->rows > 1 ? kernel(f, 0, 0, 1, 0) : NAN, where);
  scalar_is(&m, "mean_cosine_next_column", f->columns > 1 ? kernel(f, 0, 0, 0, 1) : NAN, where);
  rs_curve_clear(&m.result.curve);
  rs_encoding_free(encoding);
}

Test(grid_decay, mrope_layouts__kernel_and_scalars__are_sums_over_the_sections) {
  static const film films[] = {
      {"contiguous", {16, 24, 24}, 128, 8, 5, 6, 1e6, 1, 1},    {"interleaved", {24, 20, 20}, 128, 8, 5, 6, 1e6, 1, 1},
      {"spatial_first", {16, 24, 24}, 128, 8, 5, 6, 1e6, 1, 1}, {"contiguous", {4, 6, 6}, 40, 7, 6, 3, 100, 1.5, 1},
      {"interleaved", {6, 5, 5}, 64, 9, 4, 4, 1e4, 0.5, 1},     {"contiguous", {1, 1, 1}, 6, 12, 2, 7, 1e4, 1, 2},
      {"contiguous", {2, 3, 1}, 12, 1, 1, 9, 1e4, 1, 1},        {"interleaved", {4, 2, 2}, 16, 2, 9, 1, 50, 1, 3},
      {"spatial_first", {2, 3, 3}, 16, 30, 1, 1, 10, 1, 1},     {"contiguous", {3, 2, 3}, 16, 3, 7, 7, 1e4, 0.3, 1}};
  for (size_t i = 0; i < RS_COUNT(films); i++) check_film(&films[i]);
}

Test(grid_decay, random_films__kernel_and_scalars__are_sums_over_the_sections) {
  static const char *const layouts[] = {"contiguous", "interleaved", "spatial_first"};
  uint64_t state = 2502;
  for (size_t i = 0; i < 60; i++) {
    film f = {.layout = layouts[i % 3], .theta = exp(draw_real(&state, 1, 14)), .ids = draw_size(&state, 1, 4)};
    size_t side = draw_size(&state, 1, 8);
    for (size_t a = 0; a < RS_AXES; a++) f.section[a] = i % 3 == 0 ? draw_size(&state, 1, 8) : side;
    f.head_dim = 2 * (f.section[0] + f.section[1] + f.section[2] + draw_size(&state, 0, 3));
    f.frames = draw_size(&state, 1, 12);
    f.rows = draw_size(&state, 1, 7);
    f.columns = draw_size(&state, 1, 7);
    f.seconds = draw_real(&state, 0, 2);
    check_film(&f);
  }
}

/* ---- grid_decay: by hand ----------------------------------------------------------------------------------------- */

/* One pair, which turns 1 rad an id. */
static measured one_pair(const char *section, size_t frames, size_t rows, size_t columns, double ids) {
  rs_model model = plain_model(2, 1e4, 4096);
  char settings[64];
  snprintf(settings, sizeof settings, "mrope_section=%s", section);
  rs_token_run runs[] = {video_run(frames, rows, columns, 1, ids)};
  rs_encoding *encoding = encode_runs("mrope", settings, &model, runs, 1, 0);
  measured m = measure("grid_decay", "", encoding);
  rs_encoding_free(encoding);
  return m;
}

/* cos 0, 1, 2, ... = 1, 0.54, -0.42, -0.99, -0.65, 0.28, 0.96, 0.75: falls up to 3, comes back most at 6. In steps of
 * 6 it creeps backwards round the circle, up to 66 = 21 pi + 0.03. */
Test(grid_decay, one_fast_temporal_pair__recurrence__is_the_highest_cosine_after_the_turn) {
  static const struct {
    size_t frames;
    double ids, expected;
  } cases[] = {{1, 1, NAN},
               {2, 1, NAN},
               {4, 1, NAN},
               {5, 1, -0.65364362086361191},
               {6, 1, 0.28366218546322626},
               {8, 1, 0.96017028665036602},
               {3, 2, NAN},
               {4, 2, 0.96017028665036602},
               {7, 6, NAN},
               {13, 6, -0.9672505882738824},
               {9, 0, NAN}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char where[64];
    snprintf(where, sizeof where, "%zu frames, %g ids each", cases[i].frames, cases[i].ids);
    measured m = one_pair("1,0,0", cases[i].frames, 3, 3, cases[i].ids);
    scalar_is(&m, "temporal_recurrence", cases[i].expected, where);
    scalar_is(&m, "spatial_asymmetry", 0, where); /* rows and columns: alike, for nothing turns */
    scalar_is(&m, "mean_cosine_next_row", 1, where);
    scalar_is(&m, "mean_cosine_next_frame", cases[i].frames > 1 ? cosl(cases[i].ids) : NAN, where);
    rs_curve_clear(&m.result.curve);
  }
}

/* 3 x 3: six offsets a != b, of which (0, 1), (1, 0) and their negatives differ by 1 - cos 1, (1, -1) and (-1, 1) by
 * nothing. */
Test(grid_decay, one_fast_spatial_pair__asymmetry__is_that_of_its_axis) {
  for (size_t axis = 1; axis < RS_AXES; axis++) {
    measured m = one_pair(axis == 1 ? "0,1,0" : "0,0,1", 2, 3, 3, 1);
    scalar_is(&m, "spatial_asymmetry", (1 - cosl(1)) * sqrtl(2.0L / 3), "3 x 3");
    scalar_is(&m, "mean_cosine_next_row", axis == 1 ? cosl(1) : 1, "3 x 3");
    scalar_is(&m, "mean_cosine_next_column", axis == 2 ? cosl(1) : 1, "3 x 3");
    scalar_is(&m, "mean_cosine_next_frame", 1, "3 x 3");
    scalar_is(&m, "temporal_recurrence", NAN, "3 x 3");
    rs_curve_clear(&m.result.curve);
  }
  measured strip = one_pair("0,0,1", 1, 1, 9, 1); /* no offset fits both ways */
  scalar_is(&strip, "spatial_asymmetry", NAN, "1 x 9");
  scalar_is(&strip, "mean_cosine_next_row", NAN, "1 x 9");
  rs_curve_clear(&strip.result.curve);
}

/* Slow pairs that are still falling: the rounding of their cosines is no return. */
Test(grid_decay, slow_temporal_pairs__nothing__comes_back) {
  rs_token_run runs[] = {video_run(300, 1, 2, 1, 1)};
  for (double theta = 1e6; theta < 1e14; theta *= 1.7) {
    rs_model model = plain_model(128, theta, 4096);
    rs_encoding *encoding =
        encode_runs("mrope", "mrope_section=6,29,29 mrope_layout=spatial_first", &model, runs, 1, 0);
    measured m = measure("grid_decay", "", encoding);
    char where[64];
    snprintf(where, sizeof where, "theta %g", theta);
    scalar_is(&m, "temporal_recurrence", NAN, where);
    rs_curve_clear(&m.result.curve);
    rs_encoding_free(encoding);
  }
}

/* One axis: patches stand one after the other. VideoRoPE: two ids a frame on all axes. V2PE: quarters of an id. */
Test(grid_decay, other_ways_of_counting__offsets__are_theirs) {
  static const struct {
    const char *method, *settings;
    double frame[RS_AXES], row[RS_AXES], column[RS_AXES]; /* ids on t, h, w that one frame, row, column takes */
  } cases[] = {{"rope", "", {12, 12, 12}, {4, 4, 4}, {1, 1, 1}},
               {"mrope", "mrope_section=2,2,2 vision_ids=videorope", {2, 2, 2}, {0, 1, 0}, {0, 0, 1}},
               {"mrope", "mrope_section=2,2,2 vision_ids=spatial_reset", {1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
               {"mrope", "mrope_section=2,2,2 vision_ids=v2pe", {3, 3, 3}, {1, 1, 1}, {.25, .25, .25}},
               {"pi", "mrope_section=2,2,2 factor=2 interpolate=positions", {.5, 0, 0}, {0, .5, 0}, {0, 0, .5}}};
  rs_model model = plain_model(12, 100, 4096);
  rs_token_run runs[] = {text_run(5), image_run(2, 2), video_run(3, 3, 4, 1, 1)};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_encoding *encoding = encode_runs(cases[i].method, cases[i].settings, &model, runs, RS_COUNT(runs), 0);
    measured m = measure("grid_decay", "run=video", encoding);
    cr_assert_eq(m.result.curve.rows, 36u, "%s: %zu rows", cases[i].settings, m.result.curve.rows);
    for (size_t r = 0; r < 36; r++) {
      long double sum = 0;
      for (size_t j = 0; j < 6; j++)
        sum += cosl((cell(&m, r, 0) * cases[i].frame[j / 2] + cell(&m, r, 1) * cases[i].row[j / 2] +
                     cell(&m, r, 2) * cases[i].column[j / 2]) *
                    powl(100, -2.0L * j / 12));
      agrees(cell(&m, r, 3), sum / 6, cases[i].settings);
    }
    rs_curve_clear(&m.result.curve);
    rs_encoding_free(encoding);
  }
}

/* ---- grid_decay: what is shown ----------------------------------------------------------------------------------- */

Test(grid_decay, image_before_video__run__chooses) {
  rs_model model = plain_model(12, 100, 4096);
  rs_token_run runs[] = {text_run(5), image_run(2, 4), text_run(1), video_run(3, 3, 4, 1, 1)};
  rs_encoding *both = encode_runs("mrope", "", &model, runs, RS_COUNT(runs), 1);
  rs_encoding *image = encode_runs("mrope", "", &model, runs, 3, 1);
  static const struct {
    const char *settings;
    size_t of_both, of_image;
  } cases[] = {{"", 8, 8}, {"run=first", 8, 8}, {"run=video", 36, 0}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    measured a = measure("grid_decay", cases[i].settings, both), b = measure("grid_decay", cases[i].settings, image);
    cr_expect_eq(a.result.curve.rows, cases[i].of_both, "%s: %zu rows", cases[i].settings, a.result.curve.rows);
    cr_expect_eq(b.result.curve.rows, cases[i].of_image, "%s: %zu rows", cases[i].settings, b.result.curve.rows);
    if (cases[i].of_image == 0) all_scalars_are_nan(&b, "no video");
    rs_curve_clear(&a.result.curve);
    rs_curve_clear(&b.result.curve);
  }
  rs_encoding_free(both);
  rs_encoding_free(image);
}

/* 9 x 8 x 8 patches: frames go first, the middle stays. */
Test(grid_decay, more_patches_than_rows__evenly_spaced__are_shown) {
  static const struct {
    const char *settings;
    size_t rows;
    int first[RS_AXES], step[RS_AXES]; /* the first offset shown, and from one to the next */
  } cases[] = {{"most_rows=576", 576, {-4, -4, -4}, {1, 1, 1}}, {"most_rows=575", 320, {-4, -4, -4}, {2, 1, 1}},
               {"most_rows=320", 320, {-4, -4, -4}, {2, 1, 1}}, {"most_rows=319", 192, {-3, -4, -4}, {3, 1, 1}},
               {"most_rows=64", 64, {0, -4, -4}, {9, 1, 1}},    {"most_rows=16", 16, {0, -4, -4}, {9, 2, 2}},
               {"most_rows=10", 9, {0, -3, -3}, {9, 3, 3}},     {"most_rows=1", 1, {0, 0, 0}, {9, 9, 9}}};
  film f = {"contiguous", {2, 2, 2}, 12, 9, 8, 8, 1e4, 1, 1};
  rs_model model = plain_model(12, 1e4, 4096);
  rs_token_run runs[] = {video_run(9, 8, 8, 1, 1)};
  rs_encoding *encoding = encode_runs("mrope", "mrope_section=2,2,2", &model, runs, 1, 0);
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    measured m = measure("grid_decay", cases[i].settings, encoding);
    const int *first = cases[i].first, *step = cases[i].step;
    size_t row = 0;
    cr_assert_eq(m.result.curve.rows, cases[i].rows, "%s: %zu rows", cases[i].settings, m.result.curve.rows);
    for (int t = first[0]; t < 5; t += step[0])
      for (int h = first[1]; h < 4; h += step[1])
        for (int w = first[2]; w < 4; w += step[2], row++) {
          cr_assert(cell(&m, row, 0) == t && cell(&m, row, 1) == h && cell(&m, row, 2) == w, "%s: row %zu",
                    cases[i].settings, row);
          agrees(cell(&m, row, 3), kernel(&f, 4, 4 + t, h, w), cases[i].settings);
        }
    scalar_is(&m, "spatial_asymmetry", asymmetry(&f, step[1]), cases[i].settings);
    scalar_is(&m, "temporal_recurrence", recurrence(&f), cases[i].settings);
    rs_curve_clear(&m.result.curve);
  }
  rs_encoding_free(encoding);
}

/* slope_h = 2^(-2 (h + 1)) for 4 heads; the distance is that of the tokens, either way. */
Test(grid_decay, alibi__bias__is_the_mean_of_heads_before_and_after) {
  static const size_t heads[] = {1, 3};
  rs_model model = plain_model(8, 1e4, 4096);
  model.heads = 4;
  rs_token_run runs[] = {text_run(2), video_run(2, 3, 4, 1, 1)};
  rs_encoding *encoding = encode_runs("alibi", "", &model, runs, 2, 0);
  measured m = measure_heads("grid_decay", "", encoding, heads, 2);
  cr_assert_eq(m.result.curve.rows, 24u);
  for (size_t r = 0; r < 24; r++) {
    double distance = cell(&m, r, 0) * 12 + cell(&m, r, 1) * 4 + cell(&m, r, 2);
    agrees(cell(&m, r, 3), 1, "mean_cosine");
    agrees(cell(&m, r, 4), -fabs(distance) * (0.0625L + 0.00390625L) / 2, "bias_nats");
  }
  all_scalars_are_nan(&m, "alibi");
  rs_curve_clear(&m.result.curve);
  rs_encoding_free(encoding);
}

Test(grid_decay, nothing_to_show__no_rows__and_nan) {
  static const struct {
    const char *method, *settings;
    size_t runs;
  } cases[] = {{"nope", "", 2},  {"sinusoidal", "", 2}, {"learned", "", 2}, {"self_extend", "", 2},
               {"mrope", "", 1}, {"rope", "", 0},       {"alibi", "", 0}};
  rs_model model = plain_model(8, 1e4, 4096);
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_token_run runs[] = {text_run(2), video_run(2, 3, 4, 1, 1)};
    rs_encoding *encoding = encode_runs(cases[i].method, cases[i].settings, &model, runs, cases[i].runs, 3);
    measured m = measure("grid_decay", "", encoding);
    cr_expect_eq(m.result.curve.rows, 0u, "%s: %zu rows", cases[i].method, m.result.curve.rows);
    all_scalars_are_nan(&m, cases[i].method);
    rs_curve_clear(&m.result.curve);
    rs_encoding_free(encoding);
  }
}

/* ---- id_growth --------------------------------------------------------------------------------------------------- */

enum { SEGMENTS = 4 };

typedef struct growth_case {
  const char *method, *settings;
  double first[SEGMENTS], last[SEGMENTS], end; /* `end`: largest id + 1 */
} growth_case;

static void check_growth(const growth_case *c, const rs_encoding *encoding, const double *tokens, size_t segments) {
  measured m = measure("id_growth", "", encoding);
  cr_assert_eq(m.result.curve.rows, segments, "%s: %zu rows", c->settings, m.result.curve.rows);
  for (size_t s = 0; s < segments; s++) {
    double growth = (s + 1 < segments ? c->first[s + 1] : c->end) - c->first[s];
    const double want[] = {(double)s, tokens[s], c->first[s], c->last[s], growth, growth / tokens[s]};
    for (size_t k = 0; k < RS_COUNT(want); k++)
      cr_assert_eq(cell(&m, s, k), want[k], "%s %s segment %zu %s: %g, should be %g", c->method, c->settings, s,
                   m.kind->curve[k].name, cell(&m, s, k), want[k]);
  }
  double length = (double)encoding->length;
  scalar_is(&m, "max_position_id", c->end - 1, c->settings);
  scalar_is(&m, "decode_delta", c->end - length, c->settings);
  scalar_is(&m, "ids_per_token", c->end / length, c->settings);
  rs_curve_clear(&m.result.curve);
}

/* 5 of text, 4 frames of 2 x 6 at 1.5 s and 2 ids a second, 3 of text, 4 after. */
Test(id_growth, every_way_of_counting__segments__by_hand) {
  static const growth_case cases[] = {
      {"mrope", "vision_ids=qwen2_vl", {0, 5, 15, 18}, {4, 14, 17, 21}, 22},
      {"mrope", "vision_ids=hf", {0, 5, 11, 14}, {4, 11, 13, 17}, 18},
      {"mrope", "vision_ids=spatial_reset", {0, 5, 15, 18}, {4, 14, 17, 21}, 22},
      {"mrope", "vision_ids=videorope", {0, 5, 12, 15}, {4, 14, 14, 18}, 19},
      {"mrope", "vision_ids=videorope vision_step=0.5", {0, 5, 7.5, 10.5}, {4, 9.5, 9.5, 13.5}, 14.5},
      {"mrope", "vision_ids=v2pe", {0, 4.25, 17, 20}, {4, 16, 19, 23}, 24},
      {"pi", "mrope_section=1,1,1 factor=2 interpolate=positions", {0, 2.5, 7.5, 9}, {2, 7, 8.5, 10.5}, 11.5},
      {"rope", "", {0, 5, 53, 56}, {4, 52, 55, 59}, 60}};
  static const double tokens[] = {5, 48, 3, 4};
  rs_model model = plain_model(6, 1e4, 4096);
  rs_token_run runs[] = {text_run(5), video_run(4, 2, 6, 1.5, 2), text_run(3)};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_encoding *encoding = encode_runs(cases[i].method, cases[i].settings, &model, runs, RS_COUNT(runs), 4);
    check_growth(&cases[i], encoding, tokens, SEGMENTS);
    rs_encoding_free(encoding);
  }
}

/* No text after; the largest id is not in the last segment, nor in the last token of its own. */
Test(id_growth, layouts_without_text_after__largest_id__is_found_anywhere) {
  static const growth_case text = {"mrope", "text", {0}, {6}, 7}, none = {"rope", "no runs", {0}, {6}, 7},
                           image = {"mrope", "image", {0, 2}, {1, 8}, 9},
                           behind = {"mrope", "vision_ids=hf", {0, 2, 5}, {1, 11, 6}, 12};
  rs_model model = plain_model(6, 1e4, 4096);
  rs_token_run words[] = {text_run(7)}, picture[] = {text_run(2), image_run(7, 2)},
               film_first[] = {text_run(2), video_run(10, 3, 1, 1, 1), text_run(2)};
  rs_encoding *encodings[] = {
      encode_runs("mrope", "", &model, words, 1, 0), encode_runs("rope", "", &model, words, 0, 7),
      encode_runs("mrope", "", &model, picture, 2, 0), encode_runs("mrope", "vision_ids=hf", &model, film_first, 3, 0)};
  check_growth(&text, encodings[0], (const double[]){7}, 1);
  check_growth(&none, encodings[1], (const double[]){7}, 1);
  check_growth(&image, encodings[2], (const double[]){2, 14}, 2);
  check_growth(&behind, encodings[3], (const double[]){2, 30, 2}, 3);
  for (size_t i = 0; i < RS_COUNT(encodings); i++) rs_encoding_free(encodings[i]);
}

Test(id_growth, no_ids__no_rows__and_nan) {
  static const struct {
    const char *method, *settings;
  } cases[] = {
      {"nope", ""}, {"alibi", ""}, {"sinusoidal", ""}, {"dynamic_ntk", "factor=2 cached_keys=4"}, {"self_extend", ""}};
  rs_model model = plain_model(16, 1e4, 8);
  rs_token_run runs[] = {text_run(2), image_run(3, 4)};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_encoding *encoding = encode_runs(cases[i].method, cases[i].settings, &model, runs, 2, 3);
    measured m = measure("id_growth", "", encoding);
    cr_expect_eq(m.result.curve.rows, 0u, "%s: %zu rows", cases[i].method, m.result.curve.rows);
    all_scalars_are_nan(&m, cases[i].method);
    rs_curve_clear(&m.result.curve);
    rs_encoding_free(encoding);
  }
}

/* A tower sees patches: rows and columns that train_length does not count. */
Test(ood_angles, pairs_of_patches__no_rows__and_nan) {
  static const char *const cases[][2] = {{"axial", ""},
                                         {"rope_mixed", "freq_x=1,1,1,1,1,1,1,1 freq_y=0,0,0,0,0,0,0,0"}};
  rs_model model = plain_model(16, 1e4, 8);
  rs_token_run runs[] = {image_run(3, 40)};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_encoding *encoding = encode_runs(cases[i][0], cases[i][1], &model, runs, 1, 0);
    measured m = measure("ood_angles", "", encoding);
    cr_expect_eq(m.result.curve.rows, 0u, "%s: %zu rows", cases[i][0], m.result.curve.rows);
    all_scalars_are_nan(&m, cases[i][0]);
    rs_curve_clear(&m.result.curve);
    rs_encoding_free(encoding);
  }
}

Test(id_growth, golden_prompts__decode_delta__is_that_of_qwen_and_transformers) {
  static const char *const columns[] = {"delta_qwen", "delta_hf5"}, *const schemes[] = {"", "vision_ids=hf"};
  rs_table *prompts = golden_read("d_mrope_prompts.csv"), *deltas = golden_read("d_mrope_delta.csv");
  rs_model model = plain_model(6, 1e4, 4096);
  for (size_t row = 0; row < deltas->rows; row++)
    for (size_t i = 0; i < RS_COUNT(columns); i++) {
      rs_token_layout layout = golden_layout(prompts, golden_text(deltas, row, "case"));
      rs_encoding *encoding = encode_runs("mrope", schemes[i], &model, layout.runs, layout.count, 0);
      measured m = measure("id_growth", "", encoding);
      cr_assert_eq(encoding->length, golden_size(deltas, row, "seq_len"));
      cr_expect_eq(scalar(&m, "decode_delta"), golden_number(deltas, row, columns[i]), "%s %s: %g",
                   golden_text(deltas, row, "case"), columns[i], scalar(&m, "decode_delta"));
      rs_curve_clear(&m.result.curve);
      rs_encoding_free(encoding);
      rs_token_layout_clear(&layout);
    }
  rs_table_free(deltas);
  rs_table_free(prompts);
}

/* ---- layouts ----------------------------------------------------------------------------------------------------- */

/* Qwen3-VL's golden video: 4 frames of 4 x 3; between them one token ends a picture, 4 say the time, one begins. */
Test(timestamps, config_of_a_qwen3_video__ids__are_the_golden_ones) {
  static const char yaml[] = "model: qwen3-vl-8b\nmethods: mrope\nmetrics: id_growth\nlengths: 87\n"
                             "tokens: [{text: 5}, {video: [4, 4, 3], timestamp_tokens: 6}, {text: 10}]\n";
  static const char *const axes[] = {"t_qwen", "h_qwen", "w_qwen"};
  rs_table *table = golden_read("d_mrope_pos.csv");
  rs_experiment *experiment = NULL;
  rs_problems problems = {0};
  double ids[87 * RS_AXES];
  size_t begin, end;
  golden_case(table, "q3_video", &begin, &end);
  cr_assert_eq(end - begin, 87u);
  cr_assert_eq(rs_config_read(yaml, "t.yaml", (rs_config_edits){0}, &experiment, &problems, NULL), RS_OK, "%s",
               rs_text_string(&problems.text));
  cr_assert_eq(experiment->tokens.count, 10u);
  for (size_t i = 2; i < 10; i += 2) {
    const rs_token_run *run = &experiment->tokens.runs[i];
    cr_assert(run->modality == RS_IMAGE && run->frames == 1 && run->rows == 4 && run->columns == 3, "run %zu", i);
  }
  cr_assert_eq(rs_token_layout_tokens(&experiment->tokens), 87u);
  cr_assert_eq(rs_token_positions(&experiment->tokens, NULL, 87, ids, NULL, NULL), RS_OK);
  for (size_t i = 0; i < 87 * RS_AXES; i++)
    cr_assert_eq(ids[i], golden_number(table, begin + i / RS_AXES, axes[i % RS_AXES]), "token %zu %s: %g", i / RS_AXES,
                 axes[i % RS_AXES], ids[i]);
  rs_experiment_free(experiment);
  rs_problems_clear(&problems);
  rs_table_free(table);
}

Test(layouts, longer_than_the_context__every_method__is_undefined) {
  static const char *const methods[] = {"rope", "mrope", "nope", "alibi", "self_extend"};
  rs_model model = plain_model(8, 1e4, 64);
  rs_token_run runs[] = {text_run(2), video_run(2, 3, 4, 1, 1)};
  rs_token_layout layout = {.runs = runs, .count = 2};
  for (size_t i = 0; i < RS_COUNT(methods); i++) {
    rs_recipe recipe = make_recipe(methods[i], "");
    rs_encoding *encoding = NULL;
    rs_err err = {0};
    cr_expect_eq(rs_encoding_create(&recipe, &model, 25, &layout, NULL, &encoding, &err), RS_DOMAIN, "%s", methods[i]);
    cr_expect_str_eq(err.message, "the token layout has 26 tokens, the length is only 25", "%s: %s", methods[i],
                     err.message);
    cr_expect_null(encoding);
    rs_recipe_clear(&recipe);
  }
}
