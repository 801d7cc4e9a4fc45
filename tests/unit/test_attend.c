/* test_attend.c: attention by tiles: their borders, long sequences, what is left out, what is refused, threads and
 * memory. That it computes the formula is the property tests' matter. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "../../src/model/attend.h"
#include "../fixtures/attend_compare.h"
#include "../fixtures/heap.h"
#include "../fixtures/obtain.h"
#include "../fixtures/threads.h"
#include "../golden.h"

static rs_encoding *encoding_of(const char *method, const char *settings, size_t heads, size_t dims, size_t length) {
  rs_model model = plain_model(dims, 100, length);
  model.heads = heads;
  return encode(method, settings, &model, length);
}

/* As many keys as queries, and heads of keys as heads. */
static rs_attend_shape shape_of(const rs_encoding *encoding, rs_mask mask) {
  return (rs_attend_shape){.encoding = encoding,
                           .mask = mask,
                           .queries = encoding->length,
                           .keys = encoding->length,
                           .heads = encoding->heads,
                           .kv_heads = encoding->heads,
                           .head_dim = encoding->head_dim};
}

static void check_plain(const attend_case *given, const char *what) {
  attend_result plain, doubles, floats;
  const char *where = "";
  attend_result_make(&plain, given);
  attend_result_make(&doubles, given);
  attend_result_make(&floats, given);
  attend_plain_forward(given, &plain);
  attend_plain_backward(given, &plain);
  attend_tiles_f64(given, &doubles);
  attend_tiles_f32(given, &floats);
  double in_double = attend_distance(given, &doubles, &plain, &where);
  cr_assert_lt(in_double, 1e-12, "%s, %zu tokens, mask %d: %s differs by %g", what, given->shape.queries,
               (int)given->shape.mask.kind, where, in_double);
  double in_float = attend_distance(given, &floats, &plain, &where);
  cr_assert_lt(in_float, 3e-5, "%s, %zu tokens, mask %d: %s differs by %g in float", what, given->shape.queries,
               (int)given->shape.mask.kind, where, in_float);
  attend_result_clear(&plain);
  attend_result_clear(&doubles);
  attend_result_clear(&floats);
}

static void check_dropped(const rs_attend_shape *shape, rs_drop drop, const char *what) {
  dice d = {.seed = test_seed(), .job = (uint32_t)shape->queries};
  attend_case given = {.shape = *shape, .drop = drop};
  attend_case_fill(&given, &d, 1, shape->soft_cap != 0);
  check_plain(&given, what);
  attend_case_clear(&given);
}

static void check_shape(const rs_attend_shape *shape, const char *what) {
  check_dropped(shape, (rs_drop){0}, what);
}

/* ---- tiles ------------------------------------------------------------------------------------------------------- */

static const rs_mask masks[] = {{.kind = RS_CAUSAL},
                                {.kind = RS_BIDIRECTIONAL},
                                {.kind = RS_WINDOW, .window = 1},
                                {.kind = RS_WINDOW, .window = 10},
                                {.kind = RS_WINDOW, .window = 64},
                                {.kind = RS_WINDOW, .window = 65},
                                {.kind = RS_WINDOW_SINKS, .window = 16, .sinks = 4},
                                {.kind = RS_WINDOW_SINKS, .window = 70, .sinks = 66}};
static const size_t lengths[] = {1, 15, 16, 17, 63, 64, 65, 127, 128, 129, 200};

Test(attend, lengths_around_tiles__every_mask__are_the_plain_formula) {
  static const char *const methods[][2] = {{"rope", ""},
                                           {"t5", "num_buckets=8 max_distance=40 bidirectional=true init_sd=1"}};
  for (size_t i = 0; i < RS_COUNT(methods); i++)
    for (size_t l = 0; l < RS_COUNT(lengths); l++) {
      rs_encoding *encoding = encoding_of(methods[i][0], methods[i][1], 2, 4, lengths[l]);
      for (size_t m = 0; m < RS_COUNT(masks); m++) {
        rs_attend_shape shape = shape_of(encoding, masks[m]);
        shape.kv_heads = 1 + m % 2;
        shape.soft_cap = m % 3 == 0 ? 2 : 0;
        check_shape(&shape, methods[i][0]);
      }
      rs_encoding_free(encoding);
    }
}

