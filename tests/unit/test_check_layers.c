/* What the rules find of layers that are not all alike. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "advice/advice.h"

/* Four layers, `more` behind the last key, on line 2. */
#define LAYERS(more)                                                                                                   \
  "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_attention_heads\": 2, \"num_hidden_layers\": 4, "            \
  "\"rope_theta\": 1000000.0, \"max_position_embeddings\": 4096,\n" more "}"
#define TYPES(a, b, c, d) "\"layer_types\": [\"" a "\", \"" b "\", \"" c "\", \"" d "\"]"
#define MIXED TYPES("sliding_attention", "sliding_attention", "sliding_attention", "full_attention")

/* The finding with this code, whose text and fix hold these words, stands at this place; code NULL: nothing of layers
 * is found, not even a note. */
static void finds(const char *json, const char *code, size_t line, size_t column, const char *text, const char *fix) {
  rs_findings findings;
  rs_err err = {0};
  size_t found = 0;
  cr_assert_eq(rs_check(json, strlen(json), "config.json", 0, &findings, &err), RS_OK, "%s", err.message);
  for (size_t i = 0; i < findings.count; i++) {
    const rs_finding *f = &findings.items[i];
    if (strncmp(f->rule->code, "RS8", 3) != 0 && strcmp(f->rule->code, "RS901") != 0) continue;
    found++;
    if (code == NULL) continue;
    cr_expect_str_eq(f->rule->code, code, "%s", f->text);
    cr_expect(f->line == line && f->column == column, "%s@%zu:%zu", f->rule->code, f->line, f->column);
    cr_expect_not_null(strstr(f->text, text), "got \"%s\", want \"%s\"", f->text, text);
    cr_expect_not_null(strstr(f->fix, fix), "got \"%s\", want \"%s\"", f->fix, fix);
  }
  cr_expect_eq(found, code != NULL, "%s: %zu in %s", code != NULL ? code : "nothing", found, json);
  rs_findings_clear(&findings);
}

Test(check_layers, right_files__nothing_is_found) {
  static const char *const right[] = {
      LAYERS("\"sliding_window\": 64, " MIXED), /* all turn alike */
      LAYERS("\"sliding_window\": 64, \"sliding_window_pattern\": 4, " MIXED),
      LAYERS("\"sliding_window\": 64, \"sliding_window_pattern\": 2, " TYPES("sliding_attention", "full_attention",
                                                                             "sliding_attention", "full_attention")),
      LAYERS(TYPES("full_attention", "full_attention", "full_attention", "full_attention")),
      LAYERS(TYPES("mamba", "linear_attention", "moe", "full_attention")),
      LAYERS("\"layer_types\": [], \"num_nextn_predict_layers\": 1"),
      LAYERS("\"num_nextn_predict_layers\": 1, \"no_rope_layers\": [1, 1, 1, 1, 1]"),
  };
  for (size_t i = 0; i < RS_COUNT(right); i++) finds(right[i], NULL, 0, 0, "", "");
}

Test(check_layers, lists__have_an_entry_for_each_layer) {
  finds(LAYERS("\"layer_types\": [\"full_attention\", \"full_attention\"]"), "RS802", 2, 16,
        "layer_types has 2 entries for 4 layers", "num_hidden_layers");
  finds(LAYERS("\"no_rope_layers\": [1, 1, 1, 1, 1]"), "RS802", 2, 19, "no_rope_layers has 5 entries for 4 layers", "");
}

Test(check_layers, types__misspelt) {
  finds(LAYERS(TYPES("full_attention", "full_atention", "full_attention", "full_attention")), "RS805", 2, 35,
        "\"full_atention\" is no type of layers that is known here (did you mean full_attention?)",
        "write \"full_attention\"");
}

