/* What `ropescope compare` says of two sides that turn nothing and add biases. */
#include "compare.h"

#include <math.h>

void compare_put_biases(const outcome *o, rs_text *text) {
  const rs_bias_difference *d = &o->biases;
  for (size_t i = 0; i < 2; i++) compare_put_side(text, "AB"[i], &o -> sides[i]);
  if (!d->differs)
    rs_text_printf(text, "equal within %g: biases of %zu heads on keys at any distance%s\n", o->rtol, d->heads,
                   d->shifted ? ", but for a constant of each row, which no softmax sees" : "");
  else if (isnan(d->largest))
    rs_text_printf(text, "heads: A has %zu, B %zu\n", d->heads, o->sides[1].model.heads);
  else
    rs_text_printf(
        text,
        "biases: %zu of %zu heads differ; most in head %zu, %zu tokens back: A %.6g, B %.6g nats against the "
        "query's own key\n",
        d->count, d->heads, d->head, d->distance, d->a, d->b);
  compare_put_causes(&o->causes, d->differs ? RS_DIFFERS_BEYOND : 0, "", text);
}

/* Whether there is a place where they differ most: not where one side has more heads. */
static bool has_place(const rs_bias_difference *d) {
  return d->differs && !isnan(d->largest);
}

static void write_numbers(rs_json *json, const rs_bias_difference *d) {
  bool told = has_place(d);
  rs_json_number(json, "heads", (double)d->heads);
  rs_json_number(json, "heads_that_differ", (double)d->count);
  rs_json_number(json, "worst_head", told ? (double)d->head : NAN);
  rs_json_number(json, "worst_distance_tokens", told ? (double)d->distance : NAN);
  rs_json_number(json, "bias_a_nats", told ? d->a : NAN);
  rs_json_number(json, "bias_b_nats", told ? d->b : NAN);
  rs_json_bool(json, "rows_apart_by_a_constant", d->shifted);
}

/* As CSV the one row of where they differ most. */
void compare_write_biases(const outcome *o, bool csv, rs_text *text) {
  const rs_bias_difference *d = &o->biases;
  rs_json json = {.text = text};
  if (csv) {
    const double row[] = {(double)d->head, (double)d->distance, d->a, d->b};
    rs_text_puts(text, "head,distance_tokens,bias_a_nats,bias_b_nats\n");
    for (size_t i = 0; i < RS_COUNT(row) && has_place(d); i++) rs_csv_number(text, row[i]);
    if (has_place(d)) rs_csv_end_row(text);
    return;
  }
  rs_json_object(&json, NULL);
  compare_write_side(&json, "a", &o->sides[0]);
  compare_write_side(&json, "b", &o->sides[1]);
  rs_json_bool(&json, "equal", !d->differs);
  rs_json_number(&json, "rtol", o->rtol);
  rs_json_list(&json, "differs");
  if (d->differs) rs_json_string(&json, NULL, "biases");
  rs_json_end(&json);
  write_numbers(&json, d);
  compare_write_causes(&o->causes, &json);
  rs_json_end(&json);
}