/* Windows of distances that tiles cut, and that are clipped on one side, on both or on none. */
Test(attend, vectors_of_distance__lengths_around_tiles__are_the_plain_formula) {
  static const char *const methods[][2] = {
      {"shaw", "clip=3 init_sd=0.5"},
      {"shaw", "clip=70 read_by=both init_sd=0.5 logit_scale=ssmax logit_scale_length=20"},
      {"transformer_xl", "init_sd=0.5 logit_scale=ssmax logit_scale_length=20"},
      {"transformer_xl", "clip=66 init_sd=0.5"}};
  static const size_t some[] = {16, 65, 130};
  for (size_t i = 0; i < RS_COUNT(methods); i++)
    for (size_t l = 0; l < RS_COUNT(some); l++) {
      rs_encoding *encoding = encoding_of(methods[i][0], methods[i][1], 2, 4, some[l]);
      for (size_t m = 1; m < RS_COUNT(masks); m += 2) {
        rs_attend_shape shape = shape_of(encoding, masks[(m + l) % RS_COUNT(masks)]);
        shape.kv_heads = 1 + m / 2 % 2;
        shape.soft_cap = m % 3 == 0 ? 2 : 0;
        check_shape(&shape, methods[i][0]);
      }
      rs_encoding_free(encoding);
    }
}

/* Weights behind the softmax, of every view, times 0 or 1 / (1 - share). */
Test(attend, dropped_weights__every_mask__are_the_plain_formula) {
  static const char *const methods[][2] = {{"t5", "num_buckets=8 max_distance=40 bidirectional=true init_sd=1"},
                                           {"self_extend", "window=20 group=3"},
                                           {"shaw", "clip=70 read_by=both init_sd=0.5"}};
  for (size_t i = 0; i < RS_COUNT(methods); i++)
    for (size_t l = 0; l < RS_COUNT(lengths); l += 2) {
      rs_encoding *encoding = encoding_of(methods[i][0], methods[i][1], 2, 4, lengths[l]);
      for (size_t m = 0; m < RS_COUNT(masks); m++) {
        rs_attend_shape shape = shape_of(encoding, masks[m]);
        if (i == 1 && masks[m].kind == RS_BIDIRECTIONAL) continue;
        shape.kv_heads = 1 + m % 2;
        shape.soft_cap = m % 3 == 0 ? 2 : 0;
        check_dropped(&shape, (rs_drop){.share = 0.35, .seed = 4, .sequence = l, .place = 3}, methods[i][0]);
      }
      rs_encoding_free(encoding);
    }
  rs_attend_shape cross = {.mask.kind = RS_CROSS, .queries = 70, .keys = 130, .heads = 4, .kv_heads = 2, .head_dim = 5};
  check_dropped(&cross, (rs_drop){.share = 0.35, .seed = 4}, "cross");
}

Test(attend, every_instruction_set__is_the_plain_formula) {
  rs_encoding *encoding = encoding_of("t5", "num_buckets=8 max_distance=40 init_sd=1", 2, 18, 70);
  rs_attend_shape shape = shape_of(encoding, (rs_mask){.kind = RS_WINDOW_SINKS, .window = 30, .sinks = 3});
  shape.soft_cap = 3;
  for (size_t i = 0; rs_isa_name(i) != NULL; i++) {
    cr_assert_eq(rs_kernels_use(rs_isa_name(i), NULL), RS_OK);
    check_shape(&shape, rs_isa_name(i));
  }
  cr_assert_eq(rs_kernels_use("auto", NULL), RS_OK);
  rs_encoding_free(encoding);
}

Test(attend, several_views__lengths_around_tiles__are_the_plain_formula) {
  static const char *const methods[][2] = {{"self_extend", "window=20 group=3"},
                                           {"rerope", "window=70"},
                                           {"dual_chunk", "chunk_size=50 local_size=7"},
                                           {"dual_chunk", "chunk_size=128 local_size=64"}};
  for (size_t i = 0; i < RS_COUNT(methods); i++)
    for (size_t l = 4; l < RS_COUNT(lengths); l += 2)
      for (size_t m = 0; m < RS_COUNT(masks); m += m == 0 ? 3 : 1) {
        rs_encoding *encoding = encoding_of(methods[i][0], methods[i][1], 1, 4, lengths[l]);
        rs_attend_shape shape = shape_of(encoding, masks[m]);
        check_shape(&shape, methods[i][0]);
        rs_encoding_free(encoding);
      }
}

