/* drawn.c: which pictures of a folder are ours, and of which results: plots/.drawn, one line a picture, "FINGERPRINT
 * FILE". A picture that the present results do not give would pass for one of theirs; so what was drawn from others is
 * removed. Nothing else is: a file that is not on the list, has not a picture's name or is no plain file stays. */
#include "data.h"

#include "io/io.h"
#include "paper.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIST ".drawn"

/* Of the names that captions make (M: of a length, as 1M), which have no folder and hide nothing. */
#define LETTERS "abcdefghijklmnopqrstuvwxyzM0123456789._=-"

enum { LIST_LIMIT = 16 << 20, FILE_LIMIT = 2047 << 20 }; /* bytes; a list of a thousand pictures has 0.1 MB */

/* ---- fingerprints ------------------------------------------------------------------------------------------------ */

/* FNV-1a, 64 bits. It tells results apart by accident, not against an attacker: all that it decides is which of our own
 * pictures are out of date. */
static uint64_t hash(uint64_t value, const char *bytes, size_t count) {
  for (size_t i = 0; i < count; i++) value = (value ^ (unsigned char)bytes[i]) * 1099511628211u;
  return value;
}

rs_status rs_plot_fingerprint(const rs_plot_data *data, char fingerprint[RS_PLOT_FINGERPRINT], rs_err *err) {
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
  snprintf(fingerprint, RS_PLOT_FINGERPRINT, "%016llx", (unsigned long long)value);
  return RS_OK;
}

/* ---- the list ---------------------------------------------------------------------------------------------------- */

static bool is_drawn(const rs_plot_report *report, const char *name) {
  for (size_t i = 0; i < report->count; i++) {
    const char *slash = strrchr(report->files[i], '/');
    if (strcmp(slash != NULL ? slash + 1 : report->files[i], name) == 0) return true;
  }
  return false;
}

/* Removes a plain file; true if it is gone by that. */
static bool remove_picture(const char *folder, const char *name) {
  struct stat info;
  char *path = rs_path_join(folder, name, NULL);
  bool gone = path != NULL && lstat(path, &info) == 0 && S_ISREG(info.st_mode) && unlink(path) == 0;
  free(path);
  return gone;
}

/* What becomes of one line of the list: it is kept, or its picture is removed; one drawn again is listed anew. */
static size_t treat_line(const char *line, const char *folder, const char *fingerprint, const rs_plot_report *report,
                         rs_text *list) {
  const char *space = strchr(line, ' '), *name = space != NULL ? space + 1 : "";
  if (rs_plot_format_of(name) == 0 || *name == '.' || name[strspn(name, LETTERS)] != '\0' || is_drawn(report, name))
    return 0;
  bool present = strlen(fingerprint) == (size_t)(space - line) && strncmp(line, fingerprint, strlen(fingerprint)) == 0;
  if (!present) return remove_picture(folder, name);
  rs_text_printf(list, "%s\n", line);
  return 0;
}

/* The list of the last time; "" where there is none. Owned by the caller. */
static rs_status read_list(const char *path, char **text, rs_err *err) {
  size_t length;
  if (access(path, F_OK) == 0) return rs_file_read(path, LIST_LIMIT, text, &length, err);
  *text = rs_strdup("", err);
  return *text != NULL ? RS_OK : RS_MEMORY;
}

static void write_drawn(const char *fingerprint, const rs_plot_report *report, rs_text *list) {
  for (size_t i = 0; i < report->count; i++) {
    const char *slash = strrchr(report->files[i], '/');
    rs_text_printf(list, "%s %s\n", fingerprint, slash != NULL ? slash + 1 : report->files[i]);
  }
}

rs_status rs_plot_drawn_update(const char *folder, const char *fingerprint, rs_plot_report *report, rs_err *err) {
  rs_text list = {0};
  char *text = NULL, *rest = NULL, *path = rs_path_join(folder, LIST, err);
  size_t removed = 0;
  rs_status status = path != NULL ? read_list(path, &text, err) : RS_MEMORY;
  if (status == RS_OK) write_drawn(fingerprint, report, &list);
  for (char *line = status == RS_OK ? strtok_r(text, "\n", &rest) : NULL; line != NULL;
       line = strtok_r(NULL, "\n", &rest))
    removed += treat_line(line, folder, fingerprint, report, &list);
  bool needed = list.length > 0 || (path != NULL && access(path, F_OK) == 0); /* no list of nothing */
  if (status == RS_OK) status = rs_text_check(&list, err);
  if (status == RS_OK && needed) status = rs_file_write(path, rs_text_string(&list), list.length, err);
  if (status == RS_OK && removed > 0)
    status = rs_plot_note(report, err, "%zu %s of earlier results removed from %s", removed,
                          removed == 1 ? "picture" : "pictures", folder);
  rs_text_clear(&list);
  free(text);
  free(path);
  return status;
}
