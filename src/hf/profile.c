/* Which layers of a config.json are of which kind: lists of the file, patterns that it names, and what classes of
 * transformers do where it is silent (configuration_*.py). Recipes of a kind are read in model.c. */
#include "hf_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the file says of its layers. Lists are NULL where there are none. */
typedef struct layer_rules {
  const rs_node *root;
  const char *type; /* model_type */
  rs_hf_family known;
  rs_problems problems;
  size_t count;
  bool counted;
  const rs_node *types, *turning, *hybrid, *linear, *ratios, *cross, *attending;
  const rs_node *blocks;   /* block_types, in turns (RecurrentGemma) */
  const rs_node *bases;    /* layer_rope_theta */
  const rs_node *full;     /* linear_attn_config: the layers with attention */
  const rs_node *choosing; /* sparse_attention_config: 1 where a layer chooses blocks of keys */
  size_t first;            /* the number of the first layer in `full` */
  const rs_node *indexers; /* indexer_types, index_topk_pattern: "shared" or "S" where a layer chooses none itself */
  const char *skips;       /* index_topk_pattern, a letter a layer */
  size_t every, behind;    /* index_topk_freq, index_skip_topk_offset: layers choose so often, from there on; 0: all */
  size_t chosen, block;    /* blocks, and keys of each, that a layer chooses for a query; 0: not said */
  const char *letters;     /* nemotron_h: one a layer */
  const char *cycle;       /* EXAONE 4: "LLLG" */
  size_t window, chunk, pattern, interval;
  size_t linear_every, period, offset;
} layer_rules;

/* Words of layer_types and layers_block_type in transformers' classes, the last ones without attention:
 * configuration_utils.py, ALLOWED_LAYER_TYPES. */
const char *const rs_hf_layer_types[] = {RS_HF_GLOBAL,
                                         RS_HF_LOCAL,
                                         RS_HF_CHUNKED,
                                         RS_HF_CROSS,
                                         "attention",
                                         "window_attention",
                                         "reference_sliding_attention",
                                         "indexed_attention",
                                         "deepseek_sparse_attention",
                                         "qwen_sparse_attention",
                                         "minimax_m3_sparse",
                                         "compressed_sparse_attention",
                                         "heavily_compressed_attention",
                                         "hybrid",
                                         "hybrid_sliding",
                                         "sparse",
                                         "dense",
                                         RS_HF_LINEAR, /* and behind it, without attention */
                                         "mamba",
                                         "mamba2",
                                         "conv",
                                         "recurrent",
                                         "moe",
                                         "mlp",
                                         NULL};

/* Where a word, or the end, stands in the list. */
static size_t place_of(const char *word) {
  size_t i = 0;
  while (rs_hf_layer_types[i] != NULL && strcmp(rs_hf_layer_types[i], word) != 0) i++;
  return i;
}

bool rs_hf_is_layer_type(const char *word) {
  return rs_hf_layer_types[place_of(word)] != NULL;
}

/* Words that are none attend. */
static bool attends(const char *type) {
  return !rs_hf_is_layer_type(type) || place_of(type) < place_of(RS_HF_LINEAR);
}

/* ---- keys -------------------------------------------------------------------------------------------------------- */

static size_t count_of(layer_rules *r, const char *const *keys, double least, size_t fallback) {
  const rs_node *node = rs_hf_first(r->root, keys);
  if (node == NULL) return fallback;
  return rs_read_count(&r->problems, node, least, 1 << 24, fallback);
}

static size_t number_of(layer_rules *r, const char *key, double least, size_t fallback) {
  const char *const keys[] = {key, NULL};
  return count_of(r, keys, least, fallback);
}

/* A list that is not empty. */
static const rs_node *any_list(const layer_rules *r, const char *key) {
  const rs_node *node = rs_node_get(r->root, key);
  return rs_hf_present(node) && node->kind == RS_SEQUENCE && node->count > 0 ? node : NULL;
}

