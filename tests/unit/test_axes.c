/* test_axes.c: axis_decay, axis_wavelengths and frame_decay against sums written out here from the layouts'
 * definitions, numbers worked out by hand, and those of Qwen2-VL's sections. */
#include "../measured.h"

/* ---- which pair reads which axis, as the papers draw it ---------------------------------------------------------- */

typedef struct sharing {
  const char *layout;
  size_t section[RS_AXES], still; /* pairs past the rotary ones */
  double theta;
} sharing;

static size_t axis_of(const sharing *s, size_t pair) {
  if (strcmp(s->layout, "contiguous") == 0)
    return pair < s->section[0] ? 0 : pair < s->section[0] + s->section[1] ? 1 : 2;
  if (strcmp(s->layout, "interleaved") == 0) {
    if (pair % 3 == 1 && pair < 3 * s->section[1]) return 1;
    return pair % 3 == 2 && pair < 3 * s->section[2] ? 2 : 0;
  }
  return pair >= s->section[1] + s->section[2] ? 0 : 1 + pair % 2; /* spatial_first with as many rows as columns */
}

static size_t pairs_of(const sharing *s) {
  return s->section[0] + s->section[1] + s->section[2];
}

static long double omega_of(const sharing *s, size_t pair) {
  return powl(s->theta, -2.0L * pair / (2 * pairs_of(s)));
}

static long double mean_of(const sharing *s, size_t axis, size_t distance) {
  long double sum = 0, count = 0;
  for (size_t j = 0; j < pairs_of(s); j++) {
    if (axis_of(s, j) != axis) continue;
    sum += cosl(distance * omega_of(s, j));
    count++;
  }
  return count > 0 ? sum / count : NAN;
}

static rs_encoding *encode_sharing(const sharing *s) {
  char settings[128];
  rs_model model = plain_model(2 * (pairs_of(s) + s->still), s->theta, 4096);
  model.rotary_dim = 2 * pairs_of(s);
  snprintf(settings, sizeof settings, "mrope_section=%zu,%zu,%zu mrope_layout=%s", s->section[0], s->section[1],
           s->section[2], s->layout);
  return encode("mrope", settings, &model, 16);
}

static const sharing sharings[] = {
    {"contiguous", {16, 24, 24}, 0, 1e6},    {"interleaved", {24, 20, 20}, 0, 1e6},
    {"spatial_first", {16, 24, 24}, 0, 1e6}, {"contiguous", {2, 3, 1}, 3, 50},
    {"contiguous", {1, 1, 0}, 0, 9},         {"contiguous", {0, 2, 2}, 1, 1e4},
    {"interleaved", {4, 2, 2}, 2, 100},      {"spatial_first", {3, 1, 1}, 0, 20},
    {"contiguous", {3, 1, 5}, 0, 7},
};

/* ---- axis_decay -------------------------------------------------------------------------------------------------- */

enum { REACH = 300 };

/* The first distance in [1, REACH) below `level`, looked for from the far end. */
static long double first_below(const sharing *s, size_t axis, double level) {
  long double first = NAN;
  for (size_t d = REACH - 1; d >= 1; d--)
    if (mean_of(s, axis, d) < level) first = d;
  return first;
}

static long double largest(const sharing *s, size_t axis, size_t far) {
  long double most = NAN;
  for (size_t d = far; d < REACH; d++) most = fmaxl(most, mean_of(s, axis, d));
  return most;
}

