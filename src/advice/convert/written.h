/* What a conversion is written with. */
#ifndef ROPESCOPE_CONVERT_WRITTEN_H
#define ROPESCOPE_CONVERT_WRITTEN_H

#include "advice/advice.h"

/* ---- recipes in numbers ------------------------------------------------------------------------------------------ */

/* Layers of one kind, as transformers reads them, at the length that is served. Release with rs_settled_clear. */
typedef struct rs_settled {
  const rs_layer_kind *kind;
  const rs_model *model;       /* the kind's */
  const rs_hf_rope_type *type; /* NULL: they turn nothing, or in a way that has no rope type */
  rs_recipe recipe;            /* resolved */
  rs_spectrum spectrum;        /* no pairs where nothing turns */
  size_t length;               /* tokens */
  double theta;                /* the base, with the scale of NTK-aware scaling in it */
  double factor;               /* s; NaN where the method has none */
  double product;              /* what cos and sin are multiplied by, over YaRN's 0.1 ln s + 1 */
  bool softmax;                /* YaRN's temperature is on the softmax scale */
  bool unusual;                /* YaRN's product is not 1, and not on the softmax scale */
  bool temperature;            /* logits are scaled by position (llama_4_scaling_beta) */
  bool axes;                   /* pairs are shared out among the axes of pictures */
} rs_settled;

/* `length` 0: the longest that the model is published for. RS_DOMAIN. */
rs_status rs_settle(const rs_layer_kind *kind, size_t length, rs_settled *out, rs_err *err);
void rs_settled_clear(rs_settled *settled);

/* Whether the layers have this rope type. */
bool rs_settled_is(const rs_settled *settled, const char *type);

/* A parameter of the recipe, resolved, and as the model's file gives it; NaN where it is not set. */
double rs_settled_number(const rs_settled *settled, const char *name);
double rs_published_number(const rs_settled *settled, const char *name);

/* What LongRoPE multiplies cos and sin by, by the published lengths. */
double rs_longrope_formula(const rs_model *model);

/* The base of one number: a dynamic method's, that of the length that is served. */
double rs_base_at(const rs_settled *settled);

/* ---- what is written --------------------------------------------------------------------------------------------- */

/* A conversion under way. Writers add to it, and ask for failures once, at the end. */
typedef struct rs_converting {
  const rs_convertible *from;
  rs_settled settled; /* the chosen layers */
  rs_conversion *out;
  rs_text text; /* of the fragment, or of a JSON argument */
  rs_json json;
  bool keeps_others; /* keys of the file that no recipe has are in the fragment */
  bool unsaid;       /* a note names layers that this consumer has no key for */
  rs_err err;
} rs_converting;

void rs_note(rs_converting *c, const char *format, ...) RS_PRINTF(2, 3);

/* Adds a flag of the command line; the same (NULL: none) with what stands behind it, in words or as a number. */
void rs_argument(rs_converting *c, const char *flag);
void rs_option(rs_converting *c, const char *flag, const char *format, ...) RS_PRINTF(3, 4);
void rs_option_number(rs_converting *c, const char *flag, double value);

/* Begins a fragment, with the levels around the text model's fields or without. Ends it, as the fragment or (`flag`) as
 * an argument without line breaks. */
void rs_begin(rs_converting *c, bool levels);
void rs_end(rs_converting *c, const char *flag);

/* The text model's fields of the file; NULL: of presets. Borrows. */
const rs_node *rs_file_keys(const rs_converting *c);

/* ---- the rope dictionary ----------------------------------------------------------------------------------------- */

/* How a consumer is told what multiplies cos and sin. */
typedef enum rs_magnitude_style {
  RS_AS_PUBLISHED, /* by the keys of the file */
  RS_BY_PRODUCT,   /* attn_factor multiplies YaRN's 0.1 ln s + 1; LongRoPE's are short_mscale and long_mscale */
  RS_IN_PLACE      /* attention_factor, in place of the formula */
} rs_magnitude_style;

typedef struct rs_dictionary_style {
  bool base, fraction;      /* rope_theta and partial_rotary_factor stand in it */
  bool outer_original;      /* LongRoPE's original length does not */
  bool compressed_fraction; /* partial_rotary_factor stands in DeepSeek-V4's, too, beside qk_rope_head_dim */
  bool both_types;          /* type stands beside rope_type */
  bool by_mscale;           /* what YaRN multiplies cos and sin by is said by mscale, too */
  rs_magnitude_style magnitude;
} rs_dictionary_style;

/* Adds an object with the keys of a recipe that has a rope type. */
void rs_put_dictionary(rs_converting *c, const rs_settled *settled, const char *key, const rs_dictionary_style *style);

/* Adds partial_rotary_factor where some dims do not turn, and no other key says how many. */
void rs_put_fraction(rs_converting *c, const rs_settled *settled);

/* Adds numbers on one line. */
void rs_put_list(rs_json *json, const char *key, const double *list, size_t count);

/* max_position_embeddings that goes with it: dynamic NTK counts from it, others are served up to it. */
size_t rs_maximum_of_settled(const rs_settled *settled);

/* Whether rope_parameters is by type of layers: several types turn, each in its way, or the file has null for one.
 * Layers that turn nothing by their class, or by no_rope_layers, do not count: their classes read one flat dictionary.
 */
bool rs_by_layers(const rs_converting *c);

/* Whether the file's rope_parameters has null in the place of the recipe of these layers. */
bool rs_turned_off(const rs_converting *c, size_t kind);

/* Adds rope_parameters of all layers that turn, by type where rs_by_layers, else flat. */
void rs_put_layers(rs_converting *c, const char *key, const rs_dictionary_style *style);

/* Notes keys of the file's rope dictionary that no recipe has and that are left out. */
void rs_note_other_keys(rs_converting *c);

/* Such a key of the chosen layers' dictionary, or NULL. Borrows. */
const rs_node *rs_other_key(const rs_converting *c, const char *key);

/* ---- what is read back ------------------------------------------------------------------------------------------- */

/* Whether the model's file with the keys of this fragment in it turns pairs as `from` says, in all layers; *kind: the
 * first layers that do not. The file is there. */
bool rs_reads_back(rs_converting *c, const char *fragment, size_t *kind);

/* ---- notes that several need ------------------------------------------------------------------------------------- */

/* Positions that no rotation gives: ALiBi, T5's buckets, learned ones, none. */
void rs_note_unturned(rs_converting *c, const char *who);

/* A larger base stands for HunYuan's alpha, or for one that grows with the length (Qwen 1), at one length alone. */
void rs_note_base(rs_converting *c);

/* Layers that turn otherwise, of which this consumer is told nothing. */
void rs_note_layers(rs_converting *c, const char *what);

/* What an engine computes otherwise from what it is given: the recipe under its dialect with these settings (name,
 * value, ending at NULL) beside the published one. */
typedef struct rs_engine_setting {
  const char *name;
  double value;
} rs_engine_setting;
void rs_note_engine(rs_converting *c, const char *who, const char *dialect, const rs_engine_setting *settings);

/* ---- consumers --------------------------------------------------------------------------------------------------- */

typedef void rs_writer(rs_converting *c);
rs_writer rs_to_kept, rs_to_hf4, rs_to_hf5, rs_to_vllm, rs_to_sglang, rs_to_llamacpp, rs_to_gguf, rs_to_megatron,
    rs_to_mlx;

#endif
