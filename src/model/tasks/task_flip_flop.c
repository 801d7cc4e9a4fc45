/* A register of one bit: instructions write, ignore and read, each followed by a bit, which after a read is the one
 * last written; FFL(p) of arXiv:2306.00946. The first instruction writes, the last reads; those between ignore with
 * probability p, and write or read with half the rest each. */
#include "model/tasks.h"

#include <math.h>
#include <string.h>

/* Tokens in the order of the authors' data. */
enum { WRITE, READ, IGNORE, ZERO, ONE, TOKENS };

/* Reads of sparse and of dense sequences are parts of their own. */
enum { READ_BIT, SPARSE_READ_BIT, DENSE_READ_BIT, OTHER_BIT, INSTRUCTION };

typedef enum evaluation { SAME, SPARSE, DENSE, EVERY, EVALUATIONS } evaluation;
static const char *const evaluation_words[EVALUATIONS + 1] = {
    [SAME] = "same", [SPARSE] = "sparse", [DENSE] = "dense", [EVERY] = "every"};

/* What a model is trained to say. */
typedef enum aims { AIM_READS, AIM_ALL, AIMS } aims;
static const char *const aim_words[AIMS + 1] = {[AIM_READS] = "reads", [AIM_ALL] = "all"};

typedef struct params {
  double ignored;
  rs_real_or_word evaluation;
  aims aims;
} params;

/* A kind of sequences: the share of instructions that ignore, and the part of what reads ask for. */
typedef struct mixture {
  double ignored;
  uint8_t part;
} mixture;

typedef struct state {
  mixture training, evaluation[EVERY]; /* evaluation takes the first evaluation_count by turns */
  size_t evaluation_count;
  bool all; /* training asks for every token */
  uint64_t seed;
} state;

static rs_status prepare(const rs_task_in *in, void *memory, rs_err *err) {
  (void)err;
  const params *p = in->params;
  const mixture named[EVERY] = {
      [SAME] = {p->ignored, READ_BIT}, [SPARSE] = {0.98, SPARSE_READ_BIT}, [DENSE] = {0.1, DENSE_READ_BIT}};
  int word = p->evaluation.word;
  state *s = memory;
  s->training = named[SAME];
  s->evaluation_count = word == EVERY ? EVERY : 1;
  memcpy(s->evaluation, named, sizeof named);
  if (word == RS_NO_WORD)
    s->evaluation[0] = (mixture){p->evaluation.number, READ_BIT};
  else if (word != EVERY)
    s->evaluation[0] = named[word];
  s->all = p->aims == AIM_ALL;
  s->seed = in->seed;
  return RS_OK;
}

static rs_status shape(const void *memory, size_t length, rs_example_shape *shape, rs_err *err) {
  (void)memory;
  if (length < 3) return rs_fail(err, RS_DOMAIN, "%zu tokens are too few: a write, its bit and a read are 3", length);
  *shape = (rs_example_shape){.length = length, .vocabulary = TOKENS, .classes = TOKENS};
  return RS_OK;
}

static size_t draw_instruction(rs_dice *dice, double ignored) {
  double u = rs_dice_uniform(dice);
  return u < ignored ? IGNORE : u < ignored + (1 - ignored) / 2 ? WRITE : READ;
}

/* Where there is an instruction at the last of `length` tokens, its bit is a target alone. */
static void draw(const void *memory, rs_split split, uint64_t index, size_t length, rs_example *example) {
  const state *s = memory;
  rs_dice dice = rs_dice_sequence(s->seed, split, index);
  bool training = split == RS_SPLIT_TRAINING, all = s->all && training;
  const mixture *kind = training ? &s->training : &s->evaluation[index % s->evaluation_count];
  int32_t bit = ZERO;
  size_t written = 0;
  rs_example_blank(example, length);
  for (size_t t = 0; t < length; t += 2) {
    size_t drawn = draw_instruction(&dice, kind->ignored);
    size_t instruction = t == 0 ? WRITE : t + 2 >= length ? READ : drawn;
    int32_t said = rs_dice_falls(&dice, 0.5) ? ONE : ZERO;
    if (instruction == READ) said = bit;
    if (instruction == WRITE) bit = said;
    if (instruction == WRITE) written = t + 1;
    example->tokens[t] = (int32_t)instruction;
    if (t + 1 < length) example->tokens[t + 1] = said;
    if (instruction == READ || all) {
      example->targets[t] = said;
      example->parts[t] = instruction == READ ? kind->part : OTHER_BIT;
    }
    if (instruction == READ) {
      example->depths[t] = rs_depth(written, length);
      rs_example_seek(example, t, written);
    }
    if (t > 0 && all) {
      example->targets[t - 1] = (int32_t)instruction;
      example->parts[t - 1] = INSTRUCTION;
    }
  }
}

static double chance(const void *memory, size_t part) {
  (void)memory;
  return part == INSTRUCTION ? 1.0 / 3 : 0.5;
}

static const rs_param specs[] = {
    {RS_FIELD(params, ignored), .unit = "1", .min = 0, .max = 1, .fallback = "0.8",
     .summary = "share of instructions that ignore; half the rest write, half read"},
    {RS_FIELD(params, evaluation), .unit = "1", RS_WORDS(evaluation_words), .min = 0, .max = 1, .fallback = "same",
     .reading = true,
     .summary = "that share in evaluation: as in training, sparse (0.98: few writes, far away), dense (0.1); every: "
                "sequences of these three by turns, as parts of their own"},
    {RS_FIELD(params, aims), .unit = "", RS_WORDS(aim_words), .fallback = "reads",
     .summary = "what training asks for: the bits of reads, or every token; evaluation asks for those of reads"},
};

const rs_task_kind rs_task_flip_flop = {
    .kind = {.name = "flip_flop",
             .summary = "a register of one bit: what was written last, however much is to be ignored since",
             .reference =
                 "flip-flop language modeling, Liu et al., arXiv:2306.00946, section 3; data synthseq/flipflop",
             RS_KIND(specs, params)},
    .form = RS_DECODER,
    .parts = {[READ_BIT] = "read",
              [SPARSE_READ_BIT] = "sparse_read",
              [DENSE_READ_BIT] = "dense_read",
              [OTHER_BIT] = "free_bit",
              [INSTRUCTION] = "instruction"},
    .recalled = 1u << READ_BIT | 1u << SPARSE_READ_BIT | 1u << DENSE_READ_BIT,
    .seeks = true,
    .state_size = sizeof(state),
    .prepare = prepare,
    .shape = shape,
    .draw = draw,
    .chance = chance,
    .best_loss = rs_no_loss,
};
