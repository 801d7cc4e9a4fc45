/* From a recipe at one length to the tables attention reads: each stage fills its own. */
#include "kinds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The number given in the recipe, else the model's. */
static double setting_or(const rs_settings *settings, const char *name, double of_model) {
  const rs_value *given = rs_setting(settings, name);
  return given->set ? given->number : of_model;
}

static rs_status copy_inputs(rs_encoding *encoding, const rs_recipe *recipe, const rs_token_layout *tokens,
                             rs_err *err) {
  rs_recipe copy;
  RS_TRY(rs_recipe_copy(&copy, recipe, err));
  encoding->method = copy.method;
  encoding->settings = copy.settings;
  if (tokens == NULL || tokens->count == 0) return RS_OK;
  encoding->tokens.runs = rs_alloc(tokens->count, sizeof *tokens->runs, err);
  if (encoding->tokens.runs == NULL) return RS_MEMORY;
  memcpy(encoding->tokens.runs, tokens->runs, tokens->count * sizeof *tokens->runs);
  encoding->tokens.count = tokens->count;
  return RS_OK;
}

static void resolve_geometry(rs_encoding *encoding, const rs_model *model) {
  const rs_settings *settings = &encoding->settings;
  const rs_value *layout = rs_setting(settings, "pair_layout");
  encoding->heads = model->heads;
  encoding->head_dim = model->head_dim;
  encoding->width = model->heads * model->head_dim;
  if (encoding->method->freq != NULL)
    encoding->rotary_dim = (size_t)setting_or(settings, "rotary_dim", (double)model->rotary_dim);
  encoding->pair_layout = layout->set ? (rs_pair_layout)layout->choice : model->pair_layout;
  encoding->train_length = setting_or(settings, "train_length", (double)model->train_length);
  encoding->scale = NAN;
  bool scaled = encoding->method->pos->scaled || (encoding->method->freq != NULL && encoding->method->freq->scaled);
  if (scaled) encoding->scale = rs_scale_resolve(settings, (double)encoding->length, encoding->train_length);
}

/* omega, axis and amp; *logit_factor gets what the table puts on the logits. */
static rs_status fill_frequencies(rs_encoding *encoding, const rs_model *model, double *logit_factor, rs_err *err) {
  size_t pairs = encoding->rotary_dim / 2;
  encoding->axes = 1;
  encoding->amp = 1;
  *logit_factor = 1;
  encoding->omega = rs_alloc(pairs, sizeof *encoding->omega, err);
  encoding->omega_trained = rs_alloc(pairs, sizeof *encoding->omega_trained, err);
  encoding->axis = rs_alloc(pairs, sizeof *encoding->axis, err);
  if (encoding->omega == NULL || encoding->omega_trained == NULL || encoding->axis == NULL) return RS_MEMORY;
  if (encoding->method->freq == NULL) return RS_OK;
  rs_freq_in in = {.length = encoding->length,
                   .head_dim = encoding->head_dim,
                   .rotary_dim = encoding->rotary_dim,
                   .theta = setting_or(&encoding->settings, "rope_theta", model->rope_theta),
                   .train_length = encoding->train_length,
                   .max_length = (double)model->max_length,
                   .scale = encoding->scale,
                   .settings = &encoding->settings};
  rs_freq_out out = {.omega = encoding->omega, .factor = 1, .logit_factor = 1};
  RS_TRY(encoding->method->freq->fill(&in, &out, err));
  encoding->amp = out.factor;
  *logit_factor = out.logit_factor;
  for (size_t j = 0; j < pairs; j++) encoding->omega[j] = rs_round(encoding->precision.inv_freq, encoding->omega[j]);
  rs_ladder(model->rope_theta, (double)encoding->rotary_dim, pairs, encoding->omega_trained);
  return rs_axes_fill(&encoding->settings, model, pairs, encoding->axis, &encoding->axes, err);
}

/* Token ids as the pairs read them: (L, 1) for text, (L, 3) for t, h, w. */
static rs_status token_ids(const rs_encoding *encoding, double *ids, rs_err *err) {
  if (encoding->axes > 1) return rs_token_positions(&encoding->tokens, encoding->length, ids, NULL, err);
  for (size_t i = 0; i < encoding->length; i++) ids[i] = (double)i;
  return RS_OK;
}

/* A short format may not hold the positions, or the angles: an infinity there would make every number after it none. */
static rs_status check_formats(const rs_encoding *encoding, rs_err *err) {
  double largest = 0, fastest = 0;
  for (size_t v = 0; v < encoding->views; v++)
    for (size_t i = 0; i < encoding->length * encoding->axes; i++)
      largest = fmax(largest, fmax(fabs(encoding->pos_q[v][i]), fabs(encoding->pos_k[v][i])));
  for (size_t j = 0; j < encoding->rotary_dim / 2; j++) fastest = fmax(fastest, encoding->omega[j]);
  if (isfinite(largest) && isfinite(rs_round(encoding->precision.angle, largest * fastest))) return RS_OK;
  return rs_fail(err, RS_DOMAIN, "length %zu is beyond the range of the float format of positions or angles",
                 encoding->length);
}

