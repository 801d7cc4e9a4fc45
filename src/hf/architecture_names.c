/* What the files of decoders without experts call their weights. Names are those of modeling_*.py; what is not listed
 * is called as in Llama, which this program follows. Encoders and mixtures of experts have files of their own. */
#include "architectures.h"

/* Gemma-2's are Llama's, too, with two more norms. */
const rs_hf_name rs_names_llama[] = {{NULL, NULL, RS_ROWS_OWN}};

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

const rs_hf_name rs_names_hunyuan[] = {
    {"self_attn.q_norm", "self_attn.query_layernorm", RS_ROWS_OWN},
    {"self_attn.k_norm", "self_attn.key_layernorm", RS_ROWS_OWN},
    {NULL, NULL, RS_ROWS_OWN},
};

const rs_hf_name rs_names_apertus[] = {
    {"input_layernorm", "attention_layernorm", RS_ROWS_OWN},
    {"post_attention_layernorm", "feedforward_layernorm", RS_ROWS_OWN},
    {"mlp.curve", "mlp.act_fn", RS_ROWS_CURVE},
    {NULL, NULL, RS_ROWS_OWN},
};

/* Masks, frequencies and sinusoids that older releases stored. */
const char *const rs_ignored_buffers[] = {
    ".attn.bias", ".attn.masked_bias", ".attention.bias",         ".attention.masked_bias",
    ".inv_freq",  ".attn.causal_mask", "embed_positions.weights", NULL};

const char *const rs_ignored_pictures[] = {"visual.", "vision_tower.", "vision_model.", "multi_modal_projector.", NULL};
