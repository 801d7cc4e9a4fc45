/* test_compare_dumps.c: what `ropescope compare` says of a list of numbers beside a model: which layers it is of where
 * these turn in several ways, and whether it is slopes where they turn nothing. */
#include <math.h>

#include "../fixtures/program.h"

#define WINDOWED(type, more)                                                                                           \
  "{\"model_type\": \"" type "\", \"hidden_size\": 64, \"num_attention_heads\": 4, \"head_dim\": 16, "                 \
  "\"num_hidden_layers\": 4, \"max_position_embeddings\": 4096, \"sliding_window\": 64, " more "}"
#define TYPES                                                                                                          \
  "\"layer_types\": [\"sliding_attention\", \"sliding_attention\", \"sliding_attention\", \"full_attention\"], "
#define BLOOM(heads) "{\"model_type\": \"bloom\", \"n_head\": " heads ", \"hidden_size\": 960, \"seq_length\": 2048}"

TestSuite(compare_dumps, .init = enter_folder, .fini = leave_folder);

static void write_list(const char *file, const double *numbers, size_t count) {
  rs_text text = {0};
  rs_json json = {.text = &text};
  rs_json_list(&json, NULL);
  for (size_t i = 0; i < count; i++) rs_json_number(&json, NULL, numbers[i]);
  rs_json_end(&json);
  write_file(file, rs_text_string(&text));
  rs_text_clear(&text);
}

static void expect(const char *a, const char *b, const char *layers, int status, const char *words) {
  result got = run(&(command){.arguments = {"compare", a, b, layers != NULL ? "--layers" : NULL, layers}});
  cr_expect_eq(got.status, status, "%s %s: %d: %s%s", a, b, got.status, got.out, got.err);
  cr_expect(strstr(got.out, words) != NULL || strstr(got.err, words) != NULL, "%s %s: no %s in\n%s%s", a, b, words,
            got.out, got.err);
  cr_expect_null(strstr(got.out, "no known change"), "%s", got.out);
  result_clear(&got);
}

/* ---- layers ------------------------------------------------------------------------------------------------------ */

/* 8 pairs at a base, divided. */
static void write_pairs(const char *file, double base, double divisor) {
  double omega[8];
  for (size_t j = 0; j < RS_COUNT(omega); j++) omega[j] = pow(base, -(double)j / 8) / divisor;
  write_list(file, omega, RS_COUNT(omega));
}

/* Whichever kind of layers is chosen, the dump is put beside each, and its cause is the one that it equals. */
Test(compare_dumps, layers__the_group_that_a_dump_equals) {
  write_file("linear.json", WINDOWED("gemma3_text", "\"sliding_window_pattern\": 2, \"rope_local_base_freq\": 500, "
                                                    "\"rope_theta\": 1e6, \"rope_scaling\": {\"rope_type\": "
                                                    "\"linear\", \"factor\": 8}"));
  write_file("bases.json", WINDOWED("llama", TYPES "\"rope_parameters\": {\"sliding_attention\": {\"rope_type\": "
                                                   "\"default\", \"rope_theta\": 777}, \"full_attention\": "
                                                   "{\"rope_type\": \"default\", \"rope_theta\": 31415}}"));
  write_pairs("of_window.json", 500, 1);
  write_pairs("of_full.json", 1e6, 8);
  write_pairs("low.json", 777, 1);
  write_pairs("high.json", 31415, 1);
  expect("linear.json", "of_window.json", NULL, 1, "likely cause: B is A's sliding_attention recipe\n");
  expect("of_window.json", "linear.json", NULL, 1, "likely cause: A is B's sliding_attention recipe\n");
  expect("linear.json", "of_full.json", "sliding_attention", 1, "likely cause: B is A's full_attention recipe\n");
  expect("bases.json", "low.json", "full_attention", 1, "likely cause: B is A's sliding_attention recipe\n");
  expect("bases.json", "high.json", "sliding_attention", 1, "likely cause: B is A's full_attention recipe\n");
  expect("bases.json", "high.json", NULL, 0, "of full_attention, equal within 1e-06: frequencies of 8 pairs\n");
  expect("bases.json", "high.json", NULL, 0,
         "B beside the layers of A:\n  layers 0-2 (sliding_attention): 7 frequencies differ, most at pair 7: ");
  expect("bases.json", "high.json", NULL, 0, "\n  layers 3 (full_attention): equal\n");
}

