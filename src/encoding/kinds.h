/* The kinds of each stage (one file each) and what several of them share. Private to the encoding layer. */
#ifndef ROPESCOPE_ENCODING_KINDS_H
#define ROPESCOPE_ENCODING_KINDS_H

#include "ropescope/encoding.h"

extern const rs_freq_kind rs_freq_default, rs_freq_linear, rs_freq_ntk, rs_freq_ntk_fixed, rs_freq_ntk_mixed,
    rs_freq_ntk_by_parts, rs_freq_ntk_by_parts_v1, rs_freq_yarn, rs_freq_llama3, rs_freq_longrope, rs_freq_proportional,
    rs_freq_critical_base, rs_freq_dprope, rs_freq_xpos, rs_freq_axial, rs_freq_mixed, rs_freq_explicit;
extern const rs_pos_kind rs_pos_identity, rs_pos_linear, rs_pos_self_extend, rs_pos_clamp, rs_pos_dual_chunk,
    rs_pos_string, rs_pos_random;
extern const rs_embed_kind rs_embed_sinusoidal, rs_embed_learned, rs_embed_sinusoidal_2d, rs_embed_learned_2d;
extern const rs_lscale_kind rs_lscale_log_n, rs_lscale_ssmax, rs_lscale_llama4, rs_lscale_ministral,
    rs_lscale_entropy_invariant;
extern const rs_bias_kind rs_bias_alibi, rs_bias_t5, rs_bias_relative, rs_bias_relative_2d, rs_bias_kerple_log,
    rs_bias_kerple_power, rs_bias_fire, rs_bias_sandwich;

/* The parameter `temperature` of kinds that have an attention factor, for their list of parameters. */
#define RS_TEMPERATURE_PARAM                                                                                           \
  {                                                                                                                    \
    .name = "temperature", .type = RS_CHOICE, .unit = "", RS_WORD_LIST("cos_sin", "logits"), .fallback = "cos_sin",    \
    .summary = "where the attention factor g goes: times cos and sin, or g^2 times the logits (equal if every dim "    \
               "turns)"                                                                                                \
  }

/* Puts the attention factor g where `temperature` says: on cos and sin, or squared on the logits. */
void rs_place_factor(const rs_settings *settings, double g, rs_freq_out *out);

/* RS_INPUT when the user gave `name`, which has no effect with `with`. */
rs_status rs_unused_check(const rs_settings *settings, const char *name, const char *with, rs_err *err);

/* The parameter `table_seed` of biases that draw their numbers. */
#define RS_TABLE_SEED_PARAM                                                                                            \
  {                                                                                                                    \
    .name = "table_seed", .type = RS_INTEGER, .unit = "", .min = 0, .max = 9007199254740992.0, .fallback = "0",        \
    .summary = "seed of what is drawn"                                                                                 \
  }

/* The parameters of a learned table of biases. `rows` says what a row is for, `sd` is the default of init_sd, `origin`
 * where that is from. */
#define RS_LEARNED_BIAS_PARAMS(rows, sd, origin)                                                                       \
  {.name = "values",                                                                                                   \
   .type = RS_REALS,                                                                                                   \
   .unit = "nats",                                                                                                     \
   .min = -1e6,                                                                                                        \
   .max = 1e6,                                                                                                         \
   .summary = "the table, a number for each head in each row, row by row; rows: " rows " (default: drawn)"},           \
      {.name = "init_sd",                                                                                              \
       .type = RS_REAL,                                                                                                \
       .unit = "nats",                                                                                                 \
       RS_WORD_LIST("inv_sqrt_width"),                                                                                 \
       .min = 0,                                                                                                       \
       .max = 1e6,                                                                                                     \
       .fallback = sd,                                                                                                 \
       .summary = "standard deviation of a drawn table; inv_sqrt_width: 1/sqrt(H D) (" origin ")"},                    \
      RS_TABLE_SEED_PARAM

/* RS_INPUT when the list `name` is given and has not `rows` numbers for each head. */
rs_status rs_bias_list_check(const rs_settings *settings, const char *name, size_t rows, size_t heads, rs_err *err);

