/* The matrix M_k that carries the embedding of each position to that of the position k on, PE(n + k) = M_k PE(n), the
 * same for all n. Of sines and cosines it is a rotation of each pair by k omega: "for any fixed offset k, PE(pos + k)
 * can be represented as a linear function of PE(pos)", Vaswani et al., arXiv:1706.03762, section 3.5. A learned table
 * has none; the matrix nearest to one is fitted by least squares, and what it leaves says how far off the table is.
 *
 * A rotation of each pair is fitted as well: it turns by the angle of sum conj(x) y, x and y the pair as complex
 * numbers, and keeps lengths. */
#include "metric_list.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_linalg.h>
#include <math.h>

/* Products of a fit, rows times width^2: about a minute's. */
static const double most_products = 2e10;

/* The positions that are shifted: those of a grid that have another so many rows and columns on. */
typedef struct shifted {
  const rs_encoding *encoding;
  size_t begin, columns, down, across; /* columns of the grid; the shift */
  size_t wide;                         /* columns from which there is a shift */
} shifted;

static rs_status shifted_read(const shifted *s, size_t place, double *from, double *to, rs_err *err) {
  size_t token = s->begin + place / s->wide * s->columns + place % s->wide;
  RS_TRY(rs_encoding_embed(s->encoding, token, 1, from, err));
  return rs_encoding_embed(s->encoding, token + s->down * s->columns + s->across, 1, to, err);
}

/* How a shift of each is written. */
typedef struct examples {
  const char *sequence, *picture;
} examples;

/* Of a grid of positions; RS_DOMAIN where none has another so far on. */
static rs_status read_shift(const rs_position_set *set, const double *by, size_t count, examples as, shifted *s,
                            size_t *places, rs_err *err) {
  bool picture = set->rows > 0;
  const size_t grid[2] = {picture ? set->rows : 1, picture ? set->columns : set->count};
  const double shift[2] = {count == 2 ? by[0] : 0, by[count - 1]};
  if (count != (picture ? 2 : 1))
    return rs_fail(err, RS_DOMAIN,
                   picture ? "a picture is shifted by rows and columns, as in %s"
                           : "a sequence is shifted by one number of tokens, as in %s",
                   picture ? as.picture : as.sequence);
  for (size_t i = 0; i < 2; i++)
    if (!(shift[i] >= 0) || shift[i] != floor(shift[i]) || shift[i] >= (double)grid[i])
      return rs_fail(err, RS_DOMAIN, "a shift by %g leaves no two of %zu %s: choose a whole number below that",
                     shift[i], grid[i],
                     !picture ? "positions"
                     : i == 0 ? "rows"
                              : "columns");
  s->begin = set->begin;
  s->columns = grid[1];
  s->down = (size_t)shift[0];
  s->across = (size_t)shift[1];
  s->wide = grid[1] - s->across;
  *places = (grid[0] - s->down) * s->wide;
  return RS_OK;
}

/* ---- pairs of channels ------------------------------------------------------------------------------------------- */

/* Channels 2i and 2i + 1, or each cosine and its sine. */
static void pair_channels(const shifted *s, rs_embedding_shift *m) {
  rs_embed_wave wave;
  for (size_t c = 0; c < m->width; c++) {
    m->partner[c] = (c ^ 1) < m->width ? c ^ 1 : c;
    m->first[c] = c % 2 == 0;
  }
  for (size_t i = 0; rs_encoding_wave(s->encoding, i, &wave); i++) {
    m->partner[wave.channel] = wave.partner;
    m->first[wave.channel] = wave.cosine;
  }
}

/* out = the pair that channel c is of, turned: its number there. */
static double turn_channel(const rs_embedding_shift *m, size_t c, double cosine, double sine, const double *x) {
  return cosine * x[c] + (m->first[c] ? -sine : sine) * x[m->partner[c]];
}

