/* Evidence of what ways of reading a model beyond its trained length cost it: what solve's files share of it. */
#ifndef ROPESCOPE_SOLVE_EVIDENCE_H
#define ROPESCOPE_SOLVE_EVIDENCE_H

#include "task.h"

/* log2(L / L0), the share of pairs that did not go full circle in L0 tokens, log2 L0, log2 head_dim. */
enum { RS_TRAITS = 4 };

typedef struct rs_names {
  const char **items; /* (count,) owned; the texts are in the arena */
  size_t count, capacity;
} rs_names;

/* One way of reading one model at one length. */
typedef struct rs_evidence_row {
  const char *model, *method; /* "unchanged": as the model is */
  size_t group, table;        /* of models that are left out together; of rows of one model, task and length */
  size_t way, variant;        /* the method; the method with its parameters but for scales */
  double trait[RS_TRAITS];
  double increase, error; /* loss less the window's, nats, and its standard error; 0: none is said */
  bool least;             /* it is a lower bound */
  bool bends;             /* positions are moved by more than a factor */
  size_t line;            /* of the table */
} rs_evidence_row;

struct rs_evidence {
  rs_arena arena;
  rs_table *csv;
  rs_evidence_row *rows; /* (count,) owned; those of a table stand together */
  size_t count;
  rs_names groups, tables, ways, variants;
  double spread; /* of rs_evidence_spread without any group left out */
};

/* The model of a row, and its recipe, resolved and checked. Release both. */
rs_status rs_evidence_model(const rs_evidence *evidence, size_t line, rs_model *model, rs_err *err);
rs_status rs_evidence_recipe(const rs_evidence *evidence, size_t line, const rs_model *model, rs_recipe *recipe,
                             rs_err *err);

/* What is asked of the evidence: a way and variant (SIZE_MAX: one that no row has) at a place, without the rows of two
 * groups; SIZE_MAX: all are read. */
typedef struct rs_evidence_query {
  const double *trait; /* (RS_TRAITS,) */
  size_t way, variant, without[2];
} rs_evidence_query;

/* asinh(increase / 0.1), which means are taken of; the mean; NaN: no evidence. */
double rs_evidence_tamed(double increase);
double rs_evidence_mean(const rs_evidence *evidence, const rs_evidence_query *query);

/* Whether positions are moved by more than a factor: self_extend, rerope, dual_chunk and their like. */
bool rs_recipe_bends(const rs_recipe *recipe);

#endif
