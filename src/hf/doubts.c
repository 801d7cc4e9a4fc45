/* What is guessed of a config.json: a class that is not known here is read as a Llama, and keys that say something of
 * positions may be read by nothing here.
 *
 * No list of keys decides it, as lists go stale: a key is unread where neither its absence nor another value changes
 * what the file comes to. The tree is changed for the question and put back. */
#include "hf_internal.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { MOST_KEYS = 256 }; /* that are looked at: each costs two readings of the file */

typedef struct search {
  rs_node *root;
  const rs_profile *profile;
  const char *const *words, *const *earlier; /* keys with these are named; those with the latter were before */
  bool inside;                               /* all keys of a dictionary whose name has one of the words are */
  rs_unread *out;
  size_t tried;
  bool no_memory;
} search;

static bool speaks(const char *const *words, const char *key) {
  char lower[96];
  size_t length = 0;
  for (; key[length] != '\0' && length + 1 < sizeof lower; length++)
    lower[length] = (char)tolower((unsigned char)key[length]);
  lower[length] = '\0';
  for (; *words != NULL; words++)
    if (strstr(lower, *words) != NULL) return true;
  return false;
}

static bool comes_to_the_same(search *s) {
  rs_profile other;
  rs_err why = {0};
  rs_status status = rs_hf_profile(s->root, &other, &why);
  s->no_memory |= status == RS_MEMORY;
  if (status != RS_OK) return false;
  bool same = rs_profiles_equal(s->profile, &other);
  rs_profile_clear(&other);
  return same;
}

static bool same_without(search *s, rs_node *node) {
  char *key = node->key, none[] = "";
  node->key = none;
  bool same = comes_to_the_same(s);
  node->key = key;
  return same;
}

/* Another number, flag or word; a list without its last entry; a mapping with another of each of its scalars. */
static bool same_with_another(search *s, rs_node *node) {
  bool same_inside = true;
  for (size_t i = 0; node->kind == RS_MAPPING && i < node->count && same_inside; i++)
    same_inside = same_with_another(s, &node->items[i]);
  if (node->kind == RS_MAPPING) return same_inside;
  char *text = node->text, other[RS_NUMBER_CHARS + 8];
  size_t count = node->count;
  double number;
  bool flag = text != NULL && (strcmp(text, "true") == 0 || strcmp(text, "false") == 0);
  if (node->kind == RS_SEQUENCE) {
    node->count -= count > 0;
  } else if (node->kind == RS_SCALAR) {
    if (rs_number_read(text, &number))
      (void)rs_number_format(number == 0 ? 2 : 2 * number, other);
    else
      snprintf(other, sizeof other, "%s", !flag ? "another" : *text == 't' ? "false" : "true");
    node->text = other;
  }
  bool same = comes_to_the_same(s);
  node->text = text;
  node->count = count;
  return same;
}

static void look(search *s, rs_node *mapping, const char *above) {
  for (size_t i = 0; i < mapping->count && s->tried < MOST_KEYS && s->out->count < RS_UNREAD_KEYS; i++) {
    rs_node *node = &mapping->items[i];
    bool empty = node->kind == RS_MAPPING && node->count == 0, nested = s->inside && *above != '\0';
    if (!nested && (!speaks(s->words, node->key) || speaks(s->earlier, node->key))) continue;
    if (!rs_hf_present(node) || empty) continue;
    rs_unread_key *found = &s->out->keys[s->out->count];
    s->tried++;
    snprintf(found->path, sizeof found->path, "%.79s%s%.79s", above, *above != '\0' ? "." : "", node->key);
    found->node = node;
    if (same_without(s, node) && same_with_another(s, node)) {
      s->out->count++;
    } else if (node->kind == RS_MAPPING) {
      char path[sizeof found->path];
      memcpy(path, found->path, sizeof path);
      look(s, node, path);
    }
  }
}

/* First the keys with `words` in their names, then, where `more`, those of layers and attention, most of which say
 * nothing of positions (layer_norm_eps). */
