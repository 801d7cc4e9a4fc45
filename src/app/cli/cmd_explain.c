/* ropescope explain FILE [--length N]: what a length is to a model, and what becomes of a pair there, in words. */
#include "cli.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is spoken of. */
typedef struct subject {
  const rs_portrait *portrait;
  const rs_view *here, *trained, *served; /* at the length that is asked about, at L0, at the longest one */
} subject;

/* ---- what layers see --------------------------------------------------------------------------------------------- */

/* Whether layers of some kind see less than all, or choose. */
static bool is_limited(const rs_profile *profile, size_t length) {
  bool any = false;
  for (size_t k = 0; k < profile->kind_count; k++)
    any |= profile->kinds[k].chooses || rs_layer_kind_keys(&profile->kinds[k], length) < length;
  return any;
}

/* "The last one attends 2048 chosen keys in layers 3, 7; no key, but a state, in layers 0-2, 4-6." */
static void put_sight(const rs_profile *profile, size_t length, rs_text *text) {
  if (!is_limited(profile, length)) return;
  for (size_t k = 0; k < profile->kind_count; k++) {
    const rs_layer_kind *kind = &profile->kinds[k];
    size_t keys = rs_layer_kind_keys(kind, length);
    rs_text_puts(text, k == 0 ? "The last one attends " : "; ");
    if (keys == 0)
      rs_text_puts(text, "no key, but a state,");
    else if (kind->chooses && kind->chosen == 0)
      rs_text_puts(text, "chosen keys");
    else
      rs_text_printf(text, "%s%zu %s", keys == length ? "all " : "", keys,
                     kind->chooses           ? "chosen keys"
                     : kind->compression > 0 ? "keys and averages of keys"
                                             : "keys");
    rs_text_puts(text, " in layers ");
    rs_profile_write_layers(profile, k, text);
  }
  rs_text_puts(text, ".\n");
}

static void add_sight(rs_doc *doc, const rs_profile *profile, size_t length) {
  rs_doc *list = rs_doc_add(doc, "layers_see", RS_DOC_ARRAY);
  for (size_t k = 0; k < profile->kind_count; k++) {
    const rs_layer_kind *kind = &profile->kinds[k];
    rs_doc_put(rs_doc_add(list, NULL, RS_DOC_OBJECT), DOC_WORDS("layers", kind->name),
               DOC_NUMBER("keys", rs_layer_kind_keys(kind, length)), DOC_FLAG("chosen", kind->chooses));
  }
}

/* ---- the length -------------------------------------------------------------------------------------------------- */

static size_t still_pairs(const subject *s) {
  size_t still = 0;
  for (size_t j = 0; j < s->here->count; j++) still += s->here->pairs[j].fate == RS_STILL;
  return still;
}

static void put_recipe(const subject *s, rs_text *text) {
  const rs_portrait *p = s->portrait;
  rs_recipe_write(&p->recipe, text);
  rs_text_puts(text, " with base ");
  rs_text_number(text, p->model->rope_theta);
  rs_text_printf(text, " turns %zu pairs of layers ", p->pairs - still_pairs(s));
  rs_profile_write_layers(&p->profile, p->kind, text);
  rs_text_printf(text, " (%s).\n", p->profile.kinds[p->kind].name);
}

static void put_length(const subject *s, rs_text *text) {
  const rs_portrait *p = s->portrait;
  size_t length = s->here->length;
  if (length > p->trained)
    rs_text_printf(text, "%zu tokens are %.4g times the trained length, %zu, and ", length,
                   (double)length / (double)p->trained, p->trained);
  else
    rs_text_printf(text, "%zu tokens are within the trained length, %zu, and ", length, p->trained);
  rs_text_printf(text, "%s the %zu that the file is for.\n", length > p->served ? "beyond" : "within", p->served);
  put_sight(&p->profile, length, text);
}

