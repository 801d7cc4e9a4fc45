/* Fields of a config.json that is read as a model, and what several readers ask of it. */
#include "hf_internal.h"

#include <string.h>

bool rs_hf_failed(const rs_hf_reader *hf) {
  return hf->problems->count > hf->problems_before;
}

size_t rs_hf_count_of(rs_hf_reader *hf, const rs_node *node, double most, size_t fallback) {
  return rs_read_count(hf->problems, node, 1, most, fallback);
}

bool rs_hf_in_family(const rs_hf_reader *hf, const char *family) {
  return rs_hf_is_of(hf->family, family);
}

bool rs_hf_are_of(const rs_hf_reader *hf, const char *type) {
  return strcmp(hf->layers->type, type) == 0;
}

bool rs_hf_compressed(const rs_hf_reader *hf) {
  return hf->compresses && !rs_hf_are_of(hf, RS_HF_LOCAL);
}

const rs_node *rs_hf_latent_part(const rs_hf_reader *hf) {
  const rs_node *rotary = rs_node_get(hf->root, "qk_rope_head_dim");
  return rs_hf_present(rotary) && strcmp(rs_hf_word(rotary), "0") != 0 ? rotary : NULL;
}
