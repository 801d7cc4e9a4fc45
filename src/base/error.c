/* Errors: the first failure of a call, kept with its words. */
#include "base/base.h"

#include <gsl/gsl_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static rs_status record(rs_err *err, rs_status status, const char *subject, const char *format, va_list words) {
  if (err == NULL) return status;
  if (err->status != RS_OK) return err->status;
  err->status = status;
  rs_message(err->subject, sizeof err->subject, "%s", subject);
  rs_message_print(err->message, sizeof err->message, strcmp(format, "%s") == 0, format, words);
  return status;
}

rs_status rs_fail(rs_err *err, rs_status status, const char *format, ...) {
  va_list words;
  va_start(words, format);
  status = record(err, status, "", format, words);
  va_end(words);
  return status;
}

rs_status rs_fail_on(rs_err *err, rs_status status, const char *subject, const char *format, ...) {
  va_list words;
  va_start(words, format);
  status = record(err, status, subject, format, words);
  va_end(words);
  return status;
}

rs_status rs_fail_read(rs_err *err, const char *format, ...) {
  va_list words;
  bool first = err != NULL && err->status == RS_OK;
  va_start(words, format);
  rs_status status = record(err, RS_IO, "", format, words);
  va_end(words);
  if (first) err->unread = true;
  return status;
}

const char *rs_status_name(rs_status status) {
  static const char *const names[] = {"ok", "input",    "domain",  "unsupported", "memory",
                                      "io", "internal", "stopped", "busy"};
  return (size_t)status < RS_COUNT(names) ? names[status] : "unknown";
}

void rs_err_words(const rs_err *err, char *words, size_t size) {
  rs_message(words, size, "%s%s%s", err->subject, *err->subject != '\0' ? ": " : "", err->message);
}

rs_status rs_gsl(int failed, const char *what, rs_err *err) {
  if (failed == GSL_SUCCESS) return RS_OK;
  rs_status status = failed == GSL_ENOMEM ? RS_MEMORY : RS_INTERNAL;
  return rs_fail(err, status, "%s: GSL: %s", what, gsl_strerror(failed));
}

/* GSL's handler would end the program at the first error. The loader calls this once, before any function of ours. */
__attribute__((constructor)) static void switch_handler_off(void) {
  gsl_set_error_handler_off();
}

/* Messages: words of files and of the command line as a message may show them. A terminal acts on control characters
 * and on marks of the direction of writing (CVE-2021-42574): with them a file could colour, hide or forge what
 * ropescope says of it. */

/* Bytes of a word that a message repeats, and how many of them are its end, where a path has its name and its line. */
enum { WORD = 200, WORD_END = 60 };

static const char gap[] = "...";
enum { GAP = sizeof gap - 1 };

size_t rs_utf8_read(const char *text, uint32_t *character) {
  const unsigned char *bytes = (const unsigned char *)text;
  size_t length = bytes[0] < 0x80 ? 1 : bytes[0] < 0xC2 ? 0 : bytes[0] < 0xE0 ? 2 : bytes[0] < 0xF0 ? 3 : 4;
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  if (length == 0 || bytes[0] > 0xF4) return 0;
  *character = length == 1 ? bytes[0] : bytes[0] & (0xFFu >> (length + 1));
  for (size_t i = 1; i < length; i++) {
    if ((bytes[i] & 0xC0) != 0x80) return 0;
    *character = *character << 6 | (bytes[i] & 0x3F);
  }
  bool surrogate = *character >= 0xD800 && *character < 0xE000;
  return *character < least[length] || *character > 0x10FFFF || surrogate ? 0 : length;
}

static bool continues(char byte) {
  return ((unsigned char)byte & 0xC0) == 0x80;
}

size_t rs_utf8_cut(const char *text, size_t most) {
  size_t length = strnlen(text, most);
  if (length < most || text[length] == '\0') return length;
  size_t cut = length;
  for (size_t i = 0; i < 3 && cut > 0 && continues(text[cut]); i++) cut--;
  return continues(text[cut]) ? length : cut; /* bytes that are no UTF-8 have no characters to cut */
}

