/* test_ood.c: angles beyond the trained range, what is kept of local resolution, and metrics of three axes,
 * recomputed here. */
#include <criterion/criterion.h>
#include <math.h>

#include "../fixtures/metric_bench.h"
#include "encoding/encoding.h"

Test(three_axes, ood_angles__of_mrope__reach_of_each_axis_counts) {
  double ids[VISION_TOKENS * RS_AXES], reach[RS_AXES] = {0};
  rs_encoding *encoding = encode_vision(ids);
  for (size_t m = 0; m < VISION_TOKENS; m++)
    for (size_t n = 0; n <= m; n++)
      for (size_t a = 0; a < RS_AXES; a++) reach[a] = fmax(reach[a], fabs(ids[m * RS_AXES + a] - ids[n * RS_AXES + a]));
  cr_assert(reach[0] > reach[2] && reach[2] > reach[1]);
  bench b;
  bench_open(&b, "ood_angles", encoding, NULL, 0);
  bench_finish(&b);
  for (size_t j = 0; j < VISION_DIMS / 2; j++) {
    long double omega = powl(10000, -2.0L * j / VISION_DIMS);
    agrees(cell(&b, j, 1), 10 * omega, 1e-14, "trained_rad");
    agrees(cell(&b, j, 2), reach[axis_of(j)] * omega, 1e-14, "reached_rad");
  }
  bench_close(&b);
  rs_encoding_free(encoding);
}

/* NTK-aware scaling (bloc97, 2023): Llama-2 stretched from 4096 tokens by s. */
Test(ood_angles, llama2_stretched__pairs_and_overshoot__are_the_published_ones) {
  static const char *const scales[][3] = {{"scale", "2"}, {"scale", "8"}, {"scale", "32"}};
  static const struct {
    const char *method;
    size_t scale;
    double pairs, overshoot;
  } cases[] = {{"ntk", 0, NAN, 1.12}, {"ntk", 1, 17, 4.11}, {"ntk", 2, NAN, 8.45}, {"pi", 0, 0, 0},  {"pi", 1, 0, 0},
               {"pi", 2, 0, 0},       {"yarn", 0, 0, 0},    {"yarn", 1, 0, 0},     {"yarn", 2, 0, 0}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    size_t length = 4096 * (size_t)atoi(scales[cases[i].scale][1]);
    double pairs = llama2("ood_angles", 0, cases[i].method, length, scales[cases[i].scale]);
    if (!isnan(cases[i].pairs)) agrees(pairs, cases[i].pairs, 0, cases[i].method);
    double overshoot = llama2("ood_angles", 1, cases[i].method, length, scales[cases[i].scale]);
    cr_assert_float_eq(overshoot, cases[i].overshoot, 0.005, "%s: %g rad", cases[i].method, overshoot);
  }
}

/* A reach of the trained length is that of training; one token further, every pair that has not gone full circle is
 * out. */
Test(ood_angles, rope_around_the_trained_length__curve__is_recomputed) {
  static const size_t lengths[] = {1000, 4096, 4097, 4098, 9000};
  for (size_t i = 0; i < RS_COUNT(lengths); i++) {
    rs_model model = model_of(1, 128);
    rs_encoding *encoding = encode("rope", &model, lengths[i], NULL);
    double pairs = 0, largest = 0;
    bench b;
    bench_open(&b, "ood_angles", encoding, NULL, 0);
    bench_finish(&b);
    cr_assert_eq(b.result.curve.rows, 64);
    for (size_t j = 0; j < 64; j++) {
      long double omega = powl(10000, -2.0L * j / 128), trained = 4096 * omega, reached = (lengths[i] - 1) * omega;
      bool outside = trained < 2 * M_PI && lengths[i] > 4097;
      pairs += outside;
      largest = fmax(largest, outside ? (double)(reached - trained) : 0);
      agrees(cell(&b, j, 0), j, 0, "pair");
      agrees(cell(&b, j, 1), trained, 1e-14, "trained_rad");
      agrees(cell(&b, j, 2), reached, 1e-14, "reached_rad");
      agrees(cell(&b, j, 3), outside ? reached - trained : 0, 1e-13, "overshoot_rad");
    }
    agrees(b.result.value[0], pairs, 0, "ood_pairs");
    agrees(b.result.value[1], largest, 1e-13, "ood_overshoot_rad");
    cr_assert_eq(pairs, lengths[i] > 4097 ? 18 : 0); /* pairs 46 .. 63: wavelengths beyond 4096 tokens */
    bench_close(&b);
    rs_encoding_free(encoding);
  }
}

