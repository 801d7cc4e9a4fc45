/* What `ropescope compare` tells other programs: every pair as CSV, and all of it as JSON. */
#include "compare.h"

#include <math.h>

static void put_side(cli_table *table, const rs_spectrum *s, size_t j) {
  static const char *const axes[RS_AXES] = {"t", "h", "w"};
  bool there = j < s->pairs;
  cli_table_text(table, there && s->axis != NULL ? axes[s->axis[j]] : "");
  cli_table_number(table, there ? s->omega[j] : NAN);
}

void compare_put_pairs(const outcome *o, cli_table *table) {
  const rs_spectrum *a = &o->sides[0].spectrum, *b = &o->sides[1].spectrum;
  static const char *const header[] = {"pair",  "axis_a", "omega_a_rad_per_token", "axis_b", "omega_b_rad_per_token",
                                       "ratio", NULL};
  cli_table_header(table, header);
  for (size_t j = 0; j < a->pairs || j < b->pairs; j++) {
    bool both = j < a->pairs && j < b->pairs && a->omega[j] > 0;
    cli_table_number(table, (double)j);
    put_side(table, a, j);
    put_side(table, b, j);
    cli_table_number(table, both ? b->omega[j] / a->omega[j] : NAN);
    cli_table_end_row(table);
  }
}

void compare_write_side(rs_json *json, const char *key, const rs_contender *s) {
  static const char *const origins[] = {"recipe", "hf", "preset", "dump"};
  bool dump = s->origin == RS_FROM_DUMP;
  int layout = s->spectrum.pair_layout;
  rs_text recipe = {0};
  if (!dump) rs_recipe_write(&s->recipe, &recipe);
  json->text->failed |= recipe.failed;
  rs_json_object(json, key);
  rs_json_string(json, "text", s->text);
  rs_json_string(json, "origin", origins[s->origin]);
  rs_json_string(json, "model", dump ? NULL : s->model.name);
  rs_json_string(json, "recipe", dump ? NULL : rs_text_string(&recipe));
  rs_json_number(json, "length_tokens", dump ? NAN : (double)s->length);
  rs_json_number(json, "pairs", (double)s->spectrum.pairs);
  rs_json_number(json, "attention_factor", s->spectrum.amp);
  rs_json_number(json, "logit_factor", s->spectrum.logit_factor);
  rs_json_string(json, "pair_layout", layout < 0 ? NULL : layout == RS_INTERLEAVED ? "interleaved" : "half_split");
  rs_json_string(json, "beyond_frequencies", s->spectrum.beyond);
  rs_json_string(json, "read", *s->read != '\0' ? s->read : NULL);
  rs_json_end(json);
  rs_text_clear(&recipe);
}

static void write_difference(rs_json *json, const outcome *o) {
  static const char *const words[] = {"frequencies",        "attention_factor", "axes",     "pair_layout",
                                      "beyond_frequencies", "head_dim",         "positions"};
  const rs_difference *d = &o->difference;
  rs_json_bool(json, "equal", d->differs == 0 && !o->layers.differs && !o->buffers.differ);
  rs_json_number(json, "rtol", o->rtol);
  rs_json_list(json, "differs");
  for (size_t i = 0; i < RS_COUNT(words); i++)
    if (d->differs & 1u << i) rs_json_string(json, NULL, words[i]);
  rs_json_end(json);
  rs_json_number(json, "pairs_that_differ", (double)d->count);
  rs_json_number(json, "worst_pair", d->count > 0 ? (double)d->worst : NAN);
  rs_json_number(json, "differs_at_tokens", o->other_length > 0 ? (double)o->other_length : NAN);
  rs_json_number(json, "largest_relative_difference", d->count > 0 ? d->largest : NAN);
}

rs_status compare_put_json(const outcome *o, rs_text *text, rs_err *err) {
  rs_json json = {.text = text};
  cli_table table = {.kept = true};
  rs_json_object(&json, NULL);
  compare_write_side(&json, "a", &o->sides[0]);
  compare_write_side(&json, "b", &o->sides[1]);
  write_difference(&json, o);
  compare_write_causes(&o->causes, &json);
  compare_write_layers(o, &json);
  compare_write_kinds(o, &json);
  compare_write_buffers(o, &json);
  compare_put_pairs(o, &table);
  rs_status status = cli_table_json(&table, "columns", &json, err);
  rs_json_end(&json);
  cli_table_clear(&table);
  return status;
}
