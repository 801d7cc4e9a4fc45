/* Tiny worlds: what a formula of test_tiny.c knows of one. Nothing but the recipe's name and these few numbers is
 * shared with the library. */
#ifndef ROPESCOPE_TESTS_TINY_H
#define ROPESCOPE_TESTS_TINY_H

#include "encoding/encoding.h"

#define THETA 10.0
#define S 2.5 /* the scale of scaled methods */

enum { L0 = 7, MOST = 8, HEADS = 2, HEAD = 1, ROWS = 2, COLUMNS = 2, PICTURE = 1 + ROWS * COLUMNS };

/* One context of one head. */
typedef struct tiny {
  size_t length, dims, rotary; /* L, D, R */
  rs_pair_layout layout;
  bool picture; /* tokens 1 to 4 are an image of 2 x 2 */
} tiny;

/* What a method is, told apart from the library; NULL where it is plain. */
typedef struct oracle {
  const char *method, *settings;
  double (*omega)(const tiny *t, size_t j);                                         /* rad/token */
  void (*place)(const tiny *t, size_t m, size_t n, size_t j, double *q, double *k); /* where pair j turns to */
  double (*gain)(const tiny *t, size_t m, size_t n, size_t j);                      /* on top of cos and sin */
  double (*factor)(const tiny *t, size_t m);                                        /* on the logit */
  double (*bias)(const tiny *t, size_t m, size_t n);                                /* nats, head 1 of 2 */
  double (*embed)(const tiny *t, size_t n, size_t d);                               /* added to token n */
  size_t rotary;       /* the only R it is defined for; 0: every one */
  bool table, picture; /* the bias is that of biases.h; it is defined with a picture only */
  bool vectors;        /* there are those of vectors.h */
} oracle;

#endif
