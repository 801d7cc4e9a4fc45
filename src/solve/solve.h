/* solve/solve.h: which setting serves a length, and which length a setting serves, by the field's criteria: the
 * first violation of B(m) >= 0, the critical dimension, and angles out of the trained range. */
#ifndef ROPESCOPE_SOLVE_H
#define ROPESCOPE_SOLVE_H

#include "compare/compare.h"

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
enum { RS_CRITERIA = RS_NTK_AWARE + 1 };

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

/* Parts of a question. Geometry: head_dim, or a model. */
typedef enum rs_question_part {
  RS_ASKS_LENGTH = 1,
  RS_ASKS_BASE = 2,
  RS_ASKS_GEOMETRY = 4,
  RS_ASKS_MODEL = 8,
  RS_ASKS_METHOD = 16
} rs_question_part;

/* The parts that it has, as a set; and whether it lacks one that its quantity and criterion need, or has one that they
 * have no use for: *part is the first such, and *missing which of both. */
int rs_question_has(const rs_question *question) RS_NONNULL(1);
bool rs_question_lacks(const rs_question *question, rs_question_part *part, bool *missing) RS_NONNULL(1, 2, 3);

/* One line of an answer: "means", "integer", "training", "search", "note", "switch", "recipe", "published", "tuned",
 * "layers", "guess", "window", "temperature", "criterion", "reference". */
typedef struct rs_remark {
  const char *name;
  char text[512];
} rs_remark;

typedef struct rs_solution {
  double value;                 /* base, factor, or tokens */
  char number[RS_NUMBER_CHARS]; /* the same to the digits that hold */
  bool open;                    /* a length at which the search ended: it may be more */
  rs_remark rows[15];
  size_t count;
} rs_solution;

/* RS_INPUT with `problems` or a message for wrong words, RS_DOMAIN where nothing serves, RS_UNSUPPORTED for methods
 * that do more than turn pairs. What a question needs is the caller's to check. Some searches take minutes. */
rs_status rs_solve(const rs_question *question, rs_solution *solution, rs_problems *problems, rs_err *err)
    RS_NONNULL(1, 2, 3);

/* What to do by all criteria together, and what it costs by formula. Release with rs_advice_clear. */
typedef struct rs_advice {
  double value; /* the base, factor or length; NaN: there is no advice */
  bool open;    /* a length up to which no end was found */
  rs_text text; /* one sentence without its full stop: use X because Y; costs Z */
} rs_advice;

/* From what each criterion says of the question, NULL where it says nothing: the base that satisfies both the first
 * violation and the range of angles, an integer unless it is the base of training, and the factor or length that keeps
 * angles in range, or, where training itself had no negative sum of cosines, length without one. The question's own
 * criterion is not read. Errors as of rs_solve. */
rs_status rs_advise(const rs_question *question, const rs_solution *const solved[RS_CRITERIA], rs_advice *advice,
                    rs_problems *problems, rs_err *err) RS_NONNULL(1, 2, 3, 4);
void rs_advice_clear(rs_advice *advice) RS_NONNULL(1);

/* ---- whole settings ---------------------------------------------------------------------------------------------- */

enum { RS_LONGEST_RANKED = 1 << 22 }; /* tokens, 100 MB of tables */

/* For which length, on which model, and what its costs are multiplied by. All borrowed; NULL: not named. */
typedef struct rs_ranking_in {
  size_t length;                              /* tokens, from 2 to RS_LONGEST_RANKED */
  const char *hf, *hf_text, *preset, *layers; /* as in rs_question */
  rs_turn_costs weights;
} rs_ranking_in;

/* A recipe with its costs. */
typedef struct rs_candidate {
  rs_recipe recipe;           /* resolved and checked */
  rs_turn_costs costs, early; /* at the length that is asked for, and at the trained one */
  double sum, early_sum;      /* of them by the weights */
  double needles;             /* needle_damage at the length, whatever the weights */
  rs_recipe said;             /* the same as a config.json can say it, with the base: method NULL: it cannot */
  double theta;
} rs_candidate;

/* A recipe that has no costs there. */
typedef struct rs_left_out {
  const char *method;
  char why[160];
} rs_left_out;

enum { RS_CANDIDATES = 32 };

/* What all recipes cost. Release with rs_ranking_clear. */
typedef struct rs_ranking {
  rs_profile profile;
  size_t kind;                       /* the layers of it that are asked about */
  const rs_model *model;             /* theirs; borrows from the profile */
  double train_length;               /* L0, tokens */
  rs_candidate items[RS_CANDIDATES]; /* the cheapest first */
  size_t count;
  size_t unchanged, by_needles; /* of the items: plain RoPE; the one with the least needle_damage */
  rs_left_out left_out[RS_CANDIDATES];
  size_t left_out_count;
} rs_ranking;

/* Ranks the methods that are used without training, with the parameters that the length asks for, and what the model
 * publishes. Costs are derived from angles, and measured on no model. RS_INPUT for what names no model, one whose
 * layers turn nothing or whose trained length is unknown, or a length out of range, RS_DOMAIN where the length
 * is within training, or its layers see no farther, RS_MEMORY. Cleared on failure. */
rs_status rs_rank_settings(const rs_ranking_in *in, rs_ranking *ranking, rs_err *err) RS_NONNULL(1, 2);
void rs_ranking_clear(rs_ranking *ranking) RS_NONNULL(1);

/* The best of those that a config.json can say; SIZE_MAX: none. */
size_t rs_ranking_best_said(const rs_ranking *ranking) RS_NONNULL(1);

#endif
