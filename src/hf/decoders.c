/* Decoders without experts, and Llama 4: what their files call weights otherwise than Llama's, and the architectures,
 * one a row: transformers' modeling_*.py and the defaults of configuration_*.py. */
#include "architectures.h"

/* Gemma-2's are Llama's, too, with two more norms. */
const rs_hf_name rs_names_llama[] = {{NULL, NULL, RS_ROWS_OWN}};

static NAMES(names_phi3, QKV("self_attn.qkv_proj", PARTS), GATE_UP("mlp.gate_up_proj", PARTS));

static NAMES(names_gpt2, NAME("embed_tokens", "wte"), NAME("embed.table", "wpe.weight"), NAME("norm", "ln_f"),
             NORMS("ln_1", "ln_2"), QKV("attn.c_attn", PARTS), NAME("self_attn.o_proj", "attn.c_proj"),
             MLP("mlp.c_fc", "mlp.c_proj"));

static NAMES(names_neox, NAME("embed_tokens", "embed_in"), NAME("norm", "final_layer_norm"),
             NAME("lm_head", "embed_out"), QKV("attention.query_key_value", GROUPS),
             NAME("self_attn.o_proj", "attention.dense"), MLP("mlp.dense_h_to_4h", "mlp.dense_4h_to_h"));

static NAMES(names_bloom, NAME("embed_tokens", "word_embeddings"), NAME("embedding_norm", "word_embeddings_layernorm"),
             NAME("norm", "ln_f"), QKV("self_attention.query_key_value", GROUPS),
             NAME("self_attn.o_proj", "self_attention.dense"), MLP("mlp.dense_h_to_4h", "mlp.dense_4h_to_h"));

static NAMES(names_mpt, NAME("embed_tokens", "wte"), NAME("norm", "norm_f"), NORMS("norm_1", "norm_2"),
             QKV("attn.Wqkv", PARTS), NAME("self_attn.o_proj", "attn.out_proj"), MLP("ffn.up_proj", "ffn.down_proj"));

static NAMES(names_opt, NAME("embed.table", "embed_positions.weight"), NAME("norm", "final_layer_norm"),
             NORMS("self_attn_layer_norm", "final_layer_norm"), NAME("self_attn.o_proj", "self_attn.out_proj"),
             MLP("fc1", "fc2"));

static NAMES(names_gptj, NAME("embed_tokens", "wte"), NAME("norm", "ln_f"), NAME("input_layernorm", "ln_1"),
             ATTENTION("attn.q_proj", "attn.k_proj", "attn.v_proj", "attn.out_proj"), MLP("mlp.fc_in", "mlp.fc_out"));

static NAMES(names_phi, NAME("norm", "final_layernorm"), NAME("self_attn.q_norm", "self_attn.q_layernorm"),
             NAME("self_attn.k_norm", "self_attn.k_layernorm"), NAME("self_attn.o_proj", "self_attn.dense"),
             MLP("mlp.fc1", "mlp.fc2"));

/* One norm before both parts in the 7B's, two in the 40B's. */
static NAMES(names_falcon, NAME("embed_tokens", "word_embeddings"), NAME("norm", "ln_f"),
             NAME("input_layernorm", "ln_attn"), NAME("input_layernorm", "input_layernorm"),
             NAME("post_attention_layernorm", "ln_mlp"), NAME("post_attention_layernorm", "post_attention_layernorm"),
             QKV("self_attention.query_key_value", GROUPS), NAME("self_attn.o_proj", "self_attention.dense"),
             MLP("mlp.dense_h_to_4h", "mlp.dense_4h_to_h"));

/* Mistral 3.1's have their output beside the part that sees. */
NAMES(rs_names_mistral, NAME("lm_head", "lm_head"), NAME("lm_head", "language_model.lm_head"));

const char *const rs_ignored_pictures[] = {"visual.", "vision_tower.", "vision_model.", "multi_modal_projector.", NULL};

static NAMES(names_llama4, NAME("mlp.gate_proj", "feed_forward.gate_proj"),
             MLP("feed_forward.up_proj", "feed_forward.down_proj"), NAME("lm_head", "lm_head"),
             NAME("lm_head", "language_model.lm_head"), NAME("mlp.router", "feed_forward.router"),
             SHARED("feed_forward.shared_expert"), GATE_UP_EXPERTS("feed_forward.experts.gate_up_proj", EXPERTS_TURNED),
             NAME_OF("mlp.experts.#.down_proj", "feed_forward.experts.down_proj", EXPERTS_TURNED));

