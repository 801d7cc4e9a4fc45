/* ropescope explain: its sentences, of four pairs whose frequencies are 1, 0.1, 0.01 and 0.001, by hand. */
#include <criterion/criterion.h>
#include <string.h>

#include "../fixtures/program.h"
#include "io/io.h"

#define SMALL(length, more)                                                                                            \
  "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_attention_heads\": 8, \"num_hidden_layers\": 2, "            \
  "\"rope_theta\": 10000.0, \"max_position_embeddings\": " length more "}"
#define SCALED(length, rope) SMALL(length, ", \"rope_scaling\": {" rope "}")
#define YARN SCALED("16384", "\"rope_type\": \"yarn\", \"factor\": 4.0, \"original_max_position_embeddings\": 4096")
#define FIRST "{name: yarn, factor: 4} with base 10000 turns 4 pairs of layers 0-1 (full_attention).\n"
/* Pair 2 turns by 0.00375 and pair 3 by 0.00075 less than plain RoPE's; (d m)^2 / 2 over m, of eight keys: 36 d^2 / 2;
 * over the sum of 1/m, 2.71786, and 4 pairs. */
#define PRICE                                                                                                          \
  "Inputs of the trained length pay for it: keys 1 to 8 tokens back are turned otherwise than by plain RoPE, 1 - cos " \
  "= 2.42e-05 on average.\n"
#define DIMS "8 of 8 dims turn; pair j is dims j and j + 4 of these (half_split), its exponent 2j / 8, all dims.\n"

TestSuite(explain_command, .init = enter_folder, .fini = leave_folder);

/* What is said of the length, and (pair NULL: not) of a pair. */
static void says(const char *json, const char *length, const char *pair, const char *want) {
  write_file("config.json", json);
  command c = {.arguments = {"explain", ".", "--length", length, pair != NULL ? "--pair" : NULL, pair}};
  result got = run(&c);
  cr_expect_eq(got.status, 0, "%s", got.err);
  cr_expect_str_eq(got.out, want, "got:  %s\nwant: %s", got.out, want);
  cr_expect_str_eq(got.err, "");
  result_clear(&got);
}

/* The same, where only some of the sentences are asked for. */
static void holds(const char *json, const char *length, const char *const *sentences, const char *missing) {
  write_file("config.json", json);
  command c = {.arguments = {"explain", "config.json", "--length", length}};
  result got = run(&c);
  for (size_t i = 0; sentences[i] != NULL; i++)
    cr_expect_not_null(strstr(got.out, sentences[i]), "%s\nlacks %s", got.out, sentences[i]);
  if (missing != NULL) cr_expect_null(strstr(got.out, missing), "%s\nhas %s", got.out, missing);
  result_clear(&got);
}

/* 0.1 ln 4 + 1 = 1.13863. Pair 3 makes 4.096 / 2 pi = 0.6519 turns in 4096 tokens, and 32767 * 0.00025 / 2 pi = 1.304
 * here; pair 2 is 0.00625, half way between 0.01 and 0.0025. */
