/* The bytes of a text. Training reads windows anywhere in its first part; evaluation reads the rest, window behind
 * window, from its start again when all are read: what it reads does not depend on the seed. */
#include "tasks.h"

#include <stdlib.h>

enum { BYTES = 256 };

typedef struct params {
  const char *file;
  double share, unscored;
} params;

typedef struct state {
  unsigned char *text; /* owned */
  size_t trained, held_out;
  double unscored, chance;
  uint64_t seed;
} state;

static rs_status check(const rs_binding *binding, rs_err *err) {
  if (((const params *)binding->fields)->file != NULL) return RS_OK;
  return rs_binding_fail(binding, offsetof(params, file), err, "must be given: the text to read");
}

/* The share of held-out bytes that are the commonest of the training part. */
static double blind_share(const state *s) {
  size_t counts[2][BYTES] = {{0}}, commonest = 0;
  for (size_t i = 0; i < s->trained + s->held_out; i++) counts[i >= s->trained][s->text[i]]++;
  for (size_t i = 1; i < BYTES; i++)
    if (counts[0][i] > counts[0][commonest]) commonest = i;
  return (double)counts[1][commonest] / (double)s->held_out;
}

static rs_status prepare(const rs_task_in *in, void *memory, rs_err *err) {
  const params *p = in->params;
  state *s = memory;
  char *text;
  size_t length;
  if (p->file == NULL) return rs_fail_on(err, RS_INPUT, "file", "must be given: the text to read");
  RS_TRY(rs_file_read(p->file, RS_LARGEST_FILE, &text, &length, err));
  *s = (state){.text = (unsigned char *)text, .unscored = p->unscored, .seed = in->seed};
  s->trained = (size_t)((1 - p->share) * (double)length);
  s->held_out = length - s->trained;
  if (s->trained < 2 || s->held_out < 2)
    return rs_fail_on(err, RS_INPUT, "file", "%s: %zu bytes to train on and %zu held out: both must be 2 or more",
                      p->file, s->trained, s->held_out);
  s->chance = blind_share(s);
  return RS_OK;
}

static void release(void *memory) {
  free(((state *)memory)->text);
}

static rs_status shape(const void *memory, size_t length, rs_example_shape *shape, rs_err *err) {
  const state *s = memory;
  size_t least = s->trained < s->held_out ? s->trained : s->held_out;
  if (length < 1 || length >= least)
    return rs_fail(err, RS_DOMAIN,
                   "%zu tokens and the one behind them: the text has %zu bytes to train on and %zu held out", length,
                   s->trained, s->held_out);
  *shape = (rs_example_shape){.length = length, .vocabulary = BYTES, .classes = BYTES};
  return RS_OK;
}

/* Where the window starts, of `length` bytes and the one behind them. */
static size_t find_window(const state *s, rs_split split, uint64_t index, size_t length) {
  if (split == RS_SPLIT_EVALUATION) return s->trained + (size_t)(index % ((s->held_out - 1) / length)) * length;
  rs_dice dice = rs_dice_sequence(s->seed, split, index);
  return rs_dice_below(&dice, s->trained - length);
}

static void draw(const void *memory, rs_split split, uint64_t index, size_t length, rs_example *example) {
  const state *s = memory;
  const unsigned char *window = s->text + find_window(s, split, index, length);
  size_t scored = split == RS_SPLIT_EVALUATION ? (size_t)(s->unscored * (double)length) : 0;
  rs_example_blank(example, length);
  for (size_t t = 0; t < length; t++) {
    example->tokens[t] = window[t];
    if (t >= scored) example->targets[t] = window[t + 1];
  }
}

static double chance(const void *memory, size_t part) {
  (void)part;
  return ((const state *)memory)->chance;
}

static const rs_param specs[] = {
    {RS_FIELD(params, file), .unit = "", .summary = "the text: any file of up to 64 MiB"},
    {RS_FIELD(params, share), .unit = "1", .min = 0.001, .max = 0.9, .fallback = "0.1",
     .summary = "share of the text, at its end, that is held out for evaluation"},
    {RS_FIELD(params, unscored), .unit = "1", .min = 0, .max = 0.99, .fallback = "0",
     .summary = "share of an evaluation sequence, at its start, that is read and not scored"},
};

const rs_task_kind rs_task_bytes = {
    .kind = {.name = "bytes",
             .summary = "the next byte of a text",
             .reference = "byte-level language modeling, as of Al-Rfou et al., arXiv:1808.04444",
             .version = 1,
             .params = specs,
             .param_count = RS_COUNT(specs),
             .params_size = sizeof(params)},
    .form = RS_DECODER,
    .check = check,
    .parts = {"byte"},
    .state_size = sizeof(state),
    .prepare = prepare,
    .release = release,
    .shape = shape,
    .draw = draw,
    .chance = chance,
};
