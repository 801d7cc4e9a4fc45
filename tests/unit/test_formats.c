/* Number formats: each quantity is rounded where it arises. */
#include "../golden.h"

static const rs_precision precisions[] = {
    {.positions = RS_BF16},
    {.inv_freq = RS_F32},
    {.angle = RS_F32},
    {.table = RS_BF16},
    {.positions = RS_F16, .inv_freq = RS_BF16, .angle = RS_BF16, .table = RS_F16},
};

/* Each quantity is rounded where it arises: positions, frequencies, their product, cos and sin. */
Test(encoding, precision__each_quantity__is_rounded_where_it_arises) {
  enum { LENGTH = 3000 };
  rs_model model = plain_model(16, 1e4, 64);
  rs_recipe recipe = make_recipe("rope", "");
  rs_encoding *exact = encode_recipe(&recipe, &model, LENGTH, NULL);
  for (size_t i = 0; i < RS_COUNT(precisions); i++) {
    const rs_precision *p = &precisions[i];
    rs_encoding *encoding = NULL;
    cr_assert_eq(rs_encoding_create(&recipe, &model, LENGTH, NULL, p, &encoding, NULL), RS_OK);
    for (size_t j = 0; j < 8; j++) {
      cr_assert_eq(encoding->omega[j], rs_round(p->inv_freq, exact->omega[j]), "setting %zu pair %zu", i, j);
      for (size_t m = 0; m < LENGTH; m += 7) {
        double position = encoding->pos_q[0][m], c, s, cosine, sine;
        cr_assert(position == rs_round(p->positions, (double)m) && encoding->pos_k[0][m] == position, "token %zu", m);
        double angle = rs_round(p->angle, position * encoding->omega[j]);
        if (p->angle == RS_F64)
          rs_cos_sin(position, encoding->omega[j], &cosine, &sine);
        else
          cosine = cos(angle), sine = sin(angle);
        rs_encoding_cos_sin(encoding, j, position, &c, &s);
        cr_assert(c == rs_round(p->table, cosine) && s == rs_round(p->table, sine), "setting %zu pair %zu token %zu", i,
                  j, m);
      }
    }
    rs_encoding_free(encoding);
  }
  rs_encoding_free(exact);
  rs_recipe_clear(&recipe);
}

Test(encoding, alibi__slope_factor__multiplies_every_slope) {
  rs_model model = plain_model(8, 1e4, 16);
  model.heads = 6;
  rs_encoding *plain = encode("alibi", "", &model, 4), *falcon = encode("alibi", "slope_factor=0.125", &model, 4);
  for (size_t h = 0; h < model.heads; h++) cr_assert_eq(falcon->bias_table[h], 0.125 * plain->bias_table[h]);
  rs_encoding_free(falcon);
  rs_encoding_free(plain);
}

/* Short formats err in each absolute angle, and the turn is what the two rotations leave; in double it is the turn of
 * the distance. */
Test(encoding, turn__in_each_precision__is_that_of_the_rotations) {
  enum { LENGTH = 5000, KEYS = 7 };
  static const size_t keys[KEYS] = {0, 1, 100, 2500, 4990, 4998, 4999};
  static const rs_format formats[] = {RS_F64, RS_F32, RS_BF16, RS_F16};
  rs_model model = plain_model(16, 1e4, 64);
  model.rotary_dim = 12;
  rs_recipe recipe = make_recipe("rope", "");
  for (size_t i = 0; i < 16 * KEYS; i++) {
    rs_precision p = {
        .positions = formats[i % 3], .inv_freq = formats[i % 2], .angle = formats[i % 4], .table = formats[i / 4 % 4]};
    bool exact = p.angle == RS_F64 && p.table == RS_F64;
    size_t key = keys[i / 16];
    rs_encoding *e = NULL;
    cr_assert_eq(rs_encoding_create(&recipe, &model, LENGTH, NULL, &p, &e, NULL), RS_OK);
    double q = e->pos_q[0][LENGTH - 1], k = e->pos_k[0][key], sum = 2, turn[2], of_q[2], of_k[2];
    for (size_t j = 0; j < 6; j++) {
      rs_encoding_turn(e, LENGTH - 1, key, j, &turn[0], &turn[1]);
      rs_encoding_cos_sin(e, j, q, &of_q[0], &of_q[1]);
      rs_encoding_cos_sin(e, j, k, &of_k[0], &of_k[1]);
      double cosine = of_q[0] * of_k[0] + of_q[1] * of_k[1], sine = of_q[1] * of_k[0] - of_q[0] * of_k[1];
      if (exact) rs_cos_sin(q - k, e->omega[j], &cosine, &sine);
      double slack = exact ? 0 : 1e-15;
      cr_assert(fabs(turn[0] - cosine) <= slack && fabs(turn[1] - sine) <= slack,
                "setting %zu key %zu pair %zu: %.17g %.17g, should be %.17g %.17g", i, key, j, turn[0], turn[1], cosine,
                sine);
      sum += turn[0];
    }
    cr_assert(close_to(rs_encoding_mean_cosine(e, LENGTH - 1, key), sum / 8, 0, 1e-15), "setting %zu key %zu", i, key);
    rs_encoding_free(e);
  }
  rs_recipe_clear(&recipe);
}