static void check_scalars(const sharing *s, const measured *m, size_t far, double threshold) {
  long double h = first_below(s, 1, threshold), w = first_below(s, 2, threshold), gap = NAN;
  for (size_t d = 1; d < far; d++) gap = fmaxl(gap, fabsl(mean_of(s, 1, d) - mean_of(s, 2, d)));
  scalar_is(m, "temporal_first_negative_ids", first_below(s, 0, 0), s->layout);
  scalar_is(m, "temporal_far_recurrence", largest(s, 0, far), s->layout);
  scalar_is(m, "temporal_resolution_ids", first_below(s, 0, threshold), s->layout);
  scalar_is(m, "spatial_first_negative_ids", fminl(first_below(s, 1, 0), first_below(s, 2, 0)), s->layout);
  scalar_is(m, "spatial_far_recurrence", fmaxl(largest(s, 1, far), largest(s, 2, far)), s->layout);
  scalar_is(m, "spatial_resolution_ids", isnan(h) || isnan(w) ? NAN : fmaxl(h, w), s->layout);
  scalar_is(m, "spatial_gap", gap, s->layout);
}

static void check_rows(const sharing *s, const measured *m) {
  cr_assert_eq(m->result.curve.rows, REACH);
  for (size_t d = 0; d < REACH; d++) {
    agrees(cell(m, d, 0), d, "distance_ids");
    for (size_t a = 0; a < RS_AXES; a++) agrees(cell(m, d, 1 + a), mean_of(s, a, d), s->layout);
  }
}

Test(axis_decay, every_layout__each_axis__is_the_mean_over_its_own_pairs) {
  for (size_t i = 0; i < RS_COUNT(sharings); i++) {
    const sharing *s = &sharings[i];
    rs_encoding *encoding = encode_sharing(s);
    measured m = measure("axis_decay", "reach=300 far=64 threshold=0.9 distances=all", encoding);
    check_rows(s, &m);
    check_scalars(s, &m, 64, 0.9);
    rs_curve_clear(&m.result.curve);
    m = measure("axis_decay", "reach=300 far=7 threshold=-0.25", encoding);
    check_scalars(s, &m, 7, -0.25);
    rs_curve_clear(&m.result.curve);
    rs_encoding_free(encoding);
  }
}

/* One pair in time, 1 rad an id: cos 0, 1, ... = 1, .54, -.42, -.99, -.65, .28, .96, .75. The reach is not looked at,
 * `far` is. */
Test(axis_decay, one_pair__ends_of_the_ranges__are_where_they_are_said_to_be) {
  static const struct {
    const char *settings;
    long double negative, recurrence, resolution;
  } cases[] = {{"reach=8 far=4 threshold=0.9", 2, 0.96017028665036602L, 1},
               {"reach=7 far=6 threshold=0.9", 2, 0.96017028665036602L, 1},
               {"reach=6 far=4 threshold=0.9", 2, 0.28366218546322626L, 1},
               {"reach=6 far=5 threshold=0.9", 2, 0.28366218546322626L, 1},
               {"reach=5 far=4 threshold=-0.5", 2, -0.65364362086361191L, 3},
               {"reach=4 far=4 threshold=-0.5", 2, NAN, 3},
               {"reach=3 far=4 threshold=-0.5", 2, NAN, NAN},
               {"reach=4 far=4 threshold=0.5403023058681398", 2, NAN, 2}, /* that of distance 1 is not below it */
               {"reach=2 far=1 threshold=0.5", NAN, 0.54030230586813972L, NAN}};
  sharing s = {"contiguous", {1, 0, 0}, 0, 1e4};
  rs_encoding *encoding = encode_sharing(&s);
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    measured m = measure("axis_decay", cases[i].settings, encoding);
    scalar_is(&m, "temporal_first_negative_ids", cases[i].negative, cases[i].settings);
    scalar_is(&m, "temporal_far_recurrence", cases[i].recurrence, cases[i].settings);
    scalar_is(&m, "temporal_resolution_ids", cases[i].resolution, cases[i].settings);
    for (size_t k = 3; k < 7; k++) agrees(m.result.value[k], NAN, "no pair reads space");
    rs_curve_clear(&m.result.curve);
  }
  rs_encoding_free(encoding);
}

