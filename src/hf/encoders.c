/* Encoders, and what has one: what their files call weights otherwise than Llama's, and the architectures, one a row.
 */
#include "architectures.h"

/* RoBERTa's, XLM-R's and ELECTRA's, too. */
static NAMES(names_bert, NAME("embed_tokens", "embeddings.word_embeddings"),
             NAME("embed.table", "embeddings.position_embeddings.weight"),
             NAME_OF("padding_position", "embeddings.position_embeddings.weight", PADDING),
             NAME_OF("vectors.keys", "encoder.layer.#.attention.self.distance_embedding.weight", REVERSED),
             NAME("token_type_embeddings", "embeddings.token_type_embeddings"),
             NAME("embedding_norm", "embeddings.LayerNorm"), NAME("embed_proj", "embeddings_project"),
             ATTENTION("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"),
             NAME("post_attention_layernorm", "attention.output.LayerNorm"), MLP("intermediate.dense", "output.dense"),
             NAME("post_feedforward_layernorm", "output.LayerNorm"));

static NAMES(names_distilbert, NAME("embed_tokens", "embeddings.word_embeddings"),
             NAME("embed.table", "embeddings.position_embeddings.weight"),
             NAME("embedding_norm", "embeddings.LayerNorm"),
             ATTENTION("attention.q_lin", "attention.k_lin", "attention.v_lin", "attention.out_lin"),
             NAME("post_attention_layernorm", "sa_layer_norm"), MLP("ffn.lin1", "ffn.lin2"),
             NAME("post_feedforward_layernorm", "output_layer_norm"));

static NAMES(names_albert, NAME("embed_tokens", "embeddings.word_embeddings"),
             NAME("embed.table", "embeddings.position_embeddings.weight"),
             NAME("token_type_embeddings", "embeddings.token_type_embeddings"),
             NAME("embedding_norm", "embeddings.LayerNorm"), NAME("embed_proj", "encoder.embedding_hidden_mapping_in"),
             ATTENTION("attention.query", "attention.key", "attention.value", "attention.dense"),
             NAME("post_attention_layernorm", "attention.LayerNorm"), MLP("ffn", "ffn_output"),
             NAME("post_feedforward_layernorm", "full_layer_layer_norm"));

static NAMES(names_modernbert, NAME("embed_tokens", "embeddings.tok_embeddings"),
             NAME("embedding_norm", "embeddings.norm"), NAME("norm", "final_norm"), NORMS("attn_norm", "mlp_norm"),
             QKV("attn.Wqkv", PARTS), NAME("self_attn.o_proj", "attn.Wo"), GATE_UP("mlp.Wi", PARTS),
             NAME("mlp.down_proj", "mlp.Wo"));

/* As nomic-ai's files have them; fc11 is what the gate, fc12, is multiplied by. */
static NAMES(names_nomic, NAME("embed_tokens", "embeddings.word_embeddings"),
             NAME("token_type_embeddings", "embeddings.token_type_embeddings"), NAME("embedding_norm", "emb_ln"),
             QKV("attn.Wqkv", PARTS), NAME("self_attn.o_proj", "attn.out_proj"),
             NAME("post_attention_layernorm", "norm1"), NAME("mlp.gate_proj", "mlp.fc12"),
             NAME("mlp.up_proj", "mlp.fc11"), NAME("mlp.up_proj", "mlp.fc1"), NAME("mlp.down_proj", "mlp.fc2"),
             NAME("post_feedforward_layernorm", "norm2"));

static NAMES(names_dinov2, NAME_OF("patch_embed", "embeddings.patch_embeddings.projection", FOLDED),
             NAME_OF("class_token", "embeddings.cls_token", FOLDED),
             NAME_OF("embed.table", "embeddings.position_embeddings", FOLDED), NAME("norm", "layernorm"),
             NORMS("norm1", "norm2"),
             ATTENTION("attention.attention.query", "attention.attention.key", "attention.attention.value",
                       "attention.output.dense"),
             NAME_OF("mlp.gate_proj", "mlp.weights_in", PARTS), NAME("mlp.up_proj", "mlp.fc1"),
             NAME_OF("mlp.up_proj", "mlp.weights_in", PARTS), NAME("mlp.down_proj", "mlp.fc2"),
             NAME("mlp.down_proj", "mlp.weights_out"));

static NAMES(names_vit, NAME_OF("patch_embed", "embeddings.patch_embeddings.projection", FOLDED),
             NAME_OF("class_token", "embeddings.cls_token", FOLDED),
             NAME_OF("embed.table", "embeddings.position_embeddings", FOLDED), NAME("norm", "layernorm"),
             NORMS("layernorm_before", "layernorm_after"),
             ATTENTION("attention.attention.query", "attention.attention.key", "attention.attention.value",
                       "attention.output.dense"),
             MLP("intermediate.dense", "output.dense"), NAME("lm_head", "classifier"));

