/* How large the logits of a job can be, what float loses on them, and which keys cannot matter. Private to the
 * attention layer.
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

#include "engine.h"

/* Sets engine->scores, error and kernel for the job. The bias has been measured. RS_DOMAIN where logits may not be
 * finite. */
rs_status rs_limits_choose(rs_engine *engine, const rs_attention_job *job, rs_err *err);

/* engine->error, or more where a bias that is no table turned out to reach `above` nats. */
double rs_limits_error(const rs_engine *engine, double above);

/* Whether any keys of the job may be left out. */
bool rs_may_skip(const rs_engine *engine, const rs_attention_job *job);

/* For such a job: whether keys [begin, end) of a tile, whose norms are at most `norm`, can be left out: then their
 * largest possible weight is added to tile->certified. */
bool rs_negligible(const rs_engine *engine, const rs_attention_job *job, rs_tile *tile, const rs_score_call *call,
                   size_t view, double norm, size_t begin, size_t end);

#endif
