/* What `ropescope compare` says of causes, and of layers and buffers. */
#include "cli.h"

#include <math.h>
#include <string.h>

/* ---- layers ------------------------------------------------------------------------------------------------------ */

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

/* "sliding_attention", or "sliding_attention in A, full_attention in B". */
static void put_names(rs_text *text, const outcome *o, const rs_layer_difference *d) {
  const char *a = name_of(o, d, 0), *b = name_of(o, d, 1);
  rs_text_puts(text, a);
  if (strcmp(a, b) != 0) rs_text_printf(text, " in A, %s in B", b);
}

/* "layers 0-4" of a checkpoint's buffers. */
static void put_check_layers(rs_text *text, const rs_buffer_check *check) {
  if (check->first == RS_NO_KIND)
    rs_text_puts(text, "all layers");
  else
    rs_text_printf(text, check->first < check->last ? "layers %zu-%zu" : "layer %zu", check->first, check->last);
}

/* ---- causes ------------------------------------------------------------------------------------------------------ */

static void say(compare_causes *s, size_t place, rs_text *words) {
  size_t i = 0;
  while (i < s->count && strcmp(s->lines[i].words, rs_text_string(words)) != 0) i++;
  if (i == s->count) {
    bool *places = rs_arena_take(s->arena, s->places, sizeof *places);
    const char *kept = rs_arena_text(s->arena, rs_text_string(words));
    if (kept != NULL) s->lines[s->count++] = (compare_cause_line){kept, places};
  }
  if (i < s->count) s->lines[i].places[place] = true;
  s->arena->failed |= words->failed;
  rs_text_clear(words);
}

static void put_bits(rs_text *text, unsigned bits) {
  static const char *const names[] = {"frequencies", "attention factor", "axes",     "pair layout",
                                      "rest",        "head_dim",         "positions"};
  const char *between = "";
  for (size_t i = 0; i < RS_COUNT(names); i++) {
    if (!(bits & 1u << i)) continue;
    rs_text_printf(text, "%s%s", between, names[i]);
    between = ", ";
  }
}

static void say_cause(compare_causes *s, size_t place, const rs_cause *cause) {
  rs_text words = {0};
  rs_text_printf(&words, "likely cause: %s", cause->text);
  if (!cause->whole) {
    rs_text_puts(&words, " [the ");
    put_bits(&words, cause->explains);
    rs_text_puts(&words, " alone");
    if (cause->breaks != 0) {
      rs_text_puts(&words, "; it would change the ");
      put_bits(&words, cause->breaks);
    }
    rs_text_puts(&words, "]");
  }
  if (cause->residual > 0) rs_text_printf(&words, " (off by at most %.1e)", cause->residual);
  say(s, place, &words);
}

static void say_causes(compare_causes *s, size_t place, const rs_causes *causes, unsigned differs) {
  unsigned explained = 0;
  size_t whole = 0, of_side[2] = {0}; /* "B is A", "A is B" */
  rs_text words = {0};
  if (causes == NULL) return;
  for (size_t i = 0; i < causes->count; i++) {
    say_cause(s, place, &causes->items[i]);
    explained |= causes->items[i].explains;
    whole += causes->items[i].whole;
    of_side[causes->items[i].text[0] == 'A'] += causes->items[i].whole;
  }
  if (of_side[0] > 1 || of_side[1] > 1) {
    rs_text_puts(&words, "more than one change gives the same table here: which it was, the table does not tell");
    say(s, place, &words);
  }
  if (differs & ~explained) {
    rs_text_puts(&words, "no known change explains the ");
    put_bits(&words, differs & ~explained);
    say(s, place, &words);
    if (*causes->shape != '\0') {
      rs_text_printf(&words, "shape of the difference: %s", causes->shape);
      say(s, place, &words);
    }
  }
  if (causes->untried == 0 || whole > 0) return;
  rs_text_printf(&words, "%zu changes were not tried, as they take long: wide heads, angles counted at many positions",
                 causes->untried);
  say(s, place, &words);
}

compare_causes compare_gather_causes(const outcome *o, rs_arena *arena) {
  enum { LINES = RS_CAUSES + 4 };
  compare_causes s = {.arena = arena, .places = 1 + o->layers.count + o->buffers.count};
  unsigned differs = o->difference.differs;
  if (o->form != COMPARE_TURNING && (o->biases.differs || o->slopes.count > 0)) differs = RS_DIFFERS_BEYOND;
  s.lines = rs_arena_take(arena, s.places, LINES * sizeof *s.lines);
  say_causes(&s, 0, &o->causes, differs);
  for (size_t i = 0; i < o->layers.count; i++)
    say_causes(&s, 1 + i, o->layers.items[i].causes, o->layers.items[i].difference.differs);
  for (size_t i = 0; i < o->buffers.count; i++)
    say_causes(&s, 1 + o->layers.count + i, o->buffers.items[i].causes, o->buffers.items[i].difference.differs);
  return s;
}

