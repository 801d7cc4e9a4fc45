/* What users get wrong in a config.json, and what they ask of one: a line for each, with the command, its exit status,
 * and what the answer must hold. Files are our own, with the keys of those that were asked about. Numbers are by hand:
 * the formulas stand beside them. */
#include "../fixtures/program.h"

TestSuite(questions, .init = enter_folder, .fini = leave_folder);

/* ---- files ------------------------------------------------------------------------------------------------------- */

#define QWEN(length, more)                                                                                             \
  "{\"model_type\": \"qwen2\", \"hidden_size\": 3584, \"num_attention_heads\": 28, \"num_hidden_layers\": 28,\n"       \
  "\"rope_theta\": 1000000.0, \"max_position_embeddings\": " length more "}"
#define SCALED(length, rope) QWEN(length, ",\n\"rope_scaling\": {" rope "}")
#define FOUR "\"factor\": 4.0, \"original_max_position_embeddings\": 32768"
#define GEMMA(more)                                                                                                    \
  "{\"model_type\": \"gemma3_text\", \"hidden_size\": 2304, \"num_attention_heads\": 8, \"head_dim\": 256, "           \
  "\"num_hidden_layers\": 7,\n\"max_position_embeddings\": 131072, \"sliding_window\": 1024, "                         \
  "\"rope_local_base_freq\": " more "}"
#define OTHER(type, more)                                                                                              \
  "{\"model_type\": \"" type "\", \"hidden_size\": 64, \"num_attention_heads\": 4, \"num_hidden_layers\": 2,\n"        \
  "\"max_position_embeddings\": 512" more "}"

static const char *const files[][2] = {
    {"1.json", SCALED("131072", "\"type\": \"yarn\", \"factor\": 4.0")},
    {"2.json",
     SCALED("131072", "\"rope_type\": \"yarn\",\n\"factor\": 2.0, \"original_max_position_embeddings\": 32768")},
    {"3.json", SCALED("131072", "\"rope_type\": \"yarn\",\n\"type\": \"linear\", " FOUR)},
    {"4.json", SCALED("131072", "\"rope_type\": \"yarn\", " FOUR ",\n\"attention_factor\": 4.0")},
    {"5.json",
     SCALED("131072", "\"rope_type\": \"yarn\",\n\"factor\": 0.25, \"original_max_position_embeddings\": 32768")},
    {"6.json",
     SCALED("131072", "\"rope_type\": \"yarn\", \"factor\": 4.0,\n\"original_max_position_embedings\": 32768")},
    {"7.json", SCALED("131072", "\"factor\": 4.0")},
    {"8.json",
     SCALED("32768", "\"rope_type\": \"yarn\", \"factor\": 4.0,\n\"original_max_position_embeddings\": 131072")},
    {"9.json", SCALED("131072", "\"rope_type\": \"yarn\", " FOUR
                                "},\n\"rope_parameters\": {\"rope_type\": \"default\", \"rope_theta\": 1000000.0")},
    {"10.json", OTHER("qwen2", "")},
    {"11-text.json", QWEN("131072", ",\n\"rope_scaling\": \"yarn\"")},
    {"11-list.json", QWEN("131072", ",\n\"rope_scaling\": [\"yarn\", 4.0]")},
    {"11-alibi.json", OTHER("my_model", ",\n\"use_alibi\": true")},
    {"11-rope.json", OTHER("my_model", ",\n\"use_rope\": false")},
    {"11-llama.json", OTHER("llama", ",\n\"use_rope\": false")},
    {"11-nope.json", OTHER("my_model", ",\n\"position_embedding_type\": \"nope\"")},
    {"12.json", GEMMA("10000.0")},
    {"12-other.json", GEMMA("20000.0")},
    {"nemotron_h.json", OTHER("nemotron_h", "")},
    {"jamba.json", OTHER("jamba", "")},
    {"bert.json", OTHER("bert", "")},
    {"vit.json", OTHER("vit", "")},
    {"t5.json", OTHER("t5", "")},
    {"clip.json", OTHER("clip", "")},
    {"deepseek_v4.json", OTHER("deepseek_v4", ", \"head_dim\": 32, \"qk_rope_head_dim\": 16, \"rope_theta\": 10000.0, "
                                              "\"compress_rope_theta\": 160000.0, \"compress_ratios\": [0, 4],\n"
                                              "\"rope_scaling\": {\"type\": \"yarn\", \"factor\": 16, "
                                              "\"original_max_position_embeddings\": 32}")},
    {"yarn.json", SCALED("131072", "\"rope_type\": \"yarn\", " FOUR)},
    {"short.json", SCALED("32768", "\"rope_type\": \"yarn\", " FOUR)},
    {"plain.json", QWEN("131072", "")},
    {"dynamic.json", SCALED("4096", "\"rope_type\": \"dynamic\", \"factor\": 4.0")},
    {"longrope.json",
     "{\"model_type\": \"phi3\", \"hidden_size\": 16, \"num_attention_heads\": 2, \"rope_theta\": 10000.0, "
     "\"max_position_embeddings\": 64, \"original_max_position_embeddings\": 16,\n\"rope_scaling\": "
     "{\"type\": \"longrope\", \"short_factor\": [1, 1, 1, 1], \"long_factor\": [1, 2, 3, 4]}}"},
    {"mrope.json", SCALED("32768", "\"rope_type\": \"yarn\", \"mrope_section\": [16, 24, 24], " FOUR)},
    {"sections.json", SCALED("32768", "\"type\": \"mrope\",\n\"mrope_section\": [16, 24, 20]")},
    {"picture.yaml", "name: picture\nmodel: qwen2-vl\nmethods: [mrope]\ntokens: [{text: 4}, {image: [8, 12]}]\n"},
    {"glm4_moe.json",
     OTHER("glm4_moe", ", \"head_dim\": 128, \"partial_rotary_factor\": 0.5, \"rope_theta\": 1000000.0")},
    {"minimax_m2.json", OTHER("minimax_m2", ", \"head_dim\": 128, \"rope_theta\": 5000000.0,\n\"rotary_dim\": 64")},
};

