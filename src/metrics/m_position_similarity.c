/* How alike two positions look: the picture of a position table that ViT shows (arXiv:2010.11929, figure 7, middle) and
 * Wang and Chen studied for text ("What do position embeddings learn?", arXiv:2010.04903). With an additive embedding
 * the cosine of the angle between the two vectors; for a method that only rotates, and sees all through one view, the
 * mean cosine of the turns between the two positions. */
#include "metric_list.h"

#include <math.h>
#include <stdlib.h>

enum { REFERENCES = 5, ALL_OF = 1024 }; /* positions that are references unasked; of so many all may be */
enum { MATRIX = 512 };                  /* rows, and columns, of the matrix of all; of more, some are taken evenly */
enum { SIDE = 128 };                    /* rows, and columns, of a picture that are compared; more are sampled evenly */
enum {
  SEQUENCE = 1024
}; /* up to so many tokens of a sequence are all compared; of more, those at log-spaced distances */
enum { PER_OCTAVE = 16 };
enum { ANCHORS = 1024 }; /* positions whose neighbours are compared */

typedef enum reference_word { EDGES, EVERY_ONE, REFERENCE_WORDS } reference_word;

static const char *const reference_words[REFERENCE_WORDS + 1] = {[EDGES] = "edges", [EVERY_ONE] = "all"};

typedef struct params {
  rs_real_list references; /* row, column, row, column, ...; or a reference_word */
} params;

static rs_status check(const rs_binding *binding, rs_err *err) {
  const params *p = binding->fields;
  size_t offset = offsetof(params, references);
  if (p->references.count % 2 != 0)
    return rs_binding_fail(binding, offset, err, "must be a list of [row, column], as [[0, 0], [6, 7]]");
  for (size_t i = 0; i < p->references.count; i++)
    if (p->references.list[i] != floor(p->references.list[i]))
      return rs_binding_fail(binding, offset, err, "lists %g, which is no row or column", p->references.list[i]);
  return RS_OK;
}

/* ---- one pair ---------------------------------------------------------------------------------------------------- */

typedef struct comparer {
  const rs_encoding *encoding;
  double *a, *b; /* (width,) embeddings; NULL without. Owned. */
  bool able;
} comparer;

static bool only_rotates(const rs_encoding *encoding) {
  const rs_method *method = encoding->method;
  return method->freq != NULL && method->embed == NULL && method->bias == NULL && encoding->views == 1 &&
         encoding->gain_q[0] == NULL;
}

static rs_status comparer_open(const rs_encoding *encoding, comparer *c, rs_err *err) {
  bool embedded = encoding->method->embed != NULL;
  *c = (comparer){.encoding = encoding, .able = embedded || only_rotates(encoding)};
  if (!embedded) return RS_OK;
  c->a = rs_alloc(encoding->width, sizeof *c->a, err);
  c->b = rs_alloc(encoding->width, sizeof *c->b, err);
  return c->a != NULL && c->b != NULL ? RS_OK : RS_MEMORY;
}

static void comparer_close(comparer *c) {
  free(c->a);
  free(c->b);
}

/* NaN where one of them is zero. */
static double cosine_of(const double *a, const double *b, size_t count) {
  double ab = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < count; i++) {
    ab += a[i] * b[i];
    aa += a[i] * a[i];
    bb += b[i] * b[i];
  }
  return aa > 0 && bb > 0 ? fmin(fmax(ab / (sqrt(aa) * sqrt(bb)), -1), 1) : NAN;
}

/* The token the next comparisons are with. */
static rs_status hold(comparer *c, size_t token, rs_err *err) {
  return c->a != NULL ? rs_encoding_embed(c->encoding, token, 1, c->a, err) : RS_OK;
}

static rs_status compare(comparer *c, size_t held, size_t token, double *similarity, rs_err *err) {
  if (c->a == NULL) {
    *similarity = rs_encoding_mean_cosine(c->encoding, held, token);
    return RS_OK;
  }
  RS_TRY(rs_encoding_embed(c->encoding, token, 1, c->b, err));
  *similarity = cosine_of(c->a, c->b, c->encoding->width);
  return RS_OK;
}

/* ---- the curve --------------------------------------------------------------------------------------------------- */