static rs_status fill_positions(rs_encoding *encoding, rs_err *err) {
  size_t count = encoding->length * encoding->axes;
  encoding->views = encoding->method->pos->views;
  for (size_t v = 0; v < encoding->views; v++) {
    encoding->pos_q[v] = rs_alloc(count, sizeof(double), err);
    encoding->pos_k[v] = rs_alloc(count, sizeof(double), err);
    if (encoding->pos_q[v] == NULL || encoding->pos_k[v] == NULL) return RS_MEMORY;
    RS_TRY(token_ids(encoding, encoding->pos_q[v], err));
    memcpy(encoding->pos_k[v], encoding->pos_q[v], count * sizeof(double));
  }
  RS_TRY(encoding->method->pos->fill(encoding, err));
  for (size_t v = 0; v < encoding->views; v++)
    for (size_t i = 0; i < count; i++) {
      encoding->pos_q[v][i] = rs_round(encoding->precision.positions, encoding->pos_q[v][i]);
      encoding->pos_k[v][i] = rs_round(encoding->precision.positions, encoding->pos_k[v][i]);
    }
  return check_formats(encoding, err);
}

static rs_status fill_logit_scale(rs_encoding *encoding, double logit_factor, rs_err *err) {
  const rs_lscale_kind *kind = rs_lscale_chosen(&encoding->settings);
  encoding->logit_scale = rs_alloc(encoding->length, sizeof *encoding->logit_scale, err);
  if (encoding->logit_scale == NULL) return RS_MEMORY;
  for (size_t m = 0; m < encoding->length; m++) encoding->logit_scale[m] = logit_factor;
  return kind != NULL ? kind->fill(encoding, err) : RS_OK;
}

static rs_status fill_bias(rs_encoding *encoding, rs_err *err) {
  if (encoding->method->bias == NULL) return RS_OK;
  encoding->bias_table = rs_alloc(encoding->heads, sizeof *encoding->bias_table, err);
  return encoding->bias_table != NULL ? encoding->method->bias->fill(encoding, err) : RS_MEMORY;
}

/* A table of embeddings that ends too soon is undefined at this length: asked for its last row. */
static rs_status check_embedding(const rs_encoding *encoding, rs_err *err) {
  if (encoding->method->embed == NULL) return RS_OK;
  double *row = rs_alloc(encoding->width, sizeof *row, err);
  if (row == NULL) return RS_MEMORY;
  rs_status status = encoding->method->embed->fill(encoding, encoding->length - 1, 1, row, err);
  free(row);
  return status;
}

static rs_status fill_tables(rs_encoding *encoding, const rs_recipe *recipe, const rs_model *model,
                             const rs_token_layout *tokens, rs_err *err) {
  double logit_factor;
  RS_TRY(copy_inputs(encoding, recipe, tokens, err));
  resolve_geometry(encoding, model);
  RS_TRY(fill_frequencies(encoding, model, &logit_factor, err));
  RS_TRY(fill_positions(encoding, err));
  RS_TRY(fill_logit_scale(encoding, logit_factor, err));
  RS_TRY(check_embedding(encoding, err));
  return fill_bias(encoding, err);
}

rs_status rs_encoding_create(const rs_recipe *recipe, const rs_model *model, size_t length,
                             const rs_token_layout *tokens, const rs_precision *precision, rs_encoding **encoding,
                             rs_err *err) {
  *encoding = NULL;
  if (length == 0) return rs_fail(err, RS_DOMAIN, "a context of 0 tokens has no attention");
  rs_encoding *made = rs_alloc(1, sizeof *made, err);
  if (made == NULL) return RS_MEMORY;
  made->length = length;
  if (precision != NULL) made->precision = *precision;
  rs_status status = fill_tables(made, recipe, model, tokens, err);
  if (status == RS_OK)
    *encoding = made;
  else
    rs_encoding_free(made);
  return status;
}

void rs_encoding_free(rs_encoding *encoding) {
  if (encoding == NULL) return;
  for (size_t v = 0; v < RS_VIEWS; v++) {
    free(encoding->pos_q[v]);
    free(encoding->pos_k[v]);
  }
  free(encoding->omega);
  free(encoding->omega_trained);
  free(encoding->axis);
  free(encoding->logit_scale);
  free(encoding->bias_table);
  rs_token_layout_clear(&encoding->tokens);
  rs_settings_clear(&encoding->settings);
  free(encoding);
}

