/* test_readings.c: metrics of readings, on answers that are written down here. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "../fixtures/bound.h"
#include "../fixtures/metric_bench.h"
#include "metrics/metrics.h"

enum { SEQUENCES = 3, ANSWERS = 4, NO = RS_NO_TARGET };
enum { PLAIN, AGAIN, NEEDLE, NEVER };

/* Parts 0 to 3 are guessed right 1 in 4, 1 in 2, 1 in 8 and never. */
static double chance(const void *state, size_t part) {
  static const double chances[] = {0.25, 0.5, 0.125, 0};
  (void)state;
  return chances[part];
}

static double best_loss(const void *state, size_t length) {
  (void)state;
  return (double)length / 50;
}

static const rs_task_kind probed = {.parts = {"plain", "again", "needle", "never"},
                                    .probes = 1u << NEEDLE,
                                    .recalled = 1u << AGAIN | 1u << NEEDLE,
                                    .chance = chance,
                                    .best_loss = best_loss};
static const rs_task_kind plain = {.parts = {"plain", "again", "needle", "never"}, .chance = chance};

static double losses[SEQUENCES][ANSWERS] = {{0.5, NAN, 1.5, 9}, {2, 1, 0.25, 4}, {0.75, NAN, NAN, 2}};
static int32_t targets[SEQUENCES][ANSWERS] = {{1, NO, 2, 3}, {1, 0, 2, 3}, {0, NO, NO, 3}};
static int32_t said[SEQUENCES][ANSWERS] = {{1, NO, 0, 3}, {0, 0, 2, 1}, {0, NO, 7, 3}};
static uint8_t parts[SEQUENCES][ANSWERS] = {
    {PLAIN, NEEDLE, AGAIN, NEEDLE}, {PLAIN, PLAIN, AGAIN, NEEDLE}, {PLAIN, PLAIN, NEEDLE, NEEDLE}};
static float depths[SEQUENCES][ANSWERS] = {
    {NAN, 0.2f, 0.5f, 0.2f}, {NAN, NAN, 0.974f, 0.2f}, {NAN, 0.2f, 0.95f, 0.95f}};

/* By the judge of long_perplexity, with the whole context and with what is left of it. */
static double whole[SEQUENCES][ANSWERS] = {{0.5, 0, 1, 0}, {1.9, 2.5, 0.1, 0}, {0.25, 0, 0, 0}};
static double cut[SEQUENCES][ANSWERS] = {{NAN, 9, 3.5, 9}, {4, 9, 2, 9}, {2.25, 9, 9, 9}};

/* By a baseline that reads one token more of each sequence. */
static double compared_losses[SEQUENCES][ANSWERS + 1] = {
    {7, 0.25, NAN, 1, 9}, {7, 1.5, 1.5, 0.25, 9}, {7, 1.75, NAN, NAN, 9}};
static int32_t compared_targets[SEQUENCES][ANSWERS + 1] = {{5, 1, NO, 2, 3}, {5, 1, 0, 2, 3}, {5, 0, NO, NO, 3}};
static const rs_reading compared = {
    .sequences = SEQUENCES, .answers = ANSWERS + 1, .losses = compared_losses[0], .targets = compared_targets[0]};

static const rs_reading written = {.sequences = SEQUENCES,
                                   .answers = ANSWERS,
                                   .losses = losses[0],
                                   .said = said[0],
                                   .targets = targets[0],
                                   .parts = parts[0],
                                   .depths = depths[0]};

/* What the metric says of the reading; `parameter` NULL: its defaults. Release the curve. */
/* The targets that all lengths score in what read_by reads. */
static rs_same_targets same;

static rs_result read_by(const char *metric, const rs_reading *reading, const rs_task_kind *kind, const char *parameter,
                         const char *value) {
  const rs_task task = {.kind = kind, .same = same};
  const rs_metric_kind *found = rs_metric_find(metric);
  rs_result result = {0};
  bound_params parameters;
  rs_err err = {0};
  cr_assert_not_null(found, "%s", metric);
  for (size_t i = 0; i < found->curve_count; i++) result.curve.columns += 1 + found->curve[i].sampled;
  bound_make(&parameters, &found->kind);
  if (parameter != NULL) bound_set(&parameters, parameter, value);
  const rs_reading_in in = {.reading = reading,
                            .task = &task,
                            .length = 20,
                            .params = parameters.binding.fields,
                            .whole = whole[0],
                            .cut = cut[0],
                            .baseline = &compared};
  cr_assert_eq(found->read(&in, &result, &err), RS_OK, "%s", err.message);
  const rs_curve_in size = {.length = reading->answers};
  if (found->curve_rows != NULL) cr_expect_leq(result.curve.rows, found->curve_rows(in.params, &size), "%s", metric);
  bound_clear(&parameters);
  return result;
}