/* Which dims turn with which, and the exponents of the ladder. */
static void put_dims(const subject *s, rs_text *text) {
  const rs_portrait *p = s->portrait;
  const rs_model *model = p->model;
  const rs_value *layout = rs_setting(&p->recipe.settings, "pair_layout");
  bool alternate = layout->set ? layout->choice == RS_INTERLEAVED : model->pair_layout == RS_INTERLEAVED;
  bool over_head = strcmp(p->recipe.method->name, "proportional") == 0;
  size_t still = still_pairs(s);
  rs_text_printf(text, "%zu of %zu dims turn; pair j is ", 2 * (p->pairs - still), model->head_dim);
  if (alternate)
    rs_text_puts(text, "dims 2j and 2j + 1 of these (interleaved)");
  else
    rs_text_printf(text, "dims j and j + %zu of %s (half_split)", p->pairs, still > 0 ? "the head" : "these");
  rs_text_printf(text, ", its exponent 2j / %zu, %s.\n", 2 * p->pairs,
                 over_head                         ? "the whole head"
                 : 2 * p->pairs == model->head_dim ? "all dims"
                                                   : "the dims that turn, not the head's");
}

/* Which pairs read which axis: in runs, or where these alternate, how many of each. */
static void put_sections(const subject *s, rs_text *text) {
  static const char *const axes[RS_AXES] = {"time", "rows", "columns"};
  const rs_view *view = s->here;
  size_t runs = 0, count[RS_AXES] = {0};
  if (!rs_recipe_has_sections(&s->portrait->recipe, s->portrait->model)) return;
  for (size_t j = 0; j < view->count; j++) {
    runs += j == 0 || view->pairs[j].axis != view->pairs[j - 1].axis;
    count[view->pairs[j].axis]++;
  }
  rs_text_printf(text, "Of pictures, time, rows and columns are read by %zu, %zu and %zu pairs, ", count[0], count[1],
                 count[2]);
  if (runs > RS_AXES)
    rs_text_puts(text, "which alternate:");
  else
    rs_text_puts(text, "in blocks:");
  for (size_t j = 0, shown = 0; j < view->count && shown < 2 * RS_AXES; shown++) {
    size_t first = j, axis = view->pairs[j].axis;
    while (j < view->count && view->pairs[j].axis == axis) j++;
    rs_text_printf(text, "%s %zu", shown > 0 ? "," : "", first);
    if (j - 1 > first) rs_text_printf(text, " to %zu", j - 1);
    rs_text_printf(text, " %s", axes[axis]);
  }
  rs_text_puts(text, runs > 2 * RS_AXES ? ", ...\n" : ".\n");
}

/* Rules that depend on the length. */
static void put_rule(const subject *s, rs_text *text) {
  const rs_portrait *p = s->portrait;
  const char *method = p->recipe.method->name;
  if (strcmp(method, "longrope") == 0) {
    bool far = s->here->length > p->trained;
    rs_text_printf(text,
                   "%s is in force: up to %zu tokens short_factor divides the frequencies, past them long_factor.\n",
                   far ? "long_factor" : "short_factor", p->trained);
  }
  if (isnan(s->here->factor)) return;
  if (s->trained->factor != s->served->factor)
    rs_text_printf(text,
                   "The rule is dynamic: s is %.6g at %zu tokens, %.6g at %zu; keys that were cached at another length "
                   "do not fit.\n",
                   s->here->factor, s->here->length, s->trained->factor, p->trained);
  else if (s->here->factor != 1)
    rs_text_printf(text, "s is %.6g at every length, so short inputs are scaled, too.\n", s->here->factor);
}

/* "pairs 41 to 63", or where others lie between, "41 of them, from pair 3 to pair 63". */
static void put_out_of_range(const rs_view *view, rs_text *text) {
  size_t first = view->count, last = 0;
  for (size_t j = 0; j < view->count; j++) {
    if (!view->pairs[j].out_of_range) continue;
    if (first == view->count) first = j;
    last = j;
  }
  if (first == last)
    rs_text_printf(text, "Pair %zu turns", first);
  else
    rs_text_printf(text, "%zu of %zu pairs, %s%zu to %zu, turn", view->out_of_range, view->count,
                   last - first + 1 == view->out_of_range ? "" : "among ", first, last);
}

