/* test_compare_command.c: `ropescope compare` as its user meets it, and runs whose lists stand in files. */
#include <criterion/criterion.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../fixtures/new_folder.h"
#include "../say.h"
#include "io/io.h"

static char folder[FOLDER_NAME];

static void enter_folder(void) {
  cr_assert(new_folder(folder, "compare"));
  cr_assert_eq(chdir(folder), 0);
  cr_assert(getenv("ROPESCOPE") != NULL && getenv("ROPESCOPE_TESTS") != NULL);
  cr_assert_eq(symlink(getenv("ROPESCOPE_TESTS"), "tests"), 0);
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *walk) {
  (void)info;
  (void)type;
  (void)walk;
  return remove(path);
}

static void leave_folder(void) {
  cr_assert_eq(chdir("/"), 0);
  nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

TestSuite(compare_command, .init = enter_folder, .fini = leave_folder);

/* What a shell line says on stdout and stderr together. Release with free(). */
static char *say(const char *arguments, int *status) {
  return say_line("\"$ROPESCOPE\"", arguments, status);
}

static void expect(const char *arguments, int status, const char *const *parts) {
  int got;
  char *out = say(arguments, &got);
  cr_expect_eq(got, status, "%s: status %d\n%s", arguments, got, out);
  for (; *parts != NULL; parts++)
    cr_expect_not_null(strstr(out, *parts), "%s: no \"%s\" in\n%s", arguments, *parts, out);
  free(out);
}

static void write_file(const char *path, const char *text) {
  cr_assert_eq(rs_file_write(path, text, strlen(text), NULL), RS_OK);
}

static size_t causes_in(const char *text) {
  size_t count = 0;
  for (const char *found = text; (found = strstr(found, "likely cause:")) != NULL; found++) count++;
  return count;
}

/* Where one change explains all to the last bit, others that come near are not named; nor is one method twice. The
 * models are small, for DPRoPE counts the angles of every trained position and each pair of changes tries it. */
Test(compare_command, exact_cause__near_misses__are_left_out) {
  int status;
  write_file("llama.json", "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_attention_heads\": 4, "
                           "\"max_position_embeddings\": 64}");
  write_file("qwen.json", "{\"model_type\": \"qwen2\", \"hidden_size\": 64, \"num_attention_heads\": 4, "
                          "\"max_position_embeddings\": 32, \"rope_theta\": 1000000, \"rope_scaling\": {\"type\": "
                          "\"yarn\", \"factor\": 4, \"original_max_position_embeddings\": 32}}");
  char *out = say("compare llama.json qwen.json", &status);
  cr_expect(status == 1 && causes_in(out) == 1, "%s", out);
  cr_expect_not_null(strstr(out, "plain RoPE (B is yarn) and with rope_theta: 10000"), "%s", out);
  free(out);
  out = say("compare --model llama-2-7b '{name: pi, factor: 8}' '{name: yarn, factor: 8}'", &status);
  cr_expect(status == 1 && causes_in(out) == 2, "%s", out);
  free(out);
}

#define DUMPS "tests/data/dumps/"

Test(compare_command, examples__what_differs_and_why) {
  static const struct {
    const char *arguments;
    int status;
    const char *parts[6];
  } cases[] = {
      {"compare tests/data/hf/gpt-oss.json '{name: yarn, truncate: true}'",
       1,
       {"A  tests/data/hf/gpt-oss.json: Hugging Face config {name: yarn,", "B  recipe {name: yarn,",
        "frequencies: 9 of 32 pairs differ, from pair 9 to 17; most at pair 17: 76.3 %",
        "likely cause: B is A with truncate: true (A has false)", "likely cause: B is A in dialect llamacpp:"}},
      {"compare --model qwen2.5-vl-7b '{name: yarn, factor: 4}' '{name: yarn, factor: 4, dialect: vllm}'",
       1,
       {"most at pair 40: 124 %",
        "likely cause: B is A in dialect vllm:", "likely cause: B is A with ramp_length: vllm_mrope"}},
      {"compare --model llama-2-7b '{name: yarn, factor: 4}' '{name: yarn, factor: 4, dialect: paper}'",
       1,
       {"likely cause: B is A in dialect paper:"}},
      {"compare llama-3.1-8b " DUMPS "llama3_8b_ggml.npy",
       1,
       {"B  " DUMPS "llama3_8b_ggml.npy: dump of 64 inverse frequencies, without an attention factor",
        "likely cause: B is A without any scaling: plain RoPE (A is llama3) (off by at most 1.4e-06)"}},
      {"compare --model llama-2-7b '{name: yarn, factor: 4, train_length: 16384}' '{name: yarn, factor: 4}'",
       1,
       {"likely cause: B is A with train_length: 4096 (A has 16384)"}},
      {"compare --model llama-2-7b '{name: yarn, factor: 4}' '{name: yarn, factor: 4, attention_factor: "
       "1.2964769959}'",
       1,
       {"equal within 1e-06: frequencies of 64 pairs, pair layout half_split",
        "attention factor on cos and sin: A 1.13862944, B 1.296477",
        "likely cause: B is A with the attention factor squared on cos and sin"}},
      {"compare gpt-oss " DUMPS "gpt_oss_vllm.csv",
       0,
       {"equal within 1e-06: frequencies of 32 pairs, attention factor 1.34657359"}},
      {"compare gpt-oss gpt-oss",
       0,
       {"equal within 1e-06: frequencies of 32 pairs, attention factor 1.34657359, softmax scale 0.125"}},
      {"compare llama-3-8b " DUMPS "llama3_8b_ggml.npy", 1, {"likely cause: B is A rounding", NULL}},
      {"compare --rtol 1e-5 llama-3-8b " DUMPS "llama3_8b_ggml.npy",
       0,
       {"equal within 1e-05: frequencies of 64 pairs"}},
      {"compare " DUMPS "gpt_oss_ggml.json gpt-oss", 1, {"likely cause: A is B with truncate: true (B has false)"}},
      {"compare " DUMPS "gpt_oss_ggml.json " DUMPS "llama31_8b_hf.npy",
       1,
       {"frequencies: A has 32 pairs, B has 64", "no known change explains the frequencies"}},
      {"compare --length 4096 phi-3-mini-128k " DUMPS "phi3mini128k_long_hf.npy",
       1,
       {"on phi-3-mini-128k at 4096 tokens",
        "likely cause: B is A at 4097 tokens, just beyond train_length (A is at 4096)"}},
      {"compare --model llama-2-7b '{name: dynamic_ntk, factor: 2}' " DUMPS "llama2_dyn2_seq8192_hf.npy --length 8k",
       0,
       {"equal within"}},
      {"compare --model llama-2-7b self_extend rope",
       1,
       {"beyond the frequencies: A self_extend group=auto window=auto shift=floor; B none"}},
      {"compare --hf tests/data/hf/llama-2.json rope rope", 0, {"B  recipe {name: rope} on llama at 4096 tokens"}},
      {"compare --hf tests/data/hf/llama-2.json rope llama-3-8b",
       1,
       {"A  recipe {name: rope} on llama at 4096 tokens"}},
      {"compare llama-2-7b llama-3-8b", 1, {"B is A with rope_theta: 500000 (the other model's; A has 10000)"}},
      {"compare qwen2.5-vl-7b qwen3-vl-8b", 1, {"B is A with rope_theta: 5000000 (the other model's; A has 1000000)"}},
      {"compare gpt-j-6b llama-2-7b", 1, {"head_dim: A 256, B 128", "pair layout: A interleaved, B half_split"}},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    if (strstr(cases[i].parts[0], "rounding") != NULL) {
      static const char *const rounding[] = {"likely cause: rounding: nothing differs by more than 1e-05", NULL};
      expect(cases[i].arguments, cases[i].status, rounding);
      continue;
    }
    expect(cases[i].arguments, cases[i].status, cases[i].parts);
  }
}

/* The whole text of one small comparison: what a user reads. */
Test(compare_command, text__is_short_and_whole) {
  static const char text[] =
      "A  a.json: dump of 4 inverse frequencies\n"
      "B  b.csv: dump of 4 inverse frequencies, without an attention factor\n"
      "frequencies: 4 of 4 pairs differ, from pair 0 to 3; most at pair 0: 50 %\n"
      "  pair  omega A  omega B  B / A\n"
      "     0        1      0.5    0.5\n"
      "     1      0.5     0.25    0.5\n"
      "     2     0.25    0.125    0.5\n"
      "     3    0.125   0.0625    0.5\n"
      "  distance  largest difference of angle, rad  at pair  mean cosine A  mean cosine B\n"
      "         1                               0.5        0       0.844749       0.959185\n"
      "        10                               2.5        1      -0.260308       0.152201\n"
      "        11                              2.75        1     -0.0041648       0.187938\n"
      "no known change explains the frequencies\n"
      "shape of the difference: B is 0.5 times A at every pair (1 / 2), as if positions were divided by that\n";
  int status;
  write_file("a.json", "{\"inv_freq\": [1, 0.5, 0.25, 0.125], \"attention_factor\": 2}");
  write_file("b.csv", "inv_freq\n0.5\n0.25\n0.125\n0.0625\n");
  char *out = say("compare a.json b.csv --length 12", &status);
  cr_expect_eq(status, 1);
  cr_expect_str_eq(out, text, "%s", out);
  free(out);
  out = say("compare a.json b.csv --csv", &status);
  cr_expect_eq(status, 1);
  cr_expect_str_eq(out,
                   "pair,axis_a,omega_a_rad_per_token,axis_b,omega_b_rad_per_token,ratio\n0,,1,,0.5,0.5\n"
                   "1,,0.5,,0.25,0.5\n2,,0.25,,0.125,0.5\n3,,0.125,,0.0625,0.5\n",
                   "%s", out);
  free(out);
}

/* Many pairs: the first, the worst, the last, and how many were left out. */
Test(compare_command, rows__of_many_pairs__are_cut_with_their_count) {
  int status;
  char *out =
      say("compare --model llama-2-7b '{name: yarn, factor: 4}' '{name: yarn, factor: 4, ramp: paper}'", &status);
  size_t rows = 0, left = 0, more;
  for (const char *line = out; line != NULL; line = strchr(line, '\n')) {
    line += *line == '\n';
    if (sscanf(line, "   ...  %zu more", &more) == 1) left += more;
    rows += strncmp(line, "    2", 5) == 0 || strncmp(line, "    3", 5) == 0 || strncmp(line, "    4", 5) == 0;
  }
  cr_expect_not_null(strstr(out, "frequencies: 25 of 64 pairs differ"), "%s", out);
  cr_expect(rows == 9 && left == 16, "%zu rows, %zu left out\n%s", rows, left, out);
  cr_expect_not_null(strstr(out, "\n    34   0.0044705232"), "the worst is shown\n%s", out);
  free(out);
}

/* What `show` prints is a dump; a list of whole heads is one too, and tells the layout. */
Test(compare_command, dumps__of_show_and_of_whole_heads__are_understood) {
  static const char *const equal[] = {"equal within 1e-06: frequencies of 32 pairs", NULL};
  static const char *const still[] = {"equal within 1e-06: frequencies of 4 pairs", NULL};
  static const char *const twice[] = {"dump of 2 inverse frequencies, each twice (as for half_split dims)",
                                      "equal within 1e-06: frequencies of 2 pairs", NULL};
  static const char *const other[] = {"dump of 2 inverse frequencies, each twice (as for interleaved dims)",
                                      "pair layout: A half_split, B interleaved",
                                      "likely cause: B is A with pair_layout: interleaved (the other side's; A has "
                                      "half_split)",
                                      NULL};
  int status;
  free(say("show frequencies --quiet --model gpt-oss > show.csv", &status));
  cr_assert_eq(status, 0);
  expect("compare gpt-oss show.csv", 0, equal);
  write_file("still.json", "[1, 0.1, 0, 0]"); /* pairs that do not turn have a frequency of zero */
  expect("compare --model llama-2-7b '{name: explicit, inv_freq: [1, 0.1, 0, 0], rotary_dim: 8}' still.json", 0, still);
  write_file("half.json", "[1, 0.01, 1, 0.01]");
  write_file("inter.json", "[1, 1, 0.01, 0.01]");
  expect("compare --model llama-2-7b '{name: rope, rotary_dim: 4}' half.json", 0, twice);
  expect("compare --model llama-2-7b '{name: rope, rotary_dim: 4}' inter.json", 1, other);
}

/* The line of one distance. Release with free(). */
static char *line_of(const char *arguments, const char *start) {
  int status;
  char *out = say(arguments, &status), *found = strstr(out, start);
  cr_assert_not_null(found, "%s: no line %s in\n%s", arguments, start, out);
  char *line = strndup(found, strcspn(found + 1, "\n") + 1);
  free(out);
  return line;
}

/* Pairs that do not turn are the model's, whether a recipe or a dump stands beside it. */
Test(compare_command, dumps__of_partial_rotation__have_the_model_s_head) {
  int status;
  free(say("show frequencies --quiet --model pythia-6.9b --method '{name: pi, factor: 2}' > pi.csv", &status));
  cr_assert_eq(status, 0);
  char *recipe = line_of("compare pythia-6.9b '{name: pi, factor: 2}'", "\n        10  ");
  char *dump = line_of("compare pythia-6.9b pi.csv", "\n        10  ");
  cr_expect_str_eq(recipe, dump);
  free(recipe);
  free(dump);
}

/* MPT's slopes are 2^(-8 h / 32) for its 32 heads, h = 1 ... 32, and 2^(-16 h / 32): most apart at h = 4, head 3. */
Test(compare_command, biases__are_compared_in_every_form) {
  static const struct {
    const char *command, *holds[3];
    int status;
  } cases[] = {
      {"compare mpt-7b '{name: alibi, bias_max: 16}'",
       {"A  mpt-7b: preset {name: alibi} on mpt-7b at 2048 tokens\n", "biases: 32 of 32 heads differ; most in head 3, ",
        "likely cause: B is A with bias_max: 16 (A has 8)\n"},
       1},
      {"compare mpt-7b bloom-7b1", {"equal within 1e-06: biases of 32 heads on keys at any distance\n"}, 0},
      {"compare mpt-7b '{name: alibi, bias_max: 16}' --csv", {"head,distance_tokens,bias_a_nats,bias_b_nats\n3,"}, 1},
      {"compare mpt-7b bloom-7b1 --csv", {"head,distance_tokens,bias_a_nats,bias_b_nats\n"}, 0},
      {"compare mpt-7b '{name: alibi, bias_max: 16}' --json",
       {"\"differs\": [\"biases\"]", "\"heads_that_differ\": 32", "\"attention_factor\": null"},
       1},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    int status;
    char *out = say(cases[i].command, &status);
    cr_expect_eq(status, cases[i].status, "%s: %s", cases[i].command, out);
    for (size_t k = 0; k < RS_COUNT(cases[i].holds) && cases[i].holds[k] != NULL; k++)
      cr_expect_not_null(strstr(out, cases[i].holds[k]), "%s: %s lacks %s", cases[i].command, out, cases[i].holds[k]);
    free(out);
  }
}

/* Hugging Face's base of dynamic NTK grows from the trained length on, vLLM's is that of 16k always. */
Test(compare_command, equal_at_one_length__says_where_it_is_not) {
  static const char rules[] = "compare --model llama-2-7b '{name: dynamic_ntk, scale: hf_dynamic, factor: 4}' "
                              "'{name: dynamic_ntk, scale: vllm_dynamic, factor: 4}' --length 16k";
  expect(rules, 0,
         (const char *const[]){"equal within 1e-06: frequencies of 64 pairs",
                               "at 2048 tokens they differ: 63 of 64 pairs, most pair 63 (--length 2048 says why)\n",
                               NULL});
  char with[400];
  snprintf(with, sizeof with, "%s --json", rules);
  expect(with, 0, (const char *const[]){"\"equal\": true", "\"differs_at_tokens\": 2048", NULL});
  int status;
  char *out = say("compare --model llama-2-7b rope '{name: rope, rope_theta: 10000}' --length 16k", &status);
  cr_expect(status == 0 && strstr(out, "they differ") == NULL, "%s", out);
  free(out);
}

Test(compare_command, wrong_input__status_2_and_why) {
  static const char *const cases[][2] = {
      {"compare",
       "ropescope: compare needs two sides, as in ropescope compare config.json '{name: yarn, factor: 8}'\n"},
      {"compare rope",
       "ropescope: compare needs two sides, as in ropescope compare config.json '{name: yarn, factor: 8}'\n"},
      {"compare a b c", "ropescope: compare takes at most 2 arguments (ropescope help compare)\n"},
      {"compare rope rope", "ropescope: A, rope: is a recipe: --model or --hf must say of which model\n"},
      {"compare '' rope", "ropescope: A, \"\": is empty\n"},
      {"compare gpt-oss x.json", "ropescope: B, x.json: is not there\n"},
      {"compare gpt-osss rope",
       "ropescope: A, gpt-osss: is no file, no model preset and no method (did you mean gpt-oss?)\n"},
      {"compare gpt-oss xyzzy", "ropescope: B, xyzzy: is no file, no model preset and no method (ropescope list shows "
                                "presets and methods; a recipe is written {name: yarn, factor: 8})\n"},
      {"compare gpt-oss t.txt", "ropescope: B, t.txt: is a file, but none of .json (config or dump), .npy, .csv, "
                                ".safetensors (dump) and GGUF\n"},
      {"compare gpt-oss mpt-7b",
       "ropescope: B, mpt-7b: alibi turns no pairs, and the other side does (yarn): they have nothing in common\n"},
      {"compare gpt-oss '{name: yarn, factr: 2}'",
       "recipe B:1:14: methods[0].factr: yarn has no key factr (did you mean factor?)\n"
       "ropescope: B, {name: yarn, factr: 2}: recipe B: 1 problem\n"},
      {"compare 'yarn]\nseeds: [3' --model gpt-oss rope",
       "ropescope: A, yarn]\\nseeds: [3: recipe A:2:6: mapping values are not allowed in this context (quote a text "
       "that holds ': ', and indent the keys of one level alike)\n"},
      {"compare gpt-oss '{name: yarn, factor: [2, 4]}'",
       "ropescope: B, {name: yarn, factor: [2, 4]}: one recipe is wanted, not 2\n"},
      {"compare gpt-oss neg.json", "ropescope: B, neg.json: neg.json: frequency 1 is negative\n"},
      {"compare gpt-oss amp.json",
       "ropescope: B, amp.json: amp.json: the attention factor \"0\" is no positive number\n"},
      {"compare gpt-oss amp.csv", "ropescope: B, amp.csv: amp.csv:3: the attention factor changes from pair to pair\n"},
      {"compare gpt-oss bad.json", "ropescope: B, bad.json: bad.json: entry 0 is no number\n"},
      {"compare gpt-oss rope --hf x --model y", "ropescope: --hf and --model both name a model: keep one\n"},
      {"compare gpt-oss llama-2-7b --model gpt2", "ropescope: --model has no effect: neither side is a recipe\n"},
      {"compare gpt-oss llama-2-7b --hf x.json", "ropescope: --hf has no effect: neither side is a recipe\n"},
      {"compare gpt-oss rope --rtol -1", "ropescope: --rtol -1: must be from 0 to 1\n"},
      {"compare gpt-oss rope --rtol x", "ropescope: --rtol x: must be a number\n"},
  };
  write_file("t.txt", "1");
  write_file("neg.json", "[1, -1]");
  write_file("bad.json", "[\"x\"]");
  write_file("amp.json", "{\"inv_freq\": [1], \"attention_factor\": 0}");
  write_file("amp.csv", "inv_freq,amp\n1,2\n1,3\n");
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    int status;
    char *out = say(cases[i][0], &status);
    cr_expect_eq(status, 2, "%s: status %d", cases[i][0], status);
    cr_expect_str_eq(out, cases[i][1], "%s: %s", cases[i][0], out);
    free(out);
  }
}

