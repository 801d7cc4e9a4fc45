/* Queries and keys that a model had elsewhere, from files: behind its projections and norms, before rotation or turned
 * back from it. Rows stay in their files, which are mapped, until they are asked for. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attention/sources.h"

typedef enum axis_order { ORDER_AUTO, ORDER_LHD, ORDER_HLD, ORDERS } axis_order;

typedef struct params {
  const char *q, *k;
  rs_name q_name, k_name;
  axis_order layout;
  rs_recipe_or_word rotated;
  size_t rotated_from;
  rs_format rotated_precision;
  double score_scale, soft_cap;
  const char *sinks;
  rs_name sinks_name;
} params;

/* Rows of every head in one file. */
typedef struct dump {
  rs_tensor_file file;
  size_t tokens, heads, dims;
  size_t token_step, head_step; /* numbers from one to the next */
} dump;

typedef struct state {
  dump q, k;
  size_t q_first, k_first; /* where the rows of the head begin */
  rs_encoding *turned;     /* how rows were rotated from position `from` on; NULL: they were not */
  size_t from;
  double *turns; /* (threads, 2, RS_STEPS, R/2) */
  double factor; /* multiplies queries: what scores are scaled by in place of 1/sqrt(D), times sqrt(D) */
  rs_score_rule rule;
} state;

/* What results call a file: they name no folders. */
static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash != NULL ? slash + 1 : path;
}

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

/* The last three extents; false where there are fewer, or any but 1 before them (a batch of one). */
static bool find_extents(const rs_stored_tensor *tensor, size_t extents[3]) {
  size_t before = tensor->rank < 3 ? 0 : tensor->rank - 3;
  for (size_t i = 0; i < before; i++)
    if (tensor->shape[i] != 1) return false;
  memcpy(extents, tensor->shape + before, 3 * sizeof *extents);
  return tensor->rank >= 3;
}

static void lay_out(dump *rows, axis_order order, const size_t extents[3]) {
  bool tokens_first = order == ORDER_LHD;
  rows->tokens = extents[tokens_first ? 0 : 1];
  rows->heads = extents[tokens_first ? 1 : 0];
  rows->dims = extents[2];
  rows->token_step = tokens_first ? rows->heads * rows->dims : rows->dims;
  rows->head_step = tokens_first ? rows->dims : rows->tokens * rows->dims;
}

/* The shapes that queries may have. */
static void describe(axis_order order, size_t heads, size_t dims, char *out, size_t size) {
  if (order == ORDER_LHD)
    snprintf(out, size, "(tokens, %zu, %zu)", heads, dims);
  else if (order == ORDER_HLD)
    snprintf(out, size, "(%zu, tokens, %zu)", heads, dims);
  else
    snprintf(out, size, "(tokens, %zu, %zu) or (%zu, tokens, %zu)", heads, dims, heads, dims);
}

/* What to do with a tensor that has no axis of heads; "" where it has one. */
static const char *axis_hint(const rs_stored_tensor *tensor, size_t dims) {
  if (tensor->rank != 2) return "";
  if (tensor->shape[1] == dims)
    return " (it has no axis of heads: for one head, save q[:, None], whose model has heads: 1)";
  return tensor->shape[1] % dims == 0 ? " (it has no axis of heads: save q.reshape(tokens, heads, dims), layout: lhd)"
                                      : "";
}

