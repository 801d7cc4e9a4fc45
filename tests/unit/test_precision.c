/* test_precision.c: metrics of what float formats do to angles, scores and places, against roundings done by the
 * machine's own floats, and against brute force. */
#include <string.h>

#include "../table_metric.h"

/* ---- phase_error ------------------------------------------------------------------------------------------------- */

static rs_result phase(const rs_precision *precision, size_t length, const char *positions) {
  const rs_model llama = table_model(128, 1e4, 4096);
  const char *settings[] = {"positions", positions, NULL};
  return table_measure("phase_error", table_encode("rope", &llama, length, NULL, NULL, precision), settings, 0);
}

/* The angle in floats: a product carried from pair to pair, or a power for each pair. */
static float float_angle(size_t pair, float position, bool running) {
  if (!running) return position * (float)pow(1e4, -2.0 * pair / 128);
  for (size_t j = 0; j < pair; j++) position *= (float)pow(1e4, -2.0 / 128);
  return position;
}

static double float_error(size_t pair, size_t position, bool running) {
  return (double)fabsl(float_angle(pair, (float)position, running) -
                       (long double)position * powl(1e4L, -2.0L * pair / 128));
}

/* 1.1e-2 rad at 128k and 9.2e-2 at 1M for the product, 3.1e-2 at 1M for the power: at the position that is the length.
 */
Test(phase_error, float32__at_powers_of_two__is_as_measured_elsewhere) {
  static const struct {
    bool running;
    size_t length;
    double want;
  } cases[] = {{true, 131072, 1.1e-2}, {true, 1048576, 9.2e-2}, {false, 1048576, 3.1e-2}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_precision precision = {.inv_freq = RS_F32, .angle = RS_F32};
    if (cases[i].running) precision = (rs_precision){.running = true};
    rs_result result = phase(&precision, cases[i].length, "1");
    cr_assert_float_eq(result.value[0], cases[i].want, 5e-4, "%g", result.value[0]);
    rs_curve_clear(&result.curve);
  }
}

Test(phase_error, each_pair__is_the_floats_own) {
  enum { L = 70000, LAST = 40 };
  for (int running = 0; running < 2; running++) {
    rs_precision precision = {.inv_freq = RS_F32, .angle = RS_F32};
    if (running) precision = (rs_precision){.running = true};
    rs_result result = phase(&precision, L, "40");
    double at_length = 0, near_end = 0;
    cr_assert_eq(result.curve.rows, 64);
    for (size_t j = 0; j < 64; j++) {
      double want = 0;
      for (size_t m = L - LAST; m < L; m++) want = fmax(want, float_error(j, m, running));
      const double *row = result.curve.cells + 3 * j;
      table_agrees(row[0], j, 0, "pair");
      cr_assert_float_eq(row[1], float_error(j, L, running), 1e-10, "pair %zu at the length: %g", j, row[1]);
      cr_assert_float_eq(row[2], want, 1e-10, "pair %zu: %g, should be %g", j, row[2], want);
      at_length = fmax(at_length, row[1]);
      near_end = fmax(near_end, row[2]);
    }
    table_agrees(result.value[0], at_length, 0, "phase_error_at_length_rad");
    table_agrees(result.value[1], near_end, 0, "phase_error_rad");
    rs_curve_clear(&result.curve);
  }
}

/* Against the exact product of the very frequency: its double's second half counts. */
Test(phase_error, float32__against_the_exact_product__to_the_last_digits) {
  enum { L = 70001 };
  const rs_model llama = table_model(128, 1e4, 4096);
  rs_precision precision = {.inv_freq = RS_F32, .angle = RS_F32};
  rs_encoding *encoding = table_encode("rope", &llama, L, NULL, NULL, &precision);
  double omega[64];
  memcpy(omega, encoding->omega_exact, sizeof omega);
  rs_result result = table_measure("phase_error", encoding, NULL, 0);
  for (size_t j = 0; j < 64; j++) {
    long double want = fabsl((float)L * (float)omega[j] - (long double)L * omega[j]);
    table_agrees(omega[j], pow(1e4, -2.0 * j / 128), 1e-14, "omega_exact");
    cr_assert_float_eq(result.curve.cells[3 * j + 1], (double)want, 5e-15, "pair %zu", j);
  }
  rs_curve_clear(&result.curve);
}

