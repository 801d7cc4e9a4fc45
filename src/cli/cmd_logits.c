/* ropescope logits: what a checkpoint says of token ids, as an array of NumPy. */
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- arrays ------------------------------------------------------------------------------------------------------ */

/* Whole numbers of 32 bits, (L,) or (B, L). */
static rs_status read_tokens(const char *file, rs_array *array, int32_t **tokens, rs_err *err) {
  RS_TRY(rs_npy_read(file, array, err));
  *tokens = rs_alloc(array->count, sizeof **tokens, err);
  if (*tokens == NULL) return RS_MEMORY;
  if (array->rank < 1 || array->rank > 2)
    return rs_fail(err, RS_INPUT, "%s: has %zu axes: token ids are (L,) or (B, L)", file, array->rank);
  for (size_t i = 0; i < array->count; i++) {
    double number = array->numbers[i];
    if (number != floor(number) || fabs(number) > INT32_MAX)
      return rs_fail(err, RS_INPUT, "%s: number %zu is %g, which is no token id", file, i, number);
    (*tokens)[i] = (int32_t)number;
  }
  return RS_OK;
}

/* ---- the model --------------------------------------------------------------------------------------------------- */

/* A published checkpoint, or one that this program trained. */
static rs_status load(const char *folder, rs_format format, rs_transformer **transformer, rs_err *err) {
  rs_hf_checkpoint checkpoint;
  RS_TRY(rs_hf_checkpoint_read(folder, &checkpoint, err));
  rs_status status = rs_hf_checkpoint_load(&checkpoint, folder, format, transformer, err);
  rs_hf_checkpoint_clear(&checkpoint);
  return status;
}

static rs_status say(const rs_transformer *transformer, const rs_reader_in *in, const char *path, rs_err *err) {
  rs_array out = {.rank = 3, .shape = {in->count, in->last, transformer->shape.classes}};
  out.count = out.shape[0] * out.shape[1] * out.shape[2];
  out.numbers = rs_alloc(in->count * in->last, transformer->shape.classes * sizeof *out.numbers, err);
  if (out.numbers == NULL) return RS_MEMORY;
  rs_status status = rs_read_logits(transformer, in, out.numbers, err);
  if (status == RS_OK) status = rs_npy_write(path, &out, transformer->format == RS_F64, err);
  rs_array_clear(&out);
  return status;
}

static rs_status run(const cli_options *options, rs_err *err) {
  rs_format format = options->precision != NULL && strcmp(options->precision, "f64") == 0 ? RS_F64 : RS_F32;
  rs_array array = {0};
  int32_t *tokens = NULL;
  rs_transformer *transformer = NULL;
  rs_status status = read_tokens(options->arguments[1], &array, &tokens, err);
  if (status == RS_OK) status = load(options->arguments[0], format, &transformer, err);
  if (status == RS_OK) {
    size_t length = array.shape[array.rank - 1];
    rs_reader_in in = {.count = array.count / length, .length = length, .tokens = tokens};
    in.last = options->last > 0 && options->last < length ? options->last : length;
    status = say(transformer, &in, options->out, err);
  }
  rs_transformer_free(transformer);
  rs_array_clear(&array);
  free(tokens);
  return status;
}

int cmd_logits(const cli_options *options) {
  rs_err err = {0};
  if (options->argument_count < 2 || options->out == NULL) {
    cli_error("logits needs a checkpoint, token ids and --out, as in ropescope logits FOLDER tokens.npy --out "
              "logits.npy");
    return CLI_USAGE;
  }
  rs_status status = run(options, &err);
  return status == RS_OK ? CLI_OK : cli_fail(status, NULL, &err);
}
