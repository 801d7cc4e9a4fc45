/* index.c: plots/index.html: every picture that plots/.drawn lists, in that order, once, with links to its formats. */
#include "data.h"

#include "io/io.h"
#include "paper.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MARK "<!-- ropescope plot -->" /* what begins a page of ours */

enum { LIST_LIMIT = 16 << 20, PICTURE_LIMIT = 256 << 20 };

static const char head[] =
    "<!DOCTYPE html>\n" MARK "\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<style>\n"
    "body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; }\n"
    "main { display: grid; gap: 2rem; grid-template-columns: repeat(auto-fill, minmax(min(30rem, 100%), 1fr)); }\n"
    "figure { break-inside: avoid; margin: 0; }\n"
    "img { background: #fff; height: auto; max-width: 100%; }\n"
    "@media (prefers-color-scheme: dark) { body { background: #16181c; color: #e6e6e6; } a { color: #8ab8ff; } }\n"
    "</style>\n<title>";

/* The bytes of `file` in `folder`; NULL where there is none. Owned by the caller. */
static rs_status read_file(const char *folder, const char *file, size_t limit, char **text, rs_err *err) {
  size_t length;
  char *path = rs_path_join(folder, file, err);
  *text = NULL;
  rs_status status = path != NULL ? RS_OK : RS_MEMORY;
  if (status == RS_OK && access(path, F_OK) == 0) status = rs_file_read(path, limit, text, &length, err);
  free(path);
  return status;
}

/* The title that the SVG states, which is escaped there; else the name. */
static rs_status put_title(const char *folder, const char *file, int stem, rs_text *out, rs_err *err) {
  static const char begin[] = "<title>";
  char *svg = NULL;
  if (rs_plot_format_of(file) == RS_PLOT_SVG) RS_TRY(read_file(folder, file, PICTURE_LIMIT, &svg, err));
  const char *title = svg != NULL ? strstr(svg, begin) : NULL, *end = title != NULL ? strstr(title, "</title>") : NULL;
  if (end != NULL)
    rs_text_add(out, title + strlen(begin), (size_t)(end - title) - strlen(begin));
  else
    rs_text_printf(out, "%.*s", stem, file);
  free(svg);
  return RS_OK;
}

/* One picture; `files` (count,) with its line first, of which those with the same stem are its formats. Names of
 * pictures have no character that would need to be escaped. */
static rs_status put_picture(const char *folder, char *const *files, size_t count, rs_text *out, rs_err *err) {
  int stem = (int)(strrchr(files[0], '.') - files[0]);
  bool seen = rs_plot_format_of(files[0]) != RS_PLOT_PDF;
  rs_text_puts(out, "<figure>\n");
  if (seen) rs_text_printf(out, "<a href=\"%s\"><img loading=\"lazy\" src=\"%s\" alt=\"", files[0], files[0]);
  if (seen) RS_TRY(put_title(folder, files[0], stem, out, err));
  rs_text_puts(out, seen ? "\"></a>\n<figcaption>" : "<figcaption>");
  rs_text_printf(out, "%.*s:", stem, files[0]);
  for (size_t i = 0; i < count; i++) {
    bool same = strncmp(files[i], files[0], (size_t)stem + 1) == 0 && strrchr(files[i], '.') == files[i] + stem;
    if (same) rs_text_printf(out, " <a href=\"%s\">%s</a>", files[i], files[i] + stem + 1);
  }
  rs_text_puts(out, "</figcaption>\n</figure>\n");
  return RS_OK;
}

static bool has_stem_before(char *const *files, size_t index) {
  size_t stem = (size_t)(strrchr(files[index], '.') - files[index]);
  for (size_t i = 0; i < index; i++)
    if (strncmp(files[i], files[index], stem + 1) == 0 && strrchr(files[i], '.') == files[i] + stem) return true;
  return false;
}

static rs_status put_page(const char *folder, const char *name, char *const *files, size_t count, rs_text *out,
                          rs_err *err) {
  rs_text_puts(out, head);
  rs_xml_escape(*name != '\0' ? name : "pictures", out);
  rs_text_puts(out, "</title>\n</head>\n<body>\n<h1>");
  rs_xml_escape(*name != '\0' ? name : "Pictures", out);
  rs_text_puts(out, "</h1>\n<main>\n");
  for (size_t i = 0; i < count; i++)
    if (!has_stem_before(files, i)) RS_TRY(put_picture(folder, &files[i], count - i, out, err));
  rs_text_puts(out, "</main>\n</body>\n</html>\n");
  return RS_OK;
}

/* The files in the lines "FINGERPRINT FILE" of `list`, which they are parts of. Owned by the caller. */
static rs_status split_list(char *list, char ***files, size_t *count, rs_err *err) {
  size_t lines = 0;
  char *rest = NULL;
  for (const char *c = list; *c != '\0'; c++) lines += *c == '\n';
  *count = 0;
  *files = rs_alloc(lines + 1, sizeof **files, err);
  if (*files == NULL) return RS_MEMORY;
  for (char *line = strtok_r(list, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
    char *space = strchr(line, ' ');
    if (space != NULL && rs_plot_format_of(space + 1) != 0) (*files)[(*count)++] = space + 1;
  }
  return RS_OK;
}

static rs_status write_page(const char *folder, const char *name, char *const *files, size_t count, rs_err *err) {
  rs_text page = {0};
  char *path = rs_path_join(folder, "index.html", err);
  rs_status status = path != NULL ? put_page(folder, name, files, count, &page, err) : RS_MEMORY;
  if (status == RS_OK) status = rs_text_check(&page, err);
  if (status == RS_OK) status = rs_file_write(path, page.data, page.length, err);
  rs_text_clear(&page);
  free(path);
  return status;
}

rs_status rs_plot_index_write(const char *folder, const char *name, rs_err *err) {
  char **files = NULL, *list, *page;
  size_t count = 0;
  RS_TRY(read_file(folder, "index.html", LIST_LIMIT, &page, err));
  bool foreign = page != NULL && strstr(page, MARK) == NULL; /* somebody else has made it */
  free(page);
  if (foreign) return RS_OK;
  RS_TRY(read_file(folder, ".drawn", LIST_LIMIT, &list, err));
  rs_status status = list != NULL ? split_list(list, &files, &count, err) : RS_OK;
  if (status == RS_OK)
    status = count > 0 ? write_page(folder, name, files, count, err) : rs_file_remove(folder, "index.html", err);
  free(files);
  free(list);
  return status;
}
