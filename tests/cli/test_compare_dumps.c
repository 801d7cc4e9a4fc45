/* test_compare_dumps.c: what `ropescope compare` says of a list of numbers beside a model whose layers turn in several
 * ways: which of them it is of. */
#include <math.h>

#include "../fixtures/program.h"

#define WINDOWED(type, more)                                                                                           \
  "{\"model_type\": \"" type "\", \"hidden_size\": 64, \"num_attention_heads\": 4, \"head_dim\": 16, "                 \
  "\"num_hidden_layers\": 4, \"max_position_embeddings\": 4096, \"sliding_window\": 64, " more "}"
#define TYPES                                                                                                          \
  "\"layer_types\": [\"sliding_attention\", \"sliding_attention\", \"sliding_attention\", \"full_attention\"], "

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
