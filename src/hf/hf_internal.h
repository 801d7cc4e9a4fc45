/* Reading Hugging Face's config.json: what its readers share. Private to the hf layer. */
#ifndef ROPESCOPE_HF_INTERNAL_H
#define ROPESCOPE_HF_INTERNAL_H

#include "hf/hf.h"
#include "io/io.h"

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
  double base;      /* what layer_rope_theta gives them, rope_theta of these alone; 0: that of the file */
} rs_hf_layers;

/* Whether the node is there, and not null. */
bool rs_hf_present(const rs_node *node);

/* The text of a scalar; "" where there is none, of null, and of what is no scalar. */
const char *rs_hf_word(const rs_node *node);

/* The first class that a file (its top) says it is of, as "LlamaForCausalLM"; "": it says none. */
const char *rs_hf_class(const rs_node *top);

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

#endif