bool rs_word_among(const char *word, const char *words) {
  size_t length = strlen(word);
  for (const char *at = words; length > 0 && (at = strstr(at, word)) != NULL; at += length)
    if ((at == words || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0')) return true;
  return false;
}

void rs_shorten(const char *text, size_t size, char *out) {
  bool cut = strnlen(text, size) == size;
  size_t length = rs_utf8_cut(text, cut ? size - sizeof gap : size);
  memcpy(out, text, length);
  memcpy(out + length, cut ? gap : "", cut ? sizeof gap : 1);
}

/* ---- spelling ---------------------------------------------------------------------------------------------------- */

static bool is_harmless(uint32_t c) {
  bool control = c < 0x20 || (c >= 0x7F && c < 0xA0);
  bool line = c == 0x2028 || c == 0x2029;
  bool direction =
      c == 0x061C || c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
  return !control && !line && !direction;
}

rs_shown rs_show(const char *at, const char *kept) {
  rs_shown s;
  uint32_t c;
  size_t bytes = rs_utf8_read(at, &c);
  if (bytes == 0) c = (unsigned char)*at;
  bool plain = bytes > 0 && (is_harmless(c) || (c != 0 && c < 0x80 && strchr(kept, (int)c) != NULL));
  s.bytes = bytes > 0 ? bytes : 1;
  if (plain)
    s.length = (size_t)snprintf(s.text, sizeof s.text, "%.*s", (int)bytes, at);
  else if (c == '\n' || c == '\t')
    s.length = (size_t)snprintf(s.text, sizeof s.text, "%s", c == '\n' ? "\\n" : "\\t");
  else
    s.length = (size_t)snprintf(s.text, sizeof s.text, bytes > 0 && c >= 0x7F ? "\\u%04x" : "\\x%02x", (unsigned)c);
  return s;
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

/* Cuts the middle out of every word of more than WORD bytes; returns the new length. */
static size_t cut_words(char *text, size_t length) {
  size_t kept = 0;
  for (size_t begin = 0; begin < length;) {
    size_t end = begin;
    while (end < length && text[end] != ' ' && text[end] != '\n') end++;
    size_t head = end - begin, tail = end;
    if (head > WORD) {
      head = rs_utf8_cut(text + begin, WORD - WORD_END - GAP);
      tail = end - WORD_END;
      for (size_t i = 0; i < 3 && continues(text[tail]); i++) tail++;
    }
    memmove(text + kept, text + begin, head);
    kept += head;
    if (tail < end) {
      memcpy(text + kept, gap, GAP);
      memmove(text + kept + GAP, text + tail, end - tail);
      kept += GAP + end - tail;
    }
    if (end < length) text[kept++] = text[end];
    begin = end + 1;
  }
  text[kept] = '\0';
  return kept;
}

static size_t shown_length(const char *text, size_t length, const char *kept) {
  size_t total = 0;
  for (size_t i = 0; i < length;) {
    rs_shown s = rs_show(text + i, kept);
    total += s.length;
    i += s.bytes;
  }
  return total;
}

/* Where there is too little room for all, the middle goes: a message ends with its hint. */
static void put_shown(const char *text, size_t length, const char *kept, char *out, size_t size) {
  size_t total = shown_length(text, length, kept), used = 0, passed = 0;
  size_t head = total < size ? total : (size - 1 - GAP) / 3 * 2, tail = total < size ? 0 : size - 1 - GAP - head;
  bool cut = false;
  for (size_t i = 0; i < length;) {
    rs_shown s = rs_show(text + i, kept);
    if ((!cut && passed + s.length <= head) || total - passed <= tail) {
      memcpy(out + used, s.text, s.length);
      used += s.length;
    } else if (!cut) {
      memcpy(out + used, gap, GAP);
      used += GAP;
      cut = true;
    }
    passed += s.length;
    i += s.bytes;
  }
  out[used] = '\0';
}

void rs_message_print(char *out, size_t size, bool lines, const char *format, va_list words) {
  char room[4096], *text = room;
  va_list again;
  va_copy(again, words);
  int length = vsnprintf(room, sizeof room, format, words);
  if (length >= (int)sizeof room) text = malloc((size_t)length + 1);
  if (text == NULL) text = room; /* its beginning, then */
  if (text != room) vsnprintf(text, (size_t)length + 1, format, again);
  va_end(again);
  put_shown(text, cut_words(text, length < 0 ? 0 : strlen(text)), lines ? "\n" : "", out, size);
  if (text != room) free(text);
}

void rs_message(char *out, size_t size, const char *format, ...) {
  va_list words;
  va_start(words, format);
  rs_message_print(out, size, false, format, words);
  va_end(words);
}
