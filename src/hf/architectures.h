/* Architectures as data, and the checkpoints that have them. */
#ifndef ROPESCOPE_HF_ARCHITECTURES_H
#define ROPESCOPE_HF_ARCHITECTURES_H

#include "hf/hf.h"

#include "hf_internal.h"

/* ---- architectures --------------------------------------------------------------------------------------------- */

/* Architectures of published models: what transformers' classes compute, as data. A class of a known family is a row
 * of the table. */

/* What a key of config.json says, or, where it is not there, `fallback`. `key` NULL: always that. */
typedef struct rs_hf_flag {
  const char *key;
  bool fallback;
} rs_hf_flag;

/* Where the rows of one of our matrices are among those of theirs. */
typedef enum rs_hf_rows {
  RS_ROWS_OWN,            /* they are all */
  RS_ROWS_PARTS,          /* q, k and v, or gate and up, one behind the other */
  RS_ROWS_FOLDED,         /* they are all, in the same order, but the shape has other axes */
  RS_ROWS_EXPERTS,        /* of one expert among all: (experts, rows, inputs), gates, then ups */
  RS_ROWS_EXPERTS_TURNED, /* the same, but (experts, inputs, rows) */
  RS_ROWS_EXPERTS_MIXED,  /* turned, and gates and ups alternate */
  RS_ROWS_EXPERTS_BELOW,  /* of one expert among all, one below the other: (experts rows, inputs), down turned */
  RS_ROWS_PADDING,        /* one row of a table of positions: that of padding */
  RS_ROWS_GROUPS,         /* for each head of keys: the heads of queries that read it, it, its values */
  RS_ROWS_QUARTERS,       /* for each quarter of the heads: their queries, their values, their keys */
  RS_ROWS_HEADS,          /* those of each head are a tensor, whose number stands in the place of # */
  RS_ROWS_ONES,           /* no file has them: they are ones */
  RS_ROWS_PAIRS,          /* they are all, but pairs of a head stand side by side, not half a head apart */
  RS_ROWS_CURVE,          /* what xIELU has learned: numbers that are tensors of their own */
  RS_ROWS_BESIDE_SECOND,  /* a table of positions whose second row, the distillation token's, is added to that token */
  RS_ROWS_REVERSED,       /* they are all, from the last to the first */
} rs_hf_rows;

/* What a file calls weights that are named otherwise in Llama, the names' ends (".weight", ".bias") apart; # is the
 * number of an expert, of a head, or of the first layer whose positions they are. Where some are called one way in some
 * files, and another way in others, each has a line, and the first that fits is right. */
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

/* Which layers have experts. */
typedef enum rs_expert_rule {
  RS_EXPERTS_NO_LAYER,
  RS_EXPERTS_ALL,
  RS_EXPERTS_BEHIND, /* from first_k_dense_replace on */
  RS_EXPERTS_STEPS,  /* each decoder_sparse_step-th but those of mlp_only_layers */
  RS_EXPERTS_LISTED, /* those of moe_layers; without it each interleave_moe_layer_step-th */
  RS_EXPERTS_BETWEEN /* each moe_layer_interval-th from moe_layer_start_index to moe_layer_end_index */
} rs_expert_rule;

typedef struct rs_hf_experts {
  rs_expert_rule layers;
  size_t first;             /* of a config without first_k_dense_replace or moe_layer_start_index */
  const char *width;        /* its key; NULL: that of layers without experts */
  const char *shared_width; /* of the one that reads all tokens, its key; NULL: */
  bool shared_counted;      /* as many times the width of another as a key says, */
  size_t shared;            /* or, of a config without, this */
  rs_hf_flag normed;        /* whether weights of those that are chosen sum to 1 */
  const char *power;        /* a key for that: 1, or null where they do not; NULL: `normed` alone */
  rs_experts choice;        /* how they are chosen; scale, groups and limit, where not 0: of a config without */
} rs_hf_experts;

enum { RS_HF_PREFIXES = 4, RS_HF_MATTERS = 4 };

/* Which keys say what multiplies embeddings, scores, what blocks add, and logits; `widened` and `output_scale` are then
 * not read. */
typedef enum rs_multipliers {
  RS_SCALES_NONE,
  RS_SCALES_GRANITE, /* as embedding_multiplier, residual_multiplier, attention_multiplier, logits_scaling say */
  RS_SCALES_MINICPM  /* as scale_emb, scale_depth, dim_model_base say */
} rs_multipliers;

