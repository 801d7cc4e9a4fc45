/* Further decoders without experts, whose parts are those of Llama, GPT-2 or GPT-J, put together otherwise. */
#include "architectures.h"

#define SEEING                                                                                                         \
  .prefixes = {"model.language_model.", "model.", "language_model."}, .names = rs_names_llama,                         \
  .ignored = rs_ignored_pictures

/* Its norms have no weights. */
static NAMES(names_olmo, NAME_OF("norm", NULL, ONES), NAME_OF("input_layernorm", NULL, ONES),
             NAME_OF("post_attention_layernorm", NULL, ONES));

static NAMES(names_glm, GATE_UP("mlp.gate_up_proj", PARTS));

static NAMES(names_glm4, GATE_UP("mlp.gate_up_proj", PARTS),
             NAME("post_attention_layernorm", "post_self_attn_layernorm"),
             NAME("pre_feedforward_layernorm", "post_attention_layernorm"),
             NAME("post_feedforward_layernorm", "post_mlp_layernorm"));

static NAMES(names_starcoder2, MLP("mlp.c_fc", "mlp.c_proj"));

static NAMES(names_bigcode, NAME("embed_tokens", "wte"), NAME("embed.table", "wpe.weight"), NAME("norm", "ln_f"),
             NORMS("ln_1", "ln_2"), QKV("attn.c_attn", GROUPS), NAME("self_attn.o_proj", "attn.c_proj"),
             MLP("mlp.c_fc", "mlp.c_proj"));

static NAMES(names_stablelm, NAME_OF("self_attn.q_norm", "self_attn.q_layernorm.norms.#", HEADS),
             NAME_OF("self_attn.k_norm", "self_attn.k_layernorm.norms.#", HEADS));

static NAMES(names_codegen, NAME("embed_tokens", "wte"), NAME("norm", "ln_f"), NAME("input_layernorm", "ln_1"),
             QKV("attn.qkv_proj", QUARTERS), NAME("self_attn.o_proj", "attn.out_proj"), MLP("mlp.fc_in", "mlp.fc_out"));

static NAMES(names_xglm, NAME("norm", "layer_norm"), NORMS("self_attn_layer_norm", "final_layer_norm"),
             NAME("self_attn.o_proj", "self_attn.out_proj"), MLP("fc1", "fc2"));

static NAMES(names_gpt_neo, NAME("embed_tokens", "wte"), NAME("embed.table", "wpe.weight"), NAME("norm", "ln_f"),
             NORMS("ln_1", "ln_2"),
             ATTENTION("attn.attention.q_proj", "attn.attention.k_proj", "attn.attention.v_proj",
                       "attn.attention.out_proj"),
             MLP("mlp.c_fc", "mlp.c_proj"));

static NAMES(names_persimmon, NAME("norm", "final_layernorm"), NAME("self_attn.q_norm", "self_attn.q_layernorm"),
             NAME("self_attn.k_norm", "self_attn.k_layernorm"), QKV("self_attn.query_key_value", GROUPS),
             NAME("self_attn.o_proj", "self_attn.dense"), MLP("mlp.dense_h_to_4h", "mlp.dense_4h_to_h"));

static NAMES(names_internlm2, NAME("embed_tokens", "tok_embeddings"), NAME("lm_head", "output"),
             NORMS("attention_norm", "ffn_norm"), QKV("attention.wqkv", GROUPS),
             NAME("self_attn.o_proj", "attention.wo"), NAME("mlp.gate_proj", "feed_forward.w1"),
             MLP("feed_forward.w3", "feed_forward.w2"));

static NAMES(names_exaone, NAME("embed_tokens", "wte"), NAME("norm", "ln_f"), NORMS("ln_1", "ln_2"),
             ATTENTION("attn.attention.q_proj", "attn.attention.k_proj", "attn.attention.v_proj",
                       "attn.attention.out_proj"),
             NAME("mlp.gate_proj", "mlp.c_fc_0"), MLP("mlp.c_fc_1", "mlp.c_proj"));

