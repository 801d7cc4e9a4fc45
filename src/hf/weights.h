/* Where each of our weights stands among those of a checkpoint's file. Private to the hf layer. */
#ifndef ROPESCOPE_HF_WEIGHTS_H
#define ROPESCOPE_HF_WEIGHTS_H

#include "architectures.h"

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
} rs_hf_row_map;

rs_hf_row_map rs_hf_rows_of(const rs_hf_loader *l, const rs_tensor *tensor, const rs_hf_source *s);

/* Their row of our row `index`. */
size_t rs_hf_their_row(const rs_hf_row_map *map, size_t index);

/* Whether the rows are those of one expert among all, whose biases end in "_bias", and weights in nothing. */
bool rs_hf_of_experts(rs_hf_rows rows);

#endif