typedef struct rs_architecture {
  rs_architecture_entry entry;
  rs_hf_family family; /* what its config.json leaves unsaid; `types` NULL: another row says it, or none */
  const char *also;    /* another model_type, of the text part of a larger model; NULL: none */
  rs_form form;
  bool headless;       /* it says its last states */
  bool classifies;     /* but where its class is one ForImageClassification, which says a class */
  bool distilled;      /* a second learned token stands behind the class token */
  rs_norm_order order; /* but for flag `parallel`: false makes it RS_NORMS_BEFORE */
  rs_hf_flag parallel;
  rs_hf_flag norms_before; /* true makes it RS_NORMS_BEFORE, too */
  const char
      *grouped;  /* a flag of files (Falcon's) whose heads share keys and run parallel, see read_order; NULL: none */
  rs_norm norm;  /* its epsilon: that of a config without one */
  bool unscaled; /* q.k is not divided by sqrt(D) */
  double score_dims;            /* D of the scale of scores, of a config without query_pre_attn_scalar; 0: the head's */
  double score_cap, output_cap; /* nats, of a config without soft caps */
  rs_norm_kind qk_norm;
  rs_qk_span qk_span;
  bool qk_norm_bare; /* without biases, whatever the others have */
  bool qk_norm_turned;
  rs_hf_flag qk_normed;       /* whether q and k are normed after all; key NULL: they are */
  rs_activation activation;   /* of a config that names none */
  bool own_activation;        /* whatever it names */
  const char *activation_key; /* by this key alone (Gemma's files have two); NULL: the usual ones */
  bool learned_curve;         /* where it is called xielu, or not named */
  bool gated;
  rs_hf_flag qkv_bias, output_bias, feed_forward_bias;
  bool clipped;             /* q, k and v, where clip_qkv is there */
  const char *one_kv_head;  /* a flag: true is one head of keys, false one a head; NULL: num_key_value_heads */
  const char *kv_heads_key; /* before the usual ones; NULL: those alone */
  size_t kv_heads;          /* of a config without num_key_value_heads; 0: one a head */
  bool class_bias;          /* of the output */
  const char *class_biased; /* a flag that says so; NULL: there is none */
  bool tied;                /* unless tie_word_embeddings says otherwise */
  bool narrowed;            /* logits by sqrt(d), where tied */
  bool widened;             /* embeddings times sqrt(d), unless scale_embedding is false */
  rs_multipliers scales;
  bool embedding_norm;
  size_t embedding_size; /* of embeddings that a matrix widens, of a config without it; 0: there is no such matrix */
  bool projected;        /* there is one if embeddings are as wide as all else */
  rs_hf_flag norm_bias;  /* whether norms have biases; key NULL: as `norm` says */
  bool first_unnormed;   /* the first layer's attention reads embeddings as they are */
  bool own_output;       /* never tied, whatever tie_word_embeddings says */
  bool gated_by_name;  /* gated where the activation is called "gated-...", "swiglu" or "geglu", or is_gated_act says so
                        */
  bool gated_narrower; /* where use_swiglu_ffn, gated by silu, and two thirds as wide */
  bool biases_apart;   /* each layer has a positional bias of its own */
  bool distances;      /* position_embedding_type may be relative_key or relative_key_query */
  bool adaptive;       /* div_val, d_embed and attn_type may say what is not read (Transformer-XL) */
  bool padded;         /* pad_token_id has no position; the first is that of the next row of the table */
  double output_scale; /* of a config without logit_scale */
  const char *feed_forward_key; /* of F, before the usual ones; NULL: those alone */
  size_t feed_forward;          /* F / d of a config without F; 0: it is needed */
  bool own_feed_forward;        /* whatever it says */
  bool bare_unnormed;           /* layers that turn nothing norm neither q nor k */
  bool sinks;                   /* a learned logit a head */
  bool latent;                  /* attention by way of narrow layers, as DeepSeek has it */
  rs_hf_experts experts;
  rs_hf_flag matters[RS_HF_MATTERS]; /* flags that must be so, for what they change is not computed here; end at NULL */
  const char *prefixes[RS_HF_PREFIXES]; /* what names begin with, but the output's; the first that fits the file */
  const char *layers;                   /* and those of layers, before their number */
  const char *layer_part;               /* and behind it, of groups of layers that share weights; NULL: none do */
  const rs_hf_name *names;              /* ends at NULL */
  const rs_hf_name *names_before;       /* where `norms_before`; NULL: the same */
  const char *encoder_layers;           /* the same of an encoder beside the decoder; NULL: there is none */
  const rs_hf_name *encoder_names;
  bool extra_layers; /* files may have more of them, which guess further tokens, and are not read */
  const char
      *part_scales[2]; /* vectors of layers that multiply what attention and feed-forward add; NULL: there are none */
  bool turned;         /* matrices of layers are (inputs, outputs) */
  size_t position_offset;     /* the row of a learned table that the first token has */
  const char *const *ignored; /* parts of names of tensors that are not read; ends at NULL */
} rs_architecture;

