/* ropescope list: what there is. Everything printed comes from the specs that also check configs. */
#include "list.h"

#include <string.h>

typedef struct list {
  const char *name;
  const char *(*name_at)(size_t i); /* of entry `i`; NULL past the last */
  void (*lead)(rs_text *text);      /* before a whole list; may be NULL */
  void (*put)(rs_text *text, size_t i);
  void (*write)(rs_json *json, size_t i);
} list;

static const char *method_name(size_t i) {
  size_t count;
  const rs_method *methods = rs_methods(&count);
  return i < count ? methods[i].name : NULL;
}

static const char *kind_name(size_t i) {
  staged_kind staged = list_kind_at(i);
  return staged.kind != NULL ? staged.kind->name : NULL;
}

static const char *source_name(size_t i) {
  size_t count;
  const rs_source_kind *const *kinds = rs_source_kinds(&count);
  return i < count ? kinds[i]->kind.name : NULL;
}

static const char *task_name(size_t i) {
  size_t count;
  const rs_task_kind *const *kinds = rs_task_kinds(&count);
  return i < count ? kinds[i]->kind.name : NULL;
}

static const char *part_name(size_t i) {
  const checkpoint_part *part = list_part_at(i);
  return part != NULL ? part->name : NULL;
}

static const char *metric_name(size_t i) {
  size_t count;
  const rs_metric_kind *const *kinds = rs_metric_kinds(&count);
  return i < count ? kinds[i]->kind.name : NULL;
}

static const char *model_name(size_t i) {
  size_t count;
  const rs_preset *presets = rs_presets(&count);
  return i < count ? presets[i].name : NULL;
}

static const char *dialect_name(size_t i) {
  size_t count;
  const rs_dialect *dialects = rs_dialects(&count);
  return i < count ? dialects[i].name : NULL;
}

static const char *architecture_name(size_t i) {
  const rs_architecture_entry *entry = rs_architectures(i);
  return entry != NULL ? entry->model_type : NULL;
}

static const char *finding_name(size_t i) {
  return rs_rules(i) != NULL ? rs_rules(i)->code : NULL;
}

static const char *engine_name(size_t i) {
  return rs_config_engines(i) != NULL ? rs_config_engines(i)->name : NULL;
}

enum { METHODS, KINDS, SOURCES, TASKS, CHECKPOINT, METRICS, MODELS, ARCHITECTURES, DIALECTS, FINDINGS, ENGINES, LISTS };

static const list lists[LISTS] = {
    [METHODS] = {"methods", method_name, list_methods_lead, list_put_method, list_write_method},
    [KINDS] = {"kinds", kind_name, NULL, list_put_kind, list_write_kind},
    [SOURCES] = {"sources", source_name, NULL, list_put_source, list_write_source},
    [TASKS] = {"tasks", task_name, NULL, list_put_task, list_write_task},
    [CHECKPOINT] = {"checkpoint", part_name, NULL, list_put_part, list_write_part},
    [METRICS] = {"metrics", metric_name, NULL, list_put_metric, list_write_metric},
    [MODELS] = {"models", model_name, list_models_lead, list_put_model, list_write_model},
    [ARCHITECTURES] = {"architectures", architecture_name, NULL, list_put_architecture, list_write_architecture},
    [DIALECTS] = {"dialects", dialect_name, NULL, list_put_dialect, list_write_dialect},
    [FINDINGS] = {"findings", finding_name, NULL, list_put_finding, list_write_finding},
    [ENGINES] = {"engines", engine_name, NULL, list_put_engine, list_write_engine},
};

const char *cli_list_name(const char *name, size_t index) {
  if (*name == '\0') return index < LISTS ? lists[index].name : NULL;
  for (size_t l = 0; l < LISTS; l++)
    if (strcmp(lists[l].name, name) == 0) return lists[l].name_at(index);
  return NULL;
}

/* What is asked for: these lists, and of these all entries or those called `name`. */
typedef struct question {
  bool asked[LISTS];
  const char *name; /* NULL: all */
} question;

/* ---- what is asked for ------------------------------------------------------------------------------------------- */

static bool is_asked(const question *q, size_t l, size_t i) {
  return q->asked[l] && (q->name == NULL || strcmp(lists[l].name_at(i), q->name) == 0);
}

static bool has_entry(size_t l, const char *name) {
  const char *other;
  for (size_t i = 0; (other = lists[l].name_at(i)) != NULL; i++)
    if (strcmp(other, name) == 0) return true;
  return false;
}

