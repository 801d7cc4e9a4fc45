/* test_compare_sides.c: what `ropescope compare` says of sides that have little in common: other layers, pairs that
 * turn on one side alone, lists of other lengths, heads of another number. */
#include "../fixtures/program.h"

#define HEAD(type) "{\"model_type\": \"" type "\", \"hidden_size\": 64, \"num_attention_heads\": 4, "
#define LENGTH "\"max_position_embeddings\": 4096, "
#define GEMMA(layers)                                                                                                  \
  HEAD("gemma3_text")                                                                                                  \
  LENGTH "\"head_dim\": 16, \"sliding_window\": 64, \"sliding_window_pattern\": 2, " layers "\"rope_scaling\": "       \
         "{\"rope_type\": \"linear\", \"factor\": 8}}"
#define PROPORTIONAL(share)                                                                                            \
  HEAD("gemma4_text")                                                                                                  \
  LENGTH "\"head_dim\": 16, \"global_head_dim\": 16, \"num_hidden_layers\": 2, \"sliding_window\": 512, "              \
         "\"layer_types\": [\"sliding_attention\", \"full_attention\"], \"rope_parameters\": {\"full_attention\": "    \
         "{\"rope_type\": \"proportional\", \"partial_rotary_factor\": " share ", \"rope_theta\": 1e4}, "              \
         "\"sliding_attention\": {\"rope_type\": \"default\", \"rope_theta\": 1e4}}}"
#define BLOOM(heads) "{\"model_type\": \"bloom\", \"n_head\": " heads ", \"hidden_size\": 64, \"seq_length\": 2048}"
#define LONGROPE(near, far, more)                                                                                      \
  HEAD("llama")                                                                                                        \
  LENGTH "\"rope_theta\": 1e4, \"original_max_position_embeddings\": 512, \"rope_scaling\": {\"rope_type\": "          \
         "\"longrope\", \"short_factor\": " near ", \"long_factor\": " far more "}}"
#define MROPE(section)                                                                                                 \
  HEAD("qwen2_vl")                                                                                                     \
  LENGTH "\"rope_theta\": 1e4, \"rope_scaling\": {\"type\": \"mrope\", \"mrope_section\": " section "}}"

static const char *const files[][2] = {
    {"g4.json", GEMMA("\"num_hidden_layers\": 4, ")},
    {"g6.json", GEMMA("\"num_hidden_layers\": 6, ")},
    {"g.json", GEMMA("")},
    {"next.json", HEAD("qwen3_next") LENGTH "\"head_dim\": 16, \"num_hidden_layers\": 4, "
                                            "\"full_attention_interval\": 2}"},
    {"qwen3.json", HEAD("qwen3") LENGTH "\"head_dim\": 16, \"num_hidden_layers\": 4}"},
    {"l6.json", HEAD("llama") LENGTH "\"num_hidden_layers\": 6}"},
    {"l.json", HEAD("llama") LENGTH "\"rope_theta\": 1e4}"},
    {"half.json", HEAD("llama") LENGTH "\"num_hidden_layers\": 6, \"partial_rotary_factor\": 0.5}"},
    {"smol.json", HEAD("smollm3") LENGTH "\"num_hidden_layers\": 4, \"no_rope_layers\": [1, 1, 1, 0]}"},
    {"smol2.json", HEAD("smollm3") LENGTH "\"num_hidden_layers\": 4, \"no_rope_layers\": [1, 1, 0, 1]}"},
    {"p25.json", PROPORTIONAL("0.25")},
    {"p50.json", PROPORTIONAL("0.5")},
    {"w32.json", HEAD("gemma3_text") LENGTH "\"head_dim\": 16, \"sliding_window\": 32, \"sliding_window_pattern\": 2, "
                                            "\"num_hidden_layers\": 4, \"rope_scaling\": {\"rope_type\": \"linear\", "
                                            "\"factor\": 8}}"},
    {"long1.json", LONGROPE("[1, 1, 1, 1, 1, 1, 1, 1]", "[1, 1, 1, 1, 1, 1, 1, 3]", "")},
    {"long2.json", LONGROPE("[1, 1, 1, 1, 1, 1, 1, 1]", "[1, 1, 1, 1, 1, 1, 1, 9]", "")},
    {"long3.json", LONGROPE("[1, 1, 1, 1, 1, 1, 1, 2]", "[1, 1, 1, 1, 1, 1, 1, 9]", ", \"factor\": 4")},
    {"b4.json", BLOOM("4")},
    {"b8.json", BLOOM("8")},
    {"m422.json", MROPE("[4, 2, 2]")},
    {"m224.json", MROPE("[2, 2, 4]")},
    {"d3.csv", "omega\n0.5\n0.25\n0.125\n"},
    {"d2.csv", "omega\n0.5\n0.25\n"},
    {"still.csv", "omega\n0\n0.25\n0.125\n"},
    {"d.json", "{\"inv_freq\": [0.5, 0.25, 0.125], \"attention_factor\": 1.5}"},
};