/* The matrix of waves; false where a channel is none, or the sum of two that turn by different angles. */
static bool turn_waves(const shifted *s, rs_embedding_shift *m) {
  const double steps[RS_AXES] = {(double)(s->down * s->columns + s->across), (double)s->down, (double)s->across};
  rs_embed_wave wave, before = {.channel = SIZE_MAX};
  double turned = 0;
  if (!rs_encoding_wave(s->encoding, 0, &wave)) return false;
  for (size_t i = 0; rs_encoding_wave(s->encoding, i, &wave); i++) {
    double step = steps[wave.axis], cosine, sine, *row = m->matrix + wave.channel * m->width;
    if (wave.channel == before.channel && step * wave.omega != turned) return false;
    turned = step * wave.omega;
    before = wave;
    rs_cos_sin(step, wave.omega, &cosine, &sine);
    row[wave.channel] = cosine;
    row[wave.partner] = wave.cosine ? -sine : sine;
  }
  return true;
}

/* ---- the fit ----------------------------------------------------------------------------------------------------- */

/* Below this reciprocal condition number channels depend on each other. */
static const double least_rcond = 1e-12;

/* Positions, and what they are to become: rows of zeros stand behind where these are fewer than channels; they change
 * no fit. Row major. */
typedef struct fit {
  gsl_matrix_view from, to;           /* (rows, width) */
  gsl_matrix_view reflectors, square; /* (width, width) */
  gsl_vector_view work;               /* (3 width,) */
  gsl_permutation order;
} fit;

/* The least of several that fit alike, by a complete orthogonal decomposition of R: `to` holds Q^T PE(n + k). */
static rs_status solve_dependent(fit *f, gsl_matrix *matrix, size_t *rank, rs_err *err) {
  size_t width = matrix->size1;
  double *work = f->work.vector.data;
  gsl_vector_view tau_q = gsl_vector_view_array(work, width), tau_z = gsl_vector_view_array(work + width, width);
  gsl_vector_view more = gsl_vector_view_array(work + 2 * width, width);
  gsl_matrix *r = &f->square.matrix;
  for (size_t i = 0; i < width; i++)
    for (size_t j = 0; j < width; j++) gsl_matrix_set(r, i, j, j < i ? 0 : gsl_matrix_get(&f->from.matrix, i, j));
  int failed = gsl_linalg_COD_decomp(r, &tau_q.vector, &tau_z.vector, &f->order, rank, &more.vector);
  for (size_t c = 0; c < width && !failed && *rank > 0; c++) {
    gsl_vector_view to = gsl_matrix_subcolumn(&f->to.matrix, c, 0, width), row = gsl_matrix_row(matrix, c);
    failed = gsl_linalg_COD_lssolve(r, &tau_q.vector, &tau_z.vector, &f->order, *rank, &to.vector, &row.vector,
                                    &more.vector);
  }
  return rs_gsl(failed, "a least-squares matrix", err);
}

static rs_status solve(fit *f, gsl_matrix *matrix, size_t *rank, rs_err *err) {
  size_t width = matrix->size1;
  gsl_matrix *from = &f->from.matrix, *to = &f->to.matrix;
  gsl_matrix_view r = gsl_matrix_submatrix(from, 0, 0, width, width),
                  top = gsl_matrix_submatrix(to, 0, 0, width, width);
  double rcond = 0;
  int failed = gsl_linalg_QR_decomp_r(from, &f->reflectors.matrix);
  if (!failed) failed = gsl_linalg_QR_QTmat_r(from, &f->reflectors.matrix, to, &f->square.matrix);
  RS_TRY(rs_gsl(failed, "a least-squares matrix", err));
  failed = gsl_linalg_tri_rcond(CblasUpper, &r.matrix, &rcond, &f->work.vector);
  gsl_matrix_set_zero(matrix);
  if (failed || !(rcond > least_rcond)) return solve_dependent(f, matrix, rank, err);
  *rank = width;
  failed = gsl_blas_dtrsm(CblasLeft, CblasUpper, CblasNoTrans, CblasNonUnit, 1, &r.matrix, &top.matrix);
  if (!failed) failed = gsl_matrix_transpose_memcpy(matrix, &top.matrix);
  return rs_gsl(failed, "a least-squares matrix", err);
}