typedef struct question {
  const char *name, *arguments[9];
  int status;
  const char *holds[3]; /* of stdout */
} question;

static void ask(const question *q) {
  command c = {0};
  for (size_t i = 0; i < RS_COUNT(q->arguments) && q->arguments[i] != NULL; i++) c.arguments[i] = q->arguments[i];
  result got = run(&c);
  cr_expect_eq(got.status, q->status, "%s: exit status %d\n%s%s", q->name, got.status, got.out, got.err);
  for (size_t i = 0; i < RS_COUNT(q->holds) && q->holds[i] != NULL; i++)
    cr_expect_not_null(strstr(got.out, q->holds[i]), "%s\nlacks: %s\nhas:   %s%s", q->name, q->holds[i], got.out,
                       got.err);
  result_clear(&got);
}

static void ask_all(const question *questions, size_t count) {
  for (size_t i = 0; i < RS_COUNT(files); i++) write_file(files[i][0], files[i][1]);
  for (size_t i = 0; i < count; i++) ask(&questions[i]);
}

/* ---- mistakes ---------------------------------------------------------------------------------------------------- */

Test(questions, mistakes__are_named_with_their_place_and_fix) {
  static const question mistakes[] = {
      {"no original length",
       {"check", "1.json"},
       1,
       {"served 524288",
        "1.json:3:17: warning: rope_scaling: max_position_embeddings = 131072 is taken for the length of "
        "training, so factor 4 serves 524288 tokens",
        "fix: add \"original_max_position_embeddings\": 32768"}},
      {"factor against lengths",
       {"check", "2.json"},
       1,
       {"2.json:4:11: error: rope_scaling.factor: factor 2 serves 65536 tokens", "over the original 32768 is 4",
        "fix: write 4, or max_position_embeddings = 65536"}},
      {"two types",
       {"check", "3.json"},
       1,
       {"3.json:4:9: error: rope_scaling.type: type is \"linear\" and rope_type \"yarn\"", "[RS104]",
        "fix: keep rope_type"}},
      {"attention factor",
       {"check", "4.json"},
       1, /* 0.1 ln 4 + 1 */
       {"4.json:4:21: warning: rope_scaling.attention_factor: attention_factor = 4 multiplies cos and sin", "1.13863",
        "fix: write 1.138629436, or leave it out (the number is that of factor)"}},
      {"factor below 1",
       {"check", "5.json"},
       1,
       {"5.json:4:11: error: rope_scaling.factor: s = 0.25 makes slow pairs 4 times faster", "[RS203]",
        "fix: write 4"}},
      {"misspelt",
       {"check", "6.json"},
       1,
       {"6.json:4:36: error: ", "original_max_position_embeddings is what is meant",
        "fix: write \"original_max_position_embeddings\""}},
      {"no type",
       {"check", "7.json"},
       1,
       {"7.json:3:17: error: rope_scaling has factor = 4 and no rope_type", "nothing is scaled",
        "fix: add \"rope_type\": \"yarn\""}},
      {"original above maximum",
       {"check", "8.json"},
       1,
       {"8.json:4:37: error: ", "the length of training, 131072, is above max_position_embeddings = 32768",
        "32768 and 131072, if the two were swapped"}},
      {"two dictionaries",
       {"check", "9.json"},
       1,
       {"9.json:4:20: error: rope_parameters: rope_scaling (yarn) on line 3 and rope_parameters (default) say two "
        "things",
        "[RS105]", "fix: keep one"}},
      {"no base",
       {"check", "10.json"},
       0,
       {"no rope_theta: 10000 is taken, the default of qwen2 [RS401]", "fix: add \"rope_theta\": 10000.0"}},
      {"text", {"check", "11-text.json"}, 1, {"11-text.json:3:17: error: rope_scaling is a single value", "[RS101]"}},
      {"list", {"check", "11-list.json"}, 1, {"11-list.json:3:17: error: rope_scaling is a list", "[RS101]"}},
      {"alibi",
       {"check", "11-alibi.json"},
       1,
       {"{name: alibi}", "11-alibi.json:3:14: note: use_alibi is true: nothing turns (alibi) [RS503]"}},
      {"no rotation",
       {"check", "11-rope.json"},
       1,
       {"{name: nope}", "11-rope.json:3:13: note: use_rope is false: nothing turns (nope) [RS503]"}},
      {"no rotation, of Llama",
       {"check", "11-llama.json"},
       1,
       {"11-llama.json:3:13: warning: use_rope is false: the class llama of transformers does not read it", "[RS504]"}},
      {"nope",
       {"check", "11-nope.json"},
       1,
       {"{name: nope}", "note: position_embedding_type is nope: nothing turns (nope) [RS503]"}},
      {"another local base",
       {"compare", "12.json", "12-other.json"},
       1,
       {"\ndifferent in layers 0-4, 6 (sliding_attention)\n", "sliding_attention: 127 frequencies differ",
        "layers 5: full_attention: equal"}},
      {"nemotron_h", {"check", "nemotron_h.json"}, 0, {"{name: nope}\n  no positional encoding"}},
      {"jamba", {"check", "jamba.json"}, 0, {"{name: nope}\n  no positional encoding"}},
      {"bert", {"check", "bert.json"}, 0, {"{name: learned}\n  one learned vector a position"}},
      {"vit", {"check", "vit.json"}, 0, {"{name: learned_2d}"}},
      {"t5", {"check", "t5.json"}, 0, {"{name: t5}"}},
      {"clip", {"check", "clip.json"}, 0, {"{name: learned}"}},
  };
  ask_all(mistakes, RS_COUNT(mistakes));
}