const rs_architecture rs_decoders[] = {
    ROW("llama", "Llama 1 to 3.3, and what took over its class (Yi, DeepSeek LLM, TinyLlama, SmolLM)", .norm = RMS,
        SWIGLU, ATTENTION_BIASES("attention_bias", false), .feed_forward_bias = {"mlp_bias", false},
        .names = rs_names_llama, FAMILY("llama", .length = 2048, .width = 4096, .heads = 32)),
    ROW("llama4_text", "Llama 4: chunks, every fourth layer without rotation", .norm = RMS_OF(1e-5),
        .qk_norm = RS_NORM_L2, .qk_norm_turned = true, .qk_normed = {"use_qk_norm", true}, SWIGLU,
        ATTENTION_BIASES("attention_bias", false), .feed_forward_key = "intermediate_size_mlp", .kv_heads = 8,
        .bare_unnormed = true,
        .experts = {.layers = RS_EXPERTS_LISTED,
                    .shared_width = "intermediate_size",
                    .width = "intermediate_size",
                    .choice = {.sigmoid = true, .scaled_inputs = true}},
        .prefixes = {"model.", "language_model.model."}, .names = names_llama4, .ignored = rs_ignored_pictures,
        FAMILY("llama4 llama4_text", .length = 131072, .theta = 500000, .interleaved = true,
               .windows = RS_WINDOW_CHUNKS, .window = 8192, .bare = RS_BARE_LISTED, .temperature = true)),
    ROW("mistral", "Mistral 7B, Nemo, Small: a window in every layer, where sliding_window is not null", .norm = RMS,
        SWIGLU, .kv_heads = 8, .prefixes = {"model.", "language_model.model.", "model.language_model."},
        .names = rs_names_mistral, .ignored = rs_ignored_pictures,
        FAMILY("mistral mistral3", .length = 131072, .width = 4096, .heads = 32, .windows = RS_WINDOW_ALL,
               .window = 4096)),
    ROW("qwen2", "Qwen1.5, 2 and 2.5: biases of q, k and v", .norm = RMS, SWIGLU, .qkv_bias = ALWAYS, .kv_heads = 32,
        .names = rs_names_llama,
        FAMILY("qwen2 qwen2_audio", .length = 32768, .width = 4096, .heads = 32, .windows = RS_WINDOW_UPPER,
               .window = 4096, .pattern = 28)),
    ROW("qwen3", "Qwen3, dense: norms of each head's q and k", .norm = RMS, .qk_norm = RS_NORM_RMS, SWIGLU,
        ATTENTION_BIASES("attention_bias", false), .kv_heads = 32, .names = rs_names_llama,
        FAMILY("qwen3", .alternates = true, .length = 32768, .width = 4096, .heads = 32, .head_dim = 128,
               .windows = RS_WINDOW_UPPER, .window = 4096, .pattern = 28)),
    ROW("qwen2_vl", "Qwen2-VL, the text part: time, row and column of each token (--position-ids)",
        .also = "qwen2_vl_text", .norm = RMS_OF(1e-5), SWIGLU, .qkv_bias = ALWAYS, .kv_heads = 8,
        .prefixes = {"model.language_model.", "model."}, .names = rs_names_llama, .ignored = rs_ignored_pictures,
        FAMILY("qwen2_vl qwen2_vl_text", .length = 32768, .theta = 1e6, .windows = RS_WINDOW_UPPER, .window = 4096,
               .pattern = 80)),
    ROW("smollm3", "SmolLM3: every fourth layer without rotation", .norm = RMS, SWIGLU,
        ATTENTION_BIASES("attention_bias", false), .feed_forward_bias = {"mlp_bias", false}, .tied = true,
        .kv_heads = 4, .names = rs_names_llama,
        FAMILY("smollm3", .length = 32768, .theta = 2e6, .windows = RS_WINDOW_BARE, .bare = RS_BARE_LISTED)),
    ROW("olmo2", "OLMo 2: norms behind the parts, and of the whole q and k", .order = RS_NORMS_BEHIND,
        .norm = RMS_OF(1e-5), .qk_norm = RS_NORM_RMS, .qk_span = RS_QK_PROJECTION, SWIGLU,
        ATTENTION_BIASES("attention_bias", false), .names = rs_names_llama, FAMILY("olmo2", .length = 2048)),
    ROW("phi3", "Phi-3, Phi-3.5-mini, Phi-4: q, k, v in one matrix, LongRoPE", .norm = RMS_OF(1e-5), SWIGLU,
        .names = names_phi3, FAMILY("phi3 phi3_v", .length = 4096, .rotary_fraction = 1, .windows = RS_WINDOW_ALL)),
    ROW("gemma2", "Gemma 2: soft caps, norms around the parts, a window in every second layer",
        .order = RS_NORMS_AROUND, .norm = RMS_AROUND_ONE, .score_dims = 256, .score_cap = 50, .output_cap = 30,
        .activation = RS_GELU_TANH, .activation_key = "hidden_activation", .gated = true,
        ATTENTION_BIASES("attention_bias", false), .tied = true, .widened = true, .kv_heads = 4,
        .names = rs_names_llama,
        FAMILY("gemma2", .length = 8192, .width = 2304, .heads = 8, .head_dim = 256, .windows = RS_WINDOW_BUT_LAST,
               .window = 4096, .pattern = 2)),
    ROW("gemma3_text", "Gemma 3, the text part: two bases, a window in five layers of six, norms of q and k",
        .also = "gemma3", .order = RS_NORMS_AROUND, .norm = RMS_AROUND_ONE, .score_dims = 256, .qk_norm = RS_NORM_RMS,
        .activation = RS_GELU_TANH, .activation_key = "hidden_activation", .gated = true,
        ATTENTION_BIASES("attention_bias", false), .tied = true, .widened = true, .kv_heads = 4,
        .prefixes = {"model.", "language_model.model.", "model.language_model."}, .names = rs_names_llama,
        .ignored = rs_ignored_pictures,
        FAMILY("gemma3 gemma3_text", .length = 131072, .width = 2304, .heads = 8, .head_dim = 256, .theta = 1e6,
               .local_theta = 10000, .plain_local = true, .windows = RS_WINDOW_BUT_LAST, .window = 4096, .pattern = 6)),
    ROW("cohere2", "Command R7B, Command A: parallel, rotation in windowed layers alone", .order = RS_NORMS_SHARED,
        .norm = LAYER_BARE, SWIGLU, ATTENTION_BIASES("attention_bias", false), .tied = true, .output_scale = 0.0625,
        .names = rs_names_llama,
        FAMILY("cohere2 cohere2_vision", .length = 8192, .interleaved = true, .windows = RS_WINDOW_BUT_LAST,
               .window = 4096, .pattern = 4, .bare = RS_BARE_GLOBAL)),
    ROW("gpt2", "GPT-2: a learned table, matrices stored turned", .norm = LAYER, .activation = RS_GELU_TANH,
        BIASES(NULL, true), .tied = true, .feed_forward = 4,
        .matters = {{"scale_attn_weights", true}, {"scale_attn_by_inverse_layer_idx", false}},
        .prefixes = {"transformer.", ""}, .layers = "h", .names = names_gpt2, .turned = true,
        FAMILY("gpt2", .method = "learned")),
    ROW("gpt_neox", "GPT-NeoX, Pythia: parallel, a quarter of each head turned", .order = RS_NORMS_PARALLEL,
        .parallel = {"use_parallel_residual", true}, .norm = LAYER, .activation = RS_GELU,
        ATTENTION_BIASES("attention_bias", true), .feed_forward_bias = ALWAYS, .prefixes = {"gpt_neox."},
        .names = names_neox, FAMILY("gpt_neox", .length = 2048, .rotary_fraction = 0.25)),
    ROW("gptj", "GPT-J: parallel with one norm, interleaved pairs", .order = RS_NORMS_SHARED, .norm = LAYER,
        .activation = RS_GELU_TANH, .feed_forward_bias = ALWAYS, .class_bias = true, .feed_forward = 4,
        .prefixes = {"transformer."}, .layers = "h", .names = names_gptj,
        FAMILY("gptj", .length = 2048, .rotary_dim = 64, .interleaved = true)),
    ROW("phi", "Phi-1, 1.5, 2: parallel with one norm, biases everywhere", .order = RS_NORMS_SHARED, .norm = LAYER,
        .qk_norm = RS_NORM_LAYER, .qk_normed = {"qk_layernorm", false}, .activation = RS_GELU_TANH, BIASES(NULL, true),
        .class_bias = true, .names = names_phi, FAMILY("phi", .length = 2048, .rotary_fraction = 0.5)),
    ROW("bloom", "BLOOM: ALiBi, a norm of the embeddings", .norm = LAYER, .activation = RS_GELU_BLOOM,
        .own_activation = true, BIASES(NULL, true), .tied = true, .embedding_norm = true, .feed_forward = 4,
        .own_feed_forward = true, .matters = {{"apply_residual_connection_post_layernorm", false}},
        .prefixes = {"transformer.", ""}, .layers = "h", .names = names_bloom, FAMILY("bloom", .method = "alibi")),
    ROW("falcon", "Falcon: ALiBi or RoPE, in order, parallel with one norm (7B) or with two (40B, 180B)",
        .order = RS_NORMS_SHARED, .parallel = {"parallel_attn", true}, .grouped = "new_decoder_architecture",
        .norm = LAYER, .activation = RS_GELU, BIASES("bias", false), .one_kv_head = "multi_query", .tied = true,
        .feed_forward = 4, .prefixes = {"transformer."}, .layers = "h", .names = names_falcon,
        FAMILY("falcon RefinedWeb RefinedWebModel", .length = 2048)),
    ROW("mpt", "MPT: ALiBi, no biases at all", .norm = LAYER_BARE, .activation = RS_GELU, .own_activation = true,
        .clipped = true, .tied = true, .feed_forward = 4, .own_feed_forward = true, .prefixes = {"transformer."},
        .layers = "blocks", .names = names_mpt, FAMILY("mpt", .method = "alibi")),
    ROW("opt", "OPT with norms before its parts (all but 350M): a learned table", .norm = LAYER, .activation = RS_RELU,
        BIASES("enable_bias", true), .tied = true,
        .matters = {{"do_layer_norm_before", true}, {"_remove_final_layer_norm", false}},
        .prefixes = {"model.decoder.", "decoder."}, .names = names_opt, .position_offset = 2,
        FAMILY("opt", .method = "learned")),
    {.entry = {NULL, NULL}},
};