static NAMES(names_deit, NAME_OF("patch_embed", "embeddings.patch_embeddings.projection", FOLDED),
             NAME_OF("class_token", "embeddings.cls_token", FOLDED),
             NAME_OF("distillation_token", "embeddings.distillation_token", FOLDED),
             NAME_OF("embed.table", "embeddings.position_embeddings", BESIDE_SECOND), NAME("norm", "layernorm"),
             NORMS("layernorm_before", "layernorm_after"),
             ATTENTION("attention.attention.query", "attention.attention.key", "attention.attention.value",
                       "attention.output.dense"),
             MLP("intermediate.dense", "output.dense"), NAME("lm_head", "cls_classifier"),
             NAME("lm_head", "classifier"), NAME("distillation_head", "distillation_classifier"));

static NAMES(names_t5, NAME("embed_tokens", "shared"),
             NAME("bias.table", "decoder.block.#.layer.0.SelfAttention.relative_attention_bias.weight"),
             NAME("norm", "decoder.final_layer_norm"), NORMS("layer.0.layer_norm", "layer.2.layer_norm"),
             ATTENTION("layer.0.SelfAttention.q", "layer.0.SelfAttention.k", "layer.0.SelfAttention.v",
                       "layer.0.SelfAttention.o"),
             NAME("cross_attention_layernorm", "layer.1.layer_norm"),
             NAME("cross_attn.q_proj", "layer.1.EncDecAttention.q"),
             NAME("cross_attn.k_proj", "layer.1.EncDecAttention.k"),
             NAME("cross_attn.v_proj", "layer.1.EncDecAttention.v"),
             NAME("cross_attn.o_proj", "layer.1.EncDecAttention.o"),
             NAME("mlp.gate_proj", "layer.2.DenseReluDense.wi_0"), NAME("mlp.up_proj", "layer.2.DenseReluDense.wi"),
             NAME("mlp.up_proj", "layer.2.DenseReluDense.wi_1"), NAME("mlp.down_proj", "layer.2.DenseReluDense.wo"));

static NAMES(names_t5_encoder,
             NAME("bias.table", "encoder.block.#.layer.0.SelfAttention.relative_attention_bias.weight"),
             NAME("norm", "encoder.final_layer_norm"), NORMS("layer.0.layer_norm", "layer.1.layer_norm"),
             ATTENTION("layer.0.SelfAttention.q", "layer.0.SelfAttention.k", "layer.0.SelfAttention.v",
                       "layer.0.SelfAttention.o"),
             NAME("mlp.gate_proj", "layer.1.DenseReluDense.wi_0"), NAME("mlp.up_proj", "layer.1.DenseReluDense.wi"),
             NAME("mlp.up_proj", "layer.1.DenseReluDense.wi_1"), NAME("mlp.down_proj", "layer.1.DenseReluDense.wo"));

