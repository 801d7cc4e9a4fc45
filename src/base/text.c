/* Growing text. A writer adds without checking and asks once, at its end, whether everything fitted. */
#include "ropescope/base.h"

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

void rs_text_printf(rs_text *text, const char *format, ...) {
  va_list words;
  va_start(words, format);
  int length = vsnprintf(NULL, 0, format, words);
  va_end(words);
  if (length < 0 || !reserve(text, (size_t)length)) {
    text->failed = true;
    return;
  }
  va_start(words, format);
  vsnprintf(text->data + text->length, (size_t)length + 1, format, words);
  va_end(words);
  text->length += (size_t)length;
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