static void expect_rows(rs_result *result, const double *want, size_t rows, size_t columns) {
  cr_assert_eq(result->curve.rows, rows, "%zu rows", result->curve.rows);
  cr_assert_eq(result->curve.columns, columns);
  for (size_t i = 0; i < rows * columns; i++) agrees(result->curve.cells[i], want[i], 1e-15, "curve");
  rs_curve_clear(&result->curve);
}

/* Sequences sum to 2 of 2, 3.25 of 3 and .75 of 1 nats: 6 of 6; they lie 0, .25 and -.25 from the mean. */
Test(readings, loss__leaves_probes_out) {
  rs_result result = read_by("loss", &written, &probed, NULL, NULL);
  agrees(result.value[0], 1, 1e-15, "loss_nats");
  agrees(result.error[0], sqrtl(0.125L * 3 / 2) / 6, 1e-15, "loss_nats_se");
  agrees(result.value[1], expl(1), 1e-15, "perplexity");
  agrees(result.value[2], 0.6L, 1e-15, "above 20 / 50 nats");
  agrees(result.error[2], result.error[0], 0, "what is known for certain adds no error");
}

/* Without probes, needles count: 15 nats more, of 3 more targets. */
Test(readings, loss__of_a_task_without_probes__counts_all_and_knows_no_best) {
  rs_result result = read_by("loss", &written, &plain, NULL, NULL);
  agrees(result.value[0], 21.0L / 9, 1e-15, "loss_nats");
  agrees(result.value[2], NAN, 0, "excess_loss_nats");
  agrees(result.error[2], NAN, 0, "excess_loss_nats_se");
}

Test(readings, loss_by_position__has_the_targets_of_each_bin) {
  static const double want[] = {0, 1, 3, 3.25 / 3, NAN, 1, 2, 1, 1, NAN, 2, 4, 2, 0.875, 0.625};
  double first[5];
  rs_result result = read_by("loss_by_position", &written, &probed, "per_octave", "1");
  memcpy(first, want, sizeof first);
  first[4] = sqrt((pow(0.5 - 3.25 / 3, 2) + pow(2 - 3.25 / 3, 2) + pow(0.75 - 3.25 / 3, 2)) * 3 / 2) / 3;
  cr_assert_eq(result.curve.rows, 3);
  agrees(result.curve.cells[4], first[4], 1e-15, "error");
  result.curve.cells[4] = NAN;
  expect_rows(&result, want, 3, 5);
}

/* The last of four tokens alone: that of the third sequence is a probe, as are the others, which the plain task counts.
 * Of 10 and of 11 tokens it is one and two, and of the 10 that all lengths score of these 11 it is one. */
Test(readings, last_tenth_loss__is_that_of_the_end) {
  enum { TENTHS = 11 };
  double nats[2 * TENTHS];
  int32_t asked[2 * TENTHS];
  uint8_t which[2 * TENTHS] = {0};
  for (size_t i = 0; i < 2 * TENTHS; i++) nats[i] = (double)(i * i), asked[i] = 1;
  rs_result result = read_by("last_tenth_loss", &written, &probed, NULL, NULL);
  agrees(result.value[0], NAN, 0, "probes");
  result = read_by("last_tenth_loss", &written, &plain, NULL, NULL);
  agrees(result.value[0], 5, 1e-15, "of 9, 4 and 2 nats");
  agrees(result.error[0], sqrtl((16 + 1 + 9) * 3 / 2.0L) / 3, 1e-15, "of 9, 4 and 2 nats");
  float nowhere[2 * TENTHS];
  for (size_t i = 0; i < 2 * TENTHS; i++) nowhere[i] = NAN;
  rs_reading reading = {.sequences = 2,
                        .answers = 10,
                        .losses = nats,
                        .said = asked,
                        .targets = asked,
                        .parts = which,
                        .depths = nowhere};
  result = read_by("last_tenth_loss", &reading, &plain, NULL, NULL);
  agrees(result.value[0], (81 + 361) / 2.0L, 1e-15, "the last of 10");
  reading.answers = TENTHS;
  result = read_by("last_tenth_loss", &reading, &plain, NULL, NULL);
  agrees(result.value[0], (81 + 100 + 400 + 441) / 4.0L, 1e-15, "the last two of 11");
  same = (rs_same_targets){.longest = TENTHS, .tokens = 10};
  result = read_by("last_tenth_loss", &reading, &plain, NULL, NULL);
  same = (rs_same_targets){0};
  agrees(result.value[0], (100 + 441) / 2.0L, 1e-15, "the last of the 10 that all lengths score");
}

