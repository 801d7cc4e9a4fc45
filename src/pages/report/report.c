/* report.c: the page. What a reader needs first stands first; the numbers of the charts and the CSV files stand behind
 * it, packed, and report.js unpacks them. */

#include "report.h"

#include <errno.h>
#include <limits.h>
#include <nettle/base64.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

/* Made of report.js. */
extern const unsigned char rs_report_script[];
extern const size_t rs_report_script_length;

typedef struct reporter {
  report_results *folders; /* (count,) */
  size_t count;
  bool charts; /* not still pictures */
  rs_text *out;
  rs_plot_report *notes;
  rs_err *err;
} reporter;

/* ---- folders ----------------------------------------------------------------------------------------------------- */

static const char *last_part(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

static bool is_shared(const reporter *r, size_t index) {
  for (size_t i = 0; i < r->count; i++)
    if (i != index && strcmp(last_part(r->folders[i].directory), last_part(r->folders[index].directory)) == 0)
      return true;
  return false;
}

static rs_status read_folders(reporter *r, const char *const *directories) {
  for (size_t i = 0; i < r->count; i++) RS_TRY(report_results_read(directories[i], &r->folders[i], r->err));
  for (size_t i = 0; i < r->count; i++)
    if (!is_shared(r, i)) r->folders[i].label = last_part(r->folders[i].directory);
  return RS_OK;
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

static void put_header(const reporter *r, const char *title) {
  report_put(
      r->out,
      "<header>\n<h1>%s</h1>\n<nav aria-label=\"Parts\"><a href=\"#asked\">Words</a> <a href=\"#table\">Table</a> "
      "<a href=\"#charts\">Charts</a> <a href=\"#files\">Files</a></nav>\n</header>\n<main>\n",
      title);
}

static rs_status put_words(const reporter *r) {
  rs_text_puts(r->out, "<section id=\"asked\">\n<h2>What was asked, and what came out</h2>\n");
  if (r->count > 1) rs_text_printf(r->out, "<p>%zu folders of results stand side by side.</p>\n", r->count);
  for (size_t i = 0; i < r->count; i++) {
    const char *incomplete = r->folders[i].data.incomplete; /* is said before anything else */
    if (r->count > 1) report_put(r->out, "<h3>%s</h3>\n", r->folders[i].label);
    if (*incomplete != '\0') report_put(r->out, "<p><strong>%s</strong></p>\n", incomplete);
    report_asked(&r->folders[i], r->out);
    RS_TRY(report_found(&r->folders[i], r->out, r->err));
  }
  rs_text_puts(r->out, "</section>\n");
  return RS_OK;
}

static void put_origin(const reporter *r) {
  rs_text_puts(r->out, "<section id=\"made\">\n<h2>How this was made</h2>\n<ul>\n");
  for (size_t i = 0; i < r->count; i++) {
    const report_results *folder = &r->folders[i];
    report_put(r->out, "<li>%s: ropescope %s, config with SHA-256 <code>%s</code></li>\n", folder->directory,
               report_member(folder->root, "version"), folder->data.config);
  }
  rs_text_puts(r->out, "</ul>\n");
  for (size_t i = 0; i < r->count; i++)
    report_put(r->out, "<details><summary>The config of %s, resolved</summary>\n<pre>%s</pre></details>\n",
               r->folders[i].label, report_member(r->folders[i].root, "config"));
  if (r->charts)
    rs_text_puts(r->out, "<p class=\"soft\">Charts are drawn by dygraphs, which is part of this page under the MIT "
                         "licence; its source text holds the terms.</p>\n");
  rs_text_puts(r->out, "</section>\n");
}

/* ---- charts ------------------------------------------------------------------------------------------------------ */

/* Appends `bytes` (length,) compressed by gzip (RFC 1952), as base64 (RFC 4648, section 4): a page has room for letters
 * alone. The same bytes give the same text. */
static rs_status pack(const char *bytes, size_t length, rs_text *out, rs_err *err) {
  enum { GZIP = 16 + MAX_WBITS, MEMORY = 8 };
  z_stream stream = {0};
  RS_OWNED(rs_arena) memory = {0};
  if (length > UINT_MAX / 2) return rs_fail(err, RS_INTERNAL, "too many bytes for a page");
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, GZIP, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
    return rs_fail(err, RS_MEMORY, "out of memory for the compression of a page");
  size_t room = deflateBound(&stream, (uLong)length);
  unsigned char *packed = rs_arena_take(&memory, room, 1);
  char *letters = rs_arena_take(&memory, BASE64_ENCODE_RAW_LENGTH(room), 1);
  rs_status status = rs_arena_check(&memory, err);
  stream.next_in = (unsigned char *)(uintptr_t)bytes; /* zlib does not write there */
  stream.avail_in = (unsigned)length;
  stream.next_out = packed;
  stream.avail_out = (unsigned)room;
  if (status == RS_OK && deflate(&stream, Z_FINISH) != Z_STREAM_END)
    status = rs_fail(err, RS_INTERNAL, "zlib did not end");
  if (status == RS_OK) {
    base64_encode_raw(letters, stream.total_out, packed);
    rs_text_add(out, letters, BASE64_ENCODE_RAW_LENGTH(stream.total_out));
  }
  (void)deflateEnd(&stream);
  return status;
}

static rs_status put_packed(const reporter *r, const char *kind, size_t folder, size_t index, const char *bytes,
                            size_t length) {
  rs_text_printf(r->out, "<script type=\"application/gzip\" id=\"%s-%zu-%zu\">", kind, folder, index);
  rs_status status = pack(bytes, length, r->out, r->err);
  rs_text_puts(r->out, "</script>\n");
  return status;
}

/* The numbers of all views as one JSON list. */
static rs_status put_numbers(const reporter *r, size_t folder, const rs_plot_views *views) {
  RS_OWNED(rs_text) list = {0};
  rs_text_puts(&list, "[");
  for (size_t i = 0; i < views->count; i++) {
    rs_text_puts(&list, i > 0 ? "," : "");
    rs_text_puts(&list, views->items[i].numbers);
  }
  rs_text_puts(&list, "]");
  RS_TRY(rs_text_check(&list, r->err));
  return put_packed(r, "views", folder, 0, list.data, list.length);
}

static void put_pictures(const reporter *r, size_t folder, const rs_plot_views *views) {
  for (size_t i = 0; i < views->count; i++) {
    rs_text_puts(r->out, "<figure class=\"card still\">\n");
    rs_text_puts(r->out, views->items[i].svg + strspn(views->items[i].svg, " \n"));
    rs_text_puts(r->out, "<figcaption>");
    if (r->count > 1) report_put(r->out, "%s: ", r->folders[folder].label);
    report_put(r->out, "%s</figcaption>\n</figure>\n", views->items[i].name);
  }
}

static rs_status put_charts(const reporter *r) {
  rs_status status = RS_OK;
  rs_text_puts(r->out, "<section id=\"charts\">\n<h2>Curves and maps</h2>\n<div id=\"cards\" class=\"cards\">\n");
  for (size_t i = 0; i < r->count && status == RS_OK; i++) {
    RS_OWNED(rs_plot_views) views = {0};
    status = rs_plot_views_read(r->folders[i].directory, !r->charts, &views, r->notes, r->err);
    if (status == RS_OK && r->charts) status = put_numbers(r, i, &views);
    if (status == RS_OK && !r->charts) put_pictures(r, i, &views);
  }
  rs_text_puts(r->out, "</div>\n");
  if (r->charts)
    rs_text_puts(r->out, "<noscript><p>Charts need scripts, which are part of this page; <code>ropescope plot</code> "
                         "draws the same as pictures.</p></noscript>\n");
  rs_text_puts(r->out, "</section>\n");
  return status;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* Whether the page is made without the file, and says so: it is too large, or not there. */
static bool is_left_out(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 ? info.st_size > RS_REPORT_CSV : errno == ENOENT;
}

/* Packs one CSV file. */
static rs_status put_file(const reporter *r, size_t folder, size_t index, const char *name) {
  RS_FREED char *text = NULL, *path = rs_path_join(r->folders[folder].directory, name, r->err);
  size_t length = 0;
  if (path == NULL) return RS_MEMORY;
  rs_err why = {0};
  rs_status status = rs_results_read(path, RS_REPORT_CSV, &text, &length, &why);
  report_put(r->out, "<li>%s", r->count > 1 ? path : name);
  if (status == RS_OK) {
    report_put(r->out,
               " <span class=\"soft\">(%z bytes)</span> <a class=\"csv\" hidden data-name=\"%s\" "
               "data-packed=\"csv-%z-%z\">download</a>",
               length, name, folder, index);
    status = put_packed(r, "csv", folder, index, text, length);
  } else {
    report_put(r->out, ": not in this page: %s", why.message);
    status = status != RS_IO || !is_left_out(path) ? rs_fail(r->err, status, "%s", why.message) : RS_OK;
  }
  rs_text_puts(r->out, "</li>\n");
  return status;
}

static rs_status put_files(const reporter *r) {
  rs_text_puts(r->out, "<section id=\"files\">\n<h2>The numbers, as CSV</h2>\n<ul>\n");
  for (size_t f = 0; f < r->count; f++) {
    const rs_plot_data *data = &r->folders[f].data;
    for (size_t i = 0; i < data->count; i++) RS_TRY(put_file(r, f, i, data->files[i].name));
  }
  rs_text_puts(r->out,
               "</ul>\n<noscript><p>The files are packed within this page; a script unpacks them.</p></noscript>\n"
               "</section>\n");
  return RS_OK;
}

/* ---- the page ---------------------------------------------------------------------------------------------------- */

/* What report.js needs to begin with. */
static rs_status put_data(const reporter *r) {
  uint32_t colours[RS_PLOT_MAP_LEVELS];
  RS_OWNED(rs_text) text = {0};
  rs_json json = {.text = &text};
  rs_plot_map_colours(colours);
  rs_json_object(&json, NULL);
  rs_json_bool(&json, "charts", r->charts);
  rs_json_array(&json, "folders");
  for (size_t i = 0; i < r->count; i++) rs_json_string(&json, NULL, r->folders[i].label);
  rs_json_end(&json);
  rs_json_list(&json, "colours");
  for (size_t i = 0; i < RS_PLOT_MAP_LEVELS; i++) rs_json_number(&json, NULL, colours[i]);
  rs_json_end(&json);
  rs_json_end(&json);
  RS_TRY(rs_text_check(&text, r->err));
  rs_page_json(r->out, "report", rs_text_string(&text));
  return RS_OK;
}

static rs_status write_page(reporter *r, const char *title) {
  rs_page_begin(r->out, title);
  put_header(r, title);
  RS_TRY(put_words(r));
  rs_text_puts(r->out, "<section id=\"table\">\n<h2>Summary</h2>\n");
  for (size_t i = 0; i < r->count; i++) report_sources(&r->folders[i], r->out);
  RS_TRY(report_table(r->folders, r->count, r->out, r->err));
  rs_text_puts(r->out, "</section>\n");
  RS_TRY(put_charts(r));
  RS_TRY(put_files(r));
  put_origin(r);
  rs_text_puts(r->out, "</main>\n");
  RS_TRY(put_data(r));
  rs_page_charts(r->out, r->charts);
  rs_page_script(r->out, rs_report_script, rs_report_script_length);
  rs_text_puts(r->out, "</body>\n</html>\n");
  return rs_text_check(r->out, r->err);
}

rs_status rs_report_write(const char *const *directories, size_t count, bool still, rs_text *page,
                          rs_plot_report *notes, rs_err *err) {
  RS_OWNED(rs_text) title = {0};
  reporter r = {.count = count, .charts = rs_page_has_charts() && !still, .out = page, .notes = notes, .err = err};
  r.folders = rs_alloc(count, sizeof *r.folders, err);
  rs_status status = r.folders != NULL ? read_folders(&r, directories) : RS_MEMORY;
  for (size_t i = 0; i < count && i < 3 && status == RS_OK; i++)
    rs_text_printf(&title, "%s%s", i > 0 ? ", " : "",
                   *r.folders[i].data.name != '\0' ? r.folders[i].data.name : r.folders[i].label);
  if (count > 3) rs_text_printf(&title, " and %zu more", count - 3);
  if (status == RS_OK) status = rs_text_check(&title, err);
  if (status == RS_OK) status = write_page(&r, rs_text_string(&title));
  for (size_t i = 0; i < count && r.folders != NULL; i++) report_results_clear(&r.folders[i]);
  free(r.folders);
  return status;
}
