/* Rows of queries and keys that were rotated, turned back. Private to the attention layer. */
#ifndef ROPESCOPE_ATTENTION_TURNED_BACK_H
#define ROPESCOPE_ATTENTION_TURNED_BACK_H

#include "attention/attention.h"

/* How rows were turned. */
typedef struct rs_turned {
  const rs_recipe *recipe; /* resolved for the model */
  const rs_model *model;
  const rs_token_layout *tokens; /* of the rows; NULL: text */
  rs_format format;              /* of cosines and sines; angles are in double where these are, else in float */
  size_t from, count;            /* position of the first row; rows */
} rs_turned;

typedef struct rs_turned_back {
  rs_encoding *encoding;
  size_t from;
  double *turns; /* (threads, 2, RS_STEPS, R/2) */
} rs_turned_back;

/* RS_UNSUPPORTED, with the reason, for a method whose rows cannot be turned back; RS_INPUT for one that turns none. */
rs_status rs_turned_check(const rs_recipe *recipe, rs_err *err);

/* What turns such rows back, which rs_turned_check has accepted. RS_DOMAIN where the recipe is undefined for so many
 * tokens, RS_MEMORY. Release with rs_turned_back_clear, also after a failure. */
rs_status rs_turned_back_make(const rs_turned *turned, rs_turned_back *back, rs_err *err);
void rs_turned_back_clear(rs_turned_back *back);

/* Turns rows [begin, end) of one head (end - begin, D) back in place: exactly what rs_encoding_rotate_token did to
 * each, amp and gains divided out. Any thread, no allocation. */
void rs_turn_back(const rs_turned_back *back, rs_side side, size_t begin, size_t end, double *rows);

#endif