static rs_status fit_matrix(const shifted *s, rs_embedding_shift *m, rs_err *err) {
  RS_OWNED(rs_arena) arena = {0};
  size_t width = m->width, rows = m->places > width ? m->places : width;
  if ((double)rows * (double)width * (double)width > most_products)
    return rs_fail(err, RS_DOMAIN, "no matrix is fitted to %zu positions of %zu channels: choose a smaller length",
                   m->places, width);
  double *from = rs_arena_take(&arena, rows * width, sizeof *from),
         *to = rs_arena_take(&arena, rows * width, sizeof *to);
  double *squares = rs_arena_take(&arena, 2 * width * width, sizeof *squares);
  double *work = rs_arena_take(&arena, 3 * width, sizeof *work);
  size_t *order = rs_arena_take(&arena, width, sizeof *order);
  RS_TRY(rs_arena_check(&arena, err));
  for (size_t n = 0; n < m->places; n++) RS_TRY(shifted_read(s, n, from + n * width, to + n * width, err));
  fit f = {.from = gsl_matrix_view_array(from, rows, width),
           .to = gsl_matrix_view_array(to, rows, width),
           .reflectors = gsl_matrix_view_array(squares, width, width),
           .square = gsl_matrix_view_array(squares + width * width, width, width),
           .work = gsl_vector_view_array(work, 3 * width),
           .order = {width, order}};
  gsl_matrix_view matrix = gsl_matrix_view_array(m->matrix, width, width);
  return solve(&f, &matrix.matrix, &m->rank, err);
}

/* ---- how far off ------------------------------------------------------------------------------------------------- */

/* The angles of the best rotations: both channels of a pair have the pair's. */
static rs_status find_angles(const shifted *s, rs_embedding_shift *m, double *from, double *to, rs_err *err) {
  RS_OWNED(rs_arena) arena = {0};
  double *dot = rs_arena_take(&arena, m->width, sizeof *dot), *cross = rs_arena_take(&arena, m->width, sizeof *cross);
  RS_TRY(rs_arena_check(&arena, err));
  for (size_t n = 0; n < m->places; n++) {
    RS_TRY(shifted_read(s, n, from, to, err));
    for (size_t c = 0; c < m->width; c++) {
      size_t p = m->partner[c];
      dot[c] += from[c] * to[c] + from[p] * to[p];
      cross[c] += (m->first[c] ? 1 : -1) * (from[c] * to[p] - from[p] * to[c]);
    }
  }
  for (size_t c = 0; c < m->width; c++) m->angle[c] = m->partner[c] != c ? atan2(cross[c], dot[c]) : 0;
  return RS_OK;
}

static double carried(const rs_embedding_shift *m, size_t c, const double *from) {
  const double *row = m->matrix + c * m->width;
  double sum = 0;
  if (m->rotations) return row[c] * from[c] + row[m->partner[c]] * from[m->partner[c]];
  for (size_t i = 0; i < m->width; i++) sum += row[i] * from[i];
  return sum;
}