/* Distances that are stretched or capped to the trained length itself; a third of an angle has no exact double. */
Test(ood_angles, reach_of_the_trained_length__any_way_it_comes__is_in_range) {
  static const char *const third[] = {"factor", "3", NULL}, *const seventh[] = {"factor", "7", NULL};
  static const char *const window[] = {"group", "8", "window", "512", NULL};
  static const struct {
    const char *method, *const *settings;
    size_t length; /* the longest in range */
  } cases[] = {{"rope", NULL, 4097},
               {"pi", third, 3 * 4096 + 1},
               {"pi", seventh, 7 * 4096 + 1},
               {"yarn", third, 3 * 4096 + 1},
               {"self_extend", window, 8 * (4096 - 512 + 64) + 8}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    agrees(llama2("ood_angles", 0, cases[i].method, cases[i].length, cases[i].settings), 0, 0, cases[i].method);
    agrees(llama2("ood_angles", 1, cases[i].method, cases[i].length, cases[i].settings), 0, 0, cases[i].method);
    cr_expect_gt(llama2("ood_angles", 0, cases[i].method, cases[i].length + 1, cases[i].settings), 0, "%s",
                 cases[i].method);
  }
}

Test(local_resolution, drop_at_distance_one__and_the_share_kept__are_recomputed) {
  static const char *const by_4[] = {"scale", "4", NULL}, *const partial[] = {"rotary_dim", "32", NULL};
  static const struct {
    const char *method, *const *settings;
    double divisor; /* of every omega */
    size_t turning;
  } cases[] = {{"rope", NULL, 1, 64}, {"pi", by_4, 4, 64}, {"rope", partial, 1, 16}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    long double drop = 0, trained = 0;
    for (size_t j = 0; j < cases[i].turning; j++) {
      long double omega = powl(10000, -(long double)j / cases[i].turning);
      trained += (1 - cosl(omega)) / 64;
      drop += (1 - cosl(omega / cases[i].divisor)) / 64;
    }
    agrees(llama2("local_resolution", 0, cases[i].method, 500, cases[i].settings), drop, 1e-14, "drop");
    agrees(llama2("local_resolution", 1, cases[i].method, 500, cases[i].settings), drop / trained, 1e-13, "kept");
  }
  agrees(llama2("local_resolution", 1, "rope", 500, NULL), 1, 0, "plain RoPE keeps all, to the last bit");
  agrees(llama2("local_resolution", 0, "rope", 500, NULL), 1 - 0.9702, 5e-5, "1 - B_1 / (d/2)");
}

Test(local_resolution, nothing_turns_or_one_token__is_undefined) {
  for (size_t index = 0; index < 2; index++) {
    agrees(llama2("local_resolution", index, "nope", 500, NULL), NAN, 0, "nope");
    agrees(llama2("local_resolution", index, "alibi", 500, NULL), NAN, 0, "alibi");
    agrees(llama2("local_resolution", index, "rope", 1, NULL), NAN, 0, "one token");
  }
}

/* Llama-2 at 32k: plain RoPE turns the far keys on, Position Interpolation the near ones back, and YaRN's factor counts
 * beside its angles. ReRoPE sees every key where training did. */
