/* What the rules find in a config.json: each mistake by its code, place and fix, and nothing in right files. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "advice/advice.h"

/* A right config of 64 pairs, `more` behind its last key. */
#define SIZES                                                                                                          \
  "{\"model_type\": \"llama\", \"hidden_size\": 4096, \"num_attention_heads\": 32,\n"                                  \
  "\"max_position_embeddings\": 131072"
#define SIZES_OF(family)                                                                                               \
  "{\"model_type\": \"" family "\", \"hidden_size\": 4096, \"num_attention_heads\": 32,\n"                             \
  "\"max_position_embeddings\": 131072"
#define PLAIN SIZES ",\n\"rope_theta\": 500000.0"
#define YARN(more)                                                                                                     \
  PLAIN ",\n\"rope_scaling\": {\"rope_type\": \"yarn\", \"factor\": 4.0, "                                             \
        "\"original_max_position_embeddings\": 32768" more "}}"

/* The codes that are found, but for notes: "RS201@4:17 RS106@5:3"; with `notes`, these too. */
static void describe(const char *json, bool notes, char *out, size_t size) {
  rs_findings findings;
  rs_err err = {0};
  cr_assert_eq(rs_check(json, strlen(json), "config.json", 0, &findings, &err), RS_OK, "%s", err.message);
  size_t used = 0;
  *out = '\0';
  for (size_t i = 0; i < findings.count; i++) {
    const rs_finding *f = &findings.items[i];
    if (f->severity == RS_NOTE && !notes) continue;
    used += (size_t)snprintf(out + used, size - used, "%s%s@%zu:%zu", used > 0 ? " " : "", f->rule->code, f->line,
                             f->column);
  }
  rs_findings_clear(&findings);
}

static void finds(const char *json, const char *want) {
  char got[256];
  describe(json, false, got, sizeof got);
  cr_expect_str_eq(got, want, "%s\ngot:  %s\nwant: %s", json, got, want);
}

/* The same with notes. */
static void notes(const char *json, const char *want) {
  char got[256];
  describe(json, true, got, sizeof got);
  cr_expect_str_eq(got, want, "%s\ngot:  %s\nwant: %s", json, got, want);
}

/* The text or the fix of the finding with this code holds these words. */
static void says(const char *json, const char *code, const char *text, const char *fix) {
  rs_findings findings;
  bool found = false;
  cr_assert_eq(rs_check(json, strlen(json), "config.json", 0, &findings, NULL), RS_OK);
  for (size_t i = 0; i < findings.count; i++) {
    const rs_finding *f = &findings.items[i];
    if (strcmp(f->rule->code, code) != 0) continue;
    found = true;
    cr_expect_not_null(strstr(f->text, text), "%s: got \"%s\", want \"%s\"", code, f->text, text);
    cr_expect_not_null(strstr(f->fix, fix), "%s: got \"%s\", want \"%s\"", code, f->fix, fix);
  }
  cr_expect(found, "%s is not found in %s", code, json);
  rs_findings_clear(&findings);
}

/* A key of a dictionary is named with its path, wherever it was read from. */
Test(check, keys__in_dictionaries__have_their_paths) {
  static const char json[] = PLAIN ",\n\"rope_parameters\": {\"rope_type\": \"yarn\", \"factor\": 4.0, "
                                   "\"original_max_position_embeddings\": 32768}}";
  rs_findings findings;
  bool found = false;
  cr_assert_eq(rs_check(json, strlen(json), "config.json", 0, &findings, NULL), RS_OK);
  for (size_t i = 0; i < findings.count; i++)
    if (strcmp(findings.items[i].rule->code, "RS603") == 0) {
      found = true;
      cr_expect_str_eq(findings.items[i].key, "rope_parameters.original_max_position_embeddings");
    }
  cr_expect(found);
  rs_findings_clear(&findings);
}

