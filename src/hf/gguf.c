/* A GGUF file as the config.json that says the same, so that one reader serves both: its metadata, what its tensors
 * tell beside (the vocabulary, biases, tied embeddings), and what llama.cpp takes where a key is missing
 * (src/llama-model.cpp and src/models of release 0.3.36 of llama-cpp-python), which a note says. */
#include "gguf.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_LAYERS = 1 << 16 };

/* ---- sizes ------------------------------------------------------------------------------------------------------- */

/* A size without which llama.cpp reads no such file. */
static size_t needed(rs_gguf_reader *r, const char *name, double least) {
  const rs_node *node = rs_gguf_key(r, name);
  if (node != NULL) return rs_read_count(&r->problems, node, least, RS_GGUF_MOST, 1);
  rs_problem(&r->problems, r->metadata, "%s.%s is missing: a %s file needs it", r->row->architecture, name,
             r->row->architecture);
  return 1;
}

/* ---- sizes that a file may say layer by layer -------------------------------------------------------------------- */

/* One number, or as many as there are layers: those, where they differ. */
static void write_by_layer(rs_gguf_reader *r, const rs_node *node, const char *key, size_t layers) {
  if (node->kind != RS_SEQUENCE) {
    rs_json_number(r->json, key, (double)rs_read_count(&r->problems, node, 0, RS_GGUF_MOST, 1));
    return;
  }
  bool same = node->count > 0;
  for (size_t i = 1; i < node->count; i++) same &= strcmp(rs_hf_word(&node->items[i]), rs_hf_word(node->items)) == 0;
  if (node->count != layers)
    rs_problem(&r->problems, node, "must have an entry for each of the %zu layers", layers);
  else if (same)
    write_by_layer(r, &node->items[0], key, layers);
  else {
    rs_json_list(r->json, key);
    for (size_t i = 0; i < node->count; i++)
      rs_json_number(r->json, NULL, (double)rs_read_count(&r->problems, &node->items[i], 0, RS_GGUF_MOST, 1));
    rs_json_end(r->json);
  }
}

/* Heads of queries: one number for all layers, however it is written. */
static size_t read_heads(rs_gguf_reader *r) {
  const rs_node *node = rs_gguf_key(r, "attention.head_count"), *first = node;
  if (node == NULL) return needed(r, "attention.head_count", 1);
  if (node->kind == RS_SEQUENCE && node->count > 0) first = &node->items[0];
  for (size_t i = 1; first != node && i < node->count; i++)
    if (strcmp(rs_hf_word(&node->items[i]), rs_hf_word(first)) != 0) {
      rs_problem(&r->problems, node, "differs from layer to layer (%s, %s), which is not offered here",
                 rs_hf_word(first), rs_hf_word(&node->items[i]));
      return 1;
    }
  return rs_read_count(&r->problems, first, 1, RS_GGUF_MOST, 1);
}

static void write_head_dim(rs_gguf_reader *r, size_t width, size_t heads) {
  bool said = rs_gguf_key(r, "attention.key_length") != NULL;
  r->head_dim = rs_gguf_count(r, "attention.key_length", 1, width / heads);
  const rs_node *value = rs_gguf_key(r, "attention.value_length");
  if (value != NULL && rs_gguf_count(r, "attention.value_length", 1, r->head_dim) != r->head_dim)
    rs_problem(&r->problems, value, "differs from key_length = %zu, which is not offered here", r->head_dim);
  if (!said && width % heads != 0 && r->problems.count == 0)
    rs_problem(&r->problems, r->metadata, "embedding_length = %zu is no multiple of the %zu heads, and there is no %s",
               width, heads, "attention.key_length");
  rs_json_number(r->json, "head_dim", (double)r->head_dim);
}

static void write_vocabulary(rs_gguf_reader *r) {
  const rs_stored_tensor *embeddings = rs_gguf_tensor(r, "token_embd.weight");
  size_t tokens = rs_gguf_array_count(r->file, "tokenizer.ggml.tokens"), said = rs_gguf_count(r, "vocab_size", 1, 0);
  size_t rows = embeddings != NULL && embeddings->rank == 2 ? embeddings->shape[0] : 0;
  if (rows > 0 && tokens > 0 && tokens != rows)
    rs_problem(&r->problems, r->metadata, "tokenizer.ggml.tokens has %zu tokens, token_embd.weight %zu rows", tokens,
               rows);
  if (rows > 0 && said > 0 && said != rows)
    rs_problem(&r->problems, rs_gguf_key(r, "vocab_size"), "differs from the %zu rows of token_embd.weight", rows);
  size_t vocabulary = rows > 0 ? rows : tokens > 0 ? tokens : said;
  if (vocabulary > 0) rs_json_number(r->json, "vocab_size", (double)vocabulary);
}

