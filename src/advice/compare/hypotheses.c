/* What is done to a recipe in practice, by mistake or by another implementation: each parameter with another value, as
 * another method or dialect, at another length. Made from the specs, so that a new parameter is tried as soon as it is
 * there. */
#include "compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef rs_hypothesis_maker maker;

/* ---- one parameter ----------------------------------------------------------------------------------------------- */

/* Whether the other recipe has another value of parameter p; both as text. */
static bool lends(maker *make, size_t p, char mine[64], char lent[64]) {
  const rs_recipe *from = make->from->recipe, *other = make->other->recipe;
  const rs_param *param = from->settings.params[p];
  const rs_value *a = &from->settings.values[p], *b = &other->settings.values[p];
  if (strcmp(param->name, "dialect") == 0) return false; /* in effect already, as other parameters */
  rs_compared_own(make, make->from, p, mine, 64);
  rs_compared_own(make, make->other, p, lent, 64);
  if (strcmp(mine, lent) != 0) return true;
  return a->count > 0 && a->count == b->count && memcmp(a->list, b->list, a->count * sizeof *a->list) != 0;
}

/* What the other recipe of the same method has, one by one and all together. */
static void lend_settings(maker *make) {
  const rs_recipe *mine = make->from->recipe, *lent = make->other->recipe;
  rs_hypothesis all = {.key = "settings", .what = "with the other side's"};
  char old[64], new[64];
  for (size_t p = 0; lent != NULL && lent->method == mine->method && p < mine->settings.count; p++) {
    const char *name = mine->settings.params[p]->name;
    if (!lends(make, p, old, new)) continue;
    rs_hypothesis *hypothesis =
        rs_hypothesis_add(make, name, "with %s: %s (@ has %s)", name, new, strcmp(old, new) == 0 ? "another" : old);
    if (hypothesis == NULL) return;
    rs_hypothesis_change(hypothesis, name, NULL);
    hypothesis->changes[0].value = &lent->settings.values[p];
    size_t length = strlen(all.what);
    snprintf(all.what + length, sizeof all.what - length, "%s %s", all.count > 0 ? "," : "", name);
    if (all.count < RS_CHANGES) all.changes[all.count++] = hypothesis->changes[0];
  }
  rs_hypothesis *together = all.count > 1 ? rs_hypothesis_add(make, all.key, "%s", all.what) : NULL;
  if (together != NULL) *together = all;
}

/* What the other model has where the recipe reads the model's. */
static void lend_model(maker *make) {
  const rs_model *mine = make->from->model, *lent = make->other->model;
  if (lent == NULL) return;
  if (mine->train_length != lent->train_length)
    rs_hypothesis_number(make, "train_length", (double)lent->train_length, "the other model's");
  if (mine->axis_layout != lent->axis_layout)
    rs_hypothesis_alter(make, "mrope_layout", rs_axis_layout_words[lent->axis_layout], "the other model's");
  if (mine->rope_theta != lent->rope_theta)
    rs_hypothesis_number(make, "rope_theta", lent->rope_theta, "the other model's");
}

/* Every other word. */
static void alter_words(maker *make, const rs_param *param) {
  for (size_t i = 0; i < param->word_count; i++) rs_hypothesis_alter(make, param->name, param->words[i], "");
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
    if (param->type == RS_BOOL && value->set)
      rs_hypothesis_alter(make, param->name, value->number == 1 ? "false" : "true", "");
    if (param->type == RS_CHOICE && value->set) alter_words(make, param);
    if (param->type == RS_CHOICE || param->type == RS_BOOL || !value->set) continue;
    if (param->words != NULL) alter_words(make, param);
    rs_hypothesis_alter(make, param->name, param->fallback, "the default");
  }
}

void rs_hypotheses_settings(rs_hypothesis_maker *make) {
  lend_settings(make);
  alter_each(make);
}

/* ---- lengths, base, scale ---------------------------------------------------------------------------------------- */

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
  const rs_spectrum *mine = side->spectrum, *shown = other->spectrum;
  double now = rs_compared_scale(side), last = mine->omega[mine->pairs - 1], to = shown->omega[shown->pairs - 1];
  if (mine->pairs != shown->pairs || !(last > 0) || !(to > 0)) return NAN;
  return snapped((isnan(now) ? 1 : now) * last / to);
}

