/* Biases: each against its formula told anew (biases.h), how tables are drawn, and what is said of values that
 * cannot be. Tables of the field's own are the golden suite's matter. */
#include "../biases.h"
#include "../fixtures/bias_worlds.h"
#include "../fixtures/threads.h"
#include "../golden.h"

/* ---- every bias against its formula ------------------------------------------------------------------------------ */

static const char *const recipes[][2] = {
    {"alibi", ""},
    {"alibi", "bias_max=3 slope_factor=0.3"},
    {"alibi", "bias_form=position slope_factor=inv_sqrt_dim"},
    {"alibi", "bias_form=end"},
    {"alibi", "bias_form=position slope_format=bf16 bias_format=bf16 slope_factor=inv_sqrt_dim"},
    {"alibi", "slope_format=f16"},
    {"alibi", "bias_format=bf16 slope_factor=0.3"},
    {"alibi", "bias_format=f32"},
    {"t5", ""},
    {"t5", "bidirectional=true"},
    {"t5", "num_buckets=8 max_distance=20"},
    {"t5", "num_buckets=2 max_distance=4 init_sd=1"},
    {"relative", ""},
    {"relative", "clip=1"},
    {"relative", "clip=100"},
    {"swin", ""},
    {"kerple_log", ""},
    {"kerple_log", "kernel=power"},
    {"fire", ""},
    {"fire", "threshold=5 c=0.7 mlp_width=3"},
    {"sandwich", ""},
    {"sandwich", "sandwich_dim=2"},
    {"sandwich", "sandwich_dim=18"},
};

typedef void row_maker(const rs_encoding *e, size_t head, size_t query, size_t begin, size_t end, double *bias);

/* All heads, queries and keys, also those after the query; and the same in any part of a row. */
static void check_rows(const rs_encoding *e, const char *settings, row_maker *row) {
  double whole[LENGTH], part[LENGTH];
  for (size_t head = 0; head < e->heads; head++)
    for (size_t m = 0; m < LENGTH; m++) {
      row(e, head, m, 0, LENGTH, whole);
      for (size_t n = 0; n < LENGTH; n++) {
        double expected = (double)expected_bias(e, head, m, n);
        cr_assert(close_to(whole[n], expected, 1e-13, 1e-13), "%s %s head %zu (%zu, %zu): got %.17g, expected %.17g",
                  e->method->name, settings, head, m, n, whole[n], expected);
      }
      row(e, head, m, 7, 31, part);
      cr_assert_eq(memcmp(part, whole + 7, 24 * sizeof *part), 0, "%s %s (%zu, 7...30)", e->method->name, settings, m);
      part[0] = 77;
      row(e, head, m, 9, 9, part);
      cr_assert_eq(part[0], 77, "%s writes an empty row", e->method->name);
    }
}

/* Sums over 4096 distances at a time, by several threads: the bits of one thread, and the formula. */
Test(biases, sandwich__long_context__is_that_of_one_thread_and_of_the_formula) {
  enum { LONG = 9000 };
  rs_model model = {.heads = 1, .head_dim = 4, .rope_theta = 1e4, .train_length = 64, .max_length = 64};
  double *rows[2] = {0};
  for (size_t i = 0; i < RS_COUNT(rows); i++) {
    use_threads(i == 0 ? 1 : 5);
    rs_encoding *encoding = encode("sandwich", "sandwich_dim=4", &model, LONG);
    rows[i] = malloc(LONG * sizeof **rows);
    cr_assert_not_null(rows[i]);
    rs_encoding_bias_row(encoding, 0, LONG - 1, 0, LONG, rows[i]);
    rs_encoding_free(encoding);
  }
  cr_expect_arr_eq(rows[0], rows[1], LONG * sizeof **rows);
  for (size_t n = 0; n < LONG; n++) { /* one head: over 8 */
    double distance = (double)(LONG - 1 - n), wanted = (cos(distance) + cos(distance / 100)) / 8;
    cr_assert(close_to(rows[1][n], wanted, 1e-12, 1e-13), "key %zu: %.17g, not %.17g", n, rows[1][n], wanted);
  }
  for (size_t i = 0; i < RS_COUNT(rows); i++) free(rows[i]);
}