/* Six frequencies, and what nothing that is known makes of them. */
#define SIX "omega\n0.9\n0.5\n0.31\n0.1\n0.04\n0.013\n"

static const char *const lists[][2] = {
    {"six.csv", SIX},
    {"steeper.csv", "omega\n0.9\n0.45\n0.2511\n0.0729\n0.026244\n0.00767637\n"}, /* times 0.9^j */
    {"head.csv", "omega\n0.63\n0.365\n0.217\n0.1\n0.04\n0.013\n"},
    {"tail.csv", "omega\n0.63\n0.365\n0.217\n0.06\n0.024\n0.0078\n"},
    {"bend.csv", "omega\n0.9\n0.5\n0.2542\n0.083\n0.024\n0.0078\n"},
    {"still.csv", "omega\n0\n0.5\n0.31\n0.1\n0.04\n0.013\n"},
    {"still2.csv", "omega\n0\n0.55\n0.31\n0.1\n0.04\n0.013\n"},
    {"two.csv", "omega\n0.5\n0.2\n"},
    {"two2.csv", "omega\n0.45\n0.19\n"},
    {"two3.csv", "omega\n0.5\n0.19\n"},
};

static void enter(void) {
  enter_folder();
  for (size_t i = 0; i < RS_COUNT(files); i++) write_file(files[i][0], files[i][1]);
}

static void enter_lists(void) {
  enter_folder();
  for (size_t i = 0; i < RS_COUNT(lists); i++) write_file(lists[i][0], lists[i][1]);
}

TestSuite(compare_sides, .init = enter, .fini = leave_folder);

typedef struct compare_case {
  const char *arguments[5];
  int status;
  const char *says[6], *silent; /* what stdout holds, and what it lacks */
} compare_case;

static void expect_all(const compare_case *cases, size_t count) {
  for (size_t i = 0; i < count; i++) {
    command c = {.arguments = {"compare"}};
    for (size_t k = 0; k < RS_COUNT(cases[i].arguments); k++) c.arguments[k + 1] = cases[i].arguments[k];
    result got = run(&c);
    cr_expect_eq(got.status, cases[i].status, "%s %s: %s%s", c.arguments[1], c.arguments[2], got.out, got.err);
    for (size_t k = 0; k < RS_COUNT(cases[i].says) && cases[i].says[k] != NULL; k++)
      cr_expect_not_null(strstr(got.out, cases[i].says[k]), "%s %s: no \"%s\" in\n%s", c.arguments[1], c.arguments[2],
                         cases[i].says[k], got.out);
    if (cases[i].silent != NULL)
      cr_expect_null(strstr(got.out, cases[i].silent), "%s in\n%s", cases[i].silent, got.out);
    result_clear(&got);
  }
}

Test(compare_sides, layers_that_one_side_has) {
  static const compare_case cases[] = {
      {{"g4.json", "g6.json"},
       0,
       {"\nequal within 1e-06 in every kind of layers\nof full_attention, equal",
        "\nkinds of layers (A has 4 layers, B 6):\n  sliding_attention: equal\n  full_attention: equal\n"},
       "different"},
      {{"g4.json", "l6.json"},
       1,
       {"\ndifferent in sliding_attention, which A alone has; full_attention\n",
        "\n  sliding_attention in A, none in B: no such layers\n  full_attention: 8 frequencies differ, most at pair "
        "7: "},
       NULL},
      {{"l.json", "g.json"},
       1,
       {"\ndifferent in full_attention; sliding_attention, which B alone has\n",
        "\nkinds of layers:\n  full_attention: 8 frequencies differ",
        "\n  none in A, sliding_attention in B: no such layers\n"},
       NULL},
      {{"next.json", "next.json"},
       0,
       {"\nequal within 1e-06 in every layer\n", "\n  layers 0, 2: linear_attention: equal\n"},
       NULL},
      {{"next.json", "qwen3.json"},
       1,
       {"\ndifferent in layers 0, 2 (linear_attention in A, full_attention in B); layers 1, 3 (full_attention)\n",
        "\n  layers 0, 2: linear_attention in A, full_attention in B: A no attention, B {name: rope}\n",
        "\n  layers 1, 3: full_attention: other pairs turn\n", "\nfrequencies: A has 2 pairs, B has 8\n"},
       "distance"},
      {{"smol.json", "smol2.json"},
       1,
       {"\ndifferent in layers 2 (full_attention in A, full_attention_nope in B); layers 3 (full_attention_nope in A, "
        "full_attention in B)\nof full_attention, equal within 1e-06: frequencies of 8 pairs",
        "\n  layers 0-1: full_attention: equal\n",
        "\n  layers 2: full_attention in A, full_attention_nope in B: A {name: rope}, B {name: nope}\n"},
       "likely cause"},
      {{"g4.json", "next.json", "--json"},
       1,
       {"\"kind\": \"linear_attention\",\n        \"sees\": null,\n        \"recipe\": null\n", "\"equal\": false"},
       NULL},
      {{"g4.json", "l6.json", "--json"},
       1,
       {"\"layers\": [],\n      \"a\": {\n        \"kind\": \"sliding_attention\",\n        \"sees\": \"window 64\"",
        "\"b\": {\n        \"kind\": null,\n        \"sees\": null,\n        \"recipe\": null\n"},
       NULL},
  };
  expect_all(cases, RS_COUNT(cases));
}