/* A list with an entry a layer; layers that draft tokens ahead may have theirs behind. */
static const rs_node *list_of(layer_rules *r, const char *key) {
  const rs_node *node = rs_node_get(r->root, key);
  size_t drafts = number_of(r, "num_nextn_predict_layers", 0, 0);
  if (!rs_hf_present(node) || (node->kind == RS_SEQUENCE && node->count == 0)) return NULL;
  if (!r->counted && node->kind == RS_SEQUENCE) {
    r->count = node->count;
    r->counted = true;
  }
  if (node->kind == RS_SEQUENCE && (node->count == r->count || node->count == r->count + drafts)) return node;
  rs_problem(&r->problems, node, "must have an entry for each of the %zu layers", r->count);
  return NULL;
}

/* The same of words, each a type of layers. */
static const rs_node *words_of(layer_rules *r, const char *key) {
  const rs_node *list = list_of(r, key);
  for (size_t i = 0; list != NULL && i < list->count; i++) {
    const char *word = rs_hf_word(&list->items[i]);
    if (*word == '\0')
      rs_problem(&r->problems, &list->items[i], "must be a word");
    else if (!rs_hf_is_layer_type(word))
      rs_problem(&r->problems, &list->items[i], "%.60s is no type of layers that is known here", word);
  }
  return list;
}

static bool lists_layer(const rs_node *list, size_t layer) {
  double number;
  for (size_t i = 0; list != NULL && i < list->count; i++)
    if (rs_number_read(rs_hf_word(&list->items[i]), &number) && number == (double)layer) return true;
  return false;
}

/* Whether two lists name each of the layers `first` ... `first` + count - 1 once. */
static bool covers(const layer_rules *r, const rs_node *const lists[2], size_t first) {
  size_t named = lists[0]->count + lists[1]->count;
  for (size_t i = 0; i < r->count; i++)
    if (lists_layer(lists[0], first + i) == lists_layer(lists[1], first + i)) return false;
  return named == r->count;
}

/* linear_attn_config names the layers with attention and those with a state, in Kimi's files from 1, in others from 0:
 * the first number is the one by which both lists name every layer once. */
static void read_linear(layer_rules *r) {
  const rs_node *config = rs_node_get(r->root, "linear_attn_config");
  const rs_node *const lists[2] = {rs_node_get(config, "full_attn_layers"), rs_node_get(config, "kda_layers")};
  bool one = rs_hf_present(lists[0]), both = one && rs_hf_present(lists[1]);
  if (r->types != NULL || !r->counted || (!one && !rs_hf_present(lists[1]))) return;
  if (!both) {
    rs_problem(&r->problems, config, "needs full_attn_layers and kda_layers");
    return;
  }
  while (r->first <= 1 && !covers(r, lists, r->first)) r->first++;
  if (r->first > 1)
    rs_problem(&r->problems, lists[0],
               "and kda_layers do not name each of the %zu layers once, neither counted from 1 nor from 0", r->count);
  r->full = lists[0];
}

/* A problem for each entry of a list (NULL: none) that is none of `words`, with spaces between. */
static void check_words(layer_rules *r, const rs_node *list, const char *words) {
  for (size_t i = 0; list != NULL && i < list->count; i++) {
    const char *word = rs_hf_word(&list->items[i]);
    if (*word == '\0' || !rs_word_among(word, words))
      rs_problem(&r->problems, &list->items[i], "must be one of: %s", words);
  }
}

/* Which layers use what one before them chose: configuration_glm_moe_dsa.py, configuration_mistral_large4.py. */
static void read_sharing(layer_rules *r) {
  const rs_node *pattern = rs_node_get(r->root, "index_topk_pattern");
  const char *letters = rs_hf_word(pattern);
  r->indexers = list_of(r, "indexer_types");
  if (r->indexers == NULL && *letters == '\0') r->indexers = list_of(r, "index_topk_pattern");
  check_words(r, r->indexers, "full shared F S");
  if (*letters != '\0' && (strspn(letters, "FS") != strlen(letters) || strlen(letters) < r->count))
    rs_problem(&r->problems, pattern, "must have a letter, F or S, for each of the %zu layers", r->count);
  else if (*letters != '\0')
    r->skips = letters;
  r->every = number_of(r, "index_topk_freq", 1, 0);
  r->behind = number_of(r, "index_skip_topk_offset", 0, 2);
}

