/* Parameter values checked against their specs. */
#include "base/base.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const rs_value unset_value = {.choice = RS_NO_WORD, .number = NAN};

int rs_param_word(const rs_param *param, const char *word) {
  for (size_t i = 0; i < param->word_count; i++)
    if (strcmp(param->words[i], word) == 0) return (int)i;
  return RS_NO_WORD;
}

static rs_status bad_word(const rs_param *param, const char *text, rs_err *err) {
  RS_OWNED(rs_text) list = {0};
  for (size_t i = 0; i < param->word_count; i++) rs_text_printf(&list, "%s%s", i > 0 ? ", " : "", param->words[i]);
  if (param->type != RS_CHOICE)
    rs_text_puts(&list, param->type == RS_REALS    ? ", or a list of numbers"
                        : param->type == RS_RECIPE ? ", or a method"
                                                   : ", or a number");
  const char *near = rs_suggest(text, param->words, param->word_count);
  return near != NULL ? rs_fail(err, RS_INPUT, "must be one of %s (did you mean %s?)", rs_text_string(&list), near)
                      : rs_fail(err, RS_INPUT, "must be one of %s", rs_text_string(&list));
}

static rs_status check_range(const rs_param *param, double number, rs_err *err) {
  if (number >= param->min && number <= param->max) return RS_OK;
  char least[RS_NUMBER_CHARS], most[RS_NUMBER_CHARS];
  rs_number_format(param->min, least);
  rs_number_format(param->max, most);
  if (isinf(param->max)) return rs_fail(err, RS_INPUT, "must be at least %s", least);
  return rs_fail(err, RS_INPUT, "must be from %s to %s", least, most);
}

static rs_status check_number(const rs_param *param, double number, rs_err *err) {
  bool whole = param->type == RS_INTEGER;
  if (whole && number != floor(number)) return rs_fail(err, RS_INPUT, "must be a whole number");
  if (whole && fabs(number) > 9007199254740992.0) return rs_fail(err, RS_INPUT, "is too large (at most 2^53)");
  return check_range(param, number, err);
}

/* "4k" -> 4096, "1M" -> 1048576: the field's own way to write token counts. */
static double suffix_factor(char *text) {
  size_t length = strlen(text);
  if (length < 2 || !isdigit((unsigned char)text[length - 2])) return 1;
  char last = text[length - 1];
  double factor = last == 'k' || last == 'K' ? 1024 : last == 'M' ? 1048576 : 1;
  if (factor > 1) text[length - 1] = '\0';
  return factor;
}

static rs_status parse_integer(const char *text, double *number, rs_err *err) {
  char digits[64];
  if (strlen(text) >= sizeof digits) return rs_fail(err, RS_INPUT, "must be a number");
  strncpy(digits, text, sizeof digits - 1);
  digits[sizeof digits - 1] = '\0';
  double factor = suffix_factor(digits);
  size_t length = strlen(digits);
  if (isdigit((unsigned char)digits[0]) && isalpha((unsigned char)digits[length - 1]))
    return rs_fail(err, RS_INPUT, "must be a number, as 8192, 8k or 1M (k: 1024, M: 1024k)");
  RS_TRY(rs_number_parse(digits, number, err));
  *number *= factor;
  return RS_OK;
}

static rs_status parse_bool(const char *text, double *number, rs_err *err) {
  bool yes = strcmp(text, "true") == 0;
  if (!yes && strcmp(text, "false") != 0) return rs_fail(err, RS_INPUT, "must be true or false");
  *number = yes;
  return RS_OK;
}

static rs_status parse_number(const rs_param *param, const char *text, double *number, rs_err *err) {
  RS_TRY(param->type == RS_INTEGER ? parse_integer(text, number, err) : rs_number_parse(text, number, err));
  return check_number(param, *number, err);
}

static rs_status parse_file(const rs_param *param, const char *text, rs_value *value, rs_err *err) {
  if (*text == '\0')
    return rs_fail(err, RS_INPUT, "must be the path of a %s", param->type == RS_FOLDER ? "folder" : "file");
  value->file = rs_strdup(text, err);
  if (value->file == NULL) return RS_MEMORY;
  value->set = true;
  return RS_OK;
}

static rs_status parse_name(const char *text, rs_value *value, rs_err *err) {
  if (*text == '\0') return rs_fail(err, RS_INPUT, "must be a name");
  value->name = rs_strdup(text, err);
  if (value->name == NULL) return RS_MEMORY;
  value->set = true;
  return RS_OK;
}