/* A learned table: encoding->bias_table[h * bias_size + row] from `values` (bias_size, H), else iid N(0, init_sd^2).
 * RS_INPUT when there are more or fewer values. */
rs_status rs_learned_bias_fill(rs_encoding *encoding, rs_err *err);
/* RS_INPUT when `values` and what only a draw needs are given. */
rs_status rs_learned_bias_check(const rs_settings *settings, rs_err *err);

/* Entry `head` of the list `name`, or number `index` of the head's stream, uniform in [0, span). */
double rs_head_number(const rs_encoding *encoding, const char *name, size_t head, uint64_t index, double span);
rs_stream rs_bias_stream(const rs_settings *settings, size_t head);

/* logit_scale_factor and logit_scale_length, else the kind's own default. */
double rs_lscale_factor(const rs_encoding *encoding, double fallback);
double rs_lscale_length(const rs_encoding *encoding, double fallback);

/* logit_scale_length, else L0, for a kind that divides by its logarithm: RS_DOMAIN where that is 0. */
rs_status rs_lscale_log_length(const rs_encoding *encoding, double *length, rs_err *err);

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

/* The parameters of the by-parts interpolation, for a kind's list of parameters. */
#define RS_BY_PARTS_PARAMS                                                                                             \
  {.name = "beta_fast",                                                                                                \
   .type = RS_REAL,                                                                                                    \
   .unit = "rotations",                                                                                                \
   .min = 1e-6,                                                                                                        \
   .max = 1e9,                                                                                                         \
   .fallback = "32",                                                                                                   \
   .summary = "pairs that turn more often than this in train_length keep their frequency"},                            \
      {.name = "beta_slow",                                                                                            \
       .type = RS_REAL,                                                                                                \
       .unit = "rotations",                                                                                            \
       .min = 1e-6,                                                                                                    \
       .max = 1e9,                                                                                                     \
       .fallback = "1",                                                                                                \
       .summary = "pairs that turn less often than this are divided by s"},                                            \
      {.name = "ramp",                                                                                                 \
       .type = RS_CHOICE,                                                                                              \
       .unit = "",                                                                                                     \
       RS_WORD_LIST("hf", "paper"),                                                                                    \
       .fallback = "hf",                                                                                               \
       .summary = "between them, blend linearly in the pair index (hf: the code) or in the rotations (paper)"},        \
      {.name = "ramp_length",                                                                                          \
       .type = RS_REAL,                                                                                                \
       .unit = "tokens",                                                                                               \
       RS_WORD_LIST("train_length", "vllm_mrope"),                                                                     \
       .min = 1,                                                                                                       \
       .max = 1e9,                                                                                                     \
       .fallback = "train_length",                                                                                     \
       .summary =                                                                                                      \
           "length in which the ramp counts rotations; vllm_mrope: 4 train_length with M-RoPE, as vLLM has it"},       \
      {.name = "ramp_guard",                                                                                           \
       .type = RS_CHOICE,                                                                                              \
       .unit = "",                                                                                                     \
       RS_WORD_LIST("hf", "ggml", "refuse"),                                                                           \
       .fallback = "hf",                                                                                               \
       .summary =                                                                                                      \
           "ramp hf with ends that meet or cross: parted by 0.001 where they meet; also where they cross; or an "      \
           "error, as beyond the first or last pair (gpt-oss)"},                                                       \
  {                                                                                                                    \
    .name = "truncate", .type = RS_BOOL, .unit = "", .fallback = "true",                                               \
    .summary = "ramp hf: round its ends outwards to whole pairs (gpt-oss: false)"                                      \
  }

/* The by-parts interpolation: pairs that turn fast keep their frequency, slow ones are divided by s, those between are
 * blended. */
rs_status rs_by_parts_check(const rs_settings *settings, const rs_model *model, rs_err *err);
rs_status rs_by_parts_fill(const rs_freq_in *in, double *omega, rs_err *err);

/* Which axis each pair reads, by the `mrope_section` that was given, else the model's, else the method's default;
 * RS_AXES where it reads none and does not turn. *axes gets 1 (text) or RS_AXES. RS_INPUT when the sections do not sum
 * to `pairs`. */