static NAMES(names_cohere, NAME_OF("self_attn.q_norm", "self_attn.q_norm", FOLDED),
             NAME_OF("self_attn.k_norm", "self_attn.k_norm", FOLDED));

static NAMES(names_hunyuan, NAME("self_attn.q_norm", "self_attn.query_layernorm"),
             NAME("self_attn.k_norm", "self_attn.key_layernorm"));

static NAMES(names_apertus, NORMS("attention_layernorm", "feedforward_layernorm"),
             NAME_OF("mlp.curve", "mlp.act_fn", CURVE));

#define NAMES_TRANSFO_XL                                                                                               \
  NAME("embed_tokens", "word_emb.emb_layers.0"), NAME("vectors.projection", "layers.#.dec_attn.r_net.weight"),         \
      NAME("vectors.content_bias", "layers.#.dec_attn.r_w_bias"),                                                      \
      NAME("vectors.position_bias", "layers.#.dec_attn.r_r_bias"), QKV("dec_attn.qkv_net", PARTS),                     \
      NAME("self_attn.o_proj", "dec_attn.o_net"), MLP("pos_ff.CoreNet.0", "pos_ff.CoreNet.3")

static NAMES(names_transfo_xl, NAMES_TRANSFO_XL, NAME("post_attention_layernorm", "dec_attn.layer_norm"),
             NAME("post_feedforward_layernorm", "pos_ff.layer_norm"));

static NAMES(names_transfo_xl_before, NAMES_TRANSFO_XL, NORMS("dec_attn.layer_norm", "pos_ff.layer_norm"));

static const char *const ignored_outputs[] = {"crit.", "score.", NULL};