static bool shares(const layer_rules *r, size_t layer) {
  const char *word = r->indexers != NULL ? rs_hf_word(&r->indexers->items[layer]) : "";
  if (r->indexers != NULL) return strcmp(word, "shared") == 0 || strcmp(word, "S") == 0;
  if (r->skips != NULL) return r->skips[layer] == 'S';
  return r->every > 0 && layer + 1 > r->behind && (layer + 1 - r->behind) % r->every != 0;
}

/* Layers that choose keys: by index_topk an indexer's keys, of which GLM-5-next's scores index_kpool as one, by
 * indexer_budget those of blocks of averages (Qwen 4), by sparse_attention_config blocks of keys. */
static void read_choices(layer_rules *r) {
  enum { POOL = 16 }; /* configuration_glm5_next.py */
  const rs_node *sparse = rs_node_get(r->root, "sparse_attention_config"), *root = r->root;
  const rs_node *freq = rs_node_get(sparse, "sparse_attention_freq");
  bool pools = rs_hf_is_of(r->type, "glm5_next"), budget = rs_hf_present(rs_node_get(root, "indexer_budget"));
  r->chosen = number_of(r, "index_topk", 1, number_of(r, "index_topk_blocks", 1, number_of(r, "indexer_budget", 1, 0)));
  r->block = r->chosen > 0 ? number_of(r, "index_block_size", 1, 1) : 0;
  if (r->chosen > 0 && pools) r->block = number_of(r, "index_kpool", 1, POOL);
  if (budget) r->block = number_of(r, "indexer_compress_ratio", 1, 1);
  if (pools && r->chosen < r->block) r->block = 1; /* fewer keys than a pool has: a file of toy sizes */
  if (pools || budget) r->chosen /= r->block > 0 ? r->block : 1;
  read_sharing(r);
  if (!rs_hf_present(sparse) || sparse->kind != RS_MAPPING || !rs_hf_true(sparse, "use_sparse_attention", true)) return;
  r->root = sparse;
  r->chosen = number_of(r, "sparse_topk_blocks", 1, 0);
  r->block = number_of(r, "sparse_block_size", 1, 1);
  if (rs_hf_present(freq)) r->choosing = list_of(r, freq->key);
  r->root = root;
}

/* The indexer's queries and keys turn in a way of their own: the first dims of each head, in halves in DeepSeek's code
 * (modeling_deepseek_v32.py) and MiniMax's (modeling_minimax_m3_vl.py), in pairs in GLM's (modeling_glm_moe_dsa.py);
 * those of GLM-5-next do not turn. */
static rs_indexer indexer_of(layer_rules *r, const rs_layer_kind *kind) {
  enum { USUAL = 128 };
  const rs_node *latent = rs_node_get(r->root, "qk_rope_head_dim"),
                *said = rs_node_get(r->root, "indexer_rope_interleave");
  const rs_node *sparse = rs_node_get(r->root, "sparse_attention_config"),
                *width = rs_node_get(sparse, "sparse_index_dim");
  bool halves =
      rs_word_among(r->type, "deepseek_v32 glm5_next glm5_next_text minimax_m3 minimax_m3_vl minimax_m3_vl_text");
  bool pairs = strcmp(r->type, "glm_moe_dsa") == 0, bare = strcmp(kind->model.published.method->name, "nope") == 0;
  rs_indexer indexer = {.known = halves || pairs || rs_hf_present(said)};
  indexer.dims = number_of(r, "index_head_dim", 1, USUAL);
  if (rs_hf_present(width)) indexer.dims = rs_read_count(&r->problems, width, 1, 1 << 16, USUAL);
  indexer.turned = bare ? 0 : rs_hf_present(latent) ? number_of(r, "qk_rope_head_dim", 0, 0) : kind->model.rotary_dim;
  indexer.interleaved = rs_hf_present(said) ? rs_hf_true(r->root, "indexer_rope_interleave", false) : pairs;
  indexer.known &= indexer.turned <= indexer.dims;
  return indexer.known ? indexer : (rs_indexer){0};
}

