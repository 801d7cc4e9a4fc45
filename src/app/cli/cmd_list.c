/* ropescope list: what there is, as text, as Markdown, from which the pages of docs/ are made, and as JSON. */
#include "cli.h"

#include <stdio.h>
#include <string.h>

/* What is asked for: these lists, and of these all entries or those called `name`. */
typedef struct question {
  bool asked[CLI_LISTS];
  const char *name; /* NULL: all */
} question;

/* ---- parameters -------------------------------------------------------------------------------------------------- */

/* Words, or "number; 0 to 1"; in Markdown "`auto`, or number, 0 to 1". */
static void put_values(rs_text *text, const rs_param *param, bool page) {
  static const char *const types[] = {
      [RS_REAL] = "number",  [RS_INTEGER] = "whole number", [RS_BOOL] = "true|false", [RS_CHOICE] = "",
      [RS_FILE] = "file",    [RS_FOLDER] = "folder",        [RS_NAME] = "name",       [RS_REALS] = "list or file",
      [RS_RECIPE] = "method"};
  const char *mark = page ? "`" : "", *between = page ? ", " : "|";
  for (size_t i = 0; i < param->word_count; i++)
    rs_text_printf(text, "%s%s%s%s", i > 0 ? between : "", mark, param->words[i], mark);
  if (param->word_count > 0 && param->type != RS_CHOICE) rs_text_puts(text, page ? ", or " : "|");
  if (param->single) rs_text_puts(text, "number, ");
  rs_text_puts(text, page && param->type == RS_BOOL ? "`true`, `false`" : types[param->type]);
  if (param->type != RS_REAL && param->type != RS_INTEGER && param->type != RS_REALS) return;
  rs_text_puts(text, page ? ", " : "; ");
  rs_text_number(text, param->min);
  rs_text_puts(text, " to ");
  rs_text_number(text, param->max);
}

static bool has_unit(const char *unit) {
  return *unit != '\0' && strcmp(unit, "1") != 0;
}

static void put_params(rs_text *text, const rs_doc *params) {
  enum { INDENT = 23 };
  for (const rs_doc *doc = params->first; doc != NULL; doc = doc->next) {
    const rs_param *param = doc->param;
    rs_text_printf(text, "    %-18s ", param->name);
    rs_wrap(text, INDENT, INDENT, RS_DOC_LINE, param->summary);
    rs_text_printf(text, "\n%*s", INDENT, "");
    put_values(text, param, false);
    if (has_unit(param->unit)) rs_text_printf(text, "; %s", param->unit);
    if (param->fallback != NULL) rs_text_printf(text, "; default %s", param->fallback);
    rs_text_puts(text, "\n");
  }
}

