/* Counter-based random numbers: the counter is the index, the key the seed, so there is no state to carry. */
#include "base/base.h"

#include <Random123/philox.h>
#include <math.h>

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

/* Knuth's selection sampling (TAOCP 2, algorithm 3.4.2 S): integer i is taken with probability (still wanted) / (still
 * to come). */
void rs_subset(rs_stream stream, size_t number, size_t range, size_t *out) {
  size_t chosen = 0;
  for (size_t i = 0; chosen < number; i++)
    if ((double)(range - i) * rs_uniform(stream, i) < (double)(number - chosen)) out[chosen++] = i;
}