typedef struct survey {
  comparer compare;
  rs_position_set set;
  size_t reference, *edges, bins; /* edges: distances, for long sequences */
  rs_curve *curve;
  rs_moments others;
} survey;

/* The corners and the centre of a picture; the ends and the middle of a sequence. Each once. */
static size_t natural_references(const rs_position_set *set, size_t out[REFERENCES]) {
  size_t right = set->columns - 1, down = set->rows > 0 ? (set->rows - 1) * set->columns : 0, used = 0;
  const size_t corners[] = {0, right, set->rows / 2 * set->columns + set->columns / 2, down, down + right};
  const size_t ends[] = {0, set->count / 2, set->count - 1};
  size_t count = set->rows > 0 ? RS_COUNT(corners) : RS_COUNT(ends);
  for (size_t i = 0; i < count; i++) {
    size_t place = set->rows > 0 ? corners[i] : ends[i];
    bool known = false;
    for (size_t k = 0; k < used; k++) known |= out[k] == set->begin + place;
    if (!known) out[used++] = set->begin + place;
  }
  return used;
}

static size_t count_references(const params *p, const rs_position_set *set) {
  size_t natural[REFERENCES];
  if (p->references.word == EVERY_ONE) return set->count;
  return p->references.list != NULL ? p->references.count / 2 : natural_references(set, natural);
}

/* RS_DOMAIN where positions have not all references, or too many. */
static rs_status check_references(const params *p, const rs_position_set *set, rs_err *err) {
  size_t rows = set->rows > 0 ? set->rows : 1, columns = set->rows > 0 ? set->columns : set->count;
  if (p->references.word == EVERY_ONE && set->count > ALL_OF)
    return rs_fail(err, RS_DOMAIN, "references: all is for up to %d positions, not %zu (list some)", ALL_OF,
                   set->count);
  for (size_t i = 0; i + 1 < p->references.count; i += 2) {
    const double *place = p->references.list + i;
    if (place[0] >= (double)rows || place[1] >= (double)columns)
      return rs_fail(err, RS_DOMAIN, "references: [%g, %g] is outside of %zu x %zu positions ([0, 0] to [%zu, %zu])",
                     place[0], place[1], rows, columns, rows - 1, columns - 1);
  }
  return RS_OK;
}

static rs_status fit(const void *given, const rs_curve_in *in, rs_err *err) {
  const rs_position_set set = rs_positions_of(in->tokens, in->length);
  rs_err why = {0};
  if (check_references(given, &set, &why) == RS_OK) return RS_OK;
  return rs_fail(err, RS_INPUT, "a cell of %zu tokens cannot have: %s", in->length, why.message);
}

/* The token of reference number i. */
static size_t find_reference(const params *p, const rs_position_set *set, size_t i) {
  size_t natural[REFERENCES], columns = set->rows > 0 ? set->columns : set->count;
  const double *place = p->references.list + 2 * i;
  if (p->references.word == EVERY_ONE) return set->begin + i;
  if (p->references.list != NULL) return set->begin + (size_t)place[0] * columns + (size_t)place[1];
  (void)natural_references(set, natural);
  return natural[i];
}

static rs_status add(survey *s, size_t token, rs_err *err) {
  size_t place = token - s->set.begin;
  bool picture = s->set.rows > 0;
  double row[] = {(double)s->reference, (double)token, picture ? (double)(place / s->set.columns) : NAN,
                  picture ? (double)(place % s->set.columns) : NAN, NAN};
  RS_TRY(compare(&s->compare, s->reference, token, &row[4], err));
  if (token != s->reference && !isnan(row[4])) rs_moments_add(&s->others, row[4]);
  return rs_curve_add(s->curve, row, err);
}

static rs_status add_picture(survey *s, rs_err *err) {
  size_t rows = s->set.rows < SIDE ? s->set.rows : SIDE, columns = s->set.columns < SIDE ? s->set.columns : SIDE;
  for (size_t i = 0; i < rows * columns; i++) {
    size_t y = rs_even_sample(i / columns, SIDE, s->set.rows), x = rs_even_sample(i % columns, SIDE, s->set.columns);
    RS_TRY(add(s, s->set.begin + y * s->set.columns + x, err));
  }
  return RS_OK;
}

