/* What a recipe is at one length: numbers of its encoding, copied out. */
#include "api.h"

#include <math.h>
#include <stdlib.h>

struct ropescope_tables {
  rs_encoding *encoding;
  double logit_factor;
};

/* Also what the frequencies put on the logits. */
static rs_status fill(const rs_subject *subject, size_t length, ropescope_tables *tables, rs_err *err) {
  RS_TRY(rs_encoding_create(&subject->recipe, &subject->model, length > 0 ? length : subject->length, &subject->tokens,
                            &subject->precision, &tables->encoding, err));
  const rs_encoding *encoding = tables->encoding;
  tables->logit_factor = 1;
  if (encoding->method->freq == NULL) return RS_OK;
  rs_freq_out out = {.omega = rs_alloc(encoding->rotary_dim / 2, sizeof(double), err)};
  if (out.omega == NULL) return RS_MEMORY;
  rs_status status = rs_frequencies_at(encoding, &subject->model, encoding->length, &out, err);
  tables->logit_factor = out.logit_factor;
  free(out.omega);
  return status;
}

ropescope_status ropescope_tables_create(const ropescope_recipe *recipe, size_t length, ropescope_tables **tables,
                                         ropescope_error **error) {
  rs_err err = {0};
  *tables = rs_alloc(1, sizeof **tables, &err);
  rs_status status = *tables != NULL ? fill(&recipe->subject, length, *tables, &err) : RS_MEMORY;
  return RS_API_END(status, tables, ropescope_tables_free, error, &err, NULL);
}

void ropescope_tables_free(ropescope_tables *tables) {
  if (tables == NULL) return;
  rs_encoding_free(tables->encoding);
  free(tables);
}

/* ---- sizes and numbers ------------------------------------------------------------------------------------------- */

size_t ropescope_tables_length(const ropescope_tables *tables) {
  return tables->encoding->length;
}

size_t ropescope_tables_pairs(const ropescope_tables *tables) {
  return tables->encoding->rotary_dim / 2;
}

size_t ropescope_tables_axes(const ropescope_tables *tables) {
  return tables->encoding->axes;
}

size_t ropescope_tables_views(const ropescope_tables *tables) {
  return tables->encoding->views;
}

size_t ropescope_tables_heads(const ropescope_tables *tables) {
  return tables->encoding->heads;
}

size_t ropescope_tables_width(const ropescope_tables *tables) {
  return tables->encoding->width;
}

double ropescope_tables_attention_factor(const ropescope_tables *tables) {
  return tables->encoding->amp;
}

double ropescope_tables_logit_factor(const ropescope_tables *tables) {
  return tables->logit_factor;
}

double ropescope_tables_scale(const ropescope_tables *tables) {
  return tables->encoding->scale;
}

int ropescope_tables_has_bias(const ropescope_tables *tables) {
  return tables->encoding->method->bias != NULL;
}

int ropescope_tables_has_embedding(const ropescope_tables *tables) {
  return tables->encoding->method->embed != NULL;
}

/* ---- copies ------------------------------------------------------------------------------------------------------ */

size_t ropescope_tables_inv_freq(const ropescope_tables *tables, double *out, size_t capacity) {
  return rs_api_copy(tables->encoding->omega, tables->encoding->rotary_dim / 2, out, capacity);
}

size_t ropescope_tables_axis(const ropescope_tables *tables, int *out, size_t capacity) {
  const rs_encoding *encoding = tables->encoding;
  size_t pairs = encoding->rotary_dim / 2;
  if (out == NULL || capacity < pairs) return pairs;
  for (size_t j = 0; j < pairs; j++) out[j] = encoding->own_places ? -1 : encoding->axis[j];
  return pairs;
}

size_t ropescope_tables_positions(const ropescope_tables *tables, ropescope_side side, size_t view, double *out,
                                  size_t capacity) {
  const rs_encoding *encoding = tables->encoding;
  if (view >= encoding->views) return 0;
  const double *positions = side == ROPESCOPE_QUERY ? encoding->pos_q[view] : encoding->pos_k[view];
  return rs_api_copy(positions, encoding->length * encoding->axes, out, capacity);
}

