/* What `ropescope compare` says of the layers of two models. */
#include "compare.h"

#include <math.h>
#include <string.h>

/* ---- text -------------------------------------------------------------------------------------------------------- */

/* The numbers of the layers that are of these kinds, "layers 0-4, 6"; nothing in models of other depths. */
static bool put_numbers(rs_text *text, const outcome *o, const rs_layer_difference *d) {
  const rs_profile *a = &o->sides[0].profile, *b = &o->sides[1].profile;
  bool any = false;
  for (size_t i = 0; o->layers.by_layer && i < a->layer_count; i++) {
    size_t first = i;
    if (a->layers[i] != d->kind[0] || b->layers[i] != d->kind[1]) continue;
    while (i + 1 < a->layer_count && a->layers[i + 1] == d->kind[0] && b->layers[i + 1] == d->kind[1]) i++;
    rs_text_printf(text, first < i ? "%s%zu-%zu" : "%s%zu", any ? ", " : "layers ", first, i);
    any = true;
  }
  return any;
}

static const char *name_of(const outcome *o, const rs_layer_difference *d, size_t side) {
  size_t kind = d->kind[side];
  return kind == RS_NO_KIND ? "none" : o->sides[side].profile.kinds[kind].name;
}

static void put_side(rs_text *text, const rs_layer_kind *kind, bool mask) {
  if (!kind->attends)
    rs_text_puts(text, "no attention");
  else if (mask)
    rs_layer_kind_write_mask(kind, text);
  else
    rs_recipe_write(&kind->model.published, text);
}

void compare_put_turning(rs_text *text, const rs_difference *d) {
  static const char *const names[] = {NULL, "attention factor", "axes", "pair layout", "rest", "head_dim"};
  if ((d->differs & RS_DIFFERS_FREQUENCY) && d->count > 0 && isfinite(d->largest))
    rs_text_printf(text, "; %zu frequencies differ, most at pair %zu: %.3g %%", d->count, d->worst, 100 * d->largest);
  else if (d->differs & RS_DIFFERS_FREQUENCY)
    rs_text_puts(text, "; other pairs turn");
  for (size_t i = 1; i < RS_COUNT(names); i++)
    if (d->differs & 1u << i) rs_text_printf(text, "; %s", names[i]);
}

static void put_difference(rs_text *text, const outcome *o, const rs_layer_difference *d) {
  if (d->kind[0] == RS_NO_KIND || d->kind[1] == RS_NO_KIND) {
    rs_text_puts(text, "; no such layers");
    return;
  }
  const rs_layer_kind *a = &o->sides[0].profile.kinds[d->kind[0]], *b = &o->sides[1].profile.kinds[d->kind[1]];
  compare_put_turning(text, &d->difference);
  const bool parts[2] = {d->recipe || d->attention, d->view};
  for (size_t part = 0; part < RS_COUNT(parts); part++) {
    if (!parts[part]) continue;
    rs_text_puts(text, part == 1 ? "; A sees " : "; A ");
    put_side(text, a, part == 1);
    rs_text_puts(text, ", B ");
    put_side(text, b, part == 1);
  }
}

static void put_item(rs_text *text, const outcome *o, const rs_layer_difference *d) {
  const char *a = name_of(o, d, 0), *b = name_of(o, d, 1);
  rs_text line = {0};
  rs_text_puts(text, "  ");
  if (put_numbers(text, o, d)) rs_text_puts(text, ": ");
  rs_text_puts(text, a);
  if (strcmp(a, b) != 0) rs_text_printf(text, " in A, %s in B", b);
  put_difference(&line, o, d);
  if (!rs_layers_differ(d) || line.length < 2)
    rs_text_puts(text, ": equal\n");
  else if (!line.failed)
    rs_text_printf(text, ": %s\n", rs_text_string(&line) + 2);
  if (d->causes != NULL) compare_put_causes(d->causes, d->difference.differs, "    ", text);
  text->failed |= line.failed;
  rs_text_clear(&line);
}

/* Of a side whose other layers stand beside nothing. */
static void put_choice(rs_text *text, const outcome *o, size_t side) {
  const rs_profile *profile = &o->sides[side].profile;
  bool again = side == 1 && o->sides[1].origin == RS_FROM_WORDS && o->sides[0].profile.kind_count > 0;
  if (again || o->layers.count > 0 || profile->kind_count == 0 || !rs_profile_mixed(profile)) return;
  rs_text_printf(text, "layers: %c is ", "AB"[side]);
  rs_profile_write_choice(profile, o->sides[side].kind, text);
  rs_text_puts(text, "; --layers chooses\n");
}

