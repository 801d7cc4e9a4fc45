/* A length to layers that turn nothing: biases by distance, tables of vectors, or no positions at all. */
#include "cli.h"

#include <math.h>
#include <stdio.h>

enum { LONGEST = 1 << 20 }; /* tokens of which tables are made, to see what comes of the length */

/* What comes of a length. */
typedef struct spoken_length {
  const rs_portrait *portrait;
  size_t length, trained, served;             /* tokens; 0: not said */
  size_t reach;                               /* the farthest key that these layers see */
  char refusal[sizeof((rs_err *)0)->message]; /* why the method is undefined there; "": it is not, or was not tried */
  double least, most;                         /* bias of that key over the heads, nats; NaN: none, or it is learned */
} spoken_length;

static void note_bias(const rs_encoding *encoding, spoken_length *out) {
  const rs_bias_kind *kind = encoding->method->bias;
  size_t query = encoding->length - 1;
  if (kind == NULL || kind->learned != NULL) return;
  for (size_t h = 0; h < encoding->heads; h++) {
    double bias;
    rs_encoding_bias_row(encoding, h, query, query - out->reach, query - out->reach + 1, &bias);
    out->least = fmin(out->least, bias); /* of NaN and a number the number */
    out->most = fmax(out->most, bias);
  }
}

static rs_status try_length(spoken_length *out, rs_err *err) {
  const rs_portrait *p = out->portrait;
  rs_encoding *encoding;
  rs_err why = {0};
  if (out->length > LONGEST) return RS_OK;
  rs_status status = rs_encoding_create(&p->recipe, p->model, out->length, NULL, NULL, &encoding, &why);
  if (status == RS_MEMORY) return rs_fail(err, RS_MEMORY, "%s", why.message);
  if (status != RS_OK) {
    snprintf(out->refusal, sizeof out->refusal, "%s", why.message);
    return RS_OK;
  }
  note_bias(encoding, out);
  rs_encoding_free(encoding);
  return RS_OK;
}

static void put_lengths(const spoken_length *o, rs_text *text) {
  rs_text_printf(text, "%zu tokens", o->length);
  if (o->trained == 0) {
    rs_text_puts(text, "; the file does not say for how many it is.\n");
    return;
  }
  if (o->length > o->trained)
    rs_text_printf(text, " are %.4g times the trained length, %zu.\n", (double)o->length / (double)o->trained,
                   o->trained);
  else
    rs_text_printf(text, " are within the trained length, %zu.\n", o->trained);
}

static void put_sentences(const spoken_length *o, rs_text *text) {
  const rs_portrait *p = o->portrait;
  rs_recipe_write(&p->recipe, text);
  rs_text_puts(text, " turns nothing in layers ");
  rs_profile_write_layers(&p->profile, p->kind, text);
  rs_text_printf(text, " (%s): %s.\n", p->profile.kinds[p->kind].name, p->recipe.method->summary);
  put_lengths(o, text);
  if (o->reach + 1 < o->length) rs_text_printf(text, "These layers see keys up to %zu tokens back alone.\n", o->reach);
  if (*o->refusal != '\0') rs_text_printf(text, "There is no such length for it: %s.\n", o->refusal);
  if (!isnan(o->least))
    rs_text_printf(text, "The key %zu tokens back gets a bias from %.6g to %.6g nats, by head.\n", o->reach, o->least,
                   o->most);
  else if (p->recipe.method->bias != NULL)
    rs_text_puts(text, "Its biases are learned, and not in this file.\n");
}

static void write_object(const spoken_length *o, rs_text *text) {
  const rs_portrait *p = o->portrait;
  rs_json json = {.text = text};
  rs_text recipe = {0};
  rs_recipe_write(&p->recipe, &recipe);
  text->failed |= recipe.failed;
  rs_json_object(&json, NULL);
  rs_json_string(&json, "recipe", rs_text_string(&recipe));
  rs_json_string(&json, "layers", p->profile.kinds[p->kind].name);
  rs_json_number(&json, "length_tokens", (double)o->length);
  rs_json_number(&json, "trained_tokens", o->trained > 0 ? (double)o->trained : NAN);
  rs_json_number(&json, "served_tokens", o->served > 0 ? (double)o->served : NAN);
  rs_json_number(&json, "farthest_key_tokens", (double)o->reach);
  rs_json_string(&json, "undefined", *o->refusal != '\0' ? o->refusal : NULL);
  rs_json_number(&json, "least_bias_nats", o->least);
  rs_json_number(&json, "most_bias_nats", o->most);
  rs_json_list(&json, "pairs");
  rs_json_end(&json);
  rs_json_end(&json);
  rs_text_clear(&recipe);
}

rs_status explain_put_unturned(const rs_portrait *portrait, size_t length, bool json, rs_text *text, rs_err *err) {
  spoken_length o = {.portrait = portrait,
                     .length = length,
                     .trained = portrait->model->train_length,
                     .served = portrait->model->max_length,
                     .reach = rs_reach_of(&portrait->profile.kinds[portrait->kind], length),
                     .least = NAN,
                     .most = NAN};
  RS_TRY(try_length(&o, err));
  if (json)
    write_object(&o, text);
  else
    put_sentences(&o, text);
  return RS_OK;
}