static void put_params_page(rs_text *text, const rs_doc *params) {
  static const rs_doc_column columns[] = {{.key = "parameter", .title = "parameter", .code = true},
                                          {.key = "values", .title = "values", .marked = true},
                                          {.key = "unit", .title = "unit"},
                                          {.key = "default", .title = "default", .code = true},
                                          {.key = "meaning", .title = "meaning"}};
  rs_doc *rows = rs_doc_new(params->arena, RS_DOC_ARRAY);
  if (params->first == NULL) return;
  for (const rs_doc *doc = params->first; doc != NULL; doc = doc->next) {
    const rs_param *param = doc->param;
    rs_text values = {0};
    put_values(&values, param, true);
    rs_doc_put(rs_doc_add(rows, NULL, RS_DOC_OBJECT), DOC_WORDS("parameter", param->name),
               DOC_WORDS("values", rs_doc_keep(rows, &values)),
               DOC_WORDS("unit", has_unit(param->unit) ? param->unit : NULL), DOC_WORDS("default", param->fallback),
               DOC_WORDS("meaning", param->summary));
  }
  rs_text_puts(text, "\n");
  rs_doc_markdown(rows, columns, RS_COUNT(columns), text);
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

static const rs_doc_column model_columns[] = {
    {.key = "name", .title = "model", .code = true}, {.key = "heads", .title = "heads"},
    {.key = "head_dim", .title = "head_dim"},        {.key = "rotary_dim", .title = "rotary_dim"},
    {.key = "rope_theta", .title = "rope_theta"},    {.key = "train_length", .title = "train_length"},
    {.key = "max_length", .title = "max_length"},    {.key = "publishes", .title = "publishes", .none = "-"}};
static const rs_doc_column architecture_columns[] = {{.key = "model_type", .title = "model_type", .code = true},
                                                     {.key = "models", .title = "models", .wrapped = true}};

/* `nope` has the parameters of every method, `rope` those of every rotary one. */
static const rs_method *family_of(bool rotary) {
  return rs_method_find(rotary ? "rope" : "nope");
}

static void put_dialects(rs_text *text, const rs_doc *dialects) {
  for (const rs_doc *d = dialects->first; d != NULL; d = d->next) {
    rs_text_printf(text, "    dialect %s: ", rs_doc_text(d, "name"));
    rs_wrap(text, 23, 23, RS_DOC_LINE, rs_doc_text(d, "summary"));
    rs_text_printf(text, " [%s]\n", rs_doc_text(d, "reference"));
  }
}

/* What one method says beside another, or beside nothing (NULL). */
static void put_difference(rs_text *text, const rs_method *method, const rs_method *without, bool general) {
  RS_OWNED(rs_arena) arena = {0};
  rs_doc *doc = rs_doc_new(&arena, RS_DOC_OBJECT);
  if (doc != NULL) list_add_params(doc, "parameters", method, without);
  if (doc != NULL) list_add_dialects(doc, "dialects", method, general);
  text->failed |= arena.failed;
  if (!arena.failed) put_params(text, rs_doc_find(doc, "parameters"));
  if (!arena.failed && (without != NULL || !general)) put_dialects(text, rs_doc_find(doc, "dialects"));
}

/* What is common stands before a whole list, or behind one entry. */
static void put_common(rs_text *text, const char *beside, bool rotary) {
  rs_text_printf(text, "%severy method\n", beside);
  put_difference(text, family_of(false), NULL, true);
  if (!rotary) return;
  rs_text_printf(text, "\n%severy rotary method\n", beside);
  put_difference(text, family_of(true), family_of(false), true);
}

static void put_columns(rs_text *text, const char *file, const rs_doc *columns) {
  for (const rs_doc *c = columns->first; c != NULL; c = c->next) {
    const char *unit = rs_doc_text(c, "unit"), *better = rs_doc_text(c, "better");
    rs_text_printf(text, "    %s.csv: %s [%s] %s", file, rs_doc_text(c, "name"), *unit != '\0' ? unit : "-",
                   rs_doc_text(c, "summary"));
    if (better != NULL) rs_text_printf(text, " (%s is better)", better);
    rs_text_puts(text, rs_doc_find(c, "standard_error")->number != 0 ? "; with _se\n" : "\n");
  }
}

static void put_parts(rs_text *text, const rs_doc *parts, const char *mark) {
  for (const rs_doc *p = parts->first; p != NULL; p = p->next)
    rs_text_printf(text, "%s%s%s%s%s", p == parts->first ? "" : ", ", mark, rs_doc_text(p, "name"), mark,
                   rs_doc_find(p, "probe")->number != 0 ? " (in no loss)" : "");
}

/* "RS203 factor-below-1 (error)", "vllm: its versions" */
static void put_title(rs_text *text, const rs_doc *entry) {
  static const struct {
    const char *key, *before, *behind;
  } more[] = {{"stage", "", " "},    {"code", "", " "},       {"name", "", ""},
              {"method", " (", ")"}, {"severity", " (", ")"}, {"title", ": ", ""}};
  for (size_t i = 0; i < RS_COUNT(more); i++)
    if (rs_doc_text(entry, more[i].key) != NULL)
      rs_text_printf(text, "%s%s%s", more[i].before, rs_doc_text(entry, more[i].key), more[i].behind);
  const rs_doc *method = rs_doc_find(entry, "method"); /* of dialects */
  if (method != NULL && method->text == NULL) rs_text_puts(text, " (every rotary method)");
}

static void put_entry(rs_text *text, const rs_doc *entry) {
  const char *reference = rs_doc_text(entry, "reference"), *form = rs_doc_text(entry, "form");
  const rs_doc *params = rs_doc_find(entry, "parameters"), *columns = rs_doc_find(entry, "summary_columns");
  put_title(text, entry);
  rs_text_puts(text, "\n    ");
  rs_wrap(text, 4, 4, RS_DOC_LINE, rs_doc_text(entry, "summary"));
  rs_text_puts(text, "\n");
  if (reference != NULL) rs_text_printf(text, "    [%s]\n", reference);
  if (form != NULL) {
    rs_text_printf(text, "    %-18s %s\n    %-18s ", "of models", form, "parts");
    put_parts(text, rs_doc_find(entry, "parts"), "");
    rs_text_puts(text, "\n");
  }
  if (rs_doc_find(entry, "dialects") != NULL) {
    const rs_method *method = rs_method_find(rs_doc_text(entry, "name"));
    put_difference(text, method, family_of(method->freq != NULL), false);
  } else if (params != NULL) {
    put_params(text, params);
  }
  if (columns == NULL) return;
  put_columns(text, "summary", columns);
  put_columns(text, rs_doc_text(entry, "name"), rs_doc_find(entry, "curve_columns"));
}

static void put_list(rs_text *text, const question *q, size_t l, const rs_doc *entries) {
  bool every = q->name == NULL;
  if (l == CLI_MODELS || l == CLI_ARCHITECTURES) {
    if (l == CLI_MODELS)
      rs_doc_table(entries, model_columns, RS_COUNT(model_columns), 0, text);
    else
      rs_doc_table(entries, architecture_columns, RS_COUNT(architecture_columns), 0, text);
    return;
  }
  if (l == CLI_METHODS && every) {
    put_common(text, "", true);
    rs_text_puts(text, "\n");
  }
  for (const rs_doc *entry = entries->first; entry != NULL; entry = entry->next) {
    if (!every && entry != entries->first) rs_text_puts(text, "\n");
    put_entry(text, entry);
    if (every || l == CLI_METHODS) rs_text_puts(text, "\n");
    if (!every && l == CLI_METHODS) put_common(text, "as ", rs_method_find(rs_doc_text(entry, "name"))->freq != NULL);
  }
}

static void put_text(rs_text *text, const question *q, const rs_doc *doc) {
  size_t asked = 0, before = 0;
  for (size_t l = 0; l < CLI_LISTS; l++) asked += q->asked[l];
  for (size_t l = 0; l < CLI_LISTS; l++) {
    if (!q->asked[l]) continue;
    if (asked > 1) rs_text_printf(text, "%s==== %s ====\n\n", before++ > 0 ? "\n" : "", cli_list_words[l]);
    put_list(text, q, l, rs_doc_find(doc, cli_list_words[l]));
  }
}

/* ---- Markdown ---------------------------------------------------------------------------------------------------- */

/* What a metric writes into summary.csv and into a file of its own. */
static void put_columns_page(rs_text *text, const rs_doc *entry) {
  static const rs_doc_column columns[] = {{.key = "file", .title = "file"},
                                          {.key = "column", .title = "column", .marked = true},
                                          {.key = "unit", .title = "unit"},
                                          {.key = "summary", .title = "meaning"},
                                          {.key = "better", .title = "better"}};
  const rs_doc *lists[] = {rs_doc_find(entry, "summary_columns"), rs_doc_find(entry, "curve_columns")};
  rs_doc *rows = rs_doc_new(entry->arena, RS_DOC_ARRAY);
  for (size_t i = 0; i < RS_COUNT(lists); i++)
    for (const rs_doc *c = lists[i]->first; c != NULL; c = c->next) {
      rs_text file = {0}, column = {0};
      const char *unit = rs_doc_text(c, "unit");
      bool sampled = rs_doc_find(c, "standard_error")->number != 0;
      rs_text_printf(&file, "%s.csv", i == 0 ? "summary" : rs_doc_text(entry, "name"));
      rs_text_printf(&column, "`%s`%s", rs_doc_text(c, "name"), sampled ? ", `_se`" : "");
      rs_doc_put(rs_doc_add(rows, NULL, RS_DOC_OBJECT), DOC_WORDS("file", rs_doc_keep(rows, &file)),
                 DOC_WORDS("column", rs_doc_keep(rows, &column)), DOC_WORDS("unit", has_unit(unit) ? unit : NULL),
                 DOC_WORDS("summary", rs_doc_text(c, "summary")), DOC_WORDS("better", rs_doc_text(c, "better")));
    }
  rs_text_puts(text, "\n");
  rs_doc_markdown(rows, columns, RS_COUNT(columns), text);
}

/* A heading, what the thing does, and where it was published; its parameters, and its columns. */
static void put_section(rs_text *text, const rs_doc *entry) {
  const char *stage = rs_doc_text(entry, "stage"), *name = rs_doc_text(entry, "name");
  const char *reference = rs_doc_text(entry, "reference"), *form = rs_doc_text(entry, "form");
  rs_text_printf(text, "\n### %s%s%s\n\n", stage != NULL ? stage : "", stage != NULL ? " " : "", name);
  rs_markdown_words(text, rs_doc_text(entry, "summary"));
  rs_text_puts(text, reference != NULL ? ". *" : ".");
  if (reference != NULL) rs_markdown_words(text, reference);
  rs_text_puts(text, reference != NULL ? "*\n" : "\n");
  if (form != NULL) {
    rs_text_printf(text, "\nOf models that are `%s`. Parts: ", form);
    put_parts(text, rs_doc_find(entry, "parts"), "`");
    rs_text_puts(text, ".\n");
  }
  put_params_page(text, rs_doc_find(entry, "parameters"));
  if (rs_doc_find(entry, "summary_columns") != NULL) put_columns_page(text, entry);
}

/* The kinds that fill the stages, each with a link to its parameters; positions that are the tokens' own go without
 * saying. */
static void put_stages(rs_text *text, const rs_method *method) {
  const struct {
    const char *stage;
    const rs_kind *kind;
  } stages[] = {{"positions", strcmp(method->pos->kind.name, "identity") != 0 ? &method->pos->kind : NULL},
                {"frequencies", method->freq != NULL ? &method->freq->kind : NULL},
                {"embedding", method->embed != NULL ? &method->embed->kind : NULL},
                {"bias", method->bias != NULL ? &method->bias->kind : NULL},
                {"vectors", method->vectors != NULL ? &method->vectors->kind : NULL}};
  for (size_t s = 0; s < RS_COUNT(stages); s++)
    if (stages[s].kind != NULL)
      rs_text_printf(text, "%s%s [%s](kinds.md#%s-%s)", text->length > 0 ? ", " : "", stages[s].stage,
                     stages[s].kind->name, stages[s].stage, stages[s].kind->name);
}

/* The names of the parameters that not every method of its family has, and those to which the method gives a default.
 */
static void put_own_params(rs_text *text, rs_doc *scratch, const rs_method *method) {
  list_add_params(scratch, method->name, method, family_of(method->freq != NULL));
  const rs_doc *params = rs_doc_find(scratch, method->name);
  for (const rs_doc *doc = params != NULL ? params->first : NULL; doc != NULL; doc = doc->next) {
    rs_text_printf(text, "%s`%s", text->length > 0 ? ", " : "", doc->param->name);
    for (size_t d = 0; d < RS_COUNT(method->defaults) && method->defaults[d].name != NULL; d++)
      if (strcmp(method->defaults[d].name, doc->param->name) == 0)
        rs_text_printf(text, ": %s", method->defaults[d].value);
    rs_text_puts(text, "`");
  }
}

static void put_methods_page(rs_text *text, rs_doc *entries) {
  static const rs_doc_column columns[] = {{.key = "name", .title = "method", .code = true},
                                          {.key = "summary", .title = "what it does"},
                                          {.key = "stages", .title = "its stages", .marked = true},
                                          {.key = "own", .title = "its parameters", .marked = true},
                                          {.key = "reference", .title = "reference"}};
  static const struct {
    const char *title, *method, *without;
  } shared[] = {{"every method", "nope", NULL},
                {"every rotary method", "rope", "nope"},
                {"every method with a scale", "ntk", "rope"}};
  rs_doc *scratch = rs_doc_new(entries->arena, RS_DOC_OBJECT);
  for (rs_doc *entry = entries->first; entry != NULL && scratch != NULL; entry = entry->next) {
    const rs_method *method = rs_method_find(rs_doc_text(entry, "name"));
    rs_text stages = {0}, own = {0};
    put_stages(&stages, method);
    put_own_params(&own, scratch, method);
    rs_doc_put(entry, DOC_WORDS("stages", rs_doc_keep(entry, &stages)), DOC_WORDS("own", rs_doc_keep(entry, &own)));
  }
  rs_doc_markdown(entries, columns, RS_COUNT(columns), text);
  for (size_t i = 0; i < RS_COUNT(shared) && scratch != NULL; i++) {
    const rs_method *without = shared[i].without != NULL ? rs_method_find(shared[i].without) : NULL;
    list_add_params(scratch, shared[i].title, rs_method_find(shared[i].method), without);
    rs_text_printf(text, "\n## Parameters of %s\n", shared[i].title);
    if (!entries->arena->failed) put_params_page(text, rs_doc_find(scratch, shared[i].title));
  }
}

/* `scale: dynamic` where a config may say otherwise, with "always" where the implementation has no choice. */
static void put_dialect_settings(rs_text *text, const rs_dialect *dialect) {
  for (size_t s = 0; s < RS_COUNT(dialect->settings) && dialect->settings[s].name != NULL; s++) {
    const char *value = dialect->settings[s].value;
    rs_text_puts(text, s > 0 ? "; " : "");
    if (value != NULL)
      rs_text_printf(text, "`%s: %s`%s", dialect->settings[s].name, value,
                     dialect->settings[s].always ? " always" : "");
    else
      rs_text_printf(text, "no `%s`", dialect->settings[s].name);
  }
}

static void put_dialects_page(rs_text *text, rs_doc *entries) {
  static const rs_doc_column columns[] = {{.key = "name", .title = "dialect", .code = true},
                                          {.key = "methods", .title = "methods", .marked = true},
                                          {.key = "differs", .title = "what it does differently", .marked = true},
                                          {.key = "settings", .title = "as parameters", .marked = true},
                                          {.key = "reference", .title = "reference"}};
  size_t method_count, count;
  const rs_method *methods = rs_methods(&method_count);
  const rs_dialect *dialect = rs_dialects(&count);
  for (rs_doc *entry = entries->first; entry != NULL; entry = entry->next, dialect++) {
    rs_text fitting = {0}, differs = {0}, settings = {0};
    for (size_t m = 0; m < method_count && dialect->method != NULL; m++)
      if (rs_dialect_fits(dialect, &methods[m]))
        rs_text_printf(&fitting, "%s`%s`", fitting.length > 0 ? ", " : "", methods[m].name);
    rs_markdown_words(&differs, dialect->summary);
    if (dialect->when != NULL) rs_text_printf(&differs, " (where `%s`)", dialect->when);
    if (dialect->unless != NULL) rs_text_printf(&differs, " (where not `%s`)", dialect->unless);
    put_dialect_settings(&settings, dialect);
    if (dialect->method == NULL) rs_text_puts(&fitting, "every rotary method");
    rs_doc_put(entry, DOC_WORDS("methods", rs_doc_keep(entry, &fitting)),
               DOC_WORDS("differs", rs_doc_keep(entry, &differs)),
               DOC_WORDS("settings", rs_doc_keep(entry, &settings)));
  }
  rs_doc_markdown(entries, columns, RS_COUNT(columns), text);
}

static void put_page(rs_text *text, size_t list, rs_doc *entries) {
  static const rs_doc_column findings[] = {{.key = "code", .title = "code", .code = true},
                                           {.key = "name", .title = "name", .code = true},
                                           {.key = "severity", .title = "severity"},
                                           {.key = "summary", .title = "what is wrong"},
                                           {.key = "reference", .title = "reference"}};
  static const rs_doc_column engines[] = {{.key = "name", .title = "`--engine`", .code = true},
                                          {.key = "title", .title = "versions"},
                                          {.key = "summary", .title = "what they read otherwise"},
                                          {.key = "reference", .title = "read in"}};
  rs_doc_column models[RS_COUNT(model_columns)];
  memcpy(models, model_columns, sizeof models);
  models[RS_COUNT(models) - 1] = (rs_doc_column){.key = "recipe", .title = "publishes", .code = true};
  switch (list) {
  case CLI_METHODS: put_methods_page(text, entries); return;
  case CLI_DIALECTS: put_dialects_page(text, entries); return;
  case CLI_MODELS: rs_doc_markdown(entries, models, RS_COUNT(models), text); return;
  case CLI_ARCHITECTURES: rs_doc_markdown(entries, architecture_columns, RS_COUNT(architecture_columns), text); return;
  case CLI_FINDINGS: rs_doc_markdown(entries, findings, RS_COUNT(findings), text); return;
  case CLI_ENGINES: rs_doc_markdown(entries, engines, RS_COUNT(engines), text); return;
  default:
    for (const rs_doc *entry = entries->first; entry != NULL; entry = entry->next) put_section(text, entry);
  }
}

/* ---- what is asked for ------------------------------------------------------------------------------------------- */

static bool has_entry(size_t l, const char *name) {
  const char *other;
  for (size_t i = 0; (other = cli_list_name(l, i)) != NULL; i++)
    if (strcmp(other, name) == 0) return true;
  return false;
}

/* Says what may have been meant by a name that is not in list `searched`, or in none (CLI_LISTS): an entry, or a list.
 */
static int unknown(const question *q, const char *word, size_t searched) {
  rs_nearest nearest = {.word = word};
  const char *other, *alias = rs_hf_method(word);
  for (size_t l = 0; l < CLI_LISTS; l++) {
    if (searched == CLI_LISTS) rs_nearest_add(&nearest, cli_list_words[l]);
    for (size_t i = 0; q->asked[l] && (other = cli_list_name(l, i)) != NULL; i++) rs_nearest_add(&nearest, other);
  }
  const char *near = rs_nearest_found(&nearest);
  if (alias == NULL && near == NULL && searched < CLI_LISTS)
    return cli_error("nothing in %s is called %s (ropescope list %s shows them)", cli_list_words[searched], word,
                     cli_list_words[searched]);
  if (alias != NULL) return cli_error("nothing is called %s (Hugging Face's %s is %s here)", word, word, alias);
  if (near != NULL) return cli_error("nothing is called %s (did you mean %s?)", word, near);
  return cli_error("nothing is called %s (ropescope list methods, kinds, sources, tasks, checkpoint, metrics, models, "
                   "architectures, dialects, findings or engines shows what there is)",
                   word);
}

/* `list NAME`: of all lists. A kind that has the name of a method is the method's part. */
static int ask_name(const char *name, question *q) {
  bool found = false;
  q->name = name;
  for (size_t l = 0; l < CLI_LISTS; l++)
    if (l != CLI_KINDS) found |= q->asked[l] = has_entry(l, name);
  if (!found) found = q->asked[CLI_KINDS] = has_entry(CLI_KINDS, name);
  if (found) return CLI_OK;
  memset(q->asked, true, sizeof q->asked);
  return unknown(q, name, CLI_LISTS);
}

static int ask(const cli_options *options, question *q) {
  const char *first = options->arguments[0], *second = options->arguments[1];
  for (size_t l = 0; l < CLI_LISTS; l++) {
    q->asked[l] = first == NULL;
    if (first == NULL || strcmp(first, cli_list_words[l]) != 0) continue;
    memset(q->asked, false, sizeof q->asked);
    q->asked[l] = true;
    q->name = second;
    return second == NULL || has_entry(l, second) ? CLI_OK : unknown(q, second, l);
  }
  if (first == NULL) return CLI_OK;
  if (second == NULL) return ask_name(first, q);
  cli_choose("list", first, cli_list_words);
  return CLI_USAGE;
}

/* Pages are whole lists; without a word the methods. */
static int ask_page(const cli_options *options, question *q) {
  bool whole = q->name == NULL;
  if (options->json) return cli_error("--markdown and --json are two forms: keep one");
  if (!whole) return cli_error("--markdown goes with a whole list, as in ropescope list models --markdown");
  for (size_t l = 1; l < CLI_LISTS && options->argument_count == 0; l++) q->asked[l] = false;
  return CLI_OK;
}

int cmd_list(const cli_options *options) {
  RS_OWNED(rs_arena) arena = {0};
  rs_text text = {0};
  question q = {0};
  int code = ask(options, &q);
  if (code == CLI_OK && options->markdown) code = ask_page(options, &q);
  if (code != CLI_OK) return code;
  rs_doc *doc = rs_doc_new(&arena, RS_DOC_OBJECT);
  for (size_t l = 0; l < CLI_LISTS; l++) {
    if (!q.asked[l]) continue;
    rs_doc *list = rs_doc_add(doc, cli_list_words[l], RS_DOC_ARRAY);
    const char *name;
    for (size_t i = 0; (name = cli_list_name(l, i)) != NULL; i++)
      if (q.name == NULL || strcmp(name, q.name) == 0) list_add(list, l, i);
  }
  text.failed = arena.failed;
  if (options->json)
    rs_doc_json(doc, &text);
  else if (!arena.failed && !options->markdown)
    put_text(&text, &q, doc);
  for (size_t l = 0; l < CLI_LISTS && !arena.failed && options->markdown; l++)
    if (q.asked[l]) put_page(&text, l, doc->first);
  text.failed |= arena.failed;
  return cli_put(&text, options->json ? CLI_DATA : CLI_TEXT);
}