Test(check, right_files__nothing_is_found) {
  static const char *const right[] = {
      PLAIN "}",
      YARN(""),
      YARN(", \"attention_factor\": 1.1386294361119891"),
      YARN(", \"beta_fast\": 32, \"beta_slow\": 1, \"rope_theta\": 500000.0"),
      PLAIN ", \"rope_scaling\": null}",
      PLAIN ", \"rope_scaling\": {\"rope_type\": \"llama3\", \"factor\": 8.0, \"low_freq_factor\": 1.0, "
            "\"high_freq_factor\": 4.0, \"original_max_position_embeddings\": 8192}}",
      PLAIN ", \"rope_scaling\": {\"type\": \"linear\", \"rope_type\": \"linear\", \"factor\": 2.0}}",
      PLAIN ", \"rope_scaling\": {\"rope_type\": \"yarn\", \"factor\": 4.0, \"original_max_position_embeddings\": "
            "131072}}", /* Qwen2.5's way: the maximum is the length of training */
      SIZES ", \"rope_parameters\": {\"rope_type\": \"default\", \"rope_theta\": 10000.0}}",
      PLAIN ", \"v_head_dim\": 128, \"rotary_dim\": 128}",
      "{\"text_config\": " PLAIN "}}",
  };
  for (size_t i = 0; i < RS_COUNT(right); i++) finds(right[i], "");
}

Test(check, types__by_code_and_place) {
  finds(PLAIN ",\n\"rope_scaling\": \"yarn\"}", "RS101@4:17");
  finds(PLAIN ",\n\"rope_scaling\": [4]}", "RS101@4:17");
  finds(PLAIN ",\n\"rope_scaling\": {\"factor\": 4.0}}", "RS102@4:17");
  finds(PLAIN ",\n\"rope_scaling\": {\"rope_type\": \"yarm\"}}", "RS103@4:31");
  finds(PLAIN ",\n\"rope_scaling\": {\"type\": \"linear\", \"rope_type\": \"dynamic\", \"factor\": 2.0}}",
        "RS104@4:26");
  finds(PLAIN ",\n\"rope_scaling\": {\"rope_type\": \"linear\", \"factor\": 2.0},\n"
              "\"rope_parameters\": {\"rope_type\": \"default\", \"rope_theta\": 500000.0}}",
        "RS105@5:20");
  finds(PLAIN ",\n\"rope_scaling\": {\"rope_type\": \"linear\", \"factor\": 2.0},\n"
              "\"rope_parameters\": {\"rope_type\": \"linear\", \"factor\": 2, \"rope_theta\": 500000.0}}",
        "");
  finds(PLAIN ",\n\"rope_scaling\": {\"rope_type\": \"linear\", \"factor\": 2.0, \"beta_fast\": 32}}", "RS107@4:69");
  finds(PLAIN ",\n\"rope_scaling\": {\"rope_type\": \"linear\", \"factor\": 2.0, \"wibble\": 32}}", "RS107@4:66");
  finds(SIZES_OF("qwen") ",\n\"rotary_emb_base\": 10000,\n\"rope_scaling\": {\"type\": \"linear\", \"factor\": 2.0}}",
        "RS107@4:46"); /* its class reads no type */
  finds(PLAIN ",\n\"rope_scaling\": {\"rope_type\": \"linear\"}}", "RS108@4:17");
  finds(PLAIN ",\n\"rope_thetas\": 10000}", "RS110@4:16");
  finds(PLAIN ",\n\"head_dim_v\": 64}", ""); /* short names have such neighbours of their own */
  finds(PLAIN ",\n\"rope_scaling\": {\"rope_type\": \"telechat3-yarn\", \"factor\": 4.0}}", "RS111@4:31");
  says(PLAIN ",\n\"rope_scaling\": {\"rope_type\": \"yarm\"}}", "RS103", "did you mean yarn?", "\"yarn\"");
  says(YARN(", \"atention_factor\": 1.2"), "RS106", "attention_factor is what is meant", "\"attention_factor\"");
  says(YARN(", \"attn_factor\": 1.2"), "RS109", "attn_factor = 1.2", "attention_factor");
}