/* ---- lists in files ---------------------------------------------------------------------------------------------- */

/* A run with a list from a file: the manifest has its fingerprint, and the results' own config gives the same bytes
 * when the file is gone. */
Test(compare_command, run__list_from_a_file__is_recorded_and_reproduced) {
  static const char config[] =
      "name: lists\nmodel: {name: tiny, head_dim: 4, heads: 1, train_length: 16}\nlengths: 16\n"
      "methods: [{name: explicit, inv_freq: [f.json, [1, 0.25]]}]\nmetrics: decay\n";
  static const char list[] = "[1, 0.125]";
  char sha[65], want[256];
  size_t length;
  int status;
  rs_err err = {0};
  write_file("f.json", list);
  write_file("c.yaml", config);
  char *out = say("run c.yaml --quiet --out one", &status), *manifest, *first, *second;
  cr_assert_eq(status, 0, "%s", out);
  free(out);
  cr_assert_eq(rs_file_read("one/manifest.json", 1 << 20, &manifest, &length, &err), RS_OK, "%s", err.message);
  rs_sha256_hex(list, strlen(list), sha);
  snprintf(want, sizeof want, "\"file\": \"%s/f.json\",\n      \"sha256\": \"%s\"", folder, sha);
  cr_expect_not_null(strstr(manifest, "\"inputs\""));
  cr_expect_not_null(strstr(manifest, want), "no %s in\n%.2000s", want, strstr(manifest, "\"inputs\""));
  free(manifest);
  cr_assert_eq(unlink("f.json"), 0);
  out = say("run one/config.yaml --quiet --out two", &status);
  cr_assert_eq(status, 0, "%s", out);
  free(out);
  cr_assert_eq(rs_file_read("one/summary.csv", 1 << 20, &first, &length, &err), RS_OK);
  cr_assert_eq(rs_file_read("two/summary.csv", 1 << 20, &second, &length, &err), RS_OK);
  cr_expect_str_eq(first, second);
  cr_expect_not_null(strstr(first, "explicit inv_freq=f.json"), "%s", first);
  cr_expect_not_null(strstr(first, "\"[1, 0.125]\""), "%s", first);
  free(first);
  free(second);
}
