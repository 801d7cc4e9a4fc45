/* A passage, and the same passage again: what a model makes of far context, in nats. A model that copies foretells the
 * second from the first; one that does not reach so far back says both alike. Heads that do it are known by such
 * sequences (induction heads, Olsson et al., arXiv:2209.11895).
 *
 * A sequence of L tokens and the target behind them is lead, passage, between, passage: the second passage begins
 * `distance` tokens after the first, ends the sequence, and the lead is what this leaves. Lead and between are what
 * stands before and behind the passage in its text, read as a ring; without a text all tokens are drawn. A passage is
 * the same at every length and distance, so that losses can be compared by pairs. Nothing says that the second begins:
 * its first `prefix` tokens are read and not scored, nor are those of the first. */
#include "model/tasks.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_DISTANCE = 1 << 28 };
enum { FIRST, SECOND };

typedef enum distance_word { FAR, DISTANCE_WORDS } distance_word;
static const char *const distance_words[DISTANCE_WORDS + 1] = {[FAR] = "far"};

typedef struct params {
  const char *file;
  rs_id_format numbers;
  rs_count_or_word vocabulary;
  double share;
  size_t passage, prefix;
  rs_real_list distance;
} params;

/* A part of the text, whose end meets its start. */
typedef struct ring {
  size_t start, count;
} ring;

typedef struct state {
  size_t passage, prefix;
  size_t *distances; /* (distance_count,), owned; none: as far as the length allows */
  size_t distance_count, farthest;
  rs_task_text text; /* without ids tokens are drawn */
  ring trained, held_out;
  size_t vocabulary;
  double chance;
  uint64_t seed;
} state;

/* ---- parameters -------------------------------------------------------------------------------------------------- */

static rs_status check(const rs_binding *binding, rs_err *err) {
  const params *p = binding->fields;
  if (p->file == NULL) {
    if (p->vocabulary.word == RS_VOCABULARY_LARGEST)
      return rs_binding_fail(binding, offsetof(params, vocabulary), err,
                             "must be a number where there is no file: how many tokens there are to draw from");
    RS_TRY(rs_binding_unused(binding, offsetof(params, share), "drawn tokens", err));
    RS_TRY(rs_binding_unused(binding, offsetof(params, numbers), "drawn tokens", err));
  }
  if (p->prefix >= p->passage)
    return rs_binding_fail(binding, offsetof(params, prefix), err, "must be less than passage = %zu", p->passage);
  for (size_t i = 0; i < p->distance.count; i++) {
    double distance = p->distance.list[i];
    if (distance != rint(distance))
      return rs_binding_fail(binding, offsetof(params, distance), err, "%.17g is no number of tokens", distance);
    if (distance < (double)p->passage)
      return rs_binding_fail(binding, offsetof(params, distance), err,
                             "%g: the second passage would begin within the first; must be at least passage = %zu",
                             distance, p->passage);
  }
  return RS_OK;
}

/* ---- state ------------------------------------------------------------------------------------------------------- */

static void release(void *memory) {
  state *s = memory;
  rs_task_text_clear(&s->text);
  free(s->distances);
}

static rs_status copy_distances(const params *p, state *s, rs_err *err) {
  if (p->distance.word == FAR) return RS_OK;
  s->distances = rs_alloc(p->distance.count, sizeof *s->distances, err);
  if (s->distances == NULL) return RS_MEMORY;
  for (; s->distance_count < p->distance.count; s->distance_count++) {
    size_t distance = s->distances[s->distance_count] = (size_t)p->distance.list[s->distance_count];
    if (distance > s->farthest) s->farthest = distance;
  }
  return RS_OK;
}

static rs_status read_text(const params *p, state *s, rs_err *err) {
  const rs_task_text_in in = {.path = p->file,
                              .numbers = p->numbers,
                              .vocabulary = rs_task_text_vocabulary(&p->vocabulary, p->numbers == RS_ID_U8),
                              .share = p->share,
                              .least = 1};
  RS_TRY(rs_task_text_read(&in, &s->text, err));
  s->trained = (ring){0, s->text.trained};
  s->held_out = (ring){s->text.trained, s->text.held_out};
  s->vocabulary = s->text.vocabulary;
  return rs_task_text_chance(&s->text, false, &s->chance, err);
}

