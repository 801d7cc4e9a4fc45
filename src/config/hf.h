/* Reading Hugging Face's config.json: what its readers share. Private to the config layer. */
#ifndef ROPESCOPE_CONFIG_HF_H
#define ROPESCOPE_CONFIG_HF_H

#include "ropescope/config.h"

/* Types of layers, as `layer_types` and `rope_parameters` have them. */
#define RS_HF_GLOBAL "full_attention"
#define RS_HF_LOCAL "sliding_attention"

/* Whether the node is there, and not null. */
bool rs_hf_present(const rs_node *node);

/* The first of `names` (ends at NULL) that is there and not null, or NULL. Borrows. */
const rs_node *rs_hf_first(const rs_node *mapping, const char *const *names);

/* What a flag says, or `fallback` where there is none. */
bool rs_hf_true(const rs_node *mapping, const char *key, bool fallback);

/* The mapping that holds the fields of the text model. Borrows. */
const rs_node *rs_hf_text_config(const rs_node *root);

/* As rs_hf_model_read, of a file that is read already, for its layers of this type. */
rs_status rs_hf_layers_read(const rs_node *root, const char *layers, const char *name, rs_model *model, rs_err *err);

#endif
