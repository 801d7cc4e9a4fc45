/* What a file calls each of our weights. */
#include "gguf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The front of a name that ends in ".weight" or ".bias", which is renamed. */
static size_t front_of(const char *name) {
  const char *end = strrchr(name, '.');
  bool kept = end != NULL && (strcmp(end, ".weight") == 0 || strcmp(end, ".bias") == 0);
  return kept ? (size_t)(end - name) : strlen(name);
}

/* How the table of names has ours: "mlp.experts.2.up_proj" is mlp.experts.#.up_proj. */
static void generalise(const char *name, size_t front, rs_hf_source *s, char *general, size_t room) {
  int digits = 0;
  if (sscanf(name, "mlp.experts.%ld.%n", &s->number, &digits) == 1 && digits > 0)
    snprintf(general, room, "mlp.experts.#.%.*s", (int)front - digits, name + digits);
  else
    snprintf(general, room, "%.*s", (int)front, name);
}

/* "front" of the name, its "end", and how `renamed`, which may be NULL, has it. */
static void put_name(const char *front, const char *middle, const char *name, size_t length, const rs_tensor *tensor,
                     rs_hf_source *s) {
  const char *theirs = s->renamed != NULL ? s->renamed->theirs : NULL, *mark = theirs ? strchr(theirs, '#') : NULL;
  const char *end = name + length;
  if (theirs == NULL)
    snprintf(s->name, sizeof s->name, "%s%s%s", front, middle, name);
  else if (rs_hf_of_experts(s->renamed->rows))
    snprintf(s->name, sizeof s->name, "%s%s%s%s", front, middle, theirs, tensor->vector ? "_bias" : "");
  else if (mark != NULL && s->renamed->rows != RS_ROWS_HEADS)
    snprintf(s->name, sizeof s->name, "%s%s%.*s%ld%s%s", front, middle, (int)(mark - theirs), theirs, s->number,
             mark + 1, end);
  else
    snprintf(s->name, sizeof s->name, "%s%s%s%s", front, middle, theirs, end);
}

/* The first name of the table that the file has; else the first of all. */
static void find_name(const rs_hf_loader *l, const rs_hf_name *names, const char *front, const char *middle,
                      const char *name, const rs_tensor *tensor, rs_hf_source *s) {
  char general[112];
  size_t length = front_of(name);
  rs_hf_source first = {0};
  generalise(name, length, s, general, sizeof general);
  for (; names->ours != NULL; names++) {
    if (strcmp(names->ours, general) != 0) continue;
    s->renamed = names;
    put_name(front, middle, name, length, tensor, s);
    if (rs_safetensors_find(l->file, s->name) != NULL) return;
    if (first.renamed == NULL) first = *s;
  }
  if (first.renamed != NULL)
    *s = first;
  else
    put_name(front, middle, name, length, tensor, s);
}

/* The first block that has a recipe, and whether it is the encoder's. */
static void find_recipe(const rs_hf_checkpoint *checkpoint, size_t recipe, rs_hf_source *s) {
  const rs_stack *stacks[] = {&checkpoint->shape.encoder, &checkpoint->shape.decoder};
  for (size_t k = 0; k < RS_COUNT(stacks); k++)
    for (size_t i = 0; i < stacks[k]->count; i++)
      if (stacks[k]->blocks[i].recipe == recipe) {
        s->encoder = k == 0;
        s->number = (long)i;
        return;
      }
}

/* Prefix, layers, block, part, end. */
rs_hf_source rs_hf_source_of(const rs_hf_loader *l, const rs_tensor *tensor) {
  static const char ours[] = "model.", layers[] = "layers.", positions[] = "positions.", encoder[] = "encoder.";
  const rs_architecture *row = l->checkpoint->architecture;
  const rs_gguf_row *gguf = l->checkpoint->gguf;
  const char *name = tensor->name, *prefix = "";
  size_t groups = l->checkpoint->layer_groups;
  rs_hf_source s = {.block = -1};
  char middle[64] = "";
  if (strncmp(name, ours, strlen(ours)) == 0) {
    name += strlen(ours);
    prefix = l->prefix;
  }
  if (strncmp(name, encoder, strlen(encoder)) == 0) {
    s.encoder = true;
    name += strlen(encoder);
  }
  if (strncmp(name, layers, strlen(layers)) == 0) {
    const char *theirs = gguf != NULL ? "blk" : s.encoder ? row->encoder_layers : row->layers;
    char *end;
    s.block = strtol(name + strlen(layers), &end, 10);
    name = end + 1;
    long place = (long)((size_t)s.block * groups / l->checkpoint->shape.decoder.count);
    snprintf(middle, sizeof middle, "%s.%ld.%s", theirs != NULL ? theirs : "layers", groups > 0 ? place : s.block,
             row->layer_part != NULL ? row->layer_part : "");
  }
  if (strncmp(name, positions, strlen(positions)) == 0) {
    find_recipe(l->checkpoint, tensor->recipe, &s);
    name = strchr(name + strlen(positions), '.') + 1;
  }
  bool before = l->checkpoint->shape.decoder.blocks[0].before_attention.kind != RS_NORM_NONE;
  const rs_hf_name *own = before && row->names_before != NULL ? row->names_before : row->names;
  find_name(l, gguf != NULL ? gguf->names : s.encoder ? row->encoder_names : own, prefix, middle, name, tensor, &s);
  return s;
}