/* Ascending: from the farthest before the reference to the farthest after it. */
static rs_status add_sequence(survey *s, rs_err *err) {
  size_t here = s->reference, end = s->set.count;
  for (size_t n = 0; n < end && s->edges == NULL; n++) RS_TRY(add(s, n, err));
  for (size_t b = s->bins; b-- > 0;)
    if (s->edges[b] > 0 && s->edges[b] <= here) RS_TRY(add(s, here - s->edges[b], err));
  for (size_t b = 0; b < s->bins; b++)
    if (here + s->edges[b] < end) RS_TRY(add(s, here + s->edges[b], err));
  return RS_OK;
}

static rs_status add_references(survey *s, const params *p, rs_err *err) {
  size_t count = count_references(p, &s->set);
  RS_TRY(check_references(p, &s->set, err));
  if (s->set.rows == 0 && s->set.count > SEQUENCE)
    RS_TRY(rs_log_edges(s->set.count, PER_OCTAVE, &s->edges, &s->bins, err));
  for (size_t i = 0; i < count; i++) {
    s->reference = find_reference(p, &s->set, i);
    RS_TRY(hold(&s->compare, s->reference, err));
    RS_TRY(s->set.rows > 0 ? add_picture(s, err) : add_sequence(s, err));
  }
  return RS_OK;
}

/* ---- neighbours -------------------------------------------------------------------------------------------------- */

/* Adds the position `step` further, of which the anchor at `place` has one if `inside`. */
static rs_status add_neighbour(survey *s, size_t place, size_t step, bool inside, rs_moments *moments, rs_err *err) {
  double similarity;
  if (!inside) return RS_OK;
  RS_TRY(compare(&s->compare, s->set.begin + place, s->set.begin + place + step, &similarity, err));
  if (!isnan(similarity)) rs_moments_add(moments, similarity);
  return RS_OK;
}

static rs_status visit_neighbours(survey *s, rs_moments *next, rs_moments *below, rs_err *err) {
  const rs_position_set *set = &s->set;
  size_t columns = set->rows > 0 ? set->columns : set->count;
  size_t anchors = set->count < ANCHORS ? set->count : ANCHORS;
  for (size_t i = 0; i < anchors; i++) {
    size_t place = rs_even_sample(i, ANCHORS, set->count);
    RS_TRY(hold(&s->compare, set->begin + place, err));
    RS_TRY(add_neighbour(s, place, 1, place % columns + 1 < columns, next, err));
    RS_TRY(add_neighbour(s, place, columns, place + columns < set->count, below, err));
  }
  return RS_OK;
}

static rs_status finish(const rs_metric_in *in, const void *state, rs_result *result, rs_err *err) {
  (void)state;
  survey s = {.set = rs_positions_of(&in->encoding->tokens, in->encoding->length), .curve = &result->curve};
  rs_moments next = {0}, below = {0};
  rs_status status = comparer_open(in->encoding, &s.compare, err);
  if (status == RS_OK && s.compare.able) status = add_references(&s, in->params, err);
  if (status == RS_OK && s.compare.able) status = visit_neighbours(&s, &next, &below, err);
  result->value[0] = rs_moments_mean(&next);
  result->value[1] = rs_moments_mean(&below);
  result->value[2] = rs_moments_mean(&s.others);
  comparer_close(&s.compare);
  free(s.edges);
  return status;
}

static size_t curve_rows(const void *given, const rs_curve_in *in) {
  const rs_position_set set = rs_positions_of(in->tokens, in->length);
  size_t count = count_references(given, &set);
  size_t rows = set.rows < SIDE ? set.rows : SIDE, columns = set.columns < SIDE ? set.columns : SIDE;
  if (set.rows > 0) return count * rows * columns;
  return count * (set.count > SEQUENCE ? 2 * rs_log_bins(set.count, PER_OCTAVE) : set.count);
}

static const rs_param specs[] = {
    {RS_FIELD(params, references), .unit = "", RS_WORDS(reference_words), .min = 0, .max = 1e9, .fallback = "edges",
     .tuple = 2,
     .summary = "what all others are compared with: [row, column] each (of a sequence, row 0); edges: corners and "
                "centre, or ends and middle; all: each, of up to 1024"},
};

