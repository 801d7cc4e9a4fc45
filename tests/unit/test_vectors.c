/* Vectors of distance: their tables by hand and by formula, what training changes, and what is refused. */
#include "../fixtures/world.h"
#include "../fixtures/world_job.h"
#include "../golden.h"
#include "../vectors.h"
#include "attention/attention.h"

enum { THREE = 3, DIMS = 4, WIDTH = THREE * DIMS, LENGTH = 13, MOST = 2 * LENGTH - 1 };

static rs_encoding *create(const char *method, const char *settings, size_t length) {
  rs_model model = plain_model(DIMS, 1e4, 64);
  model.heads = THREE;
  rs_recipe recipe = make_recipe(method, settings);
  rs_encoding *encoding = encode_recipe(&recipe, &model, length, NULL);
  rs_recipe_clear(&recipe);
  return encoding;
}

static const char *const worlds[][2] = {{"shaw", "clip=3 init_sd=1"},
                                        {"shaw", "clip=40 init_sd=1 read_by=both on_values=false"},
                                        {"transformer_xl", "init_sd=1"},
                                        {"transformer_xl", "init_sd=1 clip=5"}};

/* ---- tables ------------------------------------------------------------------------------------------------------ */

Test(vectors, form__is_that_of_the_parameters) {
  rs_vectors v;
  rs_encoding *e = create("shaw", "clip=3", LENGTH);
  cr_assert(rs_encoding_vectors(e, &v) && v.reach == 3 && v.tables == 1 && !v.added && !v.keys && v.values);
  rs_encoding_free(e);
  e = create("shaw", "clip=3 read_by=both on_values=false", 3);
  cr_assert(rs_encoding_vectors(e, &v) && v.reach == 2 && v.tables == 1 && v.keys && !v.values);
  rs_encoding_free(e);
  e = create("transformer_xl", "", LENGTH);
  cr_assert(rs_encoding_vectors(e, &v) && v.reach == LENGTH - 1 && v.tables == THREE && v.added && !v.keys);
  cr_assert_not(v.values);
  rs_encoding_free(e);
  e = create("transformer_xl", "clip=2", 1);
  cr_assert(rs_encoding_vectors(e, &v) && v.reach == 0 && rs_vector_columns(&v) == 1);
  rs_encoding_free(e);
  e = create("relative", "", LENGTH);
  cr_assert_not(rs_encoding_vectors(e, &v));
  rs_encoding_free(e);
}

/* Before any table is made. */
Test(vectors, form__is_told_of_a_recipe) {
  rs_model model = plain_model(DIMS, 1e4, 64);
  model.heads = THREE;
  for (size_t i = 0; i < RS_COUNT(worlds); i++)
    for (size_t length = 1; length <= LENGTH; length += 3) {
      rs_recipe recipe = make_recipe(worlds[i][0], worlds[i][1]);
      rs_encoding *e = encode_recipe(&recipe, &model, length, NULL);
      rs_vectors told, got;
      cr_assert(rs_recipe_vectors(&recipe, &model, length, &told) && rs_encoding_vectors(e, &got));
      cr_assert(told.reach == got.reach && told.tables == got.tables && told.added == got.added);
      cr_assert(told.keys == got.keys && told.values == got.values);
      rs_encoding_free(e);
      rs_recipe_clear(&recipe);
    }
  rs_recipe plain = make_recipe("rope", "");
  rs_vectors none;
  cr_assert_not(rs_recipe_vectors(&plain, &model, LENGTH, &none));
  rs_recipe_clear(&plain);
}

/* Every head, query, key and dim, by vectors.h; and in parts, of any bounds, to the last bit. */
Test(vectors, tables__are_their_formula__in_any_part) {
  uint64_t state = 1;
  for (size_t i = 0; i < RS_COUNT(worlds); i++) {
    rs_encoding *e = create(worlds[i][0], worlds[i][1], LENGTH);
    double all[WIDTH * MOST], part[WIDTH * MOST];
    rs_vectors form;
    cr_assert(rs_encoding_vectors(e, &form));
    size_t columns = rs_vector_columns(&form);
    rs_encoding_vectors_fill(e, &(rs_vector_part){0, form.tables, 0, columns}, all, columns);
    for (size_t h = 0; h < form.tables; h++)
      for (size_t m = 0; m < LENGTH; m++)
        for (size_t n = 0; n < LENGTH; n++)
          for (size_t d = 0; d < DIMS; d++) {
            double got = all[(h * DIMS + d) * columns + rs_vector_column(&form, m, n)];
            double want = (double)vector_number(e, h, m, n, d);
            cr_assert(close_to(got, want, 1e-13, 1e-13), "%s (%zu, %zu, %zu, %zu): %.17g, not %.17g", worlds[i][0], h,
                      m, n, d, got, want);
          }
    for (size_t draw = 0; draw < 50; draw++) {
      rs_vector_part p = {.table = draw_size(&state, 0, form.tables - 1), .begin = draw_size(&state, 0, columns - 1)};
      p.tables = draw_size(&state, 1, form.tables - p.table);
      p.end = draw_size(&state, p.begin + 1, columns);
      size_t step = p.end - p.begin + draw_size(&state, 0, 2);
      rs_encoding_vectors_fill(e, &p, part, step);
      for (size_t row = 0; row < p.tables * DIMS; row++)
        for (size_t c = p.begin; c < p.end; c++)
          cr_assert_eq(part[row * step + c - p.begin], all[(p.table * DIMS + row) * columns + c], "%s", worlds[i][0]);
    }
    rs_encoding_free(e);
  }
}

