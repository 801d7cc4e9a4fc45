/* What is done to a recipe in practice, by mistake or by another implementation: each parameter with another value, as
 * another method or dialect, at another length. Made from the specs, so that a new parameter is tried as soon as it is
 * there. */
#include "causes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct maker {
  const rs_compared *from, *other;
  rs_hypothesis *list;
  size_t count;
} maker;

/* One more, or NULL when the list is full. */
static rs_hypothesis *add(maker *make, const char *key) {
  if (make->count == RS_HYPOTHESES) return NULL;
  rs_hypothesis *made = &make->list[make->count++];
  *made = (rs_hypothesis){0};
  snprintf(made->key, sizeof made->key, "%s", key);
  return made;
}

static void change(rs_hypothesis *hypothesis, const char *param, const char *text) {
  if (hypothesis == NULL || hypothesis->count == RS_CHANGES) return;
  rs_change *made = &hypothesis->changes[hypothesis->count++];
  made->param = param;
  snprintf(made->text, sizeof made->text, "%s", text != NULL ? text : "");
}

/* A value as a message has it: long lists by their length. */
static void describe(const rs_param *param, const rs_value *value, char *out, size_t size) {
  rs_text text = {0};
  if (value->count > 4)
    rs_text_printf(&text, "a list of %zu", value->count);
  else
    rs_value_write(param, value, &text);
  snprintf(out, size, "%s", rs_text_string(&text));
  rs_text_clear(&text);
}

/* What the recipe has, or reads of the model where it has nothing. */
static void describe_own(const rs_compared *side, size_t index, char *out, size_t size) {
  const rs_settings *settings = &side->recipe->settings;
  const rs_model *model = side->model;
  const char *name = settings->params[index]->name;
  describe(settings->params[index], &settings->values[index], out, size);
  if (settings->values[index].set) return;
  if (strcmp(name, "train_length") == 0) snprintf(out, size, "%zu", model->train_length);
  if (strcmp(name, "rotary_dim") == 0) snprintf(out, size, "%zu", model->rotary_dim);
  if (strcmp(name, "rope_theta") == 0) snprintf(out, size, "%.15g", model->rope_theta);
  if (strcmp(name, "pair_layout") == 0)
    snprintf(out, size, "%s", model->pair_layout == RS_INTERLEAVED ? "interleaved" : "half_split");
}

/* "with name: new (why; A has old)". */
static rs_hypothesis *alter(maker *make, const char *name, const char *text, const char *why) {
  int index = rs_settings_find(&make->from->recipe->settings, name);
  char old[64];
  if (index < 0) return NULL;
  describe_own(make->from, (size_t)index, old, sizeof old);
  if (strcmp(old, text != NULL ? text : "none") == 0) return NULL;
  rs_hypothesis *made = add(make, name);
  if (made == NULL) return NULL;
  snprintf(made->what, sizeof made->what, "with %s: %.60s (%s%s@ has %s)", name, text != NULL ? text : "none", why,
           *why != '\0' ? "; " : "", old);
  change(made, name, text);
  return made;
}

static void alter_number(maker *make, const char *name, double number, const char *why) {
  char text[RS_NUMBER_CHARS];
  rs_number_format(number, text);
  if (isfinite(number)) alter(make, name, text, why);
}

/* ---- one parameter ----------------------------------------------------------------------------------------------- */

/* Whether the other recipe has another value of parameter p; both as text. */
static bool lends(const maker *make, size_t p, char own[64], char lent[64]) {
  const rs_recipe *from = make->from->recipe, *other = make->other->recipe;
  const rs_param *param = from->settings.params[p];
  const rs_value *a = &from->settings.values[p], *b = &other->settings.values[p];
  if (strcmp(param->name, "dialect") == 0) return false; /* in effect already, as other parameters */
  describe_own(make->from, p, own, 64);
  describe_own(make->other, p, lent, 64);
  if (strcmp(own, lent) != 0) return true;
  return a->count > 0 && a->count == b->count && memcmp(a->list, b->list, a->count * sizeof *a->list) != 0;
}