/* The base that the slowest pair shows, if s divides it as it does here. */
static double shown_base(const rs_compared *side, const rs_compared *other) {
  double now = rs_compared_scale(side), pairs = (double)other->spectrum->pairs,
         to = other->spectrum->omega[(size_t)pairs - 1];
  if (side->spectrum->pairs != other->spectrum->pairs || pairs < 2 || !(to > 0)) return NAN;
  return snapped(pow(isnan(now) ? to : to * now, -pairs / (pairs - 1)));
}

static void alter_train_length(maker *make) {
  double length = rs_compared_train_length(make->from), most = (double)make->from->model->max_length;
  double s = rs_compared_scale(make->from);
  const struct {
    double length;
    const char *why;
  } tried[] = {{most, "max_length"},
               {floor(most / s), "max_length / s"},
               {floor(length * s), "train_length times s"},
               {2 * length, "twice as long"},
               {4 * length, "4 times as long"},
               {floor(length / 2), "half as long"},
               {floor(length / 4), "a quarter as long"}};
  for (size_t i = 0; i < RS_COUNT(tried); i++)
    if (tried[i].length != length) rs_hypothesis_number(make, "train_length", tried[i].length, tried[i].why);
}

static void alter_layout(maker *make) {
  int mine = make->from->spectrum->pair_layout, other = make->other->spectrum->pair_layout;
  if (mine >= 0 && other >= 0 && mine != other)
    rs_hypothesis_alter(make, "pair_layout", other == RS_INTERLEAVED ? "interleaved" : "half_split",
                        "the other side's");
}

static void alter_base(maker *make) {
  const rs_value *rotary = rs_setting(&make->from->recipe->settings, "rotary_dim");
  const rs_model *model = make->from->model;
  double theta = rs_compared_theta(make->from), dims = rotary->set ? rotary->number : (double)model->rotary_dim;
  double whole = (double)model->head_dim, other = 2 * (double)make->other->spectrum->pairs;
  if (theta != 10000) rs_hypothesis_number(make, "rope_theta", 10000, "what libraries fall back to");
  /* theta^(-2j/D) is the ladder of base theta^(R/D) over R. */
  if (dims != whole)
    rs_hypothesis_number(make, "rope_theta", pow(theta, dims / whole), "as exponents over head_dim make it");
  rs_hypothesis_number(make, "rope_theta", shown_base(make->from, make->other), "as the slowest pair shows");
  if (dims != other && other <= whole)
    rs_hypothesis_number(make, "rotary_dim", other, "as many pairs as the other side");
}

/* s fixed at another value: whatever the rule was, it goes. */
static void alter_scale_to(maker *make, double s, const char *why) {
  char text[RS_NUMBER_CHARS];
  double now = rs_compared_scale(make->from);
  if (!isfinite(s) || s <= 0 || s == now) return;
  rs_number_format(s, text);
  rs_hypothesis *hypothesis = rs_hypothesis_add(make, "factor", "with s = %s (%s; @ has %.6g)", text, why, now);
  rs_hypothesis_change(hypothesis, "scale", NULL);
  rs_hypothesis_change(hypothesis, "factor", text);
}

static void alter_scale(maker *make) {
  double length = rs_compared_train_length(make->from), s = rs_compared_scale(make->from);
  if (isnan(s)) return;
  if (make->other->recipe != NULL) alter_scale_to(make, rs_compared_scale(make->other), "the other side's");
  alter_scale_to(make, (double)make->from->length / length, "length / train_length");
  alter_scale_to(make, (double)make->from->model->max_length / length, "max_length / train_length");
  alter_scale_to(make, shown_scale(make->from, make->other), "as the slowest pair shows");
  alter_scale_to(make, s * s, "applied twice");
}

static void alter_length(maker *make) {
  double trained = rs_compared_train_length(make->from);
  const double lengths[] = {trained,
                            trained + 1,
                            (double)make->from->model->max_length,
                            (double)make->other->length,
                            floor((double)make->from->length / 2),
                            2 * (double)make->from->length};
  for (size_t i = 0; i < RS_COUNT(lengths); i++) {
    if (lengths[i] < 1 || lengths[i] == (double)make->from->length) continue;
    rs_hypothesis *hypothesis = rs_hypothesis_add(make, "length", "at %zu tokens%s (@ is at %zu)", (size_t)lengths[i],
                                                  i == 0   ? ", the train_length"
                                                  : i == 1 ? ", just beyond train_length"
                                                           : "",
                                                  make->from->length);
    if (hypothesis == NULL) return;
    hypothesis->length = (size_t)lengths[i];
  }
}

