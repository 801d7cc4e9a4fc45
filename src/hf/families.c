/* What Hugging Face's model families leave unsaid in config.json, as in transformers 5 (configuration_*.py): rows here
 * are of families whose weights are not read; the others say it in their architecture's row. */
#include "architectures.h"

#include <string.h>

#define OTHER(names, ...)                                                                                              \
  { .types = names, __VA_ARGS__ }

static const rs_hf_family families[] = {
    /* As Llama: nothing is left unsaid. */
    {.types = "aquila aria aria_text *axk1 baichuan chameleon decilm deci diffllama doge falcon_h1 *glm_image "
              "*glm_image_text *hyperclovax *hyperclovax_vision_v2 *jais2 jetmoe llava llava_next llava_next_video "
              "llava_onevision llava_llama llava_mistral mimo *mistral4 nemotron-nas orion plamo qwen skywork telechat "
              "xverse *youtu yuan"},
    OTHER("*afmoe", .windows = RS_WINDOW_BUT_LAST, .window = 1024, .pattern = 4, .bare = RS_BARE_GLOBAL),
    OTHER("bamba", .rotary_fraction = 0.5),
    OTHER("bart", .method = "learned"),
    OTHER("beit", .otherwise = RS_WINDOWED),
    OTHER("big_bird", .method = "learned", .both_ways = true),
    OTHER("bigbird_pegasus", .method = "learned"),
    OTHER("biogpt", .method = "learned"),
    OTHER("bitnet", .theta = 500000),
    OTHER("blenderbot blenderbot-small", .method = "learned"),
    OTHER("camembert", .method = "learned", .both_ways = true),
    OTHER("chatglm", .rotary_fraction = 0.5, .interleaved = true),
    OTHER("clip clip_text_model clip_vision_model clipseg clipseg_text_model clipseg_vision_model",
          .method = "learned"),
    OTHER("convbert", .method = "learned", .both_ways = true),
    OTHER("csm", .theta = 500000),
    OTHER("ctrl", .method = "sinusoidal", .layout = "halves"),
    OTHER("*cwm", .theta = 1e6, .windows = RS_WINDOW_BUT_FIRST, .window = 8192, .pattern = 4),
    OTHER("data2vec-audio", .otherwise = RS_CONVOLVED),
    OTHER("data2vec-text", .method = "learned", .both_ways = true),
    OTHER("data2vec-vision", .otherwise = RS_WINDOWED),
    OTHER("deberta deberta-v2", .otherwise = RS_DISENTANGLED),
    OTHER("deepseek_ref", .head_dim = 512, .rotary_fraction = 0.125, .interleaved = true,
          .windows = RS_WINDOW_COMPRESSED, .window = 128),
    OTHER("*deepseek_v4", .head_dim = 512, .rotary_fraction = 0.125, .interleaved = true,
          .windows = RS_WINDOW_COMPRESSED, .window = 128),
    OTHER("dinov3_vit", .otherwise = RS_SCALED_PATCHES),
    OTHER("dpt", .method = "learned_2d", .both_ways = true),
    OTHER("emu3 emu3_text_model", .theta = 1e6),
    OTHER("ernie", .method = "learned", .both_ways = true),
    OTHER("ernie4_5_vl *ernie4_5_vl_moe *ernie4_5_vl_moe_text *ernie4_5_moe_vl", .theta = 500000, .interleaved = true),
    OTHER("esm", .method = "learned", .both_ways = true),
    OTHER("*eurobert", .both_ways = true),
    OTHER("*exaone_moe", .windows = RS_WINDOW_BUT_LAST, .window = 4096, .pattern = 4, .bare = RS_BARE_BESIDE),
    OTHER("falcon_mamba", .otherwise = RS_NO_ATTENTION),
    OTHER("flaubert", .method = "learned"),
    OTHER("flava flava_text_model flava_image_model flava_multimodal_model", .method = "learned", .both_ways = true),
    OTHER("flex_olmo", .theta = 500000),
    OTHER("fnet", .otherwise = RS_NO_ATTENTION),
    OTHER("fsmt", .method = "sinusoidal", .layout = "tensor2tensor", .offset = 2),
    OTHER("funnel", .otherwise = RS_TURNED_QUERIES),
    OTHER("gemma3n gemma3n_text", .head_dim = 256, .theta = 1e6, .local_theta = 10000, .plain_local = true,
          .windows = RS_WINDOW_BUT_LAST, .window = 512, .pattern = 5),
    OTHER("*gemma4 *gemma4_text", .head_dim = 256, .global_head_dim = 512, .windows = RS_WINDOW_BUT_LAST, .window = 512,
          .pattern = 6, .ends_global = true),
    OTHER("*gemma4_unified *gemma4_unified_text", .head_dim = 256, .global_head_dim = 512,
          .windows = RS_WINDOW_BUT_LAST, .window = 1024, .pattern = 6, .ends_global = true),
    OTHER("git", .method = "learned"),
    OTHER("*glm_ocr *glm_ocr_text", .interleaved = true),
    OTHER("*glm5_next *glm5_next_text", .interleaved = true, .linear = 4, .bare = RS_BARE_ALL),
    OTHER("glm4v glm4v_text", .interleaved = true),
    OTHER("*gte", .theta = 160000, .both_ways = true),
    OTHER("gpt_neox_japanese", .length = 2048, .rotary_fraction = 1),
    OTHER("gpt_refact", .method = "alibi"),
    OTHER("granitemoehybrid", .method = "nope"), /* unless position_embedding_type is "rope" */
    OTHER("*granite_swa *granitemoe_swa", .windows = RS_WINDOW_BUT_FIRST, .window = 128, .pattern = 4,
          .layer_bases = true),
    OTHER("*hrm_text", .head_dim = 128),
    OTHER("hubert", .otherwise = RS_CONVOLVED),
    OTHER("*hy_v3", .theta = 11158840, .head_dim = 128),
    OTHER("ibert", .method = "learned", .both_ways = true),
    OTHER("ijepa", .method = "learned_2d", .both_ways = true),
    OTHER("imagegpt", .method = "learned"),
    OTHER("jais", .method = "learned"),
    OTHER("jamba", .bare = RS_BARE_ALL),
    OTHER("*jina_embeddings_v3", .theta = 20000, .both_ways = true),
    OTHER("kimi_k2 *kimi_k25", .interleaved = true),
    OTHER("*kimi_linear", .interleaved = true, .linear_but_first = true, .bare = RS_BARE_ALL),
    OTHER("*kolibri1", .head_dim = 128, .windows = RS_WINDOW_BUT_LAST, .window = 513, .pattern = 5,
          .bare = RS_BARE_BESIDE),
    OTHER("layoutlm layoutlmv2 layoutlmv3", .method = "learned", .both_ways = true),
    OTHER("led", .method = "learned"),
    OTHER("lfm2 *lfm2_moe lfm2_vl", .theta = 1e6),
    OTHER("lilt", .method = "learned", .both_ways = true),
    OTHER("longcat_flash", .theta = 1e7, .interleaved = true),
    OTHER("longformer", .method = "learned", .both_ways = true),
    OTHER("luke", .method = "learned", .both_ways = true),
    OTHER("m2m_100", .method = "sinusoidal", .layout = "tensor2tensor", .offset = 2),
    OTHER("mamba mamba2", .otherwise = RS_NO_ATTENTION),
    OTHER("marian", .method = "sinusoidal", .layout = "halves"),
    OTHER("markuplm", .method = "learned", .both_ways = true),
    OTHER("mbart", .method = "learned"),
    OTHER("megatron-bert", .method = "learned", .both_ways = true),
    OTHER("*mimo_v2_flash", .theta = 5e6, .local_theta = 10000, .local_key = "swa_rope_theta", .rotary_fraction = 0.334,
          .head_dim = 192, .windows = RS_WINDOW_BUT_ENDS, .window = 128, .pattern = 6),
    OTHER("minimax minimax_text_01 minimax_m1", .theta = 1e6),
    OTHER("*minimax_m2", .theta = 5e6),
    OTHER("minimax_m3 *minimax_m3_vl *minimax_m3_vl_text", .theta = 5e6, .head_dim = 128),
    OTHER("mllama mllama_text_model", .theta = 500000),
    OTHER("*mellum", .head_dim = 128, .window = 1024),
    OTHER("mobilebert", .method = "learned", .both_ways = true),
    OTHER("modernbert-decoder", .theta = 160000, .local_theta = 10000, .local_key = "local_rope_theta",
          .windows = RS_WINDOW_BUT_FIRST, .window = 64, .pattern = 3),
    OTHER("moonshine moonshine_streaming", .interleaved = true),
    OTHER("mpnet", .otherwise = RS_TWO_WAYS),
    OTHER("*muse_glimmer *muse_glimmer_text", .head_dim = 128, .windows = RS_WINDOW_BUT_LAST, .window = 2048,
          .pattern = 4, .from_last = true, .bare = RS_BARE_GLOBAL, .layer_bases = true),
    OTHER("*muse_spark *muse_spark_text", .head_dim = 64, .windows = RS_WINDOW_BUT_LAST, .window = 2048, .pattern = 4,
          .from_last = true, .bare = RS_BARE_GLOBAL, .layer_bases = true),
    OTHER("mvp", .method = "learned"),
    OTHER("*nemotron_h", .bare = RS_BARE_ALL),
    OTHER("nllb-moe", .method = "sinusoidal", .layout = "tensor2tensor", .offset = 2),
    OTHER("nystromformer", .method = "learned", .both_ways = true),
    OTHER("openai-gpt", .method = "learned"),
    OTHER("pegasus pegasus_x", .method = "sinusoidal", .layout = "halves"),
    OTHER("phi3small", .rotary_fraction = 1, .theta = 1e6),
    OTHER("phi4 phi4mm phi4_multimodal", .rotary_fraction = 1, .windows = RS_WINDOW_ALL),
    OTHER("plbart", .method = "learned"),
    OTHER("qwen2_5_omni qwen2_5_omni_text qwen2_5_omni_thinker qwen2_5_omni_talker", .theta = 1e6,
          .windows = RS_WINDOW_UPPER, .window = 32768, .pattern = 28),
    OTHER("*qwen3_5 *qwen3_5_text *qwen3_5_moe *qwen3_5_moe_text", .alternates = true, .head_dim = 256,
          .rotary_fraction = 0.25, .linear = 4, .sections = {11, 11, 10}),
    OTHER("qwen3_next", .alternates = true, .head_dim = 256, .rotary_fraction = 0.25, .linear = 4),
    OTHER("qwen3_omni_moe qwen3_omni_moe_text qwen3_omni_moe_thinker", .alternates = true, .length = 32768,
          .theta = 1e6),
    OTHER("recurrent_gemma", .rotary_fraction = 0.5, .linear = 3, .windows = RS_WINDOW_ALL, .window = 2048),
    OTHER("rembert", .method = "learned", .both_ways = true),
    OTHER("roc_bert", .method = "learned", .both_ways = true),
    OTHER("roformer", .interleaved = true, .both_ways = true),
    OTHER("rwkv rwkv5 rwkv6 rwkv7", .otherwise = RS_NO_ATTENTION),
    {.types = "ropescope"}, /* what is trained here */
    OTHER("sew sew-d", .otherwise = RS_CONVOLVED),
    OTHER("siglip siglip2 siglip_text_model siglip2_text_model", .method = "learned"),
    OTHER("siglip2_vision_model", .method = "learned_2d", .both_ways = true),
    OTHER("siglip_vision_model", .method = "learned_2d", .both_ways = true),
    OTHER("*solar_open", .theta = 1e6, .head_dim = 128),
    OTHER("speech_to_text", .method = "sinusoidal", .layout = "tensor2tensor", .offset = 2),
    OTHER("splinter", .method = "learned", .both_ways = true),
    OTHER("squeezebert", .method = "learned", .both_ways = true),
    OTHER("swin swin2sr swinv2", .otherwise = RS_WINDOWED),
    OTHER("t5gemma t5_gemma_module", .head_dim = 256, .windows = RS_WINDOW_BUT_LAST, .window = 4096, .pattern = 2),
    OTHER("tapas", .method = "learned", .both_ways = true),
    OTHER("trocr", .method = "learned"),
    OTHER("unispeech unispeech-sat", .otherwise = RS_CONVOLVED),
    OTHER("vaultgemma", .head_dim = 256, .windows = RS_WINDOW_BUT_LAST, .window = 4096, .pattern = 2),
    OTHER("visual_bert", .method = "learned", .both_ways = true),
    OTHER("vit_mae", .method = "sinusoidal_2d", .both_ways = true),
    OTHER("*voxtral_realtime_text", .windows = RS_WINDOW_ALL, .window = 4096),
    OTHER("wav2vec2 wav2vec2-bert wav2vec2-conformer", .otherwise = RS_CONVOLVED),
    OTHER("wavlm", .otherwise = RS_CONVOLVED),
    OTHER("whisper", .method = "learned"),
    OTHER("xlm", .method = "learned"),
    OTHER("xlnet", .otherwise = RS_TURNED_QUERIES),
    OTHER("xlstm", .otherwise = RS_NO_ATTENTION),
    OTHER("xmod", .method = "learned", .both_ways = true),
    OTHER("yolos", .method = "learned_2d", .both_ways = true),
    OTHER("yoso", .method = "learned", .both_ways = true),
    OTHER("zamba zamba2", .method = "nope", .length = 4096),
};

