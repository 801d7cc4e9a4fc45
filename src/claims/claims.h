/* claims/claims.h: what the literature says beside what a run comes to. A folder of an experiment states in
 * expected.csv which number is expected, where it comes from, and whether a run must agree with it or refute it; the
 * check reads the CSV files of that run. Also small tables of such files. Uses base and io. Nothing here runs an
 * experiment.
 *
 * expected.csv has these columns, in this order:
 *   key        what the row says, unique in the file
 *   file       a CSV file of the run without .csv: "summary", "decay"; "STEM/summary" for the config STEM.yaml
 *              (published numbers in a file STEM.csv beside STEM.yaml are joined to that run's rows by the columns that
 *              both have, as method and length_tokens)
 *   column     what is read: a column, which `where` must narrow to one row, or a reduction over the rows it leaves:
 *              mean(c) min(c) max(c) median(c) sum(c), count(c) and missing(c) rows with and without a value,
 *              at_min(y; x) at_max(y; x) the x of the least or largest y (the first of equals),
 *              exponent(y; x) coefficient(y; x) of the least-squares power law y = coefficient x^exponent, in logs,
 *              spearman(y; x) the rank correlation and spearman_p(y; x) its p-value, two-sided, by 9999 permutations;
 *              in spearman(y; x; c) rows with the same word in column c are one, of their means
 *   where      conditions joined by ';', as in "method=yarn; length_tokens=32k; distance_tokens>=100"; operators = != <
 *              <= > >=; numbers where both sides are, else text; empty: every row
 *   expected   the number that `origin` speaks of, or a relation as "<=0.434"; empty for `found`
 *   here       what the run comes to, to the digits that hold; empty: not said
 *   tolerance  of `expected`: 0.01 (absolute), 1% (relative); empty: what rounding to the digits written leaves
 *   origin     printed: the source prints it; derived: it follows from a formula that the source prints, worked out
 * apart from this program; departs: the paper asks for it, and the implementation that runs does otherwise, which
 *              `here` and `note` say; found: nobody said it, `here` is ours
 *   verdict    agrees | agrees_with_definition | refuted | does_not_appear, of what is printed or derived; empty for
 * the other two. Mathematics alone refutes; what was said of trained models does not appear in those here source paper
 * or code, and place; empty is allowed for `found` alone note       which definition, why it is refuted, in how many
 * weights and seeds it does not appear, or how it departs; empty is allowed otherwise */
#ifndef ROPESCOPE_CLAIMS_H
#define ROPESCOPE_CLAIMS_H

#include "base/base.h"

typedef enum rs_origin { RS_PRINTED, RS_DERIVED, RS_DEPARTS, RS_FOUND, RS_ORIGINS } rs_origin;

typedef enum rs_verdict {
  RS_NO_VERDICT,
  RS_AGREES,
  RS_AGREES_WITH_DEFINITION,
  RS_REFUTED,
  RS_DOES_NOT_APPEAR,
  RS_VERDICTS
} rs_verdict;

typedef enum rs_relation { RS_EQUAL, RS_UNEQUAL, RS_BELOW, RS_AT_MOST, RS_ABOVE, RS_AT_LEAST } rs_relation;

/* A number that something else is held to. */
typedef struct rs_bound {
  bool stated;
  rs_relation relation;
  double number, tolerance; /* tolerance >= 0, absolute; RS_EQUAL alone */
} rs_bound;

/* One row; all text is borrowed from the rs_claims. */
typedef struct rs_claim {
  const char *key, *file, *column, *where, *expected, *source, *note;
  rs_bound claimed, here; /* `expected` and `here`, read */
  rs_origin origin;
  rs_verdict verdict;
  size_t line; /* of the file */
} rs_claim;

/* The rows of one expected.csv. */
typedef struct rs_claims {
  rs_claim *items;
  size_t count;
  char *name, *text; /* of the file; owned */
  void *table;
} rs_claims;

/* Reads and checks an expected.csv. RS_INPUT "file:line: column: why (hint)", RS_IO, RS_MEMORY. Release with
 * rs_claims_free. */
rs_status rs_claims_read(const char *file, rs_claims **claims, rs_err *err) RS_NONNULL(1, 2);
void rs_claims_free(rs_claims *claims);

/* How one claim came out. */
typedef struct rs_finding {
  double value;  /* what the run comes to; NaN: nothing */
  bool held;     /* the verdict holds */
  char why[320]; /* why it does not; "" */
  bool left_out; /* the run it reads was not asked for */
} rs_finding;

/* Configs whose stem ends in "full" take long and are run on request. */
bool rs_claims_is_full(const char *stem, size_t length) RS_NONNULL(1);

/* Reads the numbers of an experiment called `name` from the CSV files below `results` (results/NAME/summary.csv for
 * "summary", results/NAME-STEM/decay.csv for "STEM/decay") and judges them: findings (claims->count). What is missing
 * or ambiguous there is a finding that does not hold; what needs a full run is left out unless `full`. RS_MEMORY. */
rs_status rs_claims_check(const rs_claims *claims, const char *results, const char *name, bool full,
                          rs_finding *findings, rs_err *err) RS_NONNULL(1, 2, 3, 5);

/* How many claims came out how. */
typedef struct rs_tally {
  size_t held[RS_ORIGINS][RS_VERDICTS]; /* by what they are */
  size_t reasons;                       /* that refuted claims give: equal notes of one experiment are one */
  size_t differ, left_out;
} rs_tally;

/* Adds the claims of one experiment. */
void rs_tally_add(rs_tally *tally, const rs_claims *claims, const rs_finding *findings) RS_NONNULL(1, 2, 3);

/* Adds "printed: 3 agree, 1 with a definition, 0 refuted, 0 do not appear; derived: ...". */
void rs_tally_print(const rs_tally *tally, rs_text *text) RS_NONNULL(1, 2);

/* The table: key, expected, reproduced, difference, verdict, and below it the notes. */
void rs_claims_print(const rs_claims *claims, const rs_finding *findings, rs_text *text) RS_NONNULL(1, 2, 3);
void rs_claims_markdown(const rs_claims *claims, const rs_finding *findings, rs_text *text) RS_NONNULL(1, 2, 3);
void rs_claims_csv(const rs_claims *claims, const rs_finding *findings, rs_text *text) RS_NONNULL(1, 2, 3);

/* ---- small tables ------------------------------------------------------------------------------------------------ */

typedef enum rs_pivot_form { RS_PIVOT_PLAIN, RS_PIVOT_MARKDOWN, RS_PIVOT_JSON } rs_pivot_form;

/* What a small table shows; all borrowed. */
typedef struct rs_pivot_wanted {
  const char *lines; /* the column whose words are the lines: "method" */
  /* (count) "found at 128k: mean(needle_win_rate) where length_tokens=128k": title and condition may be left out, and a
   * plain column is asked for its mean. */
  const char *const *questions;
  size_t count;
  const char *where; /* for all of them; "" */
  long sort;         /* lines by that column of numbers, from 1; negative: the largest first; 0: as in the file */
  rs_pivot_form form;
} rs_pivot_wanted;

/* Reads a CSV file and adds the table to `text`; "-" (null in JSON) stands where no row has a number. RS_INPUT, RS_IO,
 * RS_MEMORY. */
rs_status rs_pivot(const char *file, const rs_pivot_wanted *wanted, rs_text *text, rs_err *err) RS_NONNULL(1, 2, 3);

#endif