static bool fits(const rs_hf_loader *l, const char *prefix) {
  rs_hf_loader tried = *l;
  tried.prefix = prefix;
  rs_hf_source s = rs_hf_source_of(&tried, &l->transformer->tensors[0]);
  return rs_safetensors_find(l->file, s.name) != NULL;
}

const char *rs_hf_prefix_of(const rs_hf_loader *l) {
  static const char *const usual[RS_HF_PREFIXES] = {"model.", ""};
  const rs_architecture *row = l->checkpoint->architecture;
  if (l->checkpoint->gguf != NULL) return "";
  const char *const *prefixes = row->prefixes[0] != NULL ? row->prefixes : usual;
  for (size_t i = 0; i < RS_HF_PREFIXES && prefixes[i] != NULL; i++)
    if (fits(l, prefixes[i])) return prefixes[i];
  return fits(l, "") ? "" : prefixes[0];
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

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
    return (rs_hf_row_map){2 * rows, 0, first, rows, 0, false};
  }
  size_t first = rs_hf_is_part(tensor->name, ".k_proj")   ? queries
                 : rs_hf_is_part(tensor->name, ".v_proj") ? queries + keys
                                                          : 0;
  return (rs_hf_row_map){queries + 2 * keys, 0, first, rows, 0, false};
}

static rs_hf_row_map grouped_rows(const rs_block *block, const rs_tensor *tensor) {
  const rs_head_shape *heads = &block->attention;
  size_t readers = heads->heads / heads->kv_heads, dims = heads->head_dim, step = (readers + 2) * dims;
  rs_hf_row_map map = {heads->kv_heads * step, 0, 0, readers * dims, step, false};
  if (rs_hf_is_part(tensor->name, ".q_proj")) return map;
  map.run = dims;
  map.first = rs_hf_is_part(tensor->name, ".k_proj") ? readers * dims : (readers + 1) * dims;
  return map;
}

static rs_hf_row_map quartered_rows(const rs_block *block, const rs_tensor *tensor) {
  size_t all = block->attention.heads * block->attention.head_dim, quarter = all / 4;
  size_t part = rs_hf_is_part(tensor->name, ".q_proj") ? 0 : rs_hf_is_part(tensor->name, ".v_proj") ? 1 : 2;
  return (rs_hf_row_map){3 * all, 0, part * quarter, quarter, 3 * quarter, false};
}

/* Gates, then ups, or both alternating; or each in a tensor of its own. */
static rs_hf_row_map expert_rows(const rs_tensor *tensor, const rs_hf_source *s, size_t rows) {
  bool below = s->renamed->rows == RS_ROWS_EXPERTS_BELOW;
  bool single = below || rs_hf_is_part(tensor->name, ".down_proj"), mixed = s->renamed->rows == RS_ROWS_EXPERTS_MIXED;
  size_t second = !below && rs_hf_is_part(tensor->name, ".up_proj") ? 1 : 0;
  rs_hf_row_map map = {single ? rows : 2 * rows,    0, mixed ? second : second * rows,
                       single || !mixed ? rows : 1, 2, false};
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
  if (kind == RS_ROWS_REVERSED) return (rs_hf_row_map){rows, 0, rows - 1, 1, SIZE_MAX, false}; /* a step of -1 */
  if (tensor->init == RS_INIT_LEARNED) return (rs_hf_row_map){rows + before, 0, before, rows, 0, false};
  if (kind == RS_ROWS_PADDING)
    return (rs_hf_row_map){l->checkpoint->geometry.train_length + before, 0, before - 1, 1, 0, false};
  if (kind == RS_ROWS_OWN || kind == RS_ROWS_FOLDED || s->block < 0) return (rs_hf_row_map){rows, 0, 0, rows, 0, false};
  if (rs_hf_of_experts(kind)) return expert_rows(tensor, s, rows);
  const rs_block *block = &l->checkpoint->shape.decoder.blocks[s->block];
  if (kind == RS_ROWS_PAIRS) return (rs_hf_row_map){.all = rows, .run = block->attention.head_dim / 2, .paired = true};
  if (kind == RS_ROWS_QUARTERS) return quartered_rows(block, tensor);
  return kind == RS_ROWS_PARTS ? stacked_rows(block, tensor) : grouped_rows(block, tensor);
}

size_t rs_hf_their_row(const rs_hf_row_map *map, size_t index) {
  size_t run = index / map->run, place = index % map->run;
  return map->first + (map->paired ? run / 2 * 2 * map->run + run % 2 + 2 * place : run * map->step + place);
}
