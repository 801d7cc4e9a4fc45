/* Which model_type a class that config.json names under `architectures` belongs to. Engines go by that name,
 * transformers by model_type: a file may have one of the two, or two that do not agree.
 *
 * Names of classes as in transformers 5.24 (models/auto/modeling_auto.py), and of models' own code; each is known
 * whole: what a model is called, and one of the roles. */
#include "hf_internal.h"

#include <string.h>

/* What stands behind a model's name. */
static const char *const roles[] = {"ForCausalLM",
                                    "ForConditionalGeneration",
                                    "LMHeadModel",
                                    "WithLMHeadModel",
                                    "DoubleHeadsModel",
                                    "Model",
                                    "EncoderModel",
                                    "PreTrainedModel",
                                    "MTModel",
                                    "Decoder",
                                    "Encoder",
                                    "ForMaskedLM",
                                    "ForPreTraining",
                                    "ForSequenceClassification",
                                    "ForTokenClassification",
                                    "ForQuestionAnswering",
                                    "ForQuestionAnsweringSimple",
                                    "ForMultipleChoice",
                                    "ForNextSentencePrediction",
                                    "ForImageClassification",
                                    "ForImageClassificationWithTeacher"};

/* clang-format off */
static const struct {
  const char *name, *type;
} classes[] = {
    {"Afmoe", "afmoe"}, {"Albert", "albert"}, {"Apertus", "apertus"}, {"Apertus1p5", "apertus1p5"},
    {"Apertus1p5Text", "apertus1p5_text"}, {"Aquila", "aquila"}, {"Arcee", "arcee"}, {"Aria", "aria"},
    {"AriaText", "aria_text"}, {"AXK1", "axk1"}, {"BaiChuan", "baichuan"}, {"Baichuan", "baichuan"},
    {"Bamba", "bamba"}, {"Bart", "bart"}, {"Beit", "beit"}, {"Bert", "bert"}, {"BertGeneration", "bert-generation"},
    {"BigBird", "big_bird"}, {"BigBirdPegasus", "bigbird_pegasus"}, {"BioGpt", "biogpt"}, {"BitNet", "bitnet"},
    {"Blenderbot", "blenderbot"}, {"BlenderbotSmall", "blenderbot-small"}, {"Bloom", "bloom"},
    {"Camembert", "camembert"}, {"Chameleon", "chameleon"}, {"ChatGLM", "chatglm"}, {"CLIP", "clip"},
    {"CLIPSeg", "clipseg"}, {"CLIPText", "clip_text_model"}, {"CLIPVision", "clip_vision_model"},
    {"CodeGen", "codegen"}, {"Cohere", "cohere"}, {"Cohere2", "cohere2"}, {"Cohere2Vision", "cohere2_vision"},
    {"ConvBert", "convbert"}, {"Csm", "csm"}, {"CTRL", "ctrl"}, {"Cwm", "cwm"}, {"Data2VecAudio", "data2vec-audio"},
    {"Data2VecText", "data2vec-text"}, {"Data2VecVision", "data2vec-vision"}, {"Dbrx", "dbrx"},
    {"Deberta", "deberta"}, {"DebertaV2", "deberta-v2"}, {"Deci", "deci"}, {"DeciLM", "decilm"},
    {"Deepseek", "deepseek"}, {"DeepseekV2", "deepseek_v2"}, {"DeepseekV3", "deepseek_v3"},
    {"DeepseekV32", "deepseek_v32"}, {"DeepseekV4", "deepseek_v4"}, {"DeepseekVLV2", "deepseek_vl_v2"},
    {"DeiT", "deit"}, {"DiffLlama", "diffllama"}, {"Dinov2", "dinov2"},
    {"Dinov2WithRegisters", "dinov2_with_registers"}, {"DINOv3ViT", "dinov3_vit"}, {"DistilBert", "distilbert"},
    {"Doge", "doge"}, {"Dots1", "dots1"}, {"DPT", "dpt"}, {"Electra", "electra"}, {"Emu3", "emu3"},
    {"Ernie", "ernie"}, {"Ernie4_5", "ernie4_5"}, {"Ernie4_5_Moe", "ernie4_5_moe"}, {"Ernie4_5_VL", "ernie4_5_vl"},
    {"Ernie4_5_VLMoe", "ernie4_5_vl_moe"}, {"Esm", "esm"}, {"EuroBert", "eurobert"}, {"Exaone", "exaone"},
    {"Exaone4", "exaone4"}, {"Exaone4_5_", "exaone4_5"}, {"ExaoneMoe", "exaone_moe"}, {"Falcon", "falcon"},
    {"FalconH1", "falcon_h1"}, {"FalconMamba", "falcon_mamba"}, {"Flaubert", "flaubert"}, {"Flava", "flava"},
    {"FlexOlmo", "flex_olmo"}, {"FNet", "fnet"}, {"FS", "fsmt"}, {"FSMT", "fsmt"},
    {"Funnel", "funnel"}, {"FunnelBase", "funnel"}, {"Gemma", "gemma"}, {"Gemma2", "gemma2"}, {"Gemma3", "gemma3"},
    {"Gemma3n", "gemma3n"}, {"Gemma3nText", "gemma3n_text"}, {"Gemma3Text", "gemma3_text"}, {"Gemma4", "gemma4"},
    {"Gemma4Text", "gemma4_text"}, {"Gemma4Unified", "gemma4_unified"}, {"Gemma4UnifiedText", "gemma4_unified_text"},
    {"Git", "git"}, {"Glm", "glm"}, {"Glm4", "glm4"}, {"Glm4Moe", "glm4_moe"}, {"Glm4MoeLite", "glm4_moe_lite"},
    {"Glm4v", "glm4v"}, {"Glm4vMoe", "glm4v_moe"}, {"Glm4vMoeText", "glm4v_moe_text"}, {"Glm4vText", "glm4v_text"},
    {"Glm5Next", "glm5_next"}, {"Glm5NextText", "glm5_next_text"}, {"GlmImage", "glm_image"},
    {"GlmImageText", "glm_image_text"}, {"GlmMoeDsa", "glm_moe_dsa"}, {"GlmOcr", "glm_ocr"},
    {"GlmOcrText", "glm_ocr_text"}, {"GPT2", "gpt2"}, {"GPTBigCode", "gpt_bigcode"}, {"GPTJ", "gptj"},
    {"GPTNeo", "gpt_neo"}, {"GPTNeoX", "gpt_neox"}, {"GPTNeoXJapanese", "gpt_neox_japanese"}, {"GptOss", "gpt_oss"},
    {"GPTRefact", "gpt_refact"}, {"Granite", "granite"}, {"Granite4Vision", "granite4_vision"},
    {"GraniteDocling", "granite_docling"}, {"GraniteDoclingText", "granite_docling_text"},
    {"GraniteMoe", "granitemoe"}, {"GraniteMoeHybrid", "granitemoehybrid"}, {"GraniteMoeShared", "granitemoeshared"},
    {"GraniteMoeSWA", "granitemoe_swa"}, {"GraniteSWA", "granite_swa"}, {"Gte", "gte"}, {"Helium", "helium"},
    {"HrmText", "hrm_text"}, {"Hubert", "hubert"}, {"HunYuan", "hunyuan"}, {"HunYuanDenseV1", "hunyuan_v1_dense"},
    {"HunYuanMoE", "hunyuan_v1_moe"}, {"HunYuanMoEV1", "hunyuan_v1_moe"}, {"HunYuanVL", "hunyuan_vl"},
    {"HunYuanVLText", "hunyuan_vl_text"}, {"HyperCLOVAX", "hyperclovax"},
    {"HyperCLOVAXVisionV2", "hyperclovax_vision_v2"}, {"HYV3", "hy_v3"}, {"IBert", "ibert"}, {"IJepa", "ijepa"},
    {"ImageGPT", "imagegpt"}, {"InternLM", "internlm"}, {"InternLM2", "internlm2"}, {"InternLM3", "internlm3"},
    {"JAIS", "jais"}, {"Jais2", "jais2"}, {"Jamba", "jamba"}, {"JetMoe", "jetmoe"},
    {"JinaEmbeddingsV3", "jina_embeddings_v3"}, {"Kimi_K25", "kimi_k25"}, {"KimiLinear", "kimi_linear"},
    {"Kolibri1", "kolibri1"}, {"LayoutLM", "layoutlm"}, {"LayoutLMv2", "layoutlmv2"}, {"LayoutLMv3", "layoutlmv3"},
    {"LED", "led"}, {"Lfm2", "lfm2"}, {"Lfm2Moe", "lfm2_moe"}, {"Lfm2Vl", "lfm2_vl"}, {"Lilt", "lilt"},
    {"LLaMA", "llama"}, {"Llama", "llama"}, {"Llama4", "llama4"}, {"Llama4Text", "llama4_text"}, {"Llava", "llava"},
    {"LlavaLlama", "llava_llama"}, {"LlavaMistral", "llava_mistral"}, {"LlavaNext", "llava_next"},
    {"LlavaNextVideo", "llava_next_video"}, {"LlavaOnevision", "llava_onevision"}, {"LongcatFlash", "longcat_flash"},
    {"Longformer", "longformer"}, {"Luke", "luke"}, {"M2M100", "m2m_100"}, {"Mamba", "mamba"}, {"Mamba2", "mamba2"},
    {"Marian", "marian"}, {"MarkupLM", "markuplm"}, {"MBart", "mbart"}, {"MegatronBert", "megatron-bert"},
    {"Mellum", "mellum"}, {"MiMo", "mimo"}, {"MiMoV2Flash", "mimo_v2_flash"}, {"MiniCPM", "minicpm"},
    {"MiniCPM3", "minicpm3"}, {"MiniMax", "minimax"}, {"MiniMaxM1", "minimax_m1"}, {"MiniMaxM2", "minimax_m2"},
    {"MiniMaxM3Sparse", "minimax_m3_vl"}, {"MiniMaxM3VL", "minimax_m3_vl"}, {"MiniMaxM3VLText", "minimax_m3_vl_text"},
    {"MiniMaxText01", "minimax_text_01"}, {"Ministral", "ministral"}, {"Ministral3", "ministral3"},
    {"Mistral", "mistral"}, {"Mistral3", "mistral3"}, {"Mistral4", "mistral4"}, {"Mixtral", "mixtral"},
    {"Mllama", "mllama"}, {"MobileBert", "mobilebert"}, {"ModernBert", "modernbert"},
    {"ModernBertDecoder", "modernbert-decoder"},
    {"Moonshine", "moonshine"}, {"MoonshineStreaming", "moonshine_streaming"}, {"MPNet", "mpnet"}, {"MPT", "mpt"},
    {"Mpt", "mpt"}, {"MT5", "mt5"}, {"MuseGlimmer", "muse_glimmer"}, {"MuseGlimmerText", "muse_glimmer_text"},
    {"MuseSpark", "muse_spark"}, {"MuseSparkText", "muse_spark_text"}, {"Mvp", "mvp"}, {"Nemotron", "nemotron"},
    {"NemotronH", "nemotron_h"}, {"NllbMoe", "nllb-moe"}, {"NomicBert", "nomic_bert"},
    {"Nystromformer", "nystromformer"}, {"Olmo", "olmo"}, {"Olmo2", "olmo2"}, {"Olmo3", "olmo3"}, {"Olmoe", "olmoe"},
    {"OpenAIGPT", "openai-gpt"}, {"OPT", "opt"}, {"Orion", "orion"}, {"Pegasus", "pegasus"},
    {"PegasusX", "pegasus_x"}, {"Persimmon", "persimmon"}, {"Phi", "phi"}, {"Phi3", "phi3"},
    {"Phi3Small", "phi3small"}, {"Phi3V", "phi3_v"}, {"Phi4MM", "phi4mm"}, {"Phi4Multimodal", "phi4_multimodal"},
    {"Phimoe", "phimoe"}, {"Plamo", "plamo"}, {"PLBart", "plbart"}, {"QWen", "qwen"}, {"Qwen2", "qwen2"},
    {"Qwen2_5_VL", "qwen2_5_vl"}, {"Qwen2_5_VLText", "qwen2_5_vl_text"}, {"Qwen2_5Omni", "qwen2_5_omni"},
    {"Qwen2_5OmniThinker", "qwen2_5_omni_thinker"}, {"Qwen2Audio", "qwen2_audio"}, {"Qwen2Moe", "qwen2_moe"},
    {"Qwen2VL", "qwen2_vl"}, {"Qwen2VLText", "qwen2_vl_text"}, {"Qwen3", "qwen3"}, {"Qwen3_5", "qwen3_5"},
    {"Qwen3_5Moe", "qwen3_5_moe"}, {"Qwen3_5MoeText", "qwen3_5_moe_text"}, {"Qwen3_5Text", "qwen3_5_text"},
    {"Qwen3Moe", "qwen3_moe"}, {"Qwen3Next", "qwen3_next"}, {"Qwen3OmniMoe", "qwen3_omni_moe"},
    {"Qwen3OmniMoeThinker", "qwen3_omni_moe_thinker"}, {"Qwen3VL", "qwen3_vl"}, {"Qwen3VLMoe", "qwen3_vl_moe"},
    {"Qwen3VLMoeText", "qwen3_vl_moe_text"}, {"Qwen3VLText", "qwen3_vl_text"}, {"RecurrentGemma", "recurrent_gemma"},
    {"RemBert", "rembert"}, {"Roberta", "roberta"}, {"RobertaPreLayerNorm", "roberta-prelayernorm"},
    {"RoCBert", "roc_bert"}, {"RoFormer", "roformer"}, {"RW", "falcon"}, {"Rwkv", "rwkv"}, {"Rwkv5", "rwkv5"},
    {"Rwkv6", "rwkv6"}, {"SeedOss", "seed_oss"}, {"SEW", "sew"}, {"SEWD", "sew-d"}, {"Siglip", "siglip"},
    {"Siglip2", "siglip2"}, {"Siglip2Vision", "siglip2_vision_model"}, {"SiglipVision", "siglip_vision_model"},
    {"Skywork", "skywork"}, {"SmolLM3", "smollm3"}, {"SolarOpen", "solar_open"}, {"Speech2Text", "speech_to_text"},
    {"Splinter", "splinter"}, {"SqueezeBert", "squeezebert"}, {"StableLm", "stablelm"}, {"Starcoder2", "starcoder2"},
    {"Swin", "swin"}, {"Swin2SR", "swin2sr"}, {"Swinv2", "swinv2"}, {"T5", "t5"}, {"T5Gemma", "t5gemma"},
    {"Tapas", "tapas"}, {"Telechat", "telechat"}, {"TransfoXL", "transfo-xl"}, {"TrOCR", "trocr"}, {"UMT5", "umt5"},
    {"UniSpeech", "unispeech"}, {"UniSpeechSat", "unispeech-sat"}, {"VaultGemma", "vaultgemma"},
    {"VisualBert", "visual_bert"}, {"ViT", "vit"}, {"ViTMAE", "vit_mae"}, {"ViTMSN", "vit_msn"},
    {"VoxtralRealtimeText", "voxtral_realtime_text"}, {"Wav2Vec2", "wav2vec2"}, {"Wav2Vec2Bert", "wav2vec2-bert"},
    {"Wav2Vec2Conformer", "wav2vec2-conformer"}, {"WavLM", "wavlm"}, {"Whisper", "whisper"}, {"XGLM", "xglm"},
    {"XLM", "xlm"}, {"XLMRoberta", "xlm-roberta"}, {"XLMRobertaXL", "xlm-roberta-xl"}, {"XLNet", "xlnet"},
    {"xLSTM", "xlstm"}, {"Xmod", "xmod"}, {"Xverse", "xverse"}, {"Yolos", "yolos"}, {"Yoso", "yoso"},
    {"Youtu", "youtu"}, {"Yuan", "yuan"}, {"Zamba", "zamba"}, {"Zamba2", "zamba2"},
};
/* clang-format on */