/* TransfoXLModel: with same_length each query sees as many keys as mem_len says, itself among them, of the text and of
 * what came before it. */
static size_t read_memory(layer_rules *r) {
  enum { USUAL = 1600 };
  size_t length = number_of(r, "mem_len", 0, USUAL);
  if (!rs_hf_true(r->root, "same_length", true)) return 0;
  if (length == 0)
    rs_problem(&r->problems, rs_node_get(r->root, "mem_len"),
               "beside same_length leaves each query no key: mem_len 1 or more, or same_length false");
  return length;
}

static void read_windows(layer_rules *r) {
  static const char *const patterns[] = {"sliding_window_pattern", "_sliding_window_pattern",
                                         "global_attn_every_n_layers", NULL};
  static const char *const windows[] = {"sliding_window", "window_size", "attention_window_size", NULL};
  const rs_node *pattern = rs_hf_first(r->root, patterns), *local = rs_node_get(r->root, "local_attention");
  bool letters = strspn(rs_hf_word(pattern), "LG") > 0;
  /* transformers: a window that is null is none; one that is not there is the class's. */
  bool said = rs_node_get(r->root, windows[0]) != NULL;
  rs_window_rule rule = r->known.windows;
  bool chunked = rule == RS_WINDOW_CHUNKS;
  bool bounded = rule == RS_WINDOW_UPPER || rule == RS_WINDOW_EVEN || rule == RS_WINDOW_TOP;
  bool off = !rs_hf_true(r->root, "use_sliding_window", true); /* where Qwen2-MoE's class writes a window of 0 */
  r->window = count_of(r, windows, off ? 0 : 1, said || chunked ? 0 : r->known.window);
  if (rs_hf_present(local)) r->window = number_of(r, "local_attention", 2, 2) / 2; /* ModernBERT's has both sides */
  if (rule == RS_WINDOW_MEMORY) r->window = read_memory(r);
  r->chunk = number_of(r, "attention_chunk_size", 1, chunked ? r->known.window : 0);
  r->cycle = letters ? pattern->text : NULL;
  r->pattern = letters
                   ? strlen(pattern->text)
                   : count_of(r, bounded ? RS_KEYS("max_window_layers") : patterns, bounded ? 0 : 1, r->known.pattern);
  if (r->known.types == NULL && pattern != NULL) r->known.windows = RS_WINDOW_BUT_LAST; /* it speaks for itself */
}

static layer_rules read_rules(const rs_node *top) {
  enum { ROUNDS = 24 }; /* a multiple of the usual patterns */
  layer_rules r = {.root = rs_hf_text_config(top),
                   .problems = {.top = rs_hf_text_config(top)},
                   .type = rs_hf_model_type(top),
                   .known = rs_hf_family_of(rs_hf_model_type(top))};
  const rs_node *pattern = rs_node_get(r.root, "hybrid_override_pattern");
  r.count = count_of(&r, RS_KEYS("num_hidden_layers", "n_layer", "n_layers", "num_layers"), 1, 0);
  r.counted = r.count > 0;
  if (!r.counted) r.count = ROUNDS;
  r.types = words_of(&r, "layer_types");
  if (r.types == NULL) r.types = words_of(&r, "layers_block_type");
  r.turning = list_of(&r, "no_rope_layers");
  r.hybrid = list_of(&r, "hybrid_layer_pattern");
  r.linear = list_of(&r, "attn_type_list");
  if (r.known.windows == RS_WINDOW_COMPRESSED) r.ratios = any_list(&r, "compress_ratios");
  r.cross = any_list(&r, "cross_attention_layers");
  r.attending = any_list(&r, "attn_layer_indices");
  r.blocks = any_list(&r, "block_types");
  check_words(&r, r.blocks, "recurrent attention");
  r.letters = strlen(rs_hf_word(pattern)) >= r.count ? pattern->text : NULL;
  if (r.known.layer_bases) r.bases = list_of(&r, "layer_rope_theta");
  read_linear(&r);
  read_choices(&r);
  r.interval = number_of(&r, "no_rope_layer_interval", 1, 4);
  r.linear_every = number_of(&r, "full_attention_interval", 1, r.known.linear);
  r.period = number_of(&r, "attn_layer_period", 1, 0);
  r.offset = number_of(&r, "attn_layer_offset", 0, 0);
  bool spoken = r.turning != NULL || rs_hf_present(rs_node_get(r.root, "no_rope_layer_interval"));
  if (r.known.types == NULL && spoken) r.known.bare = RS_BARE_LISTED;
  read_windows(&r);
  if (rs_hf_true(r.root, "use_bidirectional_attention", false)) { /* EmbeddingGemma: half of the window a side */
    r.known.both_ways = true;
    r.window /= 2;
  }
  return r;
}

