/* What families of Hugging Face models leave unsaid in config.json. Private to the hf layer. */
#ifndef ROPESCOPE_HF_FAMILIES_H
#define ROPESCOPE_HF_FAMILIES_H

#include "encoding/encoding.h"

#include <stdbool.h>
#include <stddef.h>

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
  RS_TURNED_QUERIES, /* products of queries with sinusoidal vectors of distances (Transformer-XL) */
  RS_NO_ATTENTION,   /* a state, or a Fourier transform */
  RS_CONVOLVED,      /* a convolution over the tokens (wav2vec 2.0) */
  RS_WINDOWED,       /* biases by row and column in windows, with a table a layer and a geometry a stage (Swin, BEiT) */
  RS_TWO_WAYS,       /* learned positions and biases by distance at once (MPNet) */
  RS_SCALED_PATCHES  /* rows and columns that are scaled to -1 ... 1 whatever the picture (DINOv3) */
} rs_otherwise;

/* Class defaults; 0 means the general one. */
typedef struct rs_hf_family {
  const char *types; /* each model_type of the family, a blank between two; the first names it. NULL: no family */
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

#endif
