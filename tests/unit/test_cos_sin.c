/* test_cos_sin.c: tables of cos and sin, made here row by row, as sides of a comparison: what they were made from is
 * recovered, whatever layout, numbers and positions they have. */
#include "../fixtures/scratch.h"
#include "../fixtures/sides.h"

enum { PAIRS = 64, DIMS = 128 };

static size_t pairs = PAIRS; /* that tables have */

/* How a table is made. */
typedef struct making {
  const char *name;
  size_t rows;
  enum { ONCE, HALVES, ALTERNATE } layout;
  rs_dtype numbers;
  rs_format positions, angles; /* what they are rounded to */
  double amp, first, times;    /* positions are first + row, angles `times` those */
  enum { TWO, SIDE_BY_SIDE, STACKED, COMPLEX, LEADING_ONE } form;
} making;

static double omega_of(size_t j) {
  return pow(10000, -2.0 * (double)j / DIMS);
}

static double angle_of(const making *m, size_t p, size_t j) {
  double position = rs_round(m->positions, m->first + (double)p), omega = rs_round(m->angles, omega_of(j));
  return rs_round(m->angles, omega * position * m->times);
}

/* cos (part 0) or sin of column `k` of a row. */
static double number_of(const making *m, size_t part, size_t p, size_t k) {
  size_t j = m->layout == HALVES ? k % pairs : m->layout == ALTERNATE ? k / 2 : k;
  double angle = angle_of(m, p, j);
  return m->amp * (part == 0 ? cos(angle) : sin(angle));
}

static void write_table(const making *m, const char *path) {
  size_t width = m->layout == ONCE ? pairs : 2 * pairs, count = m->rows * width;
  double *both = malloc(2 * count * sizeof *both);
  for (size_t part = 0; part < 2; part++)
    for (size_t p = 0; p < m->rows; p++)
      for (size_t k = 0; k < width; k++) {
        size_t at = m->form == SIDE_BY_SIDE ? (2 * p + part) * width + k
                    : m->form == COMPLEX    ? 2 * (p * width + k) + part
                                            : part * count + p * width + k;
        both[at] = number_of(m, part, p, k);
      }
  const size_t two[] = {m->rows, width}, one[] = {1, m->rows, width}, wide[] = {m->rows, 2 * width},
               stacked[] = {2, m->rows, width}, complex[] = {m->rows, width, 2};
  const size_t *const shapes[] = {two, wide, stacked, complex, one};
  bool pair = m->form == TWO || m->form == LEADING_ONE;
  rs_tensor_numbers tensors[2] = {{.name = pair ? "rotary.cos_cached" : "rotary.cos_sin_cache"},
                                  {.name = "rotary.sin_cached"}};
  for (size_t part = 0; part < 2; part++) {
    tensors[part].dtype = m->numbers;
    tensors[part].rank = m->form == TWO || m->form == SIDE_BY_SIDE ? 2 : 3;
    tensors[part].shape = shapes[m->form];
    tensors[part].doubles = both + part * count;
  }
  rs_err err = {0};
  cr_assert_eq(rs_safetensors_write(path, tensors, pair ? 2 : 1, &err), RS_OK, "%s", err.message);
  free(both);
}

static rs_status contest(const char *a, const char *b, rs_contender sides[2], rs_err *err) {
  const rs_contest contest = {.text = {a, b}, .preset = "llama-2-7b", .rtol = rtol};
  rs_problems problems = {0};
  rs_status status = rs_contest_read(&contest, sides, &problems, err);
  rs_problems_clear(&problems);
  return status;
}

TestSuite(cos_sin, .init = enter_scratch);

