/* hf/hf.h: published models in Hugging Face's layout. The config.json of a model becomes its recipe and
 * geometry; that of a folder with weights a transformer. What transformers' classes compute is data (architectures.c).
 */
#ifndef ROPESCOPE_HF_H
#define ROPESCOPE_HF_H

#include "io/io.h"
#include "model/model.h"

/* ---- layers ------------------------------------------------------------------------------------------------------ */

enum { RS_LAYER_NAME = 64 };

/* The part of layers that chooses their keys. */
typedef struct rs_indexer {
  size_t dims, turned; /* of its queries and keys, and the first of them that turn, as the layer's base has it */
  bool interleaved;    /* in pairs of neighbours, else in halves */
  bool known;          /* false: the file and its class do not say, and nothing of the above holds */
} rs_indexer;

/* What layers of one kind do with positions. */
typedef struct rs_layer_kind {
  char name[RS_LAYER_NAME]; /* as layer_types has it, "sliding_attention"; "_nope" behind where others of it turn */
  bool attends;             /* false: layers without attention (Mamba, linear attention), of which no more is said */
  bool tuned;               /* the file says that it was trained with this recipe (finetuned: true) */
  rs_model model;           /* their geometry, and the recipe that is published for them */
  rs_mask mask;             /* what they see, but for `compression` */
  size_t compression;       /* keys beyond the window are averaged so many at a time (DeepSeek-V4); 0: they are not */
  bool chooses;             /* each query attends a few keys that a part of the layer chooses, which is not modelled */
  size_t chosen, block;     /* how many blocks of how many keys it chooses; 0: the file does not say */
  bool shares;              /* they attend the keys that the last layer before them chose which does not */
  rs_indexer indexer;       /* of layers that choose */
} rs_layer_kind;

/* A model, layer by layer. Zero-initialise; release with rs_profile_clear. */
typedef struct rs_profile {
  rs_layer_kind *kinds; /* (kind_count,) in the order of their first layers */
  size_t kind_count;
  size_t *layers; /* (layer_count,) the kind of each */
  size_t layer_count;
  size_t chosen; /* the kind that is meant where none is named: full attention that turns, else what most layers are */
  bool counted;  /* false: the file does not say how many layers it has, and one round of its pattern stands for them */
  char *doubt; /* what was guessed of a file: "class zebra_lm is unknown here and is read as a Llama; keys that are not
                  read: sliding_window"; NULL: nothing. Owned */
} rs_profile;

/* Whether what is there is a GGUF file, or is called one: by its first bytes, or by its name. */
bool rs_hf_is_gguf(const char *path) RS_NONNULL(1);

/* Whatever says a model's config, as the text of a config.json (length, and a NUL behind): the file's own, or of a GGUF
 * file what its metadata and tensors come to, which rs_hf_tree knows by its first key. RS_INPUT with the keys that are
 * wrong or missing, a line each, RS_UNSUPPORTED for an architecture that is not read, RS_IO; free(*text). */
rs_status rs_hf_config_load(const char *file, char **text, size_t *length, rs_err *err) RS_NONNULL(1, 2, 3);

/* Such a text as a tree: rs_json_read. Nodes of what was a GGUF file have no line, as it has none. */
rs_status rs_hf_tree(const char *text, size_t length, const char *name, rs_tree **tree, rs_err *err)
    RS_NONNULL(1, 3, 4);

/* Whether such a tree (its top) was made of a GGUF file. */
bool rs_hf_was_gguf(const rs_node *top) RS_NONNULL(1);

/* The file's rope.scaling.attn_factor, by which llama.cpp multiplies its own factor on cos and sin; 1 where it has
 * none. */
double rs_hf_gguf_attn_factor(const rs_node *top) RS_NONNULL(1);

/* The layers of a Hugging Face config.json: by its lists, by its patterns, else as its class in transformers has them.
 * RS_INPUT with each key that is wrong, a line each; or where no layer has attention. Cleared on failure. */
rs_status rs_profile_load(const char *file, rs_profile *profile, rs_err *err) RS_NONNULL(1, 2);

/* The same for a config in memory (length); `name` stands in messages. */
rs_status rs_profile_read(const char *text, size_t length, const char *name, rs_profile *profile, rs_err *err)
    RS_NONNULL(1, 3, 4);

/* Layers in a regular pattern: all but each `pattern`-th see a window. */
typedef struct rs_regular_layers {
  size_t count;       /* 0: not known, and all are alike */
  size_t window;      /* tokens; 0: none */
  size_t pattern;     /* 0: each layer sees the window */
  double local_theta; /* layers with the window are plain RoPE with this base; 0: they turn like the others */
} rs_regular_layers;

/* The same of a file (its top) that is parsed already, without looking for doubts. */
rs_status rs_hf_profile(const rs_node *top, rs_profile *profile, rs_err *err) RS_NONNULL(1, 2);

