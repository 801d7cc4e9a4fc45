/* What training changes: which arrays, that the tables follow them, and their gradients against differences. */
#include "../biases.h"
#include "../fixtures/bias_worlds.h"
#include "../fixtures/heap.h"

enum { THREE = 3, MOST = 64 * 24, SHORT = 30 };

typedef struct learner {
  const char *method, *settings, *arrays;
} learner;

/* "both" adds a learned table to KERPLE. Width 24, trained at 64 tokens. */
static const learner learners[] = {
    {"rope", "logit_scale=ssmax", "logit_scale 1x3"},
    {"t5", "num_buckets=8 max_distance=16", "bias.table 8x3"},
    {"t5", "num_buckets=8 max_distance=16 bidirectional=true unscaled_dot=true", "bias.table 8x3"},
    {"relative", "clip=4 logit_scale=ssmax", "bias.table 9x3 logit_scale 1x3"},
    {"swin", "", "bias.table 35x3"},
    {"swin", "table_grid=2,6", "bias.table 33x3"},
    {"swin", "table_grid=4,3 resize=bicubic_align", "bias.table 35x3"},
    {"swin", "table_grid=5,4 resize=none", "bias.table 63x3"},
    {"kerple_log", "", "bias.r1 1x3 bias.r2 1x3"},
    {"kerple_log", "kernel=power", "bias.a 1x3 bias.p 1x3"},
    {"fire", "mlp_width=5 threshold=11 logit_scale=ssmax",
     "bias.w1 5x1 bias.b1 1x5 bias.w2 3x5 bias.b2 1x3 bias.c 1x1 bias.threshold_factor 1x1 logit_scale 1x3"},
    {"shaw", "clip=4 logit_scale=ssmax", "vectors.keys 9x8 vectors.values 9x8 logit_scale 1x3"},
    {"shaw", "clip=50 on_values=false", "vectors.keys 101x8"},
    {"transformer_xl", "", "vectors.projection 24x24 vectors.content_bias 3x8 vectors.position_bias 3x8"},
    {"learned", "", "embed.table 64x24"},
    {"learned", "init=zeros train_length=50", "embed.table 50x24"},
    {"learned_2d", "", "embed.table 9x24"},
    {"learned_2d", "table_grid=3,5", "embed.table 16x24"},
    {"learned_2d", "table_grid=3,5 resize=none", "embed.table 16x24"},
    {"learned_2d", "table_grid=2,7 resize=bicubic_antialias", "embed.table 15x24"},
    {"learned_2d", "table_grid=3,5 combine=sum", "embed.table 9x24"},
    {"learned_2d", "combine=concat", "embed.table 8x12"},
    {"learned_2d", "table_grid=3,5 combine=concat resize=bilinear", "embed.table 10x12"},
    {"learned_2d", "table_grid=3,5 combine=concat resize=none", "embed.table 10x12"},
    {"rope_mixed", "logit_scale=ssmax", "freq.x 3x4 freq.y 3x4 logit_scale 1x3"},
    {"rope_mixed", "freq_x=1,2,3 freq_y=3,0,-1 rotary_dim=6", "freq.x 3x3 freq.y 3x3"},
    {"both", "logit_scale=ssmax", "embed.table 64x24 bias.r1 1x3 bias.r2 1x3 logit_scale 1x3"},
};

/* ---- worlds ------------------------------------------------------------------------------------------------------ */

static rs_recipe recipe_of(const learner *l) {
  static rs_method both;
  if (strcmp(l->method, "both") != 0) return make_recipe(l->method, l->settings);
  both = *rs_method_find("kerple_log");
  both.embed = rs_method_find("learned")->embed;
  rs_recipe recipe;
  cr_assert_eq(rs_recipe_init(&recipe, &both, NULL), RS_OK);
  recipe_set_word(&recipe, "logit_scale", "ssmax");
  return recipe;
}

/* A class token, two pictures, text between and behind them; with room for what is set. */
static rs_status create(const rs_recipe *recipe, size_t length, rs_encoding **e, rs_err *err) {
  rs_model model = plain_model(8, 1e4, 64);
  model.heads = THREE;
  rs_token_run runs[] = {{.modality = RS_TEXT, .tokens = 1},
                         vision_run(RS_IMAGE, 1, 2, 4),
                         {.modality = RS_TEXT, .tokens = 3},
                         vision_run(RS_VIDEO, 2, 3, 2)};
  rs_token_layout layout = {.runs = runs, .count = RS_COUNT(runs)};
  RS_TRY(rs_encoding_create(recipe, &model, length, &layout, NULL, e, err));
  return rs_encoding_learned_room(*e, err);
}