static void put_angles(const subject *s, rs_text *text) {
  const rs_view *view = s->here;
  const rs_layer_kind *kind = &s->portrait->profile.kinds[s->portrait->kind];
  if (kind->chooses) {
    rs_text_puts(text, "Each query of these layers attends ");
    rs_layer_kind_write_mask(kind, text);
    rs_text_puts(text, ".\n");
  }
  if (view->reach + 1 < view->length)
    rs_text_printf(text, "These layers see keys up to %zu tokens back alone.\n", view->reach);
  if (view->out_of_range == 0) {
    rs_text_printf(text, "No pair turns past what plain RoPE turns it to in %zu tokens.\n", s->portrait->trained);
    return;
  }
  put_out_of_range(view, text);
  rs_text_printf(text, " past what plain RoPE turns %s to in %zu tokens, where %s not go full circle.\n",
                 view->out_of_range == 1 ? "it" : "them", s->portrait->trained,
                 view->out_of_range == 1 ? "it does" : "they do");
}

/* What near keys pay for the recipe, whatever the length that is served. */
static void put_price(const subject *s, rs_text *text) {
  const rs_portrait *p = s->portrait;
  if (!(p->near > 0)) return;
  rs_text_printf(text,
                 "Inputs of the trained length pay for it: keys 1 to 8 tokens back are turned otherwise than by plain "
                 "RoPE, 1 - cos = %.3g on average.\n",
                 p->near);
}

/* What scales logits by position, at the last token. */
static rs_status put_temperature(const subject *s, rs_text *text, rs_err *err) {
  enum { LONGEST = 1 << 22 }; /* tokens, 100 MB of tables */
  const rs_portrait *p = s->portrait;
  RS_HELD(rs_encoding) encoding = NULL;
  size_t length = s->here->length;
  if (p->temperature == NULL || length > LONGEST) return RS_OK;
  RS_TRY(rs_encoding_create(&p->recipe, p->model, length, NULL, NULL, &encoding, err));
  rs_text_printf(text, "Logits are scaled by position (%s): those of the last token by %.6g.\n", p->temperature,
                 encoding->logit_scale[length - 1] / s->here->logit_factor);
  return RS_OK;
}

static rs_status put_logits(const subject *s, rs_text *text, rs_err *err) {
  const rs_view *view = s->here;
  bool whole = s->portrait->model->rotary_dim == s->portrait->model->head_dim;
  if (view->amp != 1)
    rs_text_printf(text, "cos and sin are multiplied by %.6g, so %s by %.6g.\n", view->amp,
                   whole ? "logits" : "what turned dims add to logits", view->amp * view->amp);
  if (view->logit_factor != 1) rs_text_printf(text, "The softmax scale is multiplied by %.6g.\n", view->logit_factor);
  return put_temperature(s, text, err);
}

static double angle_error(const rs_view *view) {
  double worst = 0;
  for (size_t j = 0; j < view->count; j++)
    worst = fmax(worst, rs_angle_error(RS_F32, view->pairs[j].omega, view->length));
  return worst;
}

static void put_arithmetic(const subject *s, rs_text *text) {
  size_t length = s->here->length;
  double half = rs_position_error(RS_F16, length);
  rs_text_printf(text, "Here angles of float32 are up to %.2g rad off, positions held in bfloat16 up to %g tokens, ",
                 angle_error(s->here), rs_position_error(RS_BF16, length));
  if (isinf(half))
    rs_text_puts(text, "and float16 ends at 65504.\n");
  else
    rs_text_printf(text, "in float16 up to %g.\n", half);
}

/* ---- a pair ------------------------------------------------------------------------------------------------------ */

