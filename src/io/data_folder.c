/* data_folder.c: files that come with the program, found from where it stands. */
#include "io/io.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Takes the last part of a path away. False where there is none to take. */
static bool cut_name(char *path) {
  char *slash = strrchr(path, '/');
  if (slash == NULL || slash == path) return false;
  *slash = '\0';
  return true;
}

/* The folder above that of the program: PREFIX of PREFIX/bin/ropescope, the source tree of build/ropescope. */
static bool folder_above(char *path, size_t size) {
  ssize_t length = readlink("/proc/self/exe", path, size - 1);
  if (length <= 0 || (size_t)length == size - 1) return false;
  path[length] = '\0';
  return cut_name(path) && cut_name(path);
}

/* Sets *path where folder/between/name is there; "" stands for no part. */
static rs_status try_folder(const char *folder, const char *between, const char *name, char **path, rs_err *err) {
  if (*path != NULL) return RS_OK;
  rs_text text = {0};
  rs_text_printf(&text, "%s%s%s/%s", folder, *between != '\0' ? "/" : "", between, name);
  RS_TRY(rs_text_check(&text, err));
  if (access(rs_text_string(&text), F_OK) == 0)
    *path = text.data;
  else
    rs_text_clear(&text);
  return RS_OK;
}

rs_status rs_data_find(const char *name, char **path, rs_err *err) {
  const char *chosen = getenv("ROPESCOPE_DATADIR");
  char above[PATH_MAX];
  *path = NULL;
  if (chosen != NULL && *chosen != '\0') RS_TRY(try_folder(chosen, "", name, path, err));
  if (folder_above(above, sizeof above)) {
    RS_TRY(try_folder(above, "share/ropescope", name, path, err));
    /* Any prefix may hold folders of these names; a source tree is told by what builds it. */
    rs_text mark = {0};
    rs_text_printf(&mark, "%s/src/app/meson.build", above);
    bool source = !mark.failed && access(rs_text_string(&mark), F_OK) == 0;
    rs_text_clear(&mark);
    if (source) RS_TRY(try_folder(above, "", name, path, err));
  }
  return try_folder(ROPESCOPE_DATADIR, "", name, path, err);
}
