/* Kinds of layers beside each other, and in words. */
#include "hf_internal.h"

#include <string.h>

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
              a->block == b->block && a->shares == b->shares && a->indexer.known == b->indexer.known &&
              a->indexer.dims == b->indexer.dims && a->indexer.turned == b->indexer.turned &&
              a->indexer.interleaved == b->indexer.interleaved;
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

/* ---- words ------------------------------------------------------------------------------------------------------- */

void rs_profile_write_layers(const rs_profile *profile, size_t kind, rs_text *text) {
  bool any = false;
  if (!profile->counted && profile->kind_count == 1) {
    rs_text_puts(text, "all");
    return;
  }
  for (size_t i = 0; i < profile->layer_count; i++) {
    size_t first = i;
    if (profile->layers[i] != kind) continue;
    while (i + 1 < profile->layer_count && profile->layers[i + 1] == kind) i++;
    rs_text_printf(text, first < i ? "%s%zu-%zu" : "%s%zu", any ? ", " : "", first, i);
    any = true;
  }
  if (!profile->counted) rs_text_puts(text, ", ...");
}

void rs_profile_write_choice(const rs_profile *profile, size_t kind, rs_text *text) {
  const rs_layer_kind *kinds = profile->kinds;
  bool any = false;
  rs_text_printf(text, "%s (layers ", kinds[kind].name);
  rs_profile_write_layers(profile, kind, text);
  rs_text_puts(text, ")");
  for (size_t k = 0; k < profile->kind_count; k++) {
    if (!kinds[k].attends || rs_layers_turn_alike(&kinds[k], &kinds[kind])) continue;
    rs_text_printf(text, "%s %s (", any ? "," : ", not", kinds[k].name);
    rs_profile_write_layers(profile, k, text);
    rs_text_puts(text, ")");
    any = true;
  }
}

static void write_choice(const rs_layer_kind *kind, rs_text *text) {
  if (kind->chosen == 0)
    rs_text_puts(text, "chosen keys");
  else if (kind->block > 1)
    rs_text_printf(text, "%zu chosen blocks of %zu keys", kind->chosen, kind->block);
  else
    rs_text_printf(text, "%zu chosen keys", kind->chosen);
  const rs_indexer *indexer = &kind->indexer;
  rs_text_puts(text, " (");
  if (kind->shares)
    rs_text_puts(text, "those of the last layer before that chooses; ");
  else if (indexer->known && indexer->turned == 0)
    rs_text_puts(text, "by an indexer whose q and k do not turn; ");
  else if (indexer->known)
    rs_text_printf(text, "by an indexer whose q and k turn %s%zu of %zu dims in %s; ",
                   indexer->turned < indexer->dims ? "the first " : "", indexer->turned, indexer->dims,
                   indexer->interleaved ? "pairs of neighbours" : "halves");
  rs_text_puts(text, "the choice is not modelled yet)");
}

void rs_layer_kind_write_mask(const rs_layer_kind *kind, rs_text *text) {
  static const char *const words[] = {
      [RS_CAUSAL] = "everything before", [RS_BIDIRECTIONAL] = "everything", [RS_CROSS] = "another sequence"};
  const rs_mask *mask = &kind->mask;
  if (kind->chooses)
    write_choice(kind, text);
  else if (mask->kind == RS_BAND)
    rs_text_printf(text, "window %zu on both sides", mask->window - 1);
  else if (mask->kind == RS_CHUNKS)
    rs_text_printf(text, "chunks of %zu", mask->window);
  else if (mask->kind == RS_WINDOW)
    rs_text_printf(text, "window %zu", mask->window);
  else
    rs_text_puts(text, words[mask->kind]);
  if (kind->compression > 0) rs_text_printf(text, ", beyond it %zu keys as one", kind->compression);
}

size_t rs_layer_kind_keys(const rs_layer_kind *kind, size_t length) {
  size_t seen = length, window = kind->mask.window, chosen = kind->chosen * kind->block;
  if (!kind->attends) return 0;
  if (window > 0 && window < seen) seen = window;
  if (kind->compression > 0) seen += (length - seen) / kind->compression;
  return kind->chooses && chosen > 0 && chosen < seen ? chosen : seen;
}
