/* xml.c: text that is safe within XML and HTML. */
#include "io_internal.h"

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
