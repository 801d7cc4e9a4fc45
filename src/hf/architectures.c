/* Finding the row of an architecture. */
#include "architectures.h"

#include <string.h>

/* Masks, frequencies and sinusoids that older releases stored. */
const char *const rs_ignored_buffers[] = {
    ".attn.bias", ".attn.masked_bias", ".attention.bias",         ".attention.masked_bias",
    ".inv_freq",  ".attn.causal_mask", "embed_positions.weights", NULL};

static const rs_architecture *const lists[] = {rs_decoders, rs_further_decoders, rs_mixtures, rs_encoders};

const rs_architecture *rs_architecture_at(size_t index) {
  for (size_t i = 0; i < RS_COUNT(lists); i++)
    for (const rs_architecture *row = lists[i]; row->entry.model_type != NULL; row++)
      if (index-- == 0) return row;
  return NULL;
}

const rs_architecture *rs_architecture_find(const char *model_type) {
  const rs_architecture *row;
  for (size_t i = 0; (row = rs_architecture_at(i)) != NULL; i++)
    if (strcmp(row->entry.model_type, model_type) == 0 || (row->also != NULL && strcmp(row->also, model_type) == 0))
      return row;
  return NULL;
}

const rs_architecture_entry *rs_architectures(size_t index) {
  const rs_architecture *row = rs_architecture_at(index);
  return row != NULL ? &row->entry : NULL;
}