/* ---- methods and dialects ---------------------------------------------------------------------------------------- */

static void as_method(maker *make, const rs_method *method, double s) {
  const char *mine = make->from->recipe->method->name;
  char text[RS_NUMBER_CHARS], key[48];
  bool plain = !method->freq->scaled, pi = strcmp(method->freq->kind.name, "linear") == 0;
  snprintf(key, sizeof key, "method %.30s", method->name);
  rs_number_format(s, text);
  rs_hypothesis *hypothesis = plain ? rs_hypothesis_add(make, key, "without any scaling: plain RoPE (@ is %s)", mine)
                                    : rs_hypothesis_add(make, key, "as %s with s = %.6g%s (@ is %s)", method->name, s,
                                                        pi ? ": every frequency divided by s" : "", mine);
  if (hypothesis == NULL) return;
  hypothesis->method = method;
  if (plain) return;
  rs_hypothesis_change(hypothesis, "scale", NULL);
  rs_hypothesis_change(hypothesis, "factor", text);
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
  const rs_method *methods = rs_methods(&count), *mine = make->from->recipe->method;
  double s = rs_compared_scale(make->from), shown = shown_scale(make->from, make->other);
  for (size_t i = 0; i < count; i++) {
    bool plain = strcmp(methods[i].name, "rope") == 0, rotary = methods[i].freq != NULL;
    bool same = methods[i].freq == mine->freq && methods[i].pos == mine->pos;
    if (same || !rotary || repeats(&methods[i])) continue;
    if (plain || (methods[i].freq->scaled && !isnan(s))) as_method(make, &methods[i], s);
    if (methods[i].freq->scaled && shown > 1 && shown != s) as_method(make, &methods[i], shown);
  }
}

/* What the implementation has, whatever was given. */
void rs_hypotheses_dialects(rs_hypothesis_maker *make) {
  size_t count;
  const rs_dialect *dialects = rs_dialects(&count);
  const rs_recipe *recipe = make->from->recipe;
  for (const rs_dialect *d = dialects; d < dialects + count; d++) {
    char key[48];
    snprintf(key, sizeof key, "dialect %.30s", d->name);
    if (!rs_dialect_fits(d, recipe->method) || d->settings[0].name == NULL) continue;
    if (!rs_dialect_holds(d, &recipe->settings)) continue;
    rs_hypothesis *hypothesis = rs_hypothesis_add(make, key, "in dialect %s: %.150s", d->name, d->summary);
    for (size_t i = 0; i < RS_COUNT(d->settings) && d->settings[i].name != NULL; i++)
      rs_hypothesis_change(hypothesis, d->settings[i].name, d->settings[i].value);
  }
}

rs_status rs_hypotheses_list(const rs_compared *from, const rs_compared *other, rs_hypothesis *list, size_t *count,
                             rs_err *err) {
  maker make = {.from = from, .other = other, .list = list};
  lend_settings(&make);
  lend_model(&make);
  alter_train_length(&make);
  alter_layout(&make);
  rs_hypotheses_mishaps(&make); /* what has a name goes before numbers that fit */
  alter_base(&make);
  alter_scale(&make);
  alter_each(&make);
  rs_hypotheses_factors(&make);
  rs_hypotheses_dialects(&make);
  alter_method(&make);
  alter_length(&make);
  *count = make.count;
  return make.starved ? rs_fail(err, RS_MEMORY, "out of memory for text") : RS_OK;
}

/* ---- work -------------------------------------------------------------------------------------------------------- */

/* DPRoPE counts the angles of every position of both lengths. */
static double counted_positions(const rs_compared *from, const rs_method *method, double s) {
  double length = rs_compared_train_length(from);
  if (method->freq == NULL || strcmp(method->freq->kind.name, "dprope") != 0) return 0;
  return isnan(s) ? length : length * (1 + 2 * s);
}

double rs_hypotheses_work(const rs_compared *from, const rs_hypothesis *const *tried, size_t count) {
  static const double recipe = 15e3, power = 300, position = 2;
  const rs_method *method = from->recipe->method;
  double s = rs_compared_scale(from), given;
  for (size_t i = 0; i < count; i++) {
    if (tried[i]->method != NULL) method = tried[i]->method;
    for (size_t c = 0; c < tried[i]->count; c++)
      if (strcmp(tried[i]->changes[c].param, "factor") == 0 && rs_number_read(tried[i]->changes[c].text, &given))
        s = given;
  }
  return recipe + (double)from->spectrum->pairs * (power + position * counted_positions(from, method, s));
}

