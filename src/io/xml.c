/* xml.c: text that is safe within XML and HTML. */
#include "ropescope/io.h"

#define REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD */

/* Bytes of the UTF-8 character at `text`, and the character; 0 if it is none (Unicode 15, table 3-7). */
static size_t decode(const char *text, uint32_t *character) {
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

static bool allowed_in_xml(uint32_t c) {
  return c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c != 0xFFFE && c != 0xFFFF);
}

void rs_xml_escape(const char *text, rs_text *out) {
  while (*text != '\0') {
    uint32_t character;
    size_t length = decode(text, &character);
    if (length == 0 || !allowed_in_xml(character))
      rs_text_puts(out, REPLACEMENT);
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
