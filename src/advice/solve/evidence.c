/* What ways of reading a model beyond its trained length cost the models that were measured, and what that says of
 * another model.
 *
 * A row of share/evidence.csv is y, the loss under one way less that of the window on the same targets, nats. What is
 * said of a way on another model is a mean of t = asinh(y / 0.1), which is linear for small differences and tames the
 * nats of what breaks: over the rows of the way with weights exp(-d^2 / 2) within each group of models, then over
 * groups, each with the weight of its nearest row. d is the distance in log2(L / L0), in the share of pairs that did
 * not go full circle in L0 tokens, in log2 L0 and in log2 D, and 1 more where the recipe has other parameters. The
 * interval holds 80 % of the residuals of rows whose group was left out, groups weighing the same. */
#include "evidence.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NEAREST_NAMED = 4, MODELS = 64 };

/* Scales of d, chosen before anything was predicted: 0.7 octaves of length, two fifths of the pairs, six octaves of
 * trained length, three of head_dim. */
static const double widths[RS_TRAITS] = {0.7, 0.4, 6, 3};

/* The scale of y below which t is linear, nats; the weight below which a row is too far to be evidence: d = 3. */
static const double tame = 0.1, least_weight = 0.011;

/* No row is nearer to the trained length than twice: less than half an octave beyond it nothing is foretold. */
static const double least_octaves = 0.5;

/* The word of the recipes column for the model as it is. */
static const char unchanged[] = "unchanged";

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* The number of a name, a new one where it is not there; SIZE_MAX: no memory. */
static size_t number_of(rs_evidence *e, rs_names *list, const char *name, rs_err *err) {
  for (size_t i = 0; i < list->count; i++)
    if (strcmp(list->items[i], name) == 0) return i;
  if (RS_GROW(list->items, &list->capacity, list->count + 1, err) != RS_OK) return SIZE_MAX;
  const char *copy = rs_arena_text(&e->arena, name);
  if (rs_arena_check(&e->arena, err) != RS_OK) return SIZE_MAX;
  list->items[list->count] = copy;
  return list->count++;
}

static rs_status read_number(const rs_evidence *e, size_t line, const char *column, double *value, rs_err *err) {
  if (rs_number_read(rs_table_field(e->csv, line, column), value)) return RS_OK;
  return rs_fail(err, RS_INPUT, "evidence.csv:%zu: %s = %s: is no number", line + 2, column,
                 rs_table_field(e->csv, line, column));
}

/* The variant: what the recipe says but for its scale, which follows the length in all rows. */
static void write_variant(const rs_recipe *recipe, rs_text *text) {
  const rs_settings *settings = &recipe->settings;
  rs_text_puts(text, recipe->method->name);
  for (size_t p = 0; p < settings->count; p++) {
    const rs_param *param = settings->params[p];
    const rs_value *value = &settings->values[p];
    bool scale =
        rs_word_among(param->name, "factor scale train_length") && !rs_word_among(recipe->method->name, "dynamic_ntk");
    if (!value->given || scale) continue;
    rs_text_printf(text, " %s ", param->name);
    rs_value_write(param, value, text);
  }
}

/* Distances are between models as they read up to L0: under what they publish, else plain RoPE. */
static rs_status find_traits(const rs_model *model, double reads, double length, double trait[RS_TRAITS], rs_err *err) {
  RS_OWNED(rs_spectrum) spectrum = {0};
  RS_OWNED(rs_recipe) plain = {0};
  const rs_recipe *recipe = &model->published;
  if (recipe->method == NULL) {
    RS_TRY(rs_solve_plain(model, 0, &plain, err));
    recipe = &plain;
  }
  RS_TRY(rs_spectrum_make(recipe, model, (size_t)reads, &spectrum, err));
  size_t slow = 0;
  for (size_t j = 0; j < spectrum.pairs; j++) slow += !isinf(rs_angle_range(reads * spectrum.omega[j]));
  trait[0] = log2(length / reads);
  trait[1] = (double)slow / (double)spectrum.pairs;
  trait[2] = log2(reads);
  trait[3] = log2((double)model->head_dim);
  return RS_OK;
}