Test(explain_command, yarn__a_length_and_its_pairs) {
  static const char beyond[] = FIRST
      "32768 tokens are 8 times the trained length, 4096, and beyond the 16384 that the file is for.\n" DIMS
      "s is 4 at every length, so short inputs are scaled, too.\n"
      "Pair 3 turns past what plain RoPE turns it to in 4096 tokens, where it does not go full circle.\n" PRICE
      "cos and sin are multiplied by 1.13863, so logits by 1.29648.\n"
      "Here angles of float32 are up to 0.00017 rad off, positions held in bfloat16 up to 64 tokens, in float16 up "
      "to 8.\n";
  static const char *const pairs[] = {
      "Pair 0 turns by 1 rad a token, a wave of 6.28319 tokens; plain RoPE's is 6.28319 long.\n"
      "It is dims 0 and 4 of the 8; plain RoPE's frequency is 10000^(-0/8).\n"
      "It is kept: it turns as by plain RoPE.\n"
      "By plain RoPE it makes 651.9 turns in the 4096 tokens of training, so every angle is known; here it makes 5215 "
      "in 32767, none of them new.\n",
      NULL,
      "Pair 2 turns by 0.00625 rad a token, a wave of 1005.31 tokens; plain RoPE's is 628.319 long.\n"
      "It is dims 2 and 6 of the 8; plain RoPE's frequency is 10000^(-4/8).\n"
      "It is blended, between kept and divided by s = 4: 1.6 times slower than by plain RoPE.\n"
      "By plain RoPE it makes 6.519 turns in the 4096 tokens of training, so every angle is known; here it makes 32.59 "
      "in 32767, none of them new.\n",
      "Pair 3 turns by 0.00025 rad a token, a wave of 25132.7 tokens; plain RoPE's is 6283.19 long.\n"
      "It is dims 3 and 7 of the 8; plain RoPE's frequency is 10000^(-6/8).\n"
      "It is divided: 4 times slower than by plain RoPE, which is s.\n"
      "By plain RoPE it makes 0.6519 turns in the 4096 tokens of training; here it makes 1.304 in 32767, 0.6519 of "
      "them past training.\n"};
  says(YARN, "32k", NULL, beyond);
  for (size_t j = 0; j < RS_COUNT(pairs); j++) {
    char want[2048];
    if (pairs[j] == NULL) continue;
    snprintf(want, sizeof want, "%s%s", beyond, pairs[j]);
    says(YARN, "32k", (const char[]){(char)('0' + j), '\0'}, want);
  }
  says(YARN, "4096", NULL,
       FIRST
       "4096 tokens are within the trained length, 4096, and within the 16384 that the file is for.\n" DIMS
       "s is 4 at every length, so short inputs are scaled, too.\n"
       "No pair turns past what plain RoPE turns it to in 4096 tokens.\n" PRICE
       "cos and sin are multiplied by 1.13863, so logits by 1.29648.\n"
       "Here angles of float32 are up to 2.1e-05 rad off, positions held in bfloat16 up to 8 tokens, in float16 up "
       "to 1.\n");
}

/* s = 4 * 8192 / 4096 - 3. */
Test(explain_command, dynamic_rules__say_where_they_change) {
  const char *dynamic = SCALED("4096", "\"rope_type\": \"dynamic\", \"factor\": 4.0");
  holds(dynamic, "8k",
        (const char *const[]){"8192 tokens are 2 times the trained length, 4096, and within the 16384",
                              "The rule is dynamic: s is 5 at 8192 tokens, 1 at 4096; keys that were cached at another "
                              "length do not fit.\n",
                              NULL},
        "at every length");
  const char *longrope = SCALED("16384", "\"rope_type\": \"longrope\", \"original_max_position_embeddings\": 4096, "
                                         "\"short_factor\": [1, 1, 1, 1], \"long_factor\": [1, 1.5, 2, 0.5]");
  holds(longrope, "4096",
        (const char *const[]){"\nshort_factor is in force: up to 4096 tokens short_factor divides the frequencies, "
                              "past them long_factor.\n",
                              NULL},
        "s is");
  holds(longrope, "4097", (const char *const[]){"\nlong_factor is in force: ", NULL}, "s is");
}

/* A window of 64 tokens reaches 63 back; plain RoPE in 300 tokens turns pairs 2 and 3 by less than a turn. */
Test(explain_command, plain_rope__and_windows) {
  holds(SMALL("300", ""), "1k",
        (const char *const[]){"2 of 4 pairs, 2 to 3, turn past what plain RoPE turns them to in 300 tokens, where they "
                              "do not go full circle.\n",
                              NULL},
        "s is");
  holds(SMALL("300", ", \"sliding_window\": 64, \"layer_types\": [\"sliding_attention\", \"sliding_attention\"]"), "1k",
        (const char *const[]){"These layers see keys up to 63 tokens back alone.\nNo pair turns past", NULL}, NULL);
}