/* Rows of aV stand behind those of aK, from the farthest key before the query on. */
Test(vectors, shaw__given_tables__are_read_by_distance) {
  static const double rows[] = {-1, -2, -3, -4, -5, -6, -7, -8, -9, -10, -11, -12};
  rs_model model = plain_model(DIMS, 1e4, 64);
  rs_recipe recipe = make_recipe("shaw", "clip=1 key_table=1,2,3,4,5,6,7,8,9,10,11,12");
  recipe_set_list(&recipe, "value_table", rows, RS_COUNT(rows));
  rs_encoding *e = encode_recipe(&recipe, &model, LENGTH, NULL);
  rs_recipe_clear(&recipe);
  double keys[DIMS * 3], values[DIMS * 3];
  rs_encoding_vectors_fill(e, &(rs_vector_part){0, 1, 0, 3}, keys, 3);
  rs_encoding_vectors_values(e, values);
  for (size_t d = 0; d < DIMS; d++)
    for (size_t c = 0; c < 3; c++) {
      cr_assert_eq(keys[d * 3 + c], (double)(c * DIMS + d + 1));
      cr_assert_eq(values[d * 3 + c], -keys[d * 3 + c]);
    }
  rs_vectors form;
  cr_assert(rs_encoding_vectors(e, &form));
  cr_assert_eq(rs_vector_column(&form, 5, 2), 0u);
  cr_assert_eq(rs_vector_column(&form, 5, 5), 1u);
  cr_assert_eq(rs_vector_column(&form, 5, 9), 2u);
  rs_encoding_free(e);
}

/* Each layer draws its own, and the same again. */
Test(vectors, layers__have_their_own__where_they_are_drawn) {
  static const struct {
    const char *method, *settings;
    bool drawn;
  } cases[] = {{"shaw", "clip=1", true},
               {"shaw", "clip=1 on_values=false key_table=1,2,3,4,5,6,7,8,9,10,11,12", false},
               {"shaw", "clip=1 key_table=1,2,3,4,5,6,7,8,9,10,11,12", true},
               {"transformer_xl", "", true}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_recipe first = make_recipe(cases[i].method, cases[i].settings), second;
    cr_assert(rs_recipe_by_layer(&first));
    cr_assert_eq(rs_recipe_of_layer(&first, 1, &second, NULL), RS_OK);
    cr_assert(rs_recipe_repeats(&second, &first));
    bool same = rs_setting(&first.settings, "table_seed")->number == rs_setting(&second.settings, "table_seed")->number;
    cr_assert_eq(same, !cases[i].drawn, "%s %s", cases[i].method, cases[i].settings);
    rs_recipe_clear(&second);
    rs_recipe_clear(&first);
  }
}

/* ---- gradients --------------------------------------------------------------------------------------------------- */

/* Weighted sums of all that an encoding's vectors are. */
typedef struct weights {
  double r[WIDTH * MOST], values[DIMS * MOST], u[WIDTH], v[WIDTH];
} weights;

static double weighted(const double *x, const double *weight, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; i++) sum += x[i] * weight[i];
  return sum;
}

static double objective(const rs_encoding *e, const rs_vectors *form, const weights *w) {
  double table[WIDTH * MOST], sum;
  size_t columns = rs_vector_columns(form);
  rs_encoding_vectors_fill(e, &(rs_vector_part){0, form->tables, 0, columns}, table, columns);
  sum = weighted(table, w->r, form->tables * DIMS * columns);
  if (form->values) rs_encoding_vectors_values(e, table);
  if (form->values) sum += weighted(table, w->values, DIMS * columns);
  for (size_t h = 0; h < THREE && form->added; h++) {
    const double *u, *v;
    rs_encoding_vectors_added(e, h, &u, &v);
    sum += weighted(u, w->u + h * DIMS, DIMS) + weighted(v, w->v + h * DIMS, DIMS);
  }
  return sum;
}