rs_status rs_evidence_model(const rs_evidence *e, size_t line, rs_model *model, rs_err *err) {
  double head_dim, rotary_dim, theta, trained;
  const char *published = rs_table_field(e->csv, line, "model_recipe");
  RS_TRY(read_number(e, line, "head_dim", &head_dim, err));
  RS_TRY(read_number(e, line, "rotary_dim", &rotary_dim, err));
  RS_TRY(read_number(e, line, "rope_theta", &theta, err));
  RS_TRY(read_number(e, line, "train_length", &trained, err));
  if (!(head_dim >= 2 && head_dim <= 65536 && rotary_dim >= 2 && rotary_dim <= head_dim && theta > 1 && trained >= 2))
    return rs_fail(err, RS_INPUT, "evidence.csv:%zu: head_dim, rotary_dim, rope_theta or train_length is no model's",
                   line + 2);
  *model = (rs_model){.heads = 1,
                      .head_dim = (size_t)head_dim,
                      .rotary_dim = (size_t)rotary_dim,
                      .rope_theta = theta,
                      .train_length = (size_t)trained,
                      .max_length = (size_t)trained};
  rs_shorten(rs_table_field(e->csv, line, "model"), sizeof model->name, model->name);
  if (*published == '\0') return RS_OK;
  RS_OWNED(rs_problems) problems = {0};
  RS_OWNED(rs_subject) subject = {0};
  const rs_subject_in in = {.on = model, .method = published, .label = "evidence.csv", .length = (size_t)trained};
  RS_TRY(rs_subject_read(&in, &subject, &problems, err));
  return rs_recipe_copy(&model->published, &subject.recipe, err);
}

/* The recipe of a row on its model, and what it is called; "unchanged" is what the model publishes, else plain RoPE. */
rs_status rs_evidence_recipe(const rs_evidence *e, size_t line, const rs_model *model, rs_recipe *recipe, rs_err *err) {
  const char *text = rs_table_field(e->csv, line, "recipe");
  if (strcmp(text, unchanged) == 0)
    return model->published.method != NULL ? rs_recipe_copy(recipe, &model->published, err)
                                           : rs_solve_plain(model, 0, recipe, err);
  char label[40];
  RS_OWNED(rs_problems) problems = {0};
  RS_OWNED(rs_subject) subject = {0};
  double length;
  RS_TRY(read_number(e, line, "length_tokens", &length, err));
  snprintf(label, sizeof label, "evidence.csv:%zu", line + 2);
  const rs_subject_in in = {.on = model, .method = text, .label = label, .length = (size_t)length};
  rs_status status = rs_subject_read(&in, &subject, &problems, err);
  if (status == RS_OK) {
    *recipe = subject.recipe;
    subject.recipe = (rs_recipe){0};
  } else if (problems.count > 0)
    return rs_fail(err, status, "%s", rs_text_string(&problems.text));
  return status;
}

/* The numbers of what the row is told by. */
static rs_status number_row(rs_evidence *e, rs_evidence_row *r, const rs_recipe *recipe, rs_err *err) {
  RS_OWNED(rs_text) table = {0}, variant = {0};
  rs_text_printf(&table, "%s, %s, %s", r->model, rs_table_field(e->csv, r->line, "task"),
                 rs_table_field(e->csv, r->line, "length_tokens"));
  if (strcmp(r->method, unchanged) == 0)
    rs_text_puts(&variant, unchanged);
  else
    write_variant(recipe, &variant);
  RS_TRY(rs_text_check(table.failed ? &table : &variant, err));
  r->group = number_of(e, &e->groups, rs_table_field(e->csv, r->line, "group"), err);
  r->table = number_of(e, &e->tables, rs_text_string(&table), err);
  r->way = number_of(e, &e->ways, r->method, err);
  r->variant = number_of(e, &e->variants, rs_text_string(&variant), err);
  if (r->group == SIZE_MAX || r->table == SIZE_MAX || r->way == SIZE_MAX || r->variant == SIZE_MAX) return RS_MEMORY;
  return e->groups.count <= RS_EVIDENCE_GROUPS
             ? RS_OK
             : rs_fail(err, RS_INPUT, "evidence.csv:%zu: group: %d groups at most", r->line + 2, RS_EVIDENCE_GROUPS);
}

