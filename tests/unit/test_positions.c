/* Position maps: every kind at every small length, window, group and chunk against a closed form of the distance
 * between query and key; how keys are cut into segments; what `auto` chooses; where maps are undefined; when they are
 * RoPE. */
#include "../golden.h"

enum { LONGEST = 40 };

/* ---- distances in closed form ------------------------------------------------------------------------------------ */

/* What a map should make of query m and key n: the distance between them, and the view it is read through. */
typedef struct seen {
  double distance;
  size_t view;
} seen;

/* The numbers a map is given, in the order in which its cases list them. */
typedef struct numbers {
  size_t first, second;
  double third;
} numbers;

typedef seen (*map)(const numbers *given, size_t m, size_t n);

static seen identity(const numbers *given, size_t m, size_t n) {
  (void)given;
  return (seen){(double)(m - n), 0};
}

/* third: s, a power of two. */
static seen interpolated(const numbers *given, size_t m, size_t n) {
  return (seen){(double)(m - n) / given->third, 0};
}

/* Multiples of `group` in begin .. end. */
static size_t multiples(size_t group, size_t begin, size_t end) {
  size_t count = 0;
  for (size_t i = begin; i <= end; i++) count += i % group == 0;
  return count;
}

/* first: window, second: group. Far keys are as many groups away as group borders lie between, and the window counts as
 * window less the borders in it. */
static seen grouped(const numbers *given, size_t m, size_t n) {
  if (m - n < given->first) return (seen){(double)(m - n), 0};
  size_t shift = given->first - multiples(given->second, 1, given->first);
  return (seen){(double)(multiples(given->second, n + 1, m) + shift), 1};
}

static seen grouped_exactly(const numbers *given, size_t m, size_t n) {
  if (m - n < given->first) return (seen){(double)(m - n), 0};
  double shift = (double)given->first * (1 - 1 / (double)given->second);
  return (seen){(double)multiples(given->second, n + 1, m) + shift, 1};
}

/* first: window, third: leak. */
static seen bent(const numbers *given, size_t m, size_t n) {
  size_t d = m - n, beyond = d > given->first ? d - given->first : 0;
  return (seen){(double)(d - beyond) + given->third * (double)beyond, d >= given->first};
}

/* first: stride of the chunks, second: top. One chunk on, the true distance, until the query would stand past the top;
 * farther, the query stands at the end of the next chunk, or at the top. */
static seen chunked(const numbers *given, size_t m, size_t n) {
  size_t stride = given->first, apart = m / stride - n / stride;
  double near = (double)(m - n), most = (double)given->second - (double)(n % stride);
  if (apart == 0) return (seen){near, 0};
  if (apart == 1) return (seen){fmin(near, most), 1};
  return (seen){fmin((double)(2 * stride - 1 - n % stride), most), 2};
}

/* first: shift, second: local. */
static seen shifted(const numbers *given, size_t m, size_t n) {
  size_t d = m - n;
  return d < given->first ? (seen){(double)d, 0} : (seen){(double)(d + given->second) - (double)given->first, 1};
}

/* ---- checks ------------------------------------------------------------------------------------------------------ */

static double relative(const rs_encoding *e, size_t m, size_t n) {
  size_t view = rs_encoding_view(e, m, n);
  return e->pos_q[view][m] - e->pos_k[view][n];
}

/* Keys 0 .. m in consecutive segments, none empty, no view twice. */
static void check_segments(const rs_encoding *e, size_t m, const char *what) {
  rs_segment segments[RS_VIEWS];
  size_t count = rs_encoding_segments(e, m, segments), next = 0;
  bool used[RS_VIEWS] = {false};
  if (e->views == 1) return; /* one segment to the end, see test_encoding.c */
  cr_assert(count >= 1 && count <= e->views, "%s query %zu: %zu segments", what, m, count);
  for (size_t i = 0; i < count; i++) {
    cr_assert(segments[i].begin == next && segments[i].end > next, "%s query %zu segment %zu: [%zu, %zu)", what, m, i,
              segments[i].begin, segments[i].end);
    cr_assert(segments[i].view < e->views && !used[segments[i].view], "%s query %zu segment %zu: view %zu", what, m, i,
              segments[i].view);
    used[segments[i].view] = true;
    next = segments[i].end;
  }
  cr_assert_eq(next, m + 1, "%s query %zu: segments end at %zu", what, m, next);
}