/* ---- the type of a layer ----------------------------------------------------------------------------------------- */

/* Whether no_rope_layers, where 1 means that the layer does turn, or the interval says that it does not. */
static bool is_listed_bare(const layer_rules *r, size_t layer) {
  if (r->turning != NULL) return strcmp(rs_hf_word(&r->turning->items[layer]), "0") == 0;
  return (layer + 1) % r->interval == 0;
}

/* Whether attention_types, as [[[global, local], 12]], call a layer local; without them every second one is. */
static bool is_called_local(layer_rules *r, size_t layer) {
  const rs_node *types = rs_node_get(r->root, "attention_types");
  if (!rs_hf_present(types)) return layer % 2 != 0;
  for (size_t i = 0, first = 0; i < types->count; i++) {
    const rs_node *item = &types->items[i], *words = item->count == 2 ? &item->items[0] : NULL;
    if (words == NULL || words->kind != RS_SEQUENCE || words->count == 0) {
      rs_problem(&r->problems, item, "must be a list of words and how often it is repeated");
      return false;
    }
    size_t count = words->count * rs_read_count(&r->problems, &item->items[1], 0, 1 << 16, 0);
    if (layer < first + count) return strcmp(rs_hf_word(&words->items[(layer - first) % words->count]), "local") == 0;
    first += count;
  }
  rs_problem(&r->problems, types, "has no word for layer %zu", layer);
  return false;
}

static bool is_windowed(layer_rules *r, size_t layer) {
  size_t pattern = r->pattern > 0 ? r->pattern : 1;
  bool used = rs_hf_true(r->root, "use_sliding_window", false);
  switch (r->known.windows) {
  case RS_WINDOW_ALL:
  case RS_WINDOW_MEMORY: return true;
  case RS_WINDOW_BUT_LAST:
    if (layer + 1 == r->count && (r->cycle != NULL || r->known.ends_global)) return false;
    if (r->cycle != NULL) return r->cycle[layer % pattern] == 'L';
    return (r->known.from_last ? r->count - 1 - layer : layer + 1) % pattern != 0;
  case RS_WINDOW_BUT_FIRST: return layer % pattern != 0;
  case RS_WINDOW_BUT_ENDS: return layer > 0 && (layer + 1) % pattern != 0;
  case RS_WINDOW_USED: return used;
  case RS_WINDOW_UPPER: return used && layer >= r->pattern;
  case RS_WINDOW_EVEN: return used && layer < r->pattern && layer % 2 == 0;
  case RS_WINDOW_TOP: return layer >= r->pattern;
  case RS_WINDOW_REPEATED: return is_called_local(r, layer);
  case RS_WINDOW_BARE: return used && is_listed_bare(r, layer);
  default: return false;
  }
}

