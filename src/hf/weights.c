/* The weights of a checkpoint in Hugging Face's layout: the numbers, or where they stay in its files. */
#include "gguf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

static rs_status read_run(const rs_hf_loader *l, const rs_stored_tensor *stored, size_t first, size_t count,
                          size_t place, rs_err *err) {
  const rs_transformer *t = l->transformer;
  if (t->format == RS_F64) return rs_stored_doubles(stored, first, count, (double *)t->values + place, err);
  return rs_stored_floats(stored, first, count, (float *)t->values + place, err);
}

static rs_status read_rows(const rs_hf_loader *l, const rs_stored_tensor *stored, const rs_tensor *tensor,
                           const rs_hf_row_map *map, rs_err *err) {
  size_t rows = tensor->vector ? tensor->columns : tensor->rows, columns = tensor->vector ? 1 : tensor->columns;
  size_t run = map->paired ? 1 : map->run;
  for (size_t row = 0; row < rows; row += run)
    RS_TRY(read_run(l, stored, map->start + rs_hf_their_row(map, row) * columns, run * columns,
                    tensor->offset + row * columns, err));
  return RS_OK;
}

/* Of a matrix that is stored (inputs, outputs). */
static rs_status read_turned(const rs_hf_loader *l, const rs_stored_tensor *stored, const rs_tensor *tensor,
                             const rs_hf_row_map *map, rs_err *err) {
  double *line = rs_alloc(map->all, sizeof *line, err);
  rs_status status = line != NULL ? RS_OK : RS_MEMORY;
  for (size_t column = 0; column < tensor->columns && status == RS_OK; column++) {
    status = rs_stored_doubles(stored, map->start + column * map->all, map->all, line, err);
    for (size_t row = 0; row < tensor->rows && status == RS_OK; row++) {
      rs_transformer_set(l->transformer, tensor->offset + row * tensor->columns + column,
                         line[rs_hf_their_row(map, row)]);
    }
  }
  free(line);
  return status;
}

/* Where the matrix stays: rows of theirs, or columns where it is stored (inputs, outputs). */
static void map_matrix(const rs_hf_loader *l, const rs_stored_tensor *stored, const rs_tensor *tensor,
                       const rs_hf_row_map *map, bool turned) {
  static const rs_format formats[RS_DTYPES] = {
      [RS_DTYPE_F64] = RS_F64, [RS_DTYPE_F32] = RS_F32, [RS_DTYPE_BF16] = RS_BF16, [RS_DTYPE_F16] = RS_F16};
  rs_format format = formats[stored->dtype];
  bool blocks = rs_dtype_block(stored->dtype).numbers > 1;
  l->transformer->matrices[tensor - l->transformer->tensors] =
      (rs_mapped_matrix){.numbers = blocks ? NULL : stored->data + map->start * rs_format_bytes(format),
                         .format = format,
                         .blocks = blocks ? stored : NULL,
                         .paired = map->paired,
                         .first = map->first,
                         .run = map->run,
                         .group_step = map->step,
                         .row_step = turned ? 1 : tensor->columns,
                         .column_step = turned ? map->all : 1};
}

/* A tensor of as many numbers, whatever its axes. */
static rs_status find_folded(const rs_hf_loader *l, const rs_tensor *tensor, const char *name,
                             const rs_stored_tensor **stored, rs_err *err) {
  *stored = rs_safetensors_find(l->file, name);
  if (*stored == NULL) return rs_fail(err, RS_INPUT, "%s: holds no tensor \"%s\"", l->file->path, name);
  if ((*stored)->count == tensor->rows * tensor->columns) return RS_OK;
  return rs_fail(err, RS_INPUT, "%s: tensor \"%s\": has %zu numbers, wanted are %zu x %zu", l->file->path, name,
                 (*stored)->count, tensor->rows, tensor->columns);
}