Test(check_layers, types__unknown_ones_are_errors_without_a_guess) {
  finds(LAYERS("\"layer_types\": [\"full_attention\", \"full_attention\", \"full_attention\", 7]"), "RS805", 2, 71,
        "\"7\" is no type of layers", "");
  /* A type of releases that is like another is none that was misspelt. */
  static const char *const types[] = {"bogus", "lightning_sparse_attention", "deepseek_attention"};
  for (size_t i = 0; i < RS_COUNT(types); i++) {
    char json[512], text[128];
    rs_findings findings;
    snprintf(json, sizeof json, LAYERS(TYPES("full_attention", "%s", "full_attention", "full_attention")), types[i]);
    snprintf(text, sizeof text, "\"%s\" is no type of layers that is known here", types[i]);
    cr_assert_eq(rs_check(json, strlen(json), "config.json", 0, &findings, NULL), RS_OK);
    cr_assert_eq(findings.count, 1, "%s", json);
    cr_expect_str_eq(findings.items[0].text, text);
    cr_expect_str_eq(findings.items[0].fix, "");
    cr_expect_str_eq(findings.items[0].key, "layer_types[1]");
    cr_expect_eq(findings.items[0].severity, RS_ERROR);
    rs_findings_clear(&findings);
  }
  finds(LAYERS(TYPES("full_attention", "hybrid", "minimax_m3_sparse", "full_attention")), "RS809", 2, 16,
        "layers 2 (minimax_m3_sparse) attend chosen keys", "");
}

Test(check_layers, windows__without_a_length_or_against_the_pattern) {
  finds(LAYERS(MIXED), "RS806", 2, 16, "layers 0-2 are sliding_attention, and there is no sliding_window",
        "add \"sliding_window\"");
  finds(LAYERS("\"sliding_window\": 64, \"sliding_window_pattern\": 2,\n" MIXED), "RS807", 2, 49,
        "by the pattern 2 layer 1 has no window, by layer_types on line 3 it has one", "keep layer_types");
  finds(LAYERS("\"sliding_window\": 64, \"sliding_window_pattern\": 4,\n" TYPES("sliding_attention", "full_attention",
                                                                                "sliding_attention", "full_attention")),
        "RS807", 2, 49, "by the pattern 4 layer 1 has a window, by layer_types on line 3 it has none", "");
}

Test(check_layers, words_for_layers_that_are_not_there) {
  finds(LAYERS("\"rope_local_base_freq\": 10000.0"), "RS803", 2, 25,
        "rope_local_base_freq = 10000 is of layers with a window, and no layer has one", "take it away");
  finds(LAYERS("\"rope_parameters\": {\"full_attention\": {\"rope_type\": \"default\", \"rope_theta\": 1000000.0},\n"
               "\"sliding_attention\": {\"rope_type\": \"default\", \"rope_theta\": 10000.0}}"),
        "RS804", 3, 22, "no layer is sliding_attention: rope_parameters.sliding_attention changes nothing", "");
  finds(LAYERS("\"rope_parameters\": {\"full_attention\": {\"rope_type\": \"default\", \"rope_theta\": 1000000.0},\n"
               "\"slidng_attention\": {\"rope_type\": \"default\", \"rope_theta\": 10000.0}}"),
        "RS805", 3, 21, "(did you mean sliding_attention?)", "write \"sliding_attention\"");
}

Test(check_layers, keys_beside_types_of_layers__are_not_read) {
  finds(LAYERS("\"rope_parameters\": {\"full_attention\": {\"rope_type\": \"default\", \"rope_theta\": 1000000.0},\n"
               "\"sliding_attention\": null, \"factor\": 8.0}"),
        "RS808", 3, 38, "factor stands beside dictionaries by type of layers", "write it into");
}

Test(check_layers, several_recipes__are_listed) {
  finds(LAYERS("\"sliding_window\": 64, \"rope_local_base_freq\": 10000.0, " MIXED), "RS801", 0, 0,
        "what is said of the recipe is of full_attention (layers 3), not sliding_attention (0-2)", "");
}