/* ---- parts of a model -------------------------------------------------------------------------------------------- */

static void write_norms(rs_gguf_reader *r) {
  bool rms = (r->row->traits & RS_GGUF_RMS) != 0;
  const char *name = rms ? "attention.layer_norm_rms_epsilon" : "attention.layer_norm_epsilon";
  const rs_node *node = rs_gguf_key(r, name);
  if (node == NULL)
    (void)needed(r, name, 0);
  else
    rs_json_number(r->json, rms ? "rms_norm_eps" : "layer_norm_epsilon", rs_read_real(&r->problems, node, 0, 1, 0));
}

static void write_cap(rs_gguf_reader *r, const char *key, double usual) {
  double cap = rs_gguf_real(r, key, 0, 1e6, usual);
  if (rs_gguf_key(r, key) == NULL && usual > 0)
    rs_gguf_note(r, "%s.%s is missing: llama.cpp takes %g", r->row->architecture, key, usual);
  if (cap > 0)
    rs_json_number(r->json, key, cap);
  else
    rs_json_string(r->json, key, NULL);
}

static bool is_flag(const rs_node *node, const char *word, const char *digit) {
  return !node->quoted && (strcmp(rs_hf_word(node), word) == 0 || strcmp(rs_hf_word(node), digit) == 0);
}

static bool is_windowed(const rs_node *pattern, size_t every, size_t layer) {
  if (pattern == NULL || pattern->kind != RS_SEQUENCE) return every == 0 || layer % every + 1 < every;
  return is_flag(&pattern->items[layer], "true", "1");
}

/* Windows by a pattern, or by a list of flags. */
static void write_windows(rs_gguf_reader *r, size_t layers) {
  const rs_node *node = rs_gguf_key(r, "attention.sliding_window"),
                *pattern = rs_gguf_key(r, "attention.sliding_window_pattern");
  size_t window = rs_gguf_count(r, "attention.sliding_window", 0, r->row->window), every = r->row->pattern;
  if (node == NULL && window > 0)
    rs_gguf_note(r, "%s.attention.sliding_window is missing: llama.cpp takes %zu", r->row->architecture, window);
  if (pattern != NULL && pattern->kind != RS_SEQUENCE)
    every = rs_read_count(&r->problems, pattern, 0, RS_GGUF_MOST, every);
  bool list = pattern != NULL && pattern->kind == RS_SEQUENCE;
  if (list && pattern->count != layers) {
    rs_problem(&r->problems, pattern, "must have an entry for each of the %zu layers", layers);
    return;
  }
  for (size_t i = 0; list && i < layers; i++)
    if (!is_flag(&pattern->items[i], "true", "1") && !is_flag(&pattern->items[i], "false", "0")) {
      rs_problem(&r->problems, pattern, "entry %zu is %.40s: must be true or false", i, rs_hf_word(&pattern->items[i]));
      return;
    }
  if (window > 0)
    rs_json_number(r->json, "sliding_window", (double)window);
  else
    rs_json_string(r->json, "sliding_window", NULL);
  rs_json_list(r->json, "layer_types");
  for (size_t i = 0; i < layers; i++) {
    bool windowed = window > 0 && is_windowed(pattern, every, i);
    rs_json_string(r->json, NULL, windowed ? RS_HF_LOCAL : RS_HF_GLOBAL);
    r->windowed |= windowed;
  }
  rs_json_end(r->json);
}

/* Scores of most are divided by the root of the head's dims, those of the largest Gemmas by another's. */
static void write_gemma(rs_gguf_reader *r, size_t layers, size_t width, size_t heads) {
  bool third = strcmp(r->row->architecture, "gemma3") == 0, squared = layers == r->row->squared_layers;
  rs_json_number(r->json, "query_pre_attn_scalar", (double)(squared ? width / heads : r->head_dim));
  if (!third) write_cap(r, "attn_logit_softcapping", 50);
  write_cap(r, "final_logit_softcapping", third ? 0 : 30);
  write_windows(r, layers);
}

