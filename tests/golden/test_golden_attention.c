/* Attention rows against torch: every row of their tables, counted. */
#include "../golden.h"
#include "attention/attention.h"
#include "column.h"

enum { TOKENS = 64, DIMS = 32, HEADS = 4 };

/* One head's q and k, (TOKENS, DIMS) each. */
static void read_head(const rs_table *in, size_t head, double *q, double *k) {
  for (size_t i = 0; i < TOKENS * DIMS; i++) {
    size_t row = head * TOKENS * DIMS + i;
    cr_assert(golden_size(in, row, "head") == head && golden_size(in, row, "row") == i / DIMS &&
                  golden_size(in, row, "dim") == i % DIMS,
              "i_attn_in row %zu is out of order", row);
    q[i] = golden_number(in, row, "q");
    k[i] = golden_number(in, row, "k");
  }
}

/* All causal rows of one head. Release with rs_observation_free. */
static rs_observation *observe(const rs_encoding *encoding, size_t head, const double *q, const double *k) {
  size_t queries[TOKENS], *edges, bins;
  for (size_t i = 0; i < TOKENS; i++) queries[i] = i;
  rs_err err = {0};
  rs_engine *engine = NULL;
  rs_observation *seen = NULL;
  cr_assert_eq(rs_log_edges(TOKENS, 4, &edges, &bins, &err), RS_OK, "%s", err.message);
  cr_assert_eq(rs_engine_create(TOKENS, DIMS, encoding->views, &engine, &err), RS_OK, "%s", err.message);
  rs_attention_job job = {.encoding = encoding,
                          .head = head,
                          .mask = {.kind = RS_CAUSAL},
                          .queries = queries,
                          .query_count = TOKENS,
                          .q = q,
                          .k = k,
                          .edges = edges,
                          .bins = bins,
                          .sinks = 1,
                          .scores = RS_SCORES_F64};
  cr_assert_eq(rs_engine_run(engine, &job, &seen, &err), RS_OK, "%s", err.message);
  rs_engine_free(engine);
  free(edges);
  return seen;
}

static void compare_row(const rs_table *rows, size_t row, const rs_row *got) {
  const double found[] = {got->entropy, got->log_sum_exp, exp(got->max_logit - got->log_sum_exp)};
  static const char *const columns[] = {"entropy_nats_f64", "logsumexp_f64", "max_weight_f64"};
  const char *variant = golden_text(rows, row, "variant");
  size_t head = golden_size(rows, row, "head"), query = golden_size(rows, row, "row");
  for (size_t i = 0; i < RS_COUNT(columns); i++) {
    double expected = golden_number(rows, row, columns[i]);
    cr_assert(close_to(found[i], expected, 1e-12, 1e-12), "%s head %zu row %zu %s: got %.17g, expected %.17g", variant,
              head, query, columns[i], found[i], expected);
  }
  cr_assert_eq(got->argmax, golden_size(rows, row, "argmax"), "%s head %zu row %zu argmax: got %zu", variant, head,
               query, got->argmax);
}

static const struct {
  const char *variant, *method, *settings;
} variants[] = {
    {"nope", "nope", ""},
    {"rope_half", "rope", "rope_theta=10000"},
    {"yarn_half", "yarn", "rope_theta=10000 factor=4 train_length=16"},
    {"alibi", "alibi", ""},
};

Test(golden, attention_rows__torch_softmax__agree_to_1e_12) {
  rs_table *in = golden_read("i_attn_in.csv"), *rows = golden_read("i_attn_rows.csv");
  rs_table *known = golden_read("i_attn_variants.csv");
  static double q[TOKENS * DIMS], k[TOKENS * DIMS];
  cr_assert_eq(known->rows, RS_COUNT(variants));
  cr_assert_eq(rows->rows, RS_COUNT(variants) * HEADS * TOKENS, "%zu rows", rows->rows);
  for (size_t v = 0; v < RS_COUNT(variants); v++) {
    rs_model model = plain_model(DIMS, 1e4, 4096);
    model.heads = HEADS;
    rs_encoding *encoding = encode(variants[v].method, variants[v].settings, &model, TOKENS);
    for (size_t head = 0; head < HEADS; head++) {
      size_t first = (v * HEADS + head) * TOKENS;
      read_head(in, head, q, k);
      cr_assert(golden_is(rows, first, "variant", variants[v].variant), "row %zu is %s", first,
                golden_text(rows, first, "variant"));
      rs_observation *seen = observe(encoding, head, q, k);
      for (size_t i = 0; i < TOKENS; i++) compare_row(rows, first + i, &seen->rows[i]);
      rs_observation_free(seen);
    }
    rs_encoding_free(encoding);
  }
  rs_table_free(known);
  rs_table_free(rows);
  rs_table_free(in);
}

/* out[d] = sum over keys of softmax weight times v, from the reference row's logits. */
static void weighted_values(const rs_attention_job *job, size_t query, const double *v, double *out) {
  double logits[TOKENS], needle, largest = -INFINITY, total = 0;
  cr_assert_eq(rs_reference_row(job, query, logits, &needle, NULL), RS_OK);
  for (size_t n = 0; n < TOKENS; n++) largest = fmax(largest, logits[n]);
  for (size_t d = 0; d < DIMS; d++) out[d] = 0;
  for (size_t n = 0; n < TOKENS; n++) {
    double weight = exp(logits[n] - largest);
    total += weight;
    for (size_t d = 0; d < DIMS; d++) out[d] += weight * v[n * DIMS + d];
  }
  for (size_t d = 0; d < DIMS; d++) out[d] /= total;
}