/* What the other recipe of the same method has, one by one and all together. */
static void lend_settings(maker *make) {
  const rs_recipe *own = make->from->recipe, *lent = make->other->recipe;
  rs_hypothesis all = {.key = "settings", .what = "with the other side's"};
  char old[64], new[64];
  for (size_t p = 0; lent != NULL && lent->method == own->method && p < own->settings.count; p++) {
    const char *name = own->settings.params[p]->name;
    if (!lends(make, p, old, new)) continue;
    rs_hypothesis *made = add(make, name);
    if (made == NULL) return;
    snprintf(made->what, sizeof made->what, "with %s: %s (@ has %s)", name, new,
             strcmp(old, new) == 0 ? "another" : old);
    change(made, name, NULL);
    made->changes[0].value = &lent->settings.values[p];
    size_t length = strlen(all.what);
    snprintf(all.what + length, sizeof all.what - length, "%s %s", all.count > 0 ? "," : "", name);
    if (all.count < RS_CHANGES) all.changes[all.count++] = made->changes[0];
  }
  rs_hypothesis *together = all.count > 1 ? add(make, all.key) : NULL;
  if (together != NULL) *together = all;
}

/* What the other model has where the recipe reads the model's. */
static void lend_model(maker *make) {
  const rs_model *own = make->from->model, *lent = make->other->model;
  if (lent == NULL) return;
  if (own->train_length != lent->train_length)
    alter_number(make, "train_length", (double)lent->train_length, "the other model's");
  if (own->axis_layout != lent->axis_layout)
    alter(make, "mrope_layout", rs_axis_layout_words[lent->axis_layout], "the other model's");
  if (own->rope_theta != lent->rope_theta) alter_number(make, "rope_theta", lent->rope_theta, "the other model's");
}

/* Every other word. */
static void alter_words(maker *make, const rs_param *param) {
  for (size_t i = 0; i < param->word_count; i++) alter(make, param->name, param->words[i], "");
}

/* Flags turned over, words exchanged, and every value that is not the default left unread. */
static void alter_each(maker *make) {
  const rs_settings *settings = &make->from->recipe->settings;
  for (size_t p = 0; p < settings->count; p++) {
    const rs_param *param = settings->params[p];
    const rs_value *value = &settings->values[p];
    /* Not parts of a spectrum; and s, which has rules of its own. */
    bool apart = strcmp(param->name, "dialect") == 0 || strcmp(param->name, "scale") == 0;
    if (apart || strcmp(param->name, "factor") == 0) continue;
    if (param->type == RS_BOOL && value->set) alter(make, param->name, value->number == 1 ? "false" : "true", "");
    if (param->type == RS_CHOICE && value->set) alter_words(make, param);
    if (param->type == RS_CHOICE || param->type == RS_BOOL || !value->set) continue;
    if (param->words != NULL) alter_words(make, param);
    alter(make, param->name, param->fallback, "the default");
  }
}

/* ---- lengths, base, scale ---------------------------------------------------------------------------------------- */

static double train_length_of(const rs_compared *side) {
  const rs_value *given = rs_setting(&side->recipe->settings, "train_length");
  return given->set ? given->number : (double)side->model->train_length;
}

/* s, or NaN where the method has none. */
static double scale_of(const rs_compared *side) {
  if (!rs_method_scaled(side->recipe->method)) return NAN;
  return rs_scale_resolve(&side->recipe->settings, (double)side->length, train_length_of(side));
}

/* The number of fewest digits that is as near as float32 tables tell. */
static double snapped(double number) {
  enum { MOST_DIGITS = 6 };
  static const double near = 5e-6;
  for (int digits = 1; digits <= MOST_DIGITS && number > 0; digits++) {
    double unit = pow(10, floor(log10(number)) - digits + 1), candidate = rint(number / unit) * unit;
    if (fabs(candidate / number - 1) < near) return candidate;
  }
  return number;
}