rs_status rs_axes_fill(const rs_settings *settings, const rs_model *model, size_t pairs, uint16_t *axis, size_t *axes,
                       rs_err *err);

/* Learned tables (learned_table.c). Their parameters, for a kind's list; without a trained table they stand as they are
 * initialised. */
#define RS_LEARNED_PARAMS                                                                                              \
  {.name = "init",                                                                                                     \
   .type = RS_CHOICE,                                                                                                  \
   .unit = "",                                                                                                         \
   RS_WORD_LIST("normal", "truncated_normal", "zeros", "xavier"),                                                      \
   .fallback = "normal",                                                                                               \
   .summary = "how the table is drawn: N(0, init_sd^2); the same cut at 2 sd (torch's trunc_normal_ cuts at +-2 "      \
              "itself, 100 sd: that is normal); zeros; or uniform within sqrt(6 / (rows + width))"},                   \
      {.name = "init_sd",                                                                                              \
       .type = RS_REAL,                                                                                                \
       .unit = "1",                                                                                                    \
       .min = 0,                                                                                                       \
       .max = 1e6,                                                                                                     \
       .fallback = "0.02",                                                                                             \
       .summary = "standard deviation of the table's entries, before the cut (0.02: GPT-2, ViT)"},                     \
      RS_TABLE_SEED_PARAM, {                                                                                           \
    .name = "table", .type = RS_REALS, .unit = "1", .min = -1e30, .max = 1e30,                                         \
    .summary = "the trained table, row by row: a list, or a file (default: drawn)"                                     \
  }

/* RS_INPUT, with the parameter as subject, where some of these have no effect beside others, or `table` is not whole
 * rows of the model's width. */
rs_status rs_learned_check(const rs_settings *settings, const rs_model *model, rs_err *err);

/* Draws rows [first, first + count) of a table of `rows` rows of `width` numbers; `above` are the rows of other tables
 * that come before it in the stream of `purpose`. */
void rs_learned_draw(const rs_settings *settings, rs_purpose purpose, size_t above, size_t rows, size_t width,
                     size_t first, size_t count, double *out);

/* The run that holds a token, and where in it the token stands; NULL for the text after the last run. */
const rs_token_run *rs_token_layout_run(const rs_token_layout *layout, size_t token, size_t *offset);

/* How the settings count vision tokens. */
rs_id_rule rs_id_rule_of(const rs_settings *settings);

/* The number given in the recipe, else the model's. */
double rs_setting_or(const rs_settings *settings, const char *name, double of_model);

/* Fills omega, axis, axes, amp, and logit_scale with what the table puts on the logits. */
rs_status rs_frequencies_fill(rs_encoding *encoding, const rs_model *model, rs_err *err);

/* Gains, mixed axes and cached keys: the last word on positions. */
rs_status rs_coordinates_fill(rs_encoding *encoding, const rs_model *model, rs_err *err);

/* The table of steps, where turns are in doubles and the axes are the tokens'. */
rs_status rs_steps_fill(rs_encoding *encoding, rs_err *err);

/* Pairs that turn: rotary_dim / 2, given or of the model. */
size_t rs_pairs_of(const rs_settings *settings, const rs_model *model);

/* RS_INPUT, with the list as subject, unless it has one number (called `what`) for each pair. */
rs_status rs_check_pair_list(const rs_settings *settings, const rs_model *model, const char *list, const char *what,
                             rs_err *err);

/* Sets the parameters of the recipe's dialect: those it always has, or its defaults. RS_INPUT where the user gave what
 * it always has otherwise, or the method has no such dialect. */
rs_status rs_dialect_apply(rs_recipe *recipe, bool always, rs_err *err);

/* RS_UNSUPPORTED, naming the method, where tokens have more than one axis. */
rs_status rs_text_only(const rs_encoding *encoding, rs_err *err);

/* For biases that are functions of m - n whatever their parameters. */
bool rs_always_by_distance(const rs_encoding *encoding);

/* For views near and far: keys nearer than `window` tokens are read through view 0, the others through view 1. */
size_t rs_near_far_segments(size_t query, size_t window, rs_segment out[RS_VIEWS]);

#endif
