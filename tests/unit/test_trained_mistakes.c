/* config.json that somebody changed, or that no memory is left for: each mistake is named with its key, and nothing
 * that was read is used, or lost. */
#include "../fixtures/dice.h"
#include "../fixtures/heap.h"
#include "../fixtures/places.h"
#include "../fixtures/scratch.h"
#include "../fixtures/small_training.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

TestSuite(trained_mistakes, .init = enter_scratch);

static char *config_of_small(void) {
  small_training s;
  rs_text json = {0};
  rs_err err = {0};
  small_training_fill(&s, RS_DECODER, RS_F32);
  cr_assert_eq(rs_trained_write(&s.trained, &json, &err), RS_OK, "%s", err.message);
  small_training_clear(&s);
  return json.data;
}

/* Without waiting for the disk. */
static void put(const char *text) {
  FILE *file = fopen("config.json", "wb");
  cr_assert_not_null(file);
  cr_assert_eq(fwrite(text, 1, strlen(text), file), strlen(text));
  cr_assert_eq(fclose(file), 0);
}

static void leave(void) {
  const char *const left[] = {"config.json"};
  leaves(left, RS_COUNT(left));
}

/* `from`, where it stands first, becomes `to`. Release with free(). */
static char *replaced(const char *text, const char *from, const char *to) {
  const char *place = strstr(text, from);
  rs_text out = {0};
  cr_assert_not_null(place, "%s", from);
  rs_text_add(&out, text, (size_t)(place - text));
  rs_text_puts(&out, to);
  rs_text_puts(&out, place + strlen(from));
  return out.data;
}

#define NAME_64 "0123456789012345678901234567890123456789012345678901234567890123"
#define HASH_LIKE "a123456789012345678901234567890123456789012345678901234567890123"
#define RUN(numbers)                                                                                                   \
  "\"tokens\": [{\"modality\": \"image\", " numbers ", \"seconds_per_frame\": 1, \"ids_per_second\": 1}]"
#define NO_HASH "must be a SHA-256 (64 digits of 0-9a-f) or null"
#define NO_FIT "they do not fit together"

