/* quants.c: numbers of GGUF's blocks, which share scales. Layouts are those of ggml-common.h of ggml; products and sums
 * are taken in float in the order of gguf/quants.py of the PyPI package gguf, so that both give the same bits. Scales
 * of a block are binary16, little-endian. The types of K have blocks of 256 numbers, in groups of 16 or 32 with scales
 * of a few bits, which the block's scale multiplies. */
#include "tensors.h"

enum { SMALL = 32, LARGE = 256 };

static float half_at(const unsigned char *bytes) {
  return rs_f16_widen(rs_bits16(bytes));
}

/* ---- blocks of 32: scale, least number where it is stored, fifth bits, low halves of bytes before high ones ------ */

static void widen_q4_0(const unsigned char *block, float *out) {
  float scale = half_at(block);
  const unsigned char *pairs = block + 2;
  for (int i = 0; i < SMALL / 2; i++) {
    out[i] = scale * (float)((pairs[i] & 15) - 8);
    out[SMALL / 2 + i] = scale * (float)((pairs[i] >> 4) - 8);
  }
}

static void widen_q4_1(const unsigned char *block, float *out) {
  float scale = half_at(block), least = half_at(block + 2);
  const unsigned char *pairs = block + 4;
  for (int i = 0; i < SMALL / 2; i++) {
    out[i] = scale * (float)(pairs[i] & 15) + least;
    out[SMALL / 2 + i] = scale * (float)(pairs[i] >> 4) + least;
  }
}

/* Whole numbers of five bits. */
static void join_fives(const unsigned char *fifths, const unsigned char *pairs, int fives[SMALL]) {
  uint32_t bits = rs_bits32(fifths);
  for (int i = 0; i < SMALL / 2; i++) {
    fives[i] = (pairs[i] & 15) | (int)(bits >> i & 1) << 4;
    fives[SMALL / 2 + i] = pairs[i] >> 4 | (int)(bits >> (SMALL / 2 + i) & 1) << 4;
  }
}

static void widen_q5_0(const unsigned char *block, float *out) {
  float scale = half_at(block);
  int fives[SMALL];
  join_fives(block + 2, block + 6, fives);
  for (int i = 0; i < SMALL; i++) out[i] = scale * (float)(fives[i] - 16);
}

static void widen_q5_1(const unsigned char *block, float *out) {
  float scale = half_at(block), least = half_at(block + 2);
  int fives[SMALL];
  join_fives(block + 4, block + 8, fives);
  for (int i = 0; i < SMALL; i++) out[i] = scale * (float)fives[i] + least;
}

static void widen_q8_0(const unsigned char *block, float *out) {
  float scale = half_at(block);
  for (int i = 0; i < SMALL; i++) out[i] = (float)(int8_t)block[2 + i] * scale;
}

/* ---- blocks of 256 ----------------------------------------------------------------------------------------------- */

/* Numbers of two bits stand in quarters: each byte of 32 has one of four groups of 32. 16 of them have a scale and an
 * offset of four bits each. */
static void widen_q2_k(const unsigned char *block, float *out) {
  const unsigned char *scales = block, *quarters = block + 16;
  float scale = half_at(block + 80), offset = half_at(block + 82);
  for (int group = 0; group < LARGE / 16; group++) {
    const unsigned char *in = quarters + group / 8 * 32 + group % 2 * 16;
    int shift = group / 2 % 4 * 2;
    float step = scale * (float)(scales[group] & 15), least = offset * (float)(scales[group] >> 4);
    for (int i = 0; i < 16; i++) out[16 * group + i] = step * (float)(in[i] >> shift & 3) - least;
  }
}

/* A third bit that is 0 takes 4 away. Scales have six bits: four of them in halves of eight bytes, two in quarters of
 * the next four. */