static void put_place(rs_text *text, const outcome *o, size_t place) {
  if (place <= o->layers.count) {
    const rs_layer_difference *d = &o->layers.items[place - 1];
    if (!put_numbers(text, o, d)) put_names(text, o, d);
    return;
  }
  const rs_buffer_check *check = &o->buffers.items[place - 1 - o->layers.count];
  rs_text_printf(text, "the buffers of %c, ", "AB"[check->buffers]);
  put_check_layers(text, check);
}

/* The lines that stand at this place first, and behind those that hold in the same other places, these. */
void compare_put_causes(rs_text *text, const outcome *o, const compare_causes *s, size_t place, const char *indent) {
  size_t run = 0;
  for (size_t i = 0; i < s->count; i++) {
    const bool *places = s->lines[i].places;
    if (memchr(places, true, s->places) != places + place) continue;
    size_t next = i + 1;
    while (next < s->count && memchr(s->lines[next].places, true, s->places) != s->lines[next].places + place) next++;
    bool more = next < s->count && memcmp(s->lines[next].places, places, s->places * sizeof *places) == 0;
    rs_text_printf(text, "%s%s", indent, s->lines[i].words);
    run++;
    for (size_t p = place + 1, said = 0; p < s->places && !more; p++) {
      if (!places[p]) continue;
      if (said++ > 0)
        rs_text_puts(text, "; ");
      else if (run > 1)
        rs_text_printf(text, "\n%sthe last %zu lines are the same in ", indent, run);
      else
        rs_text_puts(text, "; the same in ");
      put_place(text, o, p);
    }
    rs_text_puts(text, "\n");
    if (!more) run = 0;
  }
}

/* In how many frequencies two tables part, and in what else: "3 frequencies differ, most at pair 5: 2 %; axes"; returns
 * what the next thing is told from it by. */