/* The words of layer_types that are known here; ends at NULL. */
extern const char *const rs_hf_layer_types[];
bool rs_hf_is_layer_type(const char *word) RS_NONNULL(1);

/* The profile of a model, which is that of its layers without a window, where there are any. */
rs_status rs_profile_regular(const rs_model *model, const rs_regular_layers *layers, rs_profile *profile, rs_err *err)
    RS_NONNULL(1, 2, 3);
void rs_profile_clear(rs_profile *profile) RS_NONNULL(1);

/* The kind called `word`, or that of the layer with this number; NULL: the chosen one. RS_INPUT, with all there are,
 * where it is none, or has no attention. */
rs_status rs_profile_find(const rs_profile *profile, const char *word, size_t *kind, rs_err *err) RS_NONNULL(1, 3);

/* Whether layers of both kinds have the same geometry and recipe, whatever they see. */
bool rs_layers_turn_alike(const rs_layer_kind *a, const rs_layer_kind *b) RS_NONNULL(1, 2);

/* Whether layers with attention have several recipes. */
bool rs_profile_mixed(const rs_profile *profile) RS_NONNULL(1);

/* Whether two profiles say the same of each layer. */
bool rs_profiles_equal(const rs_profile *a, const rs_profile *b) RS_NONNULL(1, 2);

/* Adds the numbers of the layers of a kind, "0-4, 6-10, 12". */
void rs_profile_write_layers(const rs_profile *profile, size_t kind, rs_text *text) RS_NONNULL(1, 3);

/* Adds which layers are spoken of, and which turn otherwise: "full_attention (layers 5, 11), not sliding_attention
 * (0-4, 6-10)". */
void rs_profile_write_choice(const rs_profile *profile, size_t kind, rs_text *text) RS_NONNULL(1, 3);

/* How many keys the last query of `length` tokens attends at most in layers of a kind, those that stand for several
 * counted once; 0 where they have no attention. */
size_t rs_layer_kind_keys(const rs_layer_kind *kind, size_t length) RS_NONNULL(1);

/* Adds what layers of a kind see, "window 1024", "everything before", "chunks of 8192". */
void rs_layer_kind_write_mask(const rs_layer_kind *kind, rs_text *text) RS_NONNULL(1, 2);

/* ---- recipes ----------------------------------------------------------------------------------------------------- */

/* The recipe and geometry of the chosen layers of a Hugging Face config.json. `model` is cleared on failure. */
rs_status rs_hf_model_load(const char *file, rs_model *model, rs_err *err) RS_NONNULL(1, 2);

/* The same for a config in memory (length); `name` stands in messages. */
rs_status rs_hf_model_read(const char *text, size_t length, const char *name, rs_model *model, rs_err *err)
    RS_NONNULL(1, 3, 4);

/* The mapping that holds the fields of the text model, which is the whole where there is no other. Borrows. */
const rs_node *rs_hf_text_config(const rs_node *root) RS_NONNULL(1);

/* Where the text model's fields say the longest length: max_position_embeddings, n_positions, ...; NULL: nowhere.
 * Borrows. */
const rs_node *rs_hf_length(const rs_node *keys);

/* model_type of the text model, else of the whole; "" where there is none. Borrows. */
const char *rs_hf_named_type(const rs_node *top) RS_NONNULL(1);

/* The same where it is known here, else that of the class which `architectures` names, where that is known: what the
 * file is read as. Borrows. */
const char *rs_hf_model_type(const rs_node *top) RS_NONNULL(1);

/* The model_type of a class that is called so, by its whole name; NULL: none is known. Static. */
const char *rs_hf_type_of_class(const char *name) RS_NONNULL(1);

/* The model_type of the class that `architectures` names, where model_type is known here, too, and says another; else
 * NULL. Static. */
const char *rs_hf_other_type(const rs_node *top) RS_NONNULL(1);

/* Adds what a file (its top) is read as, and by which of its keys: "gemma3_text, by text_config.model_type". */
void rs_hf_write_class(const rs_node *top, rs_text *text) RS_NONNULL(1, 2);

enum { RS_UNREAD_KEYS = 48 };

/* A key of a file that nothing reads: neither its absence nor another value changes what the file comes to. Borrows. */
typedef struct rs_unread_key {
  rs_node *node;
  char path[160]; /* "rope_scaling.mscale" */
} rs_unread_key;

typedef struct rs_unread {
  rs_unread_key keys[RS_UNREAD_KEYS];
  size_t count;
} rs_unread;

/* The keys of rotation and windows of a file (its top), and all keys of dictionaries of rotation, that nothing reads to
 * come to `profile`, which it is read as. The tree is as before afterwards. RS_MEMORY. */
rs_status rs_hf_unread(rs_node *top, const rs_profile *profile, rs_unread *unread, rs_err *err) RS_NONNULL(1, 2, 3);