/* Published shapes: DeepSeek-V3.2's indexer, GLM-5's, MiniMax-M3's blocks. */
Test(check_layers, choices__are_told_with_what_the_indexer_turns) {
#define INDEXED(type, more)                                                                                            \
  "{\"model_type\": \"" type "\", \"hidden_size\": 64, \"num_attention_heads\": 2, \"num_hidden_layers\": 4, "         \
  "\"rope_theta\": 1000000.0, \"max_position_embeddings\": 4096, \"qk_nope_head_dim\": 128,\n"                         \
  "\"qk_rope_head_dim\": 64, \"index_head_dim\": 128, \"index_topk\": 2048" more "}"
#define FAR "the choice is not modelled yet): what is said of far keys holds for keys that are chosen"
#define BY(layout) "(by an indexer whose q and k turn the first 64 of 128 dims in " layout "; " FAR
  finds(INDEXED("deepseek_v32", ""), "RS809", 2, 62,
        "layers 0-3 (full_attention) attend 2048 chosen keys " BY(
            "halves") "; q and k of the layers themselves turn 64 of "
                      "192 dims in pairs of neighbours",
        "");
  finds(INDEXED("glm_moe_dsa", ""), "RS809", 2, 62, BY("pairs of neighbours"), "");
  finds(INDEXED("glm_moe_dsa", ", \"indexer_rope_interleave\": false"), "RS809", 2, 62, BY("halves"), "");
  finds(INDEXED("zebra", ""), "RS809", 2, 62, "attend 2048 chosen keys (" FAR, "");
  finds(LAYERS("\"sparse_attention_config\": {\"sparse_topk_blocks\": 16, \"sparse_block_size\": 128, "
               "\"sparse_attention_freq\": [0, 0, 1, 1]}"),
        "RS809", 2, 28, "layers 2-3 (minimax_m3_sparse) attend 16 chosen blocks of 128 keys (" FAR, "");
}

/* Shapes as published, numbers of our own: each was read wrongly once. What a file comes to is a line for each kind of
 * its layers. */
Test(check_layers, files__of_classes_of_2025_and_26) {
  static const struct {
    const char *file, *layers;
  } cases[] = {
      {"hunyuan-dense", "0-7: full_attention, everything before, ntk 10000\n"},
      {"kimi-linear", "0-2, 4: linear_attention, none\n3, 5: full_attention, everything before, nope\n"},
      {"kimi-layer-types", "0-2, 4: linear_attention, none\n3, 5: full_attention, everything before, nope\n"},
      {"granite-swa",
       "0, 4: full_attention, everything before, nope\n1-3, 5-7: sliding_attention, window 128, rope 10000\n"},
      {"muse-glimmer", "0-2: sliding_attention, window 512, rope 500000\n3: full_attention, everything before, nope\n"},
      {"glm5-next",
       "0-2, 4: linear_attention, none\n3: deepseek_sparse_attention, 8 chosen keys (by an indexer whose q and k "
       "do not turn; the choice is not modelled yet), nope\n"},
      {"jais2", "0-7: full_attention, everything before, rope 500000\n"},
      {"dsv32", "0-5: full_attention, 2048 chosen keys (by an indexer whose q and k turn the first 64 of 128 dims in "
                "halves; the choice is not modelled yet), yarn 10000\n"},
      {"unknown-class",
       "0-7: full_attention, everything before, rope 10000\nclass zebra_lm is unknown here and is read "
       "as a Llama; keys that are not read: sliding_window (mistral's class: layers 0-7 window 128), "
       "layer_rope_theta (granite_swa's class: layers 0, 4 turn nothing)"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_profile profile;
    rs_err err = {0};
    rs_text path = {0}, text = {0};
    rs_text_printf(&path, "%s/data/check/%s.json", getenv("ROPESCOPE_TESTS"), cases[i].file);
    cr_assert_eq(rs_profile_load(path.data, &profile, &err), RS_OK, "%s", err.message);
    for (size_t k = 0; k < profile.kind_count; k++) {
      const rs_layer_kind *kind = &profile.kinds[k];
      rs_profile_write_layers(&profile, k, &text);
      rs_text_printf(&text, ": %s, ", kind->name);
      if (kind->attends) rs_layer_kind_write_mask(kind, &text);
      const rs_method *method = kind->attends ? kind->model.published.method : NULL;
      rs_text_printf(&text, method != NULL ? ", %s" : "none", method != NULL ? method->name : "");
      if (method != NULL && method->freq != NULL) rs_text_printf(&text, " %g", kind->model.rope_theta);
      rs_text_puts(&text, "\n");
    }
    if (profile.doubt != NULL) rs_text_puts(&text, profile.doubt);
    cr_expect_str_eq(rs_text_string(&text), cases[i].layers, "%s:\n%s\n%s", cases[i].file, rs_text_string(&text),
                     cases[i].layers);
    rs_text_clear(&path);
    rs_text_clear(&text);
    rs_profile_clear(&profile);
  }
}