/* In doubles half a last place of the angle: 2^-34 at 2^19 to 2^20. */
Test(phase_error, doubles__at_a_million__err_by_half_a_last_place) {
  rs_result result = phase(NULL, 1048576, "1024");
  cr_assert(result.value[1] <= 0x1p-34 && result.value[1] > 0x1p-35, "%g", result.value[1]);
  table_agrees(result.value[0], 0, 0, "a power of 2 times a double");
  rs_curve_clear(&result.curve);
}

/* Rounded alone: the frequency, or the position (bfloat16 has 256 for 257). */
Test(phase_error, one_format__errs__by_what_it_rounds) {
  rs_precision frequencies = {.inv_freq = RS_F32}, positions = {.positions = RS_BF16};
  rs_result result = phase(&frequencies, 1000, "1");
  double omega = pow(1e4, -2.0 / 128);
  cr_assert_float_eq(result.curve.cells[3 + 1], 1000 * fabs((float)omega - omega), 1e-12);
  rs_curve_clear(&result.curve);
  result = phase(&positions, 257, "1");
  table_agrees(result.value[0], 1, 0, "pair 0 is off by a whole token");
  table_agrees(result.curve.cells[3 + 1], omega, 1e-12, "pair 1");
  table_agrees(result.value[1], 0, 0, "256 is one of its numbers");
  rs_curve_clear(&result.curve);
  const rs_model llama = table_model(128, 1e4, 4096);
  rs_encoding *nope = table_encode("nope", &llama, 64, NULL, NULL, NULL);
  table_agrees(table_scalar_of("phase_error", "phase_error_rad", nope, NULL, 0), NAN, 0, "nope");
}

/* ---- shift_invariance -------------------------------------------------------------------------------------------- */

/* bfloat16 by its bits: ties to even. */
static double bf16(double value) {
  float single = (float)value;
  uint32_t bits;
  memcpy(&bits, &single, sizeof bits);
  bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000;
  memcpy(&single, &bits, sizeof bits);
  return single;
}

enum { D = 6, R = 4, SHIFT_LENGTH = 300, SAMPLES = 5 };

/* The score of the metric's draw, rotated with every step in bfloat16, or exactly. */
static double drawn_score(size_t sample, size_t m, size_t n, bool exact, double amp) {
  double q[D], k[D], sum = 0;
  const rs_stream stream = {.seed = 9, .purpose = RS_PURPOSE_SHIFT};
  rs_gaussian_fill(stream, 2 * sample * D, D, q);
  rs_gaussian_fill(stream, (2 * sample + 1) * D, D, k);
  for (size_t d = 0; d < D; d++) q[d] = bf16(q[d]), k[d] = bf16(k[d]);
  for (size_t j = 0; j < R / 2; j++) {
    double omega = pow(1e4, -2.0 * j / R), *a = q + 2 * j, *b = k + 2 * j;
    if (exact) {
      double c = cos((double)(m - n) * omega), s = sin((double)(m - n) * omega);
      sum += amp * amp * (c * (a[0] * b[0] + a[1] * b[1]) + s * (a[0] * b[1] - a[1] * b[0]));
      continue;
    }
    double cm = bf16(amp * cos(m * omega)), sm = bf16(amp * sin(m * omega)), cn = bf16(amp * cos(n * omega)),
           sn = bf16(amp * sin(n * omega));
    sum += bf16(bf16(a[0] * cm) - bf16(a[1] * sm)) * bf16(bf16(b[0] * cn) - bf16(b[1] * sn));
    sum += bf16(bf16(a[1] * cm) + bf16(a[0] * sm)) * bf16(bf16(b[1] * cn) + bf16(b[0] * sn));
  }
  for (size_t d = R; d < D; d++) sum += q[d] * k[d];
  return sum / sqrt(D);
}

static rs_encoding *shifted_encoding(size_t length, const rs_precision *precision, const char *const settings[]) {
  rs_model model = table_model(D, 1e4, 4096);
  model.rotary_dim = R;
  return table_encode(settings != NULL ? "yarn" : "rope", &model, length, settings, NULL, precision);
}