/* Whether a file (its top) has the keys of a params.json, as Mistral's and Meta's own code write it. */
bool rs_hf_is_params(const rs_node *top) RS_NONNULL(1);

/* Whether the class defaults of `model_type` are known here, by its exact name: what a file leaves unsaid is a guess
 * where they are not. */
bool rs_hf_knows(const char *model_type) RS_NONNULL(1);

/* Whether `model_type` is listed in the family of this name: "gemma3_text" in "gemma3". */
bool rs_hf_is_of(const char *model_type, const char *family) RS_NONNULL(1, 2);

/* Whether transformers 5 (5.24) has a class for `model_type`, and 4 (4.57) has none. */
bool rs_hf_is_first_in_5(const char *model_type) RS_NONNULL(1);

/* The key by which a file gives layers of one kind of `model_type` their base: "rope_theta", or what layers with a
 * window have where their class gives them a base of their own, "rope_local_base_freq". Static. */
const char *rs_hf_base_key(const char *model_type, const rs_layer_kind *kind) RS_NONNULL(1, 2);

/* The method that Hugging Face's rope type `type` ("linear") is, where it has another name here; else NULL. */
const char *rs_hf_method(const char *type) RS_NONNULL(1);

/* The rope type that the class of `model_type` reads where `type` stands: "su" is longrope, and so is yarn in Phi-3's;
 * Qwen 1's reads none, hence "default". `type` itself where it has no other name. */
const char *rs_hf_rope_type_read(const char *model_type, const char *type) RS_NONNULL(1, 2);

/* How a parameter is written in the rope dictionary; `required` as transformers' validators have it. */
typedef struct rs_hf_key {
  const char *key, *param;
  bool required;
} rs_hf_key;

/* A rope type and the method that it is here; keys end at the first NULL. */
typedef struct rs_hf_rope_type {
  const char *type, *method;
  rs_hf_key keys[9];
} rs_hf_rope_type;

enum { RS_HF_ROPE_TYPES = 8 };
extern const rs_hf_rope_type rs_hf_rope_types[RS_HF_ROPE_TYPES];

/* ---- checkpoints ------------------------------------------------------------------------------------------------- */

/* An architecture whose checkpoints are read: model_type in their config.json, and which models have it. */
typedef struct rs_architecture_entry {
  const char *model_type, *models;
} rs_architecture_entry;

/* Architecture `index` in the order of `ropescope list`; NULL past the last. */
const rs_architecture_entry *rs_architectures(size_t index);

/* What a checkpoint in Hugging Face's layout is: config.json of its folder as a model of this program.
 * Zero-initialise; release with rs_hf_checkpoint_clear. */
typedef struct rs_hf_checkpoint {
  const struct rs_architecture *architecture;
  rs_shape shape;
  rs_model geometry;
  rs_recipe *recipes; /* (recipe_count,) resolved; blocks name theirs */
  size_t recipe_count;
  rs_token_layout tokens;         /* of what it was trained on; text: no runs */
  size_t layer_groups;            /* of layers side by side that share weights; 0: each has its own */
  size_t channels, patch_side;    /* of images: numbers of a pixel, pixels of a patch's side; 0 */
  const struct rs_gguf_row *gguf; /* it is a GGUF file of this architecture; NULL: a folder */
  double added_scale; /* multiplies what attention and feed-forward add (Granite): weights that are read get it */
  char *doubt;        /* as in rs_profile. Owned */
} rs_hf_checkpoint;

/* Reads config.json of a folder, as transformers 4 or 5 writes it, or the metadata of a GGUF file. RS_INPUT with each
 * key that is wrong or missing, a line each; RS_UNSUPPORTED for an architecture, or a flag of one, that is not computed
 * here. Cleared on failure. */
rs_status rs_hf_checkpoint_read(const char *folder, rs_hf_checkpoint *checkpoint, rs_err *err) RS_NONNULL(1, 2);
void rs_hf_checkpoint_clear(rs_hf_checkpoint *checkpoint) RS_NONNULL(1);

/* Where a folder's weights are: model.safetensors, or else model.safetensors.index.json; a GGUF file itself;
 * free(*path). RS_IO where it has neither. */
rs_status rs_hf_weights_find(const char *folder, char **path, rs_err *err) RS_NONNULL(1, 2);

/* The model with the folder's weights, model.safetensors or the shards of model.safetensors.index.json, or those of a
 * GGUF file, that computes in numbers of `format`. Matrices stay in their files, or, as training needs them, are
 * `copied`. RS_INPUT with the name of a tensor that is missing, of another shape, not finite, or of no use. */
rs_status rs_hf_checkpoint_load(const rs_hf_checkpoint *checkpoint, const char *folder, rs_format format, bool copied,
                                rs_transformer **transformer, rs_err *err) RS_NONNULL(1, 2, 5);

#endif