/* Every key of every query, and the reach over them. */
static void check_map(const rs_encoding *e, const char *what, map expected, const numbers *given, double tolerance) {
  double most = 0, farthest = 0;
  for (size_t m = 0; m < e->length; m++) {
    check_segments(e, m, what);
    for (size_t n = 0; n <= m; n++) {
      seen want = expected(given, m, n);
      double got = relative(e, m, n);
      if (!(fabs(got - want.distance) <= tolerance) || rs_encoding_view(e, m, n) != want.view)
        cr_assert_fail("%s %s L = %zu query %zu key %zu: got %g in view %zu, expected %g in view %zu", e->method->name,
                       what, e->length, m, n, got, rs_encoding_view(e, m, n), want.distance, want.view);
      most = fmax(most, fabs(got));
      farthest = fmax(farthest, fabs(want.distance));
    }
  }
  cr_assert_eq(rs_encoding_reach(e, 0), most, "%s %s L = %zu: reach %g, not %g", e->method->name, what, e->length,
               rs_encoding_reach(e, 0), most);
  cr_assert(fabs(most - farthest) <= tolerance);
}

/* The map at all lengths to LONGEST. */
static void check_lengths(const char *method, const char *settings, map expected, const numbers *given) {
  rs_model model = plain_model(4, 1e4, 16);
  for (size_t length = 1; length <= LONGEST; length++) {
    rs_encoding *e = encode(method, settings, &model, length);
    check_map(e, settings, expected, given, 0);
    rs_encoding_free(e);
  }
}

/* ---- every kind, every small world ------------------------------------------------------------------------------- */

Test(positions, one_view__every_length__is_the_distance_or_its_share) {
  check_lengths("rope", "", identity, NULL);
  check_lengths("nope", "", identity, NULL);
  check_lengths("pi", "factor=4", identity, NULL);
  check_lengths("pi", "factor=4 interpolate=positions", interpolated, &(numbers){.third = 4});
  check_lengths("pi", "factor=0.5 interpolate=positions", interpolated, &(numbers){.third = 0.5});
}

Test(positions, self_extend__every_window_and_group__counts_borders) {
  char settings[64];
  for (size_t window = 0; window <= 12; window++)
    for (size_t group = 1; group <= 9; group++) {
      numbers given = {window, group, 0};
      snprintf(settings, sizeof settings, "window=%zu group=%zu", window, group);
      check_lengths("self_extend", settings, grouped, &given);
    }
}

/* The authors' shift is a fraction where the group does not divide the window; sixteenths and less are exact. */
Test(positions, self_extend__exact_shift__is_not_rounded) {
  rs_model model = plain_model(4, 1e4, 16);
  char settings[64];
  for (size_t window = 0; window <= 12; window++)
    for (size_t group = 1; group <= 9; group++) {
      numbers given = {window, group, 0};
      snprintf(settings, sizeof settings, "window=%zu group=%zu shift=exact", window, group);
      for (size_t length = 1; length <= LONGEST; length += 3) {
        rs_encoding *e = encode("self_extend", settings, &model, length);
        check_map(e, settings, grouped_exactly, &given, 1e-14);
        rs_encoding_free(e);
      }
    }
}

Test(positions, clamp__every_window_and_leak__bends_there) {
  static const double leaks[] = {0, 0.125, 0.5, 0.75, 1};
  char settings[64];
  for (size_t window = 0; window <= 14; window++)
    for (size_t i = 0; i < RS_COUNT(leaks); i++) {
      numbers given = {window, 0, leaks[i]};
      snprintf(settings, sizeof settings, "window=%zu leak=%g", window, leaks[i]);
      check_lengths("rerope", settings, bent, &given);
      check_lengths(i % 2 ? "leaky_rerope" : "lm_infinite", settings, bent, &given);
    }
}

Test(positions, dual_chunk__every_chunk_and_local_size__caps_across_chunks) {
  char settings[64];
  for (size_t size = 1; size <= 12; size++)
    for (size_t local = 0; local < size; local++)
      for (int paper = 0; paper < 2; paper++) {
        numbers given = {size - local, paper ? size - 1 : size, 0};
        snprintf(settings, sizeof settings, "chunk_size=%zu local_size=%zu ceiling=%s", size, local,
                 paper ? "paper" : "code");
        check_lengths("dual_chunk", settings, chunked, &given);
      }
}

Test(positions, string__every_shift_and_local__shifts_far_keys) {
  char settings[64];
  for (size_t shift = 1; shift <= 14; shift++)
    for (size_t local = 0; local <= 8; local += 1 + local / 4) {
      numbers given = {shift, local, 0};
      snprintf(settings, sizeof settings, "shift=%zu local=%zu", shift, local);
      check_lengths("string", settings, shifted, &given);
    }
}

/* ---- rows written out by hand ------------------------------------------------------------------------------------ */

