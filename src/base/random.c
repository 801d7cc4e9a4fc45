/* Counter-based random numbers: the counter is the index, the key the seed, so there is no state to carry. */
#include "base/base.h"

#include <Random123/philox.h>
#include <gsl/gsl_linalg.h>
#include <math.h>
#include <stdlib.h>

/* The four 64-bit words that hold elements 4 * block .. 4 * block + 3. */
static philox4x64_ctr_t words_at(rs_stream stream, uint64_t block) {
  philox4x64_ctr_t counter = {{block, stream.head, stream.purpose, 0}};
  philox4x64_key_t key = {{stream.seed, 0}};
  return philox4x64(counter, key);
}

/* The top 53 bits as a multiple of 2^-53 in [0, 1). */
static double unit(uint64_t word) {
  return (double)(word >> 11) * 0x1p-53;
}

/* Two independent N(0, 1) from two words (Box and Muller, Ann. Math. Stat. 29, 1958). 1 - u lies in (0, 1]: no log(0).
 */
static void gaussian_pair(uint64_t radius_word, uint64_t angle_word, double *out) {
  double radius = sqrt(-2 * log(1 - unit(radius_word))), turn = 2 * M_PI * unit(angle_word);
  out[0] = radius * cos(turn);
  out[1] = radius * sin(turn);
}

static void gaussian_block(rs_stream stream, uint64_t block, double out[4]) {
  philox4x64_ctr_t words = words_at(stream, block);
  gaussian_pair(words.v[0], words.v[1], out);
  gaussian_pair(words.v[2], words.v[3], out + 2);
}

void rs_gaussian_fill(rs_stream stream, uint64_t first, size_t count, double *out) {
  for (size_t done = 0; done < count;) {
    uint64_t index = first + done;
    double block[4];
    gaussian_block(stream, index / 4, block);
    for (uint64_t i = index % 4; i < 4 && done < count; i++) out[done++] = block[i];
  }
}

double rs_uniform(rs_stream stream, uint64_t index) {
  return unit(words_at(stream, index / 4).v[index % 4]);
}

void rs_uniform_block(rs_stream stream, uint64_t block, double out[4]) {
  philox4x64_ctr_t words = words_at(stream, block);
  for (size_t i = 0; i < 4; i++) out[i] = unit(words.v[i]);
}

/* Eight columns a block of words, each by 32 bits. */
uint64_t rs_drop_kept(const rs_drop *drop, uint64_t row, uint64_t block, size_t count) {
  enum { COLUMNS = 8 };
  const uint32_t least = (uint32_t)(drop->share * 0x1p32);
  const philox4x64_key_t key = {{drop->seed, drop->sequence}};
  uint64_t kept = 0;
  for (size_t i = 0; i < count; i += COLUMNS) {
    philox4x64_ctr_t counter = {{64 / COLUMNS * block + i / COLUMNS, row, RS_PURPOSE_DROPOUT, drop->place}};
    philox4x64_ctr_t words = philox4x64(counter, key);
    for (size_t k = 0; k < COLUMNS; k++) {
      uint32_t half = (uint32_t)(words.v[k / 2] >> 32 * (k % 2));
      kept |= (uint64_t)(half >= least) << (i + k);
    }
  }
  return kept;
}

/* Knuth's selection sampling (TAOCP 2, algorithm 3.4.2 S): integer i is taken with probability (still wanted) / (still
 * to come). */
void rs_subset(rs_stream stream, size_t number, size_t range, size_t *out) {
  size_t chosen = 0;
  for (size_t i = 0; chosen < number; i++)
    if ((double)(range - i) * rs_uniform(stream, i) < (double)(number - chosen)) out[chosen++] = i;
}

/* Orthonormal columns by Householder QR of a Gaussian matrix, as the LQ of its transpose (GSL): there the long vectors
 * lie in memory as they are read. */

/* The transpose of a (rows, columns) matrix that is drawn row by row. */
static rs_status draw_transposed(rs_stream stream, size_t rows, size_t columns, double *out, rs_err *err) {
  RS_FREED double *row = rs_alloc(columns, sizeof *row, err);
  if (row == NULL) return RS_MEMORY;
  for (size_t i = 0; i < rows; i++) {
    rs_gaussian_fill(stream, (uint64_t)i * columns, columns, row);
    for (size_t j = 0; j < columns; j++) out[j * rows + i] = row[j];
  }
  return RS_OK;
}

/* The sign of L's diagonal makes the factors unique and the rows Haar distributed. */
static int unit_rows(const gsl_matrix *lq, const gsl_vector *tau, double *out) {
  int failed = 0;
  for (size_t j = 0; j < lq->size1 && !failed; j++) {
    gsl_vector_view row = gsl_vector_view_array(out + j * lq->size2, lq->size2);
    gsl_vector_set_basis(&row.vector, j);
    failed = gsl_linalg_LQ_vecQ(lq, tau, &row.vector);
    if (gsl_matrix_get(lq, j, j) < 0) gsl_vector_scale(&row.vector, -1);
  }
  return failed;
}

rs_status rs_orthonormal(rs_stream stream, size_t rows, size_t columns, double *out, rs_err *err) {
  RS_FREED double *room = rs_alloc(columns * (rows + 1), sizeof *room, err);
  if (room == NULL) return RS_MEMORY;
  gsl_matrix_view lq = gsl_matrix_view_array(room, columns, rows);
  gsl_vector_view tau = gsl_vector_view_array(room + columns * rows, columns);
  rs_status status = draw_transposed(stream, rows, columns, room, err);
  int failed = status == RS_OK ? gsl_linalg_LQ_decomp(&lq.matrix, &tau.vector) : 0;
  if (status == RS_OK && !failed) failed = unit_rows(&lq.matrix, &tau.vector, out);
  return status == RS_OK ? rs_gsl(failed, "QR", err) : status;
}