/* At LENGTH, where some rows are beyond reach or short of it. */
Test(vectors, gradients__agree_with_differences) {
  enum { ROOM = 81 * DIMS };
  static double values[3][ROOM], got[3][ROOM];
  uint64_t state = 2;
  for (size_t i = 0; i < RS_COUNT(worlds); i++) {
    rs_encoding *e = create(worlds[i][0], worlds[i][1], LENGTH);
    rs_vectors form;
    rs_learned arrays[RS_LEARNED];
    weights w;
    for (double *x = (double *)&w; x < (double *)(&w + 1); x++) *x = draw_real(&state, -1, 1);
    cr_assert(rs_encoding_vectors(e, &form));
    size_t count = rs_encoding_learned(e, arrays);
    double *into[3] = {got[0], got[1], got[2]};
    for (size_t a = 0; a < count; a++) {
      cr_assert_leq(arrays[a].rows * arrays[a].columns, (size_t)ROOM);
      rs_encoding_learned_get(e, a, values[a]);
      for (size_t k = 0; k < ROOM; k++) got[a][k] = 0.25; /* gradients are added */
    }
    rs_vector_gradients by = {w.r, form.added ? w.u : NULL, form.added ? w.v : NULL, form.values ? w.values : NULL};
    rs_encoding_vectors_gradient(e, &by, into);
    for (size_t a = 0; a < count; a++)
      for (size_t k = 0; k < arrays[a].rows * arrays[a].columns; k++) {
        double held = values[a][k], sides[2];
        for (size_t s = 0; s < 2; s++) {
          values[a][k] = held + (s == 0 ? 1 : -1);
          rs_encoding_learned_set(e, a, values[a]);
          sides[s] = objective(e, &form, &w);
        }
        values[a][k] = held;
        rs_encoding_learned_set(e, a, values[a]);
        double want = (sides[0] - sides[1]) / 2; /* they are linear */
        cr_assert(close_to(got[a][k] - 0.25, want, 1e-11, 1e-11), "%s %s[%zu]: %.17g, not %.17g", worlds[i][0],
                  arrays[a].name, k, got[a][k] - 0.25, want);
      }
    rs_encoding_free(e);
  }
}

/* ---- logits ------------------------------------------------------------------------------------------------------ */

/* The rows of a small job of head 1 by the engine: log-sum-exp and entropy of each query. */
static void rows_of(const rs_encoding *e, const double *k_added, double sums[LENGTH], double entropies[LENGTH]) {
  double q[LENGTH * DIMS], k[LENGTH * DIMS];
  size_t queries[LENGTH], edges[] = {0, LENGTH};
  uint64_t state = 3;
  rs_attention_job job = {.encoding = e, .head = 1, .mask = {.kind = RS_BIDIRECTIONAL}, .queries = queries, .q = q};
  job.query_count = LENGTH, job.k = k, job.edges = edges, job.bins = 1, job.scores = RS_SCORES_F64;
  for (size_t i = 0; i < LENGTH * DIMS; i++) q[i] = draw_real(&state, -2, 2), k[i] = draw_real(&state, -2, 2);
  for (size_t i = 0; i < LENGTH; i++) queries[i] = i;
  for (size_t i = 0; i < LENGTH * DIMS && k_added != NULL; i++) q[i] += k_added[i % DIMS];
  rs_engine *engine = engine_for(LENGTH, DIMS, 1);
  rs_observation *seen;
  cr_assert_eq(rs_engine_run(engine, &job, &seen, NULL), RS_OK);
  for (size_t m = 0; m < LENGTH; m++) sums[m] = seen->rows[m].log_sum_exp, entropies[m] = seen->rows[m].entropy;
  rs_observation_free(seen);
  rs_engine_free(engine);
}

static void zero(rs_encoding *e, size_t which) {
  static const double zeros[WIDTH * WIDTH];
  rs_encoding_learned_set(e, which, zeros);
}

/* No vectors: no positions. */
Test(vectors, shaw__of_zeros__is_nope) {
  double sums[2][LENGTH], entropies[2][LENGTH];
  rs_encoding *e = create("shaw", "clip=3 read_by=both", LENGTH), *plain = create("nope", "", LENGTH);
  zero(e, 0);
  rows_of(e, NULL, sums[0], entropies[0]);
  rows_of(plain, NULL, sums[1], entropies[1]);
  cr_assert_arr_eq(sums[0], sums[1], sizeof sums[0]);
  cr_assert_arr_eq(entropies[0], entropies[1], sizeof entropies[0]);
  rs_encoding_free(plain);
  rs_encoding_free(e);
}

