/* What `ropescope compare` says of a side that adds slopes beside a list of them. */
#include "compare.h"

#include <math.h>

static size_t list_of(const outcome *o) {
  return o->sides[0].origin == RS_FROM_DUMP ? 0 : 1;
}

/* "heads 8-15 of 16", the heads that the list is beside. */
static void put_heads(const rs_slope_difference *d, rs_text *text) {
  if (d->listed == d->heads)
    rs_text_printf(text, "%zu heads", d->heads);
  else
    rs_text_printf(text, "heads %zu-%zu of %zu", d->first, d->first + d->listed - 1, d->heads);
}

void compare_put_slopes(const outcome *o, rs_text *text) {
  const rs_slope_difference *d = &o->slopes;
  size_t list = list_of(o);
  for (size_t i = 0; i < 2; i++)
    if (i == list)
      rs_text_printf(text, "%c  %s: dump of %zu slopes\n", "AB"[i], o -> sides[i].text, d->listed);
    else
      compare_put_side(text, "AB"[i], &o -> sides[i]);
  if (d->count == 0)
    rs_text_printf(text, "equal within %g: slopes of ", o->rtol);
  else
    rs_text_printf(text, "slopes: %zu of ", d->count);
  put_heads(d, text);
  if (d->count > 0)
    rs_text_printf(text, " differ; most in head %zu: A %.6g, B %.6g nats/token", d->head,
                   list == 0 ? d->list : d->recipe, list == 0 ? d->recipe : d->list);
  rs_text_puts(text, "\n");
  compare_put_causes(&o->causes, d->count > 0 ? RS_DIFFERS_BEYOND : 0, "", text);
}

/* As CSV the one row of where they differ most. */
void compare_write_slopes(const outcome *o, bool csv, rs_text *text) {
  const rs_slope_difference *d = &o->slopes;
  bool differ = d->count > 0;
  size_t list = list_of(o);
  double a = list == 0 ? d->list : d->recipe, b = list == 0 ? d->recipe : d->list;
  rs_json json = {.text = text};
  if (csv) {
    const double row[] = {(double)d->head, a, b};
    rs_text_puts(text, "head,slope_a_nats_per_token,slope_b_nats_per_token\n");
    for (size_t i = 0; i < RS_COUNT(row) && differ; i++) rs_csv_number(text, row[i]);
    if (differ) rs_csv_end_row(text);
    return;
  }
  rs_json_object(&json, NULL);
  compare_write_side(&json, "a", &o->sides[0]);
  compare_write_side(&json, "b", &o->sides[1]);
  rs_json_bool(&json, "equal", !differ);
  rs_json_number(&json, "rtol", o->rtol);
  rs_json_list(&json, "differs");
  if (differ) rs_json_string(&json, NULL, "slopes");
  rs_json_end(&json);
  rs_json_number(&json, "heads", (double)d->heads);
  rs_json_number(&json, "slopes_listed", (double)d->listed);
  rs_json_number(&json, "first_head_listed", (double)d->first);
  rs_json_number(&json, "heads_that_differ", (double)d->count);
  rs_json_number(&json, "worst_head", differ ? (double)d->head : NAN);
  rs_json_number(&json, "slope_a_nats_per_token", differ ? a : NAN);
  rs_json_number(&json, "slope_b_nats_per_token", differ ? b : NAN);
  compare_write_causes(&o->causes, &json);
  rs_json_end(&json);
}
