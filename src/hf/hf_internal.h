/* What the readers of config.json share. */
#ifndef ROPESCOPE_HF_HF_INTERNAL_H
#define ROPESCOPE_HF_HF_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "encoding/encoding.h"
#include "hf/hf.h"
#include "io/io.h"

/* ---- readers --------------------------------------------------------------------------------------------------- */

/* Reading Hugging Face's config.json: what its readers share. */

/* Types of layers, as `layer_types` and `rope_parameters` have them. */
#define RS_HF_GLOBAL "full_attention"
#define RS_HF_LOCAL "sliding_attention"
#define RS_HF_CHUNKED "chunked_attention"
#define RS_HF_CROSS "cross_attention"
#define RS_HF_LINEAR "linear_attention"

/* Layers of a config.json whose positions are alike. */
typedef struct rs_hf_layers {
  const char *type; /* as above, or another word of layer_types */
  bool bare;        /* they turn nothing */
  bool shares;      /* they use the keys that a layer before them chose */
  double base;      /* what layer_rope_theta gives them, rope_theta of these alone; 0: that of the file */
} rs_hf_layers;

/* Whether the node is there, and not null. */
bool rs_hf_present(const rs_node *node);

/* The text of a scalar; "" where there is none, of null, and of what is no scalar. */
const char *rs_hf_word(const rs_node *node);

/* The first class that a file (its top) says it is of, as "LlamaForCausalLM"; "": it says none. */
const char *rs_hf_class(const rs_node *top);

/* Names of keys, as the readers take them. */
#define RS_KEYS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* The first of `names` (ends at NULL) that is there and not null, or NULL. Borrows. */
const rs_node *rs_hf_first(const rs_node *mapping, const char *const *names);

/* What a flag says, or `fallback` where there is none. */
bool rs_hf_true(const rs_node *mapping, const char *key, bool fallback);

/* The recipe and geometry of such layers of a file (its top), and whether it was trained with it. A wrong key is a
 * problem. */
void rs_hf_layers_read(const rs_node *top, const rs_hf_layers *layers, rs_layer_kind *kind, rs_problems *problems);

/* Says in profile->doubt what was guessed of a file (its top), and which of its keys nothing read to come to the
 * profile. The tree is as before afterwards. */
rs_status rs_hf_doubt(rs_node *top, rs_profile *profile, rs_err *err);

/* The key under which a config that was made of a GGUF file says so: its architecture, and notes on what was guessed.
 */
#define RS_GGUF_MARK "_gguf"

/* Adds the config.json that says what a GGUF file does. */
rs_status rs_gguf_config(const char *file, rs_text *text, rs_err *err);

/* ---- families -------------------------------------------------------------------------------------------------- */

/* What families of Hugging Face models leave unsaid in config.json. */

/* Which layers see a window alone, where no layer_types say so. */
typedef enum rs_window_rule {
  RS_WINDOW_NO_LAYER,
  RS_WINDOW_ALL,
  RS_WINDOW_BUT_LAST,  /* all but the last of each `pattern` */
  RS_WINDOW_BUT_FIRST, /* all but the first of each `pattern` */
  RS_WINDOW_BUT_ENDS,  /* all but the last of each `pattern` and the first layer of all */
  RS_WINDOW_CHUNKS,    /* those that turn see the chunk of attention_chunk_size that they are in */
  RS_WINDOW_USED,      /* all, where use_sliding_window */
  RS_WINDOW_UPPER,     /* where use_sliding_window, those from max_window_layers on */
  RS_WINDOW_EVEN,      /* where use_sliding_window, every second one, from the first to max_window_layers */
  RS_WINDOW_TOP,       /* those from max_window_layers on */
  RS_WINDOW_BARE,      /* where use_sliding_window, those that turn nothing */
  RS_WINDOW_MEMORY,    /* all, where same_length, of mem_len keys (Transformer-XL) */
  RS_WINDOW_REPEATED,  /* those that attention_types, words and how often they are repeated, call local (GPT-Neo) */
  RS_WINDOW_COMPRESSED /* see keys beyond the window averaged, by compress_ratios (DeepSeek-V4) */
} rs_window_rule;

/* Which layers have no rotation. */
typedef enum rs_bare_rule {
  RS_BARE_NO_LAYER,
  RS_BARE_ALL,
  RS_BARE_LISTED, /* where no_rope_layers has 0; without it each no_rope_layer_interval-th */
  RS_BARE_GLOBAL, /* those without a window */
  RS_BARE_BESIDE  /* the same where the model has a window at all */
} rs_bare_rule;

/* How families know order that no method here does: a file of theirs is refused, with the reason. */
typedef enum rs_otherwise {
  RS_OFFERED,
  RS_DISENTANGLED,   /* products of contents with vectors of distances (DeBERTa) */
  RS_TURNED_QUERIES, /* Transformer-XL's, but beside terms of segments or pooled queries (XLNet, Funnel) */
  RS_NO_ATTENTION,   /* a state, or a Fourier transform */
  RS_CONVOLVED,      /* a convolution over the tokens (wav2vec 2.0) */
  RS_WINDOWED,       /* biases by row and column in windows, with a table a layer and a geometry a stage (Swin, BEiT) */
  RS_TWO_WAYS,       /* learned positions and biases by distance at once (MPNet) */
  RS_SCALED_PATCHES  /* rows and columns that are scaled to -1 ... 1 whatever the picture (DINOv3) */
} rs_otherwise;