Test(compare_dumps, layers__in_json) {
  write_file("bases.json", WINDOWED("llama", TYPES "\"rope_parameters\": {\"sliding_attention\": {\"rope_type\": "
                                                   "\"default\", \"rope_theta\": 777}, \"full_attention\": "
                                                   "{\"rope_type\": \"default\", \"rope_theta\": 31415}}"));
  write_pairs("high.json", 31415, 1);
  rs_tree *tree;
  char *out = output_of(&(command){.arguments = {"compare", "bases.json", "high.json", "--json"}});
  cr_assert_eq(rs_json_read(out, strlen(out), "out", &tree, NULL), RS_OK, "%s", out);
  const rs_node *kinds = rs_node_get(&tree->root, "beside_layers");
  cr_assert(kinds != NULL && kinds->count == 2, "%s", out);
  cr_expect_str_eq(rs_node_get(&kinds->items[0], "equal")->text, "false");
  cr_expect_str_eq(rs_node_get(&kinds->items[0], "pairs_that_differ")->text, "7");
  cr_expect_eq(rs_node_get(&kinds->items[0], "layers")->count, 3);
  cr_expect_str_eq(rs_node_get(&kinds->items[1], "kind")->text, "full_attention");
  cr_expect_str_eq(rs_node_get(&kinds->items[1], "equal")->text, "true");
  rs_tree_free(tree);
  free(out);
}

/* ---- slopes ------------------------------------------------------------------------------------------------------ */

/* Press et al., attention_with_linear_biases: get_slopes. */
static double slope(size_t head, size_t heads) {
  size_t power = 1;
  while (2 * power <= heads) power *= 2;
  if (head < power) return pow(2, -8 * (double)(head + 1) / (double)power);
  return slope(2 * (head - power), 2 * power);
}

static void write_slopes(const char *file, size_t begin, size_t end, size_t heads) {
  double slopes[64];
  for (size_t h = begin; h < end; h++) slopes[h - begin] = slope(h % heads, heads);
  write_list(file, slopes, end - begin);
}

static void write_powers(const char *file, size_t count, double first, double step) {
  double slopes[64];
  for (size_t h = 0; h < count; h++) slopes[h] = pow(2, -8 * (first + (double)h) / step);
  write_list(file, slopes, count);
}