static bool is_role(const char *word) {
  bool any = false;
  for (size_t i = 0; i < RS_COUNT(roles) && !any; i++) any = strcmp(roles[i], word) == 0;
  return any;
}

const char *rs_hf_type_of_class(const char *name) {
  for (size_t i = 0; i < RS_COUNT(classes); i++) {
    size_t length = strlen(classes[i].name);
    if (strncmp(classes[i].name, name, length) == 0 && is_role(name + length)) return classes[i].type;
  }
  return NULL;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* Of the text model, where it says a class, else of the file. */
static const char *type_by_class(const rs_node *top) {
  const char *type = rs_hf_type_of_class(rs_hf_class(rs_hf_text_config(top)));
  return type != NULL ? type : rs_hf_type_of_class(rs_hf_class(top));
}

const char *rs_hf_model_type(const rs_node *top) {
  const char *named = rs_hf_named_type(top), *type = rs_hf_knows(named) ? NULL : type_by_class(top);
  return type != NULL ? type : named;
}

const char *rs_hf_other_type(const rs_node *top) {
  const char *named = rs_hf_named_type(top), *type = rs_hf_type_of_class(rs_hf_class(top));
  bool two = type != NULL && rs_hf_knows(named) && rs_hf_text_config(top) == top && strcmp(type, named) != 0;
  return two ? type : NULL;
}

void rs_hf_write_class(const rs_node *top, rs_text *text) {
  const char *named = rs_hf_named_type(top), *type = rs_hf_model_type(top);
  const rs_node *root = rs_hf_text_config(top), *inner = rs_node_get(root, "model_type");
  const char *class = rs_hf_type_of_class(rs_hf_class(root)) != NULL ? rs_hf_class(root) : rs_hf_class(top);
  bool unknown = !rs_hf_knows(named) && *named != '\0', nested = root != top && rs_hf_present(inner);
  if (rs_node_get(top, RS_GGUF_MARK) != NULL)
    rs_text_printf(text, "%s, by general.architecture", type);
  else if (rs_hf_knows(named))
    rs_text_printf(text, "%s, by %s%smodel_type", type, nested ? root->key : "", nested ? "." : "");
  else if (rs_hf_knows(type))
    rs_text_printf(text, "%s, by architectures (%s)%s%s", type, class, unknown ? ", model_type is not known: " : "",
                   named);
  else if (!unknown && *rs_hf_class(top) != '\0')
    rs_text_printf(text, "%s is not known: read as a Llama", rs_hf_class(top));
  else if (unknown)
    rs_text_printf(text, "%s is not known: read as a Llama", named);
  else
    rs_text_puts(text, "not said: read as a Llama");
}
