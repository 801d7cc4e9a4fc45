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
  rs_text *keys;
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
  for (size_t i = 0; i < mapping->count && s->tried < MOST_KEYS; i++) {
    rs_node *node = &mapping->items[i];
    char path[160];
    bool empty = node->kind == RS_MAPPING && node->count == 0;
    if (!speaks(s->words, node->key) || speaks(s->earlier, node->key) || !rs_hf_present(node) || empty) continue;
    s->tried++;
    snprintf(path, sizeof path, "%.79s%s%.79s", above, *above != '\0' ? "." : "", node->key);
    if (same_without(s, node) && same_with_another(s, node))
      rs_text_printf(s->keys, "%s%s", s->keys->length > 0 ? ", " : "", path);
    else if (node->kind == RS_MAPPING)
      look(s, node, path);
  }
}

/* First the keys with `words` in their names, then, where `more`, those of layers and attention, most of which say
 * nothing of positions (layer_norm_eps). */
static rs_status find_unread(rs_node *top, const rs_profile *profile, const char *const *words, bool more,
                             rs_text *keys, rs_err *err) {
  search s = {.root = top, .profile = profile, .words = words, .earlier = RS_KEYS(NULL), .keys = keys};
  look(&s, (rs_node *)rs_hf_text_config(top), "");
  s.words = RS_KEYS("layer", "attention");
  s.earlier = words;
  if (more) look(&s, (rs_node *)rs_hf_text_config(top), "");
  return s.no_memory ? rs_fail(err, RS_MEMORY, "out of memory") : rs_text_check(keys, err);
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

static rs_status write_doubt(const char *type, bool known, const char *notes, const rs_text *keys, rs_profile *profile,
                             rs_err *err) {
  rs_text text = {0};
  if (*notes != '\0')
    rs_text_puts(&text, notes);
  else if (known)
    rs_text_printf(&text, "class %s adds embeddings of positions and turns nothing", type);
  else if (*type != '\0')
    rs_text_printf(&text, "class %s is unknown here and is read as a Llama", type);
  else
    rs_text_puts(&text, "there is no model_type, so the file is read as a Llama's");
  if (keys->length > 0) rs_text_printf(&text, "; keys that are not read: %s", rs_text_string(keys));
  rs_status status = rs_text_check(&text, err);
  if (status == RS_OK && (profile->doubt = rs_strdup(rs_text_string(&text), err)) == NULL) status = RS_MEMORY;
  rs_text_clear(&text);
  return status;
}

/* A class that is not known is read as a Llama, whatever else its code does, and a class without rotation leaves keys
 * of rotation unread: neither is done in silence. */
rs_status rs_hf_doubt(rs_node *top, rs_profile *profile, rs_err *err) {
  const char *type = rs_hf_model_type(top);
  bool known = rs_hf_knows(type);
  const char *notes = notes_of(top);
  rs_text keys = {0};
  if (*notes != '\0') return write_doubt(type, known, notes, &keys, profile, err);
  if (known && !embeds(profile)) return RS_OK;
  rs_status status = find_unread(top, profile,
                                 known ? RS_KEYS("theta", "rope", "rotary")
                                       : RS_KEYS("theta", "rope", "rotary", "window", "index", "yarn", "scal"),
                                 !known, &keys, err);
  bool unknown = !known && *type != '\0';
  if (status == RS_OK && (unknown || keys.length > 0)) status = write_doubt(type, known, notes, &keys, profile, err);
  rs_text_clear(&keys);
  return status;
}

/* ---- equality ---------------------------------------------------------------------------------------------------- */

static bool same_value(const rs_value *a, const rs_value *b) {
  bool names = a->name == NULL || b->name == NULL ? a->name == b->name : strcmp(a->name, b->name) == 0;
  if (a->set != b->set || a->choice != b->choice || a->count != b->count || !names) return false;
  if (a->count > 0) return memcmp(a->list, b->list, a->count * sizeof *a->list) == 0;
  return !a->set || a->number == b->number || (a->number != a->number && b->number != b->number);
}

static bool same_recipe(const rs_recipe *a, const rs_recipe *b) {
  bool same = a->method == b->method;
  for (size_t p = 0; same && p < a->settings.count; p++)
    same = same_value(&a->settings.values[p], &b->settings.values[p]);
  return same;
}

bool rs_layers_turn_alike(const rs_layer_kind *a, const rs_layer_kind *b) {
  const rs_model *x = &a->model, *y = &b->model;
  bool turns = x->published.method != NULL && x->published.method->freq != NULL;
  bool tables = x->rotary_dim == y->rotary_dim && x->rope_theta == y->rope_theta;
  return x->heads == y->heads && x->head_dim == y->head_dim && (tables || !turns) &&
         same_recipe(&x->published, &y->published);
}

static bool same_layers(const rs_layer_kind *a, const rs_layer_kind *b) {
  const rs_model *x = &a->model, *y = &b->model;
  bool words = strcmp(a->name, b->name) == 0 && a->attends == b->attends && a->tuned == b->tuned;
  bool seen = a->mask.kind == b->mask.kind && a->mask.window == b->mask.window && a->mask.sinks == b->mask.sinks &&
              a->compression == b->compression && a->chooses == b->chooses && a->chosen == b->chosen &&
              a->block == b->block;
  bool lengths = x->train_length == y->train_length && x->max_length == y->max_length;
  bool pairs = x->pair_layout == y->pair_layout && x->axis_layout == y->axis_layout &&
               memcmp(x->mrope_section, y->mrope_section, sizeof x->mrope_section) == 0;
  return words && seen && lengths && pairs && rs_layers_turn_alike(a, b);
}

bool rs_profiles_equal(const rs_profile *a, const rs_profile *b) {
  bool same = a->kind_count == b->kind_count && a->layer_count == b->layer_count && a->chosen == b->chosen &&
              a->counted == b->counted && memcmp(a->layers, b->layers, a->layer_count * sizeof *a->layers) == 0;
  for (size_t k = 0; same && k < a->kind_count; k++) same = same_layers(&a->kinds[k], &b->kinds[k]);
  return same;
}