Test(cos_sin, tables__give_back_what_they_were_made_from) {
  static const making cases[] = {
      {"halves", 600, HALVES, RS_DTYPE_F32, RS_F64, RS_F64, 1, 0, 1, TWO},
      {"alternate", 600, ALTERNATE, RS_DTYPE_F32, RS_F64, RS_F64, 1.25, 0, 1, TWO},
      {"once", 600, ONCE, RS_DTYPE_F64, RS_F64, RS_F64, 1, 0, 1, TWO},
      {"leading", 600, HALVES, RS_DTYPE_F32, RS_F64, RS_F64, 1, 0, 1, LEADING_ONE},
      {"cache", 300, ONCE, RS_DTYPE_F32, RS_F64, RS_F64, 1, 0, 1, SIDE_BY_SIDE},
      {"stacked", 300, ONCE, RS_DTYPE_F32, RS_F64, RS_F64, 1, 0, 1, STACKED},
      {"complex", 300, ONCE, RS_DTYPE_F32, RS_F64, RS_F64, 0.5, 0, 1, COMPLEX},
      {"bf16", 600, HALVES, RS_DTYPE_BF16, RS_F64, RS_F64, 1, 0, 1, TWO},
      {"f16", 600, ONCE, RS_DTYPE_F16, RS_F64, RS_F64, 1, 0, 1, TWO},
      {"two rows", 2, ONCE, RS_DTYPE_F64, RS_F64, RS_F64, 1, 0, 1, TWO},
      {"offset", 300, ONCE, RS_DTYPE_F32, RS_F64, RS_F64, 1, 2, 1, TWO},
      {"far", 300, ONCE, RS_DTYPE_F32, RS_F64, RS_F64, 1, 500, 1, TWO},
      {"between", 300, ONCE, RS_DTYPE_F32, RS_F64, RS_F64, 1, 0.5, 1, TWO},
      {"still", 300, HALVES, RS_DTYPE_BF16, RS_F64, RS_F64, 1, 0, 0, TWO},
      {"scaled", 300, ONCE, RS_DTYPE_F32, RS_F64, RS_F64, 1, 0, 0.25, TWO},
      {"bf16 positions", 1024, ONCE, RS_DTYPE_F32, RS_BF16, RS_F64, 1, 0, 1, TWO},
      {"f16 positions", 4096, ONCE, RS_DTYPE_F32, RS_F16, RS_F64, 1, 0, 1, TWO},
      {"all bf16", 1024, HALVES, RS_DTYPE_BF16, RS_BF16, RS_BF16, 1, 0, 1, TWO},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    const making *m = &cases[i];
    rs_contender sides[2];
    rs_err err = {0};
    const char *path = "table.safetensors";
    write_table(m, path);
    cr_assert_eq(contest("rope", path, sides, &err), RS_OK, "%s: %s", m->name, err.message);
    const rs_spectrum *got = &sides[1].spectrum;
    const int layouts[] = {-1, RS_HALF_SPLIT, RS_INTERLEAVED};
    cr_assert_eq(got->pairs, PAIRS + 0u, "%s", m->name);
    cr_expect_eq(got->pair_layout, layouts[m->layout], "%s", m->name);
    cr_expect_eq(got->positions, m->positions, "%s: %s", m->name, sides[1].read);
    cr_expect(close_to(got->amp, m->amp, 0, 0.004 * m->amp), "%s: %g", m->name, got->amp);
    for (size_t j = 0; j < PAIRS; j++) {
      double want = rs_round(m->angles, omega_of(j)) * m->times, off = fabs(got->omega[j] - want);
      cr_expect(off <= rtol * want + got->slack[j], "%s: pair %zu is %g, not %g +- %g", m->name, j, got->omega[j], want,
                got->slack[j]);
      double coarse = m->numbers == RS_DTYPE_BF16 ? 0.02 : m->numbers == RS_DTYPE_F16 ? 2e-3 : 1e-6;
      cr_expect(got->slack[j] <= coarse * want + 0.02 * coarse, "%s: pair %zu within %g", m->name, j, got->slack[j]);
    }
    char begins[64];
    snprintf(begins, sizeof begins, ", from position %g", m->first);
    cr_expect_eq(strstr(sides[1].read, begins) != NULL, m->first != 0, "%s: %s", m->name, sides[1].read);
    rs_contest_clear(sides);
  }
  leaves((const char *[]){"table.safetensors"}, 1);
}

/* Pairs that start anywhere, and pairs that stand still: frequencies are told all the same. Where all stand still there
 * is nothing to tell a position by. */
Test(cos_sin, rows_of_no_one_position) {
  enum { ROWS = 300 };
  static double numbers[2][ROWS * PAIRS];
  static const size_t shape[] = {ROWS, PAIRS};
  const char *path = "table.safetensors";
  for (size_t still = 0; still < 3; still++) {
    const size_t turning[] = {PAIRS, 8, 0};
    rs_tensor_numbers tensors[2] = {{.name = "cos"}, {.name = "sin"}};
    rs_contender sides[2];
    rs_err err = {0};
    for (size_t i = 0; i < ROWS * PAIRS; i++) {
      size_t p = i / PAIRS, j = i % PAIRS;
      double angle = (j < turning[still] ? (double)p * omega_of(j) : 0) + (still == 0 ? 0.7 * (double)(j * j) : 0);
      numbers[0][i] = cos(angle), numbers[1][i] = sin(angle);
    }
    for (size_t part = 0; part < 2; part++) {
      tensors[part].dtype = RS_DTYPE_F32;
      tensors[part].rank = 2;
      tensors[part].shape = shape;
      tensors[part].doubles = numbers[part];
    }
    cr_assert_eq(rs_safetensors_write(path, tensors, 2, &err), RS_OK, "%s", err.message);
    cr_assert_eq(contest("rope", path, sides, &err), RS_OK, "%s", err.message);
    cr_expect_eq(strstr(sides[1].read, ", row 0 of no one position") != NULL, still != 1, "%s", sides[1].read);
    for (size_t j = 0; j < sides[1].spectrum.pairs; j++) { /* columns that are all alike are each pair twice */
      double want = j < turning[still] ? omega_of(j) : 0;
      cr_expect(fabs(sides[1].spectrum.omega[j] - want) <= 1e-6 * want + sides[1].spectrum.slack[j], "%zu", j);
    }
    rs_contest_clear(sides);
  }
  leaves(&path, 1);
}

