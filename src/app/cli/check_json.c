/* What `ropescope check` tells other programs: JSON of its own, and SARIF 2.1.0. */
#include "cli.h"

#include <math.h>
#include <string.h>

/* ---- portraits --------------------------------------------------------------------------------------------------- */

static void add_engine(rs_doc *list, const rs_derivation *r) {
  bool refused = *r->refusal != '\0';
  const rs_config_engine *engine = rs_config_engines(r->engine);
  rs_doc_put(rs_doc_add(list, NULL, RS_DOC_OBJECT), DOC_WORDS("engine", engine->title),
             DOC_WORDS("source", engine->source), DOC_WORDS("refusal", refused ? r->refusal : NULL),
             DOC_NUMBER("attention_factor", refused ? NAN : r->amp),
             DOC_NUMBER("softmax_factor", refused ? NAN : r->logit_factor),
             DOC_NUMBER("frequencies_that_differ", refused ? NAN : (double)r->differ),
             DOC_NUMBER("largest_difference", refused ? NAN : r->largest), DOC_FLAG("differs", r->differs),
             DOC_NUMBER("serves_tokens", r->length));
}

static void add_turning(rs_doc *in, const rs_portrait *p) {
  rs_doc_put(in, DOC_NUMBER("trained_tokens", p->trained), DOC_NUMBER("original_tokens", p->original),
             DOC_NUMBER("maximum_tokens", p->maximum), DOC_NUMBER("served_tokens", p->served),
             DOC_NUMBER("scale", p->factor), DOC_NUMBER("attention_factor_given", p->attention_given),
             DOC_NUMBER("attention_factor_by_formula", p->attention_formula), DOC_NUMBER("attention_factor", p->amp),
             DOC_NUMBER("softmax_factor", p->logit_factor), DOC_WORDS("logits_by_position", p->temperature));
  rs_doc *pairs = rs_doc_add(in, "pairs", RS_DOC_OBJECT);
  for (size_t f = 0; f < RS_PAIR_FATES; f++) rs_doc_put(pairs, DOC_NUMBER(rs_pair_fate_words[f], p->fates[f]));
  rs_doc_put(in, DOC_NUMBER("largest_stretch", p->stretch));
  rs_doc *reaches = rs_doc_add(in, "out_of_range", RS_DOC_ARRAY);
  for (size_t i = 0; i < p->reach_count; i++)
    rs_doc_put(rs_doc_add(reaches, NULL, RS_DOC_OBJECT), DOC_NUMBER("length_tokens", p->reaches[i].length),
               DOC_NUMBER("pairs", p->reaches[i].out_of_range));
  rs_doc_put(in, DOC_NUMBER("near_turn", p->near));
  rs_doc *engines = rs_doc_add(in, "engines", RS_DOC_ARRAY);
  for (size_t i = 0; i < p->engines.count; i++) add_engine(engines, &p->engines.items[i]);
}

