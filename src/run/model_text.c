/* The pass of a source's own checkpoint over its text: one block's queries and keys at a time, so that memory is that
 * of the weights and of one layer, however many layers a sweep has. */
#include "cell.h"

#include <stdlib.h>
#include <string.h>

#include "costs.h"

void rs_text_model_clear(rs_text_model *model) {
  rs_transformer_free(model->transformer);
  *model = (rs_text_model){0};
}

static rs_status load(rs_text_model *model, const rs_model_source *source, rs_err *err) {
  const char *folder = source->checkpoint.path;
  bool there = model->folder != NULL && strcmp(model->folder, folder) == 0;
  if (there && model->precision == source->precision) return RS_OK;
  rs_text_model_clear(model);
  RS_TRY(rs_folder_load(folder, source->precision, &model->transformer, err));
  model->folder = folder;
  model->precision = source->precision;
  return RS_OK;
}

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash != NULL ? slash + 1 : path;
}

/* The first tokens of the text. Release *tokens with free(). */
static rs_status read_tokens(const rs_model_source *source, size_t length, int32_t **tokens, rs_err *err) {
  rs_token_file file;
  *tokens = NULL;
  RS_TRY(rs_token_file_read(source->tokens, source->numbers, &file, err));
  rs_status status = RS_OK;
  if (file.count < length)
    status =
        rs_fail(err, RS_DOMAIN, "%s: has %zu tokens, the length is %zu", base_name(source->tokens), file.count, length);
  if (status == RS_OK) *tokens = rs_alloc(length, sizeof **tokens, err);
  if (status == RS_OK && *tokens == NULL) status = RS_MEMORY;
  for (size_t n = 0; n < length && status == RS_OK; n++) (*tokens)[n] = (int32_t)rs_token_id(&file, n);
  rs_token_file_clear(&file);
  return status;
}

static rs_status read_block(const rs_transformer *transformer, size_t block, const int32_t *tokens, size_t length,
                            rs_text_rows *rows, rs_err *err) {
  RS_TRY(rs_block_check(&transformer->shape, block, err));
  rows->shape = transformer->shape.decoder.blocks[block].attention;
  rows->q = rs_arena_take(&rows->arena, length, rows->shape.heads * rows->shape.head_dim * sizeof *rows->q);
  rows->k = rs_arena_take(&rows->arena, length, rows->shape.kv_heads * rows->shape.head_dim * sizeof *rows->k);
  rows->sinks = rs_arena_take(&rows->arena, rows->shape.heads, sizeof *rows->sinks);
  RS_TRY(rs_arena_check(&rows->arena, err));
  rs_block_sinks(transformer, block, rows->sinks);
  return rs_read_block(transformer, tokens, length, block, rows->q, rows->k, err);
}

rs_status rs_text_rows_read(rs_text_model *model, const rs_model_source *source, size_t length, rs_text_rows *rows,
                            rs_err *err) {
  int32_t *tokens;
  rs_err why = {0};
  *rows = (rs_text_rows){0};
  RS_TRY(read_tokens(source, length, &tokens, err));
  rs_status status = load(model, source, &why);
  if (status == RS_OK) status = read_block(model->transformer, source->layer, tokens, length, rows, &why);
  free(tokens);
  bool of_text = strcmp(why.subject, "tokens") == 0;
  return status == RS_OK ? RS_OK
                         : rs_fail(err, status, "%s%s%s", of_text ? base_name(source->tokens) : "", of_text ? ": " : "",
                                   why.message);
}

void rs_text_rows_clear(rs_text_rows *rows) {
  rs_arena_clear(&rows->arena);
  *rows = (rs_text_rows){0};
}
