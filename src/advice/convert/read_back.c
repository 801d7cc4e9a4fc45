/* Fragments read back: keys that are written into their file must turn pairs as the recipe does that they say, in all
 * layers, at the length that is served and at the trained one. */
#include "written.h"

#include <string.h>

/* ---- files with a fragment in them ------------------------------------------------------------------------------- */

static rs_node *find_child(rs_node *mapping, const char *key) {
  for (size_t i = 0; i < mapping->count; i++)
    if (strcmp(mapping->items[i].key, key) == 0) return &mapping->items[i];
  return NULL;
}

/* Puts a copy in the place of a child of the same key, or behind the last. */
static rs_status put_child(rs_node *mapping, const rs_node *child, rs_err *err) {
  rs_node copy;
  rs_node *place = find_child(mapping, child->key);
  if (place == NULL) place = rs_node_append(mapping, err);
  if (place == NULL) return RS_MEMORY;
  RS_TRY(rs_node_copy(&copy, child, err));
  rs_node_clear(place);
  *place = copy;
  return RS_OK;
}

/* Keys of the fragment take the place of the file's; the levels around the text model's fields are entered. */
static rs_status merge(rs_node *mapping, const rs_node *fragment, const char (*levels)[32], size_t depth, rs_err *err) {
  for (size_t i = 0; i < fragment->count; i++) {
    const rs_node *key = &fragment->items[i];
    bool level = depth < RS_CONFIG_LEVELS && strcmp(key->key, levels[depth]) == 0;
    rs_node *inner = level ? find_child(mapping, key->key) : NULL;
    if (inner != NULL && inner->kind == RS_MAPPING && key->kind == RS_MAPPING)
      RS_TRY(merge(inner, key, levels, depth + 1, err));
    else
      RS_TRY(put_child(mapping, key, err));
  }
  return RS_OK;
}

static rs_status read_merged(const rs_convertible *from, const char *fragment, rs_profile *profile, rs_err *err) {
  RS_HELD(rs_tree) tree = NULL;
  rs_node top;
  RS_TRY(rs_json_read(fragment, strlen(fragment), "fragment", &tree, err));
  RS_TRY(rs_node_copy(&top, &from->config->root, err));
  rs_status status = merge(&top, &tree->root, from->levels, 0, err);
  if (status == RS_OK) rs_node_adopt(&top);
  if (status == RS_OK) status = rs_hf_profile(&top, profile, err);
  rs_node_clear(&top);
  return status;
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

static rs_status spectrum_of(const rs_model *model, size_t length, rs_spectrum *spectrum, rs_err *err) {
  RS_OWNED(rs_recipe) recipe = {0};
  RS_TRY(rs_recipe_copy(&recipe, &model->published, err));
  RS_TRY(rs_recipe_resolve(&recipe, model, err));
  RS_TRY(rs_recipe_check(&recipe, model, err));
  return rs_spectrum_make(&recipe, model, length, spectrum, err);
}

static rs_status compare(const rs_model *said, const rs_model *read, size_t length, bool *same, rs_err *err) {
  RS_OWNED(rs_spectrum) a = {0}, b = {0};
  *same = rs_model_turns(said) == rs_model_turns(read);
  if (!*same || !rs_model_turns(said)) return RS_OK;
  RS_TRY(spectrum_of(said, length, &a, err));
  RS_TRY(spectrum_of(read, length, &b, err));
  *same = rs_spectrum_compare(&a, &b, 1e-12).differs == 0;
  return RS_OK;
}

/* Layers of the profile that turn otherwise when they are read back; its kind_count: none. */
static rs_status find_other(const rs_converting *c, const rs_profile *read, size_t *kind, rs_err *err) {
  const rs_profile *said = &c->from->profile;
  const size_t lengths[] = {c->settled.length, c->settled.model->train_length};
  *kind = 0;
  if (read->kind_count != said->kind_count) return RS_OK;
  for (; *kind < said->kind_count; ++*kind)
    for (size_t i = 0; i < RS_COUNT(lengths) && said->kinds[*kind].attends; i++) {
      bool same = lengths[i] == 0;
      if (!same) RS_TRY(compare(&said->kinds[*kind].model, &read->kinds[*kind].model, lengths[i], &same, err));
      if (!same) return RS_OK;
    }
  return RS_OK;
}

bool rs_reads_back(rs_converting *c, const char *fragment, size_t *kind) {
  RS_OWNED(rs_profile) profile = {0};
  rs_err why = {0};
  *kind = 0;
  rs_status status = read_merged(c->from, fragment, &profile, &why);
  if (status == RS_OK) status = find_other(c, &profile, kind, &why);
  if (status == RS_MEMORY) (void)rs_fail(&c->err, RS_MEMORY, "%s", why.message);
  return status == RS_OK && *kind == c->from->profile.kind_count;
}