/* Two sequences of nine tokens. Said first at tokens 0, 1 and 4, which ask for tokens 1, 2 and 5; said again by tokens
 * 4, 5 and 8 of the first sequence, 4, 4 and 4 tokens later, and by token 8 of the second, 7 later. Left out: what was
 * no target when it stood there, another token, what is said a third time, probes, and what stands at the start. */
Test(readings, repeated_loss__pairs_what_is_said_again_with_what_was_said_first) {
  enum { LONG = 9 };
  double nats[2 * LONG] = {0};
  int32_t asked[2 * LONG];
  uint8_t which[2 * LONG] = {0};
  float place[2 * LONG];
  for (size_t i = 0; i < RS_COUNT(asked); i++) asked[i] = NO, place[i] = NAN;
  static const struct {
    size_t token;
    int32_t target;
    uint8_t part;
    size_t stands; /* LONG: nowhere */
    double nats;
  } said_at[] = {{0, 5, PLAIN, LONG, 3},        {1, 6, PLAIN, LONG, 2},       {4, 5, AGAIN, 1, 0.5},
                 {5, 6, AGAIN, 2, 2.5},         {3, 7, PLAIN, LONG, 8},       {6, 9, AGAIN, 4, 100},
                 {7, 4, AGAIN, 3, 100},         {8, 5, AGAIN, 5, 100},        {LONG + 1, 8, PLAIN, LONG, 4},
                 {LONG + 8, 8, AGAIN, 2, 1},    {LONG + 7, 8, NEEDLE, 2, 77}, {LONG + 3, 8, AGAIN, 0, 100},
                 {LONG + 2, 8, PLAIN, LONG, 50}};
  for (size_t i = 0; i < RS_COUNT(said_at); i++) {
    size_t t = said_at[i].token;
    asked[t] = said_at[i].target;
    which[t] = said_at[i].part;
    nats[t] = said_at[i].nats;
    if (said_at[i].stands < LONG) place[t] = (float)said_at[i].stands / (LONG - 1);
  }
  const rs_reading reading = {.sequences = 2,
                              .answers = LONG,
                              .losses = nats,
                              .said = asked,
                              .targets = asked,
                              .parts = which,
                              .depths = place};
  rs_result result = read_by("repeated_loss", &reading, &probed, "per_octave", "1");
  agrees(result.value[0], (3 + 2 + 4) / 3.0L, 1e-15, "first");
  agrees(result.value[1], (0.5L + 2.5L + 1) / 3, 1e-15, "second");
  agrees(result.value[2], (-2.5L + 0.5L - 3) / 3, 1e-15, "second less first");
  agrees(result.error[2], sqrtl(2 * (powl(-2 + 10 / 3.0L, 2) + powl(-3 + 5 / 3.0L, 2))) / 3, 1e-15, "its error");
  static const double want[] = {4, 8, 3, 3, NAN, 4.0 / 3, NAN, -5.0 / 3, NAN};
  for (size_t c = 0; c < 3; c++) agrees(result.curve.cells[c], want[c], 0, "bin");
  agrees(result.curve.cells[7], -5.0L / 3, 1e-15, "of 4 to 7 tokens");
  cr_expect_eq(result.curve.rows, 1);
  rs_curve_clear(&result.curve);
  result = read_by("repeated_loss", &reading, &probed, "per_octave", "4");
  static const double near[] = {4, 5, 2, 2.5, NAN, 1.5, NAN, -1, NAN, 6, 8, 1, 4, NAN, 1, NAN, -3, NAN};
  expect_rows(&result, near, 2, 9);
  result = read_by("repeated_loss", &reading, &plain, NULL, NULL);
  agrees(result.value[2], NAN, 0, "a task that asks for nothing again");
  rs_task_kind across = probed;
  across.form = RS_ENCODER_DECODER;
  result = read_by("repeated_loss", &reading, &across, NULL, NULL);
  agrees(result.value[2], NAN, 0, "depths of another sequence");
}