Test(check, lengths__by_code_and_place) {
  const char *without = PLAIN ",\n\"rope_scaling\": {\"rope_type\": \"yarn\", \"factor\": 4.0}}";
  finds(without, "RS201@4:17");
  says(without, "RS201", "factor 4 serves 524288 tokens", "\"original_max_position_embeddings\": 32768");
  says(without, "RS201", "24 of 64 frequencies are then up to 117 % off", "");
  finds(PLAIN ",\n\"rope_scaling\": {\"rope_type\": \"yarn\"}}", "RS201@4:17");
  finds(PLAIN ",\n\"rope_scaling\": {\"rope_type\": \"yarn\", \"factor\": 2.0, "
              "\"original_max_position_embeddings\": 32768}}",
        "RS202@4:49");
  says(PLAIN ",\n\"rope_scaling\": {\"rope_type\": \"yarn\", \"factor\": 2.0, "
             "\"original_max_position_embeddings\": 32768}}",
       "RS202", "serves 65536 tokens", "write 4");
  finds(PLAIN ",\n\"rope_scaling\": {\"rope_type\": \"linear\", \"factor\": 0.25}}", "RS203@4:51");
  finds(PLAIN ",\n\"rope_scaling\": {\"rope_type\": \"linear\", \"factor\": \"4\"}}", "RS208@4:51");
  says(PLAIN ",\n\"rope_scaling\": {\"rope_type\": \"linear\", \"factor\": 1.0}}", "RS204", "s = 1", "");
  finds(PLAIN ",\n\"rope_scaling\": {\"rope_type\": \"yarn\", \"factor\": 4.0, "
              "\"original_max_position_embeddings\": 262144}}",
        "RS205@4:90");
  finds(PLAIN ", \"original_max_position_embeddings\": 8192,\n\"rope_scaling\": {\"rope_type\": \"yarn\", \"factor\": "
              "16.0, \"original_max_position_embeddings\": 4096}}",
        "RS206@4:91");
  says("{\"model_type\": \"my_model\", \"hidden_size\": 64, \"num_attention_heads\": 2, \"rope_theta\": 10000}",
       "RS207", "engines take their class's default", "add \"max_position_embeddings\"");
  says("{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_attention_heads\": 2, \"rope_theta\": 10000}", "RS207",
       "2048 is served, by the default of llama", "add \"max_position_embeddings\"");
  says(PLAIN ",\n\"rope_scaling\": {\"rope_type\": \"linear\", \"factor\": 0.25}}", "RS203",
       "4 times faster: what was learned of 131072 tokens is met within 32768", "write 4");
  says(PLAIN ",\n\"rope_scaling\": {\"rope_type\": \"yarn\", \"factor\": 4.0, "
             "\"original_max_position_embeddings\": 262144}}",
       "RS205", "the length of training, 262144, is above", "131072 and 262144, if the two were swapped");
}

Test(check, attention_factor_and_ramp__by_code_and_place) {
  const char *four = YARN(",\n\"attention_factor\": 4.0");
  char got[256];
  describe(four, false, got, sizeof got);
  cr_expect_not_null(strstr(got, "RS301@5:21"), "%s", got);
  says(four, "RS301", "so logits by 16; 0.1 ln s + 1 gives 1.13863, so 1.296", "write 1.138629436, or leave it out");
  says(four, "RS301", "", "the number is that of factor");
  says(four, "RS601", "cos and sin are multiplied by 1.13863, not 4", "");
  says(YARN(", \"mscale\": 1.0, \"mscale_all_dim\": 0.5"), "RS601", "cos and sin are multiplied by 1.13863, not 1.06",
       "");
  says(YARN(", \"mscale\": 1.0, \"attention_factor\": 1.1386294361119891"), "RS302", "does not read mscale",
       "keep one");
  finds(YARN(",\n\"beta_fast\": 1, \"beta_slow\": 32"), "RS303@5:14");
  says(YARN(", \"beta_fast\": 1, \"beta_slow\": 32"), "RS303", "", "\"beta_fast\": 32, \"beta_slow\": 1");
  finds(YARN(", \"beta_fast\": 1, \"beta_slow\": 1"), "");
  says(YARN(", \"beta_fast\": 1, \"beta_slow\": 1"), "RS306", "both betas are 1", "");
  says(YARN(", \"beta_slow\": 0"), "RS304", "0 is taken for the default, 1", "");
  /* 10000 * 4^(128/126) */
  says(SIZES ", \"rope_theta\": 40889.94243248622, \"rope_scaling\": {\"rope_type\": \"yarn\", \"factor\": 4.0, "
             "\"original_max_position_embeddings\": 32768}}",
       "RS305", "10000 times s^(d/(d-2)) for factor 4", "\"rope_theta\": 10000.0");
}