static rs_status find_unread(rs_node *top, const rs_profile *profile, const char *const *words, bool more,
                             rs_unread *out, rs_err *err) {
  search s = {.root = top, .profile = profile, .words = words, .earlier = RS_KEYS(NULL), .out = out};
  look(&s, (rs_node *)rs_hf_text_config(top), "");
  s.words = RS_KEYS("layer", "attention");
  s.earlier = words;
  if (more) look(&s, (rs_node *)rs_hf_text_config(top), "");
  return s.no_memory ? rs_fail(err, RS_MEMORY, "out of memory") : RS_OK;
}

rs_status rs_hf_unread(rs_node *top, const rs_profile *profile, rs_unread *out, rs_err *err) {
  search s = {.root = top,
              .profile = profile,
              .words = RS_KEYS("theta", "rope", "rotary", "yarn", "window"),
              .earlier = RS_KEYS(NULL),
              .inside = true,
              .out = out};
  out->count = 0;
  look(&s, (rs_node *)rs_hf_text_config(top), "");
  return s.no_memory ? rs_fail(err, RS_MEMORY, "out of memory") : RS_OK;
}

/* ---- what they would change -------------------------------------------------------------------------------------- */

/* Keys that some classes read, and one that does. */
static const struct {
  const char *key, *type;
} readers[] = {{"sliding_window", "mistral"},          {"window_size", "mistral"},
               {"layer_rope_theta", "granite_swa"},    {"attention_chunk_size", "llama4_text"},
               {"compress_ratios", "deepseek_v4"},     {"compress_rope_theta", "deepseek_v4"},
               {"global_head_dim", "gemma4_text"},     {"local_attention", "modernbert"},
               {"max_window_layers", "qwen2_5_omni"},  {"attn_temperature_tuning", "llama4_text"},
               {"no_rope_layer_interval", "smollm3"},  {"full_attention_interval", "qwen3_next"},
               {"rope_local_base_freq", "gemma3_text"}};

static bool same_view(const rs_layer_kind *a, const rs_layer_kind *b) {
  return a->mask.kind == b->mask.kind && a->mask.window == b->mask.window && a->compression == b->compression;
}

/* What layers of kind k do that they do not do without the key: " (mistral's class: layers 0-7 window 128". `type`: of
 * the class, NULL behind the first. */
static void put_layers(const rs_profile *with, const rs_profile *without, size_t k, const char *type, rs_text *text) {
  const rs_layer_kind *a = &with->kinds[k], *b = NULL;
  for (size_t i = 0; i < with->layer_count && b == NULL; i++)
    if (with->layers[i] == k) b = &without->kinds[without->layers[i]];
  if (b == NULL || !a->attends || (same_view(a, b) && rs_layers_turn_alike(a, b))) return;
  const rs_method *method = a->model.published.method;
  if (type != NULL)
    rs_text_printf(text, " (%s's class: layers ", type);
  else
    rs_text_puts(text, "; ");
  rs_profile_write_layers(with, k, text);
  rs_text_puts(text, " ");
  if (!same_view(a, b)) rs_layer_kind_write_mask(a, text);
  if (rs_layers_turn_alike(a, b)) return;
  rs_text_puts(text, same_view(a, b) ? "" : ", ");
  if (method == NULL || method->freq == NULL)
    rs_text_puts(text, "turn nothing");
  else if (a->model.rope_theta != b->model.rope_theta)
    rs_text_puts(text, "base "), rs_text_number(text, a->model.rope_theta);
  else
    rs_text_puts(text, "turn otherwise");
}

/* Reads the file as one of a class that knows the key, with the key and without. */
static rs_status put_change(rs_node *top, rs_node *key, const char *type, rs_text *text, rs_err *err) {
  rs_profile with = {0}, without = {0};
  rs_node *named = (rs_node *)rs_node_get(rs_hf_text_config(top), "model_type");
  rs_err why = {0};
  if (named == NULL) named = (rs_node *)rs_node_get(top, "model_type");
  if (named == NULL || named->kind != RS_SCALAR) return RS_OK;
  char *word = named->text, *name = key->key, none[] = "";
  named->text = (char *)type;
  rs_status status = rs_hf_profile(top, &with, &why);
  key->key = none;
  if (status == RS_OK) status = rs_hf_profile(top, &without, &why);
  key->key = name;
  named->text = word;
  size_t begin = text->length;
  for (size_t k = 0; status == RS_OK && k < with.kind_count && with.layer_count == without.layer_count; k++)
    put_layers(&with, &without, k, text->length == begin ? type : NULL, text);
  if (text->length > begin) rs_text_puts(text, ")");
  rs_profile_clear(&with);
  rs_profile_clear(&without);
  return status == RS_MEMORY ? rs_fail(err, RS_MEMORY, "%s", why.message) : RS_OK;
}