/* arXiv:2409.12191 publishes the sections and the base; their sums, here to the digits that two programs agree on. */
Test(axis_decay, qwen2_vl_and_its_rivals__time__is_as_known) {
  static const struct {
    size_t sharing;
    double at_1, at_8, at_64;
    long double negative, resolution;
    double recurrence;
  } cases[] = {{0, .915346, .226776, -.202768, 16, 2, .594670},
               {1, .973129, .789215, .641749, NAN, 3, .780907},
               {2, 1.0, 1.0, 1.0, NAN, NAN, 1.0}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_encoding *encoding = encode_sharing(&sharings[cases[i].sharing]);
    measured m = measure("axis_decay", "distances=all", encoding);
    cr_assert_eq(m.result.curve.rows, 4096);
    cr_assert(close_to(cell(&m, 1, 1), cases[i].at_1, 0, 1e-6), "T(1) = %.7f", cell(&m, 1, 1));
    cr_assert(close_to(cell(&m, 8, 1), cases[i].at_8, 0, 1e-6), "T(8) = %.7f", cell(&m, 8, 1));
    cr_assert(close_to(cell(&m, 64, 1), cases[i].at_64, 0, 1e-6), "T(64) = %.7f", cell(&m, 64, 1));
    scalar_is(&m, "temporal_first_negative_ids", cases[i].negative, "case");
    scalar_is(&m, "temporal_resolution_ids", cases[i].resolution, "case");
    cr_assert(close_to(scalar(&m, "temporal_far_recurrence"), cases[i].recurrence, 0, 1e-6));
    rs_curve_clear(&m.result.curve);
    rs_encoding_free(encoding);
  }
}

Test(axis_decay, log_distances__rows__are_the_log_edges_below_the_reach) {
  size_t *edges, bins;
  rs_encoding *encoding = encode_sharing(&sharings[0]);
  measured m = measure("axis_decay", "reach=1000 per_octave=3", encoding);
  cr_assert_eq(rs_log_edges(1000, 3, &edges, &bins, NULL), RS_OK);
  cr_assert_eq(m.result.curve.rows, bins);
  for (size_t i = 0; i < bins; i++) {
    agrees(cell(&m, i, 0), edges[i], "distance_ids");
    for (size_t a = 0; a < RS_AXES; a++) agrees(cell(&m, i, 1 + a), mean_of(&sharings[0], a, edges[i]), "mean");
  }
  free(edges);
  rs_curve_clear(&m.result.curve);
  rs_encoding_free(encoding);
}

/* Text has one axis, which all pairs read; it is called time. */
Test(axis_decay, one_axis__time__is_the_mean_cosine_of_all_turning_pairs) {
  rs_model model = plain_model(16, 1e4, 4096);
  model.rotary_dim = 12;
  rs_encoding *encoding = encode("rope", "", &model, 100);
  measured m = measure("axis_decay", "reach=100 distances=all", encoding);
  for (size_t d = 0; d < 100; d++) {
    agrees((2 + 6 * cell(&m, d, 1)) / 8, rs_encoding_mean_cosine(encoding, d, 0), "mean cosine less still pairs");
    agrees(cell(&m, d, 2), NAN, "rows");
    agrees(cell(&m, d, 3), NAN, "columns");
  }
  rs_curve_clear(&m.result.curve);
  rs_encoding_free(encoding);
}

