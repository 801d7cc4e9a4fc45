/* test_tasks.c: what holds for every task, whatever it asks for. What each asks for is in test_task_*.c. */
#include <criterion/criterion.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../fixtures/heap.h"
#include "../fixtures/specs.h"
#include "../fixtures/task_desk.h"

/* Each task at settings with which it fits short sequences too, and lengths it takes. */
static const struct {
  const char *name, *settings;
  size_t lengths[3];
} cases[] = {
    {"dictionary", "", {24, 64, 301}},
    {"dictionary", "depths=none told=count unscored=0.99 fillers=1 keys=2 values=1 keys_in_use=1", {1, 2, 65}},
    {"dictionary", "depths=[0.5,1] keys_in_use=3 keys=5", {8, 9, 300}},
    {"copy", "", {2, 4, 128}},
    {"copy", "shortest=3 symbols=2", {2, 8, 100}},
    {"reverse", "", {2, 6, 100}},
    {"flip_flop", "", {3, 4, 512}},
    {"flip_flop", "aims=all evaluation=0.5", {3, 5, 64}},
    {"flip_flop", "evaluation=every", {3, 4, 512}},
    {"associative_recall", "", {32, 33, 256}},
    {"associative_recall", "pairs=1 filling=blank power=1 keys=1 values=1", {4, 5, 64}},
    {"associative_recall", "pairs=16 keys=16 values=16", {64, 65, 70}},
    {"bytes", "share=0.5", {1, 64, 500}},
    {"tokens", "share=0.5 numbers=uint8", {1, 64, 500}},
    {"tokens", "share=0.5 numbers=uint8 stride=16 vocabulary=300", {1, 64, 500}},
    {"passkey", "numbers=uint8", {19, 64, 500}},
    {"passkey", "numbers=uint8 name_mark=61 needles=9 queries=2 key_symbols=2", {70, 80, 500}},
    {"passkey",
     "numbers=uint8 filler_from=any depths=any symbols=[1,2,3,4] symbol_tokens=2 key_symbols=9",
     {58, 60, 300}},
    {"repeat", "numbers=uint8 share=0.5", {127, 200, 500}},
    {"repeat", "numbers=uint8 share=0.5 vocabulary=300 passage=2 distance=[2,5]", {6, 64, 500}},
    {"translate", "", {4, 8, 128}},
    {"translate", "block=1 words=2 rules=7", {1, 2, 33}},
    {"masked", "share=0.5 numbers=uint8", {1, 64, 500}},
    {"masked", "share=0.5 numbers=uint8 hidden=0.5 random=0.5 mask=300 evaluation=hidden", {1, 64, 500}},
    {"order", "", {3, 4, 128}},
    {"order", "ask=sorted symbols=2", {3, 4, 65}},
    {"where", "", {4, 9, 64}},
    {"where", "shapes=4 patch_side=3 noise=0", {16, 25, 144}},
    {"film", "", {32, 48, 128}},
    {"film", "shapes=3 side=3", {27, 36, 90}},
    {"pictures", "patch_side=2 normalise=false shift=2 mirrored=0.5", {4, 16, 64}},
    {"pictures", "patch_side=1 normalise=false pictures=1000 share=0.3 shift=1", {1, 9, 64}},
};

/* What tasks read from files, and what they read here. */
static const struct {
  const char *parameter, *path;
} files[] = {{"file", "meson.build"},
             {"filler", "meson.build"},
             {"needle", "data/passkey/needle.txt"},
             {"question", "data/passkey/question.txt"},
             {"train", "../experiments/data/digits/pictures.npy"},
             {"labels", "../experiments/data/digits/labels.npy"}};

static void open_with(task_desk *desk, const char *name, const char *settings, const char *more, uint64_t seed) {
  desk_make(desk, name);
  desk_set(desk, settings);
  desk_set(desk, more);
  for (size_t i = 0; i < RS_COUNT(files); i++) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", getenv("ROPESCOPE_TESTS"), files[i].path);
    if (rs_settings_find(&desk->parameters.settings, files[i].parameter) >= 0)
      bound_set(&desk->parameters, files[i].parameter, path);
  }
  desk_prepare(desk, seed);
}

