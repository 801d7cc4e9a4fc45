/* The kinds of stages, one file each, and what several of them share. */
#ifndef ROPESCOPE_ENCODING_KINDS_H
#define ROPESCOPE_ENCODING_KINDS_H

#include "params.h"

/* ---- kinds ----------------------------------------------------------------------------------------------------- */

/* The kinds of each stage (one file each) and what several files of the layer share. */

RS_FREQ_KINDS(RS_DECLARE_FREQ)
RS_POS_KINDS(RS_DECLARE_POS)
RS_EMBED_KINDS(RS_DECLARE_EMBED)
RS_LSCALE_KINDS(RS_DECLARE_LSCALE)
RS_BIAS_KINDS(RS_DECLARE_BIAS)
RS_VECTOR_KINDS(RS_DECLARE_VECTORS)

/* The parameters of a recipe as structs (stages.c). */
struct rs_stage_params {
  rs_common_params common;
  rs_rotary_params rotary;                    /* unset without rotation */
  rs_scale_params scale;                      /* unset without a scale */
  rs_binding pos, freq, embed, bias, vectors; /* of the stages' kinds; fields NULL where a stage is empty */
};

/* Binds all of them. They borrow from `settings`. Release with rs_stage_params_free. */
rs_status rs_stage_params_make(const rs_method *method, const rs_settings *settings, rs_stage_params **params,
                               rs_err *err);
void rs_stage_params_free(rs_stage_params *params);

/* What the stages are prepared from, but for their params. Borrows `tokens` and the method's name. */
rs_stage_in rs_stage_input(const rs_method *method, const rs_model *model, const rs_stage_params *params, size_t length,
                           const rs_token_layout *tokens);

/* Where token m stands: its id on the first axis, or m. */
static inline double rs_stage_position(const rs_stage_in *in, size_t m) {
  return in->tokens != NULL && in->tokens->ids != NULL ? in->tokens->ids[m * RS_AXES] : (double)m;
}

/* Numbers in the table of a bias. */
size_t rs_bias_table_size(const rs_bias_kind *kind, const rs_stage_in *in);

/* The kind that is chosen, or NULL. */
const rs_lscale_kind *rs_lscale_kind_of(const rs_common_params *params);

/* logit_scale_factor and logit_scale_length, else the kind's own default. */
double rs_lscale_factor(const rs_common_params *params, double fallback);
double rs_lscale_length(const rs_common_params *params, double fallback);

/* logit_scale_length, else L0, for a kind that divides by its logarithm: RS_DOMAIN where that is 0. */
rs_status rs_lscale_log_length(const rs_stage_in *in, const char *kind, double *length, rs_err *err);

/* theta * s^(R/(R-2)): the base that leaves pair 0 and divides the last pair by s. RS_DOMAIN for R = 2. */
rs_status rs_ntk_theta(const rs_freq_in *in, double *theta, rs_err *err);

/* A ramp over pair indices: 0 up to `low`, 1 from `high`. */
typedef struct rs_ramp {
  double low, high;
} rs_ramp;

/* The ramp between the pairs that turn `fast` and `slow` times in `length` tokens, as the YaRN code has it: indices
 * rounded outwards iff `truncate`, clamped to [0, R - 1]; equal ends are parted by 0.001. */
rs_ramp rs_correction_ramp(const rs_freq_in *in, double length, double fast, double slow, bool truncate);
double rs_ramp_at(rs_ramp ramp, double pair);

/* Which axis each pair reads, by the `mrope_section` that was given, else the model's, else the method's default;
 * RS_AXES where it reads none and does not turn. *axes gets 1 (text) or RS_AXES. RS_INPUT when the sections do not sum
 * to `pairs`. `rotary` binds an rs_rotary_params. */
rs_status rs_axes_fill(const rs_binding *rotary, const rs_model *model, size_t pairs, uint16_t *axis, size_t *axes,
                       rs_err *err);

/* The number of axes that gives; 1 where the sections do not fit. */
size_t rs_axes_count(const rs_binding *rotary, const rs_model *model, size_t pairs);

/* The run that holds a token, and where in it the token stands; NULL for the text after the last run. */
const rs_token_run *rs_token_layout_run(const rs_token_layout *layout, size_t token, size_t *offset);

/* Fills omega, axis, axes, amp, and logit_scale with what the table puts on the logits. */
rs_status rs_frequencies_fill(rs_encoding *encoding, const rs_model *model, rs_err *err);

/* What is kept of omega, all tables, as it is filled; then its rounding. */
void rs_frequencies_settle(rs_encoding *encoding);

/* Of pairs that mix axes (mixed.c): mixed, omega and axis_weight; then, of positions (L, RS_AXES), coordinates and
 * places. RS_MEMORY; RS_UNSUPPORTED with several views. */
rs_status rs_mixed_fill(rs_encoding *encoding, const rs_freq_in *in, rs_err *err);
rs_status rs_mixed_place(rs_encoding *encoding, rs_err *err);

/* The arrays that training changes of `mixed`, which they are, one behind the other; returns how many. */
size_t rs_mixed_learned(const rs_encoding *encoding, rs_learned *out);

/* omega and axis_weight of all tables, and the coordinates along them, from `mixed`. */
void rs_mixed_lengths(rs_encoding *encoding);
void rs_mixed_move(rs_encoding *encoding);

/* As rs_encoding_turn_gradient, for these arrays alone. */
void rs_mixed_gradient(const rs_encoding *encoding, size_t head, size_t begin, size_t end, const double *gradient,
                       double *const *learned);

/* Gains, mixed axes and cached keys: the last word on positions. */
rs_status rs_coordinates_fill(rs_encoding *encoding, const rs_model *model, const rs_stage_in *in, rs_err *err);

/* The table of steps, where turns are in doubles and the axes are the tokens'. */
rs_status rs_steps_fill(rs_encoding *encoding, rs_err *err);

/* RS_UNSUPPORTED, naming the method, where tokens have more than one axis. */
rs_status rs_text_only(const rs_encoding *encoding, rs_err *err);

/* For biases that are functions of m - n whatever their parameters. */
bool rs_always_by_distance(const void *state);

/* For views near and far: keys nearer than `window` tokens are read through view 0, the others through view 1. */
size_t rs_near_far_segments(size_t query, size_t window, rs_segment out[RS_VIEWS]);

#endif
