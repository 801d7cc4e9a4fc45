/* What the files of encoders, and of what has one, call their weights (architecture_names.c). */
#include "architectures.h"

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

/* As nomic-ai's files have them; fc11 is what the gate, fc12, is multiplied by. */
const rs_hf_name rs_names_nomic[] = {
    {"embed_tokens", "embeddings.word_embeddings", RS_ROWS_OWN},
    {"token_type_embeddings", "embeddings.token_type_embeddings", RS_ROWS_OWN},
    {"embedding_norm", "emb_ln", RS_ROWS_OWN},
    {"self_attn.q_proj", "attn.Wqkv", RS_ROWS_PARTS},
    {"self_attn.k_proj", "attn.Wqkv", RS_ROWS_PARTS},
    {"self_attn.v_proj", "attn.Wqkv", RS_ROWS_PARTS},
    {"self_attn.o_proj", "attn.out_proj", RS_ROWS_OWN},
    {"post_attention_layernorm", "norm1", RS_ROWS_OWN},
    {"mlp.gate_proj", "mlp.fc12", RS_ROWS_OWN},
    {"mlp.up_proj", "mlp.fc11", RS_ROWS_OWN},
    {"mlp.up_proj", "mlp.fc1", RS_ROWS_OWN},
    {"mlp.down_proj", "mlp.fc2", RS_ROWS_OWN},
    {"post_feedforward_layernorm", "norm2", RS_ROWS_OWN},
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

const char *const rs_ignored_copies[] = {"encoder.embed_tokens.", "decoder.embed_tokens.", NULL};