static void open_case(task_desk *desk, size_t c, uint64_t seed) {
  open_with(desk, cases[c].name, cases[c].settings, "", seed);
}

/* ---- kinds ------------------------------------------------------------------------------------------------------- */

Test(tasks, kinds__names_parts_and_specs__are_sound) {
  size_t count;
  const rs_task_kind *const *kinds = rs_task_kinds(&count);
  cr_assert_geq(count, 10);
  for (size_t i = 0; i < count; i++) {
    const rs_task_kind *kind = kinds[i];
    const char *name = kind->kind.name;
    cr_expect_eq(rs_task_find(name), kind, "%s", name);
    cr_expect_str_eq(specs_fault(kind->kind.params, kind->kind.param_count, kind->kind.params_size), "", "%s", name);
    cr_expect(*kind->kind.summary != '\0' && *kind->kind.reference != '\0', "%s", name);
    cr_expect(kind->state_size > 0 && kind->parts[0] != NULL, "%s", name);
    size_t parts = 0;
    for (; kind->parts[parts] != NULL; parts++) {
      for (const char *c = kind->parts[parts]; *c != '\0'; c++)
        cr_expect(islower((unsigned char)*c) || *c == '_', "%s: %s", name, kind->parts[parts]);
      for (size_t k = 0; k < parts; k++) cr_expect_str_neq(kind->parts[k], kind->parts[parts], "%s", name);
    }
    cr_expect(!kind->single || kind->form == RS_ENCODER, "%s", name);
    cr_expect_lt(kind->probes, (1u << parts) - (parts == 1), "%s: probes that are no parts, or nothing else", name);
  }
  cr_expect_null(rs_task_find("dictionaries"));
}

/* ---- sequences --------------------------------------------------------------------------------------------------- */

static void check_tokens(const task_desk *desk, const int32_t *tokens, size_t count) {
  for (size_t t = 0; t < count; t++)
    cr_assert(tokens[t] >= 0 && tokens[t] < (int32_t)desk->shape.vocabulary, "%s: token %zu is %d",
              desk->kind->kind.name, t, tokens[t]);
}

static void check_target(const task_desk *desk, size_t t) {
  const rs_example *e = &desk->example;
  size_t parts = 0;
  while (desk->kind->parts[parts] != NULL) parts++;
  if (e->targets[t] == RS_NO_TARGET) return;
  cr_assert(e->targets[t] >= 0 && e->targets[t] < (int32_t)desk->shape.classes, "%s: target %zu is %d",
            desk->kind->kind.name, t, e->targets[t]);
  cr_assert_lt(e->parts[t], parts, "%s", desk->kind->kind.name);
  cr_assert(isnan(e->depths[t]) || (e->depths[t] >= 0 && e->depths[t] <= 1), "%s: depth %g", desk->kind->kind.name,
            e->depths[t]);
  if (!desk->kind->seeks) return;
  bool sought = e->sought[t] != RS_NO_NEEDLE;
  cr_assert_eq(sought, !isnan(e->depths[t]), "%s: token %zu", desk->kind->kind.name, t);
  if (sought)
    cr_assert(e->sought[t] < t && e->tokens[e->sought[t]] == e->targets[t], "%s: token %zu is not held by token %zu",
              desk->kind->kind.name, t, e->sought[t]);
}

