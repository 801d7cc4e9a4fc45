/* The parameters that several kinds share, as structs: those of every method, of every rotary method and of every
 * scaled one, and blocks that kinds have among their own. */
#ifndef ROPESCOPE_ENCODING_PARAMS_H
#define ROPESCOPE_ENCODING_PARAMS_H

#include "encoding/encoding.h"
#include "kind_list.h"

/* ---- stages ------------------------------------------------------------------------------------------------------ */

/* Which logit scale: the words of `logit_scale`, in the order of their kinds. */
#define RS_LSCALE_CONSTANT(name) RS_LSCALE_##name,
typedef enum rs_lscale_choice { RS_LSCALE_NONE, RS_LSCALE_KINDS(RS_LSCALE_CONSTANT) RS_LSCALES } rs_lscale_choice;

/* Of every method; kinds of logit scales read these. */
typedef struct rs_common_params {
  size_t train_length; /* tokens; RS_NO_COUNT: the model's */
  rs_lscale_choice logit_scale;
  double logit_scale_factor; /* NaN: the kind's own */
  size_t logit_scale_length; /* tokens; RS_NO_COUNT: the kind's own */
  int dialect;               /* index of its word, or RS_NO_WORD */
} rs_common_params;

typedef enum rs_section_word { RS_SECTION_NONE, RS_SECTION_EQUAL, RS_SECTION_WORDS } rs_section_word;
typedef enum rs_mrope_tail { RS_TAIL_T, RS_TAIL_UNROTATED, RS_MROPE_TAILS } rs_mrope_tail;

typedef struct rs_rotary_params {
  double rope_theta;           /* NaN: the model's */
  size_t rotary_dim;           /* RS_NO_COUNT: the model's */
  rs_pair_layout pair_layout;  /* RS_LAYOUT_OF_MODEL: the model's */
  rs_real_list mrope_section;  /* pairs; rs_section_word */
  rs_axis_layout mrope_layout; /* RS_AXES_OF_MODEL: the model's */
  rs_mrope_tail mrope_tail;
  rs_id_scheme vision_ids;
  double vision_step; /* tokens; NaN: the scheme's own */
  rs_id_arithmetic id_arithmetic;
  rs_wavelengths wavelengths;
  rs_count_or_word cached_keys; /* tokens of the prompt; its word: consistent */
} rs_rotary_params;

typedef enum rs_scale_rule {
  RS_SCALE_FIXED,
  RS_SCALE_AUTO,
  RS_SCALE_DYNAMIC,
  RS_SCALE_HF_DYNAMIC,
  RS_SCALE_VLLM_DYNAMIC,
  RS_SCALE_QWEN_DYNAMIC,
  RS_SCALE_RULES
} rs_scale_rule;

typedef struct rs_scale_params {
  rs_real_or_word scale; /* rs_scale_rule */
  double factor;         /* NaN: none */
} rs_scale_params;

/* These parameters of a recipe, in `params`, which the binding borrows: it is not to be cleared. */
rs_binding rs_common_bind(const rs_settings *settings, rs_common_params *params);
rs_binding rs_rotary_bind(const rs_settings *settings, rs_rotary_params *params);
rs_binding rs_scale_bind(const rs_settings *settings, rs_scale_params *params);

/* Whether nothing says what s is: then it is the default's. */
bool rs_scale_unset(const rs_scale_params *params);

/* s at `length` tokens; as rs_scale_resolve. */
double rs_scale_at(const rs_scale_params *params, double length, double train_length);

/* How a rotary method counts vision tokens. */
rs_id_rule rs_id_rule_of(const rs_rotary_params *params);

/* Pairs that turn: rotary_dim / 2, given or of the model. */
size_t rs_pairs_of(const rs_settings *settings, const rs_model *model);

/* RS_INPUT, with the list at `offset` as subject, unless it has one number (called `what`) for each pair. */
rs_status rs_pair_list_check(const rs_binding *binding, size_t offset, const rs_model *model, const char *what,
                             rs_err *err);