rs_status rs_value_parse(const rs_param *param, const char *text, rs_value *value, rs_err *err) {
  *value = unset_value;
  if (param->type == RS_FILE || param->type == RS_FOLDER) return parse_file(param, text, value, err);
  if (param->type == RS_NAME) return parse_name(text, value, err);
  int choice = rs_param_word(param, text);
  double number = NAN;
  bool wordlike =
      param->type == RS_CHOICE || param->type == RS_RECIPE || (param->words != NULL && isalpha((unsigned char)*text));
  if (choice < 0 && wordlike) return bad_word(param, text, err);
  if (choice < 0 && param->single) {
    RS_TRY(parse_number(param, text, &number, err));
    return rs_value_list(param, &number, 1, value, err);
  }
  if (choice < 0 && param->type == RS_REALS) return rs_fail(err, RS_INPUT, "must be a list of numbers, like [1, 2]");
  if (choice < 0 && param->type == RS_BOOL) RS_TRY(parse_bool(text, &number, err));
  if (choice < 0 && (param->type == RS_REAL || param->type == RS_INTEGER))
    RS_TRY(parse_number(param, text, &number, err));
  value->choice = choice;
  value->number = number;
  value->set = true;
  return RS_OK;
}

rs_status rs_value_number(const rs_param *param, double number, rs_value *value, rs_err *err) {
  *value = unset_value;
  if (isnan(number)) return rs_fail(err, RS_INPUT, "is not a number (NaN is never accepted)");
  if (isinf(number)) return rs_fail(err, RS_INPUT, "is not finite");
  RS_TRY(check_number(param, number, err));
  value->number = number == 0 ? 0 : number; /* one zero */
  value->set = true;
  return RS_OK;
}

rs_status rs_value_list(const rs_param *param, const double *list, size_t count, rs_value *value, rs_err *err) {
  *value = unset_value;
  if (param->type != RS_REALS) return rs_fail(err, RS_INPUT, "takes one value, not a list");
  if (count == 0) return rs_fail(err, RS_INPUT, "is an empty list");
  for (size_t i = 0; i < count; i++) RS_TRY(check_range(param, list[i], err));
  value->list = rs_alloc(count, sizeof *list, err);
  if (value->list == NULL) return RS_MEMORY;
  memcpy(value->list, list, count * sizeof *list);
  value->count = count;
  value->set = true;
  return RS_OK;
}

static void list_write(const rs_value *value, rs_text *text) {
  for (size_t i = 0; i < value->count; i++) {
    rs_text_puts(text, i > 0 ? ", " : "[");
    rs_text_number(text, value->list[i]);
  }
  rs_text_puts(text, "]");
}

bool rs_value_is_file(const rs_param *param, const rs_value *value) {
  bool path = param->type == RS_FILE || param->type == RS_FOLDER;
  return value->file != NULL && (path || value->count > RS_INLINE_NUMBERS);
}

void rs_value_write(const rs_param *param, const rs_value *value, rs_text *text) {
  if (!value->set)
    rs_text_puts(text, "none");
  else if (value->choice >= 0)
    rs_text_puts(text, param->words[value->choice]);
  else if (param->type == RS_BOOL)
    rs_text_puts(text, value->number != 0 ? "true" : "false");
  else if (rs_value_is_file(param, value))
    rs_text_quote(text, value->file);
  else if (param->type == RS_NAME)
    rs_text_puts(text, value->name);
  else if (param->type == RS_RECIPE)
    rs_entry_write(value->name, value->inner, text);
  else if (param->type == RS_REALS)
    list_write(value, text);
  else
    rs_text_number(text, value->number);
}

void rs_settings_write(const rs_settings *settings, bool all, rs_text *text) {
  for (size_t p = 0; p < settings->count; p++) {
    const rs_value *value = &settings->values[p];
    if (!value->set || !((all && !settings->params[p]->later) || value->given)) continue;
    rs_text_printf(text, ", %s: ", settings->params[p]->name);
    if (settings->params[p]->type == RS_NAME)
      rs_text_quote(text, value->name);
    else
      rs_value_write(settings->params[p], value, text);
  }
}

void rs_entry_write(const char *name, const rs_settings *settings, rs_text *text) {
  rs_text_printf(text, "{name: %s", name);
  rs_settings_write(settings, false, text);
  rs_text_puts(text, "}");
}

bool rs_value_usual(const rs_param *param, const rs_value *value) {
  RS_OWNED(rs_value) usual = unset_value;
  return (param->fallback == NULL || rs_value_parse(param, param->fallback, &usual, NULL) == RS_OK) &&
         rs_value_same(value, &usual);
}

static bool same_recipe(const rs_value *a, const rs_value *b) {
  bool same = strcmp(a->name, b->name) == 0 && a->inner->count == b->inner->count;
  for (size_t i = 0; same && i < a->inner->count; i++) same = rs_value_same(&a->inner->values[i], &b->inner->values[i]);
  return same;
}

bool rs_value_same(const rs_value *a, const rs_value *b) {
  if (a->set != b->set) return false;
  if (!a->set) return true;
  if (a->choice != b->choice || a->count != b->count) return false;
  if (a->choice >= 0) return true;
  if (a->inner != NULL || b->inner != NULL) return a->inner != NULL && b->inner != NULL && same_recipe(a, b);
  return a->count > 0 ? memcmp(a->list, b->list, a->count * sizeof *a->list) == 0 : a->number == b->number;
}

