/* Notes, arguments and fragments of a conversion. */
#include "written.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Adds a word, which it takes. */
static void add_word(rs_converting *c, rs_words *words, char *word) {
  if (word == NULL || RS_GROW(words->items, &words->capacity, words->count + 1, NULL) != RS_OK) {
    free(word);
    c->failed = true;
    return;
  }
  words->items[words->count++] = word;
}

static char *format_words(const char *format, va_list arguments) {
  char *word;
  return vasprintf(&word, format, arguments) >= 0 ? word : NULL;
}

void rs_note(rs_converting *c, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  add_word(c, &c->out->notes, format_words(format, arguments));
  va_end(arguments);
}

void rs_argument(rs_converting *c, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  add_word(c, &c->out->arguments, format_words(format, arguments));
  va_end(arguments);
}

void rs_argument_number(rs_converting *c, const char *flag, double value) {
  char digits[RS_NUMBER_CHARS];
  rs_number_format(value, digits);
  rs_argument(c, "%s", flag);
  rs_argument(c, "%s", digits);
}

/* The text, and a new one in its place. Strings in JSON hold no line breaks: what there are stand between values. */
static char *take_text(rs_converting *c, bool one_line) {
  rs_text text = c->text, line = {0};
  c->text = (rs_text){0};
  for (const char *at = rs_text_string(&text); *at != '\0'; at++) {
    if (*at != '\n' || !one_line) {
      rs_text_add(&line, at, 1);
      continue;
    }
    if (at > text.data && at[-1] == ',') rs_text_puts(&line, " ");
    while (at[1] == ' ') at++;
  }
  c->failed |= text.failed || line.failed;
  rs_text_clear(&text);
  return line.data;
}

void rs_argument_json(rs_converting *c) {
  add_word(c, &c->out->arguments, take_text(c, true));
}

void rs_fragment(rs_converting *c) {
  c->out->fragment = take_text(c, false);
  c->failed |= c->out->fragment == NULL;
}

const rs_node *rs_file_keys(const rs_converting *c) {
  return c->from->config != NULL ? rs_hf_text_config(&c->from->config->root) : NULL;
}

bool rs_is_null(const rs_node *node) {
  return node != NULL && node->kind == RS_SCALAR && !node->quoted && strcmp(node->text, "null") == 0;
}

void rs_begin_levels(rs_converting *c) {
  c->json = (rs_json){.text = &c->text};
  rs_json_object(&c->json, NULL);
  for (size_t i = 0; i < RS_CONFIG_LEVELS && *c->from->levels[i] != '\0'; i++)
    rs_json_object(&c->json, c->from->levels[i]);
  rs_put_growth(c);
}

/* The class of the file would let the grown base grow once more, and a recipe in its place, and scale logits by log n.
 */
void rs_put_growth(rs_converting *c) {
  const rs_settings *settings = &c->settled.recipe.settings;
  bool grows = strcmp(c->settled.recipe.method->name, "ntk") == 0 && isnan(c->settled.factor);
  if (strcmp(c->from->family, "qwen") != 0) return;
  if (grows || c->from->replaced) rs_json_bool(&c->json, "use_dynamic_ntk", false);
  if (c->from->replaced && rs_lscale_chosen(settings) == NULL) rs_json_bool(&c->json, "use_logn_attn", false);
}

void rs_end_levels(rs_converting *c) {
  while (c->json.depth > 0) rs_json_end(&c->json);
}

/* ---- notes ------------------------------------------------------------------------------------------------------- */

void rs_note_unturned(rs_converting *c, const char *who) {
  rs_note(c,
          "These layers turn nothing (%s): in %s their positions are a matter of the model's architecture, and no "
          "setting gives them to another.",
          c->settled.recipe.method->name, who);
}

/* A base that is another at each length, of which keys hold one; log n comes with it in Qwen 1's class. */
static void note_growth(rs_converting *c) {
  const rs_settled *settled = &c->settled;
  const rs_lscale_kind *scaled = rs_lscale_chosen(&settled->recipe.settings);
  rs_note(c,
          "The base grows with the length, which no key says: %.10g is that of %zu tokens, and is had at shorter "
          "lengths, too.",
          settled->theta, settled->length);
  if (scaled != NULL)
    rs_note(c, "%s, by which the model multiplies its logits, is not said here: its own class alone has it.",
            scaled->kind.name);
}

