/* Changes of a recipe in words: "with truncate: true (A has false)"; and what a side has. */
#include "compare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

double rs_compared_train_length(const rs_compared *side) {
  const rs_value *given = rs_setting(&side->recipe->settings, "train_length");
  return given->set ? given->number : (double)side->model->train_length;
}

double rs_compared_scale(const rs_compared *side) {
  if (!rs_method_scaled(side->recipe->method)) return NAN;
  return rs_scale_resolve(&side->recipe->settings, (double)side->length, rs_compared_train_length(side));
}

double rs_compared_theta(const rs_compared *side) {
  const rs_value *theta = rs_setting(&side->recipe->settings, "rope_theta");
  return theta->set ? theta->number : side->model->rope_theta;
}

double rs_ramp_pair(const rs_compared *side, double rotations) {
  double length = rs_compared_train_length(side);
  return (double)side->spectrum->pairs * log(length / (2 * M_PI * rotations)) / log(rs_compared_theta(side));
}

rs_hypothesis *rs_hypothesis_add(rs_hypothesis_maker *make, const char *key) {
  if (make->count == RS_HYPOTHESES) return NULL;
  rs_hypothesis *hypothesis = &make->list[make->count++];
  *hypothesis = (rs_hypothesis){0};
  snprintf(hypothesis->key, sizeof hypothesis->key, "%s", key);
  return hypothesis;
}

void rs_hypothesis_change(rs_hypothesis *hypothesis, const char *param, const char *text) {
  if (hypothesis == NULL || hypothesis->count == RS_CHANGES) return;
  rs_change *added = &hypothesis->changes[hypothesis->count++];
  added->param = param;
  snprintf(added->text, sizeof added->text, "%s", text != NULL ? text : "");
}

/* A value as a message has it: long lists by their length. */
static void describe(rs_hypothesis_maker *make, const rs_param *param, const rs_value *value, char *out, size_t size) {
  rs_text text = {0};
  if (value->count > 4)
    rs_text_printf(&text, "a list of %zu", value->count);
  else
    rs_value_write(param, value, &text);
  snprintf(out, size, "%s", rs_text_string(&text));
  make->starved |= text.failed;
  rs_text_clear(&text);
}

void rs_compared_own(rs_hypothesis_maker *make, const rs_compared *side, size_t index, char *out, size_t size) {
  const rs_settings *settings = &side->recipe->settings;
  const rs_model *model = side->model;
  const char *name = settings->params[index]->name;
  describe(make, settings->params[index], &settings->values[index], out, size);
  if (settings->values[index].set) return;
  if (strcmp(name, "train_length") == 0) snprintf(out, size, "%zu", model->train_length);
  if (strcmp(name, "rotary_dim") == 0) snprintf(out, size, "%zu", model->rotary_dim);
  if (strcmp(name, "rope_theta") == 0) snprintf(out, size, "%.15g", model->rope_theta);
  if (strcmp(name, "pair_layout") == 0)
    snprintf(out, size, "%s", model->pair_layout == RS_INTERLEAVED ? "interleaved" : "half_split");
}

/* "with name: new (why; A has old)". */
rs_hypothesis *rs_hypothesis_alter(rs_hypothesis_maker *make, const char *name, const char *text, const char *why) {
  int index = rs_settings_find(&make->from->recipe->settings, name);
  char old[64];
  if (index < 0) return NULL;
  rs_compared_own(make, make->from, (size_t)index, old, sizeof old);
  if (strcmp(old, text != NULL ? text : "none") == 0) return NULL;
  rs_hypothesis *hypothesis = rs_hypothesis_add(make, name);
  if (hypothesis == NULL) return NULL;
  snprintf(hypothesis->what, sizeof hypothesis->what, "with %s: %.60s (%s%s@ has %s)", name,
           text != NULL ? text : "none", why, *why != '\0' ? "; " : "", old);
  rs_hypothesis_change(hypothesis, name, text);
  return hypothesis;
}

void rs_hypothesis_number(rs_hypothesis_maker *make, const char *name, double number, const char *why) {
  char text[RS_NUMBER_CHARS];
  rs_number_format(number, text);
  if (isfinite(number)) rs_hypothesis_alter(make, name, text, why);
}
