/* test_solve_setting.c: `ropescope solve setting` as its user meets it. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../say.h"
#include "io/io.h"

static char *say(const char *arguments, int *status) {
  return say_line("\"$ROPESCOPE\" solve setting", arguments, status);
}

static void expect_words(const char *arguments, const char *words) {
  int got;
  char *out = say(arguments, &got);
  cr_expect(got == 2 && strcmp(out, words) == 0, "%s: status %d: %s", arguments, got, out);
  free(out);
}

static void expect_rows(const char *arguments, const char *const *rows) {
  int status;
  char *out = say(arguments, &status);
  cr_expect_eq(status, 0, "%s: %s", arguments, out);
  for (; *rows != NULL; rows++) cr_expect_not_null(strstr(out, *rows), "%s: %s\nlacks %s", arguments, out, *rows);
  free(out);
}

#define LLAMA2 " --model llama-2-7b "

Test(solve_setting, table__advice__and_config) {
  expect_rows("--length 32k" LLAMA2,
              (const char *[]){
                  "advice     try {name: self_extend}, or read the last 4096 tokens alone; expected loss minus "
                  "that of those tokens alone: ",
                  "; no config.json can express it, and the first recipe that one can is {name: yarn, factor: 8}\n",
                  "\ntarget     32768 tokens, 8 times the 4096 that it reads as it is; llama-2-7b: base "
                  "10000, 128 of 128 dims turn\n",
                  "         *  {name: yarn, factor: 8}\n", "  yes       {name: rerope}\n",
                  "         *  {name: pi, factor: 8}\n", "         *  {name: rope}, as it is\n", " no evidence  ",
                  "[0, 0] ", "window: the last 4096 tokens alone\n", "\nleft out   string: ",
                  "\norder      what is published for the length, then recipes that "
                  "bend the map of positions",
                  "\nloss       expected loss minus that of a window", "\nconfig     of rank 4, for hf5\n{\n",
                  "\"rope_type\": \"yarn\"", "\"factor\": 8,", NULL});
  expect_rows("--length 32k --for llamacpp" LLAMA2,
              (const char *[]){"for llamacpp\n--rope-scaling yarn", "--rope-scale 8",
                               "note: llama.cpp's server caps a slot at the trained length", NULL});
}

/* A model whose file extends it is extended by that recipe alone, or kept as it is. */
/* A model whose file extends it is kept, or extended by that recipe alone. */
Test(solve_setting, published_recipe__is_kept_or_raised) {
  expect_rows(
      "--length 256k --model llama-3.1-8b",
      (const char *[]){"advice     read the last 131072 tokens alone; next comes {name: llama3, factor: 8}, the "
                       "model as it is; expected loss minus that of those tokens alone: ",
                       "2 times the 131072 that it reads as it is", "     2     -    no evidence       0 ",
                       "{name: llama3, factor: 16}\n", "{name: llama3, factor: 8}, as it is\n", NULL});
  expect_rows(
      "--length 64k --model llama-3.1-8b",
      (const char *[]){"advice     keep what the file says: 65536 tokens are within the 131072 that llama-3.1-8b "
                       "publishes its recipe for\n",
                       NULL});
  expect_rows(
      "--length 4k" LLAMA2,
      (const char *[]){"advice     keep what the file says: 4096 tokens are within the 4096 that llama-2-7b was "
                       "trained at\n",
                       NULL});
  expect_rows("--length 64k --model mistral-7b",
              (const char *[]){"advice     these layers of mistral-7b (sliding_attention) see 4096 tokens whatever the "
                               "context, and training had 8192: no setting is called for\n",
                               NULL});
  expect_rows("--length 64k --json --model llama-3.1-8b",
              (const char *[]){"\"advice\": \"keep what the file says: ", NULL});
  /* Less than half an octave beyond its length nothing is foretold. */
  expect_rows("--length 5k" LLAMA2, (const char *[]){"alone: no evidence; no config.json", NULL});
}

#define MIXED                                                                                                          \
  "{\"model_type\": \"gemma3_text\", \"hidden_size\": 64, \"num_attention_heads\": 4, \"head_dim\": 16, "              \
  "\"num_hidden_layers\": 4, \"max_position_embeddings\": 4096, \"sliding_window\": 64, "                              \
  "\"sliding_window_pattern\": 2}"