static const char *const ignored_heads[] = {"pooler.",
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

static const char *const ignored_masked_heads[] = {"head.dense.", "head.norm.", "decoder.", "classifier.", NULL};

static const char *const ignored_copies[] = {"encoder.embed_tokens.", "decoder.embed_tokens.", NULL};

/* What the rows of BERT and its like, of T5s and of those that see have in common. */
#define VISION                                                                                                         \
  .form = RS_VISION, .headless = true, .activation = RS_GELU, .qkv_bias = {"qkv_bias", true}, .output_bias = ALWAYS,   \
  .feed_forward_bias = ALWAYS, .layers = "encoder.layer", .ignored = ignored_heads
#define BERT                                                                                                           \
  .form = RS_ENCODER, .headless = true, .order = RS_NORMS_OF_SUMS,                                                     \
  .norm = {.kind = RS_NORM_LAYER, .bias = true, .epsilon = 1e-12}, .embedding_norm = true, .ignored = ignored_heads
#define T5                                                                                                             \
  .form = RS_ENCODER_DECODER, .norm = RMS, .unscaled = true, .gated_by_name = true, .prefixes = {""},                  \
  .layers = "decoder.block", .names = names_t5, .encoder_layers = "encoder.block", .encoder_names = names_t5_encoder,  \
  .ignored = ignored_copies

const rs_architecture rs_encoders[] = {
    ROW("t5", "T5, T5 1.1, Flan-T5: TOKENS are the encoder's, --decoder-tokens the decoder's", T5,
        .activation = RS_RELU, .tied = true, .narrowed = true, FAMILY("t5", .method = "t5")),
    ROW("mt5", "mT5: an output of its own", T5, .activation = RS_GELU_TANH, .own_output = true,
        FAMILY("mt5", .method = "t5")),
    ROW("umt5", "UMT5: mT5 with positional biases in each layer", T5, .activation = RS_GELU_TANH, .own_output = true,
        .biases_apart = true, .matters = {{"tie_word_embeddings", false}}, FAMILY("umt5", .method = "t5")),
    ROW("vit", "ViT: classes, or last hidden states, of --pixels, whose sides may differ from those it was trained on",
        VISION, .classifies = true, .norm = {.kind = RS_NORM_LAYER, .bias = true, .epsilon = 1e-12},
        .prefixes = {"", "vit."}, .names = names_vit, FAMILY("vit vit_msn", .method = "learned_2d", .both_ways = true)),
    ROW("deit", "DeiT: ViT's with a distillation token, and with its head where it was trained with a teacher", VISION,
        .classifies = true, .distilled = true, .norm = {.kind = RS_NORM_LAYER, .bias = true, .epsilon = 1e-12},
        .prefixes = {"", "deit."}, .names = names_deit, FAMILY("deit", .method = "learned_2d", .both_ways = true)),
    ROW("dinov2", "DINOv2: ViT's, what each part adds times a vector", VISION,
        .norm = {.kind = RS_NORM_LAYER, .bias = true, .epsilon = 1e-6}, .gated_narrower = true, .feed_forward = 4,
        .own_feed_forward = true, .prefixes = {"", "dinov2."},
        .part_scales = {"layer_scale1.lambda1", "layer_scale2.lambda1"}, .names = names_dinov2,
        FAMILY("dinov2 dinov2_with_registers", .method = "learned_2d", .both_ways = true)),
    ROW("bert", "BERT: last hidden states, with --token-types and --attention-mask", BERT, .activation = RS_GELU,
        .distances = true, BIASES(NULL, true), .matters = {{"is_decoder", false}, {"add_cross_attention", false}},
        .prefixes = {"", "bert."}, .layers = "encoder.layer", .names = names_bert,
        FAMILY("bert bert-generation", .method = "learned", .both_ways = true)),
    ROW("roberta", "RoBERTa: BERT's, positions are counted without padding", BERT, .activation = RS_GELU,
        BIASES(NULL, true), .matters = {{"is_decoder", false}, {"add_cross_attention", false}}, .padded = true,
        .prefixes = {"", "roberta."}, .layers = "encoder.layer", .names = names_bert,
        FAMILY("roberta roberta-prelayernorm", .method = "learned", .both_ways = true)),
    ROW("xlm-roberta", "XLM-RoBERTa and CamemBERT: the same", .also = "camembert", BERT, .activation = RS_GELU,
        BIASES(NULL, true), .matters = {{"is_decoder", false}, {"add_cross_attention", false}}, .padded = true,
        .prefixes = {"", "roberta."}, .layers = "encoder.layer", .names = names_bert,
        FAMILY("xlm-roberta xlm-roberta-xl", .method = "learned", .both_ways = true)),
    ROW("distilbert", "DistilBERT: no token types", BERT, .activation = RS_GELU, BIASES(NULL, true),
        .prefixes = {"", "distilbert."}, .layers = "transformer.layer", .names = names_distilbert,
        FAMILY("distilbert", .method = "learned", .both_ways = true)),
    ROW("electra", "ELECTRA: embeddings of another width", BERT, .activation = RS_GELU, BIASES(NULL, true),
        .embedding_size = 128, .distances = true, .matters = {{"is_decoder", false}, {"add_cross_attention", false}},
        .prefixes = {"", "electra."}, .layers = "encoder.layer", .names = names_bert,
        FAMILY("electra", .method = "learned", .both_ways = true)),
    ROW("albert", "ALBERT: layers that share their weights, narrow embeddings", BERT, .activation = RS_GELU_TANH,
        BIASES(NULL, true), .embedding_size = 128, .projected = true, .prefixes = {"", "albert."},
        .layers = "encoder.albert_layer_groups", .layer_part = "albert_layers.0.", .names = names_albert,
        FAMILY("albert", .method = "learned", .both_ways = true)),
    ROW("modernbert", "ModernBERT: two bases, two layers of three see a window to both sides", .form = RS_ENCODER,
        .headless = true, .norm = LAYER_BARE, .norm_bias = {"norm_bias", false}, .first_unnormed = true,
        .activation = RS_GELU, .gated = true, ATTENTION_BIASES("attention_bias", false),
        .feed_forward_bias = {"mlp_bias", false}, .embedding_norm = true, .prefixes = {"model.", ""},
        .names = names_modernbert, .ignored = ignored_masked_heads,
        FAMILY("modernbert", .length = 8192, .theta = 160000, .local_theta = 10000, .local_key = "local_rope_theta",
               .both_ways = true, .windows = RS_WINDOW_BUT_FIRST, .window = 64, .pattern = 3)),
    ROW("nomic_bert", "NomicBERT, nomic-embed-text: BERT's with rotation and gates, as nomic-ai publishes it", BERT,
        .activation = RS_GELU, .activation_key = "activation_function", .gated_by_name = true,
        ATTENTION_BIASES("qkv_proj_bias", true), .feed_forward_bias = {"mlp_fc1_bias", true}, .feed_forward = 4,
        .matters = {{"prenorm", false}, {"causal", false}, {"use_rms_norm", false}, {"parallel_block", false}},
        .prefixes = {"", "bert."}, .layers = "encoder.layers", .names = names_nomic,
        FAMILY("*nomic_bert", .length = 2048, .both_ways = true)),
    {.entry = {NULL, NULL}},
};
