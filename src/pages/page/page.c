/* page.c: the parts of a page, and the files of one that a server gives. */
#include "pages/pages.h"

#include <string.h>

/* Made by bytes.c. */
#define DECLARE(symbol)                                                                                                \
  extern const unsigned char symbol[];                                                                                 \
  extern const size_t symbol##_length;
DECLARE(rs_page_css)
DECLARE(rs_page_chart)
DECLARE(rs_page_heat)
DECLARE(rs_explore_page_html)
DECLARE(rs_explore_page_css)
DECLARE(rs_explore_page_js)
#ifdef ROPESCOPE_CHARTS
DECLARE(rs_page_library)
DECLARE(rs_page_library_css)
DECLARE(rs_page_licence)
static const bool charts = true;
#else
static const bool charts = false;
static const unsigned char rs_page_library[1], rs_page_library_css[1], rs_page_licence[1];
static const size_t rs_page_library_length = 0, rs_page_library_css_length = 0, rs_page_licence_length = 0;
#endif

bool rs_page_has_charts(void) {
  return charts;
}

rs_page_file rs_page_find(const char *path) {
  static const char css[] = "text/css; charset=utf-8", js[] = "text/javascript; charset=utf-8";
  const rs_page_file files[] = {
      {"", "text/html; charset=utf-8", rs_explore_page_html, rs_explore_page_html_length},
      {"page.css", css, rs_page_css, rs_page_css_length},
      {"explore.css", css, rs_explore_page_css, rs_explore_page_css_length},
      {"dygraph.css", css, rs_page_library_css, rs_page_library_css_length},
      {"dygraph.js", js, rs_page_library, rs_page_library_length},
      {"dygraph.txt", "text/plain; charset=utf-8", rs_page_licence, rs_page_licence_length},
      {"chart.js", js, rs_page_chart, rs_page_chart_length},
      {"page.js", js, rs_explore_page_js, rs_explore_page_js_length},
  };
  for (size_t i = 0; i < RS_COUNT(files); i++)
    if (strcmp(files[i].path, path) == 0) return files[i];
  return (rs_page_file){.data = NULL};
}

void rs_page_begin(rs_text *out, const char *title) {
  rs_text_puts(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                    "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data: blob:\">\n"
                    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                    "<meta name=\"color-scheme\" content=\"light dark\">\n<title>");
  rs_xml_escape(title, out);
  rs_text_puts(out, "</title>\n<style>\n");
  rs_text_add(out, (const char *)rs_page_library_css, rs_page_library_css_length);
  rs_text_add(out, (const char *)rs_page_css, rs_page_css_length);
  rs_text_puts(out, "</style>\n</head>\n<body>\n");
}

/* Within a JSON text < stands in strings alone, where its escape means the same. */
void rs_page_json(rs_text *out, const char *id, const char *json) {
  rs_text_puts(out, "<script type=\"application/json\" id=\"");
  rs_xml_escape(id, out);
  rs_text_puts(out, "\">");
  for (const char *less; (less = strchr(json, '<')) != NULL; json = less + 1) {
    rs_text_add(out, json, (size_t)(less - json));
    rs_text_puts(out, "\\u003c");
  }
  rs_text_puts(out, json);
  rs_text_puts(out, "</script>\n");
}

void rs_page_charts(rs_text *out, bool library) {
  if (charts && library) {
    rs_text_puts(out, "<script type=\"text/plain\" id=\"terms-of-dygraphs\">\n");
    rs_xml_escape((const char *)rs_page_licence, out);
    rs_text_puts(out, "</script>\n");
    rs_page_script(out, rs_page_library, rs_page_library_length);
  }
  rs_page_script(out, rs_page_chart, rs_page_chart_length);
  rs_page_script(out, rs_page_heat, rs_page_heat_length);
}

void rs_page_script(rs_text *out, const unsigned char *bytes, size_t length) {
  rs_text_puts(out, "<script>\n");
  rs_text_add(out, (const char *)bytes, length);
  rs_text_puts(out, "</script>\n");
}