#define NARROW(base, length)                                                                                           \
  "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_attention_heads\": 8, \"rope_theta\": " base                 \
  ", \"max_position_embeddings\": " length "}"
#define PARTIAL                                                                                                        \
  "{\"model_type\": \"qwen3_next\", \"hidden_size\": 64, \"num_attention_heads\": 4, \"head_dim\": 16, "               \
  "\"num_hidden_layers\": 4, \"max_position_embeddings\": 4096, \"full_attention_interval\": 2}"

/* Where nothing is to be done, where no config can say the best, which layers are meant, and what is not ranked. */
Test(solve_setting, every_outcome__has_its_words) {
  char folder[] = "/tmp/ropescope-setting-XXXXXX";
  cr_assert_not_null(mkdtemp(folder));
  cr_assert_eq(chdir(folder), 0);
  cr_assert_eq(rs_file_write("mixed.json", MIXED, strlen(MIXED), NULL), RS_OK);
  cr_assert_eq(rs_file_write("partial.json", PARTIAL, strlen(PARTIAL), NULL), RS_OK);
  cr_assert_eq(rs_file_write("round.json", NARROW("20.0", "4096"), strlen(NARROW("20.0", "4096")), NULL), RS_OK);
  cr_assert_eq(rs_file_write("short.json", NARROW("10000.0", "4"), strlen(NARROW("10000.0", "4")), NULL), RS_OK);
  expect_rows(
      "--length 32k --hf mixed.json",
      (const char *[]){"; no config.json can express it, and the first recipe that one can is {name: yarn, factor: 8}",
                       "\nlayers     full_attention (layers 1, 3), not sliding_attention (0, 2)\n",
                       "\nconfig     of rank 4, for hf5\n", NULL});
  expect_rows("--length 32k --hf mixed.json --json",
              (const char *[]){"\"layers\": \"full_attention\"", "\"config_rank\": 4,", "\"to\": \"hf5\"", NULL});
  expect_rows("--length 32k --hf partial.json --for llamacpp",
              (const char *[]){"\nleft out   p_rope: its ladder is that of a whole head, and the model turns a part\n",
                               " for llamacpp\n--rope-scaling ", "note: That 4 of 16 dims turn stands in the GGUF",
                               NULL});
  expect_rows("--length 32k --hf partial.json --for llamacpp --json",
              (const char *[]){"\"method\": \"p_rope\"", "\"to\": \"llamacpp\"", NULL});
  /* Where every pair went full circle in training, or none, no base keeps them within its angles: the model's. */
  expect_rows("--length 64k --hf round.json",
              (const char *[]){"*  {name: abf, rope_theta: 20}\n", "*  {name: p_rope}\n", NULL});
  expect_rows("--length 64k --hf short.json",
              (const char *[]){"*  {name: abf, rope_theta: 10000}\n", "{name: p_rope, rotary_fraction: 0}\n",
                               "\nleft out   critical_base: the critical base needs a train_length above 2 pi tokens",
                               NULL});
  cr_assert_eq(remove("mixed.json") + remove("partial.json") + remove("round.json") + remove("short.json"), 0);
  cr_assert_eq(chdir("/"), 0);
  cr_assert_eq(rmdir(folder), 0);
}

/* The fragment in the place of the file's keys is the recipe of the first line. */
Test(solve_setting, fragment__read_back__is_the_recipe) {
  char file[] = "/tmp/ropescope-setting-XXXXXX.json";
  int descriptor = mkstemps(file, 5), status;
  cr_assert_geq(descriptor, 0);
  close(descriptor);
  char *out = say("--length 32k --quiet" LLAMA2, &status), *fragment = strstr(out, "\n{\n"), line[256];
  cr_assert_not_null(fragment, "%s", out);
  FILE *config = fopen(file, "w");
  cr_assert_not_null(config);
  fprintf(config, "{\"model_type\": \"llama\", \"hidden_size\": 4096, \"num_attention_heads\": 32,%s", fragment + 2);
  fclose(config);
  free(out);
  snprintf(line, sizeof line, "%s '{name: yarn, factor: 8}' --hf %s --length 32k", file, file);
  out = say_line("\"$ROPESCOPE\" compare", line, &status);
  cr_expect_eq(status, 0, "%s", out);
  free(out);
  remove(file);
}

