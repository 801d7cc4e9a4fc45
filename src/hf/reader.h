/* Layers of a config.json on the way to a model: what is shared by those who read parts of it. Private to the hf layer.
 */
#ifndef ROPESCOPE_HF_READER_H
#define ROPESCOPE_HF_READER_H

#include "families.h"
#include "hf_internal.h"

enum { RS_HF_MOST_DIMS = 4096, RS_HF_MOST_HEADS = 65536, RS_HF_MOST_WIDTH = 1 << 24, RS_HF_MOST_TOKENS = 1 << 28 };

/* The file being read. */
typedef struct rs_hf_reader {
  const rs_node *root;  /* the mapping that holds the text model's fields */
  const rs_node *rope;  /* the rope dictionary, or NULL */
  const char *rope_key; /* what it is called */
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

/* The path of a node, below the mapping called `parent`, or (NULL) at the top. */
rs_path rs_hf_path(const rs_node *node, const char *parent);

/* A whole number from 1 to `most`, or a number from `min` to `max`; `fallback` where there is no node. Reports what is
 * wrong. */
size_t rs_hf_count_of(rs_hf_reader *hf, const rs_node *node, double most, size_t fallback);
double rs_hf_real_of(rs_hf_reader *hf, const rs_node *node, const char *parent, double min, double max,
                     double fallback);

/* Whether the file is of this family, by the name of its row; whether the layers are of this type. */
bool rs_hf_in_family(const rs_hf_reader *hf, const char *family);
bool rs_hf_are_of(const rs_hf_reader *hf, const char *type);

/* DeepSeek-V4's layers that see keys beyond their window averaged. */
bool rs_hf_compressed(const rs_hf_reader *hf);

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
