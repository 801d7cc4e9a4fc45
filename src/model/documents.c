/* Which tokens of a sequence that is read belong together, and in what order: by position ids (distinct ones in any
 * order are one sequence, as shards of a zigzag are; ids that begin again at 0 are packed documents) or by numbers of
 * documents. Each document is then read alone, in the order of its ids, so that its numbers are those of the document
 * by itself, bit for bit; padding is left out. llama.cpp masks by position as well (llama_hparams::is_masked_swa);
 * transformers' masks go by index, and take every step other than 1 for a new document (masking_utils.py). */
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

/* One token on its way to its document. */
typedef struct entry {
  double id;
  int32_t number; /* of its document, where such are given */
  size_t place;
} entry;

/* One sequence at a time. */
typedef struct finder {
  const rs_reader_in *in;
  rs_documents *out;
  size_t capacity; /* of out->items */
  size_t sequence;
  entry *entries, *sorted; /* (L,) */
  rs_sequence_order *order;
} finder;

static int by_number(const void *a, const void *b) {
  const entry *x = a, *y = b;
  if (x->number != y->number) return x->number < y->number ? -1 : 1;
  return x->place < y->place ? -1 : 1;
}

static int by_id(const void *a, const void *b) {
  const entry *x = a, *y = b;
  if (x->id != y->id) return x->id < y->id ? -1 : 1;
  return x->place < y->place ? -1 : 1;
}

/* ---- documents --------------------------------------------------------------------------------------------------- */

static const double *axes_of(const finder *f, size_t place) {
  return f->in->ids + (f->sequence * f->in->length + place) * RS_AXES;
}

static bool follow(const entry *entries, size_t count) {
  for (size_t i = 1; i < count; i++)
    if (entries[i].place != entries[0].place + i) return false;
  return true;
}

/* Numbers of the sequence's tokens at the document's places; where these follow each other, those themselves. */
static const int32_t *gather(const finder *f, const entry *entries, size_t count, const int32_t *all) {
  const int32_t *from = all != NULL ? all + f->sequence * f->in->length : NULL;
  if (all == NULL || follow(entries, count)) return all != NULL ? from + entries[0].place : NULL;
  int32_t *to = rs_arena_take(&f->out->arena, count, sizeof *to);
  for (size_t i = 0; i < count && to != NULL; i++) to[i] = from[entries[i].place];
  return to;
}

/* NULL: they are 0, 1, 2, ... on all axes, as tokens are counted. */
static const double *gather_ids(const finder *f, const entry *entries, size_t count) {
  bool counted = true;
  for (size_t i = 0; i < count && f->in->ids != NULL; i++) {
    const double *id = axes_of(f, entries[i].place);
    counted &= id[0] == (double)i && id[1] == id[0] && id[2] == id[0];
  }
  double *to = counted ? NULL : rs_arena_take(&f->out->arena, count, RS_AXES * sizeof *to);
  for (size_t i = 0; i < count && to != NULL; i++)
    memcpy(to + i * RS_AXES, axes_of(f, entries[i].place), RS_AXES * sizeof *to);
  return to;
}

static rs_status add_document(finder *f, const entry *entries, size_t count, rs_err *err) {
  rs_documents *out = f->out;
  RS_TRY(RS_GROW(out->items, &f->capacity, out->count + 1, err));
  size_t *places = rs_arena_take(&out->arena, count, sizeof *places);
  for (size_t i = 0; i < count && places != NULL; i++) places[i] = entries[i].place;
  out->items[out->count++] = (rs_document){.sequence = f->sequence,
                                           .count = count,
                                           .places = places,
                                           .tokens = gather(f, entries, count, f->in->tokens),
                                           .types = gather(f, entries, count, f->in->types),
                                           .ids = gather_ids(f, entries, count)};
  f->order->documents++;
  return rs_arena_check(&out->arena, err);
}

/* ---- orders ------------------------------------------------------------------------------------------------------ */

/* Without ids positions are counted, and a gap in them could be meant or not. */
static rs_status add_counted(finder *f, const entry *entries, size_t count, rs_err *err) {
  const uint8_t *present = f->in->present != NULL ? f->in->present + f->sequence * f->in->length : NULL;
  for (size_t i = 1; i < count && present != NULL; i++)
    for (size_t place = entries[i - 1].place + 1; place < entries[i].place; place++)
      if (!present[place])
        return rs_fail_on(err, RS_INPUT, "present",
                          "sequence %zu has padding at token %zu, between tokens: where those behind it stand is not "
                          "said (--position-ids says it)",
                          f->sequence, place);
  return add_document(f, entries, count, err);
}

/* Whether ids of time, row and column differ at some token. */
static bool have_axes(const finder *f, const entry *entries, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const double *id = axes_of(f, entries[i].place);
    if (id[1] != id[0] || id[2] != id[0]) return true;
  }
  return false;
}