static rs_status prepare(const rs_task_in *in, void *memory, rs_err *err) {
  const params *p = in->params;
  state *s = memory;
  s->seed = in->seed;
  s->passage = p->passage;
  s->prefix = p->prefix;
  RS_TRY(copy_distances(p, s, err));
  if (p->file != NULL) return read_text(p, s, err);
  s->vocabulary = p->vocabulary.number;
  s->chance = 1 / (double)s->vocabulary;
  return RS_OK;
}

static rs_status shape(const void *memory, size_t length, rs_example_shape *shape, rs_err *err) {
  const state *s = memory;
  size_t most = length + 1 - s->passage;
  bool text = s->text.ids.count > 0, trainable = !text || s->trained.count > 0;
  if (length + 1 < 2 * s->passage)
    return rs_fail(err, RS_DOMAIN, "%zu tokens: a passage of %zu, and again %zu tokens later, takes %zu", length,
                   s->passage, s->passage, 2 * s->passage - 1);
  if (text && (s->held_out.count < most || (trainable && s->trained.count < most)))
    return rs_fail(err, RS_DOMAIN, "%zu tokens: the text has %zu to train on and %zu held out: each must be %zu",
                   length, s->trained.count, s->held_out.count, most);
  size_t passages = s->held_out.count / s->passage;
  *shape = (rs_example_shape){.length = length,
                              .vocabulary = s->vocabulary,
                              .file = s->text.file,
                              .largest = s->text.largest,
                              .classes = s->vocabulary,
                              .untrainable = !trainable,
                              .evaluated = s->farthest > 0 ? s->farthest + s->passage - 1 : 0,
                              .evaluations = passages * (s->distance_count > 0 ? s->distance_count : 1)};
  return RS_OK;
}

/* ---- sequences --------------------------------------------------------------------------------------------------- */

/* Where lead, passage, between and passage come from. */
typedef struct origin {
  const state *s;
  rs_dice dice;
  ring part;    /* of the text */
  size_t start; /* of the passage in the ring */
} origin;

/* The token that stands `offset` behind the start of the passage. */
static int32_t token_at(origin *o, size_t offset) {
  if (o->s->text.ids.count == 0) return (int32_t)rs_dice_below(&o->dice, o->s->vocabulary);
  return (int32_t)rs_token_id(&o->s->text.ids, o->part.start + (o->start + offset) % o->part.count);
}

/* Passages of evaluation lie evenly over the text however many are read: each a golden section of the ring behind the
 * one before it. */
static size_t passage_start(uint64_t number, size_t count) {
  const double golden = 0.6180339887498949; /* (sqrt(5) - 1) / 2 */
  return (size_t)(fmod((double)number * golden, 1) * (double)count);
}

static void fill(origin *o, size_t length, size_t lead, size_t distance, int32_t *tokens) {
  size_t again = lead + distance;
  for (size_t t = lead; t < again; t++) tokens[t] = token_at(o, t - lead);
  for (size_t t = lead; t-- > 0;) tokens[t] = token_at(o, o->part.count - (lead - t));
  for (size_t t = again; t < length; t++) tokens[t] = tokens[t - distance];
}

/* Token `place` behind the start of the first or second passage as the target of the token before it. */
static void aim(size_t length, size_t lead, size_t distance, size_t place, size_t part, rs_example *example) {
  size_t holder = lead + place, asked = holder - 1 + (part == SECOND ? distance : 0);
  example->targets[asked] = example->tokens[holder];
  example->parts[asked] = (uint8_t)part;
  if (part != SECOND) return;
  example->depths[asked] = rs_depth(holder, length);
  rs_example_seek(example, asked, holder);
}