/* Clears the recipe. */
static rs_encoding *encoding_of(rs_recipe recipe, size_t length) {
  rs_encoding *e;
  rs_err err = {0};
  cr_assert_eq(create(&recipe, length, &e, &err), RS_OK, "%s: %s", recipe.method->name, err.message);
  rs_recipe_clear(&recipe);
  return e;
}

/* The arrays of an encoding side by side. */
typedef struct numbers {
  rs_learned arrays[RS_LEARNED];
  double values[4 * MOST], *starts[RS_LEARNED];
  size_t count, size;
} numbers;

static void lay_out(const rs_encoding *e, numbers *n) {
  n->count = rs_encoding_learned(e, n->arrays);
  n->size = 0;
  for (size_t i = 0; i < n->count; i++) {
    n->starts[i] = n->values + n->size;
    n->size += n->arrays[i].rows * n->arrays[i].columns;
    cr_assert_leq(n->size, RS_COUNT(n->values));
  }
}

static void read_all(const rs_encoding *e, numbers *n) {
  lay_out(e, n);
  for (size_t i = 0; i < n->count; i++) rs_encoding_learned_get(e, i, n->starts[i]);
}

static void write_all(rs_encoding *e, const numbers *n) {
  for (size_t i = 0; i < n->count; i++) rs_encoding_learned_set(e, i, n->starts[i]);
}

/* Some beyond every clamp, none near one. */
static void draw_all(rs_encoding *e, uint64_t *state, numbers *n) {
  lay_out(e, n);
  for (size_t i = 0; i < n->size; i++) do
      n->values[i] = draw_real(state, -1, 3);
    while (fabs(n->values[i]) < 0.05 || fabs(n->values[i] - 2) < 0.05);
  write_all(e, n);
}

static bool same_turns(const rs_encoding *a, const rs_encoding *b, size_t head, rs_side side, size_t length) {
  static double turns[4][LENGTH * 4];
  const rs_encoding one = rs_encoding_of_head(a, head), other = rs_encoding_of_head(b, head);
  size_t bytes = length * (a->rotary_dim / 2) * sizeof **turns;
  rs_encoding_turns(&one, side, 0, 0, length, turns[0], turns[1]);
  rs_encoding_turns(&other, side, 0, 0, length, turns[2], turns[3]);
  return memcmp(turns[0], turns[2], bytes) == 0 && memcmp(turns[1], turns[3], bytes) == 0;
}

/* At distances less than `length`. */
static bool same_vectors(const rs_encoding *a, const rs_encoding *b, size_t length) {
  enum { TABLE = THREE * 8 * (2 * LENGTH - 1) };
  static double tables[2][2][TABLE], values[TABLE];
  const rs_encoding *both[] = {a, b};
  rs_vectors form = {0};
  memset(tables, 0, sizeof tables);
  for (size_t i = 0; i < 2 && rs_encoding_vectors(both[i], &form); i++) {
    size_t columns = rs_vector_columns(&form), reach = form.reach < length ? form.reach : length - 1;
    size_t begin = form.reach - reach, count = 2 * reach + 1;
    const double *u, *v;
    rs_encoding_vectors_fill(both[i], &(rs_vector_part){0, form.tables, begin, begin + count}, tables[i][0], count);
    if (form.values) rs_encoding_vectors_values(both[i], values);
    for (size_t d = 0; d < 8 && form.values; d++)
      memcpy(tables[i][1] + d * count, values + d * columns + begin, count * sizeof *values);
    for (size_t h = 0; h < THREE && form.added; h++) {
      rs_encoding_vectors_added(both[i], h, &u, &v);
      memcpy(tables[i][1] + h * 16, u, 8 * sizeof *u);
      memcpy(tables[i][1] + h * 16 + 8, v, 8 * sizeof *v);
    }
  }
  return memcmp(tables[0], tables[1], sizeof tables[0]) == 0;
}