/* Of five targets that are no probes and whose context was cut, two gain more than 2 nats and end below 2: those of 1.5
 * and of 2 nats. One gains 2 and stands at 0.75, one gains 1.9, and one is at 2.5 even so. */
Test(readings, long_perplexity__of_the_targets_that_the_long_context_helps) {
  static const struct {
    const char *parameter, *value;
    long double loss;
    double keys;
  } cases[] = {{NULL, NULL, 1.75L, 2},      {"alpha", "1.95", 4.25L / 3, 3}, {"alpha", "1.5", 4.5L / 4, 4},
               {"beta", "-3", 1.5L, 3},     {"beta", "-0.5", NAN, 0},        {"alpha", "50", NAN, 0},
               {"keys", "method", 1.75L, 2}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_result result = read_by("long_perplexity", &written, &probed, cases[i].parameter, cases[i].value);
    agrees(result.value[0], cases[i].loss, 1e-15, "long_loss_nats");
    agrees(result.value[1], expl(cases[i].loss), 1e-15, "long_perplexity");
    agrees(result.value[2], cases[i].keys, 0, "key_tokens");
    agrees(result.value[3], cases[i].keys / 5, 1e-15, "key_token_share");
  }
  rs_result result = read_by("long_perplexity", &written, &probed, NULL, NULL);
  agrees(result.error[0], sqrtl(2 * 0.0625L * 2) / 2, 1e-15, "two sequences, 0.25 from the mean each");
}

/* Right: 1 of 2, 2 of 3, 1 of 1. A guess is right in 4 / 4 + 2 / 2 of 6. */
Test(readings, accuracy__overall_and_of_each_part_that_is_there) {
  rs_result result = read_by("accuracy", &written, &probed, NULL, NULL);
  agrees(result.value[0], 4.0L / 6, 1e-15, "accuracy");
  agrees(result.error[0], sqrtl(2.0L / 9 * 3 / 2) / 6, 1e-15, "accuracy_se");
  agrees(result.value[1], 2.0L / 6, 1e-15, "chance_accuracy");
  agrees(result.value[2], 1.0L / 3, 1e-15, "the last sequence alone is right throughout");
  agrees(result.error[2], 1.0L / 3, 1e-15, "exact_match_se");
  cr_assert_eq(result.curve.rows, 3, "no target is of the last part");
  const double plain_error = sqrt((pow(1 - 0.75, 2) + pow(1 - 1.5, 2) + pow(1 - 0.75, 2)) * 3 / 2) / 4;
  const double again_error = sqrt((0.25 + 0.25) * 2) / 2, needle_error = sqrt((1 + 4 + 1) / 9.0 * 3 / 2) / 3;
  const double want[] = {PLAIN,       4,   0.75,   plain_error, 0.25,    AGAIN,        2,    0.5,
                         again_error, 0.5, NEEDLE, 3,           2 / 3.0, needle_error, 0.125};
  expect_rows(&result, want, 3, 5);
}

Test(readings, recall__counts_the_parts_that_ask_for_what_was_read) {
  rs_result result = read_by("recall", &written, &probed, NULL, NULL);
  agrees(result.value[0], 3.0L / 5, 1e-15, "recall");
  result = read_by("recall", &written, &plain, NULL, NULL);
  agrees(result.value[0], NAN, 0, "recall of a task that asks for none");
}

/* Two sequences of nine tokens. Asked 8, 4 and 1 tokens after, of which the second is wrong; and 7 and 2 tokens after,
 * the second wrong. Beside them a needle, a part that recalls nothing, and a target without a depth. */
