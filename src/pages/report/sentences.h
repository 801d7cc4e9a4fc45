/* sentences.h: what was asked and what came out, in sentences that the numbers bear out. */
#ifndef ROPESCOPE_REPORT_SENTENCES_H
#define ROPESCOPE_REPORT_SENTENCES_H

#include "results.h"

/* Append HTML: paragraphs of what was asked, of where the numbers come from and of what failed; and a list with, for
 * each metric that has a better side, the best and the worst method at the longest length. */
void report_asked(const report_results *results, rs_text *out);

/* What captions say of the sources: what queries and keys are, and what a table of them does not rank. */
void report_sources(const report_results *results, rs_text *out);
void report_found(const report_results *results, rs_text *out);

#endif