/* DeepSeek-V4: 0, 4 and 128 keys are one. Without a list two layers of 128, then both in turns. */
static const char *compressed_type(const layer_rules *r, size_t layer) {
  static const char sparse[] = "compressed_sparse_attention", heavy[] = "heavily_compressed_attention";
  if (r->ratios == NULL) return layer < 2 || layer % 2 == 0 ? heavy : sparse;
  const char *ratio = layer < r->ratios->count ? rs_hf_word(&r->ratios->items[layer]) : "0";
  return strcmp(ratio, "0") == 0 ? RS_HF_LOCAL : strcmp(ratio, "4") == 0 ? sparse : heavy;
}

/* What classes that are no pure transformers have. NULL: attention, of whichever type. */
static const char *mixed_type(const layer_rules *r, size_t layer) {
  if (r->letters != NULL && r->letters[layer] != '*')
    return r->letters[layer] == 'M' ? "mamba" : r->letters[layer] == 'E' ? "moe" : "mlp";
  if (r->linear != NULL && strcmp(rs_hf_word(&r->linear->items[layer]), "0") == 0) return RS_HF_LINEAR;
  if (r->attending != NULL && !lists_layer(r->attending, layer)) return "mamba";
  if (r->blocks != NULL)
    return strcmp(rs_hf_word(&r->blocks->items[layer % r->blocks->count]), "recurrent") == 0 ? "recurrent" : NULL;
  if (r->period > 0 && layer % r->period != r->offset) return "mamba";
  if (r->full != NULL) return lists_layer(r->full, layer + r->first) ? NULL : RS_HF_LINEAR;
  if (r->known.linear_but_first) return layer > 0 && layer % 4 == 0 ? NULL : RS_HF_LINEAR;
  if (r->linear_every > 0 && (layer + 1) % r->linear_every != 0) return RS_HF_LINEAR;
  return lists_layer(r->cross, layer) ? RS_HF_CROSS : NULL;
}

static const char *type_of(layer_rules *r, size_t layer) {
  if (r->types != NULL) {
    const char *type = rs_hf_word(&r->types->items[layer]);
    bool last = layer + 1 == r->count && r->known.ends_global;
    return last || strcmp(type, "attention") == 0 ? RS_HF_GLOBAL : type;
  }
  const char *mixed = mixed_type(r, layer);
  if (mixed != NULL) return mixed;
  if (r->choosing != NULL && strcmp(rs_hf_word(&r->choosing->items[layer]), "0") != 0) return "minimax_m3_sparse";
  if (r->hybrid != NULL) return strcmp(rs_hf_word(&r->hybrid->items[layer]), "1") == 0 ? RS_HF_LOCAL : RS_HF_GLOBAL;
  if (r->known.windows == RS_WINDOW_COMPRESSED) return compressed_type(r, layer);
  if (r->known.windows == RS_WINDOW_CHUNKS) return is_listed_bare(r, layer) ? RS_HF_GLOBAL : RS_HF_CHUNKED;
  return is_windowed(r, layer) && r->window > 0 ? RS_HF_LOCAL : RS_HF_GLOBAL;
}

/* Whether rope_parameters of the type is null. */
static bool is_turned_off(const layer_rules *r, const char *type) {
  const rs_node *own = rs_node_get(rs_node_get(r->root, "rope_parameters"), type);
  return own != NULL && !rs_hf_present(own);
}

/* The base that layer_rope_theta gives a layer; 0: it turns nothing. */
static double base_of(layer_rules *r, size_t layer) {
  const rs_node *node = &r->bases->items[layer];
  double base = rs_read_real(&r->problems, node, 0, 1e300, 0);
  if (base > 0 && base <= 1) rs_problem(&r->problems, node, "must be 0 (turns nothing) or more than 1");
  return base;
}

static bool is_bare(const layer_rules *r, size_t layer, const char *type) {
  bool local = strcmp(type, RS_HF_LOCAL) == 0 && r->window > 0;
  if (strcmp(type, RS_HF_CROSS) == 0 || is_turned_off(r, type)) return true;
  if (r->bases != NULL) return strcmp(rs_hf_word(&r->bases->items[layer]), "0") == 0;
  switch (r->known.bare) {
  case RS_BARE_ALL: return true;
  case RS_BARE_LISTED: return is_listed_bare(r, layer);
  case RS_BARE_GLOBAL: return !local;
  case RS_BARE_BESIDE: return !local && r->window > 0;
  default: return false;
  }
}

