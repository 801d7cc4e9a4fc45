/* What the files of mixtures of experts call their weights (architecture_names.c). */
#include "architectures.h"

const rs_hf_name rs_names_llama4[] = {
    {"mlp.gate_proj", "feed_forward.gate_proj", RS_ROWS_OWN},
    {"mlp.up_proj", "feed_forward.up_proj", RS_ROWS_OWN},
    {"mlp.down_proj", "feed_forward.down_proj", RS_ROWS_OWN},
    {"lm_head", "lm_head", RS_ROWS_OWN},
    {"lm_head", "language_model.lm_head", RS_ROWS_OWN},
    {"mlp.router", "feed_forward.router", RS_ROWS_OWN},
    {"mlp.shared_experts.gate_proj", "feed_forward.shared_expert.gate_proj", RS_ROWS_OWN},
    {"mlp.shared_experts.up_proj", "feed_forward.shared_expert.up_proj", RS_ROWS_OWN},
    {"mlp.shared_experts.down_proj", "feed_forward.shared_expert.down_proj", RS_ROWS_OWN},
    {"mlp.experts.#.gate_proj", "feed_forward.experts.gate_up_proj", RS_ROWS_EXPERTS_TURNED},
    {"mlp.experts.#.up_proj", "feed_forward.experts.gate_up_proj", RS_ROWS_EXPERTS_TURNED},
    {"mlp.experts.#.down_proj", "feed_forward.experts.down_proj", RS_ROWS_EXPERTS_TURNED},
    {NULL, NULL, RS_ROWS_OWN},
};

const rs_hf_name rs_names_gpt_oss[] = {
    {"mlp.experts.#.gate_proj", "mlp.experts.gate_up_proj", RS_ROWS_EXPERTS_MIXED},
    {"mlp.experts.#.up_proj", "mlp.experts.gate_up_proj", RS_ROWS_EXPERTS_MIXED},
    {"mlp.experts.#.down_proj", "mlp.experts.down_proj", RS_ROWS_EXPERTS_MIXED},
    {NULL, NULL, RS_ROWS_OWN},
};

/* DeepSeek's, Qwen's, OLMoE's, GLM's, ERNIE's; transformers 5 holds experts in one. */
const rs_hf_name rs_names_experts[] = {
    {"mlp.router", "mlp.gate", RS_ROWS_OWN},
    {"mlp.router.steering", "mlp.gate.e_score_correction_bias", RS_ROWS_OWN},
    {"mlp.router.steering", "mlp.moe_statics.e_score_correction_bias", RS_ROWS_FOLDED},
    {"mlp.shared_experts.gate_proj", "mlp.shared_experts.gate_proj", RS_ROWS_OWN},
    {"mlp.shared_experts.gate_proj", "mlp.shared_expert.gate_proj", RS_ROWS_OWN},
    {"mlp.shared_experts.up_proj", "mlp.shared_experts.up_proj", RS_ROWS_OWN},
    {"mlp.shared_experts.up_proj", "mlp.shared_expert.up_proj", RS_ROWS_OWN},
    {"mlp.shared_experts.down_proj", "mlp.shared_experts.down_proj", RS_ROWS_OWN},
    {"mlp.shared_experts.down_proj", "mlp.shared_expert.down_proj", RS_ROWS_OWN},
    {"mlp.experts.#.gate_proj", "mlp.experts.#.gate_proj", RS_ROWS_OWN},
    {"mlp.experts.#.gate_proj", "mlp.experts.gate_up_proj", RS_ROWS_EXPERTS},
    {"mlp.experts.#.up_proj", "mlp.experts.#.up_proj", RS_ROWS_OWN},
    {"mlp.experts.#.up_proj", "mlp.experts.gate_up_proj", RS_ROWS_EXPERTS},
    {"mlp.experts.#.down_proj", "mlp.experts.#.down_proj", RS_ROWS_OWN},
    {"mlp.experts.#.down_proj", "mlp.experts.down_proj", RS_ROWS_EXPERTS},
    {NULL, NULL, RS_ROWS_OWN},
};

