/* page.c: the parts of a page. */
#include "pages/pages.h"

#include "io/io.h"

#include <string.h>

/* Made by bytes.c. */
extern const unsigned char rs_page_css[], rs_page_chart[], rs_page_heat[];
extern const size_t rs_page_css_length, rs_page_chart_length, rs_page_heat_length;

#ifdef ROPESCOPE_CHARTS
extern const unsigned char rs_page_library[], rs_page_library_css[], rs_page_licence[];
extern const size_t rs_page_library_length, rs_page_library_css_length;
#endif

static void put_bytes(rs_text *out, const unsigned char *bytes, size_t length) {
  rs_text_add(out, (const char *)bytes, length);
}

bool rs_page_has_charts(void) {
#ifdef ROPESCOPE_CHARTS
  return true;
#else
  return false;
#endif
}

void rs_page_begin(rs_text *out, const char *title, bool live) {
  rs_text_printf(out,
                 "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                 "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                 "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data: blob:%s\">\n"
                 "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                 "<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
                 live ? "; connect-src 'self'" : "");
  rs_xml_escape(title, out);
  rs_text_puts(out, "</title>\n<style>\n");
#ifdef ROPESCOPE_CHARTS
  put_bytes(out, rs_page_library_css, rs_page_library_css_length);
#endif
  put_bytes(out, rs_page_css, rs_page_css_length);
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
#ifdef ROPESCOPE_CHARTS
  if (library) {
    rs_text_puts(out, "<script type=\"text/plain\" id=\"terms-of-dygraphs\">\n");
    rs_xml_escape((const char *)rs_page_licence, out);
    rs_text_puts(out, "</script>\n");
    rs_page_script(out, rs_page_library, rs_page_library_length);
  }
#else
  (void)library;
#endif
  rs_page_script(out, rs_page_chart, rs_page_chart_length);
  rs_page_script(out, rs_page_heat, rs_page_heat_length);
}

void rs_page_script(rs_text *out, const unsigned char *bytes, size_t length) {
  rs_text_puts(out, "<script>\n");
  put_bytes(out, bytes, length);
  rs_text_puts(out, "</script>\n");
}

void rs_page_end(rs_text *out) {
  rs_text_puts(out, "</body>\n</html>\n");
}
