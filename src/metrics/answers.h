/* Means over the answers of a reading. */
#ifndef ROPESCOPE_METRICS_ANSWERS_H
#define ROPESCOPE_METRICS_ANSWERS_H

#include "metric_list.h"

/* Which answers count; one without a target never does. */
typedef struct rs_answers {
  const rs_reading *reading;
  unsigned parts;    /* bit p: those of the task's part p */
  size_t begin, end; /* at tokens [begin, end) of each sequence */
  bool placed;       /* those alone that ask for something at a depth: */
  double low, high;  /* low <= depth < high */
  bool apart;        /* those alone that ask for something at a depth, of which as many tokens back: */
  size_t near, far;  /* near <= distance < far */
  bool whole; /* targets side by side that ask for one place count as one, which is right where all of them are */
} rs_answers;

/* What is averaged: nats; 1 where the target was said, else 0. */
typedef enum rs_answer_value { RS_ANSWER_LOSS, RS_ANSWER_RIGHT } rs_answer_value;

typedef struct rs_answer_mean {
  double targets; /* how many count */
  double mean;    /* NaN without any */
  double error; /* its standard error; NaN below two sequences. Sequences are independent, a sequence's answers are not:
                   the error is that of a ratio of sums over sequences. */
} rs_answer_mean;

/* Those of all parts at all tokens. */
rs_answers rs_answers_all(const rs_reading *reading);

rs_answer_mean rs_answers_mean(const rs_answers *answers, rs_answer_value value);

/* The share of sequences in which every answer that counts is right, of those that have one. */
rs_answer_mean rs_answers_exact(const rs_answers *answers);

/* The token of its sequence that holds what the target at `index` asks for; RS_NO_NEEDLE where that stands at no depth.
 * For decoders, whose depths are those of what they read. */
size_t rs_answers_holder(const rs_reading *reading, size_t index);

/* What bins of a curve are made of: places in the sequence, or tokens back to what is asked for. */
typedef enum rs_answer_span { RS_ANSWER_PLACES, RS_ANSWER_DISTANCES } rs_answer_span;

/* The parameters of a metric with such a curve. */
typedef struct rs_answer_bins {
  size_t per_octave;
} rs_answer_bins;

/* Adds a line for each log-spaced bin that has targets: its first and the next one's first token, targets, mean, error.
 * RS_MEMORY. */
rs_status rs_answers_curve(const rs_answers *answers, rs_answer_span span, rs_answer_value value,
                           const rs_answer_bins *bins, rs_result *result, rs_err *err);

/* Member `curve_rows` of a metric whose parameters these are. */
size_t rs_answers_curve_rows(const void *bins, const rs_curve_in *in);

/* Bits of the parts that models are trained on. */
unsigned rs_stream_parts(const rs_task_kind *task);

/* Scalar `index` becomes the mean with its standard error. */
void rs_result_answers(rs_result *result, size_t index, const rs_answer_mean *mean);

#endif
