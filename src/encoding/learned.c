/* What training may change of an encoding: the arrays of its stages, in the order embedding,
 * frequencies, bias, vectors of distance, logit scale. */
#include "kinds.h"

#include <string.h>

static bool embedding_learns(const rs_encoding *encoding) {
  const rs_embed_kind *kind = encoding->method->embed;
  return kind != NULL && kind->learned_rows != NULL;
}

/* The stages whose arrays these are. */
enum { EMBEDDING, FREQUENCIES, BIAS, VECTORS, LOGIT_SCALE, STAGES };

/* The arrays of stage s end before number ends[s]. */
static void list_arrays(const rs_encoding *encoding, rs_learned out[RS_LEARNED], size_t ends[STAGES]) {
  const rs_method *method = encoding->method;
  const rs_embed_kind *embed = method->embed;
  const void *state = encoding->embed_state;
  size_t count = 0;
  if (embedding_learns(encoding))
    out[count++] = (rs_learned){"embed.table", embed->learned_rows(state),
                                embed->learned_columns != NULL ? embed->learned_columns(state) : encoding->width};
  ends[EMBEDDING] = count;
  ends[FREQUENCIES] = count += rs_mixed_learned(encoding, out + count);
  if (method->bias != NULL && method->bias->learned != NULL)
    count += method->bias->learned(encoding->bias_state, out + count);
  ends[BIAS] = count;
  if (method->vectors != NULL) count += method->vectors->learned(encoding->vector_state, out + count);
  ends[VECTORS] = count;
  if (encoding->head_scale != NULL) out[count++] = (rs_learned){"logit_scale", 1, encoding->heads};
  ends[LOGIT_SCALE] = count;
}

/* The first array of a stage. */
static size_t first_of(const rs_encoding *encoding, size_t stage) {
  rs_learned arrays[RS_LEARNED];
  size_t ends[STAGES];
  list_arrays(encoding, arrays, ends);
  return ends[stage - 1];
}

size_t rs_encoding_learned(const rs_encoding *encoding, rs_learned out[RS_LEARNED]) {
  size_t ends[STAGES];
  list_arrays(encoding, out, ends);
  return ends[LOGIT_SCALE];
}

/* Where array `which` stands, of *size numbers of *stage, whose arrays stand one behind the other. NULL: it is the
 * embedding's. */
static double *array_at(const rs_encoding *encoding, size_t which, size_t *stage, size_t *size) {
  double *const starts[STAGES] = {NULL, encoding->mixed, encoding->bias_table, encoding->vector_table,
                                  encoding->head_scale};
  rs_learned arrays[RS_LEARNED];
  size_t ends[STAGES];
  list_arrays(encoding, arrays, ends);
  *size = arrays[which].rows * arrays[which].columns;
  for (*stage = EMBEDDING; which >= ends[*stage];) ++*stage;
  double *start = starts[*stage];
  for (size_t i = *stage > 0 ? ends[*stage - 1] : 0; i < which && start != NULL; i++)
    start += arrays[i].rows * arrays[i].columns;
  return start;
}

void rs_encoding_learned_get(const rs_encoding *encoding, size_t which, double *values) {
  size_t size, stage;
  const double *from = array_at(encoding, which, &stage, &size);
  if (from != NULL)
    memcpy(values, from, size * sizeof *values);
  else
    encoding->method->embed->learned_get(encoding->embed_state, values);
}

rs_status rs_encoding_learned_room(rs_encoding *encoding, rs_err *err) {
  const rs_embed_kind *kind = encoding->method->embed;
  return kind != NULL && kind->learned_room != NULL ? kind->learned_room(encoding->embed_state, err) : RS_OK;
}

static void follow_frequencies(rs_encoding *encoding) {
  rs_mixed_lengths(encoding);
  rs_frequencies_settle(encoding);
  rs_mixed_move(encoding);
}