Test(check, parameters_that_belong_together__by_code_and_place) {
#define BANDS(low, high)                                                                                               \
  PLAIN ",\n\"rope_scaling\": {\"rope_type\": \"llama3\", \"factor\": 8.0, \"low_freq_factor\": " low ",\n"            \
        "\"high_freq_factor\": " high ", \"original_max_position_embeddings\": 16384}}"
  finds(BANDS("4.0", "1.0"), "RS307@5:21");
  says(BANDS("4.0", "1.0"), "RS307", "turn more than 1 times", "\"low_freq_factor\": 1, \"high_freq_factor\": 4");
  finds(BANDS("1.0", "1.0"), "");
  finds(BANDS("1.0", "4.0"), "");
  finds(YARN(",\n\"mscale\": 0.707"), "RS308@5:11");
  says(YARN(",\n\"mscale\": 0.707"), "RS308", "not read without mscale_all_dim: cos and sin are multiplied by 1.13863",
       "");
  finds(YARN(",\n\"mscale\": 0.707, \"mscale_all_dim\": 0"), "RS308@5:11");
  finds(YARN(",\n\"mscale_all_dim\": 1.0"), "RS308@5:19");
  finds(YARN(", \"mscale\": 1.0"), "");
  finds(YARN(", \"mscale\": 0.707, \"mscale_all_dim\": 0.707"), "");
}