size_t rs_encoding_segments(const rs_encoding *encoding, size_t query, rs_segment out[RS_VIEWS]) {
  if (encoding->method->pos->segments != NULL) return encoding->method->pos->segments(encoding, query, out);
  out[0] = (rs_segment){0, encoding->length, 0};
  return 1;
}

void rs_encoding_cos_sin(const rs_encoding *encoding, size_t pair, double position, double *cosine, double *sine) {
  const rs_precision *precision = &encoding->precision;
  if (precision->angle == RS_F64) {
    rs_cos_sin(position, encoding->omega[pair], cosine, sine);
  } else {
    double angle = rs_round(precision->angle, position * encoding->omega[pair]);
    sincos(angle, sine, cosine);
  }
  *cosine = rs_round(precision->table, *cosine);
  *sine = rs_round(precision->table, *sine);
}

void rs_encoding_rotate(const rs_encoding *encoding, const double *position, const double *x, double *out) {
  size_t pairs = encoding->rotary_dim / 2;
  bool interleaved = encoding->pair_layout == RS_INTERLEAVED;
  if (out != x) memcpy(out, x, encoding->head_dim * sizeof *out);
  for (size_t j = 0; j < pairs; j++) {
    double c, s;
    size_t first = interleaved ? 2 * j : j, second = interleaved ? 2 * j + 1 : j + pairs;
    double a = x[first], b = x[second];
    rs_encoding_cos_sin(encoding, j, position[encoding->axis[j]], &c, &s);
    out[first] = encoding->amp * (a * c - b * s);
    out[second] = encoding->amp * (a * s + b * c);
  }
}

size_t rs_encoding_view(const rs_encoding *encoding, size_t query, size_t key) {
  rs_segment segments[RS_VIEWS];
  size_t count = rs_encoding_segments(encoding, query, segments);
  for (size_t i = 0; i < count; i++)
    if (key >= segments[i].begin && key < segments[i].end) return segments[i].view;
  return 0;
}

void rs_encoding_turn(const rs_encoding *encoding, size_t query, size_t key, size_t pair, double *cosine,
                      double *sine) {
  size_t view = rs_encoding_view(encoding, query, key), axis = encoding->axis[pair];
  double q = encoding->pos_q[view][query * encoding->axes + axis],
         k = encoding->pos_k[view][key * encoding->axes + axis];
  if (encoding->precision.angle == RS_F64 && encoding->precision.table == RS_F64) {
    rs_cos_sin(q - k, encoding->omega[pair], cosine, sine);
    return;
  }
  double cq, sq, ck, sk; /* short formats err in each absolute angle, not in their difference */
  rs_encoding_cos_sin(encoding, pair, q, &cq, &sq);
  rs_encoding_cos_sin(encoding, pair, k, &ck, &sk);
  *cosine = cq * ck + sq * sk;
  *sine = sq * ck - cq * sk;
}

double rs_encoding_mean_cosine(const rs_encoding *encoding, size_t query, size_t key) {
  size_t pairs = encoding->rotary_dim / 2, all = encoding->head_dim / 2;
  double sum = (double)(all - pairs);
  for (size_t j = 0; j < pairs; j++) {
    double c, s;
    rs_encoding_turn(encoding, query, key, j, &c, &s);
    sum += c;
  }
  return sum / (double)all;
}

/* One view: the query against the smallest and largest position so far, for ids of pictures do not ascend. */
static double reach_of_axis(const rs_encoding *encoding, size_t axis) {
  double least = INFINITY, most = -INFINITY, reach = 0;
  for (size_t m = 0; m < encoding->length; m++) {
    double q = encoding->pos_q[0][m * encoding->axes + axis], k = encoding->pos_k[0][m * encoding->axes + axis];
    least = fmin(least, k);
    most = fmax(most, k);
    reach = fmax(reach, fmax(q - least, most - q));
  }
  return reach;
}

/* Several views are defined for text alone, where positions ascend: the first key of each segment is the farthest. */
static double reach_of_views(const rs_encoding *encoding) {
  double reach = 0;
  for (size_t m = 0; m < encoding->length; m++) {
    rs_segment segments[RS_VIEWS];
    size_t count = rs_encoding_segments(encoding, m, segments);
    for (size_t i = 0; i < count; i++) {
      const double *q = encoding->pos_q[segments[i].view], *k = encoding->pos_k[segments[i].view];
      reach = fmax(reach, fabs(q[m] - k[segments[i].begin]));
    }
  }
  return reach;
}

void rs_encoding_reach(const rs_encoding *encoding, double reach[RS_AXES]) {
  for (size_t a = 0; a < RS_AXES; a++) reach[a] = 0;
  for (size_t a = 0; a < encoding->axes; a++)
    reach[a] = encoding->views > 1 ? reach_of_views(encoding) : reach_of_axis(encoding, a);
}