static void check_sequence(const task_desk *desk, size_t length) {
  const rs_example_shape *shape = &desk->shape;
  const rs_example *e = &desk->example;
  bool vision = desk->kind->form == RS_VISION;
  cr_assert_eq(shape->length, length);
  cr_assert_eq(shape->patch_numbers > 0, vision);
  cr_assert_eq(shape->source_length > 0, desk->kind->form == RS_ENCODER_DECODER);
  if (vision) cr_assert_eq(shape->frames * shape->rows * shape->columns, length);
  if (!vision) check_tokens(desk, e->tokens, length);
  check_tokens(desk, e->source, shape->source_length);
  for (size_t i = 0; i < length * shape->patch_numbers; i++) cr_assert(fabsf(e->patches[i]) < 1.5f);
  for (size_t t = 0; t < length; t++) check_target(desk, t);
  cr_assert_gt(desk_targets(desk), 0, "%s of %zu asks for nothing", desk->kind->kind.name, length);
  if (vision || desk->kind->single) cr_assert(desk_targets(desk) == 1 && e->targets[0] != RS_NO_TARGET);
}

Test(tasks, draw__numbers_are_in_range__guards_stand) {
  for (size_t c = 0; c < RS_COUNT(cases); c++) {
    task_desk desk;
    open_case(&desk, c, c);
    for (size_t i = 0; i < 3; i++)
      for (size_t k = 0; k < 60; k++) {
        desk_draw(&desk, k % 2 ? RS_SPLIT_EVALUATION : RS_SPLIT_TRAINING, k / 2, cases[c].lengths[i]);
        check_sequence(&desk, cases[c].lengths[i]);
      }
    desk_clear(&desk);
  }
}

/* What is no length of the task says so; what is one makes whole sequences. */
Test(tasks, lengths_up_to_8__are_drawn_or_refused) {
  for (size_t c = 0; c < RS_COUNT(cases); c++) {
    task_desk desk;
    open_case(&desk, c, 3);
    for (size_t length = 0; length <= 8; length++) {
      rs_err err = {0};
      rs_example_shape shape;
      rs_status status = desk.kind->shape(desk.task.state, length, &shape, &err);
      cr_assert(status == RS_OK || (status == RS_DOMAIN && *err.message != '\0'), "%s of %zu", cases[c].name, length);
      cr_assert(status != RS_OK || length > 0);
      for (size_t k = 0; k < 40 && status == RS_OK; k++) {
        bool evaluated = k % 2 == 1 && length >= shape.evaluated;
        desk_draw(&desk, evaluated ? RS_SPLIT_EVALUATION : RS_SPLIT_TRAINING, k / 2, length);
        check_sequence(&desk, length);
      }
    }
    desk_clear(&desk);
  }
}

static bool has_word(const char *settings, const char *name) {
  size_t length = strlen(name);
  for (const char *found = settings; (found = strstr(found, name)) != NULL; found++)
    if (found[length] == '=' && (found == settings || found[-1] == ' ')) return true;
  return false;
}