static rs_status find_errors(const shifted *s, rs_embedding_shift *m, double *from, double *to, rs_err *err) {
  rs_sum all = {0}, off = {0}, turned_off = {0};
  for (size_t n = 0; n < m->places; n++) {
    RS_TRY(shifted_read(s, n, from, to, err));
    for (size_t c = 0; c < m->width; c++) {
      double turned = turn_channel(m, c, cos(m->angle[c]), m->partner[c] != c ? sin(m->angle[c]) : 0, from);
      double error = to[c] - carried(m, c, from), turned_error = to[c] - turned;
      if (n == 0) m->turned[c] = turned;
      m->error[c] = fmax(m->error[c], fabs(error));
      m->turned_error[c] = fmax(m->turned_error[c], fabs(turned_error));
      rs_sum_add(&all, to[c] * to[c]);
      rs_sum_add(&off, error * error);
      rs_sum_add(&turned_off, turned_error * turned_error);
    }
  }
  for (size_t c = 0; c < m->width; c++) {
    m->largest_error = fmax(m->largest_error, m->error[c]);
    m->largest_turned_error = fmax(m->largest_turned_error, m->turned_error[c]);
  }
  m->residual = sqrt(rs_sum_total(&off) / rs_sum_total(&all));
  m->turned_residual = sqrt(rs_sum_total(&turned_off) / rs_sum_total(&all));
  return shifted_read(s, 0, m->from, m->to, err);
}

rs_status rs_embedding_shift_find(const rs_encoding *encoding, const double *by, size_t count, rs_embedding_shift *m,
                                  rs_err *err) {
  shifted s = {.encoding = encoding};
  size_t width = encoding->width;
  *m = (rs_embedding_shift){.width = width};
  const rs_position_set set = rs_positions_of(&encoding->tokens, encoding->length);
  RS_TRY(read_shift(&set, by, count, (examples){"1", "0,1"}, &s, &m->places, err));
  m->partner = rs_arena_take(&m->arena, width, sizeof *m->partner);
  m->first = rs_arena_take(&m->arena, width, sizeof *m->first);
  m->matrix = rs_arena_take(&m->arena, width * width, sizeof *m->matrix);
  double **const columns[] = {&m->angle, &m->error, &m->turned_error, &m->from, &m->to, &m->turned};
  for (size_t i = 0; i < RS_COUNT(columns); i++) *columns[i] = rs_arena_take(&m->arena, width, sizeof **columns[i]);
  double *from = rs_arena_take(&m->arena, width, sizeof *from), *to = rs_arena_take(&m->arena, width, sizeof *to);
  RS_TRY(rs_arena_check(&m->arena, err));
  pair_channels(&s, m);
  m->rotations = turn_waves(&s, m);
  if (!m->rotations) RS_TRY(fit_matrix(&s, m, err));
  RS_TRY(find_angles(&s, m, from, to, err));
  return find_errors(&s, m, from, to, err);
}

void rs_embedding_shift_clear(rs_embedding_shift *shift) {
  rs_arena_clear(&shift->arena);
}

/* ---- the metric -------------------------------------------------------------------------------------------------- */

typedef enum shift_word { NEXT, SHIFT_WORDS } shift_word;

static const char *const shift_words[SHIFT_WORDS + 1] = {[NEXT] = "next"};

typedef struct params {
  rs_real_list shift; /* shift_word */
} params;

static rs_status check(const rs_binding *binding, rs_err *err) {
  const rs_real_list *shift = &((const params *)binding->fields)->shift;
  if (shift->word == NEXT) return RS_OK;
  if (shift->count > 2)
    return rs_binding_fail(binding, offsetof(params, shift), err, "takes one number, or rows and columns, not %zu",
                           shift->count);
  for (size_t i = 0; i < shift->count; i++)
    if (shift->list[i] != floor(shift->list[i]))
      return rs_binding_fail(binding, offsetof(params, shift), err, "must be whole numbers, not %g", shift->list[i]);
  return RS_OK;
}

/* One token, or one column, where nothing else is said. */
static rs_real_list shift_of(const params *p, const rs_position_set *set) {
  static const double along[] = {0, 1};
  if (p->shift.word != NEXT) return p->shift;
  return (rs_real_list){.list = set->rows > 0 ? along : along + 1, .count = set->rows > 0 ? 2 : 1};
}

static rs_status fit_length(const void *given, const rs_curve_in *in, rs_err *err) {
  const rs_position_set set = rs_positions_of(in->tokens, in->length);
  const rs_real_list by = shift_of(given, &set);
  shifted s;
  size_t places;
  rs_err why = {0};
  if (read_shift(&set, by.list, by.count, (examples){"shift: 1", "shift: [0, 1]"}, &s, &places, &why) == RS_OK)
    return RS_OK;
  return rs_fail(err, RS_INPUT, "a cell of %zu tokens cannot have: %s", in->length, why.message);
}