/* RoPE-Mixed: pair 0 reads both axes, pair 1 columns alone (backwards), pair 2 neither. */
Test(axes, mixed_pairs__each_axis__is_read_at_its_own_rate) {
  rs_model model = plain_model(6, 100, 64);
  rs_encoding *encoding = encode("rope_mixed", "freq_x=0.3,-0.5,0 freq_y=0.4,0,0", &model, 16);
  measured m = measure("axis_decay", "reach=20 far=5 distances=all", encoding);
  for (size_t d = 0; d < 20; d++) {
    agrees(cell(&m, d, 1), NAN, "time");
    agrees(cell(&m, d, 2), cosl(0.4L * d), "rows");
    agrees(cell(&m, d, 3), (cosl(0.3L * d) + cosl(0.5L * d)) / 2, "columns");
  }
  rs_curve_clear(&m.result.curve);
  m = measure("axis_wavelengths", "", encoding);
  scalar_is(&m, "t_shortest_wavelength_ids", NAN, "time");
  scalar_is(&m, "h_shortest_wavelength_ids", 5 * acosl(-1), "rows");
  scalar_is(&m, "h_longest_wavelength_ids", 5 * acosl(-1), "rows");
  scalar_is(&m, "w_shortest_wavelength_ids", 4 * acosl(-1), "columns");
  scalar_is(&m, "w_longest_wavelength_ids", 2 * acosl(-1) / 0.3L, "columns");
  cr_assert_eq(m.result.curve.rows, 3);
  agrees(cell(&m, 2, 3), NAN, "a pair that stands still");
  rs_curve_clear(&m.result.curve);
  rs_encoding_free(encoding);
}

/* An unrotated tail of ggml's interleaved layout reads no axis. */
Test(axes, unrotated_tail__pairs__are_on_no_axis) {
  rs_model model = plain_model(14, 100, 64);
  rs_encoding *encoding =
      encode("mrope", "mrope_section=3,2,2 mrope_layout=interleaved mrope_tail=unrotated", &model, 16);
  measured m = measure("axis_wavelengths", "", encoding);
  for (size_t j = 0; j < 7; j++)
    for (size_t a = 0; a < RS_AXES; a++) {
      bool reads = j % 3 == a && j < (a == 0 ? 9u : 6u);
      agrees(cell(&m, j, 1 + a), reads ? 2 * acosl(-1) * powl(100, j / 7.0L) : NAN, "wavelength");
    }
  rs_curve_clear(&m.result.curve);
  rs_encoding_free(encoding);
}

/* ---- axis_wavelengths -------------------------------------------------------------------------------------------- */

Test(axis_wavelengths, every_layout__pairs_and_extremes__are_those_of_the_ladder) {
  static const char *const names[RS_AXES][2] = {{"t_shortest_wavelength_ids", "t_longest_wavelength_ids"},
                                                {"h_shortest_wavelength_ids", "h_longest_wavelength_ids"},
                                                {"w_shortest_wavelength_ids", "w_longest_wavelength_ids"}};
  for (size_t i = 0; i < RS_COUNT(sharings); i++) {
    const sharing *s = &sharings[i];
    long double least[RS_AXES] = {NAN, NAN, NAN}, most[RS_AXES] = {NAN, NAN, NAN};
    rs_encoding *encoding = encode_sharing(s);
    measured m = measure("axis_wavelengths", "", encoding);
    cr_assert_eq(m.result.curve.rows, pairs_of(s));
    for (size_t j = 0; j < pairs_of(s); j++) {
      size_t axis = axis_of(s, j);
      long double wavelength = 2 * acosl(-1) / omega_of(s, j);
      least[axis] = fminl(least[axis], wavelength);
      most[axis] = fmaxl(most[axis], wavelength);
      agrees(cell(&m, j, 0), j, "pair");
      for (size_t a = 0; a < RS_AXES; a++) agrees(cell(&m, j, 1 + a), a == axis ? wavelength : NAN, s->layout);
    }
    for (size_t a = 0; a < RS_AXES; a++) {
      scalar_is(&m, names[a][0], least[a], s->layout);
      scalar_is(&m, names[a][1], most[a], s->layout);
    }
    rs_curve_clear(&m.result.curve);
    rs_encoding_free(encoding);
  }
}