void rs_value_clear(rs_value *value) {
  free(value->list);
  free(value->file);
  free(value->name);
  if (value->inner != NULL) rs_settings_clear(value->inner);
  free(value->inner);
  *value = unset_value;
}

rs_status rs_value_copy(rs_value *copy, const rs_value *from, rs_err *err) {
  *copy = *from;
  copy->list = NULL;
  copy->file = NULL;
  copy->name = NULL;
  copy->inner = NULL;
  if (from->inner != NULL) return rs_value_recipe(from->name, from->inner, copy, err);
  if (from->list != NULL) copy->list = rs_alloc(from->count, sizeof *copy->list, err);
  if (from->file != NULL) copy->file = rs_strdup(from->file, err);
  if (from->name != NULL) copy->name = rs_strdup(from->name, err);
  if ((from->list != NULL && copy->list == NULL) || (from->file != NULL && copy->file == NULL) ||
      (from->name != NULL && copy->name == NULL)) {
    rs_value_clear(copy);
    return RS_MEMORY;
  }
  if (from->list != NULL) memcpy(copy->list, from->list, from->count * sizeof *copy->list);
  return RS_OK;
}

rs_status rs_value_recipe(const char *method, const rs_settings *settings, rs_value *value, rs_err *err) {
  bool given = value->given;
  *value = (rs_value){.set = true, .given = given, .choice = RS_NO_WORD, .number = NAN};
  value->name = rs_strdup(method, err);
  value->inner = rs_alloc(1, sizeof *value->inner, err);
  if (value->name != NULL && value->inner != NULL && rs_settings_copy(value->inner, settings, err) == RS_OK)
    return RS_OK;
  rs_value_clear(value);
  return RS_MEMORY;
}

/* Room for `count` parameters, all unset. */
static rs_status make_room(rs_settings *settings, size_t count, rs_err *err) {
  *settings = (rs_settings){0};
  settings->params = rs_alloc(count, sizeof *settings->params, err);
  settings->values = rs_alloc(count, sizeof *settings->values, err);
  if (settings->params == NULL || settings->values == NULL) {
    rs_settings_clear(settings);
    return RS_MEMORY;
  }
  settings->count = count;
  for (size_t i = 0; i < count; i++) settings->values[i] = unset_value;
  return RS_OK;
}

static rs_status fill_defaults(rs_settings *settings, rs_err *err) {
  for (size_t i = 0; i < settings->count; i++) {
    const rs_param *param = settings->params[i];
    rs_err why = {0};
    if (param->fallback == NULL || rs_value_parse(param, param->fallback, &settings->values[i], &why) == RS_OK)
      continue;
    rs_settings_clear(settings);
    return why.status == RS_MEMORY ? rs_fail(err, RS_MEMORY, "%s", why.message)
                                   : rs_fail(err, RS_INTERNAL, "default of %s: %s", param->name, why.message);
  }
  return RS_OK;
}

rs_status rs_settings_init(rs_settings *settings, const rs_param *const *params, size_t count, rs_err *err) {
  RS_TRY(make_room(settings, count, err));
  for (size_t i = 0; i < count; i++) settings->params[i] = params[i];
  return fill_defaults(settings, err);
}

rs_status rs_settings_init_specs(rs_settings *settings, const rs_param *specs, size_t count, rs_err *err) {
  RS_TRY(make_room(settings, count, err));
  for (size_t i = 0; i < count; i++) settings->params[i] = &specs[i];
  return fill_defaults(settings, err);
}

rs_status rs_settings_copy(rs_settings *copy, const rs_settings *from, rs_err *err) {
  RS_TRY(make_room(copy, from->count, err));
  for (size_t i = 0; i < from->count; i++) copy->params[i] = from->params[i];
  for (size_t i = 0; i < from->count; i++)
    if (rs_value_copy(&copy->values[i], &from->values[i], err) != RS_OK) {
      rs_settings_clear(copy);
      return RS_MEMORY;
    }
  return RS_OK;
}

void rs_settings_clear(rs_settings *settings) {
  for (size_t i = 0; i < settings->count; i++) rs_value_clear(&settings->values[i]);
  free(settings->values);
  free(settings->params);
  *settings = (rs_settings){0};
}

int rs_settings_find(const rs_settings *settings, const char *name) {
  for (size_t i = 0; i < settings->count; i++)
    if (strcmp(settings->params[i]->name, name) == 0) return (int)i;
  return -1;
}

const rs_value *rs_setting(const rs_settings *settings, const char *name) {
  int index = rs_settings_find(settings, name);
  return index >= 0 ? &settings->values[index] : &unset_value;
}