/* ---- trying ------------------------------------------------------------------------------------------------------ */

/* `method` with what every rotary method has as it was. */
static rs_status switch_method(rs_recipe *recipe, const rs_method *method, rs_err *err) {
  rs_recipe hypothesis = {0};
  RS_TRY(rs_recipe_init(&hypothesis, method, err));
  rs_status status = RS_OK;
  const rs_kind *rotary = &rs_rotary_stage, *common = &rs_common_stage;
  for (size_t i = 0; i < rotary->param_count + common->param_count && status == RS_OK; i++) {
    const char *name = i < rotary->param_count ? rotary->params[i].name : common->params[i - rotary->param_count].name;
    int from = rs_settings_find(&recipe->settings, name), to = rs_settings_find(&hypothesis.settings, name);
    if (from < 0 || to < 0 || strcmp(name, "dialect") == 0) continue;
    if (rs_method_presets(method, name) || rs_method_presets(recipe->method, name)) continue;
    rs_value_clear(&hypothesis.settings.values[to]);
    status = rs_value_copy(&hypothesis.settings.values[to], &recipe->settings.values[from], err);
  }
  rs_recipe_clear(recipe);
  *recipe = hypothesis;
  if (status != RS_OK) rs_recipe_clear(recipe);
  return status;
}

/* "16,24,24". */
static rs_status set_list(rs_recipe *recipe, int index, const char *text, rs_err *err) {
  double list[RS_AXES];
  size_t count = 0;
  for (char *end; count < RS_COUNT(list); text = end + (*end == ',')) {
    list[count] = strtod(text, &end);
    if (end == text) break;
    count++;
  }
  rs_value_clear(&recipe->settings.values[index]);
  return rs_value_list(recipe->settings.params[index], list, count, &recipe->settings.values[index], err);
}

static rs_status apply_change(rs_recipe *recipe, const rs_change *hypothesis, rs_err *err) {
  int index = rs_settings_find(&recipe->settings, hypothesis->param);
  if (index < 0) return rs_fail(err, RS_INPUT, "no such parameter");
  if (hypothesis->value == NULL && strchr(hypothesis->text, ',') != NULL)
    return set_list(recipe, index, hypothesis->text, err);
  if (hypothesis->value == NULL)
    return rs_recipe_preset(recipe, hypothesis->param, *hypothesis->text != '\0' ? hypothesis->text : NULL, err);
  rs_value_clear(&recipe->settings.values[index]);
  return rs_value_copy(&recipe->settings.values[index], hypothesis->value, err);
}

static rs_status apply(rs_recipe *recipe, const rs_hypothesis *hypothesis, rs_err *err) {
  if (hypothesis->method != NULL) RS_TRY(switch_method(recipe, hypothesis->method, err));
  for (size_t i = 0; i < hypothesis->count; i++) RS_TRY(apply_change(recipe, &hypothesis->changes[i], err));
  return RS_OK;
}

rs_status rs_hypotheses_apply(const rs_compared *from, const rs_hypothesis *const *tried, size_t count,
                              rs_recipe *recipe, size_t *length, rs_err *err) {
  *length = from->length;
  RS_TRY(rs_recipe_copy(recipe, from->recipe, err));
  for (size_t i = 0; i < count; i++) {
    RS_TRY(apply(recipe, tried[i], err));
    if (tried[i]->length > 0) *length = tried[i]->length;
  }
  return rs_recipe_check(recipe, from->model, err);
}

rs_status rs_hypotheses_try(const rs_compared *from, const rs_hypothesis *const *tried, size_t count,
                            rs_spectrum *spectrum, rs_err *err) {
  RS_OWNED(rs_recipe) recipe = {0};
  rs_err why = {0};
  size_t length;
  *spectrum = (rs_spectrum){0};
  rs_status status = rs_hypotheses_apply(from, tried, count, &recipe, &length, &why);
  if (status == RS_OK) status = rs_spectrum_make(&recipe, from->model, length, spectrum, &why);
  return status == RS_MEMORY ? rs_fail(err, RS_MEMORY, "%s", why.message) : RS_OK;
}