Test(readings, recall_by_distance__counts_from_where_the_answer_stands) {
  enum { LONG = 9 };
  double nats[2 * LONG] = {0};
  int32_t asked[2 * LONG], answered[2 * LONG] = {0};
  uint8_t which[2 * LONG];
  float place[2 * LONG];
  for (size_t i = 0; i < RS_COUNT(asked); i++) asked[i] = NO, which[i] = AGAIN, place[i] = NAN;
  static const struct {
    size_t token, stands;
    int32_t target;
    uint8_t part;
  } targets_at[] = {{8, 0, 0, AGAIN},         {7, 3, 1, AGAIN},        {4, 3, 0, AGAIN},       {5, 4, 0, PLAIN},
                    {LONG + 8, 0, 0, NEEDLE}, {LONG + 7, 0, 0, AGAIN}, {LONG + 2, 0, 1, AGAIN}};
  for (size_t i = 0; i < RS_COUNT(targets_at); i++) {
    asked[targets_at[i].token] = targets_at[i].target;
    which[targets_at[i].token] = targets_at[i].part;
    place[targets_at[i].token] = (float)targets_at[i].stands / (LONG - 1);
  }
  asked[LONG + 3] = 0;
  const rs_reading reading = {.sequences = 2,
                              .answers = LONG,
                              .losses = nats,
                              .said = answered,
                              .targets = asked,
                              .parts = which,
                              .depths = place};
  static const double want[] = {1, 2, 1, 1, NAN, 2, 4, 1, 0, NAN, 4, 8, 2, 0.5, 0.5, 8, 9, 1, 1, NAN};
  rs_result result = read_by("recall_by_distance", &reading, &probed, "per_octave", "1");
  expect_rows(&result, want, 4, 5);
  rs_task_kind across = probed;
  across.form = RS_ENCODER_DECODER;
  result = read_by("recall_by_distance", &reading, &across, "per_octave", "1");
  cr_expect_eq(result.curve.rows, 0);
}

Test(readings, needle_accuracy__is_that_of_probes_by_depth) {
  rs_result result = read_by("needle_accuracy", &written, &probed, NULL, NULL);
  static const double want[] = {0.2, 2, 0.5, 0.5, 0.95, 1, 1, NAN};
  agrees(result.value[0], 2.0L / 3, 1e-15, "needle_accuracy");
  expect_rows(&result, want, 2, 4);
}

/* .974 is nearer to .95 than to 1, .975 is not; a target without a depth is no needle. */
Test(readings, needle_accuracy__without_probes__is_that_of_all_targets_with_a_depth) {
  rs_result result = read_by("needle_accuracy", &written, &plain, NULL, NULL);
  static const double near[] = {0.2, 2, 0.5, 0.5, 0.5, 1, 0, NAN, 0.95, 2, 1, 0};
  agrees(result.value[0], 3.0L / 5, 1e-15, "needle_accuracy");
  expect_rows(&result, near, 3, 4);
  depths[1][2] = 0.9751f;
  result = read_by("needle_accuracy", &written, &plain, NULL, NULL);
  static const double past[] = {0.2, 2, 0.5, 0.5, 0.5, 1, 0, NAN, 0.95, 1, 1, NAN, 1, 1, 1, NAN};
  expect_rows(&result, past, 4, 4);
  result = read_by("needle_accuracy", &written, &plain, "depths", "1");
  static const double halves[] = {0, 2, 0.5, 0.5, 1, 3, 2 / 3.0, 1 / 3.0};
  expect_rows(&result, halves, 2, 4);
}

/* Three needles of two or three tokens: found, found but for its last token, and found. Tokens side by side that ask
 * for other places, or whose part is another, are needles of their own; so is one that begins the next sequence. */
Test(readings, needle_accuracy__of_several_tokens__asks_for_all_of_them) {
  int32_t asked[2][6] = {{5, 6, NO, 5, 6, 7}, {1, 2, 3, 4, 5, 6}},
          given[2][6] = {{5, 6, 0, 5, 6, 0}, {1, 2, 3, 4, 0, 6}};
  uint8_t part[2][6] = {{0}, {0, 0, 0, 0, 1, 0}};
  float places[2][6] = {{0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f}, {0.5f, 0.5f, 0.75f, 0.75f, 0.75f, 1}};
  rs_reading keys = {.sequences = 2,
                     .answers = 6,
                     .losses = losses[0],
                     .said = given[0],
                     .targets = asked[0],
                     .parts = part[0],
                     .depths = places[0]};
  rs_result result = read_by("needle_accuracy", &keys, &plain, NULL, NULL);
  static const double want[] = {0.5, 3, 2 / 3.0, 2 / 9.0, 0.75, 2, 0.5, NAN, 1, 1, 1, NAN};
  agrees(result.value[0], 4.0L / 6, 1e-15, "needle_accuracy");
  expect_rows(&result, want, 3, 4);
}