Test(trained_mistakes, each_is_named_with_its_key) {
  static const char *const cases[][3] = {
      {"\"ropescope\": {", "\"ropescope\": [], \"other\": {", "./config.json: ropescope = [...]: must be an object"},
      {"\"name\": \"small\"", "\"name\": \"" NAME_64 NAME_64 NAME_64 "\"", "is longer than 191 bytes"},
      {"\"tuned_from\": null", "\"tuned_from\": \"null\"", "./config.json: ropescope.tuned_from = \"null\": " NO_HASH},
      {"\"tuned_from\": null", "\"tuned_from\": [null]", "./config.json: ropescope.tuned_from = [...]: " NO_HASH},
      {"\"tuned_from\": null", "\"tuned_from\": \"g" NAME_64 "\"", NO_HASH},
      {"\"tuned_from\": null", "\"tuned_from\": \"" NAME_64 "0\"", NO_HASH},
      {"\"tuned_from\": null", "\"tuned_from\": \"A123456789012345678901234567890123456789012345678901234567890123\"",
       NO_HASH},
      {"\"task\": {", "\"task\": 3, \"tusk\": {", "./config.json: ropescope.task = 3: must be a task"},
      {"\"shape\": {", "\"shape\": 3, \"shope\": {", "./config.json: ropescope.shape = 3: must be a shape"},
      {"\"training\": {", "\"training\": [], \"t\": {",
       "./config.json: ropescope.training = [...]: must be a training"},
      {"\"tokens\": []", "\"tokens\": 3", "./config.json: ropescope.tokens = 3: must be a list of runs of tokens"},
      {"\"tokens\": []", RUN("\"tokens\": 4, \"frames\": 1, \"rows\": 2, \"columns\": 3"),
       "./config.json: ropescope.tokens[0] = {...}: has 4 tokens, but 1 x 2 x 3 patches"},
      {"\"tokens\": []", RUN("\"tokens\": 4, \"frames\": 16777217, \"rows\": 0, \"columns\": 0"),
       "has 4 tokens, but 16777217 x 0 x 0 patches"},
      {"\"tokens\": []", RUN("\"tokens\": 4, \"frames\": 1, \"rows\": 16777217, \"columns\": 0"),
       "has 4 tokens, but 1 x 16777217 x 0 patches"},
      {"\"tokens\": []", RUN("\"tokens\": 4, \"frames\": 1, \"rows\": 4, \"columns\": 16777217"),
       "has 4 tokens, but 1 x 4 x 16777217 patches"},
      {"\"tokens\": []", RUN("\"tokens\": 0, \"frames\": 1, \"rows\": 4, \"columns\": 4"),
       "./config.json: ropescope.tokens[0].tokens = 0: must be from 1"},
      {"\"rotary_dim\": 4", "\"rotary_dim\": 3", "turns 3 of 4 dims, with sections of 0 pairs: " NO_FIT},
      {"\"head_dim\": 4", "\"head_dim\": 5", "turns 4 of 5 dims, with sections of 0 pairs: " NO_FIT},
      {"\"mrope_t\": 0", "\"mrope_t\": 1", "turns 4 of 4 dims, with sections of 1 pairs: " NO_FIT},
      {"\"name\": \"copy\"", "\"name\": \"bytes\", \"file\": 3",
       "ropescope.task.file = 3: must be a file and its sha256"},
      {"\"name\": \"copy\"", "\"name\": \"dictionary\", \"depths\": 2",
       "ropescope.task.depths = 2: must be a list of numbers, like [1, 2]"},
      {"\"name\": \"copy\"", "\"name\": \"dictionary\", \"depths\": [0, 2]",
       "ropescope.task.depths[1] = 2: must be from 0 to 1"},
      {"\"ropescope\": {", "\"somebody\": {",
       "./config.json: has no object \"ropescope\": no model that this program has trained"},
      {"\"version\": 2", "\"version\": 1", "./config.json: ropescope.version = 1: must be from 2 to 2"},
      {"\"format\": \"f32\"", "\"format\": \"bf16\"",
       "./config.json: ropescope.format = \"bf16\": must be one of f64, f32"},
      {"\"seed\": \"3\"", "\"seed\": \"-3\"",
       "./config.json: ropescope.seed = \"-3\": must be a whole number below 2^64, in quotes"},
      {"\"seed\": \"3\"", "\"seed\": \"18446744073709551616\"",
       "./config.json: ropescope.seed = \"18446744073709551616\": must be a whole number below 2^64, in quotes"},
      {"\"tuned_from\": null", "\"tuned_from\": \"12\"",
       "./config.json: ropescope.tuned_from = \"12\": must be a SHA-256 (64 digits of 0-9a-f) or null"},
      {"\"drawn_before\": 0", "\"drawn_before\": 0.5", "./config.json: ropescope.drawn_before = 0.5: must be"},
      {"\"drawn_before\": 0,", "", "./config.json: ropescope = {...}: has no drawn_before"},
      {"\"name\": \"copy\"", "\"name\": \"cope\"", "./config.json: ropescope.task.name = \"cope\": is no task"},
      {"\"symbols\": 9", "\"symbols\": 1", "./config.json: ropescope.task.symbols = 1: must be from 2 to 65536"},
      {"\"symbols\": 9", "\"cymbals\": 9", "./config.json: ropescope.task.cymbals = 9: is no parameter of the task"},
      {"\"rate\": 0.01", "\"rate\": \"fast\"",
       "./config.json: ropescope.training.rate = \"fast\": must be a number, not text (take the quotes away)"},
      {"\"warmup\": 5,", "", "./config.json: ropescope.training = {...}: has no warmup"},
      {"\"{name: rope}\"", "\"{name: rope, factor: 2}\"", "factor"},
      {"\"{name: rope}\"", "\"{name: rope\"", "config.json"},
      {"\"{name: rope}\"", "", "./config.json: ropescope.recipes = [...]: is an empty list"},
      {"\"rotary_dim\": 4", "\"rotary_dim\": 6", "./config.json: ropescope.geometry = {...}: turns 6 of 4 dims"},
      {"\"form\": \"decoder\"", "\"form\": \"decade\"",
       "./config.json: ropescope.shape.form = \"decade\": must be one of decoder, encoder, encoder_decoder, vision"},
      {"\"width\": 8", "\"width\": 0", "./config.json: ropescope.shape.width = 0: must be from 1"},
      {"\"parallel\": false", "\"parallel\": 3", "./config.json: ropescope.shape.decoder[0].parallel = 3: must be"},
      {"\"kv_heads\": 2", "\"kv_head\": 2", "has no key kv_head (did you mean kv_heads?)"},
      {"\"kind\": \"causal\"", "\"kind\": \"casual\"", "ropescope.shape.decoder[0].mask.kind = \"casual\": must be"},
      {"\"steps_done\": 0", "\"steps_done\": -1", "./config.json: ropescope.steps_done = -1: must be from 0"},
      {"\"kinds\": [", "\"kind\": [", "ropescope.kind: a trained model has no key kind (did you mean kinds?)"},
  };
  char *config = config_of_small();
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_trained trained;
    rs_err err = {0};
    char *changed = replaced(config, cases[i][0], cases[i][1]);
    put(changed);
    cr_expect_eq(rs_trained_read(".", &trained, &err), RS_INPUT, "%s", cases[i][1]);
    cr_expect_not_null(strstr(without_places(err.message), cases[i][2]), "got:  %s\nwant: %s", err.message,
                       cases[i][2]);
    free(changed);
  }
  free(config);
  leave();
}