/* The s that the slowest pair shows: every method with a scale divides that one by s. NaN where it shows none. */
static double shown_scale(const rs_compared *side, const rs_compared *other) {
  const rs_spectrum *own = side->spectrum, *shown = other->spectrum;
  double now = scale_of(side), last = own->omega[own->pairs - 1], to = shown->omega[shown->pairs - 1];
  if (own->pairs != shown->pairs || !(last > 0) || !(to > 0)) return NAN;
  return snapped((isnan(now) ? 1 : now) * last / to);
}

/* The base that the slowest pair shows, if s divides it as it does here. */
static double shown_base(const rs_compared *side, const rs_compared *other) {
  double now = scale_of(side), pairs = (double)other->spectrum->pairs, to = other->spectrum->omega[(size_t)pairs - 1];
  if (side->spectrum->pairs != other->spectrum->pairs || pairs < 2 || !(to > 0)) return NAN;
  return snapped(pow(isnan(now) ? to : to * now, -pairs / (pairs - 1)));
}

static void alter_train_length(maker *make) {
  static const struct {
    double times;
    const char *why;
  } shares[] = {{2, "twice as long"}, {4, "4 times as long"}, {0.5, "half as long"}, {0.25, "a quarter as long"}};
  double length = train_length_of(make->from), most = (double)make->from->model->max_length;
  double s = scale_of(make->from);
  const struct {
    double length;
    const char *why;
  } named[] = {{most, "max_length"}, {floor(most / s), "max_length / s"}, {floor(length * s), "train_length times s"}};
  for (size_t i = 0; i < RS_COUNT(named); i++)
    if (named[i].length != length) alter_number(make, "train_length", named[i].length, named[i].why);
  for (size_t i = 0; i < RS_COUNT(shares); i++)
    alter_number(make, "train_length", floor(length * shares[i].times), shares[i].why);
}

static void alter_layout(maker *make) {
  int own = make->from->spectrum->pair_layout, other = make->other->spectrum->pair_layout;
  if (own >= 0 && other >= 0 && own != other)
    alter(make, "pair_layout", other == RS_INTERLEAVED ? "interleaved" : "half_split", "the other side's");
}

static void alter_base(maker *make) {
  const rs_settings *settings = &make->from->recipe->settings;
  const rs_model *model = make->from->model;
  const rs_value *given = rs_setting(settings, "rope_theta"), *rotary = rs_setting(settings, "rotary_dim");
  double theta = given->set ? given->number : model->rope_theta;
  double dims = rotary->set ? rotary->number : (double)model->rotary_dim;
  double whole = (double)model->head_dim, other = 2 * (double)make->other->spectrum->pairs;
  if (theta != 10000) alter_number(make, "rope_theta", 10000, "what libraries fall back to");
  /* theta^(-2j/D) is the ladder of base theta^(R/D) over R. */
  if (dims != whole) alter_number(make, "rope_theta", pow(theta, dims / whole), "as exponents over head_dim make it");
  alter_number(make, "rope_theta", shown_base(make->from, make->other), "as the slowest pair shows");
  if (dims != other && other <= whole) alter_number(make, "rotary_dim", other, "as many pairs as the other side");
}

/* s fixed at another value: whatever the rule was, it goes. */
static void alter_scale_to(maker *make, double s, const char *why) {
  char text[RS_NUMBER_CHARS];
  double now = scale_of(make->from);
  if (!isfinite(s) || s <= 0 || s == now) return;
  rs_hypothesis *made = add(make, "factor");
  if (made == NULL) return;
  rs_number_format(s, text);
  snprintf(made->what, sizeof made->what, "with s = %s (%s; @ has %.6g)", text, why, now);
  change(made, "scale", NULL);
  change(made, "factor", text);
}

static void alter_scale(maker *make) {
  double length = train_length_of(make->from), s = scale_of(make->from);
  if (isnan(s)) return;
  if (make->other->recipe != NULL) alter_scale_to(make, scale_of(make->other), "the other side's");
  alter_scale_to(make, (double)make->from->length / length, "length / train_length");
  alter_scale_to(make, (double)make->from->model->max_length / length, "max_length / train_length");
  alter_scale_to(make, shown_scale(make->from, make->other), "as the slowest pair shows");
  alter_scale_to(make, s * s, "applied twice");
}