/* Every distance and draw again; and with YaRN's amplitude alone, for s = 1 keeps the frequencies. */
Test(shift_invariance, bfloat16__every_distance__is_the_rotation_written_out) {
  static const char *const yarn[] = {"factor", "1", "attention_factor", "1.3", NULL};
  static const char *const settings[] = {"shift", "16", "rotation", "bf16", "samples", "5", "per_octave", "1", NULL};
  for (int amplified = 0; amplified < 2; amplified++) {
    double amp = amplified ? 1.3 : 1, all = 0, worst = 0, off = 0;
    rs_encoding *encoding = shifted_encoding(SHIFT_LENGTH, NULL, amplified ? yarn : NULL);
    rs_result result = table_measure("shift_invariance", encoding, settings, 9);
    size_t m = SHIFT_LENGTH - 17, rows = result.curve.rows;
    table_agrees(result.curve.cells[4 * (rows - 1)], m, 0, "the first key is the farthest");
    for (size_t i = 0; i < rows; i++) {
      const double *row = result.curve.cells + 4 * i;
      double shift = 0, error = 0, largest = 0;
      size_t n = m - (size_t)row[0];
      for (size_t s = 0; s < SAMPLES; s++) {
        double here = drawn_score(s, m, n, false, amp), there = drawn_score(s, m + 16, n + 16, false, amp);
        shift += pow(there - here, 2);
        error += pow(here - drawn_score(s, m, n, true, amp), 2);
        largest = fmax(largest, fabs(there - here));
      }
      cr_assert_float_eq(row[1], sqrt(shift / SAMPLES), 1e-12, "distance %g: %g", row[0], row[1]);
      cr_assert_float_eq(row[2], largest, 1e-12);
      cr_assert_float_eq(row[3], sqrt(error / SAMPLES), 1e-12);
      all += shift;
      off += error;
      worst = fmax(worst, largest);
    }
    cr_assert_float_eq(result.value[0], sqrt(all / (double)(SAMPLES * rows)), 1e-12);
    cr_assert_float_eq(result.value[1], worst, 1e-12);
    cr_assert_float_eq(result.value[2], sqrt(off / (double)(SAMPLES * rows)), 1e-12);
    cr_assert_gt(result.value[0], 1e-3, "bfloat16 is felt");
    rs_curve_clear(&result.curve);
  }
}

/* In doubles nothing changes; float32 angles change more in a longer context. */
Test(shift_invariance, doubles_and_floats__are_near_zero__and_floats_grow) {
  cr_assert_lt(table_scalar_of("shift_invariance", "shift_error_max_nats", shifted_encoding(4096, NULL, NULL), NULL, 1),
               1e-12);
  rs_precision f32 = {.inv_freq = RS_F32, .angle = RS_F32};
  static const char *const settings[] = {"rotation", "f32", NULL};
  double near =
      table_scalar_of("shift_invariance", "shift_error_rms_nats", shifted_encoding(1024, &f32, NULL), settings, 1);
  double far =
      table_scalar_of("shift_invariance", "shift_error_rms_nats", shifted_encoding(65536, &f32, NULL), settings, 1);
  cr_assert(far > 16 * near && far < 256 * near, "%g and %g", near, far);
  rs_encoding *brief = shifted_encoding(17, NULL, NULL);
  table_agrees(table_scalar_of("shift_invariance", "shift_error_rms_nats", brief, NULL, 1), NAN, 0, "no room to shift");
  brief = shifted_encoding(18, NULL, NULL);
  cr_assert_lt(table_scalar_of("shift_invariance", "shift_error_rms_nats", brief, NULL, 1), 1e-12);
}

/* A temperature on the logits counts as much as one on cos and sin. */
Test(shift_invariance, temperature__on_logits_or_amp__errors_are_as_large) {
  static const char *const where[] = {"cos_sin", "logits"};
  static const rs_precision ids = {.positions = RS_BF16};
  double got[2];
  for (size_t i = 0; i < 2; i++) {
    rs_model model = table_model(16, 1e4, 512);
    const char *const settings[] = {"factor", "8", "temperature", where[i], NULL};
    rs_encoding *encoding = table_encode("yarn", &model, 4096, settings, NULL, &ids);
    got[i] = table_scalar_of("shift_invariance", "logit_error_rms_nats", encoding, NULL, 3);
  }
  cr_assert_gt(got[0], 0.01);
  table_agrees(got[1], got[0], 1e-9, "logits as amp");
}

/* A frequency that is rounded alone leaves scores invariant, and wrong. */
Test(shift_invariance, rounded_frequencies__keep_invariance__and_miss_the_exact_score) {
  rs_precision coarse = {.inv_freq = RS_BF16};
  rs_encoding *encoding = shifted_encoding(4096, &coarse, NULL);
  rs_result result = table_measure("shift_invariance", encoding, NULL, 1);
  cr_assert_lt(result.value[1], 1e-11);
  cr_assert_gt(result.value[2], 1e-3);
  rs_curve_clear(&result.curve);
}