/* W_r = 0 and v = 0 leave q.k + u.k; v alone, with W_r = 0, nothing either. */
Test(vectors, transformer_xl__without_projection__is_q_and_u_times_k) {
  double sums[2][LENGTH], entropies[2][LENGTH];
  const double *u, *v;
  rs_encoding *e = create("transformer_xl", "init_sd=1", LENGTH), *plain = create("nope", "", LENGTH);
  zero(e, 0);
  rs_encoding_vectors_added(e, 1, &u, &v);
  rows_of(plain, u, sums[1], entropies[1]);
  for (size_t pass = 0; pass < 2; pass++) {
    rows_of(e, NULL, sums[0], entropies[0]);
    for (size_t m = 0; m < LENGTH; m++) cr_assert_float_eq(sums[0][m], sums[1][m], 1e-13);
    for (size_t m = 0; m < LENGTH; m++) cr_assert_float_eq(entropies[0][m], entropies[1][m], 1e-13);
    zero(e, 2);
  }
  rs_encoding_free(plain);
  rs_encoding_free(e);
}

/* ---- refusals ---------------------------------------------------------------------------------------------------- */

Test(vectors, wrong_parameters__are_refused) {
  static const struct {
    const char *method, *settings, *subject, *why;
  } cases[] = {
      {"shaw", "clip=1 key_table=1,2,3", "key_table", "has 3 numbers, but 3 rows of 4 are 12"},
      {"shaw", "clip=1 value_table=1", "value_table", "has 1 number, but 3 rows of 4 are 12"},
      {"shaw", "on_values=false value_table=1,2", "value_table", "on_values: false"},
      {"shaw", "clip=1 on_values=false key_table=1,2,3,4,5,6,7,8,9,10,11,12 table_seed=3", "table_seed", "tables"},
      {"shaw", "clip=1 on_values=false key_table=1,2,3,4,5,6,7,8,9,10,11,12 init_sd=3", "init_sd", "tables"},
      {"transformer_xl", "projection=1,2", "projection", "has 2 numbers, but 12 rows of 12 are 144"},
      {"transformer_xl", "content_bias=1,2", "content_bias", "has 2 numbers, but 3 rows of 4 are 12"},
      {"transformer_xl", "position_bias=1,2", "position_bias", "has 2 numbers, but 3 rows of 4 are 12"},
  };
  rs_model model = plain_model(DIMS, 1e4, 64);
  model.heads = THREE;
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_err err = {0};
    rs_recipe recipe = make_recipe(cases[i].method, cases[i].settings);
    cr_assert_eq(rs_recipe_check(&recipe, &model, &err), RS_INPUT, "%s", cases[i].settings);
    cr_assert_str_eq(err.subject, cases[i].subject);
    cr_assert_not_null(strstr(err.message, cases[i].why), "%s: %s", cases[i].settings, err.message);
    rs_recipe_clear(&recipe);
  }
}

/* BERT's table ends at its length: there is no distance beyond. */
Test(vectors, shaw__beyond_a_table_that_ends__is_undefined) {
  rs_model model = plain_model(DIMS, 1e4, 64);
  rs_recipe recipe = make_recipe("shaw", "clip=5 beyond=false");
  for (size_t length = 6; length <= 7; length++) {
    rs_encoding *e = NULL;
    rs_err err = {0};
    cr_assert_eq(rs_encoding_create(&recipe, &model, length, NULL, NULL, &e, &err), length == 6 ? RS_OK : RS_DOMAIN);
    if (length == 7) cr_assert_str_eq(err.message, "shaw: distance 6 is beyond the table, which ends at 5");
    rs_encoding_free(e);
  }
  rs_recipe_clear(&recipe);
}

/* A cap bends the sum of products and vectors; the kernel would bend products alone. */
Test(vectors, soft_cap__is_refused__and_rotation) {
  world w;
  rs_err err = {0};
  world_make(&w, "shaw", DIMS, LENGTH);
  world_fill(&w, LENGTH);
  w.job.soft_cap = 3;
  rs_engine *engine = engine_for(LENGTH, DIMS, 1);
  cr_assert_eq(rs_engine_load(engine, &w.job, &err), RS_UNSUPPORTED);
  cr_assert_not_null(strstr(err.message, "soft cap"), "%s", err.message);
  rs_engine_free(engine);
  world_clear(&w);
  rs_method turned = *rs_method_find("rope");
  turned.vectors = rs_method_find("shaw")->vectors;
  rs_model model = plain_model(DIMS, 1e4, 64);
  rs_recipe recipe;
  rs_encoding *e;
  err = (rs_err){0};
  cr_assert_eq(rs_recipe_init(&recipe, &turned, NULL), RS_OK);
  cr_assert_eq(rs_encoding_create(&recipe, &model, LENGTH, NULL, NULL, &e, &err), RS_UNSUPPORTED);
  cr_assert_not_null(strstr(err.message, "rotation"), "%s", err.message);
  rs_recipe_clear(&recipe);
}
