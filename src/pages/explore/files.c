/* The files of the page. */
#include "explore.h"

#include <string.h>

#define DECLARE(symbol)                                                                                                \
  extern const unsigned char rs_explore_##symbol[];                                                                    \
  extern const size_t rs_explore_##symbol##_length;
DECLARE(page_html)
DECLARE(page_css)
DECLARE(chart_js)
DECLARE(page_js)

#define FILE_AT(symbol) rs_explore_##symbol, &rs_explore_##symbol##_length

static const rs_explore_file files[] = {
    {"", "text/html; charset=utf-8", FILE_AT(page_html)},
    {"page.css", "text/css; charset=utf-8", FILE_AT(page_css)},
    {"chart.js", "text/javascript; charset=utf-8", FILE_AT(chart_js)},
    {"page.js", "text/javascript; charset=utf-8", FILE_AT(page_js)},
};

const rs_explore_file *rs_explore_file_find(const char *path) {
  for (size_t i = 0; i < sizeof files / sizeof *files; i++)
    if (strcmp(files[i].path, path) == 0) return &files[i];
  return NULL;
}