/* The first entry whose id is below that of the entry before it; `count`: none is. */
static size_t find_fall(const entry *entries, size_t count) {
  size_t i = 1;
  while (i < count && entries[i].id >= entries[i - 1].id) i++;
  return i < count ? i : count;
}

/* f->sorted = the entries in the order of their ids; whether these are distinct. */
static bool sort(finder *f, const entry *entries, size_t count) {
  bool distinct = true;
  memcpy(f->sorted, entries, count * sizeof *entries);
  qsort(f->sorted, count, sizeof *f->sorted, by_id);
  for (size_t i = 1; i < count; i++) distinct &= f->sorted[i].id != f->sorted[i - 1].id;
  return distinct;
}

static rs_status fail_fall(const finder *f, const entry *entries, size_t fall, rs_err *err) {
  const entry *e = &entries[fall];
  if (f->in->documents != NULL)
    return rs_fail_on(
        err, RS_INPUT, "ids",
        "position ids of document %d of sequence %zu fall at token %zu (%g after %g) and repeat: give two "
        "documents two numbers",
        (int)e->number, f->sequence, e->place, e->id, e[-1].id);
  return rs_fail_on(err, RS_INPUT, "ids",
                    "position ids of sequence %zu fall at token %zu (%g after %g) and repeat: neither one sequence in "
                    "another order, whose ids are distinct, nor a document that begins again at 0 (--document-ids says "
                    "which tokens belong together)",
                    f->sequence, e->place, e->id, e[-1].id);
}

/* Ids that repeat and fall: a document begins at each 0 behind a fall. */
static rs_status add_restarts(finder *f, const entry *entries, size_t count, rs_err *err) {
  f->order->restarts = true;
  for (size_t begin = 0, end; begin < count; begin = end) {
    end = begin + find_fall(entries + begin, count - begin);
    if (end < count && (entries[end].id != 0 || f->in->documents != NULL)) return fail_fall(f, entries, end, err);
    RS_TRY(add_document(f, entries + begin, end - begin, err));
  }
  return RS_OK;
}

/* Tokens that share a number, or all of a sequence, in the list's order. */
static rs_status add_tokens(finder *f, const entry *entries, size_t count, rs_err *err) {
  if (f->in->ids == NULL) return add_counted(f, entries, count, err);
  size_t fall = find_fall(entries, count);
  if (have_axes(f, entries, count)) {
    f->order->axes = true;
    if (fall < count && f->order->fall == 0) f->order->fall = entries[fall].place;
    return add_document(f, entries, count, err);
  }
  if (fall == count) return add_document(f, entries, count, err);
  if (!sort(f, entries, count)) return add_restarts(f, entries, count, err);
  f->order->sorted = true;
  return add_document(f, f->sorted, count, err);
}

static rs_status find_in_sequence(finder *f, rs_err *err) {
  const rs_reader_in *in = f->in;
  size_t count = 0;
  f->order = &f->out->orders[f->sequence];
  for (size_t place = 0; place < in->length; place++) {
    size_t token = f->sequence * in->length + place;
    if (in->present != NULL && !in->present[token]) continue;
    f->entries[count++] = (entry){.id = in->ids != NULL ? in->ids[token * RS_AXES] : 0,
                                  .number = in->documents != NULL ? in->documents[token] : 0,
                                  .place = place};
  }
  f->order->padding = in->length - count;
  if (count == 0)
    return rs_fail_on(err, RS_INPUT, "present", "sequence %zu has 0 of %zu tokens: at least 1", f->sequence,
                      in->length);
  if (in->documents != NULL) qsort(f->entries, count, sizeof *f->entries, by_number);
  for (size_t begin = 0, end; begin < count; begin = end) {
    for (end = begin + 1; end < count && f->entries[end].number == f->entries[begin].number;) end++;
    RS_TRY(add_tokens(f, f->entries + begin, end - begin, err));
  }
  return RS_OK;
}

rs_status rs_documents_find(const rs_reader_in *in, rs_documents *documents, rs_err *err) {
  RS_OWNED(rs_arena) room = {0};
  *documents = (rs_documents){.count = 0};
  finder f = {.in = in, .out = documents};
  documents->orders = rs_arena_take(&documents->arena, in->count, sizeof *documents->orders);
  f.entries = rs_arena_take(&room, in->length, sizeof *f.entries);
  f.sorted = rs_arena_take(&room, in->length, sizeof *f.sorted);
  rs_status status = rs_arena_check(&documents->arena, err);
  if (status == RS_OK) status = rs_arena_check(&room, err);
  for (; f.sequence < in->count && status == RS_OK; f.sequence++) status = find_in_sequence(&f, err);
  if (status != RS_OK) rs_documents_clear(documents);
  return status;
}

void rs_documents_clear(rs_documents *documents) {
  free(documents->items);
  rs_arena_clear(&documents->arena);
  *documents = (rs_documents){.count = 0};
}