/* ---- the attention factor ---------------------------------------------------------------------------------------- */

typedef enum rs_factor_place { RS_ON_COS_SIN, RS_ON_LOGITS, RS_FACTOR_PLACES } rs_factor_place;
extern const char *const rs_factor_place_words[RS_FACTOR_PLACES + 1];

/* The parameter `temperature` of kinds that have an attention factor. */
#define RS_TEMPERATURE_SPEC(structure)                                                                                 \
  {                                                                                                                    \
    RS_FIELD(structure, temperature),                                                                                  \
        .unit = "", RS_WORDS(rs_factor_place_words), .fallback = "cos_sin",                                            \
        .summary = "where the attention factor g goes: times cos and sin, or g^2 times the "                           \
                   "logits (equal if every dim turns)"                                                                 \
  }

/* Puts the attention factor g where `place` says: on cos and sin, or squared on the logits. */
void rs_place_factor(rs_factor_place place, double g, rs_freq_out *out);

/* ---- by parts ---------------------------------------------------------------------------------------------------- */

typedef enum rs_ramp_rule { RS_RAMP_HF, RS_RAMP_PAPER, RS_RAMP_RULES } rs_ramp_rule;
typedef enum rs_ramp_length { RS_RAMP_TRAIN_LENGTH, RS_RAMP_VLLM_MROPE, RS_RAMP_LENGTHS } rs_ramp_length;
typedef enum rs_ramp_guard { RS_GUARD_HF, RS_GUARD_GGML, RS_GUARD_REFUSE, RS_RAMP_GUARDS } rs_ramp_guard;
extern const char *const rs_ramp_rule_words[RS_RAMP_RULES + 1];
extern const char *const rs_ramp_length_words[RS_RAMP_LENGTHS + 1];
extern const char *const rs_ramp_guard_words[RS_RAMP_GUARDS + 1];

/* The by-parts interpolation: pairs that turn fast keep their frequency, slow ones are divided by s, those between are
 * blended (ramp.c). */
typedef struct rs_by_parts {
  double beta_fast, beta_slow; /* rotations */
  rs_ramp_rule ramp;
  rs_real_or_word ramp_length; /* tokens; rs_ramp_length */
  rs_ramp_guard ramp_guard;
  bool truncate;
} rs_by_parts;

#define RS_BY_PARTS_SPECS(structure, block)                                                                            \
  {RS_FIELD_IN(structure, block, beta_fast),                                                                           \
   .unit = "rotations",                                                                                                \
   .min = 1e-6,                                                                                                        \
   .max = 1e9,                                                                                                         \
   .fallback = "32",                                                                                                   \
   .summary = "pairs that turn more often than this in train_length keep their frequency"},                            \
      {RS_FIELD_IN(structure, block, beta_slow),                                                                       \
       .unit = "rotations",                                                                                            \
       .min = 1e-6,                                                                                                    \
       .max = 1e9,                                                                                                     \
       .fallback = "1",                                                                                                \
       .summary = "pairs that turn less often than this are divided by s"},                                            \
      {RS_FIELD_IN(structure, block, ramp), .unit = "", RS_WORDS(rs_ramp_rule_words), .fallback = "hf",                \
       .summary = "between them, blend linearly in the pair index (hf: the code) or in the rotations (paper)"},        \
      {RS_FIELD_IN(structure, block, ramp_length),                                                                     \
       .unit = "tokens",                                                                                               \
       RS_WORDS(rs_ramp_length_words),                                                                                 \
       .min = 1,                                                                                                       \
       .max = 1e9,                                                                                                     \
       .fallback = "train_length",                                                                                     \
       .summary =                                                                                                      \
           "length in which the ramp counts rotations; vllm_mrope: 4 train_length with M-RoPE, as vLLM has it"},       \
      {RS_FIELD_IN(structure, block, ramp_guard), .unit = "", RS_WORDS(rs_ramp_guard_words), .fallback = "hf",         \
       .summary =                                                                                                      \
           "ramp hf with ends that meet or cross: parted by 0.001 where they meet; also where they cross; or an "      \
           "error, as beyond the first or last pair (gpt-oss)"},                                                       \
  {                                                                                                                    \
    RS_FIELD_IN(structure, block, truncate),                                                                           \
        .unit = "", .fallback = "true", .summary = "ramp hf: round its ends outwards to whole pairs (gpt-oss: false)"  \
  }