static void put_fate(const rs_pair_view *pair, double s, rs_text *text) {
  double slower = pair->plain / pair->omega;
  switch (pair->fate) {
  case RS_KEPT: rs_text_puts(text, "It is kept: it turns as by plain RoPE.\n"); return;
  case RS_DIVIDED:
    rs_text_printf(text, "It is divided: %.6g times slower than by plain RoPE, which is s.\n", s);
    return;
  case RS_BLENDED:
    rs_text_printf(text, "It is blended, between kept and divided by s = %.6g: %.4g times slower than by plain RoPE.\n",
                   s, slower);
    return;
  default:
    rs_text_printf(text, "It is altered: %.4g times %s than by plain RoPE.\n", slower > 1 ? slower : 1 / slower,
                   slower > 1 ? "slower" : "faster");
  }
}

/* Which dims the pair is, of those that turn, and what the exponent of its plain frequency divides by. */
static void put_pair_dims(const subject *s, size_t index, rs_text *text) {
  const rs_model *model = s->portrait->model;
  bool halves = model->pair_layout == RS_HALF_SPLIT;
  size_t first = halves ? index : 2 * index, second = halves ? index + model->rotary_dim / 2 : 2 * index + 1;
  rs_text_printf(text, "It is dims %zu and %zu of the %zu", first, second, model->rotary_dim);
  if (model->rotary_dim < model->head_dim) rs_text_printf(text, " that turn, of %zu", model->head_dim);
  rs_text_printf(text, "; plain RoPE's frequency is %.10g^(-%zu/%zu).\n", model->rope_theta, 2 * index,
                 model->rotary_dim);
}

static void put_pair(const subject *s, size_t index, rs_text *text) {
  static const char *const axes[RS_AXES] = {"time", "row", "column"};
  const rs_portrait *p = s->portrait;
  const rs_pair_view *pair = &s->here->pairs[index];
  const double turn = 2 * M_PI;
  if (pair->fate == RS_STILL) {
    rs_text_printf(text, "Pair %zu does not turn.\n", index);
    return;
  }
  rs_text_printf(text, "Pair %zu turns by %.4g rad a token, a wave of %.6g tokens; plain RoPE's is %.6g long.\n", index,
                 pair->omega, turn / pair->omega, turn / pair->plain);
  put_pair_dims(s, index, text);
  put_fate(pair, s->here->factor, text);
  rs_text_printf(text, "By plain RoPE it makes %.4g turns in the %zu tokens of training%s; here it makes %.4g in %zu",
                 pair->trained / turn, p->trained, isinf(pair->range) ? ", so every angle is known" : "",
                 pair->reached / turn, s->here->reach);
  if (pair->out_of_range)
    rs_text_printf(text, ", %.4g of them past training.\n", (pair->reached - pair->trained) / turn);
  else
    rs_text_puts(text, ", none of them new.\n");
  if (rs_recipe_has_sections(&p->recipe, p->model))
    rs_text_printf(text, "Of pictures it reads the %s.\n", axes[pair->axis]);
}

/* ---- for other programs ------------------------------------------------------------------------------------------ */

/* All pairs, or the one that is asked about. */
static void add_all(rs_doc *doc, const subject *s, const cli_options *options) {
  const rs_portrait *p = s->portrait;
  const rs_view *view = s->here;
  double half = rs_position_error(RS_F16, view->length);
  rs_doc_put(doc, DOC_WORDS("recipe", cli_recipe(doc, &p->recipe)), DOC_WORDS("layers", p->profile.kinds[p->kind].name),
             DOC_NUMBER("length_tokens", view->length), DOC_NUMBER("trained_tokens", p->trained),
             DOC_NUMBER("served_tokens", p->served), DOC_NUMBER("farthest_key_tokens", view->reach),
             DOC_FLAG("keys_are_chosen", p->profile.kinds[p->kind].chooses), DOC_NUMBER("scale", view->factor),
             DOC_NUMBER("attention_factor", view->amp), DOC_NUMBER("softmax_factor", view->logit_factor),
             DOC_NUMBER("pairs_out_of_range", view->out_of_range),
             DOC_NUMBER("float32_angle_error_rad", angle_error(view)),
             DOC_NUMBER("bfloat16_position_error_tokens", rs_position_error(RS_BF16, view->length)),
             DOC_NUMBER("float16_position_error_tokens", half));
  add_sight(doc, &p->profile, view->length);
  rs_doc *list = rs_doc_add(doc, "pairs", RS_DOC_ARRAY);
  for (size_t j = 0; j < view->count; j++) {
    const rs_pair_view *pair = &view->pairs[j];
    if (options->pair != 0 && options->pair - 1 != j) continue;
    rs_doc_put(rs_doc_add(list, NULL, RS_DOC_OBJECT), DOC_NUMBER("pair", pair->pair),
               DOC_NUMBER("omega_rad_per_token", pair->omega), DOC_NUMBER("plain_omega_rad_per_token", pair->plain),
               DOC_NUMBER("trained_rad", pair->trained), DOC_NUMBER("reached_rad", pair->reached),
               DOC_WORDS("fate", rs_pair_fate_words[pair->fate]), DOC_FLAG("out_of_range", pair->out_of_range));
  }
}