/* The largest half is 65504; 65520 and more round to infinity, as does a product of position and frequency. */
Test(encoding, create__beyond_the_range_of_a_format__is_a_domain_error) {
  static const struct {
    const char *method, *settings;
    size_t length;
    rs_precision precision;
    bool defined;
  } cases[] = {
      {"rope", "", 65520, {.positions = RS_F16}, true},
      {"rope", "", 65521, {.positions = RS_F16}, false},
      {"rope", "", 70000, {.positions = RS_F16}, false},
      {"nope", "", 70000, {.positions = RS_F16}, false},
      {"rope", "", 65520, {.angle = RS_F16}, true},
      {"rope", "", 65521, {.angle = RS_F16}, false},
      {"rope", "", 70000, {.angle = RS_F16}, false},
      {"rope", "", 70000, {.positions = RS_F32, .angle = RS_BF16, .table = RS_F16, .inv_freq = RS_F16}, true},
      {"nope", "", 70000, {.angle = RS_F16}, true}, /* nothing turns */
      {"pi", "factor=0.001", 50, {.angle = RS_F16}, true},
      {"pi", "factor=0.001", 100, {.angle = RS_F16}, false}, /* 99,000 rad */
      {"pi", "factor=0.001", 100, {.angle = RS_F32}, true},
      {"pi", "factor=0.001 interpolate=positions", 100, {.positions = RS_F16}, false},
      {"self_extend", "window=8 group=2000", 70000, {.positions = RS_F16}, false}, /* near keys keep their positions */
      {"pi", "factor=0.000001", 2, {.inv_freq = RS_F16}, false},
  };
  rs_model model = plain_model(16, 1e4, 64);
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_recipe recipe = make_recipe(cases[i].method, cases[i].settings);
    rs_encoding *encoding = NULL;
    rs_err err = {0};
    char message[128];
    snprintf(message, sizeof message, "length %zu is beyond the range of the float format of positions or angles",
             cases[i].length);
    rs_status status = rs_encoding_create(&recipe, &model, cases[i].length, NULL, &cases[i].precision, &encoding, &err);
    cr_assert_eq(status, cases[i].defined ? RS_OK : RS_DOMAIN, "case %zu: %s", i, rs_status_name(status));
    cr_assert_str_eq(err.message, cases[i].defined ? "" : message, "case %zu: %s", i, err.message);
    cr_assert_eq(encoding != NULL, cases[i].defined);
    rs_encoding_free(encoding);
    rs_recipe_clear(&recipe);
  }
}