/* GPT-NeoX's and GPT-J's dims, Gemma 4's denominator and Qwen's sections. */
Test(explain_command, dims_and_sections__are_told) {
  holds(SMALL("300", ", \"partial_rotary_factor\": 0.5"), "65k",
        (const char *const[]){
            "\n4 of 8 dims turn; pair j is dims j and j + 2 of these (half_split), its exponent 2j / 4, "
            "the dims that turn, not the head's.\n",
            NULL},
        "Of pictures");
  holds("{\"model_type\": \"gptj\", \"n_embd\": 64, \"n_head\": 8, \"n_layer\": 2, \"n_positions\": 2048, "
        "\"rotary_dim\": 4}",
        "257",
        (const char *const[]){
            "\n4 of 8 dims turn; pair j is dims 2j and 2j + 1 of these (interleaved), its exponent 2j / 4", NULL},
        NULL);
  holds(SMALL("300", ", \"rope_parameters\": {\"rope_type\": \"proportional\", \"rope_theta\": 10000.0, "
                     "\"partial_rotary_factor\": 0.5}"),
        "258",
        (const char *const[]){
            " with base 10000 turns 2 pairs of layers ",
            "\n4 of 8 dims turn; pair j is dims j and j + 4 of the head (half_split), its exponent 2j / 8, "
            "the whole head.\n",
            NULL},
        NULL);
  const char *blocks = "{\"model_type\": \"qwen2_vl\", \"hidden_size\": 64, \"num_attention_heads\": 4, "
                       "\"num_hidden_layers\": 2, \"max_position_embeddings\": 300, \"rope_theta\": 10000.0, "
                       "\"rope_scaling\": {\"type\": \"mrope\", \"mrope_section\": [2, 3, 3]}}";
  holds(blocks, "300",
        (const char *const[]){
            "\nOf pictures, time, rows and columns are read by 2, 3 and 3 pairs, in blocks: 0 to 1 time, 2 "
            "to 4 rows, 5 to 7 columns.\n",
            NULL},
        NULL);
  const char *alternate =
      "{\"model_type\": \"qwen3_vl_text\", \"hidden_size\": 64, \"num_attention_heads\": 4, "
      "\"head_dim\": 16, \"num_hidden_layers\": 2, \"max_position_embeddings\": 300, "
      "\"rope_theta\": 10000.0, \"rope_scaling\": {\"rope_type\": \"default\", \"mrope_section\": [4, "
      "2, 2], \"mrope_interleaved\": true}}";
  holds(alternate, "300",
        (const char *const[]){
            "\nOf pictures, time, rows and columns are read by 4, 2 and 2 pairs, which alternate: 0 time, "
            "1 rows, 2 columns, 3 time, 4 rows, 5 columns, ...\n",
            NULL},
        NULL);
}

/* Half of the numbers' distance: 2^(16 - 7) and 2^(16 - 10) below 131072, and 65520 is infinite in float16. The dims of
 * a pair stand side by side in GPT-J's heads. */
Test(explain_command, short_floats_and_dims__of_a_length) {
  holds(SMALL("300", ""), "65k",
        (const char *const[]){"positions held in bfloat16 up to 256 tokens, and float16 ends", NULL}, NULL);
  holds(SMALL("300", ""), "63k", (const char *const[]){"in bfloat16 up to 128 tokens, in float16 up to 16.\n", NULL},
        NULL);
  write_file("config.json",
             "{\"model_type\": \"gptj\", \"n_embd\": 64, \"n_head\": 4, \"n_layer\": 2, \"rotary_dim\": 8, "
             "\"n_positions\": 2048}");
  command c = {.arguments = {"explain", ".", "--length", "2k", "--pair", "3"}};
  result got = run(&c);
  cr_expect_not_null(strstr(got.out, "It is dims 6 and 7 of the 8 that turn, of 16; plain RoPE's frequency is "
                                     "10000^(-6/8).\n"),
                     "%s%s", got.out, got.err);
  result_clear(&got);
}

/* Ministral 3: 1 + 0.1 ln(1 + floor(8192 / 4096)). */
Test(explain_command, temperature__of_the_last_token) {
  holds(SMALL("16384", ", \"rope_parameters\": {\"rope_type\": \"default\", \"rope_theta\": 10000.0, "
                       "\"llama_4_scaling_beta\": 0.1, \"original_max_position_embeddings\": 4096}"),
        "8193",
        (const char *const[]){"Logits are scaled by position (ministral): those of the last token by 1.10986.\n", NULL},
        NULL);
}

