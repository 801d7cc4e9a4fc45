/* Texts and values of parameters as YAML. */
#include "config_internal.h"

#include <string.h>

/* What a double-quoted YAML text cannot hold as it is, beside C0: DEL, C1, the two line separators, the byte order
 * mark. Returns the bytes it takes in UTF-8, 0 for any other letter. */
static size_t put_odd_letter(rs_text *yaml, const char *letter) {
  const unsigned char *c = (const unsigned char *)letter;
  bool c1 = c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0;
  bool line = strncmp(letter, "\u2028", 3) == 0 || strncmp(letter, "\u2029", 3) == 0,
       mark = strncmp(letter, "\uFEFF", 3) == 0;
  if (c[0] < 0x20 || c[0] == 0x7f || c1) rs_text_printf(yaml, "\\x%02x", c1 ? c[1] : c[0]);
  if (line) rs_text_printf(yaml, "\\u20%02x", c[2] - 0x80);
  if (mark) rs_text_puts(yaml, "\\ufeff");
  return line || mark ? 3 : c1 ? 2 : c[0] < 0x20 || c[0] == 0x7f;
}

void rs_put_string(rs_text *yaml, const char *text) {
  rs_text_puts(yaml, "\"");
  while (*text != '\0') {
    size_t odd = put_odd_letter(yaml, text);
    if (odd == 0) rs_text_printf(yaml, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    text += odd > 0 ? odd : 1;
  }
  rs_text_puts(yaml, "\"");
}

static void put_setting(rs_text *yaml, const rs_settings *settings, size_t index) {
  const rs_value *value = &settings->values[index];
  rs_text_printf(yaml, ", %s: ", settings->params[index]->name);
  if (rs_value_is_file(settings->params[index], value))
    rs_put_string(yaml, value->file);
  else if (settings->params[index]->type == RS_NAME)
    rs_put_string(yaml, value->name);
  else
    rs_value_write(settings->params[index], value, yaml);
}

void rs_put_settings(rs_text *yaml, const rs_settings *settings, bool all) {
  for (size_t p = 0; p < settings->count; p++)
    if (settings->values[p].set && (all || settings->values[p].given)) put_setting(yaml, settings, p);
}