const rs_architecture rs_further_decoders[] = {
    ROW("gemma", "Gemma 1: embeddings times sqrt(d), norms around one", .norm = RMS_AROUND_ONE,
        .activation = RS_GELU_TANH, .gated = true, ATTENTION_BIASES("attention_bias", false), .kv_heads = 16,
        .tied = true, .widened = true, .matters = {{"use_bidirectional_attention", false}}, .names = rs_names_llama,
        FAMILY("gemma", .length = 8192, .width = 3072, .heads = 16, .head_dim = 256)),
    ROW("qwen2_5_vl", "Qwen2.5-VL, the text part: as Qwen2-VL's", .also = "qwen2_5_vl_text", .norm = RMS_OF(1e-5),
        SWIGLU, .qkv_bias = ALWAYS, .kv_heads = 8, SEEING,
        FAMILY("qwen2_5_vl qwen2_5_vl_text", .length = 32768, .theta = 1e6, .windows = RS_WINDOW_UPPER, .window = 4096,
               .pattern = 80)),
    ROW("qwen3_vl", "Qwen3-VL, the text part: norms of each head's q and k, axes that alternate",
        .also = "qwen3_vl_text", .norm = RMS, .qk_norm = RS_NORM_RMS, SWIGLU, ATTENTION_BIASES("attention_bias", false),
        .kv_heads = 32, SEEING,
        FAMILY("qwen3_vl qwen3_vl_text qwen3_vl_moe qwen3_vl_moe_text", .alternates = true, .head_dim = 128,
               .theta = 500000, .sections = {24, 20, 20})),
    ROW("olmo", "OLMo 1: norms without weights, clipped queries, keys and values", .norm = LAYER_BARE, SWIGLU,
        ATTENTION_BIASES("attention_bias", false), .clipped = true, .names = names_olmo,
        .family = {.types = "olmo olmoe"}),
    ROW("olmo3", "OLMo 3: OLMo 2 with a window in three layers of four; rope_scaling in the fourth",
        .order = RS_NORMS_BEHIND, .norm = RMS_OF(1e-5), .qk_norm = RS_NORM_RMS, .qk_span = RS_QK_PROJECTION, SWIGLU,
        ATTENTION_BIASES("attention_bias", false), .names = rs_names_llama,
        FAMILY("olmo3", .theta = 500000, .plain_local = true, .windows = RS_WINDOW_BUT_LAST, .window = 4096,
               .pattern = 4)),
    ROW("glm", "GLM-4-9B: half of each head turned, in interleaved pairs, gate and up in one matrix",
        .norm = RMS_OF(1.5625e-7), SWIGLU, .qkv_bias = {"attention_bias", true}, .kv_heads = 2, .names = names_glm,
        FAMILY("glm glm4 *glm_moe_dsa", .length = 131072, .rotary_fraction = 0.5, .interleaved = true,
               .head_dim = 128)),
    ROW("glm4", "GLM-4-0414, GLM-Z1: as glm, with norms around the parts", .order = RS_NORMS_AROUND,
        .norm = RMS_OF(1.5625e-7), SWIGLU, .qkv_bias = {"attention_bias", true}, .kv_heads = 2, .names = names_glm4),
    ROW("cohere", "Command R, Aya: parallel with one norm, interleaved pairs, norms of q and k by head",
        .order = RS_NORMS_SHARED, .norm = LAYER_BARE, .qk_norm = RS_NORM_LAYER, .qk_span = RS_QK_OWN_HEAD,
        .qk_normed = {"use_qk_norm", false}, SWIGLU, ATTENTION_BIASES("attention_bias", false), .tied = true,
        .output_scale = 0.0625, .names = names_cohere,
        FAMILY("cohere", .length = 8192, .theta = 500000, .interleaved = true)),
    ROW("starcoder2", "StarCoder 2: biases, a window in every layer, where sliding_window is not null", .norm = LAYER,
        .activation = RS_GELU_TANH, BIASES("use_bias", true), .kv_heads = 2, .tied = true, .names = names_starcoder2,
        FAMILY("starcoder2", .length = 4096, .windows = RS_WINDOW_ALL)),
    ROW("gpt_bigcode", "StarCoder 1, SantaCoder: GPT-2 with one head of keys", .norm = LAYER,
        .activation = RS_GELU_TANH, BIASES(NULL, true), .one_kv_head = "multi_query", .tied = true, .feed_forward = 4,
        .matters = {{"scale_attn_weights", true}, {"add_cross_attention", false}}, .prefixes = {"transformer.", ""},
        .layers = "h", .names = names_bigcode, FAMILY("gpt_bigcode", .method = "learned")),
    ROW("stablelm", "StableLM: a quarter of each head turned, in order or parallel with one norm",
        .order = RS_NORMS_SHARED, .parallel = {"use_parallel_residual", false}, .norm = LAYER, .qk_norm = RS_NORM_LAYER,
        .qk_span = RS_QK_OWN_HEAD, .qk_norm_bare = true, .qk_normed = {"qk_layernorm", false}, SWIGLU,
        .qkv_bias = {"use_qkv_bias", false}, .kv_heads = 32, .names = names_stablelm,
        FAMILY("stablelm", .length = 4096, .rotary_fraction = 0.25)),
    ROW("granite", "Granite 3: multipliers of embeddings, scores, blocks and logits", .norm = RMS, SWIGLU,
        ATTENTION_BIASES("attention_bias", false), .feed_forward_bias = {"mlp_bias", false},
        .scales = RS_SCALES_GRANITE, .names = rs_names_llama,
        .family = {.types = "granite granitemoe granitemoeshared *granite4_vision *granite4_vision_text "
                            "*granite_docling *granite_docling_text"}),
    ROW("minicpm", "MiniCPM 1 and 4, without experts: Llama with scales of embeddings, blocks and logits", .norm = RMS,
        SWIGLU, ATTENTION_BIASES("attention_bias", false), .tied = true, .scales = RS_SCALES_MINICPM,
        .names = rs_names_llama, .family = {.types = "minicpm *minicpm3"}),
    ROW("internlm2", "InternLM 2 and 2.5: q, k, v of each head of keys in one matrix", .norm = RMS, SWIGLU,
        ATTENTION_BIASES("bias", true), .names = names_internlm2, .family = {.types = "internlm internlm2 *internlm3"}),
    ROW("ministral", "Ministral 8B: Mistral with layer_types", .norm = RMS, SWIGLU, .kv_heads = 8,
        .names = rs_names_llama, FAMILY("ministral", .windows = RS_WINDOW_ALL, .window = 4096)),
    ROW("ministral3", "Ministral 3: YaRN, queries scaled by position", .norm = RMS_OF(1e-5), SWIGLU, .kv_heads = 8,
        .prefixes = {"model.", "language_model.model.", "model.language_model."}, .names = rs_names_mistral,
        .ignored = rs_ignored_pictures, FAMILY("*ministral3", .windows = RS_WINDOW_ALL, .theta = 1e6, .head_dim = 128)),
    ROW("exaone", "EXAONE 3.0 and 3.5: Llama by other names", .norm = RMS_OF(1e-5), SWIGLU, .tied = true,
        .prefixes = {"transformer."}, .layers = "h", .names = names_exaone, .family = {.types = "*exaone"}),
    ROW("exaone4", "EXAONE 4: norms behind the parts, rotation in windowed layers alone where there are such",
        .order = RS_NORMS_BEHIND, .norm = RMS_OF(1e-5), .qk_norm = RS_NORM_RMS, SWIGLU, .kv_heads = 32,
        .names = rs_names_llama,
        FAMILY("exaone4 *exaone4_5 *exaone4_5_text", .windows = RS_WINDOW_BUT_LAST, .window = 4096, .pattern = 4,
               .bare = RS_BARE_BESIDE)),
    ROW("seed_oss", "Seed-OSS: biases of q, k and v", .norm = RMS, SWIGLU, .qkv_bias = {"attention_bias", true},
        .output_bias = {"attention_out_bias", false}, .feed_forward_bias = {"mlp_bias", false}, .kv_heads = 8,
        .names = rs_names_llama, FAMILY("seed_oss", .head_dim = 128)),
    ROW("ernie4_5", "ERNIE 4.5, dense: interleaved pairs", .norm = RMS_OF(1e-5), SWIGLU, BIASES("use_bias", false),
        .kv_heads = 2, .tied = true, .names = rs_names_llama,
        FAMILY("ernie4_5", .theta = 500000, .interleaved = true, .head_dim = 128)),
    ROW("helium", "Helium 1: interleaved pairs", .norm = RMS_OF(1e-8), SWIGLU, .qkv_bias = {"attention_bias", false},
        .feed_forward_bias = {"mlp_bias", false}, .kv_heads = 20, .names = rs_names_llama,
        FAMILY("helium", .theta = 100000, .interleaved = true, .head_dim = 128)),
    ROW("arcee", "AFM: the square of relu, without a gate", .norm = RMS_OF(1e-5), .activation = RS_RELU2,
        ATTENTION_BIASES("attention_bias", false), .feed_forward_bias = {"mlp_bias", false}, .names = rs_names_llama,
        .family = {.types = "arcee"}),
    ROW("nemotron", "Nemotron 4, Minitron: layer norms around one, the square of relu, half of each head turned",
        .norm = {.kind = RS_NORM_LAYER, .bias = true, .around_one = true, .epsilon = 1e-5}, .activation = RS_RELU2,
        ATTENTION_BIASES("attention_bias", false), .feed_forward_bias = {"mlp_bias", false}, .names = rs_names_llama,
        FAMILY("nemotron", .rotary_fraction = 0.5)),
    ROW("persimmon", "Persimmon: biases, layer norms of q and k, the square of relu", .norm = LAYER,
        .qk_norm = RS_NORM_LAYER, .qk_normed = {"qk_layernorm", true}, .activation = RS_RELU2, BIASES(NULL, true),
        .names = names_persimmon,
        FAMILY("persimmon", .rotary_fraction = 0.5)), /* base 25000 in transformers 4, 10000 in 5 */
    ROW("codegen", "CodeGen: GPT-J with q, v, k of each quarter of the heads in one matrix", .order = RS_NORMS_SHARED,
        .norm = LAYER, .activation = RS_GELU_TANH, .feed_forward_bias = ALWAYS, .class_bias = true, .feed_forward = 4,
        .prefixes = {"transformer."}, .layers = "h", .names = names_codegen,
        FAMILY("codegen", .rotary_dim = 64, .interleaved = true)),
    ROW("gpt_neo", "GPT-Neo: a learned table, scores as they are, a window in every second layer", .norm = LAYER,
        .unscaled = true, .activation = RS_GELU_TANH, .output_bias = ALWAYS, .feed_forward_bias = ALWAYS, .tied = true,
        .feed_forward = 4, .prefixes = {"transformer.", ""}, .layers = "h", .names = names_gpt_neo,
        FAMILY("gpt_neo", .method = "learned", .windows = RS_WINDOW_REPEATED, .window = 256)),
    ROW("xglm", "XGLM: sines and cosines from the third row on, embeddings times sqrt(d)", .norm = LAYER,
        .activation = RS_GELU, BIASES(NULL, true), .tied = true, .widened = true,
        .matters = {{"add_cross_attention", false}}, .names = names_xglm,
        FAMILY("xglm", .method = "sinusoidal", .layout = "tensor2tensor", .offset = 2)),
    ROW("hunyuan_v1_dense", "Hunyuan, dense: norms of each head's q and k when they have turned", .norm = RMS_OF(1e-5),
        .qk_norm = RS_NORM_RMS, .qk_norm_turned = true, .qk_normed = {"use_qk_norm", true}, SWIGLU,
        ATTENTION_BIASES("attention_bias", false), .feed_forward_bias = {"mlp_bias", false},
        .matters = {{"use_cla", false}}, .names = names_hunyuan,
        .family = {.types = "hunyuan hunyuan_v1_dense hunyuan_v1_moe *hunyuan_vl *hunyuan_vl_text"}),
    ROW("apertus", "Apertus: norms of each head's q and k, a learned curve (xIELU) without a gate",
        .norm = RMS_OF(1e-5), .qk_norm = RS_NORM_RMS, .qk_normed = {"qk_norm", true}, .learned_curve = true,
        ATTENTION_BIASES("attention_bias", false), .feed_forward_bias = {"mlp_bias", false},
        .matters = {{"post_norm", false}}, .names = names_apertus,
        FAMILY("apertus *apertus1p5 *apertus1p5_text", .theta = 12e6,
               .rope = "{rope_type: llama3, factor: 8, low_freq_factor: 1, high_freq_factor: 4, "
                       "original_max_position_embeddings: 8192}")),
    ROW("transfo-xl",
        "Transformer-XL with embeddings of one width (div_val 1): last hidden states of a text read in one piece, with "
        "no memory before it",
        .headless = true, .order = RS_NORMS_OF_SUMS, .norms_before = {"pre_lnorm", false}, .norm = LAYER,
        .activation = RS_RELU, .own_activation = true, .feed_forward_bias = ALWAYS, .feed_forward_key = "d_inner",
        .widened = true, .adaptive = true, .matters = {{"untie_r", true}}, .prefixes = {"transformer.", ""},
        .names = names_transfo_xl, .names_before = names_transfo_xl_before, .ignored = ignored_outputs,
        FAMILY("transfo-xl", .method = "transformer_xl", .head_dim = 64, .windows = RS_WINDOW_MEMORY)),
    {.entry = {NULL, NULL}},
};