/* ---- kinds ------------------------------------------------------------------------------------------------------- */

static rs_mask mask_of(const layer_rules *r, const char *type) {
  bool local = rs_word_among(type, RS_HF_LOCAL " hybrid_sliding"), chunked = strcmp(type, RS_HF_CHUNKED) == 0;
  bool compressed = r->known.windows == RS_WINDOW_COMPRESSED;
  if (strcmp(type, RS_HF_CROSS) == 0) return (rs_mask){.kind = RS_CROSS};
  if (r->known.both_ways && local && r->window > 0) return (rs_mask){.kind = RS_BAND, .window = r->window + 1};
  if (r->known.both_ways) return (rs_mask){.kind = RS_BIDIRECTIONAL};
  if ((local || compressed) && r->window > 0) return (rs_mask){.kind = RS_WINDOW, .window = r->window};
  if (chunked && r->chunk > 0) return (rs_mask){.kind = RS_CHUNKS, .window = r->chunk};
  return (rs_mask){.kind = RS_CAUSAL};
}

static size_t compression_of(const layer_rules *r, const char *type) {
  const rs_node *rates = rs_node_get(r->root, "compress_rates");
  bool sparse = strcmp(type, "compressed_sparse_attention") == 0;
  double rate = sparse ? 4 : 128;
  if (r->known.windows != RS_WINDOW_COMPRESSED || strcmp(type, RS_HF_LOCAL) == 0) return 0;
  (void)rs_number_read(rs_hf_word(rs_node_get(rates, type)), &rate);
  return rate >= 1 ? (size_t)rate : 0;
}

/* Whether layers of a type attend keys that they choose: those whose type says so, or with an indexer all that have
 * neither a window nor a state. */
static bool chooses(const layer_rules *r, const char *type) {
  static const char *const words[] = {"deepseek_sparse_attention", "qwen_sparse_attention", "indexed_attention",
                                      "minimax_m3_sparse"};
  for (size_t i = 0; i < RS_COUNT(words); i++)
    if (strcmp(type, words[i]) == 0) return true;
  bool every = r->chosen > 0 && r->choosing == NULL && r->known.windows != RS_WINDOW_COMPRESSED;
  return every && strcmp(type, RS_HF_GLOBAL) == 0;
}

/* The kind of such layers, which is added where it is new. SIZE_MAX, and reported, without memory. */
static size_t kind_of(layer_rules *r, const rs_hf_layers *layers, rs_hf_layers *known, rs_profile *out) {
  size_t kind = 0, capacity = out->kind_count;
  for (; kind < out->kind_count; kind++)
    if (strcmp(known[kind].type, layers->type) == 0 && known[kind].bare == layers->bare &&
        known[kind].base == layers->base && known[kind].shares == layers->shares)
      return kind;
  if (RS_GROW(out->kinds, &capacity, kind + 1, NULL) != RS_OK) {
    rs_problem_memory(&r->problems);
    return SIZE_MAX;
  }
  known[out->kind_count++] = *layers;
  out->kinds[kind] = (rs_layer_kind){.attends = attends(layers->type),
                                     .mask = mask_of(r, layers->type),
                                     .compression = compression_of(r, layers->type),
                                     .chooses = chooses(r, layers->type),
                                     .shares = layers->shares};
  if (out->kinds[kind].chooses) {
    out->kinds[kind].chosen = r->chosen;
    out->kinds[kind].block = r->block;
  }
  return kind;
}