static bool same_tables(const rs_encoding *a, const rs_encoding *b, size_t length) {
  static double rows[2][LENGTH * 24];
  for (size_t h = 0; h < THREE && a->rotary_dim > 0; h++)
    if (!same_turns(a, b, h, RS_QUERY_SIDE, length) || !same_turns(a, b, h, RS_KEY_SIDE, length)) return false;
  for (size_t h = 0; h < THREE; h++)
    for (size_t m = 0; m < length; m++) {
      rs_encoding_bias_row(a, h, m, 0, length, rows[0]);
      rs_encoding_bias_row(b, h, m, 0, length, rows[1]);
      if (memcmp(rows[0], rows[1], length * sizeof **rows) != 0) return false;
    }
  if (!same_vectors(a, b, length)) return false;
  cr_assert_eq(rs_encoding_embed(a, 0, length, rows[0], NULL), RS_OK);
  cr_assert_eq(rs_encoding_embed(b, 0, length, rows[1], NULL), RS_OK);
  return memcmp(rows[0], rows[1], length * a->width * sizeof **rows) == 0;
}

/* ---- arrays ------------------------------------------------------------------------------------------------------ */

Test(learned, every_kind__has_its_arrays__at_any_length) {
  for (size_t i = 0; i < RS_COUNT(learners); i++)
    for (size_t length = SHORT; length <= LENGTH; length += LENGTH - SHORT) {
      rs_encoding *e = encoding_of(recipe_of(&learners[i]), length);
      rs_learned arrays[RS_LEARNED];
      char names[256] = "";
      size_t count = rs_encoding_learned(e, arrays), used = 0;
      for (size_t a = 0; a < count; a++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s %zux%zu", a > 0 ? " " : "", arrays[a].name,
                                 arrays[a].rows, arrays[a].columns);
      cr_assert_str_eq(names, learners[i].arrays, "%s %s: %s", learners[i].method, learners[i].settings, names);
      rs_encoding_free(e);
    }
}

Test(learned, fixed_kinds__have_none) {
  static const learner fixed[] = {{"rope", "", ""},
                                  {"nope", "", ""},
                                  {"alibi", "", ""},
                                  {"sandwich", "", ""},
                                  {"sinusoidal", "", ""},
                                  {"sinusoidal_2d", "", ""},
                                  {"rope_mixed", "learned=false", ""},
                                  {"rope_mixed", "wavelengths=whole", ""},
                                  {"rope", "logit_scale=log_n", ""},
                                  {"rope", "logit_scale=llama4", ""},
                                  {"rope", "logit_scale=ministral", ""},
                                  {"rope", "logit_scale=entropy_invariant", ""}};
  static const double gradient[24 * 4] = {1};
  for (size_t i = 0; i < RS_COUNT(fixed); i++) {
    rs_encoding *e = encoding_of(recipe_of(&fixed[i]), LENGTH);
    rs_learned arrays[RS_LEARNED];
    cr_assert_eq(rs_encoding_learned(e, arrays), 0u, "%s", fixed[i].method);
    rs_encoding_bias_gradient(e, 0, 7, 2, 6, gradient, NULL);
    rs_encoding_embed_gradient(e, 2, 4, gradient, NULL);
    rs_encoding_turn_gradient(e, 0, 2, 4, gradient, NULL);
    cr_assert_not(rs_encoding_turns_learned(e), "%s", fixed[i].method);
    for (size_t h = 0; h < THREE; h++) cr_assert_eq(rs_encoding_head_scale(e, h), 1);
    rs_encoding_free(e);
  }
}

/* Each array alone: what is set is read again, also rows beyond the length, and the others stay. */
Test(learned, set__is_what_is_read__array_by_array) {
  uint64_t state = 1;
  static numbers want, got;
  for (size_t i = 0; i < RS_COUNT(learners); i++) {
    rs_encoding *e = encoding_of(recipe_of(&learners[i]), SHORT);
    read_all(e, &want);
    for (size_t a = want.count; a-- > 0;) {
      size_t size = want.arrays[a].rows * want.arrays[a].columns;
      for (size_t k = 0; k < size; k++) want.starts[a][k] = draw_real(&state, -3, 3);
      rs_encoding_learned_set(e, a, want.starts[a]);
      read_all(e, &got);
      cr_assert_arr_eq(got.values, want.values, want.size * sizeof *want.values, "%s %s: %s", learners[i].method,
                       learners[i].settings, want.arrays[a].name);
    }
    rs_encoding_free(e);
  }
}

