/* Answers of explore: the numbers that show and run have, for every method and preset, and refusals in words. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/pages/explore/explore.h"
#include "../fixtures/question.h"
#include "advice/advice.h"

static rs_explorer *explorer;

static rs_explorer *begin(const char *preset, const char *layers, const char *method, size_t length) {
  const rs_subject_in in = {.preset = preset, .layers = layers, .method = method, .fallback = "rope", .length = length};
  rs_explorer *made;
  rs_problems problems = {0};
  rs_err err = {0};
  cr_assert_eq(rs_explorer_create(&in, &made, &problems, &err), RS_OK, "%s %s", err.message,
               rs_text_string(&problems.text));
  return made;
}

static void enter(void) {
  explorer = begin("llama-2-7b", NULL, NULL, 4096);
}

static void leave(void) {
  rs_explorer_free(explorer);
}

TestSuite(explore, .init = enter, .fini = leave);

/* The answer as a tree; release with rs_tree_free. */
static rs_tree *answer_of(const rs_explorer *of, const char *query) {
  rs_text json = {0};
  rs_tree *tree;
  rs_err err = {0};
  cr_assert_eq(ask_explorer(of, query, &json, &err), RS_OK, "%s: %s %s", query, err.subject, err.message);
  cr_assert_eq(rs_json_read(rs_text_string(&json), json.length, "answer", &tree, &err), RS_OK, "%s", err.message);
  rs_text_clear(&json);
  return tree;
}

static const rs_node *at(const rs_node *node, const char *a, const char *b, const char *c) {
  const char *keys[] = {a, b, c};
  for (size_t i = 0; i < 3 && keys[i] != NULL; i++) node = rs_node_get(node, keys[i]);
  cr_assert_not_null(node, "%s.%s.%s", a, b, c);
  return node;
}

static double number_of(const rs_node *node) {
  double number;
  cr_assert(rs_number_read(node->text, &number), "%s", node->text);
  return number;
}