Test(compare_dumps, slopes__of_all_heads_or_of_a_rank) {
  static const struct {
    const char *heads;
    size_t begin, end, of;
    int status;
    const char *words;
  } cases[] = {
      {BLOOM("12"), 0, 12, 12, 0, "equal within 1e-06: slopes of 12 heads\n"},
      {BLOOM("40"), 0, 40, 40, 0, "equal within 1e-06: slopes of 40 heads\n"},
      {BLOOM("16"), 8, 16, 16, 0, "equal within 1e-06: slopes of heads 8-15 of 16\n"},
      {BLOOM("12"), 4, 8, 12, 0, "equal within 1e-06: slopes of heads 4-7 of 12\n"},
      {BLOOM("16"), 0, 16, 8, 1, "likely cause: B is slopes of 8 heads, twice: numbered within the rank\n"},
      {BLOOM("40"), 0, 40, 10, 1, "likely cause: B is slopes of 10 heads, 4 times: numbered within the rank\n"},
      {BLOOM("40"), 0, 20, 20, 1, "likely cause: B is slopes of 20 heads: numbered within the rank\n"},
      {BLOOM("12"), 0, 5, 5, 2,
       "has 12 slopes, one a head: the 5 numbers of B are neither these nor those of one rank\n"},
      {BLOOM("12"), 0, 24, 24, 2, "the 24 numbers of B are neither"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    write_file("bloom.json", cases[i].heads);
    write_slopes("slopes.json", cases[i].begin, cases[i].end, cases[i].of);
    expect("bloom.json", "slopes.json", NULL, cases[i].status, cases[i].words);
  }
  expect("slopes.json", "bloom.json", NULL, 2, "the 24 numbers of A are neither");
}

/* Formulas of code that forgets that heads may be no power of two, and others that are near. */
Test(compare_dumps, slopes__of_other_formulas) {
  write_file("b12.json", BLOOM("12"));
  write_file("b20.json", BLOOM("20"));
  write_file("b8.json", BLOOM("8"));
  write_powers("s.json", 12, 1, 12);
  expect("b12.json", "s.json", NULL, 1, "likely cause: B is 2^(-8(i+1)/12): Press's formula without the split at 8\n");
  expect("s.json", "b12.json", NULL, 1, "likely cause: A is 2^(-8(i+1)/12): Press's formula without the split at 8\n");
  write_powers("s.json", 20, 1, 20);
  expect("b20.json", "s.json", NULL, 1, "likely cause: B is 2^(-8(i+1)/20): Press's formula without the split at 16\n");
  write_powers("s.json", 20, 1, 32);
  expect("b20.json", "s.json", NULL, 1, "B is 2^(-8(i+1)/32): the first 20 slopes of 32 heads, where Press takes ");
  write_powers("s.json", 20, 1, 16);
  expect("b20.json", "s.json", NULL, 1, "B is 2^(-8(i+1)/16) for all 20 heads: Press's formula without what it has ");
  write_powers("s.json", 8, 0, 8);
  expect("b8.json", "s.json", NULL, 1, "likely cause: B is 2^(-8 i/8): heads counted from 0\n");
  write_powers("s.json", 8, -8, -8);
  expect("b8.json", "s.json", NULL, 1, "slopes: 8 of 8 heads differ; most in head 0: A 0.5, B 0.00390625 nats/token\n");
  expect("b8.json", "s.json", NULL, 1, "likely cause: B is A's slopes, the last head first\n");
}

/* Parameters of the recipe, and dialects. */
Test(compare_dumps, slopes__of_other_settings) {
  double slopes[8];
  for (size_t h = 0; h < RS_COUNT(slopes); h++) slopes[h] = 2 * slope(h, 8);
  write_list("s.json", slopes, RS_COUNT(slopes));
  write_file("b8.json", BLOOM("8"));
  result got = run(&(command){.arguments = {"compare", "{name: alibi, slope_factor: 2}", "s.json", "--hf", "b8.json"}});
  cr_expect(got.status == 0 && strstr(got.out, "equal within 1e-06: slopes of 8 heads\n"), "%s%s", got.out, got.err);
  result_clear(&got);
  write_slopes("s.json", 0, 8, 8);
  got = run(&(command){.arguments = {"compare", "{name: alibi, slope_factor: 2}", "s.json", "--hf", "b8.json"}});
  cr_expect(got.status == 1 && strstr(got.out, "likely cause: B is A with slope_factor: 1 (the default; A has 2)\n"),
            "%s%s", got.out, got.err);
  result_clear(&got);
  got =
      run(&(command){.arguments = {"compare", "{name: alibi, slope_factor: 2}", "s.json", "--hf", "b8.json", "--csv"}});
  cr_expect_str_eq(got.out, "head,slope_a_nats_per_token,slope_b_nats_per_token\n0,1,0.5\n");
  result_clear(&got);
  got = run(
      &(command){.arguments = {"compare", "{name: alibi, slope_factor: 2}", "s.json", "--hf", "b8.json", "--json"}});
  cr_expect(strstr(got.out, "\"differs\": [\"slopes\"]") && strstr(got.out, "\"slope_a_nats_per_token\": 1,"), "%s",
            got.out);
  result_clear(&got);
}