/* Says what may have been meant by a name that is not in list `searched`, or in none (LISTS): an entry, or a list. */
static int unknown(const question *q, const char *word, size_t searched) {
  rs_nearest nearest = {.word = word};
  const char *other;
  for (size_t l = 0; l < LISTS; l++) {
    if (searched == LISTS) rs_nearest_add(&nearest, lists[l].name);
    for (size_t i = 0; q->asked[l] && (other = lists[l].name_at(i)) != NULL; i++) rs_nearest_add(&nearest, other);
  }
  const char *near = rs_nearest_found(&nearest), *alias = rs_hf_method(word);
  if (alias == NULL && near == NULL && searched < LISTS) {
    cli_error("nothing in %s is called %s (ropescope list %s shows them)", lists[searched].name, word,
              lists[searched].name);
    return CLI_USAGE;
  }
  if (alias != NULL)
    cli_error("nothing is called %s (Hugging Face's %s is %s here)", word, word, alias);
  else if (near != NULL)
    cli_error("nothing is called %s (did you mean %s?)", word, near);
  else
    cli_error("nothing is called %s (ropescope list methods, kinds, sources, tasks, checkpoint, metrics, models, "
              "architectures, dialects, findings or engines shows what there is)",
              word);
  return CLI_USAGE;
}

/* `list NAME`: of all lists. A kind that has the name of a method is the method's part. */
static int ask_name(const char *name, question *q) {
  bool found = false;
  q->name = name;
  for (size_t l = 0; l < LISTS; l++)
    if (l != KINDS) found |= q->asked[l] = has_entry(l, name);
  if (!found) found = q->asked[KINDS] = has_entry(KINDS, name);
  if (found) return CLI_OK;
  memset(q->asked, true, sizeof q->asked);
  return unknown(q, name, LISTS);
}

static int ask(const cli_options *options, question *q) {
  const char *first = options->arguments[0], *second = options->arguments[1];
  for (size_t l = 0; l < LISTS; l++) {
    bool named = first != NULL && strcmp(first, lists[l].name) == 0;
    q->asked[l] = first == NULL || named;
    if (!named) continue;
    memset(q->asked, false, sizeof q->asked);
    q->asked[l] = true;
    q->name = second;
    return second == NULL || has_entry(l, second) ? CLI_OK : unknown(q, second, l);
  }
  if (first == NULL) return CLI_OK;
  if (second == NULL) return ask_name(first, q);
  const char *names[LISTS + 1] = {NULL};
  for (size_t l = 0; l < LISTS; l++) names[l] = lists[l].name;
  cli_choose("list", first, names);
  return CLI_USAGE;
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

static void put_list(rs_text *text, const question *q, size_t l) {
  const list *wanted = &lists[l];
  bool rows = l == MODELS || l == ARCHITECTURES || l == DIALECTS; /* of a table, the others are blocks */
  size_t shown = 0;
  if (wanted->lead != NULL && (q->name == NULL || rows)) wanted->lead(text);
  for (size_t i = 0; wanted->name_at(i) != NULL; i++) {
    if (!is_asked(q, l, i)) continue;
    if (!rows && q->name != NULL && shown++ > 0) rs_text_puts(text, "\n");
    wanted->put(text, i);
    if (q->name != NULL && l == METHODS) list_put_common(text, i);
    if (!rows && q->name == NULL) rs_text_puts(text, "\n");
  }
}

static void put_text(rs_text *text, const question *q) {
  size_t asked = 0, before = 0;
  for (size_t l = 0; l < LISTS; l++) asked += q->asked[l];
  for (size_t l = 0; l < LISTS; l++) {
    if (!q->asked[l]) continue;
    if (asked > 1) rs_text_printf(text, "%s==== %s ====\n\n", before++ > 0 ? "\n" : "", lists[l].name);
    put_list(text, q, l);
  }
}

/* An object with a list of entries under each list's name. */
static void write_json(rs_text *text, const question *q) {
  rs_json json = {.text = text};
  rs_json_object(&json, NULL);
  for (size_t l = 0; l < LISTS; l++) {
    if (!q->asked[l]) continue;
    rs_json_array(&json, lists[l].name);
    for (size_t i = 0; lists[l].name_at(i) != NULL; i++)
      if (is_asked(q, l, i)) lists[l].write(&json, i);
    rs_json_end(&json);
  }
  rs_json_end(&json);
}

/* One whole list; without a word the methods. */
static int put_markdown(const cli_options *options, const question *q) {
  const char *name = options->argument_count > 0 ? options->arguments[0] : lists[METHODS].name;
  rs_text text = {0};
  if (options->json) {
    cli_error("--markdown and --json are two forms: keep one");
    return CLI_USAGE;
  }
  if (q->name != NULL || !list_put_markdown(name, &text)) {
    cli_error("--markdown goes with a whole list, as in ropescope list models --markdown");
    return CLI_USAGE;
  }
  return cli_put(&text, CLI_TEXT) ? CLI_OK : CLI_FAILED;
}

int cmd_list(const cli_options *options) {
  rs_text text = {0};
  question q = {0};
  int code = ask(options, &q);
  if (code != CLI_OK) return code;
  if (options->markdown) return put_markdown(options, &q);
  if (options->json)
    write_json(&text, &q);
  else
    put_text(&text, &q);
  return cli_put(&text, options->json ? CLI_DATA : CLI_TEXT) ? CLI_OK : CLI_FAILED;
}