Test(explain_command, mixed_layers__say_which_they_are) {
  write_file("config.json", SMALL("300", ", \"sliding_window\": 64, \"rope_local_base_freq\": 100.0, "
                                         "\"layer_types\": [\"sliding_attention\", \"full_attention\"]"));
  command chosen = {.arguments = {"explain", ".", "--length", "1k"}};
  command local = {.arguments = {"explain", ".", "--length", "1k", "--layers", "sliding_attention"}};
  result got = run(&chosen);
  cr_expect_not_null(strstr(got.out, "with base 10000 turns 4 pairs of layers 1 (full_attention).\n"), "%s", got.out);
  cr_expect_not_null(strstr(got.err, "not sliding_attention (0); --layers chooses"), "%s", got.err);
  result_clear(&got);
  got = run(&local);
  cr_expect_not_null(strstr(got.out, "with base 100 turns 4 pairs of layers 0 (sliding_attention).\n"), "%s", got.out);
  cr_expect_str_eq(got.err, "");
  result_clear(&got);
}

/* What is said of one pair: pairs that a list turns faster, that stand still, and those of rows and columns. */
Test(explain_command, pairs__of_every_fate) {
#define LISTS                                                                                                          \
  SCALED("128", "\"rope_type\": \"longrope\", \"short_factor\": [1, 1, 1, 1], \"long_factor\": [1, 0.2, 1, 1], "       \
                "\"original_max_position_embeddings\": 64")
#define ONE_SLOW                                                                                                       \
  SCALED("128", "\"rope_type\": \"longrope\", \"short_factor\": [1, 1, 1, 1], \"long_factor\": [1, 1, 100, 1], "       \
                "\"original_max_position_embeddings\": 48")
#define HALF                                                                                                           \
  SMALL("4096", ", \"rope_parameters\": {\"rope_type\": \"proportional\", \"rope_theta\": 10000.0, "                   \
                "\"partial_rotary_factor\": 0.5}")
#define SECTIONS                                                                                                       \
  "{\"model_type\": \"qwen2_vl\", \"hidden_size\": 64, \"num_attention_heads\": 8, \"num_hidden_layers\": 2, "         \
  "\"max_position_embeddings\": 4096, \"rope_theta\": 10000.0, \"rope_scaling\": {\"type\": \"mrope\", "               \
  "\"mrope_section\": [2, 1, 1]}}"
  static const struct {
    const char *json, *length, *pair, *says[3];
  } cases[] = {
      {LISTS,
       "100",
       "1",
       {"\nPair 1 turns by 0.5 rad a token", "\nIt is altered: 5 times faster than by plain RoPE.\n"}},
      {ONE_SLOW,
       "128",
       "2",
       {"\n2 of 4 pairs, among 1 to 3, turn past", "\nIt is altered: 100 times slower than by plain"}},
      {HALF, "8k", "3", {"\nPair 3 does not turn.\n"}},
      {HALF,
       "8k",
       "1",
       {"\nIt is kept: it turns as by plain RoPE.\n", "so every angle is known; here it makes 130.4 in"}},
      {SECTIONS, "1k", "0", {"\nOf pictures it reads the time.\n"}},
      {SECTIONS, "1k", "2", {"\nOf pictures it reads the row.\n"}},
      {SECTIONS,
       "1k",
       "3",
       {"0 to 1 time, 2 rows, 3 columns.\n", "\nOf pictures it reads the column.\n",
        "By plain RoPE it makes 0.6519 "
        "turns in the 4096 tokens of training; here it makes 0.1628 in 1023"}},
      {SCALED("4096", "\"rope_type\": \"linear\", \"factor\": 1"),
       "8k",
       "0",
       {"\n8192 tokens are 2 times the trained"}},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    write_file("config.json", cases[i].json);
    command c = {.arguments = {"explain", ".", "--length", cases[i].length, "--pair", cases[i].pair}};
    result got = run(&c);
    cr_expect_eq(got.status, 0, "%s", got.err);
    for (size_t k = 0; k < RS_COUNT(cases[i].says) && cases[i].says[k] != NULL; k++)
      cr_expect_not_null(strstr(got.out, cases[i].says[k]), "no %s in\n%s", cases[i].says[k], got.out);
    if (i == RS_COUNT(cases) - 1)
      cr_expect_null(strstr(got.out, "at every length"), "s is 1, which nobody asks about:\n%s", got.out);
    result_clear(&got);
  }
}

