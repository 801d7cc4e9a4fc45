/* Models layer by layer: against each other, layers of the same kinds once; against a file of what an engine has
 * computed, of which it says which of them it is of; and a checkpoint's buffers beside its config. */
#include "compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what a model publishes, beside something else --------------------------------------------------------------- */

/* What a model publishes, at one length. */
typedef struct published {
  rs_recipe recipe;
  rs_spectrum spectrum;
  rs_compared compared; /* points into the rest, which must not be moved */
} published;

static void published_clear(published *side) {
  rs_recipe_clear(&side->recipe);
  rs_spectrum_clear(&side->spectrum);
}

/* Cleared on failure. */
static rs_status published_make(const rs_model *model, size_t length, published *side, rs_err *err) {
  *side = (published){0};
  RS_TRY(rs_recipe_copy(&side->recipe, &model->published, err));
  rs_status status = rs_recipe_resolve(&side->recipe, model, err);
  if (status == RS_OK) status = rs_spectrum_make(&side->recipe, model, length, &side->spectrum, err);
  side->compared = (rs_compared){&side->recipe, model, length, &side->spectrum};
  if (status != RS_OK) published_clear(side);
  return status;
}

/* The difference of two sides, and where there is one, and work for it (else NULL), its causes. */
static rs_status compare(const rs_compared *a, const rs_compared *b, double rtol, double *work, rs_difference *out,
                         rs_causes **causes, rs_err *err) {
  *out = rs_spectrum_compare(a->spectrum, b->spectrum, rtol);
  if (out->differs == 0 || work == NULL) return RS_OK;
  *causes = rs_alloc(1, sizeof **causes, err);
  return *causes != NULL ? rs_causes_within(a, b, rtol, work, *causes, err) : RS_MEMORY;
}

/* ---- two models -------------------------------------------------------------------------------------------------- */

void rs_layer_differences_clear(rs_layer_differences *layers) {
  for (size_t i = 0; i < layers->count; i++) free(layers->items[i].causes);
  free(layers->items);
  *layers = (rs_layer_differences){0};
}

/* Adds the pair of kinds, unless it is there. */
static rs_status add_pair(rs_layer_differences *out, size_t a, size_t b, rs_err *err) {
  size_t capacity = out->count;
  for (size_t i = 0; i < out->count; i++)
    if (out->items[i].kind[0] == a && out->items[i].kind[1] == b) return RS_OK;
  RS_TRY(RS_GROW(out->items, &capacity, out->count + 1, err));
  out->items[out->count++] = (rs_layer_difference){.kind = {a, b}};
  return RS_OK;
}

static size_t named(const rs_profile *profile, const char *name) {
  size_t k = 0;
  while (k < profile->kind_count && strcmp(profile->kinds[k].name, name) != 0) k++;
  return k < profile->kind_count ? k : RS_NO_KIND;
}

/* Of models of other depths: kinds by their names. */
static rs_status pair_by_name(const rs_profile *a, const rs_profile *b, rs_layer_differences *out, rs_err *err) {
  for (size_t k = 0; k < a->kind_count; k++) RS_TRY(add_pair(out, k, named(b, a->kinds[k].name), err));
  for (size_t k = 0; k < b->kind_count; k++)
    if (named(a, b->kinds[k].name) == RS_NO_KIND) RS_TRY(add_pair(out, RS_NO_KIND, k, err));
  return RS_OK;
}

/* Of two kinds, with causes where there is work for them. */
static rs_status compare_spectra(const rs_layer_kind *a, const rs_layer_kind *b, size_t length, double rtol,
                                 double *work, rs_layer_difference *out, rs_err *err) {
  RS_OWNED(published) of_a = {.compared = {0}}, of_b = {.compared = {0}};
  RS_TRY(published_make(&a->model, length, &of_a, err));
  RS_TRY(published_make(&b->model, length, &of_b, err));
  return compare(&of_a.compared, &of_b.compared, rtol, work, &out->difference, &out->causes, err);
}

static rs_status compare_kinds(const rs_layer_kind *a, const rs_layer_kind *b, size_t length, double rtol,
                               rs_layer_difference *out, rs_err *err) {
  out->attention = a->attends != b->attends;
  if (!a->attends || !b->attends) return RS_OK;
  out->view = a->mask.kind != b->mask.kind || a->mask.window != b->mask.window || a->compression != b->compression;
  if (rs_layers_turn_alike(a, b)) return RS_OK;
  if (rs_model_turns(&a->model) && rs_model_turns(&b->model))
    return compare_spectra(a, b, length, rtol, NULL, out, err);
  out->recipe = true;
  return RS_OK;
}

