/* width.c: how wide text is, without a font. An SVG is set in whatever sans-serif font its reader has; the widths
 * here are those of DejaVu Sans, the widest of the usual ones (Helvetica and Arial are about 10 % narrower), so that
 * text may end early but never runs into something. */
#include "paper.h"

#include <string.h>

/* Advance widths of U+0020..U+007E in DejaVu Sans 2.37, in 1/1000 of the font size (its hmtx table). */
static const short widths[95] = {318,  401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337,
                                 636,  636, 636, 636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531,
                                 1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656, 557, 863, 748, 787,
                                 603,  787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838, 500,
                                 500,  613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612,
                                 635,  635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838};

/* DejaVu Sans Bold is wider by 7 % ('0') to 18 % ('i'). */
#define BOLD 1.13

static bool is_continuation(char byte) {
  return ((unsigned char)byte & 0xC0) == 0x80;
}

/* The width of the character that starts with this byte: Latin, Greek and Cyrillic letters are at most 0.84 wide, the
 * scripts of three and more bytes up to a whole square. */
static double character_width(char byte) {
  unsigned char lead = (unsigned char)byte;
  if (lead >= 0xE0) return 1;
  if (lead >= 0x80) return 0.84;
  return lead >= 0x20 && lead < 0x7F ? widths[lead - 0x20] / 1000.0 : 1;
}

double rs_plot_text_width(const char *text, size_t length, double size, bool bold) {
  double width = 0;
  for (size_t i = 0; i < length; i++) {
    if (!is_continuation(text[i])) width += character_width(text[i]);
  }
  return width * size * (bold ? BOLD : 1);
}

/* Bytes of as many whole characters as fit; at least one. */
static size_t fitting(const char *text, double size, bool bold, double width) {
  size_t length = 0;
  while (text[length] != '\0') {
    size_t next = length + 1;
    while (is_continuation(text[next])) next++;
    if (length > 0 && rs_plot_text_width(text, next, size, bold) > width) return length;
    length = next;
  }
  return length;
}

/* Where a word that is too long is cut, within the first `length` bytes: behind the last sign that joins its parts. */
static size_t cut_word(const char *text, size_t length) {
  for (size_t cut = length; cut > 1; cut--)
    if (strchr("_-/=,", text[cut - 1]) != NULL) return cut;
  return length;
}

size_t rs_plot_wrap(const char *text, double size, bool bold, double width, const char **next) {
  size_t length = fitting(text, size, bold, width), cut = length;
  if (text[length] != '\0') {
    while (cut > 0 && text[cut] != ' ') cut--;
    if (cut == 0) cut = cut_word(text, length);
  }
  *next = text + cut;
  while (**next == ' ') ++*next;
  return cut;
}