static void add_portrait(rs_doc *file, const rs_portrait *p) {
  rs_doc *in = rs_doc_add(file, "recipe", RS_DOC_OBJECT);
  rs_doc_put(in, DOC_WORDS("recipe", p->recipe.method != NULL ? cli_recipe(file, &p->recipe) : NULL),
             DOC_WORDS("class", p->class));
  if (p->turns) add_turning(in, p);
  rs_doc *layers = rs_doc_add(in, "layers", RS_DOC_ARRAY);
  for (size_t k = 0; k < p->profile.kind_count; k++) {
    rs_text line = {0};
    show_put_kind(&p->profile, k, &line);
    rs_doc_put(layers, DOC_WORDS(NULL, rs_doc_keep(file, &line)));
  }
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void add_finding(rs_doc *list, const rs_finding *f) {
  rs_doc_put(rs_doc_add(list, NULL, RS_DOC_OBJECT), DOC_WORDS("code", f->rule->code), DOC_WORDS("name", f->rule->name),
             DOC_WORDS("severity", rs_severity_words[f->severity]),
             DOC_NUMBER("line", f->line > 0 ? (double)f->line : NAN),
             DOC_NUMBER("column", f->line > 0 ? (double)f->column : NAN),
             DOC_WORDS("key", *f->key != '\0' ? f->key : NULL), DOC_WORDS("text", f->text),
             DOC_WORDS("fix", *f->fix != '\0' ? f->fix : NULL), DOC_WORDS("reference", f->rule->reference));
}

rs_doc *check_json(const checked_files *files, rs_arena *arena) {
  rs_doc *list = rs_doc_new(arena, RS_DOC_ARRAY);
  for (size_t i = 0; i < files->count; i++) {
    const checked_file *file = &files->items[i];
    rs_doc *in = rs_doc_add(list, NULL, RS_DOC_OBJECT);
    rs_doc_put(in, DOC_WORDS("file", file->name), DOC_WORDS("unreadable", file->message));
    if (file->portrayed) add_portrait(in, &file->portrait);
    rs_doc *findings = rs_doc_add(in, "findings", RS_DOC_ARRAY);
    for (size_t k = 0; k < file->findings.count; k++) add_finding(findings, &file->findings.items[k]);
    rs_doc_put(in, DOC_NUMBER("ignored", file->ignored));
  }
  return list;
}

/* ---- SARIF ------------------------------------------------------------------------------------------------------- */

static void add_words(rs_doc *in, const char *key, const char *words) {
  rs_doc_put(rs_doc_add(in, key, RS_DOC_OBJECT), DOC_WORDS("text", words));
}

/* A path as a URI reference (RFC 3986): what is no part of one is escaped, and a colon before the first slash, which
 * would be read as a scheme. */
static const char *uri_of(rs_doc *in, const char *path) {
  static const char plain[] = "-._~/!$&'()*+,;=@:";
  rs_text uri = {0};
  size_t first = strcspn(path, "/");
  for (const char *c = path; *c != '\0'; c++) {
    bool scheme = *c == ':' && (size_t)(c - path) < first;
    bool kept = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
                (strchr(plain, *c) != NULL && !scheme);
    if (kept)
      rs_text_add(&uri, c, 1);
    else
      rs_text_printf(&uri, "%%%02X", (unsigned char)*c);
  }
  return rs_doc_keep(in, &uri);
}

static void add_location(rs_doc *in, const char *name, const rs_finding *f) {
  rs_doc *list = rs_doc_add(in, "locations", RS_DOC_ARRAY);
  rs_doc *place = rs_doc_add(rs_doc_add(list, NULL, RS_DOC_OBJECT), "physicalLocation", RS_DOC_OBJECT);
  rs_doc_put(rs_doc_add(place, "artifactLocation", RS_DOC_OBJECT), DOC_WORDS("uri", uri_of(place, name)));
  if (f != NULL && f->line > 0)
    rs_doc_put(rs_doc_add(place, "region", RS_DOC_OBJECT), DOC_NUMBER("startLine", f->line),
               DOC_NUMBER("startColumn", f->column));
}

static void add_tool(rs_doc *run) {
  rs_doc *driver = rs_doc_add(rs_doc_add(run, "tool", RS_DOC_OBJECT), "driver", RS_DOC_OBJECT);
  rs_doc_put(driver, DOC_WORDS("name", "ropescope"), DOC_WORDS("version", ROPESCOPE_VERSION));
  rs_doc *rules = rs_doc_add(driver, "rules", RS_DOC_ARRAY);
  for (size_t i = 0; rs_rules(i) != NULL; i++) {
    rs_doc *in = rs_doc_add(rules, NULL, RS_DOC_OBJECT);
    rs_doc_put(in, DOC_WORDS("id", rs_rules(i)->code), DOC_WORDS("name", rs_rules(i)->name));
    add_words(in, "shortDescription", rs_rules(i)->summary);
    add_words(in, "help", rs_rules(i)->reference);
  }
}

/* A file that could not be read is no result of a rule, but what the tool says of its run. */
static void add_unread(rs_doc *run, const checked_files *files) {
  bool all = true;
  for (size_t i = 0; i < files->count; i++) all &= files->items[i].message == NULL;
  rs_doc *invocation = rs_doc_add(rs_doc_add(run, "invocations", RS_DOC_ARRAY), NULL, RS_DOC_OBJECT);
  rs_doc_put(invocation, DOC_FLAG("executionSuccessful", all));
  rs_doc *list = rs_doc_add(invocation, "toolExecutionNotifications", RS_DOC_ARRAY);
  for (size_t i = 0; i < files->count; i++) {
    if (files->items[i].message == NULL) continue;
    rs_doc *in = rs_doc_add(list, NULL, RS_DOC_OBJECT);
    rs_doc_put(in, DOC_WORDS("level", "error"));
    add_words(in, "message", files->items[i].message);
    add_location(in, files->items[i].name, NULL);
  }
}

static void add_result(rs_doc *list, const char *name, const rs_finding *f) {
  rs_text words = {0};
  rs_doc *in = rs_doc_add(list, NULL, RS_DOC_OBJECT);
  rs_text_printf(&words, "%s%s%s", f->text, *f->fix != '\0' ? "\nfix: " : "", f->fix);
  rs_doc_put(in, DOC_WORDS("ruleId", f->rule->code), DOC_WORDS("level", rs_severity_words[f->severity]));
  add_words(in, "message", rs_doc_keep(list, &words));
  add_location(in, name, f);
}

rs_doc *check_sarif(const checked_files *files, rs_arena *arena) {
  rs_doc *doc = rs_doc_new(arena, RS_DOC_OBJECT);
  rs_doc_put(doc, DOC_WORDS("$schema", "https://json.schemastore.org/sarif-2.1.0.json"), DOC_WORDS("version", "2.1.0"));
  rs_doc *run = rs_doc_add(rs_doc_add(doc, "runs", RS_DOC_ARRAY), NULL, RS_DOC_OBJECT);
  add_tool(run);
  add_unread(run, files);
  rs_doc *results = rs_doc_add(run, "results", RS_DOC_ARRAY);
  for (size_t i = 0; i < files->count; i++)
    for (size_t k = 0; k < files->items[i].findings.count; k++)
      add_result(results, files->items[i].name, &files->items[i].findings.items[k]);
  return doc;
}
