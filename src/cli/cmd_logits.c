/* ropescope logits: what a checkpoint says of token ids, as an array of NumPy. */
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What the options name, read; zero-initialise, release with inputs_clear. */
typedef struct inputs {
  rs_reader_in in;
  int32_t *tokens; /* (count, L) */
  int32_t *types;  /* (count, L) */
  size_t *lengths; /* (count,) */
  double *ids;     /* (count, L, RS_AXES) */
} inputs;

static void inputs_clear(inputs *i) {
  free(i->tokens);
  free(i->types);
  free(i->lengths);
  free(i->ids);
}

/* ---- arrays ------------------------------------------------------------------------------------------------------ */

static rs_status to_tokens(const char *file, const rs_array *array, int32_t *tokens, rs_err *err) {
  for (size_t i = 0; i < array->count; i++) {
    double number = array->numbers[i];
    if (number != floor(number) || fabs(number) > INT32_MAX)
      return rs_fail(err, RS_INPUT, "%s: number %zu is %g, which is no token id", file, i, number);
    tokens[i] = (int32_t)number;
  }
  return RS_OK;
}

/* (L,) or (B, L). */
static rs_status read_tokens(const char *file, inputs *i, rs_err *err) {
  rs_array array;
  RS_TRY(rs_npy_read(file, &array, err));
  rs_status status = RS_OK;
  if (array.rank < 1 || array.rank > 2)
    status = rs_fail(err, RS_INPUT, "%s: has %zu axes: token ids are (L,) or (B, L)", file, array.rank);
  if (status == RS_OK && (i->tokens = rs_alloc(array.count, sizeof *i->tokens, err)) == NULL) status = RS_MEMORY;
  if (status == RS_OK) status = to_tokens(file, &array, i->tokens, err);
  if (status == RS_OK) {
    i->in.length = array.shape[array.rank - 1];
    i->in.count = array.count / i->in.length;
    i->in.tokens = i->tokens;
  }
  rs_array_clear(&array);
  return status;
}

/* (B, L), or (L,) of one sequence, of the tokens' B and L; with `planes` of it before. */
static bool fits(const rs_array *array, const inputs *i, size_t planes) {
  const size_t *shape = array->shape;
  if (planes > 1) return array->rank == 3 && shape[0] == planes && shape[1] == i->in.count && shape[2] == i->in.length;
  if (array->rank == 1) return i->in.count == 1 && shape[0] == i->in.length;
  return array->rank == 2 && shape[0] == i->in.count && shape[1] == i->in.length;
}

/* The axes of HF's ids come first; one axis stands for all. */
static rs_status take_ids(const char *file, const rs_array *array, inputs *i, rs_err *err) {
  size_t tokens = i->in.count * i->in.length;
  bool axes = fits(array, i, RS_AXES);
  if (!axes && !fits(array, i, 1))
    return rs_fail(err, RS_INPUT, "%s: position ids must be (%zu, %zu) as the token ids are, or (3, %zu, %zu)", file,
                   i->in.count, i->in.length, i->in.count, i->in.length);
  i->ids = rs_alloc(tokens, RS_AXES * sizeof *i->ids, err);
  if (i->ids == NULL) return RS_MEMORY;
  for (size_t n = 0; n < tokens; n++)
    for (size_t a = 0; a < RS_AXES; a++) i->ids[n * RS_AXES + a] = array->numbers[(axes ? a * tokens : 0) + n];
  i->in.ids = i->ids;
  return RS_OK;
}