/* Ids of 284 and 283 are both 284 in bfloat16: a shift by one token is none, or two. */
Test(shift_invariance, short_position_ids__odd_shifts__are_felt) {
  rs_precision ids = {.positions = RS_BF16};
  static const char *const odd[] = {"shift", "1", NULL};
  cr_assert_gt(table_scalar_of("shift_invariance", "shift_error_rms_nats", shifted_encoding(300, &ids, NULL), odd, 1),
               0.1);
  cr_assert_lt(table_scalar_of("shift_invariance", "shift_error_rms_nats", shifted_encoding(250, &ids, NULL), odd, 1),
               1e-12);
}

/* ---- alias ------------------------------------------------------------------------------------------------------- */

/* Pairs, keys with a twin and the first second of them, by looking at all. */
static void brute_alias(const double *places, size_t count, size_t axes, double want[3]) {
  size_t pairs = 0, twins = 0, first = count;
  for (size_t n = 0; n < count; n++) {
    size_t earlier = 0, later = 0;
    for (size_t o = 0; o < count; o++)
      if (o != n && memcmp(places + n * axes, places + o * axes, axes * sizeof *places) == 0) {
        if (o < n) earlier++;
        if (o > n) later++;
      }
    pairs += earlier;
    twins += earlier + later > 0;
    if (earlier > 0 && n < first) first = n;
  }
  want[0] = (double)pairs;
  want[1] = (double)twins / (double)count;
  want[2] = first < count ? (double)first : NAN;
}

static void alias_is(const char *method, rs_encoding *encoding, const double want[3]) {
  rs_result result = table_measure("alias", encoding, NULL, 0);
  for (size_t i = 0; i < 3; i++) table_agrees(result.value[i], want[i], 1e-15, method);
  rs_curve_clear(&result.curve);
}

/* bfloat16 holds 256, 258, ...: 257 is the first that shares. float16 holds integers to 2048. */
Test(alias, short_position_ids__share_places__as_the_bits_say) {
  enum { L = 1500 };
  const rs_model llama = table_model(128, 1e4, 4096);
  rs_precision precision = {.positions = RS_BF16}, half = {.positions = RS_F16};
  double places[L], want[3];
  for (size_t m = 0; m < L; m++) places[m] = bf16((double)m);
  brute_alias(places, L, 1, want);
  table_agrees(want[2], 257, 0, "the oracle");
  alias_is("rope", table_encode("rope", &llama, L, NULL, NULL, &precision), want);
  alias_is("rope", table_encode("rope", &llama, 257, NULL, NULL, &precision), (double[]){0, 0, NAN});
  alias_is("rope", table_encode("rope", &llama, 258, NULL, NULL, &precision), (double[]){1, 2.0 / 258, 257});
  alias_is("rope", table_encode("rope", &llama, L, NULL, NULL, &half), (double[]){0, 0, NAN});
}

/* A map that is clamped at a window of 10 puts the first 90 of 100 keys at one place; NoPE has none. */
Test(alias, clamped_and_unplaced_keys) {
  const rs_model llama = table_model(128, 1e4, 4096);
  static const char *const window[] = {"window", "10", NULL};
  alias_is("rerope", table_encode("rerope", &llama, 100, window, NULL, NULL), (double[]){90 * 89 / 2, 0.9, 1});
  alias_is("nope", table_encode("nope", &llama, 100, NULL, NULL, NULL), (double[]){NAN, NAN, NAN});
  alias_is("rope", table_encode("rope", &llama, 100, NULL, NULL, NULL), (double[]){0, 0, NAN});
}

/* Patches that share a row are told apart by their column, and rows and columns that start anew by time. */
Test(alias, pictures__all_axes_count) {
  rs_model model = table_model(12, 1e4, 4096);
  rs_token_run runs[] = {{RS_IMAGE, 6, 1, 2, 3, 1, 1}, {RS_IMAGE, 6, 1, 2, 3, 1, 1}};
  const rs_token_layout tokens = {.runs = runs, .count = 2};
  static const char *const methods[] = {"mrope", "mrope_i", "videorope"};
  for (size_t i = 0; i < RS_COUNT(methods); i++) {
    rs_encoding *encoding = table_encode(methods[i], &model, 16, NULL, &tokens, NULL);
    double want[3];
    brute_alias(encoding->pos_k[0], 16, 3, want);
    alias_is(methods[i], encoding, want);
  }
}