/* Layers that choose keys, and such as have none. */
Test(explain_command, text__says_what_layers_see) {
  static const char hybrid[] =
      "{\"model_type\": \"kimi_linear\", \"hidden_size\": 64, \"num_attention_heads\": 4, \"num_hidden_layers\": 3, "
      "\"model_max_length\": 64, \"mla_use_nope\": true, \"linear_attn_config\": {\"full_attn_layers\": [3], "
      "\"kda_layers\": [1, 2]}}";
  static const char indexed[] =
      "{\"model_type\": \"deepseek_v32\", \"hidden_size\": 64, \"num_attention_heads\": 4, \"num_hidden_layers\": 2, "
      "\"max_position_embeddings\": 64, \"rope_theta\": 10000.0, \"qk_rope_head_dim\": 8, \"qk_nope_head_dim\": 8, "
      "\"index_topk\": 16, \"index_head_dim\": 12}";
  holds(hybrid, "32",
        (const char *const[]){"The last one attends no key, but a state, in layers 0-1; all 32 keys in layers 2.\n",
                              NULL},
        NULL);
  holds(indexed, "32",
        (const char *const[]){"The last one attends 16 chosen keys in layers 0-1.\n",
                              "q and k turn the first 8 of 12 dims in halves", "dims 2j and 2j + 1", NULL},
        NULL);
  holds(YARN, "32", (const char *const[]){"32 tokens", NULL}, "The last one attends");
}

Test(explain_command, json__holds_every_pair_or_one) {
  write_file("config.json", YARN);
  for (size_t i = 0; i < 2; i++) {
    command c = {.arguments = {"explain", ".", "--length", "32k", "--json", i > 0 ? "--pair" : NULL, "3"}};
    result got = run(&c);
    rs_tree *tree;
    cr_assert_eq(rs_json_read(got.out, strlen(got.out), "json", &tree, NULL), RS_OK, "%s%s", got.out, got.err);
    const rs_node *pairs = rs_node_get(&tree->root, "pairs");
    const rs_node *last = &pairs->items[pairs->count - 1];
    cr_expect_eq(pairs->count, i > 0 ? 1 : 4);
    cr_expect_str_eq(rs_node_get(&tree->root, "recipe")->text, "{name: yarn, factor: 4}");
    cr_expect_str_eq(rs_node_get(&tree->root, "farthest_key_tokens")->text, "32767");
    cr_expect_str_eq(rs_node_get(&tree->root, "scale")->text, "4");
    cr_expect_str_eq(rs_node_get(&tree->root, "pairs_out_of_range")->text, "1");
    cr_expect_str_eq(rs_node_get(last, "pair")->text, "3");
    cr_expect_str_eq(rs_node_get(last, "fate")->text, "divided");
    cr_expect_str_eq(rs_node_get(last, "out_of_range")->text, "true");
    cr_expect_str_eq(rs_node_get(last, "trained_rad")->text, "4.096");
    cr_expect_str_eq(rs_node_get(&tree->root, "float16_position_error_tokens")->text, "8");
    rs_tree_free(tree);
    result_clear(&got);
  }
  command far = {.arguments = {"explain", ".", "--length", "70000", "--json"}};
  result got = run(&far);
  cr_expect_not_null(strstr(got.out, "\"float16_position_error_tokens\": null,"), "%s", got.out); /* it ends at 65504 */
  result_clear(&got);
}

/* Where none is given it is the length that the file is for. */
Test(explain_command, no_length__is_the_one_of_the_file) {
  write_file("config.json", YARN);
  command without = {.arguments = {"explain", "."}}, with = {.arguments = {"explain", ".", "--length", "16k"}};
  result got = run(&without), want = run(&with);
  cr_expect_eq(got.status, 0, "%s", got.err);
  cr_expect_str_eq(got.out, want.out);
  result_clear(&got);
  result_clear(&want);
}