/* RS_INPUT where the ends of the ramp cross; the block stands at offset `block` of the struct. */
rs_status rs_by_parts_check(const rs_binding *binding, size_t block, rs_err *err);
rs_status rs_by_parts_fill(const rs_freq_in *in, const rs_by_parts *parts, double *omega, rs_err *err);

/* ---- interpolation ----------------------------------------------------------------------------------------------- */

/* Position Interpolation: one of its two kinds divides. */
typedef struct rs_interpolation {
  rs_interpolated interpolate;
} rs_interpolation;

extern const rs_param rs_interpolation_specs[1];

/* ---- learned numbers --------------------------------------------------------------------------------------------- */

/* The parameter `table_seed` of what is drawn; RS_FIELD or RS_FIELD_IN in front. */
#define RS_TABLE_SEED                                                                                                  \
  .unit = "", .min = 0, .max = 9007199254740992.0, .fallback = "0", .summary = "seed of what is drawn"

typedef enum rs_grid_rule { RS_GRID_OWN, RS_GRID_RULES } rs_grid_rule;
extern const char *const rs_grid_words[RS_GRID_RULES + 1], *const rs_resize_words[RS_RESIZES + 1];

/* The parameters `table_grid` and `resize` of a table on a grid; RS_FIELD in front, a summary behind. */
#define RS_TABLE_GRID                                                                                                  \
  .unit = "patches", RS_WORDS(rs_grid_words), .min = 1, .max = 8192 /* a side; Pix2Struct has 4096 */, .fallback = "own"
#define RS_TABLE_RESIZE .unit = "", RS_WORDS(rs_resize_words), .fallback = "bicubic"

/* RS_INPUT where the list at `offset` is given and is not [rows, columns]; or, where there is a vector for each of the
 * patches (`joint`), too large. */
rs_status rs_table_grid_check(const rs_binding *binding, size_t offset, bool joint, rs_err *err);

typedef enum rs_bias_sd { RS_SD_INV_SQRT_WIDTH, RS_BIAS_SDS } rs_bias_sd;
extern const char *const rs_bias_sd_words[RS_BIAS_SDS + 1];

/* A learned table of biases (tables.c). */
typedef struct rs_learned_bias {
  rs_real_list values;     /* (rows, H) nats; unset: drawn */
  rs_real_or_word init_sd; /* nats; rs_bias_sd */
  size_t table_seed;
} rs_learned_bias;

/* Its specs. `rows` says what a row is for, `sd` is the default of init_sd, `origin` where that is from. */
#define RS_LEARNED_BIAS_SPECS(structure, block, rows, sd, origin)                                                      \
  {RS_FIELD_IN(structure, block, values), .unit = "nats", .min = -1e6, .max = 1e6,                                     \
   .summary = "the table, a number for each head in each row, row by row; rows: " rows " (default: drawn)"},           \
      {RS_FIELD_IN(structure, block, init_sd),                                                                         \
       .unit = "nats",                                                                                                 \
       RS_WORDS(rs_bias_sd_words),                                                                                     \
       .min = 0,                                                                                                       \
       .max = 1e6,                                                                                                     \
       .fallback = sd,                                                                                                 \
       .summary = "standard deviation of a drawn table; inv_sqrt_width: 1/sqrt(H D) (" origin ")"},                    \
  {                                                                                                                    \
    RS_FIELD_IN(structure, block, table_seed), RS_TABLE_SEED                                                           \
  }