/* What findings say of numbers and places: the beginning of each. */
Test(check, findings__say_what_they_are_about) {
#define LONGROPE(more)                                                                                                 \
  "{\"model_type\": \"phi3\", \"hidden_size\": 64, \"num_attention_heads\": 8, \"rope_theta\": 10000.0, "              \
  "\"max_position_embeddings\": 131072, " more
#define LISTS "\"short_factor\": [1, 1, 1, 1], \"long_factor\": [1, 1, 1, 2]"
#define DEEPSEEK(factor)                                                                                               \
  SIZES_OF("deepseek_v3")                                                                                              \
  ", \"qk_rope_head_dim\": 64, \"qk_nope_head_dim\": 128, \"kv_lora_rank\": 8, \"v_head_dim\": 8, \"rope_scaling\": "  \
  "{\"rope_type\": \"yarn\", \"factor\": 4.0, \"original_max_position_embeddings\": 32768, \"mscale\": 1.0, "          \
  "\"mscale_all_dim\": 1.0, \"attention_factor\": " factor "}}"
#define TWICE(keys, other)                                                                                             \
  PLAIN ", \"rope_scaling\": {\"rope_type\": \"yarn\", \"original_max_position_embeddings\": 32768, " keys             \
        "}, \"rope_parameters\": " other "}"
#define FOUR "\"factor\": 4.0"
#define FLAT(keys) "{\"rope_type\": \"yarn\", \"original_max_position_embeddings\": 32768, " keys "}"
  static const struct {
    const char *json, *code, *text; /* NULL: there is no such finding */
  } cases[] = {
      {LONGROPE("\"original_max_position_embeddings\": 4096, \"rope_scaling\": {\"rope_type\": \"longrope\", " LISTS
                ", \"attention_factor\": 1.5}}"),
       "RS301",
       "attention_factor = 1.5 multiplies cos and sin in transformers, so logits by 2.25; sqrt(1 + ln s / ln L0) "
       "gives 1.19024, so 1.417,"},
      {LONGROPE("\"original_max_position_embeddings\": 4096, \"rope_scaling\": {\"rope_type\": \"longrope\", " LISTS
                ", \"factor\": 2.0, \"attention_factor\": 1.5}}"),
       "RS301",
       "attention_factor = 1.5 multiplies cos and sin in transformers, so logits by 2.25; sqrt(1 + ln s / ln L0) "
       "gives 1.04083, so 1.083,"},
      {LONGROPE("\"original_max_position_embeddings\": 131072, \"rope_scaling\": {\"rope_type\": \"longrope\", " LISTS
                ", \"attention_factor\": 1.5}}"),
       "RS301",
       "attention_factor = 1.5 multiplies cos and sin in transformers, so logits by 2.25; sqrt(1 + ln s / ln L0) "
       "gives 1, so 1,"},
      {YARN(", \"attention_factor\": 1.3, \"mscale\": 0.7"), "RS302",
       "transformers takes attention_factor = 1.3 and does not read mscale"},
      {YARN(", \"attention_factor\": 1.3, \"mscale_all_dim\": 0.7"), "RS302",
       "transformers takes attention_factor = 1.3 and does not read mscale_all_dim"},
      {DEEPSEEK("1.3"), "RS302",
       "cos and sin are multiplied by 1.3, and the softmax scale by 1.29648 for mscale_all_dim"},
      {DEEPSEEK("1"), "RS302", "transformers takes attention_factor = 1 and does not read mscale"},
      {YARN(", \"mscale\": 0.7"), "RS308", "mscale = 0.7 is not read without mscale_all_dim"},
      {YARN(", \"mscale_all_dim\": 0.7"), "RS308", "mscale_all_dim = 0.7 is not read without mscale"},
      {YARN(", \"mscale\": 1.0"), "RS308", NULL},
      {TWICE(FOUR, FLAT(FOUR ", \"rope_theta\": 500000.0")), "RS105", NULL},
      {TWICE(FOUR, FLAT("\"factor\": 4")), "RS105", NULL},
      {TWICE(FOUR, FLAT("\"factor\": 8.0")), "RS105",
       "rope_scaling (yarn) on line 3 and rope_parameters (yarn) say two things"},
      {TWICE(FOUR ", \"truncate\": true", FLAT(FOUR ", \"truncate\": false")), "RS105",
       "rope_scaling (yarn) on line 3 and rope_parameters (yarn) say two things"},
      {TWICE(FOUR ", \"truncate\": true", FLAT(FOUR ", \"truncate\": true")), "RS105", NULL},
      {TWICE(FOUR, "{\"full_attention\": " FLAT(FOUR) "}, \"num_hidden_layers\": 1, \"layer_types\": "
                                                      "[\"full_attention\"]"),
       "RS105", "rope_scaling (yarn) on line 3 and rope_parameters say two things"},
      {PLAIN ", \"rope_scaling\": {" LISTS "}}", "RS102", "rope_scaling has short_factor = [...] and no rope_type"},
      {PLAIN ", \"rope_scaling\": {\"factor\": 2}}", "RS102", "rope_scaling has factor = 2 and no rope_type"},
      {YARN(", \"type\": \"linear\""), "RS104", "type is \"linear\" and rope_type \"yarn\""},
      {LONGROPE("\"original_max_position_embeddings\": 4096, \"rope_scaling\": {\"rope_type\": \"longrope\", "
                "\"type\": \"su\", " LISTS "}}"),
       "RS104", NULL},
      {SIZES_OF(
           "qwen2_vl") ", \"rope_theta\": 1e6, \"rope_scaling\": {\"rope_type\": \"default\", \"type\": \"mrope\", "
                       "\"mrope_section\": [16, 24, 24]}}",
       "RS104", NULL},
      {SIZES_OF("qwen2_vl") ", \"rope_theta\": 1e6, \"rope_scaling\": {\"rope_type\": \"linear\", \"type\": \"mrope\", "
                            "\"factor\": 2, \"mrope_section\": [16, 24, 24]}}",
       "RS104", "type is \"mrope\" and rope_type \"linear\""},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_findings findings;
    rs_err err = {0};
    const char *text = NULL;
    cr_assert_eq(rs_check(cases[i].json, strlen(cases[i].json), "c.json", 0, &findings, &err), RS_OK, "%s",
                 err.message);
    for (size_t f = 0; f < findings.count && text == NULL; f++)
      if (strcmp(findings.items[f].rule->code, cases[i].code) == 0) text = findings.items[f].text;
    cr_expect_eq(text != NULL, cases[i].text != NULL, "case %zu, %s: %s", i, cases[i].code, text);
    if (text != NULL && cases[i].text != NULL)
      cr_expect_eq(strncmp(text, cases[i].text, strlen(cases[i].text)), 0, "case %zu: %s", i, text);
    rs_findings_clear(&findings);
  }
}

Test(check, deepseek__softmax_scale_is_told) {
  says("{\"model_type\": \"deepseek_v3\", \"hidden_size\": 64, \"num_attention_heads\": 4, \"qk_rope_head_dim\": 16, "
       "\"qk_nope_head_dim\": 16, \"rope_theta\": 10000, \"max_position_embeddings\": 163840, \"rope_scaling\": "
       "{\"type\": \"yarn\", \"factor\": 40, \"original_max_position_embeddings\": 4096, \"mscale\": 1.0, "
       "\"mscale_all_dim\": 1.0, \"attention_factor\": 1.3689}}",
       "RS302", "the softmax scale by 1.87385", "leave attention_factor out"); /* (0.1 ln 40 + 1)^2 */
}