Test(zero_shot_damage, angles_and_factor__are_recomputed) {
  static const char *const by_8[] = {"scale", "8", NULL};
  static const double turn = 2 * M_PI, weights = 1 + 1. / 2 + 1. / 3 + 1. / 4 + 1. / 5 + 1. / 6 + 1. / 7 + 1. / 8;
  long double fresh = 0, near = 0;
  for (size_t j = 0; j < 64; j++) {
    long double omega = powl(10000, -(long double)j / 64), trained = 4096 * omega;
    if (trained < turn) fresh += fminl(32767 * omega - trained, turn) / turn / 64;
    for (size_t m = 1; m <= 8; m++) near += (1 - cosl(omega * m / 8 - omega * m)) / m / weights / 64;
  }
  agrees(llama2("zero_shot_damage", 1, "rope", 32768, NULL), fresh, 1e-13, "new angles of RoPE");
  agrees(llama2("zero_shot_damage", 2, "rope", 32768, NULL), 0, 0, "RoPE's near keys stay");
  agrees(llama2("zero_shot_damage", 0, "rope", 32768, NULL), fresh, 1e-13, "RoPE");
  agrees(llama2("zero_shot_damage", 1, "pi", 32768, by_8), 0, 0, "PI stays in range");
  agrees(llama2("zero_shot_damage", 2, "pi", 32768, by_8), near, 1e-13, "near keys under PI");
  agrees(llama2("zero_shot_damage", 0, "pi", 32768, by_8), 5 * near, 1e-13, "PI");
  agrees(llama2("zero_shot_damage", 0, "rerope", 32768, NULL), 0, 0, "ReRoPE");
  double factor = 2 * log(0.1 * log(8) + 1); /* of the logits: cos and sin are multiplied on both sides */
  agrees(llama2("zero_shot_damage", 0, "yarn", 32768, by_8),
         llama2("zero_shot_damage", 1, "yarn", 32768, by_8) + 5 * llama2("zero_shot_damage", 2, "yarn", 32768, by_8) -
             0.01 * factor,
         1e-13, "YaRN");
  cr_expect(isnan(llama2("zero_shot_damage", 0, "alibi", 500, NULL)));
  agrees(llama2("zero_shot_damage", 0, "rope", 1, NULL), 0, 0, "one token");
}

/* -ln of the softmax weight of the key one back, for 64 pairs that turn by omega_j divisor and see the key m back at
 * min(m, farthest). */
static long double lookback(size_t length, long double divisor, size_t farthest, long double factor) {
  long double logit = factor * 2 * logl(4096), all = 0, there = 0;
  for (size_t m = 0; m < length; m++) {
    long double sum = 0;
    for (size_t j = 0; j < 64; j++) {
      long double omega = powl(10000, -(long double)j / 64), seen = m < farthest ? m : farthest;
      sum += cosl(seen * omega / divisor - omega) / 64;
    }
    if (m == 1) there = expl(logit * sum);
    all += expl(logit * sum);
  }
  return -logl(there / all);
}

Test(lookback_damage, weight_of_the_key_before__is_recomputed) {
  static const char *const by_2[] = {"scale", "2", NULL}, *const window[] = {"window", "700", NULL};
  static const char *const sharper[] = {"logit_scale", "log_n", NULL};
  agrees(llama2("lookback_damage", 0, "rope", 5000, NULL), lookback(5000, 1, 5000, 1), 1e-13, "RoPE");
  agrees(llama2("lookback_damage", 0, "pi", 5000, by_2), lookback(5000, 2, 5000, 1), 1e-13, "PI");
  agrees(llama2("lookback_damage", 0, "rerope", 5000, window), lookback(5000, 1, 700, 1), 1e-13, "ReRoPE");
  agrees(llama2("lookback_damage", 0, "rope", 5000, sharper), lookback(5000, 1, 5000, logl(5000) / logl(4096)), 1e-13,
         "RoPE with log-n scaling");
  agrees(llama2("lookback_damage", 0, "rope", 2, NULL), lookback(2, 1, 2, 1), 1e-13, "two tokens");
}

