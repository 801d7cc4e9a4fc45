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
  long number;               /* of the block's expert, or of the block whose positions they are */
} source;

/* The front of a name that ends in ".weight" or ".bias", which is renamed. */
static size_t front_of(const char *name) {
  const char *end = strrchr(name, '.');
  bool kept = end != NULL && (strcmp(end, ".weight") == 0 || strcmp(end, ".bias") == 0);
  return kept ? (size_t)(end - name) : strlen(name);
}

/* How the table of names has ours: "mlp.experts.2.up_proj" is mlp.experts.#.up_proj. */
static void generalise(const char *name, size_t front, source *s, char *general, size_t room) {
  int digits = 0;
  if (sscanf(name, "mlp.experts.%ld.%n", &s->number, &digits) == 1 && digits > 0)
    snprintf(general, room, "mlp.experts.#.%.*s", (int)front - digits, name + digits);
  else
    snprintf(general, room, "%.*s", (int)front, name);
}

/* Whether the rows are those of one expert among all, whose biases end in "_bias", and weights in nothing. */
static bool is_of_experts(rs_hf_rows rows) {
  return rows == RS_ROWS_EXPERTS || rows == RS_ROWS_EXPERTS_TURNED || rows == RS_ROWS_EXPERTS_MIXED;
}

/* "front" of the name, its "end", and how `renamed`, which may be NULL, has it. */
static void put_name(const char *front, const char *middle, const char *name, size_t length, const rs_tensor *tensor,
                     source *s) {
  const char *theirs = s->renamed != NULL ? s->renamed->theirs : NULL, *mark = theirs ? strchr(theirs, '#') : NULL;
  const char *end = name + length;
  if (theirs == NULL)
    snprintf(s->name, sizeof s->name, "%s%s%s", front, middle, name);
  else if (is_of_experts(s->renamed->rows))
    snprintf(s->name, sizeof s->name, "%s%s%s%s", front, middle, theirs, tensor->vector ? "_bias" : "");
  else if (mark != NULL && s->renamed->rows != RS_ROWS_HEADS)
    snprintf(s->name, sizeof s->name, "%s%s%.*s%ld%s%s", front, middle, (int)(mark - theirs), theirs, s->number,
             mark + 1, end);
  else
    snprintf(s->name, sizeof s->name, "%s%s%s%s", front, middle, theirs, end);
}

/* The first name of the table that the file has; else the first of all. */
static void find_name(const loader *l, const rs_hf_name *names, const char *front, const char *middle, const char *name,
                      const rs_tensor *tensor, source *s) {
  char general[112];
  size_t length = front_of(name);
  source first = {0};
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
static void find_recipe(const rs_hf_checkpoint *checkpoint, size_t recipe, source *s) {
  const rs_stack *stacks[] = {&checkpoint->shape.encoder, &checkpoint->shape.decoder};
  for (size_t k = 0; k < RS_COUNT(stacks); k++)
    for (size_t i = 0; i < stacks[k]->count; i++)
      if (stacks[k]->blocks[i].recipe == recipe) {
        s->encoder = k == 0;
        s->number = (long)i;
        return;
      }
}

/* "model.layers.3.self_attn.q_proj.weight" of ours: prefix, layers, block, part, end. */
static source source_of(const loader *l, const rs_tensor *tensor) {
  static const char ours[] = "model.", layers[] = "layers.", positions[] = "positions.", encoder[] = "encoder.";
  const rs_architecture *row = l->checkpoint->architecture;
  const char *name = tensor->name, *prefix = "";
  size_t groups = l->checkpoint->layer_groups;
  source s = {.block = -1};
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
    long place = (long)((size_t)s.block * groups / l->checkpoint->shape.decoder.count);
    snprintf(middle, sizeof middle, "%s.%ld.%s", theirs != NULL ? theirs : "layers", groups > 0 ? place : s.block,
             row->layer_part != NULL ? row->layer_part : "");
  }
  if (strncmp(name, positions, strlen(positions)) == 0) {
    find_recipe(l->checkpoint, tensor->recipe, &s);
    name = strchr(name + strlen(positions), '.') + 1;
  }
  find_name(l, s.encoder ? row->encoder_names : row->names, prefix, middle, name, tensor, &s);
  return s;
}

static bool fits(const loader *l, const char *prefix) {
  loader tried = *l;
  tried.prefix = prefix;
  source s = source_of(&tried, &l->transformer->tensors[0]);
  return rs_safetensors_find(l->file, s.name) != NULL;
}