/* A hash, sections that take up all pairs, an image's patches: what is right is read. */
Test(trained_mistakes, what_is_right__is_read) {
  static const char *const cases[][2] = {
      {"\"tuned_from\": null", "\"tuned_from\": \"" HASH_LIKE "\""},
      {"\"mrope_t\": 0", "\"mrope_t\": 2"},
      {"\"tokens\": []", RUN("\"tokens\": 6, \"frames\": 1, \"rows\": 2, \"columns\": 3")},
  };
  char *config = config_of_small();
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_trained trained;
    rs_err err = {0};
    char *changed = replaced(config, cases[i][0], cases[i][1]);
    put(changed);
    cr_assert_eq(rs_trained_read(".", &trained, &err), RS_OK, "%s: %s", cases[i][1], err.message);
    cr_expect_str_eq(trained.origin, i == 0 ? HASH_LIKE : "");
    cr_expect_eq(trained.geometry.mrope_section[0], i == 1 ? 2 : 0);
    cr_expect_eq(trained.tokens.count, i == 2 ? 1 : 0);
    rs_trained_clear(&trained);
    free(changed);
  }
  free(config);
  leave();
}

/* The weights of config_of_small, as they begin. */
static void put_weights(void) {
  small_training s;
  rs_transformer *transformer;
  rs_err err = {0};
  small_training_fill(&s, RS_DECODER, RS_F32);
  cr_assert_eq(rs_trained_create(&s.trained, false, &transformer, &err), RS_OK, "%s", err.message);
  cr_assert_eq(rs_weights_write(transformer, "model.safetensors", &err), RS_OK, "%s", err.message);
  rs_transformer_free(transformer);
  small_training_clear(&s);
}

/* Of a config that can be read, but does not go with the weights beside it. */
static void check_unfit(const char *config, const char *from, const char *to, const char *message) {
  rs_trained trained;
  rs_transformer *transformer;
  rs_err err = {0};
  char *changed = replaced(config, from, to);
  put(changed);
  cr_assert_eq(rs_trained_read(".", &trained, &err), RS_OK, "%s", err.message);
  cr_expect_eq(rs_trained_load(&trained, ".", &transformer, &err), RS_INPUT, "%s", to);
  cr_expect_str_eq(err.message, message, "%s", err.message);
  cr_expect_null(transformer);
  rs_trained_clear(&trained);
  free(changed);
}

static void leave_both(void) {
  const char *const left[] = {"config.json", "model.safetensors"};
  leaves(left, RS_COUNT(left));
}

/* Blocks that do not fit together are told as the model is made, with the file. */
Test(trained_mistakes, shapes_that_do_not_fit__are_named) {
  char *config = config_of_small();
  put_weights();
  check_unfit(config, "\"kv_heads\": 2", "\"kv_heads\": 3",
              "./config.json: 2 heads cannot share 3 heads of keys: must be a multiple");
  check_unfit(config, "\"recipe\": 0", "\"recipe\": 1", "./config.json: block 0 names positional recipe 1 of 1");
  check_unfit(config, "\"vocabulary\": 11", "\"vocabulary\": 0", "./config.json: a decoder without vocabulary");
  free(config);
  leave_both();
}

/* Shapes of terabytes and tables of a thousand million positions are refused by what the file holds; the address space
 * has no room for them. */