void compare_put_layers(const outcome *o, rs_text *text) {
  for (size_t side = 0; side < 2; side++) put_choice(text, o, side);
  if (o->layers.count == 0 || (o->layers.count == 1 && !o->layers.differs)) return;
  const rs_profile *a = &o->sides[0].profile, *b = &o->sides[1].profile;
  if (o->layers.by_layer)
    rs_text_puts(text, "layer by layer:\n");
  else if (a->counted && b->counted)
    rs_text_printf(text, "kinds of layers (A has %zu layers, B %zu):\n", a->layer_count, b->layer_count);
  else
    rs_text_puts(text, "kinds of layers:\n");
  for (size_t i = 0; i < o->layers.count; i++) put_item(text, o, &o->layers.items[i]);
}

/* ---- the whole ----------------------------------------------------------------------------------------------------
 */

/* "layers 0-4, 6 (sliding_attention)"; of models of other depths "sliding_attention". */
static void put_kinds(rs_text *text, const outcome *o, const rs_layer_difference *d) {
  const char *a = name_of(o, d, 0), *b = name_of(o, d, 1);
  bool numbered = put_numbers(text, o, d);
  rs_text_printf(text, numbered ? " (%s" : "%s", d->kind[0] == RS_NO_KIND ? b : a);
  if (d->kind[0] == RS_NO_KIND || d->kind[1] == RS_NO_KIND)
    rs_text_printf(text, ", which %c alone has", d->kind[0] == RS_NO_KIND ? 'B' : 'A');
  else if (strcmp(a, b) != 0)
    rs_text_printf(text, " in A, %s in B", b);
  if (numbered) rs_text_puts(text, ")");
}

/* Where the two differ beside the layers of which frequencies are listed. */
static void put_elsewhere(const outcome *o, rs_text *text) {
  const char *between = "different in ";
  for (size_t i = 0; i < o->layers.count; i++) {
    if (!rs_layers_differ(&o->layers.items[i])) continue;
    rs_text_puts(text, between);
    put_kinds(text, o, &o->layers.items[i]);
    between = "; ";
  }
  for (size_t side = 0; side < 2; side++) {
    bool other = false;
    for (size_t i = 0; i < o->buffers.count; i++)
      other |= o->buffers.items[i].buffers == side && o->buffers.items[i].difference.differs != 0;
    if (!other) continue;
    rs_text_printf(text, "%sbuffers of %c", between, "AB"[side]);
    between = "; ";
  }
  rs_text_puts(text, "\n");
}

/* "of full_attention, ": the layers whose frequencies are listed. */
static void put_listed(const outcome *o, rs_text *text) {
  const char *names[2] = {NULL, NULL};
  for (size_t i = 0; i < 2; i++)
    if (o->sides[i].profile.kind_count > 0) names[i] = o->sides[i].profile.kinds[o->sides[i].kind].name;
  const char *first = names[0] != NULL ? names[0] : names[1];
  if (first == NULL) return;
  rs_text_printf(text, "of %s", first);
  if (names[1] != NULL && strcmp(first, names[1]) != 0) rs_text_printf(text, " of A and %s of B", names[1]);
  rs_text_puts(text, ", ");
}

bool compare_put_whole(const outcome *o, rs_text *text) {
  bool several = o->layers.count > 1;
  for (size_t i = 0; i < 2; i++)
    several |= o->sides[i].profile.kind_count > 0 && rs_profile_mixed(&o->sides[i].profile);
  bool whole = o->layers.count > 0 && !o->layers.differs && !o->buffers.differ && o->difference.differs == 0;
  if (whole && several) {
    rs_text_printf(text, "equal within %g in every %s\n", o->rtol, o->layers.by_layer ? "layer" : "kind of layers");
  } else if (o->buffers.differ || (o->layers.differs && (several || o->difference.differs == 0))) {
    put_elsewhere(o, text);
    several = true;
  }
  if (!several) return false;
  put_listed(o, text);
  return true;
}

/* ---- buffers ----------------------------------------------------------------------------------------------------- */

