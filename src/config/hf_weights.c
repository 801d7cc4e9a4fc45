/* The weights of a checkpoint in Hugging Face's layout: where each of ours stands among theirs. */
#include "architectures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What is being read. */
typedef struct loader {
  const rs_hf_checkpoint *checkpoint;
  const rs_safetensors *file;
  const char *prefix;
  bool *used; /* (file->count,) */
  rs_transformer *transformer;
} loader;

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* One of our weights among theirs. */
typedef struct source {
  char name[192];
  const rs_hf_name *renamed; /* NULL: called as in Llama */
  bool encoder;              /* of the encoder beside the decoder */
  long block;                /* of which it is part; -1: of none */
  long expert;               /* of the block's; -1: of none */
} source;

/* The front of a name that ends in ".weight" or ".bias", which is renamed. */
static size_t front_of(const char *name) {
  const char *end = strrchr(name, '.');
  bool kept = end != NULL && (strcmp(end, ".weight") == 0 || strcmp(end, ".bias") == 0);
  return kept ? (size_t)(end - name) : strlen(name);
}

static const rs_hf_name *renamed(const rs_hf_name *names, const char *front, size_t length) {
  for (; names->ours != NULL; names++)
    if (strlen(names->ours) == length && strncmp(names->ours, front, length) == 0) return names;
  return NULL;
}

/* "mlp.experts.2.up_proj.bias" of ours, where theirs are all in one: its end goes, or becomes "_bias". */
static source expert_of(const loader *l, const rs_tensor *tensor, source s, const char *prefix, const char *middle) {
  char pattern[64];
  const char *name = strstr(tensor->name, "mlp.experts."), *part = strchr(name + strlen("mlp.experts."), '.');
  int front = snprintf(pattern, sizeof pattern, "mlp.experts.#%.*s", (int)front_of(part), part);
  s.renamed = renamed(l->checkpoint->architecture->names, pattern, (size_t)front);
  if (s.renamed != NULL)
    snprintf(s.name, sizeof s.name, "%s%s%s%s", prefix, middle, s.renamed->theirs, tensor->vector ? "_bias" : "");
  else
    snprintf(s.name, sizeof s.name, "%s%s%s", prefix, middle, name);
  return s;
}

/* "model.layers.3.self_attn.q_proj.weight" of ours: prefix, layers, block, part, end. */
static source source_of(const loader *l, const rs_tensor *tensor) {
  static const char ours[] = "model.", layers[] = "layers.", positions[] = "positions.", encoder[] = "encoder.";
  const rs_architecture *row = l->checkpoint->architecture;
  const char *name = tensor->name, *prefix = "";
  source s = {.block = -1, .expert = -1};
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
    const char *theirs = s.encoder ? row->encoder_layers : row->layers;
    char *end;
    s.block = strtol(name + strlen(layers), &end, 10);
    name = end + 1;
    snprintf(middle, sizeof middle, "%s.%ld.", theirs != NULL ? theirs : "layers", s.block);
  }
  if (strncmp(name, positions, strlen(positions)) == 0) { /* of the recipe that the encoder's blocks have, or another */
    s.encoder = row->encoder_names != NULL && tensor->recipe == l->checkpoint->shape.encoder.blocks[0].recipe;
    name = strchr(name + strlen(positions), '.') + 1;
  }
  size_t front = front_of(name);
  s.renamed = renamed(s.encoder ? row->encoder_names : row->names, name, front);
  if (s.renamed == NULL && sscanf(name, "mlp.experts.%ld.", &s.expert) == 1)
    return expert_of(l, tensor, s, prefix, middle);
  snprintf(s.name, sizeof s.name, "%s%s%.*s%s", prefix, middle,
           s.renamed != NULL ? (int)strlen(s.renamed->theirs) : (int)front,
           s.renamed != NULL ? s.renamed->theirs : name, name + front);
  return s;
}