static void expect_refusal(const char *query, const char *subject, const char *message) {
  rs_text json = {0};
  rs_err err = {0};
  rs_status status = ask_explorer(explorer, query, &json, &err);
  cr_expect(status == RS_INPUT || status == RS_DOMAIN || status == RS_UNSUPPORTED, "%s: %d", query, (int)status);
  cr_expect_str_eq(err.subject, subject, "%s: %s", query, err.message);
  cr_expect_not_null(strstr(err.message, message), "%s\ngot:  %s\nwant: %s", query, err.message, message);
  cr_expect_eq(json.length, 0, "%s leaves half an answer", query);
  rs_text_clear(&json);
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

/* The same tables by the way that show goes. */
static void expect_tables(const rs_explorer *of, const char *query, const rs_subject_in *in) {
  rs_subject s;
  rs_problems problems = {0};
  rs_encoding *encoding;
  rs_err err = {0};
  cr_assert_eq(rs_subject_read(in, &s, &problems, &err), RS_OK, "%s: %s", query, err.message);
  cr_assert_eq(rs_encoding_create(&s.recipe, &s.model, s.length, NULL, NULL, &encoding, &err), RS_OK);
  rs_tree *tree = answer_of(of, query);
  const rs_node *omega = at(&tree->root, "frequencies", "curve", "omega_rad_per_token");
  cr_expect_eq(omega->count, encoding->rotary_dim / 2, "%s", query);
  for (size_t j = 0; j < omega->count; j++)
    cr_expect_eq(number_of(&omega->items[j]), encoding->omega[j], "%s: pair %zu", query, j);
  if (omega->count > 0)
    cr_expect_eq(number_of(at(&tree->root, "frequencies", "scalars", "amplitude")), encoding->amp, "%s", query);
  cr_expect_eq(number_of(at(&tree->root, "trained_tokens", NULL, NULL)), encoding->train_length);
  const rs_node *distance = at(&tree->root, "decay", "curve", "distance_tokens"),
                *mean = at(&tree->root, "decay", "curve", "mean_cosine");
  for (size_t i = 0; i < mean->count; i++) {
    size_t m = (size_t)number_of(&distance->items[i]), query_at = s.length - 1;
    if (encoding->rotary_dim == 0) {
      cr_expect(!mean->items[i].quoted && strcmp(mean->items[i].text, "null") == 0, "%s: nothing turns", query);
      continue;
    }
    cr_expect_float_eq(number_of(&mean->items[i]), rs_encoding_mean_cosine(encoding, query_at, query_at - m), 1e-12,
                       "%s: %zu back", query, m);
  }
  cr_assert_eq(distance->count > 0, encoding->rotary_dim > 0 || encoding->method->bias != NULL, "%s", query);
  if (distance->count > 0)
    cr_expect_eq(number_of(&distance->items[distance->count - 1]), (double)(s.length - 1), "%s", query);
  rs_tree_free(tree);
  rs_encoding_free(encoding);
  rs_subject_clear(&s);
}

Test(explore, answers__have_the_numbers_of_show) {
  static const struct {
    const char *query, *preset, *layers, *method;
    size_t length;
  } cases[] = {
      {"", "llama-2-7b", NULL, "{name: rope}", 4096},
      {"method=yarn&factor=8&length=32k", "llama-2-7b", NULL, "{name: yarn, factor: 8}", 32768},
      {"method=yarn&factor=8&beta_fast=24&beta_slow=2&truncate=false&rope_theta=20000&train_length=2k&length=5000",
       "llama-2-7b", NULL,
       "{name: yarn, factor: 8, beta_fast: 24, beta_slow: 2, truncate: false, rope_theta: 20000, train_length: 2048}",
       5000},
      {"model=llama-3.1-8b&method=llama3&length=128k", "llama-3.1-8b", NULL, NULL, 131072},
      {"model=phi-3-mini-128k&method=longrope&length=8k", "phi-3-mini-128k", NULL, NULL, 8192},
      {"model=gemma-3&layers=sliding_attention&method=rope&length=4k", "gemma-3", "sliding_attention", "{name: rope}",
       4096},
      {"method=self_extend&group=4&window=512&length=20000", "llama-2-7b", NULL,
       "{name: self_extend, group: 4, window: 512}", 20000},
      {"model=qwen2-vl&method=mrope&mrope_section=[24,20,20]&length=1k", "qwen2-vl", NULL,
       "{name: mrope, mrope_section: [24, 20, 20]}", 1024},
      {"method=alibi&length=1k", "llama-2-7b", NULL, "{name: alibi}", 1024},
      {"method=rope&length=1", "llama-2-7b", NULL, "{name: rope}", 1},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++)
    expect_tables(explorer, cases[i].query,
                  &(rs_subject_in){.preset = cases[i].preset,
                                   .layers = cases[i].layers,
                                   .method = cases[i].method,
                                   .length = cases[i].length});
}

Test(explore, every_preset__begins_as_show_has_it) {
  size_t count;
  const rs_preset *presets = rs_presets(&count);
  for (size_t i = 0; i < count; i++) {
    const rs_subject_in in = {.preset = presets[i].name, .fallback = "rope"};
    rs_explorer *own = begin(presets[i].name, NULL, NULL, 0);
    rs_text json = {0}, query = {0};
    rs_tree *tree;
    cr_assert_eq(rs_explore_choices(own, &json, NULL), RS_OK);
    cr_assert_eq(rs_json_read(rs_text_string(&json), json.length, "choices", &tree, NULL), RS_OK);
    const rs_node *start = at(&tree->root, "query", NULL, NULL);
    for (size_t k = 0; k < start->count; k++)
      rs_text_printf(&query, "%s%s=%s", k > 0 ? "&" : "", start->items[k].key, start->items[k].text);
    expect_tables(own, rs_text_string(&query), &in);
    rs_text_clear(&query);
    rs_tree_free(tree);
    rs_text_clear(&json);
    rs_explorer_free(own);
  }
}

/* Layers with a window turn no farther than it reaches, as explain says. */
Test(explore, angles_of_a_window__end_with_it) {
  rs_tree *sliding = answer_of(explorer, "model=gemma-3&layers=sliding_attention&method=rope&length=32k"),
          *full = answer_of(explorer, "model=gemma-3&method=rope&length=32k");
  const rs_node *reached = at(&sliding->root, "ood_angles", "curve", "reached_rad");
  cr_expect_eq(number_of(&reached->items[0]), 1023);
  cr_expect_eq(number_of(at(&sliding->root, "ood_angles", "scalars", "ood_pairs")), 0);
  cr_expect_eq(number_of(&at(&full->root, "ood_angles", "curve", "reached_rad")->items[0]), 32767);
  rs_tree_free(sliding);
  rs_tree_free(full);
}

/* What is told of all pairs is the worst of them, which is not the last. */
Test(explore, angles_past_training__are_told_by_the_worst) {
  rs_tree *tree = answer_of(explorer, "model=gemma-3&layers=sliding_attention&method=rope&train_length=512&length=32k");
  const rs_node *past = at(&tree->root, "ood_angles", "curve", "overshoot_rad");
  double worst = 0, last = number_of(&past->items[past->count - 1]);
  for (size_t j = 0; j < past->count; j++) worst = fmax(worst, number_of(&past->items[j]));
  cr_expect(last > 0 && worst > 2 * last, "%g and %g", worst, last);
  cr_expect_eq(number_of(at(&tree->root, "ood_angles", "scalars", "ood_overshoot_rad")), worst);
  rs_tree_free(tree);
}

Test(explore, yarn_at_factor_16__known_numbers) {
  rs_tree *tree = answer_of(explorer, "method=yarn&factor=16&length=64k");
  cr_expect_float_eq(number_of(at(&tree->root, "frequencies", "scalars", "amplitude")), 0.1 * log(16) + 1, 1e-12);
  cr_expect_eq(number_of(at(&tree->root, "scale", NULL, NULL)), 16);
  cr_expect_eq(number_of(at(&tree->root, "ood_angles", "scalars", "ood_pairs")), 0);
  const rs_node *omega = at(&tree->root, "frequencies", "curve", "omega_rad_per_token");
  cr_expect_eq(number_of(&omega->items[0]), 1);
  cr_expect_float_eq(number_of(&omega->items[63]) * 16, pow(10000, -126.0 / 128), 1e-12);
  rs_tree_free(tree);
}

/* Distances past what a sum of waves covers: samples, whose bias and ends are right. */
Test(explore, long_contexts_that_are_no_waves__are_sampled) {
  rs_tree *tree = answer_of(explorer, "method=rerope&window=512&length=100000");
  const rs_node *distance = at(&tree->root, "decay", "curve", "distance_tokens"),
                *mean = at(&tree->root, "decay", "curve", "mean_cosine"),
                *low = at(&tree->root, "decay", "curve", "mean_cosine_low");
  cr_expect_eq(number_of(&distance->items[distance->count - 1]), 99999);
  cr_expect_str_eq(low->items[5].text, "null");
  for (size_t i = 0; i < mean->count; i++)
    if (number_of(&distance->items[i]) > 512)
      cr_expect_eq(number_of(&mean->items[i]), number_of(&mean->items[mean->count - 1]), "all stand at the window");
  rs_tree_free(tree);
}

/* ---- the same again ---------------------------------------------------------------------------------------------- */

static void expect_config(const char *query, const char *command, const char *config) {
  rs_tree *tree = answer_of(explorer, query);
  const rs_node *omega = at(&tree->root, "frequencies", "curve", "omega_rad_per_token");
  const char *text = at(&tree->root, "config", NULL, NULL)->text;
  rs_experiment *experiment;
  rs_problems problems = {0};
  rs_recipe recipe;
  rs_encoding *encoding;
  rs_err err = {0};
  cr_expect_str_eq(at(&tree->root, "command", NULL, NULL)->text, command);
  cr_expect_eq(strncmp(text, config, strlen(config)), 0, "got:  %s\nwant: %s", text, config);
  cr_assert_eq(rs_config_read(text, "config", (rs_config_edits){0}, &experiment, &problems, &err), RS_OK, "%s",
               rs_text_string(&problems.text));
  cr_assert_eq(rs_experiment_recipe(experiment, 0, 0, &recipe, &err), RS_OK);
  cr_assert_eq(rs_encoding_create(&recipe, &experiment->models[0], experiment->lengths[0], NULL, NULL, &encoding, &err),
               RS_OK);
  cr_expect_eq(omega->count, encoding->rotary_dim / 2);
  for (size_t j = 0; j < omega->count; j++) cr_expect_eq(number_of(&omega->items[j]), encoding->omega[j]);
  rs_encoding_free(encoding);
  rs_recipe_clear(&recipe);
  rs_experiment_free(experiment);
  rs_tree_free(tree);
}

Test(explore, configs__compute_the_same) {
  expect_config("method=yarn&factor=8&length=32k",
                "ropescope show frequencies --model llama-2-7b --method '{name: yarn, factor: 8}' --length 32768",
                "model: llama-2-7b\nlengths: [32768]\nmethods:\n  - {name: yarn, factor: 8}\nmetrics: [");
  expect_config("model=gpt-j-6b&method=pi&head_dim=64&factor=3&length=4k",
                "ropescope show frequencies --set 'model={preset: gpt-j-6b, head_dim: 64, rotary_dim: 16}' --set "
                "'methods=[{name: pi, factor: 3}]' --length 4096",
                "model: {preset: gpt-j-6b, head_dim: 64, rotary_dim: 16}\n");
  expect_config("model=pythia-6.9b&method=rope&head_dim=2&length=1k", /* of 2 dims a quarter is one pair all the same */
                "ropescope show frequencies --set 'model={preset: pythia-6.9b, head_dim: 2, rotary_dim: 2}' --set "
                "'methods=[{name: rope}]' --length 1024",
                "model: {preset: pythia-6.9b, head_dim: 2, rotary_dim: 2}\n");
  expect_config(
      "model=gemma-3&layers=sliding_attention&method=ntk&factor=2&length=4k",
      "ropescope show frequencies --model gemma-3 --layers sliding_attention --method '{name: ntk, factor: 2}' "
      "--length 4096",
      "model: {preset: gemma-3, layers: sliding_attention}\n");
  expect_config("model=qwen2-vl&method=mrope&mrope_section=[24,20,20]&length=1k",
                "ropescope show frequencies --model qwen2-vl --method '{name: mrope, mrope_section: [24, 20, 20]}' "
                "--length 1024",
                "model: qwen2-vl\n");
}

/* Keys that say what is shown, where there are such keys: a dynamic base is no fixed one, and no key turns pairs by
 * half a window. NULL: none. */
Test(explore, fragments__are_the_keys_of_what_is_shown) {
  static const char *const cases[][3] = {
      {"method=yarn&factor=8&length=32k", "\"max_position_embeddings\": 32768,",
       "\"rope_type\": \"yarn\",\n    \"rope_theta\": 10000,\n    \"factor\": 8,\n    "
       "\"original_max_position_embeddings\": 4096\n"},
      {"method=yarn&factor=8&rope_theta=500000&train_length=2048&length=16k", "\"rope_theta\": 500000,",
       "\"original_max_position_embeddings\": 2048"},
      {"method=abf&rope_theta=500000&length=32k", "\"rope_type\": \"default\"", "\"rope_theta\": 500000"},
      {"method=critical_base&factor=4&length=16k", "\"rope_type\": \"default\"", "\"rope_theta\": "},
      {"method=dynamic_ntk&factor=2&length=16k", "\"rope_type\": \"dynamic\"", "\"max_position_embeddings\": 4096"},
      {"method=yarn&factor=8&dialect=llamacpp&length=32k", "\"rope_type\": \"yarn\"", "\"factor\": 8"},
      {"model=gpt-j-6b&method=pi&factor=3&length=4k", "\"partial_rotary_factor\": 0.25", "\"factor\": 3"},
      {"method=pi&factor=3&rotary_dim=32&length=12k", "\"partial_rotary_factor\": 0.25", "\"factor\": 3"},
      {"method=yarn&scale=dynamic&length=32k", NULL, NULL},
      {"method=self_extend&length=8k", NULL, NULL},
      {"method=alibi&length=8k", NULL, NULL},
      {"method=ntk_mixed&factor=4&length=16k", NULL, NULL},
      {"method=dynamic_ntk&scale=dynamic&length=16k", NULL, NULL},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_tree *tree = answer_of(explorer, cases[i][0]);
    const rs_node *node = at(&tree->root, "fragment", NULL, NULL);
    cr_expect_eq(node->quoted, cases[i][1] != NULL, "%s: %s", cases[i][0], node->text);
    for (size_t k = 1; k < 3 && cases[i][k] != NULL; k++)
      cr_expect_not_null(strstr(node->text, cases[i][k]), "%s: no %s in\n%s", cases[i][0], cases[i][k], node->text);
    rs_tree_free(tree);
  }
}

/* ---- every method ------------------------------------------------------------------------------------------------ */

/* Those that plain settings do not serve say what they want. */
Test(explore, every_method__answers_or_says_why_not) {
  static const struct {
    const char *method, *subject, *why;
  } refused[] = {{"longrope", "short_factor", "one divisor for each pair"},
                 {"explicit", "inv_freq", "is missing"},
                 {"swin", "", "needs an image or a video"},
                 {"sinusoidal_2d", "", "no image or video"},
                 {"learned_2d", "", "no image or video"},
                 {"random_rope", "", "do not fit into position_range"}};
  size_t count;
  const rs_method *methods = rs_methods(&count);
  for (size_t i = 0; i < count; i++) {
    const char *why = NULL, *subject = NULL;
    char query[128];
    snprintf(query, sizeof query, "method=%s&length=4k", methods[i].name);
    for (size_t r = 0; r < RS_COUNT(refused); r++)
      if (strcmp(refused[r].method, methods[i].name) == 0) why = refused[r].why, subject = refused[r].subject;
    if (why != NULL) {
      expect_refusal(query, subject, why);
      continue;
    }
    rs_tree *tree = answer_of(explorer, query);
    cr_expect_str_eq(at(&tree->root, "method", NULL, NULL)->text, methods[i].name);
    cr_expect_eq(at(&tree->root, "frequencies", "curve", "pair")->count > 0, methods[i].freq != NULL, "%s", query);
    rs_tree_free(tree);
  }
}

/* No parameter is called like what a query says besides. */
Test(explore, names__do_not_collide) {
  static const char *const own[] = {"model", "layers", "head_dim", "length", "method"};
  size_t count;
  const rs_method *methods = rs_methods(&count);
  for (size_t i = 0; i < count; i++) {
    rs_recipe recipe;
    cr_assert_eq(rs_recipe_init(&recipe, &methods[i], NULL), RS_OK);
    for (size_t n = 0; n < RS_COUNT(own); n++)
      cr_expect_eq(rs_settings_find(&recipe.settings, own[n]), -1, "%s: %s", methods[i].name, own[n]);
    rs_recipe_clear(&recipe);
  }
}

/* ---- wrong queries ----------------------------------------------------------------------------------------------- */

Test(explore, wrong_queries__are_refused_in_words) {
  static const char *const cases[][3] = {
      {"factr=8&method=yarn", "factr", "is no parameter of yarn (did you mean factor?)"},
      {"method=yarn&beta_fast=1e400", "beta_fast", "too large"},
      {"method=yarn&factor=nan", "factor", "NaN is never accepted"},
      {"method=yarn&factor=inf", "factor", ""},
      {"method=yarn&factor=", "factor", ""},
      {"method=yarn&factor=-1", "factor", "must be from 1e-06 to 1000000000"},
      {"method=yarn&factor=0x10", "factor", ""},
      {"method=yarn&factor=8&factor=8", "factor", "is given twice"},
      {"method=yarn&truncate=1", "truncate", "must be true or false"},
      {"method=yarn&beta_fast=0.5", "beta_fast", "must exceed"},
      {"method=yran", "method", "did you mean yarn?"},
      {"method=", "method", "is none"},
      {"model=llama-2-7", "model", "did you mean llama-2-7b?"},
      {"model=file", "model", "is no file here"},
      {"model=/etc/passwd", "model", "is no model preset"},
      {"model=gemma-3&layers=sliding", "layers", ""},
      {"length=0", "length", "must be from 1 to 1048576"},
      {"length=1048577", "length", "must be from 1 to 1048576"},
      {"length=1.5", "length", "must be a whole number"},
      {"length=99999999999999999999", "length", ""},
      {"head_dim=63", "head_dim", "must be even"},
      {"head_dim=1026", "head_dim", "must be from 2 to 1024"},
      {"model=qwen2-vl&head_dim=64", "head_dim", "is fixed by the model's mrope_section"},
      {"method=longrope&short_factor=factors.json&long_factor=factors.json", "short_factor",
       "must be a list of numbers"},
      {"method=longrope&short_factor=[1,2]&long_factor=[1,2]", "short_factor", "has 2 numbers, but 64 pairs turn"},
      {"method=explicit&inv_freq=[]", "inv_freq", "is an empty list"},
      {"method=explicit&inv_freq=[\"a\"]", "inv_freq", "must be a list of numbers"},
      {"method=explicit&inv_freq=[null]", "inv_freq", ""},
      {"method=explicit&inv_freq=[1,[2]]", "inv_freq", "must be a list of numbers"},
      {"method=explicit&inv_freq={}", "inv_freq", "must be a list of numbers"},
      {"method=explicit&inv_freq=1", "inv_freq", "must be a list of numbers"},
      {"method=ro pe", "method", "ro pe is none"},
      {"method=xyzzy", "method", "xyzzy is none (ropescope list methods shows them)"},
      {"xyzzy=1", "xyzzy", "is no parameter of rope"},
      {"method=learned&length=8k&train_length=4k", "", "beyond the table"},
      {"yarn", "", "is no name=value"},
      {"=8", "", "is no name=value"},
      {"&", "", "is no name=value"},
      {"method=\xc3\xa9", "", "outside printable ASCII"},
      {"a\nb=1", "", "outside printable ASCII"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) expect_refusal(cases[i][0], cases[i][1], cases[i][2]);
}

Test(explore, large_queries__are_refused) {
  rs_text many = {0}, list = {0};
  for (size_t i = 0; i < 65; i++) rs_text_printf(&many, "&a%zu=1" + (i == 0), i);
  expect_refusal(rs_text_string(&many), "", "more than 64 parameters");
  rs_text_puts(&list, "method=explicit&inv_freq=[1");
  for (size_t i = 0; i < RS_EXPLORE_LIST; i++) rs_text_puts(&list, ",1");
  rs_text_puts(&list, "]");
  expect_refusal(rs_text_string(&list), "inv_freq", "has more than 512 numbers");
  rs_text_clear(&many);
  rs_text_clear(&list);
}

Test(explore, errors__are_json) {
  rs_err err = {0};
  rs_text json = {0};
  (void)rs_fail_on(&err, RS_INPUT, "factor", "must be \"good\"");
  rs_explore_error(&err, &json);
  cr_expect_str_eq(rs_text_string(&json),
                   "{\n  \"error\": \"factor: must be \\\"good\\\"\",\n  \"parameter\": \"factor\"\n}\n");
  rs_text_clear(&json);
}

/* ---- who is answered --------------------------------------------------------------------------------------------- */

#define TOKEN "0123456789abcdef0123456789abcdef"

Test(explore, gate__lets_the_page_in_alone) {
  static const rs_explore_gate gate = {TOKEN, 8080};
  static const struct {
    rs_explore_request request;
    unsigned status;
    const char *path;
  } cases[] = {
      {{"GET", "/" TOKEN "/", "127.0.0.1:8080", NULL, 1, 0, false}, 0, ""},
      {{"GET", "/" TOKEN "/answer", "localhost:8080", "http://localhost:8080", 1, 1, false}, 0, "answer"},
      {{"GET", "/" TOKEN "/", "127.0.0.1:8081", NULL, 1, 0, false}, 403, NULL},
      {{"GET", "/" TOKEN "/", "127.0.0.1", NULL, 1, 0, false}, 403, NULL},
      {{"GET", "/" TOKEN "/", "evil.example:8080", NULL, 1, 0, false}, 403, NULL},
      {{"GET", "/" TOKEN "/", "127.0.0.1:8080.evil.example", NULL, 1, 0, false}, 403, NULL},
      {{"GET", "/" TOKEN "/", NULL, NULL, 0, 0, false}, 403, NULL},
      {{"GET", "/" TOKEN "/", "127.0.0.1:8080", NULL, 2, 0, false}, 403, NULL},
      {{"GET", "/" TOKEN "/", "127.0.0.1:8080", "http://evil.example", 1, 1, false}, 403, NULL},
      {{"GET", "/" TOKEN "/", "127.0.0.1:8080", "https://127.0.0.1:8080", 1, 1, false}, 403, NULL},
      {{"GET", "/" TOKEN "/", "127.0.0.1:8080", "null", 1, 1, false}, 403, NULL},
      {{"GET", "/" TOKEN "/", "127.0.0.1:8080", "http://127.0.0.1:8080", 1, 2, false}, 403, NULL},
      {{"GET", "/", "127.0.0.1:8080", NULL, 1, 0, false}, 404, NULL},
      {{"GET", "/" TOKEN, "127.0.0.1:8080", NULL, 1, 0, false}, 404, NULL},
      {{"GET", "/0123456789abcdef0123456789abcdee/", "127.0.0.1:8080", NULL, 1, 0, false}, 404, NULL},
      {{"GET", "/1123456789abcdef0123456789abcdef/", "127.0.0.1:8080", NULL, 1, 0, false}, 404, NULL},
      {{"GET", "x" TOKEN "/", "127.0.0.1:8080", NULL, 1, 0, false}, 404, NULL},
      {{"GET", "/" TOKEN "x", "127.0.0.1:8080", NULL, 1, 0, false}, 404, NULL},
      {{"GET", "/x/" TOKEN "/", "127.0.0.1:8080", NULL, 1, 0, false}, 404, NULL},
      {{"POST", "/" TOKEN "/", "127.0.0.1:8080", NULL, 1, 0, false}, 405, NULL},
      {{"HEAD", "/" TOKEN "/", "127.0.0.1:8080", NULL, 1, 0, false}, 405, NULL},
      {{"get", "/" TOKEN "/", "127.0.0.1:8080", NULL, 1, 0, false}, 405, NULL},
      {{"GET", "/" TOKEN "/", "127.0.0.1:8080", NULL, 1, 0, true}, 400, NULL},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    const char *path, *why;
    cr_expect_eq(rs_explore_admit(&gate, &cases[i].request, &path, &why), cases[i].status, "case %zu", i);
    cr_expect_eq(why == NULL, cases[i].status == 0, "case %zu", i);
    if (cases[i].path != NULL)
      cr_expect_str_eq(path, cases[i].path);
    else
      cr_expect_null(path, "case %zu", i);
  }
}

Test(explore, gate_of_port_80__knows_that_browsers_leave_it_out) {
  static const rs_explore_gate gate = {TOKEN, 80};
  static const rs_explore_request request = {"GET", "/" TOKEN "/", "127.0.0.1", "http://localhost", 1, 1, false};
  const char *path, *why;
  cr_expect_eq(rs_explore_admit(&gate, &request, &path, &why), 0);
}