/* ---- layers that turn nothing: biases by distance, tables of vectors, or no positions at all --------------------- */

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
  enum { LONGEST = 1 << 20 }; /* tokens of which tables are made */
  const rs_portrait *p = out->portrait;
  RS_HELD(rs_encoding) encoding = NULL;
  rs_err why = {0};
  if (out->length > LONGEST) return RS_OK;
  rs_status status = rs_encoding_create(&p->recipe, p->model, out->length, NULL, NULL, &encoding, &why);
  if (status == RS_MEMORY) return rs_fail(err, RS_MEMORY, "%s", why.message);
  if (status != RS_OK) {
    snprintf(out->refusal, sizeof out->refusal, "%s", why.message);
    return RS_OK;
  }
  note_bias(encoding, out);
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
  put_sight(&p->profile, o->length, text);
  if (o->reach + 1 < o->length) rs_text_printf(text, "These layers see keys up to %zu tokens back alone.\n", o->reach);
  if (*o->refusal != '\0') rs_text_printf(text, "There is no such length for it: %s.\n", o->refusal);
  if (!isnan(o->least))
    rs_text_printf(text, "The key %zu tokens back gets a bias from %.6g to %.6g nats, by head.\n", o->reach, o->least,
                   o->most);
  else if (p->recipe.method->bias != NULL)
    rs_text_puts(text, "Its biases are learned, and not in this file.\n");
  if (p->recipe.method->vectors != NULL)
    rs_text_puts(text, "Its vectors of distance are learned, and not in this file.\n");
}

static void put_object(const spoken_length *o, rs_text *text) {
  const rs_portrait *p = o->portrait;
  RS_OWNED(rs_arena) arena = {0};
  rs_doc *doc = rs_doc_new(&arena, RS_DOC_OBJECT);
  rs_doc_put(
      doc, DOC_WORDS("recipe", cli_recipe(doc, &p->recipe)), DOC_WORDS("layers", p->profile.kinds[p->kind].name),
      DOC_NUMBER("length_tokens", o->length), DOC_NUMBER("trained_tokens", o->trained > 0 ? (double)o->trained : NAN),
      DOC_NUMBER("served_tokens", o->served > 0 ? (double)o->served : NAN), DOC_NUMBER("farthest_key_tokens", o->reach),
      DOC_WORDS("undefined", *o->refusal != '\0' ? o->refusal : NULL), DOC_NUMBER("least_bias_nats", o->least),
      DOC_NUMBER("most_bias_nats", o->most));
  add_sight(doc, &p->profile, o->length);
  rs_doc_add(doc, "pairs", RS_DOC_LIST);
  rs_doc_json(doc, text);
}