/* The first front under which the file has the embeddings. */
static const char *prefix_of(const loader *l) {
  static const char *const usual[RS_HF_PREFIXES] = {"model."};
  const rs_architecture *row = l->checkpoint->architecture;
  const char *const *prefixes = row->prefixes[0] != NULL ? row->prefixes : usual;
  loader tried = *l;
  for (size_t i = 0; i < RS_HF_PREFIXES && prefixes[i] != NULL; i++) {
    tried.prefix = prefixes[i];
    source s = source_of(&tried, &l->transformer->tensors[0]);
    if (rs_safetensors_find(l->file, s.name) != NULL) return prefixes[i];
  }
  return prefixes[0];
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* Where rows of ours are among those of theirs: `run` rows side by side, and the next `step` rows further. The runs
 * of `group` heads follow each other; the next group is `group_step` rows further. */
typedef struct row_map {
  size_t all;   /* rows of theirs */
  size_t start; /* numbers of theirs before them */
  size_t first, run, group, group_step;
} row_map;

static bool is_part(const char *name, const char *part) {
  return strstr(name, part) != NULL;
}

/* Rows that one matrix of theirs has for q, k and v, or for gate and up. */
static row_map stacked_rows(const rs_block *block, const rs_tensor *tensor) {
  const rs_head_shape *heads = &block->attention;
  size_t queries = heads->heads * heads->head_dim, keys = heads->kv_heads * heads->head_dim;
  size_t width = block->feed_forward.width, rows = tensor->vector ? tensor->columns : tensor->rows;
  if (is_part(tensor->name, ".mlp.")) {
    size_t first = is_part(tensor->name, ".up_proj") ? width : 0;
    return (row_map){2 * width, 0, first, rows, 1, 0};
  }
  size_t first = is_part(tensor->name, ".k_proj") ? queries : is_part(tensor->name, ".v_proj") ? queries + keys : 0;
  return (row_map){queries + 2 * keys, 0, first, rows, 1, 0};
}

static row_map grouped_rows(const rs_block *block, const rs_tensor *tensor) {
  const rs_head_shape *heads = &block->attention;
  size_t readers = heads->heads / heads->kv_heads, dims = heads->head_dim, step = (readers + 2) * dims;
  row_map map = {heads->kv_heads * step, 0, 0, readers * dims, 1, step};
  if (is_part(tensor->name, ".q_proj")) return map;
  map.run = dims;
  map.first = is_part(tensor->name, ".k_proj") ? readers * dims : (readers + 1) * dims;
  return map;
}

/* Gates and ups alternate. */
static row_map expert_rows(const rs_tensor *tensor, const source *s, size_t rows) {
  bool single = is_part(tensor->name, ".down_proj");
  row_map map = {single ? rows : 2 * rows, 0, is_part(tensor->name, ".up_proj") ? 1 : 0, single ? rows : 1, 1, 2};
  map.start = (size_t)s->expert * map.all * (tensor->vector ? 1 : tensor->columns);
  return map;
}

static row_map rows_of(const loader *l, const rs_tensor *tensor, const source *s) {
  const rs_architecture *row = l->checkpoint->architecture;
  size_t rows = tensor->vector ? tensor->columns : tensor->rows;
  rs_hf_rows kind = s->renamed != NULL ? s->renamed->rows : RS_ROWS_OWN;
  if (tensor->init == RS_INIT_LEARNED)
    return (row_map){rows + row->position_offset, 0, row->position_offset, rows, 1, 0};
  if (kind == RS_ROWS_OWN || kind == RS_ROWS_FOLDED || s->block < 0) return (row_map){rows, 0, 0, rows, 1, 0};
  if (kind == RS_ROWS_EXPERTS) return expert_rows(tensor, s, rows);
  const rs_block *block = &l->checkpoint->shape.decoder.blocks[s->block];
  return kind == RS_ROWS_PARTS ? stacked_rows(block, tensor) : grouped_rows(block, tensor);
}

/* Their row of our row `index`. */
static size_t their_row(const row_map *map, size_t index) {
  return map->first + index / map->run * map->group_step + index % map->run;
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

static rs_status read_run(const loader *l, const rs_stored_tensor *stored, size_t first, size_t count, size_t place,
                          rs_err *err) {
  const rs_transformer *t = l->transformer;
  if (t->format == RS_F64) return rs_stored_doubles(stored, first, count, (double *)t->values + place, err);
  return rs_stored_floats(stored, first, count, (float *)t->values + place, err);
}

static rs_status read_rows(const loader *l, const rs_stored_tensor *stored, const rs_tensor *tensor, const row_map *map,
                           rs_err *err) {
  size_t rows = tensor->vector ? tensor->columns : tensor->rows, columns = tensor->vector ? 1 : tensor->columns;
  for (size_t row = 0; row < rows; row += map->run)
    RS_TRY(read_run(l, stored, map->start + their_row(map, row) * columns, map->run * columns,
                    tensor->offset + row * columns, err));
  return RS_OK;
}

/* Of a matrix that is stored (inputs, outputs). */
static rs_status read_turned(const loader *l, const rs_stored_tensor *stored, const rs_tensor *tensor,
                             const row_map *map, rs_err *err) {
  rs_transformer *t = l->transformer;
  double *line = rs_alloc(map->all, sizeof *line, err);
  rs_status status = line != NULL ? RS_OK : RS_MEMORY;
  for (size_t column = 0; column < tensor->columns && status == RS_OK; column++) {
    status = rs_stored_doubles(stored, map->start + column * map->all, map->all, line, err);
    for (size_t row = 0; row < tensor->rows && status == RS_OK; row++) {
      size_t place = tensor->offset + row * tensor->columns + column;
      if (t->format == RS_F64)
        ((double *)t->values)[place] = line[their_row(map, row)];
      else
        ((float *)t->values)[place] = (float)line[their_row(map, row)];
    }
  }
  free(line);
  return status;
}

/* A tensor of as many numbers, whatever its axes. */
static rs_status find_folded(const loader *l, const rs_tensor *tensor, const char *name,
                             const rs_stored_tensor **stored, rs_err *err) {
  *stored = rs_safetensors_find(l->file, name);
  if (*stored == NULL) return rs_fail(err, RS_INPUT, "%s: holds no tensor \"%s\"", l->file->path, name);
  if ((*stored)->count == tensor->rows * tensor->columns) return RS_OK;
  return rs_fail(err, RS_INPUT, "%s: tensor \"%s\": has %zu numbers, wanted are %zu x %zu", l->file->path, name,
                 (*stored)->count, tensor->rows, tensor->columns);
}

static rs_status read_tensor(const loader *l, const rs_tensor *tensor, rs_err *err) {
  source s = source_of(l, tensor);
  row_map map = rows_of(l, tensor, &s);
  bool turned = l->checkpoint->architecture->turned && s.block >= 0 && !tensor->vector;
  bool expert = s.renamed != NULL && s.renamed->rows == RS_ROWS_EXPERTS;
  if (expert) turned = !tensor->vector;
  size_t experts = expert ? l->checkpoint->shape.decoder.blocks[s.block].feed_forward.experts.count : 0;
  size_t wanted[3] = {experts}, rank = expert ? 1 : 0;
  if (turned) wanted[rank++] = tensor->columns;
  wanted[rank++] = map.all;
  if (!turned && !tensor->vector) wanted[rank++] = tensor->columns;
  const rs_stored_tensor *stored;
  if (s.renamed != NULL && s.renamed->rows == RS_ROWS_FOLDED)
    RS_TRY(find_folded(l, tensor, s.name, &stored, err));
  else
    RS_TRY(rs_safetensors_get(l->file, s.name, wanted, rank, &stored, err));
  l->used[stored - l->file->tensors] = true;
  return turned ? read_turned(l, stored, tensor, &map, err) : read_rows(l, stored, tensor, &map, err);
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

/* Tensors of no use to the logits: an output that is the embeddings' all the same, and what the architecture names. */
static bool is_ignored(const loader *l, const char *name) {
  const char *const *ignored = l->checkpoint->architecture->ignored;
  const char *const *lists[] = {rs_ignored_buffers, ignored};
  if (l->checkpoint->shape.tied && strcmp(name, "lm_head.weight") == 0) return true;
  for (size_t i = 0; i < RS_COUNT(lists); i++)
    for (const char *const *part = lists[i]; part != NULL && *part != NULL; part++)
      if (strstr(name, *part) != NULL) return true;
  return false;
}

static rs_status refuse_unused(const loader *l, rs_err *err) {
  for (size_t i = 0; i < l->file->count; i++) {
    const rs_stored_tensor *tensor = &l->file->tensors[i];
    if (!l->used[i] && !is_ignored(l, tensor->name))
      return rs_fail(err, RS_INPUT, "%s: tensor \"%.112s\": a %s as config.json has it does not read it", tensor->file,
                     tensor->name, l->checkpoint->architecture->entry.model_type);
  }
  return RS_OK;
}

static rs_status read_weights(const rs_hf_checkpoint *checkpoint, const char *path, rs_transformer *transformer,
                              rs_err *err) {
  rs_safetensors *file;
  RS_TRY(rs_safetensors_map(path, &file, err));
  loader l = {.checkpoint = checkpoint, .file = file, .transformer = transformer};
  l.used = rs_alloc(file->count, sizeof *l.used, err);
  rs_status status = l.used != NULL ? RS_OK : RS_MEMORY;
  l.prefix = prefix_of(&l);
  for (size_t i = 0; i < transformer->tensor_count && status == RS_OK; i++)
    status = read_tensor(&l, &transformer->tensors[i], err);
  if (status == RS_OK) status = refuse_unused(&l, err);
  free(l.used);
  rs_safetensors_free(file);
  return status;
}

/* One file, or the index of several. */
static rs_status find_weights(const char *folder, char **path, rs_err *err) {
  static const char *const names[] = {"model.safetensors", "model.safetensors.index.json"};
  for (size_t i = 0; i < RS_COUNT(names); i++) {
    *path = rs_path_join(folder, names[i], err);
    if (*path == NULL) return RS_MEMORY;
    if (access(*path, F_OK) == 0) return RS_OK;
    free(*path);
  }
  *path = NULL;
  return rs_fail(err, RS_IO, "%s: has neither %s nor %s (other formats of weights are not read)", folder, names[0],
                 names[1]);
}

rs_status rs_hf_checkpoint_load(const rs_hf_checkpoint *checkpoint, const char *folder, rs_format format,
                                rs_transformer **transformer, rs_err *err) {
  const rs_transformer_in in = {.shape = &checkpoint->shape,
                                .geometry = &checkpoint->geometry,
                                .recipes = checkpoint->recipes,
                                .recipe_count = checkpoint->recipe_count,
                                .tokens = &checkpoint->tokens,
                                .format = format,
                                .blank = true};
  char *path;
  *transformer = NULL;
  RS_TRY(find_weights(folder, &path, err));
  rs_status status = rs_transformer_create(&in, transformer, err);
  if (status == RS_OK) status = read_weights(checkpoint, path, *transformer, err);
  if (status != RS_OK) {
    rs_transformer_free(*transformer);
    *transformer = NULL;
  }
  free(path);
  return status;
}