/* Windows are what the others are less, and tuned models are no evidence of ways without tuning. */
static rs_status read_row(rs_evidence *e, size_t line, rs_err *err) {
  RS_OWNED(rs_model) model = {0};
  RS_OWNED(rs_recipe) recipe = {0};
  rs_evidence_row *r = &e->rows[e->count];
  const char *named = rs_table_field(e->csv, line, "recipe");
  double length, low = NAN, high = NAN;
  if (strcmp(named, "window") == 0 || *rs_table_field(e->csv, line, "tuned_at") != '\0') return RS_OK;
  RS_TRY(rs_evidence_model(e, line, &model, err));
  RS_TRY(rs_evidence_recipe(e, line, &model, &recipe, err));
  RS_TRY(read_number(e, line, "length_tokens", &length, err));
  RS_TRY(read_number(e, line, "loss_increase_nats", &r->increase, err));
  if (!isfinite(r->increase) || !(length > (double)model.train_length))
    return rs_fail(err, RS_INPUT,
                   "evidence.csv:%zu: loss_increase_nats and length_tokens: must be finite, and beyond train_length",
                   line + 2);
  RS_TRY(find_traits(&model, (double)model.train_length, length, r->trait, err));
  bool bounded = rs_number_read(rs_table_field(e->csv, line, "low_nats"), &low) &&
                 rs_number_read(rs_table_field(e->csv, line, "high_nats"), &high);
  r->least = isinf(high);
  r->error = bounded && !r->least ? (high - low) / (2 * 1.96) : 0;
  r->bends = rs_recipe_bends(&recipe);
  r->line = line;
  r->model = rs_table_field(e->csv, line, "model");
  r->method = strcmp(named, unchanged) == 0 ? unchanged : recipe.method->name;
  RS_TRY(number_row(e, r, &recipe, err));
  e->count++;
  return RS_OK;
}

const char *rs_evidence_group(const rs_evidence *e, size_t index) {
  return index < e->groups.count ? e->groups.items[index] : NULL;
}

bool rs_recipe_bends(const rs_recipe *recipe) {
  return recipe->method->pos->prepare != NULL && !recipe->method->pos->scaled;
}

double rs_rule_of(bool bends, double needle_damage) {
  /* No loss_damage comes near 100: its turns are at most 1, its cosines 2, and its look-back the logarithm of a length.
   */
  return needle_damage + (bends ? 0 : 100);
}

/* ---- forecasts --------------------------------------------------------------------------------------------------- */

double rs_evidence_tamed(double increase) {
  return asinh(increase / tame);
}

static double nearness(const rs_evidence_row *r, const double trait[RS_TRAITS], size_t variant) {
  double sum = r->variant != variant;
  for (size_t k = 0; k < RS_TRAITS; k++) sum += pow((r->trait[k] - trait[k]) / widths[k], 2);
  return exp(-sum / 2);
}

