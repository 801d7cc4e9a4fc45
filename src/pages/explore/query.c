/* The query of a URL, taken apart strictly: what a browser would mend is refused. */
#include "explore.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Decodes in place, which never grows. */
static rs_status decode(char *text, rs_err *err) {
  char *out = text;
  for (const char *c = text; *c != '\0'; c++) {
    int byte = *c == '+' ? ' ' : (unsigned char)*c;
    if (*c == '%') {
      int high = digit_of(c[1]), low = high >= 0 ? digit_of(c[2]) : -1;
      if (low < 0) return rs_fail(err, RS_INPUT, "the query has a %% that no two hexadecimal digits follow");
      byte = high * 16 + low;
      c += 2;
    }
    if (byte < 0x20 || byte > 0x7e) return rs_fail(err, RS_INPUT, "the query has a character outside printable ASCII");
    *out++ = (char)byte;
  }
  *out = '\0';
  return RS_OK;
}

static rs_status add_param(rs_query *query, char *word, rs_err *err) {
  char *equals = strchr(word, '=');
  if (equals == NULL || equals == word) return rs_fail(err, RS_INPUT, "the query has a part that is no name=value");
  if (query->count == RS_QUERY_PARAMS)
    return rs_fail(err, RS_INPUT, "the query has more than %d parameters", RS_QUERY_PARAMS);
  *equals = '\0';
  RS_TRY(decode(word, err));
  RS_TRY(decode(equals + 1, err));
  if (rs_query_get(query, word) != NULL) return rs_fail_on(err, RS_INPUT, word, "is given twice");
  query->params[query->count++] = (rs_query_param){word, equals + 1};
  return RS_OK;
}

static rs_status split(rs_query *query, rs_err *err) {
  for (char *word = query->text, *next; *word != '\0'; word = next) {
    size_t length = strcspn(word, "&");
    next = word + length + (word[length] != '\0');
    word[length] = '\0';
    RS_TRY(add_param(query, word, err));
  }
  return RS_OK;
}

rs_status rs_query_read(const char *text, rs_query *query, rs_err *err) {
  *query = (rs_query){0};
  if (strlen(text) > RS_EXPLORE_QUERY)
    return rs_fail(err, RS_INPUT, "the query is longer than %d bytes", RS_EXPLORE_QUERY);
  query->text = rs_strdup(text, err);
  if (query->text == NULL) return RS_MEMORY;
  rs_status status = split(query, err);
  if (status != RS_OK) rs_query_clear(query);
  return status;
}

void rs_query_clear(rs_query *query) {
  free(query->text);
  *query = (rs_query){0};
}

const char *rs_query_get(const rs_query *query, const char *name) {
  for (size_t i = 0; i < query->count; i++)
    if (strcmp(query->params[i].name, name) == 0) return query->params[i].value;
  return NULL;
}

static void add_escaped(rs_text *text, const char *word) {
  for (; *word != '\0'; word++) {
    if (isalnum((unsigned char)*word) || strchr("-._~", *word) != NULL)
      rs_text_add(text, word, 1);
    else
      rs_text_printf(text, "%%%02X", (unsigned char)*word);
  }
}

void rs_query_add(rs_text *text, const char *name, const char *value) {
  if (text->length > 0) rs_text_puts(text, "&");
  add_escaped(text, name);
  rs_text_puts(text, "=");
  add_escaped(text, value);
}