Test(check, geometry__by_code_and_place) {
  says(SIZES "}", "RS401", "10000 is taken, the default of llama", "\"rope_theta\": 10000.0");
  /* A model_type that nobody knows: a scaling says that it turns, if not with which base; without it all is a guess. */
  says(SIZES_OF("eel") ",\n\"rope_scaling\": {\"type\": \"linear\", \"factor\": 2.0}}", "RS401",
       "10000 is taken, as most classes have it; eel is not known here", "\"rope_theta\": 10000.0");
  says(SIZES_OF("eel") ",\n\"rotary_pct\": 1.0}", "RS401", "eel is not known here", "\"rope_theta\": 10000.0");
  says(SIZES_OF("eel") "}", "RS406", "no key speaks of positions, and eel is not known here", "add \"rope_theta\"");
  finds(SIZES_OF("eel") ",\n\"rope_theta\": 10000.0}", "RS407@1:16");
  finds(SIZES "}", "");
#define GEMMA(family, layers, more)                                                                                    \
  "{\"model_type\": \"" family "\", \"hidden_size\": 64, \"num_attention_heads\": 4, \"num_hidden_layers\": " layers   \
  ", \"max_position_embeddings\": 4096, \"sliding_window\": 512" more "}"
  /* A cut to local layers alone, whose base has a key of its own; with a global one, and where windows change nothing.
   */
  says(GEMMA("gemma3_text", "1", ""), "RS401", "no rope_local_base_freq: 10000 is taken, the default of gemma3_text",
       "add \"rope_local_base_freq\": 10000.0");
  says(GEMMA("gemma3_text", "6", ""), "RS401", "no rope_theta: 1000000 is taken", "add \"rope_theta\": 1000000.0");
  says(GEMMA("mistral", "1", ""), "RS401", "no rope_theta: 10000 is taken", "add \"rope_theta\": 10000.0");
  finds(GEMMA("gemma3_text", "1", ", \"rope_local_base_freq\": 10000.0"), "");
  finds(PLAIN ",\n\"rope_parameters\": {\"rope_type\": \"default\", \"rope_theta\": 10000}}", "RS402@4:59");
  says(PLAIN ", \"partial_rotary_factor\": 0.5, \"rotary_pct\": 0.25}", "RS403", "turns 32 of 128 dims", "keep one");
  finds(PLAIN ",\n\"rope_scaling\": {\"type\": \"mrope\", \"mrope_section\": [16, 24, 20]}}", "RS405@4:52");
  says(PLAIN ",\n\"rope_scaling\": {\"type\": \"mrope\", \"mrope_section\": [16, 24, 20]}}", "RS405",
       "3 sections that sum to 60, for 64 pairs", "sum to 64");
  finds(PLAIN ",\n\"rope_scaling\": {\"type\": \"mrope\", \"mrope_section\": [16, 24, 24]}}", "");
}

Test(check, minimax_m2__its_width_was_not_read) {
#define MINIMAX(more)                                                                                                  \
  "{\"model_type\": \"minimax_m2\", \"hidden_size\": 64, \"num_attention_heads\": 4, \"head_dim\": 16, "               \
  "\"max_position_embeddings\": 64, \"rope_theta\": 10000,\n\"rotary_dim\": " more "}"
  notes(MINIMAX("8"), "RS606@2:15");
  says(MINIMAX("8"), "RS606", "turned all 16 dims of a head", "\"partial_rotary_factor\": 0.5");
  notes(MINIMAX("16"), "");
  notes(MINIMAX("8, \"partial_rotary_factor\": 0.5"), "");
}

Test(check, longrope__lists_and_switch) {
  const char *json =
      "{\"model_type\": \"phi3\", \"hidden_size\": 16, \"num_attention_heads\": 2, \"rope_theta\": 10000, "
      "\"max_position_embeddings\": 64, \"original_max_position_embeddings\": 16,\n"
      "\"rope_scaling\": {\"type\": \"su\", \"short_factor\": [1, 1, 1, 1], \"long_factor\": %s}}";
  char text[512];
  snprintf(text, sizeof text, json, "[1, 2, 3, 4]");
  finds(text, "");
  says(text, "RS701", "past 16 tokens long_factor takes the place", "");
  snprintf(text, sizeof text, json, "[1, 2, 3, 4, 5]");
  finds(text, "RS404@2:77");
}