/* Rows of decoders.c, decoders_further.c, mixtures.c and encoders.c; each list ends with one without a model_type. */
extern const rs_architecture rs_decoders[], rs_further_decoders[], rs_mixtures[], rs_encoders[];

/* Row `index` of all lists, one behind the other; NULL past the last. */
const rs_architecture *rs_architecture_at(size_t index);

/* Names that rows of both files of decoders have. */
extern const rs_hf_name rs_names_llama[], rs_names_mistral[];

/* Parts of names of tensors that nothing read here depends on: of all files, of the eyes of models that see. */
extern const char *const rs_ignored_buffers[], *const rs_ignored_pictures[];

/* ---- rows ------------------------------------------------------------------------------------------------------ */

/* Words for rows of architectures. */

#define RMS_OF(e)                                                                                                      \
  { .kind = RS_NORM_RMS, .epsilon = (e) }
#define RMS RMS_OF(1e-6)
#define RMS_AROUND_ONE                                                                                                 \
  { .kind = RS_NORM_RMS, .around_one = true, .epsilon = 1e-6 }
#define LAYER                                                                                                          \
  { .kind = RS_NORM_LAYER, .bias = true, .epsilon = 1e-5 }
#define LAYER_BARE                                                                                                     \
  { .kind = RS_NORM_LAYER, .epsilon = 1e-5 } /* weights without biases */
#define ALWAYS                                                                                                         \
  { .fallback = true }