/* ---- questions --------------------------------------------------------------------------------------------------- */

Test(questions, each__has_one_command) {
  static const question questions[] = {
      {"1: which base and scaling has which layer",
       {"show", "layers", "--hf", "deepseek_v4.json"},
       0,
       {"0: sliding_attention, window 128, {name: rope}, base 10000,",
        "1: compressed_sparse_attention, window 128, beyond it 4 keys as one, {name: yarn, factor: 16, "
        "attention_factor: 1}, base 160000"}},
      {"2: was it applied at all",
       {"check", "yarn.json"},
       0,
       {"pairs      64: 24 kept | 16 blended | 24 divided by 4"}},
      {"2: is what runs plain",
       {"compare", "yarn.json", "plain.json"},
       1,
       {"40 of 64 pairs differ", "likely cause: B is A without any scaling: plain RoPE (A is yarn)"}},
      {"3: which maximum length",
       {"check", "2.json"},
       1,
       {"vLLM from #56446 (September 2026): cos and sin times 1.06931, serves 131072 tokens\n",
        "vLLM before #56446: cos and sin times 1.06931, serves 65536 tokens\n",
        "SGLang: cos and sin times 1.06931, serves 131072 tokens\n"}},
      {"3: of a file that says its trained length alone",
       {"check", "short.json"},
       0,
       {"the file is for 131072 tokens; where no length is given to it, vLLM from #56446 (September 2026) serves "
        "32768, "
        "SGLang 32768, llama.cpp 32768 [RS605]"}},
      {"4: what each release makes of it",
       {"check", "short.json"},
       0,
       {"   ! transformers 4.51 to 4.55: cos and sin as they are, 40 of 64 frequencies are others, by up to 4 times",
        "transformers 5 (and 4.56 on): cos and sin times 1.13863\n"}},
      {"4: one release", {"check", "--engine", "transformers@4.52", "short.json"}, 1, {"[RS601]"}},
      {"5: which factor, where",
       {"check", "4.json"},
       1,
       {"attention  cos and sin times 4, so logits times 16 (attention_factor of the file; the formula gives 1.13863)",
        "! vLLM before #56446: cos and sin times 1.13863",
        "DeepSeek's code: cos and sin as they are, softmax scale times 16"}},
      {"6: what a static factor costs short inputs",
       {"check", "yarn.json"},
       0,
       {"near keys  1 to 8 tokens back: at 32768 tokens turned otherwise than by plain RoPE, 1 - cos = "}},
      {"6: which factor for 64k",
       {"solve", "factor", "--length", "64k", "--hf", "yarn.json", "--method", "yarn"},
       0,
       {"with which yarn serves 65536 tokens", "ood: "}},
      {"7: which base for 16k",
       {"solve", "base", "--length", "16k", "--head-dim", "128"},
       0,
       {"the least base for 16384 tokens"}},
      {"8: cached keys under dynamic NTK",
       {"explain", "dynamic.json", "--length", "8k"},
       0, /* 4 * 2 - 3 */
       {"The rule is dynamic: s is 5 at 8192 tokens, 1 at 4096; keys that were cached at another length do not fit."}},
      {"8: cached keys at LongRoPE's switch",
       {"check", "longrope.json"},
       0,
       {"past 16 tokens long_factor takes the place of short_factor", "keys cached before keep the other table",
        "where no length is given to it, vLLM serves 16"}},
      {"9: which of the formulas",
       {"compare", "yarn.json", "{name: yarn, factor: 4, truncate: false}"},
       1,
       {"likely cause: B is A with truncate: false (A has true)"}},
      {"10: sections that do not fit",
       {"check", "sections.json"},
       1,
       {"3 sections that sum to 60, for 64 pairs", "fix: three numbers (t, h, w) that sum to 64"}},
      {"10: with YaRN",
       {"check", "mrope.json"},
       0,
       {"! vLLM before #56446: cos and sin times 1.13863, 23 of 64 frequencies are others",
        "\n             SGLang: cos and"}},
      {"10: which axis a pair reads",
       {"explain", "mrope.json", "--length", "8k", "--pair", "16"},
       0,
       {"it reads the row."}},
      {"10: the delta",
       {"show", "positions", "picture.yaml", "--length", "103"},
       0, /* 4 + 12 + 2 = 103 - 1 - 84 */
       {"\n4,1,4,4,4\n", "\n102,2,18,18,18\n"}},
      {"11: which dims turn",
       {"explain", "glm4_moe.json", "--length", "512", "--pair", "31"},
       0,
       {"It is dims 31 and 63 of the 64 that turn, of 128; plain RoPE's frequency is 1000000^(-62/64)."}},
      {"11: a width that was not read",
       {"check", "minimax_m2.json"},
       0,
       {"64 of 128 dims turn", "note: rotary_dim: transformers before its pull request 48486"}},
      {"12: what short floats do",
       {"explain", "plain.json", "--length", "128k"},
       0,
       {"positions held in bfloat16 up to 256 tokens, and float16 ends at 65504."}},
      {"13: RIFLEx's pair and its frequency, of HunyuanVideo's frames", /* 0.9 * 2 pi / 66 */
       {"show", "frequencies", "--model", "llama-2-7b", "--method",
        "{name: riflex, factor: 2, rope_theta: 256, rotary_dim: 16, train_length: 33}"},
       0,
       {"\n2,t,0.25,", "\n3,t,0.08567979964335799,73.33333333333333,1\n", "\n4,t,0.0625,"}},
      {"13: larger pictures, of RandAR's 16 patches a side at 32", /* 10000^(-2/16) * 15/31 */
       {"show", "frequencies", "--model", "llama-2-7b", "--length", "1024", "--method",
        "{name: axial, kept_pairs: 2, rope_theta: 10000, axis_order: hw, rotary_dim: 64, train_length: 256}"},
       0,
       {"\n1,h,0.5623413251903491,", "\n2,h,0.1530134", "\n18,w,0.1530134"}},
      {"14: for another engine",
       {"convert", "yarn.json", "--to", "llamacpp"},
       0,
       {"--rope-scaling yarn --rope-freq-base 1000000 --rope-scale 4 --yarn-orig-ctx 32768", "-c 131072"}},
      {"15: which layers are local",
       {"show", "layers", "--hf", "12.json"},
       0,
       {"0-4, 6: sliding_attention, window 1024, {name: rope}, base 10000,",
        "5: full_attention, everything before, {name: rope}, base 1000000,"}},
  };
  ask_all(questions, RS_COUNT(questions));
}