/* glibc ends the program where a number beyond the last pair was rounded: with an odd number of them it is the heap's.
 */
Test(cos_sin, odd_number_of_pairs__rounded__are_all_that_is_written) {
  static const making odd = {"all bf16", 1024, ONCE, RS_DTYPE_BF16, RS_BF16, RS_BF16, 1, 0, 1, TWO};
  const char *path = "table.safetensors";
  rs_contender sides[2];
  rs_err err = {0};
  pairs = PAIRS - 1;
  write_table(&odd, path);
  cr_assert_eq(contest("rope", path, sides, &err), RS_OK, "%s", err.message);
  cr_assert_eq(sides[1].spectrum.pairs, pairs);
  for (size_t j = 0; j < pairs; j++)
    cr_expect(fabs(sides[1].spectrum.omega[j] - omega_of(j)) <= sides[1].spectrum.slack[j], "%zu", j);
  rs_contest_clear(sides);
  leaves(&path, 1);
}

/* M-RoPE's code has three tables, alike for text; LongRoPE's mixed one keeps plain RoPE in its first rows. */
Test(cos_sin, axes_and_first_rows__are_told) {
  enum { ROWS = 400, FIRST = 4 };
  static double numbers[2][3 * ROWS * PAIRS];
  static const size_t axes[] = {3, 1, ROWS, PAIRS}, plain[] = {ROWS, PAIRS};
  const char *path = "table.safetensors";
  rs_contender sides[2];
  for (size_t mixed = 0; mixed < 2; mixed++) {
    rs_err err = {0};
    for (size_t i = 0; i < 3 * ROWS * PAIRS; i++) {
      size_t p = i / PAIRS % ROWS;
      double angle = (double)p * omega_of(i % PAIRS) * (mixed && p >= FIRST ? 0.25 : 1);
      numbers[0][i] = cos(angle), numbers[1][i] = sin(angle);
    }
    rs_tensor_numbers tensors[2] = {{.name = "cos"}, {.name = "sin"}};
    for (size_t part = 0; part < 2; part++) {
      tensors[part].dtype = RS_DTYPE_F32;
      tensors[part].rank = mixed ? 2 : 4;
      tensors[part].shape = mixed ? plain : axes;
      tensors[part].doubles = numbers[part];
    }
    cr_assert_eq(rs_safetensors_write(path, tensors, 2, &err), RS_OK, "%s", err.message);
    cr_assert_eq(contest(mixed ? "{name: pi, factor: 4}" : "rope", path, sides, &err), RS_OK, "%s", err.message);
    cr_expect_not_null(strstr(sides[1].read, mixed ? ", 4 rows before which turn otherwise" : ", three axes alike"),
                       "%s", sides[1].read);
    rs_compared a = {&sides[0].recipe, &sides[0].model, sides[0].length, &sides[0].spectrum},
                b = {.length = sides[1].length, .spectrum = &sides[1].spectrum};
    unsigned differs = rs_spectrum_compare(a.spectrum, b.spectrum, rtol).differs;
    cr_expect_eq(differs, mixed ? RS_DIFFERS_BEYOND : 0u, "%u", differs);
    rs_causes causes;
    cr_assert_eq(rs_causes_find(&a, &b, rtol, &causes, &err), RS_OK);
    if (mixed) expect_cause(&causes, "B is A with other frequencies at its first 4 positions (as LongRoPE's mixed", "");
    rs_contest_clear(sides);
    if (mixed) continue;
    numbers[1][2 * ROWS * PAIRS + 5] += 0.5; /* another column */
    cr_assert_eq(rs_safetensors_write(path, tensors, 2, &err), RS_OK);
    cr_expect_eq(contest("rope", path, sides, &err), RS_INPUT);
    cr_expect_not_null(strstr(err.message, "sin holds three axes (time, row, column) that differ"), "%s", err.message);
  }
  leaves(&path, 1);
}