double rs_evidence_mean(const rs_evidence *e, const rs_evidence_query *q) {
  double total = 0, sum = 0, nearest = 0;
  for (size_t g = 0; g < e->groups.count; g++) {
    double weights = 0, values = 0, most = 0;
    for (size_t i = 0; i < e->count; i++) {
      const rs_evidence_row *r = &e->rows[i];
      if (r->group != g || r->way != q->way || g == q->without[0] || g == q->without[1]) continue;
      double weight = nearness(r, q->trait, q->variant);
      weights += weight;
      values += weight * rs_evidence_tamed(r->increase);
      most = fmax(most, weight);
    }
    if (most == 0) continue;
    total += most;
    sum += most * values / weights;
    nearest = fmax(nearest, most);
  }
  return nearest < least_weight ? NAN : sum / total;
}

/* The value that a share of the weight does not pass; `values` and their weights are sorted by it. */
static double weighted_quantile(double *values, double *weights, size_t count, double share) {
  double total = 0, sum = 0;
  if (count == 0) return NAN;
  gsl_sort2(values, 1, weights, 1, count);
  for (size_t i = 0; i < count; i++) total += weights[i];
  for (size_t i = 0; i < count; i++)
    if ((sum += weights[i]) >= share * total) return values[i];
  return values[count - 1];
}

rs_status rs_evidence_spread(const rs_evidence *e, size_t group, double *spread, rs_err *err) {
  RS_FREED double *residuals = rs_alloc(2 * e->count, sizeof *residuals, err);
  RS_FREED size_t *members = rs_alloc(2 * e->count, sizeof *members, err);
  if (residuals == NULL || members == NULL) return RS_MEMORY;
  double *weights = residuals + e->count;
  size_t *groups = members + e->count, count = 0;
  for (size_t i = 0; i < e->count; i++) {
    const rs_evidence_row *r = &e->rows[i];
    const rs_evidence_query query = {r->trait, r->way, r->variant, {group, r->group}};
    double t = r->group == group ? NAN : rs_evidence_mean(e, &query);
    if (isnan(t)) continue;
    residuals[count] = fabs(rs_evidence_tamed(r->increase) - t);
    groups[count++] = r->group;
    members[r->group]++;
  }
  for (size_t i = 0; i < count; i++) weights[i] = 1 / (double)members[groups[i]];
  *spread = weighted_quantile(residuals, weights, count, 0.8);
  return RS_OK;
}

/* How many models have evidence of the way, and the names of the nearest. */
static rs_status name_models(const rs_evidence *e, const rs_evidence_query *q, rs_forecast *out, rs_err *err) {
  RS_OWNED(rs_text) text = {0};
  const char *names[MODELS];
  double weights[MODELS];
  for (size_t i = 0; i < e->count; i++) {
    const rs_evidence_row *r = &e->rows[i];
    double weight = nearness(r, q->trait, r->variant);
    size_t m = 0;
    if (r->way != q->way || weight < least_weight) continue;
    while (m < out->models && strcmp(names[m], r->model) != 0) m++;
    if (m == MODELS) continue;
    weights[m] = m == out->models ? weight : fmax(weights[m], weight);
    names[m] = r->model;
    out->models += m == out->models;
  }
  for (size_t shown = 0; shown < out->models && shown < NEAREST_NAMED; shown++) {
    size_t best = 0;
    for (size_t m = 1; m < out->models; m++)
      if (weights[m] > weights[best]) best = m;
    rs_text_printf(&text, "%s%s", shown > 0 ? ", " : "", names[best]);
    weights[best] = -1;
  }
  if (out->models > NEAREST_NAMED) rs_text_printf(&text, " and %zu more", out->models - NEAREST_NAMED);
  rs_shorten(rs_text_string(&text), sizeof out->from, out->from);
  return rs_text_check(&text, err);
}

static size_t index_of(const rs_names *list, const char *name) {
  for (size_t i = 0; i < list->count; i++)
    if (strcmp(list->items[i], name) == 0) return i;
  return SIZE_MAX;
}