/* A list of names; the words below are entries that many lists have. */
#define NAMES(list, ...) const rs_hf_name list[] = {__VA_ARGS__, {NULL, NULL, RS_ROWS_OWN}}
#define NAME_OF(ours, theirs, rows)                                                                                    \
  { ours, theirs, RS_ROWS_##rows }
#define NAME(ours, theirs) NAME_OF(ours, theirs, OWN)
#define NORMS(before, behind) NAME("input_layernorm", before), NAME("post_attention_layernorm", behind)
#define QKV(one, rows)                                                                                                 \
  NAME_OF("self_attn.q_proj", one, rows), NAME_OF("self_attn.k_proj", one, rows), NAME_OF("self_attn.v_proj", one, rows)
#define ATTENTION(q, k, v, o)                                                                                          \
  NAME("self_attn.q_proj", q), NAME("self_attn.k_proj", k), NAME("self_attn.v_proj", v), NAME("self_attn.o_proj", o)
#define GATE_UP(one, rows) NAME_OF("mlp.gate_proj", one, rows), NAME_OF("mlp.up_proj", one, rows)
#define GATE_UP_SHARED(one, rows)                                                                                      \
  NAME_OF("mlp.shared_experts.gate_proj", one, rows), NAME_OF("mlp.shared_experts.up_proj", one, rows)
#define GATE_UP_EXPERTS(one, rows)                                                                                     \
  NAME_OF("mlp.experts.#.gate_proj", one, rows), NAME_OF("mlp.experts.#.up_proj", one, rows)
#define SHARED(expert)                                                                                                 \
  NAME("mlp.shared_experts.gate_proj", expert ".gate_proj"), NAME("mlp.shared_experts.up_proj", expert ".up_proj"),    \
      NAME("mlp.shared_experts.down_proj", expert ".down_proj")
/* Each expert on its own, or all in one. */
#define EACH_EXPERT(gate, up, down)                                                                                    \
  NAME("mlp.experts.#.gate_proj", gate), NAME("mlp.experts.#.up_proj", up), NAME("mlp.experts.#.down_proj", down),     \
      GATE_UP_EXPERTS("mlp.experts.gate_up_proj", EXPERTS),                                                            \
      NAME_OF("mlp.experts.#.down_proj", "mlp.experts.down_proj", EXPERTS)
#define MLP(up, down) NAME("mlp.up_proj", up), NAME("mlp.down_proj", down)

/* A row: its type and what it is, the members that are not 0, and what its family leaves unsaid. */
#define ROW(model_type, summary, ...)                                                                                  \
  { .entry = {model_type, summary}, __VA_ARGS__ }
#define FAMILY(names, ...) .family = {.types = names, __VA_ARGS__}

#define SWIGLU .activation = RS_SILU, .gated = true
#define ATTENTION_BIASES(key, fallback) .qkv_bias = {key, fallback}, .output_bias = {key, fallback}
#define BIASES(key, fallback) ATTENTION_BIASES(key, fallback), .feed_forward_bias = {key, fallback}

/* ---- weights --------------------------------------------------------------------------------------------------- */

/* Where each of our weights stands among those of a checkpoint's file. */

/* What is being read. */
typedef struct rs_hf_loader {
  const rs_hf_checkpoint *checkpoint;
  const rs_safetensors *file;
  const char *prefix;
  bool *used; /* (file->count,) */
  rs_transformer *transformer;
} rs_hf_loader;

/* One of our weights among theirs. */
typedef struct rs_hf_source {
  char name[192];
  const rs_hf_name *renamed; /* NULL: called as in Llama */
  bool encoder;              /* of the encoder beside the decoder */
  long block;                /* of which it is part; -1: of none */
  long number;               /* of the block's expert, or of the block whose positions they are */
} rs_hf_source;

/* Whether a name has `part` in it. */
bool rs_hf_is_part(const char *name, const char *part);

/* "model.layers.3.self_attn.q_proj.weight" of ours: what theirs is called under the loader's prefix. */
rs_hf_source rs_hf_source_of(const rs_hf_loader *l, const rs_tensor *tensor);

/* The first front under which the file has the embeddings; what was saved without an output has none. Static. */
const char *rs_hf_prefix_of(const rs_hf_loader *l);

/* Where rows of ours are among those of theirs: `run` rows side by side, the next run `step` rows further. */
typedef struct rs_hf_row_map {
  size_t all;   /* rows of theirs */
  size_t start; /* numbers of theirs before them */
  size_t first, run, step;
  bool paired; /* runs are halves of heads, whose rows alternate there */
} rs_hf_row_map;

rs_hf_row_map rs_hf_rows_of(const rs_hf_loader *l, const rs_tensor *tensor, const rs_hf_source *s);

/* Their row of our row `index`. */
size_t rs_hf_their_row(const rs_hf_row_map *map, size_t index);

/* Whether the rows are those of one expert among all, whose biases end in "_bias", and weights in nothing. */
bool rs_hf_of_experts(rs_hf_rows rows);

/* ---- checkpoint ------------------------------------------------------------------------------------------------ */

/* A checkpoint's config.json that is being read. */

typedef struct rs_hf_file {
  const rs_node *top, *root; /* of the file; the mapping of it that holds the text model's fields */
  const rs_architecture *row;
  rs_profile profile;
  rs_hf_checkpoint *out;
  rs_problems problems;
} rs_hf_file;

/* Reports a key that must be there. */
void rs_hf_missing(rs_hf_file *file, const char *key);

/* A whole number from `least` at the first of `keys` that is there, else `fallback`. */
size_t rs_hf_count(rs_hf_file *file, const char *const *keys, double least, size_t fallback);

/* The same of a size that each file must say: 0, and reported, where it does not. */
size_t rs_hf_needed(rs_hf_file *file, const char *const *keys);

/* A number, likewise. */
double rs_hf_real(rs_hf_file *file, const char *const *keys, double least, double fallback);
bool rs_hf_says(const rs_hf_file *file, rs_hf_flag flag);

/* Finds the row. RS_INPUT without a model_type; RS_UNSUPPORTED, with a hint, where none is of it. */
rs_status rs_hf_find_row(rs_hf_file *file, rs_err *err);

/* RS_UNSUPPORTED for a key that changes what the architecture computes. */
rs_status rs_hf_refuse(const rs_hf_file *file, const char *key, rs_err *err);

/* Refuses experts where the architecture has none, and those that choose otherwise. */
rs_status rs_hf_refuse_experts(const rs_hf_file *file, rs_err *err);

/* Gives experts to the blocks that have them, which are alike. */
void rs_hf_place_experts(rs_hf_file *file, rs_stack *stack);

/* Gives each block of the shape its mask and its recipe. RS_INPUT and what recipes fail with; a wrong key is a problem
 * of the file. */
rs_status rs_hf_read_layers(rs_hf_file *file, rs_err *err);

#endif
