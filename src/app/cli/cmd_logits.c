/* ropescope logits: what a checkpoint says of token ids or images, and what its heads attend to, as arrays of NumPy. */
#include "cli.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What the options name, read; all arrays are in `arena`. */
typedef struct inputs {
  rs_reader_in in;
  rs_documents documents; /* that its tokens are */
  rs_arena arena;
} inputs;

/* ---- arrays ------------------------------------------------------------------------------------------------------ */

/* Numbers of what `noun` says. */
static rs_status to_integers(const char *file, const char *noun, const rs_array *array, inputs *i,
                             const int32_t **integers, rs_err *err) {
  int32_t *ids = rs_arena_take(&i->arena, array->count, sizeof *ids);
  RS_TRY(rs_arena_check(&i->arena, err));
  for (size_t n = 0; n < array->count; n++) {
    double number = array->numbers[n];
    if (number != floor(number) || fabs(number) > INT32_MAX)
      return rs_fail(err, RS_INPUT, "%s: number %zu is %g, which is no %s", file, n, number, noun);
    ids[n] = (int32_t)number;
  }
  *integers = ids;
  return RS_OK;
}

/* (L,) or (B, L). */
static rs_status take_tokens(const char *file, const rs_array *array, inputs *i, rs_err *err) {
  if (array->rank < 1 || array->rank > 2)
    return rs_fail(err, RS_INPUT, "%s: has %zu axes: token ids are (L,) or (B, L)", file, array->rank);
  i->in.length = array->shape[array->rank - 1];
  i->in.count = array->count / i->in.length;
  return to_integers(file, "token id", array, i, &i->in.tokens, err);
}

/* (B, L), or (L,) of one sequence, of the tokens' B and L; with `planes` of it before. */
static bool fits(const rs_array *array, const inputs *i, size_t planes) {
  const size_t *shape = array->shape;
  if (planes > 1) return array->rank == 3 && shape[0] == planes && shape[1] == i->in.count && shape[2] == i->in.length;
  if (array->rank == 1) return i->in.count == 1 && shape[0] == i->in.length;
  return array->rank == 2 && shape[0] == i->in.count && shape[1] == i->in.length;
}

/* The decoder's tokens; those that were read before are the encoder's. */
static rs_status take_decoder(const char *file, const rs_array *array, inputs *i, rs_err *err) {
  size_t count = i->in.count;
  i->in.source = i->in.tokens;
  i->in.source_length = i->in.length;
  RS_TRY(take_tokens(file, array, i, err));
  if (i->in.count == count) return RS_OK;
  return rs_fail(err, RS_INPUT, "%s: has %zu sequences, the encoder's tokens have %zu", file, i->in.count, count);
}

/* The axes of HF's ids come first; one axis stands for all. */
static rs_status take_ids(const char *file, const rs_array *array, inputs *i, rs_err *err) {
  size_t tokens = i->in.count * i->in.length;
  bool axes = fits(array, i, RS_AXES);
  if (!axes && !fits(array, i, 1))
    return rs_fail(err, RS_INPUT, "%s: position ids must be (%zu, %zu) as the token ids are, or (3, %zu, %zu)", file,
                   i->in.count, i->in.length, i->in.count, i->in.length);
  for (size_t n = 0; n < array->count; n++)
    if (fabs(array->numbers[n]) > 0x1p53)
      return rs_fail(err, RS_INPUT, "%s: number %zu is %g: positions are at most 2^53", file, n, array->numbers[n]);
  double *ids = rs_arena_take(&i->arena, tokens, RS_AXES * sizeof *ids);
  RS_TRY(rs_arena_check(&i->arena, err));
  for (size_t n = 0; n < tokens; n++)
    for (size_t a = 0; a < RS_AXES; a++) ids[n * RS_AXES + a] = array->numbers[(axes ? a * tokens : 0) + n];
  i->in.ids = ids;
  return RS_OK;
}