/* Distances from the last query to keys 0, 1, ...; worked out on paper from the definitions. */
Test(positions, last_row__small_examples__are_those_worked_out_by_hand) {
  static const struct {
    const char *method, *settings, *row;
  } cases[] = {
      /* arXiv:2402.17463, figure 2: chunks of 6, c = 10, w = 4, nothing beyond 9 */
      {"dual_chunk", "chunk_size=10 local_size=4 ceiling=paper", "7 6 5 4 3 2 1 0"},
      {"dual_chunk", "chunk_size=10 local_size=4 ceiling=paper", "9 8 7 6 5 4 3 2 1 0"}, /* the fourth of w */
      {"dual_chunk", "chunk_size=10 local_size=4 ceiling=paper", "9 8 7 6 5 4 4 3 2 1 0"},
      {"dual_chunk", "chunk_size=10 local_size=4 ceiling=paper", "9 8 7 6 5 4 5 4 3 2 1 0"},
      {"dual_chunk", "chunk_size=10 local_size=4 ceiling=paper", "9 8 7 6 5 4 6 5 4 3 2 1 0"},
      /* the code reaches 10, and has one more exact token */
      {"dual_chunk", "chunk_size=10 local_size=4", "10 9 8 7 6 5 4 3 2 1 0"},
      {"dual_chunk", "chunk_size=10 local_size=4", "10 9 8 7 6 5 5 4 3 2 1 0"},
      {"dual_chunk", "chunk_size=10 local_size=4", "10 9 8 7 6 5 6 5 4 3 2 1 0"},
      {"dual_chunk", "chunk_size=5 local_size=3", "3 2 3 2 3 2 2 1 0"}, /* chunks of 2: 2S - 1 = 3 is below the top */
      /* arXiv:2410.18745: S = 3 discards the positions 6, 7, 8 of 9; W lifts the rest */
      {"string", "shift=3 local=0", "5 4 3 2 1 0 2 1 0"},
      {"string", "shift=3 local=2", "7 6 5 4 3 2 2 1 0"},
      {"rerope", "window=3", "3 3 3 3 2 1 0"},
      {"leaky_rerope", "window=2 leak=0.25", "3 2.75 2.5 2.25 2 1 0"},
      {"lm_infinite", "train_length=4", "4 4 4 3 2 1 0"}, /* D = L0 is reached */
      {"self_extend", "window=3 group=2", "5 5 4 4 3 2 1 0"},
      {"self_extend", "window=3 group=2 shift=exact", "4.5 4.5 3.5 3.5 2.5 2 1 0"},
  };
  rs_model model = plain_model(4, 1e4, 64);
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    double row[LONGEST];
    size_t count = read_list(cases[i].row, row, RS_COUNT(row));
    rs_encoding *e = encode(cases[i].method, cases[i].settings, &model, count);
    for (size_t n = 0; n < count; n++)
      cr_assert_eq(relative(e, count - 1, n), row[n], "%s %s L = %zu key %zu: got %g, expected %g", cases[i].method,
                   cases[i].settings, count, n, relative(e, count - 1, n), row[n]);
    rs_encoding_free(e);
  }
}

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

/* ---- random positions -------------------------------------------------------------------------------------------- */

Test(positions, random__any_length_range_seed__is_an_ascending_subset) {
  rs_model model = plain_model(4, 1e4, 16);
  char settings[80];
  for (size_t length = 1; length <= LONGEST; length += 3)
    for (size_t range = length; range <= 3 * length; range += 1 + length / 4)
      for (size_t seed = 0; seed < 6; seed++) {
        snprintf(settings, sizeof settings, "position_range=%zu position_seed=%zu", range, seed);
        rs_encoding *e = encode("random_rope", settings, &model, length), *again;
        again = encode("random_rope", settings, &model, length);
        size_t drawn[LONGEST];
        rs_subset((rs_stream){.seed = seed, .purpose = 0x706f73}, length, range, drawn);
        for (size_t i = 0; i < length; i++) {
          double p = e->pos_q[0][i];
          cr_assert(p == floor(p) && p >= 0 && p < (double)range && (i == 0 || p > e->pos_q[0][i - 1]), "%s token %zu",
                    settings, i);
          cr_assert(p == e->pos_k[0][i] && p == again->pos_q[0][i] && p == (double)drawn[i], "%s token %zu", settings,
                    i);
        }
        cr_assert_eq(rs_encoding_reach(e, 0), e->pos_q[0][length - 1] - e->pos_q[0][0], "%s", settings);
        rs_encoding_free(again);
        rs_encoding_free(e);
      }
}