bool rs_layers_differ(const rs_layer_difference *d) {
  return d->attention || d->view || d->recipe || d->difference.differs != 0;
}

rs_status rs_layers_compare(const rs_profile *a, const rs_profile *b, size_t length, double rtol,
                            rs_layer_differences *out, rs_err *err) {
  *out = (rs_layer_differences){.by_layer = a->counted && b->counted && a->layer_count == b->layer_count};
  rs_status status = out->by_layer ? RS_OK : pair_by_name(a, b, out, err);
  for (size_t i = 0; out->by_layer && i < a->layer_count && status == RS_OK; i++)
    status = add_pair(out, a->layers[i], b->layers[i], err);
  for (size_t i = 0; i < out->count && status == RS_OK; i++) {
    rs_layer_difference *item = &out->items[i];
    if (item->kind[0] == RS_NO_KIND || item->kind[1] == RS_NO_KIND)
      item->attention = true;
    else
      status = compare_kinds(&a->kinds[item->kind[0]], &b->kinds[item->kind[1]], length, rtol, item, err);
    out->differs |= rs_layers_differ(item);
  }
  if (status != RS_OK) rs_layer_differences_clear(out);
  return status;
}

rs_status rs_layers_explain(const rs_profile *a, const rs_profile *b, const size_t known[2], size_t length, double rtol,
                            rs_layer_differences *layers, rs_err *err) {
  double work = RS_MOST_WORK;
  for (size_t i = 0; i < layers->count; i++) {
    rs_layer_difference *item = &layers->items[i];
    bool told = item->kind[0] == known[0] && item->kind[1] == known[1];
    if (told || item->difference.differs == 0 || item->causes != NULL) continue;
    RS_TRY(compare_spectra(&a->kinds[item->kind[0]], &b->kinds[item->kind[1]], length, rtol, &work, item, err));
  }
  return RS_OK;
}

/* ---- a model and a dump ------------------------------------------------------------------------------------------ */

/* The dump beside one kind, of whose heads it says no width. */
static rs_status compare_kind(const rs_contender *model, size_t kind, const rs_spectrum *dump, bool first, double rtol,
                              rs_difference *difference, rs_err *err) {
  RS_OWNED(published) side = {0};
  rs_spectrum beside = *dump;
  RS_TRY(published_make(&model->profile.kinds[kind].model, model->length, &side, err));
  if (side.spectrum.head_dim >= 2 * beside.pairs) beside.head_dim = side.spectrum.head_dim;
  *difference =
      first ? rs_spectrum_compare(&side.spectrum, &beside, rtol) : rs_spectrum_compare(&beside, &side.spectrum, rtol);
  return RS_OK;
}

rs_status rs_kinds_match(const rs_contender sides[2], double rtol, rs_kind_matches *out, rs_err *err) {
  size_t dump = sides[1].origin == RS_FROM_DUMP ? 1 : 0;
  const rs_contender *model = &sides[1 - dump];
  const rs_profile *profile = &model->profile;
  *out = (rs_kind_matches){.model = 1 - dump};
  bool known = model->origin == RS_FROM_HF || model->origin == RS_FROM_PRESET;
  if (sides[dump].origin != RS_FROM_DUMP || !known || profile->kind_count < 2 || !rs_profile_mixed(profile))
    return RS_OK;
  out->items = rs_alloc(profile->kind_count, sizeof *out->items, err);
  rs_status status = out->items != NULL ? RS_OK : RS_MEMORY;
  for (size_t k = 0; k < profile->kind_count && status == RS_OK; k++) {
    if (!profile->kinds[k].attends || !rs_model_turns(&profile->kinds[k].model)) continue;
    rs_kind_match *item = &out->items[out->count++];
    item->kind = k;
    status = compare_kind(model, k, &sides[dump].spectrum, dump == 1, rtol, &item->difference, err);
  }
  if (status != RS_OK) rs_kind_matches_clear(out);
  return status;
}

void rs_kind_matches_clear(rs_kind_matches *matches) {
  free(matches->items);
  *matches = (rs_kind_matches){0};
}

