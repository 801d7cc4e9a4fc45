/* Words for rows of architectures. Private to the hf layer. */
#ifndef ROPESCOPE_HF_ROWS_H
#define ROPESCOPE_HF_ROWS_H

#include "architectures.h"

#define RMS                                                                                                            \
  { .kind = RS_NORM_RMS, .epsilon = 1e-6 }
#define RMS_AROUND_ONE                                                                                                 \
  { .kind = RS_NORM_RMS, .around_one = true, .epsilon = 1e-6 }
#define LAYER                                                                                                          \
  { .kind = RS_NORM_LAYER, .bias = true, .epsilon = 1e-5 }
#define LAYER_BARE                                                                                                     \
  { .kind = RS_NORM_LAYER, .epsilon = 1e-5 } /* weights without biases */
#define ALWAYS                                                                                                         \
  { .fallback = true }

#endif