static rs_status put_keys(rs_node *top, const rs_unread *unread, rs_text *text, rs_err *err) {
  for (size_t i = 0; i < unread->count; i++) {
    rs_node *node = unread->keys[i].node;
    rs_text_printf(text, "%s%s", i > 0 ? ", " : "", unread->keys[i].path);
    for (size_t r = 0; r < RS_COUNT(readers); r++)
      if (strcmp(readers[r].key, unread->keys[i].path) == 0) RS_TRY(put_change(top, node, readers[r].type, text, err));
  }
  return rs_text_check(text, err);
}

/* ---- in words ---------------------------------------------------------------------------------------------------- */

/* Whether the class adds embeddings of positions to tokens, and turns nothing. */
static bool embeds(const rs_profile *profile) {
  const rs_method *method = profile->kinds[profile->chosen].model.published.method;
  return method != NULL && method->embed != NULL && method->freq == NULL;
}

/* What was guessed of a GGUF file on the way to such a tree. */
static const char *notes_of(const rs_node *top) {
  return rs_hf_word(rs_node_get(rs_node_get(top, RS_GGUF_MARK), "notes"));
}

/* What the class is read as, where that is a guess. */
static void put_guess(const rs_node *top, rs_text *text) {
  const char *named = rs_hf_named_type(top), *type = rs_hf_model_type(top);
  if (*named == '\0' && !rs_hf_knows(type)) named = rs_hf_class(top);
  if (rs_hf_knows(named) || (*named == '\0' && rs_hf_knows(type)))
    rs_text_printf(text, "class %s adds embeddings of positions and turns nothing", type);
  else if (*named == '\0')
    rs_text_puts(text, "there is no model_type, so the file is read as a Llama's");
  else if (rs_hf_knows(type))
    rs_text_printf(text, "class %s is unknown here and is read as %s, which architectures name", named, type);
  else
    rs_text_printf(text, "class %s is unknown here and is read as a Llama", named);
}

/* A class that is not known is read as a Llama, whatever else its code does, and a class without rotation leaves keys
 * of rotation unread: neither is done in silence. */
rs_status rs_hf_doubt(rs_node *top, rs_profile *profile, rs_err *err) {
  const char *named = rs_hf_named_type(top), *notes = notes_of(top);
  bool known = rs_hf_knows(rs_hf_model_type(top)), classed = *rs_hf_class(top) != '\0';
  bool guessed = *named != '\0' ? !rs_hf_knows(named) : classed && !known;
  bool sure = known && !guessed;
  RS_OWNED(rs_text) text = {0};
  rs_unread unread = {0};
  if (*notes == '\0' && sure && !embeds(profile)) return RS_OK;
  if (*notes == '\0')
    RS_TRY(find_unread(top, profile,
                       sure ? RS_KEYS("theta", "rope", "rotary")
                            : RS_KEYS("theta", "rope", "rotary", "window", "index", "yarn", "scal"),
                       !sure, &unread, err));
  if (*notes == '\0' && !guessed && unread.count == 0) return RS_OK;
  if (*notes != '\0')
    rs_text_puts(&text, notes);
  else
    put_guess(top, &text);
  if (unread.count > 0) rs_text_puts(&text, "; keys that are not read: ");
  RS_TRY(put_keys(top, &unread, &text, err));
  RS_TRY(rs_text_check(&text, err));
  return (profile->doubt = rs_strdup(rs_text_string(&text), err)) != NULL ? RS_OK : RS_MEMORY;
}