/* The list as it stands, cos and sin times the factor, or the logits times its square. */
Test(encoding, explicit__list__is_the_table) {
  rs_model model = plain_model(8, 10000, 64);
  model.rotary_dim = 6;
  rs_encoding *plain = encode("explicit", "inv_freq=3,0.2,0 attention_factor=1.5", &model, 4);
  rs_encoding *logits = encode("explicit", "inv_freq=3,0.2,0 attention_factor=1.5 temperature=logits", &model, 4);
  for (size_t j = 0; j < 3; j++) cr_assert_eq(plain->omega[j], ((double[]){3, 0.2, 0})[j]);
  cr_assert(plain->amp == 1.5 && plain->logit_scale[3] == 1);
  cr_assert(logits->amp == 1 && logits->logit_scale[3] == 2.25);
  rs_encoding_free(plain);
  rs_encoding_free(logits);
}

/* Every position, by the roundings themselves. */
static double worst_angle(rs_format format, double omega, size_t length) {
  double worst = 0;
  for (size_t m = 0; m < length; m++) {
    double position = rs_round(format, (double)m);
    double angle = rs_round(format, rs_round(format, omega) * position);
    worst = fmax(worst, fabs(angle - omega * (double)m));
  }
  return worst;
}

static double worst_position(rs_format format, size_t length) {
  double worst = 0;
  for (size_t m = 0; m < length; m++) worst = fmax(worst, fabs(rs_round(format, (double)m) - (double)m));
  return worst;
}

Test(formats, error_of_a_position__every_length__is_that_of_the_worst_position) {
  static const rs_format kinds[] = {RS_F64, RS_F32, RS_BF16, RS_F16};
  static const size_t lengths[] = {65504, 65520, 100000, 131072, 131073, 131500, 300000, 524289};
  for (size_t k = 0; k < RS_COUNT(kinds); k++) {
    double worst = 0;
    for (size_t length = 0; length < 5000; length++) {
      if (length > 0) worst = fmax(worst, fabs(rs_round(kinds[k], (double)length - 1) - (double)(length - 1)));
      cr_assert_eq(rs_position_error(kinds[k], length), worst, "format %d, %zu tokens", (int)kinds[k], length);
    }
    for (size_t i = 0; i < RS_COUNT(lengths); i++)
      cr_expect_eq(rs_position_error(kinds[k], lengths[i]), worst_position(kinds[k], lengths[i]), "format %d, %zu",
                   (int)kinds[k], lengths[i]);
  }
}

/* Of a model's pairs together, as `explain` and `check` ask: never below what a position comes to, and near it. */
Test(formats, error_of_angles__all_positions__is_bounded_closely) {
  static const size_t lengths[] = {1, 2, 3, 100, 4096, 5000, 40000, 131072, 200000};
  static const double bases[] = {1e4, 5e5, 1e6, 50};
  for (size_t k = 0; k < 2; k++)
    for (size_t b = 0; b < RS_COUNT(bases); b++)
      for (size_t i = 0; i < RS_COUNT(lengths); i++) {
        rs_format format = k == 0 ? RS_F32 : RS_BF16;
        double worst = 0, bound = 0;
        for (size_t j = 0; j < 16; j++) {
          double omega = pow(bases[b], -(double)j / 16), one = worst_angle(format, omega, lengths[i]);
          cr_expect_leq(one, (1 + 1e-12) * rs_angle_error(format, omega, lengths[i]),
                        "format %d, base %g, pair %zu, %zu tokens: %g", (int)format, bases[b], j, lengths[i], one);
          worst = fmax(worst, one);
          bound = fmax(bound, rs_angle_error(format, omega, lengths[i]));
        }
        if (lengths[i] < 4096) continue;
        cr_expect_leq(bound, 1.1 * worst, "format %d, base %g, %zu tokens: %g for %g", (int)format, bases[b],
                      lengths[i], bound, worst);
      }
}

Test(formats, error_of_angles__at_the_edges__is_exact) {
  cr_expect_eq(rs_angle_error(RS_F32, 1, 131072), 0, "whole numbers of radians");
  cr_expect_eq(rs_angle_error(RS_F32, 0, 131072), 0);
  cr_expect_eq(rs_angle_error(RS_F32, 0.7, 1), 0, "position 0");
  cr_expect(isinf(rs_angle_error(RS_F16, 0.7, 131072)));
  cr_expect_eq(rs_angle_error(RS_BF16, 0.5, 1000), 1, "position 514 is held as 512 or 516");
}