void rs_encoding_learned_set(rs_encoding *encoding, size_t which, const double *values) {
  size_t size, stage;
  double *to = array_at(encoding, which, &stage, &size);
  if (to == NULL) {
    encoding->method->embed->learned_set(encoding->embed_state, values);
    return;
  }
  memcpy(to, values, size * sizeof *values);
  if (stage == FREQUENCIES)
    follow_frequencies(encoding);
  else if (stage == BIAS && encoding->method->bias->learned_changed != NULL)
    encoding->method->bias->learned_changed(encoding->bias_state);
}

void rs_encoding_bias_gradient(const rs_encoding *encoding, size_t head, size_t query, size_t begin, size_t end,
                               const double *gradient, double *const *learned) {
  const rs_bias_kind *kind = encoding->method->bias;
  if (kind == NULL || kind->gradient == NULL) return;
  learned += first_of(encoding, BIAS);
  kind->gradient(encoding->bias_state, head, query, begin, end, gradient, learned);
}

void rs_encoding_embed_gradient(const rs_encoding *encoding, size_t begin, size_t count, const double *gradient,
                                double *const *learned) {
  if (embedding_learns(encoding))
    encoding->method->embed->gradient(encoding->embed_state, begin, count, gradient, learned[0]);
}

bool rs_encoding_turns_learned(const rs_encoding *encoding) {
  rs_learned arrays[RS_LEARNED];
  return rs_mixed_learned(encoding, arrays) > 0;
}

void rs_encoding_turn_gradient(const rs_encoding *encoding, size_t head, size_t begin, size_t end,
                               const double *gradient, double *const *learned) {
  if (rs_encoding_turns_learned(encoding))
    rs_mixed_gradient(encoding, head, begin, end, gradient, learned + embedding_learns(encoding));
}

void rs_encoding_vectors_gradient(const rs_encoding *encoding, const rs_vector_gradients *by, double *const *learned) {
  const rs_vector_kind *kind = encoding->method->vectors;
  if (kind != NULL) kind->gradient(encoding->vector_state, by, learned + first_of(encoding, VECTORS));
}

double rs_encoding_head_scale(const rs_encoding *encoding, size_t head) {
  return encoding->head_scale != NULL ? encoding->head_scale[head] : 1;
}

/* ---- tables on grids --------------------------------------------------------------------------------------------- */

/* The recipe's table_grid where it is left to the pictures, else NULL. */
static rs_value *open_grid(const rs_recipe *recipe, const rs_param **param) {
  int index = rs_settings_find(&recipe->settings, "table_grid");
  if (index < 0 || recipe->settings.values[index].choice != RS_GRID_OWN) return NULL;
  *param = recipe->settings.params[index];
  return &recipe->settings.values[index];
}

rs_status rs_recipe_fix(rs_recipe *recipe, const rs_encoding *encoding, rs_err *err) {
  const rs_embed_kind *embed = encoding->method->embed;
  const rs_bias_kind *bias = encoding->method->bias;
  const rs_param *param;
  rs_value *value = open_grid(recipe, &param);
  size_t rows, columns;
  if (value == NULL) return RS_OK;
  if (embed != NULL && embed->grid != NULL)
    embed->grid(encoding->embed_state, &rows, &columns);
  else if (bias != NULL && bias->grid != NULL)
    bias->grid(encoding->bias_state, &rows, &columns);
  else
    return RS_OK;
  return rs_value_list(param, (double[]){(double)rows, (double)columns}, 2, value, err);
}

rs_status rs_recipe_follow(rs_recipe *recipe, const rs_recipe *trained, rs_err *err) {
  const rs_param *param;
  rs_value *value = open_grid(recipe, &param);
  const rs_value *fixed = rs_setting(&trained->settings, "table_grid");
  bool same = recipe->method->embed == trained->method->embed && recipe->method->bias == trained->method->bias;
  if (value == NULL || !same || fixed->list == NULL) return RS_OK;
  return rs_value_list(param, fixed->list, fixed->count, value, err);
}