Test(biases, every_kind__any_query_and_key__is_the_formula) {
  rs_model model = test_model(HEADS);
  for (size_t i = 0; i < RS_COUNT(recipes); i++) {
    rs_encoding *encoding = encode_mixed(recipes[i][0], recipes[i][1], &model, LENGTH);
    check_rows(encoding, recipes[i][1], rs_encoding_bias_row);
    check_rows(encoding, recipes[i][1], rs_encoding_quick_bias_row);
    rs_encoding_free(encoding);
  }
}

/* A bias that nobody described above would go unseen. */
Test(biases, recipes__every_kind__has_one) {
  size_t count;
  const rs_bias_kind *const *kinds = rs_bias_kinds(&count);
  for (size_t i = 0; i < count; i++) {
    bool known = false;
    for (size_t r = 0; r < RS_COUNT(recipes); r++) known |= rs_method_find(recipes[r][0])->bias == kinds[i];
    cr_assert(known, "%s", kinds[i]->kind.name);
  }
}

/* What the bidirectional mask relies on: these depend on the distance, whichever side. FIRE's does once the query is
 * below the threshold. */
Test(biases, symmetric_kinds__keys_after_the_query__are_as_those_before) {
  static const char *const symmetric[][2] = {{"alibi", ""},
                                             {"kerple_log", ""},
                                             {"kerple_log", "kernel=power"},
                                             {"sandwich", ""},
                                             {"fire", ""},
                                             {"alibi", "bias_form=distance"},
                                             {"relative", "clip=4"},
                                             {"t5", "bidirectional=true"}};
  rs_model model = test_model(3);
  for (size_t i = 0; i < RS_COUNT(symmetric); i++) {
    rs_encoding *e = encode(symmetric[i][0], symmetric[i][1], &model, LENGTH);
    size_t differ = 0;
    for (size_t m = 0; m < LENGTH; m++)
      for (size_t n = 0; n < m; n++) differ += bias_at(e, 2, m, n) != bias_at(e, 2, n, m);
    bool sided = i >= 6; /* a learned table has both sides */
    cr_assert_eq(differ == 0, !sided, "%s: %zu pairs differ", symmetric[i][0], differ);
    rs_encoding_free(e);
  }
}

/* ---- drawn tables ------------------------------------------------------------------------------------------------ */

static void mean_and_sd(const double *numbers, size_t count, double *mean, double *sd) {
  double sum = 0, squares = 0;
  for (size_t i = 0; i < count; i++) sum += numbers[i];
  *mean = sum / (double)count;
  for (size_t i = 0; i < count; i++) squares += (numbers[i] - *mean) * (numbers[i] - *mean);
  *sd = sqrt(squares / (double)count);
}

Test(drawn, learned_tables__have_the_spread_asked_for) {
  static const struct {
    const char *method, *settings;
    double sd;
  } cases[] = {{"t5", "num_buckets=4000 max_distance=9000", 0.03125}, /* 1/sqrt(64 * 16) */
               {"t5", "num_buckets=4000 max_distance=9000 init_sd=2", 2},
               {"relative", "clip=2000", 0.02},
               {"relative", "clip=2000 init_sd=inv_sqrt_width", 0.03125},
               {"relative", "clip=2000 init_sd=0", 0}};
  rs_model model = test_model(64);
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_encoding *e = encode(cases[i].method, cases[i].settings, &model, 8);
    double mean, sd;
    mean_and_sd(e->bias_table, e->bias_size, &mean, &sd);
    cr_assert(close_to(sd, cases[i].sd, 0.01, 0), "%s %s: sd %g", cases[i].method, cases[i].settings, sd);
    cr_assert(close_to(mean, 0, 0, 0.01 * sd), "mean %g", mean);
    rs_encoding_free(e);
  }
}