/* Every position in L of R of the draws, the mean of the last one L (R + 1) / (L + 1) - 1. */
Test(positions, random__over_seeds__every_position_is_as_likely) {
  enum { LENGTH = 5, RANGE = 12, SEEDS = 4000 };
  rs_model model = plain_model(4, 1e4, 16);
  double drawn[RANGE] = {0}, last = 0, p = LENGTH / (double)RANGE;
  for (size_t seed = 0; seed < SEEDS; seed++) {
    char settings[80];
    snprintf(settings, sizeof settings, "position_range=%d position_seed=%zu", RANGE, seed);
    rs_encoding *e = encode("random_rope", settings, &model, LENGTH);
    for (size_t i = 0; i < LENGTH; i++) drawn[(size_t)e->pos_q[0][i]] += 1.0 / SEEDS;
    last += e->pos_q[0][LENGTH - 1] / SEEDS;
    rs_encoding_free(e);
  }
  for (size_t i = 0; i < RANGE; i++)
    cr_assert_float_eq(drawn[i], p, 5 * sqrt(p * (1 - p) / SEEDS), "position %zu: %g", i, drawn[i]);
  cr_assert_float_eq(last, LENGTH * (RANGE + 1.0) / (LENGTH + 1) - 1, 0.1, "%g", last);
}

/* 2048 by default, as in the authors' example: it is full there. */
Test(positions, random__whole_range__is_rope) {
  rs_model model = plain_model(4, 1e4, 16);
  rs_encoding *e = encode("random_rope", "", &model, 2048);
  for (size_t i = 0; i < 2048; i++) cr_assert_eq(e->pos_q[0][i], (double)i);
  rs_encoding_free(e);
}

/* ---- when maps are RoPE ------------------------------------------------------------------------------------------ */

/* Not only the distances: the turns of every pair, too. */
static void check_is_rope(const char *method, const char *settings, const rs_model *model, size_t length) {
  rs_encoding *e = encode(method, settings, model, length), *rope = encode("rope", "", model, length);
  for (size_t m = 0; m < length; m++) {
    check_segments(e, m, settings);
    for (size_t n = 0; n <= m; n++)
      cr_assert_eq(relative(e, m, n), (double)(m - n), "%s %s query %zu key %zu: got %g", method, settings, m, n,
                   relative(e, m, n));
    for (size_t j = 0; j < e->rotary_dim / 2; j++) {
      double got[2], expected[2];
      rs_encoding_turn(e, m, m / 2, j, &got[0], &got[1]);
      rs_encoding_turn(rope, m, m / 2, j, &expected[0], &expected[1]);
      cr_assert(got[0] == expected[0] && got[1] == expected[1], "%s %s query %zu pair %zu", method, settings, m, j);
    }
  }
  cr_assert_eq(rs_encoding_reach(e, 0), (double)length - 1);
  rs_encoding_free(rope);
  rs_encoding_free(e);
}

Test(positions, window_chunk_or_shift_of_the_length__is_rope) {
  rs_model model = plain_model(8, 1e4, 16);
  char settings[80];
  for (size_t length = 1; length <= LONGEST; length++)
    for (size_t more = 0; more <= 5; more += 5) {
      size_t least = length + more;
      snprintf(settings, sizeof settings, "window=%zu", least);
      check_is_rope("rerope", settings, &model, length);
      check_is_rope("lm_infinite", settings, &model, length);
      snprintf(settings, sizeof settings, "shift=%zu local=3", least);
      check_is_rope("string", settings, &model, length);
      for (size_t local = 0; local <= 7; local += 7) {
        snprintf(settings, sizeof settings, "chunk_size=%zu local_size=%zu", least + local, local);
        check_is_rope("dual_chunk", settings, &model, length);
      }
      if (length > model.train_length) continue;
      check_is_rope("leaky_rerope", more ? "" : "window=30", &model, length);
      check_is_rope("self_extend", more ? "" : "window=30", &model, length);
    }
}

/* A map of two views that bends nothing: every pair of tokens where RoPE has it, though read through both views. */
Test(positions, leak_one__any_window__is_rope_in_two_views) {
  rs_model model = plain_model(8, 1e4, 16);
  char settings[80];
  for (size_t window = 0; window <= 20; window++) {
    numbers given = {window, 0, 1};
    snprintf(settings, sizeof settings, "window=%zu leak=1", window);
    check_lengths("leaky_rerope", settings, bent, &given);
    rs_encoding *e = encode("leaky_rerope", settings, &model, LONGEST);
    for (size_t m = 0; m < LONGEST; m++)
      for (size_t n = 0; n <= m; n++) cr_assert_eq(relative(e, m, n), (double)(m - n), "%s %zu %zu", settings, m, n);
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