Test(check, dynamic__grows_from_the_maximum) {
#define DYNAMIC(more) PLAIN ",\n\"rope_scaling\": {\"rope_type\": \"dynamic\", \"factor\": 2.0" more "}}"
  says(DYNAMIC(""), "RS702", "past 131072 tokens the base grows with each token: keys", "");
  says(DYNAMIC(", \"original_max_position_embeddings\": 32768"), "RS702",
       "past 131072 tokens the base grows with each token (original_max_position_embeddings is not read for this type)",
       "");
  says("{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_attention_heads\": 4, \"rope_scaling\": "
       "{\"rope_type\": \"dynamic\", \"factor\": 2.0}}",
       "RS702", "past 2048 tokens", ""); /* of the class */
}

Test(check, elsewise__scaling_has_no_effect) {
  finds(PLAIN ",\n\"use_alibi\": true, \"rope_scaling\": {\"rope_type\": \"linear\", \"factor\": 4.0}}", "RS501@4:14");
  finds(PLAIN
        ",\n\"position_embedding_type\": \"rope\", \"rope_scaling\": {\"rope_type\": \"linear\", \"factor\": 4.0}}",
        "");
  notes(PLAIN ",\n\"use_rope\": false}", "RS504@4:13");
  says(PLAIN ",\n\"use_rope\": false}", "RS504", "the class llama of transformers does not read it", "take it away");
  notes(SIZES_OF("jais") ",\n\"position_embedding_type\": \"alibi\"}", "RS503@3:28");
  says(SIZES_OF("my_model") ",\n\"use_rope\": false}", "RS503", "use_rope is false: nothing turns (nope)", "");
  notes(SIZES_OF("bert") ", \"position_embedding_type\": \"absolute\"}", "");
  notes(SIZES_OF("falcon") ", \"alibi\": true}", "");
  notes(SIZES_OF("qwen") ", \"rope_theta\": 10000,\n\"use_dynamic_ntk\": true, \"use_logn_attn\": false}",
        "RS505@3:20");
  says(SIZES_OF("qwen") ",\n\"use_logn_attn\": true}", "RS505", "own code: counted here", "");
  says(SIZES_OF("qwen") ",\n\"dual_chunk_attention_config\": {}}", "RS505", "nothing that is said here counts it", "");
  says(SIZES_OF("eel") ",\n\"use_logn_attn\": true}", "RS505", "nothing that is said here counts it", "");
  says(PLAIN ", \"rope_scaling\": {\"rope_type\": \"default\", \"use_fope\": true}}", "RS505", "use_fope changes", "");
  says("{\"model_type\": \"bloom\", \"hidden_size\": 64, \"n_head\": 2, \"rope_scaling\": {\"rope_type\": \"linear\", "
       "\"factor\": 4.0}}",
       "RS502", "bloom turns nothing (alibi)", "take it away");
}

Test(check, engines_and_releases__told_apart) {
  says(PLAIN ", \"rope_scaling\": {\"rope_type\": \"yarn\", \"factor\": 4.0, \"original_max_position_embeddings\": "
             "131072}}",
       "RS603", "took their ratio 1 for the factor and scaled nothing", "");
  says(YARN(""), "RS603", "up to 4.50 took max_position_embeddings = 131072 for the length of training, not 32768", "");
  /* no release before 4.51 has Qwen3, */
  notes("{\"model_type\": \"qwen3\", \"hidden_size\": 64, \"num_attention_heads\": 8, \"rope_theta\": 10000.0, "
        "\"max_position_embeddings\": 16384, \"head_dim\": 8, \"rope_scaling\": {\"rope_type\": \"yarn\", \"factor\": "
        "4.0, \"original_max_position_embeddings\": 4096}}",
        "");
  /* and none before 5 Ministral 3 */
  char ministral[256];
  describe("{\"model_type\": \"ministral3\", \"hidden_size\": 64, \"num_attention_heads\": 8, \"rope_theta\": 10000.0, "
           "\"max_position_embeddings\": 16384, \"head_dim\": 8, \"rope_parameters\": {\"rope_type\": \"yarn\", "
           "\"factor\": 4.0, \"original_max_position_embeddings\": 4096}}",
           true, ministral, sizeof ministral);
  cr_expect_null(strstr(ministral, "RS603"), "%s", ministral);
  says(YARN(", \"truncate\": false"), "RS601", "llama.cpp", "");
  finds(SIZES ",\n\"layer_types\": [\"full_attention\"], \"rope_parameters\": {\"full_attention\": {\"rope_type\": "
              "\"yarn\", \"rope_theta\": 500000.0, \"factor\": 4.0, \"original_max_position_embeddings\": 32768,\n"
              "\"truncate\": false}}}",
        "RS604@4:13");
  says(PLAIN ", \"rope_scaling\": {\"rope_type\": \"dynamic\", \"factor\": 4.0}}", "RS702", "past 131072 tokens", "");
  says(PLAIN ", \"rope_scaling\": {\"rope_type\": \"linear\", \"factor\": 4.0}}", "RS703", "up to 1024 tokens off", "");
}