/* The type; where others of it turn, bare layers are told apart. */
static void name_kinds(const rs_hf_layers *known, rs_profile *out) {
  for (size_t k = 0; k < out->kind_count; k++) {
    bool twin = false, first = true;
    char base[RS_NUMBER_CHARS];
    for (size_t i = 0; i < out->kind_count; i++) {
      bool same = i != k && strcmp(known[i].type, known[k].type) == 0 && known[i].shares == known[k].shares;
      twin |= same && known[k].bare;
      first &= !(same && i < k && !known[i].bare);
    }
    (void)rs_number_format(known[k].base, base);
    bool other = !known[k].bare && !first;
    snprintf(out->kinds[k].name, sizeof out->kinds[k].name, "%.29s%s%s%.22s", known[k].type,
             known[k].shares ? "_shared" : "",
             twin    ? "_nope"
             : other ? "_"
                     : "",
             other ? base : "");
  }
}

/* Of equally many layers the first kind. */
static size_t choose(const rs_profile *profile, const rs_hf_layers *known) {
  size_t best = SIZE_MAX, most = 0;
  bool turning = false;
  for (size_t k = 0; k < profile->kind_count; k++) {
    size_t count = 0;
    for (size_t i = 0; i < profile->layer_count; i++) count += profile->layers[i] == k;
    if (!profile->kinds[k].attends) continue;
    if (!known[k].bare && strcmp(known[k].type, RS_HF_GLOBAL) == 0) return k;
    if (known[k].bare ? turning || count <= most : turning && count <= most) continue;
    best = k;
    most = count;
    turning = !known[k].bare;
  }
  return best;
}

enum { MOST_LAYERS = 1 << 16 };

static rs_status fill(layer_rules *r, rs_hf_layers *known, const rs_node *top, rs_profile *out) {
  for (size_t i = 0; i < r->count && r->problems.count == 0; i++) {
    rs_hf_layers layers = {.type = type_of(r, i)};
    layers.bare = attends(layers.type) && is_bare(r, i, layers.type);
    if (r->bases != NULL && attends(layers.type)) layers.base = base_of(r, i);
    layers.shares = chooses(r, layers.type) && shares(r, i);
    out->layers[out->layer_count++] = kind_of(r, &layers, known, out);
  }
  if (r->problems.count > 0) return RS_INPUT;
  name_kinds(known, out);
  out->counted = r->counted;
  out->chosen = choose(out, known);
  for (size_t k = 0; k < out->kind_count && r->problems.count == 0; k++)
    if (out->kinds[k].attends) rs_hf_layers_read(top, &known[k], &out->kinds[k], &r->problems);
  for (size_t k = 0; k < out->kind_count && r->problems.count == 0; k++)
    if (out->kinds[k].chooses) out->kinds[k].indexer = indexer_of(r, &out->kinds[k]);
  return r->problems.count == 0 ? RS_OK : RS_INPUT;
}

static rs_status make(layer_rules *r, const rs_node *top, rs_profile *out, rs_err *err) {
  if (r->problems.count > 0) return RS_INPUT;
  if (r->count > MOST_LAYERS) return rs_fail(err, RS_INPUT, "%s: %zu layers are too many", top->file, r->count);
  rs_hf_layers *known = rs_alloc(r->count, sizeof *known, err);
  out->layers = rs_alloc(r->count, sizeof *out->layers, err);
  rs_status status = known != NULL && out->layers != NULL ? fill(r, known, top, out) : RS_MEMORY;
  free(known);
  if (status == RS_OK && out->chosen == SIZE_MAX)
    return rs_fail(err, RS_INPUT, "%s: no layer of a %s has attention, hence none has positions", top->file,
                   rs_hf_model_type(top));
  return status;
}

void rs_profile_clear(rs_profile *profile) {
  for (size_t k = 0; k < profile->kind_count; k++) rs_model_clear(&profile->kinds[k].model);
  free(profile->kinds);
  free(profile->layers);
  free(profile->doubt);
  *profile = (rs_profile){0};
}

rs_status rs_hf_profile(const rs_node *top, rs_profile *profile, rs_err *err) {
  layer_rules r = read_rules(top);
  *profile = (rs_profile){0};
  rs_status status = make(&r, top, profile, err);
  if (r.problems.count > 0)
    status = rs_problems_end(&r.problems, top->file, err);
  else
    rs_problems_clear(&r.problems);
  if (status != RS_OK) rs_profile_clear(profile);
  return status;
}
