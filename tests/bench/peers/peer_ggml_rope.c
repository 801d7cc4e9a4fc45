/* A peer of the jobs `rotate_*`: rotary embedding as ggml published it (ggml-cpu, ggml_compute_forward_rope_f32). For
 * each token, a cache of cos and sin of every pair by cosf and sinf, the angle being multiplied from pair to pair in
 * float32; then every head is turned from that cache. Kinder than ggml in one point: there each thread makes the caches
 * of all tokens before its own rows, here of its own only.
 *
 * Usage: peer_ggml_rope JOB TOKENS HEADS THREADS ROUNDS, with JOB rotate_half_split, rotate_interleaved or
 * rotate_40_heads. Prints the CSV of common.py: median and least seconds of ROUNDS samples. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef _OPENMP
#include <omp.h>
#endif

enum { DIM = 128, MOST_ROUNDS = 100 };

static const float base = 10000;

static void fill_cache(size_t token, float *cache) {
  const float theta_scale = powf(base, -2.0f / DIM);
  float theta = (float)token;
  for (size_t i = 0; i < DIM; i += 2) {
    cache[i] = cosf(theta);
    cache[i + 1] = sinf(theta);
    theta *= theta_scale;
  }
}

/* Pair i / 2 is dims (i / 2, i / 2 + 64), or (i, i + 1). */
static void turn_half_split(const float *restrict cache, float *restrict x) {
  for (size_t i = 0; i < DIM; i += 2) {
    float *pair = x + i / 2, first = pair[0], second = pair[DIM / 2];
    pair[0] = first * cache[i] - second * cache[i + 1];
    pair[DIM / 2] = first * cache[i + 1] + second * cache[i];
  }
}

static void turn_interleaved(const float *restrict cache, float *restrict x) {
  for (size_t i = 0; i < DIM; i += 2) {
    float first = x[i], second = x[i + 1];
    x[i] = first * cache[i] - second * cache[i + 1];
    x[i + 1] = first * cache[i + 1] + second * cache[i];
  }
}

static void rotate(float *x, size_t tokens, size_t heads, bool interleaved) {
#pragma omp parallel for schedule(static)
  for (size_t t = 0; t < tokens; t++) {
    float cache[DIM];
    fill_cache(t, cache);
    for (size_t h = 0; h < heads; h++)
      if (interleaved)
        turn_interleaved(cache, x + (t * heads + h) * DIM);
      else
        turn_half_split(cache, x + (t * heads + h) * DIM);
  }
}

/* The largest error of one rotation of 1000 tokens, against angles in double. */
static double check(bool interleaved) {
  enum { TOKENS = 1000 };
  static float x[TOKENS * DIM];
  double worst = 0;
  for (size_t i = 0; i < TOKENS * DIM; i++) x[i] = 1;
  rotate(x, TOKENS, 1, interleaved);
  for (size_t t = 0; t < TOKENS; t++)
    for (size_t j = 0; j < DIM / 2; j++) {
      double angle = (double)t * pow(base, -2.0 * (double)j / DIM);
      const float *row = x + t * DIM, *first = interleaved ? row + 2 * j : row + j;
      double second = interleaved ? first[1] : first[DIM / 2];
      worst = fmax(worst, fmax(fabs(first[0] - (cos(angle) - sin(angle))), fabs(second - (cos(angle) + sin(angle)))));
    }
  return worst;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Seconds of one run, over at least 0.3 s of them. */
static double sample(float *x, size_t tokens, size_t heads, bool interleaved) {
  double from = now(), passed;
  size_t runs = 0;
  do {
    rotate(x, tokens, heads, interleaved);
    runs++;
    passed = now() - from;
  } while (passed < 0.3);
  return passed / (double)runs;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void measure(const char *job, size_t tokens, size_t heads, size_t rounds, float *x) {
  bool interleaved = strcmp(job, "rotate_interleaved") == 0;
  double seconds[MOST_ROUNDS], error = check(interleaved);
#pragma omp parallel for schedule(static)
  for (size_t i = 0; i < tokens * heads * DIM; i++) x[i] = (float)(i % 1000) * 0.001f;
  rotate(x, tokens, heads, interleaved);
  for (size_t r = 0; r < rounds; r++) seconds[r] = sample(x, tokens, heads, interleaved);
  qsort(seconds, rounds, sizeof *seconds, ascending);
  printf("job,peer,seconds,seconds_best,error,clean,samples\n%s,ggml_design,%.5g,%.5g,%.2g,%zu,%zu\n", job,
         seconds[rounds / 2], seconds[0], error, rounds, rounds);
}

int main(int count, char **arguments) {
  size_t number[4] = {0}; /* tokens, heads, threads, rounds */
  for (int i = 0; i < 4 && count == 6; i++) number[i] = strtoul(arguments[2 + i], NULL, 10);
  if (number[0] == 0 || number[1] == 0 || number[2] == 0 || number[3] == 0 || number[3] > MOST_ROUNDS) {
    fprintf(stderr, "usage: %s JOB TOKENS HEADS THREADS ROUNDS\n", arguments[0]);
    return 2;
  }
#ifdef _OPENMP
  omp_set_num_threads((int)number[2]);
#endif
  float *x = aligned_alloc(64, number[0] * number[1] * DIM * sizeof *x);
  if (x == NULL) {
    fprintf(stderr, "%s: out of memory\n", arguments[0]);
    return 1;
  }
  measure(arguments[1], number[0], number[1], number[3], x);
  free(x);
  return 0;
}