/* Ones, and zeros on either side. */
static rs_status take_mask(const char *file, const rs_array *array, inputs *i, rs_err *err) {
  if (!fits(array, i, 1))
    return rs_fail(err, RS_INPUT, "%s: the mask must be (%zu, %zu) as the token ids are", file, i->in.count,
                   i->in.length);
  uint8_t *present = rs_arena_take(&i->arena, array->count, sizeof *present);
  RS_TRY(rs_arena_check(&i->arena, err));
  for (size_t n = 0; n < array->count; n++) {
    double number = array->numbers[n];
    if (number != 0 && number != 1)
      return rs_fail(err, RS_INPUT, "%s: number %zu is %g: a mask holds 0 and 1 (numbers of documents: --document-ids)",
                     file, n, number);
    present[n] = number == 1;
  }
  i->in.present = present;
  return RS_OK;
}

static rs_status take_documents(const char *file, const rs_array *array, inputs *i, rs_err *err) {
  if (!fits(array, i, 1))
    return rs_fail(err, RS_INPUT, "%s: document ids must be (%zu, %zu) as the token ids are", file, i->in.count,
                   i->in.length);
  return to_integers(file, "document id", array, i, &i->in.documents, err);
}

static rs_status take_types(const char *file, const rs_array *array, inputs *i, rs_err *err) {
  if (!fits(array, i, 1))
    return rs_fail(err, RS_INPUT, "%s: token types must be (%zu, %zu) as the token ids are", file, i->in.count,
                   i->in.length);
  return to_integers(file, "token type", array, i, &i->in.types, err);
}

static rs_status read_array(const char *file, inputs *i, rs_err *err,
                            rs_status (*take)(const char *, const rs_array *, inputs *, rs_err *)) {
  RS_OWNED(rs_array) array = {0};
  if (file == NULL) return RS_OK;
  RS_TRY(rs_npy_read(file, &array, err));
  return take(file, &array, i, err);
}

/* ---- images ------------------------------------------------------------------------------------------------------ */

/* The numbers of one patch: channel by channel, row by row. */
static void cut_patch(const rs_array *pixels, size_t image, size_t top, size_t left, size_t side, float *to) {
  size_t channels = pixels->shape[1], height = pixels->shape[2], width = pixels->shape[3];
  for (size_t c = 0; c < channels; c++)
    for (size_t y = 0; y < side; y++)
      for (size_t x = 0; x < side; x++)
        *to++ = (float)pixels->numbers[((image * channels + c) * height + top + y) * width + left + x];
}

static rs_status cut_images(const char *file, const rs_array *pixels, const rs_hf_checkpoint *checkpoint, inputs *i,
                            rs_err *err) {
  size_t side = checkpoint->patch_side, numbers = checkpoint->shape.patch_numbers;
  const size_t *shape = pixels->shape;
  if (pixels->rank != 4 || shape[1] != checkpoint->channels || shape[2] < side || shape[3] < side)
    return rs_fail(err, RS_INPUT, "%s: pixels are (B, %zu, H, W), H and W at least %zu", file, checkpoint->channels,
                   side);
  for (size_t n = 0; n < pixels->count; n++)
    if (fabs(pixels->numbers[n]) > FLT_MAX)
      return rs_fail(err, RS_INPUT, "%s: number %zu is %g, beyond the range of floats", file, n, pixels->numbers[n]);
  i->in.count = shape[0];
  i->in.rows = shape[2] / side;
  i->in.columns = shape[3] / side;
  size_t each = i->in.rows * i->in.columns;
  i->in.length = each + rs_shape_lead(&checkpoint->shape);
  float *patches = rs_arena_take(&i->arena, pixels->count, sizeof *patches);
  RS_TRY(rs_arena_check(&i->arena, err));
  for (size_t p = 0; p < i->in.count * each; p++) {
    size_t image = p / each, place = p % each;
    cut_patch(pixels, image, place / i->in.columns * side, place % i->in.columns * side, side, patches + p * numbers);
  }
  i->in.patches = patches;
  return RS_OK;
}

