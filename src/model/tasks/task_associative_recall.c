/* Multi-query associative recall (MQAR): pairs of keys and values, then each key once more, where its value is to be
 * said. From the end of the pairs to a query there are 2 i tokens, i = 0, 1, .. with probability proportional to
 * (i + 1)^(power - 1), no two the same: most queries stand near, as repeated pairs of words do in texts. */
#include "model/tasks.h"

#include <math.h>

enum { MOST_PAIRS = 256 };

/* What stands where there is neither pair nor query. */
typedef enum filling { FILL_RANDOM, FILL_BLANK, FILLINGS } filling;
static const char *const filling_words[FILLINGS + 1] = {[FILL_RANDOM] = "random", [FILL_BLANK] = "blank"};

typedef struct params {
  size_t pairs, keys, values;
  double power;
  filling filling;
} params;

typedef struct state {
  params p;
  uint64_t seed;
} state;

static rs_status check(const rs_binding *binding, rs_err *err) {
  const params *p = binding->fields;
  if (p->pairs > p->keys)
    return rs_binding_fail(binding, offsetof(params, keys), err, "must be at least pairs = %zu: no key comes twice",
                           p->pairs);
  if (p->pairs > p->values)
    return rs_binding_fail(binding, offsetof(params, values), err, "must be at least pairs = %zu: no value comes twice",
                           p->pairs);
  return RS_OK;
}

static rs_status prepare(const rs_task_in *in, void *memory, rs_err *err) {
  (void)err;
  *(state *)memory = (state){*(const params *)in->params, in->seed};
  return RS_OK;
}

static rs_status shape(const void *memory, size_t length, rs_example_shape *shape, rs_err *err) {
  const params *p = &((const state *)memory)->p;
  if (length < 4 * p->pairs)
    return rs_fail(err, RS_DOMAIN, "%zu tokens: %zu pairs and a query for each take %zu (fewer pairs)", length,
                   p->pairs, 4 * p->pairs);
  size_t vocabulary = 1 + p->keys + p->values;
  *shape = (rs_example_shape){.length = length, .vocabulary = vocabulary, .classes = vocabulary};
  return RS_OK;
}

/* The places of the queries, one after the other by their weights, without one twice: clocks that ring at the rate of
 * their weight, the first of them first (Efraimidis and Spirakis, Inf. Process. Lett. 97, 2006). */
static void draw_places(const params *p, rs_dice *dice, size_t range, size_t *places) {
  double times[MOST_PAIRS];
  for (size_t i = 0, rung = 0; i < range; i++) {
    double time = -log1p(-rs_dice_uniform(dice)) * pow((double)(i + 1), 1 - p->power);
    if (rung == p->pairs && time >= times[rung - 1]) continue;
    size_t k = rung < p->pairs ? rung++ : rung - 1;
    for (; k > 0 && times[k - 1] > time; k--) {
      times[k] = times[k - 1];
      places[k] = places[k - 1];
    }
    times[k] = time;
    places[k] = i;
  }
}

static void draw(const void *memory, rs_split split, uint64_t index, size_t length, rs_example *example) {
  const state *s = memory;
  const params *p = &s->p;
  rs_dice dice = rs_dice_sequence(s->seed, split, index);
  int32_t keys[MOST_PAIRS], values[MOST_PAIRS], *tokens = example->tokens;
  size_t places[MOST_PAIRS], queries = 2 * p->pairs;
  rs_example_blank(example, length);
  rs_dice_sample(&dice, p->pairs, p->keys, keys);
  rs_dice_sample(&dice, p->pairs, p->values, values);
  draw_places(p, &dice, (length - queries) / 2, places);
  for (size_t t = queries; t < length; t++)
    tokens[t] = p->filling == FILL_BLANK ? 0 : 1 + (int32_t)rs_dice_below(&dice, p->keys + p->values);
  for (size_t i = 0; i < p->pairs; i++) {
    size_t asked = queries + 2 * places[i];
    tokens[2 * i] = tokens[asked] = 1 + keys[i];
    tokens[2 * i + 1] = example->targets[asked] = 1 + (int32_t)p->keys + values[i];
    example->depths[asked] = rs_depth(2 * i + 1, length);
    rs_example_seek(example, asked, 2 * i + 1);
  }
}

static double chance(const void *memory, size_t part) {
  (void)part;
  return 1 / (double)((const state *)memory)->p.values;
}

static const rs_param specs[] = {
    {RS_FIELD(params, pairs), .unit = "1", .min = 1, .max = MOST_PAIRS, .fallback = "8",
     .summary = "pairs of a key and a value, and queries"},
    {RS_FIELD(params, keys), .unit = "1", .min = 1, .max = 65536, .fallback = "64", .summary = "different keys"},
    {RS_FIELD(params, values), .unit = "1", .min = 1, .max = 65536, .fallback = "64", .summary = "different values"},
    {RS_FIELD(params, power), .unit = "1", .min = 0, .max = 1, .fallback = "0.01",
     .summary = "a of the distances' law, x^(a - 1): near 0 queries follow soon, at 1 anywhere alike"},
    {RS_FIELD(params, filling), .unit = "", RS_WORDS(filling_words), .fallback = "random",
     .summary = "what stands between queries: any key or value, or a blank"},
};

const rs_task_kind rs_task_associative_recall = {
    .kind = {.name = "associative_recall",
             .summary = "pairs of keys and values, then the keys in random order: the value of each is to be said",
             .reference = "MQAR, Arora et al., arXiv:2312.04927; multiquery_ar of github.com/HazyResearch/zoology",
             RS_KIND(specs, params)},
    .form = RS_DECODER,
    .check = check,
    .parts = {"recall"},
    .recalled = 1,
    .seeks = true,
    .state_size = sizeof(state),
    .prepare = prepare,
    .shape = shape,
    .draw = draw,
    .chance = chance,
    .best_loss = rs_no_loss,
};