/* Uniform over the ranges of the authors' initialisation: 2 U and U. */
Test(drawn, kerple__numbers__are_uniform_in_their_ranges) {
  enum { MANY = 4000 };
  static const char *const kernels[] = {"log", "power"};
  rs_model model = test_model(MANY);
  for (size_t i = 0; i < 2; i++) {
    rs_encoding *e = encode("kerple_log", i == 0 ? "table_seed=3" : "kernel=power table_seed=3", &model, 4);
    for (size_t column = 0; column < 2; column++) {
      const double *numbers = e->bias_table + column * MANY;
      double mean, sd, span = (column == 0) == (i == 0) ? 2 : 1, least = 9, most = 0; /* r1, r2; a, p */
      for (size_t h = 0; h < MANY; h++) {
        least = fmin(least, numbers[h]);
        most = fmax(most, numbers[h]);
      }
      mean_and_sd(numbers, MANY, &mean, &sd);
      cr_assert(close_to(mean, span / 2, 0.03, 0) && close_to(sd, span / sqrt(12), 0.03, 0), "%s column %zu: %g +- %g",
                kernels[i], column, mean, sd);
      cr_assert(least >= 0 && least < 0.01 && most < span && most > 0.99 * span, "%s column %zu: %g to %g", kernels[i],
                column, least, most);
    }
    rs_encoding_free(e);
  }
}

/* torch's linear layers: within 1/sqrt(inputs), 1 input and 32 units. Heads share the first layer; c and the threshold
 * begin as they are given. */
Test(drawn, fire__weights__are_those_of_torch_layers) {
  enum { MANY = 100 };
  rs_model model = test_model(MANY);
  rs_encoding *e = encode("fire", "", &model, 4);
  const double *second = e->bias_table + 64, *last = second + MANY * 32;
  double mean, sd, most[2] = {0}, second_most = 0, last_most = 0;
  for (size_t h = 0; h < MANY; h++) last_most = fmax(last_most, fabs(last[h]));
  for (size_t k = 0; k < 64; k++) most[k / 32] = fmax(most[k / 32], fabs(e->bias_table[k]));
  for (size_t k = 0; k < MANY * 32; k++) second_most = fmax(second_most, fabs(second[k]));
  mean_and_sd(second, MANY * 32, &mean, &sd);
  cr_assert(most[0] > 0.9 && most[0] < 1 && most[1] > 0.9 && most[1] < 1, "w1 to %g, b1 to %g", most[0], most[1]);
  cr_assert(second_most > 0.99 * sqrt(1 / 32.0) && second_most < sqrt(1 / 32.0), "%g", second_most);
  cr_assert(last_most > 0.9 * sqrt(1 / 32.0) && last_most < sqrt(1 / 32.0), "%g", last_most);
  cr_assert(close_to(sd, sqrt(1 / 96.0), 0.03, 0) && fabs(mean) < 0.01, "%g +- %g", mean, sd);
  cr_assert(last[MANY] == 0.1 && last[MANY + 1] == 1, "c %g, factor of the threshold %g", last[MANY], last[MANY + 1]);
  rs_encoding_free(e);
}

/* The same seed gives the same numbers at any length; another seed, and another head, others. */
Test(drawn, every_drawn_bias__depends_on_seed_and_head_alone) {
  static const char *const methods[] = {"t5", "relative", "swin", "kerple_log", "fire"};
  rs_model model = test_model(3);
  for (size_t i = 0; i < RS_COUNT(methods); i++) {
    rs_encoding *e = encode_mixed(methods[i], "", &model, 30), *longer = encode_mixed(methods[i], "", &model, LENGTH);
    rs_encoding *other = encode_mixed(methods[i], "table_seed=1", &model, 30);
    size_t drawn = e->bias_size - (strcmp(methods[i], "fire") == 0 ? 2 : 0); /* c and the factor are given */
    cr_assert_eq(e->bias_size, longer->bias_size);
    cr_assert_eq(memcmp(e->bias_table, longer->bias_table, e->bias_size * sizeof(double)), 0, "%s", methods[i]);
    for (size_t k = 0; k < drawn; k++) cr_assert_neq(e->bias_table[k], other->bias_table[k], "%s %zu", methods[i], k);
    for (size_t k = drawn - 2; k < drawn; k++) /* the last numbers are the heads' in all layouts */
      cr_assert_neq(e->bias_table[k], e->bias_table[drawn - 3], "%s", methods[i]);
    rs_encoding_free(other);
    rs_encoding_free(longer);
    rs_encoding_free(e);
  }
}