static rs_status report(const rs_embedding_shift *m, rs_result *result, rs_err *err) {
  const double values[] = {m->largest_error,        m->residual,        m->rotations ? NAN : (double)m->rank,
                           m->largest_turned_error, m->turned_residual, (double)m->places};
  for (size_t i = 0; i < RS_COUNT(values); i++) result->value[i] = values[i];
  for (size_t c = 0; c < m->width; c++) {
    const double row[] = {(double)c, m->error[c], m->turned_error[c], m->angle[c], m->from[c], m->to[c], m->turned[c]};
    RS_TRY(rs_curve_add(&result->curve, row, err));
  }
  return RS_OK;
}

static rs_status finish(const rs_metric_in *in, const void *state, rs_result *result, rs_err *err) {
  (void)state;
  const rs_position_set set = rs_positions_of(&in->encoding->tokens, in->encoding->length);
  const rs_real_list by = shift_of(in->params, &set);
  RS_OWNED(rs_embedding_shift) m = {0};
  for (size_t i = 0; i < RS_METRIC_SCALARS; i++) result->value[i] = NAN;
  if (in->encoding->method->embed == NULL) return RS_OK;
  RS_TRY(rs_embedding_shift_find(in->encoding, by.list, by.count, &m, err));
  return report(&m, result, err);
}

static size_t curve_rows(const void *given, const rs_curve_in *in) {
  (void)given;
  return in->width;
}

static const rs_param specs[] = {
    {RS_FIELD(params, shift), .unit = "tokens", RS_WORDS(shift_words), .min = 0, .max = 1e9, .fallback = "next",
     .single = true, .summary = "k of a sequence, [rows, columns] of a picture; next: one token, or one column"},
};

static const rs_column scalars[] = {
    RS_COLUMN("embedding_shift_error", "1", "largest |PE(n + k) - M_k PE(n)| of all channels and positions"),
    RS_COLUMN("embedding_shift_residual", "1", "root of the sum of these squares over that of PE(n + k)"),
    RS_COLUMN("embedding_shift_rank", "",
              "rank of the positions that M_k was fitted to; one as large as their number fits any table; empty where "
              "M_k is known: rotations of sines and cosines",
              .integer = true),
    RS_COLUMN("embedding_rotation_error", "1", "the error where each pair of channels may only turn"),
    RS_COLUMN("embedding_rotation_residual", "1", "the residual of that"),
    RS_COLUMN("embedding_shift_positions", "", "positions n for which there is n + k", .integer = true),
};

static const rs_column curve[] = {
    RS_COLUMN("channel", "", "channel of the table", .integer = true),
    RS_COLUMN("shift_error", "1", "largest |PE(n + k) - M_k PE(n)| of this channel"),
    RS_COLUMN("rotation_error", "1", "the same where its pair may only turn"),
    RS_COLUMN("rotation_rad", "rad", "angle that its pair then turns by: cosine to sine, or channel 2i to 2i + 1"),
    RS_COLUMN("first_value", "1", "this channel of the first position"),
    RS_COLUMN("shifted_value", "1", "of the position k on"),
    RS_COLUMN("rotated_value", "1", "of the first position, turned"),
};

const rs_metric_kind rs_metric_embedding_shift = {
    .kind = {.name = "embedding_shift",
             .summary = "the matrix that carries each position's embedding k positions on, and how far off it is",
             .reference = "Attention Is All You Need, arXiv:1706.03762, section 3.5",
             RS_KIND(specs, params)},
    .check = check,
    .fit = fit_length,
    RS_SCALARS(scalars),
    RS_CURVE(curve, 1),
    .curve_rows = curve_rows,
    .finish = finish,
};
