/* Growing text. A writer adds without checking and asks once, at its end, whether everything fitted. */
#include "base/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool reserve(rs_text *text, size_t extra) {
  if (text->failed) return false;
  void *data = text->data;
  text->failed = extra > SIZE_MAX / 4 || rs_grow(&data, &text->capacity, text->length + extra + 1, 1, NULL) != RS_OK;
  text->data = data;
  return !text->failed;
}

void rs_text_add(rs_text *text, const char *bytes, size_t count) {
  if (!reserve(text, count)) return;
  memcpy(text->data + text->length, bytes, count);
  text->length += count;
  text->data[text->length] = '\0';
}

void rs_text_puts(rs_text *text, const char *string) {
  rs_text_add(text, string, strlen(string));
}

static void print(rs_text *text, const char *format, va_list words) {
  va_list again;
  va_copy(again, words);
  int length = vsnprintf(NULL, 0, format, words);
  if (length < 0 || !reserve(text, (size_t)length)) {
    text->failed = true;
  } else {
    vsnprintf(text->data + text->length, (size_t)length + 1, format, again);
    text->length += (size_t)length;
  }
  va_end(again);
}

void rs_text_printf(rs_text *text, const char *format, ...) {
  va_list words;
  va_start(words, format);
  print(text, format, words);
  va_end(words);
}

void rs_text_number(rs_text *text, double value) {
  char digits[RS_NUMBER_CHARS];
  rs_text_add(text, digits, rs_number_format(value, digits));
}

void rs_text_shell(rs_text *text, const char *word) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
  if (*word != '\0' && strspn(word, plain) == strlen(word)) {
    rs_text_puts(text, word);
    return;
  }
  rs_text_puts(text, "'");
  for (; *word != '\0'; word++) {
    if (*word == '\'')
      rs_text_puts(text, "'\\''");
    else
      rs_text_add(text, word, 1);
  }
  rs_text_puts(text, "'");
}

/* Bytes at the beginning that are shown as they are. */
static size_t count_plain(const char *text, size_t length, const char *kept) {
  size_t i = 0;
  while (i < length) {
    rs_shown s = rs_show(text + i, kept);
    if (s.length != s.bytes || memcmp(s.text, text + i, s.bytes) != 0) break;
    i += s.bytes;
  }
  return i;
}

void rs_text_spell(rs_text *text, size_t from, const char *kept) {
  if (text->failed || from >= text->length) return;
  size_t plain = from + count_plain(text->data + from, text->length - from, kept);
  if (plain == text->length) return;
  RS_OWNED(rs_text) spelled = {0};
  for (size_t i = plain; i < text->length;) {
    rs_shown s = rs_show(text->data + i, kept);
    rs_text_add(&spelled, s.text, s.length);
    i += s.bytes;
  }
  text->length = plain;
  text->failed |= spelled.failed;
  rs_text_add(text, rs_text_string(&spelled), spelled.length);
}

void rs_text_end_line(rs_text *text, size_t from) {
  rs_text_spell(text, from, "");
  rs_text_puts(text, "\n");
}

void rs_text_line(rs_text *text, const char *format, ...) {
  size_t from = text->length;
  va_list words;
  va_start(words, format);
  print(text, format, words);
  va_end(words);
  rs_text_end_line(text, from);
}

void rs_text_clear(rs_text *text) {
  free(text->data);
  *text = (rs_text){0};
}

const char *rs_text_string(const rs_text *text) {
  return text->data != NULL ? text->data : "";
}

rs_status rs_text_check(const rs_text *text, rs_err *err) {
  return text->failed ? rs_fail(err, RS_MEMORY, "out of memory for text") : RS_OK;
}

/* What a double-quoted YAML text cannot hold as it is, beside C0: DEL, C1, the two line separators, the byte order
 * mark. Returns the bytes it takes in UTF-8, 0 for any other letter. */
static size_t quote_odd(rs_text *text, const char *letter) {
  const unsigned char *c = (const unsigned char *)letter;
  bool c1 = c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0;
  bool line = strncmp(letter, "\u2028", 3) == 0 || strncmp(letter, "\u2029", 3) == 0,
       mark = strncmp(letter, "\uFEFF", 3) == 0;
  if (c[0] < 0x20 || c[0] == 0x7f || c1) rs_text_printf(text, "\\x%02x", c1 ? c[1] : c[0]);
  if (line) rs_text_printf(text, "\\u20%02x", c[2] - 0x80);
  if (mark) rs_text_puts(text, "\\ufeff");
  return line || mark ? 3 : c1 ? 2 : c[0] < 0x20 || c[0] == 0x7f;
}

void rs_text_quote(rs_text *text, const char *words) {
  rs_text_puts(text, "\"");
  while (*words != '\0') {
    size_t odd = quote_odd(text, words);
    if (odd == 0) rs_text_printf(text, *words == '"' || *words == '\\' ? "\\%c" : "%c", *words);
    words += odd > 0 ? odd : 1;
  }
  rs_text_puts(text, "\"");
}