void rs_note_base(rs_converting *c) {
  const rs_settled *settled = &c->settled;
  if (strcmp(settled->recipe.method->name, "ntk") != 0) return;
  if (isnan(settled->factor))
    note_growth(c);
  else
    rs_note(c, "HunYuan's alpha = %g is written as what it comes to, the base %.10g: other classes do not read alpha.",
            settled->factor, settled->theta);
}

void rs_note_layers(rs_converting *c, const char *what) {
  rs_text text = {0};
  if (!rs_profile_mixed(&c->from->profile)) return;
  rs_profile_write_choice(&c->from->profile, c->from->kind, &text);
  rs_note(c, "This is of %s: %s.", rs_text_string(&text), what);
  c->failed |= text.failed;
  rs_text_clear(&text);
}

/* ---- what engines compute ---------------------------------------------------------------------------------------- */

/* What the dialect is about where it holds of this recipe: of M-RoPE its entry for every method, too. */
static void write_reasons(const rs_settled *settled, const rs_recipe *recipe, const char *dialect, rs_text *why) {
  size_t count;
  const rs_dialect *dialects = rs_dialects(&count);
  for (size_t i = 0; i < count; i++) {
    const rs_dialect *d = &dialects[i];
    bool about = strcmp(d->name, dialect) == 0 && rs_dialect_fits(d, recipe->method) && d->settings[0].name != NULL;
    if (!about || (d->method == NULL && !rs_has_axes(settled)) || !rs_dialect_holds(d, &recipe->settings)) continue;
    rs_text_printf(why, "%s%s", why->length > 0 ? "; " : "", d->summary);
  }
}

static rs_status engine_spectrum(const rs_settled *settled, const char *dialect, const rs_engine_setting *settings,
                                 rs_spectrum *spectrum, rs_text *why, rs_err *err) {
  rs_recipe recipe = {0};
  RS_TRY(rs_recipe_init(&recipe, settled->recipe.method, err));
  rs_status status = rs_recipe_set(&recipe, "dialect", dialect, err);
  for (; status == RS_OK && settings->name != NULL; settings++)
    status = rs_recipe_set_number(&recipe, settings->name, settings->value, err);
  if (status == RS_OK) status = rs_recipe_resolve(&recipe, settled->model, err);
  if (status == RS_OK) write_reasons(settled, &recipe, dialect, why);
  if (status == RS_OK) status = rs_spectrum_make(&recipe, settled->model, settled->length, spectrum, err);
  rs_recipe_clear(&recipe);
  return status;
}

rs_status rs_note_engine(rs_converting *c, const char *who, const char *dialect, const rs_engine_setting *settings,
                         rs_err *err) {
  const double float32 = 1e-6;
  rs_spectrum spectrum = {0};
  rs_text why = {0};
  const rs_spectrum *published = &c->settled.spectrum;
  rs_status status = engine_spectrum(&c->settled, dialect, settings, &spectrum, &why, err);
  if (status == RS_OK) {
    rs_difference d = rs_spectrum_compare(published, &spectrum, float32);
    if ((d.differs & (RS_DIFFERS_FREQUENCY | RS_DIFFERS_AXIS)) != 0)
      rs_note(c, "%s turns %zu of %zu pairs otherwise, pair %zu by %.3g %% (%s).", who, d.count, published->pairs,
              d.worst, 100 * d.largest, rs_text_string(&why));
    if ((d.differs & RS_DIFFERS_AMPLITUDE) != 0)
      rs_note(c, "%s multiplies the logits by %.6g, transformers by %.6g (%s).", who,
              spectrum.amp * spectrum.amp * spectrum.logit_factor,
              published->amp * published->amp * published->logit_factor, rs_text_string(&why));
  }
  c->failed |= why.failed;
  rs_text_clear(&why);
  rs_spectrum_clear(&spectrum);
  return status;
}

/* ---- layers ------------------------------------------------------------------------------------------------------ */

bool rs_compresses(const rs_profile *profile) {
  bool any = false;
  for (size_t k = 0; k < profile->kind_count; k++) any |= profile->kinds[k].compression > 0;
  return any;
}

void rs_name_layers(const rs_profile *profile, size_t kind, char out[RS_LAYER_NAME]) {
  static const char twin[] = "_nope";
  const rs_layer_kind *kinds = profile->kinds;
  size_t length = strlen(kinds[kind].name), tail = sizeof twin - 1;
  bool compresses = rs_compresses(profile);
  strcpy(out, compresses ? kinds[kind].compression > 0 ? "compress" : "main" : kinds[kind].name);
  if (!compresses && length > tail && strcmp(out + length - tail, twin) == 0) out[length - tail] = '\0';
}