Test(trained_mistakes, more_than_the_file_holds__is_refused_unallocated) {
  char *config = config_of_small();
  struct rlimit room;
  put_weights();
  cr_assert_eq(getrlimit(RLIMIT_AS, &room), 0);
  rlim_t most = room.rlim_max;
  if (COUNTS_MEMORY) room.rlim_cur = (rlim_t)4 << 30; /* not beside a sanitizer's own terabytes */
  cr_assert_eq(setrlimit(RLIMIT_AS, &room), 0);
  check_unfit(config, "\"vocabulary\": 11", "\"vocabulary\": 16777216",
              "./model.safetensors: tensor \"model.embed_tokens.weight\": has shape (11, 8), wanted is (16777216, 8)");
  check_unfit(
      config, "\"width\": 12", "\"width\": 16777216",
      "./model.safetensors: tensor \"model.layers.0.mlp.up_proj.weight\": has shape (12, 8), wanted is (16777216, 8)");
  check_unfit(
      config, "\"train_length\": 8", "\"train_length\": 268435456",
      "./config.json: rope takes 6 GiB at train_length = 268435456, more than a model of 1112 numbers can have");
  check_unfit(config, "\"{name: rope}\"", "\"{name: t5, num_buckets: 900000, max_distance: 1000000000}\"",
              "./model.safetensors: holds no tensor \"model.positions.0.bias.table\"");
  check_unfit(config, "\"{name: rope}\"", "\"{name: learned}\"",
              "./model.safetensors: holds no tensor \"model.positions.0.embed.table\"");
  room.rlim_cur = most;
  cr_assert_eq(setrlimit(RLIMIT_AS, &room), 0);
  free(config);
  leave_both();
}

/* Bytes changed and pieces cut out at random: read, or refused with the file's name. */
Test(trained_mistakes, damaged_at_random__is_refused_or_read) {
  enum { CHANGES = 600 };
  static const char letters[] = "\"{}[],:0129.-e natfu\\";
  char *config = config_of_small();
  dice d = {.seed = test_seed()};
  size_t refused_ones = 0;
  for (size_t i = 0; i < CHANGES; i++) {
    rs_trained trained;
    rs_err err = {0};
    char *changed = strdup(config);
    size_t place = pick(&d, 0, strlen(changed) - 1), cut = pick(&d, 0, 3) == 0 ? pick(&d, 1, 40) : 0;
    if (cut > 0 && place + cut < strlen(changed))
      memmove(changed + place, changed + place + cut, strlen(changed + place + cut) + 1);
    else
      changed[place] = letters[pick(&d, 0, sizeof letters - 2)];
    put(changed);
    rs_status status = rs_trained_read(".", &trained, &err);
    cr_expect(status == RS_OK || (status == RS_INPUT && strstr(err.message, "config.json") != NULL), "%s\n%s",
              err.message, changed);
    refused_ones += status != RS_OK;
    if (status == RS_OK) rs_trained_clear(&trained);
    free(changed);
  }
  cr_expect_gt(refused_ones, CHANGES / 2);
  free(config);
  leave();
}

Test(trained_mistakes, every_failing_allocation__is_told) {
  if (!COUNTS_MEMORY) cr_skip("the heap is somebody else's here");
  small_training s;
  char *config = config_of_small();
  small_training_fill(&s, RS_DECODER, RS_F32);
  small_training_llama(&s);
  put(config);
  spared_library = "libjansson."; /* 2.14 writes past its buffer when it cannot grow */
  for (int reads = 0; reads < 2; reads++) {
    long n = 0;
    do {
      rs_err err = {0};
      rs_trained trained = {0};
      rs_text json = {0};
      long held = blocks;
      refused = false;
      allocations = n++;
      rs_status status = reads ? rs_trained_read(".", &trained, &err) : rs_trained_write(&s.trained, &json, &err);
      allocations = -1;
      cr_assert(refused ? status == RS_MEMORY : status == RS_OK, "%d, allocation %ld: %s: %s", reads, n,
                rs_status_name(status), err.message);
      if (reads && status == RS_OK) rs_trained_clear(&trained);
      rs_text_clear(&json);
      cr_assert_eq(blocks, held, "%d, allocation %ld leaks", reads, n);
    } while (refused);
    cr_assert_gt(n, 50);
  }
  small_training_clear(&s);
  free(config);
  leave();
}