/* Phi-3's files have one for all layers, which llama.cpp does not heed. */
static void write_phi(rs_gguf_reader *r) {
  size_t window = rs_gguf_count(r, "attention.sliding_window", 0, 0);
  if (window == 0) {
    rs_json_string(r->json, "sliding_window", NULL);
    return;
  }
  rs_json_number(r->json, "sliding_window", (double)window);
  rs_gguf_note(r, "phi3.attention.sliding_window = %zu is read here, and by transformers, but not by llama.cpp",
               window);
}

/* Which of Falcon's classes it is: by its key heads and whether attention has a norm of its own. */
static void write_falcon(rs_gguf_reader *r, size_t heads, size_t keys) {
  bool two = rs_gguf_tensor(r, "blk.0.attn_norm_2.weight") != NULL, grouped = two || (keys != 1 && keys != heads);
  rs_json_bool(r->json, "new_decoder_architecture", grouped);
  rs_json_bool(r->json, "multi_query", keys == 1);
  rs_json_bool(r->json, "parallel_attn", true);
  rs_json_bool(r->json, "alibi", false);
  if (grouped) rs_json_number(r->json, "num_kv_heads", (double)keys);
  if (grouped) rs_json_number(r->json, "num_ln_in_parallel_attn", two ? 2 : 1);
}

static void write_mpt(rs_gguf_reader *r) {
  const rs_node *bias = rs_gguf_key(r, "attention.max_alibi_bias"), *clip = rs_gguf_key(r, "attention.clamp_kqv");
  double most = rs_gguf_real(r, "attention.max_alibi_bias", 0, 1e6, 0);
  if (bias == NULL)
    rs_gguf_note(r, "mpt.attention.max_alibi_bias is missing: llama.cpp takes 0, a model without ALiBi");
  rs_json_object(r->json, "attn_config");
  rs_json_bool(r->json, "alibi", most > 0);
  if (most > 0) rs_json_number(r->json, "alibi_bias_max", most);
  if (clip != NULL) rs_json_number(r->json, "clip_qkv", rs_read_real(&r->problems, clip, 1e-30, 1e30, 1));
  rs_json_end(r->json);
}

