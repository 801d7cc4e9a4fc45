/* Hypotheses about why two spectra differ. Private to the compare layer. */
#ifndef ROPESCOPE_COMPARE_CAUSES_H
#define ROPESCOPE_COMPARE_CAUSES_H

#include "ropescope/compare.h"

enum { RS_CHANGES = 48, RS_HYPOTHESES = 256 };

/* One parameter with another value. */
typedef struct rs_change {
  const char *param;
  char text[48];         /* the value as config text; "": unset */
  const rs_value *value; /* in place of the text, where not NULL; borrowed */
} rs_change;

/* A recipe altered: what is tried on one side to get the other. */
typedef struct rs_hypothesis {
  char key[48];            /* what it alters; of several with one key, the first that fits is named */
  char what[200];          /* "with truncate: true (A has false)"; '@' stands for the side's letter */
  const rs_method *method; /* NULL: the same */
  size_t length;           /* 0: the same */
  rs_change changes[RS_CHANGES];
  size_t count;
} rs_hypothesis;

/* Fills `list` (RS_HYPOTHESES) with what may have been done to `from`; `other`, where it is a recipe, lends its values.
 * Returns how many. */
size_t rs_hypotheses_list(const rs_compared *from, const rs_compared *other, rs_hypothesis *list);

/* The spectrum of `from` under `count` hypotheses together; one of 0 pairs where they make no valid recipe. */
rs_status rs_hypotheses_try(const rs_compared *from, const rs_hypothesis *const *tried, size_t count,
                            rs_spectrum *spectrum, rs_err *err);

/* What the ratio of the frequencies looks like: constant, geometric, a band. */
void rs_shape_describe(const rs_spectrum *a, const rs_spectrum *b, double rtol, char *text, size_t size);

#endif
