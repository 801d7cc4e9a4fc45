/* What solve setting scores and what its keys say: keys written into the file they are for give the recipe that was
 * scored, for each recipe that a config can say, not for the best alone. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "../fixtures/merged_config.h"
#include "advice/advice.h"

#define YARN(keys)                                                                                                     \
  "\"rope_scaling\": {\"rope_type\": \"yarn\", \"factor\": 4, \"original_max_position_embeddings\": 512" keys "}"
#define LATENT                                                                                                         \
  "\"qk_rope_head_dim\": 16, \"qk_nope_head_dim\": 16, \"v_head_dim\": 16, \"kv_lora_rank\": 8, \"q_lora_rank\": "     \
  "null, "
#define LISTS "\"short_factor\": [1, 1, 1, 1, 1, 1, 1.5, 2], \"long_factor\": [1, 2, 3, 4, 5, 6, 7, 8]"
#define WINDOWS "\"num_hidden_layers\": 4, \"sliding_window\": 64, "

/* Files of D = 16 with 2048 positions, of whose keys a recipe for a longer context keeps some. */
static const char *const files[] = {
    "\"model_type\": \"llama\", \"rope_theta\": 500000",
    "\"model_type\": \"llama\", " YARN(""),
    "\"model_type\": \"llama\", " YARN(", \"attention_factor\": 1.5"),
    "\"model_type\": \"llama\", " YARN(", \"mscale\": 0.7, \"mscale_all_dim\": 0.4"),
    "\"model_type\": \"deepseek_v3\", " LATENT YARN(", \"mscale\": 1, \"mscale_all_dim\": 1"),
    "\"model_type\": \"deepseek_v2\", " LATENT YARN(", \"mscale\": 0.707, \"mscale_all_dim\": 0.707"),
    "\"model_type\": \"kimi_k2\", " LATENT YARN(", \"beta_fast\": 1, \"mscale\": 1, \"mscale_all_dim\": 1"),
    "\"model_type\": \"gpt_oss\", \"head_dim\": 16, \"rope_theta\": 150000, " WINDOWS YARN(", \"truncate\": false"),
    "\"model_type\": \"phi3\", \"original_max_position_embeddings\": 512, "
    "\"rope_scaling\": {\"type\": \"longrope\", " LISTS "}",
    "\"model_type\": \"phi3\"",
    "\"model_type\": \"llama\", \"rope_scaling\": {\"rope_type\": \"longrope\", " LISTS
    ", \"factor\": 4, \"original_max_position_embeddings\": 512}",
    "\"model_type\": \"llama\", \"rope_scaling\": {\"rope_type\": \"llama3\", \"factor\": 4, \"low_freq_factor\": 2, "
    "\"high_freq_factor\": 8, \"original_max_position_embeddings\": 512}",
    "\"model_type\": \"llama\", \"rope_scaling\": {\"rope_type\": \"dynamic\", \"factor\": 4}",
    "\"model_type\": \"llama\", \"rope_scaling\": {\"type\": \"linear\", \"factor\": 4}",
    "\"model_type\": \"llama\", \"rope_parameters\": {\"rope_type\": \"proportional\", \"partial_rotary_factor\": 0.5}",
    "\"model_type\": \"llama\", \"partial_rotary_factor\": 0.5",
    "\"model_type\": \"gpt_neox\", \"rotary_pct\": 0.25, \"rotary_emb_base\": 5000",
    "\"model_type\": \"qwen2_vl\", \"rope_scaling\": {\"type\": \"mrope\", \"mrope_section\": [4, 2, 2]}",
    "\"model_type\": \"gemma3_text\", \"head_dim\": 16, \"sliding_window_pattern\": 2, " WINDOWS
    "\"rope_scaling\": {\"rope_type\": \"linear\", \"factor\": 4}",
    "\"model_type\": \"olmo3\", " WINDOWS "\"layer_types\": [\"sliding_attention\", \"sliding_attention\", "
    "\"sliding_attention\", \"full_attention\"], " YARN(""),
    "\"model_type\": \"llama\", " WINDOWS "\"layer_types\": [\"sliding_attention\", \"full_attention\", "
    "\"sliding_attention\", \"full_attention\"], \"rope_parameters\": {\"sliding_attention\": {\"rope_type\": "
    "\"default\", \"rope_theta\": 500}, \"full_attention\": {\"rope_type\": \"default\", \"rope_theta\": 500}}",
    "\"model_type\": \"deepseek_v4\", \"head_dim\": 16, \"qk_rope_head_dim\": 8, \"compress_ratios\": [128, 4, 128, "
    "4], "
    "\"compress_rope_theta\": 160000, " WINDOWS YARN(""),
    "\"model_type\": \"qwen\", \"seq_length\": 2048, \"use_dynamic_ntk\": true, \"use_logn_attn\": true",
    "\"model_type\": \"smollm3\", \"num_hidden_layers\": 4, \"no_rope_layers\": [1, 1, 1, 0]",
    "\"model_type\": \"mistral\", " YARN(", \"apply_yarn_scaling\": false"),
};