/* The causes that were found go behind, and the last of a full list goes. */
void rs_kinds_cause(const rs_contender sides[2], const rs_kind_matches *matches, const rs_difference *difference,
                    rs_causes *causes) {
  static const char letters[] = "AB";
  const rs_contender *model = &sides[matches->model];
  for (size_t i = matches->count; i-- > 0 && difference->differs != 0;) {
    if (matches->items[i].difference.differs != 0 || matches->items[i].kind == model->kind) continue;
    size_t kept = causes->count < RS_CAUSES ? causes->count : RS_CAUSES - 1;
    memmove(causes->items + 1, causes->items, kept * sizeof *causes->items);
    causes->count = kept + 1;
    causes->items[0] = (rs_cause){.explains = difference->differs, .whole = true, .residual = NAN};
    snprintf(causes->items[0].text, sizeof causes->items[0].text, "%c is %c's %s recipe", letters[1 - matches->model],
             letters[matches->model], model->profile.kinds[matches->items[i].kind].name);
  }
}

/* ---- a checkpoint's buffers -------------------------------------------------------------------------------------- */

static size_t kind_of(const rs_contender *config, size_t layer) {
  const rs_profile *profile = &config->profile;
  return layer < profile->layer_count && profile->counted ? profile->layers[layer] : config->kind;
}

/* How many buffers from number `i` on are of one kind and hold the same. */
static size_t run_length(const rs_buffers *buffers, const rs_contender *config, size_t i) {
  size_t count = 1;
  for (; i + count < buffers->count; count++) {
    const rs_buffer *first = &buffers->items[i], *next = &buffers->items[i + count];
    if (kind_of(config, first->layer) != kind_of(config, next->layer) ||
        first->spectrum.pairs != next->spectrum.pairs ||
        memcmp(first->spectrum.omega, next->spectrum.omega, first->spectrum.pairs * sizeof *first->spectrum.omega) != 0)
      break;
  }
  return count;
}

static rs_status check_run(const rs_spectrum *buffer, const rs_contender *config, double rtol, double *work,
                           rs_buffer_check *check, rs_err *err) {
  RS_OWNED(published) side = {0};
  const rs_model *model = &config->profile.kinds[check->kind].model;
  const rs_compared dump = {.length = config->length, .spectrum = buffer};
  check->difference = (rs_difference){.differs = RS_DIFFERS_FREQUENCY};
  if (!rs_model_turns(model)) return RS_OK; /* nobody reads the buffer */
  RS_TRY(published_make(model, config->length, &side, err));
  return compare(&side.compared, &dump, rtol, work, &check->difference, &check->causes, err);
}

static rs_status check_side(const rs_contender sides[2], size_t from, size_t config, double rtol, double *work,
                            rs_buffer_checks *checks, rs_err *err) {
  const rs_buffers *buffers = &sides[from].buffers;
  size_t capacity = checks->count;
  for (size_t i = 0, count; i < buffers->count; i += count) {
    count = run_length(buffers, &sides[config], i);
    RS_TRY(RS_GROW(checks->items, &capacity, checks->count + 1, err));
    rs_buffer_check *check = &checks->items[checks->count++];
    *check = (rs_buffer_check){.buffers = from,
                               .config = config,
                               .first = buffers->items[i].layer,
                               .last = buffers->items[i + count - 1].layer,
                               .kind = kind_of(&sides[config], buffers->items[i].layer)};
    RS_TRY(check_run(&buffers->items[i].spectrum, &sides[config], rtol, work, check, err));
    checks->differ |= check->difference.differs != 0;
  }
  return RS_OK;
}

rs_status rs_buffers_check(const rs_contender sides[2], double rtol, rs_buffer_checks *checks, rs_err *err) {
  double work = RS_MOST_WORK;
  rs_status status = RS_OK;
  *checks = (rs_buffer_checks){0};
  for (size_t i = 0; i < 2 && status == RS_OK; i++) {
    size_t config = sides[i].profile.kind_count > 0 ? i : 1 - i;
    bool file = sides[i].origin == RS_FROM_DUMP, only = file && sides[i].buffers.count == 1;
    if (sides[config].profile.kind_count == 0 || sides[config].origin == RS_FROM_WORDS || only) continue;
    status = check_side(sides, i, config, rtol, &work, checks, err);
  }
  if (status != RS_OK) rs_buffer_checks_clear(checks);
  return status;
}

void rs_buffer_checks_clear(rs_buffer_checks *checks) {
  for (size_t i = 0; i < checks->count; i++) free(checks->items[i].causes);
  free(checks->items);
  *checks = (rs_buffer_checks){0};
}
