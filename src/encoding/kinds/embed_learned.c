/* A learned position table: one row a position, and none beyond its end. Unless it is given it stands at its
 * initialisation, with train_length rows. Gehring et al., arXiv:1705.03122, section 3.1; GPT-2.
 *
 * A table of a published size (131072 x 4096) is large, and few of its rows are read: they are drawn when they are.
 * Only one that training changes is held. */
#include "encoding/kinds.h"

#include <stdlib.h>
#include <string.h>

typedef struct params {
  rs_learned_table learned;
} params;

typedef struct state {
  const rs_learned_table *learned;
  size_t rows, width;
  double *held; /* (rows, width) owned; NULL: as given, or drawn */
} state;

static rs_status check(const rs_binding *binding, const rs_model *model, rs_err *err) {
  return rs_learned_table_check(binding, offsetof(params, learned), model, 1, err);
}

/* A table that ends too soon is undefined at this length. */
static rs_status prepare(const rs_stage_in *in, void *out, rs_err *err) {
  const params *p = in->params;
  const rs_real_list *table = &p->learned.table;
  size_t rows = table->list != NULL ? table->count / in->width : (size_t)in->train_length;
  *(state *)out = (state){.learned = &p->learned, .rows = rows, .width = in->width};
  if (in->length <= rows) return RS_OK;
  return rs_fail(err, RS_DOMAIN, "learned: position %zu is beyond the table of %zu rows", in->length - 1, rows);
}

static void release(void *prepared) {
  free(((state *)prepared)->held);
}

static void copy_rows(const state *s, size_t begin, size_t count, double *out) {
  const double *table = s->held != NULL ? s->held : s->learned->table.list;
  if (table != NULL)
    memcpy(out, table + begin * s->width, count * s->width * sizeof *out);
  else
    rs_learned_table_draw(s->learned, RS_PURPOSE_TABLE, 0, s->rows, s->width, begin, count, out);
}

static rs_status fill(const void *prepared, size_t begin, size_t count, double *out, rs_err *err) {
  const state *s = prepared;
  if (begin + count > s->rows)
    return rs_fail(err, RS_DOMAIN, "learned: position %zu is beyond the table of %zu rows", begin + count - 1, s->rows);
  copy_rows(s, begin, count, out);
  return RS_OK;
}

/* ---- what training changes --------------------------------------------------------------------------------------- */

static size_t learned_rows(const void *prepared) {
  return ((const state *)prepared)->rows;
}

static void learned_get(const void *prepared, double *table) {
  const state *s = prepared;
  copy_rows(s, 0, s->rows, table);
}

static rs_status learned_room(void *prepared, rs_err *err) {
  state *s = prepared;
  if (s->held != NULL) return RS_OK;
  double *held = rs_alloc(s->rows, s->width * sizeof *held, err);
  if (held == NULL) return RS_MEMORY;
  copy_rows(s, 0, s->rows, held);
  s->held = held;
  return RS_OK;
}

static void learned_set(void *prepared, const double *table) {
  state *s = prepared;
  memcpy(s->held, table, s->rows * s->width * sizeof *table);
}

static void gradient(const void *prepared, size_t begin, size_t count, const double *by_rows, double *table) {
  size_t width = ((const state *)prepared)->width;
  for (size_t i = 0; i < count * width; i++) table[begin * width + i] += by_rows[i];
}

static const rs_param specs[] = {RS_LEARNED_TABLE_SPECS(params, learned)};

const rs_embed_kind rs_embed_learned = {
    .kind = {.name = "learned",
             .summary = "one vector a position, added to the token; none beyond train_length",
             .reference = "Gehring et al., arXiv:1705.03122, section 3.1; GPT-2",
             RS_KIND(specs, params)},
    .check = check,
    .state_size = sizeof(state),
    .prepare = prepare,
    .release = release,
    .fill = fill,
    .learned_rows = learned_rows,
    .learned_get = learned_get,
    .learned_room = learned_room,
    .learned_set = learned_set,
    .gradient = gradient,
    .by_position = true,
};
