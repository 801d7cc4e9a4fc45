/* What the files of each family call their weights. Names are those of modeling_*.py; what is not listed is called as
 * in Llama, which this program follows. */
#include "architectures.h"

/* Gemma-2's are Llama's, too, with two more norms. */
const rs_hf_name rs_names_llama[] = {{NULL, NULL, RS_ROWS_OWN}};

const rs_hf_name rs_names_llama4[] = {
    {"mlp.gate_proj", "feed_forward.gate_proj", RS_ROWS_OWN},
    {"mlp.up_proj", "feed_forward.up_proj", RS_ROWS_OWN},
    {"mlp.down_proj", "feed_forward.down_proj", RS_ROWS_OWN},
    {NULL, NULL, RS_ROWS_OWN},
};

const rs_hf_name rs_names_bert[] = {
    {"embed_tokens", "embeddings.word_embeddings", RS_ROWS_OWN},
    {"embed.table", "embeddings.position_embeddings.weight", RS_ROWS_OWN},
    {"token_type_embeddings", "embeddings.token_type_embeddings", RS_ROWS_OWN},
    {"embedding_norm", "embeddings.LayerNorm", RS_ROWS_OWN},
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
    {"mlp.experts.#.gate_proj", "mlp.experts.gate_up_proj", RS_ROWS_EXPERTS},
    {"mlp.experts.#.up_proj", "mlp.experts.gate_up_proj", RS_ROWS_EXPERTS},
    {"mlp.experts.#.down_proj", "mlp.experts.down_proj", RS_ROWS_EXPERTS},
    {NULL, NULL, RS_ROWS_OWN},
};

const rs_hf_name rs_names_deepseek[] = {
    {"mlp.router", "mlp.gate", RS_ROWS_OWN},
    {"mlp.router.steering", "mlp.gate.e_score_correction_bias", RS_ROWS_OWN},
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
    {"bias.table", "decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight", RS_ROWS_OWN},
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
    {"mlp.up_proj", "layer.2.DenseReluDense.wi", RS_ROWS_OWN},
    {"mlp.down_proj", "layer.2.DenseReluDense.wo", RS_ROWS_OWN},
    {NULL, NULL, RS_ROWS_OWN},
};

const rs_hf_name rs_names_t5_encoder[] = {
    {"bias.table", "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight", RS_ROWS_OWN},
    {"norm", "encoder.final_layer_norm", RS_ROWS_OWN},
    {"input_layernorm", "layer.0.layer_norm", RS_ROWS_OWN},
    {"self_attn.q_proj", "layer.0.SelfAttention.q", RS_ROWS_OWN},
    {"self_attn.k_proj", "layer.0.SelfAttention.k", RS_ROWS_OWN},
    {"self_attn.v_proj", "layer.0.SelfAttention.v", RS_ROWS_OWN},
    {"self_attn.o_proj", "layer.0.SelfAttention.o", RS_ROWS_OWN},
    {"post_attention_layernorm", "layer.1.layer_norm", RS_ROWS_OWN},
    {"mlp.up_proj", "layer.1.DenseReluDense.wi", RS_ROWS_OWN},
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

/* Falcon's, too. */
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
    {"self_attn.o_proj", "self_attn.dense", RS_ROWS_OWN},
    {"mlp.up_proj", "mlp.fc1", RS_ROWS_OWN},
    {"mlp.down_proj", "mlp.fc2", RS_ROWS_OWN},
    {NULL, NULL, RS_ROWS_OWN},
};

/* Masks and frequencies that older releases stored. */
const char *const rs_ignored_buffers[] = {
    ".attn.bias", ".attn.masked_bias", ".attention.bias", ".attention.masked_bias", ".rotary_emb.inv_freq", NULL};

const char *const rs_ignored_pictures[] = {"visual.", "vision_tower.", "vision_model.", "multi_modal_projector.", NULL};

const char *const rs_ignored_heads[] = {"pooler.", "cls.", "embeddings.position_ids", NULL};

const char *const rs_ignored_copies[] = {"encoder.embed_tokens.", "decoder.embed_tokens.", NULL};
