/* format.c: the formats of pictures and their names, which are the endings of files. */
#include "paper.h"

#include <string.h>

static const struct {
  rs_plot_format format;
  const char *name;
} formats[] = {{RS_PLOT_SVG, "svg"}, {RS_PLOT_PNG, "png"}, {RS_PLOT_PDF, "pdf"}};

const char *rs_plot_format_name(rs_plot_format format) {
  size_t i = 0;
  while (i + 1 < RS_COUNT(formats) && formats[i].format != format) i++;
  return formats[i].name;
}

unsigned rs_plot_format_of(const char *file) {
  size_t length = strlen(file);
  for (size_t i = 0; i < RS_COUNT(formats) && length > 4 && file[length - 4] == '.'; i++)
    if (strcmp(file + length - 3, formats[i].name) == 0) return formats[i].format;
  return 0;
}

rs_status rs_plot_formats_read(const char *list, unsigned *chosen, rs_err *err) {
  *chosen = 0;
  for (const char *word = list;; word++) {
    size_t length = strcspn(word, ","), i = 0;
    while (i < RS_COUNT(formats) && (strlen(formats[i].name) != length || strncmp(word, formats[i].name, length) != 0))
      i++;
    if (i == RS_COUNT(formats))
      return rs_fail_on(err, RS_INPUT, "format", "\"%.*s\" is not one of svg, png, pdf", (int)length, word);
    *chosen |= formats[i].format;
    word += length;
    if (*word == '\0') return RS_OK;
  }
}
