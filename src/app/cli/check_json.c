/* What `ropescope check` tells other programs: JSON of its own, and SARIF 2.1.0. */
#include "check.h"

#include <math.h>
#include <string.h>

static void write_finding(rs_json *json, const rs_finding *f) {
  rs_json_object(json, NULL);
  rs_json_string(json, "code", f->rule->code);
  rs_json_string(json, "name", f->rule->name);
  rs_json_string(json, "severity", rs_severity_words[f->severity]);
  rs_json_number(json, "line", f->line > 0 ? (double)f->line : NAN);
  rs_json_number(json, "column", f->line > 0 ? (double)f->column : NAN);
  rs_json_string(json, "key", *f->key != '\0' ? f->key : NULL);
  rs_json_string(json, "text", f->text);
  rs_json_string(json, "fix", *f->fix != '\0' ? f->fix : NULL);
  rs_json_string(json, "reference", f->rule->reference);
  rs_json_end(json);
}

void check_put_json(const checked_files *files, rs_text *text) {
  rs_json json = {.text = text};
  rs_json_array(&json, NULL);
  for (size_t i = 0; i < files->count; i++) {
    const checked_file *file = &files->items[i];
    rs_json_object(&json, NULL);
    rs_json_string(&json, "file", file->name);
    rs_json_string(&json, "unreadable", file->message);
    if (file->portrayed) check_write_portrait(&file->portrait, &json);
    rs_json_array(&json, "findings");
    for (size_t k = 0; k < file->findings.count; k++) write_finding(&json, &file->findings.items[k]);
    rs_json_end(&json);
    rs_json_number(&json, "ignored", (double)file->ignored);
    rs_json_end(&json);
  }
  rs_json_end(&json);
}

/* ---- SARIF ------------------------------------------------------------------------------------------------------- */

static void write_words(rs_json *json, const char *key, const char *words) {
  rs_json_object(json, key);
  rs_json_string(json, "text", words);
  rs_json_end(json);
}

static void write_rules(rs_json *json) {
  rs_json_array(json, "rules");
  for (size_t i = 0; rs_rules(i) != NULL; i++) {
    rs_json_object(json, NULL);
    rs_json_string(json, "id", rs_rules(i)->code);
    rs_json_string(json, "name", rs_rules(i)->name);
    write_words(json, "shortDescription", rs_rules(i)->summary);
    write_words(json, "help", rs_rules(i)->reference);
    rs_json_end(json);
  }
  rs_json_end(json);
}

/* A path as a URI reference (RFC 3986): what is no part of one is escaped, and a colon before the first slash, which
 * would be read as a scheme. */
static void write_uri(rs_json *json, const char *path) {
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
  rs_json_string(json, "uri", rs_text_string(&uri));
  json->text->failed |= uri.failed;
  rs_text_clear(&uri);
}

static void write_location(rs_json *json, const char *name, const rs_finding *f) {
  rs_json_array(json, "locations");
  rs_json_object(json, NULL);
  rs_json_object(json, "physicalLocation");
  rs_json_object(json, "artifactLocation");
  write_uri(json, name);
  rs_json_end(json);
  if (f != NULL && f->line > 0) {
    rs_json_object(json, "region");
    rs_json_number(json, "startLine", (double)f->line);
    rs_json_number(json, "startColumn", (double)f->column);
    rs_json_end(json);
  }
  rs_json_end(json);
  rs_json_end(json);
  rs_json_end(json);
}

static void write_result(rs_json *json, const char *name, const rs_finding *f) {
  rs_text words = {0};
  rs_text_printf(&words, "%s%s%s", f->text, *f->fix != '\0' ? "\nfix: " : "", f->fix);
  json->text->failed |= words.failed;
  rs_json_object(json, NULL);
  rs_json_string(json, "ruleId", f->rule->code);
  rs_json_string(json, "level", rs_severity_words[f->severity]);
  write_words(json, "message", rs_text_string(&words));
  write_location(json, name, f);
  rs_json_end(json);
  rs_text_clear(&words);
}

/* A file that could not be read is no result of a rule, but what the tool says of its run. */
static void write_unread(rs_json *json, const checked_files *files) {
  bool all = true;
  for (size_t i = 0; i < files->count; i++) all &= files->items[i].message == NULL;
  rs_json_array(json, "invocations");
  rs_json_object(json, NULL);
  rs_json_bool(json, "executionSuccessful", all);
  rs_json_array(json, "toolExecutionNotifications");
  for (size_t i = 0; i < files->count; i++) {
    if (files->items[i].message == NULL) continue;
    rs_json_object(json, NULL);
    rs_json_string(json, "level", "error");
    write_words(json, "message", files->items[i].message);
    write_location(json, files->items[i].name, NULL);
    rs_json_end(json);
  }
  rs_json_end(json);
  rs_json_end(json);
  rs_json_end(json);
}

void check_put_sarif(const checked_files *files, rs_text *text) {
  rs_json json = {.text = text};
  rs_json_object(&json, NULL);
  rs_json_string(&json, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
  rs_json_string(&json, "version", "2.1.0");
  rs_json_array(&json, "runs");
  rs_json_object(&json, NULL);
  rs_json_object(&json, "tool");
  rs_json_object(&json, "driver");
  rs_json_string(&json, "name", "ropescope");
  rs_json_string(&json, "version", ROPESCOPE_VERSION);
  write_rules(&json);
  rs_json_end(&json);
  rs_json_end(&json);
  write_unread(&json, files);
  rs_json_array(&json, "results");
  for (size_t i = 0; i < files->count; i++)
    for (size_t k = 0; k < files->items[i].findings.count; k++)
      write_result(&json, files->items[i].name, &files->items[i].findings.items[k]);
  rs_json_end(&json);
  rs_json_end(&json);
  rs_json_end(&json);
  rs_json_end(&json);
}
