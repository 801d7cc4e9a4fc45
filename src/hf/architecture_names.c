/* What the files of each family call their weights. Names are those of modeling_*.py; what is not listed is called as
 * in Llama, which this program follows. */
#include "architectures.h"

/* Gemma-2's are Llama's, too, with two more norms. */
const rs_hf_name rs_names_llama[] = {{NULL, NULL, RS_ROWS_OWN}};

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

/* RoBERTa's, XLM-R's and ELECTRA's, too. */
const rs_hf_name rs_names_bert[] = {
    {"embed_tokens", "embeddings.word_embeddings", RS_ROWS_OWN},
    {"embed.table", "embeddings.position_embeddings.weight", RS_ROWS_OWN},
    {"padding_position", "embeddings.position_embeddings.weight", RS_ROWS_PADDING},
    {"token_type_embeddings", "embeddings.token_type_embeddings", RS_ROWS_OWN},
    {"embedding_norm", "embeddings.LayerNorm", RS_ROWS_OWN},
    {"embed_proj", "embeddings_project", RS_ROWS_OWN},
    {"self_attn.q_proj", "attention.self.query", RS_ROWS_OWN},
    {"self_attn.k_proj", "attention.self.key", RS_ROWS_OWN},
    {"self_attn.v_proj", "attention.self.value", RS_ROWS_OWN},
    {"self_attn.o_proj", "attention.output.dense", RS_ROWS_OWN},
    {"post_attention_layernorm", "attention.output.LayerNorm", RS_ROWS_OWN},
    {"mlp.up_proj", "intermediate.dense", RS_ROWS_OWN},
    {"mlp.down_proj", "output.dense", RS_ROWS_OWN},
    {"post_feedforward_layernorm", "output.LayerNorm", RS_ROWS_OWN},
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

const rs_hf_name rs_names_distilbert[] = {
    {"embed_tokens", "embeddings.word_embeddings", RS_ROWS_OWN},
    {"embed.table", "embeddings.position_embeddings.weight", RS_ROWS_OWN},
    {"embedding_norm", "embeddings.LayerNorm", RS_ROWS_OWN},
    {"self_attn.q_proj", "attention.q_lin", RS_ROWS_OWN},
    {"self_attn.k_proj", "attention.k_lin", RS_ROWS_OWN},
    {"self_attn.v_proj", "attention.v_lin", RS_ROWS_OWN},
    {"self_attn.o_proj", "attention.out_lin", RS_ROWS_OWN},
    {"post_attention_layernorm", "sa_layer_norm", RS_ROWS_OWN},
    {"mlp.up_proj", "ffn.lin1", RS_ROWS_OWN},
    {"mlp.down_proj", "ffn.lin2", RS_ROWS_OWN},
    {"post_feedforward_layernorm", "output_layer_norm", RS_ROWS_OWN},
    {NULL, NULL, RS_ROWS_OWN},
};

const rs_hf_name rs_names_albert[] = {
    {"embed_tokens", "embeddings.word_embeddings", RS_ROWS_OWN},
    {"embed.table", "embeddings.position_embeddings.weight", RS_ROWS_OWN},
    {"token_type_embeddings", "embeddings.token_type_embeddings", RS_ROWS_OWN},
    {"embedding_norm", "embeddings.LayerNorm", RS_ROWS_OWN},
    {"embed_proj", "encoder.embedding_hidden_mapping_in", RS_ROWS_OWN},
    {"self_attn.q_proj", "attention.query", RS_ROWS_OWN},
    {"self_attn.k_proj", "attention.key", RS_ROWS_OWN},
    {"self_attn.v_proj", "attention.value", RS_ROWS_OWN},
    {"self_attn.o_proj", "attention.dense", RS_ROWS_OWN},
    {"post_attention_layernorm", "attention.LayerNorm", RS_ROWS_OWN},
    {"mlp.up_proj", "ffn", RS_ROWS_OWN},
    {"mlp.down_proj", "ffn_output", RS_ROWS_OWN},
    {"post_feedforward_layernorm", "full_layer_layer_norm", RS_ROWS_OWN},
    {NULL, NULL, RS_ROWS_OWN},
};

const rs_hf_name rs_names_modernbert[] = {
    {"embed_tokens", "embeddings.tok_embeddings", RS_ROWS_OWN},
    {"embedding_norm", "embeddings.norm", RS_ROWS_OWN},
    {"norm", "final_norm", RS_ROWS_OWN},
    {"input_layernorm", "attn_norm", RS_ROWS_OWN},
    {"post_attention_layernorm", "mlp_norm", RS_ROWS_OWN},
    {"self_attn.q_proj", "attn.Wqkv", RS_ROWS_PARTS},
    {"self_attn.k_proj", "attn.Wqkv", RS_ROWS_PARTS},
    {"self_attn.v_proj", "attn.Wqkv", RS_ROWS_PARTS},
    {"self_attn.o_proj", "attn.Wo", RS_ROWS_OWN},
    {"mlp.gate_proj", "mlp.Wi", RS_ROWS_PARTS},
    {"mlp.up_proj", "mlp.Wi", RS_ROWS_PARTS},
    {"mlp.down_proj", "mlp.Wo", RS_ROWS_OWN},
    {NULL, NULL, RS_ROWS_OWN},
};

const rs_hf_name rs_names_dinov2[] = {
    {"patch_embed", "embeddings.patch_embeddings.projection", RS_ROWS_FOLDED},
    {"class_token", "embeddings.cls_token", RS_ROWS_FOLDED},
    {"embed.table", "embeddings.position_embeddings", RS_ROWS_FOLDED},
    {"norm", "layernorm", RS_ROWS_OWN},
    {"input_layernorm", "norm1", RS_ROWS_OWN},
    {"post_attention_layernorm", "norm2", RS_ROWS_OWN},
    {"self_attn.q_proj", "attention.attention.query", RS_ROWS_OWN},
    {"self_attn.k_proj", "attention.attention.key", RS_ROWS_OWN},
    {"self_attn.v_proj", "attention.attention.value", RS_ROWS_OWN},
    {"self_attn.o_proj", "attention.output.dense", RS_ROWS_OWN},
    {"mlp.gate_proj", "mlp.weights_in", RS_ROWS_PARTS},
    {"mlp.up_proj", "mlp.fc1", RS_ROWS_OWN},
    {"mlp.up_proj", "mlp.weights_in", RS_ROWS_PARTS},
    {"mlp.down_proj", "mlp.fc2", RS_ROWS_OWN},
    {"mlp.down_proj", "mlp.weights_out", RS_ROWS_OWN},
    {NULL, NULL, RS_ROWS_OWN},
};

const rs_hf_name rs_names_vit[] = {
    {"patch_embed", "embeddings.patch_embeddings.projection", RS_ROWS_FOLDED},
    {"class_token", "embeddings.cls_token", RS_ROWS_FOLDED},
    {"embed.table", "embeddings.position_embeddings", RS_ROWS_FOLDED},
    {"norm", "layernorm", RS_ROWS_OWN},
    {"input_layernorm", "layernorm_before", RS_ROWS_OWN},
    {"post_attention_layernorm", "layernorm_after", RS_ROWS_OWN},
    {"self_attn.q_proj", "attention.attention.query", RS_ROWS_OWN},
    {"self_attn.k_proj", "attention.attention.key", RS_ROWS_OWN},
    {"self_attn.v_proj", "attention.attention.value", RS_ROWS_OWN},
    {"self_attn.o_proj", "attention.output.dense", RS_ROWS_OWN},
    {"mlp.up_proj", "intermediate.dense", RS_ROWS_OWN},
    {"mlp.down_proj", "output.dense", RS_ROWS_OWN},
    {NULL, NULL, RS_ROWS_OWN},
};

const rs_hf_name rs_names_t5[] = {
    {"embed_tokens", "shared", RS_ROWS_OWN},
    {"bias.table", "decoder.block.#.layer.0.SelfAttention.relative_attention_bias.weight", RS_ROWS_OWN},
    {"norm", "decoder.final_layer_norm", RS_ROWS_OWN},
    {"input_layernorm", "layer.0.layer_norm", RS_ROWS_OWN},
    {"self_attn.q_proj", "layer.0.SelfAttention.q", RS_ROWS_OWN},
    {"self_attn.k_proj", "layer.0.SelfAttention.k", RS_ROWS_OWN},
    {"self_attn.v_proj", "layer.0.SelfAttention.v", RS_ROWS_OWN},
    {"self_attn.o_proj", "layer.0.SelfAttention.o", RS_ROWS_OWN},
    {"cross_attention_layernorm", "layer.1.layer_norm", RS_ROWS_OWN},
    {"cross_attn.q_proj", "layer.1.EncDecAttention.q", RS_ROWS_OWN},
    {"cross_attn.k_proj", "layer.1.EncDecAttention.k", RS_ROWS_OWN},
    {"cross_attn.v_proj", "layer.1.EncDecAttention.v", RS_ROWS_OWN},
    {"cross_attn.o_proj", "layer.1.EncDecAttention.o", RS_ROWS_OWN},
    {"post_attention_layernorm", "layer.2.layer_norm", RS_ROWS_OWN},
    {"mlp.gate_proj", "layer.2.DenseReluDense.wi_0", RS_ROWS_OWN},
    {"mlp.up_proj", "layer.2.DenseReluDense.wi", RS_ROWS_OWN},
    {"mlp.up_proj", "layer.2.DenseReluDense.wi_1", RS_ROWS_OWN},
    {"mlp.down_proj", "layer.2.DenseReluDense.wo", RS_ROWS_OWN},
    {NULL, NULL, RS_ROWS_OWN},
};

const rs_hf_name rs_names_t5_encoder[] = {
    {"bias.table", "encoder.block.#.layer.0.SelfAttention.relative_attention_bias.weight", RS_ROWS_OWN},
    {"norm", "encoder.final_layer_norm", RS_ROWS_OWN},
    {"input_layernorm", "layer.0.layer_norm", RS_ROWS_OWN},
    {"self_attn.q_proj", "layer.0.SelfAttention.q", RS_ROWS_OWN},
    {"self_attn.k_proj", "layer.0.SelfAttention.k", RS_ROWS_OWN},
    {"self_attn.v_proj", "layer.0.SelfAttention.v", RS_ROWS_OWN},
    {"self_attn.o_proj", "layer.0.SelfAttention.o", RS_ROWS_OWN},
    {"post_attention_layernorm", "layer.1.layer_norm", RS_ROWS_OWN},
    {"mlp.gate_proj", "layer.1.DenseReluDense.wi_0", RS_ROWS_OWN},
    {"mlp.up_proj", "layer.1.DenseReluDense.wi", RS_ROWS_OWN},
    {"mlp.up_proj", "layer.1.DenseReluDense.wi_1", RS_ROWS_OWN},
    {"mlp.down_proj", "layer.1.DenseReluDense.wo", RS_ROWS_OWN},
    {NULL, NULL, RS_ROWS_OWN},
};

const rs_hf_name rs_names_phi3[] = {
    {"self_attn.q_proj", "self_attn.qkv_proj", RS_ROWS_PARTS},
    {"self_attn.k_proj", "self_attn.qkv_proj", RS_ROWS_PARTS},
    {"self_attn.v_proj", "self_attn.qkv_proj", RS_ROWS_PARTS},
    {"mlp.gate_proj", "mlp.gate_up_proj", RS_ROWS_PARTS},
    {"mlp.up_proj", "mlp.gate_up_proj", RS_ROWS_PARTS},
    {NULL, NULL, RS_ROWS_OWN},
};

const rs_hf_name rs_names_gpt2[] = {
    {"embed_tokens", "wte", RS_ROWS_OWN},
    {"embed.table", "wpe.weight", RS_ROWS_OWN},
    {"norm", "ln_f", RS_ROWS_OWN},
    {"input_layernorm", "ln_1", RS_ROWS_OWN},
    {"post_attention_layernorm", "ln_2", RS_ROWS_OWN},
    {"self_attn.q_proj", "attn.c_attn", RS_ROWS_PARTS},
    {"self_attn.k_proj", "attn.c_attn", RS_ROWS_PARTS},
    {"self_attn.v_proj", "attn.c_attn", RS_ROWS_PARTS},
    {"self_attn.o_proj", "attn.c_proj", RS_ROWS_OWN},
    {"mlp.up_proj", "mlp.c_fc", RS_ROWS_OWN},
    {"mlp.down_proj", "mlp.c_proj", RS_ROWS_OWN},
    {NULL, NULL, RS_ROWS_OWN},
};

const rs_hf_name rs_names_neox[] = {
    {"embed_tokens", "embed_in", RS_ROWS_OWN},
    {"norm", "final_layer_norm", RS_ROWS_OWN},
    {"lm_head", "embed_out", RS_ROWS_OWN},
    {"self_attn.q_proj", "attention.query_key_value", RS_ROWS_GROUPS},
    {"self_attn.k_proj", "attention.query_key_value", RS_ROWS_GROUPS},
    {"self_attn.v_proj", "attention.query_key_value", RS_ROWS_GROUPS},
    {"self_attn.o_proj", "attention.dense", RS_ROWS_OWN},
    {"mlp.up_proj", "mlp.dense_h_to_4h", RS_ROWS_OWN},
    {"mlp.down_proj", "mlp.dense_4h_to_h", RS_ROWS_OWN},
    {NULL, NULL, RS_ROWS_OWN},
};

const rs_hf_name rs_names_bloom[] = {
    {"embed_tokens", "word_embeddings", RS_ROWS_OWN},
    {"embedding_norm", "word_embeddings_layernorm", RS_ROWS_OWN},
    {"norm", "ln_f", RS_ROWS_OWN},
    {"self_attn.q_proj", "self_attention.query_key_value", RS_ROWS_GROUPS},
    {"self_attn.k_proj", "self_attention.query_key_value", RS_ROWS_GROUPS},
    {"self_attn.v_proj", "self_attention.query_key_value", RS_ROWS_GROUPS},
    {"self_attn.o_proj", "self_attention.dense", RS_ROWS_OWN},
    {"mlp.up_proj", "mlp.dense_h_to_4h", RS_ROWS_OWN},
    {"mlp.down_proj", "mlp.dense_4h_to_h", RS_ROWS_OWN},
    {NULL, NULL, RS_ROWS_OWN},
};

const rs_hf_name rs_names_mpt[] = {
    {"embed_tokens", "wte", RS_ROWS_OWN},
    {"norm", "norm_f", RS_ROWS_OWN},
    {"input_layernorm", "norm_1", RS_ROWS_OWN},
    {"post_attention_layernorm", "norm_2", RS_ROWS_OWN},
    {"self_attn.q_proj", "attn.Wqkv", RS_ROWS_PARTS},
    {"self_attn.k_proj", "attn.Wqkv", RS_ROWS_PARTS},
    {"self_attn.v_proj", "attn.Wqkv", RS_ROWS_PARTS},
    {"self_attn.o_proj", "attn.out_proj", RS_ROWS_OWN},
    {"mlp.up_proj", "ffn.up_proj", RS_ROWS_OWN},
    {"mlp.down_proj", "ffn.down_proj", RS_ROWS_OWN},
    {NULL, NULL, RS_ROWS_OWN},
};

const rs_hf_name rs_names_opt[] = {
    {"embed.table", "embed_positions.weight", RS_ROWS_OWN},
    {"norm", "final_layer_norm", RS_ROWS_OWN},
    {"input_layernorm", "self_attn_layer_norm", RS_ROWS_OWN},
    {"post_attention_layernorm", "final_layer_norm", RS_ROWS_OWN},
    {"self_attn.o_proj", "self_attn.out_proj", RS_ROWS_OWN},
    {"mlp.up_proj", "fc1", RS_ROWS_OWN},
    {"mlp.down_proj", "fc2", RS_ROWS_OWN},
    {NULL, NULL, RS_ROWS_OWN},
};

const rs_hf_name rs_names_gptj[] = {
    {"embed_tokens", "wte", RS_ROWS_OWN},
    {"norm", "ln_f", RS_ROWS_OWN},
    {"input_layernorm", "ln_1", RS_ROWS_OWN},
    {"self_attn.q_proj", "attn.q_proj", RS_ROWS_OWN},
    {"self_attn.k_proj", "attn.k_proj", RS_ROWS_OWN},
    {"self_attn.v_proj", "attn.v_proj", RS_ROWS_OWN},
    {"self_attn.o_proj", "attn.out_proj", RS_ROWS_OWN},
    {"mlp.up_proj", "mlp.fc_in", RS_ROWS_OWN},
    {"mlp.down_proj", "mlp.fc_out", RS_ROWS_OWN},
    {NULL, NULL, RS_ROWS_OWN},
};

const rs_hf_name rs_names_phi[] = {
    {"norm", "final_layernorm", RS_ROWS_OWN},
    {"self_attn.q_norm", "self_attn.q_layernorm", RS_ROWS_OWN},
    {"self_attn.k_norm", "self_attn.k_layernorm", RS_ROWS_OWN},
    {"self_attn.o_proj", "self_attn.dense", RS_ROWS_OWN},
    {"mlp.up_proj", "mlp.fc1", RS_ROWS_OWN},
    {"mlp.down_proj", "mlp.fc2", RS_ROWS_OWN},
    {NULL, NULL, RS_ROWS_OWN},
};

/* One norm before both parts in the 7B's, two in the 40B's. */
const rs_hf_name rs_names_falcon[] = {
    {"embed_tokens", "word_embeddings", RS_ROWS_OWN},
    {"norm", "ln_f", RS_ROWS_OWN},
    {"input_layernorm", "ln_attn", RS_ROWS_OWN},
    {"input_layernorm", "input_layernorm", RS_ROWS_OWN},
    {"post_attention_layernorm", "ln_mlp", RS_ROWS_OWN},
    {"post_attention_layernorm", "post_attention_layernorm", RS_ROWS_OWN},
    {"self_attn.q_proj", "self_attention.query_key_value", RS_ROWS_GROUPS},
    {"self_attn.k_proj", "self_attention.query_key_value", RS_ROWS_GROUPS},
    {"self_attn.v_proj", "self_attention.query_key_value", RS_ROWS_GROUPS},
    {"self_attn.o_proj", "self_attention.dense", RS_ROWS_OWN},
    {"mlp.up_proj", "mlp.dense_h_to_4h", RS_ROWS_OWN},
    {"mlp.down_proj", "mlp.dense_4h_to_h", RS_ROWS_OWN},
    {NULL, NULL, RS_ROWS_OWN},
};

/* Its norms have no weights. */
const rs_hf_name rs_names_olmo[] = {
    {"norm", NULL, RS_ROWS_ONES},
    {"input_layernorm", NULL, RS_ROWS_ONES},
    {"post_attention_layernorm", NULL, RS_ROWS_ONES},
    {NULL, NULL, RS_ROWS_OWN},
};

const rs_hf_name rs_names_glm[] = {
    {"mlp.gate_proj", "mlp.gate_up_proj", RS_ROWS_PARTS},
    {"mlp.up_proj", "mlp.gate_up_proj", RS_ROWS_PARTS},
    {NULL, NULL, RS_ROWS_OWN},
};

const rs_hf_name rs_names_glm4[] = {
    {"mlp.gate_proj", "mlp.gate_up_proj", RS_ROWS_PARTS},
    {"mlp.up_proj", "mlp.gate_up_proj", RS_ROWS_PARTS},
    {"post_attention_layernorm", "post_self_attn_layernorm", RS_ROWS_OWN},
    {"pre_feedforward_layernorm", "post_attention_layernorm", RS_ROWS_OWN},
    {"post_feedforward_layernorm", "post_mlp_layernorm", RS_ROWS_OWN},
    {NULL, NULL, RS_ROWS_OWN},
};

const rs_hf_name rs_names_starcoder2[] = {
    {"mlp.up_proj", "mlp.c_fc", RS_ROWS_OWN},
    {"mlp.down_proj", "mlp.c_proj", RS_ROWS_OWN},
    {NULL, NULL, RS_ROWS_OWN},
};

const rs_hf_name rs_names_bigcode[] = {
    {"embed_tokens", "wte", RS_ROWS_OWN},
    {"embed.table", "wpe.weight", RS_ROWS_OWN},
    {"norm", "ln_f", RS_ROWS_OWN},
    {"input_layernorm", "ln_1", RS_ROWS_OWN},
    {"post_attention_layernorm", "ln_2", RS_ROWS_OWN},
    {"self_attn.q_proj", "attn.c_attn", RS_ROWS_GROUPS},
    {"self_attn.k_proj", "attn.c_attn", RS_ROWS_GROUPS},
    {"self_attn.v_proj", "attn.c_attn", RS_ROWS_GROUPS},
    {"self_attn.o_proj", "attn.c_proj", RS_ROWS_OWN},
    {"mlp.up_proj", "mlp.c_fc", RS_ROWS_OWN},
    {"mlp.down_proj", "mlp.c_proj", RS_ROWS_OWN},
    {NULL, NULL, RS_ROWS_OWN},
};

const rs_hf_name rs_names_stablelm[] = {
    {"self_attn.q_norm", "self_attn.q_layernorm.norms.#", RS_ROWS_HEADS},
    {"self_attn.k_norm", "self_attn.k_layernorm.norms.#", RS_ROWS_HEADS},
    {NULL, NULL, RS_ROWS_OWN},
};

const rs_hf_name rs_names_codegen[] = {
    {"embed_tokens", "wte", RS_ROWS_OWN},
    {"norm", "ln_f", RS_ROWS_OWN},
    {"input_layernorm", "ln_1", RS_ROWS_OWN},
    {"self_attn.q_proj", "attn.qkv_proj", RS_ROWS_QUARTERS},
    {"self_attn.k_proj", "attn.qkv_proj", RS_ROWS_QUARTERS},
    {"self_attn.v_proj", "attn.qkv_proj", RS_ROWS_QUARTERS},
    {"self_attn.o_proj", "attn.out_proj", RS_ROWS_OWN},
    {"mlp.up_proj", "mlp.fc_in", RS_ROWS_OWN},
    {"mlp.down_proj", "mlp.fc_out", RS_ROWS_OWN},
    {NULL, NULL, RS_ROWS_OWN},
};

const rs_hf_name rs_names_xglm[] = {
    {"norm", "layer_norm", RS_ROWS_OWN},
    {"input_layernorm", "self_attn_layer_norm", RS_ROWS_OWN},
    {"post_attention_layernorm", "final_layer_norm", RS_ROWS_OWN},
    {"self_attn.o_proj", "self_attn.out_proj", RS_ROWS_OWN},
    {"mlp.up_proj", "fc1", RS_ROWS_OWN},
    {"mlp.down_proj", "fc2", RS_ROWS_OWN},
    {NULL, NULL, RS_ROWS_OWN},
};

const rs_hf_name rs_names_gpt_neo[] = {
    {"embed_tokens", "wte", RS_ROWS_OWN},
    {"embed.table", "wpe.weight", RS_ROWS_OWN},
    {"norm", "ln_f", RS_ROWS_OWN},
    {"input_layernorm", "ln_1", RS_ROWS_OWN},
    {"post_attention_layernorm", "ln_2", RS_ROWS_OWN},
    {"self_attn.q_proj", "attn.attention.q_proj", RS_ROWS_OWN},
    {"self_attn.k_proj", "attn.attention.k_proj", RS_ROWS_OWN},
    {"self_attn.v_proj", "attn.attention.v_proj", RS_ROWS_OWN},
    {"self_attn.o_proj", "attn.attention.out_proj", RS_ROWS_OWN},
    {"mlp.up_proj", "mlp.c_fc", RS_ROWS_OWN},
    {"mlp.down_proj", "mlp.c_proj", RS_ROWS_OWN},
    {NULL, NULL, RS_ROWS_OWN},
};

const rs_hf_name rs_names_persimmon[] = {
    {"norm", "final_layernorm", RS_ROWS_OWN},
    {"self_attn.q_norm", "self_attn.q_layernorm", RS_ROWS_OWN},
    {"self_attn.k_norm", "self_attn.k_layernorm", RS_ROWS_OWN},
    {"self_attn.q_proj", "self_attn.query_key_value", RS_ROWS_GROUPS},
    {"self_attn.k_proj", "self_attn.query_key_value", RS_ROWS_GROUPS},
    {"self_attn.v_proj", "self_attn.query_key_value", RS_ROWS_GROUPS},
    {"self_attn.o_proj", "self_attn.dense", RS_ROWS_OWN},
    {"mlp.up_proj", "mlp.dense_h_to_4h", RS_ROWS_OWN},
    {"mlp.down_proj", "mlp.dense_4h_to_h", RS_ROWS_OWN},
    {NULL, NULL, RS_ROWS_OWN},
};

const rs_hf_name rs_names_internlm2[] = {
    {"embed_tokens", "tok_embeddings", RS_ROWS_OWN},        {"lm_head", "output", RS_ROWS_OWN},
    {"input_layernorm", "attention_norm", RS_ROWS_OWN},     {"post_attention_layernorm", "ffn_norm", RS_ROWS_OWN},
    {"self_attn.q_proj", "attention.wqkv", RS_ROWS_GROUPS}, {"self_attn.k_proj", "attention.wqkv", RS_ROWS_GROUPS},
    {"self_attn.v_proj", "attention.wqkv", RS_ROWS_GROUPS}, {"self_attn.o_proj", "attention.wo", RS_ROWS_OWN},
    {"mlp.gate_proj", "feed_forward.w1", RS_ROWS_OWN},      {"mlp.up_proj", "feed_forward.w3", RS_ROWS_OWN},
    {"mlp.down_proj", "feed_forward.w2", RS_ROWS_OWN},      {NULL, NULL, RS_ROWS_OWN},
};

/* Mistral 3.1's have their output beside the part that sees. */
const rs_hf_name rs_names_mistral[] = {
    {"lm_head", "lm_head", RS_ROWS_OWN},
    {"lm_head", "language_model.lm_head", RS_ROWS_OWN},
    {NULL, NULL, RS_ROWS_OWN},
};

const rs_hf_name rs_names_exaone[] = {
    {"embed_tokens", "wte", RS_ROWS_OWN},
    {"norm", "ln_f", RS_ROWS_OWN},
    {"input_layernorm", "ln_1", RS_ROWS_OWN},
    {"post_attention_layernorm", "ln_2", RS_ROWS_OWN},
    {"self_attn.q_proj", "attn.attention.q_proj", RS_ROWS_OWN},
    {"self_attn.k_proj", "attn.attention.k_proj", RS_ROWS_OWN},
    {"self_attn.v_proj", "attn.attention.v_proj", RS_ROWS_OWN},
    {"self_attn.o_proj", "attn.attention.out_proj", RS_ROWS_OWN},
    {"mlp.gate_proj", "mlp.c_fc_0", RS_ROWS_OWN},
    {"mlp.up_proj", "mlp.c_fc_1", RS_ROWS_OWN},
    {"mlp.down_proj", "mlp.c_proj", RS_ROWS_OWN},
    {NULL, NULL, RS_ROWS_OWN},
};

const rs_hf_name rs_names_cohere[] = {
    {"self_attn.q_norm", "self_attn.q_norm", RS_ROWS_FOLDED},
    {"self_attn.k_norm", "self_attn.k_norm", RS_ROWS_FOLDED},
    {NULL, NULL, RS_ROWS_OWN},
};

/* Masks, frequencies and sinusoids that older releases stored. */
const char *const rs_ignored_buffers[] = {
    ".attn.bias", ".attn.masked_bias", ".attention.bias",         ".attention.masked_bias",
    ".inv_freq",  ".attn.causal_mask", "embed_positions.weights", NULL};

const char *const rs_ignored_pictures[] = {"visual.", "vision_tower.", "vision_model.", "multi_modal_projector.", NULL};

const char *const rs_ignored_heads[] = {"pooler.",
                                        "cls.",
                                        "lm_head.",
                                        "vocab_transform.",
                                        "vocab_layer_norm.",
                                        "vocab_projector.",
                                        "classifier.",
                                        "pre_classifier.",
                                        "qa_outputs.",
                                        "mask_token",
                                        "predictions.",
                                        "generator_lm_head.",
                                        "embeddings.position_ids",
                                        NULL};

const char *const rs_ignored_masked_heads[] = {"head.dense.", "head.norm.", "decoder.", "classifier.", NULL};

const char *const rs_ignored_guesses[] = {"mtp_", NULL};

const char *const rs_ignored_copies[] = {"encoder.embed_tokens.", "decoder.embed_tokens.", NULL};
