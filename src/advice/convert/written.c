/* Notes, arguments and fragments of a conversion. */
#include "written.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- words ------------------------------------------------------------------------------------------------------- */

/* Adds a word, which it takes; NULL: there was no memory for it. */
static void add_word(rs_converting *c, rs_words *words, char *word) {
  if (word != NULL && RS_GROW(words->items, &words->capacity, words->count + 1, &c->err) == RS_OK) {
    words->items[words->count++] = word;
    return;
  }
  free(word);
  (void)rs_fail(&c->err, RS_MEMORY, "out of memory while converting");
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

void rs_argument(rs_converting *c, const char *flag) {
  add_word(c, &c->out->arguments, rs_strdup(flag, &c->err));
}

void rs_option(rs_converting *c, const char *flag, const char *format, ...) {
  va_list arguments;
  if (flag != NULL) rs_argument(c, flag);
  va_start(arguments, format);
  add_word(c, &c->out->arguments, format_words(format, arguments));
  va_end(arguments);
}

void rs_option_number(rs_converting *c, const char *flag, double value) {
  char digits[RS_NUMBER_CHARS];
  rs_number_format(value, digits);
  rs_option(c, flag, "%s", digits);
}

/* ---- fragments --------------------------------------------------------------------------------------------------- */

const rs_node *rs_file_keys(const rs_converting *c) {
  return c->from->config != NULL ? rs_hf_text_config(&c->from->config->root) : NULL;
}

/* The class of Qwen 1 would let the grown base grow once more, and a recipe in its place, and scale logits by log n. */
void rs_begin(rs_converting *c, bool levels) {
  const rs_recipe *recipe = &c->settled.recipe;
  bool grows = strcmp(recipe->method->name, "ntk") == 0 && isnan(c->settled.factor);
  c->json = (rs_json){.text = &c->text};
  rs_json_object(&c->json, NULL);
  for (size_t i = 0; levels && i < RS_CONFIG_LEVELS && *c->from->levels[i] != '\0'; i++)
    rs_json_object(&c->json, c->from->levels[i]);
  if (strcmp(c->from->family, "qwen") != 0) return;
  if (grows || c->from->replaced) rs_json_bool(&c->json, "use_dynamic_ntk", false);
  if (c->from->replaced && rs_lscale_chosen(&recipe->settings) == NULL) rs_json_bool(&c->json, "use_logn_attn", false);
}

/* Strings in JSON hold no line breaks: what there are stand between values. */
void rs_end(rs_converting *c, const char *flag) {
  rs_text line = {0};
  while (c->json.depth > 0) rs_json_end(&c->json);
  for (const char *at = rs_text_string(&c->text); *at != '\0'; at++) {
    if (*at != '\n' || flag == NULL) {
      rs_text_add(&line, at, 1);
      continue;
    }
    if (at > c->text.data && at[-1] == ',') rs_text_puts(&line, " ");
    while (at[1] == ' ') at++;
  }
  (void)rs_text_check(&c->text, &c->err);
  if (flag != NULL) {
    rs_argument(c, flag);
    add_word(c, &c->out->arguments, line.data);
  } else {
    (void)rs_text_check(&line, &c->err);
    c->out->fragment = line.data;
  }
}

void rs_put_list(rs_json *json, const char *key, const double *list, size_t count) {
  rs_json_list(json, key);
  for (size_t i = 0; i < count; i++) rs_json_number(json, NULL, list[i]);
  rs_json_end(json);
}

/* ---- notes ------------------------------------------------------------------------------------------------------- */

void rs_note_unturned(rs_converting *c, const char *who) {
  rs_note(c,
          "These layers turn nothing (%s): in %s their positions are a matter of the model's architecture, and no "
          "setting gives them to another.",
          c->settled.recipe.method->name, who);
}

/* A base that grows is another at each length, of which keys hold one; log n comes with it in Qwen 1's class. */
void rs_note_base(rs_converting *c) {
  const rs_settled *s = &c->settled;
  const rs_lscale_kind *scaled = rs_lscale_chosen(&s->recipe.settings);
  if (strcmp(s->recipe.method->name, "ntk") != 0) return;
  if (!isnan(s->factor)) {
    rs_note(c, "HunYuan's alpha = %g is written as what it comes to, the base %.10g: other classes do not read alpha.",
            s->factor, s->theta);
    return;
  }
  rs_note(c,
          "The base grows with the length, which no key says: %.10g is that of %zu tokens, and is had at shorter "
          "lengths, too.",
          s->theta, s->length);
  if (scaled != NULL)
    rs_note(c, "%s, by which the model multiplies its logits, is not said here: its own class alone has it.",
            scaled->kind.name);
}

void rs_note_layers(rs_converting *c, const char *what) {
  RS_OWNED(rs_text) text = {0};
  if (!rs_profile_mixed(&c->from->profile)) return;
  rs_profile_write_choice(&c->from->profile, c->from->kind, &text);
  rs_note(c, "This is of %s: %s.", rs_text_string(&text), what);
  (void)rs_text_check(&text, &c->err);
}

/* ---- what engines compute ---------------------------------------------------------------------------------------- */

/* What the dialect is about where it holds of this recipe: of M-RoPE its entry for every method, too. */
static void write_reasons(const rs_settled *s, const rs_recipe *recipe, const char *dialect, rs_text *why) {
  size_t count;
  const rs_dialect *dialects = rs_dialects(&count);
  for (size_t i = 0; i < count; i++) {
    const rs_dialect *d = &dialects[i];
    bool about = strcmp(d->name, dialect) == 0 && rs_dialect_fits(d, recipe->method) && d->settings[0].name != NULL;
    if (about && (d->method != NULL || s->axes) && rs_dialect_holds(d, &recipe->settings))
      rs_text_printf(why, "%s%s", why->length > 0 ? "; " : "", d->summary);
  }
}

static rs_status engine_spectrum(const rs_settled *s, const char *dialect, const rs_engine_setting *settings,
                                 rs_spectrum *spectrum, rs_text *why, rs_err *err) {
  RS_OWNED(rs_recipe) recipe = {0};
  RS_TRY(rs_recipe_init(&recipe, s->recipe.method, err));
  RS_TRY(rs_recipe_set(&recipe, "dialect", dialect, err));
  for (; settings->name != NULL; settings++)
    RS_TRY(rs_recipe_set_number(&recipe, settings->name, settings->value, err));
  RS_TRY(rs_recipe_resolve(&recipe, s->model, err));
  write_reasons(s, &recipe, dialect, why);
  return rs_spectrum_make(&recipe, s->model, s->length, spectrum, err);
}

void rs_note_engine(rs_converting *c, const char *who, const char *dialect, const rs_engine_setting *settings) {
  const double float32 = 1e-6;
  RS_OWNED(rs_spectrum) theirs = {0};
  RS_OWNED(rs_text) why = {0};
  const rs_spectrum *ours = &c->settled.spectrum;
  if (engine_spectrum(&c->settled, dialect, settings, &theirs, &why, &c->err) == RS_OK) {
    rs_difference d = rs_spectrum_compare(ours, &theirs, float32);
    if ((d.differs & (RS_DIFFERS_FREQUENCY | RS_DIFFERS_AXIS)) != 0)
      rs_note(c, "%s turns %zu of %zu pairs otherwise, pair %zu by %.3g %% (%s).", who, d.count, ours->pairs, d.worst,
              100 * d.largest, rs_text_string(&why));
    if ((d.differs & RS_DIFFERS_AMPLITUDE) != 0)
      rs_note(c, "%s multiplies the logits by %.6g, transformers by %.6g (%s).", who,
              theirs.amp * theirs.amp * theirs.logit_factor, ours->amp * ours->amp * ours->logit_factor,
              rs_text_string(&why));
  }
  (void)rs_text_check(&why, &c->err);
}