static rs_status place_queries(const params *p, size_t heads, size_t dims, dump *q, axis_order *order, rs_err *err) {
  size_t extents[3];
  char found[RS_SHAPE_CHARS], wanted[160];
  bool fits = find_extents(&q->file.tensor, extents) && extents[2] == dims;
  bool lhd = fits && p->layout != ORDER_HLD && extents[1] == heads;
  bool hld = fits && p->layout != ORDER_LHD && extents[0] == heads;
  if (lhd && hld)
    return rs_fail_on(err, RS_INPUT, "layout", "must be given: %s has as many tokens as heads, %zu (lhd: tokens first)",
                      base_name(p->q), heads);
  *order = lhd ? ORDER_LHD : ORDER_HLD;
  if (lhd || hld) {
    lay_out(q, *order, extents);
    return RS_OK;
  }
  rs_shape_text(q->file.tensor.shape, q->file.tensor.rank, found);
  describe(p->layout, heads, dims, wanted, sizeof wanted);
  return rs_fail_on(err, RS_INPUT, "q", "%s: has shape %s, the model has %zu heads of %zu: wanted %s%s",
                    base_name(p->q), found, heads, dims, wanted, axis_hint(&q->file.tensor, dims));
}

/* As the queries are laid out; several heads of queries may share one of keys. */
static rs_status place_keys(const params *p, const dump *q, axis_order order, dump *k, rs_err *err) {
  size_t extents[3];
  char found[RS_SHAPE_CHARS], wanted[80];
  if (find_extents(&k->file.tensor, extents)) {
    lay_out(k, order, extents);
    if (k->tokens == q->tokens && k->dims == q->dims && k->heads > 0 && q->heads % k->heads == 0) return RS_OK;
  }
  rs_shape_text(k->file.tensor.shape, k->file.tensor.rank, found);
  snprintf(wanted, sizeof wanted, order == ORDER_LHD ? "(%zu, heads, %zu)" : "(heads, %zu, %zu)", q->tokens, q->dims);
  return rs_fail_on(err, RS_INPUT, "k", "%s: has shape %s, wanted %s, where heads divide the queries' %zu%s",
                    base_name(p->k), found, wanted, q->heads, axis_hint(&k->file.tensor, q->dims));
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static rs_status map_rows(const char *path, rs_name name, dump *rows, rs_err *err) {
  RS_TRY(rs_tensor_file_map(path, name.text, &rows->file, err));
  rows->file.tensor.file = base_name(rows->file.tensor.file);
  return rs_stored_doubles(&rows->file.tensor, 0, 0, NULL, err); /* of a type that can be read */
}

static void release(void *memory) {
  state *s = memory;
  rs_tensor_file_clear(&s->q.file);
  rs_tensor_file_clear(&s->k.file);
  rs_encoding_free(s->turned);
  free(s->turns);
}

/* The learned sink of one head; of heads 0 .. heads - 1 there is one each. */
static rs_status read_sink(const params *p, size_t head, size_t heads, double *sink, rs_err *err) {
  RS_OWNED(rs_tensor_file) file = {0};
  char found[RS_SHAPE_CHARS];
  RS_TRY(rs_tensor_file_map(p->sinks, p->sinks_name.text, &file, err));
  file.tensor.file = base_name(file.tensor.file);
  size_t count = 1;
  for (size_t i = 0; i < file.tensor.rank; i++) count *= file.tensor.shape[i];
  rs_shape_text(file.tensor.shape, file.tensor.rank, found);
  return count != heads ? rs_fail_on(err, RS_INPUT, "sinks", "%s: has shape %s, the model has %zu heads",
                                     base_name(p->sinks), found, heads)
                        : rs_stored_doubles(&file.tensor, head, 1, sink, err);
}

/* Both files, for a model of so many heads. To be released, also after a failure. */
static rs_status map_both(const params *p, size_t heads, size_t dims, state *s, rs_err *err) {
  axis_order order;
  if (p->q == NULL) return rs_fail_on(err, RS_INPUT, "q", "must be given: the file of queries");
  if (p->k == NULL) return rs_fail_on(err, RS_INPUT, "k", "must be given: the file of keys");
  RS_TRY(map_rows(p->q, p->q_name, &s->q, err));
  RS_TRY(map_rows(p->k, p->k_name, &s->k, err));
  RS_TRY(place_queries(p, heads, dims, &s->q, &order, err));
  return place_keys(p, &s->q, order, &s->k, err);
}

static rs_status check(const rs_binding *binding, rs_err *err) {
  static const char why[] = "has no effect with rotated: no (leave it out, or say what has turned the rows)";
  const params *p = binding->fields;
  if (p->rotated.word != RS_ROTATED_NOT) return RS_OK;
  if (p->rotated_from > 0) return rs_binding_fail(binding, offsetof(params, rotated_from), err, "%s", why);
  if (p->rotated_precision == RS_F64) return RS_OK;
  return rs_binding_fail(binding, offsetof(params, rotated_precision), err, "%s", why);
}

/* RS_UNSUPPORTED, with the reason, for a method whose rows cannot be turned back; RS_INPUT for one that turns none. */
static rs_status check_turned(const rs_recipe *recipe, rs_err *err) {
  const rs_method *method = recipe->method;
  if (method->embed != NULL)
    return rs_fail(err, RS_UNSUPPORTED,
                   "%s adds its table to the tokens, before anything is projected: what it has put on queries and keys "
                   "cannot be told from the rest",
                   method->name);
  if (method->freq == NULL)
    return rs_fail(err, RS_INPUT, "%s turns nothing: the rows are as they were (rotated: no)", method->name);
  if (method->pos->views > 1)
    return rs_fail(err, RS_UNSUPPORTED, "%s turns each row in %zu ways: one dump cannot hold them", method->name,
                   method->pos->views);
  return RS_OK;
}

static rs_status fit(const rs_binding *binding, const rs_model *model, const rs_recipe *rotated, rs_err *err) {
  state s = {0};
  const params *p = binding->fields;
  rs_err why = {0};
  double sink;
  if (rotated != NULL && check_turned(rotated, &why) != RS_OK)
    return rs_fail_on(err, why.status, "rotated", "%s", why.message);
  rs_status status = map_both(p, model->heads, model->head_dim, &s, err);
  if (status == RS_OK && p->sinks != NULL) status = read_sink(p, 0, model->heads, &sink, err);
  release(&s);
  return status;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static rs_status read_row(const dump *rows, size_t first, size_t token, double *out, rs_err *err) {
  return rs_stored_doubles(&rows->file.tensor, first + token * rows->token_step, rows->dims, out, err);
}

/* That all numbers of the head can be read, and are finite, up to the length. */
static rs_status check_rows(const dump *rows, size_t first, size_t length, double *row, rs_err *err) {
  for (size_t n = 0; n < length; n++) RS_TRY(read_row(rows, first, n, row, err));
  return RS_OK;
}

/* A layout speaks of the tokens of the config, which begin at 0. */
static rs_status prepare_back(const rs_source_in *in, const params *p, state *s, rs_err *err) {
  rs_format angles = p->rotated_precision == RS_F64 ? RS_F64 : RS_F32; /* 16 bits hold cosines, no program's angles */
  const rs_precision precision = {
      .positions = angles, .inv_freq = angles, .angle = angles, .table = p->rotated_precision};
  if (in->rotated == NULL) return RS_OK;
  if (p->rotated_from > 0 && in->tokens != NULL && in->tokens->count > 0)
    return rs_fail(err, RS_UNSUPPORTED, "rotated_from: is for text: the positions of `tokens` begin at the first row");
  s->from = p->rotated_from;
  RS_TRY(rs_encoding_create(in->rotated, in->model, s->from + s->q.tokens, in->tokens, &precision, &s->turned, err));
  s->turns = rs_alloc(rs_engine_threads() * RS_STEPS, s->turned->rotary_dim * sizeof *s->turns, err);
  return s->turns != NULL ? RS_OK : RS_MEMORY;
}

static rs_status find_head(const rs_source_in *in, const params *p, state *s, rs_err *err) {
  RS_TRY(map_both(p, in->heads, in->head_dim, s, err));
  if (in->length > s->q.tokens)
    return rs_fail(err, RS_DOMAIN, "%s: has %zu tokens, the length is %zu", base_name(p->q), s->q.tokens, in->length);
  s->q_first = in->head * s->q.head_step;
  s->k_first = in->head / (s->q.heads / s->k.heads) * s->k.head_step;
  RS_TRY(prepare_back(in, p, s, err));
  s->factor = p->score_scale != 0 ? p->score_scale * sqrt((double)in->head_dim) : 1;
  s->rule = (rs_score_rule){.soft_cap = p->soft_cap, .sinks = p->sinks != NULL};
  if (p->sinks != NULL) RS_TRY(read_sink(p, in->head, in->heads, &s->rule.learned_sink, err));
  RS_FREED double *row = rs_alloc(in->head_dim, sizeof *row, err);
  if (row == NULL) return RS_MEMORY;
  RS_TRY(check_rows(&s->q, s->q_first, in->length, row, err));
  return check_rows(&s->k, s->k_first, in->length, row, err);
}

static rs_status prepare(const rs_source_in *in, void *memory, rs_err *err) {
  rs_status status = find_head(in, in->params, memory, err);
  if (status != RS_OK) release(memory);
  return status;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* What rotated a row had a cosine c and a sine s for each pair, with amp and gains in them: (a, b) became (a c - b s,
 * a s + b c). The same turn by c / (c^2 + s^2) and -s / (c^2 + s^2) undoes it, whatever c and s were rounded to. */

/* At most RS_STEPS rows. */
static void turn_some(const state *s, rs_side side, size_t begin, size_t end, double *rows) {
  const rs_encoding *encoding = s->turned;
  rs_row_turn turn = {.rows = end - begin,
                      .width = encoding->head_dim,
                      .pairs = encoding->rotary_dim / 2,
                      .interleaved = encoding->pair_layout == RS_INTERLEAVED};
  size_t room = RS_STEPS * turn.pairs;
  double *cosine = s->turns + rs_engine_thread() * 2 * room, *sine = cosine + room;
  rs_encoding_turns(encoding, side, 0, s->from + begin, s->from + end, cosine, sine);
  for (size_t i = 0; i < turn.rows * turn.pairs; i++) {
    double squares = cosine[i] * cosine[i] + sine[i] * sine[i];
    cosine[i] /= squares;
    sine[i] /= -squares;
  }
  turn.cosine = cosine;
  turn.sine = sine;
  rs_kernels_get()->net_f64->turn_rows(&turn, rows, turn.width, rows, turn.width);
}

/* Rows [begin, end) of one head (end - begin, D) in place: exactly what rs_encoding_rotate_token did to each, amp and
 * gains divided out. Any thread, no allocation. */
static void turn_back(const state *s, rs_side side, size_t begin, size_t end, double *rows) {
  for (size_t n = begin; n < end; n += RS_STEPS) {
    size_t stop = n + RS_STEPS < end ? n + RS_STEPS : end;
    turn_some(s, side, n, stop, rows + (n - begin) * s->turned->head_dim);
  }
}

/* What is asked for here has been read once by prepare: it cannot fail. */
static void keys(const rs_source_in *in, size_t begin, size_t end, double *out) {
  const state *s = in->state;
  for (size_t n = begin; n < end; n++) (void)read_row(&s->k, s->k_first, n, out + (n - begin) * in->head_dim, NULL);
  if (s->turned != NULL) turn_back(s, RS_KEY_SIDE, begin, end, out);
}

static void query(const rs_source_in *in, size_t position, double *out) {
  const state *s = in->state;
  (void)read_row(&s->q, s->q_first, position, out, NULL);
  if (s->turned != NULL) turn_back(s, RS_QUERY_SIDE, position, position + 1, out);
  for (size_t d = 0; d < in->head_dim; d++) out[d] *= s->factor;
}

static rs_score_rule rule(const rs_source_in *in) {
  return ((const state *)in->state)->rule;
}

/* ---- the kind ---------------------------------------------------------------------------------------------------- */

/* "queries of q.npy", "queries layer1.q of dump.safetensors" */
static void put_rows(const char *what, const char *path, rs_name name, rs_text *out) {
  if (rs_is_npy(path))
    rs_text_printf(out, "%s of %s", what, base_name(path));
  else
    rs_text_printf(out, "%s %s of %s", what, name.text, base_name(path));
}

static void caption(const void *memory, size_t phrase, rs_text *out) {
  const params *p = memory;
  if (phrase == 0) put_rows("queries", p->q, p->q_name, out);
  if (phrase == 1) put_rows("keys", p->k, p->k_name, out);
  if (phrase != 2 || p->rotated.word == RS_ROTATED_NOT) return;
  rs_text_puts(out, p->rotated.method != NULL ? "turned back from " : "turned back from the published recipe");
  if (p->rotated.method != NULL) rs_entry_write(p->rotated.method, p->rotated.settings, out);
}

static const char *const order_words[ORDERS + 1] = {[ORDER_AUTO] = "auto", [ORDER_LHD] = "lhd", [ORDER_HLD] = "hld"};

static const char *const rotated_words[RS_ROTATED_WORDS + 1] = {
    [RS_ROTATED_NOT] = "no", [RS_ROTATED_AS_PUBLISHED] = "published"};

static const rs_param specs[] = {
    {RS_FIELD(params, q), .unit = "",
     .summary = "queries: a .npy file of floats, or safetensors (an index of their files, too)"},
    {RS_FIELD(params, k), .unit = "", .summary = "keys; of fewer heads where several heads of queries share one"},
    {RS_FIELD(params, q_name), .unit = "", .fallback = "q", .summary = "safetensors: the tensor of queries"},
    {RS_FIELD(params, k_name), .unit = "", .fallback = "k", .summary = "safetensors: the tensor of keys"},
    {RS_FIELD(params, layout), RS_WORDS(order_words), .unit = "", .fallback = "auto",
     .summary = "lhd: (tokens, heads, head_dim); hld: (heads, tokens, head_dim); auto: as the model's heads say"},
    {RS_FIELD(params, rotated), RS_WORDS(rotated_words), .unit = "", .fallback = "no",
     .summary = "the method that has turned the rows in the files, as in methods; published: that of the model; no: "
                "they are as before rotation. Rows are turned back first"},
    {RS_FIELD(params, rotated_from), .unit = "tokens", .min = 0, .max = 1 << 24, .fallback = "0",
     .summary = "position of the first row when it was turned: of the last part of a longer text"},
    {RS_FIELD(params, rotated_precision), RS_WORDS(rs_format_words), .unit = "", .fallback = "f64",
     .summary = "what cosines and sines were in; but for f64, angles were in f32 (so in Hugging Face's models)"},
    {RS_FIELD(params, score_scale), .unit = "1", .min = 0, .max = 1e6, .fallback = "0",
     .summary =
         "what q.k is multiplied by before the softmax (Gemma: query_pre_attn_scalar^-0.5); 0: 1/sqrt(head_dim)"},
    {RS_FIELD(params, soft_cap), .unit = "nats", .min = 0, .max = 1e6, .fallback = "0",
     .summary = "scores become cap tanh(score / cap) (Gemma-2: 50); 0: they do not"},
    {RS_FIELD(params, sinks), .unit = "",
     .summary = "learned sinks, one logit a head that takes weight and is no key (gpt-oss): a file as those above"},
    {RS_FIELD(params, sinks_name), .unit = "", .fallback = "sinks", .summary = "safetensors: the tensor of sinks"},
};

const rs_source_kind rs_source_tensors = {
    .kind = {.name = "tensors",
             .summary = "queries and keys of a real model, dumped to files",
             .reference = "whatever the model has computed",
             RS_KIND(specs, params)},
    .check = check,
    .fit = fit,
    .state_size = sizeof(state),
    .prepare = prepare,
    .release = release,
    .keys = keys,
    .query = query,
    .rule = rule,
    .caption = caption,
};