static void three_digits(const void *state, size_t *base, size_t *count) {
  (void)state;
  *base = 3;
  *count = 3;
}

static void two_digits(const void *state, size_t *base, size_t *count) {
  (void)state;
  *base = 4;
  *count = 2;
}

/* Classes 0 to 26 as columns, rows, frames; the fourth answer has no target. */
Test(readings, resolution__takes_answers_apart_by_axis) {
  static const rs_task_kind film = {.parts = {"place"}, .chance = chance, .digits = three_digits},
                            image = {.parts = {"place"}, .chance = chance, .digits = two_digits};
  int32_t asked[] = {9 * 2 + 3 * 1 + 0, 9 * 0 + 3 * 2 + 1, 9 * 1 + 3 * 1 + 1, NO},
          given[] = {9 * 2 + 3 * 0 + 0, 9 * 0 + 3 * 2 + 2, 9 * 1 + 3 * 0 + 1, 3};
  rs_reading scenes = {.sequences = 4, .answers = 1, .targets = asked, .said = given};
  rs_result result = read_by("resolution", &scenes, &film, NULL, NULL);
  static const double want[] = {1, 1 / 3.0, 1 / 3.0, 1 / 3.0, 2 / 3.0, 1 / 3.0};
  for (size_t i = 0; i < RS_COUNT(want); i++) agrees(result.value[i], want[i], 1e-15, "film");
  agrees(result.error[2], sqrtl(2.0L / 9 / 2), 1e-15, "row_accuracy_se");
  asked[0] = 4 * 3 + 2, given[0] = 4 * 3 + 1;
  asked[1] = 4 * 0 + 1, given[1] = 4 * 1 + 1;
  asked[2] = 4 * 2 + 3, given[2] = 4 * 2 + 0;
  result = read_by("resolution", &scenes, &image, NULL, NULL);
  static const double flat[] = {2 / 3.0, 0.25, 1 / 3.0, 0.25, NAN, NAN};
  for (size_t i = 0; i < RS_COUNT(flat); i++) agrees(result.value[i], flat[i], 1e-15, "image");
  scenes.sequences = 1; /* one says nothing of its error, none nothing at all */
  result = read_by("resolution", &scenes, &image, NULL, NULL);
  static const double single[] = {1, 0.25, 0, 0.25, NAN, NAN};
  for (size_t i = 0; i < RS_COUNT(single); i++) {
    agrees(result.value[i], single[i], 1e-15, "one image");
    agrees(result.error[i], NAN, 0, "one image");
  }
  asked[0] = NO;
  result = read_by("resolution", &scenes, &image, NULL, NULL);
  for (size_t i = 0; i < RS_COUNT(single); i++) agrees(result.value[i], NAN, 0, "no image");
  result = read_by("resolution", &written, &plain, NULL, NULL);
  for (size_t i = 0; i < RS_COUNT(flat); i++) agrees(result.value[i], NAN, 0, "text");
}

Test(readings, no_target__no_number) {
  static const char *const names[] = {
      "loss", "loss_by_position", "accuracy", "recall", "recall_by_distance", "needle_accuracy", "resolution"};
  int32_t none[SEQUENCES * ANSWERS];
  rs_reading silent = written;
  for (size_t i = 0; i < RS_COUNT(none); i++) none[i] = RS_NO_TARGET;
  silent.targets = none;
  for (size_t m = 0; m < RS_COUNT(names); m++) {
    const rs_metric_kind *kind = rs_metric_find(names[m]);
    rs_result result = read_by(names[m], &silent, &probed, NULL, NULL);
    for (size_t i = 0; i < kind->scalar_count; i++) agrees(result.value[i], NAN, 0, kind->scalars[i].name);
    cr_expect_eq(result.curve.rows, 0, "%s", names[m]);
  }
}