/* What an untrained encoding holds, put into it or into one of another length, changes nothing; and asking for room
 * twice does not lose what was set. */
Test(learned, what_is_held__moves_to_another_length) {
  static numbers n;
  uint64_t state = 2;
  for (size_t i = 0; i < RS_COUNT(learners); i++) {
    rs_encoding *e = encoding_of(recipe_of(&learners[i]), LENGTH),
                *plain = encoding_of(recipe_of(&learners[i]), LENGTH);
    rs_encoding *shorter = encoding_of(recipe_of(&learners[i]), SHORT);
    read_all(e, &n);
    write_all(e, &n);
    cr_assert(same_tables(e, plain, LENGTH), "%s %s", learners[i].method, learners[i].settings);
    draw_all(e, &state, &n);
    cr_assert_eq(rs_encoding_learned_room(e, NULL), RS_OK);
    bool shown = strpbrk(learners[i].arrays, ".") != NULL; /* all but scales of heads */
    cr_assert_eq(same_tables(e, plain, LENGTH), !shown, "%s", learners[i].method);
    write_all(shorter, &n);
    cr_assert(same_tables(e, shorter, SHORT), "%s %s", learners[i].method, learners[i].settings);
    rs_encoding_free(shorter);
    rs_encoding_free(plain);
    rs_encoding_free(e);
  }
}

/* Setting arrays is the same as giving them as parameters. */
Test(learned, set__is_as_if_given) {
  static const struct {
    learner learner;
    const char *params[3];
    size_t arrays; /* of each parameter */
  } cases[] = {{{"t5", "num_buckets=8 max_distance=16 bidirectional=true", ""}, {"values"}, 1},
               {{"relative", "clip=4", ""}, {"values"}, 1},
               {{"swin", "", ""}, {"values"}, 1},
               {{"swin", "table_grid=2,6", ""}, {"values"}, 1},
               {{"kerple_log", "", ""}, {"r1", "r2"}, 1},
               {{"kerple_log", "kernel=power", ""}, {"a", "p"}, 1},
               {{"fire", "mlp_width=5 threshold=11", ""}, {"weights"}, 4},
               {{"shaw", "clip=4", ""}, {"key_table", "value_table"}, 1},
               {{"shaw", "clip=50 on_values=false read_by=both", ""}, {"key_table"}, 1},
               {{"transformer_xl", "", ""}, {"projection", "content_bias", "position_bias"}, 1},
               {{"learned", "", ""}, {"table"}, 1},
               {{"learned_2d", "table_grid=3,5", ""}, {"table"}, 1},
               {{"learned_2d", "table_grid=3,5 combine=sum", ""}, {"table"}, 1},
               {{"learned_2d", "", ""}, {"table"}, 1},
               {{"learned_2d", "combine=concat", ""}, {"table"}, 1},
               {{"learned_2d", "table_grid=3,5 combine=concat resize=bilinear", ""}, {"table"}, 1},
               {{"rope_mixed", "", ""}, {"freq_x", "freq_y"}, 1}};
  static numbers n;
  uint64_t state = 3;
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_recipe recipe = recipe_of(&cases[i].learner);
    rs_encoding *e = encoding_of(recipe_of(&cases[i].learner), LENGTH);
    draw_all(e, &state, &n);
    for (size_t p = 0, a = 0; p < 3 && cases[i].params[p] != NULL; p++) {
      size_t size = 0;
      const double *start = n.starts[a];
      for (size_t k = 0; k < cases[i].arrays; k++, a++) size += n.arrays[a].rows * n.arrays[a].columns;
      recipe_set_list(&recipe, cases[i].params[p], start, size);
    }
    bool fire = strcmp(cases[i].learner.method, "fire") == 0;
    double c = -0.25, factor = -0.5; /* c and the threshold it gives: 0.25 and 5.5 */
    if (fire) rs_encoding_learned_set(e, 4, &c), rs_encoding_learned_set(e, 5, &factor);
    if (fire) recipe_set_word(&recipe, "c", "0.25"), recipe_set_word(&recipe, "threshold", "5.5");
    rs_encoding *given = encoding_of(recipe, LENGTH);
    cr_assert(same_tables(e, given, LENGTH), "%s %s", cases[i].learner.method, cases[i].learner.settings);
    rs_encoding_free(given);
    rs_encoding_free(e);
  }
}

