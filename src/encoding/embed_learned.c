/* A learned position table: one row a position, and none beyond its end. Unless it is given it stands at its
 * initialisation, with train_length rows. Gehring et al., arXiv:1705.03122, section 3.1; GPT-2. */
#include "kinds.h"

#include <string.h>

typedef struct params {
  rs_learned_table learned;
} params;

typedef struct state {
  const rs_learned_table *learned;
  size_t rows, width;
} state;

static rs_status check(const rs_binding *binding, const rs_model *model, rs_err *err) {
  return rs_learned_table_check(binding, offsetof(params, learned), model, err);
}

/* A table that ends too soon is undefined at this length. */
static rs_status prepare(const rs_stage_in *in, void *out, rs_err *err) {
  const params *p = in->params;
  const rs_real_list *table = &p->learned.table;
  size_t rows = table->list != NULL ? table->count / in->width : (size_t)in->train_length;
  *(state *)out = (state){&p->learned, rows, in->width};
  if (in->length <= rows) return RS_OK;
  return rs_fail(err, RS_DOMAIN, "learned: position %zu is beyond the table of %zu rows", in->length - 1, rows);
}

static rs_status fill(const void *prepared, size_t begin, size_t count, double *out, rs_err *err) {
  const state *s = prepared;
  const double *table = s->learned->table.list;
  if (begin + count > s->rows)
    return rs_fail(err, RS_DOMAIN, "learned: position %zu is beyond the table of %zu rows", begin + count - 1, s->rows);
  if (table != NULL)
    memcpy(out, table + begin * s->width, count * s->width * sizeof *out);
  else
    rs_learned_table_draw(s->learned, RS_PURPOSE_TABLE, 0, s->rows, s->width, begin, count, out);
  return RS_OK;
}

static const rs_param specs[] = {RS_LEARNED_TABLE_SPECS(params, learned)};

const rs_embed_kind rs_embed_learned = {
    .kind = {.name = "learned",
             .summary = "one vector a position, added to the token; none beyond train_length",
             .reference = "Gehring et al., arXiv:1705.03122, section 3.1; GPT-2",
             .version = 1,
             .params = specs,
             .param_count = RS_COUNT(specs),
             .params_size = sizeof(params)},
    .check = check,
    .state_size = sizeof(state),
    .prepare = prepare,
    .fill = fill,
};
