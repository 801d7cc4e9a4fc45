/* page/page.h: what every page for a browser is made of: one style, one script that draws charts, and the chart
 * library behind it. A page holds all of these and asks no other host for anything: its content policy forbids it.
 *
 * The library is dygraphs (MIT), as the system packages it; it becomes part of the program when that is built, and is
 * left out where it is not there. Uses base and io. */
#ifndef ROPESCOPE_PAGE_H
#define ROPESCOPE_PAGE_H

#include "base/base.h"

/* Whether the chart library is part of this program. */
bool rs_page_has_charts(void);

/* Appends a page up to and with <body>. `title` is plain text. A `live` page may also ask the host that it comes from;
 * any other may ask nobody. */
void rs_page_begin(rs_text *out, const char *title, bool live) RS_NONNULL(1, 2);

/* Appends <script type="application/json" id=ID> with `json`, which is made safe within a page: it has no <, and reads
 * back as it was. */
void rs_page_json(rs_text *out, const char *id, const char *json) RS_NONNULL(1, 2, 3);

/* Appends the scripts of charts, before it (with `library`, where the program has it) the chart library and the terms
 * that it comes under. src/page/chart.js and heat.js say what they offer to scripts that follow. */
void rs_page_charts(rs_text *out, bool library) RS_NONNULL(1);

/* Appends <script> with `bytes` (length,), which come with the program and are no user's. */
void rs_page_script(rs_text *out, const unsigned char *bytes, size_t length) RS_NONNULL(1, 2);

/* Appends the end of the page. */
void rs_page_end(rs_text *out) RS_NONNULL(1);

#endif