/* Ones, then zeros. */
static rs_status take_lengths(const char *file, const rs_array *array, inputs *i, rs_err *err) {
  size_t length = i->in.length;
  if (!fits(array, i, 1))
    return rs_fail(err, RS_INPUT, "%s: the mask must be (%zu, %zu) as the token ids are", file, i->in.count, length);
  i->lengths = rs_alloc(i->in.count, sizeof *i->lengths, err);
  if (i->lengths == NULL) return RS_MEMORY;
  for (size_t n = 0; n < array->count; n++) {
    double number = array->numbers[n];
    if (number != 0 && number != 1)
      return rs_fail(err, RS_INPUT, "%s: number %zu is %g: a mask holds 0 and 1", file, n, number);
    if (number == 1 && i->lengths[n / length] < n % length)
      return rs_fail(err, RS_UNSUPPORTED, "%s: sequence %zu has a token behind padding (pad at the end)", file,
                     n / length);
    i->lengths[n / length] += number == 1;
  }
  i->in.lengths = i->lengths;
  return RS_OK;
}

static rs_status take_types(const char *file, const rs_array *array, inputs *i, rs_err *err) {
  if (!fits(array, i, 1))
    return rs_fail(err, RS_INPUT, "%s: token types must be (%zu, %zu) as the token ids are", file, i->in.count,
                   i->in.length);
  i->types = rs_alloc(array->count, sizeof *i->types, err);
  if (i->types == NULL) return RS_MEMORY;
  i->in.types = i->types;
  return to_tokens(file, array, i->types, err);
}

static rs_status read_beside(const char *file, inputs *i, rs_err *err,
                             rs_status (*take)(const char *, const rs_array *, inputs *, rs_err *)) {
  rs_array array;
  if (file == NULL) return RS_OK;
  RS_TRY(rs_npy_read(file, &array, err));
  rs_status status = take(file, &array, i, err);
  rs_array_clear(&array);
  return status;
}

static rs_status read_inputs(const cli_options *options, inputs *i, rs_err *err) {
  RS_TRY(read_tokens(options->arguments[1], i, err));
  i->in.last = options->last > 0 && options->last < i->in.length ? options->last : i->in.length;
  RS_TRY(read_beside(options->attention_mask, i, err, take_lengths));
  RS_TRY(read_beside(options->token_types, i, err, take_types));
  return read_beside(options->position_ids, i, err, take_ids);
}

/* ---- the model --------------------------------------------------------------------------------------------------- */

static rs_status load(const char *folder, rs_format format, rs_transformer **transformer, rs_err *err) {
  rs_hf_checkpoint checkpoint;
  RS_TRY(rs_hf_checkpoint_read(folder, &checkpoint, err));
  rs_status status = rs_hf_checkpoint_load(&checkpoint, folder, format, transformer, err);
  rs_hf_checkpoint_clear(&checkpoint);
  return status;
}

static rs_status say(const rs_transformer *transformer, const rs_reader_in *in, const char *path, rs_err *err) {
  const rs_shape *shape = &transformer->shape;
  rs_array out = {.rank = 3, .shape = {in->count, in->last, shape->classes > 0 ? shape->classes : shape->width}};
  out.count = out.shape[0] * out.shape[1] * out.shape[2];
  out.numbers = rs_alloc(in->count * in->last, out.shape[2] * sizeof *out.numbers, err);
  if (out.numbers == NULL) return RS_MEMORY;
  rs_status status = rs_read_logits(transformer, in, out.numbers, err);
  if (status == RS_OK) status = rs_npy_write(path, &out, transformer->format == RS_F64, err);
  rs_array_clear(&out);
  return status;
}

int cmd_logits(const cli_options *options) {
  rs_format format = options->precision != NULL && strcmp(options->precision, "f64") == 0 ? RS_F64 : RS_F32;
  inputs i = {0};
  rs_transformer *transformer = NULL;
  rs_err err = {0};
  if (options->argument_count < 2 || options->out == NULL) {
    cli_error("logits needs a checkpoint, token ids and --out, as in ropescope logits FOLDER tokens.npy --out "
              "logits.npy");
    return CLI_USAGE;
  }
  rs_status status = read_inputs(options, &i, &err);
  if (status == RS_OK) status = load(options->arguments[0], format, &transformer, &err);
  if (status == RS_OK) status = say(transformer, &i.in, options->out, &err);
  rs_transformer_free(transformer);
  inputs_clear(&i);
  return status == RS_OK ? CLI_OK : cli_fail(status, NULL, &err);
}
