/* What Hugging Face's model families leave unsaid in config.json, as in transformers 5 (configuration_*.py): rows here
 * are of families whose weights are not read; the others say it in their architecture's row. */
#include "architectures.h"

#include <string.h>

static const rs_hf_family families[] = {
    {.types = "*afmoe", .windows = RS_WINDOW_BUT_LAST, .window = 1024, .pattern = 4, .bare = RS_BARE_GLOBAL},
    {.types = "aquila"},
    {.types = "baichuan"},
    {.types = "bamba", .rotary_fraction = 0.5},
    {.types = "bart", .method = "learned"},
    {.types = "beit", .otherwise = RS_WINDOWED},
    {.types = "big_bird", .method = "learned", .both_ways = true},
    {.types = "bigbird_pegasus", .method = "learned"},
    {.types = "biogpt", .method = "learned"},
    {.types = "bitnet", .theta = 500000},
    {.types = "blenderbot blenderbot-small", .method = "learned"},
    {.types = "camembert", .method = "learned", .both_ways = true},
    {.types = "chatglm", .rotary_fraction = 0.5, .interleaved = true},
    {.types = "clip clip_text_model clip_vision_model clipseg clipseg_text_model clipseg_vision_model",
     .method = "learned"},
    {.types = "convbert", .method = "learned", .both_ways = true},
    {.types = "ctrl", .method = "sinusoidal", .layout = "halves"},
    {.types = "*cwm", .theta = 1e6, .windows = RS_WINDOW_BUT_FIRST, .window = 8192, .pattern = 4},
    {.types = "data2vec-audio", .otherwise = RS_CONVOLVED},
    {.types = "data2vec-text", .method = "learned", .both_ways = true},
    {.types = "data2vec-vision", .otherwise = RS_WINDOWED},
    {.types = "deberta deberta-v2", .otherwise = RS_DISENTANGLED},
    {.types = "decilm deci"},
    {.types = "deepseek_ref",
     .head_dim = 512,
     .rotary_fraction = 0.125,
     .interleaved = true,
     .windows = RS_WINDOW_COMPRESSED,
     .window = 128},
    {.types = "*deepseek_v4",
     .head_dim = 512,
     .rotary_fraction = 0.125,
     .interleaved = true,
     .windows = RS_WINDOW_COMPRESSED,
     .window = 128},
    {.types = "deit", .method = "learned_2d", .both_ways = true},
    {.types = "diffllama"},
    {.types = "dinov3_vit", .otherwise = RS_SCALED_PATCHES},
    {.types = "doge"},
    {.types = "dpt", .method = "learned_2d", .both_ways = true},
    {.types = "ernie", .method = "learned", .both_ways = true},
    {.types = "ernie4_5_vl *ernie4_5_vl_moe *ernie4_5_vl_moe_text *ernie4_5_moe_vl",
     .theta = 500000,
     .interleaved = true},
    {.types = "esm", .method = "learned", .both_ways = true},
    {.types = "*exaone_moe", .windows = RS_WINDOW_BUT_LAST, .window = 4096, .pattern = 4, .bare = RS_BARE_BESIDE},
    {.types = "falcon_h1"},
    {.types = "falcon_mamba", .otherwise = RS_NO_ATTENTION},
    {.types = "flaubert", .method = "learned"},
    {.types = "flava flava_text_model flava_image_model flava_multimodal_model",
     .method = "learned",
     .both_ways = true},
    {.types = "flex_olmo", .theta = 500000},
    {.types = "fnet", .otherwise = RS_NO_ATTENTION},
    {.types = "fsmt", .method = "sinusoidal", .layout = "tensor2tensor", .offset = 2},
    {.types = "funnel", .otherwise = RS_TURNED_QUERIES},
    {.types = "gemma3n gemma3n_text",
     .head_dim = 256,
     .theta = 1e6,
     .local_theta = 10000,
     .plain_local = true,
     .windows = RS_WINDOW_BUT_LAST,
     .window = 512,
     .pattern = 5},
    {.types = "*gemma4 *gemma4_text",
     .head_dim = 256,
     .global_head_dim = 512,
     .windows = RS_WINDOW_BUT_LAST,
     .window = 512,
     .pattern = 6,
     .ends_global = true},
    {.types = "*gemma4_unified *gemma4_unified_text",
     .head_dim = 256,
     .global_head_dim = 512,
     .windows = RS_WINDOW_BUT_LAST,
     .window = 1024,
     .pattern = 6,
     .ends_global = true},
    {.types = "git", .method = "learned"},
    {.types = "*glm_image *glm_image_text"},
    {.types = "*glm_ocr *glm_ocr_text", .interleaved = true},
    {.types = "*glm5_next *glm5_next_text", .interleaved = true, .linear = 4, .bare = RS_BARE_ALL},
    {.types = "glm4v glm4v_text", .rotary_fraction = 0.5, .interleaved = true},
    {.types = "gpt_neox_japanese", .length = 2048, .rotary_fraction = 1},
    {.types = "gpt_refact", .method = "alibi"},
    {.types = "*granite_swa *granitemoe_swa",
     .windows = RS_WINDOW_BUT_FIRST,
     .window = 128,
     .pattern = 4,
     .layer_bases = true},
    {.types = "hubert", .otherwise = RS_CONVOLVED},
    {.types = "ibert", .method = "learned", .both_ways = true},
    {.types = "ijepa", .method = "learned_2d", .both_ways = true},
    {.types = "imagegpt", .method = "learned"},
    {.types = "jais", .method = "learned"},
    {.types = "*jais2"},
    {.types = "jamba", .bare = RS_BARE_ALL},
    {.types = "jetmoe"},
    {.types = "kimi_k2 *kimi_k25", .interleaved = true},
    {.types = "*kimi_linear", .interleaved = true, .linear_but_first = true, .bare = RS_BARE_ALL},
    {.types = "layoutlm layoutlmv2 layoutlmv3", .method = "learned", .both_ways = true},
    {.types = "led", .method = "learned"},
    {.types = "lfm2 *lfm2_moe lfm2_vl", .theta = 1e6},
    {.types = "lilt", .method = "learned", .both_ways = true},
    {.types = "llava llava_next llava_next_video llava_onevision llava_llama llava_mistral"},
    {.types = "longcat_flash", .theta = 1e7, .interleaved = true},
    {.types = "longformer", .method = "learned", .both_ways = true},
    {.types = "luke", .method = "learned", .both_ways = true},
    {.types = "m2m_100", .method = "sinusoidal", .layout = "tensor2tensor", .offset = 2},
    {.types = "mamba mamba2", .otherwise = RS_NO_ATTENTION},
    {.types = "marian", .method = "sinusoidal", .layout = "halves"},
    {.types = "markuplm", .method = "learned", .both_ways = true},
    {.types = "mbart", .method = "learned"},
    {.types = "megatron-bert", .method = "learned", .both_ways = true},
    {.types = "mimo"},
    {.types = "*mimo_v2_flash",
     .theta = 5e6,
     .local_theta = 10000,
     .local_key = "swa_rope_theta",
     .rotary_fraction = 0.334,
     .head_dim = 192,
     .windows = RS_WINDOW_BUT_ENDS,
     .window = 128,
     .pattern = 6},
    {.types = "minimax minimax_text_01 minimax_m1", .theta = 1e6},
    {.types = "*minimax_m2", .theta = 5e6},
    {.types = "minimax_m3 *minimax_m3_vl *minimax_m3_vl_text", .theta = 5e6, .head_dim = 128},
    {.types = "*mistral4"},
    {.types = "mllama mllama_text_model", .theta = 500000},
    {.types = "mobilebert", .method = "learned", .both_ways = true},
    {.types = "modernbert-decoder",
     .theta = 160000,
     .local_theta = 10000,
     .local_key = "local_rope_theta",
     .windows = RS_WINDOW_BUT_FIRST,
     .window = 64,
     .pattern = 3},
    {.types = "moonshine moonshine_streaming", .interleaved = true},
    {.types = "mpnet", .otherwise = RS_TWO_WAYS},
    {.types = "*muse_glimmer *muse_glimmer_text",
     .head_dim = 128,
     .windows = RS_WINDOW_BUT_LAST,
     .window = 2048,
     .pattern = 4,
     .from_last = true,
     .bare = RS_BARE_GLOBAL,
     .layer_bases = true},
    {.types = "mvp", .method = "learned"},
    {.types = "nemotron-nas"},
    {.types = "*nemotron_h", .bare = RS_BARE_ALL},
    {.types = "nllb-moe", .method = "sinusoidal", .layout = "tensor2tensor", .offset = 2},
    {.types = "nystromformer", .method = "learned", .both_ways = true},
    {.types = "openai-gpt", .method = "learned"},
    {.types = "orion"},
    {.types = "pegasus pegasus_x", .method = "sinusoidal", .layout = "halves"},
    {.types = "phi3small", .rotary_fraction = 1, .theta = 1e6},
    {.types = "phi4 phi4mm phi4_multimodal", .rotary_fraction = 1, .windows = RS_WINDOW_ALL},
    {.types = "plamo"},
    {.types = "plbart", .method = "learned"},
    {.types = "qwen"},
    {.types = "qwen2_5_omni qwen2_5_omni_text qwen2_5_omni_thinker qwen2_5_omni_talker",
     .theta = 1e6,
     .windows = RS_WINDOW_UPPER,
     .window = 32768,
     .pattern = 28},
    {.types = "*qwen3_5 *qwen3_5_text *qwen3_5_moe *qwen3_5_moe_text",
     .alternates = true,
     .head_dim = 256,
     .rotary_fraction = 0.25,
     .linear = 4,
     .sections = {11, 11, 10}},
    {.types = "qwen3_next", .alternates = true, .head_dim = 256, .rotary_fraction = 0.25, .linear = 4},
    {.types = "qwen3_omni_moe qwen3_omni_moe_text qwen3_omni_moe_thinker",
     .alternates = true,
     .length = 32768,
     .theta = 1e6},
    {.types = "recurrent_gemma", .rotary_fraction = 0.5},
    {.types = "rembert", .method = "learned", .both_ways = true},
    {.types = "roc_bert", .method = "learned", .both_ways = true},
    {.types = "roformer", .interleaved = true, .both_ways = true},
    {.types = "rwkv rwkv5 rwkv6 rwkv7", .otherwise = RS_NO_ATTENTION},
    {.types = "ropescope"}, /* what is trained here */
    {.types = "sew sew-d", .otherwise = RS_CONVOLVED},
    {.types = "siglip siglip2 siglip_text_model siglip2_text_model", .method = "learned"},
    {.types = "siglip2_vision_model", .method = "learned_2d", .both_ways = true},
    {.types = "siglip_vision_model", .method = "learned_2d", .both_ways = true},
    {.types = "skywork"},
    {.types = "speech_to_text", .method = "sinusoidal", .layout = "tensor2tensor", .offset = 2},
    {.types = "splinter", .method = "learned", .both_ways = true},
    {.types = "squeezebert", .method = "learned", .both_ways = true},
    {.types = "swin swin2sr swinv2", .otherwise = RS_WINDOWED},
    {.types = "t5gemma", .head_dim = 256, .windows = RS_WINDOW_BUT_LAST, .window = 4096, .pattern = 2},
    {.types = "tapas", .method = "learned", .both_ways = true},
    {.types = "telechat"},
    {.types = "transfo-xl", .otherwise = RS_TURNED_QUERIES},
    {.types = "trocr", .method = "learned"},
    {.types = "unispeech unispeech-sat", .otherwise = RS_CONVOLVED},
    {.types = "visual_bert", .method = "learned", .both_ways = true},
    {.types = "vit_mae", .method = "sinusoidal_2d", .both_ways = true},
    {.types = "wav2vec2 wav2vec2-bert wav2vec2-conformer", .otherwise = RS_CONVOLVED},
    {.types = "wavlm", .otherwise = RS_CONVOLVED},
    {.types = "whisper", .method = "learned"},
    {.types = "xlm", .method = "learned"},
    {.types = "xlnet", .otherwise = RS_TURNED_QUERIES},
    {.types = "xlstm", .otherwise = RS_NO_ATTENTION},
    {.types = "xmod", .method = "learned", .both_ways = true},
    {.types = "xverse"},
    {.types = "yolos", .method = "learned_2d", .both_ways = true},
    {.types = "yoso", .method = "learned", .both_ways = true},
    {.types = "yuan"},
    {.types = "zamba zamba2", .method = "nope", .length = 4096},
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
      [RS_DISENTANGLED] = "its attention adds products of contents with vectors of distances (DeBERTa's disentangled "
                          "attention), which no method here has",
      [RS_TURNED_QUERIES] = "its attention adds products of queries with sinusoidal vectors of distances "
                            "(Transformer-XL), which no method here has",
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
