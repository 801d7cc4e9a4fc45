/* plot_svg.h: what an SVG of ours shows: its texts and their boxes, and the colours of cells at places. */
#ifndef ROPESCOPE_TESTS_PLOT_SVG_H
#define ROPESCOPE_TESTS_PLOT_SVG_H

#include "../../src/pages/plot/paper.h"
#include "plot_fixture.h"

typedef struct shown {
  char words[400];
  double x, y, box[4]; /* left, right, top, bottom */
  uint32_t colour;
} shown;

UNUSED static double attribute(const char *tag, const char *name, double fallback) {
  char key[40];
  snprintf(key, sizeof key, " %s=\"", name);
  const char *found = strstr(tag, key), *end = strchr(tag, '>');
  return found != NULL && found < end ? strtod(found + strlen(key), NULL) : fallback;
}

UNUSED static bool says(const char *tag, const char *words) {
  const char *found = strstr(tag, words);
  return found != NULL && found < strchr(tag, '>');
}

UNUSED static shown read_text(const char *tag) {
  shown text = {.x = attribute(tag, "x", 0), .y = attribute(tag, "y", 0)};
  const char *begin = strchr(tag, '>') + 1;
  text.colour = (uint32_t)strtoul(strstr(tag, "fill=\"#") + 7, NULL, 16);
  size_t length = strcspn(begin, "<");
  cr_assert_lt(length, sizeof text.words);
  memcpy(text.words, begin, length);
  bool upright = says(tag, "rotate");
  double size = attribute(tag, "font-size", 0), width = rs_plot_text_width(begin, length, size, says(tag, "bold"));
  double left = says(tag, "\"middle\"") ? width / 2 : says(tag, "\"end\"") ? width : 0, up = 0.75 * size;
  const double flat[] = {text.x - left, text.x - left + width, text.y - up, text.y};
  const double stood[] = {text.x - up, text.x, text.y - width + left, text.y + left};
  memcpy(text.box, upright ? stood : flat, sizeof text.box);
  return text;
}

/* The texts of an SVG, at most `room`. */
UNUSED static size_t read_texts(const char *svg, shown *texts, size_t room) {
  size_t count = 0;
  for (const char *found = svg; (found = strstr(found, "<text")) != NULL; found++) {
    cr_assert_lt(count, room);
    texts[count++] = read_text(found);
  }
  return count;
}

enum { TEXTS = 2000 };

/* No text touches another or leaves the picture. */
UNUSED static void check_texts(const char *svg) {
  static shown texts[TEXTS];
  size_t count = read_texts(svg, texts, TEXTS);
  double width = attribute(svg, "width", 0), height = attribute(svg, "height", 0);
  for (size_t i = 0; i < count; i++) {
    const double *a = texts[i].box;
    cr_assert(a[0] >= 0 && a[1] <= width && a[2] >= 0 && a[3] <= height, "%s is outside", texts[i].words);
    for (size_t k = i + 1; k < count; k++) {
      const double *b = texts[k].box;
      cr_assert(a[1] <= b[0] || b[1] <= a[0] || a[3] <= b[2] || b[3] <= a[2], "%s and %s overlap", texts[i].words,
                texts[k].words);
    }
  }
}

/* The first text of these words after the first `skip` of them. */
UNUSED static shown find_text(const char *svg, const char *words, size_t skip) {
  static shown texts[TEXTS];
  size_t count = read_texts(svg, texts, TEXTS);
  for (size_t i = 0; i < count; i++) {
    if (strcmp(texts[i].words, words) == 0 && skip-- == 0) return texts[i];
  }
  cr_assert_fail("no text %s", words);
  return (shown){0};
}

UNUSED static bool has_text(const char *svg, const char *words) {
  static shown texts[TEXTS];
  size_t count = read_texts(svg, texts, TEXTS);
  for (size_t i = 0; i < count; i++) {
    if (strcmp(texts[i].words, words) == 0) return true;
  }
  return false;
}

/* The colour of the cell at a point; UINT32_MAX: there is none. */
UNUSED static uint32_t colour_at(const char *svg, double x, double y) {
  for (const char *found = svg; (found = strstr(found, "crispEdges\" fill=\"#")) != NULL; found++) {
    uint32_t colour = (uint32_t)strtoul(strchr(found, '#') + 1, NULL, 16);
    const char *end = strstr(found, "/>");
    for (const char *cell = strchr(found, 'M'); cell != NULL && cell < end; cell = strchr(cell + 1, 'M')) {
      double left, top, width, height;
      cr_assert_eq(sscanf(cell, "M%lf %lfh%lfv%lf", &left, &top, &width, &height), 4);
      if (x >= left && x < left + width && y >= top && y < top + height) return colour;
    }
  }
  return UINT32_MAX;
}

#endif