size_t ropescope_tables_logit_scale(const ropescope_tables *tables, double *out, size_t capacity) {
  return rs_api_copy(tables->encoding->logit_scale, tables->encoding->length, out, capacity);
}

size_t ropescope_tables_slopes(const ropescope_tables *tables, double *out, size_t capacity) {
  const rs_encoding *encoding = tables->encoding;
  if (encoding->method->bias == NULL || encoding->method->bias->slope == NULL) return 0;
  for (size_t h = 0; h < encoding->heads && out != NULL && capacity >= encoding->heads; h++)
    out[h] = rs_encoding_slope(encoding, h);
  return encoding->heads;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* RS_INPUT unless `value` < `count`. */
static rs_status check_index(const char *what, size_t value, size_t count, rs_err *err) {
  if (value < count) return RS_OK;
  return rs_fail_on(err, RS_INPUT, what, "is %zu where there are %zu", value, count);
}

static rs_status check_tokens(const rs_encoding *encoding, size_t begin, size_t end, rs_err *err) {
  if (begin <= end && end <= encoding->length) return RS_OK;
  return rs_fail(err, RS_INPUT, "tokens %zu to %zu are not among %zu", begin, end, encoding->length);
}

/* Where one of both is not wanted it is made all the same. */
static rs_status fill_turns(const rs_encoding *encoding, rs_side side, size_t view, size_t begin, size_t end,
                            double *cosine, double *sine, rs_err *err) {
  size_t count = (end - begin) * (encoding->rotary_dim / 2);
  double *spare = cosine == NULL || sine == NULL ? rs_alloc(count, sizeof *spare, err) : NULL;
  if ((cosine == NULL || sine == NULL) && spare == NULL) return RS_MEMORY;
  if (cosine != NULL || sine != NULL)
    rs_encoding_turns(encoding, side, view, begin, end, cosine != NULL ? cosine : spare, sine != NULL ? sine : spare);
  free(spare);
  return RS_OK;
}

ropescope_status ropescope_tables_cos_sin(const ropescope_tables *tables, ropescope_side side, size_t view, size_t head,
                                          size_t begin, size_t end, double *cosine, double *sine,
                                          ropescope_error **error) {
  const rs_encoding *encoding = tables->encoding;
  rs_err err = {0};
  (void)check_index("view", view, encoding->views, &err);
  (void)check_index("head", head, encoding->heads, &err);
  (void)check_tokens(encoding, begin, end, &err);
  if (err.status == RS_OK && begin < end && encoding->rotary_dim > 0) {
    const rs_encoding of_head = rs_encoding_of_head(encoding, head);
    (void)fill_turns(&of_head, side == ROPESCOPE_QUERY ? RS_QUERY_SIDE : RS_KEY_SIDE, view, begin, end, cosine, sine,
                     &err);
  }
  return rs_api_end(err.status, error, &err, NULL);
}

ropescope_status ropescope_tables_bias(const ropescope_tables *tables, size_t head, size_t query, size_t begin,
                                       size_t end, double *out, ropescope_error **error) {
  const rs_encoding *encoding = tables->encoding;
  rs_err err = {0};
  (void)check_index("head", head, encoding->heads, &err);
  (void)check_index("query", query, encoding->length, &err);
  (void)check_tokens(encoding, begin, end, &err);
  if (err.status == RS_OK && begin < end) rs_encoding_bias_row(encoding, head, query, begin, end, out);
  return rs_api_end(err.status, error, &err, NULL);
}

ropescope_status ropescope_tables_embedding(const ropescope_tables *tables, size_t begin, size_t count, double *out,
                                            ropescope_error **error) {
  const rs_encoding *encoding = tables->encoding;
  rs_err err = {0};
  if (count > encoding->length || begin > encoding->length - count)
    (void)rs_fail(&err, RS_INPUT, "%zu tokens from %zu are not among %zu", count, begin, encoding->length);
  else if (count > 0)
    (void)rs_encoding_embed(encoding, begin, count, out, &err);
  return rs_api_end(err.status, error, &err, NULL);
}
