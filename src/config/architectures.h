/* Architectures of published models: what transformers' classes compute, as data. A class of a known family is a row
 * of the table. Private to the config layer. */
#ifndef ROPESCOPE_CONFIG_ARCHITECTURES_H
#define ROPESCOPE_CONFIG_ARCHITECTURES_H

#include "ropescope/config.h"

/* What a key of config.json says, or, where it is not there, `fallback`. `key` NULL: always that. */
typedef struct rs_hf_flag {
  const char *key;
  bool fallback;
} rs_hf_flag;

/* Where the rows of one of our matrices are among those of theirs. */
typedef enum rs_hf_rows {
  RS_ROWS_OWN,     /* they are all */
  RS_ROWS_PARTS,   /* q, k and v, or gate and up, one behind the other */
  RS_ROWS_FOLDED,  /* they are all, in the same order, but the shape has other axes */
  RS_ROWS_EXPERTS, /* of one expert among all: (experts, inputs, rows), gates and ups alternating */
  RS_ROWS_GROUPS,  /* for each head of keys: the heads of queries that read it, it, its values */
} rs_hf_rows;

/* What a file calls weights that are named otherwise in Llama, the names' ends (".weight", ".bias") apart. */
typedef struct rs_hf_name {
  const char *ours, *theirs;
  rs_hf_rows rows;
} rs_hf_name;

/* Where the norms of a block are. */
typedef enum rs_norm_order {
  RS_NORMS_BEFORE, /* attention and feed-forward */
  RS_NORMS_AROUND, /* before and behind */
  RS_NORMS_BEHIND,
  RS_NORMS_PARALLEL, /* before both, which read the same x */
  RS_NORMS_SHARED,   /* one before both */
  RS_NORMS_OF_SUMS   /* behind, of x and what the part gives; and none at the end */
} rs_norm_order;

/* Which layers see a window alone, where no layer_types say so. */
typedef enum rs_window_rule {
  RS_WINDOW_NO_LAYER,
  RS_WINDOW_ALL,
  RS_WINDOW_PATTERN, /* all but each `pattern`-th */
  RS_WINDOW_CHUNKS,  /* those that turn see the chunk of attention_chunk_size that they are in */
  RS_WINDOW_UPPER    /* where use_sliding_window, those from max_window_layers on */
} rs_window_rule;

/* Which layers have no rotation. */
typedef enum rs_bare_rule {
  RS_BARE_NO_LAYER,
  RS_BARE_LISTED, /* where no_rope_layers has 0; without it each no_rope_layer_interval-th */
  RS_BARE_GLOBAL  /* those without a window */
} rs_bare_rule;

enum { RS_HF_PREFIXES = 4, RS_HF_MATTERS = 4 };

typedef struct rs_architecture {
  rs_architecture_entry entry;
  const char *also; /* another model_type, of the text part of a larger model; NULL: none */
  rs_form form;
  bool headless;       /* it says its last states */
  rs_norm_order order; /* but for flag `parallel`: false makes it RS_NORMS_BEFORE */
  rs_hf_flag parallel;
  rs_norm norm;  /* its epsilon: that of a config without one */
  bool unscaled; /* q.k is not divided by sqrt(D) */
  rs_norm_kind qk_norm;
  rs_qk_span qk_span;
  bool qk_norm_turned;
  rs_hf_flag qk_normed;     /* whether q and k are normed after all; key NULL: they are */
  rs_activation activation; /* of a config that names none */
  bool own_activation;      /* whatever it names */
  bool gated;
  rs_hf_flag qkv_bias, output_bias, feed_forward_bias;
  const char *one_kv_head; /* a flag: true is one head of keys, false one a head; NULL: num_key_value_heads */
  bool class_bias;         /* of the output */
  bool tied;               /* unless tie_word_embeddings says otherwise */
  bool narrowed;           /* logits by sqrt(d), where tied */
  bool widened;            /* embeddings times sqrt(d) */
  bool embedding_norm;
  double output_scale;          /* of a config without logit_scale */
  const char *feed_forward_key; /* of F, before the usual ones; NULL: those alone */
  size_t feed_forward;          /* F / d of a config without F; 0: it is needed */
  bool own_feed_forward;        /* whatever it says */
  rs_window_rule windows;
  size_t window, pattern; /* of a config without sliding_window and sliding_window_pattern */
  rs_bare_rule bare;
  bool temperature;          /* layers that turn nothing have Llama 4's, and norm neither q nor k */
  bool sinks;                /* a learned logit a head */
  bool clamped_experts;      /* experts as gpt-oss has them */
  bool latent;               /* attention by way of narrow layers, and experts, as DeepSeek-V3 has them */
  const char *expert_layers; /* a list of the layers that have experts, which must be empty; NULL: there is none */
  rs_hf_flag matters[RS_HF_MATTERS]; /* flags that must be so, for what they change is not computed here; end at NULL */
  const char *prefixes[RS_HF_PREFIXES]; /* what names begin with, but the output's; the first that fits the file */
  const char *layers;                   /* and those of layers, before their number */
  const rs_hf_name *names;              /* ends at NULL */
  const char *encoder_layers;           /* the same of an encoder beside the decoder; NULL: there is none */
  const rs_hf_name *encoder_names;
  bool turned;                /* matrices of layers are (inputs, outputs) */
  size_t position_offset;     /* the row of a learned table that the first token has */
  const char *const *ignored; /* parts of names of tensors that are not read; ends at NULL */
} rs_architecture;

/* The row of a model_type, or NULL. */
const rs_architecture *rs_architecture_find(const char *model_type);

/* Names that some rows share (architecture_names.c). */
extern const rs_hf_name rs_names_bert[], rs_names_gpt_oss[], rs_names_deepseek[], rs_names_vit[], rs_names_t5[],
    rs_names_t5_encoder[], rs_names_llama[], rs_names_phi3[], rs_names_gpt2[], rs_names_neox[], rs_names_bloom[],
    rs_names_mpt[], rs_names_opt[], rs_names_gptj[], rs_names_phi[], rs_names_llama4[];

/* Parts of names of tensors that nothing read here depends on: of all files, of the eyes of models that see, of heads
 * of encoders, of copies of embeddings. */
extern const char *const rs_ignored_buffers[], *const rs_ignored_pictures[], *const rs_ignored_heads[],
                                                                                 *const rs_ignored_copies[];

#endif