static void refuse_others(rs_gguf_reader *r) {
  const rs_node *experts = rs_gguf_key(r, "expert_count"), *causal = rs_gguf_key(r, "attention.causal");
  (void)rs_gguf_key(r, "use_parallel_residual");
  if (experts != NULL && strcmp(rs_hf_word(experts), "0") != 0)
    rs_problem(&r->problems, experts, "experts of GGUF files are not read here");
  if (causal != NULL && strcmp(rs_hf_word(causal), "false") == 0)
    rs_problem(&r->problems, causal, "a %s that looks ahead is not offered here", r->row->architecture);
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

/* Keys of positions that nothing read, of this architecture and of others. */
static void note_unread(rs_gguf_reader *r) {
  static const char *const words[] = {"rope", "attention", "window", "alibi", "yarn", "context", "pos"};
  for (size_t i = 0; i < r->metadata->count; i++) {
    const char *key = r->metadata->items[i].key;
    bool speaks = false;
    for (size_t w = 0; w < RS_COUNT(words); w++) speaks |= strstr(key, words[w]) != NULL;
    bool other = strncmp(key, "general.", 8) == 0 || strncmp(key, "tokenizer.", 10) == 0;
    if (!r->read[i] && speaks && !other) rs_gguf_note(r, "%s is not read", key);
  }
}

static void write_sizes(rs_gguf_reader *r, size_t *layers, size_t *width, size_t *heads) {
  *layers = needed(r, "block_count", 1);
  if (*layers > MOST_LAYERS) {
    rs_problem(&r->problems, rs_gguf_key(r, "block_count"), "must be at most %d", MOST_LAYERS);
    *layers = 1;
  }
  *width = needed(r, "embedding_length", 1);
  *heads = read_heads(r);
  r->context = needed(r, "context_length", 1);
  rs_json_string(r->json, "model_type", r->row->model_type);
  rs_json_number(r->json, "num_hidden_layers", (double)*layers);
  rs_json_number(r->json, "hidden_size", (double)*width);
  rs_json_number(r->json, "num_attention_heads", (double)*heads);
  rs_json_number(r->json, "max_position_embeddings", (double)r->context);
  write_head_dim(r, *width, *heads);
  const rs_node *inner = rs_gguf_key(r, "feed_forward_length");
  if (inner != NULL)
    write_by_layer(r, inner, "intermediate_size", *layers);
  else
    (void)needed(r, "feed_forward_length", 1);
  write_vocabulary(r);
}

static rs_status write_keys(rs_gguf_reader *r, rs_err *err) {
  size_t layers, width, heads;
  write_sizes(r, &layers, &width, &heads);
  const rs_node *keys = rs_gguf_key(r, "attention.head_count_kv");
  bool falcon = strcmp(r->row->architecture, "falcon") == 0, mpt = strcmp(r->row->architecture, "mpt") == 0;
  if (keys != NULL && !falcon) write_by_layer(r, keys, "num_key_value_heads", layers);
  if (keys == NULL && !falcon) rs_json_number(r->json, "num_key_value_heads", (double)heads);
  if (keys == NULL && (r->row->traits & RS_GGUF_UNTURNED) == 0)
    rs_gguf_note(r, "%s.attention.head_count_kv is missing: llama.cpp takes head_count", r->row->architecture);
  if (falcon) write_falcon(r, heads, rs_gguf_count(r, "attention.head_count_kv", 1, heads));
  if (mpt) write_mpt(r);
  write_norms(r);
  rs_json_bool(r->json, "tie_word_embeddings", rs_gguf_tensor(r, "output.weight") == NULL);
  if (strcmp(r->row->architecture, "llama") == 0) {
    rs_json_bool(r->json, "attention_bias", rs_gguf_tensor(r, "blk.0.attn_q.bias") != NULL);
    rs_json_bool(r->json, "mlp_bias", rs_gguf_tensor(r, "blk.0.ffn_up.bias") != NULL);
  }
  if ((r->row->traits & RS_GGUF_WINDOWS) != 0) write_gemma(r, layers, width, heads);
  if (strcmp(r->row->architecture, "phi3") == 0) write_phi(r);
  refuse_others(r);
  return rs_gguf_write_rope(r, err);
}

/* One key a line, and what was guessed. */
static rs_status write_config(rs_gguf_reader *r, rs_err *err) {
  rs_json_object(r->json, NULL);
  RS_TRY(write_keys(r, err));
  note_unread(r);
  rs_json_object(r->json, RS_GGUF_MARK);
  rs_json_string(r->json, "architecture", r->row->architecture);
  rs_json_string(r->json, "notes", rs_text_string(&r->notes));
  if (r->attn_factor > 0 && r->attn_factor != 1) rs_json_number(r->json, "attn_factor", r->attn_factor);
  rs_json_end(r->json);
  rs_json_end(r->json);
  return rs_text_check(&r->notes, err);
}

static rs_status refuse_architecture(const rs_gguf_reader *r, const rs_node *node, rs_err *err) {
  rs_text known = {0};
  if (node == NULL)
    return rs_fail(err, RS_INPUT, "%s: general.architecture is missing: nothing says what the metadata is of",
                   r->metadata->file);
  for (size_t i = 0; rs_gguf_row_at(i) != NULL; i++)
    rs_text_printf(&known, "%s%s", i > 0 ? ", " : "", rs_gguf_row_at(i)->architecture);
  rs_status status = rs_text_check(&known, err);
  if (status == RS_OK)
    status = rs_fail(err, RS_UNSUPPORTED,
                     "%s: general.architecture = %.60s: GGUF files of this architecture are not read (of these they "
                     "are: %s); the config.json of the model may be",
                     r->metadata->file, rs_hf_word(node), rs_text_string(&known));
  rs_text_clear(&known);
  return status;
}

/* The config of an open file. */
static rs_status translate(const rs_gguf *file, rs_text *text, rs_err *err) {
  rs_json json = {.text = text};
  rs_gguf_reader r = {.file = file, .metadata = rs_gguf_metadata(file), .json = &json};
  r.problems.top = r.metadata;
  r.read = rs_alloc(r.metadata->count + 1, sizeof *r.read, err);
  if (r.read == NULL) return RS_MEMORY;
  const rs_node *architecture = rs_gguf_any_key(&r, "general.architecture");
  r.row = rs_gguf_row_of(rs_hf_word(architecture));
  rs_status status = r.row != NULL ? write_config(&r, err) : refuse_architecture(&r, architecture, err);
  if (status == RS_OK) status = rs_problems_end(&r.problems, r.metadata->file, err);
  rs_problems_clear(&r.problems);
  rs_text_clear(&r.notes);
  free(r.read);
  return status == RS_OK ? rs_text_check(text, err) : status;
}

rs_status rs_gguf_config(const char *file, rs_text *text, rs_err *err) {
  rs_gguf *gguf;
  RS_TRY(rs_gguf_open(file, &gguf, err));
  rs_status status = translate(gguf, text, err);
  rs_gguf_close(gguf);
  return status;
}