static const rs_column scalars[] = {
    RS_COLUMN("neighbour_similarity", "1",
              "mean similarity of a position and the next; in a picture, of patches one column apart"),
    RS_COLUMN("row_neighbour_similarity", "1", "mean similarity of patches one row apart; empty without a picture"),
    RS_COLUMN("mean_similarity", "1",
              "mean similarity of the curve's references and all they are compared with but themselves"),
};

static const rs_column curve[] = {
    RS_COLUMN("reference_token", "", "what the others are compared with", .integer = true, .map = RS_MAP_PANEL),
    RS_COLUMN("token", "", "the other", .integer = true, .map = RS_MAP_MARK),
    RS_COLUMN("row", "", "its row in the picture; empty in a sequence", .integer = true, .map = RS_MAP_Y),
    RS_COLUMN("column", "", "its column in the picture; empty in a sequence", .integer = true, .map = RS_MAP_X),
    RS_COLUMN(
        "similarity", "1",
        "cosine between the embeddings of two positions; without an embedding, mean cosine of the turns between them"),
};

const rs_metric_kind rs_metric_position_similarity = {
    .kind = {.name = "position_similarity",
             .summary = "how alike positions look: the first frame of the first picture, else the sequence",
             .reference = "ViT, arXiv:2010.11929, figure 7; Wang and Chen, arXiv:2010.04903",
             RS_KIND(specs, params)},
    .check = check,
    .fit = fit,
    RS_SCALARS(scalars),
    RS_CURVE(curve, 4),
    .curve_rows = curve_rows,
    .finish = finish,
};

/* ---- all with all ------------------------------------------------------------------------------------------------ */

static size_t matrix_side(const rs_position_set *set) {
  return set->count < MATRIX ? set->count : MATRIX;
}

static rs_status add_matrix(comparer *compared, const rs_position_set *set, rs_result *result, rs_err *err) {
  size_t side = matrix_side(set);
  rs_moments others = {0};
  for (size_t i = 0; i < side; i++) {
    size_t a = set->begin + rs_even_sample(i, MATRIX, set->count);
    RS_TRY(hold(compared, a, err));
    for (size_t k = 0; k < side; k++) {
      size_t b = set->begin + rs_even_sample(k, MATRIX, set->count);
      double row[] = {(double)a, (double)b, NAN};
      RS_TRY(compare(compared, a, b, &row[2], err));
      if (a != b && !isnan(row[2])) rs_moments_add(&others, row[2]);
      RS_TRY(rs_curve_add(&result->curve, row, err));
    }
  }
  result->value[0] = rs_moments_mean(&others);
  return RS_OK;
}

static rs_status finish_matrix(const rs_metric_in *in, const void *state, rs_result *result, rs_err *err) {
  (void)state;
  const rs_position_set set = rs_positions_of(&in->encoding->tokens, in->encoding->length);
  comparer compared;
  result->value[0] = NAN;
  rs_status status = comparer_open(in->encoding, &compared, err);
  if (status == RS_OK && compared.able) status = add_matrix(&compared, &set, result, err);
  comparer_close(&compared);
  return status;
}

static size_t matrix_rows(const void *given, const rs_curve_in *in) {
  (void)given;
  const rs_position_set set = rs_positions_of(in->tokens, in->length);
  return matrix_side(&set) * matrix_side(&set);
}

static const rs_column matrix_scalars[] = {
    RS_COLUMN("matrix_similarity", "1", "mean similarity of all pairs of different positions"),
};

static const rs_column matrix_curve[] = {
    RS_COLUMN("token", "", "a position; those of a picture row by row", .integer = true, .map = RS_MAP_Y),
    RS_COLUMN("other_token", "", "another", .integer = true, .map = RS_MAP_X),
    RS_COLUMN(
        "similarity", "1",
        "cosine between the embeddings of two positions; without an embedding, mean cosine of the turns between them"),
};

const rs_metric_kind rs_metric_similarity_matrix = {
    .kind = {.name = "similarity_matrix",
             .summary = "how alike all positions are, each with each (up to 512, else some): of the first frame of the "
                        "first picture, else the sequence",
             .reference = "Wang and Chen, arXiv:2010.04903; ViT, arXiv:2010.11929, figure 7"},
    RS_SCALARS(matrix_scalars),
    RS_CURVE(matrix_curve, 2),
    .curve_rows = matrix_rows,
    .finish = finish_matrix,
};