Test(attend, across_sequences__other_numbers_of_keys__are_the_plain_formula) {
  static const size_t sizes[][2] = {{1, 1}, {1, 130}, {70, 1}, {64, 65}, {65, 64}, {130, 70}, {70, 200}};
  for (size_t i = 0; i < RS_COUNT(sizes); i++) {
    rs_attend_shape shape = {.mask.kind = RS_CROSS,
                             .queries = sizes[i][0],
                             .keys = sizes[i][1],
                             .heads = 4,
                             .kv_heads = 2,
                             .head_dim = 5,
                             .score_scale = 0.7};
    check_shape(&shape, "cross");
  }
}

/* A bias of no distance stands in a table of at most RS_SQUARE_NUMBERS, which one head fills with so many tokens; more
 * is asked for row by row. */
enum { FULL = 4096 };
_Static_assert(FULL *FULL == (int)RS_SQUARE_NUMBERS, "the largest table");

static const rs_mask narrow = {.kind = RS_WINDOW, .window = 4};

Test(attend, biases_by_row__lengths_around_the_table__are_the_plain_formula) {
  static const rs_bias_store stores[] = {RS_BIAS_SQUARE, RS_BIAS_BY_ROW};
  for (size_t i = 0; i < 2; i++) {
    rs_encoding *encoding = encoding_of("fire", "mlp_width=3", 1, 2, FULL + i);
    rs_attend_shape shape = shape_of(encoding, narrow);
    rs_attend *attend;
    cr_assert_eq(rs_attend_create(&shape, RS_F64, &attend, NULL), RS_OK);
    cr_assert_eq(attend->store, stores[i]);
    rs_attend_free(attend);
    check_shape(&shape, "fire");
    rs_encoding_free(encoding);
  }
}

/* How many tiles of keys the queries of all tiles walk over. */
static size_t tiles_of(const char *method, const char *settings, rs_mask mask, size_t length) {
  rs_encoding *encoding = encoding_of(method, settings, 1, 4, length);
  rs_attend_shape shape = shape_of(encoding, mask);
  rs_attend *attend;
  size_t count = 0;
  cr_assert_eq(rs_attend_create(&shape, RS_F32, &attend, NULL), RS_OK);
  for (size_t tile = 0; tile < rs_tiles_of(length); tile++) {
    rs_walk walk = rs_walk_begin(attend, tile);
    while (rs_walk_next(attend, &walk)) continue;
    count += walk.count;
  }
  rs_attend_free(attend);
  rs_encoding_free(encoding);
  return count;
}

Test(attend, what_a_mask_hides__is_not_walked_over) {
  const size_t length = 16 * RS_TILE;
  cr_assert_eq(tiles_of("rope", "", (rs_mask){.kind = RS_BIDIRECTIONAL}, length), 16 * 16);
  cr_assert_eq(tiles_of("rope", "", (rs_mask){.kind = RS_CAUSAL}, length), 16 * 17 / 2);
  cr_assert_eq(tiles_of("rope", "", (rs_mask){.kind = RS_WINDOW, .window = 1}, length), 16);
  cr_assert_eq(tiles_of("rope", "", (rs_mask){.kind = RS_WINDOW, .window = RS_TILE + 1}, length), 16 + 15);
  cr_assert_eq(tiles_of("rope", "", (rs_mask){.kind = RS_WINDOW_SINKS, .window = 1, .sinks = 4}, length), 2 * 16);
  /* Near keys in the last two tiles, far ones in all up to the one where they meet. */
  cr_assert_eq(tiles_of("rerope", "window=64", (rs_mask){.kind = RS_CAUSAL}, length), 16 + 15 + 15 * 16 / 2);
}

static size_t scratch_of(const char *method, size_t length, bool training) {
  rs_encoding *encoding = encoding_of(method, "", 2, 4, length);
  rs_attend_shape shape = shape_of(encoding, (rs_mask){.kind = RS_CAUSAL});
  rs_attend *attend;
  cr_assert_eq(rs_attend_create(&shape, RS_F32, &attend, NULL), RS_OK);
  size_t numbers = rs_attend_scratch(attend, training);
  rs_attend_free(attend);
  rs_encoding_free(encoding);
  return numbers;
}

