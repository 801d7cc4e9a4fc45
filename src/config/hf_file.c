/* Sizes and flags of a checkpoint's config.json, whatever its architecture calls them. */
#include "hf_checkpoint.h"
#include "problems.h"

static const double most_size = 1 << 24;

void rs_hf_missing(rs_hf_file *file, const char *key) {
  rs_problem(&file->problems, file->root, NULL, "%s is missing: a %s needs it", key, file->row->entry.model_type);
}

size_t rs_hf_count(rs_hf_file *file, const char *const *keys, double least, size_t fallback) {
  const rs_node *node = rs_hf_first(file->root, keys);
  if (node == NULL) return fallback;
  rs_path path = rs_path_key(NULL, node->key);
  return rs_read_count(&file->problems, node, &path, least, most_size, fallback);
}

size_t rs_hf_needed(rs_hf_file *file, const char *const *keys) {
  size_t before = file->problems.count, count = rs_hf_count(file, keys, 1, 0);
  if (count == 0 && file->problems.count == before) rs_hf_missing(file, keys[0]);
  return count;
}

double rs_hf_real(rs_hf_file *file, const char *const *keys, double least, double fallback) {
  const rs_node *node = rs_hf_first(file->root, keys);
  if (node == NULL) return fallback;
  rs_path path = rs_path_key(NULL, node->key);
  return rs_read_real(&file->problems, node, &path, least, 1e30, fallback);
}

bool rs_hf_says(const rs_hf_file *file, rs_hf_flag flag) {
  return flag.key != NULL ? rs_hf_true(file->root, flag.key, flag.fallback) : flag.fallback;
}