/* biases.h tells each formula anew. */
Test(learned, any_values__biases_are_their_formula) {
  static numbers n;
  uint64_t state = 4;
  for (size_t i = 0; i < RS_COUNT(learners); i++) {
    rs_encoding *e = encoding_of(recipe_of(&learners[i]), LENGTH);
    draw_all(e, &state, &n);
    for (size_t h = 0; h < THREE; h++)
      for (size_t m = 0; m < LENGTH; m++)
        for (size_t k = 0; k < LENGTH; k++) {
          double got = bias_at(e, h, m, k), want = (double)expected_bias(e, h, m, k), quick;
          rs_encoding_quick_bias_row(e, h, m, k, k + 1, &quick);
          cr_assert(close_to(got, want, 1e-12, 1e-13), "%s (%zu, %zu, %zu): %.17g, not %.17g", learners[i].method, h, m,
                    k, got, want);
          cr_assert(close_to(quick, want, 1e-12, 1e-13), "%s (%zu, %zu, %zu): quickly %.17g, not %.17g",
                    learners[i].method, h, m, k, quick, want);
        }
    for (size_t h = 0; h < THREE && e->head_scale != NULL; h++)
      cr_assert_eq(rs_encoding_head_scale(e, h), n.starts[n.count - 1][h], "head %zu", h);
    rs_encoding_free(e);
  }
}

/* ---- gradients --------------------------------------------------------------------------------------------------- */

/* What a sum of weighted numbers is taken of: the biases of one row, embeddings, or angles of one head. */
typedef enum subject { BIASES, EMBEDDINGS, ANGLES } subject;

typedef struct objective {
  subject part;
  size_t head, query, begin, end;
  double weights[LENGTH * 24];
} objective;

static objective draw_objective(const rs_encoding *e, subject part, uint64_t *state) {
  objective o = {.part = part, .head = draw_size(state, 0, THREE - 1), .query = draw_size(state, 0, e->length - 1)};
  o.begin = draw_size(state, 0, e->length - 1);
  o.end = draw_size(state, o.begin + 1, e->length);
  for (size_t i = 0; i < RS_COUNT(o.weights); i++) o.weights[i] = draw_real(state, -1, 1);
  return o;
}

static double objective_value(const rs_encoding *e, const objective *o) {
  static double row[LENGTH * 24];
  const rs_encoding head = rs_encoding_of_head(e, o->head);
  size_t count = o->end - o->begin, pairs = e->rotary_dim / 2;
  size_t width = o->part == EMBEDDINGS ? e->width : o->part == ANGLES ? pairs : 1;
  double sum = 0;
  for (size_t i = 0; i < count * pairs && o->part == ANGLES; i++)
    row[i] = rs_encoding_angle(&head, i % pairs, head.pos_k[0][o->begin * pairs + i]);
  if (o->part == EMBEDDINGS) cr_assert_eq(rs_encoding_embed(e, o->begin, count, row, NULL), RS_OK);
  if (o->part == BIASES) rs_encoding_bias_row(e, o->head, o->query, o->begin, o->end, row);
  for (size_t i = 0; i < count * width; i++) sum += o->weights[i] * row[i];
  return sum;
}

static void add_gradient(const rs_encoding *e, const objective *o, numbers *out) {
  if (o->part == EMBEDDINGS) rs_encoding_embed_gradient(e, o->begin, o->end - o->begin, o->weights, out->starts);
  if (o->part == ANGLES) rs_encoding_turn_gradient(e, o->head, o->begin, o->end, o->weights, out->starts);
  if (o->part == BIASES) rs_encoding_bias_gradient(e, o->head, o->query, o->begin, o->end, o->weights, out->starts);
}