Test(attend, scratch__grows_with_the_length_and_no_faster) {
  static const char *const methods[] = {"rope", "t5", "fire", "dual_chunk", "shaw", "transformer_xl"};
  for (size_t i = 0; i < 2 * RS_COUNT(methods); i++) {
    const char *method = methods[i / 2];
    size_t first = scratch_of(method, 128, i % 2), second = scratch_of(method, 256, i % 2);
    cr_assert_eq(scratch_of(method, 512, i % 2) - second, 2 * (second - first), "%s", method);
  }
}

/* ---- sinks ------------------------------------------------------------------------------------------------------- */

/* One key of logit 0 beside a sink: the weight is 1 / (1 + e^sink), and the sink's gradient -w (1 - w) v. */
Test(attend, one_key_and_a_sink__share_the_weight) {
  for (double sink = -200; sink <= 200; sink += 50) {
    double q = 0, k = 1, v = 3, dout = 1;
    attend_case given = {
        .shape = {.mask.kind = RS_CROSS, .queries = 1, .keys = 1, .heads = 1, .kv_heads = 1, .head_dim = 1},
        .q = &q,
        .k = &k,
        .v = &v,
        .sinks = &sink,
        .dout = &dout};
    attend_result got;
    double weight = 1 / (1 + exp(sink)), hidden = 1 / (1 + exp(-sink));
    attend_result_make(&got, &given);
    attend_tiles_f64(&given, &got);
    cr_assert(close_to(got.out[0], 3 * weight, 1e-13, 0), "sink %g: %g", sink, got.out[0]);
    cr_assert(close_to(got.level[0], sink > 0 ? sink + log1p(exp(-sink)) : log1p(exp(sink)), 1e-13, 1e-15));
    cr_assert(close_to(got.dsinks[0], -3 * weight * hidden, 1e-12, 0), "sink %g: %g", sink, got.dsinks[0]);
    attend_result_clear(&got);
  }
}

/* ---- what is learned --------------------------------------------------------------------------------------------- */

static attend_case learned_case(const rs_encoding *encoding) {
  dice d = {.seed = test_seed()};
  attend_case given = {.shape = shape_of(encoding, narrow)};
  attend_case_fill(&given, &d, 1, false);
  return given;
}

/* Two passes into each of two sums that are joined: four times the gradient; none after a reset. */
Test(attend, sums__of_passes_and_parts__add_up) {
  static const char *const methods[][2] = {{"t5", "num_buckets=8 max_distance=40"},
                                           {"fire", "mlp_width=3"},
                                           {"nope", "logit_scale=ssmax"},
                                           {"shaw", "clip=5"},
                                           {"transformer_xl", ""}};
  for (size_t i = 0; i < RS_COUNT(methods); i++)
    for (size_t big = 0; big < 2; big++) {
      size_t heads = big ? 1 : 2, length = big ? FULL + 1 : 40;
      rs_encoding *encoding = encoding_of(methods[i][0], methods[i][1], heads, 2, length);
      attend_case given = learned_case(encoding);
      attend_result once, all;
      attend_result_make(&once, &given);
      attend_result_make(&all, &given);
      attend_tiles_f64(&given, &once);
      attend_sums_f64(&given, &all);
      for (size_t a = 0; a < RS_LEARNED; a++) {
        double largest = 0;
        for (size_t n = 0; n < once.learned_numbers[a]; n++) {
          cr_assert(close_to(all.learned[a][n], 4 * once.learned[a][n], 1e-11, 1e-13), "%s", methods[i][0]);
          largest = fmax(largest, fabs(once.learned[a][n]));
        }
        cr_assert(once.learned_numbers[a] == 0 || largest > 0, "%s, array %zu", methods[i][0], a);
      }
      attend_result_clear(&once);
      attend_result_clear(&all);
      attend_case_clear(&given);
      rs_encoding_free(encoding);
    }
}