/* The word of a list of types, a blank between two and perhaps a star before each, or NULL. */
static const char *find_word(const char *types, const char *word) {
  size_t length = strlen(word);
  for (const char *at = types; *at != '\0'; at += strspn(at, " ")) {
    const char *name = at + (*at == '*');
    at += strcspn(at, " ");
    if (length > 0 && (size_t)(at - name) == length && strncmp(name, word, length) == 0) return name;
  }
  return NULL;
}

rs_hf_family rs_hf_family_of(const char *model_type) {
  const rs_architecture *row;
  for (size_t i = 0; (row = rs_architecture_at(i)) != NULL; i++)
    if (row->family.types != NULL && find_word(row->family.types, model_type) != NULL) return row->family;
  for (size_t i = 0; i < RS_COUNT(families); i++)
    if (find_word(families[i].types, model_type) != NULL) return families[i];
  return (rs_hf_family){0};
}

bool rs_hf_knows(const char *model_type) {
  return rs_hf_family_of(model_type).types != NULL;
}

bool rs_hf_is_of(const char *model_type, const char *family) {
  const char *types = rs_hf_family_of(model_type).types;
  return types != NULL && find_word(types, family) == types + (*types == '*');
}

bool rs_hf_is_first_in_5(const char *model_type) {
  const char *types = rs_hf_family_of(model_type).types;
  const char *word = types != NULL ? find_word(types, model_type) : NULL;
  return word != NULL && word > types && word[-1] == '*';
}