Test(golden, attention_outputs__torch_softmax_times_v__agree_to_1e_12) {
  rs_table *in = golden_read("i_attn_in.csv"), *table = golden_read("i_attn_out.csv");
  static double q[TOKENS * DIMS], k[TOKENS * DIMS], v[TOKENS * DIMS];
  size_t queries[TOKENS], row = 0;
  for (size_t i = 0; i < TOKENS; i++) queries[i] = i;
  for (size_t variant = 0; variant < RS_COUNT(variants); variant++) {
    rs_model model = plain_model(DIMS, 1e4, 4096);
    model.heads = HEADS;
    rs_encoding *encoding = encode(variants[variant].method, variants[variant].settings, &model, TOKENS);
    for (size_t head = 0; head < HEADS; head++) {
      read_head(in, head, q, k);
      read_column(in, head * TOKENS * DIMS, TOKENS * DIMS, "v", v);
      rs_attention_job job = {
          .encoding = encoding, .head = head, .queries = queries, .query_count = TOKENS, .q = q, .k = k};
      for (double got[DIMS]; row < table->rows && golden_size(table, row, "head") == head; row += DIMS) {
        size_t query = golden_size(table, row, "row");
        weighted_values(&job, query, v, got);
        for (size_t d = 0; d < DIMS; d++) {
          double expected = golden_number(table, row + d, "out_f64");
          cr_assert(close_to(got[d], expected, 1e-12, 1e-13) && golden_size(table, row + d, "dim") == d,
                    "%s head %zu row %zu dim %zu: got %.17g, expected %.17g", variants[variant].variant, head, query, d,
                    got[d], expected);
        }
      }
    }
    rs_encoding_free(encoding);
  }
  cr_assert_eq(row, table->rows, "%zu of %zu rows compared", row, table->rows);
  rs_table_free(table);
  rs_table_free(in);
}

/* ---- Transformer-XL ---------------------------------------------------------------------------------------------- */

enum { XL_TOKENS = 9, XL_DIMS = 4, XL_HEADS = 3, XL_WIDTH = XL_HEADS * XL_DIMS, MOST_NUMBERS = 256 };

/* The numbers of one name of one case; there must be so many. */
static void read_numbers(const rs_table *table, const char *name, const char *of, size_t count, double *out) {
  size_t begin, end, row;
  golden_case(table, name, &begin, &end);
  for (row = begin; row < end && !golden_is(table, row, "name", of);) row++;
  cr_assert_lt(row, end, "%s has no %s", name, of);
  cr_assert_eq(read_list(golden_text(table, row, "values"), out, MOST_NUMBERS), count, "%s %s", name, of);
}

static rs_encoding *xl_encoding(const rs_table *table, const char *name, const char *settings) {
  static const struct {
    const char *name;
    size_t count;
  } lists[] = {{"projection", XL_WIDTH * XL_WIDTH}, {"content_bias", XL_WIDTH}, {"position_bias", XL_WIDTH}};
  double numbers[MOST_NUMBERS];
  rs_model model = plain_model(XL_DIMS, 1e4, 64);
  model.heads = XL_HEADS;
  rs_recipe recipe = make_recipe("transformer_xl", settings);
  for (size_t i = 0; i < RS_COUNT(lists); i++) {
    read_numbers(table, name, lists[i].name, lists[i].count, numbers);
    recipe_set_list(&recipe, lists[i].name, numbers, lists[i].count);
  }
  rs_encoding *encoding = encode_recipe(&recipe, &model, XL_TOKENS, NULL);
  rs_recipe_clear(&recipe);
  return encoding;
}

/* The weights of a layer of transformers' class, with its W_r, u and v and its queries and keys. */
Test(golden, transformer_xl__attention_weights__agree_to_1e_13) {
  static const char *const cases[][2] = {{"plain", ""}, {"clamped", "clip=4"}};
  rs_table *table = golden_read("k_transfo_xl.csv");
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    double all_q[MOST_NUMBERS], all_k[MOST_NUMBERS], weights[MOST_NUMBERS], logits[XL_TOKENS], needle;
    rs_encoding *encoding = xl_encoding(table, cases[i][0], cases[i][1]);
    read_numbers(table, cases[i][0], "q", XL_TOKENS * XL_WIDTH, all_q);
    read_numbers(table, cases[i][0], "k", XL_TOKENS * XL_WIDTH, all_k);
    read_numbers(table, cases[i][0], "weights", XL_HEADS * XL_TOKENS * XL_TOKENS, weights);
    for (size_t h = 0; h < XL_HEADS; h++)
      for (size_t m = 0; m < XL_TOKENS; m++) {
        double k[XL_TOKENS * XL_DIMS], sum = 0;
        for (size_t n = 0; n < XL_TOKENS; n++)
          memcpy(k + n * XL_DIMS, all_k + n * XL_WIDTH + h * XL_DIMS, XL_DIMS * sizeof *k);
        rs_attention_job job = {.encoding = encoding,
                                .head = h,
                                .mask = {.kind = RS_CAUSAL},
                                .queries = &m,
                                .query_count = 1,
                                .q = all_q + m * XL_WIDTH + h * XL_DIMS,
                                .k = k};
        cr_assert_eq(rs_reference_row(&job, 0, logits, &needle, NULL), RS_OK);
        for (size_t n = 0; n <= m; n++) sum += exp(logits[n]);
        for (size_t n = 0; n <= m; n++) {
          double want = weights[(h * XL_TOKENS + m) * XL_TOKENS + n], got = exp(logits[n]) / sum;
          cr_assert(close_to(got, want, 1e-13, 1e-13), "%s head %zu (%zu, %zu): %.17g, not %.17g", cases[i][0], h, m, n,
                    got, want);
        }
      }
    rs_encoding_free(encoding);
  }
  rs_table_free(table);
}
