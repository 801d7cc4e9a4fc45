/* Position maps: every kind at every small length, window, group and chunk against a closed form of the distance
 * between query and key; how keys are cut into segments; when they are RoPE. */
#include "../fixtures/maps.h"
#include "../golden.h"

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