/* Which layers are compared is said of the sides that have others, once where both have the same. */
Test(compare_sides, layers_that_are_chosen) {
#define CHOSEN(side)                                                                                                   \
  "\nlayers: " side " is full_attention (layers 1, 3), not sliding_attention (0, 2); --layers chooses\n"
  static const compare_case cases[] = {
      {{"g4.json", "{name: pi, factor: 4}"}, 1, {CHOSEN("A"), "\nof full_attention, equal"}, "layers: B"},
      {{"g4.json", "d3.csv"}, 1, {CHOSEN("A"), "\nof full_attention, nothing is equal\n"}, "layers: B"},
      {{"d3.csv", "g4.json"}, 1, {CHOSEN("B"), "\nof full_attention, nothing is equal\n"}, "layers: A"},
      {{"llama-2-7b", "g4.json"},
       1,
       {CHOSEN("B"), "\nhead_dim: A 128, B 16\n", "\nno known change explains the frequencies, head_dim\n"},
       "layers: A"},
  };
  expect_all(cases, RS_COUNT(cases));
}

/* Lists are lent as wholes, several settings together, and windows are no frequencies. */
Test(compare_sides, settings_that_one_side_has) {
  static const compare_case cases[] = {
      {{"long1.json", "long2.json"},
       1,
       {"\nlikely cause: B is A with long_factor: a list of 8 (A has another)\n",
        "\n  full_attention: 1 frequencies differ, most at pair 7: 66.7 %\n"},
       "short_factor, long_factor"},
      {{"long1.json", "long3.json"},
       1,
       {"\nlikely cause: B is A with the other side's short_factor, long_factor, factor\n",
        "most at pair 7: 66.7 %; attention factor\n"},
       "no known change"},
      {{"g4.json", "w32.json"},
       1,
       {"\ndifferent in layers 0, 2 (sliding_attention)\nof full_attention, equal",
        "\n  layers 0, 2: sliding_attention: A sees window 64, B window 32\n",
        "\n  layers 1, 3: full_attention: equal\n"},
       "likely cause"},
  };
  expect_all(cases, RS_COUNT(cases));
}

Test(compare_sides, pairs_that_one_side_has) {
#define COLUMNS "pair,axis_a,omega_a_rad_per_token,axis_b,omega_b_rad_per_token,ratio\n"
  static const compare_case cases[] = {
      {{"p25.json", "p50.json"},
       1,
       {"\nfrequencies: 2 of 8 pairs differ, from pair 2 to 3; pair 2 turns in B alone\n",
        "\n     2        0          0.1      -\n", "likely cause: B is A with rotary_fraction: 0.5 (A has 0.25)\n",
        "\n  layers 1: full_attention: other pairs turn\n"},
       NULL},
      {{"p50.json", "p25.json"},
       1,
       {"; most at pair 2: 100 %\n", "\n     2          0.1        0      0\n",
        "\n  layers 1: full_attention: 2 frequencies differ, most at pair 2: 100 %\n"},
       "alone"},
      {{"p25.json", "p50.json", "--csv"}, 1, {COLUMNS "0,t,1,t,1,1\n", "\n2,t,0,t,0.1,\n", "\n4,t,0,t,0,\n"}, NULL},
      {{"still.csv", "d3.csv"},
       1,
       {"; pair 0 turns in B alone\n", "\nshape of the difference: some pairs do not turn on one side\n"},
       "equal"},
      {{"d3.csv", "d2.csv"},
       1,
       {"\nfrequencies: A has 3 pairs, B has 2\nhead_dim: A 6, B 4\n", "likely cause: B is A with its first 2 pairs"},
       "distance"},
      {{"d3.csv", "d2.csv", "--csv"}, 1, {COLUMNS "0,,0.5,,0.5,1\n1,,0.25,,0.25,1\n2,,0.125,,,\n"}, NULL},
      {{"d2.csv", "m422.json", "--csv"}, 1, {COLUMNS "0,,0.5,t,1,2\n", "\n2,,,t,0.1,\n", "\n4,,,h,0.01,\n"}, NULL},
      {{"l6.json", "half.json"}, 1, {"\nequal within 1e-06: attention factor 1, softmax scale 0.25, pair "}, NULL},
  };
  expect_all(cases, RS_COUNT(cases));
}