/* DeepSeek-V4's published keys, and Ministral 3's, of other sizes. */
Test(check, engines_with_code_of_their_own__not_judged_by_their_dialect) {
#define SCALED(family, more)                                                                                           \
  "{\"model_type\": \"" family "\", \"hidden_size\": 4096, \"num_attention_heads\": 32,\n"                             \
  "\"max_position_embeddings\": 131072, \"rope_theta\": 500000.0,\n"                                                   \
  "\"rope_scaling\": {\"rope_type\": \"yarn\", \"factor\": 4.0, \"original_max_position_embeddings\": 32768" more "}}"
  const char *factors = SCALED("ministral3", ", \"mscale\": 1.0, \"mscale_all_dim\": 1.0");
  notes(SCALED("deepseek_v4", ""), "RS902@2:50"); /* no layer has a window alone */
  notes(SCALED("deepseek_ref", ""), "RS902@2:50");
  notes("{\"model_type\": \"deepseek_v4\", \"hidden_size\": 64, \"num_attention_heads\": 8, \"head_dim\": 8, "
        "\"qk_rope_head_dim\": 4, \"num_hidden_layers\": 2, \"max_position_embeddings\": 65536, \"rope_parameters\": "
        "{\"main\": {\"rope_type\": \"default\", \"rope_theta\": 10000.0}, "
        "\"compress\": {\"rope_type\": \"default\", \"rope_theta\": 160000.0}}}",
        "RS902@1:200");
  notes(SCALED("llama", ", \"mscale\": 1.0, \"mscale_all_dim\": 1.0"), "RS601@3:17 RS603@3:90");
  says(SCALED("llama", ", \"mscale\": 1.0, \"mscale_all_dim\": 1.0"), "RS601", "vLLM before #56446, llama.cpp: cos and",
       "");
  notes(factors, "RS601@3:17");
  says(factors, "RS601", "vLLM before #56446: cos and sin", "");
}

Test(check, no_model__is_an_error_with_its_reason) {
  rs_findings findings;
  rs_err err = {0};
  finds("{}", "RS901@1:1");
  finds("{\"_class_name\": \"WanModel\", \"dim\": 5120, \"num_heads\": 40, \"model_type\": \"wan\"}", "RS901@1:17");
  says("{\"_class_name\": \"WanModel\", \"dim\": 5120, \"num_heads\": 40}", "RS901",
       "WanModel is a class of diffusers, whose configs are not read here", "");
  cr_expect_eq(rs_check("[1]", 3, "list.json", 0, &findings, &err), RS_INPUT);
  cr_expect_str_eq(err.message, "list.json: holds no JSON object, so it is no config.json");
  cr_expect_null(findings.items);
}

Test(check, rules__have_codes_of_their_own) {
  size_t count = 0;
  for (; rs_rules(count) != NULL; count++) {
    const rs_rule *rule = rs_rules(count);
    cr_expect(strlen(rule->code) == 5 && strncmp(rule->code, "RS", 2) == 0, "%s", rule->code);
    cr_expect(*rule->name != '\0' && *rule->summary != '\0' && *rule->reference != '\0', "%s", rule->code);
    for (size_t i = 0; i < count; i++) {
      cr_expect_str_neq(rs_rules(i)->code, rule->code);
      cr_expect_str_neq(rs_rules(i)->name, rule->name);
    }
  }
  cr_expect_gt(count, 40);
}
