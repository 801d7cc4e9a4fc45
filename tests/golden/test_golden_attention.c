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