const char *rs_hf_otherwise_text(rs_otherwise otherwise) {
  static const char *const texts[] = {
      [RS_OFFERED] = "",
      [RS_DISENTANGLED] = "its attention adds products of queries, and of keys, with vectors of distances in buckets "
                          "that matrices of the layer project (DeBERTa's disentangled attention): method shaw has "
                          "neither buckets nor projections",
      [RS_TURNED_QUERIES] = "its attention is that of method transformer_xl, but its class has terms of segments or "
                            "pooled queries beside it, which are not offered here",
      [RS_NO_ATTENTION] = "it has no attention: there are no logits that positions could change",
      [RS_CONVOLVED] = "its positions come from a convolution over the tokens, which no method here is",
      [RS_WINDOWED] = "its layers have biases by row and column, each with a table of its own: config.json does not "
                      "hold their windows as one geometry (a config can say one of them: method swin, tokens: "
                      "[{image: [7, 7]}])",
      [RS_TWO_WAYS] = "it has learned positions and biases by distance at once, and no method here has both",
      [RS_SCALED_PATCHES] = "it turns rows and columns of patches that are scaled to -1 ... 1 whatever the picture's "
                            "size, which no method here does",
  };
  return texts[otherwise];
}

const char *rs_hf_base_key(const char *model_type, const rs_layer_kind *kind) {
  rs_hf_family family = rs_hf_family_of(model_type);
  if (family.local_theta == 0 || kind->mask.window == 0) return "rope_theta";
  return family.local_key != NULL ? family.local_key : "rope_local_base_freq";
}