rs_status rs_evidence_forecast(const rs_evidence *e, const rs_evidence_of *of, const rs_recipe *recipe,
                               rs_forecast *out, rs_err *err) {
  RS_OWNED(rs_text) variant = {0};
  double trait[RS_TRAITS];
  *out = (rs_forecast){.increase = NAN, .low = NAN, .high = NAN};
  if (recipe != NULL)
    write_variant(recipe, &variant);
  else
    rs_text_puts(&variant, unchanged);
  RS_TRY(rs_text_check(&variant, err));
  RS_TRY(find_traits(of->model, of->reads, of->length, trait, err));
  if (trait[0] < least_octaves) return RS_OK;
  const rs_evidence_query query = {trait,
                                   index_of(&e->ways, recipe != NULL ? recipe->method->name : unchanged),
                                   index_of(&e->variants, rs_text_string(&variant)),
                                   {SIZE_MAX, SIZE_MAX}};
  double t = rs_evidence_mean(e, &query);
  if (isnan(t)) return RS_OK;
  out->increase = tame * sinh(t);
  out->low = tame * sinh(t - e->spread);
  out->high = tame * sinh(t + e->spread);
  return name_models(e, &query, out, err);
}

/* ---- evidence ---------------------------------------------------------------------------------------------------- */

void rs_evidence_free(rs_evidence *e) {
  if (e == NULL) return;
  rs_names *const lists[] = {&e->groups, &e->tables, &e->ways, &e->variants};
  for (size_t i = 0; i < RS_COUNT(lists); i++) free(lists[i]->items);
  rs_table_free(e->csv);
  free(e->rows);
  rs_arena_clear(&e->arena);
  free(e);
}

/* The rows of a table beside each other. */
static int by_table(const void *a, const void *b) {
  const rs_evidence_row *x = a, *y = b;
  return x->table != y->table ? (x->table > y->table) - (x->table < y->table)
                              : (x->line > y->line) - (x->line < y->line);
}

static rs_status read_rows(rs_evidence *e, rs_err *err) {
  static const char *const columns[] = {
      "model",  "group",         "head_dim",           "rotary_dim", "rope_theta", "train_length", "task",
      "recipe", "length_tokens", "loss_increase_nats", "low_nats",   "high_nats",  "model_recipe", "tuned_at"};
  for (size_t c = 0; c < RS_COUNT(columns); c++)
    if (rs_table_column(e->csv, columns[c]) < 0)
      return rs_fail(err, RS_INPUT, "evidence.csv has no column %s", columns[c]);
  e->rows = rs_alloc(e->csv->rows + 1, sizeof *e->rows, err);
  if (e->rows == NULL) return RS_MEMORY;
  for (size_t line = 0; line < e->csv->rows; line++) RS_TRY(read_row(e, line, err));
  qsort(e->rows, e->count, sizeof *e->rows, by_table);
  return RS_OK;
}

rs_status rs_evidence_read(const char *text, size_t length, rs_evidence **evidence, rs_err *err) {
  RS_HELD(rs_evidence) e = rs_alloc(1, sizeof *e, err);
  *evidence = NULL;
  if (e == NULL) return RS_MEMORY;
  RS_TRY(rs_csv_read(text, length, "evidence.csv", &e->csv, err));
  RS_TRY(read_rows(e, err));
  if (e->count == 0) return rs_fail(err, RS_INPUT, "evidence.csv has no rows of models that were not tuned");
  RS_TRY(rs_evidence_spread(e, SIZE_MAX, &e->spread, err));
  *evidence = e;
  e = NULL;
  return RS_OK;
}

rs_status rs_evidence_load(rs_evidence **evidence, rs_err *err) {
  RS_FREED char *path = NULL, *data = NULL;
  size_t length = 0;
  *evidence = NULL;
  RS_TRY(rs_data_find("share/evidence.csv", &path, err));
  if (path == NULL) return rs_fail(err, RS_IO, "share/evidence.csv is not installed (ROPESCOPE_DATADIR says where)");
  RS_TRY(rs_file_read(path, 1 << 24, &data, &length, err));
  return rs_evidence_read(data, length, evidence, err);
}