/* RS_INPUT when the list at `offset` is given and has not `rows` numbers for each head. */
rs_status rs_bias_list_check(const rs_binding *binding, size_t offset, size_t rows, size_t heads, rs_err *err);

/* RS_INPUT when `values` and what only a draw needs are given. */
rs_status rs_learned_bias_check(const rs_binding *binding, size_t block, rs_err *err);

/* table (rows, H) from `values`, else iid N(0, init_sd^2). RS_DOMAIN when there are more or fewer values. */
rs_status rs_learned_bias_fill(const rs_stage_in *in, const rs_learned_bias *learned, size_t rows, double *table,
                               rs_err *err);

/* What a head's numbers are drawn from. */
rs_stream rs_bias_stream(size_t table_seed, size_t head);

/* Number `index` of a head as the list has it; NULL: drawn from [0, span). */
double rs_head_number(const rs_real_list *list, size_t table_seed, size_t head, uint64_t index, double span);

/* RS_INPUT when the list at `offset` is given and has not `rows` rows of so many numbers. */
rs_status rs_vector_list_check(const rs_binding *binding, size_t offset, size_t rows, size_t columns, rs_err *err);

/* out (count,) from the list, else iid N(0, sd^2) from stream number `stream` of the seed. */
void rs_vector_table_fill(const rs_real_list *list, size_t table_seed, uint32_t stream, double sd, size_t count,
                          double *out);

typedef enum rs_table_init {
  RS_INIT_NORMAL,
  RS_INIT_TRUNCATED_NORMAL,
  RS_INIT_ZEROS,
  RS_INIT_XAVIER,
  RS_TABLE_INITS
} rs_table_init;
extern const char *const rs_table_init_words[RS_TABLE_INITS + 1];

/* A learned table of embeddings; without a trained one it stands as it is initialised (tables.c). */
typedef struct rs_learned_table {
  rs_table_init init;
  double init_sd;
  size_t table_seed;
  rs_real_list table; /* (rows, width); unset: drawn */
} rs_learned_table;

#define RS_LEARNED_TABLE_SPECS(structure, block)                                                                       \
  {RS_FIELD_IN(structure, block, init), .unit = "", RS_WORDS(rs_table_init_words), .fallback = "normal",               \
   .summary = "how the table is drawn: N(0, init_sd^2); the same cut at 2 sd (torch's trunc_normal_ cuts at +-2 "      \
              "itself, 100 sd: that is normal); zeros; or uniform within sqrt(6 / (rows + width))"},                   \
      {RS_FIELD_IN(structure, block, init_sd),                                                                         \
       .unit = "1",                                                                                                    \
       .min = 0,                                                                                                       \
       .max = 1e6,                                                                                                     \
       .fallback = "0.02",                                                                                             \
       .summary = "standard deviation of the table's entries, before the cut (0.02: GPT-2, ViT)"},                     \
      {RS_FIELD_IN(structure, block, table_seed), RS_TABLE_SEED}, {                                                    \
    RS_FIELD_IN(structure, block, table),                                                                              \
        .unit = "1", .min = -1e30, .max = 1e30,                                                                        \
        .summary = "the trained table, row by row: a list, or a file (default: drawn)"                                 \
  }

/* RS_INPUT, with the parameter as subject, where some of these have no effect beside others, or `table` is not whole
 * rows of the model's width, or of one of equal `parts` of it. */
rs_status rs_learned_table_check(const rs_binding *binding, size_t block, const rs_model *model, size_t parts,
                                 rs_err *err);

/* Draws rows [first, first + count) of a table of `rows` rows of `width` numbers; `above` are the rows of other tables
 * that come before it in the stream of `purpose`. */
void rs_learned_table_draw(const rs_learned_table *learned, rs_purpose purpose, size_t above, size_t rows, size_t width,
                           size_t first, size_t count, double *out);

#endif