Test(attend, no_sums__where_nothing_is_learned) {
  rs_encoding *rope = encoding_of("rope", "", 2, 4, 10), *t5 = encoding_of("t5", "", 2, 4, 10);
  rs_encoding *shaw = encoding_of("shaw", "", 2, 4, 10);
  rs_attend_shape shapes[] = {shape_of(rope, (rs_mask){.kind = RS_CAUSAL}), shape_of(t5, (rs_mask){.kind = RS_CROSS}),
                              shape_of(shaw, (rs_mask){.kind = RS_CROSS}), shape_of(t5, (rs_mask){.kind = RS_CAUSAL}),
                              shape_of(shaw, (rs_mask){.kind = RS_CAUSAL})};
  for (size_t i = 0; i < RS_COUNT(shapes); i++) {
    rs_attend *attend;
    rs_attend_sums *sums;
    cr_assert_eq(rs_attend_create(&shapes[i], RS_F32, &attend, NULL), RS_OK);
    cr_assert_eq(rs_attend_sums_create(attend, &sums, NULL), RS_OK);
    cr_assert_eq(sums != NULL, i > 2, "%zu", i);
    rs_attend_sums_free(sums);
    rs_attend_free(attend);
  }
  rs_encoding_free(rope);
  rs_encoding_free(t5);
  rs_encoding_free(shaw);
}

/* ---- refusals ---------------------------------------------------------------------------------------------------- */

static void check_refused(const rs_attend_shape *shape, rs_status status, const char *message) {
  rs_attend *attend = (rs_attend *)&attend;
  rs_err err = {0};
  cr_assert_eq(rs_attend_create(shape, RS_F64, &attend, &err), status, "%s", message);
  cr_assert_null(attend);
  cr_assert_not_null(strstr(err.message, message), "%s, not %s", err.message, message);
}

Test(attend, parts_that_do_not_fit__are_refused) {
  rs_encoding *rope = encoding_of("rope", "", 2, 4, 10), *views = encoding_of("self_extend", "", 2, 4, 10);
  const rs_attend_shape good = shape_of(rope, (rs_mask){.kind = RS_CAUSAL});
  rs_attend_shape shape = good;
  shape.kv_heads = 3;
  check_refused(&shape, RS_INPUT, "2 heads cannot share 3 heads of keys");
  shape.kv_heads = 0;
  check_refused(&shape, RS_INPUT, "2 heads cannot share 0 heads of keys");
  shape = good, shape.heads = 0;
  check_refused(&shape, RS_INPUT, "0 heads cannot share 2 heads of keys of 4 numbers");
  shape = good, shape.head_dim = 0;
  check_refused(&shape, RS_INPUT, "2 heads cannot share 2 heads of keys of 0 numbers");
  shape = good, shape.keys = 0;
  check_refused(&shape, RS_INPUT, "attention of 10 queries and 0 keys: must be between 1 and 1073741823");
  shape = good, shape.queries = (size_t)1 << 30;
  check_refused(&shape, RS_INPUT, "attention of 1073741824 queries and 10 keys: must be between 1 and 1073741823");
  shape = good, shape.keys = 11;
  check_refused(&shape, RS_INPUT, "10 queries of 11 keys");
  shape = good, shape.queries = shape.keys = 9;
  check_refused(&shape, RS_INPUT, "an encoding of 10 tokens for 2 heads of 4 cannot serve 9 tokens, 2 of 4");
  shape = good, shape.heads = 4;
  check_refused(&shape, RS_INPUT, "cannot serve 10 tokens, 4 of 4");
  shape = good, shape.head_dim = 6;
  check_refused(&shape, RS_INPUT, "cannot serve 10 tokens, 2 of 6");
  shape = good, shape.encoding = NULL, shape.queries = shape.keys = 0;
  check_refused(&shape, RS_INPUT, "attention of 0 queries and 0 keys");
  shape = good, shape.encoding = NULL, shape.mask.kind = RS_CROSS, shape.keys = (size_t)1 << 40;
  check_refused(&shape, RS_INPUT, "must be between 1 and");
  shape = shape_of(views, (rs_mask){.kind = RS_BIDIRECTIONAL});
  check_refused(&shape, RS_UNSUPPORTED, "self_extend is defined for causal attention only");
  rs_encoding_free(rope);
  rs_encoding_free(views);
}

static rs_status try_create(const rs_attend_shape *shape, rs_err *err) {
  rs_attend *attend = NULL;
  rs_attend_sums *sums = NULL;
  rs_status status = rs_attend_create(shape, RS_F32, &attend, err);
  if (status == RS_OK) status = rs_attend_sums_create(attend, &sums, err);
  cr_assert(status == RS_OK || sums == NULL);
  rs_attend_sums_free(sums);
  rs_attend_free(attend);
  return status;
}