/* Phi-3.5-MoE's, too. */
const rs_hf_name rs_names_mixtral[] = {
    {"mlp.router", "block_sparse_moe.gate", RS_ROWS_OWN},
    {"mlp.router", "mlp.gate", RS_ROWS_OWN},
    {"mlp.router", "mlp.router", RS_ROWS_OWN},
    {"mlp.experts.#.gate_proj", "block_sparse_moe.experts.#.w1", RS_ROWS_OWN},
    {"mlp.experts.#.gate_proj", "mlp.experts.gate_up_proj", RS_ROWS_EXPERTS},
    {"mlp.experts.#.up_proj", "block_sparse_moe.experts.#.w3", RS_ROWS_OWN},
    {"mlp.experts.#.up_proj", "mlp.experts.gate_up_proj", RS_ROWS_EXPERTS},
    {"mlp.experts.#.down_proj", "block_sparse_moe.experts.#.w2", RS_ROWS_OWN},
    {"mlp.experts.#.down_proj", "mlp.experts.down_proj", RS_ROWS_EXPERTS},
    {NULL, NULL, RS_ROWS_OWN},
};

const rs_hf_name rs_names_granite_experts[] = {
    {"mlp.router", "block_sparse_moe.router.layer", RS_ROWS_OWN},
    {"mlp.shared_experts.gate_proj", "shared_mlp.input_linear", RS_ROWS_PARTS},
    {"mlp.shared_experts.up_proj", "shared_mlp.input_linear", RS_ROWS_PARTS},
    {"mlp.shared_experts.down_proj", "shared_mlp.output_linear", RS_ROWS_OWN},
    {"mlp.experts.#.gate_proj", "block_sparse_moe.input_linear.weight", RS_ROWS_EXPERTS},
    {"mlp.experts.#.up_proj", "block_sparse_moe.input_linear.weight", RS_ROWS_EXPERTS},
    {"mlp.experts.#.down_proj", "block_sparse_moe.output_linear.weight", RS_ROWS_EXPERTS},
    {NULL, NULL, RS_ROWS_OWN},
};

const rs_hf_name rs_names_hunyuan_experts[] = {
    {"self_attn.q_norm", "self_attn.query_layernorm", RS_ROWS_OWN},
    {"self_attn.k_norm", "self_attn.key_layernorm", RS_ROWS_OWN},
    {"mlp.router", "mlp.gate.wg", RS_ROWS_OWN},
    {"mlp.shared_experts.gate_proj", "mlp.shared_mlp.gate_proj", RS_ROWS_OWN},
    {"mlp.shared_experts.up_proj", "mlp.shared_mlp.up_proj", RS_ROWS_OWN},
    {"mlp.shared_experts.down_proj", "mlp.shared_mlp.down_proj", RS_ROWS_OWN},
    {"mlp.experts.#.gate_proj", "mlp.experts.#.gate_proj", RS_ROWS_OWN},
    {"mlp.experts.#.gate_proj", "mlp.experts.gate_up_proj", RS_ROWS_EXPERTS},
    {"mlp.experts.#.up_proj", "mlp.experts.#.up_proj", RS_ROWS_OWN},
    {"mlp.experts.#.up_proj", "mlp.experts.gate_up_proj", RS_ROWS_EXPERTS},
    {"mlp.experts.#.down_proj", "mlp.experts.#.down_proj", RS_ROWS_OWN},
    {"mlp.experts.#.down_proj", "mlp.experts.down_proj", RS_ROWS_EXPERTS},
    {NULL, NULL, RS_ROWS_OWN},
};

const rs_hf_name rs_names_dbrx[] = {
    {"embed_tokens", "wte", RS_ROWS_OWN},
    {"norm", "norm_f", RS_ROWS_OWN},
    {"input_layernorm", "norm_attn_norm.norm_1", RS_ROWS_OWN},
    {"post_attention_layernorm", "norm_attn_norm.norm_2", RS_ROWS_OWN},
    {"self_attn.q_proj", "norm_attn_norm.attn.Wqkv", RS_ROWS_PARTS},
    {"self_attn.k_proj", "norm_attn_norm.attn.Wqkv", RS_ROWS_PARTS},
    {"self_attn.v_proj", "norm_attn_norm.attn.Wqkv", RS_ROWS_PARTS},
    {"self_attn.o_proj", "norm_attn_norm.attn.out_proj", RS_ROWS_OWN},
    {"mlp.router", "ffn.router.layer", RS_ROWS_OWN},
    {"mlp.experts.#.gate_proj", "ffn.experts.mlp.w1", RS_ROWS_EXPERTS_BELOW},
    {"mlp.experts.#.up_proj", "ffn.experts.mlp.v1", RS_ROWS_EXPERTS_BELOW},
    {"mlp.experts.#.down_proj", "ffn.experts.mlp.w2", RS_ROWS_EXPERTS_BELOW},
    {NULL, NULL, RS_ROWS_OWN},
};

const char *const rs_ignored_guesses[] = {"mtp_", NULL};
