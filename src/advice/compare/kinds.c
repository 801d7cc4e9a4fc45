/* A file of what an engine has computed beside a model whose layers turn in several ways: which of them it is of. */
#include "compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool turns(const rs_layer_kind *kind) {
  return kind->attends && kind->model.published.method != NULL && kind->model.published.method->freq != NULL;
}

/* The dump beside one kind, of whose heads it says no width. */
static rs_status compare_kind(const rs_contender *model, size_t kind, const rs_spectrum *dump, bool first, double rtol,
                              rs_difference *difference, rs_err *err) {
  rs_published side;
  rs_spectrum beside = *dump;
  RS_TRY(rs_published_make(&model->profile.kinds[kind].model, model->length, &side, err));
  if (side.spectrum.head_dim >= 2 * beside.pairs) beside.head_dim = side.spectrum.head_dim;
  *difference =
      first ? rs_spectrum_compare(&side.spectrum, &beside, rtol) : rs_spectrum_compare(&beside, &side.spectrum, rtol);
  rs_published_clear(&side);
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
    if (!turns(&profile->kinds[k])) continue;
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