Test(solve_setting, json__is_what_the_table_says) {
  int status;
  rs_tree *tree;
  rs_err err = {0};
  char *out = say("--length 64k --json" LLAMA2, &status);
  cr_assert_eq(status, 0, "%s", out);
  cr_assert_eq(rs_json_read(out, strlen(out), "answer", &tree, &err), RS_OK, "%s", err.message);
  const rs_node *recipes = rs_node_get(&tree->root, "recipes");
  cr_expect_gt(recipes->count, 15);
  cr_expect_str_eq(rs_node_get(&tree->root, "reads_tokens")->text, "4096");
  double last = 0;
  for (size_t i = 0; i < recipes->count; i++) {
    const rs_node *c = &recipes->items[i], *increase = rs_node_get(c, "loss_increase_nats");
    double place = atof(rs_node_get(c, "needle_damage")->text) + (rs_node_get(c, "bends")->text[0] == 't' ? 0 : 100);
    cr_expect_geq(place, last * (1 - 1e-11));
    last = place;
    if (atof(rs_node_get(c, "models")->text) == 0) continue;
    cr_expect_lt(atof(rs_node_get(c, "low_nats")->text), atof(increase->text));
    cr_expect_gt(atof(rs_node_get(c, "high_nats")->text), atof(increase->text));
    cr_expect_not_null(rs_node_get(c, "from")->text);
  }
  cr_expect_not_null(rs_node_get(rs_node_get(&tree->root, "config"), "fragment"));
  rs_tree_free(tree);
  free(out);
}

Test(solve_setting, wrong_use__status_2_and_a_hint) {
  expect_words("--length 32k", "ropescope: solve setting needs --hf or --model, which is to be served\n");
  expect_words(LLAMA2, "ropescope: solve setting needs --length, the context to be served, as in --length 256k\n");
  expect_words("--length 32k --criterion ood" LLAMA2,
               "ropescope: solve setting takes no --criterion: it ranks by one rule (docs/solve.md)\n");
  expect_words("--length 32k --method yarn" LLAMA2,
               "ropescope: solve setting takes no --method: it ranks all of them\n");
  expect_words("--length 32k --base 1e6" LLAMA2, "ropescope: solve setting takes no --base: it is the model's\n");
  expect_words("--length 32k --head-dim 64" LLAMA2,
               "ropescope: solve setting takes no --head-dim: it is the model's\n");
  expect_words("--length 32k --hf x" LLAMA2, "ropescope: solve setting takes one model: keep --hf or --model\n");
  expect_words("--length 32k --for xyzzy" LLAMA2,
               "ropescope: no consumer xyzzy (there are: hf4, hf5, vllm, sglang, llamacpp, "
               "gguf-metadata, megatron, mlx)\n");
}

Test(solve_evidence, table__and_json) {
  int status;
  char *out = say_line("\"$ROPESCOPE\" solve evidence", "", &status);
  cr_expect_eq(status, 0, "%s", out);
  cr_expect_not_null(strstr(out, "\nbend the map, then needle_damage "), "%s", out);
  cr_expect_not_null(strstr(out, "\nin the interval, of rows of each group: "), "%s", out);
  free(out);
  out = say_line("\"$ROPESCOPE\" solve evidence --json", "", &status);
  rs_tree *tree;
  rs_err err = {0};
  cr_assert_eq(rs_json_read(out, strlen(out), "answer", &tree, &err), RS_OK, "%s", err.message);
  const rs_node *list = rs_node_get(&tree->root, "predictors");
  cr_expect_eq(list->count, 8);
  double share = atof(rs_node_get(&list->items[0], "interval_coverage")->text);
  cr_expect(share > 0 && share <= 1);
  cr_expect_not_null(rs_node_get(rs_node_get(&list->items[0], "pairs_in_order_of"), "SmolLM2"));
  rs_tree_free(tree);
  free(out);
  out = say_line("\"$ROPESCOPE\" solve evidence --length 32k", "", &status);
  cr_expect(status == 2 && strcmp(out, "ropescope: solve evidence takes no other option than --json\n") == 0, "%s",
            out);
  free(out);
  out = say_line("\"$ROPESCOPE\" solve evidence --text ids.npy", "", &status);
  cr_expect(status == 2 && strcmp(out, "ropescope: solve: --text goes with setting --checkpoint\n") == 0, "%s", out);
  free(out);
}