/* ALiBi's slopes of 8 heads are 2^-1 to 2^-8; learned tables end; T5's buckets and no positions have every length. */
Test(explain_command, what_turns_nothing__is_told_without_pairs) {
#define UNTURNED(type, length)                                                                                         \
  "{\"model_type\": \"" type "\", \"hidden_size\": 64, \"num_attention_heads\": 8, \"num_hidden_layers\": 2" length "}"
  static const struct {
    const char *json, *length, *says[4];
  } cases[] = {
      {UNTURNED("mpt", ", \"max_seq_len\": 2048, \"attn_config\": {\"alibi\": true}"),
       "4097",
       {"{name: alibi} turns nothing in layers 0-1 (full_attention): no rotation; a penalty linear in distance",
        "\n4097 tokens are 2 times the trained length, 2048.\n",
        "\nThe key 4096 tokens back gets a bias from -2048 to -16 nats, by head.\n"}},
      {UNTURNED("bert", ", \"max_position_embeddings\": 512"),
       "1k",
       {"{name: learned} turns nothing", "\n1024 tokens are 2 times the trained length, 512.\n",
        "\nThere is no such length for it: learned: position 1023 is beyond the table of 512 rows.\n"}},
      {UNTURNED("bert", ", \"max_position_embeddings\": 512"),
       "512",
       {"\n512 tokens are within the trained length, 512.\n"}},
      {UNTURNED("t5", ", \"n_positions\": 512"), "4k", {"Its biases are learned, and not in this file.\n"}},
      {UNTURNED("jamba", ", \"max_position_embeddings\": 512"), "4k", {"only the causal mask tells order.\n"}},
      {UNTURNED("my_model", ", \"alibi\": true"),
       "100",
       {"\n100 tokens; the file does not say for how many it is.\n",
        "\nThe key 99 tokens back gets a bias from -49.5 to -0.386719 nats, by head.\n"}},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    holds(cases[i].json, cases[i].length, cases[i].says, i == 2 ? "no such length" : NULL);
    command c = {.arguments = {"explain", "config.json", "--json", "--length", cases[i].length}};
    result got = run(&c);
    rs_tree *tree;
    cr_assert_eq(rs_json_read(got.out, strlen(got.out), "json", &tree, NULL), RS_OK, "%s%s", got.out, got.err);
    cr_expect_eq(rs_node_get(&tree->root, "pairs")->count, 0);
    const rs_node *undefined = rs_node_get(&tree->root, "undefined"),
                  *least = rs_node_get(&tree->root, "least_bias_nats");
    cr_expect_eq(strstr(undefined->text, "beyond the table") != NULL, i == 1, "%s", undefined->text);
    if (i == 0) cr_expect_str_eq(least->text, "-2048");
    const char *lengths[] = {"2048", "512", "512", "512", "512", "null"}; /* trained, served */
    cr_expect_str_eq(rs_node_get(&tree->root, "trained_tokens")->text, lengths[i]);
    cr_expect_str_eq(rs_node_get(&tree->root, "served_tokens")->text, lengths[i]);
    rs_tree_free(tree);
    result_clear(&got);
  }
}

Test(explain_command, wrong_use__is_said) {
  static const struct {
    const char *arguments[6], *err;
    int status;
  } cases[] = {
      {{"explain"}, "explain needs a file, as in ropescope explain config.json --length 128k", 2},
      {{"explain", "--length", "1k"}, "explain needs a file", 2},
      {{"explain", "none.json", "--length", "1k"}, "none.json: cannot read: No such file", 2},
      {{"explain", "config.json", "--length", "1k", "--pair", "4"}, "--pair 4: there are pairs 0 to 3", 2},
      {{"explain", "config.json", "--length", "1k", "--pair", "-1"}, "--pair -1: ", 2},
      {{"explain", "bert.json", "--length", "1k", "--pair", "3"}, "--pair 3: learned turns no pairs", 2},
      {{"explain", "vit.json"}, "vit.json: says no length (--length chooses)", 2},
      {{"explain", "endless.json", "--length", "1k"}, "default: which length was it trained at?", 2},
      {{"explain", "empty.json", "--length", "1k"}, "empty.json:1:1: no attention geometry", 2},
  };
  write_file("config.json", YARN);
  write_file("endless.json", "{\"model_type\": \"my_model\", \"hidden_size\": 64, \"num_attention_heads\": 8}");
  write_file("bert.json", "{\"model_type\": \"bert\", \"hidden_size\": 64, \"num_attention_heads\": 8}");
  write_file("vit.json", "{\"model_type\": \"vit\", \"hidden_size\": 64, \"num_attention_heads\": 8}");
  write_file("empty.json", "{}");
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    command c = {0};
    for (size_t a = 0; a < 6 && cases[i].arguments[a] != NULL; a++) c.arguments[a] = cases[i].arguments[a];
    result got = run(&c);
    cr_expect_eq(got.status, cases[i].status, "%s", got.err);
    cr_expect_not_null(strstr(got.err, cases[i].err), "got:  %s\nwant: %s", got.err, cases[i].err);
    result_clear(&got);
  }
}