static void alter_length(maker *make) {
  double trained = train_length_of(make->from);
  const double lengths[] = {trained,
                            trained + 1,
                            (double)make->from->model->max_length,
                            (double)make->other->length,
                            floor((double)make->from->length / 2),
                            2 * (double)make->from->length};
  for (size_t i = 0; i < RS_COUNT(lengths); i++) {
    if (lengths[i] < 1 || lengths[i] == (double)make->from->length) continue;
    rs_hypothesis *made = add(make, "length");
    if (made == NULL) return;
    made->length = (size_t)lengths[i];
    snprintf(made->what, sizeof made->what, "at %zu tokens%s (@ is at %zu)", made->length,
             i == 0   ? ", the train_length"
             : i == 1 ? ", just beyond train_length"
                      : "",
             make->from->length);
  }
}

/* ---- methods and dialects ---------------------------------------------------------------------------------------- */

static void as_method(maker *make, const rs_method *method, double s) {
  char text[RS_NUMBER_CHARS], key[48];
  bool plain = !method->freq->scaled, pi = strcmp(method->freq->kind.name, "linear") == 0;
  snprintf(key, sizeof key, "method %.30s", method->name);
  rs_hypothesis *made = add(make, key);
  if (made == NULL) return;
  made->method = method;
  rs_number_format(s, text);
  if (plain) {
    snprintf(made->what, sizeof made->what, "without any scaling: plain RoPE (@ is %s)",
             make->from->recipe->method->name);
    return;
  }
  snprintf(made->what, sizeof made->what, "as %s with s = %.6g%s (@ is %s)", method->name, s,
           pi ? ": every frequency divided by s" : "", make->from->recipe->method->name);
  change(made, "scale", NULL);
  change(made, "factor", text);
}

/* Whether the method differs from another by its rule for s alone: with s given they are one. */
static bool repeats(const rs_method *method) {
  return method->defaults[0].name != NULL && strcmp(method->defaults[0].name, "scale") == 0 &&
         method->defaults[1].name == NULL;
}

/* Plain RoPE, and every method with a scale at the same s, or at the one that the other side shows. A method of the
 * same kinds is the same but for its defaults, which are tried one by one. */
static void alter_method(maker *make) {
  size_t count;
  const rs_method *methods = rs_methods(&count), *own = make->from->recipe->method;
  double s = scale_of(make->from), shown = shown_scale(make->from, make->other);
  for (size_t i = 0; i < count; i++) {
    bool plain = strcmp(methods[i].name, "rope") == 0, rotary = methods[i].freq != NULL;
    bool same = methods[i].freq == own->freq && methods[i].pos == own->pos;
    if (same || !rotary || repeats(&methods[i])) continue;
    if (plain || (methods[i].freq->scaled && !isnan(s))) as_method(make, &methods[i], s);
    if (methods[i].freq->scaled && shown > 1 && shown != s) as_method(make, &methods[i], shown);
  }
}

/* What the implementation has, whatever was given. */
static void alter_dialect(maker *make) {
  size_t count;
  const rs_dialect *dialects = rs_dialects(&count);
  for (size_t d = 0; d < count; d++) {
    char key[48];
    snprintf(key, sizeof key, "dialect %.30s", dialects[d].name);
    const rs_recipe *recipe = make->from->recipe;
    if (!rs_dialect_fits(&dialects[d], recipe->method) || dialects[d].settings[0].name == NULL) continue;
    if (!rs_dialect_holds(&dialects[d], &recipe->settings)) continue;
    rs_hypothesis *made = add(make, key);
    if (made == NULL) return;
    snprintf(made->what, sizeof made->what, "in dialect %s: %.150s", dialects[d].name, dialects[d].summary);
    for (size_t i = 0; i < RS_COUNT(dialects[d].settings) && dialects[d].settings[i].name != NULL; i++)
      change(made, dialects[d].settings[i].name, dialects[d].settings[i].value);
  }
}

