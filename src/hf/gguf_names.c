/* Architectures of GGUF files, and what they call weights: llama.cpp's src/models and the classes of
 * convert_hf_to_gguf.py. Matrices of q, k and v may be one, q before k before v, whatever the checkpoint had. */
#include "gguf.h"

#include <string.h>

#define TOKENS NAME("embed_tokens", "token_embd"), NAME("norm", "output_norm"), NAME("lm_head", "output")
#define OUTPUT NAME("self_attn.o_proj", "attn_output")
#define ATTENTION_OF(rows)                                                                                             \
  NAME_OF("self_attn.q_proj", "attn_q", rows), NAME_OF("self_attn.k_proj", "attn_k", rows),                            \
      NAME("self_attn.v_proj", "attn_v"), OUTPUT, NAME("self_attn.q_norm", "attn_q_norm"),                             \
      NAME("self_attn.k_norm", "attn_k_norm")
#define GATED NAME("mlp.gate_proj", "ffn_gate"), MLP("ffn_up", "ffn_down")

/* Pairs of llama's heads stand side by side. */
static NAMES(names_llama, TOKENS, NORMS("attn_norm", "ffn_norm"), ATTENTION_OF(PAIRS), GATED);
static NAMES(names_qwen, TOKENS, NORMS("attn_norm", "ffn_norm"), ATTENTION_OF(OWN), QKV("attn_qkv", PARTS), GATED);
static NAMES(names_gemma, TOKENS, NORMS("attn_norm", "post_attention_norm"),
             NAME("pre_feedforward_layernorm", "ffn_norm"), NAME("post_feedforward_layernorm", "post_ffw_norm"),
             ATTENTION_OF(OWN), QKV("attn_qkv", PARTS), GATED);
static NAMES(names_phi3, TOKENS, NORMS("attn_norm", "ffn_norm"), ATTENTION_OF(OWN), QKV("attn_qkv", PARTS),
             GATE_UP("ffn_up", PARTS), NAME("mlp.down_proj", "ffn_down"));
static NAMES(names_plain, TOKENS, NAME("embed.table", "position_embd.weight"),
             NAME("embedding_norm", "token_embd_norm"), NORMS("attn_norm", "ffn_norm"), QKV("attn_qkv", PARTS), OUTPUT,
             MLP("ffn_up", "ffn_down"));
/* The first norm is that of attention where there is a second, else that of both. */
static NAMES(names_falcon, TOKENS, NAME("input_layernorm", "attn_norm_2"), NAME("input_layernorm", "attn_norm"),
             NAME("post_attention_layernorm", "attn_norm"), QKV("attn_qkv", PARTS), OUTPUT, MLP("ffn_up", "ffn_down"));

static const char *const frequencies[] = {"rope_freqs.weight", "rope_factors_long.weight", "rope_factors_short.weight",
                                          NULL};
static const char *const none[] = {NULL};

static const rs_gguf_row rows[] = {
    {"llama", "llama", RS_GGUF_RMS | RS_GGUF_FREQUENCIES, .names = names_llama, .ignored = frequencies},
    {"qwen2", "qwen2", RS_GGUF_RMS, .names = names_qwen, .ignored = none},
    {"qwen2vl", "qwen2_vl", RS_GGUF_RMS | RS_GGUF_SECTIONS, .names = names_qwen, .ignored = none},
    {"qwen3", "qwen3", RS_GGUF_RMS, .names = names_qwen, .ignored = none},
    {"gemma2", "gemma2", RS_GGUF_RMS | RS_GGUF_WINDOWS, .window = 4096, .pattern = 2, .squared_layers = 46,
     .names = names_gemma, .ignored = none},
    {"gemma3", "gemma3_text", RS_GGUF_RMS | RS_GGUF_WINDOWS, .pattern = 6, .squared_layers = 62, .names = names_gemma,
     .ignored = none},
    {"phi3", "phi3", RS_GGUF_RMS | RS_GGUF_PARTIAL, .names = names_phi3, .ignored = frequencies},
    {"gpt2", "gpt2", RS_GGUF_UNTURNED, .names = names_plain, .ignored = none},
    {"falcon", "falcon", 0, .names = names_falcon, .ignored = none},
    {"mpt", "mpt", RS_GGUF_UNTURNED, .names = names_plain, .ignored = none},
    {"bloom", "bloom", RS_GGUF_UNTURNED, .names = names_plain, .ignored = none},
};

const rs_gguf_row *rs_gguf_row_at(size_t index) {
  return index < RS_COUNT(rows) ? &rows[index] : NULL;
}

const rs_gguf_row *rs_gguf_row_of(const char *architecture) {
  for (size_t i = 0; i < RS_COUNT(rows); i++)
    if (strcmp(rows[i].architecture, architecture) == 0) return &rows[i];
  return NULL;
}