/* ---- values that cannot be --------------------------------------------------------------------------------------- */

Test(biases, contradictions__name_the_parameter) {
  static const struct {
    const char *method, *settings, *subject, *message;
  } cases[] = {
      {"t5", "num_buckets=3 bidirectional=true", "num_buckets", "must be at least 4 where bidirectional"},
      {"t5", "max_distance=16", "max_distance", "must exceed 16: shorter distances have a bucket each"},
      {"t5", "max_distance=8 bidirectional=true", "max_distance",
       "must exceed 8: shorter distances have a bucket each"},
      {"t5", "values=1,2,3", "values", "has 3 numbers, but 2 heads need 32 each"},
      {"relative", "clip=1 values=1,2,3", "values", "has 3 numbers, but 2 heads need 3 each"},
      {"relative", "clip=1 values=1,2,3,4,5,6 table_seed=1", "table_seed",
       "has no effect with values (leave one of them out)"},
      {"relative", "clip=1 values=1,2,3,4,5,6 init_sd=1", "init_sd",
       "has no effect with values (leave one of them out)"},
      {"swin", "table_grid=3", "table_grid", "must be [rows, columns]"},
      {"swin", "table_grid=2.5,3", "table_grid", "must be whole numbers"},
      {"swin", "table_grid=1025,1024", "table_grid", "has more than 1048576 patches"},
      {"swin", "values=1,2 init_sd=1", "init_sd", "has no effect with values (leave one of them out)"},
      {"kerple_log", "r1=1", "r1", "has 1 number, but 2 heads need 1 each"},
      {"kerple_log", "r2=1,2,3", "r2", "has 3 numbers, but 2 heads need 1 each"},
      {"kerple_log", "r1=1,1 r2=1,2 table_seed=3", "table_seed",
       "has no effect with r1 and r2 (leave one of them out)"},
      {"kerple_log", "kernel=power a=1", "a", "has 1 number, but 2 heads need 1 each"},
      {"kerple_log", "kernel=power p=1", "p", "has 1 number, but 2 heads need 1 each"},
      {"kerple_log", "p=1,1", "p", "has no effect with kernel: log (leave one of them out)"},
      {"kerple_log", "kernel=power r1=1,1", "r1", "has no effect with kernel: power (leave one of them out)"},
      {"kerple_log", "kernel=power a=1,1 p=1,2 table_seed=3", "table_seed",
       "has no effect with a and p (leave one of them out)"},
      {"fire", "mlp_width=2 weights=1,2", "weights", "has 2 numbers, but w1, b1 (2 each), w2 (2 x 2) and b2 are 10"},
      {"fire", "mlp_width=1 weights=1,2,3,4,5,6 table_seed=0", "table_seed",
       "has no effect with weights (leave one of them out)"},
      {"sandwich", "sandwich_dim=3", "sandwich_dim", "must be even"},
      {"rope", "logit_scale_factor=1", "logit_scale_factor",
       "has no effect with logit_scale: none (leave one of them out)"},
      {"nope", "logit_scale_length=9", "logit_scale_length",
       "has no effect with logit_scale: none (leave one of them out)"},
      {"rope", "logit_scale=log_n logit_scale_factor=1", "logit_scale_factor",
       "has no effect with logit_scale: log_n (leave one of them out)"},
      {"rope", "logit_scale=ssmax logit_scale_factor=1 logit_scale_length=4", "logit_scale_length",
       "has no effect with logit_scale_factor (leave one of them out)"},
      {"rope", "logit_scale=entropy_invariant logit_scale_factor=1 logit_scale_length=4", "logit_scale_length",
       "has no effect with logit_scale_factor (leave one of them out)"},
  };
  rs_model model = test_model(2);
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_recipe recipe = make_recipe(cases[i].method, cases[i].settings);
    rs_err err = {0};
    cr_assert_eq(rs_recipe_check(&recipe, &model, &err), RS_INPUT, "%s %s was accepted", cases[i].method,
                 cases[i].settings);
    cr_assert_str_eq(err.subject, cases[i].subject, "%s %s: %s", cases[i].method, cases[i].settings, err.subject);
    cr_assert_str_eq(err.message, cases[i].message, "%s %s: %s", cases[i].method, cases[i].settings, err.message);
    rs_recipe_clear(&recipe);
  }
}

