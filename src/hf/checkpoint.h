/* A checkpoint's config.json that is being read. Private to the hf layer. */
#ifndef ROPESCOPE_HF_CHECKPOINT_H
#define ROPESCOPE_HF_CHECKPOINT_H

#include "architectures.h"
#include "hf_internal.h"

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
