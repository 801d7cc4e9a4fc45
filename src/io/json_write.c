/* json_write.c: JSON text, written in the order of the calls. Numbers are the shortest that read back to the same
 * double, which jansson does not print. */
#include <math.h>

#include "io_internal.h"

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