/* The first front under which the file has the embeddings; what was saved without an output has none. */
static const char *prefix_of(const loader *l) {
  static const char *const usual[RS_HF_PREFIXES] = {"model.", ""};
  const rs_architecture *row = l->checkpoint->architecture;
  const char *const *prefixes = row->prefixes[0] != NULL ? row->prefixes : usual;
  for (size_t i = 0; i < RS_HF_PREFIXES && prefixes[i] != NULL; i++)
    if (fits(l, prefixes[i])) return prefixes[i];
  return fits(l, "") ? "" : prefixes[0];
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
  size_t rows = tensor->vector ? tensor->columns : tensor->rows;
  if (is_part(tensor->name, ".mlp.")) {
    size_t first = is_part(tensor->name, ".up_proj") ? rows : 0;
    return (row_map){2 * rows, 0, first, rows, 1, 0};
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

static row_map quartered_rows(const rs_block *block, const rs_tensor *tensor) {
  size_t all = block->attention.heads * block->attention.head_dim, quarter = all / 4;
  size_t part = is_part(tensor->name, ".q_proj") ? 0 : is_part(tensor->name, ".v_proj") ? 1 : 2;
  return (row_map){3 * all, 0, part * quarter, quarter, 1, 3 * quarter};
}

/* Gates, then ups, or both alternating. */
static row_map expert_rows(const rs_tensor *tensor, const source *s, size_t rows) {
  bool single = is_part(tensor->name, ".down_proj"), mixed = s->renamed->rows == RS_ROWS_EXPERTS_MIXED;
  size_t second = is_part(tensor->name, ".up_proj") ? 1 : 0;
  row_map map = {single ? rows : 2 * rows, 0, mixed ? second : second * rows, single || !mixed ? rows : 1, 1, 2};
  map.start = (size_t)s->number * map.all * (tensor->vector ? 1 : tensor->columns);
  return map;
}

/* Where a table of positions has more rows before the first token's. */
static size_t rows_before(const rs_hf_checkpoint *checkpoint) {
  const rs_shape *shape = &checkpoint->shape;
  return shape->leaves_padding ? (size_t)shape->padding + 1 : checkpoint->architecture->position_offset;
}

static row_map rows_of(const loader *l, const rs_tensor *tensor, const source *s) {
  size_t rows = tensor->vector ? tensor->columns : tensor->rows;
  rs_hf_rows kind = s->renamed != NULL ? s->renamed->rows : RS_ROWS_OWN;
  size_t before = rows_before(l->checkpoint);
  if (tensor->init == RS_INIT_LEARNED) return (row_map){rows + before, 0, before, rows, 1, 0};
  if (kind == RS_ROWS_PADDING) return (row_map){l->checkpoint->geometry.train_length + before, 0, before - 1, 1, 1, 0};
  if (kind == RS_ROWS_OWN || kind == RS_ROWS_FOLDED || s->block < 0) return (row_map){rows, 0, 0, rows, 1, 0};
  if (is_of_experts(kind)) return expert_rows(tensor, s, rows);
  const rs_block *block = &l->checkpoint->shape.decoder.blocks[s->block];
  if (kind == RS_ROWS_QUARTERS) return quartered_rows(block, tensor);
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

/* Where the matrix stays: rows of theirs, or columns where it is stored (inputs, outputs). */
static void map_matrix(const loader *l, const rs_stored_tensor *stored, const rs_tensor *tensor, const row_map *map,
                       bool turned) {
  static const rs_format formats[RS_DTYPES] = {
      [RS_DTYPE_F64] = RS_F64, [RS_DTYPE_F32] = RS_F32, [RS_DTYPE_BF16] = RS_BF16, [RS_DTYPE_F16] = RS_F16};
  rs_format format = formats[stored->dtype];
  l->transformer->matrices[tensor - l->transformer->tensors] =
      (rs_mapped_matrix){.numbers = stored->data + map->start * rs_format_bytes(format),
                         .format = format,
                         .first = map->first,
                         .run = map->run,
                         .group_step = map->group_step,
                         .row_step = turned ? 1 : tensor->columns,
                         .column_step = turned ? map->all : 1};
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

/* A vector that has a tensor for each head. */
static rs_status read_heads(const loader *l, const rs_tensor *tensor, const source *s, rs_err *err) {
  const rs_head_shape *heads = &l->checkpoint->shape.decoder.blocks[s->block].attention;
  const char *sign = strchr(s->name, '#');
  for (size_t head = 0; head < tensor->columns / heads->head_dim; head++) {
    char name[192];
    const rs_stored_tensor *stored;
    snprintf(name, sizeof name, "%.*s%zu%s", (int)(sign - s->name), s->name, head, sign + 1);
    RS_TRY(rs_safetensors_get(l->file, name, &heads->head_dim, 1, &stored, err));
    l->used[stored - l->file->tensors] = true;
    RS_TRY(read_run(l, stored, 0, heads->head_dim, tensor->offset + head * heads->head_dim, err));
  }
  return RS_OK;
}

static void fill_ones(const loader *l, const rs_tensor *tensor) {
  rs_transformer *t = l->transformer;
  for (size_t i = tensor->offset; i < tensor->offset + tensor->rows * tensor->columns; i++)
    if (t->format == RS_F64)
      ((double *)t->values)[i] = 1;
    else
      ((float *)t->values)[i] = 1;
}

/* What parts add to x is made by these matrices. */
static void scale_added(const loader *l, const rs_tensor *tensor) {
  rs_transformer *t = l->transformer;
  double scale = l->checkpoint->added_scale;
  bool last = is_part(tensor->name, ".o_proj.") || is_part(tensor->name, ".down_proj.");
  if (scale == 1 || !last) return;
  for (size_t i = tensor->offset; i < tensor->offset + tensor->rows * tensor->columns; i++)
    if (t->format == RS_F64)
      ((double *)t->values)[i] *= scale;
    else
      ((float *)t->values)[i] = (float)(scale * ((float *)t->values)[i]);
}

static rs_status read_tensor(const loader *l, const rs_tensor *tensor, rs_err *err) {
  source s = source_of(l, tensor);
  rs_hf_rows kind = s.renamed != NULL ? s.renamed->rows : RS_ROWS_OWN;
  if (kind == RS_ROWS_HEADS) return read_heads(l, tensor, &s, err);
  if (kind == RS_ROWS_ONES) {
    fill_ones(l, tensor);
    return RS_OK;
  }
  if (kind == RS_ROWS_QUARTERS && l->checkpoint->geometry.heads % 4 != 0)
    return rs_fail(err, RS_INPUT,
                   "%s: tensor \"%s\": has q, v, k of each quarter of %zu heads: must be a multiple of 4",
                   l->file->path, s.name, l->checkpoint->geometry.heads);
  row_map map = rows_of(l, tensor, &s);
  bool turned = l->checkpoint->architecture->turned && s.block >= 0 && !tensor->vector;
  bool expert = s.renamed != NULL && is_of_experts(s.renamed->rows);
  if (expert) turned = s.renamed->rows != RS_ROWS_EXPERTS && !tensor->vector;
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
  bool *used = &l->used[stored - l->file->tensors], stays = tensor->offset == SIZE_MAX;
  if (stays && !*used) RS_TRY(rs_stored_check(stored, l->transformer->format == RS_F64, err));
  *used = true;
  if (stays) {
    map_matrix(l, stored, tensor, &map, turned);
    return RS_OK;
  }
  return turned ? read_turned(l, stored, tensor, &map, err) : read_rows(l, stored, tensor, &map, err);
}

/* Multiplies the rows of a matrix that a vector of theirs scales. */
static rs_status scale_part(const loader *l, const rs_tensor *tensor, rs_err *err) {
  rs_transformer *t = l->transformer;
  const rs_architecture *row = l->checkpoint->architecture;
  bool last = is_part(tensor->name, ".o_proj."), fed = is_part(tensor->name, ".down_proj.");
  const rs_stored_tensor *stored;
  if (row->part_scales[0] == NULL || (!last && !fed)) return RS_OK;
  size_t rows = tensor->vector ? tensor->columns : tensor->rows, columns = tensor->vector ? 1 : tensor->columns;
  char name[192];
  snprintf(name, sizeof name, "%s%s.%ld.%s", l->prefix, row->layers, source_of(l, tensor).block,
           row->part_scales[fed ? 1 : 0]);
  RS_TRY(rs_safetensors_get(l->file, name, &rows, 1, &stored, err));
  l->used[stored - l->file->tensors] = true;
  double *scales = rs_alloc(rows, sizeof *scales, err);
  rs_status status = scales != NULL ? rs_stored_doubles(stored, 0, rows, scales, err) : RS_MEMORY;
  for (size_t i = 0; i < rows * columns && status == RS_OK; i++)
    if (t->format == RS_F64)
      ((double *)t->values)[tensor->offset + i] *= scales[i / columns];
    else
      ((float *)t->values)[tensor->offset + i] *= (float)scales[i / columns];
  free(scales);
  return status;
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

/* Tensors of no use to the logits: an output that is the embeddings' all the same, and what the architecture names. */
static bool is_ignored(const loader *l, const char *name) {
  const char *const *ignored = l->checkpoint->architecture->ignored;
  const char *const *lists[] = {rs_ignored_buffers, ignored};
  if (l->checkpoint->shape.tied && strstr(name, "lm_head.weight") != NULL) return true;
  for (size_t i = 0; i < RS_COUNT(lists); i++)
    for (const char *const *part = lists[i]; part != NULL && *part != NULL; part++)
      if (strstr(name, *part) != NULL) return true;
  return false;
}

/* Of a layer behind those of config.json. */
static bool is_beyond(const loader *l, const char *name) {
  const rs_architecture *row = l->checkpoint->architecture;
  char layers[64];
  int length = snprintf(layers, sizeof layers, "%s%s.", l->prefix, row->layers != NULL ? row->layers : "layers");
  return row->extra_layers && strncmp(name, layers, (size_t)length) == 0 &&
         strtoul(name + length, NULL, 10) >= l->checkpoint->shape.decoder.count;
}

/* Parts of what quantized weights are stored as: better said than that a weight is missing. */
static rs_status refuse_quantized(const loader *l, rs_err *err) {
  static const char *const ends[] = {".qweight",       ".qzeros",      ".weight_scale",    ".weight_scale_inv",
                                     ".weight_packed", ".SCB",         ".weight.absmax",   "_proj_blocks",
                                     "_proj_scales",   ".input_scale", ".weight.quant_map"};
  for (size_t i = 0; i < l->file->count; i++) {
    const rs_stored_tensor *tensor = &l->file->tensors[i];
    for (size_t e = 0; e < RS_COUNT(ends); e++) {
      size_t length = strlen(tensor->name), end = strlen(ends[e]);
      if (length >= end && strcmp(tensor->name + length - end, ends[e]) == 0)
        return rs_fail(err, RS_UNSUPPORTED,
                       "%s: tensor \"%.112s\": is of quantized weights: take the unquantized checkpoint, or write one "
                       "(transformers: model.dequantize(), save_pretrained)",
                       tensor->file, tensor->name);
    }
  }
  return RS_OK;
}

static rs_status refuse_unused(const loader *l, rs_err *err) {
  for (size_t i = 0; i < l->file->count; i++) {
    const rs_stored_tensor *tensor = &l->file->tensors[i];
    if (!l->used[i] && !is_ignored(l, tensor->name) && !is_beyond(l, tensor->name))
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
  if (status == RS_OK) status = refuse_quantized(&l, err);
  l.prefix = prefix_of(&l);
  for (size_t i = 0; i < transformer->tensor_count && status == RS_OK; i++) {
    status = read_tensor(&l, &transformer->tensors[i], err);
    if (status == RS_OK) status = scale_part(&l, &transformer->tensors[i], err);
    if (status == RS_OK) scale_added(&l, &transformer->tensors[i]);
  }
  if (status == RS_OK) status = refuse_unused(&l, err);
  free(l.used);
  if (transformer->mapped)
    transformer->file = file;
  else
    rs_safetensors_free(file);
  return status;
}

rs_status rs_hf_weights_find(const char *folder, char **path, rs_err *err) {
  static const char *const names[] = {"model.safetensors", "model.safetensors.index.json"};
  for (size_t i = 0; i < RS_COUNT(names); i++) {
    *path = rs_path_join(folder, names[i], err);
    if (*path == NULL) return RS_MEMORY;
    if (access(*path, F_OK) == 0) return RS_OK;
    free(*path);
  }
  *path = NULL;
  return rs_fail_read(err, "%s: has neither %s nor %s (other formats of weights are not read)", folder, names[0],
                      names[1]);
}

/* Whether matrices are multiplied as they are read, so that they cannot stay in their file. */
static bool changes_matrices(const rs_hf_checkpoint *checkpoint) {
  return checkpoint->added_scale != 1 || checkpoint->architecture->part_scales[0] != NULL;
}

rs_status rs_hf_checkpoint_load(const rs_hf_checkpoint *checkpoint, const char *folder, rs_format format, bool copied,
                                rs_transformer **transformer, rs_err *err) {
  const rs_transformer_in in = {.shape = &checkpoint->shape,
                                .geometry = &checkpoint->geometry,
                                .recipes = checkpoint->recipes,
                                .recipe_count = checkpoint->recipe_count,
                                .tokens = &checkpoint->tokens,
                                .format = format,
                                .blank = true,
                                .mapped = !copied && !changes_matrices(checkpoint)};
  char *path;
  *transformer = NULL;
  RS_TRY(rs_hf_weights_find(folder, &path, err));
  rs_status status = rs_transformer_create(&in, transformer, err);
  if (status == RS_OK) status = read_weights(checkpoint, path, *transformer, err);
  if (status != RS_OK) {
    rs_transformer_free(*transformer);
    *transformer = NULL;
  }
  free(path);
  return status;
}
