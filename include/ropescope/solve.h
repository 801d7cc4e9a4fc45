/* ropescope/solve.h: which setting serves a length, and which length a setting serves, by the field's criteria: the
 * first violation of B(m) >= 0, the critical dimension, and angles out of the trained range. */
#ifndef ROPESCOPE_SOLVE_H
#define ROPESCOPE_SOLVE_H

#include "ropescope/compare.h"

/* Frequencies as they are run, beside those of training. Borrows. */
typedef struct rs_turning {
  const double *omega;   /* (pairs,) rad/token */
  const double *trained; /* (pairs,) rad/token of plain RoPE at L0; NULL for a first violation alone */
  size_t pairs, still;   /* R/2, and how many do not turn: (D - R)/2 */
  double train_length;   /* L0, tokens */
} rs_turning;

/* The longest context, at most `most` < 2^63, whose distances all have sum_j cos(m omega_j) + still >= 0. */
rs_status rs_reach_first_violation(const rs_turning *turning, uint64_t most, uint64_t *length, rs_err *err)
    RS_NONNULL(1, 3);

/* Whether all distances of `length` tokens have such a sum. *hint: 0, or a distance near which other frequencies had a
 * negative one, where these may have theirs; it becomes the next one's, so that a search over settings which change
 * little by little seldom looks at every distance. */
rs_status rs_reach_serves(const rs_turning *turning, uint64_t length, uint64_t *hint, bool *serves, rs_err *err)
    RS_NONNULL(1, 3, 4);

/* The period of the critical pair as it is run (Liu et al., arXiv:2310.05209, theorem 2), and the longest context in
 * which no pair that did not go full circle in training turns further than there; infinite where every pair did. */
double rs_reach_critical(const rs_turning *turning) RS_NONNULL(1);
double rs_reach_in_range(const rs_turning *turning) RS_NONNULL(1);

/* The bases that bring these to `length`, pair >= 1 being the critical one: at the second one the largest angle just
 * equals that of training. */
double rs_base_critical(size_t pair, size_t pairs, double length);
double rs_base_in_range(double theta, size_t pair, size_t pairs, double train_length, double length);

/* ---- questions --------------------------------------------------------------------------------------------------- */

typedef enum rs_sought { RS_SOLVE_BASE, RS_SOLVE_FACTOR, RS_SOLVE_LENGTH } rs_sought;
typedef enum rs_criterion { RS_FIRST_VIOLATION, RS_CRITICAL_DIM, RS_OUT_OF_RANGE, RS_NTK_AWARE } rs_criterion;

/* Which setting serves a length, or which length a setting serves. All borrowed; NULL, 0: not named. */
typedef struct rs_question {
  rs_sought sought;
  rs_criterion criterion;
  double length;           /* the context to be served, tokens */
  double base;             /* plain RoPE at this base */
  size_t head_dim;         /* D in place of a model; even */
  const char *hf, *preset; /* a model: a Hugging Face config.json, or the name of a preset */
  const char *hf_text;     /* as in rs_subject_in */
  const char *layers;      /* as in rs_subject_in */
  const char *method;      /* a recipe on it, as YAML; NULL: what it publishes, else plain RoPE */
} rs_question;

/* One line of an answer: "means", "training", "search", "note", "switch", "recipe", "published", "layers", "window",
 * "temperature", "criterion", "reference". */
typedef struct rs_remark {
  const char *name;
  char text[512];
} rs_remark;

typedef struct rs_solution {
  double value;                 /* base, factor, or tokens */
  char number[RS_NUMBER_CHARS]; /* the same to the digits that hold */
  rs_remark rows[12];
  size_t count;
} rs_solution;

/* RS_INPUT with `problems` or a message for wrong words, RS_DOMAIN where nothing serves, RS_UNSUPPORTED for methods
 * that do more than turn pairs. What a question needs is the caller's to check. Some searches take minutes. */
rs_status rs_solve(const rs_question *question, rs_solution *solution, rs_problems *problems, rs_err *err)
    RS_NONNULL(1, 2, 3);

#endif