/* By number `k` of array `a`. */
static double difference(rs_encoding *e, const objective *o, numbers *n, size_t a, size_t k, double step) {
  double held = n->starts[a][k], up = held + step, down = held - step, values[2];
  for (size_t i = 0; i < 2; i++) {
    n->starts[a][k] = i == 0 ? up : down;
    rs_encoding_learned_set(e, a, n->starts[a]);
    values[i] = objective_value(e, o);
  }
  n->starts[a][k] = held;
  rs_encoding_learned_set(e, a, n->starts[a]);
  return (values[0] - values[1]) / (up - down);
}

static void check_gradient(rs_encoding *e, const objective *o, numbers *n, double tolerance, const char *method) {
  static numbers got;
  const double before = 0.25; /* gradients are added */
  lay_out(e, &got);
  for (size_t i = 0; i < got.size; i++) got.values[i] = before;
  add_gradient(e, o, &got);
  for (size_t a = 0; a < n->count; a++)
    for (size_t k = 0; k < n->arrays[a].rows * n->arrays[a].columns; k++) {
      double want = difference(e, o, n, a, k, 1e-5), by = got.starts[a][k] - before;
      cr_assert(close_to(by, want, tolerance, tolerance), "%s %s[%zu], query %zu, keys %zu to %zu: %.12g, not %.12g",
                method, n->arrays[a].name, k, o->query, o->begin, o->end, by, want);
    }
}

Test(learned, gradients__agree_with_differences) {
  enum { DRAWS = 40 };
  static numbers n;
  uint64_t state = 5;
  for (size_t i = 0; i < RS_COUNT(learners); i++) {
    rs_encoding *e = encoding_of(recipe_of(&learners[i]), LENGTH);
    bool embed = e->method->embed != NULL, bias = e->method->bias != NULL;
    for (size_t d = 0; d < (embed ? DRAWS / 10 : DRAWS); d++) {
      objective by_bias = draw_objective(e, BIASES, &state), by_embed = draw_objective(e, EMBEDDINGS, &state);
      objective by_angle = draw_objective(e, ANGLES, &state);
      if (d % 2 == 0) by_embed.begin = 0; /* the class token */
      draw_all(e, &state, &n);
      if (strcmp(learners[i].method, "fire") == 0 && fabs(11 * fabs(*n.starts[5]) - (double)by_bias.query) < 0.01)
        by_bias.query++; /* a bend */
      if (bias) check_gradient(e, &by_bias, &n, 1e-7, learners[i].method);
      if (rs_encoding_turns_learned(e)) check_gradient(e, &by_angle, &n, 1e-7, learners[i].method);
      if (embed) check_gradient(e, &by_embed, &n, 1e-7, learners[i].method);
    }
    rs_encoding_free(e);
  }
}

/* A query at FIRE's threshold: the maximum of two equals gives each half, as a central difference sees it. */
Test(learned, fire__query_at_the_threshold__gives_it_half) {
  static const learner fire = {"fire", "mlp_width=5 threshold=11", ""};
  static numbers n;
  uint64_t state = 6;
  rs_encoding *e = encoding_of(recipe_of(&fire), LENGTH);
  for (size_t sign = 0; sign < 2; sign++) {
    objective o = draw_objective(e, BIASES, &state);
    draw_all(e, &state, &n);
    *n.starts[5] = sign == 0 ? 1 : -1;
    write_all(e, &n);
    o.query = 11, o.begin = 0, o.end = 12;
    check_gradient(e, &o, &n, 1e-4, "fire");
  }
  rs_encoding_free(e);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* Asking for room again takes none. */
Test(learned, each_failing_allocation__is_reported_and_leaks_nothing) {
  for (size_t i = 0; COUNTS_MEMORY && i < RS_COUNT(learners); i++) {
    rs_recipe recipe = recipe_of(&learners[i]);
    bool done = false;
    for (long n = 0; !done; n++) {
      rs_encoding *e = NULL;
      rs_err err = {0};
      long before = blocks;
      allocations = n, refused = false;
      rs_status status = create(&recipe, SHORT, &e, &err);
      if (status == RS_OK) status = rs_encoding_learned_room(e, &err);
      allocations = -1;
      done = !refused;
      rs_encoding_free(e);
      cr_assert_eq(status, done ? RS_OK : RS_MEMORY, "%s, allocation %ld: %s", learners[i].method, n, err.message);
      cr_assert_eq(blocks, before, "%s, allocation %ld: %ld left", learners[i].method, n, blocks - before);
    }
    rs_recipe_clear(&recipe);
  }
}
