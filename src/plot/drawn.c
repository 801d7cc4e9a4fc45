/* drawn.c: which pictures of a folder are ours, and of which results: plots/.drawn, one line a picture, "CONFIG FILE",
 * where CONFIG is the fingerprint of the config in manifest.json. When a folder holds the results of another config,
 * pictures of the former that are not drawn again would pass for its own; they are removed. Nothing else is: a file
 * that is not on the list, has not a picture's name or is no plain file stays. */
#include "plot_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIST ".drawn"

enum { LIST_LIMIT = 16 << 20 }; /* bytes; a folder of a thousand pictures has 0.1 MB */

/* A name that captions make (M: of a length, as 1M), with an ending of ours: no folder, nothing hidden. */
static bool is_picture(const char *name) {
  size_t length = strlen(name);
  return rs_plot_format_of(name) != 0 && *name != '.' &&
         strspn(name, "abcdefghijklmnopqrstuvwxyzM0123456789._=-") == length;
}

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

/* What becomes of one line of the list: kept, or its picture is removed; one drawn again is listed anew. */
static size_t treat_line(const char *line, const char *folder, const char *config, bool clean,
                         const rs_plot_report *report, rs_text *list) {
  const char *space = strchr(line, ' '), *name = space != NULL ? space + 1 : "";
  if (!is_picture(name) || is_drawn(report, name)) return 0;
  bool other = strlen(config) != (size_t)(space - line) || strncmp(line, config, strlen(config)) != 0;
  if (other && clean) return remove_picture(folder, name);
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

static void write_drawn(const char *config, const rs_plot_report *report, rs_text *list) {
  for (size_t i = 0; i < report->count; i++) {
    const char *slash = strrchr(report->files[i], '/');
    rs_text_printf(list, "%s %s\n", config, slash != NULL ? slash + 1 : report->files[i]);
  }
}

rs_status rs_plot_drawn_update(const char *folder, const char *config, bool clean, rs_plot_report *report,
                               rs_err *err) {
  rs_text list = {0};
  char *text = NULL, *rest = NULL, *path = rs_path_join(folder, LIST, err);
  size_t removed = 0;
  rs_status status = path != NULL ? read_list(path, &text, err) : RS_MEMORY;
  if (status == RS_OK) write_drawn(config, report, &list);
  for (char *line = status == RS_OK ? strtok_r(text, "\n", &rest) : NULL; line != NULL;
       line = strtok_r(NULL, "\n", &rest))
    removed += treat_line(line, folder, config, clean, report, &list);
  if (status == RS_OK) status = rs_text_check(&list, err);
  if (status == RS_OK) status = rs_file_write(path, rs_text_string(&list), list.length, err);
  if (status == RS_OK && removed > 0)
    status = rs_plot_note(report, err, "%zu pictures of an earlier config removed from %s", removed, folder);
  rs_text_clear(&list);
  free(text);
  free(path);
  return status;
}
