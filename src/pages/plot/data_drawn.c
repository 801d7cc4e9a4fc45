/* data_drawn.c: which pictures of a folder are ours, and of which results: plots/.drawn, one line a picture,
 * "FINGERPRINT FILE", and plots/index.html, which shows each of them once, with links to its formats. A picture that
 * the present results do not give would pass for one of theirs; so what was drawn from others is removed. Nothing else
 * is: a file that is not on the list, has not a picture's name or is no plain file stays. */
#include "data.h"

#include "io/io.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of the names that captions make (M: of a length, as 1M), which have no folder and hide nothing. */
#define LETTERS "abcdefghijklmnopqrstuvwxyzM0123456789._=-"

#define MARK "<!-- ropescope plot -->" /* what begins a page of ours */

enum { FINGERPRINT = 17, LIST_LIMIT = 16 << 20, PICTURE_LIMIT = 256 << 20, FILE_LIMIT = 2047 << 20 }; /* bytes */

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

static rs_status write_file(const char *folder, const char *file, const rs_text *text, rs_err *err) {
  RS_TRY(rs_text_check(text, err));
  char *path = rs_path_join(folder, file, err);
  rs_status status = path != NULL ? rs_file_write(path, rs_text_string(text), text->length, err) : RS_MEMORY;
  free(path);
  return status;
}

/* ---- the index --------------------------------------------------------------------------------------------------- */

static const char head[] =
    "<!DOCTYPE html>\n" MARK "\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<style>\n"
    "body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; }\n"
    "main { display: grid; gap: 2rem; grid-template-columns: repeat(auto-fill, minmax(min(30rem, 100%), 1fr)); }\n"
    "figure { break-inside: avoid; margin: 0; }\n"
    "img { background: #fff; height: auto; max-width: 100%; }\n"
    "@media (prefers-color-scheme: dark) { body { background: #16181c; color: #e6e6e6; } a { color: #8ab8ff; } }\n"
    "</style>\n<title>";

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

static bool same_stem(const char *a, const char *b) {
  size_t stem = (size_t)(strrchr(a, '.') - a);
  return strncmp(a, b, stem + 1) == 0 && strrchr(b, '.') == b + stem;
}

/* File number `first`, and those of the same stem as its other formats. Names of pictures have no character that would
 * need to be escaped. */
static rs_status put_picture(const char *folder, const rs_plot_names *files, size_t first, rs_text *out, rs_err *err) {
  const char *file = files->items[first];
  int stem = (int)(strrchr(file, '.') - file);
  bool seen = rs_plot_format_of(file) != RS_PLOT_PDF;
  rs_text_puts(out, "<figure>\n");
  if (seen) rs_text_printf(out, "<a href=\"%s\"><img loading=\"lazy\" src=\"%s\" alt=\"", file, file);
  if (seen) RS_TRY(put_title(folder, file, stem, out, err));
  rs_text_printf(out, "%s<figcaption>%.*s:", seen ? "\"></a>\n" : "", stem, file);
  for (size_t i = first; i < files->count; i++)
    if (same_stem(file, files->items[i]))
      rs_text_printf(out, " <a href=\"%s\">%s</a>", files->items[i], files->items[i] + stem + 1);
  rs_text_puts(out, "</figcaption>\n</figure>\n");
  return RS_OK;
}

static rs_status put_page(const char *folder, const char *name, const rs_plot_names *files, rs_text *out, rs_err *err) {
  rs_text_puts(out, head);
  rs_xml_escape(*name != '\0' ? name : "pictures", out);
  rs_text_puts(out, "</title>\n</head>\n<body>\n<h1>");
  rs_xml_escape(*name != '\0' ? name : "Pictures", out);
  rs_text_puts(out, "</h1>\n<main>\n");
  for (size_t i = 0, before; i < files->count; i++) {
    for (before = 0; before < i && !same_stem(files->items[i], files->items[before]);) before++;
    if (before == i) RS_TRY(put_picture(folder, files, i, out, err));
  }
  rs_text_puts(out, "</main>\n</body>\n</html>\n");
  return RS_OK;
}

static rs_status write_index(const char *folder, const char *name, const rs_plot_names *files, rs_err *err) {
  rs_text out = {0};
  char *page;
  RS_TRY(read_file(folder, "index.html", LIST_LIMIT, &page, err));
  bool foreign = page != NULL && strstr(page, MARK) == NULL; /* somebody else has made it */
  free(page);
  if (foreign) return RS_OK;
  if (files->count == 0) return rs_file_remove(folder, "index.html", err);
  rs_status status = put_page(folder, name, files, &out, err);
  if (status == RS_OK) status = write_file(folder, "index.html", &out, err);
  rs_text_clear(&out);
  return status;
}