static void expect_same_table(const rs_recipe *asked, const rs_model *model, const rs_model *got, size_t length,
                              const char *what) {
  rs_recipe recipe = {0};
  rs_spectrum x = {0}, y = {0};
  rs_err err = {0};
  cr_assert_eq(rs_spectrum_make(asked, model, length, &x, &err), RS_OK, "%s: %s", what, err.message);
  cr_assert_eq(rs_recipe_copy(&recipe, &got->published, &err), RS_OK);
  cr_assert_eq(rs_recipe_resolve(&recipe, got, &err), RS_OK, "%s: %s", what, err.message);
  cr_assert_eq(rs_spectrum_make(&recipe, got, length, &y, &err), RS_OK, "%s: %s", what, err.message);
  rs_difference d = rs_spectrum_compare(&x, &y, 1e-12);
  cr_expect_eq(d.differs, 0, "%s\nat %zu: %#x, %zu pairs, pair %zu by %g; amplitudes %g and %g, logits %g and %g", what,
               length, d.differs, d.count, d.worst, d.largest, x.amp, y.amp, x.logit_factor, y.logit_factor);
  rs_recipe_clear(&recipe);
  rs_spectrum_clear(&x);
  rs_spectrum_clear(&y);
}

static void see_candidate(const char *text, const rs_ranking *ranking, const rs_candidate *c, size_t length) {
  rs_convertible model;
  rs_conversion conversion;
  rs_text what = {0};
  rs_err err = {0};
  cr_assert_eq(rs_convertible_read(text, strlen(text), "file", &model, &err), RS_OK, "%s: %s", text, err.message);
  cr_assert_eq(rs_candidate_convert(ranking, c, length, &model, "hf5", &conversion, &err), RS_OK, "%s: %s", text,
               err.message);
  rs_text_printf(&what, "%s\n", text);
  rs_recipe_write(&c->recipe, &what);
  rs_text_printf(&what, "\n%s", conversion.fragment);
  rs_profile got = read_merged(what.data, &model.config->root, conversion.fragment, NOTHING_DROPPED);
  /* Layers of other kinds, as those with a window, have the same dictionary where the file has one. */
  bool flat = strstr(text, "attention\": {") == NULL;
  cr_assert_eq(got.kind_count, ranking->profile.kind_count, "%s", what.data);
  for (size_t k = 0; k < got.kind_count; k++) {
    const rs_layer_kind *kind = &ranking->profile.kinds[k];
    bool shared = flat && kind->attends && rs_layers_turn_alike(kind, &ranking->profile.kinds[ranking->kind]);
    if (k != ranking->kind && !shared) continue;
    expect_same_table(&c->recipe, ranking->model, &got.kinds[k].model, length, what.data);
    expect_same_table(&c->recipe, ranking->model, &got.kinds[k].model, (size_t)ranking->train_length, what.data);
  }
  rs_profile_clear(&got);
  rs_text_clear(&what);
  rs_conversion_clear(&conversion);
  rs_convertible_clear(&model);
}

Test(setting_fragments, keys_in_their_file__the_recipe_that_was_scored) {
  for (size_t i = 0; i < RS_COUNT(files); i++) {
    rs_ranking ranking;
    rs_text text = {0};
    rs_err err = {0};
    size_t said = 0;
    rs_text_printf(&text, "{\"hidden_size\": 64, \"num_attention_heads\": 4, \"max_position_embeddings\": 2048, %s}",
                   files[i]);
    const rs_ranking_in in = {.length = 16384, .hf = "file", .hf_text = text.data};
    cr_assert_eq(rs_rank_settings(&in, &ranking, &err), RS_OK, "%s: %s", files[i], err.message);
    for (size_t c = 0; c < ranking.count; c++) {
      if (ranking.items[c].said.method == NULL) continue;
      see_candidate(text.data, &ranking, &ranking.items[c], in.length);
      said++;
    }
    cr_expect_geq(said, ranking.extended ? 1 : 3, "%s: %zu recipes in keys", files[i], said);
    rs_ranking_clear(&ranking);
    rs_text_clear(&text);
  }
}