/* The same table from NumPy's files, of which cos.npy has sin.npy beside it. */
Test(cos_sin, numpy__two_files_or_one) {
  const making m = {"npy", 200, ONCE, RS_DTYPE_F32, RS_F64, RS_F64, 1, 0, 1, TWO};
  rs_array array = {.rank = 2, .shape = {200, PAIRS}, .count = 200 * PAIRS};
  array.numbers = malloc(array.count * sizeof *array.numbers);
  static const char *const cosine = "my_cos.npy", *const sine = "my_sin.npy";
  rs_contender sides[2];
  rs_err err = {0};
  for (size_t part = 0; part < 2; part++) {
    for (size_t i = 0; i < array.count; i++) array.numbers[i] = number_of(&m, part, i / PAIRS, i % PAIRS);
    cr_assert_eq(rs_npy_write(part == 0 ? cosine : sine, &array, true, &err), RS_OK, "%s", err.message);
  }
  cr_assert_eq(contest("rope", cosine, sides, &err), RS_OK, "%s", err.message);
  cr_expect_eq(rs_spectrum_compare(&sides[0].spectrum, &sides[1].spectrum, rtol).differs, 0u, "%s", sides[1].read);
  rs_contest_clear(sides);
  cr_assert_eq(remove(sine), 0);
  err = (rs_err){0};
  cr_expect_eq(contest("rope", cosine, sides, &err), RS_INPUT); /* half of it is taken for cos: that is no rotation */
  cr_expect_not_null(strstr(err.message, "these are no cos and sin of one attention factor"), "%s", err.message);
  free(array.numbers);
  leaves(&cosine, 1);
}

Test(cos_sin, what_is_no_table__is_said) {
  static const size_t flat[] = {64}, wide[] = {4, 3, 5}, rows[] = {40, 4};
  double zeros[160] = {0}, noise[160], other[160], dent[160], plain[160];
  for (size_t i = 0; i < 160; i++) {
    noise[i] = cos((double)(i * i)), other[i] = sin((double)(i * i));
    double angle = (double)(i / 4) * pow(10, -(double)(i % 4)), amp = i % 4 == 1 ? 0.5 : 1;
    dent[i] = amp * cos(angle), plain[i] = amp * sin(angle);
  }
  const struct {
    rs_tensor_numbers tensors[2];
    size_t count;
    const char *message;
  } cases[] = {
      {{{.name = "weight", .rank = 1, .shape = flat, .doubles = zeros}}, 1, "holds no inv_freq and no cos and sin"},
      {{{.name = "cos", .rank = 1, .shape = flat, .doubles = zeros}}, 1, "has cos and no sin"},
      {{{.name = "cos", .rank = 1, .shape = flat, .doubles = zeros},
        {.name = "sin", .rank = 1, .shape = flat, .doubles = zeros}},
       2,
       "cos has shape (64,): wanted are cos and sin of shape (L, R)"},
      {{{.name = "cos_sin", .rank = 3, .shape = wide, .doubles = zeros}}, 1, "cos_sin has shape (4, 3, 5)"},
      {{{.name = "cos", .rank = 2, .shape = rows, .doubles = zeros},
        {.name = "sin", .rank = 2, .shape = rows, .doubles = zeros}},
       2,
       "cos^2 + sin^2 is from 0 to 0"},
      {{{.name = "cos", .rank = 2, .shape = rows, .doubles = dent},
        {.name = "sin", .rank = 2, .shape = rows, .doubles = plain}},
       2,
       "cos^2 + sin^2 is from 0.25 to 1"},
      {{{.name = "cos", .rank = 2, .shape = rows, .doubles = noise},
        {.name = "sin", .rank = 2, .shape = rows, .doubles = other}},
       2,
       "phases do not grow evenly from row to row"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_tensor_numbers tensors[2] = {cases[i].tensors[0], cases[i].tensors[1]};
    rs_contender sides[2];
    rs_err err = {0};
    for (size_t k = 0; k < 2; k++) tensors[k].dtype = RS_DTYPE_F32;
    const char *path = "none.safetensors";
    cr_assert_eq(rs_safetensors_write(path, tensors, cases[i].count, &err), RS_OK, "%s", err.message);
    cr_expect_eq(contest("rope", path, sides, &err), RS_INPUT, "case %zu", i);
    cr_expect_not_null(strstr(err.message, cases[i].message), "case %zu: %s", i, err.message);
  }
  leaves((const char *[]){"none.safetensors"}, 1);
}