/* How a model is read: training draws the same sequences whatever is said there. Each such parameter stands here. */
Test(tasks, parameters_of_readings__leave_training_alone) {
  static const struct {
    const char *name, *plain, *read;
    size_t length;
  } pairs[] = {{"dictionary", "", "keys_in_use=3", 64},
               {"dictionary", "", "unscored=0.1", 64},
               {"dictionary", "", "depths=[0.5,1]", 64},
               {"flip_flop", "", "evaluation=sparse", 64},
               {"bytes", "share=0.5", "unscored=0.3", 40},
               {"bytes", "share=0.5", "stride=8", 40},
               {"tokens", "share=0.5 numbers=uint8", "unscored=0.3", 40},
               {"tokens", "share=0.5 numbers=uint8", "stride=8", 40},
               {"repeat", "share=0.5 numbers=uint8", "prefix=9", 160},
               {"repeat", "share=0.5 numbers=uint8", "distance=[70,80]", 160},
               {"dictionary", "", "told=count", 64},
               {"masked", "share=0.5 numbers=uint8", "evaluation=hidden", 64}};
  size_t count, said = 0;
  const rs_task_kind *const *kinds = rs_task_kinds(&count);
  for (size_t i = 0; i < RS_COUNT(pairs); i++) {
    task_desk plain, read;
    open_with(&plain, pairs[i].name, pairs[i].plain, "", 5);
    open_with(&read, pairs[i].name, pairs[i].plain, pairs[i].read, 5);
    bool differs = false;
    for (size_t k = 0; k < 20; k++) {
      desk_draw(&plain, RS_SPLIT_TRAINING, k, pairs[i].length);
      desk_draw(&read, RS_SPLIT_TRAINING, k, pairs[i].length);
      cr_expect(desks_agree(&plain, &read), "%s %s: sequence %zu", pairs[i].name, pairs[i].read, k);
      desk_draw(&plain, RS_SPLIT_EVALUATION, k, pairs[i].length);
      desk_draw(&read, RS_SPLIT_EVALUATION, k, pairs[i].length);
      differs |= !desks_agree(&plain, &read);
    }
    bool lossy = plain.kind->best_loss != NULL && plain.kind->best_loss(plain.task.state, pairs[i].length) !=
                                                      read.kind->best_loss(read.task.state, pairs[i].length);
    cr_expect(differs || lossy, "%s %s changes nothing", pairs[i].name, pairs[i].read);
    desk_clear(&plain);
    desk_clear(&read);
  }
  for (size_t i = 0; i < count; i++)
    for (size_t p = 0; p < kinds[i]->kind.param_count; p++) {
      bool listed = false;
      for (size_t k = 0; k < RS_COUNT(pairs); k++)
        listed |=
            strcmp(kinds[i]->kind.name, pairs[k].name) == 0 && has_word(pairs[k].read, kinds[i]->kind.params[p].name);
      cr_expect_eq(kinds[i]->kind.params[p].reading, listed, "%s %s", kinds[i]->kind.name,
                   kinds[i]->kind.params[p].name);
      said += listed;
    }
  cr_expect_eq(said, RS_COUNT(pairs));
}

/* Another seed, split or index, even one of the same low half, is another sequence; the same is the same. A sequence of
 * few bits may agree by chance: the longest are compared. */
Test(tasks, draw__is_a_function_of_seed_split_and_index) {
  static const struct {
    uint64_t seed, index;
    rs_split split;
  } others[] = {{5, 7, RS_SPLIT_TRAINING},
                {6, 7, RS_SPLIT_TRAINING},
                {5, 7, RS_SPLIT_EVALUATION},
                {5, 8, RS_SPLIT_TRAINING},
                {5, 7 + (UINT64_C(1) << 32), RS_SPLIT_TRAINING},
                {5, 7 + (UINT64_C(1) << 33), RS_SPLIT_TRAINING}};
  for (size_t c = 0; c < RS_COUNT(cases); c++) {
    task_desk first, desk;
    size_t length = cases[c].lengths[2];
    open_case(&first, c, 5);
    desk_draw(&first, RS_SPLIT_TRAINING, 7, length);
    for (size_t i = 0; i < RS_COUNT(others); i++) {
      open_case(&desk, c, others[i].seed);
      desk_draw(&desk, RS_SPLIT_TRAINING, 9999, length); /* draws leave nothing behind */
      desk_draw(&desk, others[i].split, others[i].index, length);
      bool simple = strstr(cases[c].settings, "keys=1 ") != NULL; /* one pair, blanks: the query's place alone */
      cr_expect(simple || desks_agree(&first, &desk) == (i == 0), "%s %s: %zu", cases[c].name, cases[c].settings, i);
      desk_clear(&desk);
    }
    desk_clear(&first);
  }
}