/* A vector that has a tensor for each head. */
static rs_status read_heads(const rs_hf_loader *l, const rs_tensor *tensor, const rs_hf_source *s, rs_err *err) {
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

/* xIELU's numbers, as modeling_apertus.py reads them: logs of e^alpha - 1, and buffers that a file may leave out. */
static rs_status read_curve(const rs_hf_loader *l, const rs_tensor *tensor, const rs_hf_source *s, rs_err *err) {
  static const char *const ends[] = {"alpha_p", "alpha_n", "beta", "eps"};
  double numbers[RS_COUNT(ends)] = {0, 0, 0.5, -1e-6};
  for (size_t i = 0; i < RS_COUNT(ends); i++) {
    char name[208];
    snprintf(name, sizeof name, "%s.%s", s->name, ends[i]);
    const rs_stored_tensor *stored = rs_safetensors_find(l->file, name);
    if (stored == NULL && i >= 2) continue;
    if (stored == NULL) return rs_fail(err, RS_INPUT, "%s: holds no tensor \"%s\"", l->file->path, name);
    if (stored->count != 1)
      return rs_fail(err, RS_INPUT, "%s: tensor \"%s\": has %zu numbers, wanted is one", l->file->path, name,
                     stored->count);
    l->used[stored - l->file->tensors] = true;
    RS_TRY(rs_stored_doubles(stored, 0, 1, &numbers[i], err));
    if (i < 2) numbers[i] = numbers[i] > 30 ? numbers[i] : log1p(exp(numbers[i]));
  }
  numbers[1] += numbers[2];
  for (size_t i = 0; i < RS_COUNT(ends); i++) rs_transformer_set(l->transformer, tensor->offset + i, numbers[i]);
  return RS_OK;
}

/* A table of positions (1, 2 + patches, d), of which ours has no second row: the distillation token gets that, for both
 * stand in one place whatever the picture. Tokens come before tables. */
static rs_status read_beside_second(const rs_hf_loader *l, const rs_tensor *tensor, const rs_hf_source *s,
                                    rs_err *err) {
  rs_transformer *t = l->transformer;
  const rs_tensor *token = rs_transformer_tensor(t, "model.distillation_token");
  const rs_tensor theirs = {.rows = tensor->rows + 1, .columns = tensor->columns};
  size_t d = tensor->columns;
  const rs_stored_tensor *stored;
  RS_TRY(find_folded(l, &theirs, s->name, &stored, err));
  l->used[stored - l->file->tensors] = true;
  double *second = rs_alloc(d, sizeof *second, err);
  rs_status status = second != NULL ? rs_stored_doubles(stored, d, d, second, err) : RS_MEMORY;
  for (size_t i = 0; i < d && status == RS_OK; i++)
    rs_transformer_set(t, token->offset + i, rs_transformer_get(t, token->offset + i) + second[i]);
  free(second);
  if (status == RS_OK) status = read_run(l, stored, 0, d, tensor->offset, err);
  return status == RS_OK ? read_run(l, stored, 2 * d, (tensor->rows - 1) * d, tensor->offset + d, err) : status;
}

static void fill_ones(const rs_hf_loader *l, const rs_tensor *tensor) {
  size_t end = tensor->offset + tensor->rows * tensor->columns;
  for (size_t i = tensor->offset; i < end; i++) rs_transformer_set(l->transformer, i, 1);
}

/* What parts add to x is made by these matrices. */
static void scale_added(const rs_hf_loader *l, const rs_tensor *tensor) {
  rs_transformer *t = l->transformer;
  double scale = l->checkpoint->added_scale;
  bool last = rs_hf_is_part(tensor->name, ".o_proj.") || rs_hf_is_part(tensor->name, ".down_proj.");
  if (scale == 1 || !last) return;
  size_t end = tensor->offset + tensor->rows * tensor->columns;
  for (size_t i = tensor->offset; i < end; i++) rs_transformer_set(t, i, scale * rs_transformer_get(t, i));
}

/* Whether matrices of layers are (inputs, outputs); convert_hf_to_gguf.py turns such. */
static bool is_turned(const rs_hf_loader *l) {
  return l->checkpoint->architecture->turned && l->checkpoint->gguf == NULL;
}

static rs_status read_tensor(const rs_hf_loader *l, const rs_tensor *tensor, rs_err *err) {
  rs_hf_source s = rs_hf_source_of(l, tensor);
  rs_hf_rows kind = s.renamed != NULL ? s.renamed->rows : RS_ROWS_OWN;
  if (kind == RS_ROWS_HEADS) return read_heads(l, tensor, &s, err);
  if (kind == RS_ROWS_CURVE) return read_curve(l, tensor, &s, err);
  if (kind == RS_ROWS_BESIDE_SECOND) return read_beside_second(l, tensor, &s, err);
  if (kind == RS_ROWS_ONES) {
    fill_ones(l, tensor);
    return RS_OK;
  }
  if (kind == RS_ROWS_QUARTERS && l->checkpoint->geometry.heads % 4 != 0)
    return rs_fail(err, RS_INPUT,
                   "%s: tensor \"%s\": has q, v, k of each quarter of %zu heads: must be a multiple of 4",
                   l->file->path, s.name, l->checkpoint->geometry.heads);
  rs_hf_row_map map = rs_hf_rows_of(l, tensor, &s);
  bool turned = is_turned(l) && s.block >= 0 && !tensor->vector;
  bool expert = s.renamed != NULL && rs_hf_of_experts(s.renamed->rows);
  bool below = expert && kind == RS_ROWS_EXPERTS_BELOW;
  if (expert) turned = kind != RS_ROWS_EXPERTS && !tensor->vector;
  if (below) turned = rs_hf_is_part(tensor->name, ".down_proj");
  size_t experts = expert ? l->checkpoint->shape.decoder.blocks[s.block].feed_forward.experts.count : 0;
  size_t wanted[3] = {experts}, rank = expert && !below ? 1 : 0;
  if (turned) wanted[rank++] = tensor->columns;
  wanted[rank++] = map.all;
  if (!turned && !tensor->vector) wanted[rank++] = tensor->columns;
  if (below) wanted[0] *= experts;
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
static rs_status scale_part(const rs_hf_loader *l, const rs_tensor *tensor, rs_err *err) {
  rs_transformer *t = l->transformer;
  const rs_architecture *row = l->checkpoint->architecture;
  bool last = rs_hf_is_part(tensor->name, ".o_proj."), fed = rs_hf_is_part(tensor->name, ".down_proj.");
  const rs_stored_tensor *stored;
  if (row->part_scales[0] == NULL || (!last && !fed)) return RS_OK;
  size_t rows = tensor->vector ? tensor->columns : tensor->rows, columns = tensor->vector ? 1 : tensor->columns;
  char name[192];
  snprintf(name, sizeof name, "%s%s.%ld.%s", l->prefix, row->layers, rs_hf_source_of(l, tensor).block,
           row->part_scales[fed ? 1 : 0]);
  RS_TRY(rs_safetensors_get(l->file, name, &rows, 1, &stored, err));
  l->used[stored - l->file->tensors] = true;
  double *scales = rs_alloc(rows, sizeof *scales, err);
  rs_status status = scales != NULL ? rs_stored_doubles(stored, 0, rows, scales, err) : RS_MEMORY;
  for (size_t i = tensor->offset, end = i + rows * columns; i < end && status == RS_OK; i++)
    rs_transformer_set(t, i, rs_transformer_get(t, i) * scales[(i - tensor->offset) / columns]);
  free(scales);
  return status;
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

/* Tensors of no use to the logits: an output that is the embeddings' all the same, and what the architecture names. */
static bool is_ignored(const rs_hf_loader *l, const char *name) {
  const rs_gguf_row *gguf = l->checkpoint->gguf;
  const char *const *ignored = gguf != NULL ? gguf->ignored : l->checkpoint->architecture->ignored;
  const char *const *lists[] = {gguf != NULL ? NULL : rs_ignored_buffers, ignored};
  bool distances = l->checkpoint->geometry.published.method->vectors != NULL; /* in the place of BERT's positions */
  if (distances && strstr(name, "embeddings.position_embeddings.weight") != NULL) return true;
  if (gguf == NULL && l->checkpoint->shape.tied && strstr(name, "lm_head.weight") != NULL) return true;
  for (size_t i = 0; i < RS_COUNT(lists); i++)
    for (const char *const *part = lists[i]; part != NULL && *part != NULL; part++)
      if (strstr(name, *part) != NULL) return true;
  return false;
}

/* Of a layer behind those of config.json. */
static bool is_beyond(const rs_hf_loader *l, const char *name) {
  const rs_architecture *row = l->checkpoint->architecture;
  char layers[64];
  int length = snprintf(layers, sizeof layers, "%s%s.", l->prefix, row->layers != NULL ? row->layers : "layers");
  return row->extra_layers && strncmp(name, layers, (size_t)length) == 0 &&
         strtoul(name + length, NULL, 10) >= l->checkpoint->shape.decoder.count;
}

/* Parts of what quantized weights are stored as: better said than that a weight is missing. */
static rs_status refuse_quantized(const rs_hf_loader *l, rs_err *err) {
  static const char *const ends[] = {".qweight",       ".qzeros",      ".weight_scale",    ".weight_scale_inv",
                                     ".weight_packed", ".SCB",         ".weight.absmax",   "_proj_blocks",
                                     "_proj_scales",   ".input_scale", ".weight.quant_map"};
  for (size_t i = 0; i < l->file->count; i++) {
    const rs_stored_tensor *tensor = &l->file->tensors[i];
    for (size_t e = 0; e < RS_COUNT(ends); e++) {
      size_t length = strlen(tensor->name), end = strlen(ends[e]);
      if (length >= end && strcmp(tensor->name + length - end, ends[e]) == 0)
        return rs_fail(err, RS_UNSUPPORTED,
                       "%s: tensor \"%s\": is of quantized weights: take the unquantized checkpoint, or write one "
                       "(transformers: model.dequantize(), save_pretrained)",
                       tensor->file, tensor->name);
    }
  }
  return RS_OK;
}

static rs_status refuse_unused(const rs_hf_loader *l, rs_err *err) {
  for (size_t i = 0; i < l->file->count; i++) {
    const rs_stored_tensor *tensor = &l->file->tensors[i];
    if (!l->used[i] && !is_ignored(l, tensor->name) && !is_beyond(l, tensor->name))
      return rs_fail(err, RS_INPUT, "%s: tensor \"%s\": a %s as %s has it does not read it", tensor->file, tensor->name,
                     l->checkpoint->architecture->entry.model_type,
                     l->checkpoint->gguf != NULL ? "the metadata" : "config.json");
  }
  return RS_OK;
}

static rs_status map_weights(const rs_hf_checkpoint *checkpoint, const char *path, rs_safetensors **file, rs_err *err) {
  rs_gguf *gguf;
  if (checkpoint->gguf == NULL) return rs_safetensors_map(path, file, err);
  RS_TRY(rs_gguf_open(path, &gguf, err));
  *file = rs_gguf_detach(gguf);
  rs_gguf_close(gguf);
  return RS_OK;
}

static rs_status read_weights(const rs_hf_checkpoint *checkpoint, const char *path, rs_transformer *transformer,
                              rs_err *err) {
  rs_safetensors *file;
  RS_TRY(map_weights(checkpoint, path, &file, err));
  rs_hf_loader l = {.checkpoint = checkpoint, .file = file, .transformer = transformer};
  l.used = rs_alloc(file->count, sizeof *l.used, err);
  rs_status status = l.used != NULL ? RS_OK : RS_MEMORY;
  if (status == RS_OK) status = refuse_quantized(&l, err);
  l.prefix = rs_hf_prefix_of(&l);
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
  if (rs_hf_is_gguf(folder)) return (*path = rs_strdup(folder, err)) != NULL ? RS_OK : RS_MEMORY;
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