/* The same of any encoding of one axis, key by key. */
static long double lookback_of(const rs_encoding *e) {
  size_t pairs = e->rotary_dim / 2, last = e->length - 1;
  long double all = 0, there = 0;
  for (size_t m = 0; m < e->length; m++) {
    long double sum = 0, distance = e->pos_q[0][last] - e->pos_k[0][last - m];
    for (size_t j = 0; j < pairs; j++) sum += cosl(distance * e->omega[j] - e->omega_trained[j]) / pairs;
    long double weight = expl(2 * logl(e->train_length) * sum);
    if (m == 1) there = weight;
    all += weight;
  }
  return -logl(there / all);
}

/* Where angles are rounded, or distances are no whole numbers, there is no table: each key is summed by itself. */
Test(lookback_damage, rounded_angles_and_parts_of_tokens__are_summed_key_by_key) {
  static const rs_token_run runs[] = {{.modality = RS_TEXT, .tokens = 3},
                                      {.modality = RS_IMAGE,
                                       .tokens = 6,
                                       .frames = 1,
                                       .rows = 2,
                                       .columns = 3,
                                       .seconds_per_frame = 1,
                                       .ids_per_second = 1}};
  static const struct {
    const char *method;
    bool picture;
    rs_precision precision;
    double slack;
  } cases[] = {{"rope", false, {0}, 1e-13},
               {"rope", false, {.angle = RS_F32}, 1e-5},
               {"rope", false, {.table = RS_F32}, 1e-5},
               {"v2pe", true, {0}, 1e-13},
               {"v2pe", false, {0}, 1e-13}};
  rs_model model = model_of(1, 16);
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_recipe recipe;
    rs_encoding *encoding;
    rs_err err = {0};
    const rs_token_layout layout = {.runs = (rs_token_run *)runs, .count = RS_COUNT(runs)};
    cr_assert_eq(rs_recipe_init(&recipe, rs_method_find(cases[i].method), NULL), RS_OK);
    rs_status status = rs_encoding_create(&recipe, &model, 40, cases[i].picture ? &layout : NULL, &cases[i].precision,
                                          &encoding, &err);
    cr_assert_eq(status, RS_OK, "%s", err.message);
    cr_assert_eq(encoding->axes, 1);
    agrees(table_scalar("lookback_damage", encoding, 0), lookback_of(encoding), cases[i].slack, cases[i].method);
    rs_encoding_free(encoding);
    rs_recipe_clear(&recipe);
  }
}

Test(lookback_damage, both_sums__of_angles_and_lookback__are_as_weighted) {
  static const char *const half[] = {"scale", "2", NULL};
  static const struct {
    const char *method, *const *settings;
  } cases[] = {{"rope", NULL}, {"pi", half}, {"ntk", half}, {"rerope", NULL}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    double value[3], part[3];
    for (size_t k = 0; k < 3; k++) {
      value[k] = llama2("lookback_damage", k, cases[i].method, 9000, cases[i].settings);
      part[k] = llama2("zero_shot_damage", k, cases[i].method, 9000, cases[i].settings);
    }
    agrees(value[1], part[1] + 2 * part[2] + value[0] / 50, 1e-14, cases[i].method);
    agrees(value[2], part[1] + value[0] / 10, 1e-14, cases[i].method);
  }
}

Test(lookback_damage, nothing_turns_or_no_key_before__is_undefined) {
  for (size_t index = 0; index < 3; index++) {
    agrees(llama2("lookback_damage", index, "nope", 500, NULL), NAN, 0, "nope");
    agrees(llama2("lookback_damage", index, "alibi", 500, NULL), NAN, 0, "alibi");
    agrees(llama2("lookback_damage", index, "rope", 1, NULL), NAN, 0, "one token");
  }
}