static void put_check(rs_text *text, const outcome *o, const rs_buffer_check *check) {
  const rs_contender *config = &o->sides[check->config];
  if (check->first == RS_NO_KIND)
    rs_text_puts(text, "  all layers");
  else
    rs_text_printf(text, check->first < check->last ? "  layers %zu-%zu" : "  layer %zu", check->first, check->last);
  rs_text_printf(text, " (%s): ", config->profile.kinds[check->kind].name);
  if (check->difference.differs == 0)
    rs_text_puts(text, "as config.json says\n");
  else if (check->causes == NULL)
    rs_text_puts(text, "config.json turns nothing there\n");
  else if (check->difference.count > 0)
    rs_text_printf(
        text, "not as config.json says (here A; the buffer is B): %zu frequencies differ, most at pair %zu: %.3g %%\n",
        check->difference.count, check->difference.worst, 100 * check->difference.largest);
  else
    rs_text_puts(text, "not as config.json says (here A; the buffer is B): other pairs turn\n");
  if (check->causes != NULL) compare_put_causes(check->causes, check->difference.differs, "    ", text);
}

void compare_put_buffers(const outcome *o, rs_text *text) {
  for (size_t side = 0; side < 2; side++) {
    const rs_buffers *buffers = &o->sides[side].buffers;
    bool led = false;
    if (*buffers->unread != '\0') rs_text_line(text, "weights of %c are not read: %s", "AB"[side], buffers -> unread);
    for (size_t i = 0; i < o->buffers.count; i++) {
      if (o->buffers.items[i].buffers != side) continue;
      if (!led) rs_text_printf(text, "buffers inv_freq of %c:\n", "AB"[side]);
      put_check(text, o, &o->buffers.items[i]);
      led = true;
    }
  }
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void write_kind(rs_json *json, const char *key, const outcome *o, const rs_layer_difference *d, size_t side) {
  const rs_layer_kind *kind = d->kind[side] != RS_NO_KIND ? &o->sides[side].profile.kinds[d->kind[side]] : NULL;
  rs_text mask = {0}, recipe = {0};
  if (kind != NULL && kind->attends) rs_layer_kind_write_mask(kind, &mask);
  if (kind != NULL && kind->attends) rs_recipe_write(&kind->model.published, &recipe);
  rs_json_object(json, key);
  rs_json_string(json, "kind", kind != NULL ? kind->name : NULL);
  rs_json_string(json, "sees", mask.length > 0 ? rs_text_string(&mask) : NULL);
  rs_json_string(json, "recipe", recipe.length > 0 ? rs_text_string(&recipe) : NULL);
  rs_json_end(json);
  json->text->failed |= mask.failed || recipe.failed;
  rs_text_clear(&mask);
  rs_text_clear(&recipe);
}

void compare_write_layers(const outcome *o, rs_json *json) {
  rs_json_array(json, "layers");
  for (size_t i = 0; i < o->layers.count; i++) {
    const rs_layer_difference *d = &o->layers.items[i];
    const rs_profile *a = &o->sides[0].profile, *b = &o->sides[1].profile;
    rs_json_object(json, NULL);
    rs_json_list(json, "layers");
    for (size_t l = 0; o->layers.by_layer && l < a->layer_count; l++)
      if (a->layers[l] == d->kind[0] && b->layers[l] == d->kind[1]) rs_json_number(json, NULL, (double)l);
    rs_json_end(json);
    write_kind(json, "a", o, d, 0);
    write_kind(json, "b", o, d, 1);
    rs_json_bool(json, "equal", !rs_layers_differ(d));
    rs_json_number(json, "pairs_that_differ", (double)d->difference.count);
    rs_json_number(json, "largest_relative_difference", d->difference.count > 0 ? d->difference.largest : NAN);
    compare_write_causes(d->causes, json);
    rs_json_end(json);
  }
  rs_json_end(json);
}

void compare_write_buffers(const outcome *o, rs_json *json) {
  rs_json_array(json, "buffers");
  for (size_t i = 0; i < o->buffers.count; i++) {
    const rs_buffer_check *check = &o->buffers.items[i];
    bool all = check->first == RS_NO_KIND;
    rs_json_object(json, NULL);
    rs_json_string(json, "side", check->buffers == 0 ? "a" : "b");
    rs_json_number(json, "first_layer", all ? NAN : (double)check->first);
    rs_json_number(json, "last_layer", all ? NAN : (double)check->last);
    rs_json_string(json, "kind", o->sides[check->config].profile.kinds[check->kind].name);
    rs_json_bool(json, "as_config", check->difference.differs == 0);
    rs_json_number(json, "pairs_that_differ", (double)check->difference.count);
    compare_write_causes(check->causes, json);
    rs_json_end(json);
  }
  rs_json_end(json);
}