Test(compare_sides, shapes_of_what_nothing_explains, .init = enter_lists) {
#define SHAPE "\nno known change explains the frequencies\nshape of the difference: "
  static const compare_case cases[] = {
      {{"six.csv", "steeper.csv"}, 1, {SHAPE "B / A is geometric: 1 times 0.9^j for pair j\n"}, NULL},
      {{"six.csv", "head.csv"}, 1, {SHAPE "B / A differs from 1 from pair 0 to pair 2 only\n"}, NULL},
      {{"six.csv", "tail.csv"}, 1, {SHAPE "B / A differs from 1 everywhere; from pair 3 on it is 0.6\n"}, NULL},
      {{"six.csv", "bend.csv"},
       1,
       {SHAPE "B / A differs from 1 from pair 2 to pair 5 only; from pair 4 on it is 0.6\n"},
       NULL},
      {{"still.csv", "still2.csv"}, 1, {SHAPE "some pairs do not turn on one side\n"}, NULL},
      {{"six.csv", "still.csv"}, 1, {SHAPE "some pairs do not turn on one side\n"}, NULL},
      {{"two.csv", "two2.csv"}, 1, {SHAPE "B / A differs from 1 everywhere\n"}, NULL},
      {{"two.csv", "two3.csv"}, 1, {SHAPE "B / A differs from 1 from pair 1 to pair 1 only\n"}, NULL},
  };
  expect_all(cases, RS_COUNT(cases));
}

Test(compare_sides, what_a_list_does_not_say) {
  static const compare_case cases[] = {
      {{"d.json", "d3.csv"},
       0,
       {"A  d.json: dump of 3 inverse frequencies\nB  d3.csv: dump of 3 inverse frequencies, without an attention "
        "factor\nequal within 1e-06: frequencies of 3 pairs\n"},
       NULL},
      {{"d.json", "d.json"}, 0, {"\nequal within 1e-06: frequencies of 3 pairs, attention factor 1.5\n"}, NULL},
      {{"d.json", "l.json"}, 1, {"\nattention factor on cos and sin: A 1.5, B 1\n"}, "softmax"},
      {{"--model", "llama-2-7b", "rope", "{name: rope, logit_scale: log_n}"},
       1,
       {"\nbeyond the frequencies: A none; B logit_scale=log_n\n"},
       NULL},
      {{"--model", "llama-2-7b", "{name: rope, logit_scale: log_n}", "rope"},
       1,
       {"\nbeyond the frequencies: A logit_scale=log_n; B none\n"},
       NULL},
      {{"m422.json", "m224.json"},
       1,
       {"\naxes: pairs read other axes (t, h, w)\n  pair       omega A       omega B  B / A  axes\n     2           "
        "0.1     "
        "      0.1      1  (t, h)\n",
        "\nno known change explains the axes\n"},
       "distance"},
  };
  expect_all(cases, RS_COUNT(cases));
}

/* Of heads of another number there is no place where they differ most. */
Test(compare_sides, biases) {
  static const compare_case cases[] = {
      {{"b4.json", "b8.json"}, 1, {"\nheads: A has 4, B 8\nno known change explains the rest\n"}, "most in"},
      {{"b4.json", "b8.json", "--json"},
       1,
       {"\"differs\": [\"biases\"]",
        "\"worst_head\": null,\n  \"worst_distance_tokens\": null,\n  \"bias_a_nats\": null,\n"
        "  \"bias_b_nats\": null,\n  \"rows_apart_by_a_constant\": false,"},
       NULL},
      {{"b4.json", "b8.json", "--csv"}, 1, {"head,distance_tokens,bias_a_nats,bias_b_nats\n"}, "nats\n0"},
      {{"b4.json", "b4.json", "--json"},
       0,
       {"\"differs\": []", "\"worst_head\": null,", "\"bias_a_nats\": null,"},
       NULL},
      {{"b4.json", "{name: alibi, bias_max: 16}", "--json"},
       1,
       {"\"worst_head\": 0,", "\"bias_b_nats\": -"},
       "null,\n  \"bias_a"},
      {{"b4.json", "{name: alibi, dialect: bloom}"},
       0,
       {"\nequal within 1e-06: biases of 4 heads on keys at any distance, but for a constant of each row, which no "
        "softmax sees\n"},
       NULL},
      {{"b4.json", "b4.json"}, 0, {"\nequal within 1e-06: biases of 4 heads on keys at any distance\n"}, "constant"},
  };
  expect_all(cases, RS_COUNT(cases));
}
