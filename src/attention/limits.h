/* How large the logits of a job can be, and what float loses on them. Private to the attention layer.
 *
 * By Cauchy and Schwarz |logit - bias| <= B = max |q| max |k| scale / sqrt(D). Each of the D steps of a logit's sum
 * rounds by at most u of what has come together so far, half of the whole on average where all terms have one sign (as
 * those of constant content have): u D B / 2. Rounding q, k, the logit and the bias costs a few u of each; keys whose
 * bias is lower than the best by more than 2 B + 28 nats (ln 1e12) hold no weight worth an error. Sums of weights in
 * float run over one block of at most 512 keys, and err by u / 4 for each. So
 *
 *   error = u (D B / 2 + 3 (B + b) + 28 + 128),    u = 2^-24 or 2^-53, b = the largest bias above the own place's
 *
 * bounds the relative error of every weight not below 1e-12, and that of its logit in nats; a logit that a bias takes
 * farther down errs by 2 u of itself besides. Random content errs by sqrt(D) in place of D / 2 (Higham and Mary, SIAM
 * J. Sci. Comput. 41, 2019): weights of 131072 Gaussian keys of 128 dims by 2e-6 where the bound says 7e-5. */
#ifndef ROPESCOPE_ATTENTION_LIMITS_H
#define ROPESCOPE_ATTENTION_LIMITS_H

#include "worker.h"

/* Sets the scores, error and kernel of a job whose bias has been measured. RS_DOMAIN where logits may not be finite. */
rs_status rs_limits_choose(rs_loaded_job *loaded, rs_err *err);

/* loaded->error, or more where a bias that is no table turned out to reach `above` nats. */
double rs_limits_error(const rs_loaded_job *loaded, double above);

#endif