static rs_status put_unturned(const rs_portrait *portrait, size_t length, bool json, rs_text *text, rs_err *err) {
  spoken_length o = {.portrait = portrait,
                     .length = length,
                     .trained = portrait->model->train_length,
                     .served = portrait->model->max_length,
                     .reach = rs_reach_of(&portrait->profile.kinds[portrait->kind], length),
                     .least = NAN,
                     .most = NAN};
  RS_TRY(try_length(&o, err));
  if (json)
    put_object(&o, text);
  else
    put_sentences(&o, text);
  return RS_OK;
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

static rs_status put_all(const subject *s, const cli_options *options, rs_text *text, rs_err *err) {
  if (options->json) {
    RS_OWNED(rs_arena) arena = {0};
    rs_doc *doc = rs_doc_new(&arena, RS_DOC_OBJECT);
    add_all(doc, s, options);
    rs_doc_json(doc, text);
    return RS_OK;
  }
  put_recipe(s, text);
  put_length(s, text);
  put_dims(s, text);
  put_sections(s, text);
  put_rule(s, text);
  put_angles(s, text);
  put_price(s, text);
  RS_TRY(put_logits(s, text, err));
  put_arithmetic(s, text);
  if (options->pair > 0) put_pair(s, options->pair - 1, text);
  return RS_OK;
}

static rs_status explain(const rs_portrait *p, size_t length, const cli_options *options, rs_text *text, rs_err *err) {
  const size_t lengths[] = {length, p->trained, p->served};
  rs_view views[RS_COUNT(lengths)] = {{0}};
  rs_status status = RS_OK;
  for (size_t i = 0; i < RS_COUNT(lengths) && status == RS_OK; i++)
    status = rs_view_make(p, lengths[i], &views[i], err);
  if (status == RS_OK) status = put_all(&(subject){p, &views[0], &views[1], &views[2]}, options, text, err);
  for (size_t i = 0; i < RS_COUNT(lengths); i++) rs_view_clear(&views[i]);
  return status;
}

/* The length that is asked about: where none is given, the one that the file is for. */
static rs_status find_length(const rs_portrait *p, const char *name, const cli_options *options, size_t *length,
                             rs_err *err) {
  *length = options->length > 0 ? options->length : p->turns ? p->served : p->model->max_length;
  return *length > 0 ? RS_OK : rs_fail(err, RS_INPUT, "%s: says no length (--length chooses)", name);
}

/* What there is no answer to. */
static rs_status check_question(const rs_portrait *p, const char *name, const cli_options *options, rs_err *err) {
  if (p->recipe.method == NULL) return rs_fail(err, RS_INPUT, "%s: these layers have no recipe", name);
  if (!p->turns && options->pair > 0)
    return rs_fail(err, RS_INPUT, "--pair %zu: %s turns no pairs", options->pair - 1, p->recipe.method->name);
  if (p->turns && options->pair > p->pairs)
    return rs_fail(err, RS_INPUT, "--pair %zu: there are pairs 0 to %zu", options->pair - 1, p->pairs - 1);
  return RS_OK;
}

static rs_status answer(const rs_portrait *p, const char *name, const cli_options *options, rs_text *text,
                        rs_err *err) {
  size_t length;
  RS_TRY(check_question(p, name, options, err));
  RS_TRY(find_length(p, name, options, &length, err));
  return p->turns ? explain(p, length, options, text, err) : put_unturned(p, length, options->json, text, err);
}

int cmd_explain(const cli_options *options) {
  RS_FREED char *name = NULL, *data = NULL;
  size_t length = 0;
  RS_OWNED(rs_portrait) portrait = {0};
  rs_text text = {0};
  rs_err err = {0};
  if (options->argument_count == 0)
    return cli_error("explain needs a file, as in ropescope explain config.json --length 128k");
  rs_status status = cli_read_config(options->arguments[0], &name, &data, &length, &err);
  if (status == RS_OK) status = rs_portrait_read(data, length, name, options->layers, &portrait, &err);
  if (status == RS_OK) status = answer(&portrait, name, options, &text, &err);
  int code = cli_answer(status, &err, &text, options->json ? CLI_DATA : CLI_TEXT);
  if (code == CLI_OK) cli_note_doubt(options, &portrait.profile);
  if (code == CLI_OK && options->layers == NULL) cli_note_layers(options, &portrait.profile, portrait.kind);
  return code;
}