static const char *put_turning(rs_text *text, const rs_difference *d) {
  static const char *const names[] = {NULL, "attention factor", "axes", "pair layout", "rest", "head_dim"};
  const char *between = "";
  if (d->differs & RS_DIFFERS_FREQUENCY) {
    if (d->count > 0 && isfinite(d->largest))
      rs_text_printf(text, "%zu frequencies differ, most at pair %zu: %.3g %%", d->count, d->worst, 100 * d->largest);
    else
      rs_text_puts(text, "other pairs turn");
    between = "; ";
  }
  for (size_t i = 1; i < RS_COUNT(names); i++) {
    if (!(d->differs & 1u << i)) continue;
    rs_text_printf(text, "%s%s", between, names[i]);
    between = "; ";
  }
  return between;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

/* Where the two differ beside the layers of which frequencies are listed: "layers 0-4, 6 (sliding_attention)"; of
 * models of other depths "sliding_attention". */
static void put_elsewhere(rs_text *text, const outcome *o) {
  const char *between = "different in ";
  for (size_t i = 0; i < o->layers.count; i++) {
    const rs_layer_difference *d = &o->layers.items[i];
    if (!rs_layers_differ(d)) continue;
    rs_text_puts(text, between);
    bool numbered = put_numbers(text, o, d);
    rs_text_puts(text, numbered ? " (" : "");
    if (d->kind[0] == RS_NO_KIND || d->kind[1] == RS_NO_KIND)
      rs_text_printf(text, "%s, which %c alone has", name_of(o, d, d->kind[0] == RS_NO_KIND),
                     "AB"[d->kind[0] == RS_NO_KIND]);
    else
      put_names(text, o, d);
    rs_text_puts(text, numbered ? ")" : "");
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

bool compare_put_whole(rs_text *text, const outcome *o) {
  const char *names[2] = {NULL, NULL};
  bool several = o->layers.count > 1;
  for (size_t i = 0; i < 2; i++) {
    const rs_profile *profile = &o->sides[i].profile;
    several |= profile->kind_count > 0 && rs_profile_mixed(profile);
    if (profile->kind_count > 0) names[i] = profile->kinds[o->sides[i].kind].name;
  }
  bool whole = o->layers.count > 0 && !o->layers.differs && !o->buffers.differ && o->difference.differs == 0;
  if (whole && several) {
    rs_text_printf(text, "equal within %g in every %s\n", o->rtol, o->layers.by_layer ? "layer" : "kind of layers");
  } else if (o->buffers.differ || (o->layers.differs && (several || o->difference.differs == 0))) {
    put_elsewhere(text, o);
    several = true;
  }
  const char *first = names[0] != NULL ? names[0] : names[1];
  if (!several || first == NULL) return several;
  rs_text_printf(text, "of %s", first);
  if (names[1] != NULL && strcmp(first, names[1]) != 0) rs_text_printf(text, " of A and %s of B", names[1]);
  rs_text_puts(text, ", ");
  return true;
}

/* ---- layer by layer, and buffers --------------------------------------------------------------------------------- */

static void put_layer(rs_text *text, const outcome *o, const rs_layer_difference *d) {
  if (d->kind[0] == RS_NO_KIND || d->kind[1] == RS_NO_KIND) {
    rs_text_puts(text, "no such layers");
    return;
  }
  const char *between = put_turning(text, &d->difference);
  const bool parts[2] = {d->recipe || d->attention, d->view};
  for (size_t part = 0; part < RS_COUNT(parts); part++) {
    if (!parts[part]) continue;
    for (size_t side = 0; side < 2; side++) {
      const rs_layer_kind *kind = &o->sides[side].profile.kinds[d->kind[side]];
      rs_text_printf(text, "%s%c %s", side == 0 ? between : ", ", "AB"[side], side == 0 && part == 1 ? "sees " : "");
      if (!kind->attends)
        rs_text_puts(text, "no attention");
      else if (part == 1)
        rs_layer_kind_write_mask(kind, text);
      else
        rs_recipe_write(&kind->model.published, text);
    }
    between = "; ";
  }
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

void compare_put_layers(rs_text *text, const outcome *o, const compare_causes *causes) {
  const rs_profile *a = &o->sides[0].profile, *b = &o->sides[1].profile;
  for (size_t side = 0; side < 2; side++) put_choice(text, o, side);
  if (o->layers.count == 0 || (o->layers.count == 1 && !o->layers.differs)) return;
  if (o->layers.by_layer)
    rs_text_puts(text, "layer by layer:\n");
  else if (a->counted && b->counted)
    rs_text_printf(text, "kinds of layers (A has %zu layers, B %zu):\n", a->layer_count, b->layer_count);
  else
    rs_text_puts(text, "kinds of layers:\n");
  for (size_t i = 0; i < o->layers.count; i++) {
    const rs_layer_difference *d = &o->layers.items[i];
    rs_text_puts(text, "  ");
    if (put_numbers(text, o, d)) rs_text_puts(text, ": ");
    put_names(text, o, d);
    rs_text_puts(text, ": ");
    size_t before = text->length;
    if (rs_layers_differ(d)) put_layer(text, o, d);
    rs_text_puts(text, text->length == before ? "equal\n" : "\n");
    compare_put_causes(text, o, causes, 1 + i, "    ");
  }
}

/* A dump beside a model whose layers turn in several ways. */
void compare_put_kinds(rs_text *text, const outcome *o) {
  const rs_profile *profile = &o->sides[o->kinds.model].profile;
  if (o->kinds.count > 0)
    rs_text_printf(text, "%c beside the layers of %c:\n", "BA"[o->kinds.model], "AB"[o->kinds.model]);
  for (size_t i = 0; i < o->kinds.count; i++) {
    const rs_kind_match *match = &o->kinds.items[i];
    rs_text_puts(text, "  layers ");
    rs_profile_write_layers(profile, match->kind, text);
    rs_text_printf(text, " (%s): ", profile->kinds[match->kind].name);
    rs_text_puts(text, *put_turning(text, &match->difference) == '\0' ? "equal\n" : "\n");
  }
}

static void put_check(rs_text *text, const outcome *o, const rs_buffer_check *check) {
  const rs_difference *d = &check->difference;
  rs_text_puts(text, "  ");
  put_check_layers(text, check);
  rs_text_printf(text, " (%s): ", o->sides[check->config].profile.kinds[check->kind].name);
  if (d->differs == 0)
    rs_text_puts(text, "as config.json says\n");
  else if (check->causes == NULL)
    rs_text_puts(text, "config.json turns nothing there\n");
  else if (d->count > 0)
    rs_text_printf(
        text, "not as config.json says (here A; the buffer is B): %zu frequencies differ, most at pair %zu: %.3g %%\n",
        d->count, d->worst, 100 * d->largest);
  else
    rs_text_puts(text, "not as config.json says (here A; the buffer is B): other pairs turn\n");
}

void compare_put_buffers(rs_text *text, const outcome *o, const compare_causes *causes) {
  for (size_t side = 0; side < 2; side++) {
    const rs_buffers *buffers = &o->sides[side].buffers;
    bool led = false;
    if (*buffers->unread != '\0') rs_text_line(text, "weights of %c are not read: %s", "AB"[side], buffers -> unread);
    for (size_t i = 0; i < o->buffers.count; i++) {
      if (o->buffers.items[i].buffers != side) continue;
      if (!led) rs_text_printf(text, "buffers inv_freq of %c:\n", "AB"[side]);
      put_check(text, o, &o->buffers.items[i]);
      compare_put_causes(text, o, causes, 1 + o->layers.count + i, "    ");
      led = true;
    }
  }
}