/* Class defaults; 0 means the general one. */
typedef struct rs_hf_family {
  const char *types; /* each model_type of the family, a blank between two; the first names it; a star stands before
                        what transformers 4.57 has no class for. NULL: no family */
  double theta, rotary_fraction;
  double local_theta;    /* of layers with a window; 0: that of the others */
  const char *local_key; /* of its config that says another; NULL: rope_local_base_freq */
  size_t head_dim, rotary_dim, length;
  size_t width, heads;    /* of a text_config, in which releases leave out what the class says */
  size_t global_head_dim; /* of layers without a window; 0: the same */
  bool interleaved;
  bool plain_local;   /* rope_scaling is of layers without a window alone */
  bool both_ways;     /* it looks ahead */
  bool ends_global;   /* the last layer has no window, whatever the file says */
  const char *method; /* a family without rotation */
  const char *layout; /* of its sinusoidal embeddings; NULL: interleaved */
  size_t offset;      /* position of their first token */
  rs_otherwise otherwise;
  rs_window_rule windows;
  size_t window, pattern; /* of a config without sliding_window and sliding_window_pattern, or max_window_layers */
  rs_bare_rule bare;
  const char *rope; /* what the class has where the file says nothing of rope_scaling: refused; NULL: plain rotation */
  bool temperature; /* layers that turn nothing have Llama 4's */
  size_t sections[RS_AXES]; /* pairs that read t, h, w where the file does not say, and they are all that turn */
  size_t linear;            /* all but the last of each so many layers have no attention but a state */
  bool linear_but_first;    /* Kimi-Linear: every fourth layer but the first has attention, the others a state */
  bool from_last;           /* `pattern` counts backward from the last layer */
  bool layer_bases;         /* layer_rope_theta has the base of each layer, 0 where it turns nothing */
  bool alternates;          /* mrope_section deals pairs to the axes in turn unless mrope_interleaved is false */
} rs_hf_family;

/* What files of such a family are refused with. Static. */
const char *rs_hf_otherwise_text(rs_otherwise otherwise);

/* The family that lists `model_type`; all 0 where none does. */
rs_hf_family rs_hf_family_of(const char *model_type);

/* ---- reader ---------------------------------------------------------------------------------------------------- */

/* Layers of a config.json on the way to a model: what is shared by those who read parts of it.
 */

enum { RS_HF_MOST_DIMS = 4096, RS_HF_MOST_HEADS = 65536, RS_HF_MOST_WIDTH = 1 << 24, RS_HF_MOST_TOKENS = 1 << 28 };

/* The file being read. */
typedef struct rs_hf_reader {
  const rs_node *root; /* the mapping that holds the text model's fields */
  const rs_node *rope; /* the rope dictionary, or NULL */
  const rs_hf_layers *layers;
  bool by_layer;      /* rope is their dictionary of several */
  bool nested;        /* root is a text_config */
  bool compresses;    /* DeepSeek-V4: layers with a window turn plainly, those that see more are scaled */
  const char *family; /* model_type, "" where absent */
  rs_model *model;
  rs_problems *problems;
  size_t problems_before;
} rs_hf_reader;

/* Whether something was found wrong since the layers were begun. */
bool rs_hf_failed(const rs_hf_reader *hf);

/* A whole number from 1 to `most`; `fallback` where there is no node. Reports what is wrong. */
size_t rs_hf_count_of(rs_hf_reader *hf, const rs_node *node, double most, size_t fallback);

/* Whether the file is of this family, by the name of its row; whether the layers are of this type. */
bool rs_hf_in_family(const rs_hf_reader *hf, const char *family);
bool rs_hf_are_of(const rs_hf_reader *hf, const char *type);

/* The part of a head that turns under latent attention, NULL where there is none. */
const rs_node *rs_hf_latent_part(const rs_hf_reader *hf);

/* Geometry, in this order; dims that turn and what follows come after the recipe. */
void rs_hf_read_head_dim(rs_hf_reader *hf, const rs_hf_family *known);
void rs_hf_read_rotary_dim(rs_hf_reader *hf, const rs_hf_family *known);
void rs_hf_read_theta(rs_hf_reader *hf, const rs_hf_family *known);
void rs_hf_read_layout(rs_hf_reader *hf, const rs_hf_family *known);
void rs_hf_read_sections(rs_hf_reader *hf, const rs_hf_family *known);

/* The recipe, and a temperature beside it. */
void rs_hf_read_recipe(rs_hf_reader *hf, const rs_hf_family *known);
void rs_hf_read_temperature(rs_hf_reader *hf);

/* Sets one parameter of the recipe. */
void rs_hf_set_text(rs_hf_reader *hf, const char *name, const char *text);
void rs_hf_set_number(rs_hf_reader *hf, const char *name, double number);

#endif