/* DeepSeek's two, each alone and both left out, are beyond one parameter at a time. */
static void alter_mscale(maker *make) {
  const rs_settings *settings = &make->from->recipe->settings;
  if (!rs_setting(settings, "mscale")->set || !rs_setting(settings, "mscale_all_dim")->set) return;
  rs_hypothesis *made = add(make, "mscale and mscale_all_dim");
  if (made == NULL) return;
  snprintf(made->what, sizeof made->what, "without mscale and mscale_all_dim");
  change(made, "mscale", NULL);
  change(made, "mscale_all_dim", NULL);
  change(made, "mscale_softmax", "false");
}

size_t rs_hypotheses_list(const rs_compared *from, const rs_compared *other, rs_hypothesis *list) {
  maker make = {.from = from, .other = other, .list = list};
  lend_settings(&make);
  lend_model(&make);
  alter_train_length(&make);
  alter_layout(&make);
  alter_base(&make);
  alter_scale(&make);
  alter_mscale(&make);
  alter_each(&make);
  alter_dialect(&make);
  alter_method(&make);
  alter_length(&make);
  return make.count;
}

/* ---- trying ------------------------------------------------------------------------------------------------------ */

/* `method` with what every rotary method has as it was. */
static rs_status switch_method(rs_recipe *recipe, const rs_method *method, rs_err *err) {
  rs_recipe made = {0};
  RS_TRY(rs_recipe_init(&made, method, err));
  rs_status status = RS_OK;
  const rs_kind *rotary = &rs_rotary_stage, *common = &rs_common_stage;
  for (size_t i = 0; i < rotary->param_count + common->param_count && status == RS_OK; i++) {
    const char *name = i < rotary->param_count ? rotary->params[i].name : common->params[i - rotary->param_count].name;
    int from = rs_settings_find(&recipe->settings, name), to = rs_settings_find(&made.settings, name);
    if (from < 0 || to < 0 || strcmp(name, "dialect") == 0) continue;
    if (rs_method_presets(method, name) || rs_method_presets(recipe->method, name)) continue;
    rs_value_clear(&made.settings.values[to]);
    status = rs_value_copy(&made.settings.values[to], &recipe->settings.values[from], err);
  }
  rs_recipe_clear(recipe);
  *recipe = made;
  if (status != RS_OK) rs_recipe_clear(recipe);
  return status;
}

static rs_status apply_change(rs_recipe *recipe, const rs_change *made, rs_err *err) {
  int index = rs_settings_find(&recipe->settings, made->param);
  if (index < 0) return rs_fail(err, RS_INPUT, "no such parameter");
  if (made->value == NULL) return rs_recipe_preset(recipe, made->param, *made->text != '\0' ? made->text : NULL, err);
  rs_value_clear(&recipe->settings.values[index]);
  return rs_value_copy(&recipe->settings.values[index], made->value, err);
}

static rs_status apply(rs_recipe *recipe, const rs_hypothesis *hypothesis, rs_err *err) {
  if (hypothesis->method != NULL) RS_TRY(switch_method(recipe, hypothesis->method, err));
  for (size_t i = 0; i < hypothesis->count; i++) RS_TRY(apply_change(recipe, &hypothesis->changes[i], err));
  return RS_OK;
}

rs_status rs_hypotheses_try(const rs_compared *from, const rs_hypothesis *const *tried, size_t count,
                            rs_spectrum *spectrum, rs_err *err) {
  rs_recipe recipe = {0};
  rs_err why = {0};
  size_t length = from->length;
  *spectrum = (rs_spectrum){0};
  rs_status status = rs_recipe_copy(&recipe, from->recipe, &why);
  for (size_t i = 0; i < count && status == RS_OK; i++) {
    status = apply(&recipe, tried[i], &why);
    if (tried[i]->length > 0) length = tried[i]->length;
  }
  if (status == RS_OK) status = rs_recipe_check(&recipe, from->model, &why);
  if (status == RS_OK) status = rs_spectrum_make(&recipe, from->model, length, spectrum, &why);
  rs_recipe_clear(&recipe);
  return status == RS_MEMORY ? rs_fail(err, RS_MEMORY, "%s", why.message) : RS_OK;
}