static rs_status read_images(const char *file, const rs_hf_checkpoint *checkpoint, inputs *i, rs_err *err) {
  RS_OWNED(rs_array) array = {0};
  if (checkpoint->patch_side == 0) return rs_fail(err, RS_INPUT, "--pixels: the checkpoint reads none: it is no ViT");
  RS_TRY(rs_npy_read(file, &array, err));
  return cut_images(file, &array, checkpoint, i, err);
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

static rs_status read_inputs(const cli_options *options, const rs_hf_checkpoint *checkpoint, inputs *i, rs_err *err) {
  if (options->pixels != NULL) {
    RS_TRY(read_images(options->pixels, checkpoint, i, err));
  } else {
    RS_TRY(read_array(options->arguments[1], i, err, take_tokens));
    RS_TRY(read_array(options->decoder_tokens, i, err, take_decoder));
    RS_TRY(read_array(options->attention_mask, i, err, take_mask));
    RS_TRY(read_array(options->document_ids, i, err, take_documents));
    RS_TRY(read_array(options->token_types, i, err, take_types));
    RS_TRY(read_array(options->position_ids, i, err, take_ids));
  }
  i->in.last = options->last > 0 && options->last < i->in.length ? options->last : i->in.length;
  return RS_OK;
}

/* A model that says one class a sequence answers once, and has no last tokens to choose. */
static rs_status take_single(const cli_options *options, inputs *i, rs_err *err) {
  i->in.last = 1;
  if (options->last == 0) return RS_OK;
  return rs_fail(err, RS_INPUT, "--last %zu: the model says one class a sequence, and none of single tokens",
                 options->last);
}

/* The file that an array of the reader is from; NULL: it is about none. */
static const char *file_of(const cli_options *options, const char *array) {
  const char *first = options->arguments[1];
  const struct {
    const char *array, *file;
  } arrays[] = {{"types", options->token_types},
                {"source", first},
                {"tokens", options->decoder_tokens != NULL ? options->decoder_tokens : first},
                {"ids", options->position_ids},
                {"documents", options->document_ids},
                {"present", options->attention_mask}};
  for (size_t a = 0; a < RS_COUNT(arrays); a++)
    if (strcmp(array, arrays[a].array) == 0) return arrays[a].file;
  return NULL;
}

/* The same error, said of the file. */
static rs_status fail_in_file(const cli_options *options, rs_status status, const rs_err *why, rs_err *err) {
  const char *name = file_of(options, why->subject);
  if (status == RS_OK) return RS_OK;
  return rs_fail(err, status, "%s%s%s", name != NULL ? name : "", name != NULL ? ": " : "", why->message);
}

/* What is said, on its way to the file. */
typedef struct answers {
  const rs_transformer *transformer;
  const inputs *inputs;
  const cli_options *options;
  rs_npy_file *file;
  rs_status status; /* of what was put in the file */
  rs_err *err;
} answers;

/* Weights that are finite may still give sums that are not. */
static rs_status check_finite(const answers *a, size_t answer, const double *row, size_t width) {
  size_t n = 0, last = a->inputs->in.last;
  while (n < width && isfinite(row[n])) n++;
  if (n == width) return RS_OK;
  return rs_fail(a->err, RS_DOMAIN, "what the model says of sequence %zu at answer %zu is not finite%s", answer / last,
                 answer % last, a->transformer->format == RS_F32 ? " in floats (--precision f64)" : "");
}

static void put_row(void *context, size_t answer, const double *row) {
  answers *a = context;
  size_t width = rs_reader_width(a->transformer);
  if (a->status == RS_OK) a->status = check_finite(a, answer, row, width);
  if (a->status == RS_OK) a->status = rs_npy_put_at(a->file, answer * width, row, width);
}

static rs_status put_answers(rs_npy_file *file, void *context, rs_err *err) {
  answers *a = context;
  rs_err why = {0};
  a->file = file;
  a->err = err;
  rs_status status = rs_read_rows(a->transformer, &a->inputs->in, &a->inputs->documents, put_row, a, &why);
  return status == RS_OK ? a->status : fail_in_file(a->options, status, &why, err);
}

static rs_status say(const rs_transformer *transformer, const inputs *i, const cli_options *options, rs_err *err) {
  answers a = {.transformer = transformer, .inputs = i, .options = options};
  const rs_reader_in *in = &i->in;
  size_t width = rs_reader_width(transformer);
  rs_array out = {.rank = 3, .shape = {in->count, in->last, width}, .count = in->count * in->last * width};
  if (rs_reader_single(transformer)) {
    out.rank = 2;
    out.shape[1] = width;
  }
  return rs_npy_fill(options->out, &out, transformer->format == RS_F64, put_answers, &a, err);
}

/* ---- attention --------------------------------------------------------------------------------------------------- */

/* What the first sequence is read with, and the file that its weights go to. */
typedef struct weights {
  const rs_context *context;
  const rs_batch *batch;
  const rs_document *document;
  size_t length;  /* L */
  double *spread; /* (L, L) where tokens stand in the list; 0 of padding */
  rs_npy_file *file;
  rs_status status; /* of what was put in the file */
} weights;

/* Rows and columns of the document's tokens, to their places in the sequence. */
static void spread_weights(const weights *w, const double *numbers) {
  size_t count = w->document->count;
  const size_t *places = w->document->places;
  for (size_t m = 0; m < count; m++)
    for (size_t n = 0; n < count; n++) w->spread[places[m] * w->length + places[n]] = numbers[m * count + n];
}

static void put_head(void *context, size_t block, size_t head, const double *numbers) {
  weights *w = context;
  (void)block;
  (void)head;
  spread_weights(w, numbers);
  if (w->status == RS_OK) w->status = rs_npy_put(w->file, w->spread, w->length * w->length);
}

static rs_status put_weights(rs_npy_file *file, void *context, rs_err *err) {
  weights *w = context;
  const rs_weights_watch watch = {put_head, w};
  w->file = file;
  RS_TRY(rs_read_weights(w->context, w->batch, &watch, err));
  return w->status;
}

static bool shows_attention(const cli_options *options) {
  return options->attention != NULL || options->rollout != NULL;
}

static rs_status write_weights(const rs_transformer *t, weights *w, const char *path, rs_err *err) {
  const rs_stack *stack = &t->shape.decoder;
  size_t heads = stack->blocks[0].attention.heads;
  for (size_t b = 1; b < stack->count; b++)
    if (stack->blocks[b].attention.heads != heads)
      return rs_fail(err, RS_UNSUPPORTED,
                     "--attention: layer %zu has %zu heads and layer 0 has %zu: no one array holds them (a config with "
                     "metrics: [attention_map] does)",
                     b, stack->blocks[b].attention.heads, heads);
  const rs_array out = {.rank = 4,
                        .shape = {stack->count, heads, w->length, w->length},
                        .count = stack->count * heads * w->length * w->length};
  return rs_npy_fill(path, &out, t->format == RS_F64, put_weights, w, err);
}

static rs_status write_rollout(const rs_transformer *t, const weights *w, const char *path, rs_err *err) {
  RS_FREED double *rollout = NULL;
  RS_TRY(rs_read_rollout(w->context, w->batch, &rollout, err));
  spread_weights(w, rollout);
  const rs_array out = {
      .rank = 2, .shape = {w->length, w->length}, .count = w->length * w->length, .numbers = w->spread};
  return rs_npy_write(path, &out, t->format == RS_F64, err);
}

/* Of the first sequence, where it is wanted. */
static rs_status show_attention(const rs_transformer *t, const inputs *i, const cli_options *options, rs_err *err) {
  rs_context *context;
  rs_batch batch;
  rs_err why = {0};
  size_t length = i->in.length;
  if (!shows_attention(options)) return RS_OK;
  RS_FREED double *spread = rs_alloc(length, length * sizeof *spread, err);
  if (spread == NULL) return RS_MEMORY;
  rs_status status = rs_reader_context(t, &i->in, &i->documents, &context, &batch, &why);
  if (status != RS_OK) return fail_in_file(options, status, &why, err);
  weights w = {.context = context, .batch = &batch, .document = i->documents.items, .length = length, .spread = spread};
  status = options->attention != NULL ? write_weights(t, &w, options->attention, err) : RS_OK;
  if (status == RS_OK && options->rollout != NULL) status = write_rollout(t, &w, options->rollout, err);
  rs_context_free(context);
  return status;
}

/* ---- documents --------------------------------------------------------------------------------------------------- */

static rs_status find_documents(const cli_options *options, inputs *i, rs_err *err) {
  rs_err why = {0};
  RS_TRY(fail_in_file(options, rs_documents_find(&i->in, &i->documents, &why), &why, err));
  if (i->documents.orders[0].documents == 1 || !shows_attention(options)) return RS_OK;
  return rs_fail(err, RS_INPUT, "%s shows one document, and sequence 0 has %zu (give the tokens of one)",
                 options->attention != NULL ? "--attention" : "--rollout", i->documents.orders[0].documents);
}

/* How the sequences of one kind were read. */
typedef enum order_kind { AXES, RESTARTS, NUMBERS, SORTED, LISTED, ORDER_KINDS } order_kind;

static order_kind kind_of(const rs_sequence_order *order, const cli_options *options) {
  if (order->axes) return AXES;
  if (order->restarts) return RESTARTS;
  if (options->document_ids != NULL) return NUMBERS;
  return order->sorted ? SORTED : LISTED;
}

static void put_kind(rs_text *line, order_kind kind, size_t sequences, size_t documents, const rs_sequence_order *any) {
  rs_text_printf(line, "%s%zu sequence%s ", line->length > 0 ? "; " : "", sequences, sequences > 1 ? "s" : "");
  switch (kind) {
  case AXES:
    if (documents > sequences) rs_text_printf(line, "of %zu documents by number, each read alone, ", documents);
    rs_text_puts(line, "by time, row and column, in the list's order, masked by index");
    if (any->fall > 0) rs_text_printf(line, " (time falls at token %zu: documents need --document-ids)", any->fall);
    break;
  case RESTARTS:
    rs_text_printf(line, "of %zu documents, which begin where ids begin again at 0, each read alone", documents);
    break;
  case NUMBERS:
    rs_text_printf(line, "of %zu document%s by number, each read alone, %s", documents, documents > 1 ? "s" : "",
                   any->sorted ? "in the order of its ids" : "in the list's order");
    break;
  case SORTED: rs_text_puts(line, "in the order of distinct ids, masked by id"); break;
  default: rs_text_puts(line, "in the list's order, masked by id"); break;
  }
}

/* One line says which of these was taken. */
static void note_order(const cli_options *options, const inputs *i) {
  size_t padding = 0;
  RS_OWNED(rs_text) line = {0};
  for (order_kind kind = 0; kind < ORDER_KINDS; kind++) {
    size_t sequences = 0, documents = 0;
    rs_sequence_order any = {0};
    for (size_t s = 0; s < i->in.count; s++) {
      const rs_sequence_order *order = &i->documents.orders[s];
      if (kind_of(order, options) != kind) continue;
      sequences++;
      documents += order->documents;
      any.sorted |= order->sorted;
      any.fall = any.fall == 0 ? order->fall : any.fall;
    }
    if (sequences > 0 && (kind != LISTED || i->in.ids != NULL)) put_kind(&line, kind, sequences, documents, &any);
  }
  for (size_t s = 0; s < i->in.count; s++) padding += i->documents.orders[s].padding;
  if (padding > 0)
    rs_text_printf(&line, "%s%zu token%s of padding left out", line.length > 0 ? "; " : "", padding,
                   padding > 1 ? "s" : "");
  if (line.length > 0) cli_note(options, "note: positions: %s", rs_text_string(&line));
}

/* ---- run --------------------------------------------------------------------------------------------------------- */

/* One that this program has trained. */
static rs_status load_trained(const char *folder, rs_format format, rs_transformer **transformer, rs_err *err) {
  RS_OWNED(rs_trained) trained = {0};
  RS_TRY(rs_trained_read(folder, &trained, err));
  trained.format = format;
  return rs_trained_load(&trained, folder, transformer, err);
}

static rs_status run(const cli_options *options, rs_err *err) {
  rs_format format = options->precision != NULL && strcmp(options->precision, "f64") == 0 ? RS_F64 : RS_F32;
  const char *folder = options->arguments[0];
  inputs i = {0};
  bool own;
  RS_OWNED(rs_hf_checkpoint) checkpoint = {0};
  rs_transformer *transformer = NULL;
  RS_TRY(rs_trained_marked(folder, &own, err));
  if (!own) RS_TRY(rs_hf_checkpoint_read(folder, &checkpoint, err));
  if (checkpoint.doubt != NULL) cli_note(options, "warning: %s", checkpoint.doubt);
  rs_status status = read_inputs(options, &checkpoint, &i, err);
  if (status == RS_OK) status = find_documents(options, &i, err);
  if (status == RS_OK)
    status = own ? load_trained(folder, format, &transformer, err)
                 : rs_hf_checkpoint_load(&checkpoint, folder, format, false, &transformer, err);
  if (status == RS_OK && rs_reader_single(transformer)) status = take_single(options, &i, err);
  if (status == RS_OK && options->out != NULL) status = say(transformer, &i, options, err);
  if (status == RS_OK) status = show_attention(transformer, &i, options, err);
  if (status == RS_OK) note_order(options, &i);
  rs_transformer_free(transformer);
  rs_documents_clear(&i.documents);
  rs_arena_clear(&i.arena);
  return status;
}

typedef struct named_file {
  const char *option, *path; /* NULL: there is none */
} named_file;

/* Whether a path is of the config or the weights in a checkpoint's folder. */
static bool is_part(const char *folder, const char *path) {
  static const char *const ends[] = {"config.json", ".safetensors", ".safetensors.index.json"};
  const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
  RS_FREED char *there = rs_path_join(folder, name, NULL);
  for (size_t i = 0; i < RS_COUNT(ends); i++) {
    size_t length = strlen(name), end = strlen(ends[i]);
    if (length >= end && strcmp(name + length - end, ends[i]) == 0) return there != NULL && rs_file_same(there, path);
  }
  return false;
}

/* Outputs go to files of their own, and over none that is read. Returns an exit status. */
static int check_files(const cli_options *options) {
  bool tokens = options->argument_count > 1;
  const named_file files[] = {{"--out", options->out},
                              {"--attention", options->attention},
                              {"--rollout", options->rollout},
                              {"FOLDER", options->arguments[0]},
                              {"TOKENS", tokens ? options->arguments[1] : NULL},
                              {"--pixels", options->pixels},
                              {"--decoder-tokens", options->decoder_tokens},
                              {"--attention-mask", options->attention_mask},
                              {"--document-ids", options->document_ids},
                              {"--token-types", options->token_types},
                              {"--position-ids", options->position_ids}};
  enum { WRITTEN = 3 };
  for (size_t i = 0; i < WRITTEN; i++)
    if (files[i].path != NULL && is_part(options->arguments[0], files[i].path))
      return cli_error("%s %s is a file of the checkpoint, which it would be written over (give %s another name)",
                       files[i].option, files[i].path, files[i].option);
  for (size_t i = 0; i < WRITTEN; i++)
    for (size_t k = i + 1; k < RS_COUNT(files); k++)
      if (files[i].path != NULL && files[k].path != NULL && rs_file_same(files[i].path, files[k].path))
        return cli_error("%s %s is the file of %s, which it would be written over (give %s another name)",
                         files[i].option, files[i].path, files[k].option, files[i].option);
  return CLI_OK;
}

/* What does not go together. Returns an exit status. */
static int check(const cli_options *options) {
  bool pixels = options->pixels != NULL;
  bool beside = options->decoder_tokens != NULL || options->attention_mask != NULL || options->token_types != NULL ||
                options->position_ids != NULL || options->document_ids != NULL;
  bool wanted = options->out != NULL || shows_attention(options);
  if (options->argument_count < (pixels ? 1 : 2) || !wanted)
    return cli_error("logits needs a checkpoint, token ids and --out (or --attention, or --rollout), as in ropescope "
                     "logits FOLDER tokens.npy --out logits.npy");
  if (pixels && (options->argument_count > 1 || beside))
    return cli_error("--pixels stands in the place of token ids and of what is said of them: keep one");
  if (options->decoder_tokens != NULL && options->attention_mask != NULL)
    return cli_error("--attention-mask does not go with --decoder-tokens: an encoder's padding is not offered");
  return check_files(options);
}

int cmd_logits(const cli_options *options) {
  rs_err err = {0};
  if (check(options) != CLI_OK) return CLI_USAGE;
  const char *const files[] = {options->out, options->attention, options->rollout};
  rs_status status = RS_OK;
  for (size_t i = 0; i < RS_COUNT(files) && status == RS_OK; i++) /* before minutes of work */
    if (files[i] != NULL) status = rs_file_writable(files[i], &err);
  if (status == RS_OK) status = run(options, &err);
  return status == RS_OK ? CLI_OK : cli_fail(status, NULL, &err);
}