/* ---- fingerprints ------------------------------------------------------------------------------------------------ */

/* FNV-1a, 64 bits. It tells results apart by accident, not against an attacker: all that it decides is which of our own
 * pictures are out of date. */
static uint64_t hash(uint64_t value, const char *bytes, size_t count) {
  for (size_t i = 0; i < count; i++) value = (value ^ (unsigned char)bytes[i]) * 1099511628211u;
  return value;
}

/* Of the config and of the bytes of all files that pictures are drawn from. */
static rs_status make_fingerprint(const rs_plot_data *data, char fingerprint[FINGERPRINT], rs_err *err) {
  uint64_t value = hash(14695981039346656037u, data->config, strlen(data->config));
  for (size_t i = 0; i < data->count; i++) {
    char *text;
    size_t length;
    if (!rs_plot_file_drawn(&data->files[i])) continue;
    RS_TRY(rs_file_read(data->files[i].path, FILE_LIMIT, &text, &length, err));
    value = hash(value, data->files[i].name, strlen(data->files[i].name) + 1);
    value = hash(value, text, length);
    free(text);
  }
  snprintf(fingerprint, FINGERPRINT, "%016llx", (unsigned long long)value);
  return RS_OK;
}

/* ---- the list ---------------------------------------------------------------------------------------------------- */

/* Removes a plain file; true if it is gone by that. */
static bool remove_picture(const char *folder, const char *name) {
  struct stat info;
  char *path = rs_path_join(folder, name, NULL);
  bool gone = path != NULL && lstat(path, &info) == 0 && S_ISREG(info.st_mode) && unlink(path) == 0;
  free(path);
  return gone;
}

/* What becomes of the last time's list: a line stays, or its picture is removed; one drawn again is listed already. */
static rs_status treat_lines(char *lines, const char *folder, const char *fingerprint, rs_plot_names *files,
                             size_t *removed, rs_err *err) {
  char *rest = NULL;
  size_t drawn = files->count;
  for (char *line = strtok_r(lines, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
    char *space = strchr(line, ' '), *name = space != NULL ? space + 1 : line;
    size_t i = 0;
    if (space == NULL || rs_plot_format_of(name) == 0 || *name == '.' || name[strspn(name, LETTERS)] != '\0') continue;
    while (i < drawn && strcmp(files->items[i], name) != 0) i++;
    if (i < drawn) continue;
    *space = '\0';
    if (strcmp(line, fingerprint) == 0)
      RS_TRY(rs_plot_names_add(files, name, &i, err));
    else
      *removed += remove_picture(folder, name);
  }
  return RS_OK;
}

static rs_status update(const char *folder, const rs_plot_data *data, rs_plot_report *report, rs_plot_names *files,
                        rs_text *list, rs_err *err) {
  char fingerprint[FINGERPRINT], *before;
  size_t removed = 0, index;
  RS_TRY(make_fingerprint(data, fingerprint, err));
  for (size_t i = 0; i < report->count; i++) {
    const char *slash = strrchr(report->files[i], '/');
    RS_TRY(rs_plot_names_add(files, slash != NULL ? slash + 1 : report->files[i], &index, err));
  }
  RS_TRY(read_file(folder, ".drawn", LIST_LIMIT, &before, err));
  bool needed = files->count > 0 || before != NULL; /* no list of nothing */
  rs_status status = before != NULL ? treat_lines(before, folder, fingerprint, files, &removed, err) : RS_OK;
  free(before);
  RS_TRY(status);
  for (size_t i = 0; i < files->count; i++) rs_text_printf(list, "%s %s\n", fingerprint, files->items[i]);
  if (needed) RS_TRY(write_file(folder, ".drawn", list, err));
  if (removed > 0)
    RS_TRY(rs_plot_note(report, err, "%zu %s of earlier results removed from %s", removed,
                        removed == 1 ? "picture" : "pictures", folder));
  return write_index(folder, data->name, files, err);
}

rs_status rs_plot_drawn_update(const char *folder, const rs_plot_data *data, rs_plot_report *report, rs_err *err) {
  rs_plot_names files = {0};
  rs_text list = {0};
  rs_status status = update(folder, data, report, &files, &list, err);
  rs_text_clear(&list);
  rs_plot_names_clear(&files);
  return status;
}