Test(attend, each_failing_allocation__is_reported_and_leaks_nothing) {
  if (!COUNTS_MEMORY) return;
  use_threads(1);
  static const char *const methods[][2] = {{"fire", "mlp_width=3 logit_scale=ssmax"},
                                           {"fire", "mlp_width=3 logit_scale=ssmax"},
                                           {"shaw", "clip=4"},
                                           {"transformer_xl", ""}};
  for (size_t i = 0; i < RS_COUNT(methods); i++) {
    size_t heads = i != 1 ? 2 : 1, length = i != 1 ? 200 : FULL + 1;
    rs_encoding *encoding = encoding_of(methods[i][0], methods[i][1], heads, 4, length);
    rs_attend_shape shape = shape_of(encoding, (rs_mask){.kind = RS_WINDOW_SINKS, .window = 9, .sinks = 2});
    cr_assert_eq(try_create(&shape, NULL), RS_OK); /* warm: OpenMP keeps its team */
    refused = true;
    for (long n = 0; refused; n++) {
      long before = blocks;
      rs_err err = {0};
      refused = false;
      allocations = n;
      rs_status status = try_create(&shape, &err);
      allocations = -1;
      cr_assert_eq(status, refused ? RS_MEMORY : RS_OK, "allocation %ld: %s", n, err.message);
      cr_assert_eq(blocks, before, "allocation %ld leaks", n);
    }
    rs_encoding_free(encoding);
  }
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

/* Of what is computed forwards, by so many threads; result is made here. */
static void attend_shared(const rs_encoding *encoding, size_t threads, attend_result *result) {
  dice d = {.seed = test_seed()};
  attend_case given = {.shape = shape_of(encoding, (rs_mask){.kind = RS_CAUSAL}), .threads = threads};
  given.shape.kv_heads = encoding->heads / 2;
  attend_case_fill(&given, &d, 1, true);
  attend_result_make(result, &given);
  attend_tiles_f32(&given, result);
  attend_case_clear(&given);
}

/* Two heads read the same keys, turned alike or by each for itself; the last tile is no whole one. */
Test(attend, one_sequence_by_1_to_4_threads__same_bits) {
  enum { HEADS = 4, DIMS = 8, TOKENS = 300 };
  static const char *const methods[] = {"rope", "rerope", "alibi", "rope_mixed"};
  for (size_t i = 0; i < RS_COUNT(methods); i++) {
    rs_encoding *encoding = encoding_of(methods[i], "", HEADS, DIMS, TOKENS);
    attend_result one, some;
    cr_assert_eq(encoding->tables, strcmp(methods[i], "rope_mixed") == 0 ? HEADS : 1);
    attend_shared(encoding, 1, &one);
    for (size_t threads = 2; threads <= 4; threads++) {
      attend_shared(encoding, threads, &some);
      cr_expect_eq(memcmp(some.out, one.out, TOKENS * HEADS * DIMS * sizeof *one.out), 0, "%s, %zu threads", methods[i],
                   threads);
      cr_expect_eq(memcmp(some.level, one.level, TOKENS * HEADS * sizeof *one.level), 0, "%s, %zu threads", methods[i],
                   threads);
      attend_result_clear(&some);
    }
    attend_result_clear(&one);
    rs_encoding_free(encoding);
  }
}

Test(attend, any_thread__gives_the_same_bits) {
  enum { TIMES = 8 };
  rs_encoding *encoding = encoding_of("rope", "", 2, 6, 150);
  attend_case given = learned_case(encoding);
  attend_result results[TIMES];
  size_t bytes = 150 * 2 * 6 * sizeof(double);
  for (size_t i = 0; i < TIMES; i++) attend_result_make(&results[i], &given);
  use_threads(4);
#pragma omp parallel for schedule(dynamic, 1)
  for (size_t i = 0; i < TIMES; i++) attend_tiles_f32(&given, &results[i]);
  for (size_t i = 1; i < TIMES; i++) {
    cr_assert_eq(memcmp(results[i].out, results[0].out, bytes), 0);
    cr_assert_eq(memcmp(results[i].dq, results[0].dq, bytes), 0);
    cr_assert_eq(memcmp(results[i].dk, results[0].dk, bytes), 0);
    cr_assert_eq(memcmp(results[i].dv, results[0].dv, bytes), 0);
  }
  for (size_t i = 0; i < TIMES; i++) attend_result_clear(&results[i]);
  attend_case_clear(&given);
  rs_encoding_free(encoding);
}