/* Several views, gains, places of each pair's own: no pair has one rate along an axis. */
Test(axes, nothing_to_read__no_rows__and_nan) {
  static const char *const methods[][2] = {
      {"nope", ""}, {"alibi", ""}, {"self_extend", ""}, {"xpos", ""}, {"dynamic_ntk", "cached_keys=4"}};
  static const char *const metrics[] = {"axis_decay", "axis_wavelengths"};
  rs_model model = plain_model(16, 1e4, 32);
  for (size_t i = 0; i < RS_COUNT(methods); i++)
    for (size_t k = 0; k < RS_COUNT(metrics); k++) {
      rs_encoding *encoding = encode(methods[i][0], methods[i][1], &model, 64);
      measured m = measure(metrics[k], "", encoding);
      cr_assert_eq(m.result.curve.rows, 0, "%s %s", metrics[k], methods[i][0]);
      all_scalars_are_nan(&m, methods[i][0]);
      rs_curve_clear(&m.result.curve);
      rs_encoding_free(encoding);
    }
}

/* ---- frame_decay ------------------------------------------------------------------------------------------------- */

/* Ids that a frame moves t, h, w on. One axis: 3 x 4 patches; VideoRoPE: two on all axes. */
Test(frame_decay, ways_of_counting__each_frame__is_so_many_ids_on) {
  static const struct {
    const char *method, *settings;
    double frame[RS_AXES];
  } cases[] = {{"rope", "", {12, 12, 12}},
               {"mrope", "mrope_section=2,2,2", {1.5, 0, 0}},
               {"mrope", "mrope_section=2,2,2 vision_ids=videorope", {2, 2, 2}},
               {"mrope", "mrope_section=2,2,2 vision_ids=v2pe", {3, 3, 3}}};
  rs_model model = plain_model(14, 100, 4096);
  model.rotary_dim = 12;
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_token_run runs[] = {text_run(5), image_run(2, 2), video_run(9, 3, 4, 1.5, 1), video_run(2, 1, 1, 1, 1)};
    rs_encoding *encoding = encode_runs(cases[i].method, cases[i].settings, &model, runs, RS_COUNT(runs), 3);
    measured m = measure("frame_decay", "frame_threshold=0.5", encoding);
    long double mean = 0, resolution = NAN;
    cr_assert_eq(m.result.curve.rows, 9);
    for (size_t t = 9; t-- > 0;) {
      long double sum = 1;
      for (size_t j = 0; j < 6; j++) sum += cosl(floor(t * cases[i].frame[j / 2]) * powl(100, -2.0L * j / 12));
      agrees(cell(&m, t, 0), t, "distance_frames");
      agrees(cell(&m, t, 1), sum / 7, cases[i].settings);
      if (t > 0) mean += sum / 7 / 8;
      if (sum / 7 < 0.5L) resolution = t;
    }
    scalar_is(&m, "frame_likeness", mean, cases[i].settings);
    scalar_is(&m, "frame_resolution_frames", resolution, cases[i].settings);
    rs_curve_clear(&m.result.curve);
    rs_encoding_free(encoding);
  }
}

Test(frame_decay, nothing_to_read__no_rows__and_nan) {
  rs_model model = plain_model(16, 1e4, 64);
  rs_token_run image[] = {image_run(4, 4)}, video[] = {video_run(4, 2, 2, 1, 1)}, frame[] = {video_run(1, 2, 2, 1, 1)};
  rs_encoding *encodings[] = {encode_runs("mrope", "", &model, image, 1, 0),
                              encode_runs("alibi", "", &model, video, 1, 0)};
  for (size_t i = 0; i < RS_COUNT(encodings); i++) {
    measured m = measure("frame_decay", "", encodings[i]);
    cr_assert_eq(m.result.curve.rows, 0);
    all_scalars_are_nan(&m, "frame_decay");
    rs_encoding_free(encodings[i]);
  }
  rs_encoding *one = encode_runs("mrope", "", &model, frame, 1, 0);
  measured m = measure("frame_decay", "", one);
  cr_assert_eq(m.result.curve.rows, 1);
  all_scalars_are_nan(&m, "one frame");
  rs_curve_clear(&m.result.curve);
  rs_encoding_free(one);
}