static void widen_q3_k(const unsigned char *block, float *out) {
  const unsigned char *thirds = block, *quarters = block + 32, *scales = block + 96;
  float scale = half_at(block + 108);
  for (int group = 0; group < LARGE / 16; group++) {
    const unsigned char *in = quarters + group / 8 * 32 + group % 2 * 16, *third = thirds + group % 2 * 16;
    int low = scales[group % 8] >> group / 8 * 4 & 15, high = scales[8 + group % 4] >> group / 4 * 2 & 3;
    int shift = group / 2 % 4 * 2, bit = group / 2;
    float step = scale * (float)((low | high << 4) - 32);
    for (int i = 0; i < 16; i++)
      out[16 * group + i] = step * (float)((in[i] >> shift & 3) - 4 + (third[i] >> bit & 1) * 4);
  }
}

/* Scales and offsets of six bits, eight of each in twelve bytes: those of the first four groups are the low bits of
 * eight bytes, whose two high ones belong to the last four, with halves of the other bytes. */
static void find_sixes(const unsigned char packed[12], int group, int *scale, int *offset) {
  const unsigned char *low = packed + group % 4, *high = low + 4, *halves = low + 8;
  *scale = group < 4 ? *low & 63 : (*halves & 15) | *low >> 6 << 4;
  *offset = group < 4 ? *high & 63 : *halves >> 4 | *high >> 6 << 4;
}

static void widen_q4_k(const unsigned char *block, float *out) {
  float scale = half_at(block), offset = half_at(block + 2);
  for (int group = 0; group < LARGE / 32; group++) {
    const unsigned char *in = block + 16 + group / 2 * 32;
    int step, least, shift = group % 2 * 4;
    find_sixes(block + 4, group, &step, &least);
    float wide = scale * (float)step, down = offset * (float)least;
    for (int i = 0; i < 32; i++) out[32 * group + i] = wide * (float)(in[i] >> shift & 15) - down;
  }
}

static void widen_q5_k(const unsigned char *block, float *out) {
  float scale = half_at(block), offset = half_at(block + 2);
  const unsigned char *fifths = block + 16;
  for (int group = 0; group < LARGE / 32; group++) {
    const unsigned char *in = block + 48 + group / 2 * 32;
    int step, least, shift = group % 2 * 4;
    find_sixes(block + 4, group, &step, &least);
    float wide = scale * (float)step, down = offset * (float)least;
    for (int i = 0; i < 32; i++)
      out[32 * group + i] = wide * (float)((in[i] >> shift & 15) | (fifths[i] >> group & 1) << 4) - down;
  }
}

/* Four low bits of a number stand in halves of 64 bytes, two high ones in quarters of 32; 16 numbers share a scale of
 * eight bits, with a sign. */
static void widen_q6_k(const unsigned char *block, float *out) {
  const unsigned char *scales = block + 192;
  float scale = half_at(block + 208);
  for (int group = 0; group < LARGE / 16; group++) {
    int part = group % 8;
    const unsigned char *low = block + group / 8 * 64 + part % 4 * 16,
                        *high = block + 128 + group / 8 * 32 + part % 2 * 16;
    float step = scale * (float)(int8_t)scales[group];
    int half = part / 4 * 4, quarter = part / 2 * 2;
    for (int i = 0; i < 16; i++)
      out[16 * group + i] = step * (float)(((low[i] >> half & 15) | (high[i] >> quarter & 3) << 4) - 32);
  }
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

void rs_blocks_widen(rs_dtype dtype, const unsigned char *blocks, size_t count, float *numbers) {
  static void (*const widen[RS_DTYPES])(const unsigned char *block, float *out) = {
      [RS_DTYPE_Q4_0] = widen_q4_0, [RS_DTYPE_Q4_1] = widen_q4_1, [RS_DTYPE_Q5_0] = widen_q5_0,
      [RS_DTYPE_Q5_1] = widen_q5_1, [RS_DTYPE_Q8_0] = widen_q8_0, [RS_DTYPE_Q2_K] = widen_q2_k,
      [RS_DTYPE_Q3_K] = widen_q3_k, [RS_DTYPE_Q4_K] = widen_q4_k, [RS_DTYPE_Q5_K] = widen_q5_k,
      [RS_DTYPE_Q6_K] = widen_q6_k};
  rs_number_block block = rs_dtype_block(dtype);
  for (size_t i = 0; i < count; i++) widen[dtype](blocks + i * block.bytes, numbers + i * block.numbers);
}