/* 32 sequences that threads draw side by side, in any order. */
Test(tasks, draw__on_many_threads__is_the_same) {
  enum { SEQUENCES = 32 };
  for (size_t c = 0; c < RS_COUNT(cases); c++) {
    task_desk desks[SEQUENCES], alone;
    size_t length = cases[c].lengths[2];
    open_case(&alone, c, 1);
    for (size_t i = 0; i < SEQUENCES; i++) {
      desks[i] = alone;
      desk_draw(&desks[i], RS_SPLIT_TRAINING, 0, length); /* makes room */
      alone.room = NULL;
    }
#pragma omp parallel for schedule(dynamic) num_threads(4)
    for (size_t i = 0; i < SEQUENCES; i++)
      alone.kind->draw(alone.task.state, RS_SPLIT_EVALUATION, SEQUENCES - i, length, &desks[i].example);
    for (size_t i = 0; i < SEQUENCES; i++) {
      desk_draw(&alone, RS_SPLIT_EVALUATION, SEQUENCES - i, length);
      cr_expect(desks_agree(&alone, &desks[i]), "%s: %zu", cases[c].name, i);
      free(desks[i].room);
    }
    desk_clear(&alone);
  }
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

Test(tasks, memory__prepare_releases_all_where_it_fails__draw_asks_for_none) {
  if (!COUNTS_MEMORY) return;
  for (size_t c = 0; c < RS_COUNT(cases); c++) {
    task_desk desk;
    open_case(&desk, c, 1);
    desk_draw(&desk, RS_SPLIT_EVALUATION, 1, cases[c].lengths[1]);
    refused = false;
    allocations = 0;
    desk.kind->draw(desk.task.state, RS_SPLIT_EVALUATION, 2, cases[c].lengths[1], &desk.example);
    allocations = -1;
    cr_expect(!refused, "%s: draw allocates", cases[c].name);
    for (long first = 0;; first++) {
      rs_task_in in = {desk.parameters.binding.fields, 1};
      rs_task task;
      rs_err err = {0};
      refused = false;
      long before = blocks;
      allocations = first;
      rs_status status = rs_task_prepare(desk.kind, &in, &task, &err);
      allocations = -1;
      if (!refused) {
        cr_expect(status == RS_OK && first > 0, "%s", cases[c].name);
        rs_task_clear(&task);
        break;
      }
      cr_expect(status == RS_MEMORY && err.status == RS_MEMORY, "%s", cases[c].name);
      cr_expect(task.kind == NULL && task.state == NULL && blocks == before, "%s: %ld blocks left", cases[c].name,
                blocks - before);
    }
    desk_clear(&desk);
  }
}

/* ---- chance ------------------------------------------------------------------------------------------------------ */

enum { MOST_CLASSES = 128, SEQUENCES = 3000 };

/* How often each class is the first target of the part in a sequence: later ones depend on it. */
static size_t count_classes(task_desk *desk, rs_split split, size_t part, size_t length, size_t counts[MOST_CLASSES]) {
  size_t total = 0;
  memset(counts, 0, MOST_CLASSES * sizeof *counts);
  for (size_t i = 0; i < SEQUENCES; i++) {
    desk_draw(desk, split, i, length);
    for (size_t t = 0; t < length; t++) {
      if (desk->example.targets[t] == RS_NO_TARGET || desk->example.parts[t] != part) continue;
      counts[desk->example.targets[t]]++;
      total++;
      break;
    }
  }
  return total;
}

/* A guess that reads nothing says any answer of the part, or always the same: none is likelier than another. (But
 * fillers, which the rule makes more or less common: a guess of any is right once in as many as there are.) */
Test(tasks, chance__is_what_a_blind_guess_gets) {
  static const struct {
    const char *name, *settings;
    size_t length;
  } asked[] = {{"dictionary", "", 64},
               {"copy", "", 32},
               {"reverse", "symbols=3", 16},
               {"flip_flop", "aims=all evaluation=every", 32},
               {"where", "", 16},
               {"associative_recall", "values=40", 64},
               {"repeat", "vocabulary=20 passage=5", 24},
               {"translate", "words=20", 24},
               {"order", "", 9},
               {"order", "ask=sorted", 9},
               {"masked", "", 40},
               {"film", "shapes=3", 64}};
  for (size_t c = 0; c < RS_COUNT(asked); c++) {
    task_desk desk;
    desk_open(&desk, asked[c].name, asked[c].settings, 11);
    for (size_t part = 0; desk.kind->parts[part] != NULL; part++) {
      size_t counts[MOST_CLASSES], different = 0;
      size_t total = count_classes(&desk, RS_SPLIT_TRAINING, part, asked[c].length, counts);
      if (total == 0) total = count_classes(&desk, RS_SPLIT_EVALUATION, part, asked[c].length, counts);
      double chance = desk.kind->chance(desk.task.state, part);
      const char *name = desk.kind->parts[part];
      bool even = strcmp(name, "filler") != 0 && strcmp(name, "instruction") != 0;
      for (size_t i = 0; i < MOST_CLASSES; i++) {
        different += counts[i] > 0;
        cr_expect(counts[i] == 0 || !even || within_four_sigma(counts[i], total, chance), "%s: %s is %zu in %zu of %zu",
                  asked[c].name, name, i, counts[i], total);
      }
      cr_expect_float_eq(chance * (double)different, 1, 1e-12, "%s: %s has %zu answers", asked[c].name, name,
                         different);
    }
    desk_clear(&desk);
  }
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

Test(tasks, wrong_lengths__are_told_with_what_fits) {
  static const struct {
    const char *name, *settings;
    size_t length;
    const char *message;
  } wrong[] = {
      {"dictionary", "", 23, "23 tokens: 6 needles, told once and asked once, fill 24 (fewer depths, or depths: none)"},
      {"copy", "", 7,
       "7 tokens cannot be shared by a string and its answer: must be even, twice the symbols of a string"},
      {"flip_flop", "", 2, "2 tokens are too few: a write, its bit and a read are 3"},
      {"associative_recall", "", 31, "31 tokens: 8 pairs and a query for each take 32 (fewer pairs)"},
      {"translate", "", 6, "6 words make no blocks of 4: must be a multiple"},
      {"where", "", 48, "48 patches make no square (the nearest below: 36)"},
      {"where", "shapes=4", 9, "1 x 3 x 3 patches have no room for 4 shapes, of which no two share a column"},
      {"order", "", 2, "2 tokens have no order: the one that says the class and two others are 3"},
      {"film", "", 40, "40 patches make no frames of 4 x 4: must be a multiple of 16"},
      {"pictures", "patch_side=2", 20,
       "20 patches make no grid in the proportion of 4 x 4, that of the pictures (the nearest below: 16)"},
      {"film", "shapes=3", 32, "2 x 4 x 4 patches have no room for 3 shapes, of which no two share a frame"},
  };
  for (size_t i = 0; i < RS_COUNT(wrong); i++) {
    task_desk desk;
    rs_err err = {0};
    rs_example_shape shape;
    open_with(&desk, wrong[i].name, wrong[i].settings, "", 0);
    cr_expect_eq(desk.kind->shape(desk.task.state, wrong[i].length, &shape, &err), RS_DOMAIN, "%zu", i);
    cr_expect_str_eq(err.message, wrong[i].message);
    desk_clear(&desk);
  }
}

Test(tasks, contradictions__name_the_parameter) {
  static const struct {
    const char *name, *settings, *subject, *message;
  } wrong[] = {
      {"dictionary", "keys=4", "keys_in_use", "must not exceed keys = 4"},
      {"dictionary", "keys_in_use=11", "depths",
       "6 needles, but the stream leaves 5 of 16 keys: must not be more (fewer keys_in_use, or depths: none)"},
      {"dictionary", "depths=[0,0.5,0.5]", "depths", "must ascend: 0.5 follows 0.5"},
      {"associative_recall", "pairs=65", "keys", "must be at least pairs = 65: no key comes twice"},
      {"associative_recall", "pairs=65 keys=65", "values", "must be at least pairs = 65: no value comes twice"},
      {"film", "shapes=4 side=3", "side", "must be at least shapes = 4, each in its own column"},
  };
  for (size_t i = 0; i < RS_COUNT(wrong); i++) {
    task_desk desk;
    rs_err err = {0};
    desk_make(&desk, wrong[i].name);
    desk_set(&desk, wrong[i].settings);
    cr_expect_eq(desk.kind->check(&desk.parameters.binding, &err), RS_INPUT, "%zu", i);
    cr_expect_str_eq(err.subject, wrong[i].subject);
    cr_expect_str_eq(err.message, wrong[i].message);
    desk_clear(&desk);
  }
}
