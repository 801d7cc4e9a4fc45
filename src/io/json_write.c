/* json_write.c: JSON text, written in the order of the calls. Numbers are the shortest that read back to the same
 * double, which jansson does not print. */
#include "io/io.h"
#include "io_internal.h"

#include <math.h>

void rs_json_quote(rs_text *text, const char *string) {
  rs_text_puts(text, "\"");
  for (size_t bytes; *string != '\0'; string += bytes > 0 ? bytes : 1) {
    uint32_t c;
    bytes = rs_utf8_read(string, &c);
    if (bytes == 0)
      rs_text_puts(text, RS_REPLACEMENT);
    else if (c == '"' || c == '\\')
      rs_text_printf(text, "\\%c", (int)c);
    else if (c == '\n')
      rs_text_puts(text, "\\n");
    else if (c < 0x20)
      rs_text_printf(text, "\\u%04x", (unsigned)c);
    else
      rs_text_add(text, string, bytes);
  }
  rs_text_puts(text, "\"");
}

static void put_number(rs_text *text, double value) {
  if (isfinite(value))
    rs_text_number(text, value);
  else
    rs_text_puts(text, "null");
}

/* The comma after what stands before, the new line and its indentation. */
static void put_line(rs_json *json, bool first) {
  if (json->flat) {
    rs_text_puts(json->text, first ? "" : ", ");
    return;
  }
  rs_text_puts(json->text, first ? "\n" : ",\n");
  for (size_t i = 0; i < json->depth; i++) rs_text_puts(json->text, "  ");
}

static void put_key(rs_json *json, const char *key) {
  if (json->depth > 0) put_line(json, !json->filled);
  json->filled = true;
  if (key == NULL) return;
  rs_json_quote(json->text, key);
  rs_text_puts(json->text, ": ");
}

static void begin(rs_json *json, const char *key, const char *bracket, char end) {
  put_key(json, key);
  rs_text_puts(json->text, bracket);
  json->filled = false;
  if (json->depth < RS_JSON_DEPTH) json->ends[json->depth] = end;
  json->text->failed |= json->depth++ >= RS_JSON_DEPTH;
}

void rs_json_object(rs_json *json, const char *key) {
  begin(json, key, "{", '}');
}

void rs_json_array(rs_json *json, const char *key) {
  begin(json, key, "[", ']');
}

void rs_json_list(rs_json *json, const char *key) {
  begin(json, key, "[", ']');
  json->flat = true;
}

void rs_json_end(rs_json *json) {
  bool empty = !json->filled;
  json->depth--;
  if (!empty) put_line(json, true);
  json->flat = false;
  if (json->depth < RS_JSON_DEPTH) rs_text_add(json->text, &json->ends[json->depth], 1);
  if (json->depth == 0) rs_text_puts(json->text, "\n");
  json->filled = true;
}

void rs_json_string(rs_json *json, const char *key, const char *value) {
  put_key(json, key);
  if (value != NULL)
    rs_json_quote(json->text, value);
  else
    rs_text_puts(json->text, "null");
}

void rs_json_number(rs_json *json, const char *key, double value) {
  put_key(json, key);
  put_number(json->text, value);
}

void rs_json_bool(rs_json *json, const char *key, bool value) {
  put_key(json, key);
  rs_text_puts(json->text, value ? "true" : "false");
}

/* ---- parameters -------------------------------------------------------------------------------------------------- */

static void write_words(rs_json *json, const rs_param *param) {
  rs_json_array(json, "words");
  for (size_t i = 0; i < param->word_count; i++) rs_json_string(json, NULL, param->words[i]);
  rs_json_end(json);
}

void rs_json_param(rs_json *json, const rs_param *param) {
  static const char *const types[] = {[RS_REAL] = "real",     [RS_INTEGER] = "integer", [RS_BOOL] = "bool",
                                      [RS_CHOICE] = "choice", [RS_REALS] = "reals",     [RS_FILE] = "file",
                                      [RS_NAME] = "name",     [RS_FOLDER] = "folder",   [RS_RECIPE] = "method"};
  rs_json_object(json, NULL);
  rs_json_string(json, "name", param->name);
  rs_json_string(json, "type", types[param->type]);
  if (param->words != NULL) write_words(json, param);
  bool numbers = param->type == RS_REAL || param->type == RS_INTEGER || param->type == RS_REALS;
  if (numbers) {
    rs_json_string(json, "unit", param->unit);
    rs_json_number(json, "min", param->min);
    rs_json_number(json, "max", param->max);
  }
  rs_json_string(json, "default", param->fallback);
  rs_json_string(json, "summary", param->summary);
  rs_json_end(json);
}

/* ---- XML and HTML ------------------------------------------------------------------------------------------------ */

static bool allowed_in_xml(uint32_t c) {
  return c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c != 0xFFFE && c != 0xFFFF);
}

void rs_xml_escape(const char *text, rs_text *out) {
  while (*text != '\0') {
    uint32_t character;
    size_t length = rs_utf8_read(text, &character);
    if (length == 0 || !allowed_in_xml(character))
      rs_text_puts(out, RS_REPLACEMENT);
    else if (character == '&')
      rs_text_puts(out, "&amp;");
    else if (character == '<')
      rs_text_puts(out, "&lt;");
    else if (character == '>')
      rs_text_puts(out, "&gt;");
    else if (character == '"')
      rs_text_puts(out, "&quot;");
    else if (character == '\'')
      rs_text_puts(out, "&#39;");
    else
      rs_text_add(out, text, length);
    text += length > 0 ? length : 1;
  }
}
