/* Where rows of our matrices stand in those of a file, which may have several of them in one. */
#include "architectures.h"

#include <string.h>

bool rs_hf_of_experts(rs_hf_rows rows) {
  return rows == RS_ROWS_EXPERTS || rows == RS_ROWS_EXPERTS_TURNED || rows == RS_ROWS_EXPERTS_MIXED ||
         rows == RS_ROWS_EXPERTS_BELOW;
}

bool rs_hf_is_part(const char *name, const char *part) {
  return strstr(name, part) != NULL;
}

/* Rows that one matrix of theirs has for q, k and v, or for gate and up. */
static rs_hf_row_map stacked_rows(const rs_block *block, const rs_tensor *tensor) {
  const rs_head_shape *heads = &block->attention;
  size_t queries = heads->heads * heads->head_dim, keys = heads->kv_heads * heads->head_dim;
  size_t rows = tensor->vector ? tensor->columns : tensor->rows;
  if (rs_hf_is_part(tensor->name, ".mlp.")) {
    size_t first = rs_hf_is_part(tensor->name, ".up_proj") ? rows : 0;
    return (rs_hf_row_map){2 * rows, 0, first, rows, 0};
  }
  size_t first = rs_hf_is_part(tensor->name, ".k_proj")   ? queries
                 : rs_hf_is_part(tensor->name, ".v_proj") ? queries + keys
                                                          : 0;
  return (rs_hf_row_map){queries + 2 * keys, 0, first, rows, 0};
}

static rs_hf_row_map grouped_rows(const rs_block *block, const rs_tensor *tensor) {
  const rs_head_shape *heads = &block->attention;
  size_t readers = heads->heads / heads->kv_heads, dims = heads->head_dim, step = (readers + 2) * dims;
  rs_hf_row_map map = {heads->kv_heads * step, 0, 0, readers * dims, step};
  if (rs_hf_is_part(tensor->name, ".q_proj")) return map;
  map.run = dims;
  map.first = rs_hf_is_part(tensor->name, ".k_proj") ? readers * dims : (readers + 1) * dims;
  return map;
}

static rs_hf_row_map quartered_rows(const rs_block *block, const rs_tensor *tensor) {
  size_t all = block->attention.heads * block->attention.head_dim, quarter = all / 4;
  size_t part = rs_hf_is_part(tensor->name, ".q_proj") ? 0 : rs_hf_is_part(tensor->name, ".v_proj") ? 1 : 2;
  return (rs_hf_row_map){3 * all, 0, part * quarter, quarter, 3 * quarter};
}

/* Gates, then ups, or both alternating; or each in a tensor of its own. */
static rs_hf_row_map expert_rows(const rs_tensor *tensor, const rs_hf_source *s, size_t rows) {
  bool below = s->renamed->rows == RS_ROWS_EXPERTS_BELOW;
  bool single = below || rs_hf_is_part(tensor->name, ".down_proj"), mixed = s->renamed->rows == RS_ROWS_EXPERTS_MIXED;
  size_t second = !below && rs_hf_is_part(tensor->name, ".up_proj") ? 1 : 0;
  rs_hf_row_map map = {single ? rows : 2 * rows, 0, mixed ? second : second * rows, single || !mixed ? rows : 1, 2};
  map.start = (size_t)s->number * map.all * (tensor->vector ? 1 : tensor->columns);
  return map;
}

/* Where a table of positions has more rows before the first token's. */
static size_t rows_before(const rs_hf_checkpoint *checkpoint) {
  const rs_shape *shape = &checkpoint->shape;
  return shape->leaves_padding ? (size_t)shape->padding + 1 : checkpoint->architecture->position_offset;
}

rs_hf_row_map rs_hf_rows_of(const rs_hf_loader *l, const rs_tensor *tensor, const rs_hf_source *s) {
  size_t rows = tensor->vector ? tensor->columns : tensor->rows;
  rs_hf_rows kind = s->renamed != NULL ? s->renamed->rows : RS_ROWS_OWN;
  size_t before = rows_before(l->checkpoint);
  if (tensor->init == RS_INIT_LEARNED) return (rs_hf_row_map){rows + before, 0, before, rows, 0};
  if (kind == RS_ROWS_PADDING)
    return (rs_hf_row_map){l->checkpoint->geometry.train_length + before, 0, before - 1, 1, 0};
  if (kind == RS_ROWS_OWN || kind == RS_ROWS_FOLDED || s->block < 0) return (rs_hf_row_map){rows, 0, 0, rows, 0};
  if (rs_hf_of_experts(kind)) return expert_rows(tensor, s, rows);
  const rs_block *block = &l->checkpoint->shape.decoder.blocks[s->block];
  if (kind == RS_ROWS_QUARTERS) return quartered_rows(block, tensor);
  return kind == RS_ROWS_PARTS ? stacked_rows(block, tensor) : grouped_rows(block, tensor);
}

size_t rs_hf_their_row(const rs_hf_row_map *map, size_t index) {
  return map->first + index / map->run * map->step + index % map->run;
}