Test(biases, edges_that_are_allowed__pass) {
  static const char *const cases[][2] = {{"t5", "num_buckets=2 max_distance=2"},
                                         {"t5", "num_buckets=4 max_distance=2 bidirectional=true"},
                                         {"t5", "num_buckets=2 max_distance=2 values=1,2,3,4"},
                                         {"kerple_log", "r1=1,1 table_seed=3"}, /* r2 is drawn */
                                         {"kerple_log", "kernel=power p=1,1 table_seed=3"},
                                         {"fire", "mlp_width=1 weights=1,2,3,4,5,6"},
                                         {"rope", "logit_scale=llama4 logit_scale_factor=1 logit_scale_length=4"},
                                         {"rope", "logit_scale=ministral logit_scale_factor=0 logit_scale_length=1"},
                                         {"rope", "logit_scale=log_n logit_scale_length=2"}};
  rs_model model = test_model(2);
  for (size_t i = 0; i < RS_COUNT(cases); i++) rs_encoding_free(encode(cases[i][0], cases[i][1], &model, 8));
}

Test(biases, undefined_recipes__say_why) {
  static const struct {
    const char *method, *settings;
    size_t length;
    bool pictures;
    rs_status status;
    const char *subject, *message;
  } cases[] = {
      {"swin", "", 8, false, RS_DOMAIN, "", "swin needs an image or a video (tokens: [{image: [16, 24]}])"},
      {"swin", "", 3, true, RS_DOMAIN, "", "the token layout has 4 tokens, the length is only 3"},
      {"swin", "values=1,2", 8, true, RS_DOMAIN, "", "swin: values has 2 numbers, but 2 heads need 9 each"},
      {"swin", "values=1,2 table_grid=1,2", 8, true, RS_DOMAIN, "",
       "swin: values has 2 numbers, but 2 heads need 3 each"},
      {"swin", "table_grid=1,2 resize=none", 8, true, RS_DOMAIN, "",
       "swin: a picture of 2 x 2 is beyond the table of 1 x 2 (resize: none)"},
      {"rope", "logit_scale=ssmax train_length=1", 8, false, RS_DOMAIN, "",
       "ssmax divides by the ln of train_length, which must exceed 1"},
      {"rope", "logit_scale=entropy_invariant logit_scale_length=1", 8, false, RS_DOMAIN, "",
       "entropy_invariant divides by the ln of logit_scale_length, which must exceed 1"},
      {"rope", "logit_scale=log_n logit_scale_length=1", 8, false, RS_DOMAIN, "",
       "log_n divides by the ln of logit_scale_length, which must exceed 1"},
  };
  rs_model model = test_model(2);
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_token_run run = vision_run(RS_IMAGE, 1, 2, 2);
    rs_recipe recipe = make_recipe(cases[i].method, cases[i].settings);
    rs_encoding *encoding = NULL;
    rs_err err = {0};
    cr_assert_eq(rs_encoding_create(&recipe, &model, cases[i].length,
                                    &(rs_token_layout){.runs = &run, .count = cases[i].pictures}, NULL, &encoding,
                                    &err),
                 cases[i].status, "case %zu: %s", i, err.message);
    cr_assert_str_eq(err.message, cases[i].message, "%s", err.message);
    cr_assert_str_eq(err.subject, cases[i].subject);
    cr_assert_null(encoding);
    rs_recipe_clear(&recipe);
  }
  rs_token_run text = {.modality = RS_TEXT, .tokens = 4};
  rs_recipe recipe = make_recipe("swin", "");
  rs_encoding *encoding;
  cr_assert_eq(
      rs_encoding_create(&recipe, &model, 8, &(rs_token_layout){.runs = &text, .count = 1}, NULL, &encoding, NULL),
      RS_DOMAIN, "text alone is no picture");
  rs_recipe_clear(&recipe);
}