/* Training has no lead, any distance, and goes on to repeat up to the end: half of its targets can be copied. */
static void draw_training(origin *o, size_t length, rs_example *example) {
  size_t shortest = o->s->passage, distance = shortest + rs_dice_below(&o->dice, length + 2 - 2 * shortest);
  o->part = o->s->trained;
  o->start = rs_dice_below(&o->dice, o->part.count);
  fill(o, length, 0, distance, example->tokens);
  for (size_t place = 1; place < distance; place++) aim(length, 0, distance, place, FIRST, example);
  example->targets[distance - 1] = example->tokens[0];
  for (size_t place = 1; place + distance <= length; place++) aim(length, 0, distance, place, SECOND, example);
}

static void draw(const void *memory, rs_split split, uint64_t index, size_t length, rs_example *example) {
  const state *s = memory;
  size_t room = length + 1 - s->passage, ways = s->distance_count > 0 ? s->distance_count : 1;
  uint64_t number = split == RS_SPLIT_TRAINING ? index : index / ways;
  origin o = {.s = s, .dice = rs_dice_sequence(s->seed, split, number), .part = s->held_out};
  rs_example_blank(example, length);
  if (split == RS_SPLIT_TRAINING) {
    draw_training(&o, length, example);
    return;
  }
  size_t distance = s->distance_count > 0 ? s->distances[index % ways] : room, lead = room - distance;
  o.start = passage_start(number, o.part.count);
  fill(&o, length, lead, distance, example->tokens);
  for (size_t place = s->prefix; place < s->passage; place++)
    for (size_t part = FIRST; part <= SECOND; part++) aim(length, lead, distance, place, part, example);
}

static double chance(const void *memory, size_t part) {
  (void)part;
  return ((const state *)memory)->chance;
}

static const rs_param specs[] = {
    {RS_FIELD(params, file), .unit = "",
     .summary = "the text, in ids as `tokens` reads them (default: none, all tokens are drawn, each as likely)"},
    {RS_FIELD(params, numbers), RS_WORDS(rs_id_words), .unit = "", .fallback = "auto",
     .summary = "what bare numbers are, as `tokens` has it; uint8: the text is read by its bytes"},
    {RS_FIELD(params, vocabulary), RS_WORDS(rs_vocabulary_words), .unit = "tokens", .min = 2, .max = RS_MOST_VOCABULARY,
     .fallback = "largest",
     .summary = "different tokens there are; largest: up to the largest id of the file (256 of uint8)"},
    {RS_FIELD(params, share), .unit = "1", .min = 0.001, .max = 1, .fallback = "0.1",
     .summary = "share of the text, at its end, that is held out for evaluation; 1: there is nothing to train on"},
    {RS_FIELD(params, passage), .unit = "tokens", .min = 2, .max = 65536, .fallback = "64",
     .summary = "tokens of the passage; training sequences begin again after this many or more, each number that fits "
                "as likely, and repeat themselves up to their end"},
    {RS_FIELD(params, prefix), .unit = "tokens", .min = 1, .max = 65535, .fallback = "1", .reading = true,
     .summary = "tokens of each passage, at its start, that evaluation does not score: nothing foretells the first of "
                "the second, and those after it are known as soon as it is clear what is repeated"},
    {RS_FIELD(params, distance), .unit = "tokens", RS_WORDS(distance_words), .min = 1, .max = MOST_DISTANCE,
     .fallback = "far", .reading = true,
     .summary = "from the start of the first passage to that of the second, the next one in each evaluation sequence; "
                "far: as the length allows"},
};

const rs_task_kind rs_task_repeat = {
    .kind = {.name = "repeat",
             .summary = "a passage, and the same again at a distance: the loss of both",
             .reference =
                 "repeated sequences of random tokens: Elhage et al., A Mathematical Framework for Transformer "
                 "Circuits (2021); Olsson et al., arXiv:2209.11895",
             RS_KIND(specs, params)},
    .form = RS_DECODER,
    .check = check,
    .parts = {[FIRST] = "first", [SECOND] = "second"},
    .recalled = 1u << SECOND,
    .seeks = true,
    .state_size = sizeof(state),
    .prepare = prepare,
    .release = release,
    .shape = shape,
    .draw = draw,
    .chance = chance,
};
